//! Switches of layers.

use mnemal_core::Layer;
use serde::{Deserialize, Serialize};

/// Switches of the layers above the log: a disabled layer answers with the gap `not_configured` and costs nothing, and the others
/// answer as before. Its stored rows stay, and it catches up with the log when it is enabled again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "switches of their own, each read by its name")]
pub struct LayerSettings {
    /// Lexical recall.
    pub lexical: bool,
    /// Vector recall.
    pub vector: bool,
    /// Notes and learnings.
    pub learnings: bool,
    /// The graph of entities and facts.
    pub graph: bool,
    /// The tree of summaries.
    pub summaries: bool,
    /// Receipts, and the records shown to sessions.
    pub receipts: bool,
    /// Scratch memory with a time to live.
    pub working: bool,
    /// Context assembly.
    pub context: bool,
}

impl Default for LayerSettings {
    /// Source: nanobot v2, where every part can be switched off alone; all are on.
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
    /// Whether a layer is enabled; a layer without a switch is.
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
