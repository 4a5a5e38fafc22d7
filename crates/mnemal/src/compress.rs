//! Conversation compression: the old turns of a long session become one timeline entry; the log keeps every turn.

mod auto_compress;
mod draft;
mod session_turn;

use std::collections::BTreeSet;
use std::future::{Future, IntoFuture};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::time::Duration;

use mnemal_core::{
    Degraded, Event, EventFilter, EventId, EventKind, EventStore, Gap, GapCause, Layer, LearningId, NewEvent,
    NoteKey, Operation, OperationKind, Result, Role, SessionId, TokenCount, Within,
};
use mnemal_summaries::compress::{self as form, CompressionReason, PendingConversation};

pub use self::auto_compress::Conversations;
pub use self::draft::Draft;
pub use self::session_turn::PromptTurn;
use self::session_turn::{SessionTurn, ends, shortened};
use crate::areas::EventsHandle;
use crate::engine::Engine;
use crate::memory::Memory;
use crate::message::Message;

/// Turns that are kept verbatim. Source: `keep_last` of `compress` in PicoBot.
const KEEP_LAST: usize = 6;
/// Maximum number of turns read for one compression, the newest ones. Source: own choice; older turns were compressed before.
const TURNS: NonZeroUsize = NonZeroUsize::new(2_000).expect("2,000 is not zero");
/// Maximum number of turns in one entry, the oldest pending ones. Source: the limit of sources of one operation.
const AT_ONCE: usize = 1_000;
/// Maximum number of entries of one session that are read, the newest. Source: own choice.
const ENTRIES: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// Safety buffer of the window, in tokens. Source: the compaction guard of nanobot, 1,024.
const BUFFER: TokenCount = TokenCount(1_024);
/// Maximum number of halvings of the kept turns, to fit the window. Source: the compaction guard of nanobot, 5 rounds.
const ROUNDS: usize = 5;

/// How an entry's text was produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Extractive: sentences of the turns themselves.
    Extractive,
    /// Written by a model.
    Model,
    /// The turns verbatim, after repeated failures of the model.
    Raw,
}

impl Method {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
            Self::Model => "model",
            Self::Raw => "raw",
        }
    }
}

/// A timeline entry that a compression added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEntry {
    /// The key of the note.
    pub key: NoteKey,
    /// The note.
    pub note: LearningId,
    /// The operation in the log.
    pub event: EventId,
    /// The last turn that it covers: the session is compressed up to here.
    pub through: EventId,
    /// Number of turns that it covers.
    pub turns: usize,
    /// How its text was produced.
    pub method: Method,
}

/// The compressed form of a session, for the next prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressedSession {
    /// The added entry; `None` when there was nothing to compress, a model failed, or nothing can be stored.
    pub entry: Option<TimelineEntry>,
    /// The trigger that asks for compression, if any.
    pub due: Option<CompressionReason>,
    /// `[Context Summary]` and the entries of the session, one per line; empty before the first entry.
    pub summary: String,
    /// The turns after the entries, verbatim.
    pub turns: Vec<PromptTurn>,
}

impl CompressedSession {
    /// Returns the text for a prompt: the summary, a blank line, and `name: text` for each turn.
    pub fn prompt(&self) -> String {
        let turns: Vec<String> = self.turns.iter().map(PromptTurn::line).collect();
        let gap = if self.summary.is_empty() || turns.is_empty() { "" } else { "\n\n" };
        format!("{}{gap}{}", self.summary, turns.join("\n"))
    }
}

/// A pending compression. Awaiting it asks the language model if one is configured; [`Draft::condensed`] never does.
#[derive(Debug)]
#[must_use = "nothing is compressed until it is awaited"]
pub struct CompressCall {
    memory: Memory,
    session: SessionId,
    keep_last: usize,
    window: Option<TokenCount>,
    when: CompressTrigger,
    history: Vec<Message>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CompressTrigger {
    Now,
    Due,
}

impl EventsHandle<'_> {
    /// Compresses a session: all turns except the last six become one timeline entry, which recall can find, and the answer is
    /// the session's compressed form for the next prompt. The log keeps the turns.
    ///
    /// Compressing again adds nothing until a new turn is logged. Forgetting a turn erases the entries that cover it; their other
    /// turns are then compressed again.
    ///
    /// # Errors
    /// Of the call: `Unavailable` when the store does not answer.
    pub fn compress(self, session: SessionId) -> CompressCall {
        let memory = self.memory.clone();
        CompressCall {
            memory,
            session,
            keep_last: KEEP_LAST,
            window: self.memory.engine.settings().compress.window_tokens.map(TokenCount),
            when: CompressTrigger::Now,
            history: Vec::new(),
        }
    }
}

impl CompressCall {
    /// Sets the number of turns that are kept verbatim.
    pub fn keep_last(mut self, turns: usize) -> Self {
        self.keep_last = turns;
        self
    }

    /// Sets the context window of the host's model, in tokens, instead of `compress.window_tokens`; enough turns are compressed
    /// that the rest fits in half of it.
    pub fn window(mut self, tokens: u32) -> Self {
        self.window = Some(TokenCount(tokens));
        self
    }

    /// Compresses only when one of the three triggers of the settings applies.
    pub fn if_due(mut self) -> Self {
        self.when = CompressTrigger::Due;
        self
    }

    /// Passes the turns of the session, for an engine without a log; with a log, the log is used.
    pub fn history(mut self, turns: impl IntoIterator<Item = Message>) -> Self {
        self.history = turns.into_iter().collect();
        self
    }

    /// Returns the turns to compress, for a host that asks its own model for the text.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn draft(mut self) -> Result<Draft> {
        let history = std::mem::take(&mut self.history);
        let (turns, earlier, gaps) = if self.memory.engine.stores().events.is_filled() {
            let (turns, earlier, taken_back) = self.logged().await?;
            (turns, (earlier, taken_back), Vec::new())
        } else {
            let turns = history
                .into_iter()
                .map(|one| SessionTurn::from_message(one, &self.memory))
                .collect::<Result<_>>()?;
            (turns, (Vec::new(), 0), vec![Gap { layer: Layer::Events, cause: GapCause::NotConfigured }])
        };
        Ok(self.drafted(turns, earlier, gaps))
    }

    fn drafted(
        self,
        mut turns: Vec<SessionTurn>,
        (earlier, taken_back): (Vec<String>, usize),
        gaps: Vec<Gap>,
    ) -> Draft {
        let old = turns.len().saturating_sub(self.keep_last);
        let due = self.due(&turns, old, &earlier);
        let old =
            if self.when == CompressTrigger::Due && due.is_none() { 0 } else { self.aimed(&turns, old) };
        let kept = turns.split_off(old.min(AT_ONCE));
        let Self { memory, session, .. } = self;
        Draft { memory, session, earlier, old: turns, kept, due, gaps, taken_back, asked: None }
    }

    /// Returns how many turns must be compressed for the rest to fit in half of the window; the last turn always stays.
    fn aimed(&self, turns: &[SessionTurn], mut old: usize) -> usize {
        let Some(window) = self.window else { return old };
        let (aim, counter) = (window.minus(BUFFER).0 / 2, &self.memory.engine.parts().context.counter);
        let most = turns.len().saturating_sub(1);
        for _ in 0..ROUNDS {
            let left: TokenCount =
                turns.iter().skip(old).map(|turn| counter.count(&turn.spoken.line())).sum();
            if left.0 <= aim || old >= most {
                break;
            }
            old = (old + (turns.len() - old).div_ceil(2)).min(most);
        }
        old
    }

    fn due(&self, turns: &[SessionTurn], old: usize, earlier: &[String]) -> Option<CompressionReason> {
        let engine = &self.memory.engine;
        let counter = &engine.parts().context.counter;
        let lines = turns.iter().map(|turn| turn.spoken.line()).chain(earlier.iter().cloned());
        let last = turns.last()?;
        let idle = engine.now().as_micros().saturating_sub(last.at.0.as_micros());
        let waiting = PendingConversation {
            tokens: lines.map(|line| counter.count(&line)).sum(),
            window: self.window,
            turns: turns.iter().take(old).filter(|turn| turn.role == Role::User).count() as u64,
            idle: Duration::from_micros(u64::try_from(idle).unwrap_or_default()),
        };
        engine.settings().compress.triggers().due(&waiting)
    }

    /// Returns the turns that no entry covers, oldest first, the entries, and the number of undone entries.
    async fn logged(&self) -> Result<(Vec<SessionTurn>, Vec<String>, usize)> {
        let engine = &self.memory.engine;
        let of = |roles: &[Role]| EventFilter {
            session: Within::Only(self.session.clone()),
            roles: Within::Only(roles.to_vec()),
            ..EventFilter::live()
        };
        let events = self.memory.log_to_read()?;
        let mut decisions = events.latest(&of(&[Role::Decision]), ENTRIES).await?;
        decisions.reverse();
        let (mut covered, mut earlier, mut taken_back) = (BTreeSet::<EventId>::new(), Vec::new(), 0);
        for (turns, event, kept) in decisions.iter().filter_map(compression) {
            if engine.is_undone(event).await {
                taken_back += 1;
                continue;
            }
            covered.extend(turns);
            earlier.push(engine.prompt_text(events.as_ref(), turns, &kept.content).await?);
        }
        let mut turns = events.latest(&of(&[Role::User, Role::Assistant]), TURNS).await?;
        turns.reverse();
        let waiting = turns.iter().filter(|turn| !covered.contains(&turn.id));
        Ok((waiting.filter_map(SessionTurn::logged).collect(), earlier, taken_back))
    }
}

impl IntoFuture for CompressCall {
    type Output = Result<Degraded<CompressedSession>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.draft().await?.summarized().await })
    }
}

/// Returns the turns of a compression that was not forgotten.
fn compression(event: &Event) -> Option<(&[EventId], &Event, &NewEvent)> {
    let kept = event.body()?;
    match &kept.kind {
        EventKind::Operation(Operation { kind: OperationKind::Compress { turns }, .. }) => {
            Some((turns, event, kept))
        }
        _ => None,
    }
}

impl Engine {
    /// Whether a compression was undone: its note is absent although the projection has read its event.
    async fn is_undone(&self, event: &Event) -> bool {
        let Ok(learnings) = self.guarded().learnings.part() else { return false };
        let Ok(cursor) = learnings.cursor().await else { return false };
        let rows = self.notes_of(&[event.id]).await;
        cursor.count() >= event.seq.0 && rows.is_ok_and(|rows| rows.is_empty())
    }

    /// Returns an entry as a prompt shows it: a verbatim entry is shortened to extracted sentences.
    async fn prompt_text(&self, events: &dyn EventStore, turns: &[EventId], entry: &str) -> Result<String> {
        if !form::is_raw(entry) {
            return Ok(entry.to_owned());
        }
        let turns: Vec<SessionTurn> =
            events.get(turns).await?.iter().filter_map(SessionTurn::logged).collect();
        let (at, zone) = ends(&turns);
        Ok(form::entry((at, &zone), &shortened(self, &turns)))
    }
}
