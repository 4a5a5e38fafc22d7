//! Moments of a session at which a host calls a hook.

/// A moment of a session, whatever a host calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A session begins, or goes on after its window was emptied.
    SessionStart,
    /// A person has sent a prompt.
    UserPromptSubmit,
    /// The agent has answered.
    Stop,
    /// An agent that another one started has answered.
    SubagentStop,
    /// The window is about to be compacted.
    PreCompact,
    /// The session ends.
    SessionEnd,
}

impl Event {
    /// Whether the event injects text.
    pub(crate) fn injects(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }

    /// Returns how long a host waits by default, in seconds. Source: own choice; well above the deadlines of hooks.
    pub(super) fn patience(self) -> u32 {
        match self {
            Self::SessionStart | Self::UserPromptSubmit => 5,
            Self::Stop | Self::SubagentStop => 15,
            Self::PreCompact | Self::SessionEnd => 10,
        }
    }
}
