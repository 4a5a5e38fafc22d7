//! Merges two adjacent blocks into one, in memory.

use mnemal_core::{IndexBlock, Labels, Posting, TermHash, VectorColumn};

/// Returns one block with the rows of both, those of `first` before those of `second`.
pub(crate) fn merge(first: &IndexBlock, second: &IndexBlock) -> IndexBlock {
    let shift = first.len();
    let mut block = IndexBlock {
        events: joined(&first.events, &second.events),
        seqs: joined(&first.seqs, &second.seqs),
        occurred_at: joined(&first.occurred_at, &second.occurred_at),
        roles: joined(&first.roles, &second.roles),
        levels: joined(&first.levels, &second.levels),
        marks: joined(&first.marks, &second.marks),
        lengths: joined(&first.lengths, &second.lengths),
        sessions: joined_labels(&first.sessions, &second.sessions),
        channels: joined_labels(&first.channels, &second.channels),
        speakers: joined_labels(&first.speakers, &second.speakers),
        users: joined_labels(&first.users, &second.users),
        agents: joined_labels(&first.agents, &second.agents),
        vectors: joined_vectors(first, second),
        ..IndexBlock::default()
    };
    join_postings(&mut block, first, second, u16::try_from(shift).unwrap_or(u16::MAX));
    block
}

fn joined<T: Copy>(first: &[T], second: &[T]) -> Vec<T> {
    [first, second].concat()
}

fn joined_labels(first: &Labels, second: &Labels) -> Labels {
    let mut labels = first.clone();
    for row in 0..second.rows.len() {
        labels.push(second.get(row));
    }
    labels
}

fn join_postings(block: &mut IndexBlock, first: &IndexBlock, second: &IndexBlock, shift: u16) {
    block.terms = Vec::with_capacity(first.terms.len() + second.terms.len());
    block.postings = Vec::with_capacity(first.postings.len() + second.postings.len());
    let mut starts = Vec::with_capacity(block.terms.capacity() + 1);
    let (mut left, mut right) = (terms(first).peekable(), terms(second).peekable());
    loop {
        let term = match (left.peek(), right.peek()) {
            (None, None) => break,
            (Some((term, _)), None) | (None, Some((term, _))) => *term,
            (Some((one, _)), Some((other, _))) => *one.min(other),
        };
        starts.push(u32::try_from(block.postings.len()).unwrap_or(u32::MAX));
        block.terms.push(term);
        if let Some((_, postings)) = left.next_if(|(next, _)| *next == term) {
            block.postings.extend_from_slice(postings);
        }
        if let Some((_, postings)) = right.next_if(|(next, _)| *next == term) {
            let moved =
                |posting: &Posting| Posting::new(posting.row().saturating_add(shift), posting.count());
            block.postings.extend(postings.iter().map(moved));
        }
    }
    starts.push(u32::try_from(block.postings.len()).unwrap_or(u32::MAX));
    block.starts = starts;
}

fn terms(block: &IndexBlock) -> impl Iterator<Item = (TermHash, &[Posting])> {
    block.terms.iter().zip(block.starts.windows(2)).map(|(term, range)| {
        let bounds = range.first().zip(range.last()).map(|(start, end)| *start as usize..*end as usize);
        (*term, bounds.and_then(|bounds| block.postings.get(bounds)).unwrap_or_default())
    })
}

fn joined_vectors(first: &IndexBlock, second: &IndexBlock) -> Vec<VectorColumn> {
    let mut columns: Vec<VectorColumn> = first.vectors.clone();
    for column in &mut columns {
        column.scales.resize(first.len() + second.len(), 0.0);
        column.codes.resize((first.len() + second.len()) * column.dimensions, 0);
    }
    for column in &second.vectors {
        let known = columns.iter_mut().find(|known| known.model == column.model);
        match known {
            Some(known) if known.dimensions == column.dimensions => {
                known.scales.truncate(first.len());
                known.scales.extend_from_slice(&column.scales);
                known.codes.truncate(first.len() * column.dimensions);
                known.codes.extend_from_slice(&column.codes);
            }
            // A store rejects a second number of dimensions; if there is one anyway, the first is kept.
            Some(_) => {}
            None => {
                let mut scales = vec![0.0; first.len()];
                scales.extend_from_slice(&column.scales);
                let mut codes = vec![0; first.len() * column.dimensions];
                codes.extend_from_slice(&column.codes);
                columns.push(VectorColumn { scales, codes, ..column.clone() });
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{block, chat};

    #[test]
    fn a_merged_block_is_the_block_that_was_never_cut() {
        let turns = chat();
        for cut in [0, 1, 4, turns.len()] {
            let (first, second) = turns.split_at(cut);
            assert_eq!(
                merge(&block(first, 1), &block(second, cut as u64 + 1)),
                block(&turns, 1),
                "cut at {cut}"
            );
        }
    }
}
