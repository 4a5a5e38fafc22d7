//! `mnemal diff`.

use std::fmt::Write as _;

use anyhow::Result;
use mnemal::Memory;
use mnemal::graph::BeliefChange;
use serde::Serialize;

use super::why::{SourceTextForm, evidence};
use crate::args::Diff;
use crate::output::Output;
use crate::time;

#[derive(Serialize)]
struct ChangesForm {
    from: String,
    to: String,
    changes: Vec<ChangeForm>,
}

#[derive(Serialize)]
struct ChangeForm {
    of: &'static str,
    change: &'static str,
    at: String,
    record: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    evidence: Vec<SourceTextForm>,
}

/// Prints the beliefs that were added, dropped or changed.
pub(super) async fn run(memory: &Memory, call: &Diff, output: &Output) -> Result<u8> {
    let from = time::read(&call.from)?;
    let to = match &call.to {
        Some(to) => time::read(to)?,
        None => memory.admin().engine().now(),
    };
    let changes = memory.facts().diff(from, to).await?;
    let mut all: Vec<(&'static str, &BeliefChange)> =
        changes.facts.iter().map(|change| ("fact", change)).collect();
    all.extend(changes.learnings.iter().map(|change| ("learning", change)));
    all.sort_by_key(|(_, change)| change.at);
    let forms = all.iter().map(|(of, change)| ChangeForm {
        of,
        change: change.kind.as_str(),
        at: change.at.to_string(),
        record: change.record.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
        cause: change.cause.map(|cause| cause.to_string()),
        evidence: change.evidence.iter().map(SourceTextForm::from).collect(),
    });
    let form = ChangesForm { from: from.to_string(), to: to.to_string(), changes: forms.collect() };
    output.list(&form.changes, &form, || {
        if all.is_empty() {
            return "nothing came to be believed, was dropped or changed".to_owned();
        }
        all.iter().map(|(of, change)| line(of, change)).collect::<Vec<_>>().join("\n")
    })?;
    Ok(0)
}

fn line(of: &str, change: &BeliefChange) -> String {
    let told = match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("{before}  →  {after}"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => String::new(),
    };
    let mut text = format!("{}  {:<8}  {of}: {told}  {}", change.at, change.kind.as_str(), change.record);
    for sentence in &change.evidence {
        let _written = write!(text, "\n    {}", evidence(sentence));
    }
    text
}
