//! What was said just now in other conversations, and where they stand, offered to the context.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Because, ContextRequest, ContextSource, Degraded, Event, EventFilter, EventStore, Fragment, Importance,
    Label, Layer, Level, NewEvent, Producer, RecordRef, Result, Role, Score, Section, Source, Span, Trust,
    Within,
};

/// Turns that are offered. Source: RB-52, the last 20 turns.
pub const RECENT_TURNS: usize = 20;
/// Conversations that are looked at when the newest turns are all of the asking one. Source: own choice.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not zero");
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
}

impl RecentSource {
    /// Reads from a log; offers up to [`RECENT_TURNS`].
    pub fn new(store: Arc<dyn EventStore>) -> Self {
        Self { store, most: RECENT_TURNS }
    }

    /// Sets how many turns are offered.
    #[must_use]
    pub fn with_most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Returns the newest turns of other conversations, newest first.
    async fn turns(&self, request: &ContextRequest) -> Result<Vec<Event>> {
        let Some(limit) = NonZeroUsize::new(self.most.saturating_mul(2)) else { return Ok(Vec::new()) };
        let filter = filter(request);
        let mut turns = self.store.latest(&filter, limit).await?;
        let all_seen = turns.len() < limit.get();
        retain_others(&mut turns, request);
        if turns.len() < self.most && !all_seen {
            turns = self.turns_by_session(request, &filter).await?;
        }
        turns.truncate(self.most);
        Ok(turns)
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
