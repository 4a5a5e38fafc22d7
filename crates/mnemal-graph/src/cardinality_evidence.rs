//! Cardinality evidence: whether the values of a predicate coexist or succeed each other.
//!
//! [`judge`] uses only the claims and never the result of the fold, so a learned cardinality does not confirm itself.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mnemal_core::{
    Act, AsOf, Cardinality, EntityId, EventId, Fact, FactFilter, FactStatus, Predicate, Result, Support,
    Timestamp, Trust, Within, WorldTime,
};

use crate::Graph;
use crate::cardinality::{Cardinalities, CardinalityOrigin};
use crate::interval::begin;

/// Mentions of a subject after which a value that is not restated is over. Source: NX-09.3, a succession needs silence.
const MENTIONS: usize = 10;
/// The same in time, microseconds: 90 days. Source: NX-09.3, silence by time.
const SILENCE: i64 = 90 * 86_400 * 1_000_000;
/// Fewest subjects with evidence for a conclusion. Source: NX-09.4, a small sample concludes nothing.
const ENOUGH: usize = 20;
/// Share of subjects with coexisting values below which, at the upper bound, a predicate holds one value at a time. Source:
/// NX-09.4, coexistence is rare.
const RARELY: f64 = 0.1;
/// Share above which, at the lower bound, it is a set. Source: NX-09.4, coexistence is the rule.
const MOSTLY: f64 = 0.5;
/// Standard deviations of a 95 % interval. Source: the normal distribution.
const Z: f64 = 1.959_964;
/// Most events listed as evidence. Source: own choice; enough to inspect.
const MOST_SOURCES: usize = 100;

/// The cardinality of a predicate in a space, its origin, and the evidence in its claims.
#[derive(Clone, Debug, PartialEq)]
pub struct CardinalityEvidence {
    /// The predicate.
    pub predicate: Predicate,
    /// How many values it holds per subject.
    pub cardinality: Cardinality,
    /// The origin of the cardinality.
    pub origin: CardinalityOrigin,
    /// Subjects with two values that are valid at the same time. For a predicate with one value per topic, each topic of a
    /// subject counts as a subject.
    pub together: usize,
    /// Subjects without coexisting values where one value succeeded another that was not restated.
    pub followed: usize,
    /// Subjects with two values and no evidence for either yet.
    pub open: usize,
    /// Some of the counted events, at most 100, by id.
    pub sources: Vec<EventId>,
}

impl CardinalityEvidence {
    /// Returns how many subjects show either.
    pub fn sample_size(&self) -> usize {
        self.together + self.followed
    }

    /// Returns the 95 % Wilson interval of the share of those subjects whose values coexist; 0 to 1 if there are none.
    ///
    /// `(p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)`, E. B. Wilson 1927.
    pub fn interval(&self) -> (f64, f64) {
        if self.sample_size() == 0 {
            return (0.0, 1.0);
        }
        let n = self.sample_size() as f64;
        let share = self.together as f64 / n;
        let middle = share + Z * Z / (2.0 * n);
        let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        let whole = 1.0 + Z * Z / n;
        (((middle - half) / whole).max(0.0), ((middle + half) / whole).min(1.0))
    }

    /// Returns the cardinality that the claims show: one value at a time, or a set; `None` while the evidence is
    /// insufficient. Successions, however many, never show a set.
    pub fn shows(&self) -> Option<Cardinality> {
        let (low, high) = self.interval();
        match self.sample_size() {
            n if n < ENOUGH => None,
            _ if high < RARELY => Some(Cardinality::Now),
            _ if low > MOSTLY => Some(Cardinality::Many),
            _ => None,
        }
    }

    /// Whether the evidence contradicts the cardinality in effect.
    pub fn disagrees(&self) -> bool {
        match self.shows() {
            Some(Cardinality::Many) => self.cardinality != Cardinality::Many,
            Some(_) => self.cardinality == Cardinality::Many,
            None => false,
        }
    }
}

impl fmt::Display for CardinalityEvidence {
    /// Formats it as one line: `works_at is now (shipped): of 25 subjects 23 hold two values at once (0.75 to 0.98), and 2
    /// one after another; 3 show neither`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { predicate, cardinality, origin, together, followed, open, .. } = self;
        let (low, high) = self.interval();
        let (cardinality, origin, judged) = (cardinality.as_str(), origin.as_str(), self.sample_size());
        write!(out, "{predicate} is {cardinality} ({origin}): of {judged} subjects {together} ")?;
        write!(out, "hold two values at once ({low:.2} to {high:.2}), and {followed} one after another; ")?;
        write!(out, "{open} show neither")
    }
}

/// The evidence of one subject's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Together,
    Followed,
    Open,
}

/// One value of a subject, with its claims and times.
#[derive(Clone, Debug)]
struct ValueHistory {
    /// The earliest moment from which a claim states it as valid.
    first: WorldTime,
    /// The moment of its last claim: its start, else when it was said.
    last: WorldTime,
    /// When it was said, earliest first.
    said: Vec<Timestamp>,
    events: BTreeSet<EventId>,
}

impl ValueHistory {
    fn of<'s>(supports: impl Iterator<Item = &'s Support>) -> Option<Self> {
        let (mut begins, mut said, mut events) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
        for support in supports {
            begins.insert(begin(support));
            said.push(support.occurred_at);
            events.insert(support.source.event);
        }
        said.sort_unstable();
        Some(Self { first: *begins.first()?, last: *begins.last()?, said, events })
    }

    /// Whether both are valid at one time: stated in one event, or each stated of a time after the other started.
    fn is_with(&self, other: &Self) -> bool {
        let crosses = self.last > other.first && other.last > self.first;
        crosses || self.events.iter().any(|event| other.events.contains(event))
    }

    /// Whether it succeeded another value that was not restated in the next ten mentions of the subject, or 90 days.
    /// `mentions` is sorted; a period that has not passed yet is no evidence.
    fn follows(&self, other: &Self, mentions: &[Timestamp], until: Timestamp) -> bool {
        let Some(said) = self.said.first().filter(|_| other.first < self.first) else { return false };
        let next = mentions.partition_point(|at| at <= said);
        let tenth = mentions.get(next + MENTIONS - 1).copied();
        let later = said.plus_micros(SILENCE);
        let Some(end) = tenth.into_iter().chain((later <= until).then_some(later)).min() else {
            return false;
        };
        let again = other.said.partition_point(|at| at <= said);
        other.said.get(again).is_none_or(|again| *again > end)
    }
}

/// Judges whether two values of one subject coexist, or one succeeds another. `mentions` are the times at which the subject
/// is mentioned, sorted; `until` is the present.
fn judge(values: &[ValueHistory], mentions: &[Timestamp], until: Timestamp) -> Verdict {
    let pairs = || {
        values.iter().enumerate().flat_map(|(n, one)| values.iter().skip(n + 1).map(move |two| (one, two)))
    };
    if pairs().any(|(one, two)| one.is_with(two)) {
        return Verdict::Together;
    }
    let follows = |one: &ValueHistory, two: &ValueHistory| two.follows(one, mentions, until);
    if pairs().any(|(one, two)| follows(one, two) || follows(two, one)) {
        return Verdict::Followed;
    }
    Verdict::Open
}

/// The subject of a value; with the topic where a predicate holds one value per topic.
type SubjectKey = (EntityId, Option<String>);
/// The values of each subject of a predicate that has at least two.
type Subjects = BTreeMap<SubjectKey, Vec<ValueHistory>>;

/// Collects the claims; rejected ones, and those that rest on the agent alone, do not count.
fn gather(facts: &[&Fact], cardinality: Cardinality) -> Subjects {
    let mut claims: BTreeMap<SubjectKey, BTreeMap<String, Vec<&Support>>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.status != FactStatus::Rejected) {
        let topic = fact.topic.clone().filter(|_| cardinality == Cardinality::NowPerTopic);
        let of = claims.entry((fact.subject, topic)).or_default().entry(fact.object.key()).or_default();
        let counts = |support: &&Support| support.act == Act::Assert && support.trust >= Trust::Document;
        of.extend(fact.supports.iter().filter(counts));
    }
    let held = claims.into_iter().map(|(subject, values)| {
        let values = values.into_values().filter_map(|supports| ValueHistory::of(supports.into_iter()));
        (subject, values.collect::<Vec<ValueHistory>>())
    });
    held.filter(|(_, values)| values.len() > 1).collect()
}

impl Graph {
    /// Returns the cardinality evidence of shipped and custom predicates, by name; event predicates and predicates without
    /// claims are left out.
    ///
    /// It reads the claims of these predicates, and the mentions of the subjects without coexisting values.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn cardinality_evidence(
        &self,
        predicates: Within<Vec<Predicate>>,
        now: Timestamp,
    ) -> Result<Vec<CardinalityEvidence>> {
        let known = Cardinalities::from_rows(self.store().edition().await?.predicates);
        let facts = self.store().believed(&FactFilter { predicates, ..FactFilter::all() }).await?;
        let mut by_predicate: BTreeMap<&Predicate, Vec<&Fact>> = BTreeMap::new();
        for fact in &facts {
            by_predicate.entry(&fact.predicate).or_default().push(fact);
        }
        let mut mentions = BTreeMap::new();
        let mut all = Vec::new();
        for (predicate, facts) in by_predicate {
            let cardinality = known.of(predicate);
            if cardinality == Cardinality::Event {
                continue;
            }
            let (mut together, mut followed, mut open) = (0, 0, 0);
            let mut sources = BTreeSet::new();
            for ((subject, _), values) in gather(&facts, cardinality) {
                // Coexisting values coexist whenever the subject is mentioned.
                let mut verdict = judge(&values, &[], Timestamp::EPOCH);
                if verdict == Verdict::Open {
                    let times = match mentions.entry(subject) {
                        Entry::Occupied(known) => known.into_mut(),
                        Entry::Vacant(place) => place.insert(self.named_at(subject).await?),
                    };
                    verdict = judge(&values, times, now);
                }
                match verdict {
                    Verdict::Together => together += 1,
                    Verdict::Followed => followed += 1,
                    Verdict::Open => open += 1,
                }
                if verdict != Verdict::Open {
                    let room = MOST_SOURCES.saturating_sub(sources.len());
                    sources.extend(values.iter().flat_map(|value| &value.events).copied().take(room));
                }
            }
            let (predicate, origin) = (predicate.clone(), known.origin(predicate));
            let sources = sources.into_iter().collect();
            all.push(CardinalityEvidence {
                predicate,
                cardinality,
                origin,
                together,
                followed,
                open,
                sources,
            });
        }
        Ok(all)
    }

    /// Returns when an entity was mentioned or was the subject of a claim, sorted; each event once. A first-person
    /// statement mentions no entity.
    async fn named_at(&self, id: EntityId) -> Result<Vec<Timestamp>> {
        let rows = self.mentions(id, AsOf::present(Timestamp::MAX)).await?;
        let mut times: BTreeMap<EventId, Timestamp> =
            rows.into_iter().map(|row| (row.source.event, row.occurred_at)).collect();
        let about = FactFilter { subjects: Within::Only(vec![id]), ..FactFilter::all() };
        for fact in self.store().believed(&about).await? {
            times.extend(fact.supports.iter().map(|one| (one.source.event, one.occurred_at)));
        }
        let mut times: Vec<Timestamp> = times.into_values().collect();
        times.sort_unstable();
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    fn at(day: i64) -> Timestamp {
        Timestamp::from_micros(day * DAY * 1_000_000).unwrap()
    }

    /// A value said on these days, in events with these numbers.
    fn value(days: &[(i64, u128)]) -> ValueHistory {
        let begins: Vec<WorldTime> = days.iter().map(|(day, _)| WorldTime::from_seconds(day * DAY)).collect();
        ValueHistory {
            first: *begins.iter().min().unwrap(),
            last: *begins.iter().max().unwrap(),
            said: days.iter().map(|(day, _)| at(*day)).collect(),
            events: days.iter().map(|(_, event)| EventId(*event)).collect(),
        }
    }

    fn evidence(together: usize, followed: usize) -> CardinalityEvidence {
        CardinalityEvidence {
            predicate: Predicate::new("sits_at").unwrap(),
            cardinality: Cardinality::Many,
            origin: CardinalityOrigin::Candidate,
            together,
            followed,
            open: 3,
            sources: Vec::new(),
        }
    }

    // proves: NX-09.3
    #[test]
    fn values_hold_together_when_one_event_says_both_or_each_is_said_after_the_other_began() {
        let (now, none) = (at(1_000), &[][..]);
        assert_eq!(
            judge(&[value(&[(1, 1)]), value(&[(1, 1)])], none, now),
            Verdict::Together,
            "in one event"
        );
        assert_eq!(judge(&[value(&[(1, 1), (9, 3)]), value(&[(5, 2)])], none, now), Verdict::Together);
        assert_eq!(judge(&[value(&[(5, 2)]), value(&[(1, 1), (9, 3)])], none, now), Verdict::Together);
        let one_after_another = [value(&[(1, 1), (5, 2)]), value(&[(5, 3), (9, 4)])];
        assert_ne!(
            judge(&one_after_another, none, now),
            Verdict::Together,
            "the day of the change is no proof"
        );
    }

    // proves: NX-09.3
    #[test]
    fn a_value_follows_another_that_is_said_no_more_in_ten_mentions_or_ninety_days() {
        let (old, new) = (value(&[(1, 1)]), value(&[(5, 2)]));
        let pair = [old, new.clone()];
        let named = |n: i64| (0..n).map(|n| at(5 + 2 * n)).collect::<Vec<_>>();
        assert_eq!(judge(&pair, &[], at(94)), Verdict::Open, "89 days show nothing");
        assert_eq!(judge(&pair, &[], at(95)), Verdict::Followed);
        // The mention on the fifth day is that of the new value itself.
        assert_eq!(judge(&pair, &named(10), at(40)), Verdict::Open, "nine mentions show nothing");
        assert_eq!(judge(&pair, &named(11), at(40)), Verdict::Followed);
        // It was dated before the new value, and restated after it: neither a succession nor coexistence.
        let told_again = ValueHistory { said: vec![at(1), at(20)], ..value(&[(1, 1)]) };
        assert_eq!(judge(&[told_again, new.clone()], &named(11), at(400)), Verdict::Open);
        let told_later = ValueHistory { said: vec![at(1), at(96)], ..value(&[(1, 1)]) };
        assert_eq!(judge(&[told_later, new], &[], at(400)), Verdict::Followed, "91 days later");
    }

    // proves: NX-09.4
    #[test]
    fn twenty_subjects_and_wilsons_bounds_decide() {
        let shows = |together, followed| evidence(together, followed).shows();
        assert_eq!(shows(0, 19), None, "too few subjects");
        // 0 of 34: the upper bound is .1015; 0 of 35: .0989.
        assert_eq!((shows(0, 34), shows(0, 35)), (None, Some(Cardinality::Now)));
        assert_eq!((shows(3, 60), shows(3, 100)), (None, Some(Cardinality::Now)));
        assert_eq!((shows(19, 0), shows(20, 0)), (None, Some(Cardinality::Many)));
        // 14 of 20: the lower bound is .481; 15 of 20: .531.
        assert_eq!((shows(14, 6), shows(15, 5)), (None, Some(Cardinality::Many)));
        assert!((1..5_000).all(|n| shows(0, n) != Some(Cardinality::Many)));
    }

    // proves: NX-09.5
    #[test]
    fn what_the_claims_show_is_held_against_what_the_predicate_is() {
        let taken_for = |cardinality, together, followed| {
            CardinalityEvidence { cardinality, ..evidence(together, followed) }.disagrees()
        };
        assert!(taken_for(Cardinality::Now, 20, 0) && taken_for(Cardinality::One, 20, 0));
        assert!(taken_for(Cardinality::Many, 0, 40) && !taken_for(Cardinality::Many, 20, 0));
        assert!(!taken_for(Cardinality::Now, 0, 40) && !taken_for(Cardinality::Now, 10, 10));
        assert_eq!(
            evidence(23, 2).to_string(),
            "sits_at is many (candidate): of 25 subjects 23 hold two values at once (0.75 to 0.98), and 2 one after another; 3 show neither"
        );
    }
}
