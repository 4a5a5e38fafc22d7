//! Memory owner: the speaker whose wishes count as instructions.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::{
    ContextRequest, Event, EventFilter, EventStore, Learning, LearningKind, Level, Role, SessionId, Speaker,
    Within,
};
use mnemal_extract::speaker_voice;
use mnemal_text::fold;

/// Newest turns in which another speaker is looked for. Source: own choice; users of a shared memory alternate.
const TURNS: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not zero");

/// The owner of the memory, with the names under which the owner speaks.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    names: BTreeSet<String>,
    events: Option<Arc<dyn EventStore>>,
}

impl Owner {
    /// Sets the owner's names, in addition to no name and labels such as `user`.
    pub fn new<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().map(|name| fold(name.as_ref())).collect(), events: None }
    }

    /// Uses this log to find the speaker of a session, and whether there were other speakers.
    #[must_use]
    pub fn with_events(self, events: Arc<dyn EventStore>) -> Self {
        Self { events: Some(events), ..self }
    }

    /// Returns whose wishes are instructions for a request.
    ///
    /// In a session where another person spoke last they are that person's. If no owner is configured and only one person
    /// ever spoke, always by name, that person is the owner.
    pub(crate) async fn instruction_authors(
        &self,
        request: &ContextRequest,
        rows: &[Arc<Learning>],
    ) -> InstructionAuthors {
        let wishes = rows.iter().filter(|row| is_wish(row));
        let voices: BTreeSet<Option<String>> = wishes.map(|row| voice(row.speaker.as_ref())).collect();
        if voices.iter().all(Option::is_none) {
            return InstructionAuthors::All;
        }
        let mut own: BTreeSet<Option<String>> = self.names.iter().cloned().map(Some).collect();
        own.insert(None);
        let asker = self.latest(Within::Only(request.session.clone()), NonZeroUsize::MIN).await;
        let asker = asker.first().map(voice_of);
        let sole = voices.first().filter(|_| self.names.is_empty() && voices.len() == 1);
        match (asker, sole) {
            (Some(asker), _) if !own.contains(&asker) => InstructionAuthors::Of(BTreeSet::from([asker])),
            (_, Some(sole)) if self.is_alone(sole.as_deref()).await => {
                own.insert(sole.clone());
                InstructionAuthors::Of(own)
            }
            _ => InstructionAuthors::Of(own),
        }
    }

    /// Whether nobody else spoke recently.
    async fn is_alone(&self, sole: Option<&str>) -> bool {
        let turns = self.latest(Within::All, TURNS).await;
        self.events.is_none() || turns.iter().all(|turn| voice_of(turn).as_deref() == sole)
    }

    /// Returns the newest user turns, as far as the log answers.
    async fn latest(&self, session: Within<SessionId>, most: NonZeroUsize) -> Vec<Event> {
        let Some(events) = &self.events else { return Vec::new() };
        let filter = EventFilter { session, roles: Within::Only(vec![Role::User]), ..EventFilter::live() };
        let mut turns = events.latest(&filter, most).await.unwrap_or_default();
        turns.retain(|turn| turn.level == Level::User);
        turns
    }
}

/// The people whose wishes are instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InstructionAuthors {
    /// Everybody: no speaker has a name.
    All,
    /// These speakers; `None` for the unnamed one.
    Of(BTreeSet<Option<String>>),
}

impl InstructionAuthors {
    /// Whether a learning may count as an instruction; one that is no wish always may.
    pub(crate) fn may_order(&self, row: &Learning) -> bool {
        !is_wish(row) || self.holds(voice(row.speaker.as_ref()).as_deref())
    }

    /// Whether a speaker is among these.
    pub(crate) fn holds(&self, voice: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Of(own) => own.iter().any(|known| known.as_deref() == voice),
        }
    }
}

/// Whether a learning is a wish in a person's own words.
fn is_wish(row: &Learning) -> bool {
    row.level == Level::User && matches!(row.kind, LearningKind::Preference | LearningKind::AntiPattern)
}

/// Returns the folded speaker name; `None` for a label that means the user, or without a speaker.
pub(crate) fn voice(speaker: Option<&Speaker>) -> Option<String> {
    speaker_voice(speaker.map(Speaker::as_str))
}

fn voice_of(turn: &Event) -> Option<String> {
    voice(turn.body().and_then(|kept| kept.speaker.as_ref()))
}
