//! Answers of language models.

use std::collections::BTreeSet;

use async_trait::async_trait;
use mnemal_core::{Completion, Error, EventId, PromptHash, Result};

use crate::row::model as row;
use crate::sql::{Sql, Step, Transaction, Value, Work};
use crate::{removal, statement};

pub(crate) async fn get(sql: &dyn Sql, prompt: PromptHash) -> Result<Completion> {
    let mut rows = sql.rows(statement::COMPLETION, vec![hash(prompt)]).await?;
    let row = rows.first_mut().ok_or_else(|| Error::not_found("no answer to this question is kept"))?;
    row::read(&row.text()?)
}

pub(crate) async fn put(
    sql: &dyn Sql,
    prompt: PromptHash,
    completion: &Completion,
    sources: &[EventId],
) -> Result<()> {
    let body = row::write(completion)?;
    let put = PutCompletion { prompt, body, sources: sources.iter().copied().collect() };
    sql.commit(Box::new(put)).await.map(drop)
}

pub(crate) async fn erase(sql: &dyn Sql, sources: &[EventId]) -> Result<u64> {
    sql.commit(Box::new(EraseCompletions(sources.to_vec()))).await
}

fn hash(prompt: PromptHash) -> Value {
    Value::Blob(prompt.0.to_vec())
}

/// Stores an answer, unless one of its source events is erased.
#[derive(Debug)]
struct PutCompletion {
    prompt: PromptHash,
    body: String,
    sources: BTreeSet<EventId>,
}

#[async_trait]
impl Work for PutCompletion {
    fn kind(&self) -> &'static str {
        "completion"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let ids = self.sources.iter().map(|event| (*event).into()).collect();
        for (text, args) in statement::ERASED_OF.lookups(ids) {
            if !transaction.rows(text, args).await?.is_empty() {
                return Ok(0);
            }
        }
        let stale = vec![hash(self.prompt)];
        transaction.run(Step::new(removal::DELETE_COMPLETION_SOURCES, stale)).await?;
        let args = vec![hash(self.prompt), std::mem::take(&mut self.body).into()];
        transaction.run(Step::rows(statement::PUT_COMPLETION, args, 1)).await?;
        let rests = self.sources.iter().map(|event| vec![(*event).into(), hash(self.prompt)]).collect();
        for step in statement::INSERT_COMPLETION_SOURCES.steps(rests) {
            transaction.run(step).await?;
        }
        Ok(1)
    }
}

/// Removes the answers with one of these source events.
#[derive(Debug)]
struct EraseCompletions(Vec<EventId>);

#[async_trait]
impl Work for EraseCompletions {
    fn kind(&self) -> &'static str {
        "erase"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let mut gone = BTreeSet::new();
        let ids = self.0.iter().map(|event| (*event).into()).collect();
        for (text, args) in statement::COMPLETIONS_OF.lookups(ids) {
            for mut row in transaction.rows(text, args).await? {
                gone.insert(row.blob()?);
            }
        }
        let mut removed = 0;
        for prompt in gone {
            let of = || vec![prompt.clone().into()];
            transaction.run(Step::new(removal::DELETE_COMPLETION_SOURCES, of())).await?;
            removed += transaction.run(Step::new(removal::DELETE_COMPLETION, of())).await?;
        }
        Ok(removed)
    }
}
