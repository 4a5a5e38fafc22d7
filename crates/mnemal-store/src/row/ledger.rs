//! Lines of the ledger.

use std::collections::BTreeMap;

use mnemal_core::{LedgerKind, LedgerLine, Result, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
struct LineRow {
    hash: [u8; 16],
    counts: BTreeMap<String, u64>,
    note: String,
}

/// Writes what is no column of its own.
pub(crate) fn write(line: &LedgerLine) -> Result<String> {
    let row = LineRow { hash: line.hash.to_be_bytes(), counts: line.counts.clone(), note: line.note.clone() };
    super::write_sealed(&row)
}

/// Reads a line.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read(stored: &str, kind: LedgerKind, key: String, at: Timestamp) -> Result<LedgerLine> {
    let row: LineRow = super::read_sealed(stored)?;
    Ok(LedgerLine { kind, key, at, hash: u128::from_be_bytes(row.hash), counts: row.counts, note: row.note })
}
