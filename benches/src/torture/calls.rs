//! Effects of a call on the space: each is one use of the facade, as a host makes it.

use std::error::Error as _;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal::events::{Cursor, Selector};
use mnemal::ports::{EventStore, LearningStore, Projector, Upkeep};
use mnemal::recall::RecallMode;
use mnemal::types::Degraded;
use mnemal::{
    Decision, Error, Event, EventFilter, EventId, EventKind, LearningFilter, LearningKind, Memory, Message,
    NoteKey, Result, SessionId,
};
use mnemal_learnings::LearningProjector;
use mnemal_store::{MemoryStore, SqliteStore};

use super::names::PREFERENCE;
use super::wire::{Ack, Body, Hit, Reply, Request, Row, Turn, Version};
use super::worker::WorkerState;

/// Hits that are looked at for a word. Source: own choice; the word is in one event only.
const HITS: usize = 3;
/// Events read at once.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");
/// Tokens of a context.
const BUDGET: u32 = 1_000;

/// Runs a call.
pub(super) async fn act(desk: &WorkerState, ask: Request) -> Result<Degraded<Reply>> {
    let memory = &desk.memory;
    let said = match ask {
        Request::Append(turns) => return append(memory, turns).await,
        Request::Note { turn, name } => return note(memory, turn, &name).await,
        Request::Find(words) => return find(memory, words).await,
        Request::Context(query) => {
            let context = memory.context(query).budget(BUDGET).await?;
            let (text, receipt) = (context.value.text, context.value.receipt.id.to_string());
            return Ok(Degraded { value: Reply::Context { text, receipt }, gaps: context.gaps });
        }
        Request::Receipts(ids) => Reply::Rests(rests(memory, &ids).await?),
        Request::Forget(ids) => {
            Reply::Forgot { verified: memory.forget(Selector::Events(parse(&ids)?)).await?.verified() }
        }
        Request::Export => {
            let mut out = Vec::new();
            let _exported = memory.admin().export(&mut out).await?;
            Reply::Text(String::from_utf8_lossy(&out).into_owned())
        }
        Request::Dump => Reply::Log(dump(memory).await?),
        Request::Notes(names) => notes(desk, &names).await?,
        Request::Check => Reply::Findings(memory.admin().engine().check().await?.findings),
        Request::Search(texts) => {
            let mut places = Vec::new();
            for text in texts {
                places.extend(memory.admin().engine().search_bytes(&text).await?);
            }
            Reply::Findings(places)
        }
        Request::Seal => {
            let store = beside(desk).await?;
            let _sealed = store.seal().await?;
            store.close().await.map(|()| Reply::Done)?
        }
        Request::Checkpoint => {
            let store = beside(desk).await?;
            let _scrubbed = store.scrub(&[]).await?;
            store.close().await.map(|()| Reply::Done)?
        }
        Request::Close => memory.admin().engine().close().await.map(|()| Reply::Done)?,
    };
    Ok(Degraded { value: said, gaps: Vec::new() })
}

/// Says an error with everything behind it.
pub(super) fn failed(error: &Error) -> Reply {
    let mut what = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let _ = write!(what, ": {next}");
        cause = next.source();
    }
    Reply::Failed { kind: error.kind().as_str().to_owned(), what }
}

/// Opens a second set of connections to the file, as another program would.
async fn beside(desk: &WorkerState) -> Result<SqliteStore> {
    SqliteStore::open(&desk.space).await
}

fn message(turn: Turn) -> Result<Message> {
    Ok(Message::user(turn.text).session(SessionId::new(turn.session)?).idempotency_key(turn.key))
}

async fn append(memory: &Memory, turns: Vec<Turn>) -> Result<Degraded<Reply>> {
    let messages = turns.into_iter().map(message).collect::<Result<Vec<_>>>()?;
    let acks = memory.events().log_all(messages).await?;
    let acked = |ack: mnemal::events::Ack| Ack {
        id: ack.id.to_string(),
        seq: Some(ack.seq.0),
        duplicate: ack.duplicate,
    };
    Ok(Degraded { value: Reply::Acks(acks.value.into_iter().map(acked).collect()), gaps: acks.gaps })
}

async fn note(memory: &Memory, turn: Turn, name: &str) -> Result<Degraded<Reply>> {
    let session = SessionId::new(turn.session)?;
    let call = memory.remember(turn.text).key(NoteKey::new(name)?);
    let call = call.message(|message| message.session(session).idempotency_key(turn.key));
    let call =
        if name.starts_with(PREFERENCE) { call.kind(LearningKind::Preference).by_user() } else { call };
    let stored = call.await?;
    let acked = Ack { id: stored.event.to_string(), seq: None, duplicate: !stored.created };
    Ok(Degraded { value: Reply::Acks(vec![acked]), gaps: stored.gaps })
}

async fn find(memory: &Memory, words: Vec<String>) -> Result<Degraded<Reply>> {
    let (mut found, mut gaps) = (Vec::with_capacity(words.len()), Vec::new());
    for word in words {
        let answer = memory.recall(word).mode(RecallMode::Lexical).limit(HITS).await?;
        let withheld = answer.value.withheld.into_iter().map(|withheld| withheld.hit);
        let hits = answer.value.hits.into_iter().chain(withheld);
        found.push(hits.map(|hit| Hit { id: hit.event.id.to_string(), text: text(&hit.event) }).collect());
        gaps.extend(answer.gaps);
    }
    Ok(Degraded { value: Reply::Found(found), gaps })
}

fn text(event: &Event) -> String {
    event.body().map(|kept| kept.content.clone()).unwrap_or_default()
}

async fn dump(memory: &Memory) -> Result<Vec<Row>> {
    let (mut rows, mut after) = (Vec::new(), Cursor::START);
    loop {
        let page = memory.events().scan(&EventFilter::all(), after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(rows) };
        after = Cursor(Some(last.seq));
        rows.extend(page.iter().map(row));
    }
}

fn row(event: &Event) -> Row {
    let body = match event.body() {
        None => Body::Erased,
        Some(kept) if matches!(kept.kind, EventKind::Decision(Decision::Forget(_))) => Body::Forget,
        Some(kept) => Body::Kept(Turn {
            key: kept.idempotency_key.clone().unwrap_or_default(),
            session: kept.session.as_str().to_owned(),
            text: kept.content.clone(),
        }),
    };
    Row { id: event.id.to_string(), seq: event.seq.0, body }
}

async fn notes(desk: &WorkerState, names: &[String]) -> Result<Reply> {
    let mut versions = Vec::with_capacity(names.len());
    for name in names {
        let known = match desk.memory.preferences().history(&NoteKey::new(name)?).await {
            Err(error) if error.kind() == mnemal::ErrorKind::NotFound => Vec::new(),
            answer => answer?,
        };
        let version = |note: mnemal::Learning| Version {
            number: note.version,
            holds: note.status == mnemal::learnings::LearningStatus::Active,
            text: note.content,
        };
        versions.push(known.into_iter().map(version).collect());
    }
    Ok(Reply::Notes { versions, rebuilt: rebuilds(desk).await? })
}

/// Whether the log, folded again into empty rows, gives the stored rows.
async fn rebuilds(desk: &WorkerState) -> Result<bool> {
    let (file, anew) = (Arc::new(beside(desk).await?), Arc::new(MemoryStore::new()));
    let events: Arc<dyn EventStore> = Arc::<SqliteStore>::clone(&file);
    let rows: Arc<dyn LearningStore> = Arc::<MemoryStore>::clone(&anew);
    let projector = LearningProjector::new(events, rows);
    while projector.step(PAGE).await?.behind > 0 {}
    let every = LearningFilter::all();
    let (mut stored, mut made) =
        (LearningStore::all(file.as_ref(), &every).await?, LearningStore::all(anew.as_ref(), &every).await?);
    stored.sort_by_key(|row| row.id);
    made.sort_by_key(|row| row.id);
    file.close().await?;
    Ok(stored == made)
}

/// Returns the events that receipts rest on; one that was never stored rests on nothing.
async fn rests(memory: &Memory, ids: &[String]) -> Result<Vec<String>> {
    let mut events = Vec::new();
    for id in ids {
        let receipt = match memory.admin().receipt(id.parse()?).await {
            Err(error) if error.kind() == mnemal::ErrorKind::NotFound => continue,
            answer => answer?,
        };
        let sources = receipt.lines.iter().flat_map(|line| &line.sources);
        events.extend(sources.map(|source| source.event.to_string()));
    }
    Ok(events)
}

fn parse(ids: &[String]) -> Result<Vec<EventId>> {
    ids.iter().map(|id| id.parse()).collect()
}
