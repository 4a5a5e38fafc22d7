//! Operations of the server: liveness, readiness, version, metrics.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::auth::Right;
use crate::http::call::Call;
use crate::http::middleware::sees_health;
use crate::http::openapi;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::{Authorization, Route};
use crate::http::routes::of;

pub(super) fn routes() -> Vec<Route> {
    let open = |route: Route| route.needs(Authorization::Nothing);
    vec![
        open(Route::get(
            "health_live",
            "/health/live",
            "Whether the process runs.",
            (of::<StatusForm>, |_| {
                Box::pin(async { Reply::ok(&StatusForm { status: "ok", version: None, spaces_open: None }) })
            }),
        )),
        open(Route::get(
            "health_ready",
            "/health/ready",
            "Whether spaces can be read and written.",
            (of::<StatusForm>, |call| Box::pin(async move { ready(&call).await })),
        )),
        open(Route::get(
            "version",
            "/version",
            "What runs.",
            (of::<VersionForm>, |_| {
                Box::pin(async {
                    Reply::ok(&VersionForm { name: mnemal::PRODUCT, version: env!("CARGO_PKG_VERSION") })
                })
            }),
        )),
        open(Route::get(
            "openapi",
            "/openapi.json",
            "This document.",
            (of::<Map<String, Value>>, |call| {
                Box::pin(async move { Reply::ok(&openapi::document(&call.host.settings)) })
            }),
        )),
        // Access depends on a setting, so the handler checks it.
        open(Route::get(
            "metrics",
            "/metrics",
            "What is counted, for Prometheus.",
            (of::<Value>, |call| Box::pin(metrics(call))),
        ))
        .gives("text/plain; version=0.0.4; charset=utf-8"),
    ]
}

/// How the server is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Status")]
struct StatusForm {
    /// `ok`.
    status: &'static str,
    /// What runs; for keys with the right `metrics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    /// Spaces that are open now; for keys with the right `metrics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    spaces_open: Option<usize>,
}

/// What runs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Version")]
struct VersionForm {
    /// The product.
    name: &'static str,
    /// Its version.
    version: &'static str,
}

async fn ready(call: &Call) -> Result<Reply, Problem> {
    // Ready means that the folder of the spaces can be read, or their database.
    call.host.spaces.always_on().await?;
    let sees = sees_health(&call.principal);
    Reply::ok(&StatusForm {
        status: "ok",
        version: sees.then_some(env!("CARGO_PKG_VERSION")),
        spaces_open: sees.then(|| call.host.spaces.n_open()),
    })
}

async fn metrics(call: Call) -> Result<Reply, Problem> {
    if !call.host.settings.metrics_public {
        if call.principal.rights == crate::auth::Rights::default() {
            return Err(Problem::new("unauthenticated", "metrics need a key"));
        }
        call.must(Right::Metrics)?;
    }
    call.host.metrics.no_health();
    call.host.metrics.set_request_counts(&call.host.spaces.asked_of_models());
    for space in call.host.open_spaces() {
        let Ok(memory) = call.host.spaces.open(&space).await else { continue };
        let Ok(health) = memory.admin().health().await else { continue };
        call.host.metrics.health(&health);
        if let Ok(Some(cycle)) = memory.admin().engine().last_cycle().await {
            call.host.metrics.cycle(&cycle.counts);
        }
    }
    Ok(Reply::text("text/plain; version=0.0.4; charset=utf-8", call.host.metrics.text()))
}
