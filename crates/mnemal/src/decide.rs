//! Decisions of the user about facts and entities: one event in the log each, and its undo.

use std::collections::BTreeSet;

use mnemal_core::{
    AsOf, Cardinality, Cursor, Decision, Degraded, Entity, EntityId, EntityKind, Error, ErrorKind, Event,
    EventFilter, EventId, EventKind, FactChoice, FactDecision, FactFilter, Gazetteer, Origin, Predicate,
    Result, Role, Timestamp, Value, Within,
};
use mnemal_events::Ack;
use mnemal_text::fold;

use crate::areas::FactsHandle;
use crate::memory::Memory;
use crate::message::Message;
use crate::span::Operation;

/// Events per page of a log search for a name. Source: own default, the largest batch of one append (1,000 events).
const PAGE: std::num::NonZeroUsize = std::num::NonZeroUsize::new(1_000).expect("a page holds something");
/// First letter of the blocks of Chinese and Japanese scripts, which use no spaces. Source: Unicode, CJK Radicals.
const WITHOUT_BLANKS: char = '\u{2e80}';
/// Shortest name that is searched for in texts that no extractor reads, in characters. Source: RockBot's mention matching, which
/// skips shorter names.
const TELLING: usize = 3;

/// Returns the decision that changes the display name of an entity; older names still find it.
///
/// # Errors
/// `Invalid` for a blank name.
pub fn renaming(id: EntityId, name: &str) -> Result<Decision> {
    let name = name.trim();
    if name.is_empty() {
        return Err(Error::invalid("a name must not be empty"));
    }
    Ok(Decision::Fact(FactDecision {
        subject: id,
        predicate: Predicate::new("name")?,
        topic: None,
        object: Value::Literal { text: name.to_owned(), key: value_key(name) },
        choice: FactChoice::Add { valid_at: None, invalid_at: None },
        sources: Vec::new(),
    }))
}

/// Returns the decision that sets the cardinality of a predicate in this space.
///
/// # Errors
/// `Invalid` for an event predicate, whose cardinality is fixed, and for making any predicate one.
pub fn holding(predicate: Predicate, cardinality: Cardinality) -> Result<Decision> {
    let shipped = mnemal_extract::predicate::of(predicate.as_str()).map(|info| info.cardinality);
    if shipped == Some(Cardinality::Event) {
        return Err(Error::invalid(format!("{predicate} is what happens, and each time stands for itself")));
    }
    if cardinality == Cardinality::Event {
        return Err(Error::invalid(format!("{predicate} cannot become what happens")));
    }
    Ok(Decision::Cardinality { predicate, cardinality })
}

/// Whether a predicate is one of the shipped table; any other is custom to the space.
pub fn is_shipped(predicate: &Predicate) -> bool {
    mnemal_extract::predicate::of(predicate.as_str()).is_some()
}

/// Returns the value key of a fact's object: texts with the same key are one value.
pub fn value_key(words: &str) -> String {
    fold(words)
}

/// The entity that a decision is about.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionSubject {
    /// Its id.
    pub id: EntityId,
    /// Its name.
    pub name: String,
    /// The decision that creates the entity if it is not known yet; log it first.
    pub introduction: Option<Decision>,
}

impl Memory {
    /// Returns an entity that is not known yet.
    fn stranger(&self, who: &str) -> Result<DecisionSubject> {
        let name = who.trim().to_owned();
        if fold(&name) == "user" {
            let id = mnemal_graph::speaker_id(self.scope.user.only());
            return Ok(DecisionSubject { id, name, introduction: None });
        }
        let mentions = mnemal_extract::mentions(&name, &Gazetteer::default());
        let kind = match mentions.as_slice() {
            [one] if one.name == name && one.kind != EntityKind::Identifier => one.kind,
            _ => EntityKind::Person,
        };
        let id = mnemal_graph::name_id(&name, kind);
        Ok(DecisionSubject { introduction: Some(renaming(id, &name)?), id, name })
    }

    /// Rejects a decision about records of another user, in a memory of one user.
    async fn must_be_decidable(&self, decision: &Decision) -> Result<()> {
        if let Decision::Fact(fact) = decision
            && let Value::Literal { text, .. } = &fact.object
            && text.trim().is_empty()
        {
            return Err(Error::invalid("a fact needs an object, and a name its letters: give some text"));
        }
        if let Decision::Fact(fact) = decision
            && let FactChoice::Add { valid_at: Some(from), invalid_at: Some(until) } = fact.choice
            && until <= from
        {
            return Err(Error::invalid("a fact must end after it starts: `until` is not later than `since`"));
        }
        if self.only_user().is_none() {
            return Ok(());
        }
        match decision {
            Decision::Archive(target) | Decision::Restore(target) | Decision::Reject(target) => {
                let sources = target.sources.iter().map(|source| source.event.to_string());
                let named: Vec<String> =
                    target.key.iter().map(ToString::to_string).chain(sources).take(1).collect();
                for name in named {
                    let _own = self.preferences().learning(&name).await?;
                }
                Ok(())
            }
            Decision::Undo { decision } => self.events().get(*decision).await.map(drop),
            Decision::Merge { one, into: other } | Decision::Split { one, from: other } => {
                self.must_know(&[*one, *other]).await
            }
            Decision::Fact(fact) => match fact.object.entity() {
                Some(object) => self.must_know(&[fact.subject, object]).await,
                None if fact.predicate.as_str() == "name" => Ok(()),
                None => self.must_know(&[fact.subject]).await,
            },
            Decision::Cardinality { .. } => self.must_be_whole("how many values a predicate holds"),
            _ => Ok(()),
        }
    }

    /// Rejects entities that the user of this memory never mentioned.
    async fn must_know(&self, ids: &[EntityId]) -> Result<()> {
        let graph = self.facts().graph().await?.value;
        let own = mnemal_graph::speaker_id(self.only_user());
        for id in ids.iter().filter(|id| **id != own) {
            let _known = graph.whom(&id.to_string(), AsOf::present(Timestamp::MAX)).await?;
        }
        Ok(())
    }

    /// Logs a decision about a note, as an observed operation.
    pub(crate) async fn updating(
        &self,
        logged: impl Future<Output = Result<Degraded<Ack>>>,
    ) -> Result<Degraded<Ack>> {
        let observed = self.observed(Operation::Update);
        observed.run(Box::pin(logged), |ack, observed| observed.gaps(&ack.gaps)).await
    }

    /// Returns the graph if it has caught up with the log.
    pub(crate) async fn graph_of_all(&self) -> Result<mnemal_graph::Graph> {
        let graph = self.facts().graph().await?;
        let behind = match self.only_user() {
            Some(_) => graph.gaps.clone(),
            None => self.engine.fold_graph().await,
        };
        match behind.first() {
            Some(gap) => Err(Error::new(
                ErrorKind::Unavailable,
                format!("the graph has not read everything yet ({gap}); try again"),
            )),
            None => Ok(graph.value),
        }
    }

    pub(crate) async fn each_event(&self, mut with: impl FnMut(&Event)) -> Result<()> {
        let mut after = Cursor::START;
        loop {
            let page = self.events().scan(&EventFilter::all(), after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Cursor(Some(last.seq));
            page.iter().for_each(&mut with);
        }
    }
}

impl FactsHandle<'_> {
    /// Resolves an id or a name to the entity that a decision is about, or prepares a new entity. `user` means the speaker
    /// without a name.
    ///
    /// # Errors
    /// `NotFound` for an unknown id; `Invalid` for an ambiguous name, with the candidates in the message, and for an invalid
    /// name; `Unsupported` without a graph; `Unavailable` when the store does not answer.
    pub async fn decision_subject(self, who: &str) -> Result<DecisionSubject> {
        let always = AsOf::present(Timestamp::MAX);
        match self.graph().await?.value.whom(who, always).await {
            Ok(entity) => Ok(DecisionSubject { id: entity.id, name: entity.name, introduction: None }),
            Err(error) if error.kind() == ErrorKind::NotFound && who.parse::<EntityId>().is_err() => {
                self.memory.stranger(who)
            }
            Err(error) => Err(error),
        }
    }

    /// Logs a user decision about a fact, a predicate, a note or a learning, or the merge or split of two entities. The next read
    /// reflects it, including a context, which does not read the log into the graph itself.
    ///
    /// # Errors
    /// `Invalid` for a decision of another kind; as [`log`](crate::Memory::log).
    pub async fn decide(self, decision: Decision) -> Result<Degraded<Ack>> {
        Box::pin(self.memory.must_be_decidable(&decision)).await?;
        match decision {
            Decision::Fact(_)
            | Decision::Merge { .. }
            | Decision::Split { .. }
            | Decision::Cardinality { .. }
            | Decision::Archive(_)
            | Decision::Restore(_)
            | Decision::Reject(_)
            | Decision::Undo { .. } => {
                if let Decision::Undo { decision: taken } = &decision {
                    self.memory.hold_back(*taken).await?;
                }
                let decision = self.memory.with_sources(decision).await?;
                let is_of_notes =
                    matches!(decision, Decision::Archive(_) | Decision::Restore(_) | Decision::Reject(_));
                let decided = Message::of(EventKind::Decision(decision), Origin::UserDirect, "");
                let logged = self.memory.log(decided);
                let mut ack = if is_of_notes { self.memory.updating(logged).await? } else { logged.await? };
                let gaps = self.memory.engine.fold_graph().await;
                ack.gaps.extend(gaps);
                Ok(ack)
            }
            _ => Err(Error::invalid(
                "only facts, predicates, entities, notes and learnings are decided about here",
            )),
        }
    }

    /// Logs that the agent archived or restored a note. Notes that the user stated or confirmed do not change.
    ///
    /// # Errors
    /// `Invalid` for any other decision, which only the user may make; as [`log`](crate::Memory::log).
    pub async fn decide_by_agent(self, decision: Decision) -> Result<Degraded<Ack>> {
        match decision {
            Decision::Archive(_) | Decision::Restore(_) => {
                Box::pin(self.memory.must_be_decidable(&decision)).await?;
                self.memory
                    .updating(self.memory.log(Message::of(
                        EventKind::Decision(decision),
                        Origin::Assistant,
                        "",
                    )))
                    .await
            }
            _ => Err(Error::invalid(
                "an agent puts notes away and takes them out again; the rest is the user's",
            )),
        }
    }

    /// Returns the decision that undoes a decision about a fact, a name, a merge, a split, a predicate, a note or a learning, a
    /// release, or an operation.
    ///
    /// # Errors
    /// `NotFound` when there is no such event; `Invalid` for other events, for an undo, and for a forget, which cannot be undone;
    /// `Conflict`, with their ids, when later operations build on this one: undo them first.
    pub async fn undoing(self, decision: EventId) -> Result<Decision> {
        let event = self.memory.events().get(decision).await?;
        match event.body().map(|kept| &kept.kind) {
            Some(EventKind::Decision(taken)) if taken.can_be_undone() => Ok(Decision::Undo { decision }),
            Some(EventKind::Operation(operation)) => {
                let built = crate::dream::built_on(self.memory, &event, operation).await?;
                if built.is_empty() {
                    return Ok(Decision::Undo { decision });
                }
                Err(Error::new(
                    ErrorKind::Conflict,
                    format!(
                        "{} build on {decision}; take them back first",
                        built.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                    ),
                ))
            }
            Some(EventKind::Decision(Decision::Forget(_))) => {
                Err(Error::invalid(format!("{decision} is a forget, and there is no undo")))
            }
            _ => Err(Error::invalid(format!("{decision} is no decision that can be taken back"))),
        }
    }

    /// Returns the events that mention an entity: those from which the graph read it, decisions about it, turns of a speaker with
    /// one of its names, texts that no extractor reads (notes, tool results, quarantined events) with one of its names, and texts
    /// with a form or a compound of one ("Ottilies Adresse", "die Ottilie-Akte"), if no other entity has that name.
    ///
    /// # Errors
    /// `Unavailable` when the graph is behind the log, because the answer would be incomplete: try again.
    pub async fn naming(self, id: EntityId) -> Result<Vec<EventId>> {
        let always = AsOf::present(Timestamp::MAX);
        let graph = self.memory.graph_of_all().await?;
        let entity = graph.whom(&id.to_string(), always).await?;
        let mut ids: BTreeSet<EventId> =
            graph.mentions(entity.id, always).await?.iter().map(|row| row.source.event).collect();
        for filter in [
            FactFilter { subjects: Within::Only(vec![entity.id]), ..FactFilter::all() },
            FactFilter { objects: Within::Only(vec![entity.id]), ..FactFilter::all() },
        ] {
            let facts = graph.history(&filter).await?;
            ids.extend(facts.iter().flat_map(|fact| &fact.supports).map(|one| one.source.event));
        }
        let (mut names, mut written) = (Vec::new(), Vec::new());
        for name in entity.names.iter().filter(|name| name.text.chars().count() >= TELLING) {
            if graph.entities_named(&name.text, always).await?.len() == 1 {
                let name_words = words(&name.text);
                names.push(format!("{}s ", name_words.trim_end()));
                names.push(name_words);
                written.push(name.text.clone());
            }
        }
        self.memory
            .each_event(|event| {
                if is_about(event, &entity)
                    || says(event, &names)
                    || speaks(event, &entity)
                    || inflects(event, &written)
                {
                    ids.insert(event.id);
                }
            })
            .await?;
        Ok(ids.into_iter().collect())
    }
}

/// Whether an event is a decision about an entity, or a proposal of one.
fn is_about(event: &Event, entity: &Entity) -> bool {
    let is = |id: &EntityId| *id == entity.id;
    match event.body().map(|kept| &kept.kind) {
        Some(EventKind::Decision(Decision::Fact(fact))) => {
            is(&fact.subject) || fact.object.entity().is_some_and(|id| is(&id))
        }
        Some(EventKind::Decision(
            Decision::Merge { one, into: other } | Decision::Split { one, from: other },
        )) => is(one) || is(other),
        Some(EventKind::Operation(operation)) => operation.kind.entities().iter().any(is),
        _ => false,
    }
}

/// Whether an event's speaker has one of the names of an entity.
fn speaks(event: &Event, entity: &Entity) -> bool {
    let Some(speaker) = event.body().and_then(|kept| kept.speaker.as_ref()) else { return false };
    let label = fold(speaker.as_str());
    entity.names.iter().any(|name| fold(&name.text) == label)
}

/// Whether one of the names occurs as whole words in an event that the graph does not read.
fn says(event: &Event, names: &[String]) -> bool {
    let is_read = matches!(event.role, Role::User | Role::Assistant | Role::Document);
    let Some(kept) = event.body().filter(|_| !is_read || event.quarantined.is_some()) else { return false };
    let texts = std::iter::once(&kept.content).chain(kept.metadata.values());
    texts.into_iter().any(|text| {
        let text = words(text);
        names.iter().any(|name| text.contains(name.as_str()))
    })
}

/// Whether an event holds a genitive or a hyphenated compound of one of the names, as it is written: a form that is read as no
/// name of its own.
fn inflects(event: &Event, names: &[String]) -> bool {
    let Some(kept) = event.body() else { return false };
    names.iter().any(|name| has_form_of(&kept.content, name))
}

/// Whether a text has "Ottilies", "Ottilie's", "Hans’ " or "Ottilie-Akte" of a name.
fn has_form_of(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (text.get(..at), text.get(at + name.len()..));
        let starts = before.is_some_and(|before| !before.ends_with(char::is_alphanumeric));
        let Some(behind) = behind.filter(|_| starts) else { return false };
        let goes_on = |rest: &str| rest.starts_with(char::is_alphanumeric);
        behind.starts_with(['\'', '’'])
            || behind.strip_prefix('s').is_some_and(|rest| !goes_on(rest))
            || behind.strip_prefix('-').is_some_and(goes_on)
    })
}

/// Returns the folded words of a text, separated by one space, for whole-word matching; each letter of a script without spaces is
/// a word.
fn words(text: &str) -> String {
    let mut all = String::from(" ");
    for letter in fold(text).chars() {
        if letter >= WITHOUT_BLANKS {
            all.extend([' ', letter, ' ']);
        } else if letter.is_alphanumeric() {
            all.push(letter);
        } else {
            all.push(' ');
        }
    }
    all.push(' ');
    let words: Vec<&str> = all.split_whitespace().collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words_in_any_script() {
        for (text, name, found) in [
            ("Met ANNA, at last", "Anna", true),
            ("Joanna called", "Anna", false),
            ("anna-berg@example.org wrote", "Anna Berg", true),
            ("昨天见到张伟了", "张伟", true),
            ("昨天见到张三了", "张伟", false),
            ("Ёлка", "елка", true),
        ] {
            assert_eq!(words(text).contains(&words(name)), found, "{text} {name}");
        }
    }
}
