//! Generated test files of every format, valid and malicious.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

mod make;
mod tests;
