//! Background workers: step schedule, priority of conversations, restarts without extra cycles, and shutdown.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "the parts that tests share may panic as the tests do; time is paused, so that nobody sleeps"
)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::admin::BackgroundReport;
use mnemal::dream::Pace;
use mnemal::events::LedgerKind;
use mnemal::model::{BackgroundPermit, Completion, Prompt, Usage};
use mnemal::ports::{Acquisition, Clock, LanguageModel, LeaseStore as _};
use mnemal::settings::{DreamSettings, ExtractSettings};
use mnemal::types::{LeaseName, ModelId, OwnerId, TokenCount};
use mnemal::{
    Builder, Engine, Error, ErrorKind, Memory, Message, Result, Scope, Settings, SpaceId, Timestamp,
};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::ManualClock;

/// A clock that follows the paused timers of the runtime.
#[derive(Debug)]
struct Paused {
    begun: tokio::time::Instant,
    at: Timestamp,
}

impl Paused {
    fn new(at: Timestamp) -> Arc<Self> {
        Arc::new(Self { begun: tokio::time::Instant::now(), at })
    }
}

impl Clock for Paused {
    fn now(&self) -> Timestamp {
        self.at.plus_micros(i64::try_from(self.begun.elapsed().as_micros()).unwrap())
    }

    fn monotonic(&self) -> Duration {
        self.begun.elapsed()
    }
}

fn begin() -> Timestamp {
    ManualClock::default().now()
}

struct Space {
    store: Arc<MemoryStore>,
    clock: Arc<Paused>,
}

impl Space {
    fn new() -> Self {
        Self { store: Arc::new(MemoryStore::new()), clock: Paused::new(begin()) }
    }

    /// The same space in another process.
    fn process(&self) -> Memory {
        self.with_model(None)
    }

    fn with_settings(&self, settings: Settings) -> Memory {
        let engine = self.builder().with_settings(settings).build().unwrap();
        engine.memory(Scope::whole(SpaceId::new("test").unwrap()))
    }

    fn builder(&self) -> Builder {
        Engine::builder()
            .with_stores(Stores::all(Arc::clone(&self.store)))
            .with_clock(Arc::<Paused>::clone(&self.clock))
    }

    fn with_model(&self, model: Option<Arc<Scripted>>) -> Memory {
        // Only one pass asks a model: the merge of near-duplicates.
        let dream = DreamSettings { judging: false, ..DreamSettings::default() };
        let mut builder = self.builder().with_settings(Settings { dream, ..Settings::default() });
        if let Some(model) = model {
            builder = builder.with_language_model(model);
        }
        builder.build().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()))
    }

    async fn cycles(&self) -> usize {
        self.process().admin().engine().dream_ledger(LedgerKind::Cycle).await.unwrap().len()
    }
}

fn owner(name: &str) -> OwnerId {
    OwnerId::new(name).unwrap()
}

async fn attended(memory: &Memory, name: &str, time: Duration) -> BackgroundReport {
    memory.admin().engine().run_background(&owner(name), &Pace::default(), tokio::time::sleep(time)).await
}

const HOUR: Duration = Duration::from_hours(1);

/// A model that follows a script, and repeats its last step forever.
#[derive(Debug)]
struct Scripted {
    model: ModelId,
    script: Mutex<VecDeque<Option<&'static str>>>,
    asked: Mutex<Vec<Duration>>,
    takes: Duration,
    begun: tokio::time::Instant,
}

impl Scripted {
    fn new(script: &[Option<&'static str>], takes: Duration) -> Arc<Self> {
        Arc::new(Self {
            model: ModelId::new("scripted").unwrap(),
            script: Mutex::new(script.iter().copied().collect()),
            asked: Mutex::default(),
            takes,
            begun: tokio::time::Instant::now(),
        })
    }

    fn asked(&self) -> Vec<Duration> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl LanguageModel for Scripted {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn complete(&self, permit: &mut BackgroundPermit, _prompt: &Prompt) -> Result<Completion> {
        permit.pay(TokenCount(100))?;
        self.asked.lock().unwrap().push(self.begun.elapsed());
        tokio::time::sleep(self.takes).await;
        let said = {
            let mut script = self.script.lock().unwrap();
            if script.len() > 1 { script.pop_front().flatten() } else { script.front().copied().flatten() }
        };
        let text = said.ok_or_else(|| Error::new(ErrorKind::Unavailable, "as the script says"))?.to_owned();
        let usage = Usage { sent: TokenCount(60), received: TokenCount(40) };
        Ok(Completion { text, model: self.model.clone(), usage })
    }
}

const NEAR: [&str; 2] = [
    "Anna keeps the spare key of the boat house in the blue tin",
    "Anna keeps the spare key of the boat house in the tin on Friday",
];
const BOTH: &str = "On Friday, as always, Anna keeps the spare key of the boat house in the blue tin.";

async fn remember(memory: &Memory, texts: &[&str]) {
    for text in texts {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(memory.remember(*text).await.unwrap().gaps, []);
    }
}

async fn notes(memory: &Memory) -> usize {
    let rows = memory.preferences().all_learnings(&mnemal::LearningFilter::all()).await.unwrap();
    rows.into_iter().filter(|row| row.status == mnemal::learnings::LearningStatus::Active).count()
}

// proves: BA-16 (the first step comes 10 s after the start)
#[tokio::test(start_paused = true)]
async fn the_first_step_comes_after_ten_seconds_and_an_idle_space_is_left_alone() {
    let space = Space::new();
    let memory = space.process();
    remember(&memory, &["The lift is loud.", "The lift is loud."]).await;
    assert_eq!(attended(&memory, "a", Duration::from_secs(8)).await, BackgroundReport::default());
    let first = attended(&memory, "a", Duration::from_secs(12)).await;
    assert_eq!((first.steps, first.dreamt, first.failed), (1, 1, 0), "{first:?}");
    assert_eq!(notes(&memory).await, 1);
    let idle = attended(&memory, "a", 10 * HOUR).await;
    assert!((55..=75).contains(&idle.steps), "one in ten minutes: {idle:?}");
    assert_eq!((idle.dreamt, idle.put_off, idle.failed), (0, 0, 0));
}

// proves: DF-23, GB-32 (two cycles in an hour, whoever runs them)
#[tokio::test(start_paused = true)]
async fn ten_processes_in_an_hour_run_no_more_cycles_than_one_that_stays() {
    let (stays, storm) = (Space::new(), Space::new());
    for space in [&stays, &storm] {
        remember(&space.process(), &["The lift is loud."]).await;
    }
    let _attended = attended(&stays.process(), "stays", HOUR).await;
    for restart in 0..10 {
        let _attended = attended(&storm.process(), &format!("storm-{restart}"), HOUR / 10).await;
    }
    assert_eq!((stays.cycles().await, storm.cycles().await), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn talk_goes_first_and_does_not_keep_the_work_from_being_done() {
    let space = Space::new();
    let memory = space.process();
    let talks = async {
        for turn in 0..360_u32 {
            tokio::time::sleep(Duration::from_secs(5)).await;
            let message = Message::user(format!("We talk about the pump, turn {turn}."));
            assert_eq!(memory.log(message).await.unwrap().gaps, []);
        }
    };
    let (attended, ()) = tokio::join!(attended(&memory, "a", HOUR / 2), talks);
    // A step is due a minute after the last one, and postponed for three.
    assert!((6..=9).contains(&attended.steps), "{attended:?}");
    assert!(attended.put_off >= attended.steps, "{attended:?}");
    assert_eq!(space.cycles().await, 0, "no cycle while somebody talks");
}

// proves: NB-25, NB-26 (the interval; each step once, ADR 7)
#[tokio::test(start_paused = true)]
async fn the_settings_say_how_often_work_steps_and_whether_talk_puts_it_off() {
    let extract = |interval_secs, backoff_when_active| ExtractSettings {
        interval_secs,
        backoff_when_active,
        ..ExtractSettings::default()
    };
    // During an hour of conversation, a step is postponed for three intervals and at least three minutes, by default and at other
    // paces.
    for (settings, steps) in [
        (extract(60, true), 13..=17),
        (extract(300, true), 2..=4),
        (extract(300, false), 10..=13),
        (extract(20, false), 150..=200),
    ] {
        let space = Space::new();
        let memory = space.with_settings(Settings { extract: settings.clone(), ..Settings::default() });
        let talks = async {
            for turn in 0..720_u32 {
                tokio::time::sleep(Duration::from_secs(5)).await;
                let message = Message::user(format!("We talk about the pump, turn {turn}."));
                assert_eq!(memory.log(message).await.unwrap().gaps, []);
            }
        };
        let pace = memory.admin().engine().settings().extract.pace();
        let (name, stop) = (owner("a"), tokio::time::sleep(HOUR));
        let (attended, ()) = tokio::join!(memory.admin().engine().run_background(&name, &pace, stop), talks);
        assert!(steps.contains(&attended.steps), "{settings:?}: {attended:?}");
        assert_eq!(attended.put_off > 0, settings.backoff_when_active, "{attended:?}");
    }
}

// proves: GB-45 (one turn at a time)
#[tokio::test(start_paused = true)]
async fn of_five_processes_one_has_its_turn_and_no_copy_is_folded_twice() {
    let space = Space::new();
    let memory = space.process();
    remember(&memory, &["The lift is loud."; 4]).await;
    let head = async || memory.admin().stats().await.unwrap().head.count();
    let before = head().await;
    let processes = ["a", "b", "c", "d", "e"].map(|name| {
        let memory = space.process();
        async move { attended(&memory, name, 4 * HOUR).await }
    });
    let done = futures_util::future::join_all(processes).await;
    assert_eq!((notes(&memory).await, head().await - before), (1, 3));
    assert_eq!(done.iter().map(|attended| attended.dreamt).sum::<u64>(), 3);
    assert!(done.iter().all(|attended| attended.failed == 0 && attended.steps > 10), "{done:?}");
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_it_is_told_and_leaves_no_turn_behind() {
    let space = Space::new();
    let model = Scripted::new(&[Some(BOTH)], Duration::from_secs(50));
    let memory = space.with_model(Some(Arc::clone(&model)));
    remember(&memory, &NEAR).await;
    let begun = tokio::time::Instant::now();
    let attended = attended(&memory, "a", Duration::from_secs(30)).await;
    assert_eq!(model.asked().len(), 1, "it thinks when the work ends");
    let took = begun.elapsed();
    assert!(took <= Duration::from_secs(40) && attended.cut, "{took:?} {attended:?}");
    assert_eq!(notes(&memory).await, 2, "and nothing of it was stored");
    let (name, next, ttl) = (LeaseName::new("background").unwrap(), owner("next"), Duration::from_secs(30));
    let turn = space.store.acquire(&name, &next, space.clock.now(), ttl).await.unwrap();
    assert!(matches!(turn, Acquisition::Acquired { left_by: None, .. }));
}

// proves: AD-49, DF-23 (a model is asked to merge every six hours at most, across restarts)
#[tokio::test(start_paused = true)]
async fn a_model_is_asked_in_a_task_of_its_own_and_at_most_every_six_hours() {
    let space = Space::new();
    let model = Scripted::new(&[Some(BOTH)], Duration::from_secs(50));
    let memory = space.with_model(Some(Arc::clone(&model)));
    remember(&memory, &NEAR).await;
    let first = attended(&memory, "a", Duration::from_mins(5)).await;
    assert_eq!((first.asked, first.dreamt, notes(&memory).await), (1, 1, 1));
    assert!(first.steps >= 2, "upkeep does not wait for an answer that takes longer than a lease: {first:?}");
    let others = [
        "Bo paints the fence of the orchard with green paint",
        "Bo paints the fence of the orchard with paint on Sunday",
    ];
    remember(&memory, &others).await;
    for restart in 0..10 {
        let memory = space.with_model(Some(Arc::clone(&model)));
        let _attended = attended(&memory, &format!("storm-{restart}"), HOUR / 2).await;
    }
    assert_eq!(model.asked().len(), 1, "{:?}", model.asked());
    let _attended = attended(&memory, "a", 2 * HOUR).await;
    assert!(model.asked().len() > 1);
    let between = model.asked()[1].checked_sub(model.asked()[0]).unwrap();
    assert!(between >= 6 * HOUR && between < 7 * HOUR, "{between:?}");
}

// proves: DF-19 (what a model that always fails is asked in a day stays below the caps)
#[tokio::test(start_paused = true)]
async fn a_model_that_always_fails_is_not_asked_for_ever() {
    // A model that does not answer is asked once in six hours; one with unusable output gets two retries with the error, and is
    // then left alone.
    for (says, most) in [(None, 5), (Some("It has changed."), 3)] {
        let space = Space::new();
        let model = Scripted::new(&[says], Duration::ZERO);
        let memory = space.with_model(Some(Arc::clone(&model)));
        remember(&memory, &NEAR).await;
        let day = attended(&memory, "a", 24 * HOUR).await;
        assert!(day.asked > 0 && day.dreamt == 0, "{says:?}: {day:?}");
        let asked = model.asked().len();
        assert!((1..=most).contains(&asked), "{says:?}: {asked}");
        assert_eq!(notes(&memory).await, 2);
    }
}

// proves: CF-07 (steps every minute, cycles every half hour when nobody talks, an audit every day)
#[tokio::test(start_paused = true)]
async fn a_space_is_audited_once_a_day() {
    let space = Space::new();
    let memory = space.process();
    remember(&memory, &["The lift is loud."]).await;
    let attended = attended(&memory, "a", 3 * 24 * HOUR).await;
    assert_eq!(attended.failed, 0, "{attended:?}");
    let audits = memory.admin().engine().dream_ledger(LedgerKind::Audit).await.unwrap();
    assert_eq!(audits.len(), 3);
    assert!((110..=146).contains(&space.cycles().await), "{}", space.cycles().await);
}
