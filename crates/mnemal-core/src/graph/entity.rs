//! Entities with their names, roles and merges.

use crate::{EntityId, EntityKind, EventId, Producer, Timestamp};

/// An entity: something with a name, or with a role for another entity: "my sister".
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Derived from its class and the key of its name.
    pub id: EntityId,
    /// Its kind, from the most specific of its mentions.
    pub kind: EntityKind,
    /// The extractor's own word for that kind, as first given, where its scheme differs.
    pub kind_word: Option<String>,
    /// Its display name.
    pub name: String,
    /// Its display name while it has no name.
    pub made_as: String,
    /// Its names, by key; empty for an entity that has only a role.
    pub names: Vec<EntityName>,
    /// Names chosen by a person, oldest first; the last one that was not undone is the display name.
    pub chosen: Vec<EntityName>,
    /// Its roles, in lower case: the owner and `sister`.
    pub roles: Vec<(EntityId, String)>,
    /// Its merges; the last one without an end is current. They follow from the ties of all entities.
    pub merges: Vec<EntityMerge>,
    /// Statements about its identity with other entities, without undone ones; in the order of the log.
    pub identity_claims: Vec<IdentityClaim>,
    /// Events that name or describe it, as far as they were read for it; never empty.
    pub sources: Vec<EventId>,
    /// Notes and other decisions that name it, where nothing else does; empty for an entity that was also named otherwise. The
    /// entity is removed when all of them are undone.
    pub decisions: Vec<NamingDecision>,
    /// Start of belief time; `recorded_at` of its event.
    pub created_at: Timestamp,
    /// Its producer.
    pub producer: Producer,
}

impl Entity {
    /// Whether it is known at a belief time: it was named by then, and not only by decisions that were undone by then.
    pub fn is_known_at(&self, belief: Timestamp) -> bool {
        let is_left = |by: &NamingDecision| by.expired_at.is_none_or(|end| belief < end);
        self.created_at <= belief && (self.decisions.is_empty() || self.decisions.iter().any(is_left))
    }

    /// Returns the entity into which it is merged as of a belief time, if any.
    pub fn merged_into_at(&self, belief: Timestamp) -> Option<EntityId> {
        let holds = |merge: &&EntityMerge| {
            merge.created_at <= belief && merge.expired_at.is_none_or(|end| belief < end)
        };
        self.merges.iter().rev().find(holds).map(|merge| merge.into)
    }
}

/// A decision that names an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamingDecision {
    /// The decision.
    pub decision: EventId,
    /// Belief time of the undo.
    pub expired_at: Option<Timestamp>,
}

/// A name of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityName {
    /// As first written.
    pub text: String,
    /// Its lookup key: folded, without titles and endings.
    pub key: String,
    /// The event that introduced it.
    pub source: EventId,
    /// Time of that statement.
    pub occurred_at: Timestamp,
    /// Start of belief time.
    pub recorded_at: Timestamp,
    /// End of belief time, if it was undone.
    pub expired_at: Option<Timestamp>,
}

impl EntityName {
    /// Whether it was known as of a belief time.
    pub fn is_known_at(&self, belief: Timestamp) -> bool {
        self.recorded_at <= belief && self.expired_at.is_none_or(|end| belief < end)
    }
}

/// A statement about the identity of two entities, each as it is before merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityClaim {
    /// The other entity; of merged entities, the one that represents them.
    pub other: EntityId,
    /// The statement.
    pub kind: IdentityKind,
    /// The event that states it.
    pub source: EventId,
    /// Its position among all ties of the space: later statements have greater numbers.
    pub ordinal: u32,
}

/// The statement of a tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityKind {
    /// A text shows that the two are one; a person's split overrides it.
    Read,
    /// A person merged the two.
    Merged,
    /// A person split the two.
    Split,
}

impl IdentityKind {
    /// Returns the name in stored rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Merged => "merged",
            Self::Split => "split",
        }
    }

    /// Parses a stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Read, Self::Merged, Self::Split].into_iter().find(|one| one.as_str() == name)
    }
}

/// A merge of two entities, with belief time like a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityMerge {
    /// The entity that represents both.
    pub into: EntityId,
    /// The event that states it.
    pub source: EventId,
    /// Start of belief time.
    pub created_at: Timestamp,
    /// End of belief time.
    pub expired_at: Option<Timestamp>,
}

impl EntityMerge {
    /// Whether it is still believed.
    pub fn holds(&self) -> bool {
        self.expired_at.is_none()
    }
}
