//! Fact explanations: the competing facts, and what ended a fact.

use mnemal::graph::FactExplanation;
use schemars::JsonSchema;
use serde::Serialize;

/// What a fact was weighed against.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FactExplanation")]
pub struct FactExplanationForm {
    /// Claims that were weighed together.
    claims: usize,
    /// Those of them that it rests on.
    own: usize,
    /// Conversations and speakers from which its own come.
    voices: usize,
    /// Different values among all of them.
    values: usize,
    /// What put an end to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<EndForm>,
}

/// Why a fact holds no more.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FactEnd")]
pub struct EndForm {
    /// `newer_value`, `user_correction`, `backfill`, `ended` or `rejected`.
    reason: &'static str,
    /// The event that says so.
    by: String,
    /// The rule that read it there.
    rule: String,
}

impl From<&FactExplanation> for FactExplanationForm {
    fn from(of: &FactExplanation) -> Self {
        let ended = of.ended.as_ref().map(|end| EndForm {
            reason: end.reason.as_str(),
            by: end.by.to_string(),
            rule: end.rule.to_string(),
        });
        Self { claims: of.claims, own: of.own, voices: of.voices, values: of.values, ended }
    }
}
