//! Confirmation tokens: proof that exactly this call was previewed.

use mnemal::Engine;
use mnemal_core::Timestamp;

/// Returns a token for a call of an operation, and its expiry.
pub(crate) fn issue(engine: &Engine, operation: &str, arguments: &str) -> (String, Timestamp) {
    engine.issue_token(&[operation.as_bytes(), arguments.as_bytes()])
}

/// Whether the token was issued for this call by this installation, and has not expired.
pub(crate) fn is_good(engine: &Engine, operation: &str, arguments: &str, token: &str) -> bool {
    engine.holds_token(&[operation.as_bytes(), arguments.as_bytes()], token)
}

#[cfg(test)]
mod tests {
    /// Validity of a confirmation token, in microseconds. Source: own choice, 10 minutes to read a preview.
    const HOLDS: i64 = 600_000_000;

    use std::sync::Arc;
    use std::time::Duration;

    use mnemal_core::{Clock as _, InstallationKey};
    use mnemal_testkit::ManualClock;

    use super::*;

    const FORGET: &str = "memory_forget";

    fn engine(key: u8) -> (Engine, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::default());
        let shared = Arc::clone(&clock) as Arc<dyn mnemal_core::Clock>;
        let engine = Engine::builder().with_clock(shared).with_key(InstallationKey::new([key; 32]));
        (engine.in_memory().unwrap(), clock)
    }

    #[test]
    fn a_token_holds_for_its_call_its_installation_and_ten_minutes() {
        let (engine_1, clock) = engine(1);
        let (token, ends) = issue(&engine_1, FORGET, "key:a");
        let good = |engine: &Engine, arguments| is_good(engine, FORGET, arguments, &token);
        assert_eq!(ends, clock.now().plus_micros(HOLDS));
        assert!(good(&engine_1, "key:a"));
        assert!(!good(&engine_1, "key:b"));
        assert!(!is_good(&engine_1, "memory_store", "key:a", &token));
        assert!(good(&engine(1).0, "key:a"));
        assert!(!good(&engine(2).0, "key:a"));
        clock.advance(Duration::from_secs(599));
        assert!(good(&engine_1, "key:a"));
        clock.advance(Duration::from_secs(1));
        assert!(!good(&engine_1, "key:a"));
    }

    #[test]
    fn a_changed_token_is_no_token() {
        let (engine, _clock) = engine(1);
        let (token, _) = issue(&engine, FORGET, "x");
        for place in 0..token.len() {
            let mut forged = token.clone().into_bytes();
            forged[place] = if forged[place] == b'0' { b'1' } else { b'0' };
            assert!(!is_good(&engine, FORGET, "x", std::str::from_utf8(&forged).unwrap()), "{place}");
        }
        for wrong in [
            "",
            "-",
            "zz-00",
            "1",
            token.strip_suffix(token.chars().last().unwrap()).unwrap(),
            &format!("{token}0"),
            "7fffffffffffffff-0",
        ] {
            assert!(!is_good(&engine, FORGET, "x", wrong), "{wrong}");
        }
    }
}
