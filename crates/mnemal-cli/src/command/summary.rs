//! `mnemal summary`.

use anyhow::Result;
use mnemal::{Gap, GapCause, Memory, NodePath, Standing, render_summary};
use serde::Serialize;

use crate::args::{Global, Summary};
use crate::output::Output;

/// Shows a summary, or what stands below it.
pub(super) async fn run(memory: &Memory, global: &Global, call: Summary, output: &Output) -> Result<u8> {
    let path: NodePath = call.key.parse()?;
    // As long as it gets on.
    let (mut refreshed, mut before) = (memory.engine().refresh_summaries().await?, u64::MAX);
    while call.refresh && (1..before).contains(&behind(&refreshed)) {
        before = behind(&refreshed);
        refreshed = memory.engine().refresh_summaries().await?;
    }
    let summaries = memory.summaries().await?;
    if call.tree {
        let found = summaries.tree(&path, call.depth).await?;
        let forms: Vec<SummaryForm> = found.iter().map(SummaryForm::new).collect();
        let document = TreeForm { summaries: &forms };
        output
            .list(&forms, &document, || forms.iter().map(SummaryForm::line).collect::<Vec<_>>().join("\n"))?;
    } else {
        let form = SummaryForm::new(&summaries.get(&path).await?);
        output.answer(&form, || form.page())?;
    }
    Ok(super::gaps(&refreshed, global, output))
}

fn behind(gaps: &[Gap]) -> u64 {
    let behind = |gap: &Gap| match gap.cause {
        GapCause::Stale { behind } => Some(behind),
        _ => None,
    };
    gaps.iter().find_map(behind).unwrap_or_default()
}

#[derive(Serialize)]
struct TreeForm<'f> {
    summaries: &'f [SummaryForm],
}

#[derive(Serialize)]
struct SummaryForm {
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_key: Option<String>,
    text: String,
    method: &'static str,
    behind: u64,
    stale: bool,
    updated_at: String,
    event_count: u64,
    source_event_ids: Vec<String>,
    lines: Vec<LineForm>,
    #[serde(skip)]
    depth: usize,
}

/// A sentence, and where it stands.
#[derive(Serialize)]
struct LineForm {
    text: String,
    event_id: String,
    start: u32,
    end: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    at: String,
}

impl SummaryForm {
    fn new(standing: &Standing) -> Self {
        let node = &standing.node;
        let lines = node.lines.iter().map(|line| LineForm {
            text: line.text.clone(),
            event_id: line.source.event.to_string(),
            start: line.source.span.start,
            end: line.source.span.end,
            speaker: line.speaker.as_ref().map(|speaker| speaker.as_str().to_owned()),
            at: line.occurred_at.to_string(),
        });
        let mut source_event_ids: Vec<String> =
            node.lines.iter().map(|line| line.source.event.to_string()).collect();
        source_event_ids.dedup();
        Self {
            key: node.path.to_string(),
            parent_key: node.parents.first().map(NodePath::to_string),
            text: render_summary(&node.lines),
            method: "extractive",
            behind: standing.behind,
            stale: standing.is_stale(),
            updated_at: node.updated_at.to_string(),
            event_count: node.events,
            source_event_ids,
            lines: lines.collect(),
            depth: standing.depth,
        }
    }

    /// The text, then each sentence's event, so that it can be shown with `log show`.
    fn page(&self) -> String {
        let sources =
            self.lines.iter().map(|line| format!("  {}  {}", line.event_id, line.text.replace('\n', " ")));
        format!("{}{}\n\n{}", self.text, self.waiting(), sources.collect::<Vec<_>>().join("\n"))
    }

    fn line(&self) -> String {
        let first = self.text.lines().next().unwrap_or_default();
        let events = if self.event_count == 1 { "event" } else { "events" };
        format!(
            "{}{} ({} {events}){}\n{}  {first}",
            "  ".repeat(self.depth),
            self.key,
            self.event_count,
            self.waiting(),
            "  ".repeat(self.depth)
        )
    }

    fn waiting(&self) -> String {
        if self.behind == 0 { String::new() } else { format!(" (+{} not read yet)", self.behind) }
    }
}
