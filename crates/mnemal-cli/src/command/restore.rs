//! `mnemal restore`.

use std::io::IsTerminal as _;

use anyhow::Result;
use mnemal::admin::RestoreReport;
use mnemal::{Engine, Error, ErrorKind};
use serde::Serialize;

use crate::args::{Global, Restore};
use crate::output::Output;
use crate::paths::SpacePaths;
use crate::{config, confirm};

#[derive(Serialize)]
struct RestoreForm {
    space: String,
    database: String,
    events: u64,
    forgotten_again: u64,
    tombstones: u64,
    /// Time of the backup; absent for a copy without a manifest.
    made_at: Option<String>,
    /// The space of which the backup was made; absent for a copy without a manifest.
    backup_of: Option<String>,
    /// New path of the previous file.
    aside: Option<String>,
}

/// Replaces the space's file with a backup.
pub(super) async fn run(global: &Global, call: &Restore, output: &Output) -> Result<u8> {
    let place = SpacePaths::find(global)?;
    let events = mnemal::admin::events_in(place.storage.file()?)?;
    if events > 0 {
        let plan = format!("space {} has {events} event(s); the backup takes their place", place.space);
        if !global.yes && !std::io::stdin().is_terminal() {
            let what = format!("{plan}; say --yes where nobody can answer");
            return Err(Error::new(ErrorKind::Conflict, what).into());
        }
        if !confirm::agreed(&plan, "restore", global, output)? {
            output.say("nothing was restored");
            return Ok(0);
        }
    }
    let builder = Engine::builder().with_settings(config::read(global)?).with_key_file(&place.key);
    let done = builder.restore(&place.space, &call.path, place.storage.file()?).await?;
    let report = report(&place, done);
    output.answer(&report, || text(&report))?;
    Ok(0)
}

fn report(place: &SpacePaths, done: RestoreReport) -> RestoreForm {
    RestoreForm {
        space: place.space.to_string(),
        database: place.storage.to_string(),
        events: done.events,
        forgotten_again: done.forgotten_again,
        tombstones: done.tombstones,
        made_at: done.manifest.as_ref().map(|manifest| manifest.made_at.clone()),
        backup_of: done.manifest.map(|manifest| manifest.space),
        aside: done.aside.map(|aside| aside.display().to_string()),
    }
}

fn text(report: &RestoreForm) -> String {
    let made = match &report.made_at {
        Some(made) => format!("made {made}"),
        None => "without a manifest: its rows were checked, not that none is missing".to_owned(),
    };
    let mut lines = vec![format!("restored {} events of space {} ({made})", report.events, report.space)];
    if let Some(other) = report.backup_of.as_ref().filter(|other| **other != report.space) {
        lines.push(format!(
            "  the backup was made of space {other}: what it holds is in {} now",
            report.space
        ));
    }
    if report.forgotten_again > 0 {
        let count = report.forgotten_again;
        lines.push(format!(
            "  {count} of them were forgotten since and are erased again; the backup still holds them"
        ));
    }
    if let Some(aside) = &report.aside {
        lines.push(format!(
            "  the former file is {aside}; a forget does not reach it; delete it when you need it no more"
        ));
    }
    lines.join("\n")
}
