//! SQLite's cells and records, parsed without trusting any length.

use super::pages::PAGE;
use crate::sql::Value;

/// Kind of a page: a leaf of a table, whose cells have a row id. Source: SQLite's file format, like everything here.
const TABLE_LEAF: u8 = 0x0d;
/// Kind of a page: a leaf of an index or of a table without row ids.
const INDEX_LEAF: u8 = 0x0a;
/// Kind of a page: an inner page of such a tree, whose cells begin with the number of a page.
const INDEX_INNER: u8 = 0x02;

/// A row on its page.
#[derive(Debug)]
pub(super) struct Cell {
    /// Its number in a table.
    pub(super) rowid: Option<i64>,
    /// Bytes that it takes on its page.
    pub(super) size: usize,
    /// Bytes of the whole payload.
    pub(super) length: usize,
    /// The part on the page itself.
    pub(super) local: Vec<u8>,
    /// The page where the rest begins.
    pub(super) overflow: Option<u32>,
}

/// Returns the cells of a page with their offsets; none for a page that holds no rows.
pub(super) fn cells(page: &[u8], start: usize) -> Vec<(usize, Cell)> {
    let kind = page.get(start).copied().unwrap_or_default();
    let head = match kind {
        TABLE_LEAF | INDEX_LEAF => 8,
        INDEX_INNER => 12,
        _ => return Vec::new(),
    };
    let count = short(page, start + 3).unwrap_or_default();
    let offsets = (0..count).map_while(|place| short(page, start + head + 2 * place));
    offsets.filter_map(|offset| Some((offset, of(page, offset, kind)?))).collect()
}

/// Reads the cell of a table at an offset.
pub(super) fn cell(page: &[u8], offset: usize) -> Option<Cell> {
    of(page, offset, TABLE_LEAF)
}

fn of(page: &[u8], offset: usize, kind: u8) -> Option<Cell> {
    let mut rest = page.get(offset..)?;
    if kind == INDEX_INNER {
        rest = rest.get(4..)?;
    }
    let length = usize::try_from(varint(&mut rest)?).ok()?;
    let rowid = if kind == TABLE_LEAF { Some(varint(&mut rest)?) } else { None };
    let here = local(length, kind);
    let (payload, behind) = rest.split_at_checked(here)?;
    let size = page.len() - offset - behind.len() + if here < length { 4 } else { 0 };
    let overflow = if here < length { Some(u32::from_be_bytes(*behind.first_chunk::<4>()?)) } else { None };
    Some(Cell { rowid, size, length, local: payload.to_vec(), overflow })
}

/// Returns how many bytes of a payload are on the page itself.
fn local(length: usize, kind: u8) -> usize {
    let most = if kind == TABLE_LEAF { PAGE - 35 } else { (PAGE - 12) * 64 / 255 - 23 };
    if length <= most {
        return length;
    }
    let least = (PAGE - 12) * 32 / 255 - 23;
    let fitting = least + (length - least) % (PAGE - 4);
    if fitting <= most { fitting } else { least }
}

/// Reads the values of a record.
pub(super) fn values(payload: &[u8]) -> Option<Vec<Value>> {
    let mut rest = payload;
    let length = usize::try_from(varint(&mut rest)?).ok()?;
    let (head, mut body) = payload.split_at_checked(length)?;
    let mut head = head.get(payload.len() - rest.len()..)?;
    let mut values = Vec::new();
    while !head.is_empty() {
        let kind = varint(&mut head)?;
        values.push(value(kind, &mut body)?);
    }
    Some(values)
}

fn value(kind: i64, body: &mut &[u8]) -> Option<Value> {
    let length = match kind {
        0 | 8 | 9 => 0,
        1..=4 => usize::try_from(kind).ok()?,
        5 => 6,
        6 => 8,
        12.. => usize::try_from((kind - 12) / 2).ok()?,
        _ => return None,
    };
    let (bytes, rest) = body.split_at_checked(length)?;
    *body = rest;
    Some(match kind {
        0 => Value::Null,
        8 | 9 => Value::Int(kind - 8),
        1..=6 => Value::Int(number(bytes)),
        _ if kind % 2 == 0 => Value::Blob(bytes.to_vec()),
        _ => Value::Text(std::str::from_utf8(bytes).ok()?.to_owned()),
    })
}

/// Reads a signed number of up to eight bytes, highest first.
fn number(bytes: &[u8]) -> i64 {
    let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |number: i64, byte| number.wrapping_shl(8) | i64::from(*byte))
}

/// Takes a number of one to nine bytes, seven bits each, highest first.
fn varint(bytes: &mut &[u8]) -> Option<i64> {
    let mut value = 0_u64;
    for place in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 8 {
            return Some((value << 8 | u64::from(*byte)).cast_signed());
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value.cast_signed())
}

fn short(page: &[u8], at: usize) -> Option<usize> {
    let bytes = page.get(at..)?.first_chunk::<2>()?;
    Some(usize::from(u16::from_be_bytes(*bytes)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_read_as_sqlite_writes_them() {
        assert_eq!(number(&[]), 0);
        assert_eq!(number(&[0xff]), -1);
        assert_eq!(number(&[0x80, 0]), -32_768);
        assert_eq!(number(&[0, 0x80, 0]), 32_768);
        assert_eq!(varint(&mut &[0x81, 0x00][..]), Some(128));
        assert_eq!(varint(&mut &[0xff; 9][..]), Some(-1));
        assert_eq!(varint(&mut &[0xff; 8][..]), None);
    }

    proptest! {
        #[test]
        fn no_page_makes_it_panic(page in proptest::collection::vec(any::<u8>(), 0..PAGE), kind in 0..3_usize) {
            let mut page = page;
            if let Some(first) = page.first_mut() {
                *first = [TABLE_LEAF, INDEX_LEAF, INDEX_INNER][kind];
            }
            for (_, cell) in cells(&page, 0) {
                values(&cell.local);
            }
        }
    }
}
