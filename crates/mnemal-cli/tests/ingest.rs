//! File ingestion on the command line: by name, by folder, through a pipe, and through an inbox.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command.args(args).current_dir(self.path()).env_clear();
        command.env("HOME", self.path()).env("MNEMAL_DATA_DIR", self.path().join("data"));
        command.env("MNEMAL_INGEST__INBOX", self.path().join("inboxes"));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).stdin(Stdio::null()).output().unwrap()
    }

    fn json(&self, args: &[&str], code: i32) -> Value {
        let ran = self.run(args);
        assert_eq!(ran.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        serde_json::from_slice(&ran.stdout).unwrap()
    }

    fn file(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A file that was last modified years ago.
    fn old_file(&self, name: &str, text: &[u8]) {
        let file = fs::File::options().write(true).open(self.file(name, text)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000)).unwrap();
    }

    fn text(&self, args: &[&str]) -> String {
        String::from_utf8(self.run(args).stdout).unwrap()
    }
}

const GUIDE: &str = "---\ntitle: House\n---\n# Heating\n\nWarm rooms.\n\n## Boiler\n\nThe boiler is serviced by Quentin every autumn.\n";

#[test]
fn a_file_is_read_once_found_and_named_with_its_heading() {
    let home = Home::new();
    home.file("docs/guide.md", GUIDE.as_bytes());
    let report = home.json(&["ingest", "docs/guide.md", "--json"], 0);
    assert_eq!(
        (&report["files"], &report["stored"], &report["duplicates"]),
        (&1.into(), &2.into(), &0.into())
    );
    let again = home.json(&["ingest", "docs", "--json"], 0);
    assert_eq!((&again["stored"], &again["duplicates"]), (&0.into(), &2.into()));
    let place = "docs/guide.md · Heating > Boiler";
    let found = home.text(&["recall", "who services the boiler", "-n", "1"]);
    assert!(found.contains(place) && found.contains("Quentin"), "{found}");
    let by_heading = home.json(&["recall", "heating", "--json"], 0);
    let texts: Vec<&str> =
        by_heading["hits"].as_array().unwrap().iter().map(|hit| hit["content"].as_str().unwrap()).collect();
    assert!(
        texts.iter().any(|text| text.contains("Quentin")),
        "the heading above it finds it, too: {texts:?}"
    );
    let explained = home.text(&["context", "who services the boiler", "--explain"]);
    assert!(explained.contains(&format!("({place})")), "{explained}");
    let context = home.json(&["context", "who services the boiler", "--json"], 0);
    assert!(context["receipt"].to_string().contains(place));
    assert!(context["text"].as_str().unwrap().contains("Quentin"));
}

#[test]
fn a_folder_a_pipe_and_what_cannot_be_read_are_reported() {
    let home = Home::new();
    home.file("papers/a.json", br#"{"owner":"Ana"}"#);
    home.file("papers/deep/b.csv", b"city,rent\nBern,900\n");
    home.file("papers/c.bin", b"\0");
    home.file("papers/.hidden.md", b"hidden");
    home.file("papers/broken.json", b"{");
    home.file("outside.md", b"outside");
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.path().join("outside.md"), home.path().join("papers/link.md")).unwrap();
    let report = home.json(&["ingest", "papers", "--json"], 2);
    assert_eq!((&report["files"], &report["stored"], &report["ignored"]), (&2.into(), &2.into(), &1.into()));
    assert_eq!(report["refused"][0]["file"], "broken.json");
    assert!(home.text(&["recall", "Bern rent"]).contains("deep/b.csv"));
    let mut child = home
        .command(&["ingest", "-", "--type", "md", "--name", "mail.md"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"# Pipe\n\nAlfonso likes quince.").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert!(home.text(&["recall", "who likes quince"]).contains("mail.md · Pipe"));
    let large = home.run(&["ingest", "outside.md", "--type", "nothing"]);
    assert_eq!(large.status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn an_inbox_is_read_and_says_how_it_stands() {
    let home = Home::new();
    home.old_file("inboxes/default/guide.md", GUIDE.as_bytes());
    home.old_file("inboxes/default/broken.json", b"{");
    home.file("inboxes/default/program.bin", b"\0");
    home.old_file("inboxes/default/picture.png", b"png");
    home.file("inboxes/other/else.md", b"of another space");
    let status = home.json(&["inbox", "status", "--json"], 0);
    assert_eq!((&status["waiting"], &status["ignored"]), (&3.into(), &1.into()));
    let done = home.json(&["inbox", "run", "--json"], 2);
    assert_eq!((&done["taken"], &done["stored"]), (&1.into(), &3.into()));
    assert_eq!(done["unsupported"][0]["file"], "picture.png");
    assert_eq!(done["refused"][0]["file"], "broken.json");
    let status = home.json(&["inbox", "status", "--json"], 0);
    let counts =
        ["waiting", "claimed", "processed", "failed", "ignored"].map(|name| status[name].as_u64().unwrap());
    assert_eq!(counts, [0, 0, 1, 2, 1]);
    assert!(home.path().join("inboxes/default/failed/broken.json.reason.txt").is_file());
    assert!(home.path().join("inboxes/other/else.md").is_file(), "the inbox of another space");
    assert!(home.text(&["recall", "boiler"]).contains("Quentin"));
}

#[cfg(unix)]
#[test]
fn pictures_and_recordings_are_put_into_words_by_a_program_or_say_that_there_is_none() {
    let home = Home::new();
    home.file("cat.png", b"png");
    let report = home.json(&["ingest", "cat.png", "--json"], 2);
    assert!(report["refused"][0]["why"].as_str().unwrap().contains("ingest.describe"), "{report}");
    let script = r#"["/bin/sh", "-c", "echo a $MNEMAL_MEDIUM of a grey cat called Mimi; cat > /dev/null"]"#;
    let described = home
        .command(&["ingest", "cat.png"])
        .env("PATH", "/bin:/usr/bin")
        .env("MNEMAL_INGEST__DESCRIBE", script)
        .output()
        .unwrap();
    assert!(described.status.success(), "{}", String::from_utf8_lossy(&described.stderr));
    let found = home.text(&["recall", "what is the cat called"]);
    assert!(found.contains("cat.png: a image of a grey cat called Mimi"), "{found}");
}

#[test]
fn a_build_without_a_format_says_so_and_one_with_it_reads_it_in_a_child() {
    let home = Home::new();
    home.file("page.html", b"<h1>Boiler</h1><p>It is serviced by Quentin.</p><script>no()</script>");
    let report =
        home.json(&["ingest", "page.html", "--json"], if cfg!(feature = "ingest-docs") { 0 } else { 2 });
    if cfg!(feature = "ingest-docs") {
        assert!(home.text(&["recall", "Quentin"]).contains("page.html · Boiler"));
    } else {
        assert!(report["refused"][0]["why"].as_str().unwrap().contains("reads no html"), "{report}");
    }
}

/// Runs the child process as the program does.
#[cfg(all(unix, feature = "ingest-docs"))]
fn child(kind: &str, bytes: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command.args(["read-guarded", kind]).env_clear();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _closed = std::io::Write::write_all(&mut child.stdin.take().unwrap(), bytes);
    child.wait_with_output().unwrap()
}

#[cfg(all(unix, feature = "ingest-docs"))]
#[test]
fn a_child_that_takes_too_much_ends_alone() {
    // A PDF with deeper nesting than any stack, and one that requests more memory than there is.
    let deep =
        format!("%PDF-1.4\n1 0 obj\n{}\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF", "[".repeat(5_000_000));
    let huge = vec![b'a'; 300 * 1024 * 1024];
    for (kind, bytes) in [("pdf", deep.as_bytes()), ("html", huge.as_slice())] {
        let ended = child(kind, bytes);
        let refused = String::from_utf8_lossy(&ended.stdout).contains("refused");
        assert!(!ended.status.success() || refused, "{kind}: {:?}", ended.status);
    }
    let home = Home::new();
    home.file("deep.pdf", deep.as_bytes());
    home.file("fine.md", b"The boiler is fine.");
    let report = home.json(&["ingest", "deep.pdf", "fine.md", "--json"], 2);
    assert_eq!((&report["files"], &report["stored"]), (&1.into(), &1.into()), "{report}");
    assert_eq!(report["refused"][0]["file"], "deep.pdf");
    let wordy = format!("<p>{}</p>", "word ".repeat(600_000));
    home.file("wordy.html", wordy.as_bytes());
    let report = home.json(&["ingest", "wordy.html", "--json"], 2);
    assert!(report["refused"][0]["why"].as_str().unwrap().contains("more than 2097152 bytes"), "{report}");
}

// proves: GA-24 (`ingest DIR --watch`; `serve --listen` and `space set --consolidate-interval` have tests of their own)
#[cfg(unix)]
#[test]
fn a_folder_that_is_watched_is_read_until_the_program_is_stopped() {
    let home = Home::new();
    home.old_file("drop/guide.md", GUIDE.as_bytes());
    let mut child = home
        .command(&["ingest", "drop", "--watch", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut next = || {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut lines, &mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    assert_eq!(next()["stored"], 2);
    home.old_file("drop/later.md", b"Alfonso likes quince.");
    let later = next();
    let _stopped = child.kill();
    let _ended = child.wait();
    assert_eq!(later["stored"], 1);
    assert!(home.path().join("drop/processed/later.md").is_file());
    assert!(home.text(&["recall", "who likes quince"]).contains("later.md"));
}
