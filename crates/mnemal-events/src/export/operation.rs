//! An operation of the engine as a part of a line of our export.

use mnemal_core::{
    Category, Deed, Error, EventId, Filed, Importance, LearningKind, Operation, Pointed, Predicate, Producer,
    PromptHash, Result, Source, Span, Tag,
};
use serde::{Deserialize, Serialize};

use super::wire::{cardinality_of, ids, texts};

/// An operation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperationLine {
    deed: DeedLine,
    producer: (String, u32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<[u8; 32]>,
    shown: Vec<String>,
    because: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum DeedLine {
    Merge {
        notes: Vec<String>,
        filed: FiledLine,
    },
    Retire {
        notes: Vec<String>,
        into: Option<String>,
    },
    Refine {
        note: String,
        filed: FiledLine,
    },
    Infer {
        from: Vec<String>,
        kind: String,
        filed: FiledLine,
    },
    Compress {
        turns: Vec<String>,
    },
    Claim {
        turn: String,
        claims: Vec<PointedLine>,
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
        filed: FiledLine,
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
struct PointedLine {
    predicate: String,
    quote: (u32, u32),
    value: (u32, u32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<(u32, u32)>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FiledLine {
    category: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    importance: f32,
}

impl From<&Operation> for OperationLine {
    fn from(operation: &Operation) -> Self {
        Self {
            deed: DeedLine::from(&operation.deed),
            producer: (operation.producer.id.clone(), operation.producer.version),
            prompt: operation.prompt.map(|hash| hash.0),
            shown: texts(&operation.shown),
            because: operation.because.clone(),
        }
    }
}

impl From<&Deed> for DeedLine {
    fn from(deed: &Deed) -> Self {
        match deed {
            Deed::Merge { notes, filed } => Self::Merge { notes: texts(notes), filed: filed.into() },
            Deed::Retire { notes, into } => {
                Self::Retire { notes: texts(notes), into: into.map(|id| id.to_string()) }
            }
            Deed::Refine { note, filed } => Self::Refine { note: note.to_string(), filed: filed.into() },
            Deed::Infer { from, kind, filed } => {
                Self::Infer { from: texts(from), kind: kind.as_str().to_owned(), filed: filed.into() }
            }
            Deed::Compress { turns } => Self::Compress { turns: texts(turns) },
            Deed::Claim { turn, claims } => {
                Self::Claim { turn: turn.to_string(), claims: claims.iter().map(PointedLine::from).collect() }
            }
            Deed::Summarize { node, of, rests } => Self::Summarize {
                node: node.to_string(),
                of: of.iter().map(|one| (one.event.to_string(), one.span.start, one.span.end)).collect(),
                rests: rests.clone(),
            },
            Deed::Prefer { turn, quote } => {
                Self::Prefer { turn: turn.to_string(), quote: (quote.start, quote.end) }
            }
            Deed::Assess { turns, score } => Self::Assess { turns: texts(turns), score: *score },
            Deed::Digest { from, entities, filed } => {
                Self::Digest { from: texts(from), entities: entities.clone(), filed: filed.into() }
            }
            Deed::Cardinality { predicate, cardinality } => Self::Cardinality {
                predicate: predicate.to_string(),
                cardinality: cardinality.as_str().to_owned(),
            },
            Deed::Suggest { one, into } => Self::Suggest { one: one.to_string(), into: into.to_string() },
            _ => Self::Unknown,
        }
    }
}

impl From<&Pointed> for PointedLine {
    fn from(claim: &Pointed) -> Self {
        let ends = |span: Span| (span.start, span.end);
        Self {
            predicate: claim.predicate.as_str().to_owned(),
            quote: ends(claim.quote),
            value: ends(claim.value),
            subject: claim.subject.map(ends),
        }
    }
}

impl PointedLine {
    fn read(self) -> Result<Pointed> {
        let span = |(start, end)| Span { start, end };
        Ok(Pointed {
            predicate: Predicate::new(self.predicate)?,
            quote: span(self.quote),
            value: span(self.value),
            subject: self.subject.map(span),
        })
    }
}

impl From<&Filed> for FiledLine {
    fn from(filed: &Filed) -> Self {
        Self {
            category: filed.category.to_string(),
            tags: filed.tags.iter().map(ToString::to_string).collect(),
            importance: filed.importance.get(),
        }
    }
}

impl OperationLine {
    pub(super) fn read(self) -> Result<Operation> {
        Ok(Operation {
            deed: self.deed.read()?,
            producer: Producer { id: self.producer.0, version: self.producer.1 },
            prompt: self.prompt.map(PromptHash),
            shown: ids(&self.shown)?,
            because: self.because,
        })
    }
}

impl DeedLine {
    fn read(self) -> Result<Deed> {
        Ok(match self {
            Self::Merge { notes, filed } => Deed::Merge { notes: ids(&notes)?, filed: filed.read()? },
            Self::Retire { notes, into } => {
                let into = into.map(|id| id.parse::<EventId>()).transpose()?;
                Deed::Retire { notes: ids(&notes)?, into }
            }
            Self::Refine { note, filed } => Deed::Refine { note: note.parse()?, filed: filed.read()? },
            Self::Infer { from, kind, filed } => Deed::Infer {
                from: ids(&from)?,
                kind: LearningKind::from_name(&kind)
                    .ok_or_else(|| Error::invalid("an unknown kind of note"))?,
                filed: filed.read()?,
            },
            Self::Compress { turns } => Deed::Compress { turns: ids(&turns)? },
            Self::Claim { turn, claims } => Deed::Claim {
                turn: turn.parse()?,
                claims: claims.into_iter().map(PointedLine::read).collect::<Result<_>>()?,
            },
            Self::Summarize { node, of, rests } => {
                let source = |(event, start, end): (String, u32, u32)| {
                    Ok(Source { event: event.parse()?, span: Span { start, end } })
                };
                let of = of.into_iter().map(source).collect::<Result<_>>()?;
                Deed::Summarize { node: node.parse()?, of, rests }
            }
            Self::Prefer { turn, quote: (start, end) } => {
                Deed::Prefer { turn: turn.parse()?, quote: Span { start, end } }
            }
            Self::Assess { turns, score } => Deed::Assess { turns: ids(&turns)?, score },
            Self::Digest { from, entities, filed } => {
                Deed::Digest { from: ids(&from)?, entities, filed: filed.read()? }
            }
            Self::Cardinality { predicate, cardinality } => Deed::Cardinality {
                predicate: Predicate::new(predicate)?,
                cardinality: cardinality_of(&cardinality)?,
            },
            Self::Suggest { one, into } => Deed::Suggest { one: one.parse()?, into: into.parse()? },
            Self::Unknown => return Err(Error::invalid("an operation of an unknown kind")),
        })
    }
}

impl FiledLine {
    fn read(self) -> Result<Filed> {
        Ok(Filed {
            category: Category::new(self.category)?,
            tags: self.tags.into_iter().map(Tag::new).collect::<Result<_>>()?,
            importance: Importance::new(self.importance)?,
        })
    }
}
