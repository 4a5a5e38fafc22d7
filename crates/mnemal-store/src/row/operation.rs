//! Operations. They share the column of decisions and are distinguished by their first word.

use mnemal_core::{
    Cardinality, Category, ClaimSpans, Classification, Error, ErrorKind, EventId, LearningKind, Operation,
    OperationKind, Predicate, Producer, PromptHash, Result, Span, Tag,
};
use serde::{Deserialize, Serialize};

use super::decision::{ids, importance_of, texts};
use super::learning::{source_of, source_row};
use super::{named, required};

/// Start of an operation's JSON, which no decision has.
const FIRST: &str = "{\"deed\":";

#[derive(Deserialize, Serialize)]
struct OperationRow {
    #[serde(rename = "deed")]
    kind: OperationKindRow,
    producer: (String, u32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<[u8; 32]>,
    shown: Vec<String>,
    because: String,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum OperationKindRow {
    Merge {
        notes: Vec<String>,
        #[serde(rename = "filed")]
        classification: ClassificationRow,
    },
    Retire {
        notes: Vec<String>,
        into: Option<String>,
    },
    Refine {
        note: String,
        #[serde(rename = "filed")]
        classification: ClassificationRow,
    },
    Infer {
        from: Vec<String>,
        kind: String,
        #[serde(rename = "filed")]
        classification: ClassificationRow,
    },
    Compress {
        turns: Vec<String>,
    },
    Claim {
        turn: String,
        claims: Vec<ClaimSpansRow>,
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
        entities: Vec<String>,
        #[serde(rename = "filed")]
        classification: ClassificationRow,
    },
    Cardinality {
        predicate: String,
        cardinality: String,
    },
    Suggest {
        one: String,
        into: String,
    },
}

/// Predicate, quote, value, and who it is about.
#[derive(Deserialize, Serialize)]
struct ClaimSpansRow(String, (u32, u32), (u32, u32), Option<(u32, u32)>);

#[derive(Deserialize, Serialize)]
struct ClassificationRow {
    category: String,
    tags: Vec<String>,
    importance: f64,
}

/// Whether the column of decisions holds an operation.
pub(crate) fn is_one(json: &str) -> bool {
    json.starts_with(FIRST)
}

/// Writes an operation.
///
/// # Errors
/// `Unsupported` for a kind that this version does not know.
pub(crate) fn write(operation: &Operation) -> Result<String> {
    let operation_kind = match &operation.kind {
        OperationKind::Merge { notes, classification } => OperationKindRow::Merge {
            notes: texts(notes),
            classification: classification_row(classification),
        },
        OperationKind::Retire { notes, into } => {
            OperationKindRow::Retire { notes: texts(notes), into: into.map(|id| id.to_string()) }
        }
        OperationKind::Refine { note, classification } => OperationKindRow::Refine {
            note: note.to_string(),
            classification: classification_row(classification),
        },
        OperationKind::Infer { from, kind, classification } => OperationKindRow::Infer {
            from: texts(from),
            kind: kind.as_str().to_owned(),
            classification: classification_row(classification),
        },
        OperationKind::Compress { turns } => OperationKindRow::Compress { turns: texts(turns) },
        OperationKind::Claim { turn, claims } => OperationKindRow::Claim {
            turn: turn.to_string(),
            claims: claims.iter().map(claim_spans_row).collect(),
        },
        OperationKind::Summarize { node, of, rests } => OperationKindRow::Summarize {
            node: node.to_string(),
            of: of.iter().map(source_row).collect(),
            rests: rests.clone(),
        },
        OperationKind::Prefer { turn, quote } => {
            OperationKindRow::Prefer { turn: turn.to_string(), quote: (quote.start, quote.end) }
        }
        OperationKind::Assess { turns, score } => {
            OperationKindRow::Assess { turns: texts(turns), score: *score }
        }
        OperationKind::Digest { from, entities, classification } => OperationKindRow::Digest {
            from: texts(from),
            entities: entities.clone(),
            classification: classification_row(classification),
        },
        OperationKind::Cardinality { predicate, cardinality } => OperationKindRow::Cardinality {
            predicate: predicate.as_str().to_owned(),
            cardinality: cardinality.as_str().to_owned(),
        },
        OperationKind::Suggest { one, into } => {
            OperationKindRow::Suggest { one: one.to_string(), into: into.to_string() }
        }
        _ => return Err(Error::new(ErrorKind::Unsupported, "cannot store this kind of operation")),
    };
    super::write(&OperationRow {
        kind: operation_kind,
        producer: (operation.producer.id.clone(), operation.producer.version),
        prompt: operation.prompt.map(|hash| hash.0),
        shown: texts(&operation.shown),
        because: operation.because.clone(),
    })
}

/// Reads an operation.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read(json: &str) -> Result<Operation> {
    let row: OperationRow = super::read(json)?;
    let operation_kind = match row.kind {
        OperationKindRow::Merge { notes, classification } => {
            OperationKind::Merge { notes: ids(&notes)?, classification: classification_of(classification)? }
        }
        OperationKindRow::Retire { notes, into } => {
            let into = named(into.map(|id| id.parse::<EventId>()).transpose())?;
            OperationKind::Retire { notes: ids(&notes)?, into }
        }
        OperationKindRow::Refine { note, classification } => OperationKind::Refine {
            note: named(note.parse())?,
            classification: classification_of(classification)?,
        },
        OperationKindRow::Infer { from, kind, classification } => OperationKind::Infer {
            from: ids(&from)?,
            kind: required(LearningKind::from_name(&kind))?,
            classification: classification_of(classification)?,
        },
        OperationKindRow::Compress { turns } => OperationKind::Compress { turns: ids(&turns)? },
        OperationKindRow::Claim { turn, claims } => OperationKind::Claim {
            turn: named(turn.parse())?,
            claims: claims.into_iter().map(claim_spans_of).collect::<Result<_>>()?,
        },
        OperationKindRow::Summarize { node, of, rests } => OperationKind::Summarize {
            node: named(node.parse())?,
            of: of.iter().map(source_of).collect::<Result<_>>()?,
            rests,
        },
        OperationKindRow::Prefer { turn, quote: (start, end) } => {
            OperationKind::Prefer { turn: named(turn.parse())?, quote: Span { start, end } }
        }
        OperationKindRow::Assess { turns, score } => OperationKind::Assess { turns: ids(&turns)?, score },
        OperationKindRow::Digest { from, entities, classification } => OperationKind::Digest {
            from: ids(&from)?,
            entities,
            classification: classification_of(classification)?,
        },
        OperationKindRow::Cardinality { predicate, cardinality } => OperationKind::Cardinality {
            predicate: named(Predicate::new(predicate))?,
            cardinality: required(Cardinality::from_name(&cardinality))?,
        },
        OperationKindRow::Suggest { one, into } => {
            OperationKind::Suggest { one: named(one.parse())?, into: named(into.parse())? }
        }
    };
    Ok(Operation {
        kind: operation_kind,
        producer: Producer { id: row.producer.0, version: row.producer.1 },
        prompt: row.prompt.map(PromptHash),
        shown: ids(&row.shown)?,
        because: row.because,
    })
}

fn claim_spans_row(claim: &ClaimSpans) -> ClaimSpansRow {
    let ends = |span: Span| (span.start, span.end);
    let predicate = claim.predicate.as_str().to_owned();
    ClaimSpansRow(predicate, ends(claim.quote), ends(claim.value), claim.subject.map(ends))
}

fn claim_spans_of(ClaimSpansRow(predicate, quote, value, subject): ClaimSpansRow) -> Result<ClaimSpans> {
    let span = |(start, end)| Span { start, end };
    let (quote, value, subject) = (span(quote), span(value), subject.map(span));
    Ok(ClaimSpans { predicate: named(Predicate::new(predicate))?, quote, value, subject })
}

fn classification_row(classification: &Classification) -> ClassificationRow {
    ClassificationRow {
        category: classification.category.as_str().to_owned(),
        tags: classification.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
        importance: f64::from(classification.importance.get()),
    }
}

fn classification_of(row: ClassificationRow) -> Result<Classification> {
    Ok(Classification {
        category: named(Category::new(row.category))?,
        tags: named(row.tags.into_iter().map(Tag::new).collect())?,
        importance: named(importance_of(row.importance))?,
    })
}
