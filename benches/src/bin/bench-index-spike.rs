//! Index-block benchmark: append, load and erase, against one row per event. Prints one JSON object.
//!
//! `cargo run --release -p mnemal-benches --bin bench-index-spike -- --json`; `--events <n>` changes the size of the log.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context as _, Result};
use mnemal_core::{
    ChannelId, Cursor, EventId, EventKind, EventStore as _, IndexEntry, IndexStore as _, LogEntry, Marks,
    Metadata, ModelId, NewEvent, Origin, SessionId, Speaker, TermHash, Terms, Timestamp, Tombstone,
    TombstoneHash, Upkeep as _, Vector, Zone,
};
use mnemal_store::{Durability, Options, SqliteStore};

/// Events in the log. Source: the target size of a space, 100,000 events.
const EVENTS: usize = 100_000;
/// Distinct terms per event. Source: the mean of conversation turns.
const TERMS: usize = 24;
/// Words of the vocabulary, drawn with falling frequency.
const VOCABULARY: u64 = 50_000;
/// Values a vector. Source: the built-in embedder.
const DIMENSIONS: usize = 128;

fn main() -> Result<()> {
    let mut args = std::env::args().skip_while(|arg| arg != "--events").skip(1);
    let events =
        args.next().map(|n| n.parse()).transpose().context("--events takes a number")?.unwrap_or(EVENTS);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let lines = runtime.block_on(measure(events))?;
    let fields: Vec<String> = lines.iter().map(|(name, value)| format!("  \"{name}\": {value:.3}")).collect();
    #[expect(clippy::print_stdout, reason = "the report is the purpose")]
    {
        println!("{{\n{}\n}}", fields.join(",\n"));
    }
    Ok(())
}

type Line = (&'static str, f64);

async fn measure(events: usize) -> Result<Vec<Line>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("space.db");
    let mut make = Maker::new()?;
    let mut lines = vec![("events", events as f64)];
    let store = SqliteStore::open(&path).await?;
    append_batches(&store, &mut make, events, &mut lines).await?;
    store.close().await?;
    lines.push(("file_bytes_per_event", std::fs::metadata(&path)?.len() as f64 / events as f64));
    load(&path, events, &mut lines).await?;
    erase(&path, events, &mut lines).await?;
    singles(&folder.path().join("singles.db"), &mut make, &mut lines).await?;
    Ok(lines)
}

async fn append_batches(
    store: &SqliteStore,
    make: &mut Maker,
    events: usize,
    lines: &mut Vec<Line>,
) -> Result<()> {
    let batches: Vec<Vec<LogEntry>> =
        (0..events.div_ceil(1_000)).map(|_| (0..1_000).map(|_| make.entry()).collect()).collect();
    let count = batches.len() * 1_000;
    let start = cpu_micros()?;
    for batch in &batches {
        store.append(batch).await?;
    }
    let spent = cpu_micros()? - start;
    lines.push(("append_1000_cpu_us_per_event", spent / count as f64));
    lines.push(("append_1000_events_per_cpu_second", count as f64 / spent * 1e6));
    Ok(())
}

async fn load(path: &Path, events: usize, lines: &mut Vec<Line>) -> Result<()> {
    for (wanted, name) in [
        (10_000.min(events), "load_10k_cpu_ms"),
        (events, "load_all_cpu_ms"),
        (events, "load_all_again_cpu_ms"),
    ] {
        let store = SqliteStore::open(path).await?;
        store.mark().await?;
        let opened = cpu_micros()?;
        let mut after = Cursor::START;
        let mut rows = 0;
        while rows < wanted {
            let step = NonZeroUsize::new((wanted - rows).min(8_192)).context("a step has rows")?;
            let blocks = store.load(after, step).await?;
            let Some(last) = blocks.last() else { break };
            after = Cursor(last.seqs.last().copied());
            rows += blocks.iter().map(mnemal_core::IndexBlock::len).sum::<usize>();
        }
        lines.push((name, (cpu_micros()? - opened) / 1e3));
        store.close().await?;
    }
    Ok(())
}

async fn erase(path: &Path, events: usize, lines: &mut Vec<Line>) -> Result<()> {
    let store = SqliteStore::open(path).await?;
    let rounds = 50;
    let clock = std::fs::metadata(path)?.len();
    let start = cpu_micros()?;
    for round in 0..rounds {
        let event = EventId(1 + (events as u128 / rounds) * round);
        let hash = TombstoneHash([1; 16]);
        store.erase(&[Tombstone { event, body: hash, sentences: vec![hash], at: Timestamp::EPOCH }]).await?;
    }
    lines.push(("erase_one_cpu_ms", (cpu_micros()? - start) / 1e3 / rounds as f64));
    lines.push(("file_bytes", clock as f64));
    let start = cpu_micros()?;
    store.scrub(&[]).await?;
    lines.push(("scrub_cpu_ms", (cpu_micros()? - start) / 1e3));
    store.close().await?;
    Ok(())
}

async fn singles(path: &Path, make: &mut Maker, lines: &mut Vec<Line>) -> Result<()> {
    let store = SqliteStore::open(path).await?;
    let rows = 1_000;
    let entries: Vec<LogEntry> = (0..rows).map(|_| make.entry()).collect();
    let start = cpu_micros()?;
    for entry in &entries {
        store.append(std::slice::from_ref(entry)).await?;
    }
    lines.push(("append_1_disk_cpu_us", (cpu_micros()? - start) / rows as f64));
    let limit = NonZeroUsize::new(rows).context("there are rows")?;
    let start = cpu_micros()?;
    let found = store.load(Cursor::START, limit).await?.len();
    lines.push(("blocks_of_one_row", found as f64));
    lines.push(("load_row_by_row_cpu_us_per_event", (cpu_micros()? - start) / rows as f64));
    let start = cpu_micros()?;
    store.seal().await?;
    lines.push(("seal_cpu_us_per_event", (cpu_micros()? - start) / rows as f64));
    let start = cpu_micros()?;
    store.load(Cursor::START, limit).await?;
    lines.push(("load_sealed_cpu_us_per_event", (cpu_micros()? - start) / rows as f64));
    store.close().await?;
    let options = Options { durability: Durability::Process, ..Options::default() };
    let store = SqliteStore::open_with(path, options).await?;
    let entries: Vec<LogEntry> = (0..rows).map(|_| make.entry()).collect();
    let start = cpu_micros()?;
    for entry in &entries {
        store.append(std::slice::from_ref(entry)).await?;
    }
    lines.push(("append_1_process_cpu_us", (cpu_micros()? - start) / rows as f64));
    store.close().await?;
    Ok(())
}

/// Makes turns of about 140 bytes with terms of falling frequency and a vector.
struct Maker {
    next: u64,
    state: u64,
    model: ModelId,
    channel: ChannelId,
    speaker: Speaker,
}

impl Maker {
    fn new() -> Result<Self> {
        let (model, channel) = (ModelId::new("spike")?, ChannelId::new("bench")?);
        Ok(Self { next: 0, state: 7, model, channel, speaker: Speaker::new("Ada")? })
    }

    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn terms(&mut self) -> Terms {
        let mut counts = std::collections::BTreeMap::new();
        while counts.len() < TERMS {
            let word = self.random() % (self.random() % VOCABULARY + 1);
            *counts.entry(TermHash(word.wrapping_mul(0x9e37_79b9_7f4a_7c15))).or_insert(0_u16) += 1;
        }
        Terms { length: 30, counts: counts.into_iter().collect() }
    }

    fn entry(&mut self) -> LogEntry {
        self.next += 1;
        let values: Vec<f32> =
            (0..DIMENSIONS).map(|_| (self.random() % 2_000) as f32 / 1_000.0 - 1.0).collect();
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        let unit: Vec<f32> = values.iter().map(|value| value / length).collect();
        let vectors =
            Vector::from_unit(&unit).into_iter().map(|vector| (self.model.clone(), vector)).collect();
        let at = Timestamp::EPOCH.plus_micros(1_700_000_000_000_000 + self.next.cast_signed() * 1_000_000);
        let event = NewEvent {
            kind: EventKind::UserMessage,
            content: format!("turn {} {}", self.next, "lorem ipsum dolor sit amet consetetur ".repeat(3)),
            session: SessionId::new(format!("session-{}", self.next / 40)).unwrap_or_else(|_| unreachable!()),
            channel: self.channel.clone(),
            parent: None,
            speaker: Some(self.speaker.clone()),
            user: None,
            agent: None,
            occurred_at: at,
            zone: Zone::utc(),
            origin: Origin::UserDirect,
            idempotency_key: None,
            metadata: Metadata::new(),
        };
        let index = Some(IndexEntry { terms: self.terms(), marks: Marks::default(), vectors });
        let id = EventId(u128::from(self.next));
        LogEntry {
            id,
            recorded_at: at,
            event,
            index,
            quarantined: None,
            echo: Vec::new(),
            body_hash: [3; 32],
        }
    }
}

/// Returns the CPU time of all living threads of this process, in microseconds.
fn cpu_micros() -> Result<f64> {
    let mut nanos = 0_u64;
    for task in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        nanos += text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or_default();
    }
    Ok(nanos as f64 / 1e3)
}
