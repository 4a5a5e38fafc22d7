//! Predicate cardinality in a space: the shipped table, unless a person decided or the engine learned otherwise.

use std::collections::BTreeMap;

use mnemal_core::{Cardinality, EventId, Predicate, Ruling};
use mnemal_extract::predicate;

/// Most custom predicates that are tracked; further ones count as sets, and nothing is learned about them. Source: own
/// choice; the shipped table has 40.
const MOST_OWN: usize = 1_000;

/// The origin of a predicate's cardinality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardinalityOrigin {
    /// The shipped table.
    Shipped,
    /// A custom predicate of the space with no ruling yet; it counts as a set.
    Candidate,
    /// Learned by the engine from the claims.
    Learned,
    /// Decided by a person.
    Decided,
}

impl CardinalityOrigin {
    /// Returns the name used on the wire and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shipped => "shipped",
            Self::Candidate => "candidate",
            Self::Learned => "learnt",
            Self::Decided => "decided",
        }
    }
}

/// The cardinality rulings of a space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cardinalities {
    said: BTreeMap<Predicate, Vec<Ruling>>,
    is_changed: bool,
}

impl Cardinalities {
    /// Loads the stored rulings.
    pub(crate) fn from_rows(said: BTreeMap<Predicate, Vec<Ruling>>) -> Self {
        Self { said, is_changed: false }
    }

    /// Returns the rulings to store.
    pub(crate) fn rows(&self) -> &BTreeMap<Predicate, Vec<Ruling>> {
        &self.said
    }

    /// Whether a ruling changed since the last call.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }

    /// Returns the cardinality of a predicate per subject: the last decision of a person, else the last learned ruling,
    /// else the table, else a set.
    pub(crate) fn of(&self, predicate: &Predicate) -> Cardinality {
        let ruled = self.ruling(predicate).map(|ruling| ruling.cardinality);
        ruled.or_else(|| built_in(predicate)).unwrap_or(Cardinality::Many)
    }

    /// Returns the origin of the cardinality.
    pub(crate) fn origin(&self, predicate: &Predicate) -> CardinalityOrigin {
        match self.ruling(predicate) {
            Some(ruling) if ruling.is_decided => CardinalityOrigin::Decided,
            Some(_) => CardinalityOrigin::Learned,
            None if built_in(predicate).is_some() => CardinalityOrigin::Shipped,
            None => CardinalityOrigin::Candidate,
        }
    }

    fn ruling(&self, predicate: &Predicate) -> Option<&Ruling> {
        let rulings = self.said.get(predicate)?;
        rulings.iter().rev().find(|ruling| ruling.is_decided).or_else(|| rulings.last())
    }

    /// Records that a predicate is in use.
    pub(crate) fn meet(&mut self, predicate: &Predicate) {
        let is_new = built_in(predicate).is_none() && !self.said.contains_key(predicate);
        if is_new && self.said.len() < MOST_OWN {
            self.said.insert(predicate.clone(), Vec::new());
            self.is_changed = true;
        }
    }

    /// Adds a ruling.
    pub(crate) fn rule(&mut self, predicate: &Predicate, ruling: Ruling) {
        self.said.entry(predicate.clone()).or_default().push(ruling);
        self.is_changed = true;
    }

    /// Returns the predicate that an event ruled on.
    pub(crate) fn ruled_by(&self, event: EventId) -> Option<&Predicate> {
        let rules = |rulings: &[Ruling]| rulings.iter().any(|ruling| ruling.by == event);
        self.said.iter().find(|(_, rulings)| rules(rulings)).map(|(predicate, _)| predicate)
    }

    /// Reverts the ruling of an event.
    pub(crate) fn take_back(&mut self, predicate: &Predicate, event: EventId) {
        let Some(rulings) = self.said.get_mut(predicate) else { return };
        rulings.retain(|ruling| ruling.by != event);
        if rulings.is_empty() && built_in(predicate).is_some() {
            self.said.remove(predicate);
        }
        self.is_changed = true;
    }
}

/// Whether a decision may set this cardinality: an event predicate stays one, and no other becomes one.
pub(crate) fn may_decide(predicate: &Predicate, cardinality: Cardinality) -> bool {
    cardinality != Cardinality::Event && built_in(predicate) != Some(Cardinality::Event)
}

/// Whether the engine may set this cardinality itself: only for a custom predicate, and only a set or one value at a
/// time.
pub(crate) fn may_learn(predicate: &Predicate, cardinality: Cardinality) -> bool {
    matches!(cardinality, Cardinality::Now | Cardinality::Many) && built_in(predicate).is_none()
}

fn built_in(predicate: &Predicate) -> Option<Cardinality> {
    predicate::of(predicate.as_str()).map(|info| info.cardinality)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicate(name: &str) -> Predicate {
        Predicate::new(name).unwrap()
    }

    fn learnt(by: u128, cardinality: Cardinality) -> Ruling {
        Ruling { by: EventId(by), is_decided: false, cardinality }
    }

    fn ruling(by: u128, cardinality: Cardinality) -> Ruling {
        Ruling { is_decided: true, ..learnt(by, cardinality) }
    }

    #[test]
    fn the_last_word_of_a_person_stands_before_the_engine_and_the_engine_before_the_table() {
        let (own, mut all) = (predicate("sits_at"), Cardinalities::default());
        assert_eq!((all.of(&own), all.origin(&own)), (Cardinality::Many, CardinalityOrigin::Candidate));
        all.rule(&own, learnt(1, Cardinality::Now));
        assert_eq!((all.of(&own), all.origin(&own)), (Cardinality::Now, CardinalityOrigin::Learned));
        all.rule(&own, ruling(2, Cardinality::One));
        all.rule(&own, learnt(3, Cardinality::Many));
        assert_eq!((all.of(&own), all.origin(&own)), (Cardinality::One, CardinalityOrigin::Decided));
        all.take_back(&own, EventId(2));
        assert_eq!((all.of(&own), all.origin(&own)), (Cardinality::Many, CardinalityOrigin::Learned));
        assert_eq!(all.ruled_by(EventId(3)), Some(&own));
        let home = predicate("lives_in");
        assert_eq!((all.of(&home), all.origin(&home)), (Cardinality::Now, CardinalityOrigin::Shipped));
        all.rule(&home, ruling(4, Cardinality::Many));
        assert_eq!((all.of(&home), all.origin(&home)), (Cardinality::Many, CardinalityOrigin::Decided));
        all.take_back(&home, EventId(4));
        assert!(!all.rows().contains_key(&home), "nothing is kept of a shipped one of which nothing is said");
    }

    #[test]
    fn a_happening_stays_one_and_the_engine_changes_no_shipped_predicate() {
        let (own, home, trip) = (predicate("sits_at"), predicate("lives_in"), predicate("visited"));
        assert!(may_decide(&own, Cardinality::One) && may_decide(&home, Cardinality::Many));
        assert!(!may_decide(&own, Cardinality::Event) && !may_decide(&trip, Cardinality::Many));
        assert!(may_learn(&own, Cardinality::Now) && may_learn(&own, Cardinality::Many));
        assert!(!may_learn(&own, Cardinality::One) && !may_learn(&home, Cardinality::Many));
    }

    #[test]
    fn so_many_own_predicates_are_kept_track_of_and_no_more() {
        let mut all = Cardinalities::default();
        (0..MOST_OWN + 5).for_each(|n| all.meet(&predicate(&format!("own_{n}"))));
        all.meet(&predicate("lives_in"));
        assert_eq!(all.rows().len(), MOST_OWN);
        assert!(all.take_changed() && !all.take_changed());
    }
}
