//! The ledger of background work.

use std::cmp::Reverse;
use std::num::NonZeroUsize;

use async_trait::async_trait;
use mnemal_core::{LedgerKind, LedgerLine, LedgerStore, Result, Timestamp};

use super::MemoryStore;

#[async_trait]
impl LedgerStore for MemoryStore {
    async fn put(&self, lines: &[LedgerLine]) -> Result<()> {
        let mut state = self.state();
        for line in lines {
            state.ledger.insert((line.kind, line.key.clone()), line.clone());
        }
        Ok(())
    }

    async fn lines(&self, kind: LedgerKind, limit: NonZeroUsize) -> Result<Vec<LedgerLine>> {
        let state = self.state();
        let mut lines: Vec<LedgerLine> =
            state.ledger.values().filter(|line| line.kind == kind).cloned().collect();
        lines.sort_by(|one, other| (Reverse(one.at), &one.key).cmp(&(Reverse(other.at), &other.key)));
        lines.truncate(limit.get());
        Ok(lines)
    }

    async fn sweep(&self, kind: LedgerKind, before: Timestamp) -> Result<u64> {
        let mut state = self.state();
        let lines = state.ledger.len();
        state.ledger.retain(|_, line| line.kind != kind || line.at >= before);
        Ok((lines - state.ledger.len()) as u64)
    }
}
