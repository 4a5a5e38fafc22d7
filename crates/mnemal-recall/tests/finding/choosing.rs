//! Request options: boosts, choice of hits, time zone, similarity floor.

use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::{Embedder, NewEvent, Slot, Timestamp, Zone};
use mnemal_recall::{Boost, Boosts, Diversity, EVIDENCE_FLOOR, Recall, RecallRequest, RecallSettings};

use crate::space::{Directions, HOUR, START, Space, alone, parts, ready, said, space, texts};

/// Twelve texts with words of the question, and one that only a vector finds.
fn painted() -> Space {
    let embedder: Arc<dyn Embedder> = Directions::new(0.5);
    let mut lines: Vec<String> = (0..12).map(|number| format!("blue paint number {number}")).collect();
    lines.push("ships in the dock".to_owned());
    space(&alone(&lines.iter().map(String::as_str).collect::<Vec<_>>()), embedder.into())
}

fn first(space: &Space, limit: usize, request: RecallRequest) -> Vec<String> {
    let limit = NonZeroUsize::new(limit).unwrap();
    texts(&space.ask(&RecallRequest { limit, ..request }))
}

// proves: AD-12, DF-48
#[test]
fn a_twin_that_is_first_in_one_arm_is_among_the_first_when_arms_take_turns() {
    let (space, asked) = (painted(), RecallRequest::new("blue paint by the ocean"));
    assert!(!first(&space, 12, asked.clone()).contains(&"ships in the dock".to_owned()), "a sum hides it");
    let in_turn = first(&space, 2, RecallRequest { diversity: Diversity::InTurn, ..asked.clone() });
    assert!(in_turn[0].starts_with("blue paint"), "{in_turn:?}");
    assert_eq!(in_turn[1], "ships in the dock");
    let all = first(&space, 50, RecallRequest { diversity: Diversity::InTurn, ..asked });
    assert_eq!(all.len(), 13, "each once, and none is lost: {all:?}");
}

// proves: AD-09 (of a sum: there is no other way to fuse)
#[test]
fn an_arm_counts_more_where_a_request_boosts_it() {
    let (space, asked) = (painted(), RecallRequest::new("blue paint by the ocean"));
    let with = |vectors| RecallRequest { boosts: Boosts { vectors, ..Boosts::default() }, ..asked.clone() };
    assert!(first(&space, 1, with(Boost::None))[0].starts_with("blue paint"));
    assert_eq!(first(&space, 1, with(Boost::High)), ["ships in the dock"]);
    let hit = space.ask(&with(Boost::Medium)).hits.remove(0);
    let sum: f64 = hit.parts.iter().map(|part| f64::from(part.value)).sum();
    assert!(
        (sum - f64::from(hit.score.get())).abs() < 1e-6,
        "the boosted weights are what explains the score"
    );
}

#[test]
fn a_day_is_that_of_the_asker() {
    // In UTC it is the evening of 10 January, in Tokyo the morning of the 11th.
    let at = |hours: i64| Timestamp::from_micros(START + hours * HOUR).unwrap();
    let mut events = alone(&["the bell rang twice", "the bell rang once", "good evening"]);
    for (event, hours) in events.iter_mut().zip([8 * 24 + 5, 9 * 24 + 10, 9 * 24 + 20]) {
        event.occurred_at = at(hours);
    }
    let space = space(&events, Slot::Empty);
    let asked = RecallRequest::new("When did the bell ring yesterday?");
    let tokyo = Zone { name: "Asia/Tokyo".to_owned(), offset_seconds: 9 * 3_600 };
    assert_eq!(first(&space, 1, asked.clone()), ["the bell rang twice"]);
    assert_eq!(first(&space, 1, RecallRequest { zone: tokyo, ..asked }), ["the bell rang once"]);
}

// proves: AD-19
#[test]
fn a_question_names_its_days_in_the_language_it_is_asked_in() {
    // In a space whose language is English, because the others have no stemmer.
    for (twice, once, yesterday, today) in [
        (
            "the bell rang twice",
            "the bell rang once",
            "Did the bell ring yesterday?",
            "Did the bell ring today?",
        ),
        ("钟响了两次", "钟响了一次", "昨天钟响了吗？", "今天钟响了吗？"),
        ("鐘が二度鳴った", "鐘が一度鳴った", "昨日鐘が鳴った？", "今日鐘が鳴った？"),
        ("종이 두 번 울렸다", "종이 한 번 울렸다", "어제 종이 울렸어?", "오늘 종이 울렸어?"),
    ] {
        let mut events = alone(&[twice, once, "good evening"]);
        for (event, hours) in events.iter_mut().zip([8 * 24 + 5, 9 * 24 + 10, 9 * 24 + 20]) {
            event.occurred_at = Timestamp::from_micros(START + hours * HOUR).unwrap();
        }
        let space = space(&events, Slot::Empty);
        assert_eq!(first(&space, 1, RecallRequest::new(yesterday)), [twice]);
        assert_eq!(first(&space, 1, RecallRequest::new(today)), [once]);
    }
}

// proves: RB-15 (the threshold)
#[test]
fn a_setting_stands_in_for_the_floor_of_every_embedder() {
    // The cosine of "harbour" to "sea" is 0.6.
    for (min_similarity, is_enough) in [(None, true), (Some(0.3), true), (Some(0.7), false)] {
        let embedder: Arc<dyn Embedder> = Directions::new(0.5);
        let Space { store, .. } =
            space(&alone(&["we met at the harbour"]), Slot::Filled(Arc::clone(&embedder)));
        let settings = RecallSettings { min_similarity, ..RecallSettings::default() };
        let recall = Recall::new(parts(&store, embedder.into()), settings);
        let found = ready(recall.recall(&RecallRequest::new("sea"))).unwrap();
        assert_eq!(found.evidence >= EVIDENCE_FLOOR, is_enough, "{min_similarity:?}");
        let vector = Some((Directions::new(0.5).model.clone(), vec![1.0, 0.0, 0.0]));
        let asked = RecallRequest { query_vector: vector, ..RecallRequest::new("sea") };
        let found = ready(recall.recall(&asked)).unwrap();
        assert_eq!(
            found.evidence >= EVIDENCE_FLOOR,
            is_enough,
            "with the caller's vector, {min_similarity:?}"
        );
    }
}

// proves: AD-15
#[test]
fn hits_that_cover_are_few_of_one_conversation_and_of_one_document_unless_it_is_named() {
    let topics = ["rope", "sails", "crew", "rudder", "galley", "anchor", "mast", "hull"];
    let of = |session: &str, file: Option<&str>| -> Vec<NewEvent> {
        let event = |topic: &&str| {
            let mut event = said(session, &format!("the ferry and its {topic} in {session}"));
            event.metadata.extend(file.map(|name| ("file".to_owned(), name.to_owned())));
            event
        };
        topics.iter().map(event).collect()
    };
    let events = [of("talk", None), of("docs/handbook.md", Some("docs/handbook.md"))].concat();
    let space = space(&events, Slot::Empty);
    let count = |query: &str| {
        let asked = RecallRequest { diversity: Diversity::Covering, ..RecallRequest::new(query) };
        let found = first(&space, 16, asked);
        let of = |session: &str| found.iter().filter(|text| text.ends_with(session)).count();
        (of("talk"), of("docs/handbook.md"))
    };
    assert_eq!(count("the ferry"), (3, 5));
    assert_eq!(count("the ferry in the Handbook"), (3, 8));
    assert_eq!(count("the ferry in our talk"), (8, 5));
    assert_eq!(count("talkative ferry handbooks"), (3, 5), "a part of a word names nothing");
}
