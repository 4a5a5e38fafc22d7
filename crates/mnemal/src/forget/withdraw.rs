//! Withdrawal of turns that a user rewound in the host: they are erased, and may be stored again.

use mnemal_core::{Decision, Error, EventId, EventKind, Forget, Level, Origin, Result, Selector};

use crate::audit::{AuditAct, AuditRecord};
use crate::engine::Engine;
use crate::memory::Memory;
use crate::message::{Defaults, Message};

impl Memory {
    /// Erases known events up to level `highest`, with everything derived from them; returns their number.
    ///
    /// No tombstones are kept, so the same text may be stored again. Idempotent, so it can be repeated after a crash at any
    /// point.
    pub(crate) async fn withdraw(&self, ids: &[EventId], highest: Level) -> Result<u64> {
        let Some((events, decision)) = self.engine.withdraw(ids, highest, &self.defaults()).await? else {
            return Ok(0);
        };
        let act =
            AuditRecord::new(AuditAct::Forget, Origin::UserDirect).space(&self.scope.space).id(decision);
        self.engine.audit(&act.count("events", events))?;
        Ok(events)
    }
}

impl Engine {
    /// As above, without an entry in the audit log; returns the number of events and the decision.
    pub(crate) async fn withdraw(
        &self,
        ids: &[EventId],
        highest: Level,
        defaults: &Defaults<'_>,
    ) -> Result<Option<(u64, EventId)>> {
        let living = self.existing_events(ids).await?.into_iter();
        let ids: Vec<EventId> = living
            .filter(|event| event.body().is_some() && event.level <= highest)
            .map(|event| event.id)
            .collect();
        if ids.is_empty() {
            return Ok(None);
        }
        let ids = self.log()?.closure(&Selector::Events(ids)).await?;
        let kept = self.events()?.get(&ids).await?;
        let tombstones = mnemal_events::bare_tombstones_for(&kept, &self.parts().key, self.now());
        let (done, _unmade) = self.erase_derived(&kept, &tombstones).await?;
        let selector = Selector::Events(Vec::new());
        let decision = Decision::Forget(Forget { selector, events: ids });
        let message = Message::of(EventKind::Decision(decision), Origin::UserDirect, "");
        let acks = self.append(vec![message.into_event(defaults)?]).await?.value;
        let decision = acks.first().ok_or_else(|| Error::internal("an append answered nothing"))?.id;
        if let Ok(upkeep) = self.upkeep() {
            upkeep.forgets_finished(&[decision]).await?;
        }
        Ok(Some((done.events, decision)))
    }
}
