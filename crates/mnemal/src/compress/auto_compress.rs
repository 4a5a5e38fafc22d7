//! Automatic compression: sessions are compressed when a trigger applies, without a call of the host.

use std::num::NonZeroUsize;

use mnemal_core::{
    AgentId, Cursor, Event, EventFilter, Level, Result, Role, Scope, Seq, SessionId, SpaceId, UserId, Within,
};

use super::Draft;
use crate::engine::Engine;

/// Newest turns that are scanned for sessions. Source: own choice; fewer are logged between two scans, and older ones precede the
/// worker.
const LOOKED_AT: NonZeroUsize = NonZeroUsize::new(500).expect("500 is not zero");

/// Sessions with new turns for which no trigger has applied yet. One instance per space, kept between scans.
#[derive(Debug, Default)]
pub struct Conversations {
    /// The head of the log at the last scan.
    seen: Option<Cursor>,
    waiting: Vec<Conversation>,
}

/// One session, with the scope of its participant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Conversation {
    session: SessionId,
    user: Option<UserId>,
    agent: Option<AgentId>,
    /// Consecutive attempts that made no entry although one was due.
    fruitless: u32,
}

impl Conversation {
    fn is(&self, other: &Self) -> bool {
        (&self.session, &self.user, &self.agent) == (&other.session, &other.user, &other.agent)
    }
}

impl Conversations {
    /// Returns the number of sessions.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Adds the sessions of turns, each once, separately for each user.
    fn add(&mut self, turns: &[Event]) {
        let last = self.seen.and_then(|seen| seen.0).unwrap_or(Seq(0));
        for turn in turns.iter().filter(|turn| turn.seq > last && turn.level > Level::External) {
            let Some(kept) = turn.body() else { continue };
            let one = Conversation {
                session: kept.session.clone(),
                user: kept.user.clone(),
                agent: kept.agent.clone(),
                fruitless: 0,
            };
            if !self.waiting.iter().any(|known| known.is(&one)) {
                self.waiting.push(one);
            }
        }
    }
}

impl Engine {
    /// Compresses the sessions for which a trigger of the settings applies: enough turns are pending, half of the window is used,
    /// or the session was idle for a while. Returns the number of entries.
    ///
    /// The host calls it from time to time, as [`run_background`](Self::run_background) does; it may wait for the language model.
    /// `compress.automatic` turns it off.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer; entries that were already made remain.
    pub async fn compress_due(&self, known: &mut Conversations) -> Result<u64> {
        if !self.settings().compress.automatic {
            return Ok(0);
        }
        let Ok(events) = self.stores().events.part() else { return Ok(0) };
        let head = events.head().await?;
        if known.seen != Some(head) {
            let roles = Within::Only(vec![Role::User, Role::Assistant]);
            let turns = events.latest(&EventFilter { roles, ..EventFilter::live() }, LOOKED_AT).await?;
            known.add(&turns);
            known.seen = Some(head);
        }
        let mut entries = 0;
        let most = self.settings().compress.max_failures;
        for mut one in std::mem::take(&mut known.waiting) {
            let draft = self.draft_due(&one).await?;
            let mut is_over = draft.is_empty() && (draft.due.is_some() || draft.kept.is_empty());
            if !draft.is_empty() {
                let is_made = draft.summarized().await?.value.entry.is_some();
                one.fruitless = if is_made { 0 } else { one.fruitless + 1 };
                entries += u64::from(is_made);
                // A forgotten entry is not written again; the session waits for its next turn.
                is_over = one.fruitless > most;
            }
            if !is_over {
                known.waiting.push(one);
            }
        }
        Ok(entries)
    }

    async fn draft_due(&self, one: &Conversation) -> Result<Draft> {
        let scope = Scope {
            user: one.user.clone().map_or(Within::All, Within::Only),
            agent: one.agent.clone().map_or(Within::All, Within::Only),
            ..Scope::whole(SpaceId::new("timeline")?)
        };
        self.memory(scope).events().compress(one.session.clone()).if_due().draft().await
    }
}
