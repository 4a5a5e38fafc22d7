//! Merges pass: a model combines near notes of which neither contains the other.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Classification, Clock, Embedder, ErrorKind, EventId, Learning, LearningFilter,
    LearningStore, LedgerStore, ModelCaller, Operation, OperationKind, Pass, PassOutcome, PromptHash,
    Proposal, Result, SkippedGroup, Slot, Summarizer, Tag, Timestamp, TokenCount, unusable,
};
use mnemal_text::{estimate_tokens, jaccard, shingles};

use super::near_duplicates::{denials, is_said_by_one};
use crate::check::NEAR;
use crate::note::{is_of_one, maker, open};
use crate::retry_backoff::{GroupState, RetryBackoff};
use crate::wording::{RewriteRules, WordCounts};

/// Most notes that are compared, the newest. Source: RockBot, up to 1,000 live memories per run.
const MOST: usize = 1_000;
/// Cosine from which two notes are near. Source: RockBot `dream-service.md`.
const MEANS_THE_SAME: f32 = 0.88;
/// Notes embedded per call. Source: own default, the batch size of upkeep.
const BATCH: usize = 256;
/// Pairs per cycle. Source: AD-45, at most ten repairs; two of each pair fit, as do three answers of each into the 20 calls
/// of a cycle. Fewer than the limit of ten reopened pairs.
const AT_ONCE: usize = 5;
/// The name in the ledger.
const NAME: &str = "merges";
/// Tokens that a merged note may need beyond those of the two. Source: own choice, a few connecting words.
const ROOM: u32 = 16;
/// Most tags of a note. Source: the limit of a note.
const TAGS: usize = 64;

/// Asks a model to merge two near notes of which neither contains the other. Two notes are near by their words, or by their
/// vectors.
///
/// Notes that differ in negation or numbers are skipped: they are an update or a contradiction, not a repetition. A text
/// that omits a name, a number or a date of either note is requested again with what is missing, at most twice, and then
/// given up (ADR 30); one that adds something is requested again as often. The dreamer checks the result like every
/// proposal. A pair without a usable answer is retried after 7 days, then 14, 28, and every 56.
#[derive(Clone, Debug)]
pub struct MergesPass {
    /// The notes, for reading.
    pub learnings: Arc<dyn LearningStore>,
    /// The embedder of the notes; without it, or if it fails, nearness is by words alone.
    pub embedder: Slot<dyn Embedder>,
    /// The skipped pairs; without a ledger every pair is new in every cycle.
    pub ledger: Slot<dyn LedgerStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The model.
    pub caller: ModelCaller,
    /// Makes the questions and parses the answers.
    pub writer: Arc<dyn Summarizer>,
    /// The words that must be preserved in a text.
    pub wording: RewriteRules,
}

/// A note with its comparison features.
struct NoteFeatures<'r> {
    row: &'r Learning,
    words: Vec<u64>,
    /// Normalized to length 1.
    vector: Option<Vec<f32>>,
}

impl NoteFeatures<'_> {
    fn is_near(&self, other: &Self) -> bool {
        let mean_the_same = || match (&self.vector, &other.vector) {
            (Some(one), Some(other)) => {
                one.iter().zip(other).map(|(one, other)| one * other).sum::<f32>() >= MEANS_THE_SAME
            }
            _ => false,
        };
        jaccard(&self.words, &other.words) >= NEAR || mean_the_same()
    }
}

/// The result for a pair.
struct MergeAttempt {
    proposal: Proposal,
    /// 1 if an answer omitted something and a later one did not.
    repaired: u64,
}

impl MergesPass {
    /// Computes the comparison features of notes.
    async fn features<'r>(&self, notes: &[&'r Learning]) -> Vec<NoteFeatures<'r>> {
        let of = |row: &&'r Learning| NoteFeatures { row, words: shingles(&row.content, 1), vector: None };
        let mut compared: Vec<NoteFeatures<'r>> = notes.iter().map(of).collect();
        let Slot::Filled(embedder) = &self.embedder else { return compared };
        for some in compared.chunks_mut(BATCH) {
            let texts: Vec<&str> = some.iter().map(|one| one.row.content.as_str()).collect();
            // A note without a vector is compared by its words.
            let Ok(vectors) = embedder.embed(&texts).await else { break };
            for (one, vector) in some.iter_mut().zip(vectors) {
                one.vector = vector;
            }
        }
        compared
    }

    async fn merge(
        &self,
        permit: &mut BackgroundPermit,
        (one, other): (&Learning, &Learning),
        words: &WordCounts,
    ) -> Result<Option<MergeAttempt>> {
        let (Some(first), Some(second)) = (maker(one), maker(other)) else { return Ok(None) };
        let parts = [one.content.as_str(), other.content.as_str()];
        let tokens: u32 = parts.iter().map(|part| estimate_tokens(part)).sum();
        let budget = TokenCount(tokens.saturating_add(ROOM));
        let prompt = self.writer.prompt(None, &parts, budget);
        let hash = PromptHash::of(self.caller.model.model(), &prompt);
        let sources: Vec<EventId> =
            one.sources.iter().chain(&other.sources).map(|source| source.event).collect();
        let is_repaired = AtomicBool::new(false);
        let text = self
            .caller
            .ask(permit, &prompt, &sources, |completion| {
                let text = self.writer.parse(None, &parts, budget, completion)?.replace('\n', " ");
                let missing = words.missing_specifics(&text, &[one, other]);
                if missing.is_empty() {
                    return Ok(text);
                }
                is_repaired.store(true, Ordering::Relaxed);
                // Only the model is told; if no answer is complete, the pair is dropped.
                Err(unusable(format!("it leaves out {}", missing.join(", "))))
            })
            .await?;
        let kind =
            OperationKind::Merge { notes: vec![first, second], classification: classification(one, other) };
        let operation = Operation {
            kind,
            producer: self.caller.producer(&self.writer.producer()),
            prompt: Some(hash),
            shown: vec![first, second],
            because: "a model made one of two near notes".to_owned(),
        };
        let repaired = u64::from(is_repaired.into_inner());
        Ok(Some(MergeAttempt { proposal: Proposal { operation, text }, repaired }))
    }
}

#[async_trait]
impl Pass for MergesPass {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let rows = self.learnings.all(&LearningFilter::all()).await?;
        let settled = RetryBackoff::read(&self.ledger, NAME).await?;
        let notes = open(&rows);
        let notes = self.features(notes.get(notes.len().saturating_sub(MOST)..).unwrap_or_default()).await;
        let words = self.wording.of(&rows).await;
        let pairs = pairs(&notes, &settled, self.clock.now(), &words);
        let waiting = pairs.len().saturating_sub(AT_ONCE) as u64;
        let mut looked = PassOutcome { waiting, ..PassOutcome::default() };
        for (one, other) in pairs.into_iter().take(AT_ONCE) {
            match self.merge(permit, (one, other), &words).await {
                Ok(Some(merged)) => {
                    looked.repaired += merged.repaired;
                    looked.proposals.push(merged.proposal);
                }
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    let notes = maker(one).into_iter().chain(maker(other)).collect();
                    looked
                        .left
                        .push(SkippedGroup { notes, why: "no answer of the model could be used".to_owned() });
                }
                Err(error) if looked.proposals.is_empty() && looked.left.is_empty() => return Err(error),
                // Earlier answers are kept.
                Err(error) => {
                    looked.stopped = Some(error.kind());
                    break;
                }
            }
        }
        Ok(looked)
    }
}

/// Returns the pairs to ask about, each note in one of them: new pairs first, then retried ones, the longest overdue first.
fn pairs<'r>(
    notes: &[NoteFeatures<'r>],
    settled: &RetryBackoff,
    now: Timestamp,
    words: &WordCounts,
) -> Vec<(&'r Learning, &'r Learning)> {
    let mut found = Vec::new();
    for (place, first) in notes.iter().enumerate() {
        for second in notes.iter().skip(place + 1) {
            let (one, other) = (first.row, second.row);
            if !is_of_one(one, other) || !first.is_near(second) || !is_for_a_writer(one, other, words) {
                continue;
            }
            let names: Vec<EventId> = maker(one).into_iter().chain(maker(other)).collect();
            match settled.state(NAME, &names, now) {
                GroupState::Closed => {}
                GroupState::New => found.push((Duration::MAX, one, other)),
                GroupState::Reopened(late) => found.push((late, one, other)),
            }
        }
    }
    found.sort_by_key(|(late, _, _)| Reverse(*late));
    let mut paired = BTreeSet::new();
    let mut each_once = Vec::new();
    for (_, one, other) in found {
        if !paired.contains(&one.id) && !paired.contains(&other.id) {
            paired.extend([one.id, other.id]);
            each_once.push((one, other));
        }
    }
    each_once
}

/// Whether two near notes overlap, and neither contains the other.
fn is_for_a_writer(one: &Learning, other: &Learning, words: &WordCounts) -> bool {
    let numbers = |row: &Learning| -> BTreeSet<String> {
        let words = row.content.split(|sign: char| !sign.is_alphanumeric());
        words.filter(|word| word.contains(char::is_numeric)).map(str::to_owned).collect()
    };
    let (some, others) = (numbers(one), numbers(other));
    (some.is_subset(&others) || others.is_subset(&some))
        && denials(&one.content) == denials(&other.content)
        && !is_said_by_one(one, other, words)
}

/// The filing of the merged note: as the older one, with all tags and the greater importance.
fn classification(one: &Learning, other: &Learning) -> Classification {
    let tags: BTreeSet<&Tag> = one.tags.iter().chain(&other.tags).collect();
    let importance =
        if other.importance.get() > one.importance.get() { other.importance } else { one.importance };
    Classification {
        category: one.category.clone(),
        tags: tags.into_iter().take(TAGS).cloned().collect(),
        importance,
    }
}
