//! Builds index blocks: from new rows, out of other blocks, and without rows that must go.

use std::collections::BTreeMap;
#[cfg(feature = "sqlite")]
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, binary_heap::PeekMut},
};

use mnemal_core::{EventId, IndexBlock, IndexEntry, ModelId, NewEvent, Posting, Seq, TermHash, VectorColumn};
#[cfg(feature = "sqlite")]
use mnemal_core::{Labels, Vector};

/// One event that becomes a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexRow<'a> {
    pub(crate) id: EventId,
    pub(crate) seq: Seq,
    pub(crate) event: &'a NewEvent,
    pub(crate) index: &'a IndexEntry,
}

/// Packs rows, ascending by `seq`, at most [`BLOCK_ROWS`](mnemal_core::BLOCK_ROWS).
pub(crate) fn pack(rows: &[IndexRow<'_>]) -> IndexBlock {
    let mut builder = Builder::default();
    let mut terms = Vec::with_capacity(rows.iter().map(|row| row.index.terms.counts.len()).sum());
    for row in rows {
        let number = number(builder.block.len());
        let posting = |count: u16| Posting::new(number, count);
        terms.extend(row.index.terms.counts.iter().map(|(term, count)| (*term, posting(*count))));
        builder.push(row);
    }
    terms.sort_unstable_by_key(|(term, posting)| (*term, posting.row()));
    builder.block.postings.reserve_exact(terms.len());
    for (term, posting) in terms {
        builder.add(term, posting);
    }
    builder.finish()
}

/// Puts blocks one behind the other, ascending by `seq`, together at most [`BLOCK_ROWS`](mnemal_core::BLOCK_ROWS).
#[cfg(feature = "sqlite")]
pub(crate) fn merge(blocks: &[IndexBlock]) -> IndexBlock {
    copied(blocks, &|_| true)
}

/// Returns the rows of a block that pass.
#[cfg(feature = "sqlite")]
pub(crate) fn retain(block: &IndexBlock, keep: impl Fn(Seq) -> bool) -> IndexBlock {
    copied(std::slice::from_ref(block), &keep)
}

/// Copies the rows that pass, out of blocks that stand one behind the other.
#[cfg(feature = "sqlite")]
fn copied(blocks: &[IndexBlock], keep: &dyn Fn(Seq) -> bool) -> IndexBlock {
    let mut builder = Builder::default();
    let places: Vec<_> = blocks.iter().map(|block| builder.copy(block, keep)).collect();
    builder.copy_terms(blocks, &places);
    builder.finish()
}

/// Puts one vector into a row, in place of an earlier one of the same model.
#[cfg(feature = "sqlite")]
pub(crate) fn set_vector(block: &mut IndexBlock, row: usize, model: &ModelId, vector: &Vector) {
    let (rows, dimensions) = (block.len(), vector.codes().len());
    let place = match block.vectors.binary_search_by(|column| column.model.cmp(model)) {
        Ok(place) => place,
        Err(place) => {
            let column = VectorColumn {
                model: model.clone(),
                dimensions,
                scales: vec![0.0; rows],
                codes: vec![0; rows * dimensions],
            };
            block.vectors.insert(place, column);
            place
        }
    };
    let Some(column) = block.vectors.get_mut(place).filter(|column| column.dimensions == dimensions) else {
        return;
    };
    let start = row * dimensions;
    if let (Some(scale), Some(codes)) =
        (column.scales.get_mut(row), column.codes.get_mut(start..start + dimensions))
    {
        *scale = vector.scale();
        codes.copy_from_slice(vector.codes());
    }
}

/// Where the rows of a block go; `None` for those that are left out.
#[cfg(feature = "sqlite")]
type Places = Vec<Option<usize>>;

/// A block that grows by rows; terms come behind them, in order, and vectors are put in order at the end.
#[derive(Default)]
struct Builder {
    block: IndexBlock,
    /// The newest term and the row of its newest posting.
    last: Option<(TermHash, u16)>,
    columns: BTreeMap<ModelId, VectorColumn>,
}

impl Builder {
    fn push(&mut self, row: &IndexRow<'_>) {
        let place = self.block.len();
        let (event, block) = (row.event, &mut self.block);
        block.events.push(row.id);
        block.seqs.push(row.seq);
        block.occurred_at.push(event.occurred_at);
        block.roles.push(event.kind.role());
        block.levels.push(event.origin.level());
        block.marks.push(row.index.marks);
        block.sessions.push(Some(event.session.as_str()));
        block.channels.push(Some(event.channel.as_str()));
        block.speakers.push(event.speaker.as_ref().map(mnemal_core::Speaker::as_str));
        block.users.push(event.user.as_ref().map(mnemal_core::UserId::as_str));
        block.agents.push(event.agent.as_ref().map(mnemal_core::AgentId::as_str));
        block.lengths.push(row.index.terms.length);
        for (model, vector) in &row.index.vectors {
            self.set(place, model, (vector.scale(), vector.codes()));
        }
    }

    /// Copies the rows that pass, without their terms.
    #[cfg(feature = "sqlite")]
    fn copy(&mut self, from: &IndexBlock, keep: &dyn Fn(Seq) -> bool) -> Places {
        let start = self.block.len();
        let mut places = Vec::with_capacity(from.len());
        let mut next = start;
        for seq in &from.seqs {
            places.push(keep(*seq).then_some(next));
            next += usize::from(keep(*seq));
        }
        let block = &mut self.block;
        copy_column(&mut block.events, &from.events, &places);
        copy_column(&mut block.seqs, &from.seqs, &places);
        copy_column(&mut block.occurred_at, &from.occurred_at, &places);
        copy_column(&mut block.roles, &from.roles, &places);
        copy_column(&mut block.levels, &from.levels, &places);
        copy_column(&mut block.marks, &from.marks, &places);
        copy_column(&mut block.lengths, &from.lengths, &places);
        copy_labels(&mut block.sessions, &from.sessions, &places);
        copy_labels(&mut block.channels, &from.channels, &places);
        copy_labels(&mut block.speakers, &from.speakers, &places);
        copy_labels(&mut block.users, &from.users, &places);
        copy_labels(&mut block.agents, &from.agents, &places);
        for column in &from.vectors {
            let rows = column.codes.chunks_exact(column.dimensions.max(1));
            for ((scale, codes), place) in column.scales.iter().zip(rows).zip(&places) {
                if let Some(place) = place.filter(|_| *scale > 0.0) {
                    self.set(place, &column.model, (*scale, codes));
                }
            }
        }
        places
    }

    /// Copies the terms of rows that are there already: those of all blocks at the same time, each in its order, so that nothing
    /// is held but the blocks and what comes out of them.
    #[cfg(feature = "sqlite")]
    fn copy_terms(&mut self, blocks: &[IndexBlock], places: &[Places]) {
        self.block.postings.reserve_exact(blocks.iter().map(|block| block.postings.len()).sum());
        let first = |(number, block): (usize, &IndexBlock)| Some(Reverse((*block.terms.first()?, number, 0)));
        let mut next: BinaryHeap<_> = blocks.iter().enumerate().filter_map(first).collect();
        while let Some(mut smallest) = next.peek_mut() {
            let Reverse((term, from, at)) = *smallest;
            let (Some(block), Some(places)) = (blocks.get(from), places.get(from)) else { return };
            match block.terms.get(at + 1) {
                Some(later) => *smallest = Reverse((*later, from, at + 1)),
                None => drop(PeekMut::pop(smallest)),
            }
            for posting in block.postings(term) {
                if let Some(Some(place)) = places.get(usize::from(posting.row())) {
                    self.add(term, Posting::new(number(*place), posting.count()));
                }
            }
        }
    }

    /// Adds a posting; terms ascend, and so do the rows of each. A row that is named twice is counted together.
    fn add(&mut self, term: TermHash, posting: Posting) {
        let block = &mut self.block;
        if self.last.is_none_or(|(known, _)| known != term) {
            block.terms.push(term);
            block.starts.push(offset(block.postings.len()));
        } else if self.last == Some((term, posting.row())) {
            if let Some(known) = block.postings.last_mut() {
                *known = Posting::new(known.row(), known.count().saturating_add(posting.count()));
            }
            return;
        }
        self.last = Some((term, posting.row()));
        block.postings.push(posting);
    }

    /// Keeps a vector; one whose dimensions are not those of its model is left out (the store has refused it before).
    fn set(&mut self, row: usize, model: &ModelId, (scale, codes): (f32, &[i8])) {
        if !self.columns.contains_key(model) {
            let column = VectorColumn {
                model: model.clone(),
                dimensions: codes.len(),
                scales: Vec::new(),
                codes: Vec::new(),
            };
            self.columns.insert(model.clone(), column);
        }
        let Some(column) = self.columns.get_mut(model).filter(|column| column.dimensions == codes.len())
        else {
            return;
        };
        if column.scales.len() <= row {
            column.scales.resize(row, 0.0);
            column.codes.resize(row * column.dimensions, 0);
            column.scales.push(scale);
            column.codes.extend_from_slice(codes);
        }
    }

    fn finish(mut self) -> IndexBlock {
        let rows = self.block.len();
        self.block.starts.push(offset(self.block.postings.len()));
        for (_, mut column) in self.columns {
            column.scales.resize(rows, 0.0);
            column.codes.resize(rows * column.dimensions, 0);
            self.block.vectors.push(column);
        }
        self.block
    }
}

#[cfg(feature = "sqlite")]
fn copy_column<T: Copy>(to: &mut Vec<T>, from: &[T], places: &[Option<usize>]) {
    to.extend(from.iter().zip(places).filter(|(_, place)| place.is_some()).map(|(value, _)| *value));
}

#[cfg(feature = "sqlite")]
fn copy_labels(to: &mut Labels, from: &Labels, places: &[Option<usize>]) {
    let mut codes: Vec<Option<u16>> = vec![None; from.names.len() + 1];
    for (row, code) in from.rows.iter().enumerate() {
        if places.get(row).is_none_or(Option::is_none) {
            continue;
        }
        if let Some(known) = codes.get(usize::from(*code)).copied().flatten() {
            to.rows.push(known);
            continue;
        }
        to.push(from.get(row));
        if let (Some(known), Some(slot)) = (to.rows.last(), codes.get_mut(usize::from(*code))) {
            *slot = Some(*known);
        }
    }
}

/// A row's number; a block has at most 1,024 rows.
fn number(row: usize) -> u16 {
    u16::try_from(row).unwrap_or(u16::MAX)
}

/// A place among the postings; 1,024 events of 256 KiB cannot have 2³² terms.
fn offset(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
