//! Entities and facts.

use std::collections::BTreeMap;

use mnemal::graph::{EntityProfile, FactView, MentionStats, SourceSentence};
use mnemal_core::{Act, Entity, EventId, Granularity, Value, WorldTime, Zone};
use schemars::JsonSchema;
use serde::Serialize;

/// Somebody or something with a name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Entity")]
pub(crate) struct EntityForm {
    /// Its id.
    pub(crate) id: String,
    /// How it is shown.
    pub(crate) name: String,
    /// What it is.
    r#type: &'static str,
    /// The word for that of an extractor that knows other kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    type_word: Option<String>,
    /// Its other names.
    aliases: Vec<String>,
    /// What it is to others.
    roles: Vec<String>,
    /// Events that name it.
    event_count: usize,
    /// When it was first named.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_seen: Option<String>,
    /// When it was last named.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_seen: Option<String>,
    /// When it became known.
    created_at: String,
}

impl EntityForm {
    pub(crate) fn new(entity: &Entity, seen: Option<&MentionStats>) -> Self {
        let aliases = entity.names.iter().filter(|name| name.text != entity.name);
        Self {
            id: entity.id.to_string(),
            name: entity.name.clone(),
            r#type: entity.kind.as_str(),
            type_word: entity.kind_word.clone(),
            aliases: aliases.map(|name| name.text.clone()).collect(),
            roles: entity.roles.iter().map(|(_, role)| role.clone()).collect(),
            event_count: seen.map_or(0, |seen| seen.events),
            first_seen: seen.map(|seen| seen.first_at.to_string()),
            last_seen: seen.map(|seen| seen.last_at.to_string()),
            created_at: entity.created_at.to_string(),
        }
    }
}

/// Somebody or something by id and name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Named")]
pub(crate) struct NameForm {
    /// Its id.
    id: String,
    /// How it is shown.
    name: String,
}

/// What a fact says of its subject.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FactObject")]
pub(crate) enum ObjectForm {
    /// Somebody or something with a name.
    Entity(NameForm),
    /// Words.
    Literal(String),
}

/// A fact.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Fact")]
pub(crate) struct FactForm {
    /// Its id.
    pub(crate) id: String,
    /// Whom it is about.
    subject: NameForm,
    /// What kind of thing it says.
    predicate: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    /// What it says.
    object: ObjectForm,
    /// `assert` or `negative`.
    act: &'static str,
    /// As a sentence.
    line: String,
    /// Probability that it is true, 0 to 1.
    confidence: f32,
    /// How often it was said, 0 to 1.
    strength: f32,
    /// How far it may be believed.
    trust: &'static str,
    /// What it may become.
    level: &'static str,
    /// `candidate`, `active`, `disputed`, `superseded` or `rejected`.
    status: &'static str,
    /// Since when it holds in the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_at: Option<String>,
    /// Until when it held.
    #[serde(skip_serializing_if = "Option::is_none")]
    invalid_at: Option<String>,
    /// How exactly the begin is known, where words name it: `day`, `month`, `year` …
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_grain: Option<&'static str>,
    /// How exactly the end is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    invalid_grain: Option<&'static str>,
    /// Since when it is believed.
    created_at: String,
    /// Until when it was believed.
    #[serde(skip_serializing_if = "Option::is_none")]
    expired_at: Option<String>,
    /// The events that it rests on.
    source_event_ids: Vec<String>,
}

impl From<&FactView> for FactForm {
    fn from(told: &FactView) -> Self {
        let fact = &told.fact;
        Self {
            id: fact.id.to_string(),
            subject: NameForm { id: fact.subject.to_string(), name: told.subject.clone() },
            predicate: fact.predicate.to_string(),
            topic: fact.topic.clone(),
            object: match &fact.object {
                Value::Entity(id) => {
                    ObjectForm::Entity(NameForm { id: id.to_string(), name: told.object.clone() })
                }
                Value::Literal { text, .. } => ObjectForm::Literal(text.clone()),
            },
            act: if fact.act.is_of_past() { Act::Assert.as_str() } else { fact.act.as_str() },
            line: told.line(),
            confidence: fact.confidence().get(),
            strength: fact.strength(),
            trust: fact.trust.as_str(),
            level: fact.level.as_str(),
            status: fact.status.as_str(),
            valid_at: fact.valid_at.map(day),
            invalid_at: fact.invalid_at.map(day),
            valid_grain: fact.valid_grain.map(Granularity::as_str),
            invalid_grain: fact.invalid_grain.map(Granularity::as_str),
            created_at: fact.created_at.to_string(),
            expired_at: fact.expired_at.map(|at| at.to_string()),
            source_event_ids: told.events().iter().map(EventId::to_string).collect(),
        }
    }
}

/// Formats a world time: its day, with the time of day unless it is midnight.
fn day(at: WorldTime) -> String {
    let civil = at.civil(&Zone::utc());
    if (civil.hour, civil.minute, civil.second) == (0, 0, 0) {
        return civil.day_text();
    }
    format!("{}T{:02}:{:02}:{:02}Z", civil.day_text(), civil.hour, civil.minute, civil.second)
}

/// Words on which a fact rests.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Sentence")]
pub(crate) struct SentenceForm {
    /// Where they stand.
    event_id: String,
    /// When they were said.
    at: String,
    /// By whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    /// The words.
    text: String,
}

impl From<&SourceSentence> for SentenceForm {
    fn from(sentence: &SourceSentence) -> Self {
        Self {
            event_id: sentence.source.event.to_string(),
            at: sentence.at.to_string(),
            speaker: sentence.speaker.as_ref().map(ToString::to_string),
            text: sentence.text.clone(),
        }
    }
}

/// A fact with its sentences.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ProfileFact")]
pub(crate) struct FactViewForm {
    #[serde(flatten)]
    fact: FactForm,
    /// The words that it rests on, oldest first.
    sentences: Vec<SentenceForm>,
}

impl From<&FactView> for FactViewForm {
    fn from(told: &FactView) -> Self {
        Self { fact: told.into(), sentences: told.sentences.iter().map(SentenceForm::from).collect() }
    }
}

/// Who is named together with somebody.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Cooccurrence")]
pub(crate) struct CooccurrenceForm {
    /// Its id.
    id: String,
    /// How it is shown.
    name: String,
    /// Events that name both.
    event_count: usize,
}

/// What is known of somebody or something.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EntityProfile")]
pub(crate) struct EntityProfileForm {
    #[serde(flatten)]
    entity: EntityForm,
    /// In words what it is: the newest fact of the predicate `description`.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// What a host keeps of it: the newest value of each predicate that is the space's own.
    metadata: BTreeMap<String, String>,
    /// The events from which it is known by its names and roles, in the order in which they were read.
    source_event_ids: Vec<String>,
    /// What holds.
    facts: Vec<FactViewForm>,
    /// What held before.
    past: Vec<FactViewForm>,
    /// Who is named with it, most often first.
    company: Vec<CooccurrenceForm>,
}

impl From<&EntityProfile> for EntityProfileForm {
    fn from(profile: &EntityProfile) -> Self {
        let mut entity = EntityForm::new(&profile.entity, profile.stats.as_ref());
        entity.aliases.clone_from(&profile.aliases);
        entity.roles = profile.roles.iter().map(|(owner, role)| format!("{role} of {owner}")).collect();
        let company = profile.company.iter().map(|(name, one)| CooccurrenceForm {
            id: one.entity.to_string(),
            name: name.clone(),
            event_count: one.stats.events,
        });
        let metadata =
            profile.metadata().into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            entity,
            description: profile.description().map(str::to_owned),
            metadata: metadata.collect(),
            source_event_ids: profile.entity.sources.iter().map(EventId::to_string).collect(),
            facts: profile.facts.iter().map(FactViewForm::from).collect(),
            past: profile.past.iter().map(FactViewForm::from).collect(),
            company: company.collect(),
        }
    }
}

/// A way from one to another.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Path")]
pub(crate) struct PathForm {
    /// Who stands on it, by name, from one end to the other.
    pub(crate) entities: Vec<String>,
    /// What connects them, in the same order.
    pub(crate) facts: Vec<FactForm>,
}
