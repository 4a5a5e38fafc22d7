//! `mnemal space`.

use anyhow::Result;
use mnemal::admin::{AlwaysOn, RebuildMode, SpaceEntry, SpaceReport};
use mnemal::types::Layer;
use mnemal::{Error, ErrorKind, SpaceId, Spaces, Speaker};
use serde::Serialize;

use crate::args::{Global, Space};
use crate::confirm::agreed;
use crate::output::Output;
use crate::paths::SpacePaths;
use crate::storage::Storage;

#[derive(Serialize)]
struct EntryForm {
    space: String,
    bytes: u64,
    always_on: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    always_on_since: Option<String>,
    consolidate_interval_mins: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    owner: Vec<String>,
}

#[derive(Serialize)]
struct SpacesForm<'a> {
    items: &'a [EntryForm],
}

#[derive(Serialize)]
struct ReportForm {
    #[serde(flatten)]
    entry: EntryForm,
    database: String,
    events: u64,
    sessions: u64,
    notes: u64,
    quarantined: u64,
    erased: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_at: Option<String>,
}

#[derive(Serialize)]
struct TrustForm {
    space: String,
    trusted: bool,
}

#[derive(Serialize)]
struct RemovedForm {
    space: String,
    removed: bool,
}

/// Lists, creates, shows, changes and removes spaces.
pub(super) async fn run(global: &Global, call: Space, output: &Output) -> Result<u8> {
    let spaces = super::spaces(global).await?;
    match call {
        Space::List => list(&spaces, output).await?,
        Space::Create { name, always_on } => {
            let space = SpaceId::new(name)?;
            drop(if always_on {
                spaces.use_always_on(&space).await?
            } else {
                spaces.create(&space, AlwaysOn::No).await?
            });
            show(&spaces, &space, global, output).await?;
        }
        Space::Trust { name } => {
            let space = SpaceId::new(name)?;
            let project = crate::config::project(global)?;
            let project =
                project.ok_or_else(|| Error::not_found("this project has no .mnemal/config.toml"))?;
            project.trust(&space)?;
            let form = TrustForm { space: space.to_string(), trusted: true };
            output.answer(&form, || format!("this project chooses the space {space}"))?;
        }
        Space::Show { name } => show(&spaces, &SpaceId::new(name)?, global, output).await?,
        Space::Set { name, always_on, no_always_on, consolidate_interval, owner, no_owner } => {
            let space = SpaceId::new(name)?;
            if no_owner || !owner.is_empty() {
                set_owner(&spaces, &space, owner).await?;
            }
            if let Some(mins) = consolidate_interval {
                spaces.set_consolidate_interval(&space, mins).await?;
            }
            if always_on || no_always_on {
                spaces.set_always_on(&space, if always_on { AlwaysOn::Yes } else { AlwaysOn::No }).await?;
            }
            show(&spaces, &space, global, output).await?;
        }
        Space::Rm { name } => remove(&spaces, &SpaceId::new(name)?, global, output).await?,
    }
    // The next opening moves what is left in a write-ahead log.
    let _later = spaces.close().await;
    Ok(0)
}

/// Sets the owner, and rebuilds the graph, in which the owner may be two entities.
async fn set_owner(spaces: &Spaces, space: &SpaceId, names: Vec<String>) -> Result<()> {
    let names = names.into_iter().map(Speaker::new).collect::<Result<Vec<_>, _>>()?;
    spaces.set_owner(space, &names).await?;
    let memory = spaces.open(space).await?;
    match memory.admin().engine().rebuild(Layer::Graph, RebuildMode::Anew).await {
        Err(error) if error.kind() != ErrorKind::Unsupported => Err(error.into()),
        _ => Ok(()),
    }
}

async fn list(spaces: &Spaces, output: &Output) -> Result<()> {
    let forms: Vec<EntryForm> = spaces.list().await?.iter().map(EntryForm::from).collect();
    output.list(&forms, &SpacesForm { items: &forms }, || {
        forms.iter().map(row).collect::<Vec<_>>().join("\n")
    })?;
    if forms.is_empty() {
        output.say("there are no spaces");
    }
    Ok(())
}

fn row(form: &EntryForm) -> String {
    let always_on = if form.always_on { "  always on" } else { "" };
    let owner =
        if form.owner.is_empty() { String::new() } else { format!("  owner {}", form.owner.join(", ")) };
    // A database that many spaces share has no size of one.
    let size = if form.bytes == 0 { String::new() } else { format!("{} KiB", form.bytes / 1_024) };
    format!("{:<40} {size:>13}{always_on}{owner}", form.space).trim_end().to_owned()
}

/// Returns a database and its size, where it has one.
pub(super) fn database_line(database: &str, bytes: u64) -> String {
    if bytes == 0 { database.to_owned() } else { format!("{database} ({} KiB)", bytes / 1_024) }
}

async fn show(spaces: &Spaces, space: &SpaceId, global: &Global, output: &Output) -> Result<()> {
    let mut form = ReportForm::from(&spaces.show(space).await?);
    if let Storage::Database(address) = SpacePaths::find_several(global)?.storage {
        form.database = address.to_string();
    }
    output.answer(&form, || text(&form))
}

async fn remove(spaces: &Spaces, space: &SpaceId, global: &Global, output: &Output) -> Result<()> {
    let plan = match spaces.show(space).await {
        Ok(report) => {
            format!(
                "would remove space {space}: {} event(s), {} note(s)",
                report.stats.head.count(),
                report.stats.notes
            )
        }
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            format!("would remove space {space}, which is damaged")
        }
        Err(error) => return Err(error.into()),
    };
    let agreed = agreed(&plan, "remove", global, output)?;
    if agreed {
        spaces.remove(space).await?;
    }
    let form = RemovedForm { space: space.to_string(), removed: agreed };
    output.answer(&form, || {
        let done = if agreed { "removed" } else { "kept" };
        format!("{done} {space}")
    })
}

impl From<&SpaceEntry> for EntryForm {
    fn from(entry: &SpaceEntry) -> Self {
        let always_on = entry.always_on == AlwaysOn::Yes;
        Self {
            space: entry.space.to_string(),
            bytes: entry.bytes,
            always_on,
            always_on_since: entry.always_on_since.map(|at| at.to_string()),
            consolidate_interval_mins: entry.consolidate_interval_mins,
            owner: entry.owner.clone(),
        }
    }
}

impl From<&SpaceReport> for ReportForm {
    fn from(report: &SpaceReport) -> Self {
        let stats = &report.stats;
        Self {
            entry: EntryForm::from(&report.entry),
            database: report.file.display().to_string(),
            events: stats.head.count(),
            sessions: stats.sessions,
            notes: stats.notes,
            quarantined: stats.quarantined,
            erased: stats.erased,
            last_at: report.last_at.map(|at| at.to_string()),
        }
    }
}

fn text(form: &ReportForm) -> String {
    let last = form.last_at.as_deref().unwrap_or("never");
    let always_on = if form.entry.always_on { "yes" } else { "no" };
    let owner = match form.entry.owner.as_slice() {
        [] => "the user, who speaks without a name".to_owned(),
        names => names.join(", "),
    };
    let rows = [
        ("space", form.entry.space.clone()),
        ("database", database_line(&form.database, form.entry.bytes)),
        ("owner", owner),
        ("always on", always_on.to_owned()),
        ("cycles", format!("every {} minutes", form.entry.consolidate_interval_mins)),
        ("events", format!("{} in {} conversations", form.events, form.sessions)),
        ("last event", last.to_owned()),
        ("notes", form.notes.to_string()),
        ("held back", form.quarantined.to_string()),
        ("erased", form.erased.to_string()),
    ];
    rows.iter().map(|(name, value)| format!("{name:<11} {value}")).collect::<Vec<_>>().join("\n")
}
