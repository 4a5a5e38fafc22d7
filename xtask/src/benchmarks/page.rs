//! Tables of the page, each by the shape of what a bench printed.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::LoadedMeasurement;

/// The introduction of the page.
const HEAD: &str = "\
# Benchmarks

Written by `cargo xtask benchmarks`; do not edit.
`cargo xtask benchmarks --data DATA [NAME …]` measures anew, where `DATA` holds the data sets in the neutral layout
(a folder each, with `corpus.jsonl` and `questions.jsonl`).
`cargo xtask bench versus --base REV --json` runs the programs of a revision and of the working tree by turns (benches/README.md).
Times are CPU of the process unless they say wall; the machine had other work on it, so read them as orders of size.
";

/// Metrics of recall that the page shows.
const METRICS: [&str; 5] = ["recall@1", "recall@10", "any@10", "all@10", "ndcg@10"];

/// Returns the whole page.
pub(super) fn render_page(measured: &[LoadedMeasurement]) -> String {
    let mut page = HEAD.to_owned();
    for (measurement, file) in measured {
        let text = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or("unknown").to_owned();
        let _ = write!(page, "\n## {}\n\n{}\n", measurement.title, measurement.about);
        let _ = writeln!(
            page,
            "Commit `{}`, {}, {}: [{name}.json](results/{name}.json).",
            text("commit"),
            text("date"),
            text("machine"),
            name = measurement.name
        );
        for run in file.get("runs").and_then(Value::as_array).into_iter().flatten() {
            let command = run.get("command").and_then(Value::as_str).unwrap_or("unknown");
            let _ = write!(page, "\n`{command}`\n\n{}", run.get("result").map(tables).unwrap_or_default());
        }
    }
    page
}

/// The tables of one result.
fn tables(result: &Value) -> String {
    if let Some(levels) = result.get("levels").and_then(Value::as_object) {
        return recall(levels, result.get("context").and_then(Value::as_object));
    }
    if let Some(points) = result.get("curve").and_then(Value::as_array) {
        return curve(points);
    }
    if let Some(sets) = result.get("contexts").and_then(Value::as_array) {
        return contexts(sets);
    }
    if let Some(rows) = result.get("rows").and_then(Value::as_array) {
        return peers(rows);
    }
    if let Some(lines) = result.get("lines").and_then(Value::as_array) {
        return abstention(lines);
    }
    match result {
        Value::Array(figures) => self::figures(figures),
        other => {
            let mut leaves = Vec::new();
            flatten(other, "", &mut leaves);
            table(&["figure", "value"], leaves)
        }
    }
}

/// Recall by group of questions at turn level, with the share of the evidence that a context held.
fn recall(levels: &Map<String, Value>, context: Option<&Map<String, Value>>) -> String {
    let groups = levels.get("turn").and_then(Value::as_object);
    let statements = levels.get("statement").and_then(Value::as_object);
    let mut head = vec!["questions", "n"];
    head.extend(METRICS);
    head.extend(statements.map(|_| "all statements@10"));
    head.extend(context.map(|_| "evidence in the context"));
    let rows = groups.into_iter().flatten().map(|(name, values)| {
        let share = context.map(|context| cell(context.get(name).and_then(|group| group.get("share"))));
        let metrics = METRICS.iter().map(|metric| cell(values.get(metric)));
        let stated = statements.map(|groups| cell(groups.get(name).and_then(|group| group.get("all@10"))));
        [name.clone(), cell(values.get("n"))].into_iter().chain(metrics).chain(stated).chain(share).collect()
    });
    table(&head, rows)
}

/// What small contexts hold of the evidence by budget, maker and group of questions.
fn curve(points: &[Value]) -> String {
    let head = ["budget", "made by", "tokens used", "questions", "n", "share", "any", "all", "lines"];
    let rows = points.iter().flat_map(|point| {
        let made = point.as_object().into_iter().flatten();
        made.flat_map(move |(name, made)| {
            let head = [cell(point.get("budget")), name.clone(), cell(made.get("tokens"))];
            let groups = made.get("groups").and_then(Value::as_object).into_iter().flatten();
            groups.map(move |(group, values)| {
                let of = ["n", "share", "any", "all", "lines"].map(|name| cell(values.get(name)));
                head.iter().cloned().chain([group.clone()]).chain(of).collect()
            })
        })
    });
    table(&head, rows)
}

/// What contexts hold of the evidence by set, budget and group of questions, and how many tokens each section has.
fn contexts(sets: &[Value]) -> String {
    let budgets = |set: &Value| set.get("budgets").and_then(Value::as_array).cloned().unwrap_or_default();
    let (mut shares, mut tokens) = (Vec::new(), Vec::new());
    for set in sets {
        for one in budgets(set) {
            let head = [cell(set.get("data")), cell(one.get("budget"))];
            for (name, group) in one.get("without").and_then(Value::as_object).into_iter().flatten() {
                let of = |path: &[&str]| cell(path.iter().try_fold(&one, |value, name| value.get(name)));
                let gain = |end: &str| of(&["gain", name, end]);
                let ends = format!("{} to {}", gain("low"), gain("high"));
                let row = [name.clone(), cell(group.get("n")), cell(group.get("share"))];
                let row = row.into_iter().chain([of(&["with", name, "share"]), gain("mean"), ends]);
                shares.push(head.iter().cloned().chain(row).collect());
            }
            for (section, mean) in one.get("tokens").and_then(Value::as_object).into_iter().flatten() {
                if mean.as_f64().is_some_and(|mean| mean > 0.0) {
                    tokens.push(head.iter().cloned().chain([section.clone(), cell(Some(mean))]).collect());
                }
            }
        }
    }
    let head = ["set", "tokens", "questions", "n", "without a graph", "with", "gain", "95 %"];
    let sections = table(&["set", "tokens", "section", "mean tokens"], tokens);
    format!("{}\n{sections}", table(&head, shares))
}

/// One line for each set, rule of evidence and kind of question.
fn abstention(lines: &[Value]) -> String {
    let head = ["set", "rule", "floor", "questions", "n", "rejected", "AUC", "95 %"];
    let rows = lines.iter().flat_map(|line| {
        let kinds = line.get("kinds").and_then(Value::as_object);
        kinds.into_iter().flatten().map(move |(kind, share)| {
            let of = |name: &str| cell(share.get(name));
            let ends = share.get("low").map(|_| format!("{} to {}", of("low"), of("high")));
            let head = ["set", "rule", "floor"].map(|name| cell(line.get(name)));
            let share = [kind.clone(), of("n"), of("rejected"), of("auc"), ends.unwrap_or_default()];
            head.into_iter().chain(share).collect()
        })
    });
    table(&head, rows)
}

/// One line for each store, set and layout.
fn peers(rows: &[Value]) -> String {
    let head = [
        "store",
        "set",
        "layout",
        "events",
        "recall@10",
        "nDCG@10",
        "query CPU p50, ms",
        "p99, ms",
        "events built a CPU-second",
        "disk, MB",
    ];
    let rows = rows.iter().map(|row| {
        let of = |path: &[&str]| cell(path.iter().try_fold(row, |value, name| value.get(name)));
        let disk = row.get("disk_bytes").and_then(Value::as_f64).map(|bytes| format!("{:.1}", bytes / 1e6));
        vec![
            of(&["peer"]),
            of(&["set"]),
            of(&["layout"]),
            of(&["events"]),
            of(&["score", "ANSWERABLE", "recall@10"]),
            of(&["score", "ANSWERABLE", "ndcg@10"]),
            of(&["query_cpu_ms", "p50"]),
            of(&["query_cpu_ms", "p99"]),
            of(&["build_events_per_cpu_second"]),
            disk.unwrap_or_default(),
        ]
    });
    table(&head, rows)
}

/// Figures with what was asked of them.
fn figures(figures: &[Value]) -> String {
    let rows = figures.iter().map(|figure| {
        let asked = figure.get("asked").and_then(Value::as_object).and_then(|asked| {
            let (bound, value) = asked.iter().next()?;
            Some(format!("{} {}", if bound == "at_most" { "≤" } else { "≥" }, cell(Some(value))))
        });
        vec![
            cell(figure.get("name")),
            cell(figure.get("size")),
            format!("{} {}", cell(figure.get("value")), cell(figure.get("unit"))),
            asked.unwrap_or_default(),
        ]
    });
    table(&["figure", "events", "value", "asked"], rows)
}

/// Numbers and words of a nested document with their paths; lists of things are left to the file.
fn flatten(value: &Value, path: &str, leaves: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path} · {name}") };
                flatten(inner, &path, leaves);
            }
        }
        Value::Array(_) | Value::Null => {}
        leaf => leaves.push(vec![path.to_owned(), cell(Some(leaf))]),
    }
}

/// A value as a cell: numbers without a fraction as they are, others with three digits that count.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.replace('|', "\\|"),
        Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.to_string(),
            (None, Some(value)) if value.abs() >= 100.0 => format!("{value:.0}"),
            (None, Some(value)) if value.abs() >= 10.0 => format!("{value:.1}"),
            (None, Some(value)) => format!("{value:.3}"),
            (None, None) => number.to_string(),
        },
        Some(other) => other.to_string(),
    }
}

fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_becomes_the_table_of_its_shape() {
        let recall = tables(&json!({
            "levels": { "turn": { "ALL": { "n": 3, "recall@10": 0.81234 } } },
            "context": { "ALL": { "share": 0.5 } },
        }));
        assert!(recall.contains("| ALL | 3 |  | 0.812 |  |  |  | 0.500 |"), "{recall}");
        let figures = tables(&json!([
            { "name": "recall", "size": 1000, "value": 1.25, "unit": "ms", "asked": { "at_most": 4.0 } },
        ]));
        assert!(figures.contains("| recall | 1000 | 1.250 ms | ≤ 4.000 |"), "{figures}");
        let peers = tables(&json!({ "rows": [{ "peer": "a|b", "disk_bytes": 2_500_000 }] }));
        assert!(peers.contains("| a\\|b |") && peers.contains("| 2.5 |"), "{peers}");
        let contexts = tables(&json!({ "contexts": [{ "data": "chats", "budgets": [{
            "budget": 4000, "tokens": { "entity": 40.5, "channel": 0.0 },
            "without": { "ALL": { "n": 3, "share": 0.5 } }, "with": { "ALL": { "share": 0.6 } },
            "gain": { "ALL": { "mean": 0.1, "low": 0.05, "high": 0.15 } },
        }] }] }));
        assert!(
            contexts.contains("| chats | 4000 | ALL | 3 | 0.500 | 0.600 | 0.100 | 0.050 to 0.150 |"),
            "{contexts}"
        );
        assert!(contexts.contains("| entity | 40.5 |") && !contexts.contains("channel"), "{contexts}");
        let curve = tables(&json!({ "curve": [{ "budget": 500, "bm25": {
            "tokens": 490.4, "groups": { "ALL": { "n": 3, "share": 0.5, "any": 1.0, "all": 0.25, "lines": 8.0 } },
        } }] }));
        assert!(curve.contains("| 500 | bm25 | 490 | ALL | 3 | 0.500 |"), "{curve}");
        let other = tables(&json!({ "auc": { "low": 0.5, "list": [1] } }));
        assert!(other.contains("| auc · low | 0.500 |") && !other.contains("list"), "{other}");
    }
}
