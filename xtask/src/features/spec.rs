//! Parser for the ids of a specification: the requirement tables, and the list of them by crate.

use std::collections::{BTreeMap, BTreeSet};

/// Where the list by crate begins.
const LIST_HEADING: &str = "## Appendix B";
/// Prefixes of identifiers that describe and demand nothing by themselves.
const DESCRIBING: &[&str] = &["OS-", "UP-"];

/// The identifiers of a specification.
#[derive(Debug, Default)]
pub(super) struct Spec {
    /// Identifier → its owners as the table names them, in order; the first one owns the behavior.
    pub(super) requirements: BTreeMap<String, Vec<String>>,
    /// Crate (without prefix) → the identifiers listed for it.
    pub(super) by_crate: BTreeMap<String, Vec<String>>,
    /// Identifiers that a test may name although no crate owes them: proofs and rows that only describe.
    others: BTreeSet<String>,
    /// True if the file with the test program was there; otherwise its identifiers are taken on trust.
    knows_programme: bool,
}

impl Spec {
    /// Reads the specification and, if it is there, the test program beside it.
    pub(super) fn read(text: &str, programme: Option<&str>) -> Self {
        let mut spec = Self { knows_programme: programme.is_some(), ..Self::default() };
        let (tables, list) = text.split_once(LIST_HEADING).unwrap_or((text, ""));
        for cells in tables.lines().filter_map(row) {
            let (Some(id), Some(owner)) = (cells.first(), cells.last()) else { continue };
            if !is_requirement(id) {
                continue;
            }
            if id.contains(".T") || DESCRIBING.iter().any(|prefix| id.starts_with(prefix)) {
                spec.others.insert((*id).to_owned());
            } else {
                let owners = owner.split(',').map(|name| name.trim().to_owned()).collect();
                spec.requirements.insert((*id).to_owned(), owners);
            }
        }
        for cells in list.lines().filter_map(row) {
            if let [owner, ids] = cells.as_slice()
                && ids.contains(|c: char| c.is_ascii_digit())
            {
                spec.by_crate.insert((*owner).to_owned(), expand(ids));
            }
        }
        let cells = programme.unwrap_or_default().lines().filter_map(row);
        spec.others.extend(
            cells.filter_map(|cells| Some((*cells.first()?).to_owned())).filter(|id| is_programme(id)),
        );
        spec
    }

    /// Returns true if a test may name this identifier.
    pub(super) fn knows(&self, id: &str) -> bool {
        let on_trust = !self.knows_programme && is_programme(id);
        self.requirements.contains_key(id) || self.others.contains(id) || on_trust
    }
}

/// Returns the cells of a line of a Markdown table.
fn row(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

/// Whether a text is an id such as `GB-01`, `NX-01.5` or `NX-01.T1`.
pub(super) fn is_requirement(id: &str) -> bool {
    let Some((prefix, number)) = id.split_once('-') else { return false };
    let (main, part) = number.split_once('.').unwrap_or((number, "1"));
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    prefix.len() == 2
        && prefix.chars().all(|c| c.is_ascii_uppercase())
        && digits(main)
        && digits(part.strip_prefix('T').unwrap_or(part))
}

/// Returns true for identifiers of the test program: `D5`, `X1`, `PR12`.
pub(super) fn is_programme(id: &str) -> bool {
    let letters = id.chars().take_while(char::is_ascii_uppercase).count();
    let digits = id.chars().skip(letters);
    (1..=2).contains(&letters) && id.len() > letters && digits.clone().all(|c| c.is_ascii_digit())
}

/// Expands `GB 01, 09–11. NX 01.1–3, 6; 08.2.` into single identifiers.
fn expand(list: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for sentence in list.split(". ").map(|sentence| sentence.trim().trim_end_matches('.')) {
        let Some((prefix, numbers)) = sentence.split_once(' ') else { continue };
        for group in numbers.split(';') {
            let mut chapter = String::new();
            for item in group.split(',').map(str::trim) {
                let item = match item.split_once('.') {
                    Some((before, after)) => {
                        chapter = format!("{before}.");
                        after
                    }
                    None => item,
                };
                ids.extend(range(item).into_iter().map(|number| format!("{prefix}-{chapter}{number}")));
            }
        }
    }
    ids
}

/// Expands `09–11` to `09`, `10`, `11`, keeping the width of its first number.
fn range(item: &str) -> Vec<String> {
    let Some((first, last)) = item.split_once('–') else { return vec![item.to_owned()] };
    match (first.parse::<u32>(), last.parse::<u32>()) {
        (Ok(from), Ok(to)) => {
            (from..=to).map(|number| format!("{number:0width$}", width = first.len())).collect()
        }
        _ => vec![item.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_chapters_expand() {
        let expected =
            ["GB-01", "GB-09", "GB-10", "GB-11", "NX-01.1", "NX-01.2", "NX-01.6", "NX-08.2", "DF-105"];
        assert_eq!(expand("GB 01, 09–11. NX 01.1–2, 6; 08.2. DF 105."), expected);
    }

    #[test]
    fn identifiers_are_recognised_by_shape() {
        for id in ["GB-01", "NX-01.5", "NX-12.T3", "DF-105"] {
            assert!(is_requirement(id), "{id}");
        }
        for id in ["GB", "gb-01", "GB-", "NX-01.", "D5"] {
            assert!(!is_requirement(id), "{id}");
        }
        assert!(is_programme("D12") && is_programme("PR1") && !is_programme("D") && !is_programme("GB-1"));
    }

    #[test]
    fn proofs_and_pains_are_known_and_owed_by_nobody() {
        let text = "| NX-01.1 | A. | core |\n| NX-01.T1 | Property. |\n| UP-01 | Pain | x | y | z |\n";
        let spec = Spec::read(text, Some("| D1 | kill | x | y | z |\n"));
        assert_eq!(spec.requirements.keys().collect::<Vec<_>>(), ["NX-01.1"]);
        for id in ["NX-01.T1", "UP-01", "D1"] {
            assert!(spec.knows(id), "{id}");
        }
        assert!(!spec.knows("D2") && !spec.knows("NX-01.2"));
    }

    #[test]
    fn without_its_programme_a_specification_trusts_the_shape() {
        assert!(Spec::read("", None).knows("D2"));
    }
}
