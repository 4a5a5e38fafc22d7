//! Conversations that are compressed when a trigger asks for it, without a host that does.

use std::num::NonZeroUsize;

use mnemal_core::{
    AgentId, Cursor, Event, EventFilter, Level, Result, Role, Scope, Seq, SessionId, SpaceId, UserId, Within,
};

use super::Draft;
use crate::engine::Engine;

/// Turns in which conversations are looked for, the newest. Source: own choice; more are not said between two looks, and what is
/// older was said before anybody looked.
const LOOKED_AT: NonZeroUsize = NonZeroUsize::new(500).expect("500 is not zero");

/// Conversations in which something was said and that no trigger has asked for since. One for each space, kept from look to look.
#[derive(Debug, Default)]
pub struct Conversations {
    /// The end of the log at the last look.
    seen: Option<Cursor>,
    waiting: Vec<Conversation>,
}

/// One conversation, as whoever took part in it sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Conversation {
    session: SessionId,
    user: Option<UserId>,
    agent: Option<AgentId>,
    /// How often in a row no entry was made of it, although it was due.
    fruitless: u32,
}

impl Conversation {
    fn is(&self, other: &Self) -> bool {
        (&self.session, &self.user, &self.agent) == (&other.session, &other.user, &other.agent)
    }
}

impl Conversations {
    /// How many there are.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Adds those of turns, each once. What others said in them is theirs.
    fn add(&mut self, turns: &[Event]) {
        let last = self.seen.and_then(|seen| seen.0).unwrap_or(Seq(0));
        for turn in turns.iter().filter(|turn| turn.seq > last && turn.level > Level::External) {
            let Some(kept) = turn.kept() else { continue };
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
    /// Compresses the conversations for which a trigger of the settings asks: enough turns wait, half of the window is taken, or
    /// nothing was said for a while. Returns how many entries were made.
    ///
    /// The host calls it now and then, as [`attend`](Self::attend) does; it may wait for the language model. `compress.automatic`
    /// turns it off.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer; what was compressed before stays so.
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
                // What was forgotten is not written again; it waits for the next turn.
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
        self.memory(scope).compress(one.session.clone()).if_due().draft().await
    }
}
