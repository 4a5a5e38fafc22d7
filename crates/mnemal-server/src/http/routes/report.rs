//! Reports of a period.

use mnemal::admin::ReportPeriod;
use mnemal_core::ErrorKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;
use crate::wire::ReportForm;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "report",
            "/v1/spaces/{space}/report",
            "What memory cost in a period, and what was used, learned, forgotten and contradicted.",
            (of::<ReportForm>, |call| Box::pin(report(call))),
        )
        .query(of::<ReportQuery>)
        .whole(),
    ]
}

/// Which period.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ReportQuery {
    /// Its start; 7 days before its end without it.
    since: Option<String>,
    /// Its end; now without it.
    until: Option<String>,
}

async fn report(call: Call) -> Result<Reply, Problem> {
    let query: ReportQuery = call.query()?;
    let until = call.time("until", query.until.as_deref())?.unwrap_or_else(|| call.host.now());
    let period = match call.time("since", query.since.as_deref())? {
        Some(since) => ReportPeriod::new(since, until)?,
        None => ReportPeriod::last_days(None, until)?,
    };
    let memory = call.memory().await?;
    let bytes = match call.host.spaces.entry(&call.space()?).await {
        Ok(entry) => Some(entry.bytes).filter(|bytes| *bytes > 0),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    Reply::ok(&ReportForm::new(&memory.admin().report(period).await?, bytes))
}
