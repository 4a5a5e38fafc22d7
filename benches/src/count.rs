//! Counts of cases and of hits among them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// A share with both its counts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Count {
    /// Cases.
    pub n: usize,
    /// Those that are counted.
    pub hits: usize,
}

impl Count {
    /// Adds a case that is one hit, or none.
    pub fn add(&mut self, hits: usize) {
        self.n += 1;
        self.hits += hits;
    }

    /// Returns the share, 0 without a case.
    pub fn share(self) -> f64 {
        self.hits as f64 / self.n.max(1) as f64
    }

    /// Returns the share and its counts.
    pub fn json(self) -> Value {
        json!({"n": self.n, "hits": self.hits, "share": self.share()})
    }
}

/// Counts by name.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Table(BTreeMap<String, Count>);

impl Table {
    /// Adds a case to a row.
    pub fn add(&mut self, row: &str, hits: usize) {
        self.0.entry(row.to_owned()).or_default().add(hits);
    }

    /// Returns the rows.
    pub fn json(&self) -> Value {
        self.0.iter().map(|(name, count)| (name.clone(), count.json())).collect::<Map<_, _>>().into()
    }
}
