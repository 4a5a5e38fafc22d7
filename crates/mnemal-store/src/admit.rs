//! Validation of a batch before any store sees it.

use std::collections::BTreeMap;

use mnemal_core::{Error, LogEntry, ModelId, Result, Vector};

/// Most entries in one call of `append`.
///
/// Source: measured; throughput does not grow beyond batches of 1,000.
pub(crate) const LARGEST_BATCH: usize = 1_000;

/// Most values of one vector; limits what a damaged block can allocate.
///
/// Source: own default, four times the largest embedding in common use.
pub(crate) const LARGEST_DIMENSIONS: usize = 16_384;

/// Vector dimensions by model.
pub(crate) type Dimensions = BTreeMap<ModelId, usize>;

/// Rejects a batch that is too large; returns the dimensions of its vectors.
pub(crate) fn batch(entries: &[LogEntry]) -> Result<Dimensions> {
    if entries.len() > LARGEST_BATCH {
        return Err(Error::invalid(format!(
            "cannot append {} events at once, at most {LARGEST_BATCH}",
            entries.len()
        )));
    }
    let mut dimensions = Dimensions::new();
    let indexed = entries.iter().filter(|entry| entry.quarantined.is_none());
    for (model, vector) in
        indexed.filter_map(|entry| entry.index.as_ref()).flat_map(|index| index.vectors.iter())
    {
        agree(&mut dimensions, model, vector)?;
    }
    Ok(dimensions)
}

/// Records the dimensions of a model's first vector, and checks later ones against them.
pub(crate) fn agree(known: &mut Dimensions, model: &ModelId, vector: &Vector) -> Result<()> {
    let found = vector.codes().len();
    if found > LARGEST_DIMENSIONS {
        return Err(Error::invalid(format!("a vector has at most {LARGEST_DIMENSIONS} values")));
    }
    match known.get(model) {
        None => {
            known.insert(model.clone(), found);
            Ok(())
        }
        Some(expected) => same(model, *expected, found),
    }
}

/// Rejects a vector whose dimensions differ from those of its model.
pub(crate) fn same(model: &ModelId, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::invalid(format!("vectors of {model} have {expected} values, one has {found}")))
    }
}
