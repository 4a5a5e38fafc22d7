//! Interval algebra: which value of a slot is valid when, and why the others are not.
//!
//! [`weigh`] is a function of the set of claims, so their order of arrival does not matter; only the reasons tell which of
//! two was known first. It follows the interval rules of graphiti's `edge_operations.py`, as a sweep over world time
//! instead of one case for each new claim.

mod decided_end;
mod withdrawal;

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    Act, Confidence, FactStatus, Granularity, Level, Predicate, Reason, Supersession, Support, Timestamp,
    Trust, Value, WorldTime,
};

use crate::intake::seconds;
use crate::slot::{Claim, ExclusionRule};

/// A fact without its id and its belief times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Version {
    pub(crate) predicate: Predicate,
    pub(crate) topic: Option<String>,
    pub(crate) object: Value,
    pub(crate) act: Act,
    pub(crate) valid_at: Option<WorldTime>,
    pub(crate) invalid_at: Option<WorldTime>,
    pub(crate) valid_grain: Option<Granularity>,
    pub(crate) invalid_grain: Option<Granularity>,
    pub(crate) status: FactStatus,
    pub(crate) superseded: Option<Supersession>,
    pub(crate) supports: Vec<Support>,
    pub(crate) trust: Trust,
    pub(crate) level: Level,
}

/// Weighs the claims of one slot. Each claim supports one version, except for a value that resumes after a temporary stay
/// elsewhere: the versions before and after the stay share their claims.
pub(crate) fn weigh(rule: ExclusionRule, mut claims: Vec<Claim>) -> Vec<Version> {
    claims.sort_by_cached_key(|claim| {
        (order(&claim.support), claim.support.valid_at, claim.support.invalid_at, claim.value.clone())
    });
    claims.dedup_by(|one, other| one.support == other.support && one.value == other.value);
    let grains = grains(&claims);
    let mut versions = Vec::new();
    let (claims, mut marks) = withdrawal::apart(claims, &mut versions);
    let rejected = rejections(&claims, &marks);
    let claims = apart(
        claims,
        |claim| rejected.contains_key(&claim.value),
        |claims| {
            versions.extend(by_value(claims).into_values().map(|claims| reject(&rejected, claims)));
        },
    );
    let claims = apart(claims, |claim| claim.support.is_rejection(), |mut claims| marks.append(&mut claims));
    let claims = apart(
        claims,
        |claim| matches!(claim.support.act, Act::Plan | Act::Negative),
        |claims| {
            for act in [Act::Plan, Act::Negative] {
                let of_act = claims.iter().filter(|claim| claim.support.act == act).cloned().collect();
                versions.extend(by_value(of_act).into_values().map(|claims| parallel_version(act, claims)));
            }
        },
    );
    let (claims, overruled) = split_overruled(rule, claims);
    versions.extend(overruled);
    let claims = decided_end::apply(claims, &mut marks);
    let (claims, replaced) =
        if rule == ExclusionRule::Now { split_replaced(claims) } else { (claims, Vec::new()) };
    versions.extend(replaced);
    // An uncertain claim ends a certain one all the same: measured on a life of six months, a newer value stated once is
    // right more often than an older one stated with certainty.
    let mut standings: BTreeMap<(Level, Trust), Vec<Claim>> = BTreeMap::new();
    for claim in claims {
        standings.entry((claim.support.level, claim.support.trust)).or_default().push(claim);
    }
    let mut held: Vec<Version> = Vec::new();
    for claims in standings.into_values().rev() {
        let below = if held.is_empty() { claims } else { agreeing(&mut held, claims) };
        let mut fresh = if rule == ExclusionRule::Now { timeline(below) } else { all(rule, below) };
        for version in &mut fresh {
            if held.iter().any(|higher| clash(higher, version)) {
                (version.status, version.superseded) = (FactStatus::Candidate, None);
            }
        }
        held.append(&mut fresh);
    }
    versions.append(&mut held);
    for claim in marks {
        // Opposites share a slot: rejecting "likes tea" does not reject "dislikes tea".
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

/// Returns the granularity of each moment at which a value starts or ends: the finest unit among the claims that name it.
/// The end of an interval is the first moment after it and not part of the named time, so it has day granularity only.
fn grains(claims: &[Claim]) -> BTreeMap<WorldTime, Granularity> {
    let mut grains: BTreeMap<WorldTime, Granularity> = BTreeMap::new();
    for Claim { support, .. } in claims {
        let end = support.invalid_at.filter(|_| support.act.is_of_past());
        // A person's decision has day granularity.
        let grain = support.grain.or_else(|| support.is_decided().then_some(Granularity::Day));
        if let (Some(at), Some(grain)) = (support.valid_at.or(end), grain) {
            let known = grains.entry(at).or_insert(grain);
            *known = grain.min(*known);
        }
    }
    grains
}

fn order(support: &Support) -> (Timestamp, mnemal_core::Source, mnemal_core::RuleId, String, bool) {
    let rule = support.rule.clone();
    (support.occurred_at, support.source, rule, support.object.key(), support.act.is_of_past())
}

/// Passes the matching claims to `take` and returns the others.
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

/// Returns the rejected values that were not restored, each with its rejection: the last decision of a person, else a
/// correction, unless the value was restated after it. `restored` gives the restored values and times.
fn rejections(claims: &[Claim], restored: &[Claim]) -> BTreeMap<String, Support> {
    let rank = |of: &Support| {
        let at = if of.is_decided() { of.recorded_at } else { of.occurred_at };
        (of.is_decided(), of.level, at, of.is_rejection())
    };
    let mut last: BTreeMap<&str, &Support> = BTreeMap::new();
    let is_lifted = |value: &str, support: &Support| {
        let lifts = |by: &Claim| by.value == value && by.support.recorded_at >= support.recorded_at;
        support.is_rejection() && restored.iter().any(lifts)
    };
    for Claim { value, support, .. } in claims.iter().filter(|one| !is_lifted(&one.value, &one.support)) {
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

/// Makes a version of a plan or a denial, which ends nothing.
fn parallel_version(act: Act, claims: Vec<Claim>) -> Version {
    let start = claims.iter().filter_map(Claim::valid_at).min();
    // A value that was ended is valid again when it is restated.
    let is_over = |claim: &Claim| claim.support.invalid_at == Some(said_at(&claim.support));
    let last = claims.iter().filter(|claim| !is_over(claim)).map(|claim| said_at(&claim.support)).max();
    let is_of_now =
        |claim: &&Claim| !is_over(claim) || last.is_none_or(|last| last <= said_at(&claim.support));
    let ends = claims.iter().filter(is_of_now).map(|claim| claim.support.invalid_at).max().flatten();
    let mut version =
        Version { act, valid_at: start, invalid_at: ends, ..version(claims, FactStatus::Candidate) };
    version.status = open_status(&version);
    version
}

/// Removes what a person overruled: claims of a slot recorded before the decision that start no earlier than it says. A
/// bounded stay does not contradict the values around it, and a value that ended before was no competing value of that
/// time.
fn split_overruled(rule: ExclusionRule, claims: Vec<Claim>) -> (Vec<Claim>, Vec<Version>) {
    let last = claims
        .iter()
        .filter(|claim| {
            claim.support.is_decided()
                && claim.support.act == Act::Assert
                && claim.support.invalid_at.is_none()
        })
        .max_by_key(|claim| claim.support.recorded_at)
        .cloned();
    let Some(last) = last.filter(|_| rule != ExclusionRule::Event) else { return (claims, Vec::new()) };
    let mut out = Vec::new();
    let is_over = |claim: &Claim| {
        claim.value != last.value
            && claim.support.occurred_at <= last.support.occurred_at
            && (rule == ExclusionRule::One || last.support.valid_at.is_some_and(|from| is_later(claim, from)))
    };
    let rest = apart(claims, is_over, |claims| {
        out.extend(by_value(claims).into_values().map(|claims| empty_version(claims, &last)));
    });
    (rest, out)
}

/// Whether an open claim starts at or after a moment.
fn is_later(claim: &Claim, from: WorldTime) -> bool {
    let is_before = claim.support.invalid_at.is_some_and(|end| end <= from);
    !claim.is_bounded() && !is_before && claim.begin() >= from
}

/// Makes a version of a value that a person declared never valid: its interval is empty.
fn empty_version(claims: Vec<Claim>, by: &Claim) -> Version {
    let at = claims.iter().filter_map(Claim::valid_at).min().unwrap_or_else(|| by.begin());
    Version {
        valid_at: Some(at),
        invalid_at: Some(at),
        superseded: Some(ended_by(Reason::UserCorrection, &by.support)),
        ..version(claims, FactStatus::Superseded)
    }
}

/// Lets a decided bounded stay override earlier claims that start within it: a value that continues after the stay starts
/// at its end, and one that does not was never valid.
fn split_replaced(claims: Vec<Claim>) -> (Vec<Claim>, Vec<Version>) {
    let is_stay = |claim: &&Claim| claim.support.is_decided() && claim.is_assertion() && claim.is_bounded();
    let mut stays: Vec<Claim> = claims.iter().filter(is_stay).cloned().collect();
    stays.sort_by_key(|stay| stay.support.recorded_at);
    let (mut rest, mut out) = (claims, Vec::new());
    for stay in stays {
        let (Some(from), Some(end)) = (stay.valid_at(), stay.support.invalid_at) else { continue };
        let is_within = |claim: &Claim| {
            claim.value != stay.value
                && claim.is_assertion()
                && claim.support.recorded_at < stay.support.recorded_at
                && claim.valid_at().is_some_and(|begin| (from..end).contains(&begin))
        };
        let goes_on = |claim: &Claim| claim.support.invalid_at.is_none_or(|last| last > end);
        for claim in rest.iter_mut().filter(|claim| is_within(claim) && goes_on(claim)) {
            claim.floor = Some(end);
        }
        rest = apart(rest, is_within, |claims| {
            out.extend(by_value(claims).into_values().map(|claims| empty_version(claims, &stay)));
        });
    }
    (rest, out)
}

/// Assigns claims of lower standing to the versions with the same value and time, and returns the others.
fn agreeing(held: &mut [Version], claims: Vec<Claim>) -> Vec<Claim> {
    let mut others = Vec::new();
    for claim in claims {
        let key = claim.object.key();
        let fits = |version: &&mut Version| {
            version.predicate == claim.predicate
                && version.object.key() == key
                && version.status != FactStatus::Rejected
                && claim.support.invalid_at.is_none_or(|end| version.valid_at.is_none_or(|from| from <= end))
                && version.invalid_at.is_none_or(|end| claim.begin() <= end)
        };
        match held.iter_mut().find(fits) {
            Some(version) => version.supports.push(claim.support),
            None => others.push(claim),
        }
    }
    others
}

/// Whether two versions of one slot state different values for overlapping times.
fn clash(one: &Version, other: &Version) -> bool {
    let differs = one.predicate != other.predicate || one.object.key() != other.object.key();
    let before = |end: Option<WorldTime>, from: Option<WorldTime>| {
        end.is_some_and(|end| from.is_some_and(|from| end <= from))
    };
    differs && !before(one.invalid_at, other.valid_at) && !before(other.invalid_at, one.valid_at)
}

/// Weighs lifelong values and events: each value stands alone.
fn all(rule: ExclusionRule, claims: Vec<Claim>) -> Vec<Version> {
    let values = by_value(claims);
    let is_disputed = rule == ExclusionRule::One && values.len() > 1;
    let one = |claims: Vec<Claim>| {
        let start = claims.iter().filter_map(|claim| claim.support.valid_at).min();
        let mut version = version(claims, FactStatus::Candidate);
        version.valid_at = start.filter(|_| rule == ExclusionRule::Event);
        version.status = if is_disputed { FactStatus::Disputed } else { open_status(&version) };
        version
    };
    values.into_values().map(one).collect()
}

/// One value while it is valid.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is true or false for itself, and none rules out another"
)]
struct ValueRun {
    claims: Vec<Claim>,
    /// Whether a claim gives its start; a decision counts as one.
    is_dated: bool,
    /// The moment of its first claim.
    first: WorldTime,
    /// The moment of its last claim.
    last: WorldTime,
    /// Whether another value was valid before.
    follows: bool,
    /// Whether it resumes after a temporary stay elsewhere.
    is_resumed: bool,
    end: Option<(WorldTime, Option<Supersession>)>,
    is_disputed: bool,
    /// What resumes when this run, a bounded stay, is over.
    under: Vec<ValueRun>,
}

impl ValueRun {
    fn new(claim: Claim) -> Self {
        let support = &claim.support;
        let first = claim.begin();
        let is_dated = claim.valid_at().is_some() || support.is_decided();
        let by = support.act.is_of_past().then(|| ended_by(Reason::Ended, support));
        let end = support.invalid_at.map(|end| (end, by));
        Self {
            claims: vec![claim],
            is_dated,
            first,
            last: first,
            follows: false,
            is_resumed: false,
            end,
            is_disputed: false,
            under: Vec::new(),
        }
    }

    fn value(&self) -> &str {
        self.claims.first().map_or("", |claim| &claim.value)
    }

    fn is_over_at(&self, at: WorldTime) -> bool {
        self.end.as_ref().is_some_and(|(end, _)| *end <= at)
    }

    /// Whether it is a bounded stay: its claims give both a start and an end.
    fn is_stay(&self) -> bool {
        self.claims.first().is_some_and(Claim::is_bounded)
    }

    /// Returns the last moment at which it was stated as current, without a future end.
    fn last_stated(&self) -> Option<WorldTime> {
        let open = |claim: &&Claim| claim.is_assertion() && claim.support.invalid_at.is_none();
        self.claims.iter().filter(open).map(|claim| said_at(&claim.support)).max()
    }

    /// Whether a statement about the past ends it: it has no start of its own or is described from that start on, and was
    /// not restated as current after that end.
    fn ends_with(&self, claim: &Claim, end: WorldTime) -> bool {
        let is_of_past = matches!(claim.support.act, Act::Past | Act::Earlier);
        let is_inside = claim.valid_at().is_some_and(|from| self.is_dated && from > self.first);
        !is_of_past || !is_inside && self.last_stated().is_none_or(|vouched| vouched < end)
    }

    fn take(&mut self, claim: Claim) {
        self.is_dated |= claim.valid_at().is_some();
        self.last = claim.begin();
        match claim.support.invalid_at {
            Some(end)
                if self.ends_with(&claim, end) && self.end.as_ref().is_none_or(|(known, _)| *known < end) =>
            {
                self.end = Some((end, None));
            }
            // A statement about the past does not end what is valid after it.
            None if claim.is_assertion()
                && claim.valid_at().is_some()
                && self.is_over_at(said_at(&claim.support)) =>
            {
                self.end = None;
            }
            _ => {}
        }
        self.claims.push(claim);
    }

    fn close(&mut self, at: WorldTime, by: Supersession) {
        if !self.is_over_at(at) {
            self.end = Some((at, Some(by)));
        }
    }

    /// Resumes at a moment, after a stay elsewhere.
    fn resume(mut self, at: WorldTime) -> Self {
        self.last = self.last.max(at);
        (self.first, self.is_dated, self.is_resumed, self.is_disputed) = (at, true, true, false);
        self
    }

    fn version(self) -> Version {
        let start = self.claims.iter().filter_map(Claim::valid_at).min();
        let start = start.filter(|start| *start <= self.first && !self.is_resumed);
        let start = start.or_else(|| (self.follows || self.is_resumed).then_some(self.first));
        let mut version = version(self.claims, FactStatus::Candidate);
        version.valid_at = start;
        version.status = if self.is_disputed { FactStatus::Disputed } else { open_status(&version) };
        if let Some((end, by)) = self.end {
            // An end before the start is ignored: the words contradict themselves.
            version.invalid_at = Some(version.valid_at.map_or(end, |start| start.max(end)));
            if by.is_some() {
                (version.status, version.superseded) = (FactStatus::Superseded, by);
            }
        }
        version
    }
}

/// The open and the closed runs at a moment of the sweep.
#[derive(Debug, Default)]
struct Sweep {
    open: Vec<ValueRun>,
    done: Vec<ValueRun>,
}

/// Lays the claims of one standing out in world time.
fn timeline(mut claims: Vec<Claim>) -> Vec<Version> {
    claims.sort_by_cached_key(|claim| {
        (moment(claim), turn(claim), claim.valid_at().is_none(), order(&claim.support), claim.value.clone())
    });
    let mut sweep = Sweep::default();
    for claim in claims {
        let at = moment(&claim);
        sweep.pass(at);
        match kind(&claim, at) {
            SweepEffect::End => sweep.end(claim, at),
            SweepEffect::Past => sweep.past(claim, at),
            SweepEffect::Value => sweep.begin_or_go_on(claim, at),
        }
    }
    sweep.finish()
}

/// The effect of a claim on the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SweepEffect {
    /// A value starts or continues.
    Value,
    /// A value ends.
    End,
    /// A value was valid at an unknown time in the past.
    Past,
}

fn kind(claim: &Claim, at: WorldTime) -> SweepEffect {
    let support = &claim.support;
    let is_undated = claim.valid_at().is_none() && support.invalid_at.is_none();
    match support.act {
        Act::Past | Act::Earlier if is_undated => SweepEffect::Past,
        Act::End | Act::Past | Act::Earlier if support.invalid_at.is_none_or(|end| end == at) => {
            SweepEffect::End
        }
        Act::Assert if is_over_when_said(claim) => SweepEffect::End,
        _ => SweepEffect::Value,
    }
}

/// Whether a claim gives only the end of a value that was over when it was said: "I lived there until 2021".
fn is_over_when_said(claim: &Claim) -> bool {
    let end = claim.support.invalid_at.filter(|_| claim.valid_at().is_none());
    end.is_some_and(|end| end <= said_at(&claim.support))
}

/// Order of claims at one moment: what is over before it, then what starts, then what ends as it is said.
fn turn(claim: &Claim) -> u8 {
    match claim.support.act {
        Act::Assert | Act::Past | Act::Earlier if is_over_when_said(claim) => 0,
        act if act.is_of_past() && claim.valid_at().is_none() => 2,
        _ => 1,
    }
}

impl Sweep {
    /// Closes the runs that are over at a moment, and resumes what they had interrupted.
    fn pass(&mut self, at: WorldTime) {
        while let Some((place, end)) = self.first_over(at) {
            let mut run = self.open.remove(place);
            let under = std::mem::take(&mut run.under);
            self.done.push(run);
            let going_on = under.into_iter().filter(|run| !run.is_over_at(end));
            if self.open.is_empty() {
                self.open.extend(going_on.map(|run| run.resume(end)));
            } else if let Some(other) = self.open.iter_mut().find(|other| other.is_stay()) {
                other.under.extend(going_on);
            }
        }
    }

    /// Returns the index of the open run that ends first, and its end.
    fn first_over(&self, at: WorldTime) -> Option<(usize, WorldTime)> {
        let ends = self.open.iter().enumerate().filter_map(|(place, run)| {
            run.end.as_ref().map(|(end, _)| (place, *end)).filter(|(_, end)| *end <= at)
        });
        ends.min_by_key(|(place, end)| (*end, *place))
    }

    fn finish(mut self) -> Vec<Version> {
        self.pass(WorldTime::from_seconds(i64::MAX));
        self.done.append(&mut self.open);
        self.done.into_iter().map(ValueRun::version).collect()
    }

    /// Ends a value at a moment.
    fn end(&mut self, claim: Claim, at: WorldTime) {
        let by = ended_by(Reason::Ended, &claim.support);
        if let Some(place) = self.open.iter().position(|run| run.value() == claim.value) {
            if self.open.get(place).is_some_and(|run| !run.ends_with(&claim, at)) {
                if let Some(run) = self.open.get_mut(place) {
                    run.claims.push(claim);
                }
                return;
            }
            let mut run = self.open.remove(place);
            run.close(at, by);
            run.claims.push(claim);
            if let [other] = self.open.as_mut_slice() {
                other.is_disputed = false;
            }
            let under = std::mem::take(&mut run.under);
            self.done.push(run);
            if self.open.is_empty() {
                self.open
                    .extend(under.into_iter().filter(|run| !run.is_over_at(at)).map(|run| run.resume(at)));
            }
        } else if let Some(run) = self.away(&claim.value) {
            run.close(at, by);
            run.claims.push(claim.clone());
            self.note(claim);
        } else {
            self.ended_before(claim, at, by);
        }
    }

    /// Returns the run of a value that a stay elsewhere interrupts.
    fn away(&mut self, value: &str) -> Option<&mut ValueRun> {
        self.open.iter_mut().flat_map(|run| &mut run.under).find(|run| run.value() == value)
    }

    /// Attaches a claim to the last run of its value, so that the claim is kept if nothing of the value continues.
    fn note(&mut self, claim: Claim) {
        if let Some(run) = self.done.iter_mut().rev().find(|run| run.value() == claim.value) {
            run.claims.push(claim);
        }
    }

    /// Records the end of a value that is not valid at a moment.
    fn ended_before(&mut self, claim: Claim, at: WorldTime, by: Supersession) {
        if let Some(run) = self.done.iter_mut().rev().find(|run| run.value() == claim.value) {
            run.claims.push(claim);
            return;
        }
        let at = match claim.support.invalid_at {
            Some(_) => self.end_within_unit(&claim, at),
            // "I was an analyst there": over at an unknown time, so placed before everything else that is known.
            None => self
                .open
                .iter()
                .chain(&self.done)
                .map(|run| run.first)
                .min()
                .map_or(at, |first| first.min(at)),
        };
        let mut run = ValueRun::new(claim);
        run.end = Some((at, Some(by)));
        self.done.push(run);
    }

    /// Returns when a value ended: at the start of the next one, if that lies in the unit that names the end. "Until May"
    /// and "since May" touch.
    fn end_within_unit(&self, claim: &Claim, end: WorldTime) -> WorldTime {
        let Some(grain) = claim.support.grain else { return end };
        let within =
            |first: &WorldTime| end.as_seconds() - first.as_seconds() <= seconds(grain) && *first < end;
        let next = self.open.iter().filter(|run| run.is_dated).map(|run| run.first).filter(within).min();
        next.unwrap_or(end)
    }

    /// Records that a value was valid at an unknown time before it was said.
    fn past(&mut self, claim: Claim, at: WorldTime) {
        let Some(place) = self.open.iter().position(|run| run.value() == claim.value) else {
            let by = ended_by(Reason::Ended, &claim.support);
            self.ended_before(claim, at, by);
            return;
        };
        let is_dated = self.open.get(place).is_some_and(|run| run.is_dated);
        if !is_dated && claim.support.act == Act::Past {
            self.end(claim, at);
        } else if is_dated {
            let first = self.open.iter().chain(&self.done).map(|run| run.first).min().unwrap_or(at);
            let by = ended_by(Reason::Ended, &claim.support);
            let mut run = ValueRun::new(claim);
            run.end = Some((first, Some(by)));
            self.done.push(run);
        } else if let Some(run) = self.open.get_mut(place) {
            run.claims.push(claim);
        }
    }

    fn begin_or_go_on(&mut self, claim: Claim, at: WorldTime) {
        if let Some(place) = self.open.iter().position(|run| run.value() == claim.value) {
            let mut run = self.open.remove(place);
            // Restated after a conflicting undated value: that one is over.
            if run.is_disputed && self.open.iter().all(|other| !other.is_dated && other.last < at) {
                run.is_disputed = false;
                let by = newer(&self.open, &claim);
                self.done.extend(
                    std::mem::take(&mut self.open).into_iter().map(|other| close_run(other, at, &by)),
                );
            }
            run.take(claim);
            self.open.push(run);
            return;
        }
        // A person who is away for a while still lives there.
        if claim.valid_at().is_none()
            && let Some(run) = self.away(&claim.value)
        {
            run.take(claim.clone());
            self.note(claim);
            return;
        }
        self.begin(claim, at);
    }

    /// Starts a new value.
    fn begin(&mut self, claim: Claim, at: WorldTime) {
        let mut run = ValueRun::new(claim);
        run.follows = !self.open.is_empty() || !self.done.is_empty();
        let is_stay = run.is_stay();
        if self.open.iter().any(|other| is_said_beside(other, &run)) {
            run.follows = !self.done.is_empty();
        } else if self.open.iter().any(|other| is_unclear(other, &run)) {
            run.is_disputed = true;
            for other in &mut self.open {
                other.is_disputed = true;
            }
        } else if let Some(first) = run.claims.first() {
            let by = newer(&self.open, first);
            let before = std::mem::take(&mut self.open);
            if is_stay {
                run.under = resuming_runs(&before, &run);
            }
            self.done.extend(before.into_iter().map(|other| close_run(other, at, &by)));
        }
        self.open.push(run);
    }
}

/// Returns what resumes when a stay is over: the value before it, and below a stay that is over by then, the value before
/// that.
fn resuming_runs(before: &[ValueRun], stay: &ValueRun) -> Vec<ValueRun> {
    let mut going_on = Vec::new();
    for run in before {
        let is_over = stay.end.as_ref().is_some_and(|(end, _)| run.is_over_at(*end));
        if is_over {
            going_on.extend(run.under.iter().cloned());
        } else {
            going_on.push(run.clone());
        }
    }
    going_on
}

/// Whether two values were stated together: two jobs at once.
fn is_said_beside(known: &ValueRun, new: &ValueRun) -> bool {
    let event = |run: &ValueRun| run.claims.first().map(|claim| claim.support.source.event);
    event(known) == event(new) && known.first == new.first
}

/// Whether the order of two values is unknown: they start at the same time and neither is a stay within the other, or one
/// has no date and was said after the other started.
fn is_unclear(known: &ValueRun, new: &ValueRun) -> bool {
    let is_within = new.is_stay() && !known.is_stay();
    known.is_dated && (!new.is_dated || known.first == new.first && !is_within)
}

/// The reason why a value ends when another starts. The other was known first if one of its claims was recorded before all
/// of these.
fn newer(open: &[ValueRun], by: &Claim) -> Supersession {
    let known = open.iter().flat_map(|run| &run.claims).map(|claim| claim.support.recorded_at).min();
    let reason = match known {
        _ if by.support.is_decided() => Reason::UserCorrection,
        Some(known) if by.support.recorded_at < known => Reason::Backfill,
        _ => Reason::NewerValue,
    };
    ended_by(reason, &by.support)
}

fn close_run(mut run: ValueRun, at: WorldTime, by: &Supersession) -> ValueRun {
    run.is_disputed = false;
    run.under.clear();
    run.close(at, by.clone());
    run
}

fn ended_by(reason: Reason, support: &Support) -> Supersession {
    Supersession { reason, by: support.source.event, rule: support.rule.clone() }
}

/// Returns the moment from which a claim states a value as valid: its start, else when it was said.
pub(crate) fn begin(support: &Support) -> WorldTime {
    let said = said_at(support);
    support.valid_at.unwrap_or_else(|| support.invalid_at.map_or(said, |end| said.min(end)))
}

/// Returns the moment at which a claim was made.
fn said_at(support: &Support) -> WorldTime {
    WorldTime::from_seconds(support.occurred_at.as_micros().div_euclid(1_000_000))
}

/// Returns the position of a claim in the sweep; an end without a start is placed at its end.
fn moment(claim: &Claim) -> WorldTime {
    let support = &claim.support;
    match (support.act.is_of_past(), claim.valid_at(), support.invalid_at) {
        (true, None, Some(end)) => end,
        _ => claim.begin(),
    }
}

/// Makes a version from the claims of one value; its interval is open.
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
        act: if act.is_of_past() { Act::Assert } else { act },
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

/// A version without claims; [`weigh`] drops it.
fn nothing() -> (Predicate, Option<String>, Value) {
    let predicate = Predicate::new("nothing").expect("the name is made of letters");
    (predicate, None, Value::Literal { text: String::new(), key: String::new() })
}

/// Returns the status of an open value: below level user it stays a candidate.
fn open_status(version: &Version) -> FactStatus {
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
