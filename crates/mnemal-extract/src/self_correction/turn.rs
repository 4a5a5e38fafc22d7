//! Turns of a few words that give a value in place of one said before: "No wait, Bruges.", "*Octavia", "18, not 28".

use std::ops::Range;

use super::{LONGEST, MARKERS, WordList, longest};
use crate::claims::kinds::are_of_one_kind;
use crate::senses::WordSenses;

/// Words of such a turn at most. Source: own choice; a longer one says something else as well.
const MOST_WORDS: usize = 14;
/// Share of equal letters at the start and the end of two spellings of one name. Source: own choice: Halden and Holden, Lincoln
/// and Leicester are near, Oboe and Ghent are not.
const NEAR: f32 = 0.4;
/// Bytes of such a turn at most. Source: own choice; so many words are shorter.
const MOST_BYTES: usize = 200;
/// Words behind the value in the same clause at most. Source: own choice, "with an o".
const LONGEST_REST: usize = 3;
/// Sign before or behind a word that takes the place of another in chats.
const STAR: char = '*';

/// An earlier text as its speaker meant it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retelling {
    /// The earlier text with the new value.
    pub text: String,
    /// The earlier value.
    pub old: String,
    /// Bytes of the new value in the turn that gives it.
    pub new: Range<usize>,
}

/// A new value with what the turn says about the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Repair {
    /// Words of the new value.
    new: Range<usize>,
    /// Words of the old value, if the turn names it.
    old: Option<Range<usize>>,
    /// Whether the word has a star: one word of the earlier turn is spelled so.
    has_star: bool,
}

/// Returns what an earlier text of the same speaker may mean after a turn, likeliest first; nothing for a turn that is no
/// correction in a few words.
pub(crate) fn retellings(turn: &str, earlier: &str) -> Vec<Retelling> {
    if turn.len() > MOST_BYTES {
        return Vec::new();
    }
    let said = WordList::of(turn);
    let Some(repair) = said.repair() else { return Vec::new() };
    let before = WordList::of(earlier);
    let mut places = said.places(&repair, &before);
    places.dedup();
    let told = |(old, new): &(Range<usize>, Range<usize>)| {
        let (old, new) = (bytes(&before, old)?, bytes(&said, new)?);
        let mut text = earlier.to_owned();
        text.replace_range(old.clone(), turn.get(new.clone())?);
        Some(Retelling { text, old: earlier.get(old)?.to_owned(), new })
    };
    places.iter().filter_map(told).filter(|told| told.text != earlier).collect()
}

fn bytes(of: &WordList<'_>, words: &Range<usize>) -> Option<Range<usize>> {
    let (first, last) = (of.words.get(words.start)?, of.words.get(words.end.checked_sub(1)?)?);
    Some(first.span.start..last.span.end)
}

impl WordList<'_> {
    /// Reads a turn that gives a value and says that another was wrong.
    fn repair(&self) -> Option<Repair> {
        let all = self.words.len();
        // Who asks puts nothing right: "Wait, is Bruges farther south?"
        if all == 0 || all > MOST_WORDS || self.text.contains(['?', '？']) {
            return None;
        }
        let mut at = 0;
        loop {
            let length = longest(&MARKERS.turn, &self.words, at);
            if length == 0 || at + length >= all {
                break;
            }
            at += length;
        }
        let slip = |at: usize| longest(&MARKERS.slip, &self.words, at);
        let mut end = self.value_end(at);
        // What follows a name in small letters explains it: "Holden with an o".
        let ends_early = |place: &usize| slip(*place) > 0 || self.is_name(at) && !self.is_name(*place);
        if let Some(early) = (at + 1..end).find(ends_early) {
            end = early;
        }
        let mut old = None;
        if let Some(place) =
            (at + 1..all.min(end + 1)).find(|place| longest(&MARKERS.not, &self.words, *place) > 0)
        {
            let start = place + longest(&MARKERS.not, &self.words, place);
            end = end.min(place);
            old = (start < all).then(|| start..self.value_end(start));
        }
        // A value that a sentence goes on about is its subject: "Wait, Bruges is where my sister lives."
        let goes_on = old.is_none() && !self.is_parted(end) && slip(end) == 0 && all - end > LONGEST_REST;
        let has_star = self.has_star(at) || end.checked_sub(1).is_some_and(|last| self.has_star(last));
        let is_told = at > 0 || has_star || old.is_some() || slip(end) > 0 || self.follows_a_slip(end);
        (is_told && !goes_on && at < end).then_some(Repair { new: at..end, old, has_star })
    }

    /// Whether the next clauses say that it was a slip.
    fn follows_a_slip(&self, from: usize) -> bool {
        (from..self.words.len()).any(|at| longest(&MARKERS.slip, &self.words, at) > 0)
    }

    fn has_star(&self, at: usize) -> bool {
        let Some(word) = self.words.get(at) else { return false };
        let (before, behind) = (self.text.get(..word.span.start), self.text.get(word.span.end..));
        before.is_some_and(|text| text.ends_with(STAR)) || behind.is_some_and(|text| text.starts_with(STAR))
    }

    /// Returns where in an earlier text the value may stand, with the words that take its place; likeliest first.
    fn places(&self, repair: &Repair, before: &WordList<'_>) -> Vec<(Range<usize>, Range<usize>)> {
        if let Some(old) = &repair.old {
            return before.find(self, old).map(|place| (place, repair.new.clone())).into_iter().collect();
        }
        if let Some(number) = repair.new.clone().find(|at| self.is_number(*at)) {
            return self.numbers(number, before);
        }
        let all = 0..before.words.len();
        let is_link = |at: usize| MARKERS.links.contains(self.word(at));
        if is_link(repair.new.start) && repair.new.len() > 1 {
            let new = repair.new.start + 1..repair.new.end;
            let links = all.clone().filter(|at| before.word(*at) == self.word(repair.new.start));
            let places: Vec<_> = links
                .map(|link| (before.value_behind(link, new.len()), new.clone()))
                .filter(|(old, _)| !old.is_empty())
                .collect();
            if !places.is_empty() {
                return places;
            }
        }
        let start = if is_link(repair.new.start) && repair.new.len() > 1 {
            repair.new.start + 1
        } else {
            repair.new.start
        };
        let new = start..repair.new.end;
        if self.is_of_signs(new.start) {
            let length = new.len();
            let runs = all.clone().filter(|at| at + length <= before.words.len());
            return runs
                .map(|at| (at..at + length, new.clone()))
                .filter(|(old, _)| before.is_value(old))
                .collect();
        }
        let mut places: Vec<(f32, Range<usize>)> = Vec::new();
        let mut at = 0;
        while at < all.end {
            let mut end = at + 1;
            while before.is_name(at)
                && end < all.end
                && before.is_name(end)
                && !before.is_parted(end)
                && new.len() > 1
            {
                end += 1;
            }
            places.extend(self.likeness(repair, &new, before, &(at..end)).map(|like| (like, at..end)));
            at = end;
        }
        places.sort_by(|one, other| other.0.total_cmp(&one.0));
        places.into_iter().map(|(_, place)| (place, new.clone())).collect()
    }

    /// Returns the numbers that another may take the place of, those that count the same first.
    fn numbers(&self, number: usize, before: &WordList<'_>) -> Vec<(Range<usize>, Range<usize>)> {
        let counts_the_same = |at: usize| {
            let next = self.word(number + 1);
            !next.is_empty() && (before.word(at + 1) == next || before.word(at.wrapping_sub(1)) == next)
                || number > 0 && before.word(at.wrapping_sub(1)) == self.word(number - 1)
        };
        let mut places: Vec<usize> = (0..before.words.len()).filter(|at| before.is_number(*at)).collect();
        places.sort_by_key(|at| !counts_the_same(*at));
        places.into_iter().map(|at| (at..at + 1, number..number + 1)).collect()
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
        repair: &Repair,
        new: &Range<usize>,
        before: &WordList<'_>,
        old: &Range<usize>,
    ) -> Option<f32> {
        let (one, other) = (self.word(new.start), before.word(old.start));
        if mnemal_text::content_words(other) == 0 || one == other {
            return None;
        }
        let likeness = share_of_ends(one, other);
        let is_alike = || {
            are_of_one_kind(one, other)
                || WordSenses::of(one).share(&WordSenses::of(other))
                || repair.has_star && new.len() == 1
        };
        let are_names = self.is_name(new.start) && before.is_name(old.start);
        (likeness >= NEAR || are_names || is_alike()).then_some(likeness)
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
        retellings(turn, earlier).into_iter().next().map(|told| told.text)
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
    fn what_puts_nothing_right_retells_nothing() {
        for (earlier, turn) in [
            ("I'm a vet in Shrewsbury.", "And what about Leeds?"),
            (
                "I live in Ghent.",
                "Bruges is nice too, I should go there again when the weather is better than it is now.",
            ),
            ("I live in Ghent.", "Bruges"),
            ("I live in Ghent.", "Wait, Bruges is where my sister lives."),
            ("Ich wohne in Husum.", "Meine Eltern sind aus Husum ausgezogen."),
            ("My mother lives in Ghent.", "wait, is Bruges farther south?"),
            ("Mein Hund heißt Otto.", "nein, kürzer"),
            ("", "sorry, Bruges"),
        ] {
            assert_eq!(first(turn, earlier), None, "{turn}");
        }
    }
}
