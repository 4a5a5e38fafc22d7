//! `mnemal graph export`.

mod write;

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::{Context as _, Result};
use mnemal::graph::EntityFilter;
use mnemal::types::EntityId;
use mnemal::{AsOf, Error, ErrorKind, Fact, FactFilter, Graph as Known, Memory, Within};

use self::write::Writer;
use super::fact::moment;
use crate::args::{Global, Graph, GraphFormat};
use crate::output::Output;

/// Subjects whose facts are held in memory at a time. Source: own default, half of the largest batch of an append.
const SUBJECTS: usize = 500;

/// Exports to a new file, or to stdout.
pub(super) async fn run(memory: &Memory, global: &Global, call: Graph, output: &Output) -> Result<u8> {
    let Graph::Export { path, format, when } = call;
    let (graph, as_of) = (memory.facts().graph().await?, moment(memory, &when)?);
    let (nodes, edges) = match path.filter(|path| path.as_os_str() != "-") {
        None => {
            let mut out = BufWriter::new(std::io::stdout());
            let counts = export(&graph, as_of, format, &mut out).await?;
            out.flush()?;
            counts
        }
        Some(path) => {
            let file = File::create_new(&path).map_err(|cause| {
                let taken = cause.kind() == std::io::ErrorKind::AlreadyExists;
                let kind = if taken { ErrorKind::Conflict } else { ErrorKind::Unavailable };
                Error::new(kind, format!("cannot make {}", path.display())).because(cause)
            })?;
            let mut out = BufWriter::new(file);
            let counts = export(&graph, as_of, format, &mut out).await?;
            out.into_inner().context("cannot write the graph")?.sync_all()?;
            counts
        }
    };
    output.say(&format!("exported {nodes} nodes and {edges} edges"));
    Ok(super::gaps(&graph.gaps, global, output))
}

/// Streams nodes and edges, a batch of subjects at a time; returns the number of each.
async fn export(
    graph: &Known,
    as_of: AsOf,
    format: GraphFormat,
    out: &mut (dyn Write + Send),
) -> Result<(usize, usize)> {
    let entities = graph.all(&EntityFilter::all(), as_of).await?;
    let mut writer = Writer::begin(format, out)?;
    for entity in &entities {
        writer.entity(entity)?;
    }
    let batches = entities.chunks(SUBJECTS);
    // Literals are nodes too, and some formats need all nodes first.
    for batch in batches.clone() {
        for fact in facts(graph, batch.iter().map(|entity| entity.id), as_of).await? {
            writer.words(&fact)?;
        }
    }
    writer.edges()?;
    for batch in batches {
        for fact in facts(graph, batch.iter().map(|entity| entity.id), as_of).await? {
            writer.fact(&fact)?;
        }
    }
    writer.end()
}

async fn facts(graph: &Known, subjects: impl Iterator<Item = EntityId>, as_of: AsOf) -> Result<Vec<Fact>> {
    let filter = FactFilter { subjects: Within::Only(subjects.collect()), ..FactFilter::all() };
    Ok(graph.facts(&filter, as_of).await?)
}
