//! The neutral layout: one event per line, `{id, conv, session, ts, speaker, text, caption?}`.

use mnemal_core::{EventKind, Metadata, ToolName};
use mnemal_extract::{SpeakerLabel, speaker_label};

use super::json::{self, Object};
use super::parse_time::TimeParser;
use super::turn::{ParsedRecord, Turns};

/// Reads one record; every speaker is a person unless the label is that of a machine.
pub(super) fn read(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
    let conv = json::name(record, "conv")?.unwrap_or_default();
    if !turns.wants(&conv) {
        return Ok(());
    }
    let id = json::name(record, "id")?.ok_or("field `id` is missing")?;
    let content = json::text(record, "text")?.to_owned();
    let speaker = json::maybe_text(record, "speaker")?.filter(|speaker| !speaker.is_empty());
    let session = json::name(record, "session")?.or_else(|| (!conv.is_empty()).then(|| conv.clone()));
    let mut metadata = Metadata::from([("source_id".to_owned(), id.clone())]);
    if let Some(caption) = json::maybe_text(record, "caption")? {
        metadata.insert("caption".to_owned(), caption.to_owned());
    }
    let kind = match speaker.and_then(speaker_label) {
        Some(SpeakerLabel::Assistant) => EventKind::AssistantMessage,
        Some(SpeakerLabel::Tool) => {
            let tool = ToolName::new("tool").map_err(|why| why.to_string())?;
            EventKind::ToolResult { tool, ok: true }
        }
        Some(SpeakerLabel::System) => {
            turns.remark("instructions of the host");
            return Ok(());
        }
        Some(SpeakerLabel::User) | None => EventKind::UserMessage,
    };
    let said = ParsedRecord {
        user: None,
        human: kind == EventKind::UserMessage,
        kind,
        content,
        session: session.unwrap_or_else(|| turns.stem()),
        speaker: speaker.map(str::to_owned),
        at: moments.read(record.get("ts"))?,
        source: vec![conv.clone(), id],
        conv: Some(conv),
        parent: None,
        metadata,
    };
    turns.emit(&said).map(|_| ())
}
