//! Claims against the observations of annotators, which are stored next to their turns.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::Result;
use mnemal_core::{Confidence, Extraction, Extractor, Zone};
use serde::Deserialize;
use serde_json::{Value, json};

use super::stems::{is_in, stems};
use super::{Share, TurnText, moment, read};
use crate::neutral::lines;

#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    #[serde(default)]
    session: String,
    ts: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Fact {
    fact: String,
    #[serde(default)]
    evidence: Vec<String>,
}

/// Turns with what annotators noted of them.
#[derive(Debug)]
pub struct AnnotatedTurns {
    /// The turns, in the order of the file.
    pub turns: Vec<TurnText>,
    observations: Vec<(String, Vec<String>, Vec<usize>)>,
}

impl AnnotatedTurns {
    /// Reads a folder with `corpus.jsonl` and `facts.jsonl`.
    ///
    /// # Errors
    /// A file that is missing, or a line that is no such record.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut turns: Vec<TurnText> = Vec::new();
        let mut session = String::new();
        for line in lines::<Line>(&folder.join("corpus.jsonl"))? {
            let (at, _) = moment(&line.ts)?;
            let before = turns.last().filter(|_| session == line.session);
            let before = before.map(|turn| turn.text.clone()).unwrap_or_default();
            session = line.session;
            turns.push(TurnText { id: line.id, before, text: line.text, at, zone: Zone::utc() });
        }
        let places: HashMap<&str, usize> =
            turns.iter().enumerate().map(|(place, turn)| (turn.id.as_str(), place)).collect();
        let observation = |fact: Fact| {
            let of = fact.evidence.iter().filter_map(|id| places.get(id.as_str()).copied()).collect();
            (stems(&fact.fact), fact.fact, of)
        };
        let facts = lines::<Fact>(&folder.join("facts.jsonl"))?.into_iter().map(observation);
        let observations = facts.map(|(stems, text, of)| (text, stems, of)).collect();
        Ok(Self { turns, observations })
    }

    /// Returns the figures of an extractor: `match`, `recall`, `per_turn`, `active_per_turn`, `n`, and rules.
    ///
    /// # Errors
    /// A turn that cannot become an event.
    pub fn measure(&self, extractor: &dyn Extractor) -> Result<(Value, Vec<Extraction>)> {
        let found = read(extractor, &self.turns)?;
        let mut of_turn: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, (_, _, turns)) in self.observations.iter().enumerate() {
            for turn in turns {
                of_turn.entry(*turn).or_default().push(number);
            }
        }
        let mut seen = vec![false; self.observations.len()];
        let (mut matched, mut active, mut by_rule) = (Share::default(), Share::default(), BTreeMap::new());
        for (turn, extraction) in found.iter().enumerate() {
            for fact in &extraction.facts {
                let mut is_match = false;
                for number in of_turn.get(&turn).into_iter().flatten() {
                    let fits =
                        self.observations.get(*number).is_some_and(|of| is_in(&fact.object.text, &of.1));
                    if fits && let Some(seen) = seen.get_mut(*number) {
                        *seen = true;
                        is_match = true;
                    }
                }
                matched.count(is_match);
                if fact.confidence >= Confidence::ACTIVE {
                    active.count(is_match);
                }
                by_rule.entry(fact.rule.as_str().to_owned()).or_insert_with(Share::default).count(is_match);
            }
        }
        let recall = Share { hits: seen.iter().filter(|seen| **seen).count(), n: seen.len() };
        let per_turn = |n: usize| n as f64 / self.turns.len().max(1) as f64;
        let rules: BTreeMap<String, Value> =
            by_rule.into_iter().map(|(rule, share)| (rule, share.json())).collect();
        let value = json!({
            "match": matched.json(), "recall": recall.json(), "per_turn": per_turn(matched.n),
            "active_match": active.json(), "active_per_turn": per_turn(active.n),
            "n": self.turns.len(), "by_rule": rules,
            "note": "observations are not exhaustive: match is a lower bound, and a trend",
        });
        Ok((value, found))
    }

    /// Returns the observations of a turn.
    pub fn of_turn(&self, turn: usize) -> impl Iterator<Item = &str> {
        self.observations.iter().filter(move |(_, _, of)| of.contains(&turn)).map(|(text, ..)| text.as_str())
    }
}
