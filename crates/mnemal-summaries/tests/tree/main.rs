//! The tree over a log: what it is made of, when it is made, and what is left of it after a forget.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

mod forgetting;
mod growing;
mod laws;
mod log;
mod offering;
