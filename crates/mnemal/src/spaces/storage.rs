//! Where spaces are stored: in a folder of files, in a database of PostgreSQL, or in one engine that is open already.

use mnemal_core::{Error, ErrorKind, Result, SpaceId};
#[cfg(feature = "postgres")]
use mnemal_store::PostgresDatabase;
use mnemal_store::SqliteStore;

use super::GLOBAL;
use super::folder::Folder;
use super::marker::Marker;
use crate::builder::Builder;
use crate::engine::Engine;

/// Where the spaces of an installation are.
#[derive(Debug)]
pub(crate) enum SpaceStorage {
    /// One file each.
    Folder(Folder),
    /// All in one database.
    #[cfg(feature = "postgres")]
    Database(PostgresDatabase),
    /// The one space of an embedded engine, which has no marker.
    Embedded(SpaceId),
}

impl SpaceStorage {
    /// Whether there is a space of this name.
    pub(crate) async fn has(&self, space: &SpaceId) -> Result<bool> {
        match self {
            Self::Folder(folder) => Ok(folder.has(space)),
            #[cfg(feature = "postgres")]
            Self::Database(database) => database.has(space).await,
            Self::Embedded(embedded) => Ok(embedded == space),
        }
    }

    /// Returns all spaces, ascending by name, with their markers.
    pub(crate) async fn entries(&self) -> Result<Vec<(SpaceId, Marker)>> {
        match self {
            Self::Folder(folder) => {
                let marked = |space: SpaceId| (space.clone(), folder.marked(&space));
                Ok(folder.names()?.into_iter().map(marked).collect())
            }
            #[cfg(feature = "postgres")]
            Self::Database(database) => Ok(with_markers(database.entries().await?)),
            Self::Embedded(space) => Ok(vec![(space.clone(), Marker::default())]),
        }
    }

    /// Returns the spaces that are read with every other one, ascending by name, and whether there is the space [`GLOBAL`].
    pub(crate) async fn standing(&self) -> Result<(Vec<SpaceId>, bool)> {
        let global = SpaceId::new(GLOBAL)?;
        match self {
            Self::Folder(folder) => Ok((folder.always_on()?, folder.has(&global))),
            #[cfg(feature = "postgres")]
            Self::Database(database) => {
                let entries = with_markers(database.markers_and(&global).await?);
                let has_global = entries.iter().any(|(space, _)| *space == global);
                let on = entries.into_iter().filter(|(_, marker)| marker.is_on).map(|(space, _)| space);
                Ok((on.collect(), has_global))
            }
            Self::Embedded(space) => Ok((Vec::new(), *space == global)),
        }
    }

    /// Whether other machines have it too, and every look at it is a trip over the network.
    pub(crate) fn is_shared(&self) -> bool {
        match self {
            Self::Folder(_) | Self::Embedded(_) => false,
            #[cfg(feature = "postgres")]
            Self::Database(_) => true,
        }
    }

    /// Checks that spaces have markers and can be removed here.
    ///
    /// # Errors
    /// `Unsupported` for the space of an embedded engine.
    pub(crate) fn check_many(&self) -> Result<()> {
        match self {
            Self::Embedded(space) => Err(embedded(space)),
            _ => Ok(()),
        }
    }

    /// Returns the content of a space's marker, empty for a space without one.
    pub(crate) async fn marked(&self, space: &SpaceId) -> Result<Marker> {
        match self {
            Self::Folder(folder) => Ok(folder.marked(space)),
            #[cfg(feature = "postgres")]
            Self::Database(database) => {
                Ok(database.marker(space).await?.as_deref().map(Marker::read).unwrap_or_default())
            }
            Self::Embedded(_) => Ok(Marker::default()),
        }
    }

    /// Replaces the marker of a space.
    ///
    /// # Errors
    /// `Unsupported` for the space of an embedded engine, `Unavailable` when it cannot be written.
    pub(crate) async fn mark(&self, space: &SpaceId, marker: &Marker) -> Result<()> {
        match self {
            Self::Folder(folder) => folder.mark(space, marker),
            #[cfg(feature = "postgres")]
            Self::Database(database) => database.set_marker(space, &marker.render()).await,
            Self::Embedded(space) => Err(embedded(space)),
        }
    }

    /// Returns the size of a space in bytes: of its database and write-ahead log; 0 where many spaces share a database.
    pub(crate) fn bytes(&self, space: &SpaceId) -> u64 {
        match self {
            Self::Folder(folder) => folder.bytes(space),
            #[cfg(feature = "postgres")]
            Self::Database(_) => 0,
            Self::Embedded(_) => 0,
        }
    }

    /// Opens a space, or creates it.
    pub(crate) async fn open(&self, space: &SpaceId, template: Builder) -> Result<Engine> {
        match self {
            Self::Folder(folder) => Box::pin(template.open(folder.file(space))).await,
            #[cfg(feature = "postgres")]
            Self::Database(database) => Box::pin(template.open_in(database, space)).await,
            Self::Embedded(space) => Err(embedded(space)),
        }
    }

    /// Removes a space that is closed here.
    ///
    /// # Errors
    /// `Conflict` when another process has its file open; `Invalid` for a file that is not a space; `Unsupported` for the space
    /// of an embedded engine; `Unavailable` when it cannot be removed.
    pub(crate) async fn remove(&self, space: &SpaceId) -> Result<()> {
        match self {
            Self::Folder(folder) => {
                check_alone(folder, space).await?;
                folder.remove(space)
            }
            #[cfg(feature = "postgres")]
            Self::Database(database) => database.remove(space).await.map(drop),
            Self::Embedded(space) => Err(embedded(space)),
        }
    }
}

/// Reads the markers of entries; an empty one is none.
#[cfg(feature = "postgres")]
fn with_markers(entries: Vec<(SpaceId, String)>) -> Vec<(SpaceId, Marker)> {
    let read = |text: &str| if text.is_empty() { Marker::default() } else { Marker::read(text) };
    entries.into_iter().map(|(space, text)| (space, read(&text))).collect()
}

/// Checks that the file is a space, possibly a damaged one, and that no other process has it open.
async fn check_alone(folder: &Folder, space: &SpaceId) -> Result<()> {
    let file = folder.file(space);
    match SqliteStore::open(&file).await {
        Ok(store) => store.close().await?,
        Err(error) if error.kind() == ErrorKind::Corrupt => {}
        Err(error) => return Err(error),
    }
    SqliteStore::alone(&file).await
}

fn embedded(space: &SpaceId) -> Error {
    let what = format!("space {space} is embedded: it has no marker and no place among others");
    Error::new(ErrorKind::Unsupported, what)
}
