//! Entity name table: the index for name resolution, with roles and merges.

mod decision_entities;
mod display_names;
mod identity;

use std::cell::OnceCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use mnemal_core::{
    Entity, EntityId, EntityKind, EntityName, Event, Gazetteer, IdentityClaim, Producer, Timestamp, named_id,
};

use crate::index::{Index, MatchQuality, NameCandidates, NameMention};
use crate::key::title_gender;
use crate::pack::{Gender, packs};
use crate::spelling::squeeze;
use crate::{edit_distance, forms, kind, resolve, role};

pub(crate) use self::identity::{IdentityChange, IdentityStatement};

/// Most characters of a word for a kind; a longer one is ignored. Source: the same limit as for extracted names.
const LONGEST_WORD: usize = 80;

/// Every entity of a space, by name and by role.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    entities: BTreeMap<EntityId, Entity>,
    by_name: Index,
    /// The bearers of a role, by role and by the entity that they have it for.
    by_role: HashMap<String, BTreeMap<EntityId, Holders>>,
    /// Entities ever merged, by the canonical one.
    members: HashMap<EntityId, BTreeSet<EntityId>>,
    /// Identity statements that were not undone, by position, each with its entity.
    claims: BTreeMap<u32, (EntityId, IdentityClaim)>,
    /// The gazetteer that the extractor recognizes.
    gazetteer: Gazetteer,
    /// Entities changed since the last take.
    changed: BTreeSet<EntityId>,
    /// Folded speaker names of the user, from the host's configuration.
    owner: Arc<BTreeSet<String>>,
}

/// The gender that the title in a name indicates, computed on demand.
struct Title<'n> {
    name: NameMention<'n>,
    said: OnceCell<Option<Gender>>,
}

impl<'n> Title<'n> {
    fn of(name: NameMention<'n>) -> Self {
        Self { name, said: OnceCell::new() }
    }

    fn says(&self) -> Option<Gender> {
        *self.said.get_or_init(|| title_gender(self.name.text, self.name.kind))
    }
}

/// The bearers of one role for one person.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    all: BTreeSet<EntityId>,
    /// Those of them without a name of their own.
    unnamed: BTreeSet<EntityId>,
}

impl Holders {
    pub(crate) fn all(&self) -> &BTreeSet<EntityId> {
        &self.all
    }
}

/// The event that states a name, with its time and producer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement<'e> {
    pub(crate) event: &'e Event,
    pub(crate) occurred_at: Timestamp,
    pub(crate) producer: &'e Producer,
}

impl Statement<'_> {
    /// Makes a name given by this event.
    fn name(self, text: &str, key: String) -> EntityName {
        EntityName {
            text: text.to_owned(),
            key,
            source: self.event.id,
            occurred_at: self.occurred_at,
            recorded_at: self.event.recorded_at,
            expired_at: None,
        }
    }
}

impl Names {
    pub(crate) fn from_rows(rows: Vec<Entity>) -> Self {
        let mut names = Self::default();
        for entity in rows {
            let id = entity.id;
            names.entities.insert(id, entity);
            names.index(id);
        }
        names.know_ties();
        names
    }

    /// Sets the names under which the user speaks.
    pub(crate) fn of_owner(self, owner: Arc<BTreeSet<String>>) -> Self {
        Self { owner, ..self }
    }

    /// Returns an empty table with the same settings.
    pub(crate) fn of_nobody(&self) -> Self {
        Self::default().of_owner(Arc::clone(&self.owner))
    }

    /// Whether a speaker label means the user: it is not a name, or one of the user's names.
    pub(crate) fn is_user(&self, label: &str) -> bool {
        resolve::is_user(label) || self.owner.contains(&mnemal_text::fold(label))
    }

    pub(crate) fn gazetteer(&self) -> &Gazetteer {
        &self.gazetteer
    }

    /// Returns the canonical entities, by id.
    pub(crate) fn wholes(&self) -> impl Iterator<Item = &Entity> {
        let is_whole = |entity: &&Entity| entity.merged_into_at(Timestamp::MAX).is_none();
        self.entities.values().filter(is_whole).filter(|entity| entity.is_known_at(Timestamp::MAX))
    }

    /// Returns the name index.
    pub(crate) fn by_name(&self) -> &Index {
        &self.by_name
    }

    pub(crate) fn get(&self, id: EntityId) -> Option<&Entity> {
        self.entities.get(&id)
    }

    /// Returns the entities that changed since the last call.
    pub(crate) fn take_changed(&mut self) -> Vec<Entity> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().filter_map(|id| self.entities.get(&id).cloned()).collect()
    }

    /// Returns how many entities changed since the last take.
    pub(crate) fn n_changed(&self) -> usize {
        self.changed.len()
    }

    /// Returns every entity, by id.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Entity> {
        self.entities.values()
    }

    /// Returns the canonical entity.
    pub(crate) fn canon(&self, id: EntityId) -> EntityId {
        let mut at = id;
        // Merges form no cycle; the bound protects against corrupt rows.
        for _ in 0..self.entities.len() {
            match self.entities.get(&at).and_then(|entity| entity.merged_into_at(Timestamp::MAX)) {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    /// Returns the entities with this name and a compatible kind, unmerged.
    pub(crate) fn with_name(&self, name: NameMention<'_>) -> BTreeSet<EntityId> {
        let said = Title::of(name);
        self.by_name
            .bearing(&squeeze(name.key))
            .into_keys()
            .filter(|id| self.is_fit(*id, name, &said))
            .collect()
    }

    /// Returns the candidates for a name: those with the whole name or a part of it; if there are none, those with an
    /// equivalent form, then those with another case form, then those that differ by one letter.
    pub(crate) fn candidates(&self, name: NameMention<'_>) -> NameCandidates {
        let said = Title::of(name);
        let fit = |mut found: NameCandidates| {
            found.retain(|id, _| self.is_fit(*id, name, &said));
            found
        };
        let mut found = fit(self.by_name.bearing(&squeeze(name.key)));
        // Most names are whole and known; the other forms are only built when needed.
        if !found.is_empty() && name.key.contains(' ') {
            return found;
        }
        let forms = forms::spoken_forms(name.text, name.key, name.kind);
        if found.is_empty() || !name.key.contains(' ') {
            for (id, how) in fit(self.by_name.with_part(&forms)) {
                found.entry(id).or_insert(how);
            }
        }
        if found.is_empty() {
            found = fit(self.by_name.with_variant(&forms));
        }
        if found.is_empty() {
            found = fit(self.by_name.in_other_case(name.key, &forms));
        }
        if found.is_empty() {
            found = fit(self.slips(name, &forms.whole));
        }
        found
    }

    /// Returns the entities of exactly this kind whose name differs by one letter, if that can be a typo.
    fn slips(&self, name: NameMention<'_>, whole: &str) -> NameCandidates {
        let is_who = kind::class(name.kind) == "who";
        let is_slip = |(id, known): &(EntityId, String)| {
            let Some(entity) = self.get(*id).filter(|entity| entity.kind == name.kind) else { return false };
            entity.names.iter().filter(|own| squeeze(&own.key) == *known).all(|own| {
                !edit_distance::are_names(&own.key, name.key)
                    && (!is_who || edit_distance::are_long(&own.key, name.key))
            })
        };
        let found = self.by_name.one_off(whole);
        found.into_iter().filter(is_slip).map(|(id, _)| (id, MatchQuality::Doubtful)).collect()
    }

    /// Returns the bearers of a role for an entity; `None` if there are none.
    pub(crate) fn in_role(&self, owner: EntityId, role: &str) -> Option<&Holders> {
        self.by_role.get(role)?.get(&owner)
    }

    /// Returns the bearers of roles for an entity, each with its role, in order.
    pub(crate) fn people_of(&self, owner: EntityId) -> Vec<(EntityId, &str)> {
        let roles = self.by_role.iter().filter_map(|(role, by_owner)| Some((role, by_owner.get(&owner)?)));
        let mut people: Vec<(EntityId, &str)> =
            roles.flat_map(|(role, of)| of.all.iter().map(move |id| (*id, role.as_str()))).collect();
        people.sort_unstable();
        people
    }

    /// Returns the bearers of a role for any entity.
    pub(crate) fn holders(&self, role: &str) -> impl Iterator<Item = EntityId> {
        self.by_role.get(role).into_iter().flat_map(BTreeMap::values).flat_map(|of| &of.all).copied()
    }

    /// Returns the first bearer of a role, by id, that has no name, neither its own nor one of a merged entity.
    pub(crate) fn nameless(&self, holders: &Holders) -> Option<EntityId> {
        holders.unnamed.iter().copied().find(|id| self.is_nameless(*id))
    }

    /// Whether an entity can have this name: its kind is compatible, and no title contradicts it.
    fn is_fit(&self, id: EntityId, name: NameMention<'_>, title: &Title<'_>) -> bool {
        let Some(entity) = self.get(id) else { return false };
        let differs = || {
            let said = title.says();
            said.is_some_and(|said| gender(entity).is_some_and(|known| known != said))
        };
        // An animal has no family name.
        let is_human = || {
            name.kind == EntityKind::Animal
                && entity.kind == EntityKind::Person
                && entity
                    .names
                    .iter()
                    .any(|own| own.key.contains(' ') || title_gender(&own.text, entity.kind).is_some())
        };
        kind::agree(entity.kind, name.kind) && !differs() && !is_human()
    }

    /// Returns all entities merged with this one, itself included.
    pub(crate) fn same_as(&self, id: EntityId) -> BTreeSet<EntityId> {
        let canon = self.canon(id);
        let (mut found, mut open) = (BTreeSet::from([canon]), vec![canon]);
        while let Some(next) = open.pop() {
            let members = self.members.get(&next).into_iter().flatten();
            let new = members.filter(|one| self.canon(**one) == canon && found.insert(**one));
            open.extend(new.copied().collect::<Vec<_>>());
        }
        found
    }

    pub(crate) fn rows_of(&self, id: EntityId) -> impl Iterator<Item = &Entity> {
        self.same_as(id).into_iter().filter_map(|id| self.entities.get(&id))
    }

    /// Whether no merged entity has a name.
    pub(crate) fn is_nameless(&self, id: EntityId) -> bool {
        self.rows_of(id).all(|entity| entity.names.is_empty())
    }

    /// Whether an entity can take one more role for another.
    pub(crate) fn can_be(&self, id: EntityId, owner: EntityId, said: &str) -> bool {
        let owner = self.canon(owner);
        let fits = |(of, known): &(EntityId, String)| self.canon(*of) != owner || role::agree(known, said);
        self.canon(id) != owner && self.rows_of(id).all(|entity| entity.roles.iter().all(fits))
    }

    /// Whether two entities can be one: compatible kinds, not split by a person, and without roles that exclude each other.
    pub(crate) fn can_be_one(&self, one: EntityId, other: EntityId) -> bool {
        let fits = |one: &Entity, other: &Entity| {
            kind::agree(one.kind, other.kind)
                && !self.is_parted(one.id, other.id)
                && one.roles.iter().all(|(owner, role)| self.can_be(other.id, *owner, role))
        };
        self.canon(one) != self.canon(other)
            && self.rows_of(one).all(|one| self.rows_of(other).all(|other| fits(one, other)))
    }

    /// Creates an entity, or returns the existing one with the same id, even if its decisions were undone; `name` is its
    /// name.
    pub(crate) fn make(
        &mut self,
        key: &str,
        said_kind: EntityKind,
        shown: &str,
        said: Statement<'_>,
    ) -> EntityId {
        let id = EntityId(named_id("entity", &[kind::class(said_kind), key]));
        if let Entry::Vacant(place) = self.entities.entry(id) {
            place.insert(Entity {
                id,
                kind: said_kind,
                kind_word: None,
                name: shown.to_owned(),
                made_as: shown.to_owned(),
                names: Vec::new(),
                chosen: Vec::new(),
                roles: Vec::new(),
                merges: Vec::new(),
                identity_claims: Vec::new(),
                sources: vec![said.event.id],
                decisions: said.decision().into_iter().collect(),
                created_at: said.event.recorded_at,
                producer: said.producer.clone(),
            });
            self.changed.insert(id);
        } else if self.is_withdrawn(id) {
            self.record_source(id, said);
            self.index(id);
        }
        id
    }

    /// Adds a name to an entity; an existing one changes nothing.
    pub(crate) fn call(&mut self, id: EntityId, name: NameMention<'_>, said: Statement<'_>) {
        let Some(entity) = self.entities.get_mut(&id) else { return };
        let NameMention { text, key, kind } = name;
        if key.is_empty() {
            return;
        }
        let closer = kind::closer(entity.kind, kind);
        let is_known = entity.names.iter().any(|name| name.key == key);
        if is_known && closer == entity.kind {
            return;
        }
        if closer != entity.kind {
            entity.kind = closer;
            entity.kind_word = None;
        }
        if !is_known {
            entity.names.push(said.name(text, key.to_owned()));
        }
        entity.name = display_name(entity).to_owned();
        note(entity, said.event);
        self.changed.insert(id);
        self.index(id);
    }

    /// Stores the word for an entity's kind; the first one for a kind is kept.
    pub(crate) fn call_kind(&mut self, id: EntityId, said_kind: EntityKind, word: &str, said: Statement<'_>) {
        let word = word.trim();
        let is_word = !word.is_empty() && word.chars().count() <= LONGEST_WORD;
        let Some(entity) = self.entities.get_mut(&id).filter(|_| is_word) else { return };
        if entity.kind == said_kind && entity.kind_word.is_none() {
            entity.kind_word = Some(word.to_owned());
            note(entity, said.event);
            self.changed.insert(id);
        }
    }

    /// Adds a role of an entity for another; an existing one changes nothing.
    pub(crate) fn engage(&mut self, id: EntityId, owner: EntityId, role: &str, said: Statement<'_>) {
        let Some(entity) = self.entities.get_mut(&id) else { return };
        let has = |(of, known): &(EntityId, String)| *of == owner && known == role;
        if id == owner || entity.roles.iter().any(has) {
            return;
        }
        entity.roles.push((owner, role.to_owned()));
        entity.name = display_name(entity).to_owned();
        note(entity, said.event);
        self.changed.insert(id);
        self.index(id);
    }

    /// Indexes an entity by its names and roles. Undone entities are not indexed.
    fn index(&mut self, id: EntityId) {
        let Some(entity) = self.entities.get(&id).filter(|entity| entity.is_known_at(Timestamp::MAX)) else {
            return;
        };
        for merge in &entity.merges {
            self.members.entry(merge.into).or_default().insert(id);
        }
        for name in &entity.names {
            self.by_name.insert(id, NameMention { text: &name.text, key: &name.key, kind: entity.kind });
            self.gazetteer.add(&name.text, kind::as_read(entity.kind));
        }
        for (owner, role) in &entity.roles {
            let holders = self.by_role.entry(role.clone()).or_default().entry(*owner).or_default();
            holders.all.insert(id);
            if entity.names.is_empty() {
                holders.unnamed.insert(id);
            } else {
                holders.unnamed.remove(&id);
            }
        }
    }
}

/// Returns the displayed name: the one a person chose; else the newest for an entity with a role, because pets and projects
/// are renamed; else the first.
fn display_name(entity: &Entity) -> &str {
    if let Some(chosen) = entity.chosen.iter().rev().find(|name| name.expired_at.is_none()) {
        return &chosen.text;
    }
    let order = |name: &&EntityName| (name.occurred_at, name.source, name.text.clone());
    let of_somebody = !entity.roles.is_empty();
    let name = if of_somebody {
        entity.names.iter().max_by_key(order)
    } else {
        entity.names.iter().min_by_key(order)
    };
    let role = entity.roles.first().map(|(_, role)| role);
    name.map(|name| &name.text).or(role).unwrap_or(&entity.made_as)
}

/// Returns an entity with the names known at a belief time, displayed by its name of that time.
pub(crate) fn as_known(mut entity: Arc<Entity>, belief: Timestamp) -> Arc<Entity> {
    let is_as_now = || {
        entity.names.iter().all(|name| name.is_known_at(belief))
            && entity.chosen.iter().all(|name| name.is_known_at(belief) && name.expired_at.is_none())
    };
    if belief == Timestamp::MAX || is_as_now() {
        return entity;
    }
    let then = Arc::make_mut(&mut entity);
    then.names.retain(|name| name.is_known_at(belief));
    then.chosen.retain(|name| name.is_known_at(belief));
    for chosen in &mut then.chosen {
        chosen.expired_at = None;
    }
    then.name = display_name(then).to_owned();
    entity
}

/// Returns the gender that titles and given names indicate.
fn gender(entity: &Entity) -> Option<Gender> {
    entity.names.iter().find_map(|name| {
        let given = name.key.split(' ').next().and_then(|given| packs().gender_of_name(given));
        title_gender(&name.text, entity.kind).or(given)
    })
}

fn note(entity: &mut Entity, event: &Event) {
    if !entity.sources.contains(&event.id) {
        entity.sources.push(event.id);
    }
}
