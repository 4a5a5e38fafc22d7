//! Evidence in contexts, by the sources of the lines.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::metric::sum;
use crate::neutral::{DataSet, Row};
use crate::paired::{Difference, interval};
use crate::score::{groups, rounded};

/// Means over one group of questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvidenceShares {
    /// Number of questions.
    pub n: usize,
    /// Mean share of a question's evidence that is in its context.
    pub share: f64,
    /// Share of the questions of which at least one evidence is in the context.
    pub any: f64,
    /// Share of the questions of which every evidence is in the context.
    pub all: f64,
    /// Mean number of lines.
    pub lines: f64,
}

/// Returns, by group, how much of the evidence is in the contexts; a row lists the source turns of its context.
pub fn shown(data: &DataSet, contexts: &[Row], by: &str) -> BTreeMap<String, EvidenceShares> {
    shares(data, contexts, by).into_iter().map(|(name, rows)| (name, means(&rows))).collect()
}

/// Returns, by group, how much more evidence is in the second contexts than in the first, question by question.
pub fn gains(data: &DataSet, first: &[Row], second: &[Row], by: &str) -> BTreeMap<String, Difference> {
    let (first, second) = (shares(data, first, by), shares(data, second, by));
    let pairs = first.into_iter().filter_map(|(name, rows)| Some((second.get(&name)?.clone(), name, rows)));
    let gain = |second: &[(f64, f64)], first: &[(f64, f64)]| {
        let gains: Vec<f64> = second.iter().zip(first).map(|(second, first)| second.0 - first.0).collect();
        interval(&gains)
    };
    pairs.map(|(second, name, first)| (name, gain(&second, &first))).collect()
}

/// Returns, by group and in the order of the questions, the share of the evidence in each context, and its lines.
fn shares(data: &DataSet, contexts: &[Row], by: &str) -> BTreeMap<String, Vec<(f64, f64)>> {
    let mut rows: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for question in &data.questions {
        let gold: HashSet<&String> =
            question.evidence.iter().filter(|id| data.turns.contains_key(*id)).collect();
        let Some(context) = contexts.iter().find(|row| row.id == question.id).filter(|_| !gold.is_empty())
        else {
            continue;
        };
        let lines: HashSet<&String> = context.ranked.iter().collect();
        let share = gold.intersection(&lines).count() as f64 / gold.len() as f64;
        for name in groups(question, by) {
            rows.entry(name).or_default().push((share, lines.len() as f64));
        }
    }
    rows
}

fn means(rows: &[(f64, f64)]) -> EvidenceShares {
    let mean = |value: &dyn Fn(&(f64, f64)) -> f64| rounded(sum(rows.iter().map(value)) / rows.len() as f64);
    let one = |holds: bool| f64::from(u8::from(holds));
    EvidenceShares {
        n: rows.len(),
        share: mean(&|(share, _)| *share),
        any: mean(&|(share, _)| one(*share > 0.0)),
        all: mean(&|(share, _)| one(*share >= 1.0)),
        lines: mean(&|(_, lines)| *lines),
    }
}

/// Returns the groups as one JSON document.
pub fn json(groups: &BTreeMap<String, EvidenceShares>) -> Value {
    let group = |shown: &EvidenceShares| json!({"n": shown.n, "share": shown.share, "any": shown.any, "all": shown.all, "lines": shown.lines});
    Value::Object(groups.iter().map(|(name, shown)| (name.clone(), group(shown))).collect::<Map<_, _>>())
}

/// Returns a table for people.
pub fn table(groups: &BTreeMap<String, EvidenceShares>) -> String {
    let mut text = format!("\n{:8}{:24}{:>6}", "context", "group", "n");
    let _ = writeln!(text, "{:>11}{:>11}{:>11}{:>11}", "share", "any", "all", "lines");
    for (name, EvidenceShares { n, share, any, all, lines }) in groups {
        let _ = writeln!(text, "{:8}{name:24}{n:6}{share:11.4}{any:11.4}{all:11.4}{lines:11.1}", "");
    }
    text
}
