//! Order of hits, and their evidence.

use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::{
    ChannelId, Embedder, EventFilter, EventId, Gap, GapCause, Layer, NewEvent, Slot, Timestamp, Within,
};
use mnemal_recall::{EVIDENCE_FLOOR, MatchReason, Mode, NEWEST_SCANNED, RecallRequest, UsedMode};

use crate::space::{Directions, HOUR, START, alone, put, said, space, texts, words};

// proves: RB-21, PB-29, NX-07.1, DF-44
#[test]
fn without_an_embedder_words_find_the_rarest_first_and_the_gap_is_named() {
    let space = words(&[
        "the release train leaves at nine",
        "the release notes of POL-358 are late",
        "the release party is on Friday",
    ]);
    let found = space.ask(&RecallRequest::new("release POL-358"));
    assert_eq!(texts(&found).first().map(String::as_str), Some("the release notes of POL-358 are late"));
    assert_eq!((found.used, found.hits.len()), (UsedMode::Lexical, 3));
    assert_eq!(space.gaps("release"), [Gap { layer: Layer::Vector, cause: GapCause::NotConfigured }]);
    put(&space.store, &[said("late", "the zeppelin landed")], Slot::Empty, 900);
    assert_eq!(space.find("zeppelin"), ["the zeppelin landed"], "found when the append is answered");
}

// proves: DF-44 (beside vectors)
#[test]
fn a_rare_identifier_without_a_near_vector_is_the_first_hit() {
    let embedder: Arc<dyn Embedder> = Directions::new(0.5);
    let space = space(
        &alone(&["ships on the sea", "the ocean is wide", "ticket ZX-9917 is closed", "sea and ships"]),
        embedder.into(),
    );
    assert_eq!(space.find("ZX-9917 sea")[0], "ticket ZX-9917 is closed");
}

// proves: DF-45, RB-19
#[test]
fn what_both_arms_find_ranks_before_what_one_arm_finds() {
    let embedder: Arc<dyn Embedder> = Directions::new(0.5);
    let texts = ["the blue paint dried", "the blue ocean rests", "the old ocean rests"];
    let space = space(&alone(&texts), embedder.into());
    let found = space.ask(&RecallRequest::new("blue sea"));
    assert_eq!(found.used, UsedMode::Hybrid);
    assert_eq!(crate::space::texts(&found)[0], "the blue ocean rests");
    assert!(found.hits[0].score > found.hits[1].score);
}

// proves: RB-20, CF-20, BA-40, GB-19, AD-14
#[test]
fn evidence_is_judged_by_the_floor_of_the_embedder_and_never_by_words_of_certainty() {
    // The cosine of "harbour" to "sea" is 0.6.
    for (floor, is_enough) in [(0.3, true), (0.5, true), (0.7, false)] {
        let embedder: Arc<dyn Embedder> = Directions::new(floor);
        let space = space(&alone(&["we met at the harbour", "definitely at the harbour"]), embedder.into());
        let all = space.ask(&RecallRequest::new("sea"));
        assert_eq!(all.hits.len(), 2, "the floor guards injection and not the ranking");
        assert!(all.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.evidence)));
        assert!((all.hits[0].evidence - all.hits[1].evidence).abs() < 0.01);
        assert_eq!(all.evidence >= EVIDENCE_FLOOR, is_enough, "{floor}");
        let floored = RecallRequest { min_evidence: Some(EVIDENCE_FLOOR), ..RecallRequest::new("sea") };
        assert_eq!(space.ask(&floored).hits.len(), if is_enough { 2 } else { 0 });
    }
}

// proves: GB-19, DF-56 (evidence between spaces)
#[test]
fn what_another_space_holds_changes_no_score_and_evidence_is_comparable() {
    let own = ["the ferry leaves at nine", "the ferry is blue", "apples are red"];
    let (one, other) =
        (words(&own), words(&["the ferry sank", "a ferry", "one more ferry", "ferry ferry ferry"]));
    let before = one.ask(&RecallRequest::new("blue ferry"));
    let _crowd = other.ask(&RecallRequest::new("blue ferry"));
    put(&other.store, &alone(&["blue", "blue ferry", "blue ferry tales"]), Slot::Empty, 500);
    assert_eq!(one.ask(&RecallRequest::new("blue ferry")), before);
    let whole = other.ask(&RecallRequest::new("blue ferry")).evidence;
    assert!((whole - before.evidence).abs() < 1e-6, "both hold an event with all the words");
}

// proves: AD-02 (the choice of terms)
#[test]
fn sixteen_terms_search_and_the_common_ones_go_first() {
    let rare: Vec<String> = (0..16).map(|n| format!("rareword{n}")).collect();
    let common: Vec<String> = (0..9).map(|n| format!("common{n}")).collect();
    let mut texts: Vec<String> = rare.clone();
    texts.extend((0..30).map(|_| common.join(" ")));
    let space = words(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let query = format!("{} {}", common.join(" "), rare.join(" "));
    let limit = NonZeroUsize::new(100).unwrap();
    let found = space.ask(&RecallRequest { limit, ..RecallRequest::new(query) });
    let mut found = crate::space::texts(&found);
    found.sort();
    let mut expect = rare;
    expect.sort();
    assert_eq!(found, expect);
}

// proves: AD-08
#[test]
fn a_turn_beside_a_match_is_found_behind_it() {
    let turns = ["what did you build?", "a telescope for my daughter", "wonderful, well done"];
    let mut events: Vec<NewEvent> = turns.iter().map(|text| said("talk", text)).collect();
    events.push(said("other", "nothing of interest"));
    let found = space(&events, Slot::Empty).ask(&RecallRequest::new("telescope"));
    let by: Vec<MatchReason> = found.hits.iter().map(|hit| hit.found_by).collect();
    assert_eq!(by, [MatchReason::Words, MatchReason::Neighbor, MatchReason::Neighbor]);
    assert!(!texts(&found).contains(&"nothing of interest".to_owned()));
}

// proves: DF-51, GA-17, BA-42, DF-55
#[test]
fn the_oldest_of_many_events_is_found_by_words_and_by_nearness_and_behind_a_narrow_filter() {
    let embedder: Slot<dyn Embedder> = Slot::Filled(Directions::new(0.5));
    let mut events: Vec<NewEvent> = (0..NEWEST_SCANNED.get() + 2_000)
        .map(|n| {
            let text = if n % 100 == 0 { "a violet ribbon" } else { "nothing but noise" };
            said(&format!("s{n}"), text)
        })
        .collect();
    events[0] = NewEvent { channel: ChannelId::new("mail").unwrap(), ..said("first", "the ships came in") };
    for n in (0..events.len()).step_by(100) {
        events[n].channel = ChannelId::new("mail").unwrap();
    }
    let space = space(&events, embedder);
    let of = |query: &str, mode| RecallRequest { mode, ..RecallRequest::new(query) };
    for (query, mode) in [("ships", Mode::Lexical), ("ocean", Mode::Vector)] {
        let found = space.ask(&of(query, mode));
        assert_eq!(found.hits[0].event.id, EventId(1), "{mode:?}");
        assert_ne!(found.used, UsedMode::Substring);
    }
    let mail = EventFilter { channel: Within::Only(ChannelId::new("mail").unwrap()), ..EventFilter::live() };
    let limit = NonZeroUsize::new(500).unwrap();
    let found = space.ask(&RecallRequest { filter: mail, limit, ..of("violet", Mode::Lexical) });
    assert_eq!(found.hits.len(), 119, "one in a hundred passes the filter, and none is lost");
}

// proves: DF-49, DF-26 (three years)
#[test]
fn an_old_exact_match_beats_a_new_weak_one() {
    let mut events = alone(&["the password of the wifi is on the fridge", "the wifi is slow"]);
    events[1].occurred_at = Timestamp::from_micros(START + 1_100 * 24 * HOUR).unwrap();
    let space = space(&events, Slot::Empty);
    assert_eq!(space.find("where is the password of the wifi")[0], events[0].content);
}
