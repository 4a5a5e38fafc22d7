//! Schema migration: backup, steps, check, removal of the backup.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use mnemal_core::{Error, ErrorKind, Result};
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions as _, Connection as _};

use super::driver::{failed, rows};
use super::open::connect_options;
use super::schema::{MIGRATIONS, SCHEMA_VERSION};
use super::{Options, file, writer};
use crate::codec::corrupt;
use crate::sql::Row;

const USER_VERSION: &str = "pragma user_version";
const HEAD: &str = "select head from space";
const QUICK_CHECK: &str = "pragma quick_check";
const COPY: &str = "vacuum into $1";

/// Migrates a file to the newest schema, each step in its own transaction; a new file takes all in one.
///
/// Before the first step the file is backed up, and the backup is removed once the new file has passed its check, because a
/// remaining backup would keep what is forgotten later. The next opening after an interruption does the same.
pub(super) async fn migrate(connection: &mut SqliteConnection, path: &Path, options: Options) -> Result<()> {
    let mut copied = false;
    while version(connection).await? < SCHEMA_VERSION {
        writer::begin(connection).await?;
        match step(connection, path, options, &mut copied).await {
            Ok(()) => writer::commit(connection).await?,
            Err(error) => {
                writer::rollback(connection).await;
                return Err(error);
            }
        }
    }
    // Behind a VFS there are no copies.
    let left = if options.vfs.is_none() { copies(path) } else { Vec::new() };
    if left.iter().any(|copy| copy.exists()) {
        check(connection, &left).await?;
        for copy in left {
            drop_copy(&copy).map_err(|error| unwritable(&copy, error))?;
        }
    }
    Ok(())
}

/// Takes the next step within the open transaction, which excludes other processes.
async fn step(
    connection: &mut SqliteConnection,
    path: &Path,
    options: Options,
    copied: &mut bool,
) -> Result<()> {
    let from = usize::try_from(version(connection).await?).unwrap_or_default();
    if from == 0 {
        for text in MIGRATIONS {
            rows(connection, text, Vec::new()).await?;
        }
        return Ok(());
    }
    let Some(text) = MIGRATIONS.get(from) else { return Ok(()) };
    if !*copied && options.vfs.is_none() && head(connection).await? > 0 {
        copy(path, options, from).await?;
        *copied = true;
    }
    rows(connection, *text, Vec::new()).await.map(drop)
}

async fn version(connection: &mut SqliteConnection) -> Result<i64> {
    let mut answer = rows(connection, USER_VERSION, Vec::new()).await?;
    answer.first_mut().ok_or_else(|| corrupt("the file has no version"))?.int()
}

async fn head(connection: &mut SqliteConnection) -> Result<i64> {
    let mut answer = rows(connection, HEAD, Vec::new()).await?;
    answer.first_mut().ok_or_else(|| corrupt("the space has no row"))?.int()
}

/// Returns the paths of the backups of every older version.
pub(super) fn copies(path: &Path) -> Vec<PathBuf> {
    let name = |version| file::beside(path, &format!(".v{version}.bak"));
    let partial = |version| file::beside(path, &format!(".v{version}.bak.partial"));
    (1..SCHEMA_VERSION).flat_map(|version| [name(version), partial(version)]).collect()
}

/// Backs up the file's last committed state, replacing an earlier backup of the same version.
async fn copy(path: &Path, options: Options, version: usize) -> Result<()> {
    let to = file::beside(path, &format!(".v{version}.bak"));
    let partial = file::beside(&to, ".partial");
    drop_copy(&partial).map_err(|error| unwritable(&partial, error))?;
    drop(file::create(&partial).map_err(|error| unwritable(&partial, error))?);
    let name = partial.to_str().ok_or_else(|| Error::invalid("the name of a space must be text"))?;
    let mut reader = connect_options(path, options).connect().await.map_err(failed)?;
    let copied = rows(&mut reader, COPY, vec![name.into()]).await;
    reader.close().await.map_err(failed)?;
    copied?;
    let keep = || {
        fs::File::open(&partial)?.sync_all()?;
        fs::rename(&partial, &to)?;
        file::flush_folder(file::folder(&to))
    };
    keep().map_err(|error| unwritable(&to, error))
}

async fn check(connection: &mut SqliteConnection, copies: &[PathBuf]) -> Result<()> {
    let answer = rows(connection, QUICK_CHECK, Vec::new()).await?;
    let said: Vec<String> = answer.into_iter().map(|mut row: Row| row.text()).collect::<Result<_>>()?;
    if said.iter().all(|line| line == "ok") {
        return Ok(());
    }
    let kept: Vec<String> =
        copies.iter().filter(|copy| copy.exists()).map(|copy| copy.display().to_string()).collect();
    let what = format!("the file is damaged; as it was before its migration it is in {}", kept.join(", "));
    Err(Error::new(ErrorKind::Corrupt, what))
}

/// Overwrites and removes a backup; a missing one is no error.
fn drop_copy(copy: &Path) -> io::Result<()> {
    let file = match fs::OpenOptions::new().write(true).open(copy) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    io::copy(&mut io::repeat(0).take(length), &mut &file)?;
    file.sync_all()?;
    match fs::remove_file(copy) {
        // Another process that opens the space has done it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn unwritable(path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("cannot write {}", path.display())).because(error)
}

#[cfg(test)]
mod tests;
