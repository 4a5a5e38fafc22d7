//! The ingest pipeline: the steps before an event is stored.

use std::collections::HashMap;
use std::sync::Arc;

use mnemal_core::{EventKind, Gap, Gaps, Layer, Level, NewEvent, Origin, Result, RuleId, SessionId, Span};
use mnemal_text::Ngrams;

use super::EventLog;
use crate::echo;
use crate::limit::LONGEST_INDEXED;
use crate::tombstone_filter::{TextCheck, TombstoneFilter};

/// Flag on an event whose text exceeds the indexed length.
const TRUNCATED_INDEX: &str = "truncated_index";

/// The reason why an event was not stored; neither is an error.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// It had no text, or only an injected block.
    Empty,
    /// Its text was erased, and neither the user nor a program stores it again on purpose.
    Forgotten,
}

impl SkipReason {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Forgotten => "forgotten",
        }
    }
}

/// An event ready for storage.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) event: NewEvent,
    pub(super) finding: Finding,
}

/// Findings of the pipeline about an event.
#[derive(Debug, Default)]
pub(super) struct Finding {
    pub(super) redactions: u32,
    /// Identifies what was sent: texts that are cut afterwards count as sent, so that a retry is a retry after an erasure too.
    pub(super) body_hash: [u8; 32],
    pub(super) quarantined: Option<RuleId>,
    pub(super) echo: Vec<Span>,
}

impl EventLog {
    /// Runs a batch through the pipeline; reads tombstones once, and shown records once per session.
    pub(super) async fn run_pipeline(
        &self,
        events: Vec<NewEvent>,
        gaps: &mut Gaps,
    ) -> Result<Vec<Result<Draft, SkipReason>>> {
        self.cleaner.check_names(&events)?;
        let tombstones = self.tombstones().await?;
        let shown = self.shown_to(&events, gaps).await;
        events.into_iter().map(|event| self.run_pipeline_on(event, &tombstones, &shown)).collect()
    }

    fn run_pipeline_on(
        &self,
        mut event: NewEvent,
        tombstones: &TombstoneFilter,
        shown: &HashMap<SessionId, Arc<Ngrams>>,
    ) -> Result<Result<Draft, SkipReason>> {
        let redactions = self.cleaner.clean(&mut event)?;
        if is_empty(&event) {
            return Ok(Err(SkipReason::Empty));
        }
        if event.content.len() > LONGEST_INDEXED {
            event.metadata.insert(TRUNCATED_INDEX.to_owned(), "true".to_owned());
        }
        let body_hash = self.body_hash(&event)?;
        if !is_deliberate_note(&event) && tombstones.pass(&mut event, &self.parts.key) == TextCheck::Blocked {
            return Ok(Err(SkipReason::Forgotten));
        }
        let quarantined = screen(&event)?;
        let echo =
            shown.get(&event.session).map(|runs| echo::spans(runs, &event.content)).unwrap_or_default();
        Ok(Ok(Draft { event, finding: Finding { redactions, body_hash, quarantined, echo } }))
    }

    async fn shown_to(&self, events: &[NewEvent], gaps: &mut Gaps) -> HashMap<SessionId, Arc<Ngrams>> {
        let mut shown: HashMap<SessionId, Arc<Ngrams>> = HashMap::new();
        let Ok(receipts) = self.parts.receipts.part() else { return shown };
        for event in events {
            if shown.contains_key(&event.session) {
                continue;
            }
            let (here, elsewhere) = (self.parts.store.as_ref(), self.elsewhere.as_slice());
            let runs = match self.shown.runs(&event.session, receipts, (here, elsewhere)).await {
                Ok(runs) => runs,
                Err(cause) => {
                    gaps.add(Gap { layer: Layer::Receipts, cause });
                    Arc::default()
                }
            };
            shown.insert(event.session.clone(), runs);
        }
        shown
    }
}

/// Whether an event has no content; a tool call, a tool result and a decision need no text.
fn is_empty(event: &NewEvent) -> bool {
    let speaks = match event.kind {
        EventKind::ToolCall { .. } | EventKind::ToolResult { .. } => false,
        EventKind::Decision(ref decision) => matches!(decision, mnemal_core::Decision::Remember(_)),
        EventKind::Operation(ref operation) => operation.kind.has_text(),
        _ => true,
    };
    let blank = |text: &str| text.trim().is_empty();
    speaks && blank(&event.content) && event.metadata.get("caption").is_none_or(|caption| blank(caption))
}

/// Whether a program deliberately stores a note, which may repeat an erased text. In a turn, a document or an import an erased
/// text stays blocked.
fn is_deliberate_note(event: &NewEvent) -> bool {
    event.origin == Origin::Assistant
        && matches!(event.kind, EventKind::Decision(mnemal_core::Decision::Remember(_)))
}

/// Returns the rule that quarantines an event; the user's own words are never quarantined.
fn screen(event: &NewEvent) -> Result<Option<RuleId>> {
    if event.origin.level() >= Level::User {
        return Ok(None);
    }
    let speaker = event.speaker.as_ref().map(mnemal_core::Speaker::as_str);
    let texts = std::iter::once(event.content.as_str()).chain(event.metadata.values().map(String::as_str));
    texts.chain(speaker).find_map(|text| mnemal_extract::screen(text)).map(RuleId::new).transpose()
}
