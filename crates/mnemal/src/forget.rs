//! Forgetting: the closure is computed, the decision logged, bodies erased, every layer told, the bytes scrubbed.

use std::collections::BTreeSet;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use mnemal_core::{
    Decision, Error, ErrorKind, Event, EventId, EventKind, Forget, GapCause, Layer, Origin, Result, Selector,
    Upkeep,
};

use crate::engine::Engine;
use crate::memory::Memory;
use crate::message::Message;

/// Shorter texts occur by chance in packed bytes. Source: own default, eight bytes meet by chance once in 2⁶⁴.
pub(crate) const TELLING: usize = 8;

/// Most time for making the graph's rows anew. Source: own default, some thousand events.
const RENEWAL: Duration = Duration::from_secs(2);

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

/// Returns where the bytes of the space still hold one of some texts.
async fn places_of(upkeep: &dyn Upkeep, texts: &[String]) -> Result<Vec<String>> {
    let mut places = Vec::new();
    for text in texts {
        places.extend(upkeep.search_bytes(text).await?);
    }
    Ok(places)
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
    origin: Origin,
    preview: bool,
}

impl ForgetCall {
    pub(crate) fn new(memory: Memory, selector: Selector) -> Self {
        Self { memory, selector, origin: Origin::UserDirect, preview: false }
    }

    /// Says that the agent decided this; without it the user did.
    pub fn by_agent(mut self) -> Self {
        self.origin = Origin::Assistant;
        self
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
        // One that was interrupted comes first, because this one may name its decision.
        engine.finish_forgets().await?;
        let decision = Decision::Forget(Forget { selector: self.selector, events: ids.clone() });
        let ack = self.memory.log(Message::of(EventKind::Decision(decision), self.origin, "")).await?;
        let done = engine.erase(&ids).await?;
        if done.truncated {
            engine.upkeep()?.forgets_finished(&[ack.id]).await?;
        }
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
        // What rests on other sources too comes back with it; upkeep finishes what is left.
        self.fold_graph().await;
        drop(self.renew_graph(RENEWAL).await);
        self.fold_summaries().await;
        let receipts = match self.stores().receipts.part() {
            Ok(receipts) => receipts.erase(ids).await?,
            Err(_) => 0,
        };
        self.erase_completions(ids).await?;
        let mut residual = Vec::new();
        // Without upkeep nobody looked, so nothing is claimed.
        let (mut truncated, mut verified) = (false, false);
        if let Ok(upkeep) = self.stores().upkeep.part() {
            let mut scrub = upkeep.scrub(&[]).await?;
            let mut places = places_of(upkeep, &bodies).await?;
            if !places.is_empty() {
                scrub = upkeep.scrub(&bodies).await?;
                places = places_of(upkeep, &bodies).await?;
            }
            (truncated, verified) = (scrub.truncated, places.is_empty());
            residual = scrub.residual;
            residual.extend(places);
        }
        let status = if truncated { ErasureStatus::Erased } else { ErasureStatus::ErasedPendingCheckpoint };
        let (event, ids, learnings) = (None, ids.to_vec(), 0);
        Ok(Erasure { status, event, ids, events, learnings, receipts, truncated, verified, residual })
    }

    /// Returns the texts that must not be found afterwards: bodies long enough to be nobody else's.
    async fn bodies(&self, ids: &[EventId]) -> Result<Vec<String>> {
        let events = self.events()?.get(ids).await?;
        let texts = events.iter().filter_map(|event| event.kept()).map(|kept| kept.content.clone());
        Ok(texts.filter(|text| text.len() >= TELLING).collect())
    }

    /// Finishes forgets that a crash interrupted; [`Builder::open`](crate::Builder) does it before anything is served.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer; call it again.
    pub async fn finish_forgets(&self) -> Result<()> {
        let Ok(upkeep) = self.upkeep() else { return Ok(()) };
        let unfinished = upkeep.unfinished_forgets().await?;
        if unfinished.is_empty() {
            return Ok(());
        }
        let named = self.named_by(&unfinished).await?;
        let mut done = true;
        if !named.is_empty() {
            let erasure = self.erase(&named).await?;
            done = erasure.truncated;
            tracing::info!(
                layer = Layer::Events.as_str(),
                events = erasure.events,
                "finished an interrupted forget"
            );
        }
        // With the write-ahead log still held, the next call goes on.
        if done { upkeep.forgets_finished(&unfinished).await } else { Ok(()) }
    }

    /// Returns the events of this space that decisions to forget name, ascending.
    async fn named_by(&self, decisions: &[EventId]) -> Result<Vec<EventId>> {
        let mut named = BTreeSet::new();
        for decision in self.known(decisions).await? {
            if let Some(EventKind::Decision(Decision::Forget(forget))) =
                decision.kept().map(|kept| &kept.kind)
            {
                named.extend(forget.events.iter().copied());
            }
        }
        let named: Vec<_> = named.into_iter().collect();
        Ok(self.known(&named).await?.into_iter().map(|event| event.id).collect())
    }

    /// Returns those of some events that this space has.
    async fn known(&self, ids: &[EventId]) -> Result<Vec<Event>> {
        let events = self.events()?;
        match events.get(ids).await {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            answer => return answer,
        }
        let mut known = Vec::new();
        for id in ids {
            match events.get(&[*id]).await {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                found => known.extend(found?),
            }
        }
        Ok(known)
    }
}
