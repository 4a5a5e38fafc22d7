//! Files of every format, well made and ill meant, generated here.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

mod make;
mod tests;
