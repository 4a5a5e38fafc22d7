//! Insights: names and topics that several notes have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Book, Category, Completion, Consultant, Cursor, Deed, ErrorKind, EventFilter, EventId,
    EventStore, Filed, Importance, Learning, LearningFilter, LearningKind, LearningStore, LedgerLine,
    LedgerStore, Looked, Pass, PromptHash, Proposal, Result, Role, Slot, Summarizer, Tag, Timestamp,
    TokenCount, Within,
};
use mnemal_text::{fold, jaccard, shingles};

use super::{proposal, read_through};
use crate::check::NEAR;
use crate::dreamer::line;
use crate::history::{History, same};
use crate::note::{extent, maker, open};

/// Entities and topics in common that connect two notes. Source: GB-37.
const SHARED: usize = 2;
/// Nearness by words that connects two notes with one entity in common. Source: GB-37.
const ALIKE: f32 = 0.30;
/// New notes that are looked at together, the oldest first. Source: GB-33, 20 memories.
const AT_ONCE: usize = 20;
/// Fewest new notes that are looked at. Source: GA-04.
const FEWEST: usize = 2;
/// Older notes with which new ones are connected, the newest of them. Source: CF-08, `RockBot` 1,000 entries.
const OLDER: usize = 1_000;
/// Most notes of one insight. Source: own default; more are a topic and no insight.
const LARGEST: usize = 8;
/// Most that one insight names. Source: own choice, a line that is read at a glance.
const NAMED: usize = 5;
/// Where insights are filed.
const INSIGHTS: &str = "insights";
/// Importance of an insight made by rule. Source: own choice; below that of a note, 0.5.
const IMPORTANCE: f32 = 0.3;
/// Importance of an insight that a model wrote. Source: GB-30, that of a note.
const IMPORTANCE_BY_MODEL: f32 = 0.5;
/// Tokens of an insight that a model writes. Source: own choice, two sentences.
const WRITTEN: TokenCount = TokenCount(120);
/// Decisions that are looked through at once. Source: own default.
const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("a page holds something");

/// Reads names.
pub trait Namer: std::fmt::Debug + Send + Sync + 'static {
    /// Returns whom and what a text names, in its order.
    fn names(&self, text: &str) -> Vec<String>;
}

/// Who writes what notes have in common.
#[derive(Clone, Debug)]
pub struct InsightWriter {
    /// Who is asked.
    pub consultant: Consultant,
    /// What asks and reads.
    pub writer: Arc<dyn Summarizer>,
}

/// Connects notes that name the same entities or have the same topics, and says which, how many notes, and from when.
///
/// It follows the log: the 20 oldest notes behind its position are looked at together, each is compared with the others and with
/// older ones that no insight rests on, and the position moves when what was found is written. Fewer than two are left for the next
/// cycle. Topics are the topics and tags of notes. Where a model writes, it says what the notes of a group show together; an answer
/// that cannot be used, or none, leaves the line that the rules make.
#[derive(Clone, Debug)]
pub struct Insights {
    /// The log.
    pub events: Arc<dyn EventStore>,
    /// The notes.
    pub learnings: Arc<dyn LearningStore>,
    /// Reads whom and what a note names.
    pub namer: Arc<dyn Namer>,
    /// How far it was read; without it a cycle begins at the start of the log.
    pub ledger: Slot<dyn LedgerStore>,
    /// Who writes; `None` leaves it to rules.
    pub writer: Option<InsightWriter>,
}

/// New notes, oldest first.
#[derive(Debug, Default)]
struct Pending {
    notes: Vec<EventId>,
    through: Cursor,
    has_more: bool,
}

impl Insights {
    /// The name of the pass, in the ledger too.
    pub const NAME: &str = "insights";

    /// Returns the line of the ledger that has all notes looked at again, of which insights were taken back.
    pub fn again(at: Timestamp) -> LedgerLine {
        line(Book::Pass, Self::NAME, at).with_through(Cursor::START)
    }

    /// Returns the oldest of these notes behind a position, up to as many as are looked at together.
    async fn pending(
        &self,
        after: Cursor,
        end: Cursor,
        notes: &BTreeMap<EventId, &Learning>,
    ) -> Result<Pending> {
        let made = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        let mut pending = Pending { through: after, ..Pending::default() };
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

    fn read<'r>(&self, row: &'r Learning) -> Read<'r> {
        let topics = row.topics.iter().cloned().chain(row.tags.iter().map(ToString::to_string));
        let (mut about, mut keys) = (Vec::new(), BTreeSet::new());
        for one in self.namer.names(&row.content).into_iter().chain(topics) {
            if keys.insert(fold(&one)) {
                about.push(one);
            }
        }
        Read { row, about, keys, words: shingles(&row.content, 1) }
    }

    /// Reads the new notes, and behind them those of the old ones that may share something with one.
    fn read_all<'r>(&self, new: &[&'r Learning], old: &[&'r Learning]) -> Vec<Read<'r>> {
        let mut read: Vec<Read<'r>> = new.iter().map(|row| self.read(row)).collect();
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
impl Pass for Insights {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<Looked> {
        let (after, end) = (read_through(&self.ledger, Self::NAME).await?, self.learnings.cursor().await?);
        let rows = self.learnings.all(&LearningFilter::all()).await?;
        let is_insight = |row: &&Learning| row.kind == LearningKind::Insight;
        let mut notes = open(&rows);
        notes.retain(|row| !is_insight(row));
        let by_maker = notes.iter().filter_map(|row| Some((maker(row)?, *row))).collect();
        let pending = self.pending(after, end, &by_maker).await?;
        if pending.notes.len() < FEWEST {
            // One note waits for another; where there is none, nothing is looked through twice.
            let through = if pending.notes.is_empty() { pending.through } else { after };
            let skipped = Some("fewer than two notes are new".to_owned());
            return Ok(Looked { through: Some(through), skipped, ..Looked::default() });
        }
        // What an insight rests on is connected already, whether or not it still holds.
        let insights = rows.iter().filter(is_insight);
        let connected: BTreeSet<EventId> =
            insights.flat_map(|row| row.sources.iter().map(|source| source.event)).collect();
        let is_new = |row: &&Learning| maker(row).is_some_and(|event| pending.notes.contains(&event));
        notes.retain(|row| maker(row).is_some_and(|event| !connected.contains(&event)));
        let (new, mut old): (Vec<&Learning>, Vec<&Learning>) = notes.into_iter().partition(is_new);
        old.drain(..old.len().saturating_sub(OLDER));
        let read = self.read_all(&new, &old);
        let mut looked = Looked {
            through: Some(pending.through),
            waiting: u64::from(pending.has_more),
            ..Looked::default()
        };
        let mut writer = self.writer.as_ref();
        let taken_back = match writer {
            Some(_) => History::read(self.events.as_ref()).await?.words_taken_back,
            None => BTreeSet::new(),
        };
        let groups = groups(&read, new.len());
        if groups.is_empty() {
            looked.skipped = Some(unconnected(&read, new.len()).to_owned());
        }
        for group in groups {
            let is_for_rules = taken_back.contains(&same(&deed(&group, IMPORTANCE)?));
            let written = match writer.filter(|_| !is_for_rules) {
                Some(by) => by.insight(permit, &group).await.map(Some),
                None => Ok(None),
            };
            // A model that does not answer is not asked again in this cycle; an answer that cannot be used concerns its group alone.
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

/// A note, and what it is about, in its own order and as keys.
struct Read<'r> {
    row: &'r Learning,
    about: Vec<String>,
    keys: BTreeSet<String>,
    words: Vec<u64>,
}

impl Read<'_> {
    fn is_connected(&self, other: &Self) -> bool {
        let (a, b) = (self.row, other.row);
        if a.user != b.user || a.agent != b.agent || a.level != b.level {
            return false;
        }
        let shared = self.keys.intersection(&other.keys).count();
        // What says nearly the same twice is no connection.
        let near = jaccard(&self.words, &other.words);
        near < NEAR && (shared >= SHARED || (shared > 0 && near >= ALIKE))
    }
}

/// Says why none of the notes, of which the first `new` are new, is connected with another.
fn unconnected(read: &[Read<'_>], new: usize) -> &'static str {
    let is_near = |(place, one): (usize, &Read<'_>)| {
        read.iter().skip(place + 1).any(|other| jaccard(&one.words, &other.words) >= NEAR)
    };
    if read.iter().enumerate().take(new).any(is_near) {
        "two notes say nearly the same, which connects nothing"
    } else {
        "no two of the new notes share two names or topics, or one and many words"
    }
}

/// Notes that belong together, and what all of them are about.
struct Group<'r> {
    notes: Vec<&'r Learning>,
    about: Vec<String>,
}

/// Groups notes, of which the first `new` are new; each stands in one group at most, and each group has a new one.
fn groups<'r>(read: &[Read<'r>], new: usize) -> Vec<Group<'r>> {
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
        groups.push(Group { notes, about: about.collect() });
    }
    groups
}

/// Says what a group is about, how many notes it has, and from when they are.
fn insight(group: &Group<'_>) -> Result<Proposal> {
    let text = format!("{} are about {}.", extent(&group.notes), listed(&group.about));
    let deed = deed(group, IMPORTANCE)?;
    Ok(proposal(Insights::NAME, deed, "they share names or topics", text))
}

/// The conclusion from the notes of a group.
fn deed(group: &Group<'_>, importance: f32) -> Result<Deed> {
    let from: Vec<EventId> = group.notes.iter().filter_map(|row| maker(row)).collect();
    let filed = Filed {
        category: Category::new(INSIGHTS)?,
        tags: Vec::new(),
        importance: Importance::new(importance)?,
    };
    Ok(Deed::Infer { from, kind: LearningKind::Insight, filed })
}

impl InsightWriter {
    /// Asks what the notes of a group show together.
    async fn insight(&self, permit: &mut BackgroundPermit, group: &Group<'_>) -> Result<Proposal> {
        let parts: Vec<&str> = group.notes.iter().map(|row| row.content.as_str()).collect();
        let prompt = self.writer.prompt(None, &parts, WRITTEN);
        let hash = PromptHash::of(self.consultant.model.model(), &prompt);
        let rows = group.notes.iter().flat_map(|row| &row.sources);
        let sources: Vec<EventId> = rows.map(|source| source.event).collect();
        let read = |completion: &Completion| self.writer.parse(None, &parts, WRITTEN, completion);
        let text = self.consultant.ask(permit, &prompt, &sources, read).await?.replace('\n', " ");
        let mut proposal =
            proposal(Insights::NAME, deed(group, IMPORTANCE_BY_MODEL)?, "a model says what they show", text);
        proposal.operation.producer = self.consultant.producer(&self.writer.producer());
        proposal.operation.prompt = Some(hash);
        Ok(proposal)
    }
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
