//! The write connection and the state of an open file.

use std::mem;

use mnemal_core::{AppendOutcome, BLOCK_ROWS, Error, Result};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use super::driver::{BUSY, failed, rows};
use super::open_transaction::OpenTransaction;
use crate::admit::Dimensions;
use crate::append::{self, stored_models};
use crate::entry::Prepared;
use crate::port::receipt::ShownCache;
use crate::seal::SMALL;
use crate::sql::Work;
use crate::statement;

const CHECKPOINT: &str =
    "pragma busy_timeout = 0; pragma wal_checkpoint(truncate); pragma busy_timeout = 5000";

const REPACK: &str = "vacuum";

const SYNCHRONOUS: &str = "pragma synchronous";
/// The value of `synchronous` if every commit is flushed.
const FULL: i64 = 2;

/// Both return whether they were blocked, the pages of the log, and how many of them are in the file.
const LOOK_AT_LOG: &str = "pragma wal_checkpoint(noop)";
const TAKE_OVER: &str = "pragma wal_checkpoint(passive)";

/// When commits reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    /// Before the commit is acknowledged.
    Now,
    /// With the next flushed commit, or at a checkpoint.
    Later,
}

impl Flush {
    /// The statement that sets the behavior.
    const fn pragma(self) -> &'static str {
        match self {
            Self::Now => "pragma synchronous = full",
            Self::Later => "pragma synchronous = normal",
        }
    }
}

/// The size of the write-ahead log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Log {
    /// Its pages since its last restart.
    pub(super) pages: i64,
    /// Pages that are not in the file yet.
    pub(super) lacking: i64,
}

/// An open write connection.
#[derive(Debug)]
pub(super) struct WriteConnection {
    connection: SqliteConnection,
    /// What the connection does now; `None` for one of a file whose commits are never flushed.
    flush: Option<Flush>,
    models: Dimensions,
    small_rows: u64,
    shown: ShownCache,
}

impl WriteConnection {
    pub(super) async fn open(connect: &SqliteConnectOptions) -> Result<Self> {
        let mut connection = connect.connect().await.map_err(failed)?;
        let synchronous = rows(&mut connection, SYNCHRONOUS, Vec::new()).await?;
        let level = synchronous.into_iter().next().map(|mut row| row.int()).transpose()?;
        let flush = (level == Some(FULL)).then_some(Flush::Now);
        let mut shown = ShownCache::default();
        let models = stored_models(&mut OpenTransaction::as_it_is(&mut connection, &mut shown)).await?;
        let small = rows(&mut connection, statement::SMALL_ROWS, vec![SMALL.into()]).await?;
        let small_rows = small.into_iter().next().map(|mut row| row.count()).transpose()?.unwrap_or_default();
        Ok(Self { connection, flush, models, small_rows, shown })
    }

    /// Appends the batches of several callers in one transaction; after an error no transaction is open.
    pub(super) async fn append(
        &mut self,
        batches: &[&[Prepared]],
    ) -> Result<Vec<Result<Vec<AppendOutcome>>>> {
        self.set(Flush::Now).await?;
        let mut models = mem::take(&mut self.models);
        let mut open = OpenTransaction::new(&mut self.connection, &mut self.shown);
        match append::append(batches, &mut models, &mut open).await {
            Ok(outcome) if outcome.wrote => {
                open.commit().await?;
                self.models = models;
                if outcome.indexed < SMALL as u64 {
                    self.small_rows += outcome.indexed;
                }
                Ok(outcome.answers)
            }
            Ok(outcome) => {
                open.give_up().await;
                Ok(outcome.answers)
            }
            Err(error) => {
                open.give_up().await;
                Err(error)
            }
        }
    }

    /// Sets whether the next commits wait for the disk.
    async fn set(&mut self, flush: Flush) -> Result<()> {
        if self.flush.is_none_or(|now| now == flush) {
            return Ok(());
        }
        // It acts when it is prepared, so it must not be one of the statements that are kept.
        sqlx::raw_sql(flush.pragma()).execute(&mut self.connection).await.map_err(failed)?;
        self.flush = Some(flush);
        Ok(())
    }

    /// Runs work in its own transaction; after an error no transaction is open.
    pub(super) async fn work(&mut self, work: &mut dyn Work, flush: Flush) -> Result<u64> {
        self.set(flush).await?;
        let mut open = OpenTransaction::new(&mut self.connection, &mut self.shown);
        match work.run(&mut open).await {
            Ok(answer) => open.commit().await.map(|()| answer),
            Err(error) => {
                open.give_up().await;
                Err(error)
            }
        }
    }

    /// Tries once to truncate the write-ahead log; returns whether that worked.
    pub(super) async fn checkpoint(&mut self) -> Result<bool> {
        for mut row in rows(&mut self.connection, CHECKPOINT, Vec::new()).await? {
            if row.rest().len() == 3 {
                return Ok(row.int()? == 0);
            }
        }
        Ok(false)
    }

    /// Checkpoints the write-ahead log without waiting; once all of it is in the file, the next commit restarts it.
    pub(super) async fn take_over(&mut self) -> Result<()> {
        rows(&mut self.connection, TAKE_OVER, Vec::new()).await.map(drop)
    }

    /// Returns the size of the log.
    pub(super) async fn log(&mut self) -> Result<Log> {
        let mut answer = rows(&mut self.connection, LOOK_AT_LOG, Vec::new()).await?;
        let Some(row) = answer.first_mut() else { return Ok(Log::default()) };
        let (_busy, pages, taken) = (row.int()?, row.int()?, row.int()?);
        Ok(Log { pages, lacking: pages - taken })
    }

    /// Rewrites every page: rows that moved within pages left copies that a removal does not reach.
    pub(super) async fn repack(&mut self) -> Result<()> {
        self.set(Flush::Now).await?;
        rows(&mut self.connection, REPACK, Vec::new()).await.map(drop)
    }

    /// Whether there are enough small blocks for a full one; restarts the count.
    pub(super) fn may_seal(&mut self) -> bool {
        let enough = self.small_rows >= BLOCK_ROWS as u64;
        if enough {
            self.small_rows = 0;
        }
        enough
    }

    /// Adds to an error who may hold the write lock: the lease holders.
    pub(super) async fn name_holders(&mut self, error: Error) -> Error {
        let leases = rows(&mut self.connection, statement::LEASE_HELD, Vec::new()).await;
        let held = leases.ok().and_then(|rows| {
            let mut row = rows.into_iter().next()?;
            Some((row.text().ok()?, row.text().ok()?))
        });
        match held {
            None => error,
            Some((name, owner)) => {
                let what = format!("{BUSY}; {owner} has the lease {name}");
                Error::new(error.kind(), what).because(error)
            }
        }
    }

    /// Runs one text as it is.
    #[cfg(test)]
    pub(super) async fn run(&mut self, sql: &'static str) -> Result<()> {
        rows(&mut self.connection, sql, Vec::new()).await.map(drop)
    }

    /// Closes the connection, and rolls back what is open on it.
    pub(super) async fn close(self) -> Result<()> {
        self.connection.close().await.map_err(failed)
    }
}
