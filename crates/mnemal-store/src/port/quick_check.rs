//! Quick check of derived tables: missing rows, and whether the newest rows can be read.

use mnemal_core::{ErrorKind, Layer, LearningFilter, Result};

use super::{graph, learning, summary};
use crate::codec::corrupt;
use crate::sql::{Row, Sql, Value};
use crate::{codec, statement};

/// Newest rows read of each table. Source: own choice; damage outside these rows is found by `check`.
const NEWEST: usize = 64;

/// Returns the damaged layers with their errors.
pub(crate) async fn look_over(sql: &dyn Sql) -> Vec<(Layer, ErrorKind)> {
    let looks = [
        (Layer::Lexical, index(sql).await),
        (Layer::Learnings, learning::all(sql, &LearningFilter::all()).await.map(drop)),
        (Layer::Graph, of_graph(sql).await),
        (Layer::Summaries, summaries(sql).await),
        (Layer::Working, working(sql).await),
    ];
    looks.into_iter().filter_map(|(layer, found)| Some((layer, found.err()?.kind()))).collect()
}

/// Whether the index lacks events after its last block.
pub(crate) async fn lacks_index(sql: &dyn Sql) -> Result<bool> {
    Ok(numbers(sql, statement::INDEX_LACKS).await?.iter().any(|number| *number > 0))
}

async fn numbers(sql: &dyn Sql, text: &'static str) -> Result<Vec<u64>> {
    let mut rows = sql.rows(text, Vec::new()).await?;
    let row = rows.first_mut().ok_or_else(|| corrupt("rows are not counted"))?;
    let columns = row.rest().len();
    (0..columns).map(|_| row.count()).collect()
}

async fn newest(sql: &dyn Sql, text: &'static str) -> Result<Vec<Row>> {
    sql.rows(text, vec![NEWEST.into()]).await
}

/// Returns an error for missing rows, unless all numbers are zero.
fn none_of(numbers: &[u64]) -> Result<()> {
    if numbers.iter().all(|number| *number == 0) { Ok(()) } else { Err(corrupt("rows are missing")) }
}

async fn index(sql: &dyn Sql) -> Result<()> {
    none_of(&numbers(sql, statement::INDEX_LACKS).await?)?;
    for mut row in newest(sql, statement::NEWEST_BLOCKS).await? {
        codec::decode(&row.blob()?)?;
    }
    Ok(())
}

async fn of_graph(sql: &dyn Sql) -> Result<()> {
    let counts = numbers(sql, statement::GRAPH_COUNTS).await?;
    if counts.windows(2).any(|pair| matches!(pair, [there, named] if there != named)) {
        return Err(corrupt("rows are missing"));
    }
    none_of(&numbers(sql, statement::ORPHANS).await?)?;
    graph::read_facts(newest(sql, statement::NEWEST_FACTS).await?)?;
    graph::read_entities(newest(sql, statement::NEWEST_ENTITIES).await?).map(drop)
}

async fn summaries(sql: &dyn Sql) -> Result<()> {
    none_of(&numbers(sql, statement::SUMMARY_ORPHANS).await?)?;
    newest(sql, statement::NEWEST_SUMMARIES)
        .await?
        .into_iter()
        .try_for_each(|row| summary::one(row).map(drop))
}

async fn working(sql: &dyn Sql) -> Result<()> {
    for row in newest(sql, statement::NEWEST_ENTRIES).await? {
        match row.rest().first() {
            Some(Value::Text(body)) => crate::row::working::read(body).map(drop)?,
            _ => return Err(corrupt("an entry is missing")),
        }
    }
    Ok(())
}
