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
mod cooccurrence;
mod crowd;
mod dead;
mod decide;
mod duplicate_entity_pass;
mod entities;
mod identity;
mod intervals;
mod laws;
mod model_context;
mod notes;
mod offers;
mod rebuild;
mod undo;
mod walks;
mod window;
