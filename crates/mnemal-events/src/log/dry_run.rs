//! Import preview: the effect and the quality of an import, without storing anything.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use mnemal_core::{Degraded, EventId, Gaps, Level, NewEvent, Result, Role, Speaker, Timestamp, marker};

use super::import_batch::{ImportOutcome, existing_ids, imported_id};
use super::pipeline::SkipReason;
use super::{EventLog, RestoreRecord};
use crate::import::ImportBatch;
use crate::tombstone_filter::tombstone_text;

/// Names that are counted individually; records of others are counted together. Source: own choice, more than a person reads.
const NAMES: usize = 1_000;

/// Quality counts of the records of one role. A record counts once, in the first category that applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordQuality {
    /// All records.
    pub records: u64,
    /// Records without text, or with only an injected context block.
    pub empty: u64,
    /// Records that a rule would quarantine.
    pub held_back: u64,
    /// Exact copies of an earlier record.
    pub copies: u64,
    /// Near-copies that differ from an earlier record in numbers alone: heartbeats, reports of a schedule.
    pub alike: u64,
    /// Records with an injected context block: recalled memory that came back.
    pub echoes: u64,
    /// Records with a secret; counted in addition to the others.
    pub with_secret: u64,
}

impl RecordQuality {
    /// Returns the number of worthless records.
    pub fn junk(&self) -> u64 {
        self.empty + self.held_back + self.copies + self.alike + self.echoes
    }
}

/// The attribution of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Attribution {
    /// The user.
    User,
    /// Another person.
    Other,
    /// The assistant.
    Assistant,
    /// A tool.
    Tool,
    /// No speaker: a file, a note.
    Nobody,
}

impl Attribution {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Other => "other",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Nobody => "nobody",
        }
    }

    fn of(event: &NewEvent) -> Self {
        match event.kind.role() {
            Role::User if event.origin.level() == Level::User => Self::User,
            Role::User => Self::Other,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Tool,
            _ => Self::Nobody,
        }
    }
}

/// The result of an import preview. It keeps 24 bytes of each record and up to a thousand names, and no text.
#[derive(Clone, Debug, Default)]
pub struct ImportPreview {
    /// The expected result of the import.
    pub taken: ImportOutcome,
    /// Time of the earliest record.
    pub first: Option<Timestamp>,
    /// Time of the latest record.
    pub last: Option<Timestamp>,
    /// Quality counts by role.
    pub quality: BTreeMap<Role, RecordQuality>,
    /// Records that would be quarantined, by rule: prompt injections, hidden text, encoded text.
    pub rules: BTreeMap<String, u64>,
    /// Records by speaker and attribution; an unnamed speaker has the name of the role. A thousand speakers at most.
    pub speakers: BTreeMap<(String, Attribution), u64>,
    /// Records of further speakers.
    pub other_speakers: u64,
    ids: HashSet<EventId>,
    sessions: HashSet<u64>,
    texts: HashSet<u64>,
    shapes: HashSet<u64>,
}

impl ImportPreview {
    /// Returns the number of conversations.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Counts the speaker.
    fn count_speaker(&mut self, event: &NewEvent) {
        let name = event.speaker.as_ref().map_or(event.kind.role().as_str(), Speaker::as_str);
        let key = (name.to_owned(), Attribution::of(event));
        let is_full = self.speakers.len() >= NAMES;
        match self.speakers.get_mut(&key) {
            Some(count) => *count += 1,
            None if is_full => self.other_speakers += 1,
            None => drop(self.speakers.insert(key, 1)),
        }
    }

    /// Classifies a record by its words; `fate` is the result of the pipeline.
    fn count_quality(&mut self, event: &NewEvent, fate: &RecordOutcome) {
        let at = event.occurred_at;
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
        self.sessions.insert(hash(event.session.as_str()));
        let text = tombstone_text(&event.content);
        let is_copy = !self.texts.insert(hash(&text));
        let is_alike = !self.shapes.insert(hash(&without_numbers(&text)));
        let quality = self.quality.entry(event.kind.role()).or_default();
        quality.records += 1;
        quality.with_secret += u64::from(fate.has_secret);
        let counter = match fate.left {
            Some(SkipReason::Empty) => &mut quality.empty,
            _ if fate.held_back => &mut quality.held_back,
            _ if is_copy => &mut quality.copies,
            _ if is_alike => &mut quality.alike,
            _ if marker::strip(&event.content).0 != event.content => &mut quality.echoes,
            _ => return,
        };
        *counter += 1;
    }
}

struct RecordOutcome {
    left: Option<SkipReason>,
    held_back: bool,
    has_secret: bool,
}

impl EventLog {
    /// Runs a batch of an import through the pipeline, compares it with the log, and stores nothing.
    ///
    /// # Errors
    /// `Invalid` for a name that holds a secret; `Unavailable` when the store does not answer.
    pub async fn dry_run(&self, batch: ImportBatch, preview: &mut ImportPreview) -> Result<Degraded<()>> {
        let mut gaps = Gaps::default();
        let mut events: Vec<(EventId, NewEvent)> = Vec::new();
        for event in batch.events {
            let key = event.idempotency_key.as_deref().unwrap_or_default();
            events.push((imported_id(&self.parts.key, key), event));
        }
        for record in batch.exact.into_iter().flat_map(|exact| exact.records) {
            match record {
                RestoreRecord::Event { id, event, .. } => events.push((id, *event)),
                RestoreRecord::Erased { .. } | RestoreRecord::Tombstone(_) => preview.taken.forgotten += 1,
            }
        }
        let stored =
            existing_ids(self.parts.store.as_ref(), events.iter().map(|(id, _)| *id).collect()).await?;
        for (id, event) in events {
            let fates = match self.run_pipeline(vec![event.clone()], &mut gaps).await {
                Ok(fates) => fates,
                Err(error) if error.kind() == mnemal_core::ErrorKind::Invalid => {
                    let record = event.idempotency_key.clone().unwrap_or_else(|| id.to_string());
                    preview
                        .taken
                        .refused
                        .push(super::RejectedRecord { record, why: error.what().to_owned() });
                    continue;
                }
                Err(error) => return Err(error),
            };
            for fate in fates {
                let is_new = preview.ids.insert(id) && !stored.contains(&id);
                let (left, redactions, rule) = match &fate {
                    Ok(draft) => (None, draft.finding.redactions, draft.finding.quarantined.as_ref()),
                    Err(left) => (Some(*left), 0, None),
                };
                if let Some(rule) = rule {
                    *preview.rules.entry(rule.to_string()).or_default() += 1;
                }
                if let Ok(draft) = &fate {
                    preview.count_speaker(&draft.event);
                }
                let held_back = rule.is_some();
                let taken = &mut preview.taken;
                match left {
                    Some(SkipReason::Empty) => taken.empty += 1,
                    Some(SkipReason::Forgotten) => taken.forgotten += 1,
                    None if !is_new => taken.duplicates += 1,
                    None => {
                        taken.stored += 1;
                        taken.redactions += u64::from(redactions);
                        taken.quarantined += u64::from(held_back);
                    }
                }
                preview.count_quality(&event, &RecordOutcome { left, held_back, has_secret: redactions > 0 });
            }
        }
        Ok(gaps.attach(()))
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Replaces each number by one sign, so that texts that differ in numbers alone are equal.
fn without_numbers(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_numeric() {
            if !shape.ends_with('#') {
                shape.push('#');
            }
        } else {
            shape.push(letter);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_alone_make_no_difference() {
        assert_eq!(without_numbers("beat 17 at 09:30"), without_numbers("beat 1234 at 10:05"));
        assert_ne!(without_numbers("beat 17"), without_numbers("beet 17"));
    }
}
