//! Turns of a few words that give a value in place of one said before: "No wait, Bruges.", "*Octavia", "18, not 28".

use std::ops::Range;

use super::{LONGEST, MARKERS, Strength, WordList, longest, stands};
use crate::claims::kinds::are_of_one_kind;
use crate::senses::WordSenses;

/// Words of such a turn at most. Source: own choice; a longer one says something else as well.
const MOST_WORDS: usize = 14;
/// Share of equal letters at the start and the end of two spellings of one name. Source: own choice: Halden and Holden, Lincoln
/// and Leicester are near, Oboe and Ghent are not.
const NEAR: f32 = 0.4;
/// Words behind the value in the same clause at most. Source: own choice, "with an o".
const LONGEST_REST: usize = 3;
/// The same of a word with a star. Source: own choice: Octavia and Fabia are near, Ghent and important are not.
const NEAR_BY_STAR: f32 = 0.25;
/// Words of a value in small letters at most. Source: own choice; "cashews are fine" is a sentence.
const LONGEST_NOUN: usize = 2;
/// Sign before or behind a word that takes the place of another in chats.
const STAR: char = '*';

/// An earlier text as its speaker meant it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedTurn {
    /// The earlier text with the new value.
    pub text: String,
    /// The earlier value.
    pub old: String,
    /// Bytes of the new value in the turn that gives it.
    pub new: Range<usize>,
}

/// A turn of a few words that gives a new value, with what it says about the old one.
#[derive(Debug)]
pub(crate) struct Repair<'t> {
    said: WordList<'t>,
    value: NewValue,
}

/// A new value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NewValue {
    /// Words of the new value.
    new: Range<usize>,
    /// Words of the old value, if the turn names it.
    old: Option<Range<usize>>,
    /// How clearly the turn says that it puts something right.
    strength: Strength,
}

/// Where a value may stand in an earlier text.
#[derive(Clone, Debug, PartialEq)]
struct ValueSite {
    old: Range<usize>,
    new: Range<usize>,
    /// Share of equal letters, 1 where words beside the value are the same.
    likeness: f32,
}

impl<'t> Repair<'t> {
    /// Bytes of such a turn at most. Source: own choice; so many words are shorter.
    pub(crate) const MOST_BYTES: usize = 200;

    /// Reads a turn; `None` if it is no correction in a few words.
    pub(crate) fn read(turn: &'t str) -> Option<Self> {
        let said = (turn.len() <= Self::MOST_BYTES).then(|| WordList::of(turn))?;
        let value = said.new_value()?;
        Some(Self { said, value })
    }

    /// Returns what an earlier text of the same speaker may mean after the turn, likeliest first. `between` is what somebody else
    /// said since.
    pub(crate) fn meanings(&self, earlier: &str, between: Option<&str>) -> Vec<RepairedTurn> {
        let strength = self.value.strength;
        // What follows a question is an answer, unless it says that it is none.
        if between.is_some_and(|text| text.contains(['?', '？'])) && strength < Strength::Sure {
            return Vec::new();
        }
        let before = WordList::of(earlier);
        let mut places = self.said.places(&self.value, &before);
        places.sort_by(|one, other| other.likeness.total_cmp(&one.likeness));
        if strength == Strength::Weak || places.first().is_some_and(|first| first.likeness >= NEAR) {
            places.retain(|place| place.likeness >= NEAR);
        }
        let repaired = |place: &ValueSite| {
            let (old, new) = (bytes(&before, &place.old)?, bytes(&self.said, &place.new)?);
            let mut text = earlier.to_owned();
            text.replace_range(old.clone(), self.said.text.get(new.clone())?);
            Some(RepairedTurn { text, old: earlier.get(old)?.to_owned(), new })
        };
        places.iter().filter_map(repaired).filter(|repaired| repaired.text != earlier).collect()
    }
}

fn bytes(of: &WordList<'_>, words: &Range<usize>) -> Option<Range<usize>> {
    let (first, last) = (of.words.get(words.start)?, of.words.get(words.end.checked_sub(1)?)?);
    Some(first.span.start..last.span.end)
}

impl WordList<'_> {
    /// Reads a turn that gives a value and says that another was wrong.
    fn new_value(&self) -> Option<NewValue> {
        let all = self.words.len();
        // Who asks puts nothing right: "Wait, is Bruges farther south?"
        if all == 0 || all > MOST_WORDS || self.text.contains(['?', '？']) {
            return None;
        }
        let (mut at, mut strength) = (0, None);
        while let Some((length, found)) = self.turns_at(at).filter(|(length, _)| at + length < all) {
            at += length;
            strength = strength.max(Some(found));
        }
        let slip = |at: usize| longest(&MARKERS.slip, &self.words, at);
        let mut end = self.value_end(at);
        // What follows a name in small letters explains it: "Holden with an o".
        let ends_early = |place: &usize| {
            slip(*place) > 0 || self.turns_at(*place).is_some() || self.is_name(at) && !self.is_name(*place)
        };
        end = (at + 1..end).find(ends_early).unwrap_or(end);
        let mut old = None;
        let no = |place: &usize| longest(&MARKERS.not, &self.words, *place) > 0;
        if let Some(place) = (at + 1..all.min(end + 1)).find(no) {
            let start = place + longest(&MARKERS.not, &self.words, place);
            end = end.min(place);
            old = (start < all).then(|| start..self.value_end(start));
            strength = strength.max(Some(Strength::Clear));
        }
        if self.has_star(at, end) {
            strength = strength.max(Some(Strength::Weak));
        }
        let mut rest = old.as_ref().map_or(end, |old| old.end);
        while let Some((length, found)) = self.turns_at(rest) {
            rest += length;
            strength = strength.max(Some(found));
        }
        if self.follows_a_slip(rest) {
            strength = Some(Strength::Sure);
        } else if rest < all
            && (self.is_parted(rest)
                || all - rest > LONGEST_REST
                || strength < Some(Strength::Clear)
                || !MARKERS.spelling.contains(self.word(rest)))
        {
            // A value that a sentence goes on about is its subject: "Wait, Bruges is where my sister lives."
            return None;
        }
        strength.filter(|_| at < end).map(|strength| NewValue { new: at..end, old, strength })
    }

    /// Returns the longest marker at a word, with its length.
    fn turns_at(&self, at: usize) -> Option<(usize, Strength)> {
        let phrases = MARKERS.turn.get(self.word(at))?;
        let here = phrases.iter().filter(|(phrase, _)| stands(phrase, &self.words, at));
        here.map(|(phrase, strength)| (phrase.len(), *strength)).max()
    }

    /// Whether a clause behind a word begins with what says that it was a slip.
    fn follows_a_slip(&self, from: usize) -> bool {
        let begins = |at: &usize| *at == from || self.is_parted(*at);
        (from..self.words.len()).filter(begins).any(|at| longest(&MARKERS.slip, &self.words, at) > 0)
    }

    /// Whether a star stands before or behind a value; one on both sides plays: "*laughs*".
    fn has_star(&self, at: usize, end: usize) -> bool {
        let Some((first, last)) = self.words.get(at).zip(self.words.get(end.saturating_sub(1))) else {
            return false;
        };
        let before = self.text.get(..first.span.start).is_some_and(|text| text.ends_with(STAR));
        let behind = self.text.get(last.span.end..).is_some_and(|text| text.starts_with(STAR));
        before != behind
    }

    /// Returns where in an earlier text the value may stand.
    fn places(&self, value: &NewValue, before: &WordList<'_>) -> Vec<ValueSite> {
        let place = |old: Range<usize>, new: Range<usize>, likeness: f32| ValueSite { old, new, likeness };
        if let Some(old) = &value.old {
            let found = before.find(self, old).map(|old| place(old, value.new.clone(), 1.0));
            return found.into_iter().collect();
        }
        if let Some(number) = value.new.clone().find(|at| self.is_number(*at)) {
            return self.numbers(number, before);
        }
        let is_link = |words: &WordList<'_>, at: usize| MARKERS.links.contains(words.word(at));
        let begins = is_link(self, value.new.start) && value.new.len() > 1;
        let new = if begins { value.new.start + 1..value.new.end } else { value.new.clone() };
        let links =
            (0..before.words.len()).filter(|at| begins && before.word(*at) == self.word(value.new.start));
        // "In the file" takes the place of no town.
        let is_alike =
            |old: &Range<usize>| !old.is_empty() && is_link(before, old.start) == is_link(self, new.start);
        let linked: Vec<Range<usize>> =
            links.map(|link| before.value_behind(link, new.len())).filter(is_alike).collect();
        if !linked.is_empty() {
            return linked.into_iter().map(|old| place(old, new.clone(), 1.0)).collect();
        }
        if self.is_of_signs(new.start) {
            let starts = (1..before.words.len()).filter(|at| is_link(before, at - 1));
            let runs = starts.map(|at| at..at + new.len());
            let ends = |old: &Range<usize>| before.is_parted(old.end) || is_link(before, old.end);
            return runs
                .filter(|old| before.is_value(old) && ends(old))
                .map(|old| place(old, new.clone(), NEAR))
                .collect();
        }
        let mut places = Vec::new();
        let mut at = 0;
        while at < before.words.len() {
            let mut end = at + 1;
            while new.len() > 1 && before.is_name(at) && before.is_name(end) && !before.is_parted(end) {
                end += 1;
            }
            let likeness = self.likeness(value, &new, before, &(at..end));
            places.extend(likeness.map(|likeness| place(at..end, new.clone(), likeness)));
            at = end;
        }
        // "Hove" takes the place of Hull, and not of "live", whose letters are more like it.
        if self.is_name(new.start) && places.iter().any(|place| before.is_name(place.old.start)) {
            places.retain(|place| before.is_name(place.old.start));
        }
        places
    }

    /// Returns the numbers that another may take the place of: those that count the same, or the only one.
    fn numbers(&self, number: usize, before: &WordList<'_>) -> Vec<ValueSite> {
        let counts_the_same = |at: &usize| {
            let next = self.word(number + 1);
            !next.is_empty() && (before.word(at + 1) == next || before.word(at.wrapping_sub(1)) == next)
                || number > 0 && before.word(at.wrapping_sub(1)) == self.word(number - 1)
        };
        let all: Vec<usize> = (0..before.words.len()).filter(|at| before.is_number(*at)).collect();
        let alike: Vec<usize> = all.iter().copied().filter(counts_the_same).collect();
        let found = if alike.is_empty() && all.len() == 1 { all } else { alike };
        found
            .into_iter()
            .map(|at| ValueSite { old: at..at + 1, new: number..number + 1, likeness: 1.0 })
            .collect()
    }

    /// Returns where words of another text stand.
    fn find(&self, of: &WordList<'_>, words: &Range<usize>) -> Option<Range<usize>> {
        let is_same =
            |at: &usize| words.clone().enumerate().all(|(step, word)| self.word(at + step) == of.word(word));
        (0..self.words.len()).find(is_same).map(|at| at..at + words.len())
    }

    /// Returns up to so many words behind a link, of one clause.
    fn value_behind(&self, link: usize, length: usize) -> Range<usize> {
        let start = link + 1;
        let end = (start..start + length)
            .take_while(|at| *at < self.words.len() && (*at == start || !self.is_parted(*at)));
        let end = end.last().map_or(start, |last| last + 1);
        let named = (end..end + LONGEST).take_while(|at| self.is_name(*at) && !self.is_parted(*at)).count();
        start..if self.is_name(end.saturating_sub(1)) { end + named } else { end }
    }

    /// Whether signs without spaces are of one clause.
    fn is_value(&self, signs: &Range<usize>) -> bool {
        signs.clone().all(|at| self.is_of_signs(at) && (at == signs.start || !self.is_parted(at)))
    }

    /// Returns how likely a value stands in place of words of an earlier text; `None` where it cannot.
    fn likeness(
        &self,
        value: &NewValue,
        new: &Range<usize>,
        before: &WordList<'_>,
        old: &Range<usize>,
    ) -> Option<f32> {
        let (one, other) = (self.word(new.start), before.word(old.start));
        let is_long = !self.is_name(new.start) && new.len() > LONGEST_NOUN;
        if mnemal_text::content_words(other) == 0 || one == other || is_long {
            return None;
        }
        let likeness = share_of_ends(one, other);
        if are_of_one_kind(one, other) || WordSenses::of(one).share(&WordSenses::of(other)) {
            return Some(likeness.max(NEAR));
        }
        let are_names = self.is_name(new.start) && before.is_name(old.start);
        // A star is for one word of the earlier turn.
        let is_near = likeness >= if self.has_star(new.start, new.end) { NEAR_BY_STAR } else { NEAR };
        let is_meant = is_near || are_names && value.strength > Strength::Weak;
        is_meant.then(|| if is_near { likeness.max(NEAR) } else { likeness })
    }
}

/// Returns the share of letters that two words have in common at the start and the end.
fn share_of_ends(one: &str, other: &str) -> f32 {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    let start = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let common = u16::try_from((start + end).min(short)).unwrap_or(u16::MAX);
    let long = u16::try_from(long).unwrap_or(u16::MAX);
    if long == 0 { 0.0 } else { f32::from(common) / f32::from(long) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(turn: &str, earlier: &str) -> Option<String> {
        Repair::read(turn)?.meanings(earlier, None).into_iter().next().map(|repaired| repaired.text)
    }

    #[test]
    fn a_few_words_put_right_what_was_said_before() {
        for (earlier, turn, expect) in [
            (
                "i live in Ghent and need a van",
                "sorry Bruges, autocorrect",
                "i live in Bruges and need a van",
            ),
            ("I'm on 50 mg of zinc since May", "typo! 75 mg", "I'm on 75 mg of zinc since May"),
            ("I drive a Skoda Fabia, 2014.", "*Octavia", "I drive a Skoda Octavia, 2014."),
            ("I work at Halden Freight", "oops, Holden with an o", "I work at Holden Freight"),
            ("I live in Hull.", "I mean Hove.", "I live in Hove."),
            ("I live in Hull.", "Sorry, I meant Hove.", "I live in Hove."),
            ("My cat Biscuit is twelve", "eleven actually", "My cat Biscuit is eleven"),
            ("28 Kinder in der Gruppe", "18 nicht 28", "18 Kinder in der Gruppe"),
            (
                "Wir fahren im Juli nach Usedom.",
                "Nach Hiddensee, Entschuldigung.",
                "Wir fahren im Juli nach Hiddensee.",
            ),
            ("moro em Londrina", "em Faro, enganei-me", "moro em Faro"),
            ("我女儿今年六岁", "不对，七岁", "我女儿今年七岁"),
        ] {
            assert_eq!(first(turn, earlier).as_deref(), Some(expect), "{turn}");
        }
    }

    #[test]
    fn an_answer_to_a_question_puts_nothing_right_unless_it_says_so() {
        let told =
            |turn, between| Repair::read(turn).unwrap().meanings("I live in Ghent.", Some(between)).len();
        assert_eq!(told("No wait, in Bruges.", "Shall I look for hotels in Antwerp?"), 0);
        assert_eq!(told("No, Bruges.", "I found hotels in Antwerp."), 0);
        assert_eq!(told("sorry, typo: Bruges", "Shall I look for hotels in Antwerp?"), 1);
        assert_eq!(told("No wait, in Bruges.", "I found hotels in Antwerp."), 1);
    }

    #[test]
    fn what_puts_nothing_right_is_no_repair() {
        for (earlier, turn) in [
            ("I'm a vet in Shrewsbury.", "And what about Leeds?"),
            (
                "I live in Ghent.",
                "Bruges is nice too, I should go there again when the weather is better than it is now.",
            ),
            ("I live in Ghent.", "Bruges"),
            ("I live in Ghent.", "Wait, Bruges is where my sister lives."),
            ("I live in Ghent.", "Actually, Pizza."),
            ("I'm allergic to peanuts.", "No, cashews are fine."),
            ("I live in Ghent.", "No wait, Rosa lives in Ghent."),
            ("I live in Ghent.", "No wait, Anna is here"),
            ("I live in Ghent.", "*Hugs*"),
            ("I live in Ghent.", "*Important"),
            ("I live in Ghent.", "Wait, Anna is here"),
            ("I live in Ghent.", "No. Brussels sprouts are gross."),
            ("Ich wohne in Gent.", "Sorry, Tippfehler in der Datei."),
            ("Ich wohne in Gent.", "Moment, Telefon."),
            ("My birthday is on 4 March.", "No, the 5th, the meeting I mean"),
            ("I'm 28. I need 30 chairs.", "No, 40."),
            ("Ich wohne in Husum.", "Meine Eltern sind aus Husum ausgezogen."),
            ("My mother lives in Ghent.", "wait, is Bruges farther south?"),
            ("Mein Hund heißt Otto.", "nein, kürzer"),
            ("", "sorry, Bruges"),
        ] {
            assert_eq!(first(turn, earlier), None, "{turn}");
        }
    }
}
