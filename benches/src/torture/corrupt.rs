//! Damaged files: no panic, no hang, no wrong answer that does not say so, and what is whole is recovered.
//!
//! A space is made once. For every run a copy of it is damaged, and a process of its own, with a limit on memory and time,
//! asks it everything and then recovers it. Each answer must be the one that the whole space gave, or say that something is
//! wrong with it.

mod damage;
mod reading;
mod sample;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use self::damage::{Damage, Kind};
pub use self::reading::read;
use self::reading::{Answer, Reading};
use self::sample::Sample;
use super::{Order, Report};
use crate::words::Dice;

/// The word that starts the program as the reader of a damaged file.
pub const READ: &str = "read-damaged";
/// Wall-clock limit of a reader; its main limit is on CPU time.
///
/// Source: own choice; other programs run on the machine, so the clock allows more than the CPU limit of 5 s.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pause between two looks at a reader.
const PAUSE: Duration = Duration::from_millis(2);

/// Runs the program.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let mut report = Report::of("corrupt", order);
    let folder = tempfile::tempdir()?;
    let sample = Sample::make(folder.path())?;
    let truths = Truths::of(&sample, &order.program, folder.path())?;
    // The order limits the time of the runs; what all of them need is made before.
    let started = now();
    for number in order.first..order.first + order.runs {
        if started.elapsed() >= order.time {
            break;
        }
        let mut dice = Dice::new(order.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let place = folder.path().join("run");
        let damage = damage::make(&sample, &place, &mut dice)?;
        let seen = ask(&order.program, &place, &sample)?;
        judge(number, &damage, seen, (&sample, &truths), &mut report);
        report.runs += 1;
        std::fs::remove_dir_all(&place)?;
    }
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

/// What a whole space answers: now, and at every earlier commit that a lost write-ahead log leads back to.
struct Truths {
    now: Reading,
    earlier: Vec<Reading>,
}

impl Truths {
    fn of(sample: &Sample, program: &Path, folder: &Path) -> Result<Self> {
        let mut all = Vec::new();
        for log in sample.earlier_logs() {
            let place = folder.join("truth");
            sample.write(&place, &sample.file, &log)?;
            let seen = ask(program, &place, sample)?;
            all.push(seen.reading.context("a whole space cannot be read")?);
            std::fs::remove_dir_all(&place)?;
        }
        let now = all.pop().context("there is no truth")?;
        Ok(Self { now, earlier: all })
    }
}

/// What became of a reader.
#[derive(Debug, Default)]
struct ReaderOutcome {
    reading: Option<Reading>,
    said: String,
    hung: bool,
}

/// Lets a process of its own read a space.
fn ask(program: &Path, place: &Path, sample: &Sample) -> Result<ReaderOutcome> {
    let ids = place.join("ids.json");
    std::fs::write(&ids, serde_json::to_vec(&sample.ids)?)?;
    let answer = place.join("answer.json");
    let said = place.join("said");
    let mut child = Command::new(program)
        .args([Path::new(READ), &place.join("space.db"), &ids, &answer])
        // What the allocator reserves where it begins is more than a reader may have.
        .env("MIMALLOC_ARENA_RESERVE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&said)?)
        .spawn()?;
    let hung = !ends(&mut child)?;
    let reading = std::fs::read(&answer).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(ReaderOutcome { reading, said: String::from_utf8_lossy(&std::fs::read(said)?).into_owned(), hung })
}

/// Waits for a reader; one that does not end is ended.
fn ends(child: &mut Child) -> Result<bool> {
    let started = now();
    while started.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            // A process that used up its CPU time was ended by a signal.
            return Ok(status.code().is_some());
        }
        #[expect(clippy::disallowed_methods, reason = "a supervisor waits for its process")]
        std::thread::sleep(PAUSE);
    }
    child.kill()?;
    child.wait()?;
    Ok(false)
}

#[expect(clippy::disallowed_methods, reason = "a programme measures how long it takes")]
fn now() -> Instant {
    Instant::now()
}

fn judge(
    number: u64,
    damage: &Damage,
    seen: ReaderOutcome,
    (sample, truths): (&Sample, &Truths),
    report: &mut Report,
) {
    report.count(damage.kind.name(), 1);
    let panicked = seen.said.contains("panicked");
    if seen.hung || panicked || seen.reading.is_none() {
        report.panics += 1;
        tell(number, damage, &format!("hung {}, said: {}", seen.hung, seen.said));
    }
    let Some(reading) = seen.reading else { return };
    let of_log = matches!(damage.kind, Kind::Log | Kind::ShortLog | Kind::OldLog);
    if of_log && truths.earlier.iter().any(|earlier| reading.wrong(earlier).is_empty()) {
        report.count("older states", 1);
    } else {
        let mut wrong = reading.wrong(&truths.now);
        // Another key draws other nonces, and they take part in the budget of a context.
        wrong.retain(|name| damage.kind != Kind::Key || !name.starts_with("context"));
        if !wrong.is_empty() {
            report.silent_wrong += 1;
            tell(number, damage, &format!("silently wrong: {wrong:?}"));
        }
    }
    report.count("told", u64::from(reading.told()));
    let saved = recovery(damage, &reading, sample);
    report.count("undamaged", saved.undamaged);
    report.count("recovered", saved.recovered);
    if saved.wrong > 0 {
        report.silent_wrong += 1;
        tell(number, damage, &format!("{} events were recovered as something else", saved.wrong));
    }
    if saved.recovered < saved.undamaged {
        report.count("files of which not all was recovered", 1);
        let (recovered, undamaged) = (saved.recovered, saved.undamaged);
        if recovered * 100 < undamaged * 99 {
            tell(number, damage, &format!("recovered {recovered} of {undamaged}: {}", reading.refused));
        }
    }
}

/// What was recovered.
#[derive(Debug, Default)]
struct RecoveryOutcome {
    undamaged: u64,
    recovered: u64,
    wrong: u64,
}

fn recovery(damage: &Damage, reading: &Reading, sample: &Sample) -> RecoveryOutcome {
    let mut saved = RecoveryOutcome::default();
    let found: BTreeMap<&str, &str> = reading.recovered.iter().map(|(id, what)| (&**id, &**what)).collect();
    for (id, what) in &sample.truth {
        let whole = sample.stretches.get(id).is_some_and(|all| !all.iter().any(|one| damage.touches(*one)));
        saved.undamaged += u64::from(whole);
        match found.get(id.as_str()) {
            Some(it) if it == what || damage.goes_back() => saved.recovered += u64::from(whole),
            Some(_) => saved.wrong += 1,
            None => {}
        }
    }
    let known = |id: &&&str| !sample.truth.contains_key(**id);
    saved.wrong += found.keys().filter(known).count() as u64;
    saved
}

#[expect(clippy::print_stderr, reason = "a run that went wrong is worth a line at once")]
fn tell(number: u64, damage: &Damage, what: &str) {
    let what: String = what.chars().take(600).collect();
    eprintln!("corrupt {number} ({}): {what}", damage.kind.name());
}

/// Returns an answer that says what is wrong.
fn told(error: &mnemal::Error) -> Answer {
    // That something is not there is an answer, and may be a wrong one.
    let told = error.kind() != mnemal::ErrorKind::NotFound;
    Answer { told, value: error.kind().as_str().to_owned() }
}
