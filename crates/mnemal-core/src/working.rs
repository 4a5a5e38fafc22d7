//! Working memory: entries under path keys, with a time to live.

use std::fmt;
use std::time::Duration;

use unicode_normalization::UnicodeNormalization as _;

use crate::name::check_segments;
use crate::{Category, Error, Result, SessionId, Tag, Timestamp, UserId};

/// Segments of a namespace: a kind and a name, `session/s1`. Source: RockBot's key layout (RB-30).
const NAMESPACE_SEGMENTS: usize = 2;
/// Kinds of conversations without a person; a session named by such a path uses it as its namespace. Source: RockBot's key
/// layout (RB-30).
const UNATTENDED: [&str; 2] = ["patrol", "subagent"];
/// Characters of a name that its key shows where the name itself is not a valid segment. Source: own choice; with the hash it
/// stays below half of a segment.
const SHOWN_OF_NAME: usize = 32;

/// The key of a working-memory entry: a path of 1 to 8 segments of 1 to 128 bytes, `session/s1/plan`.
///
/// Paths are normalized to NFC. Characters that imitate a separator or a dot, percent-encoded ones and invisible ones are
/// refused, so that no two keys look alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkingKey(String);

impl WorkingKey {
    /// Checks and keeps a path.
    ///
    /// # Errors
    /// `Invalid` for too many, empty or too long segments, for `.` and `..`, and for forbidden characters.
    pub fn new(path: &str) -> Result<Self> {
        checked(path).map(Self)
    }

    /// Returns the path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the namespace: the first two segments, or everything before the last one if there are at most two.
    pub fn namespace(&self) -> KeyPrefix {
        let mut cuts = self.0.match_indices('/').map(|(at, _)| at).take(NAMESPACE_SEGMENTS);
        let end = match (cuts.next(), cuts.next()) {
            (_, Some(second)) => second,
            (Some(first), None) => first,
            (None, None) => 0,
        };
        KeyPrefix(self.0.get(..end).unwrap_or_default().to_owned())
    }
}

impl fmt::Display for WorkingKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A key prefix of whole segments: `session/a` matches `session/a/b`, and neither `session/ab` nor `session/ab/c`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyPrefix(String);

impl KeyPrefix {
    /// Returns the prefix of every key.
    pub fn all() -> Self {
        Self(String::new())
    }

    /// Checks and keeps a prefix; a trailing `/` is ignored.
    ///
    /// # Errors
    /// `Invalid` for a path that cannot begin a [`WorkingKey`].
    pub fn new(path: &str) -> Result<Self> {
        checked(path.strip_suffix('/').unwrap_or(path)).map(Self)
    }

    /// Returns the namespace of a conversation: `session/` and its name; or its name if that is already a path of two segments
    /// below `patrol` or `subagent`, such as `patrol/disk-check`.
    ///
    /// A name that is not a valid segment, because it is too long or contains a `/`, is shown in part and completed by a hash.
    pub fn of_session(session: &SessionId) -> Self {
        let name = session.as_str();
        let is_unattended = name
            .split_once('/')
            .is_some_and(|(kind, task)| UNATTENDED.contains(&kind) && !task.contains('/'));
        if is_unattended && checked(name).is_ok_and(|kept| kept == name) {
            return Self(name.to_owned());
        }
        Self(format!("session/{}", segment_of(name)))
    }

    /// Returns the namespace of a user: `user/` and the name, encoded like that of a [conversation](Self::of_session).
    pub fn of_user(user: &UserId) -> Self {
        Self(format!("user/{}", segment_of(user.as_str())))
    }

    /// Returns the path, without a trailing `/`; empty for the prefix of every key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a key is below it or equal to it.
    pub fn holds(&self, key: &WorkingKey) -> bool {
        self.0.is_empty()
            || key.0.strip_prefix(&self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the key one or more segments below it.
    ///
    /// # Errors
    /// As [`WorkingKey::new`].
    pub fn key(&self, below: &str) -> Result<WorkingKey> {
        if self.0.is_empty() {
            WorkingKey::new(below)
        } else {
            WorkingKey::new(&format!("{}/{below}", self.0))
        }
    }
}

impl From<WorkingKey> for KeyPrefix {
    /// The prefix of the key and everything below it.
    fn from(key: WorkingKey) -> Self {
        Self(key.0)
    }
}

impl fmt::Display for KeyPrefix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Returns a name as one segment: itself if valid, else a part of it and a hash.
fn segment_of(name: &str) -> String {
    if !name.contains('/') && checked(name).is_ok_and(|kept| kept == name) {
        return name.to_owned();
    }
    let plain = name.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '-' });
    let shown: String = plain.take(SHOWN_OF_NAME).collect();
    let hash = blake3::hash(name.as_bytes()).to_hex();
    format!("{shown}~{}", hash.get(..16).unwrap_or_default())
}

/// Returns a path in NFC, if it is valid.
fn checked(path: &str) -> Result<String> {
    // ASCII is in NFC already.
    let path = if path.is_ascii() { path.to_owned() } else { path.nfc().collect() };
    check_segments("a key", &path)?;
    if path.chars().any(is_deceptive) || is_encoded(&path) {
        return Err(Error::invalid(
            "a key must not hold control or invisible characters, nor what only looks like `/` or `.`",
        ));
    }
    Ok(path)
}

/// Whether a character is invisible, or imitates a separator or a dot. Source: the confusables of `/`, `\` and `.` in Unicode's
/// table (UTS 39), and its format characters that no script needs to spell a word.
fn is_deceptive(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        || matches!(
            letter,
            '\\' | '\u{2044}'
                | '\u{2215}'
                | '\u{29f8}'
                | '\u{ff0f}'
                | '\u{29f5}'
                | '\u{2216}'
                | '\u{ff3c}'
                | '\u{fe68}'
                | '\u{2024}'..='\u{2026}' | '\u{ff0e}' | '\u{fe52}' | '\u{ff61}'
        )
}

/// Whether a path contains a percent-encoded dot, separator or control character, which a later reader may decode.
fn is_encoded(path: &str) -> bool {
    path.match_indices('%').any(|(at, _)| {
        let code = path.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        code.is_some_and(|code| code.is_ascii_control() || matches!(code, b'.' | b'/' | b'\\' | b'%'))
    })
}

/// A working-memory entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingEntry {
    /// The text.
    pub value: String,
    /// Time of storage.
    pub stored_at: Timestamp,
    /// Expiration, exclusive.
    pub expires_at: Timestamp,
    /// Its category.
    pub category: Option<Category>,
    /// Its tags.
    pub tags: Vec<Tag>,
}

impl WorkingEntry {
    /// Whether it has not expired at a moment.
    pub fn lives_at(&self, at: Timestamp) -> bool {
        at < self.expires_at
    }
}

/// The cause of a `NotFound` for an expired entry: how long ago it expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiryError(pub Duration);

impl fmt::Display for ExpiryError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "it expired {} s ago", self.0.as_secs())
    }
}

impl std::error::Error for ExpiryError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str) -> WorkingKey {
        WorkingKey::new(path).unwrap()
    }

    // proves: RB-33, DF-101
    #[test]
    fn a_prefix_ends_at_a_segment() {
        let prefix = KeyPrefix::new("session/abc").unwrap();
        assert!(prefix.holds(&key("session/abc")) && prefix.holds(&key("session/abc/plan")));
        assert!(!prefix.holds(&key("session/abcd")) && !prefix.holds(&key("session/abcd/plan")));
        assert!(KeyPrefix::all().holds(&key("x")));
        assert_eq!(KeyPrefix::new("session/abc/").unwrap(), prefix);
    }

    // proves: RB-33, DF-101
    #[test]
    fn hostile_keys_are_refused() {
        let (long, deep) = ("x".repeat(129), "a/b/c/d/e/f/g/h/i");
        let hostile = [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "a/./b",
            "a\0b",
            "a\nb",
            "%2e%2e/a",
            "a%2Fb",
            "a%00",
            "a%252e",
            "a\\b",
            "a\u{2215}b",
            "a\u{ff0f}b",
            "\u{2024}\u{2024}/a",
            "\u{ff0e}\u{ff0e}",
            "a\u{200b}b",
            "a\u{202e}b",
            "\u{feff}a",
            &long,
            deep,
        ];
        for path in hostile {
            assert!(WorkingKey::new(path).is_err(), "{path:?}");
        }
        for path in
            ["a", "session/s1/100%", "patrol/disk-check/50%done", "会議/メモ", "a.b/..c", &"x".repeat(128)]
        {
            assert_eq!(key(path).as_str(), path);
        }
    }

    // proves: CF-21
    #[test]
    fn a_category_and_a_key_are_two_types_with_one_parser() {
        let (long, deep) = ("x".repeat(129), "a/b/c/d/e/f/g/h/i");
        for path in ["", "/a", "a/", "a//b", "a/../b", ".", &long, deep, "a", "a/b", "notes/build.x"] {
            assert_eq!(WorkingKey::new(path).is_ok(), Category::new(path).is_ok(), "{path}");
        }
        assert!(
            WorkingKey::new("50%2e").is_err() && Category::new("50%2e").is_ok(),
            "a category is no address"
        );
    }

    // proves: RB-33
    #[test]
    fn two_spellings_of_one_path_are_one_key() {
        assert_eq!(key("caf\u{e9}/plan"), key("cafe\u{301}/plan"));
        assert_eq!(KeyPrefix::new("cafe\u{301}").unwrap().as_str(), "caf\u{e9}");
    }

    // proves: RB-30
    #[test]
    fn the_first_two_segments_are_the_namespace() {
        let rows =
            [("session/s1/plan", "session/s1"), ("session/s1/a/b", "session/s1"), ("a/b", "a"), ("a", "")];
        for (path, namespace) in rows {
            assert_eq!(key(path).namespace().as_str(), namespace);
        }
    }

    // proves: RB-32
    #[test]
    fn every_conversation_has_a_namespace_of_its_own() {
        let of = |name: &str| KeyPrefix::of_session(&SessionId::new(name).unwrap());
        assert_eq!(of("cli:1").as_str(), "session/cli:1");
        assert_eq!(of("patrol/disk-check").as_str(), "patrol/disk-check");
        assert_eq!(of("subagent/review").as_str(), "subagent/review");
        let strange = [
            "patrol/a/b",
            "patrol/..",
            "patrol/",
            "telegram/1",
            "telegram-1",
            "telegram/2",
            "..",
            "cafe\u{301}",
            "caf\u{e9}",
            &"x".repeat(200),
        ];
        let spaces: std::collections::BTreeSet<KeyPrefix> = strange.iter().map(|name| of(name)).collect();
        assert_eq!(spaces.len(), strange.len());
        for space in spaces {
            let inside = space.key("plan").unwrap();
            assert_eq!(inside.namespace(), space, "two segments, whatever the name");
        }
    }

    // proves: RB-40 (the microsecond)
    #[test]
    fn an_entry_ends_at_its_microsecond() {
        let at = |micros| Timestamp::EPOCH.plus_micros(micros);
        let entry = WorkingEntry {
            value: String::new(),
            stored_at: at(0),
            expires_at: at(10),
            category: None,
            tags: vec![],
        };
        assert!(entry.lives_at(at(9)) && !entry.lives_at(at(10)));
    }
}
