//! Reads the graph: whom a name means, what is known of it, and from where.

use std::collections::BTreeSet;
use std::sync::Arc;

use mnemal_core::{
    AsOf, Entity, EntityFilter, EntityId, EntityKind, Error, Fact, FactFilter, FactStatus, GraphStore,
    MentionFilter, MentionRow, Result, UserId, Within, WorldTime,
};

use crate::index::How;
use crate::key::name_key;
use crate::names::{Names, as_known};
use crate::resolve::{self, USER, speaker_ids};
use crate::suggest::{self, Suggestion};

/// A kind of each class, under which a name is looked for whose kind nobody says.
const KINDS: [EntityKind; 3] = [EntityKind::Person, EntityKind::Organization, EntityKind::Location];

/// Reads the graph of one space.
#[derive(Clone, Debug)]
pub struct Graph {
    store: Arc<dyn GraphStore>,
    /// Events that nobody has read yet.
    behind: u64,
    /// Whose rows they are, where they are one user's.
    user: Option<UserId>,
}

impl Graph {
    /// Reads these rows.
    pub fn new(store: Arc<dyn GraphStore>) -> Self {
        Self { store, behind: 0, user: None }
    }

    /// Says how many events are not read yet, of which whoever is not known may be named in one.
    #[must_use]
    pub fn with_behind(self, events: u64) -> Self {
        Self { behind: events, ..self }
    }

    /// Says that the rows are those of one user, who is meant by `user`.
    #[must_use]
    pub fn of_user(self, user: UserId) -> Self {
        Self { user: Some(user), ..self }
    }

    pub(crate) fn store(&self) -> &dyn GraphStore {
        self.store.as_ref()
    }

    /// Returns the one entity that an id or a name means. One that has no name is found by what it is shown as: `sister`; and
    /// `user` is the one whose memory it is, by whatever name he is known. Where nobody has the whole name, a part of one
    /// finds its bearer: `Miriam` means Miriam Adler while she is the only one.
    ///
    /// # Errors
    /// `NotFound` when nobody and nothing is known by that; `Invalid` when it means several: the message lists them with
    /// their ids and what tells them apart; `Unavailable` when the database does not answer.
    pub async fn whom(&self, who: &str, as_of: AsOf) -> Result<Entity> {
        let mut found = self.exactly_called(who, as_of).await?;
        if found.is_empty() && who.parse::<EntityId>().is_err() {
            found = self.partly_called(who, as_of).await?;
        }
        self.only(who, found, as_of).await
    }

    /// Returns the one whom a question is about: as [`whom`](Self::whom), but a first name that somebody bears of whom nothing else
    /// is known means the bearer of a full name that has it. "John called", and later "John Smith lives in Bergen": `John` is then
    /// answered with what is known of John Smith, and nobody is taken for anybody.
    ///
    /// # Errors
    /// As [`whom`](Self::whom); several full names with that part are `Invalid` and listed.
    pub async fn asked_about(&self, who: &str, as_of: AsOf) -> Result<Entity> {
        let exact = self.exactly_called(who, as_of).await?;
        let [only] = exact.as_slice() else { return self.whom(who, as_of).await };
        if !self.is_bare(only, as_of).await? || who.parse::<EntityId>().is_ok() {
            return self.whom(who, as_of).await;
        }
        let mut full = self.partly_called(who, as_of).await?;
        full.retain(|entity| entity.id != only.id && entity.kind == EntityKind::Person);
        if full.is_empty() { self.whom(who, as_of).await } else { self.only(who, full, as_of).await }
    }

    /// Whether somebody has a first name and nothing else: no role, no second name, no fact.
    async fn is_bare(&self, entity: &Entity, as_of: AsOf) -> Result<bool> {
        let has_first_name = entity.kind == EntityKind::Person
            && entity.roles.is_empty()
            && !entity.names.is_empty()
            && entity.names.iter().all(|name| !name.key.contains(' '));
        Ok(has_first_name && self.about(&[entity.id], as_of).await?.is_empty())
    }

    /// Returns the same as [`whom`](Self::whom), where no part of a name counts: what cannot be taken back touches nobody who is
    /// only nearly meant.
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
            Err(_) => self.called(who, as_of).await,
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

    async fn called(&self, who: &str, as_of: AsOf) -> Result<Vec<Entity>> {
        let named = self.named(who, as_of).await?;
        if !named.is_empty() {
            return Ok(named);
        }
        let shown = mnemal_text::fold(who);
        if shown == USER {
            // Whoever has told his name is still the user.
            let owner = self.known(speaker_ids(self.user.as_ref()), as_of).await?;
            if !owner.is_empty() {
                return Ok(owner.into_iter().map(Arc::unwrap_or_clone).collect());
            }
        }
        let mut all = self.all(&EntityFilter::all(), as_of).await?;
        all.retain(|entity| entity.names.is_empty() && mnemal_text::fold(&entity.name) == shown);
        Ok(all)
    }

    /// Returns those of whose names this is a part, a short form or another spelling.
    async fn partly_called(&self, who: &str, as_of: AsOf) -> Result<Vec<Entity>> {
        let names = Names::from_rows(own(self.store.entities(&EntityFilter::all()).await?));
        let mut found = BTreeSet::new();
        for kind in KINDS {
            let meant = resolve::candidates(&names, who, kind);
            found.extend(meant.into_iter().filter(|(_, how)| *how != How::Doubtful).map(|(id, _)| id));
        }
        self.entities(found, as_of).await
    }

    /// Returns the error that tells several of one name apart.
    async fn several(&self, who: &str, found: &[Entity], as_of: AsOf) -> Result<Error> {
        let mut list = Vec::new();
        for entity in found {
            let n_events = self.sightings(entity.id, as_of).await?.map_or(0, |seen| seen.events);
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

    /// Returns the entities of which a name is this one, whatever its spelling, title or ending; each as what it is taken
    /// for at the belief time, by id. A part of a name finds nobody.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn named(&self, name: &str, as_of: AsOf) -> Result<Vec<Entity>> {
        let keys: BTreeSet<String> = KINDS.into_iter().map(|kind| name_key(name, kind)).collect();
        let filter = EntityFilter { keys: Within::Only(keys.into_iter().collect()), ..EntityFilter::all() };
        let found = self.store.entities(&filter).await?;
        self.entities(found.into_iter().map(|entity| entity.id), as_of).await
    }

    /// Returns what these entities are taken for at the belief time, by id; those that were not known then are left out.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn entities(
        &self,
        ids: impl IntoIterator<Item = EntityId>,
        as_of: AsOf,
    ) -> Result<Vec<Entity>> {
        Ok(own(self.known(ids, as_of).await?))
    }

    /// The same, shared.
    pub(crate) async fn known(
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
                match entity.joined_at(as_of.belief) {
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

    /// Returns every entity that stands for itself at the belief time, by name; none that only notes name which were taken back.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn all(&self, filter: &EntityFilter, as_of: AsOf) -> Result<Vec<Entity>> {
        let mut all = self.store.entities(filter).await?;
        all.retain(|entity| entity.is_known_at(as_of.belief) && entity.joined_at(as_of.belief).is_none());
        let mut all = own(all.into_iter().map(|entity| as_known(entity, as_of.belief)).collect());
        all.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
        Ok(all)
    }

    /// Returns the facts that hold and are believed as of a moment, about an entity and leading to it.
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

    /// Returns what was so about an entity and leading to it, and is over at the world time, as it is believed at the belief
    /// time; what ended last first.
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

    /// Returns the facts that pass the filter, hold and are believed as of a moment.
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

    /// Returns the entities that are taken for this one at the belief time, each as it is for itself, by id.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn parts(&self, id: EntityId, as_of: AsOf) -> Result<Vec<Entity>> {
        let (mut known, mut open, mut parts) = (BTreeSet::from([id]), vec![id], Vec::new());
        while let Some(into) = open.pop() {
            let filter = EntityFilter { joined: Within::Only(into), ..EntityFilter::all() };
            for entity in self.store.entities(&filter).await? {
                if entity.joined_at(as_of.belief) == Some(into) && known.insert(entity.id) {
                    open.push(entity.id);
                    parts.push(Arc::unwrap_or_clone(as_known(entity, as_of.belief)));
                }
            }
        }
        parts.sort_by_key(|entity| entity.id);
        Ok(parts)
    }

    /// Returns where an entity is named, or one that is taken for it at the belief time, by event.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn mentions(&self, id: EntityId, as_of: AsOf) -> Result<Vec<MentionRow>> {
        let mut all: Vec<EntityId> = self.parts(id, as_of).await?.into_iter().map(|part| part.id).collect();
        all.push(id);
        let filter = MentionFilter { entities: Within::Only(all), ..MentionFilter::all() };
        self.store.mentions(&filter).await
    }

    /// Returns pairs of entities that may be one, the likeliest first, at most `most`: names that differ in form, spelling or
    /// script, by who stands with them and when both were named last.
    ///
    /// They are derived from all rows each time, which takes time in proportion to the names and mentions of the space; nothing
    /// is stored. A pair is gone once it is merged (`Decision::Merge` with `one` and `into`), and for good once that is undone
    /// or a person has split the two.
    /// Nothing merges by itself; where [`Likeness::is_for_people`](crate::Likeness::is_for_people) holds, no pass may propose it
    /// either.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn suggestions(&self, most: usize) -> Result<Vec<Suggestion>> {
        let names = Names::from_rows(own(self.store.entities(&EntityFilter::all()).await?));
        let mentions = self.store.mentions(&MentionFilter::all()).await?;
        Ok(suggest::suggestions(&names, &mentions, most))
    }
}

/// Takes rows out of what is shared.
pub(crate) fn own<T: Clone>(rows: Vec<Arc<T>>) -> Vec<T> {
    rows.into_iter().map(Arc::unwrap_or_clone).collect()
}
