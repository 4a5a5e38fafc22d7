//! `mnemal dream`.

mod sample;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use anyhow::Result;
use mnemal::dream::{DreamCycle, DreamMode, DreamOutcome, Finding};
use mnemal::events::{ClaimSpans, LedgerKind, LedgerLine, Operation, OperationKind};
use mnemal::ports::Proposal;
use mnemal::types::{EntityId, OwnerId};
use mnemal::{AsOf, Decision, Event, EventFilter, EventId, EventKind, Memory, Role, Timestamp, Within};
use serde::Serialize;

use crate::args::{Dream, DreamVerb};
use crate::output::Output;

/// Decisions and operations scanned for the history. Source: own choice, the newest of several months.
const LOOKED_THROUGH: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Runs a cycle, previews one, or prints the ledger.
pub(super) async fn run(memory: &Memory, call: &Dream, output: &Output) -> Result<u8> {
    match &call.verb {
        Some(DreamVerb::Log { limit }) => return log(memory, *limit, output).await,
        Some(DreamVerb::Sample) => return sample::list(memory, output).await,
        Some(DreamVerb::Judge { id, opinion, words }) => {
            return sample::judge(memory, (*id, *opinion), words, output).await;
        }
        None => {}
    }
    if call.retry {
        memory.admin().engine().retry_left().await?;
    }
    let owner = OwnerId::new(format!("dream-{}", std::process::id()))?;
    let run = if call.dry_run { DreamMode::Dry } else { DreamMode::Asked };
    let cycle = memory.admin().engine().dream(&owner, run).await?;
    let mut rows = words(memory).await?;
    for judged in &cycle.judged {
        if let OperationKind::Claim { turn, .. } = &judged.proposal.operation.kind
            && let Ok(event) = memory.events().get(*turn).await
            && let Some(kept) = event.body()
        {
            rows.insert(turn.to_string(), kept.content.clone());
        }
    }
    rows.extend(names(memory, &cycle).await?);
    let form = CycleForm::new(&cycle, run, &rows);
    output.answer(&form, || form.page(&rows))?;
    Ok(0)
}

/// Returns the text of every note, by the event that made it.
async fn words(memory: &Memory) -> Result<BTreeMap<String, String>> {
    let rows = memory.preferences().all_learnings(&mnemal::LearningFilter::all()).await?;
    let words = |row: mnemal::Learning| Some((row.sources.first()?.event.to_string(), row.content));
    Ok(rows.into_iter().filter_map(words).collect())
}

/// Returns the newest operations on notes, newest first, each with the text of its notes.
async fn recent_operations(
    memory: &Memory,
    limit: usize,
    rows: &BTreeMap<String, String>,
) -> Result<Vec<ExecutedOperationForm>> {
    let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
    let events = memory.events().latest(&filter, LOOKED_THROUGH).await?;
    let undone = |event: &Event| match &event.body()?.kind {
        EventKind::Decision(Decision::Undo { decision }) => Some(*decision),
        _ => None,
    };
    let taken_back: BTreeSet<EventId> = events.iter().filter_map(undone).collect();
    let form = |event: &Event| {
        let kept = event.body()?;
        let EventKind::Operation(operation) = &kept.kind else { return None };
        if operation.kind.changes().is_empty() {
            return None;
        }
        Some(ExecutedOperationForm {
            at: event.recorded_at.to_string(),
            taken_back: taken_back.contains(&event.id),
            operation: OperationForm::of((operation, &kept.content), Some(event.id), rows),
        })
    };
    Ok(events.iter().filter_map(form).take(limit).collect())
}

/// Returns the names of entities that may be duplicates.
async fn names(memory: &Memory, cycle: &DreamCycle) -> Result<Vec<(String, String)>> {
    let ids: Vec<EntityId> =
        cycle.judged.iter().flat_map(|judged| judged.proposal.operation.kind.entities()).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let known =
        memory.facts().stored_graph().await?.value.entities(ids, AsOf::present(Timestamp::MAX)).await?;
    Ok(known.into_iter().map(|entity| (entity.id.to_string(), entity.name)).collect())
}

#[derive(Serialize)]
struct CycleForm {
    dry_run: bool,
    live: u64,
    archived: u64,
    created: u64,
    changed: u64,
    waiting: u64,
    ran: Vec<String>,
    skipped: Vec<String>,
    failed: Vec<String>,
    findings: Vec<FindingForm>,
    operations: Vec<OperationForm>,
    refused: Vec<OperationForm>,
}

/// A finding of the audit, formatted for people.
#[derive(Serialize)]
struct FindingForm {
    name: &'static str,
    severity: &'static str,
    rows: u64,
    meaning: &'static str,
    next: &'static str,
}

impl FindingForm {
    fn line(&self) -> String {
        let Self { name, severity, rows, meaning, next } = self;
        format!("audit {severity} {name}: {rows}\n  {meaning}\n  {next}")
    }
}

impl From<&Finding> for FindingForm {
    fn from(finding: &Finding) -> Self {
        let Finding { name, severity, rows, meaning, next } = *finding;
        Self { name, severity: severity.as_str(), rows, meaning, next }
    }
}

#[derive(Serialize)]
struct OperationForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    operation: &'static str,
    by: String,
    because: String,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    into: Option<String>,
    /// Entities that may be duplicates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    entities: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// Claims that a model extracted from a turn: the predicate and the text of the value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    claims: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'static str>,
}

impl OperationForm {
    fn new(judged: &DreamOutcome, rows: &BTreeMap<String, String>) -> Self {
        let Proposal { operation, text } = &judged.proposal;
        let refused = judged.refused.as_ref().map(mnemal::dream::Refusal::as_str);
        Self { refused, ..Self::of((operation, text), judged.event, rows) }
    }

    fn of(
        (operation, text): (&Operation, &str),
        event: Option<EventId>,
        rows: &BTreeMap<String, String>,
    ) -> Self {
        let (mut notes, mut into) = (operation.kind.names(), None);
        if let OperationKind::Retire { into: Some(_), .. } = operation.kind {
            into = notes.pop();
        }
        let mut claims = Vec::new();
        if let OperationKind::Claim { turn, claims: found } = &operation.kind {
            let said = rows.get(&turn.to_string()).map_or("", String::as_str);
            let words = |claim: &ClaimSpans| claim.value.of(said).unwrap_or_default().to_owned();
            claims.extend(found.iter().map(|claim| format!("{} {}", claim.predicate, words(claim))));
        }
        let tags = operation
            .kind
            .classification()
            .map(|classification| classification.tags.iter().map(ToString::to_string).collect());
        Self {
            event_id: event.map(|event| event.to_string()),
            operation: operation.kind.as_str(),
            by: operation.producer.id.clone(),
            because: operation.because.clone(),
            notes: notes.iter().map(ToString::to_string).collect(),
            into: into.map(|event| event.to_string()),
            entities: operation.kind.entities().iter().map(ToString::to_string).collect(),
            text: text.to_owned(),
            tags: tags.unwrap_or_default(),
            claims,
            refused: None,
        }
    }

    /// Formats the operation as a diff: removed, added and kept notes.
    fn lines(&self, rows: &BTreeMap<String, String>) -> Vec<String> {
        let said = |id: &String| rows.get(id).map_or_else(|| id.clone(), |text| text.replace('\n', " "));
        let id = self.event_id.as_deref().unwrap_or("would");
        let mut lines = vec![format!("{id} {}: {}", self.operation, self.because)];
        let sign = if matches!(self.operation, "merge" | "retire") { '-' } else { '=' };
        lines.extend(self.notes.iter().map(|id| format!("  {sign} {}", said(id))));
        lines.extend(self.into.iter().map(|id| format!("  = {}", said(id))));
        lines.extend(self.entities.iter().map(|id| format!("  ? {}", said(id))));
        if let (Some(event), [one, into]) = (&self.event_id, self.entities.as_slice()) {
            lines.push(format!("  one: `mnemal entity merge {one} {into}`; two: `mnemal undo {event}`"));
        }
        lines.extend((!self.text.is_empty()).then(|| format!("  + {}", self.text)));
        lines.extend(self.claims.iter().map(|claim| format!("  + {claim}")));
        lines.extend((!self.tags.is_empty()).then(|| format!("  # {}", self.tags.join(", "))));
        lines
    }
}

impl CycleForm {
    fn new(cycle: &DreamCycle, run: DreamMode, rows: &BTreeMap<String, String>) -> Self {
        Self {
            dry_run: run == DreamMode::Dry,
            live: cycle.live,
            archived: cycle.archived,
            created: cycle.created,
            changed: cycle.changed,
            waiting: cycle.waiting,
            ran: cycle.ran.clone(),
            skipped: cycle.skipped.clone(),
            failed: cycle.failed.clone(),
            findings: cycle.findings.iter().map(FindingForm::from).collect(),
            operations: cycle.accepted().map(|one| OperationForm::new(one, rows)).collect(),
            refused: cycle.refused().map(|one| OperationForm::new(one, rows)).collect(),
        }
    }

    fn page(&self, rows: &BTreeMap<String, String>) -> String {
        let mut lines: Vec<String> = self.operations.iter().flat_map(|one| one.lines(rows)).collect();
        let refused = self.refused.iter().map(|one| {
            format!("refused {} by {}: {}", one.operation, one.by, one.refused.unwrap_or_default())
        });
        lines.extend(refused);
        lines.extend(self.skipped.iter().map(|one| format!("skipped {one}")));
        lines.extend(self.failed.iter().map(|one| format!("failed {one}")));
        lines.extend(self.findings.iter().map(FindingForm::line));
        let done = if self.dry_run { "would be done" } else { "done" };
        let (operations, waiting) = (self.operations.len(), self.waiting);
        lines.push(format!("{} notes hold; {operations} operations {done}, {waiting} wait", self.live));
        lines.join("\n")
    }
}

/// An executed operation on notes.
#[derive(Serialize)]
struct ExecutedOperationForm {
    at: String,
    taken_back: bool,
    #[serde(flatten)]
    operation: OperationForm,
}

impl ExecutedOperationForm {
    fn lines(&self, rows: &BTreeMap<String, String>) -> Vec<String> {
        let mut lines = self.operation.lines(rows);
        let way_back = match &self.operation.event_id {
            _ if self.taken_back => Some("taken back".to_owned()),
            id => id.as_ref().map(|id| format!("`mnemal undo {id}` takes it back")),
        };
        lines.extend(way_back.map(|way| format!("  {way}")));
        if let Some(first) = lines.first_mut() {
            *first = format!("{}  {first}", self.at);
        }
        lines
    }
}

#[derive(Serialize)]
struct LogForm {
    cycles: Vec<LedgerLineForm>,
    operations: Vec<ExecutedOperationForm>,
    refused: Vec<LedgerLineForm>,
    left: Vec<LedgerLineForm>,
    audits: Vec<LedgerLineForm>,
    opinions: Vec<LedgerLineForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<String>,
}

#[derive(Serialize)]
struct LedgerLineForm {
    at: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    counts: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

impl From<LedgerLine> for LedgerLineForm {
    fn from(line: LedgerLine) -> Self {
        Self { at: line.at.to_string(), counts: line.counts, note: line.note }
    }
}

impl LedgerLineForm {
    fn line(&self) -> String {
        let counts = self.counts.iter().filter(|(_, count)| **count > 0);
        let counts: Vec<String> = counts.map(|(name, count)| format!("{name} {count}")).collect();
        let counts = if counts.is_empty() { String::new() } else { format!("  {}", counts.join(", ")) };
        let note = if self.note.is_empty() { String::new() } else { format!("  {}", self.note) };
        format!("{}{counts}{note}", self.at)
    }
}

async fn log(memory: &Memory, limit: usize, output: &Output) -> Result<u8> {
    let engine = memory.admin().engine();
    let lines = |lines: Vec<LedgerLine>| lines.into_iter().take(limit).map(LedgerLineForm::from).collect();
    let cycles: Vec<LedgerLineForm> = lines(engine.dream_ledger(LedgerKind::Cycle).await?);
    let refused: Vec<LedgerLineForm> = lines(engine.dream_ledger(LedgerKind::Refused).await?);
    let left: Vec<LedgerLineForm> = lines(engine.dream_ledger(LedgerKind::Left).await?);
    let audits: Vec<LedgerLineForm> = lines(engine.dream_ledger(LedgerKind::Audit).await?);
    let opinions: Vec<LedgerLineForm> = lines(engine.dream_ledger(LedgerKind::Opinion).await?);
    let paused = engine
        .dream_ledger(LedgerKind::Pause)
        .await?
        .into_iter()
        .map(|line| line.note)
        .find(|note| !note.is_empty());
    let rows = words(memory).await?;
    let operations = recent_operations(memory, limit, &rows).await?;
    let form = LogForm { cycles, operations, refused, left, audits, opinions, paused };
    output.list(&form.cycles, &form, || {
        let mut page: Vec<String> = form.cycles.iter().map(LedgerLineForm::line).collect();
        page.extend(form.operations.iter().flat_map(|one| one.lines(&rows)));
        page.extend(form.refused.iter().map(|line| format!("refused {}", line.line())));
        page.extend(form.left.iter().map(|line| format!("left alone {}", line.line())));
        page.extend(form.audits.iter().map(|line| format!("audit {}", line.line())));
        page.extend(form.opinions.iter().map(|line| format!("judged {}  {}", line.at, line.note)));
        page.extend(form.paused.iter().map(|why| format!("changes wait until `mnemal dream`: {why}")));
        page.join("\n")
    })?;
    Ok(0)
}
