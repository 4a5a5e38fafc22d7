//! Conversations as programs export or keep them.

use mnemal::ImportFormat;
use serde_json::{Map, Value, json};

use super::sample::{Layout, Sample, TextWriter};

/// `conversations.json` of an account export of `ChatGPT`.
pub(super) fn chatgpt(pen: &mut TextWriter<'_>) -> Sample {
    let count = pen.some(1, 4);
    let conversations: Vec<Value> = (0..count).map(|_| tree(pen)).collect();
    let (layout, root) = match pen.some(0, 3) {
        0 => (Layout::Pretty, Value::from(conversations)),
        1 => (Layout::Document, json!({"conversations": conversations})),
        _ => (Layout::Document, Value::from(conversations)),
    };
    let lists = &["mapping", "conversations"];
    Sample::new("conversations.json", ImportFormat::ChatGpt, layout, root).with_lists(lists)
}

fn tree(pen: &mut TextWriter<'_>) -> Value {
    let id = format!("conv-{}", pen.number());
    let root = format!("{id}-root");
    let mut mapping = Map::new();
    let mut parent = root.clone();
    mapping.insert(root.clone(), json!({"id": root, "message": null, "parent": null, "children": []}));
    let add = |mapping: &mut Map<String, Value>, parent: &str, message: Value, number: usize| {
        let name = format!("{id}-{number:04}");
        let mut node = json!({"id": name, "message": message, "parent": parent, "children": []});
        if let Some(message) = node.get_mut("message").and_then(Value::as_object_mut) {
            message.insert("id".to_owned(), Value::from(name.as_str()));
        }
        mapping.insert(name.clone(), node);
        let children = mapping.get_mut(parent).and_then(|above| above.get_mut("children"));
        if let Some(children) = children.and_then(Value::as_array_mut) {
            children.push(Value::from(name.as_str()));
        }
        name
    };
    let message = |pen: &mut TextWriter<'_>, role: &str, kind: &str, parts: Value| {
        json!({"author": {"role": role, "name": null, "metadata": {}}, "create_time": pen.seconds(), "update_time": null,
            "content": {"content_type": kind, "parts": parts}, "status": "finished_successfully", "end_turn": true,
            "weight": 1.0, "metadata": {}, "recipient": "all"})
    };
    if pen.is(40) {
        let host = pen.host();
        let system = message(pen, "system", "text", json!([host]));
        parent = add(&mut mapping, &parent, system, pen.number());
    }
    for turn in 0..pen.some(2, 6) {
        let role = if turn % 2 == 0 { "user" } else { "assistant" };
        if turn > 0 && pen.is(15) {
            let gone = pen.gone();
            let left = message(pen, role, "text", json!([gone]));
            add(&mut mapping, &parent, left, pen.number());
        }
        let text = pen.item();
        let said = if pen.is(10) {
            let host = pen.host();
            message(
                pen,
                role,
                "multimodal_text",
                json!([{"content_type": "image_asset_pointer", "asset_pointer": host}, text]),
            )
        } else {
            message(pen, role, "text", json!([text]))
        };
        parent = add(&mut mapping, &parent, said, pen.number());
    }
    json!({"title": "A talk", "create_time": pen.seconds(), "update_time": pen.seconds(), "mapping": mapping,
        "moderation_results": [], "current_node": parent, "conversation_id": id, "id": id})
}

/// A part of an account export of Claude.
pub(super) fn claude(pen: &mut TextWriter<'_>) -> Sample {
    let lists = &["chat_messages", "docs", "attachments", "project_memories"];
    let count = pen.some(1, 3);
    let (name, root): (_, Vec<Value>) = match pen.some(0, 5) {
        0 => ("projects.json", (0..count).map(|_| project(pen)).collect()),
        1 => {
            let text = format!("**Work**\n\n{}\n\n{}", pen.item(), pen.item());
            let projects = json!({"p1": pen.item(), "p2": pen.item()});
            let memories =
                json!({"conversations_memory": text, "project_memories": projects, "account_uuid": "u"});
            ("memories.json", vec![memories])
        }
        _ => ("conversations.json", (0..count).map(|_| conversation(pen)).collect()),
    };
    let layout = if pen.is(20) { Layout::Pretty } else { Layout::Document };
    let sample = Sample::new(name, ImportFormat::Claude, layout, Value::from(root));
    sample.with_lists(lists).with_nameless(&["attachments"])
}

fn conversation(pen: &mut TextWriter<'_>) -> Value {
    let id = format!("conv-{}", pen.number());
    let is_tree = pen.is(60);
    let mut parent = "00000000-0000-4000-8000-000000000000".to_owned();
    let mut messages = Vec::new();
    for turn in 0..pen.some(2, 6) {
        let sender = if turn % 2 == 0 { "human" } else { "assistant" };
        let said = |pen: &mut TextWriter<'_>, text: String, parent: &str| {
            let name = format!("msg-{}", pen.number());
            let mut message = json!({"uuid": name, "text": text, "sender": sender, "attachments": [], "files": [],
                "content": [{"start_timestamp": pen.time(), "type": "text", "text": text, "citations": []}],
                "created_at": pen.time(), "updated_at": pen.time()});
            if let Some(object) = message.as_object_mut().filter(|_| is_tree) {
                object.insert("parent_message_uuid".to_owned(), Value::from(parent));
            }
            (name, message)
        };
        if is_tree && turn > 0 && pen.is(15) {
            let gone = pen.gone();
            messages.push(said(pen, gone, &parent).1);
        }
        let text = pen.item();
        let (name, mut message) = said(pen, text, &parent);
        if let Some(files) =
            message.get_mut("attachments").and_then(Value::as_array_mut).filter(|_| pen.is(15))
        {
            files.push(json!({"file_name": "a.txt", "file_size": 9, "file_type": "txt", "extracted_content": pen.item()}));
        }
        messages.push(message);
        parent = name;
    }
    json!({"uuid": id, "name": "A talk", "summary": "", "created_at": pen.time(), "updated_at": pen.time(),
        "account": {"uuid": "acc"}, "chat_messages": messages})
}

fn project(pen: &mut TextWriter<'_>) -> Value {
    let count = pen.some(1, 4);
    let document = |pen: &mut TextWriter<'_>| json!({"uuid": format!("doc-{}", pen.number()), "filename": "a.md", "content": pen.item(), "created_at": pen.time()});
    let docs: Vec<Value> = (0..count).map(|_| document(pen)).collect();
    json!({"uuid": format!("project-{}", pen.number()), "name": "Boats", "description": "", "is_private": true,
        "prompt_template": "", "created_at": pen.time(), "updated_at": pen.time(), "docs": docs})
}

/// A transcript of Claude Code.
pub(super) fn claude_code(pen: &mut TextWriter<'_>) -> Sample {
    let mut lines = vec![json!({"type": "summary", "summary": pen.host(), "leafUuid": "x"})];
    let mut parent = Value::Null;
    let entry = |pen: &mut TextWriter<'_>, kind: &str, parent: &Value, message: Value| {
        let uuid = format!("u-{}", pen.number());
        let line = json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/home/ana",
            "sessionId": "s-1", "version": "2.1.9", "type": kind, "message": message, "uuid": uuid, "timestamp": pen.time()});
        (line, Value::from(uuid))
    };
    for turn in 0..pen.some(2, 5) {
        if turn > 0 && pen.is(15) {
            let gone = pen.gone();
            lines.push(entry(pen, "user", &parent, json!({"role": "user", "content": gone})).0);
        }
        let text = pen.item();
        let content = if pen.is(50) { Value::from(text) } else { json!([{"type": "text", "text": text}]) };
        let (line, name) = entry(pen, "user", &parent, json!({"role": "user", "content": content}));
        lines.push(line);
        parent = name;
        if pen.is(40) {
            let call = format!("toolu_{}", pen.number());
            let input = json!({"command": pen.item()});
            let asked = json!([{"type": "tool_use", "id": call, "name": "Bash", "input": input}]);
            let (line, name) = entry(
                pen,
                "assistant",
                &parent,
                json!({"role": "assistant", "model": "m", "content": asked}),
            );
            lines.push(line);
            let answered = json!([{"type": "tool_result", "tool_use_id": call, "content": pen.item(), "is_error": false}]);
            let (line, name) = entry(pen, "user", &name, json!({"role": "user", "content": answered}));
            lines.push(line);
            parent = name;
        }
        let answer = json!([{"type": "thinking", "thinking": pen.host(), "signature": "x"}, {"type": "text", "text": pen.item()}]);
        let (line, name) =
            entry(pen, "assistant", &parent, json!({"role": "assistant", "model": "m", "content": answer}));
        lines.push(line);
        parent = name;
        if pen.is(20) {
            let (text, at) = (pen.item(), pen.time());
            lines.push(json!({"type": "attachment", "uuid": format!("u-{}", pen.number()), "parentUuid": parent, "sessionId": "s-1",
                "timestamp": at, "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": text}}));
        }
    }
    Sample::new("session.jsonl", ImportFormat::ClaudeCode, Layout::Lines, Value::from(lines)).in_order()
}

/// A session file of Codex CLI.
pub(super) fn codex(pen: &mut TextWriter<'_>) -> Sample {
    fn line(kind: &str, payload: &Value, pen: &mut TextWriter<'_>) -> Value {
        json!({"timestamp": pen.time(), "type": kind, "payload": payload})
    }
    fn say(role: &str, text: &str, pen: &mut TextWriter<'_>) -> [Value; 2] {
        let is_user = role == "user";
        let (kind, event) =
            if is_user { ("input_text", "user_message") } else { ("output_text", "agent_message") };
        let item = json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
        [line("response_item", &item, pen), line("event_msg", &json!({"type": event, "message": text}), pen)]
    }
    let meta = json!({"id": "thread-1", "cwd": "/home/ana", "originator": "codex_cli_rs", "cli_version": "0.60.0",
        "instructions": pen.host()});
    let mut lines = vec![line("session_meta", &meta, pen)];
    for turn in 0..pen.some(2, 5) {
        if turn > 0 && pen.is(10) {
            let gone = pen.gone();
            lines.extend(say("user", &gone, pen));
            let back = json!({"type": "thread_rolled_back", "num_turns": 1, "reason": pen.host()});
            lines.push(line("event_msg", &back, pen));
        }
        let text = pen.item();
        lines.extend(say("user", &text, pen));
        let thought = json!({"type": "reasoning", "summary": [{"text": pen.host()}]});
        lines.push(line("response_item", &thought, pen));
        if pen.is(40) {
            let call = format!("call-{}", pen.number());
            let arguments = json!({"cmd": pen.item()}).to_string();
            let asked =
                json!({"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call});
            lines.push(line("response_item", &asked, pen));
            let answered = json!({"type": "function_call_output", "call_id": call, "output": pen.item()});
            lines.push(line("response_item", &answered, pen));
        }
        let text = pen.item();
        lines.extend(say("assistant", &text, pen));
    }
    let name = "rollout-2026-03-01T10-00-00.jsonl";
    Sample::new(name, ImportFormat::Codex, Layout::Lines, Value::from(lines)).without_names().in_order()
}

/// A session file of Gemini CLI, in both of its forms.
pub(super) fn gemini_cli(pen: &mut TextWriter<'_>) -> Sample {
    let head =
        json!({"sessionId": "s-1", "projectHash": "abc", "startTime": pen.time(), "lastUpdated": pen.time()});
    let mut messages = Vec::new();
    for turn in 0..pen.some(2, 7) {
        let kind = if turn % 2 == 0 { "user" } else { "gemini" };
        let content = if pen.is(50) { json!(pen.item()) } else { json!([{"text": pen.item()}]) };
        let mut message = json!({"id": format!("m-{}", pen.number()), "timestamp": pen.time(), "type": kind, "content": content});
        if let Some(object) = message.as_object_mut().filter(|_| kind == "gemini" && pen.is(40)) {
            let result = json!([{"functionResponse": {"id": "c", "name": "read_file", "response": {"output": pen.item()}}}]);
            let call = json!({"id": "c", "name": "read_file", "args": {"path": pen.item()}, "status": "success", "timestamp": pen.time(), "result": result});
            object.insert("toolCalls".to_owned(), json!([call]));
        }
        messages.push(message);
        if pen.is(20) {
            messages.push(json!({"id": format!("m-{}", pen.number()), "timestamp": pen.time(), "type": "info", "content": pen.host()}));
        }
    }
    let lists = &["messages"];
    if pen.is(50) {
        let mut lines = vec![head];
        if let Some(object) = lines.first_mut().and_then(Value::as_object_mut) {
            object.insert("summary".to_owned(), Value::from(pen.host()));
        }
        lines.append(&mut messages);
        return Sample::new("session-1.jsonl", ImportFormat::GeminiCli, Layout::Lines, Value::from(lines));
    }
    let mut whole = head;
    if let Some(object) = whole.as_object_mut() {
        object.insert("messages".to_owned(), Value::from(messages));
    }
    let layout = if pen.is(50) { Layout::Pretty } else { Layout::Document };
    Sample::new("session-1.json", ImportFormat::GeminiCli, layout, whole).with_lists(lists)
}

/// `My Activity.json` of Gemini.
pub(super) fn gemini_takeout(pen: &mut TextWriter<'_>) -> Sample {
    let count = pen.some(2, 6);
    let entry = |pen: &mut TextWriter<'_>| {
        if pen.is(15) {
            return json!({"header": "Gemini Apps", "title": format!("Used {}", pen.host()), "time": pen.time(), "products": ["Gemini Apps"]});
        }
        json!({"header": "Gemini Apps", "title": format!("Prompted {}", pen.item()), "time": pen.time(), "products": ["Gemini Apps"],
            "activityControls": ["Gemini Apps Activity"], "safeHtmlItem": [{"html": format!("<p>{}</p>", pen.item())}]})
    };
    let entries: Vec<Value> = (0..count).map(|_| entry(pen)).collect();
    let layout = if pen.is(50) { Layout::Pretty } else { Layout::Document };
    Sample::new("My Activity.json", ImportFormat::GeminiTakeout, layout, Value::from(entries))
}

/// The same activity as a page, one entry per line.
pub(super) fn gemini_takeout_page(pen: &mut TextWriter<'_>) -> Sample {
    let cell = |pen: &mut TextWriter<'_>, content: &str| {
        let (number, kind) = (pen.number(), "content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1");
        let when = format!(
            "Mar {}, 2025, {}:{:02}:33\u{202f}PM UTC",
            1 + number / 60 % 28,
            1 + number % 11,
            number % 60
        );
        let content = content.replacen("WHEN", &when, 1);
        format!(
            "<div class=\"outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp\"><div class=\"mdl-grid\"><div class=\"header-cell mdl-cell \
            mdl-cell--12-col\"><p class=\"mdl-typography--title\">Gemini Apps<br></p></div><div class=\"{kind}\">{content}</div>\
            <div class=\"{kind} mdl-typography--text-right\"></div><div class=\"content-cell mdl-cell mdl-cell--12-col \
            mdl-typography--caption\"><b>Products:</b><br>&emsp;Gemini Apps<br></div></div></div>"
        )
    };
    let style = ".mdl-typography--title{margin:0}";
    let mut lines = vec![format!(
        "<html><head><style type=\"text/css\">{style}</style></head><body><div class=\"mdl-grid\">"
    )];
    for _ in 0..pen.some(2, 6) {
        let content = if pen.is(15) {
            format!("Used {}<br>WHEN", pen.host())
        } else {
            format!("Prompted&nbsp;{}<br>WHEN<br><p>{}</p>", pen.item(), pen.item())
        };
        lines.push(cell(pen, &content));
    }
    let sample =
        Sample::new("MyActivity.html", ImportFormat::GeminiTakeout, Layout::Text, Value::from(lines));
    Sample { head: 1, tail: "</div></body></html>", ..sample }
}

/// Messages in the shape of a chat completion.
pub(super) fn openai(pen: &mut TextWriter<'_>) -> Sample {
    let has_ids = pen.is(50);
    let message = |pen: &mut TextWriter<'_>, role: &str, text: String| {
        let content = if pen.is(50) { json!(text) } else { json!([{"type": "text", "text": text}]) };
        let mut message = json!({"role": role, "content": content, "created_at": pen.time()});
        if let Some(object) = message.as_object_mut().filter(|_| has_ids) {
            object.insert("id".to_owned(), Value::from(format!("m-{}", pen.number())));
        }
        message
    };
    let talk = |pen: &mut TextWriter<'_>| {
        let mut messages = Vec::new();
        if pen.is(40) {
            let host = pen.host();
            messages.push(message(pen, "system", host));
        }
        for turn in 0..pen.some(2, 6) {
            let text = pen.item();
            messages.push(message(pen, if turn % 2 == 0 { "user" } else { "assistant" }, text));
        }
        messages
    };
    let count = pen.some(1, 3);
    let lines: Vec<Value> = if pen.is(50) {
        (0..count).map(|n| json!({"session_id": format!("talk-{n}"), "created_at": pen.time(), "messages": talk(pen)})).collect()
    } else {
        talk(pen)
    };
    let sample = Sample::new("chat.jsonl", ImportFormat::OpenAi, Layout::Lines, Value::from(lines))
        .with_lists(&["messages"]);
    Sample { has_names: has_ids, ..sample }
}

/// A chat history of `LangChain`.
pub(super) fn langchain(pen: &mut TextWriter<'_>) -> Sample {
    let count = pen.some(2, 6);
    let message = |turn: usize, pen: &mut TextWriter<'_>| {
        let kind = if turn.is_multiple_of(2) { "human" } else { "ai" };
        json!({"type": kind, "data": {"content": pen.item(), "additional_kwargs": {}, "response_metadata": {}, "type": kind,
            "name": null, "id": format!("m-{}", pen.number()), "example": false}})
    };
    let messages: Vec<Value> = (0..count).map(|turn| message(turn, pen)).collect();
    let layout = if pen.is(30) { Layout::Pretty } else { Layout::Document };
    Sample::new("history.json", ImportFormat::LangChain, layout, Value::from(messages))
}

/// The neutral layout.
pub(super) fn neutral(pen: &mut TextWriter<'_>) -> Sample {
    let count = pen.some(3, 9);
    let record = |pen: &mut TextWriter<'_>| {
        let speaker = pen.dice.one_of(&["user", "Ada", "assistant", "tool"]).to_owned();
        json!({"id": pen.number(), "conv": "trip", "session": "trip-1", "ts": pen.time(), "speaker": speaker, "text": pen.item()})
    };
    let lines: Vec<Value> = (0..count).map(|_| record(pen)).collect();
    Sample::new("history.jsonl", ImportFormat::Neutral, Layout::Lines, Value::from(lines))
}
