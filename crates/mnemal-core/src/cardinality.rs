//! The number of values that a predicate holds for one subject, and what was said of it in a space.

use crate::EventId;

/// How many values a predicate holds for one subject.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cardinality {
    /// One for life.
    One,
    /// One at a time; a new value closes the old one.
    Now,
    /// One at a time for each topic.
    NowPerTopic,
    /// A set; each member ends only when its end, or its opposite, is said.
    Many,
    /// A happening, which never ends to be true.
    Event,
}

impl Cardinality {
    /// All of them, in the order of their declaration.
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

/// What an event says of how many values a predicate holds in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The decision of a person, or the operation of the engine.
    pub by: EventId,
    /// Whether a person decided so; what the engine learnt never stands against that.
    pub is_decided: bool,
    /// How many.
    pub cardinality: Cardinality,
}
