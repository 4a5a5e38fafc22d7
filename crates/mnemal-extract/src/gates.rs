//! Sentence gates: reasons not to read a plain claim about the speaker (question, negation, hypothesis and others).

pub(crate) mod pack;
pub(crate) mod scope;

use std::ops::{BitOr, BitOrAssign};

use crate::clause::AnalyzedSentence;
use crate::language::{Pack, language};

/// A set of gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gates(u16);

impl Gates {
    /// No gate: the sentence may be a claim.
    pub const NONE: Gates = Gates(0);
    /// A question.
    pub const QUESTION: Gates = Gates(1);
    /// An order.
    pub const IMPERATIVE: Gates = Gates(1 << 1);
    /// A hypothesis.
    pub const HYPOTHETICAL: Gates = Gates(1 << 2);
    /// A duty, a plan or a wish.
    pub const OBLIGATION: Gates = Gates(1 << 3);
    /// A negation.
    pub const NEGATION: Gates = Gates(1 << 4);
    /// An ending.
    pub const END: Gates = Gates(1 << 5);
    /// Reported speech or thoughts, or hearsay.
    pub const REPORTED: Gates = Gates(1 << 6);
    /// A joke or role-play.
    pub const SARCASM: Gates = Gates(1 << 7);
    /// A past habit.
    pub const PAST_HABIT: Gates = Gates(1 << 8);
    /// Copied text: a quotation block, code, an address.
    pub const QUOTED: Gates = Gates(1 << 9);
    /// Fiction, or a request for it.
    pub const FICTION: Gates = Gates(1 << 10);
    /// An earlier time, which implies nothing about now: "as a child", "already once".
    pub const EARLIER: Gates = Gates(1 << 11);

    /// Each gate with its name, in the order of the bits.
    pub const NAMES: [(Gates, &'static str); 12] = [
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
        (Gates::FICTION, "fiction"),
        (Gates::EARLIER, "earlier"),
    ];

    /// Returns whether every gate of `other` is in the set.
    pub fn contains(self, other: Gates) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether a gate of `other` is in the set.
    pub fn intersects(self, other: Gates) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether there is no gate.
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
/// The gates of all its clauses together; for a sentence in another language only the gates of signs (question mark, quotation
/// block, address). The caller splits the text; a longer text gives the gates of all its sentences together, except those that
/// depend on the start or the end of a sentence.
#[must_use]
pub fn gates(sentence: &str) -> Gates {
    AnalyzedSentence::new(sentence, Pack::english().gates()).gates()
}

/// Returns whether a sentence tells what is only imagined, in the languages of the packs: a hypothesis, a joke, a role, a story.
#[must_use]
pub fn is_imagined(sentence: &str) -> bool {
    let gates =
        Pack::of(language(sentence)).map(|pack| AnalyzedSentence::new(sentence, pack.gates()).gates());
    gates.is_some_and(|gates| gates.intersects(Gates::HYPOTHETICAL | Gates::SARCASM | Gates::FICTION))
}

/// Returns whether the words of a text deny something, pseudo-negations left out.
pub(crate) fn is_negated(text: &str) -> bool {
    let gates = Pack::english().gates();
    gates.denies(&gates.forms.words(text))
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
    fn what_is_only_imagined_is_known_in_each_language() {
        for sentence in [
            "If we win the pitch I'd move to Zurich.",
            "Act as a pirate captain who lives in Tortuga.",
            "Wenn das klappt, würde ich nach Wien ziehen.",
            "Si on gagne, je déménagerais à Lausanne.",
            "Si ganamos el concurso, me mudaría con mi mujer a Bilbao.",
            "如果我们中标,我就搬到成都去。",
        ] {
            assert!(is_imagined(sentence), "{sentence}");
        }
        for sentence in ["I live in Bern.", "Wir sind nach Wien gezogen.", "Vivo en Vigo.", "我住在成都。"]
        {
            assert!(!is_imagined(sentence), "{sentence}");
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
    fn what_others_say_of_the_speaker_is_reported_and_what_the_speaker_thinks_is_not() {
        for sentence in [
            "The neighbours reckon we won a prize.",
            "Her theory is that I left for the weather.",
            "The guide lists me as the owner.",
            "Nurse wrote: I have a bad knee.",
            "She said 'i never eat this stuff' and left.",
            "The note: \"I have moved out, keep the cat",
        ] {
            assert!(gates(sentence).contains(Gates::REPORTED), "{sentence}");
        }
        for sentence in
            ["I reckon we take the bus.", "Also tell them I like it.", "A 6\" pipe leads to our shed."]
        {
            assert!(!gates(sentence).contains(Gates::REPORTED), "{sentence}");
        }
    }

    #[test]
    fn questions_about_what_was_said_hold_back_and_relative_clauses_are_none() {
        for sentence in ["I work in a mill, is that right?", "We own a van, innit", "You mean I have a twin?"]
        {
            assert!(gates(sentence).contains(Gates::QUESTION), "{sentence}");
        }
        check("My nephew, who is with the fire brigade, cooks.", "");
    }

    #[test]
    fn idioms_plays_and_retractions_are_no_claims() {
        check("I have a bone to pick with you.", "sarcasm");
        check("Oh wonderful, I own a flooded cellar.", "sarcasm");
        check("In the film, Ida owns a mill.", "fiction");
        check("Provided I get the visa, I start in May.", "hypothetical");
        check("Once I have a garden I'll keep bees.", "hypothetical obligation");
        check("I could cook. I have a bike; my sister knits.", "hypothetical");
    }

    #[test]
    fn empty_and_foreign_text_has_no_gate() {
        for sentence in ["", " ", "私は東京に住んでいます。", "…", "'"] {
            check(sentence, "");
        }
    }
}
