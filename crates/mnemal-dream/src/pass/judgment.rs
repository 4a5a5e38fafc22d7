//! Judging pass: one model question per cycle about new notes and messages.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Classification, Clock, Cursor, ErrorKind, Event, EventFilter, EventId, EventKind,
    EventStore, Learning, LearningFilter, LearningStatus, LearningStore, LedgerStore, Level, ModelCaller,
    NoteJudge, Operation, OperationKind, Opinion, Pass, PassOutcome, PromptHash, Proposal, Result,
    SkippedGroup, Slot, Timestamp, Within,
};

use super::read_through;
use crate::check::has_rules;
use crate::dreamer::since;
use crate::note::{is_open, maker};

/// The name in the ledger.
const NAME: &str = "judging";
/// Most notes of a question, and most messages. Source: CF-08, 20 each, as in `GB` and nanobot.
const AT_ONCE: usize = 20;
/// Most feedback signals shown, the newest. Source: CF-08, `RockBot`'s 50 signals.
const FEEDBACK: usize = 50;
/// Age limit of shown feedback. Source: RockBot, signals of the last 7 days.
const LATELY: Duration = Duration::from_hours(7 * 24);
/// Fewest words of a shown message. Source: own choice; shorter ones thank, agree or greet.
const SHORTEST: usize = 4;
/// Events per page. Source: own default.
const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("a page holds something");
/// Pages that one cycle scans. Source: own default; 5,000 events.
const PAGES: usize = 10;

/// Asks a model once per cycle about new notes and user messages: the filing of a note, whether it is noise, and where the
/// user states a preference.
///
/// Each note and each message is shown once, in log order. Answers become proposals: a note is refiled or archived, words
/// of the user are quoted; the text of a note never changes. A message from which the rules already read a preference is
/// not shown. After three unusable answers the stretch counts as processed; while the model is unavailable, the next cycle
/// asks about the same. The user's feedback of the last seven days is shown as context, without a question about it.
#[derive(Clone, Debug)]
pub struct JudgmentPass {
    /// The event log.
    pub events: Arc<dyn EventStore>,
    /// The notes.
    pub learnings: Arc<dyn LearningStore>,
    /// How far it was read; without a ledger a cycle begins at the start of the log.
    pub ledger: Slot<dyn LedgerStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The model.
    pub caller: ModelCaller,
    /// Makes the questions and parses the answers.
    pub judge: Arc<dyn NoteJudge>,
    /// Whether messages are shown.
    pub infers_preferences: bool,
}

/// The subject of one question.
#[derive(Debug, Default)]
struct QuestionBatch {
    notes: Vec<Learning>,
    turns: Vec<Event>,
    through: Cursor,
}

impl JudgmentPass {
    /// Returns the events after a position, up to the capacity of one question.
    async fn next_batch(&self, after: Cursor, end: Cursor) -> Result<QuestionBatch> {
        let mut batch = QuestionBatch { through: after, ..QuestionBatch::default() };
        for _ in 0..PAGES {
            let page = self.events.scan(&EventFilter::live(), batch.through, PAGE).await?;
            let is_last = page.len() < PAGE.get();
            let page: Vec<Event> = page.into_iter().filter(|event| Cursor(Some(event.seq)) <= end).collect();
            let sources = Within::Only(page.iter().map(|event| event.id).collect());
            let rows = self.learnings.all(&LearningFilter { sources, ..LearningFilter::all() }).await?;
            let learned: BTreeSet<EventId> =
                rows.iter().flat_map(|row| &row.sources).map(|source| source.event).collect();
            for event in page {
                let at = Cursor(Some(event.seq));
                let note = rows.iter().find(|row| maker(row) == Some(event.id) && is_shown(row));
                match note {
                    Some(note) => batch.notes.push(note.clone()),
                    None if self.infers_preferences && is_of_user(&event) && !learned.contains(&event.id) => {
                        batch.turns.push(event);
                    }
                    None => {}
                }
                batch.through = at;
                if batch.notes.len() == AT_ONCE || batch.turns.len() == AT_ONCE {
                    return Ok(batch);
                }
            }
            if is_last {
                batch.through = batch.through.max(end);
                return Ok(batch);
            }
        }
        Ok(batch)
    }

    /// Returns recent feedback of the user, oldest first.
    async fn feedback(&self) -> Result<Vec<Learning>> {
        let now = self.clock.now();
        let mut rows = self.learnings.all(&LearningFilter::all()).await?;
        rows.retain(|row| is_feedback(row, now));
        rows.sort_by_key(|row| (row.created_at, row.id));
        rows.drain(..rows.len().saturating_sub(FEEDBACK));
        Ok(rows)
    }

    async fn ask(&self, permit: &mut BackgroundPermit, batch: &QuestionBatch) -> Result<Vec<Proposal>> {
        let notes: Vec<&Learning> = batch.notes.iter().collect();
        let said = |event: &Event| event.body().map_or_else(String::new, |kept| kept.content.clone());
        let texts: Vec<String> = batch.turns.iter().map(said).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let feedback = self.feedback().await?;
        let told: Vec<&str> = feedback.iter().map(|row| row.content.as_str()).collect();
        let prompt = self.judge.prompt(&notes, &texts, &told);
        let hash = PromptHash::of(self.caller.model.model(), &prompt);
        let shown = batch.source_events();
        let mut sources: BTreeSet<EventId> = shown.iter().copied().collect();
        // Forgetting one of them also deletes the cached answer.
        let rows = notes.iter().copied().chain(&feedback);
        sources.extend(rows.flat_map(|row| &row.sources).map(|source| source.event));
        let sources: Vec<EventId> = sources.into_iter().collect();
        let read = |completion: &_| self.judge.parse(&notes, &texts, completion);
        let opinions = self.caller.ask(permit, &prompt, &sources, read).await?;
        let proposed = |opinion: Opinion| {
            let (kind, because, text) = batch.operation_kind(opinion)?;
            let operation = Operation {
                kind,
                producer: self.caller.producer(&self.judge.producer()),
                prompt: Some(hash),
                shown: shown.clone(),
                because: because.to_owned(),
            };
            Some(Proposal { operation, text })
        };
        Ok(opinions.into_iter().filter_map(proposed).collect())
    }
}

impl QuestionBatch {
    /// Returns the source events of the question: those of the notes, and the messages.
    fn source_events(&self) -> Vec<EventId> {
        self.notes.iter().filter_map(maker).chain(self.turns.iter().map(|event| event.id)).collect()
    }

    /// Returns the operation for an opinion, its reason and its text; `None` if nothing would change.
    fn operation_kind(&self, opinion: Opinion) -> Option<(OperationKind, &'static str, String)> {
        match opinion {
            Opinion::Files { note, category, tags } => {
                let row = self.notes.get(note)?;
                let classification = Classification { category, tags, importance: row.importance };
                let is_new = classification.category != row.category || classification.tags != row.tags;
                let kind = OperationKind::Refine { note: maker(row)?, classification };
                is_new.then(|| (kind, "a model files it elsewhere", String::new()))
            }
            Opinion::Noise { note } => {
                let notes = vec![maker(self.notes.get(note)?)?];
                Some((
                    OperationKind::Retire { notes, into: None },
                    "a model finds nothing in it worth keeping",
                    String::new(),
                ))
            }
            Opinion::Prefers { message, quote } => {
                let turn = self.turns.get(message)?;
                let text = quote.of(&turn.body()?.content)?.to_owned();
                Some((
                    OperationKind::Prefer { turn: turn.id, quote },
                    "a model sees in it how the user wants things",
                    text,
                ))
            }
        }
    }
}

#[async_trait]
impl Pass for JudgmentPass {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let (after, end) = (read_through(&self.ledger, NAME).await?, self.learnings.cursor().await?);
        let batch = self.next_batch(after, end).await?;
        let mut looked = PassOutcome { through: Some(batch.through), ..PassOutcome::default() };
        looked.waiting = u64::from(batch.through < end);
        if batch.notes.is_empty() && batch.turns.is_empty() {
            return Ok(looked);
        }
        match self.ask(permit, &batch).await {
            Ok(proposals) => looked.proposals = proposals,
            Err(error) if error.kind() == ErrorKind::Unsupported => looked.left.push(SkippedGroup {
                notes: batch.source_events(),
                why: "no answer of the model could be used".to_owned(),
            }),
            Err(error) => return Err(error),
        }
        Ok(looked)
    }
}

/// Whether a model may judge a note: consolidation may change it, and its category has no rules of its own.
fn is_shown(row: &Learning) -> bool {
    is_open(row) && !has_rules(&row.category)
}

/// Whether a message is the user's own and long enough to state a preference.
fn is_of_user(event: &Event) -> bool {
    event.level == Level::User
        && event.body().is_some_and(|kept| {
            matches!(kept.kind, EventKind::UserMessage)
                && kept.content.split_whitespace().nth(SHORTEST - 1).is_some()
        })
}

/// Whether it is recent feedback of the user on work.
fn is_feedback(row: &Learning, now: Timestamp) -> bool {
    row.signal.is_some()
        && row.status == LearningStatus::Active
        && row.level == Level::User
        && since(row.created_at, now) <= LATELY
}
