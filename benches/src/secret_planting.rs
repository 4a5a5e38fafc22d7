//! Secret planting: made-up secrets in typical places, and a count of those that remain readable.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};
use mnemal_extract::{SecretRules, synth};
use serde::Serialize;
use serde_json::Value;

use crate::words::Dice;

/// Results of planting, and of reading ordinary conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Secrets that were planted.
    pub planted: u64,
    /// Kinds of secrets among them.
    pub kinds: u64,
    /// Secrets that were still to be read afterwards.
    pub passed: u64,
    /// Turns of conversation that were read.
    pub turns: u64,
    /// Places in them that were taken for a secret.
    pub false_positives: u64,
    /// Rules and surroundings of the secrets that passed, with how often.
    pub passed_by: BTreeMap<String, u64>,
    /// Rules with false positives, with their number, by folder.
    pub false_by: BTreeMap<String, u64>,
}

/// Surroundings of a secret: text before and after its sentence.
const PLACES: [(&str, &str, &str); 12] = [
    ("chat", "hey, before I forget: ", " thanks!"),
    ("list", "- ask Ben\n- ", "\n- call the bank"),
    ("shell", "$ export TOKEN_X=1\n$ # ", "\n$ ./run.sh"),
    ("comment", "fn main() {\n    // ", "\n    run();\n}"),
    ("env file", "HOST=db.internal\nPORT=5432\n# ", "\nDEBUG=1\n"),
    ("yaml", "service:\n  name: api\n  note: ", "\n  replicas: 2\n"),
    ("quotes", "he wrote \"", "\" and left"),
    ("code span", "use `", "` for now"),
    ("log", "2031-05-01T10:00:00Z INFO worker[12] said: ", " (took 3 ms)"),
    ("mail", "> On Monday, Ana wrote:\n> ", "\n\nRegards"),
    ("brackets", "it is (", "), I think"),
    ("fence", "```sh\n# ", "\n```"),
];

/// Plants this many secrets, every kind in turn and in every place, and reads the remains.
pub fn plant(secrets: usize, seed: u64) -> Tally {
    let rules = SecretRules::built_in();
    let kinds: Vec<&str> = synth::rule_ids().collect();
    let mut tally = Tally { kinds: kinds.len().min(secrets) as u64, ..Tally::default() };
    let mut dice = Dice::new(seed);
    let places = PLACES.iter().map(|place| Some(*place)).chain([None]);
    let all: Vec<Option<(&str, &str, &str)>> = places.collect();
    for (number, kind) in kinds.iter().cycle().take(secrets).enumerate() {
        let Some(planted) = synth::phrase(kind, dice.bits()) else { continue };
        let round = number / kinds.len().max(1) + number;
        let place = all.get(round % all.len()).copied().flatten();
        let (name, text) = match place {
            Some((name, before, after)) => (name, [before, planted.text.as_str(), after].concat()),
            None => ("json", serde_json::json!({ "text": planted.text, "at": number }).to_string()),
        };
        let redacted =
            rules.redact(&text, &|secret| u16::try_from(secret.len() & 0xffff).unwrap_or_default());
        tally.planted += 1;
        if is_readable(&redacted.text, &planted.secret) {
            tally.passed += 1;
            *tally.passed_by.entry(format!("{kind} in {name}")).or_default() += 1;
        }
    }
    tally
}

/// The secret is there as it is, or as JSON writes it.
fn is_readable(text: &str, secret: &str) -> bool {
    let quoted = Value::from(secret).to_string();
    text.contains(secret) || text.contains(quoted.trim_matches('"'))
}

/// Reads the turns of a folder's `corpus.jsonl` and counts false positives.
///
/// # Errors
/// When the file is missing or a line of it is no JSON.
pub fn false_positives(folder: &Path, tally: &mut Tally) -> Result<()> {
    let rules = SecretRules::built_in();
    let path = folder.join("corpus.jsonl");
    let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for line in BufReader::new(file).lines() {
        let turn: Value =
            serde_json::from_str(&line?).with_context(|| format!("a line of {}", path.display()))?;
        let Some(text) = turn.get("text").and_then(Value::as_str) else { continue };
        tally.turns += 1;
        for found in rules.redact(text, &|_| 0).found {
            tally.false_positives += 1;
            *tally.false_by.entry(format!("{} in {name}", found.rule)).or_default() += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: X1 (the part of the rules)
    #[test]
    fn no_planted_secret_of_any_kind_passes() {
        let tally = plant(1_100, 3);
        assert!(tally.planted == 1_100 && tally.kinds >= 60, "{tally:?}");
        assert_eq!(tally.passed, 0, "{:?}", tally.passed_by);
    }
}
