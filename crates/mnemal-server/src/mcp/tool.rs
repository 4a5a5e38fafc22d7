//! The tools by name, and the profiles that offer them.

/// A tool profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// Reading, storing and forgetting.
    #[default]
    Core,
    /// Reading only.
    Readonly,
    /// The tools of other memory servers under their own names.
    Compat,
    /// All of mnemal's own tools.
    Full,
    /// The two tools that ChatGPT expects of a knowledge source.
    Chatgpt,
    /// The tools of the official MCP memory server, so that its clients can switch by changing a command.
    Classic,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 6] =
        [Self::Core, Self::Readonly, Self::Compat, Self::Full, Self::Chatgpt, Self::Classic];

    /// Returns the name on the command line and in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Readonly => "readonly",
            Self::Compat => "compat",
            Self::Full => "full",
            Self::Chatgpt => "chatgpt",
            Self::Classic => "classic",
        }
    }

    /// Parses the name used on the command line and in settings.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == name)
    }

    /// Returns the offered tools, in list order.
    pub(super) fn offers(self) -> Vec<OfferedTool> {
        let own = |tool: Tool| OfferedTool { name: tool.name(), tool, manner: AnswerStyle::Own };
        match self {
            Self::Core => Tool::CORE.into_iter().map(own).collect(),
            Self::Readonly => Tool::full().filter(|tool| tool.is_read_only()).map(own).collect(),
            Self::Full => Tool::full().map(own).collect(),
            Self::Chatgpt => [Tool::Search, Tool::Fetch].map(own).to_vec(),
            Self::Classic => Tool::CLASSIC.into_iter().map(own).collect(),
            Self::Compat => COMPAT
                .iter()
                .map(|(name, tool, manner)| OfferedTool { name, tool: *tool, manner: *manner })
                .collect(),
        }
    }
}

/// A tool under its offered name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OfferedTool {
    /// The name on the wire.
    pub(super) name: &'static str,
    /// The tool behind it.
    pub(super) tool: Tool,
    /// Its style.
    pub(super) manner: AnswerStyle,
}

/// The style of a tool's answers, where the source designs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerStyle {
    /// Default: near hits are shown with a remark, and erasure takes two steps.
    Own,
    /// Lines of notes show their filing; hits without evidence are not shown; an agent deletes its own note in one step.
    Filed,
    /// As `Filed`, with the category `knowledge` for uncategorized notes. Source: `PicoBot`.
    Knowledge,
}

/// Tool names of other memory servers, and the tools behind them; their arguments are aliases. Source: PicoBot, RockBot and
/// nanobot v2.
const COMPAT: &[(&str, Tool, AnswerStyle)] = &[
    ("memory_store", Tool::Store, AnswerStyle::Knowledge),
    ("memory_recall", Tool::Recall, AnswerStyle::Knowledge),
    ("memory_forget", Tool::Forget, AnswerStyle::Knowledge),
    ("save_memory", Tool::Store, AnswerStyle::Filed),
    ("search_memory", Tool::Recall, AnswerStyle::Filed),
    ("delete_memory", Tool::Forget, AnswerStyle::Filed),
    ("list_memory_categories", Tool::Categories, AnswerStyle::Filed),
    ("save_to_working_memory", Tool::WorkingPut, AnswerStyle::Filed),
    ("get_from_working_memory", Tool::WorkingGet, AnswerStyle::Filed),
    ("list_working_memory", Tool::WorkingFind, AnswerStyle::Filed),
    ("search_working_memory", Tool::WorkingFind, AnswerStyle::Filed),
    ("get_entity", Tool::Entity, AnswerStyle::Filed),
    ("get_relationships", Tool::Relationships, AnswerStyle::Filed),
    ("recall", Tool::Context, AnswerStyle::Filed),
];

/// The rights of the caller; tools beyond them are not offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolAccess {
    /// None: memory is disabled.
    Nothing,
    /// Reading.
    Reading,
    /// Reading and storing.
    Writing,
    /// Reading, storing and erasing.
    #[default]
    Erasing,
}

impl ToolAccess {
    /// Whether a tool is allowed.
    pub(super) fn allows(self, tool: Tool) -> bool {
        match self {
            Self::Nothing => false,
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
    /// `memory_answer`.
    Answer,
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
    /// `memory_get`.
    Get,
    /// `memory_list`.
    List,
    /// `memory_categories`.
    Categories,
    /// `memory_update`.
    Update,
    /// `memory_history`.
    History,
    /// `memory_timeline`.
    Timeline,
    /// `memory_summary`.
    Summary,
    /// `memory_learnings`.
    Learnings,
    /// `memory_explain`.
    Explain,
    /// `memory_feedback`.
    Feedback,
    /// `memory_ingest`.
    Ingest,
    /// `memory_dream`.
    Dream,
    /// `memory_status`.
    Status,
    /// `search`.
    Search,
    /// `fetch`.
    Fetch,
    /// `create_entities`.
    CreateEntities,
    /// `create_relations`.
    CreateRelations,
    /// `add_observations`.
    AddObservations,
    /// `delete_entities`.
    DeleteEntities,
    /// `delete_observations`.
    DeleteObservations,
    /// `delete_relations`.
    DeleteRelations,
    /// `read_graph`.
    ReadGraph,
    /// `search_nodes`.
    SearchNodes,
    /// `open_nodes`.
    OpenNodes,
}

impl Tool {
    /// The tools of the core profile, in list order.
    pub(super) const CORE: [Self; 10] = [
        Self::Context,
        Self::Answer,
        Self::Recall,
        Self::Store,
        Self::Forget,
        Self::Entity,
        Self::Relationships,
        Self::WorkingPut,
        Self::WorkingGet,
        Self::WorkingFind,
    ];

    /// The additional tools of the full profile, in list order.
    pub(super) const MORE: [Self; 13] = [
        Self::Get,
        Self::List,
        Self::Categories,
        Self::Update,
        Self::History,
        Self::Timeline,
        Self::Summary,
        Self::Learnings,
        Self::Explain,
        Self::Feedback,
        Self::Ingest,
        Self::Dream,
        Self::Status,
    ];

    /// The tools of the official memory server, in its order.
    pub(super) const CLASSIC: [Self; 9] = [
        Self::CreateEntities,
        Self::CreateRelations,
        Self::AddObservations,
        Self::DeleteEntities,
        Self::DeleteObservations,
        Self::DeleteRelations,
        Self::ReadGraph,
        Self::SearchNodes,
        Self::OpenNodes,
    ];

    /// Returns all of mnemal's own tools.
    pub(super) fn full() -> impl Iterator<Item = Self> {
        Self::CORE.into_iter().chain(Self::MORE)
    }

    /// Returns the name on the wire.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Context => "memory_context",
            Self::Answer => "memory_answer",
            Self::Recall => "memory_recall",
            Self::Store => "memory_store",
            Self::Forget => "memory_forget",
            Self::Entity => "memory_entity",
            Self::Relationships => "memory_relationships",
            Self::WorkingPut => "working_put",
            Self::WorkingGet => "working_get",
            Self::WorkingFind => "working_find",
            Self::Get => "memory_get",
            Self::List => "memory_list",
            Self::Categories => "memory_categories",
            Self::Update => "memory_update",
            Self::History => "memory_history",
            Self::Timeline => "memory_timeline",
            Self::Summary => "memory_summary",
            Self::Learnings => "memory_learnings",
            Self::Explain => "memory_explain",
            Self::Feedback => "memory_feedback",
            Self::Ingest => "memory_ingest",
            Self::Dream => "memory_dream",
            Self::Status => "memory_status",
            Self::Search => "search",
            Self::Fetch => "fetch",
            Self::CreateEntities => "create_entities",
            Self::CreateRelations => "create_relations",
            Self::AddObservations => "add_observations",
            Self::DeleteEntities => "delete_entities",
            Self::DeleteObservations => "delete_observations",
            Self::DeleteRelations => "delete_relations",
            Self::ReadGraph => "read_graph",
            Self::SearchNodes => "search_nodes",
            Self::OpenNodes => "open_nodes",
        }
    }

    /// Returns its parameters, by canonical name.
    pub(super) fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Context => &["query", "session", "budget_tokens"],
            Self::Answer => &["query", "session", "as_of", "believed_at"],
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
            Self::Get | Self::History => &["id", "key", "max_tokens"],
            Self::List => &["kind", "category", "tags", "since", "until", "cursor", "limit", "max_tokens"],
            Self::Categories => &["prefix", "max_tokens"],
            Self::Update => &["id", "key", "content", "category", "tags", "importance", "status"],
            Self::Timeline => &["id", "time", "before", "after", "max_tokens"],
            Self::Summary => &["key", "max_tokens"],
            Self::Learnings => &["tool", "status", "cursor", "limit", "max_tokens"],
            Self::Explain => &["recall_id", "item_id", "max_tokens"],
            Self::Feedback => &["recall_id", "item_id", "verdict"],
            Self::Ingest => &["text", "title", "source"],
            Self::Dream => &["dry_run"],
            Self::Status => &[],
            Self::Search => &["query"],
            Self::Fetch => &["id"],
            Self::CreateEntities => &["entities"],
            Self::CreateRelations | Self::DeleteRelations => &["relations"],
            Self::AddObservations => &["observations"],
            Self::DeleteEntities => &["entityNames"],
            Self::DeleteObservations => &["deletions"],
            Self::ReadGraph => &["cursor", "max_tokens"],
            Self::SearchNodes => &["query", "cursor", "max_tokens"],
            Self::OpenNodes => &["names", "cursor", "max_tokens"],
        }
    }

    /// Whether it is read-only; recording what was shown is bookkeeping.
    pub(super) fn is_read_only(self) -> bool {
        !matches!(
            self,
            Self::Store
                | Self::Forget
                | Self::WorkingPut
                | Self::Update
                | Self::Feedback
                | Self::Ingest
                | Self::Dream
                | Self::CreateEntities
                | Self::CreateRelations
                | Self::AddObservations
                | Self::DeleteEntities
                | Self::DeleteObservations
                | Self::DeleteRelations
        )
    }

    /// Whether it is destructive for the caller.
    pub(super) fn is_destructive(self) -> bool {
        matches!(self, Self::Forget | Self::DeleteEntities | Self::DeleteObservations | Self::DeleteRelations)
    }

    /// Whether repeating the same call changes nothing more.
    pub(super) fn is_idempotent(self) -> bool {
        self != Self::Dream
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
                "memory_answer",
                "memory_recall",
                "memory_entity",
                "memory_relationships",
                "working_get",
                "working_find",
                "memory_get",
                "memory_list",
                "memory_categories",
                "memory_history",
                "memory_timeline",
                "memory_summary",
                "memory_learnings",
                "memory_explain",
                "memory_status",
            ]
        );
        assert_eq!(names(Profile::Core).len(), 10);
        assert_eq!(names(Profile::Full).len(), 23);
        assert_eq!(names(Profile::Classic).len(), 9);
        let mut compat = names(Profile::Compat);
        compat.sort_unstable();
        compat.dedup();
        assert_eq!(compat.len(), COMPAT.len(), "each name stands once");
        for profile in Profile::ALL {
            assert_eq!(Profile::from_name(profile.as_str()), Some(profile));
        }
        assert_eq!(Profile::from_name("fuller"), None);
    }
}
