//! What somebody means by a description: the events, and what is like them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, Decision, Error, ErrorKind, Event, EventFilter, EventId, EventKind, FactFilter, FactId, Origin,
    Result, Speaker, UserId, Within,
};
use mnemal_events::FILE;
use mnemal_recall::{EVIDENCE_FLOOR, Mode};
use mnemal_text::{jaccard, shingles};

use crate::memory::Memory;

/// Records that a preview lists. Source: NX-03.11, 20.
const LISTED: usize = 20;
/// From which likeness on they are listed. Source: NX-03.11, 0.80.
const ALIKE: f32 = 0.80;
/// Events of a closure that are compared with the others. Source: own choice; each is one search, some milliseconds.
const COMPARED: usize = 50;
/// Hits that are looked at for each of them. Source: own choice.
const LOOKED_AT: usize = 20;
/// Longest part of a text that is searched for, in characters. Source: own choice, more words than a query may have.
const ASKED: usize = 2_048;
/// Neighbouring words of one shingle. Source: mnemal-text, `similarity` compares pairs of words.
const SHINGLE: usize = 2;
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

/// A record that says nearly what is to be forgotten, and is not selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Similar {
    /// The event.
    pub event: EventId,
    /// How like it is, 0.8 to 1: the cosine of their vectors, or the Jaccard index of their pairs of words, what is greater.
    pub likeness: f32,
}

/// What is known of the events that somebody means; all of it must be so.
#[derive(Clone, Debug)]
pub struct Description {
    /// Conversation, speaker, user, role, time.
    pub filter: EventFilter,
    /// Who put the words in.
    pub origin: Option<Origin>,
    /// The file that they stand in, by the name that it had in the inbox or on the command line.
    pub file: Option<String>,
}

impl From<EventFilter> for Description {
    fn from(filter: EventFilter) -> Self {
        Self { filter, origin: None, file: None }
    }
}

impl Description {
    /// Whether an event is of the origin and the file; the filter is not looked at.
    fn accepts(&self, event: &Event) -> bool {
        let Some(kept) = event.kept() else { return false };
        self.origin.is_none_or(|origin| kept.origin == origin)
            && self.file.as_ref().is_none_or(|file| kept.metadata.get(FILE) == Some(file))
    }
}

impl Memory {
    /// Returns the living events that are described, those that a rule holds back included and decisions to forget left out,
    /// in the order of the log: what to hand to [`forget`](Self::forget) as
    /// [`Selector::Events`](mnemal_core::Selector::Events).
    ///
    /// # Errors
    /// `NotFound` when there is none, `Invalid` for a description that leaves nothing out, `Unavailable` when the store does
    /// not answer.
    pub async fn selected(&self, by: &Description) -> Result<Vec<EventId>> {
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
        if ids.is_empty() {
            return Err(Error::not_found("no living event is meant"));
        }
        Ok(ids)
    }

    /// Returns the events that are found for a text with enough evidence, best first, at most `most`: a proposal, which
    /// somebody reads before it is handed to [`forget`](Self::forget).
    ///
    /// # Errors
    /// `NotFound` when nothing is, `Invalid` for a blank text; as [`recall`](Self::recall).
    pub async fn selected_by_text(&self, text: &str, most: usize) -> Result<Vec<EventId>> {
        if text.trim().is_empty() {
            return Err(Error::invalid("a text to look for must not be blank"));
        }
        let found = self.recall(text).limit(most).await?;
        let own = found.hits.iter().filter(|hit| hit.space.is_none() && hit.evidence >= EVIDENCE_FLOOR);
        let ids: Vec<EventId> = own.map(|hit| hit.event.id).collect();
        if ids.is_empty() {
            return Err(Error::not_found("nothing is found for this text"));
        }
        Ok(ids)
    }

    /// Returns the events on which a fact rests.
    ///
    /// # Errors
    /// `NotFound` when there is no such fact, or nothing is left of its words; `Unavailable` when the graph does not answer.
    pub async fn selected_by_fact(&self, fact: FactId) -> Result<Vec<EventId>> {
        let facts = self.graph().await?.value.history(&FactFilter::all()).await?;
        let found = facts.iter().filter(|known| known.id == fact);
        let ids: BTreeSet<EventId> =
            found.flat_map(|known| &known.supports).map(|support| support.source.event).collect();
        if ids.is_empty() {
            return Err(Error::not_found(format!("no fact {fact}")));
        }
        Ok(ids.into_iter().collect())
    }

    /// Returns the events of a person, by name: what was said by a speaker or is the record of a user of this name, case aside,
    /// and what names the person as [`naming`](Self::naming) finds it.
    ///
    /// # Errors
    /// `NotFound` when nobody is called so; `Conflict` when the graph knows several, whose ids it lists; as
    /// [`naming`](Self::naming).
    pub async fn selected_by_person(&self, name: &str) -> Result<Vec<EventId>> {
        let wanted = name.trim().to_lowercase();
        let mut ids = BTreeSet::new();
        let is_called = |given: Option<&str>| given.is_some_and(|given| given.to_lowercase() == wanted);
        self.each_event(|event| {
            let Some(kept) = event.kept().filter(|_| is_erasable(event)) else { return };
            let speaker = kept.speaker.as_ref().map(Speaker::as_str);
            if is_called(speaker) || is_called(kept.user.as_ref().map(UserId::as_str)) {
                ids.insert(event.id);
            }
        })
        .await?;
        match self.graph().await {
            Ok(graph) => {
                let always = mnemal_core::AsOf::present(mnemal_core::Timestamp::MAX);
                match graph.value.exactly(name.trim(), always).await {
                    Ok(entity) => ids.extend(self.naming(entity.id).await?),
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

    /// Returns what says nearly the same as some of these events and is none of them. What cannot be searched is not listed:
    /// the list is a help, and no promise.
    pub(super) async fn similar_to(&self, ids: &[EventId]) -> Vec<Similar> {
        let closure: BTreeSet<EventId> = ids.iter().copied().collect();
        let Ok(events) = self.engine.events() else { return Vec::new() };
        let compared = ids.get(..COMPARED.min(ids.len())).unwrap_or_default();
        let events = events.get(compared).await.unwrap_or_default();
        let mut found: BTreeMap<EventId, f32> = BTreeMap::new();
        for kept in events.iter().filter_map(Event::kept).filter(|kept| !kept.content.trim().is_empty()) {
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
                    hit.event.kept().map_or(0.0, |kept| jaccard(&words, &shingles(&kept.content, SHINGLE)));
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

/// Whether an event can be forgotten: it is there, and is no record of an earlier forget.
fn is_erasable(event: &Event) -> bool {
    event.kept().is_some_and(|kept| !matches!(kept.kind, EventKind::Decision(Decision::Forget(_))))
}
