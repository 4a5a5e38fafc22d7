//! `mnemal summary`.

use anyhow::Result;
use mnemal::learnings::ProfileHeading;
use mnemal::summaries::{NodePath, SummaryState};
use mnemal::types::GapCause;
use mnemal::{AsOf, Error, Gap, Learning, Memory};
use serde::Serialize;

use crate::args::{Global, Summary};
use crate::output::Output;

/// Shows a summary, or the tree below it.
pub(super) async fn run(memory: &Memory, global: &Global, call: Summary, output: &Output) -> Result<u8> {
    let as_of = super::fact::moment(memory, &call.when)?;
    let is_past = call.when.as_of.is_some() || call.when.believed_at.is_some();
    let path = path(memory, &call.key, as_of).await?;
    // As long as there is progress.
    let (mut gaps, mut before) = (memory.admin().engine().refresh_summaries().await?, u64::MAX);
    while call.refresh && (1..before).contains(&behind(&gaps)) {
        before = behind(&gaps);
        gaps = memory.admin().engine().refresh_summaries().await?;
    }
    if call.tree {
        let found = memory.summaries().tree(&path, call.depth).await?;
        gaps.extend(found.gaps);
        let forms: Vec<SummaryForm> = found.value.iter().map(SummaryForm::new).collect();
        let document = TreeForm { summaries: &forms };
        output
            .list(&forms, &document, || forms.iter().map(SummaryForm::line).collect::<Vec<_>>().join("\n"))?;
    } else {
        let found = memory.summaries().get(&path, is_past.then_some(as_of)).await?;
        gaps.extend(found.gaps);
        let mut form = SummaryForm::new(&found.value);
        if path == NodePath::Preferences {
            form.text = under_headings(&memory.preferences().profile(as_of).await?);
        }
        output.answer(&form, || form.page())?;
    }
    gaps.dedup();
    Ok(super::gaps(&gaps, global, output))
}

/// Parses a node key; entities and topics can be given by name too.
async fn path(memory: &Memory, key: &str, as_of: AsOf) -> Result<NodePath> {
    let path = key.parse::<NodePath>();
    match (path, key.split_once(':')) {
        (Err(_), Some(("entity", name))) => {
            Ok(NodePath::Entity(memory.facts().graph().await?.whom(name, as_of).await?.id))
        }
        (Err(_), Some(("topic", name))) => {
            let topics = memory.facts().graph().await?.topics(as_of).await?;
            let wanted = name.to_lowercase();
            let topic = topics.iter().find(|topic| topic.name.to_lowercase() == wanted);
            let topic = topic.ok_or_else(|| Error::not_found(format!("nothing is said about {name:?}")))?;
            Ok(NodePath::Topic(topic.id))
        }
        (path, _) => Ok(path?),
    }
}

/// Formats the preference profile.
fn under_headings(page: &[(ProfileHeading, Learning)]) -> String {
    let of_heading = |rows: &[(ProfileHeading, Learning)]| {
        let heading = rows.first().map_or("", |(heading, _)| heading.as_str());
        let lines: Vec<String> = rows.iter().map(|(_, row)| format!("- {}", row.content)).collect();
        format!("{heading}\n{}", lines.join("\n"))
    };
    page.chunk_by(|(one, _), (other, _)| one == other).map(of_heading).collect::<Vec<_>>().join("\n\n")
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
    lines: Vec<SummaryLineForm>,
    #[serde(skip)]
    depth: usize,
}

/// A sentence and its source.
#[derive(Serialize)]
struct SummaryLineForm {
    text: String,
    event_id: String,
    start: u32,
    end: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    at: String,
}

impl SummaryForm {
    fn new(standing: &SummaryState) -> Self {
        let node = &standing.node;
        let lines = node.lines.iter().map(|line| SummaryLineForm {
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
            text: standing.text(),
            method: standing.method(),
            behind: standing.behind,
            stale: standing.is_stale(),
            updated_at: node.updated_at.to_string(),
            event_count: node.events,
            source_event_ids,
            lines: lines.collect(),
            depth: standing.depth,
        }
    }

    /// Formats the text with each sentence's event, for use with `log show`.
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
