//! Steps of continuous integration, run exactly so on a developer's machine.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::clients;
use crate::command::{Line, Stream};
use crate::workspace::{Package, packages};
use crate::{designs, postgres, tidy, ui};

/// Features that are off by default and checked with everything else, so that one build serves all steps.
pub(crate) const EXTRA: &str = "mnemal-cli/hnsw,mnemal-cli/http,mnemal-cli/onnx,mnemal-cli/reader,mnemal-cli/tokens-exact,\
                                mnemal-cli/postgres-tests,mnemal-store/postgres-tests";
/// The same without the tests that need a server of PostgreSQL, for a runner of tests that cannot choose among them.
const WITHOUT_SERVER: &str =
    "mnemal-cli/hnsw,mnemal-cli/http,mnemal-cli/onnx,mnemal-cli/reader,mnemal-cli/tokens-exact";
/// Crates that no layer may bring into a user's tree.
const HEAVY: &[&str] = &["axum", "hnsw_rs", "hyper", "reqwest", "rmcp", "sqlx", "tokio", "tokio-postgres"];
/// Kinds of crates that do no input or output and start no thread.
const PURE_KINDS: &[&str] = &["core", "text", "extract", "layer", "reading-layer"];
/// Kinds of crates that a host may take one by one.
const LAYER_KINDS: &[&str] = &["text", "extract", "layer", "reading-layer"];
/// The layer that owns a runtime, and is therefore not pure.
const WITH_RUNTIME: &str = "mnemal-dream";
const WASM: &str = "wasm32-unknown-unknown";
const EXAMPLES: &str = "examples";

type Action = fn(&mut Run) -> Result<()>;

/// A step that runs only by name: it recompiles the dependencies of each layer, for which the other steps leave no time.
const ON_REQUEST: &[&str] = &["alone", "hosts"];

/// The steps in their order, each with one line of help.
const STEPS: &[(&str, &str, Action)] = &[
    ("fmt", "formatting", format),
    ("clippy", "lints of every target, warnings are errors", clippy),
    ("tidy", "rules that the compiler cannot state", |run| tidy::run(&run.root)),
    ("test", "tests of the workspace", test),
    ("doc", "examples in documents, and documents without warnings", document),
    ("postgres", "the store and the program on a server of PostgreSQL, which the step starts", |run| {
        postgres::run(&run.root)
    }),
    ("clients", "official MCP clients and our own drive the program", |run| clients::run(&run.root)),
    ("module", "the engine in Python answers as a server does", |run| clients::module(&run.root)),
    ("foreign", "mem0's clients, and clients generated from a valid document, drive the server", |run| {
        clients::foreign(&run.root)
    }),
    ("hosts", "real agents remember, against a scripted model; only where it is named", |run| {
        clients::hosts(&run.root)
    }),
    ("features", "each library without its default features", features),
    ("alone", "each layer passes its tests by itself; only where it is named", alone),
    ("isolation", "no layer brings a runtime, a database or a network", isolation),
    ("examples", "the workspace of the examples and the adapters in Rust, with its tests", examples),
    ("ui", "the web UI is built from its source, and works in a browser", |run| ui::run(&run.root, &[])),
    ("personas", "the first five minutes of each sort of user", |run| clients::personas(&run.root)),
    ("designs", "every promise of the designs that are united here", |run| designs::run(&run.root, &[])),
    ("wasm", "pure crates compile where there is no system", wasm),
];

/// What the steps share.
#[derive(Debug)]
struct Run {
    root: PathBuf,
    packages: Vec<Package>,
    /// Last words: one line for each test run.
    summaries: Vec<String>,
}

/// Runs the named step, or all but those [on request](ON_REQUEST); fails on the first step that fails, with its command.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let chosen = chosen(arguments)?;
    let mut run = Run { root: root.to_path_buf(), packages: packages(root)?, summaries: Vec::new() };
    let mut done: Vec<(&str, Duration)> = Vec::new();
    for (name, _, action) in chosen {
        println!("==> {name}");
        let begun = now();
        let outcome = action(&mut run);
        done.push((name, now().duration_since(begun)));
        if let Err(error) = outcome {
            print_end(&done, &run.summaries);
            return Err(error.context(format!("step {name} failed")));
        }
    }
    print_end(&done, &run.summaries);
    Ok(())
}

/// Returns the help of the steps.
pub(crate) fn help() -> String {
    STEPS.iter().map(|(name, help, _)| format!("    {name:<10} {help}")).collect::<Vec<_>>().join("\n")
}

fn chosen(arguments: &[String]) -> Result<Vec<&'static (&'static str, &'static str, Action)>> {
    let Some(first) = arguments.first() else {
        return Ok(STEPS.iter().filter(|(name, ..)| !ON_REQUEST.contains(name)).collect());
    };
    if arguments.len() > 1 {
        bail!("ci takes one step or none");
    }
    let step = STEPS.iter().find(|(name, _, _)| name == first);
    Ok(vec![step.with_context(|| format!("unknown step {first}; the steps are\n{}", help()))?])
}

/// Prints the duration of each step and then what the tests came to; the tests of the workspace come last.
fn print_end(done: &[(&str, Duration)], summaries: &[String]) {
    for (name, time) in done {
        println!("{name:<10} {:>7.1} s", time.as_secs_f64());
    }
    for summary in summaries.iter().rev() {
        println!("{summary}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the duration of a step is measured on the wall")]
fn now() -> Instant {
    Instant::now()
}

fn format(run: &mut Run) -> Result<()> {
    Line::new("cargo", &["fmt", "--all", "--check"]).run(&run.root)
}

fn clippy(run: &mut Run) -> Result<()> {
    let arguments =
        ["clippy", "--quiet", "--workspace", "--all-targets", "--features", EXTRA, "--", "-D", "warnings"];
    Line::new("cargo", &arguments).run(&run.root)
}

fn test(run: &mut Run) -> Result<()> {
    if Line::new("cargo", &["nextest", "--version"]).read(&run.root).is_ok() {
        let arguments = [
            "nextest",
            "run",
            "--workspace",
            "--features",
            EXTRA,
            "--no-fail-fast",
            "--status-level",
            "slow",
            "--filterset",
            &format!("not ({})", postgres::TESTS),
        ];
        let mut summary = None;
        let outcome = Line::new("cargo", &arguments).watch(&run.root, Stream::Error, |text| {
            if text.trim_start().starts_with("Summary [") {
                summary = Some(text.trim().to_owned());
            }
        });
        run.summaries.extend(summary);
        return outcome;
    }
    println!("cargo-nextest not installed: `cargo test` instead");
    let line = Line::new(
        "cargo",
        &[
            "test",
            "--workspace",
            "--features",
            WITHOUT_SERVER,
            "--no-fail-fast",
            "--lib",
            "--bins",
            "--tests",
        ],
    );
    counted(run, "tests", &line)
}

/// Runs a test command whose results are lines `test result: …`, and keeps their sum.
fn counted(run: &mut Run, what: &str, line: &Line) -> Result<()> {
    let mut sum = Counts::default();
    let outcome = line.watch(&run.root, Stream::Out, |text| sum.add(text));
    run.summaries
        .push(format!("{what}: {} passed, {} failed, {} ignored", sum.passed, sum.failed, sum.ignored));
    outcome
}

/// Sums of `test result:` lines.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Counts {
    fn add(&mut self, text: &str) {
        let Some(result) = text.strip_prefix("test result: ") else { return };
        for part in result.split([';', '.']) {
            let Some((number, word)) = part.trim().split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

fn document(run: &mut Run) -> Result<()> {
    counted(
        run,
        "doc tests",
        &Line::new("cargo", &["test", "--quiet", "--doc", "--workspace", "--features", EXTRA]),
    )?;
    let line =
        Line::new("cargo", &["doc", "--quiet", "--no-deps", "--workspace", "--features", EXTRA, "--lib"]);
    line.with("RUSTDOCFLAGS", "-Dwarnings").run(&run.root)
}

/// One library at a time: checked together, their features would be united and a missing one not seen.
fn features(run: &mut Run) -> Result<()> {
    let libraries = run.packages.iter().filter(|p| p.is_library && p.folder.starts_with("crates/"));
    for package in libraries {
        let arguments = ["check", "--quiet", "-p", &package.name, "--no-default-features"];
        Line::new("cargo", &arguments).run(&run.root)?;
        println!("{} without default features", package.name);
    }
    let arguments = ["check", "--quiet", "-p", "mnemal-server", "--no-default-features", "--features", "mcp"];
    Line::new("cargo", &arguments).run(&run.root)?;
    println!("mnemal-server with the Model Context Protocol alone");
    Ok(())
}

/// One layer at a time, without its default features and those of others: it must request what it needs itself.
fn alone(run: &mut Run) -> Result<()> {
    let names: Vec<String> = layers(&run.packages).map(|package| package.name.clone()).collect();
    for name in names {
        let arguments = ["test", "--quiet", "-p", &name, "--no-default-features", "--lib", "--tests"];
        counted(run, &name, &Line::new("cargo", &arguments))?;
    }
    Ok(())
}

fn layers(packages: &[Package]) -> impl Iterator<Item = &Package> {
    let is_layer =
        |package: &&Package| package.kind.as_deref().is_some_and(|kind| LAYER_KINDS.contains(&kind));
    packages.iter().filter(is_layer)
}

fn isolation(run: &mut Run) -> Result<()> {
    for package in pure(&run.packages) {
        let arguments = ["tree", "-p", &package.name, "-e", "normal", "--prefix", "none", "-f", "{p}"];
        let line = Line::new("cargo", &arguments);
        let tree = line.read(&run.root)?;
        let found = heavy(&tree);
        if !found.is_empty() {
            bail!("{} brings {}; see `{line}`", package.name, found.join(", "));
        }
        println!("{}: {} packages, none of them heavy", package.name, packages_of(&tree));
    }
    Ok(())
}

fn pure(packages: &[Package]) -> impl Iterator<Item = &Package> {
    let is_pure = |package: &&Package| {
        package.kind.as_deref().is_some_and(|kind| PURE_KINDS.contains(&kind)) && package.name != WITH_RUNTIME
    };
    packages.iter().filter(is_pure)
}

/// Returns the heavy crates in the output of `cargo tree`.
fn heavy(tree: &str) -> Vec<&'static str> {
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    HEAVY.iter().copied().filter(|name| names.contains(name)).collect()
}

fn packages_of(tree: &str) -> usize {
    let mut names: Vec<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

/// Runs the tests of the examples and of the adapters in Rust, which are a workspace of their own in [`EXAMPLES`].
fn examples(run: &mut Run) -> Result<()> {
    let manifest = format!("{EXAMPLES}/Cargo.toml");
    let arguments =
        ["test", "--quiet", "--workspace", "--manifest-path", &manifest, "--target-dir", "target/examples"];
    Line::new("cargo", &arguments).run(&run.root)
}

fn wasm(run: &mut Run) -> Result<()> {
    let folder = Line::new("rustc", &["--print", "target-libdir", "--target", WASM]).read(&run.root)?;
    if !Path::new(folder.trim()).is_dir() {
        println!("wasm32 target not installed: skipped");
        return Ok(());
    }
    let line = Line::new("cargo", &["check", "--quiet", "--target", WASM, "--no-default-features"]);
    let names = pure(&run.packages).flat_map(|package| ["-p".to_owned(), package.name.clone()]);
    line.args(names).run(&run.root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_argument_chooses_every_step_but_those_on_request_and_a_name_chooses_one() {
        assert_eq!(chosen(&[]).unwrap().len(), STEPS.len() - ON_REQUEST.len(), "all but those on request");
        assert_eq!(chosen(&["doc".to_owned()]).unwrap().first().unwrap().0, "doc");
        assert!(chosen(&["docs".to_owned()]).is_err());
    }

    #[test]
    fn results_of_test_binaries_add_up() {
        let mut sum = Counts::default();
        sum.add("running 2 tests");
        sum.add(
            "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        );
        sum.add(
            "test result: FAILED. 3 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0s",
        );
        assert_eq!(sum, Counts { passed: 5, failed: 4, ignored: 1 });
    }

    #[test]
    fn a_heavy_crate_is_found_by_its_whole_name() {
        assert_eq!(heavy("mnemal-core v0.1.0 (path)\ntokio v1.47.0\ntokio-util v0.7.0\n"), ["tokio"]);
        assert!(heavy("mnemal-core v0.1.0 (path)\ntokio-util v0.7.0\n").is_empty());
        assert_eq!(packages_of("a v1\nb v1\na v1 (*)\n"), 2);
    }

    fn package(name: &str, kind: &str) -> Package {
        Package {
            name: name.to_owned(),
            kind: Some(kind.to_owned()),
            folder: format!("crates/{name}"),
            dependencies: Vec::new(),
            is_library: true,
        }
    }

    #[test]
    fn each_layer_is_tested_alone_where_that_is_asked_for() {
        for name in ON_REQUEST {
            let is_it = |step: &&(&str, &str, Action)| step.0 == *name;
            assert!(!chosen(&[]).unwrap().iter().any(is_it), "{name}");
            assert!(chosen(&[(*name).to_owned()]).unwrap().iter().all(is_it), "{name}");
        }
        let all = packages(&crate::workspace::root()).unwrap();
        let names: Vec<&str> = layers(&all).map(|package| package.name.as_str()).collect();
        for part in
            ["events", "extract", "graph", "summaries", "learnings", "context", "recall", "working", "dream"]
        {
            assert!(names.contains(&format!("mnemal-{part}").as_str()), "{part}: {names:?}");
        }
        assert!(layers(&[package("mnemal", "engine")]).next().is_none(), "what puts them together");
    }

    #[test]
    fn the_layer_with_a_runtime_is_not_pure() {
        let all = [
            package("mnemal-dream", "layer"),
            package("mnemal-context", "layer"),
            package("mnemal", "engine"),
        ];
        assert_eq!(pure(&all).map(|p| p.name.as_str()).collect::<Vec<_>>(), ["mnemal-context"]);
    }
}
