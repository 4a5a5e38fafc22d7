//! Ports of models outside the process. Each requires a permit.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::{
    BackgroundPermit, Category, Completion, EventId, Extraction, ExtractionContext, Importance, Learning,
    ModelId, Producer, Prompt, PromptHash, Result, Span, Tag, TokenCount, Utterance,
};

/// An embedder outside the process. Read paths cannot call it: they have no permit.
///
/// Guarantees: one vector per text, in order, finite and of length 1 ± 1e-3, all of one model and of the same dimension; no
/// text and no key in an error. Not guaranteed: an answer in any time; the caller sets a deadline. A dropped future ends the
/// request and leaves nothing behind but the cost.
#[async_trait]
pub trait BackgroundEmbedder: Debug + Send + Sync + 'static {
    /// Returns the model; vectors of two models never mix.
    fn model(&self) -> &ModelId;

    /// Returns one vector per text; all of them or an error. One call is one request, apart from retries.
    ///
    /// # Errors
    /// `Unavailable` when the model cannot answer now, or the permit is spent; `Invalid` when it refuses the texts, the key or
    /// the model name; `Unsupported` when its answer does not hold vectors for these texts.
    async fn embed(&self, permit: &mut BackgroundPermit, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}

/// A language model outside the process. Read paths cannot call it: they have no permit.
///
/// Guarantees: no text and no key in an error; a truncated answer, or one without text, is an error. Not guaranteed: an answer
/// in any time, the requested form, or truth; the caller validates the answer. A dropped future ends the request and leaves
/// nothing behind but the cost.
#[async_trait]
pub trait LanguageModel: Debug + Send + Sync + 'static {
    /// Returns the model.
    fn model(&self) -> &ModelId;

    /// Returns the answer to one question.
    ///
    /// # Errors
    /// `Unavailable` when the model cannot answer now, the permit is spent or a cap is reached; `Invalid` when it refuses the
    /// key, the question or the model name; `Unsupported` when its answer is unusable.
    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> Result<Completion>;
}

/// A cache of paid answers, so that the same question is not paid twice. Nothing depends on it: accepted results are in the
/// log.
///
/// Guarantees: an answer that rests on an erased event is neither stored nor returned, from the moment of the erase on.
#[async_trait]
pub trait CompletionCache: Debug + Send + Sync + 'static {
    /// Returns the answer to a question.
    ///
    /// # Errors
    /// `NotFound` when none is cached; `Unavailable` when the database does not answer.
    async fn get(&self, prompt: PromptHash) -> Result<Completion>;

    /// Stores the answer to a question that shows these events, replacing an earlier one.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn put(&self, prompt: PromptHash, completion: &Completion, sources: &[EventId]) -> Result<()>;

    /// Deletes the answers that rest on one of these events, and returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn erase(&self, sources: &[EventId]) -> Result<u64>;
}

/// Claim extraction with a model. Prompt and parser are pure, so that a cached answer can be parsed again without cost.
pub trait ModelExtractor: Debug + Send + Sync + 'static {
    /// Returns the producer, with the version of its instructions.
    fn producer(&self) -> Producer;

    /// Builds the prompt for several events at once, with known entities and topics; all are numbered, no id is shown.
    fn prompt(&self, utterances: &[Utterance<'_>], familiar: &ExtractionContext) -> Prompt;

    /// Parses one extraction per event, in the order of the question. Items with an invalid form (an event that was not shown,
    /// words that are not in the event, a number or date that it does not mention) are dropped with a remark.
    ///
    /// # Errors
    /// `Unsupported` for an unusable answer, or when more than half of its items were dropped.
    fn parse(
        &self,
        utterances: &[Utterance<'_>],
        familiar: &ExtractionContext,
        completion: &Completion,
    ) -> Result<Vec<Extraction>>;
}

/// Summaries by a model. Prompt and parser are pure.
pub trait Summarizer: Debug + Send + Sync + 'static {
    /// Returns the producer, with the version of its instructions.
    fn producer(&self) -> Producer;

    /// Builds the prompt for a summary of `parts` that continues `previous`, within the token budget.
    fn prompt(&self, previous: Option<&str>, parts: &[&str], budget: TokenCount) -> Prompt;

    /// Parses the summary.
    ///
    /// # Errors
    /// `Unsupported` for an unusable answer: it holds a name, number or date that is in none of the shown texts, or exceeds the
    /// budget.
    fn parse(
        &self,
        previous: Option<&str>,
        parts: &[&str],
        budget: TokenCount,
        completion: &Completion,
    ) -> Result<String>;
}

/// A model-written line with its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenLine {
    /// The words.
    pub text: String,
    /// The indexes of the supporting sentences, ascending, at least one.
    pub rests: Vec<u32>,
}

/// Rewriting of summary nodes by a model: it edits the previous text line by line. Prompt and parser are pure.
pub trait SummaryEditor: Debug + Send + Sync + 'static {
    /// Returns the producer, with the version of its instructions.
    fn producer(&self) -> Producer;

    /// Builds the prompt for edits that bring the previous lines in agreement with the sentences; both are numbered, no id is
    /// shown.
    fn prompt(&self, before: &[WrittenLine], sentences: &[String]) -> Prompt;

    /// Applies the edits. A line without an edit is kept byte for byte; an edit of a line or of sentences that were not shown
    /// is ignored.
    ///
    /// # Errors
    /// `Unsupported` for an unusable answer, when more than half of its edits are ignored, or when no line would remain.
    fn parse(
        &self,
        before: &[WrittenLine],
        sentences: &[String],
        completion: &Completion,
    ) -> Result<Vec<WrittenLine>>;
}

/// A model's judgment on a note or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// A note belongs in this category, with these tags.
    Files {
        /// Index of the note.
        note: usize,
        /// The category.
        category: Category,
        /// Its tags, at most eight.
        tags: Vec<Tag>,
    },
    /// A note is not worth keeping.
    Noise {
        /// Index of the note.
        note: usize,
    },
    /// A message states a preference of the user.
    Prefers {
        /// Index of the message.
        message: usize,
        /// The span of the statement.
        quote: Span,
    },
}

/// Judgment of notes and messages by a model, all in one question. Prompt and parser are pure.
pub trait NoteJudge: Debug + Send + Sync + 'static {
    /// Returns the producer, with the version of its instructions.
    fn producer(&self) -> Producer;

    /// Builds the prompt about notes and messages of the user; both are numbered, no id is shown. The feedback, the user's
    /// recent praise and corrections, shows what matters to the user; it is context only.
    fn prompt(&self, notes: &[&Learning], messages: &[&str], feedback: &[&str]) -> Prompt;

    /// Parses the judgments, at most one per note. Items with an invalid form (a note or a message that was not shown, words
    /// that are not in the message, an invalid category) are dropped.
    ///
    /// # Errors
    /// `Unsupported` for an unusable answer, or when more than half of it was dropped.
    fn parse(&self, notes: &[&Learning], messages: &[&str], completion: &Completion) -> Result<Vec<Opinion>>;
}

/// A digest of a text: short summary, entities and topics.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// One or two sentences of at most [`LONGEST_DIGEST`](crate::LONGEST_DIGEST) characters.
    pub text: String,
    /// The entities that it names, at most [`MOST_NAMED`](crate::MOST_NAMED).
    pub entities: Vec<String>,
    /// Its topics.
    pub topics: Vec<Tag>,
    /// Its importance.
    pub importance: Importance,
}

/// Digests of texts by a model. Prompt and parser are pure.
pub trait ModelDigester: Debug + Send + Sync + 'static {
    /// Returns the producer, with the version of its instructions.
    fn producer(&self) -> Producer;

    /// Builds the prompt for the digest of a text.
    fn prompt(&self, text: &str) -> Prompt;

    /// Parses the digest. Names that are not in the text are dropped.
    ///
    /// # Errors
    /// `Unsupported` for an unusable answer: no sentence, one that is too long, or a name, number or date that is not in the
    /// text.
    fn parse(&self, text: &str, completion: &Completion) -> Result<Digest>;
}

/// A model's assessment of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskEvaluation {
    /// The success score, from 1 to [`BEST_SCORE`](crate::BEST_SCORE).
    pub score: u8,
    /// The lesson for the next task: one line of at most [`LONGEST_LINE`](crate::LONGEST_LINE) characters.
    pub lesson: String,
}

/// Assessment of an agent's tasks by a model. Prompt and parser are pure.
pub trait TaskEvaluator: Debug + Send + Sync + 'static {
    /// Returns the producer, with the version of its instructions.
    fn producer(&self) -> Producer;

    /// Builds the prompt about the steps of a finished task, oldest first, the end last; they are numbered, no id is shown.
    fn prompt(&self, steps: &[String]) -> Prompt;

    /// Parses the assessment; `None` where the model found no lesson.
    ///
    /// # Errors
    /// `Unsupported` for an unusable answer: a score off the scale, no single line, or a name, number or date that is in no
    /// step.
    fn parse(&self, steps: &[String], completion: &Completion) -> Result<Option<TaskEvaluation>>;
}
