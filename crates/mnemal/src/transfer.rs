//! Import of histories, and lossless export.

use std::collections::BTreeMap;
use std::io::{BufRead, Seek, Write};

use mnemal_core::{
    Decision, Degraded, EventKind, Gaps, Learning, LearningFilter, LearningStatus, Level, NoteKey,
    NoteTarget, Origin, Result, Timestamp, Within,
};
use mnemal_events::{
    ExportOutcome, Exporter, Form, Format, ImportBatch, ImportOptions, ImportOutcome, ImportPreview,
    Importer, OwnHistory, Position, Promotion, RestoreRecord, SkippedLine,
};
use mnemal_learnings::is_learned;

use crate::areas::{AdminHandle, EventsHandle};
use crate::audit::{AuditAct, AuditRecord};
use crate::memory::Memory;

/// Maximum number of skipped lines in a report; the rest is counted. Source: own choice, a readable list.
const LISTED: usize = 100;

/// The result of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportReport {
    /// The detected format; `None` before the first line.
    pub format: Option<Format>,
    /// Counts of its events.
    pub taken: ImportOutcome,
    /// Known events that were withdrawn, because the user had rewound the conversation to before them.
    pub withdrawn: u64,
    /// Known turns that were stored as external evidence, and now count as the user's own words.
    pub raised: u64,
    /// Keys with a newer known note than the imported one, which stays valid.
    pub older_keys: u64,
    /// Number of lines read.
    pub lines: u64,
    /// Number of bytes read.
    pub bytes: u64,
    /// Lines without an event, at most 100 malformed ones and 100 irrelevant ones.
    pub skipped: Vec<SkippedLine>,
    /// Number of all lines without an event.
    pub skipped_total: u64,
    /// Number of malformed ones among them.
    pub broken: u64,
    /// The unit of line numbers: `line`, or `record` of a JSON document.
    pub unit: &'static str,
}

impl ImportReport {
    fn of<R: BufRead>(importer: &Importer<R>) -> Self {
        Self { format: Some(importer.format()), unit: importer.unit(), ..Self::default() }
    }

    fn read(&mut self, batch: &ImportBatch) {
        self.lines = batch.lines.end.saturating_sub(1);
        self.bytes = batch.bytes_read;
        self.skipped_total += batch.skipped.len() as u64;
        self.broken += batch.skipped.iter().filter(|skipped| skipped.is_broken()).count() as u64;
        // Malformed lines have their own quota, so that irrelevant ones do not crowd them out.
        let of_kind = |is_broken: bool| batch.skipped.iter().filter(move |one| one.is_broken() == is_broken);
        for is_broken in [true, false] {
            let listed = self.skipped.iter().filter(|one| one.is_broken() == is_broken).count();
            let room = LISTED.saturating_sub(listed);
            self.skipped.extend(of_kind(is_broken).take(room).cloned());
        }
        self.skipped.sort_by_key(|one| one.line);
    }
}

impl Memory {
    /// Restores notes that are newer than the imported ones under the same key, and returns the number of keys. In the
    /// log, an import soon after a note looks like a delayed write of an older one, so the order is decided here.
    async fn keep_later(&self, keys: &BTreeMap<NoteKey, Timestamp>) -> Result<u64> {
        let mut kept = 0;
        if keys.is_empty() {
            return Ok(kept);
        }
        let filter = LearningFilter { keyed: Within::Only(true), ..LearningFilter::all() };
        for row in self.engine.notes(&filter).await.unwrap_or_default() {
            let Some(came) = row.key.as_ref().and_then(|key| keys.get(key)) else { continue };
            let is_later = row.status == LearningStatus::Active && row.occurred_at > *came;
            let has_come = row.occurred_at == *came;
            kept += u64::from(is_later || has_come && self.gives_way(&row).await?);
        }
        Ok(kept)
    }

    /// Archives an imported note if a newer one under its key exists: one that is restored, or one that was archived later and
    /// stays the last archived one; returns whether another note is valid.
    async fn gives_way(&self, row: &Learning) -> Result<bool> {
        let Some(key) = row.key.as_ref().filter(|key| !is_learned(key)) else { return Ok(false) };
        let versions = self.engine.history(key).await?;
        let of_level = || versions.iter().filter(|one| one.level == row.level);
        let is_later =
            |one: &&Learning| one.occurred_at > row.occurred_at && is_replaced_by(one, row, &versions);
        let was_put_away = |one: &&Learning| {
            one.verdict.is_some() && one.expired_at.is_some_and(|since| since > row.occurred_at)
        };
        let made = |note: &Learning| NoteTarget { key: None, sources: note.sources.clone() };
        let later = of_level().filter(is_later).max_by_key(|one| one.occurred_at);
        let away = of_level().filter(was_put_away).max_by_key(|one| (one.expired_at, one.version));
        let decisions = match (later, away) {
            (Some(later), _) => vec![Decision::Archive(made(row)), Decision::Restore(made(later))],
            (None, Some(away)) => {
                let again = match away.status {
                    LearningStatus::Rejected => Decision::Reject(made(away)),
                    _ => Decision::Archive(made(away)),
                };
                vec![Decision::Archive(made(row)), Decision::Restore(made(away)), again]
            }
            (None, None) => Vec::new(),
        };
        for decision in decisions {
            let _logged = Box::pin(self.facts().decide(decision)).await?;
        }
        Ok(later.is_some())
    }

    /// Returns options that import records for the user whose memory this is.
    fn own_options(&self, options: ImportOptions) -> Result<ImportOptions> {
        self.must_be_of(options.user.as_ref())?;
        let user = options.user.or_else(|| self.only_user().cloned());
        Ok(ImportOptions { user, ..options })
    }

    /// Stores a batch, and withdraws the events that it marks as rewound.
    async fn take(
        &self,
        mut batch: ImportBatch,
        highest: Level,
        (report, gaps): (&mut ImportReport, &mut Gaps),
    ) -> Result<()> {
        if batch.exact.is_some() {
            self.must_be_whole("an export of this program")?;
        }
        for event in &batch.events {
            self.must_be_of(event.user.as_ref())?;
        }
        report.read(&batch);
        let log = self.event_log()?;
        let withdrawn = log.with_promoted(&std::mem::take(&mut batch.withdrawn));
        let own = if highest == Level::User { batch.events.clone() } else { Vec::new() };
        let taken = gaps.merge(log.import(batch).await?);
        if taken.duplicates > 0 {
            let raised = log.promotion(own).await?;
            let again = gaps.merge(log.import(Promotion::batch(raised.events)).await?);
            report.raised += again.stored;
            self.withdraw(&raised.replaced, highest).await?;
        }
        report.taken.add(taken);
        report.withdrawn += self.withdraw(&withdrawn, highest).await?;
        Ok(())
    }
}

/// Whether a version gave way to a row, at once or by way of others: of two imported versions the first replaced it.
fn is_replaced_by(one: &Learning, row: &Learning, versions: &[Learning]) -> bool {
    let mut next = one.superseded_by;
    // No chain is longer than the history.
    for _ in versions {
        let Some(id) = next else { return false };
        if id == row.id {
            return true;
        }
        next = versions.iter().find(|version| version.id == id).and_then(|version| version.superseded_by);
    }
    false
}

impl EventsHandle<'_> {
    /// Imports a history as a stream and stores new events; `watch` is called after each batch.
    ///
    /// Imports are idempotent: each record's idempotency key contains its format, its own id and its content.
    ///
    /// # Errors
    /// `Invalid` for a file of unknown format, or in strict mode for the first malformed line, with its number; what was read
    /// before it is stored. `Unavailable` when the file or the store fails; run the import again.
    pub async fn import(
        self,
        reader: impl BufRead + Send,
        format: Format,
        options: ImportOptions,
        watch: &mut (dyn FnMut(&ImportReport) + Send),
    ) -> Result<Degraded<ImportReport>> {
        let options = self.memory.own_options(options)?;
        let highest = level(options.origin);
        let mut importer = Importer::new(reader, format, options, self.memory.engine.parts().key.clone())?;
        let mut report = ImportReport::of(&importer);
        let mut gaps = Gaps::default();
        let mut keys = BTreeMap::new();
        while let Some(batch) = importer.next_batch()? {
            note_keys(&batch, &mut keys);
            self.memory.take(batch, highest, (&mut report, &mut gaps)).await?;
            watch(&report);
        }
        for gap in self.memory.engine.fold().await {
            gaps.add(gap);
        }
        if report.taken.stored > 0 {
            report.older_keys = self.memory.keep_later(&keys).await?;
        }
        let act = AuditRecord::new(AuditAct::Import, Origin::Import).space(&self.memory.scope.space);
        self.memory
            .engine
            .audit(&act.count("events", report.taken.stored).count("skipped", report.skipped_total))?;
        Ok(gaps.attach(report))
    }

    /// Previews an import: reads a history as [`import`](Self::import) does, and returns the expected result and the quality of
    /// the records; nothing is stored. Several files can be previewed in sequence: duplicates are detected across them.
    ///
    /// # Errors
    /// As [`import`](Self::import).
    pub async fn preview_import(
        self,
        reader: impl BufRead + Send,
        format: Format,
        options: ImportOptions,
        (preview, watch): (&mut ImportPreview, &mut (dyn FnMut(&ImportReport) + Send)),
    ) -> Result<Degraded<ImportReport>> {
        let options = self.memory.own_options(options)?;
        let log = self.memory.event_log()?;
        let mut importer = Importer::new(reader, format, options, self.memory.engine.parts().key.clone())?;
        let mut report = ImportReport::of(&importer);
        let mut gaps = Gaps::default();
        let before = preview.taken.clone();
        while let Some(batch) = importer.next_batch()? {
            report.read(&batch);
            gaps.merge(log.dry_run(batch, preview).await?);
            report.taken = preview.taken.since(&before);
            watch(&report);
        }
        Ok(gaps.attach(report))
    }

    /// Imports the part of a growing file after a position; `watch` receives the position to continue from after each stored
    /// batch.
    ///
    /// For a transcript of Claude Code the cost depends on the new part, not on the length of the file; others are parsed from
    /// their start. A file that shrank or was replaced is read from its
    /// start: nothing is stored twice, so a lost position costs only time. An unfinished last line is left for the next call.
    ///
    /// # Errors
    /// As [`import`](Self::import).
    pub async fn follow(
        self,
        mut reader: impl BufRead + Seek + Send,
        position: Position,
        (format, options): (Format, ImportOptions),
        watch: &mut (dyn FnMut(&ImportReport, Position) + Send),
    ) -> Result<Degraded<ImportReport>> {
        let options = self.memory.own_options(options)?;
        let highest = level(options.origin);
        let key = &self.memory.engine.parts().key;
        let mut importer = Importer::behind(&mut reader, position, format, options.clone(), key.clone())?;
        let mut report = ImportReport::of(&importer);
        let mut gaps = Gaps::default();
        while let Some(batch) = importer.next_batch()? {
            self.memory.take(batch, highest, (&mut report, &mut gaps)).await?;
            watch(&report, importer.position(report.bytes)?);
        }
        if importer.lacks_beginning() {
            // The conversation was rewound to before the position.
            let start = Position::default();
            let mut whole = Importer::behind(&mut reader, start, format, options, key.clone())?;
            while let Some(batch) = whole.next_batch()? {
                let mut again = ImportReport::default();
                self.memory.take(batch, highest, (&mut again, &mut gaps)).await?;
                report.withdrawn += again.withdrawn;
            }
        }
        Ok(gaps.attach(report))
    }
}

impl AdminHandle<'_> {
    /// Exports everything that is not derived, losslessly: events, decisions, tombstones; two exports of one state are identical.
    ///
    /// # Errors
    /// `Conflict` when something was erased meanwhile, `Unavailable` when the writer or the store fails.
    pub async fn export(self, out: &mut (dyn Write + Send)) -> Result<ExportOutcome> {
        self.export_as(Form::Lines, out).await
    }

    /// Exports as [`export`](Self::export), as lines or as one JSON document.
    ///
    /// # Errors
    /// As [`export`](Self::export).
    pub async fn export_as(self, form: Form, out: &mut (dyn Write + Send)) -> Result<ExportOutcome> {
        self.memory.must_be_whole("an export")?;
        let parts = self.memory.engine.parts();
        let settings = crate::builder::log_settings(&parts.settings);
        let exporter = Exporter::new(
            self.memory.engine.events()?,
            self.memory.scope.space.clone(),
            parts.key.clone(),
            &settings,
        );
        let written = exporter.write(form, out).await?;
        self.memory.engine.note_copy("export", "exp", written.events).await;
        let act = AuditRecord::new(AuditAct::Export, Origin::UserDirect).space(&self.memory.scope.space);
        self.memory.engine.audit(&act.count("events", written.events))?;
        Ok(written)
    }
}

/// Collects the keys of a batch's notes, with the time of the newest note of each.
fn note_keys(batch: &ImportBatch, keys: &mut BTreeMap<NoteKey, Timestamp>) {
    let exact = batch.exact.iter().flat_map(|exact| &exact.records).filter_map(|record| match record {
        RestoreRecord::Event { event, .. } => Some(event.as_ref()),
        _ => None,
    });
    for event in exact.chain(&batch.events) {
        let EventKind::Decision(Decision::Remember(note)) = &event.kind else { continue };
        let Some(key) = note.key.clone() else { continue };
        let said = keys.entry(key).or_insert(event.occurred_at);
        *said = (*said).max(event.occurred_at);
    }
}

/// Returns the maximum level of events that an import may withdraw: an import as evidence withdraws nothing that the user said.
fn level(origin: OwnHistory) -> Level {
    match origin {
        OwnHistory::No => Level::External,
        OwnHistory::Unsaid => Level::Agent,
        OwnHistory::Yes | OwnHistory::Captured => Level::User,
    }
}
