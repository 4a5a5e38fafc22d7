//! What waits to be compressed, until there is a text for it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mnemal_core::{
    BackgroundPermit, Book, Completion, Deed, Degraded, ErrorKind, EventId, EventKind, Gap, Layer,
    LedgerLine, LedgerStore, Level, Metadata, NewEvent, NoteKey, Operation, Origin, Producer, PromptHash,
    Result, SessionId, Timestamp, TokenCount,
};
use mnemal_learnings::{note_id, timeline_key};
use mnemal_summaries::Utterance;
use mnemal_summaries::compress::{self as form, Due};

use super::turned::{Turned, ends, shortened};
use super::{Compressed, Method, TimelineEntry};
use crate::memory::Memory;
use crate::model::Model;
use crate::settings::SummaryBy;

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
    /// How many entries of the conversation were taken back.
    pub(super) taken_back: usize,
    /// The question that a model was asked, and who asked it.
    pub(super) asked: Option<(PromptHash, Producer)>,
}

/// Conversations whose failures are remembered, the newest. Source: own choice; who fails more often has no model.
const FAILING: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// The number of a line in the book of failures.
const IN_A_ROW: &str = "in_a_row";
/// Most tokens of turns that a model is asked about at once; later turns wait for the next time. Source: own choice, what a window
/// of 8,192 tokens has room for.
const ASKED: TokenCount = TokenCount(6_000);
/// Tokens of the text that a model writes. Source: own choice, about a paragraph; PB-26 asks for one.
const WRITTEN: TokenCount = TokenCount(300);
/// Requests for one text: a question, and twice more with what was wrong. Source: RELIABILITY 11.
const REQUESTS: u32 = 3;

/// How often in a row a model failed, by conversation, in the book of background work. Without a book every failure is the first.
struct Failures<'d> {
    ledger: Option<&'d dyn LedgerStore>,
    /// A hash: names of conversations may say something.
    key: String,
    now: Timestamp,
}

impl Failures<'_> {
    /// Returns how many there were.
    async fn count(&self) -> u64 {
        let Some(ledger) = self.ledger else { return 0 };
        let lines = ledger.lines(Book::Failure, FAILING).await.unwrap_or_default();
        let line = lines.iter().find(|line| line.key == self.key);
        line.and_then(|line| line.counts.get(IN_A_ROW).copied()).unwrap_or_default()
    }

    /// Remembers how many there were; a book that does not answer starts the count again.
    async fn set(&self, count: u64) {
        let Some(ledger) = self.ledger else { return };
        let line = LedgerLine {
            book: Book::Failure,
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

    /// Returns why it is to be compressed, if a trigger asks for it.
    pub fn due(&self) -> Option<Due> {
        self.due
    }

    /// Returns what a text is wanted for: `name: text`, a line each.
    pub fn text(&self) -> String {
        self.old.iter().map(|turn| turn.spoken.line()).collect::<Vec<_>>().join("\n")
    }

    /// Compresses into a text of the language model where one is configured and asked for such texts, else into sentences that were
    /// said. A model that fails, or says what was not said, counts as [`failed`](Self::failed).
    ///
    /// # Errors
    /// As [`condensed`](Self::condensed).
    pub async fn summarized(mut self) -> Result<Degraded<Compressed>> {
        let engine = self.memory.engine.clone();
        let by_model = engine.settings().compress.summarizer == SummaryBy::Llm;
        let (Some(model), false) = (engine.parts().model.as_ref().filter(|_| by_model), self.is_empty())
        else {
            return self.condensed().await;
        };
        self.hold_back();
        match self.ask(model).await {
            Ok(text) => self.written(&text).await,
            Err(error) => {
                tracing::warn!(kind = error.kind().as_str(), "a model wrote no summary of a conversation");
                self.failed().await
            }
        }
    }

    /// Leaves the turns for the next time that a model cannot be shown together with the first ones.
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

    /// Asks a model for a text of the turns; what others wrote is not shown to it.
    async fn ask(&mut self, model: &Model) -> Result<String> {
        let shown: Vec<&Turned> = self.old.iter().filter(|turn| turn.level > Level::External).collect();
        let lines: Vec<String> = shown.iter().map(|turn| turn.spoken.line()).collect();
        let parts: Vec<&str> = lines.iter().map(String::as_str).collect();
        let sources: Vec<EventId> = shown.iter().filter_map(|turn| turn.spoken.event).collect();
        let prompt = model.condenser.prompt(None, &parts, WRITTEN);
        let producer = model.consultant.producer(&model.condenser.producer());
        self.asked = Some((PromptHash::of(model.consultant.model.model(), &prompt), producer));
        let read = |answer: &Completion| model.condenser.parse(None, &parts, WRITTEN, answer);
        let mut permit = BackgroundPermit::issue(REQUESTS, TokenCount((ASKED + WRITTEN).0 * 2 * REQUESTS));
        Ok(model.consultant.ask(&mut permit, &prompt, &sources, read).await?.replace('\n', " "))
    }

    fn failures(&self) -> Failures<'_> {
        let engine = &self.memory.engine;
        let hash = engine.parts().context.key.hash("compress", &[self.session.as_str().as_bytes()]);
        let key = format!("{:032x}", u128::from_le_bytes(hash.first_chunk().copied().unwrap_or_default()));
        Failures { ledger: engine.stores().ledger.part().ok(), key, now: engine.now() }
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
        if self.failures().count().await > 0 {
            self.failures().set(0).await;
        }
        let (entry, turns) = (self.entry(text), self.old.len());
        self.keep(entry, turns, Method::Model).await
    }

    /// Says that the model failed: everything stays as it is, until it was three times in a row; then what was said is kept as it
    /// was, and the prompt has its sentences.
    ///
    /// # Errors
    /// As [`condensed`](Self::condensed).
    pub async fn failed(self) -> Result<Degraded<Compressed>> {
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
        let by_rule = || Producer { id: PRODUCER.to_owned(), version: VERSION };
        let (prompt, producer) = self.asked.clone().unzip();
        let operation = Operation {
            deed: Deed::Compress { turns: ids.clone() },
            producer: producer.unwrap_or_else(by_rule),
            prompt,
            shown: ids,
            because,
        };
        let scope = &self.memory.scope;
        // What tells the entry from others is the end of its key; the conversation may have any name.
        let number = key.as_str().rsplit('_').next().unwrap_or_default();
        // What was taken back of the same turns keeps its own.
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

    /// The conversation with its entries so far, and everything behind them as it was said.
    fn unchanged(self) -> Degraded<Compressed> {
        let turns = self.old.into_iter().chain(self.kept).map(|turn| turn.spoken).collect();
        let summary = form::context_summary(&self.earlier);
        let value = Compressed { entry: None, due: self.due, summary, turns };
        Degraded { value, gaps: self.gaps }
    }
}
