//! Two builds beside each other: the programs of a revision and of the working tree, run by turns.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use crate::command::Line;

/// Fewest rounds, of which the median counts. Source: own choice; of fewer one busy moment decides.
const FEWEST_ROUNDS: usize = 5;
/// Events of the made log.
const EVENTS: usize = 100_000;
/// Commands of a round: processor time of children is counted in steps of 10 ms.
const COMMANDS: usize = 20;
/// Ticks of a second in `/proc/self/stat`. Source: Linux shows 100 on every architecture that it runs on today.
const TICKS: f64 = 100.0;
/// The programs that are compared, with their packages.
const PROGRAMS: [(&str, &str); 2] = [("mnemal-cli", "mnemal"), ("mnemal-benches", "bench-throughput")];

/// What is asked for on the command line.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    /// The revision that the working tree is compared with.
    base: String,
    /// Folders with `corpus.jsonl`, by the name of their figures.
    corpora: Vec<(&'static str, PathBuf)>,
    rounds: usize,
    events: usize,
    /// A folder with the programs of the base, which are not built then.
    base_programs: Option<PathBuf>,
    /// A folder with the programs of the working tree, which are not built then.
    programs: Option<PathBuf>,
    profile: &'static str,
    is_json: bool,
}

impl Request {
    fn read(arguments: &[String]) -> Result<Self> {
        let mut request = Self {
            base: String::new(),
            corpora: Vec::new(),
            rounds: FEWEST_ROUNDS,
            events: EVENTS,
            base_programs: None,
            programs: None,
            profile: "release",
            is_json: false,
        };
        let mut arguments = arguments.iter().filter(|argument| *argument != "--");
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().with_context(|| format!("{name} needs a value"));
            match name.as_str() {
                "--base" => request.base.clone_from(value()?),
                "--beam" => request.corpora.push(("beam", value()?.into())),
                "--locomo" => request.corpora.push(("locomo", value()?.into())),
                "--rounds" => request.rounds = value()?.parse().context("--rounds needs a number")?,
                "--events" => request.events = value()?.parse().context("--events needs a number")?,
                "--base-programs" => request.base_programs = Some(value()?.into()),
                "--programs" => request.programs = Some(value()?.into()),
                "--dist" => request.profile = "dist",
                "--json" => request.is_json = true,
                other => bail!("bench versus does not know {other}"),
            }
        }
        ensure!(!request.base.is_empty(), "bench versus needs --base REV");
        ensure!(request.rounds >= FEWEST_ROUNDS, "bench versus needs at least {FEWEST_ROUNDS} rounds");
        ensure!(request.events > 0, "bench versus needs at least one event");
        Ok(request)
    }
}

/// Builds the programs of a revision and of the working tree, runs both by turns, and prints the medians of their ratios.
///
/// # Errors
/// A revision that does not build, and a program that fails.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let request = Request::read(arguments)?;
    let folder = root.join("target/versus");
    std::fs::create_dir_all(&folder)?;
    let base = match &request.base_programs {
        Some(programs) => programs.clone(),
        None => build_revision(root, &request, &folder)?,
    };
    let now = match &request.programs {
        Some(programs) => programs.clone(),
        None => build(root, root, request.profile, &folder.join("now"))?,
    };
    let made = folder.join("made");
    throughput(&now).arg("--make").arg(request.events.to_string()).arg("--data").arg(&made).checked()?;
    let questions = std::fs::read_to_string(made.join("questions.txt"))?;
    let questions: Vec<&str> = questions.lines().collect();
    let sides = [("base", base), ("now", now)];
    let mut builds = Vec::new();
    for (name, programs) in sides {
        builds.push(Build::open(programs, folder.join(format!("home-{name}")), &made)?);
    }
    let mut figures = Figures::default();
    for round in 0..request.rounds {
        for (side, build) in builds.iter().enumerate() {
            for (name, data) in &request.corpora {
                let run = build.throughput(data)?;
                figures.add(&format!("project_{name}"), side, run.turns / run.fold);
                figures.add(&format!("import_process_{name}"), side, build.import(data)?);
            }
            let run = build.throughput(&made)?;
            figures.add("import", side, run.turns / run.import);
            figures.add("one_shot_recall_100k", side, build.recalls(&questions)?);
            figures.add("hook_prompt_100k", side, build.prompts(&questions, round)?);
        }
        eprintln!("round {} of {} is over", round + 1, request.rounds);
    }
    let figures = figures.medians();
    if request.is_json {
        let figures = figures.iter().map(|(name, figure)| (name.clone(), figure.json()));
        println!("{:#}", figures.collect::<Value>());
    } else {
        print!("{}", table(&figures));
    }
    Ok(())
}

/// Builds the programs of a revision in a worktree of its own, which is removed again.
fn build_revision(root: &Path, request: &Request, folder: &Path) -> Result<PathBuf> {
    let tree = folder.join("tree").to_string_lossy().into_owned();
    let remove = Line::new("git", &["worktree", "remove", "--force", &tree]);
    if Path::new(&tree).exists() {
        remove.run(root)?;
    }
    Line::new("git", &["worktree", "add", "--quiet", "--detach", &tree, &request.base]).run(root)?;
    let built = build(root, Path::new(&tree), request.profile, &folder.join("base"));
    remove.run(root)?;
    built
}

/// Builds the programs of a tree in the target folder of the workspace, whose foreign crates both trees share, and copies them
/// into a folder.
fn build(root: &Path, tree: &Path, profile: &str, to: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(to)?;
    let target = root.join("target");
    for (package, program) in PROGRAMS {
        Line::new("cargo", &["build", "--quiet", "--profile", profile, "-p", package, "--bin", program])
            .with("CARGO_TARGET_DIR", &target.to_string_lossy())
            .run(tree)?;
        let built = target.join(profile).join(program);
        std::fs::copy(&built, to.join(program)).with_context(|| format!("no {}", built.display()))?;
    }
    Ok(to.to_path_buf())
}

/// The programs of one build, with a home and a space that it has made.
#[derive(Debug)]
struct Build {
    programs: PathBuf,
    home: PathBuf,
}

/// What a run of the throughput bench took, in turns and seconds.
#[derive(Clone, Copy, Debug)]
struct Throughput {
    turns: f64,
    import: f64,
    fold: f64,
}

impl Build {
    /// Imports the made log into a new space, which the commands ask.
    fn open(programs: PathBuf, home: PathBuf, made: &Path) -> Result<Self> {
        if home.exists() {
            std::fs::remove_dir_all(&home)?;
        }
        std::fs::create_dir_all(&home)?;
        let build = Self { programs: std::path::absolute(programs)?, home };
        build.take_in(made, "space.db")?;
        Ok(build)
    }

    /// Returns a command over a space, in a home without a configuration.
    fn command(&self, space: &str) -> Command {
        let mut command = Command::new(self.programs.join("mnemal"));
        command.arg("--db").arg(self.home.join(space)).current_dir(&self.home).env("HOME", &self.home);
        command.env("MNEMAL_DATA_DIR", &self.home).env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
        command.env_remove("MNEMAL_SPACE").env_remove("MNEMAL_SERVER");
        // What waits for a machine with other work on it says nothing about this work.
        command.env("MNEMAL_HOOKS__DEADLINE_MS", "60000");
        command
    }

    fn take_in(&self, data: &Path, space: &str) -> Result<()> {
        let mut command = self.command(space);
        command.args(["import", "--format", "neutral", "--own-history"]).arg(data.join("corpus.jsonl"));
        command.checked().map(drop)
    }

    fn throughput(&self, data: &Path) -> Result<Throughput> {
        let output = throughput(&self.programs).arg("--once").arg("--data").arg(data).checked()?;
        let run: Value =
            serde_json::from_slice(&output.stdout).context("the throughput bench said nothing")?;
        let of = |name: &str| {
            let value = run.get(name).and_then(Value::as_f64);
            value.with_context(|| format!("no {name} in {run}"))
        };
        Ok(Throughput { turns: of("turns")?, import: of("import")?, fold: of("fold")? })
    }

    /// Returns the processor seconds of an import into a new space, with everything read.
    fn import(&self, data: &Path) -> Result<f64> {
        let before = children_cpu()?;
        self.take_in(data, "new.db")?;
        let spent = children_cpu()? - before;
        for file in ["new.db", "new.db-wal", "new.db-shm"] {
            let file = self.home.join(file);
            if file.exists() {
                std::fs::remove_file(file)?;
            }
        }
        Ok(spent)
    }

    /// Returns the processor milliseconds of one `mnemal recall`.
    fn recalls(&self, questions: &[&str]) -> Result<f64> {
        each(questions, |_, question| {
            self.command("space.db").args(["--quiet", "recall", question]).checked().map(drop)
        })
    }

    /// Returns the processor milliseconds of one hook that a client calls with a prompt.
    fn prompts(&self, questions: &[&str], round: usize) -> Result<f64> {
        each(questions, |place, question| {
            let input = json!({
                "session_id": format!("prompt-{round}-{place}"), "cwd": self.home, "prompt": question,
                "hook_event_name": "UserPromptSubmit",
            });
            let mut command = self.command("space.db");
            command.args(["hook", "claude-code", "UserPromptSubmit"]);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
            let mut pipe = child.stdin.take().context("a child with a pipe")?;
            pipe.write_all(input.to_string().as_bytes())?;
            drop(pipe);
            let status = child.wait()?;
            ensure!(status.success(), "a hook failed: {status}");
            Ok(())
        })
    }
}

fn throughput(programs: &Path) -> Command {
    Command::new(programs.join("bench-throughput"))
}

/// Runs a command for some questions; returns the processor milliseconds of one.
fn each(questions: &[&str], mut ask: impl FnMut(usize, &str) -> Result<()>) -> Result<f64> {
    let before = children_cpu()?;
    let mut count = 0.0;
    for (place, question) in questions.iter().cycle().take(COMMANDS).enumerate() {
        ask(place, question)?;
        count += 1.0;
    }
    ensure!(count > 0.0, "there are no questions");
    Ok((children_cpu()? - before) * 1_000.0 / count)
}

/// A command whose failure is an error with what it said.
trait Checked {
    fn checked(&mut self) -> Result<Output>;
}

impl Checked for Command {
    fn checked(&mut self) -> Result<Output> {
        let output = self.output().with_context(|| format!("cannot start {self:?}"))?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{self:?} failed: {} {told}", output.status);
        Ok(output)
    }
}

/// Returns the processor seconds of all children that have ended.
fn children_cpu() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("processor time needs Linux's /proc")?;
    // The name of the program, which may hold spaces, ends with the last bracket; user and system time of children are
    // fields 16 and 17, counted from the number of the process.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: f64 = fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS)
}

/// The values of both builds by figure, a pair for each round.
#[derive(Debug, Default)]
struct Figures(BTreeMap<String, [Vec<f64>; 2]>);

/// Medians of one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figure {
    base: f64,
    now: f64,
    /// The median of the rounds' ratios, the working tree's value by the base's.
    ratio: f64,
}

impl Figures {
    fn add(&mut self, name: &str, side: usize, value: f64) {
        let sides = self.0.entry(name.to_owned()).or_default();
        sides.iter_mut().skip(side).take(1).for_each(|values| values.push(value));
    }

    fn medians(self) -> BTreeMap<String, Figure> {
        let of = |[base, now]: [Vec<f64>; 2]| {
            let ratios = base.iter().zip(&now).map(|(base, now)| now / base).collect();
            Figure { ratio: median(ratios), base: median(base), now: median(now) }
        };
        self.0.into_iter().map(|(name, sides)| (name, of(sides))).collect()
    }
}

impl Figure {
    fn json(self) -> Value {
        json!({ "base": self.base, "now": self.now, "ratio": self.ratio })
    }
}

/// Returns the median, the lower one of two; 0 of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len().saturating_sub(1) / 2;
    values.get(middle).copied().unwrap_or_default()
}

fn table(figures: &BTreeMap<String, Figure>) -> String {
    let line = |(name, Figure { base, now, ratio }): (&String, &Figure)| {
        format!("{name:<24} base {base:>12.3}  now {now:>12.3}  ratio {ratio:.3}\n")
    };
    figures.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_median_of_the_rounds_ratios_counts_and_not_the_ratio_of_medians() {
        let mut figures = Figures::default();
        for (base, now) in [(10.0, 20.0), (40.0, 40.0), (20.0, 60.0)] {
            figures.add("project_beam", 0, base);
            figures.add("project_beam", 1, now);
        }
        let figure = figures.medians()["project_beam"];
        assert_eq!(figure, Figure { base: 20.0, now: 40.0, ratio: 2.0 });
        assert_eq!(figure.json()["ratio"], 2.0);
        assert_eq!(median(Vec::new()).to_bits(), 0);
    }

    #[test]
    fn a_request_needs_a_base_and_five_rounds() {
        let request = Request::read(&words("--base HEAD~1 --beam B --rounds 7 --json")).unwrap();
        assert_eq!((request.base.as_str(), request.rounds, request.is_json), ("HEAD~1", 7, true));
        assert_eq!(request.corpora, [("beam", PathBuf::from("B"))]);
        for (line, error) in [
            ("--json", "needs --base"),
            ("--base HEAD --rounds 3", "at least 5 rounds"),
            ("--base HEAD --events many", "--events needs a number"),
            ("--base", "needs a value"),
            ("--base HEAD --speed", "does not know --speed"),
        ] {
            assert!(Request::read(&words(line)).unwrap_err().to_string().contains(error), "{line}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_time_of_children_is_known() {
        let before = children_cpu().unwrap();
        Command::new("true").checked().unwrap();
        assert!(children_cpu().unwrap() >= before);
    }
}
