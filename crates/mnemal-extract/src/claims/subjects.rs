//! Of whom a clause speaks: the speaker, somebody of the speaker's, or somebody with a name.

use std::borrow::Cow;
use std::ops::Range;

use mnemal_core::{EntityKind, Result, Subject};
use mnemal_text::{Language, is_stop_word};

use crate::claims::hints::Hints;
use crate::claims::kinds::KindList;
use crate::clause::{Break, Reading};
use crate::gates::pack::{Words, words};
use crate::phrase::Phrases;
use crate::section::Section;

/// Words between "my" and the role: "my older twin sister". Source: own choice.
const ADJECTIVES: usize = 2;
/// Words of a role. Source: own choice.
const LONGEST_ROLE: usize = 3;
/// Sentences back in which a pronoun looks for its person. Source: EXTRACTION 4.4.
const SENTENCES_BACK: usize = 2;

/// How a subject is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// "I".
    Speaker,
    /// "We".
    Group,
    /// "My sister".
    Relation,
    /// "Anna".
    Named,
    /// "She".
    Pronoun,
    /// Not at all: "Moved to Lyon."
    Unsaid,
}

/// A subject in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its words; a cue may follow them.
    pub(crate) words: Range<usize>,
    pub(crate) subject: Subject,
    pub(crate) how: How,
}

/// Which pronouns may mean somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gender {
    Male,
    Female,
    Unknown,
}

impl Gender {
    fn fits(self, other: Self) -> bool {
        self == other || self == Self::Unknown || other == Self::Unknown
    }
}

/// The words of a language for subjects.
#[derive(Debug, Default)]
pub(crate) struct SubjectWords {
    me: Words,
    we: Words,
    own: Words,
    some: Words,
    adjectives: Words,
    who: Words,
    genitive: Words,
    joiners: Words,
    /// Words before "my" behind which somebody is no subject: "the sister of my wife".
    behind: Words,
    /// Articles that may stand before "my": "o meu irmão".
    articles: Words,
    /// Words before a role that a name follows: "the baker, Tom".
    appositive: Words,
    /// Words between a role and a name: "Mr".
    titles: Words,
    pub(crate) skip: Words,
    pub(crate) lead: Words,
    /// Beginnings of a sentence that speak of the speaker without a subject.
    pub(crate) unsaid: Words,
    /// Verbs that, without a subject, speak of the last person: "Hates flats."
    unsaid_other: Words,
    /// What may be told of a person behind a genitive: "my dog's name".
    of_genitive: Words,
    he: Words,
    she: Words,
    /// Roles that need no owner at the start of a clause: "Mum's vegan".
    alone: Words,
    /// Roles that are the speaker's behind an article: "the wife".
    with_article: Words,
    /// Words for the speaker before "and": "me and my wife".
    beside: Words,
    /// Occupations, which are roles where a name follows: "our receptionist Nomvula".
    jobs: Vec<&'static KindList>,
    /// Occupations that are rather things: "server".
    no_jobs: Words,
    roles: Vec<Role>,
    /// Animals, which are pets where a name follows: "our bassets Hank and Loretta".
    beasts: Vec<&'static KindList>,
    /// Animals that are rather something else: "mouse".
    no_beasts: Words,
    /// First words of the roles of each group.
    firsts: Vec<(Box<str>, Box<str>)>,
    forms: Phrases<usize>,
}

#[derive(Clone, Debug)]
struct Role {
    name: Box<str>,
    group: Box<str>,
    gender: Gender,
}

impl SubjectWords {
    /// Reads the table `subject` of a pack; its tables `roles.GROUP` hold lines like `sister|sis = sister f`.
    pub(crate) fn read(section: Option<Section<'_>>) -> Result<Self> {
        let list = |key| words(section, key);
        let kinds = |key| {
            let lines = section.iter().flat_map(|section| section.lines(key)).flatten();
            lines.filter_map(KindList::of).collect()
        };
        let mut read = Self {
            me: list("me")?,
            we: list("we")?,
            own: list("own")?,
            some: list("some")?,
            adjectives: list("adjectives")?,
            who: list("who")?,
            genitive: list("genitive")?,
            joiners: list("joiners")?,
            behind: list("behind")?,
            articles: list("articles")?,
            appositive: list("appositive")?,
            titles: list("titles")?,
            skip: list("skip")?,
            lead: list("lead")?,
            unsaid: list("unsaid")?,
            unsaid_other: list("unsaid_other")?,
            of_genitive: list("of_genitive")?,
            he: list("he")?,
            she: list("she")?,
            alone: list("alone")?,
            with_article: list("with_article")?,
            beside: list("beside")?,
            jobs: kinds("jobs"),
            beasts: kinds("beasts"),
            no_beasts: list("no_beasts")?,
            no_jobs: list("no_jobs")?,
            firsts: Vec::new(),
            roles: Vec::new(),
            forms: Phrases::default(),
        };
        let Some(groups) = section.map(|section| section.section("roles")).transpose()?.flatten() else {
            return Ok(read);
        };
        for group in groups.keys() {
            for line in groups.lines(group)? {
                let (forms, role) = line.split_once('=').unwrap_or((line, line));
                let (name, gender) = match role.trim().rsplit_once(' ') {
                    Some((name, "m")) => (name, Gender::Male),
                    Some((name, "f")) => (name, Gender::Female),
                    _ => (role.trim(), Gender::Unknown),
                };
                for form in forms.split('|') {
                    let first = form.trim().split([' ', '_']).next().unwrap_or_default();
                    read.firsts.push((group.into(), first.into()));
                }
                read.forms.add(read.roles.len(), forms.trim());
                read.roles.push(Role { name: name.into(), group: group.into(), gender });
            }
        }
        Ok(read)
    }

    /// Returns the role of a group that stands at a word, and where it ends.
    pub(crate) fn role_at(&self, reading: &Reading<'_>, at: usize, group: &str) -> Option<(Box<str>, usize)> {
        match group {
            "job" => return self.job_at(reading, at),
            "beast" => return self.beast_at(reading, at),
            _ => {}
        }
        let (role, end) = self.longest_role(reading, at, |role| &*role.group == group)?;
        Some((role.name.clone(), end))
    }

    /// Returns the first words of the roles of a group.
    pub(crate) fn role_firsts(&self, group: &str) -> impl Iterator<Item = &str> {
        self.firsts.iter().filter(move |(of, _)| **of == *group).map(|(_, first)| &**first)
    }

    /// Returns the occupation that stands at a word, and where it ends.
    fn job_at(&self, reading: &Reading<'_>, at: usize) -> Option<(Box<str>, usize)> {
        let word = &*reading.words.get(at)?.lower;
        let is_job = !self.no_jobs.contains(word) && self.jobs.iter().any(|kind| kind.has(word));
        is_job.then(|| (word.into(), at + 1))
    }

    /// Returns the animal that stands at a word, and where it ends.
    fn beast_at(&self, reading: &Reading<'_>, at: usize) -> Option<(Box<str>, usize)> {
        let word = &*reading.words.get(at)?.lower;
        let is_beast = !self.no_beasts.contains(word) && self.beasts.iter().any(|kind| kind.has(word));
        let known = self.longest_role(reading, at, |role| &*role.group == "animal");
        let known = known.map(|(role, end)| (role.name.clone(), end));
        known.or_else(|| is_beast.then(|| (word.strip_suffix('s').unwrap_or(word).into(), at + 1)))
    }

    /// Says whether a word may stand between an owner and a role as its adjective.
    pub(crate) fn describes(&self, reading: &Reading<'_>, at: usize) -> bool {
        reading.words.get(at).is_some_and(|word| {
            self.adjectives.contains(&*word.lower)
                || word.lower.len() > 2
                    && reading.break_at(at + 1) == Break::None
                    && !self.genitive.contains(&*word.lower)
                    && !self.own.contains(&*word.lower)
                    && !self.skip.contains(&*word.lower)
                    && !is_stop_word(Language::English, &word.lower)
        })
    }

    /// Returns the role that a word names, with its group.
    pub(crate) fn role_of(&self, reading: &Reading<'_>, at: usize) -> Option<(&str, &str)> {
        let (role, _) = self.longest_role(reading, at, |_| true)?;
        Some((&role.name, &role.group))
    }

    fn longest_role(
        &self,
        reading: &Reading<'_>,
        at: usize,
        fits: impl Fn(&Role) -> bool,
    ) -> Option<(&Role, usize)> {
        let mut found: Option<(&Role, usize)> = None;
        self.forms.find_at(&reading.words, at, |number, places| {
            if let Some(role) = self.roles.get(number)
                && fits(role)
                && found.is_none_or(|(_, end)| places.end > end)
            {
                found = Some((role, places.end));
            }
        });
        found
    }

    /// Returns where a pronoun that may be the subject ends.
    pub(crate) fn pronoun_at(&self, reading: &Reading<'_>, at: usize) -> Option<usize> {
        let word = reading.words.get(at)?;
        (self.me.contains(&*word.lower) || self.we.contains(&*word.lower)).then_some(at + 1)
    }

    /// Says whether the sign of an owner stands at a word: "my cousin's wedding".
    pub(crate) fn is_owner(&self, reading: &Reading<'_>, at: usize) -> bool {
        let word = |at: usize| reading.words.get(at).map_or("", |word| &*word.lower);
        let is_adverb =
            |word: &str| self.skip.contains(word) || self.lead.contains(word) || word.ends_with("ly");
        self.genitive.contains(word(at))
            && reading.words.get(at + 1).is_some()
            && reading.break_at(at + 1) == Break::None
            && !is_verb_after(reading, at)
            && !is_adverb(word(at + 1))
            && !self.own.contains(word(at + 1))
    }

    /// Says whether "we" stands at a word.
    pub(crate) fn is_group(&self, reading: &Reading<'_>, at: usize) -> bool {
        reading.words.get(at).is_some_and(|word| self.we.contains(&*word.lower))
    }

    /// Returns a relative behind any adjective, and anybody whose name follows: "our Ukrainian colleague Bohdan".
    fn described_at<'r>(&'r self, reading: &Reading<'_>, at: usize) -> Option<(Cow<'r, Role>, usize)> {
        for skipped in 0..=ADJECTIVES {
            if skipped > 0 && !self.describes(reading, at + skipped - 1) {
                return None;
            }
            let found = self.longest_role(reading, at + skipped, |role| &*role.group != "partner");
            if let Some((role, end)) = found
                && (&*role.group == "kin" || is_named_at(reading, end))
            {
                return Some((Cow::Borrowed(role), end));
            }
            if let Some((name, end)) = self.job_at(reading, at + skipped)
                && is_named_at(reading, end)
            {
                let role = Role { name, group: "job".into(), gender: Gender::Unknown };
                return Some((Cow::Owned(role), end));
            }
        }
        None
    }

    /// Returns the role that needs no owner: "mum" at the start of a clause, "the wife".
    fn alone_at(&self, reading: &Reading<'_>, at: usize) -> Option<(Found, Gender)> {
        let has = |at: usize, of: &Words| reading.words.get(at).is_some_and(|word| of.contains(&*word.lower));
        let is_behind_article = at > 0 && has(at - 1, &self.lead) && !reading.starts_clause(at) && {
            reading.words.get(at - 1).is_some_and(|word| word.lower == "the")
        };
        let fits = if is_behind_article { has(at, &self.with_article) } else { has(at, &self.alone) };
        if !fits || !begins(reading, self, at) {
            return None;
        }
        let (role, mut end) = self.longest_role(reading, at, |_| true)?;
        let name = name_run(reading, end).filter(|run| reading.break_at(run.start) == Break::None);
        if let Some(run) = &name {
            end = run.end;
        }
        let name = name.and_then(|run| reading.text.get(reading.bytes(&run))).map(str::to_owned);
        if has(end, &self.genitive) && !is_verb_after(reading, end) || has(end, &self.joiners) {
            return None;
        }
        let subject = Subject::Relation { role: role.name.to_string(), name };
        Some((Found { words: at..end, subject, how: How::Relation }, role.gender))
    }

    /// Returns the role that stands before a name: "our baker, Tom", "the greyhound, Biscuit", "my kid (Ida)".
    fn role_before(&self, reading: &Reading<'_>, at: usize) -> Option<(Box<str>, Gender)> {
        let has = |at: usize, of: &Words| reading.words.get(at).is_some_and(|word| of.contains(&*word.lower));
        let mut end = at;
        while end > 0 && has(end - 1, &self.titles) {
            end -= 1;
        }
        let before = end.checked_sub(1).and_then(|before| reading.words.get(before))?;
        let between = reading.words.get(end).and_then(|word| reading.text.get(before.span.end..word.span.start));
        if !between.is_some_and(|between| matches!(between.trim(), "" | "," | "(")) {
            return None;
        }
        let (start, role) = (end.saturating_sub(LONGEST_ROLE)..end).find_map(|start| {
            let (role, stop) = self.longest_role(reading, start, |_| true)?;
            (stop == end).then_some((start, role))
        })?;
        let adjectives = (1..=ADJECTIVES).take_while(|back| start > *back && has(start - back, &self.adjectives)).count();
        let owner = start.checked_sub(1 + adjectives)?;
        (has(owner, &self.own) || has(owner, &self.appositive)).then(|| (role.name.clone(), role.gender))
    }

    /// Says whether "me and" stands before a word.
    fn is_beside_speaker(&self, reading: &Reading<'_>, at: usize) -> bool {
        let has = |at: usize, of: &Words| reading.words.get(at).is_some_and(|word| of.contains(&*word.lower));
        let at = at - usize::from(at > 0 && reading.words.get(at - 1).is_some_and(|word| word.lower == "the"));
        let before = at.checked_sub(2).map_or(0..0, |at| reading.bytes(&(at..at + 2)));
        let is_apart = reading.text.get(before).is_some_and(|text| text.contains([',', '.', ';']));
        at >= 2 && !is_apart && has(at - 1, &self.joiners) && has(at - 2, &self.beside)
    }

    /// Returns the person of the speaker that is named from "my" on.
    fn relation_at(&self, reading: &Reading<'_>, at: usize) -> Option<(Found, Gender)> {
        let has = |at: usize, of: &Words| reading.words.get(at).is_some_and(|word| of.contains(&*word.lower));
        let is_own = has(at, &self.own);
        if !is_own && !has(at, &self.some) {
            return None;
        }
        let article = usize::from(at > 0 && has(at - 1, &self.articles));
        if at > article && has(at - 1 - article, &self.behind) || article == 1 && has(at - 1, &self.behind) {
            return None;
        }
        let adjectives = (0..ADJECTIVES).take_while(|place| has(at + 1 + place, &self.adjectives)).count();
        let roles =
            (0..=adjectives).rev().find_map(|skipped| self.longest_role(reading, at + 1 + skipped, |_| true));
        let (role, mut end) = match roles {
            Some((role, end)) => (Cow::Borrowed(role), end),
            None => self.described_at(reading, at + 1).filter(|_| is_own)?,
        };
        let name = name_run(reading, end);
        if let Some(run) = &name {
            end = run.end;
        }
        let name = name.and_then(|run| reading.text.get(reading.bytes(&run))).map(str::to_owned);
        if is_own && has(end, &self.genitive) && has(end + 1, &self.of_genitive) {
            let subject = Subject::Relation { role: role.name.to_string(), name };
            return Some((Found { words: at..end + 1, subject, how: How::Relation }, role.gender));
        }
        let relative = usize::from(has(end, &self.who));
        if relative == 0
            && (!is_own
                || has(end, &self.genitive) && !is_verb_after(reading, end)
                || has(end, &self.joiners))
        {
            return None;
        }
        let subject = Subject::Relation { role: role.name.to_string(), name };
        Some((Found { words: at..end + relative, subject, how: How::Relation }, role.gender))
    }
}

/// Says whether a name follows.
fn is_named_at(reading: &Reading<'_>, at: usize) -> bool {
    reading.break_at(at) <= Break::Comma && name_run(reading, at).is_some()
}

/// "My sister's a nurse" against "my sister's car": an article or an "-ing" follows the verb.
fn is_verb_after(reading: &Reading<'_>, at: usize) -> bool {
    reading.words.get(at + 1).is_some_and(|word| {
        matches!(
            word.lower.as_ref(),
            "a" | "an" | "the" | "in" | "on" | "off" | "into" | "at" | "from" | "allergic" | "called" | "been" | "got"
        ) || word.lower.ends_with("ing")
    })
}

/// Returns the words with capitals from `at` on, at most three, when a name may stand there.
pub(crate) fn name_run(reading: &Reading<'_>, at: usize) -> Option<Range<usize>> {
    let is_name = |at: usize| {
        let word = reading.words.get(at)?;
        let is_plain = word.is_capitalised(reading.text) && word.span.len() > 1 && word.lower != "i";
        is_plain.then_some(())
    };
    is_name(at)?;
    if reading.break_at(at) >= Break::Strong {
        return None;
    }
    let end = (at + 1..at + 3).find(|at| is_name(*at).is_none() || reading.break_at(*at) > Break::None);
    Some(at..end.unwrap_or(at + 3))
}

/// Who was spoken of, for pronouns.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    seen: Vec<(usize, Subject, Gender)>,
}

impl Memory {
    /// Finds the subjects of a sentence and keeps the persons in mind.
    pub(crate) fn subjects(
        &mut self,
        reading: &Reading<'_>,
        of: &SubjectWords,
        hints: &Hints<'_>,
    ) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        let mut at = 0;
        while let Some(word) = reading.words.get(at) {
            let single = |subject, how| Found { words: at..at + 1, subject, how };
            let relation = of.relation_at(reading, at).or_else(|| of.alone_at(reading, at));
            if let Some((relation, gender)) = relation {
                self.keep(hints.sentence, relation.subject.clone(), gender);
                let begin = at;
                at = relation.words.end;
                found.push(if of.is_beside_speaker(reading, begin) {
                    Found { subject: Subject::Speaker, how: How::Group, ..relation }
                } else {
                    relation
                });
                continue;
            } else if of.me.contains(&*word.lower) {
                found.push(single(Subject::Speaker, How::Speaker));
            } else if of.we.contains(&*word.lower) {
                found.push(single(Subject::Speaker, How::Group));
            } else if of.pronoun_gender(&word.lower).is_none()
                && !of.articles.contains(&*word.lower)
                && let Some(person) = hints.person_at(reading, at)
            {
                let role = of.role_before(reading, at);
                let (subject, gender) = self.known_by_role(person.1, role);
                self.keep(hints.sentence, subject.clone(), gender);
                if begins(reading, of, at) {
                    found.push(Found { words: at..person.0, subject, how: How::Named });
                }
                at = person.0.max(at + 1);
                continue;
            } else if let Some(gender) = of.pronoun_gender(&word.lower)
                && let Some(subject) = self.only(hints.sentence, gender)
                && begins(reading, of, at)
            {
                found.push(single(subject, How::Pronoun));
            } else if of.unsaid_other.contains(&*word.lower)
                && reading.starts_clause(at)
                && let Some(subject) = self.only(hints.sentence, Gender::Unknown)
            {
                found.push(Found { words: at..at, subject, how: How::Pronoun });
            } else if let Some((role, _)) = of.longest_role(reading, at, |_| true)
                && at > 0
            {
                let subject = Subject::Relation { role: role.name.to_string(), name: None };
                self.keep(hints.sentence, subject, role.gender);
            }
            at += 1;
        }
        found
    }

    /// Whoever has a role keeps it: "our baker, Tom, …", and later "Tom".
    fn known_by_role(&self, name: String, role: Option<(Box<str>, Gender)>) -> (Subject, Gender) {
        if let Some((role, gender)) = role {
            return (Subject::Relation { role: role.to_string(), name: Some(name) }, gender);
        }
        let is_same = |(_, subject, _): &&(usize, Subject, Gender)| {
            matches!(subject, Subject::Relation { name: Some(known), .. } if *known == name)
        };
        let known = self.seen.iter().rev().find(is_same);
        known.map_or((Subject::Named(name), Gender::Unknown), |(_, subject, gender)| (subject.clone(), *gender))
    }

    fn keep(&mut self, sentence: usize, subject: Subject, gender: Gender) {
        self.seen.retain(|(of, ..)| of + SENTENCES_BACK >= sentence);
        self.seen.push((sentence, subject, gender));
    }

    /// The one person whom a pronoun can mean.
    fn only(&self, sentence: usize, gender: Gender) -> Option<Subject> {
        let mut candidates: Vec<&Subject> = Vec::new();
        for (of, subject, has) in &self.seen {
            let is_same = |known: &&Subject| same_person(known, subject);
            if of + SENTENCES_BACK >= sentence && has.fits(gender) {
                candidates.retain(|known| !is_same(known));
                candidates.push(subject);
            }
        }
        match candidates.as_slice() {
            [one] => Some((*one).clone()),
            _ => None,
        }
    }
}

fn same_person(one: &Subject, other: &Subject) -> bool {
    match (one, other) {
        (Subject::Relation { role: a, .. }, Subject::Relation { role: b, .. })
        | (Subject::Relation { name: Some(a), .. }, Subject::Named(b)) => a == b,
        _ => one == other,
    }
}

impl SubjectWords {
    /// Says whether a word is, or begins, a subject.
    pub(crate) fn is_subject(&self, word: &str) -> bool {
        [&self.me, &self.we, &self.he, &self.she].iter().any(|of| of.contains(word))
    }

    fn pronoun_gender(&self, word: &str) -> Option<Gender> {
        if self.he.contains(word) {
            Some(Gender::Male)
        } else if self.she.contains(word) {
            Some(Gender::Female)
        } else {
            None
        }
    }
}

/// Says whether nothing but words that lead in stand between the start of the clause and a word.
fn begins(reading: &Reading<'_>, of: &SubjectWords, at: usize) -> bool {
    let mut at = at;
    loop {
        if reading.starts_clause(at) {
            return true;
        }
        let Some(before) = at.checked_sub(1).and_then(|before| reading.words.get(before)) else {
            return true;
        };
        if !of.lead.contains(&*before.lower) {
            return false;
        }
        at -= 1;
    }
}

/// Says whether a mention may be somebody.
pub(crate) fn is_person(kind: EntityKind) -> bool {
    matches!(kind, EntityKind::Person | EntityKind::Animal)
}
