//! Errors of the server and of the connection.

use mnemal_core::{Error, ErrorKind};
use tokio_postgres::error::SqlState;

/// Error for a connection that ended.
pub(super) const LOST: &str = "the database does not answer";
/// Error for a connection that the server ended.
const ENDED: &str = "the database ended the work";
/// Error for a lock that another transaction holds; retry.
pub(super) const BUSY: &str = "another process holds the write lock";

/// Maps a driver error to an error kind; the driver's own error stays as the source.
pub(super) fn failed(error: tokio_postgres::Error) -> Error {
    let (kind, what) = error.code().map_or((ErrorKind::Unavailable, LOST), classify);
    Error::new(kind, what).because(error)
}

/// Maps an error of a new connection.
pub(super) fn unconnected(error: tokio_postgres::Error) -> Error {
    let (kind, what) =
        error.code().map_or((ErrorKind::Unavailable, "cannot connect to the database"), classify);
    Error::new(kind, what).because(error)
}

/// Whether a commit with this error was refused: nothing of it is stored. Else its outcome is unknown.
pub(super) fn is_refusal(error: &Error) -> bool {
    ![LOST, ENDED].contains(&error.what())
}

/// Whether the server does not answer any more on this connection.
pub(super) fn is_lost(error: &Error) -> bool {
    !is_refusal(error)
}

/// Classes of conditions: the first two characters of a code.
mod class {
    pub(super) const CONNECTION: &str = "08";
    pub(super) const INTEGRITY: &str = "23";
    pub(super) const AUTHORIZATION: &str = "28";
    pub(super) const RESOURCES: &str = "53";
    pub(super) const INTERVENTION: &str = "57";
    pub(super) const SYSTEM: &str = "58";
    pub(super) const DAMAGE: &str = "XX";
}

fn classify(code: &SqlState) -> (ErrorKind, &'static str) {
    match *code {
        SqlState::LOCK_NOT_AVAILABLE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::T_R_SERIALIZATION_FAILURE => {
            return (ErrorKind::Unavailable, BUSY);
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            return (
                ErrorKind::Unavailable,
                "the database takes no writes: it is a standby, or set to read only",
            );
        }
        SqlState::DISK_FULL => return (ErrorKind::Unavailable, "the disk of the database is full"),
        SqlState::UNDEFINED_TABLE | SqlState::UNDEFINED_COLUMN => {
            return (
                ErrorKind::Unsupported,
                "the database lacks a table of this version: run `mnemal database migrate`",
            );
        }
        SqlState::INSUFFICIENT_PRIVILEGE => {
            return (ErrorKind::Invalid, "the user of the database may not do this");
        }
        SqlState::INVALID_CATALOG_NAME => return (ErrorKind::Invalid, "there is no such database"),
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
            return (ErrorKind::Corrupt, "the database is damaged");
        }
        _ => {}
    }
    match code.code().get(..2).unwrap_or_default() {
        class::INTEGRITY => (ErrorKind::Conflict, "an id or a key is known"),
        class::AUTHORIZATION => (ErrorKind::Invalid, "the database does not accept this user or password"),
        class::CONNECTION | class::INTERVENTION => (ErrorKind::Unavailable, ENDED),
        class::RESOURCES => {
            (ErrorKind::Unavailable, "the database has no room for more connections or memory")
        }
        class::SYSTEM | class::DAMAGE => (ErrorKind::Unavailable, "the database has failed"),
        _ => (ErrorKind::Internal, "the database refused a statement"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_says_what_the_caller_can_do() {
        for (code, kind) in [
            ("23505", ErrorKind::Conflict),
            ("40P01", ErrorKind::Unavailable),
            ("55P03", ErrorKind::Unavailable),
            ("53100", ErrorKind::Unavailable),
            ("57P01", ErrorKind::Unavailable),
            ("25006", ErrorKind::Unavailable),
            ("28P01", ErrorKind::Invalid),
            ("42501", ErrorKind::Invalid),
            ("42P01", ErrorKind::Unsupported),
            ("XX001", ErrorKind::Corrupt),
            ("42601", ErrorKind::Internal),
        ] {
            assert_eq!(classify(&SqlState::from_code(code)).0, kind, "{code}");
        }
    }
}
