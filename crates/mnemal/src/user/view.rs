//! Entities and facts of one user, read in his words alone, and kept while they are asked for.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    Clock, ContextRequest, ContextSource, Cursor, Decision, Degraded, EventFilter, EventKind, EventStore,
    Extractor, Fragment, Gap, GapCause, GraphStore, Inventory, Layer, Projector as _, Result, Role, UserId,
    Within,
};
use mnemal_graph::{GraphProjector, GraphSource};
use mnemal_store::MemoryStore;

use super::log::UserLog;

/// Users whose entities and facts are kept; of others they are read again. Source: own choice, a household or a small team.
const KEPT: usize = 16;
/// Events that are read at once. Source: own choice; between two the time is looked at.
const STEP: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not zero");
/// Decisions a page when forgets are looked for. Source: own default; the size of a batch, RELIABILITY 12.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

/// The graphs of single users of one space.
///
/// The rows of a space are made of the words of all: who is one with whom, what ended when, by which name somebody is shown. They
/// cannot be cut into the parts of each. So the graph of a user is folded from his events, by the same rules.
pub(crate) struct UserGraphs {
    events: Arc<dyn EventStore>,
    extractor: Arc<dyn Extractor>,
    owner: Vec<String>,
    clock: Arc<dyn Clock>,
    /// The one that was asked for last stands last.
    kept: Mutex<Vec<(UserId, Arc<View>)>>,
}

impl fmt::Debug for UserGraphs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("UserGraphs")
    }
}

/// The rows of one user.
struct View {
    log: Arc<UserLog>,
    rows: Arc<MemoryStore>,
    projector: GraphProjector,
    /// Up to where forgets were looked for; held by whoever reads on.
    looked: tokio::sync::Mutex<Cursor>,
}

/// Entities and facts of a user, his log, and what is not read yet.
pub(crate) struct UserGraph {
    pub(crate) rows: Arc<dyn GraphStore>,
    pub(crate) log: Arc<UserLog>,
    pub(crate) gap: Option<Gap>,
}

impl UserGraphs {
    pub(crate) fn new(
        events: Arc<dyn EventStore>,
        extractor: Arc<dyn Extractor>,
        owner: &[String],
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { events, extractor, owner: owner.to_vec(), clock, kept: Mutex::default() }
    }

    /// Returns the graph of a user, read on for a while; what is left is a gap.
    ///
    /// # Errors
    /// `Unavailable` when the log does not answer.
    pub(crate) async fn of(&self, user: &UserId, within: Duration) -> Result<UserGraph> {
        let until = self.clock.monotonic() + within;
        let head = self.events.head().await?;
        let mut view = self.view(user, head, None);
        let mut looked = view.looked.lock().await;
        if self.has_forgotten(*looked, head).await? {
            let old = Arc::clone(&view);
            drop(looked);
            view = self.view(user, head, Some(&old));
            looked = view.looked.lock().await;
        }
        *looked = (*looked).max(head);
        let gap = loop {
            let progress = view.projector.step(STEP).await?;
            if progress.consumed == 0 {
                view.log.is_read_to(head);
                break None;
            }
            if self.clock.monotonic() >= until {
                let behind = progress.cursor.behind(head);
                break (behind > 0).then_some(Gap { layer: Layer::Graph, cause: GapCause::Stale { behind } });
            }
        };
        drop(looked);
        let rows: Arc<dyn GraphStore> = Arc::<MemoryStore>::clone(&view.rows);
        Ok(UserGraph { rows, log: Arc::clone(&view.log), gap })
    }

    /// Returns what is kept of a user, or a new view; a new one too in place of `stale`.
    fn view(&self, user: &UserId, head: Cursor, stale: Option<&Arc<View>>) -> Arc<View> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(of, _)| of == user).map(|place| kept.remove(place).1);
        let known = known.filter(|view| stale.is_none_or(|stale| !Arc::ptr_eq(view, stale)));
        let view = known.unwrap_or_else(|| Arc::new(self.fresh(user, head)));
        kept.push((user.clone(), Arc::clone(&view)));
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
        view
    }

    fn fresh(&self, user: &UserId, head: Cursor) -> View {
        let log = Arc::new(UserLog::new(Arc::clone(&self.events), user.clone()));
        let rows = Arc::new(MemoryStore::new());
        let (events, graph): (Arc<dyn EventStore>, Arc<dyn GraphStore>) =
            (Arc::<UserLog>::clone(&log), Arc::<MemoryStore>::clone(&rows));
        let projector = GraphProjector::new(events, graph, Arc::clone(&self.extractor)).of_owner(&self.owner);
        View { log, rows, projector, looked: tokio::sync::Mutex::new(head) }
    }

    /// Whether anything was forgotten between two places of the log: what was made of it must go.
    async fn has_forgotten(&self, mut after: Cursor, head: Cursor) -> Result<bool> {
        let decisions = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::all() };
        while after < head {
            let page = self.events.scan(&decisions, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            let forgets = |kind: &EventKind| matches!(kind, EventKind::Decision(Decision::Forget(_)));
            if page.iter().filter_map(|event| event.kept()).any(|kept| forgets(&kept.kind)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Offers facts for a context: those of the space, or where one user is meant those of his graph.
#[derive(Debug)]
pub(crate) struct UserSource {
    pub(crate) whole: GraphSource,
    pub(crate) graphs: Arc<UserGraphs>,
    pub(crate) within: Duration,
}

#[async_trait]
impl ContextSource for UserSource {
    fn layer(&self) -> Layer {
        self.whole.layer()
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        let Within::Only(user) = &request.user else { return self.whole.fragments(request).await };
        let UserGraph { rows, log, gap } = self.graphs.of(user, self.within).await?;
        let source = GraphSource::new(rows, log).with_extractor(Arc::clone(&self.graphs.extractor));
        let mut found = source.fragments(request).await?;
        found.gaps.extend(gap);
        Ok(found)
    }

    async fn inventories(&self, request: &ContextRequest) -> Result<Vec<Inventory>> {
        self.whole.inventories(request).await
    }
}
