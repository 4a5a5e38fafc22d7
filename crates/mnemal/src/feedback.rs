//! Feedback on the items of earlier answers.

use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, Decision, Degraded, Error, Event, EventFilter, EventId, EventKind, Judgment, Level, Origin,
    ReceiptId, RecordRef, Result, Role, Timestamp, Within,
};

use crate::areas::PreferencesHandle;
use crate::memory::Memory;
use crate::message::Message;

/// Decisions per page. Source: own default, the largest batch of one append (1,000 events).
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

/// A verdict on an item of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// The event that holds the verdict.
    pub event: EventId,
    /// The receipt of the answer.
    pub recall: ReceiptId,
    /// The item.
    pub record: RecordRef,
    /// The verdict.
    pub verdict: Judgment,
    /// Whether the user or an agent gave it.
    pub level: Level,
    /// When it was given.
    pub at: Timestamp,
}

impl Feedback {
    fn read(event: &Event) -> Option<Self> {
        let EventKind::Decision(Decision::Feedback { recall, record, verdict }) = &event.body()?.kind else {
            return None;
        };
        Some(Self {
            event: event.id,
            recall: *recall,
            record: *record,
            verdict: *verdict,
            level: event.level,
            at: event.recorded_at,
        })
    }

    /// Whether a later verdict replaces this one.
    fn is_replaced_by(&self, later: &Self) -> bool {
        (self.recall, self.record, self.level) == (later.recall, later.record, later.level)
    }
}

impl Memory {
    async fn judge(
        &self,
        (recall, record, verdict): (ReceiptId, RecordRef, Judgment),
        origin: Origin,
    ) -> Result<Degraded<Feedback>> {
        let receipt = self.admin().receipt(recall).await?;
        if !receipt.lines.iter().any(|line| line.record == record) {
            return Err(Error::not_found(format!("no line {record} in {recall}")));
        }
        let at = self.engine.now();
        let given = Feedback { event: EventId(0), recall, record, verdict, level: origin.level(), at };
        let known = self.preferences().feedback_on(record).await?;
        if let Some(same) = known.into_iter().find(|one| one.is_replaced_by(&given) && one.verdict == verdict)
        {
            return Ok(Degraded::whole(same));
        }
        let decision = EventKind::Decision(Decision::Feedback { recall, record, verdict });
        let ack = self.log(Message::of(decision, origin, "")).await?;
        Ok(Degraded { value: Feedback { event: ack.id, ..given }, gaps: ack.gaps })
    }
}

impl PreferencesHandle<'_> {
    /// Logs the user's verdict on a line of an earlier answer. `why` shows it, and it changes nothing else: use the calls to
    /// reject, end or forget a wrong record. A repeated verdict is deduplicated.
    ///
    /// # Errors
    /// `NotFound` when there is no such answer, or the record is not one of its lines; as [`log`](crate::Memory::log).
    pub async fn feedback(
        self,
        recall: ReceiptId,
        record: RecordRef,
        verdict: Judgment,
    ) -> Result<Degraded<Feedback>> {
        self.memory.judge((recall, record, verdict), Origin::UserDirect).await
    }

    /// Logs an agent's verdict on a line of an earlier answer; it has the agent's level and does not replace the user's.
    ///
    /// # Errors
    /// As [`feedback`](Self::feedback).
    pub async fn feedback_by_agent(
        self,
        recall: ReceiptId,
        record: RecordRef,
        verdict: Judgment,
    ) -> Result<Degraded<Feedback>> {
        self.memory.judge((recall, record, verdict), Origin::Assistant).await
    }

    /// Returns the verdicts on a record in earlier answers, in log order: for each answer the last of the user and the last of an
    /// agent. It reads the decisions of the log.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn feedback_on(self, record: RecordRef) -> Result<Vec<Feedback>> {
        let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        let (mut found, mut after): (Vec<Feedback>, _) = (Vec::new(), Cursor::START);
        loop {
            let page = self.memory.events().scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(found) };
            after = Cursor(Some(last.seq));
            for one in page.iter().filter_map(Feedback::read).filter(|one| one.record == record) {
                found.retain(|earlier| !earlier.is_replaced_by(&one));
                found.push(one);
            }
        }
    }
}
