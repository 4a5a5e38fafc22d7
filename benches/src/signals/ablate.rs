//! Ablation: rankings with one signal switched off, and BM25 alone, next to the full ranking.

use anyhow::Result;
use mnemal::Engine;
use mnemal::recall::{RecallMode, RecallWeights};
use mnemal::types::Layer;
use serde_json::{Value, json};

use super::sample::shipped;
use crate::neutral::{DataSet, Row};
use crate::paired::{Difference, difference};
use crate::plain::{Ranked, ranked};
use crate::score::{ALL, score};
use crate::spaces::{Layout, QueryOptions, Spaces};

/// What rankings are compared by.
const METRICS: [&str; 2] = ["recall@10", "ndcg@10"];
/// Turns that are ranked.
const LIMIT: usize = 50;

/// One ranking: its metrics, and how they differ from those of the ranking with all signals.
#[derive(Clone, Debug)]
pub struct Line {
    /// The variant: a signal that is off, or another ranking.
    pub name: String,
    /// Metric, mean, difference.
    pub metrics: Vec<(&'static str, f64, Difference)>,
}

impl Line {
    fn new(name: String, data: &DataSet, all: &[Row], run: &[Row]) -> Self {
        let report = score(data, run, "category");
        let mean = |metric| report.mean("turn", ALL, metric).unwrap_or_default();
        let metrics = METRICS.map(|metric| (metric, mean(metric), difference(data, all, run, metric)));
        Self { name, metrics: metrics.to_vec() }
    }

    /// Returns the line as JSON.
    pub fn json(&self) -> Value {
        let metric = |(name, mean, Difference { mean: by, low, high }): &(&str, f64, Difference)| {
            ((*name).to_owned(), json!({"mean": mean, "difference": by, "low": low, "high": high}))
        };
        json!({"ranking": self.name, "metrics": Value::Object(self.metrics.iter().map(metric).collect())})
    }
}

/// Ranks with all signals, by BM25 alone, and without each signal that has a weight.
///
/// # Errors
/// A corpus that is not imported in full, or a recall that fails.
pub async fn ablate(data: &DataSet) -> Result<Vec<Line>> {
    let asking = QueryOptions { limit: LIMIT, mode: RecallMode::Auto };
    let spaces = Spaces::import(data, Layout::Apart, &Engine::builder()).await?;
    let all = spaces.recall(&data.questions, asking).await?.rows;
    let best = |one: Ranked| Row {
        id: one.id,
        ranked: one.turns.into_iter().take(LIMIT).map(|(turn, _)| turn).collect(),
    };
    let plain: Vec<Row> = ranked(&data.questions, &spaces).await?.into_iter().map(best).collect();
    let mut lines = vec![
        Line::new("all signals".to_owned(), data, &all, &all),
        Line::new("BM25 alone".to_owned(), data, &all, &plain),
    ];
    let without = Spaces::import(data, Layout::Apart, &Engine::builder().without(Layer::Graph)).await?;
    let without = without.recall(&data.questions, asking).await?.rows;
    lines.push(Line::new("without the graph".to_owned(), data, &all, &without));
    for (name, _) in shipped().into_iter().filter(|(_, weight)| *weight > 0.0) {
        let weights = RecallWeights::default().with(name, 0.0)?;
        let builder = Engine::builder().with_recall_weights(weights);
        let spaces = Spaces::import(data, Layout::Apart, &builder).await?;
        let run = spaces.recall(&data.questions, asking).await?.rows;
        lines.push(Line::new(format!("without {name}"), data, &all, &run));
    }
    Ok(lines)
}
