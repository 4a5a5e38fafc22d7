//! Plot of the processor time of a search and of a context, by the number of events.

use anyhow::{Result, bail};
use serde_json::Value;

use super::plot::{self, Axis, Panel, Series};

/// Stores in the file of peers, with the classes and the names of their lines.
const STORES: &[(&str, &str, &str)] = &[
    ("mnemal", "own", "mnemal"),
    ("fts5", "fts5 tail", "FTS5"),
    ("lancedb", "lancedb", "LanceDB"),
    ("chroma", "chroma", "Chroma"),
];
/// Prefix of the made data sets, of which the plot shows the run that is newest.
const MADE: &str = "made-";

/// Figures in the file of latencies, with the classes and the names of their lines.
const FIGURES: &[(&str, &str, &str)] = &[
    ("recall of 10, CPU p50", "own", "recall p50"),
    ("recall of 10, CPU p99", "own tail", "recall p99"),
    ("context of 4000 tokens, CPU p50", "context", "context p50"),
    ("context of 4000 tokens, CPU p99", "context tail", "context p99"),
];
/// Sizes with the run that is shown of each: the one that `docs/results/README.md` shows as well. Where the file does not have
/// it, the newest run of that size is shown.
const SIZES: &[(u64, &str)] = &[
    (10_000, "cargo xtask bench latency --again --sizes 10000,100000 --dir DIR"),
    (100_000, "cargo xtask bench latency --again --no-cli --sizes 100000 --dir DIR"),
    (1_000_000, "cargo xtask bench latency --again --no-cli --sizes 1000000 --samples 100 --dir DIR"),
];

const STORED: Axis = Axis {
    name: "events",
    ends: (10_000.0, 100_000.0),
    is_log: true,
    marks: &[(10_000.0, "10,000"), (100_000.0, "100,000")],
};
const SEARCH: Axis = Axis {
    name: "CPU time in ms, median, logarithmic",
    ends: (0.3, 200.0),
    is_log: true,
    marks: &[(1.0, "1"), (10.0, "10"), (100.0, "100")],
};
const GROWING: Axis = Axis {
    name: "events",
    ends: (10_000.0, 1_000_000.0),
    is_log: true,
    marks: &[(10_000.0, "10,000"), (100_000.0, "100,000"), (1_000_000.0, "1,000,000")],
};
const ANSWER: Axis = Axis {
    name: "CPU time in ms",
    ends: (0.0, 20.0),
    is_log: false,
    marks: &[(0.0, "0"), (5.0, "5"), (10.0, "10"), (15.0, "15"), (20.0, "20")],
};

/// Draws the plot from the files of peers and of latencies.
pub(super) fn drawn(results: &[Value]) -> Result<String> {
    let [peers, latencies] = results else { bail!("a file of peers and one of latencies are needed") };
    let (stores, figures) = (stores(peers), figures(latencies));
    if stores.is_empty() || figures.is_empty() {
        bail!("no latency of a store, or none of mnemal");
    }
    let panels = [
        Panel {
            title: "One search of 10 hits with their texts".to_owned(),
            x: STORED,
            y: SEARCH,
            series: stores,
            right: 110.0,
        },
        Panel {
            title: "mnemal up to a million events".to_owned(),
            x: GROWING,
            y: ANSWER,
            series: figures,
            right: 138.0,
        },
    ];
    Ok(plot::picture(
        "Processor time of a search, and of a context of 4,000 tokens, by number of events",
        &panels,
    ))
}

/// One line for each store, from the newest run over made data.
fn stores(file: &Value) -> Vec<Series> {
    let rows =
        |run: &Value| run.pointer("/result/rows").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_made =
        |row: &Value| row.get("set").and_then(Value::as_str).is_some_and(|set| set.starts_with(MADE));
    let mut runs = file.get("runs").and_then(Value::as_array).into_iter().flatten().map(rows);
    let rows = runs.rfind(|rows| rows.iter().any(is_made)).unwrap_or_default();
    let made: Vec<Value> = rows.into_iter().filter(is_made).collect();
    let line = |&(store, class, name): &(&str, &'static str, &str)| {
        let rows = made.iter().filter(|row| row.get("peer").and_then(Value::as_str) == Some(store));
        let point =
            |row: &Value| Some((row.get("events")?.as_f64()?, row.pointer("/query_cpu_ms/p50")?.as_f64()?));
        series(rows.filter_map(point).collect(), (class, name))
    };
    STORES.iter().filter_map(line).collect()
}

/// One line for each figure of mnemal.
fn figures(file: &Value) -> Vec<Series> {
    let line = |&(figure, class, name): &(&str, &'static str, &str)| {
        let points = SIZES.iter().filter_map(|&(size, command)| {
            let shown = value(file, (figure, size), |run| run == command);
            Some((size as f64, shown.or_else(|| value(file, (figure, size), |_| true))?))
        });
        series(points.collect(), (class, name))
    };
    FIGURES.iter().filter_map(line).collect()
}

/// The newest value of a figure at a size among the runs whose command is meant.
fn value(file: &Value, (figure, size): (&str, u64), is_meant: impl Fn(&str) -> bool) -> Option<f64> {
    let runs = file.get("runs")?.as_array()?.iter();
    let meant = runs.filter(|run| run.get("command").and_then(Value::as_str).is_some_and(&is_meant));
    let mut values = meant.filter_map(|run| {
        let found = run.get("result")?.as_array()?.iter().find(|row| {
            let name = row.get("name").and_then(Value::as_str);
            name == Some(figure) && row.get("size").and_then(Value::as_u64) == Some(size)
        });
        found?.get("value")?.as_f64()
    });
    values.next_back()
}

/// A line whose name ends with its last value; `None` without points.
fn series(points: Vec<(f64, f64)>, (class, name): (&'static str, &str)) -> Option<Series> {
    let (_, last) = points.last()?;
    let value = if *last < 20.0 { format!("{last:.1}") } else { format!("{last:.0}") };
    Some(Series { class, name: format!("{name} {value}"), points })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stores_are_those_of_the_newest_run_over_made_data() {
        let row = |peer: &str, events: u64, p50: f64| json!({ "peer": peer, "set": "made-1", "events": events, "query_cpu_ms": { "p50": p50 } });
        let file = json!({ "runs": [
            { "result": { "rows": [row("mnemal", 10_000, 9.0)] } },
            { "result": { "rows": [row("mnemal", 10_000, 0.62), row("mnemal", 100_000, 2.07), row("chroma", 10_000, 1.6)] } },
            { "result": { "rows": [{ "peer": "mnemal", "set": "chats", "events": 3, "query_cpu_ms": { "p50": 1.0 } }] } },
        ] });
        let lines = stores(&file);
        let names: Vec<_> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["mnemal 2.1", "Chroma 1.6"]);
        assert_eq!(lines[0].points, [(10_000.0, 0.62), (100_000.0, 2.07)]);
    }

    #[test]
    fn a_size_shows_its_run_or_else_the_newest() {
        let run = |command: &str, size: u64, value: f64| json!({ "command": command, "result": [{ "name": FIGURES[0].0, "size": size, "value": value }] });
        let file = json!({ "runs": [
            run(SIZES[1].1, 100_000, 1.25), run("other", 100_000, 3.0), run("older", 10_000, 2.0), run("newer", 10_000, 0.5),
        ] });
        let lines = figures(&file);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].points, [(10_000.0, 0.5), (100_000.0, 1.25)]);
        assert!(drawn(&[json!({}), file]).is_err());
    }
}
