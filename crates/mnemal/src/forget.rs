//! Forgetting: the closure is computed, the decision logged, bodies erased, every layer told, the bytes scrubbed.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use mnemal_core::{
    Decision, Error, ErrorKind, EventFilter, EventId, EventKind, Forget, GapCause, Layer, Origin, Result,
    Role, Selector, Within,
};

use crate::engine::Engine;
use crate::memory::Memory;
use crate::message::Message;

/// What a forget did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// How far it went.
    pub status: ErasureStatus,
    /// The decision in the log; `None` for a preview.
    pub event: Option<EventId>,
    /// The events concerned, ascending.
    pub ids: Vec<EventId>,
    /// Bodies that were, or would be, erased.
    pub events: u64,
    /// Notes that rested on them alone.
    pub learnings: u64,
    /// Lines of receipts and of what sessions saw.
    pub receipts: u64,
    /// Whether the write-ahead log was emptied.
    pub truncated: bool,
    /// Whether the bytes of the space were searched and hold none of the erased texts.
    pub verified: bool,
    /// What the engine cannot reach, one sentence each.
    pub residual: Vec<String>,
}

/// How far a forget went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErasureStatus {
    /// Nothing was done: this is what would be.
    Preview,
    /// All of it is done.
    Erased,
    /// Nothing serves it any more; a reader still holds the write-ahead log, and the bytes go with its next checkpoint.
    ErasedPendingCheckpoint,
}

impl ErasureStatus {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preview => "preview",
            Self::Erased => "erased",
            Self::ErasedPendingCheckpoint => "erased_pending_checkpoint",
        }
    }
}

/// A forget on its way; awaiting it erases.
#[derive(Debug)]
#[must_use = "nothing is forgotten until it is awaited"]
pub struct ForgetCall {
    memory: Memory,
    selector: Selector,
    preview: bool,
}

impl ForgetCall {
    pub(crate) fn new(memory: Memory, selector: Selector) -> Self {
        Self { memory, selector, preview: false }
    }

    /// Only says what would go.
    pub fn dry_run(mut self) -> Self {
        self.preview = true;
        self
    }

    async fn run(self) -> Result<Erasure> {
        let engine = &self.memory.engine;
        let ids = engine.log()?.closure(&self.selector).await?;
        if ids.is_empty() {
            return Err(Error::not_found("nothing matches what should be forgotten"));
        }
        let learnings = match engine.notes_of(&ids).await {
            Ok(notes) => notes.len() as u64,
            Err(GapCause::NotConfigured) => 0,
            Err(_) => {
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    "cannot forget: the notes do not answer; retry",
                ));
            }
        };
        if self.preview {
            let events = ids.len() as u64;
            let status = ErasureStatus::Preview;
            let (receipts, truncated, verified, residual) = (0, false, false, Vec::new());
            return Ok(Erasure {
                status,
                event: None,
                ids,
                events,
                learnings,
                receipts,
                truncated,
                verified,
                residual,
            });
        }
        let decision = Decision::Forget(Forget { selector: self.selector, events: ids.clone() });
        let ack = self.memory.log(Message::of(EventKind::Decision(decision), Origin::UserDirect, "")).await?;
        let done = engine.erase(&ids).await?;
        Ok(Erasure { event: Some(ack.id), learnings, ..done })
    }
}

impl IntoFuture for ForgetCall {
    type Output = Result<Erasure>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl Engine {
    /// Erases events whose forgetting stands in the log; safe to repeat after a crash at any point.
    async fn erase(&self, ids: &[EventId]) -> Result<Erasure> {
        let bodies = self.bodies(ids).await?;
        let kept = self.events()?.get(ids).await?;
        let tombstones = mnemal_events::tombstones_for(&kept, &self.parts().key, self.now());
        let events = self.events()?.erase(&tombstones).await?;
        self.fold().await;
        let receipts = match self.stores().receipts.part() {
            Ok(receipts) => receipts.erase(ids).await?,
            Err(_) => 0,
        };
        let mut residual = Vec::new();
        // Without upkeep nobody looked, so nothing is claimed.
        let (mut truncated, mut verified) = (false, false);
        if let Ok(upkeep) = self.stores().upkeep.part() {
            verified = true;
            let scrub = upkeep.scrub().await?;
            truncated = scrub.truncated;
            residual = scrub.residual;
            for text in &bodies {
                let places = upkeep.search_bytes(text).await?;
                verified &= places.is_empty();
                residual.extend(places);
            }
        }
        let status = if truncated { ErasureStatus::Erased } else { ErasureStatus::ErasedPendingCheckpoint };
        let (event, ids, learnings) = (None, ids.to_vec(), 0);
        Ok(Erasure { status, event, ids, events, learnings, receipts, truncated, verified, residual })
    }

    /// Returns the texts that must not be found afterwards: bodies long enough to be nobody else's.
    async fn bodies(&self, ids: &[EventId]) -> Result<Vec<String>> {
        /// Shorter texts occur by chance in packed bytes. Source: own default, eight bytes meet by chance once in 2⁶⁴.
        const TELLING: usize = 8;
        let events = self.events()?.get(ids).await?;
        let texts = events.iter().filter_map(|event| event.kept()).map(|kept| kept.content.clone());
        Ok(texts.filter(|text| text.len() >= TELLING).collect())
    }

    /// Finishes forgets that a crash interrupted; [`Builder::open`](crate::Builder) does it before anything is served.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer; call it again.
    pub async fn finish_forgets(&self) -> Result<()> {
        let Ok(events) = self.events() else { return Ok(()) };
        let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        for decision in events.latest(&filter, crate::engine::RECENT_DECISIONS).await? {
            let Some(EventKind::Decision(Decision::Forget(forget))) = decision.kept().map(|kept| &kept.kind)
            else {
                continue;
            };
            let alive = match events.get(&forget.events).await {
                Ok(found) => found.iter().any(|event| event.kept().is_some()),
                Err(error) if error.kind() == ErrorKind::NotFound => false,
                Err(error) => return Err(error),
            };
            if alive {
                let _finished = self.erase(&forget.events).await?;
                tracing::info!(
                    layer = Layer::Events.as_str(),
                    events = forget.events.len(),
                    "finished an interrupted forget"
                );
            }
        }
        Ok(())
    }
}
