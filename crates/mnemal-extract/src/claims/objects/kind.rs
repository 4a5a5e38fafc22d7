//! The kind of an object, as its rule needs it.

use std::ops::Range;

use mnemal_core::EntityKind;

use super::Cutter;
use crate::claims::remark::Reason;
use crate::claims::rule::Kind;
use crate::claims::subjects::name_run;
use crate::clause::Break;
use crate::dates::number;
use crate::word::is_sign;

/// Signs of a name in Chinese: one of the family and one or two of the person, or two and two. Source: own choice.
const SIGNS: std::ops::RangeInclusive<usize> = 2..=4;
/// The highest age. Source: the oldest verified person lived 122 years.
const OLDEST: u32 = 122;

impl Cutter<'_, '_> {
    #[expect(clippy::fn_params_excessive_bools, reason = "what the caller has looked up of the words")]
    pub(super) fn of_kind(&self, words: Range<usize>, is_marked: bool) -> Result<Range<usize>, Reason> {
        match self.rule.kind {
            Kind::Name => self
                .mention(words.start)
                .into_iter()
                .chain(name_run(self.reading, words.start))
                .max_by_key(|run| run.end)
                .map(|run| run.start..self.with_particles(run.end, &words))
                .map(|run| run.start..self.with_place(run.end, &words))
                .or_else(|| self.small_name(&words))
                .or_else(|| self.name_of_signs(&words))
                .ok_or(Reason::WrongKind),
            Kind::Place => self.place(words, is_marked),
            Kind::Number => self.number(&words).ok_or(Reason::WrongKind),
            Kind::Date => {
                let at = words.clone().find(|at| self.hints.time_at(self.reading, *at).is_some());
                let at = at.filter(|at| at - words.start < 2).ok_or(Reason::WrongKind)?;
                Ok(at..self.time_end(at).unwrap_or(at + 1))
            }
            Kind::Contact => {
                let text = self.reading.text.get(self.reading.bytes(&words)).unwrap_or_default();
                let digits = text.bytes().filter(u8::is_ascii_digit).count();
                let is_word = words.len() == 1 && text.len() > 5 && text.contains(char::is_alphabetic);
                let is_long = digits >= 5 || text.contains('@') || digits > 0 && is_word;
                let before = self.reading.words.get(words.start).map_or(0, |word| word.span.start);
                let is_handle = self.reading.text.get(..before).is_some_and(|before| before.ends_with('@'));
                if is_long || is_handle { Ok(words) } else { Err(Reason::WrongKind) }
            }
            _ => Ok(words),
        }
    }

    /// The number with which words begin; the signs of one are written together.
    fn number(&self, words: &Range<usize>) -> Option<Range<usize>> {
        let is_part = |at: usize| {
            self.is_number(at)
                || self.rule.predicate.as_str() == "age" && number(self.reading.lower(at)).is_some()
        };
        let start = words.start;
        let more = (start + 1..words.end).take_while(|at| self.reading.is_glued(*at) && is_part(*at)).count();
        (is_part(start) && !self.is_too_old(start)).then_some(start..start + 1 + more)
    }

    /// A number above it is no age.
    fn is_too_old(&self, at: usize) -> bool {
        let number = self.reading.words.get(at).and_then(|word| word.lower.parse::<u32>().ok());
        self.rule.predicate.as_str() == "age" && number.is_some_and(|number| number > OLDEST)
    }

    /// "Jardin des Embruns": in languages that join the words of a name so, a further capital word belongs to the name of a place of
    /// work.
    fn with_particles(&self, end: usize, words: &Range<usize>) -> usize {
        let is_joined = |at: usize| {
            at + 1 < words.end && self.has(at, &self.words().particles) && self.is_capital(at + 1)
        };
        let is_of_work = matches!(self.rule.predicate.as_str(), "works_at" | "studies_at" | "member_of");
        if !is_of_work || self.rules.code == "en" || !is_joined(end) {
            return end;
        }
        let count = (end + 1..words.end).take_while(|at| self.is_capital(*at)).count();
        end + 1 + count
    }

    /// "The Carloway mill": a small word that names a place of work belongs to its name.
    fn with_place(&self, end: usize, words: &Range<usize>) -> usize {
        let end = end.min(words.end);
        let is_place = self.rule.predicate.as_str() == "works_at"
            && end < words.end
            && self.reading.words.get(end).is_some_and(|word| self.rules.is_of("workplace", &word.lower));
        end + usize::from(is_place)
    }

    /// The words of a name that someone else found.
    fn mention(&self, at: usize) -> Option<Range<usize>> {
        let (end, mention) = self.hints.mention_at(self.reading, at)?;
        (!matches!(mention.kind, EntityKind::Quantity | EntityKind::Identifier)).then_some(at..end)
    }

    /// In text without capitals a name may be "jonas".
    fn small_name(&self, words: &Range<usize>) -> Option<Range<usize>> {
        let is_small_writer = !self.reading.words.iter().any(|word| word.is_capitalised(self.reading.text));
        let is_word = self.content(&(words.start..words.start + 1)) == 1;
        (self.rule.is_explicit && is_small_writer && is_word && words.len() <= 2)
            .then(|| words.start..words.start + 1)
    }

    /// A name position, in a script without capitals and blanks: "李雷是韩梅梅的哥哥".
    fn name_of_signs(&self, words: &Range<usize>) -> Option<Range<usize>> {
        let is_name_sign = |at: usize| {
            let word = self.reading.lower(at);
            word.chars().all(is_sign) && !self.rules.subjects.is_subject(word)
        };
        (self.rule.is_of_owner && SIGNS.contains(&words.len()) && words.clone().all(is_name_sign))
            .then(|| words.clone())
    }

    /// A place has a capital, is known, or is a thing like a village.
    #[expect(clippy::fn_params_excessive_bools, reason = "what the caller has looked up of the words")]
    fn place(&self, words: Range<usize>, is_marked: bool) -> Result<Range<usize>, Reason> {
        let bytes = |at: usize| self.reading.words.get(at).map(|word| word.span.clone());
        let is_known = |at: usize| {
            self.has(at, &self.words().places)
                || bytes(at).and_then(|bytes| self.hints.kind_of(&bytes)) == Some(EntityKind::Location)
        };
        // "Somewhere quiet." begins with a capital as every answer does.
        if words.start == 0 && !self.rule.asks.is_empty() && self.mention(0).is_none() {
            return Err(Reason::WrongKind);
        }
        if self.is_capital(words.start) || is_known(words.start) {
            let goes_on = |at: &usize| {
                self.is_capital(*at)
                    || is_known(*at) && !self.is_capital(words.start)
                    || self.has(*at, &self.words().particles) && self.is_capital(at + 1)
            };
            let count = words.clone().skip(1).take_while(goes_on).count();
            let run = words.start..words.start + 1 + count;
            if is_marked
                && !self.is_capital(words.start.saturating_sub(1))
                && self.names_a_noun(words.start, run.end)
            {
                return Err(Reason::WrongKind);
            }
            let kind = self.hints.kind_of(&self.reading.bytes(&run));
            // What surrounds a name is read in English; in other languages its kind is a guess.
            let is_other = self.rules.code == "en"
                && matches!(kind, Some(EntityKind::Product | EntityKind::Organization));
            return if is_other { Err(Reason::WrongKind) } else { Ok(run) };
        }
        let inner = words.clone().skip(1).find(|at| {
            let is_name = self.is_capital(*at)
                || bytes(*at).and_then(|bytes| self.hints.kind_of(&bytes)) == Some(EntityKind::Location);
            is_name && self.has(at - 1, &self.words().prepositions)
        });
        if is_marked && let Some(at) = inner {
            let count = (at..words.end).take_while(|at| self.is_capital(*at)).count().max(1);
            return Ok(at..at + count);
        }
        if is_marked && words.clone().any(is_known) { Ok(words) } else { Err(Reason::WrongKind) }
    }

    /// "That Hamburg song", "the Kumasi office": a noun behind a name with an article is no place.
    pub(super) fn names_a_noun(&self, start: usize, end: usize) -> bool {
        let object = self.words();
        let is_article = start > 0 && self.has(start - 1, &object.determiners);
        let is_noun = self.reading.words.get(end).is_some_and(|word| {
            word.lower.len() > 2 && !["ing", "ed", "ly"].iter().any(|ending| word.lower.ends_with(ending))
        });
        is_article
            && is_noun
            && self.rules.code == "en"
            && self.reading.break_at(end) == Break::None
            && self.is_content(end)
            && !self.is_capital(end)
            && ![&object.places, &object.prepositions, &object.trail, &object.joiners]
                .iter()
                .any(|of| self.has(end, of))
            && !self.is_cut(end)
            && self.time_end(end).is_none()
    }
}
