//! Contexts by chance, each line of which must stand on words in the log, and each hit of which must be accounted for.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use mnemal::{
    AsOf, Context, Decision, Engine, EntityFilter, EntityId, EventId, EventKind, Fact, FactDecision,
    FactFilter, FactId, Layer, LearningId, Memory, Receipt, ReceiptLine, RecordRef, Scope, SessionId,
    Settings, SpaceId, Timestamp, Value,
};
use mnemal_learnings::note_id;
use mnemal_text::{Analyzer, Language, is_stop_word};

use super::mixed::Space;
use super::verdict::Fault;
use super::{Order, Report};
use crate::cpu::Watch;

/// Mixed operations of the space that is asked. Source: own choice, a space whose contexts are full.
const HISTORY: u32 = 1_500;
/// Share of a line's content stems that its words must cover where it is not said verbatim. Source: the issue of trust.
const COVERED: f64 = 0.9;
/// Hits that a context is offered. Source: ADR 12.
const OFFERED: usize = 24;
/// Most time for one part, in milliseconds: nothing is cut off on a busy machine.
const PATIENCE_MS: u64 = 3_600_000;
/// Contexts of which each is also assembled without receipts, to compare what it costs.
const TIMED: u64 = 200;

/// What came of the contexts.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Accounts {
    /// What every programme says.
    #[serde(flatten)]
    pub report: Report,
    /// Processor time of contexts with receipts ÷ without, minus one.
    pub receipts_cost: f64,
    /// The smallest share of content stems of a line that its words cover.
    pub least_covered: f64,
}

impl Accounts {
    /// Whether nothing went wrong, and receipts cost what they may.
    pub fn is_clean(&self) -> bool {
        self.report.is_clean()
    }
}

/// Runs the programme with `order.runs` contexts. The details count their lines: said verbatim, covered by their words, facts whose
/// value stands in the words that they were read in (how a fact is worded is the engine's), and lines that tell of an event where
/// and when it was; and the hits that are lines, left out with a reason, or counted beyond the hundred omissions that a receipt lists.
///
/// # Errors
/// What keeps it from running; what it finds is in the report.
pub fn run(order: &Order) -> Result<Accounts> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start a runtime")?.block_on(life(order))
}

async fn life(order: &Order) -> Result<Accounts> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let home = tempfile::tempdir()?;
    let file = home.path().join("space.db");
    let (builder, clock) = Space::parts(order.seed);
    let mut settings = Settings::default();
    settings.recall.part_deadline_ms = PATIENCE_MS;
    let builder = builder.with_settings(settings);
    let engine = builder.clone().open(&file).await?;
    let mut space = Space::new(&engine, Arc::clone(&clock), order.seed)?;
    for _ in 0..HISTORY.min(u32::try_from(order.runs * 3).unwrap_or(u32::MAX)) {
        space.step().await?;
    }
    space.settle().await?;
    let bare = builder.without(Layer::Receipts).open(&file).await?;
    let values = values(&space.memory).await?;
    let mut accounts = Accounts { report: Report::of("receipts", order), ..Accounts::default() };
    accounts.least_covered = 1.0;
    while accounts.report.runs < order.runs && start.elapsed() < order.time {
        clock.advance(Duration::from_mins(1));
        let query = space.question();
        // A conversation of ten questions sees each thing once.
        let session = SessionId::new(format!("reader-{}", accounts.report.runs / 10))?;
        let context = space.memory.context(&query).session(session).await?;
        accounts.judge(&space.memory, (&query, &values), &context).await?;
        accounts.report.runs += 1;
    }
    accounts.receipts_cost = cost(&mut space, &engine, &bare, order.runs.min(TIMED)).await?;
    accounts.report.seconds = start.elapsed().as_secs_f64();
    Ok(accounts)
}

/// Returns how much more processor time contexts take with receipts than without, as a share.
async fn cost(space: &mut Space, with: &Engine, without: &Engine, contexts: u64) -> Result<f64> {
    let scope = || Ok::<_, mnemal::Error>(Scope::whole(SpaceId::new("mixed")?));
    let (with, without) = (with.memory(scope()?), without.memory(scope()?));
    let (mut on, mut off) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..contexts {
        let query = space.question();
        for (memory, spent) in [(&with, &mut on), (&without, &mut off)] {
            let watch = Watch::start()?;
            let _context = memory.context(&query).await?;
            *spent += watch.stop()?.cpu;
        }
    }
    Ok(on.as_secs_f64() / off.as_secs_f64().max(f64::EPSILON) - 1.0)
}

impl Accounts {
    /// Looks at one context: its receipt, each line of its text, each hit for its question.
    async fn judge(
        &mut self,
        memory: &Memory,
        (query, values): (&str, &Values),
        context: &Context,
    ) -> Result<()> {
        let receipt = &context.receipt;
        if context.text.is_empty() {
            self.report.count("contexts without a line", 1);
            return Ok(());
        }
        let check = memory.check_receipt(receipt.id, Some(&context.text)).await?;
        for finding in &check.findings {
            self.report.blame(Fault::SilentWrong, format_args!("{query}: {finding}"));
        }
        let lines: Vec<Shown> = context.blocks.iter().flat_map(|block| shown(&block.text)).collect();
        if lines.len() != receipt.lines.len() {
            let (told, said) = (receipt.lines.len(), lines.len());
            self.report
                .blame(Fault::SilentWrong, format_args!("{query}: {said} lines, {told} accounted for"));
        }
        let mut words = BTreeMap::new();
        for line in receipt.lines.iter().flat_map(|line| &line.sources) {
            if let Entry::Vacant(place) = words.entry(line.event) {
                place.insert(Said::by(memory, line.event).await?);
            }
        }
        for line in &lines {
            let named = receipt.lines.iter().filter(|known| line.may_be(known));
            let ground = named.map(|known| line.ground(known, &words, values)).max();
            self.report.count("lines", 1);
            let Some(Ground { kind, percent }) = ground else {
                self.report.blame(Fault::SilentWrong, format_args!("{:?} has no account", line.text));
                continue;
            };
            let is_covered = kind != Kind::Covered || f64::from(percent) >= 100.0 * COVERED;
            if is_covered {
                self.report.count(kind.told(), 1);
            } else {
                self.report.blame(Fault::SilentWrong, format_args!("{percent} % of {:?}", line.text));
            }
            self.least_covered = self.least_covered.min(f64::from(percent) / 100.0);
        }
        let hits = memory.recall(query).limit(OFFERED).await?;
        for hit in &hits.hits {
            let id = hit.event.id;
            if let Some(what) = fate(receipt, id) {
                self.report.count(what, 1);
            } else {
                self.report.blame(Fault::SilentWrong, format_args!("{query}: nothing is said of {id}"));
            }
        }
        Ok(())
    }
}

/// On what a line stands; the better the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ground {
    kind: Kind,
    /// Of the content stems that are asked for, how many its words hold.
    percent: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Its words hold a share of its content stems.
    Covered,
    /// It is a fact, and its value stands in its words.
    Value,
    /// It tells of an event where it was.
    Place,
    /// It is said as it stands there.
    Verbatim,
}

impl Kind {
    fn told(self) -> &'static str {
        match self {
            Self::Covered => "lines covered by their words",
            Self::Value => "facts whose value stands in their words",
            Self::Place => "lines that tell where an event was",
            Self::Verbatim => "lines said verbatim",
        }
    }
}

/// The texts that the value of each fact may have.
type Values = BTreeMap<FactId, Vec<String>>;

async fn values(memory: &Memory) -> Result<Values> {
    let graph = memory.graph().await?.value;
    let always = AsOf::present(Timestamp::MAX);
    let mut names: BTreeMap<EntityId, Vec<String>> = BTreeMap::new();
    for whole in graph.all(&EntityFilter::all(), always).await? {
        let parts = graph.parts(whole.id, always).await?;
        for entity in parts.into_iter().chain([whole]) {
            names.insert(entity.id, entity.names.into_iter().map(|name| name.text).collect());
        }
    }
    let facts = graph.history(&FactFilter::all()).await?;
    let texts = |fact: &Fact| match &fact.object {
        Value::Literal { text, .. } => vec![text.clone()],
        // What somebody is taken for has other names than stand in the words, perhaps.
        Value::Entity(whole) => {
            let said = fact.supports.iter().filter_map(|support| support.object.entity());
            said.chain([*whole]).filter_map(|id| names.get(&id)).flatten().cloned().collect()
        }
    };
    Ok(facts.iter().map(|fact| (fact.id, texts(fact))).collect())
}

/// A line as a reader sees it.
struct Shown {
    /// The record that it names, as text.
    record: Option<String>,
    text: String,
}

/// Returns the lines of a block.
fn shown(block: &str) -> Vec<Shown> {
    let lines = block.lines().filter(|line| line.starts_with("- "));
    let read = |line: &str| {
        let (label, text) = line.split_at(line.find('"')?);
        let names = label.split([',', ']', ' ']);
        let record = names.map(str::trim).find(|name| name.parse::<RecordRef>().is_ok()).map(str::to_owned);
        let text: String = serde_json::from_str(text).ok()?;
        Some(Shown { record, text: text.trim_end_matches('…').trim().to_owned() })
    };
    lines.filter_map(read).collect()
}

/// What an event says, and who says it.
struct Said {
    content: String,
    speaker: String,
    /// What a decision about a fact says beside its text.
    decided: String,
    /// Where it was, as a context tells it.
    place: String,
}

impl Said {
    async fn by(memory: &Memory, event: EventId) -> Result<Self> {
        let event = memory.get(event).await?;
        let kept = event.kept().context("a line stands on an event that is erased")?;
        let speaker = kept.speaker.as_ref().map_or(String::new(), |speaker| speaker.as_str().to_owned());
        let decided = match &kept.kind {
            EventKind::Decision(Decision::Fact(FactDecision {
                object: Value::Literal { text, .. }, ..
            })) => text.clone(),
            _ => String::new(),
        };
        let place = format!("last activity before this conversation: {} on {}", kept.session, kept.channel);
        Ok(Self { content: kept.content.clone(), speaker, decided, place })
    }
}

impl Shown {
    /// Whether an account may be that of this line: it names the record, or the line names none.
    fn may_be(&self, known: &ReceiptLine) -> bool {
        self.record.as_ref().is_none_or(|record| known.record.to_string() == *record)
    }

    /// Returns on what a line stands, if this is its account: the spans of its sources, with the names of who said them.
    fn ground(&self, known: &ReceiptLine, words: &BTreeMap<EventId, Said>, values: &Values) -> Ground {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = plain(&self.text);
        let sure = |kind| Ground { kind, percent: 100 };
        let mut all = String::new();
        for source in &known.sources {
            let Some(said) = words.get(&source.event) else { continue };
            let Some(part) = source.span.of(&said.content) else { continue };
            if plain(part).contains(&text) {
                return sure(Kind::Verbatim);
            }
            if said.place.starts_with(&text) {
                return sure(Kind::Place);
            }
            let _ = writeln!(all, "{part} {} {}", said.speaker, said.decided);
        }
        let there = stems(&all);
        if let RecordRef::Fact(fact) = known.record {
            let texts = values.get(&fact).into_iter().flatten();
            let holds = |value: &String| !value.is_empty() && stems(value).is_subset(&there);
            if texts.into_iter().any(holds) {
                return sure(Kind::Value);
            }
        }
        let wanted = stems(&text);
        let found = wanted.iter().filter(|stem| there.contains(*stem)).count();
        let percent = u8::try_from(100 * found / wanted.len().max(1)).unwrap_or_default();
        Ground { kind: Kind::Covered, percent }
    }
}

fn stems(text: &str) -> BTreeSet<String> {
    let terms = Analyzer::new(Language::English).terms(text);
    let is_content = |term: &&mnemal_text::Term| {
        let word = text.get(term.start..term.end).unwrap_or_default().to_lowercase();
        !is_stop_word(Language::English, &word)
    };
    terms.iter().filter(is_content).map(|term| term.text.clone()).collect()
}

/// Returns what became of a hit, by its event, by the note that it made, or by a record that rests on it.
fn fate(receipt: &Receipt, event: EventId) -> Option<&'static str> {
    let note: LearningId = note_id(event);
    let is_it = |record: RecordRef| match record {
        RecordRef::Event(id) => id == event,
        RecordRef::Learning(id) => id == note,
        _ => false,
    };
    let rests = |line: &ReceiptLine| line.sources.iter().any(|source| source.event == event);
    if receipt.lines.iter().any(|line| is_it(line.record) || rests(line)) {
        return Some("hits that are lines");
    }
    if receipt.omitted.iter().any(|omitted| is_it(omitted.record)) {
        return Some("hits left out with a reason");
    }
    let counted: u32 = receipt.omitted_counts.iter().map(|(_, count)| count).sum();
    (counted as usize > receipt.omitted.len()).then_some("hits counted beyond the hundred that are listed")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    // proves: NX-01.3
    #[test]
    fn every_line_stands_on_words_and_every_hit_is_accounted_for() {
        let time = Duration::from_mins(3);
        let done = run(&Order { runs: 40, first: 0, seed: 3, time, program: PathBuf::new() }).unwrap();
        assert!(done.is_clean(), "{done:?}");
        assert!(done.least_covered >= COVERED, "{done:?}");
        let counted = [Kind::Verbatim.told(), Kind::Value.told(), "hits left out with a reason"];
        assert!(counted.iter().all(|what| done.report.details.contains_key(what)), "{done:?}");
    }
}
