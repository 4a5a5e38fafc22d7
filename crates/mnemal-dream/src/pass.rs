//! Consolidation passes, by rule and by model.

mod digests;
mod exact_duplicates;
mod expiry;
mod insights;
mod judgment;
mod merges;
mod near_duplicates;
mod objectives;
mod summary_texts;
mod tag_spellings;

use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, EventId, Learning, LedgerKind, LedgerLine, LedgerStore, Operation, OperationKind, Producer,
    Proposal, Result, Slot,
};

pub use self::digests::{DigestWriter, Digester, DigestsPass};
pub use self::exact_duplicates::ExactDuplicatesPass;
pub use self::expiry::ExpiryPass;
pub use self::insights::{InsightWriter, InsightsPass, Namer};
pub use self::judgment::JudgmentPass;
pub use self::merges::MergesPass;
pub use self::near_duplicates::NearDuplicatesPass;
pub use self::objectives::ObjectivesPass;
pub use self::summary_texts::SummaryTextsPass;
pub use self::tag_spellings::TagSpellingsPass;

/// An upper bound for the lines of the pass ledger. Source: own default.
const LINES: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Returns how far a pass has read the log; the start of the log without a ledger.
pub(crate) async fn read_through(ledger: &Slot<dyn LedgerStore>, pass: &str) -> Result<Cursor> {
    let Slot::Filled(ledger) = ledger else { return Ok(Cursor::START) };
    let lines = ledger.lines(LedgerKind::Pass, LINES).await?;
    Ok(lines.iter().find(|line| line.key == pass).map_or(Cursor::START, LedgerLine::through))
}

/// Makes a proposal without a model.
fn proposal(pass: &str, kind: OperationKind, because: &str, text: String) -> Proposal {
    let producer = Producer { id: format!("dream/{pass}"), version: 1 };
    let shown = kind.names();
    Proposal {
        operation: Operation { kind, producer, prompt: None, shown, because: because.to_owned() },
        text,
    }
}

/// Proposes to retire one note in favor of another.
fn retire(pass: &str, away: EventId, into: EventId, because: &str) -> Proposal {
    proposal(pass, OperationKind::Retire { notes: vec![away], into: Some(into) }, because, String::new())
}

/// Whether a note can replace another of the same owner without a rise in level.
fn can_stay(stays: &Learning, away: &Learning) -> bool {
    crate::note::is_of_one(stays, away) && stays.trust >= away.trust
}
