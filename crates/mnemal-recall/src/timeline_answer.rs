//! Timeline answers: one sentence per relevant event, in chronological order.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use mnemal_core::{Event, Fragment, InclusionReason, Producer, Role, Score, ScorePart, Source, Span};
use mnemal_extract::{Question, question};
use mnemal_text::{Analyzer, is_stop_word, sentences, term_hash};

use crate::request::Hit;

/// Hits for a timeline. Source: own choice; a context of 8,000 tokens has no room for more lines.
const MOST: NonZeroUsize = NonZeroUsize::new(200).expect("200 is not zero");
/// Bytes of an event in which its sentence is searched. Source: own choice; an answer states its subject before that.
const READ: usize = 4_096;
/// Longest line of a timeline, in bytes. Source: ADR 21.
const LONGEST: usize = 120;
/// Marks a truncated sentence.
const CUT: &str = "…";

/// The topical signals; the others tell which of several answers is right, and in a timeline all of them count.
const ABOUT: [&str; 5] = ["words", "session", "coverage", "names", "nearness"];

/// A question about a course of events: many events answer it, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// It asks for the asker's own words, so the assistant's replies are irrelevant.
    of_own_words: bool,
}

impl Timeline {
    /// Analyzes a question: one for a summary or for an order; `None` for any other.
    pub(crate) fn read(query: &str) -> Option<Self> {
        let Question { asks_order, asks_summary, about_self, .. } = question(query);
        (asks_order || asks_summary).then_some(Self { of_own_words: asks_order && about_self })
    }

    /// Returns the number of hits to fetch.
    pub(crate) fn most() -> NonZeroUsize {
        MOST
    }

    /// Returns the lines of hits, oldest first.
    ///
    /// User and assistant words are ranked separately and then interleaved by rank: the former tell what was done, the
    /// latter the result, and the longer side would otherwise crowd out the other.
    pub(crate) fn lines<'h>(
        self,
        hits: impl Iterator<Item = &'h Hit>,
        query: &str,
        analyzer: Analyzer,
    ) -> Vec<(&'h Hit, TimelineLine)> {
        let query: Vec<u64> = analyzer.query_terms(query).iter().map(|term| term_hash(term)).collect();
        let mut hits: Vec<(f32, &Hit)> =
            hits.filter(|hit| self.includes(&hit.event)).map(|hit| (about(hit), hit)).collect();
        hits.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let (count, mut places) = (hits.len().max(1) as f32, HashMap::new());
        let mut lines: Vec<(&Hit, TimelineLine)> = Vec::with_capacity(hits.len());
        for (raw, hit) in hits {
            let place: &mut f32 = places.entry(hit.event.role == Role::Assistant).or_default();
            let value = 1.0 - *place / count;
            *place += 1.0;
            let content = hit.event.body().map_or("", |kept| kept.content.as_str());
            let Some((span, text)) = sentence(content, &query, analyzer) else { continue };
            let rank = ScorePart { name: "course", raw, normalized: value, weight: 1.0, value };
            lines.push((hit, TimelineLine { span, text, rank }));
        }
        lines.sort_by_key(|(hit, _)| (hit.event.body().map(|kept| kept.occurred_at), hit.event.seq));
        lines
    }

    /// Whether an event belongs in the timeline.
    fn includes(self, event: &Event) -> bool {
        match event.role {
            Role::User | Role::Document => true,
            Role::Assistant => !self.of_own_words,
            _ => false,
        }
    }
}

/// One sentence of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimelineLine {
    span: Span,
    text: String,
    rank: ScorePart,
}

impl TimelineLine {
    /// Returns the line as a context fragment derived from its hit; `weight` is that of the hit's space.
    pub(crate) fn fragment(self, whole: Fragment, weight: f32) -> Fragment {
        let Self { span, text, rank } = self;
        let rank = ScorePart { weight: rank.weight * weight, value: rank.value * weight, ..rank };
        Fragment {
            producer: Some(Producer { id: "recall/course".to_owned(), version: 1 }),
            sources: whole.sources.iter().map(|source| Source { span, ..*source }).collect(),
            text,
            score: Score::new(rank.value),
            parts: vec![rank],
            because: InclusionReason::Time,
            ..whole
        }
    }
}

/// The topical relevance of a hit, without the other signals.
fn about(hit: &Hit) -> f32 {
    hit.parts.iter().filter(|part| ABOUT.contains(&part.name)).map(|part| part.value).sum()
}

/// Returns the sentence with most of the question's words, the first among equals, truncated to a line.
fn sentence(content: &str, query: &[u64], analyzer: Analyzer) -> Option<(Span, String)> {
    let head = content.get(..content.floor_char_boundary(READ))?;
    let mut best: Option<(usize, Span, &str)> = None;
    for sentence in sentences(head) {
        let text = sentence.of(head);
        let overlap = term_overlap(text, query, analyzer);
        if best.is_none_or(|(most, _, _)| overlap > most) {
            let start = u32::try_from(sentence.start).ok()?;
            best = Some((overlap, Span { start, end: u32::try_from(sentence.end).ok()? }, text));
        }
    }
    let (_, span, text) = best?;
    let short = shortened(text);
    let end = span.start + u32::try_from(short.len()).ok()?;
    let text = if short.len() < text.len() { format!("{short}{CUT}") } else { text.to_owned() };
    Some((Span { end, ..span }, text))
}

/// Ranks a sentence: by the number of question words, then by whether it has content.
fn term_overlap(text: &str, query: &[u64], analyzer: Analyzer) -> usize {
    let language = analyzer.language();
    let (mut found, mut n_words) = (Vec::new(), 0_usize);
    analyzer.for_each_term(text, &mut |term, range| {
        if text.get(range).is_some_and(|word| !is_stop_word(language, word)) {
            n_words += 1;
            let hash = term_hash(term);
            if query.contains(&hash) && !found.contains(&hash) {
                found.push(hash);
            }
        }
    });
    2 * found.len() + usize::from(n_words > 1)
}

/// Returns the prefix of a sentence that fits a line, up to a word end.
fn shortened(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let head = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default();
    let end = head.rfind(char::is_whitespace).filter(|end| *end * 2 > head.len()).unwrap_or(head.len());
    head.get(..end).unwrap_or(head).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(content: &str, query: &str) -> String {
        let analyzer = Analyzer::default();
        let query: Vec<u64> = analyzer.query_terms(query).iter().map(|term| term_hash(term)).collect();
        let (span, text) = sentence(content, &query, analyzer).unwrap();
        let said = span.of(content).unwrap();
        assert_eq!(text.strip_suffix(CUT).unwrap_or(&text), said, "the source is what the line says");
        text
    }

    #[test]
    fn a_line_is_the_sentence_that_says_most_of_what_is_asked_and_the_first_of_equals() {
        let answer = "Certainly! Here is a plan. The garden needs a fence of oak. Roses come later.";
        assert_eq!(
            line(answer, "Summarise how my garden fence came to be"),
            "The garden needs a fence of oak."
        );
        assert_eq!(line(answer, "Summarise the weather"), "Here is a plan.");
        assert_eq!(line("Sure!", "Summarise the weather"), "Sure!");
    }

    #[test]
    fn a_long_sentence_is_cut_behind_a_word_and_a_word_without_end_within() {
        let long = format!("The garden {}ends here.", "grows and grows, ".repeat(30));
        let cut = line(&long, "garden");
        let rest = long.strip_prefix(cut.strip_suffix(CUT).unwrap()).unwrap();
        assert!(cut.len() <= LONGEST + CUT.len() && rest.starts_with(' '), "{cut}");
        let endless = line(&"ä".repeat(500), "garden");
        assert_eq!(endless, format!("{}…", "ä".repeat(LONGEST / 2)));
    }

    #[test]
    fn what_the_asker_said_himself_is_told_without_the_answers() {
        let own = Timeline::read("In what order did I bring up my plans?").unwrap();
        assert!(own.of_own_words);
        assert!(!Timeline::read("Summarise how my plans went").unwrap().of_own_words);
        assert_eq!(Timeline::read("When did I plan it?"), None);
    }
}
