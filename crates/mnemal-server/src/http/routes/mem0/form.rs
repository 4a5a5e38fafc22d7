//! Request and response forms of mem0's API.

use serde_json::Value;

use mnemal_core::Learning;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::wire::Fields;

/// Whose memories, behind the question mark.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Mem0Whose")]
pub(super) struct OwnerQuery {
    /// A person's.
    pub(super) user_id: Option<String>,
    /// An agent's.
    pub(super) agent_id: Option<String>,
    /// An application's.
    pub(super) app_id: Option<String>,
    /// A conversation's.
    pub(super) run_id: Option<String>,
    /// The same as a JSON object.
    pub(super) filters: Option<String>,
}

/// Whose memories, and how many.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Mem0ListQuery")]
pub(super) struct ListQuery {
    /// A person's.
    pub(super) user_id: Option<String>,
    /// An agent's.
    pub(super) agent_id: Option<String>,
    /// An application's.
    pub(super) app_id: Option<String>,
    /// A conversation's.
    pub(super) run_id: Option<String>,
    /// Conditions as a JSON object.
    pub(super) filters: Option<String>,
    /// Most memories, 1 to 1,000; 100 without it.
    pub(super) limit: Option<u32>,
    /// Another name of `limit`.
    pub(super) top_k: Option<u32>,
}

/// Which page.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Mem0PageQuery")]
pub(super) struct PagesQuery {
    /// Which page, from 1.
    pub(super) page: Option<u32>,
    /// Most of a page, 1 to 1,000; 100 without it.
    pub(super) page_size: Option<u32>,
}

/// What goes with a memory that is erased.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Mem0ForgetQuery")]
pub(super) struct ForgetQuery {
    /// What it replaced goes with it, which is always so.
    pub(super) delete_linked: Option<bool>,
}

/// Turns that are to be remembered.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Mem0Add")]
pub(super) struct Mem0AddForm {
    /// One text, a turn, or turns, oldest first; what the system says is not stored.
    pub(super) messages: Value,
    /// The person whose they are.
    #[serde(default)]
    pub(super) user_id: Option<String>,
    /// The agent whose they are.
    #[serde(default)]
    pub(super) agent_id: Option<String>,
    /// The application whose they are.
    #[serde(default)]
    pub(super) app_id: Option<String>,
    /// The conversation.
    #[serde(default)]
    pub(super) run_id: Option<String>,
    /// `user_id`, `agent_id`, `app_id` and `run_id` once more.
    #[serde(default)]
    pub(super) filters: Option<Value>,
    /// What else is to be kept, as JSON values.
    #[serde(default)]
    pub(super) metadata: Option<Fields>,
    /// What turns say is stored as it was said, whatever this is.
    #[serde(default)]
    #[expect(dead_code, reason = "both values mean what is done")]
    pub(super) infer: Option<bool>,
    /// It is done when the answer comes, whatever this is.
    #[serde(default)]
    #[expect(dead_code, reason = "both values mean what is done")]
    pub(super) async_mode: Option<bool>,
    /// `v1.1`, the form of the answer.
    #[serde(default)]
    pub(super) output_format: Option<String>,
    /// `v2`, or none.
    #[serde(default)]
    pub(super) version: Option<String>,
    /// When it was said: Unix seconds, or a time.
    #[serde(default)]
    pub(super) timestamp: Option<Value>,
    /// The last day on which it holds, `2027-01-31`.
    #[serde(default)]
    pub(super) expiration_date: Option<String>,
    /// The program that asks, for statistics of which there are none here.
    #[serde(default)]
    #[expect(dead_code, reason = "nothing is counted by it")]
    pub(super) source: Option<String>,
}

/// A turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnForm {
    /// The role of the speaker; `user` without it.
    #[serde(default)]
    pub(super) role: Option<String>,
    /// The text, or its parts.
    #[serde(default)]
    pub(super) content: Value,
    /// The name of the speaker.
    #[serde(default)]
    pub(super) name: Option<String>,
}

/// What became of turns.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Added")]
pub(super) struct Mem0AddedForm {
    /// `SUCCEEDED`; `FAILED` where all that was said is held back.
    pub(super) status: &'static str,
    /// One for each that was stored.
    pub(super) results: Vec<Mem0EventForm>,
}

/// A memory that was stored.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Event")]
pub(super) struct Mem0EventForm {
    /// Its id.
    pub(super) id: String,
    /// The words.
    pub(super) memory: String,
    /// `ADD`; `NONE` of what is held back, which is no memory.
    pub(super) event: &'static str,
    /// The rule that holds it back until a person releases it; `burst` where too much came within an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) held_back: Option<String>,
}

/// Memories.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Rows")]
pub(super) struct Mem0RowsForm {
    /// In the order of the answer.
    #[schemars(with = "Vec<Mem0RowForm>")]
    pub(super) results: Vec<Value>,
}

/// A page of memories.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub(super) struct Mem0PageForm<T> {
    /// How many there are on all pages.
    pub(super) count: usize,
    /// Where the next page is; none behind the last.
    pub(super) next: Option<String>,
    /// Where the one before is; none before the first.
    pub(super) previous: Option<String>,
    /// Those of this page.
    pub(super) results: Vec<T>,
}

/// A memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Row")]
pub(super) struct Mem0RowForm {
    /// Its id.
    pub(super) id: String,
    /// The words.
    pub(super) memory: String,
    /// SHA-256 of the words, in hexadecimal digits.
    pub(super) hash: String,
    /// What its writer added.
    pub(super) metadata: Fields,
    /// When it was said first.
    pub(super) created_at: String,
    /// When its words changed last; none for the first ones.
    pub(super) updated_at: Option<String>,
    /// The person whose it is.
    pub(super) user_id: Option<String>,
    /// The agent whose it is.
    pub(super) agent_id: Option<String>,
    /// The application whose it is.
    pub(super) app_id: Option<String>,
    /// The conversation.
    pub(super) run_id: Option<String>,
    /// Who said it: `user` or `assistant`.
    pub(super) role: Option<String>,
    /// The last day on which it holds.
    pub(super) expiration_date: Option<String>,
    /// 0 to 1, of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) score: Option<f32>,
}

/// What is to be different; what is left out stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Mem0Edit")]
pub(super) struct Mem0EditForm {
    /// The words.
    #[serde(default, alias = "data", alias = "memory")]
    pub(super) text: Option<String>,
    /// What else is to be kept; other names of it stay.
    #[serde(default)]
    pub(super) metadata: Option<Fields>,
    /// When it was said: Unix seconds, or a time.
    #[serde(default)]
    pub(super) timestamp: Option<Value>,
    /// The last day on which it holds, `2027-01-31`; `null` for good.
    #[serde(default, deserialize_with = "said")]
    #[schemars(with = "Option<String>")]
    pub(super) expiration_date: Option<Value>,
}

/// Deserializes a present field, including `null`.
fn said<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// What was done.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Done")]
pub(super) struct Mem0DoneForm {
    /// In words.
    pub(super) message: String,
}

/// A change of a memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Change")]
pub(super) struct Mem0ChangeForm {
    /// The version.
    pub(super) id: String,
    /// The memory.
    pub(super) memory_id: String,
    /// What it said before; none for the first.
    pub(super) old_memory: Option<String>,
    /// What it said then.
    pub(super) new_memory: String,
    /// `ADD` or `UPDATE`.
    pub(super) event: &'static str,
    /// When.
    pub(super) created_at: String,
}

/// What is looked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Mem0Search")]
pub(super) struct Mem0SearchForm {
    /// The question.
    pub(super) query: String,
    /// Which memories.
    #[serde(default)]
    pub(super) user_id: Option<String>,
    /// An agent's.
    #[serde(default)]
    pub(super) agent_id: Option<String>,
    /// An application's.
    #[serde(default)]
    pub(super) app_id: Option<String>,
    /// A conversation's.
    #[serde(default)]
    pub(super) run_id: Option<String>,
    /// Conditions: names of fields and of the metadata with a value, `*` or operators (`eq`, `ne`, `gt`, `gte`, `lt`, `lte`,
    /// `in`, `nin`, `contains`, `icontains`); `AND`, `OR` and `NOT` with lists of such.
    #[serde(default)]
    pub(super) filters: Option<Value>,
    /// More conditions, on the metadata.
    #[serde(default)]
    pub(super) metadata: Option<Value>,
    /// Most hits, 1 to 1,000; 100 without it.
    #[serde(default)]
    pub(super) limit: Option<u32>,
    /// Another name of `limit`.
    #[serde(default)]
    pub(super) top_k: Option<u32>,
    /// Lowest score of a hit, 0 to 1; without it a hit needs four fifths of the best score. 0 asks for all.
    #[serde(default)]
    pub(super) threshold: Option<f32>,
    /// The fields of an answer's rows; all without it.
    #[serde(default)]
    pub(super) fields: Option<Vec<String>>,
    /// Words are always looked for too.
    #[serde(default)]
    #[expect(dead_code, reason = "both values mean what is done")]
    pub(super) keyword_search: Option<bool>,
    /// Hits come best first, whatever this is.
    #[serde(default)]
    #[expect(dead_code, reason = "both values mean what is done")]
    pub(super) rerank: Option<bool>,
    /// `v1.1`, the form of the answer.
    #[serde(default)]
    pub(super) output_format: Option<String>,
    /// `v2`, or none.
    #[serde(default)]
    pub(super) version: Option<String>,
    /// The newest version of a memory is all that is found.
    #[serde(default)]
    pub(super) latest_only: Option<bool>,
    /// What has ended is not found.
    #[serde(default)]
    pub(super) show_expired: Option<bool>,
    /// The program that asks, for statistics of which there are none here.
    #[serde(default)]
    #[expect(dead_code, reason = "nothing is counted by it")]
    pub(super) source: Option<String>,
}

/// Which memories.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Mem0Find")]
pub(super) struct Mem0FindForm {
    /// A person's.
    #[serde(default)]
    pub(super) user_id: Option<String>,
    /// An agent's.
    #[serde(default)]
    pub(super) agent_id: Option<String>,
    /// An application's.
    #[serde(default)]
    pub(super) app_id: Option<String>,
    /// A conversation's.
    #[serde(default)]
    pub(super) run_id: Option<String>,
    /// Conditions, as those of a search.
    #[serde(default)]
    pub(super) filters: Option<Value>,
    /// Stored then or later.
    #[serde(default)]
    pub(super) start_date: Option<String>,
    /// Stored then or before.
    #[serde(default)]
    pub(super) end_date: Option<String>,
    /// The fields of an answer's rows; all without it.
    #[serde(default)]
    pub(super) fields: Option<Vec<String>>,
    /// `v1.1`, the form of the answer.
    #[serde(default)]
    pub(super) output_format: Option<String>,
    /// The newest version of a memory is all that is listed.
    #[serde(default)]
    pub(super) latest_only: Option<bool>,
    /// What has ended is not listed.
    #[serde(default)]
    pub(super) show_expired: Option<bool>,
}

/// Memories that are to be changed or erased.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Mem0Batch")]
pub(super) struct Mem0BatchForm {
    /// At least one.
    pub(super) memories: Vec<Mem0BatchItemForm>,
}

/// A memory of a batch.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Mem0BatchItem")]
pub(super) struct Mem0BatchItemForm {
    /// Its id.
    pub(super) memory_id: String,
    /// The words.
    #[serde(default)]
    pub(super) text: Option<String>,
    /// What else is to be kept; other names of it stay.
    #[serde(default)]
    pub(super) metadata: Option<Fields>,
}

/// Whether the server answers this key.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Ping")]
pub(super) struct Mem0PingForm {
    /// `ok`.
    pub(super) status: &'static str,
    /// The space that the key knows.
    pub(super) project_id: String,
    /// The product.
    pub(super) org_id: &'static str,
    /// None.
    pub(super) user_email: Option<String>,
}

/// Whose memories there are.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Entity")]
pub(super) struct Mem0EntityForm {
    /// The name.
    pub(super) id: String,
    /// The name.
    pub(super) name: String,
    /// `user`, `agent`, `app` or `run`.
    pub(super) r#type: &'static str,
    /// Memories that hold.
    pub(super) total_memories: usize,
    /// When the first was stored.
    pub(super) created_at: String,
    /// When the last was stored or changed.
    pub(super) updated_at: String,
}

impl Mem0RowForm {
    /// Returns its fields under their filter names.
    pub(super) fn named(&self) -> std::collections::BTreeMap<String, Value> {
        let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::String);
        let own = [
            ("id", Value::from(self.id.as_str())),
            ("memory", Value::from(self.memory.as_str())),
            ("created_at", Value::from(self.created_at.as_str())),
            ("updated_at", Value::from(self.updated_at.as_ref().unwrap_or(&self.created_at).as_str())),
            ("user_id", text(&self.user_id)),
            ("agent_id", text(&self.agent_id)),
            ("app_id", text(&self.app_id)),
            ("run_id", text(&self.run_id)),
            ("role", text(&self.role)),
            ("expiration_date", text(&self.expiration_date)),
        ];
        let metadata = self.metadata.iter().map(|(name, value)| (format!("metadata.{name}"), value.clone()));
        own.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(metadata).collect()
    }
}

/// A memory with its form.
pub(super) struct RenderedMemory {
    /// The memory.
    pub(super) row: Learning,
    /// Its form.
    pub(super) form: Mem0RowForm,
}
