//! Claim extraction: what a text's clauses assert about the speaker and the speaker's people, animals and things.

mod act;
pub(crate) mod answer;
pub(crate) mod calibration;
mod correction;
mod fact;
mod fronted_object;
mod habit;
pub(crate) mod hints;
pub(crate) mod kinds;
pub(crate) mod objects;
pub(crate) mod pattern;
mod plain;
mod plans;
pub(crate) mod remark;
pub(crate) mod rule;
pub(crate) mod rules;
mod score;
mod start;
pub(crate) mod subjects;
pub(crate) mod weighing;

#[cfg(test)]
mod examples;

use std::collections::HashSet;
use std::ops::Range;

use mnemal_core::{Confidence, ExtractedFact, Subject};

use crate::claims::answer::PrecedingQuestion;
use crate::claims::correction::DeniedValue;
use crate::claims::hints::Hints;
use crate::claims::pattern::Slots;
use crate::claims::remark::{DroppedClaims, Reason};
use crate::claims::rule::Rule;
use crate::claims::rules::Rules;
use crate::claims::subjects::{Memory, SubjectForm, SubjectMatch};
use crate::clause::{AnalyzedSentence, Break};

/// Words between a subject and its cue: "have also just recently". Source: own choice.
const LONGEST_SKIP: usize = 6;

/// Extracts the claims of the sentences of one text, in order.
#[derive(Debug)]
pub(crate) struct Claims<'d> {
    /// Rules that are switched off.
    disabled: &'d HashSet<String>,
    /// Scores are corrected by what was measured of the rules.
    is_weighed: bool,
    memory: Memory,
    known: HashSet<(Subject, String, String)>,
    /// What the sentence before denied.
    denied: Option<DeniedValue<'d>>,
    /// What the previous message asks, while the first sentence is read.
    asked: Option<PrecedingQuestion<'d>>,
    /// The claims of the sentence at hand that needed no weight.
    stated: Range<usize>,
    /// The extracted claims.
    pub(crate) facts: Vec<ExtractedFact>,
    /// The dropped claims, with reasons.
    pub(crate) dropped: DroppedClaims,
}

/// One sentence and all that is known of it.
struct Sentence<'s, 't> {
    reading: &'s AnalyzedSentence<'t>,
    rules: &'s Rules,
    hints: &'s Hints<'s>,
    /// The values that it denies.
    denied: &'s [Range<usize>],
    /// The value that the sentence before denied.
    before: Option<&'s DeniedValue<'t>>,
    /// The subjects in it.
    subjects: &'s [SubjectMatch],
}

/// What the rules need that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EvidenceNeed {
    /// Their words alone.
    Words,
    /// Enough other evidence beside their words.
    Weight,
}

/// A pattern that is in a sentence.
struct Match<'s> {
    rule: &'s Rule,
    slots: Slots,
    subject: Subject,
    how: SubjectForm,
    /// The words of the subject, at which the words begin whose gates count.
    said: Range<usize>,
}

impl<'d> Claims<'d> {
    /// Begins a text.
    pub(crate) fn new(disabled: &'d HashSet<String>) -> Self {
        Self {
            disabled,
            is_weighed: true,
            memory: Memory::default(),
            known: HashSet::new(),
            denied: None,
            asked: None,
            stated: 0..0,
            facts: Vec::new(),
            dropped: DroppedClaims::default(),
        }
    }

    /// Begins an answer.
    pub(crate) fn answering(self, asked: Option<PrecedingQuestion<'d>>) -> Self {
        Self { asked, ..self }
    }

    /// Begins a note, which may call the user "the user".
    pub(crate) fn of_note(self) -> Self {
        Self { memory: self.memory.of_note(), ..self }
    }

    /// Disables the calibration of scores.
    pub(crate) fn unweighed(self) -> Self {
        Self { is_weighed: false, ..self }
    }

    /// Reads a sentence.
    pub(crate) fn read(&mut self, reading: &AnalyzedSentence<'d>, rules: &Rules, hints: &Hints<'_>) {
        let before = self.denied.take();
        let sentence =
            Sentence { reading, rules, hints, denied: &[], before: before.as_ref(), subjects: &[] };
        let denied = sentence.values_denied();
        self.denied = sentence.denied_alone(&denied);
        let said = self.memory.subjects(reading, &rules.subjects, hints);
        let sentence = Sentence { denied: &denied, subjects: &said, ..sentence };
        let subjects = sentence.with_unsaid(&said);
        let before = self.facts.len();
        for evidence in [EvidenceNeed::Words, EvidenceNeed::Weight] {
            let mut taken = vec![false; reading.words.len()];
            for subject in &subjects {
                self.behind((&sentence, evidence), subject, &mut taken);
            }
            for at in 0..reading.words.len() {
                if taken.get(at) == Some(&false) {
                    self.shapes((&sentence, evidence), at, &mut taken);
                }
            }
            self.stated = before..self.facts.len();
        }
        self.asked = None;
    }

    /// Looks for the cue behind a subject, passing over adverbs and auxiliary verbs.
    fn behind(
        &mut self,
        (sentence, evidence): (&Sentence<'_, '_>, EvidenceNeed),
        subject: &SubjectMatch,
        taken: &mut [bool],
    ) {
        let (reading, rules) = (sentence.reading, sentence.rules);
        let mut at = subject.words.end;
        for _ in 0..=LONGEST_SKIP {
            let Some(word) = reading.words.get(at) else { return };
            if taken.get(at) == Some(&true) {
                return;
            }
            let mut is_found = false;
            let index = match evidence {
                EvidenceNeed::Words => &rules.behind_subject,
                EvidenceNeed::Weight => &rules.weighed_behind_subject,
            };
            for (number, place) in index.at(reading, at, rules) {
                let Some(rule) = rules.all.get(number) else { continue };
                if subject.how == SubjectForm::Unsaid && !rule.is_bare || is_found && !rule.is_beside {
                    continue;
                }
                let pattern = rule.cues.get(place);
                let Some(slots) = pattern.and_then(|pattern| pattern.at(reading, rules, at)) else {
                    continue;
                };
                let found = Match {
                    rule,
                    slots,
                    subject: if rule.is_of_speaker { Subject::Speaker } else { subject.subject.clone() },
                    how: subject.how,
                    said: subject.words.clone(),
                };
                let is_beside = rule.is_beside;
                is_found |= self.claim(sentence, &found, taken) && !is_beside;
            }
            if is_found {
                return;
            }
            if rules.subjects.is_anothers(reading, subject, at) {
                return;
            }
            let passes = rules.subjects.skip.holds(word) || sentence.is_time(at);
            let most = if subject.words.is_empty() { Break::None } else { Break::Comma };
            if !passes || reading.break_at(at + 1) > most {
                return;
            }
            at += 1;
        }
    }

    /// Looks for the shapes that are at a word.
    fn shapes(
        &mut self,
        (sentence, evidence): (&Sentence<'_, '_>, EvidenceNeed),
        at: usize,
        taken: &mut [bool],
    ) {
        let (reading, rules) = (sentence.reading, sentence.rules);
        let index = match evidence {
            EvidenceNeed::Words => &rules.anywhere,
            EvidenceNeed::Weight => &rules.weighed_anywhere,
        };
        let places = if sentence.opens(at) {
            index.at_opening(reading, at, rules)
        } else {
            index.at(reading, at, rules)
        };
        for (number, place) in places {
            let Some((rule, pattern)) =
                rules.all.get(number).and_then(|rule| Some((rule, rule.shapes.get(place)?)))
            else {
                continue;
            };
            if pattern.is_start && !sentence.begins(at) || !self.is_asked(rule, rules) {
                continue;
            }
            let Some(slots) = pattern.at(reading, rules, at) else { continue };
            if sentence.tells_of_owned(at, &slots) {
                continue;
            }
            if pattern.is_opening && sentence.is_clause(rule, &slots) {
                continue;
            }
            let is_group = slots.subject.is_some_and(|at| rules.subjects.is_group(reading, at));
            let of_speaker =
                (Subject::Speaker, if is_group { SubjectForm::Group } else { SubjectForm::Speaker });
            let of_whom = if rule.is_of_owner {
                sentence.owner(rule, &slots)
            } else {
                Some((of_speaker.0, of_speaker.1, slots))
            };
            let Some((subject, how, slots)) = of_whom else { continue };
            let found = Match { rule, slots, subject, how, said: at..at };
            if self.claim(sentence, &found, taken) && !rule.is_beside {
                return;
            }
        }
    }

    /// Checks a match and keeps its claims; says whether there were any.
    fn claim(&mut self, sentence: &Sentence<'_, '_>, found: &Match<'_>, taken: &mut [bool]) -> bool {
        let id = found.rule.id.as_str();
        if self.disabled.contains(id) {
            self.dropped.add(id, Reason::Disabled);
            return false;
        }
        let weight = found.rule.weight.map(|weight| sentence.weight(found, weight));
        if weight.is_some_and(|weight| weight < weighing::ENOUGH) {
            self.dropped.add(id, Reason::Unsure);
            return false;
        }
        match sentence.facts(found) {
            Err(reason) => {
                self.dropped.add(id, reason);
                false
            }
            Ok(facts) => {
                let own = if found.rule.is_beside { 0..0 } else { found.slots.own.clone() };
                taken.iter_mut().take(own.end).skip(own.start).for_each(|taken| *taken = true);
                for mut fact in facts {
                    let is_plain = sentence.is_plain(found, &fact);
                    if let Some(weight) = weight {
                        let confidence = weighing::confidence(weight);
                        let measured = &sentence.rules.measured;
                        fact.confidence = match self.is_weighed {
                            true if measured.is_empty() => {
                                Confidence::new(confidence.get() - weighing::UNMEASURED)
                            }
                            true => measured.weighed(id, is_plain, confidence),
                            false => confidence,
                        };
                        self.keep_weighed(fact);
                        continue;
                    }
                    if self.is_weighed {
                        fact.confidence = sentence.rules.measured.weighed(id, is_plain, fact.confidence);
                    } else if is_plain {
                        fact.rule = calibration::plain(&fact.rule);
                    }
                    let corrections = sentence.corrections(found, &fact);
                    self.keep(fact);
                    for correction in corrections {
                        if self.disabled.contains(correction.rule.as_str()) {
                            self.dropped.add(correction.rule.as_str(), Reason::Disabled);
                        } else {
                            self.keep(correction);
                        }
                    }
                }
                true
            }
        }
    }

    /// Keeps a weighed claim, unless a rule that needs no weight is sure of one of its kind in the sentence; where one is unsure of
    /// the same, the weight makes it sure.
    fn keep_weighed(&mut self, fact: ExtractedFact) {
        let stated = self.facts.get_mut(self.stated.clone()).into_iter().flatten();
        let mut like = stated.filter(|other| {
            other.predicate == fact.predicate && other.subject == fact.subject && other.act == fact.act
        });
        match like.find(|other| other.object.key == fact.object.key || other.confidence >= Confidence::ACTIVE)
        {
            Some(other) => {
                if other.object.key == fact.object.key && other.confidence < fact.confidence {
                    other.confidence = fact.confidence;
                }
            }
            None => self.keep(fact),
        }
    }

    fn keep(&mut self, fact: ExtractedFact) {
        let topic = fact.object.topic.as_deref().unwrap_or_default();
        let what = format!("{} {} {topic} {}", fact.predicate.as_str(), fact.act.as_str(), fact.object.key);
        if fact.confidence < Confidence::CANDIDATE {
            self.dropped.add(fact.rule.as_str(), Reason::Unsure);
        } else if self.known.insert((fact.subject.clone(), what, String::new())) {
            self.facts.push(fact);
        } else {
            self.dropped.add(fact.rule.as_str(), Reason::Repeated);
        }
    }
}
