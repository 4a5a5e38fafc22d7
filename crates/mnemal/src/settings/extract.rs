//! What is read in the log.

use serde::{Deserialize, Serialize};

/// What is read in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractSettings {
    /// What happens to rows that another version of the program would read otherwise.
    pub switch: Switch,
}

/// What happens to rows of the graph when another version of what reads the log would make others of them.
///
/// New events are read by the new version in both cases, and rows that say the same are exchanged in both.
/// Source: NX-02.7, `extract.switch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// The difference is shown and kept, and the rows stay until somebody makes them anew.
    #[default]
    Ask,
    /// Upkeep exchanges them.
    Auto,
}
