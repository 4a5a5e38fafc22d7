//! `mnemal reindex`.

use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};
use mnemal::recall::{Backlog, EmbeddedBy, Estimate};
use mnemal::settings::EmbeddingProvider;
use mnemal::{Engine, Error, ErrorKind, Settings};
use serde::Serialize;

use crate::args::{Global, Reindex};
use crate::config;
use crate::output::Output;

#[derive(Serialize)]
struct ReindexForm {
    model: String,
    dry_run: bool,
    /// Events without a vector of the model.
    waiting: u64,
    stored: u64,
    without: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<CostForm>,
}

#[derive(Serialize)]
struct CostForm {
    texts: u64,
    tokens: u64,
    requests: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<f64>,
}

/// Embeds the events that lack a vector of one model; vectors of other models stay.
pub(super) async fn run(global: &Global, call: &Reindex, output: &Output) -> Result<u8> {
    let mut settings = config::read(global)?;
    let is_endpoint = settings.embedding.provider == EmbeddingProvider::OpenaiCompatible;
    if let Some(model) = call.model.as_ref().filter(|_| is_endpoint) {
        settings.embedding.model.clone_from(model);
    }
    let memory = super::open_with(settings.clone(), global, output).await?;
    let engine = memory.admin().engine();
    let mut backlog = engine.backlog(chosen(engine, call, &settings)?).await?;
    let mut report = ReindexForm {
        model: backlog.model.to_string(),
        dry_run: call.dry_run,
        waiting: backlog.waiting(),
        stored: 0,
        without: 0,
        cost: None,
    };
    if call.dry_run {
        report.cost = Some(cost(engine.estimate(&backlog).await?, call.price));
    } else {
        let filled = filled(engine, &mut backlog, output).await;
        (report.stored, report.without) = (backlog.stored, backlog.without);
        filled.with_context(|| {
            format!(
                "stopped with {} of {} vectors of {}; they are kept, and the same command goes on behind them",
                report.stored, report.waiting, report.model
            )
        })?;
    }
    output.answer(&report, || text(&report))?;
    super::checkpoint(global, &memory, Ok(0)).await
}

/// Selects the embedder: the in-process one if it makes the named model, else the endpoint, if there is one.
fn chosen(engine: &Engine, call: &Reindex, settings: &Settings) -> Result<EmbeddedBy> {
    let in_process = engine.model(EmbeddedBy::InProcess).map(mnemal::types::ModelId::as_str);
    if engine.model(EmbeddedBy::Background).is_some() {
        let means_table = call.model.is_some() && call.model.as_deref() == in_process;
        return Ok(if means_table { EmbeddedBy::InProcess } else { EmbeddedBy::Background });
    }
    let what = match (&call.model, in_process) {
        _ if settings.embedding.provider == EmbeddingProvider::OpenaiCompatible => {
            "this build cannot ask an endpoint; it needs the feature `http`".to_owned()
        }
        (_, None) => "there is no embedder: embedding.provider is \"none\"".to_owned(),
        (Some(asked), Some(known)) if asked != known => {
            format!("nothing makes vectors of {asked}; the embedder in process makes those of {known}")
        }
        _ => return Ok(EmbeddedBy::InProcess),
    };
    Err(Error::new(ErrorKind::Unsupported, what).into())
}

async fn filled(engine: &Engine, backlog: &mut Backlog, output: &Output) -> mnemal::Result<()> {
    let all = backlog.waiting();
    let bar = if output.is_watched() { ProgressBar::new(all) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} vectors  {per_sec}  {eta}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let done = loop {
        match engine.fill(backlog).await {
            Ok(true) => bar.set_position(all - backlog.waiting()),
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    bar.finish_and_clear();
    done
}

fn cost(estimate: Estimate, per_million: Option<f64>) -> CostForm {
    let Estimate { texts, tokens, requests } = estimate;
    CostForm { texts, tokens, requests, price: per_million.map(|price| price * tokens as f64 / 1e6) }
}

fn text(report: &ReindexForm) -> String {
    let ReindexForm { model, waiting, stored, without, .. } = report;
    if let Some(cost) = &report.cost {
        let price = cost.price.map(|price| format!(", at most about {price:.4}")).unwrap_or_default();
        let asked = match cost.requests {
            0 => "in process".to_owned(),
            requests => format!("in {requests} requests"),
        };
        return format!(
            "{waiting} events have no vector of {model}: {} texts, at most about {} tokens{price}, {asked}",
            cost.texts, cost.tokens
        );
    }
    match (waiting, without) {
        (0, _) => format!("every event has its vector of {model}"),
        (_, 0) => format!("{stored} vectors of {model} were made"),
        _ => format!(
            "{stored} vectors of {model} were made; {without} events have none: they hold no word that it knows, or it refuses them"
        ),
    }
}
