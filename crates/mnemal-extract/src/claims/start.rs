//! Positions in a sentence at which a claim may begin.

use mnemal_core::Subject;

use super::Sentence;
use crate::claims::pattern::Slots;
use crate::claims::rule::Rule;
use crate::claims::subjects::{SubjectForm, SubjectMatch, name_run};
use crate::clause::Break;
use crate::word::is_sign;

/// Words of a greeting: "hi there, good morning". Source: own choice.
const LONGEST_GREETING: usize = 4;

impl Sentence<'_, '_> {
    /// Adds the subjects that are understood: of a second verb, and of a sentence that begins with a verb.
    pub(super) fn with_unsaid(&self, found: &[SubjectMatch]) -> Vec<SubjectMatch> {
        let (reading, rules) = (self.reading, self.rules);
        let mut all = Vec::new();
        let joins =
            |at: usize| rules.objects.joins(reading.lower(at)) || reading.break_at(at) == Break::Terminator;
        for (place, subject) in found.iter().enumerate() {
            all.push(subject.clone());
            let end = found.get(place + 1).map_or(reading.words.len(), |next| next.words.start);
            for at in subject.words.end..end {
                if matches!(reading.break_at(at), Break::Strong | Break::Halt) {
                    break;
                }
                let after_comma = reading.break_at(at) == Break::Comma && !joins(at);
                if joins(at) && at + 1 < end || after_comma {
                    let behind = if after_comma { at } else { at + 1 };
                    all.push(SubjectMatch {
                        words: behind..behind,
                        subject: subject.subject.clone(),
                        how: subject.how,
                    });
                }
            }
        }
        all.extend(self.unsaid_at_start(found));
        all
    }

    /// Returns the speaker before a verb that begins the sentence: "Moved to Lyon."
    fn unsaid_at_start(&self, found: &[SubjectMatch]) -> Option<SubjectMatch> {
        let (reading, rules) = (self.reading, self.rules);
        let at = (0..reading.words.len()).find(|at| !rules.subjects.lead.contains(reading.lower(*at)))?;
        let is_said = found.iter().any(|found| found.words.start <= at);
        let is_verb =
            rules.subjects.unsaid.contains(reading.lower(at)) || rules.is_of("past", reading.lower(at));
        let unsaid = SubjectMatch { words: at..at, subject: Subject::Speaker, how: SubjectForm::Unsaid };
        (!is_said && is_verb).then_some(unsaid)
    }

    /// Returns whether only introductory or joining words are between the start of a clause and a word.
    pub(super) fn begins(&self, at: usize) -> bool {
        let mut at = at;
        while !self.reading.starts_clause(at) {
            let Some(before) = at.checked_sub(1) else { return true };
            let word = self.reading.lower(before);
            if !self.rules.subjects.lead.contains(word) && !self.rules.objects.joins(word) {
                return false;
            }
            at = before;
        }
        true
    }

    /// Returns whether only a greeting precedes a word.
    pub(super) fn opens(&self, at: usize) -> bool {
        at <= LONGEST_GREETING
            && self.reading.words.iter().take(at).all(|word| self.rules.is_of("greeting", &word.lower))
    }

    /// Returns whether a shape that begins with "my" tells the name of what belongs to that person, and not of the person: "the son of
    /// my boss is called Emil".
    pub(super) fn tells_of_owned(&self, at: usize, slots: &Slots) -> bool {
        let (reading, rules) = (self.reading, self.rules);
        let Some(before) = at.checked_sub(1).filter(|_| reading.break_at(at) == Break::None) else {
            return false;
        };
        let word = reading.lower(at);
        let is_noun = || {
            let written = reading.words.get(before);
            written.is_some_and(|word| word.is_capitalised(reading.text))
                && !rules.subjects.lead.contains(reading.lower(before))
        };
        let is_attribute = rules.is_of("genitive", word) && is_noun()
            || rules.is_of("possessive", word) && before > 0 && rules.is_of("owner", reading.lower(before));
        let end = slots.object.as_ref().map_or(slots.own.end, |object| object.start);
        is_attribute && (at..end).any(|at| rules.is_of("naming", reading.lower(at)))
    }

    /// Returns whether an opening contains a subject or a verb, and so is no opening: "Nurse at Selly Oak". An answer is read
    /// up to its first sign: "Porto, I moved in May."
    pub(super) fn is_clause(&self, rule: &Rule, slots: &Slots) -> bool {
        let own = &slots.own;
        let opening = match &slots.object {
            Some(object) if object.start == own.start => object.clone(),
            Some(object) => own.start..object.start,
            None => own.clone(),
        };
        let opening = if rule.asks.is_empty() {
            opening
        } else {
            opening.start..opening.end.min(self.reading.next_break(opening.start + 1, Break::Comma))
        };
        let words = self.reading.words.get(opening).unwrap_or_default();
        words.iter().any(|word| self.rules.is_of("clausal", &word.lower))
    }

    /// Returns the subject that a rule's pattern names, with the remaining slots: a person named by the topic, whose role for
    /// the owner stays, else a relation of the speaker in its role.
    pub(super) fn owner(&self, rule: &Rule, slots: &Slots) -> Option<(Subject, SubjectForm, Slots)> {
        let Some(words) = slots.topic.clone() else {
            let subject = Subject::Relation { role: slots.role.as_deref()?.to_owned(), name: None };
            return Some((subject, SubjectForm::Relation, Slots { role: None, ..slots.clone() }));
        };
        let is_one = if self.reading.words.get(words.start)?.lower.chars().any(is_sign) {
            words.clone().all(|at| !self.rules.subjects.is_subject(self.reading.lower(at)))
        } else {
            let run = name_run(self.reading, words.start)?;
            // A possession is capitalized too in German: "Marias Bruder".
            run == words || rule.is_genitive && words.end < run.end
        };
        let name = self.reading.text.get(self.reading.bytes(&words))?;
        let name = if rule.is_genitive { self.without_case(name, words.end)? } else { name };
        let is_role = self.rules.subjects.is_role_word(&name.to_lowercase());
        let slots = Slots { topic: None, ..slots.clone() };
        (is_one && !is_role).then(|| (Subject::Named(name.to_owned()), SubjectForm::Named, slots))
    }

    /// Returns a name without the "s" of an owner, which a name on "s" has not: "Hans' Bruder". `None` where there is neither.
    fn without_case<'n>(&self, name: &'n str, end: usize) -> Option<&'n str> {
        let is_marked =
            self.reading.between(end).is_some_and(|between| between.starts_with(['\'', '\u{2019}']));
        if is_marked { Some(name) } else { name.strip_suffix('s') }
    }

    /// Returns whether a word belongs to a time expression.
    pub(super) fn is_time(&self, at: usize) -> bool {
        self.hints.time_at(self.reading, at).is_some()
    }
}
