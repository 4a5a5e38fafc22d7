//! Compatibility of entity kinds.

use mnemal_core::EntityKind;

/// Returns the class of a kind, which is part of an entity's id: finer kinds are guessed by rule and can change.
pub(crate) fn class(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Person | EntityKind::Animal => "who",
        EntityKind::Location => "where",
        _ => "what",
    }
}

/// Whether two kinds can belong to one entity; `Concept` stands for an unknown kind.
pub(crate) fn agree(one: EntityKind, other: EntityKind) -> bool {
    one == EntityKind::Concept || other == EntityKind::Concept || class(one) == class(other)
}

/// Whether two compatible kinds are nevertheless different.
pub(crate) fn differ(one: EntityKind, other: EntityKind) -> bool {
    one != other && !covers(one, other) && !covers(other, one)
}

/// Returns the more specific kind; the known one if both are equally specific.
pub(crate) fn closer(known: EntityKind, said: EntityKind) -> EntityKind {
    if covers(known, said) { said } else { known }
}

/// Whether one kind includes the other.
fn covers(wide: EntityKind, close: EntityKind) -> bool {
    match wide {
        EntityKind::Concept => true,
        EntityKind::Topic => class(close) == class(wide) && close != EntityKind::Concept,
        EntityKind::Product => close == EntityKind::Tool,
        EntityKind::Work => close == EntityKind::Document,
        _ => false,
    }
}

/// Returns the kind under which the rules know a name of this kind.
pub(crate) fn as_read(kind: EntityKind) -> EntityKind {
    match kind {
        EntityKind::Tool => EntityKind::Product,
        EntityKind::Document => EntityKind::Work,
        EntityKind::Project | EntityKind::Topic => EntityKind::Concept,
        _ => kind,
    }
}

/// Whether a mention of this kind becomes an entity; numbers and addresses are values.
pub(crate) fn is_entity(kind: EntityKind) -> bool {
    !matches!(kind, EntityKind::Quantity | EntityKind::Identifier)
}
