//! Entries of working memory.

use mnemal_core::{Category, Result, Tag, Timestamp, WorkingEntry};
use serde::{Deserialize, Serialize};

use super::named;
use crate::codec::corrupt;

#[derive(Deserialize, Serialize)]
struct WorkingRow {
    value: String,
    stored_at: i64,
    expires_at: i64,
    category: Option<String>,
    tags: Vec<String>,
}

/// Writes an entry.
pub(crate) fn write(entry: &WorkingEntry) -> Result<String> {
    super::write_sealed(&WorkingRow {
        value: entry.value.clone(),
        stored_at: entry.stored_at.as_micros(),
        expires_at: entry.expires_at.as_micros(),
        category: entry.category.as_ref().map(|category| category.as_str().to_owned()),
        tags: entry.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
    })
}

/// Reads an entry.
pub(crate) fn read(stored: &str) -> Result<WorkingEntry> {
    let row: WorkingRow = super::read_sealed(stored)?;
    let time = |micros| Timestamp::from_micros(micros).map_err(|_| corrupt("a time is out of range"));
    Ok(WorkingEntry {
        value: row.value,
        stored_at: time(row.stored_at)?,
        expires_at: time(row.expires_at)?,
        category: row.category.map(|name| named(Category::new(name))).transpose()?,
        tags: row.tags.into_iter().map(|name| named(Tag::new(name))).collect::<Result<_>>()?,
    })
}
