//! Quality report of a space: measures of its content, each with a recommended fix.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    AsOf, ErrorKind, EventFilter, EventId, FactFilter, FactStatus, LearningFilter, Level, NodePath,
    RecordRef, Result, Role, Source, Within,
};
use mnemal_events::tombstone_text;
use mnemal_extract::Tier;
use mnemal_graph::CardinalityEvidence;

use crate::areas::AdminHandle;
use crate::memory::Memory;
use crate::status::STALE_EVENTS;

/// Newest events that are sampled. Source: own choice, some seconds of work.
const NEWEST: NonZeroUsize = NonZeroUsize::new(10_000).expect("10,000 is not zero");
/// Share of duplicate notes that counts as a finding. Source: own choice; in mem0's issue 4573 the share of junk was .978.
const MANY_COPIES: f64 = 0.05;
/// Share of echoes among events that counts as a finding. Source: own choice; a quarter of a log is more than quoting causes.
const MANY_ECHOES: f64 = 0.25;
/// Notes per user turn that count as a finding. Source: own choice; with more notes than turns, noise is being stored.
const MANY_NOTES: f64 = 1.0;
/// Share of external content in the tokens of contexts that counts as a finding. Source: own choice; a quarter is the cap of a
/// context.
const MUCH_EXTERNAL: f64 = 0.2;
/// Share of notes that no context showed that counts as a finding. Source: own choice, more than half of the notes.
const MANY_UNMATCHED: f64 = 0.5;
/// Newest receipts that are read. Source: own choice, about four megabytes.
const RECEIPTS: NonZeroUsize = NonZeroUsize::new(200).expect("200 is not zero");
/// Minimum number of receipts for that measure to be meaningful. Source: own choice, a day or two of conversation.
const ENOUGH_RECEIPTS: usize = 20;
/// Share of turns in languages without rules that counts as a finding. Source: own choice, half of the turns.
const MANY_UNREAD: f64 = 0.5;

/// The unit of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QualityUnit {
    /// A fraction, 0 to 1.
    Share,
    /// A number of records.
    Records,
    /// A mean number of records per record of another kind.
    Ratio,
}

/// One measure of a space's content.
#[derive(Clone, Debug, PartialEq)]
pub struct QualityMeasure {
    /// Its stable name.
    pub name: &'static str,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: QualityUnit,
    /// Number of records in the sample.
    pub of: u64,
    /// Whether it is a finding that needs action.
    pub is_finding: bool,
    /// The recommended fix.
    pub fix: &'static str,
    /// Examples of the counted records; for `predicates` sentences, each about one with at least 20 subjects.
    pub examples: Vec<String>,
}

impl QualityMeasure {
    fn share(name: &'static str, (part, of): (usize, usize), most: f64, fix: &'static str) -> Self {
        let value = if of == 0 { 0.0 } else { part as f64 / of as f64 };
        let is_finding = value > most;
        Self { name, value, unit: QualityUnit::Share, of: of as u64, is_finding, fix, examples: Vec::new() }
    }

    fn records(name: &'static str, examples: Vec<String>, of: usize, fix: &'static str) -> Self {
        let (value, is_finding) = (examples.len() as f64, !examples.is_empty());
        let examples = examples.into_iter().take(EXAMPLES).collect();
        Self { name, value, unit: QualityUnit::Records, of: of as u64, is_finding, fix, examples }
    }

    /// Counts predicates whose claims contradict their declared cardinality; the examples cover all predicates with enough
    /// subjects, the contradicting ones first.
    fn predicates(mut observed: Vec<CardinalityEvidence>) -> Self {
        observed.retain(|one| one.sample_size() >= ENOUGH);
        observed.sort_by_key(|one| !one.disagrees());
        let wrong = observed.iter().filter(|one| one.disagrees()).count();
        Self {
            name: "predicates",
            value: wrong as f64,
            unit: QualityUnit::Records,
            of: observed.len() as u64,
            is_finding: wrong > 0,
            fix: "`mnemal fact cardinality PREDICATE one|now|many` decides; the dream changes no shipped one",
            examples: observed.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Minimum number of subjects of a predicate. Source: own choice; with fewer, no cardinality can be estimated.
const ENOUGH: usize = 20;

/// Maximum number of examples of a measure. Source: own choice, a line of a screen.
const EXAMPLES: usize = 3;

impl Memory {
    async fn measure_notes(&self, measures: &mut Vec<QualityMeasure>) -> Result<()> {
        let as_of = AsOf::present(self.admin().engine().now());
        let held = match self.preferences().learnings(&LearningFilter::all(), as_of).await {
            Ok(held) => held,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(error),
        };
        let (mut texts, mut shapes) = (HashMap::new(), HashSet::new());
        let (mut copies, mut alike, mut orphans) = (0, 0, Vec::new());
        for note in held.iter().map(|scored| &scored.item) {
            let text = tombstone_text(&note.content);
            let shape: String = text
                .split(' ')
                .filter(|word| !word.chars().any(char::is_numeric))
                .collect::<Vec<_>>()
                .join(" ");
            let is_copy = texts.insert(text, note.id).is_some();
            let is_alike = !shapes.insert(shape);
            copies += usize::from(is_copy);
            alike += usize::from(is_alike && !is_copy);
            let sources: Vec<EventId> = note.sources.iter().map(|source| source.event).collect();
            if !self.any_lives(&sources).await? {
                orphans.push(note.id.to_string());
            }
        }
        let dream = "`mnemal dream` folds copies; undo takes it back";
        measures.push(QualityMeasure::share("duplicates", (copies, held.len()), MANY_COPIES, dream));
        measures.push(QualityMeasure::share("near_duplicates", (alike, held.len()), MANY_COPIES, dream));
        let fix = "`mnemal rebuild --layer learnings` makes them anew from the log";
        measures.push(QualityMeasure::records("orphan_notes", orphans, held.len(), fix));
        Ok(())
    }

    async fn measure_facts(&self, measures: &mut Vec<QualityMeasure>) -> Result<()> {
        let graph = match self.facts().graph().await {
            Ok(graph) => graph.value,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(error),
        };
        let facts = graph.facts(&FactFilter::all(), AsOf::present(self.admin().engine().now())).await?;
        let (mut orphans, mut disputed, mut candidates) = (Vec::new(), Vec::new(), 0);
        for fact in &facts {
            let sources: Vec<EventId> = fact.supports.iter().map(|support| support.source.event).collect();
            if !self.any_lives(&sources).await? {
                orphans.push(fact.id.to_string());
            }
            match fact.status {
                FactStatus::Disputed => disputed.push(fact.id.to_string()),
                FactStatus::Candidate => candidates += 1,
                _ => {}
            }
        }
        let fix = "`mnemal rebuild --layer graph` makes them anew from the log";
        measures.push(QualityMeasure::records("orphan_facts", orphans, facts.len(), fix));
        let fix = "`mnemal fact list` shows both values; `mnemal fact invalidate` or `fact add` decides";
        measures.push(QualityMeasure::records("disputed_facts", disputed, facts.len(), fix));
        let fix = "a candidate waits for a second conversation; `mnemal fact add` decides now";
        measures.push(QualityMeasure::share("candidates", (candidates, facts.len()), 1.0, fix));
        let observed = graph.cardinality_evidence(Within::All, self.admin().engine().now()).await?;
        measures.push(QualityMeasure::predicates(observed));
        Ok(())
    }

    async fn measure_summaries(&self, measures: &mut Vec<QualityMeasure>) -> Result<()> {
        let summaries = match self.summaries().reader().await {
            Ok(summaries) => summaries.value,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(error),
        };
        let tree = match summaries.tree(&NodePath::Root, 1).await {
            Ok(tree) => tree,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let stale = tree.iter().filter(|standing| standing.behind > STALE_EVENTS);
        let stale = stale.map(|standing| standing.node.path.to_string()).collect();
        let fix = "`mnemal summary --refresh`";
        measures.push(QualityMeasure::records("stale_summaries", stale, tree.len(), fix));
        let health = self.admin().examine().await?;
        let behind = health.parts.iter().filter_map(|part| match part.cause {
            Some(mnemal_core::GapCause::Stale { behind }) => {
                Some(format!("{} by {behind}", part.layer.as_str()))
            }
            _ => None,
        });
        let fix = "a layer reads on whenever it is asked; `mnemal doctor --fix` waits for it";
        measures.push(QualityMeasure::records("lag", behind.collect(), health.parts.len(), fix));
        Ok(())
    }

    async fn measure_events(&self, measures: &mut Vec<QualityMeasure>) -> Result<()> {
        let (log, events) = (self.event_log()?, self.admin().engine().events()?);
        let newest =
            events.latest(&EventFilter { erased: Within::Only(false), ..EventFilter::all() }, NEWEST).await?;
        let (mut echoes, mut held_back, mut external, mut turns, mut notes) = (0, 0, 0, 0, 0);
        let mut secrets = Vec::new();
        for event in &newest {
            let Some(kept) = event.body() else { continue };
            echoes += usize::from(!event.echo.is_empty());
            held_back += usize::from(event.quarantined.is_some());
            external += usize::from(event.level == Level::External);
            turns += usize::from(event.role == Role::User);
            let is_note =
                matches!(kept.kind, mnemal_core::EventKind::Decision(mnemal_core::Decision::Remember(_)));
            notes += usize::from(is_note);
            // A rule that blocks the text detects a secret too.
            if !log.outgoing(&kept.content).is_ok_and(|clean| clean == kept.content) {
                secrets.push(event.id.to_string());
            }
        }
        let of = newest.len();
        let fix = "nothing has to be done: an echo is found, and makes no memory stronger";
        measures.push(QualityMeasure::share("echoes", (echoes, of), MANY_ECHOES, fix));
        let fix = "`mnemal forget ID` erases it; the present rules keep the next one out";
        measures.push(QualityMeasure::records("secrets", secrets, of, fix));
        let fix = "`mnemal log list --quarantined` shows them";
        measures.push(QualityMeasure::share("held_back", (held_back, of), 1.0, fix));
        let fix = "such records are evidence with a label, a quarter of a context at most";
        measures.push(QualityMeasure::share("external", (external, of), 1.0, fix));
        let ratio = notes as f64 / turns.max(1) as f64;
        measures.push(QualityMeasure {
            name: "notes_per_turn",
            value: ratio,
            unit: QualityUnit::Ratio,
            of: turns as u64,
            is_finding: turns > 0 && ratio > MANY_NOTES,
            fix: "`mnemal memory list` shows the notes; `mnemal forget` or `mnemal memory archive` clears out",
            examples: Vec::new(),
        });
        let heard = self.admin().recent_languages().await?;
        let all: u64 = heard.iter().map(|language| language.turns).sum();
        let unread = heard.iter().filter(|language| language.tier == Tier::Names);
        let unread: u64 = unread.map(|language| language.turns).sum();
        let (part, of) = (small(unread), small(all));
        let fix = "what is said is found all the same; facts are read in the languages of `mnemal status`";
        measures.push(QualityMeasure::share("unread_languages", (part, of), MANY_UNREAD, fix));
        Ok(())
    }

    /// Measures the content of contexts, from their receipts, with or without a session.
    async fn measure_contexts(&self, measures: &mut Vec<QualityMeasure>) -> Result<()> {
        let Ok(store) = self.admin().engine().guarded().receipts.part() else { return Ok(()) };
        let receipts = store.latest(RECEIPTS).await?;
        let (mut external, mut tokens, mut shown) = (0, 0, HashSet::new());
        for line in receipts.iter().flat_map(|receipt| &receipt.lines) {
            tokens += line.tokens.0 as usize;
            external += if line.level == Level::External { line.tokens.0 as usize } else { 0 };
            shown.insert(line.record);
        }
        let fix =
            "`mnemal import --own-history` takes a history of your own for yours; `mnemal forget` clears out";
        measures.push(QualityMeasure::share("external_in_contexts", (external, tokens), MUCH_EXTERNAL, fix));
        let since = receipts.last().filter(|_| receipts.len() >= ENOUGH_RECEIPTS).map(|oldest| oldest.at);
        let as_of = AsOf::present(self.admin().engine().now());
        let held = match self.preferences().learnings(&LearningFilter::all(), as_of).await {
            Ok(held) => held,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(error),
        };
        let older = held.iter().map(|scored| &scored.item);
        let older: Vec<_> = older.filter(|note| since.is_some_and(|since| note.created_at < since)).collect();
        let unmatched = older.iter().filter(|note| {
            let of_event = |source: &Source| shown.contains(&RecordRef::Event(source.event));
            !shown.contains(&RecordRef::Learning(note.id)) && !note.sources.iter().any(of_event)
        });
        let fix = "`mnemal memory list` shows the notes; what nobody asks for can be archived, and undo brings it back";
        let (part, of) = (unmatched.count(), older.len());
        measures.push(QualityMeasure::share("unmatched_notes", (part, of), MANY_UNMATCHED, fix));
        Ok(())
    }

    /// Whether one of the events is not erased.
    async fn any_lives(&self, events: &[EventId]) -> Result<bool> {
        for event in events {
            match self.events().get(*event).await {
                Ok(event) if event.body().is_some() => return Ok(true),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(events.is_empty())
    }
}

impl AdminHandle<'_> {
    /// Measures the quality of the space's content; reads at most the newest 10,000 events, and writes nothing.
    ///
    /// In this order: `duplicates` and `near_duplicates` among valid notes, `echoes` among events, `orphans` (notes and facts
    /// whose sources are erased), `disputed_facts`, `candidates` that were never promoted, `predicates` whose claims contradict
    /// their cardinality, `stale_summaries`, `lag` (events that a layer has not read), `secrets` that today's rules detect,
    /// `held_back` (quarantined events), `external`, `notes_per_turn`, `unread_languages`, `external_in_contexts` (share of the
    /// tokens of the newest 200 contexts) and `unmatched_notes`, which are older than these contexts and appear in none of them.
    /// Measures of a layer that this build lacks are left out.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn quality(self) -> Result<Vec<QualityMeasure>> {
        self.memory.must_be_whole("the quality of a memory")?;
        let mut measures = Vec::new();
        self.memory.measure_notes(&mut measures).await?;
        self.memory.measure_facts(&mut measures).await?;
        self.memory.measure_summaries(&mut measures).await?;
        self.memory.measure_events(&mut measures).await?;
        self.memory.measure_contexts(&mut measures).await?;
        Ok(measures)
    }
}

/// Converts a count to a length; it came from one.
fn small(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
