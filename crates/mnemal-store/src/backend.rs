//! A space in a database that speaks SQL; every port is implemented once over it.

use std::fmt::Debug;
use std::sync::Arc;

use mnemal_core::Result;

use crate::cache::Caches;
use crate::sql::Sql;

/// A space in a database, for all ports.
pub(crate) trait Backend: Debug + Send + Sync + 'static {
    /// Returns the database.
    fn sql(&self) -> &dyn Sql;

    /// Returns what this handle keeps.
    fn caches(&self) -> &Caches;

    /// Whether an acknowledged event survives a power cut.
    fn is_durable(&self) -> bool;

    /// Records damage that an answer reports, and returns the answer.
    fn noted<T>(&self, answer: Result<T>) -> Result<T>;
}

/// A space in an SQL database, by its driver. Clones share its connections.
#[derive(Debug)]
pub struct SqlStore<B> {
    pub(crate) inner: Arc<B>,
}

impl<B> Clone for SqlStore<B> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}
