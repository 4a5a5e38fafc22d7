//! The fenced blocks: lines between an opening and a closing marker, a notice, and in the last one clock and receipt.

use mnemal_core::marker::{self, NOTICE};
use mnemal_core::{BlockKind, TokenCount, TokenCounter};

use crate::Format;
use crate::candidate::Candidate;

/// One fenced block of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Which.
    pub kind: BlockKind,
    /// From the opening line to the line break behind the closing one.
    pub text: String,
    /// Tokens of the text.
    pub tokens: TokenCount,
    /// BLAKE3 of the text.
    pub hash: [u8; 32],
}

/// What all blocks of a context have in common.
#[derive(Debug)]
pub(crate) struct Fence<'a> {
    pub(crate) format: Format,
    pub(crate) nonce: &'a str,
    /// Clock and receipt; stands in the volatile block only.
    pub(crate) header: &'a str,
    /// The block that is rendered without lines too, if another one has some.
    pub(crate) bare: Option<BlockKind>,
    pub(crate) counter: &'a dyn TokenCounter,
}

impl Fence<'_> {
    /// Renders a block; lines of level external stand at its end, in the order given.
    pub(crate) fn block(&self, kind: BlockKind, lines: &[&Candidate]) -> Block {
        let text = self.text(kind, lines);
        let tokens = self.counter.count(&text);
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        Block { kind, text, tokens, hash }
    }

    /// Counts what a block has around its lines.
    pub(crate) fn cost(&self, kind: BlockKind) -> TokenCount {
        self.counter.count(&self.text(kind, &[]))
    }

    /// Counts what the part for evidence of others has around its lines.
    pub(crate) fn external_cost(&self) -> TokenCount {
        let (before, after) = self.external();
        self.counter.count(&format!("{before}{after}"))
    }

    fn text(&self, kind: BlockKind, lines: &[&Candidate]) -> String {
        let (external, own): (Vec<&Candidate>, Vec<&Candidate>) =
            lines.iter().partition(|line| line.is_external());
        let mut text = format!("{}\n{NOTICE}\n", marker::opening(self.nonce));
        if kind == BlockKind::Volatile {
            text.push_str(self.header);
            text.push('\n');
        }
        let (before, after) = if self.format == Format::Json { ("{\"items\":[\n", "]}\n") } else { ("", "") };
        if before.is_empty() || !lines.is_empty() {
            text.push_str(before);
            self.push(&own, &mut text);
            if !external.is_empty() {
                let (before, after) = self.external();
                text.push_str(before);
                self.push(&external, &mut text);
                text.push_str(after);
            }
            text.push_str(after);
        }
        text.push_str(&marker::closing(self.nonce));
        text.push('\n');
        text
    }

    /// What stands before and after the lines of level external.
    fn external(&self) -> (&'static str, &'static str) {
        match self.format {
            Format::Markdown => ("external:\n", ""),
            Format::Xml => ("<external>\n", "</external>\n"),
            Format::Json => ("],\"external\":[\n", ""),
        }
    }

    fn push(&self, lines: &[&Candidate], text: &mut String) {
        for (place, candidate) in lines.iter().enumerate() {
            text.push_str(&candidate.line);
            if self.format == Format::Json && place + 1 < lines.len() {
                text.push(',');
            }
            text.push('\n');
        }
    }
}

/// Returns the length of the longest common prefix, divided by the length of `current`: how much of a prompt cache the
/// context keeps, 0 to 1; 1 for an empty one.
pub fn prefix_share(previous: &str, current: &str) -> f32 {
    let common = previous.bytes().zip(current.bytes()).take_while(|(before, now)| before == now).count();
    if current.is_empty() { 1.0 } else { common as f32 / current.len() as f32 }
}
