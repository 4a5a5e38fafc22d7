//! Compression triggers, and the exact texts.

use super::*;

fn utterances<'a>(turns: &[(&'a str, &'a str)]) -> Vec<Utterance<'a>> {
    turns.iter().map(|(speaker, text)| Utterance { speaker: Some(speaker), text, echo: &[] }).collect()
}

fn moment() -> (Timestamp, Zone) {
    let zone = Zone { name: "Asia/Shanghai".to_owned(), offset_seconds: 28_800 };
    // 2026-05-07T14:30:59Z
    (Timestamp::EPOCH.plus_micros(1_778_164_259_000_000), zone)
}

// proves: PB-14, PB-15, PB-16, PB-17
#[test]
fn one_of_three_reasons_is_enough() {
    let triggers = Triggers::default();
    let window = Some(TokenCount(1_000));
    let quiet =
        PendingConversation { tokens: TokenCount(500), window, turns: 2, idle: Duration::from_secs(599) };
    assert_eq!(triggers.due(&quiet), None);
    assert_eq!(
        triggers.due(&PendingConversation { tokens: TokenCount(501), ..quiet }),
        Some(CompressionReason::Window)
    );
    assert_eq!(triggers.due(&PendingConversation { turns: 3, ..quiet }), Some(CompressionReason::Turns));
    assert_eq!(
        triggers.due(&PendingConversation { idle: Duration::from_mins(10), ..quiet }),
        Some(CompressionReason::Idle)
    );
    assert_eq!(triggers.due(&PendingConversation { tokens: TokenCount(9_000), window: None, ..quiet }), None);
}

// proves: PB-23
#[test]
fn an_entry_is_one_line_with_the_time_of_the_conversations_zone() {
    let (at, zone) = moment();
    let text = "Asked about Rust.\n\n  Discussed tokio.";
    assert_eq!(entry((at, &zone), text), "[2026-05-07 22:30] Asked about Rust. Discussed tokio.");
    assert_eq!(entry((at, &Zone::utc()), text), "[2026-05-07 14:30] Asked about Rust. Discussed tokio.");
    assert_eq!(entry((at, &zone), &"é".repeat(9_000)).chars().count(), "[2026-05-07 22:30] ".len() + 8_000);
}

#[test]
fn who_speaks_is_named_when_he_begins() {
    let talk = utterances(&[
        ("user", "The api listens on port 5544. Deploys happen on Tuesdays."),
        ("agent", "I have put port 5544 into the environment file."),
    ]);
    let text = shorten(Language::English, &talk);
    assert!(text.starts_with("user: The api listens on port 5544."), "{text}");
    assert_eq!((text.matches("user:").count(), text.lines().count()), (1, 1), "{text}");
    assert_eq!(
        shorten(Language::English, &utterances(&[("user", "ok"), ("agent", "ok")])),
        "user: ok agent: ok"
    );
    assert_eq!(shorten(Language::English, &[]), "");
}

// proves: PB-51 (its form)
#[test]
fn what_was_said_as_it_was_ends_with_a_whole_turn() {
    let (at, zone) = moment();
    let long = "x".repeat(7_000);
    let talk = utterances(&[("user", &long), ("agent", &long), ("user", &long)]);
    let (text, held) = raw((at, &zone), &talk);
    assert_eq!(held, 2);
    assert_eq!(text, format!("[RAW] [2026-05-07 22:30]\nuser: {long}\nagent: {long}"));
    assert!(is_raw(&text) && !is_raw(&entry((at, &zone), "x")));
    let longer = "é".repeat(20_000);
    let (text, held) = raw((at, &zone), &utterances(&[("user", &longer), ("agent", "no")]));
    assert_eq!((text.chars().count(), held), (16_000, 1));
}

// proves: PB-21 (its form)
#[test]
fn the_newest_entries_stand_under_their_heading_oldest_first() {
    assert_eq!(context_summary(&[]), "");
    let entries = ["[1] a".to_owned(), "[2] b".to_owned()];
    assert_eq!(context_summary(&entries), "[Context Summary]\n[1] a\n[2] b");
    let entries = ["old".to_owned(), "n".repeat(7_998)];
    assert_eq!(context_summary(&entries), format!("[Context Summary]\n{}", entries[1]));
}
