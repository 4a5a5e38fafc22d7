//! Extraction of claims, names and wishes from text.

pub use crate::reader::check_reader;
pub use mnemal_core::{
    Act, Confidence, EntityKind, ExtractedFact, Extraction, ExtractionContext, Gazetteer, Granularity,
    Mention, Object, Recognized, Subject, Utterance, When, WorldTime,
};
pub use mnemal_extract::{
    Author, ImportanceCue, OwnWords, Segment, SpeakerLabel, TextSummary, speaker_label, summarize_text,
};

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use mnemal_core::{
    Body, ChannelId, Clock as _, Cursor, Event, EventFilter, EventId, EventKind, Extractor, Metadata,
    NewEvent, Origin, Result, Seq, SessionId, Span, Within, Zone,
};
use mnemal_extract::{
    FeedbackAct, RuleExtractor, RuleSegmenter, Segmenter as _, Turn, TurnText, feedback, preference_notes,
};
use mnemal_text::sentences;

use crate::areas::FactsHandle;
use crate::clock::SystemClock;
use crate::engine::Engine;
use crate::memory::Memory;
use crate::message::{DEFAULT_CHANNEL, DEFAULT_SESSION};
use crate::settings::Settings;

/// Events of the session before the extracted one. Source: own choice.
const BEFORE: usize = 8;
/// Events per page of the scan for them.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

impl Memory {
    /// Returns the events of the same session just before this one, oldest first.
    async fn before(&self, event: &Event) -> Result<Vec<Event>> {
        let Some(kept) = event.body() else { return Ok(Vec::new()) };
        let filter = EventFilter { session: Within::Only(kept.session.clone()), ..EventFilter::live() };
        let (mut before, mut after) = (VecDeque::new(), Cursor::START);
        loop {
            let page = self.events().scan(&filter, after, PAGE).await?;
            let Some(last) = page.last().map(|last| last.seq) else { break };
            before.extend(page.into_iter().filter(|earlier| earlier.seq < event.seq));
            before.drain(..before.len().saturating_sub(BEFORE));
            if last >= event.seq {
                break;
            }
            after = Cursor(Some(last));
        }
        Ok(before.into())
    }
}

impl FactsHandle<'_> {
    /// Extracts names and claims from an event, with the reasons for dropped ones.
    ///
    /// Costs one scan of the session up to the event. Nothing is stored, and no known entities are used.
    ///
    /// # Errors
    /// `NotFound` when there is no event of this id, `Corrupt` when its bytes do not match their checksum.
    pub async fn extract(self, id: EventId) -> Result<Extraction> {
        let event = self.memory.events().get(id).await?;
        let before = self.memory.before(&event).await?;
        let known = Gazetteer::default();
        Ok(self.memory.engine.extractor().extract(&Utterance {
            event: &event,
            before: &before,
            known: &known,
        }))
    }
}

/// Attributes each segment of a user's text (own words, quotation, code and so on), by the built-in rules.
pub fn segments(text: &str) -> Vec<Segment> {
    RuleSegmenter.segments(&TurnText { text, names: &[] })
}

/// A sentence in which the speaker states a preference or an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Its kind: `directive`, `preference`, or the kind of a note: `taste`, `constraint`.
    pub kind: &'static str,
    /// The span of the sentence.
    pub span: Span,
}

/// Returns the sentences of a text in which the speaker states a preference or an instruction, in order and deduplicated, by the
/// built-in rules.
pub fn wishes(text: &str) -> Vec<Wish> {
    let own = OwnWords::of_text(text);
    let said = feedback(Turn { user: &own, assistant: None, earlier: &[] }).into_iter();
    let said = said.filter(|one| matches!(one.act, FeedbackAct::Directive | FeedbackAct::Preference));
    let said = said.map(|one| (one.act.as_str(), one.span));
    let notes = preference_notes(&own).into_iter().map(|note| (note.kind.as_str(), note.span));
    let sentence = |at: u32| {
        let found = sentences(own.as_str()).into_iter().find(|one| one.range().contains(&(at as usize)))?;
        Some(Span { start: u32::try_from(found.start).ok()?, end: u32::try_from(found.end).ok()? })
    };
    let mut wishes: Vec<Wish> = Vec::new();
    for (kind, span) in said.chain(notes) {
        let Some(span) = sentence(span.start) else { continue };
        if wishes.iter().all(|other| other.span != span) {
            wishes.push(Wish { kind, span });
        }
    }
    wishes.sort_by_key(|wish| wish.span.start);
    wishes
}

/// Returns the names in a text, by the built-in rules, deduplicated and in order; numbers with units and identifiers are left
/// out.
pub fn named_in(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for mention in read_text(text, &RuleExtractor::new()).map(|read| read.mentions).unwrap_or_default() {
        let is_something = !matches!(mention.kind, EntityKind::Quantity | EntityKind::Identifier);
        if is_something && !names.contains(&mention.name) {
            names.push(mention.name);
        }
    }
    names
}

/// Reads names and claims out of a text that the user says now, without a memory: by the built-in rules, and by the trained
/// reader where the settings name one.
///
/// # Errors
/// The errors of opening the trained reader; none for any text.
pub fn extract_text(text: &str, settings: &Settings) -> Result<Extraction> {
    let extractor = Engine::builder().with_settings(settings.clone()).extractor()?;
    read_text(text, extractor.as_ref())
}

fn read_text(text: &str, extractor: &dyn Extractor) -> Result<Extraction> {
    let now = SystemClock::default().now();
    let said = NewEvent {
        kind: EventKind::UserMessage,
        content: text.to_owned(),
        session: SessionId::new(DEFAULT_SESSION)?,
        channel: ChannelId::new(DEFAULT_CHANNEL)?,
        parent: None,
        speaker: None,
        user: None,
        agent: None,
        occurred_at: now,
        zone: Zone::utc(),
        origin: Origin::UserDirect,
        idempotency_key: None,
        metadata: Metadata::new(),
    };
    let event = Event {
        id: EventId(0),
        seq: Seq(0),
        recorded_at: now,
        role: said.kind.role(),
        trust: said.origin.trust(),
        level: said.origin.level(),
        quarantined: None,
        echo: Vec::new(),
        body: Body::Present(Box::new(said)),
    };
    let known = Gazetteer::default();
    Ok(extractor.extract(&Utterance { event: &event, before: &[], known: &known }))
}
