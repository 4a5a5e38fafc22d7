//! The supported events of a client.

/// An event of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    SessionStart,
    UserPromptSubmit,
    Stop,
    SubagentStop,
    PreCompact,
    SessionEnd,
}

impl Event {
    pub(crate) const ALL: [Self; 6] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::Stop,
        Self::SubagentStop,
        Self::PreCompact,
        Self::SessionEnd,
    ];

    /// Returns the client's spelling.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::SessionEnd => "SessionEnd",
        }
    }

    /// Parses the client's spelling, or the kebab case form.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let bare = |name: &str| name.replace('-', "").to_ascii_lowercase();
        Self::ALL.into_iter().find(|event| bare(event.as_str()) == bare(name))
    }

    /// Whether the event injects text.
    pub(super) fn injects(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_in_both_spellings() {
        for event in Event::ALL {
            assert_eq!(Event::from_name(event.as_str()), Some(event));
        }
        assert_eq!(Event::from_name("user-prompt-submit"), Some(Event::UserPromptSubmit));
        assert_eq!(Event::from_name("pre-tool-use"), None);
    }
}
