//! A file is read in bounded memory, whatever its length.

use std::io::{BufReader, Read};

use mnemal_events::{Format, ImportOptions, Importer, Lenient};

use crate::desk::{key, options};

/// Bytes of a generated file; its records are made while they are read.
const FILE: usize = 48 * 1024 * 1024;
/// Bytes that reading may take beside what the process had. Source: less than the file, and half of the 100 MB that an
/// import may take.
const MOST: u64 = 40 * 1024 * 1024;

/// A file that does not exist anywhere as a whole.
struct Generated<F> {
    record: F,
    between: &'static str,
    end: &'static str,
    made: usize,
    number: usize,
    rest: Vec<u8>,
}

impl<F: Fn(usize) -> String> Read for Generated<F> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        if self.rest.is_empty() {
            if self.made >= FILE {
                self.rest = std::mem::take(&mut self.end).as_bytes().to_vec();
            } else {
                let between = if self.number == 0 { "" } else { self.between };
                self.rest = format!("{between}{}", (self.record)(self.number)).into_bytes();
                self.number += 1;
            }
            self.made += self.rest.len();
            self.rest.reverse();
        }
        let count = to.len().min(self.rest.len());
        for byte in &mut to[..count] {
            *byte = self.rest.pop().unwrap();
        }
        Ok(count)
    }
}

/// Bytes that this process had at most, or now; `None` where the system does not say.
fn resident(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

fn check(
    format: Format,
    start: &'static str,
    between: &'static str,
    end: &'static str,
    record: fn(usize) -> String,
) {
    let file = Generated { record, between, end, made: 0, number: 0, rest: start.bytes().rev().collect() };
    let before = resident("VmRSS:");
    let options = ImportOptions { lenient: Lenient::No, ..options() };
    let mut importer = Importer::new(BufReader::new(file), format, options, key()).unwrap();
    let (mut events, mut bytes) = (0, 0);
    while let Some(batch) = importer.next_batch().unwrap() {
        events += batch.events.len();
        bytes = batch.bytes_read;
    }
    assert!(bytes >= FILE as u64 && events > 1_000, "{events} events of {bytes} bytes");
    if let Some((before, most)) = before.zip(resident("VmHWM:")) {
        assert!(most < before + MOST, "{} MiB more", (most - before) >> 20);
    }
}

fn words(number: usize) -> String {
    format!("{number} {}", "words of a long turn ".repeat(400))
}

#[test]
fn a_document_of_one_line_is_read_in_bounded_memory() {
    check(Format::ChatGpt, "[", ",", "]", |number| {
        let node = serde_json::json!({"parent": null, "message": {"author": {"role": "user"},
            "content": {"content_type": "text", "parts": [words(number)]}}});
        serde_json::json!({"id": format!("c{number}"), "current_node": "n", "mapping": {"n": node}})
            .to_string()
    });
}

#[test]
fn lines_and_notes_are_read_in_bounded_memory() {
    check(Format::McpMemory, "", "\n", "\n", |number| {
        serde_json::json!({"type": "entity", "name": format!("e{number}"), "entityType": "thing",
            "observations": [words(number)]})
        .to_string()
    });
    check(Format::Obsidian, "# Notes\n", "\n\n", "\n", words);
}
