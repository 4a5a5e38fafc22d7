//! Training samples: questions with the measured signals of their candidates.

use std::collections::HashSet;

use anyhow::Result;
use mnemal::Engine;
use mnemal::recall::{RecallMode, RecallWeights};

use crate::metric::{Values, measure};
use crate::neutral::DataSet;
use crate::spaces::{Layout, QueryOptions, Spaces};

/// Candidates of a question that are looked at. Source: each arm proposes so many, and few of the last ones are ever found.
const CANDIDATES: usize = 200;

/// One candidate.
#[derive(Clone, Debug)]
pub struct Candidate {
    id: String,
    /// The value of each signal, 0 to 1, in the order of the table.
    pub values: Vec<f64>,
    /// It is evidence.
    pub is_gold: bool,
}

/// One question.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The conversation that it is asked of.
    pub conv: String,
    /// What recall found for it.
    pub candidates: Vec<Candidate>,
    evidence: Vec<String>,
}

impl Sample {
    /// Asks all questions of a data set, each at its moment if it has one, with a space for each conversation.
    ///
    /// # Errors
    /// A corpus that is not imported in full, or a recall that fails.
    pub async fn of(data: &DataSet) -> Result<Vec<Self>> {
        let mut spaces = Spaces::begin(data, Layout::Apart, &Engine::builder())?;
        let mut samples = Vec::new();
        for question in &data.questions {
            spaces.advance(std::slice::from_ref(question)).await?;
            let gold: HashSet<&String> =
                question.evidence.iter().filter(|id| data.turns.contains_key(*id)).collect();
            if gold.is_empty() {
                continue;
            }
            let asking = QueryOptions { limit: CANDIDATES, mode: RecallMode::Auto };
            let hits = spaces.hits(question, asking).await?;
            let candidate = |(id, hit): (String, mnemal::Hit)| Candidate {
                values: hit.parts.iter().map(|part| f64::from(part.normalized)).collect(),
                is_gold: gold.contains(&id),
                id,
            };
            samples.push(Self {
                conv: question.conv.clone(),
                candidates: hits.into_iter().map(candidate).collect(),
                evidence: gold.into_iter().cloned().collect(),
            });
        }
        Ok(samples)
    }

    /// Ranks the candidates by these weights, and measures the ranking.
    pub fn measured(&self, weights: &[f64]) -> Values {
        let mut ranked: Vec<(f64, &String)> =
            self.candidates.iter().map(|one| (dot(&one.values, weights), &one.id)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let ids: Vec<String> = ranked.into_iter().map(|(_, id)| id.clone()).collect();
        measure(&ids, &self.evidence)
    }
}

/// The names of the signals with their shipped weights, in the order of the table.
pub fn shipped() -> Vec<(&'static str, f64)> {
    RecallWeights::default().iter().map(|(name, weight)| (name, f64::from(weight))).collect()
}

pub(super) fn dot(values: &[f64], weights: &[f64]) -> f64 {
    values.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// A question whose turns have these ids, values and truths.
#[cfg(test)]
pub(super) fn sample(conv: &str, turns: Vec<(String, Vec<f64>, bool)>) -> Sample {
    let evidence = turns.iter().filter(|turn| turn.2).map(|turn| turn.0.clone()).collect();
    let candidate = |(id, values, is_gold)| Candidate { id, values, is_gold };
    Sample { conv: conv.to_owned(), candidates: turns.into_iter().map(candidate).collect(), evidence }
}
