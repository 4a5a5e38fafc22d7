//! Every optional part × {absent, failing, hanging, panicking, stale}: an answer within its deadline, exactly that gap,
//! everything else unchanged.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mnemal::{
    Builder, Context, Degraded, Embedder, Engine, ErrorKind, Gap, GapCause, IndexStore, InstallationKey,
    Layer, LearningStore, Memory, Message, NoteKey, Recalled, ReceiptStore, Scope, SpaceId,
};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{Fault, Faulty, HashEmbedder, ManualClock, SeededIds};

/// Each engine draws its own ids, as each process does.
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
    fn try_into_model(&self) -> mnemal::ModelId;
}

impl TryIntoModel for str {
    fn try_into_model(&self) -> mnemal::ModelId {
        mnemal::ModelId::new(self).unwrap()
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
        .importance(mnemal::Importance::new(0.9).unwrap())
        .await
        .unwrap();
    stores
}

async fn ask(memory: &Memory) -> (Degraded<Recalled>, Degraded<Context>) {
    let recalled = memory.recall("which apple is red").await.unwrap();
    let context = memory.context("when do deploys happen").await.unwrap();
    (recalled, context)
}

/// Gaps that are no news: layers that this version does not have.
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
        // A question's vector has a deadline of its own.
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
        let mnemal::Slot::Filled(index) = index else { unreachable!() };
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
    let mnemal::Slot::Filled(index) = stores.index.clone() else { unreachable!() };
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
    memory.engine().load().await.unwrap();
    let whole = memory.recall("which apple is red").await.unwrap();
    assert_eq!(news(&whole.gaps), []);
    assert!(whole.hits.len() > first.hits.len());
}

#[tokio::test(start_paused = true)]
async fn notes_that_misbehave_leave_recall() {
    let stores = filled().await;
    for fault in FAULTS {
        let mnemal::Slot::Filled(notes) = stores.learnings.clone() else { unreachable!() };
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
    let mnemal::Slot::Filled(notes) = stores.learnings.clone() else { unreachable!() };
    let broken: Arc<dyn LearningStore> = Arc::new(Faulty::new(notes, Fault::Stale));
    let (_, context) = ask(&memory(builder(), Stores { learnings: broken.into(), ..stores })).await;
    assert_eq!(news(&context.gaps), [Gap { layer: Layer::Learnings, cause: GapCause::Stale { behind: 31 } }]);
}

#[tokio::test(start_paused = true)]
async fn receipts_that_misbehave_hold_nothing_back() {
    let stores = filled().await;
    let whole = ask(&memory(builder(), stores.clone())).await.1;
    for fault in FAULTS {
        let mnemal::Slot::Filled(receipts) = stores.receipts.clone() else { unreachable!() };
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

// proves: NB-97, NB-24, RB-69 (of the layers that there are)
#[tokio::test(start_paused = true)]
async fn every_combination_of_absent_layers_answers() {
    let layers = [Layer::Lexical, Layer::Vector, Layer::Learnings, Layer::Receipts];
    for set in 0_u32..16 {
        let absent: Vec<Layer> =
            (0_usize..4).filter(|bit| set & (1 << bit) != 0).map(|bit| layers[bit]).collect();
        let builder = absent.iter().fold(builder(), |builder, layer| builder.without(*layer));
        let (recalled, context) = ask(&memory(builder, filled().await)).await;
        for layer in layers {
            let gap = Gap { layer, cause: GapCause::NotConfigured };
            let expected = absent.contains(&layer);
            let told = context.gaps.contains(&gap) || recalled.gaps.contains(&gap);
            assert_eq!(told, expected, "without {absent:?}: {layer:?}");
        }
        assert!(context.tokens <= context.budget);
    }
}

#[tokio::test(start_paused = true)]
async fn without_any_store_reads_answer_and_writes_fail() {
    let memory = memory(builder(), Stores::none());
    let (recalled, context) = ask(&memory).await;
    assert!(recalled.hits.is_empty() && context.text.is_empty());
    assert!(context.gaps.contains(&Gap { layer: Layer::Events, cause: GapCause::NotConfigured }));
    assert_eq!(memory.log("hello").await.unwrap_err().kind(), ErrorKind::Unsupported);
}
