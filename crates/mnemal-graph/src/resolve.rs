//! Entity resolution: from names in a text to entities.
//!
//! A name resolves by its key, never by a part of a word and never by a vector. A short form resolves to the entity with
//! the full name. Among several candidates the co-occurring names decide; if they do not, the mention stays unresolved.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{EntityId, EntityKind, NewEvent, Timestamp, named_id};

use crate::forms::family_first;
use crate::index::{MatchQuality, NameCandidates, NameMention};
use crate::key::name_key;
use crate::kind;
use crate::names::{Names, Statement};
use crate::role;

/// The context of a name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    /// Entities of the same event that are resolved so far.
    pub(crate) with: BTreeSet<EntityId>,
    /// Entities that the session mentioned before, and when last.
    pub(crate) named: BTreeMap<EntityId, Timestamp>,
    /// Number of names in the same event.
    pub(crate) n_names: usize,
}

/// Co-occurring entities, by entity.
pub(crate) type CooccurrenceMap = BTreeMap<EntityId, BTreeSet<EntityId>>;

/// Returns the candidates for a name; several candidates, and a single uncertain one, need a look at co-occurrences.
pub(crate) fn candidates(names: &Names, text: &str, said: EntityKind) -> NameCandidates {
    let key = name_key(text, said);
    names.candidates(NameMention { text, key: &key, kind: said })
}

/// Returns the candidates for a role of any entity: those with the given name, or all bearers of the role where no name is
/// given.
pub(crate) fn relatives(names: &Names, role: &str, name: Option<&str>) -> Vec<EntityId> {
    let role = role::normal(role);
    let kind = kind_in(&role);
    match name.filter(|name| !name_key(name, kind).is_empty()) {
        Some(name) => candidates(names, name, kind).into_keys().collect(),
        None => names.holders(&role).collect(),
    }
}

/// Returns the entity that has a role for another as long as nothing gives it a name: "my daughter".
pub(crate) fn unnamed_id(owner: EntityId, role: &str) -> EntityId {
    let role = role::normal(role);
    EntityId(named_id("entity", &[kind::class(kind_in(&role)), &unnamed_key(owner, &role)]))
}

fn unnamed_key(owner: EntityId, role: &str) -> String {
    format!("{owner} {role}")
}

/// Returns the kind of a role's bearer.
fn kind_in(role: &str) -> EntityKind {
    if role::is_animal(role) { EntityKind::Animal } else { EntityKind::Person }
}

/// Returns the candidates confirmed by the name alone, or by the scene: they co-occurred with an entity mentioned here, or
/// occur in this session and no other entity here should have co-occurred with them.
fn likely(names: &Names, found: NameCandidates, company: &CooccurrenceMap, scene: &Scene) -> NameCandidates {
    // Most names are certain, and the scene is asked about none of them.
    let with: LazyCell<BTreeSet<EntityId>, _> =
        LazyCell::new(|| scene.with.iter().map(|id| names.canon(*id)).collect());
    let is_near = |id: EntityId| {
        names.same_as(id).iter().any(|part| {
            let mut near = company.get(part).into_iter().flatten();
            let is_alone = scene.n_names <= 1;
            is_alone && scene.named.contains_key(part) || near.any(|near| with.contains(&names.canon(*near)))
        })
    };
    found.into_iter().filter(|(id, how)| *how != MatchQuality::Doubtful || is_near(*id)).collect()
}

/// Returns the entity that is meant among the likely ones; `None` when there is none, or the context does not decide.
///
/// The order: most co-occurrences with this scene; then the last mentioned in this session, or, among bearers of a shared
/// name part, the only one mentioned in it; then an entity that had the name before over one that only could have it.
fn choose(
    names: &Names,
    found: &NameCandidates,
    company: &CooccurrenceMap,
    scene: &Scene,
) -> Option<EntityId> {
    // Merged entities count as one; a partial match of one of them is kept apart below.
    let mut wholes: BTreeMap<EntityId, (EntityId, MatchQuality)> = BTreeMap::new();
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
    // A candidate mentioned here by another name is no evidence: it may be named twice, or stand next to a brother.
    let with = scene.with.iter().map(|id| names.canon(*id)).filter(|id| !wholes.contains_key(id));
    let with: BTreeSet<EntityId> = with.collect();
    // The last-mentioned rule applies to whole names only: a first name shared by several would be a guess.
    let is_shared_part = wholes.values().all(|(_, how)| *how < MatchQuality::Whole);
    let rank = |canon: &EntityId| {
        let parts = names.same_as(*canon);
        let near = parts.iter().filter_map(|id| company.get(id)).flatten().map(|id| names.canon(*id));
        let near: BTreeSet<EntityId> = near.filter(|id| with.contains(id)).collect();
        let last = parts.iter().filter_map(|id| scene.named.get(id)).max().copied();
        (near.len(), last.map(|at| if is_shared_part { Timestamp::EPOCH } else { at }))
    };
    let ranks = wholes.iter().map(|(canon, (part, how))| (rank(canon), *how > MatchQuality::Short, *part));
    let ranks: Vec<_> = ranks.collect();
    let (best, is_said, part) = ranks.iter().max_by_key(|(rank, is_said, _)| (*rank, *is_said))?;
    let is_alone = ranks.iter().filter(|(rank, said, _)| (rank, said) == (best, is_said)).count() == 1;
    is_alone.then_some(*part)
}

/// Returns the entity of a name, created if none is known; `None` when the meaning is ambiguous.
pub(crate) fn resolve_name(
    names: &mut Names,
    (text, kind): (&str, EntityKind),
    company: &CooccurrenceMap,
    scene: &Scene,
    said: Statement<'_>,
) -> Option<EntityId> {
    let key = name_key(text, kind);
    if key.is_empty() {
        return None;
    }
    let called = NameMention { text, key: &key, kind };
    let mut meant = names.candidates(called);
    for (id, how) in &mut meant {
        // A dog has a person's name, and a team a tool's name, more often than one is mistaken for the other.
        if names.get(*id).is_some_and(|entity| kind::differ(entity.kind, kind)) {
            *how = MatchQuality::Doubtful;
        }
    }
    let found = likely(names, meant, company, scene);
    if is_introduced(names, called, &found, company, scene) {
        return Some(one_more(names, called, said));
    }
    let id = if found.is_empty() {
        let is_taken = !names.with_name(called).is_empty();
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

/// Returns a new entity because the text says that it is another bearer of this name; the same as `named` where none has
/// the name yet.
pub(crate) fn another(
    names: &mut Names,
    (text, kind): (&str, EntityKind),
    company: &CooccurrenceMap,
    scene: &Scene,
    said: Statement<'_>,
) -> Option<EntityId> {
    let key = name_key(text, kind);
    let called = NameMention { text, key: &key, kind };
    if key.is_empty() || names.with_name(called).is_empty() {
        return resolve_name(names, (text, kind), company, scene, said);
    }
    Some(one_more(names, called, said))
}

/// Creates one more bearer of a name; the count is part of the key.
fn one_more(names: &mut Names, called: NameMention<'_>, said: Statement<'_>) -> EntityId {
    let own = format!("{} {}", called.key, names.with_name(called).len() + 1);
    let id = names.make(&own, called.kind, called.text, said);
    names.call(id, called, said);
    id
}

/// Other names in an event that suffice to tell a person from another of the same name; as many must be known of the other.
/// Source: own choice (ADR 33).
const TELLING: usize = 2;

/// Whether a full name introduces a new person instead of the one known bearer: it is said in full again, in another
/// session, among names none of which ever occurred with the known bearer or with its co-occurring entities.
///
/// A repeated reference to the same person mostly does not use the whole name, or uses it in known company.
fn is_introduced(
    names: &Names,
    called: NameMention<'_>,
    found: &NameCandidates,
    company: &CooccurrenceMap,
    scene: &Scene,
) -> bool {
    let is_full = called.key.contains(' ') || family_first(called.key).is_some();
    let (Some((id, MatchQuality::Whole)), 1) = (found.first_key_value(), found.len()) else { return false };
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

/// Whether a name in a text is a name of the resolved entity. A part of a name is not, or the next bearer would never get
/// it; neither is a typo or a case form.
fn is_name_of(id: EntityId, found: &NameCandidates) -> bool {
    found.get(&id).is_none_or(|how| matches!(how, MatchQuality::Whole | MatchQuality::Short))
}

/// A related person: "my sister", "my sister Anna".
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelatedPerson<'t> {
    pub(crate) owner: EntityId,
    pub(crate) role: &'t str,
    pub(crate) name: Option<&'t str>,
}

/// Returns the entity with a role for another, and the entities to merge with it.
pub(crate) fn resolve_relative(
    names: &mut Names,
    who: RelatedPerson<'_>,
    company: &CooccurrenceMap,
    scene: &Scene,
    said: Statement<'_>,
) -> Option<(EntityId, Option<EntityId>)> {
    let role = role::normal(who.role);
    let kind = kind_in(&role);
    let holders = names.in_role(who.owner, &role);
    let Some(name) = who.name.filter(|name| !name_key(name, kind).is_empty()) else {
        let id = if let Some(holders) = holders {
            let holders = holders.all().iter().map(|id| (*id, MatchQuality::Whole)).collect();
            choose(names, &holders, company, scene)?
        } else {
            let key = unnamed_key(who.owner, &role);
            names.make(&key, kind, &role, said)
        };
        names.engage(id, who.owner, &role, said);
        return Some((id, None));
    };
    let key = name_key(name, kind);
    let called = NameMention { text: name, key: &key, kind };
    let mut known = likely(names, names.candidates(called), company, scene);
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

/// Creates an entity from a name and a role; a second bearer of the name has the role in its key.
fn newcomer(
    names: &mut Names,
    name: NameMention<'_>,
    (owner, role): (EntityId, &str),
    said: Statement<'_>,
) -> EntityId {
    let is_taken = !names.with_name(name).is_empty();
    let own = if is_taken { format!("{} {owner} {role}", name.key) } else { name.key.to_owned() };
    names.make(&own, name.kind, name.text, said)
}

/// Whether a speaker label only says that it is the user.
pub(crate) fn is_user(label: &str) -> bool {
    mnemal_extract::speaker_label(label) == Some(mnemal_extract::SpeakerLabel::User)
}

/// Returns the entity of the speaker: by the speaker's name, else of the person, else of the space. A label that is not a
/// name is ignored.
pub(crate) fn speaker(names: &mut Names, said: Statement<'_>) -> EntityId {
    let kept = said.event.body();
    let name = kept.and_then(|kept| kept.speaker.as_ref()).map(mnemal_core::Speaker::as_str);
    if let Some(name) = name.filter(|name| !names.is_user(name)) {
        let key = name_key(name, EntityKind::Person);
        let called = NameMention { text: name, key: &key, kind: EntityKind::Person };
        let known = names.with_name(called);
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

/// Returns the speaker's entity, if it exists.
pub(crate) fn known_speaker(names: &Names, kept: &NewEvent) -> Option<EntityId> {
    let name = kept.speaker.as_ref().map(mnemal_core::Speaker::as_str);
    if let Some(name) = name {
        let key = name_key(name, EntityKind::Person);
        let known = names.with_name(NameMention { text: name, key: &key, kind: EntityKind::Person });
        return known.first().copied().filter(|_| known.len() == 1);
    }
    let key = self_key(kept.user.as_ref().map_or("", mnemal_core::UserId::as_str));
    let id = EntityId(named_id("entity", &[kind::class(EntityKind::Person), &key]));
    names.get(id).map(|_| id)
}

/// Prefix of the key of a speaker without a name; no folded name begins with it.
const SELF: &str = "\u{1f}";
/// The displayed name of an unnamed user.
pub(crate) const USER: &str = "user";

fn self_key(user: &str) -> String {
    format!("{SELF}{user}")
}

/// Returns the entities of the asking user: the unnamed speaker, and the one named "user".
pub(crate) fn speaker_ids(user: Option<&mnemal_core::UserId>) -> [EntityId; 2] {
    let own = self_key(user.map_or("", mnemal_core::UserId::as_str));
    [own.as_str(), USER].map(|key| EntityId(named_id("entity", &[kind::class(EntityKind::Person), key])))
}

/// Returns the id of a speaker without a name.
pub fn speaker_id(user: Option<&mnemal_core::UserId>) -> EntityId {
    let [own, _] = speaker_ids(user);
    own
}

/// Returns the id that an entity of this name and kind would get, if the name were new.
pub fn name_id(name: &str, kind: EntityKind) -> EntityId {
    EntityId(named_id("entity", &[kind::class(kind), &name_key(name, kind)]))
}

/// Returns the kind for which a name has this id; `None` for an id with another origin.
pub(crate) fn kind_by_id(name: &str, id: EntityId) -> Option<EntityKind> {
    let has_key = |kind: &EntityKind| !name_key(name, *kind).is_empty();
    EntityKind::ALL.into_iter().filter(has_key).find(|kind| name_id(name, *kind) == id)
}

/// Whether a kind can be that of a person.
pub(crate) fn is_who(kind: EntityKind) -> bool {
    kind::class(kind) == "who"
}
