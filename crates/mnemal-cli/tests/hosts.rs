//! Hooks of the hosts besides Claude Code: what each one sends is stored, and each one gets its answer.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const SAID: &str = "The orders database listens on port 5544.";
const ANSWERED: &str = "Noted: orders, port 5544.";
const ASKED: &str = "Which port does the orders database listen on?";

/// One user's machine with one project.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(desk.project().join(".git")).unwrap();
        desk
    }

    fn project(&self) -> PathBuf {
        self.0.path().join("shop")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        // A host calls hooks in any folder, and names its own.
        command.args(args).current_dir(self.0.path()).env_clear();
        command.env("HOME", self.0.path()).env("MNEMAL_DATA_DIR", self.0.path().join("data"));
        command.env("MNEMAL_HOOKS__DEADLINE_MS", "120000").env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000");
        command
    }

    fn hook(&self, host: &str, event: &str, input: &Value) -> Value {
        let mut command = self.command(&["hook", host, event]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Session, origin, channel and words of each message.
    fn events(&self) -> Vec<[String; 4]> {
        let mut command = self.command(&["--jsonl", "log", "list", "-n", "1000"]);
        let output = command.current_dir(self.project()).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
        let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut events: Vec<[String; 4]> = events
            .filter(|event| event["role"] == "user" || event["role"] == "assistant")
            .map(|event| ["session", "origin", "channel", "content"].map(|field| text(&event, field)))
            .collect();
        events.sort();
        events
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.0.path().join("data/hooks.log")).unwrap_or_default()
    }
}

fn turn(session: &str, channel: &str) -> Vec<[String; 4]> {
    let one = |origin: &str, text: &str| [session, origin, channel, text].map(str::to_owned);
    vec![one("assistant", ANSWERED), one("user_direct", SAID)]
}

fn lines(entries: &[Value]) -> String {
    let lines: Vec<String> = entries.iter().map(|entry| format!("{entry}\n")).collect();
    lines.concat()
}

/// Returns a turn as Codex writes it: words twice, as an item and as an event.
fn rollout(said: &str, answered: &str) -> String {
    let line = |kind: &str, payload: Value| json!({"timestamp": "2026-03-02T09:40:00.000Z", "type": kind, "payload": payload});
    let item = |role: &str, kind: &str, text: &str| {
        let content = json!([{"type": kind, "text": text}]);
        line("response_item", json!({"type": "message", "role": role, "content": content}))
    };
    lines(&[
        item("user", "input_text", said),
        line("event_msg", json!({"type": "user_message", "message": said})),
        line("event_msg", json!({"type": "agent_message", "message": answered})),
        item("assistant", "output_text", answered),
    ])
}

#[test]
fn codex_is_captured_from_its_transcript_and_gets_context() {
    let desk = Desk::new();
    let meta = json!({"timestamp": "2026-03-02T09:40:00.000Z", "type": "session_meta",
        "payload": {"id": "c1", "cwd": "/shop", "source": "cli"}});
    let mut text = lines(&[meta]) + &rollout(SAID, ANSWERED);
    // A line that is still being written is left for the next time.
    let transcript = desk.write("rollout.jsonl", &format!("{text}{{\"timestamp\": "));
    let mut input = json!({"session_id": "c1", "transcript_path": transcript, "cwd": desk.project(),
        "hook_event_name": "Stop", "model": "m", "permission_mode": "default", "turn_id": "t1",
        "stop_hook_active": false, "last_assistant_message": ANSWERED});
    assert_eq!(desk.hook("codex", "Stop", &input), json!({}));
    assert_eq!(desk.events(), turn("c1", "codex"), "{}", desk.log());
    // The conversation keeps its name when its first line is far away.
    for _ in 0..3 {
        let thought = json!({"type": "reasoning", "summary": "x".repeat(600_000)});
        text += &lines(&[
            json!({"timestamp": "2026-03-02T09:41:00.000Z", "type": "response_item", "payload": thought}),
        ]);
    }
    desk.write("rollout.jsonl", &text);
    assert_eq!(desk.hook("codex", "Stop", &input), json!({}));
    text += &rollout("We deploy on Tuesdays.", "Tuesdays it is.");
    desk.write("rollout.jsonl", &text);
    input["hook_event_name"] = "SessionEnd".into();
    assert_eq!(desk.hook("codex", "SessionEnd", &input), json!({}));
    let late = desk.log();
    if late.contains("no answer within 2000 ms") {
        // A busy machine is too slow for the limit of Codex; then the next event captures the rest.
        assert_eq!(desk.hook("codex", "Stop", &input), json!({}));
    }
    let events = desk.events();
    assert_eq!(events.len(), 4, "{events:?}");
    assert!(events.iter().all(|event| event[0] == "c1"), "{events:?}");
    assert!(desk.log() == late && late.lines().all(|line| line.contains("no answer within")), "{late}");
    let input = json!({"session_id": "c2", "transcript_path": null, "cwd": desk.project(),
        "hook_event_name": "UserPromptSubmit", "model": "m", "permission_mode": "default", "turn_id": "t9",
        "prompt": ASKED});
    let answer = desk.hook("codex", "UserPromptSubmit", &input);
    nested(&answer, "UserPromptSubmit", "5544");
    let mut input = input;
    (input["hook_event_name"], input["source"]) = ("SessionStart".into(), "startup".into());
    input["session_id"] = "c3".into();
    // The last exchange is too short to be worth a line.
    nested(&desk.hook("codex", "SessionStart", &input), "SessionStart", "5544");
}

#[test]
fn what_is_not_finished_when_codex_ends_a_hook_is_logged() {
    let desk = Desk::new();
    let mut command = desk.command(&["hook", "codex", "SessionEnd"]);
    command.env("MNEMAL_HOOKS__DEADLINE_MS", "800").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Its input never ends, so it works until its limit, a second before that of Codex.
    let open = child.stdin.take().unwrap();
    let output = child.wait_with_output().unwrap();
    drop(open);
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), "{}");
    assert!(desk.log().contains("no answer within 2000 ms"), "{}", desk.log());
}

/// Codex refuses unknown fields, so the answer has these and no others.
fn nested(answer: &Value, event: &str, word: &str) {
    let output = &answer["hookSpecificOutput"];
    let block = output["additionalContext"].as_str().unwrap_or_default();
    assert!(block.contains(word), "{answer}");
    let expect = json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": block}});
    assert_eq!(*answer, expect);
}

#[test]
fn gemini_cli_is_captured_from_its_transcript_without_the_words_of_hooks() {
    let desk = Desk::new();
    let context =
        "<hook_context>&lt;mnemal-context nonce=\"1\"&gt; we use npm &lt;/mnemal-context&gt;</hook_context>";
    let text = lines(&[
        json!({"sessionId": "g1", "projectHash": "h", "startTime": "2026-03-02T09:40:00.000Z", "kind": "main"}),
        json!({"$set": {"messages": [{"id": "m0", "timestamp": "2026-03-02T09:40:00.000Z", "type": "user",
            "content": [{"text": "<session_context>\nThis is the Gemini CLI.\n</session_context>"}]}]}}),
        json!({"id": "m1", "timestamp": "2026-03-02T09:40:00.000Z", "type": "user",
            "content": [{"text": format!("{context}\n\n{SAID}")}, {"text": context}],
            "displayContent": [{"text": format!("{context}\n\n{SAID}")}]}),
        json!({"id": "m2", "timestamp": "2026-03-02T09:40:05.000Z", "type": "gemini", "content": ANSWERED}),
        json!({"$set": {"lastUpdated": "2026-03-02T09:40:05.000Z"}}),
    ]);
    let transcript = desk.write("session-1.jsonl", &text);
    let input = json!({"session_id": "g1", "transcript_path": transcript, "cwd": desk.project(),
        "hook_event_name": "AfterAgent", "timestamp": "2026-03-02T09:40:06.000Z", "prompt": SAID,
        "prompt_response": ANSWERED, "stop_hook_active": false});
    for _ in 0..2 {
        assert_eq!(desk.hook("gemini-cli", "AfterAgent", &input), json!({}));
    }
    assert_eq!(desk.events(), turn("g1", "gemini-cli"), "{}", desk.log());
    let input = json!({"session_id": "g2", "transcript_path": "", "cwd": desk.project(),
        "hook_event_name": "BeforeAgent", "timestamp": "2026-03-02T10:40:06.000Z",
        "prompt": format!("{context}\n\n{ASKED}")});
    nested(&desk.hook("gemini-cli", "BeforeAgent", &input), "BeforeAgent", "5544");
    assert_eq!(desk.log(), "");
}

fn cursor(desk: &Desk, conversation: &str, event: &str, more: &Value) -> Value {
    let mut input = json!({"conversation_id": conversation, "generation_id": format!("{conversation}-1"),
        "hook_event_name": event, "workspace_roots": [desk.project()], "cursor_version": "3.20.17",
        "transcript_path": null});
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    desk.hook("cursor", event, &input)
}

#[test]
fn cursor_is_captured_from_the_words_of_its_events_and_gets_context() {
    let desk = Desk::new();
    let goes_on = json!({"continue": true});
    for _ in 0..2 {
        assert_eq!(cursor(&desk, "u1", "beforeSubmitPrompt", &json!({"prompt": SAID})), goes_on);
        assert_eq!(cursor(&desk, "u1", "afterAgentResponse", &json!({"text": ANSWERED})), json!({}));
    }
    assert_eq!(desk.events(), turn("u1", "cursor"), "{}", desk.log());
    assert_eq!(cursor(&desk, "u1", "preCompact", &json!({"trigger": "auto"})), json!({}));
    let answer = cursor(&desk, "u3", "sessionStart", &json!({"session_id": "u3", "composer_mode": "agent"}));
    let block = answer["additional_context"].as_str().unwrap_or_default();
    assert!(block.contains("5544"), "{answer}");
    assert_eq!(answer, json!({"additional_context": block}));
    let answer = cursor(&desk, "u2", "beforeSubmitPrompt", &json!({"prompt": ASKED}));
    let block = answer["additional_context"].as_str().unwrap_or_default();
    assert!(block.contains("5544"), "{answer}");
    assert_eq!(answer, json!({"continue": true, "additional_context": block}));
    let asked = ["u2", "user_direct", "cursor", ASKED].map(str::to_owned);
    assert!(desk.events().contains(&asked), "a question is said, too: {:?}", desk.events());
    assert_eq!(desk.log(), "");
}

#[test]
fn a_prompt_that_cannot_be_answered_goes_on() {
    let desk = Desk::new();
    let mut command = desk.command(&["hook", "cursor", "beforeSubmitPrompt"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), "{\"continue\":true}");
    assert!(desk.log().contains("no JSON object"), "{}", desk.log());
    let settings = desk.write("config.toml", "[hooks]\nrecal_tokens = 3\n");
    for (name, value, why) in [
        ("MNEMAL_CONFIG", settings.to_str().unwrap(), "recal_tokens"),
        ("MNEMAL_SERVER", "http://127.0.0.1:1", "unset MNEMAL_SERVER"),
    ] {
        let mut command = desk.command(&["hook", "cursor", "beforeSubmitPrompt"]);
        let output = command.env(name, value).stdin(Stdio::null()).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), "{\"continue\":true}", "{name}");
        assert!(desk.log().contains(why), "{}", desk.log());
    }
    assert_eq!(desk.hook("zed", "Stop", &json!({})), json!({}));
    assert!(desk.log().contains("no client \"zed\""), "{}", desk.log());
}

#[test]
fn opencode_is_captured_from_the_messages_of_its_plugin() {
    let desk = Desk::new();
    let message = |id: &str, role: &str, text: &str| json!({"id": id, "role": role, "content": text, "created_at": "2026-03-02T09:40:00.000Z"});
    let messages = [message("msg_1", "user", SAID), message("msg_2", "assistant", ANSWERED)];
    let input = json!({"session_id": "o1", "cwd": desk.project(), "messages": messages});
    for event in ["Stop", "PreCompact", "Stop"] {
        assert_eq!(desk.hook("opencode", event, &input), json!({}));
    }
    assert_eq!(desk.events(), turn("o1", "opencode"), "{}", desk.log());
    let input = json!({"session_id": "o2", "cwd": desk.project(), "prompt": ASKED});
    nested(&desk.hook("opencode", "UserPromptSubmit", &input), "UserPromptSubmit", "5544");
    assert_eq!(desk.log(), "");
}

/// A host that calls the plugin as OpenCode does: a conversation with a summary, one of an agent below it, one of each kind that
/// cannot be read at first, and a question elsewhere, on Windows.
const HOST: &str = r#"
import child from "node:child_process"
import { syncBuiltinESMExports } from "node:module"
import { pathToFileURL } from "node:url"
const { spawn } = child
const shells = new Set()
child.spawn = (program, args, options) => {
  shells.add(`${process.platform === "win32"}: ${options.shell}`)
  return spawn(program, args, { ...options, shell: false })
}
syncBuiltinESMExports()
const { MnemalPlugin } = await import(pathToFileURL(process.argv[2]).href)
const [said, answered, asked, other] = process.argv.slice(4)
const text = (id, text, more = {}) => ({ id, type: "text", text, ...more })
const agent = (id) => ({ id, parentID: "o1" })
const sessions = { o1: { id: "o1" }, o2: { id: "o2" }, o3: agent("o3"), o4: agent("o4"), o5: { id: "o5" } }
const messages = { o1: [], o2: [], o3: [], o4: [], o5: [] }
const failing = new Set(["o4", "o5"])
const session = {
  get: async ({ path }) => (failing.delete(path.id) ? { error: {} } : { data: sessions[path.id] }),
  messages: async ({ path }) => ({ data: messages[path.id] }),
}
const hooks = await MnemalPlugin({ client: { session }, directory: process.argv[3] })
const send = async (sessionID, prompt) => {
  const message = { id: `msg_${sessionID}_1`, role: "user", summary: { diffs: [] }, time: { created: 1772444400000 } }
  const parts = [text("prt_1", prompt)]
  await hooks["chat.message"]({ sessionID }, { message, parts })
  messages[sessionID].push({ info: message, parts })
  const info = { id: `msg_${sessionID}_2`, role: "assistant", time: { created: 1772444405000 } }
  messages[sessionID].push({ info, parts: [text("prt_2", answered), { id: "prt_3", type: "tool" }] })
  await hooks.event({ event: { type: "session.idle", properties: { sessionID } } })
  return parts
}
const summary = { id: "msg_o1_0", role: "assistant", summary: true, time: { created: 1772444300000 } }
messages.o1.push({ info: summary, parts: [text("prt_0", "A person and an agent have talked.")] })
await send("o1", said)
await send("o3", "An agent asks for the port.")
await send("o4", "Another agent asks for it.")
await send("o5", other)
Object.defineProperty(process, "platform", { value: "win32" })
console.log(JSON.stringify({ parts: await send("o2", asked), shells: [...shells] }))
await hooks.dispose()
"#;

#[test]
fn the_plugin_of_opencode_captures_and_injects() {
    if Command::new("node").arg("--version").output().is_err() {
        println!("node is not installed: the plugin of OpenCode was NOT run");
        return;
    }
    let desk = Desk::new();
    let setup = desk.command(&["setup", "opencode", "--hooks", "--yes"]).output().unwrap();
    assert!(setup.status.success());
    let plugin = desk.0.path().join(".config/opencode/plugins/mnemal.js");
    // OpenCode takes any file there for a module.
    let module = desk.write("plugin.mjs", &std::fs::read_to_string(plugin).unwrap());
    let host = desk.write("host.mjs", HOST);
    let program = Path::new(env!("CARGO_BIN_EXE_mnemal")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([program].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let like = desk.command(&[]);
    let mut command = Command::new("node");
    for (name, value) in like.get_envs() {
        command.env(name, value.unwrap());
    }
    let other = "The office closes at six.";
    command.arg(host).arg(module).arg(desk.project()).args([SAID, ANSWERED, ASKED, other]).env("PATH", path);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["shells"], json!(["false: false", "true: true"]), "only Windows needs a shell");
    let parts = &told["parts"];
    assert_eq!((&parts[0]["text"], parts.as_array().unwrap().len()), (&ASKED.into(), 2), "{parts}");
    let added = &parts[1];
    assert!(added["text"].as_str().unwrap().contains("5544"), "{parts}");
    assert_eq!((&added["id"], &added["synthetic"]), (&"prt_1m".into(), &true.into()), "{parts}");
    let events = desk.events();
    assert_eq!(events[..2], turn("o1", "opencode"), "{}", desk.log());
    assert!(
        events.iter().all(|event| event[0] != "o3" && event[0] != "o4"),
        "an agent's words to an agent are nobody's: {events:?}"
    );
    let late = ["o5", "user_direct", "opencode", other].map(str::to_owned);
    assert!(events.contains(&late), "a session is asked for again: {events:?}");
    assert_eq!(events.len(), 6, "{events:?}");
    assert_eq!(desk.log(), "");
}
