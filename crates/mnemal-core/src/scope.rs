//! Whose memory a request means.

use crate::{AgentId, SessionId, SpaceId, UserId};

/// Everything, said aloud; or one. There is no default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Within<T> {
    /// Everything.
    All,
    /// Only this.
    Only(T),
}

impl<T: PartialEq> Within<T> {
    /// Whether a value lies within.
    pub fn contains(&self, value: &T) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => only == value,
        }
    }

    /// Whether an optional value lies within; an absent value lies within everything only.
    pub fn contains_opt(&self, value: Option<&T>) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => value == Some(only),
        }
    }

    /// Returns the one, if it is one.
    pub fn only(&self) -> Option<&T> {
        match self {
            Self::All => None,
            Self::Only(only) => Some(only),
        }
    }
}

/// Whose memory a request means.
///
/// There is no `Default`, no `Option<Scope>` and no `From<&str>`: a request without a scope does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The isolation boundary.
    pub space: SpaceId,
    /// Narrows to one person's records.
    pub user: Within<UserId>,
    /// Narrows to one agent's records.
    pub agent: Within<AgentId>,
    /// Narrows to one conversation.
    pub session: Within<SessionId>,
}

impl Scope {
    /// Returns everything in a space.
    pub fn whole(space: SpaceId) -> Self {
        Self { space, user: Within::All, agent: Within::All, session: Within::All }
    }
}
