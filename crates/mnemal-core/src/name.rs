//! Validated names given by people and programs: one newtype per meaning.

use std::fmt;

use crate::{Error, Result};

/// Longest name, in bytes. Source: own choice, twice a path segment, for `channel/chat` sessions.
const LONGEST: usize = 256;
/// Longest name of a space, in bytes. Source: own choice, `[a-z0-9][a-z0-9._-]{0,62}`.
const LONGEST_SPACE: usize = 63;

fn check(what: &str, text: &str) -> Result<()> {
    if text.is_empty() || text.len() > LONGEST {
        return Err(Error::invalid(format!("{what} must have 1 to {LONGEST} bytes, it has {}", text.len())));
    }
    if text.chars().any(char::is_control) {
        return Err(Error::invalid(format!("{what} must not hold control characters")));
    }
    Ok(())
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Checks and keeps a name.
            ///
            /// # Errors
            /// `Invalid` when it is empty, too long, or holds forbidden characters.
            pub fn new(text: impl Into<String>) -> Result<Self> {
                let text = text.into();
                $check($what, &text)?;
                Ok(Self(text))
            }

            /// Returns the name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }
    };
}

name!(
    /// An isolation boundary: `[a-z0-9][a-z0-9._-]{0,62}`, and no name reserved by an operating system.
    SpaceId, "a space", check_space
);
name!(
    /// A conversation.
    SessionId, "a session", check
);
impl SessionId {
    /// The session of a call without a session: nothing is logged to it, and shown records are not tracked.
    pub const NOBODY: &str = "(none)";

    /// Returns the session of a call without a session.
    pub fn nobody() -> Self {
        Self(Self::NOBODY.to_owned())
    }

    /// Whether this is the session of a call without a session.
    pub fn is_nobody(&self) -> bool {
        self.0 == Self::NOBODY
    }
}

name!(
    /// A channel in which conversations take place.
    ChannelId, "a channel", check
);
name!(
    /// A person, as a filter inside a space; never an identity.
    UserId, "a user", check
);
name!(
    /// An agent, as a filter inside a space; never an identity.
    AgentId, "an agent", check
);
name!(
    /// A speaker's name as it appears; indexed with the text.
    Speaker, "a speaker", check
);
name!(
    /// A tool of the host.
    ToolName, "a tool", check
);
name!(
    /// A rule of redaction or of the write screen.
    RuleId, "a rule", check
);
name!(
    /// An embedding model or language model; vectors of two models never mix.
    ModelId, "a model", check
);
name!(
    /// Work that needs only one process at a time.
    LeaseName, "a lease", check
);
name!(
    /// A process, or a part of one, that takes turns with others; new at every start.
    OwnerId, "an owner", check
);
name!(
    /// The stable name of a note, unique in its space.
    NoteKey, "a key", check
);
name!(
    /// A slash path of 1 to 8 segments, `project-context/build`.
    Category, "a category", check_path
);
name!(
    /// A tag of a note, at most 128 bytes.
    Tag, "a tag", check_tag
);

name!(
    /// The predicate of a fact, `lives_in`: lower-case letters, digits and `_`, independent of any language.
    Predicate, "a predicate", check_predicate
);

fn check_predicate(what: &str, text: &str) -> Result<()> {
    check(what, text)?;
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !text.bytes().all(allowed) || !text.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Err(Error::invalid(format!("{what} must match [a-z][a-z0-9_]*")));
    }
    Ok(())
}

fn check_space(what: &str, text: &str) -> Result<()> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let first = text.bytes().next().is_some_and(allowed);
    let rest = text.bytes().all(|byte| allowed(byte) || matches!(byte, b'.' | b'_' | b'-'));
    if !(first && rest && text.len() <= LONGEST_SPACE) {
        return Err(Error::invalid(format!("{what} must match [a-z0-9][a-z0-9._-]{{0,62}}")));
    }
    let stem = text.split('.').next().unwrap_or_default();
    let numbered =
        |prefix| stem.strip_prefix(prefix).is_some_and(|rest| matches!(rest.as_bytes(), [b'0'..=b'9']));
    if matches!(stem, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt") {
        return Err(Error::invalid(format!("{what} must not have a name that an operating system reserves")));
    }
    Ok(())
}

fn check_path(what: &str, text: &str) -> Result<()> {
    check(what, text)?;
    check_segments(what, text)
}

/// Checks that a path has 1 to 8 segments of 1 to 128 bytes between its slashes. Source: own choice (RB-33: typed keys).
pub(crate) fn check_segments(what: &str, path: &str) -> Result<()> {
    let bad = |segment: &str| segment.is_empty() || segment.len() > 128 || matches!(segment, "." | "..");
    if path.split('/').count() > 8 || path.split('/').any(bad) {
        return Err(Error::invalid(format!(
            "{what} must have 1 to 8 segments of 1 to 128 bytes, none of them `.` or `..`"
        )));
    }
    Ok(())
}

fn check_tag(what: &str, text: &str) -> Result<()> {
    check(what, text)?;
    if text.len() > 128 {
        return Err(Error::invalid(format!("{what} must have at most 128 bytes")));
    }
    Ok(())
}

impl Category {
    /// Whether this is `parent` or lies below it; matches at segment boundaries only.
    pub fn is_within(&self, parent: &Category) -> bool {
        self.0.strip_prefix(parent.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_a_safe_file_name() {
        for good in ["default", "a", "web-1f2e3d4c", "a.b_c-d", "coma", "console", "com10"] {
            assert!(SpaceId::new(good).is_ok(), "{good}");
        }
        let long = "a".repeat(64);
        for bad in ["", ".a", "-a", "A", "a/b", "..", "con", "nul.x", "com1", "lpt9.db", "ä", &long] {
            assert!(SpaceId::new(bad).is_err(), "{bad}");
        }
    }

    // proves: RB-04, RB-05
    #[test]
    fn a_category_contains_at_segment_boundaries_only() {
        let category = |text: &str| Category::new(text).unwrap();
        assert!(category("notes/build").is_within(&category("notes")));
        assert!(category("notes").is_within(&category("notes")));
        assert!(!category("notes-old/build").is_within(&category("notes")));
        for bad in ["", "/a", "a//b", "a/../b", "a/b/c/d/e/f/g/h/i"] {
            assert!(Category::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_refuse_control_characters_and_excess() {
        assert!(SessionId::new("cli:1").is_ok());
        assert!(SessionId::new("a\0b").is_err());
        assert!(SessionId::new("x".repeat(257)).is_err());
    }
}
