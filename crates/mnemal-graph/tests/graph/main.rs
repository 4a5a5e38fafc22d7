//! Graph of a log, built by its projector over a store.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the parts that tests share may panic as the tests do"
)]

mod log;

mod cardinality;
mod chain;
mod company;
mod crowd;
mod dead;
mod decide;
mod entities;
mod familiar;
mod identity;
mod intervals;
mod laws;
mod lookalikes;
mod notes;
mod offers;
mod renewal;
mod undo;
mod walks;
