//! The stored form of an index block: the same bytes on every database.
//!
//! Byte 0 is the version of the format, bytes 1 to 8 are the first bytes of BLAKE3 over the rest, then come the columns in the
//! order of [`IndexBlock`]: numbers as varints and deltas, frequently read columns as plain little-endian arrays.

mod bytes;
pub(crate) mod graph;
pub(crate) mod receipt;

use mnemal_core::{
    BLOCK_ROWS, EventId, IndexBlock, Labels, Level, Marks, ModelId, Posting, Result, Role, Seq, TermHash,
    Timestamp, VectorColumn,
};

pub(crate) use self::bytes::corrupt;
use self::bytes::{Input, put_length, put_text, put_varint, zigzag};
use crate::admit::LARGEST_DIMENSIONS;

/// Incremented with every change of the format.
const VERSION: u8 = 1;
/// Marks a count of 255 or more; the excess follows after the column.
const MANY: u8 = 255;

/// Returns the first eight bytes of BLAKE3.
pub(crate) fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    for (to, from) in short.iter_mut().zip(blake3::hash(bytes).as_bytes()) {
        *to = *from;
    }
    short
}

/// Writes a block.
pub(crate) fn encode(block: &IndexBlock) -> Vec<u8> {
    let mut out = vec![VERSION, 0, 0, 0, 0, 0, 0, 0, 0];
    let vectors: usize =
        block.vectors.iter().map(|column| column.codes.len() + 4 * column.scales.len()).sum();
    out.reserve(block.len() * 64 + block.terms.len() * 9 + block.postings.len() * 3 + vectors);
    put_length(&mut out, block.len());
    for id in &block.events {
        out.extend_from_slice(&id.0.to_be_bytes());
    }
    put_rows(&mut out, block);
    for labels in [&block.sessions, &block.channels, &block.speakers, &block.users, &block.agents] {
        put_labels(&mut out, labels);
    }
    for length in &block.lengths {
        put_varint(&mut out, u64::from(*length));
    }
    put_terms(&mut out, block);
    put_length(&mut out, block.vectors.len());
    for column in &block.vectors {
        put_vectors(&mut out, column);
    }
    seal(&mut out);
    out
}

/// Writes the checksum of the rest into bytes 1 to 8.
fn seal(out: &mut [u8]) {
    let sum = out.get(9..).map(checksum).unwrap_or_default();
    if let Some(place) = out.get_mut(1..9) {
        place.copy_from_slice(&sum);
    }
}

/// Checks version and checksum, and returns the rest; `what` names the record.
fn unsealed<'a>(stored: &'a [u8], version: u8, what: &str) -> Result<Input<'a>> {
    let mut header = Input(stored);
    if header.take(1)? != [version] {
        return Err(corrupt(&format!("{what} has an unknown format")));
    }
    if header.take(8)? != checksum(header.0) {
        return Err(corrupt(&format!("{what} does not match its checksum")));
    }
    Ok(header)
}

/// Reads a block.
///
/// # Errors
/// `Corrupt` for anything that [`encode`] does not write; never panics, never allocates more than a block can need.
pub(crate) fn decode(stored: &[u8]) -> Result<IndexBlock> {
    let mut input = unsealed(stored, VERSION, "an index block")?;
    let rows = input.count(16)?;
    if rows > BLOCK_ROWS {
        return Err(corrupt("an index block has too many rows"));
    }
    let mut block = IndexBlock { events: events(input.column(rows, 16)?), ..IndexBlock::default() };
    take_rows(&mut input, rows, &mut block)?;
    block.sessions = labels(&mut input, rows)?;
    block.channels = labels(&mut input, rows)?;
    block.speakers = labels(&mut input, rows)?;
    block.users = labels(&mut input, rows)?;
    block.agents = labels(&mut input, rows)?;
    for _ in 0..rows {
        let length = u32::try_from(input.varint()?).map_err(|_| corrupt("a text has too many terms"))?;
        block.lengths.push(length);
    }
    take_terms(&mut input, rows, &mut block)?;
    for _ in 0..input.count(1)? {
        block.vectors.push(vectors(&mut input, rows)?);
    }
    if input.0.is_empty() { Ok(block) } else { Err(corrupt("an index block goes on behind its end")) }
}

fn events(bytes: &[u8]) -> Vec<EventId> {
    let (ids, _) = bytes.as_chunks::<16>();
    ids.iter().map(|id| EventId(u128::from_be_bytes(*id))).collect()
}

fn put_rows(out: &mut Vec<u8>, block: &IndexBlock) {
    let mut last = 0;
    for seq in &block.seqs {
        put_varint(out, seq.0.wrapping_sub(last));
        last = seq.0;
    }
    let mut last = 0;
    for at in &block.occurred_at {
        put_varint(out, zigzag(at.as_micros() - last));
        last = at.as_micros();
    }
    out.extend(block.roles.iter().map(|role| role_code(*role)));
    out.extend(block.levels.iter().map(|level| level_code(*level)));
    out.extend(block.marks.iter().map(|marks| marks.0));
}

fn take_rows(input: &mut Input<'_>, rows: usize, block: &mut IndexBlock) -> Result<()> {
    let mut last = 0_u64;
    for _ in 0..rows {
        let step = input.varint()?;
        last = last.checked_add(step).filter(|_| step > 0).ok_or_else(|| corrupt("positions fall"))?;
        block.seqs.push(Seq(last));
    }
    let mut last = 0_i64;
    for _ in 0..rows {
        last = last.checked_add(input.signed()?).ok_or_else(|| corrupt("a time is out of range"))?;
        block.occurred_at.push(Timestamp::from_micros(last).map_err(|_| corrupt("a time is out of range"))?);
    }
    for code in input.take(rows)? {
        block.roles.push(role(*code)?);
    }
    for code in input.take(rows)? {
        block.levels.push(level(*code)?);
    }
    block.marks = input.take(rows)?.iter().map(|bits| Marks(*bits)).collect();
    Ok(())
}

fn put_labels(out: &mut Vec<u8>, labels: &Labels) {
    put_length(out, labels.names.len());
    for name in &labels.names {
        put_text(out, name);
    }
    match labels.names.len() {
        0 => {}
        1..=254 => out.extend(labels.rows.iter().map(|code| u8::try_from(*code).unwrap_or_default())),
        _ => out.extend(labels.rows.iter().flat_map(|code| code.to_le_bytes())),
    }
}

fn labels(input: &mut Input<'_>, rows: usize) -> Result<Labels> {
    let names = input.count(1)?;
    if names > rows {
        return Err(corrupt("there are more names than rows"));
    }
    let mut labels = Labels::default();
    for _ in 0..names {
        labels.names.push(input.text()?);
    }
    labels.rows = match names {
        0 => vec![0; rows],
        1..=254 => input.take(rows)?.iter().map(|code| u16::from(*code)).collect(),
        _ => shorts(input.column(rows, 2)?).collect(),
    };
    if labels.rows.iter().any(|code| usize::from(*code) > names) {
        return Err(corrupt("a row has a name that is not there"));
    }
    Ok(labels)
}

fn shorts(bytes: &[u8]) -> impl Iterator<Item = u16> {
    let (pairs, _) = bytes.as_chunks::<2>();
    pairs.iter().map(|pair| u16::from_le_bytes(*pair))
}

fn put_terms(out: &mut Vec<u8>, block: &IndexBlock) {
    put_length(out, block.terms.len());
    for term in &block.terms {
        out.extend_from_slice(&term.0.to_le_bytes());
    }
    for (start, end) in block.starts.iter().zip(block.starts.iter().skip(1)) {
        put_varint(out, u64::from(end - start));
    }
    out.extend(block.postings.iter().flat_map(|posting| posting.row().to_le_bytes()));
    out.extend(block.postings.iter().map(|posting| u8::try_from(posting.count()).unwrap_or(MANY)));
    for posting in block.postings.iter().filter(|posting| posting.count() >= u16::from(MANY)) {
        put_varint(out, u64::from(posting.count() - u16::from(MANY)));
    }
}

fn take_terms(input: &mut Input<'_>, rows: usize, block: &mut IndexBlock) -> Result<()> {
    let terms = input.count(8)?;
    let (hashes, _) = input.column(terms, 8)?.as_chunks::<8>();
    block.terms = hashes.iter().map(|hash| TermHash(u64::from_le_bytes(*hash))).collect();
    if !block.terms.is_sorted_by(|one, other| one < other) {
        return Err(corrupt("terms are out of order"));
    }
    let mut end = 0_u32;
    block.starts = Vec::with_capacity(terms + 1);
    block.starts.push(end);
    for _ in 0..terms {
        let count = u32::try_from(input.varint()?).unwrap_or(u32::MAX);
        end = end
            .checked_add(count)
            .filter(|_| count > 0 && count as usize <= rows)
            .ok_or_else(|| corrupt("a term has too many postings"))?;
        block.starts.push(end);
    }
    let total = end as usize;
    let places = input.column(total, 2)?;
    let counts = input.take(total)?;
    if shorts(places).any(|row| usize::from(row) >= rows) {
        return Err(corrupt("a posting has a row that is not there"));
    }
    let posting = |(row, count): (u16, &u8)| Posting::new(row, u16::from(*count));
    block.postings = shorts(places).zip(counts).map(posting).collect();
    check_postings(block)?;
    if counts.iter().any(|count| matches!(*count, 0 | MANY)) {
        take_counts(input, counts, block)?;
    }
    Ok(())
}

fn check_postings(block: &IndexBlock) -> Result<()> {
    let mut ordered = true;
    let mut rest = block.postings.as_slice();
    for (start, end) in block.starts.iter().zip(block.starts.iter().skip(1)) {
        let Some((list, behind)) = rest.split_at_checked((end - start) as usize) else { break };
        if let [_, _, ..] = list {
            ordered &= list.is_sorted_by(|one, other| one.row() < other.row());
        }
        rest = behind;
    }
    if ordered { Ok(()) } else { Err(corrupt("postings are out of order")) }
}

fn take_counts(input: &mut Input<'_>, counts: &[u8], block: &mut IndexBlock) -> Result<()> {
    for (posting, count) in block.postings.iter_mut().zip(counts) {
        if *count == 0 {
            return Err(corrupt("a posting counts nothing"));
        }
        if *count == MANY {
            let more = u16::try_from(input.varint()?).unwrap_or(u16::MAX);
            let count =
                more.checked_add(u16::from(MANY)).ok_or_else(|| corrupt("a posting counts too much"))?;
            *posting = Posting::new(posting.row(), count);
        }
    }
    Ok(())
}

fn put_vectors(out: &mut Vec<u8>, column: &VectorColumn) {
    put_text(out, column.model.as_str());
    put_length(out, column.dimensions);
    out.extend(column.scales.iter().flat_map(|scale| scale.to_le_bytes()));
    let rows = column.codes.chunks_exact(column.dimensions.max(1));
    for (codes, _) in rows.zip(&column.scales).filter(|(_, scale)| **scale > 0.0) {
        out.extend(codes.iter().map(|code| code.cast_unsigned()));
    }
}

fn vectors(input: &mut Input<'_>, rows: usize) -> Result<VectorColumn> {
    let model = ModelId::new(input.text()?).map_err(|_| corrupt("a model has no name"))?;
    let dimensions = input.count(1)?;
    if !(1..=LARGEST_DIMENSIONS).contains(&dimensions) {
        return Err(corrupt("vectors have an impossible number of values"));
    }
    let (scales, _) = input.column(rows, 4)?.as_chunks::<4>();
    let scales: Vec<f32> = scales.iter().map(|scale| f32::from_le_bytes(*scale)).collect();
    if scales.iter().any(|scale| !scale.is_finite() || scale.is_sign_negative()) {
        return Err(corrupt("a vector has an impossible scale"));
    }
    let present = scales.iter().filter(|scale| **scale > 0.0).count();
    let stored = input.column(present, dimensions)?;
    let signed =
        |codes: &mut Vec<i8>, bytes: &[u8]| codes.extend(bytes.iter().map(|byte| byte.cast_signed()));
    let mut codes = Vec::with_capacity(rows * dimensions);
    if present == rows {
        signed(&mut codes, stored);
    } else {
        let mut stored = stored.chunks_exact(dimensions);
        for scale in &scales {
            if *scale > 0.0 {
                signed(&mut codes, stored.next().unwrap_or_default());
            } else {
                codes.resize(codes.len() + dimensions, 0);
            }
        }
    }
    Ok(VectorColumn { model, dimensions, scales, codes })
}

/// Returns the stored code of a role.
pub(crate) fn role_code(role: Role) -> u8 {
    Role::ALL
        .iter()
        .position(|known| *known == role)
        .and_then(|place| u8::try_from(place).ok())
        .unwrap_or(MANY)
}

/// Reads the code of a role.
pub(crate) fn role(code: u8) -> Result<Role> {
    Role::ALL.get(usize::from(code)).copied().ok_or_else(|| corrupt("an unknown role"))
}

/// Returns the stored code of a level.
pub(crate) fn level_code(level: Level) -> u8 {
    match level {
        Level::External => 0,
        Level::Agent => 1,
        Level::User => 2,
    }
}

/// Reads the code of a level.
pub(crate) fn level(code: u8) -> Result<Level> {
    match code {
        0 => Ok(Level::External),
        1 => Ok(Level::Agent),
        2 => Ok(Level::User),
        _ => Err(corrupt("an unknown level")),
    }
}

#[cfg(test)]
mod tests {
    use mnemal_core::{
        ChannelId, ErrorKind, EventKind, IndexEntry, Metadata, NewEvent, Origin, SessionId, Speaker, Terms,
        Vector, Zone,
    };
    use proptest::prelude::*;

    use super::*;
    use crate::block::{IndexRow, merge, pack, retain, set_vector};

    /// One row by its parts: terms with counts, vector of `model-<n>`, session, whether there is a speaker.
    type Parts = (Vec<(u64, u16)>, Option<(u8, Vec<i8>)>, u8, bool, u32);

    fn parts() -> impl Strategy<Value = Parts> {
        let terms = proptest::collection::btree_map(0..40_u64, prop_oneof![1..9_u16, 200..700_u16], 0..12);
        let vector = proptest::option::of((0..2_u8, proptest::collection::vec(-127..=127_i8, 3)));
        (
            terms.prop_map(|terms| terms.into_iter().collect()),
            vector,
            any::<u8>(),
            any::<bool>(),
            any::<u32>(),
        )
    }

    fn row((terms, vector, session, speaks, seconds): &Parts) -> (NewEvent, IndexEntry) {
        let event = NewEvent {
            kind: if *speaks { EventKind::UserMessage } else { EventKind::Document },
            content: "text".to_owned(),
            session: SessionId::new(format!("session {session}")).unwrap(),
            channel: ChannelId::new("channel").unwrap(),
            parent: None,
            speaker: speaks.then(|| Speaker::new("Ada").unwrap()),
            user: None,
            agent: None,
            occurred_at: Timestamp::EPOCH.plus_micros(i64::from(*seconds) * 1_000_003),
            zone: Zone::utc(),
            origin: Origin::UserDirect,
            idempotency_key: None,
            metadata: Metadata::new(),
        };
        let counts = terms.iter().map(|(term, count)| (TermHash(term.wrapping_mul(1 << 58)), *count));
        let mut counts: Vec<_> = counts.collect();
        counts.sort_unstable();
        counts.dedup_by_key(|(term, _)| *term);
        let vectors = vector.iter().map(|(model, codes)| {
            let model = ModelId::new(format!("model-{model}")).unwrap();
            (model, Vector::from_codes(0.25, codes.clone().into_boxed_slice()).unwrap())
        });
        let terms = Terms { length: 9, counts };
        (event, IndexEntry { terms, marks: Marks(seconds.to_le_bytes()[0]), vectors: vectors.collect() })
    }

    fn block(rows: &[Parts], first: u64) -> IndexBlock {
        let made: Vec<_> = rows.iter().map(row).collect();
        let rows: Vec<_> = made
            .iter()
            .zip(first..)
            .map(|((event, index), seq)| IndexRow {
                id: EventId(u128::from(seq) << 64),
                seq: Seq(seq),
                event,
                index,
            })
            .collect();
        pack(&rows)
    }

    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let sum = checksum(&bytes[9..]);
        bytes[1..9].copy_from_slice(&sum);
        bytes
    }

    #[test]
    fn a_block_without_rows_and_one_of_many_sessions_read_back() {
        assert_eq!(decode(&encode(&pack(&[]))).unwrap(), pack(&[]));
        let parts = |n: u16| (vec![(1, 1)], None, n.to_le_bytes()[0] % 251, true, u32::from(n));
        let mut rows: Vec<Parts> = (0..1_024).map(parts).collect();
        let wide = block(&rows, 1);
        assert_eq!(decode(&encode(&wide)).unwrap(), wide);
        for (place, row) in (0_u16..).zip(&mut rows) {
            row.2 = place.to_le_bytes()[0];
        }
        let widest = block(&rows, 1);
        assert_eq!(widest.sessions.names.len(), 256);
        assert_eq!(decode(&encode(&widest)).unwrap(), widest);
    }

    // proves: D7
    proptest! {
        #[test]
        fn what_is_written_reads_back(rows in proptest::collection::vec(parts(), 0..30), first in 1..1_000_u64) {
            let block = block(&rows, first);
            prop_assert_eq!(decode(&encode(&block)).unwrap(), block);
        }

        #[test]
        fn merged_blocks_equal_one_block(rows in proptest::collection::vec(parts(), 0..30), cut in 0..30_usize) {
            let cut = cut.min(rows.len());
            let halves = [block(&rows[..cut], 1), block(&rows[cut..], 1 + cut as u64)];
            prop_assert_eq!(merge(&halves), block(&rows, 1));
        }

        #[test]
        fn what_is_left_out_leaves_nothing(rows in proptest::collection::vec(parts(), 0..20), gone in any::<u32>()) {
            let keep = |seq: Seq| gone >> (seq.0 - 1) & 1 == 0;
            let whole = block(&rows, 1);
            let rest = retain(whole.clone(), keep);
            prop_assert_eq!(decode(&encode(&rest)).unwrap(), rest.clone());
            let left: Vec<Seq> = whole.seqs.iter().copied().filter(|seq| keep(*seq)).collect();
            prop_assert_eq!(&rest.seqs, &left);
            for term in &rest.terms {
                for posting in rest.postings(*term) {
                    let row = whole.seqs.iter().position(|seq| *seq == rest.seqs[usize::from(posting.row())]).unwrap();
                    let same = whole.postings(*term).iter().find(|whole| usize::from(whole.row()) == row);
                    prop_assert_eq!(same.map(|whole| whole.count()), Some(posting.count()));
                }
            }
            let is_left = |posting: &&Posting| left.contains(&whole.seqs[usize::from(posting.row())]);
            prop_assert_eq!(rest.postings.len(), whole.postings.iter().filter(is_left).count());
            for column in &whole.vectors {
                let vector = |of: &VectorColumn, row: usize| {
                    let codes = of.codes[row * of.dimensions..(row + 1) * of.dimensions].to_vec();
                    (of.scales[row] > 0.0).then_some((of.scales[row], codes))
                };
                let other = rest.vectors.iter().find(|other| other.model == column.model);
                for (row, seq) in whole.seqs.iter().enumerate().filter(|(_, seq)| keep(**seq)) {
                    let place = rest.seqs.iter().position(|left| left == seq).unwrap();
                    prop_assert_eq!(other.and_then(|other| vector(other, place)), vector(column, row));
                }
            }
            let known = |name: &String| rest.sessions.rows.iter().enumerate().any(|(row, _)| rest.sessions.get(row) == Some(name));
            prop_assert!(rest.sessions.names.iter().all(known));
        }

        #[test]
        fn any_damage_is_an_error(rows in proptest::collection::vec(parts(), 1..8), place in any::<usize>(), flip in 1..=255_u8, cut in any::<usize>()) {
            let bytes = encode(&block(&rows, 1));
            let mut flipped = bytes.clone();
            flipped[place % bytes.len()] ^= flip;
            prop_assert_eq!(decode(&flipped).unwrap_err().kind(), ErrorKind::Corrupt);
            prop_assert_eq!(decode(&bytes[..cut % bytes.len()]).unwrap_err().kind(), ErrorKind::Corrupt);
        }

        #[test]
        fn a_forged_checksum_never_panics(rows in proptest::collection::vec(parts(), 1..8), places in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..4)) {
            let mut bytes = encode(&block(&rows, 1));
            for (place, value) in places {
                let length = bytes.len() - 9;
                bytes[9 + place % length] = value;
            }
            if let Err(error) = decode(&sealed(bytes)) {
                prop_assert_eq!(error.kind(), ErrorKind::Corrupt);
            }
        }

        #[test]
        fn bytes_that_are_none_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = [vec![VERSION; 9], bytes].concat();
            prop_assert!(decode(&bytes).is_err());
            bytes = sealed(bytes);
            if let Ok(block) = decode(&bytes) {
                prop_assert!(block.len() <= BLOCK_ROWS);
            }
        }
    }

    #[test]
    fn a_late_vector_stands_in_its_row_alone() {
        let mut block = block(&[(vec![(1, 1)], None, 0, true, 1), (vec![(2, 1)], None, 0, true, 2)], 1);
        let model = ModelId::new("late").unwrap();
        let vector = |code| Vector::from_codes(0.5, Box::new([code, 0, 1])).unwrap();
        set_vector(&mut block, 1, &model, &vector(3));
        set_vector(&mut block, 1, &model, &vector(7));
        assert_eq!(block.vectors[0].scales, [0.0, 0.5]);
        assert_eq!(block.vectors[0].codes, [0, 0, 0, 7, 0, 1]);
        assert_eq!(decode(&encode(&block)).unwrap(), block);
    }
}
