//! The segmenter that works by rule alone.

use std::ops::Range;

use mnemal_text::sentences;

use super::{Author, Segment, Segmenter, TurnText, quote, segment};
use crate::clause::Reading;
use crate::gates::Gates;
use crate::language::{Pack, language};

/// Words of the last sentence before a colon that asks for work whatever its form: "Fix the grammar". Source: own choice.
const LONGEST_ORDER: usize = 6;

/// Tells whose words the parts of a turn are by its structure and by what is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleSegmenter;

/// Bytes with whose words they are and what shows it.
type Part = (Range<usize>, Author, &'static str);

impl Segmenter for RuleSegmenter {
    fn segments(&self, passage: &TurnText<'_>) -> Vec<Segment> {
        covered(passage.text, others(passage.text))
    }
}

/// Returns the parts that are not the speaker's own, in any order.
fn others(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let quoted = |range| (range, Author::Other(None), quote::REASON);
    parts.extend(quote::quotations(text).into_iter().map(quoted));
    if text.contains('\n') || text.starts_with('>') {
        parts.extend(quote::fenced(text).into_iter().map(|range| (range, Author::Program, "fenced")));
        parts.extend(below(text));
    }
    parts
}

/// Beginnings of lines of a mail.
const HEADERS: [&str; 7] = ["From:", "Sent:", "Subject:", "To:", "Cc:", "-----Original", "Betreff:"];

/// Returns lines of quotations and of mails, and what stands below a line that asks for work on it.
fn below(text: &str) -> Vec<Part> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut is_after_order = false;
    for line in text.split_inclusive('\n') {
        let body = line.trim();
        let is_header = HEADERS
            .iter()
            .any(|header| body.get(..header.len()).is_some_and(|of| of.eq_ignore_ascii_case(header)));
        if is_header || body == "--" {
            found.push((start..text.len(), Author::Other(None), "mail"));
            break;
        }
        if is_after_order && start > 0 && !body.is_empty() {
            found.push((start..text.len(), Author::Material, "a text to work on"));
            break;
        }
        if body.starts_with('>') {
            found.push((start..start + line.len(), Author::Other(None), "a quoted line"));
        }
        is_after_order =
            body.ends_with([':', '：']) && asks_for_work(body) || is_after_order && body.is_empty();
        start += line.len();
    }
    found
}

fn asks_for_work(line: &str) -> bool {
    let code = language(line);
    let last = sentences(line).last().copied();
    Pack::of(code).zip(last).is_some_and(|(pack, last)| {
        let gates = Reading::new(last.of(line), pack.gates()).gates();
        gates.intersects(Gates::IMPERATIVE | Gates::QUESTION | Gates::FICTION)
            || last.of(line).split_whitespace().count() <= LONGEST_ORDER
    })
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

/// Why words are the speaker's own.
const OWN: &str = "nothing shows that they are another's";
