//! All answers of a space, and the comparison of two such accounts for silent errors.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use mnemal::events::Cursor;
use mnemal::types::{Degraded, GapCause, Status};
use mnemal::{
    Engine, Event, EventFilter, EventId, Gap, LearningFilter, Memory, NoteKey, Role, Scope, SessionId,
    SpaceId, Within,
};
use mnemal_testkit::{ManualClock, SeededIds};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::told;

/// Most memory of a reader. Source: own default, one gigabyte of addresses; a reader of the sample uses 60 MB.
const MEMORY: u64 = 1 << 30;
/// CPU limit in seconds; a longer read counts as a hang. Source: own choice.
const SECONDS: u64 = 5;
/// Events a page.
const PAGE: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not zero");
/// The question.
const QUESTIONS: [&str; 4] =
    ["where is the barometer?", "tide and salt", "which drawer holds the hawser", "gull lamp chart"];

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Answer {
    /// Whether it says that something is wrong or missing.
    pub(super) told: bool,
    /// Its answer, hashed.
    pub(super) value: String,
}

/// All answers of a space.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Reading {
    answers: BTreeMap<String, Answer>,
    /// Whether a check of all bytes found something.
    damaged: bool,
    /// Why nothing was recovered.
    pub(super) refused: String,
    /// Every event of the recovered space.
    pub(super) recovered: Vec<(String, String)>,
}

impl Reading {
    /// Names the answers that are not those of the truth and do not say so.
    pub(super) fn wrong(&self, truth: &Self) -> Vec<String> {
        let wrong = self.answers.iter().filter(|(name, answer)| {
            let expected = truth.answers.get(*name).filter(|expected| !expected.told);
            !answer.told && expected.is_some_and(|expected| expected.value != answer.value)
        });
        wrong.map(|(name, _)| name.clone()).collect()
    }

    /// Whether some answer says that something is wrong.
    pub(super) fn told(&self) -> bool {
        self.damaged || self.answers.values().any(|answer| answer.told)
    }

    fn note<T: Debug>(&mut self, name: impl Into<String>, answer: mnemal::Result<T>) {
        let answer = match answer {
            Ok(value) => Answer { told: false, value: hash(&value) },
            Err(error) => told(&error),
        };
        self.answers.insert(name.into(), answer);
    }

    fn note_degraded<T: Debug>(&mut self, name: impl Into<String>, answer: mnemal::Result<Degraded<T>>) {
        let name = name.into();
        let gaps = answer.as_ref().is_ok_and(|answer| has_gaps(&answer.gaps));
        self.note(name.clone(), answer.map(|answer| answer.value));
        if let Some(answer) = self.answers.get_mut(&name) {
            answer.told |= gaps;
        }
    }
}

fn has_gaps(gaps: &[Gap]) -> bool {
    gaps.iter().any(|gap| gap.cause != GapCause::NotConfigured)
}

fn hash(value: &impl Debug) -> String {
    let mut hasher = DefaultHasher::new();
    format!("{value:?}").hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Says what an event is, whatever its position; a link to an event that is lost may be missing.
pub(super) fn digest(event: &Event) -> String {
    let Some(kept) = event.body() else {
        return hash(&(event.id, event.recorded_at, event.role, "erased"));
    };
    let mut kept = kept.clone();
    kept.parent = None;
    hash(&(
        event.id,
        event.recorded_at,
        event.role,
        event.trust,
        event.level,
        &event.quarantined,
        &event.echo,
        kept,
    ))
}

/// Reads a space as a process of its own: `DATABASE IDS ANSWER`.
///
/// # Errors
/// When its arguments are wrong, or the answer cannot be written.
pub fn read(arguments: &[String]) -> Result<()> {
    let [database, ids, answer] = arguments else { anyhow::bail!("DATABASE IDS ANSWER are needed") };
    limit(Resource::As, MEMORY)?;
    limit(Resource::Cpu, SECONDS)?;
    let ids: Vec<String> = serde_json::from_slice(&std::fs::read(ids)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let reading = runtime.block_on(everything(Path::new(database), &ids))?;
    std::fs::write(answer, serde_json::to_vec(&reading)?).context("cannot write the answers")
}

fn limit(resource: Resource, most: u64) -> Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

async fn everything(database: &Path, ids: &[String]) -> Result<Reading> {
    let mut reading = Reading::default();
    let copy = copied(database)?;
    match open(database).await {
        Ok(memory) => {
            log(&memory, ids, &mut reading).await?;
            answers(&memory, &mut reading).await?;
            let found = memory.admin().engine().check().await;
            reading.damaged = found.is_err() || found.is_ok_and(|found| !found.findings.is_empty());
            // What cannot be written to cannot always be closed well.
            drop(memory.admin().engine().close().await);
        }
        Err(error) => drop(reading.answers.insert("open".to_owned(), told(&error))),
    }
    let out = copy.with_file_name("recovered.db");
    if let Err(error) = builder().recover(&copy, Some(&out)).await {
        reading.refused = error.to_string();
        return Ok(reading);
    }
    let saved = open(&out).await?;
    let mut after = Cursor::START;
    while let Some(events) = page(&saved, &mut after).await? {
        reading.recovered.extend(events.iter().map(|event| (event.id.to_string(), digest(event))));
    }
    Ok(reading)
}

/// Copies the files before any open: an open merges what looks like its write-ahead log.
fn copied(database: &Path) -> Result<std::path::PathBuf> {
    let folder = database.with_file_name("copy");
    std::fs::create_dir_all(&folder)?;
    for name in ["space.db", "space.db-wal", "installation.key"] {
        let from = database.with_file_name(name);
        if from.exists() {
            std::fs::copy(from, folder.join(name))?;
        }
    }
    Ok(folder.join("space.db"))
}

async fn page(memory: &Memory, after: &mut Cursor) -> Result<Option<Vec<Event>>> {
    let events = memory.events().scan(&EventFilter::all(), *after, PAGE).await?;
    let Some(last) = events.last() else { return Ok(None) };
    *after = Cursor(Some(last.seq));
    Ok(Some(events))
}

fn builder() -> mnemal::Builder {
    let clock = Arc::new(ManualClock::default());
    clock.advance(Duration::from_hours(30 * 24));
    Engine::builder().with_clock(clock).with_ids(Arc::new(SeededIds::new(99)))
}

async fn open(database: &Path) -> mnemal::Result<Memory> {
    Ok(builder().open(database).await?.memory(Scope::whole(SpaceId::new("sample")?)))
}

async fn log(memory: &Memory, ids: &[String], reading: &mut Reading) -> Result<()> {
    for id in ids {
        reading.note(format!("get {id}"), memory.events().get(id.parse::<EventId>()?).await);
    }
    let mut after = Cursor::START;
    for number in 0.. {
        let page = memory.events().scan(&EventFilter::all(), after, PAGE).await;
        let last = page.as_ref().ok().and_then(|events| events.last().map(|event| event.seq));
        reading.note(format!("scan {number}"), page);
        // An unreadable page ends the scan; the caller handles that.
        let Some(last) = last else { break };
        after = Cursor(Some(last));
    }
    for watch in 0..5 {
        let session = Within::Only(SessionId::new(format!("watch:{watch}"))?);
        let filter = EventFilter { session, ..EventFilter::live() };
        reading.note(format!("session {watch}"), memory.events().latest(&filter, PAGE).await);
    }
    let decisions = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::all() };
    reading.note("decisions", memory.events().scan(&decisions, Cursor::START, PAGE).await);
    reading.note("sessions", memory.events().sessions(PAGE).await);
    reading.note("latest", memory.events().latest(&EventFilter::all(), PAGE).await);
    let mut out = Vec::new();
    let exported = memory.admin().export(&mut out).await;
    reading.note("export", exported.map(|exported| (exported, out)));
    Ok(())
}

async fn answers(memory: &Memory, reading: &mut Reading) -> Result<()> {
    for question in QUESTIONS {
        let answer = memory.recall(question).limit(10).await.map(|answer| {
            let hits = answer.value.hits.into_iter().map(|hit| (hit.event, hit.found_by)).collect::<Vec<_>>();
            Degraded { value: hits, gaps: answer.gaps }
        });
        reading.note_degraded(format!("recall {question}"), answer);
        let session = SessionId::new("asker")?;
        let context = memory.context(question).session(session).budget(6_000).await.map(|context| {
            let lines = context.value.receipt.lines.iter();
            let lines = lines.map(|line| (line.record, line.content_hash, line.section)).collect::<Vec<_>>();
            Degraded { value: lines, gaps: context.gaps }
        });
        reading.note_degraded(format!("context {question}"), context);
    }
    reading.note("notes", memory.preferences().notes(&LearningFilter::all()).await);
    for drawer in 0..9 {
        let key = NoteKey::new(format!("drawer_{drawer}"))?;
        reading.note(format!("history {drawer}"), memory.preferences().history(&key).await);
    }
    let health = memory.admin().health().await;
    let well = health.as_ref().is_ok_and(|health| {
        health
            .parts
            .iter()
            .all(|part| part.status == Status::Ok || part.cause == Some(GapCause::NotConfigured))
    });
    reading.answers.insert("health".to_owned(), Answer { told: !well, value: String::new() });
    Ok(())
}
