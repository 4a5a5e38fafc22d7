//! Learnings and the cursor that moves with them.

use std::num::NonZeroUsize;

use mnemal_core::{
    Advance, AsOf, Cursor, DeadLetter, Error, Layer, Learning, LearningDelta, LearningFilter, LearningId,
    NoteKey, Result, Within,
};

use super::projection::{self, LayerVersion};
use crate::codec::corrupt;
use crate::row::learning;
use crate::sql::{Batch, Row, Sql, Step, Value};
use crate::{codec, entry, ordering, removal, statement};

const LAYER: Layer = Layer::Learnings;
/// Learnings per page of a selective read. Source: own default, some megabytes of long notes.
const PAGE: usize = 500;

pub(crate) async fn cursor(sql: &dyn Sql) -> Result<Cursor> {
    match sql.state().await {
        Some(state) => Ok(state.learnings.cursor()),
        None => projection::cursor(sql, LAYER).await,
    }
}

pub(crate) async fn apply(sql: &dyn Sql, delta: &LearningDelta, advance: &Advance) -> Result<()> {
    let mut steps = projection::advance(LAYER, advance);
    let put: Vec<Value> = delta.put.iter().map(|learning| bytes(learning.id)).collect();
    let removed: Vec<Value> = delta.remove.iter().copied().map(bytes).collect();
    steps.extend(removal::DELETE_LEARNING_SOURCES.removals(put.clone()));
    let rows = delta.put.iter().map(columns).collect::<Result<_>>()?;
    steps.extend(statement::INSERT_LEARNINGS.upserts(1, rows));
    let sources = delta.put.iter().flat_map(|learning| {
        learning.sources.iter().map(|source| vec![bytes(learning.id), source.event.into()])
    });
    steps.extend(statement::INSERT_LEARNING_SOURCES.steps(sources.collect()));
    steps.extend(removal::DELETE_ERASED_LEARNINGS.removals(put.clone()));
    steps.extend(removal::DELETE_LOOSE_SOURCES.removals(put));
    steps.extend(removal::DELETE_LEARNING_SOURCES.removals(removed.clone()));
    steps.extend(removal::DELETE_LEARNINGS.removals(removed));
    let work = Box::new(Batch::new("notes", steps));
    // What is removed must not come back with a power cut.
    let done =
        if delta.remove.is_empty() { sql.commit_projection(work).await } else { sql.commit(work).await };
    done.map(drop)
}

fn bytes(id: LearningId) -> Value {
    Value::Blob(id.0.to_be_bytes().to_vec())
}

fn columns(learning: &Learning) -> Result<Vec<Value>> {
    Ok(vec![
        bytes(learning.id),
        learning.key.as_ref().map(NoteKey::as_str).into(),
        learning.created_at.into(),
        learning.expired_at.into(),
        entry::trust_code(learning.trust).into(),
        codec::level_code(learning.level).into(),
        learning::write(learning)?.into(),
    ])
}

pub(crate) async fn reset(sql: &dyn Sql) -> Result<()> {
    let mut steps: Vec<Step> =
        removal::RESET_LEARNINGS.iter().map(|text| Step::new(text, Vec::new())).collect();
    steps.extend(projection::reset(LAYER));
    sql.commit(Box::new(Batch::new("notes", steps))).await.map(drop)
}

pub(crate) async fn dead_letters(sql: &dyn Sql, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
    projection::dead_letters(sql, LAYER, limit).await
}

pub(crate) async fn version(sql: &dyn Sql) -> Result<LayerVersion> {
    match sql.state().await {
        Some(state) => Ok(state.learnings),
        None => projection::version(sql, LAYER).await,
    }
}

pub(crate) async fn active(sql: &dyn Sql, filter: &LearningFilter, as_of: AsOf) -> Result<Vec<Learning>> {
    let known = read(sql, statement::KNOWN_LEARNINGS, vec![as_of.belief.into()]).await?;
    Ok(ordering::active(known.into_iter().filter(|learning| filter.accepts(learning)).collect(), as_of))
}

pub(crate) async fn all(sql: &dyn Sql, filter: &LearningFilter) -> Result<Vec<Learning>> {
    if filter.keyed != Within::All {
        return some(sql, filter).await;
    }
    let mut learnings = read(sql, statement::LEARNINGS, Vec::new()).await?;
    learnings.retain(|learning| filter.accepts(learning));
    Ok(learnings)
}

/// Reads all of them page by page, and keeps those that pass, so that memory use is bounded.
async fn some(sql: &dyn Sql, filter: &LearningFilter) -> Result<Vec<Learning>> {
    let mut counts = sql.rows(statement::LEARNING_COUNTS, Vec::new()).await?;
    let counts = counts.first_mut().ok_or_else(|| corrupt("learnings are not counted"))?;
    if counts.count()? < counts.count()? {
        return Err(fewer());
    }
    let (mut found, mut after) = (Vec::new(), Vec::new());
    loop {
        let rows = sql.rows(statement::LEARNINGS_AFTER, vec![Value::Blob(after), PAGE.into()]).await?;
        let page = rows.into_iter().map(one).collect::<Result<Vec<_>>>()?;
        let Some(last) = page.last() else { return Ok(found) };
        after = last.id.0.to_be_bytes().to_vec();
        found.extend(page.into_iter().filter(|learning| filter.accepts(learning)));
    }
}

fn fewer() -> Error {
    corrupt("there are fewer learnings than their sources say")
}

pub(crate) async fn history(sql: &dyn Sql, key: &NoteKey) -> Result<Vec<Learning>> {
    let mut versions = read(sql, statement::LIVING_LEARNINGS, Vec::new()).await?;
    versions.retain(|learning| learning.key.as_ref() == Some(key));
    ordering::history(key, versions)
}

/// Reads learnings, and checks that none is missing that a source names.
async fn read(sql: &dyn Sql, text: &'static str, arguments: Vec<Value>) -> Result<Vec<Learning>> {
    let mut rows = sql.rows(text, arguments).await?.into_iter();
    let mut counts = rows.next().ok_or_else(|| corrupt("learnings are not counted"))?;
    counts.opt_blob()?;
    counts.opt_text()?;
    if counts.count()? < counts.count()? {
        return Err(fewer());
    }
    rows.map(one).collect()
}

fn one(mut row: Row) -> Result<Learning> {
    let (id, body) = (row.id()?, row.text()?);
    let learning = learning::read(&body)?;
    if learning.id.0 == id { Ok(learning) } else { Err(corrupt("a learning has another's place")) }
}
