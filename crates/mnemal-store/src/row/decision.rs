//! Decisions.

use mnemal_core::{
    Cardinality, Category, Decision, Error, ErrorKind, EventId, FactChoice, FactDecision, Forget, Importance,
    Judgment, LearningKind, NoteKey, NoteTarget, Predicate, Remember, Result, Selector, SessionId, Source,
    Span, Tag, Timestamp, UserId, WorldTime,
};
use serde::{Deserialize, Serialize};

use super::graph::{ValueRow, value, value_row};
use super::{named, required};

#[derive(Deserialize, Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum DecisionRow {
    Remember {
        key: Option<String>,
        kind: String,
        category: String,
        tags: Vec<String>,
        importance: f64,
        expires_at: Option<i64>,
    },
    Archive(TargetRow),
    Restore(TargetRow),
    Reject(TargetRow),
    Forget {
        selector: SelectorRow,
        events: Vec<String>,
    },
    Fact {
        subject: String,
        predicate: String,
        topic: Option<String>,
        object: ValueRow,
        choice: ChoiceRow,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sources: Vec<SourceRow>,
    },
    Merge {
        one: String,
        into: String,
    },
    Split {
        one: String,
        from: String,
    },
    Undo {
        decision: String,
    },
    Cardinality {
        predicate: String,
        cardinality: String,
    },
    Release {
        event: String,
        copy: String,
    },
    Feedback {
        recall: String,
        record: String,
        verdict: String,
    },
}

/// A note by its key and its sources.
#[derive(Deserialize, Serialize)]
struct TargetRow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<SourceRow>,
}

/// An event with the start and end of the words in it.
type SourceRow = (String, u32, u32);

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum ChoiceRow {
    Add(Option<i64>, Option<i64>),
    End(i64),
    Reject,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum SelectorRow {
    Events(Vec<String>),
    Key(String),
    Session(String),
    User(String),
}

/// Writes a decision.
///
/// # Errors
/// `Unsupported` for a kind that this version does not know.
pub(crate) fn write(decision: &Decision) -> Result<String> {
    let row = match decision {
        Decision::Remember(note) => DecisionRow::Remember {
            key: note.key.as_ref().map(|key| key.as_str().to_owned()),
            kind: note.kind.as_str().to_owned(),
            category: note.category.as_str().to_owned(),
            tags: note.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
            importance: f64::from(note.importance.get()),
            expires_at: note.expires_at.map(Timestamp::as_micros),
        },
        Decision::Archive(target) => DecisionRow::Archive(target_row(target)),
        Decision::Restore(target) => DecisionRow::Restore(target_row(target)),
        Decision::Reject(target) => DecisionRow::Reject(target_row(target)),
        Decision::Forget(forget) => {
            DecisionRow::Forget { selector: selector_row(&forget.selector)?, events: texts(&forget.events) }
        }
        Decision::Fact(fact) => DecisionRow::Fact {
            subject: fact.subject.to_string(),
            predicate: fact.predicate.as_str().to_owned(),
            topic: fact.topic.clone(),
            object: value_row(&fact.object),
            choice: match fact.choice {
                FactChoice::Add { valid_at, invalid_at } => {
                    ChoiceRow::Add(valid_at.map(WorldTime::as_seconds), invalid_at.map(WorldTime::as_seconds))
                }
                FactChoice::End { at } => ChoiceRow::End(at.as_seconds()),
                FactChoice::Reject => ChoiceRow::Reject,
            },
            sources: source_rows(&fact.sources),
        },
        Decision::Merge { one, into } => DecisionRow::Merge { one: one.to_string(), into: into.to_string() },
        Decision::Split { one, from } => DecisionRow::Split { one: one.to_string(), from: from.to_string() },
        Decision::Undo { decision } => DecisionRow::Undo { decision: decision.to_string() },
        Decision::Cardinality { predicate, cardinality } => DecisionRow::Cardinality {
            predicate: predicate.as_str().to_owned(),
            cardinality: cardinality.as_str().to_owned(),
        },
        Decision::Release { event, copy } => {
            DecisionRow::Release { event: event.to_string(), copy: copy.to_string() }
        }
        Decision::Feedback { recall, record, verdict } => DecisionRow::Feedback {
            recall: recall.to_string(),
            record: record.to_string(),
            verdict: verdict.as_str().to_owned(),
        },
        _ => return Err(unsupported()),
    };
    super::write(&row)
}

/// Reads a decision.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read(json: &str) -> Result<Decision> {
    Ok(match super::read(json)? {
        DecisionRow::Remember { key, kind, category, tags, importance, expires_at } => {
            Decision::Remember(Remember {
                key: named(key.map(NoteKey::new).transpose())?,
                kind: required(LearningKind::from_name(&kind))?,
                category: named(Category::new(category))?,
                tags: named(tags.into_iter().map(Tag::new).collect())?,
                importance: named(importance_of(importance))?,
                expires_at: named(expires_at.map(Timestamp::from_micros).transpose())?,
            })
        }
        DecisionRow::Archive(row) => Decision::Archive(target(row)?),
        DecisionRow::Restore(row) => Decision::Restore(target(row)?),
        DecisionRow::Reject(row) => Decision::Reject(target(row)?),
        DecisionRow::Forget { selector, events } => {
            Decision::Forget(Forget { selector: selector_of(selector)?, events: ids(&events)? })
        }
        DecisionRow::Fact { subject, predicate, topic, object, choice, sources } => {
            Decision::Fact(FactDecision {
                subject: named(subject.parse())?,
                predicate: named(Predicate::new(predicate))?,
                topic,
                object: value(object)?,
                choice: match choice {
                    ChoiceRow::Add(from, end) => FactChoice::Add {
                        valid_at: from.map(WorldTime::from_seconds),
                        invalid_at: end.map(WorldTime::from_seconds),
                    },
                    ChoiceRow::End(at) => FactChoice::End { at: WorldTime::from_seconds(at) },
                    ChoiceRow::Reject => FactChoice::Reject,
                },
                sources: sources_of(sources)?,
            })
        }
        DecisionRow::Merge { one, into } => {
            Decision::Merge { one: named(one.parse())?, into: named(into.parse())? }
        }
        DecisionRow::Split { one, from } => {
            Decision::Split { one: named(one.parse())?, from: named(from.parse())? }
        }
        DecisionRow::Undo { decision } => Decision::Undo { decision: named(decision.parse())? },
        DecisionRow::Cardinality { predicate, cardinality } => Decision::Cardinality {
            predicate: named(Predicate::new(predicate))?,
            cardinality: required(Cardinality::from_name(&cardinality))?,
        },
        DecisionRow::Release { event, copy } => {
            Decision::Release { event: named(event.parse())?, copy: named(copy.parse())? }
        }
        DecisionRow::Feedback { recall, record, verdict } => Decision::Feedback {
            recall: named(recall.parse())?,
            record: named(record.parse())?,
            verdict: required(Judgment::from_name(&verdict))?,
        },
    })
}

fn target_row(target: &NoteTarget) -> TargetRow {
    TargetRow {
        key: target.key.as_ref().map(|key| key.as_str().to_owned()),
        sources: source_rows(&target.sources),
    }
}

fn target(row: TargetRow) -> Result<NoteTarget> {
    Ok(NoteTarget { key: named(row.key.map(NoteKey::new).transpose())?, sources: sources_of(row.sources)? })
}

fn source_rows(sources: &[Source]) -> Vec<SourceRow> {
    sources.iter().map(|one| (one.event.to_string(), one.span.start, one.span.end)).collect()
}

fn sources_of(rows: Vec<SourceRow>) -> Result<Vec<Source>> {
    let source = |(event, start, end): SourceRow| {
        Ok(Source { event: named(event.parse())?, span: Span { start, end } })
    };
    rows.into_iter().map(source).collect()
}

/// Takes an importance back; an `f32` survives the way through `f64` and JSON.
#[expect(clippy::cast_possible_truncation, reason = "the number was an f32")]
pub(super) fn importance_of(value: f64) -> Result<Importance> {
    Importance::new(value as f32)
}

fn selector_row(selector: &Selector) -> Result<SelectorRow> {
    Ok(match selector {
        Selector::Events(events) => SelectorRow::Events(texts(events)),
        Selector::Key(key) => SelectorRow::Key(key.as_str().to_owned()),
        Selector::Session(session) => SelectorRow::Session(session.as_str().to_owned()),
        Selector::User(user) => SelectorRow::User(user.as_str().to_owned()),
        _ => return Err(unsupported()),
    })
}

fn selector_of(row: SelectorRow) -> Result<Selector> {
    Ok(match row {
        SelectorRow::Events(events) => Selector::Events(ids(&events)?),
        SelectorRow::Key(key) => Selector::Key(named(NoteKey::new(key))?),
        SelectorRow::Session(session) => Selector::Session(named(SessionId::new(session))?),
        SelectorRow::User(user) => Selector::User(named(UserId::new(user))?),
    })
}

pub(super) fn texts(events: &[EventId]) -> Vec<String> {
    events.iter().map(EventId::to_string).collect()
}

pub(super) fn ids(texts: &[String]) -> Result<Vec<EventId>> {
    named(texts.iter().map(|text| text.parse()).collect())
}

fn unsupported() -> Error {
    Error::new(ErrorKind::Unsupported, "cannot store this kind of decision")
}
