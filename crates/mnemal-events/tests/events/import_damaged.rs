//! Damaged import files: valid records are read, invalid ones are reported.

use mnemal_core::{Event, NewEvent};
use mnemal_events::{
    Format, ImportOptions, ImportOutcome, LinePolicy, OwnHistory, SkipCause, SkippedLine, detect,
};
use serde_json::{Value, json};

use crate::desk::{Desk, desk, options};

fn lenient(name: &str) -> ImportOptions {
    let origin = OwnHistory::Yes;
    ImportOptions { lenient: LinePolicy::Yes, origin, source: name.to_owned(), ..options() }
}

fn import(desk: &Desk, name: &str, file: &str) -> (ImportOutcome, Vec<SkippedLine>) {
    desk.import(file.as_bytes(), Format::Auto, &lenient(name))
}

fn read(name: &str, file: &str) -> (Vec<String>, Vec<SkippedLine>) {
    let desk = desk();
    let (_, skipped) = import(&desk, name, file);
    (texts(&desk), skipped)
}

fn kept(desk: &Desk) -> Vec<NewEvent> {
    desk.all().iter().filter_map(Event::body).cloned().collect()
}

fn texts(desk: &Desk) -> Vec<String> {
    kept(desk).into_iter().map(|event| event.content).collect()
}

fn broken(skipped: &[SkippedLine]) -> usize {
    skipped.iter().filter(|one| !matches!(one.why, SkipCause::NotMemory(_))).count()
}

/// A conversation of ChatGPT with one message of each side.
fn chat(id: &str, text: &str) -> Value {
    let node = |place: usize, role: &str, text: &str| {
        json!({"id": format!("{id}{place}"), "parent": format!("{id}{}", place - 1), "children": [], "message": {
            "id": format!("{id}{place}"), "author": {"role": role}, "create_time": 1_761_000_000 + place,
            "content": {"content_type": "text", "parts": [text]}}})
    };
    let root =
        json!({"id": format!("{id}0"), "message": null, "parent": null, "children": [format!("{id}1")]});
    json!({"title": format!("Chat {id}"), "conversation_id": id, "create_time": 1_761_000_000,
        "update_time": 1_761_086_400, "current_node": format!("{id}2"), "mapping": {
            format!("{id}0"): root, format!("{id}1"): node(1, "user", text), format!("{id}2"): node(2, "assistant", "Good.")}})
}

#[test]
fn a_conversation_without_its_last_node_is_read_to_its_newest_leaf() {
    let mut odd = chat("b", "We keep two goats.");
    odd["current_node"] = Value::Null;
    let (said, skipped) =
        read("conversations.json", &json!([odd, chat("c", "The canoe is sold.")]).to_string());
    assert_eq!(said, ["We keep two goats.", "Good.", "The canoe is sold.", "Good."]);
    assert_eq!(broken(&skipped), 0);
    let mut gone = chat("d", "The attic leaks.");
    gone["mapping"].as_object_mut().unwrap().remove("d0");
    gone["current_node"] = json!("nowhere");
    assert_eq!(read("conversations.json", &json!([gone]).to_string()).0, ["The attic leaks.", "Good."]);
}

#[test]
fn a_message_that_cannot_be_understood_costs_no_other_one() {
    let mut odd = chat("a", "My aunt lives in Bruges.");
    odd["mapping"]["a2"]["message"]["author"] = json!("somebody");
    odd["title"] = json!(7);
    odd["mapping"]["a1"]["message"]["create_time"] = json!({"no": "time"});
    let (said, skipped) = read("conversations.json", &json!([odd]).to_string());
    assert_eq!(said, ["My aunt lives in Bruges."]);
    assert_eq!(broken(&skipped), 2, "{skipped:?}");
}

#[test]
fn a_damaged_tree_stays_one_conversation() {
    let mut long = chat("a", "first");
    let nodes = long["mapping"].as_object_mut().unwrap();
    for place in 3..7_u32 {
        let message = json!({"author": {"role": "user"}, "create_time": 1_761_000_000 + place,
            "content": {"content_type": "text", "parts": [format!("turn {place}")]}});
        nodes.insert(
            format!("a{place}"),
            json!({"id": format!("a{place}"), "parent": format!("a{}", place - 1), "children": [], "message": message}),
        );
    }
    nodes.remove("a4");
    long["current_node"] = json!("a6");
    let (said, _) = read("conversations.json", &json!([long]).to_string());
    assert_eq!(said, ["first", "Good.", "turn 3", "turn 5", "turn 6"]);
}

#[test]
fn without_a_time_of_creation_that_of_the_last_change_is_inferred() {
    let mut late = chat("d", "We adopted a hen.");
    late.as_object_mut().unwrap().remove("create_time");
    for node in ["d1", "d2"] {
        late["mapping"][node]["message"]["create_time"] = Value::Null;
    }
    let desk = desk();
    import(&desk, "conversations.json", &json!([late]).to_string());
    for event in kept(&desk) {
        assert_eq!(event.occurred_at.to_string(), "2025-10-21T22:40:00Z");
        assert_eq!(event.metadata["time_inferred"], "true");
    }
}

#[test]
fn one_conversation_and_a_list_under_a_name_are_told_and_read() {
    let one = chat("a", "My aunt lives in Bruges.");
    for file in [
        one.to_string(),
        serde_json::to_string_pretty(&one).unwrap(),
        json!({"conversations": [one]}).to_string(),
        serde_json::to_string_pretty(&json!({"version": 2, "conversations": [one]})).unwrap(),
    ] {
        assert_eq!(detect(file.as_bytes(), "one.json").unwrap(), Format::ChatGpt);
        assert_eq!(read("one.json", &file).0, ["My aunt lives in Bruges.", "Good."]);
    }
    let project = json!({"uuid": "p", "name": "Boats", "prompt_template": "", "docs":
        [{"uuid": "d", "filename": "hull.md", "content": "The hull is oak.", "created_at": "2026-05-01T10:00:00Z"}]});
    let memories = json!({"conversations_memory": "**Work**\n\nSam builds boats", "account_uuid": "x"});
    for (value, said) in [(project, "The hull is oak."), (memories, "Sam builds boats")] {
        for file in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            assert_eq!(detect(file.as_bytes(), "x.json").unwrap(), Format::Claude);
            assert_eq!(read("x.json", &file).0, [said]);
        }
    }
}

fn talk(id: &str, messages: &Value) -> Value {
    json!({"uuid": id, "name": "Talk", "created_at": "2026-11-05T10:00:00Z", "updated_at": "2026-11-05T10:09:00Z",
        "chat_messages": messages})
}

fn turn(id: &str, sender: &str, text: &str, parent: Option<&str>) -> Value {
    let minute = id.bytes().last().unwrap() - b'0';
    json!({"uuid": id, "sender": sender, "text": text, "content": [{"type": "text", "text": text}],
        "created_at": format!("2026-11-05T10:0{minute}:00Z"), "parent_message_uuid": parent})
}

#[test]
fn a_sender_that_is_not_known_costs_its_message_alone() {
    let first = talk(
        "k1",
        &json!([
            turn("m1", "human", "The canoe is sold.", None),
            turn("m2", "system", "note", None),
            turn("m3", "robot", "beep", None),
            4,
            turn("m5", "assistant", "Good.", None)
        ]),
    );
    let second = talk("k2", &json!([turn("m6", "human", "We keep two goats.", None)]));
    let (said, skipped) = read("conversations.json", &json!([first, second]).to_string());
    assert_eq!(said, ["The canoe is sold.", "Good.", "We keep two goats."]);
    assert_eq!((skipped.len(), broken(&skipped)), (3, 2), "{skipped:?}");
}

#[test]
fn what_a_person_went_back_behind_is_left_out_of_every_tree() {
    let root = Some("00000000-0000-4000-8000-000000000000");
    let messages = json!([
        turn("m1", "human", "Which colour has the canoe?", root),
        turn("m3", "assistant", "The canoe is green.", Some("m1")),
        turn("m2", "assistant", "The canoe is red.", Some("m1")),
        turn("m4", "human", "Right, red.", Some("m2")),
    ]);
    let (said, skipped) = read("conversations.json", &json!([talk("k", &messages)]).to_string());
    assert_eq!(said, ["Which colour has the canoe?", "The canoe is red.", "Right, red."]);
    assert!(skipped.iter().any(|one| one.why == SkipCause::NotMemory("a message of another branch")));
    // What is missing in the middle costs nothing of the rest.
    let gap = json!([turn("m1", "human", "one", root), turn("m4", "human", "four", Some("m2"))]);
    assert_eq!(read("conversations.json", &json!([talk("k", &gap)]).to_string()).0, ["one", "four"]);
}

#[test]
fn marks_of_sources_and_of_tools_are_no_words() {
    let mut chat = chat("a", "When does the market open?");
    let message = &mut chat["mapping"]["a2"]["message"];
    message["content"]["parts"] = json!([
        "It opens at nine.\u{e200}cite\u{e202}turn0search0\u{e201} Bring \u{e200}entity\u{e202}x\u{e201} a bag.【4†source】"
    ]);
    message["metadata"] = json!({"content_references": [
        {"matched_text": "\u{e200}entity\u{e202}x\u{e201}", "alt": "Ada"}, {"matched_text": "【4†source】", "alt": null},
        {"matched_text": " ", "alt": ""}]});
    assert_eq!(read("c.json", &json!([chat]).to_string()).0[1], "It opens at nine. Bring Ada a bag.");
    let placeholder = "```\nThis block is not supported on your current device yet.\n```";
    let tools = json!({"uuid": "m2", "sender": "assistant", "text": placeholder, "created_at": "2026-11-05T10:02:00Z",
        "content": [{"type": "tool_use", "name": "x"}, {"type": "tool_result"}]});
    let old = json!({"uuid": "m3", "sender": "assistant", "created_at": "2026-11-05T10:03:00Z",
        "text": format!("I looked.\n\n{placeholder}\n\nIt is open.")});
    let talk = talk("k", &json!([turn("m1", "human", "Is it open?", None), tools, old]));
    let (said, skipped) = read("c.json", &json!([talk]).to_string());
    assert_eq!(said, ["Is it open?", "I looked.\n\nIt is open."]);
    assert!(skipped.iter().any(|one| one.why == SkipCause::NotMemory("no text")));
}

#[test]
fn a_conversation_that_is_not_to_be_remembered_is_not() {
    let mut secret = chat("a", "Forget this at once.");
    secret["is_do_not_remember"] = json!(true);
    let (said, skipped) = read("c.json", &json!([secret, chat("b", "This may stay.")]).to_string());
    assert_eq!(said, ["This may stay.", "Good."]);
    assert_eq!((skipped.len(), broken(&skipped)), (1, 0));
}

#[test]
fn an_observation_that_is_no_text_costs_no_other_one() {
    let file = [
        r#"{"type":"entity","name":"Ines Roy","entityType":"person","observations":["plays the viola",null]}"#,
        r#"{"type":"entity","name":"Shed"}"#,
        "no JSON",
        r#"{"type":"entity","name":"Bo","entityType":"person","observations":["lives in Lugo"]}"#,
    ];
    let desk = desk();
    let (_, skipped) = desk.import(file.join("\n").as_bytes(), Format::McpMemory, &lenient("memory.jsonl"));
    assert_eq!(texts(&desk), ["Ines Roy: plays the viola", "Bo: lives in Lugo"]);
    let lines: Vec<u64> = skipped.iter().map(|one| one.line).collect();
    assert_eq!(lines, [1, 2, 3]);
}

#[test]
fn a_later_export_that_ends_lines_in_another_way_says_nothing_twice() {
    for (first, again) in [
        ("Lovely.\nSee you", "Lovely.\r\nSee you\r\n"),
        ("My aunt lives in Bruges", "My aunt lives in Bruges\n"),
    ] {
        let desk = desk();
        import(&desk, "a.json", &json!([chat("a", first)]).to_string());
        let mut renamed = chat("a", again);
        renamed["title"] = json!("Renamed");
        assert_eq!(import(&desk, "b.json", &json!([renamed]).to_string()).0.duplicates, 2);
        assert_eq!(texts(&desk), [first, "Good."]);
    }
}

#[test]
fn records_behind_one_that_is_cut_are_read() {
    let [first, second, third] =
        [("a", "one"), ("b", "two"), ("c", "three")].map(|(id, text)| chat(id, text).to_string());
    let until = second.find("\"two\"").unwrap() + 1;
    let cut = format!("[{first},{},{third}]", second.get(..until).unwrap());
    let (said, skipped) = read("c.json", &cut);
    assert!(said.contains(&"one".to_owned()) && said.contains(&"three".to_owned()), "{said:?}");
    assert!(broken(&skipped) > 0);
}

#[test]
fn a_long_conversation_is_read_whole() {
    let mut long = chat("a", "first");
    let nodes = long["mapping"].as_object_mut().unwrap();
    let filler = "lorem ipsum ".repeat(900);
    for place in 3..2_003_u32 {
        let message = json!({"author": {"role": "user"}, "create_time": 1_761_000_000 + place,
            "content": {"content_type": "text", "parts": [format!("turn {place} {filler}")]}});
        nodes.insert(
            format!("a{place}"),
            json!({"parent": format!("a{}", place - 1), "children": [], "message": message}),
        );
    }
    long["current_node"] = json!("a2002");
    let file = json!([long]).to_string();
    assert!(file.len() > 17 * 1024 * 1024);
    let batches = crate::desk::batches(file.as_bytes(), Format::Auto, &lenient("c.json"));
    let events: usize = batches.into_iter().map(|batch| batch.unwrap().events.len()).sum();
    assert_eq!(events, 2_002);
}

#[test]
fn tasks_tell_how_they_stand_and_times_are_no_category() {
    let note = "# Chores\n- [ ] renew the pass\n- [x] pay the rent\n- [-] cancel the gym\n- [/] paint the fence\n\
        - [>] see the dentist\n- [00:00:11] Mira: I will move to Tartu\n- [decision] We heat with wood\n";
    for name in ["vault/Chores.md", "MEMORY.md"] {
        let desk = desk();
        import(&desk, name, note);
        let said = texts(&desk);
        let start = [
            "To do: renew the pass",
            "Done: pay the rent",
            "Dropped: cancel the gym",
            "Begun: paint the fence",
            "Put off: see the dentist",
            "[00:00:11] Mira: I will move to Tartu",
            "We heat with wood",
        ];
        assert_eq!(said, start, "{name}");
        let is_filed = |event: &NewEvent, category: &str| format!("{:?}", event.kind).contains(category);
        assert!(!kept(&desk).iter().any(|event| is_filed(event, "00-00-11")));
        assert_eq!(kept(&desk).iter().filter(|event| is_filed(event, "\"decision\"")).count(), 1, "{name}");
    }
}

#[test]
fn a_note_that_begins_with_dashes_loses_nothing() {
    let rule = "---\n\nThe spare key hangs behind the bell.\n\nWater the ferns on Sundays.\n";
    let open = "---\ncreated: 2026-05-01\n--\n# Hey\nThe attic code is 4471.\n";
    let block = "---\nsummary: |\n  one\n  ---\n  two\ntags: [a]\n---\nBody here.\n";
    for name in ["Rule.md", "MEMORY.md"] {
        assert_eq!(
            read(name, rule).0,
            ["The spare key hangs behind the bell.", "Water the ferns on Sundays."]
        );
        assert!(read(name, open).0.contains(&"The attic code is 4471.".to_owned()));
        assert_eq!(read(name, block).0, ["Body here."]);
    }
    assert_eq!(
        read("Never.md", "---\ntitle: x\nno end: of it\n").0.concat().matches("no end: of it").count(),
        1
    );
}

#[test]
fn marks_of_obsidian_are_no_words() {
    let note = "| [[Ines Roy\\|Ines]] | x |\n\nSee `[[code]]` and [[Bo]]. ^ref-1\n\n%% hidden %%\n\n%%\nalso hidden\n%%\n\nShown %%not%% here, 20%% off.\n";
    let desk = desk();
    import(&desk, "vault/a.md", note);
    assert_eq!(
        texts(&desk),
        ["| [[Ines Roy\\|Ines]] | x |", "See `[[code]]` and [[Bo]].", "Shown  here, 20%% off."]
    );
    let links: Vec<String> =
        kept(&desk).iter().filter_map(|event| event.metadata.get("links").cloned()).collect();
    assert_eq!(links, ["Ines Roy", "Bo"]);
}

#[test]
fn a_wrong_file_is_told_what_the_nearest_format_lacks() {
    let why = |file: &str| detect(file.as_bytes(), "x.jsonl").unwrap_err().what().to_owned();
    let nearly =
        "{\"note\": 1}\n{\"id\":\"1\",\"session\":\"s\",\"ts\":\"2026-01-01\",\"speaker\":\"user\"}\n";
    assert!(why(nearly).contains("neutral: fields conv, text are missing in line"), "{}", why(nearly));
    assert!(why("{\"uuid\": \"1\"}").contains("claude: field chat_messages is missing in line 1"));
    assert!(why("plain words").contains("mnemal ingest") && why("").contains("empty"));
}

#[test]
fn times_whose_zone_stands_apart_are_read() {
    let line = |ts: &str| {
        format!("{{\"id\":\"1\",\"conv\":\"c\",\"ts\":\"{ts}\",\"speaker\":\"user\",\"text\":\"x\"}}\n")
    };
    for (ts, at) in [
        ("2026-07-01T12:00:00[Asia/Tokyo]", "2026-07-01T03:00:00Z"),
        ("2026-07-01 12:00:00 +02:00", "2026-07-01T10:00:00Z"),
        ("2026-07-01 12:00:00 UTC", "2026-07-01T12:00:00Z"),
    ] {
        let desk = desk();
        import(&desk, "n.jsonl", &line(ts));
        assert_eq!(kept(&desk)[0].occurred_at.to_string(), at, "{ts}");
    }
}

#[test]
fn what_is_whole_in_the_record_that_a_file_cuts_off_is_read_and_the_end_is_told_once() {
    let root = Some("00000000-0000-4000-8000-000000000000");
    let messages =
        json!([turn("m1", "human", "We keep two goats.", root), turn("m2", "human", "Cut", Some("m1"))]);
    let list = json!({"items": [{"id": "u1", "text": "Bo fishes.", "fact_type": "world"}, {"id": "u2", "text": "Cut", "fact_type": "world"}]});
    let session = r#"{"sessionId": "s", "projectHash": "h", "messages": [{"id": "m1", "type": "user", "content": "We sail."},
        {"id": "m2", "type": "user", "content": "Cut"}]}"#;
    let mut two = chat("a", "We keep bees.");
    two["mapping"]["a2"]["message"]["content"]["parts"] = json!(["Cut"]);
    for (name, file, said) in [
        ("conversations.json", json!([talk("k", &messages)]).to_string(), "We keep two goats."),
        ("chats.json", json!([two]).to_string(), "We keep bees."),
        ("list.json", list.to_string(), "Bo fishes."),
        ("session-1.json", session.to_owned(), "We sail."),
    ] {
        let cut = file.get(..file.find("\"Cut").unwrap() + 3).unwrap();
        let (texts, skipped) = read(name, cut);
        assert_eq!(texts, [said], "{name}");
        let ends = skipped.iter().filter(|one| one.why.to_string().contains("ends too early")).count();
        assert_eq!(ends, 1, "{name}: {skipped:?}");
    }
}

#[test]
fn a_field_of_another_type_costs_its_own_record_alone_and_is_named() {
    let mut nameless = talk("k", &json!([turn("m1", "human", "We keep two goats.", None)]));
    nameless["uuid"] = json!({"no": "name"});
    let mut odd = turn("m1", "human", "The canoe is sold.", None);
    odd["content"] = json!(true);
    let mut robot = turn("m2", "robot", "beep", None);
    robot["attachments"] = json!([{"file_name": "a.txt", "extracted_content": "The hull is oak."}]);
    let memories = json!([{"conversations_memory": [1], "project_memories": {"p": "Sam builds boats."}}]);
    let block = |label: &str, value: Value| json!({"label": label, "value": value});
    let agent =
        json!({"core_memory": [block("a", json!([])), block("b", json!("Bo fishes."))], "messages": []});
    let mut gone = chat("a", "We keep bees.");
    gone["mapping"]["a2"]["message"] = json!(["Good."]);
    let observation = json!({"observations": [{"id": 1, "memory_session_id": "m", "title": "Oak", "narrative": ["It lasts."]}], "summaries": []});
    let activity = json!([{"header": "Gemini Apps", "title": "Prompted Why oak?", "time": "2026-04-20T18:24:31Z", "safeHtmlItem": [{"html": 4}]}]);
    let record = json!({"external_id": "x", "kind": 5, "turns": [{"role": "user", "content": "I sail."}]});
    for (name, file, said) in [
        ("conversations.json", json!([nameless]), &["We keep two goats."][..]),
        (
            "conversations.json",
            json!([talk("k", &json!([odd, robot]))]),
            &["The canoe is sold.", "The hull is oak."],
        ),
        ("memories.json", memories, &["Sam builds boats."]),
        ("old.af", agent, &["Bo fishes."]),
        ("chats.json", json!([gone]), &["We keep bees."]),
        ("export.json", observation, &["Oak"]),
        ("My Activity.json", activity, &["Why oak?"]),
        ("memories.jsonl", record, &["I sail."]),
        (
            "memory.jsonl",
            json!({"type": "entity", "name": [], "entityType": "x", "observations": ["Bo sings."]}),
            &["Bo sings."],
        ),
        (
            "memory.jsonl",
            json!({"type": 4, "from": "Bo", "to": "Ada", "relationType": "knows"}),
            &["Bo knows Ada"],
        ),
    ] {
        let (texts, skipped) = read(name, &file.to_string());
        assert_eq!(texts, said, "{name}");
        assert!(broken(&skipped) > 0, "{name}: {skipped:?}");
    }
}

#[test]
fn a_tree_of_claude_that_is_damaged_and_out_of_order_stays_one_conversation() {
    let root = Some("00000000-0000-4000-8000-000000000000");
    // The second message is gone, and the last one stands first.
    let moved = json!([turn("m3", "human", "three", Some("m2")), turn("m1", "human", "one", root)]);
    let mut said = read("conversations.json", &json!([talk("k", &moved)]).to_string()).0;
    said.sort();
    assert_eq!(said, ["one", "three"]);
    let mut timeless = turn("m4", "human", "four", Some("m3"));
    timeless["created_at"] = json!(4);
    let left = json!([
        turn("m1", "human", "one", root),
        turn("m2", "assistant", "left", Some("m1")),
        turn("m3", "assistant", "three", Some("m1")),
        timeless
    ]);
    assert_eq!(
        read("conversations.json", &json!([talk("k", &left)]).to_string()).0,
        ["one", "three", "four"]
    );
}

#[test]
fn a_list_or_a_heading_behind_dashes_that_lost_their_end_is_text() {
    for note in [
        "---\ntype: note\n- [decision] We heat with wood\n\n---\nBody here.\n",
        "---\ntags: [a]\n\n# Notes\n\nWe heat with wood\n\n---\nBody here.\n",
        "---\ntags: [a]\n## Part\n\nWe heat with wood\n\n---\nBody here.\n",
    ] {
        let said = read("Note.md", note).0.join("\n");
        assert!(said.contains("We heat with wood") && said.contains("Body here."), "{said}");
    }
    let front = "---\ntitle: Boats\n# a remark\ntags:\n- wood\n- oak\naliases:\n  - hull\n---\nBody here.\n";
    assert_eq!(read("Note.md", front).0, ["Body here."]);
}

#[test]
fn a_record_that_our_own_export_holds_twice_is_stored_once() {
    let header = json!({"format": "mnemal", "version": 1, "space": "default", "exported_at": "2026-03-01T09:30:00Z",
        "counts": {"events": 2, "tombstones": 0}});
    let event = |id: u128, text: &str| {
        json!({"event": {"id": mnemal_core::EventId(id << 64).to_string(), "recorded_at": "2026-03-01T09:30:00Z",
            "kind": {"type": "user_message"}, "content": text, "session": "s", "channel": "cli",
            "occurred_at": "2026-03-01T09:30:00Z", "zone": ["UTC", 0], "origin": "user_direct"}})
    };
    let file = [
        header,
        event(1, "We keep bees."),
        event(2, "We sail."),
        event(1, "We keep bees."),
        event(2, "We fly."),
    ];
    let desk = desk();
    let (taken, _) = import(&desk, "export.jsonl", &file.map(|line| line.to_string()).join("\n"));
    assert_eq!((taken.stored, taken.duplicates, taken.refused.len()), (2, 1, 1), "{taken:?}");
    assert_eq!(texts(&desk), ["We keep bees.", "We sail."]);
}

#[test]
fn a_node_that_a_file_cuts_off_before_its_message_takes_no_other_one_with_it() {
    let mut cut = chat("a", "We keep bees.");
    cut["mapping"]["a1"]["children"] = json!(["a2"]);
    cut["mapping"]["a2"] = json!({"id": "a2"});
    cut["current_node"] = json!("gone");
    assert_eq!(read("chats.json", &json!([cut]).to_string()).0, ["We keep bees."]);
}

#[test]
fn a_last_message_without_its_time_is_as_new_as_what_it_answers() {
    let mut chat = chat("a", "one");
    let node = |id: &str, parent: &str, text: &str, time: Option<u32>| {
        json!({"id": id, "parent": parent, "children": [], "message": {"author": {"role": "user"}, "create_time": time,
            "content": {"content_type": "text", "parts": [text]}}})
    };
    chat["current_node"] = json!("gone");
    for (id, parent, text, time) in [
        ("a3", "a2", "left", Some(1_761_000_005)),
        ("a4", "a2", "four", Some(1_761_000_010)),
        ("a5", "a4", "five", None),
    ] {
        chat["mapping"][id] = node(id, parent, text, time);
    }
    assert_eq!(read("c.json", &json!([chat]).to_string()).0, ["one", "Good.", "four", "five"]);
    // A message that is there twice is one, wherever its twin stands.
    let mut messages = vec![turn("m2", "human", "two", Some("m1")), turn("m3", "human", "three", Some("m2"))];
    messages.push(turn("m4", "human", "four", Some("m3")));
    messages.push(messages[0].clone());
    let (said, _) = read("conversations.json", &json!([talk("k", &json!(messages))]).to_string());
    assert_eq!(said, ["two", "three", "four"]);
}

#[test]
fn a_list_without_a_record_is_one_bad_line_among_lines_of_memories() {
    let memory =
        json!({"id": "m-1", "memory": "Ana likes oak.", "user_id": "ana", "categories": [{"value": "wood"}]});
    let (said, skipped) = read("mem0.json", &format!("[]\n{memory}\n"));
    assert_eq!(said, ["Ana likes oak."]);
    assert_eq!(broken(&skipped), 1);
    let (said, skipped) = read("mem0.json", &format!("[{memory}]\n"));
    assert_eq!((said.len(), skipped.len()), (1, 0));
}
