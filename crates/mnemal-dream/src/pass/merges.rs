//! Near notes of which neither says all: only somebody who writes can make one of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Clock, Consultant, Deed, ErrorKind, EventId, Filed, Learning, LearningFilter,
    LearningStore, LedgerStore, Left, Looked, Operation, Pass, PromptHash, Proposal, Result, Slot,
    Summarizer, Tag, Timestamp, TokenCount, unusable,
};
use mnemal_text::{estimate_tokens, jaccard, shingles, uncovered};

use super::near::{denials, is_said_by_one};
use crate::check::NEAR;
use crate::note::{is_of_one, maker, open};
use crate::settled::{Settled, Standing};

/// Most notes that are compared, the newest. Source: RB-55, up to 1,000 live memories.
const MOST: usize = 1_000;
/// Pairs that are asked about in one cycle. Source: own choice; three answers each fit into the 20 calls of a cycle. Fewer than
/// the ten reopened ones that AD-43 allows.
const AT_ONCE: usize = 6;
/// The name in the ledger.
const NAME: &str = "merges";
/// Tokens that one note may need beside those of the two. Source: own choice, a few words that join them.
const ROOM: u32 = 16;
/// Tags of a note. Source: what a note may have.
const TAGS: usize = 64;

/// Asks a model to make one of two near notes, where no note says what both say.
///
/// Notes that deny or number differently are left alone: they are an update or a contradiction, and no repetition. A text that
/// leaves out a name, a number or a date of either note, or brings one in, is asked for again and then given up; the dreamer
/// checks what is left as it checks every proposal. A pair that no answer helps is offered again after 7 days, then 14, 28, and
/// every 56.
#[derive(Clone, Debug)]
pub struct Merges {
    /// The notes, for reading.
    pub learnings: Arc<dyn LearningStore>,
    /// What was left before; without it every pair is new in every cycle.
    pub ledger: Slot<dyn LedgerStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who is asked.
    pub consultant: Consultant,
    /// What asks and reads.
    pub writer: Arc<dyn Summarizer>,
}

impl Merges {
    async fn merged(
        &self,
        permit: &mut BackgroundPermit,
        one: &Learning,
        other: &Learning,
    ) -> Result<Option<Proposal>> {
        let (Some(first), Some(second)) = (maker(one), maker(other)) else { return Ok(None) };
        let parts = [one.content.as_str(), other.content.as_str()];
        let tokens: u32 = parts.iter().map(|part| estimate_tokens(part)).sum();
        let budget = TokenCount(tokens.saturating_add(ROOM));
        let prompt = self.writer.prompt(None, &parts, budget);
        let hash = PromptHash::of(self.consultant.model.model(), &prompt);
        let sources: Vec<EventId> =
            one.sources.iter().chain(&other.sources).map(|source| source.event).collect();
        let text = self
            .consultant
            .ask(permit, &prompt, &sources, |completion| {
                let text = self.writer.parse(None, &parts, budget, completion)?.replace('\n', " ");
                if uncovered(&text, &parts).is_empty() {
                    return Ok(text);
                }
                Err(unusable("it left out a name, a number or a date"))
            })
            .await?;
        let deed = Deed::Merge { notes: vec![first, second], filed: filed(one, other) };
        let operation = Operation {
            deed,
            producer: self.writer.producer(),
            prompt: Some(hash),
            shown: vec![first, second],
            because: "a model made one of two near notes".to_owned(),
        };
        Ok(Some(Proposal { operation, text }))
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
        let pairs = pairs(&open(&rows), &settled, self.clock.now());
        let waiting = pairs.len().saturating_sub(AT_ONCE) as u64;
        let mut looked = Looked { waiting, ..Looked::default() };
        for (one, other) in pairs.into_iter().take(AT_ONCE) {
            match self.merged(permit, one, other).await {
                Ok(proposal) => looked.proposals.extend(proposal),
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
fn pairs<'r>(notes: &[&'r Learning], settled: &Settled, now: Timestamp) -> Vec<(&'r Learning, &'r Learning)> {
    let newest = notes.get(notes.len().saturating_sub(MOST)..).unwrap_or_default();
    let read: Vec<(&Learning, Vec<u64>)> =
        newest.iter().map(|row| (*row, shingles(&row.content, 1))).collect();
    let mut found = Vec::new();
    for (place, (one, words)) in read.iter().enumerate() {
        for (other, others) in read.iter().skip(place + 1) {
            if !is_of_one(one, other) || jaccard(words, others) < NEAR || !is_for_a_writer(one, other) {
                continue;
            }
            let names: Vec<EventId> = maker(one).into_iter().chain(maker(other)).collect();
            match settled.standing(NAME, &names, now) {
                Standing::Closed => {}
                Standing::New => found.push((Duration::MAX, *one, *other)),
                Standing::Reopened(late) => found.push((late, *one, *other)),
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
fn is_for_a_writer(one: &Learning, other: &Learning) -> bool {
    let numbers = |row: &Learning| -> BTreeSet<String> {
        let words = row.content.split(|sign: char| !sign.is_alphanumeric());
        words.filter(|word| word.contains(char::is_numeric)).map(str::to_owned).collect()
    };
    let (some, others) = (numbers(one), numbers(other));
    (some.is_subset(&others) || others.is_subset(&some))
        && denials(&one.content) == denials(&other.content)
        && !is_said_by_one(one, other)
}

/// How the one is filed: as the older one, with all tags and the greater importance.
fn filed(one: &Learning, other: &Learning) -> Filed {
    let tags: BTreeSet<&Tag> = one.tags.iter().chain(&other.tags).collect();
    let importance =
        if other.importance.get() > one.importance.get() { other.importance } else { one.importance };
    Filed { category: one.category.clone(), tags: tags.into_iter().take(TAGS).cloned().collect(), importance }
}
