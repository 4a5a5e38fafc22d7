//! Turns that their person took back before he went on: they leave nothing behind, and may be said again.

use mnemal_core::{Decision, EventId, EventKind, Forget, Level, Origin, Result, Selector};

use crate::audit::{Audited, AuditedAct};
use crate::memory::Memory;
use crate::message::Message;

impl Memory {
    /// Takes events back that are known here and stand no higher than `highest`, with all that was made of them; returns how many.
    ///
    /// They are erased like what is forgotten, but their words are not kept away: the same may be said again by anybody.
    /// Safe to repeat after a crash at any point.
    pub(crate) async fn withdraw(&self, ids: &[EventId], highest: Level) -> Result<u64> {
        let engine = &self.engine;
        let living = engine.known(ids).await?.into_iter();
        let ids: Vec<EventId> = living
            .filter(|event| event.kept().is_some() && event.level <= highest)
            .map(|event| event.id)
            .collect();
        if ids.is_empty() {
            return Ok(0);
        }
        let ids = engine.log()?.closure(&Selector::Events(ids)).await?;
        let kept = engine.events()?.get(&ids).await?;
        let tombstones = mnemal_events::bare_tombstones_for(&kept, &engine.parts().key, engine.now());
        let (done, _unmade) = engine.unmake(&kept, &tombstones).await?;
        let selector = Selector::Events(Vec::new());
        let decision = Decision::Forget(Forget { selector, events: ids });
        let ack = self.log(Message::of(EventKind::Decision(decision), Origin::UserDirect, "")).await?;
        if let Ok(upkeep) = engine.upkeep() {
            upkeep.forgets_finished(&[ack.id]).await?;
        }
        let act = Audited::new(AuditedAct::Forget, Origin::UserDirect).space(&self.scope.space).id(ack.id);
        engine.audit(&act.count("events", done.events))?;
        Ok(done.events)
    }
}
