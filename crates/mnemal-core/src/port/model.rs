//! Ports of models outside the process. Each asks for a permit.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::{
    BackgroundPermit, Category, Completion, EventId, Extraction, Familiar, Importance, Learning, ModelId,
    Producer, Prompt, PromptHash, Result, Span, Tag, TokenCount, Utterance,
};

/// Turns text into vectors, outside the process. Reading cannot call it: it has no permit.
///
/// Guarantees: one vector a text, in order, finite and of length 1 ± 1e-3, all of one model with the same number of values;
/// no text and no key in an error.
/// Not guaranteed: an answer in any time; the caller has a deadline. A dropped future ends the request and leaves nothing
/// behind but what was paid.
#[async_trait]
pub trait BackgroundEmbedder: Debug + Send + Sync + 'static {
    /// Returns the model; vectors of two models never mix.
    fn model(&self) -> &ModelId;

    /// Returns one vector a text; all of them or an error. One call is one request, apart from repetitions.
    ///
    /// # Errors
    /// `Unavailable` when the model cannot answer now, or the permit is spent; `Invalid` when it refuses the texts, the key
    /// or the name of the model; `Unsupported` when what it answers is no vectors for these texts.
    async fn embed(&self, permit: &mut BackgroundPermit, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}

/// Answers questions in words, outside the process. Reading cannot call it: it has no permit.
///
/// Guarantees: no text and no key in an error; an answer that was cut off, or is no text, is an error.
/// Not guaranteed: an answer in any time, the form that was asked for, or a true word; whoever asks checks what comes. A
/// dropped future ends the request and leaves nothing behind but what was paid.
#[async_trait]
pub trait LanguageModel: Debug + Send + Sync + 'static {
    /// Returns the model.
    fn model(&self) -> &ModelId;

    /// Returns the answer to one question.
    ///
    /// # Errors
    /// `Unavailable` when the model cannot answer now, the permit is spent or a cap is reached; `Invalid` when it refuses the
    /// key, the question or the name of the model; `Unsupported` when what it answers cannot be used.
    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> Result<Completion>;
}

/// Keeps answers that were paid for, so that the same question is not paid twice. Truth never rests on it: what was accepted
/// stands in the log.
///
/// Guarantees: an answer that rests on an erased event is neither kept nor given, from the moment of the erase on.
#[async_trait]
pub trait CompletionCache: Debug + Send + Sync + 'static {
    /// Returns the answer to a question.
    ///
    /// # Errors
    /// `NotFound` when none is kept; `Unavailable` when the database does not answer.
    async fn get(&self, prompt: PromptHash) -> Result<Completion>;

    /// Keeps the answer to a question that shows these events, in place of an earlier one.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn put(&self, prompt: PromptHash, completion: &Completion, sources: &[EventId]) -> Result<()>;

    /// Removes the answers that rest on one of these events, and returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn erase(&self, sources: &[EventId]) -> Result<u64>;
}

/// Reads claims with a model's help. Pure on both sides of the model, so that a kept answer can be read again, unpaid.
pub trait ModelExtractor: Debug + Send + Sync + 'static {
    /// Names what asks and reads, and the version of its instructions.
    fn producer(&self) -> Producer;

    /// Asks about several events at once, and tells whom and what is known; all are numbered, no id is shown.
    fn prompt(&self, utterances: &[Utterance<'_>], familiar: &Familiar) -> Prompt;

    /// Reads one extraction an event, in the order of the question. What cannot be true by its form (an event that was not
    /// shown, words that the event does not say, a number or date that it does not name) is dropped with a remark.
    ///
    /// # Errors
    /// `Unsupported` when it is no answer, or more than half of what it claims was dropped.
    fn parse(
        &self,
        utterances: &[Utterance<'_>],
        familiar: &Familiar,
        completion: &Completion,
    ) -> Result<Vec<Extraction>>;
}

/// Writes a summary with a model's help. Pure on both sides of the model.
pub trait Summarizer: Debug + Send + Sync + 'static {
    /// Names what asks and reads, and the version of its instructions.
    fn producer(&self) -> Producer;

    /// Asks for a summary of `parts` that goes on from `previous`, of at most so many tokens.
    fn prompt(&self, previous: Option<&str>, parts: &[&str], budget: TokenCount) -> Prompt;

    /// Reads the summary of what was asked about.
    ///
    /// # Errors
    /// `Unsupported` when it is none: a name, number or date in it stands in none of the texts that were shown, or it does
    /// not fit into the budget.
    fn parse(
        &self,
        previous: Option<&str>,
        parts: &[&str],
        budget: TokenCount,
        completion: &Completion,
    ) -> Result<String>;
}

/// A line of a text that a model wrote, with what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenLine {
    /// The words.
    pub text: String,
    /// The places of the sentences that say it, ascending, at least one.
    pub rests: Vec<u32>,
}

/// Says what some sentences say in other words, with a model's help: it edits a text of before, line by line. Pure on both
/// sides of the model.
pub trait NodeWriter: Debug + Send + Sync + 'static {
    /// Names what asks and reads, and the version of its instructions.
    fn producer(&self) -> Producer;

    /// Asks for edits of the lines of before, so that they say what the sentences say; both are numbered, no id is shown.
    fn prompt(&self, before: &[WrittenLine], sentences: &[String]) -> Prompt;

    /// Reads the lines that the edits give. A line that no edit names is kept byte for byte; an edit of a line or of sentences
    /// that were not shown does nothing.
    ///
    /// # Errors
    /// `Unsupported` when it is no answer, more than half of its edits do nothing, or nothing would be left.
    fn parse(
        &self,
        before: &[WrittenLine],
        sentences: &[String],
        completion: &Completion,
    ) -> Result<Vec<WrittenLine>>;
}

/// What a model thinks of something that it was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// A note, by its place, belongs here and under these words.
    Files {
        /// Which note.
        note: usize,
        /// Where it belongs.
        category: Category,
        /// Words attached to it, at most eight.
        tags: Vec<Tag>,
    },
    /// A note, by its place, is not worth keeping.
    Noise {
        /// Which note.
        note: usize,
    },
    /// In a message, by its place, the user says how he wants things.
    Prefers {
        /// Which message.
        message: usize,
        /// Where he says it.
        quote: Span,
    },
}

/// Judges notes and messages with a model's help, all with one question. Pure on both sides of the model.
pub trait NoteJudge: Debug + Send + Sync + 'static {
    /// Names what asks and reads, and the version of its instructions.
    fn producer(&self) -> Producer;

    /// Asks about notes and messages of the user; both are numbered, no id is shown. The feedback, what the user praised and
    /// corrected lately, shows what matters to him; nothing is asked about it.
    fn prompt(&self, notes: &[&Learning], messages: &[&str], feedback: &[&str]) -> Prompt;

    /// Reads what the model thinks, at most one opinion of a note. What cannot be by its form (a note or a message that was not
    /// shown, words that the message does not say, a category that is none) is dropped.
    ///
    /// # Errors
    /// `Unsupported` when it is no answer, or more than half of it was dropped.
    fn parse(&self, notes: &[&Learning], messages: &[&str], completion: &Completion) -> Result<Vec<Opinion>>;
}

/// What a text says in short, whom and what it names, and what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// One or two sentences of at most [`LONGEST_DIGEST`](crate::LONGEST_DIGEST) characters.
    pub text: String,
    /// Whom and what it names, at most [`MOST_NAMED`](crate::MOST_NAMED).
    pub entities: Vec<String>,
    /// What it is about.
    pub topics: Vec<Tag>,
    /// How much it matters.
    pub importance: Importance,
}

/// Makes digests of texts with a model's help. Pure on both sides of the model.
pub trait ModelDigester: Debug + Send + Sync + 'static {
    /// Names what asks and reads, and the version of its instructions.
    fn producer(&self) -> Producer;

    /// Asks what a text says in short.
    fn prompt(&self, text: &str) -> Prompt;

    /// Reads the digest of the text that was asked about. Names that it does not have are dropped.
    ///
    /// # Errors
    /// `Unsupported` when it is none: no sentence, one that is too long, or a name, number or date that the text does not have.
    fn parse(&self, text: &str, completion: &Completion) -> Result<Digest>;
}

/// What a model thinks of how a task went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appraisal {
    /// How well, from 1 to [`BEST_SCORE`](crate::BEST_SCORE).
    pub score: u8,
    /// What to remember of it for the next one: one line of at most [`LONGEST_LINE`](crate::LONGEST_LINE) characters.
    pub lesson: String,
}

/// Judges how an agent did a task, with a model's help. Pure on both sides of the model.
pub trait Appraiser: Debug + Send + Sync + 'static {
    /// Names what asks and reads, and the version of its instructions.
    fn producer(&self) -> Producer;

    /// Asks about the steps of a task that is over, oldest first, the end last; they are numbered, no id is shown.
    fn prompt(&self, steps: &[String]) -> Prompt;

    /// Reads what the model thinks; `None` where it found nothing to remember.
    ///
    /// # Errors
    /// `Unsupported` when it is no answer: no score of the scale, no single line, or a name, number or date that no step has.
    fn parse(&self, steps: &[String], completion: &Completion) -> Result<Option<Appraisal>>;
}
