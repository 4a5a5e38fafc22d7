//! `summary`.

use clap::Args as ClapArgs;

use super::FactTime;

/// Default number of levels below the listed node. Source: root, channels and months, sessions and weeks.
const DEPTH: usize = 2;

/// `summary`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Summary {
    /// root, `channel:NAME`, `session:NAME`, `day:2026-11-21`, `week:2026-W47`, `month:2026-11`, `entity_type:person`,
    /// `entity:NAME`, `topic:NAME`, `user_preferences`.
    #[arg(default_value = "root")]
    pub(crate) key: String,
    /// List what stands below it too, the newest first.
    #[arg(long)]
    pub(crate) tree: bool,
    /// How many steps below it.
    #[arg(long, value_name = "STEPS", default_value_t = DEPTH, requires = "tree")]
    pub(crate) depth: usize,
    #[command(flatten)]
    pub(crate) when: FactTime,
    /// Read everything first that was said since; without it as much as 200 ms allow.
    #[arg(long)]
    pub(crate) refresh: bool,
}
