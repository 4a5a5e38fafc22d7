//! The virtual tree: the mapping of notes to files.

use std::collections::BTreeMap;

use mnemal_core::{Category, Learning, NoteKey, Result};

use super::{ToolResult, failure};

/// The root directory.
pub(super) const ROOT: &str = "/memories";
/// Category of the files at the root. Source: the default category of notes.
const GENERAL: &str = "general";
/// Extension of every file.
const ENDING: &str = ".md";
/// Maximum length of a path segment, in bytes. Source: the limit of a segment of a key.
const LONGEST_PART: usize = 128;
/// Maximum number of lines of a listing. Source: own default, some 4,000 tokens.
const MOST_LISTED: usize = 200;
/// Depth of a listing. Source: Claude's memory tool, two levels.
const LEVELS: usize = 2;

/// A path below the root, by segments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VirtualPath(Vec<String>);

/// Parses a path; one that could leave the root is rejected.
pub(super) fn parse_path(path: &str) -> ToolResult<VirtualPath> {
    let Some(rest) = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
        return failure(format!("The path {path:?} must start with {ROOT}."));
    };
    let rest = rest.strip_prefix('/').unwrap_or_default();
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.is_empty() {
        return Ok(VirtualPath(Vec::new()));
    }
    let mut parts: Vec<String> = rest.split('/').map(str::to_owned).collect();
    if let Some(part) = parts.iter().find(|part| !is_part(part)) {
        return failure(format!(
            "The path {path:?} is refused because of its part {part:?}: no empty parts, no dots alone, no backslashes, no percent-encoding, no control characters, at most {LONGEST_PART} bytes."
        ));
    }
    // A file in `general` is at the root, under either path.
    if let [first, _] = parts.as_slice()
        && first == GENERAL
    {
        parts.remove(0);
    }
    Ok(VirtualPath(parts))
}

fn is_part(part: &str) -> bool {
    let is_encoded = part.to_ascii_lowercase().contains("%2e");
    let is_plain = !part.chars().any(|character| character.is_control() || matches!(character, '\\' | '/'));
    !matches!(part, "" | "." | "..") && part.len() <= LONGEST_PART && is_plain && !is_encoded
}

impl VirtualPath {
    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns category and name of a file with this path; an error for the root.
    pub(super) fn parts(&self) -> ToolResult<(Category, &str)> {
        let Some((name, above)) = self.0.split_last() else {
            return failure(format!("{ROOT} is a directory."));
        };
        let category = if above.is_empty() { GENERAL.to_owned() } else { above.join("/") };
        Ok((Category::new(category)?, name.strip_suffix(ENDING).unwrap_or(name)))
    }

    /// Whether it is below another path.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        self.0.len() > other.0.len() && self.0.starts_with(&other.0)
    }

    /// Returns the new path of a file when its directory is renamed to this one.
    pub(super) fn moved(&self, from: &Self, path: &Self) -> Self {
        Self(self.0.iter().chain(path.0.iter().skip(from.0.len())).cloned().collect())
    }

    fn path(&self) -> String {
        self.0.iter().fold(ROOT.to_owned(), |path, part| format!("{path}/{part}"))
    }
}

/// The files of a space.
#[derive(Debug)]
pub(super) struct Tree(BTreeMap<VirtualPath, Learning>);

impl Tree {
    pub(super) fn new(rows: Vec<Learning>) -> Self {
        let mut files = BTreeMap::new();
        for row in rows {
            let above: Vec<String> = match row.category.as_str() {
                GENERAL => Vec::new(),
                category => category.split('/').map(str::to_owned).collect(),
            };
            let named = |name: &str| VirtualPath([above.as_slice(), &[format!("{name}{ENDING}")]].concat());
            let by_id = named(&row.id.to_string());
            let by_key = name(&row).map(named).filter(|place| !files.contains_key(place));
            files.insert(by_key.unwrap_or(by_id), row);
        }
        Self(files)
    }

    /// Returns the note of a path, with or without the extension.
    pub(super) fn file(&self, place: &VirtualPath) -> Option<(&VirtualPath, &Learning)> {
        let (last, above) = place.0.split_last()?;
        let with_ending = VirtualPath([above, &[format!("{last}{ENDING}")]].concat());
        self.0.get_key_value(place).or_else(|| self.0.get_key_value(&with_ending))
    }

    /// Returns the files below a directory, ordered by path.
    pub(super) fn below(&self, place: &VirtualPath) -> Vec<(&VirtualPath, &Learning)> {
        self.0.iter().filter(|(path, _)| path.is_below(place)).collect()
    }

    /// Returns the key of a file: its name, unless another file has that key, else category and name.
    pub(super) fn key(&self, category: &Category, name: &str, of: Option<&Learning>) -> Result<NoteKey> {
        let plain = NoteKey::new(name)?;
        let is_taken =
            |row: &Learning| row.key.as_ref() == Some(&plain) && of.is_none_or(|of| of.id != row.id);
        if self.0.values().any(is_taken) { NoteKey::new(format!("{category}/{name}")) } else { Ok(plain) }
    }

    /// Returns the listing of a directory, with sizes; `None` if it does not exist.
    pub(super) fn listing(&self, place: &VirtualPath) -> Option<String> {
        let files = self.below(place);
        if files.is_empty() && !place.is_root() {
            return None;
        }
        let mut sizes: BTreeMap<String, usize> = BTreeMap::from([(place.path(), 0)]);
        for (path, row) in files {
            for depth in place.0.len()..=path.0.len().min(place.0.len() + LEVELS) {
                let above = VirtualPath(path.0.iter().take(depth).cloned().collect());
                *sizes.entry(above.path()).or_default() += row.content.len();
            }
        }
        let mut lines = vec![format!(
            "Here're the files and directories up to {LEVELS} levels deep in {}:",
            place.path()
        )];
        let left = sizes.len().saturating_sub(MOST_LISTED);
        lines.extend(sizes.iter().take(MOST_LISTED).map(|(path, bytes)| format!("{}\t{path}", size(*bytes))));
        if left > 0 {
            lines.push(format!("… and {left} more; view a directory below."));
        }
        Some(lines.join("\n"))
    }
}

/// Returns the name of a note's file without its extension; `None` if its key cannot be a name.
fn name(row: &Learning) -> Option<&str> {
    let key = row.key.as_ref()?.as_str();
    let inside = key.strip_prefix(row.category.as_str()).and_then(|rest| rest.strip_prefix('/'));
    let name = inside.unwrap_or(key);
    (is_part(name) && name.len() + ENDING.len() <= LONGEST_PART).then_some(name)
}

/// Formats a size as `du -h` does.
fn size(bytes: usize) -> String {
    /// Bytes of a kibibyte.
    const KIB: usize = 1_024;
    if bytes < KIB { bytes.to_string() } else { format!("{}.{}K", bytes / KIB, bytes % KIB * 10 / KIB) }
}
