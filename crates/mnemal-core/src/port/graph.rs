//! The port of structured knowledge.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    AsOf, Edition, Entity, EntityFilter, EntityId, Fact, FactFilter, GraphDelta, MentionFilter, MentionRow,
    Projection, Result,
};

/// Entities, facts and mentions.
///
/// Guarantees: a row that rests on an erased event is gone with the erase, and is not written afterwards; the projector
/// derives again what rests on others too. What `facts` asks for by subject and predicate, and
/// `entities` by id or key, costs as much as there is of that, however large the rest is.
/// Not guaranteed: any check of what the rows say; they are a projector's.
#[async_trait]
pub trait GraphStore: Projection<GraphDelta> {
    /// Returns what the rows as a whole are; without a producer where none were ever written.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn edition(&self) -> Result<Edition>;

    /// Returns the entities that pass the filter, by id. They are shared, as facts are: one that is named often rests on
    /// thousands of events.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn entities(&self, filter: &EntityFilter) -> Result<Vec<Arc<Entity>>>;

    /// Returns the facts that pass the filter, hold and are believed as of a moment, each with the supports that were known
    /// then, as [`facts_as_of`](crate::facts_as_of) orders them; disputed ones too, rejected ones not.
    /// They are shared: a context asks for hundreds of facts and shows few.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn facts(&self, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Arc<Fact>>>;

    /// Returns those of the facts about these entities, or leading to them, that hold and are believed as of a moment, ordered
    /// as by [`facts`](Self::facts). Looked at are the `most` that stand first, as [`strongest_facts`](crate::strongest_facts)
    /// says, among those believed.
    ///
    /// For a moment whose belief is [the present](AsOf::is_present) it costs as much as `of` and `most`, however much is known
    /// of one of them.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn strongest(&self, of: &[EntityId], most: NonZeroUsize, as_of: AsOf) -> Result<Vec<Fact>>;

    /// Returns every version of the facts that pass the filter, whatever its status and its times, by belief time and id.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn history(&self, filter: &FactFilter) -> Result<Vec<Fact>>;

    /// Returns the versions that no later one replaced, whatever the world: what a projector goes on from; by id.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn believed(&self, filter: &FactFilter) -> Result<Vec<Fact>>;

    /// Returns the mentions that pass the filter, by event and entity.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn mentions(&self, filter: &MentionFilter) -> Result<Vec<MentionRow>>;
}
