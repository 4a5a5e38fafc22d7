//! Previously mentioned people, for pronoun resolution.

use mnemal_core::Subject;

use super::{Gender, SubjectForm, SubjectMatch, SubjectWords, begins};
use crate::claims::hints::Hints;
use crate::clause::AnalyzedSentence;

/// Sentences back in which a pronoun finds its antecedent. Source: own choice.
const SENTENCES_BACK: usize = 2;
/// Words of a name before a role of the speaker's relation. Source: own choice.
const LONGEST_NAME: usize = 3;

/// Previously mentioned people.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Whether it is a note that is read, in which the user may be called so.
    is_of_note: bool,
    seen: Vec<(usize, Subject, Gender)>,
}

impl Memory {
    /// Begins a note, which may call the user "the user".
    pub(crate) fn of_note(self) -> Self {
        Self { is_of_note: true, ..self }
    }

    /// Finds the subjects of a sentence and remembers the people.
    pub(crate) fn subjects(
        &mut self,
        reading: &AnalyzedSentence<'_>,
        of: &SubjectWords,
        hints: &Hints<'_>,
    ) -> Vec<SubjectMatch> {
        let mut found: Vec<SubjectMatch> = Vec::new();
        let mut at = 0;
        while let Some(word) = reading.words.get(at) {
            let single = |subject, how| SubjectMatch { words: at..at + 1, subject, how };
            let relation = of.relation_at(reading, at).or_else(|| of.alone_at(reading, at));
            if let Some((relation, gender)) = relation {
                let relation = named_before(reading, hints, relation, at);
                self.keep(hints.sentence, relation.subject.clone(), gender);
                let begin = at;
                at = relation.words.end;
                found.push(if of.is_beside_speaker(reading, begin) {
                    SubjectMatch { subject: Subject::Speaker, how: SubjectForm::Group, ..relation }
                } else {
                    relation
                });
                continue;
            } else if of.me.holds(word) {
                found.push(single(Subject::Speaker, SubjectForm::Speaker));
            } else if of.we.holds(word) {
                found.push(single(Subject::Speaker, SubjectForm::Group));
            } else if self.is_of_note
                && let Some(end) = of.told_user_at(reading, at)
            {
                let subject = Subject::Named(SubjectWords::TOLD_USER.to_owned());
                self.keep(hints.sentence, subject.clone(), Gender::Unknown);
                found.push(SubjectMatch { words: at..end, subject, how: SubjectForm::Named });
                at = end;
                continue;
            } else if of.pronoun_gender(&word.lower).is_none()
                && !of.articles.holds(word)
                && let Some(person) = hints.person_at(reading, at)
                && !(at + 1..person.0).any(|at| of.longest_role(reading, at, |_| true).is_some())
            {
                let role = of.role_before(reading, at);
                let (subject, gender) = self.known_by_role(person.1, role);
                self.keep(hints.sentence, subject.clone(), gender);
                // "O Rex", "die Mimi".
                let article = usize::from(at > 0 && reading.has(at - 1, &of.articles));
                if begins(reading, of, at - article) {
                    found.push(SubjectMatch { words: at..person.0, subject, how: SubjectForm::Named });
                }
                at = person.0.max(at + 1);
                continue;
            } else if let Some(gender) = of.pronoun_gender(&word.lower)
                && let Some(subject) = self.only(hints.sentence, gender)
                && begins(reading, of, at)
            {
                found.push(single(subject, SubjectForm::Pronoun));
            } else if of.unsaid_other.holds(word)
                && reading.starts_clause(at)
                && let Some(subject) = self.only(hints.sentence, Gender::Unknown)
            {
                found.push(SubjectMatch { words: at..at, subject, how: SubjectForm::Pronoun });
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
        let is_same = |(_, subject, _): &&(usize, Subject, Gender)| matches!(subject, Subject::Relation { name: Some(known), .. } if *known == name);
        let known = self.seen.iter().rev().find(is_same);
        known.map_or((Subject::Named(name), Gender::Unknown), |(_, subject, gender)| {
            (subject.clone(), *gender)
        })
    }

    fn keep(&mut self, sentence: usize, subject: Subject, gender: Gender) {
        self.seen.retain(|(of, ..)| of + SENTENCES_BACK >= sentence);
        self.seen.push((sentence, subject, gender));
    }

    /// The only person that a pronoun can refer to.
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

/// "Selma, my wife, works": gives a relation of the speaker the name that precedes it, between signs.
fn named_before(
    reading: &AnalyzedSentence<'_>,
    hints: &Hints<'_>,
    relation: SubjectMatch,
    at: usize,
) -> SubjectMatch {
    let Subject::Relation { role, name: None } = &relation.subject else { return relation };
    let end = relation.words.end;
    let is_apart = reading.between(at).is_some_and(is_aside) && reading.between(end).is_some_and(is_aside);
    let mentions = (at.saturating_sub(LONGEST_NAME)..at).filter_map(|start| hints.person_at(reading, start));
    let name = mentions.filter(|(end, _)| *end == at).map(|(_, name)| name).next();
    match name.filter(|_| is_apart && end < reading.words.len()) {
        Some(name) => {
            let subject = Subject::Relation { role: role.clone(), name: Some(name) };
            SubjectMatch { subject, ..relation }
        }
        None => relation,
    }
}

/// The signs on both sides of what is put in.
fn is_aside(between: &str) -> bool {
    matches!(between.trim(), "," | "，" | "(" | ")" | "–" | "—" | "-")
}

fn same_person(one: &Subject, other: &Subject) -> bool {
    match (one, other) {
        (Subject::Relation { role: a, .. }, Subject::Relation { role: b, .. })
        | (Subject::Relation { name: Some(a), .. }, Subject::Named(b)) => a == b,
        _ => one == other,
    }
}
