//! Conformance with the source designs: the promises of the four designs that mnemal unites, and of the two programs that they
//! were made after, each tried against the built program.
//!
//! Each promise is a row of `xtask/designs/NAME.toml`, whose form `xtask/designs/README.md` says: steps with what they must
//! answer, or a decision with its reason, which `docs/source-designs.md` repeats.

mod answer;
mod http;
mod installation;
mod model;
mod page;
mod row;
mod step;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::clients;
use installation::TestInstallation;
use row::{Design, Row, Section};

/// The designs, each a file of rows.
const DESIGNS: &[&str] = &["generalbots", "picobot", "rockbot", "nanobot"];
/// The programs that two of them were made after.
const MODELS: &[&str] = &["alwaysonagent", "babyagi3"];
/// Most decisions of the designs together. Source: own choice; more are another product.
const MOST_DECISIONS: usize = 12;
/// Most decisions of the programs that they were made after. Source: own choice.
const MOST_OF_MODELS: usize = 6;
/// Sections that run concurrently. Source: own choice; most of the time of a section is waiting.
const AT_ONCE: usize = 4;

/// What is asked for.
#[derive(Debug, Default)]
struct Options {
    json: bool,
    write: bool,
    /// Only rows in whose `design/section/promise` this stands.
    only: Option<String>,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--json" => options.json = true,
                "--write" => options.write = true,
                "--only" => options.only = Some(rest.next().context("--only needs a text")?.clone()),
                other => bail!("designs takes --json, --write and --only TEXT, not {other}"),
            }
        }
        Ok(options)
    }
}

/// What became of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    /// Every step gave the expected answer.
    Works,
    /// A deliberate deviation.
    Decision,
    /// It has neither steps nor a decision.
    Missing,
    /// A step failed, with the difference.
    Failed(String),
}

/// A row and what became of it.
#[derive(Debug)]
struct RowResult {
    design: String,
    name: String,
    outcome: Outcome,
}

/// Tests the designs; with `--write` only the page of deviations is written.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let options = Options::read(arguments)?;
    let mut designs = load(root)?;
    if options.write {
        return page::write(root, &designs);
    }
    page::check(root, &designs)?;
    if options.only.is_some() {
        // A part of the rows says nothing of what has none.
        for design in &mut designs {
            design.promises = 0;
        }
    }
    let program = program(root)?;
    let begun = now();
    let tried = walk(&program, &designs, &options);
    let report = report(&designs, &tried, now().duration_since(begun));
    if options.json {
        println!("{report:#}");
    } else {
        print(&tried, &report);
    }
    judge(&report)
}

/// Returns the program of `MNEMAL` in the environment, else the one of the workspace, which is built.
fn program(root: &Path) -> Result<PathBuf> {
    match std::env::var_os("MNEMAL") {
        Some(given) => Ok(PathBuf::from(given)),
        None => clients::program(root),
    }
}

fn load(root: &Path) -> Result<Vec<Design>> {
    let folder = root.join("xtask/designs");
    DESIGNS
        .iter()
        .chain(MODELS)
        .map(|name| {
            let path = folder.join(format!("{name}.toml"));
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            Design::read(name, &text).with_context(|| path.display().to_string())
        })
        .collect()
}

fn walk(program: &Path, designs: &[Design], options: &Options) -> Vec<RowResult> {
    let folder = std::env::temp_dir().join(format!("mnemal-designs-{}", std::process::id()));
    let work: Vec<(&Design, &Section)> = designs
        .iter()
        .flat_map(|design| design.sections.iter().map(move |section| (design, section)))
        .collect();
    let next = AtomicUsize::new(0);
    let tried = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((design, section)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let home = folder.join(format!("{}-{}", design.name, section.name));
                    let rows = try_section(program, &home, (design, section), options);
                    tried.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(rows);
                }
            });
        }
    });
    // Leftovers in the temporary folder are harmless.
    drop(std::fs::remove_dir_all(&folder));
    tried.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Walks the rows of one section in their order, in one home; a section that cannot begin fails all of them.
fn try_section(
    program: &Path,
    home: &Path,
    (design, section): (&Design, &Section),
    options: &Options,
) -> Vec<RowResult> {
    let is_wanted = |row: &&Row| {
        let name = format!("{}/{}/{}", design.name, section.name, row.promise);
        options.only.as_ref().is_none_or(|only| name.contains(only))
    };
    let rows: Vec<&Row> = section.rows.iter().filter(is_wanted).collect();
    let has_steps = rows.iter().any(|row| !row.steps.is_empty());
    let mut place = has_steps.then(|| TestInstallation::new(program, home, section));
    let tried = rows.into_iter().map(|row| {
        let outcome = match place.as_mut() {
            Some(Err(error)) => Outcome::Failed(format!("{error:#}")),
            Some(Ok(place)) => try_row(place, row),
            None => outcome_without_steps(row),
        };
        RowResult { design: design.name.clone(), name: format!("{}: {}", section.name, row.promise), outcome }
    });
    tried.collect()
}

fn outcome_without_steps(row: &Row) -> Outcome {
    if row.decision.is_some() { Outcome::Decision } else { Outcome::Missing }
}

fn try_row(place: &mut TestInstallation, row: &Row) -> Outcome {
    for (number, step) in (1..).zip(&row.steps) {
        if let Err(error) = step::act(place, step) {
            return Outcome::Failed(format!("step {number} ({}): {error:#}", step.title()));
        }
    }
    if row.steps.is_empty() || row.decision.is_some() { outcome_without_steps(row) } else { Outcome::Works }
}

fn report(designs: &[Design], tried: &[RowResult], time: Duration) -> Value {
    let mut parts = serde_json::Map::new();
    for design in designs {
        let own: Vec<&RowResult> = tried.iter().filter(|one| one.design == design.name).collect();
        parts.insert(design.name.clone(), counts(&own, design.promises.saturating_sub(own.len())));
    }
    let absent = parts.values().filter_map(|part| part.get("absent")?.as_u64()).sum::<u64>();
    let all: Vec<&RowResult> = tried.iter().collect();
    let all = counts(&all, usize::try_from(absent).unwrap_or(usize::MAX));
    json!({"all": all, "designs": parts, "seconds": time.as_secs()})
}

/// Counts rows by what became of them; `absent` promises have no row.
fn counts(tried: &[&RowResult], absent: usize) -> Value {
    let count = |wanted: &Outcome| tried.iter().filter(|one| one.outcome == *wanted).count();
    let names = |is_meant: &dyn Fn(&Outcome) -> bool| -> Vec<String> {
        let mut names: Vec<String> =
            tried.iter().filter(|one| is_meant(&one.outcome)).map(|one| one.name.clone()).collect();
        names.sort();
        names
    };
    json!({
        "rows": tried.len(),
        "works": count(&Outcome::Works),
        "decision": count(&Outcome::Decision),
        "missing": count(&Outcome::Missing) + absent,
        "absent": absent,
        "missing_rows": names(&|outcome| *outcome == Outcome::Missing),
        "failed": names(&|outcome| matches!(outcome, Outcome::Failed(_))),
        "reasons": tried.iter().filter_map(|one| match &one.outcome {
            Outcome::Failed(why) => Some((one.name.clone(), json!(why))),
            _ => None,
        }).collect::<serde_json::Map<_, _>>(),
    })
}

fn print(tried: &[RowResult], report: &Value) {
    for one in tried {
        match &one.outcome {
            Outcome::Works => println!("works     {} {}", one.design, one.name),
            Outcome::Decision => println!("decision  {} {}", one.design, one.name),
            Outcome::Missing => println!("MISSING   {} {}", one.design, one.name),
            Outcome::Failed(why) => println!("FAILED    {} {}\n          {why}", one.design, one.name),
        }
    }
    let number = |part: &Value, name: &str| part.get(name).cloned().unwrap_or_default();
    let parts = report.get("designs").and_then(Value::as_object);
    let parts = parts.into_iter().flatten().map(|(name, part)| (name.as_str(), part));
    for (name, part) in parts.chain(report.get("all").map(|all| ("all", all))) {
        let failed = part.get("failed").and_then(Value::as_array).map_or(0, Vec::len);
        let [rows, works, decision, missing] =
            ["rows", "works", "decision", "missing"].map(|name| number(part, name));
        println!(
            "{name:<12} {rows} rows, {works} work, {decision} decided, {missing} missing, {failed} failed"
        );
    }
}

/// Fails where something is missing or failed, or too much is decided.
fn judge(report: &Value) -> Result<()> {
    let all = report.get("all").context("a report without its sum")?;
    let number = |name: &str| all.get(name).and_then(Value::as_u64).unwrap_or_default();
    let failed = all.get("failed").and_then(Value::as_array).map_or(0, Vec::len);
    let missing = number("missing");
    if missing > 0 || failed > 0 {
        bail!("{missing} promises of the designs are missing and {failed} failed");
    }
    let of = |name: &str| report.pointer(&format!("/designs/{name}/decision")).and_then(Value::as_u64);
    let of_models = MODELS.iter().filter_map(|name| of(name)).sum::<u64>();
    for (decisions, most) in
        [(number("decision").saturating_sub(of_models), MOST_DECISIONS), (of_models, MOST_OF_MODELS)]
    {
        if decisions > most as u64 {
            bail!("{decisions} promises are decided otherwise, at most {most} may be");
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the duration of the walk is measured on the wall")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    fn tried(outcomes: Vec<Outcome>) -> Vec<RowResult> {
        let one = |outcome| RowResult { design: "picobot".to_owned(), name: "a row".to_owned(), outcome };
        outcomes.into_iter().map(one).collect()
    }

    #[test]
    fn what_is_missing_failed_or_too_much_decided_is_an_error() {
        let judged = |outcomes| judge(&report(&[], &tried(outcomes), Duration::ZERO));
        assert!(judged(vec![Outcome::Works, Outcome::Decision]).is_ok());
        assert!(judged(vec![Outcome::Missing]).is_err());
        assert!(judged(vec![Outcome::Failed("no".to_owned())]).is_err());
        assert!(judged(vec![Outcome::Decision; MOST_DECISIONS]).is_ok());
        assert!(judged(vec![Outcome::Decision; MOST_DECISIONS + 1]).is_err());
    }

    #[test]
    fn a_promise_without_a_row_is_missing() {
        let design = Design::read("picobot", "promises = 3").unwrap();
        let told = report(&[design], &tried(vec![Outcome::Works]), Duration::ZERO);
        assert_eq!(told.pointer("/all/missing"), Some(&json!(2)));
        assert_eq!(told.pointer("/designs/picobot/works"), Some(&json!(1)));
    }

    #[test]
    fn the_rows_can_be_read_and_the_page_has_their_decisions() {
        let designs = load(&root()).unwrap();
        assert_eq!(designs.len(), DESIGNS.len() + MODELS.len());
        page::check(&root(), &designs).unwrap();
    }
}
