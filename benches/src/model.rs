//! Language-model passes on a space: results, cost, and robustness.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use mnemal::admin::RebuildMode;
use mnemal::dream::DreamMode;
use mnemal::events::LedgerKind;
use mnemal::learnings::LearningStatus;
use mnemal::model::ModelStatus;
use mnemal::types::{Layer, OwnerId};
use mnemal::{Engine, Fact, FactFilter, LearningFilter, Memory, Message, Scope, SessionId, SpaceId};
use mnemal_core::{Document, Metadata, Passage};
use serde_json::{Value, json};

use crate::replay::ReplayTurn;

/// Notes of which two each say nearly the same and neither says it all.
const NEAR: [[&str; 2]; 6] = [
    [
        "Anna keeps the spare key of the boat house in the blue tin",
        "Anna keeps the spare key of the boat house in the tin on Friday",
    ],
    [
        "The deploy of the billing service waits for Omar and for the nightly backup",
        "The deploy of the billing service waits for the nightly backup in Dublin",
    ],
    [
        "Lena wants the weekly report of the warehouse as a short table",
        "Lena wants the weekly report of the warehouse as a table without colours",
    ],
    [
        "The train from Turin to Genoa with the bikes leaves from platform 4",
        "The train from Turin to Genoa leaves from platform 4 with the slow doors",
    ],
    [
        "Kofi repairs the old loom of the museum with brass parts every March",
        "Kofi repairs the old loom of the museum with brass parts from Leeds",
    ],
    [
        "The choir of Maria sings in the chapel behind the market at noon",
        "The choir of Maria sings in the chapel behind the market in winter",
    ],
];

/// The result.
#[derive(Clone, Debug, Default)]
pub struct ModelReport {
    /// Cycles that were run.
    pub cycles: u64,
    /// Proposals that were carried out, by kind.
    pub accepted: BTreeMap<&'static str, u64>,
    /// Proposals that were refused, by kind and reason.
    pub refused: BTreeMap<String, u64>,
    /// Groups of notes or turns that are left alone, by pass and reason.
    pub left: BTreeMap<String, u64>,
    /// Passes that stopped, with the kind of their error.
    pub stopped: BTreeMap<String, u64>,
    /// Questions by purpose and outcome: number, requests, tokens sent and received.
    pub calls: BTreeMap<String, [u64; 4]>,
    /// Entries of conversations, by who wrote them.
    pub entries: BTreeMap<&'static str, u64>,
    /// Operations of the model that were undone with one call.
    pub of_model: u64,
    /// Claims that a model found and the gates accepted: subject and value.
    pub claims: Vec<(String, String)>,
    /// Notes that were gone at the end and that no operation archived.
    pub lost: u64,
    /// Rows of the graph and notes that differ from a rebuild from the log.
    pub unlike_log: u64,
    /// Operations after whose undoing notes and facts were not as before all of them.
    pub not_undone: u64,
}

impl ModelReport {
    /// Whether nothing broke, whatever the quality of the model.
    pub fn is_sound(&self) -> bool {
        (self.lost, self.unlike_log, self.not_undone) == (0, 0, 0)
    }

    /// Returns it as a JSON object.
    pub fn json(&self) -> Value {
        let calls: BTreeMap<&String, Value> = self
            .calls
            .iter()
            .map(|(name, counts)| {
                let [questions, requests, sent, received] = counts;
                (
                    name,
                    json!({"questions": questions, "requests": requests, "sent": sent, "received": received}),
                )
            })
            .collect();
        json!({
            "cycles": self.cycles, "accepted": self.accepted, "refused": self.refused, "left": self.left,
            "entries": self.entries, "taken_back_at_once": self.of_model, "stopped": self.stopped, "calls": calls, "claims": self.claims, "lost": self.lost,
            "unlike_log": self.unlike_log, "not_undone": self.not_undone, "sound": self.is_sound(),
        })
    }
}

/// The input of a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelInput<'w> {
    /// What is said.
    pub turns: &'w [ReplayTurn],
    /// Texts that are read in.
    pub files: &'w [String],
    /// Cycles that ask the model.
    pub cycles: u64,
}

/// Tells an engine turns, texts and notes, has each conversation compressed, runs so many cycles that ask its model, looks
/// whether anything was lost, and takes everything back that the model did, with one call, then what the rules did.
///
/// # Errors
/// The errors of the engine; bad model output is no error.
pub async fn at_work(
    engine: &Engine,
    ModelInput { turns, files, cycles }: ModelInput<'_>,
) -> Result<ModelReport> {
    let memory = engine.memory(Scope::whole(SpaceId::new("bench")?));
    for said in turns {
        let session = SessionId::new(&said.session)?;
        let _ack = memory.log(Message::user(&said.text).session(session)).await?;
    }
    for (number, text) in files.iter().enumerate() {
        let _read = memory.events().ingest(&document(number, text)).await?;
    }
    for note in NEAR.as_flattened() {
        let _stored = memory.remember(*note).await?;
    }
    let _graph = memory.facts().graph().await?;
    let before = state(&memory).await?;
    let mut seen = ModelReport { cycles, ..ModelReport::default() };
    let (owner, mut operations) = (OwnerId::new("bench-model")?, Vec::new());
    for _ in 0..cycles {
        let cycle = engine.dream(&owner, DreamMode::Asked).await?;
        for judged in cycle.accepted() {
            *seen.accepted.entry(judged.proposal.operation.kind.as_str()).or_default() += 1;
            operations.extend(judged.event);
        }
        for judged in cycle.refused() {
            let why = judged.refused.as_ref().map_or("", mnemal::dream::Refusal::as_str);
            *seen.refused.entry(format!("{} {why}", judged.proposal.operation.kind.as_str())).or_default() +=
                1;
        }
        for failed in cycle.failed {
            *seen.stopped.entry(failed).or_default() += 1;
        }
        seen.lost += cycle.vanished;
    }
    for line in engine.dream_ledger(LedgerKind::Left).await? {
        let pass = line.key.split(':').next().unwrap_or_default();
        *seen.left.entry(format!("{pass}: {}", line.note)).or_default() += 1;
    }
    seen.calls = calls(&engine.model_status().await?);
    for session in turns.iter().map(|said| &said.session).collect::<BTreeSet<_>>() {
        let entry = memory.events().compress(SessionId::new(session)?).await?.value.entry;
        let how = entry.as_ref().map_or("none", |entry| entry.method.as_str());
        *seen.entries.entry(how).or_default() += 1;
        operations.extend(entry.map(|entry| entry.event));
    }
    seen.calls = calls(&engine.model_status().await?);
    let found = facts(&memory).await?;
    let found = found.iter().filter(|fact| fact.supports.iter().any(mnemal::graph::Support::is_of_model));
    seen.claims = found.map(|fact| (fact.predicate.as_str().to_owned(), fact.object.key())).collect();
    seen.unlike_log = unlike_log(engine).await?;
    let undone: BTreeSet<_> = memory.admin().engine().undo_model().await?.value.into_iter().collect();
    seen.of_model = undone.len() as u64;
    operations.retain(|event| !undone.contains(event));
    operations.reverse();
    for event in operations {
        let undo = memory.facts().undoing(event).await?;
        let _undone = memory.facts().decide(undo).await?;
    }
    seen.not_undone = u64::from(state(&memory).await? != before);
    seen.unlike_log += unlike_log(engine).await?;
    Ok(seen)
}

/// Returns the notes that hold, and what is believed with the places where it was said; a version that comes back has another id.
async fn state(memory: &Memory) -> Result<BTreeSet<String>> {
    let rows = memory.preferences().all_learnings(&LearningFilter::all()).await?;
    let holds = rows.into_iter().filter(|row| row.status == LearningStatus::Active);
    let notes = holds.map(|row| row.content);
    let says = |fact: Fact| {
        let sources: BTreeSet<_> = fact.supports.iter().map(|one| (one.source, one.rule.as_str())).collect();
        format!("{} {} {} {:?} {sources:?}", fact.subject, fact.predicate, fact.object.key(), fact.status)
    };
    Ok(notes.chain(facts(memory).await?.into_iter().map(says)).collect())
}

fn document(number: usize, text: &str) -> Document {
    let mut hash = [0_u8; 32];
    hash.iter_mut().zip(number.to_le_bytes()).for_each(|(one, byte)| *one = byte);
    let name = format!("{number:03}.txt");
    Document {
        name: name.clone(),
        kind: "text".to_owned(),
        hash,
        written_at: None,
        fields: Metadata::new(),
        passages: vec![Passage { text: text.to_owned(), ..Passage::default() }],
        location: Some(name),
        undescribed: None,
    }
}

async fn facts(memory: &Memory) -> Result<Vec<Fact>> {
    let graph = memory.facts().graph().await?.value;
    let now = mnemal::AsOf::present(memory.admin().engine().now());
    Ok(graph.facts(&FactFilter::all(), now).await?)
}

async fn unlike_log(engine: &Engine) -> Result<u64> {
    let mut rows = 0;
    for layer in [Layer::Graph, Layer::Learnings] {
        rows += engine.rebuild(layer, RebuildMode::Check).await?.rows;
    }
    Ok(rows)
}

fn calls(status: &ModelStatus) -> BTreeMap<String, [u64; 4]> {
    let of = |calls: &mnemal::model::ModelCalls| {
        let name = format!("{} {}", calls.purpose.as_str(), calls.outcome.as_str());
        let usage = calls.usage;
        (name, [calls.calls, calls.requests, u64::from(usage.sent.0), u64::from(usage.received.0)])
    };
    status.calls.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use mnemal::model::{BackgroundPermit, Completion, Prompt, Purpose, Usage};
    use mnemal::ports::LanguageModel;
    use mnemal::types::{ModelId, TokenCount};

    use super::*;

    /// Reads one claim right, makes one up, and says all that two notes say.
    #[derive(Debug)]
    struct ScriptedModel(ModelId);

    #[async_trait]
    impl LanguageModel for ScriptedModel {
        fn model(&self) -> &ModelId {
            &self.0
        }

        async fn complete(
            &self,
            permit: &mut BackgroundPermit,
            prompt: &Prompt,
        ) -> mnemal::Result<Completion> {
            permit.pay(TokenCount(100))?;
            let quote = "the thing that makes my evening is barley";
            let claim = |quote: &str, value: &str| json!({"message": 1, "quote": quote, "subject": "user", "relation": "likes", "value": value});
            let text = match prompt.purpose {
                Purpose::Extract => {
                    json!({"claims": [claim(quote, "barley"), claim("I like rye", "rye")]}).to_string()
                }
                _ => "Nobody knows.".to_owned(),
            };
            Ok(Completion { text, model: self.0.clone(), usage: Usage::default() })
        }
    }

    #[tokio::test]
    async fn what_a_model_did_is_counted_and_taken_back() {
        let engine = Engine::builder()
            .with_language_model(Arc::new(ScriptedModel(ModelId::new("scripted").unwrap())))
            .in_memory()
            .unwrap();
        let said: ReplayTurn = serde_json::from_value(json!({
            "session": "one", "speaker": "Ada", "text": "These days the thing that makes my evening is barley.",
        }))
        .unwrap();
        let work = ModelInput { turns: &[said], files: &["Ines rents slip no. 14.".to_owned()], cycles: 2 };
        let seen = at_work(&engine, work).await.unwrap();
        assert!(seen.is_sound(), "{seen:?}");
        assert_eq!((seen.accepted.get("claim"), seen.claims.len()), (Some(&1), 1), "{seen:?}");
        assert!(seen.left.keys().any(|left| left.starts_with("merges")), "{seen:?}");
        assert!(seen.calls.values().any(|[questions, ..]| *questions > 0), "{seen:?}");
    }
}
