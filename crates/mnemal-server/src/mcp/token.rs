//! Tokens of confirmation: a promise that this very call was previewed, kept by nobody and checked by any process of the
//! installation.

use std::fmt::Write as _;

use mnemal::Engine;
use mnemal_core::Timestamp;

use crate::mcp::tool::Tool;

/// How long a confirmation holds, in microseconds. Source: SURFACES 6.8, 10 minutes.
const HOLDS: i64 = 600_000_000;
/// Hexadecimal digits of a seal. Source: own default, 128 bits.
const DIGITS: usize = 32;

/// Returns a token for a call, and when it ends.
pub(super) fn issue(engine: &Engine, tool: Tool, arguments: &str) -> (String, Timestamp) {
    let ends = engine.now().plus_micros(HOLDS);
    (format!("{:x}-{}", ends.as_micros(), seal(engine, tool, arguments, ends)), ends)
}

/// Whether the token was issued for this call by this installation, and holds.
pub(super) fn is_good(engine: &Engine, tool: Tool, arguments: &str, token: &str) -> bool {
    let Some((ends, given)) = token.trim().split_once('-') else { return false };
    let Some(ends) =
        i64::from_str_radix(ends, 16).ok().and_then(|micros| Timestamp::from_micros(micros).ok())
    else {
        return false;
    };
    let (now, sealed) = (engine.now(), seal(engine, tool, arguments, ends));
    // Every digit is looked at, so that time tells nothing about where a forgery goes wrong.
    let differ = given.bytes().zip(sealed.bytes()).fold(0, |differ, (one, two)| differ | (one ^ two));
    given.len() == sealed.len() && differ == 0 && now < ends && ends <= now.plus_micros(HOLDS)
}

fn seal(engine: &Engine, tool: Tool, arguments: &str, ends: Timestamp) -> String {
    let ends = ends.as_micros().to_le_bytes();
    let hash = engine.seal("confirm", &[tool.name().as_bytes(), arguments.as_bytes(), &ends]);
    hash.iter().take(DIGITS / 2).fold(String::with_capacity(DIGITS), |mut text, byte| {
        // Writing into a string cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use mnemal_core::{Clock as _, InstallationKey};
    use mnemal_testkit::ManualClock;

    use super::*;

    fn engine(key: u8) -> (Engine, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::default());
        let shared = Arc::clone(&clock) as Arc<dyn mnemal_core::Clock>;
        let engine = Engine::builder().with_clock(shared).with_key(InstallationKey::new([key; 32]));
        (engine.in_memory().unwrap(), clock)
    }

    #[test]
    fn a_token_holds_for_its_call_its_installation_and_ten_minutes() {
        let (engine_1, clock) = engine(1);
        let (token, ends) = issue(&engine_1, Tool::Forget, "key:a");
        let good = |engine: &Engine, arguments| is_good(engine, Tool::Forget, arguments, &token);
        assert_eq!(ends, clock.now().plus_micros(HOLDS));
        assert!(good(&engine_1, "key:a"));
        assert!(!good(&engine_1, "key:b"));
        assert!(!is_good(&engine_1, Tool::Store, "key:a", &token));
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
        let (token, _) = issue(&engine, Tool::Forget, "x");
        for place in 0..token.len() {
            let mut forged = token.clone().into_bytes();
            forged[place] = if forged[place] == b'0' { b'1' } else { b'0' };
            assert!(!is_good(&engine, Tool::Forget, "x", std::str::from_utf8(&forged).unwrap()), "{place}");
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
            assert!(!is_good(&engine, Tool::Forget, "x", wrong), "{wrong}");
        }
    }
}
