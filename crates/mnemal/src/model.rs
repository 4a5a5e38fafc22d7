//! The language model, if there is one: what it may be told, what it has cost, and whether it answers.

mod undo;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Appraiser, BackgroundPermit, CallOutcome, Clock, Completion, CompletionCache, Consultant, Error, EventId,
    Extraction, Familiar, Gazetteer, IdSource, LanguageModel, LedgerStore, ModelCall, ModelDigester,
    ModelExtractor, ModelId, NodeWriter, NoteJudge, Pass, Producer, Prompt, Purpose, Result, Slot,
    Summarizer, TokenCount, Usage, Utterance,
};
use mnemal_dream::{Judging, Merges, Objectives, Texts};
use mnemal_events::Cleaner;
use mnemal_graph::{Leftovers, ModelReader};
use mnemal_providers::{Asked, CappedModel, ModelCaps, Spent, Tally};

use crate::engine::{Engine, missing};
use crate::guard::Guarded;
use crate::memory::Memory;
use crate::settings::{LlmSettings, SummaryBy};

/// Tokens that the answer to the question of [`Engine::check_model`] may have. Source: own choice; a model that thinks needs some.
const CHECKED: TokenCount = TokenCount(256);
/// Tokens that the question itself may have. Source: own choice.
const CHECKING: TokenCount = TokenCount(1_024);
/// Requests of that question. Source: own choice; a person waits for the answer, so that one attempt and one more must do.
const CHECKS: u32 = 2;
/// Requests of one piece of work on demand. Source: AD-61, the permit of a cycle.
const CALLS: u32 = 20;
/// Tokens of one piece of work on demand. Source: AD-61, the permit of a cycle.
const TOKENS: TokenCount = TokenCount(60_000);

/// What a model has cost, and what it may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelStatus {
    /// The model; `None` where none is configured.
    pub model: Option<ModelId>,
    /// What may be spent.
    pub caps: ModelCaps,
    /// What was spent of it.
    pub spent: Spent,
    /// The questions of the last 24 hours, by purpose and outcome.
    pub calls: Vec<ModelCalls>,
    /// The newest question of the last 24 hours.
    pub last: Option<ModelCall>,
}

/// How many questions of one purpose had one outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelCalls {
    /// What for.
    pub purpose: Purpose,
    /// How they ended.
    pub outcome: CallOutcome,
    /// How many.
    pub calls: u64,
    /// Requests, repetitions included.
    pub requests: u64,
    /// What they cost.
    pub usage: Usage,
}

impl Engine {
    /// Returns what the model has cost this space, and what it may cost. Nothing is sent.
    ///
    /// # Errors
    /// `Unsupported` where calls are not counted, `Unavailable` when the store does not answer.
    pub async fn model_status(&self) -> Result<ModelStatus> {
        let ledger = self.stores().ledger.part().map_err(|_| missing("a ledger"))?;
        let now = self.now();
        let all = Spent::calls(ledger, now).await?;
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
            model: self.parts().model.as_ref().map(|one| one.consultant.model.model().clone()),
            caps: self.settings().llm.caps(),
            spent: Spent::count(ledger, now).await?,
            calls: calls.into_values().collect(),
            last: all.into_iter().next(),
        })
    }

    /// Returns what was asked of models outside the process since it began, by this engine and by all that were made of the same
    /// builder.
    pub fn asked_of_models(&self) -> Asked {
        self.parts().tally.asked()
    }

    /// Asks the model one small question that shows nothing of the memory, to see whether it answers. It is paid for and
    /// counted like any other.
    ///
    /// # Errors
    /// `Unsupported` without a model, or when what it answers cannot be used; `Unavailable` when it does not answer, or a cap
    /// is reached; `Invalid` when it refuses the key, the question or its name.
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
        model.consultant.model.complete(&mut BackgroundPermit::issue(CHECKS, tokens), &prompt).await
    }

    /// Returns the passes that ask the model.
    pub(crate) fn model_passes(&self) -> Vec<Arc<dyn Pass>> {
        let (Some(model), stores) = (&self.parts().model, self.stores()) else { return Vec::new() };
        let mut passes: Vec<Arc<dyn Pass>> = Vec::new();
        if let (Slot::Filled(learnings), true) = (&stores.learnings, self.settings().dream.merges_by_model) {
            passes.push(Arc::new(Merges {
                learnings: Arc::clone(learnings),
                embedder: self.parts().embedder.clone(),
                ledger: stores.ledger.clone(),
                clock: Arc::clone(&self.parts().clock),
                consultant: model.consultant.clone(),
                writer: Arc::clone(&model.merger),
                wording: self.wording(),
            }));
        }
        if let (Slot::Filled(events), Slot::Filled(graph), true) =
            (&stores.events, &stores.graph, self.settings().dream.leftovers)
        {
            passes.push(Arc::new(Leftovers {
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
            passes.push(Arc::new(Judging {
                events: Arc::clone(events),
                learnings: Arc::clone(learnings),
                ledger: stores.ledger.clone(),
                clock: Arc::clone(&self.parts().clock),
                consultant: model.consultant.clone(),
                judge: Arc::clone(&model.judge),
                infers_preferences: self.settings().dream.infer_preferences,
            }));
        }
        if let (Slot::Filled(events), Slot::Filled(_), true) =
            (&stores.events, &stores.learnings, self.settings().dream.self_evaluation)
        {
            passes.push(Arc::new(Objectives {
                events: Arc::clone(events),
                ledger: stores.ledger.clone(),
                consultant: model.consultant.clone(),
                appraiser: Arc::clone(&model.appraiser),
            }));
        }
        if let (Slot::Filled(events), Slot::Filled(summaries), SummaryBy::Llm) =
            (&stores.events, &stores.summaries, self.settings().summaries.summarizer)
        {
            passes.push(Arc::new(Texts {
                events: Arc::clone(events),
                summaries: Arc::clone(summaries),
                ledger: stores.ledger.clone(),
                clock: Arc::clone(&self.parts().clock),
                consultant: model.consultant.clone(),
                writer: Arc::clone(&model.writer),
            }));
        }
        passes
    }

    /// Removes the answers that rest on erased events.
    pub(crate) async fn erase_completions(&self, ids: &[EventId]) -> Result<u64> {
        match self.stores().completions.part() {
            Ok(completions) => completions.erase(ids).await,
            Err(_) => Ok(0),
        }
    }
}

impl Memory {
    /// Asks the language model what an event claims, and holds the answer against the words and gates of the rules.
    ///
    /// For those who want to see what the model would add: nothing is stored but the paid answer, so that the same question
    /// is not paid for again.
    ///
    /// # Errors
    /// `NotFound` when there is no event of this id; `Unsupported` without a model, or when three answers could not be used;
    /// `Unavailable` when it does not answer, or a cap is reached; `Invalid` when it refuses the key, the question or its name.
    pub async fn extract_with_model(&self, id: EventId) -> Result<Extraction> {
        let model = self.engine.parts().model.as_ref().ok_or_else(|| missing("a language model"))?;
        let event = self.get(id).await?;
        let known = Gazetteer::default();
        let utterance = Utterance { event: &event, before: &[], known: &known };
        let mut permit = BackgroundPermit::issue(CALLS, TOKENS);
        let found = model.reader.read(&mut permit, &[utterance], &Familiar::default()).await?;
        found.into_iter().next().ok_or_else(|| Error::internal("a model answered nothing for an event"))
    }
}

/// A model and what is done with it.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) consultant: Consultant,
    pub(crate) reader: ModelReader,
    /// Makes one note of several.
    pub(crate) merger: Arc<dyn Summarizer>,
    /// Says what notes show together.
    pub(crate) connector: Arc<dyn Summarizer>,
    /// Says in short what was said in a conversation.
    pub(crate) condenser: Arc<dyn Summarizer>,
    /// Says in short what texts say.
    pub(crate) digester: Arc<dyn ModelDigester>,
    /// Writes texts of summaries.
    pub(crate) writer: Arc<dyn NodeWriter>,
    /// Judges notes and messages.
    pub(crate) judge: Arc<dyn NoteJudge>,
    /// Judges tasks that are over.
    pub(crate) appraiser: Arc<dyn Appraiser>,
}

/// What a model is wired with.
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
    pub(crate) writer: Arc<dyn NodeWriter>,
    pub(crate) judge: Arc<dyn NoteJudge>,
    pub(crate) appraiser: Arc<dyn Appraiser>,
    pub(crate) settings: &'a LlmSettings,
    pub(crate) tally: &'a Arc<Tally>,
}

/// Puts a model behind its caps, its guard, and what takes secrets out of what it is told. Where calls cannot be counted
/// there is no model, because nothing would keep its caps.
pub(crate) fn wired(parts: ModelParts<'_>) -> Option<Model> {
    let Slot::Filled(ledger) = parts.ledger else { return None };
    let told = Arc::new(Told { model: parts.model, cleaner: parts.cleaner });
    let guarded: Arc<dyn LanguageModel> =
        Arc::new(Guarded::new(told as Arc<dyn LanguageModel>, parts.clock, parts.settings.timeout()));
    let capped = CappedModel::new(
        guarded,
        Arc::clone(ledger),
        Arc::clone(parts.clock),
        Arc::clone(parts.ids),
        parts.settings.caps(),
    )
    .counted_in(Arc::clone(parts.tally));
    let consultant = Consultant { model: Arc::new(capped), cache: parts.completions.clone() };
    Some(Model {
        reader: ModelReader::new(consultant.clone(), parts.extractor),
        consultant,
        merger: parts.merger,
        connector: parts.connector,
        condenser: parts.condenser,
        digester: parts.digester,
        writer: parts.writer,
        judge: parts.judge,
        appraiser: parts.appraiser,
    })
}

/// Takes secrets and private parts out of what a model is told.
#[derive(Debug)]
struct Told {
    model: Arc<dyn LanguageModel>,
    cleaner: Cleaner,
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl LanguageModel for Told {
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
