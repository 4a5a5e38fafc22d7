//! Entities and facts on the command line.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

fn run(home: &TempDir, args: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command
        .args(args)
        .current_dir(home.path())
        .env_clear()
        .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
        .stdin(Stdio::null());
    command.env("HOME", home.path()).env("MNEMAL_DATA_DIR", home.path().join("data")).env("TZ", "UTC");
    let ran = command.output().unwrap();
    (ran.status.code().unwrap(), String::from_utf8(ran.stdout).unwrap())
}

fn read(home: &TempDir, args: &[&str]) -> Value {
    let (code, out) = run(home, args);
    assert_eq!(code, 0, "{args:?}");
    serde_json::from_str(&out).unwrap()
}

// proves: CF-19, NB-08 (this surface)
#[test]
fn what_was_said_of_somebody_is_shown_with_its_sentence_and_its_time() {
    let home = tempfile::tempdir().unwrap();
    for (at, text) in [
        ("2020-05-01T10:00:00Z", "My sister Anna lives in Oslo."),
        ("2022-05-01T10:00:00Z", "My sister Anna moved to Bergen in March 2022."),
    ] {
        assert_eq!(run(&home, &["log", "add", "--at", at, text]).0, 0);
    }
    let anna = read(&home, &["entity", "show", "anna", "--json"]);
    assert_eq!((anna["name"].as_str(), anna["roles"][0].as_str()), (Some("Anna"), Some("sister of user")));
    let home_of = |facts: &Value| {
        let facts = facts.as_array().unwrap().iter().filter(|fact| fact["predicate"] == "lives_in");
        facts.map(|fact| fact["object"]["entity"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (home_of(&anna["facts"]), home_of(&anna["past"])),
        (vec!["Bergen".into()], vec!["Oslo".into()])
    );
    let lives =
        anna["facts"].as_array().unwrap().iter().find(|fact| fact["predicate"] == "lives_in").unwrap();
    assert_eq!((&lives["valid_at"], &lives["valid_grain"]), (&json!("2022-03-01"), &json!("month")));
    assert!(lives["confidence"].as_f64().unwrap() > 0.5 && lives["strength"].as_f64().unwrap() >= 0.5);
    let sentence = &lives["sentences"][0];
    assert_eq!(sentence["text"], "My sister Anna moved to Bergen in March 2022.");
    assert_eq!(
        (&sentence["at"], &lives["source_event_ids"][0]),
        (&json!("2022-05-01T10:00:00Z"), &sentence["event_id"])
    );
    assert_eq!(anna["company"][0]["event_count"], 1);
    assert_eq!((&anna["event_count"], &anna["first_seen"]), (&json!(2), &json!("2020-05-01T10:00:00Z")));
    let before = read(&home, &["fact", "list", "--about", "Anna", "--as-of", "2021-01-01", "--json"]);
    assert_eq!(home_of(&before["facts"]), ["Oslo"]);
    let then = read(&home, &["fact", "list", "--believed-at", "2000-01-01", "--json"]);
    assert_eq!(then["facts"], json!([]));
    assert_eq!(run(&home, &["entity", "show", "Ann"]).0, 3, "a part of a name is nobody");
    let listed = read(&home, &["entity", "list", "--kind", "location", "--json"]);
    assert_eq!(names(&listed["entities"]), ["Bergen", "Oslo"]);
    let listed = read(&home, &["entity", "list", "-n", "1", "--json"]);
    assert_eq!(names(&listed["entities"]), ["Anna"], "what is named most often comes first");
    assert_eq!(
        read(&home, &["entity", "path", "Anna", "Bergen", "--json"])["paths"].as_array().unwrap().len(),
        1
    );
    let (_, text) = run(&home, &["entity", "show", "Anna"]);
    for line in [
        "Anna: person, sister of user, named in 2 events\n",
        "  Anna lives in Bergen (since 2022-03)  (sure ",
        "      2022-05-01  “My sister Anna moved to Bergen in March 2022.”  evt_",
        "\nbefore:\n  Anna lives in Oslo (until 2022-03)  (sure ",
        "\nnamed with: Bergen (1), Oslo (1)\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect()
}

fn said(home: &TempDir, texts: &[&str]) {
    for text in texts {
        assert_eq!(run(home, &["log", "add", "--at", "2024-05-01T10:00:00Z", text]).0, 0);
    }
}

fn event(decided: &Value) -> String {
    decided["event_id"].as_str().unwrap().to_owned()
}

#[test]
fn two_become_one_and_two_again_and_a_name_is_chosen_and_taken_back() {
    let home = tempfile::tempdir().unwrap();
    said(&home, &["My friend Bob lives in Lisbon.", "Robert is allergic to peanuts."]);
    let shown = |who: &str| read(&home, &["entity", "show", who, "--json"]);
    assert_eq!(read(&home, &["entity", "suggestions", "--json"])["suggestions"], json!([]));
    assert_eq!(run(&home, &["entity", "suggestions"]), (0, "nobody looks like somebody else\n".to_owned()));
    let dry = read(&home, &["entity", "merge", "Bob", "Robert", "--dry-run", "--json"]);
    assert_eq!((&dry["dry_run"], &dry["event_id"]), (&json!(true), &Value::Null));
    assert_eq!(shown("Bob")["name"], "Bob");
    let merged = read(&home, &["entity", "merge", "Bob", "Robert", "--json"]);
    let robert = shown("Bob");
    assert_eq!((&robert["name"], &robert["aliases"]), (&json!("Robert"), &json!(["Bob"])));
    assert_eq!(robert["roles"], json!(["friend of user"]));
    assert_eq!(run(&home, &["entity", "merge", "Bob", "Robert"]).0, 2, "they are one already");
    read(&home, &["undo", &event(&merged), "--json"]);
    assert_eq!(shown("Bob")["name"], "Bob");
    read(&home, &["entity", "merge", "Bob", "Robert", "--json"]);
    let split = read(&home, &["entity", "split", "Bob", "Robert", "--json"]);
    assert_eq!(shown("Bob")["name"], "Bob");
    read(&home, &["undo", &event(&split), "--json"]);
    assert_eq!(shown("Bob")["name"], "Robert", "the merge that it ended holds again");
    read(&home, &["entity", "split", "Bob", "Robert", "--json"]);
    assert_eq!(shown("Bob")["name"], "Bob");

    let renamed = read(&home, &["entity", "rename", "Robert", "Robert Lund", "--json"]);
    assert_eq!(shown("robert")["name"], "Robert Lund");
    assert_eq!(run(&home, &["entity", "rename", "Robert", " "]).0, 2);
    read(&home, &["undo", &event(&renamed), "--json"]);
    assert_eq!(shown("robert")["name"], "Robert");
    assert_eq!(run(&home, &["entity", "show", "Robert Lund"]).0, 3);
}

// proves: NB-05, RB-72 (shown with the rest)
#[test]
fn an_entity_is_shown_with_its_description_and_what_a_host_keeps_of_it() {
    let home = tempfile::tempdir().unwrap();
    said(&home, &["My sister Anna likes sailing."]);
    let shown = || read(&home, &["entity", "show", "Anna", "--json"]);
    assert_eq!((&shown()["description"], &shown()["metadata"]), (&Value::Null, &json!({})));
    for (predicate, value) in [("description", "A bassoonist of the town orchestra."), ("crm_id", "A-17")] {
        read(&home, &["fact", "add", "Anna", predicate, value, "--json"]);
    }
    let anna = shown();
    assert_eq!(anna["description"], "A bassoonist of the town orchestra.");
    assert_eq!(anna["metadata"], json!({"crm_id": "A-17"}));
    let fields =
        ["id", "name", "type", "aliases", "source_event_ids", "event_count", "first_seen", "last_seen"];
    for field in fields.into_iter().chain(["created_at"]) {
        assert!(!anna[field].is_null(), "{field}: {anna}");
    }
    let (_, page) = run(&home, &["entity", "show", "Anna"]);
    assert_eq!(page.lines().nth(1), Some("A bassoonist of the town orchestra."), "{page}");
}

#[test]
fn a_fact_is_added_ended_rejected_and_taken_back() {
    let home = tempfile::tempdir().unwrap();
    said(&home, &["My sister Anna likes sailing.", "Anna uses Rust and SQLite."]);
    let facts = || -> Vec<String> {
        let (_, text) = run(&home, &["fact", "list", "--about", "Anna"]);
        text.lines().map(|line| line.split("  (").next().unwrap().to_owned()).collect()
    };
    let has = |line: &str| facts().iter().any(|fact| fact == line);
    run(&home, &["fact", "add", "Anna", "works_at", "Nordlys", "--since", "1969-05-01", "--dry-run"]);
    assert!(!facts().iter().any(|fact| fact.contains("Nordlys")));
    let added =
        read(&home, &["fact", "add", "Anna", "works_at", "Nordlys", "--since", "1969-05-01", "--json"]);
    assert!(has("Anna works at Nordlys (since 1969-05-01)"), "{:?}", facts());
    assert_eq!(read(&home, &["entity", "show", "Nordlys", "--json"])["type"], "organization");
    let over =
        read(&home, &["fact", "invalidate", "Anna", "works_at", "Nordlys", "--at", "2020-01-01", "--json"]);
    assert!(!facts().iter().any(|fact| fact.contains("Nordlys")));
    read(&home, &["undo", &event(&over), "--json"]);
    assert!(has("Anna works at Nordlys (since 1969-05-01)"), "{:?}", facts());
    read(&home, &["undo", &event(&added), "--json"]);
    assert!(!facts().iter().any(|fact| fact.contains("Nordlys")));
    assert!(has("Anna likes sailing"), "{:?}", facts());
    read(&home, &["fact", "invalidate", "Anna", "likes", "Sailing", "--wrong", "--json"]);
    said(&home, &["Anna likes sailing."]);
    assert!(!has("Anna likes sailing"), "what was wrong stays wrong");
    assert_eq!(run(&home, &["fact", "invalidate", "Anna", "uses"]).0, 2, "which of two");
    let listed = read(&home, &["fact", "list", "--predicate", "uses", "--json"]);
    let id = listed["facts"][0]["id"].as_str().unwrap();
    read(&home, &["fact", "invalidate", id, "--json"]);
    assert_eq!(
        read(&home, &["fact", "list", "--predicate", "uses", "--json"])["facts"].as_array().unwrap().len(),
        1
    );
    assert_eq!(run(&home, &["fact", "invalidate", "Nobody", "likes", "tea"]).0, 3);
}

#[test]
fn a_name_of_two_is_refused_with_their_ids() {
    let home = tempfile::tempdir().unwrap();
    said(&home, &["My sister Anna lives in Oslo.", "My colleague Anna lives in Rome."]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command
        .args(["entity", "show", "Anna"])
        .current_dir(home.path())
        .env_clear()
        .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
        .stdin(Stdio::null());
    command.env("HOME", home.path()).env("MNEMAL_DATA_DIR", home.path().join("data"));
    let ran = command.output().unwrap();
    let told = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(2), "{told}");
    assert!(told.contains("sister") && told.contains("colleague"), "{told}");
    let id = told.split_whitespace().find(|word| word.starts_with("ent_")).unwrap();
    assert_eq!(read(&home, &["entity", "show", id, "--json"])["name"], "Anna");
}

#[test]
fn what_is_talked_about_is_listed_and_shown_with_its_events() {
    let home = tempfile::tempdir().unwrap();
    said(&home, &["I love sailing.", "My friend Tom loves sailing too.", "Tom uses Rust."]);
    let topics = read(&home, &["topic", "list", "--json"]);
    assert_eq!(topics["topics"][0]["name"], "sailing");
    assert_eq!(
        (&topics["topics"][0]["event_count"], &topics["topics"][0]["type"]),
        (&json!(2), &json!("topic"))
    );
    let shown = read(&home, &["topic", "show", "Sailing", "--json"]);
    assert_eq!(shown["events"].as_array().unwrap().len(), 2);
    assert_eq!(run(&home, &["topic", "show", "chess"]).0, 3);
}

// proves: NB-81
#[test]
fn somebody_is_forgotten_with_every_event_that_names_them() {
    let home = tempfile::tempdir().unwrap();
    said(&home, &["My sister Anna lives in Oslo.", "My brother Ben lives in Rome."]);
    assert_eq!(run(&home, &["remember", "Anna has the spare key"]).0, 0);
    let mut dry = read(&home, &["entity", "forget", "Anna", "--dry-run", "--json"]);
    assert_eq!(
        (&dry["status"], &dry["events"], &dry["learnings_invalidated"]),
        (&json!("preview"), &json!(2), &json!(1))
    );
    let mut same = read(&home, &["memory", "forget", "Anna", "--dry-run", "--json"]);
    // A confirmable preview has a token, and each preview has its own.
    for preview in [&mut dry, &mut same] {
        for own in ["confirm_token", "expires_at"] {
            assert!(
                preview.as_object_mut().unwrap().remove(own).is_some_and(|value| value.is_string()),
                "{own}"
            );
        }
    }
    assert_eq!(same, dry);
    assert_eq!(run(&home, &["entity", "forget", "Anna"]).0, 2, "nobody can be asked");
    let erased = read(&home, &["memory", "forget", "Anna", "--yes", "--json"]);
    assert_eq!((&erased["events"], &erased["verified"]), (&json!(2), &json!(true)));
    assert_eq!(run(&home, &["entity", "show", "Anna"]).0, 3);
    assert_eq!(run(&home, &["entity", "show", "Ben"]).0, 0);
}

#[test]
fn the_graph_is_written_in_three_formats_with_everything_escaped() {
    let home = tempfile::tempdir().unwrap();
    said(&home, &["My sister Anna lives in Oslo.", "I like \"R&D\" <talks>."]);
    read(&home, &["fact", "add", "Anna", "skill", "a \"b\" & <c>", "--json"]);
    let graph = read(&home, &["graph", "export", "--as-of", "2025-01-01"]);
    let nodes: Vec<&str> = names(&graph["nodes"]);
    for name in ["Anna", "Oslo", "user", "a \"b\" & <c>"] {
        assert!(nodes.contains(&name), "{nodes:?}");
    }
    let ids: Vec<&Value> = graph["nodes"].as_array().unwrap().iter().map(|node| &node["id"]).collect();
    for edge in graph["edges"].as_array().unwrap() {
        assert!(ids.contains(&&edge["source"]) && ids.contains(&&edge["target"]), "{edge}");
    }
    let (_, xml) = run(&home, &["graph", "export", "--format", "graphml"]);
    assert!(xml.contains("<data key=\"name\">a &quot;b&quot; &amp; &lt;c&gt;</data>"), "{xml}");
    assert!(xml.starts_with("<?xml") && xml.trim_end().ends_with("</graphml>"));
    let (_, dot) = run(&home, &["graph", "export", "--format", "dot"]);
    assert!(dot.contains("[label=\"a \\\"b\\\" & <c>\", shape=plaintext];"), "{dot}");
    assert!(dot.contains("[label=\"lives_in\"];"), "{dot}");
    assert_eq!(run(&home, &["graph", "export", "graph.json"]).0, 0);
    assert_eq!(run(&home, &["graph", "export", "graph.json"]).0, 5, "nothing is overwritten");
}

// proves: NB-78, NB-79
#[test]
fn everybody_and_all_that_is_known_of_one_are_shown_under_the_names_of_another_memory() {
    let home = tempfile::tempdir().unwrap();
    said(&home, &["My sister Anna lives in Oslo.", "Ben likes sailing."]);
    // Reads fold pending turns for a limited time; the next read folds the rest.
    run(&home, &["entity", "list"]);
    let listed = run(&home, &["memory", "entities"]);
    assert_eq!(listed, run(&home, &["entity", "list"]));
    assert!(["Anna", "Ben", "Oslo"].iter().all(|name| listed.1.contains(name)), "{}", listed.1);
    let (code, shown) = run(&home, &["memory", "entity", "Anna"]);
    assert_eq!(code, 0);
    for part in ["sister of user", "Anna lives in Oslo", "2024-05-01  “My sister Anna lives in Oslo.”  evt_"]
    {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

// proves: NX-09.5 (this surface)
#[test]
fn a_person_says_how_many_values_a_predicate_holds_and_takes_it_back() {
    let home = tempfile::tempdir().unwrap();
    for (at, text) in [
        ("2020-05-01T10:00:00Z", "My sister Anna lives in Oslo."),
        ("2021-05-01T10:00:00Z", "My sister Anna lives in Bergen."),
    ] {
        assert_eq!(run(&home, &["log", "add", "--at", at, text]).0, 0);
    }
    let homes = || {
        let listed = read(&home, &["fact", "list", "--about", "Anna", "--predicate", "lives_in", "--json"]);
        listed["facts"].as_array().unwrap().len()
    };
    assert_eq!(homes(), 1);
    let dry = read(&home, &["fact", "cardinality", "lives_in", "many", "--dry-run", "--json"]);
    assert_eq!((&dry["dry_run"], homes()), (&json!(true), 1));
    let decided = read(&home, &["fact", "cardinality", "lives_in", "many", "--json"]);
    assert_eq!(
        (&decided["decision"], &decided["names"]),
        (&json!("cardinality"), &json!(["lives_in", "many"]))
    );
    assert_eq!(homes(), 2);
    read(&home, &["undo", &event(&decided), "--json"]);
    assert_eq!(homes(), 1);
    assert_eq!(run(&home, &["fact", "cardinality", "live_in", "many"]).0, 3, "nothing is said with that");
    assert_eq!(run(&home, &["fact", "cardinality", "visited", "many"]).0, 2, "a happening stays one");
    assert_eq!(run(&home, &["fact", "cardinality", "lives_in", "several"]).0, 2);
}

#[test]
fn a_fact_may_be_added_of_the_user_and_of_somebody_new() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(&home, &["fact", "list", "--about", "user"]).0, 0, "nothing is known of the user yet");
    assert_eq!(run(&home, &["fact", "list", "--about", "Ilse"]).0, 3);
    assert_eq!(run(&home, &["fact", "add", "Ilse", "crm_id", "K-4", "--dry-run"]).0, 0);
    assert_eq!(run(&home, &["entity", "show", "Ilse"]).0, 3, "a dry run makes nobody known");
    assert_eq!(run(&home, &["fact", "add", "user", "lives_in", "Lund"]).0, 0);
    assert_eq!(run(&home, &["fact", "add", "Ilse", "crm_id", "K-4"]).0, 0);
    let (code, listed) = run(&home, &["fact", "list"]);
    assert_eq!(code, 0);
    assert!(listed.contains("user lives in Lund") && listed.contains("Ilse's crm id: K-4"), "{listed}");
}

#[test]
fn a_first_name_shows_its_one_bearer_and_lists_several() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(&home, &["log", "add", "My boss Miriam Adler wants the draft."]).0, 0);
    assert!(run(&home, &["entity", "show", "Miriam"]).1.contains("Miriam Adler"));
    assert_eq!(
        run(&home, &["entity", "forget", "Miriam", "--dry-run"]).0,
        3,
        "a part of a name erases nobody"
    );
    assert_eq!(run(&home, &["log", "add", "My swimming coach is Miriam Roth."]).0, 0);
    assert_eq!(run(&home, &["entity", "show", "Miriam"]).0, 2, "several are listed to choose from");
}
