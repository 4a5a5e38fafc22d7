//! The fold: what a decision in the log does to the notes. Pure; the same events give the same rows.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    Decision, Event, EventId, Learning, LearningDelta, LearningId, LearningKind, LearningStatus, Level,
    NewEvent, NoteKey, Producer, Remember, Result, Source, Span, derived_id,
};

/// Who makes the notes, for their rows and ids.
const PRODUCER: &str = "learnings/notes";
/// Counts up with every change of what the fold makes of the same events.
const VERSION: u32 = 1;

/// Returns the producer of notes.
pub fn producer() -> Producer {
    Producer { id: PRODUCER.to_owned(), version: VERSION }
}

/// Rows under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fold {
    rows: BTreeMap<LearningId, Learning>,
    forgotten: BTreeSet<EventId>,
}

impl Fold {
    /// Starts from stored rows.
    pub(crate) fn from_rows(rows: Vec<Learning>) -> Self {
        Self { rows: rows.into_iter().map(|row| (row.id, row)).collect(), forgotten: BTreeSet::new() }
    }

    /// Starts without rows, in a log in which these events are forgotten, even if they are not erased yet.
    pub(crate) fn without(forgotten: BTreeSet<EventId>) -> Self {
        Self { rows: BTreeMap::new(), forgotten }
    }

    /// Applies an event; one that is no living decision about a note changes nothing, nor does the second application.
    ///
    /// # Errors
    /// `Invalid` when a note has no text.
    pub(crate) fn apply(&mut self, event: &Event) -> Result<()> {
        let Some(kept) =
            event.kept().filter(|_| event.quarantined.is_none() && !self.forgotten.contains(&event.id))
        else {
            return Ok(());
        };
        match decision(event) {
            Some(Decision::Remember(remember)) => self.remember(event, kept, remember),
            Some(Decision::Archive { key }) => {
                self.archive(event, key);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns what leads from the rows in `before` to these.
    pub(crate) fn delta(self, before: Vec<Learning>) -> LearningDelta {
        let before: BTreeMap<LearningId, Learning> = before.into_iter().map(|row| (row.id, row)).collect();
        let remove = before.keys().filter(|id| !self.rows.contains_key(id)).copied().collect();
        let put = self
            .rows
            .into_iter()
            .filter(|(id, row)| before.get(id) != Some(row))
            .map(|(_, row)| row)
            .collect();
        LearningDelta { put, remove }
    }

    fn remember(&mut self, event: &Event, kept: &NewEvent, remember: &Remember) -> Result<()> {
        if kept.content.trim().is_empty() {
            return Err(mnemal_core::Error::invalid("a note must have a text"));
        }
        if self.knows(event.id, remember.key.as_ref()) || repeats_memory(event, kept) {
            return Ok(());
        }
        let mut row = new_row(event, kept, remember)?;
        row.version = self.last_version(remember.key.as_ref()) + 1;
        if let Some(active) = self.active(remember.key.as_ref()) {
            let same = says_the_same(active, &row);
            if same && (active.level, active.trust) >= (row.level, row.trust) {
                if (active.level, active.trust) == (row.level, row.trust) {
                    active.sources.append(&mut row.sources);
                }
                return Ok(());
            }
            // What has less standing than the version that holds is kept in the history and never holds.
            let loser = if row.level < active.level { &mut row } else { active };
            loser.status = LearningStatus::Superseded;
            loser.expired_at = Some(event.recorded_at);
        }
        self.rows.insert(row.id, row);
        Ok(())
    }

    fn archive(&mut self, event: &Event, key: &NoteKey) {
        let Some(active) = self.active(Some(key)) else { return };
        if active.level <= event.level && active.created_at < event.recorded_at {
            active.status = LearningStatus::Archived;
            active.expired_at = Some(event.recorded_at);
        }
    }

    fn knows(&self, event: EventId, key: Option<&NoteKey>) -> bool {
        self.of_key(key).any(|row| row.sources.iter().any(|source| source.event == event))
    }

    fn last_version(&self, key: Option<&NoteKey>) -> u32 {
        if key.is_none() { 0 } else { self.of_key(key).map(|row| row.version).max().unwrap_or_default() }
    }

    fn active(&mut self, key: Option<&NoteKey>) -> Option<&mut Learning> {
        key?;
        self.rows.values_mut().find(|row| row.key.as_ref() == key && row.status == LearningStatus::Active)
    }

    fn of_key(&self, key: Option<&NoteKey>) -> impl Iterator<Item = &Learning> {
        self.rows.values().filter(move |row| row.key.as_ref() == key)
    }
}

/// Returns the decision of a living event.
pub(crate) fn decision(event: &Event) -> Option<&Decision> {
    match &event.kept()?.kind {
        mnemal_core::EventKind::Decision(decision) => Some(decision),
        _ => None,
    }
}

fn new_row(event: &Event, kept: &NewEvent, remember: &Remember) -> Result<Learning> {
    let producer = producer();
    Ok(Learning {
        id: LearningId(derived_id("learning", &producer, &[event.id], 0)),
        // Only the user's own words make a preference.
        kind: if event.level == Level::User { remember.kind } else { LearningKind::Note },
        key: remember.key.clone(),
        version: 1,
        category: remember.category.clone(),
        tags: remember.tags.clone(),
        importance: remember.importance,
        content: kept.content.clone(),
        session: kept.session.clone(),
        user: kept.user.clone(),
        agent: kept.agent.clone(),
        sources: vec![Source { event: event.id, span: Span::whole(&kept.content)? }],
        trust: event.trust,
        level: event.level,
        status: LearningStatus::Active,
        expires_at: remember.expires_at,
        created_at: event.recorded_at,
        expired_at: None,
        producer,
    })
}

/// Whether a second storing adds nothing but a source.
fn says_the_same(active: &Learning, row: &Learning) -> bool {
    active.content == row.content
        && active.kind == row.kind
        && active.category == row.category
        && active.tags == row.tags
        && active.importance == row.importance
        && active.expires_at == row.expires_at
        && active.user == row.user
        && active.agent == row.agent
}

/// Whether all of a text is memory that comes back, and nobody but the agent or an outside party says it.
fn repeats_memory(event: &Event, kept: &NewEvent) -> bool {
    let mut spans = event.echo.clone();
    spans.sort_unstable();
    let covered = spans.iter().fold(0, |end, span| if span.start <= end { end.max(span.end) } else { end });
    event.level < Level::User && !spans.is_empty() && covered as usize >= kept.content.len()
}
