//! Summary tree over a log: contents, time of building, and the state after a forget.

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
