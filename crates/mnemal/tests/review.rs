//! Review of memories, and the use of a context by the answer after it.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::Arc;
use std::time::Duration;

use mnemal::learnings::target_of;
use mnemal::settings::{LearningSettings, ReviewScope, Settings};
use mnemal::types::InstallationKey;
use mnemal::{Decision, Engine, ErrorKind, LearningFilter, Memory, Message, Scope, SessionId, SpaceId};
use mnemal_store::MemoryStore;
use mnemal_testkit::ManualClock;

const SURE: &str = "Always answer in German.";
const UNSURE: &str = "Não estou bebendo álcool, então nada de receita com vinho.";

async fn talk(learning: LearningSettings) -> Memory {
    let memory = empty(learning, &Arc::default());
    for text in [SURE, UNSURE] {
        let _ack = memory.log(Message::user(text)).await.unwrap();
    }
    memory
}

fn empty(learning: LearningSettings, clock: &Arc<ManualClock>) -> Memory {
    let builder = Engine::builder()
        .with_stores(MemoryStore::new())
        .with_clock(Arc::<ManualClock>::clone(clock))
        .with_key(InstallationKey::new([3; 32]))
        .with_settings(Settings { learning, ..Settings::default() });
    builder.build().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()))
}

async fn waiting(memory: &Memory) -> Vec<String> {
    let rows = memory.preferences().to_review(&LearningFilter::all()).await.unwrap();
    rows.into_iter().map(|row| row.content).collect()
}

#[tokio::test]
async fn what_waits_for_a_review_is_chosen_for_all_spaces_and_for_one() {
    use ReviewScope::{All, None, Unsure};
    let chosen = |review, of_one: Option<(&str, ReviewScope)>| LearningSettings {
        review,
        review_in: of_one.into_iter().map(|(name, scope)| (name.to_owned(), scope)).collect(),
        ..LearningSettings::default()
    };
    assert_eq!(LearningSettings::default().review, Unsure);
    for (settings, expect) in [
        (chosen(Unsure, Option::None), vec![UNSURE]),
        (chosen(All, Option::None), vec![UNSURE, SURE]),
        (chosen(None, Option::None), vec![]),
        (chosen(None, Some(("test", Unsure))), vec![UNSURE]),
        (chosen(All, Some(("other", None))), vec![UNSURE, SURE]),
    ] {
        assert_eq!(waiting(&talk(settings.clone()).await).await, expect, "{settings:?}");
    }
    let wrong = Settings { learning: chosen(All, Some(("", All))), ..Settings::default() };
    assert_eq!(wrong.check().unwrap_err().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn what_a_person_decided_about_waits_no_longer() {
    let all = || LearningSettings { review: ReviewScope::All, ..LearningSettings::default() };
    let row = async |memory: &Memory, text: &str| {
        let rows = memory.preferences().to_review(&LearningFilter::all()).await.unwrap();
        rows.into_iter().find(|row| row.content == text).unwrap()
    };
    let memory = talk(all()).await;
    for text in [SURE, UNSURE] {
        let _ack = memory.preferences().confirm(&row(&memory, text).await, text).await.unwrap();
    }
    assert_eq!(waiting(&memory).await, Vec::<String>::new());
    let memory = talk(all()).await;
    for text in [SURE, UNSURE] {
        let rejected = Decision::Reject(target_of(&row(&memory, text).await));
        let _ack = memory.facts().decide(rejected).await.unwrap();
    }
    assert_eq!(waiting(&memory).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_line_is_used_if_the_next_answer_has_what_the_question_lacks() {
    let clock = Arc::new(ManualClock::default());
    let memory = empty(LearningSettings::default(), &clock);
    let say = async |session: &str, message: Message| {
        clock.advance(Duration::from_secs(5));
        memory.log(message.session(SessionId::new(session).unwrap())).await.unwrap().id
    };
    let _told = say("old", Message::user("The ferry to Rathlin leaves from Ballycastle.")).await;
    let _other = say("old", Message::user("The ferry ticket costs eleven pounds.")).await;
    let question = "Where does the ferry leave?";
    let _asked = say("new", Message::user(question)).await;
    clock.advance(Duration::from_secs(1));
    let context = memory.context(question).session(SessionId::new("new").unwrap()).await.unwrap();
    let receipt = &context.value.receipt;
    assert!(receipt.lines.len() >= 2, "{}", context.value.text);
    assert_eq!(memory.admin().line_use(receipt).await.unwrap(), None, "nothing was answered yet");
    let answer = say("new", Message::assistant("From Ballycastle, over to Rathlin.")).await;
    let used = memory.admin().line_use(receipt).await.unwrap().unwrap();
    assert_eq!(used.answer, answer);
    let text = |number: &usize| {
        context.value.lines().iter().find(|line| line.number == *number).unwrap().text.clone()
    };
    let texts: Vec<String> = used.lines.iter().map(text).collect();
    assert!(!texts.is_empty() && texts.iter().all(|text| text.contains("Rathlin")), "{texts:?}");
}
