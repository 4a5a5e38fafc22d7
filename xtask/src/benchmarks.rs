//! The benchmarks page: every measurement with its command, commit and machine, written by `cargo xtask benchmarks`.

mod page;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::bench;
use crate::command::Line;
use crate::workspace::Tree;

/// The page, from the root of the workspace.
pub(crate) const PAGE: &str = "docs/benchmarks.md";
/// The folder of measurements, from the root of the workspace.
const RESULTS: &str = "docs/results";
/// Placeholder for the data folder in a command.
const DATA: &str = "DATA";

/// One file of results.
#[derive(Debug)]
struct Measurement {
    /// The file's name without its ending.
    name: &'static str,
    /// Its heading on the page.
    title: &'static str,
    /// What a reader must know to read the tables.
    about: &'static str,
    /// The benches with their arguments, in the order of the tables.
    commands: &'static [&'static str],
}

const MEASUREMENTS: &[Measurement] = &[
    Measurement {
        name: "recall-locomo",
        title: "Recall: two-person chats",
        about: "LoCoMo, development half, one space for each conversation, turn level; one default, built-in embedder, no reranker.",
        commands: &["recall --data DATA/locomo --context 4000"],
    },
    Measurement {
        name: "recall-locomo-pooled",
        title: "Recall: two-person chats in one space",
        about: "The same questions with all conversations in one space.",
        commands: &["recall --data DATA/locomo --pooled"],
    },
    Measurement {
        name: "recall-beam100k",
        title: "Recall: chats with an assistant",
        about: "BEAM-100K, development half, all roles indexed, all evidence.",
        commands: &["recall --data DATA/beam100k --context 4000"],
    },
    Measurement {
        name: "recall-prefeval",
        title: "Recall: preferences asked for without their words",
        about: "PrefEval, 505 stated preferences.",
        commands: &["recall --data DATA/prefeval --context 4000"],
    },
    Measurement {
        name: "curve",
        title: "Evidence in small contexts",
        about: "Mean share of a question's evidence on which the lines of its context stand, with the tokens really used, beside whole turns in \
            the order of stemmed BM25, each one line `Speaker: text`, as many as fit: `bm25` cuts a turn at 500 tokens, `bm25-whole` none. \
            A line of mnemal may show a part of its turn. Other stores fill theirs with what they rank, with turns as `bm25` has them; none \
            of them asks a model. Development halves; RealMem is asked in the middle.",
        commands: &[
            "recall --data DATA/locomo --curve",
            "recall --data DATA/beam100k --curve",
            "recall --data DATA/realmem --questions questions_clean.jsonl --curve",
            "peers --data DATA/locomo --curve --peer fts5,fts5-porter,chroma",
            "peers --data DATA/beam100k --curve --peer fts5,fts5-porter,chroma",
        ],
    },
    Measurement {
        name: "recall-realmem",
        title: "Recall: what a project needs and nobody asks for",
        about: "RealMem, development half, repaired pointers; each question asked at its moment, of what was said before.",
        commands: &["recall --data DATA/realmem --questions questions_clean.jsonl"],
    },
    Measurement {
        name: "context",
        title: "Contexts: with the facts of the graph and without",
        about: "Share of a question's evidence on which the lines of its context stand, with the 95 % interval of the gain, and \
            tokens by section; then the processor time of both on one file. Development halves.",
        commands: &[
            "context --data DATA/locomo --data DATA/beam100k",
            "context --cost --data DATA/locomo --data DATA/beam100k --data DATA/beam500k",
        ],
    },
    Measurement {
        name: "preferences",
        title: "Contexts: the preference that a question needs",
        about: "PrefEval, development half: statements scattered among the turns of other chats of the same space, for users with \
            fifty preferences and for one with all; share of the questions whose context of 4,000 tokens holds the right one.",
        commands: &["context --data DATA/prefeval --noise DATA/locomo --noise DATA/beam100k"],
    },
    Measurement {
        name: "summaries",
        title: "Summaries of sessions",
        about: "LoCoMo, development half: 120 tokens for each session against its reference, ROUGE as F1, with the 95 % interval of \
            what they are above lead, TextRank and chance; refreshes a second of processor time.",
        commands: &["summaries --data DATA/locomo"],
    },
    Measurement {
        name: "abstain",
        title: "Questions that nothing answers",
        about: "Share of the questions without a hit above the floor of evidence, and the probability that an answerable one has more \
            (AUC); `plain` is what evidence was before. Development halves.",
        commands: &[
            "abstain --data DATA/locomo --data DATA/beam100k --data DATA/beam500k --data DATA/prefeval --fit",
        ],
    },
    Measurement {
        name: "peers",
        title: "Beside others",
        about: "The same texts, the same vectors, the same questions; the command installs the others. A build is capped at 10 minutes.",
        commands: &["peers --data DATA/locomo --sizes 10000,100000", "peers --data DATA/beam100k --sizes 0"],
    },
    Measurement {
        name: "latency",
        title: "Latency, memory and throughput",
        about: "One space of made chat, mean 150 bytes an event; CPU of the process.",
        commands: &["latency --sizes 10000,100000,1000000"],
    },
    Measurement {
        name: "life",
        title: "Contexts of a whole life",
        about: "A made life of a person and an assistant in which every layer holds something: small talk, 900 people, places, wishes, \
            300 notes, tools, working memory; a context of 4,000 tokens of a conversation that goes on in its channel, with a question \
            and without one; CPU of the process.",
        commands: &["latency --life --sizes 10000,100000"],
    },
    Measurement {
        name: "spaces",
        title: "Many spaces",
        about: "5,000 spaces of 200 events, asked by chance from one process.",
        commands: &["spaces --recalls 2500 --max-open 256,1000,64"],
    },
    Measurement {
        name: "graph",
        title: "The graph",
        about: "From the log to committed rows in a file, rule extractor included (LoCoMo 150 bytes a turn, BEAM 2,000); a made conversation \
            of 40,000 turns about many people for questions and the renewal of all rows; CPU of the process.",
        commands: &["graph --data DATA/locomo --data DATA/beam100k --people 40000 --samples 200 --rounds 6"],
    },
    Measurement {
        name: "workers",
        title: "Beside all workers",
        about: "Single durable appends and questions of one caller, in turns while nothing else is done and while the graph, the notes and \
            the summaries are made anew and cycles of the dream run, again and again, in the same process; wall time, of which the ratio of \
            interleaved medians counts.",
        commands: &["workers --turns 1000 --rounds 3"],
    },
    Measurement {
        name: "visible",
        title: "From writing to finding",
        about: "Wall time until an event is found, here and in a second process.",
        commands: &["visible"],
    },
];

/// Writes the page from the result files; with `--data DIR [NAME …]` measures these first, all of them without a name.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    match arguments {
        [] => {}
        [option, folder, names @ ..] if option == "--data" => {
            let folder = fs::canonicalize(folder).with_context(|| format!("no folder {folder}"))?;
            for measurement in chosen(names)? {
                measure(root, &folder, measurement)?;
            }
        }
        _ => bail!("benchmarks takes nothing, or `--data DIR [NAME …]`\n{}", list()),
    }
    let page = page::render_page(&read(|path| fs::read_to_string(root.join(path)).ok())?);
    fs::write(root.join(PAGE), page).with_context(|| format!("cannot write {PAGE}"))?;
    println!("{PAGE} is written");
    Ok(())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Measurement>> {
    if names.is_empty() {
        return Ok(MEASUREMENTS.iter().collect());
    }
    let find = |name: &String| {
        let found = MEASUREMENTS.iter().find(|known| known.name == name);
        found.with_context(|| format!("unknown measurement {name}\n{}", list()))
    };
    names.iter().map(find).collect()
}

fn list() -> String {
    let rows = MEASUREMENTS.iter().map(|known| format!("  {:<22} {}", known.name, known.title));
    rows.collect::<Vec<_>>().join("\n")
}

/// Runs the commands of a measurement and writes its file.
fn measure(root: &Path, data: &Path, measurement: &Measurement) -> Result<()> {
    let mut runs = Vec::new();
    for command in measurement.commands {
        println!("{}: cargo xtask bench {command}", measurement.name);
        let words = command.split(' ').map(|word| word.replacen(DATA, &data.display().to_string(), 1));
        let words: Vec<String> = words.chain(["--json".to_owned()]).collect();
        let (name, rest) = words.split_first().context("a command has a name")?;
        let printed = bench::program(name, rest)?.read(root)?;
        let result: Value = serde_json::from_str(&printed)
            .with_context(|| format!("bench {command} did not print one JSON document"))?;
        runs.push(json!({ "command": format!("cargo xtask bench {command}"), "result": result }));
    }
    let line = |program: &str, arguments: &[&str]| {
        Line::new(program, arguments).read(root).map(|text| text.trim().to_owned())
    };
    let file = json!({
        "commit": line("git", &["describe", "--always", "--dirty"])?,
        "date": line("date", &["-u", "+%F"])?,
        "machine": machine(),
        "runs": runs,
    });
    let text = format!("{}\n", serde_json::to_string_pretty(&file)?);
    fs::write(root.join(file_of(measurement.name)), text)?;
    Ok(())
}

/// The file of a measurement, from the root of the workspace.
fn file_of(name: &str) -> String {
    format!("{RESULTS}/{name}.json")
}

/// The processor and how busy it is, as far as the system says so.
fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map(|(_, model)| model);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = load.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned();
    format!("{cores} cores of {}, load {load} at the end", model.unwrap_or(std::env::consts::ARCH))
}

/// A measurement with what its file holds.
type LoadedMeasurement = (&'static Measurement, Value);

/// Reads the files that are there; `text` returns a file by its path from the root.
fn read(text: impl Fn(&str) -> Option<String>) -> Result<Vec<LoadedMeasurement>> {
    let mut measured = Vec::new();
    for measurement in MEASUREMENTS {
        let path = file_of(measurement.name);
        if let Some(text) = text(&path) {
            let value = serde_json::from_str(&text).with_context(|| format!("{path} is no JSON"))?;
            measured.push((measurement, value));
        }
    }
    Ok(measured)
}

/// Returns the fault of a tree's page; `None` when it agrees with the result files.
pub(crate) fn fault(tree: &Tree) -> Option<String> {
    let text = |path: &str| tree.file(path).map(|file| file.text.clone());
    match read(text) {
        Err(error) => Some(format!("{error:#}")),
        Ok(measured) if measured.is_empty() && text(PAGE).is_none() => None,
        Ok(measured) => (text(PAGE) != Some(page::render_page(&measured)))
            .then(|| "differs from the files of results: run `cargo xtask benchmarks`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{SourceFile, Tree};

    #[test]
    fn every_measurement_is_a_known_bench_that_prints_json() {
        for measurement in MEASUREMENTS {
            for command in measurement.commands {
                let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
                let rest: Vec<String> = rest.split(' ').map(str::to_owned).collect();
                assert!(bench::program(name, &rest).is_ok(), "{command}");
            }
        }
        assert!(chosen(&["nothing".to_owned()]).unwrap_err().to_string().contains("recall-locomo"));
        assert_eq!(chosen(&[]).unwrap().len(), MEASUREMENTS.len());
    }

    #[test]
    fn a_page_that_is_older_than_its_files_is_found() {
        let result =
            r#"{"commit":"c","date":"d","machine":"m","runs":[{"command":"x","result":{"share":0.5}}]}"#;
        let path = file_of("visible");
        let measured = read(|asked| (asked == path).then(|| result.to_owned())).unwrap();
        let page = page::render_page(&measured);
        let tree = |page: &str| Tree {
            files: vec![SourceFile::new(path.clone(), result), SourceFile::new(PAGE, page)],
            ..Tree::default()
        };
        assert_eq!(fault(&tree(&page)), None);
        assert!(fault(&tree(&page.replace("0.500", "0.600"))).unwrap().contains("differs"));
    }
}
