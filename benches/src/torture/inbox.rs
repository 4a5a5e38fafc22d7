//! Files that are dropped into an inbox while the process that reads them is killed.
//!
//! Before every kill four files come: notes of one to some dozen chunks, now and then one that is broken, or the same bytes
//! under another name. At the end one process is let finish. Then every file must lie in `processed`, with each of its chunks
//! in the log once and in order, or in `failed` with a file that says why.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use mnemal::events::{Cursor, DocumentReader, FILE, FolderInbox, FolderOptions};
use mnemal::ports::{Clock as _, Inbox as _, SystemClock};
use mnemal::{Engine, EventFilter, Memory, Scope, SpaceId};

use super::verdict::Fault;
use super::{Order, Report};
use crate::words::{Dice, Words};

/// The word that makes `torture` a process that reads an inbox.
pub const TAKE: &str = "take";
/// Files for each kill. Source: 200 files and 50 kills.
const FILES: u64 = 4;
/// Longest time between the moment at which a process is open and its end.
const WORK: Duration = Duration::from_millis(120);
/// Longest time between the start of a process and a kill that shall meet it while it opens.
const OPENING: Duration = Duration::from_millis(60);
/// Time after which a process counts as hanging.
const PATIENCE: Duration = Duration::from_mins(2);
/// Time between two looks of a process that has nothing to do.
const PAUSE: Duration = Duration::from_millis(20);
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Reads an inbox until it is killed; arguments are the file of the space and the folder.
///
/// # Errors
/// A space that cannot be opened, an inbox that cannot be read.
pub fn take(arguments: &[String]) -> Result<()> {
    let [space, folder] = arguments else { anyhow::bail!("{TAKE} needs SPACE and FOLDER") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let memory = open(Path::new(space)).await?;
        let inbox = inbox(Path::new(folder));
        say("open")?;
        loop {
            let _done = memory.admin().engine().take_from(&inbox, PATIENCE).await?;
            let standing = inbox.counts().await?;
            if standing.waiting + standing.claimed == 0 {
                say("idle")?;
            }
            #[expect(clippy::disallowed_methods, reason = "a process that is killed while it waits")]
            tokio::time::sleep(PAUSE).await;
        }
    })
}

fn say(word: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{word}\n").as_bytes())?;
    Ok(out.flush()?)
}

async fn open(space: &Path) -> Result<Memory> {
    let engine = Engine::builder().open(space).await?;
    Ok(engine.memory(Scope::whole(SpaceId::new("space")?)))
}

fn inbox(folder: &Path) -> FolderInbox {
    let types = vec!["md".to_owned(), "json".to_owned()];
    // Files arrive complete, by a rename, so there is no wait for their end.
    let options =
        FolderOptions { types, reader: DocumentReader::default(), quiet: Duration::ZERO, processed: None };
    FolderInbox::new(folder, options, Arc::new(SystemClock::default()))
}

/// Runs the program.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let home = tempfile::tempdir()?;
    let clock = SystemClock::default();
    let began = clock.monotonic();
    let now = move || clock.monotonic().saturating_sub(began);
    let mut scene = Scene {
        space: home.path().join("space.db"),
        folder: home.path().join("inbox"),
        program: order.program.clone(),
        dice: Dice::new(order.seed ^ order.first.wrapping_mul(0x9e37_79b9)),
        report: Report::of("inbox", order),
        files: BTreeMap::new(),
    };
    fs::create_dir_all(&scene.folder)?;
    while scene.report.runs < order.runs && now() < order.time {
        for _ in 0..FILES {
            scene.drop_file()?;
        }
        scene.live()?;
        scene.report.runs += 1;
    }
    scene.finish()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(scene.judge())?;
    scene.report.seconds = now().as_secs_f64();
    Ok(scene.report)
}

/// A space, its inbox, and what was put into it.
struct Scene {
    space: PathBuf,
    folder: PathBuf,
    program: PathBuf,
    dice: Dice,
    report: Report,
    /// Name and text of every file.
    files: BTreeMap<String, String>,
}

/// A process that reads, and what it says.
struct Reader {
    child: Child,
    words: Receiver<String>,
}

impl Reader {
    fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Scene {
    /// Puts a file into the inbox, whole.
    fn drop_file(&mut self) -> Result<()> {
        let number = self.files.len();
        let (name, text) = match self.dice.below(12) {
            0 => (format!("{number:04}.json"), format!("{{\"broken\": {number}")),
            1 => {
                let known: Vec<&String> = self.files.values().collect();
                let copy = known.get(self.dice.below(known.len())).map(|text| (*text).clone());
                let text = copy.filter(|text| is_note(text)).unwrap_or_else(|| self.note(number));
                (format!("{number:04}.md"), text)
            }
            _ => (format!("{number:04}.md"), self.note(number)),
        };
        let draft = self.folder.join(".draft");
        fs::write(&draft, &text)?;
        fs::rename(draft, self.folder.join(&name))?;
        self.files.insert(name, text);
        Ok(())
    }

    fn note(&mut self, number: usize) -> String {
        let words = Words::default();
        let mut text = format!("# Note {number}\n\n");
        for _ in 0..self.dice.below(60) {
            for _ in 0..5 + self.dice.below(80) {
                text.push_str(&words.draw(&mut self.dice));
                text.push(' ');
            }
            text.push_str("\n\n");
        }
        text
    }

    fn start(&self) -> Result<Reader> {
        let mut command = Command::new(&self.program);
        command.arg(TAKE).arg(&self.space).arg(&self.folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let out = BufReader::new(child.stdout.take().context("a process has an output")?);
        let (give, words) = channel();
        #[expect(clippy::disallowed_methods, reason = "it waits for the pipe and ends with it")]
        let _reader = std::thread::spawn(move || {
            for line in out.lines().map_while(std::result::Result::ok) {
                if give.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Reader { child, words })
    }

    /// One process from its start to its end.
    fn live(&mut self) -> Result<()> {
        let reader = self.start()?;
        if self.dice.below(8) == 0 {
            self.report.count("kills while opening", 1);
            let _word = reader.words.recv_timeout(OPENING.mul_f64(self.dice.unit()));
            return reader.kill();
        }
        if reader.words.recv_timeout(PATIENCE).is_err() {
            self.report.blame(Fault::Panic, format_args!("a new process does not open the space"));
            return reader.kill();
        }
        let what = match reader.words.recv_timeout(WORK.mul_f64(self.dice.unit())) {
            Err(_) => "kills while reading",
            Ok(_) => "kills while idle",
        };
        self.report.count(what, 1);
        reader.kill()
    }

    /// Lets a process read what is left.
    fn finish(&mut self) -> Result<()> {
        let reader = self.start()?;
        let is_idle = |reader: &Reader| {
            let mut words = std::iter::from_fn(|| reader.words.recv_timeout(PATIENCE).ok());
            words.any(|word| word == "idle")
        };
        if !is_idle(&reader) {
            self.report.blame(Fault::Panic, format_args!("the last process does not finish"));
        }
        reader.kill()
    }

    /// Compares folders and log with what was put in.
    async fn judge(&mut self) -> Result<()> {
        let (waiting, claimed) = (names(&self.folder)?, names(&self.folder.join(".claimed"))?);
        for name in waiting.iter().chain(&claimed) {
            self.report.blame(Fault::Lost, format_args!("{name} was never put away"));
        }
        let (processed, failed) =
            (names(&self.folder.join("processed"))?, names(&self.folder.join("failed"))?);
        let documents = self.documents().await?;
        let mut texts = BTreeSet::new();
        for (name, text) in &self.files {
            let is_done = processed.contains(name);
            let is_failed = failed.contains(name) && failed.contains(&format!("{name}.reason.txt"));
            let fault = match (is_done, is_failed) {
                (true, true) => Some((Fault::Doubled, "lies in two folders")),
                (false, false) => {
                    Some((Fault::Lost, "lies in none of the folders, or failed without a reason"))
                }
                (true, false) if !is_note(text) => Some((Fault::SilentWrong, "is broken and was taken")),
                (true, false) if !documents.iter().any(|(_, said)| said == text) => {
                    Some((Fault::Lost, "was taken and its text is not whole in the log"))
                }
                _ => None,
            };
            if is_done {
                texts.insert(text.clone());
            }
            let given_up = u64::from(is_failed && is_note(text));
            self.report.count("files given up after five times", given_up);
            if let Some((fault, what)) = fault {
                self.report.blame(fault, format_args!("{name} {what}"));
            }
        }
        let mut seen = BTreeSet::new();
        for (file, said) in &documents {
            if !seen.insert(said.clone()) {
                self.report.blame(Fault::Doubled, format_args!("the text of {file} is in the log twice"));
            }
        }
        self.report.count("files", self.files.len() as u64);
        self.report.count("files processed", processed.len() as u64);
        self.report.count("files failed with a reason", failed.len() as u64 / 2);
        self.report.count("texts", texts.len() as u64);
        Ok(())
    }

    /// Returns file and text of every document in the log, put together from its chunks.
    async fn documents(&mut self) -> Result<Vec<(String, String)>> {
        let memory = open(&self.space).await?;
        let mut documents: BTreeMap<String, (String, Vec<(usize, String)>)> = BTreeMap::new();
        let mut after = Cursor::START;
        loop {
            let page = memory.events().scan(&EventFilter::live(), after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            for event in page.iter().filter_map(mnemal::Event::body) {
                let said = |name: &str| event.metadata.get(name).cloned().unwrap_or_default();
                // That a file has the text of another one is no text.
                if !event.metadata.contains_key("chunk") {
                    continue;
                }
                let number = said("chunk").split('/').next().and_then(|number| number.parse().ok());
                let number: usize = number.context("a chunk has a number")?;
                let chunks = documents.entry(said("document")).or_insert_with(|| (said(FILE), Vec::new()));
                chunks.1.push((number, event.content.clone()));
            }
        }
        let check = memory.admin().engine().check().await?;
        for finding in &check.findings {
            self.report.blame(Fault::Corrupt, format_args!("{finding}"));
        }
        let mut whole = Vec::new();
        for (file, mut chunks) in documents.into_values() {
            self.report.count("chunks", chunks.len() as u64);
            chunks.sort();
            let numbers: BTreeSet<usize> = chunks.iter().map(|(number, _)| *number).collect();
            if numbers.len() != chunks.len() {
                self.report.blame(Fault::Doubled, format_args!("a chunk of {file} is in the log twice"));
            }
            whole.push((file, chunks.into_iter().map(|(_, text)| text).collect()));
        }
        ensure!(!whole.is_empty() || self.files.is_empty(), "nothing was stored at all");
        Ok(whole)
    }
}

/// Whether a text is a note and not a broken file.
fn is_note(text: &str) -> bool {
    text.starts_with('#')
}

/// Returns the names of the files of a folder that are not hidden.
fn names(folder: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && !name.starts_with('.') {
            names.insert(name);
        }
    }
    Ok(names)
}
