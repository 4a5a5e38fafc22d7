//! The words of a language for subjects.

use std::collections::HashSet;

use mnemal_core::Result;

use super::roles::Role;
use super::{Gender, begins};
use crate::claims::kinds::KindList;
use crate::clause::AnalyzedSentence;
use crate::gates::pack::{Words, phrases, words};
use crate::phrase::Phrases;
use crate::section::Section;

/// The words of a language for subjects.
#[derive(Debug, Default)]
pub(crate) struct SubjectWords {
    pub(super) me: Words,
    pub(super) we: Words,
    pub(super) own: Words,
    pub(super) some: Words,
    pub(super) adjectives: Words,
    pub(super) who: Words,
    pub(crate) genitive: Words,
    pub(super) joiners: Words,
    /// Words before "my" after which a relation is no subject: "the sister of my wife".
    pub(super) behind: Words,
    /// Articles that may precede "my": "o meu irmão".
    pub(super) articles: Words,
    /// Words before a role that a name follows: "the baker, Tom".
    pub(super) appositive: Words,
    /// Words between a role and a name: "Mr".
    pub(super) titles: Words,
    /// Words for the user in a note: "user", "Nutzerin".
    user: Phrases<()>,
    /// Articles before that.
    user_articles: Words,
    pub(crate) skip: Words,
    pub(crate) lead: Words,
    /// Beginnings of a sentence that speak of the speaker without a subject.
    pub(crate) unsaid: Words,
    /// Verbs that, without a subject, speak of the last person: "Hates flats."
    pub(super) unsaid_other: Words,
    /// Words after "'s" that show that it is a verb: "my sister's a nurse".
    pub(super) shows_verb: Words,
    /// Attributes of a person after a genitive: "my dog's name".
    pub(super) of_genitive: Words,
    pub(super) he: Words,
    pub(super) she: Words,
    /// Roles that need no owner at the start of a clause: "Mum's vegan".
    pub(super) alone: Words,
    /// Roles that belong to the speaker after an article: "the wife".
    pub(super) with_article: Words,
    /// Words for the speaker before "and": "me and my wife".
    pub(super) beside: Words,
    /// Occupations, which are roles where a name follows: "our receptionist Nomvula".
    pub(super) jobs: Vec<&'static KindList>,
    /// Occupations that are rather things: "server".
    pub(super) no_jobs: Words,
    pub(super) roles: Vec<Role>,
    /// Animals, which are pets where a name follows: "our bassets Hank and Loretta".
    pub(super) beasts: Vec<&'static KindList>,
    /// Animals that are rather something else: "mouse".
    pub(super) no_beasts: Words,
    /// First words of the roles of each group.
    pub(super) firsts: Vec<(Box<str>, Box<str>)>,
    pub(super) forms: Phrases<usize>,
    /// Every role as it is written, without spaces.
    written: HashSet<Box<str>>,
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
            user: phrases(section, "user")?,
            user_articles: list("user_articles")?,
            skip: list("skip")?,
            lead: list("lead")?,
            unsaid: list("unsaid")?,
            unsaid_other: list("unsaid_other")?,
            shows_verb: list("shows_verb")?,
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
            written: HashSet::new(),
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
                    read.written.insert(form.trim().replace([' ', '_'], "").into());
                }
                read.forms.add(read.roles.len(), forms.trim());
                read.roles.push(Role { name: name.into(), group: group.into(), gender });
            }
        }
        Ok(read)
    }

    /// The subject name for the user in a note; it contains a control character, so that no person has it.
    pub(crate) const TOLD_USER: &'static str = "\u{1f}user";

    /// Returns the end of a note's word for the user at the start of a clause.
    pub(super) fn told_user_at(&self, reading: &AnalyzedSentence<'_>, at: usize) -> Option<usize> {
        let mut end = None;
        self.user.find_at(&reading.words, at, |(), places| end = Some(places.end));
        let article = usize::from(at > 0 && reading.has(at - 1, &self.user_articles));
        end.filter(|_| begins(reading, self, at - article))
    }

    /// Returns `true` if a text in small letters is a role and nothing else.
    pub(crate) fn is_role(&self, text: &str) -> bool {
        self.written.contains(text.replace(' ', "").as_str())
    }

    /// Returns whether a word is, or begins, a subject.
    pub(crate) fn is_subject(&self, word: &str) -> bool {
        [&self.me, &self.we, &self.he, &self.she].iter().any(|of| of.contains(word))
    }

    pub(super) fn pronoun_gender(&self, word: &str) -> Option<Gender> {
        if self.he.contains(word) {
            Some(Gender::Male)
        } else if self.she.contains(word) {
            Some(Gender::Female)
        } else {
            None
        }
    }

    /// Returns where a pronoun that may be the subject ends.
    pub(crate) fn pronoun_at(&self, reading: &AnalyzedSentence<'_>, at: usize) -> Option<usize> {
        let word = reading.words.get(at)?;
        (self.me.holds(word) || self.we.holds(word)).then_some(at + 1)
    }

    /// Returns whether "we" is at a word.
    pub(crate) fn is_group(&self, reading: &AnalyzedSentence<'_>, at: usize) -> bool {
        reading.words.get(at).is_some_and(|word| self.we.holds(word))
    }
}
