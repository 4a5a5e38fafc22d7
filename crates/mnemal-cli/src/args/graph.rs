//! `entity`, `fact`, `topic`, `graph` and `undo`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

/// When a fact must hold and be believed.
#[derive(Debug, ClapArgs)]
pub(crate) struct FactTime {
    /// What held at this time; without it, what holds now.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// What was believed at this time; without it, what is known now.
    #[arg(long, value_name = "TIME")]
    pub(crate) believed_at: Option<String>,
}

/// `entity`.
#[derive(Debug, Subcommand)]
pub(crate) enum Entity {
    /// List everybody and everything that is known, what is named most often first.
    List {
        /// One kind: person, animal, organization, location, product, work, event, concept.
        #[arg(long)]
        kind: Option<String>,
        /// Most of them.
        #[arg(short = 'n', long)]
        limit: Option<usize>,
        #[command(flatten)]
        when: FactTime,
    },
    /// Show what is known of one: facts, since when, until when, how sure, and the sentences they come from.
    Show {
        /// A name, or `ent_…`; `user` for whoever speaks without a name.
        who: String,
        #[command(flatten)]
        when: FactTime,
    },
    /// Show how two are connected, over at most three facts.
    Path {
        /// A name, or `ent_…`.
        from: String,
        /// A name, or `ent_…`.
        to: String,
        #[command(flatten)]
        when: FactTime,
    },
    /// List pairs that may be one, the likeliest first; `merge` says that two are, `split` that they are not.
    Suggestions {
        /// Most of them.
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
    },
    /// Say that two are one; `undo` takes it back.
    Merge {
        /// The one that is taken for the other: a name, or `ent_…`.
        one: String,
        /// The one that stands for both.
        into: String,
        /// Only say what would be one.
        #[arg(long)]
        dry_run: bool,
    },
    /// Say that two that were taken for one are two, and stay two.
    Split {
        /// The one that is taken out: a name, or `ent_…`.
        one: String,
        /// The one that stands for both.
        from: String,
        /// Only say what would be parted.
        #[arg(long)]
        dry_run: bool,
    },
    /// Show one by another name from now on; `undo` takes it back.
    Rename {
        /// A name, or `ent_…`.
        who: String,
        /// The name to show.
        name: String,
        /// Only say what would be renamed.
        #[arg(long)]
        dry_run: bool,
    },
    /// Erase every event that names one, in every layer; there is no undo.
    Forget {
        /// A name, or `ent_…`.
        who: String,
        /// Only say what would go.
        #[arg(long)]
        dry_run: bool,
    },
}

/// `fact`.
#[derive(Debug, Subcommand)]
pub(crate) enum Fact {
    /// List facts.
    List {
        /// About this one and leading to it: a name, or `ent_…`.
        #[arg(long, value_name = "NAME")]
        about: Option<String>,
        /// Of this predicate: `lives_in`.
        #[arg(long)]
        predicate: Option<String>,
        #[command(flatten)]
        when: FactTime,
    },
    /// Say that something is so; what it contradicts is over.
    Add {
        /// Of whom: a name, or `ent_…`; `user` for whoever speaks without a name.
        subject: String,
        /// What: `lives_in`, `works_at`, `likes` …
        predicate: String,
        /// The value: a name, `ent_…`, or words.
        object: String,
        /// The topic, for predicates that hold one value for each: the kind of a favourite, the role of a relative.
        #[arg(long)]
        topic: Option<String>,
        /// Since when: a day, or RFC 3339.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Until when: the first day on which it no longer holds.
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Only say what would be added.
        #[arg(long)]
        dry_run: bool,
    },
    /// Say that a fact is over, or that it never was so.
    Invalidate {
        /// `fct_…` of `fact list --json`, or subject, predicate and object.
        #[arg(required = true, num_args = 1..=3, value_names = ["SUBJECT|FACT", "PREDICATE", "OBJECT"])]
        what: Vec<String>,
        /// The first day on which it no longer holds; without it, now.
        #[arg(long, value_name = "TIME", conflicts_with = "wrong")]
        at: Option<String>,
        /// It never was so, and stays wrong whoever says it again.
        #[arg(long)]
        wrong: bool,
        /// Only say which fact is meant.
        #[arg(long)]
        dry_run: bool,
    },
    /// Say how many values a predicate holds for one subject here; what was said before is weighed again, and `undo` takes it
    /// back.
    Cardinality {
        /// The predicate: `works_at`, or one that an extractor of the host brings.
        predicate: String,
        /// `one` for life, one at a time (`now`), one at a time for each topic (`now/k`), or a set (`many`).
        #[arg(value_parser = ["one", "now", "now/k", "many"])]
        cardinality: String,
        /// Only say what would be decided.
        #[arg(long)]
        dry_run: bool,
    },
}

/// `topic`.
#[derive(Debug, Subcommand)]
pub(crate) enum Topic {
    /// List what is talked about, what comes up most often first.
    List {
        /// Most of them.
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
        #[command(flatten)]
        when: FactTime,
    },
    /// Show the events that touch a topic, newest first.
    Show {
        /// Its name, or `ent_…`.
        name: String,
        #[command(flatten)]
        when: FactTime,
    },
}

/// Formats of `graph export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// One document with nodes and edges.
    Json,
    /// `GraphML`, for programs that draw and measure graphs.
    Graphml,
    /// The language of Graphviz.
    Dot,
}

/// `graph`.
#[derive(Debug, Subcommand)]
pub(crate) enum Graph {
    /// Write entities and facts as a graph; words that are no entity are nodes of their own.
    Export {
        /// The new file; `-` or nothing for stdout.
        path: Option<PathBuf>,
        /// Its format.
        #[arg(long, value_enum, default_value = "json")]
        format: GraphFormat,
        #[command(flatten)]
        when: FactTime,
    },
}

/// `undo`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Undo {
    /// `evt_…` of a decision: a fact that was added or invalidated, a merge, a new name, a cardinality; or of an operation of the dream.
    pub(crate) event: String,
}
