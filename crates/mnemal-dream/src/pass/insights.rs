//! Insights pass: names and topics that several notes share.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Category, Classification, Completion, Cursor, ErrorKind, EventFilter, EventId,
    EventStore, Importance, Learning, LearningFilter, LearningKind, LearningStore, LedgerKind, LedgerLine,
    LedgerStore, ModelCaller, OperationKind, Pass, PassOutcome, PromptHash, Proposal, Result, Role, Slot,
    Summarizer, Tag, Timestamp, TokenCount, Within,
};
use mnemal_text::{fold, jaccard, shingles};

use super::{proposal, read_through};
use crate::check::NEAR;
use crate::dreamer::line;
use crate::history::{History, operation_identity};
use crate::note::{extent, maker, open};

/// Common entities and topics that connect two notes. Source: GB-37, the rule of a connection.
const SHARED: usize = 2;
/// Word similarity that connects two notes with one common entity. Source: GB-37, the rule of a connection.
const ALIKE: f32 = 0.30;
/// New notes per run, the oldest first. Source: GB-33, 20 rows per run.
const AT_ONCE: usize = 20;
/// Fewest new notes of a run. Source: GA-04, fewer are skipped.
const FEWEST: usize = 2;
/// Older notes that new ones are connected with, the newest of them. Source: CF-08, `RockBot`'s 1,000 entries.
const OLDER: usize = 1_000;
/// Most notes of one insight. Source: own default; more are a topic and no insight.
const LARGEST: usize = 8;
/// Most names in one insight. Source: own choice, a line that is read at a glance.
const NAMED: usize = 5;
/// Category of insights.
const INSIGHTS: &str = "insights";
/// Importance of an insight made by rule. Source: own choice; below that of a note, 0.5.
const IMPORTANCE: f32 = 0.3;
/// Importance of an insight written by a model. Source: GB-30, the base importance of a note.
const IMPORTANCE_BY_MODEL: f32 = 0.5;
/// Most tokens of a model's insight. Source: own choice, two sentences.
const WRITTEN: TokenCount = TokenCount(120);
/// Decisions per page. Source: own default.
const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("a page holds something");

/// Extracts names.
pub trait Namer: std::fmt::Debug + Send + Sync + 'static {
    /// Returns the names in a text, in order.
    fn names(&self, text: &str) -> Vec<String>;
}

/// A model that writes insights.
#[derive(Clone, Debug)]
pub struct InsightWriter {
    /// The model.
    pub caller: ModelCaller,
    /// Makes the questions and parses the answers.
    pub writer: Arc<dyn Summarizer>,
}

/// Connects notes with common entities or topics, and states these, the number of notes, and their dates.
///
/// It follows the log: the 20 oldest notes after its position are processed together, each is compared with the others and
/// with older ones that have no insight yet, and the position advances when the result is written. Fewer than two wait for
/// the next cycle. Topics are the topics and tags of notes. With a model, it states what the notes of a group show
/// together; an unusable or missing answer falls back to the line by rule.
#[derive(Clone, Debug)]
pub struct InsightsPass {
    /// The event log.
    pub events: Arc<dyn EventStore>,
    /// The notes.
    pub learnings: Arc<dyn LearningStore>,
    /// Extracts the names in a note.
    pub namer: Arc<dyn Namer>,
    /// How far it was read; without a ledger a cycle begins at the start of the log.
    pub ledger: Slot<dyn LedgerStore>,
    /// The model; `None` uses rules only.
    pub writer: Option<InsightWriter>,
}

/// New notes, oldest first.
#[derive(Debug, Default)]
struct PendingNotes {
    notes: Vec<EventId>,
    through: Cursor,
    has_more: bool,
}

impl InsightsPass {
    /// The name of the pass, in the ledger too.
    pub const NAME: &str = "insights";

    /// Returns the ledger line that restarts the pass after insights were undone.
    pub fn again(at: Timestamp) -> LedgerLine {
        line(LedgerKind::Pass, Self::NAME, at).with_through(Cursor::START)
    }

    /// Returns the oldest of these notes after a position, up to the number per run.
    async fn pending(
        &self,
        after: Cursor,
        end: Cursor,
        notes: &BTreeMap<EventId, &Learning>,
    ) -> Result<PendingNotes> {
        let made = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        let mut pending = PendingNotes { through: after, ..PendingNotes::default() };
        loop {
            let page = self.events.scan(&made, pending.through, PAGE).await?;
            let is_last = page.len() < PAGE.get();
            for event in page {
                let at = Cursor(Some(event.seq));
                if at > end {
                    return Ok(pending);
                }
                if notes.contains_key(&event.id) {
                    if pending.notes.len() == AT_ONCE {
                        pending.has_more = true;
                        return Ok(pending);
                    }
                    pending.notes.push(event.id);
                }
                pending.through = at;
            }
            if is_last {
                return Ok(pending);
            }
        }
    }

    fn read<'r>(&self, row: &'r Learning) -> NoteTopics<'r> {
        let topics = row.topics.iter().cloned().chain(row.tags.iter().map(ToString::to_string));
        let (mut about, mut keys) = (Vec::new(), BTreeSet::new());
        for one in self.namer.names(&row.content).into_iter().chain(topics) {
            if keys.insert(fold(&one)) {
                about.push(one);
            }
        }
        NoteTopics { row, about, keys, words: shingles(&row.content, 1) }
    }

    /// Analyzes the new notes, then the old ones that may share something with one.
    fn read_all<'r>(&self, new: &[&'r Learning], old: &[&'r Learning]) -> Vec<NoteTopics<'r>> {
        let mut read: Vec<NoteTopics<'r>> = new.iter().map(|row| self.read(row)).collect();
        let wanted: BTreeSet<String> = read.iter().flat_map(|one| &one.keys).cloned().collect();
        let may_share = |row: &&&Learning| {
            let said = fold(&row.content);
            let topics = || row.topics.iter().map(String::as_str).chain(row.tags.iter().map(Tag::as_str));
            wanted.iter().any(|key| said.contains(key)) || topics().any(|topic| wanted.contains(&fold(topic)))
        };
        read.extend(old.iter().filter(may_share).map(|row| self.read(row)));
        read
    }
}

#[async_trait]
impl Pass for InsightsPass {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let (after, end) = (read_through(&self.ledger, Self::NAME).await?, self.learnings.cursor().await?);
        let rows = self.learnings.all(&LearningFilter::all()).await?;
        let is_insight = |row: &&Learning| row.kind == LearningKind::Insight;
        let mut notes = open(&rows);
        notes.retain(|row| !is_insight(row));
        let by_maker = notes.iter().filter_map(|row| Some((maker(row)?, *row))).collect();
        let pending = self.pending(after, end, &by_maker).await?;
        if pending.notes.len() < FEWEST {
            // A single note waits for another; without any the position advances, so that nothing is scanned twice.
            let through = if pending.notes.is_empty() { pending.through } else { after };
            let skipped = Some("fewer than two notes are new".to_owned());
            return Ok(PassOutcome { through: Some(through), skipped, ..PassOutcome::default() });
        }
        // A source of an insight is connected already, even if the insight is no longer live.
        let insights = rows.iter().filter(is_insight);
        let connected: BTreeSet<EventId> =
            insights.flat_map(|row| row.sources.iter().map(|source| source.event)).collect();
        let is_new = |row: &&Learning| maker(row).is_some_and(|event| pending.notes.contains(&event));
        notes.retain(|row| maker(row).is_some_and(|event| !connected.contains(&event)));
        let (new, mut old): (Vec<&Learning>, Vec<&Learning>) = notes.into_iter().partition(is_new);
        old.drain(..old.len().saturating_sub(OLDER));
        let read = self.read_all(&new, &old);
        let mut looked = PassOutcome {
            through: Some(pending.through),
            waiting: u64::from(pending.has_more),
            ..PassOutcome::default()
        };
        let mut writer = self.writer.as_ref();
        let taken_back = match writer {
            Some(_) => History::read(self.events.as_ref()).await?.words_taken_back,
            None => BTreeSet::new(),
        };
        let groups = groups(&read, new.len());
        if groups.is_empty() {
            looked.skipped = Some(why_unconnected(&read, new.len()).to_owned());
        }
        for group in groups {
            let is_for_rules = taken_back.contains(&operation_identity(&operation_kind(&group, IMPORTANCE)?));
            let written = match writer.filter(|_| !is_for_rules) {
                Some(by) => by.insight(permit, &group).await.map(Some),
                None => Ok(None),
            };
            // An unavailable model is not asked again in this cycle; an unusable answer affects its group only.
            if written.as_ref().is_err_and(|error| error.kind() != ErrorKind::Unsupported) {
                writer = None;
            }
            looked.proposals.push(match written {
                Ok(Some(written)) => written,
                _ => insight(&group)?,
            });
        }
        Ok(looked)
    }
}

/// A note with its entities and topics, in order and as keys.
struct NoteTopics<'r> {
    row: &'r Learning,
    about: Vec<String>,
    keys: BTreeSet<String>,
    words: Vec<u64>,
}

impl NoteTopics<'_> {
    fn is_connected(&self, other: &Self) -> bool {
        let (a, b) = (self.row, other.row);
        if a.user != b.user || a.agent != b.agent || a.level != b.level {
            return false;
        }
        let shared = self.keys.intersection(&other.keys).count();
        // A near-duplicate is no connection.
        let near = jaccard(&self.words, &other.words);
        near < NEAR && (shared >= SHARED || (shared > 0 && near >= ALIKE))
    }
}

/// Returns why none of the notes, of which the first `new` are new, is connected with another.
fn why_unconnected(read: &[NoteTopics<'_>], new: usize) -> &'static str {
    let is_near = |(place, one): (usize, &NoteTopics<'_>)| {
        read.iter().skip(place + 1).any(|other| jaccard(&one.words, &other.words) >= NEAR)
    };
    if read.iter().enumerate().take(new).any(is_near) {
        "two notes say nearly the same, which connects nothing"
    } else {
        "no two of the new notes share two names or topics, or one and many words"
    }
}

/// Connected notes, with their common entities and topics.
struct NoteGroup<'r> {
    notes: Vec<&'r Learning>,
    about: Vec<String>,
}

/// Groups notes, of which the first `new` are new; each note is in one group at most, and each group has a new one.
fn groups<'r>(read: &[NoteTopics<'r>], new: usize) -> Vec<NoteGroup<'r>> {
    let mut taken = BTreeSet::new();
    let mut groups = Vec::new();
    for (place, first) in read.iter().enumerate().take(new) {
        if taken.contains(&place) {
            continue;
        }
        let (mut group, mut common) = (vec![(place, first)], first.keys.clone());
        for (other, one) in read.iter().enumerate().skip(place + 1) {
            let shared: BTreeSet<String> = common.intersection(&one.keys).cloned().collect();
            if group.len() < LARGEST
                && !taken.contains(&other)
                && !shared.is_empty()
                && group.iter().all(|(_, known)| known.is_connected(one))
            {
                group.push((other, one));
                common = shared;
            }
        }
        if group.len() < FEWEST {
            continue;
        }
        taken.extend(group.iter().map(|(place, _)| *place));
        let about = first.about.iter().filter(|one| common.contains(&fold(one))).take(NAMED).cloned();
        let mut notes: Vec<&Learning> = group.into_iter().map(|(_, one)| one.row).collect();
        notes.sort_by_key(|row| (row.created_at, row.id));
        groups.push(NoteGroup { notes, about: about.collect() });
    }
    groups
}

/// States what a group has in common, the number of its notes, and their dates.
fn insight(group: &NoteGroup<'_>) -> Result<Proposal> {
    let text = format!("{} are about {}.", extent(&group.notes), join_names(&group.about));
    let kind = operation_kind(group, IMPORTANCE)?;
    Ok(proposal(InsightsPass::NAME, kind, "they share names or topics", text))
}

/// The conclusion from the notes of a group.
fn operation_kind(group: &NoteGroup<'_>, importance: f32) -> Result<OperationKind> {
    let from: Vec<EventId> = group.notes.iter().filter_map(|row| maker(row)).collect();
    let classification = Classification {
        category: Category::new(INSIGHTS)?,
        tags: Vec::new(),
        importance: Importance::new(importance)?,
    };
    Ok(OperationKind::Infer { from, kind: LearningKind::Insight, classification })
}

impl InsightWriter {
    /// Asks a model what the notes of a group show together.
    async fn insight(&self, permit: &mut BackgroundPermit, group: &NoteGroup<'_>) -> Result<Proposal> {
        let parts: Vec<&str> = group.notes.iter().map(|row| row.content.as_str()).collect();
        let prompt = self.writer.prompt(None, &parts, WRITTEN);
        let hash = PromptHash::of(self.caller.model.model(), &prompt);
        let rows = group.notes.iter().flat_map(|row| &row.sources);
        let sources: Vec<EventId> = rows.map(|source| source.event).collect();
        let read = |completion: &Completion| self.writer.parse(None, &parts, WRITTEN, completion);
        let text = self.caller.ask(permit, &prompt, &sources, read).await?.replace('\n', " ");
        let mut proposal = proposal(
            InsightsPass::NAME,
            operation_kind(group, IMPORTANCE_BY_MODEL)?,
            "a model says what they show",
            text,
        );
        proposal.operation.producer = self.caller.producer(&self.writer.producer());
        proposal.operation.prompt = Some(hash);
        Ok(proposal)
    }
}

fn join_names(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
