//! Rebuild: the rows are the fold of the log with its tombstones, for any size of steps.

use mnemal_core::{EventId, EventStore as _, Origin, Projector as _, RecordRef};
use proptest::prelude::*;

use crate::log::{Space, now};

/// An action in a log.
#[derive(Clone, Debug)]
enum Act {
    Remember(u8, u8, u8),
    Archive(u8, u8),
    /// An observation of the task of one key: the text that creates it, or none when it is finished.
    Observe(Option<u8>, u8),
    /// Forgets one of the events so far; erased immediately, or only at the end.
    Forget(u8, bool),
    Step(u8),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..4_u8, 0..3_u8, 0..4_u8).prop_map(|(key, text, origin)| Act::Remember(key, text, origin)),
        2 => (0..4_u8, 0..4_u8).prop_map(|(key, origin)| Act::Archive(key, origin)),
        3 => (prop::option::of(0..3_u8), 0..4_u8).prop_map(|(text, origin)| Act::Observe(text, origin)),
        2 => any::<(u8, bool)>().prop_map(|(event, late)| Act::Forget(event, late)),
        3 => (1..5_u8).prop_map(Act::Step),
    ]
}

fn origin(number: u8) -> Origin {
    [Origin::UserDirect, Origin::Assistant, Origin::Document, Origin::ToolInternal][usize::from(number)]
}

fn key(number: u8) -> &'static str {
    ["", "a", "b", "tasks/c"][usize::from(number)]
}

fn text(number: u8) -> &'static str {
    ["red", "green", "blue"][usize::from(number)]
}

fn run(acts: &[Act]) -> (Space, Vec<EventId>) {
    let mut space = Space::new();
    let (mut stored, mut gone, mut late_ones) = (Vec::new(), Vec::new(), Vec::new());
    for act in acts {
        match act {
            Act::Remember(of, text, by) => {
                stored.push(space.remember(key(*of), self::text(*text), origin(*by)));
            }
            Act::Archive(of, by) if *of > 0 => stored.push(space.archive(key(*of), origin(*by))),
            Act::Observe(text, by) => {
                let kind = if text.is_some() { "task_created" } else { "task_completed" };
                stored.push(space.observe(("c", kind), text.map_or("over", self::text), origin(*by)));
            }
            Act::Forget(event, late) if !stored.is_empty() => {
                let event = stored[usize::from(*event) % stored.len()];
                space.forget(&[event]);
                gone.push(event);
                if *late { late_ones.push(event) } else { space.erase(&[event]) }
            }
            Act::Step(limit) => drop(space.step(usize::from(*limit))),
            Act::Archive(..) | Act::Forget(..) => {}
        }
    }
    space.catch_up(3);
    space.erase(&late_ones);
    (space, gone)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    // proves: NX-02.3, NX-02.8, NX-08.2, NB-13
    #[test]
    fn a_rebuild_gives_the_same_rows_and_none_of_them_rests_on_a_forgotten_event(
        acts in prop::collection::vec(act(), 0..40),
        limit in 1..50_usize,
    ) {
        let (space, gone) = run(&acts);
        let rows = space.rows();
        for row in &rows {
            prop_assert!(!row.sources.is_empty());
            prop_assert!(row.sources.iter().all(|source| !gone.contains(&source.event)));
            let ids: Vec<EventId> = row.sources.iter().map(|source| source.event).collect();
            let events = now(space.store.get(&ids)).unwrap();
            prop_assert_eq!(Some(row.trust), events.iter().map(|event| event.trust).min());
            prop_assert_eq!(Some(row.level), events.iter().map(|event| event.level).min());
        }
        for key in ["a", "b", "tasks/c"] {
            let holding = rows.iter().filter(|row| row.key.as_ref().is_some_and(|of| of.as_str() == key));
            prop_assert!(holding.filter(|row| row.status.as_str() == "active").count() <= 1);
        }
        now(space.projector.reset()).unwrap();
        space.catch_up(limit);
        prop_assert_eq!(rows, space.rows());
    }
}

#[test]
fn forgetting_the_newest_version_lets_the_older_one_hold_again() {
    let mut space = Space::new();
    space.remember("day", "Tuesday", Origin::UserDirect);
    let newest = space.remember("day", "Friday", Origin::UserDirect);
    space.catch_up(10);
    space.forget(&[newest]);
    // The decision has an effect even before the bytes are erased.
    space.catch_up(10);
    assert_eq!(space.active(), ["Tuesday"]);
    space.erase(&[newest]);
    assert_eq!(space.history("day"), [("Tuesday".to_owned(), 1, "active")]);
}

#[test]
fn forgetting_an_archive_decision_undoes_it() {
    let mut space = Space::new();
    space.remember("day", "Tuesday", Origin::UserDirect);
    let archived = space.archive("day", Origin::UserDirect);
    space.catch_up(10);
    space.forget(&[archived]);
    space.erase(&[archived]);
    space.catch_up(10);
    assert_eq!(space.active(), ["Tuesday"]);
}

#[test]
fn a_step_at_the_end_of_the_log_does_nothing() {
    let mut space = Space::new();
    space.remember("day", "Tuesday", Origin::UserDirect);
    space.append(mnemal_core::EventKind::UserMessage, "hello", Origin::UserDirect);
    let first = space.step(1);
    assert_eq!((first.consumed, first.behind), (1, 1));
    let (second, third) = (space.step(10), space.step(10));
    assert_eq!((second.consumed, second.behind, third.consumed), (1, 0, 0));
    assert_eq!(second.cursor, third.cursor);
}

// proves: RB-02
#[test]
fn ids_are_derived_from_the_event_alone() {
    let ids = |noise: u32| {
        let mut space = Space::new();
        let event = space.remember("day", "Tuesday", Origin::UserDirect);
        for number in 0..noise {
            space.remember("other", &format!("{number}"), Origin::UserDirect);
        }
        space.catch_up(7);
        let rows = space.rows().into_iter();
        rows.filter(|row| row.sources[0].event == event)
            .map(|row| RecordRef::Learning(row.id))
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(0), ids(30));
    assert_eq!(ids(0).len(), 1);
}

#[test]
fn a_task_that_was_over_stays_over_when_its_first_note_is_forgotten() {
    let mut space = Space::new();
    let first = space.remember("tasks/c", "blue", Origin::UserDirect);
    space.step(1);
    space.remember("tasks/c", "blue", Origin::Assistant);
    space.observe(("c", "task_completed"), "over", Origin::UserDirect);
    space.catch_up(10);
    space.forget(&[first]);
    space.erase(&[first]);
    space.catch_up(10);
    let rows = space.rows();
    now(space.projector.reset()).unwrap();
    space.catch_up(3);
    assert_eq!(rows, space.rows());
    assert_eq!(space.active(), Vec::<String>::new());
}
