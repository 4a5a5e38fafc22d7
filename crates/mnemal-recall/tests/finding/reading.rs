//! Search modes, and the parts that a read uses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mnemal_core::{
    AsOf, ChannelId, ContextRequest, ContextSource as _, Cursor, Embedder, EventFilter, EventId, Gap,
    GapCause, Layer, ModelId, NewEvent, RepeatPolicy, SessionId, Slot, Timestamp, TokenCount, Vector, Within,
};
use mnemal_recall::{
    DEFAULT_LIMIT, INJECT_LIMIT, MatchReason, Mode, QueryVector, Recall, RecallParts, RecallRequest,
    RecallSettings, RecallSource, UsedMode,
};
use mnemal_store::MemoryStore;
use proptest::prelude::*;

use crate::space::{Directions, HOUR, START, alone, parts, put, ready, said, space, texts, words};

// proves: PB-30, PB-53 (the scan, its label and its floor, where the better match stands before the newer)
#[test]
fn where_no_word_matches_the_letters_are_looked_for_as_they_are_written() {
    let space =
        words(&["the Zanzibar folder", "progress is 100% today", "progress is 1000 today", "snake_case"]);
    let found = space.ask(&RecallRequest::new("anziba"));
    assert_eq!((texts(&found), found.used), (vec!["the Zanzibar folder".to_owned()], UsedMode::Substring));
    assert_eq!(found.hits[0].found_by, MatchReason::Substring);
    assert_eq!(space.find("nake_cas"), ["snake_case"]);
    let floored = space.ask(&RecallRequest::new("qqqq wwww anziba"));
    assert!(floored.hits.is_empty(), "one word of three is below the floor");
}

// proves: PB-34, DF-105 (the time filter)
#[test]
fn a_time_and_a_query_hold_together() {
    let space = words(&["the ferry one", "an apple", "the ferry two", "the ferry three"]);
    let at = |hour: i64| Some(Timestamp::from_micros(START + hour * HOUR).unwrap());
    let filter = EventFilter { since: at(1), until: at(3), ..EventFilter::live() };
    let found = space.ask(&RecallRequest { filter, ..RecallRequest::new("ferry") });
    assert_eq!(texts(&found), ["the ferry two"]);
}

// proves: NB-93, NB-16
#[test]
fn what_was_told_on_one_channel_is_known_on_another() {
    let told =
        NewEvent { channel: ChannelId::new("telegram").unwrap(), ..said("t", "my sister lives in Porto") };
    let space = space(&[told, said("c", "hello")], Slot::Empty);
    assert_eq!(space.find("where does my sister live")[0], "my sister lives in Porto");
    let only = EventFilter { channel: Within::Only(ChannelId::new("chat").unwrap()), ..EventFilter::live() };
    assert!(space.ask(&RecallRequest { filter: only, ..RecallRequest::new("sister") }).hits.is_empty());
}

// proves: RB-16, DF-62, NB-21
#[test]
fn a_read_embeds_the_query_and_nothing_else_and_takes_the_callers_vector() {
    let embedder = Directions::new(0.5);
    let space = space(&alone(&["ships", "engines", "the ocean"]), Slot::Filled(embedder.clone()));
    assert_eq!(embedder.embedded.load(Ordering::Relaxed), 3);
    for _ in 0..4 {
        space.find("sea");
    }
    assert_eq!(embedder.embedded.load(Ordering::Relaxed), 7);
    let own = Some((embedder.model.clone(), vec![0.0, 1.0, 0.0]));
    let asked = RecallRequest { query_vector: own, mode: Mode::Vector, ..RecallRequest::new("anything") };
    assert_eq!(texts(&space.ask(&asked))[0], "engines");
    assert_eq!(embedder.embedded.load(Ordering::Relaxed), 7, "the caller's vector stands for the embedder's");
    // All parts of recall; any that could call a model or a network would be listed here.
    let RecallParts { index: _, events: _, graph: _, embedder: _, counter: _, learnings: _ } =
        parts(&space.store, Slot::Empty);
}

// proves: NX-10.5, RB-18, AD-03
#[test]
fn words_bridge_what_another_model_embedded() {
    let old: Slot<dyn Embedder> = Slot::Filled(Directions::new(0.5));
    let store = Arc::new(MemoryStore::new());
    put(&store, &alone(&["ships at dawn", "engines at noon", "noise"]), old, 1);
    let newer =
        Directions { model: ModelId::new("newer").unwrap(), floor: 0.5, embedded: AtomicUsize::new(0) };
    let newer: Slot<dyn Embedder> = Slot::Filled(Arc::new(newer));
    let recall = Recall::new(parts(&store, newer), RecallSettings::default());
    let answer = ready(recall.recall(&RecallRequest::new("ships"))).unwrap();
    assert_eq!(answer.gaps, [Gap { layer: Layer::Vector, cause: GapCause::Stale { behind: 3 } }]);
    assert_eq!(texts(&answer), ["ships at dawn"]);
    let near =
        ready(recall.recall(&RecallRequest { mode: Mode::Vector, ..RecallRequest::new("ocean") })).unwrap();
    assert!(near.hits.is_empty(), "vectors of another model are never compared");
    let model = ModelId::new("newer").unwrap();
    let rows = [(EventId(1), Vector::from_unit(&[1.0, 0.0, 0.0]).unwrap())];
    ready(mnemal_core::IndexStore::put_vectors(store.as_ref(), &model, &rows)).unwrap();
    let near =
        ready(recall.recall(&RecallRequest { mode: Mode::Vector, ..RecallRequest::new("ocean") })).unwrap();
    assert_eq!(texts(&near)[0], "ships at dawn", "a vector that comes late is used");
}

// proves: DF-58
#[test]
fn equal_vectors_and_vectors_without_direction_break_nothing() {
    let embedder: Slot<dyn Embedder> = Slot::Filled(Directions::new(0.5));
    let space = space(&alone(&["noise"; 40]), embedder);
    let asked = RecallRequest { mode: Mode::Vector, ..RecallRequest::new("noise") };
    assert_eq!(space.ask(&asked).hits.len(), 10);
    for wrong in [vec![], vec![0.0, 0.0, 0.0], vec![f32::NAN, 1.0, 0.0], vec![f32::INFINITY, 0.0, 0.0]] {
        assert!(QueryVector::new(&wrong).is_none());
        let own = Some((ModelId::new("directions").unwrap(), wrong));
        let refused = ready(space.recall.recall(&RecallRequest { query_vector: own, ..asked.clone() }));
        assert_eq!(refused.unwrap_err().kind(), mnemal_core::ErrorKind::Invalid);
    }
    let other_size = Some((ModelId::new("directions").unwrap(), vec![1.0; 7]));
    assert!(space.ask(&RecallRequest { query_vector: other_size, ..asked }).hits.is_empty());
}

// proves: NX-05.2, DF-60
#[test]
fn a_text_of_every_script_is_found_by_a_word_of_it() {
    let rows = [
        ("die Straße nach Köln ist gesperrt", "koln"),
        ("поезд отправляется в полдень", "поезд"),
        ("το πλοίο φεύγει αύριο", "πλοιο"),
        ("القطار يغادر غدا", "القطار"),
        ("הרכבת יוצאת מחר", "הרכבת"),
        ("रेलगाड़ी कल सुबह जाएगी", "रेलगाड़ी"),
        ("รถไฟออกพรุ่งนี้เช้า", "รถไฟ"),
        ("会议改到星期四下午", "会议"),
        ("電車は明日の朝に出ます", "電車"),
        ("기차는 내일 아침에 떠난다", "기차는"),
    ];
    let space = words(&rows.map(|(text, _)| text));
    for (text, query) in rows {
        let found = space.ask(&RecallRequest { mode: Mode::Lexical, ..RecallRequest::new(query) });
        assert_eq!((texts(&found), found.used), (vec![text.to_owned()], UsedMode::Lexical), "{query}");
    }
}

fn context(session: &str, query: Option<&str>) -> ContextRequest {
    ContextRequest {
        query: query.map(str::to_owned),
        query_vector: None,
        session: SessionId::new(session).unwrap(),
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: TokenCount(4_000),
        sections: Within::All,
        as_of: AsOf::at(Timestamp::from_micros(START + 999 * HOUR).unwrap()),
        injected: RepeatPolicy::Skip,
        tool: None,
        lines: None,
    }
}

// proves: RB-08, NB-69
#[test]
fn a_question_has_ten_hits_and_a_context_is_offered_more_of_other_conversations() {
    let crowd: Vec<String> = (0..30).map(|n| format!("ferry number {n}")).collect();
    let space = words(&crowd.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((DEFAULT_LIMIT.get(), INJECT_LIMIT.get()), (10, 24));
    assert_eq!(space.find("ferry").len(), 10);
    let source = RecallSource::new(Arc::new(space.recall));
    let offered = ready(source.fragments(&context("s3", Some("ferry")))).unwrap().value;
    assert_eq!(offered.len(), 29, "all of the others: 4,000 tokens have room for 80");
    let little = ContextRequest { budget: TokenCount(400), ..context("s3", Some("ferry")) };
    assert_eq!(ready(source.fragments(&little)).unwrap().value.len(), 24);
    assert!(offered.iter().all(|fragment| fragment.withheld.is_none() && fragment.text != "ferry number 3"));
    assert!(ready(source.fragments(&context("s3", None))).unwrap().value.is_empty(), "no question, no hits");
}

#[test]
fn how_something_went_is_answered_by_a_sentence_of_every_event_about_it_in_their_order() {
    let line = |n: usize| format!("The ferry left pier {n} with its captain, alas.");
    let told: Vec<String> = (0..12)
        .map(|n| format!("It is day {n}. {}", line(n)))
        .chain((0..300).map(|n| format!("The weather of week {n} was fine.")))
        .collect();
    let mut events = alone(&told.iter().map(String::as_str).collect::<Vec<_>>());
    for (place, event) in events.iter_mut().enumerate() {
        // A third of it was answered, at length, and all at one moment: the order is that of the log.
        event.occurred_at = Timestamp::from_micros(START).unwrap();
        if place % 3 == 2 {
            event.kind = mnemal_core::EventKind::AssistantMessage;
            event.origin = mnemal_core::Origin::Assistant;
            event.content = format!("Certainly! {} {}", "There is much to say. ".repeat(40), event.content);
        }
    }
    let source = RecallSource::new(Arc::new(space(&events, Slot::Empty).recall));
    let steps = |query: &str| -> Vec<mnemal_core::Fragment> {
        let offered = ready(source.fragments(&context("other", Some(query)))).unwrap().value;
        assert!(
            offered.iter().filter(|one| one.because == mnemal_core::InclusionReason::Query).count() <= 24
        );
        offered.into_iter().filter(|one| one.because == mnemal_core::InclusionReason::Time).collect()
    };
    let all = steps("An overview of the ferry, the pier and the captain");
    let expect: Vec<String> = (0..12).map(line).collect();
    assert_eq!(all.iter().map(|one| one.text.clone()).collect::<Vec<_>>(), expect);
    let own = steps("In what order did I name the ferry, the pier, the captain?");
    assert_eq!(own.len(), 8, "what was answered is not what he said");
    let best_of = |texts: &[mnemal_core::Fragment], is_of: fn(usize) -> bool| {
        let of = texts.iter().enumerate().filter(|(place, _)| is_of(*place));
        of.map(|(_, one)| one.score.get()).fold(0.0, f32::max)
    };
    let apart = best_of(&all, |place| place % 3 == 2) - best_of(&all, |place| place % 3 != 2);
    assert!(apart.abs() < 1e-6, "{apart}");
    for one in &all {
        let sum: f32 = one.parts.iter().map(|part| part.value).sum();
        assert!((sum - one.score.get()).abs() < 1e-6 && one.sources.len() == 1);
    }
    assert!(steps("When did the ferry leave?").is_empty());
    assert!(steps("Summarise the zebra").is_empty(), "nothing was said of it");
    let few = ContextRequest { lines: Some(6), ..context("other", Some("Summarise how the ferry went")) };
    let few = ready(source.fragments(&few)).unwrap().value;
    assert!(few.iter().all(|one| one.because != mnemal_core::InclusionReason::Time));
}

// proves: DF-52, PB-28
#[test]
fn punctuation_that_means_something_to_engines_means_nothing_here() {
    let space =
        words(&["ticket POL-358 is open", "we write C++ here", "user:alice logged in", "what's up with it"]);
    let queries = [
        "POL-358",
        "C++",
        "user:alice",
        "what's up?",
        "\"",
        "\"\"",
        "'",
        "*",
        "a*",
        "(",
        ")",
        "()",
        "NEAR(a b)",
        "AND",
        "OR NOT",
        "NOT",
        "-x",
        "+x",
        "^x",
        "x:y:z",
        "col:\"a\"",
        "{a b}",
        "%",
        "_",
        "\\",
        "a\\",
        "; drop table events",
        "--",
        "/*",
        "$1",
        "?1",
        ":name",
        "@x",
        "a\0b",
        "\u{202e}x",
    ];
    assert_eq!(queries.len(), 35);
    for query in queries {
        let found = space.ask(&RecallRequest::new(query));
        assert!(found.hits.len() <= 4, "{query}");
    }
    for (query, text) in [("POL-358", 0), ("C++", 1), ("user:alice", 2)] {
        assert_eq!(space.ask(&RecallRequest::new(query)).hits[0].event.id, EventId(text + 1), "{query}");
    }
    let empty = space.ask(&RecallRequest::new(""));
    assert!(empty.hits.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    // proves: DF-52 (random queries)
    #[test]
    fn any_query_is_answered_within_its_filter(query in "\\PC{0,40}", odd in "[\"'*():^+\\-\\\\%_\\x00-\\x1f a-c]{0,20}") {
        let space = words(&["ticket a b c", "we write C++ here", "c"]);
        let filter = EventFilter { session: Within::Only(SessionId::new("s1").unwrap()), ..EventFilter::live() };
        for query in [query, odd] {
            let found = space.ask(&RecallRequest { filter: filter.clone(), ..RecallRequest::new(query) });
            prop_assert!(found.hits.iter().all(|hit| hit.event.id == EventId(2)));
            prop_assert!(found.head >= Cursor::START);
        }
    }
}
