//! Degradation: answers with their gaps, slots for optional parts, and health.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::{Error, ErrorKind, Timestamp, TokenCount};

/// A part of the engine that can be missing.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// The log.
    Events,
    /// Keyed notes and other learnings.
    Learnings,
    /// Lexical recall.
    Lexical,
    /// Vector recall.
    Vector,
    /// Reranking of the best hits.
    Rerank,
    /// Assembly of contexts.
    Context,
    /// Receipts.
    Receipts,
    /// The knowledge graph.
    Graph,
    /// The summary tree.
    Summaries,
    /// Working memory with a time to live.
    Working,
}

impl Layer {
    /// Returns the name on the wire, in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Learnings => "learnings",
            Self::Lexical => "lexical",
            Self::Vector => "vector",
            Self::Rerank => "rerank",
            Self::Context => "context",
            Self::Receipts => "receipts",
            Self::Graph => "graph",
            Self::Summaries => "summaries",
            Self::Working => "working",
        }
    }
}

/// The reason why a layer did not answer in full.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapCause {
    /// Disabled in the build or in the settings.
    NotConfigured,
    /// It returned an error, or panicked (`Internal`).
    Failed(ErrorKind),
    /// It did not answer within this time.
    TimedOut(Duration),
    /// It answered from a state that is many events behind.
    Stale {
        /// Events between its cursor and the head of the log.
        behind: u64,
    },
    /// Its answer was truncated.
    Truncated {
        /// Dropped tokens.
        dropped: TokenCount,
    },
}

impl GapCause {
    /// Returns the name on the wire, in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotConfigured => "not_configured",
            Self::Failed(_) => "failed",
            Self::TimedOut(_) => "timed_out",
            Self::Stale { .. } => "stale",
            Self::Truncated { .. } => "truncated",
        }
    }
}

/// The error cause for a missed deadline; it becomes [`GapCause::TimedOut`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(pub Duration);

impl fmt::Display for Elapsed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no answer within {} ms", self.0.as_millis())
    }
}

impl std::error::Error for Elapsed {}

/// The single conversion of an error into a gap.
impl From<Error> for GapCause {
    fn from(error: Error) -> Self {
        use std::error::Error as _;
        match error.source().and_then(|source| source.downcast_ref::<Elapsed>()) {
            Some(Elapsed(after)) => Self::TimedOut(*after),
            None => Self::Failed(error.kind()),
        }
    }
}

/// One missing part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The layer.
    pub layer: Layer,
    /// The reason.
    pub cause: GapCause,
}

impl fmt::Display for Gap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layer = self.layer.as_str();
        match self.cause {
            GapCause::NotConfigured => write!(out, "{layer}: not configured"),
            GapCause::Failed(kind) => write!(out, "{layer}: failed ({})", kind.as_str()),
            GapCause::TimedOut(after) => write!(out, "{layer}: no answer within {} ms", after.as_millis()),
            GapCause::Stale { behind } => write!(out, "{layer}: {behind} events behind"),
            GapCause::Truncated { dropped } => write!(out, "{layer}: {} tokens left out", dropped.0),
        }
    }
}

/// An answer with its gaps.
#[must_use = "an answer may have gaps"]
#[derive(Clone, Debug, PartialEq)]
pub struct Degraded<T> {
    /// The answer; also accessible through `Deref`.
    pub value: T,
    /// Its gaps; empty when every part answered.
    pub gaps: Vec<Gap>,
}

impl<T> Degraded<T> {
    /// Wraps a complete answer.
    pub fn whole(value: T) -> Self {
        Self { value, gaps: Vec::new() }
    }

    /// Maps the value and keeps the gaps.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Degraded<U> {
        Degraded { value: change(self.value), gaps: self.gaps }
    }
}

impl<T> Deref for Degraded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// A collector of gaps; each layer and cause is kept once.
#[derive(Clone, Debug, Default)]
pub struct Gaps(Vec<Gap>);

impl Gaps {
    /// Returns a value, or records the gap and returns the default.
    pub fn keep<T: Default>(&mut self, layer: Layer, part: Result<T, GapCause>) -> T {
        part.unwrap_or_else(|cause| {
            self.add(Gap { layer, cause });
            T::default()
        })
    }

    /// Unwraps an answer and takes over its gaps.
    pub fn merge<T>(&mut self, part: Degraded<T>) -> T {
        for gap in part.gaps {
            self.add(gap);
        }
        part.value
    }

    /// Records a gap unless it is known.
    pub fn add(&mut self, gap: Gap) {
        if !self.0.contains(&gap) {
            self.0.push(gap);
        }
    }

    /// Attaches the collected gaps, ordered by layer.
    pub fn attach<T>(mut self, value: T) -> Degraded<T> {
        self.0.sort_by_key(|gap| gap.layer);
        Degraded { value, gaps: self.0 }
    }
}

/// A slot for an optional part; used instead of a bare `Option`.
#[derive(Debug)]
pub enum Slot<T: ?Sized> {
    /// No part: a gap `NotConfigured`.
    Empty,
    /// A part.
    Filled(Arc<T>),
}

impl<T: ?Sized> Slot<T> {
    /// Returns the part.
    ///
    /// # Errors
    /// `NotConfigured` when the slot is empty.
    pub fn part(&self) -> Result<&T, GapCause> {
        match self {
            Self::Empty => Err(GapCause::NotConfigured),
            Self::Filled(part) => Ok(part.as_ref()),
        }
    }

    /// Whether the slot is filled.
    pub fn is_filled(&self) -> bool {
        matches!(self, Self::Filled(_))
    }
}

impl<T: ?Sized> Clone for Slot<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Filled(part) => Self::Filled(Arc::clone(part)),
        }
    }
}

impl<T: ?Sized> From<Arc<T>> for Slot<T> {
    fn from(part: Arc<T>) -> Self {
        Self::Filled(part)
    }
}

/// Health status of a part; ordered, so that the worst wins with `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Full answers.
    Ok,
    /// Partial answers.
    Degraded,
    /// No answers.
    Down,
}

/// Health of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// The layer.
    pub layer: Layer,
    /// Its status.
    pub status: Status,
    /// The reason, unless the status is `Ok`.
    pub cause: Option<GapCause>,
    /// Events between its cursor and the head of the log.
    pub behind: u64,
    /// Time of the check.
    pub at: Timestamp,
}

/// Health of all layers, in the order of [`Layer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthReport {
    /// One entry per layer.
    pub parts: Vec<Health>,
}

impl HealthReport {
    /// Returns the worst status; an unconfigured layer does not count.
    pub fn status(&self) -> Status {
        let counted = self.parts.iter().filter(|part| part.cause != Some(GapCause::NotConfigured));
        counted.map(|part| part.status).max().unwrap_or(Status::Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_deadline_and_a_failure_do_not_look_alike() {
        let after = Duration::from_millis(200);
        let late = Error::new(ErrorKind::Unavailable, "cannot embed").because(Elapsed(after));
        assert_eq!(GapCause::from(late), GapCause::TimedOut(after));
        let failed = Error::new(ErrorKind::Corrupt, "cannot load").because("checksum");
        assert_eq!(GapCause::from(failed), GapCause::Failed(ErrorKind::Corrupt));
    }

    #[test]
    fn gaps_are_kept_once_and_in_the_order_of_layers() {
        let mut gaps = Gaps::default();
        let _: u8 = gaps.keep(Layer::Vector, Err(GapCause::NotConfigured));
        let _: u8 = gaps.keep(Layer::Vector, Err(GapCause::NotConfigured));
        let _: u8 = gaps.keep(Layer::Learnings, Err(GapCause::Stale { behind: 3 }));
        let layers: Vec<Layer> = gaps.attach(()).gaps.iter().map(|gap| gap.layer).collect();
        assert_eq!(layers, [Layer::Learnings, Layer::Vector]);
    }
}
