//! `mnemal remember`.

use anyhow::Result;
use mnemal::types::{Category, ChannelId, Importance, Tag};
use mnemal::{Memory, NoteKey, SessionId, UserId};

use crate::args::{Global, Remember};
use crate::output::Output;
use crate::time;
use crate::wire::{StoredForm, kind_named};

/// Stores a note in the user's own words.
pub(super) async fn run(memory: &Memory, global: &Global, call: Remember, output: &Output) -> Result<u8> {
    let text = super::text_or_stdin(call.text, global)?;
    let mut request = memory.remember(text.trim_end_matches('\n')).by_user();
    if let Some(kind) = &call.kind {
        request = request.kind(kind_named(kind)?);
    }
    if let Some(key) = &call.key {
        request = request.key(NoteKey::new(key)?).amend();
    }
    if let Some(category) = call.category {
        request = request.category(Category::new(category)?);
    }
    for tag in call.tags {
        request = request.tag(Tag::new(tag)?);
    }
    if let Some(importance) = call.importance {
        request = request.importance(Importance::new(importance)?);
    }
    if let Some(ttl) = &call.ttl {
        request = request.expires_at(memory.admin().engine().now().plus_micros(time::duration_micros(ttl)?));
    }
    if let Some(user) = call.user {
        let user = UserId::new(user)?;
        request = request.message(|message| message.user_id(user));
    }
    let session = SessionId::new(call.session.unwrap_or_else(|| "cli".to_owned()))?;
    let channel = ChannelId::new("cli")?;
    let stored = request.message(|message| message.session(session).channel(channel)).await?;
    let name = call.key.clone();
    output.answer(&StoredForm::new(&stored, &stored.gaps), || {
        let id = stored.id.map_or_else(|| stored.event.to_string(), |id| id.to_string());
        let what = if stored.created { "stored" } else { "known" };
        match name {
            Some(name) => format!("{what} {name} ({id}, version {})", stored.version),
            None => format!("{what} ({id})"),
        }
    })?;
    if stored.redactions > 0 {
        output.say(&format!("{} secret(s) were replaced before anything was stored", stored.redactions));
    }
    Ok(super::gaps(&stored.gaps, global, output))
}
