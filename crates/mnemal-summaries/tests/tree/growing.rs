//! Contents of nodes, and when they are built.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use mnemal_core::{EventStore as _, NodePath, Projection, Projector as _, SummaryDelta, SummaryNode};
use mnemal_summaries::{producer, render};

use crate::log::{HOUR, STEP, Space, now};

// proves: NB-43, NB-45, NB-46, NX-01.3
#[test]
fn sentences_rise_from_leaves_to_the_root_and_each_stands_in_its_event() {
    let mut space = Space::new();
    space.say("mail/1", "Hey! The invoice of Carla is due on Friday.");
    space.say("chat/1", "Hi there. My sister Dora moved to Lisbon in March.");
    space.fold();
    for path in ["root", "channel:mail", "session:mail/1"] {
        let lines = space.lines(path);
        assert!(lines.contains(&"The invoice of Carla is due on Friday.".to_owned()), "{path}: {lines:?}");
    }
    assert_eq!(space.lines("channel:chat"), ["My sister Dora moved to Lisbon in March."]);
    for node in space.all() {
        assert_eq!(node.producer, producer());
        for line in &node.lines {
            let event = now(space.store.get(&[line.source.event])).unwrap().pop().unwrap();
            let said = line.source.span.of(&event.body().unwrap().content);
            assert_eq!(said, Some(line.text.as_str()), "{}", node.path);
        }
    }
}

#[test]
fn days_stand_below_weeks_and_weeks_below_months() {
    let mut space = Space::new();
    space.say("s", "The garden of Emil has nine apple trees.");
    space.later = 24 * 8 * HOUR;
    space.say("s", "The roof of the barn was repaired by Frida.");
    space.fold();
    let tree = now(space.summaries.tree(&NodePath::Month("2026-03".to_owned()), 3)).unwrap();
    let shown: Vec<(usize, String)> = tree.iter().map(|one| (one.depth, one.node.path.to_string())).collect();
    let expected = [(0, "month:2026-03"), (1, "week:2026-W11"), (2, "day:2026-03-09")];
    assert_eq!(shown, expected.map(|(depth, path)| (depth, path.to_owned())));
    // The first of March 2026 is a Sunday, so its week belongs to February.
    for path in ["month:2026-02", "week:2026-W09", "day:2026-03-01"] {
        assert_eq!(space.lines(path), ["The garden of Emil has nine apple trees."], "{path}");
    }
    assert_eq!(space.node("session:s").unwrap().events, 2);
    assert_eq!(space.node("root").unwrap().events, 2, "an event of a channel and of a month counts once");
}

// proves: NB-41
#[test]
fn what_is_not_in_a_text_yet_is_counted_from_the_log_and_is_never_ten_events() {
    let mut space = Space::new();
    let path = NodePath::Root;
    for number in 1..=100_u64 {
        space.say("s", &format!("Parcel number {number} was sent to town {}.", number * 7));
        space.fold();
        let standing = now(space.summaries.get(&path)).unwrap();
        assert!(!standing.is_stale() && standing.behind * 4 <= number.min(30), "{number}: {standing:?}");
        let covered: u64 = number - standing.behind;
        assert_eq!(standing.node.through.0, covered, "{number}");
    }
    for number in 0..10 {
        assert!(!now(space.summaries.get(&path)).unwrap().is_stale(), "{number}");
        space.say("s", "One more parcel.");
    }
    let standing = now(space.summaries.get(&path)).unwrap();
    assert!(standing.is_stale() && standing.behind >= 10, "nothing was folded: {standing:?}");
}

// proves: NB-42
#[test]
fn a_step_makes_twenty_leaves_or_as_many_as_it_is_told() {
    let mut space = Space::new();
    for number in 0..50 {
        space.say(&format!("s{number}"), &format!("The locker {number} is green."));
    }
    let leaves =
        |space: &Space| space.all().iter().filter(|node| matches!(node.path, NodePath::Part { .. })).count();
    for (made, behind) in [(20, 30), (40, 10), (50, 0)] {
        let progress = now(space.projector.step(STEP)).unwrap();
        assert_eq!((leaves(&space), progress.behind), (made, behind));
    }
    let seven = NonZeroUsize::new(7).unwrap();
    now(space.projector.reset()).unwrap();
    let progress = now(space.projector.clone().with_leaves_at_once(seven).step(STEP)).unwrap();
    assert_eq!((leaves(&space), progress.behind), (7, 43));
}

#[test]
fn a_step_makes_no_more_rows_than_a_short_transaction_takes() {
    let rows = |node: &SummaryNode| 1 + node.sources.len() + node.parents.len();
    for turns in [1, 2, 7, 15, 30, 45] {
        let mut space = Space::new();
        for number in 0..300 / turns {
            for turn in 0..turns {
                let text = format!("The locker {number} of floor {turn} is green, and Ida has its key.");
                space.say(&format!("cli/{number}"), &text);
            }
        }
        let (mut before, mut most) = (Vec::new(), 0);
        while now(space.projector.step(STEP)).unwrap().consumed > 0 {
            let after = space.all();
            most = most.max(after.iter().filter(|node| !before.contains(*node)).map(rows).sum::<usize>());
            before = after;
        }
        assert!((90..=180).contains(&most), "{turns}: {most}");
    }
}

#[test]
fn an_unchanged_subtree_is_neither_read_nor_written() {
    let mut space = Space::new();
    space.say("mail/1", "The invoice of Carla is due on Friday.");
    space.fold();
    let before = space.all();
    space.later = 40 * 24 * HOUR;
    space.say("chat/1", "My sister Dora moved to Lisbon.");
    space.fold();
    let after = space.all();
    let changed: BTreeSet<String> =
        before.iter().filter(|node| !after.contains(node)).map(|node| node.path.to_string()).collect();
    assert_eq!(changed, BTreeSet::from(["root".to_owned()]));
}

#[test]
fn a_conversation_of_greetings_has_no_summary() {
    let mut space = Space::new();
    space.say("s", "Hello!");
    space.fold();
    assert!(space.node("session:s").is_none() && space.node("root").is_none());
    space.say("s", "The ferry leaves at nine.");
    space.fold();
    assert_eq!(space.lines("root"), ["The ferry leaves at nine."]);
}

#[test]
fn folding_what_is_folded_changes_nothing() {
    let mut space = Space::new();
    space.say("s", "The ferry leaves at nine.");
    space.fold();
    let before = (space.all(), now(Projection::<SummaryDelta>::cursor(space.store.as_ref())).unwrap());
    let progress = now(space.projector.step(NonZeroUsize::MIN)).unwrap();
    assert_eq!((progress.consumed, progress.behind), (0, 0));
    let after = (space.all(), now(Projection::<SummaryDelta>::cursor(space.store.as_ref())).unwrap());
    assert_eq!(before, after);
}

#[test]
fn a_text_names_day_and_speaker_once() {
    let mut space = Space::new();
    space.say("s", "The ferry to Hydra leaves at nine. Gustav has both tickets.");
    space.later = 24 * HOUR;
    space.say("s", "Helena missed the ferry\nto Hydra and took a plane.");
    space.fold();
    assert_eq!(
        render(&space.node("session:s").unwrap().lines),
        "2026-03-01 Ada: The ferry to Hydra leaves at nine. Gustav has both tickets.\n\
         2026-03-02 Ada: Helena missed the ferry to Hydra and took a plane."
    );
}

#[test]
fn words_of_others_in_a_turn_are_no_sentences_of_a_summary() {
    let mut space = Space::new();
    space.say("mail/1", "Here is the mail from Agata about her journey, can you answer it?\n\n> From: Agata Lis\n> Hi, I'm in Porto from 3 to 9 April and I read no mail there.");
    space.say("mail/2", "Mein Onkel Viktor schrieb mir heute aus Linz:\n\nIch bin im April in Genua und lese dort keine Briefe.");
    space.fold();
    let lines = space.lines("root");
    assert!(lines.iter().any(|line| line.contains("Agata about her journey")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("Porto") || line.contains("Genua")), "{lines:?}");
}
