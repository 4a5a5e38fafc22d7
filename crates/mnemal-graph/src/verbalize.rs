//! Fact verbalization: plain English sentences around the original words, with absolute dates.

use std::collections::HashMap;
use std::sync::Arc;

use mnemal_core::{Act, Entity, EntityId, Fact, FactStatus, Granularity, Value, Zone};
use mnemal_extract::predicate::{self, Cardinality};

/// The sentence form of a predicate.
#[derive(Clone, Copy)]
enum Form {
    /// "Ada lives in Lyon".
    Verb(&'static str),
    /// "Ada's birthday: 3 May", "Ada's deadline of the thesis: 29 May".
    Noun(&'static str),
    /// "Ada's favourite colour: blue".
    Kind(&'static str),
    /// "Ada's sister: Eva"; the word is the default without a topic.
    Role(&'static str),
}

/// The sentence form of each shipped predicate. Source: own choice of words for the names of `packs/predicates.toml`.
const FORMS: [(&str, Form); 40] = [
    ("name", Form::Noun("name")),
    ("pronouns", Form::Noun("pronouns")),
    ("birthday", Form::Noun("birthday")),
    ("age", Form::Noun("age")),
    ("comes_from", Form::Verb("comes from")),
    ("lives_in", Form::Verb("lives in")),
    ("timezone", Form::Noun("time zone")),
    ("speaks", Form::Verb("speaks")),
    ("contact", Form::Role("contact")),
    ("works_at", Form::Verb("works at")),
    ("role", Form::Noun("job")),
    ("works_on", Form::Verb("works on")),
    ("studies", Form::Verb("studies")),
    ("studies_at", Form::Verb("studies at")),
    ("skill", Form::Noun("skill")),
    ("uses", Form::Verb("uses")),
    ("setting", Form::Noun("setting")),
    ("partner", Form::Role("partner")),
    ("relative", Form::Role("relative")),
    ("knows", Form::Role("acquaintance")),
    ("pet", Form::Role("pet")),
    ("member_of", Form::Verb("is a member of")),
    ("owns", Form::Verb("owns")),
    ("health", Form::Noun("health")),
    ("allergic_to", Form::Verb("is allergic to")),
    ("diet", Form::Noun("diet")),
    ("likes", Form::Verb("likes")),
    ("dislikes", Form::Verb("dislikes")),
    ("prefers", Form::Verb("prefers")),
    ("favourite", Form::Kind("favourite")),
    ("habit", Form::Noun("habit")),
    ("goal", Form::Noun("goal")),
    ("plan", Form::Noun("plan")),
    ("did", Form::Noun("activity")),
    ("attended", Form::Verb("attended")),
    ("visited", Form::Verb("visited")),
    ("acquired", Form::Verb("got")),
    ("achieved", Form::Noun("achievement")),
    ("decided", Form::Noun("decision")),
    ("deadline", Form::Noun("deadline")),
];

/// Predicates whose name already says that they are intended.
const INTENDED: [&str; 3] = ["goal", "plan", "deadline"];

/// Question words that a predicate answers, in addition to those of its sentence form.
///
/// Source: own choice for the supported languages; the other predicates share a word with their value or their topic.
const ANSWERS: [(&str, &str); 13] = [
    (
        "lives_in",
        "live lives move moved home residence wohnt wohnst lebt umgezogen zuhause habite vit vive mora 住在 住哪 搬到",
    ),
    ("comes_from", "origin born move moved hometown herkunft geboren vient née nació viene nasceu 来自 老家"),
    (
        "works_at",
        "work works job company employer arbeitet arbeitest firma travaille trabaja trabalha 工作 公司 上班",
    ),
    (
        "role",
        "work occupation profession career beruf arbeitet métier travaille trabajo profesión profissão 职业 工作",
    ),
    ("birthday", "born geburtstag geboren anniversaire cumpleaños aniversário 生日"),
    (
        "partner",
        "married husband wife spouse boyfriend girlfriend verheiratet mari femme esposo esposa marido 结婚 妻子 丈夫",
    ),
    ("relative", "family kids children siblings parents familie famille familia família 家人 孩子 父母"),
    ("knows", "friends friend freunde amis amigos 朋友"),
    ("pet", "pets animals haustier animaux mascota animal 宠物"),
    ("allergic_to", "allergy allergies allergic allergie allergisch alergia 过敏"),
    ("diet", "eat food vegetarian isst essen mange come comida 吃"),
    ("likes", "like enjoy hobby hobbies interests mag gern aime gusta gosta 喜欢"),
    ("deadline", "due fällig frist échéance plazo prazo 截止"),
];

/// The displayed name of the user, whose real name is a fact like others.
const OWNER: &str = "the user";

/// The names of entities, for verbalizing facts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    entities: HashMap<EntityId, Arc<Entity>>,
    owners: Vec<EntityId>,
}

impl Names {
    /// Uses each entity's displayed name, and "the user" for the owners.
    pub(crate) fn new(entities: Vec<Arc<Entity>>, owners: Vec<EntityId>) -> Self {
        Self { entities: entities.into_iter().map(|entity| (entity.id, entity)).collect(), owners }
    }

    pub(crate) fn is_owner(&self, id: EntityId) -> bool {
        self.owners.contains(&id)
    }

    pub(crate) fn of(&self, id: EntityId) -> &str {
        if self.is_owner(id) {
            return OWNER;
        }
        self.entities.get(&id).map_or("somebody", |entity| entity.name.as_str())
    }

    pub(crate) fn value<'v>(&'v self, object: &'v Value) -> &'v str {
        match object {
            Value::Entity(id) => self.of(*id),
            Value::Literal { text, .. } => text,
        }
    }

    /// Returns a fact as a sentence; see [`verbalize`].
    pub(crate) fn sentence(&self, fact: &Fact) -> String {
        verbalize(fact, self.of(fact.subject), self.value(&fact.object))
    }

    /// Returns the question which of a slot's values is valid; each with its day and its speaker.
    pub(crate) fn question(&self, facts: &[&Fact]) -> String {
        let value = |fact: &&Fact| {
            let at = fact.supports.iter().map(|support| support.occurred_at).max();
            let at = at.map(|at| at.civil(&Zone::utc()).day_text()).unwrap_or_default();
            format!("\"{}\" ({}, {at})", self.value(&fact.object), fact.trust.as_str())
        };
        let values = facts.iter().map(value).collect::<Vec<_>>().join(" or ");
        let said = facts.first().map(|fact| frame(fact, self.of(fact.subject), &values)).unwrap_or_default();
        format!("disputed, ask which holds: {said}")
    }
}

/// Returns a fact as a sentence with these names for subject and object, and since or until when: "Ada lives in Lyon (since
/// 2024-03-01)". Plans and denials are marked as such.
pub fn verbalize(fact: &Fact, subject: &str, object: &str) -> String {
    let said = frame(fact, subject, object);
    let said = match fact.act {
        Act::Negative => format!("it is not so that {said}"),
        Act::Plan if !INTENDED.contains(&fact.predicate.as_str()) => format!("{said}, as a plan"),
        _ => said,
    };
    let times = times(fact);
    if times.is_empty() { said } else { format!("{said} ({times})") }
}

/// Marks a sentence as said only after the moment that is asked about.
pub fn mark_later(sentence: String) -> String {
    sentence + " (said later)"
}

/// Combines subject, predicate, topic and these words.
fn frame(fact: &Fact, subject: &str, value: &str) -> String {
    let topic = fact.topic.as_deref();
    let name = fact.predicate.as_str();
    if !FORMS.iter().any(|(known, _)| *known == name) {
        let topic = topic.map(|topic| format!(" of {topic}")).unwrap_or_default();
        return format!("{subject}'s {}{topic}: {value}", name.replace('_', " "));
    }
    match (form(name), topic) {
        (Form::Verb(verb), None) => format!("{subject} {verb} {value}"),
        (Form::Verb(verb), Some(topic)) => format!("{subject} {verb} {value} ({topic})"),
        (Form::Noun(noun) | Form::Kind(noun), None) => format!("{subject}'s {noun}: {value}"),
        (Form::Noun(noun), Some(topic)) => format!("{subject}'s {noun} of {topic}: {value}"),
        (Form::Kind(noun), Some(topic)) => format!("{subject}'s {noun} {topic}: {value}"),
        (Form::Role(_), Some(role)) | (Form::Role(role), None) if value == role => {
            format!("{subject} has a {role}")
        }
        (Form::Role(_), Some(role)) | (Form::Role(role), None) => format!("{subject}'s {role}: {value}"),
    }
}

/// Returns the question words that a predicate answers: those of its sentence form, and others.
pub(crate) fn words(name: &str) -> [&'static str; 2] {
    let said = match form(name) {
        Form::Verb(words) | Form::Noun(words) | Form::Kind(words) | Form::Role(words) => words,
    };
    [said, ANSWERS.iter().find(|(known, _)| *known == name).map_or("", |(_, words)| words)]
}

/// A predicate outside the table belongs to a space's own pack.
fn form(name: &str) -> Form {
    FORMS.iter().find(|(known, _)| *known == name).map_or(Form::Noun("note"), |(_, form)| *form)
}

fn times(fact: &Fact) -> String {
    let is_event =
        predicate::of(fact.predicate.as_str()).is_some_and(|info| info.cardinality == Cardinality::Event);
    let info = predicate::of(fact.predicate.as_str());
    let is_value = info.is_some_and(|info| info.objects.iter().any(|object| object == "date"));
    let never_held = fact.valid_at.is_some() && fact.valid_at == fact.invalid_at;
    if is_value || never_held {
        return if fact.status == FactStatus::Superseded { "no longer".to_owned() } else { String::new() };
    }
    match (fact.since(), fact.until()) {
        (Some(from), None) if is_event && fact.valid_grain > Some(Granularity::Week) => format!("in {from}"),
        (Some(from), None) if is_event => format!("on {from}"),
        (Some(from), None) => format!("since {from}"),
        (None, Some(until)) => format!("until {until}"),
        (Some(from), Some(until)) => format!("from {from} until {until}"),
        (None, None) if fact.status == FactStatus::Superseded => "no longer".to_owned(),
        (None, None) => String::new(),
    }
}
