//! Context source: what the user still wants to do is in every context.

use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal::context::{ContextRequest, Fragment, InclusionReason, Section};
use mnemal::ports::{ContextSource, EventStore, async_trait};
use mnemal::types::{Degraded, Layer, Score};
use mnemal::{Event, EventFilter, Result};

#[derive(Debug)]
pub struct Todos(pub Arc<dyn EventStore>);

#[async_trait]
impl ContextSource for Todos {
    fn layer(&self) -> Layer {
        Layer::Events
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        let (user, agent) = (request.user.clone(), request.agent.clone());
        let own = EventFilter { user, agent, ..EventFilter::live() };
        let newest = self.0.latest(&own, NonZeroUsize::MIN.saturating_add(99)).await?;
        let is_todo = |event: &&Event| event.body().is_some_and(|kept| kept.content.starts_with("todo"));
        let offered = |event| {
            let fragment = Fragment::of_event(event, Section::Knowledge, InclusionReason::Pinned)?;
            // Other sources may offer the same event; the best score counts.
            Some(Fragment { score: Score::new(1.0), ..fragment })
        };
        Ok(Degraded::whole(newest.iter().filter(is_todo).filter_map(offered).collect()))
    }
}
