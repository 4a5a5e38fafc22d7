//! Summaries: of the space, a channel, a session, a day.

use mnemal::summaries::SummaryState;
use mnemal_core::{ErrorKind, NodePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::call::Call;
use crate::http::cursor::PageForm;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;
use crate::wire::gaps;

/// Maximum depth of a listed tree. Source: own default, the whole tree.
const DEPTH: usize = 8;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "summary_list",
            "/v1/spaces/{space}/summaries",
            "The tree of summaries, the root first.",
            (of::<PageForm<SummaryForm>>, |call| Box::pin(list(call))),
        )
        .query(of::<SummariesQuery>),
        Route::get(
            "summary_get",
            "/v1/spaces/{space}/summaries/{*key}",
            "A summary.",
            (of::<SummaryForm>, |call| Box::pin(get(call))),
        ),
    ]
}

/// Which part of the tree.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct SummariesQuery {
    /// Most items, 1 to 200; 50 without it.
    limit: Option<u32>,
    /// Where the list goes on.
    cursor: Option<String>,
    /// Below this one; `root` without it.
    key: Option<String>,
}

/// A summary: sentences of what was said, or a text of them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Summary")]
struct SummaryForm {
    /// Which.
    key: String,
    /// The one above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_key: Option<String>,
    /// The words.
    text: String,
    /// `extractive`: every sentence is one that was said; `model`: a language model wrote it of such sentences.
    method: &'static str,
    /// Events that it does not know yet.
    behind: u64,
    /// When it was made.
    updated_at: String,
    /// Events that it covers.
    event_count: u64,
    /// The events whose sentences it has.
    source_event_ids: Vec<String>,
}

impl SummaryForm {
    fn new(standing: &SummaryState) -> Self {
        let node = &standing.node;
        let mut source_event_ids: Vec<String> =
            node.lines.iter().map(|line| line.source.event.to_string()).collect();
        source_event_ids.dedup();
        Self {
            key: node.path.to_string(),
            parent_key: node.parents.first().map(NodePath::to_string),
            text: standing.text(),
            method: standing.method(),
            behind: standing.behind,
            updated_at: node.updated_at.to_string(),
            event_count: node.events,
            source_event_ids,
        }
    }
}

async fn list(call: Call) -> Result<Reply, Problem> {
    let query: SummariesQuery = call.query()?;
    let memory = call.memory().await?;
    let page = call.page(&memory, query.limit, query.cursor.as_deref())?;
    let path: NodePath = query.key.as_deref().unwrap_or("root").parse()?;
    let stale = memory.admin().engine().refresh_summaries().await?;
    let found = match memory.summaries().stored_tree(&path, DEPTH).await {
        Ok(found) => found.value,
        // Nothing was said yet: the list is empty, as every list of an empty space.
        Err(error) if error.kind() == ErrorKind::NotFound && query.key.is_none() => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let (items, next_cursor) = page.page_of(&memory, found.iter().map(SummaryForm::new));
    Reply::ok(&PageForm { items, next_cursor, gaps: gaps(&stale) })
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let name = call.name(1);
    let path: NodePath = name.parse().map_err(|_| Problem::not_found(format!("no summary {name:?}")))?;
    // A lagging tree reports its gap itself.
    let _stale = memory.admin().engine().refresh_summaries().await?;
    Reply::ok(&SummaryForm::new(&memory.summaries().get(&path, None).await?.value))
}
