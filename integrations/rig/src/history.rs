//! The history of conversations: sessions of the log as rig's messages, and back.

use std::collections::HashSet;
use std::num::NonZeroUsize;

use mnemal::events::{Cursor, Selector};
use mnemal::{ErrorKind, Event, EventFilter, EventKind, Memory, NewEvent, SessionId, Within};
use rig_core::completion::Message;
use rig_core::completion::message::{
    AssistantContent, AssistantMessage, CallId, Text, ToolCall, ToolFunction, ToolName, ToolResult,
    ToolResultContent, UserContent,
};
use rig_core::id::ConversationId;
use rig_core::memory::{ConversationMemory, MemoryError};
use rig_core::wasm_compat::WasmBoxedFuture;

/// Events that are read at once. Source: own default, the size of a batch.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// Field of an event: place of the part in its message, from 0.
const PART: &str = "rig.part";
/// Field of an event: the id of a tool's call.
const CALL: &str = "rig.call";
/// Field of an observation that is an instruction of the host.
const SYSTEM: &str = "rig.system";
/// Stands where a picture, a sound, a film or a file was.
const LEFT_OUT: &str = "[left out: not text]";
/// Stands where a tool's answer reads like an attempt to give orders.
const HELD_BACK: &str = "[held back]";

/// Who says what the user's messages say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UserTurnOrigin {
    FromThePerson,
    Hearsay,
}

/// Conversations of a memory as rig's conversation memory.
///
/// A conversation is a session of the log. Each text of a message, each call of a tool and each answer is an event of it, so that
/// recall, contexts and everything that mnemal makes of a log know what was said.
///
/// **What comes back** is what was said: texts, calls of tools with their arguments, answers. Secrets come back as the
/// placeholders that stand for them in the log. Reasoning, citations and a provider's own marks do not come back, a
/// picture or a file only as a line that says that there was one. A call and its answer come back together or not at all,
/// because no provider takes one alone; an answer that the screen holds back comes back as `[held back]`.
/// Turns that others logged in the same session come too.
///
/// **[`clear`](ConversationMemory::clear) forgets**: every event of the conversation is erased for good, with the notes, facts and
/// summaries that rest on them alone, and the log keeps no more than that something was erased. There is no undo. A new
/// talk that may remember the old one is a conversation with a new id.
///
/// **An append** is stored as a whole or not at all; one whose assistant repeats what was forgotten stores that turn
/// not again.
#[derive(Clone, Debug)]
pub struct History {
    memory: Memory,
    heard: UserTurnOrigin,
}

impl History {
    /// Keeps conversations in a memory; one that is narrowed to a person or an agent stays so.
    ///
    /// What users' messages say counts as the person's own words: preferences and corrections are learnt from them.
    pub fn new(memory: Memory) -> Self {
        Self { memory, heard: UserTurnOrigin::FromThePerson }
    }

    /// Says that prompts are not a person's own words, as when a program or another agent writes them: they are believed as
    /// little as what a tool says.
    #[must_use]
    pub fn hearsay(mut self) -> Self {
        self.heard = UserTurnOrigin::Hearsay;
        self
    }

    async fn loaded(&self, conversation: &ConversationId) -> mnemal::Result<Vec<Message>> {
        let mut turns = Turns::default();
        self.each_page(self.filter(conversation)?, |events| {
            events.iter().for_each(|event| turns.read(event))
        })
        .await?;
        Ok(turns.paired())
    }

    async fn appended(&self, conversation: &ConversationId, messages: Vec<Message>) -> mnemal::Result<()> {
        let session = SessionId::new(conversation.as_str())?;
        let mut parts = Vec::new();
        for message in messages {
            parts.extend(self.parts(message)?.into_iter().map(|part| part.session(session.clone())));
        }
        if !parts.is_empty() {
            let _acks = self.memory.events().log_all(parts).await?;
        }
        Ok(())
    }

    async fn cleared(&self, conversation: &ConversationId) -> mnemal::Result<()> {
        let filter = self.filter(conversation)?;
        let scope = self.memory.admin().scope();
        let selector = if scope.user == Within::All && scope.agent == Within::All {
            Selector::Session(SessionId::new(conversation.as_str())?)
        } else {
            // Of one person's memory nobody else's turns go.
            let mut ids = Vec::new();
            self.each_page(filter, |events| ids.extend(events.iter().map(|event| event.id))).await?;
            Selector::Events(ids)
        };
        match self.memory.forget(selector).await {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Unsupported) => Ok(()),
            done => done.map(|_| ()),
        }
    }

    /// Returns the filter for what is there of a conversation, held back or not.
    fn filter(&self, conversation: &ConversationId) -> mnemal::Result<EventFilter> {
        let scope = self.memory.admin().scope();
        Ok(EventFilter {
            session: Within::Only(SessionId::new(conversation.as_str())?),
            user: scope.user.clone(),
            agent: scope.agent.clone(),
            erased: Within::Only(false),
            ..EventFilter::all()
        })
    }

    async fn each_page(
        &self,
        filter: EventFilter,
        mut read: impl FnMut(&[Event]) + Send,
    ) -> mnemal::Result<()> {
        let mut after = Cursor::START;
        loop {
            let events = match self.memory.events().scan(&filter, after, PAGE).await {
                // A memory that is switched off: what was appended was dropped.
                Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
                events => events?,
            };
            let Some(last) = events.last() else { return Ok(()) };
            after = Cursor(Some(last.seq));
            read(&events);
        }
    }

    /// Returns the events of a message.
    fn parts(&self, message: Message) -> mnemal::Result<Vec<mnemal::Message>> {
        let parts: Vec<mnemal::Message> = match message {
            Message::System { content } => {
                vec![mnemal::Message::observation(content).metadata(SYSTEM, "true")]
            }
            Message::User { content } => {
                content.into_iter().map(|part| self.of_user(part)).collect::<mnemal::Result<_>>()?
            }
            // rig itself keeps such a turn for the record and shows it to no model.
            Message::Assistant(turn) if turn.stop.as_ref().is_some_and(|stop| stop.is_failure()) => {
                Vec::new()
            }
            Message::Assistant(turn) => {
                let parts = turn.content.into_iter().filter_map(|part| of_assistant(part).transpose());
                parts.collect::<mnemal::Result<_>>()?
            }
        };
        Ok(parts.into_iter().enumerate().map(|(at, part)| part.metadata(PART, at.to_string())).collect())
    }

    fn of_user(&self, part: UserContent) -> mnemal::Result<mnemal::Message> {
        let said = match part {
            UserContent::Text(text) => text.text,
            UserContent::ToolResult(result) => return of_result(&result),
            UserContent::Image(_)
            | UserContent::Audio(_)
            | UserContent::Video(_)
            | UserContent::Document(_) => LEFT_OUT.to_owned(),
        };
        let message = mnemal::Message::user(said);
        Ok(if self.heard == UserTurnOrigin::Hearsay { message.hearsay() } else { message })
    }
}

impl ConversationMemory for History {
    fn load<'a>(
        &'a self,
        conversation_id: &'a ConversationId,
    ) -> WasmBoxedFuture<'a, Result<Vec<Message>, MemoryError>> {
        Box::pin(async move { self.loaded(conversation_id).await.map_err(MemoryError::backend) })
    }

    fn append<'a>(
        &'a self,
        conversation_id: &'a ConversationId,
        messages: Vec<Message>,
    ) -> WasmBoxedFuture<'a, Result<(), MemoryError>> {
        Box::pin(async move { self.appended(conversation_id, messages).await.map_err(MemoryError::backend) })
    }

    fn clear<'a>(
        &'a self,
        conversation_id: &'a ConversationId,
    ) -> WasmBoxedFuture<'a, Result<(), MemoryError>> {
        Box::pin(async move { self.cleared(conversation_id).await.map_err(MemoryError::backend) })
    }
}

/// Returns the event of a part of the agent's turn; `None` for what is not kept.
fn of_assistant(part: AssistantContent) -> mnemal::Result<Option<mnemal::Message>> {
    Ok(match part {
        AssistantContent::Text(text) => Some(mnemal::Message::assistant(text.text)),
        AssistantContent::ToolCall(call) => {
            let tool = mnemal::types::ToolName::new(call.function.name.as_str())?;
            let arguments = serde_json::Value::Object(call.function.arguments).to_string();
            let arguments = call.function.invalid_arguments.unwrap_or(arguments);
            Some(mnemal::Message::tool_call(tool, arguments).metadata(CALL, call.id.wire()))
        }
        AssistantContent::Image(_) => Some(mnemal::Message::assistant(LEFT_OUT)),
        // Reasoning, what only its provider understands, and kinds of later versions.
        _ => None,
    })
}

fn of_result(result: &ToolResult) -> mnemal::Result<mnemal::Message> {
    let tool = mnemal::types::ToolName::new(result.name.as_str())?;
    let texts = result.content.iter().map(|content| match content {
        ToolResultContent::Text(Text { text, .. }) => text.clone(),
        ToolResultContent::Json { value } => value.to_string(),
        ToolResultContent::Image(_) => LEFT_OUT.to_owned(),
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let message = if result.is_error {
        mnemal::Message::tool_failure(tool, text)
    } else {
        mnemal::Message::tool_result(tool, text)
    };
    Ok(message.metadata(CALL, result.call.wire()))
}

/// Messages as they are read, oldest first.
#[derive(Default)]
struct Turns {
    messages: Vec<Message>,
}

impl Turns {
    fn read(&mut self, event: &Event) {
        let Some(kept) = event.body() else { return };
        let content = if event.quarantined.is_some() { HELD_BACK } else { kept.content.as_str() };
        let call = || kept.metadata.get(CALL).map(|id| CallId::from_wire(id.as_str()));
        let is_more = kept.metadata.get(PART).is_some_and(|part| part != "0");
        match &kept.kind {
            EventKind::UserMessage => self.user(UserContent::text(content), is_more),
            EventKind::AssistantMessage => self.assistant(AssistantContent::text(content), is_more),
            EventKind::ToolCall { tool } => {
                if let (Some(id), Ok(name)) = (call(), ToolName::new(tool.as_str())) {
                    let function = ToolFunction::parse(name, content);
                    self.assistant(AssistantContent::ToolCall(ToolCall::new(id, function)), is_more);
                }
            }
            EventKind::ToolResult { tool, ok } => {
                if let (Some(call), Ok(name)) = (call(), ToolName::new(tool.as_str())) {
                    let content = vec![ToolResultContent::text(content)];
                    let result = ToolResult { call, name, content, is_error: !ok };
                    self.user(UserContent::ToolResult(result), is_more);
                }
            }
            EventKind::Observation if is_system(kept) => self.messages.push(Message::system(content)),
            _ => {}
        }
    }

    fn user(&mut self, part: UserContent, is_more: bool) {
        match self.messages.last_mut() {
            Some(Message::User { content }) if is_more => content.push(part),
            _ => self.messages.push(Message::User { content: vec![part] }),
        }
    }

    fn assistant(&mut self, part: AssistantContent, is_more: bool) {
        match self.messages.last_mut() {
            Some(Message::Assistant(turn)) if is_more => turn.content.push(part),
            _ => self.messages.push(Message::Assistant(AssistantMessage::new(vec![part]))),
        }
    }

    /// Leaves out calls without an answer and answers without a call: their other half was forgotten, or never logged.
    fn paired(mut self) -> Vec<Message> {
        let (mut asked, mut answered) = (HashSet::new(), HashSet::new());
        for message in &self.messages {
            match message {
                Message::User { content } => answered.extend(content.iter().filter_map(answer_of).cloned()),
                Message::Assistant(turn) => asked.extend(turn.content.iter().filter_map(call_of).cloned()),
                Message::System { .. } => {}
            }
        }
        self.messages.retain_mut(|message| match message {
            Message::User { content } => {
                content.retain(|part| answer_of(part).is_none_or(|call| asked.contains(call)));
                !content.is_empty()
            }
            Message::Assistant(turn) => {
                turn.content.retain(|part| call_of(part).is_none_or(|call| answered.contains(call)));
                !turn.content.is_empty()
            }
            Message::System { .. } => true,
        });
        self.messages
    }
}

fn is_system(event: &NewEvent) -> bool {
    event.metadata.contains_key(SYSTEM)
}

fn call_of(part: &AssistantContent) -> Option<&CallId> {
    match part {
        AssistantContent::ToolCall(call) => Some(&call.id),
        _ => None,
    }
}

fn answer_of(part: &UserContent) -> Option<&CallId> {
    match part {
        UserContent::ToolResult(result) => Some(&result.call),
        _ => None,
    }
}
