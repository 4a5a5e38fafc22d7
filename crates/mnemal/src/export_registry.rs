//! Registry of exports and backups, so that a forget can name the copies that may still hold erased events.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mnemal_core::{Event, EventId, LedgerKind, LedgerLine, Result, Timestamp};

use crate::engine::Engine;

/// Copies that a forget considers, the newest. Source: own choice, an export a day for three years.
const LOOKED_AT: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// Copies that a forget names one by one. Source: own choice, one screen.
const NAMED: usize = 20;
/// Name of the event count of a copy.
const EVENTS: &str = "events";

impl Engine {
    /// Records that a copy was written: its kind, its id under a prefix, and its number of events; never its path, because file
    /// names can be confidential.
    ///
    /// A failure to record it, as in a read-only space, is logged and is no error: the copy exists, and the caller knows its
    /// path.
    pub(crate) async fn note_copy(&self, what: &str, prefix: &str, events: u64) {
        let Ok(ledger) = self.stores().ledger.part() else { return };
        let at = self.now();
        let id = EventId(self.parts().context.ids.next(at)).to_string();
        let line = LedgerLine {
            kind: LedgerKind::Copy,
            key: id.replacen(EventId::PREFIX, prefix, 1),
            at,
            hash: 0,
            counts: BTreeMap::from([(EVENTS.to_owned(), events)]),
            note: what.to_owned(),
        };
        if let Err(error) = ledger.put(&[line]).await {
            tracing::warn!(what, %error, "a copy of the space could not be noted");
        }
    }

    /// Returns a sentence for each copy that was written since the oldest of these events, newest first: it may hold them.
    pub(crate) async fn copies_of(&self, events: &[Event]) -> Result<Vec<String>> {
        let (Ok(ledger), Some(first)) =
            (self.stores().ledger.part(), events.iter().map(|event| event.recorded_at).min())
        else {
            return Ok(Vec::new());
        };
        let lines = ledger.lines(LedgerKind::Copy, LOOKED_AT).await?;
        let since: Vec<&LedgerLine> = lines.iter().filter(|line| line.at >= first).collect();
        let mut told: Vec<String> = since.iter().take(NAMED).map(|line| describe_copy(line)).collect();
        if since.len() > NAMED {
            told.push(format!("{} more exports and backups", since.len() - NAMED));
        }
        Ok(told)
    }
}

fn describe_copy(line: &LedgerLine) -> String {
    let LedgerLine { key, at, counts, note, .. } = line;
    let events = counts.get(EVENTS).copied().unwrap_or_default();
    let at: &Timestamp = at;
    format!("{note} {key} of {at} with {events} events, wherever it was written to")
}
