//! Opens a space that is stored in a file, or in a database of PostgreSQL.

use std::path::Path;

#[cfg(feature = "postgres")]
use mnemal_core::SpaceId;
use mnemal_core::{ErrorKind, Result};
use mnemal_store::{Durability, Options, SqliteStore, Stores};

use super::Builder;
use crate::engine::Engine;
use crate::settings::DurabilityMode;

impl Builder {
    /// Opens a SQLite file as the storage, reads or creates the key, builds, and finishes work that a crash interrupted.
    ///
    /// # Errors
    /// `Invalid` for settings out of range or a file of another format, `Unsupported` for one of a newer version, `Corrupt` for a
    /// damaged one, `Unavailable` when it cannot be opened.
    pub async fn open(mut self, path: impl AsRef<Path>) -> Result<Engine> {
        self.settings.check()?;
        let path = path.as_ref();
        let durability = match self.settings.storage.durability {
            DurabilityMode::Full => Durability::Disk,
            DurabilityMode::Normal => Durability::Process,
        };
        let store = SqliteStore::open_with(path, Options { durability, ..Options::default() }).await?;
        let rebuilt = store.rebuilt_tables();
        if !rebuilt.is_empty() {
            tracing::warn!(tables = rebuilt.join(", "), "tables that were gone are made anew from the log");
        }
        self.file = Some(store.clone());
        #[cfg(feature = "inbox")]
        self.fill_inbox(path.file_stem().and_then(std::ffi::OsStr::to_str));
        Box::pin(self.opened(store.into(), path)).await
    }

    /// Opens a space in a database of PostgreSQL as the storage, or creates it; as [`open`](Self::open).
    #[cfg(feature = "postgres")]
    pub(crate) async fn open_in(
        mut self,
        database: &mnemal_store::PostgresDatabase,
        space: &SpaceId,
    ) -> Result<Engine> {
        self.settings.check()?;
        let store = database.space(space).await?;
        self.database = Some(store.clone());
        #[cfg(feature = "inbox")]
        self.fill_inbox(Some(space.as_str()));
        Box::pin(self.opened(store.into(), Path::new(crate::key_file::NAME))).await
    }

    /// Reads or creates the key, which is in the folder of `path` unless it is known, builds, and finishes work that a crash
    /// interrupted.
    async fn opened(mut self, stores: Stores, path: &Path) -> Result<Engine> {
        self.key = Some(self.installation_key(path)?);
        self.audit = self.audit_log(path)?;
        if let Some(log) = &self.audit {
            log.note_trust(&self.settings, self.clock.now())?;
        }
        let engine = self.with_stores(stores).build()?;
        match engine.finish_forgets().await {
            // A damaged space is read-only; `recover` finishes the interrupted forgets.
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                tracing::warn!(error = error.what(), "the space is damaged");
            }
            finished => finished?,
        }
        let _behind = engine.fold().await;
        engine.restore_index().await;
        Ok(engine)
    }
}
