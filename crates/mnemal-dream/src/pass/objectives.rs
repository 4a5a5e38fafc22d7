//! Objectives pass: a model evaluates each finished task of the agent.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Cursor, ErrorKind, Event, EventFilter, EventId, EventStore, FEWEST_STEPS, LedgerKind,
    LedgerLine, LedgerStore, MOST_STEPS, ModelCaller, NewEvent, Operation, OperationKind, Pass, PassOutcome,
    PromptHash, Proposal, Result, Role, Seq, SkippedGroup, Slot, TaskEvaluator, Trust, Within,
};

use crate::check::{is_end, step};

/// The name in the ledger.
const NAME: &str = "objectives";
/// Tasks per cycle. Source: own choice; three answers each leave room for the other passes in the 20 calls of a cycle.
const AT_ONCE: usize = 3;
/// Events of a task that are read, the newest. Source: BA-32, at most 50.
const READ: usize = 50;
/// Events before the end of a task that are scanned for its own. Source: own default; a task of many days is judged by its
/// end.
const BACK: u64 = 5_000;
/// Events per page. Source: own default.
const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("a page holds something");
/// Pages of observations that one cycle scans. Source: own default.
const PAGES: usize = 10;
/// An upper bound for the lines of the pass ledger. Source: own default.
const LINES: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Asks a model how well each finished task went, and what to remember.
///
/// The events of a task share the field `task_id`; it is finished when an observation marks it completed or failed. A task
/// with fewer than three events is skipped. Of the newest 50 events the first and the last nineteen are shown, without
/// echoes of memory. The answer becomes a note about the agent's own work, which is removed with any of these events.
///
/// Each end is asked about once, in log order. After three unusable answers it counts as processed; while the model is
/// unavailable, the next cycle asks about the same.
#[derive(Clone, Debug)]
pub struct ObjectivesPass {
    /// The event log.
    pub events: Arc<dyn EventStore>,
    /// How far it was read; without a ledger a cycle begins at the start of the log.
    pub ledger: Slot<dyn LedgerStore>,
    /// The model.
    pub caller: ModelCaller,
    /// Makes the questions and parses the answers.
    pub evaluator: Arc<dyn TaskEvaluator>,
}

/// Task ends after a position.
#[derive(Debug, Default)]
struct FinishedTasks {
    ends: Vec<Event>,
    through: Cursor,
}

impl ObjectivesPass {
    async fn read_through(&self) -> Result<Cursor> {
        let Slot::Filled(ledger) = &self.ledger else { return Ok(Cursor::START) };
        let lines = ledger.lines(LedgerKind::Pass, LINES).await?;
        Ok(lines.iter().find(|line| line.key == NAME).map_or(Cursor::START, LedgerLine::through))
    }

    /// Returns the task ends after a position, up to the number per cycle.
    async fn finished_tasks(&self, after: Cursor, head: Cursor) -> Result<FinishedTasks> {
        let observed = EventFilter { roles: Within::Only(vec![Role::Document]), ..EventFilter::live() };
        let mut finished = FinishedTasks { through: after, ..FinishedTasks::default() };
        for _ in 0..PAGES {
            let page = self.events.scan(&observed, finished.through, PAGE).await?;
            let is_last = page.len() < PAGE.get();
            for event in page {
                finished.through = Cursor(Some(event.seq));
                if event.body().is_some_and(is_end) {
                    finished.ends.push(event);
                    if finished.ends.len() == AT_ONCE {
                        return Ok(finished);
                    }
                }
            }
            if is_last {
                finished.through = finished.through.max(head);
                return Ok(finished);
            }
        }
        Ok(finished)
    }

    /// Returns the events of a task up to its end, oldest first, as many as are shown.
    async fn steps(&self, end: &Event) -> Result<Vec<Event>> {
        let task = end.body().and_then(NewEvent::task);
        let from = end.seq.0.saturating_sub(BACK);
        let mut after = Cursor((from > 0).then_some(Seq(from)));
        let mut steps = Vec::new();
        while after < Cursor(Some(end.seq)) {
            let page = self.events.scan(&EventFilter::live(), after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            let is_step = |event: &Event| {
                event.seq <= end.seq
                    && event.trust > Trust::Echo
                    && event.body().is_some_and(|kept| kept.task() == task)
            };
            steps.extend(page.into_iter().filter(is_step));
        }
        steps.drain(..steps.len().saturating_sub(READ));
        // The first event states the task.
        let over = steps.len().saturating_sub(MOST_STEPS);
        let shown = steps.into_iter().enumerate().filter(|(place, _)| *place == 0 || *place > over);
        Ok(shown.map(|(_, step)| step).collect())
    }

    /// Asks about a finished task; proposes nothing for one with few events, or without a lesson.
    async fn evaluate(&self, permit: &mut BackgroundPermit, end: &Event) -> Result<Option<Proposal>> {
        let events = self.steps(end).await?;
        if events.len() < FEWEST_STEPS {
            return Ok(None);
        }
        let turns: Vec<EventId> = events.iter().map(|event| event.id).collect();
        let steps: Vec<String> = events.iter().filter_map(Event::body).map(step).collect();
        let prompt = self.evaluator.prompt(&steps);
        let hash = PromptHash::of(self.caller.model.model(), &prompt);
        let read = |completion: &_| self.evaluator.parse(&steps, completion);
        let Some(evaluation) = self.caller.ask(permit, &prompt, &turns, read).await? else {
            return Ok(None);
        };
        let operation = Operation {
            kind: OperationKind::Assess { turns: turns.clone(), score: evaluation.score },
            producer: self.caller.producer(&self.evaluator.producer()),
            prompt: Some(hash),
            shown: turns,
            because: "a model found something to remember of a task that is over".to_owned(),
        };
        Ok(Some(Proposal { operation, text: evaluation.lesson }))
    }
}

#[async_trait]
impl Pass for ObjectivesPass {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let (after, head) = (self.read_through().await?, self.events.head().await?);
        let finished = self.finished_tasks(after, head).await?;
        let mut looked = PassOutcome { through: Some(after), ..PassOutcome::default() };
        for end in &finished.ends {
            match self.evaluate(permit, end).await {
                Ok(proposal) => looked.proposals.extend(proposal),
                Err(error) if error.kind() == ErrorKind::Unsupported => looked.left.push(SkippedGroup {
                    notes: vec![end.id],
                    why: "no answer of the model could be used".to_owned(),
                }),
                Err(error) if looked.through == Some(after) => return Err(error),
                // Earlier answers are kept.
                Err(error) => {
                    looked.stopped = Some(error.kind());
                    return Ok(looked);
                }
            }
            looked.through = Some(Cursor(Some(end.seq)));
        }
        looked.through = Some(finished.through);
        looked.waiting = u64::from(finished.through < head);
        Ok(looked)
    }
}
