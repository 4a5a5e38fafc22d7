//! Document deduplication: a new version replaces the older one, and identical files are stored once.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use mnemal_core::{
    ChannelId, Cursor, Degraded, Document, Event, EventFilter, EventId, EventKind, Gaps, InstallationKey,
    NewEvent, Result, SessionId, Within,
};

use super::EventLog;
use super::import_batch::{ImportOutcome, existing_ids, imported_id};
use crate::document::{self, COPIES, DOCUMENT, DOCUMENTS, DocumentOptions, FILE, FILE_ID, HEADING, PAGE};
use crate::limit;

/// Chunks of a document in one transaction, and bytes of their texts. Source: ADR 9, so that it stays below 5 ms.
const CHUNKS: usize = 12;
const CHUNK_BYTES: usize = 64 * 1024;
/// Events of an older version that are read with one query.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// The log's state for a chunk's name.
#[derive(Debug, Default)]
struct ChunkState {
    /// A stored event with the chunk's text, preferably of this file.
    living: Option<Event>,
    /// The first unused name for the chunk.
    free: String,
}

impl EventLog {
    /// Stores a document in chunks through the same pipeline as [`append`](Self::append). Idempotent, also after a crash in
    /// between.
    ///
    /// A file at the location of an earlier one replaces it: unchanged chunks stay, and chunks that are gone are listed in
    /// [`ImportOutcome::outdated`], to be removed. A file with the bytes of another one is stored as its copy: one record that links to
    /// the same text.
    ///
    /// The chunks are stored in order, up to 12 at once, each batch all or none, so that other writers do not wait long.
    ///
    /// # Errors
    /// `Invalid` for a secret whose rule is in mode `block`, a name that holds a secret, or more chunks than the options allow,
    /// before anything is stored; `Unavailable` when the store does not answer: call again.
    pub async fn take_document(
        &self,
        document: &Document,
        options: &DocumentOptions,
    ) -> Result<Degraded<ImportOutcome>> {
        let mut gaps = Gaps::default();
        let mut taken = ImportOutcome::default();
        let (passages, redactions) = document::cleaned(document, &self.cleaner)?;
        let events = document::events(document, &passages, options, &self.parts.key)?;
        self.cleaner.check_names(events.get(..1).unwrap_or_default())?;
        let older = self.readings_of(document, options).await?;
        let (new, mut outdated) = self.compared(document, events, older, &mut taken).await?;
        self.take_in_order(new, &mut taken, &mut gaps).await?;
        if taken.stored > 0 {
            taken.redactions += u64::from(redactions);
        }
        self.note_copy(document, options, &mut taken, &mut gaps).await?;
        self.leave_to_copies(&mut outdated, &mut gaps).await?;
        taken.outdated = outdated.iter().map(|event| event.id).collect();
        Ok(gaps.attach(taken))
    }

    /// Stores chunks batch by batch.
    async fn take_in_order(
        &self,
        mut rest: Vec<NewEvent>,
        taken: &mut ImportOutcome,
        gaps: &mut Gaps,
    ) -> Result<()> {
        while !rest.is_empty() {
            let later = rest.split_off(self.room(&rest));
            self.import_new(rest, taken, gaps).await?;
            rest = later;
        }
        Ok(())
    }

    /// Returns the new chunks, and those of older versions that are gone; the others are counted.
    async fn compared(
        &self,
        document: &Document,
        events: Vec<NewEvent>,
        older: Vec<Event>,
        taken: &mut ImportOutcome,
    ) -> Result<(Vec<NewEvent>, Vec<Event>)> {
        let id = document::document_id(&self.parts.key, &document.hash);
        let file = File::of(document, &self.parts.key);
        let states = self.chunk_states(&events, &file).await?;
        let mut older: Vec<Option<Event>> = older.into_iter().map(Some).collect();
        let mut by_text: HashMap<Text, Vec<usize>> = HashMap::new();
        for (place, event) in older.iter().enumerate().rev() {
            if let Some(kept) = event.as_ref().and_then(Event::body) {
                by_text.entry(text_of(kept)).or_default().push(place);
            }
        }
        let mut new = Vec::new();
        let mut parent = None;
        for (mut event, states) in events.into_iter().zip(states) {
            let same = by_text.get_mut(&text_of(&event)).and_then(Vec::pop);
            let same = same.and_then(|place| older.get_mut(place)).and_then(Option::take);
            if let Some(known) = same.or(states.living) {
                taken.duplicates += 1;
                if let Some(name) = known.body().filter(|kept| !file.has(kept)).and_then(name_of) {
                    taken.same_as = Some(name);
                }
                parent = Some(known.id);
                continue;
            }
            event.parent = parent;
            parent = Some(imported_id(&self.parts.key, &states.free));
            event.idempotency_key = Some(states.free);
            new.push(event);
        }
        let is_of_these_bytes =
            |event: &Event| event.body().is_some_and(|kept| kept.metadata.get(DOCUMENT) == Some(&id));
        let outdated = older.into_iter().flatten().filter(|event| !is_of_these_bytes(event)).collect();
        Ok((new, outdated))
    }

    /// Returns the log's state for some chunks: a chunk gets a new name after each removal.
    async fn chunk_states(&self, events: &[NewEvent], file: &File) -> Result<Vec<ChunkState>> {
        let name_of = |event: &NewEvent| event.idempotency_key.clone().unwrap_or_default();
        let mut states: Vec<ChunkState> =
            events.iter().map(|event| ChunkState { living: None, free: name_of(event) }).collect();
        let store = self.parts.store.as_ref();
        // Chunks are stored in their order: without the first there is none, and one question is enough.
        let first: Vec<EventId> =
            states.first().map(|first| imported_id(&self.parts.key, &first.free)).into_iter().collect();
        if existing_ids(store, first).await?.is_empty() {
            return Ok(states);
        }
        let mut open: Vec<(usize, EventId)> = states
            .iter()
            .enumerate()
            .map(|(place, states)| (place, imported_id(&self.parts.key, &states.free)))
            .collect();
        for time in 1_u32.. {
            let ids = existing_ids(store, open.iter().map(|(_, id)| *id).collect()).await?;
            if ids.is_empty() {
                break;
            }
            let ids: Vec<EventId> = ids.into_iter().collect();
            let found: HashMap<EventId, Event> =
                store.get(&ids).await?.into_iter().map(|event| (event.id, event)).collect();
            let mut next = Vec::new();
            for (place, id) in open {
                let (Some(states), Some(event)) = (states.get_mut(place), found.get(&id)) else {
                    continue;
                };
                if event.body().is_some_and(|kept| file.has(kept) || states.living.is_none()) {
                    states.living = Some(event.clone());
                }
                let name = events.get(place).map(name_of).unwrap_or_default();
                states.free = format!("{name}/{time}");
                next.push((place, imported_id(&self.parts.key, &states.free)));
            }
            open = next;
        }
        Ok(states)
    }

    /// Returns the stored chunks of older versions of a file, and its record as a copy of another one.
    async fn readings_of(&self, document: &Document, options: &DocumentOptions) -> Result<Vec<Event>> {
        let Some(location) = &document.location else { return Ok(Vec::new()) };
        let file = File::of(document, &self.parts.key);
        let is_ours = |kept: &NewEvent| {
            kept.metadata.get(FILE_ID) == file.id.as_ref()
                && kept.user == options.user
                && kept.agent == options.agent
        };
        let mut found = Vec::new();
        for session in document::sessions_of(&document.name, location, &self.parts.key)? {
            found.extend(self.documents_in(session, &is_ours).await?);
        }
        Ok(found)
    }

    /// Records that a file has the bytes of another one, so that it can be found and forgotten by this name too.
    async fn note_copy(
        &self,
        document: &Document,
        options: &DocumentOptions,
        taken: &mut ImportOutcome,
        gaps: &mut Gaps,
    ) -> Result<()> {
        if taken.same_as.is_none() || taken.stored > 0 {
            taken.same_as = None;
            return Ok(());
        }
        let copy = document::copy(document, options, &self.parts.key)?;
        let file = File::of(document, &self.parts.key);
        let mut states = self.chunk_states(std::slice::from_ref(&copy), &file).await?;
        if let Some(ChunkState { living: None, free }) = states.pop() {
            let copy = NewEvent { idempotency_key: Some(free), ..copy };
            // It is no part of what the file says.
            self.import_new(vec![copy], &mut ImportOutcome::default(), gaps).await?;
        }
        Ok(())
    }

    /// Moves a version that its file no longer has to the name of a copy, which still has that text.
    async fn leave_to_copies(&self, outdated: &mut Vec<Event>, gaps: &mut Gaps) -> Result<()> {
        let sessions: HashMap<String, SessionId> = outdated
            .iter()
            .filter_map(Event::body)
            .filter(|kept| kept.session.as_str() != COPIES)
            .filter_map(|kept| Some((kept.metadata.get(DOCUMENT)?.clone(), kept.session.clone())))
            .collect();
        if sessions.is_empty() {
            return Ok(());
        }
        let is_of_these =
            |kept: &NewEvent| kept.metadata.get(DOCUMENT).is_some_and(|of| sessions.contains_key(of));
        let copies = self.documents_in(SessionId::new(COPIES)?, &is_of_these).await?;
        for copy in copies {
            let Some((kept, id)) = copy.body().and_then(|kept| Some((kept, kept.metadata.get(DOCUMENT)?)))
            else {
                continue;
            };
            let Some(session) = sessions.get(id).cloned() else { continue };
            let chunks =
                self.documents_in(session, &|chunk| chunk.metadata.get(DOCUMENT) == Some(id)).await?;
            let mut again: Vec<NewEvent> = chunks
                .iter()
                .filter_map(Event::body)
                .map(|chunk| document::left_to(chunk, kept, &self.parts.key))
                .collect::<Result<_>>()?;
            let file =
                File { id: kept.metadata.get(FILE_ID).cloned(), name: name_of(kept).unwrap_or_default() };
            let states = self.chunk_states(&again, &file).await?;
            let mut parent = None;
            for (event, states) in again.iter_mut().zip(states) {
                event.parent = parent;
                parent = Some(imported_id(&self.parts.key, &states.free));
                event.idempotency_key = Some(states.free);
            }
            self.take_in_order(again, &mut ImportOutcome::default(), gaps).await?;
            if outdated.iter().all(|other| other.id != copy.id) {
                outdated.push(copy);
            }
        }
        Ok(())
    }

    /// Returns the stored document events of one conversation that are accepted, in log order.
    async fn documents_in(
        &self,
        session: SessionId,
        accepts: &(dyn Fn(&NewEvent) -> bool + Sync),
    ) -> Result<Vec<Event>> {
        let filter = EventFilter {
            session: Within::Only(session),
            channel: Within::Only(ChannelId::new(DOCUMENTS)?),
            erased: Within::Only(false),
            ..EventFilter::all()
        };
        let (mut found, mut after) = (Vec::new(), Cursor::START);
        loop {
            let page = self.parts.store.scan(&filter, after, AT_ONCE).await?;
            let Some(last) = page.last() else { return Ok(found) };
            after = Cursor(Some(last.seq));
            let is_chunk = |kept: &NewEvent| kept.kind == EventKind::Document && accepts(kept);
            found.extend(page.into_iter().filter(|event| event.body().is_some_and(is_chunk)));
        }
    }

    /// Returns how many of the events fit into one batch, at least one.
    fn room(&self, events: &[NewEvent]) -> usize {
        let most = CHUNKS.min(self.parts.store.capabilities().largest_batch).min(events.len());
        let mut bytes = 0;
        let fit = events.iter().take(most).take_while(|event| {
            bytes += event.content.len() + limit::metadata_bytes(&event.metadata);
            bytes <= CHUNK_BYTES
        });
        fit.count().max(1)
    }
}

/// The identity of a file: its location, else its name.
#[derive(Debug)]
struct File {
    id: Option<String>,
    name: String,
}

impl File {
    fn of(document: &Document, key: &InstallationKey) -> Self {
        Self { id: document::file_id(document, key), name: document::file_name(document).to_owned() }
    }

    /// Whether an event belongs to this file.
    fn has(&self, kept: &NewEvent) -> bool {
        match (&self.id, kept.metadata.get(FILE_ID)) {
            (Some(id), Some(of)) => id == of,
            _ => kept.metadata.get(FILE) == Some(&self.name),
        }
    }
}

fn name_of(kept: &NewEvent) -> Option<String> {
    kept.metadata.get(FILE).cloned()
}

/// The identity of a chunk's text: text, headings and page.
type Text = (String, Option<String>, Option<String>);

fn text_of(kept: &NewEvent) -> Text {
    let of = |field: &str| kept.metadata.get(field).cloned();
    (kept.content.clone(), of(HEADING), of(PAGE))
}
