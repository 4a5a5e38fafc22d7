//! Rebuild of layers from the log, comparison with it, and the state of the graph.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mnemal::admin::RebuildMode;
use mnemal::events::{Cursor, Selector};
use mnemal::extract::{Extraction, Utterance};
use mnemal::graph::{EntityFilter, GraphDelta, MentionFilter};
use mnemal::ports::{Advance, Extractor, GraphStore as _, Projection as _, Projector as _};
use mnemal::settings::{ExtractSettings, UpgradePolicy};
use mnemal::types::{Layer, OwnerId, Producer};
use mnemal::{AsOf, Engine, FactFilter, Memory, Message, Scope, Settings, SpaceId, Timestamp, Within};
use mnemal_extract::RuleExtractor;
use mnemal_graph::GraphProjector;
use mnemal_store::{MemoryStore, Stores};

const LAYERS: [Layer; 3] = [Layer::Lexical, Layer::Learnings, Layer::Graph];

fn space(store: &Arc<MemoryStore>, extractor: Arc<dyn Extractor>) -> Memory {
    switching(store, extractor, UpgradePolicy::default())
}

fn switching(store: &Arc<MemoryStore>, extractor: Arc<dyn Extractor>, switch: UpgradePolicy) -> Memory {
    let settings =
        Settings { extract: ExtractSettings { switch, ..ExtractSettings::default() }, ..Settings::default() };
    let builder = Engine::builder().with_stores(Stores::all(Arc::clone(store))).with_extractor(extractor);
    builder.with_settings(settings).build().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()))
}

async fn dump(store: &MemoryStore) -> GraphDelta {
    GraphDelta {
        entities: store
            .entities(&EntityFilter::all())
            .await
            .unwrap()
            .into_iter()
            .map(Arc::unwrap_or_clone)
            .collect(),
        facts: store.history(&FactFilter::all()).await.unwrap(),
        mentions: store.mentions(&MentionFilter::all()).await.unwrap(),
        ..GraphDelta::default()
    }
}

async fn tell(memory: &Memory) {
    for text in
        ["I live in Oslo.", "My sister Anna works at Acme.", "I moved to Rome last year.", "I like tea."]
    {
        assert!(!memory.log(Message::user(text)).await.unwrap().value.duplicate);
    }
    assert!(memory.remember("the till is red").await.unwrap().gaps.is_empty());
    // On a slow machine one call does not read the whole log.
    loop {
        assert!(memory.facts().graph().await.unwrap().gaps.is_empty());
        let health = memory.admin().engine().health().await.unwrap();
        if health.parts.iter().all(|part| part.layer != Layer::Graph || part.behind == 0) {
            return;
        }
    }
}

async fn cursor(store: &MemoryStore) -> Cursor {
    mnemal::ports::Projection::<GraphDelta>::cursor(store).await.unwrap()
}

// proves: NX-02.2
#[tokio::test]
async fn every_layer_is_what_the_log_gives_and_is_again_after_a_rebuild() {
    let store = Arc::new(MemoryStore::new());
    let memory = space(&store, Arc::new(RuleExtractor::new()));
    tell(&memory).await;
    let (rows, engine) = (dump(&store).await, memory.admin().engine());
    assert!(rows.facts.len() > 3, "{rows:?}");
    for _ in 0..2 {
        for layer in LAYERS {
            assert_eq!(engine.rebuild(layer, RebuildMode::Check).await.unwrap().rows, 0, "{layer:?}");
        }
    }
    let mut spoilt = rows.facts[0].clone();
    spoilt.supports[0].confidence = mnemal::extract::Confidence::new(0.1);
    let delta = GraphDelta {
        facts: vec![spoilt],
        remove_mentions: vec![(rows.mentions[0].source.event, rows.mentions[0].entity)],
        ..GraphDelta::default()
    };
    let at = cursor(&store).await;
    store.apply(&delta, &Advance { expect: at, next: at, ..Advance::default() }).await.unwrap();
    assert_eq!(engine.rebuild(Layer::Graph, RebuildMode::Check).await.unwrap().rows, 2);
    for layer in LAYERS {
        engine.rebuild(layer, RebuildMode::Anew).await.unwrap();
        assert_eq!(engine.rebuild(layer, RebuildMode::Check).await.unwrap().rows, 0, "{layer:?}");
    }
    assert_eq!(dump(&store).await, rows);
    assert!(engine.rebuild(Layer::Receipts, RebuildMode::Check).await.is_err(), "they come from no log");
}

#[tokio::test]
async fn a_forget_leaves_nothing_and_brings_back_what_rests_on_others() {
    let store = Arc::new(MemoryStore::new());
    let memory = space(&store, Arc::new(RuleExtractor::new()));
    let first = memory.log(Message::user("I live in Oslo.")).await.unwrap().value.id;
    tell(&memory).await;
    memory.forget(Selector::Events(vec![first])).await.unwrap();
    let as_of = AsOf { world: memory.admin().engine().now(), belief: Timestamp::MAX };
    let graph = memory.facts().graph().await.unwrap();
    let facts = graph.history(&FactFilter::all()).await.unwrap();
    assert!(facts.iter().all(|fact| fact.supports.iter().all(|one| one.source.event != first)));
    assert!(
        !graph
            .facts(&FactFilter { subjects: Within::All, ..FactFilter::all() }, as_of)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(!memory.admin().engine().graph_state().await.unwrap().is_due);
    assert_eq!(memory.admin().engine().rebuild(Layer::Graph, RebuildMode::Check).await.unwrap().rows, 0);
}

/// The rules as another version, which panic on a word while the flag is set.
#[derive(Debug)]
struct Next(RuleExtractor, Arc<AtomicBool>);

impl Extractor for Next {
    fn producer(&self) -> Producer {
        Producer { id: "next".into(), version: 1 }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let text = utterance.event.body().map(|kept| kept.content.as_str()).unwrap_or_default();
        assert!(!(self.1.load(Ordering::Relaxed) && text.contains("tea")), "over tea");
        self.0.extract(utterance)
    }
}

#[tokio::test]
async fn upkeep_exchanges_the_rows_of_another_version_and_says_what_could_not_be_read() {
    let store = Arc::new(MemoryStore::new());
    tell(&space(&store, Arc::new(RuleExtractor::new()))).await;
    let is_failing = Arc::new(AtomicBool::new(true));
    let next = Arc::new(Next(RuleExtractor::new(), Arc::clone(&is_failing)));
    let memory = switching(&store, next, UpgradePolicy::Auto);
    let engine = memory.admin().engine();
    let old = dump(&store).await;
    assert!(engine.graph_state().await.unwrap().is_due);
    let compared = engine.rebuild(Layer::Graph, RebuildMode::Check).await.unwrap().difference.unwrap();
    assert_eq!((compared.facts.added, compared.facts.gone), (0, 1), "{compared:?}");
    assert_eq!(dump(&store).await, old, "to compare changes nothing");
    let tended = engine.maintain(&OwnerId::new("a").unwrap()).await.unwrap();
    assert_eq!(tended.unrenewed, 0);
    let state = engine.graph_state().await.unwrap();
    assert!(!state.is_due);
    assert_eq!(state.edition.difference.unwrap().facts, compared.facts);
    assert_eq!(state.dead.len(), 1);
    assert_eq!(state.dead[0].why, "the extractor panicked");
    is_failing.store(false, Ordering::Relaxed);
    engine.rebuild(Layer::Graph, RebuildMode::Anew).await.unwrap();
    let letters = mnemal::ports::Projection::<GraphDelta>::dead_letters(store.as_ref(), NonZeroUsize::MIN)
        .await
        .unwrap();
    assert_eq!(letters, []);
    assert_eq!(dump(&store).await.facts.len(), old.facts.len());
}

/// The rules as another version, with or without their claims about tea.
#[derive(Debug)]
struct Fewer(RuleExtractor, &'static str);

impl Extractor for Fewer {
    fn producer(&self) -> Producer {
        Producer { id: format!("without {}", self.1), version: 1 }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let text = utterance.event.body().map(|kept| kept.content.as_str()).unwrap_or_default();
        if text.contains(self.1) { Extraction::default() } else { self.0.extract(utterance) }
    }
}

// proves: NX-02.7
#[tokio::test]
async fn rows_that_another_version_reads_otherwise_stay_until_somebody_agrees() {
    let store = Arc::new(MemoryStore::new());
    tell(&space(&store, Arc::new(RuleExtractor::new()))).await;
    let old = dump(&store).await;
    let memory = space(&store, Arc::new(Fewer(RuleExtractor::new(), "tea")));
    let (engine, owner) = (memory.admin().engine(), OwnerId::new("a").unwrap());
    for _ in 0..3 {
        assert_eq!(engine.maintain(&owner).await.unwrap().unrenewed, 0);
        assert_eq!(dump(&store).await, old, "no row changes by itself");
        let state = engine.graph_state().await.unwrap();
        assert!(state.is_due && state.is_held, "{state:?}");
        let difference = state.edition.difference.unwrap();
        assert_eq!((difference.facts.gone, difference.facts.added), (1, 0), "{difference:?}");
        assert_eq!(difference.examples.len(), 1);
        assert_eq!(difference.by.unwrap().id, "graph without tea 1");
    }
    let _ack = memory.log(Message::user("I live in Bergen. I like coffee.")).await.unwrap();
    assert!(memory.facts().graph().await.unwrap().gaps.is_empty());
    let with_new = dump(&store).await;
    assert!(with_new.facts.len() > old.facts.len(), "the new version reads what is new");
    assert!(engine.graph_state().await.unwrap().is_held);
    let done = engine.rebuild(Layer::Graph, RebuildMode::Anew).await.unwrap();
    assert_eq!(done.difference.unwrap().facts.gone, 1);
    let state = engine.graph_state().await.unwrap();
    assert!(!state.is_due && !state.is_held);
    assert_eq!(engine.rebuild(Layer::Graph, RebuildMode::Check).await.unwrap().rows, 0);
}

#[tokio::test]
async fn rows_that_another_version_reads_alike_are_its_own_without_a_question() {
    let store = Arc::new(MemoryStore::new());
    tell(&space(&store, Arc::new(RuleExtractor::new()))).await;
    let memory = space(&store, Arc::new(Fewer(RuleExtractor::new(), "a word that nobody says")));
    let engine = memory.admin().engine();
    assert!(engine.graph_state().await.unwrap().is_held, "it is not known yet");
    assert_eq!(engine.maintain(&OwnerId::new("a").unwrap()).await.unwrap().unrenewed, 0);
    assert!(!engine.graph_state().await.unwrap().is_due);
    assert_eq!(engine.rebuild(Layer::Graph, RebuildMode::Check).await.unwrap().rows, 0);
}

#[tokio::test]
async fn a_forget_makes_the_rows_anew_with_the_version_that_is_there() {
    let store = Arc::new(MemoryStore::new());
    let first = space(&store, Arc::new(RuleExtractor::new()));
    let oslo = first.log(Message::user("I live in Oslo.")).await.unwrap().value.id;
    tell(&first).await;
    let memory = space(&store, Arc::new(Fewer(RuleExtractor::new(), "tea")));
    let engine = memory.admin().engine();
    assert!(engine.graph_state().await.unwrap().is_held);
    memory.forget(Selector::Events(vec![oslo])).await.unwrap();
    assert!(!engine.graph_state().await.unwrap().is_due);
    assert_eq!(engine.rebuild(Layer::Graph, RebuildMode::Check).await.unwrap().rows, 0);
}

/// The rule that reads "I live in Oslo."
const LIVES: &str = "en.lives_in.live";
/// The rule that finds the same home by weighing the words.
const WEIGHED: &str = "en.lives_in.weighed";

fn without(store: &Arc<MemoryStore>, rules: &[&str]) -> Memory {
    let disabled_rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
    let extract = ExtractSettings { disabled_rules, ..ExtractSettings::default() };
    let settings = Settings { extract, ..Settings::default() };
    settings.check().unwrap();
    let builder = Engine::builder().with_stores(Stores::all(Arc::clone(store))).with_settings(settings);
    builder.build().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()))
}

/// Folds the log of a store into separate rows.
async fn folded(log: &Arc<MemoryStore>, extractor: RuleExtractor) -> GraphDelta {
    let beside = Arc::new(MemoryStore::new());
    let projector = GraphProjector::new(
        Arc::<MemoryStore>::clone(log),
        Arc::<MemoryStore>::clone(&beside),
        Arc::new(extractor),
    );
    while projector.step(NonZeroUsize::new(100).unwrap()).await.unwrap().behind > 0 {}
    dump(&beside).await
}

// proves: AD-32
#[tokio::test]
async fn a_rule_is_withdrawn_as_if_it_had_never_been_when_somebody_agrees() {
    let store = Arc::new(MemoryStore::new());
    tell(&without(&store, &[])).await;
    let old = dump(&store).await;
    assert_eq!(old, folded(&store, RuleExtractor::new()).await);
    let by = |rows: &GraphDelta| {
        rows.facts
            .iter()
            .flat_map(|fact| &fact.supports)
            .filter(|support| support.rule.as_str() == LIVES)
            .count()
    };
    assert!(by(&old) > 0);
    let memory = without(&store, &[LIVES, WEIGHED]);
    let (engine, owner) = (memory.admin().engine(), OwnerId::new("a").unwrap());
    assert_eq!(engine.maintain(&owner).await.unwrap().unrenewed, 0);
    assert_eq!(dump(&store).await, old, "no row changes by itself");
    let state = engine.graph_state().await.unwrap();
    assert!(state.is_held && state.edition.difference.unwrap().facts.gone > 0);
    engine.rebuild(Layer::Graph, RebuildMode::Anew).await.unwrap();
    let new = dump(&store).await;
    assert_eq!(by(&new), 0);
    assert!(!new.facts.is_empty() && !engine.graph_state().await.unwrap().is_held);
    assert_eq!(new, folded(&store, RuleExtractor::new().without([LIVES, WEIGHED])).await);
    // New turns are also read without the rule, and after an undo with it.
    let _ack = memory.log(Message::user("I live in Bergen.")).await.unwrap();
    assert!(memory.facts().graph().await.unwrap().gaps.is_empty());
    assert_eq!(by(&dump(&store).await), 0);
    without(&store, &[]).admin().engine().rebuild(Layer::Graph, RebuildMode::Anew).await.unwrap();
    assert_eq!(dump(&store).await, folded(&store, RuleExtractor::new()).await);
}
