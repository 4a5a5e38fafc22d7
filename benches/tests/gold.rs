//! Gold-set integrity, and no regression of the extractor on the development halves.

#![expect(clippy::unwrap_used, reason = "the parts that tests share are tests too")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mnemal_benches::extraction::gold::{Gold, described};
use mnemal_benches::extraction::{read, traps};
use mnemal_extract::RuleExtractor;
use serde_json::Value;

fn gold() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/mnemal-extract/gold")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn rows(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_label_changes_only_together_with_its_hash() {
    let mut found = String::new();
    for path in files(&gold()) {
        let hash = blake3::hash(&std::fs::read(&path).unwrap()).to_hex();
        writeln!(found, "{hash}  {}", path.strip_prefix(gold()).unwrap().display()).unwrap();
    }
    let kept = gold().join("HASHES");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&kept, &found).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(&kept).unwrap(),
        found,
        "say it in CHANGES.md, and renew with UPDATE_GOLDEN=1"
    );
}

#[test]
fn no_dialogue_stands_in_both_halves() {
    for set in ["g1", "g4"] {
        let dialogues = |half: &str| -> BTreeSet<String> {
            let turns = rows(&gold().join(format!("{set}/{half}.turns.jsonl")));
            turns.iter().map(|turn| turn["dialogue"].as_str().unwrap().to_owned()).collect()
        };
        let (dev, held) = (dialogues("dev"), dialogues("held"));
        assert!(dev.len() >= 60 && held.len() >= 60, "{set}");
        assert_eq!(dev.intersection(&held).count(), 0, "{set}");
    }
}

#[test]
fn the_sets_are_as_large_as_they_must_be() {
    let both = |set: &str, kind: &str| -> Vec<Value> {
        ["dev", "held"]
            .iter()
            .flat_map(|half| rows(&gold().join(format!("{set}/{half}.{kind}.jsonl"))))
            .collect()
    };
    assert!(both("g1", "turns").len() >= 1_500);
    let exchanges = both("g4", "labels");
    let with = |acts: &[&str]| {
        let has = |row: &&Value| {
            row["acts"].as_array().unwrap().iter().any(|act| acts.contains(&act["act"].as_str().unwrap()))
        };
        exchanges.iter().filter(has).count()
    };
    assert!(exchanges.len() >= 900);
    assert!(with(&["reject", "repair"]) >= 150 && with(&["directive"]) >= 150);
}

/// Limits of the figures on the development half: those of the last change, with some tolerance.
const FLOORS: [(&str, f64); 6] = [
    ("faithful", 0.93),
    ("worth", 0.93),
    ("faithful_with_candidates", 0.77),
    ("self_statements_found", 0.68),
    ("entity_precision", 0.90),
    ("entity_recall", 0.83),
];
const CEILING: (&str, f64) = ("negated_stored", 0.02);

#[test]
fn claims_and_names_are_as_good_as_they_were() {
    let extractor = RuleExtractor::new();
    let (figures, _) = Gold::read(&gold().join("g1"), "dev").unwrap().measure(&extractor).unwrap();
    let value = |name: &str| figures[name]["value"].as_f64().unwrap();
    for (name, floor) in FLOORS {
        assert!(value(name) >= floor, "{name} fell to {}", value(name));
    }
    assert!(value(CEILING.0) <= CEILING.1, "{} rose to {}", CEILING.0, value(CEILING.0));
}

/// Turns whose extractions are kept as text.
const SHOWN: usize = 150;

#[test]
fn a_change_of_a_rule_shows_what_it_changes() {
    let turns = Gold::read(&gold().join("g1"), "dev").unwrap().turns;
    let found = read(&RuleExtractor::new(), &turns[..SHOWN]).unwrap();
    let mut shown = String::new();
    for (turn, extraction) in turns.iter().zip(&found) {
        writeln!(shown, "{}", turn.id).unwrap();
        for mention in &extraction.mentions {
            writeln!(shown, "  {} {}", mention.kind.as_str(), mention.name).unwrap();
        }
        for fact in &extraction.facts {
            writeln!(shown, "  {}", described(fact)).unwrap();
        }
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/extractions.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&kept, &shown).unwrap();
    }
    let known = std::fs::read_to_string(&kept).unwrap();
    let different = known.lines().zip(shown.lines()).find(|(old, new)| old != new);
    assert!(known == shown, "{different:?}: look at each change, and renew with UPDATE_GOLDEN=1");
}

// proves: DF-09
#[test]
fn nothing_is_claimed_from_what_is_none_of_the_users_words() {
    let extractor = RuleExtractor::new();
    assert_eq!(traps::of_others(&gold(), &extractor).unwrap().hits, 0);
    let (claimed, failures) = traps::claimed(&gold(), "dev", &extractor).unwrap();
    assert!(claimed.value() <= 0.01, "{failures:?}");
}
