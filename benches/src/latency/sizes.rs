//! Bytes an event: on disk by table, and of the index in memory by column.

use std::mem::size_of;
use std::num::NonZeroUsize;

use anyhow::Result;
use mnemal::events::Cursor;
use mnemal::ports::IndexStore as _;
use mnemal_core::{EventId, IndexBlock, Level, Marks, Posting, Role, Seq, TermHash, Timestamp};
use mnemal_store::SqliteStore;

use super::CorpusSpace;
use crate::figure::Figure;

/// Rows of a load.
const STEP: NonZeroUsize = NonZeroUsize::new(65_536).expect("it is not zero");
/// Tables with less than this are left out, in bytes an event.
const LEAST: f64 = 0.5;

/// Says how many bytes each table takes on disk, and each column of the index in memory.
///
/// # Errors
/// A space that cannot be read.
pub async fn sizes(bed: &CorpusSpace) -> Result<Vec<Figure>> {
    let store = SqliteStore::open(bed.space()).await?;
    let mut figures = tables(&store, bed).await?;
    let mut columns = Columns::default();
    let mut after = Cursor::START;
    loop {
        let blocks = store.load(after, STEP).await?;
        let Some(last) = blocks.last() else { break };
        after = Cursor(last.seqs.last().copied());
        for block in &blocks {
            columns.add(block);
        }
    }
    store.close().await?;
    let each = |(name, bytes): (&str, usize)| {
        Figure::new(format!("memory: {name}"), bed.size(), bytes as f64 / columns.rows as f64, "B/event")
    };
    figures.extend(columns.named().map(each));
    Ok(figures)
}

async fn tables(store: &SqliteStore, bed: &CorpusSpace) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, bytes) in store.table_bytes().await? {
        let each = bytes as f64 / bed.size() as f64;
        if each >= LEAST {
            figures.push(Figure::new(format!("disk: {name}"), bed.size(), each, "B/event"));
        }
    }
    Ok(figures)
}

/// Bytes of the columns of all blocks.
#[derive(Debug, Default)]
struct Columns {
    rows: usize,
    ids: usize,
    turns: usize,
    names: usize,
    terms: usize,
    postings: usize,
    vectors: usize,
}

impl Columns {
    fn add(&mut self, block: &IndexBlock) {
        let rows = block.len();
        self.rows += rows;
        self.ids += rows * (size_of::<EventId>() + size_of::<Seq>());
        let turn = size_of::<Timestamp>() + size_of::<Role>() + size_of::<Level>() + size_of::<Marks>();
        self.turns += rows * (turn + size_of::<u32>());
        for labels in [&block.sessions, &block.channels, &block.speakers, &block.users, &block.agents] {
            self.names += labels.rows.len() * size_of::<u16>();
            self.names += labels.names.iter().map(|name| name.len() + size_of::<String>()).sum::<usize>();
        }
        self.terms += block.terms.len() * (size_of::<TermHash>() + size_of::<u32>());
        self.postings += block.postings.len() * size_of::<Posting>();
        for column in &block.vectors {
            self.vectors += column.codes.len() + column.scales.len() * size_of::<f32>();
        }
    }

    fn named(&self) -> impl Iterator<Item = (&'static str, usize)> {
        [
            ("ids and positions", self.ids),
            ("times, roles, levels, marks, lengths", self.turns),
            ("sessions, channels, speakers, users, agents", self.names),
            ("terms of blocks", self.terms),
            ("postings", self.postings),
            ("vectors", self.vectors),
        ]
        .into_iter()
    }
}
