//! Ingest quota per conversation and hour for events below level user; the excess is quarantined.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use mnemal_core::{
    AgentId, ChannelId, Cursor, Decision, Event, EventFilter, EventKind, EventStore, Level, NewEvent, Result,
    RuleId, SessionId, Timestamp, UserId, Within,
};

use super::pipeline::Draft;
use super::{Ack, EventLog, SkipReason};

/// The rule that quarantines events over the quota.
pub const BURST: &str = "burst";

/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;
/// Cached sessions. Source: own choice; one host talks in a handful of sessions at a time.
const KEPT: usize = 16;
/// Newest events of a session that are read first, and the maximum within the hour. Source: own choice; items beyond a thousand
/// others of the same hour are not counted.
const NEWEST: [NonZeroUsize; 2] =
    [NonZeroUsize::new(64).expect("64 is not zero"), NonZeroUsize::new(1_000).expect("1,000 is not zero")];
/// Events per read on the way to the newest.
const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("500 is not zero");

/// Most items that a conversation stores in an hour before further ones are quarantined; 0 for no limit.
///
/// Items are notes, observations and file texts; turns, tool calls and tool results are not counted. Each user, each agent and
/// each channel of a conversation has its own quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HourlyLimits {
    /// Of level agent.
    pub agent: usize,
    /// Of level external.
    pub external: usize,
}

impl Default for HourlyLimits {
    /// Source: own choice.
    fn default() -> Self {
        Self { agent: 60, external: 200 }
    }
}

impl HourlyLimits {
    /// Returns the limit of a level; `None` for no limit.
    fn of(self, level: Level) -> Option<usize> {
        let most = match level {
            Level::User => 0,
            Level::Agent => self.agent,
            Level::External => self.external,
        };
        (most > 0).then_some(most)
    }
}

/// An item stored by a conversation.
#[derive(Clone, Debug)]
struct Item {
    at: Timestamp,
    level: Level,
    channel: ChannelId,
    user: Option<UserId>,
    agent: Option<AgentId>,
}

impl Item {
    fn new(event: &NewEvent, at: Timestamp) -> Self {
        let (user, agent) = (event.user.clone(), event.agent.clone());
        Self { at, level: event.origin.level(), channel: event.channel.clone(), user, agent }
    }

    /// Returns the item of a stored event; a quarantined one does not count.
    fn of(event: &Event) -> Option<Self> {
        let kept = event.body().filter(|kept| event.quarantined.is_none() && is_item(kept))?;
        Some(Self::new(kept, event.recorded_at))
    }

    fn counts_with(&self, other: &Self) -> bool {
        let same_people = self.user == other.user && self.agent == other.agent;
        self.level == other.level && self.channel == other.channel && same_people
    }
}

/// Whether an event is stored on its own, and is not part of a conversation.
fn is_item(event: &NewEvent) -> bool {
    matches!(
        event.kind,
        EventKind::Decision(Decision::Remember(_)) | EventKind::Observation | EventKind::Document
    )
}

/// Items stored within the last hour, by session, newest session first.
#[derive(Debug, Default)]
pub(super) struct IngestQuota(Mutex<VecDeque<SessionItems>>);

#[derive(Clone, Debug)]
struct SessionItems {
    session: SessionId,
    upto: Cursor,
    /// Those of the last hour.
    items: Vec<Item>,
}

impl IngestQuota {
    /// Returns the items that a session stored within the hour before `now`; reads only what is new since the last call.
    async fn items(&self, store: &dyn EventStore, session: &SessionId, now: Timestamp) -> Result<Vec<Item>> {
        let since = now.plus_micros(-HOUR);
        let filter = EventFilter {
            session: Within::Only(session.clone()),
            erased: Within::Only(false),
            ..EventFilter::all()
        };
        let mut counted = match self.cached(session) {
            Some(mut known) => {
                known.catch_up(store, &filter).await?;
                known
            }
            None => SessionItems::newest(store, (session, &filter), since).await?,
        };
        counted.items.retain(|item| item.at > since);
        let items = counted.items.clone();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.session != *session);
        all.push_front(counted);
        all.truncate(KEPT);
        Ok(items)
    }

    fn cached(&self, session: &SessionId) -> Option<SessionItems> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|known| known.session == *session).cloned()
    }
}

impl SessionItems {
    async fn newest(
        store: &dyn EventStore,
        (session, filter): (&SessionId, &EventFilter),
        since: Timestamp,
    ) -> Result<Self> {
        let mut events = Vec::new();
        for most in NEWEST {
            events = store.latest(filter, most).await?;
            if events.len() < most.get() || events.last().is_some_and(|oldest| oldest.recorded_at <= since) {
                break;
            }
        }
        let upto = Cursor(events.first().map(|newest| newest.seq));
        Ok(Self { session: session.clone(), upto, items: events.iter().filter_map(Item::of).collect() })
    }

    async fn catch_up(&mut self, store: &dyn EventStore, filter: &EventFilter) -> Result<()> {
        loop {
            let events = store.scan(filter, self.upto, PAGE).await?;
            self.items.extend(events.iter().filter_map(Item::of));
            self.upto = events.last().map_or(self.upto, |newest| Cursor(Some(newest.seq)));
            if events.len() < PAGE.get() {
                return Ok(());
            }
        }
    }
}

impl EventLog {
    /// Quarantines the items of a batch that exceed the hourly quota. Concurrent processes do not see each other's newest
    /// items.
    pub(super) async fn quarantine_bursts(&self, drafts: &mut [Result<Draft, SkipReason>]) -> Result<()> {
        if !self.is_limited {
            return Ok(());
        }
        let now = self.parts.clock.now();
        let mut counted: HashMap<SessionId, Vec<Item>> = HashMap::new();
        for draft in drafts.iter_mut().flatten() {
            let Draft { event, finding } = draft;
            let Some(most) = self.parts.settings.hourly.of(event.origin.level()) else { continue };
            if finding.quarantined.is_some() || !is_item(event) {
                continue;
            }
            let items = match counted.entry(event.session.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(room) => {
                    room.insert(self.quota.items(self.parts.store.as_ref(), &event.session, now).await?)
                }
            };
            let item = Item::new(event, now);
            if items.iter().filter(|earlier| earlier.counts_with(&item)).count() < most {
                items.push(item);
            } else {
                finding.quarantined = Some(RuleId::new(BURST)?);
            }
        }
        Ok(())
    }

    /// Reports for retries what was stored the first time, independent of the current quota.
    pub(super) async fn report_as_stored(&self, acks: &mut [Result<Ack, SkipReason>]) -> Result<()> {
        let is_guess = |ack: &&mut Ack| {
            ack.duplicate && ack.quarantined.as_ref().is_some_and(|rule| rule.as_str() == BURST)
        };
        for ack in acks.iter_mut().flatten().filter(is_guess) {
            ack.quarantined = self.get(ack.id).await?.quarantined;
        }
        Ok(())
    }
}
