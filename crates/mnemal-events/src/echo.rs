//! Echo detection: runs of words that a session was shown, so that injected memory is not stored as new evidence.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use mnemal_core::{
    ErrorKind, Event, EventId, EventStore, GapCause, ReceiptStore, Result, SeenRecords, SessionId, Source,
    Span,
};
use mnemal_text::Ngrams;

/// Cached sessions. Source: own choice; one host talks in a handful of sessions at a time.
const KEPT: usize = 16;
/// Most events read at once.
const PAGE: usize = 500;

/// Cache of word runs that sessions were shown, newest session first; reloaded when more was shown.
#[derive(Debug, Default)]
pub(crate) struct ShownTexts(Mutex<VecDeque<SessionTexts>>);

#[derive(Debug)]
struct SessionTexts {
    session: SessionId,
    seen: SeenRecords,
    /// Number of other logs that were searched.
    n_elsewhere: usize,
    runs: Arc<Ngrams>,
}

impl ShownTexts {
    /// Returns the word runs that a session was shown, from this space and from others.
    pub(crate) async fn runs(
        &self,
        session: &SessionId,
        receipts: &dyn ReceiptStore,
        logs: (&dyn EventStore, &[Arc<dyn EventStore>]),
    ) -> Result<Arc<Ngrams>, GapCause> {
        let seen = receipts.seen(session).await?;
        if let Some(runs) = self.cached(session, &seen, logs.1.len()) {
            return Ok(runs);
        }
        let runs = Arc::new(read(&seen, logs).await?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.session != *session);
        let (session, n_elsewhere) = (session.clone(), logs.1.len());
        known.push_front(SessionTexts { session, seen, n_elsewhere, runs: Arc::clone(&runs) });
        known.truncate(KEPT);
        Ok(runs)
    }

    fn cached(&self, session: &SessionId, seen: &SeenRecords, n_elsewhere: usize) -> Option<Arc<Ngrams>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hit = known.iter().find(|known| known.session == *session && known.n_elsewhere == n_elsewhere)?;
        (hit.seen == *seen).then(|| Arc::clone(&hit.runs))
    }
}

async fn read(
    seen: &SeenRecords,
    (here, elsewhere): (&dyn EventStore, &[Arc<dyn EventStore>]),
) -> Result<Ngrams> {
    let mut sources: Vec<Source> = seen.items.iter().flat_map(|item| item.sources.iter().copied()).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut runs = Ngrams::default();
    for page in sources.chunks(PAGE) {
        let mut ids: Vec<EventId> = page.iter().map(|source| source.event).collect();
        ids.dedup();
        let events = match here.get(&ids).await {
            Err(error) if error.kind() == ErrorKind::NotFound => one_by_one(&ids, here, elsewhere).await,
            answer => answer?,
        };
        for source in page {
            if let Some(text) = text_of(source, &events) {
                runs.add(text);
            }
        }
    }
    Ok(runs)
}

/// Reads events of several spaces; an id unknown to all of them is skipped.
async fn one_by_one(ids: &[EventId], here: &dyn EventStore, elsewhere: &[Arc<dyn EventStore>]) -> Vec<Event> {
    let mut events = Vec::with_capacity(ids.len());
    for id in ids {
        for store in std::iter::once(here).chain(elsewhere.iter().map(AsRef::as_ref)) {
            if let Ok(found) = store.get(std::slice::from_ref(id)).await {
                events.extend(found);
                break;
            }
        }
    }
    events
}

fn text_of<'t>(source: &Source, events: &'t [Event]) -> Option<&'t str> {
    let place = events.binary_search_by_key(&source.event, |event| event.id).ok()?;
    source.span.of(&events.get(place)?.body()?.content)
}

/// Returns the spans of a text that repeat a run, ascending and disjoint.
pub(crate) fn spans(runs: &Ngrams, text: &str) -> Vec<Span> {
    let span = |range: std::ops::Range<usize>| {
        Some(Span { start: u32::try_from(range.start).ok()?, end: u32::try_from(range.end).ok()? })
    };
    runs.spans(text).into_iter().filter_map(span).collect()
}
