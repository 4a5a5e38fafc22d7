//! Where a space is stored: in a file, or in a database of PostgreSQL that many spaces and servers share.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use mnemal::{Error, ErrorKind};

/// Beginnings of the address of a database.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Where a space is stored.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    /// In its own file.
    File(PathBuf),
    /// In a database of PostgreSQL.
    Database(DatabaseAddress),
}

impl Storage {
    /// Returns the path of the space's file.
    ///
    /// # Errors
    /// `Unsupported` for a space in PostgreSQL.
    pub(crate) fn file(&self) -> Result<&Path> {
        match self {
            Self::File(file) => Ok(file),
            Self::Database(address) => {
                let what = format!("this needs a file, and the spaces are in {address}");
                Err(Error::new(ErrorKind::Unsupported, what).into())
            }
        }
    }

    /// Returns the size of the file and its write-ahead log in bytes; 0 for a space in PostgreSQL.
    pub(crate) fn bytes(&self) -> u64 {
        let Self::File(file) = self else { return 0 };
        let log = PathBuf::from(format!("{}-wal", file.display()));
        [file, &log].into_iter().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => file.display().fmt(to),
            Self::Database(address) => address.fmt(to),
        }
    }
}

/// The address of a database. It may hold a password, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct DatabaseAddress(String);

impl DatabaseAddress {
    /// Reads an address; `None` for the path of a file.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme)).then(|| Self(text.to_owned()))
    }

    /// Returns the whole address, with the password.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatabaseAddress {
    /// Writes user, hosts and name of the database.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or_default();
        let rest = rest.split_once('?').map_or(rest, |(place, _)| place);
        match rest.rsplit_once('@') {
            Some((login, place)) => {
                let user = login.split_once(':').map_or(login, |(user, _)| user);
                write!(to, "{scheme}://{user}@{place}")
            }
            None => write!(to, "{scheme}://{rest}"),
        }
    }
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password_and_a_path_is_none() {
        for (address, shown) in [
            ("postgres://ada:s3:c@ret@db1,db2/mem?sslmode=disable", "postgres://ada@db1,db2/mem"),
            ("postgresql://db/mem?password=s3c", "postgresql://db/mem"),
            ("postgres://ada@/mem", "postgres://ada@/mem"),
        ] {
            let parsed = DatabaseAddress::parse(address).unwrap();
            assert_eq!((parsed.to_string(), format!("{parsed:?}")), (shown.to_owned(), shown.to_owned()));
            assert_eq!(parsed.expose(), address);
            let stored = Storage::Database(parsed);
            assert_eq!((stored.bytes(), stored.to_string()), (0, shown.to_owned()));
            let error = stored.file().unwrap_err();
            let error = error.downcast_ref::<Error>().unwrap();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(!error.what().contains("s3"), "{error}");
        }
        for path in ["postgres", "./postgres://x", "a.db", ""] {
            assert!(DatabaseAddress::parse(path).is_none(), "{path}");
        }
    }
}
