//! Canaries over every path that data can take are forgotten; then no byte holds one, none comes back, and nothing else is
//! gone.
//!
//! A canary is a sentence with one word that stands nowhere else. The search is not the engine's: every file below the home
//! is read as it is and as base64, UTF-16, JSON and addresses would write the word.

mod canary;
mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use mnemal::admin::RebuildMode;
use mnemal::events::{DocumentReader, FolderInbox, FolderOptions, Selector};
use mnemal::ports::{Clock as _, SystemClock};
use mnemal::types::{InstallationKey, Layer, OwnerId, ToolName};
use mnemal::working::PutOptions;
use mnemal::{
    Engine, ErrorKind, EventFilter, EventId, ImportFormat, ImportOptions, LearningFilter, LearningKind,
    Memory, Message, Scope, SessionId, SpaceId, Timestamp,
};
use serde::Serialize;

use self::canary::{Canary, Echo, Kind};
use self::scan::holding;
use super::Order;

/// Turns that are never forgotten. Source: own choice, so that canaries have neighbors in blocks and on pages.
const OTHERS: usize = 180;
/// Canaries of a kind that are forgotten one by one, by the selector of their kind; the others go in one call.
const ALONE: usize = 2;
/// Attempts until the graph has read everything.
const PATIENCE: usize = 500;

/// The result. `found_before` must be `canaries`; `found_after`, `came_back`, `collateral` and `unverified` must be 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Name of the program.
    pub name: &'static str,
    /// The seed.
    pub seed: u64,
    /// Canaries that were laid out.
    pub canaries: usize,
    /// Number of each kind.
    pub kinds: BTreeMap<&'static str, usize>,
    /// Canaries that a file held before anything was forgotten.
    pub found_before: usize,
    /// Canaries that a file held afterwards.
    pub found_after: usize,
    /// Canaries that a file held, or that recall found, after replay, import, restore and work of the background, by what
    /// brought them.
    pub back_by: BTreeMap<&'static str, usize>,
    /// Their sum.
    pub came_back: usize,
    /// Memories of others that were gone or changed, and questions about them with another answer.
    pub collateral: usize,
    /// Forgets that did not say that the bytes were searched and hold nothing.
    pub unverified: usize,
    /// Calls of forget.
    pub forgets: usize,
    /// Rows removed with the events: notes, lines of receipts, answers of the model, entries of working memory, files.
    pub rows: BTreeMap<&'static str, u64>,
}

impl Report {
    /// Whether nothing was left, came back or went with it.
    pub fn is_clean(&self) -> bool {
        let wrong = [self.found_after, self.came_back, self.collateral, self.unverified];
        wrong == [0; 4] && self.found_before == self.canaries && self.canaries > 0
    }
}

/// Runs the program with `order.runs` canaries.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut scene = Scene::new(order).await?;
        scene.lay_out().await?;
        scene.forget_all().await?;
        Box::pin(scene.bring_back()).await?;
        scene.memory.admin().engine().close().await?;
        Ok(scene.report)
    })
}

/// What is left of the others: texts by event, notes, hits of questions.
#[derive(Debug, PartialEq, Eq)]
struct Others {
    turns: BTreeMap<EventId, Option<String>>,
    notes: BTreeSet<String>,
    working: BTreeMap<String, String>,
    files: BTreeSet<String>,
    found: Vec<Vec<EventId>>,
}

struct Scene {
    /// Everything that the engine writes.
    home: tempfile::TempDir,
    /// Exports and backups, which are the user's.
    away: tempfile::TempDir,
    memory: Memory,
    canaries: Vec<Canary>,
    others: Vec<EventId>,
    report: Report,
}

impl Scene {
    async fn new(order: &Order) -> Result<Self> {
        let (home, away) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let memory = open(&home).await?;
        let count = usize::try_from(order.runs).context("so many canaries")?;
        let canaries = canary::flock(count, order.seed);
        let report = Report { name: "erase", seed: order.seed, canaries: count, ..Report::default() };
        Ok(Self { home, away, memory, canaries, others: Vec::new(), report })
    }

    fn inbox(&self) -> PathBuf {
        self.home.path().join("inbox")
    }

    /// Says everything: the others first and last, the canaries in between.
    async fn lay_out(&mut self) -> Result<()> {
        self.say_others(0..OTHERS / 2).await?;
        let mut canaries = std::mem::take(&mut self.canaries);
        for canary in &mut canaries {
            *self.report.kinds.entry(canary.kind.as_str()).or_default() += 1;
            self.lay(canary).await?;
        }
        fs::write(
            self.inbox().join("other.md"),
            "# Opening hours\n\nThe library opens at nine on weekdays.\n",
        )?;
        let clock = SystemClock::default();
        while self.memory.admin().engine().inbox_standing().await?.is_some_and(|inbox| inbox.waiting > 0) {
            let _taken = self.memory.admin().engine().take_inbox(Duration::from_mins(1)).await?;
        }
        self.say_others(OTHERS / 2..OTHERS).await?;
        self.memory.working()?.put("other", "the library opens at nine".to_owned(), keep()).await?;
        let owner = OwnerId::new("erase")?;
        let until = clock.monotonic() + Duration::from_mins(10);
        while self.memory.admin().engine().graph_state().await?.is_due || self.is_behind().await? {
            let _tended = self.memory.admin().engine().maintain(&owner).await?;
            ensure!(clock.monotonic() < until, "the background finds no end");
        }
        let _cycle = self.memory.admin().engine().dream(&owner, mnemal::dream::DreamMode::Asked).await?;
        self.memory.admin().engine().refresh_summaries().await?;
        // What is shown is remembered too: by receipts, and by what a session saw.
        for canary in &mut canaries {
            let session = SessionId::new(format!("reader-{}", canary.number))?;
            let _context = self.memory.context(&canary.question).session(session).await?;
            canary.events = self.events_of(canary).await?;
            ensure!(!canary.events.is_empty(), "{} is in no event", canary.word);
        }
        self.canaries = canaries;
        let mut export = Vec::new();
        self.memory.admin().export(&mut export).await?;
        fs::write(self.away.path().join("export.jsonl"), export)?;
        self.memory.admin().backup(&self.away.path().join("backup.db")).await?;
        self.report.found_before = holding(self.home.path(), &self.words())?.len();
        Ok(())
    }

    async fn is_behind(&self) -> Result<bool> {
        let health = self.memory.admin().health().await?;
        Ok(health
            .parts
            .iter()
            .any(|part| part.layer == Layer::Graph && part.status != mnemal::types::Status::Ok))
    }

    async fn say_others(&mut self, numbers: std::ops::Range<usize>) -> Result<()> {
        for number in numbers {
            let text =
                format!("On day {number} the gardener watered bed {} of the old park.", number * 7 % 90);
            let session = SessionId::new(format!("garden-{}", number % 9))?;
            self.others.push(self.memory.log(Message::user(text).session(session)).await?.value.id);
            if number % 50 == 0 {
                let note = format!("Bed {number} of the old park has roses of its own.");
                let ack = self.memory.remember(note).by_user().await?;
                self.others.push(ack.value.event);
            }
        }
        Ok(())
    }

    /// Brings a canary into the space by the path of its kind.
    async fn lay(&self, canary: &Canary) -> Result<()> {
        let (memory, text) = (&self.memory, &canary.sentence);
        let session = SessionId::new(canary.session())?;
        match canary.kind {
            Kind::Turn => {
                let turn = Message::user(text).session(session).metadata("caption", canary.caption());
                drop(memory.log(turn).await?);
            }
            Kind::Reply => drop(memory.log(Message::assistant(text).session(session)).await?),
            Kind::ToolResult => {
                let tool = ToolName::new("look_up")?;
                drop(memory.log(Message::tool_result(tool, text).session(session)).await?);
            }
            Kind::Note => drop(memory.remember(text).key(canary.key()?).by_user().await?),
            Kind::Preference | Kind::Fact | Kind::Receipt => {
                drop(memory.log(Message::user(text).session(session)).await?);
            }
            Kind::Summary => {
                for part in ["Good morning to all of you at the desk.", text, "That is all for the day now."]
                {
                    drop(memory.log(Message::user(part).session(session.clone())).await?);
                }
            }
            Kind::Compression => {
                for part in [text.as_str(), "We speak of it later.", "What else is there?", "Nothing else."] {
                    drop(memory.log(Message::user(part).session(session.clone())).await?);
                }
                let done = memory.events().compress(session).keep_last(1).await?;
                ensure!(done.value.entry.is_some(), "nothing was compressed");
            }
            Kind::Completion => {
                let id = memory.log(Message::user(text).session(session)).await?.value.id;
                drop(memory.facts().extract_with_model(id).await?);
            }
            Kind::Working => {
                drop(memory.log(Message::user(text).session(session.clone())).await?);
                let value = format!("The plan of today. {text}");
                memory.for_session(session).working()?.put("plan", value, keep()).await?;
            }
            Kind::Document => {
                fs::create_dir_all(self.inbox())?;
                let draft = self.inbox().join(".draft");
                fs::write(&draft, format!("# Memo {}\n\n{text}\n", canary.number))?;
                fs::rename(draft, self.inbox().join(format!("memo-{}.md", canary.number)))?;
            }
        }
        Ok(())
    }

    /// Returns the events that hold a canary, operations of the engine left out: they must follow.
    async fn events_of(&self, canary: &Canary) -> Result<Vec<EventId>> {
        let mut ids = Vec::new();
        let mut after = mnemal::events::Cursor::START;
        loop {
            let page = self.memory.events().scan(&EventFilter::all(), after, scan::PAGE).await?;
            let Some(last) = page.last() else { return Ok(ids) };
            after = mnemal::events::Cursor(Some(last.seq));
            let said = page.iter().filter(|event| {
                event.body().is_some_and(|kept| {
                    kept.content.contains(&canary.word)
                        && !matches!(kept.kind, mnemal::EventKind::Operation(_))
                })
            });
            ids.extend(said.map(|event| event.id));
        }
    }

    fn words(&self) -> Vec<String> {
        self.canaries.iter().map(|canary| canary.word.clone()).collect()
    }

    async fn others(&self) -> Result<Others> {
        let mut turns = BTreeMap::new();
        for id in &self.others {
            let event = self.memory.events().get(*id).await?;
            turns.insert(*id, event.body().map(|kept| kept.content.clone()));
        }
        let is_other = |text: &str| !self.canaries.iter().any(|canary| text.contains(&canary.word));
        let notes = self.memory.preferences().all_learnings(&LearningFilter::all()).await?;
        let notes = notes
            .into_iter()
            .filter(|note| note.kind != LearningKind::Tool && is_other(&note.content))
            .map(|note| format!("{} {:?} {}", note.id, note.status, note.content))
            .collect();
        let mut working = BTreeMap::new();
        let entry = self.memory.working()?.get("other").await?;
        working.insert("other".to_owned(), entry.value);
        let files = fs::read_dir(self.inbox().join("processed"))?;
        let files = files.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let files = files.filter(|name| !name.starts_with("memo-")).collect();
        let mut found = Vec::new();
        for number in (0..OTHERS).step_by(60) {
            let question = format!("Which bed did the gardener water on day {number}?");
            let hits = self.memory.recall(question).limit(3).await?;
            let best = hits.hits.iter().filter(|hit| self.others.contains(&hit.event.id));
            found.push(best.map(|hit| hit.event.id).take(1).collect());
        }
        Ok(Others { turns, notes, working, files, found })
    }

    /// Forgets every canary, and looks at what is left.
    async fn forget_all(&mut self) -> Result<()> {
        let before = self.others().await?;
        let canaries = std::mem::take(&mut self.canaries);
        for kind in Kind::ALL {
            let of: Vec<&Canary> = canaries.iter().filter(|canary| canary.kind == kind).collect();
            let (alone, together) = of.split_at(ALONE.min(of.len()));
            for canary in alone {
                let selector = self.selector(canary).await?;
                self.forget(selector).await?;
            }
            let rest: Vec<EventId> = together.iter().flat_map(|canary| canary.events.clone()).collect();
            if !rest.is_empty() {
                self.forget(Selector::Events(rest)).await?;
            }
        }
        self.canaries = canaries;
        let found = holding(self.home.path(), &self.words())?;
        for (word, place) in &found {
            tell(format_args!("{word} is left in {place}"));
        }
        self.report.found_after = found.len();
        let after = self.others().await?;
        let gone = before.turns.iter().filter(|(id, text)| after.turns.get(id) != Some(text)).count();
        let parts = [
            before.notes.difference(&after.notes).count(),
            usize::from(before.working != after.working),
            before.files.difference(&after.files).count(),
            before.found.iter().zip(&after.found).filter(|(one, other)| one != other).count(),
        ];
        self.report.collateral = gone + parts.iter().sum::<usize>();
        if self.report.collateral > 0 {
            tell(format_args!("collateral: {gone} turns, {parts:?} notes, entries, files, questions"));
        }
        Ok(())
    }

    async fn selector(&self, canary: &Canary) -> Result<Selector> {
        Ok(match canary.kind {
            Kind::Note => Selector::Key(canary.key()?),
            Kind::Summary | Kind::Working => Selector::Session(SessionId::new(canary.session())?),
            Kind::Fact => {
                let always = mnemal::AsOf::present(Timestamp::MAX);
                for _ in 0..PATIENCE {
                    let graph = self.memory.facts().graph().await?;
                    let entity = graph.value.whom(&canary.word, always).await;
                    let named = match entity {
                        Ok(entity) => self.memory.facts().naming(entity.id).await,
                        Err(error) => Err(error),
                    };
                    match named {
                        Ok(events) => return Ok(Selector::Events(events)),
                        Err(error) if error.kind() == ErrorKind::Unavailable => {}
                        Err(_) => return Ok(Selector::Events(canary.events.clone())),
                    }
                }
                Selector::Events(canary.events.clone())
            }
            Kind::Turn => {
                let session = mnemal::Within::Only(SessionId::new(canary.session())?);
                let filter = EventFilter { session, ..EventFilter::all() };
                Selector::Events(self.memory.events().selected(&filter.into()).await?)
            }
            _ => Selector::Events(canary.events.clone()),
        })
    }

    async fn forget(&mut self, selector: Selector) -> Result<()> {
        let erasure = self.memory.forget(selector).await?;
        self.report.forgets += 1;
        let counts = [
            ("notes", erasure.learnings),
            ("lines of receipts", erasure.receipts),
            ("answers of the model", erasure.completions),
            ("entries of working memory", erasure.working),
            ("files of the inbox", erasure.files),
        ];
        for (name, count) in counts {
            *self.report.rows.entry(name).or_default() += count;
        }
        if !erasure.verified() {
            self.report.unverified += 1;
            tell(format_args!("not verified: {:?}", erasure.residual));
        }
        let receipt = erasure.receipt.context("a forget has a receipt")?;
        receipt.verify()?;
        Ok(())
    }

    /// Tries every way back, one behind the other.
    async fn bring_back(&mut self) -> Result<()> {
        self.replay().await?;
        self.judge("replay of the transcript").await?;
        self.import_export().await?;
        self.judge("import of an older export").await?;
        self.import_foreign().await?;
        self.judge("import from elsewhere").await?;
        self.drop_files().await?;
        self.judge("the same file in the inbox").await?;
        let engine = self.memory.admin().engine().clone();
        for layer in [Layer::Graph, Layer::Learnings, Layer::Summaries, Layer::Lexical] {
            engine.rebuild(layer, RebuildMode::Anew).await?;
        }
        let owner = OwnerId::new("erase")?;
        let _cycle = engine.dream(&owner, mnemal::dream::DreamMode::Asked).await?;
        let _tended = engine.maintain(&owner).await?;
        self.judge("rebuild, dream and upkeep").await?;
        self.restore().await?;
        self.judge("restore of an older backup").await
    }

    /// The agent and a tool say it again, in the same words.
    async fn replay(&self) -> Result<()> {
        let again = SessionId::new("replay")?;
        for canary in &self.canaries {
            let tool = ToolName::new("look_up")?;
            for message in
                [Message::assistant(&canary.sentence), Message::tool_result(tool, &canary.sentence)]
            {
                match self.memory.log(message.session(again.clone())).await {
                    Err(error) if error.kind() != ErrorKind::Invalid => return Err(error.into()),
                    _refused_or_stored => {}
                }
            }
        }
        Ok(())
    }

    async fn import_export(&self) -> Result<()> {
        let export = fs::read(self.away.path().join("export.jsonl"))?;
        let options = ImportOptions::new("export.jsonl", self.memory.admin().engine().now());
        drop(
            self.memory
                .events()
                .import(Cursor::new(export), ImportFormat::Mnemal, options, &mut |_| ())
                .await?,
        );
        Ok(())
    }

    async fn import_foreign(&self) -> Result<()> {
        let mut lines = String::new();
        for canary in &self.canaries {
            let line = serde_json::json!({
                "id": format!("x{}", canary.number), "conv": "c", "session": "imported", "speaker": "Ada",
                "ts": "2026-01-01T10:00:00", "text": canary.sentence, "caption": canary.caption(),
            });
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
        let options = ImportOptions::new("chats.jsonl", self.memory.admin().engine().now());
        drop(
            self.memory
                .events()
                .import(Cursor::new(lines), ImportFormat::Neutral, options, &mut |_| ())
                .await?,
        );
        Ok(())
    }

    async fn drop_files(&self) -> Result<()> {
        for canary in self.canaries.iter().filter(|canary| canary.kind == Kind::Document) {
            let text = format!("# Memo {}\n\n{}\n", canary.number, canary.sentence);
            fs::write(self.inbox().join(format!("memo-{}.md", canary.number)), text)?;
        }
        while self.memory.admin().engine().inbox_standing().await?.is_some_and(|inbox| inbox.waiting > 0) {
            let _taken = self.memory.admin().engine().take_inbox(Duration::from_mins(1)).await?;
        }
        // The user put them there again; what they say must not have come into the space.
        let processed = self.inbox().join("processed");
        for entry in fs::read_dir(&processed)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("memo-") {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    async fn restore(&mut self) -> Result<()> {
        self.memory.admin().engine().close().await?;
        let file = self.home.path().join("space.db");
        let elsewhere = open(&self.away).await?;
        let memory = std::mem::replace(&mut self.memory, elsewhere);
        drop(memory);
        let restored = Engine::builder()
            .with_key(InstallationKey::new([7; 32]))
            .restore(&SpaceId::new("space")?, &self.away.path().join("backup.db"), &file)
            .await?;
        ensure!(restored.forgotten_again > 0, "the backup held nothing that was forgotten");
        self.memory = open(&self.home).await?;
        Ok(())
    }

    /// Counts what a file holds again, or recall finds.
    async fn judge(&mut self, by: &'static str) -> Result<()> {
        let mut back: BTreeSet<String> = BTreeSet::new();
        for (word, place) in holding(self.home.path(), &self.words())? {
            tell(format_args!("{word} came back into {place} by {by}"));
            back.insert(word);
        }
        for canary in &self.canaries {
            let hits = self.memory.recall(&canary.question).limit(5).await?;
            let says =
                |hit: &mnemal::Hit| hit.event.body().is_some_and(|kept| kept.content.contains(&canary.word));
            if hits.hits.iter().any(says) {
                back.insert(canary.word.clone());
            }
        }
        self.report.back_by.insert(by, back.len());
        self.report.came_back += back.len();
        Ok(())
    }
}

async fn open(home: &tempfile::TempDir) -> Result<Memory> {
    let types = vec!["md".to_owned()];
    let options =
        FolderOptions { types, reader: DocumentReader::default(), quiet: Duration::ZERO, processed: None };
    let inbox = FolderInbox::new(home.path().join("inbox"), options, Arc::new(SystemClock::default()));
    let engine = Engine::builder()
        .with_key(InstallationKey::new([7; 32]))
        .with_language_model(Arc::new(Echo::new()?))
        .with_inbox(Arc::new(inbox))
        .open(home.path().join("space.db"))
        .await?;
    Ok(engine.memory(Scope::whole(SpaceId::new("space")?)))
}

fn keep() -> PutOptions {
    PutOptions::default()
}

fn tell(what: std::fmt::Arguments<'_>) {
    #[expect(clippy::print_stderr, reason = "the numbers say how often, this says what")]
    {
        eprintln!("erase: {what}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: NX-03.T1, E1, DF-94, DF-95
    #[test]
    fn no_canary_is_found_or_comes_back_and_nobody_else_is_touched() {
        let time = Duration::from_mins(2);
        let order = Order { runs: 24, first: 0, seed: 11, time, program: PathBuf::new() };
        let report = run(&order).unwrap();
        let wrong = [report.found_after, report.collateral, report.unverified];
        assert_eq!((wrong, report.found_before), ([0; 3], report.canaries), "{report:?}");
        assert_eq!(report.came_back, 0, "{report:?}");
        assert_eq!((report.kinds.len(), report.back_by.len()), (12, 6), "{report:?}");
        assert!(report.rows.values().all(|count| *count > 0), "{report:?}");
    }
}
