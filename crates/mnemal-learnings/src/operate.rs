//! Engine operations applied to notes.

use mnemal_core::{
    Basis, Category, Classification, Confidence, Consent, Event, EventId, Importance, Learning, LearningId,
    LearningKind, LearningStatus, Level, NewEvent, NoteKey, Operation, OperationKind, Remember, Result,
    SessionId, Source, Span, Tag, Timestamp, Trust, derived_id,
};

use mnemal_text::fold as folded;

use crate::fold::{Fold, asked_by_topic, new_row, note_id, producer};
use crate::task_evaluation;

/// Confidence of a conclusion by rule. Source: own choice, as for inferred preferences (RB-63).
const CONCLUDED: f32 = 0.5;

/// Category of quotes in which a model saw a preference. Source: RB-63, inferred preferences are kept apart.
const PREFERENCES: &str = "user-preferences/inferred";
/// Tag of such quotes. Source: RB-63, inferred preferences are tagged.
const INFERRED: &str = "inferred";
/// Category of compressed turns. Source: PB-11, memories of kind `timeline`.
const TIMELINE: &str = "timeline";
/// Their importance. Source: PB-22, a summary counts less than a note.
const OF_TIMELINE: f32 = 0.3;
/// Most bytes of a session name in a key. Source: own choice, so that the key stays within the limit of names.
const LONGEST_SESSION: usize = 128;

impl Fold {
    /// Applies an operation. An operation on a missing or inactive note has no effect: what it rested on was undone or
    /// forgotten.
    pub(crate) fn operate(&mut self, event: &Event, kept: &NewEvent, operation: &Operation) -> Result<()> {
        if self.rows.contains(note_id(event.id)) {
            return Ok(());
        }
        if let OperationKind::Compress { turns } = &operation.kind {
            return self.keep_timeline(event, kept, turns);
        }
        if let OperationKind::Prefer { turn, quote } = &operation.kind {
            return self.keep_quote(event, kept, Source { event: *turn, span: *quote });
        }
        if let OperationKind::Assess { turns, score } = &operation.kind {
            return self.keep_assessment(event, kept, (turns, *score));
        }
        if let OperationKind::Digest { from, entities, classification } = &operation.kind {
            return self.keep_digest(event, kept, (from, entities, classification));
        }
        let Some(notes) = self.holding(&operation.kind.names()) else { return Ok(()) };
        match &operation.kind {
            OperationKind::Merge { classification, .. } => self.merge(event, kept, classification, notes),
            OperationKind::Retire { notes: away, into } => {
                self.retire(event, notes, away.len(), *into);
                Ok(())
            }
            OperationKind::Refine { classification, .. } => {
                for row in notes {
                    self.rows.put(classified(row, classification));
                }
                Ok(())
            }
            OperationKind::Infer { kind, classification, .. } => {
                self.infer(event, kept, (*kind, classification), &notes)
            }
            _ => Ok(()),
        }
    }

    /// Stores compressed turns as a timeline note of their session.
    fn keep_timeline(&mut self, event: &Event, kept: &NewEvent, turns: &[EventId]) -> Result<()> {
        if kept.content.trim().is_empty() || turns.is_empty() {
            return Ok(());
        }
        let classification = Remember {
            key: Some(timeline_key(&kept.session, turns)?),
            kind: LearningKind::Note,
            category: Category::new(TIMELINE)?,
            tags: Vec::new(),
            importance: Importance::new(OF_TIMELINE)?,
            expires_at: None,
        };
        self.rows.put(new_row(event, kept, &classification)?);
        Ok(())
    }

    /// Stores the quote in which a model saw a preference as a note with the standing of a conclusion: a preference needs a
    /// rule's reading of the user's words, or the user's confirmation.
    fn keep_quote(&mut self, event: &Event, kept: &NewEvent, quote: Source) -> Result<()> {
        if kept.content.trim().is_empty() {
            return Ok(());
        }
        let classification = Remember {
            key: None,
            kind: LearningKind::Note,
            category: Category::new(PREFERENCES)?,
            tags: vec![Tag::new(INFERRED)?],
            importance: Importance::DEFAULT,
            expires_at: None,
        };
        let row = new_row(event, kept, &classification)?;
        let mut sources = row.sources.clone();
        sources.push(quote);
        self.rows.put(Learning {
            basis: Basis::Inferred,
            confidence: Confidence::new(CONCLUDED),
            trust: row.trust.min(Trust::Inferred),
            level: row.level.min(Level::Agent),
            sources,
            ..row
        });
        Ok(())
    }

    /// Stores a model's task evaluation as a note about the agent's own work, with the standing of a conclusion and a
    /// confidence equal to the score of the task.
    fn keep_assessment(
        &mut self,
        event: &Event,
        kept: &NewEvent,
        (turns, score): (&[EventId], u8),
    ) -> Result<()> {
        if kept.content.trim().is_empty() || turns.is_empty() {
            return Ok(());
        }
        let row = new_row(event, kept, &task_evaluation::filing(task_evaluation::key(turns)?)?)?;
        let consent = asked_by_topic(&kept.content);
        self.rows.put(Learning {
            basis: Basis::Inferred,
            confidence: task_evaluation::confidence(score),
            trust: Trust::Inferred,
            level: row.level.min(Level::Agent),
            consent,
            ..row
        });
        Ok(())
    }

    /// Stores the digest of a text as a note with the level of the text. It replaces earlier digests of parts of the same
    /// text.
    fn keep_digest(
        &mut self,
        event: &Event,
        kept: &NewEvent,
        (from, entities, classification): (&[EventId], &[String], &Classification),
    ) -> Result<()> {
        if kept.content.trim().is_empty() || from.is_empty() {
            return Ok(());
        }
        let note = Remember {
            key: None,
            kind: LearningKind::Note,
            category: classification.category.clone(),
            tags: classification.tags.clone(),
            importance: classification.importance,
            expires_at: None,
        };
        let row = new_row(event, kept, &note)?;
        let whole = Span { start: 0, end: 0 };
        let sources =
            row.sources.iter().copied().chain(from.iter().map(|part| Source { event: *part, span: whole }));
        let sources: Vec<Source> = sources.collect();
        let is_part = |source: &Source| from.contains(&source.event);
        let is_older = |other: &&Learning| {
            other.status == LearningStatus::Active
                && other.sources.get(1..).is_some_and(|rest| !rest.is_empty() && rest.iter().all(is_part))
        };
        let older: Vec<Learning> = self.rows.all().filter(is_older).cloned().collect();
        let topics = classification.tags.iter().map(Tag::as_str).chain(entities.iter().map(String::as_str));
        let id = row.id;
        self.rows.put(Learning {
            basis: Basis::Inferred,
            confidence: Confidence::new(CONCLUDED),
            trust: row.trust.min(Trust::Inferred),
            level: row.level.min(Level::Agent),
            topics: topics.map(folded).collect(),
            sources,
            ..row
        });
        for row in older {
            self.rows.put(put_away(row, event.recorded_at, Some(id)));
        }
        Ok(())
    }

    /// Returns the notes created by these events, if all of them are active.
    fn holding(&self, events: &[EventId]) -> Option<Vec<Learning>> {
        let row = |event: &EventId| {
            self.rows.get(note_id(*event)).filter(|row| row.status == LearningStatus::Active)
        };
        events.iter().map(|event| row(event).cloned()).collect()
    }

    fn merge(
        &mut self,
        event: &Event,
        kept: &NewEvent,
        classification: &Classification,
        notes: Vec<Learning>,
    ) -> Result<()> {
        let Some(first) = notes.iter().min_by_key(|row| (row.created_at, row.id)) else { return Ok(()) };
        if kept.content.trim().is_empty() || notes.iter().any(|row| !are_alike(first, row)) {
            return Ok(());
        }
        let ends: Option<Vec<Timestamp>> = notes.iter().map(|row| row.expires_at).collect();
        let least = (least_trust(&notes), least_level(&notes));
        let row = Learning {
            id: note_id(event.id),
            key: None,
            version: 1,
            content: kept.content.clone(),
            sources: sources(event, kept, &notes)?,
            trust: least.0.unwrap_or(event.trust),
            level: least.1.unwrap_or(event.level),
            consent: strictest(&notes, Consent::NotRequired),
            occurred_at: notes.iter().map(|row| row.occurred_at).max().unwrap_or(kept.occurred_at),
            expires_at: ends.and_then(|ends| ends.into_iter().max()),
            created_at: event.recorded_at,
            importance: greatest(&notes).unwrap_or(classification.importance),
            ..classified(first.clone(), classification)
        };
        let into = row.id;
        // The new one is active before the others are retired.
        self.rows.put(row);
        for row in notes {
            self.rows.put(put_away(row, event.recorded_at, Some(into)));
        }
        Ok(())
    }

    /// Archives the first `away` of the notes; the one after them inherits their sources.
    fn retire(&mut self, event: &Event, mut notes: Vec<Learning>, away: usize, into: Option<EventId>) {
        let stays = notes.split_off(away.min(notes.len())).pop();
        if stays.is_some() != into.is_some()
            || notes.iter().any(|row| Some(row.id) == stays.as_ref().map(|row| row.id))
        {
            return;
        }
        if let Some(mut stays) = stays.clone() {
            if notes
                .iter()
                .any(|row| !are_alike(&stays, row) || row.level != stays.level || row.trust > stays.trust)
            {
                return;
            }
            for row in &notes {
                stays.sources.extend(
                    row.sources
                        .iter()
                        .filter(|source| !stays.sources.contains(source))
                        .copied()
                        .collect::<Vec<_>>(),
                );
                stays.tags = merge_tags(&stays.tags, &row.tags);
                stays.consent = strictest(std::slice::from_ref(row), stays.consent);
                stays.importance = if row.importance.get() > stays.importance.get() {
                    row.importance
                } else {
                    stays.importance
                };
                stays.occurred_at = stays.occurred_at.max(row.occurred_at);
            }
            self.rows.put(stays);
        }
        let survivor = stays.map(|row| row.id);
        for row in notes {
            self.rows.put(put_away(row, event.recorded_at, survivor));
        }
    }

    /// Stores a conclusion; below level user it never becomes a preference, whatever its declared kind.
    fn infer(
        &mut self,
        event: &Event,
        kept: &NewEvent,
        (kind, classification): (LearningKind, &Classification),
        notes: &[Learning],
    ) -> Result<()> {
        let Some(first) = notes.first() else { return Ok(()) };
        if kept.content.trim().is_empty() {
            return Ok(());
        }
        let level = least_level(notes).unwrap_or(event.level).min(Level::Agent);
        let kind = if kind == LearningKind::Insight { kind } else { LearningKind::Note };
        let row = Learning {
            id: note_id(event.id),
            kind,
            key: None,
            version: 1,
            content: kept.content.clone(),
            pattern: None,
            basis: Basis::Inferred,
            confidence: Confidence::new(CONCLUDED),
            consent: strictest(notes, asked_by_topic(&kept.content)),
            topics: Vec::new(),
            tool: None,
            session: kept.session.clone(),
            speaker: None,
            user: first.user.clone(),
            agent: first.agent.clone(),
            sources: sources(event, kept, notes)?,
            trust: least_trust(notes).unwrap_or(event.trust).min(Trust::Inferred),
            level,
            status: LearningStatus::Active,
            superseded_by: None,
            verdict: None,
            signal: None,
            tally: None,
            occurred_at: notes.iter().map(|row| row.occurred_at).max().unwrap_or(kept.occurred_at),
            expires_at: None,
            created_at: event.recorded_at,
            expired_at: None,
            away: Vec::new(),
            producer: producer(),
            ..classified(first.clone(), classification)
        };
        self.rows.put(row);
        Ok(())
    }
}

/// Returns the key of the note for compressed turns, `ctx_{session}_{id}`: the same for the same turns.
///
/// # Errors
/// `Invalid`, which no session name causes.
pub fn timeline_key(session: &SessionId, turns: &[EventId]) -> Result<NoteKey> {
    let session = session.as_str();
    let session = session.get(..session.floor_char_boundary(LONGEST_SESSION)).unwrap_or_default();
    let id = derived_id("timeline", &producer(), turns, 0) >> 64;
    NoteKey::new(format!("ctx_{session}_{id:016x}"))
}

/// Whether two notes may be merged: of one kind and one owner, and without a user-given key.
fn are_alike(one: &Learning, other: &Learning) -> bool {
    one.kind == other.kind
        && one.user == other.user
        && one.agent == other.agent
        && one.key.is_none()
        && other.key.is_none()
}

fn classified(row: Learning, classification: &Classification) -> Learning {
    Learning {
        category: classification.category.clone(),
        tags: classification.tags.clone(),
        importance: classification.importance,
        ..row
    }
}

fn put_away(row: Learning, at: Timestamp, into: Option<LearningId>) -> Learning {
    Learning { status: LearningStatus::Archived, superseded_by: into, expired_at: Some(at), ..row }
}

fn merge_tags(tags: &[Tag], more: &[Tag]) -> Vec<Tag> {
    let new = more.iter().filter(|tag| !tags.contains(tag));
    tags.iter().chain(new).cloned().collect()
}

/// Returns the strictest consent of merged notes: a worker and its text never relax it.
fn strictest(notes: &[Learning], own: Consent) -> Consent {
    if notes.iter().any(|row| row.consent == Consent::Required) { Consent::Required } else { own }
}

fn greatest(notes: &[Learning]) -> Option<Importance> {
    notes.iter().map(|row| row.importance).max_by(|one, other| one.get().total_cmp(&other.get()))
}

fn least_trust(notes: &[Learning]) -> Option<Trust> {
    notes.iter().map(|row| row.trust).min()
}

fn least_level(notes: &[Learning]) -> Option<Level> {
    notes.iter().map(|row| row.level).min()
}

/// Returns the sources of an operation's note: its own text, and the sources of everything it was made from.
fn sources(event: &Event, kept: &NewEvent, notes: &[Learning]) -> Result<Vec<Source>> {
    let mut sources = vec![Source { event: event.id, span: Span::whole(&kept.content)? }];
    for source in notes.iter().flat_map(|row| &row.sources) {
        if !sources.contains(source) {
            sources.push(*source);
        }
    }
    Ok(sources)
}
