//! Shared parts of all projections: a cursor, and dead letters that move with it.

use std::num::NonZeroUsize;

use mnemal_core::{Advance, Cursor, DeadLetter, EventId, Layer, Result, Seq};

use crate::sql::{Row, Sql, Step, Value};
use crate::{removal, statement};

fn name(layer: Layer) -> Value {
    layer.as_str().into()
}

pub(crate) async fn cursor(sql: &dyn Sql, layer: Layer) -> Result<Cursor> {
    let mut rows = sql.rows(statement::CURSOR, vec![name(layer)]).await?;
    read_cursor(rows.first_mut())
}

/// Reads a cursor from the first column; no row means the start.
pub(crate) fn read_cursor(row: Option<&mut Row>) -> Result<Cursor> {
    let seq = row.map(Row::count).transpose()?.unwrap_or_default();
    Ok(Cursor((seq > 0).then_some(Seq(seq))))
}

/// Returns the steps that move the cursor or conflict, and update the dead letters.
pub(crate) fn advance(layer: Layer, advance: &Advance) -> Vec<Step> {
    let places = vec![name(layer), advance.next.count().into(), advance.expect.count().into()];
    let mut steps = vec![Step::rows(statement::MOVE_CURSOR, places, 1)];
    let dead = |letter: &DeadLetter| vec![name(layer), letter.event.into(), letter.why.as_str().into()];
    let revived = |event: &EventId| Step::new(removal::DELETE_REVIVED, vec![name(layer), (*event).into()]);
    steps.extend(advance.revived.iter().map(revived));
    steps.extend(statement::INSERT_DEAD.steps(advance.dead.iter().map(dead).collect()));
    steps
}

/// Returns the steps that delete cursor and dead letters.
pub(crate) fn reset(layer: Layer) -> [Step; 2] {
    [Step::new(removal::DELETE_DEAD, vec![name(layer)]), Step::new(removal::DELETE_CURSOR, vec![name(layer)])]
}

pub(crate) async fn dead_letters(
    sql: &dyn Sql,
    layer: Layer,
    limit: NonZeroUsize,
) -> Result<Vec<DeadLetter>> {
    let rows = sql.rows(statement::DEAD, vec![name(layer), limit.get().into()]).await?;
    let letter = |mut row: Row| Ok(DeadLetter { event: EventId(row.id()?), why: row.text()? });
    rows.into_iter().map(letter).collect()
}
