//! `mnemal recall`.

use std::fmt::Write as _;

use anyhow::Result;
use mnemal::recall::{Cutoff, Diversity, RecallMode};
use mnemal::{Error, EventKind, Hit, Memory, RecallResult};
use serde::Serialize;

use crate::args::{Global, Recall};
use crate::output::Output;
use crate::wire::{self, EventForm, PartForm};

#[derive(Serialize)]
struct RecallForm {
    hits: Vec<HitForm>,
    used: &'static str,
    gaps: Vec<wire::GapForm>,
}

#[derive(Serialize)]
struct HitForm {
    #[serde(flatten)]
    event: EventForm,
    score: f32,
    evidence: f32,
    found_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explain: Vec<PartForm>,
}

/// Prints the hits, best first.
pub(super) async fn run(memory: &Memory, global: &Global, call: &Recall, output: &Output) -> Result<u8> {
    let here = crate::time::here(memory.admin().engine().now());
    let mut request =
        memory.recall(&call.query).zone(here).filter(super::filter(&call.filter)?).mode(mode(&call.mode)?);
    if let Some(limit) = call.limit {
        request = request.limit(limit);
    }
    if let Some(score) = call.min_score {
        request = request.min_score(score);
    }
    if call.varied {
        request = request.diversity(Diversity::Covering);
    }
    if call.close {
        request = request.cutoff(Cutoff::FallOff);
    }
    if call.ask_endpoint {
        request = request.embedded(memory.admin().embed_query(&call.query, super::ENDPOINT_DEADLINE).await);
    }
    let found = request.await?;
    let forms: Vec<HitForm> = found.hits.iter().map(|hit| form(hit, call)).collect();
    let text = human(&found, call);
    let answer = RecallForm { hits: forms, used: found.used.as_str(), gaps: wire::gaps(&found.gaps) };
    output.list(&answer.hits, &answer, || text)?;
    if found.hits.is_empty() {
        output.say("nothing found");
    }
    Ok(super::gaps(&found.gaps, global, output))
}

fn mode(name: &str) -> Result<RecallMode> {
    match name {
        "auto" | "hybrid" => Ok(RecallMode::Auto),
        "lexical" | "bm25" => Ok(RecallMode::Lexical),
        "vector" => Ok(RecallMode::Vector),
        other => {
            Err(Error::invalid(format!("no mode {other:?}; there are auto, hybrid, lexical and vector"))
                .into())
        }
    }
}

/// Returns the key of a hit that is a note.
fn key(hit: &Hit) -> Option<String> {
    match &hit.event.body()?.kind {
        EventKind::Decision(mnemal::Decision::Remember(note)) => note.key.as_ref().map(ToString::to_string),
        _ => None,
    }
}

fn form(hit: &Hit, call: &Recall) -> HitForm {
    HitForm {
        event: EventForm::from(&hit.event),
        score: hit.score.get(),
        evidence: hit.evidence,
        found_by: hit.found_by.as_str(),
        space: hit.space.as_ref().map(ToString::to_string),
        key: key(hit),
        explain: if call.explain { hit.parts.iter().map(PartForm::from).collect() } else { Vec::new() },
    }
}

fn human(found: &RecallResult, call: &Recall) -> String {
    let mut text = String::new();
    for (rank, hit) in (1..).zip(&found.hits) {
        // Writing into a string cannot fail.
        let _written = writeln!(text, "{rank:<2} {}", line(hit));
        if call.explain {
            let _written = writeln!(text, "     {} · {} · {}", hit.event.id, hit.found_by.as_str(), sum(hit));
        }
    }
    text
}

/// Formats score, level, day, space, speaker and text of a hit, with the key of a note.
pub(super) fn line(hit: &Hit) -> String {
    let Some(event) = hit.event.body() else { return String::new() };
    let day = event.occurred_at.civil(&event.zone).day_text();
    let speaker = event.speaker.as_ref().map(|name| name.as_str().to_owned());
    let speaker =
        speaker.or_else(|| super::place_of(event)).map(|name| format!(" {name}:")).unwrap_or_default();
    let words: String = event
        .content
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(160)
        .collect();
    let more = if event.content.chars().count() > 160 { "…" } else { "" };
    let note = key(hit).map(|key| format!("   ({key})")).unwrap_or_default();
    let space = hit.space.as_ref().map(|space| format!(", {space}")).unwrap_or_default();
    format!(
        "{:.2}  [{}, {day}{space}]{speaker} {words}{more}{note}",
        hit.score.get(),
        hit.event.level.as_str()
    )
}

/// Formats the summands of a score, largest first.
fn sum(hit: &Hit) -> String {
    let mut parts: Vec<_> = hit.parts.iter().filter(|part| part.value != 0.0).collect();
    parts.sort_by(|one, two| two.value.abs().total_cmp(&one.value.abs()));
    let shown: Vec<String> = parts.iter().map(|part| format!("{} {:+.3}", part.name, part.value)).collect();
    format!("{:.3} = {}", hit.score.get(), shown.join(" "))
}
