//! A host's everyday calls on the reference store without an embedder: log, recall, remember, context.

#![expect(clippy::unwrap_used, reason = "the parts that tests share are tests too")]

use std::sync::Arc;

use mnemal::types::{ChannelId, InstallationKey, Layer};
use mnemal::{
    Engine, EventFilter, LearningKind, Memory, Message, NoteKey, Role, Scope, SessionId, SpaceId, Timestamp,
    Within, Zone,
};
use mnemal_store::MemoryStore;
use mnemal_testkit::{ManualClock, SeededIds};

fn memory(space: &str) -> Memory {
    let builder = Engine::builder()
        .with_clock(Arc::new(ManualClock::default()))
        .with_ids(Arc::new(SeededIds::new(5)))
        .with_key(InstallationKey::new([5; 32]))
        .with_stores(MemoryStore::new())
        .without(Layer::Vector);
    builder.build().unwrap().memory(Scope::whole(SpaceId::new(space).unwrap()))
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

#[tokio::test]
async fn only_what_happened_within_the_span_that_is_asked_for_is_found() {
    let memory = memory("one");
    let day = |day: i64| Timestamp::from_micros(day * 86_400_000_000).unwrap();
    for number in 1..=3 {
        let told = Message::user(format!("the ferry left on day {number}"));
        let _ack = memory.log(told.occurred_at(day(number), Zone::utc())).await.unwrap();
    }
    let found = memory.recall("the ferry").since(day(2)).until(day(3)).await.unwrap();
    let texts: Vec<_> = found.hits.iter().map(|hit| hit.event.body().unwrap().content.as_str()).collect();
    assert_eq!(texts, ["the ferry left on day 2"]);
}

// proves: NX-07.3
#[tokio::test]
async fn a_note_is_read_by_its_key_as_soon_as_it_is_stored() {
    let memory = memory("one");
    let key = NoteKey::new("deploy_day").unwrap();
    for (day, version) in [("Tuesday", 1), ("Friday", 2)] {
        let stored = memory.remember(day).key(key.clone()).by_user().await.unwrap();
        assert_eq!(
            (stored.version, stored.gaps.iter().any(|gap| gap.layer == Layer::Learnings)),
            (version, false)
        );
        let history = memory.preferences().history(&key).await.unwrap();
        assert_eq!((history[0].content.as_str(), history.len()), (day, version as usize));
    }
}

#[tokio::test]
async fn what_was_noted_of_the_user_stands_in_contexts_that_share_no_word_with_it() {
    let memory = memory("one");
    let _noted = memory.remember("User is allergic to walnuts").await.unwrap();
    let _own = memory.remember("I can't climb stairs").by_user().await.unwrap();
    let _taken = memory.remember("Short answers, in French").kind(LearningKind::Preference).await.unwrap();
    let _other = memory.remember("Deploys happen on Tuesdays").await.unwrap();
    for query in ["what should I cook tonight?", "plan a trip to Rome", ""] {
        let context = memory.context(query).await.unwrap();
        for note in ["allergic to walnuts", "climb stairs", "in French"] {
            assert!(context.text.contains(note), "{query}: {}", context.text);
        }
        assert!(!context.text.contains("Deploys"), "{query}: {}", context.text);
    }
    let few = memory.context("what should I cook tonight?").lines(6).await.unwrap();
    assert_eq!(few.text, "", "a host that asks on every prompt is told nothing");
}

#[tokio::test]
async fn a_note_that_its_process_had_no_time_to_fold_is_in_the_history() {
    let (stores, key) = (MemoryStore::new(), NoteKey::new("deploy_day").unwrap());
    let engine = |seed| {
        Engine::builder()
            .with_clock(Arc::new(ManualClock::default()))
            .with_ids(Arc::new(SeededIds::new(seed)))
            .with_key(InstallationKey::new([5; 32]))
            .with_stores(stores.clone())
    };
    let scope = || Scope::whole(SpaceId::new("one").unwrap());
    let killed = engine(5).without(Layer::Learnings).build().unwrap().memory(scope());
    let _stored = killed.remember("Tuesday").key(key.clone()).by_user().await.unwrap();
    let next = engine(6).build().unwrap().memory(scope());
    assert_eq!(next.preferences().history(&key).await.unwrap()[0].content, "Tuesday");
}

// proves: DF-70
#[tokio::test]
async fn what_was_just_told_is_found_at_once() {
    let memory = memory("one");
    for turn in 0..40 {
        let word = format!("word{turn}");
        let ack = memory.log(Message::user(format!("the {word} is here"))).await.unwrap();
        let found = memory.recall(&word).await.unwrap();
        assert_eq!(found.hits[0].event.id, ack.id, "{word}");
    }
}

// proves: NB-93
#[tokio::test]
async fn what_was_told_on_one_channel_is_known_on_another() {
    let memory = memory("one");
    let told = Message::user("My sister Rita lives in Porto").session(session("telegram:7"));
    let _ack = memory.log(told.channel(ChannelId::new("telegram").unwrap())).await.unwrap();
    let context = memory.context("where does my sister live?").session(session("cli:1")).await.unwrap();
    assert!(context.text.contains("Rita lives in Porto"), "{}", context.text);
}

// proves: DF-01
#[tokio::test]
async fn a_fact_that_is_shown_and_repeated_668_times_stays_one_fact() {
    const FACT: &str = "The harbour master of Kiruna prefers green ink for every single form he signs.";
    let memory = memory("one");
    let _told = memory.log(Message::user(FACT).session(session("old"))).await.unwrap();
    for round in 0..668 {
        let shown = memory
            .context("which ink does the harbour master prefer?")
            .session(session("new"))
            .await
            .unwrap();
        assert!(round > 0 || shown.text.contains("green ink"), "{}", shown.text);
        let back = Message::assistant(format!("{}As you said: {FACT}", shown.text)).session(session("new"));
        let _ack = memory.log(back).await.unwrap();
    }
    let stats = memory.admin().stats().await.unwrap();
    assert_eq!((stats.notes, stats.head.count()), (0, 669));
    let repeated = EventFilter { session: Within::Only(session("new")), ..EventFilter::live() };
    let repeated = memory.events().latest(&repeated, std::num::NonZeroUsize::MAX).await.unwrap();
    for event in &repeated {
        let kept = event.body().unwrap();
        assert_eq!((kept.content.len(), event.role), (FACT.len() + "As you said: ".len(), Role::Assistant));
        let echo = event.echo[0].of(&kept.content).unwrap();
        assert!(echo.starts_with("The harbour master") && echo.ends_with("signs"), "{echo}");
    }
}

// proves: DF-73 (spaces in memory)
#[tokio::test]
async fn two_spaces_that_are_written_at_once_stay_apart() {
    let spaces = [memory("one"), memory("two")];
    let [one, two] = &spaces;
    for round in 0..100 {
        let batch =
            |name: &str| (0..10).map(|n| Message::user(format!("{name} {round} {n}"))).collect::<Vec<_>>();
        let (a, b) = tokio::join!(one.events().log_all(batch("one")), two.events().log_all(batch("two")));
        assert_eq!((a.unwrap().len(), b.unwrap().len()), (10, 10));
    }
    for (memory, name) in spaces.iter().zip(["one", "two"]) {
        let events = memory.events().latest(&EventFilter::all(), std::num::NonZeroUsize::MAX).await.unwrap();
        assert_eq!(events.len(), 1_000);
        assert!(events.iter().all(|event| event.body().unwrap().content.starts_with(name)));
    }
}
