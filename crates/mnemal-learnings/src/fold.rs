//! The fold: applies an event to the rows. Pure: the same events give the same rows.

use mnemal_core::{
    Basis, Confidence, Consent, Decision, Error, Event, EventId, EventKind, Learning, LearningId,
    LearningKind, LearningStatus, Level, NewEvent, NoteKey, Producer, Remember, Result, Source, Span,
    TaskStep, Timestamp, Verdict, derived_id,
};

use crate::ending::{Ending, order};
use crate::read::{self, FeedbackCache, LEARNED};
use crate::rows::Rows;
use crate::supersession::settle;
use crate::{task, tool};

/// Producer of notes, for rows and ids.
const PRODUCER: &str = "learnings/notes";
/// Incremented with every change of the fold's output for the same events.
const VERSION: u32 = 1;

/// Returns the producer of notes.
pub fn producer() -> Producer {
    Producer { id: PRODUCER.to_owned(), version: VERSION }
}

/// Largest delay between saying and recording of a live message, in microseconds: writers wait for a busy log, and of two
/// processes the first to speak may be recorded second. Source: own measurement, 1.1 s at the 99th percentile of eight
/// processes on two cores; ten times that.
const LIVE: i64 = 10_000_000;

/// Rows under construction.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    pub(crate) rows: Rows,
    pub(crate) feedback: FeedbackCache,
}

impl Fold {
    /// Applies an event that is not forgotten; `before` are the preceding events of the log, oldest first. Idempotent
    /// except for the tally of a tool.
    ///
    /// # Errors
    /// `Invalid` when a note has no text or a reserved key.
    pub(crate) fn apply(&mut self, event: &Event, before: &[&Event]) -> Result<()> {
        let Some(kept) = event.body().filter(|_| event.quarantined.is_none()) else { return Ok(()) };
        match &kept.kind {
            EventKind::Decision(decision) => self.decide(event, kept, decision),
            EventKind::Operation(operation) => self.operate(event, kept, operation),
            EventKind::UserMessage => {
                let found = read::read(event, before, &mut self.feedback)?;
                self.learn(found);
                Ok(())
            }
            EventKind::ToolResult { tool, ok } => {
                let key = tool::key(tool)?;
                let (event, kept) = match tool::call(kept, tool, before) {
                    Some(call) => (call, call.body().unwrap_or(kept)),
                    None => (event, kept),
                };
                let is_apart =
                    |row: &&Learning| (row.level > Level::External) == (event.level > Level::External);
                let known = self.rows.of_key(&key).find(is_apart).cloned();
                self.rows.put(tool::counted(event, kept, known, (tool, *ok))?);
                Ok(())
            }
            EventKind::Observation => self.observe(event, kept),
            _ => Ok(()),
        }
    }

    /// Opens a task, or archives it.
    fn observe(&mut self, event: &Event, kept: &NewEvent) -> Result<()> {
        let Some((key, step)) = task::step(kept)? else { return Ok(()) };
        match step {
            TaskStep::Completed | TaskStep::Failed => {
                self.put_key_away(event, &key, Verdict::Archived(event.recorded_at));
            }
            TaskStep::Created if self.knows(event.id, Some(&key)) => {}
            TaskStep::Created => {
                if kept.content.trim().is_empty() {
                    return Err(Error::invalid("a task must have a text"));
                }
                let row = new_row(event, kept, &task::filing(key)?)?;
                self.hold(event, Learning { producer: task::producer(), ..row });
            }
        }
        Ok(())
    }

    /// Adds learnings from a message.
    pub(crate) fn learn(&mut self, found: Vec<Learning>) {
        for row in found {
            let Some(key) = row.key.clone().filter(|_| !self.rows.contains(row.id)) else { continue };
            let (ending, verdict) = (Ending::of(&row), self.standing_verdict(&key, &row));
            self.rows.put(Learning { verdict, ..row });
            self.settle(&key);
            let ended = ending.map(|ending| self.rows.ended_by(&ending)).unwrap_or_default();
            for key in &ended {
                self.settle(key);
            }
        }
    }

    /// Recomputes which version of a learned key is active.
    pub(crate) fn settle(&mut self, key: &NoteKey) {
        let mut group: Vec<Learning> = self.rows.of_key(key).cloned().collect();
        weigh(key, &mut group, &self.rows);
        for row in group {
            self.rows.put(row);
        }
    }

    pub(crate) fn remember(&mut self, event: &Event, kept: &NewEvent, remember: &Remember) -> Result<()> {
        if kept.content.trim().is_empty() {
            return Err(Error::invalid("a note must have a text"));
        }
        if self.knows(event.id, remember.key.as_ref()) || repeats_memory(event, kept) {
            return Ok(());
        }
        let row = new_row(event, kept, remember)?;
        if let Some(key) = remember.key.as_ref().filter(|key| is_learned(key)) {
            return self.confirm(key, row);
        }
        self.hold(event, row);
        Ok(())
    }

    /// Adds the next version of a key; one of lower standing than the active version is stored as history only.
    fn hold(&mut self, event: &Event, mut row: Learning) {
        let key = row.key.clone();
        row.version = self.last_version(key.as_ref()) + 1;
        if let Some(mut active) = self.active(key.as_ref()) {
            let same = says_the_same(&active, &row);
            if same && (active.level, active.trust) >= (row.level, row.trust) {
                if (active.level, active.trust) == (row.level, row.trust) {
                    active.sources.append(&mut row.sources);
                    self.rows.put(active);
                }
                return;
            }
            // A version of lower standing than the active one, or said before it, is stored as history only.
            let is_older =
                row.level == active.level && row.occurred_at < active.occurred_at && is_import(event, &row);
            if row.level < active.level || is_older {
                supersede(&mut row, active.id, event.recorded_at);
            } else {
                supersede(&mut active, row.id, event.recorded_at);
                self.rows.put(active);
            }
        } else if let Some(away) =
            self.put_away_after(key.as_ref(), row.occurred_at).filter(|_| is_import(event, &row))
        {
            // A version said before its key was archived, and imported later, is history.
            supersede(&mut row, away, event.recorded_at);
        } else if row.level < Level::User && self.is_rejected(key.as_ref()) {
            (row.status, row.expired_at) = (LearningStatus::Rejected, Some(event.recorded_at));
        }
        self.rows.put(row);
    }

    /// Confirms a learning with the user's own words.
    fn confirm(&mut self, key: &NoteKey, row: Learning) -> Result<()> {
        if row.level < Level::User || tool::is_of_tool(key) {
            return Err(Error::invalid("this key is kept for what is learnt from the user's own words"));
        }
        let earlier = self.rows.of_key(key).filter(|other| other.created_at < row.created_at);
        let newest = earlier.max_by_key(|row| order(row));
        let topics = newest.map(|row| row.topics.clone()).unwrap_or_default();
        let of_same_words = newest.filter(|newest| newest.content == row.content && newest.kind == row.kind);
        let pattern = row.pattern.clone().or_else(|| of_same_words?.pattern.clone());
        let consent = newest.map_or(row.consent, |row| row.consent);
        self.lift_refutation(key, &row.content, row.created_at);
        self.rows.put(Learning { topics, consent, pattern, ..row });
        self.settle(key);
        Ok(())
    }

    fn knows(&self, event: EventId, key: Option<&NoteKey>) -> bool {
        let rests = |row: &Learning| row.sources.iter().any(|source| source.event == event);
        self.rows.contains(note_id(event)) || key.is_some_and(|key| self.rows.of_key(key).any(rests))
    }

    fn last_version(&self, key: Option<&NoteKey>) -> u32 {
        key.and_then(|key| self.rows.of_key(key).map(|row| row.version).max()).unwrap_or_default()
    }

    pub(crate) fn active(&self, key: Option<&NoteKey>) -> Option<Learning> {
        self.rows.of_key(key?).find(|row| row.status == LearningStatus::Active).cloned()
    }

    /// Returns the note under a key that a person archived last, if that was after a moment.
    fn put_away_after(&self, key: Option<&NoteKey>, at: Timestamp) -> Option<LearningId> {
        let away = self.rows.of_key(key?).filter(|row| row.verdict.is_some());
        let last = away.max_by_key(|row| (row.expired_at, row.version))?;
        last.expired_at.filter(|since| *since > at).map(|_| last.id)
    }

    fn is_rejected(&self, key: Option<&NoteKey>) -> bool {
        key.is_some_and(|key| self.rows.of_key(key).any(|row| row.status == LearningStatus::Rejected))
    }
}

/// Recomputes the versions of a learned key, including endings of other rows.
pub(crate) fn weigh(key: &NoteKey, group: &mut [Learning], rows: &Rows) {
    if tool::is_of_tool(key) {
        group.iter_mut().for_each(tool::settle);
    } else {
        let of_group = |ending: &&Ending| group.iter().any(|row| ending.ends(row));
        let endings: Vec<&Ending> = rows.endings().filter(of_group).collect();
        settle(group, &endings, rows.inference());
    }
}

/// Whether a key belongs to a learning, which has its own rules for the active version.
#[must_use]
pub fn is_learned(key: &NoteKey) -> bool {
    key.as_str().starts_with(LEARNED)
}

fn supersede(row: &mut Learning, by: LearningId, at: Timestamp) {
    row.status = LearningStatus::Superseded;
    row.superseded_by = Some(by);
    row.expired_at = Some(at);
}

/// Returns the decision of a live event.
pub(crate) fn decision(event: &Event) -> Option<&Decision> {
    match &event.body()?.kind {
        EventKind::Decision(decision) => Some(decision),
        _ => None,
    }
}

/// Returns the id of the note that an event created: one that stored it, or the operation that wrote it.
#[must_use]
pub fn note_id(event: EventId) -> LearningId {
    LearningId(derived_id("learning", &producer(), &[event], 0))
}

pub(crate) fn new_row(event: &Event, kept: &NewEvent, remember: &Remember) -> Result<Learning> {
    // A preference needs the user's own words, and a tool learning or a conclusion cannot be stored directly.
    let is_made = matches!(remember.kind, LearningKind::Tool | LearningKind::Insight);
    let is_allowed = event.level == Level::User && !is_made;
    let is_pattern = is_allowed && remember.kind == LearningKind::AntiPattern;
    Ok(Learning {
        id: note_id(event.id),
        kind: if is_allowed { remember.kind } else { LearningKind::Note },
        key: remember.key.clone(),
        version: 1,
        category: remember.category.clone(),
        tags: remember.tags.clone(),
        importance: remember.importance,
        content: kept.content.clone(),
        pattern: if is_pattern { read::stored_pattern(&kept.content) } else { None },
        basis: Basis::Stated,
        confidence: Confidence::new(1.0),
        consent: consent(&kept.content, remember.kind, event.level),
        topics: Vec::new(),
        tool: None,
        session: kept.session.clone(),
        speaker: kept.speaker.clone(),
        user: kept.user.clone(),
        agent: kept.agent.clone(),
        sources: vec![Source { event: event.id, span: Span::whole(&kept.content)? }],
        trust: event.trust,
        level: event.level,
        status: LearningStatus::Active,
        superseded_by: None,
        verdict: None,
        signal: None,
        tally: None,
        occurred_at: kept.occurred_at,
        expires_at: remember.expires_at,
        created_at: event.recorded_at,
        expired_at: None,
        away: Vec::new(),
        producer: producer(),
    })
}

/// Whether the user's consent is needed. The user's plain information is not acted on; others' information is, if it says
/// what to do.
fn consent(text: &str, kind: LearningKind, level: Level) -> Consent {
    let is_note = matches!(kind, LearningKind::Note | LearningKind::Insight);
    if mnemal_extract::only_states(text) {
        return Consent::NotRequired;
    }
    if is_note && (level == Level::User || !read::orders(text)) {
        Consent::NotRequired
    } else {
        asked_by_topic(text)
    }
}

/// Whether the topic of a text needs the user's consent.
pub(crate) fn asked_by_topic(text: &str) -> Consent {
    if mnemal_extract::requires_user_permission(text) { Consent::Required } else { Consent::NotRequired }
}

/// Whether a row was said well before it was recorded, as in an import.
fn is_import(event: &Event, row: &Learning) -> bool {
    event.recorded_at.as_micros() - row.occurred_at.as_micros() > LIVE
}

/// Whether a repeated statement adds only a source.
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

/// Whether all of a text is an echo of memory from the agent or an external party.
fn repeats_memory(event: &Event, kept: &NewEvent) -> bool {
    let mut spans = event.echo.clone();
    spans.sort_unstable();
    let covered = spans.iter().fold(0, |end, span| if span.start <= end { end.max(span.end) } else { end });
    event.level < Level::User && !spans.is_empty() && covered as usize >= kept.content.len()
}
