//! Plot of the evidence that small contexts hold, by their budget.

use anyhow::{Result, bail};
use serde_json::Value;

use super::plot::{self, Axis, Panel, Series};

/// Data sets with their titles, in the order of the panels.
const SETS: &[(&str, &str)] = &[
    ("locomo", "LoCoMo, two people"),
    ("beam100k", "BEAM-100K, assistant"),
    ("realmem", "RealMem, projects"),
];
/// Makers of contexts in the file, with the classes and the names of their lines.
const MAKERS: &[(&str, &str, &str)] = &[
    ("mnemal", "own", "mnemal"),
    ("bm25", "bm25", "BM25"),
    ("fts5-porter", "fts5 tail", "FTS5"),
    ("chroma", "chroma", "Chroma"),
];
/// Questions that have an answer, which the table of the README shows as well.
const GROUP: &str = "ANSWERABLE";

const X: Axis = Axis {
    name: "tokens of context",
    ends: (500.0, 4_000.0),
    is_log: true,
    marks: &[(500.0, "500"), (1_000.0, "1,000"), (2_000.0, "2,000"), (4_000.0, "4,000")],
};
const Y: Axis = Axis {
    name: "share of the evidence",
    ends: (0.0, 1.0),
    is_log: false,
    marks: &[(0.0, "0"), (0.25, ".25"), (0.5, ".50"), (0.75, ".75"), (1.0, "1")],
};

/// Draws the plot from the file of curves.
pub(super) fn drawn(results: &[Value]) -> Result<String> {
    let [file] = results else { bail!("one file of curves is needed") };
    let panels: Vec<Panel> = SETS.iter().filter_map(|(set, title)| panel(file, set, title)).collect();
    if panels.is_empty() {
        bail!("no curve of a known data set");
    }
    let title = "Share of a question's evidence that a context holds, by its budget in tokens";
    Ok(plot::picture(title, &panels))
}

/// The panel of a data set; `None` where the file does not have it.
fn panel(file: &Value, set: &str, title: &str) -> Option<Panel> {
    let points = points(file, set);
    let count =
        points.iter().find_map(|point| point.pointer(&format!("/mnemal/groups/{GROUP}/n"))?.as_u64())?;
    let series = MAKERS.iter().filter_map(|&(maker, class, name)| series(&points, maker, (class, name)));
    Some(Panel {
        title: format!("{title}: {count} questions"),
        x: X,
        y: Y,
        series: series.collect(),
        right: 100.0,
    })
}

/// The points of a data set, from all runs over it.
fn points<'a>(file: &'a Value, set: &str) -> Vec<&'a Value> {
    let runs = file.get("runs").and_then(Value::as_array).into_iter().flatten();
    let is_meant = |run: &&Value| {
        let command = run.get("command").and_then(Value::as_str).unwrap_or_default();
        command.split(' ').any(|word| word.strip_prefix("DATA/") == Some(set))
    };
    let points = |run: &'a Value| run.pointer("/result/curve").and_then(Value::as_array);
    runs.filter(is_meant).filter_map(points).flatten().collect()
}

fn series(points: &[&Value], maker: &str, (class, name): (&'static str, &str)) -> Option<Series> {
    let share = |point: &&Value| {
        let share = point.get(maker)?.pointer(&format!("/groups/{GROUP}/share"))?.as_f64()?;
        Some((point.get("budget")?.as_f64()?, share))
    };
    let points: Vec<(f64, f64)> = points.iter().filter_map(share).collect();
    let (_, last) = points.last()?;
    let last = format!("{last:.2}");
    Some(Series { class, name: format!("{name} {}", last.trim_start_matches('0')), points })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn runs_of_one_data_set_share_a_panel() {
        let of = |share: f64| json!({ "groups": { "ANSWERABLE": { "n": 7, "share": share } } });
        let file = json!({ "runs": [
            { "command": "recall --data DATA/locomo --curve", "result": { "curve": [
                { "budget": 500, "mnemal": of(0.5), "bm25": of(0.25) },
                { "budget": 4000, "mnemal": of(0.876), "bm25": of(0.5) },
            ] } },
            { "command": "peers --data DATA/locomo --curve", "result": { "curve": [{ "budget": 500, "chroma": of(0.4) }] } },
            { "command": "recall --data DATA/other --curve", "result": { "curve": [{ "budget": 500, "chroma": of(0.9) }] } },
        ] });
        let panel = panel(&file, "locomo", "Chats").unwrap();
        assert_eq!(panel.title, "Chats: 7 questions");
        let lines: Vec<_> =
            panel.series.iter().map(|series| (series.name.as_str(), series.points.len())).collect();
        assert_eq!(lines, [("mnemal .88", 2), ("BM25 .50", 2), ("Chroma .40", 1)]);
        assert!(super::panel(&file, "realmem", "Projects").is_none());
        assert!(drawn(&[json!({ "runs": [] })]).is_err());
    }
}
