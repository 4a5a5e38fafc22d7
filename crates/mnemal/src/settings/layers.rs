//! Switches of the layers.

use mnemal_core::Layer;
use serde::{Deserialize, Serialize};

/// Which layers there are beside the log: one that is switched off answers with the gap `not_configured` and costs nothing, and the
/// others answer as before. What was stored of it stays, and it catches up with the log when it is switched on again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "switches of their own, each read by its name")]
pub struct LayerSettings {
    /// Recall by words.
    pub lexical: bool,
    /// Recall by nearness of meaning.
    pub vector: bool,
    /// Notes and what is learnt.
    pub learnings: bool,
    /// Who and what is known.
    pub graph: bool,
    /// The tree of summaries.
    pub summaries: bool,
    /// What was shown to whom.
    pub receipts: bool,
    /// Scratch memory with a time to live.
    pub working: bool,
    /// Assembly of contexts.
    pub context: bool,
}

impl Default for LayerSettings {
    /// Source: NB-97, all of them.
    fn default() -> Self {
        Self {
            lexical: true,
            vector: true,
            learnings: true,
            graph: true,
            summaries: true,
            receipts: true,
            working: true,
            context: true,
        }
    }
}

impl LayerSettings {
    /// Whether there is a layer; one that has no switch is there.
    pub fn has(&self, layer: Layer) -> bool {
        match layer {
            Layer::Lexical => self.lexical,
            Layer::Vector => self.vector,
            Layer::Learnings => self.learnings,
            Layer::Graph => self.graph,
            Layer::Summaries => self.summaries,
            Layer::Receipts => self.receipts,
            Layer::Working => self.working,
            Layer::Context => self.context,
            _ => true,
        }
    }
}
