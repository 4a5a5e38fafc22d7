//! `mnemal dream sample` and `mnemal dream judge`: human review of consolidation decisions.

use anyhow::Result;
use mnemal::dream::{Assessment, DreamSample};
use mnemal::{Learning, Memory};
use serde::Serialize;

use crate::output::Output;

#[derive(Serialize)]
struct SamplesForm<'f> {
    decisions: &'f [SampleForm],
}

#[derive(Serialize)]
struct SampleForm {
    id: String,
    family: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    notes: Vec<NoteForm>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beside: Vec<NoteForm>,
}

#[derive(Serialize)]
struct NoteForm {
    id: String,
    text: String,
    supports: usize,
}

#[derive(Serialize)]
struct JudgmentForm {
    id: String,
    opinion: &'static str,
}

/// Prints this week's sample.
pub(super) async fn list(memory: &Memory, output: &Output) -> Result<u8> {
    let found = memory.admin().engine().dream_sample().await?;
    let forms: Vec<SampleForm> = found.iter().map(SampleForm::from).collect();
    output.list(&forms, &SamplesForm { decisions: &forms }, || {
        if forms.is_empty() {
            return "there is nothing to judge".to_owned();
        }
        forms.iter().flat_map(SampleForm::lines).collect::<Vec<_>>().join("\n")
    })?;
    Ok(0)
}

/// Records an opinion.
pub(super) async fn judge(
    memory: &Memory,
    (id, opinion): (u128, Assessment),
    words: &str,
    output: &Output,
) -> Result<u8> {
    memory.admin().engine().note_opinion(id, opinion, words).await?;
    let form = JudgmentForm { id: format!("{id:032x}"), opinion: opinion.as_str() };
    output.answer(&form, || format!("{}: {}", form.id, form.opinion))?;
    Ok(0)
}

impl From<&DreamSample> for SampleForm {
    fn from(sample: &DreamSample) -> Self {
        Self {
            id: format!("{:032x}", sample.id),
            family: sample.family.as_str(),
            event_id: sample.operation.map(|event| event.to_string()),
            notes: sample.notes.iter().map(NoteForm::from).collect(),
            beside: sample.beside.iter().map(NoteForm::from).collect(),
        }
    }
}

impl From<&Learning> for NoteForm {
    fn from(row: &Learning) -> Self {
        Self { id: row.id.to_string(), text: row.content.replace('\n', " "), supports: row.sources.len() }
    }
}

impl SampleForm {
    fn lines(&self) -> Vec<String> {
        let event = self.event_id.as_ref().map_or_else(String::new, |event| format!("  {event}"));
        let mut lines = vec![format!("{}  {}{event}", self.id, self.family)];
        let said = |sign: char, note: &NoteForm| format!("  {sign} {} ({})", note.text, note.supports);
        lines.extend(self.notes.iter().enumerate().map(|(place, note)| {
            let is_gone = self.family == "noise" || self.family == "merged" && place > 0;
            said(if is_gone { '-' } else { '=' }, note)
        }));
        lines.extend(self.beside.iter().map(|note| said('~', note)));
        lines
    }
}
