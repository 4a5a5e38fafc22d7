//! `mnemal log add|list|show|release`.

use std::num::NonZeroUsize;

use anyhow::Result;
use mnemal::types::ChannelId;
use mnemal::{Error, Event, EventFilter, Memory, Message, SessionId, Speaker, Within};
use serde::Serialize;

use crate::args::{Global, Log, LogAdd, LogList};
use crate::output::Output;
use crate::time;
use crate::wire::{AckForm, EventForm, ReleasedForm, SessionForm};

/// Appends, lists, shows or releases events.
pub(super) async fn run(memory: &Memory, global: &Global, call: Log, output: &Output) -> Result<u8> {
    match call {
        Log::Add(call) if call.text == "-" => super::import::messages(memory, global, &call, output).await,
        Log::Add(call) => add(memory, global, call, output).await,
        Log::List(call) if call.sessions => sessions(memory, call.limit, output).await,
        Log::List(call) => list(memory, &call, output).await,
        Log::Show { id } => show(memory, &id, output).await,
        Log::Release { id } => release(memory, global, &id, output).await,
    }
}

async fn add(memory: &Memory, global: &Global, call: LogAdd, output: &Output) -> Result<u8> {
    let mut message = match call.role.as_str() {
        "user" => Message::user(call.text),
        "assistant" => Message::assistant(call.text),
        "observation" => Message::observation(call.text),
        other => {
            let why = format!("no role {other:?} here; there are user, assistant and observation");
            return Err(Error::invalid(why).into());
        }
    };
    for (name, value) in call.fields {
        message = message.metadata(name, value);
    }
    message = message.session(session_of(call.session)?).channel(ChannelId::new("cli")?);
    if let Some(speaker) = call.speaker {
        message = message.speaker(Speaker::new(speaker)?);
    }
    message = match call.at {
        Some(at) => {
            let (at, zone) = time::event_time(&at)?;
            message.occurred_at(at, zone)
        }
        None => message.zone(time::here(memory.admin().engine().now())),
    };
    if let Some(key) = call.idempotency_key {
        message = message.hidden_idempotency_key(key);
    }
    let ack = memory.log(message).await?;
    output.answer(&AckForm::from(&*ack), || {
        let known = if ack.duplicate { " (known)" } else { "" };
        format!("logged {} at position {}{known}", ack.id, ack.seq.0)
    })?;
    if let Some(rule) = &ack.quarantined {
        output.say(&format!("held back by rule {rule}: it is kept, and not recalled"));
    }
    if ack.redactions > 0 {
        output.say(&format!("{} secret(s) were replaced before anything was stored", ack.redactions));
    }
    Ok(super::gaps(&ack.gaps, global, output))
}

/// Returns the named session, or the default session of the command line.
pub(super) fn session_of(name: Option<String>) -> Result<SessionId> {
    Ok(SessionId::new(name.unwrap_or_else(|| "cli".to_owned()))?)
}

#[derive(Serialize)]
struct EventsForm<'a, T> {
    items: &'a [T],
}

/// Lists events, newest last.
pub(super) async fn list(memory: &Memory, call: &LogList, output: &Output) -> Result<u8> {
    let mut filter = super::filter(&call.filter)?;
    if call.quarantined {
        filter = EventFilter { quarantined: Within::All, ..filter };
    }
    let mut events = memory.events().latest(&filter, at_least_one(call.limit)).await?;
    events.reverse();
    let forms: Vec<EventForm> = events.iter().map(EventForm::from).collect();
    output.list(&forms, &EventsForm { items: &forms }, || {
        events.iter().map(line).collect::<Vec<_>>().join("\n")
    })?;
    Ok(0)
}

/// Lists sessions, newest first.
pub(super) async fn sessions(memory: &Memory, limit: usize, output: &Output) -> Result<u8> {
    let sessions = memory.events().sessions(at_least_one(limit)).await?;
    let forms: Vec<SessionForm> = sessions.iter().map(SessionForm::from).collect();
    output.list(&forms, &EventsForm { items: &forms }, || {
        let line = |one: &SessionForm| {
            format!("{}  {} events  {} – {}", one.id, one.event_count, one.first_at, one.last_at)
        };
        forms.iter().map(line).collect::<Vec<_>>().join("\n")
    })?;
    Ok(0)
}

async fn show(memory: &Memory, id: &str, output: &Output) -> Result<u8> {
    let event = memory.events().get(id.parse()?).await?;
    let form = EventForm::from(&event);
    output.answer(&form, || serde_json::to_string_pretty(&form).unwrap_or_default())?;
    Ok(0)
}

/// Releases a quarantined event.
async fn release(memory: &Memory, global: &Global, id: &str, output: &Output) -> Result<u8> {
    let released = memory.events().release(id.parse()?).await?;
    let form = ReleasedForm::from(&released.value);
    output.answer(&form, || {
        let what = if form.created { "released" } else { "was released already" };
        format!("{what} as {}; `mnemal undo {}` holds it back again", form.copy_id, form.event_id)
    })?;
    Ok(super::gaps(&released.gaps, global, output))
}

fn at_least_one(limit: usize) -> NonZeroUsize {
    NonZeroUsize::new(limit).unwrap_or(NonZeroUsize::MIN)
}

/// Formats one event as one line.
fn line(event: &Event) -> String {
    let Some(kept) = event.body() else { return format!("{}  {}  (erased)", event.seq.0, event.id) };
    let day = kept.occurred_at.civil(&kept.zone).day_text();
    let who = kept.speaker.as_ref().map_or(event.role.as_str(), Speaker::as_str);
    let text: String =
        kept.content.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(100).collect();
    let held = event.quarantined.as_ref().map(|rule| format!(" (held back by {rule})")).unwrap_or_default();
    format!("{}  {}  {day}  {who}: {text}{held}", event.seq.0, event.id)
}
