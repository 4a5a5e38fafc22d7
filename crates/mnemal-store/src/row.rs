//! Rows whose shape the database need not know, as JSON. The types here are the stored form; changing one is a migration.

pub(crate) mod decision;
pub(crate) mod learning;
pub(crate) mod receipt;

use mnemal_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::corrupt;

fn write<T: Serialize>(row: &T) -> Result<String> {
    serde_json::to_string(row).map_err(|error| Error::internal("cannot write a row as JSON").because(error))
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| corrupt("a row is not the JSON it should be").because(error))
}

/// Turns a name that was checked before it was stored back into its type.
fn named<T>(name: Result<T>) -> Result<T> {
    name.map_err(|error| corrupt("a stored name is not one").because(error))
}

/// Turns an absent value that must be there into damage.
fn known<T>(value: Option<T>) -> Result<T> {
    value.ok_or_else(|| corrupt("a stored name is unknown"))
}
