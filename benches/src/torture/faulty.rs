//! A space on a failing disk: opening it, playing a script over it, judging the remains.

pub(super) mod acknowledged;
pub(super) mod judge;
pub(super) mod player;
pub(super) mod script;

use std::sync::Arc;

use mnemal::ports::EventStore;
use mnemal::types::InstallationKey;
use mnemal::{Engine, Memory, Result, Scope, Settings, SpaceId};
use mnemal_core::{Embedder, LearningStore, ModelId};
use mnemal_store::{Durability, Options, SqliteStore};
use mnemal_testkit::HashEmbedder;
use mnemal_testkit::vfs::{FaultyDisk, VFS};

/// The file of the space.
const FILE: &str = "space.db";
/// Most time for one part of an answer, in milliseconds; a slow machine is not what is looked for. Source: own default.
const PART_DEADLINE_MS: u64 = 20_000;
/// Numbers of a vector. Source: own default, the fewest that a model has.
const DIMENSIONS: usize = 16;

/// An open space: the store for direct access, and the engine over it.
#[derive(Debug)]
pub(super) struct Space {
    pub(super) store: SqliteStore,
    pub(super) memory: Memory,
}

impl Space {
    /// Opens the space of a disk, or creates it, and finishes interrupted work.
    pub(super) async fn open(disk: &FaultyDisk, durability: Durability) -> Result<Self> {
        let options = Options { durability, readers: 2, vfs: Some(VFS) };
        let store = SqliteStore::open_with(disk.path(FILE), options).await?;
        match Self::over(store.clone()).await {
            Ok(memory) => Ok(Self { store, memory }),
            Err(error) => {
                // What opening said is the answer, not what closing says.
                drop(store.close().await);
                Err(error)
            }
        }
    }

    async fn over(store: SqliteStore) -> Result<Memory> {
        let model = ModelId::new("hash")?;
        let embedder: Arc<dyn Embedder> = Arc::new(HashEmbedder::new(model, DIMENSIONS));
        let mut settings = Settings::default();
        settings.recall.part_deadline_ms = PART_DEADLINE_MS;
        let engine = Engine::builder()
            .with_stores(store)
            .with_key(InstallationKey::new([7; 32]))
            .with_embedder(embedder)
            .with_settings(settings)
            .build()?;
        engine.finish_forgets().await?;
        Ok(engine.memory(Scope::whole(SpaceId::new("space")?)))
    }

    /// Returns the log and the notes as ports.
    pub(super) fn ports(&self) -> (Arc<dyn EventStore>, Arc<dyn LearningStore>) {
        (Arc::new(self.store.clone()), Arc::new(self.store.clone()))
    }
}
