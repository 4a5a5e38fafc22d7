//! Working memory: access, visibility, and expiry.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use mnemal_core::{
    AsOf, Category, Clock as _, ContextRequest, ContextSource as _, Embedder, Error, ErrorKind, ExpiryError,
    Inventory, InventoryScope, KeyPrefix, Layer, ModelId, RepeatPolicy, Section, SessionId, Slot, Tag,
    Timestamp, TokenCount, Within, WorkingStore,
};
use mnemal_store::MemoryStore;
use mnemal_testkit::ManualClock;
use mnemal_working::{PutOptions, SteadyClock, WorkingMemory, WorkingQuery, WorkingSettings, WorkingSource};
use proptest::prelude::*;

const MINUTE: Duration = Duration::from_mins(1);

/// A store, a clock, and callers.
struct Desk {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    steady: Arc<SteadyClock>,
}

impl Desk {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let steady = Arc::new(SteadyClock::new(Arc::<ManualClock>::clone(&clock)));
        Self { store: Arc::new(MemoryStore::new()), clock, steady }
    }

    fn caller(&self, own: &str) -> WorkingMemory {
        self.caller_with(own, WorkingSettings::default())
    }

    fn caller_with(&self, own: &str, settings: WorkingSettings) -> WorkingMemory {
        let store: Arc<dyn WorkingStore> = Arc::<MemoryStore>::clone(&self.store);
        WorkingMemory::new(store, Arc::clone(&self.steady), prefix(own), settings)
    }

    /// The same store after a restart.
    fn restarted(&self) -> Self {
        let steady = Arc::new(SteadyClock::new(Arc::<ManualClock>::clone(&self.clock)));
        Self { store: Arc::clone(&self.store), clock: Arc::clone(&self.clock), steady }
    }
}

fn prefix(path: &str) -> KeyPrefix {
    KeyPrefix::new(path).unwrap()
}

fn done<T>(work: impl Future<Output = T>) -> T {
    work.now_or_never().unwrap()
}

fn put(caller: &WorkingMemory, name: &str, value: &str) -> mnemal_working::PutOutcome {
    done(caller.put(name, value.to_owned(), PutOptions::default())).unwrap()
}

fn living_for(ttl: Duration) -> PutOptions {
    PutOptions { ttl: Some(ttl), ..PutOptions::default() }
}

fn keys(caller: &WorkingMemory, below: &KeyPrefix) -> Vec<String> {
    let items = done(caller.inventory(below)).unwrap();
    items.into_iter().map(|item| item.key.as_str().to_owned()).collect()
}

fn kind<T>(answer: mnemal_core::Result<T>) -> Option<ErrorKind> {
    answer.err().map(|error| error.kind())
}

// proves: RB-31
#[test]
fn a_caller_writes_into_its_own_namespace_and_reads_all() {
    let desk = Desk::new();
    let (one, two) = (desk.caller("session/a"), desk.caller("session/ab"));
    put(&one, "plan", "of a");
    put(&two, "session/ab/plan", "of ab");
    assert_eq!(done(one.get("plan")).unwrap().value, "of a");
    assert_eq!(done(one.get("session/ab/plan")).unwrap().value, "of ab");
    for foreign in ["session/ab/plan", "session/a", "patrol/x/y", "session/a/../ab/plan"] {
        let written = done(one.put(foreign, "mine".to_owned(), PutOptions::default()));
        assert_eq!(kind(written), Some(ErrorKind::Invalid), "{foreign}");
        assert_eq!(kind(done(one.remove(foreign))), Some(ErrorKind::Invalid), "{foreign}");
    }
    assert_eq!(done(two.get("plan")).unwrap().value, "of ab");
}

// proves: RB-30, RB-31, DF-101
#[test]
fn inventories_end_at_a_segment() {
    let desk = Desk::new();
    put(&desk.caller("session/a"), "plan", "1");
    put(&desk.caller("session/ab"), "plan", "2");
    put(&desk.caller("patrol/disk"), "full", "3");
    let reader = desk.caller("session/a");
    assert_eq!(keys(&reader, reader.own()), ["session/a/plan"]);
    assert_eq!(keys(&reader, &prefix("session")), ["session/a/plan", "session/ab/plan"]);
    assert_eq!(keys(&reader, &prefix("patrol")), ["patrol/disk/full"]);
    assert_eq!(keys(&reader, &prefix("sess")), Vec::<String>::new());
    assert_eq!(keys(&reader, &KeyPrefix::all()).len(), 3);
}

// proves: RB-34, RB-35, RB-40, RB-50
#[test]
fn an_entry_is_gone_at_its_microsecond_and_says_since_when() {
    let desk = Desk::new();
    let caller = desk.caller("session/a");
    let stored_at = desk.clock.now();
    let kept = put(&caller, "plan", "x");
    assert_eq!(kept.expires_at.as_micros() - stored_at.as_micros(), 300_000_000);
    desk.clock.advance(Duration::from_micros(300_000_000 - 1));
    assert_eq!(done(caller.get("plan")).unwrap().stored_at, stored_at);
    desk.clock.advance(Duration::from_micros(1));
    assert_eq!(keys(&caller, caller.own()), Vec::<String>::new());
    desk.clock.advance(MINUTE);
    let gone = done(caller.get("plan")).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    let since = std::error::Error::source(&gone).and_then(|cause| cause.downcast_ref::<ExpiryError>());
    assert_eq!(since, Some(&ExpiryError(MINUTE)));
    let never = done(caller.get("other")).unwrap_err();
    assert_eq!((never.kind(), std::error::Error::source(&never).is_none()), (ErrorKind::NotFound, true));
}

// proves: RB-35, RB-51
#[test]
fn values_times_and_tags_have_limits() {
    let desk = Desk::new();
    let caller = desk.caller("session/a");
    let put = |value: &str, keep: PutOptions| done(caller.put("x", value.to_owned(), keep));
    let week = Duration::from_hours(7 * 24);
    assert!(put(&"x".repeat(256 * 1_024), living_for(week)).is_ok());
    assert_eq!(kind(put(&"x".repeat(256 * 1_024 + 1), PutOptions::default())), Some(ErrorKind::Invalid));
    assert_eq!(kind(put("x", living_for(week + Duration::from_micros(1)))), Some(ErrorKind::Invalid));
    assert_eq!(kind(put("x", living_for(Duration::ZERO))), Some(ErrorKind::Invalid));
    let tags = vec![Tag::new("t").unwrap(); 65];
    assert_eq!(kind(put("x", PutOptions { tags, ..PutOptions::default() })), Some(ErrorKind::Invalid));
}

// proves: RB-36, RB-37
#[test]
fn the_fifty_first_takes_the_place_of_what_expires_first() {
    let desk = Desk::new();
    let caller = desk.caller("session/a");
    put(&desk.caller("session/b"), "other", "not counted");
    for n in 0..50_u64 {
        let ttl = living_for(MINUTE * u32::try_from(100 - n).unwrap());
        assert_eq!(done(caller.put(&format!("k{n}"), "x".to_owned(), ttl)).unwrap().evicted, []);
    }
    let again = done(caller.put("k3", "y".to_owned(), living_for(MINUTE * 97))).unwrap();
    assert_eq!(again.evicted, [], "the same key needs no room");
    let short = done(caller.put("short", "x".to_owned(), living_for(MINUTE))).unwrap();
    let evicted: Vec<&str> = short.evicted.iter().map(mnemal_core::WorkingKey::as_str).collect();
    assert_eq!(evicted, ["session/a/k49"], "never the new one");
    assert_eq!(keys(&caller, caller.own()).len(), 50);
    desk.clock.advance(MINUTE * 2);
    let next = done(caller.put("next", "x".to_owned(), living_for(MINUTE * 500))).unwrap();
    assert_eq!(next.evicted, [], "what had expired is not named");
    assert_eq!(keys(&caller, &prefix("session/b")), ["session/b/other"]);
}

// proves: RB-39, RB-40
#[test]
fn entries_outlive_a_restart_and_expired_ones_are_swept() {
    let desk = Desk::new();
    let caller = desk.caller("session/a");
    put(&caller, "short", "x");
    done(caller.put("long", "y".to_owned(), living_for(MINUTE * 60))).unwrap();
    let later = desk.restarted();
    later.clock.advance(MINUTE * 6);
    let caller = later.caller("session/a");
    assert_eq!(keys(&caller, &KeyPrefix::all()), ["session/a/long"]);
    assert_eq!(done(caller.sweep()).unwrap(), 1);
    assert_eq!(done(caller.sweep()).unwrap(), 0);
    assert_eq!(done(caller.get("long")).unwrap().value, "y");
}

// proves: RB-41
#[test]
fn a_clock_that_jumps_expires_nothing_early() {
    let desk = Desk::new();
    let caller = desk.caller("session/a");
    let start = desk.clock.now();
    put(&caller, "plan", "x");
    let hours = |count: u64| i64::try_from(Duration::from_hours(count).as_micros()).unwrap();

    desk.clock.jump(start.plus_micros(-hours(2)));
    assert_eq!(done(caller.get("plan")).unwrap().value, "x");
    desk.clock.advance(MINUTE * 4);
    assert!(done(caller.get("plan")).is_ok(), "four minutes by the monotonic clock");
    desk.clock.advance(MINUTE);
    assert_eq!(kind(done(caller.get("plan"))), Some(ErrorKind::NotFound), "five, whatever the wall shows");

    let desk = Desk::new();
    let caller = desk.caller("session/a");
    done(caller.put("plan", "x".to_owned(), living_for(MINUTE * 30))).unwrap();
    desk.clock.jump(start.plus_micros(hours(25)));
    assert!(done(caller.get("plan")).is_ok());
    assert_eq!(done(caller.sweep()).unwrap(), 0, "nothing is swept in doubt");
    desk.clock.advance(MINUTE * 9);
    assert!(done(caller.get("plan")).is_ok());
    desk.clock.advance(MINUTE * 2);
    assert_eq!(
        kind(done(caller.get("plan"))),
        Some(ErrorKind::NotFound),
        "ten minutes on, the wall is right"
    );
    assert_eq!(done(caller.sweep()).unwrap(), 1);
}

// proves: RB-41
#[test]
fn a_clock_that_wavers_is_not_believed() {
    let desk = Desk::new();
    let start = desk.clock.now();
    let believed = || desk.steady.is_believed();
    let day = i64::try_from(Duration::from_hours(24).as_micros()).unwrap();
    assert!(believed());
    desk.clock.jump(start.plus_micros(2 * day));
    assert!(!believed());
    desk.clock.advance(MINUTE * 9);
    desk.clock.jump(start.plus_micros(4 * day));
    assert!(!believed());
    desk.clock.advance(MINUTE * 9);
    assert!(!believed(), "each jump waits its own ten minutes");
    desk.clock.advance(MINUTE);
    assert!(believed());
    assert_eq!(desk.steady.now(), desk.clock.now());
    let within_a_day = desk.clock.now().plus_micros(day / 2);
    desk.clock.jump(within_a_day);
    assert!(believed());
    assert_eq!(desk.steady.now(), within_a_day, "a machine that slept is believed at once");
}

fn query(text: &str) -> WorkingQuery {
    WorkingQuery { prefix: KeyPrefix::all(), text: text.to_owned(), category: None, tags: Vec::new() }
}

fn found(caller: &WorkingMemory, query: &WorkingQuery) -> Vec<String> {
    let hits = done(caller.search(query)).unwrap();
    assert!(hits.gaps.is_empty(), "{:?}", hits.gaps);
    hits.value.into_iter().map(|hit| hit.item.key.as_str().to_owned()).collect()
}

// proves: RB-38
#[test]
fn a_search_ranks_what_shares_words_and_passes_the_filters() {
    let desk = Desk::new();
    let caller = desk.caller("session/a");
    let filed = |category: &str, tags: &[&str]| PutOptions {
        category: Some(Category::new(category).unwrap()),
        tags: tags.iter().map(|tag| Tag::new(*tag).unwrap()).collect(),
        ttl: None,
    };
    let put =
        |name: &str, value: &str, keep: PutOptions| done(caller.put(name, value.to_owned(), keep)).unwrap();
    put("deploy-plan", "staging first, then production", filed("work/release", &["todo", "infra"]));
    put("notes", "the deploy failed twice; the third deploys went through", filed("work", &["infra"]));
    put("shopping", "milk and bread", filed("home", &["todo"]));

    assert_eq!(found(&caller, &query("deploys")), ["session/a/notes", "session/a/deploy-plan"]);
    assert_eq!(found(&caller, &query("aeroplane")), Vec::<String>::new());
    assert_eq!(found(&caller, &query("the milk")), ["session/a/shopping"], "a stop word is no match");
    assert_eq!(found(&caller, &query(" ")).len(), 3, "no words, no ranking");
    let in_work = WorkingQuery { category: Some(Category::new("work").unwrap()), ..query("") };
    assert_eq!(found(&caller, &in_work), ["session/a/deploy-plan", "session/a/notes"]);
    let tags = ["todo", "infra"].map(|tag| Tag::new(tag).unwrap()).to_vec();
    assert_eq!(found(&caller, &WorkingQuery { tags, ..query("") }), ["session/a/deploy-plan"]);
    let elsewhere = WorkingQuery { prefix: prefix("session/b"), ..query("deploy") };
    assert_eq!(found(&caller, &elsewhere), Vec::<String>::new());
}

/// Two directions: release topics, and everything else; or no answer.
#[derive(Debug)]
struct Meanings {
    model: ModelId,
    is_away: bool,
}

impl Meanings {
    fn here() -> Self {
        Self { model: ModelId::new("meanings").unwrap(), is_away: false }
    }

    fn slot(self) -> Slot<dyn Embedder> {
        let embedder: Arc<dyn Embedder> = Arc::new(self);
        embedder.into()
    }
}

#[async_trait]
impl Embedder for Meanings {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn floor(&self) -> f32 {
        0.5
    }

    async fn embed(&self, texts: &[&str]) -> mnemal_core::Result<Vec<Option<Vec<f32>>>> {
        if self.is_away {
            return Err(Error::new(ErrorKind::Unavailable, "the model is away"));
        }
        let is_live = |text: &str| ["deploy", "release", "rollout"].iter().any(|word| text.contains(word));
        let direction = |text: &&str| if is_live(text) { vec![0.8, 0.6] } else { vec![-0.6, 0.8] };
        Ok(texts.iter().map(|text| Some(direction(text))).collect())
    }
}

// proves: RB-14
#[test]
fn a_search_finds_by_what_is_meant_and_says_when_it_cannot() {
    let desk = Desk::new();
    let plain = desk.caller("session/a");
    put(&plain, "plan", "the rollout waits for Ada");
    put(&plain, "notes", "ask Ada about the release");
    put(&plain, "shopping", "milk and bread");
    let caller = plain.clone().with_embedder(Meanings::here().slot());
    assert_eq!(found(&plain, &query("deploy")), Vec::<String>::new(), "no word is shared");
    assert_eq!(found(&caller, &query("deploy")), ["session/a/notes", "session/a/plan"]);
    assert_eq!(
        found(&caller, &query("deploy rollout")),
        ["session/a/plan", "session/a/notes"],
        "words count too"
    );
    assert_eq!(found(&caller, &query("milk")), ["session/a/shopping"]);
    assert_eq!(found(&caller, &query(" ")).len(), 3, "nothing is meant by nothing");

    let away = plain.with_embedder(Meanings { is_away: true, ..Meanings::here() }.slot());
    let answer = done(away.search(&query("rollout"))).unwrap();
    assert_eq!(answer.value.len(), 1, "words find without it");
    assert_eq!(answer.gaps.iter().map(|gap| gap.layer).collect::<Vec<_>>(), [Layer::Vector]);
}

// Inventories contain keys, never values.
#[test]
fn an_inventory_never_tells_a_value() {
    let desk = Desk::new();
    let caller = desk.caller("session/a");
    put(&caller, "plan", "the-secret-value");
    let inventory = done(caller.inventory(caller.own())).unwrap();
    assert_eq!(inventory.len(), 1);
    assert!(!format!("{inventory:?}").contains("the-secret-value"));
}

#[test]
fn removing_takes_what_stands_below_too() {
    let desk = Desk::new();
    let caller = desk.caller("session/a");
    for name in ["session/a/notes", "session/a/notes/one", "session/a/notesbook"] {
        put(&caller, name, "x");
    }
    assert_eq!(done(caller.remove("notes")).unwrap(), 2);
    assert_eq!(keys(&caller, caller.own()), ["session/a/notesbook"]);
    assert_eq!(done(caller.remove("notes")).unwrap(), 0);
}

proptest! {
    #[test]
    fn any_name_and_any_search_have_an_answer(name in ".{0,300}", text in ".{0,300}") {
        let desk = Desk::new();
        let room = NonZeroUsize::new(2).unwrap();
        let caller = desk.caller_with("session/a", WorkingSettings { room, ..WorkingSettings::default() });
        if let Ok(kept) = done(caller.put(&name, text.clone(), PutOptions::default())) {
            prop_assert_eq!(done(caller.get(kept.key.as_str())).unwrap().value, text.clone());
            prop_assert!(caller.own().holds(&kept.key));
        }
        for hit in done(caller.search(&query(&text))).unwrap().value {
            prop_assert!(hit.score.get().is_finite());
        }
    }
}

/// A request of this session.
fn asking(session: &str) -> ContextRequest {
    ContextRequest {
        query: None,
        query_vector: None,
        session: SessionId::new(session).unwrap(),
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: TokenCount(4_000),
        sections: Within::All,
        as_of: AsOf::present(Timestamp::EPOCH),
        injected: RepeatPolicy::Repeat,
        tool: None,
        lines: None,
    }
}

// proves: RB-44, RB-45, RB-46, RB-42, RB-70 (steps 5 to 7)
#[test]
fn a_conversation_is_told_what_concerns_its_kind_and_never_a_value() {
    let desk = Desk::new();
    for (own, name) in [
        ("session/cli:1", "plan"),
        ("session/cli:2", "other"),
        ("patrol/disk", "full"),
        ("subagent/review", "outline-index"),
        ("subagent/review", "draft"),
    ] {
        put(&desk.caller(own), name, "an unmistakable value");
    }
    let store: Arc<dyn WorkingStore> = Arc::<MemoryStore>::clone(&desk.store);
    let none = SessionId::new("(none)").unwrap();
    let source =
        WorkingSource::new(store, Arc::clone(&desk.steady)).with_unnamed(none, prefix("session/cli:2"));
    let told = |request: &ContextRequest| {
        let inventories = done(source.inventories(request)).unwrap();
        let one = |inventory: Inventory| (inventory.scope, inventory.items.join("; "));
        inventories.into_iter().map(one).collect::<Vec<_>>()
    };
    let patrol = (InventoryScope::Patrol, "patrol/disk/full, expires in 5m0s".to_owned());
    let outlines = (InventoryScope::Outlines, "subagent/review/outline-index, expires in 5m0s".to_owned());
    let own = |items: &str| (InventoryScope::Own, items.to_owned());
    let user = told(&asking("cli:1"));
    assert_eq!(user, [own("plan, expires in 5m0s"), patrol.clone(), outlines.clone()]);
    assert_eq!(told(&asking("(none)")), [own("other, expires in 5m0s"), patrol, outlines]);
    assert_eq!(told(&asking("patrol/disk")), [own("full, expires in 5m0s")]);
    let subagent = told(&asking("subagent/review"));
    assert_eq!(subagent, [own("draft, expires in 5m0s; outline-index, expires in 5m0s")]);
    desk.clock.advance(5 * MINUTE);
    assert!(told(&asking("cli:1")).iter().all(|(_, items)| items.is_empty()));
}

#[test]
fn nothing_is_told_of_the_past_or_without_the_state() {
    let desk = Desk::new();
    put(&desk.caller("session/cli:1"), "plan", "x");
    let source = WorkingSource::new(Arc::<MemoryStore>::clone(&desk.store), Arc::clone(&desk.steady));
    let (mut past, mut other) = (asking("cli:1"), asking("cli:1"));
    past.as_of = AsOf::at(Timestamp::EPOCH);
    other.sections = Within::Only(vec![Section::Recall]);
    for request in [past, other] {
        assert_eq!(done(source.inventories(&request)).unwrap(), []);
    }
}
