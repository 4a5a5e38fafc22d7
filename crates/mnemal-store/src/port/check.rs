//! Integrity check common to all databases: reads every row, and compares log, index and derived tables.

use std::collections::BTreeMap;

use mnemal_core::{Error, EventId, Integrity, Layer, LearningFilter, Result, Seq};

use super::{index, learning, log, quick_check};
use crate::sql::{Sql, Value};
use crate::{codec, entry, statement};

/// Rows read at once by a check.
///
/// Source: own default, about a megabyte.
const PAGE: usize = 1_000;
/// Blocks read at once by a check.
///
/// Source: own default, about four megabytes.
const BLOCK_PAGE: usize = 16;

/// Adds what is wrong with the contents of a space.
pub(crate) async fn contents(sql: &dyn Sql, found: &mut Integrity) -> Result<()> {
    let mark = index::mark(sql).await?;
    let head = Seq(mark.head.count());
    events(sql, head, found).await;
    let rows = index_rows(sql, head, found).await;
    compare(sql, head, rows, found).await;
    for error in log::disagreements(sql).await {
        note(found, "the lists", &error);
    }
    if let Err(error) = learning::all(sql, &LearningFilter::all()).await {
        note(found, "the notes", &error);
    }
    for (layer, kind) in quick_check::look_over(sql).await {
        if layer != Layer::Learnings {
            found.findings.push(format!("the layer {}: {}", layer.as_str(), kind.as_str()));
        }
    }
    if !found.findings.is_empty() && index::mark(sql).await?.forgets != mark.forgets {
        found.findings.push("events were erased during the check; run it again".to_owned());
    }
    Ok(())
}

/// Adds a finding with its cause.
pub(crate) fn note(found: &mut Integrity, what: &str, error: &Error) {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    found.findings.push(format!("{what}: {error}{cause}"));
}

/// Compares every event with its checksum.
async fn events(sql: &dyn Sql, head: Seq, found: &mut Integrity) {
    let mut next = 0;
    while next < head.0 {
        let args = vec![next.into(), PAGE.into()];
        let page = match sql.rows(statement::SCAN, args).await {
            Ok(page) if !page.is_empty() => page,
            Ok(_) => return found.findings.push(format!("events behind position {next} are missing")),
            Err(error) => return note(found, &format!("events behind position {next}"), &error),
        };
        for row in page {
            let seq = match row.rest().first() {
                Some(Value::Int(seq)) => u64::try_from(*seq).unwrap_or_default(),
                _ => 0,
            };
            if seq > head.0 {
                return;
            }
            if seq != next + 1 {
                found.findings.push(format!("position {next} is followed by {seq}"));
            }
            next = seq.max(next + 1);
            match entry::event(row) {
                Ok(_) => found.events += 1,
                Err(error) => note(found, &format!("position {seq}"), &error),
            }
        }
    }
}

/// Reads every block up to the head.
async fn index_rows(sql: &dyn Sql, head: Seq, found: &mut Integrity) -> BTreeMap<Seq, EventId> {
    let mut known = BTreeMap::new();
    let mut after = 0_i64;
    loop {
        let args = vec![after.into(), BLOCK_PAGE.into()];
        let page = match sql.rows(statement::BLOCKS_FROM, args).await {
            Ok(page) if page.is_empty() => return known,
            Ok(page) => page,
            Err(error) => {
                note(found, &format!("index blocks behind position {after}"), &error);
                return known;
            }
        };
        for mut row in page {
            let first = row.int().unwrap_or(i64::MAX);
            after = first.max(after + 1);
            match row.blob().and_then(|bytes| codec::decode(&bytes)) {
                Ok(block) => {
                    let rows = block.seqs.into_iter().zip(block.events);
                    known.extend(rows.filter(|(seq, _)| *seq <= head));
                }
                Err(error) => note(found, &format!("index block {first}"), &error),
            }
        }
    }
}

/// Compares the rows of the index with the events that must be in it.
async fn compare(sql: &dyn Sql, head: Seq, mut rows: BTreeMap<Seq, EventId>, found: &mut Integrity) {
    let mut after = Seq(0);
    loop {
        let page = match log::indexed(sql, after, PAGE).await {
            Ok(page) => page,
            Err(error) => return note(found, &format!("indexed events behind position {}", after.0), &error),
        };
        let Some((last, _)) = page.last() else { break };
        after = *last;
        for (seq, id) in page.into_iter().filter(|(seq, _)| *seq <= head) {
            if rows.remove(&seq) == Some(id) {
                found.index_rows += 1;
            } else {
                found.findings.push(format!("event {id} is not in the index"));
            }
        }
    }
    let stray = rows.values().map(|id| format!("the index names event {id}, which must not be found"));
    found.findings.extend(stray);
}
