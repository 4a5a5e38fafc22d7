//! Cardinality of predicates, and the rulings about it in a space.

use crate::EventId;

/// The number of values that a predicate holds for one subject.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cardinality {
    /// One value for life.
    One,
    /// One value at a time; a new value closes the old one.
    Now,
    /// One value at a time for each topic.
    NowPerTopic,
    /// A set; a member ends only when its end, or its opposite, is stated.
    Many,
    /// An event, which stays true for ever.
    Event,
}

impl Cardinality {
    /// All of them, in declaration order.
    pub const ALL: [Self; 5] = [Self::One, Self::Now, Self::NowPerTopic, Self::Many, Self::Event];

    /// Returns the name on the wire and in the table of predicates.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Now => "now",
            Self::NowPerTopic => "now/k",
            Self::Many => "many",
            Self::Event => "event",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

/// A ruling on the cardinality of a predicate in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The user's decision, or the engine's operation.
    pub by: EventId,
    /// Whether a person decided it; a decision always outranks what the engine inferred.
    pub is_decided: bool,
    /// The cardinality.
    pub cardinality: Cardinality,
}
