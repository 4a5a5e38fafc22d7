//! The vector store: recall as its search, documents in the log as what is inserted.

#![expect(clippy::result_large_err, reason = "the error of rig's traits")]

use mnemal::types::{GapCause, Producer, derived_id};
use mnemal::{Error, Event, EventFilter, Hit, Memory, Message, Role, SessionId, Within};
use rig_core::Embed;
use rig_core::embeddings::{Embedding, to_texts};
use rig_core::vector_store::request::{Filter, FilterError};
use rig_core::vector_store::{
    InsertDocuments, VectorSearchIdResult, VectorSearchRequest, VectorSearchResult, VectorStoreError,
    VectorStoreIndex,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Most results of one search. Source: own default, what a model could not read any more.
pub const MOST_SAMPLES: u64 = 1_000;
/// Most events that one call of the log takes. Source: RELIABILITY 12, batch of 1,000 events.
const BATCH: usize = 1_000;
/// Most hits that are looked at for those that pass a filter. Source: own default, some tenths of a second.
const DEEPEST: usize = 100_000;
/// How many times as many hits are looked at where too few passed. Source: own default, as recall at a belief time does.
const DEEPER: usize = 4;
/// Field of an event that has the document as it was inserted, but for its text.
const DOCUMENT: &str = "rig.document";
/// The one field of an object that stands for the event's text in its document.
const TEXT: &str = "rig.text";

/// What a search of a [`Store`] looks through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Searched {
    /// Everything that the memory has: turns, notes, documents.
    #[default]
    Everything,
    /// What was inserted through a [`Store`].
    Inserted,
}

/// A memory as a vector store of rig.
///
/// mnemal embeds by itself, so that vectors that are handed in are not used, and no model of embeddings is needed.
/// Everything that is inserted is a document in the log: redacted, screened, recalled and forgotten as everything else; its
/// trust is that of a document and not of a person's words.
///
/// **Scores** are how much speaks for a hit, 0 to 1, comparable between searches; a threshold leaves out what has less. The
/// order is that of recall, which weighs more than that, so that scores need not fall from hit to hit.
///
/// **Filters** look at the fields of the document (for what was not inserted as an object: `text`, `role`, `at`, `session`) and
/// at the fields of the event that holds it: `event.id`, `event.role` (`user`, `assistant`, `tool`, `document`, `decision`),
/// `event.session`, `event.channel`, `event.user`, `event.agent`, `event.at` (RFC 3339, UTC). What has no such field
/// does not pass.
#[derive(Clone, Debug)]
pub struct Store {
    memory: Memory,
    searched: Searched,
}

impl Store {
    /// Makes a store of a memory; one that is narrowed to a person, an agent or a conversation stays so.
    pub fn new(memory: Memory) -> Self {
        Self { memory, searched: Searched::default() }
    }

    /// Chooses what is looked through. A typed search, as of one's own document type, wants [`Searched::Inserted`].
    #[must_use]
    pub fn searching(mut self, searched: Searched) -> Self {
        self.searched = searched;
        self
    }

    /// Finds what passes, with its documents, best first.
    async fn found(&self, request: &VectorSearchRequest) -> Result<Vec<(Hit, Value)>, VectorStoreError> {
        let wanted = check(request)?;
        let mut limit = wanted;
        loop {
            let call =
                self.memory.recall(request.query()).filter(self.narrowed(request.filter())).limit(limit);
            let answer = call.await.map_err(VectorStoreError::datastore)?;
            if answer.hits.is_empty()
                && let Some(gap) = answer.gaps.iter().find(|gap| is_failure(&gap.cause))
            {
                let error = Error::new(mnemal::ErrorKind::Unavailable, format!("the search failed: {gap}"));
                return Err(VectorStoreError::datastore(error));
            }
            let is_all = answer.hits.len() < limit || limit >= DEEPEST;
            let pairs = answer.value.hits.into_iter().map(|hit| {
                let document = document(&hit);
                (hit, document)
            });
            let mut passed: Vec<_> =
                pairs.filter(|(hit, document)| self.passes(request, hit, document)).collect();
            if is_all || passed.len() >= wanted {
                passed.truncate(wanted);
                return Ok(passed);
            }
            limit = limit.saturating_mul(DEEPER).min(DEEPEST);
        }
    }

    /// Returns the filter of the memory's scope, narrowed by what the request's filter demands in any case.
    fn narrowed(&self, filter: Option<&Filter<Value>>) -> EventFilter {
        let scope = self.memory.admin().scope();
        let mut narrowed = EventFilter {
            session: scope.session.clone(),
            user: scope.user.clone(),
            agent: scope.agent.clone(),
            ..EventFilter::live()
        };
        if self.searched == Searched::Inserted {
            narrowed.roles = Within::Only(vec![Role::Document]);
        }
        let session = filter.and_then(|filter| demanded(filter, "event.session"));
        // What the scope says is never widened; the filter itself is asked again for each hit.
        if let (Within::All, Some(Ok(session))) = (&narrowed.session, session.map(SessionId::new)) {
            narrowed.session = Within::Only(session);
        }
        narrowed
    }

    /// Returns the event of a document. Each is a session of its own, as each file is that is read in: a session may store only so
    /// much in an hour, which is no bound for what a host inserts.
    fn message(&self, text: String, frame: String) -> mnemal::Result<Message> {
        let session = match &self.memory.admin().scope().session {
            Within::Only(session) => session.clone(),
            Within::All => {
                let producer = Producer { id: format!("{frame}\n{text}"), version: 0 };
                SessionId::new(format!("document:{:032x}", derived_id(DOCUMENT, &producer, &[], 0)))?
            }
        };
        Ok(Message::document(text).metadata(DOCUMENT, frame).session(session))
    }

    fn passes(&self, request: &VectorSearchRequest, hit: &Hit, document: &Value) -> bool {
        let enough = request.threshold().is_none_or(|least| f64::from(hit.evidence) >= least);
        let meant = self.searched == Searched::Everything || is_inserted(&hit.event);
        let passed = || request.filter().is_none_or(|filter| filter.satisfies(&fields(hit, document)));
        enough && meant && passed()
    }
}

impl VectorStoreIndex for Store {
    type Filter = Filter<Value>;

    /// Returns the best hits, each as `T`: what was inserted as it was handed in, everything else as an object of `text`, `role`,
    /// `at` and `session`.
    ///
    /// # Errors
    /// `JsonError` when a hit is no `T`; `SamplesOutOfRange` for more than [`MOST_SAMPLES`], `FilterError` for a threshold that
    /// is not from 0 to 1, `DatastoreError` when the memory cannot be searched.
    async fn top_n<T: DeserializeOwned + Send>(
        &self,
        request: VectorSearchRequest,
    ) -> Result<Vec<VectorSearchResult<T>>, VectorStoreError> {
        let found = self.found(&request).await?.into_iter();
        found
            .map(|(hit, document)| {
                let (score, id) = (f64::from(hit.evidence), hit.event.id.to_string());
                Ok(VectorSearchResult { score, id, document: serde_json::from_value(document)? })
            })
            .collect()
    }

    /// Returns the ids of the events that are the best hits, by which [`EventsHandle::get`](mnemal::events::EventsHandle::get) and [`Memory::forget`] know them.
    ///
    /// # Errors
    /// As [`top_n`](Self::top_n), without `JsonError`.
    async fn top_n_ids(
        &self,
        request: VectorSearchRequest,
    ) -> Result<Vec<VectorSearchIdResult>, VectorStoreError> {
        let found = self.found(&request).await?.into_iter();
        let ids = found.map(|(hit, _)| (f64::from(hit.evidence), hit.event.id.to_string()));
        Ok(ids.map(|(score, id)| VectorSearchIdResult { score, id }).collect())
    }
}

impl InsertDocuments for Store {
    /// Logs documents, in batches of 1,000, each of which is stored as a whole or not at all. What is to be found is the text that
    /// [`Embed`] names, up to 256 KiB; what the document has beside it is kept too, up to 16 KiB. The vectors are not used.
    ///
    /// What reads like an attempt to give orders is stored and not found until a person releases it, and so is what is more than
    /// 200 documents in an hour where the memory is narrowed to a session.
    ///
    /// # Errors
    /// `DatastoreError` for a document without text, one beyond the limits, and when the memory cannot be written;
    /// `JsonError` for one that is no JSON. Nothing is stored where one of the documents has no text or is no JSON.
    async fn insert_documents<Doc: Serialize + Embed + Send>(
        &self,
        documents: Vec<(Doc, Vec<Embedding>)>,
    ) -> Result<(), VectorStoreError> {
        let all = documents.len();
        let messages = documents.into_iter().enumerate().map(|(at, (document, _))| {
            let kept = serde_json::to_value(&document)?;
            let text = to_texts(document).map_err(VectorStoreError::datastore)?.join("\n");
            if text.trim().is_empty() {
                let error = Error::invalid(format!("document {} of {all} has no text", at + 1));
                return Err(VectorStoreError::datastore(error));
            }
            let frame = without_text(kept, &text).to_string();
            self.message(text, frame).map_err(VectorStoreError::datastore)
        });
        let messages: Vec<Message> = messages.collect::<Result<_, VectorStoreError>>()?;
        for batch in messages.chunks(BATCH) {
            let _acks =
                self.memory.events().log_all(batch.to_vec()).await.map_err(VectorStoreError::datastore)?;
        }
        Ok(())
    }
}

/// Checks what rig does not; returns how many results are wanted.
fn check(request: &VectorSearchRequest) -> Result<usize, VectorStoreError> {
    if request.threshold().is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
        return Err(FilterError::Must("threshold".to_owned(), "be from 0 to 1".to_owned()).into());
    }
    let requested = request.samples();
    let out_of_range = VectorStoreError::SamplesOutOfRange { requested, max: MOST_SAMPLES };
    match usize::try_from(requested) {
        Ok(samples) if (1..=MOST_SAMPLES).contains(&requested) => Ok(samples),
        _ if requested == 0 => {
            Err(FilterError::Must("samples".to_owned(), "be at least 1".to_owned()).into())
        }
        _ => Err(out_of_range),
    }
}

/// Whether an empty answer with this gap may only look empty.
fn is_failure(cause: &GapCause) -> bool {
    matches!(cause, GapCause::Failed(_) | GapCause::TimedOut(_))
}

/// Returns the text that a filter wants a field to equal, whatever else it wants.
fn demanded<'f>(filter: &'f Filter<Value>, field: &str) -> Option<&'f str> {
    match filter {
        Filter::Eq(key, value) if key == field => value.as_str(),
        Filter::And(one, other) => demanded(one, field).or_else(|| demanded(other, field)),
        _ => None,
    }
}

fn is_inserted(event: &Event) -> bool {
    event.body().is_some_and(|kept| kept.metadata.contains_key(DOCUMENT))
}

/// Returns a hit as a document.
fn document(hit: &Hit) -> Value {
    let Some(kept) = hit.event.body() else { return Value::Null };
    // A secret that was replaced may have taken a quote along; then its text is what is left.
    let frame = kept.metadata.get(DOCUMENT).and_then(|frame| serde_json::from_str(frame).ok());
    if let Some(frame) = frame {
        return with_text(frame, &kept.content);
    }
    let session = kept.session.as_str();
    let at = kept.occurred_at.to_string();
    serde_json::json!({ "text": kept.content, "role": hit.event.role.as_str(), "at": at, "session": session })
}

/// Puts the mark in place of each string that is the event's text, which is then stored once.
fn without_text(document: Value, text: &str) -> Value {
    match document {
        Value::String(string) if string == text => serde_json::json!({ TEXT: true }),
        Value::Array(values) => values.into_iter().map(|value| without_text(value, text)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, without_text(value, text))).collect()
        }
        other => other,
    }
}

/// Puts the event's text in place of each mark.
fn with_text(frame: Value, text: &str) -> Value {
    match frame {
        Value::Object(fields) if fields.len() == 1 && fields.get(TEXT) == Some(&Value::Bool(true)) => {
            Value::from(text)
        }
        Value::Array(values) => values.into_iter().map(|value| with_text(value, text)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, with_text(value, text))).collect()
        }
        other => other,
    }
}

/// Returns what a filter looks at.
fn fields(hit: &Hit, document: &Value) -> Value {
    let mut fields = match document {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    let mut set = |name: &str, value: Option<&str>| {
        // Of an absent field not even one of the document's may stand in.
        let _before = match value {
            Some(value) => fields.insert(format!("event.{name}"), Value::from(value)),
            None => fields.remove(&format!("event.{name}")),
        };
    };
    set("id", Some(&hit.event.id.to_string()));
    set("role", Some(hit.event.role.as_str()));
    if let Some(kept) = hit.event.body() {
        set("session", Some(kept.session.as_str()));
        set("channel", Some(kept.channel.as_str()));
        set("user", kept.user.as_ref().map(mnemal::UserId::as_str));
        set("agent", kept.agent.as_ref().map(mnemal::types::AgentId::as_str));
        set("at", Some(&kept.occurred_at.to_string()));
    }
    Value::Object(fields)
}
