#![doc = include_str!("../README.md")]

mod note;
mod wording;

mod check;
mod cycle;
mod dreamer;
mod history;
mod settings;

mod audit;
mod auditor;
mod pass;
mod retry_backoff;
mod sample;
mod schedule;

pub use crate::audit::{
    Audit, AuditCounts, AuditedNote, Finding, INVARIANTS, InspectionCounts, Invariant, NoteState, Rank,
    RefusalCounts, Severity,
};
pub use crate::auditor::Inspector;
pub use crate::check::Refusal;
pub use crate::cycle::{Cycle, CycleMode, ProposalOutcome};
pub use crate::dreamer::{DreamParts, Dreamer, Journal, WriteOutcome};
pub use crate::note::maker;
pub use crate::pass::{
    DigestWriter, Digester, DigestsPass, ExactDuplicatesPass, ExpiryPass, InsightWriter, InsightsPass,
    JudgmentPass, MergesPass, Namer, NearDuplicatesPass, ObjectivesPass, SummaryTextsPass, TagSpellingsPass,
};
pub use crate::sample::{Assessment, Family, Sample};
pub use crate::schedule::{Pace, Schedule, StepOutcome};
pub use crate::settings::DreamSettings;
pub use crate::wording::RewriteRules;
