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

use std::fmt::Write as _;
use std::sync::Arc;

use mnemal_core::{Error, ErrorKind, Result, SpaceId};

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

/// How a server is set, and what it does now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseReport {
    /// The version of the server.
    pub version: String,
    /// Open connections of all clients.
    pub connections: u64,
    /// Most connections that the server accepts.
    pub max_connections: u64,
    /// Age of the oldest open transaction in seconds, as far as the user may see it; the server keeps what it could read, and
    /// erased rows with it.
    pub oldest_transaction_secs: u64,
    /// Settings that are off, with which a crash may lose acknowledged events or damage the database.
    pub unsafe_settings: Vec<&'static str>,
    /// What an acknowledged event survives.
    pub acknowledgment: Acknowledgment,
}

/// Asks for the fields of a report.
const REPORT: &str = "select current_setting('server_version'), \
    (select count(*) from pg_stat_activity where backend_type = 'client backend'), \
    current_setting('max_connections'), \
    (select cast(coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0) as bigint) \
     from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid()), \
    current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')";

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
    /// checks its version. A connection to another machine is encrypted, unless the address ends with `?sslmode=disable`. Must be
    /// called within a tokio runtime, which then runs the connections.
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

    /// Returns the statements that [`migrate`](Self::migrate) would run, each step as one text; none if the tables are those of
    /// this version.
    ///
    /// # Errors
    /// As [`connect_with`](Self::connect_with).
    pub async fn plan(url: &str) -> Result<Vec<String>> {
        let pool = Arc::new(Pool::new(config(url)?, 1));
        schema::plan(pool.take(None).await?.get()?).await
    }

    /// Returns how the server is set and what it does now.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn report(&self) -> Result<DatabaseReport> {
        let texts = self.texts(REPORT).await?;
        let unread = || Error::internal("the database answered a report of another form");
        let [version, connections, most, oldest, fsync, pages, commit] = texts.as_slice() else {
            return Err(unread());
        };
        let number = |text: &String| text.parse().map_err(|_| unread());
        let settings = [("fsync", fsync), ("full_page_writes", pages), ("synchronous_commit", commit)];
        let off = settings.into_iter().filter(|(_, value)| *value == "off");
        Ok(DatabaseReport {
            version: version.clone(),
            connections: number(connections)?,
            max_connections: number(most)?,
            oldest_transaction_secs: number(oldest)?,
            unsafe_settings: off.map(|(name, _)| name).collect(),
            acknowledgment: self.acknowledgment(),
        })
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

    /// Whether there is a space of this name.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn has(&self, name: &SpaceId) -> Result<bool> {
        Ok(self.id_of(name).await?.is_some())
    }

    /// Returns the spaces with a marker and the named one, ascending, each with its marker, which is empty where there is none.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn markers_and(&self, name: &SpaceId) -> Result<Vec<(SpaceId, String)>> {
        let condition = format!("where marker is not null or name = '{}'", name.as_str());
        self.entries_where(&condition).await
    }

    /// Returns a document that all servers share, with its version; version 0 and an empty text if there is none.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn document(&self, name: &str) -> Result<(i64, String)> {
        let texts =
            self.texts(&format!("select version, body from document where name = {}", text_of(name))).await?;
        let [version, body] = texts.as_slice() else { return Ok((0, String::new())) };
        let version = version.parse().map_err(|_| crate::codec::corrupt("a document has no version"))?;
        Ok((version, body.clone()))
    }

    /// Replaces a document, if it still has the version; returns whether it had.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer, or takes no writes.
    pub async fn replace_document(&self, name: &str, version: i64, body: &str) -> Result<bool> {
        let (name, body) = (text_of(name), text_of(body));
        let returned = match version {
            0 => format!(
                "insert into document (name, version, body) values ({name}, 1, {body}) \
                 on conflict (name) do nothing returning version"
            ),
            _ => format!(
                "update document set version = version + 1, body = {body} \
                 where name = {name} and version = {version} returning version"
            ),
        };
        Ok(!self.texts(&returned).await?.is_empty())
    }

    /// Returns all spaces, ascending, each with its marker, which is empty where there is none.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn entries(&self) -> Result<Vec<(SpaceId, String)>> {
        self.entries_where("").await
    }

    async fn entries_where(&self, condition: &str) -> Result<Vec<(SpaceId, String)>> {
        let texts =
            self.texts(&format!("select name, marker from directory {condition} order by name")).await?;
        let pairs = texts.chunks_exact(2).filter_map(|pair| Some((pair.first()?, pair.last()?)));
        pairs.map(|(name, marker)| Ok((SpaceId::new(name.as_str())?, marker.clone()))).collect()
    }

    /// Returns the marker of a space; `None` for a space without one, and where there is no space.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn marker(&self, name: &SpaceId) -> Result<Option<String>> {
        let of =
            format!("select marker from directory where marker is not null and name = '{}'", name.as_str());
        Ok(self.texts(&of).await?.pop())
    }

    /// Replaces the marker of a space.
    ///
    /// # Errors
    /// `NotFound` when there is no such space; `Unavailable` when the database does not answer, or takes no writes.
    pub async fn set_marker(&self, name: &SpaceId, marker: &str) -> Result<()> {
        let marker = text_of(marker);
        let update = format!("update directory set marker = {marker} where name = '{name}' returning name");
        if self.texts(&update).await?.is_empty() {
            return Err(Error::not_found(format!("no space {name}")));
        }
        Ok(())
    }

    /// Binds the database to an installation by a check value of its key: the first one is kept. Servers with different keys
    /// would not find each other's tombstones.
    ///
    /// # Errors
    /// `Conflict` when the database belongs to another key; `Unavailable` when it does not answer, or takes no writes and belongs
    /// to nobody.
    pub async fn bind(&self, check: &[u8; 32]) -> Result<()> {
        let is_ours = format!("select installation = {} from mnemal_schema", bytes_of(check));
        for _ in 0..2 {
            match self.texts(&is_ours).await?.first().map(String::as_str) {
                Some("t") => return Ok(()),
                Some("f") => break,
                _ => {
                    let bind = format!(
                        "update mnemal_schema set installation = {} where installation is null",
                        bytes_of(check)
                    );
                    self.change(&bind).await?;
                }
            }
        }
        let what = "the database belongs to another installation key: copy `installation.key` from the data directory \
                    of the server that used it first";
        Err(Error::new(ErrorKind::Conflict, what))
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
                Err(error) if error.kind() == ErrorKind::Conflict => {}
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

/// Writes a text as an expression of the database.
fn text_of(text: &str) -> String {
    format!("convert_from({}, 'UTF8')", bytes_of(text.as_bytes()))
}

/// Writes bytes as an expression of the database.
fn bytes_of(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().fold(String::new(), |mut digits, byte| {
        let _infallible = write!(digits, "{byte:02x}");
        digits
    });
    format!("decode('{digits}', 'hex')")
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
