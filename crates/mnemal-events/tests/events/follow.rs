//! Following a growing file: each new record once, with its links, without re-reading the rest.

use std::io::{BufRead, Cursor, Read, Result, Seek, SeekFrom};

use mnemal_core::{EventKind, Origin, Role, Within};
use mnemal_events::{Format, ImportOptions, ImportOutcome, Importer, LinePolicy, OwnHistory, Position};
use mnemal_testkit::block_on;
use proptest::prelude::*;

use crate::desk::{Desk, desk, fixture, key, options};

fn captured() -> ImportOptions {
    ImportOptions { origin: OwnHistory::Captured, lenient: LinePolicy::Yes, ..options() }
}

/// Reads on behind a position, and returns what became of it and where to go on.
fn follow(desk: &Desk, file: &[u8], from: Position, options: &ImportOptions) -> (ImportOutcome, Position) {
    let mut importer =
        Importer::behind(Cursor::new(file), from, Format::ClaudeCode, options.clone(), key()).unwrap();
    let (mut taken, mut position) = (ImportOutcome::default(), from);
    while let Some(batch) = importer.next_batch().unwrap() {
        let read = batch.bytes_read;
        taken.add(block_on(desk.log.import(batch)).unwrap().value);
        position = importer.position(read).unwrap();
    }
    (taken, position)
}

/// What is stored, without the times of storing.
fn stored(desk: &Desk) -> Vec<String> {
    desk.all().iter().map(|event| format!("{:?} {:?}", event.id, event.body())).collect()
}

fn entry(kind: &str, uuid: u32, content: &str) -> String {
    let parent = uuid.checked_sub(1).map_or("null".to_owned(), |parent| format!("\"e{parent}\""));
    format!(
        "{{\"type\":\"{kind}\",\"uuid\":\"e{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\
         \"timestamp\":\"2026-03-01T10:00:00Z\",\"message\":{{\"role\":\"{kind}\",\"content\":{content}}}}}\n"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn whenever_it_is_read_the_same_is_stored_with_the_same_links(mut cuts in prop::collection::vec(0..1_000_usize, 0..6)) {
        let file = fixture("claude_code.jsonl");
        let whole = desk();
        follow(&whole, &file, Position::default(), &captured());
        let grown = desk();
        cuts.sort_unstable();
        let mut position = Position::default();
        let mut known = ImportOutcome::default();
        for cut in cuts.into_iter().chain([1_000, 1_000]) {
            let end = file.len() * cut / 1_000;
            let (taken, next) = follow(&grown, &file[..end], position, &captured());
            prop_assert_eq!((taken.duplicates, taken.refused.len()), (0, 0), "nothing is read twice");
            position = next;
            known.add(taken);
        }
        prop_assert_eq!(stored(&grown), stored(&whole));
        prop_assert_eq!(known.stored, stored(&whole).len() as u64);
        prop_assert_eq!(position.offset, file.len() as u64);
    }
}

#[test]
fn an_answer_finds_its_call_that_was_read_earlier() {
    let desk = desk();
    let mut file = entry("user", 0, "\"list it\"");
    file += &entry("assistant", 1, "[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}]");
    let (_, position) = follow(&desk, file.as_bytes(), Position::default(), &captured());
    file += &entry("user", 2, "[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"a.rs\"}]");
    follow(&desk, file.as_bytes(), position, &captured());
    let events = desk.all();
    let last = events[2].body().unwrap();
    assert!(matches!(&last.kind, EventKind::ToolResult { tool, .. } if tool.as_str() == "Bash"), "{last:?}");
    assert_eq!(last.parent, Some(events[1].id));
    let origins: Vec<_> = events.iter().map(|event| event.body().unwrap().origin).collect();
    assert_eq!(origins, [Origin::UserDirect, Origin::Assistant, Origin::ToolExternal]);
}

#[test]
fn a_file_that_shrank_or_became_another_one_is_read_from_its_start() {
    let desk = desk();
    let first: String = (0..5).map(|n| entry("user", n, &format!("\"say {n}\""))).collect();
    let (_, position) = follow(&desk, first.as_bytes(), Position::default(), &captured());
    let shorter = entry("user", 9, "\"another conversation\"");
    assert_eq!(follow(&desk, shorter.as_bytes(), position, &captured()).0.stored, 1);
    let other: String = (10..30).map(|n| entry("user", n, &format!("\"say {n}\""))).collect();
    let (taken, _) = follow(&desk, other.as_bytes(), position, &captured());
    assert_eq!((taken.stored, taken.duplicates), (20, 0));
    let (taken, _) = follow(&desk, first.as_bytes(), Position::default(), &captured());
    assert_eq!((taken.stored, taken.duplicates), (0, 5), "a lost position stores nothing twice");
}

#[test]
fn roles_that_are_not_wanted_still_link_the_others() {
    let desk = desk();
    let only = ImportOptions { roles: Within::Only(vec![Role::User, Role::Assistant]), ..captured() };
    follow(&desk, &fixture("claude_code.jsonl"), Position::default(), &only);
    assert!(desk.all().iter().all(|event| event.role != Role::Tool));
}

/// Counts what is read of a file.
struct Counting<'a> {
    file: Cursor<&'a [u8]>,
    read: &'a std::cell::Cell<usize>,
}

impl Read for Counting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let n = self.file.read(buffer)?;
        self.read.set(self.read.get() + n);
        Ok(n)
    }
}

impl BufRead for Counting<'_> {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        self.file.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.read.set(self.read.get() + amount);
        self.file.consume(amount);
    }
}

impl Seek for Counting<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.file.seek(to)
    }
}

#[test]
fn the_end_of_a_large_file_costs_what_is_new_and_a_bounded_look_back() {
    let line = entry("user", 0, &format!("\"{}\"", "x".repeat(1_000)));
    let mut file = line.repeat(20_000);
    let position = {
        let mut importer = Importer::behind(
            Cursor::new(file.as_bytes()),
            Position::default(),
            Format::ClaudeCode,
            captured(),
            key(),
        )
        .unwrap();
        importer.position(file.len() as u64).unwrap()
    };
    file += &entry("user", 1, "\"the end\"");
    let read = std::cell::Cell::new(0);
    let reader = Counting { file: Cursor::new(file.as_bytes()), read: &read };
    let mut importer = Importer::behind(reader, position, Format::ClaudeCode, captured(), key()).unwrap();
    let batch = importer.next_batch().unwrap().unwrap();
    assert_eq!(batch.events.len(), 1);
    assert!(batch.events[0].parent.is_some(), "the entry before is known");
    assert!(read.get() < 1_200_000, "{} of {} bytes", read.get(), file.len());
}
