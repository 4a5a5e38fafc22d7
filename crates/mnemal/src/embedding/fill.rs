//! Vector backfill: embeds events that lack a vector of a model, in addition to the vectors that they have.

use std::collections::VecDeque;
use std::time::Duration;

use mnemal_core::{
    BackgroundPermit, Cursor, Error, ErrorKind, Event, EventId, ModelId, Result, Seq, TokenCount, Vector,
};
use mnemal_recall::embedded_text;

use super::EmbeddedBy;
use crate::engine::{Engine, missing};
use crate::upkeep::shortened;

/// Texts per call of the in-process embedder, and rows of one transaction. Source: own choice; a quarter of a block, so that a
/// block is written only a few times and an interruption loses little.
const TOGETHER: usize = 256;
/// Time limit for the texts of one request, with retries and pauses. Source: own choice; five attempts of a minute and the pauses
/// between them.
const PATIENCE: Duration = Duration::from_mins(6);
/// Maximum number of requests of one step of upkeep. Source: own choice, the same permit as a consolidation cycle.
const CALLS: u32 = 20;
/// Maximum number of tokens of one step of upkeep. Source: own choice, the same permit as a consolidation cycle.
const TOKENS: TokenCount = TokenCount(60_000);

/// Time after which a step of upkeep starts no further batch. Source: own default, a part of the lease.
const BUSY: Duration = Duration::from_secs(5);

/// Handling of a batch that the endpoint rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RejectedTexts {
    /// Retry text by text.
    FindOut,
    /// Return the error.
    Report,
}

/// The events without a vector of a model, and the results of a backfill run.
///
/// It lives as long as one run. The next run finds what is stored, so a run can be stopped at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// The model.
    pub model: ModelId,
    /// The embedder that makes its vectors.
    pub by: EmbeddedBy,
    /// Vectors that were stored in this run.
    pub stored: u64,
    /// Events whose text got no vector: it has no word that the model knows, was rejected, erased in between, or damaged.
    pub without: u64,
    waiting: VecDeque<(Seq, EventId)>,
}

impl Backlog {
    /// Returns the number of pending events.
    pub fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }
}

/// The estimated cost of a backlog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Number of texts.
    pub texts: u64,
    /// Their tokens, by the engine's counter.
    pub tokens: u64,
    /// Requests to the endpoint; none for the in-process embedder.
    pub requests: u64,
}

impl Engine {
    /// Lists the events with a text but without a vector of this embedder's model.
    ///
    /// # Errors
    /// `Unsupported` without that embedder, a log or an index; `Unavailable` when the store does not answer.
    pub async fn backlog(&self, by: EmbeddedBy) -> Result<Backlog> {
        self.backlog_behind(by, Cursor::START).await
    }

    async fn backlog_behind(&self, by: EmbeddedBy, after: Cursor) -> Result<Backlog> {
        let model = self.model(by).ok_or_else(|| missing("this embedder"))?.clone();
        let waiting = self.searcher()?.without_vector(&model, after).await?.into();
        Ok(Backlog { model, by, stored: 0, without: 0, waiting })
    }

    /// Estimates the cost of a backlog, without a request. Reads every text.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn estimate(&self, backlog: &Backlog) -> Result<Estimate> {
        let mut estimate = Estimate::default();
        let mut rest = backlog.waiting.iter().copied();
        loop {
            let some: Vec<(Seq, EventId)> = rest.by_ref().take(TOGETHER).collect();
            if some.is_empty() {
                break;
            }
            for (_, text) in self.texts(backlog.by, &some).await? {
                estimate.texts += 1;
                estimate.tokens += u64::from(self.count_tokens(&text).0);
            }
        }
        if backlog.by == EmbeddedBy::Background {
            estimate.requests = estimate.texts.div_ceil(self.together(backlog.by) as u64);
        }
        Ok(estimate)
    }

    /// Embeds and stores the next events of a backlog: one request or, in process, 256 texts, and one small transaction. Returns
    /// whether events are still pending.
    ///
    /// The caller's budget is not limited. Vectors of other models stay as they are. Dropping the future loses at most the texts
    /// of the current request.
    ///
    /// # Errors
    /// `Unavailable` when the embedder or the store cannot answer now; `Invalid` or `Unsupported` when the endpoint rejects every
    /// text of a batch, or its vectors have another size than the stored ones. The events then stay pending.
    pub async fn fill(&self, backlog: &mut Backlog) -> Result<bool> {
        let mut permit = BackgroundPermit::issue(u32::MAX, TokenCount(u32::MAX));
        self.fill_some(backlog, &mut permit, RejectedTexts::FindOut).await
    }

    async fn fill_some(
        &self,
        backlog: &mut Backlog,
        permit: &mut BackgroundPermit,
        refused: RejectedTexts,
    ) -> Result<bool> {
        let some: Vec<(Seq, EventId)> =
            backlog.waiting.iter().copied().take(self.together(backlog.by)).collect();
        let texts = self.texts(backlog.by, &some).await?;
        let mut piece = match backlog.by {
            EmbeddedBy::InProcess => self.piece().await,
            // Work that waits for an endpoint is not a piece, so that other background work does not wait.
            EmbeddedBy::Background => None,
        };
        let vectors = self.vectors(backlog, permit, &texts, refused).await?;
        if piece.is_none() {
            piece = self.piece().await;
        }
        let rows: Vec<(EventId, Vector)> = texts
            .iter()
            .zip(vectors)
            .filter_map(|((id, _), values)| Some((*id, Vector::from_unit(&values?).ok()?)))
            .collect();
        let stored = if rows.is_empty() { 0 } else { self.put(&backlog.model, &rows).await? };
        drop(piece);
        backlog.stored += stored;
        backlog.without += (some.len() as u64).saturating_sub(stored);
        backlog.waiting.drain(..some.len());
        Ok(!backlog.waiting.is_empty())
    }

    async fn put(&self, model: &ModelId, rows: &[(EventId, Vector)]) -> Result<u64> {
        let index = self.stores().index.part().map_err(|_| missing("an index"))?;
        index.put_vectors(model, rows).await
    }

    fn together(&self, by: EmbeddedBy) -> usize {
        match by {
            EmbeddedBy::InProcess => TOGETHER,
            EmbeddedBy::Background => self.settings().embedding.batch.max(1),
        }
    }

    /// Returns the texts to embed; events without a text, and erased or damaged ones, are left out.
    async fn texts(&self, by: EmbeddedBy, events: &[(Seq, EventId)]) -> Result<Vec<(EventId, String)>> {
        let ids: Vec<EventId> = events.iter().map(|(_, id)| *id).collect();
        let mut texts = Vec::with_capacity(ids.len());
        for event in self.living(&ids).await? {
            let Some(kept) = event.body() else { continue };
            let text = embedded_text(&shortened(kept));
            let text = match by {
                EmbeddedBy::InProcess => text,
                // Today's secret rules may detect more than those at append time; a text that a rule blocks is not sent.
                EmbeddedBy::Background => self.log()?.outgoing(&text).unwrap_or_default(),
            };
            if !text.trim().is_empty() {
                texts.push((event.id, text));
            }
        }
        Ok(texts)
    }

    async fn living(&self, ids: &[EventId]) -> Result<Vec<Event>> {
        match self.events()?.get(ids).await {
            Err(error) if is_about_one(error.kind()) => {}
            all => return all,
        }
        let mut found = Vec::new();
        for id in ids {
            match self.events()?.get(&[*id]).await {
                Ok(event) => found.extend(event),
                Err(error) if is_about_one(error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    async fn vectors(
        &self,
        backlog: &Backlog,
        permit: &mut BackgroundPermit,
        texts: &[(EventId, String)],
        refused: RejectedTexts,
    ) -> Result<Vec<Option<Vec<f32>>>> {
        let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        if backlog.by == EmbeddedBy::InProcess {
            let embedder = self.parts().embedder.part().map_err(|_| missing("this embedder"))?;
            return embedder.embed(&texts).await;
        }
        match self.embed_texts(permit, &texts).await {
            Ok(vectors) => Ok(vectors.into_iter().map(Some).collect()),
            Err(error) if refused == RejectedTexts::FindOut && is_refusal(&error) => {
                self.one_by_one(backlog, permit, &texts, error).await
            }
            Err(error) => Err(error),
        }
    }

    /// Retries a batch text by text to find the rejected ones. If the endpoint takes none, the texts are not the cause.
    async fn one_by_one(
        &self,
        backlog: &Backlog,
        permit: &mut BackgroundPermit,
        texts: &[&str],
        refusal: Error,
    ) -> Result<Vec<Option<Vec<f32>>>> {
        let mut vectors = vec![None; texts.len()];
        if texts.len() > 1 {
            for (text, vector) in texts.iter().zip(&mut vectors) {
                match self.embed_texts(permit, &[*text]).await {
                    Ok(one) => *vector = one.into_iter().next(),
                    Err(error) if is_refusal(&error) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let takes_some = vectors.iter().any(Option::is_some) || (texts.len() == 1 && backlog.stored > 0);
        if takes_some { Ok(vectors) } else { Err(refusal) }
    }

    async fn embed_texts(&self, permit: &mut BackgroundPermit, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let background = self.parts().background.as_ref().ok_or_else(|| missing("this embedder"))?;
        let vectors = background.embed_within(PATIENCE, permit, texts).await;
        self.parts().tally.embedded(vectors.as_ref().err());
        let vectors = vectors?;
        if vectors.len() == texts.len() {
            return Ok(vectors);
        }
        Err(Error::internal(format!(
            "an embedder answered {} vectors for {} texts",
            vectors.len(),
            texts.len()
        )))
    }

    /// One step of upkeep: embeds a bounded number of events that are newer than the last step. Returns the number of stored
    /// vectors; a step with progress is no failure, whatever stopped it. A batch that the endpoint rejects is left to
    /// [`fill`](Self::fill), which retries it text by text.
    pub(crate) async fn fill_a_little(&self, by: EmbeddedBy) -> Result<u64> {
        let Some(model) = self.model(by) else { return Ok(0) };
        if self.parts().recall.is_none() || !self.stores().index.is_filled() {
            return Ok(0);
        }
        let tried = &self.parts().tried;
        let mut backlog = self.backlog_behind(by, tried.upto(model)).await?;
        backlog.waiting.truncate(CALLS as usize * self.together(by).min(TOGETHER));
        let mut permit = BackgroundPermit::issue(CALLS, TOKENS);
        let until = self.parts().clock.monotonic() + BUSY;
        while let Some((last, _)) = backlog.waiting.get(self.together(by) - 1).or(backlog.waiting.back()) {
            let reached = Cursor(Some(*last));
            let filled = self.fill_some(&mut backlog, &mut permit, RejectedTexts::Report).await;
            if filled.as_ref().err().is_none_or(is_refusal) {
                tried.reached(&backlog.model, reached);
            }
            match filled {
                Err(error) if backlog.stored == 0 => return Err(error),
                Ok(true) if self.parts().clock.monotonic() < until => {}
                _ => break,
            }
        }
        Ok(backlog.stored)
    }
}

/// Whether an error of several events may be caused by one of them.
fn is_about_one(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::Corrupt)
}

/// Whether an error may be caused by a text.
fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Unsupported)
}
