//! Conversion of a matched pattern into a claim.

use std::ops::Range;

use mnemal_core::{Act, EntityKind, ExtractedFact, Object, Span, Subject, When};

use super::{Match, Sentence};
use crate::claims::hints::TimeSpan;
use crate::claims::objects::{Cut, Cutter, key};
use crate::claims::pattern::Slots;
use crate::claims::remark::Reason;
use crate::claims::rule::{Kind, Rule, SubjectScope, TopicOf};
use crate::claims::score;
use crate::claims::subjects::{SubjectForm, is_person};
use crate::clause::Break;
use crate::gates::pack::Words;
use crate::names::is_everyday_word;

/// Digits of the shortest telephone number. Source: own choice; that of the kind `contact` too.
const SHORTEST_NUMBER: usize = 5;
/// Words of a possession before its verb: "Anna's old maths teacher is". Source: own choice.
const LONGEST_OWNED: usize = 3;

impl<'t> Sentence<'_, 't> {
    /// Returns the claims of a match, or the reason for having none.
    pub(super) fn facts(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let rule = found.rule;
        let is_other = !matches!(found.subject, Subject::Speaker);
        if rule.whom == SubjectScope::Me && is_other || rule.whom == SubjectScope::Others && !is_other {
            return Err(Reason::WrongSubject);
        }
        // "We can build a community": what a group can do is no skill of the speaker.
        if found.how == SubjectForm::Group && rule.predicate.as_str() == "skill" {
            return Err(Reason::WrongSubject);
        }
        // "I have two cats, called Miso and Tofu": what is named stands before the clause.
        let is_told_before = found.said.is_empty() && rule.predicate.as_str() == "name";
        let from = if is_told_before { 0 } else { found.said.end };
        let between = self.reading.words.get(from..found.slots.own.start).unwrap_or_default();
        let has = |of: &Words| between.iter().any(|word| of.holds(word));
        if has(&rule.not_after) || !rule.after.is_empty() && !has(&rule.after) {
            return Err(Reason::Rejected);
        }
        if self.is_of_owned(found) || is_named_anew(found) {
            return Err(Reason::WrongSubject);
        }
        if rule.is_swapped {
            return self.swapped(found);
        }
        if rule.is_before {
            return self.before(found);
        }
        if rule.is_event {
            return self.event_ahead(found);
        }
        if rule.is_dated && !self.is_planned(found) || self.is_elsewhere(found) {
            return Err(Reason::WrongKind);
        }
        let range = found.slots.object.clone().unwrap_or(found.slots.own.clone());
        let cutter = self.cutter(rule);
        if rule.is_frequent {
            return self.frequent(found, &cutter);
        }
        let cuts = match found.slots.object {
            Some(_) => cutter.objects(range)?,
            None if cutter.rejects(&range) => return Err(Reason::Rejected),
            None => vec![cutter.own(range)],
        };
        if cuts.iter().any(|cut| self.names_nobody(rule, cut) || self.is_bare_measure(rule, cut)) {
            return Err(Reason::WrongKind);
        }
        let cuts: Vec<Cut> = cuts.into_iter().map(|cut| self.with_company(rule, cut)).collect();
        let is_cut_short = |slot: &Range<usize>| cuts.last().is_some_and(|cut| cut.words.end < slot.end);
        let is_inner = |slot: &&Range<usize>| {
            matches!(rule.kind, Kind::Name | Kind::Place) && slot.end <= found.slots.own.end
        };
        let must_fill = rule.with_tail || found.slots.object.iter().any(|slot| is_inner(&slot));
        if must_fill && found.slots.object.as_ref().is_some_and(is_cut_short) {
            return Err(Reason::WrongKind);
        }
        let end = cuts.last().map_or(found.slots.own.end, |cut| cut.words.end.max(found.slots.own.end));
        let act = self.act(found, found.said.start..end)?;
        let time = self.time(rule, found.said.start.min(found.slots.own.start)..end, act);
        if is_open_visit(rule, time) || self.is_birth(found) || self.is_once(found, end) {
            return Err(Reason::WrongKind);
        }
        Ok(cuts.iter().map(|cut| self.fact(found, cut, act, time)).collect())
    }

    /// "Anna's teacher is Bruno": the sign of an owner, with a verb behind what is owned, is no "is".
    fn is_of_owned(&self, found: &Match<'_>) -> bool {
        let at = found.slots.own.start;
        if found.how == SubjectForm::Speaker
            || found.rule.is_of_owner
            || !self.reading.has(at, &self.rules.subjects.genitive)
        {
            return false;
        }
        let end = self.reading.next_break(at + 1, Break::Comma).min(at + 2 + LONGEST_OWNED);
        self.reading.is_glued(at) && (at + 2..end).any(|at| self.is_finite(at))
    }

    /// A verb that needs a subject before it: "is", "has".
    fn is_finite(&self, at: usize) -> bool {
        self.reading.has(at, &self.rules.objects.copulas)
            || self.rules.is_of("finite", self.reading.lower(at))
    }

    /// Returns whether what looks like the speaker's name is none: it owns what follows it ("I'm Maria's brother"), begins
    /// a title ("I am Legend is a film"), or is a word of everyday language ("I'm Tired").
    fn names_nobody(&self, rule: &Rule, cut: &Cut) -> bool {
        if rule.predicate.as_str() != "name" || rule.kind != Kind::Name {
            return false;
        }
        let end = cut.words.end;
        let is_owner = self.reading.has(end, &self.rules.subjects.genitive) && self.reading.is_glued(end);
        let goes_on = self.reading.break_at(end) == Break::None && self.is_finite(end);
        let is_word =
            self.rules.code == "en" && cut.words.clone().all(|at| is_everyday_word(self.reading.lower(at)));
        is_owner || !rule.is_explicit && (goes_on || is_word)
    }

    /// "I measured 17 minutes": a number without its measure means nothing.
    fn is_bare_measure(&self, rule: &Rule, cut: &Cut) -> bool {
        let is_number =
            |at: usize| self.reading.lower(at).starts_with(|c: char| c.is_ascii_digit()) || self.is_count(at);
        rule.with_verb && !cut.words.is_empty() && cut.words.clone().all(is_number)
    }

    fn is_count(&self, at: usize) -> bool {
        self.reading.has(at, &self.rules.objects.numbers)
    }

    /// "I met Selma and Ruth": a name that is joined to the one with which a deed ends belongs to it.
    fn with_company(&self, rule: &Rule, cut: Cut) -> Cut {
        let end = cut.words.end;
        let joins = rule.with_verb && self.rules.objects.joins(self.reading.lower(end));
        let ends_with_name = || {
            cut.words.clone().any(|at| {
                let mention = self.hints.mention_at(self.reading, at);
                mention.is_some_and(|(behind, _)| behind == end)
            })
        };
        match self.hints.mention_at(self.reading, end + 1) {
            Some((behind, mention)) if joins && is_person(mention.kind) && ends_with_name() => {
                Cut { words: cut.words.start..behind, ..cut }
            }
            _ => cut,
        }
    }

    /// Whether someone returned to something that is not known to be a place: to work there again is no visit.
    fn is_elsewhere(&self, found: &Match<'_>) -> bool {
        let (own, object) = (&found.slots.own, found.slots.object.as_ref());
        let Some(object) = object.filter(|_| found.rule.predicate.as_str() == "visited") else {
            return false;
        };
        let returns = (own.start..object.start).any(|at| self.rules.is_of("return", self.reading.lower(at)));
        let comes_from =
            object.start.checked_sub(1).is_some_and(|at| self.rules.is_of("origin", self.reading.lower(at)));
        returns
            && !comes_from
            && self.hints.kind_of(&self.reading.bytes(object)) != Some(EntityKind::Location)
    }

    /// Whether a due event is a birth, which is no deadline.
    fn is_birth(&self, found: &Match<'_>) -> bool {
        let is_child = |at: usize| self.rules.is_of("newborn", self.reading.lower(at));
        let clause = self.reading.clause_at(found.slots.own.start)..found.slots.own.end;
        found.rule.predicate.as_str() == "deadline"
            && found.slots.topic.clone().into_iter().chain([clause]).flatten().any(is_child)
    }

    /// Whether a habit has a day of its own: "a tasting on 9 April at six".
    fn is_once(&self, found: &Match<'_>, end: usize) -> bool {
        let has_day = |at: usize| self.hints.time_at(self.reading, at).is_some_and(TimeSpan::has_day);
        found.rule.predicate.as_str() == "habit"
            && !found.rule.act.is_of_past()
            && (found.slots.own.start..end).any(has_day)
    }

    /// Returns the object cutter of a rule for this sentence.
    pub(super) fn cutter<'c>(&'c self, rule: &'c Rule) -> Cutter<'c, 't> {
        Cutter { reading: self.reading, rules: self.rules, rule, hints: self.hints }
    }

    /// Returns the time after the object, else the nearest before it in its clause, else the next. An ambiguous date is
    /// resolved to the past, for plans and deadlines to the future. A name in passing has no time: in "My sister Ida moved in
    /// March" the date belongs to the move.
    pub(super) fn time(&self, rule: &Rule, words: Range<usize>, act: Act) -> Option<When> {
        let Range { start, end } = words;
        if rule.names_in_passing() || rule.is_kinship() && act == Act::Assert {
            return None;
        }
        let is_ahead = act == Act::Plan || rule.predicate.as_str() == "deadline";
        let of = |at: usize| {
            let time = self.hints.time_at(self.reading, at)?;
            if is_ahead {
                time.future.or(time.past)
            } else if rule.predicate.as_str() == "birthday" {
                time.past.or(time.future)
            } else {
                time.past
            }
        };
        let comma = self.reading.next_break(end, Break::Comma);
        let (from, to) = (self.reading.clause_at(start), self.reading.next_break(end, Break::Start));
        (start..comma)
            .find_map(of)
            .or_else(|| of(comma).filter(|_| self.is_unsigned(comma)))
            .or_else(|| (from..start).rev().find_map(of))
            .or_else(|| self.fronted(from).find_map(of))
            .or_else(|| (comma..to).find_map(of))
    }

    /// Whether no sign precedes a word: "until the end of May" begins no clause of its own.
    fn is_unsigned(&self, at: usize) -> bool {
        self.reading.between(at).is_some_and(|between| between.trim().is_empty())
    }

    /// Returns the words of a time before the comma with which a clause begins: "From 2010 to 2013, I lived in Lyon".
    fn fronted(&self, clause: usize) -> Range<usize> {
        let Some(last) = clause
            .checked_sub(1)
            .filter(|_| matches!(self.reading.break_at(clause), Break::Comma | Break::Start))
        else {
            return 0..0;
        };
        let words = self.reading.last_break(last, Break::Comma)..clause;
        let leads = |at: usize| self.rules.subjects.lead.contains(self.reading.lower(at));
        let is_fronted = words.clone().all(|at| self.is_time(at) || leads(at));
        if is_fronted { words } else { 0..0 }
    }

    /// Returns where an object with its verb begins; forms of "be" in front of it say nothing.
    fn verb_at(&self, found: &Match<'_>, cut: &Cut) -> usize {
        let start = found.slots.own.start.min(cut.words.start);
        let is_copula = |at: &usize| self.reading.has(*at, &self.rules.objects.copulas);
        start + (start..cut.words.start).take_while(is_copula).count()
    }

    /// Makes the claim of one object.
    pub(super) fn fact(&self, found: &Match<'_>, cut: &Cut, act: Act, time: Option<When>) -> ExtractedFact {
        let rule = found.rule;
        let start = if rule.with_verb { self.verb_at(found, cut) } else { cut.words.start };
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
            _ if self.is_relative(rule, &cut.words) => Some(EntityKind::Person),
            _ => None,
        });
        let clause = found.said.start.min(found.slots.own.start)..words.end;
        let confidence = score::confidence(
            self.reading,
            self.rules,
            self.hints,
            &score::ClaimFeatures {
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
                topic: contact(rule, text).map(str::to_owned).or_else(|| self.topic(found, cut)),
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

    /// Returns the bytes of the "'s" with which a name ends where nothing follows that would be owned: "I work at Lloyd's."
    fn own_s(&self, bytes: &Range<usize>, rest: &str) -> usize {
        let last = self.reading.text.get(bytes.clone()).and_then(|text| text.rsplit(' ').next());
        let is_name = last.and_then(|last| last.chars().next()).is_some_and(char::is_uppercase);
        let ending = ["'s", "\u{2019}s"].into_iter().find(|ending| rest.starts_with(ending));
        let behind = |ending: &str| rest.get(ending.len()..).and_then(|behind| behind.chars().next());
        let is_apart =
            |ending: &&str| behind(ending).is_none_or(|sign| !sign.is_alphanumeric() && sign != ' ');
        ending.filter(is_apart).filter(|_| is_name && self.rules.code == "en").map_or(0, str::len)
    }

    /// Whether the object is who has the role that the rule names, in a script that shows no names: "我姐姐小雨".
    fn is_relative(&self, rule: &Rule, words: &Range<usize>) -> bool {
        let is_said = rule.topic.is_some() || matches!(rule.topic_of, Some(TopicOf::Role));
        let is_role = |at: usize| self.rules.subjects.role_of(self.reading, at).is_some();
        // A title follows the name there: 周医生.
        let is_titled = || rule.is_strict && rule.predicate.as_str() == "knows" && !is_role(words.start);
        rule.kind == Kind::Any
            && is_said
            && (rule.is_kinship() && !words.clone().any(is_role) || self.rules.code == "zh" && is_titled())
    }

    /// Takes signs into the object that belong to a name: "C++", "@nele".
    fn closed(&self, bytes: Range<usize>) -> Range<usize> {
        let rest = self.reading.text.get(bytes.end..).unwrap_or_default();
        let signs: usize = rest.chars().take_while(|c| matches!(c, '+' | '#')).map(char::len_utf8).sum();
        let more = signs + self.own_s(&bytes, rest);
        let is_handle = self.reading.text.get(..bytes.start).is_some_and(|before| before.ends_with('@'));
        let is_alone = is_handle && !self.reading.text.get(..bytes.start).is_some_and(is_mail);
        bytes.start - usize::from(is_alone)..bytes.end + more
    }

    /// Returns the topic: the one of the rule, the words of its slot, or a role.
    fn topic(&self, found: &Match<'_>, cut: &Cut) -> Option<String> {
        let rule = found.rule;
        if let Some(TopicOf::Class(class)) = &rule.topic_of
            && let Some(words) = self.noun_of(class, &found.slots)
        {
            return self.reading.text.get(self.reading.bytes(&words)).map(str::to_lowercase);
        }
        if let Some(topic) = &rule.topic {
            return Some(topic.to_string());
        }
        if let Some(words) = &found.slots.topic {
            return self.reading.text.get(self.reading.bytes(words)).map(str::to_lowercase);
        }
        match rule.topic_of.as_ref()? {
            TopicOf::Class(_) => None,
            TopicOf::Role => {
                let last = found.slots.own.end.saturating_sub(1);
                let said =
                    || self.rules.subjects.role_of(self.reading, last).map(|(role, _)| role.to_owned());
                found.slots.role.as_deref().map(str::to_owned).or_else(said)
            }
            TopicOf::Head => {
                // A role may be written in several signs: "孩子".
                let mut starts = cut.words.start.min(cut.head)..=cut.head;
                let known = starts
                    .find_map(|at| self.rules.subjects.role_of(self.reading, at))
                    .map(|(role, _)| role.to_owned());
                known.or_else(|| self.reading.words.get(cut.head).map(|word| word.lower.to_string()))
            }
        }
    }

    /// Returns the last word of a class in a pattern with the nouns before it: "the staging port is".
    fn noun_of(&self, class: &str, slots: &Slots) -> Option<Range<usize>> {
        let own = slots.own.start..slots.object.as_ref().map_or(slots.own.end, |object| object.start);
        let last = own.clone().rev().find(|at| self.rules.is_of(class, self.reading.lower(*at)))?;
        let is_noun = |at: &usize| self.rules.subjects.describes(self.reading, *at);
        let count = (own.start..last).rev().take_while(is_noun).count();
        Some(last - count..last + 1)
    }

    /// Returns the place of bytes of the sentence in the text.
    fn span(&self, bytes: &Range<usize>) -> Span {
        let at = |place: usize| u32::try_from(self.hints.base + place).unwrap_or(u32::MAX);
        Span { start: at(bytes.start), end: at(bytes.end) }
    }
}

/// "Malte bought a boat, is called Gull": what is called so without a subject of its own is no person whose name stands there.
fn is_named_anew(found: &Match<'_>) -> bool {
    found.rule.predicate.as_str() == "name"
        && found.said.is_empty()
        && matches!(found.subject, Subject::Named(_))
        && !found.rule.is_of_owner
}

/// Whether a visit has no end: who has been somewhere since 2022 does not visit it.
fn is_open_visit(rule: &Rule, time: Option<When>) -> bool {
    rule.predicate.as_str() == "visited"
        && time.is_some_and(|time| time.start.is_some() && time.end.is_none())
}

/// Returns the kind of a contact by its form; "reach me at" leaves open whether it is a number.
fn contact(rule: &Rule, value: &str) -> Option<&'static str> {
    if rule.kind != Kind::Contact {
        return None;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let (name, host) = value.split_once('@').unwrap_or((value, ""));
    if !name.is_empty() && host.contains('.') {
        Some("mail")
    } else if value.starts_with('@') {
        Some("handle")
    } else if value.contains("://") || value.starts_with("www.") {
        Some("web")
    } else if digits >= SHORTEST_NUMBER && !value.contains(char::is_alphabetic) {
        Some("phone")
    } else {
        None
    }
}

/// Returns whether a text ends with the first half of an address and its sign.
fn is_mail(before: &str) -> bool {
    before.strip_suffix('@').is_some_and(|name| name.ends_with(char::is_alphanumeric))
}
