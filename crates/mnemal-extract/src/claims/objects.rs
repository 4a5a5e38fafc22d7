//! The object of a claim: where it ends, whether it says enough, and its key.

use std::ops::Range;

use mnemal_core::EntityKind;
use mnemal_text::{Analyzer, Language, is_stop_word};

use crate::claims::hints::Hints;
use crate::claims::remark::Reason;
use crate::claims::rules::{Kind, Rule, Rules, TopicOf};
use crate::claims::subjects::name_run;
use crate::clause::{Break, Reading};
use crate::gates::pack::{Words, phrases, words};
use crate::phrase::Phrases;
use crate::section::Section;

/// Words after which an object is cut. Source: EXTRACTION 4.6.
const LONGEST: usize = 12;
/// Words of a further thing in a list. Source: own choice.
const LONGEST_ITEM: usize = 4;
/// The highest age. Source: nobody is known to have lived past 122.
const OLDEST: u32 = 122;
/// Words over which a row of things may reach: "Wolof, French and a little Spanish". Source: own choice.
const LONGEST_ROW: usize = 14;
/// Things in a list. Source: own choice.
const LONGEST_LIST: usize = 8;

/// The words of a language for objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectWords {
    /// Phrases at which an object ends.
    cut: Phrases<()>,
    /// Time expressions that name no interval: "these days".
    times: Phrases<()>,
    determiners: Words,
    numbers: Words,
    pronouns: Words,
    generic: Words,
    hollow: Words,
    /// Adjectives that praise or count and say nothing.
    bland: Words,
    prepositions: Words,
    /// Prepositions at which a thing ends.
    thing_stop: Words,
    /// Prepositions at which a phrase ends.
    phrase_stop: Words,
    joiners: Words,
    lead: Words,
    trail: Words,
    not_first: Words,
    places: Words,
    particles: Words,
    verb_after_and: Words,
    /// The head comes first, as in Spanish, and not last, as in English.
    is_head_first: bool,
    /// An object never stands behind a comma.
    is_close: bool,
}

impl ObjectWords {
    /// Reads the table `object` of a pack.
    pub(crate) fn read(section: Option<Section<'_>>) -> mnemal_core::Result<Self> {
        let list = |key| words(section, key);
        Ok(Self {
            cut: phrases(section, "cut")?,
            times: phrases(section, "times")?,
            determiners: list("determiners")?,
            numbers: list("numbers")?,
            pronouns: list("pronouns")?,
            generic: list("generic")?,
            hollow: list("hollow")?,
            bland: list("bland")?,
            prepositions: list("prepositions")?,
            thing_stop: list("thing_stop")?,
            phrase_stop: list("phrase_stop")?,
            joiners: list("joiners")?,
            lead: list("lead")?,
            trail: list("trail")?,
            not_first: list("not_first")?,
            places: list("places")?,
            particles: list("particles")?,
            verb_after_and: list("verb_after_and")?,
            is_close: section.map(|section| section.flag("close")).transpose()?.unwrap_or_default(),
            is_head_first: section.map(|section| section.flag("head_first")).transpose()?.unwrap_or_default(),
        })
    }
}

impl ObjectWords {
    /// Says whether a word joins two things or two verbs.
    pub(crate) fn joins(&self, word: &str) -> bool {
        self.joiners.contains(word)
    }

    /// Says whether a word may stand behind a noun that is complete: a preposition, or one that joins.
    pub(crate) fn may_follow(&self, word: &str) -> bool {
        self.prepositions.contains(word) || self.joins(word) || word == "who"
    }
}

/// An object that was found good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Its words, without article.
    pub(crate) words: Range<usize>,
    /// It was cut for its length.
    pub(crate) is_long: bool,
    /// It holds an adjective that says little: "great".
    pub(crate) is_hollow: bool,
    /// Content words.
    pub(crate) content: usize,
    /// The place of its head.
    pub(crate) head: usize,
}

/// Cuts objects out of one sentence for one rule.
pub(crate) struct Cutter<'c, 't> {
    pub(crate) reading: &'c Reading<'t>,
    pub(crate) rules: &'c Rules,
    pub(crate) rule: &'c Rule,
    pub(crate) hints: &'c Hints<'c>,
}

impl Cutter<'_, '_> {
    fn has(&self, at: usize, of: &Words) -> bool {
        self.reading.words.get(at).is_some_and(|word| of.contains(&*word.lower))
    }

    fn words(&self) -> &ObjectWords {
        &self.rules.objects
    }

    fn is_capital(&self, at: usize) -> bool {
        self.reading
            .words
            .get(at)
            .is_some_and(|word| word.is_capitalised(self.reading.text) && word.lower != "i")
    }

    /// Returns the objects that stand in `range`: one, or each of a list; and why there is none.
    pub(crate) fn objects(&self, range: Range<usize>) -> Result<Vec<Cut>, Reason> {
        if let Some(of) = &self.rule.each {
            return self.each(range, of);
        }
        let (first, mut next) = self.one(range.clone())?;
        let mut all = vec![first];
        if !self.rule.is_list {
            return Ok(all);
        }
        let mut items = Vec::new();
        let mut is_closed = false;
        while items.len() < LONGEST_LIST && !is_closed && next < range.end {
            let is_comma = self.reading.break_at(next) == Break::Comma;
            let is_joined = self.has(next, &self.words().joiners);
            if !is_comma && !is_joined || self.reading.break_at(next) > Break::Comma {
                break;
            }
            is_closed = is_joined;
            let from = next + usize::from(is_joined);
            if self.begins_clause(from) {
                break;
            }
            let Ok((item, behind)) = self.one(from..range.end) else { break };
            if item.words.len() > LONGEST_ITEM && !self.has(from, &self.words().determiners) {
                break;
            }
            items.push((item, self.is_capital(from) || self.has(from, &self.words().determiners)));
            next = behind;
        }
        if is_closed || items.iter().all(|(_, is_marked)| *is_marked) {
            all.extend(items.into_iter().map(|(item, _)| item));
        }
        Ok(all)
    }

    /// Returns each word of a class, or each product, up to where the clause ends; brackets do not end it.
    fn each(&self, range: Range<usize>, of: &str) -> Result<Vec<Cut>, Reason> {
        let end_at = |at: usize| match of {
            "@product" => {
                let found = self.hints.mention_at(self.reading, at);
                found.filter(|(_, mention)| mention.kind == EntityKind::Product).map(|(end, _)| end)
            }
            _ => {
                let word = self.reading.words.get(at)?;
                self.rules.class(of)?.has(&word.lower).then_some(at + 1)
            }
        };
        let mut all = Vec::new();
        let mut at = range.start;
        while at < range.end.min(range.start + LONGEST_ROW) && !self.ends_row(at, range.start) {
            match end_at(at) {
                Some(end) if !self.has(at, &self.rule.reject) => {
                    let words = at..end.max(at + 1);
                    at = words.end;
                    all.push(self.own_words(words));
                }
                _ => at += 1,
            }
        }
        let is_first = all.first().is_some_and(|cut: &Cut| cut.words.start == range.start);
        if all.is_empty() || self.rule.is_light && !is_first { Err(Reason::WrongKind) } else { Ok(all) }
    }

    /// Says whether a row of things cannot go on at a word: a sign other than a comma or a bracket, a verb, a subject.
    fn ends_row(&self, at: usize, start: usize) -> bool {
        let before = |at: usize| self.reading.words.get(at).map_or(0, |word| word.span.end);
        let between = self
            .reading
            .words
            .get(at)
            .and_then(|word| self.reading.text.get(before(at.saturating_sub(1))..word.span.start));
        let is_bracket = between.is_some_and(|between| between.contains(['(', ')']));
        at > start && self.reading.break_at(at) >= Break::Start && !is_bracket
            || self.is_cut(at)
            || self.has(at, &self.rule.stop)
            || at > start
                && self.reading.words.get(at).is_some_and(|word| self.rules.subjects.is_subject(&word.lower))
    }

    /// Some words as they stand, as an object.
    fn own_words(&self, words: Range<usize>) -> Cut {
        let head = self.head(&words);
        Cut { is_long: false, is_hollow: false, content: 1, head, words }
    }

    /// Returns `all` as an object when `words` of it say enough.
    pub(crate) fn checked(&self, words: Range<usize>, all: Range<usize>) -> Result<Cut, Reason> {
        let cut = self.check(words.clone(), words.start, false)?;
        let is_joiner = |at: &usize| self.has(*at, &self.words().joiners);
        let end = all.end - all.clone().rev().take_while(is_joiner).count();
        Ok(Cut { content: self.content(&all), words: all.start..end, ..cut })
    }

    /// Says whether a word stands among these that must not.
    pub(crate) fn rejects(&self, words: &Range<usize>) -> bool {
        words.clone().any(|at| self.has(at, &self.rule.reject))
    }

    /// Returns the words of the pattern itself as an object.
    pub(crate) fn own(&self, words: Range<usize>) -> Cut {
        let times = words.clone().filter_map(|at| self.time_end(at)).max();
        let words = words.start..times.unwrap_or(words.end).max(words.end);
        let head = self.head(&words);
        Cut { is_long: false, is_hollow: false, content: self.content(&words), head, words }
    }

    /// Says whether a verb or a subject follows "and".
    fn begins_clause(&self, at: usize) -> bool {
        let Some(word) = self.reading.words.get(at) else { return true };
        self.has(at, &self.words().verb_after_and) || self.rules.subjects.is_subject(&word.lower)
    }

    /// Returns one object and where the cut is.
    fn one(&self, range: Range<usize>) -> Result<(Cut, usize), Reason> {
        let start = self.start(range.clone());
        if self.words().is_close && self.reading.break_at(start) > Break::None {
            return Err(Reason::EmptyObject);
        }
        let (end, is_long) = self.end(start..range.end);
        let is_marked = self.is_marked(start) || start > 0 && self.is_article(start - 1);
        let mut words = self.without_determiners(start..end);
        if words.is_empty() {
            return Err(Reason::EmptyObject);
        }
        words = self.of_kind(words, is_marked)?;
        words.end = self.without_trail(&words);
        if words.is_empty() {
            return Err(Reason::EmptyObject);
        }
        let cut = self.check(words, start, is_marked)?;
        Ok((Cut { is_long, ..cut }, end))
    }

    /// An article, a number, an owner or a name stands first.
    fn is_marked(&self, at: usize) -> bool {
        self.has(at, &self.words().determiners) || self.is_number(at) || self.is_capital(at)
    }

    fn is_article(&self, at: usize) -> bool {
        self.has(at, &self.words().determiners) || self.is_number(at)
    }

    /// Nobody is 900 years old.
    fn is_too_old(&self, at: usize) -> bool {
        let number = self.reading.words.get(at).and_then(|word| word.lower.parse::<u32>().ok());
        self.rule.predicate.as_str() == "age" && number.is_some_and(|number| number > OLDEST)
    }

    fn is_number(&self, at: usize) -> bool {
        self.has(at, &self.words().numbers)
            || self
                .reading
                .words
                .get(at)
                .is_some_and(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Passes over adverbs and times.
    fn start(&self, range: Range<usize>) -> usize {
        let mut at = range.start;
        while at < range.end {
            let is_length = self.hints.time_at(self.reading, at).is_some_and(|time| time.is_length);
            if !self.keeps_time()
                && !is_length
                && let Some(end) = self.time_end(at)
            {
                at = end;
            } else if self.has(at, &self.words().lead) {
                at += 1;
            } else {
                break;
            }
        }
        at
    }

    /// Returns the word behind the time expression that stands at a word.
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

    fn end(&self, range: Range<usize>) -> (usize, bool) {
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
            let is_not =
                self.rule.keeps_not && self.reading.words.get(at).is_some_and(|word| word.lower == "not");
            let is_that = is_first && (is_not || self.has(at, &self.words().determiners));
            if !is_first && stops || !is_that && !self.rule.takes_pronouns && self.is_cut(at) {
                return (at, false);
            }
            let is_time = !is_first && !self.keeps_time() && self.time_end(at).is_some();
            if is_time || at - range.start >= LONGEST {
                return (at, !is_time);
            }
        }
        (range.end, false)
    }

    /// A date, a number and an address are not cut at what looks like a time.
    fn keeps_time(&self) -> bool {
        matches!(self.rule.kind, Kind::Date | Kind::Number | Kind::Contact | Kind::Value)
    }

    fn is_cut(&self, at: usize) -> bool {
        if self.rules.subjects.is_owner(self.reading, at) {
            return false;
        }
        let mut is_cut = false;
        self.words().cut.find_at(&self.reading.words, at, |(), _| is_cut = true);
        is_cut
    }

    fn without_determiners(&self, words: Range<usize>) -> Range<usize> {
        let is_counted = self.rule.is_counted || self.rule.topic_of == Some(TopicOf::Head);
        let is_plain = matches!(self.rule.kind, Kind::Thing | Kind::Phrase) && !self.rule.with_verb;
        let is_count = |at: usize| {
            self.reading.words.get(at).is_some_and(|word| {
                let is_short = word.lower.len() <= 3 && word.lower.bytes().all(|byte| byte.is_ascii_digit());
                is_short || self.has(at, &self.words().numbers)
            })
        };
        let passes = |at: &usize| {
            self.has(*at, &self.words().determiners) || (is_counted || is_plain) && is_count(*at)
        };
        let count = words.clone().take_while(passes).count();
        let is_all = count == words.len();
        words.start + if is_all { 0 } else { count }..words.end
    }

    fn without_trail(&self, words: &Range<usize>) -> usize {
        if self.rule.takes_pronouns {
            return words.end;
        }
        let is_plain = matches!(self.rule.kind, Kind::Thing | Kind::Phrase);
        let is_loose_number = |at: usize| {
            let is_digits =
                |word: &crate::word::Word<'_>| word.lower.bytes().all(|byte| byte.is_ascii_digit());
            is_plain
                && at > words.start
                && self.reading.words.get(at).is_some_and(is_digits)
                && !self.is_capital(at - 1)
        };
        let is_trail = |at: &usize| {
            let object = self.words();
            if is_loose_number(*at) {
                return true;
            }
            self.has(*at, &object.trail)
                || self.has(*at, &object.determiners)
                || self.has(*at, &object.prepositions)
        };
        words.end - words.clone().skip(1).rev().take_while(is_trail).count()
    }

    #[expect(clippy::fn_params_excessive_bools, reason = "what the caller has looked up of the words")]
    fn of_kind(&self, words: Range<usize>, is_marked: bool) -> Result<Range<usize>, Reason> {
        match self.rule.kind {
            Kind::Name => self
                .mention(words.start)
                .into_iter()
                .chain(name_run(self.reading, words.start))
                .max_by_key(|run| run.end)
                .map(|run| run.start..self.with_place(run.end, &words))
                .or_else(|| self.small_name(&words))
                .ok_or(Reason::WrongKind),
            Kind::Place => self.place(words, is_marked),
            Kind::Number => (self.is_number(words.start) && !self.is_too_old(words.start))
                .then_some(words.start..words.start + 1)
                .ok_or(Reason::WrongKind),
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

    /// "The Carloway mill": a small word that names a place of work belongs to its name.
    fn with_place(&self, end: usize, words: &Range<usize>) -> usize {
        let end = end.min(words.end);
        let is_place = self.rule.predicate.as_str() == "works_at"
            && end < words.end
            && self.reading.words.get(end).is_some_and(|word| {
                self.rules.class("workplace").is_some_and(|class| class.has(&word.lower))
            });
        end + usize::from(is_place)
    }

    /// The words of a name that somebody else found.
    fn mention(&self, at: usize) -> Option<Range<usize>> {
        let (end, mention) = self.hints.mention_at(self.reading, at)?;
        (!matches!(mention.kind, EntityKind::Quantity | EntityKind::Identifier)).then_some(at..end)
    }

    /// Somebody who writes without capitals may be called "jonas".
    fn small_name(&self, words: &Range<usize>) -> Option<Range<usize>> {
        let is_small_writer = !self.reading.words.iter().any(|word| word.is_capitalised(self.reading.text));
        let is_word = self.content(&(words.start..words.start + 1)) == 1;
        (self.rule.is_explicit && is_small_writer && is_word && words.len() <= 2)
            .then(|| words.start..words.start + 1)
    }

    /// A place has a capital, is known, or is a thing like a village.
    #[expect(clippy::fn_params_excessive_bools, reason = "what the caller has looked up of the words")]
    fn place(&self, words: Range<usize>, is_marked: bool) -> Result<Range<usize>, Reason> {
        let bytes = |at: usize| self.reading.words.get(at).map(|word| word.span.clone());
        let is_known = |at: usize| {
            self.has(at, &self.words().places)
                || bytes(at).and_then(|bytes| self.hints.kind_of(&bytes)) == Some(EntityKind::Location)
        };
        if self.is_capital(words.start) || is_known(words.start) {
            let goes_on = |at: &usize| {
                self.is_capital(*at)
                    || is_known(*at) && !self.is_capital(words.start)
                    || self.has(*at, &self.words().particles) && self.is_capital(at + 1)
            };
            let count = words.clone().skip(1).take_while(goes_on).count();
            let run = words.start..words.start + 1 + count;
            if is_marked && !self.is_capital(words.start.saturating_sub(1)) && self.names_a_noun(words.start, run.end) {
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
    fn names_a_noun(&self, start: usize, end: usize) -> bool {
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

    /// "Great time kayaking": a word that says nothing, behind nothing but such adjectives.
    fn begins_generic(&self, words: &Range<usize>) -> bool {
        let object = self.words();
        let passes = |at: &usize| {
            self.has(*at, &object.hollow) || self.has(*at, &object.determiners) || self.is_number(*at)
        };
        let noun = words.start + words.clone().take_while(passes).count();
        let next = noun + 1;
        let is_alone = next >= words.end
            || self.has(next, &object.prepositions)
            || self
                .rules
                .class("doing")
                .is_some_and(|class| self.reading.words.get(next).is_some_and(|word| class.has(&word.lower)));
        noun < words.end && self.has(noun, &object.generic) && is_alone
    }

    /// Nothing follows that could change the meaning of a bare number or name.
    fn is_end(&self, at: usize) -> bool {
        at >= self.reading.words.len()
            || self.reading.break_at(at) > Break::None
            || self.has(at, &self.words().joiners)
            || self.is_cut(at)
            || self.has(at, &self.rule.stop)
    }

    fn content(&self, words: &Range<usize>) -> usize {
        words.clone().filter(|at| self.is_content(*at)).count()
    }

    fn is_content(&self, at: usize) -> bool {
        self.reading.words.get(at).is_some_and(|word| {
            !is_stop_word(language(self.rules.code), &word.lower) && !word.lower.starts_with('\'')
        })
    }

    /// Returns the place of the head: the last word of content before the first preposition.
    fn head(&self, words: &Range<usize>) -> usize {
        if self.words().is_head_first {
            let first = words.clone().find(|at| self.is_content(*at));
            return first.unwrap_or(words.start);
        }
        let is_preposition = |at: &usize| *at > words.start && self.has(*at, &self.words().prepositions);
        let end = words.clone().find(is_preposition).unwrap_or(words.end);
        let is_digits = |at: usize| {
            self.reading
                .words
                .get(at)
                .is_some_and(|word| word.lower.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let last = |range: Range<usize>| {
            let content = |at: &usize| self.is_content(*at) && !is_digits(*at);
            range.clone().rev().find(content).or_else(|| range.rev().find(|at| self.is_content(*at)))
        };
        last(words.start..end).or_else(|| last(words.clone())).unwrap_or(words.end.saturating_sub(1))
    }

    #[expect(clippy::fn_params_excessive_bools, reason = "what the caller has looked up of the words")]
    fn check(&self, words: Range<usize>, start: usize, is_marked: bool) -> Result<Cut, Reason> {
        let object = self.words();
        let rule = self.rule;
        let is_of = |of: &Words| words.clone().any(|at| self.has(at, of));
        if rule.takes_pronouns {
            // "They/them" is what is told.
        } else if is_of(&object.pronouns) || self.has(start, &object.pronouns) && start == words.start {
            return Err(Reason::Pronoun);
        }
        if rule.most.is_some_and(|most| words.len() > most) {
            return Err(Reason::WrongKind);
        }
        let kind = self.hints.kind_of(&self.reading.bytes(&words));
        let is_other = kind.is_some_and(|kind| !rule.kinds.is_empty() && !rule.kinds.contains(&kind));
        let is_dated = rule.kind == Kind::Number
            && self.hints.time_at(self.reading, words.start).is_some_and(|time| time.past.is_some());
        if is_other || is_dated || rule.is_sure && kind.is_none() {
            return Err(Reason::WrongKind);
        }
        if is_of(&rule.reject)
            || self.has(start, &rule.reject_first)
            || self.has(words.start, &rule.reject_first)
        {
            return Err(Reason::Rejected);
        }
        let is_noun = matches!(rule.kind, Kind::Thing | Kind::Phrase);
        if is_noun && self.has(words.start, &object.not_first) || rule.is_light && !is_marked {
            return Err(Reason::WrongKind);
        }
        let is_brand = rule.kind == Kind::Name && rule.predicate.as_str() == "owns";
        if is_brand && self.names_a_noun(words.start, words.end) {
            return Err(Reason::WrongKind);
        }
        if rule.is_last && !self.is_end(words.end) {
            return Err(Reason::WrongKind);
        }
        let content = self.content(&words);
        let is_number = matches!(rule.kind, Kind::Number | Kind::Date | Kind::Contact | Kind::Value);
        if content < rule.least && !is_number {
            return Err(Reason::EmptyObject);
        }
        let head = self.head(&words);
        let is_named = words.clone().any(|at| self.is_capital(at));
        if self.has(head, &object.generic) && !is_number && !rule.is_frequent && !is_named {
            return Err(Reason::Generic);
        }
        if !is_number && self.begins_generic(&words) {
            return Err(Reason::Generic);
        }
        let hollow = words.clone().filter(|at| {
            self.is_content(*at) && self.has(*at, &object.hollow) && (!self.is_capital(*at) || *at == 0)
        });
        let hollow = hollow.count();
        let is_bland = words.clone().any(|at| self.has(at, &object.bland));
        if hollow == content && content > 0 {
            return Err(Reason::Generic);
        }
        let in_lists = |lists: &[Box<str>]| {
            let head = self.reading.words.get(head).map_or("", |word| &*word.lower);
            lists.iter().any(|list| self.rules.lists(list, head))
        };
        let first = self.reading.words.get(words.start).map_or("", |word| &*word.lower);
        if !rule.first.is_empty() && !rule.first.iter().any(|list| self.rules.lists(list, first)) {
            return Err(Reason::WrongKind);
        }
        if !rule.head.is_empty() && !in_lists(&rule.head) || in_lists(&rule.not_head) {
            return Err(Reason::WrongKind);
        }
        Ok(Cut { words, is_long: false, is_hollow: is_bland, content, head })
    }
}

/// Returns the language whose stop words and stems count.
pub(crate) fn language(code: &str) -> Language {
    Language::from_code(code).unwrap_or_default()
}

/// Returns the key of an object: stems of its words of content, in order; names are folded and not stemmed.
#[expect(clippy::fn_params_excessive_bools, reason = "names have keys of their own")]
pub(crate) fn key(text: &str, is_name: bool, code: &str) -> String {
    if is_name {
        return mnemal_text::fold(text).split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let language = language(code);
    let mut stems: Vec<(usize, String)> = Vec::new();
    let mut all: Vec<String> = Vec::new();
    Analyzer::new(language).for_each_term(text, &mut |term, range| {
        if stems.last().is_some_and(|(end, _)| range.start < *end) {
            stems.pop();
        }
        all.push(term.to_owned());
        if !is_stop_word(language, text.get(range.clone()).unwrap_or_default()) {
            stems.push((range.end, term.to_owned()));
        }
    });
    let stems: Vec<String> = stems.into_iter().map(|(_, stem)| stem).collect();
    if stems.is_empty() { all.join(" ") } else { stems.join(" ") }
}
