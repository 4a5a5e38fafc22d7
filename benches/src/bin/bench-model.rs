//! What the passes that ask a language model make of conversations, with any endpoint that speaks as OpenAI does.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;
use mnemal::{Builder, LlmProvider, LlmSettings, Settings};
use mnemal_benches::model::at_work;
use mnemal_benches::replay::turns;
use serde_json::{Value, json};

/// Tells a space turns of a data set and notes that are nearly alike, runs cycles that ask a model, and says what came of each
/// question; then takes everything back. Fails if a note is lost, rows differ from the log, or something cannot be taken back.
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
    /// Turns that are told.
    #[arg(long, default_value_t = 60)]
    turns: usize,
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
    let builder = Builder::default().with_settings(Settings { llm, ..Settings::default() });
    let said = turns(&args.data, args.turns)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    #[expect(clippy::disallowed_methods, reason = "a measurement takes real time")]
    let begun = Instant::now();
    let seen = runtime.block_on(async {
        let engine = builder.open(folder.path().join("model.db")).await?;
        let seen = at_work(&engine, &said, args.cycles).await?;
        engine.close().await?;
        anyhow::Ok(seen)
    })?;
    let mut json = seen.json();
    if let Value::Object(fields) = &mut json {
        fields.extend([
            ("model".to_owned(), json!(args.model)),
            ("turns".to_owned(), json!(said.len())),
            ("seconds".to_owned(), json!(begun.elapsed().as_secs())),
        ]);
    }
    println!("{json:#}");
    ensure!(seen.is_sound(), "something broke");
    Ok(())
}
