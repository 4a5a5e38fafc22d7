//! The shapes that rules look for: words with slots, as `live|lives in {o}` or `habe|haben {o} gekauft`.
//!
//! Slots: `{o}` the object, `{k}` its topic, `{s}` a subject, `{n}` a name, `{r:kin}` a role of a group, `<past>` a word of a
//! class.
//! `,` asks for a sign or the end, `@` for that sign; `^^` begins a sentence, and a slot or a gap may follow it.
//! A slot that is not last takes as few words as possible; a final object extends to its cut.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

use mnemal_core::{Error, Result};

use crate::claims::kinds::KindList;
use crate::claims::rules::Rules;
use crate::claims::subjects::{SubjectWords, name_run};
use crate::clause::{AnalyzedSentence, Break};
use crate::gates::Gates;
use crate::gates::pack::Words;
use crate::hash::WordHashBuilder;
use crate::phrase::Step;
use crate::prefilter::Prefilter;
use crate::word::Word;

/// Words of the longest slot before other words of its pattern. Source: own choice; a longer object is a story.
const LONGEST_SLOT: usize = 9;
/// Letters of the longest short title: "Prof.". Source: own choice.
const LONGEST_TITLE: usize = 4;
/// Words of the longest topic. Source: own choice.
const LONGEST_TOPIC: usize = 4;

/// One part of a pattern.
#[derive(Clone, Debug)]
enum Part {
    Words(Step),
    Class {
        name: Box<str>,
        /// Its place among the classes of the rules, once they are known.
        place: Option<usize>,
        is_optional: bool,
        gap: usize,
    },
    Object,
    Topic,
    Subject,
    /// A sign, or the end of the clause.
    Sign {
        gap: usize,
    },
    /// "@" precedes the next word.
    AtSign,
    Role {
        group: Box<str>,
        gap: usize,
    },
    /// A name.
    Named,
}

/// A shape that a rule looks for.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
    /// For each step that must stand, the beginnings of its words, the fewest first.
    needs: Vec<Prefilter>,
    /// It is at the start of a clause.
    pub(crate) is_start: bool,
    /// It is at the start of a sentence; it may begin with a slot or a gap then.
    pub(crate) is_opening: bool,
}

/// The slots of a match, as word positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots {
    /// From the first to the last word that the pattern itself names.
    pub(crate) own: Range<usize>,
    /// The object, before it is cut.
    pub(crate) object: Option<Range<usize>>,
    /// The topic.
    pub(crate) topic: Option<Range<usize>>,
    /// Where the subject begins.
    pub(crate) subject: Option<usize>,
    /// Words before the subject that belong after the object: "Every morning I run".
    pub(crate) tail: Option<Range<usize>>,
    /// The role of `{r:…}`.
    pub(crate) role: Option<Box<str>>,
}

/// Words that belong together by a list or by their endings.
#[derive(Debug, Default)]
pub(crate) struct Class {
    pub(crate) words: Words,
    /// Endings with which a word is of the class as well.
    pub(crate) endings: Vec<Box<str>>,
    /// Words that are not of it in spite of their ending or kind.
    pub(crate) except: Words,
    /// Endings with which a word is not.
    pub(crate) except_endings: Vec<Box<str>>,
    /// Lists of a dictionary.
    pub(crate) kinds: Vec<&'static KindList>,
}

impl Class {
    /// Returns whether a word is of the class.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.contains(word)
            || (self.endings.iter().any(|ending| word.len() > ending.len() + 1 && word.ends_with(&**ending))
                || self.kinds.iter().any(|kind| kind.has(word)))
                && !self.except.contains(word)
                && !self.except_endings.iter().any(|ending| word.ends_with(&**ending))
    }
}

impl Pattern {
    /// Reads a line.
    ///
    /// # Errors
    /// `Invalid` for a slot that is not known, or a line that begins with a slot.
    pub(crate) fn parse(line: &str) -> Result<Self> {
        let is_start = line.starts_with('^');
        let is_opening = line.starts_with("^^");
        let mut parts = Vec::new();
        let mut gap = 0;
        for part in line.trim_start_matches('^').split_whitespace() {
            if let Some(number) = part.trim_start_matches('?').strip_prefix("..") {
                gap = number.parse().map_err(|_| Error::invalid(format!("a pack: `{part}` in `{line}`")))?;
                continue;
            }
            parts.push(read_part(part, std::mem::take(&mut gap), line)?);
        }
        if !is_opening
            && !matches!(parts.first(), Some(Part::Words(_) | Part::Class { .. } | Part::Role { .. }))
        {
            return Err(Error::invalid(format!("a pack: `{line}` must begin with a word or a role")));
        }
        let mut needs: Vec<Prefilter> = parts.iter().filter_map(need).collect();
        needs.sort_by_key(|need| need.width());
        Ok(Self { parts, needs, is_start, is_opening })
    }

    /// Finds out where its classes are.
    pub(crate) fn know_classes(&mut self, place_of: impl Fn(&str) -> Option<usize>) {
        for part in &mut self.parts {
            if let Part::Class { name, place, .. } = part {
                *place = place_of(name);
            }
        }
    }

    /// Returns whether the words that it needs may be among some; a first look that most patterns do not pass.
    fn may_stand_in(&self, words: Prefilter) -> bool {
        self.needs.iter().all(|need| need.meets(words))
    }

    /// Returns the words with which it can begin; none when a class does.
    pub(crate) fn firsts(&self) -> Vec<&str> {
        match self.parts.first() {
            Some(Part::Words(step)) => step.firsts().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the group of roles with which it begins.
    pub(crate) fn first_role(&self) -> Option<&str> {
        match self.parts.first() {
            Some(Part::Role { group, .. }) => Some(group),
            _ => None,
        }
    }

    /// Returns the class with which it begins.
    pub(crate) fn first_class(&self) -> Option<&str> {
        match self.parts.first() {
            Some(Part::Class { name, .. }) => Some(name),
            _ => None,
        }
    }

    /// Returns the slots when the pattern is at a word.
    pub(crate) fn at(&self, reading: &AnalyzedSentence<'_>, rules: &Rules, at: usize) -> Option<Slots> {
        if !self.may_stand_in(reading.ahead(at)) {
            return None;
        }
        let slots = Slots { own: at..at, ..Slots::default() };
        Search { reading, rules }.parts(&self.parts, at, slots)
    }
}

/// Returns the beginnings of the words of a step that must stand.
fn need(part: &Part) -> Option<Prefilter> {
    match part {
        Part::Words(step) if !step.is_optional => Some(step.prefilter),
        _ => None,
    }
}

fn read_part(part: &str, gap: usize, line: &str) -> Result<Part> {
    match part {
        "," => return Ok(Part::Sign { gap }),
        "@" => return Ok(Part::AtSign),
        _ => {}
    }
    let is_optional = part.starts_with('?');
    let bare = part.trim_start_matches('?');
    if let Some(name) = bare.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        return Ok(Part::Class { name: name.into(), place: None, is_optional, gap });
    }
    let Some(slot) = bare.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return Ok(Part::Words(Step::new(part, gap)));
    };
    match slot.split_once(':') {
        None if slot == "o" => Ok(Part::Object),
        None if slot == "k" => Ok(Part::Topic),
        None if slot == "s" => Ok(Part::Subject),
        None if slot == "n" => Ok(Part::Named),
        Some(("r", group)) => Ok(Part::Role { group: group.into(), gap }),
        _ => Err(Error::invalid(format!("a pack: no slot is called `{part}` in `{line}`"))),
    }
}

struct Search<'r, 't> {
    reading: &'r AnalyzedSentence<'t>,
    rules: &'r Rules,
}

impl Search<'_, '_> {
    fn word(&self, at: usize) -> Option<&Word<'_>> {
        self.reading.words.get(at)
    }

    fn parts(&self, parts: &[Part], at: usize, slots: Slots) -> Option<Slots> {
        let Some((part, rest)) = parts.split_first() else { return Some(slots) };
        let own = |slots: &Slots, end: usize| Slots { own: slots.own.start..end, ..slots.clone() };
        match part {
            Part::Words(step) => {
                for place in self.places(at, step.gap) {
                    let Some(end) = step.end_at(&self.reading.words, place) else { continue };
                    if let Some(found) = self.parts(rest, end, own(&slots, end)) {
                        return Some(found);
                    }
                }
                if step.is_optional { self.parts(rest, at, slots) } else { None }
            }
            Part::Class { place, is_optional, gap, .. } => {
                let class = self.rules.class_at((*place)?)?;
                for place in self.places(at, *gap) {
                    let stands = self.word(place).is_some_and(|word| class.has(&word.lower));
                    if stands && let Some(found) = self.parts(rest, place + 1, own(&slots, place + 1)) {
                        return Some(found);
                    }
                }
                if *is_optional { self.parts(rest, at, slots) } else { None }
            }
            Part::Object => self.object(rest, at, &slots),
            Part::Sign { gap } => (at..=at + gap)
                .filter(|place| self.reading.break_at(*place) > Break::None)
                .find_map(|place| self.parts(rest, place, own(&slots, place))),
            Part::AtSign => self.signs(at).contains('@').then(|| self.parts(rest, at, slots)).flatten(),
            Part::Topic => self.topic(rest, at, &slots),
            Part::Subject => {
                let subject = self.rules.subjects.pronoun_at(self.reading, at)?;
                self.parts(rest, subject, Slots { subject: Some(at), ..slots })
            }
            Part::Named => {
                let name = name_run(self.reading, at)?;
                self.parts(rest, name.end, own(&slots, name.end))
            }
            Part::Role { group, gap } => self.places(at, *gap).find_map(|place| {
                let (role, end) = self.rules.subjects.role_at(self.reading, place, group)?;
                self.passes(at..place)
                    .then(|| self.parts(rest, end, Slots { role: Some(role), ..own(&slots, end) }))
                    .flatten()
            }),
        }
    }

    /// Words before a role are adjectives or nouns, never small words: "my junior sister", not "my plan for sister".
    fn passes(&self, gap: Range<usize>) -> bool {
        gap.into_iter().all(|at| self.rules.subjects.describes(self.reading, at))
    }

    /// The places that a gap reaches from a word without leaving its clause or passing a denial.
    fn places(&self, at: usize, gap: usize) -> RangeInclusive<usize> {
        if gap == 0 {
            return at..=at;
        }
        let last = self.reading.next_break(at + 1, Break::Start) - 1;
        let denials =
            self.reading.marks.iter().filter(|mark| mark.gate == Gates::NEGATION && mark.cue.start >= at);
        let denied = denials.map(|mark| mark.cue.start).min().unwrap_or(last);
        at..=last.min(denied).clamp(at, at + gap)
    }

    fn object(&self, rest: &[Part], at: usize, slots: &Slots) -> Option<Slots> {
        let with = |end| Slots { object: Some(at..end), ..slots.clone() };
        if rest.is_empty() {
            let all = self.reading.words.len();
            return (at < all
                && (at == slots.own.start
                    || self.reading.break_at(at) < Break::Strong
                    || self.is_behind_colon(at)
                    || slots.own.end == at && self.is_apart(at, self.ends_with_role(slots))))
            .then(|| with(all));
        }
        let last = self.reading.next_break(at + 1, Break::Start).min(at + LONGEST_SLOT);
        (at + 1..=last).find_map(|end| self.parts(rest, end, with(end)))
    }

    /// Whether a role is the last word of the pattern so far.
    fn ends_with_role(&self, slots: &Slots) -> bool {
        let last = slots.own.end.saturating_sub(1);
        slots.role.is_some() || self.rules.subjects.role_of(self.reading, last).is_some()
    }

    /// The signs between a word and the one before it.
    fn signs(&self, at: usize) -> &str {
        self.reading.between(at).map_or("", str::trim)
    }

    /// "My son (Emil, 7)", "our dentist Dr. Okafor".
    #[expect(clippy::fn_params_excessive_bools, reason = "what the caller knows of the words")]
    fn is_apart(&self, at: usize, is_role: bool) -> bool {
        let Some(last) = at.checked_sub(1).and_then(|before| self.word(before)) else { return false };
        let is_title = last.lower.len() <= LONGEST_TITLE && last.is_capitalised(self.reading.text);
        match self.signs(at) {
            "(" => is_role,
            "." => is_title,
            _ => false,
        }
    }

    /// "Allergies: peanuts".
    fn is_behind_colon(&self, at: usize) -> bool {
        matches!(self.signs(at), ":" | "：")
    }

    fn topic(&self, rest: &[Part], at: usize, slots: &Slots) -> Option<Slots> {
        if rest.is_empty()
            && let Some(name) = name_run(self.reading, at)
        {
            return Some(Slots { topic: Some(name), ..slots.clone() });
        }
        let last = self.reading.next_break(at + 1, Break::Comma).min(at + LONGEST_TOPIC);
        (at + 1..=last).find_map(|end| self.parts(rest, end, Slots { topic: Some(at..end), ..slots.clone() }))
    }
}

/// A pattern by the numbers of its rule and of itself.
type Number = (usize, usize);

/// Patterns by the word that they begin with.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Those that begin a sentence, whatever the word.
    opening: Vec<Entry>,
    by_word: HashMap<Box<str>, Vec<Entry>, WordHashBuilder>,
    by_class: Vec<(Box<str>, Vec<Entry>)>,
}

/// A pattern, and the words of which it needs one, those of the step that has fewest.
#[derive(Clone, Copy, Debug)]
struct Entry {
    number: Number,
    need: Prefilter,
}

impl Index {
    /// Adds a pattern by the numbers of its rule and of itself.
    pub(crate) fn add(&mut self, pattern: &Pattern, number: Number, subjects: &SubjectWords) {
        // What it begins with is there where it is looked for.
        let behind = pattern.parts.iter().skip(usize::from(!pattern.is_opening)).filter_map(need);
        let need = behind.min_by_key(|need| need.width()).unwrap_or(Prefilter::ALL);
        let entry = Entry { number, need };
        if pattern.is_opening {
            self.opening.push(entry);
            return;
        }
        let roles = pattern.first_role().into_iter().flat_map(|group| subjects.role_firsts(group));
        for word in pattern.firsts().into_iter().chain(roles) {
            let list = self.by_word.entry(word.into()).or_default();
            if !list.iter().any(|of| of.number == number) {
                list.push(entry);
            }
        }
        if let Some(class) = pattern.first_class() {
            match self.by_class.iter_mut().find(|(of, _)| **of == *class) {
                Some((_, list)) => list.push(entry),
                None => self.by_class.push((class.into(), vec![entry])),
            }
        }
    }

    /// Returns the numbers of the patterns that can begin with a word, in the order of the rules; those left out that need a
    /// word which does not follow.
    pub(crate) fn at(&self, reading: &AnalyzedSentence<'_>, at: usize, rules: &Rules) -> Vec<Number> {
        let ahead = reading.ahead(at);
        let word = reading.lower(at);
        let fits = |entry: &&Entry| entry.need.meets(ahead);
        let mut numbers: Vec<Number> = Vec::new();
        let mut take = |list: &[Entry]| numbers.extend(list.iter().filter(fits).map(|entry| entry.number));
        take(self.by_word.get(word).map_or(&[], Vec::as_slice));
        for (class, list) in &self.by_class {
            if list.iter().any(|entry| fits(&entry)) && rules.is_of(class, word) {
                take(list);
            }
        }
        numbers.sort_unstable();
        numbers
    }

    /// Returns the same, with those that begin a sentence whatever its first word.
    pub(crate) fn at_opening(&self, reading: &AnalyzedSentence<'_>, at: usize, rules: &Rules) -> Vec<Number> {
        let mut numbers = self.at(reading, at, rules);
        let ahead = reading.ahead(at);
        numbers.extend(self.opening.iter().filter(|entry| entry.need.meets(ahead)).map(|entry| entry.number));
        numbers.sort_unstable();
        numbers
    }
}
