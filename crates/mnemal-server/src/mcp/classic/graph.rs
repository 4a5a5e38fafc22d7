//! Entities with observations, and relations, as notes under keys derived from their content.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use mnemal::Memory;
use mnemal_core::{
    Category, ChannelId, Cursor, Decision, EventFilter, EventId, LearningFilter, NoteKey, Role, Within,
};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::hex::hex;
use crate::mcp::answer::CorrectableError;
use crate::mcp::nearest::nearest;
use crate::mcp::store::current_state;

/// Channel of these notes, so that they can be read without the rest of the log.
const CHANNEL: &str = "mcp-graph";
/// Category of these notes.
const CATEGORY: &str = "graph";
/// Metadata fields of their events: the sort of a note, and its entity.
const SORT: &str = "graph";
const NAME: &str = "name";
const KIND: &str = "entity_type";
const FROM: &str = "from";
const TO: &str = "to";
const RELATION: &str = "relation_type";
/// Events per page. Source: own default, the largest batch of one append (1,000 events).
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");
/// Hexadecimal digits of the hash in a key. Source: own default, 128 bits.
const DIGITS: usize = 32;
/// Maximum length of a name, type or relation, in bytes. Source: own default; the fields of an event hold 8 KiB.
const LONGEST: usize = 1_024;

/// An entity with its observations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Entity {
    pub(super) name: String,
    #[serde(rename = "entityType")]
    kind: String,
    pub(super) observations: Vec<String>,
}

/// A relation of two entities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Relation {
    from: String,
    to: String,
    #[serde(rename = "relationType")]
    kind: String,
}

/// The valid records, in order of creation.
#[derive(Debug, Default)]
pub(super) struct ClassicGraph {
    pub(super) entities: Vec<Entity>,
    pub(super) relations: Vec<Relation>,
    /// The keys of all valid records.
    keys: Vec<NoteKey>,
}

impl Entity {
    pub(super) fn read(given: &Map<String, Value>) -> Result<Self, CorrectableError> {
        Ok(Self {
            name: named(given, "name")?,
            kind: named(given, "entityType")?,
            observations: texts(given, "observations")?,
        })
    }

    pub(super) fn has(&self, observation: &str) -> bool {
        self.observations.iter().any(|one| one == observation)
    }
}

impl Relation {
    pub(super) fn read(given: &Map<String, Value>) -> Result<Self, CorrectableError> {
        Ok(Self { from: named(given, "from")?, to: named(given, "to")?, kind: named(given, "relationType")? })
    }

    /// Returns the names of its two entities.
    pub(super) fn ends(&self) -> [&str; 2] {
        [&self.from, &self.to]
    }

    fn key(&self) -> Result<NoteKey, CorrectableError> {
        key("relation", &[&self.from, &self.kind, &self.to])
    }
}

impl ClassicGraph {
    /// Loads the valid records; archived, superseded and quarantined ones are left out.
    pub(super) async fn load(memory: &Memory) -> Result<Self, CorrectableError> {
        let filter =
            LearningFilter { category: Within::Only(Category::new(CATEGORY)?), ..LearningFilter::all() };
        let mut held: HashMap<EventId, (NoteKey, String)> = HashMap::new();
        for note in memory.preferences().notes(&filter).await? {
            if let (Some(key), Some(source)) = (note.key, note.sources.first()) {
                held.insert(source.event, (key, note.content));
            }
        }
        let written = EventFilter {
            channel: Within::Only(ChannelId::new(CHANNEL)?),
            roles: Within::Only(vec![Role::Decision]),
            ..EventFilter::live()
        };
        let mut graph = Self::default();
        let mut observed: Vec<(String, String)> = Vec::new();
        let mut after = Cursor::START;
        loop {
            let page = memory.events().scan(&written, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            for event in &page {
                let Some((key, content)) = held.remove(&event.id) else { continue };
                let Some(kept) = event.body() else { continue };
                let field = |name: &str| kept.metadata.get(name).cloned().unwrap_or_default();
                match kept.metadata.get(SORT).map(String::as_str) {
                    Some("entity") => graph.entities.push(Entity {
                        name: field(NAME),
                        kind: field(KIND),
                        observations: Vec::new(),
                    }),
                    Some("observation") => {
                        let name = field(NAME);
                        let text = content.strip_prefix(&said_of(&name)).unwrap_or(&content).to_owned();
                        observed.push((name, text));
                    }
                    Some("relation") => graph.relations.push(Relation {
                        from: field(FROM),
                        to: field(TO),
                        kind: field(RELATION),
                    }),
                    _ => continue,
                }
                graph.keys.push(key);
            }
        }
        for (name, text) in observed {
            if let Some(entity) = graph.entities.iter_mut().find(|entity| entity.name == name) {
                entity.observations.push(text);
            }
        }
        Ok(graph)
    }

    /// Sanitizes every text for a model; ordinary texts are not changed.
    pub(super) fn sanitize(mut self, memory: &Memory) -> Self {
        let mut texts: Vec<&mut String> = Vec::new();
        for entity in &mut self.entities {
            texts.extend([&mut entity.name, &mut entity.kind]);
            texts.extend(entity.observations.iter_mut());
        }
        for relation in &mut self.relations {
            texts.extend([&mut relation.from, &mut relation.to, &mut relation.kind]);
        }
        let all: Vec<String> = texts.iter().map(|text| (**text).clone()).collect();
        let lines = memory.admin().fence(&all, u32::MAX).lines;
        for (text, line) in texts.into_iter().zip(lines) {
            *text = line;
        }
        self
    }

    pub(super) fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.name == name)
    }

    /// Returns an entity; the error suggests similar names.
    pub(super) fn must_have(&self, name: &str) -> Result<&Entity, CorrectableError> {
        let missing = || {
            CorrectableError::new(format!(
                "Entity with name {} not found{}",
                safe_name(name),
                self.near(name)
            ))
        };
        self.entity(name).ok_or_else(missing)
    }

    /// Returns similar names, as a sentence; empty if there are none.
    fn near(&self, name: &str) -> String {
        let names = self.entities.iter().map(|entity| entity.name.as_str());
        let near: Vec<String> = nearest(name, names).into_iter().map(safe_name).collect();
        if near.is_empty() { String::new() } else { format!(". Nearest: {}.", near.join(", ")) }
    }

    /// Keeps only the entities with these names.
    pub(super) fn only(mut self, names: &[String]) -> Self {
        self.entities.retain(|entity| names.contains(&entity.name));
        self.relations.clear();
        self
    }

    /// Keeps the entities whose name, type or observation contains the words, ignoring case, with their relations.
    pub(super) fn matching(mut self, query: &str) -> Self {
        let query = query.to_lowercase();
        let holds = |text: &str| text.to_lowercase().contains(&query);
        self.entities.retain(|entity| {
            holds(&entity.name) || holds(&entity.kind) || entity.observations.iter().any(|one| holds(one))
        });
        self.related()
    }

    /// Keeps the named entities, with their relations.
    pub(super) fn opened(mut self, names: &[String]) -> Self {
        self.entities.retain(|entity| names.contains(&entity.name));
        self.related()
    }

    /// Keeps the relations with at least one remaining entity.
    fn related(mut self) -> Self {
        let entities = &self.entities;
        let is_left = |name: &str| entities.iter().any(|entity| entity.name == name);
        self.relations.retain(|relation| is_left(&relation.from) || is_left(&relation.to));
        self
    }

    /// Archives an entity with its observations and relations.
    pub(super) async fn put_entity_away(&self, memory: &Memory, name: &str) -> Result<(), CorrectableError> {
        for relation in self.relations.iter().filter(|one| one.from == name || one.to == name) {
            self.put_relation_away(memory, relation).await?;
        }
        if let Some(entity) = self.entity(name) {
            for text in &entity.observations {
                self.put_observation_away(memory, name, text).await?;
            }
        }
        self.put_away(memory, key("entity", &[name])?).await
    }

    pub(super) async fn put_observation_away(
        &self,
        memory: &Memory,
        name: &str,
        text: &str,
    ) -> Result<(), CorrectableError> {
        self.put_away(memory, key("observation", &[name, text])?).await
    }

    pub(super) async fn put_relation_away(
        &self,
        memory: &Memory,
        one: &Relation,
    ) -> Result<(), CorrectableError> {
        self.put_away(memory, one.key()?).await
    }

    /// Archives a note, if it is valid.
    async fn put_away(&self, memory: &Memory, key: NoteKey) -> Result<(), CorrectableError> {
        if self.keys.contains(&key) {
            let _acked = memory.facts().decide_by_agent(Decision::Archive(key.into())).await?;
        }
        Ok(())
    }
}

/// Stores an entity.
pub(super) async fn store_entity(memory: &Memory, entity: &Entity) -> Result<(), CorrectableError> {
    let said = format!("{} ({})", entity.name, entity.kind);
    let fields = [(SORT, "entity"), (NAME, entity.name.as_str()), (KIND, entity.kind.as_str())];
    store(memory, said, key("entity", &[&entity.name])?, &fields).await
}

/// Stores an observation of an entity.
pub(super) async fn store_observation(
    memory: &Memory,
    name: &str,
    text: &str,
) -> Result<(), CorrectableError> {
    let said = format!("{}{text}", said_of(name));
    let fields = [(SORT, "observation"), (NAME, name)];
    store(memory, said, key("observation", &[name, text])?, &fields).await
}

/// Stores a relation.
pub(super) async fn store_relation(memory: &Memory, relation: &Relation) -> Result<(), CorrectableError> {
    let said = format!("{} {} {}", relation.from, relation.kind.replace('_', " "), relation.to);
    let fields = [
        (SORT, "relation"),
        (FROM, relation.from.as_str()),
        (TO, relation.to.as_str()),
        (RELATION, relation.kind.as_str()),
    ];
    store(memory, said, relation.key()?, &fields).await
}

async fn store(
    memory: &Memory,
    said: String,
    key: NoteKey,
    fields: &[(&str, &str)],
) -> Result<(), CorrectableError> {
    let channel = ChannelId::new(CHANNEL)?;
    let request = memory.remember(said).key(key).category(Category::new(CATEGORY)?);
    let request = request.message(|message| {
        let message = message.channel(channel);
        fields.iter().fold(message, |message, (name, value)| message.metadata(*name, *value))
    });
    let stored = request.await?;
    if stored.id.is_none() && current_state(memory, None, &stored).await.1 == "quarantined" {
        return Err(CorrectableError::new(
            "This is held back until a person releases it: it reads like an instruction, or too much came within an hour. \
             What came before it in this call is stored.",
        ));
    }
    Ok(())
}

/// Prefix of the note of an observation.
fn said_of(name: &str) -> String {
    format!("{name}: ")
}

/// Returns the key of a note, which is determined by its content.
fn key(sort: &str, parts: &[&str]) -> Result<NoteKey, CorrectableError> {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    let digits: String = hex(&hash.finalize()).chars().take(DIGITS).collect();
    Ok(NoteKey::new(format!("{CATEGORY}/{sort}/{digits}"))?)
}

/// Returns a text field of an object.
pub(super) fn text(given: &Map<String, Value>, name: &str) -> Result<String, CorrectableError> {
    match given.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err(CorrectableError::new(format!("{name} must be a text, in each of them."))),
    }
}

/// Returns a name, type or relation, which must not be blank or too long.
fn named(given: &Map<String, Value>, name: &str) -> Result<String, CorrectableError> {
    let text = text(given, name)?;
    if text.trim().is_empty() || text.len() > LONGEST {
        return Err(CorrectableError::new(format!(
            "{name} must have 1 to {LONGEST} bytes, in each of them."
        )));
    }
    Ok(text)
}

/// Returns the texts of an object, deduplicated.
pub(super) fn texts(given: &Map<String, Value>, name: &str) -> Result<Vec<String>, CorrectableError> {
    let wrong = || CorrectableError::new(format!("{name} must be a list of texts, in each of them."));
    let Some(Value::Array(items)) = given.get(name) else { return Err(wrong()) };
    let mut texts: Vec<String> = Vec::new();
    for item in items {
        let text = item.as_str().filter(|text| !text.trim().is_empty()).ok_or_else(wrong)?;
        if !texts.iter().any(|one| one == text) {
            texts.push(text.to_owned());
        }
    }
    Ok(texts)
}

/// Returns a name in a form that is safe in an error: on one line, and not long.
pub(super) fn safe_name(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control() && *letter != '<').take(64).collect()
}
