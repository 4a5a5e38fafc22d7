//! `memory`, `learning`, `preference`.

use clap::{Args as ClapArgs, Subcommand};

use super::{Entity, Export, ExportFormat, FactTime, Import, Recall, Summary};

/// `memory`: what can be done with notes and learnings, and other commands under the names of another memory.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryVerb {
    #[command(flatten)]
    Rows(MemoryCall),
    /// As `status`.
    Status,
    /// As `recall`.
    Search(Recall),
    /// As `entity list`.
    Entities {
        /// One kind.
        #[arg(long)]
        kind: Option<String>,
        /// Most of them.
        #[arg(short = 'n', long)]
        limit: Option<usize>,
        #[command(flatten)]
        when: FactTime,
    },
    /// As `entity show`.
    Entity {
        /// A name, or `ent_…`.
        who: String,
        #[command(flatten)]
        when: FactTime,
    },
    /// As `summary`.
    Summary(Summary),
    /// As `entity forget`.
    Forget {
        /// A name, or `ent_…`.
        who: String,
        /// Only say what would go.
        #[arg(long)]
        dry_run: bool,
    },
    /// As `export`, as one JSON document unless another form is named.
    Export(Export),
    /// As `import`.
    Import(Import),
}

/// The target of a subcommand.
#[derive(Debug)]
pub(crate) enum VerbTarget {
    /// Notes and learnings.
    Rows(MemoryCall),
    /// Another command.
    Other(Box<super::Command>),
}

impl MemoryVerb {
    /// Returns the target.
    pub(crate) fn target(self) -> VerbTarget {
        use super::Command;
        VerbTarget::Other(Box::new(match self {
            Self::Rows(call) => return VerbTarget::Rows(call),
            Self::Status => Command::Status,
            Self::Search(call) => Command::Recall(call),
            Self::Entities { kind, limit, when } => Command::Entity(Entity::List { kind, limit, when }),
            Self::Entity { who, when } => Command::Entity(Entity::Show { who, when }),
            Self::Summary(call) => Command::Summary(call),
            Self::Forget { who, dry_run } => Command::Entity(Entity::Forget { who, dry_run }),
            Self::Export(call) => {
                Command::Export(Export { format: call.format.or(Some(ExportFormat::Json)), ..call })
            }
            Self::Import(call) => Command::Import(call),
        }))
    }
}

/// Which of them.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct NoteFilter {
    /// Only this kind: knowledge, preference, `anti_pattern`, tool, insight, timeline.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only filed under this path.
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// Only about this word; may be repeated.
    #[arg(long = "topic", value_name = "WORD")]
    pub(crate) topics: Vec<String>,
    /// Only this person's.
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// Also what holds no more, or not yet: superseded, archived, rejected, candidate.
    #[arg(long)]
    pub(crate) all: bool,
    /// What waits for your review, newest first: `confirm` it, or `reject` it.
    #[arg(long, conflicts_with = "all")]
    pub(crate) waiting: bool,
}

/// What to do with notes and learnings.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCall {
    /// List what holds, what weighs most first.
    List(NoteFilter),
    /// Show one with its evidence: who said it, when, in which words, and how it was read.
    Show {
        /// A key, `mem_…`, or the `evt_…` in which it was read.
        name: String,
    },
    /// List every version, newest first.
    History {
        /// As for `show`.
        name: String,
    },
    /// Put it away; it can come back.
    Archive {
        /// As for `show`.
        name: String,
    },
    /// Let hold again what was archived or rejected.
    Restore {
        /// As for `show`.
        name: String,
    },
    /// Say that it is wrong: it holds no more until you say it again.
    Reject {
        /// As for `show`.
        name: String,
    },
    /// Say that it is right, word for word: it becomes yours.
    Confirm {
        /// As for `show`.
        name: String,
        /// The text that you saw, if it must be that.
        #[arg(long)]
        text: Option<String>,
    },
    /// Let it stand in every context, first of all; at most eight of 600 tokens.
    Pin {
        /// As for `show`.
        name: String,
    },
    /// Take a pin back.
    Unpin {
        /// As for `show`.
        name: String,
    },
    /// List the categories in use, with counts.
    Categories,
}
