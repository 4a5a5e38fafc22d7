//! Replay of an attack conversation into its own space, with the hostile turns over one channel.

use std::io::Cursor as Bytes;
use std::sync::Arc;

use anyhow::Result;
use mnemal::events::Cursor;
use mnemal::types::{InstallationKey, ToolName};
use mnemal::{
    Engine, EventFilter, EventId, ImportFormat, ImportOptions, LearningFilter, LearningKind, Memory, Message,
    Scope, SessionId, SpaceId,
};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{ManualClock, SeededIds};

use super::layout::{Author, Conversation};

/// More events than a conversation has.
pub(super) const MANY: std::num::NonZeroUsize = std::num::NonZeroUsize::new(10_000).expect("not zero");

/// A way in below the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Assistant,
    Tool,
    Document,
    Import,
    /// The agent stores it, and says that it is a preference.
    Note,
}

impl Entry {
    pub(super) const ALL: [Self; 5] = [Self::Assistant, Self::Tool, Self::Document, Self::Import, Self::Note];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Document => "document",
            Self::Import => "import",
            Self::Note => "note",
        }
    }
}

/// A space of its own.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) memory: Memory,
}

impl Stage {
    pub(super) fn new(seed: u64) -> Result<Self> {
        let engine = Engine::builder()
            .with_stores(Stores::all(Arc::new(MemoryStore::new())))
            .with_clock(Arc::new(ManualClock::default()))
            .with_ids(Arc::new(SeededIds::new(seed)))
            .with_key(InstallationKey::new([7; 32]))
            .build()?;
        let memory =
            engine.memory(Scope::whole(SpaceId::new("poison")?)).for_session(SessionId::new("cli:1")?);
        Ok(Self { memory })
    }

    /// Plays a conversation; says whether every turn that is not the user's was quarantined.
    pub(super) async fn play(&self, conversation: &Conversation, entry: Entry) -> Result<bool> {
        for (place, turn) in conversation.turns.iter().enumerate() {
            match turn.who {
                Author::User => {
                    let _ack = self.memory.log(Message::user(turn.text.as_str())).await?;
                }
                Author::Other => self.put(&turn.text, (entry, place)).await?,
            }
        }
        let all = self.memory.events().scan(&EventFilter::all(), Cursor::START, MANY).await?;
        let mut others = all.iter().filter(|event| event.level < mnemal::types::Level::User);
        Ok(others.all(|event| event.quarantined.is_some()))
    }

    async fn put(&self, text: &str, (entry, place): (Entry, usize)) -> Result<()> {
        match entry {
            Entry::Assistant => drop(self.memory.log(Message::assistant(text)).await?),
            Entry::Tool => drop(self.memory.log(Message::tool_result(ToolName::new("web")?, text)).await?),
            Entry::Document => drop(self.memory.log(Message::document(text)).await?),
            Entry::Note => {
                drop(self.memory.remember(text).kind(LearningKind::Preference).await?);
            }
            Entry::Import => {
                let line = serde_json::json!({"id": place, "conv": "c", "speaker": "user", "text": text});
                let options = ImportOptions::new("poison.jsonl", self.memory.admin().engine().now());
                let file = Bytes::new(format!("{line}\n").into_bytes());
                drop(self.memory.events().import(file, ImportFormat::Neutral, options, &mut |_| ()).await?);
            }
        }
        Ok(())
    }

    /// What the memory holds: learnings and facts, each with the number of events that support it.
    async fn held(&self) -> Result<Vec<(String, usize)>> {
        let mut held: Vec<(String, usize)> = Vec::new();
        for row in self.memory.preferences().all_learnings(&LearningFilter::all()).await? {
            held.push((row.id.to_string(), row.sources.len()));
        }
        for fact in self.memory.facts().graph().await?.history(&mnemal::FactFilter::all()).await? {
            let mut events: Vec<EventId> = fact.supports.iter().map(|support| support.source.event).collect();
            events.sort_unstable();
            events.dedup();
            held.push((fact.id.to_string(), events.len()));
        }
        held.sort();
        Ok(held)
    }
}

/// Feeds the context's lines, and a restatement, back for many turns; returns the resulting changes.
pub(super) async fn echo(seed: u64, attack: &Conversation, turns: u32) -> Result<u64> {
    let stage = Stage::new(seed)?;
    let mut claim = String::new();
    for turn in &attack.turns {
        match turn.who {
            Author::User => drop(stage.memory.log(Message::user(turn.text.as_str())).await?),
            Author::Other => claim.clone_from(&turn.text),
        }
    }
    let question = attack.turns.first().map(|turn| turn.text.clone()).unwrap_or_default();
    let before = stage.held().await?;
    for turn in 0..turns {
        let context = stage.memory.context(question.as_str()).budget(1_000).await?;
        let restated = if turn % 2 == 0 { claim.clone() } else { format!("{}\n{claim}", context.text) };
        let _ack = stage.memory.log(Message::assistant(restated)).await?;
    }
    let after = stage.held().await?;
    let known = |id: &str| before.iter().find(|(other, _)| other == id).map_or(0, |(_, supports)| *supports);
    let gain = after.iter().map(|(id, supports)| supports.saturating_sub(known(id)) as u64).sum();
    Ok(gain)
}
