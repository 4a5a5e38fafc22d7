//! The rule-based authorship segmenter.

use std::ops::Range;

use super::lead::{Lead, attribution, frames, lead, lead_without_colon, title};
use super::lexicon::{Cue, Lexicon, words};
use super::lines::{Line, lines, paragraphs};
use super::mail::{self, Address};
use super::{Author, Segment, Segmenter, TurnText, code, data, post, quote, segment, talk};
use mnemal_text::{Sentence, sentences};

use crate::program::program_elements;

/// Words of the longest paragraph that only asks about the text beside it. Source: own choice.
const LONGEST_REQUEST: usize = 40;

/// Determines the authors of a turn's parts from its structure and from the request.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleSegmenter;

/// Words of the longest request that points at the text above by itself: "Into Spanish, please." Source: own choice.
const LONGEST_BARE_REQUEST: usize = 6;

/// Byte range with author and evidence.
pub(super) type Part = (Range<usize>, Author, &'static str);

impl Segmenter for RuleSegmenter {
    fn segments(&self, turn: &TurnText<'_>) -> Vec<Segment> {
        let others = if is_plain(turn.text) { Vec::new() } else { others(turn) };
        covered(turn.text, others)
    }
}

/// Why words are the speaker's own.
const OWN: &str = "nothing shows that they are another's";

/// The evidence for a program or a document.
const FENCED: &str = "fenced";

/// Says at a quick look that a text is its speaker's own: one line without any sign that sets words apart, and without a phrase
/// that asks for work on it or frames it. What it says no to may be so, too.
fn is_plain(text: &str) -> bool {
    let parts = |sign: char| {
        matches!(sign, '\n' | '<' | '>' | ':' | '：' | '/' | '`' | '~' | '(' | '（' | '–' | '—' | '―')
            || quote::opens(sign)
    };
    let is_log = text.bytes().take(2).filter(u8::is_ascii_uppercase).count() == 2;
    if is_log || text.contains(parts) || text.contains("''") {
        return false;
    }
    let lexicon = Lexicon::built_in();
    !lexicon.may_tell(&words(text))
}

/// Returns the parts that are not the speaker's own, in any order.
fn others(turn: &TurnText<'_>) -> Vec<Part> {
    let text = turn.text;
    let mut parts: Vec<Part> = Vec::new();
    let quoted = |range| (range, Author::Other(None), quote::REASON);
    parts.extend(quote::quotations(text).into_iter().map(quoted));
    if text.contains('<') {
        let elements = program_elements(text).into_iter().chain(code::elements(text));
        parts.extend(elements.map(|range| (range, Author::Program, "an element in tags")));
    }
    parts.extend(quote::fenced(text).into_iter().map(|range| (range, Author::Program, FENCED)));
    parts.extend(data::commits(text).into_iter().map(|range| (range, Author::Program, "a log of git")));
    Reader::new(turn, &parts).read(&mut parts);
    parts
}

/// A turn on its way through the rules.
struct Reader<'t> {
    text: &'t str,
    names: &'t [&'t str],
    lexicon: &'static Lexicon,
    lines: Vec<Line<'t>>,
    paragraphs: Vec<Range<usize>>,
    /// Fenced blocks.
    blocks: Vec<Range<usize>>,
}

impl<'t> Reader<'t> {
    fn new(turn: &TurnText<'t>, parts: &[Part]) -> Self {
        let lines = lines(turn.text);
        let blocks = parts.iter().filter(|(.., reason)| *reason == FENCED);
        Self {
            text: turn.text,
            names: turn.names,
            lexicon: Lexicon::built_in(),
            paragraphs: paragraphs(&lines),
            lines,
            blocks: blocks.map(|(range, ..)| range.clone()).collect(),
        }
    }

    fn read(&self, parts: &mut Vec<Part>) {
        parts.extend(data::data(&self.lines));
        if self.lines.len() > 1 {
            self.read_lines(parts);
            self.read_mails(parts);
            self.read_letters(parts);
            let asks = |paragraph: &Range<usize>| self.is_request(paragraph);
            parts.extend(post::posts(&self.lines, &self.paragraphs, self.lexicon, &asks));
        } else if self.text.starts_with('>') {
            parts.push((0..self.text.len(), Author::Other(None), "a quoted line"));
        } else if self.text.contains([':', '：', '/']) {
            parts.extend(talk::talk(&self.lines, self.names, self.lexicon));
            self.read_code(&(0..self.lines.len()), parts);
        }
        self.read_requests(parts);
    }

    /// Lines that show by themselves whose they are.
    fn read_lines(&self, parts: &mut Vec<Part>) {
        for line in self.lines.iter().filter(|line| line.body.starts_with('>')) {
            parts.push((line.start..line.end, Author::Other(None), "a quoted line"));
        }
        for paragraph in &self.paragraphs {
            let Some(lines) = self.lines.get(paragraph.clone()) else { continue };
            parts.extend(talk::talk(lines, self.names, self.lexicon));
            parts.extend(talk::handle(lines, paragraph.start > 0));
            parts.extend(data::options(lines));
            self.read_code(paragraph, parts);
        }
        self.read_addressed(parts);
        // What follows the mark of a signature.
        if let Some(mark) = self.lines.iter().find(|line| line.body == "--") {
            parts.push((mark.start..self.text.len(), Author::Unsure, "below a signature"));
        }
    }

    fn read_code(&self, paragraph: &Range<usize>, parts: &mut Vec<Part>) {
        let lines = self.lines.get(paragraph.clone()).unwrap_or_default();
        parts.extend(code::session(lines).map(|range| (range, Author::Program, "what a program printed")));
        let found = code::code(lines).into_iter();
        parts.extend(found.map(|range| (range, Author::Program, "code or a comment in it")));
    }

    /// Mails with heads, reply and forward lines.
    fn read_mails(&self, parts: &mut Vec<Part>) {
        let mut from = 0;
        while let Some(head) = mail::head(&self.lines, from, self.lexicon) {
            let end = self.mail_end(head.body);
            let start = self.line_start(head.first);
            parts.push((start..self.line_start(end), Author::Other(head.writer), head.reason));
            from = end.max(head.body);
        }
    }

    /// Returns the line after a mail: below its signature, or before a last paragraph that asks about it.
    fn mail_end(&self, body: usize) -> usize {
        if let Some(end) = mail::sign_off(&self.lines, body, self.lexicon).map(|off| off.end)
            && self.lines.get(end..).is_some_and(|rest| rest.iter().any(|line| !line.is_blank()))
        {
            return end;
        }
        let last = self.paragraphs.iter().rposition(|paragraph| paragraph.start > body);
        let last = last.filter(|_| self.paragraphs.iter().any(|one| one.start >= body && one.end > body));
        match last.and_then(|last| self.paragraphs.get(last)) {
            Some(last) if self.is_behind_text(last.start, body) && self.is_request(last) => last.start,
            _ => self.lines.len(),
        }
    }

    /// Returns whether there are words between two lines.
    fn is_behind_text(&self, line: usize, from: usize) -> bool {
        self.lines.get(from..line).is_some_and(|lines| lines.iter().any(|line| !line.is_blank()))
    }

    /// Returns whether a paragraph only asks for something about a text beside it.
    fn is_request(&self, paragraph: &Range<usize>) -> bool {
        let text = self.words_of(paragraph);
        let cues = self.lexicon.cues(text);
        let is_short = text.split_whitespace().count() <= LONGEST_REQUEST;
        is_short && cues.has_any(&[Cue::Answer, Cue::Work, Cue::Transform, Cue::Aside])
    }

    /// Returns whether a paragraph is one question.
    fn is_question(&self, paragraph: &Range<usize>) -> bool {
        let text = self.words_of(paragraph).trim();
        text.ends_with(['?', '？']) && !text.contains('\n') && sentences(text).len() == 1
    }

    /// Returns whether a paragraph ends behind the mark at a byte.
    fn is_paragraph_end(&self, mark: usize) -> bool {
        let behind = self.text.get(mark..).unwrap_or_default();
        let behind = behind.trim_start_matches(|sign: char| !sign.is_alphanumeric() && sign != '\n');
        behind.is_empty() || behind.starts_with('\n')
    }

    fn words_of(&self, paragraph: &Range<usize>) -> &'t str {
        let start = self.line_start(paragraph.start);
        let end = self.line_start(paragraph.end);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the first byte of a line; after the last line that of the end.
    fn line_start(&self, line: usize) -> usize {
        self.lines.get(line).map_or(self.text.len(), |line| line.start)
    }

    /// Letters addressed to the speaker: people do not greet themselves by name.
    fn read_addressed(&self, parts: &mut Vec<Part>) {
        for paragraph in &self.paragraphs {
            let first = self.lines.get(paragraph.start);
            if first.is_some_and(|line| mail::is_addressed_to(line, self.names, self.lexicon)) {
                let range = self.line_start(paragraph.start)..self.line_start(self.mail_end(paragraph.start));
                parts.push((range, Author::Other(None), "a letter to the speaker"));
                return;
            }
        }
    }

    /// Letters with a signature.
    fn read_letters(&self, parts: &mut Vec<Part>) {
        let mut from = 0;
        while let Some(off) = mail::sign_off(&self.lines, from, self.lexicon) {
            let opening =
                mail::salutation(&self.lines, off.line, self.lexicon).filter(|(line, _)| *line >= from);
            let is_asked = self.asks_outside(opening.map_or(off.line, |(line, _)| line), off.end, from);
            let first = opening.map_or_else(|| self.unopened(from, off.line), |(line, _)| line);
            let range = self.line_start(first)..self.line_start(off.end);
            let is_own = off.is_of(self.names);
            let name = Some(off.name.to_owned()).filter(|name| !name.is_empty());
            if !is_own && is_asked {
                parts.push((range, Author::Other(name), mail::LETTER));
            } else if !is_own && matches!(opening, Some((_, Address::Formal))) {
                parts.push((range, Author::Unsure, "a letter to somebody else"));
            }
            from = off.end;
        }
    }

    /// Returns whether a question about a letter precedes or follows it.
    fn asks_outside(&self, first: usize, end: usize, from: usize) -> bool {
        let outside =
            self.paragraphs.iter().filter(|one| one.start >= end || one.start >= from && one.end <= first);
        outside.into_iter().any(|paragraph| {
            let cues = self.lexicon.cues(self.words_of(paragraph));
            cues.has_any(&[Cue::Answer, Cue::Work, Cue::Transform])
                || cues.has(Cue::Present) && paragraph.end <= first
        })
    }

    /// Returns the start of a letter without salutation: after the last preceding paragraph with a request.
    fn unopened(&self, from: usize, line: usize) -> usize {
        let above = self.paragraphs.iter().filter(|one| one.start >= from && one.end <= line);
        let asks = above.filter(|one| {
            let words = self.words_of(one).trim_end();
            words.ends_with(['?', '？', ':', '：']) || self.is_request(one)
        });
        asks.map(|one| one.end).max().unwrap_or(from)
    }

    /// The text below, after or above a request for work on it.
    fn read_requests(&self, parts: &mut Vec<Part>) {
        let mut from = 0;
        for (place, paragraph) in self.paragraphs.iter().enumerate() {
            for (number, line) in self.lines.iter().enumerate().take(paragraph.end).skip(paragraph.start) {
                if line.start < from || self.is_block(line.at) || is_inside(parts, line.at) {
                    continue;
                }
                let is_last = line.end >= self.line_start(paragraph.end);
                let next = self.lines.get(number + 1);
                let Some(lead) = self
                    .lead_of(line, is_last)
                    .or_else(|| title(line, next, number == paragraph.start, self.lexicon))
                else {
                    continue;
                };
                let start = if lead.end < line.end
                    && !self.text.get(lead.end..line.end).unwrap_or_default().trim().is_empty()
                {
                    lead.end
                } else {
                    line.end
                };
                let end = self.extent(start, place, &lead, parts);
                if self.text.get(start..end).is_some_and(|words| !words.trim().is_empty()) {
                    parts.push((start..end, lead.author, lead.reason));
                    from = end;
                }
            }
        }
        if from == 0 {
            self.read_request_behind(parts);
        }
        self.read_attributions(parts);
    }

    /// Words after a text that name its author: "That is what my uncle told me."
    fn read_attributions(&self, parts: &mut Vec<Part>) {
        for (place, paragraph) in self.paragraphs.iter().enumerate() {
            let start = self.line_start(paragraph.start);
            let text = self.words_of(paragraph);
            let Some(end) = attribution(text, self.lexicon) else { continue };
            let above = place.checked_sub(1).and_then(|above| self.paragraphs.get(above));
            let from = match above {
                Some(above) if end == 0 => self.line_start(above.start),
                _ => start,
            };
            if from < start + end {
                parts.push((from..start + end, Author::Unsure, "before words that say whose it is"));
            }
        }
    }

    /// Returns the part of a line that announces the following text or asks for work on it.
    #[expect(clippy::fn_params_excessive_bools, reason = "whether the paragraph ends with the line")]
    fn lead_of(&self, line: &Line<'t>, is_last: bool) -> Option<Lead> {
        let has_more = self.text.get(line.end..).is_some_and(|rest| !rest.trim().is_empty());
        lead(line, has_more, self.lexicon)
            .or_else(|| frames(line, self.lexicon))
            .or_else(|| lead_without_colon(line, has_more, is_last, self.lexicon))
    }

    /// Returns where the text ends that begins at a byte: at a fence or quotation of its own, below a signature, at a list's end,
    /// before words that turn to something else, or at the end of the turn.
    fn extent(&self, start: usize, place: usize, lead: &Lead, parts: &[Part]) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        let at = start + rest.len() - rest.trim_start().len();
        let is_mail =
            parts.iter().any(|(range, _, reason)| mail::REASONS.contains(reason) && range.contains(&at));
        if is_mail || self.is_block(at) || rest.trim_start().starts_with('>') {
            return start;
        }
        let own =
            self.paragraphs.get(place).map_or(self.text.len(), |paragraph| self.line_start(paragraph.end));
        if let Some(close) = quote::closed(self.text, at)
            && (at < own || self.is_paragraph_end(close))
        {
            return quote::with_source(self.text, close);
        }
        let turns = (at < own && lead.is_speech).then(|| self.turns(at, own)).flatten();
        if let Some(turns) = turns {
            return turns;
        }
        if at < own && lead.is_speech && self.text.get(at..own).is_some_and(is_whole) {
            return own;
        }
        if lead.is_narrow {
            return own;
        }
        let first = if self.text.get(start..own).is_some_and(|words| !words.trim().is_empty()) {
            place
        } else {
            place + 1
        };
        for (next, paragraph) in self.paragraphs.iter().enumerate().skip(first + 1) {
            let is_last = next + 1 == self.paragraphs.len();
            let is_behind = self.is_closed_before(first, next);
            let turns = self.lexicon.cues(first_line(self.words_of(paragraph))).has(Cue::Aside);
            if is_behind || turns || is_last && (self.is_request(paragraph) || self.is_question(paragraph)) {
                return self.line_start(paragraph.start);
            }
        }
        self.text.len()
    }

    /// Returns where, behind the first sentence of what someone said, the speaker turns to something else or to the reader: "The
    /// doctor says: no allergy! So forget the bees."
    fn turns(&self, at: usize, end: usize) -> Option<usize> {
        let said = self.text.get(at..end)?;
        let turns =
            |one: &&Sentence| self.lexicon.leading(Cue::Aside, &self.lexicon.plain(one.of(said))).is_some();
        sentences(said).iter().skip(1).find(turns).map(|one| at + one.start)
    }

    /// Returns whether a text ends before a paragraph: signed, or a list that does not continue.
    fn is_closed_before(&self, first: usize, next: usize) -> bool {
        let (Some(start), Some(before), Some(after)) = (
            self.paragraphs.get(first),
            next.checked_sub(1).and_then(|before| self.paragraphs.get(before)),
            self.paragraphs.get(next),
        ) else {
            return false;
        };
        let signed = mail::sign_off(&self.lines, start.start, self.lexicon)
            .is_some_and(|off| off.end <= after.start && off.end + 1 >= before.end);
        signed || self.is_list(before) && !self.is_list(after)
    }

    fn is_list(&self, paragraph: &Range<usize>) -> bool {
        let lines = self.lines.get(paragraph.clone()).unwrap_or_default();
        lines.len() > 1 && lines.iter().filter(|line| line.is_item()).count() * 2 > lines.len()
    }

    /// A last paragraph that asks for work on the text above it.
    fn read_request_behind(&self, parts: &mut Vec<Part>) {
        let Some((last, before)) = self.paragraphs.split_last().filter(|(_, before)| !before.is_empty())
        else {
            return;
        };
        let text = self.words_of(last);
        let words = self.lexicon.plain(text);
        let cues = self.lexicon.cues_of(&words);
        let is_short = text.split_whitespace().count() <= LONGEST_REQUEST;
        let is_bare =
            words.len() <= LONGEST_BARE_REQUEST || text.trim().chars().count() <= LONGEST_BARE_REQUEST * 2;
        let is_asked = text.trim_end().ends_with(['?', '？']);
        let asks = cues.has_any(&[Cue::Transform, Cue::Work]);
        let is_parted = self
            .lines
            .get(..last.start)
            .is_some_and(|above| above.iter().rev().find(|line| !line.is_blank()).is_some_and(Line::is_rule));
        let points = cues.has_any(&[Cue::Above, Cue::Point])
            || is_parted && cues.has_any(&[Cue::Text, Cue::This])
            || cues.has(Cue::Transform) && cues.has(Cue::This)
            || is_bare && (cues.has(Cue::Transform) || cues.has(Cue::Genre))
            || words.len() == 1;
        let asks = asks || is_asked && cues.has(Cue::Point) || is_bare && is_asked && cues.has(Cue::Genre);
        let asks = asks && !cues.has(Cue::Own);
        let is_at = |part: &Part| part.0.start >= self.line_start(last.start);
        if is_short && asks && points && !parts.iter().any(is_at) {
            let start = before.first().map_or(0, |first| self.line_start(first.start));
            parts.push((
                start..self.line_start(last.start),
                Author::Material,
                "work on it is asked for below",
            ));
        }
    }

    fn is_block(&self, at: usize) -> bool {
        self.blocks.iter().any(|block| block.contains(&at))
    }
}

/// Returns whether words are a sentence that has come to its end, and no greeting.
fn is_whole(words: &str) -> bool {
    let words = words.trim_end();
    let is_long = words.split_whitespace().count() > 2
        || words.chars().filter(|sign| crate::word::is_sign(*sign)).count() > 4;
    is_long && words.ends_with(['.', '!', '?', '。', '！', '？', '"', '”', '»', '“'])
}

fn first_line(text: &str) -> &str {
    text.trim_start().lines().next().unwrap_or_default()
}

fn is_inside(parts: &[Part], at: usize) -> bool {
    parts.iter().any(|(range, _, reason)| *reason != quote::REASON && range.contains(&at))
}

/// Puts parts in order, cuts overlaps off, and fills the gaps with the speaker's own words.
fn covered(text: &str, mut parts: Vec<Part>) -> Vec<Segment> {
    parts.sort_by_key(|(range, ..)| (range.start, std::cmp::Reverse(range.end)));
    let mut segments = Vec::with_capacity(2 * parts.len() + 1);
    let mut at = 0;
    for (range, author, reason) in parts {
        let start = range.start.max(at);
        if start >= range.end {
            continue;
        }
        segments.extend((at < start).then(|| segment(at..start, Author::Speaker, OWN)).flatten());
        segments.extend(segment(start..range.end, author, reason));
        at = range.end;
    }
    segments.extend((at < text.len()).then(|| segment(at..text.len(), Author::Speaker, OWN)).flatten());
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain turns, and texts of others in wrappers.
    const TEXTS: [&str; 4] = [
        include_str!("plain.txt"),
        include_str!("cases.txt"),
        include_str!("found.txt"),
        include_str!("wrapped_dev.txt"),
    ];

    #[test]
    fn what_is_plain_at_a_quick_look_is_plain() {
        let mut texts = crate::gold_texts::texts();
        for row in TEXTS.iter().flat_map(|file| file.lines()).filter_map(|line| line.split_once(" | ")) {
            let text = row.1.replace(['⟦', '⟧', '⟪', '⟫'], "");
            texts.extend(text.split('⏎').map(str::to_owned));
            texts.push(text.replace('⏎', "\n"));
        }
        texts.extend(texts.iter().flat_map(|text| text.lines()).map(str::to_owned).collect::<Vec<_>>());
        let plain: Vec<&String> = texts.iter().filter(|text| is_plain(text)).collect();
        for text in &plain {
            assert_eq!(others(&TurnText { text, names: &[] }), [], "{text}");
        }
        assert!(plain.len() * 5 > texts.len() * 2, "{} of {}", plain.len(), texts.len());
    }
}
