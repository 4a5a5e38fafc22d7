//! Result of a peer: its measurements and score, or the reason for having none.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Layout;
use crate::cpu::{Cost, quantile};
use crate::neutral::Row;
use crate::score::{self, ALL};

/// Metrics of a ranking of ten.
const METRICS: [&str; 4] = ["recall@10", "ndcg@10", "any@10", "all@10"];
/// Bytes of a megabyte, as the reports of other stores count it.
const MEGABYTE: f64 = 1e6;

/// A peer's report about its build.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct BuildReport {
    /// As the peer calls itself.
    pub version: String,
    /// Texts that it took in.
    pub events: usize,
    /// Nanoseconds of CPU time, all threads.
    pub cpu: u64,
    /// Nanoseconds on the wall.
    pub wall: u64,
}

/// A peer's report about its answers.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AnswerReport {
    /// As the peer calls itself.
    pub version: String,
    /// The cost of each question, in the order of the questions.
    pub costs: Vec<Nanos>,
    /// The results of each.
    pub rows: Vec<Row>,
    /// Memory of the process that asks.
    pub memory: MemoryUse,
    /// Answers that were given before the index had caught up; only mnemal can tell.
    #[serde(default)]
    pub stale: usize,
}

/// The cost of one question, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Nanos {
    /// CPU time of all threads.
    pub cpu: u64,
    /// Time on the wall.
    pub wall: u64,
}

impl Nanos {
    /// Returns a cost in nanoseconds.
    pub(super) fn of(cost: Cost) -> Self {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self { cpu: nanos(cost.cpu), wall: nanos(cost.wall) }
    }
}

/// Memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct MemoryUse {
    /// Resident before anything of the peer was loaded.
    pub bare: u64,
    /// Resident after the last question.
    pub resident: u64,
    /// The most that was ever resident.
    pub peak: u64,
}

/// Everything that was measured of one peer, one set and one layout.
#[derive(Clone, Debug)]
pub struct PeerMeasurement {
    /// The build.
    pub built: BuildReport,
    /// The answers.
    pub asked: AnswerReport,
    /// Bytes of the store after the build.
    pub disk: u64,
    /// The score; `None` without labels.
    pub report: Option<score::Report>,
}

/// One row of the comparison.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The peer.
    pub peer: &'static str,
    /// The input.
    pub set: String,
    /// How conversations were kept apart.
    pub layout: Layout,
    /// The measurements, or the reason for having none.
    pub measured: Result<PeerMeasurement, String>,
}

/// The whole comparison.
#[derive(Clone, Debug)]
pub struct Report {
    /// One row a peer, set and layout.
    pub outcomes: Vec<Outcome>,
    /// Processors of the machine.
    pub cores: usize,
    /// Other load: the load average of the last minute, from Linux, at the start of the comparison.
    pub load: f64,
}

impl Report {
    /// Returns everything as one JSON document.
    pub fn json(&self) -> Value {
        let rows: Vec<Value> = self.outcomes.iter().map(Outcome::json).collect();
        json!({"cores": self.cores, "load_at_start": self.load, "mnemal_optimised": !cfg!(debug_assertions), "rows": rows})
    }
}

impl Outcome {
    /// Returns the row as a JSON object; one without measurements has `failed` alone.
    pub fn json(&self) -> Value {
        let Self { peer, set, layout, measured } = self;
        let mut row = json!({"peer": peer, "set": set, "layout": layout.name()});
        let fields = match measured {
            Ok(measured) => measured.json(),
            Err(why) => json!({"failed": why}),
        };
        if let (Some(row), Value::Object(fields)) = (row.as_object_mut(), fields) {
            row.extend(fields);
        }
        row
    }
}

impl PeerMeasurement {
    fn json(&self) -> Value {
        let BuildReport { version, events, .. } = &self.built;
        let MemoryUse { bare, resident, peak } = self.asked.memory;
        let time = |share: f64, of: fn(&Nanos) -> u64| rounded(self.query(share, of));
        json!({
            "version": version,
            "events": events,
            "questions": self.asked.costs.len(),
            "score": self.report.as_ref().map(scored),
            "query_cpu_ms": {"p50": time(0.5, |cost| cost.cpu), "p99": time(0.99, |cost| cost.cpu)},
            "query_wall_ms": {"p50": time(0.5, |cost| cost.wall), "p99": time(0.99, |cost| cost.wall)},
            "build_events_per_cpu_second": self.rate(self.built.cpu).round(),
            "build_events_per_second": self.rate(self.built.wall).round(),
            "disk_bytes": self.disk,
            "memory_bytes": {"bare": bare, "resident": resident, "peak": peak},
            "stale_answers": self.asked.stale,
        })
    }

    /// Returns a quantile of the costs of a question, in milliseconds.
    fn query(&self, share: f64, of: fn(&Nanos) -> u64) -> f64 {
        let times: Vec<_> = self.asked.costs.iter().map(|cost| Duration::from_nanos(of(cost))).collect();
        quantile(&times, share).as_secs_f64() * 1_000.0
    }

    fn rate(&self, nanos: u64) -> f64 {
        self.built.events as f64 / Duration::from_nanos(nanos.max(1)).as_secs_f64()
    }

    fn mean(&self, metric: &str) -> Option<f64> {
        self.report.as_ref()?.mean("turn", ALL, metric)
    }
}

/// Returns the metrics of each group at turn level, with what would make them wrong.
fn scored(report: &score::Report) -> Value {
    let levels = report.levels.iter().filter(|(name, _)| *name == "turn");
    let group = |(name, (n, values)): (&String, &(usize, crate::metric::Values))| {
        let mut fields = Map::from_iter([("n".to_owned(), json!(n))]);
        fields.extend(METRICS.map(|metric| (metric.to_owned(), json!(values.get(metric)))));
        (name.clone(), Value::Object(fields))
    };
    let mut fields: Map<String, Value> = levels.flat_map(|(_, groups)| groups).map(group).collect();
    let checks = [("missing", report.missing), ("unknown_ids", report.unknown), ("foreign", report.foreign)];
    fields.extend(checks.map(|(name, count)| (name.to_owned(), json!(count))));
    Value::Object(fields)
}

/// Rounds milliseconds to whole microseconds.
fn rounded(millis: f64) -> f64 {
    (millis * 1_000.0).round() / 1_000.0
}

/// Returns a table for people.
pub fn table(outcomes: &[Outcome]) -> String {
    let mut text = format!(
        "{:12} {:14} {:9} {:>6} {:>7} {:>7} {:>9} {:>9} {:>9} {:>10} {:>8} {:>8}\n",
        "peer",
        "set",
        "layout",
        "n",
        "R@10",
        "nDCG",
        "CPU p50",
        "CPU p99",
        "wall p50",
        "events/CPU",
        "disk MB",
        "RSS MB"
    );
    for outcome in outcomes {
        let Outcome { peer, set, layout, measured } = outcome;
        let _ = write!(text, "{peer:12} {set:14} {:9} ", layout.name());
        let measured = match measured {
            Ok(measured) => measured,
            Err(why) => {
                let _ = writeln!(text, "FAILED: {}", why.replace('\n', " "));
                continue;
            }
        };
        let mean = |metric| measured.mean(metric).map_or_else(|| "–".to_owned(), |mean| format!("{mean:.4}"));
        let _ = writeln!(
            text,
            "{:6} {:>7} {:>7} {:9.3} {:9.3} {:9.3} {:10.0} {:8.1} {:8.1}",
            measured.asked.costs.len(),
            mean("recall@10"),
            mean("ndcg@10"),
            measured.query(0.5, |cost| cost.cpu),
            measured.query(0.99, |cost| cost.cpu),
            measured.query(0.5, |cost| cost.wall),
            measured.rate(measured.built.cpu),
            measured.disk as f64 / MEGABYTE,
            measured.asked.memory.resident as f64 / MEGABYTE,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> PeerMeasurement {
        let cost = |millis: u64| Nanos { cpu: millis * 1_000_000, wall: millis * 2_000_000 };
        let built =
            BuildReport { version: "1".to_owned(), events: 500, cpu: 250_000_000, wall: 1_000_000_000 };
        let memory = MemoryUse { bare: 1, resident: 2_000_000, peak: 3 };
        let asked = AnswerReport { costs: (1..=100).map(cost).collect(), memory, ..AnswerReport::default() };
        PeerMeasurement { built, asked, disk: 4_000_000, report: None }
    }

    #[test]
    fn a_row_has_its_quantiles_and_rates() {
        let row = Outcome { peer: "p", set: "s".to_owned(), layout: Layout::Apart, measured: Ok(measured()) };
        let json = row.json();
        assert_eq!(json["query_cpu_ms"], json!({"p50": 50.0, "p99": 99.0}));
        assert_eq!(json["query_wall_ms"]["p50"], json!(100.0));
        assert_eq!((&json["build_events_per_cpu_second"], &json["score"]), (&json!(2_000.0), &Value::Null));
        assert!(table(&[row]).contains("50.000"));
    }

    #[test]
    fn a_peer_that_failed_has_a_row_that_says_why() {
        let measured = Err("not installed: pip".to_owned());
        let row = Outcome { peer: "p", set: "s".to_owned(), layout: Layout::Pooled, measured };
        assert_eq!(
            row.json(),
            json!({"peer": "p", "set": "s", "layout": "pooled", "failed": "not installed: pip"})
        );
        assert!(table(&[row]).contains("FAILED: not installed: pip"));
    }
}
