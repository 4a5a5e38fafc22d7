//! Maintenance of an in-memory space, which has no file.

use std::path::Path;

use async_trait::async_trait;
use mnemal_core::{
    Error, ErrorKind, Event, EventId, IndexEntry, Integrity, Remnant, Result, Scrub, Seq, Upkeep,
};

use super::MemoryStore;

#[async_trait]
impl Upkeep for MemoryStore {
    async fn check(&self) -> Result<Integrity> {
        let state = self.state();
        let index_rows = state.events.iter().filter(|stored| stored.index.is_some()).count();
        Ok(Integrity {
            events: state.events.len() as u64,
            index_rows: index_rows as u64,
            findings: Vec::new(),
        })
    }

    async fn scrub(&self, _texts: &[String]) -> Result<Scrub> {
        let residual = vec!["freed memory of this process is not overwritten".to_owned()];
        Ok(Scrub { truncated: true, residual, reaches_files: true })
    }

    async fn backup(&self, _to: &Path) -> Result<()> {
        Err(Error::new(ErrorKind::Unsupported, "a space in memory has no file to back up"))
    }

    async fn search_bytes(&self, texts: &[String]) -> Result<Vec<Remnant>> {
        let state = self.state();
        let mut remnants = Vec::new();
        for (text, sought) in texts.iter().enumerate().filter(|(_, sought)| !sought.is_empty()) {
            let holds = |event: &&Event| event.body().is_some_and(|kept| kept.content.contains(sought));
            let events = state.events.iter().map(|stored| &stored.event).filter(holds);
            remnants.extend(events.map(|event| Remnant {
                text,
                is_copy: false,
                place: format!("event {} holds it", event.id),
            }));
        }
        Ok(remnants)
    }

    async fn seal(&self) -> Result<u64> {
        Ok(0)
    }

    async fn damaged_index(&self) -> Result<Vec<(Seq, Seq)>> {
        Ok(Vec::new())
    }

    async fn reindex(&self, stretch: (Seq, Seq), rows: &[(Event, IndexEntry)]) -> Result<u64> {
        let inside = |row: &(Event, IndexEntry)| (stretch.0..=stretch.1).contains(&row.0.seq);
        if !rows.iter().all(inside) {
            return Err(Error::invalid(format!("cannot index {} events anew", rows.len())));
        }
        let mut state = self.state();
        let mut written = 0;
        for (event, index) in rows {
            let place = state.places.get(&event.id).copied();
            let stored = place.and_then(|place| state.events.get_mut(place));
            if let Some(stored) = stored.filter(|stored| stored.index.is_some()) {
                stored.index = Some(index.clone());
                written += 1;
            }
        }
        state.vectors += 1;
        Ok(written)
    }

    async fn unfinished_forgets(&self) -> Result<Vec<EventId>> {
        Ok(self.state().forgetting.clone())
    }

    async fn forgets_finished(&self, decisions: &[EventId]) -> Result<()> {
        self.state().forgetting.retain(|decision| !decisions.contains(decision));
        Ok(())
    }
}
