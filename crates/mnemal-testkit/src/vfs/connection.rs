//! A bare connection for the tests of the file system.
#![expect(unsafe_code, reason = "the tests speak to SQLite itself, below every driver")]

use std::ffi::CString;
use std::ptr;

use libsqlite3_sys as sys;

use super::{FaultyDisk, VFS};

/// A connection; it is closed when it is dropped.
#[derive(Debug)]
pub(super) struct Connection(*mut sys::sqlite3);

impl Connection {
    pub(super) fn open(disk: &FaultyDisk, file: &str) -> Result<Self, i32> {
        let path = CString::new(disk.path(file).to_str().unwrap()).unwrap();
        let vfs = CString::new(VFS).unwrap();
        let flags = sys::SQLITE_OPEN_READWRITE | sys::SQLITE_OPEN_CREATE;
        let mut db = ptr::null_mut();
        // SAFETY: both texts end with a NUL and `db` may be written.
        let code = unsafe { sys::sqlite3_open_v2(path.as_ptr(), &raw mut db, flags, vfs.as_ptr()) };
        let connection = Self(db);
        if code == sys::SQLITE_OK { Ok(connection) } else { Err(code) }
    }

    /// Opens a file with a write-ahead log that is flushed at every commit, with a table of numbers.
    pub(super) fn with_log(disk: &FaultyDisk, file: &str) -> Result<Self, i32> {
        let connection = Self::open(disk, file)?;
        connection.run("pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 5000")?;
        connection.run("create table if not exists t (n integer primary key, text blob)")?;
        Ok(connection)
    }

    /// Runs statements; the error is SQLite's code.
    pub(super) fn run(&self, sql: &str) -> Result<(), i32> {
        let sql = CString::new(sql).unwrap();
        // SAFETY: the connection is open, the text ends with a NUL, and no callback is asked for.
        let code = unsafe { sys::sqlite3_exec(self.0, sql.as_ptr(), None, ptr::null_mut(), ptr::null_mut()) };
        if code == sys::SQLITE_OK { Ok(()) } else { Err(code) }
    }

    /// Returns the first column of the first row as a text.
    pub(super) fn ask(&self, sql: &str) -> Result<String, i32> {
        let text = CString::new(sql).unwrap();
        let mut statement = ptr::null_mut();
        // SAFETY: the connection is open, the text ends with a NUL, the statement is finalised, and the column's text is
        // copied before.
        unsafe {
            let code =
                sys::sqlite3_prepare_v2(self.0, text.as_ptr(), -1, &raw mut statement, ptr::null_mut());
            if code != sys::SQLITE_OK {
                return Err(code);
            }
            let code = sys::sqlite3_step(statement);
            let found = (code == sys::SQLITE_ROW).then(|| {
                let column = sys::sqlite3_column_text(statement, 0);
                std::ffi::CStr::from_ptr(column.cast()).to_str().unwrap().to_owned()
            });
            sys::sqlite3_finalize(statement);
            found.ok_or(code)
        }
    }

    pub(super) fn count(&self) -> Result<u64, i32> {
        Ok(self.ask("select count(*) from t")?.parse().unwrap())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: it is closed once, and has no statements left.
        unsafe { sys::sqlite3_close(self.0) };
    }
}

// SAFETY: SQLite is compiled to be used by several threads, and one at a time has this connection.
unsafe impl Send for Connection {}
