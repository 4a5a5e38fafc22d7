//! The scope of a request: space, user, agent and session.

use crate::{AgentId, SessionId, SpaceId, UserId};

/// An explicit filter: all, or exactly one. There is no default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Within<T> {
    /// Everything.
    All,
    /// Only this.
    Only(T),
}

impl<T: PartialEq> Within<T> {
    /// Whether a value passes.
    pub fn contains(&self, value: &T) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => only == value,
        }
    }

    /// Whether an optional value passes; an absent value passes `All` only.
    pub fn contains_opt(&self, value: Option<&T>) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => value == Some(only),
        }
    }

    /// Returns the single value, if there is one.
    pub fn only(&self) -> Option<&T> {
        match self {
            Self::All => None,
            Self::Only(only) => Some(only),
        }
    }
}

/// Whose memory a request is about: a space, and in it everything or one user, agent or conversation.
///
/// There is no `Default`, no `Option<Scope>` and no `From<&str>`: a request without a scope does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The isolation boundary.
    pub space: SpaceId,
    /// Restricts to one user's records.
    pub user: Within<UserId>,
    /// Restricts to one agent's records.
    pub agent: Within<AgentId>,
    /// Restricts to one conversation.
    pub session: Within<SessionId>,
}

impl Scope {
    /// Returns the scope of a whole space.
    pub fn whole(space: SpaceId) -> Self {
        Self { space, user: Within::All, agent: Within::All, session: Within::All }
    }
}
