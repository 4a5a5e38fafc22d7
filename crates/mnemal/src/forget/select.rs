//! Selection of events to forget: by description, text, fact or person, and the near-duplicates of a selection.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    ChannelId, Cursor, Decision, Error, ErrorKind, Event, EventFilter, EventId, EventKind, FactFilter,
    FactId, Origin, Result, Speaker, UserId, Within,
};
use mnemal_events::{DOCUMENT, DOCUMENTS, FILE};
use mnemal_recall::{EVIDENCE_FLOOR, MatchReason, Mode};
use mnemal_text::{Analyzer, Language, Term, is_stop_word, jaccard, shingles};

use crate::areas::EventsHandle;
use crate::memory::Memory;

/// Number of near-duplicates that a preview lists. Source: own choice, as many as a person reads before an erasure.
const LISTED: usize = 20;
/// Minimum similarity of a listed record. Source: own choice; below it texts share a topic and not a statement.
const ALIKE: f32 = 0.80;
/// Events of a closure that are compared with the others. Source: own choice; each is one search of some milliseconds.
const COMPARED: usize = 50;
/// Hits per search. Source: own choice.
const LOOKED_AT: usize = 20;
/// Longest prefix of a text that is used as the query, in characters. Source: own choice, more words than a query may have.
const ASKED: usize = 2_048;
/// Words of one shingle. Source: mnemal-text, `similarity` compares pairs of words.
const SHINGLE: usize = 2;
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

/// A near-duplicate of a record to forget that is not selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Similar {
    /// The event.
    pub event: EventId,
    /// Similarity, 0.8 to 1: the cosine of their vectors, or the Jaccard index of their word pairs, whichever is greater.
    pub likeness: f32,
}

/// A description of events; all given criteria must match.
#[derive(Clone, Debug)]
pub struct Description {
    /// Session, speaker, user, role, time.
    pub filter: EventFilter,
    /// The origin of the events.
    pub origin: Option<Origin>,
    /// The file that they were ingested from, by its name in the inbox or on the command line.
    pub file: Option<String>,
}

impl From<EventFilter> for Description {
    fn from(filter: EventFilter) -> Self {
        Self { filter, origin: None, file: None }
    }
}

impl Description {
    /// Whether an event has this origin and file; the filter is not checked here.
    fn accepts(&self, event: &Event) -> bool {
        let Some(kept) = event.body() else { return false };
        self.origin.is_none_or(|origin| kept.origin == origin)
            && self.file.as_ref().is_none_or(|file| kept.metadata.get(FILE) == Some(file))
    }
}

impl Memory {
    /// Adds the events of files with the same bytes: content is stored once, under several file names.
    async fn add_copies(&self, ids: &mut Vec<EventId>) -> Result<()> {
        let of = |event: &Event| event.body().and_then(|kept| kept.metadata.get(DOCUMENT).cloned());
        let documents: BTreeSet<String> =
            self.engine.existing_events(ids).await?.iter().filter_map(of).collect();
        if documents.is_empty() {
            return Ok(());
        }
        let known: BTreeSet<EventId> = ids.iter().copied().collect();
        let filter = EventFilter {
            channel: Within::Only(ChannelId::new(DOCUMENTS)?),
            erased: Within::Only(false),
            ..EventFilter::all()
        };
        let mut after = Cursor::START;
        loop {
            let page = self.events().scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            let same = page.iter().filter(|event| {
                !known.contains(&event.id) && of(event).is_some_and(|of| documents.contains(&of))
            });
            ids.extend(same.map(|event| event.id));
        }
        Ok(())
    }

    /// Returns near-duplicates of some of these events. Events that cannot be searched are not listed: the list is an aid without
    /// a guarantee.
    pub(super) async fn similar_to(&self, ids: &[EventId]) -> Vec<Similar> {
        let closure: BTreeSet<EventId> = ids.iter().copied().collect();
        let Ok(events) = self.log_to_read() else { return Vec::new() };
        let compared = ids.get(..COMPARED.min(ids.len())).unwrap_or_default();
        let events = events.get(compared).await.unwrap_or_default();
        let mut found: BTreeMap<EventId, f32> = BTreeMap::new();
        for kept in events.iter().filter_map(Event::body).filter(|kept| !kept.content.trim().is_empty()) {
            let asked: String = kept.content.chars().take(ASKED).collect();
            let words = shingles(&kept.content, SHINGLE);
            let answer =
                self.recall(asked).filter(EventFilter::live()).mode(Mode::Auto).limit(LOOKED_AT).await;
            let Ok(answer) = answer else { continue };
            for hit in
                answer.hits.iter().filter(|hit| hit.space.is_none() && !closure.contains(&hit.event.id))
            {
                let near = hit.parts.iter().find(|part| part.name == "nearness").map_or(0.0, |part| part.raw);
                let same =
                    hit.event.body().map_or(0.0, |kept| jaccard(&words, &shingles(&kept.content, SHINGLE)));
                let likeness = near.max(same).min(1.0);
                let known = found.entry(hit.event.id).or_default();
                *known = known.max(likeness);
            }
        }
        let mut similar: Vec<Similar> = found
            .into_iter()
            .filter(|(_, likeness)| *likeness >= ALIKE)
            .map(|(event, likeness)| Similar { event, likeness })
            .collect();
        similar
            .sort_by(|one, other| other.likeness.total_cmp(&one.likeness).then(one.event.cmp(&other.event)));
        similar.truncate(LISTED);
        similar
    }
}

impl EventsHandle<'_> {
    /// Returns the matching events in log order, with quarantined ones and without forget decisions and erased events: pass them
    /// to [`forget`](crate::Memory::forget) as [`Selector::Events`](mnemal_core::Selector::Events).
    ///
    /// # Errors
    /// `NotFound` when nothing matches, `Invalid` for a description that matches everything, `Unavailable` when the store does
    /// not answer.
    pub async fn selected(self, by: &Description) -> Result<Vec<EventId>> {
        let filter =
            EventFilter { quarantined: Within::All, erased: Within::Only(false), ..by.filter.clone() };
        let everything = EventFilter { erased: Within::Only(false), ..EventFilter::all() };
        if filter == everything && by.origin.is_none() && by.file.is_none() {
            return Err(Error::invalid("to forget everything is to remove the space"));
        }
        let (mut ids, mut after) = (Vec::new(), Cursor::START);
        loop {
            let page = self.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            ids.extend(
                page.iter().filter(|event| is_erasable(event) && by.accepts(event)).map(|event| event.id),
            );
        }
        if by.file.is_some() {
            self.memory.add_copies(&mut ids).await?;
        }
        if ids.is_empty() {
            return Err(Error::not_found("no living event is meant"));
        }
        Ok(ids)
    }

    /// Returns the events that contain the words of a text, best first, at most `most`: a proposal for a person to review before
    /// it is passed to [`forget`](crate::Memory::forget). If no event contains all words, it returns those that contain the most, with
    /// enough evidence; neighbors in a session are not included.
    ///
    /// # Errors
    /// `NotFound` when nothing matches, `Invalid` for a blank text; as [`recall`](crate::Memory::recall).
    pub async fn selected_by_text(self, text: &str, most: usize) -> Result<Vec<EventId>> {
        if text.trim().is_empty() {
            return Err(Error::invalid("a text to look for must not be blank"));
        }
        let language = self.memory.engine.language();
        let wanted = stems(text, language);
        let found = self.memory.recall(text).limit(most.saturating_mul(LOOKED_AT)).await?;
        let mut held = Vec::new();
        for hit in found.hits.iter().filter(|hit| hit.space.is_none()) {
            let Some(kept) = hit.event.body() else { continue };
            let said = std::iter::once(&kept.content).chain(kept.metadata.values());
            let there: BTreeSet<String> = said.flat_map(|said| terms(said, language)).collect();
            let n_held = wanted.iter().filter(|stem| there.contains(*stem)).count();
            let is_exact = n_held == wanted.len() || hit.found_by == MatchReason::Substring;
            if is_exact || n_held > 0 && hit.evidence >= EVIDENCE_FLOOR {
                held.push((if is_exact { wanted.len() } else { n_held }, hit.event.id));
            }
        }
        let best = held.iter().map(|(n_held, _)| *n_held).max();
        let meant = held.iter().filter(|(n_held, _)| Some(*n_held) == best);
        let ids: Vec<EventId> = meant.map(|(_, id)| *id).take(most).collect();
        if ids.is_empty() {
            return Err(Error::not_found("nothing is found for this text"));
        }
        Ok(ids)
    }

    /// Returns the source events of a fact.
    ///
    /// # Errors
    /// `NotFound` when there is no such fact, or its sources are erased; `Unavailable` when the graph does not answer.
    pub async fn selected_by_fact(self, fact: FactId) -> Result<Vec<EventId>> {
        let facts = self.memory.facts().graph().await?.value.history(&FactFilter::all()).await?;
        let found = facts.iter().filter(|known| known.id == fact);
        let ids: BTreeSet<EventId> =
            found.flat_map(|known| &known.supports).map(|support| support.source.event).collect();
        if ids.is_empty() {
            return Err(Error::not_found(format!("no fact {fact}")));
        }
        Ok(ids.into_iter().collect())
    }

    /// Returns the events of a person, by name: events whose speaker or user has this name, ignoring case, and events that
    /// mention the person, as [`naming`](crate::areas::FactsHandle::naming) finds them.
    ///
    /// # Errors
    /// `NotFound` for an unknown name; `Conflict` when the graph knows several people of this name, with their ids; as
    /// [`naming`](crate::areas::FactsHandle::naming).
    pub async fn selected_by_person(self, name: &str) -> Result<Vec<EventId>> {
        let wanted = name.trim().to_lowercase();
        let mut ids = BTreeSet::new();
        let is_called = |given: Option<&str>| given.is_some_and(|given| given.to_lowercase() == wanted);
        self.memory
            .each_event(|event| {
                let Some(kept) = event.body().filter(|_| is_erasable(event)) else { return };
                let speaker = kept.speaker.as_ref().map(Speaker::as_str);
                if is_called(speaker) || is_called(kept.user.as_ref().map(UserId::as_str)) {
                    ids.insert(event.id);
                }
            })
            .await?;
        match self.memory.facts().graph().await {
            Ok(graph) => {
                let always = mnemal_core::AsOf::present(mnemal_core::Timestamp::MAX);
                match graph.value.exactly(name.trim(), always).await {
                    Ok(entity) => ids.extend(self.memory.facts().naming(entity.id).await?),
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(error),
        }
        if ids.is_empty() {
            return Err(Error::not_found(format!("nobody is called {:?}", name.trim())));
        }
        Ok(ids.into_iter().collect())
    }
}

/// Returns the stems of a text's words, as recall compares them.
fn terms(text: &str, language: Language) -> Vec<String> {
    Analyzer::new(language).terms(text).into_iter().map(|term| term.text).collect()
}

/// Returns the stems of a text's content words, in the language of the space and in that of the text; of all words if none is a
/// content word.
fn stems(text: &str, language: Language) -> BTreeSet<String> {
    let said = Language::guess(text);
    let terms = Analyzer::new(language).terms(text);
    let is_content = |term: &&Term| {
        let word = text.get(term.start..term.end).unwrap_or_default();
        !is_stop_word(language, word) && !is_stop_word(said, word)
    };
    let content: BTreeSet<String> = terms.iter().filter(is_content).map(|term| term.text.clone()).collect();
    if content.is_empty() { terms.into_iter().map(|term| term.text).collect() } else { content }
}

/// Whether an event can be forgotten: it has a body, and does not record an earlier forget.
fn is_erasable(event: &Event) -> bool {
    event.body().is_some_and(|kept| !matches!(kept.kind, EventKind::Decision(Decision::Forget(_))))
}
