//! Spaces in PostgreSQL answer as spaces in files do, of any number of servers. `cargo xtask ci postgres` starts a database for
//! it.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mnemal::admin::{AlwaysOn, PostgresDatabase};
use mnemal::dream::DreamMode;
use mnemal::events::{ErasureGrade, Selector};
use mnemal::types::{InstallationKey, OwnerId};
use mnemal::{
    Engine, ErrorKind, FactFilter, LearningKind, Memory, Message, NoteKey, SessionId, Settings, SpaceId,
    Spaces,
};
use mnemal_core::{Layer, Speaker};
use mnemal_testkit::{ManualClock, SeededIds};
use serde_json::{Value, json};

#[expect(clippy::disallowed_methods, reason = "the step that starts the server names it")]
fn address() -> String {
    std::env::var("MNEMAL_TEST_POSTGRES").unwrap()
}

async fn database() -> PostgresDatabase {
    PostgresDatabase::migrate(&address()).await.unwrap();
    PostgresDatabase::connect(&address()).await.unwrap()
}

/// A name that no other test has.
fn fresh_name() -> SpaceId {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    SpaceId::new(format!("m{process}-{number}")).unwrap()
}

/// An engine whose ids, times and key are the same in every run with this seed.
fn template(clock: &Arc<ManualClock>, seed: u64) -> mnemal::Builder {
    let mut settings = Settings::default();
    settings.recall.part_deadline_ms = 60_000;
    settings.recall.catch_up_ms = 60_000;
    Engine::builder()
        .with_clock(Arc::<ManualClock>::clone(clock))
        .with_settings(settings)
        .with_ids(Arc::new(SeededIds::new(seed)))
        .with_key(InstallationKey::new([5; 32]))
}

async fn in_database(data: &Path, clock: &Arc<ManualClock>, seed: u64) -> Spaces {
    Spaces::in_database(database().await, data, template(clock, seed)).await.unwrap()
}

/// What a person says over some days, with the days between.
const TURNS: [(&str, &str); 12] = [
    ("user", "I moved from Bergen to Lyon last spring."),
    ("assistant", "Lyon is a good place. How is the new flat?"),
    ("user", "My sister Ada Quill works at the Harbor Clinic."),
    ("user", "Please answer in metric units from now on."),
    ("assistant", "I will use meters and kilograms."),
    ("user", "The backup runs on server Pelican-7 every night at two."),
    ("user", "I am allergic to walnuts, so no walnut cake."),
    ("user", "Ada left the Harbor Clinic and now works at Northlight."),
    ("assistant", "I have noted the walnuts."),
    ("user", "Our standup moved from nine to half past nine."),
    ("user", "I play the cello on Sundays."),
    ("user", "The invoice number of the boiler is BX-4411."),
];

const QUESTIONS: [&str; 6] = [
    "Where do I live?",
    "Where does Ada work?",
    "When does the backup run?",
    "What am I allergic to?",
    "invoice of the boiler",
    "Which instrument do I play?",
];

/// Fills a space, and returns all that it answers, as text.
async fn everything(memory: &Memory, clock: &ManualClock) -> String {
    let mut said = String::new();
    for (place, (role, text)) in TURNS.iter().enumerate() {
        let message = if *role == "user" { Message::user(*text) } else { Message::assistant(*text) };
        let session = SessionId::new(format!("day-{}", place / 4)).unwrap();
        let ack = memory.log(message.session(session)).await.unwrap();
        writeln!(said, "{:?} {:?}", ack.value.id, ack.value.seq).unwrap();
        clock.advance(Duration::from_hours(7));
    }
    let note = memory.remember("Deploys happen on Tuesdays").key(NoteKey::new("deploy_day").unwrap());
    let note = note.kind(LearningKind::Preference).by_user().await.unwrap();
    assert!(note.created);
    let gaps = memory.admin().engine().read_within(Duration::from_mins(5)).await;
    assert_eq!(gaps, []);
    let owner = OwnerId::new("test").unwrap();
    let cycle = memory.admin().engine().dream(&owner, DreamMode::Asked).await.unwrap();
    writeln!(said, "{cycle:?}").unwrap();
    for question in QUESTIONS {
        let found = memory.recall(question).limit(5).await.unwrap();
        for hit in &found.hits {
            writeln!(said, "{question}: {:?} {:?} {:?}", hit.event.seq, hit.score, hit.event.body()).unwrap();
        }
        let context = memory.context(question).budget(400).await.unwrap();
        writeln!(said, "{}\n{:?}", context.value.text, context.gaps).unwrap();
    }
    let graph = memory.facts().graph().await.unwrap().value;
    for fact in graph.history(&FactFilter::all()).await.unwrap() {
        writeln!(said, "{fact:?}").unwrap();
    }
    let stats = memory.admin().stats().await.unwrap();
    writeln!(said, "{stats:?}").unwrap();
    said
}

// proves: GA-25, CF-03, NX-10.1, NX-10.7
#[tokio::test]
async fn a_space_in_a_database_answers_to_the_letter_as_one_in_a_file() {
    let home = tempfile::tempdir().unwrap();
    let name = fresh_name();
    let mut answers = Vec::new();
    for is_file in [true, false] {
        let clock = Arc::new(ManualClock::default());
        let spaces = if is_file {
            Spaces::new(home.path(), template(&clock, 5)).unwrap()
        } else {
            in_database(home.path(), &clock, 5).await
        };
        let memory = spaces.open_or_create(&name).await.unwrap();
        answers.push(everything(&memory, &clock).await);
        drop(memory);
        spaces.close().await.unwrap();
    }
    let [file, database] = answers.as_slice() else { panic!() };
    let differ = file.lines().zip(database.lines()).find(|(one, other)| one != other);
    assert_eq!(differ, None);
    assert!(file.contains("Northlight") && file.contains("walnut"), "{file}");
    assert_eq!(file.len(), database.len());
}

#[tokio::test]
async fn spaces_are_listed_marked_and_removed_as_in_a_folder() {
    let (home, clock) = (tempfile::tempdir().unwrap(), Arc::new(ManualClock::default()));
    let (one, two) = (in_database(home.path(), &clock, 1).await, in_database(home.path(), &clock, 2).await);
    let name = fresh_name();
    assert_eq!(one.open(&name).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(one.set_always_on(&name, AlwaysOn::Yes).await.unwrap_err().kind(), ErrorKind::NotFound);
    let memory = one.create(&name, AlwaysOn::No).await.unwrap();
    assert_eq!(one.create(&name, AlwaysOn::No).await.unwrap_err().kind(), ErrorKind::Conflict);
    two.set_always_on(&name, AlwaysOn::Yes).await.unwrap();
    two.set_consolidate_interval(&name, 45).await.unwrap();
    two.set_owner(&name, &[Speaker::new("Edda's \"mind\" \\ 'x'").unwrap()]).await.unwrap();
    let entry = one.entry(&name).await.unwrap();
    assert_eq!((entry.always_on, entry.consolidate_interval_mins), (AlwaysOn::Yes, 45));
    assert_eq!(entry.owner, ["Edda's \"mind\" \\ 'x'"]);
    assert!(one.list().await.unwrap().contains(&entry));
    assert!(one.always_on().await.unwrap().contains(&name));
    let known = one.only(&mnemal::Within::Only(vec![fresh_name()]));
    assert_eq!(known.list().await.unwrap(), []);
    assert!(!known.contains(&name).await.unwrap());
    let _ack = memory.log(Message::user("The till is in Genoa.")).await.unwrap();
    assert_eq!(one.remove(&name).await.unwrap_err().kind(), ErrorKind::Conflict, "it is open here");
    drop(memory);
    one.remove(&name).await.unwrap();
    assert!(!two.contains(&name).await.unwrap());
    let anew = two.open_or_create(&name).await.unwrap();
    assert_eq!(anew.admin().stats().await.unwrap().head.count(), 0);
    assert_eq!(two.entry(&name).await.unwrap().always_on, AlwaysOn::No);
}

#[tokio::test]
async fn what_one_server_stores_and_forgets_the_other_knows_with_its_next_answer() {
    let (home, clock) = (tempfile::tempdir().unwrap(), Arc::new(ManualClock::default()));
    let (one, two) = (in_database(home.path(), &clock, 1).await, in_database(home.path(), &clock, 2).await);
    let name = fresh_name();
    let writer = one.open_or_create(&name).await.unwrap();
    let reader = two.open(&name).await.unwrap();
    for number in 0..40 {
        let text = format!("The parcel kx{number}q is in locker {number}.");
        let ack = writer.log(Message::user(text)).await.unwrap().value;
        let found =
            reader.recall(format!("Where is the parcel kx{number}q?").as_str()).limit(1).await.unwrap();
        assert_eq!(found.hits.iter().map(|hit| hit.event.id).collect::<Vec<_>>(), [ack.id], "{number}");
    }
    let gone = reader.recall("parcel kx7q").limit(1).await.unwrap().hits.first().unwrap().event.id;
    let erasure = reader.forget(Selector::Events(vec![gone])).await.unwrap();
    assert_eq!((erasure.events, erasure.grade), (1, ErasureGrade::Gone), "the files belong to the operator");
    assert!(erasure.residual.iter().any(|place| place.contains("write-ahead log")), "{:?}", erasure.residual);
    let found = writer.recall("parcel kx7q").limit(40).await.unwrap();
    assert!(found.hits.iter().all(|hit| hit.event.id != gone));
}

#[tokio::test]
async fn another_installation_key_is_refused() {
    let (home, clock) = (tempfile::tempdir().unwrap(), Arc::new(ManualClock::default()));
    drop(in_database(home.path(), &clock, 5).await);
    let other = template(&clock, 5).with_key(InstallationKey::new([6; 32]));
    let error = Spaces::in_database(database().await, home.path(), other).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.what().contains("installation.key"), "{error}");
}

#[tokio::test]
async fn what_needs_a_file_is_refused_and_layers_are_healthy() {
    let (home, clock) = (tempfile::tempdir().unwrap(), Arc::new(ManualClock::default()));
    let spaces = in_database(home.path(), &clock, 5).await;
    let memory = spaces.open_or_create(&fresh_name()).await.unwrap();
    let _ack = memory.log(Message::user("The till is in Genoa.")).await.unwrap();
    let error = memory.admin().backup(&home.path().join("copy.db")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let health = memory.admin().examine().await.unwrap();
    assert!(
        health.parts.iter().all(|part| part.cause.is_none() || part.layer == Layer::Vector),
        "{health:?}"
    );
    assert!(memory.admin().engine().check().await.unwrap().findings.is_empty());
    let report = database().await.report().await.unwrap();
    assert!(report.version.starts_with(|first: char| first.is_ascii_digit()) && report.connections > 0);
    assert!(report.unsafe_settings.is_empty() && report.max_connections >= report.connections, "{report:?}");
}

/// The key of all installations that use the database of the program's tests.
const KEY: [u8; 32] = [9; 32];

/// The address of another database of the server.
fn address_of(database: &str) -> String {
    let (server, _) =
        address().rsplit_once('/').map(|(server, name)| (server.to_owned(), name.to_owned())).unwrap();
    format!("{server}/{database}")
}

/// A machine with its own data directory.
struct Machine {
    home: tempfile::TempDir,
    database: String,
}

impl Machine {
    fn new(database: &str, key: [u8; 32]) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("data")).unwrap();
        std::fs::write(home.path().join("data/installation.key"), key).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let private = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(home.path().join("data/installation.key"), private).unwrap();
        }
        Self { home, database: address_of(database) }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command
            .current_dir(self.home.path())
            .env_clear()
            .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
            .env("MNEMAL_SERVER__GREETING_MS", "60000")
            .env("HOME", self.home.path())
            .env("MNEMAL_DATA_DIR", self.home.path().join("data"))
            .env("MNEMAL_DB", &self.database);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Exit code, output and messages.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let (code, output, told) = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(code, 0, "{arguments:?}: {told}");
        serde_json::from_str(&output).unwrap()
    }

    fn serve(&self) -> Running {
        let mut process = self.command(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Running { process, address }
    }
}

/// A running server.
struct Running {
    process: Child,
    address: String,
}

impl Running {
    fn ask(&self, key: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.get(9..12).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // No process outlives a failed test.
        let _ended = self.process.kill();
        let _ended = self.process.wait();
    }
}

// proves: NX-10.4, GA-25
#[test]
fn two_servers_share_spaces_keys_and_what_is_forgotten() {
    let (one, two) = (Machine::new("servers", KEY), Machine::new("servers", KEY));
    assert_eq!(one.run(&["database", "migrate"]).0, 0);
    let space = fresh_name().to_string();
    let made = one.json(&["-s", &space, "key", "create", "--name", "ci", "--rights", "write,erase"]);
    let (key, id) = (made["secret"].as_str().unwrap(), made["id"].as_str().unwrap());
    let (left, right) = (one.serve(), two.serve());
    let path = |rest: &str| format!("/v1/spaces/{space}/{rest}");
    for number in 0..25 {
        let text = format!("The parcel kx{number}q is in locker {number}.");
        let turns = json!({"messages": [{"role": "user", "content": text}]});
        let (from, to) = if number % 2 == 0 { (&left, &right) } else { (&right, &left) };
        assert_eq!(from.ask(key, "POST", &path("messages"), &turns).0, 201, "{number}");
        let question = json!({"query": format!("Where is the parcel kx{number}q?"), "limit": 1});
        let (status, found) = to.ask(key, "POST", &path("recall"), &question);
        assert_eq!(status, 200, "{found}");
        assert!(found.to_string().contains(&text), "{number}: {found}");
    }
    // A command asks the server of its own machine; both know the space by its name.
    let found = two.json(&["-s", &space, "recall", "parcel kx3q"]);
    assert!(found.to_string().contains("locker 3."), "{found}");
    assert!(two.json(&["space", "list"]).to_string().contains(&space));
    let forgotten = one.run(&["-s", &space, "session", "list", "--json"]);
    assert_eq!(forgotten.0, 0, "{forgotten:?}");
    let (code, _, told) =
        two.run(&["-s", &space, "forget", "--query", "parcel kx3q", "--limit", "1", "--yes"]);
    assert_eq!(code, 0, "{told}");
    let question = json!({"query": "parcel kx3q", "limit": 40});
    let (_, found) = left.ask(key, "POST", &path("recall"), &question);
    assert!(!found.to_string().contains("kx3q is"), "{found}");
    // A key that is revoked on one machine ends on the other within the second for which it is believed.
    assert_eq!(one.run(&["key", "revoke", id]).0, 0);
    assert!((0..20_000).any(|_| right.ask(key, "GET", &path("stats"), &Value::Null).0 == 401));
    let gone = two.run(&["space", "rm", &space, "--yes"]);
    drop((left, right));
    assert!(gone.0 == 0 || gone.2.contains("in use"), "{gone:?}");
    let removed = one.run(&["space", "rm", &space, "--yes"]);
    assert!(removed.0 == 0 || gone.0 == 0, "{removed:?}");
    assert!(!two.json(&["space", "list"]).to_string().contains(&space));
}

#[test]
fn a_database_without_tables_is_refused_with_the_command_that_makes_them() {
    let machine = Machine::new("empty", KEY);
    let (code, _, told) = machine.run(&["remember", "Deploys happen on Tuesdays"]);
    assert!(code != 0 && told.contains("mnemal database migrate"), "{code} {told}");
    let plan = machine.json(&["database", "migrate", "--plan"]);
    assert_eq!(plan["migrated"], json!(false));
    assert!(plan["steps"].to_string().contains("create table event"), "{plan}");
    assert_eq!(machine.json(&["database", "migrate", "--plan"]), plan, "a plan changes nothing");
}

#[test]
fn the_checks_of_a_database_are_those_of_the_server_and_no_password_is_shown() {
    let mut machine = Machine::new("servers", KEY);
    assert_eq!(machine.run(&["database", "migrate"]).0, 0);
    machine.database = machine.database.replace("postgres://app@", "postgres://app:s3cr3t@");
    let space = fresh_name().to_string();
    let (code, output, told) = machine.run(&["-v", "-s", &space, "remember", "Deploys happen on Tuesdays"]);
    assert!(code == 0 && told.contains("postgres://app@127.0.0.1"), "{told}");
    let findings = machine.run(&["-s", &space, "doctor"]);
    assert!(
        findings.1.contains("PostgreSQL ") && findings.1.contains("connections are open"),
        "{findings:?}"
    );
    assert!(!findings.1.contains("FAIL"), "{findings:?}");
    let status = machine.run(&["-s", &space, "status"]);
    let refused = machine.run(&["-s", &space, "recover"]);
    assert!(refused.0 != 0 && refused.2.contains("needs a file"), "{refused:?}");
    for said in [output, told, findings.1, findings.2, status.1, status.2, refused.1, refused.2] {
        assert!(!said.contains("s3cr3t"), "{said}");
    }
    let other = Machine::new("servers", [8; 32]);
    let (code, _, told) = other.run(&["-s", &space, "recall", "deploys"]);
    assert!(code != 0 && told.contains("installation.key"), "{told}");
    machine.run(&["space", "rm", &space, "--yes"]);
}

#[test]
fn the_commands_of_the_guide_run() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/src/postgres.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let script: String = blocks.collect();
    let of_guide = "postgres://mnemal@127.0.0.1/mnemal";
    assert!(script.contains(of_guide));
    let machine = Machine::new("guide", KEY);
    let program = Path::new(env!("CARGO_BIN_EXE_mnemal")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([program].into_iter().chain(std::env::split_paths(&path))).unwrap();
    // Each run has spaces of its own.
    let (team, support) = (fresh_name().to_string(), fresh_name().to_string());
    let script = script.replace(of_guide, &machine.database);
    let script = script.replace("-s team", &format!("-s {team}"));
    let script = format!("set -euo pipefail\n{}", script.replace("support", &support));
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(machine.home.path())
        .env_clear()
        .env("HOME", machine.home.path())
        .env("PATH", path)
        .env("MNEMAL_DATA_DIR", machine.home.path().join("data"))
        .output()
        .unwrap();
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{told}");
    assert!(
        said.contains("Deploys happen on Tuesdays") && said.contains("the tables of this version"),
        "{said}"
    );
    assert!(std::fs::read_to_string(machine.home.path().join("team.jsonl")).unwrap().contains("Tuesdays"));
}
