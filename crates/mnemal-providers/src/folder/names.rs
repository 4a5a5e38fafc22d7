//! File names in the stages of an inbox.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use super::stage_folders::FolderFile;

/// Longest name that is kept unchanged, in bytes. Source: 255 bytes of a file system, less the added parts.
const LONGEST: usize = 200;
/// Longest ending that a shortened name keeps, with its dot.
const LONGEST_ENDING: usize = 16;
/// Suffix of the file with the reason for a failure.
const REASON: &str = ".reason.txt";

/// A claimed file: its attempt count, and its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimedName {
    /// Its name while it is claimed: `2~notes.md`.
    pub(super) file: OsString,
    /// The attempt, this one included.
    pub(super) attempt: u32,
    /// Its original name.
    pub(super) name: OsString,
}

impl ClaimedName {
    /// Names a claim.
    pub(super) fn new(name: &OsStr, attempt: u32) -> Self {
        let name = tidy_name(name);
        let mut file = OsString::from(format!("{attempt}~"));
        file.push(&name);
        Self { file, attempt, name }
    }

    /// Parses a claim from a file name; a foreign file counts as never begun.
    pub(super) fn read(file: &OsStr) -> Self {
        let whole = || Self { file: file.to_owned(), attempt: 0, name: file.to_owned() };
        let [digit @ b'0'..=b'9', b'~', name @ ..] = file.as_bytes() else { return whole() };
        if name.is_empty() {
            return whole();
        }
        let attempt = u32::from(digit - b'0');
        Self { file: file.to_owned(), attempt, name: OsStr::from_bytes(name).to_owned() }
    }
}

/// Returns a display name; bytes that are no text are replaced.
pub(super) fn display_name(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

/// Returns a name with room for the added parts: a long one is shortened, and made unique by a hash.
pub(super) fn tidy_name(name: &OsStr) -> OsString {
    let bytes = name.as_bytes();
    if bytes.len() <= LONGEST {
        return name.to_owned();
    }
    let dot = bytes.iter().rposition(|byte| *byte == b'.').filter(|dot| bytes.len() - dot <= LONGEST_ENDING);
    let (stem, ending) = bytes.split_at(dot.unwrap_or(bytes.len()));
    let text = String::from_utf8_lossy(stem);
    let cut = text.get(..text.floor_char_boundary(LONGEST - LONGEST_ENDING - 16)).unwrap_or_default();
    let hash = blake3::hash(bytes).to_hex();
    let mut short = format!("{cut}~{}", hash.get(..8).unwrap_or_default()).into_bytes();
    short.extend_from_slice(ending);
    OsString::from_vec(short)
}

/// Returns the names under which a file may be archived, best first: its own, then with a number before its ending.
pub(super) fn candidates(name: &OsStr) -> impl Iterator<Item = OsString> {
    let bytes = name.as_bytes().to_vec();
    let dot = bytes.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0).unwrap_or(bytes.len());
    (1_u32..).map(move |number| {
        let (stem, ending) = bytes.split_at(dot);
        let mut name = stem.to_vec();
        if number > 1 {
            name.extend_from_slice(format!("~{number}").as_bytes());
        }
        name.extend_from_slice(ending);
        OsString::from_vec(name)
    })
}

/// Returns the name of the file with the reason for a failure.
pub(super) fn reason(name: &OsStr) -> OsString {
    let mut reason = name.to_owned();
    reason.push(REASON);
    reason
}

/// Whether a file is the reason file of another in the list.
pub(super) fn is_reason(name: &OsStr, list: &[(OsString, FolderFile)]) -> bool {
    let Some(of) = name.as_bytes().strip_suffix(REASON.as_bytes()) else { return false };
    list.iter().any(|(other, _)| other.as_bytes() == of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_read_as_it_was_named() {
        for name in ["notes.md", "3~notes.md", "~", "a b", "ä.txt"] {
            let claim = ClaimedName::new(OsStr::new(name), 2);
            assert_eq!(ClaimedName::read(&claim.file), claim);
            assert_eq!(claim.name, name);
        }
        assert_eq!(ClaimedName::read(OsStr::new("stray")).attempt, 0);
    }

    #[test]
    fn a_long_name_is_cut_and_still_tells_files_apart() {
        let long = |letter: &str| OsString::from(format!("{}{letter}.pdf", "ü".repeat(125)));
        let (one, two) = (tidy_name(&long("a")), tidy_name(&long("b")));
        assert_ne!(one, two);
        assert!(one.len() <= LONGEST && one.as_bytes().ends_with(b".pdf"), "{one:?}");
        assert_eq!(tidy_name(&one), one);
    }

    #[test]
    fn a_second_file_of_a_name_gets_a_number() {
        let names = |name: &str| -> Vec<OsString> { candidates(OsStr::new(name)).take(3).collect() };
        assert_eq!(names("a.b.md"), ["a.b.md", "a.b~2.md", "a.b~3.md"]);
        assert_eq!(names("plain"), ["plain", "plain~2", "plain~3"]);
    }
}
