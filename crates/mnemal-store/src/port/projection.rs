//! Shared parts of all projections: a cursor, and dead letters that move with it.

use std::num::NonZeroUsize;

use mnemal_core::{Advance, Cursor, DeadLetter, EventId, Layer, Result, Seq};

use super::index;
use crate::codec::corrupt;
use crate::sql::{ChangeState, Row, Sql, Step, Value};
use crate::{removal, statement};

fn name(layer: Layer) -> Value {
    layer.as_str().into()
}

/// Reads a cursor; no row means the start.
pub(crate) async fn cursor(sql: &dyn Sql, layer: Layer) -> Result<Cursor> {
    let mut rows = sql.rows(statement::CURSOR, vec![name(layer)]).await?;
    let seq = rows.first_mut().map(Row::count).transpose()?.unwrap_or_default();
    Ok(Cursor((seq > 0).then_some(Seq(seq))))
}

/// The version of a layer's rows, for change detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LayerVersion {
    cursor: u64,
    forgets: u64,
    /// Folds and resets so far.
    writes: u64,
}

impl LayerVersion {
    /// The cursor of the layer.
    pub(crate) fn cursor(&self) -> Cursor {
        Cursor((self.cursor > 0).then_some(Seq(self.cursor)))
    }

    /// Follows a fold of one's own. Was there another one since, by anybody, then this is a version that never comes.
    pub(crate) fn moved(&mut self, advance: &Advance) {
        if self.cursor == advance.expect.count() {
            self.cursor = advance.next.count();
            self.writes += 1;
        }
    }
}

pub(crate) async fn version(sql: &dyn Sql, layer: Layer) -> Result<LayerVersion> {
    let mut rows = sql.rows(statement::LAYER_VERSION, vec![name(layer)]).await?;
    let row = rows.first_mut().ok_or_else(|| corrupt("the space has no row"))?;
    let (cursor, forgets, writes) = (row.count()?, row.count()?, row.count()?);
    Ok(LayerVersion { cursor, forgets: forgets + sql.witness().ended(), writes })
}

/// Reads the mark with the versions of both cached layers.
pub(crate) async fn state(sql: &dyn Sql) -> Result<ChangeState> {
    let asked = sql.witness().seq();
    let args = vec![name(Layer::Learnings), name(Layer::Graph), asked.into()];
    let mut rows = sql.rows(statement::STATE, args).await?;
    let row = rows.first_mut().ok_or_else(|| corrupt("the space has no row"))?;
    let mark = index::read_mark(row, asked, sql.witness())?;
    let mut version =
        || Ok(LayerVersion { cursor: row.count()?, forgets: mark.forgets, writes: row.count()? });
    Ok(ChangeState { mark, learnings: version()?, graph: version()? })
}

/// Returns the steps that move the cursor or conflict, and update the dead letters.
pub(crate) fn advance(layer: Layer, advance: &Advance) -> Vec<Step> {
    let places = vec![name(layer), advance.next.count().into(), advance.expect.count().into()];
    let mut steps = vec![Step::rows(statement::MOVE_CURSOR, places, 1)];
    let dead = |letter: &DeadLetter| vec![name(layer), letter.event.into(), letter.why.as_str().into()];
    let revived = |event: &EventId| Step::new(removal::DELETE_REVIVED, vec![name(layer), (*event).into()]);
    steps.push(Step::new(statement::COUNT_WRITE, vec![name(layer)]));
    steps.extend(advance.revived.iter().map(revived));
    steps.extend(statement::INSERT_DEAD.upserts(2, advance.dead.iter().map(dead).collect()));
    steps
}

/// Returns the steps that delete cursor and dead letters; the number of writes stays.
pub(crate) fn reset(layer: Layer) -> [Step; 3] {
    [removal::DELETE_DEAD, removal::DELETE_CURSOR, statement::COUNT_WRITE]
        .map(|text| Step::new(text, vec![name(layer)]))
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
