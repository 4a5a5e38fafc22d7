//! `mnemal memory`, `mnemal learning`, `mnemal preference`: notes and learnings, and the user's decisions about them.

use std::time::Duration;

use anyhow::Result;
use mnemal::events::NoteTarget;
use mnemal::learnings::{Basis, LearningStatus, THIS_CONVERSATION, target_of};
use mnemal::types::{Category, Scored};
use mnemal::{AsOf, Decision, Learning, LearningFilter, LearningKind, Memory, UserId, Within};
use serde::Serialize;

use super::{decided, within};
use crate::args::{MemoryCall, NoteFilter};
use crate::confirm::RunMode;
use crate::output::Output;
use crate::wire::{EXPIRED, MemoryForm, kind_named};

/// Time limit for folding pending events. Source: own default, which a person at a terminal tolerates.
const READING: Duration = Duration::from_secs(10);

/// The rows of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    /// Notes and learnings.
    Everything,
    /// Inferred learnings.
    Learnings,
    /// Preferences of the user.
    Preferences,
}

/// Lists, shows, or decides about notes and learnings.
pub(super) async fn run(memory: &Memory, of: RowKind, call: MemoryCall, output: &Output) -> Result<u8> {
    for gap in memory.admin().engine().fold_within(READING).await {
        output.say(&format!("gap: {gap}"));
    }
    match call {
        MemoryCall::List(which) => list(memory, of, &which, output).await,
        MemoryCall::Show { name } => show(memory, &name, output).await,
        MemoryCall::History { name } => history(memory, &name, output).await,
        MemoryCall::Archive { name } => {
            decide(memory, &name, ("archive", "archived"), Decision::Archive, output).await
        }
        MemoryCall::Restore { name } => {
            decide(memory, &name, ("restore", "restored"), Decision::Restore, output).await
        }
        MemoryCall::Reject { name } => {
            decide(memory, &name, ("reject", "rejected"), Decision::Reject, output).await
        }
        MemoryCall::Confirm { name, text } => confirm(memory, &name, text, output).await,
        MemoryCall::Pin { name } => {
            let id = memory.preferences().pin(&name).await?.id;
            output.answer(&PinForm { event_id: id.to_string() }, || format!("pinned  ({id})"))?;
            Ok(0)
        }
        MemoryCall::Unpin { name } => {
            let id = memory.preferences().unpin(&name).await?.id;
            output
                .answer(&PinForm { event_id: id.to_string() }, || format!("not pinned any more  ({id})"))?;
            Ok(0)
        }
        MemoryCall::Categories => categories(memory, output).await,
    }
}

async fn list(memory: &Memory, of: RowKind, which: &NoteFilter, output: &Output) -> Result<u8> {
    let filter = LearningFilter {
        kind: match &which.kind {
            Some(name) => Within::Only(kind_named(name)?),
            None => Within::All,
        },
        category: within(which.category.as_deref(), |path| Category::new(path))?,
        user: within(which.user.as_deref(), |name| UserId::new(name))?,
        topics: if which.topics.is_empty() {
            Within::All
        } else {
            Within::Only(which.topics.iter().map(|topic| topic.to_lowercase()).collect())
        },
        ..LearningFilter::all()
    };
    let now = memory.admin().engine().now();
    let mut rows: Vec<Learning> = if which.waiting {
        memory.preferences().to_review(&filter).await?
    } else if which.all {
        memory.preferences().all_learnings(&filter).await?
    } else {
        let holding = memory.preferences().learnings(&filter, AsOf::present(now)).await?;
        holding.into_iter().map(|Scored { item, .. }| item).collect()
    };
    rows.retain(|row| match of {
        RowKind::Everything => true,
        RowKind::Learnings => row.kind != LearningKind::Note,
        RowKind::Preferences => matches!(row.kind, LearningKind::Preference | LearningKind::AntiPattern),
    });
    let mut forms: Vec<MemoryForm> = rows.iter().map(|row| MemoryForm::new(memory, row, now)).collect();
    forms.retain(|form| which.kind.as_ref().is_none_or(|kind| form.kind == kind));
    output.list(&forms, &MemoriesForm { memories: &forms }, || lines(&forms))?;
    Ok(0)
}

async fn show(memory: &Memory, name: &str, output: &Output) -> Result<u8> {
    let row = memory.preferences().learning(name).await?;
    let form = MemoryForm::new(memory, &row, memory.admin().engine().now());
    output.answer(&form, || format_row(&form))?;
    Ok(0)
}

async fn history(memory: &Memory, name: &str, output: &Output) -> Result<u8> {
    let row = memory.preferences().learning(name).await?;
    let versions = match &row.key {
        Some(key) => memory.preferences().history(key).await?,
        None => vec![row],
    };
    let now = memory.admin().engine().now();
    let forms: Vec<MemoryForm> = versions.iter().map(|row| MemoryForm::new(memory, row, now)).collect();
    output.list(&forms, &MemoriesForm { memories: &forms }, || {
        let version = |form: &MemoryForm| format!("{}  {}  {}", form.version, form.created_at, line(form));
        forms.iter().map(version).collect::<Vec<_>>().join("\n")
    })?;
    Ok(0)
}

async fn decide(
    memory: &Memory,
    name: &str,
    (verb, done): (&'static str, &str),
    make: impl FnOnce(NoteTarget) -> Decision,
    output: &Output,
) -> Result<u8> {
    let row = memory.preferences().learning(name).await?;
    let text = format!("{done}: {}", row.content);
    decided(memory, make(target_of(&row)), RunMode::Really, output, (verb, &[row.id.to_string()], &text))
        .await
}

async fn confirm(memory: &Memory, name: &str, text: Option<String>, output: &Output) -> Result<u8> {
    let row = memory.preferences().learning(name).await?;
    let text = text.unwrap_or_else(|| row.content.clone());
    let ack = memory.preferences().confirm(&row, &text).await?;
    let form = ConfirmForm { id: row.id.to_string(), event_id: ack.id.to_string() };
    output.answer(&form, || format!("confirmed: {text}  ({})", ack.id))?;
    Ok(0)
}

async fn categories(memory: &Memory, output: &Output) -> Result<u8> {
    let counts = memory.preferences().categories().await?;
    let forms: Vec<CategoryForm> = counts
        .iter()
        .map(|(category, count)| CategoryForm { category: category.to_string(), count: *count })
        .collect();
    output.list(&forms, &CategoriesForm { categories: &forms }, || {
        let line = |form: &CategoryForm| format!("{:>6}  {}", form.count, form.category);
        forms.iter().map(line).collect::<Vec<_>>().join("\n")
    })?;
    Ok(0)
}

#[derive(Serialize)]
struct ConfirmForm {
    id: String,
    event_id: String,
}

#[derive(Serialize)]
struct PinForm {
    event_id: String,
}

#[derive(Serialize)]
struct CategoriesForm<'f> {
    categories: &'f [CategoryForm],
}

#[derive(Serialize)]
struct CategoryForm {
    category: String,
    count: u64,
}

#[derive(Serialize)]
struct MemoriesForm<'f> {
    memories: &'f [MemoryForm],
}

/// Formats a row as one line.
fn line(form: &MemoryForm) -> String {
    let mut about = vec![form.kind.to_owned()];
    if form.status != LearningStatus::Active.as_str() {
        about.push(form.status.to_owned());
    }
    if form.basis == Basis::Inferred.as_str() {
        about.push(format!("inferred, weight {:.2}", form.confidence * form.weight));
    }
    if form.tags.iter().any(|tag| tag == THIS_CONVERSATION) {
        about.push(format!("only in session {}", form.session));
    }
    about.extend(form.expires_at.iter().map(|end| format!("until {end}")));
    let name = form.key.as_ref().unwrap_or(&form.id);
    format!("{}  [{}] {name}", form.content, about.join(", "))
}

/// Formats a row with all fields.
fn format_row(form: &MemoryForm) -> String {
    let mut lines = vec![form.content.clone()];
    let mut say = |name: &str, value: &str| lines.push(format!("  {name}: {value}"));
    say("id", &form.id);
    form.key.iter().for_each(|key| say("key", key));
    say("kind", &format!("{}, {}, version {}", form.kind, form.status, form.version));
    say("filed", &format!("{}  {}", form.category, form.tags.join(" ")));
    if let Some(parts) = &form.anti_pattern {
        say("avoid", &parts.avoid);
        parts.reason.iter().for_each(|reason| say("reason", reason));
    }
    form.recommendation.iter().filter(|words| **words != form.content).for_each(|words| say("do", words));
    if let (Some(objective), Some(sentiment)) = (form.objective_type, form.sentiment) {
        say("about", &format!("{objective}, {sentiment}"));
    }
    say("said", &format!("{} in session {}", form.occurred_at, form.session));
    say("trust", &format!("{}, level {}", form.trust, form.level));
    if let (Some(rule), Some(supports)) = (&form.rule, form.supports) {
        say("read by", &format!("{rule}, said {supports} time(s)"));
    }
    if form.basis == Basis::Inferred.as_str() {
        say("weight", &format!("{:.2} × {:.2}", form.confidence, form.weight));
    }
    if form.requires_user_permission {
        say("needs", "your leave before it is acted on");
    }
    let until = if form.status == EXPIRED { "held until" } else { "holds until" };
    form.expires_at.iter().for_each(|end| say(until, end));
    form.superseded_by.iter().for_each(|id| say("superseded by", id));
    say("evidence", &form.source_event_ids.join(" "));
    lines.join("\n")
}

fn lines(forms: &[MemoryForm]) -> String {
    forms.iter().map(line).collect::<Vec<_>>().join("\n")
}
