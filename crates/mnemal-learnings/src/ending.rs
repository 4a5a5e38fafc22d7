//! Endings: rows from user messages that end other rows and are never active themselves.

use mnemal_core::{
    EventId, Learning, LearningId, LearningKind, NoteKey, SessionId, Source, Stance, Support, Timestamp,
};
use mnemal_extract::{
    EndedSide, EndingScope, Form, WordSenses, begins_compound, denies, form_wish, joined_parts, subject_words,
};
use mnemal_text::{Analyzer, Language, fold};

use crate::read::{LEARNED, TASTE, is_own};
use crate::tool;

/// Key prefix of endings.
pub(crate) const ENDED: &str = "learned/ended/";
/// Tag of an ending with more words than the name of the ended thing.
pub(crate) const AMONG: &str = "among";
/// End of the rules that loosen how the work is to be done; those of length end every wish for one.
const LOOSENED: &str = "loosened";
/// Letters that mark a word and its other form as candidates. Source: own choice; only a prefilter.
const NEAR: usize = 2;
/// Fewest words of a prohibition that one thing of its kind can end: "I drink whole milk again" and "I don't drink milk".
/// Source: own choice; a single word is too broad.
const FEWEST: usize = 2;
/// Common letters of two words of one root: allergy, allergic. Source: own choice.
const ROOT: usize = 6;

/// Signs that part a statement.
const PARTS: [char; 9] = [',', ';', '.', '!', ':', '，', '。', '；', '！'];

/// An ending of earlier statements.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    /// Its row.
    pub(crate) id: LearningId,
    /// When it was said, in the order of versions.
    pub(crate) at: Order,
    /// Belief time from which it was known.
    pub(crate) created_at: Timestamp,
    event: Option<EventId>,
    session: SessionId,
    person: Person,
    scope: EndingScope,
    side: EndedSide,
    /// Folded words that name the ended thing; for an ending of the previous wish, the event of that wish.
    words: Vec<String>,
    /// The message that it puts right, of which alone something ends.
    repaired: Option<String>,
    /// The senses of each of these words.
    senses: Vec<WordSenses>,
    /// Whether the words say more than the name of the ended thing.
    is_among: bool,
    /// Whether it lets answers be of any length again.
    frees_length: bool,
    language: Language,
}

/// The order in which rows were said.
pub(crate) type Order = (Timestamp, Timestamp, Option<Source>, LearningId);

/// The speaker: user filter and spoken name.
type Person = (Option<String>, Option<String>);

/// Returns the position of a row in the order of statements; those of one message follow their places in it.
pub(crate) fn order(row: &Learning) -> Order {
    (row.occurred_at, row.created_at, row.sources.first().copied(), row.id)
}

/// Whether a row ends others.
pub(crate) fn is_ending(row: &Learning) -> bool {
    row.signal.as_ref().is_some_and(|signal| signal.stance == Stance::End)
}

/// Whether a text names the length of an answer.
fn names_length(text: &str) -> bool {
    form_wish(text).parts.iter().any(|part| part.form == Form::Length)
}

fn person(row: &Learning) -> Person {
    let user = row.user.as_ref().map(|user| user.as_str().to_owned());
    (user, row.speaker.as_ref().map(|speaker| speaker.as_str().to_owned()))
}

impl Ending {
    /// Parses a row that ends others.
    pub(crate) fn of(row: &Learning) -> Option<Self> {
        let is_repair =
            row.signal.as_ref().is_some_and(|signal| signal.rule.as_str() == Support::correction_rule());
        let (words, repaired) = match row.topics.split_last() {
            Some((event, words)) if is_repair => (words, Some(event.clone())),
            _ => (row.topics.as_slice(), None),
        };
        let tag = |place: usize| row.tags.get(place).map(mnemal_core::Tag::as_str).unwrap_or_default();
        Some(Self {
            id: row.id,
            at: order(row),
            created_at: row.created_at,
            event: row.sources.first().map(|source| source.event),
            session: row.session.clone(),
            person: person(row),
            scope: EndingScope::from_name(tag(1)).filter(|_| is_ending(row))?,
            side: EndedSide::from_name(tag(2))?,
            words: words.to_vec(),
            repaired,
            senses: words.iter().map(|word| WordSenses::of(word)).collect(),
            is_among: tag(3) == AMONG,
            frees_length: row.signal.as_ref().is_some_and(|signal| signal.rule.as_str().ends_with(LOOSENED))
                && names_length(&row.content),
            language: Language::guess(&row.content),
        })
    }

    /// Whether it ends a row: an earlier statement of the same person, about the same, on the ended side.
    pub(crate) fn ends(&self, row: &Learning) -> bool {
        let is_learned = row.signal.is_some() && !is_ending(row);
        let is_known = row.key.as_ref().is_some_and(|key| self.may_end(key));
        is_learned && is_known && order(row) < self.at && self.person == person(row) && self.is_about(row)
    }

    fn may_end(&self, key: &NoteKey) -> bool {
        let is_learned = key.as_str().starts_with(LEARNED) && !tool::is_of_tool(key);
        let is_taste = key.as_str().starts_with(TASTE);
        is_learned
            && match self.scope {
                EndingScope::Own if self.is_among => is_own(key) && !is_taste,
                EndingScope::Taste if self.is_among => is_taste,
                EndingScope::Work if self.is_among => !is_own(key),
                EndingScope::Taste => is_taste || !is_own(key),
                EndingScope::Work => !is_taste,
                // Ending a fact of a kind ends the learnings about it, except tastes.
                scope if scope.is_of_facts() => is_own(key) && !is_taste,
                _ => true,
            }
    }

    fn is_about(&self, row: &Learning) -> bool {
        let is_of_event = |event: EventId| row.sources.iter().any(|source| source.event == event);
        if self.event.is_some_and(is_of_event) {
            return false;
        }
        let rests_on = |event: &String| row.sources.iter().any(|source| source.event.to_string() == *event);
        if !self.repaired.as_ref().is_none_or(rests_on) {
            return false;
        }
        if self.scope == EndingScope::Last {
            return row.session == self.session
                && row.sources.iter().any(|source| self.words.contains(&source.event.to_string()));
        }
        let is_of_work = !row.key.as_ref().is_some_and(is_own);
        let is_named = || {
            if self.frees_length {
                is_of_work && names_length(&row.content)
            } else if self.is_among {
                self.holds(&row.content) || is_of_work && self.names_most(&row.content)
            } else {
                self.names(&row.content)
            }
        };
        let is_whole = || !row.key.as_ref().is_some_and(is_own) || self.names_each_part(&row.content);
        self.is_side_of(row) && is_named() && is_whole()
    }

    /// Whether the ending names each part of a joined statement: giving up the flute does not end playing the cello.
    fn names_each_part(&self, statement: &str) -> bool {
        let parts: Vec<Vec<String>> =
            joined_parts(statement, Language::guess(statement)).into_iter().map(subject_words).collect();
        let is_named = |words: &Vec<String>| words.is_empty() || words.iter().any(|word| self.has(word));
        parts.len() < 2 || parts.iter().all(is_named)
    }

    /// Whether a word is among the ending's words, in any form.
    fn has(&self, word: &str) -> bool {
        if word.chars().any(is_sign) {
            return self.words.iter().any(|other| other.contains(word) || word.contains(other.as_str()));
        }
        let ended = self.stems(&self.words.join(" "));
        self.stems(word).iter().all(|stem| ended.iter().any(|other| self.is_same(stem, other)))
    }

    /// Whether all words that name a statement's subject are among the ending's words.
    fn holds(&self, statement: &str) -> bool {
        let named = subject_words(statement);
        let is_held = |word: &String| {
            let is_part = |other: &String| other.contains(word.as_str());
            let is_meant = || self.senses.iter().any(|senses| senses.mean(&WordSenses::of(word)));
            (if word.chars().any(is_sign) { self.words.iter().any(is_part) } else { self.has(word) })
                || is_meant()
        };
        let holds = |words: &[String]| !words.is_empty() && words.iter().all(is_held);
        // What stands beside the state in a longer statement need not be said again: "I'm allergic to bees, so the doctor says".
        let states = |clause: &&str| self.stems(clause).len() > subject_words(clause).len();
        holds(&named) || statement.split(PARTS).filter(states).any(|clause| holds(&subject_words(clause)))
    }

    fn is_side_of(&self, row: &Learning) -> bool {
        let is_of_taste = row.key.as_ref().is_some_and(|key| key.as_str().starts_with(TASTE));
        let is_aversion =
            is_of_taste && row.signal.as_ref().is_some_and(|signal| signal.stance == Stance::Leave);
        let leaves = is_aversion || row.kind == LearningKind::AntiPattern || denies(&row.content);
        match self.side {
            EndedSide::Do => !leaves,
            EndedSide::Leave => leaves,
            EndedSide::Either => true,
        }
    }

    /// Whether a text contains all words that name the ended thing, or others of their meaning; for a prohibition, whether the
    /// ending contains all of the text's.
    fn names(&self, text: &str) -> bool {
        let folded = fold(text);
        let is_near = |word: &String| {
            let start: String = word.chars().take(NEAR).collect();
            folded.contains(&start)
        };
        let has_senses = self.senses.iter().any(|senses| !senses.is_empty());
        if !has_senses && !self.words.iter().any(is_near) {
            return false;
        }
        let senses = if has_senses { WordSenses::of(text) } else { WordSenses::default() };
        let said = self.stems(&folded);
        let holds = |all: &[String], word: &String| all.iter().any(|other| self.is_same(word, other));
        let mut is_named = false;
        for (word, own) in self.words.iter().zip(&self.senses) {
            // Words of a script without spaces have no stems, and occur inside others.
            let is_of_signs = word.chars().any(is_sign);
            let stems = if is_of_signs { Vec::new() } else { self.stems(word) };
            let is_same =
                if is_of_signs { folded.contains(word) } else { stems.iter().all(|stem| holds(&said, stem)) };
            if !is_same && !own.mean(&senses) {
                return self.forbids_less(&said);
            }
            is_named |= is_of_signs || !stems.is_empty();
        }
        is_named
    }

    /// Whether more than half of the words mean something that a wish names, and one of them by its sense: what is said of a wish
    /// besides differs from what the wish says.
    fn names_most(&self, text: &str) -> bool {
        if self.senses.iter().all(WordSenses::is_empty) {
            return false;
        }
        let (senses, said) = (WordSenses::of(text), self.stems(&fold(text)));
        let is_meant = |own: &WordSenses| own.mean(&senses);
        let is_said = |word: &String| {
            let stems = self.stems(word);
            !stems.is_empty() && stems.iter().all(|stem| said.iter().any(|other| self.is_same(stem, other)))
        };
        let named =
            self.words.iter().zip(&self.senses).filter(|(word, own)| is_meant(own) || is_said(word)).count();
        self.senses.iter().any(is_meant) && named * 2 > self.words.len()
    }

    /// Whether the words of a prohibition are all among those that name the ended thing.
    fn forbids_less(&self, said: &[String]) -> bool {
        let ended = self.stems(&self.words.join(" "));
        self.side == EndedSide::Leave
            && said.len() >= FEWEST
            && said.iter().all(|word| ended.iter().any(|other| self.is_same(word, other)))
    }

    /// Whether two stems name the same; in German a compound begins with the thing: "bienen", "bienengift".
    fn is_same(&self, one: &str, other: &str) -> bool {
        begins_compound(one, other, self.language) || is_same_word(one, other)
    }

    fn stems(&self, text: &str) -> Vec<String> {
        Analyzer::new(self.language).query_terms(text)
    }
}

/// Whether a character belongs to a script without spaces.
fn is_sign(sign: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&sign)
}

/// Whether two stems are forms of one word.
fn is_same_word(one: &str, other: &str) -> bool {
    let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let (first, second) = (one.chars().count(), other.chars().count());
    one == other || (common >= ROOT && first.max(second) <= common + 3)
}
