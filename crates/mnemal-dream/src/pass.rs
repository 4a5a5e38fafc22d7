//! Consolidation passes, by rule and by model.

mod copies;
mod digests;
mod ended;
mod insights;
mod judging;
mod merges;
mod near;
mod objectives;
mod spellings;
mod texts;

use std::num::NonZeroUsize;

use mnemal_core::{
    Book, Cursor, Deed, EventId, Learning, LedgerLine, LedgerStore, Operation, Producer, Proposal, Result,
    Slot,
};

pub use self::copies::Copies;
pub use self::digests::{DigestWriter, Digester, Digests};
pub use self::ended::Ended;
pub use self::insights::{InsightWriter, Insights, Namer};
pub use self::judging::Judging;
pub use self::merges::Merges;
pub use self::near::NearCopies;
pub use self::objectives::Objectives;
pub use self::spellings::Spellings;
pub use self::texts::Texts;

/// An upper bound for the lines of the pass ledger. Source: own default.
const LINES: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Returns how far a pass has read the log; the start of the log without a ledger.
pub(crate) async fn read_through(ledger: &Slot<dyn LedgerStore>, pass: &str) -> Result<Cursor> {
    let Slot::Filled(ledger) = ledger else { return Ok(Cursor::START) };
    let lines = ledger.lines(Book::Pass, LINES).await?;
    Ok(lines.iter().find(|line| line.key == pass).map_or(Cursor::START, LedgerLine::through))
}

/// Makes a proposal without a model.
fn proposal(pass: &str, deed: Deed, because: &str, text: String) -> Proposal {
    let producer = Producer { id: format!("dream/{pass}"), version: 1 };
    let shown = deed.names();
    Proposal {
        operation: Operation { deed, producer, prompt: None, shown, because: because.to_owned() },
        text,
    }
}

/// Proposes to retire one note in favor of another.
fn retire(pass: &str, away: EventId, into: EventId, because: &str) -> Proposal {
    proposal(pass, Deed::Retire { notes: vec![away], into: Some(into) }, because, String::new())
}

/// Whether a note can replace another of the same owner without a rise in level.
fn can_stay(stays: &Learning, away: &Learning) -> bool {
    crate::note::is_of_one(stays, away) && stays.trust >= away.trust
}
