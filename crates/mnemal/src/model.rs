//! Language models: calls, prompts, costs.

pub use mnemal_core::{
    BackgroundPermit, CallOutcome, Completion, ModelCall, ModelCaller, Prompt, Purpose, Usage, unusable,
};
#[cfg(feature = "http")]
pub use mnemal_providers::ApiKey;
pub use mnemal_providers::{ModelCaps, ModelUsage, RequestCounts};

mod undo;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Clock, CompletionCache, Error, EventId, Extraction, ExtractionContext, Gazetteer, IdSource,
    LanguageModel, LedgerStore, ModelDigester, ModelExtractor, ModelId, NoteJudge, Pass, Producer, Result,
    Slot, Summarizer, SummaryEditor, TaskEvaluator, TokenCount, Utterance,
};
use mnemal_dream::{JudgmentPass, MergesPass, ObjectivesPass, SummaryTextsPass};
use mnemal_events::Cleaner;
use mnemal_graph::{ModelExtractionPass, ModelReader};
use mnemal_providers::{CappedModel, RequestTally};

use crate::areas::FactsHandle;
use crate::engine::{Engine, missing};
use crate::guard::GuardedPort;
use crate::settings::{LlmSettings, SummaryBy};

/// Maximum length of the answer in [`Engine::check_model`], in tokens. Source: own choice; a reasoning model needs some.
const CHECKED: TokenCount = TokenCount(256);
/// Maximum length of its question, in tokens. Source: own choice.
const CHECKING: TokenCount = TokenCount(1_024);
/// Maximum number of its requests. Source: own choice; a person waits for the answer, so one retry must do.
const CHECKS: u32 = 2;
/// Requests of one on-demand task. Source: own choice, the same permit as a consolidation cycle.
const CALLS: u32 = 20;
/// Tokens of one on-demand task. Source: own choice, the same permit as a consolidation cycle.
const TOKENS: TokenCount = TokenCount(60_000);

/// The cost of a model, and its caps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelStatus {
    /// The model; `None` if none is configured.
    pub model: Option<ModelId>,
    /// The caps.
    pub caps: ModelCaps,
    /// The spent part of the caps.
    pub spent: ModelUsage,
    /// The requests of the last 24 hours, by purpose and outcome.
    pub calls: Vec<ModelCalls>,
    /// The newest request of the last 24 hours.
    pub last: Option<ModelCall>,
}

/// The number of model calls with one purpose and one outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelCalls {
    /// Their purpose.
    pub purpose: Purpose,
    /// Their outcome.
    pub outcome: CallOutcome,
    /// Number of calls.
    pub calls: u64,
    /// Number of requests, retries included.
    pub requests: u64,
    /// Their token usage.
    pub usage: Usage,
}

impl Engine {
    /// Returns the cost of the model for this space, and its caps. No request is sent.
    ///
    /// # Errors
    /// `Unsupported` where calls are not counted, `Unavailable` when the store does not answer.
    pub async fn model_status(&self) -> Result<ModelStatus> {
        let ledger = self.stores().ledger.part().map_err(|_| missing("a ledger"))?;
        let now = self.now();
        let all = ModelUsage::calls(ledger, now).await?;
        let mut calls: BTreeMap<(Purpose, CallOutcome), ModelCalls> = BTreeMap::new();
        for call in &all {
            let none = ModelCalls {
                purpose: call.purpose,
                outcome: call.outcome,
                calls: 0,
                requests: 0,
                usage: Usage::default(),
            };
            let of = calls.entry((call.purpose, call.outcome)).or_insert(none);
            of.calls += 1;
            of.requests += u64::from(call.requests);
            of.usage.sent = of.usage.sent + call.usage.sent;
            of.usage.received = of.usage.received + call.usage.received;
        }
        Ok(ModelStatus {
            model: self.parts().model.as_ref().map(|one| one.caller.model.model().clone()),
            caps: self.settings().llm.caps(),
            spent: ModelUsage::count(ledger, now).await?,
            calls: calls.into_values().collect(),
            last: all.into_iter().next(),
        })
    }

    /// Returns the totals of requests to models outside the process since its start, for all engines of the same builder.
    pub fn asked_of_models(&self) -> RequestCounts {
        self.parts().tally.counts()
    }

    /// Sends the model one small question without any content of the memory, to check that it answers. It is paid for and counted
    /// like any other.
    ///
    /// # Errors
    /// `Unsupported` without a model, or for an unusable answer; `Unavailable` when it does not answer, or a cap is reached;
    /// `Invalid` when the endpoint rejects the key, the question or the model's name.
    pub async fn check_model(&self) -> Result<Completion> {
        let model = self.parts().model.as_ref().ok_or_else(|| missing("a language model"))?;
        let prompt = Prompt {
            purpose: Purpose::Check,
            producer: Producer { id: "model/check".to_owned(), version: 1 },
            instructions: "You are asked whether you can answer.".to_owned(),
            material: "Answer with the single word: ready".to_owned(),
            schema: None,
            most: CHECKED,
        };
        let tokens = TokenCount((CHECKED + CHECKING).0 * CHECKS);
        model.caller.model.complete(&mut BackgroundPermit::issue(CHECKS, tokens), &prompt).await
    }

    /// Returns the passes that ask the model.
    pub(crate) fn model_passes(&self) -> Vec<Arc<dyn Pass>> {
        let (Some(model), stores) = (&self.parts().model, self.stores()) else { return Vec::new() };
        let mut passes: Vec<Arc<dyn Pass>> = Vec::new();
        if let (Slot::Filled(learnings), true) = (&stores.learnings, self.settings().dream.merges_by_model) {
            passes.push(Arc::new(MergesPass {
                learnings: Arc::clone(learnings),
                embedder: self.parts().embedder.clone(),
                ledger: stores.ledger.clone(),
                clock: Arc::clone(&self.parts().clock),
                caller: model.caller.clone(),
                writer: Arc::clone(&model.merger),
                wording: self.wording(),
            }));
        }
        if let (Slot::Filled(events), Slot::Filled(graph), true) =
            (&stores.events, &stores.graph, self.settings().dream.leftovers)
        {
            passes.push(Arc::new(ModelExtractionPass {
                events: Arc::clone(events),
                graph: Arc::clone(graph),
                ledger: stores.ledger.clone(),
                reader: model.reader.clone(),
                batch: self.settings().extract.batch,
            }));
        }
        if let (Slot::Filled(events), Slot::Filled(learnings), true) =
            (&stores.events, &stores.learnings, self.settings().dream.judging)
        {
            passes.push(Arc::new(JudgmentPass {
                events: Arc::clone(events),
                learnings: Arc::clone(learnings),
                ledger: stores.ledger.clone(),
                clock: Arc::clone(&self.parts().clock),
                caller: model.caller.clone(),
                judge: Arc::clone(&model.judge),
                infers_preferences: self.settings().dream.infer_preferences,
            }));
        }
        if let (Slot::Filled(events), Slot::Filled(_), true) =
            (&stores.events, &stores.learnings, self.settings().dream.self_evaluation)
        {
            passes.push(Arc::new(ObjectivesPass {
                events: Arc::clone(events),
                ledger: stores.ledger.clone(),
                caller: model.caller.clone(),
                evaluator: Arc::clone(&model.evaluator),
            }));
        }
        if let (Slot::Filled(events), Slot::Filled(summaries), SummaryBy::Llm) =
            (&stores.events, &stores.summaries, self.settings().summaries.summarizer)
        {
            passes.push(Arc::new(SummaryTextsPass {
                events: Arc::clone(events),
                summaries: Arc::clone(summaries),
                ledger: stores.ledger.clone(),
                clock: Arc::clone(&self.parts().clock),
                caller: model.caller.clone(),
                writer: Arc::clone(&model.writer),
            }));
        }
        passes
    }

    /// Removes the cached answers with erased events among their sources.
    pub(crate) async fn erase_completions(&self, ids: &[EventId]) -> Result<u64> {
        match self.stores().completions.part() {
            Ok(completions) => completions.erase(ids).await,
            Err(_) => Ok(0),
        }
    }
}

impl FactsHandle<'_> {
    /// Asks the language model for the claims of an event, and validates the answer against the text and the gates of the rules.
    ///
    /// For a preview of what the model would add: only the answer is cached, so that the same question is not paid for again.
    ///
    /// # Errors
    /// `NotFound` when there is no event with this id; `Unsupported` without a model, or after three unusable answers;
    /// `Unavailable` when it does not answer, or a cap is reached; `Invalid` when the endpoint rejects the key, the question or
    /// the model's name.
    pub async fn extract_with_model(self, id: EventId) -> Result<Extraction> {
        let model = self.memory.engine.parts().model.as_ref().ok_or_else(|| missing("a language model"))?;
        let event = self.memory.events().get(id).await?;
        let known = Gazetteer::default();
        let utterance = Utterance { event: &event, before: &[], known: &known };
        let mut permit = BackgroundPermit::issue(CALLS, TOKENS);
        let found = model.reader.read(&mut permit, &[utterance], &ExtractionContext::default()).await?;
        found.into_iter().next().ok_or_else(|| Error::internal("a model answered nothing for an event"))
    }
}

/// A model and its tasks.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) caller: ModelCaller,
    pub(crate) reader: ModelReader,
    /// Merges several notes into one.
    pub(crate) merger: Arc<dyn Summarizer>,
    /// Writes insights that connect notes.
    pub(crate) connector: Arc<dyn Summarizer>,
    /// Summarizes turns of a conversation.
    pub(crate) condenser: Arc<dyn Summarizer>,
    /// Writes digests of texts.
    pub(crate) digester: Arc<dyn ModelDigester>,
    /// Writes the texts of summary nodes.
    pub(crate) writer: Arc<dyn SummaryEditor>,
    /// Judges notes and messages.
    pub(crate) judge: Arc<dyn NoteJudge>,
    /// Evaluates completed tasks.
    pub(crate) evaluator: Arc<dyn TaskEvaluator>,
}

/// The parts that a model is wired with.
pub(crate) struct ModelParts<'a> {
    pub(crate) model: Arc<dyn LanguageModel>,
    pub(crate) ledger: &'a Slot<dyn LedgerStore>,
    pub(crate) completions: &'a Slot<dyn CompletionCache>,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) ids: &'a Arc<dyn IdSource>,
    pub(crate) cleaner: Cleaner,
    pub(crate) extractor: Arc<dyn ModelExtractor>,
    pub(crate) merger: Arc<dyn Summarizer>,
    pub(crate) connector: Arc<dyn Summarizer>,
    pub(crate) condenser: Arc<dyn Summarizer>,
    pub(crate) digester: Arc<dyn ModelDigester>,
    pub(crate) writer: Arc<dyn SummaryEditor>,
    pub(crate) judge: Arc<dyn NoteJudge>,
    pub(crate) evaluator: Arc<dyn TaskEvaluator>,
    pub(crate) settings: &'a LlmSettings,
    pub(crate) tally: &'a Arc<RequestTally>,
}

/// Wraps a model in its caps, its guard, and the redaction of its input. Without a ledger of calls there is no model, because its
/// caps could not be enforced.
pub(crate) fn wired(parts: ModelParts<'_>) -> Option<Model> {
    let Slot::Filled(ledger) = parts.ledger else { return None };
    let told = Arc::new(RedactingModel { model: parts.model, cleaner: parts.cleaner });
    let guarded: Arc<dyn LanguageModel> =
        Arc::new(GuardedPort::new(told as Arc<dyn LanguageModel>, parts.clock, parts.settings.timeout()));
    let capped = CappedModel::new(
        guarded,
        Arc::clone(ledger),
        Arc::clone(parts.clock),
        Arc::clone(parts.ids),
        parts.settings.caps(),
    )
    .counted_in(Arc::clone(parts.tally));
    let caller = ModelCaller { model: Arc::new(capped), cache: parts.completions.clone() };
    Some(Model {
        reader: ModelReader::new(caller.clone(), parts.extractor),
        caller,
        merger: parts.merger,
        connector: parts.connector,
        condenser: parts.condenser,
        digester: parts.digester,
        writer: parts.writer,
        judge: parts.judge,
        evaluator: parts.evaluator,
    })
}

/// Removes secrets and private parts from the input of a model.
#[derive(Debug)]
struct RedactingModel {
    model: Arc<dyn LanguageModel>,
    cleaner: Cleaner,
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl LanguageModel for RedactingModel {
    fn model(&self) -> &ModelId {
        self.model.model()
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> Result<Completion> {
        let mut prompt = prompt.clone();
        self.cleaner.clean_text("a text for a model", &mut prompt.instructions)?;
        self.cleaner.clean_text("a text for a model", &mut prompt.material)?;
        self.model.complete(permit, &prompt).await
    }
}
