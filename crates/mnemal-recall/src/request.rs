//! What is asked of recall, and what it answers.

use std::num::NonZeroUsize;

use mnemal_core::{
    AsOf, Cursor, Event, EventFilter, ModelId, OmittedReason, Score, ScorePart, SessionId, SpaceId,
    TokenCount, Zone,
};

use crate::evidence::Grounds;
use crate::signal::Boosts;

/// Hits of a request that does not say how many. Source: CF-09, explicit search.
pub const DEFAULT_LIMIT: NonZeroUsize = NonZeroUsize::new(10).expect("ten is not zero");

/// Which arms search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Words and vectors, as far as both are there (hybrid).
    #[default]
    Auto,
    /// Words only.
    Lexical,
    /// Vectors only.
    Vector,
}

/// What comes along with each hit, outside the ranking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expand {
    /// Nothing.
    #[default]
    Nothing,
    /// The messages right before and after it in its conversation.
    Neighbours,
}

/// How hits are chosen from the ranking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// The best ones.
    #[default]
    Ranked,
    /// Ones that say different things: of near-duplicates the best, and at most three of one conversation and five of one
    /// document, unless the question names it.
    Covering,
    /// Each arm's best in turn: the best by its words, the nearest, the second by its words, and so on. For who looks for
    /// duplicates: a twin that is first in one arm is among the first hits, whatever its score is.
    InTurn,
}

/// How far down the ranking hits are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Down to the limit.
    #[default]
    Limit,
    /// Down to where the scores fall off, never further than the limit: before a hit below half of the best score, one more
    /// than .4 below the hit before it, or one below .3. The best hit stays.
    FallOff,
}

/// A question to the log.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallRequest {
    /// The question, or any words.
    pub query: String,
    /// The query's own vector and its model, made by the caller; without it the embedder makes one.
    pub query_vector: Option<(ModelId, Vec<f32>)>,
    /// Which events may be found. Erased and quarantined ones never are, whatever the filter says of them.
    pub filter: EventFilter,
    /// A conversation whose turns are not found: they stand in the asker's window already. Its notes are found.
    pub except_session: Option<SessionId>,
    /// Most hits.
    pub limit: NonZeroUsize,
    /// Which arms search.
    pub mode: Mode,
    /// How much more each arm counts.
    pub boosts: Boosts,
    /// Where the asker is, for "yesterday" and "on Friday"; UTC unless it is said.
    pub zone: Zone,
    /// Most tokens of all hits' texts together, neighbours included; hits behind the limit are left out.
    pub max_tokens: Option<TokenCount>,
    /// Hits with a lower score are left out.
    pub min_score: Option<f32>,
    /// Hits with less evidence are left out; [`EVIDENCE_FLOOR`](crate::EVIDENCE_FLOOR) for what nobody asked for.
    pub min_evidence: Option<f32>,
    /// What comes along with each hit.
    pub expand: Expand,
    /// How hits are chosen from the ranking.
    pub spread: Spread,
    /// How far down the ranking hits are taken.
    pub depth: Depth,
    /// What held of the notes, as known when; without it a note holds until it is superseded or put away.
    pub as_of: Option<AsOf>,
}

impl RecallRequest {
    /// Asks for the ten best of all living events, words and vectors, without neighbours.
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
            spread: Spread::Ranked,
            depth: Depth::Limit,
            as_of: None,
        }
    }
}

/// Which rung of the ladder answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsedMode {
    /// Words and vectors.
    Hybrid,
    /// Words.
    Lexical,
    /// Vectors.
    Vector,
    /// A scan of the newest events for the query's words as they are written.
    Substring,
    /// There was nothing to search for, or nothing to search in.
    Nothing,
}

impl UsedMode {
    /// Returns the name on the wire.
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

/// What led to a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// It holds words of the query.
    Words,
    /// It holds none; a message next to it does.
    Neighbour,
    /// Neither does; its vector is near.
    Nearness,
    /// The query's words stand in it as they are written.
    Substring,
}

impl FoundBy {
    /// Returns the label that people read.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Words => "by its words",
            Self::Neighbour => "by its neighbour",
            Self::Nearness => "by its meaning",
            Self::Substring => "substring",
        }
    }
}

/// One event that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The event, as the log has it now.
    pub event: Event,
    /// Its rank value, 0 to 1; comparable within one answer.
    pub score: Score,
    /// How much speaks for it, 0 to 1; comparable between answers and spaces.
    pub evidence: f32,
    /// What speaks for and against it, of which the evidence is made.
    pub grounds: Grounds,
    /// What a reranker thought of it, where one was asked; hits that have it stand before those that have not, by it alone.
    /// It is no part of the score.
    pub reranked: Option<f32>,
    /// The summands of the score; they add up to it within 1e-6.
    pub parts: Vec<ScorePart>,
    /// Which share of its score of words came from its neighbours, 0 to 1.
    pub neighbour_share: f32,
    /// What led to it.
    pub found_by: FoundBy,
    /// The message before it in its conversation, if asked for.
    pub before: Option<Event>,
    /// The message after it in its conversation, if asked for.
    pub after: Option<Event>,
    /// The space that it comes from, where several were asked; `None` for the one that the answer is of.
    pub space: Option<SpaceId>,
}

impl Hit {
    /// Returns the hit with its score, and each summand of it, times `weight`.
    ///
    /// A score is a share of the best among its own candidates, so two spaces give their best hits about the same one,
    /// however little the second has to say. Times the evidence of its best hit, which is comparable, a space's ranking
    /// keeps its order and finds its place among those of other spaces.
    #[must_use]
    pub fn weighed(mut self, weight: f32) -> Self {
        for part in &mut self.parts {
            part.weight *= weight;
            part.value *= weight;
        }
        self.score = Score::new(self.score.get() * weight);
        self
    }
}

/// A hit that is no answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Withheld {
    /// The hit.
    pub hit: Hit,
    /// Why it is none.
    pub reason: OmittedReason,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Notes that match and are no answer, best first: a newer version holds, or they no longer do.
    pub withheld: Vec<Withheld>,
    /// The rung that answered.
    pub used: UsedMode,
    /// The largest evidence of all hits, 0 without hits; below [`EVIDENCE_FLOOR`](crate::EVIDENCE_FLOOR) "nothing
    /// relevant" is the honest answer.
    pub evidence: f32,
    /// Position of the newest event that the search knew.
    pub head: Cursor,
    /// Model of the query vector, if there was one.
    pub model: Option<ModelId>,
}
