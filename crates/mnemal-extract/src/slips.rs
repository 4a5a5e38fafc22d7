//! Admissions of a slip: "Sorry, I mixed it up: …", "Ich habe mich vertan". What is claimed beside one corrects what was said before.

use std::sync::OnceLock;

use mnemal_text::{Sentence, sentences};

use crate::authorship::OwnWords;
use crate::section::PackFile;

/// Phrases of all languages, as they stand in [`plain`] text: those of one word count at the start alone.
fn phrases() -> &'static [String] {
    static PHRASES: OnceLock<Vec<String>> = OnceLock::new();
    PHRASES.get_or_init(|| {
        let file = PackFile::parse(include_str!("../packs/slips.toml")).expect("the file is read by a test");
        let root = file.root();
        let lines = |language| root.lines(language).expect("each language has a list");
        root.keys().flat_map(lines).map(plain).collect()
    })
}

/// Returns the words of a text without accents and signs, with a space before and behind each.
fn plain(text: impl AsRef<str>) -> String {
    let folded = mnemal_text::fold(text.as_ref());
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |mut all, word| {
        all.push_str(word);
        all.push(' ');
        all
    })
}

/// Bytes before a colon in which a slip is admitted. Source: own choice; more of them tell a story.
const LONGEST: usize = 80;

/// Leaves out admissions before a colon, so that what is claimed begins a sentence: "I mixed it up: Nell's …".
pub(crate) fn without_admissions(text: &str, all: Vec<Sentence>) -> Vec<Sentence> {
    let apart = |one: Sentence| {
        let own = one.of(text);
        let colon = own.char_indices().find(|(at, sign)| matches!(sign, ':' | '：') && *at <= LONGEST);
        let behind = colon.and_then(|(at, sign)| {
            let rest = own.get(at + sign.len_utf8()..)?;
            let is_slip = is_admission(own.get(..at)?) && !rest.trim().is_empty();
            is_slip.then(|| one.end - rest.trim_start().len())
        });
        behind.map_or(one, |start| Sentence { start, ..one })
    };
    all.into_iter().map(apart).collect()
}

/// Returns `true` if the sentence at a byte of a turn, or the one before it, says that an earlier statement was wrong.
pub fn admits_slip(own: &OwnWords<'_>, at: usize) -> bool {
    let all = sentences(own.as_str());
    let Some(last) = all.iter().position(|sentence| sentence.range().contains(&at)) else { return false };
    all.iter()
        .take(last + 1)
        .skip(last.saturating_sub(1))
        .any(|sentence| is_admission(sentence.of(own.as_str())))
}

fn is_admission(text: &str) -> bool {
    let text = plain(text);
    phrases().iter().any(|phrase| {
        let words = phrase.trim();
        if words.is_ascii() && !words.contains(' ') {
            text.starts_with(phrase.as_str())
        } else if words.is_ascii() {
            text.contains(phrase.as_str())
        } else {
            // Scripts without spaces.
            text.contains(words)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_admitted_in_every_language_and_a_request_for_a_correction_is_none() {
        for text in [
            "Sorry, I mixed it up: the birthday is on 14 October.",
            "Correction: it is the 14th.",
            "Ich habe mich vertan, er wohnt in Kiel.",
            "Je me suis trompée : c'est le 14.",
            "Me equivoqué, es el 14.",
            "Enganei-me, é no dia 14.",
            "我记错了，是十四号。",
        ] {
            assert!(is_admission(text), "{text}");
        }
        for text in [
            "My boss made a mistake.",
            "Please correct that sentence.",
            "Please send me the correction of the essay.",
            "The baker mixed the dough.",
            "I live in Ghent.",
            "Bitte um Korrektur des Textes.",
            "我住在广州。",
        ] {
            assert!(!is_admission(text), "{text}");
        }
    }

    #[test]
    fn an_admission_reaches_its_own_sentence_and_the_next() {
        let text = "I mixed it up. She lives in Kiel. He lives in Bonn.";
        let own = OwnWords::whole(text);
        let admits = |word: &str| admits_slip(&own, text.find(word).unwrap());
        assert_eq!(["mixed", "Kiel", "Bonn"].map(admits), [true, true, false]);
    }
}
