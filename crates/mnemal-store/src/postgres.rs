//! Many spaces in one database of PostgreSQL, for any number of processes.
//!
//! Every write locks the row of its space, so that it reads what it changes, as in a file with one writer; the position of an
//! event is a number in that row, and so a reader never sees a later event before an earlier one. A space holds a connection
//! only while it works.

mod connection;
mod dialect;
mod driver;
mod failure;
mod pool;
mod schema;
mod scope;
#[cfg(all(test, feature = "postgres-tests"))]
mod tests;
mod tls;
mod transaction;
mod upkeep;
mod value;
mod writer;

use std::sync::Arc;

use mnemal_core::{Error, Result, SpaceId};

use self::driver::PostgresDriver;
pub use self::pool::Acknowledgment;
use self::pool::{Pool, config};
use crate::Stores;
use crate::backend::{Backend, SqlStore};
use crate::cache::Caches;
use crate::removal::removal_of_space;
use crate::sql::Sql;

/// Options of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Most connections of this process; each is opened on first use. By default 16.
    pub connections: usize,
}

/// Source: own default; six processes stay below the server's own limit of a hundred.
const CONNECTIONS: usize = 16;

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { connections: CONNECTIONS }
    }
}

/// A database with many spaces. Clones share its connections.
#[derive(Clone, Debug)]
pub struct PostgresDatabase {
    pool: Arc<Pool>,
}

impl PostgresDatabase {
    /// Connects with the default options.
    ///
    /// # Errors
    /// As [`connect_with`](Self::connect_with).
    pub async fn connect(url: &str) -> Result<Self> {
        Self::connect_with(url, PostgresOptions::default()).await
    }

    /// Connects to a database by its address (`postgres://user:password@host:port/name`, several hosts separated by commas), and
    /// checks its version. A connection to another machine is encrypted, unless the address ends with `?sslmode=disable`. Must be called within a tokio runtime, which then runs the connections.
    ///
    /// # Errors
    /// `Invalid` for an address of another form, or an unknown user; `Unsupported` for a database that must be migrated, or of a
    /// newer version; `Unavailable` when it does not answer.
    pub async fn connect_with(url: &str, options: PostgresOptions) -> Result<Self> {
        let pool = Arc::new(Pool::new(config(url)?, options.connections));
        schema::check(pool.take(None).await?.get()?).await?;
        Ok(Self { pool })
    }

    /// Creates the tables of a database, or migrates them; nothing changes if they are those of this version.
    ///
    /// # Errors
    /// As [`connect_with`](Self::connect_with); `Invalid` also when the user may not create tables.
    pub async fn migrate(url: &str) -> Result<()> {
        let pool = Arc::new(Pool::new(config(url)?, 1));
        schema::migrate(pool.take(None).await?.get()?).await
    }

    /// Returns what an acknowledged event survives, as the newest connection found it.
    pub fn acknowledgment(&self) -> Acknowledgment {
        self.pool.acknowledged()
    }

    /// Opens a space, or creates it.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer, or takes no writes and lacks the space.
    pub async fn space(&self, name: &SpaceId) -> Result<PostgresStore> {
        let id = match self.id_of(name).await? {
            Some(id) => id,
            None => self.create(name).await?,
        };
        let driver = PostgresDriver::new(Arc::clone(&self.pool), id);
        Ok(SqlStore { inner: Arc::new(PostgresSpace { driver, caches: Caches::default() }) })
    }

    /// Returns the names of all spaces, ascending.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn spaces(&self) -> Result<Vec<SpaceId>> {
        let names = self.texts("select name from directory order by name").await?;
        names.into_iter().map(SpaceId::new).collect()
    }

    /// Removes a space with all its rows; returns whether there was one.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn remove(&self, name: &SpaceId) -> Result<bool> {
        let Some(id) = self.id_of(name).await? else { return Ok(false) };
        let removal = removal_of_space(&schema::TABLES, id, name);
        self.change(&format!("begin; set local mnemal.space = '{id}'; {removal}; commit")).await?;
        Ok(true)
    }

    async fn id_of(&self, name: &SpaceId) -> Result<Option<i64>> {
        // A name consists of letters, digits, dots, lines and underscores.
        let found =
            self.texts(&format!("select space_id from directory where name = '{}'", name.as_str())).await?;
        let number = |text: &String| text.parse().map_err(|_| crate::codec::corrupt("a space has no number"));
        found.first().map(number).transpose()
    }

    /// Creates a space; another process may do so at the same time.
    async fn create(&self, name: &SpaceId) -> Result<i64> {
        for attempt in 0..ATTEMPTS {
            let id = number_of(name, attempt);
            let text = format!(
                "begin; set local mnemal.space = '{id}'; \
                 insert into directory (name, space_id) values ('{}', {id}) on conflict (name) do nothing; \
                 insert into space (space_id, head, recorded_at, prior_at, forgets, vectors) \
                 select {id}, 0, -1, -1, 0, 0 from directory where space_id = {id} on conflict (space_id) do nothing; commit",
                name.as_str()
            );
            match self.change(&text).await {
                // The number is that of another name.
                Err(error) if error.kind() == mnemal_core::ErrorKind::Conflict => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    if let Some(id) = self.id_of(name).await? {
                        return Ok(id);
                    }
                }
            }
        }
        Err(Error::internal(format!("space {name} got no number")))
    }

    async fn texts(&self, sql: &str) -> Result<Vec<String>> {
        self.pool.take(None).await?.get()?.texts(sql).await
    }

    /// Runs statements with their own transaction.
    async fn change(&self, sql: &str) -> Result<()> {
        let mut connection = self.pool.take(None).await?;
        connection.is_clean = false;
        match connection.get()?.plain(sql).await {
            Ok(()) => connection.is_clean = true,
            Err(error) => {
                connection.is_clean = connection.get()?.plain("rollback").await.is_ok();
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Attempts to find a free number for a name. Source: own choice; two of a billion names share one with a chance of 5 %.
const ATTEMPTS: u8 = 8;

/// Returns a positive number for a name: the same in every process, so that those who create a space at once agree.
fn number_of(name: &SpaceId, attempt: u8) -> i64 {
    let mut bytes = name.as_str().as_bytes().to_vec();
    bytes.push(attempt);
    i64::from_be_bytes(crate::codec::checksum(&bytes)) & i64::MAX
}

/// A space in a database of PostgreSQL. Clones share its writers; `close` ends them.
pub type PostgresStore = SqlStore<PostgresSpace>;

/// The connections of a process, for one space.
#[derive(Debug)]
pub struct PostgresSpace {
    driver: PostgresDriver,
    caches: Caches,
}

impl Backend for PostgresSpace {
    fn sql(&self) -> &dyn Sql {
        &self.driver
    }

    fn caches(&self) -> &Caches {
        &self.caches
    }

    fn is_durable(&self) -> bool {
        self.driver.pool.acknowledged() > Acknowledgment::Process
    }

    fn noted<T>(&self, answer: Result<T>) -> Result<T> {
        answer
    }
}

impl PostgresStore {
    /// Stores what is queued, and ends the writers; every later call returns `Unavailable`. The connections stay with the
    /// database.
    ///
    /// # Errors
    /// `Internal` when a writer did not end.
    pub async fn close(&self) -> Result<()> {
        self.inner.driver.close().await
    }
}

impl From<PostgresStore> for Stores {
    fn from(store: PostgresStore) -> Self {
        Self::all(Arc::new(store))
    }
}
