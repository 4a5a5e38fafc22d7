//! Import of foreign files: the result of each line, and robustness against arbitrary bytes.

use std::io::{BufReader, Read};

use mnemal_core::{ErrorKind, EventKind, Origin, Role, SessionId, Within, Zone};
use mnemal_events::{
    Format, ImportOptions, Importer, LARGEST_BATCH, LinePolicy, OwnHistory, SkipCause, detect,
};
use proptest::prelude::*;

use crate::desk::{MANY, batches, desk, fixture, key, options};

fn lenient() -> ImportOptions {
    ImportOptions { lenient: LinePolicy::Yes, ..options() }
}

// proves: NX-12.4
#[test]
fn the_neutral_layout_becomes_turns_with_their_times() {
    let desk = desk();
    let (taken, skipped) = desk.import(&fixture("neutral.jsonl"), Format::Auto, &options());
    assert_eq!((taken.stored, skipped.len()), (10, 0));
    let events = desk.all();
    let roles: Vec<_> = events.iter().map(|event| event.role).collect();
    assert_eq!(roles[..5], [Role::User, Role::User, Role::User, Role::Assistant, Role::Tool]);
    let third = events[2].body().unwrap();
    assert_eq!(third.metadata["caption"], "a stack of blue booklets on a piano");
    assert_eq!(third.metadata["source_id"], "choir/3");
    assert_eq!(third.occurred_at.to_string(), "2026-01-12T19:01:15Z");
    assert_eq!(third.session, SessionId::new("choir/S01").unwrap());
    assert!(events.iter().all(|event| event.body().unwrap().origin == Origin::Import));
    // The session's first known time stands further down.
    let sixth = events[5].body().unwrap();
    assert_eq!(sixth.occurred_at.to_string(), "2026-02-02T18:10:00Z");
    assert_eq!(sixth.metadata["time_inferred"], "true");
    assert!(!third.metadata.contains_key("time_inferred"));
}

// proves: NX-12.3
// proves: DF-06
#[test]
fn importing_twice_adds_nothing_and_a_file_that_grew_adds_its_end() {
    for name in ["neutral.jsonl", "openai.jsonl", "openai_conversations.jsonl", "claude_code.jsonl"] {
        let desk = desk();
        let file = fixture(name);
        let half = file
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .nth(1)
            .map_or(file.len(), |(at, _)| at + 1);
        let (first, _) = desk.import(&file[..half], Format::Auto, &options());
        let (second, _) = desk.import(&file, Format::Auto, &options());
        assert_eq!(second.duplicates, first.stored, "{name}");
        let before = desk.bytes();
        let later = ImportOptions { now: crate::desk::at(1_900_000_000), ..options() };
        let (third, _) = desk.import(&file, Format::Auto, &later);
        assert_eq!((third.stored, third.duplicates), (0, first.stored + second.stored), "{name}");
        assert_eq!(desk.bytes(), before, "{name}");
        for _restart in 0..20 {
            let log = mnemal_events::EventLog::new(crate::desk::parts(&desk.store, &desk.clock));
            for batch in batches(&file, Format::Auto, &later) {
                let taken = mnemal_testkit::block_on(log.import(batch.unwrap())).unwrap();
                assert_eq!(taken.stored, 0, "{name}");
            }
        }
        assert_eq!(desk.bytes(), before, "{name}");
    }
}

// proves: PB-09
#[test]
fn moments_of_different_offsets_are_ordered_as_they_happened() {
    let line =
        |id: u32, ts: &str| format!("{{\"id\":\"{id}\",\"ts\":\"{ts}\",\"speaker\":\"P\",\"text\":\"x\"}}\n");
    let times = ["2026-03-01T10:00:00+09:00", "2026-03-01T02:00:00Z", "2026-02-28T23:30:00-02:00"];
    let file: String = (0..).zip(times).map(|(id, ts)| line(id, ts)).collect();
    let desk = desk();
    desk.import(file.as_bytes(), Format::Neutral, &options());
    let mut events: Vec<_> =
        desk.all().iter().map(|event| event.body().unwrap().occurred_at.to_string()).collect();
    assert_eq!(events, ["2026-03-01T01:00:00Z", "2026-03-01T02:00:00Z", "2026-03-01T01:30:00Z"]);
    events.sort();
    let since = desk.all()[2].body().unwrap().occurred_at;
    let filter = mnemal_core::EventFilter { since: Some(since), ..mnemal_core::EventFilter::all() };
    let later = mnemal_testkit::block_on(desk.log.scan(&filter, mnemal_core::Cursor::START, MANY)).unwrap();
    assert_eq!(later.iter().map(|event| event.seq.0).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn one_conversation_of_many_can_be_chosen() {
    let file = "{\"id\":\"1\",\"conv\":\"a\",\"speaker\":\"P\",\"text\":\"x\"}\n{\"id\":\"1\",\"conv\":\"b\",\"speaker\":\"P\",\"text\":\"x\"}\n";
    let desk = desk();
    let chosen = ImportOptions { conv: Within::Only("b".to_owned()), ..options() };
    assert_eq!(desk.import(file.as_bytes(), Format::Neutral, &chosen).0.stored, 1);
    assert_eq!(desk.all()[0].body().unwrap().session, SessionId::new("b").unwrap());
    assert_eq!(
        desk.import(file.as_bytes(), Format::Neutral, &options()).0.stored,
        1,
        "ids are those of a conv"
    );
}

#[test]
fn messages_of_one_file_become_a_threaded_conversation() {
    let desk = desk();
    let (taken, skipped) = desk.import(&fixture("openai.jsonl"), Format::Auto, &options());
    let events = desk.all();
    let kept: Vec<_> = events.iter().map(|event| event.body().unwrap()).collect();
    assert_eq!(taken.stored, kept.len() as u64);
    assert!(
        skipped
            .iter()
            .any(|skip| skip.line == 1 && skip.why == SkipCause::NotMemory("instructions of the host"))
    );
    assert!(kept.iter().all(|event| !event.content.contains("volunteers of a small tool library")));
    assert!(kept.iter().all(|event| !event.content.contains("example.org")), "no picture's address");
    let call = events.iter().find(|event| matches!(&event.body().unwrap().kind, EventKind::ToolCall { tool } if tool.as_str() == "book_tool")).unwrap();
    assert!(call.body().unwrap().content.contains("Tarek"));
    assert!(call.body().unwrap().parent.is_some());
    let answer = kept
        .iter()
        .find(|event| event.content.contains("deposit of 20 euros") && event.parent == Some(call.id))
        .unwrap();
    assert_eq!(
        answer.kind,
        EventKind::ToolResult { tool: mnemal_core::ToolName::new("book_tool").unwrap(), ok: false }
    );
    let hours = kept.iter().find(|event| event.content.starts_with("Saturday")).unwrap();
    assert_eq!(
        hours.kind,
        EventKind::ToolResult { tool: mnemal_core::ToolName::new("opening_hours").unwrap(), ok: true }
    );
    assert!(kept.iter().any(|event| event.content.contains("one for Tarek.\nIt is the blue one")));
    assert_eq!(kept[0].speaker.as_ref().unwrap().as_str(), "Leonie");
    assert_eq!(kept[0].occurred_at.to_string(), "2026-03-02T09:00:31Z");
    assert!(kept.iter().all(|event| event.session == kept[0].session));
}

#[test]
fn conversations_of_one_file_stay_apart() {
    let desk = desk();
    let (taken, _) = desk.import(&fixture("openai_conversations.jsonl"), Format::Auto, &options());
    assert_eq!(taken.stored, 9);
    let mut sessions: Vec<_> = desk.all().iter().map(|event| event.body().unwrap().session.clone()).collect();
    sessions.dedup();
    assert_eq!(sessions.len(), 2);
    assert!(desk.all().iter().all(|event| event.body().unwrap().metadata["time_inferred"] == "true"));
}

#[test]
fn a_transcript_gives_what_was_said_and_done_and_nothing_of_the_program() {
    let desk = desk();
    let own = ImportOptions { origin: OwnHistory::Yes, ..options() };
    let (_, skipped) = desk.import(&fixture("claude_code.jsonl"), Format::Auto, &own);
    let events = desk.all();
    let kept: Vec<_> = events.iter().map(|event| event.body().unwrap()).collect();
    let user: Vec<_> = kept.iter().filter(|event| event.kind == EventKind::UserMessage).collect();
    assert_eq!(user.len(), 2, "{user:?}");
    assert!(user.iter().all(|event| event.origin == Origin::UserConfirmed));
    assert!(user[0].content.starts_with("The tide table shows"));
    assert_eq!(
        user[1].content,
        "Good. From now on always show tide times in the harbour's own zone, never in UTC."
    );
    let bytes = desk.bytes();
    for absent in
        ["Caveat", "/model", "Model set", "UTC midnight", "todo list", "Only table.py", "Context left"]
    {
        assert!(!bytes.contains(absent), "{absent}");
    }
    let failed =
        kept.iter().find(|event| matches!(event.kind, EventKind::ToolResult { ok: false, .. })).unwrap();
    assert!(failed.content.contains("test_high_water_in_hobart"));
    let call = events.iter().find(|event| Some(event.id) == failed.parent).unwrap();
    assert!(matches!(&call.body().unwrap().kind, EventKind::ToolCall { tool } if tool.as_str() == "Bash"));
    assert!(
        kept.iter()
            .filter(|event| event.kind != EventKind::UserMessage)
            .all(|event| event.origin == Origin::Import)
    );
    assert!(kept.iter().skip(1).all(|event| event.parent.is_some()), "every entry answers another");
    assert!(skipped.iter().all(|skip| matches!(skip.why, SkipCause::NotMemory(_))));
    assert!(skipped.len() >= 7);
}

// proves: NX-12.5
#[test]
fn a_broken_line_is_skipped_and_reported_where_that_is_allowed() {
    let desk = desk();
    let (taken, skipped) = desk.import(&fixture("broken.jsonl"), Format::Neutral, &lenient());
    assert_eq!(taken.stored, 3);
    let lines: Vec<_> = skipped.iter().map(|skip| skip.line).collect();
    assert_eq!(lines, [2, 4, 6]);
    assert_eq!(skipped[1].why.to_string(), "field `text` is missing");
}

#[test]
fn strict_reading_stops_at_the_first_broken_line_and_keeps_what_came_before() {
    let file = fixture("broken.jsonl");
    let read = batches(&file, Format::Neutral, &options());
    assert_eq!(read.len(), 2);
    let batch = read[0].as_ref().unwrap();
    assert_eq!(batch.events.len(), 1);
    let error = read[1].as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(error.what(), "line 2: not JSON: it ends too early");
    assert!(batch.bytes_read < file.len() as u64);
}

#[test]
fn invalid_bytes_are_named_by_line_and_place() {
    let mut file = b"{\"id\":\"1\",\"speaker\":\"P\",\"text\":\"good\"}\n".to_vec();
    file.extend(b"{\"id\":\"2\",\"speaker\":\"P\",\"text\":\"\xC3\x28\"}\n");
    let error = batches(&file, Format::Neutral, &options()).pop().unwrap().unwrap_err();
    assert_eq!(error.what(), "line 2: invalid UTF-8 at byte 71 of the file");
}

#[test]
fn a_record_over_one_mebibyte_is_skipped_and_a_long_one_is_split() {
    let line = |id: u32, bytes: usize| {
        format!("{{\"id\":\"{id}\",\"speaker\":\"P\",\"text\":\"{}\"}}\n", "wort ".repeat(bytes / 5))
    };
    let file = format!("{}{}{}", line(1, 2_000_000), line(2, 600_000), line(3, 10));
    let desk = desk();
    let (taken, skipped) = desk.import(file.as_bytes(), Format::Neutral, &options());
    assert_eq!(skipped.len(), 1);
    assert_eq!((skipped[0].line, &skipped[0].why), (1, &SkipCause::TooLong(1024 * 1024)));
    assert_eq!(taken.stored, 5);
    let events = desk.all();
    let whole: String = events[..4].iter().map(|event| event.body().unwrap().content.as_str()).collect();
    assert_eq!(whole.len(), 600_000);
    assert_eq!(events[1].body().unwrap().parent, Some(events[0].id));
}

#[test]
fn a_transcript_that_is_still_written_leaves_its_last_line_for_later() {
    let file = fixture("claude_code.jsonl");
    let end = file.len() - 20;
    let desk = desk();
    let (first, skipped) = desk.import(&file[..end], Format::ClaudeCode, &options());
    assert_eq!(skipped.last().unwrap().why, SkipCause::NotMemory("a last line that is not finished"));
    let (second, _) = desk.import(&file, Format::ClaudeCode, &options());
    assert_eq!((second.stored, second.duplicates), (1, first.stored));
}

#[test]
fn an_import_goes_on_behind_the_last_line_that_it_took() {
    let file = fixture("claude_code.jsonl");
    let whole = desk();
    whole.import(&file, Format::ClaudeCode, &options());
    let resumed = desk();
    let all: Vec<_> = batches(&file, Format::ClaudeCode, &options()).remove(0).unwrap().events;
    let behind = ImportOptions { after_line: 12, ..options() };
    let rest: Vec<_> = batches(&file, Format::ClaudeCode, &behind).remove(0).unwrap().events;
    assert!(!rest.is_empty() && rest.len() < all.len());
    assert_eq!(rest[..], all[all.len() - rest.len()..], "threads and keys are those of the whole file");
    let (taken, _) = resumed.import(&file, Format::ClaudeCode, &behind);
    assert_eq!(taken.stored, rest.len() as u64, "a parent that is not there is no error");
}

#[test]
fn the_format_is_told_by_the_first_lines_or_the_candidates_are_named() {
    for (name, format) in [
        ("neutral.jsonl", Format::Neutral),
        ("openai.jsonl", Format::OpenAi),
        ("openai_conversations.jsonl", Format::OpenAi),
        ("claude_code.jsonl", Format::ClaudeCode),
    ] {
        assert_eq!(detect(&fixture(name), name).unwrap(), format);
        assert_eq!(Format::from_name(format.as_str()), Some(format));
    }
    let unknown = detect(b"{\"a\": 1}\n", "x.json").unwrap_err();
    assert!(unknown.what().contains("neutral") && unknown.what().contains("claude-code"), "{unknown}");
    let both = b"{\"role\":\"user\",\"content\":\"x\"}\n{\"id\":\"1\",\"speaker\":\"P\",\"text\":\"x\"}\n";
    let error = detect(both, "x.json").unwrap_err();
    assert!(error.what().contains("more than one of neutral, openai"), "{error}");
    assert!(detect(b"", "").is_err());
}

#[test]
fn times_without_a_zone_are_in_the_zone_of_the_import() {
    let desk = desk();
    let zone = Zone { name: String::new(), offset_seconds: 7_200 };
    desk.import(
        &fixture("neutral.jsonl"),
        Format::Neutral,
        &ImportOptions { zone: zone.clone(), ..options() },
    );
    let first = desk.all().remove(0);
    assert_eq!(first.body().unwrap().occurred_at.to_string(), "2026-01-12T17:00:00Z");
    assert_eq!(first.body().unwrap().zone, zone);
}

#[test]
fn secrets_of_a_file_do_not_reach_the_store() {
    let planted = mnemal_extract::synth::phrase("github_pat", 9).unwrap();
    let record =
        serde_json::json!({"id": "1", "speaker": "P", "text": planted.text, "caption": planted.text});
    let desk = desk();
    let (taken, _) = desk.import(record.to_string().as_bytes(), Format::Neutral, &options());
    assert_eq!(taken.redactions, 2);
    assert!(!desk.bytes().contains(&planted.secret));
}

/// Lines without end, one after the other, never all in memory.
struct Endless {
    left: usize,
    line: Vec<u8>,
    place: usize,
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let bytes = out.len().min(self.left).min(self.line.len() - self.place);
        out[..bytes].copy_from_slice(&self.line[self.place..self.place + bytes]);
        self.place = (self.place + bytes) % self.line.len();
        self.left -= bytes;
        Ok(bytes)
    }
}

// proves: DF-82
#[test]
fn a_long_file_is_read_in_batches_of_bounded_size() {
    let line =
        b"{\"id\":\"1\",\"speaker\":\"P\",\"text\":\"a turn of about the usual length, nothing more\"}\n"
            .to_vec();
    let reader = BufReader::new(Endless { left: 2 * 1024 * 1024, line, place: 0 });
    let mut importer = Importer::new(reader, Format::Neutral, lenient(), key()).unwrap();
    let (mut events, mut next) = (0, 1);
    while let Some(batch) = importer.next_batch().unwrap() {
        assert!(batch.events.len() <= LARGEST_BATCH);
        assert_eq!(batch.lines.start, next);
        next = batch.lines.end;
        events += batch.events.len();
    }
    assert!(events > 20_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    // F2
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for format in [Format::Auto, Format::Mnemal, Format::Neutral, Format::OpenAi, Format::ClaudeCode] {
            for options in [options(), lenient()] {
                batches(&bytes, format, &options);
            }
        }
    }

    // F2
    #[test]
    fn any_json_is_read_without_a_panic(lines in proptest::collection::vec(json(), 0..6)) {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let file = lines.join("\n");
        for format in [Format::Mnemal, Format::Neutral, Format::OpenAi, Format::ClaudeCode] {
            batches(file.as_bytes(), format, &lenient());
        }
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Value, json};
    let name = proptest::sample::select(vec![
        "id",
        "conv",
        "session",
        "ts",
        "speaker",
        "text",
        "caption",
        "role",
        "content",
        "messages",
        "tool_calls",
        "function",
        "arguments",
        "name",
        "tool_call_id",
        "type",
        "uuid",
        "parentUuid",
        "sessionId",
        "timestamp",
        "message",
        "isMeta",
        "tool_use",
        "tool_use_id",
        "input",
        "created_at",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        proptest::sample::select(vec![
            "user",
            "assistant",
            "tool",
            "system",
            "tool_result",
            "text",
            "2026-01-01"
        ])
        .prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name.clone(), inner), 0..8).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    });
    value
        .prop_map(|value| if value.is_object() { value } else { json!({ "content": value, "role": "user" }) })
}
