//! `mnemal working put|get|list|search|rm`.

use std::time::Duration;

use anyhow::Result;
use mnemal::types::{Category, Scored, Tag};
use mnemal::working::{KeyPrefix, PutOptions, WorkingEntry, WorkingItem, WorkingMemory, WorkingQuery};
use mnemal::{Memory, SessionId};
use serde::Serialize;

use crate::args::{Global, OwnNamespace, Working};
use crate::output::Output;
use crate::time;

/// Stores, prints, lists, searches or removes entries.
pub(super) async fn run(memory: &Memory, call: Working, global: &Global, output: &Output) -> Result<u8> {
    match call {
        Working::Put { key, value, ttl, category, tags, own } => {
            let ttl = ttl.as_deref().map(time::duration_micros).transpose()?;
            let ttl = ttl.map(|micros| Duration::from_micros(micros.unsigned_abs()));
            let keep = PutOptions {
                ttl,
                category: category.map(Category::new).transpose()?,
                tags: read_tags(tags)?,
            };
            put(&of(memory, own)?, &key, super::text_or_stdin(value, global)?, keep, output).await
        }
        Working::Get { key, own } => get(&of(memory, own)?, &key, output).await,
        Working::List { prefix, all, own } => {
            let working = of(memory, own)?;
            let prefix = match prefix {
                Some(path) => KeyPrefix::new(&path)?,
                None if all => KeyPrefix::all(),
                None => working.own().clone(),
            };
            show(&working.inventory(&prefix).await?, output)
        }
        Working::Search { query, prefix, category, tags } => {
            let prefix = prefix.map_or_else(|| Ok(KeyPrefix::all()), |path| KeyPrefix::new(&path))?;
            let category = category.map(Category::new).transpose()?;
            let query = WorkingQuery { prefix, text: query, category, tags: read_tags(tags)? };
            let found = memory.working()?.search(&query).await?;
            let items: Vec<WorkingItem> = found.value.into_iter().map(|Scored { item, .. }| item).collect();
            show(&items, output)?;
            Ok(super::gaps(&found.gaps, global, output))
        }
        Working::Rm { key, own } => {
            let removed = of(memory, own)?.remove(&key).await?;
            output.answer(&RemovedForm { removed }, || format!("removed {removed}"))?;
            Ok(0)
        }
    }
}

fn of(memory: &Memory, own: OwnNamespace) -> Result<WorkingMemory> {
    if let Some(path) = own.namespace {
        return Ok(memory.admin().working_in(KeyPrefix::new(&path)?)?);
    }
    let session = own.session.map(SessionId::new).transpose()?;
    Ok(session.map_or_else(|| memory.working(), |session| memory.for_session(session).working())?)
}

fn read_tags(tags: Vec<String>) -> Result<Vec<Tag>> {
    Ok(tags.into_iter().map(Tag::new).collect::<mnemal::Result<_>>()?)
}

#[derive(Serialize)]
struct PutResultForm {
    key: String,
    expires_at: String,
    evicted: Vec<String>,
}

async fn put(
    working: &WorkingMemory,
    key: &str,
    value: String,
    keep: PutOptions,
    output: &Output,
) -> Result<u8> {
    let kept = working.put(key, value, keep).await?;
    let evicted: Vec<String> = kept.evicted.iter().map(ToString::to_string).collect();
    let form = PutResultForm { key: kept.key.to_string(), expires_at: kept.expires_at.to_string(), evicted };
    output.answer(&form, || format!("put {} until {}", form.key, form.expires_at))?;
    for gone in &form.evicted {
        output.say(&format!("no room: {gone} went, which would have expired first"));
    }
    Ok(0)
}

/// An entry, with its value on request.
#[derive(Serialize)]
struct EntryForm<'e> {
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'e str>,
    stored_at: String,
    expires_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'e str>,
    tags: Vec<&'e str>,
}

impl<'e> From<&'e WorkingItem> for EntryForm<'e> {
    fn from(item: &'e WorkingItem) -> Self {
        Self {
            key: item.key.to_string(),
            value: None,
            stored_at: item.stored_at.to_string(),
            expires_at: item.expires_at.to_string(),
            category: item.category.as_ref().map(Category::as_str),
            tags: item.tags.iter().map(Tag::as_str).collect(),
        }
    }
}

#[derive(Serialize)]
struct EntriesForm<'i, 'e> {
    items: &'i [EntryForm<'e>],
}

#[derive(Serialize)]
struct RemovedForm {
    removed: u64,
}

async fn get(working: &WorkingMemory, key: &str, output: &Output) -> Result<u8> {
    let entry = working.get(key).await?;
    let WorkingEntry { value, stored_at, expires_at, category, tags } = &entry;
    let form = EntryForm {
        key: working.key(key)?.to_string(),
        value: Some(value),
        stored_at: stored_at.to_string(),
        expires_at: expires_at.to_string(),
        category: category.as_ref().map(Category::as_str),
        tags: tags.iter().map(Tag::as_str).collect(),
    };
    output.answer(&form, || value.clone())?;
    Ok(0)
}

fn show(items: &[WorkingItem], output: &Output) -> Result<u8> {
    let forms: Vec<EntryForm> = items.iter().map(EntryForm::from).collect();
    output.list(&forms, &EntriesForm { items: &forms }, || {
        items.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    })?;
    Ok(0)
}
