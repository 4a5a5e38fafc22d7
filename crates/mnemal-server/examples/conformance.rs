//! A server with the fixtures of the conformance suite of the Model Context Protocol: tools, resources and prompts that a memory
//! does not have, with the same authentication, limits and transport as those of a memory.
//!
//! `cargo run -p mnemal-server --example conformance` says where it listens; the suite asks `/mcp-fixtures`.

use std::sync::Arc;

use mnemal::ports::SystemClock;
use mnemal::{Engine, Spaces};
use mnemal_server::auth::Keyring;
use mnemal_server::http::{Access, Server};
use mnemal_server::{AuthMode, ServerSettings};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult,
    ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult,
    InputResponses, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptArgument, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceTemplate, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A picture of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// An empty recording.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// Cache time of lists, in milliseconds.
const KEEP: u64 = 1_000;
/// Suffix of a question's state; a client that modified it gets an error.
const SEAL: &str = ".sealed";

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stderr, reason = "the suite is told where to ask")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    // The suite sends no key, and is not rate-limited.
    let settings =
        ServerSettings { rate_limit_rps: 100_000, rate_limit_burst: 100_000, ..ServerSettings::default() };
    let access = Access { mode: AuthMode::None, keyring: Keyring::new(home.path()), local: None };
    let spaces = Spaces::new(home.path(), Engine::builder())?;
    let server = Server::new(spaces, access, settings, Arc::new(SystemClock::default()))?;
    let server = server.with_protocol("/mcp-fixtures", Fixtures);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("serving http://{}/mcp-fixtures", listener.local_addr()?);
    server.serve(listener, std::future::pending()).await?;
    Ok(())
}

/// The fixtures.
#[derive(Clone, Copy, Debug)]
struct Fixtures;

/// Deserializes a document of the protocol.
fn typed<T: DeserializeOwned>(document: Value) -> Result<T, ErrorData> {
    serde_json::from_value(document).map_err(|wrong| ErrorData::internal_error(wrong.to_string(), None))
}

fn no(what: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no {what}"), None)
}

/// Returns a form for a person.
fn question(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    let parameters = json!({"mode": "form", "message": message, "requestedSchema": schema});
    json!({"method": "elicitation/create", "params": parameters})
}

/// Returns a sampling request for a model.
fn sampled(text: &str, tokens: u32) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": tokens}})
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

/// Returns the content of a tool without questions.
fn content(tool: &str) -> Option<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "data": PIXEL, "mimeType": "image/png"});
    let resource = |uri: &str, kind: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}});
    Some(match tool {
        "test_simple_text" => json!([text("This is a simple text response for testing.")]),
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => {
            json!([resource(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content."
            )])
        }
        "test_multiple_content_types" => json!([
            text("Multiple content types test:"),
            image,
            resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]),
        "test_error_handling" => json!([text("This tool intentionally returns an error for testing")]),
        "test_custom_headers" | "json_schema_2020_12_tool" | "test_logging_tool" => json!([text("done")]),
        _ => return None,
    })
}

/// Tools without questions, with their input schemas.
fn plain_tools() -> Vec<(&'static str, Value)> {
    let nothing = || json!({"type": "object"});
    let names = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_logging_tool",
        "test_tool_with_progress",
        "test_missing_capability",
    ];
    let mut tools: Vec<(&'static str, Value)> = names.into_iter().map(|name| (name, nothing())).collect();
    let region = json!({"type": "string", "x-mcp-header": "Region"});
    tools.push(("test_custom_headers", json!({"type": "object", "properties": {"region": region}})));
    let address = json!({
        "$anchor": "addressDef", "type": "object",
        "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
    });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": address},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    tools.push(("json_schema_2020_12_tool", schema));
    tools
}

/// The tools and the prompt that ask questions before they answer.
const ASKING: [&str; 9] = [
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_streaming_elicitation",
];

/// The next step of a call with questions.
enum Step {
    /// Ask these questions, with this state.
    Ask(Value, Option<String>),
    /// Answer with this text.
    Say(String),
}

/// The capabilities of a client for questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// A person and a model.
    Both,
    /// A model alone.
    Model,
}

/// Runs a call with questions, given its name, the answers so far, its state, and the client's capabilities.
fn step(
    name: &str,
    answers: &InputResponses,
    state: Option<&str>,
    whom: Request,
) -> Result<Option<Step>, ErrorData> {
    let sealed = |state: &str| Some(format!("{state}{SEAL}"));
    let name_of = |key: &str, field: &str| {
        let content = answers.get(key).and_then(|answer| answer.get("content")?.get(field)?.as_str());
        content.map(str::to_owned)
    };
    // A modified state is rejected.
    if state.is_some_and(|state| !state.ends_with(SEAL)) {
        return Err(ErrorData::invalid_params("the state was changed", None));
    }
    let who = || question("What is your name?", "name", "string");
    let sure = || question("Please confirm", "ok", "boolean");
    Ok(Some(match name {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            match name_of("user_name", "name") {
                Some(name) => Step::Say(format!("Hello, {name}!")),
                None => Step::Ask(json!({"user_name": who()}), None),
            }
        }
        "test_input_required_result_sampling" => match answers.get("capital_question") {
            Some(answer) => Step::Say(answer.to_string()),
            None => {
                Step::Ask(json!({"capital_question": sampled("What is the capital of France?", 100)}), None)
            }
        },
        "test_input_required_result_list_roots" => match answers.get("client_roots") {
            Some(answer) => Step::Say(answer.to_string()),
            None => Step::Ask(json!({"client_roots": roots()}), None),
        },
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            match (answers.get("confirm"), state) {
                (Some(_), Some(_)) => Step::Say("state-ok".to_owned()),
                _ => Step::Ask(json!({"confirm": sure()}), sealed("asked")),
            }
        }
        "test_input_required_result_multiple_inputs" => {
            let asked = ["user_name", "greeting", "client_roots"];
            if asked.iter().all(|key| answers.contains_key(*key)) && state.is_some() {
                Step::Say("all three were answered".to_owned())
            } else {
                let all = [who(), sampled("Generate a greeting", 50), roots()];
                Step::Ask(
                    Value::Object(asked.map(str::to_owned).into_iter().zip(all).collect()),
                    sealed("three"),
                )
            }
        }
        "test_input_required_result_multi_round" => {
            let first = question("Step 1: What is your name?", "name", "string");
            let second = question("Step 2: What is your favorite color?", "color", "string");
            match (answers.get("step1"), answers.get("step2"), state) {
                (_, Some(_), Some("round-2.sealed")) => Step::Say("both steps were answered".to_owned()),
                (Some(_), _, Some("round-1.sealed")) => {
                    Step::Ask(json!({"step2": second}), sealed("round-2"))
                }
                _ => Step::Ask(json!({"step1": first}), sealed("round-1")),
            }
        }
        "test_input_required_result_capabilities" => {
            let mut asked = json!({"greeting": sampled("Generate a greeting", 50)});
            if let (Request::Both, Some(all)) = (whom, asked.as_object_mut()) {
                all.insert("user_name".to_owned(), who());
            }
            Step::Ask(asked, None)
        }
        "test_input_required_result_prompt" => {
            if let Some(context) = name_of("user_context", "context") {
                Step::Say(format!("Use this context: {context}"))
            } else {
                let asked = question("What context should the prompt use?", "context", "string");
                Step::Ask(json!({"user_context": asked}), None)
            }
        }
        _ => return Ok(None),
    }))
}

fn asked(questions: Value, state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    Ok(InputRequiredResult::new(Some(typed(questions)?), state))
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let offered =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(offered)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let found = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(found.with_ttl_ms(KEEP).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let asking = ASKING.into_iter().map(|name| (name, json!({"type": "object"})));
        let (name, schema) = plain_tools().into_iter().chain(asking).find(|(known, _)| *known == name)?;
        typed(json!({"name": name, "description": "A fixture of the conformance suite.", "inputSchema": schema})).ok()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let names = plain_tools().into_iter().map(|(name, _)| name).chain(ASKING);
        let tools = names.filter_map(|name| self.get_tool(name)).collect();
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(KEEP).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "test_tool_with_progress" {
            // Progress is reported before the answer, which is streamed then.
            if let Some(token) = context.meta.get_progress_token() {
                for done in [0.0, 50.0, 100.0] {
                    let progress = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
                    // A client that disconnected needs no progress.
                    let _told = context.peer.notify_progress(progress).await;
                }
            }
            return Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into());
        }
        let offered = context.client_capabilities();
        if request.name == "test_missing_capability"
            && offered.is_none_or(|offered| offered.sampling.is_none())
        {
            let needed = json!({"requiredCapabilities": {"sampling": {}}});
            return Err(ErrorData::new(ErrorCode(-32_021), "the client cannot sample", Some(needed)));
        }
        if let Some(blocks) = content(&request.name) {
            let shown = typed(blocks)?;
            let is_error = request.name == "test_error_handling";
            let result = if is_error { CallToolResult::error(shown) } else { CallToolResult::success(shown) };
            return Ok(result.into());
        }
        let can_ask = context.client_capabilities().is_some_and(|can| can.elicitation.is_some());
        let whom = if can_ask { Request::Both } else { Request::Model };
        let answers = request.input_responses.unwrap_or_default();
        match step(&request.name, &answers, request.request_state.as_deref(), whom)? {
            Some(Step::Say(text)) => Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into()),
            Some(Step::Ask(questions, state)) => Ok(asked(questions, state)?.into()),
            None => Err(no("such tool")),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let named = |name: &str| Resource::new(format!("test://{name}"), name);
        let list = ListResourcesResult::with_all_items(vec![named("static-text"), named("static-binary")]);
        Ok(list.with_ttl_ms(KEEP).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        let list = ListResourceTemplatesResult::with_all_items(vec![template]);
        Ok(list.with_ttl_ms(KEEP).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, id) {
            ("test://static-text", _) => {
                let text = "This is the content of the static text resource.";
                json!({"uri": uri, "mimeType": "text/plain", "text": text})
            }
            ("test://static-binary", _) => json!({"uri": uri, "mimeType": "image/png", "blob": PIXEL}),
            (_, Some(id)) => {
                let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": text.to_string()})
            }
            _ => {
                return Err(ErrorData::invalid_params(
                    "there is no such resource",
                    Some(json!({"uri": uri})),
                ));
            }
        };
        let result = ReadResourceResult::new(vec![typed(contents)?]);
        Ok(result.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let needs = |name: &str| PromptArgument::new(name).with_required(true);
        let prompts = [
            ("test_simple_prompt", vec![]),
            ("test_prompt_with_arguments", vec![needs("arg1"), needs("arg2")]),
            ("test_prompt_with_embedded_resource", vec![needs("resourceUri")]),
            ("test_prompt_with_image", vec![]),
            ("test_input_required_result_prompt", vec![]),
        ];
        let prompts = prompts.map(|(name, arguments)| {
            Prompt::new(name, Some("A fixture of the conformance suite."), Some(arguments))
        });
        let list = ListPromptsResult::with_all_items(prompts.to_vec());
        Ok(list.with_ttl_ms(KEEP).with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let argument = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default();
        let text = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
        let messages = match request.name.as_str() {
            "test_simple_prompt" => json!([text("This is a simple prompt for testing.")]),
            "test_prompt_with_arguments" => {
                let (one, other) = (argument("arg1"), argument("arg2"));
                json!([text(&format!("Prompt with arguments: arg1='{one}', arg2='{other}'"))])
            }
            "test_prompt_with_embedded_resource" => {
                let said = "Embedded resource content for testing.";
                let resource =
                    json!({"uri": argument("resourceUri"), "mimeType": "text/plain", "text": said});
                json!([
                    {"role": "user", "content": {"type": "resource", "resource": resource}},
                    text("Please process the embedded resource above."),
                ])
            }
            "test_prompt_with_image" => json!([
                {"role": "user", "content": {"type": "image", "data": PIXEL, "mimeType": "image/png"}},
                text("Please analyze the image above."),
            ]),
            name => {
                let answers = request.input_responses.unwrap_or_default();
                match step(name, &answers, request.request_state.as_deref(), Request::Both)? {
                    Some(Step::Ask(questions, state)) => return Ok(asked(questions, state)?.into()),
                    Some(Step::Say(said)) => json!([text(&said)]),
                    None => return Err(no("such prompt")),
                }
            }
        };
        Ok(GetPromptResult::new(typed(messages)?).into())
    }
}
