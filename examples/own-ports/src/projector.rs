//! Projector: folds the log into a number of your own, here how many events mention a deploy.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use mnemal::events::Cursor;
use mnemal::ports::{EventStore, Progress, Projector, async_trait};
use mnemal::types::Layer;
use mnemal::{Event, EventFilter, Result};

#[derive(Debug)]
pub struct Deploys {
    pub log: Arc<dyn EventStore>,
    /// How far it has read, and what it counted.
    pub seen: Mutex<(Cursor, u64)>,
}

#[async_trait]
impl Projector for Deploys {
    fn layer(&self) -> Layer {
        Layer::Events
    }

    async fn step(&self, limit: NonZeroUsize) -> Result<Progress> {
        let (before, count) = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let events = self.log.scan(&EventFilter::all(), before, limit).await?;
        let cursor = events.last().map_or(before, |event| Cursor(Some(event.seq)));
        let is_deploy = |event: &&Event| event.body().is_some_and(|kept| kept.content.contains("deploy"));
        let new = events.iter().filter(is_deploy).count() as u64;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = (cursor, count + new);
        let behind = cursor.behind(self.log.head().await?);
        Ok(Progress { consumed: events.len() as u64, cursor, behind })
    }

    async fn reset(&self) -> Result<()> {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = (Cursor::START, 0);
        Ok(())
    }
}
