//! Reasons for claims that were dropped.

use std::collections::BTreeMap;
use std::fmt;

use crate::gates::Gates;

/// The reason why a match gave no claim.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// A closed gate; the first one.
    Gate(u16),
    /// The object was empty.
    EmptyObject,
    /// The object refers to something unnamed.
    Pronoun,
    /// The object is generic: "thing".
    Generic,
    /// The object is not of the required kind.
    WrongKind,
    /// The object contains a rejected word.
    Rejected,
    /// The rule does not apply to such a subject.
    WrongSubject,
    /// The confidence is too low.
    Unsure,
    /// The same claim was made before.
    Repeated,
    /// The rule is disabled.
    Disabled,
}

impl Reason {
    /// Makes the reason of closed gates.
    pub(crate) fn gate(gates: Gates) -> Self {
        let first = Gates::NAMES.iter().position(|(gate, _)| gates.contains(*gate)).unwrap_or(0);
        Self::Gate(u16::try_from(first).unwrap_or_default())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Gate(number) => {
                let name = Gates::NAMES.get(usize::from(*number)).map_or("", |(_, name)| name);
                return write!(out, "gate {name}");
            }
            Self::EmptyObject => "empty object",
            Self::Pronoun => "pronoun in the object",
            Self::Generic => "generic object",
            Self::WrongKind => "object of another kind",
            Self::Rejected => "rejected object",
            Self::WrongSubject => "another subject",
            Self::Unsure => "low confidence",
            Self::Repeated => "said before",
            Self::Disabled => "rule switched off",
        };
        out.write_str(text)
    }
}

/// The dropped claims, by rule and reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct DroppedClaims {
    counts: BTreeMap<(String, Reason), usize>,
}

impl DroppedClaims {
    /// Counts one.
    pub(crate) fn add(&mut self, rule: &str, reason: Reason) {
        *self.counts.entry((rule.to_owned(), reason)).or_default() += 1;
    }

    /// Returns a line for each rule and reason.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |((rule, reason), count): (&(String, Reason), &usize)| match count {
            1 => format!("{rule}: {reason}"),
            _ => format!("{rule}: {reason} ({count})"),
        };
        self.counts.iter().map(line).collect()
    }
}
