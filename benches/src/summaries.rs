//! Session summaries against human or model references: the condenser, lead, `TextRank` and chance.

pub mod fit;
mod rank;
mod rouge;
pub mod speed;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use mnemal_core::TokenCount;
use mnemal_summaries::{Limits, SelectedSentence, Utterance, Weights, condense_with};
use mnemal_text::{Language, estimate_tokens};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::rouge::{MEASURES, Rouge, rouge};
use crate::neutral::lines;
use crate::paired::interval;

/// Tokens of a summary. Source: own choice, session summaries of 120 tokens.
pub const BUDGET: TokenCount = TokenCount(120);
/// The ways to choose sentences, the condenser first.
const ARMS: [&str; 4] = ["condensed", "lead", "textrank", "random"];

/// One turn.
#[derive(Clone, Debug, Deserialize)]
struct Turn {
    conv: String,
    session: String,
    ts: String,
    speaker: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Reference {
    session: String,
    summary: String,
}

/// A session with its reference.
#[derive(Clone, Debug)]
pub struct Session {
    /// The conversation that it is part of.
    pub conv: String,
    day: String,
    turns: Vec<(String, String)>,
    reference: String,
}

impl Session {
    /// Reads the sessions of a folder that have a reference in its `summaries.jsonl`.
    ///
    /// # Errors
    /// A file that is missing, or a line that is no such record, which is named.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>> {
        let references: Vec<Reference> = lines(&folder.join("summaries.jsonl"))?;
        let mut turns: BTreeMap<String, Vec<Turn>> = BTreeMap::new();
        for turn in lines::<Turn>(&folder.join("corpus.jsonl"))? {
            turns.entry(turn.session.clone()).or_default().push(turn);
        }
        let session = |Reference { session, summary }: Reference| {
            let turns = turns.get(&session)?;
            let first = turns.first()?;
            Some(Self {
                conv: first.conv.clone(),
                day: first.ts.chars().take(10).collect(),
                turns: turns.iter().map(|turn| (turn.speaker.clone(), turn.text.clone())).collect(),
                reference: summary,
            })
        };
        Ok(references.into_iter().filter_map(session).collect())
    }

    /// Returns what was said.
    pub fn said(&self) -> Vec<Utterance<'_>> {
        self.turns
            .iter()
            .map(|(speaker, text)| Utterance { speaker: Some(speaker), text, echo: &[] })
            .collect()
    }

    fn scored(&self, arm: &str, limits: Limits, seed: u64) -> Rouge {
        let said = self.said();
        let limits = limits_behind(&self.day, limits);
        let kept = match arm {
            "lead" => rank::lead(&said, limits),
            "textrank" => rank::textrank(&said, limits),
            "random" => rank::random(&said, limits, seed),
            _ => condense_with(Language::English, &said, limits, Weights::default()),
        };
        rouge(&self.rendered(&said, &kept), &self.reference)
    }

    /// Measures sentences that were chosen with some weights.
    pub(crate) fn weighed(&self, limits: Limits, weights: Weights) -> Rouge {
        let said = self.said();
        let kept = condense_with(Language::English, &said, limits_behind(&self.day, limits), weights);
        rouge(&self.rendered(&said, &kept), &self.reference)
    }

    /// The day, then the sentences, with a name wherever someone else speaks.
    fn rendered(&self, said: &[Utterance<'_>], kept: &[SelectedSentence]) -> String {
        let (mut text, mut last) = (self.day.clone(), None);
        for one in kept {
            let Some(of) = said.get(one.utterance) else { continue };
            if last != of.speaker {
                text.push(' ');
                text.push_str(of.speaker.unwrap_or_default());
                text.push(':');
                last = of.speaker;
            }
            let range = one.span.start as usize..one.span.end as usize;
            text.push(' ');
            text.push_str(of.text.get(range).unwrap_or_default());
        }
        text
    }
}

fn limits_behind(day: &str, limits: Limits) -> Limits {
    Limits { tokens: limits.tokens.minus(TokenCount(estimate_tokens(day) + 1)), ..limits }
}

/// Compares the ways to choose sentences.
pub fn figures(sessions: &[Session], limits: Limits) -> Map<String, Value> {
    let scores: BTreeMap<&str, Vec<Rouge>> = ARMS
        .into_iter()
        .map(|arm| (arm, sessions.iter().zip(1..).map(|(one, seed)| one.scored(arm, limits, seed)).collect()))
        .collect();
    let mut figures = Map::new();
    figures.insert("sessions".to_owned(), sessions.len().into());
    for (arm, scores) in &scores {
        figures.insert((*arm).to_owned(), means(scores));
    }
    let own = scores.get(ARMS[0]).map(Vec::as_slice).unwrap_or_default();
    for arm in ARMS.into_iter().skip(1) {
        let others = scores.get(arm).map(Vec::as_slice).unwrap_or_default();
        figures.insert(format!("above_{arm}"), above(own, others));
    }
    figures
}

/// The mean of each measure.
pub(crate) fn means(scores: &[Rouge]) -> Value {
    let mean = |place: usize| {
        scores.iter().filter_map(|score| score.get(place)).sum::<f64>() / scores.len().max(1) as f64
    };
    MEASURES
        .iter()
        .enumerate()
        .map(|(place, name)| ((*name).to_owned(), rounded(mean(place))))
        .collect::<Map<_, _>>()
        .into()
}

fn above(own: &[Rouge], others: &[Rouge]) -> Value {
    let of = |place: usize| {
        let pairs = own.iter().zip(others);
        let differences: Vec<f64> =
            pairs.filter_map(|(one, other)| Some(one.get(place)? - other.get(place)?)).collect();
        let found = interval(&differences);
        json!({"mean": rounded(found.mean), "low": rounded(found.low), "high": rounded(found.high)})
    };
    MEASURES
        .iter()
        .enumerate()
        .map(|(place, name)| ((*name).to_owned(), of(place)))
        .collect::<Map<_, _>>()
        .into()
}

fn rounded(value: f64) -> Value {
    json!((value * 10_000.0).round() / 10_000.0)
}
