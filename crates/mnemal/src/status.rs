//! Counts of a space, health of its layers, and lag.

use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError};

use mnemal_core::{
    Cursor, ErrorKind, EventFilter, EventStore, Gap, GapCause, Health, HealthReport, Integrity, Layer,
    LearningFilter, Result, Role, Slot, Status, UserId, Within,
};

use mnemal_extract::{Tier, language};
use mnemal_graph::GraphProjector;

use crate::builder::StorageSwitch;
use crate::engine::Engine;

/// Lag of a layer from which an answer reports it. Source: nanobot v2, one extraction batch.
pub(crate) const STALE_EVENTS: u64 = 20;

/// Number of newest turns whose languages are reported. Source: own choice.
const HEARD: NonZeroUsize = NonZeroUsize::new(200).expect("200 is not zero");

/// Quarantined events up to a position of the log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeldBackCount {
    through: Cursor,
    events: u64,
}

/// A language of recent turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentLanguage {
    /// Its two-letter code.
    pub code: &'static str,
    /// The level of support for it.
    pub tier: Tier,
    /// Number of turns in it, among the newest 200 turns of people.
    pub turns: u64,
}

/// Counts of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Head of the log: counts all events ever appended, erased ones included.
    pub head: Cursor,
    /// Sessions with live events, up to 1,000.
    pub sessions: u64,
    /// Valid notes.
    pub notes: u64,
    /// Quarantined events, up to 1,000.
    pub quarantined: u64,
    /// Erased events.
    pub erased: u64,
}

impl Stats {
    /// Whether nothing was ever stored, or everything was erased and nothing is valid.
    pub fn is_empty(&self) -> bool {
        self.notes == 0 && self.sessions == 0
    }
}

impl Engine {
    /// Returns counts; all zero in a disabled memory.
    ///
    /// # Errors
    /// `Unavailable` when the log does not answer.
    pub async fn stats(&self) -> Result<Stats> {
        if self.parts().switch == StorageSwitch::Off {
            return Ok(Stats::default());
        }
        self.stats_of(self.events()?, &LearningFilter::all()).await
    }

    /// Returns counts of the events of a log, and of the notes that pass a filter.
    pub(crate) async fn stats_of(&self, events: &dyn EventStore, of: &LearningFilter) -> Result<Stats> {
        let limit = crate::engine::MANY;
        let notes = match self.notes(of).await {
            Ok(notes) => notes.len() as u64,
            // The health of the layer reports that they cannot be read.
            Err(error) if error.kind() != ErrorKind::Unavailable => 0,
            Err(error) => return Err(error),
        };
        Ok(Stats {
            head: events.head().await?,
            sessions: events.count_sessions(limit).await?,
            notes,
            quarantined: self.held_back(events, &of.user).await?.min(limit.get() as u64),
            erased: events.tombstones().await?.len() as u64,
        })
    }

    /// Counts the quarantined events of a log. Such an event stays one, so the whole log is read once, and only what is new
    /// from then on; the log of one user is read each time.
    async fn held_back(&self, events: &dyn EventStore, of: &Within<UserId>) -> Result<u64> {
        let known = match of {
            Within::All => *self.parts().held_back.lock().unwrap_or_else(PoisonError::into_inner),
            Within::Only(_) => HeldBackCount::default(),
        };
        let head = events.head().await?;
        let mut count = if known.through > head { HeldBackCount::default() } else { known };
        if count.through < head {
            count.events += events.count_quarantined(count.through, head).await?;
            count.through = head;
        }
        if *of == Within::All {
            *self.parts().held_back.lock().unwrap_or_else(PoisonError::into_inner) = count;
        }
        Ok(count.events)
    }

    /// Returns the health of every layer of this build, after a check of its rows: a layer with lost or unreadable rows is
    /// degraded. Costs a count of the rows of the graph and the summaries, and a scan of the learnings.
    ///
    /// # Errors
    /// None: a layer that does not answer is `Down`.
    pub async fn examine(&self) -> Result<HealthReport> {
        let mut report = self.health().await?;
        let damaged = match self.upkeep() {
            Ok(upkeep) => {
                upkeep.look_over().await.unwrap_or_else(|error| vec![(Layer::Events, error.kind())])
            }
            Err(_) => Vec::new(),
        };
        for (layer, kind) in damaged {
            for part in report.parts.iter_mut().filter(|part| part.layer == layer && part.cause.is_none()) {
                (part.status, part.cause) = (Status::Degraded, Some(GapCause::Failed(kind)));
            }
        }
        Ok(report)
    }

    /// Returns the health of every layer of this build.
    ///
    /// # Errors
    /// None: a layer that does not answer is `Down`.
    pub async fn health(&self) -> Result<HealthReport> {
        let head = match self.events() {
            Ok(events) => events.head().await.map_err(GapCause::from),
            Err(_) => Err(GapCause::NotConfigured),
        };
        let at = head.unwrap_or(Cursor::START);
        let index = match self.guarded().index.part() {
            Ok(index) => index.mark().await.map(|mark| mark.head).map_err(GapCause::from),
            Err(cause) => Err(cause),
        };
        let notes = match self.guarded().learnings.part() {
            Ok(notes) => match notes.cursor().await {
                Ok(cursor) => self.folded(cursor, at).await.map_err(GapCause::from),
                Err(error) => Err(error.into()),
            },
            Err(cause) => Err(cause),
        };
        let graph = match self.guarded().graph.part() {
            Ok(graph) => graph.cursor().await.map_err(GapCause::from),
            Err(cause) => Err(cause),
        };
        let summaries = match self.guarded().summaries.part() {
            Ok(summaries) => summaries.cursor().await.map_err(GapCause::from),
            Err(cause) => Err(cause),
        };
        let slot = |filled: bool| if filled { Ok(at) } else { Err(GapCause::NotConfigured) };
        let parts = [
            (Layer::Events, head),
            (Layer::Learnings, notes),
            (Layer::Lexical, index),
            (Layer::Vector, slot(self.guarded().embedder.is_filled())),
            (Layer::Receipts, slot(self.guarded().receipts.is_filled())),
            (Layer::Graph, graph),
            (Layer::Summaries, summaries),
            (Layer::Working, slot(self.guarded().working.is_filled())),
        ];
        let mut parts: Vec<Health> =
            parts.into_iter().map(|(layer, cursor)| self.state(layer, cursor, at)).collect();
        // Layers of a damaged file that answer are read-only.
        let damage = self.damage();
        for part in parts.iter_mut().filter(|part| part.layer == Layer::Events && part.cause.is_none()) {
            if let Some(gap) = &damage {
                (part.status, part.cause) = (Status::Degraded, Some(gap.cause));
            }
        }
        Ok(HealthReport { parts })
    }

    /// Returns the gap of a file that is known to be damaged, and is read-only.
    pub(crate) fn damage(&self) -> Option<Gap> {
        #[cfg(feature = "sqlite")]
        if self.parts().file.as_ref().is_some_and(|file| file.damage().is_some()) {
            return Some(Gap { layer: Layer::Events, cause: GapCause::Failed(ErrorKind::Corrupt) });
        }
        None
    }

    /// Returns the bytes of each layer in the file, the largest first; `None` for what belongs to no layer. Reads every page.
    ///
    /// # Errors
    /// `Unsupported` without a file of its own, `Unavailable` when it cannot be read.
    pub async fn layer_bytes(&self) -> Result<Vec<(Option<Layer>, u64)>> {
        #[cfg(feature = "sqlite")]
        if let Some(file) = &self.parts().file {
            return file.layer_bytes().await;
        }
        Err(mnemal_core::Error::new(ErrorKind::Unsupported, "only a file tells the size of its layers"))
    }

    /// Returns the names of tables that were missing and were recreated since this engine was opened, ascending; each is returned
    /// once. Their rows are rebuilt from the log, except for receipts, working memory and cached model answers.
    pub fn take_rebuilt_tables(&self) -> Vec<&'static str> {
        #[cfg(feature = "sqlite")]
        if let Some(file) = &self.parts().file {
            return file.take_rebuilt_tables();
        }
        Vec::new()
    }

    fn state(&self, layer: Layer, cursor: Result<Cursor, GapCause>, head: Cursor) -> Health {
        let (behind, cause) = match cursor {
            Ok(cursor) => (cursor.behind(head), None),
            Err(cause) => (0, Some(cause)),
        };
        let cause = cause.or_else(|| (behind > STALE_EVENTS).then_some(GapCause::Stale { behind }));
        let status = match cause {
            None => Status::Ok,
            Some(GapCause::Failed(_)) if layer == Layer::Events => Status::Down,
            Some(_) => Status::Degraded,
        };
        Health { layer, status, cause, behind, at: self.now() }
    }

    /// Returns the gaps of layers that lag too far behind the log; `index` is the position that the answer's index covered, if it
    /// is known.
    pub(crate) async fn staleness(&self, index: Option<Cursor>) -> Vec<Gap> {
        let Ok(events) = self.guarded().events.part() else { return Vec::new() };
        let Ok(head) = events.head().await else { return Vec::new() };
        let index = match (index, self.guarded().index.part()) {
            (None, Ok(index)) => index.mark().await.ok().map(|mark| mark.head),
            (index, _) => index,
        };
        let mut gaps = self.stale_notes(head).await;
        gaps.extend(self.damage());
        gaps.extend(stale(Layer::Lexical, index, head));
        gaps
    }

    /// Returns the gap of notes that lag too far behind `head`.
    pub(crate) async fn stale_notes(&self, head: Cursor) -> Vec<Gap> {
        let cursor = match self.guarded().learnings.part() {
            Ok(notes) => notes.cursor().await.ok(),
            Err(_) => None,
        };
        self.stale_notes_at(cursor, head).await.into_iter().collect()
    }

    /// As above, when the position of the fold is known.
    pub(crate) async fn stale_notes_at(&self, cursor: Option<Cursor>, head: Cursor) -> Option<Gap> {
        let notes = self.folded(cursor?, head).await.ok();
        stale(Layer::Learnings, notes, head)
    }

    /// Folds the graph if it lags by so little that no gap would tell it, as after a message that the same process just logged.
    /// Returns the position up to which the log is folded, if it is known, and the gaps of what failed and of rows that lack.
    pub(crate) async fn fold_graph_soon(&self, head: Cursor) -> (Option<Cursor>, Vec<Gap>) {
        let Ok(graph) = self.guarded().graph.part() else { return (None, Vec::new()) };
        let Ok(cursor) = graph.cursor().await else { return (None, Vec::new()) };
        let Slot::Filled(projector) = &self.parts().graph_projector else {
            return (Some(cursor), Vec::new());
        };
        let budget = self.settings().recall.catch_up();
        let is_near = (1..=STALE_EVENTS).contains(&cursor.behind(head));
        let mut gaps = if is_near {
            self.stepped(Arc::<GraphProjector>::clone(projector), budget).await
        } else {
            Vec::new()
        };
        // What is left of so small a lag is no gap.
        gaps.retain(|gap| !matches!(gap.cause, GapCause::Stale { .. }));
        gaps.extend(Box::pin(self.regained_rows(projector, budget)).await);
        let cursor = if is_near { graph.cursor().await.ok() } else { Some(cursor) };
        (cursor, gaps)
    }

    /// Returns the gap of a graph that lags too far behind `head`.
    pub(crate) async fn stale_graph(&self, head: Cursor) -> Option<Gap> {
        let graph = self.guarded().graph.part().ok()?;
        stale(Layer::Graph, graph.cursor().await.ok(), head)
    }

    /// Returns the position up to which the notes are current: that of their cursor, or `head` if no decision is pending after
    /// the cursor, because only decisions change notes; the user's statements are folded before they are read. Scans the log only
    /// when the lag is large.
    async fn folded(&self, cursor: Cursor, head: Cursor) -> Result<Cursor> {
        if cursor.behind(head) <= STALE_EVENTS {
            return Ok(cursor);
        }
        let events = self.guarded().events.part().map_err(|_| crate::engine::missing("a log"))?;
        let decisions = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::all() };
        let waiting = events.scan(&decisions, cursor, NonZeroUsize::MIN).await?;
        Ok(if waiting.is_empty() { cursor.max(head) } else { cursor })
    }

    /// Reads everything, and checks it against its checksums and for consistency.
    ///
    /// # Errors
    /// `Unsupported` without a store, `Unavailable` when it does not answer; damage is a finding in the result.
    pub async fn check(&self) -> Result<Integrity> {
        self.upkeep()?.check().await
    }

    /// Returns the places where the bytes of the space contain a text, one sentence each.
    ///
    /// # Errors
    /// `Unsupported` without a store, `Unavailable` when a file cannot be read.
    pub async fn search_bytes(&self, text: &str) -> Result<Vec<String>> {
        let found = self.upkeep()?.search_bytes(&[text.to_owned()]).await?;
        Ok(found.into_iter().map(|remnant| remnant.place).collect())
    }
}

/// Returns the gap of a layer with too large a lag.
pub(crate) fn stale(layer: Layer, cursor: Option<Cursor>, head: Cursor) -> Option<Gap> {
    let behind = cursor?.behind(head);
    (behind > STALE_EVENTS).then_some(Gap { layer, cause: GapCause::Stale { behind } })
}

/// Returns the languages of the newest turns of people, most frequent first.
pub(crate) async fn recent_languages(events: &dyn EventStore) -> Result<Vec<RecentLanguage>> {
    let people = EventFilter { roles: Within::Only(vec![Role::User]), ..EventFilter::live() };
    let mut languages: Vec<RecentLanguage> = Vec::new();
    for event in events.latest(&people, HEARD).await? {
        let Some(said) = event.body() else { continue };
        let code = language(&said.content);
        match languages.iter_mut().find(|known| known.code == code) {
            Some(known) => known.turns += 1,
            None => languages.push(RecentLanguage { code, tier: Tier::of(code), turns: 1 }),
        }
    }
    languages.sort_by_key(|known| (std::cmp::Reverse(known.turns), known.code));
    Ok(languages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Memory, Message};

    #[tokio::test]
    async fn notes_are_not_behind_a_log_without_decisions() {
        let memory = Memory::in_memory().await.unwrap();
        for number in 0..STALE_EVENTS * 2 {
            assert!(!memory.log(Message::user(format!("turn {number}"))).await.unwrap().value.duplicate);
        }
        assert_eq!(memory.admin().engine().staleness(None).await, []);
        let health = memory.admin().engine().health().await.unwrap();
        let parts = health.parts.iter().filter(|part| !matches!(part.layer, Layer::Graph | Layer::Summaries));
        assert!(parts.clone().all(|part| part.behind == 0), "{health:?}");
    }
}
