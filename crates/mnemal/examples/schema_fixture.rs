//! Writes a small space of the current schema, as the test fixture of that version; the content is the same in every run, because
//! clock, ids and key are fixed.
//!
//! `cargo run -p mnemal --example schema_fixture -- schema-N.db`

#![expect(clippy::expect_used, reason = "whoever makes a fixture wants to see what went wrong")]

use std::sync::Arc;
use std::time::Duration;

use mnemal::events::Selector;
use mnemal::types::{Category, ChannelId, InstallationKey, Tag, ToolName};
use mnemal::working::PutOptions;
use mnemal::{Engine, LearningKind, Memory, Message, NoteKey, Result, Scope, SessionId, SpaceId, Speaker};
use mnemal_testkit::{ManualClock, SeededIds};

/// Turns of the user and the agent, alternating.
const TALK: [(&str, &str); 9] = [
    ("The kiosk opens at half past six.", "Noted: the kiosk opens at half past six."),
    ("Which port does the till listen on?", "The till listens on port 4711."),
    ("Grüße aus Zürich, der Zähler steht auf 42.", "Danke, der Zähler steht auf 42."),
    ("Ada repairs the coffee machine on Fridays.", "Ada repairs it on Fridays, then."),
    ("Please order paper cups, two hundred.", "Two hundred paper cups are ordered."),
    ("The supplier in Genoa answers only by letter.", "Letters to Genoa take four days."),
    ("Was the receipt printer fixed?", "It was fixed on Monday; the paper feed was worn."),
    ("日本語のメモも読めますか。", "はい、読めます。"),
    ("The safe word of the old till is marzipan.", "I will not repeat it."),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let path = std::env::args().nth(1).expect("a file name must be given");
    let clock = Arc::new(ManualClock::default());
    let engine = Engine::builder()
        .with_clock(Arc::<ManualClock>::clone(&clock))
        .with_ids(Arc::new(SeededIds::new(1)))
        .with_key(InstallationKey::new([7; 32]))
        .open(&path)
        .await?;
    let memory = engine.memory(Scope::whole(SpaceId::new("fixture")?));
    talk(&memory, &clock).await?;
    tools_and_notes(&memory, &clock).await?;
    let told = memory.context("when does the kiosk open?").session(SessionId::new("later")?).await?;
    assert!(!told.value.receipt.lines.is_empty(), "{:?}", told.gaps);
    let plan = PutOptions { ttl: Some(Duration::from_hours(1)), ..PutOptions::default() };
    let kept = memory.working()?.put("plan", "count the till".to_owned(), plan).await?;
    assert!(kept.evicted.is_empty());
    engine.close().await
}

async fn talk(memory: &Memory, clock: &ManualClock) -> Result<()> {
    let session = SessionId::new("counter:1")?;
    let mut secret = None;
    for (asked, answered) in TALK {
        clock.advance(Duration::from_mins(1));
        let question = Message::user(asked).session(session.clone()).speaker(Speaker::new("Ada")?);
        let question = memory.log(question.channel(ChannelId::new("counter")?)).await?.value;
        secret = Some(question.id);
        clock.advance(Duration::from_secs(5));
        let answer = Message::assistant(answered).session(session.clone()).parent(question.id);
        assert!(memory.log(answer).await?.gaps.is_empty());
    }
    let secret = secret.expect("there was a last question");
    let erased = memory.forget(Selector::Events(vec![secret])).await?;
    assert!(erased.verified(), "{:?}", erased.residual);
    Ok(())
}

async fn tools_and_notes(memory: &Memory, clock: &ManualClock) -> Result<()> {
    let (session, tool) = (SessionId::new("counter:2")?, ToolName::new("stock")?);
    clock.advance(Duration::from_hours(1));
    let messages = [
        Message::tool_call(tool.clone(), "{\"item\": \"cups\"}"),
        Message::tool_result(tool.clone(), "cups: 40 left"),
        Message::tool_failure(tool, "no connection to the warehouse"),
        Message::observation("The shutter went down at 20:05."),
        Message::document("Opening hours: Monday to Friday, half past six to eight in the evening."),
        Message::user("cups again").idempotency_key("turn-24"),
    ];
    let acks = memory.events().log_all(messages.map(|message| message.session(session.clone()))).await?;
    assert!(acks.gaps.is_empty(), "{:?}", acks.gaps);
    for (key, text) in [
        ("opening-hours", "The kiosk opens at seven."),
        ("opening-hours", "The kiosk opens at half past six."),
        ("supplier", "The supplier in Genoa wants letters."),
    ] {
        clock.advance(Duration::from_secs(10));
        let note = memory.remember(text).key(NoteKey::new(key)?).category(Category::new("kiosk/facts")?);
        assert!(note.tag(Tag::new("kiosk")?).await?.value.id.is_some());
    }
    let preference = memory.remember("I prefer short answers.").kind(LearningKind::Preference).by_user();
    assert!(preference.key(NoteKey::new("style")?).await?.value.id.is_some());
    Ok(())
}
