//! Metrics in the Prometheus format.
//!
//! The table of families is closed, and so is every set of label values: a route is its pattern, never its path, and no name or
//! text of a memory is ever a label.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::{Method, StatusCode};
use mnemal::model::RequestCounts;
use mnemal_core::{GapCause, HealthReport, Status};

/// The type of a metric family.
#[derive(Clone, Copy, Debug, PartialEq)]
enum MetricKind {
    Counter,
    Gauge,
    /// A histogram with these upper bounds.
    Histogram(&'static [f64]),
}

/// Upper bounds of durations, in seconds. Source: own default, around the targets of 1 ms to 1 s.
const SECONDS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Upper bounds of hit counts. Source: own default.
const HITS: &[f64] = &[0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
/// Upper bounds of token counts. Source: own default, around the budgets.
const TOKENS: &[f64] = &[0.0, 100.0, 250.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0];

/// Name, kind and help of every family. Source: own choice; names follow the Prometheus conventions.
const FAMILIES: &[(&str, MetricKind, &str)] = &[
    ("mnemal_build_info", MetricKind::Gauge, "The version that runs; always 1."),
    ("mnemal_http_requests_total", MetricKind::Counter, "Requests that were answered."),
    ("mnemal_http_request_duration_seconds", MetricKind::Histogram(SECONDS), "Time from head to answer."),
    ("mnemal_mcp_calls_total", MetricKind::Counter, "Calls of tools."),
    ("mnemal_recall_duration_seconds", MetricKind::Histogram(SECONDS), "Time of a search."),
    ("mnemal_recall_hits", MetricKind::Histogram(HITS), "Hits of a search."),
    ("mnemal_recall_empty_total", MetricKind::Counter, "Searches that found nothing."),
    ("mnemal_context_duration_seconds", MetricKind::Histogram(SECONDS), "Time of a context."),
    ("mnemal_context_tokens", MetricKind::Histogram(TOKENS), "Tokens of a context."),
    ("mnemal_answer_duration_seconds", MetricKind::Histogram(SECONDS), "Time of an answer to a question."),
    ("mnemal_answer_unknown_total", MetricKind::Counter, "Questions to which the answer is not known."),
    ("mnemal_events_total", MetricKind::Counter, "Events that were stored."),
    (
        "mnemal_layer_behind",
        MetricKind::Gauge,
        "Events by which a layer of the open spaces is behind the log, at most.",
    ),
    ("mnemal_degraded", MetricKind::Gauge, "Whether a layer of an open space does not answer in full."),
    (
        "mnemal_dream_last_cycle",
        MetricKind::Gauge,
        "Numbers of the last cycles over the notes, of the open spaces together.",
    ),
    ("mnemal_dream_last_cycle_duration_seconds", MetricKind::Gauge, "Time of the longest of these cycles."),
    ("mnemal_jobs_total", MetricKind::Counter, "Background jobs that ended."),
    ("mnemal_llm_requests_total", MetricKind::Counter, "Requests to language models, repetitions included."),
    ("mnemal_llm_tokens_total", MetricKind::Counter, "Tokens to and from language models."),
    (
        "mnemal_embeddings_total",
        MetricKind::Counter,
        "Batches of texts that a model of vectors outside the process was asked about.",
    ),
    (
        "mnemal_redactions_total",
        MetricKind::Counter,
        "Secrets that were replaced before anything was stored.",
    ),
    ("mnemal_quarantined_total", MetricKind::Counter, "Events that were stored and held back."),
    ("mnemal_near_duplicates_total", MetricKind::Counter, "Notes that said nearly what was known."),
    ("mnemal_forget_total", MetricKind::Counter, "Calls to forget."),
];

/// Families that are recomputed from the open spaces at every scrape.
const OF_SPACES: [&str; 4] = [
    "mnemal_degraded",
    "mnemal_layer_behind",
    "mnemal_dream_last_cycle",
    "mnemal_dream_last_cycle_duration_seconds",
];
/// The exported numbers of a cycle, by their names in the ledger, in addition to its duration. Source: the cycle log line of
/// RockBot.
const OF_A_CYCLE: [&str; 10] = [
    "live",
    "reviewed",
    "created_since",
    "merged",
    "repaired",
    "rejected",
    "archived",
    "protected",
    "model_calls",
    "tokens",
];

/// The provider label of the embedder outside the process.
const ENDPOINT: &str = "openai-compatible";

/// All metrics.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<MetricState>);

/// Formatted labels, in the order of the family.
type Labels = String;

#[derive(Debug, Default)]
struct MetricState {
    numbers: BTreeMap<(&'static str, Labels), f64>,
    histograms: BTreeMap<(&'static str, Labels), Distribution>,
}

#[derive(Debug, Default)]
struct Distribution {
    /// Number of observations at or below each bound.
    below: Vec<u64>,
    count: u64,
    sum: f64,
}

impl Metrics {
    /// Counts an answered request.
    pub(crate) fn request(&self, route: &'static str, method: &Method, status: StatusCode, took: Duration) {
        let method = method_label(method);
        let status = status.as_u16().to_string();
        self.count(
            "mnemal_http_requests_total",
            &[("route", route), ("method", method), ("status", &status)],
            1,
        );
        let labels = [("route", route), ("method", method)];
        self.observe("mnemal_http_request_duration_seconds", &labels, took.as_secs_f64());
    }

    /// Adds to a counter.
    pub(crate) fn count(&self, name: &'static str, labels: &[(&str, &str)], more: u64) {
        debug_assert!(FAMILIES.iter().any(|(known, kind, _)| *known == name && *kind == MetricKind::Counter));
        *self.state().numbers.entry((name, format_labels(labels))).or_default() += more as f64;
    }

    /// Sets a gauge.
    pub(crate) fn set(&self, name: &'static str, labels: &[(&str, &str)], value: f64) {
        debug_assert!(FAMILIES.iter().any(|(known, kind, _)| *known == name && *kind == MetricKind::Gauge));
        self.state().numbers.insert((name, format_labels(labels)), value);
    }

    /// Adds an observation to a histogram.
    pub(crate) fn observe(&self, name: &'static str, labels: &[(&str, &str)], value: f64) {
        let Some((_, MetricKind::Histogram(bounds), _)) = FAMILIES.iter().find(|(known, ..)| *known == name)
        else {
            return;
        };
        let mut counted = self.state();
        let distribution = counted.histograms.entry((name, format_labels(labels))).or_default();
        distribution.below.resize(bounds.len(), 0);
        for (below, bound) in distribution.below.iter_mut().zip(*bounds) {
            *below += u64::from(value <= *bound);
        }
        distribution.count += 1;
        distribution.sum += value;
    }

    /// Resets the health of spaces, at the start of a scrape.
    pub(crate) fn no_health(&self) {
        self.state().numbers.retain(|(name, _), _| !OF_SPACES.contains(name));
    }

    /// Adds the numbers of the last cycle of an open space.
    pub(crate) fn cycle(&self, counts: &BTreeMap<String, u64>) {
        let of = |name: &str| counts.get(name).copied().unwrap_or_default() as f64;
        let mut counted = self.state();
        for number in OF_A_CYCLE {
            let labels = format_labels(&[("number", number)]);
            *counted.numbers.entry(("mnemal_dream_last_cycle", labels)).or_default() += of(number);
        }
        let key = ("mnemal_dream_last_cycle_duration_seconds", Labels::new());
        let longest = counted.numbers.entry(key).or_default();
        *longest = longest.max(of("ms") / 1_000.0);
    }

    /// Imports the totals of requests to models.
    pub(crate) fn set_request_counts(&self, asked: &RequestCounts) {
        let mut numbers = Vec::new();
        for ((purpose, outcome), requests) in &asked.requests {
            let labels = format_labels(&[("purpose", purpose.as_str()), ("outcome", outcome.as_str())]);
            numbers.push((("mnemal_llm_requests_total", labels), *requests));
        }
        for (direction, tokens) in [("sent", asked.sent), ("received", asked.received)] {
            let labels = format_labels(&[("direction", direction)]);
            numbers.push((("mnemal_llm_tokens_total", labels), tokens));
        }
        for (outcome, batches) in &asked.embeddings {
            let labels = format_labels(&[("provider", ENDPOINT), ("outcome", outcome.as_str())]);
            numbers.push((("mnemal_embeddings_total", labels), *batches));
        }
        self.state().numbers.extend(numbers.into_iter().map(|(key, number)| (key, number as f64)));
    }

    /// Adds the health of an open space's layers; over several spaces the worst status counts.
    pub(crate) fn health(&self, report: &HealthReport) {
        for part in &report.parts {
            let labels = format_labels(&[("layer", part.layer.as_str())]);
            let is_meant = part.cause != Some(GapCause::NotConfigured) && part.status != Status::Ok;
            let mut counted = self.state();
            for (name, value) in
                [("mnemal_degraded", u64::from(is_meant)), ("mnemal_layer_behind", part.behind)]
            {
                let worst = counted.numbers.entry((name, labels.clone())).or_default();
                *worst = worst.max(value as f64);
            }
        }
    }

    /// Formats all metrics.
    pub(crate) fn text(&self) -> String {
        self.set("mnemal_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
        let counted = self.state();
        let mut text = String::new();
        for (name, kind, help) in FAMILIES {
            let word = match kind {
                MetricKind::Counter => "counter",
                MetricKind::Gauge => "gauge",
                MetricKind::Histogram(_) => "histogram",
            };
            // Writing into a string cannot fail.
            let _written = write!(text, "# HELP {name} {help}\n# TYPE {name} {word}\n");
            let of_it = |(known, _): &&(&'static str, Labels)| known == name;
            for (key, value) in counted.numbers.iter().filter(|(key, _)| of_it(key)) {
                let _written = writeln!(text, "{name}{} {value}", braced(&key.1));
            }
            let MetricKind::Histogram(bounds) = kind else { continue };
            for ((_, labels), distribution) in counted.histograms.iter().filter(|(key, _)| of_it(key)) {
                let comma = if labels.is_empty() { "" } else { "," };
                for (bound, below) in bounds.iter().zip(&distribution.below) {
                    let _written = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {below}");
                }
                let Distribution { count, sum, .. } = distribution;
                let _written = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}");
                let braces = braced(labels);
                let _written = write!(text, "{name}_sum{braces} {sum}\n{name}_count{braces} {count}\n");
            }
        }
        text
    }

    fn state(&self) -> MutexGuard<'_, MetricState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the label of an HTTP method; one value for all unknown ones.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

fn format_labels(labels: &[(&str, &str)]) -> Labels {
    let one = |(name, value): &(&str, &str)| {
        format!("{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
    };
    labels.iter().map(one).collect::<Vec<_>>().join(",")
}

fn braced(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_are() {
        let mut before = Vec::new();
        for (name, kind, help) in FAMILIES {
            assert!(
                name.starts_with("mnemal_")
                    && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            );
            assert_eq!(name.ends_with("_total"), *kind == MetricKind::Counter, "{name}");
            assert!(
                !name.ends_with("_ms") && !name.ends_with("_millis") && !name.ends_with("_kb"),
                "{name}: base units"
            );
            if name.contains("duration") {
                assert!(name.ends_with("_seconds"), "{name}");
            }
            assert!(help.ends_with('.'), "{name}");
            assert!(!before.contains(name), "{name} stands twice");
            before.push(name);
        }
    }

    #[test]
    fn a_histogram_counts_what_lies_at_or_below_each_bound() {
        let metrics = Metrics::default();
        for took in [1, 10, 4_000] {
            metrics.request("/x", &Method::GET, StatusCode::OK, Duration::from_millis(took));
        }
        let text = metrics.text();
        for line in [
            "mnemal_http_requests_total{route=\"/x\",method=\"GET\",status=\"200\"} 3",
            "mnemal_http_request_duration_seconds_bucket{route=\"/x\",method=\"GET\",le=\"0.001\"} 1",
            "mnemal_http_request_duration_seconds_bucket{route=\"/x\",method=\"GET\",le=\"0.01\"} 2",
            "mnemal_http_request_duration_seconds_bucket{route=\"/x\",method=\"GET\",le=\"2.5\"} 2",
            "mnemal_http_request_duration_seconds_bucket{route=\"/x\",method=\"GET\",le=\"+Inf\"} 3",
            "mnemal_http_request_duration_seconds_count{route=\"/x\",method=\"GET\"} 3",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }
}
