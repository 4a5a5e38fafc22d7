//! What was said just now in other conversations, and where they stand, offered to the context.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{
    AgentId, Because, ContextRequest, ContextSource, Degraded, ErrorKind, Event, EventFilter, EventId,
    EventStore, Fragment, Importance, Label, Layer, Level, NewEvent, Producer, RecordRef, Result, Role,
    Score, Section, Seq, SessionId, Source, Span, Trust, UserId, Within,
};

/// Turns that are offered. Source: BA-36; twenty hold no more of the evidence (ADR 139).
pub const RECENT_TURNS: usize = 10;
/// Conversations that are looked at when the newest turns are all of the asking one. Source: own choice.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not zero");
/// How many times as many turns as are offered are looked at before conversations are. Source: own choice; the asking one has
/// said some of the newest.
const LOOKED_AT: usize = 4;
/// What the sentence about a conversation is made by.
const STATE: &str = "events/state";

/// Offers the newest turns of other conversations, newest first, and one sentence on where the latest one stands.
///
/// Turns of the asking conversation are never offered: they stand in its window already.
/// Lines carry their time, so that they can be rendered oldest first after the newest were picked.
#[derive(Clone, Debug)]
pub struct RecentSource {
    store: Arc<dyn EventStore>,
    most: usize,
    found: Arc<Mutex<Option<Found>>>,
}

/// What others said before a conversation filled the end of the log. To find that takes a look at every conversation, and a
/// conversation that goes on for long asks again with each of its turns.
#[derive(Clone, Debug)]
struct Found {
    /// For whom.
    of: Asker,
    /// Up to which event.
    up_to: Seq,
    /// Which turns, newest first.
    turns: Vec<EventId>,
}

impl RecentSource {
    /// Reads from a log; offers up to [`RECENT_TURNS`].
    pub fn new(store: Arc<dyn EventStore>) -> Self {
        Self { store, most: RECENT_TURNS, found: Arc::default() }
    }

    /// Sets how many turns are offered.
    #[must_use]
    pub fn with_most(mut self, most: usize) -> Self {
        self.most = most;
        self
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
                let before = match self.known(request, &filter, oldest).await? {
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

    /// Returns the turns of others that were found before, as far as they are still there; `None` where that is not known up to
    /// the events that were looked at now.
    async fn known(
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
        let found = request.as_of.is_present().then(|| Found { of: asker(request), up_to, turns });
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// The way round a conversation that fills the end of the log.
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

/// The conversation that asks, and whose turns it is told.
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
        let wants = |section| request.sections.only().is_none_or(|sections| sections.contains(&section));
        let (recent, state) = (wants(Section::Recent), wants(Section::State));
        if !recent && !state {
            return Ok(Degraded::whole(Vec::new()));
        }
        let turns = self.turns(request).await?;
        let mut fragments = Vec::with_capacity(turns.len() + 1);
        if recent {
            fragments.extend(turns.iter().filter_map(turn));
        }
        if state {
            fragments.extend(turns.iter().find_map(standing));
        }
        Ok(Degraded::whole(fragments))
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
        let other = event.kept().is_some_and(|kept| kept.session != request.session);
        other && event.recorded_at <= request.as_of.belief
    });
}

fn turn(event: &Event) -> Option<Fragment> {
    let kept = event.kept().filter(|kept| !kept.content.trim().is_empty())?;
    let because = Because::Recent;
    fragment(event, kept, Said { section: Section::Recent, text: kept.content.clone(), because })
}

/// Says where the conversation of an event stands; a conclusion, so its trust is at most that of one.
fn standing(event: &Event) -> Option<Fragment> {
    let kept = event.kept()?;
    let text = format!("last activity before this conversation: {} on {}", kept.session, kept.channel);
    let mut fragment =
        fragment(event, kept, Said { section: Section::State, text, because: Because::Section })?;
    fragment.trust = event.trust.min(Trust::Inferred);
    fragment.label.level = event.level.min(Level::Agent);
    fragment.label.speaker = None;
    fragment.producer = Some(Producer { id: STATE.to_owned(), version: 1 });
    Some(fragment)
}

struct Said {
    section: Section,
    text: String,
    because: Because,
}

fn fragment(event: &Event, kept: &NewEvent, said: Said) -> Option<Fragment> {
    Some(Fragment {
        section: said.section,
        record: RecordRef::Event(event.id),
        producer: None,
        sources: vec![Source { event: event.id, span: Span::whole(&kept.content).ok()? }],
        text: said.text,
        label: Label {
            level: event.level,
            at: kept.occurred_at,
            zone: kept.zone.clone(),
            speaker: kept.speaker.clone(),
            space: None,
        },
        trust: event.trust,
        importance: Importance::DEFAULT,
        score: Score::default(),
        parts: Vec::new(),
        because: said.because,
        withheld: None,
    })
}
