//! `mnemal forget`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use mnemal::events::{Description, Erasure, ErasureGrade, ErasureStatus, FactChoice, Selector};
use mnemal::types::{EntityId, FactId, LearningId};
use mnemal::{Error, ErrorKind, EventId, LearningFilter, Memory, NoteKey, Origin, SessionId, UserId};

use super::fact::invalidate;
use crate::args::{Forget, Global, SourceHandling};
use crate::confirm::{RunMode, agreed};
use crate::output::Output;
use crate::wire::ErasureForm;

/// Events shown before the confirmation. Source: own choice, as many as a person reviews.
const SHOWN: usize = 20;
/// Purpose of the confirmation token.
const PURPOSE: &[u8] = b"forget";

/// Erases the selected events.
pub(super) async fn run(memory: &Memory, global: &Global, call: Forget, output: &Output) -> Result<u8> {
    if let (Some(fact), Some(SourceHandling::Keep)) = (&call.fact, call.sources) {
        return keep_words(memory, fact, RunMode::from(call.dry_run), output).await;
    }
    let selector = selector(memory, &call).await?;
    match &selector {
        Selector::Events(events) if call.ids.is_empty() => say_what_goes(memory, events, output).await?,
        Selector::User(_) => {
            let preview = memory.forget(selector.clone()).dry_run().await?;
            say_what_goes(memory, &preview.ids, output).await?;
        }
        _ => {}
    }
    let names: Vec<String> = call.person.iter().map(|name| name.trim().to_owned()).collect();
    let what = (selector, names);
    let Some(token) = &call.confirm else {
        return erase_into(
            memory,
            what,
            RunMode::from(call.dry_run),
            global,
            (output, call.receipt.as_deref()),
        )
        .await;
    };
    let preview = memory.forget(what.0.clone()).dry_run().await?;
    if !memory.admin().engine().holds_token(&[PURPOSE, &exactly(&preview)], token) {
        let what = "the token has expired, or what would be erased is not what it was issued for: look again";
        return Err(Error::new(ErrorKind::Conflict, what).into());
    }
    done_with(memory, what, (output, call.receipt.as_deref())).await
}

/// Rejects a fact permanently, and lists the events that still state it.
async fn keep_words(memory: &Memory, fact: &str, going: RunMode, output: &Output) -> Result<u8> {
    let events = memory.events().selected_by_fact(fact.parse()?).await?;
    let names: Vec<String> = events.iter().map(ToString::to_string).collect();
    let code = invalidate(memory, &[fact.to_owned()], FactChoice::Reject, going, output).await?;
    output.say(&format!("the words that it was read in stay: {}", names.join(", ")));
    Ok(code)
}

/// Previews, asks for confirmation, erases, and prints the result; `names` are those of an entity that is forgotten entirely.
pub(super) async fn erase(
    memory: &Memory,
    what: (Selector, Vec<String>),
    going: RunMode,
    global: &Global,
    output: &Output,
) -> Result<u8> {
    erase_into(memory, what, going, global, (output, None)).await
}

async fn erase_into(
    memory: &Memory,
    what: (Selector, Vec<String>),
    going: RunMode,
    global: &Global,
    (output, receipt): (&Output, Option<&Path>),
) -> Result<u8> {
    let preview = memory.forget(what.0.clone()).dry_run().await?;
    if going == RunMode::DryRun {
        let (token, ends) = memory.admin().engine().issue_token(&[PURPOSE, &exactly(&preview)]);
        let form = ErasureForm::of_preview(&preview, (token.clone(), ends));
        output
            .answer(&form, || format!("{}\nexactly that until {ends}: --confirm {token}", plan(&preview)))?;
        return Ok(0);
    }
    if !agreed(&plan(&preview), "erase", global, output)? {
        output.say("nothing was erased");
        return Ok(0);
    }
    done_with(memory, what, (output, receipt)).await
}

async fn done_with(
    memory: &Memory,
    (selector, names): (Selector, Vec<String>),
    (output, receipt): (&Output, Option<&Path>),
) -> Result<u8> {
    // If the receipt cannot be written, nothing is erased.
    let file =
        receipt.map(|path| File::create_new(path).with_context(|| format!("cannot make {}", path.display())));
    let file = file.transpose()?;
    let erasure = memory.forget(selector).called(names).await?;
    if let (Some(mut file), Some(receipt)) = (file, &erasure.receipt) {
        file.write_all(receipt.as_str().as_bytes()).context("cannot write the receipt")?;
        file.sync_all().context("cannot write the receipt")?;
    }
    output.answer(&ErasureForm::from(&erasure), || format_erasure(&erasure))?;
    Ok(u8::from(!matches!(erasure.grade, ErasureGrade::Gone | ErasureGrade::Verified)))
}

/// Returns the content that a token confirms: exactly these events.
fn exactly(preview: &Erasure) -> Vec<u8> {
    preview.ids.iter().flat_map(|id| id.0.to_be_bytes()).collect()
}

async fn selector(memory: &Memory, call: &Forget) -> Result<Selector> {
    if let Some(key) = &call.key {
        return Ok(Selector::Key(NoteKey::new(key)?));
    }
    if !call.ids.is_empty() {
        return by_ids(memory, &call.ids).await;
    }
    if call.outdated {
        let events = memory.events().outdated().await?;
        if events.is_empty() {
            return Err(Error::not_found("nothing is older, or more, than is kept").into());
        }
        return Ok(Selector::Events(events));
    }
    if let Some(fact) = &call.fact {
        return Ok(Selector::Events(memory.events().selected_by_fact(fact.parse()?).await?));
    }
    let filter = super::filter(&call.filter)?;
    let events = match (&call.query, &call.person) {
        (Some(query), _) => memory.events().selected_by_text(query, call.limit).await?,
        (None, Some(person)) => memory.events().selected_by_person(person).await?,
        (None, None) => {
            let of = &call.filter;
            let others = [&of.speaker, &of.since, &of.until, &call.origin, &call.file];
            if of.roles.is_empty() && others.iter().all(|other| other.is_none()) {
                match (&of.session, &of.user) {
                    (Some(session), None) => return Ok(Selector::Session(SessionId::new(session)?)),
                    (None, Some(user)) => return Ok(Selector::User(UserId::new(user)?)),
                    _ => {}
                }
            }
            let origin = call.origin.as_deref().map(origin).transpose()?;
            let described = Description { filter, origin, file: call.file.clone() };
            return Ok(Selector::Events(memory.events().selected(&described).await?));
        }
    };
    // The other options narrow the result.
    let mut meant = Vec::new();
    for id in events {
        let quarantined = mnemal::Within::All;
        let filter = mnemal::EventFilter { quarantined, ..filter.clone() };
        if filter.accepts(&memory.events().get(id).await?) {
            meant.push(id);
        }
    }
    if meant.is_empty() {
        return Err(Error::not_found("nothing of what was found is meant").into());
    }
    Ok(Selector::Events(meant))
}

fn origin(name: &str) -> Result<Origin> {
    Origin::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Origin::ALL.iter().map(|origin| origin.as_str()).collect();
        Error::invalid(format!("no origin {name:?}; there are {}", known.join(", "))).into()
    })
}

async fn by_ids(memory: &Memory, ids: &[String]) -> Result<Selector> {
    let mut events = Vec::new();
    for id in ids {
        if id.starts_with(LearningId::PREFIX) {
            let id: LearningId = id.parse()?;
            let notes = memory.preferences().notes(&LearningFilter::all()).await?;
            let note = notes.into_iter().find(|note| note.id == id);
            let note = note.ok_or_else(|| Error::not_found(format!("no note {id}")))?;
            events.extend(note.sources.iter().map(|source| source.event));
        } else {
            let Ok(event) = id.parse::<EventId>() else { return Err(no_id(memory, id).await.into()) };
            events.push(event);
        }
    }
    Ok(Selector::Events(events))
}

/// Returns a hint at the right option for an id that is neither an event nor a note.
async fn no_id(memory: &Memory, id: &str) -> Error {
    if id.starts_with(FactId::PREFIX) {
        return Error::invalid(format!(
            "{id} is a fact: `mnemal forget --fact {id} --sources keep` (or `erase`)"
        ));
    }
    if id.starts_with(EntityId::PREFIX) {
        return Error::invalid(format!("{id} is an entity: `mnemal entity forget {id}`"));
    }
    let key = NoteKey::new(id).ok();
    let notes = memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap_or_default();
    if key.is_some_and(|key| notes.iter().any(|note| note.key.as_ref() == Some(&key))) {
        return Error::invalid(format!("{id:?} is a key: `mnemal forget --key {id:?}`"));
    }
    Error::invalid(format!(
        "{id:?} is no id (evt_… or mem_…), and no key; `--query` finds what words are in, `--person` what is of somebody"
    ))
}

/// Shows the first of the selected events.
pub(super) async fn say_what_goes(memory: &Memory, events: &[EventId], output: &Output) -> Result<()> {
    for id in events.iter().take(SHOWN) {
        let event = memory.events().get(*id).await?;
        let Some(kept) = event.body() else { continue };
        let day = kept.occurred_at.civil(&kept.zone).day_text();
        let text = if kept.content.is_empty() { "(a decision)" } else { kept.content.as_str() };
        output.say(&format!("  {day}  {text}  {id}"));
    }
    let more = events.len().saturating_sub(SHOWN);
    if more > 0 {
        output.say(&format!("  and {more} more"));
    }
    Ok(())
}

fn plan(preview: &Erasure) -> String {
    let mut text = format!("would erase: {} event(s), {} note(s)", preview.events, preview.learnings);
    if !preview.similar.is_empty() {
        text.push_str("\nnot selected, and says nearly the same:");
        for one in &preview.similar {
            let _written = write!(text, "\n  {:.2}  {}", one.likeness, one.event);
        }
    }
    text
}

fn format_erasure(erasure: &Erasure) -> String {
    let id = erasure.event.map(|id| format!(" ({id})")).unwrap_or_default();
    let verified = match erasure.grade {
        ErasureGrade::Verified => "verified",
        ErasureGrade::Gone => "gone from every row; the files of the database were not searched",
        ErasureGrade::Unsearched | ErasureGrade::Found => "NOT verified",
    };
    let pending = match erasure.status {
        ErasureStatus::ErasedPendingCheckpoint => "; its bytes go when the last reader is done",
        _ => "",
    };
    let residual =
        if erasure.residual.is_empty() { "none known".to_owned() } else { erasure.residual.join("; ") };
    let counts = [
        (erasure.events, "event(s)"),
        (erasure.learnings, "note(s)"),
        (erasure.receipts, "receipt line(s)"),
        (erasure.completions, "kept answer(s) of a model"),
        (erasure.working, "working entries"),
        (erasure.files, "inbox file(s)"),
    ];
    let counted: Vec<String> = counts
        .iter()
        .enumerate()
        .filter(|(place, (count, _))| *place < 3 || *count > 0)
        .map(|(_, (count, what))| format!("{count} {what}"))
        .collect();
    format!("erased{id}: {}; {verified}{pending}; residual: {residual}", counted.join(", "))
}
