//! Importer for our own export: a header, tombstones, events.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use mnemal_core::{EventId, PRODUCT, Tombstone};

use crate::export::EXPORT_VERSION;
use crate::export::wire::{ExportLine, Header};
use crate::log::RestoreRecord;

/// State of the importer: tombstones that await their event.
#[derive(Debug, Default)]
pub(super) struct NativeImporter {
    version: Option<u32>,
    tombstones: BTreeMap<EventId, Tombstone>,
    /// All events with a tombstone in the file; complete before its first event.
    pub(super) forgotten: Arc<HashSet<EventId>>,
}

impl NativeImporter {
    /// Reads one line; the reason never quotes it.
    pub(super) fn read(&mut self, text: &str) -> Result<Option<RestoreRecord>, String> {
        if self.version.is_none() {
            return self.header(text).map(|()| None);
        }
        let line = serde_json::from_str(text)
            .map_err(|error| format!("not a record of the export at column {}", error.column()))?;
        match line {
            ExportLine::Tombstone(grave) => {
                let tombstone = grave.read().map_err(|why| why.to_string())?;
                Arc::make_mut(&mut self.forgotten).insert(tombstone.event);
                self.tombstones.insert(tombstone.event, tombstone);
                Ok(None)
            }
            ExportLine::Event(kept) => kept.read().map(Some).map_err(|why| why.to_string()),
            ExportLine::Erased(erased) => {
                let (id, recorded_at, role) = erased.read().map_err(|why| why.to_string())?;
                let tombstone = self.tombstones.remove(&id).ok_or("an erased event without its tombstone")?;
                Ok(Some(RestoreRecord::Erased { recorded_at, role, tombstone }))
            }
        }
    }

    fn header(&mut self, text: &str) -> Result<(), String> {
        let header: Header =
            serde_json::from_str(text).map_err(|_| format!("not the header of an export of {PRODUCT}"))?;
        if header.format != PRODUCT {
            return Err(format!("not the header of an export of {PRODUCT}"));
        }
        if header.version != EXPORT_VERSION {
            return Err(format!(
                "an export of version {}, this program reads {EXPORT_VERSION}",
                header.version
            ));
        }
        self.version = Some(header.version);
        Ok(())
    }

    /// Whether there was a header.
    pub(super) fn has_header(&self) -> bool {
        self.version.is_some()
    }

    /// Returns the tombstones whose events are not in the file.
    pub(super) fn rest(&mut self) -> Vec<RestoreRecord> {
        std::mem::take(&mut self.tombstones).into_values().map(RestoreRecord::Tombstone).collect()
    }
}
