//! Claude Code transcripts: the user's messages, and text that the program wrote.

use mnemal_core::{EventKind, NewEvent, Origin, marker};
use mnemal_events::{Format, ImportOptions, OwnHistory, SkipCause, SkippedLine};
use serde_json::{Value, json};

use crate::desk::{Desk, batches, desk, options};

fn own() -> ImportOptions {
    ImportOptions { origin: OwnHistory::Yes, ..options() }
}

#[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
fn entry(uuid: &str, parent: Option<&str>, content: Value) -> Value {
    let kind = if uuid.starts_with('a') { "assistant" } else { "user" };
    let second: u32 = uuid.bytes().map(u32::from).sum::<u32>() % 60;
    json!({
        "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s",
        "timestamp": format!("2026-11-02T09:00:{second:02}.000Z"),
        "message": {"role": kind, "content": content},
    })
}

/// The lines of a file.
fn file(lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn read(lines: &[Value]) -> (Desk, Vec<SkippedLine>) {
    let text = file(lines);
    let desk = desk();
    let (_, skipped) = desk.import(text.as_bytes(), Format::ClaudeCode, &own());
    (desk, skipped)
}

fn said(desk: &Desk) -> Vec<NewEvent> {
    let events = desk.all();
    let kept = events.iter().filter_map(|event| event.body().cloned());
    kept.filter(|event| event.kind == EventKind::UserMessage).collect()
}

fn words(desk: &Desk) -> Vec<String> {
    said(desk).into_iter().map(|event| event.content).collect()
}

fn count(skipped: &[SkippedLine], what: &'static str) -> usize {
    skipped.iter().filter(|one| one.why == SkipCause::NotMemory(what)).count()
}

#[test]
fn what_stands_behind_a_block_of_ours_that_lost_its_last_line_is_said_by_the_user() {
    let block = format!(
        "{}\n{}\n- [user, 2026-11-01] \"The van is on level 3.\"\n",
        marker::opening("ab"),
        marker::NOTICE
    );
    let (desk, _) =
        read(&[entry("u1", None, json!(format!("{block}And one more thing: I retire in June.")))]);
    let texts: Vec<String> = said(&desk).into_iter().map(|event| event.content).collect();
    assert_eq!(texts, ["And one more thing: I retire in June."]);
}

#[test]
fn what_a_program_wraps_in_tags_of_its_own_is_not_said_by_the_user() {
    for (content, own) in [
        (
            "<task-notification>\n<task-id>7</task-id>\n<result>Fertig.\n\nIch wohne in Oslo.</result>\n</task-notification>",
            None,
        ),
        ("<persisted-output>\nI prefer spaces.\n</persisted-output>", None),
        (
            "<teammate-message teammate_id=\"rev\" summary=\"x\">From now on always answer in French.</teammate-message>",
            None,
        ),
        ("<worker_status\n level=\"2\">Vivo en Oslo.</worker_status>", None),
        (
            "<ide_selection>lines 1 to 3:\nJ'habite à Oslo.\n\nMaybe.</ide_selection>\nWas steht da?",
            Some("Was steht da?"),
        ),
        ("I moved to Turku.\n<system-reminder>Be brief.</system-reminder>", Some("I moved to Turku.")),
        ("<bash-stdout>I live in Oslo.</bash-stdout><bash-stderr></bash-stderr>", None),
        ("<local-command-stdout>I live in Oslo.", None),
        ("<command-message>run</command-message>\n<command-name>/run</command-name>", None),
    ] {
        let (desk, skipped) = read(&[entry("u1", None, json!(content))]);
        assert_eq!(words(&desk).first().map(String::as_str), own, "{content}");
        assert!(!skipped.is_empty(), "it is counted: {content}");
    }
}

#[test]
fn a_tag_that_is_only_mentioned_swallows_nothing() {
    for content in [
        "Why does the log say <system-reminder> without an end? By the way, I moved to Turku.",
        "The docs say <persisted-output> and </persisted-output> mark long outputs. I moved to Turku.",
        "<command-name> ist was? Ich bin nach Turku gezogen.",
    ] {
        let (desk, _) = read(&[entry("u1", None, json!(content))]);
        assert_eq!(words(&desk), [content]);
    }
    let answer = json!([{"type": "tool_result", "tool_use_id": "t", "content": "cut <system-reminder> here\nand there"}]);
    let (desk, _) = read(&[entry("u1", None, answer)]);
    assert_eq!(desk.all()[0].body().unwrap().content, "cut <system-reminder> here\nand there");
}

#[test]
fn what_no_model_and_no_person_wrote_is_an_entry_of_the_program() {
    let mut synthetic = entry("a1", None, json!([{"type": "text", "text": "No response requested."}]));
    synthetic["message"]["model"] = json!("<synthetic>");
    let mut failed = entry("a2", None, json!([{"type": "text", "text": "API Error: 529"}]));
    failed["isApiErrorMessage"] = json!(true);
    let mut told = entry("u1", None, json!("I live in Oslo."));
    told["origin"] = json!({"kind": "task-notification"});
    let mut typed = entry("u2", None, json!("I live in Turku."));
    typed["origin"] = json!({"kind": "human"});
    let (desk, skipped) = read(&[synthetic, failed, told, typed]);
    assert_eq!(words(&desk), ["I live in Turku."]);
    assert_eq!(desk.all().len(), 1);
    assert_eq!(count(&skipped, "an entry of the program"), 3);
}

const QUEUED: &str = "Actually we only ever use pnpm here, never npm.";

fn operation(name: &str, second: u32, content: Option<&str>) -> Value {
    let at = format!("2026-11-02T09:00:{second:02}.000Z");
    let line = json!({"type": "queue-operation", "operation": name, "sessionId": "s", "timestamp": at});
    match (line, content) {
        (Value::Object(mut fields), Some(content)) => {
            fields.insert("content".to_owned(), json!(content));
            Value::Object(fields)
        }
        (line, _) => line,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
fn attached(prompt: Value, mode: &str) -> Value {
    json!({
        "type": "attachment", "uuid": "x1", "parentUuid": "a1", "sessionId": "s",
        "timestamp": "2026-11-02T09:00:07.000Z",
        "attachment": {"type": "queued_command", "commandMode": mode, "prompt": prompt},
    })
}

fn at_work() -> [Value; 2] {
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]);
    [entry("u1", None, json!("Build the invoice page.")), entry("a1", Some("u1"), call)]
}

fn answer() -> Value {
    entry("u2", Some("a1"), json!([{"type": "tool_result", "tool_use_id": "t1", "content": "src"}]))
}

#[test]
fn a_prompt_that_was_typed_while_the_agent_worked_is_one_turn_at_its_own_time() {
    let [first, call] = at_work();
    for prompt in [json!(QUEUED), json!([{"type": "text", "text": QUEUED}])] {
        let lines = [
            first.clone(),
            call.clone(),
            operation("enqueue", 6, Some(QUEUED)),
            attached(prompt, "prompt"),
            operation("remove", 7, None),
            answer(),
        ];
        let (desk, _) = read(&lines);
        let said = said(&desk);
        assert_eq!(
            said.iter().map(|event| event.content.as_str()).collect::<Vec<_>>(),
            ["Build the invoice page.", QUEUED]
        );
        assert_eq!(said[1].occurred_at.to_string(), "2026-11-02T09:00:06Z");
        assert_eq!(said[1].origin, Origin::UserConfirmed);
        assert_eq!(desk.all().len(), 4, "the call and its answer stay");
    }
    let (desk, _) = read(&[first.clone(), call.clone(), attached(json!(QUEUED), "prompt"), answer()]);
    assert_eq!(said(&desk)[1].occurred_at.to_string(), "2026-11-02T09:00:07Z");
    let (desk, _) = read(&[first, call, attached(json!(QUEUED), "task-notification")]);
    assert_eq!(words(&desk).len(), 1, "a program queues too");
}

#[test]
fn a_prompt_that_left_the_queue_otherwise_is_said_where_it_stands_or_not_at_all() {
    let [first, call] = at_work();
    let enqueue = operation("enqueue", 6, Some(QUEUED));
    let lines = [
        first.clone(),
        call.clone(),
        enqueue.clone(),
        operation("dequeue", 7, None),
        entry("u3", Some("a1"), json!(QUEUED)),
    ];
    assert_eq!(words(&read(&lines).0), ["Build the invoice page.", QUEUED]);
    for taken in ["popAll", "remove"] {
        let (desk, _) = read(&[
            first.clone(),
            call.clone(),
            enqueue.clone(),
            operation(taken, 7, Some(QUEUED)),
            answer(),
        ]);
        assert_eq!(words(&desk), ["Build the invoice page."], "{taken}");
    }
}

fn rewound() -> Vec<Value> {
    vec![
        entry("u1", None, json!("Fangen wir an.")),
        entry("a1", Some("u1"), json!("Gut.")),
        entry("u2", Some("a1"), json!("Ich bin gegen Walnüsse allergisch.")),
        entry("a2", Some("u2"), json!("Verstanden.")),
        entry("u3", Some("a1"), json!("Zeig mir die Rechnungen.")),
        entry("a3", Some("u3"), json!("Drei sind offen.")),
        json!({"type": "last-prompt", "leafUuid": "a3", "sessionId": "s"}),
    ]
}

#[test]
fn a_branch_that_was_rewound_is_left_out_and_counted() {
    let (desk, skipped) = read(&rewound());
    assert_eq!(words(&desk), ["Fangen wir an.", "Zeig mir die Rechnungen."]);
    assert_eq!(count(&skipped, "a message of another branch"), 2);
    let lines: Vec<u64> = skipped
        .iter()
        .filter(|one| one.why == SkipCause::NotMemory("a message of another branch"))
        .map(|one| one.line)
        .collect();
    assert_eq!(lines, [3, 4]);
}

#[test]
fn what_was_handed_out_before_it_was_rewound_is_named() {
    let lines: Vec<String> = rewound().iter().map(|line| line.to_string() + "\n").collect();
    let desk = desk();
    desk.import(lines[..4].concat().as_bytes(), Format::ClaudeCode, &own());
    let known: Vec<_> = desk.all().iter().skip(2).map(|event| event.id).collect();
    let position = {
        let file = std::io::Cursor::new(lines[..4].concat().into_bytes());
        let from = mnemal_events::Position::default();
        let mut importer =
            mnemal_events::Importer::behind(file, from, Format::ClaudeCode, own(), crate::desk::key())
                .unwrap();
        importer.position(lines[..4].concat().len() as u64).unwrap()
    };
    let file = std::io::Cursor::new(lines.concat().into_bytes());
    let mut importer =
        mnemal_events::Importer::behind(file, position, Format::ClaudeCode, own(), crate::desk::key())
            .unwrap();
    let batch = importer.next_batch().unwrap().unwrap();
    let mut withdrawn = batch.withdrawn.clone();
    withdrawn.sort_unstable();
    let mut expect = known;
    expect.sort_unstable();
    assert_eq!(withdrawn, expect);
    assert_eq!(batch.events.len(), 2, "{:?}", batch.events);
    assert!(!importer.lacks_beginning());
}

#[test]
fn a_prompt_whose_parent_was_not_read_asks_for_the_beginning() {
    let filler = entry("u9", None, json!("x".repeat(1_000)));
    let mut text = file(&rewound()[..4]);
    text += &format!("{filler}\n").repeat(1_500);
    let end = text.len() as u64;
    text += &file(&rewound()[4..5]);
    let open = |text: &str, from| {
        let file = std::io::Cursor::new(text.as_bytes().to_vec());
        mnemal_events::Importer::behind(file, from, Format::ClaudeCode, own(), crate::desk::key()).unwrap()
    };
    let position = open(&text, mnemal_events::Position::default()).position(end).unwrap();
    let mut importer = open(&text, position);
    while importer.next_batch().unwrap().is_some() {}
    assert!(importer.lacks_beginning());
}

#[test]
fn nothing_is_withdrawn_where_nobody_went_back() {
    let call = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {}}]);
    let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": id}]);
    let mut boundary = entry("u7", None, json!("a summary"));
    boundary["isCompactSummary"] = json!(true);
    let lines = [
        entry("u1", None, json!("Look at both.")),
        entry("a1", Some("u1"), call("t1")),
        entry("a2", Some("a1"), call("t2")),
        entry("u2", Some("a1"), result("t1")),
        entry("u3", Some("a2"), result("t2")),
        entry("a3", Some("u3"), json!("Done.")),
        entry("u4", Some("a3"), json!("Thanks.")),
        entry("u5", Some("u4"), json!("And the third?")),
        boundary,
        entry("u8", None, json!("Go on.")),
    ];
    let text = file(&lines);
    let read = batches(text.as_bytes(), Format::ClaudeCode, &own());
    let events: usize = read.iter().map(|batch| batch.as_ref().unwrap().events.len()).sum();
    assert_eq!(events, 9);
    assert!(read.iter().all(|batch| batch.as_ref().unwrap().withdrawn.is_empty()));
}

#[test]
fn turns_that_were_evidence_of_others_are_raised_once() {
    let text = file(&rewound()[..4]);
    let desk = desk();
    desk.import(text.as_bytes(), Format::ClaudeCode, &options());
    let raised = |events| mnemal_testkit::block_on(desk.log.promotion(events)).unwrap();
    let own: Vec<NewEvent> = batches(text.as_bytes(), Format::ClaudeCode, &own()).remove(0).unwrap().events;
    let first = raised(own.clone());
    assert_eq!((first.events.len(), first.replaced.len()), (2, 2));
    assert!(first.events.iter().all(|event| event.origin == Origin::UserConfirmed));
    assert!(
        first
            .events
            .iter()
            .all(|event| own.iter().all(|known| known.idempotency_key != event.idempotency_key))
    );
    let again = desk.fate(first.events[0].clone()).unwrap();
    assert!(!again.duplicate);
    let others: Vec<NewEvent> =
        batches(text.as_bytes(), Format::ClaudeCode, &options()).remove(0).unwrap().events;
    assert_eq!(raised(others), mnemal_events::Promotion::default(), "nobody says that they are his");
}
