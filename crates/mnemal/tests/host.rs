//! Host configuration: identity texts, pinned sections of a context, injected notes per turn, and the switch of memory.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::Arc;

use mnemal::context::{BlockKind, Section};
use mnemal::events::Durability;
use mnemal::types::{Category, Degraded, GapCause, InstallationKey, Layer};
use mnemal::{
    Context, Engine, ErrorKind, Gap, Memory, Message, NoteKey, Scope, SessionId, Settings, SpaceId, UserId,
};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{ManualClock, SeededIds};

fn memory(settings: Settings, stores: Stores) -> Memory {
    let builder = Engine::builder()
        .with_clock(Arc::new(ManualClock::default()))
        .with_ids(Arc::new(SeededIds::new(31)))
        .with_key(InstallationKey::new([31; 32]))
        .with_settings(settings)
        .without(Layer::Vector);
    builder.with_stores(stores).build().unwrap().memory(Scope::whole(SpaceId::new("home").unwrap()))
}

fn named() -> Settings {
    let mut settings = Settings::default();
    "Nova, who keeps the house".clone_into(&mut settings.identity.agent);
    "Ada Berg".clone_into(&mut settings.identity.user);
    settings
}

fn told(context: &Degraded<Context>) -> Vec<String> {
    context.text.lines().map(str::to_owned).collect()
}

async fn remember(memory: &Memory, key: &str, text: &str, category: &str) {
    let note = memory.remember(text).key(NoteKey::new(key).unwrap());
    let _stored = note.category(Category::new(category).unwrap()).by_user().await.unwrap();
}

// proves: BA-47, NB-98
#[tokio::test]
async fn who_agent_and_user_are_stands_before_what_was_learnt_and_is_stored_nowhere() {
    let stores = Stores::from(MemoryStore::new());
    let memory = memory(named(), stores);
    let first = memory.context("who are you?").identity("SOUL: calm and brief").await.unwrap();
    let lines = told(&first);
    let place = |words: &str| lines.iter().position(|line| line.contains(words)).unwrap();
    assert!(place("Nova") < place("Ada Berg") && place("Ada Berg") < place("SOUL"), "{lines:?}");
    let used = first.sections.iter().find(|used| used.section == Section::Identity).unwrap();
    assert_eq!((used.lines, used.tokens.0 > 0), (3, true));
    assert_eq!(memory.admin().stats().await.unwrap().head.count(), 0, "it is in no log");
    remember(&memory, "self", "The user is called Grace.", "identity").await;
    let context = memory.context("who are you?").await.unwrap();
    let lines = told(&context);
    let place = |words: &str| lines.iter().position(|line| line.contains(words)).unwrap();
    assert!(place("Ada Berg") < place("Grace"), "what is configured wins: {lines:?}");
    assert!(!context.text.contains("SOUL"), "it was for one context");
    let (one, other) = (memory.context("").await.unwrap(), memory.context("").await.unwrap());
    let front = |context: &Context| context.blocks.first().map(|block| (block.kind, block.text.clone()));
    assert_eq!(front(&one), front(&other), "the stable block does not depend on the moment");
}

#[tokio::test]
async fn an_identity_holds_every_budget_and_is_silent_where_few_lines_are_wanted() {
    let memory = memory(named(), Stores::from(MemoryStore::new()));
    for budget in (0..400).step_by(7) {
        let context = memory.context("who are you?").budget(budget).await.unwrap();
        assert!(context.tokens <= context.budget, "{budget}");
    }
    assert!(memory.context("who are you?").lines(3).await.unwrap().text.is_empty());
    let recall = memory.context("who are you?").sections(vec![Section::Recall]).await.unwrap();
    assert!(recall.text.is_empty(), "{}", recall.text);
}

// proves: BA-08, BA-09
#[tokio::test]
async fn the_state_of_the_agent_and_open_tasks_stand_in_every_context_and_have_versions() {
    let memory = memory(named(), Stores::from(MemoryStore::new()));
    remember(&memory, "agent-state/mood", "calm", "agent-state").await;
    remember(&memory, "agent-state/mood", "curious", "agent-state").await;
    let observed = |kind| {
        let seen = Message::observation("rotate the signing key");
        seen.metadata("task_id", "T7").metadata("kind", kind)
    };
    let _ack = memory.log(observed("task_created")).await.unwrap();
    let context = memory.context("Which shelf was it?").await.unwrap();
    assert!(told(&context).iter().any(|line| line.contains("Nova")), "{}", context.text);
    let volatile = context.blocks.iter().find(|block| block.kind == BlockKind::Volatile).unwrap();
    for line in ["\"mood: curious\"", "\"task T7: rotate the signing key\""] {
        assert!(volatile.text.contains(line), "{}", context.text);
    }
    assert!(!context.text.contains("calm"), "{}", context.text);
    let _ack = memory.log(observed("task_completed")).await.unwrap();
    assert!(!memory.context("Which shelf was it?").await.unwrap().text.contains("task T7"));
    let versions = async |name: &str| {
        let rows = memory.preferences().history(&NoteKey::new(name).unwrap()).await.unwrap();
        rows.into_iter().map(|row| (row.version, row.status.as_str(), row.content)).collect::<Vec<_>>()
    };
    let moods = [(2, "active", "curious".to_owned()), (1, "superseded", "calm".to_owned())];
    assert_eq!(versions("agent-state/mood").await, moods);
    assert_eq!(versions("tasks/T7").await, [(1, "archived", "rotate the signing key".to_owned())]);
}

#[tokio::test]
async fn a_note_that_is_pinned_or_confirmed_stays_its_users() {
    let memory = memory(Settings::default(), Stores::from(MemoryStore::new()));
    let (ana, key) = (UserId::new("ana").unwrap(), NoteKey::new("tea").unwrap());
    let text = "Ana takes her tea green.";
    let _stored = memory.for_user(ana.clone()).remember(text).key(key.clone()).by_user().await.unwrap();
    let note = || async { memory.preferences().learning("tea").await.unwrap() };
    let _ack = memory.preferences().pin("tea").await.unwrap();
    assert_eq!(note().await.user, Some(ana.clone()), "pinned");
    let _ack = memory.preferences().confirm(&note().await, text).await.unwrap();
    assert_eq!(note().await.user, Some(ana.clone()), "confirmed");
    let _ack = memory.preferences().unpin("tea").await.unwrap();
    assert_eq!(note().await.user, Some(ana.clone()), "no longer pinned");
    let (hers, his) = (memory.for_user(ana), memory.for_user(UserId::new("ben").unwrap()));
    assert_eq!(hers.preferences().history(&key).await.unwrap().len(), 3, "a confirmation says the same");
    assert_eq!(his.preferences().history(&key).await.unwrap_err().kind(), ErrorKind::NotFound);
}

// proves: AD-31, NB-60
#[tokio::test]
async fn what_a_person_pins_stands_in_every_context_and_a_ninth_pin_is_refused() {
    let memory = memory(named(), Stores::from(MemoryStore::new()));
    let long = "It is written in the blue book that lies on the second shelf of the hall. ";
    for number in 0..9 {
        let text = format!("Rule number {number} of the house. {}", long.repeat(3));
        remember(&memory, &format!("rule-{number}"), &text, "general").await;
    }
    assert!(!memory.context("hello").await.unwrap().text.contains("Rule number 3"));
    for number in 0..8 {
        let _ack = memory.preferences().pin(&format!("rule-{number}")).await.unwrap();
    }
    let error = memory.preferences().pin("rule-8").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.what().contains("rule-3"), "the list is told: {error}");
    // They exceed the 200 tokens of the section's share, and with labels the 600 of their texts.
    let context = memory.context("what is in the blue book?").await.unwrap();
    for number in 0..8 {
        let is_there = told(&context).iter().any(|line| line.contains(&format!("Rule number {number} ")));
        assert!(is_there, "{number}: {}", context.text);
    }
    let used = context.sections.iter().find(|used| used.section == Section::Identity).unwrap();
    assert!((600..=1_100).contains(&used.tokens.0), "{used:?}");
    assert!(told(&context).iter().any(|line| line.contains("Ada Berg")), "{}", context.text);
    let _ack = memory.preferences().unpin("rule-3").await.unwrap();
    let pins = memory.preferences().pins().await.unwrap();
    assert_eq!(pins.len(), 7);
    assert!(pins.iter().all(|pin| !pin.content.contains("number 3 ")));
    let _agent = memory
        .remember("The agent thinks that this matters.")
        .key(NoteKey::new("own").unwrap())
        .tag(mnemal::types::Tag::new("pinned").unwrap())
        .await
        .unwrap();
    assert_eq!(memory.preferences().pins().await.unwrap().len(), 7, "only a person pins");
}

// proves: PB-20, PB-35
#[tokio::test]
async fn a_turn_is_offered_five_notes_and_nothing_else_that_was_said() {
    let memory = memory(Settings::default(), Stores::from(MemoryStore::new()));
    for number in 0..8 {
        remember(&memory, &format!("n{number}"), &format!("The boiler needs part {number}."), "home").await;
        let _said = memory.log(format!("The boiler is broken again, part {number}.").as_str()).await.unwrap();
    }
    let found = memory.recall("which part does the boiler need?").notes_for_a_turn().await.unwrap();
    assert_eq!(found.hits.len(), 5);
    assert!(found.hits.iter().all(|hit| hit.event.body().unwrap().content.contains("needs part")));
}

// proves: PB-47, CF-02
#[tokio::test]
async fn a_memory_that_is_switched_off_drops_what_is_written_and_answers_with_the_gap() {
    let on = Memory::in_memory().await.unwrap();
    assert!(on.admin().stats().await.unwrap().is_empty(), "memory is on, and nothing was said");
    let _said = on.log("hello").await.unwrap();
    assert!(!on.admin().stats().await.unwrap().is_empty());

    let off = Memory::disabled().unwrap();
    let gap = Gap { layer: Layer::Events, cause: GapCause::NotConfigured };
    let ack = off.log("The safe word is marzipan.").await.unwrap();
    assert_eq!((ack.durability, ack.gaps.contains(&gap)), (Durability::Dropped, true));
    let stored = off.remember("Deploys happen on Tuesdays").key(NoteKey::new("d").unwrap()).await.unwrap();
    assert!(stored.gaps.contains(&gap) && stored.id.is_none(), "{stored:?}");
    let found = off.recall("marzipan").await.unwrap();
    assert!(found.hits.is_empty() && found.gaps.contains(&gap));
    let context = off.context("marzipan").await.unwrap();
    assert!(context.text.is_empty() && context.gaps.contains(&gap));
    assert!(off.admin().stats().await.unwrap().is_empty());
    let turns = (0..9).map(|number| Message::user(format!("Parcel {number} was sent to Oslo.")));
    let compressed = off.events().compress(SessionId::new("s").unwrap()).history(turns).await.unwrap();
    assert!(compressed.entry.is_none() && compressed.summary.contains("Parcel"), "{compressed:?}");
    assert_eq!(compressed.turns.len(), 6);
}
