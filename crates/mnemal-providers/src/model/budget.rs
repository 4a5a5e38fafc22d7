//! A model with a budget and with validated answers.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, CallOutcome, Clock, Completion, Error, ErrorKind, IdSource, LanguageModel, LedgerKind,
    LedgerStore, ModelCall, ModelId, Prompt, Result, Timestamp, TokenCount, Usage,
};
use tokio::sync::Mutex;

use super::screen::screen;
use super::tally::RequestTally;
use super::tokens_of;

/// Requests that one question may take, retries and waits included. Source: own choice; the five attempts of the retry policy,
/// the same without a schema, and two waits that the endpoint asked for.
const REQUESTS: u32 = 8;
/// Microseconds of an hour.
const HOUR: i64 = 3_600 * 1_000_000;
/// Microseconds of a day.
const DAY: i64 = 24 * HOUR;
/// How long a call stays in the ledger, in microseconds. Source: own choice, twice the counted period.
const KEPT: i64 = 2 * DAY;

/// The budget of a space for language models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelCaps {
    /// Requests in any 60 minutes, retries included.
    pub requests_per_hour: u32,
    /// Tokens in any 24 hours, sent and received.
    pub tokens_per_day: TokenCount,
}

/// Recent consumption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUsage {
    /// Requests of the last 60 minutes.
    pub requests: u32,
    /// Tokens of the last 24 hours.
    pub tokens: TokenCount,
}

impl ModelUsage {
    /// Sums up the recent consumption. An open call counts with its maximum cost.
    ///
    /// # Errors
    /// `Unavailable` when the ledger does not answer.
    pub async fn count(ledger: &dyn LedgerStore, now: Timestamp) -> Result<Self> {
        let calls = Self::calls(ledger, now).await?;
        let hour = now.plus_micros(1 - HOUR);
        let requests = calls.iter().filter(|call| call.at >= hour).map(|call| call.requests);
        Ok(Self {
            requests: requests.fold(0, u32::saturating_add),
            tokens: calls.iter().map(|call| call.usage.sent + call.usage.received).sum(),
        })
    }

    /// Returns the calls of the 24 hours up to now, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the ledger does not answer; `Corrupt` for an unreadable line.
    pub async fn calls(ledger: &dyn LedgerStore, now: Timestamp) -> Result<Vec<ModelCall>> {
        let from = now.plus_micros(1 - DAY);
        let lines = ledger.lines(LedgerKind::Call, NonZeroUsize::MAX).await?;
        let none = || Error::new(ErrorKind::Corrupt, "a line of the ledger is no call of a model");
        lines
            .iter()
            .filter(|line| line.at >= from)
            .map(|line| ModelCall::read(line).ok_or_else(none))
            .collect()
    }
}

/// A model whose calls are counted before they are made, one at a time, and whose answers are screened.
///
/// The budget is counted in the ledger of the space, so that it holds across restarts, and for all passes together. A call is
/// recorded with its maximum cost before anything is sent, and with its actual cost afterwards; a process that ends in between
/// leaves the larger number.
#[derive(Debug)]
pub struct CappedModel {
    /// The model.
    pub model: Arc<dyn LanguageModel>,
    /// The ledger that counts calls.
    pub ledger: Arc<dyn LedgerStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of call ids.
    pub ids: Arc<dyn IdSource>,
    /// The budget.
    pub caps: ModelCaps,
    tally: Arc<RequestTally>,
    turn: Mutex<()>,
}

impl CappedModel {
    /// Applies a budget to a model.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        ledger: Arc<dyn LedgerStore>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
        caps: ModelCaps,
    ) -> Self {
        Self { model, ledger, clock, ids, caps, tally: Arc::default(), turn: Mutex::new(()) }
    }

    /// Counts its requests in a shared tally.
    #[must_use]
    pub fn counted_in(self, tally: Arc<RequestTally>) -> Self {
        Self { tally, ..self }
    }

    /// Returns the remaining budget, unless it is less than one request of these tokens.
    async fn remaining(&self, now: Timestamp, request: TokenCount) -> Result<(u32, TokenCount)> {
        let spent = ModelUsage::count(self.ledger.as_ref(), now).await?;
        let requests = self.caps.requests_per_hour.saturating_sub(spent.requests);
        let tokens = self.caps.tokens_per_day.minus(spent.tokens);
        let over = |cap| Error::new(ErrorKind::Unavailable, format!("the cap of {cap} is reached"));
        if requests == 0 {
            return Err(over(format!("{} requests an hour", self.caps.requests_per_hour)));
        }
        if tokens < request {
            return Err(over(format!("{} tokens a day", self.caps.tokens_per_day.0)));
        }
        Ok((requests, tokens))
    }
}

#[async_trait]
impl LanguageModel for CappedModel {
    fn model(&self) -> &ModelId {
        self.model.model()
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> Result<Completion> {
        let _turn = self.turn.lock().await;
        let now = self.clock.now();
        let sent = tokens_of(prompt.instructions.len() + prompt.material.len());
        let (requests, tokens) = self.remaining(now, sent + prompt.most).await?;
        let mut part = permit.part(requests.min(REQUESTS), tokens);
        let (requests, tokens) = part.left();
        let mut call = ModelCall {
            id: self.ids.next(now),
            at: now,
            purpose: prompt.purpose,
            outcome: CallOutcome::Open,
            requests,
            usage: Usage { sent: tokens.min(times(sent + prompt.most, requests)), received: TokenCount(0) },
        };
        self.ledger.sweep(LedgerKind::Call, now.plus_micros(-KEPT)).await?;
        self.ledger.put(&[call.line()]).await?;
        let answer = self.model.complete(&mut part, prompt).await;
        let answer = answer.and_then(|answer| screen(prompt, &answer.text).map(|()| answer));
        call.requests = requests - part.left().0;
        (call.outcome, call.usage) = match &answer {
            Ok(answer) => {
                let usage = Usage {
                    sent: answer.usage.sent + times(sent, call.requests.saturating_sub(1)),
                    ..answer.usage
                };
                (CallOutcome::Answered, usage)
            }
            Err(error) => {
                let outcome = CallOutcome::of(error);
                let received = if outcome == CallOutcome::Invalid { prompt.most } else { TokenCount(0) };
                (outcome, Usage { sent: times(sent, call.requests), received })
            }
        };
        self.tally.ended(&call);
        permit.join(part);
        // What cannot be noted stays noted as open, with more than it cost.
        drop(self.ledger.put(&[call.line()]).await);
        answer
    }
}

fn times(tokens: TokenCount, count: u32) -> TokenCount {
    TokenCount(tokens.0.saturating_mul(count))
}
