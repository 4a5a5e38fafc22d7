//! Topics that require the user's consent before an action.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use mnemal_core::Result;
use mnemal_text::{fold, sentences};

use super::lexicon::Lexicon;
use super::pattern::Patterns;
use crate::section::PackFile;

#[derive(Debug)]
struct Topics {
    lexicon: Lexicon,
    patterns: Patterns<()>,
    /// Words with which a sentence begins that only tells something.
    subjects: BTreeSet<String>,
    /// Words that make a wish of a sentence.
    wishes: BTreeSet<String>,
}

/// Whether a text only states something and suggests no act: each sentence begins with its subject, and no word is a request.
#[must_use]
pub fn only_states(text: &str) -> bool {
    let Some(topics) = topics() else { return false };
    let states = |sentence: &str| {
        let words = sentence.split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '\'' | '’'));
        // "The lease ends in May": a month asks for nothing.
        let words: Vec<String> = words
            .filter(|word| !word.is_empty() && *word != "May")
            .map(|word| fold(word).replace('’', "'"))
            .collect();
        words.first().is_some_and(|word| topics.subjects.contains(word))
            && !words.iter().any(|word| topics.wishes.contains(word))
    };
    let all: Vec<&str> = sentences(text).iter().map(|sentence| sentence.of(text)).collect();
    !all.is_empty() && all.into_iter().all(states)
}

/// Whether a text touches security, credentials, money, health, law, or sending or deleting on the user's behalf.
///
/// Decided by words alone and errs towards `true`; no model output can clear it.
#[must_use]
pub fn requires_user_permission(text: &str) -> bool {
    topics().is_none_or(|topics| {
        let tokens = topics.lexicon.tokens(text, 0..text.len());
        !topics.patterns.find(&tokens, &topics.lexicon).is_empty()
    })
}

fn topics() -> Option<&'static Topics> {
    static TOPICS: OnceLock<Option<Topics>> = OnceLock::new();
    TOPICS.get_or_init(|| read(include_str!("../../packs/en/feedback.toml")).ok()).as_ref()
}

fn read(text: &str) -> Result<Topics> {
    let file = PackFile::parse(text)?;
    let mut lexicon = Lexicon::read(file.root())?;
    let mut patterns = Patterns::default();
    for section in file.root().sections("permission")? {
        patterns.add((), &section.lines("cue")?, &mut lexicon)?;
    }
    let (mut subjects, mut wishes) = (BTreeSet::new(), BTreeSet::new());
    for section in file.root().sections("statement")? {
        subjects.extend(section.lines("subject")?.into_iter().map(str::to_owned));
        wishes.extend(section.lines("wish")?.into_iter().map(str::to_owned));
    }
    Ok(Topics { lexicon, patterns, subjects, wishes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_tells_something_asks_for_nothing() {
        for text in
            ["My birthday is 3 March, salary 61k", "We pay Ann 61k", "The lease ends in May. It costs 900."]
        {
            assert!(only_states(text), "{text}");
        }
        for text in [
            "Please always send me the invoice as PDF.",
            "Pay the invoices on Friday",
            "I want you to pay Ann",
            "We pay Ann 61k. Send her the contract.",
            "My bills are to be paid at once",
            "The invoices should be deleted.",
            "",
        ] {
            assert!(!only_states(text), "{text}");
        }
    }
}
