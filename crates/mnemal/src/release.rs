//! Release of a quarantined event by the user, and its undo.

use mnemal_core::{Decision, Degraded, ErrorKind, EventId, EventKind, Forget, Origin, Result, Selector};
use mnemal_events::ReleaseOutcome;

use crate::areas::EventsHandle;
use crate::audit::{AuditAct, AuditRecord};
use crate::memory::Memory;
use crate::message::Message;

impl Memory {
    /// Erases the copy of a release, if the decision is one; the event stays quarantined, and can be released again.
    pub(crate) async fn hold_back(&self, decision: EventId) -> Result<()> {
        let event = match self.events().get(decision).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            event => event?,
        };
        let Some(EventKind::Decision(Decision::Release { copy, .. })) = event.body().map(|kept| &kept.kind)
        else {
            return Ok(());
        };
        // Finish interrupted forgets first, because this one may include their decisions.
        self.engine.finish_forgets().await?;
        let ids = match self.engine.log()?.closure_of_copy(*copy).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            ids => ids?,
        };
        let forget = Forget { selector: Selector::Events(Vec::new()), events: ids.clone() };
        let forget = EventKind::Decision(Decision::Forget(forget));
        let ack = self.log(Message::of(forget, Origin::UserDirect, "")).await?;
        if self.engine.erase(&ids).await?.truncated {
            self.engine.upkeep()?.forgets_finished(&[ack.id]).await?;
        }
        Ok(())
    }
}

impl EventsHandle<'_> {
    /// Releases a quarantined event, as a decision of the user. A copy is appended at its own level, so an agent's text stays an
    /// agent's and a document's stays evidence; the event itself stays quarantined. The copy is recalled and extracted like any
    /// other event of its level. Undoing the decision quarantines the content again.
    ///
    /// # Errors
    /// `NotFound` for an event that is unknown or erased, `Invalid` for one that is not quarantined; as [`log`](crate::Memory::log).
    pub async fn release(self, event: EventId) -> Result<Degraded<ReleaseOutcome>> {
        let decided = |decision| {
            Message::of(EventKind::Decision(decision), Origin::UserDirect, "")
                .into_event(&self.memory.defaults())
        };
        if self.memory.only_user().is_some() {
            let _own = self.get(event).await?;
        }
        let mut released = self.memory.event_log()?.release(event, decided).await?;
        if released.created {
            let act = AuditRecord::new(AuditAct::Release, Origin::UserDirect).space(&self.memory.scope.space);
            self.memory.engine.audit(&act.id(released.decision))?;
            released.gaps.extend(self.memory.engine.fold().await);
        }
        Ok(released)
    }
}
