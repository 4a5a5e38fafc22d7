//! Starts the measuring programs of the unpublished package `mnemal-benches`.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::Line;
use crate::{postgres, versus};

/// Every figure with one line of help; its program is `bench-<name>`.
const BENCHES: &[(&str, &str)] = &[
    ("abstain", "evidence of answers to questions that nothing answers, and the constants of its doubts"),
    (
        "attribution",
        "what of other people's words in a turn becomes the user's, and what of his own is still learnt",
    ),
    ("context", "how much of the evidence contexts hold, with the facts of the graph and without"),
    ("dates", "dates in sentences against the references of a public data set"),
    ("embedder", "time of the built-in embedder, and what its vectors add to recall by words"),
    ("endings", "what is still told as present after it ended, and what is ended that nothing ended"),
    ("extract", "claims and names of the extractor against labels or observations"),
    ("feedback", "what users say about the work of an assistant, against labels; false learnings"),
    ("graph", "turns to rows of the graph, what a question costs, and what an append notices of it"),
    ("index-spike", "append, scan and catch-up of packed index blocks by size of the log"),
    ("latency", "import, append, recall, context, memory and start by size of the log"),
    ("life", "how well contexts serve the questions of a life, and what is right of what is held at its end"),
    ("load", "calls of many clients at once, and commands beside them, that fail"),
    ("model", "what the passes that ask a language model make of conversations, with any endpoint"),
    (
        "peers",
        "mnemal beside SQLite FTS5, LanceDB, Chroma, LangGraph and Mem0, which it installs below target/peers",
    ),
    ("postgres", "spaces in a PostgreSQL, which is started for it, beside spaces in files"),
    ("recall", "recall and nDCG of retrieval over labelled conversations"),
    ("secrets", "made-up secrets that pass the rules, and what is taken for one in conversations"),
    ("vectors", "the three indexes of vectors beside each other: recall, time, memory, construction"),
    (
        "summaries",
        "summaries of sessions against references, beside lead, TextRank and chance; refreshes a second",
    ),
    ("throughput", "turns a second of processor time from import to summaries, in turns with another build"),
    ("visible", "from writing an event until it can be read, here and in a second process"),
    ("signals", "what each signal of recall adds, and the weights that data sets teach"),
    (
        "server",
        "requests a second, tails and memory of `mnemal serve`; what a start costs; the size of the program",
    ),
    ("spaces", "many small spaces asked by chance: processor time, memory, open files"),
    ("workers", "what appends and questions notice of all background work at full speed"),
];

/// The argument that requests a transformer, which is compiled in only then.
const TRANSFORMER: &str = "--embedder";

/// The argument that requests the shipped build, whose speed counts.
const DIST: &str = "--dist";

/// The bench that needs a database of PostgreSQL, which is started for it.
const DATABASE: &str = "postgres";
/// The bench that calls an endpoint; the client is compiled in only for it.
const ENDPOINT: &str = "model";

/// The bench that builds a graph of near neighbors, which is compiled in only for it.
const GRAPH: &str = "vectors";

/// The comparison of two builds, with its line of help.
const VERSUS: (&str, &str) =
    ("versus", "the programs of a revision and of the working tree by turns: --base REV");

/// Runs `bench NAME [ARGUMENTS]` or `bench --list`; further arguments are passed to the program.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        None => bail!("bench needs a name\n{}", list()),
        Some((word, _)) if word == "--list" => {
            println!("{}", list());
            Ok(())
        }
        Some((name, rest)) if name == VERSUS.0 => versus::run(root, rest),
        Some((name, rest)) if name == DATABASE => {
            let server = postgres::Server::new(root)?;
            program(name, rest)?.arg("--database").arg(server.address()).run(root)
        }
        Some((name, rest)) => program(name, rest)?.run(root),
    }
}

/// The command that builds and starts a bench, by its name.
pub(crate) fn program(name: &str, rest: &[String]) -> Result<Line> {
    let known = BENCHES.iter().find(|(known, _)| *known == name);
    let (name, _) = known.with_context(|| format!("unknown bench {name}\n{}", list()))?;
    let profile = if rest.iter().any(|argument| argument == DIST) { "dist" } else { "release" };
    let rest = rest.iter().filter(|argument| !["--", DIST].contains(&argument.as_str()));
    let mut line = Line::new("cargo", &["run", "--profile", profile, "--quiet", "-p", "mnemal-benches"]);
    if rest.clone().any(|argument| argument == TRANSFORMER) {
        line = line.arg("--features").arg("onnx");
    }
    if *name == ENDPOINT {
        line = line.arg("--features").arg("http");
    }
    if *name == GRAPH {
        line = line.arg("--features").arg("hnsw");
    }
    Ok(line.arg("--bin").arg(format!("bench-{name}")).arg("--").args(rest.cloned()))
}

fn list() -> String {
    let rows = BENCHES.iter().chain([&VERSUS]).map(|(name, help)| format!("  {name:<12} {help}"));
    rows.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_becomes_a_program_of_the_benches_package() {
        let line = program("recall", &["--".to_owned(), "--json".to_owned()]).unwrap();
        let expected = "cargo run --profile release --quiet -p mnemal-benches --bin bench-recall -- --json";
        assert_eq!(line.to_string(), expected);
    }

    #[test]
    fn speed_is_measured_with_the_build_that_is_shipped() {
        let line = program("latency", &["--dist".to_owned(), "--json".to_owned()]).unwrap();
        let expected = "cargo run --profile dist --quiet -p mnemal-benches --bin bench-latency -- --json";
        assert_eq!(line.to_string(), expected);
    }

    #[test]
    fn a_transformer_is_compiled_in_only_where_it_is_asked_for() {
        let line = program("recall", &["--embedder".to_owned(), "minilm:m".to_owned()]).unwrap().to_string();
        assert!(line.contains("--features onnx --bin bench-recall -- --embedder minilm:m"), "{line}");
    }

    #[test]
    fn an_unknown_bench_lists_the_known_ones() {
        let error = program("nothing", &[]).unwrap_err().to_string();
        assert!(BENCHES.iter().all(|(name, _)| error.contains(name)), "{error}");
    }
}
