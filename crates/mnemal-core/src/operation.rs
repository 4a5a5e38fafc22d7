//! Operations of the engine itself on memory: accepted proposals, with their results.

use std::collections::BTreeSet;

use crate::{
    Cardinality, Category, EntityId, EventId, Importance, LearningKind, NodePath, Predicate, Producer,
    Source, Span, Tag,
};

/// BLAKE3 of the prompt that a model answered; names the answer for an audit, and never the place where it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PromptHash(pub [u8; 32]);

/// An accepted proposal of a pass. Its text, if it has one, is the content of the event that carries it, so that a rebuild
/// needs neither a model nor a cache.
///
/// Notes are named by the event that made them (the one that stored them, or the operation that merged them), so that an
/// operation survives a new producer of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// What was done.
    pub deed: Deed,
    /// Which pass, with the version of its output.
    pub producer: Producer,
    /// What a model was asked, where one wrote the text.
    pub prompt: Option<PromptHash>,
    /// What the pass looked at; the deed names nothing else.
    pub shown: Vec<EventId>,
    /// Why, without content, at most 500 bytes.
    pub because: String,
}

/// What an operation does. Nothing is deleted: what is put away comes back when the operation is taken back.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// One note says in the event's text what several said; they are put away in its favour. The greatest importance among them
    /// stands, whatever is said here.
    Merge {
        /// At least two.
        notes: Vec<EventId>,
        /// How the one is filed.
        filed: Filed,
    },
    /// Notes are put away.
    Retire {
        /// At least one.
        notes: Vec<EventId>,
        /// The note that says the same and stays; it takes over what they rest on, their tags, and the greatest importance.
        into: Option<EventId>,
    },
    /// A note is filed anew; its text stays.
    Refine {
        /// The note.
        note: EventId,
        /// How it is filed.
        filed: Filed,
    },
    /// The event's text was concluded from notes.
    Infer {
        /// At least two.
        from: Vec<EventId>,
        /// What kind of learning it is.
        kind: LearningKind,
        /// How it is filed.
        filed: Filed,
    },
    /// The event's text says in short what its conversation said in these turns; prompts have it in their place, and the turns
    /// stay in the log.
    Compress {
        /// At least one, oldest first; the conversation is compressed through the last.
        turns: Vec<EventId>,
    },
    /// A model found claims in a turn that the rules did not find. They point at the words of the turn and say nothing of their
    /// own, so they go with it.
    Claim {
        /// The turn.
        turn: EventId,
        /// At least one and at most [`MOST_CLAIMS`].
        claims: Vec<Pointed>,
    },
    /// The event's text says, one statement a line, what a node of the summaries says in sentences of the log. It is shown in
    /// their place as long as the node is made of the same sentences.
    Summarize {
        /// The node.
        node: NodePath,
        /// The sentences, in the order of the node.
        of: Vec<Source>,
        /// For each line of the text the places in `of` of the sentences that say it; at least one each.
        rests: Vec<Vec<u32>>,
    },
    /// The event's text is what the user said in a turn, word for word; a model saw in it how he wants things.
    Prefer {
        /// The turn.
        turn: EventId,
        /// Where the words stand in it.
        quote: Span,
    },
    /// The event's text is what a model found worth remembering of a task that is over: one sentence about how the agent works,
    /// which says nothing about the user or the world.
    Assess {
        /// Events of the task, oldest first, the end last: at least [`FEWEST_STEPS`] and at most [`MOST_STEPS`].
        turns: Vec<EventId>,
        /// How well it went, from 1 to [`BEST_SCORE`].
        score: u8,
    },
    /// The event's text says in short what a text says that was read in: a file, or what a host handed over. It becomes a note
    /// about that text, of no more standing than the text has, and goes with any part of it.
    Digest {
        /// The parts of the text, in its order: at least one and at most [`MOST_PARTS`].
        from: Vec<EventId>,
        /// Whom and what the text names, at most [`MOST_NAMED`].
        entities: Vec<String>,
        /// How it is filed; its topics are the tags.
        filed: Filed,
    },
    /// A predicate of the space's own holds so many values for one subject, as its claims show. A shipped predicate, and one that a
    /// person decided about, stays as it is.
    Cardinality {
        /// The predicate.
        predicate: Predicate,
        /// `Now` or `Many`; anything else does nothing.
        cardinality: Cardinality,
    },
    /// Two entities may be one. It changes nothing: a person agrees by [`Decision::Merge`](crate::Decision::Merge), and declines
    /// by taking this back.
    Suggest {
        /// The one that may be taken for the other.
        one: EntityId,
        /// The one that would stand for both.
        into: EntityId,
    },
}

/// Lines that the text of a summary may have. Source: BA-24, up to 7 sentences.
pub const MOST_LINES: usize = 8;
/// Characters that such a line may have. Source: own choice, one facet a line (AD-60).
pub const LONGEST_LINE: usize = 300;

/// Parts of a text that a digest rests on; of a longer text the first. Source: own choice, a book of 200 pages.
pub const MOST_PARTS: usize = 256;
/// Names that a digest lists. Source: own choice; more are a register.
pub const MOST_NAMED: usize = 32;
/// Characters of the text of a digest. Source: GB-29, one or two sentences.
pub const LONGEST_DIGEST: usize = 600;

/// Events that a task must have to be judged. Source: BA-32.
pub const FEWEST_STEPS: usize = 3;
/// Events of a task that are judged together. Source: BA-32.
pub const MOST_STEPS: usize = 20;
/// The score of a task that went as it should. Source: BA-32, a tenth of it is the confidence.
pub const BEST_SCORE: u8 = 10;

/// Claims of one turn that an operation may carry. Source: own choice; more are a list and no statement.
pub const MOST_CLAIMS: usize = 8;

/// A claim by the places of its words in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointed {
    /// What is said.
    pub predicate: Predicate,
    /// The words that say it.
    pub quote: Span,
    /// The value, within the quote.
    pub value: Span,
    /// Who it is about, within the quote: a name, or words like "my sister"; `None` for who speaks.
    pub subject: Option<Span>,
}

impl Pointed {
    /// Whether its words lie within a text, and the others within its quote.
    pub fn fits(&self, text: &str) -> bool {
        let is_within = |span: &Span| self.quote.start <= span.start && span.end <= self.quote.end;
        let is_text = |span: &Span| span.of(text).is_some_and(|words| !words.trim().is_empty());
        let mut parts = [self.value].into_iter().chain(self.subject);
        is_text(&self.quote) && parts.all(|part| is_within(&part) && is_text(&part))
    }
}

/// How a note is filed.
#[derive(Clone, Debug, PartialEq)]
pub struct Filed {
    /// Where.
    pub category: Category,
    /// Words attached to it, at most 64.
    pub tags: Vec<Tag>,
    /// How much it matters.
    pub importance: Importance,
}

impl Deed {
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

    /// Returns the notes or turns that it names, in its order, each once.
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

    /// Returns the entities that it names.
    pub fn entities(&self) -> Vec<EntityId> {
        match self {
            Self::Suggest { one, into } => vec![*one, *into],
            _ => Vec::new(),
        }
    }

    /// Returns the notes whose rows it changes; what an inference, a compression, a claim, a summary, a preference or a
    /// judgement of a task rests on stays as it is.
    pub fn changes(&self) -> Vec<EventId> {
        match self {
            Self::Merge { .. } | Self::Retire { .. } | Self::Refine { .. } => self.names(),
            _ => Vec::new(),
        }
    }

    /// Whether it brings a text of its own; without one it does nothing.
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

    /// Returns how it files, if it does.
    pub fn filed(&self) -> Option<&Filed> {
        match self {
            Self::Merge { filed, .. }
            | Self::Refine { filed, .. }
            | Self::Infer { filed, .. }
            | Self::Digest { filed, .. } => Some(filed),
            _ => None,
        }
    }
}
