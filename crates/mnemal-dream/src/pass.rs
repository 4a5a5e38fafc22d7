//! Passes: those that need no model, and one that asks one.

mod copies;
mod ended;
mod insights;
mod judging;
mod merges;
mod near;
mod objectives;
mod spellings;
mod texts;

use mnemal_core::{Deed, EventId, Learning, Operation, Producer, Proposal};

pub use self::copies::Copies;
pub use self::ended::Ended;
pub use self::insights::Insights;
pub use self::judging::Judging;
pub use self::merges::Merges;
pub use self::near::NearCopies;
pub use self::objectives::Objectives;
pub use self::spellings::Spellings;
pub use self::texts::Texts;

/// Makes a proposal without a model.
fn proposal(pass: &str, deed: Deed, because: &str, text: String) -> Proposal {
    let producer = Producer { id: format!("dream/{pass}"), version: 1 };
    let shown = deed.names();
    Proposal {
        operation: Operation { deed, producer, prompt: None, shown, because: because.to_owned() },
        text,
    }
}

/// Says that one note goes in favour of another.
fn retire(pass: &str, away: EventId, into: EventId, because: &str) -> Proposal {
    proposal(pass, Deed::Retire { notes: vec![away], into: Some(into) }, because, String::new())
}

/// Whether one of two notes of one owner can take the other's place without rising.
fn can_stay(stays: &Learning, away: &Learning) -> bool {
    crate::note::is_of_one(stays, away) && stays.trust >= away.trust
}
