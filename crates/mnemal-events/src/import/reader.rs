//! The import reader: reads ahead and returns batches in file order.

use std::collections::{HashSet, VecDeque};
use std::io::{BufRead, Chain, Cursor, Read, Seek, SeekFrom};

use mnemal_core::{Error, ErrorKind, EventId, InstallationKey, Result};

use super::claude_code::ClaudeCode;
use super::codex::Codex;
use super::detect::{DETECT_BYTES, detect, elements, has_end};
use super::gemini::{self, GeminiCli};
use super::line::{LineError, Lines};
use super::markdown::Markdown;
use super::native::NativeImporter;
use super::openai::OpenAi;
use super::parse_time::TimeParser;
use super::turn::{Turn, Turns};
use super::{
    Format, ImportBatch, ImportOptions, LinePolicy, OwnHistory, Position, SkipCause, SkippedLine, chatgpt,
    claude, json, memories, neutral, stores, takeout,
};
use crate::log::{RestoreBatch, RestoreRecord};

/// Longest line of a foreign format; a longer record is skipped. Source: own choice.
const LONGEST_LINE: usize = 1024 * 1024;
/// Longest line of our own export. Source: the longest event with every character escaped, 6 × 256 KiB, and metadata.
const LONGEST_OWN_LINE: usize = 4 * 1024 * 1024;
/// Longest record of a JSON document. Source: own choice, a conversation with twenty thousand long turns; it is held twice
/// while it is read.
const LONGEST_RECORD: usize = 64 * 1024 * 1024;
/// Events in a batch; more only if one line gives them. Source: the limit of one append; it fills an index block, which then is
/// never merged, and each index page is written half as often as with 500.
const BATCH: usize = crate::limit::LARGEST_BATCH;
/// Bytes of text after which a batch ends. Source: measured; on its way into the file a batch takes eleven times its text, most
/// of it as terms.
const BATCH_BYTES: usize = 1024 * 1024;
/// Lines after which a batch ends. Source: own choice; a file without events still reports progress.
const BATCH_LINES: u64 = 10_000;
/// Events read ahead to find the earliest time of a conversation. Source: own choice.
const AHEAD: usize = 2_000;
/// Bytes read ahead. Source: two batches, a fraction of the 100 MB that an import may take.
const AHEAD_BYTES: usize = 2 * 1024 * 1024;

/// Bytes before a position that are read again to learn the parents of new entries. Source: the longest line and some short
/// ones, so that the preceding entry is always known.
const LOOK_BACK: u64 = 1024 * 1024 + 64 * 1024;

/// Reason for a message on a branch that the user abandoned.
pub(super) const OTHER_BRANCH: &str = "a message of another branch";

/// Reads a file into batches of events, in bounded memory.
#[derive(Debug)]
pub struct Importer<R> {
    lines: Lines<Chain<Cursor<Vec<u8>>, R>>,
    format: Format,
    dialect: Dialect,
    options: ImportOptions,
    turns: Turns,
    moments: TimeParser,
    ahead: VecDeque<(LinePosition, Record)>,
    ahead_bytes: usize,
    skipped: VecDeque<SkippedLine>,
    /// Events that were returned, now or in an earlier run, and were withdrawn afterwards.
    withdrawn: Vec<EventId>,
    lacks_beginning: bool,
    /// The line after the last returned one, and its byte offset.
    handed: LinePosition,
    /// Whether the last lines are counted, or the input has ended.
    is_counted: bool,
    /// Lines before this byte were imported earlier: they are read for threads only.
    fresh_from: u64,
    /// Start of a last line that is still being written.
    unfinished: Option<u64>,
    ended: bool,
    failure: Option<Error>,
}

/// A line number with the byte offset of its end.
#[derive(Clone, Copy, Debug)]
struct LinePosition {
    line: u64,
    end: u64,
}

#[derive(Debug)]
enum Record {
    New(Box<Turn>),
    Exact(Box<RestoreRecord>),
}

#[derive(Debug)]
enum Dialect {
    Mnemal(NativeImporter),
    Neutral,
    OpenAi(OpenAi),
    ClaudeCode(ClaudeCode),
    ChatGpt,
    Claude,
    McpMemory,
    Mem0,
    RockBot,
    LangChain(OpenAi),
    Codex(Codex),
    GeminiCli(GeminiCli),
    GeminiTakeout,
    ClaudeMem,
    Letta(OpenAi),
    Zep,
    Cogx(OpenAi),
    Hindsight,
    Markdown(Markdown),
}

impl Dialect {
    fn of(format: Format, options: &ImportOptions) -> Self {
        match format {
            Format::Auto | Format::Mnemal => Self::Mnemal(NativeImporter::default()),
            Format::Neutral => Self::Neutral,
            Format::OpenAi => Self::OpenAi(OpenAi::default()),
            Format::ClaudeCode => Self::ClaudeCode(ClaudeCode::default()),
            Format::ChatGpt => Self::ChatGpt,
            Format::Claude => Self::Claude,
            Format::McpMemory => Self::McpMemory,
            Format::Mem0 => Self::Mem0,
            Format::RockBot => Self::RockBot,
            Format::LangChain => Self::LangChain(OpenAi::default()),
            Format::Codex => Self::Codex(Codex::default()),
            Format::GeminiCli => Self::GeminiCli(GeminiCli::default()),
            Format::GeminiTakeout => Self::GeminiTakeout,
            Format::ClaudeMem => Self::ClaudeMem,
            Format::Letta => Self::Letta(OpenAi::default()),
            Format::Zep => Self::Zep,
            Format::Cogx => Self::Cogx(OpenAi::default()),
            Format::Hindsight => Self::Hindsight,
            // The sessions of an agent stand beside its memory, as messages.
            Format::MemoryMd if has_end(&options.source, "jsonl") => Self::OpenAi(OpenAi::default()),
            Format::MemoryMd | Format::Obsidian => Self::Markdown(Markdown::new(format, &options.source)),
        }
    }
}

impl<R: BufRead + Seek> Importer<R> {
    /// Opens a growing file at a position; from its start if it shrank or became another file.
    ///
    /// The part before the position is read again, so that new entries find their parents; of a transcript of Claude Code a
    /// bounded one. Line numbers count from where reading starts.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn behind(
        mut reader: R,
        position: Position,
        format: Format,
        options: ImportOptions,
        key: InstallationKey,
    ) -> Result<Self> {
        let same = Position::at(&mut reader, position.offset, &key).map_err(unreadable)?;
        let fresh_from = if same == Some(position) { position.offset } else { 0 };
        // In the other dialects the beginning of a file names the conversation, and a record is named by its number.
        let base = if format == Format::ClaudeCode { fresh_from.saturating_sub(LOOK_BACK) } else { 0 };
        reader.seek(SeekFrom::Start(base)).map_err(unreadable)?;
        let mut importer = Self::new(reader, format, options, key)?;
        importer.lines = importer.lines.starting_at(base);
        importer.handed.end = fresh_from;
        importer.fresh_from = fresh_from;
        Ok(importer)
    }

    /// Returns the position after the returned batches, of which the last one read up to `offset`.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be read.
    pub fn position(&mut self, offset: u64) -> Result<Position> {
        let key = self.turns.key().clone();
        let at = Position::at(self.lines.reader().get_mut().1, offset, &key).map_err(unreadable)?;
        Ok(at.unwrap_or_default())
    }
}

impl<R: BufRead> Importer<R> {
    /// Opens a file; inspects the first 64 KiB.
    ///
    /// # Errors
    /// `Invalid` when the format is [`Format::Auto`] and none, or more than one, fits; `Unavailable` when the file
    /// cannot be read.
    pub fn new(mut reader: R, format: Format, options: ImportOptions, key: InstallationKey) -> Result<Self> {
        let mut head = Vec::new();
        reader.by_ref().take(DETECT_BYTES as u64).read_to_end(&mut head).map_err(unreadable)?;
        let format = match format {
            Format::Auto => detect(&head, &options.source)?,
            named => named,
        };
        let elements = elements(format, &head);
        let is_page = format == Format::GeminiTakeout && elements.is_none();
        let longest = match format {
            Format::Mnemal => LONGEST_OWN_LINE,
            _ if elements.is_some() => LONGEST_RECORD,
            Format::ChatGpt | Format::Claude => LONGEST_RECORD,
            _ => LONGEST_LINE,
        };
        let lines = Lines::new(Cursor::new(head).chain(reader), longest);
        Ok(Self {
            lines: match elements {
                Some(elements) => lines.of_document(elements),
                None if is_page => lines.of_page(takeout::MARK),
                None => lines,
            },
            dialect: Dialect::of(format, &options),
            format,
            turns: Turns::new(format, &options, key),
            moments: TimeParser::new(&options.zone),
            options,
            ahead: VecDeque::new(),
            ahead_bytes: 0,
            skipped: VecDeque::new(),
            withdrawn: Vec::new(),
            lacks_beginning: false,
            handed: LinePosition { line: 1, end: 0 },
            fresh_from: 0,
            unfinished: None,
            ended: false,
            failure: None,
            is_counted: false,
        })
    }

    /// Returns the format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether a file must be read from its start instead of its position: an abandoned branch begins before the part that was
    /// read.
    pub fn lacks_beginning(&self) -> bool {
        self.fresh_from > 0 && self.lacks_beginning
    }

    /// Returns the unit of line numbers: `line`, or `record` of a JSON document.
    pub fn unit(&self) -> &'static str {
        self.lines.unit()
    }

    /// Returns the next batch, `None` at the end.
    ///
    /// # Errors
    /// `Invalid` (`line 17: …`, `record 17: …`) for an unreadable line in strict mode, after everything before it was returned;
    /// `Unavailable` when the file cannot be read. After an error there are no more batches.
    pub fn next_batch(&mut self) -> Result<Option<ImportBatch>> {
        let until = self.lines.number.saturating_add(BATCH_LINES);
        while !self.ended
            && self.ahead.len() < AHEAD
            && self.ahead_bytes < AHEAD_BYTES
            && self.lines.number < until
        {
            if let Err(error) = self.read_line() {
                self.ended = true;
                self.failure = Some(error);
            }
        }
        let is_done = self.ahead.is_empty() && self.skipped.is_empty() && self.withdrawn.is_empty();
        if is_done && self.ended {
            // Lines that hold nothing were read all the same.
            let is_counted =
                std::mem::replace(&mut self.is_counted, true) || self.handed.line > self.lines.number;
            return match self.failure.take() {
                Some(why) => Err(why),
                None if is_counted => Ok(None),
                None => Ok(Some(self.batch())),
            };
        }
        Ok(Some(self.batch()))
    }

    fn read_line(&mut self) -> Result<()> {
        let start = self.lines.offset;
        let Some(line) = self.lines.next().map_err(unreadable)? else { return self.finish() };
        let place = LinePosition { line: self.lines.number, end: self.lines.offset };
        (self.turns.line, self.turns.start) = (place.line, start);
        let is_fresh = start >= self.fresh_from;
        let read = line.and_then(|text| self.understand(&text).or_else(|why| self.salvage(&text, why)));
        let read = match (read, self.turns.broken.first()) {
            (Ok(_), Some(why)) if self.options.lenient == LinePolicy::No => {
                Err(LineError::Broken(why.clone()))
            }
            (read, _) => read,
        };
        let why = match read {
            Ok(exact) if is_fresh => {
                self.keep(place, exact);
                return Ok(());
            }
            _ if !is_fresh => {
                self.turns.clear();
                return Ok(());
            }
            // The last line of a transcript that is still being written is left for the next run.
            Err(_) if self.is_growing() && self.lines.cut_off => {
                self.unfinished = Some(start);
                SkipCause::NotMemory("a last line that is not finished")
            }
            Ok(_) => return Ok(()),
            Err(LineError::TooLong(most)) => SkipCause::TooLong(most),
            Err(LineError::Broken(why)) => {
                let headless = matches!(&self.dialect, Dialect::Mnemal(own) if !own.has_header());
                if headless || self.options.lenient == LinePolicy::No {
                    return Err(Error::invalid(format!("{} {}: {why}", self.lines.unit(), place.line)));
                }
                SkipCause::Broken(why)
            }
        };
        self.turns.clear();
        self.skipped.push_back(SkippedLine { line: place.line, why });
        Ok(())
    }

    /// Whether a host may still be writing the file.
    fn is_growing(&self) -> bool {
        self.format == Format::ClaudeCode || self.options.origin == OwnHistory::Captured
    }

    /// Reads the complete records inside a damaged record of a document whose end is missing; of a last record that is cut off,
    /// its complete part.
    fn salvage(&mut self, text: &str, why: String) -> std::result::Result<Option<RestoreRecord>, LineError> {
        let is_damaged = why.starts_with(json::NOT_JSON) && !matches!(self.dialect, Dialect::Mnemal(_));
        if self.lines.unit() != "record" || !is_damaged || self.options.lenient == LinePolicy::No {
            return Err(LineError::Broken(why));
        }
        self.turns.clear();
        let mut is_read = false;
        for record in json::swallowed(text) {
            is_read |= self.attempt(record);
        }
        let rest = json::close(text).filter(|_| !is_read && self.lines.cut_off);
        if let Some(rest) = rest {
            self.attempt(&rest);
        }
        self.turns.fail(why);
        Ok(None)
    }

    /// Reads a part of a damaged record; returns whether it could be parsed.
    fn attempt(&mut self, part: &str) -> bool {
        let before = self.turns.broken.len();
        let is_read = self.understand(part).is_ok();
        if !is_read {
            self.turns.broken.truncate(before);
        }
        is_read
    }

    fn understand(&mut self, text: &str) -> Result<Option<RestoreRecord>, String> {
        let (moments, turns) = (&self.moments, &mut self.turns);
        if let Dialect::Markdown(markdown) = &mut self.dialect {
            return markdown.read(text, moments, turns).map(|()| None);
        }
        if text.trim().is_empty() {
            return Ok(None);
        }
        match &mut self.dialect {
            Dialect::Mnemal(own) => return own.read(text),
            Dialect::Neutral => neutral::read(&json::object(text)?, moments, turns)?,
            Dialect::OpenAi(openai) => openai.read(&json::object(text)?, moments, turns)?,
            Dialect::ClaudeCode(claude) => claude.read(&json::object(text)?, moments, turns)?,
            Dialect::ChatGpt => chatgpt::read(&json::object(text)?, moments, turns)?,
            Dialect::Claude => claude::read(&json::object(text)?, moments, turns)?,
            Dialect::McpMemory => memories::mcp(&json::object(text)?, turns)?,
            Dialect::Mem0 => memories::mem0(&json::object(text)?, moments, turns)?,
            Dialect::RockBot => memories::rockbot(&json::object(text)?, moments, turns)?,
            Dialect::LangChain(openai) => memories::langchain(&json::object(text)?, openai, moments, turns)?,
            Dialect::Codex(codex) => codex.read(&json::object(text)?, moments, turns)?,
            Dialect::GeminiCli(gemini) => gemini.read(&json::object(text)?, moments, turns)?,
            Dialect::GeminiTakeout if text.trim_start().starts_with(['{', '[']) => {
                gemini::activity(&json::object(text)?, moments, turns)?;
            }
            Dialect::GeminiTakeout => {
                let is_cut = self.lines.cut_off && !text.contains("</html");
                if is_cut {
                    turns.fail("the document ends too early".to_owned());
                }
                // Styles precede the first entry.
                if let Some(entry) = takeout::entry(text).filter(|_| !is_cut || takeout::is_whole(text)) {
                    gemini::activity(&entry, moments, turns)?;
                }
            }
            Dialect::ClaudeMem => stores::claude_mem(&json::object(text)?, moments, turns)?,
            Dialect::Letta(openai) => stores::letta(&json::object(text)?, moments, openai, turns)?,
            Dialect::Zep => stores::zep(&json::object(text)?, moments, turns)?,
            Dialect::Cogx(openai) => stores::cogx(&json::object(text)?, moments, openai, turns)?,
            Dialect::Hindsight => stores::hindsight(&json::object(text)?, moments, turns)?,
            Dialect::Markdown(_) => {}
        }
        Ok(None)
    }

    fn keep(&mut self, place: LinePosition, exact: Option<RestoreRecord>) {
        let remarks = self.turns.remarks.drain(..);
        self.skipped
            .extend(remarks.map(|what| SkippedLine { line: place.line, why: SkipCause::NotMemory(what) }));
        let broken = self.turns.broken.drain(..);
        self.skipped.extend(broken.map(|why| SkippedLine { line: place.line, why: SkipCause::Broken(why) }));
        let wanted = place.line > self.options.after_line;
        for turn in self.turns.made.drain(..).filter(|_| wanted) {
            self.ahead_bytes += turn.bytes();
            self.ahead.push_back((place, Record::New(Box::new(turn))));
        }
        if let Some(exact) = exact.filter(|_| wanted) {
            self.ahead_bytes += bytes(&exact);
            self.ahead.push_back((place, Record::Exact(Box::new(exact))));
        }
        self.turns.said.clear();
        self.lacks_beginning |= std::mem::take(&mut self.turns.is_orphan);
        let withdrawn = std::mem::take(&mut self.turns.withdrawn);
        if wanted && !withdrawn.is_empty() {
            self.withdraw(withdrawn);
        }
    }

    /// Withdraws events; those already returned are listed in the next batch.
    fn withdraw(&mut self, ids: Vec<EventId>) {
        let mut ids: HashSet<EventId> = ids.into_iter().collect();
        let (skipped, freed) = (&mut self.skipped, &mut self.ahead_bytes);
        self.ahead.retain(|(place, record)| match record {
            Record::New(turn) if ids.remove(&turn.id) => {
                *freed = freed.saturating_sub(turn.bytes());
                skipped.push_back(SkippedLine { line: place.line, why: SkipCause::NotMemory(OTHER_BRANCH) });
                false
            }
            _ => true,
        });
        self.withdrawn.extend(ids);
    }

    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        if let Dialect::Markdown(markdown) = &mut self.dialect {
            let last = markdown.end(&self.moments, &mut self.turns);
            let place = LinePosition { line: self.lines.number, end: self.lines.offset };
            last.map_err(|why| Error::invalid(format!("line {}: {why}", place.line)))?;
            self.keep(place, None);
            return Ok(());
        }
        if let Dialect::Mnemal(own) = &mut self.dialect {
            if !own.has_header() {
                return Err(Error::invalid("line 1: not the header of an export"));
            }
            let place = LinePosition { line: self.lines.number, end: self.lines.offset };
            let rest = own.rest().into_iter().map(|record| (place, Record::Exact(Box::new(record))));
            self.ahead.extend(rest);
        }
        Ok(())
    }

    /// Returns the oldest lines that were read; a line is never split.
    fn batch(&mut self) -> ImportBatch {
        let (mut events, mut exact, mut size, mut last) = (Vec::new(), Vec::new(), 0, None);
        while let Some((place, _)) = self.ahead.front() {
            let full = events.len() + exact.len() >= BATCH || size >= BATCH_BYTES;
            if full && last.is_some_and(|last: LinePosition| last.line != place.line) {
                break;
            }
            let Some((place, record)) = self.ahead.pop_front() else { break };
            last = Some(place);
            match record {
                Record::New(turn) => {
                    size += turn.bytes();
                    events.push(self.turns.finish(*turn, |at| self.moments.zone_at(at)));
                }
                Record::Exact(record) => {
                    size += bytes(&record);
                    exact.push(*record);
                }
            }
        }
        self.ahead_bytes = self.ahead_bytes.saturating_sub(size);
        let read = LinePosition { line: self.lines.number, end: self.lines.offset };
        let done = if self.ahead.is_empty() { read } else { last.unwrap_or(read) };
        let lines = self.handed.line..done.line + 1;
        self.handed = LinePosition { line: done.line + 1, end: done.end };
        let n_skipped = self.skipped.iter().take_while(|skipped| skipped.line <= done.line).count();
        ImportBatch {
            events,
            exact: match &self.dialect {
                Dialect::Mnemal(own) => {
                    Some(RestoreBatch { records: exact, forgotten: own.forgotten.clone() })
                }
                _ => None,
            },
            lines,
            withdrawn: std::mem::take(&mut self.withdrawn),
            skipped: self.skipped.drain(..n_skipped).collect(),
            bytes_read: self.unfinished.map_or(self.handed.end, |start| self.handed.end.min(start)),
        }
    }
}

fn bytes(record: &RestoreRecord) -> usize {
    match record {
        RestoreRecord::Event { event, .. } => event.content.len(),
        RestoreRecord::Erased { .. } | RestoreRecord::Tombstone(_) => 0,
    }
}

fn unreadable(why: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, "cannot read the file to import").because(why)
}
