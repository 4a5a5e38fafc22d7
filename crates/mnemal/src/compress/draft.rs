//! A pending compression that waits for its text.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mnemal_core::{
    BackgroundPermit, Completion, Degraded, ErrorKind, EventId, EventKind, Gap, Layer, LedgerKind,
    LedgerLine, LedgerStore, Level, Metadata, NewEvent, NoteKey, Operation, OperationKind, Origin, Producer,
    PromptHash, Result, SessionId, Timestamp, TokenCount,
};
use mnemal_learnings::{note_id, timeline_key};
use mnemal_summaries::Utterance;
use mnemal_summaries::compress::{self as form, CompressionReason};

use super::session_turn::{SessionTurn, ends, shortened};
use super::{CompressedSession, Method, TimelineEntry};
use crate::memory::Memory;
use crate::model::Model;
use crate::settings::SummaryBy;

/// Producer name of compressions.
const PRODUCER: &str = "summaries/compress";
/// Version of the extractive result; increments when the same turns give another text without a model.
const VERSION: u32 = 1;

/// The turns to compress, while the host or a model writes the text. Turns that are logged meanwhile are not part of it, and wait
/// for the next compression.
#[derive(Debug)]
#[must_use = "nothing is compressed yet"]
pub struct Draft {
    pub(super) memory: Memory,
    pub(super) session: SessionId,
    pub(super) earlier: Vec<String>,
    pub(super) old: Vec<SessionTurn>,
    pub(super) kept: Vec<SessionTurn>,
    pub(super) due: Option<CompressionReason>,
    pub(super) gaps: Vec<Gap>,
    /// Number of entries of the session that were undone.
    pub(super) taken_back: usize,
    /// The prompt hash and producer of a model's text.
    pub(super) asked: Option<(PromptHash, Producer)>,
}

/// Sessions whose failures are counted, the newest. Source: own choice; a model that fails in more is unavailable.
const FAILING: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// Name of the counter in the ledger.
const IN_A_ROW: &str = "in_a_row";
/// Maximum size of the turns in one model request, in tokens; later turns wait for the next compression. Source: own choice, fits
/// a window of 8,192 tokens.
const ASKED: TokenCount = TokenCount(6_000);
/// Maximum length of the text that a model writes, in tokens. Source: own choice, about a paragraph, as PicoBot asks for.
const WRITTEN: TokenCount = TokenCount(300);
/// Requests for one text. Source: one question, and invalid output is retried at most twice, with the error.
const REQUESTS: u32 = 3;

/// Counter of consecutive model failures by session, in the ledger of background work. Without a ledger every failure counts as
/// the first.
struct FailureCounter<'d> {
    ledger: Option<&'d dyn LedgerStore>,
    /// A hash, because session names may be confidential.
    key: String,
    now: Timestamp,
}

impl FailureCounter<'_> {
    /// Returns the number of consecutive failures.
    async fn count(&self) -> u64 {
        let Some(ledger) = self.ledger else { return 0 };
        let lines = ledger.lines(LedgerKind::Failure, FAILING).await.unwrap_or_default();
        let line = lines.iter().find(|line| line.key == self.key);
        line.and_then(|line| line.counts.get(IN_A_ROW).copied()).unwrap_or_default()
    }

    /// Stores the number of consecutive failures; if the ledger does not answer, the count restarts.
    async fn set(&self, count: u64) {
        let Some(ledger) = self.ledger else { return };
        let line = LedgerLine {
            kind: LedgerKind::Failure,
            key: self.key.clone(),
            at: self.now,
            hash: 0,
            counts: BTreeMap::from([(IN_A_ROW.to_owned(), count)]),
            note: String::new(),
        };
        drop(ledger.put(&[line]).await);
    }
}

impl Draft {
    /// Whether there is nothing to compress.
    pub fn is_empty(&self) -> bool {
        self.old.is_empty()
    }

    /// Returns the trigger that asks for compression, if any.
    pub fn due(&self) -> Option<CompressionReason> {
        self.due
    }

    /// Returns the text to summarize: `name: text`, one turn per line.
    pub fn text(&self) -> String {
        self.old.iter().map(|turn| turn.spoken.line()).collect::<Vec<_>>().join("\n")
    }

    /// Compresses with a text of the language model if one is configured and enabled for compression, else with extracted
    /// sentences. A model that fails, or whose text the turns do not support, counts as [`failed`](Self::failed).
    ///
    /// # Errors
    /// As [`condensed`](Self::condensed).
    pub async fn summarized(mut self) -> Result<Degraded<CompressedSession>> {
        let engine = self.memory.engine.clone();
        let by_model = engine.settings().compress.summarizer == SummaryBy::Llm;
        let (Some(model), false) = (engine.parts().model.as_ref().filter(|_| by_model), self.is_empty())
        else {
            return self.condensed().await;
        };
        self.hold_back();
        match self.ask(model).await {
            Ok(text) => self.with_text(&text).await,
            Err(error) => {
                tracing::warn!(kind = error.kind().as_str(), "a model wrote no summary of a conversation");
                self.failed().await
            }
        }
    }

    /// Defers the turns that do not fit in one model request.
    fn hold_back(&mut self) {
        let counter = &self.memory.engine.parts().context.counter;
        let mut tokens = TokenCount(0);
        let fit = self.old.iter().take_while(|turn| {
            tokens = tokens + counter.count(&turn.spoken.line());
            tokens <= ASKED
        });
        let late = self.old.split_off(fit.count().max(1));
        self.kept.splice(0..0, late);
    }

    /// Asks a model to summarize the turns; it is not shown content of level external.
    async fn ask(&mut self, model: &Model) -> Result<String> {
        let shown: Vec<&SessionTurn> = self.old.iter().filter(|turn| turn.level > Level::External).collect();
        let lines: Vec<String> = shown.iter().map(|turn| turn.spoken.line()).collect();
        let parts: Vec<&str> = lines.iter().map(String::as_str).collect();
        let sources: Vec<EventId> = shown.iter().filter_map(|turn| turn.spoken.event).collect();
        let prompt = model.condenser.prompt(None, &parts, WRITTEN);
        let producer = model.caller.producer(&model.condenser.producer());
        self.asked = Some((PromptHash::of(model.caller.model.model(), &prompt), producer));
        let read = |answer: &Completion| model.condenser.parse(None, &parts, WRITTEN, answer);
        let mut permit = BackgroundPermit::issue(REQUESTS, TokenCount((ASKED + WRITTEN).0 * 2 * REQUESTS));
        Ok(model.caller.ask(&mut permit, &prompt, &sources, read).await?.replace('\n', " "))
    }

    fn failures(&self) -> FailureCounter<'_> {
        let engine = &self.memory.engine;
        let hash = engine.parts().context.key.hash("compress", &[self.session.as_str().as_bytes()]);
        let key = format!("{:032x}", u128::from_le_bytes(hash.first_chunk().copied().unwrap_or_default()));
        FailureCounter { ledger: engine.stores().ledger.part().ok(), key, now: engine.now() }
    }

    /// Compresses with extracted sentences.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn condensed(self) -> Result<Degraded<CompressedSession>> {
        let text = shortened(&self.memory.engine, &self.old);
        let (entry, turns) = (self.entry(&text), self.old.len());
        self.keep(entry, turns, Method::Extractive).await
    }

    /// Compresses with a model-written text; an empty text counts as a failure.
    ///
    /// # Errors
    /// As [`condensed`](Self::condensed).
    pub async fn with_text(self, text: &str) -> Result<Degraded<CompressedSession>> {
        if text.trim().is_empty() {
            return self.failed().await;
        }
        if self.failures().count().await > 0 {
            self.failures().set(0).await;
        }
        let (entry, turns) = (self.entry(text), self.old.len());
        self.keep(entry, turns, Method::Model).await
    }

    /// Records a failure of the model: nothing changes until the third consecutive one; then the turns are stored verbatim as an
    /// entry, and the prompt shows sentences extracted from it.
    ///
    /// # Errors
    /// As [`condensed`](Self::condensed).
    pub async fn failed(self) -> Result<Degraded<CompressedSession>> {
        let most = u64::from(self.memory.engine.settings().compress.max_failures);
        tracing::warn!(layer = Layer::Summaries.as_str(), turns = self.old.len(), "no summary could be made");
        if self.old.is_empty() {
            return Ok(self.unchanged());
        }
        let count = self.failures().count().await + 1;
        self.failures().set(if count < most { count } else { 0 }).await;
        if count < most {
            return Ok(self.unchanged());
        }
        let said: Vec<Utterance<'_>> = self.old.iter().map(SessionTurn::whole).collect();
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

    /// Stores an entry for the first `turns` turns: one event, from which the note is projected.
    async fn keep(
        mut self,
        entry: String,
        turns: usize,
        method: Method,
    ) -> Result<Degraded<CompressedSession>> {
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
                // Another process has compressed the same turns into another text.
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

    fn operation(&self, last: &SessionTurn, content: String, ids: Vec<EventId>, key: &NoteKey) -> NewEvent {
        let because = self.due.map_or("asked", CompressionReason::as_str).to_owned();
        let by_rule = || Producer { id: PRODUCER.to_owned(), version: VERSION };
        let (prompt, producer) = self.asked.clone().unzip();
        let operation = Operation {
            kind: OperationKind::Compress { turns: ids.clone() },
            producer: producer.unwrap_or_else(by_rule),
            prompt,
            shown: ids,
            because,
        };
        let scope = &self.memory.scope;
        // Entries are distinguished by the end of their key, because a session may have any name.
        let number = key.as_str().rsplit('_').next().unwrap_or_default();
        // An undone entry over the same turns keeps its own key.
        let again = if self.taken_back > 0 { format!(":{}", self.taken_back) } else { String::new() };
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
            idempotency_key: Some(format!("compress:{number}{again}")),
            metadata: Metadata::new(),
        }
    }

    /// Returns the session with its existing entries and the later turns verbatim.
    fn unchanged(self) -> Degraded<CompressedSession> {
        let turns = self.old.into_iter().chain(self.kept).map(|turn| turn.spoken).collect();
        let summary = form::context_summary(&self.earlier);
        let value = CompressedSession { entry: None, due: self.due, summary, turns };
        Degraded { value, gaps: self.gaps }
    }
}
