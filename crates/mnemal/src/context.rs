//! Contexts for prompts, receipts, citations.

pub use crate::answer::ContextCall;
pub use crate::citation_check::Grounding;
pub use crate::line_use::LineUse;
pub use crate::quote::{QuoteCall, QuotedBlock, QuotedLine};
pub use crate::why::{CandidateGate, ContextOutcome, ReceiptCheck, Why, WhyNot};
pub use mnemal_context::{
    Block, Context, FencedBlock, Format, SectionUse, Wording, line_number, prefix_share,
};
pub use mnemal_core::{
    BlockKind, BlockReceipt, ContextRequest, Fragment, InclusionReason, Inventory, InventoryScope, Label,
    Omitted, OmittedReason, Receipt, ReceiptLine, ReceiptSeal, RecordRef, Remark, RepeatPolicy, ScorePart,
    Section, SeenRecord, SeenRecords, marker,
};
