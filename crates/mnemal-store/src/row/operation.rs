//! Operations. They share the column of decisions and are distinguished by their first word.

use mnemal_core::{
    Cardinality, Category, Deed, Error, ErrorKind, EventId, Filed, LearningKind, Operation, Pointed,
    Predicate, Producer, PromptHash, Result, Span, Tag,
};
use serde::{Deserialize, Serialize};

use super::decision::{ids, importance_of, texts};
use super::learning::{source_of, source_row};
use super::{known, named};

/// Start of an operation's JSON, which no decision has.
const FIRST: &str = "{\"deed\":";

#[derive(Deserialize, Serialize)]
struct OperationRow {
    deed: DeedRow,
    producer: (String, u32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<[u8; 32]>,
    shown: Vec<String>,
    because: String,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum DeedRow {
    Merge { notes: Vec<String>, filed: FiledRow },
    Retire { notes: Vec<String>, into: Option<String> },
    Refine { note: String, filed: FiledRow },
    Infer { from: Vec<String>, kind: String, filed: FiledRow },
    Compress { turns: Vec<String> },
    Claim { turn: String, claims: Vec<PointedRow> },
    Summarize { node: String, of: Vec<(String, u32, u32)>, rests: Vec<Vec<u32>> },
    Prefer { turn: String, quote: (u32, u32) },
    Assess { turns: Vec<String>, score: u8 },
    Digest { from: Vec<String>, entities: Vec<String>, filed: FiledRow },
    Cardinality { predicate: String, cardinality: String },
    Suggest { one: String, into: String },
}

/// Predicate, quote, value, and who it is about.
#[derive(Deserialize, Serialize)]
struct PointedRow(String, (u32, u32), (u32, u32), Option<(u32, u32)>);

#[derive(Deserialize, Serialize)]
struct FiledRow {
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
    let deed = match &operation.deed {
        Deed::Merge { notes, filed } => DeedRow::Merge { notes: texts(notes), filed: filed_row(filed) },
        Deed::Retire { notes, into } => {
            DeedRow::Retire { notes: texts(notes), into: into.map(|id| id.to_string()) }
        }
        Deed::Refine { note, filed } => DeedRow::Refine { note: note.to_string(), filed: filed_row(filed) },
        Deed::Infer { from, kind, filed } => {
            DeedRow::Infer { from: texts(from), kind: kind.as_str().to_owned(), filed: filed_row(filed) }
        }
        Deed::Compress { turns } => DeedRow::Compress { turns: texts(turns) },
        Deed::Claim { turn, claims } => {
            DeedRow::Claim { turn: turn.to_string(), claims: claims.iter().map(pointed_row).collect() }
        }
        Deed::Summarize { node, of, rests } => DeedRow::Summarize {
            node: node.to_string(),
            of: of.iter().map(source_row).collect(),
            rests: rests.clone(),
        },
        Deed::Prefer { turn, quote } => {
            DeedRow::Prefer { turn: turn.to_string(), quote: (quote.start, quote.end) }
        }
        Deed::Assess { turns, score } => DeedRow::Assess { turns: texts(turns), score: *score },
        Deed::Digest { from, entities, filed } => {
            DeedRow::Digest { from: texts(from), entities: entities.clone(), filed: filed_row(filed) }
        }
        Deed::Cardinality { predicate, cardinality } => DeedRow::Cardinality {
            predicate: predicate.as_str().to_owned(),
            cardinality: cardinality.as_str().to_owned(),
        },
        Deed::Suggest { one, into } => DeedRow::Suggest { one: one.to_string(), into: into.to_string() },
        _ => return Err(Error::new(ErrorKind::Unsupported, "cannot store this kind of operation")),
    };
    super::write(&OperationRow {
        deed,
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
    let deed = match row.deed {
        DeedRow::Merge { notes, filed } => Deed::Merge { notes: ids(&notes)?, filed: filed_of(filed)? },
        DeedRow::Retire { notes, into } => {
            let into = named(into.map(|id| id.parse::<EventId>()).transpose())?;
            Deed::Retire { notes: ids(&notes)?, into }
        }
        DeedRow::Refine { note, filed } => {
            Deed::Refine { note: named(note.parse())?, filed: filed_of(filed)? }
        }
        DeedRow::Infer { from, kind, filed } => Deed::Infer {
            from: ids(&from)?,
            kind: known(LearningKind::from_name(&kind))?,
            filed: filed_of(filed)?,
        },
        DeedRow::Compress { turns } => Deed::Compress { turns: ids(&turns)? },
        DeedRow::Claim { turn, claims } => Deed::Claim {
            turn: named(turn.parse())?,
            claims: claims.into_iter().map(pointed_of).collect::<Result<_>>()?,
        },
        DeedRow::Summarize { node, of, rests } => Deed::Summarize {
            node: named(node.parse())?,
            of: of.iter().map(source_of).collect::<Result<_>>()?,
            rests,
        },
        DeedRow::Prefer { turn, quote: (start, end) } => {
            Deed::Prefer { turn: named(turn.parse())?, quote: Span { start, end } }
        }
        DeedRow::Assess { turns, score } => Deed::Assess { turns: ids(&turns)?, score },
        DeedRow::Digest { from, entities, filed } => {
            Deed::Digest { from: ids(&from)?, entities, filed: filed_of(filed)? }
        }
        DeedRow::Cardinality { predicate, cardinality } => Deed::Cardinality {
            predicate: named(Predicate::new(predicate))?,
            cardinality: known(Cardinality::from_name(&cardinality))?,
        },
        DeedRow::Suggest { one, into } => {
            Deed::Suggest { one: named(one.parse())?, into: named(into.parse())? }
        }
    };
    Ok(Operation {
        deed,
        producer: Producer { id: row.producer.0, version: row.producer.1 },
        prompt: row.prompt.map(PromptHash),
        shown: ids(&row.shown)?,
        because: row.because,
    })
}

fn pointed_row(claim: &Pointed) -> PointedRow {
    let ends = |span: Span| (span.start, span.end);
    let predicate = claim.predicate.as_str().to_owned();
    PointedRow(predicate, ends(claim.quote), ends(claim.value), claim.subject.map(ends))
}

fn pointed_of(PointedRow(predicate, quote, value, subject): PointedRow) -> Result<Pointed> {
    let span = |(start, end)| Span { start, end };
    let (quote, value, subject) = (span(quote), span(value), subject.map(span));
    Ok(Pointed { predicate: named(Predicate::new(predicate))?, quote, value, subject })
}

fn filed_row(filed: &Filed) -> FiledRow {
    FiledRow {
        category: filed.category.as_str().to_owned(),
        tags: filed.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
        importance: f64::from(filed.importance.get()),
    }
}

fn filed_of(row: FiledRow) -> Result<Filed> {
    Ok(Filed {
        category: named(Category::new(row.category))?,
        tags: named(row.tags.into_iter().map(Tag::new).collect())?,
        importance: named(importance_of(row.importance))?,
    })
}
