//! Release of quarantined events by the user, and its undo.

use mnemal_core::{Decision, Degraded, ErrorKind, EventId, EventKind, Forget, Origin, Result, Selector};
use mnemal_events::Released;

use crate::audit::{Audited, AuditedAct};
use crate::memory::Memory;
use crate::message::Message;

impl Memory {
    /// Logs that the user lets what a rule holds back be used. It is said again at its own level, so words of an agent stay an
    /// agent's and those of a document evidence; the event itself stays held back. From then on it is found, noted and read like
    /// anything of that level, and taking the decision back holds it back again.
    ///
    /// # Errors
    /// `NotFound` for an event that is unknown or erased, `Invalid` for one that is not held back; as [`log`](Self::log).
    pub async fn release(&self, event: EventId) -> Result<Degraded<Released>> {
        let decided = |decision| {
            Message::of(EventKind::Decision(decision), Origin::UserDirect, "").into_event(&self.defaults())
        };
        if self.only_user().is_some() {
            let _own = self.get(event).await?;
        }
        let mut released = self.event_log()?.release(event, decided).await?;
        if released.created {
            let act = Audited::new(AuditedAct::Release, Origin::UserDirect).space(&self.scope.space);
            self.engine.audit(&act.id(released.decision))?;
            released.gaps.extend(self.engine.fold().await);
        }
        Ok(released)
    }

    /// Erases what a release said again, if a decision is one; what is held back stays as it is, and can be released again.
    pub(crate) async fn hold_back(&self, decision: EventId) -> Result<()> {
        let event = match self.get(decision).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            event => event?,
        };
        let Some(EventKind::Decision(Decision::Release { copy, .. })) = event.kept().map(|kept| &kept.kind)
        else {
            return Ok(());
        };
        // One that was interrupted comes first, because this one may name its decision.
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
