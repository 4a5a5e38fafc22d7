//! Claims whose object precedes the pattern: "Emil is my son", "Zainab, my co-founder".

use mnemal_core::{Act, EntityKind, ExtractedFact, Subject};

use super::{Match, Sentence};
use crate::claims::objects::{key, language};
use crate::claims::remark::Reason;
use crate::claims::rule::Kind;
use crate::claims::subjects::{SubjectForm, is_person};
use crate::clause::Break;

/// Words of a name before a comma and the pattern. Source: own choice.
const LONGEST_NAME: usize = 3;
/// Words of a name that no other reader found: "Huiling is my director". Source: own choice; a first name and a surname.
const LONGEST_UNKNOWN: usize = 2;

impl Sentence<'_, '_> {
    /// "Emil is my son", "Emil is Ada's son": the subject is told about the speaker, or about the person in the pattern.
    pub(super) fn swapped(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let name = self.swapped_name(found)?;
        let end = found.slots.topic.as_ref().map_or(0, |owner| owner.end).max(found.slots.own.end);
        if found.rule.is_last && !self.is_apposed(end) {
            return Err(Reason::WrongKind);
        }
        let words = found.said.start..end;
        let act = self.act(found, words)?;
        let cutter = self.cutter(found.rule);
        let cut = cutter.own(found.said.clone());
        let (subject, slots) = if found.rule.is_of_owner {
            let (owner, _, slots) = self.owner(found.rule, &found.slots).ok_or(Reason::WrongSubject)?;
            (owner, slots)
        } else {
            (Subject::Speaker, found.slots.clone())
        };
        let of_speaker = Match { subject, slots, said: found.said.clone(), ..*found };
        let time = if act == Act::End {
            self.time(found.rule, found.said.start..found.slots.own.end, act)
        } else {
            None
        };
        let mut fact = self.fact(&of_speaker, &cut, act, time);
        if !matches!(found.how, SubjectForm::Named) {
            name.clone_into(&mut fact.object.text);
            fact.object.key = key(name, true, self.rules.code);
            let is_animal = found.rule.kinds.contains(&EntityKind::Animal);
            fact.object.kind = Some(if is_animal { EntityKind::Animal } else { EntityKind::Person });
        }
        if let Subject::Relation { role, .. } = &found.subject {
            fact.object.topic = Some(role.clone());
        }
        Ok(vec![fact])
    }

    /// Returns the name of a subject that may be an object of the speaker: of a kind of the rule, where it has any; who has a
    /// role for the speaker already counts as an animal alone.
    fn swapped_name<'f>(&self, found: &'f Match<'_>) -> Result<&'f str, Reason> {
        let kinds = &found.rule.kinds;
        match &found.subject {
            Subject::Named(name) => {
                let is_meant =
                    kinds.is_empty() || self.hints.kinds_of(name).any(|kind| kinds.contains(&kind));
                is_meant.then_some(name.as_str()).ok_or(Reason::WrongKind)
            }
            Subject::Relation { role, name: Some(name) } if kinds.contains(&EntityKind::Animal) => {
                let is_animal = self.rules.subjects.is_animal(role);
                is_animal.then_some(name.as_str()).ok_or(Reason::WrongKind)
            }
            _ => Err(Reason::WrongSubject),
        }
    }

    /// "Zainab, my co-founder".
    pub(super) fn before(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let own = &found.slots.own;
        if found.rule.kind == Kind::Phrase {
            return self.phrase_before(found);
        }
        if self.reading.break_at(own.start) == Break::None {
            return self.name_before(found);
        }
        let name = (1..=LONGEST_NAME).filter_map(|count| own.start.checked_sub(count)).find_map(|start| {
            let (end, mention) = self.hints.mention_at(self.reading, start)?;
            (end == own.start && is_person(mention.kind)).then_some(start..end)
        });
        let name = name.ok_or(Reason::WrongKind)?;
        if found.rule.is_last && !self.is_apposed(own.end) {
            return Err(Reason::WrongKind);
        }
        let act = self.act(found, name.start..own.end)?;
        let cutter = self.cutter(found.rule);
        Ok(vec![self.fact(found, &cutter.own(name), act, None)])
    }

    /// Returns whether an apposition may end before a word: "Ivo, my crewmate from the old days", not "the Vespa, my doctor
    /// says".
    fn is_apposed(&self, at: usize) -> bool {
        self.reading.break_at(at) > Break::None || self.rules.objects.may_follow(self.reading.lower(at))
    }

    /// "Huiling is my director": a word with a capital that is no common word.
    fn name_before(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let own = &found.slots.own;
        let is_verb = self.reading.has(own.start, &self.rules.subjects.skip);
        let is_name = |at: &usize| {
            self.reading.words.get(*at).is_some_and(|word| {
                word.is_capitalised(self.reading.text)
                    && !mnemal_text::is_stop_word(language(self.rules.code), &word.lower)
                    && !self.rules.subjects.lead.holds(word)
            })
        };
        let count = (0..own.start).rev().take(LONGEST_UNKNOWN).take_while(is_name).count();
        if !is_verb || count == 0 {
            return Err(Reason::WrongKind);
        }
        let name = own.start - count..own.start;
        let act = self.act(found, name.start..own.end)?;
        let cutter = self.cutter(found.rule);
        Ok(vec![self.fact(found, &cutter.own(name), act, None)])
    }

    /// "Painting with my kids is my escape".
    fn phrase_before(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let own = &found.slots.own;
        let start = self.reading.clause_at(own.start.saturating_sub(1));
        let cutter = self.cutter(found.rule);
        let cuts = cutter.objects(start..own.start)?;
        let is_whole = cuts.last().is_some_and(|cut| cut.words.end == own.start);
        if !is_whole {
            return Err(Reason::WrongKind);
        }
        let act = self.act(found, start..own.end)?;
        Ok(cuts.iter().map(|cut| self.fact(found, cut, act, None)).collect())
    }
}
