//! Audit runner: collects the inputs, and stores the state for the next audit.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    ErrorKind, EventId, EventStore, Learning, LearningStatus, LedgerKind, LedgerLine, Result, Slot, Timestamp,
};

use crate::audit::{
    Audit, AuditCounts, AuditedNote, Finding, InspectionCounts, NoteState, Rank, RefusalCounts, Severity,
};
use crate::cycle::Cycle;
use crate::dreamer::{Dreamer, line, since};
use crate::history::History;
use crate::note::{is_note, maker};

/// Least time between two audits. Source: AD-51, one audit a day.
const AUDIT: Duration = Duration::from_hours(24);
/// Time after which an unchanged warning is reported again. Source: AD-51, weekly.
const AGAIN: Duration = Duration::from_hours(7 * 24);
/// Retention of audit counts. Source: AD-51, more than a year.
const KEPT: Duration = Duration::from_hours(400 * 24);
/// Period over which refused merges are counted. Source: AD-51, a week.
const WEEK: Duration = Duration::from_hours(7 * 24);
/// Consecutive runs with the same refusal that make it a finding. Source: RockBot `memory-audit.md`, three runs.
const REPEATED: u64 = 3;
/// Events per read. Source: own default; the largest batch that an append accepts.
const PAGE: usize = 1_000;

/// Ledger number: whether a known note was live.
const HELD: &str = "held";
/// Ledger number: in how many consecutive runs a proposal was refused.
pub(crate) const TIMES: &str = "times";
/// Ledger number: whether a refusal concerns a merge.
pub(crate) const MERGE: &str = "merge";
const LIVE: &str = "live";
const DEEP: &str = "deep";
const COPIES: &str = "copies";
/// Separator of reported finding names.
const COMMA: &str = ", ";

/// Checks the parts of a space beyond the notes.
#[async_trait]
pub trait Inspector: std::fmt::Debug + Send + Sync + 'static {
    /// Counts the defects.
    ///
    /// # Errors
    /// `Unavailable` when a part does not answer; then the audit is skipped.
    async fn inspect(&self) -> Result<InspectionCounts>;
}

impl Dreamer {
    /// Runs the daily audit of the notes, if it is due; returns the state for the next one.
    pub(crate) async fn audit(
        &self,
        rows: &[Learning],
        history: &History,
        refused: &[LedgerLine],
        cycle: &mut Cycle,
    ) -> Result<Vec<LedgerLine>> {
        let before = self.ledger_lines(LedgerKind::Audit).await?;
        // A concurrent cycle may have begun later and ended earlier; a time further ahead comes from a wrong clock.
        let is_near = |last: Timestamp| since(last, cycle.at).max(since(cycle.at, last)) < AUDIT;
        if before.first().is_some_and(|line| is_near(line.at)) {
            return Ok(Vec::new());
        }
        let inspected = match &self.parts().inspector {
            Slot::Filled(inspector) => inspector.inspect().await,
            Slot::Empty => Ok(InspectionCounts::default()),
        };
        let inspected = match inspected {
            Ok(inspected) => inspected,
            Err(error) => {
                cycle.failed.push(format!("audit: {}", error.kind().as_str()));
                return Ok(Vec::new());
            }
        };
        let known: Vec<AuditedNote> =
            self.ledger_lines(LedgerKind::Known).await?.iter().filter_map(audited_note).collect();
        let audit = Audit {
            at: cycle.at,
            rows,
            known: &known,
            explained: &history.explained,
            operations: &history.operations,
            events: &ranks(self.parts().events.as_ref(), rows).await?,
            before: before.first().map(counts_of),
            refused: refusals(refused, cycle.at),
            inspected,
        };
        let found = audit.findings();
        let now = audit.counts();
        let mut counts: BTreeMap<String, u64> =
            found.iter().map(|finding| (finding.name.to_owned(), finding.rows)).collect();
        let own = [(LIVE, now.live), (DEEP, now.deep), (COPIES, now.copies)];
        counts.extend(own.map(|(name, count)| (name.to_owned(), count)));
        cycle.findings = found.into_iter().filter(|finding| is_news(finding, &before, cycle.at)).collect();
        let reported: Vec<&str> = cycle.findings.iter().map(|finding| finding.name).collect();
        let key = format!("{:020}", cycle.at.as_micros());
        let note = reported.join(COMMA);
        let mut lines = vec![LedgerLine { counts, note, ..line(LedgerKind::Audit, &key, cycle.at) }];
        lines.extend(rows.iter().filter(|row| is_note(row)).filter_map(|row| known_line(row, cycle.at)));
        if let Slot::Filled(ledger) = &self.parts().ledger {
            ledger.sweep(LedgerKind::Known, Timestamp::MAX).await?;
            let kept = i64::try_from(KEPT.as_micros()).unwrap_or(i64::MAX);
            ledger.sweep(LedgerKind::Audit, cycle.at.plus_micros(-kept)).await?;
        }
        Ok(lines)
    }
}

/// Whether to report a finding: an alert always, a warning when it changes, and once a week.
fn is_news(finding: &Finding, before: &[LedgerLine], at: Timestamp) -> bool {
    let count = |line: &LedgerLine| line.counts.get(finding.name).copied();
    let is_changed = before.first().and_then(count) != Some(finding.rows);
    let told = before.iter().find(|line| line.note.split(COMMA).any(|name| name == finding.name));
    let is_told = told.is_some_and(|line| line.at <= at && since(line.at, at) < AGAIN);
    finding.severity == Severity::Alert || is_changed || !is_told
}

/// Returns level and trust of the rows' source events; events missing in this log are left out.
async fn ranks(events: &dyn EventStore, rows: &[Learning]) -> Result<BTreeMap<EventId, Rank>> {
    let mut ids: Vec<EventId> =
        rows.iter().flat_map(|row| row.sources.iter().map(|source| source.event)).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut ranks = BTreeMap::new();
    for page in ids.chunks(PAGE) {
        let mut found = Vec::with_capacity(page.len());
        match events.get(page).await {
            Ok(all) => found = all,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                for id in page {
                    match events.get(std::slice::from_ref(id)).await {
                        Ok(one) => found.extend(one),
                        Err(error) if error.kind() == ErrorKind::NotFound => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        let rank = found.iter().map(|event| (event.id, Rank { level: event.level, trust: event.trust }));
        ranks.extend(rank);
    }
    Ok(ranks)
}

fn refusals(lines: &[LedgerLine], at: Timestamp) -> RefusalCounts {
    let number = |line: &LedgerLine, name: &str| line.counts.get(name).copied().unwrap_or_default();
    let newest = lines.iter().map(|line| line.at).max();
    let is_standing = |line: &&LedgerLine| Some(line.at) == newest && number(line, TIMES) >= REPEATED;
    let is_merge = |line: &&LedgerLine| number(line, MERGE) > 0 && since(line.at, at) <= WEEK;
    RefusalCounts {
        repeatedly: lines.iter().filter(is_standing).count() as u64,
        merges: lines.iter().filter(is_merge).count() as u64,
    }
}

fn counts_of(line: &LedgerLine) -> AuditCounts {
    let number = |name: &str| line.counts.get(name).copied().unwrap_or_default();
    AuditCounts { at: line.at, live: number(LIVE), deep: number(DEEP), copies: number(COPIES) }
}

fn known_line(row: &Learning, at: Timestamp) -> Option<LedgerLine> {
    let held = u64::from(row.status == LearningStatus::Active);
    let counts = BTreeMap::from([(HELD.to_owned(), held)]);
    Some(LedgerLine { hash: maker(row)?.0, counts, ..line(LedgerKind::Known, &row.id.to_string(), at) })
}

fn audited_note(line: &LedgerLine) -> Option<AuditedNote> {
    let held = line.counts.get(HELD).is_some_and(|held| *held > 0);
    let state = if held { NoteState::Held } else { NoteState::Away };
    Some(AuditedNote { id: line.key.parse().ok()?, maker: EventId(line.hash), state })
}
