//! JSON rows whose shape the database need not know. These types are the stored form; changing one is a migration.

pub(crate) mod decision;
pub(crate) mod graph;
pub(crate) mod learning;
pub(crate) mod ledger;
pub(crate) mod model;
pub(crate) mod operation;
pub(crate) mod receipt;
pub(crate) mod summary;
pub(crate) mod working;

use mnemal_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::{checksum, corrupt};

fn write<T: Serialize>(row: &T) -> Result<String> {
    serde_json::to_string(row).map_err(unwritten)
}

fn unwritten(cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::internal("cannot write a row as JSON").because(cause)
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| corrupt("a row is not the JSON it should be").because(error))
}

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 16;

/// Serializes a row, preceded by the checksum of its JSON.
fn write_sealed<T: Serialize>(row: &T) -> Result<String> {
    let mut text = vec![b'0'; DIGITS];
    serde_json::to_writer(&mut text, row).map_err(unwritten)?;
    if let Some((digits, json)) = text.split_at_mut_checked(DIGITS) {
        let sum = format!("{:016x}", u64::from_be_bytes(checksum(json)));
        digits.copy_from_slice(sum.as_bytes());
    }
    String::from_utf8(text).map_err(unwritten)
}

/// Reads a row and checks its checksum; rows of the first version have none and begin with their JSON.
fn read_sealed<T: DeserializeOwned>(stored: &str) -> Result<T> {
    if stored.starts_with('{') {
        return read(stored);
    }
    let (sum, json) = stored.split_at_checked(DIGITS).ok_or_else(|| corrupt("a row ends too early"))?;
    if sum != format!("{:016x}", u64::from_be_bytes(checksum(json.as_bytes()))) {
        return Err(corrupt("a row does not match its checksum"));
    }
    read(json)
}

/// Converts a stored name, which was validated before it was stored, back into its type.
pub(crate) fn named<T>(name: Result<T>) -> Result<T> {
    name.map_err(|error| corrupt("a stored name is not one").because(error))
}

/// Converts a missing required value into a damage error.
pub(crate) fn required<T>(value: Option<T>) -> Result<T> {
    value.ok_or_else(|| corrupt("a stored name is unknown"))
}
