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
    /// The tools of other memories by their own names.
    Compat,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 3] = [Self::Core, Self::Readonly, Self::Compat];

    /// Returns the name on the command line and in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Readonly => "readonly",
            Self::Compat => "compat",
        }
    }

    /// Reads the name on the command line and in settings.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == name)
    }

    /// Returns what is offered, in the order in which it is listed.
    pub(super) fn offers(self) -> Vec<Offer> {
        let own = |tool: Tool| Offer { name: tool.name(), tool };
        match self {
            Self::Core => Tool::ALL.into_iter().map(own).collect(),
            Self::Readonly => Tool::ALL.into_iter().filter(|tool| tool.is_read_only()).map(own).collect(),
            Self::Compat => COMPAT.iter().map(|(name, tool)| Offer { name, tool: *tool }).collect(),
        }
    }
}

/// A tool under the name by which it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    /// The name on the wire.
    pub(super) name: &'static str,
    /// What stands behind it.
    pub(super) tool: Tool,
}

/// Names of other memories' tools, and what stands behind them; their arguments are aliases. Source: SURFACES 6.6.
const COMPAT: &[(&str, Tool)] = &[
    ("memory_store", Tool::Store),
    ("memory_recall", Tool::Recall),
    ("memory_forget", Tool::Forget),
    ("save_memory", Tool::Store),
    ("search_memory", Tool::Recall),
    ("delete_memory", Tool::Forget),
    ("list_memory_categories", Tool::Categories),
    ("save_to_working_memory", Tool::WorkingPut),
    ("get_from_working_memory", Tool::WorkingGet),
    ("list_working_memory", Tool::WorkingFind),
    ("search_working_memory", Tool::WorkingFind),
    ("get_entity", Tool::Entity),
    ("get_relationships", Tool::Relationships),
    ("recall", Tool::Context),
];

/// What the one who calls may do; what he may not is not offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reach {
    /// Reading only.
    Reading,
    /// Also storing.
    Writing,
    /// Also erasing.
    #[default]
    Erasing,
}

impl Reach {
    /// Whether a tool may be called.
    pub(super) fn allows(self, tool: Tool) -> bool {
        match self {
            Self::Reading => tool.is_read_only(),
            Self::Writing => tool != Tool::Forget,
            Self::Erasing => true,
        }
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
    /// `memory_categories`, which only other memories' names lead to so far.
    Categories,
}

impl Tool {
    /// The tools of the core, in the order in which they are listed.
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
            Self::Categories => "memory_categories",
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
            Self::Categories => &["prefix", "max_tokens"],
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
        let names =
            |profile: Profile| profile.offers().into_iter().map(|offer| offer.name).collect::<Vec<_>>();
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
        let mut compat = names(Profile::Compat);
        compat.sort_unstable();
        compat.dedup();
        assert_eq!(compat.len(), COMPAT.len(), "each name stands once");
        for profile in Profile::ALL {
            assert_eq!(Profile::from_name(profile.as_str()), Some(profile));
        }
        assert_eq!(Profile::from_name("full"), None);
    }
}
