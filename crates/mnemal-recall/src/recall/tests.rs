//! Recall over a whole space, with an in-memory store.

mod graph;
mod indexes;
mod penalties;

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Cursor, Decision, Embedder, Error, ErrorKind, EventFilter, EventId, EventKind, EventStore, Gap, GapCause,
    IndexBlock, IndexMark, IndexStore, Indexer as _, Layer, LogEntry, ModelId, NewEvent, Remember, Result,
    Role, SessionId, Slot, Speaker, Timestamp, TokenCount, Tombstone, TombstoneHash, Vector, Within,
};
use mnemal_store::MemoryStore;
use mnemal_text::Language;
use proptest::prelude::*;

use crate::fixture::{NOON, QUESTIONS, WordEmbedder, block, chat, id, query, ready, turn};
use crate::{
    Cutoff, Diversity, EVIDENCE_FLOOR, EventIndexer, Expand, MatchReason, Mode, Recall, RecallParts,
    RecallRequest, RecallSettings, RowSet, UsedMode, Weights,
};

/// Turns of the chat.
const ROWS: u32 = 22;

fn embedder() -> Slot<dyn Embedder> {
    let embedder: Arc<dyn Embedder> = Arc::new(WordEmbedder::new());
    embedder.into()
}

fn append(store: &MemoryStore, events: &[NewEvent], embedder: Slot<dyn Embedder>) {
    let entries = ready(EventIndexer::new(Language::English, embedder).index(events)).unwrap();
    let first = ready(store.head()).unwrap().count() + 1;
    let entry = |((event, index), seq): ((&NewEvent, _), u64)| LogEntry {
        id: id(seq),
        recorded_at: event.occurred_at,
        event: event.clone(),
        index: Some(index),
        quarantined: None,
        echo: Vec::new(),
        body_hash: [0; 32],
    };
    let batch: Vec<LogEntry> = events.iter().zip(entries).zip(first..).map(entry).collect();
    ready(store.append(&batch)).unwrap();
}

fn store(events: &[NewEvent]) -> MemoryStore {
    let store = MemoryStore::new();
    append(&store, events, embedder());
    store
}

fn recall(store: &MemoryStore) -> Recall {
    let index: Arc<dyn IndexStore> = Arc::new(store.clone());
    over(store, index.into(), embedder())
}

fn over(store: &MemoryStore, index: Slot<dyn IndexStore>, embedder: Slot<dyn Embedder>) -> Recall {
    let parts = RecallParts {
        index,
        events: Arc::new(store.clone()),
        graph: Slot::Filled(Arc::new(store.clone())),
        learnings: Slot::Empty,
        embedder,
        counter: Slot::Empty,
    };
    Recall::new(parts, RecallSettings::default())
}

fn erase(store: &MemoryStore, event: EventId) {
    let at = Timestamp::from_micros(NOON).unwrap();
    let gone = Tombstone { event, body: TombstoneHash([0; 16]), sentences: Vec::new(), at };
    assert_eq!(ready(store.erase(&[gone])).unwrap(), 1);
}

fn ask(recall: &Recall, request: &RecallRequest) -> (Vec<EventId>, crate::RecallResult, Vec<Gap>) {
    let answer = ready(recall.recall(request)).unwrap();
    let ids = answer.hits.iter().map(|hit| hit.event.id).collect();
    (ids, answer.value, answer.gaps)
}

fn place(place: usize) -> EventId {
    id(place as u64 + 1)
}

/// An index with blocks split at given places, or one that fails.
#[derive(Debug, Default)]
struct Cut {
    blocks: Vec<IndexBlock>,
    fails: std::sync::atomic::AtomicBool,
}

impl Cut {
    fn check(&self) -> Result<()> {
        let fails = self.fails.load(std::sync::atomic::Ordering::Relaxed);
        if fails { Err(Error::new(ErrorKind::Unavailable, "the index does not answer")) } else { Ok(()) }
    }
}

#[async_trait]
impl IndexStore for Cut {
    async fn mark(&self) -> Result<IndexMark> {
        self.check()?;
        let head = Cursor(self.blocks.last().and_then(|block| block.seqs.last().copied()));
        Ok(IndexMark { head, ..IndexMark::default() })
    }

    async fn load(&self, after: Cursor, _limit: NonZeroUsize) -> Result<Vec<IndexBlock>> {
        self.check()?;
        let is_new = |block: &&IndexBlock| block.seqs.last().is_some_and(|seq| seq.0 > after.count());
        Ok(self.blocks.iter().filter(is_new).cloned().collect())
    }

    async fn put_vectors(&self, _model: &ModelId, _rows: &[(EventId, Vector)]) -> Result<u64> {
        Ok(0)
    }
}

#[test]
fn the_fused_ranking_does_not_fall_below_plain_bm25() {
    let (store, index) = (store(&chat()), crate::fixture::index(&[chat().len()]));
    let recall = recall(&store);
    let (mut fused, mut plain) = (0.0, 0.0);
    for (question, gold) in QUESTIONS {
        let (ids, ..) = ask(&recall, &RecallRequest::new(question));
        fused += ids.iter().position(|id| *id == place(gold)).map_or(0.0, |rank| 1.0 / (rank + 1) as f32);
        let filter = RowSet::all(ROWS);
        let words = crate::score(&index, &index.columns, &query(question), &|_| false, (&filter, 100));
        let mut rows: Vec<u32> = (0..ROWS).filter(|row| words.raw(*row) > 0.0).collect();
        rows.sort_by(|a, b| words.raw(*b).total_cmp(&words.raw(*a)));
        plain +=
            rows.iter().position(|row| *row as usize == gold).map_or(0.0, |rank| 1.0 / (rank + 1) as f32);
    }
    let (fused, plain) = (fused / 12.0, plain / 12.0);
    assert!(fused >= plain, "fused {fused} < BM25 {plain}");
    assert!(fused >= 0.80, "mean reciprocal rank {fused}");
}

// proves: NB-23
#[test]
fn an_event_is_found_by_its_meaning_without_the_word() {
    let recall = recall(&store(&chat()));
    let (ids, answer, gaps) = ask(&recall, &RecallRequest::new("astronomy"));
    assert_eq!(ids[0], place(1));
    assert_eq!(answer.hits[0].found_by, MatchReason::Nearness);
    assert_eq!((answer.used, gaps), (UsedMode::Hybrid, Vec::new()));
    assert_eq!(answer.model, Some(ModelId::new("words-1").unwrap()));
}

// proves: NB-24
// proves: RB-21
#[test]
fn without_an_embedder_words_still_find_and_the_gap_says_so() {
    let store = store(&chat());
    let index: Arc<dyn IndexStore> = Arc::new(store.clone());
    let recall = over(&store, index.into(), Slot::Empty);
    let (ids, answer, gaps) = ask(&recall, &RecallRequest::new("What did Ben plant in the garden?"));
    assert_eq!(ids[0], place(17));
    assert_eq!(answer.used, UsedMode::Lexical);
    assert_eq!(gaps, [Gap { layer: Layer::Vector, cause: GapCause::NotConfigured }]);
    let weights: f32 = answer.hits[0].parts.iter().map(|part| part.weight).sum();
    assert!((weights - 1.0).abs() < 1e-5);
}

// proves: PB-30
// proves: PB-31
#[test]
fn without_an_index_the_newest_events_are_scanned_for_the_words_as_written() {
    let mut events = chat();
    events.push(turn("four", "Ada", "The discount is 20%_off today."));
    let store = store(&events);
    let recall = over(&store, Slot::Empty, Slot::Empty);
    let (ids, answer, gaps) = ask(&recall, &RecallRequest::new("20%_off"));
    assert_eq!(ids, [place(22)]);
    assert_eq!((answer.used, answer.hits[0].found_by), (UsedMode::Substring, MatchReason::Substring));
    let missing = |layer| Gap { layer, cause: GapCause::NotConfigured };
    assert_eq!(gaps, [missing(Layer::Lexical), missing(Layer::Vector)]);
    assert!(ask(&recall, &RecallRequest::new("%")).0.is_empty(), "a percent sign matches itself only");
    let some = RecallRequest::new("zebra giraffe lion tomatoes");
    assert!(ask(&recall, &some).0.is_empty(), "one word of four lies below the floor");
}

// proves: PB-53
#[test]
fn where_no_word_is_indexed_a_part_of_a_word_is_found() {
    let store = store(&chat());
    let index: Arc<dyn IndexStore> = Arc::new(store.clone());
    let recall = over(&store, index.into(), Slot::Empty);
    let (ids, answer, _) = ask(&recall, &RecallRequest::new("peanu"));
    assert_eq!((ids.as_slice(), answer.used), ([place(13), place(12)].as_slice(), UsedMode::Substring));
}

#[test]
fn a_failing_index_is_a_gap_and_what_was_seen_last_still_answers() {
    let events = chat();
    let store = store(&events);
    let cut = Arc::new(Cut { blocks: vec![block(&events, 1)], ..Cut::default() });
    let index: Arc<dyn IndexStore> = cut.clone();
    let recall = over(&store, index.into(), embedder());
    cut.fails.store(true, std::sync::atomic::Ordering::Relaxed);
    let failed = Gap { layer: Layer::Lexical, cause: GapCause::Failed(ErrorKind::Unavailable) };
    let (_, first, gaps) = ask(&recall, &RecallRequest::new("pottery"));
    assert_eq!((first.used, gaps), (UsedMode::Substring, vec![failed]));
    cut.fails.store(false, std::sync::atomic::Ordering::Relaxed);
    let (whole, ..) = ask(&recall, &RecallRequest::new("pottery"));
    cut.fails.store(true, std::sync::atomic::Ordering::Relaxed);
    let (last, answer, gaps) = ask(&recall, &RecallRequest::new("pottery"));
    assert_eq!((last, gaps, answer.used), (whole, vec![failed], UsedMode::Hybrid));
}

#[derive(Debug)]
struct BrokenEmbedder(ModelId);

#[async_trait]
impl Embedder for BrokenEmbedder {
    fn model(&self) -> &ModelId {
        &self.0
    }

    fn dimensions(&self) -> usize {
        32
    }

    fn floor(&self) -> f32 {
        0.5
    }

    async fn embed(&self, _texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        Err(Error::new(ErrorKind::Unavailable, "the embedder does not answer"))
    }
}

#[test]
fn a_failing_embedder_is_a_gap_of_vectors_only() {
    let store = store(&chat());
    let index: Arc<dyn IndexStore> = Arc::new(store.clone());
    let broken: Arc<dyn Embedder> = Arc::new(BrokenEmbedder(ModelId::new("words-1").unwrap()));
    let recall = over(&store, index.into(), broken.into());
    for mode in [Mode::Auto, Mode::Vector] {
        let (ids, answer, gaps) = ask(&recall, &RecallRequest { mode, ..RecallRequest::new("pottery") });
        assert_eq!((ids[0], answer.used), (place(6), UsedMode::Lexical));
        assert_eq!(gaps, [Gap { layer: Layer::Vector, cause: GapCause::Failed(ErrorKind::Unavailable) }]);
    }
}

#[test]
fn what_was_appended_is_found_by_the_next_question() {
    let store = store(&chat());
    let recall = recall(&store);
    assert!(!ask(&recall, &RecallRequest::new("xylophone")).0.contains(&place(22)));
    append(&store, &[turn("five", "Ada", "I bought a xylophone.")], embedder());
    assert_eq!(ask(&recall, &RecallRequest::new("xylophone")).0[0], place(22));
}

#[test]
fn an_erased_event_is_never_returned_and_lends_nothing_to_its_neighbours() {
    let store = store(&chat());
    let recall = recall(&store);
    let request = RecallRequest { mode: Mode::Lexical, ..RecallRequest::new("cactus Igor balcony") };
    assert_eq!(ask(&recall, &request).0[0], place(18));
    erase(&store, place(18));
    let (ids, answer, _) = ask(&recall, &request);
    assert!(!ids.contains(&place(18)));
    let garden = answer.hits.iter().find(|hit| hit.event.id == place(17));
    assert!(garden.is_none_or(|hit| hit.neighbor_share < 1.0 || hit.score.get() < 0.9));
    let fresh = over(&store, Slot::from(Arc::new(store.clone()) as Arc<dyn IndexStore>), embedder());
    assert_eq!(ids, ask(&fresh, &request).0, "the index after a forget is the index that never knew");
}

#[test]
fn an_event_that_the_index_still_holds_is_checked_against_the_log() {
    let events = chat();
    let store = store(&events);
    let stale: Arc<dyn IndexStore> = Arc::new(Cut { blocks: vec![block(&events, 1)], ..Cut::default() });
    let recall = over(&store, stale.into(), embedder());
    erase(&store, place(18));
    let (ids, answer, _) = ask(&recall, &RecallRequest::new("cactus Igor balcony"));
    assert!(!ids.contains(&place(18)));
    assert_eq!(answer.hits.len(), 10, "the next best rows take its place");
}

#[test]
fn what_has_no_words_waits_for_no_vector() {
    let store = store(&chat());
    let silent: Vec<NewEvent> = (0..60).map(|_| turn("one", "Ada", "")).collect();
    append(&store, &silent, embedder());
    let (_, _, gaps) = ask(&recall(&store), &RecallRequest::new("astronomy"));
    assert_eq!(gaps, []);
}

#[test]
fn late_vectors_are_searched_without_a_restart() {
    let store = MemoryStore::new();
    append(&store, &chat(), Slot::Empty);
    let recall = recall(&store);
    let (_, _, gaps) = ask(&recall, &RecallRequest::new("astronomy"));
    assert_eq!(gaps, [Gap { layer: Layer::Vector, cause: GapCause::Stale { behind: 22 } }]);
    let texts: Vec<String> = chat().iter().map(crate::embedded_text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let embedder = WordEmbedder::new();
    let vectors = ready(embedder.embed(&texts)).unwrap();
    let rows: Vec<(EventId, Vector)> =
        (0..).zip(vectors).map(|(row, v)| (place(row), Vector::from_unit(&v.unwrap()).unwrap())).collect();
    ready(store.put_vectors(embedder.model(), &rows)).unwrap();
    let (ids, _, gaps) = ask(&recall, &RecallRequest::new("astronomy"));
    assert_eq!((ids[0], gaps), (place(1), Vec::new()));
}

// proves: RB-16
#[test]
fn a_caller_may_bring_the_querys_vector() {
    let recall = recall(&store(&chat()));
    let embedder = WordEmbedder::new();
    let vector = ready(embedder.embed(&["telescope"])).unwrap().remove(0).unwrap();
    let request = RecallRequest {
        query_vector: Some((embedder.model().clone(), vector)),
        mode: Mode::Vector,
        ..RecallRequest::new("")
    };
    let (ids, answer, _) = ask(&recall, &request);
    assert_eq!((ids[0], answer.used), (place(1), UsedMode::Vector));
    let other = ModelId::new("other-1").unwrap();
    let unknown =
        RecallRequest { query_vector: Some((other, vec![1.0; 3])), ..RecallRequest::new("pottery") };
    let (ids, _, gaps) = ask(&recall, &unknown);
    assert_eq!(ids[0], place(6));
    assert_eq!(gaps, [Gap { layer: Layer::Vector, cause: GapCause::Stale { behind: 22 } }]);
    let wrong = RecallRequest {
        query_vector: Some((embedder.model().clone(), vec![f32::NAN; 256])),
        ..RecallRequest::new("pottery")
    };
    assert_eq!(ready(recall.recall(&wrong)).unwrap_err().kind(), ErrorKind::Invalid);
}

// proves: AD-14
#[test]
fn what_the_chat_does_not_know_lies_below_the_floor_of_evidence() {
    let recall = recall(&store(&chat()));
    for (question, _) in QUESTIONS {
        assert!(ask(&recall, &RecallRequest::new(question)).1.evidence >= EVIDENCE_FLOOR, "{question}");
    }
    let lexical = |text: &str| RecallRequest { mode: Mode::Lexical, ..RecallRequest::new(text) };
    for question in ["Which river flows through Ulaanbaatar?", "ok can that this", "", "?"] {
        let (_, answer, _) = ask(&recall, &lexical(question));
        assert!(answer.evidence < EVIDENCE_FLOOR, "{question}: {}", answer.evidence);
        let floor = RecallRequest { min_evidence: Some(EVIDENCE_FLOOR), ..lexical(question) };
        assert!(ask(&recall, &floor).0.is_empty());
    }
    let quoted = RecallRequest::new("Who said \"laundry and rain\"?");
    assert!((ask(&recall, &quoted).1.evidence - 1.0).abs() < 1e-6);
}

#[test]
fn a_turn_without_a_word_of_the_query_says_that_its_neighbour_led_to_it() {
    let recall = recall(&store(&chat()));
    let request = RecallRequest { mode: Mode::Lexical, ..RecallRequest::new("laundry") };
    let (_, answer, _) = ask(&recall, &request);
    let (first, second) = (&answer.hits[0], &answer.hits[1]);
    assert_eq!((first.event.id, first.found_by), (place(4), MatchReason::Words));
    assert_eq!((second.found_by, second.neighbor_share), (MatchReason::Neighbor, 1.0));
    assert_eq!(second.found_by.as_str(), "by its neighbor");
}

#[test]
fn neighbours_come_along_outside_the_ranking_and_inside_the_budget() {
    let recall = recall(&store(&chat()));
    let one = NonZeroUsize::MIN;
    let request = RecallRequest { expand: Expand::Neighbors, limit: one, ..RecallRequest::new("laundry") };
    let (ids, answer, _) = ask(&recall, &request);
    assert_eq!(ids, [place(4)]);
    assert_eq!(answer.hits[0].before.as_ref().map(|event| event.id), Some(place(3)));
    assert_eq!(answer.hits[0].after.as_ref().map(|event| event.id), Some(place(5)));
    let tight = RecallRequest { max_tokens: Some(TokenCount(30)), ..request };
    assert!(ask(&recall, &tight).0.is_empty());
    let roomy = RecallRequest { max_tokens: Some(TokenCount(200)), ..RecallRequest::new("laundry") };
    let (_, answer, _) = ask(&recall, &roomy);
    let bytes: usize =
        answer.hits.iter().map(|hit| hit.event.body().unwrap().content.len().div_ceil(2)).sum();
    assert!(!answer.hits.is_empty() && bytes <= 200);
}

/// Near-duplicates, and another statement with fewer of the words.
fn repeated() -> MemoryStore {
    let said = [
        ("a", "The ferry to the island leaves at eight from pier four."),
        ("b", "The ferry to the island leaves at eight from pier four, they said."),
        ("c", "The ferry to the island leaves at eight from pier four again."),
        ("d", "The island ferry costs nine euros with a bicycle, and children under six ride for free."),
    ];
    store(&said.map(|(session, text)| turn(session, "Ada", text)))
}

// proves: DF-46
#[test]
fn of_near_duplicates_one_stays_on_top_and_the_others_make_room() {
    let (store, limit) = (repeated(), NonZeroUsize::new(2).unwrap());
    let ranked = RecallRequest { limit, ..RecallRequest::new("island ferry") };
    let covering = RecallRequest { diversity: Diversity::Covering, ..ranked.clone() };
    let (ids, ..) = ask(&recall(&store), &ranked);
    assert!(!ids.contains(&place(3)), "{ids:?}");
    let (spread, ..) = ask(&recall(&store), &covering);
    assert_eq!((spread[0], spread[1]), (ids[0], place(3)));
    let lexical = RecallRequest { mode: Mode::Lexical, ..covering };
    assert_eq!(ask(&recall(&store), &lexical).0[1], place(3), "by shared words where there is no vector");
}

#[test]
fn hits_that_cover_are_at_most_three_of_one_conversation() {
    let said: Vec<NewEvent> = (0..12)
        .map(|number| {
            let session = if number < 8 { "long" } else { "other" };
            turn(session, "Ada", &format!("Paint number {number}: {}", "blue ".repeat(number + 1)))
        })
        .collect();
    let covering = RecallRequest { diversity: Diversity::Covering, ..RecallRequest::new("blue paint") };
    let (_, answer, _) = ask(&recall(&store(&said)), &covering);
    let of_long = answer.hits.iter().filter(|hit| hit.event.body().unwrap().session.as_str() == "long");
    assert_eq!((of_long.count(), answer.hits.len()), (3, 6));
}

#[test]
fn a_close_answer_ends_where_the_scores_fall_off() {
    let recall = recall(&store(&chat()));
    let all = RecallRequest::new("What is the name of the cactus?");
    let close = RecallRequest { cutoff: Cutoff::FallOff, ..all.clone() };
    let ((every, ..), (near, answer, _)) = (ask(&recall, &all), ask(&recall, &close));
    assert!(near.len() < every.len() && every.starts_with(&near), "{near:?} of {every:?}");
    let least = answer.hits.iter().map(|hit| hit.score.get()).fold(1.0, f32::min);
    assert!(least >= 0.5 * answer.hits[0].score.get());
}

#[test]
fn the_assistants_words_are_found_when_they_are_asked_for() {
    let recall = recall(&store(&chat()));
    let (ids, ..) =
        ask(&recall, &RecallRequest::new("Which vegetables did you suggest, with tofu and ginger?"));
    assert_eq!(ids[0], place(13));
    let (ids, ..) =
        ask(&recall, &RecallRequest::new("Do I have an allergy? I am allergic to what, for my dinners?"));
    assert_eq!(ids[0], place(12));
}

// proves: NB-16
// proves: PB-34
#[test]
fn filters_work_inside_the_arms() {
    let recall = recall(&store(&chat()));
    let one = NonZeroUsize::MIN;
    let narrow = |filter: EventFilter| RecallRequest {
        filter,
        limit: one,
        ..RecallRequest::new("telescope garden dinners")
    };
    let session =
        EventFilter { session: Within::Only(SessionId::new("two").unwrap()), ..EventFilter::live() };
    assert_eq!(ask(&recall, &narrow(session)).1.hits[0].event.body().unwrap().session.as_str(), "two");
    let speaker = EventFilter { speaker: Within::Only(Speaker::new("Ada").unwrap()), ..EventFilter::live() };
    assert_eq!(ask(&recall, &narrow(speaker)).0, [place(17 + 1)]);
    let nobody = EventFilter { speaker: Within::Only(Speaker::new("Zoe").unwrap()), ..EventFilter::live() };
    assert!(ask(&recall, &narrow(nobody)).0.is_empty());
}

#[test]
fn an_answer_can_cross_threads() {
    fn is_send<T: Send>(_: &T) {}
    let recall = recall(&MemoryStore::new());
    let request = RecallRequest::new("x");
    let future = recall.recall(&request);
    is_send(&future);
    let answer = ready(future).unwrap();
    assert!(answer.hits.is_empty() && answer.gaps.is_empty());
}

fn context(query: &str, session: &str) -> mnemal_core::ContextRequest {
    mnemal_core::ContextRequest {
        query: Some(query.to_owned()),
        query_vector: None,
        session: SessionId::new(session).unwrap(),
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: TokenCount(1_000),
        sections: Within::All,
        as_of: mnemal_core::AsOf::at(Timestamp::from_micros(NOON + 10_000_000_000_000).unwrap()),
        injected: mnemal_core::RepeatPolicy::Skip,
        tool: None,
        lines: None,
    }
}

#[test]
fn a_context_is_offered_what_matches_and_nothing_of_its_own_conversation() {
    use mnemal_core::{ContextSource as _, OmittedReason, RecordRef, Section};
    let source = crate::RecallSource::new(Arc::new(recall(&store(&chat()))));
    let offered = ready(source.fragments(&context("Which telescope did Ben build?", "two"))).unwrap();
    let first = &offered[0];
    assert_eq!(
        (first.record, first.section, first.withheld),
        (RecordRef::Event(place(1)), Section::Recall, None)
    );
    assert!(offered.len() <= crate::INJECT_LIMIT.get());
    let parts: f32 = first.parts.iter().map(|part| part.value).sum();
    assert!((parts - first.score.get()).abs() < 1e-6);
    let own = ready(source.fragments(&context("Which telescope did Ben build?", "one"))).unwrap();
    assert!(own.iter().all(|fragment| fragment.record != RecordRef::Event(place(1))));
    let foreign = ready(source.fragments(&context("Which river flows through Ulaanbaatar?", "two"))).unwrap();
    assert!(foreign.iter().all(|fragment| fragment.withheld == Some(OmittedReason::BelowFloor)));
    let none = mnemal_core::ContextRequest { query: None, ..context("x", "two") };
    assert!(ready(source.fragments(&none)).unwrap().is_empty());
}

// proves: GB-39 (what is nearest to the question)
#[test]
fn what_was_kept_on_purpose_stands_in_a_context_with_little_evidence_five_notes_of_it() {
    use mnemal_core::{Category, ContextSource as _, Importance, LearningKind, OmittedReason, Origin};
    let remember = Remember {
        key: None,
        kind: LearningKind::Note,
        category: Category::new("general").unwrap(),
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        expires_at: None,
    };
    let noted = |number: usize, origin| NewEvent {
        kind: EventKind::Decision(Decision::Remember(remember.clone())),
        origin,
        ..turn("three", "Ada", &format!("pebble {number} of the river"))
    };
    let mut events = chat();
    events.push(turn("four", "Ada", "pebbles of the river"));
    events.push(noted(0, Origin::ToolExternal));
    events.extend((1..=7).map(|number| noted(number, Origin::Assistant)));
    let store = store(&events);
    let source = crate::RecallSource::new(Arc::new(recall(&store)));
    let asked = context("Which river flows through Ulaanbaatar before autumn storms?", "two");
    let of_notes = |offered: &[mnemal_core::Fragment], is_offered: bool| {
        let pebbles = offered.iter().filter(|one| one.text.starts_with("pebble "));
        pebbles.filter(|one| one.withheld.is_none() == is_offered).count()
    };
    let offered = ready(source.fragments(&asked)).unwrap().value;
    assert_eq!((of_notes(&offered, true), of_notes(&offered, false)), (5, 3), "{offered:?}");
    for text in ["pebbles of the river", "pebble 0 of the river"] {
        let other = offered.iter().find(|one| one.text == text).unwrap();
        assert_eq!(other.withheld, Some(OmittedReason::BelowFloor), "{text}");
    }
    let few = mnemal_core::ContextRequest { lines: Some(6), ..asked };
    assert_eq!(of_notes(&ready(source.fragments(&few)).unwrap().value, true), 0);
}

// proves: DF-52
#[test]
fn ordinary_text_with_symbols_is_no_syntax() {
    let mut events = chat();
    events.push(turn("four", "Ada", "Policy POL-358 is written in C++ by user:alice."));
    let recall = recall(&store(&events));
    for question in ["POL-358", "C++", "user:alice", "what's up with POL-358?", "\"POL-358\" AND (x OR y)*"] {
        assert_eq!(ask(&recall, &RecallRequest::new(question)).0[0], place(22), "{question}");
    }
}

// proves: NX-05.2
#[test]
fn a_text_in_another_script_is_found_by_its_words() {
    let texts = [
        ("Я купил новый велосипед", "велосипеды"),
        ("Αγόρασα ένα ποδήλατο", "ποδήλατο"),
        ("اشتريت دراجة جديدة", "دراجة"),
        ("קניתי אופניים חדשים", "אופניים"),
        ("मैंने साइकिल खरीदी", "साइकिल"),
        ("ฉันซื้อจักรยานใหม่", "จักรยาน"),
        ("我买了一辆自行车", "自行车"),
        ("新しい自転車を買った", "転車"),
        ("새 자전거를 샀다", "자전거"),
        ("J'ai acheté un vélo", "velo"),
    ];
    let mut events = chat();
    events.extend(texts.iter().map(|(text, _)| turn("four", "Ada", text)));
    let recall = recall(&store(&events));
    for (row, (_, question)) in texts.iter().enumerate() {
        let request = RecallRequest { mode: Mode::Lexical, ..RecallRequest::new(*question) };
        let (ids, answer, _) = ask(&recall, &request);
        assert_eq!((ids.first(), answer.used), (Some(&place(22 + row)), UsedMode::Lexical), "{question}");
    }
}

// proves: DF-45
#[test]
fn what_both_arms_found_stands_before_what_one_arm_found() {
    let candidate = |row, words: f32, near: f32| {
        let raw = crate::signal::TABLE.map(|signal| match signal.name {
            "words" => words,
            "nearness" => near,
            "brevity" => 1.0,
            _ => 0.0,
        });
        crate::fuse::Candidate { row, session: 0, raw }
    };
    let rows = vec![candidate(1, 1.0, 0.0), candidate(2, 0.0, 1.0), candidate(0, 1.0, 1.0)];
    assert_eq!(crate::fuse::fuse(rows, &Weights::default()).0[0].row, 0);
}

fn filters() -> impl Strategy<Value = EventFilter> {
    let session = prop_oneof![Just(None), (0_usize..4).prop_map(Some)];
    let speaker = prop_oneof![3 => Just(None), 1 => (0_usize..4).prop_map(Some)];
    let roles = prop_oneof![2 => Just(None), 1 => Just(Some(vec![Role::User])), 1 => Just(Some(vec![Role::Assistant]))];
    let hour = prop_oneof![Just(None), (0_i64..24).prop_map(Some)];
    (session, speaker, roles, hour.clone(), hour).prop_map(|(session, speaker, roles, since, until)| {
        let within = |name: Option<&str>| name.map(str::to_owned);
        let session = within(session.map(|place| ["one", "two", "three", "none"][place]));
        let speaker = within(speaker.map(|place| ["Ada", "Ben", "user", "Zoe"][place]));
        let at = |hour: i64| Timestamp::from_micros(NOON + hour * 3_600_000_000).unwrap();
        EventFilter {
            session: session.map_or(Within::All, |name| Within::Only(SessionId::new(name).unwrap())),
            speaker: speaker.map_or(Within::All, |name| Within::Only(Speaker::new(name).unwrap())),
            roles: roles.map_or(Within::All, Within::Only),
            since: since.map(at),
            until: until.map(at),
            ..EventFilter::live()
        }
    })
}

fn questions() -> impl Strategy<Value = String> {
    let real = (0_usize..QUESTIONS.len()).prop_map(|place| QUESTIONS[place].0.to_owned());
    prop_oneof![3 => real, 1 => ".{0,60}", 1 => "[a-z ]{0,40}", 1 => Just("garden telescope dinners Ada".to_owned())]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hits_pass_the_filter_and_explain_a_finite_score(question in questions(), filter in filters(), limit in 1_usize..30) {
        let recall = recall(&store(&chat()));
        let limit = NonZeroUsize::new(limit).unwrap();
        let request = RecallRequest { filter: filter.clone(), limit, ..RecallRequest::new(question) };
        let (ids, answer, _) = ask(&recall, &request);
        prop_assert!(ids.len() <= limit.get());
        let mut distinct = ids.clone();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), ids.len());
        prop_assert!(answer.hits.is_sorted_by(|a, b| a.score >= b.score));
        for hit in &answer.hits {
            prop_assert!(filter.accepts(&hit.event));
            prop_assert!(hit.score.get().is_finite() && (0.0..=1.000_001).contains(&hit.score.get()));
            prop_assert!((0.0..=1.0).contains(&hit.evidence) && (0.0..=1.0).contains(&hit.neighbor_share));
            let sum: f32 = hit.parts.iter().map(|part| part.value).sum();
            prop_assert!((sum - hit.score.get()).abs() < 1e-6);
        }
    }

    #[test]
    fn the_ranking_does_not_depend_on_where_blocks_end(question in questions(), cuts in proptest::collection::vec(0_usize..22, 0..6)) {
        let events = chat();
        let store = store(&events);
        let mut ends = cuts;
        ends.extend([0, events.len()]);
        ends.sort_unstable();
        ends.dedup();
        let pieces = ends.windows(2).map(|range| block(&events[range[0]..range[1]], range[0] as u64 + 1));
        let cut: Arc<dyn IndexStore> = Arc::new(Cut { blocks: pieces.collect(), ..Cut::default() });
        let whole: Arc<dyn IndexStore> = Arc::new(Cut { blocks: vec![block(&events, 1)], ..Cut::default() });
        let request = RecallRequest::new(question);
        let (_, cut, _) = ask(&over(&store, cut.into(), embedder()), &request);
        let (_, whole, _) = ask(&over(&store, whole.into(), embedder()), &request);
        prop_assert_eq!(cut.hits, whole.hits);
    }

    #[test]
    fn what_was_forgotten_leaves_no_trace_in_the_ranking(question in questions(), gone in 0_usize..22) {
        let store = store(&chat());
        let used = recall(&store);
        ready(used.recall(&RecallRequest::new(question.clone()))).unwrap().hits.len();
        erase(&store, place(gone));
        let request = RecallRequest::new(question);
        let (ids, before, _) = ask(&used, &request);
        prop_assert!(!ids.contains(&place(gone)));
        prop_assert_eq!(before.hits, ask(&recall(&store), &request).1.hits);
    }
}
