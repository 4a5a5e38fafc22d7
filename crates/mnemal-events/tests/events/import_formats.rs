//! Exports of other programs: each record with its time, author and place.

use mnemal_core::{Decision, Event, EventKind, NewEvent, Origin, ToolName};
use mnemal_events::{Format, ImportOptions, ImportOutcome, LinePolicy, OwnHistory, SkippedLine, detect};

use crate::desk::{Desk, batches, desk, fixture, options};

/// Every fixture with the format that its bytes and its name tell.
const FILES: [(&str, Format); 12] = [
    ("chatgpt.json", Format::ChatGpt),
    ("claude_conversations.json", Format::Claude),
    ("claude_projects.json", Format::Claude),
    ("claude_memories.json", Format::Claude),
    ("mcp_memory.jsonl", Format::McpMemory),
    ("mem0.json", Format::Mem0),
    ("agent/MEMORY.md", Format::MemoryMd),
    ("agent/2025-12-24.md", Format::MemoryMd),
    ("agent/telegram_4711.jsonl", Format::OpenAi),
    ("vault_note.md", Format::Obsidian),
    ("rockbot.json", Format::RockBot),
    ("langchain.json", Format::LangChain),
];

fn read(name: &str, origin: OwnHistory) -> (Desk, ImportOutcome, Vec<SkippedLine>) {
    let desk = desk();
    let options = ImportOptions { lenient: LinePolicy::Yes, origin, source: name.to_owned(), ..options() };
    let (taken, skipped) = desk.import(&fixture(name), Format::Auto, &options);
    (desk, taken, skipped)
}

fn kept(events: &[Event]) -> Vec<&NewEvent> {
    events.iter().map(|event| event.body().unwrap()).collect()
}

fn said(skipped: &[SkippedLine]) -> Vec<(u64, String)> {
    skipped.iter().map(|skip| (skip.line, skip.why.to_string())).collect()
}

/// Returns where a note is filed and its tags.
fn filed(event: &NewEvent) -> (&str, Vec<&str>) {
    let EventKind::Decision(Decision::Remember(note)) = &event.kind else { panic!("{event:?} is no note") };
    (note.category.as_str(), note.tags.iter().map(mnemal_core::Tag::as_str).collect())
}

// proves: NX-12.1
#[test]
fn every_format_is_told_by_its_bytes_and_its_name() {
    for (name, format) in FILES {
        assert_eq!(detect(&fixture(name), name).unwrap(), format, "{name}");
        assert_eq!(Format::from_name(format.as_str()), Some(format));
    }
    let error = detect(b"{\"x\": 1}\n", "x.json").unwrap_err();
    assert!(error.what().contains("jsonl, neutral, openai, claude-code, chatgpt"), "{error}");
}

#[test]
fn a_second_import_of_every_format_changes_nothing_and_no_word_is_the_users_without_a_voucher() {
    for (name, format) in FILES {
        let (desk, first, _) = read(name, OwnHistory::No);
        assert!(first.stored > 0, "{name}");
        assert!(first.refused.is_empty(), "{name}: {:?}", first.refused);
        let before = desk.bytes();
        let again = ImportOptions { lenient: LinePolicy::Yes, source: name.to_owned(), ..options() };
        let (second, _) = desk.import(&fixture(name), format, &again);
        assert_eq!((second.stored, second.duplicates), (0, first.stored + first.duplicates), "{name}");
        assert_eq!(desk.bytes(), before, "{name}");
        assert!(kept(&desk.all()).iter().all(|event| event.origin == Origin::Import), "{name}");
    }
}

#[test]
fn of_a_tree_of_messages_the_branch_that_was_shown_is_kept() {
    let (desk, taken, skipped) = read("chatgpt.json", OwnHistory::Yes);
    let events = desk.all();
    let kept = kept(&events);
    let texts: Vec<&str> = kept.iter().map(|event| event.content.as_str()).collect();
    assert_eq!(
        texts,
        [
            "How do I keep a starter alive on a sailing boat?",
            "print(24 * 7)",
            "168",
            "Feed it stiff, once in 168 hours, and gimbal the jar.",
            "This is my jar. I keep it in the port locker.",
            "The mooring fee in Grebbestad is 280 kronor.",
        ]
    );
    assert_eq!(taken.stored, 6);
    let python = ToolName::new("python").unwrap();
    assert_eq!(kept[1].kind, EventKind::ToolCall { tool: python.clone() });
    assert_eq!(kept[2].kind, EventKind::ToolResult { tool: python, ok: true });
    let origins: Vec<Origin> = kept.iter().map(|event| event.origin).collect();
    let (own, other) = (Origin::UserConfirmed, Origin::Import);
    assert_eq!(origins, [own, other, other, other, own, own]);
    assert_eq!(kept[0].occurred_at.to_string(), "2025-01-01T10:00:01.500000Z");
    assert_eq!(kept[5].occurred_at.to_string(), "2025-01-03T10:26:40Z", "the start of its conversation");
    assert_eq!(kept[5].metadata["time_inferred"], "true");
    assert_eq!(kept[0].metadata["title"], "Sourdough on a boat");
    assert_eq!((kept[0].session.as_str(), kept[5].session.as_str()), ("c-boat", "c-fee"));
    for pair in [1, 2, 3, 4] {
        assert_eq!(kept[pair].parent, Some(events[pair - 1].id), "each answers the one before");
    }
    let said = said(&skipped);
    let on = |line: u64, why: &str| said.iter().filter(|one| **one == (line, why.to_owned())).count();
    assert_eq!(on(1, "not memory: instructions of the host"), 2);
    assert_eq!(on(1, "not memory: a message of another branch"), 1);
    assert_eq!(on(1, "not memory: a thought of the agent"), 1);
    assert_eq!(on(1, "not memory: a part that is not text"), 1);
    assert_eq!(on(2, "the tree of messages goes round in a circle"), 1);
    assert_eq!(on(3, "field `current_node` is missing"), 0, "it is read to its newest leaf");
    assert!(!desk.bytes().contains("Nils") && !desk.bytes().contains("Freeze it"));
}

#[test]
fn an_account_export_of_claude_gives_turns_files_and_notes_of_the_program() {
    let (desk, _, skipped) = read("claude_conversations.json", OwnHistory::Yes);
    let events = desk.all();
    let kept_events = kept(&events);
    let texts: Vec<(&str, Origin)> =
        kept_events.iter().map(|event| (event.content.as_str(), event.origin)).collect();
    assert_eq!(
        texts,
        [
            ("The third heddle of my loom sticks.", Origin::UserConfirmed),
            ("Model: Glimakra Standard, 8 shafts", Origin::Import),
            ("Wax the heddle bar,\nthen even out the tension.", Origin::Import),
        ]
    );
    assert_eq!(kept_events[1].kind, EventKind::Document);
    assert_eq!(kept_events[1].metadata["file"], "loom.txt");
    assert_eq!(kept_events[2].parent, Some(events[0].id));
    assert_eq!(kept_events[0].occurred_at.to_string(), "2025-05-04T08:00:05.500000Z");
    let whys = said(&skipped);
    assert!(whys.contains(&(1, "not memory: a file without text".to_owned())), "{whys:?}");
    assert!(
        whys.contains(&(2, "message 1: field `sender` is neither human nor assistant".to_owned())),
        "{whys:?}"
    );

    let (desk, _, skipped) = read("claude_projects.json", OwnHistory::Yes);
    let events = desk.all();
    let document = kept(&events)[0];
    assert_eq!(
        (document.content.as_str(), document.origin),
        ("The class meets on Thursdays in room 4.", Origin::Import)
    );
    assert_eq!(document.metadata["title"], "Weaving class");
    assert_eq!(document.occurred_at.to_string(), "2025-02-02T10:00:00Z");
    assert_eq!(skipped.len(), 2, "the instructions and the empty document");

    let (desk, ..) = read("claude_memories.json", OwnHistory::Yes);
    let events = desk.all();
    let notes = kept(&events);
    let texts: Vec<&str> = notes.iter().map(|note| note.content.as_str()).collect();
    assert_eq!(texts.len(), 2, "a heading alone is no note: {texts:?}");
    assert!(notes.iter().all(|note| note.origin == Origin::Import), "a model wrote them");
    assert_eq!(filed(notes[1]).0, "claude/p1");
}

#[test]
fn observations_and_relations_become_sentences_that_stand_alone() {
    let (desk, _, skipped) = read("mcp_memory.jsonl", OwnHistory::No);
    let events = desk.all();
    let notes = kept(&events);
    let texts: Vec<&str> = notes.iter().map(|note| note.content.as_str()).collect();
    assert_eq!(
        texts,
        [
            "Ines Halvorsen: repairs accordions",
            "Ines Halvorsen: speaks fluent Basque",
            "Ines Halvorsen works at Workshop Nord",
        ]
    );
    assert_eq!(filed(notes[0]), ("person", vec!["Ines Halvorsen"]));
    assert_eq!(filed(notes[2]), ("relation", vec!["Ines Halvorsen", "Workshop Nord"]));
    let expect = [
        (2, "not memory: an entity without observations"),
        (4, "field `observations` is not a list"),
        (5, "field `type` is neither entity nor relation"),
    ];
    assert_eq!(said(&skipped), expect.map(|(line, why)| (line, why.to_owned())));
}

#[test]
fn memories_of_mem0_keep_their_time_their_labels_and_their_copies() {
    let (desk, taken, skipped) = read("mem0.json", OwnHistory::No);
    assert_eq!(taken.stored, 3, "two of the same words with ids of their own are two, and a relation");
    let events = desk.all();
    let notes = kept(&events);
    assert_eq!(filed(notes[0]), ("hobbies", vec!["hobbies", "garden"]));
    assert_eq!(notes[0].occurred_at.to_string(), "2025-03-01T17:00:00Z");
    assert_eq!((notes[0].metadata["user_id"].as_str(), notes[0].metadata["level"].as_str()), ("petra", "2"));
    assert!(notes.iter().take(2).all(|note| note.user.as_ref().is_some_and(|user| user.as_str() == "petra")));
    assert_eq!(notes[0].session.as_str(), "spring");
    assert_eq!(notes[2].content, "petra grows on roof");
    let whys = said(&skipped);
    assert_eq!(whys, [(3, "not memory: no text".to_owned()), (4, "field `id` is missing".to_owned())]);
}

#[test]
fn a_user_of_mem0_whose_name_cannot_be_one_here_is_told_and_the_memory_stays() {
    let desk = desk();
    let export = format!(r#"[{{"id": "a", "memory": "Likes figs", "user_id": "{}"}}]"#, "u".repeat(2_000));
    let options = ImportOptions { lenient: LinePolicy::Yes, ..options() };
    let (taken, skipped) = desk.import(export.as_bytes(), Format::Mem0, &options);
    assert_eq!(taken.stored, 1);
    assert_eq!(kept(&desk.all())[0].user, None);
    assert!(said(&skipped).iter().any(|(_, why)| why.contains("user_id")), "{:?}", said(&skipped));
}

// proves: NB-86
#[test]
fn an_agents_memory_becomes_notes_and_dated_events() {
    let (desk, ..) = read("agent/MEMORY.md", OwnHistory::Yes);
    let events = desk.all();
    let notes = kept(&events);
    let texts: Vec<&str> = notes.iter().map(|note| note.content.as_str()).collect();
    assert_eq!(
        texts,
        [
            "Lives in Tromsø with two huskies",
            "Works night shifts\n  - except in July",
            "The clinic moves to the new building in autumn.\nParking is behind the old one.",
            "```\ndoor code rule: never write it down\n```",
            "Booked the vet for Kaisa",
        ]
    );
    assert_eq!(filed(notes[0]).0, "user-information");
    assert_eq!(filed(notes[2]).0, "project-context");
    assert_eq!(
        (&notes[4].kind, notes[4].occurred_at.to_string().as_str()),
        (&EventKind::Observation, "2025-11-03T14:20:00Z")
    );
    for (own, origin) in [
        (OwnHistory::Yes, Origin::UserConfirmed),
        (OwnHistory::Unsaid, Origin::Assistant),
        (OwnHistory::No, Origin::Import),
    ] {
        let (desk, ..) = read("agent/MEMORY.md", own);
        assert!(kept(&desk.all()).iter().all(|note| note.origin == origin), "{own:?}");
        let (desk, ..) = read("rockbot.json", own);
        assert!(kept(&desk.all()).iter().all(|note| note.origin == origin), "{own:?}");
        let (desk, ..) = read("mem0.json", own);
        assert!(kept(&desk.all()).iter().all(|note| note.origin == Origin::Import), "a service concluded it");
    }

    let (desk, ..) = read("agent/2025-12-24.md", OwnHistory::No);
    let events = desk.all();
    let dated: Vec<(&str, String)> =
        kept(&events).iter().map(|event| (event.content.as_str(), event.occurred_at.to_string())).collect();
    assert_eq!(
        dated,
        [
            ("Power cut in the harbour until noon.", "2025-12-24T09:15:00Z".to_owned()),
            ("Northern lights, photographed", "2025-12-24T21:40:00Z".to_owned()),
        ]
    );
    assert!(kept(&events).iter().all(|event| event.kind == EventKind::Observation));
}

// proves: NB-17
#[test]
fn sessions_of_an_agent_are_read_as_messages() {
    for format in [Format::Auto, Format::MemoryMd] {
        let desk = desk();
        let source = "agent/telegram_4711.jsonl";
        let options = ImportOptions { source: source.to_owned(), origin: OwnHistory::Yes, ..options() };
        let (taken, skipped) = desk.import(&fixture(source), format, &options);
        assert_eq!((taken.stored, skipped.len()), (2, 1));
        let events = desk.all();
        let said = kept(&events);
        assert_eq!(
            (said[0].origin, said[1].kind.clone()),
            (Origin::UserConfirmed, EventKind::AssistantMessage)
        );
        assert_eq!((said[0].session.as_str(), said[0].channel.as_str()), ("telegram:4711", "telegram"));
        assert_eq!(said[0].occurred_at.to_string(), "2025-10-01T08:00:01.250000Z");
    }
}

#[test]
fn a_note_of_a_vault_keeps_its_day_its_tags_and_its_links() {
    let (desk, ..) = read("vault_note.md", OwnHistory::Yes);
    let events = desk.all();
    let notes = kept(&events);
    assert_eq!(notes.len(), 3);
    assert!(notes.iter().all(|note| note.origin == Origin::UserConfirmed), "a person wrote them");
    assert!(notes.iter().all(|note| note.occurred_at.to_string() == "2025-06-01T00:00:00Z"));
    assert_eq!(filed(notes[0]), ("vault-note/ines", vec!["people", "music", "accordion"]));
    assert_eq!(notes[0].metadata["links"], "Workshop Nord, Bo");
    assert_eq!(notes[1].content, "repairs reeds #tools (since 1999)");
    assert_eq!(filed(notes[1]).0, "craft");
}

#[test]
fn a_file_of_rockbot_and_a_history_of_langchain_are_read() {
    let (desk, ..) = read("rockbot.json", OwnHistory::No);
    let events = desk.all();
    let note = kept(&events)[0];
    assert_eq!(filed(note), ("project-context/release", vec!["ops"]));
    assert_eq!(note.occurred_at.to_string(), "2025-09-01T04:00:00Z");
    assert_eq!(note.metadata["source"], "dream");

    let (desk, taken, skipped) = read("langchain.json", OwnHistory::Yes);
    assert_eq!(taken.stored, 4);
    let events = desk.all();
    let said_events = kept(&events);
    assert_eq!(said_events[0].origin, Origin::UserConfirmed);
    assert_eq!(said_events[1].content, "{\"page\":3}");
    assert_eq!(said_events[2].parent, Some(events[1].id));
    assert_eq!(said(&skipped)[1], (6, "field `type` is none of human, ai, system, tool".to_owned()));
}

// proves: NX-12.5
#[test]
fn strict_reading_names_the_record_that_cannot_be_understood() {
    let strict = |name: &str| {
        let options = ImportOptions { source: name.to_owned(), ..options() };
        batches(&fixture(name), Format::Auto, &options).pop().unwrap().unwrap_err().what().to_owned()
    };
    assert_eq!(strict("chatgpt.json"), "record 2: the tree of messages goes round in a circle");
    assert_eq!(strict("mcp_memory.jsonl"), "line 4: field `observations` is not a list");
    let cut = fixture("chatgpt.json");
    let options = ImportOptions { source: "chatgpt.json".to_owned(), lenient: LinePolicy::Yes, ..options() };
    let desk = desk();
    let (taken, skipped) = desk.import(&cut[..cut.len() - 100], Format::ChatGpt, &options);
    assert_eq!(taken.stored, 5, "what stands before the cut");
    assert!(said(&skipped).iter().any(|(line, why)| *line == 4 && why == "not JSON: it ends too early"));
}

#[test]
fn a_note_with_odd_dates_is_read_all_the_same() {
    let desk = desk();
    let file = "---\ndate: first of May\n---\n- [2026-99-99 10:00] rain\n- [10:00] sun\n";
    let options = ImportOptions { source: "odd.md".to_owned(), ..options() };
    let (taken, skipped) = desk.import(file.as_bytes(), Format::MemoryMd, &options);
    assert_eq!((taken.stored, skipped.len()), (2, 0));
    let events = desk.all();
    let texts: Vec<&str> = kept(&events).iter().map(|event| event.content.as_str()).collect();
    assert_eq!(texts, ["[2026-99-99 10:00] rain", "[10:00] sun"]);
    assert!(kept(&events).iter().all(|event| event.metadata["time_inferred"] == "true"));
}
