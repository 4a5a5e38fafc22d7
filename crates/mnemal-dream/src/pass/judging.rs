//! Judging pass: one model question per cycle about new notes and messages.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Clock, Consultant, Cursor, Deed, ErrorKind, Event, EventFilter, EventId, EventKind,
    EventStore, Filed, Learning, LearningFilter, LearningStatus, LearningStore, LedgerStore, Left, Level,
    Looked, NoteJudge, Operation, Opinion, Pass, PromptHash, Proposal, Result, Slot, Timestamp, Within,
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
pub struct Judging {
    /// The event log.
    pub events: Arc<dyn EventStore>,
    /// The notes.
    pub learnings: Arc<dyn LearningStore>,
    /// How far it was read; without a ledger a cycle begins at the start of the log.
    pub ledger: Slot<dyn LedgerStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The model.
    pub consultant: Consultant,
    /// Makes the questions and parses the answers.
    pub judge: Arc<dyn NoteJudge>,
    /// Whether messages are shown.
    pub infers_preferences: bool,
}

/// The subject of one question.
#[derive(Debug, Default)]
struct Stretch {
    notes: Vec<Learning>,
    turns: Vec<Event>,
    through: Cursor,
}

impl Judging {
    /// Returns the events after a position, up to the capacity of one question.
    async fn stretch(&self, after: Cursor, end: Cursor) -> Result<Stretch> {
        let mut stretch = Stretch { through: after, ..Stretch::default() };
        for _ in 0..PAGES {
            let page = self.events.scan(&EventFilter::live(), stretch.through, PAGE).await?;
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
                    Some(note) => stretch.notes.push(note.clone()),
                    None if self.infers_preferences && is_of_user(&event) && !learned.contains(&event.id) => {
                        stretch.turns.push(event);
                    }
                    None => {}
                }
                stretch.through = at;
                if stretch.notes.len() == AT_ONCE || stretch.turns.len() == AT_ONCE {
                    return Ok(stretch);
                }
            }
            if is_last {
                stretch.through = stretch.through.max(end);
                return Ok(stretch);
            }
        }
        Ok(stretch)
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

    async fn judged(&self, permit: &mut BackgroundPermit, stretch: &Stretch) -> Result<Vec<Proposal>> {
        let notes: Vec<&Learning> = stretch.notes.iter().collect();
        let said = |event: &Event| event.kept().map_or_else(String::new, |kept| kept.content.clone());
        let texts: Vec<String> = stretch.turns.iter().map(said).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let feedback = self.feedback().await?;
        let told: Vec<&str> = feedback.iter().map(|row| row.content.as_str()).collect();
        let prompt = self.judge.prompt(&notes, &texts, &told);
        let hash = PromptHash::of(self.consultant.model.model(), &prompt);
        let shown = stretch.shown();
        let mut sources: BTreeSet<EventId> = shown.iter().copied().collect();
        // Forgetting one of them also deletes the cached answer.
        let rows = notes.iter().copied().chain(&feedback);
        sources.extend(rows.flat_map(|row| &row.sources).map(|source| source.event));
        let sources: Vec<EventId> = sources.into_iter().collect();
        let read = |completion: &_| self.judge.parse(&notes, &texts, completion);
        let opinions = self.consultant.ask(permit, &prompt, &sources, read).await?;
        let proposed = |opinion: Opinion| {
            let (deed, because, text) = stretch.deed(opinion)?;
            let operation = Operation {
                deed,
                producer: self.consultant.producer(&self.judge.producer()),
                prompt: Some(hash),
                shown: shown.clone(),
                because: because.to_owned(),
            };
            Some(Proposal { operation, text })
        };
        Ok(opinions.into_iter().filter_map(proposed).collect())
    }
}

impl Stretch {
    /// Returns the source events of the question: those of the notes, and the messages.
    fn shown(&self) -> Vec<EventId> {
        self.notes.iter().filter_map(maker).chain(self.turns.iter().map(|event| event.id)).collect()
    }

    /// Returns the operation for an opinion, its reason and its text; `None` if nothing would change.
    fn deed(&self, opinion: Opinion) -> Option<(Deed, &'static str, String)> {
        match opinion {
            Opinion::Files { note, category, tags } => {
                let row = self.notes.get(note)?;
                let filed = Filed { category, tags, importance: row.importance };
                let is_new = filed.category != row.category || filed.tags != row.tags;
                let deed = Deed::Refine { note: maker(row)?, filed };
                is_new.then(|| (deed, "a model files it elsewhere", String::new()))
            }
            Opinion::Noise { note } => {
                let notes = vec![maker(self.notes.get(note)?)?];
                Some((
                    Deed::Retire { notes, into: None },
                    "a model finds nothing in it worth keeping",
                    String::new(),
                ))
            }
            Opinion::Prefers { message, quote } => {
                let turn = self.turns.get(message)?;
                let text = quote.of(&turn.kept()?.content)?.to_owned();
                Some((
                    Deed::Prefer { turn: turn.id, quote },
                    "a model sees in it how the user wants things",
                    text,
                ))
            }
        }
    }
}

#[async_trait]
impl Pass for Judging {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<Looked> {
        let (after, end) = (read_through(&self.ledger, NAME).await?, self.learnings.cursor().await?);
        let stretch = self.stretch(after, end).await?;
        let mut looked = Looked { through: Some(stretch.through), ..Looked::default() };
        looked.waiting = u64::from(stretch.through < end);
        if stretch.notes.is_empty() && stretch.turns.is_empty() {
            return Ok(looked);
        }
        match self.judged(permit, &stretch).await {
            Ok(proposals) => looked.proposals = proposals,
            Err(error) if error.kind() == ErrorKind::Unsupported => looked.left.push(Left {
                notes: stretch.shown(),
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
        && event.kept().is_some_and(|kept| {
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
