//! `working`.

use clap::{Args as ClapArgs, Subcommand};

/// Whose namespace is the own one.
#[derive(Debug, ClapArgs)]
pub(crate) struct OwnNamespace {
    /// The conversation: the own namespace is `session/NAME`; without it `session/default`.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// The own namespace itself: `patrol/disk-check`.
    #[arg(long, value_name = "PATH", conflicts_with = "session")]
    pub(crate) namespace: Option<String>,
}

/// `working`.
#[derive(Debug, Subcommand)]
pub(crate) enum Working {
    /// Put a text under a key, for a while, in the place of what was there.
    Put {
        /// A plain name in the own namespace, or a path inside it.
        key: String,
        /// The text; `-` reads it from stdin.
        value: String,
        /// For how long: 90s, 5m, 12h, up to 7d; without it as long as the settings say.
        #[arg(long)]
        ttl: Option<String>,
        /// A slash path.
        #[arg(long)]
        category: Option<String>,
        /// A word to attach; may be repeated.
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
        #[command(flatten)]
        own: OwnNamespace,
    },
    /// Print what stands under a key.
    Get {
        /// A plain name in the own namespace, or any path.
        key: String,
        #[command(flatten)]
        own: OwnNamespace,
    },
    /// List keys with the time that they have left, never values.
    List {
        /// Below this path, whole segments of it; without it the own namespace.
        #[arg(conflicts_with = "all")]
        prefix: Option<String>,
        /// Every namespace.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        own: OwnNamespace,
    },
    /// Find keys by words, in every namespace, best first.
    Search {
        /// The words.
        query: String,
        /// Only below this path.
        #[arg(long)]
        prefix: Option<String>,
        /// Only filed under this path.
        #[arg(long)]
        category: Option<String>,
        /// Only with this tag; may be repeated.
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
    },
    /// Remove a key of the own namespace and what stands below it.
    Rm {
        /// A plain name, or a path inside the own namespace.
        key: String,
        #[command(flatten)]
        own: OwnNamespace,
    },
}
