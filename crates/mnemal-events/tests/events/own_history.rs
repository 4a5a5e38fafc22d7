//! Whose words an import is.

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
                let kept = event.kept().unwrap();
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
    assert_eq!(desk.all()[0].kept().unwrap().origin, Origin::Import);
}
