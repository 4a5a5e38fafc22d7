//! `mnemal import`, and `mnemal log add -`.

mod sources;

use std::collections::BTreeMap;
use std::io::BufRead;
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use mnemal::events::{ExpectedSpeaker, ImportPreview, ImportReport, LinePolicy, OwnHistory, RecordQuality};
use mnemal::types::Layer;
use mnemal::{Engine, ImportFormat, ImportOptions, Memory, Scope, SessionId, Within};
use serde::Serialize;

use crate::args::{self, Global, Import, LogAdd};
use crate::output::Output;
use crate::paths::SpacePaths;
use crate::{config, encryption, failure, wire};

/// Time limit for learning from the imported events; the rest is folded on demand. Source: own default.
const READING: Duration = Duration::from_mins(10);
/// Time limit for graph and summaries, which a running server folds instead. Source: own default; 100,000 short turns.
const KNOWING: Duration = Duration::from_mins(1);
/// Interval of the spinner. Source: own choice.
const TICK: Duration = Duration::from_millis(120);

/// Maximum number of skipped lines in a report; the rest is counted. Source: own choice, a readable list.
const LISTED: usize = 100;

/// Speakers listed by a dry run. Source: own choice, one screen.
const SPEAKERS: usize = 20;

/// Imports a file, or the files of a folder, into the space; with `--dry-run` previews the result.
pub(super) async fn run(global: &Global, call: &Import, output: &Output) -> Result<u8> {
    let memory =
        if call.dry_run { rehearsal(global, output).await? } else { super::open_one(global, output).await? };
    let mut rehearsal = ImportPreview::default();
    let (mut files, mut told, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let found = sources::of(&call.path, format(call.format))?;
    let is_one = !call.path.is_dir() && !found.is_packed;
    for source in found.sources {
        let name = source.name.clone();
        let mut reader = match source.reader {
            Ok(reader) => reader,
            Err(error) if is_one => return Err(error),
            Err(error) => {
                told.push(UnreadFile { file: name, why: format!("{error:#}") });
                continue;
            }
        };
        // An archive also contains account files without any history.
        if !is_one && call.format == args::ImportFormat::Auto && is_other(&mut reader, &name) {
            others.push(name);
            continue;
        }
        let source = InputFile { name: name.clone(), reader, bytes: source.bytes };
        match one(&memory, call, source, (&mut rehearsal, output)).await {
            Ok(report) => files.push((name, report)),
            // In a folder, an unreadable file is reported; alone it is an error.
            Err(error) if !is_one && is_unknown(&error) => {
                told.push(UnreadFile { file: name, why: format!("{error:#}") });
            }
            Err(error) => return Err(error),
        }
    }
    let mut gaps: Vec<mnemal::Gap> = Vec::new();
    let mut reports: Vec<(String, ImportReport)> = Vec::new();
    for (name, report) in files {
        let new: Vec<_> = report.gaps.into_iter().filter(|gap| !gaps.contains(gap)).collect();
        gaps.extend(new);
        reports.push((name, report.value));
    }
    if !call.dry_run {
        gaps.retain(|gap| gap.layer != Layer::Learnings);
        let bar = progress(None, output).with_message("reading what was said");
        bar.enable_steady_tick(TICK);
        gaps.extend(memory.admin().engine().fold_within(READING).await);
        let left = memory.admin().engine().read_within(KNOWING).await;
        gaps.extend(left.into_iter().filter(|gap| gap.layer != Layer::Learnings));
        bar.finish_and_clear();
    }
    let owner = owner_of(global).await;
    let mut form = form(&reports, &gaps);
    form.unread = told;
    form.others = others;
    form.rehearsal = call.dry_run.then(|| rehearsed(&rehearsal, &owner));
    output.answer(&form, || text(&form, if call.dry_run { "would have " } else { "" }))?;
    // Our own export records the origin of each event.
    let is_of_others = reports.iter().any(|(_, report)| report.format != Some(ImportFormat::Mnemal));
    let is_of_agent = |report: &ImportReport| {
        matches!(report.format, Some(ImportFormat::MemoryMd | ImportFormat::RockBot))
            && report.taken.stored > 0
    };
    if !call.own_history && !call.of_others && reports.iter().any(|(_, report)| is_of_agent(report)) {
        output.say(
            "what MEMORY.md or RockBot's files remember counts as your own agent's: it is marked where it says something of you; import it with --own-history if you confirm it, with --of-others if it is not yours; `mnemal forget --session NAME` takes a file back",
        );
    } else if !call.own_history && form.stored > 0 && is_of_others {
        output.say(
            "what was said counts as other people's words: nothing is learnt of you from them; import it again with --own-history if it is your own",
        );
    }
    let code = code(&form, &reports, (call, output));
    let code = if code == 0 { super::gaps(&gaps, global, output) } else { code };
    super::checkpoint(global, &memory, Ok(code)).await
}

/// Returns the exit code: unreadable input is a failure, although everything else is stored.
fn code(form: &ImportForm, reports: &[(String, ImportReport)], (call, output): (&Import, &Output)) -> u8 {
    if reports.is_empty() {
        output.talk(
            "error: nothing of it is a history that can be read; `mnemal import --help` tells the formats",
        );
        return failure::USAGE;
    }
    if !form.unread.is_empty() {
        return failure::USAGE;
    }
    if let Some(refused) = form.refused.first().filter(|_| !call.lenient) {
        output.talk(&format!(
            "error: {} record(s) could not be stored; the first is {}: {}; with --lenient this is no failure",
            form.refused.len(),
            refused.record,
            refused.why
        ));
        return failure::USAGE;
    }
    if form.broken == 0 || call.lenient {
        return 0;
    }
    let is_broken = |skip: &&SkipForm| skip.is_broken;
    let first = form
        .skipped
        .iter()
        .find(is_broken)
        .map(|skip| format!("; the first is {} {}: {}", skip.unit, skip.line, skip.why));
    output.talk(&format!(
        "error: {} part(s) could not be read, and the rest is stored{}; with --lenient this is no failure",
        form.broken,
        first.unwrap_or_default()
    ));
    failure::USAGE
}

/// A file being read.
struct InputFile {
    name: String,
    reader: Box<dyn BufRead + Send>,
    bytes: Option<u64>,
}

/// Whether the first bytes of a file match no known format.
fn is_other(reader: &mut Box<dyn BufRead + Send>, name: &str) -> bool {
    // Read errors are reported by the import itself.
    reader.fill_buf().is_ok_and(|first| {
        mnemal::events::import_format(first, name).is_err() && !encryption::is_sealed(first)
    })
}

/// Imports one file.
async fn one(
    memory: &Memory,
    call: &Import,
    source: InputFile,
    (rehearsal, output): (&mut ImportPreview, &Output),
) -> Result<mnemal::types::Degraded<ImportReport>> {
    let options = ImportOptions {
        origin: match (call.own_history, call.of_others) {
            (true, _) => OwnHistory::Yes,
            (_, true) => OwnHistory::No,
            _ => OwnHistory::Unsaid,
        },
        // Malformed lines do not stop the import; the exit code reports them.
        lenient: LinePolicy::Yes,
        conv: call.conv.clone().map_or(Within::All, Within::Only),
        zone: crate::time::here(memory.admin().engine().now()),
        ..ImportOptions::new(source.name, memory.admin().engine().now())
    };
    let reader = encryption::opened(source.reader, &options.source, call.identity.as_deref())?;
    let bar = progress(source.bytes, output);
    let mut watch = |report: &ImportReport| bar.set_position(report.bytes);
    let format = format(call.format);
    let read = if call.dry_run {
        memory.events().preview_import(reader, format, options, (rehearsal, &mut watch)).await
    } else {
        memory.events().import(reader, format, options, &mut watch).await
    };
    bar.finish_and_clear();
    Ok(read?)
}

fn is_unknown(error: &anyhow::Error) -> bool {
    error.downcast_ref::<mnemal::Error>().is_some_and(|error| error.kind() == mnemal::ErrorKind::Invalid)
}

/// Reads messages from stdin into one conversation.
pub(super) async fn messages(memory: &Memory, global: &Global, call: &LogAdd, output: &Output) -> Result<u8> {
    let session: SessionId = super::log::session_of(call.session.clone())?;
    let options = ImportOptions {
        origin: OwnHistory::Yes,
        session: Some(session),
        zone: crate::time::here(memory.admin().engine().now()),
        ..ImportOptions::new("stdin", memory.admin().engine().now())
    };
    let report =
        memory.events().import(super::stdin(global)?, ImportFormat::OpenAi, options, &mut |_| ()).await?;
    let form = form(&[("stdin".to_owned(), report.value)], &report.gaps);
    output.answer(&form, || text(&form, ""))?;
    Ok(super::gaps(&report.gaps, global, output))
}

/// Opens the space itself for comparison; if it does not exist, an empty one in memory.
async fn rehearsal(global: &Global, output: &Output) -> Result<Memory> {
    let place = SpacePaths::find(global)?;
    if place.exists(global).await? {
        return super::open_one(global, output).await;
    }
    let engine = Engine::builder().with_settings(config::read(global)?).in_memory()?;
    Ok(engine.memory(Scope::whole(place.space)))
}

fn format(of: args::ImportFormat) -> ImportFormat {
    match of {
        args::ImportFormat::Auto => ImportFormat::Auto,
        args::ImportFormat::Jsonl => ImportFormat::Mnemal,
        args::ImportFormat::Neutral => ImportFormat::Neutral,
        args::ImportFormat::Openai => ImportFormat::OpenAi,
        args::ImportFormat::ClaudeCode => ImportFormat::ClaudeCode,
        args::ImportFormat::Chatgpt => ImportFormat::ChatGpt,
        args::ImportFormat::Claude => ImportFormat::Claude,
        args::ImportFormat::McpMemory => ImportFormat::McpMemory,
        args::ImportFormat::Mem0 => ImportFormat::Mem0,
        args::ImportFormat::MemoryMd => ImportFormat::MemoryMd,
        args::ImportFormat::Obsidian => ImportFormat::Obsidian,
        args::ImportFormat::Rockbot => ImportFormat::RockBot,
        args::ImportFormat::Langchain => ImportFormat::LangChain,
        args::ImportFormat::Codex => ImportFormat::Codex,
        args::ImportFormat::GeminiCli => ImportFormat::GeminiCli,
        args::ImportFormat::GeminiTakeout => ImportFormat::GeminiTakeout,
        args::ImportFormat::ClaudeMem => ImportFormat::ClaudeMem,
        args::ImportFormat::Letta => ImportFormat::Letta,
        args::ImportFormat::Zep => ImportFormat::Zep,
        args::ImportFormat::Cogx => ImportFormat::Cogx,
        args::ImportFormat::Hindsight => ImportFormat::Hindsight,
    }
}

fn progress(bytes: Option<u64>, output: &Output) -> ProgressBar {
    if !output.is_watched() {
        return ProgressBar::hidden();
    }
    if let Some(bytes) = bytes {
        let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta}");
        ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    } else {
        let style = ProgressStyle::with_template("{spinner} {msg}  {elapsed}");
        ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
    }
}

#[derive(Serialize)]
struct ImportForm {
    format: &'static str,
    files: usize,
    lines: u64,
    bytes: u64,
    stored: u64,
    duplicates: u64,
    /// Known turns that now count as the user's own words.
    raised: u64,
    /// Known events that were withdrawn, because the user had rewound the conversation.
    withdrawn: u64,
    /// Keys with a newer known note than the imported one, which stays valid.
    older_keys: u64,
    forgotten: u64,
    empty: u64,
    redactions: u64,
    quarantined: u64,
    skipped: Vec<SkipForm>,
    skipped_total: u64,
    /// Number of malformed ones among them.
    broken: u64,
    /// Files that contain no event.
    nothing: Vec<String>,
    /// Other files of an archive, without history.
    others: Vec<String>,
    #[serde(skip)]
    unit: &'static str,
    refused: Vec<RefusalForm>,
    unread: Vec<UnreadFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rehearsal: Option<DryRunForm>,
    gaps: Vec<wire::GapForm>,
}

#[derive(Serialize)]
struct SkipForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip)]
    unit: &'static str,
    line: u64,
    why: String,
    #[serde(skip)]
    is_broken: bool,
}

#[derive(Serialize)]
struct RefusalForm {
    record: String,
    why: String,
}

/// A file of a folder without a matching format, or with a malformed line in strict mode.
#[derive(Serialize)]
struct UnreadFile {
    file: String,
    why: String,
}

/// The result of a dry run.
#[derive(Serialize)]
struct DryRunForm {
    first: Option<String>,
    last: Option<String>,
    sessions: usize,
    quality: BTreeMap<&'static str, QualityForm>,
    /// Records that would be quarantined, by rule.
    held_back: BTreeMap<String, u64>,
    /// Speakers, most frequent first.
    speakers: Vec<SpeakerForm>,
    /// Records of further speakers.
    other_speakers: u64,
}

#[derive(Serialize)]
struct SpeakerForm {
    name: String,
    records: u64,
    /// Attribution of the speaker: the `user`, a person with this `name`, an `other` person, the `assistant`, a `tool`, or
    /// `nobody`.
    whose: &'static str,
}

/// Attributions of speakers, each with its text.
const WHOSE: [(&str, &str); 6] = [
    ("user", "your words"),
    ("name", "words of people by their names, which are no orders"),
    ("other", "somebody else's words"),
    ("assistant", "assistant"),
    ("tool", "tool"),
    ("nobody", "nobody's words"),
];

/// Returns the configured speaker names of the space's owner.
async fn owner_of(global: &Global) -> Vec<String> {
    let named = async {
        let place = SpacePaths::find(global).ok()?;
        Some(super::spaces(global).await.ok()?.entry(&place.space).await.ok()?.owner)
    };
    named.await.unwrap_or_default()
}

#[derive(Serialize)]
struct QualityForm {
    records: u64,
    empty: u64,
    held_back: u64,
    copies: u64,
    alike: u64,
    echoes: u64,
    with_secret: u64,
    /// Share of worthless records.
    junk_share: f64,
}

fn rehearsed(rehearsal: &ImportPreview, owner: &[String]) -> DryRunForm {
    let speaking = mnemal::events::expected_speakers(rehearsal, owner);
    let form = |one: ExpectedSpeaker| SpeakerForm { name: one.name, records: one.records, whose: one.whose };
    let shares = |quality: &RecordQuality| QualityForm {
        records: quality.records,
        empty: quality.empty,
        held_back: quality.held_back,
        copies: quality.copies,
        alike: quality.alike,
        echoes: quality.echoes,
        with_secret: quality.with_secret,
        junk_share: quality.junk() as f64 / quality.records.max(1) as f64,
    };
    DryRunForm {
        first: rehearsal.first.map(|at| at.to_string()),
        last: rehearsal.last.map(|at| at.to_string()),
        sessions: rehearsal.sessions(),
        quality: rehearsal.quality.iter().map(|(role, quality)| (role.as_str(), shares(quality))).collect(),
        held_back: rehearsal.rules.clone(),
        other_speakers: rehearsal.other_speakers
            + speaking.iter().skip(SPEAKERS).map(|one| one.records).sum::<u64>(),
        speakers: speaking.into_iter().take(SPEAKERS).map(form).collect(),
    }
}

fn form(reports: &[(String, ImportReport)], gaps: &[mnemal::Gap]) -> ImportForm {
    let mut taken = mnemal::events::ImportOutcome::default();
    let (mut lines, mut bytes, mut skipped_total) = (0, 0, 0);
    let (mut raised, mut withdrawn, mut older_keys) = (0, 0, 0);
    let (mut skipped, mut broken, mut nothing) = (Vec::new(), 0, Vec::new());
    for (name, report) in reports {
        taken.add(report.taken.clone());
        lines += report.lines;
        bytes += report.bytes;
        skipped_total += report.skipped_total;
        raised += report.raised;
        withdrawn += report.withdrawn;
        older_keys += report.older_keys;
        broken += report.broken;
        let of = &report.taken;
        let given = of.stored + of.duplicates + of.forgotten + of.empty + of.refused.len() as u64;
        if given + report.skipped_total == 0 {
            nothing.push(name.clone());
        }
        let file = (reports.len() > 1).then(|| name.clone());
        let room = LISTED.saturating_sub(skipped.len());
        // Malformed lines are listed before irrelevant ones.
        let (broken_ones, others): (Vec<_>, Vec<_>) = report.skipped.iter().partition(|one| one.is_broken());
        let listed = broken_ones.into_iter().chain(others);
        skipped.extend(listed.take(room).map(|one| SkipForm {
            file: file.clone(),
            unit: report.unit,
            line: one.line,
            why: one.why.to_string(),
            is_broken: one.is_broken(),
        }));
    }
    let mut formats = reports.iter().map(|(_, report)| report.format.map_or("auto", ImportFormat::as_str));
    let format = formats.next().unwrap_or("auto");
    ImportForm {
        format: if formats.all(|other| other == format) { format } else { "several" },
        files: reports.len(),
        lines,
        bytes,
        stored: taken.stored,
        duplicates: taken.duplicates,
        raised,
        withdrawn,
        older_keys,
        forgotten: taken.forgotten,
        empty: taken.empty,
        redactions: taken.redactions,
        quarantined: taken.quarantined,
        skipped,
        skipped_total,
        broken,
        nothing,
        others: Vec::new(),
        unit: reports.first().map_or("line", |(_, report)| report.unit),
        refused: taken
            .refused
            .iter()
            .map(|one| RefusalForm { record: one.record.clone(), why: one.why.clone() })
            .collect(),
        unread: Vec::new(),
        rehearsal: None,
        gaps: wire::gaps(gaps),
    }
}

fn text(form: &ImportForm, would: &str) -> String {
    let unit = form.unit;
    let mut lines = vec![format!(
        "{would}imported {} events from {} {unit}s ({}); {} were known already",
        form.stored, form.lines, form.format, form.duplicates
    )];
    for (count, what) in [
        (form.raised, "known turns count as your own words from now on"),
        (form.withdrawn, "known events were taken back: their person went on from before them"),
        (form.older_keys, "keys hold something here that was said later, and keep it"),
        (form.redactions, "secrets were replaced"),
        (form.quarantined, "events are held back by a rule"),
        (form.forgotten, "events were forgotten here and stay away"),
        (form.empty, "records have no text"),
    ] {
        if count > 0 {
            lines.push(format!("  {count} {what}"));
        }
    }
    lines.extend(form.rehearsal.iter().flat_map(format_quality));
    for refused in &form.refused {
        lines.push(format!("  not stored: {}: {}", refused.record, refused.why));
    }
    for unread in &form.unread {
        lines.push(format!("  not read: {}: {}", unread.file, unread.why));
    }
    for name in &form.nothing {
        lines.push(format!("  nothing is in it: {name}"));
    }
    if !form.others.is_empty() {
        lines.push(format!("  left alone, because they hold no history: {}", form.others.join(", ")));
    }
    for skip in &form.skipped {
        let file = skip.file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default();
        lines.push(format!("  {file}{} {}: {}", skip.unit, skip.line, skip.why));
    }
    let more = form.skipped_total.saturating_sub(form.skipped.len() as u64);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    lines.join("\n")
}

/// Formats the quality of the records, one line per aspect.
fn format_quality(rehearsal: &DryRunForm) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(first), Some(last)) = (&rehearsal.first, &rehearsal.last) {
        lines.push(format!("  from {first} to {last}, in {} conversations", rehearsal.sessions));
    }
    for (role, part) in &rehearsal.quality {
        lines.push(format!(
            "  {role}: {} records, {:.1} % worth nothing: {} copies, {} that differ in numbers alone, {} echoes, {} held back, {} empty; {} with a secret",
            part.records,
            part.junk_share * 100.0,
            part.copies,
            part.alike,
            part.echoes,
            part.held_back,
            part.empty,
            part.with_secret,
        ));
    }
    for (rule, count) in &rehearsal.held_back {
        lines.push(format!("  held back by {rule}: {count}"));
    }
    if !rehearsal.speakers.is_empty() {
        for (whose, title) in WHOSE {
            let of = rehearsal.speakers.iter().filter(|one| one.whose == whose);
            let names: Vec<String> = of.map(|one| format!("{} {}", one.name, one.records)).collect();
            if !names.is_empty() {
                lines.push(format!("  {title}: {}", names.join(", ")));
            }
        }
        if rehearsal.other_speakers > 0 {
            lines.push(format!("  of other speakers: {}", rehearsal.other_speakers));
        }
    }
    lines
}
