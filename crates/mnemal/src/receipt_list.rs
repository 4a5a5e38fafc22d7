//! The list of receipts: what sessions were given, newest first.

use std::num::NonZeroUsize;

use mnemal_core::{ErrorKind, Receipt, Result, SessionId, Timestamp, Within};

use crate::areas::AdminHandle;
use crate::engine::missing;

/// Receipts that are read at once. Source: own choice, about two megabytes.
const READ: NonZeroUsize = NonZeroUsize::new(100).expect("100 is not zero");
/// Most receipts that one page looks through for those of a session. Source: own choice, some tens of milliseconds.
const MOST_READ: usize = 2_000;
/// Most receipts of one moment. Source: own choice, more than a microsecond has.
const OF_A_MOMENT: NonZeroUsize = NonZeroUsize::new(10_000).expect("10,000 is not zero");

/// A part of the list of receipts.
#[derive(Clone, Debug, Default)]
pub struct ReceiptPage {
    /// Newest first.
    pub receipts: Vec<Receipt>,
    /// The moment before which the list goes on; `None` at its end.
    pub before: Option<Timestamp>,
}

impl AdminHandle<'_> {
    /// Returns the receipts of answers before a moment, newest first: `limit` of them, more where several are of one moment, and
    /// fewer where few of those that were looked through are of the session or of the user of this memory.
    ///
    /// # Errors
    /// `Unsupported` without receipts, `Unavailable` when the store does not answer.
    pub async fn receipts(
        self,
        session: &Within<SessionId>,
        before: Option<Timestamp>,
        limit: NonZeroUsize,
    ) -> Result<ReceiptPage> {
        let store = self.memory.engine.guarded().receipts.part().map_err(|_| missing("receipts"))?;
        let mut until = before.unwrap_or(Timestamp::MAX);
        let (mut receipts, mut n_read) = (Vec::new(), 0);
        loop {
            let mut page = store.between(Timestamp::EPOCH, until, READ).await?;
            let Some(oldest) = page.last().map(|receipt| receipt.at) else {
                return Ok(ReceiptPage { receipts, before: None });
            };
            let is_end = page.len() < READ.get();
            if !is_end {
                // A cursor is a moment, so that the receipts of one are on one page.
                page.retain(|receipt| receipt.at > oldest);
                page.extend(store.between(oldest, oldest.plus_micros(1), OF_A_MOMENT).await?);
            }
            n_read += page.len();
            let mut seen = until;
            for receipt in page {
                if receipts.len() >= limit.get() && receipt.at < seen {
                    return Ok(ReceiptPage { receipts, before: Some(seen) });
                }
                seen = receipt.at;
                if session.contains(&receipt.session) {
                    receipts.extend(self.own(receipt).await?);
                }
            }
            if is_end {
                return Ok(ReceiptPage { receipts, before: None });
            }
            if n_read >= MOST_READ {
                return Ok(ReceiptPage { receipts, before: Some(seen) });
            }
            until = seen;
        }
    }

    /// Returns a receipt if it is one of this memory.
    async fn own(self, receipt: Receipt) -> Result<Option<Receipt>> {
        match self.memory.own_receipt(receipt).await {
            Ok(receipt) => Ok(Some(receipt)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
