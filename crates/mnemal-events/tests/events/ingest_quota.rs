//! The hourly ingest quota.

use std::time::Duration;

use mnemal_core::{
    AgentId, Category, ChannelId, Decision, EventFilter, EventKind, Importance, LearningKind, NewEvent,
    NoteKey, Origin, Remember, Seq, UserId, Within,
};
use mnemal_events::{BURST, EventLog, Format, HourlyLimits, LogSettings};
use mnemal_testkit::block_on;

use crate::desk::{Desk, desk, desk_with, options, parts, said};

fn note(origin: Origin, session: &str, text: &str) -> NewEvent {
    let remember = Remember {
        key: None,
        kind: LearningKind::Note,
        category: Category::new("general").unwrap(),
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        expires_at: None,
    };
    NewEvent { kind: EventKind::Decision(Decision::Remember(remember)), origin, ..said(session, text) }
}

fn seen(session: &str, text: &str) -> NewEvent {
    NewEvent { kind: EventKind::Observation, origin: Origin::ToolExternal, ..said(session, text) }
}

/// Stores one after the other, a second apart, and says how many of them are quarantined.
fn held(desk: &Desk, events: impl IntoIterator<Item = NewEvent>) -> usize {
    let fates = events.into_iter().map(|event| {
        desk.clock.advance(Duration::from_secs(1));
        let ack = desk.one(event);
        assert_eq!(desk.get(ack.id).quarantined, ack.quarantined);
        assert!(ack.quarantined.as_ref().is_none_or(|rule| rule.as_str() == BURST), "{ack:?}");
        usize::from(ack.quarantined.is_some())
    });
    fates.sum()
}

fn notes(session: &'static str, from: usize, count: usize) -> impl Iterator<Item = NewEvent> {
    (from..from + count)
        .map(move |number| note(Origin::Assistant, session, &format!("shelf {number} holds nails")))
}

// proves: NX-08.6 (sixty an hour of the agent)
#[test]
fn the_agent_keeps_sixty_notes_an_hour_in_a_session_and_the_next_are_held_back() {
    let desk = desk();
    assert_eq!(held(&desk, notes("s", 0, 60)), 0);
    assert_eq!(held(&desk, notes("s", 60, 15)), 15);
    // A quarantined item is stored, is not found, and does not count.
    let of = EventFilter { quarantined: Within::Only(true), ..EventFilter::all() };
    let all = desk.all();
    assert_eq!(all.iter().filter(|event| of.accepts(event)).count(), 15);
    let blocks = block_on(mnemal_core::IndexStore::load(
        desk.store.as_ref(),
        mnemal_core::Cursor::START,
        crate::desk::MANY,
    ));
    assert_eq!(blocks.unwrap().iter().map(mnemal_core::IndexBlock::len).sum::<usize>(), 60);
    assert_eq!(held(&desk, [note(Origin::UserDirect, "s", "my boat is green")]), 0, "the user's own words");
    assert_eq!(held(&desk, notes("other", 0, 1)), 0, "another conversation");
    let whose = |event: NewEvent| NewEvent { user: Some(UserId::new("ben").unwrap()), ..event };
    assert_eq!(held(&desk, notes("s", 80, 1).map(whose)), 0, "another person");
    let whose = |event: NewEvent| NewEvent { agent: Some(AgentId::new("two").unwrap()), ..event };
    assert_eq!(held(&desk, notes("s", 81, 1).map(whose)), 0, "another agent");
    assert_eq!(held(&desk, [seen("s", "the door is open")]), 0, "another level");
    desk.clock.advance(Duration::from_mins(59));
    assert_eq!(held(&desk, notes("s", 90, 70)), 10, "an hour later sixty may come again");
}

// proves: NX-08.6 (two hundred an hour of level external)
#[test]
fn two_hundred_observations_an_hour_are_kept_and_the_next_are_held_back() {
    let desk = desk();
    let many = |range: std::ops::Range<usize>| {
        range.map(|number| seen("s", &format!("sensor {number} reads {}", number * 7)))
    };
    assert_eq!(held(&desk, many(0..200)), 0);
    let batch = desk.append(many(200..230).collect()).unwrap().value;
    assert!(batch.iter().flatten().all(|ack| ack.quarantined.is_some()));
    assert_eq!(held(&desk, notes("s", 0, 1)), 0);
}

// proves: NX-08.6 (in one call)
#[test]
fn a_batch_counts_what_it_holds_itself() {
    let desk = desk();
    let fates = desk.append(notes("s", 0, 100).collect()).unwrap().value;
    let held: Vec<bool> = fates.iter().flatten().map(|ack| ack.quarantined.is_some()).collect();
    assert_eq!(held, [[false; 60].as_slice(), &[true; 40]].concat());
}

#[test]
fn talk_and_what_a_person_brings_in_are_not_counted() {
    let desk = desk();
    let turn = |number: usize| NewEvent {
        kind: EventKind::AssistantMessage,
        origin: Origin::Assistant,
        ..said("s", &format!("step {number} is done"))
    };
    assert_eq!(held(&desk, (0..70).map(turn)), 0);
    let line = |n: u32| {
        format!("{{\"id\":\"{n}\",\"conv\":\"s\",\"speaker\":\"ben\",\"text\":\"line {n} of a chat\"}}")
    };
    let file = (0..300).map(line).collect::<Vec<_>>().join("\n");
    let (taken, _) = desk.import(file.as_bytes(), Format::Neutral, &options());
    assert_eq!((taken.stored, taken.quarantined), (300, 0));
}

#[test]
fn a_repetition_is_told_as_it_was_stored() {
    let desk = desk();
    let named = |number: usize, event: NewEvent| NewEvent {
        idempotency_key: Some(format!("call-{number}")),
        ..event
    };
    let all: Vec<NewEvent> = notes("s", 0, 61).enumerate().map(|(n, event)| named(n, event)).collect();
    assert_eq!(held(&desk, all.clone()), 1);
    let again = desk.append(vec![all[0].clone(), all[60].clone()]).unwrap().value;
    let rules: Vec<bool> = again.iter().flatten().map(|ack| ack.quarantined.is_some()).collect();
    assert_eq!(rules, [false, true]);
    assert!(again.iter().flatten().all(|ack| ack.duplicate));
}

#[test]
fn another_process_counts_the_same_and_a_release_lets_it_in() {
    let desk = desk();
    assert_eq!(held(&desk, notes("s", 0, 60)), 0);
    // Many turns between the notes and the head are no reason not to see them.
    for number in 0..300 {
        desk.one(said("s", &format!("turn {number}")));
    }
    let other = Desk { log: EventLog::new(parts(&desk.store, &desk.clock)), ..desk };
    let ack = other.one(notes("s", 60, 1).next().unwrap());
    assert!(ack.quarantined.is_some());
    let decided = |decision| Ok(NewEvent { kind: EventKind::Decision(decision), ..said("s", "") });
    let released = block_on(other.log.release(ack.id, decided)).unwrap().value;
    assert_eq!(other.get(released.copy).quarantined, None);
    assert_eq!(other.get(ack.id).seq, Seq(361));
}

#[test]
fn a_limit_is_the_operators() {
    for (agent, expected) in [(0, 0), (5, 65)] {
        let settings = LogSettings { hourly: HourlyLimits { agent, external: 1 }, ..LogSettings::default() };
        let desk = desk_with(|parts| parts.settings = settings);
        assert_eq!(held(&desk, notes("s", 0, 70)), expected);
        assert_eq!(held(&desk, [seen("s", "one"), seen("s", "two")]), 1);
    }
}

#[test]
fn a_note_under_a_key_counts_each_time() {
    let desk = desk();
    let keyed = |mut event: NewEvent| {
        if let EventKind::Decision(Decision::Remember(note)) = &mut event.kind {
            note.key = Some(NoteKey::new("deploy_day").unwrap());
        }
        event
    };
    assert_eq!(held(&desk, notes("s", 0, 61).map(keyed)), 1);
}

#[test]
fn a_store_of_an_application_is_no_burst_and_leaves_an_agent_its_hour() {
    let desk = desk();
    let stored = |event| NewEvent { channel: ChannelId::new("store").unwrap(), ..event };
    let store =
        Desk { log: desk.log.without_hourly_limits(), store: desk.store.clone(), clock: desk.clock.clone() };
    assert_eq!(held(&store, notes("s", 0, 150).map(stored)), 0);
    assert_eq!(held(&desk, notes("s", 150, 61)), 1, "the agent has an hour of its own");
    assert_eq!(held(&store, notes("s", 300, 5).map(stored)), 0);
    assert_eq!(held(&desk, notes("s", 400, 1).map(stored)), 1, "the place alone lets nobody pass");
}
