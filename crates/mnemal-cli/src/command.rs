//! The commands, one file each: parse arguments, call the facade once, print.

mod ask;
mod audit;
mod backup;
mod check;
mod context;
mod database;
mod demo;
mod diff;
mod doctor;
mod dream;
mod entity;
mod export;
mod extract;
mod fact;
mod forget;
mod graph;
mod health;
pub(crate) mod hook;
mod import;
mod inbox;
mod ingest;
mod init;
mod key;
mod log;
mod mcp;
mod memory;
mod memory_tool;
mod model;
mod models;
mod only_user;
mod pages;
mod rebuild;
mod recall;
mod recover;
mod reindex;
mod remember;
mod report;
mod restore;
mod serve;
mod session;
mod settings;
mod setup;
mod space;
mod status;
mod summary;
mod topic;
mod ui;
mod undo;
mod verify;
mod why;
mod worker;
mod working;

use std::io::{BufRead, BufReader, Cursor, Read as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser as _;
use mnemal::events::{FILE, HEADING, PAGE};
use mnemal::types::GapCause;
use mnemal::{
    Builder, Decision, Error, EventFilter, EventKind, Gap, Memory, NewEvent, Role, Scope, SessionId,
    Settings, Spaces, Speaker, UserId, Within,
};
use serde::Serialize;

use crate::args::{Args, Audit, AuditVerb, Command, Filter, Global, MemoryCall, VerbTarget};
use crate::confirm::RunMode;
use crate::output::Output;
use crate::remote_command::{CommandResult, RemoteCommand};

use crate::paths::SpacePaths;
use crate::project::Project;
use crate::storage::Storage;
use crate::{config, failure};

/// Parses the command of a request from another process, to run with the spaces of this one.
///
/// # Errors
/// The error text for an invalid command line.
fn parse_remote(request: RemoteCommand, spaces: Spaces) -> Result<(Global, Command), String> {
    let line = std::iter::once("mnemal").chain(request.arguments.iter().map(String::as_str));
    let Args { mut global, command } = Args::try_parse_from(line).map_err(|help| help.to_string())?;
    global.space = Some(request.space);
    global.folder = request.folder;
    global.stdin = request.stdin;
    global.open_spaces = Some(spaces);
    Ok((global, command))
}

/// Runs a command for another process with the spaces of this one, and captures its output.
pub(crate) async fn run_remote(meant: Result<(Global, Command), String>) -> CommandResult {
    let (mut global, command) = match meant {
        Ok(meant) => meant,
        Err(help) => return CommandResult { code: failure::USAGE, out: String::new(), err: help },
    };
    if let Command::Hook(call) = command {
        let stdin = global.stdin.take().unwrap_or_default();
        return hook::run_remote(&global, &call, stdin.as_bytes()).await;
    }
    let output = Output::keeping(&global);
    let code = match Box::pin(run(Args { global, command }, &output)).await {
        Ok(code) => code,
        Err(error) => failure::report(&error, &output),
    };
    let (out, err) = output.captured();
    CommandResult { code, out, err }
}

/// Runs the command and returns the exit code.
#[expect(clippy::too_many_lines, reason = "a table of the commands")]
pub(crate) async fn run(args: Args, output: &Output) -> Result<u8> {
    let Args { mut global, command } = args;
    global.for_all |= matches!(command, Command::Serve(_) | Command::Worker(_) | Command::Ui(_));
    if let Some(user) = &global.only_user {
        only_user::check(&command, user)?;
    }
    match command {
        Command::Init => init::run(&global, output).await,
        Command::Demo => demo::run(output).await,
        Command::Remember(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, remember::run(&memory, &global, call, output).await).await
        }
        Command::Recall(call) => {
            recall::run(&open_whole(&global, output).await?, &global, &call, output).await
        }
        Command::Ask(call) => ask::run(&open_whole(&global, output).await?, &global, &call, output).await,
        Command::Context(call) => {
            context::run(&open_whole(&global, output).await?, &global, &call, output).await
        }
        Command::Forget(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, forget::run(&memory, &global, call, output).await).await
        }
        Command::VerifyReceipt(call) => verify::run(&global, &call, output).await,
        Command::Why(call) => why::why(&open_one(&global, output).await?, &call, output).await,
        Command::WhyNot(call) => {
            why::why_not(&open_whole(&global, output).await?, &global, &call, output).await
        }
        Command::Feedback(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, why::feedback(&memory, &global, &call, output).await).await
        }
        Command::Diff(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, diff::run(&memory, &call, output).await).await
        }
        Command::Report(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, report::run(&memory, &global, &call, output).await).await
        }
        Command::Log(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, log::run(&memory, &global, call, output).await).await
        }
        Command::Extract(call) => extract::run(&global, call, output).await,
        Command::Entity(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, entity::run(&memory, &global, call, output).await).await
        }
        Command::Fact(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, fact::run(&memory, &global, call, output).await).await
        }
        Command::Working(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, working::run(&memory, call, &global, output).await).await
        }
        Command::Model(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, model::run(&memory, &call, output).await).await
        }
        Command::Topic(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, topic::run(&memory, &global, call, output).await).await
        }
        Command::Summary(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, summary::run(&memory, &global, call, output).await).await
        }
        Command::Session(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, session::run(&memory, &global, call, output).await).await
        }
        Command::Graph(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, graph::run(&memory, &global, call, output).await).await
        }
        Command::Memory(verb) => match verb.target() {
            VerbTarget::Rows(call) => memories(&global, memory::RowKind::Everything, call, output).await,
            VerbTarget::Other(command) => Box::pin(run(Args { global, command: *command }, output)).await,
        },
        Command::Learning(call) => memories(&global, memory::RowKind::Learnings, call, output).await,
        Command::Preference(call) => memories(&global, memory::RowKind::Preferences, call, output).await,
        Command::Dream(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, dream::run(&memory, &call, output).await).await
        }
        Command::Undo(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, undo::run(&memory, &call, output).await).await
        }
        Command::MemoryTool => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, memory_tool::run(&memory, &global, output).await).await
        }
        Command::Mcp(call) => Box::pin(mcp::run(&global, &call, output)).await,
        Command::Import(call) => Box::pin(import::run(&global, &call, output)).await,
        Command::Ingest(call) => Box::pin(ingest::run(&global, &call, output)).await,
        Command::Inbox(call) => Box::pin(inbox::run(&global, &call, output)).await,
        Command::Export(call) => export::run(&open_one(&global, output).await?, call, output).await,
        Command::Space(call) => space::run(&global, call, output).await,
        Command::Backup(call) => backup::run(&open_one(&global, output).await?, &call, output).await,
        Command::Restore(call) => restore::run(&global, &call, output).await,
        Command::Recover(call) => recover::run(&global, &call, output).await,
        Command::Reindex(call) => reindex::run(&global, &call, output).await,
        Command::Rebuild(call) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, rebuild::run(&memory, &call, output).await).await
        }
        Command::Check(call) => check::run(&global, &call, output).await,
        Command::Status => Box::pin(status::run(&global, output)).await,
        Command::Serve(call) => serve::run(&global, &call, output).await,
        Command::Worker(call) => Box::pin(worker::run(&global, &call, output)).await,
        Command::Ui(call) => ui::run(&global, &call, output).await,
        Command::Database(call) => database::run(&global, &call, output).await,
        Command::Key(call) => key::run(&global, call, output).await,
        Command::Audit(Audit { verb: Some(AuditVerb::Verify) }) => audit::verify(&global, output),
        Command::Audit(Audit { verb: None }) => {
            let memory = open_one(&global, output).await?;
            checkpoint(&global, &memory, audit::run(&memory, &global, output).await).await
        }
        Command::Doctor(call) => doctor::run(&global, &call, output).await,
        Command::Health(call) => health::run(&global, &call, output).await,
        Command::Settings => settings::run(&global, output),
        Command::Models(call) => models::run(&call, output),
        Command::Setup(call) => setup::run(&global, &call, output),
        Command::Completions(call) => pages::completions(&call, output),
        Command::Man(call) => pages::man(&call, output),
        // Handled in `main`, which enforces the deadline of hooks.
        Command::Hook(_) => Ok(0),
    }
}

async fn memories(global: &Global, of: memory::RowKind, call: MemoryCall, output: &Output) -> Result<u8> {
    let memory = open_one(global, output).await?;
    checkpoint(global, &memory, memory::run(&memory, of, call, output).await).await
}

/// Opens the space that a command reads, with its secondary spaces: the other named ones, `global`, and every always-on space.
/// With `--db`, opens only that file.
pub(crate) async fn open(global: &Global, output: &Output) -> Result<Memory> {
    let place = SpacePaths::find_several(global)?;
    let (memory, spaces) = opened(&place, config::read_patient(global)?, global, output).await?;
    match spaces {
        Some(spaces) => Ok(spaces.beside(&memory, &place.others).await?),
        None => Ok(memory),
    }
}

/// As [`open`], with the whole index loaded: a one-shot process has no later answer that would be more complete.
async fn open_whole(global: &Global, output: &Output) -> Result<Memory> {
    let memory = open(global, output).await?;
    // A failure to load is a gap of the answer.
    let _gap = memory.admin().engine().load().await;
    Ok(memory)
}

/// Opens the primary space of a command, without secondary spaces.
pub(crate) async fn open_one(global: &Global, output: &Output) -> Result<Memory> {
    open_with(config::read_patient(global)?, global, output).await
}

/// Opens the primary space of a command with settings that the command has changed.
async fn open_with(settings: Settings, global: &Global, output: &Output) -> Result<Memory> {
    Ok(opened(&SpacePaths::find(global)?, settings, global, output).await?.0)
}

/// Returns the spaces of the data directory.
pub(crate) async fn spaces(global: &Global) -> Result<Spaces> {
    if let Some(spaces) = &global.open_spaces {
        return Ok(spaces.clone());
    }
    let place = SpacePaths::find_several(global)?;
    let data = place.data.clone();
    let data =
        data.ok_or_else(|| Error::invalid("spaces have names in the data directory; leave --db out"))?;
    spaces_at(&place, data, config::builder(config::read(global)?)?, global).await
}

/// Returns the spaces of a data directory, or of the database of a place.
async fn spaces_at(place: &SpacePaths, data: PathBuf, builder: Builder, global: &Global) -> Result<Spaces> {
    match &place.storage {
        Storage::File(_) => Ok(Spaces::new(data, builder)?),
        Storage::Database(address) => {
            let database = database::connect(address, global).await;
            let database = database.with_context(|| format!("cannot open {address}"))?;
            Ok(Spaces::in_database(database, data, builder).await?)
        }
    }
}

async fn opened(
    place: &SpacePaths,
    settings: Settings,
    global: &Global,
    output: &Output,
) -> Result<(Memory, Option<Spaces>)> {
    let (memory, spaces) = Box::pin(opened_whole(place, settings, global, output)).await?;
    Ok(match &global.only_user {
        Some(user) => (memory.for_user(UserId::new(user)?), spaces),
        None => (memory, spaces),
    })
}

async fn opened_whole(
    place: &SpacePaths,
    settings: Settings,
    global: &Global,
    output: &Output,
) -> Result<(Memory, Option<Spaces>)> {
    if global.verbose > 0 {
        output.say(&format!("space {} in {}", place.space, place.storage));
    }
    for warning in config::project(global)?.iter().flat_map(Project::warnings) {
        output.say(&warning);
    }
    let failed = || format!("cannot open space {} in {}", place.space, place.storage);
    if let Some(spaces) = &global.open_spaces {
        let failed = || format!("cannot open space {}", place.space);
        let memory = spaces.open_or_create(&place.space).await.with_context(failed)?;
        return Ok((memory, Some(spaces.clone())));
    }
    if !config::is_on(global)? {
        output.say("memory is switched off: nothing is kept");
        let engine = config::builder(settings)?.disabled()?;
        return Ok((engine.memory(Scope::whole(place.space.clone())), None));
    }
    let builder = config::builder(settings)?.with_key_file(&place.key);
    let Some(data) = place.data.clone() else {
        let engine = builder.open(place.storage.file()?).await.with_context(failed)?;
        return Ok((engine.memory(Scope::whole(place.space.clone())), None));
    };
    let spaces = spaces_at(place, data, builder, global).await?;
    let memory = spaces.open_or_create(&place.space).await.with_context(failed)?;
    Ok((memory, Some(spaces)))
}

/// Returns the location of a file's text: the file, the headings, the page; `None` for other events.
pub(crate) fn place_of(event: &NewEvent) -> Option<String> {
    let said = |name: &str| event.metadata.get(name).map(String::as_str);
    let file = said(FILE).filter(|_| event.kind == EventKind::Document)?;
    let page = said(PAGE).map(|page| format!("page {page}"));
    let parts = [Some(file.to_owned()), said(HEADING).map(str::to_owned), page];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

/// Moves written data out of the write-ahead log, so that the database is a single file again.
///
/// A reader in another process can prevent it; then the last process to close the file does it, and nothing is lost.
pub(crate) async fn checkpoint(global: &Global, memory: &Memory, done: Result<u8>) -> Result<u8> {
    // A server closes its own spaces.
    if global.open_spaces.is_none() {
        let _later = memory.admin().engine().close().await;
    }
    done
}

/// Logs a graph decision of the user, or previews it: the verb, the names concerned, and a line for people.
async fn decided(
    memory: &Memory,
    decision: Decision,
    going: RunMode,
    output: &Output,
    (verb, names, text): (&'static str, &[String], &str),
) -> Result<u8> {
    let event = match going {
        RunMode::DryRun => None,
        RunMode::Really => Some(memory.facts().decide(decision).await?.value.id),
    };
    let form = DecisionResultForm {
        decision: verb,
        names,
        dry_run: event.is_none(),
        event_id: event.map(|id| id.to_string()),
    };
    output.answer(&form, || match event {
        Some(id) => format!("{text}  ({id})"),
        None => format!("would be: {text}"),
    })?;
    Ok(0)
}

#[derive(Serialize)]
struct DecisionResultForm<'f> {
    decision: &'static str,
    names: &'f [String],
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
}

/// Time limit for the endpoint's vector of a question. Source: own default, which a person at a terminal tolerates.
const ENDPOINT_DEADLINE: Duration = Duration::from_secs(2);

/// Prints gaps for people, and returns the exit code for them.
pub(crate) fn gaps(gaps: &[Gap], global: &Global, output: &Output) -> u8 {
    let mut told = false;
    for gap in gaps.iter().filter(|gap| gap.cause != GapCause::NotConfigured) {
        output.say(&format!("gap: {gap}"));
        told = true;
    }
    if told && global.strict { failure::GAPS } else { 0 }
}

/// Returns the text itself, or the content of stdin for `-`.
pub(crate) fn text_or_stdin(text: String, global: &Global) -> Result<String> {
    if text != "-" {
        return Ok(text);
    }
    let mut bytes = Vec::new();
    stdin(global)?.read_to_end(&mut bytes).context("cannot read stdin")?;
    String::from_utf8(bytes).map_err(|wrong| {
        let place = wrong.utf8_error().valid_up_to();
        Error::invalid(format!("stdin is not UTF-8: byte {place} is wrong")).into()
    })
}

/// Returns stdin: for a forwarded command the input sent with it, never the server's own stdin.
///
/// # Errors
/// `Invalid` for a forwarded command without input.
pub(crate) fn stdin(global: &Global) -> Result<Box<dyn BufRead + Send>> {
    match (&global.stdin, &global.open_spaces) {
        (Some(text), _) => Ok(Box::new(Cursor::new(text.clone()))),
        (None, Some(_)) => Err(Error::invalid("stdin did not come with the command").into()),
        (None, None) => Ok(Box::new(BufReader::new(std::io::stdin()))),
    }
}

/// Converts the filter options of a request.
pub(crate) fn filter(of: &Filter) -> Result<EventFilter> {
    let roles = of.roles.iter().map(|name| role(name)).collect::<Result<Vec<_>>>()?;
    Ok(EventFilter {
        session: within(of.session.as_deref(), |name| SessionId::new(name))?,
        speaker: within(of.speaker.as_deref(), |name| Speaker::new(name))?,
        user: within(of.user.as_deref(), |name| UserId::new(name))?,
        roles: if roles.is_empty() { Within::All } else { Within::Only(roles) },
        since: of.since.as_deref().map(crate::time::read).transpose()?,
        until: of.until.as_deref().map(crate::time::read).transpose()?,
        ..EventFilter::live()
    })
}

fn role(name: &str) -> Result<Role> {
    Role::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
        Error::invalid(format!("no role {name:?}; there are {}", known.join(", "))).into()
    })
}

/// Converts an optional name to a filter.
pub(crate) fn within<T>(name: Option<&str>, read: impl Fn(&str) -> mnemal::Result<T>) -> Result<Within<T>> {
    Ok(name.map(read).transpose()?.map_or(Within::All, Within::Only))
}
