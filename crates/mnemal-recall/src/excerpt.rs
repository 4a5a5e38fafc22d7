//! Extractive excerpts: the sentences of a long text that answer a question.

use std::ops::Range;

use mnemal_core::Span;
use mnemal_text::{Analyzer, Sentence, is_stop_word, sentences, term_hash};

/// Most bytes of a text that are analyzed. Source: own choice; ten times the length of an assistant's answer.
const READ: usize = 32_768;
/// Marks omitted words.
const GAP: &str = " … ";

/// The parts of a text to show, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) spans: Vec<Span>,
    pub(crate) text: String,
}

/// Shortens texts to the sentences that answer a question.
#[derive(Clone, Debug)]
pub(crate) struct Excerpts {
    query: Vec<u64>,
    analyzer: Analyzer,
    /// Most bytes of an excerpt.
    most: usize,
}

impl Excerpts {
    /// Shortens texts to this many bytes for a question.
    pub(crate) fn new(query: &str, analyzer: Analyzer, most: usize) -> Self {
        let query = analyzer.query_terms(query).iter().map(|term| term_hash(term)).collect();
        Self { query, analyzer, most }
    }

    /// Returns the sentences that share most with the question, each with adjacent text as far as it fits; `None` for a
    /// text that is short enough. A sentence longer than a line is skipped if others fit.
    pub(crate) fn cut(&self, content: &str) -> Option<Excerpt> {
        if content.len() <= self.most {
            return None;
        }
        let head = content.get(..content.floor_char_boundary(READ))?;
        let parts = parts(head);
        let said: Vec<Vec<u64>> = parts
            .iter()
            .map(|part| self.query_terms_in(head.get(part.clone()).unwrap_or_default()))
            .collect();
        let kept = self.choose(&parts, &said);
        let spans = joined(&parts, &kept, head);
        let spans = if spans.is_empty() { vec![self.beginning(&parts, &said, head)] } else { spans };
        excerpt(content, &spans)
    }

    /// Returns the indexes of the kept parts, ascending.
    fn choose(&self, parts: &[Range<usize>], said: &[Vec<u64>]) -> Vec<usize> {
        let (mut kept, mut known, mut left) = (Vec::new(), Vec::new(), self.most);
        loop {
            let news = |place: usize| said.get(place).map_or(0, |said| new_of(said, &known));
            let cost = |place: usize| parts.get(place).map_or(usize::MAX, |part| part.len() + GAP.len());
            let fits = |place: &usize| !kept.contains(place) && cost(*place) <= left;
            let best = (0..parts.len()).filter(fits).max_by_key(|place| (news(*place), usize::MAX - *place));
            let Some(best) = best else { break };
            if news(best) == 0 {
                // No further part adds question words: the text after the chosen parts explains them.
                let follows = |place: &usize| {
                    kept.is_empty() || place.checked_sub(1).is_some_and(|before| kept.contains(&before))
                };
                let all = || (0..parts.len()).filter(fits);
                let next = all().find(follows).or_else(|| all().find(|place| kept.contains(&(*place + 1))));
                let Some(next) = next else { break };
                left -= cost(next);
                kept.push(next);
                continue;
            }
            known.extend(said.get(best).into_iter().flatten().copied());
            left -= cost(best);
            kept.push(best);
        }
        kept.sort_unstable();
        kept
    }

    /// Returns the beginning of the best part, if none fits.
    fn beginning(&self, parts: &[Range<usize>], said: &[Vec<u64>], head: &str) -> Range<usize> {
        let most = |place: &usize| (said.get(*place).map_or(0, Vec::len), usize::MAX - *place);
        let best = (0..parts.len()).max_by_key(most).and_then(|place| parts.get(place)).cloned();
        let best = best.unwrap_or(0..head.len());
        let end = head.floor_char_boundary(best.start + self.most.min(best.len()));
        let text = head.get(best.start..end).unwrap_or_default();
        let word =
            text.rfind(char::is_whitespace).filter(|word| *word * 2 > text.len()).unwrap_or(text.len());
        best.start..best.start + word
    }

    /// Returns the question words in a part, each once.
    fn query_terms_in(&self, text: &str) -> Vec<u64> {
        let language = self.analyzer.language();
        let mut found = Vec::new();
        self.analyzer.for_each_term(text, &mut |term, range| {
            if text.get(range).is_some_and(|word| !is_stop_word(language, word)) {
                let hash = term_hash(term);
                if self.query.contains(&hash) && !found.contains(&hash) {
                    found.push(hash);
                }
            }
        });
        found
    }
}

fn new_of(said: &[u64], known: &[u64]) -> usize {
    said.iter().filter(|hash| !known.contains(hash)).count()
}

/// Returns the sentences of a text, split at line breaks.
fn parts(text: &str) -> Vec<Range<usize>> {
    let lines = |sentence: Sentence| {
        let lines = sentence.of(text).split_inclusive('\n');
        lines.scan(sentence.start, |at, line| {
            let from = *at;
            *at += line.len();
            let (lead, body) = (line.len() - line.trim_start().len(), line.trim().len());
            Some(from + lead..from + lead + body)
        })
    };
    sentences(text).into_iter().flat_map(lines).filter(|part| !part.is_empty()).collect()
}

/// Joins adjacent parts.
fn joined(parts: &[Range<usize>], kept: &[usize], text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for part in kept.iter().filter_map(|place| parts.get(*place)) {
        let is_next = |last: &Range<usize>| {
            text.get(last.end..part.start).is_some_and(|between| between.chars().all(char::is_whitespace))
        };
        match all.last_mut().filter(|last| is_next(last)) {
            Some(last) => last.end = part.end,
            None => all.push(part.clone()),
        }
    }
    all
}

fn excerpt(content: &str, spans: &[Range<usize>]) -> Option<Excerpt> {
    let texts: Vec<&str> = spans.iter().filter_map(|span| content.get(span.clone())).collect();
    let mut text = texts.join(GAP);
    if spans.first().is_some_and(|first| first.start > 0) {
        text.insert_str(0, GAP.trim_start());
    }
    if spans.last().is_some_and(|last| !content.get(last.end..).unwrap_or_default().trim().is_empty()) {
        text.push_str(GAP.trim_end());
    }
    let span = |span: &Range<usize>| {
        Some(Span { start: span.start.try_into().ok()?, end: span.end.try_into().ok()? })
    };
    let spans: Option<Vec<Span>> = spans.iter().map(span).collect();
    Some(Excerpt { spans: spans?, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(content: &str, query: &str, most: usize) -> String {
        let excerpt = Excerpts::new(query, Analyzer::default(), most).cut(content).unwrap();
        let said: Vec<&str> = excerpt.spans.iter().map(|span| span.of(content).unwrap()).collect();
        let shown = excerpt.text.trim_start_matches("… ").trim_end_matches(" …");
        assert_eq!(shown, said.join(GAP), "the sources are what the line says");
        assert!(shown.len() <= most + GAP.len(), "{shown}");
        excerpt.text
    }

    #[test]
    fn the_sentences_that_answer_are_kept_in_their_order_and_gaps_are_marked() {
        let text = "Welcome back! The roof was mended in May. It rained a lot. Our accountant is Orsolya Kiss. \
                    She lives above the bakery. The cat sleeps.";
        assert_eq!(cut(text, "What is our accountant called?", 40), "… Our accountant is Orsolya Kiss. …");
        assert_eq!(
            cut(text, "What did the accountant say of the roof?", 75),
            "… The roof was mended in May. … Our accountant is Orsolya Kiss. …"
        );
        assert_eq!(
            cut(text, "Who is the accountant?", 70),
            "… Our accountant is Orsolya Kiss. She lives above the bakery. …"
        );
    }

    #[test]
    fn a_text_that_says_nothing_of_it_keeps_its_beginning_and_a_short_one_is_whole() {
        let text = "Welcome back! The roof was mended in May. It rained a lot.";
        assert_eq!(cut(text, "Who is the accountant?", 52), "Welcome back! The roof was mended in May. …");
        assert_eq!(Excerpts::new("roof", Analyzer::default(), 60).cut(text), None);
    }

    #[test]
    fn a_sentence_without_end_is_cut_behind_a_word_and_letters_stay_whole() {
        let long = format!("The roof {}is done.", "grows and grows, ".repeat(30));
        let beginning = cut(&long, "roof", 50);
        let rest = long.strip_prefix(beginning.strip_suffix(" …").unwrap()).unwrap();
        assert!(rest.starts_with(' '), "{beginning}");
        assert_eq!(cut(&"ä".repeat(500), "roof", 50), format!("{} …", "ä".repeat(25)));
    }

    #[test]
    fn lines_of_a_list_are_sentences_of_their_own() {
        let text = "Here you are:\n- milk and bread\n- the key of the shed\n- a ladder for the roof and nails\n- soap";
        assert_eq!(cut(text, "Where is the key?", 30), "… - the key of the shed …");
    }
}
