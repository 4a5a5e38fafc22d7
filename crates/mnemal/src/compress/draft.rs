//! What waits to be compressed, until there is a text for it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use mnemal_core::{
    Deed, Degraded, ErrorKind, EventId, EventKind, Gap, Layer, Metadata, NewEvent, NoteKey, Operation,
    Origin, Producer, Result, SessionId,
};
use mnemal_learnings::{note_id, timeline_key};
use mnemal_summaries::Utterance;
use mnemal_summaries::compress::{self as form, Due};

use super::turned::{Turned, ends, shortened};
use super::{Compressed, Method, TimelineEntry};
use crate::memory::Memory;

/// Who compresses.
const PRODUCER: &str = "summaries/compress";
/// Counts up with every change of what becomes of the same turns without a model.
const VERSION: u32 = 1;

/// What waits to be compressed, while somebody thinks about a text for it. What is said meanwhile is not in it, and waits for the
/// next time.
#[derive(Debug)]
#[must_use = "nothing is compressed yet"]
pub struct Draft {
    pub(super) memory: Memory,
    pub(super) session: SessionId,
    pub(super) earlier: Vec<String>,
    pub(super) old: Vec<Turned>,
    pub(super) kept: Vec<Turned>,
    pub(super) due: Option<Due>,
    pub(super) gaps: Vec<Gap>,
}

/// How often in a row a model failed, by conversation.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<BTreeMap<SessionId, u32>>);

impl Failures {
    /// Counts one more; `true` and from the start again when it is one too many.
    fn one_too_many(&self, session: &SessionId, most: u32) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.get(session).copied().unwrap_or_default() + 1;
        if count < most {
            counts.insert(session.clone(), count);
        } else {
            counts.remove(session);
        }
        count >= most
    }

    fn clear(&self, session: &SessionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }
}

impl Draft {
    /// Whether there is nothing to compress.
    pub fn is_empty(&self) -> bool {
        self.old.is_empty()
    }

    /// Returns why it is to be compressed, if a trigger asks for it.
    pub fn due(&self) -> Option<Due> {
        self.due
    }

    /// Returns what a text is wanted for: `name: text`, a line each.
    pub fn text(&self) -> String {
        self.old.iter().map(|turn| turn.spoken.line()).collect::<Vec<_>>().join("\n")
    }

    /// Compresses into sentences that were said.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn condensed(self) -> Result<Degraded<Compressed>> {
        let text = shortened(&self.memory.engine, &self.old);
        let (entry, turns) = (self.entry(&text), self.old.len());
        self.keep(entry, turns, Method::Extractive).await
    }

    /// Compresses into a text that a model wrote; an empty one is a failure.
    ///
    /// # Errors
    /// As [`condensed`](Self::condensed).
    pub async fn written(self, text: &str) -> Result<Degraded<Compressed>> {
        if text.trim().is_empty() {
            return self.failed().await;
        }
        self.memory.engine.parts().compressions_failed.clear(&self.session);
        let (entry, turns) = (self.entry(text), self.old.len());
        self.keep(entry, turns, Method::Model).await
    }

    /// Says that the model failed: everything stays as it is, until it was three times in a row; then what was said is kept as it
    /// was, and the prompt has its sentences.
    ///
    /// # Errors
    /// As [`condensed`](Self::condensed).
    pub async fn failed(self) -> Result<Degraded<Compressed>> {
        let most = self.memory.engine.settings().compress.max_failures;
        tracing::warn!(layer = Layer::Summaries.as_str(), turns = self.old.len(), "no summary could be made");
        if self.old.is_empty()
            || !self.memory.engine.parts().compressions_failed.one_too_many(&self.session, most)
        {
            return Ok(self.unchanged());
        }
        let said: Vec<Utterance<'_>> = self.old.iter().map(Turned::whole).collect();
        let (at, zone) = ends(&self.old);
        let (_, held) = form::raw((at, &zone), &said);
        let (at, zone) = ends(self.old.get(..held).unwrap_or_default());
        let (entry, held) = form::raw((at, &zone), &said);
        self.keep(entry, held, Method::Raw).await
    }

    fn entry(&self, text: &str) -> String {
        let (at, zone) = ends(&self.old);
        form::entry((at, &zone), text)
    }

    /// Stores an entry for the first so many turns: one event, from which the note is made.
    async fn keep(mut self, entry: String, turns: usize, method: Method) -> Result<Degraded<Compressed>> {
        let late = self.old.split_off(turns.min(self.old.len()));
        self.kept.splice(0..0, late);
        let Some(last) = self.old.last() else { return Ok(self.unchanged()) };
        let shown = match method {
            Method::Raw => self.entry(&shortened(&self.memory.engine, &self.old)),
            _ => entry.clone(),
        };
        let ids: Vec<EventId> = self.old.iter().filter_map(|turn| turn.spoken.event).collect();
        let mut added = None;
        if let (Some(through), Ok(_)) = (ids.last().copied(), self.memory.engine.events()) {
            let key = timeline_key(&self.session, &ids)?;
            let turns = ids.len();
            let event = self.operation(last, entry, ids, &key);
            match self.memory.engine.append(vec![event]).await {
                Ok(stored) => {
                    self.gaps.extend(stored.gaps);
                    let event = stored.value.first().map(|ack| ack.id);
                    added = event.map(|event| TimelineEntry {
                        key,
                        note: note_id(event),
                        event,
                        through,
                        turns,
                        method,
                    });
                }
                // Another process compressed the same turns into other words.
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        self.earlier.push(shown);
        self.old.clear();
        let mut answer = self.unchanged();
        answer.value.entry = added;
        Ok(answer)
    }

    fn operation(&self, last: &Turned, content: String, ids: Vec<EventId>, key: &NoteKey) -> NewEvent {
        let because = self.due.map_or("asked", Due::as_str).to_owned();
        let operation = Operation {
            deed: Deed::Compress { turns: ids.clone() },
            producer: Producer { id: PRODUCER.to_owned(), version: VERSION },
            prompt: None,
            shown: ids,
            because,
        };
        let scope = &self.memory.scope;
        // What tells the entry from others is the end of its key; the conversation may have any name.
        let number = key.as_str().rsplit('_').next().unwrap_or_default();
        NewEvent {
            kind: EventKind::Operation(operation),
            content,
            session: self.session.clone(),
            channel: last.channel.clone(),
            parent: None,
            speaker: None,
            user: scope.user.only().cloned(),
            agent: scope.agent.only().cloned(),
            occurred_at: last.at.0,
            zone: last.at.1.clone(),
            origin: Origin::Engine,
            idempotency_key: Some(format!("compress:{number}")),
            metadata: Metadata::new(),
        }
    }

    /// The conversation with its entries so far, and everything behind them as it was said.
    fn unchanged(self) -> Degraded<Compressed> {
        let turns = self.old.into_iter().chain(self.kept).map(|turn| turn.spoken).collect();
        let summary = form::context_summary(&self.earlier);
        let value = Compressed { entry: None, due: self.due, summary, turns };
        Degraded { value, gaps: self.gaps }
    }
}
