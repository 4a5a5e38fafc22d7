//! Learned contents of a space: facts as in `mnemal fact list`, preferences as in `mnemal preference list`.

use anyhow::{Result, bail, ensure};
use mnemal::context::RecordRef;
use mnemal::extract::Act;
use mnemal::graph::{FactStatus, FactView};
use mnemal::learnings::LearningStatus;
use mnemal::types::EntityId;
use mnemal::{
    AsOf, ErrorKind, EventId, Fact, FactFilter, Graph, Learning, LearningFilter, LearningKind, Memory,
    Message, SessionId, Timestamp, Zone,
};

use crate::spaces::{fold, is_behind};

/// Predicates whose value is a name.
const NAMES: [&str; 4] = ["name", "nickname", "called", "alias"];
/// Calls after which summaries that are still not whole never will be.
const MOST_CALLS: usize = 1_000;

/// What holds an item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layer {
    /// The graph.
    Fact,
    /// The wishes and tastes of the user.
    Preference,
}

impl Layer {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
        }
    }
}

/// One thing that is held.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What holds it.
    pub layer: Layer,
    /// Its record.
    pub record: RecordRef,
    /// Its status on the wire.
    pub status: &'static str,
    /// Its text, for people.
    pub text: String,
    /// Its text with its source words.
    pub words: String,
    /// The events that it rests on.
    pub events: Vec<EventId>,
    /// Whether it says who the user is.
    pub is_name: bool,
    /// Whether it says that something is not so.
    pub is_denied: bool,
}

impl Item {
    /// Whether it holds, and is not only waited for.
    pub fn is_active(&self) -> bool {
        self.status == FactStatus::Active.as_str()
    }

    /// Returns it with its layer and its status.
    pub fn line(&self) -> String {
        format!("{} ({}): {}", self.layer.as_str(), self.status, self.text)
    }
}

/// Whether a text holds one of the strings, whatever their case and their white space.
pub fn says(text: &str, strings: &[String]) -> bool {
    let text = plain(text);
    strings.iter().any(|string| text.contains(&plain(string)))
}

/// Returns a text in lower case with single blanks, straight quotes and no escapes of JSON.
pub fn plain(text: &str) -> String {
    let text = unescaped(text).to_lowercase().replace(['’', '‘'], "'");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.strip_prefix('u').and_then(|rest| rest.split_at_checked(4));
        let letter =
            code.and_then(|(code, rest)| Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, rest)));
        match letter {
            Some((letter, rest)) => plain.extend([letter.to_string().as_str(), rest]),
            None => match part.strip_prefix(['n', 't', 'r']) {
                Some(rest) => plain.extend([" ", rest]),
                None => plain.push_str(part),
            },
        }
    }
    plain
}

/// Writes a turn of the user, as `mnemal log add` does, and returns its id.
///
/// # Errors
/// A turn that was not stored.
pub async fn say(memory: &Memory, text: &str, session: &str, at: Timestamp) -> Result<EventId> {
    let message = Message::user(text).session(SessionId::new(session)?).occurred_at(at, Zone::utc());
    let ack = memory.log(message).await?;
    ensure!(ack.gaps.iter().all(is_behind), "a turn was not stored in full: {ack:?}");
    Ok(ack.id)
}

/// Returns the current knowledge about the user: active and candidate facts, and preferences.
///
/// # Errors
/// A layer that does not answer.
pub async fn of_the_user(memory: &Memory) -> Result<Vec<Item>> {
    let mut items = facts(memory, EntityFilter::User).await?;
    items.extend(preferences(memory).await?);
    Ok(items)
}

/// The entities whose facts are listed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EntityFilter {
    /// Facts about the user, or with the user as object.
    User,
    /// Of all entities.
    All,
}

/// Returns the facts that hold now, with those that are candidates.
///
/// # Errors
/// A graph that does not answer.
pub async fn facts(memory: &Memory, whose: EntityFilter) -> Result<Vec<Item>> {
    fold(memory).await?;
    let as_of = AsOf::present(memory.admin().engine().now());
    let graph = memory.facts().graph().await?;
    let mut facts = graph.facts(&FactFilter::all(), as_of).await?;
    let user = user(&graph, as_of).await?;
    let is_of_user = |fact: &Fact| user.is_some_and(|user| is_of(fact, user));
    facts.retain(|fact| is_held(fact.status) && (whose == EntityFilter::All || is_of_user(fact)));
    let told = memory.facts().describe_facts(&graph, facts, as_of).await?;
    Ok(told.into_iter().map(|told| item_of_fact(&told, user)).collect())
}

async fn user(graph: &Graph, as_of: AsOf) -> Result<Option<EntityId>> {
    match graph.whom("user", as_of).await {
        Ok(user) => Ok(Some(user.id)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_of(fact: &Fact, user: EntityId) -> bool {
    fact.subject == user || fact.object.entity() == Some(user)
}

fn is_held(status: FactStatus) -> bool {
    matches!(status, FactStatus::Active | FactStatus::Candidate | FactStatus::Disputed)
}

fn item_of_fact(told: &FactView, user: Option<EntityId>) -> Item {
    let text = told.line();
    let mut words = text.clone();
    // A value may be phrased differently; its source words count for it, unless it is a person of the wrapper.
    if told.fact.object.entity().is_none() {
        for sentence in &told.sentences {
            words.push(' ');
            words.push_str(&sentence.text);
        }
    }
    Item {
        layer: Layer::Fact,
        record: RecordRef::Fact(told.fact.id),
        status: told.fact.status.as_str(),
        text,
        words,
        events: told.events(),
        is_name: user == Some(told.fact.subject) && NAMES.contains(&told.fact.predicate.as_str()),
        is_denied: matches!(told.fact.act, Act::Negative | Act::End),
    }
}

/// Returns the wishes that `mnemal preference list` shows now, and those that are candidates.
///
/// # Errors
/// A store that does not answer.
pub async fn preferences(memory: &Memory) -> Result<Vec<Item>> {
    fold(memory).await?;
    let now = AsOf::present(memory.admin().engine().now());
    let holding = memory.preferences().learnings(&LearningFilter::all(), now).await?;
    let mut rows: Vec<Learning> = holding.into_iter().map(|row| row.item).collect();
    for row in memory.preferences().all_learnings(&LearningFilter::all()).await? {
        if row.status == LearningStatus::Candidate && rows.iter().all(|other| other.id != row.id) {
            rows.push(row);
        }
    }
    rows.retain(|row| matches!(row.kind, LearningKind::Preference | LearningKind::AntiPattern));
    Ok(rows.into_iter().map(item_of_learning).collect())
}

fn item_of_learning(row: Learning) -> Item {
    Item {
        layer: Layer::Preference,
        record: RecordRef::Learning(row.id),
        status: row.status.as_str(),
        events: row.sources.iter().map(|source| source.event).collect(),
        text: row.content.clone(),
        words: row.content,
        is_name: false,
        is_denied: false,
    }
}

/// Folds the log and builds all summaries, as maintenance does.
///
/// # Errors
/// Layers that are not folded to the end.
pub async fn settle(memory: &Memory) -> Result<()> {
    fold(memory).await?;
    for _ in 0..MOST_CALLS {
        let gaps = memory.admin().engine().refresh_summaries().await?;
        if gaps.is_empty() {
            return Ok(());
        }
        ensure!(gaps.iter().all(is_behind), "summaries are missing: {gaps:?}");
    }
    bail!("the summaries are not whole after {MOST_CALLS} calls")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_context_reads_as_its_turn_does() {
        let line = r#"\u003cLog>\nHe said\u003a \"no\""#;
        assert_eq!(plain(line), plain("<log>\nHe said: \"no\""));
    }
}
