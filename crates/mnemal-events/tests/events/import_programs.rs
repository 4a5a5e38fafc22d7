//! Sessions of other agents and exports of other memories, in their own shapes.

use mnemal_core::{Decision, Event, EventKind, NewEvent};
use mnemal_events::{Format, ImportOptions, LinePolicy, OwnHistory, SkippedLine, detect};
use serde_json::{Value, json};

use crate::desk::{Desk, desk, options};

fn read(name: &str, format: Format, file: &str) -> (Desk, Vec<SkippedLine>) {
    assert_eq!(detect(file.as_bytes(), name).unwrap(), format, "{name}");
    let desk = desk();
    let origin = OwnHistory::Yes;
    let options = ImportOptions { lenient: LinePolicy::Yes, origin, source: name.to_owned(), ..options() };
    let (first, skipped) = desk.import(file.as_bytes(), Format::Auto, &options);
    let (again, _) = desk.import(file.as_bytes(), Format::Auto, &options);
    assert_eq!((again.stored, again.duplicates >= first.stored), (0, true), "{name} again");
    (desk, skipped)
}

fn kept(desk: &Desk) -> Vec<NewEvent> {
    desk.all().iter().filter_map(Event::body).cloned().collect()
}

/// Each event in short: who, and what.
fn said(desk: &Desk) -> Vec<String> {
    let who = |event: &NewEvent| match &event.kind {
        EventKind::UserMessage => "user".to_owned(),
        EventKind::AssistantMessage => "assistant".to_owned(),
        EventKind::ToolCall { tool } => format!("call {}", tool.as_str()),
        EventKind::ToolResult { tool, .. } => format!("result {}", tool.as_str()),
        EventKind::Document => "document".to_owned(),
        EventKind::Decision(Decision::Remember(note)) => format!("note {}", note.category.as_str()),
        other => format!("{other:?}"),
    };
    kept(desk).iter().map(|event| format!("{}: {}", who(event), event.content)).collect()
}

/// The same in the order of letters, where the fields of a file have no order.
fn sorted(desk: &Desk) -> Vec<String> {
    let mut said = said(desk);
    said.sort();
    said
}

fn lines(records: &[Value]) -> String {
    let lines: Vec<String> = records.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

/// A line of a session of Codex.
fn line(second: u32, kind: &str, payload: &Value) -> Value {
    json!({"timestamp": format!("2026-04-22T19:00:{second:02}.000Z"), "type": kind, "payload": payload})
}

#[test]
fn a_prompt_of_codex_with_a_picture_is_told_once() {
    let part = |text: &str| json!({"type": "input_text", "text": text});
    let prompt = |second, parts: &[Value]| {
        line(second, "response_item", &json!({"type": "message", "role": "user", "content": parts}))
    };
    let event =
        |second, text: &str| line(second, "event_msg", &json!({"type": "user_message", "message": text}));
    let picture = json!({"type": "input_image", "image_url": "data:image/png;base64,AA=="});
    let shown = "What is wrong in [Image #1]?";
    let file = lines(&[
        line(0, "session_meta", &json!({"id": "t1", "cwd": "/home/ana"})),
        prompt(1, &[part("<image name=[Image #1]>"), picture, part("</image>"), part(shown)]),
        event(1, shown),
        // A tag that a person typed.
        prompt(2, &[part("<br>"), part("<T>")]),
        event(2, "<br>\n<T>"),
        prompt(3, &[part("1 < 2"), part("<b>yes</b>")]),
    ]);
    let (desk, skipped) = read("rollout-c.jsonl", Format::Codex, &file);
    let expect =
        [format!("user: {shown}"), "user: <br>\n<T>".to_owned(), "user: 1 < 2\n<b>yes</b>".to_owned()];
    assert_eq!(said(&desk), expect);
    assert!(!skipped.iter().any(SkippedLine::is_broken), "{skipped:?}");
}

#[test]
fn the_first_head_of_a_session_of_codex_says_who_leads_it() {
    let head = |id: &str, source: Value| line(0, "session_meta", &json!({"id": id, "source": source}));
    let (person, agent) = (json!("cli"), json!({"subagent": "review"}));
    let prompt = line(1, "event_msg", &json!({"type": "user_message", "message": "Look at the fork."}));
    let side = lines(&[head("t2", agent.clone()), head("t1", person.clone()), prompt.clone()]);
    assert_eq!(said(&read("rollout-d.jsonl", Format::Codex, &side).0), Vec::<String>::new());
    let own = lines(&[head("t3", person), head("t2", agent), prompt]);
    assert_eq!(said(&read("rollout-e.jsonl", Format::Codex, &own).0), ["user: Look at the fork."]);
}

#[test]
fn of_a_prompt_of_gemini_cli_only_the_words_of_hooks_and_of_the_program_are_cut() {
    let head =
        json!({"sessionId": "s1", "projectHash": "abc", "startTime": "2026-05-01T10:00:00Z", "kind": "main"});
    let message = |id: &str, text: &str| json!({"id": id, "timestamp": "2026-05-01T10:01:00Z", "type": "user", "content": [{"text": text}]});
    let component = "Why is it empty?\n<my-card>\n  <h2>Ports</h2>\n</my-card>";
    let file = lines(&[
        head,
        message("m0", "<session_context>\nThis is the Gemini CLI.\n</session_context>"),
        message("m1", component),
        message("m2", "<hook_context>we use npm</hook_context>\n\nWhich port?"),
        message("m3", "What is <hook_context>?"),
    ]);
    let (desk, skipped) = read("session-2.jsonl", Format::GeminiCli, &file);
    let expect = [component, "Which port?", "What is <hook_context>?"].map(|text| format!("user: {text}"));
    assert_eq!(said(&desk), expect);
    let why = |line: u64| {
        let found: Vec<String> =
            skipped.iter().filter(|one| one.line == line).map(|one| format!("{:?}", one.why)).collect();
        found.join(", ")
    };
    assert_eq!(why(2), "NotMemory(\"a text of the program\")");
    assert_eq!(why(4), "NotMemory(\"a text of the program beside what was said\")");
    assert_eq!((why(3), why(5)), (String::new(), String::new()));
}

#[test]
fn a_session_of_codex_says_each_thing_once_and_nothing_that_was_rolled_back() {
    let line = |second: u32, kind: &str, payload: Value| line(second, kind, &payload);
    let item = |second, role: &str, text: &str| {
        let kind = if role == "assistant" { "output_text" } else { "input_text" };
        line(
            second,
            "response_item",
            json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}),
        )
    };
    let event =
        |second, kind: &str, text: &str| line(second, "event_msg", json!({"type": kind, "message": text}));
    let file = lines(&[
        line(0, "session_meta", json!({"id": "thread-1", "cwd": "/home/ana", "instructions": "be brief"})),
        item(1, "user", "<environment_context>\n<cwd>/home/ana</cwd>\n</environment_context>"),
        item(1, "user", "# AGENTS.md instructions for /home/ana\n\nI prefer tabs"),
        item(2, "user", "Fix the flaky test. I use nextest."),
        event(2, "user_message", "Fix the flaky test. I use nextest."),
        line(3, "response_item", json!({"type": "reasoning", "summary": []})),
        line(
            4,
            "response_item",
            json!({"type": "function_call", "name": "shell", "arguments": "{\"cmd\":\"ls\"}", "call_id": "c1"}),
        ),
        line(5, "response_item", json!({"type": "function_call_output", "call_id": "c1", "output": "a.rs"})),
        item(6, "assistant", "It is fixed."),
        event(6, "agent_message", "It is fixed."),
        item(7, "user", "I moved to Oslo."),
        event(7, "user_message", "I moved to Oslo."),
        item(8, "assistant", "Noted."),
        line(9, "event_msg", json!({"type": "thread_rolled_back", "num_turns": 1})),
        event(10, "user_message", "Thanks."),
        line(11, "event_msg", json!({"type": "token_count", "info": null})),
    ]);
    let (desk, _) = read("rollout-2026-04-22.jsonl", Format::Codex, &file);
    assert_eq!(
        said(&desk),
        [
            "user: Fix the flaky test. I use nextest.",
            "call shell: {\"cmd\":\"ls\"}",
            "result shell: a.rs",
            "assistant: It is fixed.",
            "user: Thanks."
        ]
    );
    let events = kept(&desk);
    assert!(events.iter().all(|event| event.session.as_str() == "thread-1"));
    assert_eq!(events[0].occurred_at.to_string(), "2026-04-22T19:00:02Z");
    let side = lines(&[
        line(0, "session_meta", json!({"id": "t2", "source": {"subagent": "review"}})),
        item(1, "user", "I am a robot."),
    ]);
    assert!(kept(&read("rollout-b.jsonl", Format::Codex, &side).0).is_empty());
}

#[test]
fn a_session_of_gemini_cli_is_read_in_both_of_its_forms() {
    let head = json!({"sessionId": "s1", "projectHash": "abc", "startTime": "2026-05-01T10:00:00Z", "lastUpdated": "2026-05-01T10:09:00Z"});
    let message = |id: &str, kind: &str, content: Value| json!({"id": id, "timestamp": "2026-05-01T10:01:00Z", "type": kind, "content": content});
    let mut asked = message("m1", "user", json!([{"text": "file: x"}, {"text": "Which port?"}]));
    asked["displayContent"] = json!("Which port?");
    let mut answer = message("m2", "gemini", json!("It is 8080."));
    let plain = answer.clone();
    answer["toolCalls"] = json!([{"id": "c", "name": "read_file", "args": {"path": "x"}, "status": "success", "timestamp": "2026-05-01T10:01:30Z",
        "result": [{"functionResponse": {"response": {"output": "port 8080"}}}]}]);
    let rest =
        [message("m3", "info", json!("Update available")), message("m4", "user", json!("I live in Oslo."))];
    let expect = [
        "user: Which port?",
        "assistant: It is 8080.",
        "call read_file: {\"path\":\"x\"}",
        "result read_file: port 8080",
    ];
    let mut whole = head.clone();
    whole["messages"] = json!([asked, answer, rest[0]]);
    for file in [whole.to_string(), serde_json::to_string_pretty(&whole).unwrap()] {
        assert_eq!(said(&read("session-1.json", Format::GeminiCli, &file).0), expect);
    }
    // Each message is rewritten when it changes, and a prompt may be withdrawn.
    let file = lines(&[
        head,
        asked.clone(),
        plain,
        answer.clone(),
        answer,
        rest[0].clone(),
        rest[1].clone(),
        json!({"$rewindTo": "m4"}),
        json!({"$set": {"summary": "Ports"}}),
        message("m5", "user", json!("Thanks.")),
    ]);
    let mut expect: Vec<&str> = expect.to_vec();
    expect.push("user: Thanks.");
    assert_eq!(said(&read("session-1.jsonl", Format::GeminiCli, &file).0), expect);
}

#[test]
fn the_activity_of_gemini_gives_prompts_and_answers() {
    let entry = |title: &str, time: &str, answer: &str| {
        json!({"header": "Gemini Apps", "title": title, "time": time, "products": ["Gemini Apps"],
            "activityControls": ["Gemini Apps Activity"], "safeHtmlItem": [{"html": answer}]})
    };
    let file = json!([
        entry("Prompted Best islands?", "2026-04-20T18:24:31.187Z", "<p>Naxos &amp; Crete</p><ul><li>warm</li></ul>"),
        {"header": "Gemini Apps", "title": "Gave feedback: Good response", "time": "2026-04-20T18:25:00Z", "products": ["Gemini Apps"]},
        {"header": "Search", "title": "Searched for boats", "time": "2026-04-20T18:26:00Z", "products": ["Search"]},
    ]);
    let (desk, skipped) = read("My Activity.json", Format::GeminiTakeout, &file.to_string());
    assert_eq!(said(&desk), ["user: Best islands?", "assistant: Naxos & Crete\nwarm"]);
    assert_eq!(skipped.len(), 2);
    assert_eq!(kept(&desk)[0].session.as_str(), "gemini:2026-04-20");
}

#[test]
fn an_export_of_claude_mem_gives_its_observations_and_what_was_typed() {
    let file = json!({"exportedAt": "2026-02-01T10:00:00Z", "query": "x", "totalObservations": 1, "totalPrompts": 1,
        "observations": [{"id": 1, "memory_session_id": "ms", "project": "boats", "type": "decision", "title": "Use oak",
            "narrative": "Oak lasts.", "facts": "[\"oak is heavy\"]", "concepts": "[\"wood\"]", "created_at_epoch": 1_767_225_600_000_i64}],
        "sessions": [{"id": 1, "content_session_id": "cs", "memory_session_id": "ms", "project": "boats"}],
        "summaries": [{"id": 1, "memory_session_id": "ms", "project": "boats", "request": "Choose wood", "learned": "Oak it is"}],
        "prompts": [{"id": 7, "content_session_id": "cs", "prompt_number": 1, "prompt_text": "I build boats.", "created_at": "2026-01-01T00:00:00Z"}]});
    let (desk, skipped) = read("export.json", Format::ClaudeMem, &file.to_string());
    assert_eq!(
        sorted(&desk),
        [
            "note claude-mem/boats/decision: Use oak\nOak lasts.\n- oak is heavy",
            "note claude-mem/boats/summary: Choose wood\nOak it is",
            "user: I build boats."
        ]
    );
    assert_eq!(skipped.len(), 1);
}

#[test]
fn an_agent_file_of_letta_gives_its_blocks_and_its_conversation() {
    let file = json!({
        "agents": [{"name": "helper", "id": "agent-0", "block_ids": ["block-0"], "messages": [
            {"role": "system", "id": "m0", "content": [{"type": "text", "text": "You are Letta"}], "created_at": "2026-08-28T00:57:44Z"},
            {"role": "user", "id": "m1", "content": [{"type": "text", "text": "{\"type\": \"user_message\", \"message\": \"I live in Oslo.\"}"}],
                "created_at": "2026-08-28T00:58:00Z"},
            {"role": "user", "id": "m2", "content": [{"type": "text", "text": "{\"type\": \"heartbeat\"}"}]},
            {"role": "assistant", "id": "m3", "content": [{"type": "text", "text": "A thought."}], "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "send_message", "arguments": "{\"message\": \"Noted.\"}"}}]},
            {"role": "tool", "id": "m4", "name": "send_message", "tool_call_id": "c", "content": [{"type": "text", "text": "ok"}]},
        ]}],
        "blocks": [{"id": "block-0", "label": "human", "value": "Ana builds boats.", "limit": 20_000}],
        "tools": [{"id": "tool-0", "name": "send_message", "json_schema": {"name": "send_message"}}],
        "metadata": {"revision_id": "d5103ee17ed5"}});
    let (desk, _) = read("helper.af", Format::Letta, &serde_json::to_string_pretty(&file).unwrap());
    assert_eq!(
        said(&desk),
        ["user: I live in Oslo.", "assistant: Noted.", "note letta/human: Ana builds boats."]
    );
    let old = json!({"agent_type": "memgpt_agent", "name": "old", "core_memory": [{"label": "human", "value": "Bo fishes."}],
        "messages": [{"role": "user", "text": "Hello there."}]});
    assert_eq!(
        said(&read("old.af", Format::Letta, &old.to_string()).0),
        ["note letta/human: Bo fishes.", "user: Hello there."]
    );
}

#[test]
fn graphs_of_zep_and_records_of_cogx_give_their_facts() {
    let graph = json!({
        "episodes": [{"uuid": "e1", "name": "chat", "content": "Ana: I sail.", "group_id": "g", "valid_at": "2026-01-02T00:00:00Z"}],
        "entities": [{"uuid": "n1", "name": "Ana", "labels": ["Entity", "Person"], "summary": "Ana sails."}, {"uuid": "n2", "name": "Oslo", "labels": ["Entity"], "summary": ""}],
        "edges": [{"uuid": "f1", "source_node_uuid": "n1", "target_node_uuid": "n2", "name": "LIVES_IN", "fact": "Ana lives in Oslo",
            "valid_at": "2020-01-01T00:00:00Z", "invalid_at": "2025-06-01T00:00:00Z"}]});
    let (desk, _) = read("graph.json", Format::Zep, &graph.to_string());
    assert_eq!(
        sorted(&desk),
        [
            "document: Ana: I sail.",
            "note zep/fact: Ana lives in Oslo (until 2025-06-01)",
            "note zep/person: Ana: Ana sails."
        ]
    );
    let record = |kind: &str, fields: Value| {
        let mut record = json!({"external_system": "mem0", "external_id": format!("x-{kind}"), "scope": {"session_id": "s"}, "kind": kind});
        record.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        record
    };
    let file = lines(&[
        record("memory", json!({"content": "Ana likes oak.", "categories": ["taste"]})),
        record("entity", json!({"name": "Ana", "description": "A sailor."})),
        record("fact", json!({"subject_ref": "Ana", "predicate": "works_at", "object_ref": "Alba"})),
        record("fact", json!({"subject_ref": "n1", "predicate": "knows", "object_ref": "n2"})),
        record("memory_block", json!({"label": "human", "value": "Ana sails."})),
        record(
            "episode",
            json!({"turns": [{"role": "user", "content": "I sail.", "occurred_at": "2026-01-02T00:00:00Z"}, {"role": "assistant", "content": "Fine."}]}),
        ),
        record("document", json!({"content": "The hull is oak."})),
    ]);
    let (desk, skipped) = read("memories.jsonl", Format::Cogx, &file);
    assert_eq!(
        said(&desk),
        [
            "note taste: Ana likes oak.",
            "note entity: Ana: A sailor.",
            "note relation: Ana works at Alba",
            "note letta/human: Ana sails.",
            "user: I sail.",
            "assistant: Fine.",
            "document: The hull is oak."
        ]
    );
    assert_eq!(skipped.len(), 1);
}

#[test]
fn a_document_and_a_list_of_hindsight_give_their_facts() {
    let document = json!({"id": "talk-1", "original_text": "Ana: I sail.", "tags": [], "created_at": "2026-01-02T00:00:00Z",
        "chunks": [{"chunk_index": 0, "chunk_text": "Ana: I sail."}],
        "facts": [{"text": "Ana sails.", "fact_type": "world", "entities": ["Ana"], "mentioned_at": "2026-01-02T00:00:00Z"}, 4]});
    let (desk, skipped) = read("documents/000000.json", Format::Hindsight, &document.to_string());
    assert_eq!(said(&desk), ["document: Ana: I sail.", "note hindsight/world: Ana sails."]);
    assert_eq!(skipped.len(), 1);
    let list = json!({"items": [{"id": "u1", "text": "Bo fishes.", "context": "", "fact_type": "experience", "date": "2026-01-03"}], "total": 1});
    assert_eq!(
        said(&read("list.json", Format::Hindsight, &list.to_string()).0),
        ["note hindsight/experience: Bo fishes."]
    );
}

#[test]
fn memories_of_mem0_in_one_line_are_told() {
    let file = json!({"results": [{"id": "1", "memory": "Ana likes oak.", "user_id": "ana"}]}).to_string();
    assert_eq!(said(&read("mem0.json", Format::Mem0, &file).0), ["note general: Ana likes oak."]);
}

/// An entry of a page of activity.
fn cell(header: &str, content: &str) -> String {
    format!(
        "<div class=\"outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp\"><div class=\"mdl-grid\"><div class=\"header-cell mdl-cell mdl-cell--12-col\">\
        <p class=\"mdl-typography--title\">{header}<br></p></div><div class=\"content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1\">{content}</div>\
        <div class=\"content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1 mdl-typography--text-right\"></div>\
        <div class=\"content-cell mdl-cell mdl-cell--12-col mdl-typography--caption\"><b>Products:</b><br>&emsp;{header}<br></div></div></div>"
    )
}

#[test]
fn the_activity_of_gemini_is_read_from_a_page_too() {
    let page = |cells: &[String]| {
        let style = ".mdl-typography--title{margin:0}".repeat(3_000);
        let cells = cells.concat();
        format!(
            "<html><head><style type=\"text/css\">{style}</style></head><body><div class=\"mdl-grid\">{cells}</div></body></html>"
        )
    };
    let file = page(&[
        cell(
            "Gemini Apps",
            "Prompted&nbsp;Which island?<br>A small one.<br>Mar 5, 2025, 1:12:33\u{202f}PM UTC<br><p>Naxos &amp; Crete</p><div>warm</div>",
        ),
        cell("Gemini-Apps", "Prompted Und im Winter?<br>06.03.2025, 10:12:33 MEZ<br>"),
        cell("Gemini Apps", "Used an assistant feature<br>Mar 7, 2025, 1:12:33 PM UTC<br>"),
        cell("Search", "Searched for boats<br>Mar 8, 2025, 1:12:33 PM UTC<br>"),
    ]);
    let (desk, skipped) = read("MyActivity.html", Format::GeminiTakeout, &file);
    assert_eq!(
        said(&desk),
        ["user: Which island?\nA small one.", "assistant: Naxos & Crete\nwarm", "user: Und im Winter?"]
    );
    let times: Vec<String> = kept(&desk).iter().map(|event| event.occurred_at.to_string()).collect();
    assert_eq!(times, ["2025-03-05T13:12:33Z", "2025-03-05T13:12:33Z", "2025-03-06T10:12:33Z"]);
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    let cut = file.get(..file.find("Und im").unwrap()).unwrap();
    let (desk, skipped) = read("MyActivity.html", Format::GeminiTakeout, cut);
    assert_eq!(said(&desk).len(), 2);
    assert!(skipped.iter().any(SkippedLine::is_broken), "{skipped:?}");
}
