//! `mnemal inbox`, and the watch mode for a folder.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use mnemal::events::{InboxCounts, InboxReport};
use mnemal::ports::Inbox as Files;
use mnemal::{Error, ErrorKind, Memory};
use serde::Serialize;

use crate::args::{Global, Inbox};
use crate::output::Output;
use crate::paths::SpacePaths;
use crate::{config, failure};

/// Interval of folder scans. Source: own choice; a new file is ingested within 5 s, of which it must be unchanged for 2 s.
const LOOK: Duration = Duration::from_secs(2);
/// Interval after which a run checks whether it is done. Source: own default.
const TURN: Duration = Duration::from_mins(1);

/// Runs a subcommand.
pub(super) async fn run(global: &Global, call: &Inbox, output: &Output) -> Result<u8> {
    let settings = config::read(global)?;
    if settings.ingest.inbox.is_empty() {
        let what = "there is no inbox: name a folder in `ingest.inbox`, or watch one with `mnemal ingest DIR --watch`";
        return Err(Error::new(ErrorKind::Unsupported, what).into());
    }
    let space = SpacePaths::find(global)?.space;
    let folder = settings.ingest.inbox_of(space.as_str()).unwrap_or_default();
    let memory = super::open_one(global, output).await?;
    let inbox = config::builder(settings)?.space_inbox(space.as_str())?;
    let done = match call {
        Inbox::Status => status(inbox.as_ref(), &folder, output).await,
        Inbox::Run { watch: true } => watch(&memory, inbox.as_ref(), output).await,
        Inbox::Run { watch: false } => once(&memory, inbox.as_ref(), output).await,
    };
    super::checkpoint(global, &memory, done).await
}

#[derive(Serialize)]
struct InboxCountsForm {
    folder: String,
    waiting: u64,
    claimed: u64,
    ignored: u64,
    processed: u64,
    failed: u64,
}

async fn status(inbox: &dyn Files, folder: &Path, output: &Output) -> Result<u8> {
    let InboxCounts { waiting, claimed, ignored, processed, failed } = inbox.counts().await?;
    let form = InboxCountsForm {
        folder: folder.display().to_string(),
        waiting,
        claimed,
        ignored,
        processed,
        failed,
    };
    output.answer(&form, || {
        format!(
            "inbox       {}\nwaiting     {waiting}\nclaimed     {claimed}\nignored     {ignored}\nprocessed   {processed}\nfailed      {failed}",
            form.folder
        )
    })?;
    Ok(0)
}

#[derive(Serialize)]
struct InboxReportForm<'t> {
    taken: u64,
    stored: u64,
    duplicates: u64,
    unsupported: Vec<RejectedFileForm<'t>>,
    refused: Vec<RejectedFileForm<'t>>,
}

#[derive(Serialize)]
struct RejectedFileForm<'t> {
    file: &'t str,
    why: &'t str,
}

impl<'t> RejectedFileForm<'t> {
    fn all(files: &'t [(String, String)]) -> Vec<Self> {
        files.iter().map(|(file, why)| Self { file, why }).collect()
    }
}

/// Ingests pending files until there are none; waits for files that may still be written to.
async fn once(memory: &Memory, inbox: &dyn Files, output: &Output) -> Result<u8> {
    let mut done = InboxReport::default();
    loop {
        add(&mut done, memory.admin().engine().take_from(inbox, TURN).await?.value);
        let standing = inbox.counts().await?;
        if standing.waiting + standing.claimed == 0 {
            break;
        }
        pause().await;
    }
    print_report(&done, output)?;
    Ok(if done.refused.is_empty() && done.unsupported.is_empty() { 0 } else { failure::USAGE })
}

/// Ingests new files until the program is stopped, which is safe at any time.
pub(super) async fn watch(memory: &Memory, inbox: &dyn Files, output: &Output) -> Result<u8> {
    loop {
        let done = memory.admin().engine().take_from(inbox, TURN).await?.value;
        if done != InboxReport::default() {
            print_report(&done, output)?;
        }
        pause().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "a timer of the command line")]
async fn pause() {
    tokio::time::sleep(LOOK).await;
}

fn add(done: &mut InboxReport, more: InboxReport) {
    done.taken += more.taken;
    done.stored += more.stored;
    done.duplicates += more.duplicates;
    done.unsupported.extend(more.unsupported);
    done.refused.extend(more.refused);
}

fn print_report(done: &InboxReport, output: &Output) -> Result<()> {
    let form = InboxReportForm {
        taken: done.taken,
        stored: done.stored,
        duplicates: done.duplicates,
        unsupported: RejectedFileForm::all(&done.unsupported),
        refused: RejectedFileForm::all(&done.refused),
    };
    output.answer(&form, || {
        let mut lines = vec![format!(
            "read {} files: {} chunks stored, {} known already",
            form.taken, form.stored, form.duplicates
        )];
        lines.extend(form.unsupported.iter().map(|one| format!("  unsupported: {}: {}", one.file, one.why)));
        lines.extend(form.refused.iter().map(|one| format!("  failed: {}: {}", one.file, one.why)));
        lines.join("\n")
    })
}
