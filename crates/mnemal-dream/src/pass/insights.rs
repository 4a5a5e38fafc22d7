//! What several notes have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Category, Deed, EventId, Filed, Importance, Learning, LearningFilter, LearningKind,
    LearningStore, Looked, Pass, Proposal, Result,
};
use mnemal_text::{jaccard, shingles, specifics};

use super::proposal;
use crate::check::NEAR;
use crate::note::{is_open, maker, open};

/// Specifics in common that connect two notes. Source: GB-37.
const SHARED: usize = 2;
/// Nearness by words that connects two notes with one specific in common. Source: GB-37.
const ALIKE: f32 = 0.30;
/// Notes that are looked at together, the oldest first. Source: GB-33, 20 memories.
const AT_ONCE: usize = 20;
/// Most notes of one insight. Source: own default; more are a topic and no insight.
const LARGEST: usize = 8;
/// Where insights are filed.
const INSIGHTS: &str = "insights";
/// Importance of an insight made by rule. Source: own choice; below that of a note, 0.5.
const IMPORTANCE: f32 = 0.3;

/// Connects notes that are about the same names and numbers, and says which; each note is connected once.
#[derive(Clone, Debug)]
pub struct Insights {
    learnings: Arc<dyn LearningStore>,
}

impl Insights {
    /// Looks at these notes.
    pub fn new(learnings: Arc<dyn LearningStore>) -> Self {
        Self { learnings }
    }
}

#[async_trait]
impl Pass for Insights {
    fn name(&self) -> &'static str {
        "insights"
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> Result<Looked> {
        let rows = self.learnings.all(&LearningFilter::all()).await?;
        // What an insight rests on is connected already, whether or not it still holds.
        let connected: BTreeSet<EventId> = rows
            .iter()
            .filter(|row| row.kind == LearningKind::Insight)
            .flat_map(|row| row.sources.iter().map(|source| source.event))
            .collect();
        let free = |row: &&Learning| {
            row.kind != LearningKind::Insight && maker(row).is_some_and(|event| !connected.contains(&event))
        };
        let notes: Vec<Read<'_>> = open(&rows).into_iter().filter(free).map(Read::new).collect();
        let mut looked = Looked::default();
        let mut taken = BTreeSet::new();
        for (place, first) in notes.iter().enumerate() {
            if taken.contains(&place) {
                continue;
            }
            let mut group = vec![first];
            for (other, read) in notes.iter().enumerate().skip(place + 1) {
                if group.len() < LARGEST
                    && !taken.contains(&other)
                    && group.iter().all(|one| one.is_connected(read))
                {
                    group.push(read);
                    taken.insert(other);
                }
            }
            // What an insight says already is not said again.
            let is_new = |text: &str| {
                !rows
                    .iter()
                    .any(|row| is_open(row) && row.kind == LearningKind::Insight && row.content == text)
            };
            let said = insight(&group)?.filter(|one| {
                is_new(&one.text) && looked.proposals.iter().all(|other: &Proposal| other.text != one.text)
            });
            looked.proposals.extend(said);
            if looked.proposals.len() >= AT_ONCE {
                break;
            }
        }
        Ok(looked)
    }
}

struct Read<'r> {
    row: &'r Learning,
    specifics: BTreeSet<String>,
    words: Vec<u64>,
}

impl<'r> Read<'r> {
    fn new(row: &'r Learning) -> Self {
        let openers = openers(&row.content);
        let specifics = specifics(&row.content).into_iter().filter(|one| !openers.contains(one)).collect();
        Self { row, specifics, words: shingles(&row.content, 1) }
    }

    fn is_connected(&self, other: &Self) -> bool {
        let (a, b) = (self.row, other.row);
        let is_of_one = a.user == b.user && a.agent == b.agent && a.level == b.level;
        match self.specifics.intersection(&other.specifics).count() {
            _ if !is_of_one => false,
            0 => false,
            shared => {
                // What says nearly the same twice is no connection.
                let near = jaccard(&self.words, &other.words);
                near < NEAR && (shared >= SHARED || near >= ALIKE)
            }
        }
    }
}

/// Returns the first words of sentences that go on in small letters: they need not be names.
fn openers(text: &str) -> BTreeSet<String> {
    let opener = |sentence: mnemal_text::Sentence| {
        let mut words = sentence.of(text).split_whitespace();
        let (first, second) = (words.next()?, words.next()?);
        let is_plain = first.chars().all(char::is_alphabetic) && second.starts_with(char::is_lowercase);
        is_plain.then(|| mnemal_text::fold(first))
    };
    mnemal_text::sentences(text).into_iter().filter_map(opener).collect()
}

/// Writes what a group has in common, in the words of the first; nothing where it is nothing.
fn insight(group: &[&Read<'_>]) -> Result<Option<Proposal>> {
    let [first, _, ..] = group else { return Ok(None) };
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for one in group.iter().flat_map(|read| &read.specifics) {
        *uses.entry(one).or_default() += 1;
    }
    let shared: Vec<String> = first
        .row
        .content
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
        .filter(|word| uses.get(mnemal_text::fold(word).as_str()).is_some_and(|count| *count == group.len()))
        .map(str::to_owned)
        .collect();
    if shared.is_empty() {
        return Ok(None);
    }
    let mut said = BTreeSet::new();
    let shared: Vec<String> = shared.into_iter().filter(|word| said.insert(word.clone())).collect();
    let text = format!("These belong together, about {}.", shared.join(", "));
    let from: Vec<EventId> = group.iter().filter_map(|read| maker(read.row)).collect();
    let filed = Filed {
        category: Category::new(INSIGHTS)?,
        tags: Vec::new(),
        importance: Importance::new(IMPORTANCE)?,
    };
    let deed = Deed::Infer { from, kind: LearningKind::Insight, filed };
    Ok(Some(proposal("insights", deed, "they share names, numbers or dates", text)))
}
