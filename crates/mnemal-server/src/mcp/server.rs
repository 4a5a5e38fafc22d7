//! The handler of the protocol: identity, listing, and each call as one piece of work that can be called off.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use mnemal::Memory;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult,
    ElicitRequest, Implementation, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use crate::mcp::answer::{Mistake, Outcome};
use crate::mcp::catalogue;
use crate::mcp::forget::Person;
use crate::mcp::lifecycle::Ended;
use crate::mcp::tool::{Offer, Tool};
use crate::mcp::{Options, categories, context, entity, forget, recall, relationships, store, working};

/// How long a client may keep what it was told about the server, in milliseconds. Source: SURFACES 6.1.
const KEEP: u64 = 300_000;
/// The name of the one question that a person is asked.
const QUESTION: &str = "confirm";

/// Is told of every call: the tool, and whether it was answered.
#[derive(Clone, Default)]
pub(super) struct Watch(Option<Told>);

/// What a watch calls.
pub(super) type Told = Arc<dyn Fn(&'static str, &'static str) + Send + Sync>;

impl std::fmt::Debug for Watch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Watch")
    }
}

impl Watch {
    #[cfg(feature = "http")]
    pub(super) fn new(told: Told) -> Self {
        Self(Some(told))
    }

    fn tell(&self, tool: Tool, outcome: &'static str) {
        if let Some(told) = &self.0 {
            told(tool.name(), outcome);
        }
    }
}

/// One memory behind the protocol.
#[derive(Clone, Debug)]
pub(super) struct Server {
    memory: Memory,
    offers: Vec<Offer>,
    instructions: String,
    ended: Ended,
    watch: Watch,
}

impl Server {
    pub(super) fn new(memory: Memory, options: &Options, ended: Ended) -> Self {
        let mut offers = options.profile.offers();
        offers.retain(|offer| options.reach.allows(offer.tool));
        let instructions = catalogue::instructions(&offers, &options.extra_instructions);
        Self { memory, offers, instructions, ended, watch: Watch::default() }
    }

    /// The same, whose calls are told.
    #[cfg(feature = "http")]
    pub(super) fn watched(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    async fn answer(
        &self,
        tool: Tool,
        request: CallToolRequestParams,
        reach: Person,
    ) -> Result<Outcome, Mistake> {
        let given = request.arguments.unwrap_or_default();
        match tool {
            Tool::Context => context::call(&self.memory, given).await.map(Outcome::Said),
            Tool::Recall => recall::call(&self.memory, given).await.map(Outcome::Said),
            Tool::Store => store::call(&self.memory, given).await.map(Outcome::Said),
            Tool::Entity => entity::call(&self.memory, given).await.map(Outcome::Said),
            Tool::Relationships => relationships::call(&self.memory, given).await.map(Outcome::Said),
            Tool::WorkingPut => working::put(&self.memory, given).await.map(Outcome::Said),
            Tool::WorkingGet => working::get(&self.memory, given).await.map(Outcome::Said),
            Tool::WorkingFind => working::find(&self.memory, given).await.map(Outcome::Said),
            Tool::Categories => categories::call(&self.memory, given).await.map(Outcome::Said),
            Tool::Forget => {
                let person =
                    answered(request.input_responses.as_ref(), request.request_state).unwrap_or(reach);
                forget::call(&self.memory, given, person).await
            }
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let identity = Implementation::new(mnemal::PRODUCT, env!("CARGO_PKG_VERSION"))
            .with_title("mnemal memory")
            .with_website_url(env!("CARGO_PKG_REPOSITORY"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(identity)
            .with_instructions(self.instructions.clone())
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let found = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(found.with_ttl_ms(KEEP).with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.offers.iter().map(|offer| catalogue::definition(*offer)).collect();
        let list = ListToolsResult::with_all_items(tools);
        Ok(if is_stateless(&context) {
            list.with_ttl_ms(KEEP).with_cache_scope(CacheScope::Private)
        } else {
            list
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(Offer { tool, .. }) = self.offers.iter().copied().find(|offer| offer.name == request.name)
        else {
            let names: Vec<&str> = self.offers.iter().map(|offer| offer.name).collect();
            return Err(ErrorData::invalid_params(
                format!("there is no such tool; there are {}", names.join(", ")),
                None,
            ));
        };
        let reach = if can_ask(&context) { Person::Near } else { Person::Away };
        let work = AssertUnwindSafe(self.answer(tool, request, reach)).catch_unwind();
        let done = tokio::select! {
            done = work => done,
            // What was begun to be erased is erased: a half of it would only wait for the next start.
            () = context.ct.cancelled(), if tool != Tool::Forget => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
            () = self.ended.and_grace() => {
                return Err(ErrorData::internal_error("the input has ended", None));
            }
        };
        self.watch.tell(tool, if matches!(done, Ok(Ok(_))) { "ok" } else { "error" });
        Ok(match done {
            Ok(Ok(Outcome::Said(answer))) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
                result.structured_content = Some(answer.structured);
                result.into()
            }
            Ok(Ok(Outcome::Ask { message, state })) => question(&message, state)?.into(),
            Ok(Err(Mistake(text))) => CallToolResult::error(vec![ContentBlock::text(text)]).into(),
            Err(_panic) => {
                tracing::error!(tool = tool.name(), "a tool panicked");
                let text = "The memory failed to do that. Go on without it.";
                CallToolResult::error(vec![ContentBlock::text(text)]).into()
            }
        })
    }
}

/// Whether the request is of the era without handshakes.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// Whether the client said that it can put a form to a person, in an era in which an answer may ask for that.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let declared = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    is_stateless(context) && declared.is_some_and(|ways| ways.form.is_some() || ways.url.is_none())
}

/// Returns what the person said to the question, if the call brings an answer.
fn answered(responses: Option<&InputResponses>, state: Option<String>) -> Option<Person> {
    let answer = responses?.get(QUESTION)?;
    let accepted = answer.get("action").is_some_and(|action| action == "accept");
    let erase = answer.get("content").and_then(|content| content.get("erase"));
    let agrees = accepted && erase.is_some_and(|erase| *erase == json!(true));
    Some(Person::Answered { agrees, state: state.unwrap_or_default() })
}

/// Returns the answer that asks a person to confirm.
fn question(message: &str, state: String) -> Result<InputRequiredResult, ErrorData> {
    let form = json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {"erase": {"type": "boolean", "title": "Erase", "default": false}},
                "required": ["erase"],
            },
        },
    });
    let form: ElicitRequest = serde_json::from_value(form)
        .map_err(|_| ErrorData::internal_error("the question cannot be written", None))?;
    let questions = InputRequests::from([(QUESTION.to_owned(), InputRequest::Elicitation(form))]);
    Ok(InputRequiredResult::new(Some(questions), Some(state)))
}
