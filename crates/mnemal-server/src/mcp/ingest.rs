//! `memory_ingest`: ingests a text as a document.

use mnemal::Memory;
use mnemal_core::{Document, Metadata, Passage};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::tool::Tool;

/// Ceiling of the answer, in tokens, which is a line or two. Source: own default, as for every answer.
const CEILING: u32 = 2_000;

/// Ingests a text, deduplicated. It is external evidence, not the user's words.
pub(super) async fn call(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::Ingest, given);
    let text = arguments.required("text", "give the whole text.")?;
    let (title, source) = (arguments.text("title")?, arguments.text("source")?);
    // A text without a source is no file, and replaces nothing.
    let location = source.clone();
    let mut document = Document {
        name: title.or_else(|| source.clone()).unwrap_or_else(|| "text".to_owned()),
        kind: "text".to_owned(),
        hash: Sha256::digest(text.as_bytes()).into(),
        written_at: None,
        fields: Metadata::new(),
        passages: vec![Passage { text, ..Passage::default() }],
        location,
        undescribed: None,
    };
    if let Some(source) = source {
        document.fields.insert("source".to_owned(), source);
    }
    let taken = memory.events().ingest(&document).await?;
    if let Some(refused) = taken.refused.first() {
        return Err(CorrectableError::new(format!("The text was not read in: {}.", refused.why)));
    }
    let mut tail = Remarks::new(arguments.notes);
    if taken.redactions > 0 {
        tail.say(format!("{} secret(s) were replaced before anything was stored.", taken.redactions));
    }
    if taken.quarantined > 0 {
        tail.say(format!("{} part(s) read like instructions and will not be recalled.", taken.quarantined));
    }
    if !taken.outdated.is_empty() {
        tail.say(format!("{} part(s) of its older reading were replaced.", taken.outdated.len()));
    }
    tail.gaps(&taken.gaps);
    let head = match (taken.stored, taken.duplicates) {
        (0, _) if taken.forgotten > 0 => "The text was forgotten here and stays away.".to_owned(),
        (0, known) if known > 0 => "The text is known already; nothing was added.".to_owned(),
        (stored, _) => format!("Read in as {stored} part(s); memory_recall finds it."),
    };
    let structured = json!({
        "stored": taken.stored,
        "duplicates": taken.duplicates,
        "replaced": taken.outdated.len(),
        "forgotten": taken.forgotten,
        "redactions": taken.redactions,
        "quarantined": taken.quarantined,
    });
    Ok(ToolAnswer { text: tail.behind(&head, memory.admin().engine(), CEILING), structured })
}
