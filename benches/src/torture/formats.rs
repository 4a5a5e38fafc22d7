//! Files of other programs, documents among them, with records removed, moved, doubled, of another type, or cut off: no
//! panic, no good record lost, and true counts.

mod chats;
mod damage;
mod documents;
mod notes;
mod sample;
mod stores;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use mnemal::events::{Cursor, DocumentReader, ImportReport, LinePolicy, Program};
use mnemal::types::InstallationKey;
use mnemal::{Engine, EventFilter, ImportFormat, ImportOptions, Memory, Scope, SpaceId};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{ManualClock, SeededIds};
use serde::Serialize;

use self::damage::{DamagedFile, damage};
use self::sample::{Layout, Sample, TextWriter};
use super::Order;
use crate::words::Dice;

/// More events than a file has.
const MANY: std::num::NonZeroUsize = std::num::NonZeroUsize::new(10_000).expect("not zero");

/// Makes a file.
type Make = fn(&mut TextWriter<'_>) -> Sample;

/// Every importer, with its file generator.
const IMPORTERS: [(&str, Make); 22] = [
    ("basic-memory", notes::basic_memory),
    ("chatgpt", chats::chatgpt),
    ("claude", chats::claude),
    ("claude-code", chats::claude_code),
    ("claude-mem", stores::claude_mem),
    ("codex", chats::codex),
    ("cogx", stores::cogx),
    ("gemini-cli", chats::gemini_cli),
    ("gemini-takeout", chats::gemini_takeout),
    ("gemini-takeout-html", chats::gemini_takeout_page),
    ("hindsight", stores::hindsight),
    ("jsonl", stores::own),
    ("langchain", chats::langchain),
    ("letta", stores::letta),
    ("mcp-memory", stores::mcp_memory),
    ("mem0", stores::mem0),
    ("memory-md", notes::memory_md),
    ("neutral", chats::neutral),
    ("obsidian", notes::obsidian),
    ("openai", chats::openai),
    ("rockbot", stores::rockbot),
    ("zep", stores::zep),
];

/// Results of the files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// The program.
    pub name: &'static str,
    /// Seed of every random choice.
    pub seed: u64,
    /// Number of the first file of each importer.
    pub first: u64,
    /// By importer.
    pub importers: BTreeMap<&'static str, Tally>,
    /// All of them.
    pub total: Tally,
    /// Duration.
    pub seconds: f64,
}

impl Outcome {
    fn add(&mut self, name: &'static str, tally: &Tally) {
        self.importers.entry(name).or_default().add(tally);
        self.total.add(tally);
    }

    /// Whether nothing went wrong.
    pub fn is_clean(&self) -> bool {
        let total = &self.total;
        [total.panics, total.lost, total.doubled, total.false_counts] == [0; 4]
    }
}

/// Results of the files of one importer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Files that were read.
    pub files: u64,
    /// Texts of good records in them.
    pub records: u64,
    /// Readers that panicked.
    pub panics: u64,
    /// Texts of good records that were not stored, and files that were refused though good records are in them.
    pub lost: u64,
    /// Texts that were stored twice though their records have names.
    pub doubled: u64,
    /// Reports that omit or misstate the fate of a record.
    pub false_counts: u64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.records += other.records;
        self.panics += other.panics;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.false_counts += other.false_counts;
    }
}

/// Runs the program; `runs` of the order counts the files of each importer.
///
/// # Errors
/// When the program itself cannot run; findings are in the outcome.
pub fn run(order: &Order) -> Result<Outcome> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let mut outcome = Outcome { name: "formats", seed: order.seed, first: order.first, ..Outcome::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start a runtime")?;
    let guarded =
        Program { path: order.program.clone(), arguments: vec![mnemal::events::GUARDED.to_owned()] };
    let reader = DocumentReader { guarded: Some(guarded), ..DocumentReader::default() };
    for number in order.first..order.first + order.runs {
        if start.elapsed() >= order.time {
            break;
        }
        for (place, (name, make)) in (0_u64..).zip(IMPORTERS) {
            let mut dice = Dice::new(seed(order, number, place));
            let sample = make(&mut TextWriter::new(&mut dice));
            let damaged = damage(&sample, &mut dice);
            let read = catch_unwind(AssertUnwindSafe(|| runtime.block_on(read(&sample, &damaged.text))));
            let tally = judge((name, number), &sample, &damaged, read.ok());
            outcome.add(name, &tally);
        }
        for (place, shape) in (32_u64..).zip(&documents::SHAPES) {
            let mut dice = Dice::new(seed(order, number, place));
            let tally = documents::run(shape, number, &mut dice, (&runtime, &reader))?;
            outcome.add(shape.name, &tally);
        }
    }
    outcome.seconds = start.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Returns what the choices of a file follow from.
fn seed(order: &Order, number: u64, place: u64) -> u64 {
    order.seed.wrapping_add((number * 64 + place).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// What a space holds behind an import, and what was said of it.
struct ImportState {
    texts: Vec<String>,
    report: std::result::Result<ImportReport, mnemal::Error>,
}

/// Reads a file into a new space; by its name only where its bytes do not tell its format any more.
async fn read(sample: &Sample, text: &str) -> Result<ImportState> {
    let memory = memory()?;
    let now = memory.admin().engine().now();
    let options = ImportOptions { lenient: LinePolicy::Yes, ..ImportOptions::new(sample.name, now) };
    let is_told =
        mnemal::events::import_format(text.as_bytes(), sample.name).is_ok_and(|told| told == sample.format);
    let format = if is_told { ImportFormat::Auto } else { sample.format };
    let report = memory.events().import(text.as_bytes(), format, options, &mut |_| ()).await;
    Ok(ImportState { texts: texts_of(&memory).await?, report: report.map(|read| read.value) })
}

/// Returns a space of its own.
fn memory() -> Result<Memory> {
    let engine = Engine::builder()
        .with_stores(Stores::all(Arc::new(MemoryStore::new())))
        .with_clock(Arc::new(ManualClock::default()))
        .with_ids(Arc::new(SeededIds::new(7)))
        .with_key(InstallationKey::new([7; 32]))
        .build()?;
    Ok(engine.memory(Scope::whole(SpaceId::new("formats")?)))
}

/// Returns what a space holds.
async fn texts_of(memory: &Memory) -> Result<Vec<String>> {
    let events = memory.events().scan(&EventFilter::live(), Cursor::START, MANY).await?;
    Ok(events.iter().filter_map(mnemal::Event::body).map(|kept| kept.content.clone()).collect())
}

/// Says what went wrong with a file.
fn judge(
    (name, number): (&str, u64),
    sample: &Sample,
    damaged: &DamagedFile,
    read: Option<Result<ImportState>>,
) -> Tally {
    let mut tally = Tally { files: 1, records: damaged.sure.len() as u64, ..Tally::default() };
    let blame = |what: String| {
        #[expect(clippy::print_stderr, reason = "the numbers say how often, this says what")]
        {
            eprintln!("{name} {number}: {what}; {}", damaged.what.join(", "));
        }
    };
    let Some(read) = read else {
        blame("panicked".to_owned());
        tally.panics = 1;
        return tally;
    };
    let taken = match read {
        Ok(taken) => taken,
        Err(why) => {
            blame(format!("cannot be read: {why:#}"));
            tally.lost = 1;
            return tally;
        }
    };
    let stored: BTreeMap<usize, usize> = counts(&taken.texts);
    let lost: Vec<usize> = damaged.sure.iter().copied().filter(|text| !stored.contains_key(text)).collect();
    if !lost.is_empty() {
        let why = taken.report.as_ref().err().map(ToString::to_string);
        blame(format!("lost {lost:?} {}", why.unwrap_or_default()));
        tally.lost = lost.len() as u64;
    }
    let doubled: Vec<usize> = stored.iter().filter(|(_, count)| **count > 1).map(|(text, _)| *text).collect();
    if !doubled.is_empty() && (damaged.is_whole || damaged.has_names && damaged.is_sound) {
        blame(format!("doubled {doubled:?}"));
        tally.doubled = doubled.len() as u64;
    }
    for wrong in taken.report.iter().flat_map(|report| wrong_counts(sample, damaged, report, &taken.texts)) {
        blame(wrong);
        tally.false_counts += 1;
    }
    tally
}

fn counts(texts: &[String]) -> BTreeMap<usize, usize> {
    let mut stored = BTreeMap::new();
    for number in texts.iter().flat_map(|text| sample::kept(text)) {
        *stored.entry(number).or_default() += 1;
    }
    stored
}

/// Returns what of a report is not so.
fn wrong_counts(
    sample: &Sample,
    damaged: &DamagedFile,
    report: &ImportReport,
    texts: &[String],
) -> Vec<String> {
    let mut wrong = Vec::new();
    let taken = &report.taken;
    if taken.stored != texts.len() as u64 + report.withdrawn {
        wrong.push(format!("{} stored, {} are there", taken.stored, texts.len()));
    }
    if damaged.is_sound && report.broken > 0 {
        wrong.push(format!("nothing is broken: {:?}", report.skipped));
    }
    let is_counted = damaged.is_sound && !damaged.has_twins && damaged.gone.is_empty();
    if is_counted && report.skipped_total != damaged.named as u64 {
        let skipped = &report.skipped;
        wrong.push(format!(
            "{} texts of the program, {} named: {skipped:?}",
            damaged.named, report.skipped_total
        ));
    }
    let said: sample::Texts = texts.iter().flat_map(|text| sample::kept(text)).collect();
    let taken_back: sample::Texts = texts.iter().flat_map(|text| sample::gone(text)).collect();
    if damaged.is_whole && !taken_back.is_empty() {
        wrong.push(format!("{taken_back:?} were taken back, and are there"));
    }
    let missing = damaged.present.difference(&said);
    let is_named = |text: &usize| {
        let place = damaged.places.get(text).copied();
        let is_told =
            |line: u64| damaged.is_cut || sample.layout == Layout::Text || line == 1 || Some(line) == place;
        taken.empty + taken.refused.len() as u64 > 0 || report.skipped.iter().any(|one| is_told(one.line))
    };
    let silent: Vec<&usize> = missing.filter(|text| !is_named(text)).collect();
    if !silent.is_empty() {
        wrong.push(format!("nothing is said of {silent:?}: {:?}", report.skipped));
    }
    let lines = damaged.text.lines().count() as u64;
    // The one line of a file that is cut off may as well be a document.
    if sample.layout == Layout::Lines && report.lines != lines && (lines > 1 || !damaged.is_cut) {
        wrong.push(format!("{lines} lines, {} counted", report.lines));
    }
    wrong
}
