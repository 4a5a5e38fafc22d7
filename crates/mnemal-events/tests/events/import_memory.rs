//! Bounded memory of the import reader, whatever the file's length.

use std::io::{BufReader, Read, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mnemal_core::EventId;
use mnemal_events::{Format, ImportOptions, Importer, RestoreRecord};
use serde_json::{Value, json};

use crate::desk::{key, options};

/// Bytes of a history: more than twice what may be read ahead.
const LONG: u64 = 12_000_000;
/// Bytes of the history of which the memory is asked, and what reading it may take beside what the process had. Source: less than
/// the file, and half of the 100 MB that an import may take.
const LONGER: u64 = 48 * 1024 * 1024;
const MOST: u64 = 40 * 1024 * 1024;
/// Bytes that may be read and not handed out: 2 MiB of text, twice as long with what stands around it, one record and a buffer.
const MOST_AHEAD: u64 = 5_000_000;
/// Bytes of text that one batch may have: a megabyte, and the record that fills it.
const MOST_IN_BATCH: usize = 1_400_000;
/// Texts of one conversation, where conversations are records.
const TURNS: usize = 20;

/// The first line of our own export.
const HEADER: &str = "{\"format\":\"mnemal\",\"version\":1,\"space\":\"default\",\
    \"exported_at\":\"2025-05-04T08:00:05Z\",\"counts\":{\"events\":9,\"tombstones\":0}}\n";

/// A file that is generated while it is read, and never exists as a whole.
struct Tape {
    format: Format,
    number: usize,
    at_hand: std::io::Cursor<Vec<u8>>,
    given: Arc<AtomicU64>,
    length: u64,
    is_over: bool,
}

impl Tape {
    fn new(format: Format, length: u64) -> Self {
        let at_hand = std::io::Cursor::new(frame(format).0.as_bytes().to_vec());
        Self { format, number: 0, at_hand, given: Arc::default(), length, is_over: false }
    }

    fn next(&mut self) -> Vec<u8> {
        let (_, between, after) = frame(self.format);
        if self.given.load(Ordering::Relaxed) >= self.length {
            self.is_over = true;
            return after.as_bytes().to_vec();
        }
        let lead = if self.number == 0 { "" } else { between };
        self.number += TURNS;
        format!("{lead}{}", record(self.format, self.number)).into_bytes()
    }
}

impl Read for Tape {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut read = self.at_hand.read(into)?;
        if read == 0 && !self.is_over {
            self.at_hand = std::io::Cursor::new(self.next());
            read = self.at_hand.read(into)?;
        }
        self.given.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The text before, between and after the records of a file; the formats after the first twelve are read by the same reader.
fn frame(format: Format) -> (&'static str, &'static str, &'static str) {
    match format {
        Format::Mnemal => (HEADER, "\n", "\n"),
        Format::ChatGpt | Format::Claude | Format::LangChain => ("[", ",\n", "]\n"),
        Format::Mem0 => ("{\"results\": [", ",\n", "]}\n"),
        Format::MemoryMd => ("# Memory\n\n## User\n\n", "\n", "\n"),
        Format::Obsidian => ("---\ntags: [garden]\n---\n# Notes\n\n", "\n", "\n"),
        _ => ("", "\n", "\n"),
    }
}

fn record(format: Format, number: usize) -> String {
    let text = |number: usize| format!("note {number} says {}", "beds of bulbs in the garden ".repeat(140));
    let said = text(number);
    let talk = |turn: &dyn Fn(usize) -> Value| (number..number + TURNS).map(turn).collect::<Vec<_>>();
    let made = match format {
        Format::ChatGpt => {
            let node = |n: usize| {
                let parent = if n == number { Value::Null } else { json!(format!("m{}", n - 1)) };
                let message = json!({"id": format!("m{n}"), "author": {"role": "user"}, "create_time": 1_735_725_600 + n,
                    "content": {"content_type": "text", "parts": [text(n)]}});
                json!({"id": format!("m{n}"), "message": message, "parent": parent, "children": []})
            };
            let nodes = (number..number + TURNS).map(|n| (format!("m{n}"), node(n)));
            let mapping: serde_json::Map<String, Value> = nodes.collect();
            json!({"id": format!("c{number}"), "create_time": 1_735_725_600, "mapping": mapping,
                "current_node": format!("m{}", number + TURNS - 1)})
        }
        Format::Claude => {
            json!({"uuid": format!("c{number}"), "name": "talk", "created_at": "2025-05-04T08:00:00Z",
            "chat_messages": talk(&|n| json!({"uuid": format!("m{n}"), "text": text(n), "sender": "human",
                "content": [{"type": "text", "text": text(n)}], "created_at": "2025-05-04T08:00:05Z"}))})
        }
        Format::Mem0 => {
            json!({"id": format!("f{number}"), "memory": said, "created_at": "2025-03-01T09:00:00Z"})
        }
        Format::McpMemory => {
            json!({"type": "entity", "name": format!("Thing {number}"), "entityType": "thing", "observations": [said]})
        }
        Format::LangChain => json!({"type": "human", "data": {"content": said, "type": "human"}}),
        Format::ClaudeCode => {
            json!({"type": "user", "uuid": format!("u{number}"), "parentUuid": null, "sessionId": "s",
            "timestamp": "2025-05-04T08:00:05Z", "message": {"role": "user", "content": said}})
        }
        Format::OpenAi => json!({"role": "user", "content": said}),
        Format::Neutral => json!({"id": number.to_string(), "conv": "c", "speaker": "Ada", "text": said,
            "ts": "2025-05-04T08:00:05"}),
        Format::Mnemal => json!({"event": {"id": EventId(number as u128).to_string(), "content": said,
            "kind": {"type": "user_message"}, "recorded_at": "2025-05-04T08:00:05Z", "session": "s", "channel": "c",
            "occurred_at": "2025-05-04T08:00:05Z", "zone": ["UTC", 0], "origin": "user_direct"}}),
        _ => return format!("- {said}"),
    };
    made.to_string()
}

/// Reads a history to its end; returns how many bytes it had, and how many bytes of text came of it in how many batches.
fn read(format: Format, length: u64) -> (u64, u64, usize) {
    let tape = Tape::new(format, length);
    let given = Arc::clone(&tape.given);
    let source = if format == Format::MemoryMd { "MEMORY.md" } else { "file" };
    let options = ImportOptions { source: source.to_owned(), ..options() };
    let mut importer = Importer::new(BufReader::new(tape), format, options, key()).unwrap();
    let (mut texts, mut batches) = (0, 0);
    while let Some(batch) = importer.next_batch().unwrap() {
        let ahead = given.load(Ordering::Relaxed) - batch.bytes_read;
        assert!(ahead < MOST_AHEAD, "{}: {ahead} bytes ahead at {}", format.as_str(), batch.bytes_read);
        let exact = batch.exact.iter().flat_map(|exact| &exact.records).map(|record| match record {
            RestoreRecord::Event { event, .. } => event.content.len(),
            _ => 0,
        });
        let text = batch.events.iter().map(|event| event.content.len()).chain(exact).sum::<usize>();
        assert!(text < MOST_IN_BATCH, "{}: {text} bytes of text in one batch", format.as_str());
        (texts, batches) = (texts + text as u64, batches + 1);
    }
    (given.load(Ordering::Relaxed), texts, batches)
}

/// Bytes that this process had at most, or now; `None` where the system does not say.
fn resident(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

// proves: NX-12.2 (what is read stands in memory in bounded part, whatever the length of the file)
#[test]
fn a_reader_is_never_far_ahead_of_what_it_handed_out() {
    // A memory of RockBot is a file of its own.
    for format in Format::ALL.into_iter().take(12).filter(|format| *format != Format::RockBot) {
        let (given, texts, batches) = read(format, LONG);
        assert!(given >= LONG && texts * 5 > given * 2 && batches >= 4, "{}: {texts}", format.as_str());
    }
}

// proves: NX-12.2 (resident memory)
#[test]
fn a_document_of_one_line_is_read_in_bounded_memory() {
    let before = resident("VmRSS:");
    let (given, texts, _) = read(Format::ChatGpt, LONGER);
    assert!(given >= LONGER && texts > LONGER / 2, "{texts} of {given} bytes");
    if let Some((before, most)) = before.zip(resident("VmHWM:")) {
        assert!(most < before + MOST, "{} MiB more", (most - before) >> 20);
    }
}
