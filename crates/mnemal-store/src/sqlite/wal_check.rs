//! Check that a write-ahead log belongs to the database file next to it.
//!
//! SQLite accepts any internally valid log: one of another space, or an old one from a restored copy, overrides the file's
//! pages with its own. So before a log is used that no process has open, the file without it is compared with the file with it:
//! the counters of a space never decrease, and its first event stays the first.

use std::path::Path;

use mnemal_core::{Error, ErrorKind, Result};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use super::backup::is_locked;
use super::driver::{failed, rows};
use super::file::beside;
use super::open::STRANGE_TEXTS;
use crate::sql::Value;

/// Values that stay or grow: head, forgets, vectors, and the id of the first event.
const LASTING: &str = "select head, forgets, vectors, (select id from event where seq = 1) from space";

/// Rejects a log that cannot belong to its file. A log in use by another process was checked when that process started.
pub(super) async fn check(path: &Path) -> Result<()> {
    let log = beside(path, "-wal");
    let is_empty = |path: &Path| path.metadata().map_or(true, |file| file.len() == 0);
    if is_empty(&log) || is_empty(path) || is_locked(path) {
        return Ok(());
    }
    let options = || SqliteConnectOptions::new().filename(path).read_only(true).disable_statement_logging();
    // A file that cannot be read here is checked by its opener.
    let Some(file) = lasting(options().immutable(true)).await else { return Ok(()) };
    let Some(under_log) = lasting(options()).await else { return Ok(()) };
    if follows(&file, &under_log) || is_locked(path) {
        return Ok(());
    }
    let what = format!("{} is not the log of its file, or an old one", log.display());
    Err(Error::new(ErrorKind::Corrupt, what))
}

/// Reads these values; a read-only connection leaves the log unchanged when it is closed.
async fn lasting(options: SqliteConnectOptions) -> Option<Vec<Value>> {
    let mut connection = options.connect().await.map_err(failed).ok()?;
    let texts = rows(&mut connection, STRANGE_TEXTS, Vec::new()).await;
    let sound = texts.ok().and_then(|rows| rows.into_iter().next()?.int().ok()) == Some(0);
    let found = if sound { rows(&mut connection, LASTING, Vec::new()).await.ok() } else { None };
    drop(connection.close().await);
    Some(found?.into_iter().next()?.rest().to_vec())
}

/// Whether the file with its log can be a later state of the file.
fn follows(file: &[Value], under_log: &[Value]) -> bool {
    file.iter().zip(under_log).all(|values| match values {
        (Value::Int(before), Value::Int(after)) => before <= after,
        (Value::Blob(before), Value::Blob(after)) => before == after,
        // There was no first event yet.
        (Value::Null, _) => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_never_fall_and_the_first_event_stays() {
        let state = |head, first: Option<u8>| vec![Value::Int(head), first.map(|id| vec![id]).into()];
        assert!(follows(&state(0, None), &state(3, Some(1))));
        assert!(follows(&state(3, Some(1)), &state(3, Some(1))));
        assert!(!follows(&state(4, Some(1)), &state(3, Some(1))));
        assert!(!follows(&state(3, Some(1)), &state(9, Some(2))));
        assert!(!follows(&state(3, Some(1)), &state(9, None)));
    }
}
