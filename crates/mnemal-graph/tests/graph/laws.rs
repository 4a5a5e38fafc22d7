//! Laws: replay, restart, double application, order, forget, the past as it was believed.

use mnemal_core::{
    Advance, AsOf, Cursor, EventFilter, EventStore as _, FactFilter, GraphStore as _, Projection as _,
    Timestamp,
};
use proptest::prelude::*;

use crate::log::{Life, PLENTY, now};

/// Claims that conflict, agree, end and recur; each with its day.
fn claim() -> impl Strategy<Value = String> {
    let subject =
        prop::sample::select(vec!["me", "Anna", "sister()", "sister(Anna)", "brother(John)", "John"]);
    let object = prop::sample::select(vec![
        "lives_in Oslo:location",
        "lives_in Rome:location",
        "works_at Acme:organization",
        "likes tea",
        "dislikes tea",
        "birthday May_3",
        "birthday May_4",
        "visited Rome:location",
    ]);
    let time = prop::sample::select(vec!["", "", "@2019-01-01", "@2020-06-01", "@2018-01-01..2019-01-01"]);
    let act = prop::sample::select(vec!["", "", "", "end", "plan"]);
    (subject, object, time, act)
        .prop_map(|(subject, object, time, act)| format!("{subject} {object} {time} {act}"))
}

pub(crate) fn story() -> impl Strategy<Value = Vec<(u8, u8, String)>> {
    prop::collection::vec((1..28_u8, 0..3_u8, claim()), 1..12)
}

pub(crate) fn tell(life: &mut Life, story: &[(u8, u8, String)]) -> Vec<mnemal_core::EventId> {
    let one = |(day, session, text): &(u8, u8, String)| {
        let entry = life.entry(&format!("2020-05-{day:02}"), &format!("s{session}"), text);
        life.append(entry)
    };
    story.iter().map(one).collect()
}

/// The current beliefs, without belief times, ids and the reasons that depend on order; only claims about the speaker,
/// because names resolve in arrival order.
fn view(life: &Life) -> Vec<String> {
    life.believed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    // proves: AD-22 (order)
    #[test]
    fn the_view_does_not_depend_on_the_order_of_arrival(
        story in story(),
        seed in any::<u64>(),
    ) {
        let mine: Vec<_> = story.into_iter().enumerate().map(|(n, (_, session, text))| {
            let words: Vec<&str> = text.split_whitespace().skip(1).collect();
            (u8::try_from(n + 1).unwrap(), session, format!("me {}", words.join(" ")))
        }).collect();
        let mut other = mine.clone();
        other.sort_by_key(|(day, _, _)| seed.rotate_left(u32::from(*day) * 7).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (mut one, mut two) = (Life::new(), Life::new());
        tell(&mut one, &mine);
        tell(&mut two, &other);
        one.fold();
        two.fold();
        prop_assert_eq!(view(&one), view(&two));
    }

    // proves: NB-35 (steps)
    #[test]
    fn steps_restarts_and_rebuilds_give_the_same_rows(story in story()) {
        let (mut whole, mut stepped) = (Life::new(), Life::new());
        tell(&mut whole, &story);
        whole.fold();
        for turn in &story {
            tell(&mut stepped, std::slice::from_ref(turn));
            stepped.fold();
            stepped.restart();
        }
        prop_assert_eq!(whole.dump(), stepped.dump());
        let rows = whole.dump();
        prop_assert_eq!(&whole.rebuilt(), &rows);
        let at = now(mnemal_core::Projection::<mnemal_core::GraphDelta>::cursor(whole.store.as_ref())).unwrap();
        let again = Advance { expect: at, next: at, ..Advance::default() };
        now(whole.store.apply(&rows, &again)).unwrap();
        prop_assert_eq!(whole.dump(), rows);
    }

    // proves: NX-02.8 (graph)
    #[test]
    fn the_past_is_what_was_believed_then(story in story(), k in 0..12_usize) {
        past_is_kept(&story, k.min(story.len()));
    }

    // proves: NX-02.8 (graph), NX-03.3 (graph)
    #[test]
    fn forgetting_gives_what_the_log_gives_without_it(story in story(), gone in 0..12_usize) {
        let mut life = Life::new();
        let events = tell(&mut life, &story);
        life.fold();
        let Some(gone) = events.get(gone % events.len()) else { return Ok(()) };
        life.forget("2021-01-01", &[*gone]);
        let after = life.dump();
        life.restart();
        prop_assert_eq!(&life.rebuilt(), &after);
        let rests = now(life.store.history(&FactFilter::all())).unwrap();
        prop_assert!(rests.iter().all(|fact| fact.supports.iter().all(|one| one.source.event != *gone)));
        prop_assert!(after.entities.iter().all(|entity| !entity.sources.contains(gone)));
    }
}

#[test]
fn a_forgotten_first_mention_does_not_rename_the_entity() {
    let mut life = Life::new();
    let first = life.say("2020-05-01", "Anna likes tea");
    life.say("2020-05-02", "Anna likes jazz");
    let id = life.dump().entities[0].id;
    life.forget("2020-06-01", &[first]);
    assert_eq!(life.dump().entities[0].id, id);
    assert_eq!(life.on("2021-01-01"), ["Anna likes jazz"]);
    assert!(life.facts(AsOf::present(Timestamp::MAX)).iter().all(|fact| !fact.object.key().contains("tea")));
}

/// The beliefs after the first `k` turns equal those of a graph that got no more turns.
fn past_is_kept(story: &[(u8, u8, String)], k: usize) {
    let (mut whole, mut part) = (Life::new(), Life::new());
    tell(&mut whole, story);
    tell(&mut part, &story[..k]);
    whole.fold();
    part.fold();
    let last = now(part.store.scan(&EventFilter::all(), Cursor::START, PLENTY)).unwrap();
    let Some(last) = last.last() else { return };
    for world in ["2018-06-01", "2020-05-10", "2021-01-01"] {
        let world = crate::log::day(world);
        let then = whole.facts(AsOf { world, belief: last.recorded_at });
        let mut known = part.facts(AsOf { world, belief: last.recorded_at });
        for fact in &mut known {
            fact.expired_at = then.iter().find(|of| of.id == fact.id).and_then(|of| of.expired_at);
        }
        assert_eq!(then, known, "{story:?}");
    }
}

#[test]
fn what_a_merge_brings_does_not_change_the_past() {
    let texts = [
        "sister() works_at Acme:organization",
        "Anna works_at Acme:organization",
        "sister(Anna) lives_in Oslo:location",
    ];
    let story: Vec<_> = texts.into_iter().map(|text| (1, 0, text.to_owned())).collect();
    for k in 0..=story.len() {
        past_is_kept(&story, k);
    }
}

#[test]
fn the_ids_of_facts_follow_those_of_their_events() {
    let mut life = Life::new();
    for n in 0..20 {
        life.say("2020-05-01", &format!("me likes thing{n}\nme uses tool{n}"));
    }
    let facts = life.dump().facts;
    let ids: std::collections::BTreeSet<_> = facts.iter().map(|fact| fact.id).collect();
    assert_eq!((facts.len(), ids.len()), (40, 40), "each has an id of its own");
    for fact in &facts {
        assert_eq!(fact.id.0 >> 64, fact.supports[0].source.event.0 >> 64, "an event's facts stand together");
    }
}
