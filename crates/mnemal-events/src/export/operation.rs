//! An operation of the engine as a part of a line of our export.

use mnemal_core::{
    Category, ClaimSpans, Classification, Error, EventId, Importance, LearningKind, Operation, OperationKind,
    Predicate, Producer, PromptHash, Result, Source, Span, Tag,
};
use serde::{Deserialize, Serialize};

use super::wire::{cardinality_of, ids, texts};

/// An operation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperationLine {
    #[serde(rename = "deed")]
    kind: OperationKindLine,
    producer: (String, u32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<[u8; 32]>,
    shown: Vec<String>,
    because: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum OperationKindLine {
    Merge {
        notes: Vec<String>,
        #[serde(rename = "filed")]
        classification: ClassificationLine,
    },
    Retire {
        notes: Vec<String>,
        into: Option<String>,
    },
    Refine {
        note: String,
        #[serde(rename = "filed")]
        classification: ClassificationLine,
    },
    Infer {
        from: Vec<String>,
        kind: String,
        #[serde(rename = "filed")]
        classification: ClassificationLine,
    },
    Compress {
        turns: Vec<String>,
    },
    Claim {
        turn: String,
        claims: Vec<ClaimSpansLine>,
    },
    Summarize {
        node: String,
        of: Vec<(String, u32, u32)>,
        rests: Vec<Vec<u32>>,
    },
    Prefer {
        turn: String,
        quote: (u32, u32),
    },
    Assess {
        turns: Vec<String>,
        score: u8,
    },
    Digest {
        from: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entities: Vec<String>,
        #[serde(rename = "filed")]
        classification: ClassificationLine,
    },
    Cardinality {
        predicate: String,
        cardinality: String,
    },
    Suggest {
        one: String,
        into: String,
    },
    /// A kind that this version of the layout does not know; it cannot be read back.
    Unknown,
}

/// A claim by the places of its words.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimSpansLine {
    predicate: String,
    quote: (u32, u32),
    value: (u32, u32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<(u32, u32)>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassificationLine {
    category: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    importance: f32,
}

impl From<&Operation> for OperationLine {
    fn from(operation: &Operation) -> Self {
        Self {
            kind: OperationKindLine::from(&operation.kind),
            producer: (operation.producer.id.clone(), operation.producer.version),
            prompt: operation.prompt.map(|hash| hash.0),
            shown: texts(&operation.shown),
            because: operation.because.clone(),
        }
    }
}

impl From<&OperationKind> for OperationKindLine {
    fn from(operation_kind: &OperationKind) -> Self {
        match operation_kind {
            OperationKind::Merge { notes, classification } => {
                Self::Merge { notes: texts(notes), classification: classification.into() }
            }
            OperationKind::Retire { notes, into } => {
                Self::Retire { notes: texts(notes), into: into.map(|id| id.to_string()) }
            }
            OperationKind::Refine { note, classification } => {
                Self::Refine { note: note.to_string(), classification: classification.into() }
            }
            OperationKind::Infer { from, kind, classification } => Self::Infer {
                from: texts(from),
                kind: kind.as_str().to_owned(),
                classification: classification.into(),
            },
            OperationKind::Compress { turns } => Self::Compress { turns: texts(turns) },
            OperationKind::Claim { turn, claims } => Self::Claim {
                turn: turn.to_string(),
                claims: claims.iter().map(ClaimSpansLine::from).collect(),
            },
            OperationKind::Summarize { node, of, rests } => Self::Summarize {
                node: node.to_string(),
                of: of.iter().map(|one| (one.event.to_string(), one.span.start, one.span.end)).collect(),
                rests: rests.clone(),
            },
            OperationKind::Prefer { turn, quote } => {
                Self::Prefer { turn: turn.to_string(), quote: (quote.start, quote.end) }
            }
            OperationKind::Assess { turns, score } => Self::Assess { turns: texts(turns), score: *score },
            OperationKind::Digest { from, entities, classification } => Self::Digest {
                from: texts(from),
                entities: entities.clone(),
                classification: classification.into(),
            },
            OperationKind::Cardinality { predicate, cardinality } => Self::Cardinality {
                predicate: predicate.to_string(),
                cardinality: cardinality.as_str().to_owned(),
            },
            OperationKind::Suggest { one, into } => {
                Self::Suggest { one: one.to_string(), into: into.to_string() }
            }
            _ => Self::Unknown,
        }
    }
}

impl From<&ClaimSpans> for ClaimSpansLine {
    fn from(claim: &ClaimSpans) -> Self {
        let ends = |span: Span| (span.start, span.end);
        Self {
            predicate: claim.predicate.as_str().to_owned(),
            quote: ends(claim.quote),
            value: ends(claim.value),
            subject: claim.subject.map(ends),
        }
    }
}

impl ClaimSpansLine {
    fn read(self) -> Result<ClaimSpans> {
        let span = |(start, end)| Span { start, end };
        Ok(ClaimSpans {
            predicate: Predicate::new(self.predicate)?,
            quote: span(self.quote),
            value: span(self.value),
            subject: self.subject.map(span),
        })
    }
}

impl From<&Classification> for ClassificationLine {
    fn from(classification: &Classification) -> Self {
        Self {
            category: classification.category.to_string(),
            tags: classification.tags.iter().map(ToString::to_string).collect(),
            importance: classification.importance.get(),
        }
    }
}

impl OperationLine {
    pub(super) fn read(self) -> Result<Operation> {
        Ok(Operation {
            kind: self.kind.read()?,
            producer: Producer { id: self.producer.0, version: self.producer.1 },
            prompt: self.prompt.map(PromptHash),
            shown: ids(&self.shown)?,
            because: self.because,
        })
    }
}

impl OperationKindLine {
    fn read(self) -> Result<OperationKind> {
        Ok(match self {
            Self::Merge { notes, classification } => {
                OperationKind::Merge { notes: ids(&notes)?, classification: classification.read()? }
            }
            Self::Retire { notes, into } => {
                let into = into.map(|id| id.parse::<EventId>()).transpose()?;
                OperationKind::Retire { notes: ids(&notes)?, into }
            }
            Self::Refine { note, classification } => {
                OperationKind::Refine { note: note.parse()?, classification: classification.read()? }
            }
            Self::Infer { from, kind, classification } => OperationKind::Infer {
                from: ids(&from)?,
                kind: LearningKind::from_name(&kind)
                    .ok_or_else(|| Error::invalid("an unknown kind of note"))?,
                classification: classification.read()?,
            },
            Self::Compress { turns } => OperationKind::Compress { turns: ids(&turns)? },
            Self::Claim { turn, claims } => OperationKind::Claim {
                turn: turn.parse()?,
                claims: claims.into_iter().map(ClaimSpansLine::read).collect::<Result<_>>()?,
            },
            Self::Summarize { node, of, rests } => {
                let source = |(event, start, end): (String, u32, u32)| {
                    Ok(Source { event: event.parse()?, span: Span { start, end } })
                };
                let of = of.into_iter().map(source).collect::<Result<_>>()?;
                OperationKind::Summarize { node: node.parse()?, of, rests }
            }
            Self::Prefer { turn, quote: (start, end) } => {
                OperationKind::Prefer { turn: turn.parse()?, quote: Span { start, end } }
            }
            Self::Assess { turns, score } => OperationKind::Assess { turns: ids(&turns)?, score },
            Self::Digest { from, entities, classification } => {
                OperationKind::Digest { from: ids(&from)?, entities, classification: classification.read()? }
            }
            Self::Cardinality { predicate, cardinality } => OperationKind::Cardinality {
                predicate: Predicate::new(predicate)?,
                cardinality: cardinality_of(&cardinality)?,
            },
            Self::Suggest { one, into } => OperationKind::Suggest { one: one.parse()?, into: into.parse()? },
            Self::Unknown => return Err(Error::invalid("an operation of an unknown kind")),
        })
    }
}

impl ClassificationLine {
    fn read(self) -> Result<Classification> {
        Ok(Classification {
            category: Category::new(self.category)?,
            tags: self.tags.into_iter().map(Tag::new).collect::<Result<_>>()?,
            importance: Importance::new(self.importance)?,
        })
    }
}
