//! Degradation: every optional part × {absent, failing, hanging, panicking, stale} gives an answer within its deadline, exactly
//! that gap, and everything else unchanged; and every combination of absent parts.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mnemal::ports::{
    Embedder, GraphStore, IndexStore, LearningStore, ReceiptStore, SummaryStore, WorkingStore,
};
use mnemal::types::{Degraded, GapCause, InstallationKey, Layer};
use mnemal::working::PutOptions;
use mnemal::{
    Builder, Context, Engine, ErrorKind, Event, EventId, Gap, Memory, Message, NoteKey, RecallResult, Scope,
    SpaceId,
};
use mnemal_core::{IndexEntry, Integrity, Remnant, Scrub, Seq, Slot, Upkeep};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{Fault, Faulty, HashEmbedder, ManualClock, SeededIds};

/// Each engine has its own seed of ids, as each process does.
static SEED: AtomicU64 = AtomicU64::new(1);

const DEADLINE: Duration = Duration::from_millis(200);
/// Source: the default of `embedding.query_deadline_ms`.
const QUERY_DEADLINE: Duration = Duration::from_millis(30);

fn builder() -> Builder {
    Engine::builder()
        .with_clock(Arc::new(ManualClock::default()))
        .with_ids(Arc::new(SeededIds::new(SEED.fetch_add(1, Ordering::Relaxed))))
        .with_key(InstallationKey::new([9; 32]))
        .with_embedder(embedder())
}

fn embedder() -> Arc<dyn Embedder> {
    Arc::new(HashEmbedder::new("hash".try_into_model(), 16))
}

trait TryIntoModel {
    fn try_into_model(&self) -> mnemal::types::ModelId;
}

impl TryIntoModel for str {
    fn try_into_model(&self) -> mnemal::types::ModelId {
        mnemal::types::ModelId::new(self).unwrap()
    }
}

fn memory(builder: Builder, stores: Stores) -> Memory {
    builder.with_stores(stores).build().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()))
}

/// A healthy store with thirty events and a note.
async fn filled() -> Stores {
    let stores = Stores::from(MemoryStore::new());
    let memory = memory(builder(), stores.clone());
    for n in 0..30 {
        let session = mnemal::SessionId::new(format!("s{}", n % 3)).unwrap();
        let message = Message::user(format!("the apple number {n} is red and round")).session(session);
        let _ack = memory.log(message).await.unwrap();
    }
    let note = memory.remember("Deploys happen on Tuesdays").by_user();
    let _note = note
        .key(NoteKey::new("deploy_day").unwrap())
        .importance(mnemal::types::Importance::new(0.9).unwrap())
        .await
        .unwrap();
    stores
}

async fn ask(memory: &Memory) -> (Degraded<RecallResult>, Degraded<Context>) {
    let recalled = memory.recall("which apple is red").await.unwrap();
    let context = memory.context("when do deploys happen").await.unwrap();
    (recalled, context)
}

/// Returns the unexpected gaps, without those of layers that this build lacks.
fn news(gaps: &[Gap]) -> Vec<Gap> {
    let missing = |layer| matches!(layer, Layer::Graph | Layer::Summaries | Layer::Working);
    gaps.iter().filter(|gap| !missing(gap.layer)).copied().collect()
}

fn cause(fault: Fault) -> GapCause {
    match fault {
        Fault::Failing(kind) => GapCause::Failed(kind),
        Fault::Hanging => GapCause::TimedOut(DEADLINE),
        _ => GapCause::Failed(ErrorKind::Internal),
    }
}

const FAULTS: [Fault; 3] = [Fault::Failing(ErrorKind::Unavailable), Fault::Hanging, Fault::Panicking];

#[tokio::test(start_paused = true)]
async fn a_healthy_engine_has_no_news() {
    let stores = filled().await;
    let (recalled, context) = ask(&memory(builder(), stores)).await;
    assert_eq!(news(&recalled.gaps), []);
    assert_eq!(news(&context.gaps), []);
    assert!(!recalled.hits.is_empty());
    assert!(context.text.contains("Deploys happen on Tuesdays"));
}

// proves: DF-50
#[tokio::test(start_paused = true)]
async fn an_embedder_that_misbehaves_leaves_words() {
    let stores = filled().await;
    for fault in FAULTS {
        let broken: Arc<dyn Embedder> = Arc::new(Faulty::new(embedder(), fault));
        let (recalled, context) = ask(&memory(builder().with_embedder(broken), stores.clone())).await;
        // The vector of a question has its own deadline.
        let cause = match cause(fault) {
            GapCause::TimedOut(_) => GapCause::TimedOut(QUERY_DEADLINE),
            other => other,
        };
        assert_eq!(news(&recalled.gaps), [Gap { layer: Layer::Vector, cause }], "{fault:?}");
        assert_eq!(news(&context.gaps), [Gap { layer: Layer::Vector, cause }], "{fault:?}");
        assert!(!recalled.hits.is_empty());
        assert!(context.text.contains("Deploys happen on Tuesdays"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_index_that_misbehaves_leaves_the_newest_events() {
    let stores = filled().await;
    for fault in FAULTS {
        let index = stores.index.clone();
        let Slot::Filled(index) = index else { unreachable!() };
        let broken: Arc<dyn IndexStore> = Arc::new(Faulty::new(index, fault));
        let stores = Stores { index: broken.into(), ..stores.clone() };
        let (recalled, context) = ask(&memory(builder(), stores)).await;
        let lexical = Gap { layer: Layer::Lexical, cause: cause(fault) };
        assert!(news(&recalled.gaps).contains(&lexical), "{fault:?}: {:?}", recalled.gaps);
        assert!(
            news(&recalled.gaps).iter().all(|gap| matches!(gap.layer, Layer::Lexical | Layer::Vector)),
            "{:?}",
            recalled.gaps
        );
        assert!(news(&context.gaps).contains(&lexical), "{fault:?}: {:?}", context.gaps);
        assert!(context.text.contains("Deploys happen on Tuesdays"), "notes do not need the index");
    }
}

#[tokio::test(start_paused = true)]
async fn an_index_that_lags_says_how_far() {
    let stores = filled().await;
    let Slot::Filled(index) = stores.index.clone() else { unreachable!() };
    let broken: Arc<dyn IndexStore> = Arc::new(Faulty::new(index, Fault::Stale));
    let (recalled, _) = ask(&memory(builder(), Stores { index: broken.into(), ..stores })).await;
    let lexical: Vec<Gap> =
        news(&recalled.gaps).into_iter().filter(|gap| gap.layer == Layer::Lexical).collect();
    assert_eq!(lexical, [Gap { layer: Layer::Lexical, cause: GapCause::Stale { behind: 31 } }]);
}

#[tokio::test(start_paused = true)]
async fn a_large_space_answers_from_its_newest_events_until_it_is_loaded() {
    let stores = filled().await;
    let mut settings = mnemal::Settings::default();
    settings.recall.load_at_once = 5;
    let memory = memory(builder().with_settings(settings), stores);
    let first = memory.recall("which apple is red").await.unwrap();
    assert_eq!(
        news(&first.gaps),
        [Gap { layer: Layer::Lexical, cause: GapCause::Stale { behind: 26 } }],
        "the log holds thirty events and a note"
    );
    assert!(!first.hits.is_empty() && first.hits.iter().all(|hit| hit.event.seq.0 > 26));
    memory.admin().engine().load().await.unwrap();
    let whole = memory.recall("which apple is red").await.unwrap();
    assert_eq!(news(&whole.gaps), []);
    assert!(whole.hits.len() > first.hits.len());
}

#[tokio::test(start_paused = true)]
async fn notes_that_misbehave_leave_recall() {
    let stores = filled().await;
    for fault in FAULTS {
        let Slot::Filled(notes) = stores.learnings.clone() else { unreachable!() };
        let broken: Arc<dyn LearningStore> = Arc::new(Faulty::new(notes, fault));
        let (recalled, context) =
            ask(&memory(builder(), Stores { learnings: broken.into(), ..stores.clone() })).await;
        assert_eq!(news(&context.gaps), [Gap { layer: Layer::Learnings, cause: cause(fault) }], "{fault:?}");
        assert!(recalled.hits.len() >= 5, "{fault:?}");
        assert!(news(&recalled.gaps).iter().all(|gap| gap.layer == Layer::Learnings));
    }
}

#[tokio::test(start_paused = true)]
async fn notes_that_lag_say_how_far() {
    let stores = filled().await;
    let Slot::Filled(notes) = stores.learnings.clone() else { unreachable!() };
    let broken: Arc<dyn LearningStore> = Arc::new(Faulty::new(notes, Fault::Stale));
    let (_, context) = ask(&memory(builder(), Stores { learnings: broken.into(), ..stores })).await;
    assert_eq!(news(&context.gaps), [Gap { layer: Layer::Learnings, cause: GapCause::Stale { behind: 31 } }]);
}

#[tokio::test(start_paused = true)]
async fn receipts_that_misbehave_hold_nothing_back() {
    let stores = filled().await;
    let whole = ask(&memory(builder(), stores.clone())).await.1;
    for fault in FAULTS {
        let Slot::Filled(receipts) = stores.receipts.clone() else { unreachable!() };
        let broken: Arc<dyn ReceiptStore> = Arc::new(Faulty::new(receipts, fault));
        let (recalled, context) =
            ask(&memory(builder(), Stores { receipts: broken.into(), ..stores.clone() })).await;
        assert_eq!(news(&context.gaps), [Gap { layer: Layer::Receipts, cause: cause(fault) }], "{fault:?}");
        assert_eq!(news(&recalled.gaps), []);
        let shown =
            |context: &Context| context.receipt.lines.iter().map(|line| line.record).collect::<Vec<_>>();
        assert_eq!(shown(&context), shown(&whole));
    }
}

/// A healthy store in which the graph, the summaries and working memory have caught up too.
async fn furnished() -> Stores {
    let stores = filled().await;
    let memory = memory(builder(), stores.clone());
    assert!(memory.facts().graph().await.unwrap().gaps.is_empty());
    assert_eq!(memory.admin().engine().refresh_summaries().await.unwrap(), []);
    let working = memory.working().unwrap();
    let _kept = working.put("plan", "buy apples".to_owned(), PutOptions::default()).await.unwrap();
    stores
}

/// Returns the context at the start of a session, and its gaps.
async fn begins(memory: &Memory) -> (Degraded<Context>, Vec<Gap>) {
    let context = memory.context("").await.unwrap();
    let gaps = context.gaps.clone();
    (context, gaps)
}

#[tokio::test(start_paused = true)]
async fn a_graph_that_misbehaves_leaves_the_rest() {
    let stores = furnished().await;
    for fault in FAULTS {
        let Slot::Filled(graph) = stores.graph.clone() else { unreachable!() };
        let broken: Arc<dyn GraphStore> = Arc::new(Faulty::new(graph, fault));
        let (recalled, context) =
            ask(&memory(builder(), Stores { graph: broken.into(), ..stores.clone() })).await;
        let gap = Gap { layer: Layer::Graph, cause: cause(fault) };
        assert!(context.gaps.contains(&gap), "{fault:?}: {:?}", context.gaps);
        assert!(context.gaps.iter().all(|gap| gap.layer == Layer::Graph), "{fault:?}: {:?}", context.gaps);
        assert!(recalled.hits.len() >= 5 && context.text.contains("Deploys happen on Tuesdays"), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn turns_that_nothing_says_have_ended_come_with_the_gap_of_the_graph() {
    let stores = furnished().await;
    let Slot::Filled(graph) = stores.graph.clone() else { unreachable!() };
    let broken: Arc<dyn GraphStore> = Arc::new(Faulty::new(graph, Fault::Failing(ErrorKind::Unavailable)));
    let memory = memory(builder(), Stores { graph: broken.into(), ..stores });
    let session = mnemal::SessionId::new("new").unwrap();
    let asked = memory
        .context("which apple is red")
        .session(session)
        .sections(vec![mnemal::context::Section::Recent]);
    let context = asked.await.unwrap();
    assert!(context.text.contains("the apple number"), "{}", context.text);
    let gap = Gap { layer: Layer::Graph, cause: GapCause::Failed(ErrorKind::Unavailable) };
    assert!(context.gaps.contains(&gap), "{:?}", context.gaps);
}

#[tokio::test(start_paused = true)]
async fn summaries_that_misbehave_leave_the_rest() {
    let stores = furnished().await;
    for fault in FAULTS {
        let Slot::Filled(summaries) = stores.summaries.clone() else { unreachable!() };
        let broken: Arc<dyn SummaryStore> = Arc::new(Faulty::new(summaries, fault));
        let broken = memory(builder(), Stores { summaries: broken.into(), ..stores.clone() });
        let (context, gaps) = begins(&broken).await;
        assert_eq!(gaps, [Gap { layer: Layer::Summaries, cause: cause(fault) }], "{fault:?}");
        assert!(context.text.contains("Deploys happen on Tuesdays"), "{fault:?}: {}", context.text);
        let (recalled, asked) = ask(&broken).await;
        assert!(recalled.gaps.is_empty(), "nobody asked them: {:?}", recalled.gaps);
        assert_eq!(asked.gaps, gaps, "{fault:?}: the overview is missing");
        assert!(asked.text.contains("Deploys happen on Tuesdays"), "{fault:?}: {}", asked.text);
    }
}

#[tokio::test(start_paused = true)]
async fn working_memory_that_misbehaves_leaves_the_rest() {
    let stores = furnished().await;
    let whole = ask(&memory(builder(), stores.clone())).await.1;
    assert!(whole.text.contains("plan"), "{}", whole.text);
    for fault in FAULTS {
        let Slot::Filled(working) = stores.working.clone() else { unreachable!() };
        let broken: Arc<dyn WorkingStore> = Arc::new(Faulty::new(working, fault));
        let (recalled, context) =
            ask(&memory(builder(), Stores { working: broken.into(), ..stores.clone() })).await;
        assert_eq!(context.gaps, [Gap { layer: Layer::Working, cause: cause(fault) }], "{fault:?}");
        assert!(recalled.gaps.is_empty() && context.text.contains("Deploys happen on Tuesdays"), "{fault:?}");
    }
}

// proves: NB-97, NB-24, RB-69
#[tokio::test(start_paused = true)]
async fn every_combination_of_absent_layers_answers() {
    let layers = [
        Layer::Lexical,
        Layer::Vector,
        Layer::Learnings,
        Layer::Receipts,
        Layer::Graph,
        Layer::Summaries,
        Layer::Working,
    ];
    let stores = furnished().await;
    for set in 0_u32..1 << layers.len() {
        let absent: Vec<Layer> =
            (0..layers.len()).filter(|bit| set & (1 << bit) != 0).map(|bit| layers[bit]).collect();
        let builder = absent.iter().fold(builder(), |builder, layer| builder.without(*layer));
        let (recalled, context) = ask(&memory(builder, stores.clone())).await;
        for layer in layers {
            let gap = Gap { layer, cause: GapCause::NotConfigured };
            let expected = absent.contains(&layer);
            let told = context.gaps.contains(&gap) || recalled.gaps.contains(&gap);
            assert_eq!(told, expected, "without {absent:?}: {layer:?}");
        }
        let gaps = context.gaps.iter().chain(&recalled.gaps);
        assert!(gaps.clone().all(|gap| gap.cause == GapCause::NotConfigured), "{absent:?}: {gaps:?}");
        assert!(!recalled.hits.is_empty() && context.tokens <= context.budget, "{absent:?}");
        let has_notes = context.text.contains("Deploys happen on Tuesdays");
        assert!(has_notes || absent.contains(&Layer::Learnings), "{absent:?}: {}", context.text);
    }
}

type Change = fn(&mut mnemal::Settings);

// proves: NB-84 (the switches of the layers), NB-97
#[tokio::test(start_paused = true)]
async fn a_layer_that_the_settings_switch_off_is_a_gap_and_nothing_else() {
    let switches: [(Layer, Change); 9] = [
        (Layer::Lexical, |settings| settings.layers.lexical = false),
        (Layer::Vector, |settings| settings.layers.vector = false),
        (Layer::Learnings, |settings| settings.layers.learnings = false),
        (Layer::Receipts, |settings| settings.layers.receipts = false),
        (Layer::Graph, |settings| settings.layers.graph = false),
        (Layer::Graph, |settings| settings.extract.enabled = false),
        (Layer::Summaries, |settings| settings.layers.summaries = false),
        (Layer::Summaries, |settings| settings.summaries.enabled = false),
        (Layer::Working, |settings| settings.layers.working = false),
    ];
    let stores = furnished().await;
    for (layer, switch_off) in switches {
        let mut settings = mnemal::Settings::default();
        switch_off(&mut settings);
        let engine = builder().with_settings(settings).with_embedder(embedder());
        let memory = memory(engine, stores.clone());
        let (recalled, context) = ask(&memory).await;
        let gap = Gap { layer, cause: GapCause::NotConfigured };
        let gaps: Vec<Gap> = context.gaps.iter().chain(&recalled.gaps).copied().collect();
        assert!(gaps.contains(&gap) && gaps.iter().all(|other| *other == gap), "{layer:?}: {gaps:?}");
        assert!(!recalled.hits.is_empty(), "{layer:?}");
        let _ack = memory.log("said while it is off").await.unwrap();
        let health = memory.admin().engine().health().await.unwrap();
        let part = health.parts.iter().find(|part| part.layer == layer).unwrap();
        assert_eq!(part.cause, Some(GapCause::NotConfigured), "{layer:?}");
    }
    let mut settings = mnemal::Settings::default();
    settings.layers.context = false;
    let (_, context) = ask(&memory(builder().with_settings(settings), stores)).await;
    assert_eq!(context.gaps, [Gap { layer: Layer::Context, cause: GapCause::NotConfigured }]);
}

// proves: NB-84 (`learning.enabled`)
#[tokio::test]
async fn where_nothing_is_learnt_notes_are_kept() {
    let mut settings = mnemal::Settings::default();
    settings.learning.enabled = false;
    let memory = memory(builder().with_settings(settings), Stores::from(MemoryStore::new()));
    let _ack = memory.log("I prefer short answers. Please always answer in German.").await.unwrap();
    let _note = memory.remember("Deploys happen on Tuesdays").by_user().await.unwrap();
    let all = memory.preferences().all_learnings(&mnemal::LearningFilter::all()).await.unwrap();
    let held: Vec<&str> = all.iter().map(|one| one.content.as_str()).collect();
    assert_eq!(held, ["Deploys happen on Tuesdays"]);
}

// proves: NB-87
#[tokio::test(start_paused = true)]
async fn without_contexts_one_is_empty_and_recall_is_whole() {
    let stores = furnished().await;
    let (recalled, context) = ask(&memory(builder().without(Layer::Context), stores)).await;
    assert_eq!(context.gaps, [Gap { layer: Layer::Context, cause: GapCause::NotConfigured }]);
    assert!(context.text.is_empty() && context.receipt.lines.is_empty());
    assert!(recalled.gaps.is_empty() && recalled.hits.len() >= 5);
}

#[tokio::test(start_paused = true)]
async fn without_any_store_reads_answer_and_writes_fail() {
    let memory = memory(builder(), Stores::none());
    let (recalled, context) = ask(&memory).await;
    assert!(recalled.hits.is_empty() && context.text.is_empty());
    assert!(context.gaps.contains(&Gap { layer: Layer::Events, cause: GapCause::NotConfigured }));
    assert_eq!(memory.log("hello").await.unwrap_err().kind(), ErrorKind::Unsupported);
}

/// A store that reports lost rows of the graph in its quick check.
#[derive(Debug)]
struct Lossy(MemoryStore);

#[async_trait::async_trait]
impl Upkeep for Lossy {
    async fn check(&self) -> mnemal::Result<Integrity> {
        self.0.check().await
    }

    async fn look_over(&self) -> mnemal::Result<Vec<(Layer, ErrorKind)>> {
        Ok(vec![(Layer::Graph, ErrorKind::Corrupt)])
    }

    async fn scrub(&self, texts: &[String]) -> mnemal::Result<Scrub> {
        self.0.scrub(texts).await
    }

    async fn backup(&self, to: &std::path::Path) -> mnemal::Result<()> {
        self.0.backup(to).await
    }

    async fn search_bytes(&self, texts: &[String]) -> mnemal::Result<Vec<Remnant>> {
        self.0.search_bytes(texts).await
    }

    async fn seal(&self) -> mnemal::Result<u64> {
        self.0.seal().await
    }

    async fn damaged_index(&self) -> mnemal::Result<Vec<(Seq, Seq)>> {
        self.0.damaged_index().await
    }

    async fn reindex(&self, stretch: (Seq, Seq), rows: &[(Event, IndexEntry)]) -> mnemal::Result<u64> {
        self.0.reindex(stretch, rows).await
    }

    async fn unfinished_forgets(&self) -> mnemal::Result<Vec<EventId>> {
        self.0.unfinished_forgets().await
    }

    async fn forgets_finished(&self, decisions: &[EventId]) -> mnemal::Result<()> {
        self.0.forgets_finished(decisions).await
    }
}

#[tokio::test]
async fn rows_that_were_lost_are_told_by_a_status_that_looks_at_them() {
    let upkeep: Arc<dyn Upkeep> = Arc::new(Lossy(MemoryStore::new()));
    let stores = Stores { upkeep: Slot::Filled(upkeep), ..filled().await };
    let memory = memory(builder(), stores);
    let _graph = memory.facts().graph().await.unwrap();
    let of = |report: &mnemal::types::HealthReport| {
        let part = report.parts.iter().find(|part| part.layer == Layer::Graph).unwrap();
        (part.status, part.cause)
    };
    assert_eq!(
        of(&memory.admin().health().await.unwrap()),
        (mnemal::types::Status::Ok, None),
        "the quick answer looks at none"
    );
    let report = memory.admin().examine().await.unwrap();
    assert_eq!(of(&report), (mnemal::types::Status::Degraded, Some(GapCause::Failed(ErrorKind::Corrupt))));
    assert_eq!(report.status(), mnemal::types::Status::Degraded);
    assert_eq!(memory.admin().engine().take_rebuilt_tables(), Vec::<&str>::new());
}
