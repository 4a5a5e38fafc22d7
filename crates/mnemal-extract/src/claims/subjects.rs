//! Of whom a clause speaks: the speaker, somebody of the speaker's, or somebody with a name.

use std::ops::Range;

use mnemal_core::{EntityKind, Result, Subject};

use crate::claims::hints::Hints;
use crate::clause::{Break, Reading};
use crate::gates::pack::{Words, words};
use crate::phrase::Phrases;
use crate::section::Section;

/// Words between "my" and the role: "my older twin sister". Source: own choice.
const ADJECTIVES: usize = 2;
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
    roles: Vec<Role>,
    forms: Phrases<usize>,
}

#[derive(Debug)]
struct Role {
    name: Box<str>,
    group: Box<str>,
    gender: Gender,
}

impl SubjectWords {
    /// Reads the table `subject` of a pack; its tables `roles.GROUP` hold lines like `sister|sis = sister f`.
    pub(crate) fn read(section: Option<Section<'_>>) -> Result<Self> {
        let list = |key| words(section, key);
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
            skip: list("skip")?,
            lead: list("lead")?,
            unsaid: list("unsaid")?,
            unsaid_other: list("unsaid_other")?,
            of_genitive: list("of_genitive")?,
            he: list("he")?,
            she: list("she")?,
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
                read.forms.add(read.roles.len(), forms.trim());
                read.roles.push(Role { name: name.into(), group: group.into(), gender });
            }
        }
        Ok(read)
    }

    /// Returns the role of a group that stands at a word, and where it ends.
    pub(crate) fn role_at(&self, reading: &Reading<'_>, at: usize, group: &str) -> Option<(Box<str>, usize)> {
        let (role, end) = self.longest_role(reading, at, |role| &*role.group == group)?;
        Some((role.name.clone(), end))
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
        let (role, mut end) = roles?;
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

/// "My sister's a nurse" against "my sister's car": an article or an "-ing" follows the verb.
fn is_verb_after(reading: &Reading<'_>, at: usize) -> bool {
    reading.words.get(at + 1).is_some_and(|word| {
        matches!(
            word.lower.as_ref(),
            "a" | "an" | "the" | "in" | "at" | "from" | "allergic" | "called" | "been" | "got"
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
            if let Some((relation, gender)) = of.relation_at(reading, at) {
                self.keep(hints.sentence, relation.subject.clone(), gender);
                at = relation.words.end;
                found.push(relation);
                continue;
            } else if of.me.contains(&*word.lower) {
                found.push(single(Subject::Speaker, How::Speaker));
            } else if of.we.contains(&*word.lower) {
                found.push(single(Subject::Speaker, How::Group));
            } else if of.pronoun_gender(&word.lower).is_none()
                && !of.articles.contains(&*word.lower)
                && let Some(person) = hints.person_at(reading, at)
            {
                let subject = Subject::Named(person.1);
                self.keep(hints.sentence, subject.clone(), Gender::Unknown);
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
