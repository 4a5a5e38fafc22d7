//! Fenced blocks: lines between an opening and a closing marker, a notice, and in the volatile block clock and receipt id.

use mnemal_core::marker::{self, NOTICE};
use mnemal_core::{BlockKind, TokenCount, TokenCounter, TokenParts};

use crate::Format;
use crate::candidate::Candidate;
use crate::line::numbered;
use crate::message::Message;

/// One fenced block of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The kind of block.
    pub kind: BlockKind,
    /// From the opening line to the line break after the closing one.
    pub text: String,
    /// Tokens of the text.
    pub tokens: TokenCount,
    /// BLAKE3 of the text.
    pub hash: [u8; 32],
}

/// Returns the hashes of the blocks between markers of this nonce in a text, in order, equal to [`Block::hash`]; other
/// text, and an unclosed block, is ignored.
pub fn block_hashes(text: &str, nonce: &str) -> Vec<[u8; 32]> {
    let (opening, closing) = (marker::opening(nonce), format!("{}\n", marker::closing(nonce)));
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(block) = rest.find(&opening).and_then(|start| rest.get(start..)) {
        let Some(end) = block.find(&closing).map(|at| at + closing.len()) else { break };
        let (block, behind) = block.split_at(end);
        found.push(*blake3::hash(block.as_bytes()).as_bytes());
        rest = behind;
    }
    found
}

/// Rendering parameters common to all blocks of a context.
#[derive(Debug)]
pub(crate) struct Fence<'a> {
    pub(crate) format: Format,
    pub(crate) nonce: &'a str,
    /// Clock, receipt id and inventories, with a final line break; in the volatile block only.
    pub(crate) header: &'a str,
    /// The host's description of agent and user, with a final line break.
    pub(crate) preamble: &'a str,
    /// The block that holds it.
    pub(crate) preamble_block: BlockKind,
    /// Whether that block is rendered for it alone.
    pub(crate) preamble_alone: PreambleAlone,
    pub(crate) bare: Bare,
    pub(crate) counter: &'a dyn TokenCounter,
}

/// The part of a block to render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    /// All of it; the first line has this number.
    Lines { first: usize },
    /// Only the text around the lines.
    Around,
}

/// Whether a block is rendered if it holds only the host's description of agent and user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreambleAlone {
    Yes,
    No,
}

/// The block that is rendered without lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bare {
    /// None.
    Never,
    /// This one, if another one has lines: it only holds the time.
    Beside(BlockKind),
    /// This one: its header holds more than the time.
    Always(BlockKind),
}

impl Bare {
    pub(crate) fn kind(self) -> Option<BlockKind> {
        match self {
            Self::Never => None,
            Self::Beside(kind) | Self::Always(kind) => Some(kind),
        }
    }
}

impl Fence<'_> {
    /// Renders a block whose first line has this number: answers first, then the user's stated preferences, and lines of
    /// level external at the end.
    ///
    /// Also returns its unrounded token parts, if lines can be counted separately.
    pub(crate) fn block(
        &self,
        kind: BlockKind,
        lines: &[&Candidate],
        first: usize,
    ) -> (Block, Option<TokenParts>) {
        let text = self.text(kind, lines, Show::Lines { first });
        let parts = self.parts(kind, lines);
        let tokens = parts.map_or_else(|| self.counter.count(&text), TokenParts::rounded_up);
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        (Block { kind, text, tokens, hash }, parts)
    }

    /// Adds the counted parts of the lines and of the text around them.
    fn parts(&self, kind: BlockKind, lines: &[&Candidate]) -> Option<TokenParts> {
        // In JSON a line is followed by a comma, or not.
        if self.format == Format::Json {
            return None;
        }
        let around = self.counter.parts(&self.text(kind, lines, Show::Around))?;
        let lines: Option<TokenParts> = lines.iter().map(|line| line.parts).sum();
        Some(around + lines?)
    }

    /// Counts the tokens of a block without lines.
    pub(crate) fn cost(&self, kind: BlockKind) -> TokenCount {
        let [memory, insights] = self.headings();
        self.counter.count(&format!("{}{memory}{insights}", self.text(kind, &[], Show::Around)))
    }

    /// Counts the tokens around the external lines of a block.
    pub(crate) fn external_cost(&self) -> TokenCount {
        let (before, after) = self.external();
        self.counter.count(&format!("{before}{after}"))
    }

    fn text(&self, kind: BlockKind, lines: &[&Candidate], show: Show) -> String {
        let (external, own): (Vec<&Candidate>, Vec<&Candidate>) =
            lines.iter().partition(|line| line.is_external());
        let mut text = format!("{}\n{NOTICE}\n", marker::opening(self.nonce));
        if kind == BlockKind::Volatile {
            text.push_str(self.header);
        }
        if kind == self.preamble_block {
            text.push_str(self.preamble);
        }
        let (before, after) = if self.format == Format::Json { ("{\"items\":[\n", "]}\n") } else { ("", "") };
        if before.is_empty() || !lines.is_empty() {
            text.push_str(before);
            let mut show = show;
            let groups = self.groups(&own);
            let last = groups.iter().rposition(|(_, lines)| !lines.is_empty());
            for (place, (heading, lines)) in groups.iter().enumerate() {
                text.push_str(if lines.is_empty() { "" } else { heading });
                self.push(lines, &mut show, &mut text);
                if self.format == Format::Json && !lines.is_empty() && last != Some(place) {
                    text.insert(text.len() - 1, ',');
                }
            }
            if !external.is_empty() {
                let (before, after) = self.external();
                text.push_str(before);
                self.push(&external, &mut show, &mut text);
                text.push_str(after);
            }
            text.push_str(after);
        }
        text.push_str(&marker::closing(self.nonce));
        text.push('\n');
        text
    }

    /// Returns the lines other than external ones in groups, each with its heading, in order.
    fn groups<'l>(&self, own: &[&'l Candidate]) -> [(String, Vec<&'l Candidate>); 5] {
        let [memory, insights] = self.headings();
        let over = |heading: Message| self.over(heading).to_owned();
        let mut groups = [
            (over(Message::Course), Vec::new()),
            (memory.clone(), Vec::new()),
            (over(Message::Stated), Vec::new()),
            (memory, Vec::new()),
            (insights, Vec::new()),
        ];
        for line in own {
            if let Some((_, lines)) = groups.get_mut(line.group(self.format)) {
                lines.push(*line);
            }
        }
        // A heading occurs once.
        if let [_, (_, answers), _, (memory, _), _] = &mut groups
            && !answers.is_empty()
        {
            memory.clear();
        }
        groups
    }

    /// Counts the tokens of a heading.
    pub(crate) fn cost_over(&self, heading: Message) -> TokenCount {
        self.counter.count(self.over(heading))
    }

    fn over(&self, heading: Message) -> &'static str {
        match self.format {
            Format::Markdown | Format::Cited | Format::Headed(_) => heading.words(self.format.wording()),
            Format::Xml | Format::Json => "",
        }
    }

    /// The headings of memories and of insights.
    fn headings(&self) -> [String; 2] {
        [Message::Memory, Message::Insights].map(|message| {
            if self.format.is_headed() {
                format!("{}\n", message.words(self.format.wording()))
            } else {
                String::new()
            }
        })
    }

    /// The text before and after the lines of level external.
    fn external(&self) -> (&'static str, &'static str) {
        match self.format {
            Format::Markdown | Format::Cited | Format::Headed(_) => ("external:\n", ""),
            Format::Xml => ("<external>\n", "</external>\n"),
            Format::Json => ("],\"external\":[\n", ""),
        }
    }

    fn push(&self, lines: &[&Candidate], show: &mut Show, text: &mut String) {
        let Show::Lines { first } = show else { return };
        for (place, candidate) in lines.iter().enumerate() {
            text.push_str(&numbered(self.format, *first, &candidate.line));
            *first += 1;
            if self.format == Format::Json && place + 1 < lines.len() {
                text.push(',');
            }
            text.push('\n');
        }
    }
}

/// Returns the length of the longest common prefix, divided by the length of `current`: the share of the context that a
/// prompt cache keeps, 0 to 1; 1 for an empty one.
pub fn prefix_share(previous: &str, current: &str) -> f32 {
    let common = previous.bytes().zip(current.bytes()).take_while(|(before, now)| before == now).count();
    if current.is_empty() { 1.0 } else { common as f32 / current.len() as f32 }
}
