//! What the claims of one slot come to: which value holds when, and why the others do not.
//!
//! [`weigh`] is a function of the set of claims, so the order in which they arrived does not matter; only the reasons tell
//! which of two was known first. It is AD-22 as a sweep over world time instead of as a case for each newcomer.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    Act, Confidence, FactStatus, Grain, Level, Predicate, Reason, Superseded, Support, Timestamp, Trust,
    Value, WorldTime,
};

use crate::slot::{Claim, Rule};

/// A fact without its id and its belief times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Version {
    pub(crate) predicate: Predicate,
    pub(crate) topic: Option<String>,
    pub(crate) object: Value,
    pub(crate) act: Act,
    pub(crate) valid_at: Option<WorldTime>,
    pub(crate) invalid_at: Option<WorldTime>,
    pub(crate) valid_grain: Option<Grain>,
    pub(crate) invalid_grain: Option<Grain>,
    pub(crate) status: FactStatus,
    pub(crate) superseded: Option<Superseded>,
    pub(crate) supports: Vec<Support>,
    pub(crate) trust: Trust,
    pub(crate) level: Level,
}

/// Weighs the claims of one slot; each claim is a support of exactly one version.
pub(crate) fn weigh(rule: Rule, mut claims: Vec<Claim>) -> Vec<Version> {
    claims.sort_by_cached_key(|claim| order(&claim.support));
    claims.dedup_by(|one, other| one.support == other.support && one.value == other.value);
    let grains = grains(&claims);
    let mut versions = Vec::new();
    let rejected = rejections(&claims);
    let claims = apart(
        claims,
        |claim| rejected.contains_key(&claim.value),
        |claims| {
            versions.extend(by_value(claims).into_values().map(|claims| reject(&rejected, claims)));
        },
    );
    let mut withdrawn = Vec::new();
    let claims = apart(claims, |claim| claim.support.is_rejection(), |claims| withdrawn = claims);
    let claims = apart(
        claims,
        |claim| matches!(claim.support.act, Act::Plan | Act::Negative),
        |claims| {
            for act in [Act::Plan, Act::Negative] {
                let of_act = claims.iter().filter(|claim| claim.support.act == act).cloned().collect();
                versions.extend(by_value(of_act).into_values().map(|claims| beside(act, claims)));
            }
        },
    );
    let (claims, overruled) = overruled(rule, claims);
    versions.extend(overruled);
    // What is uncertain ends what is certain all the same: measured on a life of six months, a newer value that was said once
    // is right more often than an older one that was said with certainty.
    let mut standings: BTreeMap<(Level, Trust), Vec<Claim>> = BTreeMap::new();
    for claim in claims {
        standings.entry((claim.support.level, claim.support.trust)).or_default().push(claim);
    }
    let mut held: Vec<Version> = Vec::new();
    for claims in standings.into_values().rev() {
        let below = if held.is_empty() { claims } else { agreeing(&mut held, claims) };
        let mut fresh = if rule == Rule::Now { timeline(below) } else { all(rule, below) };
        for version in &mut fresh {
            if held.iter().any(|higher| clash(higher, version)) {
                (version.status, version.superseded) = (FactStatus::Candidate, None);
            }
        }
        held.append(&mut fresh);
    }
    versions.append(&mut held);
    for claim in withdrawn {
        // Opposites share a slot: to reject that somebody likes tea says nothing of disliking it.
        let says_so = |version: &&mut Version| {
            version.predicate == claim.predicate && version.object.key() == claim.object.key()
        };
        if let Some(version) = versions.iter_mut().find(says_so) {
            version.supports.push(claim.support);
        }
    }
    for version in &mut versions {
        version.supports.sort_by_cached_key(order);
        let grain = |at: Option<WorldTime>| grains.get(&at?).copied();
        (version.valid_grain, version.invalid_grain) = (grain(version.valid_at), grain(version.invalid_at));
    }
    versions.retain(|version| !version.supports.is_empty());
    versions
}

/// Returns how exactly the words know each moment at which something begins or ends to hold: the finest unit of those that name
/// it. The end of an interval is the first moment behind it and no part of what the words name, so it has the day alone.
fn grains(claims: &[Claim]) -> BTreeMap<WorldTime, Grain> {
    let mut grains: BTreeMap<WorldTime, Grain> = BTreeMap::new();
    for Claim { support, .. } in claims {
        let end = support.invalid_at.filter(|_| support.act == Act::End);
        // What a person decides is meant to the day.
        let grain = support.grain.or_else(|| support.is_decided().then_some(Grain::Day));
        if let (Some(at), Some(grain)) = (support.valid_at.or(end), grain) {
            let known = grains.entry(at).or_insert(grain);
            *known = grain.min(*known);
        }
    }
    grains
}

fn order(support: &Support) -> (Timestamp, mnemal_core::Source, mnemal_core::RuleId, String, bool) {
    let rule = support.rule.clone();
    (support.occurred_at, support.source, rule, support.object.key(), support.act == Act::End)
}

/// Hands the claims that fit to `take` and returns the others.
fn apart(claims: Vec<Claim>, fits: impl Fn(&Claim) -> bool, take: impl FnOnce(Vec<Claim>)) -> Vec<Claim> {
    let (fitting, others) = claims.into_iter().partition(fits);
    take(fitting);
    others
}

fn by_value(claims: Vec<Claim>) -> BTreeMap<String, Vec<Claim>> {
    let mut values: BTreeMap<String, Vec<Claim>> = BTreeMap::new();
    for claim in claims {
        values.entry(claim.value.clone()).or_default().push(claim);
    }
    values
}

/// Returns the values that were rejected and not taken back, each with the rejection: the last decision of a person, else a
/// correction, unless the value was said again behind it.
fn rejections(claims: &[Claim]) -> BTreeMap<String, Support> {
    let rank = |of: &Support| {
        let at = if of.is_decided() { of.recorded_at } else { of.occurred_at };
        (of.is_decided(), of.level, at, of.is_rejection())
    };
    let mut last: BTreeMap<&str, &Support> = BTreeMap::new();
    for Claim { value, support, .. } in claims {
        if support.is_decided() || support.is_rejection() || support.act == Act::Assert {
            let known = last.entry(value).or_insert(support);
            if rank(support) >= rank(known) {
                *known = support;
            }
        }
    }
    let rejects =
        |(value, last): (&str, &Support)| last.is_rejection().then(|| (value.to_owned(), last.clone()));
    last.into_iter().filter_map(rejects).collect()
}

fn reject(rejected: &BTreeMap<String, Support>, claims: Vec<Claim>) -> Version {
    let by = claims.first().and_then(|claim| rejected.get(&claim.value)).cloned();
    let mut version = version(claims, FactStatus::Rejected);
    version.superseded = by.map(|by| ended_by(Reason::Rejected, &by));
    version
}

/// Makes a version of what is intended or denied, which ends nothing.
fn beside(act: Act, claims: Vec<Claim>) -> Version {
    let start = claims.iter().filter_map(|claim| claim.support.valid_at).min();
    let mut version = Version { act, valid_at: start, ..version(claims, FactStatus::Candidate) };
    version.status = standing(&version);
    version
}

/// Takes out what a person overruled: whatever was said of a slot before the person decided, and begins no earlier.
fn overruled(rule: Rule, claims: Vec<Claim>) -> (Vec<Claim>, Vec<Version>) {
    let last = claims
        .iter()
        .filter(|claim| {
            claim.support.is_decided()
                && claim.support.act == Act::Assert
                && claim.support.invalid_at.is_none()
        })
        .max_by_key(|claim| claim.support.recorded_at)
        .cloned();
    let Some(last) = last.filter(|_| rule != Rule::Event) else { return (claims, Vec::new()) };
    let mut out = Vec::new();
    let is_over = |claim: &Claim| {
        claim.value != last.value
            && claim.support.occurred_at <= last.support.occurred_at
            && (rule == Rule::One || last.support.valid_at.is_some_and(|from| begin(&claim.support) >= from))
    };
    let rest = apart(claims, is_over, |claims| {
        out.extend(by_value(claims).into_values().map(|claims| Version {
            superseded: Some(ended_by(Reason::UserCorrection, &last.support)),
            ..version(claims, FactStatus::Superseded)
        }));
    });
    (rest, out)
}

/// Gives claims of less standing to the versions that say the same at the same time, and returns the others.
fn agreeing(held: &mut [Version], claims: Vec<Claim>) -> Vec<Claim> {
    let mut others = Vec::new();
    for claim in claims {
        let key = claim.object.key();
        let fits = |version: &&mut Version| {
            version.predicate == claim.predicate
                && version.object.key() == key
                && version.status != FactStatus::Rejected
                && claim.support.invalid_at.is_none_or(|end| version.valid_at.is_none_or(|from| from <= end))
                && version.invalid_at.is_none_or(|end| begin(&claim.support) <= end)
        };
        match held.iter_mut().find(fits) {
            Some(version) => version.supports.push(claim.support),
            None => others.push(claim),
        }
    }
    others
}

/// Whether two versions of one slot say different things of one time.
fn clash(one: &Version, other: &Version) -> bool {
    let differs = one.predicate != other.predicate || one.object.key() != other.object.key();
    let before = |end: Option<WorldTime>, from: Option<WorldTime>| {
        end.is_some_and(|end| from.is_some_and(|from| end <= from))
    };
    differs && !before(one.invalid_at, other.valid_at) && !before(other.invalid_at, one.valid_at)
}

/// Weighs values that hold for life, and happenings: each value stands for itself.
fn all(rule: Rule, claims: Vec<Claim>) -> Vec<Version> {
    let values = by_value(claims);
    let is_disputed = rule == Rule::One && values.len() > 1;
    let one = |claims: Vec<Claim>| {
        let start = claims.iter().filter_map(|claim| claim.support.valid_at).min();
        let mut version = version(claims, FactStatus::Candidate);
        version.valid_at = start.filter(|_| rule == Rule::Event);
        version.status = if is_disputed { FactStatus::Disputed } else { standing(&version) };
        version
    };
    values.into_values().map(one).collect()
}

/// One value while it holds.
#[derive(Debug)]
struct Run {
    claims: Vec<Claim>,
    /// Whether a claim says when it began; a decision counts as one.
    is_dated: bool,
    /// The moment of its first claim.
    first: WorldTime,
    /// The moment of its last claim.
    last: WorldTime,
    /// Whether another value held before.
    follows: bool,
    end: Option<(WorldTime, Option<Superseded>)>,
    is_disputed: bool,
}

impl Run {
    fn new(claim: Claim) -> Self {
        let support = &claim.support;
        let first = begin(support);
        let is_dated = support.valid_at.is_some() || support.is_decided();
        let by = (support.act == Act::End).then(|| ended_by(Reason::Ended, support));
        let end = support.invalid_at.map(|end| (end, by));
        Self { claims: vec![claim], is_dated, first, last: first, follows: false, end, is_disputed: false }
    }

    fn value(&self) -> &str {
        self.claims.first().map_or("", |claim| &claim.value)
    }

    fn is_over_at(&self, at: WorldTime) -> bool {
        self.end.as_ref().is_some_and(|(end, _)| *end <= at)
    }

    fn take(&mut self, claim: Claim) {
        self.is_dated |= claim.support.valid_at.is_some();
        self.last = begin(&claim.support);
        if let Some(end) = claim.support.invalid_at
            && self.end.as_ref().is_none_or(|(known, _)| *known < end)
        {
            self.end = Some((end, None));
        }
        self.claims.push(claim);
    }

    fn close(&mut self, at: WorldTime, by: Superseded) {
        if !self.is_over_at(at) {
            self.end = Some((at, Some(by)));
        }
    }

    fn version(self) -> Version {
        let start = self.claims.iter().filter_map(|claim| claim.support.valid_at).min();
        let start = start.filter(|start| *start <= self.first).or_else(|| self.follows.then_some(self.first));
        let mut version = version(self.claims, FactStatus::Candidate);
        version.valid_at = start;
        version.status = if self.is_disputed { FactStatus::Disputed } else { standing(&version) };
        if let Some((end, by)) = self.end {
            // An end before the begin is none: the words contradict themselves.
            version.invalid_at = Some(version.valid_at.map_or(end, |start| start.max(end)));
            if by.is_some() {
                (version.status, version.superseded) = (FactStatus::Superseded, by);
            }
        }
        version
    }
}

/// Lays the claims of one standing out in world time.
fn timeline(mut claims: Vec<Claim>) -> Vec<Version> {
    claims.sort_by_cached_key(|claim| {
        let support = &claim.support;
        let is_end = support.act == Act::End && support.valid_at.is_none();
        (moment(support), is_end, support.valid_at.is_none(), order(support), claim.value.clone())
    });
    let mut done: Vec<Run> = Vec::new();
    let mut open: Vec<Run> = Vec::new();
    for claim in claims {
        let at = moment(&claim.support);
        if claim.support.act == Act::End && claim.support.invalid_at.is_none_or(|end| end == at) {
            end(&mut open, &mut done, claim, at);
        } else {
            begin_or_go_on(&mut open, &mut done, claim, at);
        }
    }
    done.append(&mut open);
    done.into_iter().map(Run::version).collect()
}

/// Lets a value end at a moment.
fn end(open: &mut Vec<Run>, done: &mut Vec<Run>, claim: Claim, at: WorldTime) {
    let by = ended_by(Reason::Ended, &claim.support);
    if let Some(place) = open.iter().position(|run| run.value() == claim.value) {
        let mut run = open.remove(place);
        run.close(at, by);
        run.claims.push(claim);
        if let [other] = open.as_mut_slice() {
            other.is_disputed = false;
        }
        done.push(run);
    } else if let Some(run) = done.iter_mut().rev().find(|run| run.value() == claim.value) {
        run.claims.push(claim);
    } else {
        // "I was an analyst there": over at an unknown time, so before anything else that is known.
        let first = open.iter().chain(&*done).map(|run| run.first).min();
        let at = first.filter(|_| claim.support.invalid_at.is_none()).map_or(at, |first| first.min(at));
        let mut run = Run::new(claim);
        run.end = Some((at, Some(by)));
        done.push(run);
    }
}

fn begin_or_go_on(open: &mut Vec<Run>, done: &mut Vec<Run>, claim: Claim, at: WorldTime) {
    if let Some(place) = open.iter().position(|run| run.value() == claim.value && !run.is_over_at(at)) {
        let mut run = open.remove(place);
        // Said again after an undated value that disputed it: that one is over.
        if run.is_disputed && open.iter().all(|other| !other.is_dated && other.last < at) {
            run.is_disputed = false;
            let by = newer(open, &claim);
            done.extend(std::mem::take(open).into_iter().map(|other| closed(other, at, &by)));
        }
        run.take(claim);
        open.push(run);
        return;
    }
    let mut run = Run::new(claim);
    run.follows = !open.is_empty() || !done.is_empty();
    done.extend(open.extract_if(.., |other| other.is_over_at(at)));
    if open.iter().any(|other| is_said_beside(other, &run)) {
        run.follows = !done.is_empty();
    } else if open.iter().any(|other| is_unclear(other, &run)) {
        run.is_disputed = true;
        for other in open.iter_mut() {
            other.is_disputed = true;
        }
    } else if let Some(first) = run.claims.first() {
        let by = newer(open, first);
        done.extend(std::mem::take(open).into_iter().map(|other| closed(other, at, &by)));
    }
    open.push(run);
}

/// Whether two values were said in one breath: two jobs at once.
fn is_said_beside(known: &Run, new: &Run) -> bool {
    let event = |run: &Run| run.claims.first().map(|claim| claim.support.source.event);
    event(known) == event(new) && known.first == new.first
}

/// Whether nobody can tell which of two values is newer: they begin at the same time, or one has no date and was said after
/// the other began.
fn is_unclear(known: &Run, new: &Run) -> bool {
    known.is_dated && (!new.is_dated || known.first == new.first)
}

/// Why a value ends when another begins. The other was known first if one of its claims was recorded before all of these.
fn newer(open: &[Run], by: &Claim) -> Superseded {
    let known = open.iter().flat_map(|run| &run.claims).map(|claim| claim.support.recorded_at).min();
    let reason = match known {
        _ if by.support.is_decided() => Reason::UserCorrection,
        Some(known) if by.support.recorded_at < known => Reason::Backfill,
        _ => Reason::NewerValue,
    };
    ended_by(reason, &by.support)
}

fn closed(mut run: Run, at: WorldTime, by: &Superseded) -> Run {
    run.is_disputed = false;
    run.close(at, by.clone());
    run
}

fn ended_by(reason: Reason, support: &Support) -> Superseded {
    Superseded { reason, by: support.source.event, rule: support.rule.clone() }
}

/// Returns the moment from which a claim says that a value holds: its begin, else when it was said.
pub(crate) fn begin(support: &Support) -> WorldTime {
    let said = WorldTime::from_seconds(support.occurred_at.as_micros().div_euclid(1_000_000));
    support.valid_at.unwrap_or_else(|| support.invalid_at.map_or(said, |end| said.min(end)))
}

/// Returns where a claim stands in the sweep: an end without a begin at its end.
fn moment(support: &Support) -> WorldTime {
    match (support.act, support.valid_at, support.invalid_at) {
        (Act::End, None, Some(end)) => end,
        _ => begin(support),
    }
}

/// Makes a version of claims of one value; its interval is open.
fn version(claims: Vec<Claim>, status: FactStatus) -> Version {
    let best = claims.iter().map(|claim| (claim.support.level, claim.support.trust)).max();
    let (level, trust) = best.unwrap_or((Level::External, Trust::Echo));
    let first =
        claims.first().map(|claim| (claim.predicate.clone(), claim.topic.clone(), claim.object.clone()));
    let act = claims.first().map_or(Act::Assert, |claim| claim.support.act);
    let supports = claims.into_iter().map(|claim| claim.support).collect();
    let (predicate, topic, object) = first.unwrap_or_else(nothing);
    Version {
        predicate,
        topic,
        object,
        act: if act == Act::End { Act::Assert } else { act },
        valid_at: None,
        invalid_at: None,
        valid_grain: None,
        invalid_grain: None,
        status,
        superseded: None,
        supports,
        trust,
        level,
    }
}

/// What a version without claims would say; [`weigh`] drops it.
fn nothing() -> (Predicate, Option<String>, Value) {
    let predicate = Predicate::new("nothing").expect("the name is made of letters");
    (predicate, None, Value::Literal { text: String::new(), key: String::new() })
}

/// Returns where an open value stands: below level user nothing is more than a candidate.
fn standing(version: &Version) -> FactStatus {
    if voices(version.supports.iter()) > 1 || version.supports.iter().any(is_sure) {
        FactStatus::Active
    } else {
        FactStatus::Candidate
    }
}

/// Whether one claim is enough.
fn is_sure(support: &Support) -> bool {
    support.says_so() && support.level == Level::User && support.confidence >= Confidence::ACTIVE
}

fn voices<'s>(supports: impl Iterator<Item = &'s Support>) -> usize {
    let speaks = |support: &&Support| support.level == Level::User && support.says_so();
    let voices: BTreeSet<_> = supports.filter(speaks).map(|one| (&one.session, &one.speaker)).collect();
    voices.len()
}
