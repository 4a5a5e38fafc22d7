//! Near notes of which neither says all: only somebody who writes can make one of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Clock, Consultant, Deed, Embedder, ErrorKind, EventId, Filed, Learning, LearningFilter,
    LearningStore, LedgerStore, Left, Looked, Operation, Pass, PromptHash, Proposal, Result, Slot,
    Summarizer, Tag, Timestamp, TokenCount, unusable,
};
use mnemal_text::{estimate_tokens, jaccard, shingles};

use super::near::{denials, is_said_by_one};
use crate::check::NEAR;
use crate::note::{is_of_one, maker, open};
use crate::settled::{Settled, Standing};
use crate::wording::{Wording, Words};

/// Most notes that are compared, the newest. Source: RB-55, up to 1,000 live memories.
const MOST: usize = 1_000;
/// Cosine from which two notes are near. Source: AD-42.
const MEANS_THE_SAME: f32 = 0.88;
/// Notes whose vectors are asked for at once. Source: own default, as many as upkeep asks for.
const BATCH: usize = 256;
/// Pairs that are asked about in one cycle. Source: AD-45, at most ten repairs; two of each fit, as do three answers of each into
/// the 20 calls of a cycle. Fewer than the ten reopened ones that AD-43 allows.
const AT_ONCE: usize = 5;
/// The name in the ledger.
const NAME: &str = "merges";
/// Tokens that one note may need beside those of the two. Source: own choice, a few words that join them.
const ROOM: u32 = 16;
/// Tags of a note. Source: what a note may have.
const TAGS: usize = 64;

/// Asks a model to make one of two near notes, where no note says what both say. Two are near by their words, or by what their
/// vectors mean.
///
/// Notes that deny or number differently are left alone: they are an update or a contradiction, and no repetition. A text that
/// leaves out a name, a number or a date of either note is asked for again with what is missing, twice at most, and then given up
/// (ADR 30); one that brings something in is asked for again as often. The dreamer checks what is left as it checks every proposal. A pair that no answer helps is offered again after 7 days, then 14, 28, and
/// every 56.
#[derive(Clone, Debug)]
pub struct Merges {
    /// The notes, for reading.
    pub learnings: Arc<dyn LearningStore>,
    /// The vectors of the notes; without it, or where it fails, two notes are near by their words alone.
    pub embedder: Slot<dyn Embedder>,
    /// What was left before; without it every pair is new in every cycle.
    pub ledger: Slot<dyn LedgerStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who is asked.
    pub consultant: Consultant,
    /// What asks and reads.
    pub writer: Arc<dyn Summarizer>,
    /// What must not be lost of a text.
    pub wording: Wording,
}

/// A note with what it is compared by.
struct Compared<'r> {
    row: &'r Learning,
    words: Vec<u64>,
    /// Of length 1.
    vector: Option<Vec<f32>>,
}

impl Compared<'_> {
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

/// What came of a pair.
struct Merged {
    proposal: Proposal,
    /// 1 where an answer left something out and a later one did not.
    repaired: u64,
}

impl Merges {
    /// Reads what notes are compared by.
    async fn compared<'r>(&self, notes: &[&'r Learning]) -> Vec<Compared<'r>> {
        let of = |row: &&'r Learning| Compared { row, words: shingles(&row.content, 1), vector: None };
        let mut compared: Vec<Compared<'r>> = notes.iter().map(of).collect();
        let Slot::Filled(embedder) = &self.embedder else { return compared };
        for some in compared.chunks_mut(BATCH) {
            let texts: Vec<&str> = some.iter().map(|one| one.row.content.as_str()).collect();
            // What has no vector is compared by its words.
            let Ok(vectors) = embedder.embed(&texts).await else { break };
            for (one, vector) in some.iter_mut().zip(vectors) {
                one.vector = vector;
            }
        }
        compared
    }

    async fn merged(
        &self,
        permit: &mut BackgroundPermit,
        (one, other): (&Learning, &Learning),
        words: &Words,
    ) -> Result<Option<Merged>> {
        let (Some(first), Some(second)) = (maker(one), maker(other)) else { return Ok(None) };
        let parts = [one.content.as_str(), other.content.as_str()];
        let tokens: u32 = parts.iter().map(|part| estimate_tokens(part)).sum();
        let budget = TokenCount(tokens.saturating_add(ROOM));
        let prompt = self.writer.prompt(None, &parts, budget);
        let hash = PromptHash::of(self.consultant.model.model(), &prompt);
        let sources: Vec<EventId> =
            one.sources.iter().chain(&other.sources).map(|source| source.event).collect();
        let is_repaired = AtomicBool::new(false);
        let text = self
            .consultant
            .ask(permit, &prompt, &sources, |completion| {
                let text = self.writer.parse(None, &parts, budget, completion)?.replace('\n', " ");
                let missing = words.uncovered(&text, &[one, other]);
                if missing.is_empty() {
                    return Ok(text);
                }
                is_repaired.store(true, Ordering::Relaxed);
                // The model is told this, and nobody else: what no answer helps is left without it.
                Err(unusable(format!("it leaves out {}", missing.join(", "))))
            })
            .await?;
        let deed = Deed::Merge { notes: vec![first, second], filed: filed(one, other) };
        let operation = Operation {
            deed,
            producer: self.consultant.producer(&self.writer.producer()),
            prompt: Some(hash),
            shown: vec![first, second],
            because: "a model made one of two near notes".to_owned(),
        };
        let repaired = u64::from(is_repaired.into_inner());
        Ok(Some(Merged { proposal: Proposal { operation, text }, repaired }))
    }
}

#[async_trait]
impl Pass for Merges {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<Looked> {
        let rows = self.learnings.all(&LearningFilter::all()).await?;
        let settled = Settled::read(&self.ledger, NAME).await?;
        let notes = open(&rows);
        let notes = self.compared(notes.get(notes.len().saturating_sub(MOST)..).unwrap_or_default()).await;
        let words = self.wording.of(&rows).await;
        let pairs = pairs(&notes, &settled, self.clock.now(), &words);
        let waiting = pairs.len().saturating_sub(AT_ONCE) as u64;
        let mut looked = Looked { waiting, ..Looked::default() };
        for (one, other) in pairs.into_iter().take(AT_ONCE) {
            match self.merged(permit, (one, other), &words).await {
                Ok(Some(merged)) => {
                    looked.repaired += merged.repaired;
                    looked.proposals.push(merged.proposal);
                }
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    let notes = maker(one).into_iter().chain(maker(other)).collect();
                    looked.left.push(Left { notes, why: "no answer of the model could be used".to_owned() });
                }
                Err(error) if looked.proposals.is_empty() && looked.left.is_empty() => return Err(error),
                // What was answered stands.
                Err(error) => {
                    looked.stopped = Some(error.kind());
                    break;
                }
            }
        }
        Ok(looked)
    }
}

/// Returns the pairs to ask about, each note in one of them: those that nobody was asked about, then those that are offered
/// again, the longest overdue first.
fn pairs<'r>(
    notes: &[Compared<'r>],
    settled: &Settled,
    now: Timestamp,
    words: &Words,
) -> Vec<(&'r Learning, &'r Learning)> {
    let mut found = Vec::new();
    for (place, first) in notes.iter().enumerate() {
        for second in notes.iter().skip(place + 1) {
            let (one, other) = (first.row, second.row);
            if !is_of_one(one, other) || !first.is_near(second) || !is_for_a_writer(one, other, words) {
                continue;
            }
            let names: Vec<EventId> = maker(one).into_iter().chain(maker(other)).collect();
            match settled.standing(NAME, &names, now) {
                Standing::Closed => {}
                Standing::New => found.push((Duration::MAX, one, other)),
                Standing::Reopened(late) => found.push((late, one, other)),
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

/// Whether two near notes say the same in parts, and neither says it all.
fn is_for_a_writer(one: &Learning, other: &Learning, words: &Words) -> bool {
    let numbers = |row: &Learning| -> BTreeSet<String> {
        let words = row.content.split(|sign: char| !sign.is_alphanumeric());
        words.filter(|word| word.contains(char::is_numeric)).map(str::to_owned).collect()
    };
    let (some, others) = (numbers(one), numbers(other));
    (some.is_subset(&others) || others.is_subset(&some))
        && denials(&one.content) == denials(&other.content)
        && !is_said_by_one(one, other, words)
}

/// How the one is filed: as the older one, with all tags and the greater importance.
fn filed(one: &Learning, other: &Learning) -> Filed {
    let tags: BTreeSet<&Tag> = one.tags.iter().chain(&other.tags).collect();
    let importance =
        if other.importance.get() > one.importance.get() { other.importance } else { one.importance };
    Filed { category: one.category.clone(), tags: tags.into_iter().take(TAGS).cloned().collect(), importance }
}
