//! Inter-annotator agreement of two labelers who did not see each other's labels.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::gold::Label;
use super::stems::is_same;
use crate::neutral::lines;

/// Halves of a set, of which both count.
const HALVES: [&str; 2] = ["dev", "held"];

#[derive(Debug, Default, Deserialize)]
struct Line {
    id: String,
    #[serde(default)]
    claims: Vec<Label>,
    #[serde(default)]
    entities: Vec<(String, String)>,
    #[serde(default)]
    acts: Vec<Act>,
}

#[derive(Debug, Deserialize)]
struct Act {
    act: String,
}

/// Answers of yes or no by two readers.
#[derive(Debug, Default)]
struct Pairs([[usize; 2]; 2]);

impl Pairs {
    #[expect(clippy::fn_params_excessive_bools, reason = "each reader said yes or no")]
    fn count(&mut self, one: bool, other: bool) {
        if let Some(cell) = self.0.get_mut(usize::from(one)).and_then(|row| row.get_mut(usize::from(other))) {
            *cell += 1;
        }
    }

    /// Cohen's κ with n: agreement above chance, 1 for full agreement; null without any positive label.
    fn json(&self) -> Value {
        if matches!(self.0, [[_, 0], [0, 0]]) {
            return Value::Null;
        }
        let [[neither, other], [one, both]] = self.0.map(|row| row.map(|count| count as f64));
        let n = neither + other + one + both;
        let seen = (neither + both) / n;
        let chance = ((one + both) * (other + both) + (neither + other) * (neither + one)) / (n * n);
        let kappa = if chance < 1.0 { (seen - chance) / (1.0 - chance) } else { 1.0 };
        json!({"kappa": (kappa * 1_000.0).round() / 1_000.0, "n": n})
    }
}

/// Returns the agreement of `pass1` and `pass2` of both halves in a folder.
///
/// # Errors
/// A file that is missing, or passes over other turns.
pub fn agreement(folder: &Path) -> Result<Value> {
    let (mut turns, mut worth, mut correction, mut directive) =
        (Pairs::default(), Pairs::default(), Pairs::default(), Pairs::default());
    let (mut claims, mut names) = (Overlap::default(), Overlap::default());
    for half in HALVES {
        let first: Vec<Line> = lines(&folder.join(format!("{half}.pass1.jsonl")))?;
        let second: Vec<Line> = lines(&folder.join(format!("{half}.pass2.jsonl")))?;
        ensure!(
            first.len() == second.len(),
            "{half}: the passes are of {} and {} turns",
            first.len(),
            second.len()
        );
        let second: HashMap<&str, &Line> = second.iter().map(|line| (line.id.as_str(), line)).collect();
        for one in &first {
            let Some(other) = second.get(one.id.as_str()) else { continue };
            turns.count(!one.claims.is_empty(), !other.claims.is_empty());
            let has =
                |line: &Line, acts: &[&str]| line.acts.iter().any(|act| acts.contains(&act.act.as_str()));
            let corrections = ["reject", "repair"];
            correction.count(has(one, &corrections), has(other, &corrections));
            directive.count(has(one, &["directive"]), has(other, &["directive"]));
            let common = common(&one.claims, &other.claims);
            claims.add(one.claims.len(), other.claims.len(), common.len());
            for (a, b) in common {
                worth.count(a.w == Some(1), b.w == Some(1));
            }
            let names_of = |line: &Line| line.entities.iter().cloned().collect::<BTreeSet<_>>();
            let (a, b) = (names_of(one), names_of(other));
            names.add(a.len(), b.len(), a.intersection(&b).count());
        }
    }
    let judged = [
        ("claims_something", turns.json()),
        ("worth", worth.json()),
        ("corrects", correction.json()),
        ("directs", directive.json()),
        ("claims", claims.json()),
        ("entities", names.json()),
    ];
    Ok(judged
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect())
}

/// Sizes of two sets and of what is in both.
#[derive(Debug, Default)]
struct Overlap {
    one: usize,
    other: usize,
    both: usize,
}

impl Overlap {
    fn add(&mut self, one: usize, other: usize, both: usize) {
        self.one += one;
        self.other += other;
        self.both += both;
    }

    fn json(&self) -> Value {
        if self.one + self.other == 0 {
            return Value::Null;
        }
        let f1 = 2.0 * self.both as f64 / (self.one + self.other).max(1) as f64;
        json!({"f1": (f1 * 1_000.0).round() / 1_000.0, "one": self.one, "other": self.other, "both": self.both})
    }
}

/// Returns the claims that are equal in subject, predicate, act and object.
fn common<'l>(one: &'l [Label], other: &'l [Label]) -> Vec<(&'l Label, &'l Label)> {
    let mut taken = vec![false; other.len()];
    let mut pairs = Vec::new();
    for a in one {
        let same = |b: &Label| a.s == b.s && a.p == b.p && a.act() == b.act() && is_same(&a.o, &b.o);
        let place = other.iter().zip(&taken).position(|(b, taken)| !taken && same(b));
        if let Some(place) = place
            && let (Some(b), Some(taken)) = (other.get(place), taken.get_mut(place))
        {
            *taken = true;
            pairs.push((a, b));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_is_agreement_above_chance() {
        let pairs = Pairs([[20, 5], [10, 15]]);
        assert_eq!(pairs.json(), json!({"kappa": 0.4, "n": 50.0}));
        assert_eq!(Pairs([[7, 0], [0, 3]]).json()["kappa"], 1.0);
    }
}
