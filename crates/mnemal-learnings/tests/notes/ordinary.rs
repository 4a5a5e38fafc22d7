//! Ordinary chat without preferences about work.

use mnemal_core::{EventKind, Learning, LearningStatus, Origin, SessionId};

use crate::log::Space;

/// Exchanges of two people, with placeholders for names; many replies contain words of correcting or wishing.
const CHAT: &str = include_str!("ordinary.txt");
/// Values of the placeholders, so that the same words recur on different days.
const NAMES: [(&str, [&str; 7]); 4] = [
    ("{friend}", ["Anna", "Bela", "Carla", "Dmitri", "Emil", "Fatima", "Goran"]),
    ("{place}", ["Lisbon", "Oslo", "the lake", "Graz", "the old town", "Cork", "Izmir"]),
    ("{thing}", ["ladder", "tent", "umbrella", "drill", "suitcase", "lamp", "kettle"]),
    ("{day}", ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]),
];
/// Repetitions of each exchange.
const TIMES: usize = 20;
/// Exchanges per session.
const OF_A_SESSION: usize = 17;
/// Source: DF-102, false positives in ordinary chat.
const TURNS_OF_ONE: usize = 2_000;

fn filled(text: &str, seed: usize) -> String {
    let fill = |text: String, (place, (slot, words)): (usize, &(&str, [&str; 7]))| {
        text.replace(slot, words[(seed / (place + 1) + place) % words.len()])
    };
    NAMES.iter().enumerate().fold(text.to_owned(), fill)
}

/// Whether a row is a rule for work, and not a taste.
fn is_of_work(row: &Learning) -> bool {
    let key = row.key.as_ref().map_or("", |key| key.as_str());
    row.status == LearningStatus::Active && key.starts_with("learned/") && !key.starts_with("learned/own/")
}

// proves: DF-102
#[test]
fn ordinary_chat_teaches_at_most_one_thing_in_two_thousand_turns() {
    let exchanges: Vec<(&str, &str)> = CHAT.lines().filter_map(|line| line.split_once('|')).collect();
    let mut space = Space::new();
    let mut turns = 0;
    for (number, (said, answer)) in exchanges.iter().cycle().take(TIMES * exchanges.len()).enumerate() {
        let session = SessionId::new(format!("chat:{}", number / OF_A_SESSION)).unwrap();
        for (kind, origin, text) in [
            (EventKind::AssistantMessage, Origin::Assistant, said),
            (EventKind::UserMessage, Origin::UserDirect, answer),
        ] {
            space.append_with(kind, &filled(text, number), origin, |entry| {
                entry.event.session = session.clone();
            });
        }
        turns += 1;
    }
    space.catch_up(100);
    assert!(turns >= TURNS_OF_ONE);
    let named = |row: Learning| {
        let rule = row.signal.as_ref().map_or("", |signal| signal.rule.as_str());
        format!("{rule}, {}: {}", row.key.as_ref().map_or("", |key| key.as_str()), row.content)
    };
    let taught: Vec<String> = space.rows().into_iter().filter(is_of_work).map(named).collect();
    assert!(taught.len() <= turns / TURNS_OF_ONE, "{}: {taught:#?}", taught.len());
}
