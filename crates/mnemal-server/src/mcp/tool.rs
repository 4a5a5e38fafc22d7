//! The tools by name, and which of them a profile offers.

/// Which tools are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// Reading, storing and forgetting.
    #[default]
    Core,
    /// Reading only.
    Readonly,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 2] = [Self::Core, Self::Readonly];

    /// Returns the name on the command line and in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Readonly => "readonly",
        }
    }

    /// Reads the name on the command line and in settings.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == name)
    }

    /// Returns the tools that are offered, in the order in which they are listed.
    pub(super) fn tools(self) -> impl Iterator<Item = Tool> {
        Tool::ALL.into_iter().filter(move |tool| self == Self::Core || tool.is_read_only())
    }
}

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// `memory_context`.
    Context,
    /// `memory_recall`.
    Recall,
    /// `memory_store`.
    Store,
    /// `memory_forget`.
    Forget,
    /// `memory_entity`.
    Entity,
    /// `memory_relationships`.
    Relationships,
    /// `working_put`.
    WorkingPut,
    /// `working_get`.
    WorkingGet,
    /// `working_find`.
    WorkingFind,
}

impl Tool {
    /// All tools, in the order in which they are listed.
    pub(super) const ALL: [Self; 9] = [
        Self::Context,
        Self::Recall,
        Self::Store,
        Self::Forget,
        Self::Entity,
        Self::Relationships,
        Self::WorkingPut,
        Self::WorkingGet,
        Self::WorkingFind,
    ];

    /// Returns the name on the wire.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Context => "memory_context",
            Self::Recall => "memory_recall",
            Self::Store => "memory_store",
            Self::Forget => "memory_forget",
            Self::Entity => "memory_entity",
            Self::Relationships => "memory_relationships",
            Self::WorkingPut => "working_put",
            Self::WorkingGet => "working_get",
            Self::WorkingFind => "working_find",
        }
    }

    /// Returns what it takes, by the first name of each.
    pub(super) fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Context => &["query", "session", "budget_tokens"],
            Self::Recall => {
                &["query", "category", "kinds", "tags", "since", "until", "limit", "max_tokens", "explain"]
            }
            Self::Store => {
                &["content", "key", "category", "kind", "tags", "importance", "ttl_minutes", "session"]
            }
            Self::Forget => &["id", "key", "ids", "entity", "dry_run", "confirm_token"],
            Self::Entity => &["name", "id", "include", "as_of", "believed_at", "max_tokens"],
            Self::Relationships => {
                &["from", "to", "relation", "max_hops", "as_of", "believed_at", "max_tokens"]
            }
            Self::WorkingPut => &["key", "value", "ttl_minutes", "category", "tags", "session"],
            Self::WorkingGet => &["key", "session"],
            Self::WorkingFind => &["query", "prefix", "category", "tags", "session", "max_tokens"],
        }
    }

    /// Whether it changes nothing; the record of what was shown is bookkeeping.
    pub(super) fn is_read_only(self) -> bool {
        !matches!(self, Self::Store | Self::Forget | Self::WorkingPut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_that_only_reads_offers_no_tool_that_changes_something() {
        let names = |profile: Profile| profile.tools().map(Tool::name).collect::<Vec<_>>();
        assert_eq!(
            names(Profile::Readonly),
            [
                "memory_context",
                "memory_recall",
                "memory_entity",
                "memory_relationships",
                "working_get",
                "working_find",
            ]
        );
        assert_eq!(names(Profile::Core).len(), 9);
        for profile in Profile::ALL {
            assert_eq!(Profile::from_name(profile.as_str()), Some(profile));
        }
        assert_eq!(Profile::from_name("full"), None);
    }
}
