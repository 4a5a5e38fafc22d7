//! Trimming of a capitalized run to the name itself.

use std::ops::Range;

use mnemal_core::EntityKind;
use mnemal_text::{Language, is_stop_word};

use crate::names::name_search::NameSearch;
use crate::names::pack::Words;
use crate::names::run::Run;
use crate::names::token::{Gap, Shape};
use crate::names::word_flags::WordFlags;

impl NameSearch<'_> {
    /// Trims both ends of a run to the name.
    pub(crate) fn trimmed(&self, words: Range<usize>, runs: &mut Vec<Run>) {
        let mut words = words;
        let is_title = self.begins_title(&words);
        while !words.is_empty() && !is_title && self.falls_off_start(&words) {
            words.start += 1;
        }
        while !words.is_empty() && self.falls_off_end(&words) {
            words.end -= 1;
        }
        if words.is_empty() {
            return;
        }
        self.cut_after_tool(&mut words);
        if let Some(phrase) = self.phrase_at(words.start).filter(|phrase| phrase.words == words) {
            return runs.push(phrase);
        }
        if let Some(end) = self.small_head(&words) {
            words.end = end;
        }
        let keeps_ending = self.is_saint(&words) || self.is_shop(&words);
        let is_letter = self.token(words.start).is_some_and(|token| token.key().chars().count() == 1);
        let is_single = words.len() == 1;
        if is_single && is_letter {
            return;
        }
        let listed = if is_single { self.known(words.start) } else { WordFlags::NOTHING };
        runs.push(Run { words, listed, is_phrase: is_single, is_lower: false, keeps_ending });
    }

    /// "reading The Tin Orchard": an article with a capital within a sentence begins a title.
    fn begins_title(&self, words: &Range<usize>) -> bool {
        let Some(token) = self.token(words.start) else { return false };
        let is_article = matches!(token.lower.as_ref(), "the" | "a" | "an");
        if words.len() < 2 || !is_article || token.is_initial || token.gap != Gap::Space {
            return false;
        }
        let mut is_work = false;
        Words::english().before(&self.tokens, words.start, |kind, _| is_work |= kind == EntityKind::Work);
        is_work
    }

    fn falls_off_start(&self, words: &Range<usize>) -> bool {
        let known = self.known(words.start);
        let Some(token) = self.token(words.start) else { return true };
        if known.has(WordFlags::REJECT) && !known.has(WordFlags::FIRST) || !token.shape.is_capital() {
            return true;
        }
        let is_alone = words.len() == 1;
        if known.has(WordFlags::TITLE)
            && !(is_alone && known.has(WordFlags::NAMED))
            && !self.is_title_part(words)
        {
            return true;
        }
        if known.has(WordFlags::NATIONALITY) {
            return is_alone || !self.ends_with_head(words);
        }
        if matches!(token.lower.as_ref(), "the" | "my" | "our" | "a" | "an" | "this" | "that" | "his" | "her")
        {
            return true;
        }
        let is_function = !known.has(WordFlags::NAMED)
            && token.shape != Shape::Shout
            && is_stop_word(Language::English, &token.lower);
        let is_tool = known.has(WordFlags::PRODUCT)
            && self.token(words.start + 1).is_some_and(|next| next.shape == Shape::Shout);
        let is_start = token.is_initial && known.has(WordFlags::ORDINARY) && !is_tool;
        if is_start && !is_alone {
            // "Will Baker", "Rose Miller": a first name that is a word, too.
            let is_given = known.has(WordFlags::FIRST)
                && self.known(words.start + 1).without(WordFlags::ORDINARY) != WordFlags::NOTHING
                && !self.known(words.start + 1).has(WordFlags::FIRST.with(WordFlags::TITLE));
            let is_headed = self.ends_with_head(words) && !is_function && !self.is_verb_like(words.start);
            return !is_given
                && !is_headed
                && !known.has(WordFlags::LOCATION_FIRST.with(WordFlags::ORGANIZATION_FIRST));
        }
        is_function && !is_alone
    }

    /// "King's College": a title that is a part of the name.
    fn is_title_part(&self, words: &Range<usize>) -> bool {
        self.ends_with_head(words) || self.token(words.start).is_some_and(|token| token.is_possessive)
    }

    /// Sentences begin with a verb in past or "-ing" where people write notes: "Visited London Zoo".
    fn is_verb_like(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.key().ends_with("ed") || token.key().ends_with("ing"))
    }

    fn falls_off_end(&self, words: &Range<usize>) -> bool {
        let last = words.end - 1;
        let known = self.known(last);
        let Some(token) = self.token(last) else { return true };
        if known.has(WordFlags::NATIONALITY) {
            return true;
        }
        if token.shape == Shape::Lower {
            return true;
        }
        let is_plain = known.has(WordFlags::REJECT)
            && !known.has(WordFlags::FIRST.with(WordFlags::EVENT_HEAD).with(WordFlags::ORGANIZATION_HEAD));
        is_plain
            || words.len() > 1
                && known.has(WordFlags::TITLE)
                && !known.has(WordFlags::NAMED)
                && !self.ends_with_head(words)
    }

    /// "Airflow DAG", "Kafka UI", "Godot 4": capitals or digits after a tool are no part of its name.
    fn cut_after_tool(&self, words: &mut Range<usize>) {
        let second = words.start + 1;
        if words.len() != 2 || !self.known(words.start).has(WordFlags::PRODUCT.with(WordFlags::ORGANIZATION))
        {
            return;
        }
        let is_plain = self.token(second).is_some_and(|token| {
            let has_letter = token.key().bytes().any(|b| b.is_ascii_alphabetic());
            token.shape == Shape::Number && !has_letter
                || token.shape == Shape::Shout && !token.key().bytes().any(|b| b.is_ascii_digit())
        });
        let known = self.known(second);
        let is_place = known.has(WordFlags::PLACE)
            && !known.has(WordFlags::FIRST.with(WordFlags::PRODUCT).with(WordFlags::ORDINARY));
        words.end -=
            usize::from(is_place || is_plain && !known.has(WordFlags::NAMED.without(WordFlags::FIRST)));
    }

    /// "at Hobb's", "in Kellner's": a shop, a pub or a firm, unless a possession follows.
    fn is_shop(&self, words: &Range<usize>) -> bool {
        let before = self.before(words.start);
        let is_at = before.is_some_and(|before| {
            matches!(before.lower.as_ref(), "at" | "in" | "from" | "near" | "to" | "with")
        });
        let is_name =
            words.clone().all(|at| self.token(at).is_some_and(|token| token.shape == Shape::Capital));
        let known = self.known(words.start);
        let ends = self.token(words.end - 1).is_some_and(|last| last.is_possessive)
            && self
                .token(words.end)
                .is_none_or(|next| next.gap != Gap::Space || BEHIND_SHOPS.contains(&next.lower.as_ref()));
        words.len() <= 2
            && is_at
            && is_name
            && ends
            && !known.has(WordFlags::KIN.with(WordFlags::TITLE).with(WordFlags::REJECT))
            && (!known.has(WordFlags::ORDINARY)
                || known.has(WordFlags::PRODUCT.with(WordFlags::ORGANIZATION)))
            && (words.len() > 1 || !known.has(WordFlags::FIRST))
    }

    /// "St Anselm's", without a following possession.
    fn is_saint(&self, words: &Range<usize>) -> bool {
        let is_first = self
            .token(words.start)
            .is_some_and(|token| token.shape == Shape::Capital && matches!(token.key(), "st" | "saint"));
        words.len() == 2 && is_first && self.token(words.end - 1).is_some_and(|last| last.is_possessive)
    }
}

/// Words after "at Hobb's" that no possession begins with. Source: own choice.
const BEHIND_SHOPS: [&str; 18] = [
    "and", "in", "on", "at", "for", "since", "every", "last", "before", "after", "with", "to", "from",
    "when", "or", "but", "as", "this",
];
