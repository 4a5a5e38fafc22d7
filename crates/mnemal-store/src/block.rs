//! Construction of index blocks: from new rows, from other blocks, and without erased rows.

use std::collections::BTreeMap;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, binary_heap::PeekMut},
};

use mnemal_core::{EventId, IndexBlock, IndexEntry, ModelId, NewEvent, Posting, Seq, TermHash, VectorColumn};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
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

/// Concatenates blocks, ascending by `seq`, together at most [`BLOCK_ROWS`](mnemal_core::BLOCK_ROWS).
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn merge(blocks: &[IndexBlock]) -> IndexBlock {
    let mut builder = Builder::default();
    let starts: Vec<usize> = blocks.iter().map(|block| builder.copy(block)).collect();
    builder.copy_terms(blocks, &starts);
    builder.finish()
}

/// Removes the rows of a block that do not pass.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn retain(mut block: IndexBlock, keep: impl Fn(Seq) -> bool) -> IndexBlock {
    let kept: Vec<bool> = block.seqs.iter().map(|seq| keep(*seq)).collect();
    keep_rows(&mut block.events, &kept, 1);
    keep_rows(&mut block.seqs, &kept, 1);
    keep_rows(&mut block.occurred_at, &kept, 1);
    keep_rows(&mut block.roles, &kept, 1);
    keep_rows(&mut block.levels, &kept, 1);
    keep_rows(&mut block.marks, &kept, 1);
    keep_rows(&mut block.lengths, &kept, 1);
    let IndexBlock { sessions, channels, speakers, users, agents, .. } = &mut block;
    for labels in [sessions, channels, speakers, users, agents] {
        let mut left = Labels::default();
        copy_labels(&mut left, labels, (0..).zip(&kept).filter(|(_, is_kept)| **is_kept).map(|(row, _)| row));
        *labels = left;
    }
    for column in &mut block.vectors {
        keep_rows(&mut column.scales, &kept, 1);
        keep_rows(&mut column.codes, &kept, column.dimensions);
    }
    block.vectors.retain(|column| column.scales.iter().any(|scale| *scale > 0.0));
    keep_terms(&mut block, &kept);
    block
}

/// Keeps the column values of kept rows, `width` of each.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
fn keep_rows<T: Copy>(column: &mut Vec<T>, kept: &[bool], width: usize) {
    let mut end = 0;
    for (row, _) in kept.iter().enumerate().filter(|(_, is_kept)| **is_kept) {
        let values = row * width..(row + 1) * width;
        if values.end <= column.len() {
            column.copy_within(values, end);
            end += width;
        }
    }
    column.truncate(end);
}

/// Keeps the postings of kept rows, with their new numbers, and the terms with a posting.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
fn keep_terms(block: &mut IndexBlock, kept: &[bool]) {
    let mut next = 0;
    let place = |is_kept: &bool| {
        let place = is_kept.then_some(next);
        next += u16::from(*is_kept);
        place
    };
    let places: Vec<Option<u16>> = kept.iter().map(place).collect();
    let all = std::mem::take(&mut block.postings);
    let (terms, starts) = (std::mem::take(&mut block.terms), std::mem::take(&mut block.starts));
    block.postings.reserve_exact(all.len());
    for (term, run) in terms.into_iter().zip(starts.windows(2)) {
        let start = offset(block.postings.len());
        let &[from, to] = run else { continue };
        let postings = all.get(from as usize..to as usize).unwrap_or_default();
        let moved = |posting: &Posting| {
            let place = places.get(usize::from(posting.row())).copied().flatten()?;
            Some(Posting::new(place, posting.count()))
        };
        block.postings.extend(postings.iter().filter_map(moved));
        if offset(block.postings.len()) > start {
            block.terms.push(term);
            block.starts.push(start);
        }
    }
    block.starts.push(offset(block.postings.len()));
}

/// Sets the vector of a row, replacing an earlier one of the same model.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
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

/// Block builder: rows first, then terms in order; vectors are sorted at the end.
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

    /// Copies rows without their terms; returns the index of the first.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    fn copy(&mut self, from: &IndexBlock) -> usize {
        let start = self.block.len();
        let block = &mut self.block;
        block.events.extend_from_slice(&from.events);
        block.seqs.extend_from_slice(&from.seqs);
        block.occurred_at.extend_from_slice(&from.occurred_at);
        block.roles.extend_from_slice(&from.roles);
        block.levels.extend_from_slice(&from.levels);
        block.marks.extend_from_slice(&from.marks);
        block.lengths.extend_from_slice(&from.lengths);
        for (to, from) in [
            (&mut block.sessions, &from.sessions),
            (&mut block.channels, &from.channels),
            (&mut block.speakers, &from.speakers),
            (&mut block.users, &from.users),
            (&mut block.agents, &from.agents),
        ] {
            copy_labels(to, from, 0..from.rows.len());
        }
        for column in &from.vectors {
            let rows = column.codes.chunks_exact(column.dimensions.max(1));
            for ((scale, codes), place) in column.scales.iter().zip(rows).zip(start..) {
                if *scale > 0.0 {
                    self.set(place, &column.model, (*scale, codes));
                }
            }
        }
        start
    }

    /// Copies the terms of rows that were copied before: a merge over all blocks, so that only the blocks and the result are in
    /// memory.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    fn copy_terms(&mut self, blocks: &[IndexBlock], starts: &[usize]) {
        self.block.postings.reserve_exact(blocks.iter().map(|block| block.postings.len()).sum());
        let first = |(number, block): (usize, &IndexBlock)| Some(Reverse((*block.terms.first()?, number, 0)));
        let mut next: BinaryHeap<_> = blocks.iter().enumerate().filter_map(first).collect();
        while let Some(mut smallest) = next.peek_mut() {
            let Reverse((term, from, at)) = *smallest;
            let (Some(block), Some(start)) = (blocks.get(from), starts.get(from)) else { return };
            match block.terms.get(at + 1) {
                Some(later) => *smallest = Reverse((*later, from, at + 1)),
                None => drop(PeekMut::pop(smallest)),
            }
            for posting in block.postings(term) {
                self.add(term, Posting::new(number(start + usize::from(posting.row())), posting.count()));
            }
        }
    }

    /// Adds a posting; terms ascend, and so do the rows of each. Counts of a repeated row are added.
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

    /// Stores a vector; one with other dimensions than its model is skipped (the store has rejected it before).
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

/// Appends the labels of some rows, ascending.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
fn copy_labels(to: &mut Labels, from: &Labels, rows: impl Iterator<Item = usize>) {
    let mut codes: Vec<Option<u16>> = vec![None; from.names.len() + 1];
    for row in rows {
        let Some(slot) = from.rows.get(row).and_then(|code| codes.get_mut(usize::from(*code))) else {
            continue;
        };
        if let Some(known) = *slot {
            to.rows.push(known);
        } else {
            to.push(from.get(row));
            *slot = to.rows.last().copied();
        }
    }
}

/// A row's number; a block has at most 1,024 rows.
fn number(row: usize) -> u16 {
    u16::try_from(row).unwrap_or(u16::MAX)
}

/// An offset in the postings; 1,024 events of 256 KiB cannot have 2³² terms.
fn offset(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
