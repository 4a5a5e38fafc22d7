//! Synthetic histories of other programs: large ones read in little memory, and small ones whose reader is killed repeatedly
//! until all of them are imported exactly once.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use mnemal::events::{Cursor, ImportReport, LinePolicy};
use mnemal::{Engine, EventFilter, ImportFormat, ImportOptions, Memory, Scope, SpaceId};
use serde::Serialize;
use serde_json::{Value, json};

use super::verdict::Fault;
use super::{Order, Report};
use crate::cpu::{own_bytes, peak_bytes};
use crate::words::{Dice, Words};

/// The word that makes `torture` a process that reads a history.
pub const READ_IN: &str = "read-in";
/// The formats, in this order: `--first` names the first one.
const FORMATS: [ImportFormat; 12] = [
    ImportFormat::ChatGpt,
    ImportFormat::Claude,
    ImportFormat::Mem0,
    ImportFormat::McpMemory,
    ImportFormat::MemoryMd,
    ImportFormat::Obsidian,
    ImportFormat::LangChain,
    ImportFormat::OpenAi,
    ImportFormat::ClaudeCode,
    ImportFormat::Neutral,
    ImportFormat::Mnemal,
    ImportFormat::RockBot,
];
/// Bytes of a text. Source: own choice, from a remark to a page, so that 200 MB are some 30,000 of them.
const TEXT: (usize, usize) = (200, 13_800);
/// Turns of one conversation, where conversations are records.
const TURNS: usize = 40;
/// Bytes of a history whose reader is killed.
const SMALL: u64 = 3_000_000;
/// Kills of each reader of a small history; then it may finish.
const KILLS: u64 = 12;
/// Longest time of a reader before it is killed.
const WORK: Duration = Duration::from_millis(900);
/// Memory limit of an import, in bytes. Source: the target of the product.
const MOST_MEMORY: u64 = 100_000_000;
/// Most time for what was read to be folded. Source: as the command line.
const FOLDING: Duration = Duration::from_mins(10);
const MEGABYTE: u64 = 1_000_000;
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// The results of the histories.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HistoryReport {
    /// The common part of every program's report; its runs are formats.
    #[serde(flatten)]
    pub report: Report,
    /// By format.
    pub formats: BTreeMap<&'static str, LargeHistory>,
}

/// How a large history was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LargeHistory {
    /// Bytes of the file, or of the files of the folder.
    pub bytes: u64,
    /// Events that were stored.
    pub stored: u64,
    /// The most memory of the process that was ever resident, in millions of bytes.
    pub peak_mb: u64,
    /// The most of it that was its own between two batches, in millions of bytes; the rest are pages of the program and of files.
    pub own_mb: u64,
    /// Duration.
    pub seconds: u64,
}

impl HistoryReport {
    /// Whether nothing went wrong, and every large history was read in the memory that it may take.
    pub fn is_clean(&self) -> bool {
        self.report.is_clean() && self.formats.values().all(|one| one.peak_mb * MEGABYTE < MOST_MEMORY)
    }
}

/// Reads a history into a space and says in one line of JSON what came of it; arguments are the space, the file or folder, the
/// format.
///
/// # Errors
/// A space or a file that cannot be opened, a history that cannot be read.
pub fn read_in(arguments: &[String]) -> Result<()> {
    let [space, file, format] = arguments else { anyhow::bail!("{READ_IN} needs SPACE, FILE and FORMAT") };
    let format = ImportFormat::from_name(format).context("no such format")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let said = runtime.block_on(async {
        let memory = open(Path::new(space)).await?;
        let (mut stored, mut twice, mut own) = (0, 0, 0);
        for file in files(Path::new(file))? {
            let reader = BufReader::with_capacity(1 << 18, File::open(&file)?);
            let name = file.display().to_string();
            let options = ImportOptions {
                lenient: LinePolicy::No,
                ..ImportOptions::new(name, memory.admin().engine().now())
            };
            let mut watch = |_: &ImportReport| own = own.max(own_bytes().unwrap_or(u64::MAX));
            let taken = memory.events().import(reader, format, options, &mut watch).await?.value.taken;
            (stored, twice) = (stored + taken.stored, twice + taken.duplicates);
        }
        let gaps = memory.admin().engine().fold_within(FOLDING).await;
        ensure!(gaps.is_empty(), "not everything was folded: {gaps:?}");
        memory.admin().engine().close().await?;
        Ok(json!({"stored": stored, "duplicates": twice, "peak": peak_bytes()?, "own": own}))
    })?;
    let mut out = std::io::stdout().lock();
    Ok(writeln!(out, "{said}")?)
}

/// Returns a file, or the files of a folder by their names.
fn files(of: &Path) -> Result<Vec<PathBuf>> {
    if !of.is_dir() {
        return Ok(vec![of.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(of)? {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}

async fn open(space: &Path) -> Result<Memory> {
    let engine = Engine::builder().open(space).await?;
    Ok(engine.memory(Scope::whole(SpaceId::new("space")?)))
}

/// Runs the program: `order.runs` is the size of a large history in millions of bytes, `order.first` the format to begin with.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<HistoryReport> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let mut taken = HistoryReport { report: Report::of("taking", order), ..HistoryReport::default() };
    let mut dice = Dice::new(order.seed);
    let first = usize::try_from(order.first)?;
    for format in FORMATS.into_iter().skip(first) {
        if start.elapsed() >= order.time {
            break;
        }
        let home = tempfile::tempdir()?;
        let desk = FormatReader { home: home.path(), program: &order.program, format };
        let large = desk.large(order.runs * MEGABYTE, &mut dice)?;
        taken.formats.insert(format.as_str(), large);
        desk.killed(&mut taken.report, &mut dice)?;
        taken.report.runs += 1;
    }
    taken.report.seconds = start.elapsed().as_secs_f64();
    Ok(taken)
}

/// Where one format is read.
struct FormatReader<'d> {
    home: &'d Path,
    program: &'d Path,
    format: ImportFormat,
}

impl FormatReader<'_> {
    /// Reads a large history at once.
    fn large(&self, bytes: u64, dice: &mut Dice) -> Result<LargeHistory> {
        let file = self.made("large", bytes, dice)?;
        #[expect(clippy::disallowed_methods, reason = "how long it took is told, and nothing depends on it")]
        let start = Instant::now();
        let said = self.reader("large.db", &file).output()?;
        ensure!(said.status.success(), "{}: {}", self.format.as_str(), String::from_utf8_lossy(&said.stderr));
        let said: Value = serde_json::from_slice(&said.stdout)?;
        let number = |name: &str| said.get(name).and_then(Value::as_u64).context("a reader says numbers");
        let mut bytes = 0;
        for file in files(&file)? {
            bytes += fs::metadata(&file)?.len();
            fs::remove_file(file)?;
        }
        Ok(LargeHistory {
            bytes,
            stored: number("stored")?,
            peak_mb: number("peak")? / MEGABYTE,
            own_mb: number("own")? / MEGABYTE,
            seconds: start.elapsed().as_secs(),
        })
    }

    /// Reads a small history in peace, and again with a reader that is killed; both spaces must hold the same.
    fn killed(&self, report: &mut Report, dice: &mut Dice) -> Result<()> {
        let name = self.format.as_str();
        let file = self.made("small", SMALL, dice)?;
        let calm = self.finished("calm.db", &file)?;
        ensure!(calm > 0, "{name}: nothing was stored");
        for _ in 0..KILLS {
            let mut child = self.reader("killed.db", &file).stdout(Stdio::null()).spawn()?;
            let until = WORK.mul_f64(dice.unit());
            #[expect(clippy::disallowed_methods, reason = "a process that is killed at a moment of chance")]
            std::thread::sleep(until);
            let ended = child.try_wait()?.is_some();
            child.kill()?;
            child.wait()?;
            report.count(if ended { "readers that were done before" } else { "kills" }, 1);
        }
        self.finished("killed.db", &file)?;
        if self.finished("killed.db", &file)? > 0 {
            report.blame(Fault::Doubled, format_args!("{name}: one more import stores something"));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (whole, other) = runtime.block_on(async {
            Ok::<_, anyhow::Error>((
                contents(&self.home.join("calm.db")).await?,
                contents(&self.home.join("killed.db")).await?,
            ))
        })?;
        for (text, count) in &whole {
            match other.get(text).copied().unwrap_or_default() {
                found if found < *count => {
                    report.blame(Fault::Lost, format_args!("{name}: {} of {count}", count - found));
                }
                found if found > *count => {
                    report.blame(Fault::Doubled, format_args!("{name}: {} more of {count}", found - count));
                }
                _ => {}
            }
        }
        report.count("events", whole.values().sum());
        Ok(())
    }

    /// Lets a reader finish; returns how much it stored.
    fn finished(&self, space: &str, file: &Path) -> Result<u64> {
        let said = self.reader(space, file).output()?;
        let name = self.format.as_str();
        ensure!(said.status.success(), "{name}: {}", String::from_utf8_lossy(&said.stderr));
        let said: Value = serde_json::from_slice(&said.stdout)?;
        said.get("stored").and_then(Value::as_u64).context("a reader says numbers")
    }

    fn reader(&self, space: &str, file: &Path) -> Command {
        let mut command = Command::new(self.program);
        command.arg(READ_IN).arg(self.home.join(space)).arg(file).arg(self.format.as_str());
        command.stdin(Stdio::null());
        command
    }

    /// Writes a history of this format.
    fn made(&self, name: &str, bytes: u64, dice: &mut Dice) -> Result<PathBuf> {
        match self.format {
            ImportFormat::Mnemal => self.exported(name, bytes, dice),
            ImportFormat::RockBot => self.folder(name, bytes, dice),
            _ => self.file(name, bytes, dice),
        }
    }

    fn file(&self, name: &str, bytes: u64, dice: &mut Dice) -> Result<PathBuf> {
        let file = self.home.join(format!("{name}.{}", ending(self.format)));
        let mut out = BufWriter::new(File::create(&file)?);
        let (before, between, after) = frame(self.format);
        write!(out, "{before}")?;
        let (mut written, mut number) = (0, 0);
        while written < bytes {
            let record = record(self.format, &mut number, dice);
            write!(out, "{}{record}", if written > 0 { between } else { "" })?;
            written += record.len() as u64;
        }
        write!(out, "{after}")?;
        out.flush()?;
        Ok(file)
    }

    /// Writes a folder of files with one record each.
    fn folder(&self, name: &str, bytes: u64, dice: &mut Dice) -> Result<PathBuf> {
        let folder = self.home.join(name);
        fs::create_dir(&folder)?;
        let (mut written, mut number) = (0, 0);
        while written < bytes {
            let record = record(self.format, &mut number, dice);
            fs::write(folder.join(format!("{number:08}.json")), &record)?;
            written += record.len() as u64;
        }
        Ok(folder)
    }

    /// Writes our own export of a history.
    fn exported(&self, name: &str, bytes: u64, dice: &mut Dice) -> Result<PathBuf> {
        let neutral = FormatReader { format: ImportFormat::Neutral, ..*self };
        let (source, space) = (neutral.made("source", bytes, dice)?, format!("{name}-source.db"));
        neutral.finished(&space, &source)?;
        fs::remove_file(source)?;
        let file = self.home.join(format!("{name}-export.jsonl"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let memory = open(&self.home.join(space)).await?;
            let mut out = BufWriter::new(File::create(&file)?);
            let _done = memory.admin().export(&mut out).await?;
            memory.admin().engine().close().await?;
            Ok::<_, anyhow::Error>(out.flush()?)
        })?;
        Ok(file)
    }
}

/// Returns how often a space holds each text, by its hash.
async fn contents(space: &Path) -> Result<BTreeMap<[u8; 32], u64>> {
    let memory = open(space).await?;
    let (mut found, mut after) = (BTreeMap::new(), Cursor::START);
    loop {
        let page = memory.events().scan(&EventFilter::live(), after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Cursor(Some(last.seq));
        for kept in page.iter().filter_map(mnemal::Event::body) {
            *found.entry(*blake3::hash(kept.content.as_bytes()).as_bytes()).or_default() += 1;
        }
    }
    memory.admin().engine().close().await?;
    Ok(found)
}

fn ending(format: ImportFormat) -> &'static str {
    match format {
        ImportFormat::MemoryMd | ImportFormat::Obsidian => "md",
        ImportFormat::ChatGpt | ImportFormat::Claude | ImportFormat::Mem0 | ImportFormat::LangChain => "json",
        _ => "jsonl",
    }
}

/// The text before, between and after the records of a file.
fn frame(format: ImportFormat) -> (&'static str, &'static str, &'static str) {
    match format {
        ImportFormat::ChatGpt | ImportFormat::Claude | ImportFormat::LangChain => ("[", ",\n", "]\n"),
        ImportFormat::Mem0 => ("{\"results\": [", ",\n", "]}\n"),
        ImportFormat::MemoryMd => ("# Memory\n\n## User\n\n", "\n", "\n"),
        ImportFormat::Obsidian => ("---\ntags: [garden]\n---\n# Notes\n\n", "\n", "\n"),
        _ => ("", "\n", "\n"),
    }
}

/// Makes the next record; `number` counts texts.
fn record(format: ImportFormat, number: &mut usize, dice: &mut Dice) -> String {
    let first = *number;
    let mut turn = || {
        *number += 1;
        (*number, text(*number, dice))
    };
    match format {
        ImportFormat::ChatGpt => tree(first, &mut turn),
        ImportFormat::Claude => {
            let messages: Vec<Value> = (0..TURNS)
                .map(|_| {
                    let (n, text) = turn();
                    let sender = if n % 2 == 0 { "assistant" } else { "human" };
                    json!({"uuid": format!("m{n}"), "text": text, "content": [{"type": "text", "text": text}],
                        "sender": sender, "created_at": "2025-05-04T08:00:05Z", "attachments": [], "files": []})
                })
                .collect();
            json!({"uuid": format!("c{first}"), "name": "talk", "created_at": "2025-05-04T08:00:00Z",
                "chat_messages": messages})
            .to_string()
        }
        ImportFormat::Mem0 => {
            let (n, text) = turn();
            json!({"id": format!("f{n}"), "memory": text, "categories": ["garden"], "user_id": "petra",
                "created_at": "2025-03-01T09:00:00Z"})
            .to_string()
        }
        ImportFormat::RockBot => {
            let (n, text) = turn();
            json!({"id": format!("r{n}"), "content": text, "category": "garden", "tags": ["bulbs"],
                "importance": 0.5, "createdAt": "2025-03-01T09:00:00Z"})
            .to_string()
        }
        ImportFormat::McpMemory => {
            let (n, text) = turn();
            json!({"type": "entity", "name": format!("Thing {n}"), "entityType": "thing", "observations": [text]})
                .to_string()
        }
        ImportFormat::MemoryMd | ImportFormat::Obsidian => format!("- {}", turn().1),
        ImportFormat::LangChain => {
            let (n, text) = turn();
            let kind = if n % 2 == 0 { "ai" } else { "human" };
            json!({"type": kind, "data": {"content": text, "type": kind, "id": format!("m{n}")}}).to_string()
        }
        ImportFormat::ClaudeCode => {
            let (n, text) = turn();
            let who = if n % 2 == 0 { "assistant" } else { "user" };
            let content = if n % 2 == 0 { json!([{"type": "text", "text": text}]) } else { json!(text) };
            json!({"type": who, "uuid": format!("u{n}"), "parentUuid": null, "sessionId": "s", "cwd": "/home",
                "timestamp": "2025-05-04T08:00:05Z", "message": {"role": who, "content": content}})
            .to_string()
        }
        ImportFormat::OpenAi => {
            let (n, text) = turn();
            let role = if n % 2 == 0 { "assistant" } else { "user" };
            json!({"role": role, "content": text}).to_string()
        }
        _ => {
            let (n, text) = turn();
            json!({"id": n.to_string(), "conv": "c", "session": format!("s{}", n / TURNS), "speaker": "Ada",
                "ts": "2025-05-04T08:00:05", "text": text})
            .to_string()
        }
    }
}

/// Makes a conversation of `ChatGPT`, whose messages are a tree.
fn tree(first: usize, turn: &mut dyn FnMut() -> (usize, String)) -> String {
    let mut mapping = serde_json::Map::new();
    mapping.insert("r".to_owned(), json!({"id": "r", "message": null, "parent": null, "children": []}));
    let mut parent = "r".to_owned();
    for _ in 0..TURNS {
        let (n, text) = turn();
        let (id, role) = (format!("m{n}"), if n % 2 == 0 { "assistant" } else { "user" });
        let message = json!({
            "id": id, "author": {"role": role}, "create_time": 1_735_725_600 + n,
            "content": {"content_type": "text", "parts": [text]}, "recipient": "all",
        });
        let node = json!({"id": id, "message": message, "parent": parent, "children": []});
        mapping.insert(id.clone(), node);
        parent = id;
    }
    json!({"id": format!("c{first}"), "conversation_id": format!("c{first}"), "title": "talk",
        "create_time": 1_735_725_600 + first, "mapping": mapping, "current_node": parent})
    .to_string()
}

fn text(number: usize, dice: &mut Dice) -> String {
    let (words, most) = (Words::default(), TEXT.0 + dice.below(TEXT.1));
    let mut text = format!("Note {number} says");
    while text.len() < most {
        text.push(' ');
        text.push_str(&words.draw(dice));
    }
    text.push('.');
    text
}

#[cfg(test)]
mod tests {
    use mnemal_events::detect;

    use super::*;

    #[test]
    fn every_history_is_told_by_its_bytes() {
        let home = tempfile::tempdir().unwrap();
        for format in FORMATS.into_iter().filter(|format| *format != ImportFormat::Mnemal) {
            let desk = FormatReader { home: home.path(), program: Path::new("none"), format };
            let file = desk.made("MEMORY", 20_000, &mut Dice::new(1)).unwrap();
            let name = if format == ImportFormat::Obsidian { "note.md" } else { file.to_str().unwrap() };
            let first = &files(&file).unwrap()[0];
            assert_eq!(detect(&fs::read(first).unwrap(), name).unwrap(), format);
        }
    }
}
