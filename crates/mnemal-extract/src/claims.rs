//! Claims: what the clauses of a text assert of the speaker and of those who belong to the speaker.

pub(crate) mod hints;
pub(crate) mod kinds;
pub(crate) mod measured;
pub(crate) mod objects;
pub(crate) mod pattern;
mod planned;
pub(crate) mod remark;
pub(crate) mod rules;
pub(crate) mod score;
pub(crate) mod subjects;

#[cfg(test)]
mod examples;

use std::collections::HashSet;
use std::ops::Range;

use mnemal_core::{Act, Confidence, EntityKind, ExtractedFact, Object, Span, Subject, When};

use crate::claims::hints::Hints;
use crate::claims::objects::{Cut, Cutter, key};
use crate::claims::pattern::Slots;
use crate::claims::remark::{Dropped, Reason};
use crate::claims::rules::{Kind, Rule, Rules, TopicOf, Whom};
use crate::claims::subjects::{Found, How, Memory};
use crate::clause::{Break, Reading};
use crate::gates::{self, Gates};

/// Words between a subject and its cue: "have also just recently". Source: own choice.
const LONGEST_SKIP: usize = 6;
/// Words of a habit up to its frequency. Source: own choice.
const LONGEST_HABIT: usize = 14;
/// Words between a frequency and the subject behind it. Source: own choice.
const LONGEST_LEAD: usize = 1;
/// Words of a greeting: "hi there, good morning". Source: own choice.
const LONGEST_GREETING: usize = 4;
/// Gates that no claim passes.
/// What is presupposed passes the first two.
const CLOSED: [Gates; 6] =
    [Gates::IMPERATIVE, Gates::HYPOTHETICAL, Gates::QUESTION, Gates::SARCASM, Gates::QUOTED, Gates::FICTION];

/// Reads the claims of the sentences of one text, in order.
#[derive(Debug)]
pub(crate) struct Claims<'d> {
    /// Rules that are switched off.
    disabled: &'d HashSet<String>,
    /// Scores are corrected by what was measured of the rules.
    is_weighed: bool,
    memory: Memory,
    known: HashSet<(Subject, String, String)>,
    /// What was found.
    pub(crate) facts: Vec<ExtractedFact>,
    /// What was not.
    pub(crate) dropped: Dropped,
}

/// One sentence and all that is known of it.
struct Sentence<'s, 't> {
    reading: &'s Reading<'t>,
    rules: &'s Rules,
    hints: &'s Hints<'s>,
}

/// A pattern that stands in a sentence.
struct Match<'s> {
    rule: &'s Rule,
    slots: Slots,
    subject: Subject,
    how: How,
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
            facts: Vec::new(),
            dropped: Dropped::default(),
        }
    }

    /// Leaves the scores as the rules give them.
    pub(crate) fn unweighed(self) -> Self {
        Self { is_weighed: false, ..self }
    }

    /// Reads a sentence.
    pub(crate) fn read(&mut self, reading: &Reading<'_>, rules: &Rules, hints: &Hints<'_>) {
        let sentence = Sentence { reading, rules, hints };
        let subjects = self.memory.subjects(reading, &rules.subjects, hints);
        let mut taken = vec![false; reading.words.len()];
        for subject in sentence.with_unsaid(&subjects) {
            self.behind(&sentence, &subject, &mut taken);
        }
        for at in 0..reading.words.len() {
            if taken.get(at) == Some(&false) {
                self.shapes(&sentence, at, &mut taken);
            }
        }
    }

    /// Looks for the cue behind a subject, passing over adverbs and auxiliary verbs.
    fn behind(&mut self, sentence: &Sentence<'_, '_>, subject: &Found, taken: &mut [bool]) {
        let (reading, rules) = (sentence.reading, sentence.rules);
        let mut at = subject.words.end;
        for _ in 0..=LONGEST_SKIP {
            let Some(word) = reading.words.get(at) else { return };
            if taken.get(at) == Some(&true) {
                return;
            }
            let mut is_found = false;
            for (number, place) in rules.behind_subject.at(&word.lower, rules) {
                let Some(rule) = rules.all.get(number) else { continue };
                if subject.how == How::Unsaid && !rule.is_bare || is_found && !rule.is_beside {
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
            let passes = rules.subjects.skip.contains(&*word.lower) || sentence.time_word(at);
            let most = if subject.words.is_empty() { Break::None } else { Break::Comma };
            if !passes || reading.break_at(at + 1) > most {
                return;
            }
            at += 1;
        }
    }

    /// Looks for the shapes that stand at a word.
    fn shapes(&mut self, sentence: &Sentence<'_, '_>, at: usize, taken: &mut [bool]) {
        let (reading, rules) = (sentence.reading, sentence.rules);
        let Some(word) = reading.words.get(at) else { return };
        let mut places = rules.anywhere.at(&word.lower, rules);
        if sentence.opens(at) {
            places.extend(&rules.anywhere.opening);
            places.sort_unstable();
        }
        for (number, place) in places {
            let Some((rule, pattern)) =
                rules.all.get(number).and_then(|rule| Some((rule, rule.shapes.get(place)?)))
            else {
                continue;
            };
            if pattern.is_start && !sentence.begins(at) {
                continue;
            }
            let Some(slots) = pattern.at(reading, rules, at) else { continue };
            if pattern.is_opening && sentence.is_clause(&slots) {
                continue;
            }
            let is_group = slots.subject.is_some_and(|at| rules.subjects.is_group(reading, at));
            let how = if is_group { How::Group } else { How::Speaker };
            let found = Match { rule, slots, subject: Subject::Speaker, how, said: at..at };
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
        match sentence.facts(found) {
            Err(reason) => {
                self.dropped.add(id, reason);
                false
            }
            Ok(facts) => {
                let own = if found.rule.is_beside { 0..0 } else { found.slots.own.clone() };
                taken.iter_mut().take(own.end).skip(own.start).for_each(|taken| *taken = true);
                for mut fact in facts {
                    if self.is_weighed {
                        fact.confidence = sentence.rules.measured.weighed(id, fact.confidence);
                    }
                    self.keep(fact);
                }
                true
            }
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

impl Sentence<'_, '_> {
    /// Adds the subjects that are understood: of a second verb, and of a sentence that begins with a verb.
    fn with_unsaid(&self, found: &[Found]) -> Vec<Found> {
        let (reading, rules) = (self.reading, self.rules);
        let mut all = Vec::new();
        let joins = |at: usize| {
            let is_joiner = reading.words.get(at).is_some_and(|word| rules.objects.joins(&word.lower));
            is_joiner || reading.break_at(at) == Break::Terminator
        };
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
                    all.push(Found {
                        words: behind..behind,
                        subject: subject.subject.clone(),
                        how: subject.how,
                    });
                }
            }
        }
        let first = (0..reading.words.len()).find(|at| {
            reading.words.get(*at).is_some_and(|word| !rules.subjects.lead.contains(&*word.lower))
        });
        if let Some(at) = first
            && !found.iter().any(|found| found.words.start <= at)
            && reading.words.get(at).is_some_and(|word| {
                rules.subjects.unsaid.contains(&*word.lower)
                    || rules.class("past").is_some_and(|class| class.has(&word.lower))
            })
        {
            all.push(Found { words: at..at, subject: Subject::Speaker, how: How::Unsaid });
        }
        all
    }

    fn begins(&self, at: usize) -> bool {
        let mut at = at;
        while !self.reading.starts_clause(at) {
            let Some(before) = at.checked_sub(1) else { return true };
            let is_lead = self.reading.words.get(before).is_some_and(|word| {
                self.rules.subjects.lead.contains(&*word.lower) || self.rules.objects.joins(&word.lower)
            });
            if !is_lead {
                return false;
            }
            at = before;
        }
        true
    }

    /// Says whether nothing but a greeting stands before a word.
    fn opens(&self, at: usize) -> bool {
        let greets = |word: &crate::word::Word<'_>| {
            self.rules.class("greeting").is_some_and(|class| class.has(&word.lower))
        };
        at <= LONGEST_GREETING && self.reading.words.iter().take(at).all(greets)
    }

    /// Says whether a subject or a verb stands among the words of an opening, which is none then: "Nurse at Selly Oak".
    fn is_clause(&self, slots: &Slots) -> bool {
        let class = self.rules.class("clausal");
        let own = &slots.own;
        let opening = match &slots.object {
            Some(object) if object.start == own.start => object.clone(),
            Some(object) => own.start..object.start,
            None => own.clone(),
        };
        let words = self.reading.words.get(opening).unwrap_or_default();
        words.iter().any(|word| class.is_some_and(|class| class.has(&word.lower)))
    }

    fn time_word(&self, at: usize) -> bool {
        self.hints.time_at(self.reading, at).is_some()
    }

    fn facts(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let rule = found.rule;
        let is_other = !matches!(found.subject, Subject::Speaker);
        if rule.whom == Whom::Me && is_other || rule.whom == Whom::Others && !is_other {
            return Err(Reason::WrongSubject);
        }
        let between = self.reading.words.get(found.said.end..found.slots.own.start).unwrap_or_default();
        let has = |of: &gates::pack::Words| between.iter().any(|word| of.contains(&*word.lower));
        if has(&rule.not_after) || !rule.after.is_empty() && !has(&rule.after) {
            return Err(Reason::Rejected);
        }
        if rule.is_swapped {
            return self.swapped(found);
        }
        if rule.is_before {
            return self.before(found);
        }
        if rule.is_noun {
            return self.event_ahead(found);
        }
        if rule.is_dated && !self.is_planned(found) {
            return Err(Reason::WrongKind);
        }
        let range = found.slots.object.clone().unwrap_or(found.slots.own.clone());
        let cutter = Cutter { reading: self.reading, rules: self.rules, rule, hints: self.hints };
        if rule.is_frequent {
            return self.frequent(found, &cutter);
        }
        let cuts = match found.slots.object {
            Some(_) => cutter.objects(range)?,
            None if cutter.rejects(&range) => return Err(Reason::Rejected),
            None => vec![cutter.own(range)],
        };
        let is_cut_short = |slot: &Range<usize>| cuts.last().is_some_and(|cut| cut.words.end < slot.end);
        let is_inner = |slot: &&Range<usize>| matches!(rule.kind, Kind::Name | Kind::Place) && slot.end <= found.slots.own.end;
        let must_fill = rule.with_tail || found.slots.object.iter().any(|slot| is_inner(&slot));
        if must_fill && found.slots.object.as_ref().is_some_and(is_cut_short) {
            return Err(Reason::WrongKind);
        }
        let end = cuts.last().map_or(found.slots.own.end, |cut| cut.words.end.max(found.slots.own.end));
        let act = self.act(found, found.said.start..end)?;
        let time = self.time(found.said.start.min(found.slots.own.start), end, act);
        Ok(cuts.iter().map(|cut| self.fact(found, cut, act, time)).collect())
    }

    /// What is done how often: "I run in the park every morning", "On Sundays we visit my aunt".
    fn frequent(&self, found: &Match<'_>, cutter: &Cutter<'_, '_>) -> Result<Vec<ExtractedFact>, Reason> {
        let own = &found.slots.own;
        if !self.is_verb(found) {
            return Err(Reason::WrongKind);
        }
        let stands = |at: usize| {
            let mut end = None;
            self.rules
                .frequency
                .find_at(&self.reading.words, at, |(), places| end = end.max(Some(places.end)));
            end.map(|end| at..end)
        };
        let last = self.reading.next_break(own.end, Break::Start).min(own.start + LONGEST_HABIT);
        let (cut, tail) = if let Some(behind) = (own.end..last).find_map(stands) {
            let mut end = behind.end;
            while end < last
                && let Some(more) = stands(end)
            {
                end = more.end;
            }
            (cutter.checked(own.start..behind.start, own.start..end)?, None)
        } else {
            let first = self.reading.last_break(found.said.start.saturating_sub(1), Break::Strong);
            let before = (first..found.said.start).filter_map(stands).find(|places| {
                places.end <= found.said.start && found.said.start <= places.end + LONGEST_LEAD
            });
            let tail = before.ok_or(Reason::WrongKind)?;
            let end = self.reading.next_break(own.end, Break::Start);
            (cutter.objects(own.start..end)?.swap_remove(0), Some(tail))
        };
        let act = self.act(found, found.said.start..cut.words.end.max(own.end))?;
        let slots = Slots { tail, ..found.slots.clone() };
        let of_habit = Match { slots, subject: found.subject.clone(), said: found.said.clone(), ..*found };
        Ok(vec![self.fact(&of_habit, &cut, act, None)])
    }

    /// Says whether the first word of a pattern has the form that a verb has behind its subject; where that is not said
    /// again, only verbs that are known count.
    fn is_verb(&self, found: &Match<'_>) -> bool {
        let word = |at: usize| self.reading.words.get(at).map_or("", |word| &*word.lower);
        let verb = word(found.slots.own.start);
        let is_plural = found.said.clone().last().is_some_and(|at| word(at).ends_with('s'));
        match found.how {
            _ if found.said.is_empty() => self.rules.class("base").is_some_and(|class| class.has(verb)),
            How::Relation | How::Named | How::Pronoun => is_plural || verb.ends_with('s'),
            How::Speaker | How::Group | How::Unsaid => true,
        }
    }

    /// "Emil is my son": the subject is what is told of the speaker.
    fn swapped(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let Subject::Named(_) = &found.subject else { return Err(Reason::WrongSubject) };
        let words = found.said.start..found.slots.own.end;
        let act = self.act(found, words)?;
        let cutter = Cutter { reading: self.reading, rules: self.rules, rule: found.rule, hints: self.hints };
        let cut = cutter.own(found.said.clone());
        let of_speaker = Match {
            subject: Subject::Speaker,
            slots: found.slots.clone(),
            said: found.said.clone(),
            ..*found
        };
        let mut fact = self.fact(&of_speaker, &cut, act, None);
        if let (How::Pronoun, Subject::Named(name)) = (found.how, &found.subject) {
            fact.object.text.clone_from(name);
            fact.object.key = key(name, true, self.rules.code);
            fact.object.kind = Some(EntityKind::Person);
        }
        Ok(vec![fact])
    }

    /// "Zainab, my co-founder".
    fn before(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let own = &found.slots.own;
        if found.rule.kind == Kind::Phrase {
            return self.phrase_before(found);
        }
        if self.reading.break_at(own.start) == Break::None {
            return self.name_before(found);
        }
        let name = (1..=3).filter_map(|count| own.start.checked_sub(count)).find_map(|start| {
            let (end, mention) = self.hints.mention_at(self.reading, start)?;
            (end == own.start && subjects::is_person(mention.kind)).then_some(start..end)
        });
        let name = name.ok_or(Reason::WrongKind)?;
        if found.rule.is_last && !self.is_apposed(own.end) {
            return Err(Reason::WrongKind);
        }
        let act = self.act(found, name.start..own.end)?;
        let cutter = Cutter { reading: self.reading, rules: self.rules, rule: found.rule, hints: self.hints };
        Ok(vec![self.fact(found, &cutter.own(name), act, None)])
    }

    /// Says whether an apposition may end before a word: "Ivo, my crewmate from the old days", not "the Vespa, my doctor says".
    fn is_apposed(&self, at: usize) -> bool {
        let of = |at: usize| self.reading.words.get(at).is_none_or(|word| self.rules.objects.may_follow(&word.lower));
        self.reading.break_at(at) > Break::None || of(at)
    }

    /// "Huiling is my director": a word with a capital that is no common word.
    fn name_before(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let own = &found.slots.own;
        let is_verb = self
            .reading
            .words
            .get(own.start)
            .is_some_and(|word| self.rules.subjects.skip.contains(&*word.lower));
        let is_name = |at: &usize| {
            self.reading.words.get(*at).is_some_and(|word| {
                word.is_capitalised(self.reading.text)
                    && !mnemal_text::is_stop_word(objects::language(self.rules.code), &word.lower)
                    && !self.rules.subjects.lead.contains(&*word.lower)
            })
        };
        let count = (0..own.start).rev().take(2).take_while(is_name).count();
        if !is_verb || count == 0 {
            return Err(Reason::WrongKind);
        }
        let name = own.start - count..own.start;
        let act = self.act(found, name.start..own.end)?;
        let cutter = Cutter { reading: self.reading, rules: self.rules, rule: found.rule, hints: self.hints };
        Ok(vec![self.fact(found, &cutter.own(name), act, None)])
    }

    /// "Painting with my kids is my escape".
    fn phrase_before(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let own = &found.slots.own;
        let start = self.reading.clause_at(own.start.saturating_sub(1));
        let cutter = Cutter { reading: self.reading, rules: self.rules, rule: found.rule, hints: self.hints };
        let cuts = cutter.objects(start..own.start)?;
        let is_whole = cuts.last().is_some_and(|cut| cut.words.end == own.start);
        if !is_whole {
            return Err(Reason::WrongKind);
        }
        let act = self.act(found, start..own.end)?;
        Ok(cuts.iter().map(|cut| self.fact(found, cut, act, None)).collect())
    }

    /// Weighs the gates that hold over the words of a claim.
    fn act(&self, found: &Match<'_>, words: Range<usize>) -> Result<Act, Reason> {
        let rule = found.rule;
        let mut gates = Gates::NONE;
        let is_in_subject = |cue: &Range<usize>| {
            !cue.is_empty() && found.said.start <= cue.start && cue.end <= found.said.end
        };
        let is_not =
            |at: usize| rule.keeps_not && self.reading.words.get(at).is_some_and(|word| word.lower == "not");
        let own = found.slots.own.start..found.slots.own.end + usize::from(is_not(found.slots.own.end));
        let own = if rule.is_strict { 0..0 } else { own };
        let over = self.reading.marks_over(words.clone(), &own);
        let ends: Vec<_> = over.filter(|mark| !is_in_subject(&mark.cue)).collect();
        let end_cues: Vec<Range<usize>> =
            ends.iter().filter(|mark| mark.gate == Gates::END).map(|mark| mark.cue.clone()).collect();
        for mark in ends {
            let is_of_end = mark.gate == Gates::NEGATION
                && end_cues.iter().any(|end| end.start <= mark.cue.start && mark.cue.end <= end.end);
            if !is_of_end {
                gates |= mark.gate;
            }
        }
        let closed = if rule.is_presupposed { CLOSED.get(2..) } else { CLOSED.get(..) };
        let closed = closed.into_iter().flatten().copied();
        if let Some(closed) = closed.clone().find(|closed| gates.intersects(*closed)) {
            return Err(Reason::gate(closed));
        }
        if gates.intersects(Gates::REPORTED) {
            return Err(Reason::gate(Gates::REPORTED));
        }
        if gates.intersects(Gates::OBLIGATION) && rule.act != Act::Plan && !rule.is_presupposed {
            return Err(Reason::gate(Gates::OBLIGATION));
        }
        if rule.is_presupposed {
            return Ok(rule.act);
        }
        let is_negated = gates.intersects(Gates::NEGATION);
        if gates.intersects(Gates::END | Gates::PAST_HABIT) && rule.act != Act::End {
            let may_end = rule.ends && rule.act == Act::Assert && !is_negated;
            return if may_end { Ok(Act::End) } else { Err(Reason::gate(Gates::END)) };
        }
        match (is_negated, rule.negative, rule.act) {
            (true, true, Act::Assert) => Ok(Act::Negative),
            (true, ..) => Err(Reason::gate(Gates::NEGATION)),
            (false, _, Act::Assert) if self.is_late(found) => Ok(Act::End),
            (false, _, act) => Ok(act),
        }
    }

    /// Returns the time behind the object, else the nearest before it in its clause, else the next.
    fn time(&self, start: usize, end: usize, act: Act) -> Option<When> {
        let of = |at: usize| {
            let time = self.hints.time_at(self.reading, at)?;
            if act == Act::Plan { time.future.or(time.past) } else { time.past }
        };
        let comma = self.reading.next_break(end, Break::Comma);
        let (from, to) = (self.reading.clause_at(start), self.reading.next_break(end, Break::Start));
        (start..comma)
            .find_map(of)
            .or_else(|| (from..start).rev().find_map(of))
            .or_else(|| (comma..to).find_map(of))
    }

    fn fact(&self, found: &Match<'_>, cut: &Cut, act: Act, time: Option<When>) -> ExtractedFact {
        let rule = found.rule;
        let start = if rule.with_verb { found.slots.own.start.min(cut.words.start) } else { cut.words.start };
        let words =
            start..if rule.with_tail { found.slots.own.end.max(cut.words.end) } else { cut.words.end };
        let bytes = self.closed(self.reading.bytes(&words));
        let text = self.reading.text.get(bytes.clone()).unwrap_or_default();
        let tail = found.slots.tail.as_ref().and_then(|tail| self.reading.text.get(self.reading.bytes(tail)));
        let text = &tail.map_or_else(|| text.to_owned(), |tail| format!("{text} {}", tail.to_lowercase()));
        let is_name = matches!(rule.kind, Kind::Name | Kind::Place);
        let kind = self.hints.kind_of(&bytes).or(match rule.kind {
            Kind::Place => Some(EntityKind::Location),
            Kind::Name => Some(EntityKind::Person),
            _ => None,
        });
        let clause = found.said.start.min(found.slots.own.start)..words.end;
        let confidence = score::confidence(
            self.reading,
            self.rules,
            self.hints,
            &score::Case {
                rule,
                how: found.how,
                act,
                cut,
                words: &clause,
                bytes: &bytes,
                is_dated: time.is_some(),
            },
        );
        ExtractedFact {
            rule: rule.id.clone(),
            predicate: rule.predicate.clone(),
            subject: found.subject.clone(),
            object: Object {
                text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                key: key(text, is_name || kind.is_some(), self.rules.code),
                kind,
                topic: self.topic(found, cut),
                span: self.span(&bytes),
            },
            act,
            attributed_to: None,
            time,
            confidence,
            span: self.span(&self.reading.bytes(&clause)),
            sentence: self.span(&(0..self.reading.text.len())),
        }
    }

    /// Takes signs into the object that belong to a name: "C++", "@nele".
    fn closed(&self, bytes: Range<usize>) -> Range<usize> {
        let rest = self.reading.text.get(bytes.end..).unwrap_or_default();
        let more: usize = rest.chars().take_while(|c| matches!(c, '+' | '#')).map(char::len_utf8).sum();
        let is_handle = self.reading.text.get(..bytes.start).is_some_and(|before| before.ends_with('@'));
        let is_alone = is_handle && !self.reading.text.get(..bytes.start).is_some_and(is_mail);
        bytes.start - usize::from(is_alone)..bytes.end + more
    }

    fn topic(&self, found: &Match<'_>, cut: &Cut) -> Option<String> {
        let rule = found.rule;
        if let Some(topic) = &rule.topic {
            return Some(topic.to_string());
        }
        if let Some(words) = &found.slots.topic {
            return self.reading.text.get(self.reading.bytes(words)).map(str::to_lowercase);
        }
        match rule.topic_of? {
            TopicOf::Role => {
                let last = found.slots.own.end.saturating_sub(1);
                let said = || self.rules.subjects.role_of(self.reading, last).map(|(role, _)| role.to_owned());
                found.slots.role.as_deref().map(str::to_owned).or_else(said)
            }
            TopicOf::Head => {
                let known =
                    self.rules.subjects.role_of(self.reading, cut.head).map(|(role, _)| role.to_owned());
                known.or_else(|| self.reading.words.get(cut.head).map(|word| word.lower.to_string()))
            }
        }
    }

    fn span(&self, bytes: &Range<usize>) -> Span {
        let at = |place: usize| u32::try_from(self.hints.base + place).unwrap_or(u32::MAX);
        Span { start: at(bytes.start), end: at(bytes.end) }
    }
}

/// Says whether a text ends with the first half of an address and its sign.
fn is_mail(before: &str) -> bool {
    before.strip_suffix('@').is_some_and(|name| name.ends_with(char::is_alphanumeric))
}
