//! Operations of the engine on memory: accepted proposals with their results.

use std::collections::BTreeSet;

use crate::{
    Cardinality, Category, EntityId, EventId, Importance, LearningKind, NodePath, Predicate, Producer,
    Source, Span, Tag,
};

/// BLAKE3 of the prompt that a model answered; identifies the answer for an audit, and never serves as its storage key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PromptHash(pub [u8; 32]);

/// An accepted proposal of a pass. Its text, if any, is the content of the carrying event, so that a rebuild needs neither a
/// model nor a cache.
///
/// Notes are named by their creating event (the one that stored them, or the operation that merged them), so that an operation
/// survives a new producer of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The operation.
    pub kind: OperationKind,
    /// The pass, with its output version.
    pub producer: Producer,
    /// The model's prompt, where a model wrote the text.
    pub prompt: Option<PromptHash>,
    /// The pass's input; the operation names nothing else.
    pub shown: Vec<EventId>,
    /// The reason, without content, at most 500 bytes.
    pub because: String,
}

/// The kind of an operation. Nothing is deleted: an archived note returns when the operation is undone.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum OperationKind {
    /// Merge notes: the event's text replaces several notes, which are archived. The highest importance among them is kept,
    /// whatever is given here.
    Merge {
        /// At least two.
        notes: Vec<EventId>,
        /// Category, tags and importance of the merged note.
        classification: Classification,
    },
    /// Archive notes.
    Retire {
        /// At least one.
        notes: Vec<EventId>,
        /// The remaining note with the same content; it takes over their sources, their tags, and the highest importance.
        into: Option<EventId>,
    },
    /// Refile a note; its text stays.
    Refine {
        /// The note.
        note: EventId,
        /// New category, tags and importance.
        classification: Classification,
    },
    /// Infer from notes: the event's text is the conclusion.
    Infer {
        /// At least two.
        from: Vec<EventId>,
        /// The kind of learning.
        kind: LearningKind,
        /// Category, tags and importance.
        classification: Classification,
    },
    /// Compress a conversation: the event's text summarizes these turns and replaces them in prompts; the turns stay in the
    /// log.
    Compress {
        /// At least one, oldest first; the conversation is compressed through the last.
        turns: Vec<EventId>,
    },
    /// Claims that a model found in a turn and the rules did not. They point at words of the turn and hold no text of their
    /// own, so they are erased with it.
    Claim {
        /// The turn.
        turn: EventId,
        /// At least one and at most [`MOST_CLAIMS`].
        claims: Vec<ClaimSpans>,
    },
    /// Rewrite a summary node: the event's text states, one statement per line, what the node's sentences say. It is shown in
    /// their place as long as the node consists of the same sentences.
    Summarize {
        /// The node.
        node: NodePath,
        /// The node's sentences, in its order.
        of: Vec<Source>,
        /// For each line of the text the indexes in `of` of its supporting sentences; at least one each.
        rests: Vec<Vec<u32>>,
    },
    /// A preference that a model found in a turn: the event's text is the user's words, verbatim.
    Prefer {
        /// The turn.
        turn: EventId,
        /// Position of the words in the turn.
        quote: Span,
    },
    /// A lesson from a finished task, written by a model: one sentence about how the agent works, which says nothing about the
    /// user or the world.
    Assess {
        /// Events of the task, oldest first, the end last: at least [`FEWEST_STEPS`] and at most [`MOST_STEPS`].
        turns: Vec<EventId>,
        /// The success score, from 1 to [`BEST_SCORE`].
        score: u8,
    },
    /// A digest of an ingested text: a file, or a text from the host. It becomes a note about that text, with the text's own
    /// level and trust, and is erased with any part of it.
    Digest {
        /// The parts of the text, in order: at least one and at most [`MOST_PARTS`].
        from: Vec<EventId>,
        /// Entities that the text names, at most [`MOST_NAMED`].
        entities: Vec<String>,
        /// Category, tags and importance; the topics are the tags.
        classification: Classification,
    },
    /// The cardinality of a space's own predicate, as its claims show. A built-in predicate, and one that a person decided
    /// about, stays as it is.
    Cardinality {
        /// The predicate.
        predicate: Predicate,
        /// `Now` or `Many`; anything else has no effect.
        cardinality: Cardinality,
    },
    /// Suggest that two entities are one. It changes nothing: a person accepts by [`Decision::Merge`](crate::Decision::Merge),
    /// and declines by undoing this.
    Suggest {
        /// The entity that would be merged.
        one: EntityId,
        /// The entity that would represent both.
        into: EntityId,
    },
}

/// Most lines of a summary's text. Source: own choice, one more than the seven sentences of an earlier design (BA-24).
pub const MOST_LINES: usize = 8;
/// Most characters of such a line. Source: own choice, one facet per line (AD-60).
pub const LONGEST_LINE: usize = 300;

/// Most parts of a text for a digest; of a longer text the first. Source: own choice, a book of 200 pages.
pub const MOST_PARTS: usize = 256;
/// Most names in a digest. Source: own choice; a longer list would be an index.
pub const MOST_NAMED: usize = 32;
/// Most characters of a digest's text. Source: own choice, one or two sentences (GB-29).
pub const LONGEST_DIGEST: usize = 600;

/// Fewest events of a task for an assessment. Source: own choice, as in an earlier design (BA-32).
pub const FEWEST_STEPS: usize = 3;
/// Most events of a task in one assessment. Source: own choice, twenty steps (BA-32).
pub const MOST_STEPS: usize = 20;
/// The best score. Source: a ten-point scale; a tenth of the score is the confidence (BA-32).
pub const BEST_SCORE: u8 = 10;

/// Most claims per turn in one operation. Source: own choice; a longer output is a list and not a statement.
pub const MOST_CLAIMS: usize = 8;

/// A claim by the positions of its words in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimSpans {
    /// The predicate.
    pub predicate: Predicate,
    /// The supporting words.
    pub quote: Span,
    /// The object, within the quote.
    pub value: Span,
    /// The subject, within the quote: a name, or words like "my sister"; `None` for the speaker.
    pub subject: Option<Span>,
}

impl ClaimSpans {
    /// Whether the quote lies within a text, and the other spans within the quote.
    pub fn fits(&self, text: &str) -> bool {
        let is_within = |span: &Span| self.quote.start <= span.start && span.end <= self.quote.end;
        let is_text = |span: &Span| span.of(text).is_some_and(|words| !words.trim().is_empty());
        let mut parts = [self.value].into_iter().chain(self.subject);
        is_text(&self.quote) && parts.all(|part| is_within(&part) && is_text(&part))
    }
}

/// Category, tags and importance of a note.
#[derive(Clone, Debug, PartialEq)]
pub struct Classification {
    /// The category.
    pub category: Category,
    /// Its tags, at most 64.
    pub tags: Vec<Tag>,
    /// Its importance.
    pub importance: Importance,
}

impl OperationKind {
    /// Returns the name on the wire.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Merge { .. } => "merge",
            Self::Retire { .. } => "retire",
            Self::Refine { .. } => "refine",
            Self::Infer { .. } => "infer",
            Self::Compress { .. } => "compress",
            Self::Claim { .. } => "claim",
            Self::Summarize { .. } => "summarize",
            Self::Prefer { .. } => "prefer",
            Self::Assess { .. } => "assess",
            Self::Digest { .. } => "digest",
            Self::Cardinality { .. } => "cardinality",
            Self::Suggest { .. } => "suggest",
        }
    }

    /// Returns the named notes or turns, in order, each once.
    pub fn names(&self) -> Vec<EventId> {
        match self {
            Self::Merge { notes, .. } | Self::Retire { notes, into: None } => notes.clone(),
            Self::Retire { notes, into: Some(into) } => notes.iter().chain([into]).copied().collect(),
            Self::Refine { note, .. } => vec![*note],
            Self::Infer { from, .. } | Self::Digest { from, .. } => from.clone(),
            Self::Compress { turns } | Self::Assess { turns, .. } => turns.clone(),
            Self::Claim { turn, .. } | Self::Prefer { turn, .. } => vec![*turn],
            Self::Cardinality { .. } | Self::Suggest { .. } => Vec::new(),
            Self::Summarize { of, .. } => {
                let mut seen = BTreeSet::new();
                of.iter().map(|source| source.event).filter(|event| seen.insert(*event)).collect()
            }
        }
    }

    /// Returns the named entities.
    pub fn entities(&self) -> Vec<EntityId> {
        match self {
            Self::Suggest { one, into } => vec![*one, *into],
            _ => Vec::new(),
        }
    }

    /// Returns the notes whose rows it changes; the inputs of an inference, a compression, a claim, a summary, a preference or
    /// an assessment stay as they are.
    pub fn changes(&self) -> Vec<EventId> {
        match self {
            Self::Merge { .. } | Self::Retire { .. } | Self::Refine { .. } => self.names(),
            _ => Vec::new(),
        }
    }

    /// Whether it carries its own text; without one it has no effect.
    pub fn has_text(&self) -> bool {
        !matches!(
            self,
            Self::Retire { .. }
                | Self::Refine { .. }
                | Self::Claim { .. }
                | Self::Cardinality { .. }
                | Self::Suggest { .. }
        )
    }

    /// Returns category, tags and importance, if it sets them.
    pub fn classification(&self) -> Option<&Classification> {
        match self {
            Self::Merge { classification, .. }
            | Self::Refine { classification, .. }
            | Self::Infer { classification, .. }
            | Self::Digest { classification, .. } => Some(classification),
            _ => None,
        }
    }
}
