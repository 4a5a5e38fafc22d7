//! Chat completions of any endpoint with `POST /v1/chat/completions`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Completion, Error, ErrorKind, LanguageModel, ModelId, Prompt, Result, TokenCount, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::address::Address;
use super::answer::wrong;
use super::client::{ApiKey, Client, EndpointRequest, UnusableAnswer};
use crate::model::tokens_of;

/// Prefix of the model's name, as for vectors.
const PREFIX: &str = "endpoint:";
/// Most bytes of a response. Source: own choice.
const LARGEST: usize = 1_024 * 1_024;
/// Delimiters of a model's reasoning before the answer.
const THOUGHT: (&str, &str) = ("<think>", "</think>");

/// Settings of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatSettings {
    /// `http://` or `https://`, a host, optionally a port and a path; with or without `/v1`.
    pub base_url: String,
    /// Name of the model, as the endpoint knows it.
    pub model: String,
    /// Sent as a bearer token, if there is one.
    pub api_key: Option<ApiKey>,
    /// Timeout of one request, from name resolution to the last byte of the response.
    pub timeout: Duration,
    /// Seed of the retry jitter.
    pub seed: u64,
}

/// A language model behind an OpenAI-compatible endpoint.
///
/// Temporary failures are retried as by [`EndpointEmbedder`](super::EndpointEmbedder); an unusable answer is an error at once,
/// so that the caller can tell the model what was wrong. If the endpoint refuses a request with a JSON schema, the same is sent
/// without the schema, also from then on.
#[derive(Debug)]
pub struct EndpointModel {
    model: ModelId,
    name: String,
    client: Client,
    /// The endpoint does not support JSON schemas.
    is_plain: AtomicBool,
}

impl EndpointModel {
    /// Reads the settings. Opens no connection.
    ///
    /// # Errors
    /// `Invalid` for an invalid address, or one with credentials, a query or a fragment; for a model without a name; for a
    /// timeout of zero.
    pub fn new(settings: ChatSettings) -> Result<Self> {
        let name = settings.model.trim().to_owned();
        if settings.timeout.is_zero() || name.is_empty() {
            return Err(Error::invalid("an endpoint needs the name of a model and a timeout above 0"));
        }
        let address = Address::read(&settings.base_url, "chat/completions")?;
        let client = Client::new(address, settings.api_key, settings.timeout, settings.seed);
        let model = ModelId::new(format!("{PREFIX}{name}"))?;
        Ok(Self { model, name, client, is_plain: AtomicBool::new(false) })
    }

    async fn ask(
        &self,
        permit: &mut BackgroundPermit,
        prompt: &Prompt,
        schema: Option<&Value>,
    ) -> Result<Completion> {
        let body = serde_json::to_vec(&ChatRequest::of(&self.name, prompt, schema))
            .map_err(|cause| Error::internal("cannot write a request").because(cause))?;
        let sent = tokens_of(body.len());
        let question = EndpointRequest {
            body: &body,
            tokens: sent + prompt.most,
            largest_answer: LARGEST,
            nonsense: UnusableAnswer::Report,
        };
        self.client.ask(permit, &question, |body| self.read(body, sent)).await
    }

    fn read(&self, body: &[u8], sent: TokenCount) -> Result<Completion> {
        let answer: ChatResponse =
            serde_json::from_slice(body).map_err(|_| wrong("what is no completion"))?;
        let choice = answer.choices.into_iter().next().ok_or_else(|| wrong("no choice"))?;
        match choice.finish_reason.as_deref() {
            Some("length") => return Err(wrong("an answer that was cut off")),
            Some("content_filter") => return Err(wrong("an answer that was held back")),
            _ => {}
        }
        let text = choice.message.content.unwrap_or_default();
        if text.trim().is_empty() && choice.message.tool_calls.is_some_and(|calls| !calls.is_empty()) {
            return Err(wrong("a call of a tool instead of words"));
        }
        let text = without_thought(&text)?;
        if text.is_empty() {
            return Err(wrong("no words"));
        }
        let usage = answer.usage.unwrap_or_default();
        let usage = Usage {
            sent: usage.prompt_tokens.map_or(sent, TokenCount),
            received: usage.completion_tokens.map_or_else(|| tokens_of(text.len()), TokenCount),
        };
        Ok(Completion { text: text.to_owned(), model: self.model.clone(), usage })
    }
}

#[async_trait]
impl LanguageModel for EndpointModel {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> Result<Completion> {
        let schema = prompt.schema.as_deref().map(serde_json::from_str::<Value>).transpose();
        let schema = schema.map_err(|cause| Error::internal("a schema is no JSON").because(cause))?;
        let schema = schema.filter(|_| !self.is_plain.load(Ordering::Relaxed));
        let refused = match self.ask(permit, prompt, schema.as_ref()).await {
            Err(error) if error.kind() == ErrorKind::Invalid && schema.is_some() => error,
            answer => return answer,
        };
        if self.client.is_denied() {
            return Err(refused);
        }
        let answer = self.ask(permit, prompt, None).await;
        if answer.is_ok() {
            self.is_plain.store(true, Ordering::Relaxed);
        }
        answer
    }
}

/// Returns the text after the model's reasoning.
fn without_thought(text: &str) -> Result<&str> {
    let text = text.trim();
    let Some(thought) = text.strip_prefix(THOUGHT.0) else { return Ok(text) };
    let end = thought.split_once(THOUGHT.1);
    end.map(|(_, answer)| answer.trim()).ok_or_else(|| wrong("a thought without an end"))
}

#[derive(Serialize)]
struct ChatRequest<'a> {
    model: &'a str,
    messages: [ChatMessage<'a>; 2],
    max_tokens: u32,
    temperature: u8,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
}

#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    json_schema: NamedSchema<'a>,
}

#[derive(Serialize)]
struct NamedSchema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a Value,
}

impl<'a> ChatRequest<'a> {
    fn of(model: &'a str, prompt: &'a Prompt, schema: Option<&'a Value>) -> Self {
        let format = |schema| ResponseFormat {
            kind: "json_schema",
            json_schema: NamedSchema { name: "answer", strict: true, schema },
        };
        Self {
            model,
            messages: [
                ChatMessage { role: "system", content: &prompt.instructions },
                ChatMessage { role: "user", content: &prompt.material },
            ],
            max_tokens: prompt.most.0,
            temperature: 0,
            stream: false,
            response_format: schema.map(format),
        }
    }
}

#[derive(Deserialize)]
struct ChatResponse {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<TokenUsage>,
}

#[derive(Deserialize)]
struct Choice {
    message: ResponseMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ResponseMessage {
    content: Option<String>,
    tool_calls: Option<Vec<Value>>,
}

#[derive(Default, Deserialize)]
struct TokenUsage {
    prompt_tokens: Option<u32>,
    completion_tokens: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_thought_before_is_no_part_of_its_answer() {
        assert_eq!(without_thought(" plain ").unwrap(), "plain");
        assert_eq!(without_thought("<think>{\"no\": 1}</think>\n{\"yes\": 2}").unwrap(), "{\"yes\": 2}");
        assert_eq!(without_thought("<think>and so on").unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
