//! Context source: recent turns of other conversations.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{
    AgentId, ContextRequest, ContextSource, Degraded, ErrorKind, Event, EventFilter, EventId, EventStore,
    Fragment, Importance, InclusionReason, Label, Layer, Level, RecordRef, Result, Role, Score, Section, Seq,
    SessionId, Source, Span, Speaker, UserId, Within,
};
use mnemal_extract::{foreign_remark, own_part, speaker_voice};
use mnemal_text::fold;

/// Number of turns offered. Source: the recent-events limit of an earlier design (BA-36); twenty hold no more of the evidence
/// (ADR 24).
pub const RECENT_TURNS: usize = 10;
/// Newest human turns that are searched for other speakers. Source: own choice; those who share a memory speak now and then.
const VOICES: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not zero");
/// Conversations that are searched when the newest turns are all from the asking one. Source: own choice.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not zero");
/// Multiple of the offered turns that is searched before other conversations are. Source: own choice; the asking conversation
/// has some of the newest.
const LOOKED_AT: usize = 4;

/// Offers the newest turns of other conversations, newest first.
///
/// With several speakers, a turn of anyone but the owner is external evidence and no instruction. Turns of the asking
/// conversation are never offered: they are in its window already. Lines carry their time, so that they can be rendered oldest
/// first after the newest were picked.
#[derive(Clone, Debug)]
pub struct RecentSource {
    store: Arc<dyn EventStore>,
    most: usize,
    owner: BTreeSet<String>,
    found: Arc<Mutex<Option<CachedTurns>>>,
}

/// Cached result for a conversation whose own turns fill the end of the log. Finding turns of others then requires a search of
/// every conversation, and a long conversation would repeat it with each of its turns.
#[derive(Clone, Debug)]
struct CachedTurns {
    /// The asking conversation.
    of: Asker,
    /// The last event considered.
    up_to: Seq,
    /// The turns, newest first.
    turns: Vec<EventId>,
}

impl RecentSource {
    /// Reads from a log; offers up to [`RECENT_TURNS`].
    pub fn new(store: Arc<dyn EventStore>) -> Self {
        Self { store, most: RECENT_TURNS, owner: BTreeSet::new(), found: Arc::default() }
    }

    /// Sets the number of offered turns.
    #[must_use]
    pub fn with_most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Sets the owner's names, in addition to unnamed turns and labels such as `user`.
    #[must_use]
    pub fn of_owner<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.owner = names.into_iter().map(|name| fold(name.as_ref())).collect();
        self
    }

    /// Returns the speakers among some turns that are not the owner. A single named speaker counts as the owner, unless the
    /// owner's name is set.
    async fn others(&self, turns: &[Event]) -> Result<BTreeSet<String>> {
        let named = |turns: &[Event]| -> BTreeSet<Voice> { turns.iter().filter_map(voice).collect() };
        let others = |voices: BTreeSet<Voice>| -> BTreeSet<String> {
            voices.into_iter().filter_map(|voice| voice.0).filter(|name| !self.owner.contains(name)).collect()
        };
        let found = others(named(turns));
        if found.is_empty() || !self.owner.is_empty() {
            return Ok(found);
        }
        let filter = EventFilter { roles: Within::Only(vec![Role::User]), ..EventFilter::live() };
        let lately = named(&self.store.latest(&filter, VOICES).await?);
        Ok(if lately.len() > 1 { found } else { BTreeSet::new() })
    }

    /// Returns the newest turns of other conversations, newest first.
    async fn turns(&self, request: &ContextRequest) -> Result<Vec<Event>> {
        let filter = filter(request);
        for times in [2, LOOKED_AT] {
            let Some(limit) = NonZeroUsize::new(self.most.saturating_mul(times)) else { break };
            let mut turns = self.store.latest(&filter, limit).await?;
            let is_all = turns.len() < limit.get();
            let ends = turns.first().zip(turns.last()).map(|(newest, oldest)| (newest.seq, oldest.seq));
            retain_others(&mut turns, request);
            if is_all || turns.len() >= self.most {
                turns.truncate(self.most);
                return Ok(turns);
            }
            if let Some((newest, oldest)) = ends.filter(|_| times == LOOKED_AT) {
                let before = match self.cached(request, &filter, oldest).await? {
                    Some(before) => before,
                    None => self.turns_by_session(request, &filter).await?,
                };
                turns.extend(before.into_iter().filter(|event| event.seq < oldest));
                turns.truncate(self.most);
                self.remember(request, newest, &turns);
                return Ok(turns);
            }
        }
        Ok(Vec::new())
    }

    /// Returns cached turns of others that still exist; `None` if the cache does not reach up to the events considered now.
    async fn cached(
        &self,
        request: &ContextRequest,
        filter: &EventFilter,
        oldest: Seq,
    ) -> Result<Option<Vec<Event>>> {
        if !request.as_of.is_present() {
            return Ok(None);
        }
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(found) = found.filter(|found| found.of == asker(request) && oldest <= found.up_to) else {
            return Ok(None);
        };
        let mut turns = match self.store.get(&found.turns).await {
            Ok(turns) => turns,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // One that was erased since leaves a place, which another takes.
        let is_whole = turns.iter().all(|event| filter.accepts(event));
        retain_others(&mut turns, request);
        Ok(is_whole.then_some(turns))
    }

    fn remember(&self, request: &ContextRequest, up_to: Seq, turns: &[Event]) {
        let turns = turns.iter().map(|event| event.id).collect();
        let found = request.as_of.is_present().then(|| CachedTurns { of: asker(request), up_to, turns });
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// The search across conversations, when the asking one fills the end of the log.
    async fn turns_by_session(&self, request: &ContextRequest, filter: &EventFilter) -> Result<Vec<Event>> {
        let Some(limit) = NonZeroUsize::new(self.most) else { return Ok(Vec::new()) };
        let mut turns = Vec::new();
        for summary in self.store.sessions(SESSIONS).await? {
            if summary.session != request.session {
                let filter = EventFilter { session: Within::Only(summary.session), ..filter.clone() };
                turns.extend(self.store.latest(&filter, limit).await?);
            }
        }
        retain_others(&mut turns, request);
        turns.sort_unstable_by_key(|event| std::cmp::Reverse(event.seq));
        Ok(turns)
    }
}

/// The asking conversation with its filters.
type Asker = (SessionId, Within<UserId>, Within<AgentId>);

fn asker(request: &ContextRequest) -> Asker {
    (request.session.clone(), request.user.clone(), request.agent.clone())
}

#[async_trait]
impl ContextSource for RecentSource {
    fn layer(&self) -> Layer {
        Layer::Events
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        if request.sections.only().is_some_and(|sections| !sections.contains(&Section::Recent)) {
            return Ok(Degraded::whole(Vec::new()));
        }
        let turns = self.turns(request).await?;
        let others = self.others(&turns).await?;
        let offered = |event: &Event| {
            let mut fragment = turn(event)?;
            if voice(event).and_then(|voice| voice.0).is_some_and(|name| others.contains(&name)) {
                fragment.label.level = Level::External;
            }
            Some(fragment)
        };
        Ok(Degraded::whole(turns.iter().filter_map(offered).collect()))
    }
}

fn filter(request: &ContextRequest) -> EventFilter {
    let known = request.as_of.world.min(request.as_of.belief);
    EventFilter {
        user: request.user.clone(),
        agent: request.agent.clone(),
        roles: Within::Only(vec![Role::User, Role::Assistant]),
        until: (!request.as_of.is_present()).then(|| known.plus_micros(1)),
        ..EventFilter::live()
    }
}

fn retain_others(turns: &mut Vec<Event>, request: &ContextRequest) {
    turns.retain(|event| {
        let other = event.body().is_some_and(|kept| kept.session != request.session);
        other && event.recorded_at <= request.as_of.belief
    });
}

/// A speaker of a memory; `None` inside for an unnamed one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Voice(Option<String>);

/// Returns the speaker of an event.
fn voice(event: &Event) -> Option<Voice> {
    let kept = event.body().filter(|_| event.role == Role::User && event.level == Level::User)?;
    Some(Voice(speaker_voice(kept.speaker.as_ref().map(Speaker::as_str))))
}

/// Returns a turn in its speaker's own words: pasted text is removed, and a turn without own words is `None`.
fn turn(event: &Event) -> Option<Fragment> {
    let kept = event.body().filter(|kept| !kept.content.trim().is_empty())?;
    let span = match foreign_remark(kept) {
        Some(_) => own_part(kept)?,
        None => Span::whole(&kept.content).ok()?,
    };
    Some(Fragment {
        section: Section::Recent,
        record: RecordRef::Event(event.id),
        producer: None,
        sources: vec![Source { event: event.id, span }],
        text: span.of(&kept.content)?.to_owned(),
        label: Label {
            level: event.level,
            at: kept.occurred_at,
            zone: kept.zone.clone(),
            speaker: kept.speaker.clone(),
            space: None,
            remark: None,
        },
        trust: event.trust,
        importance: Importance::DEFAULT,
        score: Score::default(),
        parts: Vec::new(),
        because: InclusionReason::Recent,
        withheld: None,
    })
}
