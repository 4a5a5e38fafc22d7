//! The summary tree and the cursor that moves with it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mnemal_core::{
    Advance, Cursor, DeadLetter, ErasedNode, Layer, NodePath, Result, SummaryDelta, SummaryNode,
};

use super::projection;
use crate::codec::corrupt;
use crate::row::summary;
use crate::sql::{Batch, Row, Sql, Step, Value};
use crate::{removal, statement};

const LAYER: Layer = Layer::Summaries;

pub(crate) async fn cursor(sql: &dyn Sql) -> Result<Cursor> {
    projection::cursor(sql, LAYER).await
}

pub(crate) async fn dead_letters(sql: &dyn Sql, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
    projection::dead_letters(sql, LAYER, limit).await
}

pub(crate) async fn reset(sql: &dyn Sql) -> Result<()> {
    let mut steps: Vec<Step> =
        removal::RESET_SUMMARIES.iter().map(|text| Step::new(text, Vec::new())).collect();
    steps.extend(projection::reset(LAYER));
    sql.commit(Box::new(Batch::new("summaries", steps))).await.map(drop)
}

pub(crate) async fn apply(sql: &dyn Sql, delta: &SummaryDelta, advance: &Advance) -> Result<()> {
    let mut steps = projection::advance(LAYER, advance);
    let put = delta.put.iter().map(|node| &node.path);
    let paths: Vec<Value> = delta.remove.iter().chain(put).map(name).collect();
    steps.extend(removal::DELETE_SUMMARY_PARENTS.removals(paths.clone()));
    steps.extend(removal::DELETE_SUMMARY_SOURCES.removals(paths));
    steps.extend(removal::DELETE_SUMMARIES.removals(delta.remove.iter().map(name).collect()));
    let node = |node: &SummaryNode| Ok(vec![name(&node.path), summary::write(node)?.into()]);
    steps.extend(statement::INSERT_SUMMARIES.upserts(1, delta.put.iter().map(node).collect::<Result<_>>()?));
    let parents = delta.put.iter().flat_map(|node| {
        node.parents.iter().map(|parent| vec![name(parent), name(&node.path), node.last_at.into()])
    });
    steps.extend(statement::INSERT_SUMMARY_PARENTS.upserts(2, parents.collect()));
    let sources = delta
        .put
        .iter()
        .flat_map(|node| node.sources.iter().map(|event| vec![name(&node.path), (*event).into()]));
    steps.extend(statement::INSERT_SUMMARY_SOURCES.steps(sources.collect()));
    // What was erased while the nodes were made does not come back with them.
    let put = delta.put.iter().map(|node| name(&node.path));
    steps.extend(removal::ERASED_WITH_A_SOURCE.removals(put.collect()));
    sql.commit(Box::new(Batch::new("summaries", steps))).await.map(drop)
}

pub(crate) async fn nodes(sql: &dyn Sql, paths: &[NodePath]) -> Result<Vec<SummaryNode>> {
    let mut found = BTreeMap::new();
    for (text, args) in statement::SUMMARIES_AT.lookups(paths.iter().map(name).collect()) {
        for row in sql.rows(text, args).await? {
            let node = one(row)?;
            found.insert(node.path.clone(), node);
        }
    }
    Ok(paths.iter().filter_map(|path| found.remove(path)).collect())
}

pub(crate) async fn children(
    sql: &dyn Sql,
    path: &NodePath,
    limit: NonZeroUsize,
) -> Result<Vec<SummaryNode>> {
    let rows = sql.rows(statement::SUMMARY_CHILDREN, vec![name(path), limit.get().into()]).await?;
    rows.into_iter().map(one).collect()
}

pub(crate) async fn erased_nodes(sql: &dyn Sql, limit: NonZeroUsize) -> Result<Vec<ErasedNode>> {
    let mut erased = Vec::new();
    for mut row in sql.rows(statement::ERASED_SUMMARIES, vec![limit.get().into()]).await? {
        let path = path(&row.text()?)?;
        let parents = sql.rows(statement::SUMMARY_PARENTS, vec![name(&path)]).await?;
        let parents = parents.into_iter().map(|mut row| self::path(&row.text()?)).collect::<Result<_>>()?;
        erased.push(ErasedNode { path, parents });
    }
    Ok(erased)
}

pub(crate) async fn all(sql: &dyn Sql) -> Result<Vec<SummaryNode>> {
    sql.rows(statement::SUMMARIES, Vec::new()).await?.into_iter().map(one).collect()
}

fn name(path: &NodePath) -> Value {
    path.to_string().as_str().into()
}

fn path(stored: &str) -> Result<NodePath> {
    stored.parse().map_err(|error| corrupt("a stored path is none").because(error))
}

pub(super) fn one(mut row: Row) -> Result<SummaryNode> {
    let (path, body) = (row.text()?, row.text()?);
    let node = summary::read(&body)?;
    if node.path.to_string() == path { Ok(node) } else { Err(corrupt("a summary has another's place")) }
}
