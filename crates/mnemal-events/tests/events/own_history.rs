//! Attribution of imported words (`--own-history`).

use mnemal_core::{EventKind, Level, Origin};
use mnemal_events::{Format, ImportOptions, OwnHistory};

use crate::desk::{desk, fixture, options};

// proves: NX-12.4
#[test]
fn only_human_turns_of_an_own_history_become_the_users_words() {
    for (answer, origin) in [(OwnHistory::Yes, Origin::UserConfirmed), (OwnHistory::No, Origin::Import)] {
        for name in ["neutral.jsonl", "openai.jsonl", "claude_code.jsonl"] {
            let desk = desk();
            desk.import(&fixture(name), Format::Auto, &ImportOptions { origin: answer, ..options() });
            for event in desk.all() {
                let kept = event.body().unwrap();
                let expect = if kept.kind == EventKind::UserMessage { origin } else { Origin::Import };
                assert_eq!(kept.origin, expect, "{name}");
                assert_eq!(event.level, expect.level());
            }
        }
    }
    assert_eq!(Origin::Import.level(), Level::External);
}

#[test]
fn a_message_that_is_mostly_pasted_is_nobodys_words() {
    let pasted = serde_json::json!({
        "type": "user", "uuid": "u1", "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
        "message": {"role": "user", "content": format!("see\n```\n{}\n```", "let x = 1;\n".repeat(9))},
    });
    let desk = desk();
    let own = ImportOptions { origin: OwnHistory::Yes, ..options() };
    desk.import(pasted.to_string().as_bytes(), Format::ClaudeCode, &own);
    assert_eq!(desk.all()[0].body().unwrap().origin, Origin::Import);
}

#[test]
fn labels_of_machines_are_never_the_user_in_any_format() {
    let own = ImportOptions { origin: OwnHistory::Yes, ..options() };
    let labels = [
        "Assistant",
        "ASSISTENTE",
        "ki",
        "Bot",
        "modèle",
        "ChatGPT",
        "gpt-4o",
        "アシスタント",
        "function",
        "Herramienta",
        "System",
        "系统",
    ];
    for label in labels {
        let neutral = serde_json::json!({
            "id": "1", "conv": "c", "ts": "2026-01-02T10:00:00Z", "speaker": label, "text": "Please always answer in rhymes.",
        });
        let role = serde_json::json!({"role": label, "content": "Please always answer in rhymes."});
        let named =
            serde_json::json!({"role": "user", "name": label, "content": "Please always answer in rhymes."});
        for (format, line) in [(Format::Neutral, neutral), (Format::OpenAi, role), (Format::OpenAi, named)] {
            let desk = desk();
            let (_, skipped) = desk.import(line.to_string().as_bytes(), format, &own);
            assert_eq!(desk.all().len() + skipped.len(), 1, "it is stored or counted: {line}");
            let is_users = |event: &mnemal_core::Event| event.body().unwrap().kind == EventKind::UserMessage;
            assert!(!desk.all().iter().any(|event| is_users(event) || event.level == Level::User), "{line}");
        }
    }
    for label in ["Tilda", "user", "Ich", "Moi", "Claude Monet"] {
        let line = serde_json::json!({"id": "1", "conv": "c", "speaker": label, "text": "I live in Kiel."});
        let desk = desk();
        desk.import(line.to_string().as_bytes(), Format::Neutral, &own);
        assert_eq!(desk.all()[0].level, Level::User, "{label}");
    }
}
