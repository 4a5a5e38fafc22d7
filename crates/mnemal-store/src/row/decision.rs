//! Decisions.

use mnemal_core::{
    Category, Decision, Error, ErrorKind, EventId, Forget, Importance, LearningKind, NoteKey, Remember,
    Result, Selector, SessionId, Tag, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::{known, named};

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
    Archive {
        key: String,
    },
    Forget {
        selector: SelectorRow,
        events: Vec<String>,
    },
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum SelectorRow {
    Events(Vec<String>),
    Key(String),
    Session(String),
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
        Decision::Archive { key } => DecisionRow::Archive { key: key.as_str().to_owned() },
        Decision::Forget(forget) => {
            DecisionRow::Forget { selector: selector_row(&forget.selector)?, events: texts(&forget.events) }
        }
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
                kind: known(LearningKind::from_name(&kind))?,
                category: named(Category::new(category))?,
                tags: named(tags.into_iter().map(Tag::new).collect())?,
                importance: named(importance_of(importance))?,
                expires_at: named(expires_at.map(Timestamp::from_micros).transpose())?,
            })
        }
        DecisionRow::Archive { key } => Decision::Archive { key: named(NoteKey::new(key))? },
        DecisionRow::Forget { selector, events } => {
            Decision::Forget(Forget { selector: selector_of(selector)?, events: ids(&events)? })
        }
    })
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
        _ => return Err(unsupported()),
    })
}

fn selector_of(row: SelectorRow) -> Result<Selector> {
    Ok(match row {
        SelectorRow::Events(events) => Selector::Events(ids(&events)?),
        SelectorRow::Key(key) => Selector::Key(named(NoteKey::new(key))?),
        SelectorRow::Session(session) => Selector::Session(named(SessionId::new(session))?),
    })
}

fn texts(events: &[EventId]) -> Vec<String> {
    events.iter().map(EventId::to_string).collect()
}

fn ids(texts: &[String]) -> Result<Vec<EventId>> {
    named(texts.iter().map(|text| text.parse()).collect())
}

fn unsupported() -> Error {
    Error::new(ErrorKind::Unsupported, "cannot store this kind of decision")
}
