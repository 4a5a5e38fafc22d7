//! Graph queries: entities by name, their facts, and the sources.

use std::collections::BTreeSet;
use std::sync::Arc;

use mnemal_core::{
    AsOf, Entity, EntityFilter, EntityId, EntityKind, Error, Fact, FactFilter, FactStatus, GraphStore,
    MentionFilter, MentionRow, Result, UserId, Within, WorldTime,
};

use crate::index::MatchQuality;
use crate::key::name_key;
use crate::names::{Names, as_known};
use crate::resolve::{self, USER, speaker_ids};
use crate::suggest::{self, Suggestion};

/// One kind of each class, used to look up a name of unknown kind.
const KINDS: [EntityKind; 3] = [EntityKind::Person, EntityKind::Organization, EntityKind::Location];

/// Reads the graph of one space.
#[derive(Clone, Debug)]
pub struct Graph {
    store: Arc<dyn GraphStore>,
    /// Events that are not processed yet.
    behind: u64,
    /// The user whose rows these are, if they belong to one user.
    user: Option<UserId>,
}

impl Graph {
    /// Reads these rows.
    pub fn new(store: Arc<dyn GraphStore>) -> Self {
        Self { store, behind: 0, user: None }
    }

    /// Sets how many events are not processed yet; an unknown name may occur in one of them.
    #[must_use]
    pub fn with_behind(self, events: u64) -> Self {
        Self { behind: events, ..self }
    }

    /// Marks the rows as those of one user, whom the name `user` then means.
    #[must_use]
    pub fn of_user(self, user: UserId) -> Self {
        Self { user: Some(user), ..self }
    }

    pub(crate) fn store(&self) -> &dyn GraphStore {
        self.store.as_ref()
    }

    /// Returns the single entity that an id or a name means. An entity without a name is found by how it is shown, as in
    /// `sister`; `user` is the owner of the memory, whatever name the owner has. If no entity has the whole name, a part of
    /// it is enough while it is unambiguous: `Miriam` means Miriam Adler while she is the only Miriam.
    ///
    /// # Errors
    /// `NotFound` when no entity matches; `Invalid` when several match: the message lists them with their ids and what
    /// distinguishes them; `Unavailable` when the database does not answer.
    pub async fn whom(&self, who: &str, as_of: AsOf) -> Result<Entity> {
        let mut found = self.exactly_called(who, as_of).await?;
        if found.is_empty() && who.parse::<EntityId>().is_err() {
            found = self.find_by_partial_name(who, as_of).await?;
        }
        self.only(who, found, as_of).await
    }

    /// Returns the entity that a question is about: as [`whom`](Self::whom), but a first name of an entity without other
    /// known facts resolves to the one full name that contains it. After "John called" and later "John Smith lives in
    /// Bergen", `John` is answered with the facts about John Smith; the two entities are not merged.
    ///
    /// # Errors
    /// As [`whom`](Self::whom); several full names with that part are `Invalid` and listed.
    pub async fn asked_about(&self, who: &str, as_of: AsOf) -> Result<Entity> {
        let exact = self.exactly_called(who, as_of).await?;
        let [only] = exact.as_slice() else { return self.whom(who, as_of).await };
        if !self.is_bare(only, as_of).await? || who.parse::<EntityId>().is_ok() {
            return self.whom(who, as_of).await;
        }
        let mut full = self.find_by_partial_name(who, as_of).await?;
        full.retain(|entity| entity.id != only.id && entity.kind == EntityKind::Person);
        if full.is_empty() { self.whom(who, as_of).await } else { self.only(who, full, as_of).await }
    }

    /// Whether an entity has a first name and nothing else: no role, no second name, no fact.
    async fn is_bare(&self, entity: &Entity, as_of: AsOf) -> Result<bool> {
        let has_first_name = entity.kind == EntityKind::Person
            && entity.roles.is_empty()
            && !entity.names.is_empty()
            && entity.names.iter().all(|name| !name.key.contains(' '));
        Ok(has_first_name && self.about(&[entity.id], as_of).await?.is_empty())
    }

    /// Returns the same as [`whom`](Self::whom), but without matching parts of a name. Use it for operations that cannot be
    /// undone, so that a near match is never affected.
    ///
    /// # Errors
    /// As [`whom`](Self::whom).
    pub async fn exactly(&self, who: &str, as_of: AsOf) -> Result<Entity> {
        let found = self.exactly_called(who, as_of).await?;
        self.only(who, found, as_of).await
    }

    async fn exactly_called(&self, who: &str, as_of: AsOf) -> Result<Vec<Entity>> {
        match who.parse::<EntityId>() {
            Ok(id) => self.entities([id], as_of).await,
            Err(_) => self.find_by_name(who, as_of).await,
        }
    }

    async fn only(&self, who: &str, found: Vec<Entity>, as_of: AsOf) -> Result<Entity> {
        match <[Entity; 1]>::try_from(found) {
            Ok([entity]) => Ok(entity),
            Err(found) if found.is_empty() => {
                let yet = match self.behind {
                    0 => String::new(),
                    behind => format!(" yet: the graph is {behind} events behind the log"),
                };
                Err(Error::not_found(format!("nobody and nothing is known by {who:?}{yet}")))
            }
            Err(found) => Err(self.several(who, &found, as_of).await?),
        }
    }

    async fn find_by_name(&self, who: &str, as_of: AsOf) -> Result<Vec<Entity>> {
        let named = self.entities_named(who, as_of).await?;
        if !named.is_empty() {
            return Ok(named);
        }
        let shown = mnemal_text::fold(who);
        if shown == USER {
            // The owner is still `user` after giving a name.
            let owner = self.shared_entities(speaker_ids(self.user.as_ref()), as_of).await?;
            if !owner.is_empty() {
                return Ok(owner.into_iter().map(Arc::unwrap_or_clone).collect());
            }
        }
        let mut all = self.all(&EntityFilter::all(), as_of).await?;
        all.retain(|entity| entity.names.is_empty() && mnemal_text::fold(&entity.name) == shown);
        Ok(all)
    }

    /// Returns the entities of whose names this is a part, a short form or another spelling.
    async fn find_by_partial_name(&self, who: &str, as_of: AsOf) -> Result<Vec<Entity>> {
        let names = Names::from_rows(own(self.store.entities(&EntityFilter::all()).await?));
        let mut found = BTreeSet::new();
        for kind in KINDS {
            let meant = resolve::candidates(&names, who, kind);
            found.extend(
                meant.into_iter().filter(|(_, how)| *how != MatchQuality::Doubtful).map(|(id, _)| id),
            );
        }
        self.entities(found, as_of).await
    }

    /// Returns the error that lists several entities with one name and what distinguishes them.
    async fn several(&self, who: &str, found: &[Entity], as_of: AsOf) -> Result<Error> {
        let mut list = Vec::new();
        for entity in found {
            let n_events = self.mention_stats(entity.id, as_of).await?.map_or(0, |seen| seen.events);
            let roles: Vec<String> = entity.roles.iter().map(|(_, role)| format!(", {role}")).collect();
            let (id, name, kind) = (entity.id, &entity.name, entity.kind.as_str());
            list.push(format!("{id} {name} ({kind}{}, named in {n_events} events)", roles.concat()));
        }
        Ok(Error::invalid(format!(
            "{} are known by {who:?}; say the id of one: {}",
            found.len(),
            list.join("; ")
        )))
    }

    /// Returns the entities with this name, regardless of spelling, title or ending; each as its canonical entity at the
    /// belief time, by id. A part of a name does not match.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn entities_named(&self, name: &str, as_of: AsOf) -> Result<Vec<Entity>> {
        let keys: BTreeSet<String> = KINDS.into_iter().map(|kind| name_key(name, kind)).collect();
        let filter = EntityFilter { keys: Within::Only(keys.into_iter().collect()), ..EntityFilter::all() };
        let found = self.store.entities(&filter).await?;
        self.entities(found.into_iter().map(|entity| entity.id), as_of).await
    }

    /// Returns the canonical entities of these ids at the belief time, by id; entities unknown at that time are left out.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn entities(
        &self,
        ids: impl IntoIterator<Item = EntityId>,
        as_of: AsOf,
    ) -> Result<Vec<Entity>> {
        Ok(own(self.shared_entities(ids, as_of).await?))
    }

    /// The same, with shared rows.
    pub(crate) async fn shared_entities(
        &self,
        ids: impl IntoIterator<Item = EntityId>,
        as_of: AsOf,
    ) -> Result<Vec<Arc<Entity>>> {
        let mut wanted: Vec<EntityId> = ids.into_iter().collect();
        let mut found: Vec<Arc<Entity>> = Vec::new();
        while !wanted.is_empty() {
            wanted.sort_unstable();
            wanted.dedup();
            let ids = Within::Only(std::mem::take(&mut wanted));
            for entity in self.store.entities(&EntityFilter { ids, ..EntityFilter::all() }).await? {
                match entity.merged_into_at(as_of.belief) {
                    Some(into) => wanted.push(into),
                    None => found.push(entity),
                }
            }
            wanted.retain(|id| !found.iter().any(|entity| entity.id == *id));
        }
        found.retain(|entity| entity.created_at <= as_of.belief);
        found.sort_unstable_by_key(|entity| entity.id);
        Ok(found.into_iter().map(|entity| as_known(entity, as_of.belief)).collect())
    }

    /// Returns every canonical entity at the belief time, by name; without those known only from notes that were undone.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn all(&self, filter: &EntityFilter, as_of: AsOf) -> Result<Vec<Entity>> {
        let mut all = self.store.entities(filter).await?;
        all.retain(|entity| {
            entity.is_known_at(as_of.belief) && entity.merged_into_at(as_of.belief).is_none()
        });
        let mut all = own(all.into_iter().map(|entity| as_known(entity, as_of.belief)).collect());
        all.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
        Ok(all)
    }

    /// Returns the facts valid and believed at a moment that have one of these entities as subject or object.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn about(&self, ids: &[EntityId], as_of: AsOf) -> Result<Vec<Fact>> {
        let about = FactFilter { subjects: Within::Only(ids.to_vec()), ..FactFilter::all() };
        let leading = FactFilter { objects: Within::Only(ids.to_vec()), ..FactFilter::all() };
        let mut facts = self.store.facts(&about, as_of).await?;
        let mut known: BTreeSet<_> = facts.iter().map(|fact| fact.id).collect();
        let more = self.store.facts(&leading, as_of).await?;
        facts.extend(more.into_iter().filter(|fact| known.insert(fact.id)));
        Ok(own(facts))
    }

    /// Returns the facts about or leading to an entity that are over at the world time, as believed at the belief time;
    /// most recently ended first.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn past(&self, ids: &[EntityId], as_of: AsOf) -> Result<Vec<Fact>> {
        let about = FactFilter { subjects: Within::Only(ids.to_vec()), ..FactFilter::all() };
        let leading = FactFilter { objects: Within::Only(ids.to_vec()), ..FactFilter::all() };
        let mut facts = self.store.history(&about).await?;
        facts.extend(self.store.history(&leading).await?);
        let world = WorldTime::from_seconds(as_of.world.as_micros().div_euclid(1_000_000));
        facts.retain(|fact| {
            fact.status != FactStatus::Rejected
                && fact.is_believed_at(as_of.belief)
                && fact.invalid_at.is_some_and(|end| end <= world)
        });
        facts.sort_by_key(|fact| (std::cmp::Reverse(fact.invalid_at), fact.id));
        facts.dedup_by_key(|fact| fact.id);
        Ok(facts)
    }

    /// Returns the facts that pass the filter and are valid and believed at a moment.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn facts(&self, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Fact>> {
        Ok(own(self.store.facts(filter, as_of).await?))
    }

    /// Returns every version of the facts that pass the filter, by belief time.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn history(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        self.store.history(filter).await
    }

    /// Returns the entities merged into this one at the belief time, each in its own form, by id.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn parts(&self, id: EntityId, as_of: AsOf) -> Result<Vec<Entity>> {
        let (mut known, mut open, mut parts) = (BTreeSet::from([id]), vec![id], Vec::new());
        while let Some(into) = open.pop() {
            let filter = EntityFilter { merged_into: Within::Only(into), ..EntityFilter::all() };
            for entity in self.store.entities(&filter).await? {
                if entity.merged_into_at(as_of.belief) == Some(into) && known.insert(entity.id) {
                    open.push(entity.id);
                    parts.push(Arc::unwrap_or_clone(as_known(entity, as_of.belief)));
                }
            }
        }
        parts.sort_by_key(|entity| entity.id);
        Ok(parts)
    }

    /// Returns the mentions of an entity, including entities merged into it at the belief time, by event.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn mentions(&self, id: EntityId, as_of: AsOf) -> Result<Vec<MentionRow>> {
        let mut all: Vec<EntityId> = self.parts(id, as_of).await?.into_iter().map(|part| part.id).collect();
        all.push(id);
        let filter = MentionFilter { entities: Within::Only(all), ..MentionFilter::all() };
        self.store.mentions(&filter).await
    }

    /// Returns pairs of entities that may be duplicates, most likely first, at most `most`. The score uses how names differ
    /// in form, spelling or script, the co-occurring entities, and when both were last mentioned.
    ///
    /// The pairs are computed from all rows each time, in time proportional to the names and mentions of the space; nothing
    /// is stored. A pair disappears once it is merged (`Decision::Merge` with `one` and `into`), and for good once that is
    /// undone or a person has split the two. Nothing merges automatically; where
    /// [`DuplicateReason::is_for_people`](crate::DuplicateReason::is_for_people) holds, no pass may propose the merge either.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn suggestions(&self, most: usize) -> Result<Vec<Suggestion>> {
        let names = Names::from_rows(own(self.store.entities(&EntityFilter::all()).await?));
        let mentions = self.store.mentions(&MentionFilter::all()).await?;
        Ok(suggest::suggestions(&names, &mentions, most))
    }
}

/// Clones rows out of their shared pointers.
pub(crate) fn own<T: Clone>(rows: Vec<Arc<T>>) -> Vec<T> {
    rows.into_iter().map(Arc::unwrap_or_clone).collect()
}
