//! Boundaries of an object.

use std::ops::Range;

use super::Cutter;
use crate::claims::rule::{Kind, TopicOf};
use crate::clause::Break;
use crate::gates::Gates;

/// Words after which an object is cut. Source: own choice.
const LONGEST: usize = 12;
/// Digits of a number that counts; a longer one is a year or a name. Source: own choice.
const SHORT_NUMBER: usize = 3;

impl Cutter<'_, '_> {
    /// Passes over adverbs and times.
    pub(super) fn start(&self, range: Range<usize>) -> usize {
        let mut at = range.start;
        while at < range.end {
            let is_length = self.hints.time_at(self.reading, at).is_some_and(|time| time.is_length);
            if !self.is_exact()
                && !is_length
                && let Some(end) = self.time_end(at)
            {
                at = end;
            } else if self.has(at, &self.words().lead) || self.is_no_longer(at) {
                at += 1;
            } else {
                break;
            }
        }
        at
    }

    /// "I'm not vegan any more": a negation that belongs to an ending precedes the object.
    fn is_no_longer(&self, at: usize) -> bool {
        let stands = |gate| self.reading.marks.iter().any(|mark| mark.gate == gate && mark.cue.contains(&at));
        stands(Gates::NEGATION) && stands(Gates::END)
    }

    /// Returns the word after the time expression at a word.
    pub(crate) fn time_end(&self, at: usize) -> Option<usize> {
        let mut end = None;
        if let Some(time) = self.hints.time_at(self.reading, at) {
            let last = |place: &usize| self.hints.time_at(self.reading, *place) == Some(time);
            end = Some(at + (at..self.reading.words.len()).take_while(last).count());
        }
        self.words().times.find_at(&self.reading.words, at, |(), places| {
            end = end.max(Some(places.end));
        });
        end
    }

    /// Returns where the object ends that begins with the range, and whether it was cut for its length.
    pub(super) fn end(&self, range: Range<usize>) -> (usize, bool) {
        let kind_stop = match self.rule.kind {
            Kind::Thing => Some(&self.words().thing_stop),
            Kind::Phrase | Kind::Activity | Kind::Place => Some(&self.words().phrase_stop),
            _ => None,
        };
        for at in range.clone() {
            let is_first = at == range.start;
            let is_joined =
                self.rule.is_joined && self.has(at, &self.words().joiners) && !self.begins_clause(at + 1);
            if !is_first
                && !is_joined
                && (self.reading.break_at(at) > Break::None || self.has(at, &self.words().joiners))
            {
                return (at, false);
            }
            let stops = self.has(at, &self.rule.stop) || kind_stop.is_some_and(|stop| self.has(at, stop));
            let is_not = self.rule.keeps_not && self.reading.lower(at) == "not";
            let is_that = is_first && (is_not || self.has(at, &self.words().determiners));
            if !is_first && stops || !is_that && !self.rule.takes_pronouns && self.is_cut(at) {
                return (at, false);
            }
            let is_time = !is_first && !self.is_exact() && self.time_end(at).is_some();
            if is_time || at - range.start >= LONGEST {
                return (at, !is_time);
            }
        }
        (range.end, false)
    }

    /// Returns whether the object is a date, a number, an address or a setting: an apparent time does not end it, and it needs
    /// no content word.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.rule.kind, Kind::Date | Kind::Number | Kind::Contact | Kind::Value)
    }

    /// Returns whether a word begins a phrase that ends any object.
    pub(super) fn is_cut(&self, at: usize) -> bool {
        if self.rules.subjects.is_owner(self.reading, at) {
            return false;
        }
        self.words().cut.stand_at(&self.reading.words, at)
    }

    /// Leaves out articles, and numbers where they belong to no name, at the start.
    pub(super) fn without_determiners(&self, words: Range<usize>) -> Range<usize> {
        let is_counted = self.rule.is_counted || self.rule.topic_of == Some(TopicOf::Head);
        let is_plain = matches!(self.rule.kind, Kind::Thing | Kind::Phrase) && !self.rule.with_verb;
        let is_count = |at: usize| {
            let word = self.reading.lower(at);
            let is_short = word.len() <= SHORT_NUMBER && word.bytes().all(|byte| byte.is_ascii_digit());
            !word.is_empty() && (is_short || self.has(at, &self.words().numbers))
        };
        // "La Rochelle": an article with a capital inside a sentence belongs to a place.
        let is_of_place = |at: usize| {
            self.rule.kind == Kind::Place && at > 0 && self.is_capital(at) && self.is_capital(at + 1)
        };
        let passes = |at: &usize| {
            self.has(*at, &self.words().determiners) && !is_of_place(*at)
                || (is_counted || is_plain) && is_count(*at)
        };
        let count = words.clone().take_while(passes).count();
        let is_all = count == words.len();
        words.start + if is_all { 0 } else { count }..words.end
    }

    /// Returns where the words end without prepositions, articles and words of the pack's `trail`.
    pub(super) fn without_trail(&self, words: &Range<usize>) -> usize {
        if self.rule.takes_pronouns {
            return words.end;
        }
        let is_plain = matches!(self.rule.kind, Kind::Thing | Kind::Phrase);
        let is_digits = |at: usize| {
            self.reading
                .words
                .get(at)
                .is_some_and(|word| word.lower.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let is_loose_number =
            |at: usize| is_plain && at > words.start && is_digits(at) && !self.is_capital(at - 1);
        let is_trail = |at: &usize| {
            let object = self.words();
            is_loose_number(*at)
                || self.has(*at, &object.trail)
                || self.has(*at, &object.determiners)
                || self.has(*at, &object.prepositions)
        };
        words.end - words.clone().skip(1).rev().take_while(is_trail).count()
    }
}
