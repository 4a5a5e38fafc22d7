//! Model-pass benchmark on conversations, with any OpenAI-compatible endpoint.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use async_trait::async_trait;
use clap::Parser;
use mnemal::model::{BackgroundPermit, Completion, Prompt};
use mnemal::ports::LanguageModel;
use mnemal::settings::{DreamSettings, LlmProvider, LlmSettings};
use mnemal::types::ModelId;
use mnemal::{Builder, Settings};
use mnemal_benches::model::{ModelInput, at_work};
use mnemal_benches::replay::{ReplayTurn, turns};
use mnemal_providers::{ChatSettings, EndpointModel};
use serde_json::{Value, json};

/// Tells a space turns of a data set and notes that are nearly alike, runs cycles that ask a model, and says what came of each
/// question; then takes everything back. Fails if a note is lost, rows differ from the log, or something cannot be undone.
#[derive(Debug, Parser)]
#[command(name = "bench-model", max_term_width = 100)]
struct Args {
    /// Where the endpoint is, with or without `/v1`.
    #[arg(long, value_name = "URL")]
    endpoint: String,
    /// The model, as the endpoint knows it.
    #[arg(long)]
    model: String,
    /// The folder of a data set in the neutral layout.
    #[arg(long)]
    data: PathBuf,
    /// Number of turns.
    #[arg(long, default_value_t = 60)]
    turns: usize,
    /// Ingested files, of four turns each, after the turns.
    #[arg(long, default_value_t = 0)]
    files: usize,
    /// Most seconds of the model for the questions of one pass; what it is asked afterwards it does not answer.
    #[arg(long, default_value_t = 3_600)]
    seconds: u64,
    /// Cycles that are run.
    #[arg(long, default_value_t = 2)]
    cycles: u64,
    /// Most seconds for one request.
    #[arg(long, default_value_t = 300)]
    timeout: u64,
    /// Requests and tokens that may be spent.
    #[arg(long, default_value_t = 200)]
    requests: u32,
    #[arg(long, default_value_t = 400_000)]
    tokens: u32,
}

/// Turns of one file. Source: own choice, a page of notes.
const A_FILE: usize = 4;

/// What questions of one kind cost.
#[derive(Debug, Default)]
struct Cost {
    questions: u64,
    failed: u64,
    sent: u32,
    received: u32,
    time: Duration,
}

/// The model behind an endpoint, with what its answers cost by what asked for them.
#[derive(Debug)]
struct TimedModel {
    model: EndpointModel,
    most: Duration,
    costs: Mutex<BTreeMap<String, Cost>>,
}

impl TimedModel {
    fn new(settings: &LlmSettings, most: Duration) -> Result<Self> {
        let model = EndpointModel::new(ChatSettings {
            base_url: settings.base_url().to_owned(),
            model: settings.model.clone(),
            api_key: None,
            timeout: settings.timeout(),
            seed: 1,
        })?;
        Ok(Self { model, most, costs: Mutex::default() })
    }

    fn json(&self) -> Value {
        let costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        let form = |cost: &Cost| {
            json!({"questions": cost.questions, "failed": cost.failed, "sent": cost.sent,
                "received": cost.received, "seconds": cost.time.as_secs()})
        };
        costs.iter().map(|(what, cost)| (what.clone(), form(cost))).collect::<serde_json::Map<_, _>>().into()
    }
}

#[async_trait]
impl LanguageModel for TimedModel {
    fn model(&self) -> &ModelId {
        self.model.model()
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> mnemal::Result<Completion> {
        let is_over = |cost: &Cost| cost.time > self.most;
        if self
            .costs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&prompt.producer.id)
            .is_some_and(is_over)
        {
            // No failure of the endpoint: it is not left alone for it.
            return Err(mnemal::Error::new(mnemal::ErrorKind::Unsupported, "the time of this pass is over"));
        }
        #[expect(clippy::disallowed_methods, reason = "a measurement takes real time")]
        let begun = Instant::now();
        let answer = self.model.complete(permit, prompt).await;
        let mut costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        let cost = costs.entry(prompt.producer.id.clone()).or_default();
        cost.questions += 1;
        cost.time += begun.elapsed();
        match &answer {
            Ok(said) => {
                cost.sent += said.usage.sent.0;
                cost.received += said.usage.received.0;
            }
            Err(_) => cost.failed += 1,
        }
        answer
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let llm = LlmSettings {
        provider: LlmProvider::OpenaiCompatible,
        model: args.model.clone(),
        base_url: args.endpoint.clone(),
        timeout_secs: args.timeout,
        max_requests_per_hour: args.requests,
        max_tokens_per_day: args.tokens,
        ..LlmSettings::default()
    };
    let dream = DreamSettings { digests: Some(true), insights: Some(true), ..DreamSettings::default() };
    let model: Arc<TimedModel> = Arc::new(TimedModel::new(&llm, Duration::from_secs(args.seconds))?);
    let builder = Builder::default()
        .with_settings(Settings { llm, dream, ..Settings::default() })
        .with_language_model(Arc::<TimedModel>::clone(&model));
    let all = turns(&args.data, args.turns + args.files * A_FILE)?;
    let (said, rest) = all.split_at(args.turns.min(all.len()));
    let files: Vec<String> = rest
        .chunks(A_FILE)
        .map(|some| some.iter().map(ReplayTurn::line).collect::<Vec<_>>().join("\n"))
        .collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    #[expect(clippy::disallowed_methods, reason = "a measurement takes real time")]
    let begun = Instant::now();
    let seen = runtime.block_on(async {
        let engine = builder.open(folder.path().join("model.db")).await?;
        let seen = at_work(&engine, ModelInput { turns: said, files: &files, cycles: args.cycles }).await?;
        engine.close().await?;
        anyhow::Ok(seen)
    })?;
    let mut json = seen.json();
    if let Value::Object(fields) = &mut json {
        fields.extend([
            ("model".to_owned(), json!(args.model)),
            ("turns".to_owned(), json!(said.len())),
            ("files".to_owned(), json!(files.len())),
            ("passes".to_owned(), model.json()),
            ("seconds".to_owned(), json!(begun.elapsed().as_secs())),
        ]);
    }
    println!("{json:#}");
    ensure!(seen.is_sound(), "something broke");
    Ok(())
}
