//! Answers: the preceding question gives a short reply its meaning: "Where do you live now?" "Porto, since May."

use mnemal_text::sentences;

use crate::claims::Claims;
use crate::claims::rule::Rule;
use crate::claims::rules::Rules;
use crate::clause::AnalyzedSentence;
use crate::language::{Pack, language};

/// The question at the end of the previous message, with its language.
#[derive(Debug)]
pub(crate) struct PrecedingQuestion<'t> {
    reading: AnalyzedSentence<'t>,
    code: &'static str,
}

impl<'t> PrecedingQuestion<'t> {
    /// Reads the question at the end of a message; `None` if it ends differently.
    pub(crate) fn read(text: &'t str) -> Option<Self> {
        let last = text.trim_end().ends_with(['?', '？']).then(|| sentences(text).last().copied())??;
        let code = language(last.of(text));
        let reading = AnalyzedSentence::new(last.of(text), Pack::of(code)?.gates());
        Some(Self { reading, code })
    }
}

impl Claims<'_> {
    /// Whether a rule needs no question, or its question was asked.
    pub(super) fn is_asked(&self, rule: &Rule, rules: &Rules) -> bool {
        rule.asks.is_empty()
            || self.asked.as_ref().is_some_and(|asked| {
                let places = 0..asked.reading.words.len();
                let stands = |at: usize| {
                    rule.asks.iter().any(|pattern| pattern.at(&asked.reading, rules, at).is_some())
                };
                asked.code == rules.code && places.into_iter().any(stands)
            })
    }
}
