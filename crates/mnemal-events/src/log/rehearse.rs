//! Import preview: the effect and the quality of an import, without storing anything.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use mnemal_core::{Degraded, EventId, Gaps, Level, NewEvent, Result, Role, Speaker, Timestamp, marker};

use super::arrive::LeftOut;
use super::take::{Taken, imported_id, known};
use super::{EventLog, ExactRecord};
use crate::grave::tombstone_text;
use crate::import::ImportBatch;

/// Names that are counted one by one; records of others are counted together. Source: own choice, more than a person reads.
const NAMES: usize = 1_000;

/// How good the records of one part are. A record counts once, as the first of these that it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quality {
    /// All records.
    pub records: u64,
    /// Records without text, or with nothing but a block that a memory engine put in.
    pub empty: u64,
    /// Records that a rule would hold back.
    pub held_back: u64,
    /// Records with the words of an earlier one.
    pub copies: u64,
    /// Records that differ from an earlier one in numbers alone: heartbeats, reports of a schedule.
    pub alike: u64,
    /// Records that hold a part which a memory engine put in: what was recalled came back.
    pub echoes: u64,
    /// Records with a secret; these count beside the others.
    pub with_secret: u64,
}

impl Quality {
    /// Returns the records that are worth nothing.
    pub fn junk(&self) -> u64 {
        self.empty + self.held_back + self.copies + self.alike + self.echoes
    }
}

/// Whose words a record is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Whose {
    /// The user's own.
    User,
    /// Those of somebody else.
    Other,
    /// The assistant's.
    Assistant,
    /// A tool's.
    Tool,
    /// Nobody's: a file, a note.
    Nobody,
}

impl Whose {
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

/// What an import would do. It remembers 24 bytes of each record and up to a thousand names, and no text.
#[derive(Clone, Debug, Default)]
pub struct Rehearsal {
    /// What would become of the records.
    pub taken: Taken,
    /// When the earliest happened.
    pub first: Option<Timestamp>,
    /// When the latest happened.
    pub last: Option<Timestamp>,
    /// How good they are, by the part their author plays.
    pub quality: BTreeMap<Role, Quality>,
    /// Records that would be held back, by the rule: orders to an agent, hidden text, encoded text.
    pub rules: BTreeMap<String, u64>,
    /// Records by who speaks, with whom he is taken for; one without a name has that of his part. Of a thousand at most.
    pub speakers: BTreeMap<(String, Whose), u64>,
    /// Records of speakers beyond these.
    pub other_speakers: u64,
    ids: HashSet<EventId>,
    sessions: HashSet<u64>,
    texts: HashSet<u64>,
    shapes: HashSet<u64>,
}

impl Rehearsal {
    /// Returns the number of conversations.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Counts who speaks.
    fn hear(&mut self, event: &NewEvent) {
        let name = event.speaker.as_ref().map_or(event.kind.role().as_str(), Speaker::as_str);
        let key = (name.to_owned(), Whose::of(event));
        let is_full = self.speakers.len() >= NAMES;
        match self.speakers.get_mut(&key) {
            Some(count) => *count += 1,
            None if is_full => self.other_speakers += 1,
            None => drop(self.speakers.insert(key, 1)),
        }
    }

    /// Judges a record by its words; `fate` is what the pipeline made of it.
    fn judge(&mut self, event: &NewEvent, fate: &Fate) {
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
            Some(LeftOut::Empty) => &mut quality.empty,
            _ if fate.held_back => &mut quality.held_back,
            _ if is_copy => &mut quality.copies,
            _ if is_alike => &mut quality.alike,
            _ if marker::strip(&event.content).0 != event.content => &mut quality.echoes,
            _ => return,
        };
        *counter += 1;
    }
}

struct Fate {
    left: Option<LeftOut>,
    held_back: bool,
    has_secret: bool,
}

impl EventLog {
    /// Takes a batch of an import through the pipeline, compares it with what is stored, and stores nothing.
    ///
    /// # Errors
    /// `Invalid` for a name that holds a secret; `Unavailable` when the store does not answer.
    pub async fn rehearse(&self, batch: ImportBatch, rehearsal: &mut Rehearsal) -> Result<Degraded<()>> {
        let mut gaps = Gaps::default();
        let mut events: Vec<(EventId, NewEvent)> = Vec::new();
        for event in batch.events {
            let key = event.idempotency_key.as_deref().unwrap_or_default();
            events.push((imported_id(&self.parts.key, key), event));
        }
        for record in batch.exact.into_iter().flat_map(|exact| exact.records) {
            match record {
                ExactRecord::Event { id, event, .. } => events.push((id, *event)),
                ExactRecord::Erased { .. } | ExactRecord::Tombstone(_) => rehearsal.taken.forgotten += 1,
            }
        }
        let stored = known(self.parts.store.as_ref(), events.iter().map(|(id, _)| *id).collect()).await?;
        for (id, event) in events {
            let fates = match self.arrive(vec![event.clone()], &mut gaps).await {
                Ok(fates) => fates,
                Err(error) if error.kind() == mnemal_core::ErrorKind::Invalid => {
                    let record = event.idempotency_key.clone().unwrap_or_else(|| id.to_string());
                    rehearsal.taken.refused.push(super::Refused { record, why: error.what().to_owned() });
                    continue;
                }
                Err(error) => return Err(error),
            };
            for fate in fates {
                let is_new = rehearsal.ids.insert(id) && !stored.contains(&id);
                let (left, redactions, rule) = match &fate {
                    Ok(draft) => (None, draft.finding.redactions, draft.finding.quarantined.as_ref()),
                    Err(left) => (Some(*left), 0, None),
                };
                if let Some(rule) = rule {
                    *rehearsal.rules.entry(rule.to_string()).or_default() += 1;
                }
                if let Ok(draft) = &fate {
                    rehearsal.hear(&draft.event);
                }
                let held_back = rule.is_some();
                let taken = &mut rehearsal.taken;
                match left {
                    Some(LeftOut::Empty) => taken.empty += 1,
                    Some(LeftOut::Forgotten) => taken.forgotten += 1,
                    None if !is_new => taken.duplicates += 1,
                    None => {
                        taken.stored += 1;
                        taken.redactions += u64::from(redactions);
                        taken.quarantined += u64::from(held_back);
                    }
                }
                rehearsal.judge(&event, &Fate { left, held_back, has_secret: redactions > 0 });
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

/// Puts one sign in the place of each number, so that what differs in numbers alone is the same.
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
