//! The port of the knowledge graph.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    AsOf, Edition, Entity, EntityFilter, EntityId, Fact, FactFilter, GraphDelta, MentionFilter, MentionRow,
    Projection, Result,
};

/// Entities, facts and mentions.
///
/// Guarantees: a row that rests on an erased event is deleted with the erase, and is not written afterwards; the projector
/// derives again what also rests on other events. A query of `facts` by subject and predicate, and of `entities` by id or key,
/// costs in proportion to its result, whatever the size of the rest.
/// Not guaranteed: any check of the rows' content, which is the projector's task.
#[async_trait]
pub trait GraphStore: Projection<GraphDelta> {
    /// Returns the edition of the rows; without a producer if none were ever written.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn edition(&self) -> Result<Edition>;

    /// Returns the entities that pass the filter, by id. They are shared, as facts are: an entity that is named often has
    /// thousands of source events.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn entities(&self, filter: &EntityFilter) -> Result<Vec<Arc<Entity>>>;

    /// Returns the facts that pass the filter, hold and are believed as of a moment, each with the supports known then, in the
    /// order of [`facts_as_of`](crate::facts_as_of); disputed ones included, rejected ones not. They are shared: a context asks
    /// for hundreds of facts and shows few.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn facts(&self, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Arc<Fact>>>;

    /// Returns those of the facts about these entities, or with them as object, that hold and are believed as of a moment, in
    /// the order of [`facts`](Self::facts). Only the `most` strongest believed ones, as
    /// [`strongest_facts`](crate::strongest_facts) defines them, are considered.
    ///
    /// With [the present](AsOf::is_present) as belief time it costs as much as `of` and `most`, however many facts an entity
    /// has.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn strongest(&self, of: &[EntityId], most: NonZeroUsize, as_of: AsOf) -> Result<Vec<Fact>>;

    /// Returns every version of the facts that pass the filter, whatever its status and its times, by belief time and id.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn history(&self, filter: &FactFilter) -> Result<Vec<Fact>>;

    /// Returns the versions that no later one replaced, whatever their world time: the state from which a projector continues;
    /// by id.
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
