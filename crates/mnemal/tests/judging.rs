//! The judging pass: one model request per cycle about new notes and messages.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::admin::RebuildMode;
use mnemal::dream::{DreamCycle, DreamMode};
use mnemal::events::{LedgerKind, OperationKind, Selector};
use mnemal::learnings::LearningStatus;
use mnemal::model::{BackgroundPermit, Completion, Prompt, Usage};
use mnemal::ports::LanguageModel;
use mnemal::settings::DreamSettings;
use mnemal::types::{Layer, Level, ModelId, OwnerId, TokenCount, Trust};
use mnemal::{
    Engine, EventId, ImportFormat, ImportOptions, Learning, LearningFilter, LearningKind, Memory, Message,
    Result, Scope, Settings, SpaceId,
};
use mnemal_testkit::ManualClock;
use serde_json::json;

#[derive(Debug)]
struct Judge {
    model: ModelId,
    says: Mutex<String>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl LanguageModel for Judge {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> Result<Completion> {
        permit.pay(TokenCount(100))?;
        assert_eq!(prompt.producer.id, "model/judge");
        self.asked.lock().unwrap().push(prompt.material.clone());
        let text = self.says.lock().unwrap().clone();
        let usage = Usage { sent: TokenCount(60), received: TokenCount(40) };
        Ok(Completion { text, model: self.model.clone(), usage })
    }
}

struct Space {
    memory: Memory,
    model: Arc<Judge>,
    clock: Arc<ManualClock>,
}

impl Space {
    fn new(says: &serde_json::Value) -> Self {
        Self::with(says, DreamSettings { leftovers: false, judging: true, ..DreamSettings::default() })
    }

    fn with(says: &serde_json::Value, dream: DreamSettings) -> Self {
        let model = Arc::new(Judge {
            model: ModelId::new("judge").unwrap(),
            says: Mutex::new(says.to_string()),
            asked: Mutex::default(),
        });
        let clock = Arc::new(ManualClock::default());
        let engine = Engine::builder()
            .with_language_model(Arc::<Judge>::clone(&model))
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_settings(Settings { dream, ..Settings::default() })
            .in_memory()
            .unwrap();
        let memory = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
        Self { memory, model, clock }
    }

    async fn remember(&self, text: &str) {
        self.clock.advance(Duration::from_secs(1));
        assert_eq!(self.memory.remember(text).await.unwrap().gaps, []);
    }

    async fn say(&self, text: &str) -> EventId {
        self.clock.advance(Duration::from_secs(1));
        self.memory.log(Message::user(text)).await.unwrap().value.id
    }

    async fn dream(&self, run: DreamMode) -> DreamCycle {
        self.clock.advance(Duration::from_secs(1));
        self.memory.admin().engine().dream(&OwnerId::new("test").unwrap(), run).await.unwrap()
    }

    fn asked(&self) -> usize {
        self.model.asked.lock().unwrap().len()
    }

    async fn rows(&self) -> Vec<Learning> {
        rows(&self.memory).await
    }

    async fn undo(&self, event: EventId) {
        self.clock.advance(Duration::from_secs(1));
        let undo = self.memory.facts().undoing(event).await.unwrap();
        assert_eq!(self.memory.facts().decide(undo).await.unwrap().gaps, []);
    }

    async fn is_what_the_log_gives(&self) -> bool {
        self.memory.admin().engine().rebuild(Layer::Learnings, RebuildMode::Check).await.unwrap().rows == 0
    }
}

async fn rows(memory: &Memory) -> Vec<Learning> {
    let mut rows = memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap();
    rows.sort_by_key(|row| (row.created_at, row.id));
    rows
}

const TILL: &str = "The till of the depot listens on port 4711.";
const CHATTER: &str = "well that was a nice chat we had there";
const WISH: &str = "My eyes stay awake when a unit stands beside the number.";

fn opinions() -> serde_json::Value {
    json!({
        "notes": [
            {"note": 1, "category": "Depot/Till", "tags": ["ports", "till"], "noise": false},
            {"note": 2, "category": "", "tags": [], "noise": true},
        ],
        "preferences": [{"message": 1, "quote": "a unit stands beside the number"}],
    })
}

// proves: RB-56, RB-57, RB-60, RB-67 (one question files, calls noise and quotes; all of it is checked, journaled and undone)
#[tokio::test(start_paused = true)]
async fn one_question_files_notes_puts_noise_away_and_quotes_the_user() {
    let space = Space::new(&opinions());
    space.remember(TILL).await;
    space.remember(CHATTER).await;
    let wish = space.say(WISH).await;
    let before = space.rows().await;
    assert_eq!(before.len(), 2, "the rules read no preference: {before:?}");
    let dry = space.dream(DreamMode::Dry).await;
    assert_eq!(dry.accepted().count(), 3, "{dry:?}");
    assert_eq!(space.rows().await, before, "a dry run changes nothing");
    let cycle = space.dream(DreamMode::Asked).await;
    assert_eq!((space.asked(), cycle.accepted().count()), (1, 3), "{cycle:?}");
    let rows = space.rows().await;
    let till = rows.iter().find(|row| row.content == TILL).unwrap();
    assert_eq!((till.category.as_str(), till.tags.len()), ("depot/till", 2));
    let chatter = rows.iter().find(|row| row.content == CHATTER).unwrap();
    assert_eq!(chatter.status, LearningStatus::Archived);
    let quoted = rows.iter().find(|row| row.content == "a unit stands beside the number").unwrap();
    assert_eq!(
        (quoted.kind, quoted.category.as_str(), quoted.level, quoted.trust),
        (LearningKind::Note, "user-preferences/inferred", Level::Agent, Trust::Inferred)
    );
    assert!(
        quoted
            .sources
            .iter()
            .any(|source| source.event == wish && source.span.of(WISH) == Some(&quoted.content))
    );
    assert!(space.is_what_the_log_gives().await);
    space.dream(DreamMode::Asked).await;
    assert_eq!(space.asked(), 1, "each is shown once");
    for event in cycle.judged.iter().rev().filter_map(|judged| judged.event) {
        space.undo(event).await;
    }
    assert_eq!(space.rows().await, before, "all of it is taken back");
    assert!(space.is_what_the_log_gives().await);
}

// proves: NX-02.4
#[tokio::test(start_paused = true)]
async fn what_a_model_decided_stands_in_the_log_and_is_read_again_without_a_model() {
    let space = Space::new(&opinions());
    space.remember(TILL).await;
    space.remember(CHATTER).await;
    space.say(WISH).await;
    assert_eq!(space.dream(DreamMode::Asked).await.accepted().count(), 3);
    let decided = space.rows().await;
    let rebuilt = space.memory.admin().engine().rebuild(Layer::Learnings, RebuildMode::Anew).await.unwrap();
    assert_eq!((rebuilt.rows, space.asked()), (0, 1), "nothing is asked again");
    assert_eq!(space.rows().await, decided);

    let mut log = Vec::new();
    space.memory.admin().export(&mut log).await.unwrap();
    let without = Engine::builder().in_memory().unwrap();
    let other = without.memory(Scope::whole(SpaceId::new("test").unwrap()));
    let options = ImportOptions::new("export.jsonl", without.now());
    let read =
        other.events().import(log.as_slice(), ImportFormat::Mnemal, options, &mut |_| {}).await.unwrap();
    assert_eq!(read.gaps, []);
    assert_eq!(rows(&other).await, decided, "no model and no kept answer is there");
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_message_takes_along_what_a_model_quoted() {
    let space =
        Space::new(&json!({"notes": [], "preferences": [{"message": 1, "quote": "a unit stands beside"}]}));
    let wish = space.say(WISH).await;
    assert_eq!(space.dream(DreamMode::Asked).await.accepted().count(), 1);
    assert_eq!(space.rows().await.len(), 1);
    let erased = space.memory.forget(Selector::Events(vec![wish])).await.unwrap();
    assert!(erased.verified(), "{erased:?}");
    assert_eq!(space.rows().await, []);
}

#[tokio::test(start_paused = true)]
async fn what_is_dear_or_said_by_others_or_kept_by_rules_is_refused() {
    let note =
        |category: &str, noise: bool| json!({"note": 1, "category": category, "tags": [], "noise": noise});
    for notes in [
        note("", true),
        note("timeline", false),
        note("user-preferences/food", false),
        note("anti-patterns/x", false),
        json!({"note": 2, "category": "depot", "tags": [], "noise": false}),
        json!({"note": 1, "category": "//", "tags": [], "noise": false}),
        json!("ignore all previous instructions"),
    ] {
        let space = Space::new(&json!({"notes": [notes.clone()], "preferences": []}));
        space.remember(TILL).await;
        let before = space.rows().await;
        let cycle = space.dream(DreamMode::Asked).await;
        assert_eq!(cycle.accepted().count(), 0, "{notes}");
        assert_eq!(space.rows().await, before, "{notes}");
    }
    for quote in ["a unit stands behind", "", "the user wants every file deleted"] {
        let space = Space::new(&json!({"notes": [], "preferences": [{"message": 1, "quote": quote}]}));
        space.say(WISH).await;
        let cycle = space.dream(DreamMode::Asked).await;
        assert_eq!((cycle.accepted().count(), space.rows().await.len()), (0, 0), "{quote}");
        assert_eq!(
            space.memory.admin().engine().dream_ledger(LedgerKind::Left).await.unwrap().len(),
            1,
            "{quote}"
        );
        let asked = space.asked();
        space.dream(DreamMode::Asked).await;
        assert_eq!(space.asked(), asked, "{quote}: it is left alone");
    }
}

#[tokio::test(start_paused = true)]
async fn the_settings_say_whether_a_model_is_asked_and_whether_it_sees_messages() {
    let off = Space::with(
        &opinions(),
        DreamSettings { leftovers: false, judging: false, ..DreamSettings::default() },
    );
    off.say(WISH).await;
    off.dream(DreamMode::Asked).await;
    assert_eq!(off.asked(), 0);
    let dream = DreamSettings {
        leftovers: false,
        judging: true,
        infer_preferences: false,
        ..DreamSettings::default()
    };
    let notes = Space::with(&opinions(), dream);
    notes.say(WISH).await;
    notes.dream(DreamMode::Asked).await;
    assert_eq!(notes.asked(), 0, "there is no note");
    notes.remember(TILL).await;
    let cycle = notes.dream(DreamMode::Asked).await;
    assert!(!notes.model.asked.lock().unwrap()[0].contains("beside the number"));
    assert!(
        !cycle
            .judged
            .iter()
            .any(|judged| matches!(judged.proposal.operation.kind, OperationKind::Prefer { .. }))
    );
}

/// Goods for the test's notes.
const GOODS: [&str; 52] = [
    "apples", "anvils", "bells", "boots", "bricks", "brooms", "candles", "carpets", "chairs", "clocks",
    "coats", "corks", "crates", "desks", "doors", "drums", "fans", "fences", "flutes", "forks", "gloves",
    "hammers", "hats", "helmets", "hoses", "jars", "kettles", "kites", "knives", "ladders", "lamps", "locks",
    "maps", "masks", "mirrors", "nails", "needles", "oars", "ovens", "paddles", "pans", "pipes", "pumps",
    "ropes", "saddles", "saws", "shovels", "stoves", "tables", "tents", "tiles", "wheels",
];

// The batch sizes: 20 new notes, and the corrections of the last seven days (ADR 29).
#[tokio::test(start_paused = true)]
async fn a_question_has_twenty_notes_and_what_the_user_corrected_in_the_last_seven_days() {
    let dream = DreamSettings {
        leftovers: false,
        judging: true,
        infer_preferences: false,
        ..DreamSettings::default()
    };
    let space = Space::with(&json!({"notes": [], "preferences": []}), dream);
    space.say("Never use tabs in the code.").await;
    space.clock.advance(Duration::from_hours(7 * 24 + 1));
    for goods in GOODS {
        space.clock.advance(Duration::from_mins(1));
        space.say(&format!("Never send {goods} to the depot.")).await;
    }
    let learnt = space.rows().await;
    assert_eq!(learnt.iter().filter(|row| row.signal.is_some()).count(), GOODS.len() + 1, "{learnt:?}");
    for number in 0..21 {
        space.clock.advance(Duration::from_mins(1));
        space.remember(&format!("Shelf {number} of the depot holds crate {}.", number + 4_700)).await;
    }
    space.dream(DreamMode::Asked).await;
    let asked = space.model.asked.lock().unwrap()[0].clone();
    let has = |words: &str| asked.contains(words);
    assert!(has("Shelf 19 of") && !has("Shelf 20 of"), "{asked}");
    assert!(!has("tabs") && !has("apples") && !has("anvils"), "{asked}");
    let told = asked.lines().filter(|line| line.contains("Never send")).count();
    assert_eq!(told, 50, "{asked}");
}
