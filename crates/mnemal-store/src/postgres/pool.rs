//! Connections of a process: taken for one unit of work, and returned.

use std::fmt;
use std::str::FromStr as _;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use mnemal_core::{Error, ErrorKind, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use super::connection::{Connection, DEADLINE};
use super::failure::{LOST, unconnected};
use super::tls::{self, Encryption};

/// Time limit of a new connection, unless the address has one. Source: own default.
const CONNECT: Duration = Duration::from_secs(5);
/// Asks what an acknowledged commit has survived, after a setting: a transaction whose client is gone ends and frees its locks.
/// In milliseconds. Source: own default, twice the time limit of a trip.
const BEGIN_SESSION: &str = "set idle_in_transaction_session_timeout = 60000; \
     select current_setting('fsync'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names')";
/// What the server shows as the program of a connection, unless the address names another.
const PROGRAM: &str = "mnemal";

/// What an acknowledged event survives, by the settings of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Acknowledgment {
    /// The end of this process; a crash of the database may lose the newest events.
    #[default]
    Process,
    /// A crash of the database, and a power cut; a failover to a standby may lose the newest events.
    Disk,
    /// A failover to a synchronous standby too.
    Replica,
}

impl Acknowledgment {
    const ALL: [Self; 3] = [Self::Process, Self::Disk, Self::Replica];

    fn of(fsync: &str, commit: &str, standbys: &str) -> Self {
        match (fsync, commit) {
            ("on", "off") | ("off", _) => Self::Process,
            (_, "local") => Self::Disk,
            _ if standbys.trim().is_empty() => Self::Disk,
            _ => Self::Replica,
        }
    }
}

/// The connections of a process to one database; each is opened on first use.
pub(super) struct Pool {
    config: Config,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    /// Place among [`Acknowledgment::ALL`], as the newest connection found it.
    acknowledged: AtomicU8,
    encryption: OnceLock<Encryption>,
}

impl fmt::Debug for Pool {
    /// Shows no address, which may hold a password.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Pool").field("permits", &self.permits).finish_non_exhaustive()
    }
}

/// Reads an address.
///
/// # Errors
/// `Invalid` for one of another form; the message has no part of it, because it may hold a password.
pub(super) fn config(url: &str) -> Result<Config> {
    let invalid = |cause| {
        let form = "the address of the database must have the form postgres://user:password@host:port/name";
        Error::invalid(form).because(cause)
    };
    let mut config = Config::from_str(url).map_err(invalid)?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_application_name().is_none() {
        config.application_name(PROGRAM);
    }
    tls::settle(&mut config);
    Ok(config)
}

impl Pool {
    /// Opens nothing yet.
    pub(super) fn new(config: Config, most: usize) -> Self {
        let permits = Arc::new(Semaphore::new(most.max(1)));
        Self {
            config,
            permits,
            idle: Mutex::default(),
            acknowledged: AtomicU8::default(),
            encryption: OnceLock::new(),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a connection, if possible one that the space used last; waits while all are in use.
    ///
    /// # Errors
    /// `Unavailable` when none becomes free in time, or the server does not answer; `Invalid` when it refuses the user.
    pub(super) async fn take(self: &Arc<Self>, space: Option<i64>) -> Result<PooledConnection> {
        let permit = timeout(DEADLINE, Arc::clone(&self.permits).acquire_owned()).await;
        let permit = permit.ok().and_then(std::result::Result::ok);
        let busy = || Error::new(ErrorKind::Unavailable, "all connections to the database are in use");
        let permit = permit.ok_or_else(busy)?;
        let connection = match self.idle_of(space) {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        Ok(PooledConnection {
            pool: Arc::clone(self),
            connection: Some(connection),
            is_clean: true,
            _permit: permit,
        })
    }

    fn idle_of(&self, space: Option<i64>) -> Option<Connection> {
        let mut idle = self.idle();
        idle.retain(|connection| !connection.is_closed());
        let place = idle.iter().rposition(|connection| connection.space() == space);
        let place = place.or_else(|| idle.len().checked_sub(1))?;
        Some(idle.remove(place))
    }

    /// Returns what encrypts connections, if they are encrypted; the certificates are read once.
    fn encryption(&self) -> Result<Option<Encryption>> {
        if self.config.get_ssl_mode() == SslMode::Disable {
            return Ok(None);
        }
        if let Some(known) = self.encryption.get() {
            return Ok(Some(known.clone()));
        }
        let made = Encryption::new()?;
        Ok(Some(self.encryption.get_or_init(|| made).clone()))
    }

    /// Opens a connection.
    async fn connect(&self) -> Result<Connection> {
        let late = |late| Error::new(ErrorKind::Unavailable, LOST).because(late);
        let connection = match self.encryption()? {
            None => {
                let opened = timeout(DEADLINE, self.config.connect(NoTls)).await;
                let (client, socket) = opened.map_err(late)?.map_err(unconnected)?;
                Connection::new(client, socket)
            }
            Some(encryption) => {
                let opened = timeout(DEADLINE, self.config.connect(encryption)).await;
                let (client, socket) = opened.map_err(late)?.map_err(unconnected)?;
                Connection::new(client, socket)
            }
        };
        let found = connection.texts(BEGIN_SESSION).await?;
        if let [fsync, commit, standbys] = found.as_slice() {
            let found = Acknowledgment::of(fsync, commit, standbys);
            let place = Acknowledgment::ALL.iter().position(|one| *one == found).unwrap_or_default();
            self.acknowledged.store(u8::try_from(place).unwrap_or_default(), Ordering::Release);
        }
        Ok(connection)
    }

    /// Returns what an acknowledged event survives, as the newest connection found it.
    pub(super) fn acknowledged(&self) -> Acknowledgment {
        let place = usize::from(self.acknowledged.load(Ordering::Acquire));
        Acknowledgment::ALL.get(place).copied().unwrap_or_default()
    }
}

/// A connection in use; it returns when it is dropped, unless its state is unknown.
#[derive(Debug)]
pub(super) struct PooledConnection {
    pool: Arc<Pool>,
    connection: Option<Connection>,
    /// Whether nothing is open on it.
    pub(super) is_clean: bool,
    _permit: OwnedSemaphorePermit,
}

impl PooledConnection {
    /// Returns the connection.
    ///
    /// # Errors
    /// Never: it is there until the drop.
    pub(super) fn get(&mut self) -> Result<&mut Connection> {
        self.connection.as_mut().ok_or_else(|| Error::internal("a connection was returned while in use"))
    }
}

impl PooledConnection {
    /// Replaces a connection that was lost by a new one.
    ///
    /// # Errors
    /// As [`Pool::take`].
    pub(super) async fn renew(&mut self) -> Result<()> {
        self.connection = None;
        self.connection = Some(self.pool.connect().await?);
        Ok(())
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take().filter(|one| self.is_clean && !one.is_closed()) {
            self.pool.idle().push(connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_say_what_an_acknowledged_event_survives() {
        for (fsync, commit, standbys, expect) in [
            ("off", "on", "", Acknowledgment::Process),
            ("on", "off", "*", Acknowledgment::Process),
            ("on", "on", "", Acknowledgment::Disk),
            ("on", "local", "*", Acknowledgment::Disk),
            ("on", "remote_write", "", Acknowledgment::Disk),
            ("on", "on", "FIRST 1 (b)", Acknowledgment::Replica),
            ("off", "on", "*", Acknowledgment::Process),
        ] {
            assert_eq!(Acknowledgment::of(fsync, commit, standbys), expect, "{fsync} {commit} {standbys}");
        }
    }

    #[test]
    fn an_error_about_an_address_does_not_show_it() {
        let error = config("postgres://ada:secret@host:port/name").unwrap_err();
        let shown = format!("{error} {error:?}");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!shown.contains("secret"), "{shown}");
    }
}
