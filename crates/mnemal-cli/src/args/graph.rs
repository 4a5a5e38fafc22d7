//! `entity` and `fact`.

use clap::{Args as ClapArgs, Subcommand};

/// When a fact must hold and be believed.
#[derive(Debug, ClapArgs)]
pub(crate) struct When {
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
    /// List everybody and everything with a name, by name.
    List {
        /// One kind: person, animal, organization, location, product, work, event, concept.
        #[arg(long)]
        kind: Option<String>,
        #[command(flatten)]
        when: When,
    },
    /// Show what is known of one, with the sentences it comes from.
    Show {
        /// A name, or `ent_…`.
        who: String,
        #[command(flatten)]
        when: When,
    },
    /// Show how two are connected, over at most three facts.
    Path {
        /// A name, or `ent_…`.
        from: String,
        /// A name, or `ent_…`.
        to: String,
        #[command(flatten)]
        when: When,
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
        when: When,
    },
}
