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
mod sample;
mod schedule;
mod settled;

pub use crate::audit::{
    Audit, Counted, Finding, INVARIANTS, Inspected, Invariant, Rank, Refused, Seen, Severity, Standing,
};
pub use crate::auditor::Inspector;
pub use crate::check::Refusal;
pub use crate::cycle::{Cycle, Judged, Run};
pub use crate::dreamer::{DreamParts, Dreamer, Journal, Written};
pub use crate::note::maker;
pub use crate::pass::{
    Copies, DigestWriter, Digester, Digests, Ended, InsightWriter, Insights, Judging, Merges, Namer,
    NearCopies, Objectives, Spellings, Texts,
};
pub use crate::sample::{Assessment, Family, Sample};
pub use crate::schedule::{Pace, Schedule, Stepped};
pub use crate::settings::DreamSettings;
pub use crate::wording::Wording;
