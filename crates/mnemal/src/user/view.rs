//! Entity and fact graphs of single users, folded from their own events and cached in memory.

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

/// Number of cached user graphs; others are folded again on use. Source: own choice, a household or a small team.
const KEPT: usize = 16;
/// Events per step. Source: own choice; the time limit is checked between steps.
const STEP: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not zero");
/// Decisions per page of a scan for forgets. Source: own default, the largest batch of one append (1,000 events).
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

/// The graphs of single users of one space.
///
/// The rows of a space are made of all users' events: merges, ended facts, display names. They cannot be split by user, so the
/// graph of a user is folded from that user's events, by the same rules.
pub(crate) struct UserGraphs {
    events: Arc<dyn EventStore>,
    extractor: Arc<dyn Extractor>,
    owner: Vec<String>,
    clock: Arc<dyn Clock>,
    /// In order of use, most recent last.
    kept: Mutex<Vec<(UserId, Arc<UserRows>)>>,
}

impl fmt::Debug for UserGraphs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("UserGraphs")
    }
}

/// The rows of one user.
struct UserRows {
    log: Arc<UserLog>,
    rows: Arc<MemoryStore>,
    projector: GraphProjector,
    /// Position up to which forgets were looked for; locked while the graph is folded.
    looked: tokio::sync::Mutex<Cursor>,
}

/// The graph of a user, the user's log, and the remaining lag.
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

    /// Returns the graph of a user, folded for a limited time; the remaining lag is a gap.
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

    /// Returns the cached view of a user, or a new one; also a new one in place of `stale`.
    fn view(&self, user: &UserId, head: Cursor, stale: Option<&Arc<UserRows>>) -> Arc<UserRows> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(of, _)| of == user).map(|place| kept.remove(place).1);
        let known = known.filter(|view| stale.is_none_or(|stale| !Arc::ptr_eq(view, stale)));
        let view = known.unwrap_or_else(|| Arc::new(self.fresh(user, head)));
        kept.push((user.clone(), Arc::clone(&view)));
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
        view
    }

    fn fresh(&self, user: &UserId, head: Cursor) -> UserRows {
        let log = Arc::new(UserLog::new(Arc::clone(&self.events), user.clone()));
        let rows = Arc::new(MemoryStore::new());
        let (events, graph): (Arc<dyn EventStore>, Arc<dyn GraphStore>) =
            (Arc::<UserLog>::clone(&log), Arc::<MemoryStore>::clone(&rows));
        let projector = GraphProjector::new(events, graph, Arc::clone(&self.extractor)).of_owner(&self.owner);
        UserRows { log, rows, projector, looked: tokio::sync::Mutex::new(head) }
    }

    /// Whether the log contains a forget between two positions; a view that read it must be discarded.
    async fn has_forgotten(&self, mut after: Cursor, head: Cursor) -> Result<bool> {
        let decisions = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::all() };
        while after < head {
            let page = self.events.scan(&decisions, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            let forgets = |kind: &EventKind| matches!(kind, EventKind::Decision(Decision::Forget(_)));
            if page.iter().filter_map(|event| event.body()).any(|kept| forgets(&kept.kind)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Offers facts for a context: those of the space, or of the user's graph in a memory of one user.
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
