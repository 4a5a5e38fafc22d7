//! `mnemal fact`, and the output form of facts.

use anyhow::Result;
use mnemal::events::{FactChoice, FactDecision};
use mnemal::extract::{Act, Granularity, WorldTime};
use mnemal::graph::{Cardinality, DecisionSubject, FactView, SourceSentence, Value};
use mnemal::types::{FactId, Predicate};
use mnemal::{AsOf, Decision, Error, ErrorKind, EventId, FactFilter, Graph, Memory, Timestamp, Within, Zone};
use serde::Serialize;

use super::decided;
use super::entity::always;
use crate::args::{Fact, FactTime, Global};
use crate::confirm::RunMode;
use crate::output::Output;
use crate::time;

/// Lists facts, or decides about one.
pub(super) async fn run(memory: &Memory, global: &Global, call: Fact, output: &Output) -> Result<u8> {
    match call {
        Fact::List { about, predicate, when } => {
            list(memory, global, (about, predicate), moment(memory, &when)?, output).await
        }
        Fact::Add { subject, predicate, object, topic, since, until, dry_run } => {
            let graph = memory.facts().graph().await?;
            let subject = memory.facts().decision_subject(&subject).await?;
            let read = |text: Option<String>| text.as_deref().map(time::world).transpose();
            let choice = FactChoice::Add { valid_at: read(since)?, invalid_at: read(until)? };
            let predicate = Predicate::new(predicate)?;
            let (object, shown) = object_named(&graph, &object).await?;
            let said = NamedStatement { subject, shown };
            let fact = FactDecision {
                subject: said.subject.id,
                predicate,
                topic: topic.map(|topic| topic.to_lowercase()),
                object,
                choice,
                sources: Vec::new(),
            };
            add(memory, fact, said, RunMode::from(dry_run), output).await
        }
        Fact::Invalidate { what, at, wrong, dry_run } => {
            let at = match at {
                Some(at) => time::world(&at)?,
                None => {
                    WorldTime::from_seconds(memory.admin().engine().now().as_micros().div_euclid(1_000_000))
                }
            };
            let choice = if wrong { FactChoice::Reject } else { FactChoice::End { at } };
            invalidate(memory, &what, choice, RunMode::from(dry_run), output).await
        }
        Fact::Cardinality { predicate, cardinality, dry_run } => {
            let cardinality = Cardinality::from_name(&cardinality)
                .ok_or_else(|| Error::invalid(format!("no cardinality {cardinality:?}")))?;
            hold(memory, Predicate::new(predicate)?, cardinality, RunMode::from(dry_run), output).await
        }
    }
}

async fn list(
    memory: &Memory,
    global: &Global,
    (about, predicate): (Option<String>, Option<String>),
    as_of: AsOf,
    output: &Output,
) -> Result<u8> {
    let graph = memory.facts().graph().await?;
    let predicate = predicate.map(Predicate::new).transpose()?;
    let mut facts = if let Some(who) = about {
        match graph.whom(&who, as_of).await {
            Ok(entity) => graph.about(&[entity.id], as_of).await?,
            // The user exists even without a turn.
            Err(error) if error.kind() == ErrorKind::NotFound && mnemal::graph::value_key(&who) == "user" => {
                output.say("nothing is known of the user yet");
                Vec::new()
            }
            Err(error) => return Err(error.into()),
        }
    } else {
        let predicates = predicate.clone().map_or(Within::All, |one| Within::Only(vec![one]));
        let facts = graph.facts(&FactFilter { predicates, ..FactFilter::all() }, as_of).await?;
        if facts.is_empty() && predicate.is_none() {
            output.say("nothing is known yet");
        }
        facts
    };
    facts.retain(|fact| predicate.as_ref().is_none_or(|wanted| fact.predicate == *wanted));
    let told = memory.facts().describe_facts(&graph, facts, as_of).await?;
    let forms: Vec<FactForm> = told.iter().map(FactForm::from).collect();
    output.list(&forms, &FactsForm { facts: &forms }, || lines(&forms))?;
    Ok(super::gaps(&graph.gaps, global, output))
}

/// Subject and statement of a decision, by name.
struct NamedStatement {
    subject: DecisionSubject,
    shown: String,
}

async fn add(
    memory: &Memory,
    fact: FactDecision,
    said: NamedStatement,
    going: RunMode,
    output: &Output,
) -> Result<u8> {
    let (valid_at, invalid_at) = match fact.choice {
        FactChoice::Add { valid_at, invalid_at } => (valid_at, invalid_at),
        _ => (None, None),
    };
    let since = valid_at.map(|at| format!(", since {}", day(at))).unwrap_or_default();
    let until = invalid_at.map(|at| format!(", until {}", day(at))).unwrap_or_default();
    let what = fact.predicate.as_str().replace('_', " ");
    let text = format!("{} – {what}: {}{since}{until}", said.subject.name, said.shown);
    let DecisionSubject { name, introduction, .. } = said.subject;
    if let Some(introduction) = introduction {
        output.say(&format!("{name:?} is new here"));
        if going == RunMode::Really {
            let _ack = memory.facts().decide(introduction).await?.value;
        }
    }
    let names = [name, fact.predicate.to_string(), said.shown];
    decided(memory, Decision::Fact(fact), going, output, ("add", &names, &text)).await
}

/// Sets the cardinality of a predicate; a predicate without any claim is treated as a typo.
async fn hold(
    memory: &Memory,
    predicate: Predicate,
    cardinality: Cardinality,
    going: RunMode,
    output: &Output,
) -> Result<u8> {
    let decision = mnemal::graph::holding(predicate.clone(), cardinality)?;
    let filter = FactFilter { predicates: Within::Only(vec![predicate.clone()]), ..FactFilter::all() };
    if !mnemal::graph::is_shipped(&predicate)
        && memory.facts().graph().await?.history(&filter).await?.is_empty()
    {
        return Err(Error::not_found(format!("nothing is said with {predicate:?} here")).into());
    }
    let how = match cardinality {
        Cardinality::One => "one value for life",
        Cardinality::Now => "one value at a time",
        Cardinality::NowPerTopic => "one value at a time for each topic",
        _ => "many values at once",
    };
    let text = format!("{} – holds {how}", predicate.as_str().replace('_', " "));
    let names = [predicate.to_string(), cardinality.as_str().to_owned()];
    decided(memory, decision, going, output, ("cardinality", &names, &text)).await
}

/// Resolves an object: a known entity of that name, or a literal text.
async fn object_named(graph: &Graph, object: &str) -> Result<(Value, String)> {
    match graph.exactly(object, always()).await {
        Ok(entity) => Ok((Value::Entity(entity.id), entity.name)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let text = object.trim().to_owned();
            let key = mnemal::graph::value_key(&text);
            Ok((Value::Literal { text: text.clone(), key }, text))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn invalidate(
    memory: &Memory,
    what: &[String],
    choice: FactChoice,
    going: RunMode,
    output: &Output,
) -> Result<u8> {
    let graph = memory.facts().graph().await?;
    let as_of = AsOf::present(memory.admin().engine().now());
    let told = resolve_fact(memory, &graph, what, as_of).await?;
    let (line, fact) = (told.line(), told.fact);
    let text = match choice {
        FactChoice::End { at } => format!("over since {}: {line}", day(at)),
        _ => format!("never was so: {line}"),
    };
    let decision = Decision::Fact(FactDecision {
        subject: fact.subject,
        predicate: fact.predicate,
        topic: fact.topic,
        object: fact.object,
        choice,
        sources: Vec::new(),
    });
    decided(memory, decision, going, output, ("invalidate", &[line], &text)).await
}

/// Resolves one fact by its id, or by subject, predicate and object among the valid ones.
async fn resolve_fact(memory: &Memory, graph: &Graph, what: &[String], as_of: AsOf) -> Result<FactView> {
    let facts = match what {
        [id] => {
            let id: FactId = id.parse()?;
            let mut facts = graph.facts(&FactFilter::all(), as_of).await?;
            facts.retain(|fact| fact.id == id);
            facts
        }
        [subject, predicate, rest @ ..] => {
            let subject = graph.whom(subject, as_of).await?;
            let filter = FactFilter {
                subjects: Within::Only(vec![subject.id]),
                predicates: Within::Only(vec![Predicate::new(predicate.as_str())?]),
                ..FactFilter::all()
            };
            let mut facts = graph.facts(&filter, as_of).await?;
            if let [object, ..] = rest {
                let (value, words) = (object_named(graph, object).await?.0, mnemal::graph::value_key(object));
                facts.retain(|fact| match &fact.object {
                    Value::Literal { text, .. } => mnemal::graph::value_key(text) == words,
                    entity @ Value::Entity(_) => *entity == value,
                });
            }
            facts
        }
        [] => Vec::new(),
    };
    let wanted = what.join(" ");
    match <[FactView; 1]>::try_from(memory.facts().describe_facts(graph, facts, as_of).await?) {
        Ok([told]) => Ok(told),
        Err(found) if found.is_empty() => {
            Err(Error::not_found(format!("no fact that holds is meant by {wanted:?}")).into())
        }
        Err(found) => {
            let list: Vec<String> =
                found.iter().map(|told| format!("{} {}", told.fact.id, told.line())).collect();
            let many = format!("{wanted:?} means {} facts; say the id of one: ", found.len());
            Err(Error::invalid(many + &list.join("; ")).into())
        }
    }
}

/// Returns the queried times.
pub(super) fn moment(memory: &Memory, when: &FactTime) -> Result<AsOf> {
    let read = |text: &Option<String>| text.as_deref().map(time::read).transpose();
    let world = read(&when.as_of)?.unwrap_or_else(|| memory.admin().engine().now());
    Ok(AsOf { world, belief: read(&when.believed_at)?.unwrap_or(Timestamp::MAX) })
}

/// Returns a line for each fact.
pub(super) fn lines(forms: &[FactForm]) -> String {
    forms.iter().map(|form| form.line.clone()).collect::<Vec<_>>().join("\n")
}

/// Formats a world time: its day, with the time of day unless it is midnight.
pub(super) fn day(at: WorldTime) -> String {
    let civil = at.civil(&Zone::utc());
    if (civil.hour, civil.minute, civil.second) == (0, 0, 0) {
        return civil.day_text();
    }
    format!("{}T{:02}:{:02}:{:02}Z", civil.day_text(), civil.hour, civil.minute, civil.second)
}

#[derive(Serialize)]
struct FactsForm<'f> {
    facts: &'f [FactForm],
}

/// An entity by id and name.
#[derive(Debug, Serialize)]
pub(super) struct NameForm {
    pub(super) id: String,
    pub(super) name: String,
}

/// The object of a fact.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ObjectForm {
    /// An entity.
    Entity(NameForm),
    /// A literal text.
    Literal(String),
}

/// The JSON form of a fact.
#[derive(Debug, Serialize)]
pub(super) struct FactForm {
    id: String,
    subject: NameForm,
    predicate: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    object: ObjectForm,
    act: &'static str,
    confidence: f32,
    strength: f32,
    trust: &'static str,
    level: &'static str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invalid_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_grain: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invalid_grain: Option<&'static str>,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expired_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded: Option<&'static str>,
    source_event_ids: Vec<String>,
    /// For people.
    #[serde(skip)]
    line: String,
}

impl From<&FactView> for FactForm {
    fn from(told: &FactView) -> Self {
        let fact = &told.fact;
        let events = told.events();
        let sources =
            if events.len() == 1 { "1 source".to_owned() } else { format!("{} sources", events.len()) };
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
            superseded: fact.superseded.as_ref().map(|by| by.reason.as_str()),
            source_event_ids: events.iter().map(EventId::to_string).collect(),
            line: format!("{}  ({}, {sources})", told.line(), told.sureness()),
        }
    }
}

/// A source sentence of a fact.
#[derive(Serialize)]
pub(super) struct SentenceForm {
    event_id: String,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
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
