//! Recall requests and results.

use std::num::NonZeroUsize;

use mnemal_core::{
    AsOf, Cursor, Event, EventFilter, ModelId, OmittedReason, Score, ScorePart, SessionId, SpaceId,
    TokenCount, Zone,
};

use crate::evidence::EvidenceFeatures;
use crate::signal::Boosts;

/// Default number of hits. Source: own choice, for an explicit search.
pub const DEFAULT_LIMIT: NonZeroUsize = NonZeroUsize::new(10).expect("ten is not zero");

/// The arms to search with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Lexical and vector search, as far as available (hybrid).
    #[default]
    Auto,
    /// Lexical search only.
    Lexical,
    /// Vector search only.
    Vector,
}

/// Adjacent messages returned with each hit, outside the ranking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expand {
    /// None.
    #[default]
    Nothing,
    /// The previous and the next message in its session.
    Neighbors,
}

/// Diversification of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diversity {
    /// The highest-ranked hits.
    #[default]
    Ranked,
    /// Diverse hits: the best of near-duplicates, and at most three of one session and five of one document, unless the
    /// question names it.
    Covering,
    /// The arms' best hits in turn: the best by words, the nearest vector, the second best by words, and so on. For
    /// duplicate detection: a copy that is first in one arm is among the first hits, whatever its score is.
    InTurn,
}

/// The end of the ranking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cutoff {
    /// Up to the limit.
    #[default]
    Limit,
    /// Up to a score drop, at most up to the limit: before a hit below half of the best score, more than .4 below the
    /// previous hit, or below .3. The best hit is always kept.
    FallOff,
}

/// A recall request.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallRequest {
    /// The question, or any words.
    pub query: String,
    /// A query vector and its model, supplied by the caller; without it the embedder computes one.
    pub query_vector: Option<(ModelId, Vec<f32>)>,
    /// The events to search. Erased and quarantined ones are always excluded, whatever the filter says.
    pub filter: EventFilter,
    /// A session whose turns are excluded, because the asker's window holds them already. Its notes are included.
    pub except_session: Option<SessionId>,
    /// Most hits.
    pub limit: NonZeroUsize,
    /// The arms to search with.
    pub mode: Mode,
    /// Boosts of the arms.
    pub boosts: Boosts,
    /// The asker's time zone, for "yesterday" and "on Friday"; UTC by default.
    pub zone: Zone,
    /// Most tokens of all hit texts together, adjacent messages included; hits beyond it are dropped.
    pub max_tokens: Option<TokenCount>,
    /// Least score of a hit.
    pub min_score: Option<f32>,
    /// Least evidence of a hit; use [`EVIDENCE_FLOOR`](crate::EVIDENCE_FLOOR) for unsolicited injection.
    pub min_evidence: Option<f32>,
    /// Adjacent messages to return with each hit.
    pub expand: Expand,
    /// Diversification of hits.
    pub diversity: Diversity,
    /// The end of the ranking.
    pub cutoff: Cutoff,
    /// World time and belief time for the status of notes; without it a note is valid until it is superseded or archived.
    pub as_of: Option<AsOf>,
}

impl RecallRequest {
    /// Requests the ten best of all live events, with hybrid search and without adjacent messages.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            query_vector: None,
            filter: EventFilter::live(),
            except_session: None,
            limit: DEFAULT_LIMIT,
            mode: Mode::Auto,
            boosts: Boosts::default(),
            zone: Zone::utc(),
            max_tokens: None,
            min_score: None,
            min_evidence: None,
            expand: Expand::Nothing,
            diversity: Diversity::Ranked,
            cutoff: Cutoff::Limit,
            as_of: None,
        }
    }
}

/// The step of the degradation ladder that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsedMode {
    /// Lexical and vector search.
    Hybrid,
    /// Lexical search.
    Lexical,
    /// Vector search.
    Vector,
    /// A substring scan of the newest events.
    Substring,
    /// No search: an empty query, or an empty space.
    Nothing,
}

impl UsedMode {
    /// Returns the wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Lexical => "lexical",
            Self::Vector => "vector",
            Self::Substring => "substring",
            Self::Nothing => "nothing",
        }
    }
}

/// The reason for a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchReason {
    /// It contains words of the query.
    Words,
    /// Only an adjacent message contains words of the query.
    Neighbor,
    /// Neither does; its vector is similar.
    Nearness,
    /// It contains the query's words as substrings.
    Substring,
}

impl MatchReason {
    /// Returns the display label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Words => "by its words",
            Self::Neighbor => "by its neighbor",
            Self::Nearness => "by its meaning",
            Self::Substring => "substring",
        }
    }
}

/// An event that a recall found, with its score, its evidence and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The event in its current state in the log.
    pub event: Event,
    /// Its ranking score, 0 to 1; comparable within one answer.
    pub score: Score,
    /// Its evidence, 0 to 1; comparable between answers and spaces.
    pub evidence: f32,
    /// The features that the evidence is computed from.
    pub features: EvidenceFeatures,
    /// The reranker's score, if one was used; reranked hits come before the others, ordered by it alone. It is no part of
    /// the score.
    pub reranked: Option<f32>,
    /// The parts of the score; they add up to it within 1e-6.
    pub parts: Vec<ScorePart>,
    /// Share of its lexical score that comes from adjacent messages, 0 to 1.
    pub neighbor_share: f32,
    /// The reason for the hit.
    pub found_by: MatchReason,
    /// The previous message in its session, if requested.
    pub before: Option<Event>,
    /// The next message in its session, if requested.
    pub after: Option<Event>,
    /// Its space, if several were searched; `None` for the space of the answer.
    pub space: Option<SpaceId>,
}

impl Hit {
    /// Returns the hit with its score and score parts multiplied by `weight`.
    ///
    /// A score is relative to the best candidate of its own space, so the best hits of two spaces score about the same,
    /// even if the second space has little relevant content. Multiplied by the evidence of its best hit, which is
    /// comparable, a space's ranking keeps its order and merges correctly with those of other spaces.
    #[must_use]
    pub fn scaled(mut self, weight: f32) -> Self {
        for part in &mut self.parts {
            part.weight *= weight;
            part.value *= weight;
        }
        self.score = Score::new(self.score.get() * weight);
        self
    }
}

/// A hit excluded from the result, with the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct WithheldHit {
    /// The hit.
    pub hit: Hit,
    /// The reason.
    pub reason: OmittedReason,
}

/// The result of a recall.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallResult {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Matching notes excluded from the hits, best first: superseded by a newer version, or no longer valid.
    pub withheld: Vec<WithheldHit>,
    /// The step of the ladder that answered.
    pub used: UsedMode,
    /// The largest evidence of all hits, 0 without hits; below [`EVIDENCE_FLOOR`](crate::EVIDENCE_FLOOR) the right answer
    /// is "nothing relevant".
    pub evidence: f32,
    /// Position of the newest searched event.
    pub head: Cursor,
    /// Model of the query vector, if there was one.
    pub model: Option<ModelId>,
}
