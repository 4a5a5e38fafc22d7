//! Receipts, and the records that each session was shown.

use std::num::NonZeroUsize;

use async_trait::async_trait;
use mnemal_core::{
    Error, ErrorKind, EventId, Receipt, ReceiptId, ReceiptStore, Result, SeenRecord, SeenRecords, SessionId,
    Timestamp,
};

use super::{MemoryStore, Showing, SpaceState};
use crate::ordering;

#[async_trait]
impl ReceiptStore for MemoryStore {
    async fn put(&self, receipt: &Receipt) -> Result<()> {
        let mut state = self.state();
        if state.receipts.contains_key(&receipt.id) {
            return Err(Error::new(ErrorKind::Conflict, format!("receipt {} is known", receipt.id)));
        }
        state.receipts.insert(receipt.id, receipt.clone());
        if receipt.session.is_nobody() {
            return Ok(());
        }
        let seen = state.seen.entry(receipt.session.clone()).or_default();
        for line in &receipt.lines {
            let item = SeenRecord {
                record: line.record,
                content_hash: line.content_hash,
                sources: line.sources.clone(),
            };
            seen.insert((line.record, line.content_hash), Showing { item, at: receipt.at });
        }
        Ok(())
    }

    async fn get(&self, id: ReceiptId) -> Result<Receipt> {
        let state = self.state();
        let stored = state.receipts.get(&id);
        let mut receipt = stored.cloned().ok_or_else(|| Error::not_found(format!("no receipt {id}")))?;
        ordering::cleanse(&mut receipt, |event| state.is_erased(event));
        Ok(receipt)
    }

    async fn latest(&self, limit: NonZeroUsize) -> Result<Vec<Receipt>> {
        Ok(newest(&self.state(), limit, |_| true))
    }

    async fn between(&self, since: Timestamp, until: Timestamp, limit: NonZeroUsize) -> Result<Vec<Receipt>> {
        Ok(newest(&self.state(), limit, |receipt| receipt.at >= since && receipt.at < until))
    }

    async fn seen(&self, session: &SessionId) -> Result<SeenRecords> {
        let state = self.state();
        let shown = state.seen.get(session).into_iter().flat_map(|shown| shown.values());
        let living =
            shown.filter(|shown| !ordering::rests_on(&shown.item.sources, |event| state.is_erased(event)));
        Ok(SeenRecords { items: living.map(|shown| shown.item.clone()).collect() })
    }

    async fn clear_seen(&self, session: &SessionId) -> Result<()> {
        self.state().seen.remove(session);
        Ok(())
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64> {
        let mut state = self.state();
        let known = state.receipts.len();
        state.receipts.retain(|_, receipt| receipt.at >= before);
        for shown in state.seen.values_mut() {
            shown.retain(|_, shown| shown.at >= before);
        }
        Ok((known - state.receipts.len()) as u64)
    }

    async fn erase(&self, sources: &[EventId]) -> Result<u64> {
        let mut state = self.state();
        let gone = |event: EventId| sources.contains(&event);
        let mut removed: u64 =
            state.receipts.values_mut().map(|receipt| ordering::cleanse(receipt, gone)).sum();
        for shown in state.seen.values_mut() {
            let known = shown.len();
            shown.retain(|_, shown| !ordering::rests_on(&shown.item.sources, gone));
            removed += (known - shown.len()) as u64;
        }
        Ok(removed)
    }
}

/// Returns the newest receipts that pass, newest first, without what was erased since.
fn newest(state: &SpaceState, limit: NonZeroUsize, passes: impl Fn(&Receipt) -> bool) -> Vec<Receipt> {
    let mut found: Vec<Receipt> =
        state.receipts.values().filter(|receipt| passes(receipt)).cloned().collect();
    found.sort_by_key(|receipt| std::cmp::Reverse((receipt.at, receipt.id)));
    found.truncate(limit.get());
    for receipt in &mut found {
        ordering::cleanse(receipt, |event| state.is_erased(event));
    }
    found
}
