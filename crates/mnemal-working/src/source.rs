//! Working memory context source: keys, times, categories and tags, never values.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    ContextRequest, ContextSource, Degraded, Fragment, Inventory, InventoryScope, KeyPrefix, Layer, Result,
    Section, SessionId, Within, WorkingStore,
};

use crate::memory::{WorkingItem, WorkingMemory, WorkingSettings};
use crate::steady::SteadyClock;
use crate::subtree::SubtreeStore;

/// Namespace of patrols. Source: RB-30, the namespaces of RockBot.
const PATROL: &str = "patrol";
/// Namespace of subagents. Source: RB-30, the namespaces of RockBot.
const SUBAGENT: &str = "subagent";
/// Suffix of an outline's key. Source: RB-45, subagents leave outlines in such keys.
const OUTLINE: &str = "-index";

/// Provides inventories: a user session gets its own entries, those of patrols, and the outlines of subagents; a patrol or
/// a subagent gets only its own.
///
/// Only for the present: former entries are not kept.
#[derive(Clone, Debug)]
pub struct WorkingSource {
    store: Arc<dyn WorkingStore>,
    clock: Arc<SteadyClock>,
    unnamed: Option<(SessionId, KeyPrefix)>,
}

impl WorkingSource {
    /// Reads from a store with the clock that all callers of the process share.
    pub fn new(store: Arc<dyn WorkingStore>, clock: Arc<SteadyClock>) -> Self {
        Self { store, clock, unnamed: None }
    }

    /// Sets the session of a request without one, and its namespace.
    #[must_use]
    pub fn with_unnamed(mut self, session: SessionId, own: KeyPrefix) -> Self {
        self.unnamed = Some((session, own));
        self
    }

    /// Returns the store of the request's user, or the whole store without a user.
    fn store_of(&self, request: &ContextRequest) -> Arc<dyn WorkingStore> {
        let store = Arc::clone(&self.store);
        match &request.user {
            Within::All => store,
            Within::Only(user) => Arc::new(SubtreeStore::new(store, KeyPrefix::of_user(user))),
        }
    }

    fn own(&self, session: &SessionId) -> KeyPrefix {
        let unnamed = self.unnamed.as_ref().filter(|(unnamed, _)| unnamed == session);
        unnamed.map_or_else(|| KeyPrefix::of_session(session), |(_, own)| own.clone())
    }
}

#[async_trait]
impl ContextSource for WorkingSource {
    fn layer(&self) -> Layer {
        Layer::Working
    }

    async fn fragments(&self, _: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        Ok(Degraded::whole(Vec::new()))
    }

    async fn inventories(&self, request: &ContextRequest) -> Result<Vec<Inventory>> {
        let is_wanted = request.sections.only().is_none_or(|wanted| wanted.contains(&Section::State));
        if !is_wanted || !request.as_of.is_present() {
            return Ok(Vec::new());
        }
        let own = self.own(&request.session);
        let clock = Arc::clone(&self.clock);
        let working =
            WorkingMemory::new(self.store_of(request), clock, own.clone(), WorkingSettings::default());
        if is_unattended(&own) {
            let items = working.inventory(&own).await?;
            return Ok(vec![Inventory { scope: InventoryScope::Own, items: own_items(&own, items) }]);
        }
        let (patrol, subagent) = (KeyPrefix::new(PATROL)?, KeyPrefix::new(SUBAGENT)?);
        let shelves = [own.clone(), patrol.clone(), subagent.clone()];
        let all = working.items(&shelves).await?;
        let below = |prefix: &KeyPrefix| all.iter().filter(|item| prefix.holds(&item.key)).cloned().collect();
        let mut outlines: Vec<WorkingItem> = below(&subagent);
        outlines.retain(|item| item.key.as_str().ends_with(OUTLINE));
        Ok(vec![
            Inventory { scope: InventoryScope::Own, items: own_items(&own, below(&own)) },
            Inventory { scope: InventoryScope::Patrol, items: others(below(&patrol)) },
            Inventory { scope: InventoryScope::Outlines, items: others(outlines) },
        ])
    }
}

fn is_unattended(own: &KeyPrefix) -> bool {
    own.as_str().split('/').next().is_some_and(|kind| [PATROL, SUBAGENT].contains(&kind))
}

/// Names own entries by their plain names, and others by their paths.
fn own_items(own: &KeyPrefix, items: Vec<WorkingItem>) -> Vec<String> {
    let items = newest_first(items).into_iter().map(|item| {
        let path = item.key.as_str();
        let name = path.strip_prefix(own.as_str()).and_then(|rest| rest.strip_prefix('/'));
        item.description(name.filter(|name| !name.contains('/')).unwrap_or(path))
    });
    items.collect()
}

fn newest_first(mut items: Vec<WorkingItem>) -> Vec<WorkingItem> {
    items.sort_by(|a, b| b.stored_at.cmp(&a.stored_at).then_with(|| a.key.cmp(&b.key)));
    items
}

fn others(items: Vec<WorkingItem>) -> Vec<String> {
    newest_first(items).iter().map(ToString::to_string).collect()
}

impl WorkingItem {
    fn description(&self, name: &str) -> String {
        let mut text = format!("{name}, expires in {}", time_left(self.expires_in));
        if let Some(category) = &self.category {
            text.push_str(", ");
            text.push_str(category.as_str());
        }
        for tag in &self.tags {
            text.push_str(" #");
            text.push_str(tag.as_str());
        }
        text
    }
}

/// `session/cli:1/plan, expires in 4m32s, drafts #code`: key, time left, category and tags.
impl fmt::Display for WorkingItem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.description(self.key.as_str()))
    }
}

/// A duration in its two largest units: `4m32s`, `6d23h`.
fn time_left(time: Duration) -> String {
    let seconds = time.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m{}s", seconds % 60),
        (0, _, _) => format!("{hours}h{minutes}m"),
        _ => format!("{days}d{hours}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The format "expires in 4m32s".
    #[test]
    fn the_time_left_has_two_units() {
        let rows =
            [(0, "0s"), (59, "59s"), (272, "4m32s"), (3_600, "1h0m"), (90_000, "1d1h"), (604_799, "6d23h")];
        for (seconds, text) in rows {
            assert_eq!(time_left(Duration::from_secs(seconds)), text);
        }
    }
}
