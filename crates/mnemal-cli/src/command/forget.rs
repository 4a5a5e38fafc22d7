//! `mnemal forget`.

use anyhow::Result;
use mnemal::{
    Erasure, ErasureStatus, Error, EventId, LearningFilter, LearningId, Memory, NoteKey, Selector, SessionId,
};

use crate::args::{Forget, Global};
use crate::ask::{Going, agreed};
use crate::output::Output;
use crate::wire::ErasureForm;

/// Erases what was selected.
pub(super) async fn run(memory: &Memory, global: &Global, call: Forget, output: &Output) -> Result<u8> {
    let selector = selector(memory, &call).await?;
    erase(memory, selector, Going::from(call.dry_run), global, output).await
}

/// Shows what would go, asks, erases, prints the result.
pub(super) async fn erase(
    memory: &Memory,
    selector: Selector,
    going: Going,
    global: &Global,
    output: &Output,
) -> Result<u8> {
    let preview = memory.forget(selector.clone()).dry_run().await?;
    if going == Going::DryRun {
        output.answer(&ErasureForm::from(&preview), || plan(&preview))?;
        return Ok(0);
    }
    if !agreed(&plan(&preview), "erase", global, output)? {
        output.say("nothing was erased");
        return Ok(0);
    }
    let erasure = memory.forget(selector).await?;
    output.answer(&ErasureForm::from(&erasure), || done(&erasure))?;
    Ok(u8::from(!erasure.verified))
}

async fn selector(memory: &Memory, call: &Forget) -> Result<Selector> {
    if let Some(key) = &call.key {
        return Ok(Selector::Key(NoteKey::new(key)?));
    }
    if let Some(session) = &call.session {
        return Ok(Selector::Session(SessionId::new(session)?));
    }
    let mut events = Vec::new();
    for id in &call.ids {
        if id.starts_with(LearningId::PREFIX) {
            let id: LearningId = id.parse()?;
            let notes = memory.notes(&LearningFilter::all()).await?;
            let note = notes.into_iter().find(|note| note.id == id);
            let note = note.ok_or_else(|| Error::not_found(format!("no note {id}")))?;
            events.extend(note.sources.iter().map(|source| source.event));
        } else {
            events.push(id.parse::<EventId>()?);
        }
    }
    Ok(Selector::Events(events))
}

fn plan(preview: &Erasure) -> String {
    format!("would erase: {} event(s), {} note(s)", preview.events, preview.learnings)
}

fn done(erasure: &Erasure) -> String {
    let id = erasure.event.map(|id| format!(" ({id})")).unwrap_or_default();
    let verified = if erasure.verified { "verified" } else { "NOT verified" };
    let pending = match erasure.status {
        ErasureStatus::ErasedPendingCheckpoint => "; its bytes go when the last reader is done",
        _ => "",
    };
    let residual =
        if erasure.residual.is_empty() { "none known".to_owned() } else { erasure.residual.join("; ") };
    format!(
        "erased{id}: {} event(s), {} note(s), {} receipt line(s); {verified}{pending}; residual: {residual}",
        erasure.events, erasure.learnings, erasure.receipts,
    )
}
