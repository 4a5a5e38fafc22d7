//! Gates of a sentence: the reasons for which it may be no plain claim about its speaker.

use std::ops::{BitOr, BitOrAssign};
use std::sync::OnceLock;

use crate::gate_cues::{AUXILIARIES, CUES, IMPERATIVE_VERBS, PRONOUNS, PSEUDO, QUESTION_WORDS};
use crate::phrase::Phrases;
use crate::word::{Word, without_closing_marks, words};

/// A set of gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gates(u16);

impl Gates {
    /// No gate: the sentence may be a claim.
    pub const NONE: Gates = Gates(0);
    /// It asks.
    pub const QUESTION: Gates = Gates(1);
    /// It tells somebody to do something.
    pub const IMPERATIVE: Gates = Gates(1 << 1);
    /// It speaks of what could be, not of what is.
    pub const HYPOTHETICAL: Gates = Gates(1 << 2);
    /// It speaks of a duty, a plan or a wish.
    pub const OBLIGATION: Gates = Gates(1 << 3);
    /// It denies something.
    pub const NEGATION: Gates = Gates(1 << 4);
    /// It says that something has ended.
    pub const END: Gates = Gates(1 << 5);
    /// It gives the words or thoughts of somebody, or hearsay.
    pub const REPORTED: Gates = Gates(1 << 6);
    /// It is meant in jest, or plays a role.
    pub const SARCASM: Gates = Gates(1 << 7);
    /// It tells what used to be so.
    pub const PAST_HABIT: Gates = Gates(1 << 8);
    /// It is copied from elsewhere: a quotation block, code, an address.
    pub const QUOTED: Gates = Gates(1 << 9);

    /// Each gate with its name, in the order of the bits.
    pub const NAMES: [(Gates, &'static str); 10] = [
        (Gates::QUESTION, "question"),
        (Gates::IMPERATIVE, "imperative"),
        (Gates::HYPOTHETICAL, "hypothetical"),
        (Gates::OBLIGATION, "obligation"),
        (Gates::NEGATION, "negation"),
        (Gates::END, "end"),
        (Gates::REPORTED, "reported"),
        (Gates::SARCASM, "sarcasm"),
        (Gates::PAST_HABIT, "past_habit"),
        (Gates::QUOTED, "quoted"),
    ];

    /// Says whether every gate of `other` is in the set.
    pub fn contains(self, other: Gates) -> bool {
        self.0 & other.0 == other.0
    }

    /// Says whether a gate of `other` is in the set.
    pub fn intersects(self, other: Gates) -> bool {
        self.0 & other.0 != 0
    }

    /// Says whether there is no gate.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the names of the gates in the set, in the order of [`Gates::NAMES`].
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Gates::NAMES.into_iter().filter(move |(gate, _)| self.contains(*gate)).map(|(_, name)| name)
    }
}

impl BitOr for Gates {
    type Output = Gates;

    fn bitor(self, other: Gates) -> Gates {
        Gates(self.0 | other.0)
    }
}

impl BitOrAssign for Gates {
    fn bitor_assign(&mut self, other: Gates) {
        self.0 |= other.0;
    }
}

/// Returns the gates of one English sentence.
///
/// A gate holds for the whole sentence; a sentence in another language shows the gates of its signs only
/// (question mark, quotation block, address).
/// The caller splits the text; a longer text gives the gates of all its sentences together, except those that
/// only the start or the end of a sentence shows.
#[must_use]
pub fn gates(sentence: &str) -> Gates {
    let words = words(sentence);
    let mut gates = cued(&words, sentence);
    for (gate, holds) in [
        (Gates::QUESTION, is_question(sentence, &words)),
        (Gates::IMPERATIVE, is_imperative(&words)),
        (Gates::REPORTED, has_quotation(sentence)),
        (Gates::SARCASM, plays_a_role(sentence)),
        (Gates::QUOTED, is_copied(sentence)),
    ] {
        if holds {
            gates |= gate;
        }
    }
    gates
}

/// Says whether the words deny something, pseudo-negations left out.
pub(crate) fn is_negated(words: &[Word<'_>]) -> bool {
    cued(words, "").contains(Gates::NEGATION)
}

/// Returns the gates whose cues occur outside the phrases that only look like cues.
fn cued(words: &[Word<'_>], sentence: &str) -> Gates {
    static TABLES: OnceLock<(Phrases<Gates>, Phrases<()>)> = OnceLock::new();
    let (cues, pseudo) = TABLES.get_or_init(|| (Phrases::new(CUES), Phrases::new(&[((), PSEUDO)])));
    let mut masked = vec![false; words.len()];
    pseudo.find(words, |(), places| {
        masked.iter_mut().take(places.end).skip(places.start).for_each(|mask| *mask = true);
    });
    let is_masked = |place: usize| masked.get(place).copied().unwrap_or(false);
    let mut gates = Gates::NONE;
    cues.find(words, |gate, places| {
        let is_month =
            places.len() == 1 && words.get(places.start).is_some_and(|word| is_may_the_month(word, sentence));
        if !is_masked(places.start) && !is_month {
            gates |= gate;
        }
    });
    for (place, word) in words.iter().enumerate() {
        if word.lower.ends_with("n't") && !is_masked(place) {
            gates |= Gates::NEGATION;
        }
        if word.lower.starts_with("ex-") {
            gates |= Gates::END;
        }
    }
    gates
}

fn is_may_the_month(word: &Word<'_>, sentence: &str) -> bool {
    word.lower == "may" && !word.starts_clause && word.is_capitalised(sentence)
}

fn is_any(word: Option<&Word<'_>>, of: &[&str]) -> bool {
    word.is_some_and(|word| of.contains(&word.lower.as_ref()))
}

/// Says whether an auxiliary verb, with or without "n't", is the word.
fn is_auxiliary(word: Option<&Word<'_>>) -> bool {
    word.is_some_and(|word| {
        let plain = word.lower.strip_suffix("n't").unwrap_or(&word.lower);
        AUXILIARIES.contains(&plain) || AUXILIARIES.contains(&word.lower.as_ref())
    })
}

fn is_question(sentence: &str, words: &[Word<'_>]) -> bool {
    let shown = without_closing_marks(sentence);
    if shown.ends_with(['?', '？', '؟']) || sentence.starts_with('¿') {
        return true;
    }
    let lead = usize::from(is_any(words.first(), &["and", "but", "so", "or", "hey", "ok", "okay", "well"]));
    let (first, second) = (words.get(lead), words.get(lead + 1));
    let is_asked = is_any(first, QUESTION_WORDS) && is_auxiliary(second)
        || is_any(first, &["how"])
            && is_any(second, &["many", "much", "long", "often", "old", "far"])
            && words.iter().skip(lead + 2).take(4).any(|word| is_auxiliary(Some(word)))
        || is_any(first, &["what", "which"])
            && is_auxiliary(words.get(lead + 2))
            && is_any(words.get(lead + 3), PRONOUNS)
        || first.is_some_and(|word| ["what's", "who's", "where's", "how's"].contains(&word.lower.as_ref()));
    let is_inverted = is_auxiliary(first) && is_any(second, PRONOUNS);
    is_asked || is_inverted || is_tag_question(words)
}

/// "…, isn't it": an auxiliary with "n't", or "right", at the end after a comma.
fn is_tag_question(words: &[Word<'_>]) -> bool {
    let [.., auxiliary, pronoun] = words else { return false };
    auxiliary.starts_clause
        && words.len() > 2
        && auxiliary.lower.ends_with("n't")
        && PRONOUNS.contains(&pronoun.lower.as_ref())
}

fn is_imperative(words: &[Word<'_>]) -> bool {
    let lead = words
        .iter()
        .take_while(|word| {
            ["please", "just", "now", "then", "so", "and", "ok", "okay", "also", "kindly"]
                .contains(&word.lower.as_ref())
        })
        .count();
    let has_please = words.iter().take(lead).any(|word| word.lower == "please");
    let (first, second) = (words.get(lead), words.get(lead + 1));
    let is_denied =
        is_any(first, &["don't", "never", "always"]) || is_any(first, &["do"]) && is_any(second, &["not"]);
    let verb = if is_denied { words.iter().skip(lead + 1).find(|word| word.lower != "not") } else { first };
    let is_verb = is_any(verb, IMPERATIVE_VERBS);
    let is_subject = is_any(second, &["is", "was", "are", "were", "'s"]) && !is_denied;
    let is_let = is_any(first, &["let's"]) || is_any(first, &["let"]) && is_any(second, &["me", "us"]);
    has_please || is_let || (is_verb && !is_subject)
}

/// Quotation marks around three or more words are somebody's words.
fn has_quotation(sentence: &str) -> bool {
    let mut rest = sentence;
    while let Some(open) = rest.find(['"', '“', '«']) {
        let after = rest.get(open..).unwrap_or_default();
        let Some(mark) = after.chars().next() else { return false };
        let after = after.get(mark.len_utf8()..).unwrap_or_default();
        let close = match mark {
            '“' => '”',
            '«' => '»',
            other => other,
        };
        let Some(end) = after.find(close) else { return false };
        if after.get(..end).is_some_and(|said| said.split_whitespace().count() >= 3) {
            return true;
        }
        rest = after.get(end + close.len_utf8()..).unwrap_or_default();
    }
    false
}

/// `*waves*`: single stars around a phrase in small letters, at the start or the end.
fn plays_a_role(sentence: &str) -> bool {
    let text = sentence.trim();
    let is_act =
        |act: &str| act.starts_with(|c: char| c.is_lowercase()) && act.split_whitespace().count() <= 6;
    let at_start =
        text.strip_prefix('*').and_then(|rest| rest.split_once('*')).is_some_and(|(act, _)| is_act(act));
    let at_end = text
        .strip_suffix('*')
        .and_then(|rest| rest.rsplit_once('*'))
        .is_some_and(|(before, act)| !before.ends_with('*') && is_act(act));
    at_start || at_end
}

fn is_copied(sentence: &str) -> bool {
    let text = sentence.trim_start();
    text.starts_with('>')
        || text.starts_with("```")
        || text.contains("://")
        || text.contains("```")
        || text.contains("www.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expected: &str) {
        assert_eq!(gates(sentence).names().collect::<Vec<_>>().join(" "), expected, "{sentence}");
    }

    #[test]
    fn plain_claims_have_no_gate() {
        for sentence in [
            "I live in Lisbon.",
            "My sister Ana works at a bank.",
            "We adopted a dog in May.",
            "I can't wait to see her.",
            "No problem, I am at home.",
            "I'm used to cold winters.",
            "She plays the violin, no doubt.",
            "Use is free.",
        ] {
            check(sentence, "");
        }
    }

    #[test]
    fn questions_are_known_by_mark_inversion_word_and_tag() {
        for sentence in [
            "Where is it?",
            "Is she at home",
            "what did he say",
            "You like it, don't you",
            "How many books are there",
            "Did you go? 😀",
            "¿Dónde está",
            "And when did we meet",
        ] {
            assert!(gates(sentence).contains(Gates::QUESTION), "{sentence}");
        }
        for sentence in ["When I was ill, she came.", "What a day!", "Who I am is my thing."] {
            assert!(!gates(sentence).contains(Gates::QUESTION), "{sentence}");
        }
    }

    #[test]
    fn cues_set_their_gates() {
        check("Please send me the file.", "imperative");
        check("Don't use tabs.", "imperative negation");
        check("Let's go home.", "imperative");
        check("I would buy it.", "hypothetical");
        check("Maybe I know him.", "hypothetical");
        check("I'd love a dog.", "hypothetical");
        check("I need to call her.", "obligation");
        check("We're going to Rome.", "obligation");
        check("I don't eat meat.", "negation");
        check("I have never been there.", "negation");
        check("I no longer smoke.", "negation end");
        check("She left her job.", "end");
        check("My ex-husband cooks.", "end");
        check("He told me that she cooks.", "reported");
        check("Apparently they moved.", "reported");
        check("Yeah right, I love Mondays.", "sarcasm");
        check("*waves* hello", "sarcasm");
        check("I used to smoke.", "end past_habit");
        check("> I live in Rome", "quoted");
        check("It is at https://example.com.", "quoted");
        check("**This** is bold.", "");
    }

    #[test]
    fn empty_and_foreign_text_has_no_gate() {
        for sentence in ["", " ", "私は東京に住んでいます。", "…", "'"] {
            check(sentence, "");
        }
    }
}
