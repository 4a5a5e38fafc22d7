//! The protocol handler: server information, listings, and calls that can be cancelled.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use jiff::tz::TimeZone;
use mnemal::Memory;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, CompletionInfo, ContentBlock, DiscoverResult, ElicitRequest, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, PromptMessage, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Reference, ResourceContents, ResourceUpdatedNotificationParam,
    Role, ServerCapabilities, ServerConfig, SubscribeRequestParams, UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::Mutex;

use crate::mcp::answer::{CorrectableError, Outcome, ToolAnswer};
use crate::mcp::catalogue;
use crate::mcp::forget::Person;
use crate::mcp::lifecycle::InputEnd;
use crate::mcp::resource::{KNOWLEDGE_GRAPH, ResourceKind};
use crate::mcp::tool::{OfferedTool, Tool};
use crate::mcp::{
    Options, Profile, categories, chatgpt, classic, context, dream, entity, explain, forget, ingest, note,
    prompt, question, recall, relationships, status, store, summary, timeline, working,
};

/// Cache time of the server information, in milliseconds. Source: own default; it changes only with the server's settings.
const KEEP: u64 = 300_000;
/// Cache time of the list of resources, in milliseconds. Source: own default.
const KEEP_RESOURCES: u64 = 60_000;
/// Name of the confirmation question.
const QUESTION: &str = "confirm";

/// Observer of every call: the tool, and the outcome.
#[derive(Clone, Default)]
pub(super) struct Watch(Option<CallObserver>);

/// The callback of an observer.
pub(super) type CallObserver = Arc<dyn Fn(&'static str, &'static str) + Send + Sync>;

impl std::fmt::Debug for Watch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Watch")
    }
}

impl Watch {
    #[cfg(feature = "http")]
    pub(super) fn new(told: CallObserver) -> Self {
        Self(Some(told))
    }

    fn notify(&self, tool: Tool, outcome: &'static str) {
        if let Some(told) = &self.0 {
            told(tool.name(), outcome);
        }
    }
}

/// The protocol handler of one memory.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    memory: Memory,
    offers: Vec<OfferedTool>,
    resources: ResourceKind,
    instructions: String,
    ended: InputEnd,
    watch: Watch,
    /// The client's time zone.
    zone: TimeZone,
    /// Serializes changes of the classic graph, so that concurrent calls see each other's results.
    writing: Arc<Mutex<()>>,
    /// Whether the client subscribed to changes of the graph; `None` if it cannot be notified.
    subscribed: Option<Arc<AtomicBool>>,
}

impl Server {
    pub(super) fn new(memory: Memory, options: &Options, ended: InputEnd) -> Self {
        let mut offers = options.profile.offers();
        let is_whole = memory.admin().scope().user == mnemal_core::Within::All;
        // A cycle reads records of all users.
        offers.retain(|offer| options.reach.allows(offer.tool) && (is_whole || offer.tool != Tool::Dream));
        let instructions = catalogue::instructions(&offers, &options.extra_instructions);
        let resources = match options.profile {
            Profile::Classic => ResourceKind::KnowledgeGraph,
            _ => ResourceKind::Parts,
        };
        let (watch, zone, writing) = (Watch::default(), TimeZone::system(), Arc::default());
        Self { memory, offers, resources, instructions, ended, watch, zone, writing, subscribed: None }
    }

    /// Makes the handler one for a client that can be notified between calls.
    pub(super) fn with_notifications(mut self) -> Self {
        self.subscribed = (self.resources == ResourceKind::KnowledgeGraph).then(Arc::default);
        self
    }

    /// Sets the observer of calls.
    #[cfg(feature = "http")]
    pub(super) fn watched(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Sets the client's time zone, for days.
    #[cfg(feature = "http")]
    pub(super) fn within(mut self, zone: TimeZone) -> Self {
        self.zone = zone;
        self
    }

    async fn answer(
        &self,
        OfferedTool { tool, manner, .. }: OfferedTool,
        request: CallToolRequestParams,
        reach: Person,
    ) -> Result<Outcome, CorrectableError> {
        let (memory, zone, given) = (&self.memory, &self.zone, request.arguments.unwrap_or_default());
        let answer = match tool {
            Tool::Forget => {
                let person =
                    confirmation(request.input_responses.as_ref(), request.request_state).unwrap_or(reach);
                return forget::call(memory, given, (person, manner)).await;
            }
            Tool::Context => context::call(memory, given).await,
            Tool::Answer => question::call(memory, given, zone).await,
            Tool::Recall => recall::call(memory, given, (manner, zone)).await,
            Tool::Store => store::call(memory, given, zone).await,
            Tool::Entity => entity::call(memory, given, zone).await,
            Tool::Relationships => relationships::call(memory, given, zone).await,
            Tool::WorkingPut => working::put(memory, given).await,
            Tool::WorkingGet => working::get(memory, given).await,
            Tool::WorkingFind => working::find(memory, given).await,
            Tool::Get => note::get(memory, given).await,
            Tool::List => note::list(memory, given, zone).await,
            Tool::Categories => categories::call(memory, given).await,
            Tool::Update => note::update(memory, given).await,
            Tool::History => note::history(memory, given).await,
            Tool::Timeline => timeline::call(memory, given, zone).await,
            Tool::Summary => summary::call(memory, given).await,
            Tool::Learnings => note::learnings(memory, given).await,
            Tool::Explain => explain::call(memory, given).await,
            Tool::Feedback => explain::judge(memory, given).await,
            Tool::Ingest => ingest::call(memory, given).await,
            Tool::Dream => Box::pin(dream::call(memory, given)).await,
            Tool::Status => status::call(memory, given).await,
            Tool::Search => chatgpt::search(memory, given).await,
            Tool::Fetch => chatgpt::fetch(memory, given).await,
            Tool::CreateEntities
            | Tool::CreateRelations
            | Tool::AddObservations
            | Tool::DeleteEntities
            | Tool::DeleteObservations
            | Tool::DeleteRelations
            | Tool::ReadGraph
            | Tool::SearchNodes
            | Tool::OpenNodes => return classic::call(memory, (tool, &self.writing), given).await,
        };
        answer.map(Outcome::Said)
    }

    /// Rejects undeclared methods: the official memory server has no prompts.
    fn must_have_prompts(&self, method: &'static str) -> Result<(), ErrorData> {
        match self.resources {
            ResourceKind::Parts => Ok(()),
            ResourceKind::KnowledgeGraph => {
                tracing::debug!(method, "a method was asked for that is not declared");
                Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None))
            }
        }
    }

    /// Returns the result of a successful call.
    fn success(&self, answer: ToolAnswer, note: Option<String>) -> CallToolResult {
        let texts = [Some(answer.text), note].into_iter().flatten();
        let mut result = CallToolResult::success(texts.map(ContentBlock::text).collect());
        result.structured_content = Some(answer.structured);
        if self.resources == ResourceKind::KnowledgeGraph {
            // The official memory server omits the field, which means the same.
            result.is_error = None;
        }
        result
    }

    /// Returns the error for a tool that is not offered.
    fn no_tool(&self, name: &str) -> ErrorData {
        let words = match self.resources {
            ResourceKind::KnowledgeGraph => classic::no_tool(name),
            ResourceKind::Parts => {
                let names: Vec<&str> = self.offers.iter().map(|offer| offer.name).collect();
                format!("there is no such tool; there are {}", names.join(", "))
            }
        };
        ErrorData::invalid_params(words, None)
    }

    /// Notifies a subscribed client about a change of the classic graph.
    async fn tell_of_change(&self, context: &RequestContext<RoleServer>) {
        let is_asked = self.subscribed.as_ref().is_some_and(|asked| asked.load(Ordering::Relaxed));
        if is_asked {
            let changed = ResourceUpdatedNotificationParam::new(KNOWLEDGE_GRAPH);
            // The answer of the call does not depend on the client's subscription.
            if let Err(error) = context.peer.notify_resource_updated(changed).await {
                tracing::debug!(%error, "nobody heard that the graph changed");
            }
        }
    }

    /// Returns the subscription flag of a resource; only the graph has change notifications.
    fn subscription(&self, uri: &str) -> Result<Option<&AtomicBool>, ErrorData> {
        let asked = self.subscribed.as_deref();
        let asked =
            asked.ok_or_else(|| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None))?;
        Ok((uri == KNOWLEDGE_GRAPH).then_some(asked))
    }

    /// Runs cancellable work, with panic isolation.
    async fn guarded<T>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl Future<Output = Result<T, CorrectableError>>,
    ) -> Result<T, ErrorData> {
        let done = tokio::select! {
            done = AssertUnwindSafe(work).catch_unwind() => done,
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
            () = self.ended.and_grace() => {
                return Err(ErrorData::internal_error("the input has ended", None));
            }
        };
        match done {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(CorrectableError(text))) => Err(ErrorData::invalid_params(text, None)),
            Err(_panic) => {
                tracing::error!("reading a resource or a prompt panicked");
                Err(ErrorData::internal_error("the memory failed to do that", None))
            }
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let identity = Implementation::new(mnemal::PRODUCT, env!("CARGO_PKG_VERSION"))
            .with_title("mnemal memory")
            .with_website_url(env!("CARGO_PKG_REPOSITORY"));
        let mut offered = ServerCapabilities::builder().enable_tools().enable_resources().build();
        if let (Some(resources), Some(_)) = (&mut offered.resources, &self.subscribed) {
            resources.subscribe = Some(true);
        }
        if self.resources == ResourceKind::Parts {
            offered = ServerCapabilities::builder()
                .enable_tools()
                .enable_resources()
                .enable_prompts()
                .enable_completions()
                .build();
        }
        ServerConfig::new(offered)
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

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let list = ListResourcesResult::with_all_items(self.resources.list(&self.memory));
        Ok(if is_stateless(&context) {
            list.with_ttl_ms(KEEP_RESOURCES).with_cache_scope(CacheScope::Private)
        } else {
            list
        })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let list = ListResourceTemplatesResult::with_all_items(self.resources.templates(&self.memory));
        Ok(if is_stateless(&context) {
            list.with_ttl_ms(KEEP).with_cache_scope(CacheScope::Private)
        } else {
            list
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let work = self.resources.read(&self.memory, &request.uri);
        let Some(read) = self.guarded(&context, work).await? else {
            let about = Some(json!({"uri": request.uri}));
            let words = "there is no such resource; resources/list and resources/templates/list name them";
            return Err(if is_stateless(&context) {
                ErrorData::invalid_params(words, about)
            } else {
                ErrorData::resource_not_found(words, about)
            });
        };
        let contents = ResourceContents::text(read.text, request.uri).with_mime_type(read.mime_type);
        let result = ReadResourceResult::new(vec![contents]);
        Ok(if is_stateless(&context) {
            result.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into()
        } else {
            result.into()
        })
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if let Some(asked) = self.subscription(&request.uri)? {
            asked.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if let Some(asked) = self.subscription(&request.uri)? {
            asked.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.must_have_prompts("prompts/list")?;
        let list = ListPromptsResult::with_all_items(prompt::list(&self.offers));
        Ok(if is_stateless(&context) {
            list.with_ttl_ms(KEEP).with_cache_scope(CacheScope::Private)
        } else {
            list
        })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.must_have_prompts("prompts/get")?;
        let given = request.arguments.unwrap_or_default();
        let work = prompt::get(&self.memory, &self.offers, &request.name, &given);
        let Some(words) = self.guarded(&context, work).await? else {
            return Err(ErrorData::invalid_params("there is no such prompt; prompts/list names them", None));
        };
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, words)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.must_have_prompts("completion/complete")?;
        let begun = &request.argument.value;
        let work = async {
            Ok(match &request.r#ref {
                Reference::Resource(template) => {
                    self.resources.complete(&self.memory, &template.uri, begun).await
                }
                Reference::Prompt(asked) => {
                    prompt::complete(&self.memory, &asked.name, &request.argument.name, begun).await
                }
                _ => Vec::new(),
            })
        };
        let values = self.guarded(&context, work).await?;
        let info = CompletionInfo::new(values)
            .map_err(|_| ErrorData::internal_error("too many names complete that", None))?;
        Ok(CompleteResult::new(info))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let offer = self.offers.iter().copied().find(|offer| offer.name == request.name);
        let Some(offer @ OfferedTool { tool, .. }) = offer else { return Err(self.no_tool(&request.name)) };
        let reach = if can_ask(&context) { Person::Near } else { Person::Away };
        let work = AssertUnwindSafe(self.answer(offer, request, reach)).catch_unwind();
        let done = tokio::select! {
            done = work => done,
            // A started erasure is completed; otherwise the rest would wait for the next start.
            () = context.ct.cancelled(), if tool != Tool::Forget => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
            () = self.ended.and_grace() => {
                return Err(ErrorData::internal_error("the input has ended", None));
            }
        };
        self.watch.notify(tool, if matches!(done, Ok(Ok(_))) { "ok" } else { "error" });
        if matches!(done, Ok(Ok(_))) && !tool.is_read_only() {
            self.tell_of_change(&context).await;
        }
        Ok(match done {
            Ok(Ok(Outcome::Said(answer))) => self.success(answer, None).into(),
            Ok(Ok(Outcome::Noted(answer, note))) => self.success(answer, Some(note)).into(),
            Ok(Ok(Outcome::Ask { message, state })) => question(&message, state)?.into(),
            Ok(Err(CorrectableError(text))) => CallToolResult::error(vec![ContentBlock::text(text)]).into(),
            Err(_panic) => {
                tracing::error!(tool = tool.name(), "a tool panicked");
                let text = "The memory failed to do that. Go on without it.";
                CallToolResult::error(vec![ContentBlock::text(text)]).into()
            }
        })
    }
}

/// Whether the request follows the stateless protocol, without a handshake.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// Whether the client can show a form to a person, in a protocol version in which an answer may request that.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let declared = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    is_stateless(context) && declared.is_some_and(|ways| ways.form.is_some() || ways.url.is_none())
}

/// Returns the person's answer to the question, if the call contains one.
fn confirmation(responses: Option<&InputResponses>, state: Option<String>) -> Option<Person> {
    let answer = responses?.get(QUESTION)?;
    let accepted = answer.get("action").is_some_and(|action| action == "accept");
    let erase = answer.get("content").and_then(|content| content.get("erase"));
    let agrees = accepted && erase.is_some_and(|erase| *erase == json!(true));
    Some(Person::Answered { agrees, state: state.unwrap_or_default() })
}

/// Returns the answer that requests a confirmation.
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
