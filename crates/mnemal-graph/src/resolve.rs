//! From names in a text to entities: the ladder.
//!
//! A name resolves by its key, never by a part of a word and never by a vector. A short form resolves to the bearer of a full
//! name. Who of several is meant, the company says in which the name stands; where that does not tell, it stays unresolved.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{EntityId, EntityKind, NewEvent, Timestamp};

use crate::forms::family_first;
use crate::index::{Called, How, Meant};
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
    /// How many names the same event says.
    pub(crate) n_names: usize,
}

/// What was named together with what, by entity.
pub(crate) type Company = BTreeMap<EntityId, BTreeSet<EntityId>>;

/// Returns whom a name can mean; more than one need a look at their company, and one who is hardly sure too.
pub(crate) fn candidates(names: &Names, text: &str, said: EntityKind) -> Meant {
    let key = name_key(text, said);
    names.meant(Called { text, key: &key, kind: said })
}

/// Returns whom a role can mean, of anybody: those who can have the name, or all who have the role where no name is said.
pub(crate) fn relatives(names: &Names, role: &str, name: Option<&str>) -> Vec<EntityId> {
    let role = role::normal(role);
    let kind = kind_in(&role);
    match name.filter(|name| !name_key(name, kind).is_empty()) {
        Some(name) => candidates(names, name, kind).into_keys().collect(),
        None => names.holders(&role).collect(),
    }
}

/// Returns what somebody in a role is.
fn kind_in(role: &str) -> EntityKind {
    if role::is_animal(role) { EntityKind::Animal } else { EntityKind::Person }
}

/// Returns those of the candidates for whom the name is enough, or else the scene: they were named with somebody who stands here,
/// or in this conversation, where nobody else stands here who would have to be near them.
fn likely(names: &Names, found: Meant, company: &Company, scene: &Scene) -> Meant {
    let with: BTreeSet<EntityId> = scene.with.iter().map(|id| names.canon(*id)).collect();
    let is_near = |id: EntityId| {
        names.same_as(id).iter().any(|part| {
            let mut near = company.get(part).into_iter().flatten();
            let is_alone = scene.n_names <= 1;
            is_alone && scene.named.contains_key(part) || near.any(|near| with.contains(&names.canon(*near)))
        })
    };
    found.into_iter().filter(|(id, how)| *how != How::Doubtful || is_near(*id)).collect()
}

/// Returns the one that is meant, of those who are likely; `None` when nobody is, or when nobody can tell.
///
/// Those who share the most company here come first, then the one that was named last in this conversation, or, of those who
/// share a part of their names, the only one that was named in it; where that does not tell, one who was called so before
/// those who only could be.
fn choose(names: &Names, found: &Meant, company: &Company, scene: &Scene) -> Option<EntityId> {
    // Those who are taken for one are one; a part of it that is not the whole is kept apart below.
    let mut wholes: BTreeMap<EntityId, (EntityId, How)> = BTreeMap::new();
    for (id, how) in found {
        let canon = names.canon(*id);
        let (part, best) = wholes.entry(canon).or_insert((*id, *how));
        if *part == canon {
            *part = *id;
        }
        *best = (*how).max(*best);
    }
    if let (Some((part, _)), 1) = (wholes.values().next(), wholes.len()) {
        return Some(*part);
    }
    // One of them who stands here by another name is no company that tells: he may be named twice, or stand beside his brother.
    let with = scene.with.iter().map(|id| names.canon(*id)).filter(|id| !wholes.contains_key(id));
    let with: BTreeSet<EntityId> = with.collect();
    // Who of several was named last tells of a whole name alone: a first name that several bear is a guess.
    let is_shared_part = wholes.values().all(|(_, how)| *how < How::Whole);
    let rank = |canon: &EntityId| {
        let parts = names.same_as(*canon);
        let near = parts.iter().filter_map(|id| company.get(id)).flatten().map(|id| names.canon(*id));
        let near: BTreeSet<EntityId> = near.filter(|id| with.contains(id)).collect();
        let last = parts.iter().filter_map(|id| scene.named.get(id)).max().copied();
        (near.len(), last.map(|at| if is_shared_part { Timestamp::EPOCH } else { at }))
    };
    let ranks = wholes.iter().map(|(canon, (part, how))| (rank(canon), *how > How::Short, *part));
    let ranks: Vec<_> = ranks.collect();
    let (best, is_said, part) = ranks.iter().max_by_key(|(rank, is_said, _)| (*rank, *is_said))?;
    let is_alone = ranks.iter().filter(|(rank, said, _)| (rank, said) == (best, is_said)).count() == 1;
    is_alone.then_some(*part)
}

/// Returns the entity of a name, made if nobody is known by it; `None` when nobody can tell who is meant.
pub(crate) fn named(
    names: &mut Names,
    (text, kind): (&str, EntityKind),
    company: &Company,
    scene: &Scene,
    said: Said<'_>,
) -> Option<EntityId> {
    let key = name_key(text, kind);
    if key.is_empty() {
        return None;
    }
    let called = Called { text, key: &key, kind };
    let mut meant = names.meant(called);
    for (id, how) in &mut meant {
        // A dog has the name of a person, and a team that of a tool, more often than one is taken for the other.
        if names.get(*id).is_some_and(|entity| kind::differ(entity.kind, kind)) {
            *how = How::Doubtful;
        }
    }
    let found = likely(names, meant, company, scene);
    if is_introduced(names, called, &found, company, scene) {
        return Some(one_more(names, called, said));
    }
    let id = if found.is_empty() {
        let is_taken = !names.named(called).is_empty();
        let own = if is_taken { format!("{key} {}", kind.as_str()) } else { key.clone() };
        names.make(&own, kind, text, said)
    } else {
        choose(names, &found, company, scene)?
    };
    if is_name_of(id, &found) {
        names.call(id, called, said);
    }
    Some(id)
}

/// Returns an entity that is made because the text says that it is another one of this name; the same as [`named`] where nobody
/// bears it yet.
pub(crate) fn another(
    names: &mut Names,
    (text, kind): (&str, EntityKind),
    company: &Company,
    scene: &Scene,
    said: Said<'_>,
) -> Option<EntityId> {
    let key = name_key(text, kind);
    let called = Called { text, key: &key, kind };
    if key.is_empty() || names.named(called).is_empty() {
        return named(names, (text, kind), company, scene, said);
    }
    Some(one_more(names, called, said))
}

/// Makes one more bearer of a name; how many there are is a part of the key.
fn one_more(names: &mut Names, called: Called<'_>, said: Said<'_>) -> EntityId {
    let own = format!("{} {}", called.key, names.named(called).len() + 1);
    let id = names.make(&own, called.kind, called.text, said);
    names.call(id, called, said);
    id
}

/// Names of one event, beside that of somebody, that are company enough to tell him from another one of his name; as many must
/// be known of the other. Source: own choice (ADR 33).
const TELLING: usize = 2;

/// Whether a full name introduces somebody who is not the one bearer of it who is known: it is said in full once more, in
/// another conversation, among names none of which was ever said with him or with those who stand near him.
///
/// Who speaks of one and the same person again mostly does not say the whole name, or says it in company that is known.
fn is_introduced(names: &Names, called: Called<'_>, found: &Meant, company: &Company, scene: &Scene) -> bool {
    let is_full = called.key.contains(' ') || family_first(called.key).is_some();
    let (Some((id, How::Whole)), 1) = (found.first_key_value(), found.len()) else { return false };
    if !is_full || called.kind != EntityKind::Person || scene.n_names <= TELLING {
        return false;
    }
    let parts = names.same_as(*id);
    let of = |ids: &BTreeSet<EntityId>| -> BTreeSet<EntityId> {
        let near = ids.iter().filter_map(|id| company.get(id)).flatten();
        near.map(|id| names.canon(*id)).collect()
    };
    let own = of(&parts);
    let is_near = |id: &EntityId| own.contains(&names.canon(*id)) || parts.contains(id);
    let is_tied =
        |id: &EntityId| !parts.contains(id) && (is_near(id) || of(&names.same_as(*id)).iter().any(is_near));
    own.len() >= TELLING && !scene.named.keys().any(is_near) && !scene.with.iter().any(is_tied)
}

/// Whether a name that was said is a name of the one who is meant. A part of a name is none, or the next bearer would never get
/// it; a slip and a name in a case are none either.
fn is_name_of(id: EntityId, found: &Meant) -> bool {
    found.get(&id).is_none_or(|how| matches!(how, How::Whole | How::Short))
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
    let kind = kind_in(&role);
    let holders = names.in_role(who.owner, &role);
    let Some(name) = who.name.filter(|name| !name_key(name, kind).is_empty()) else {
        let id = if let Some(holders) = holders {
            let holders = holders.all().iter().map(|id| (*id, How::Whole)).collect();
            choose(names, &holders, company, scene)?
        } else {
            let key = format!("{} {role}", who.owner);
            names.make(&key, kind, &role, said)
        };
        names.engage(id, who.owner, &role, said);
        return Some((id, None));
    };
    let key = name_key(name, kind);
    let called = Called { text: name, key: &key, kind };
    let mut known = likely(names, names.meant(called), company, scene);
    known.retain(|id, _| names.can_be(*id, who.owner, &role));
    let nameless = holders.and_then(|holders| names.nameless(holders));
    let holder = holders.and_then(|holders| known.keys().copied().find(|id| holders.all().contains(id)));
    let (id, other) = match (holder, nameless) {
        (Some(holder), _) => (holder, None),
        (None, Some(nameless)) => match choose(names, &known, company, scene) {
            Some(known) => (known, Some(nameless)),
            None => (nameless, None),
        },
        (None, None) => {
            let known = choose(names, &known, company, scene);
            (known.unwrap_or_else(|| newcomer(names, called, (who.owner, &role), said)), None)
        }
    };
    names.engage(id, who.owner, &role, said);
    if names.is_nameless(id) || is_name_of(id, &known) {
        names.call(id, called, said);
    }
    Some((id, other))
}

/// Makes somebody of a name and a role; a second bearer of the name has the role in the key.
fn newcomer(
    names: &mut Names,
    name: Called<'_>,
    (owner, role): (EntityId, &str),
    said: Said<'_>,
) -> EntityId {
    let is_taken = !names.named(name).is_empty();
    let own = if is_taken { format!("{} {owner} {role}", name.key) } else { name.key.to_owned() };
    names.make(&own, name.kind, name.text, said)
}

/// Whether a label of a speaker says no more than that it is the user.
pub(crate) fn is_user(label: &str) -> bool {
    mnemal_extract::speaker_label(label) == Some(mnemal_extract::SpeakerLabel::User)
}

/// Returns the entity of the one who speaks: by the name of the speaker, else of the person, else of the space. A label that is no
/// name says nothing.
pub(crate) fn speaker(names: &mut Names, said: Said<'_>) -> EntityId {
    let kept = said.event.kept();
    let name = kept.and_then(|kept| kept.speaker.as_ref()).map(mnemal_core::Speaker::as_str);
    if let Some(name) = name.filter(|name| !names.is_user(name)) {
        let key = name_key(name, EntityKind::Person);
        let called = Called { text: name, key: &key, kind: EntityKind::Person };
        let known = names.named(called);
        let id = match (known.first(), known.len()) {
            (Some(only), 1) => *only,
            _ => names.make(&key, EntityKind::Person, name, said),
        };
        names.call(id, called, said);
        return id;
    }
    let user = kept.and_then(|kept| kept.user.as_ref()).map_or("", mnemal_core::UserId::as_str);
    let key = self_key(user);
    names.make(&key, EntityKind::Person, if user.is_empty() { "user" } else { user }, said)
}

/// Returns who speaks, if anything is known of him.
pub(crate) fn known_speaker(names: &Names, kept: &NewEvent) -> Option<EntityId> {
    let name = kept.speaker.as_ref().map(mnemal_core::Speaker::as_str);
    if let Some(name) = name {
        let key = name_key(name, EntityKind::Person);
        let known = names.named(Called { text: name, key: &key, kind: EntityKind::Person });
        return known.first().copied().filter(|_| known.len() == 1);
    }
    let key = self_key(kept.user.as_ref().map_or("", mnemal_core::UserId::as_str));
    let id = EntityId(mnemal_core::named_id("entity", &[kind::class(EntityKind::Person), &key]));
    names.get(id).map(|_| id)
}

/// Stands before the key of one who speaks without a name; no folded name begins with it.
const SELF: &str = "\u{1f}";
/// What a speaker is called who is nobody but the user.
pub(crate) const USER: &str = "user";

fn self_key(user: &str) -> String {
    format!("{SELF}{user}")
}

/// Returns the entities that the one who asks has where he speaks: without a name, and as "user".
pub(crate) fn speaker_ids(user: Option<&mnemal_core::UserId>) -> [EntityId; 2] {
    let own = self_key(user.map_or("", mnemal_core::UserId::as_str));
    [own.as_str(), USER]
        .map(|key| EntityId(mnemal_core::named_id("entity", &[kind::class(EntityKind::Person), key])))
}

/// Returns the id of the one who speaks without a name.
pub fn speaker_id(user: Option<&mnemal_core::UserId>) -> EntityId {
    let [own, _] = speaker_ids(user);
    own
}

/// Returns the id of what would be made of a name of this kind, if nobody were known by it.
pub fn name_id(name: &str, kind: EntityKind) -> EntityId {
    EntityId(mnemal_core::named_id("entity", &[kind::class(kind), &name_key(name, kind)]))
}

/// Returns the kind of which a name has this id; `None` for an id that is made of anything else.
pub(crate) fn kind_by_id(name: &str, id: EntityId) -> Option<EntityKind> {
    let has_key = |kind: &EntityKind| !name_key(name, *kind).is_empty();
    EntityKind::ALL.into_iter().filter(has_key).find(|kind| name_id(name, *kind) == id)
}

/// Whether a kind can be that of somebody.
pub(crate) fn is_who(kind: EntityKind) -> bool {
    kind::class(kind) == "who"
}
