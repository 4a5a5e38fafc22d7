//! The adapters with the real agent of rig; the model answers from a script.

use mnemal::events::Cursor;
use mnemal::{EventFilter, Memory, UserId, Within};
use mnemal_rig::{Briefing, History, Searched, Store};
use rig_agent::AgentBuilder;
use rig_agent::agent::MemoryAppend;
use rig_agent::completion::PromptError;
use rig_agent::tool::Tool;
use rig_core::completion::{CompletionRequest, Message};
use rig_core::memory::ConversationMemory;
use rig_core::test_utils::{MockCompletionModel, MockTurn, sent_documents};
use rig_core::vector_store::InsertDocuments;
use serde_json::json;

fn scripted(answers: &[&str]) -> MockCompletionModel {
    MockCompletionModel::from_turns(answers.iter().map(|answer| MockTurn::text(*answer)))
}

/// Everything that a model was shown, as text.
fn shown(request: &CompletionRequest) -> String {
    serde_json::to_string(request).unwrap()
}

async fn history_of(memory: &Memory, conversation: &str) -> Vec<Message> {
    History::new(memory.clone()).load(&conversation.into()).await.unwrap()
}

// proves: AD-79 (the Rust half: an agent of rig stores and finds memories through rig's own traits)
#[tokio::test]
async fn what_an_agent_heard_in_one_conversation_it_knows_in_the_next() {
    let memory = Memory::in_memory().await.unwrap();
    let model = scripted(&["Noted.", "On Tuesdays.", "As I said."]);
    let agent = AgentBuilder::new(model.clone())
        .memory(History::new(memory.clone()))
        .add_hook(Briefing::new(memory.clone()).budget(800))
        .build();

    let told = agent.prompt("We deploy on Tuesdays, never on Fridays").conversation("monday").await.unwrap();
    assert!(told.memory_append.as_ref().is_some_and(MemoryAppend::is_acknowledged));
    let answer = agent.prompt("When do we deploy?").conversation("thursday").await.unwrap();
    assert_eq!(answer.output(), "On Tuesdays.");
    agent.prompt("Are you sure?").conversation("thursday").await.unwrap();

    let requests = model.requests();
    assert!(sent_documents(&requests[0]).is_empty(), "nothing was known");
    let [(id, brief)] = &sent_documents(&requests[1])[..] else { panic!("one briefing") };
    assert!(brief.contains("We deploy on Tuesdays"), "{brief}");
    let receipt = memory.admin().receipt(id.parse().unwrap()).await.unwrap();
    assert!(!receipt.lines.is_empty());

    let expected = ["When do we deploy?", "On Tuesdays.", "Are you sure?", "As I said."];
    let expected = [
        Message::user(expected[0]),
        Message::assistant(expected[1]),
        Message::user(expected[2]),
        Message::assistant(expected[3]),
    ];
    assert_eq!(history_of(&memory, "thursday").await, expected);
    assert!(shown(&requests[2]).contains("When do we deploy?"), "the history came before the prompt");
}

// proves: AD-79 (recall as the dynamic context of an agent)
#[tokio::test]
async fn documents_of_a_store_are_the_dynamic_context_of_an_agent() {
    let memory = Memory::in_memory().await.unwrap();
    let store = Store::new(memory);
    let documents = ["The ferry to Texel leaves at noon", "The bakery opens at six"];
    store.insert_documents(documents.map(|text| (text, Vec::new())).into()).await.unwrap();
    let model = scripted(&["At noon."]);
    let agent = AgentBuilder::new(model.clone()).dynamic_context(1, store).build();
    agent.prompt("When does the ferry leave?").await.unwrap();
    let [request] = &model.requests()[..] else { panic!("one call") };
    let documents = sent_documents(request);
    assert_eq!(
        documents.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
        ["\"The ferry to Texel leaves at noon\""]
    );
}

// proves: AD-79 (the store as a tool that a model calls; what the tool was asked and said is history)
#[tokio::test]
async fn a_model_searches_the_store_as_a_tool_and_the_call_is_part_of_the_history() {
    let memory = Memory::in_memory().await.unwrap();
    let _note = memory.remember("The staging server is called Heron").await.unwrap();
    let model = MockCompletionModel::from_turns([
        MockTurn::tool_call(
            "call_1",
            <Store as Tool>::NAME,
            json!({ "query": "name of the staging server", "samples": 1 }),
        ),
        MockTurn::text("Heron."),
        MockTurn::text("Still Heron."),
    ]);
    let agent = AgentBuilder::new(model.clone())
        .memory(History::new(memory.clone()))
        .conversation("ops")
        .default_max_turns(3)
        .tool(Store::new(memory.clone()))
        .build();
    assert_eq!(agent.prompt("What is the staging server called?").await.unwrap().output(), "Heron.");
    agent.prompt("And now?").await.unwrap();

    let requests = model.requests();
    assert!(shown(&requests[1]).contains("called Heron"), "the tool found the note");
    let history = history_of(&memory, "ops").await;
    assert_eq!(history.len(), 6, "{history:?}");
    let sent: Vec<Message> = requests[2].chat_history.clone();
    assert_eq!(
        sent[..4].iter().map(plain).collect::<Vec<_>>(),
        history[..4].iter().map(plain).collect::<Vec<_>>()
    );
    assert!(plain(&history[1]).contains("call_1") && plain(&history[2]).contains("call_1"));
}

/// A message as rig writes it.
fn plain(message: &Message) -> String {
    serde_json::to_string(message).unwrap()
}

#[tokio::test]
async fn what_a_memory_refuses_ends_a_run_with_its_reason() {
    let memory = Memory::in_memory().await.unwrap();
    let agent = AgentBuilder::new(scripted(&["never"])).memory(History::new(memory)).build();
    match agent.prompt("hello").conversation("a\0b").await {
        Err(PromptError::Memory(error)) => {
            assert!(error.to_string().contains("a session must not hold control characters"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

// proves: AD-79 (adapters keep spaces and persons apart)
#[tokio::test]
async fn two_spaces_and_two_persons_know_nothing_of_each_other() {
    let (one, other) = (Memory::in_memory().await.unwrap(), Memory::in_memory().await.unwrap());
    let user = |name: &str| UserId::new(name).unwrap();
    let (anna, ben) = (one.for_user(user("anna")), one.for_user(user("ben")));
    let secret = "My locker code word is Zanzibar";
    let append = |memory: &Memory| {
        let history = History::new(memory.clone());
        async move { history.append(&"c".into(), vec![Message::user(secret)]).await.unwrap() }
    };
    append(&anna).await;
    for stranger in [&other, &ben] {
        assert_eq!(history_of(stranger, "c").await, []);
        let model = scripted(&["I do not know."]);
        let agent = AgentBuilder::new(model.clone())
            .memory(History::new(stranger.clone()))
            .add_hook(Briefing::new(stranger.clone()))
            .dynamic_context(5, Store::new(stranger.clone()))
            .dynamic_context(5, Store::new(stranger.clone()).searching(Searched::Inserted))
            .build();
        agent.prompt("What is the code word of the locker?").conversation("c").await.unwrap();
        assert!(!shown(&model.requests()[0]).contains("Zanzibar"));
        // Nor does one clear what is another's.
        History::new(stranger.clone()).clear(&"c".into()).await.unwrap();
        assert_eq!(history_of(stranger, "c").await, []);
    }
    assert_eq!(history_of(&anna, "c").await, [Message::user(secret)]);
    let model = scripted(&["Zanzibar."]);
    let agent = AgentBuilder::new(model.clone()).add_hook(Briefing::new(anna)).build();
    agent.prompt("What is the code word of the locker?").await.unwrap();
    assert!(shown(&model.requests()[0]).contains("Zanzibar"));
    let of_anna = EventFilter { user: Within::Only(user("anna")), ..EventFilter::live() };
    assert_eq!(one.events().scan(&of_anna, Cursor::START, 9.try_into().unwrap()).await.unwrap().len(), 1);
}
