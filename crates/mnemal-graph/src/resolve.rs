//! From names in a text to entities: the ladder.
//!
//! A name resolves by its key, never by a part of a word and never by a vector. A short form resolves to the bearer of a full
//! name. Who of several is meant, the company says in which the name stands; where that does not tell, it stays unresolved.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{EntityId, EntityKind, Timestamp};

use crate::key::name_key;
use crate::kind;
use crate::names::{Names, Said};
use crate::role;

/// What is known of the place where a name stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    /// What the same event names, as far as it is resolved.
    pub(crate) with: BTreeSet<EntityId>,
    /// What this conversation named before, and when last.
    pub(crate) named: BTreeMap<EntityId, Timestamp>,
}

/// What was named together with what, by entity.
pub(crate) type Company = BTreeMap<EntityId, BTreeSet<EntityId>>;

/// Returns whom a name can mean; more than one need a look at their company.
pub(crate) fn candidates(names: &Names, text: &str, said: EntityKind) -> BTreeSet<EntityId> {
    let key = name_key(text, said);
    let mut found = names.named(&key, said);
    if is_short(&key) {
        found.extend(names.bearers(&key, said));
    }
    found
}

/// A name of one word may be the short form of another.
fn is_short(key: &str) -> bool {
    !key.contains(char::is_whitespace)
}

/// Returns the one that is meant; `None` when nobody is known, or when nobody can tell.
pub(crate) fn choose(
    names: &Names,
    found: &BTreeSet<EntityId>,
    company: &Company,
    scene: &Scene,
) -> Option<EntityId> {
    // Those who are taken for one are one; a part of it that is not the whole is kept apart below.
    let mut wholes: BTreeMap<EntityId, EntityId> = BTreeMap::new();
    for id in found {
        let canon = names.canon(*id);
        let part = wholes.entry(canon).or_insert(*id);
        if *part == canon {
            *part = *id;
        }
    }
    if let (Some(part), 1) = (wholes.values().next(), wholes.len()) {
        return Some(*part);
    }
    let with: BTreeSet<EntityId> = scene.with.iter().map(|id| names.canon(*id)).collect();
    let rank = |canon: &EntityId| {
        let parts = names.same_as(*canon);
        let near = parts.iter().filter_map(|id| company.get(id)).flatten().map(|id| names.canon(*id));
        let near: BTreeSet<EntityId> = near.filter(|id| with.contains(id)).collect();
        (near.len(), parts.iter().filter_map(|id| scene.named.get(id)).max().copied())
    };
    let ranks: Vec<_> = wholes.iter().map(|(canon, part)| (rank(canon), *part)).collect();
    let best = ranks.iter().max_by_key(|(rank, _)| *rank)?;
    let is_alone = ranks.iter().filter(|(rank, _)| *rank == best.0).count() == 1;
    is_alone.then_some(best.1)
}

/// Returns the entity of a name, made if nobody is known by it; `None` when nobody can tell who is meant.
pub(crate) fn named(
    names: &mut Names,
    (text, said_kind): (&str, EntityKind),
    company: &Company,
    scene: &Scene,
    said: Said<'_>,
) -> Option<EntityId> {
    let found = candidates(names, text, said_kind);
    let key = name_key(text, said_kind);
    if key.is_empty() {
        return None;
    }
    let id = if found.is_empty() {
        names.make(&key, said_kind, text, said)
    } else {
        choose(names, &found, company, scene)?
    };
    // A short form is no name of its own: the next bearer would never get it.
    if !is_short(&key) || names.named(&key, said_kind).contains(&id) || found.is_empty() {
        names.call(id, text, said_kind, said);
    }
    Some(id)
}

/// Somebody of somebody: "my sister", "my sister Anna".
#[derive(Clone, Copy, Debug)]
pub(crate) struct Related<'t> {
    pub(crate) owner: EntityId,
    pub(crate) role: &'t str,
    pub(crate) name: Option<&'t str>,
}

/// Returns the entity that has a role for somebody, and what else it turned out to be, which is to be joined with it.
pub(crate) fn related(
    names: &mut Names,
    who: Related<'_>,
    company: &Company,
    scene: &Scene,
    said: Said<'_>,
) -> Option<(EntityId, Option<EntityId>)> {
    let role = role::normal(who.role);
    let kind = if role::is_animal(&role) { EntityKind::Animal } else { EntityKind::Person };
    let holders = names.in_role(who.owner, &role);
    let Some(name) = who.name.filter(|name| !name_key(name, kind).is_empty()) else {
        let id = if holders.is_empty() {
            let key = format!("{} {role}", who.owner);
            names.make(&key, kind, &role, said)
        } else {
            choose(names, &holders, company, scene)?
        };
        names.engage(id, who.owner, &role, said);
        return Some((id, None));
    };
    let key = name_key(name, kind);
    let known: BTreeSet<EntityId> =
        candidates(names, name, kind).into_iter().filter(|id| names.can_be(*id, who.owner, &role)).collect();
    let nameless = holders.iter().copied().find(|id| names.is_nameless(*id));
    let holder = holders.intersection(&known).next().copied();
    let (id, other) = match (holder, nameless) {
        (Some(holder), _) => (holder, None),
        (None, Some(nameless)) => match choose(names, &known, company, scene) {
            Some(known) => (known, Some(nameless)),
            None => (nameless, None),
        },
        (None, None) => {
            let known = choose(names, &known, company, scene);
            (known.unwrap_or_else(|| newcomer(names, &key, (name, kind), (who.owner, &role), said)), None)
        }
    };
    names.engage(id, who.owner, &role, said);
    if names.named(&key, kind).contains(&id) || names.is_nameless(id) || !is_short(&key) {
        names.call(id, name, kind, said);
    }
    Some((id, other))
}

/// Makes somebody of a name and a role; a second bearer of the name has the role in the key.
fn newcomer(
    names: &mut Names,
    key: &str,
    (name, kind): (&str, EntityKind),
    (owner, role): (EntityId, &str),
    said: Said<'_>,
) -> EntityId {
    let is_taken = !names.named(key, kind).is_empty();
    let own = if is_taken { format!("{key} {owner} {role}") } else { key.to_owned() };
    names.make(&own, kind, name, said)
}

/// Returns the entity of the one who speaks: by the name of the speaker, else of the person, else of the space.
pub(crate) fn speaker(names: &mut Names, said: Said<'_>) -> EntityId {
    let kept = said.event.kept();
    let name = kept.and_then(|kept| kept.speaker.as_ref()).map(mnemal_core::Speaker::as_str);
    if let Some(name) = name {
        let key = name_key(name, EntityKind::Person);
        let known = names.named(&key, EntityKind::Person);
        let id = match (known.first(), known.len()) {
            (Some(only), 1) => *only,
            _ => names.make(&key, EntityKind::Person, name, said),
        };
        names.call(id, name, EntityKind::Person, said);
        return id;
    }
    let user = kept.and_then(|kept| kept.user.as_ref()).map_or("", mnemal_core::UserId::as_str);
    let key = format!("{SELF}{user}");
    names.make(&key, EntityKind::Person, if user.is_empty() { "user" } else { user }, said)
}

/// Stands before the key of one who speaks without a name; no folded name begins with it.
const SELF: &str = "\u{1f}";

/// Whether a kind can be that of somebody.
pub(crate) fn is_who(kind: EntityKind) -> bool {
    kind::class(kind) == "who"
}
