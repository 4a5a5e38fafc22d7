//! The inbox that is a folder: each file once, whatever it is and whenever a process ends.
#![cfg(all(feature = "inbox", unix))]
#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mnemal_core::{Inbox as _, InboxCounts, InboxItem, InboxOutcome};
use mnemal_providers::{DocumentReader, FolderInbox, FolderOptions, Program, QUIET};
use mnemal_testkit::ManualClock;

const MANY: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

struct InboxFixture {
    home: tempfile::TempDir,
    clock: Arc<ManualClock>,
    options: FolderOptions,
}

impl InboxFixture {
    fn new() -> Self {
        let types = ["txt", "md", "json", "png", "pdf"].map(str::to_owned).to_vec();
        let reader = DocumentReader::default();
        let options = FolderOptions { types, reader, quiet: Duration::ZERO, processed: None };
        Self { home: tempfile::tempdir().unwrap(), clock: Arc::new(ManualClock::default()), options }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("inbox")
    }

    fn inbox(&self) -> FolderInbox {
        FolderInbox::new(self.folder(), self.options.clone(), Arc::<ManualClock>::clone(&self.clock))
    }

    fn drop(&self, name: &str, text: &[u8]) {
        fs::create_dir_all(self.folder()).unwrap();
        fs::write(self.folder().join(name), text).unwrap();
    }

    fn names(&self, below: &str) -> Vec<String> {
        names(&self.folder().join(below))
    }
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(list) = fs::read_dir(folder) else { return Vec::new() };
    let files = list.map(|entry| entry.unwrap()).filter(|entry| !entry.file_type().unwrap().is_dir());
    let mut names: Vec<String> =
        files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

async fn poll(inbox: &FolderInbox) -> Vec<InboxItem> {
    inbox.poll(MANY).await.unwrap()
}

/// Settles as the caller of an inbox does: what could be read is taken.
async fn settle(inbox: &FolderInbox, items: &[InboxItem]) {
    for item in items {
        let fate = match &item.content {
            Ok(_) => InboxOutcome::Ingested,
            Err(why) => InboxOutcome::Refused(why.clone()),
        };
        inbox.settle(item, &fate).await.unwrap();
    }
}

// proves: GA-10
#[tokio::test]
async fn files_are_taken_in_the_order_of_their_names_and_put_away() {
    let desk = InboxFixture::new();
    for name in ["b.md", "a.txt", ".hidden.md", "c.zip"] {
        desk.drop(name, format!("text of {name}").as_bytes());
    }
    fs::create_dir(desk.folder().join("folder.md")).unwrap();
    let inbox = desk.inbox();
    let items = poll(&inbox).await;
    assert_eq!(items.iter().map(|item| item.name.as_str()).collect::<Vec<_>>(), ["a.txt", "b.md"]);
    let document = items[0].content.as_ref().unwrap();
    assert_eq!((document.name.as_str(), document.passages[0].text.as_str()), ("a.txt", "text of a.txt"));
    let standing = inbox.counts().await.unwrap();
    assert_eq!((standing.claimed, standing.ignored, standing.waiting), (2, 1, 0));
    settle(&inbox, &items).await;
    assert_eq!(desk.names("processed"), ["a.txt", "b.md"]);
    assert_eq!(desk.names(""), [".hidden.md", "c.zip"]);
    assert_eq!(poll(&inbox).await, []);
    let standing = inbox.counts().await.unwrap();
    assert_eq!(standing, InboxCounts { ignored: 1, processed: 2, ..InboxCounts::default() });
}

// proves: GA-09 (two equal looks, two seconds apart)
#[tokio::test]
async fn a_file_that_may_still_be_written_waits() {
    let mut desk = InboxFixture::new();
    desk.options.quiet = QUIET;
    desk.drop("notes.md", b"half");
    // The file was written just now, far from the time of this clock: only what is seen counts.
    let inbox = desk.inbox();
    assert_eq!(poll(&inbox).await, []);
    desk.clock.advance(QUIET / 2);
    desk.drop("notes.md", b"half and half");
    assert_eq!(poll(&inbox).await, []);
    desk.clock.advance(QUIET / 2);
    assert_eq!(poll(&inbox).await, [], "it has changed since it was seen first");
    desk.clock.advance(QUIET / 2);
    let items = poll(&inbox).await;
    assert_eq!(items[0].content.as_ref().unwrap().passages[0].text, "half and half");
}

// proves: GA-09 (a file server may have another time)
#[tokio::test]
async fn a_file_that_says_it_is_some_seconds_old_is_looked_at_twice_and_one_of_a_minute_once() {
    let mut desk = InboxFixture::new();
    desk.options.quiet = QUIET;
    let now = std::time::UNIX_EPOCH
        + Duration::from_micros(u64::try_from(mnemal_core::Clock::now(&*desk.clock).as_micros()).unwrap());
    for (name, age) in [("new.md", 50), ("old.md", 60)] {
        desk.drop(name, b"text");
        let file = fs::File::options().write(true).open(desk.folder().join(name)).unwrap();
        file.set_modified(now - Duration::from_secs(age)).unwrap();
    }
    let inbox = desk.inbox();
    let names = |items: Vec<InboxItem>| items.into_iter().map(|item| item.name).collect::<Vec<_>>();
    assert_eq!(names(poll(&inbox).await), ["old.md"]);
    desk.clock.advance(QUIET / 2);
    assert_eq!(names(poll(&inbox).await), ["old.md"]);
    desk.clock.advance(QUIET / 2);
    assert_eq!(names(poll(&inbox).await), ["old.md", "new.md"]);
}

// proves: GB-24 (an inbox, and another folder to which files go that were read)
#[tokio::test]
async fn files_that_were_read_go_where_the_user_says() {
    let mut desk = InboxFixture::new();
    let done = desk.home.path().join("done");
    desk.options.processed = Some(done.clone());
    desk.drop("notes.md", b"text");
    desk.drop("broken.json", b"{");
    let inbox = desk.inbox();
    let items = poll(&inbox).await;
    settle(&inbox, &items).await;
    assert_eq!((names(&done), desk.names("")), (vec!["notes.md".to_owned()], Vec::new()));
    assert_eq!(desk.names("failed"), ["broken.json", "broken.json.reason.txt"]);
    assert!(!desk.folder().join("processed").exists());
    assert_eq!(inbox.counts().await.unwrap().processed, 1);
    let text = *blake3::hash(b"text").as_bytes();
    assert_eq!(inbox.erase(&|hash| *hash == text).await.unwrap(), 1);
    assert_eq!(names(&done), [""; 0], "a forget finds it there");
}

// proves: GB-27 (a typed placeholder, and the state `unsupported`), GB-26
#[tokio::test]
async fn a_picture_that_nothing_describes_is_a_document_that_says_what_it_is() {
    let desk = InboxFixture::new();
    desk.drop("picture.png", b"\x89PNG");
    let inbox = desk.inbox();
    let items = poll(&inbox).await;
    let document = items[0].content.as_ref().unwrap();
    assert_eq!((document.kind.as_str(), document.hash), ("image", *blake3::hash(b"\x89PNG").as_bytes()));
    let said: Vec<&str> = document.passages.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(said, ["picture.png: image of 4 bytes that nobody has described"]);
    assert_eq!(document.fields["size"], "4");
    assert_eq!(document.fields["blake3"], blake3::hash(b"\x89PNG").to_hex().to_string());
    let why = document.undescribed.clone().unwrap();
    assert_eq!(why, "nothing describes image files: name a program in `ingest.describe`");
    inbox.settle(&items[0], &InboxOutcome::Unsupported(why.clone())).await.unwrap();
    assert_eq!(desk.names("failed"), ["picture.png", "picture.png.reason.txt"]);
    let reason = fs::read_to_string(desk.folder().join("failed/picture.png.reason.txt")).unwrap();
    assert_eq!(reason.trim_end(), why);
}

// proves: GB-26, GA-08 (27 types; text is read here)
#[tokio::test]
async fn the_types_of_the_designs_are_known_and_text_is_read_as_it_is() {
    let mut desk = InboxFixture::new();
    let texts = ["txt", "md", "json", "csv", "log", "xml", "yaml", "yml"];
    let media = [
        ("image", ["png", "jpg", "jpeg", "gif", "webp", "bmp", "svg"].as_slice()),
        ("audio", &["mp3", "wav", "ogg", "flac", "m4a", "aac"]),
        ("video", &["mp4", "webm", "mov", "avi", "mkv"]),
    ];
    let of_media: Vec<(&str, &str)> =
        media.iter().flat_map(|(kind, endings)| endings.iter().map(|ending| (*ending, *kind))).collect();
    assert_eq!(texts.len() + of_media.len() + 1, 27, "with PDF");
    desk.options.types = texts
        .iter()
        .chain(of_media.iter().map(|(ending, _)| ending))
        .map(|ending| (*ending).to_owned())
        .collect();
    for ending in texts.iter().chain(of_media.iter().map(|(ending, _)| ending)) {
        desk.drop(&format!("file.{ending}"), b"{\"boiler\": \"Quentin\"}");
    }
    desk.drop("file.exe", b"MZ");
    let inbox = desk.inbox();
    let items = poll(&inbox).await;
    let kind = |name: &str| {
        let item = items.iter().find(|item| item.name == format!("file.{name}")).unwrap();
        let document = item.content.as_ref().unwrap();
        (document.kind.clone(), document.undescribed.is_none(), document.passages[0].text.contains("Quentin"))
    };
    for ending in texts {
        let (_, is_read, says) = kind(ending);
        assert!(is_read && says, "{ending}");
    }
    for (ending, medium) in of_media {
        assert_eq!(kind(ending), (medium.to_owned(), false, false), "{ending}");
    }
    assert_eq!((items.len(), inbox.counts().await.unwrap().ignored), (26, 1), "unknown ones are counted");
}

// proves: GA-05 (failed with the reason; at most five attempts, then visible, and driven again by moving the file back)
#[tokio::test]
async fn what_a_process_left_is_taken_up_and_given_up_after_five_times() {
    let desk = InboxFixture::new();
    desk.drop("notes.md", b"text");
    for attempt in 1..=5 {
        // Each inbox that is dropped is a process that came to an end.
        let items = poll(&desk.inbox()).await;
        assert_eq!(items.len(), 1, "attempt {attempt}");
        assert!(desk.names("").is_empty() && desk.names(".claimed").len() == 1);
    }
    assert_eq!(poll(&desk.inbox()).await, []);
    assert_eq!(desk.names("failed"), ["notes.md", "notes.md.reason.txt"]);
    let reason = fs::read_to_string(desk.folder().join("failed/notes.md.reason.txt")).unwrap();
    assert!(reason.contains("5 times"), "{reason}");
    fs::rename(desk.folder().join("failed/notes.md"), desk.folder().join("notes.md")).unwrap();
    let inbox = desk.inbox();
    let items = poll(&inbox).await;
    settle(&inbox, &items).await;
    assert_eq!(desk.names("processed"), ["notes.md"]);
}

#[tokio::test]
async fn one_process_at_a_time_has_files_in_hand() {
    let desk = InboxFixture::new();
    desk.drop("a.md", b"a");
    desk.drop("b.md", b"b");
    let (one, two) = (desk.inbox(), desk.inbox());
    let first = one.poll(NonZeroUsize::MIN).await.unwrap();
    assert_eq!(first[0].name, "a.md");
    assert_eq!(poll(&two).await, [], "another has the turn");
    assert_eq!(one.poll(NonZeroUsize::MIN).await.unwrap(), first, "what is in hand is offered again");
    settle(&one, &first).await;
    let second = poll(&two).await;
    assert_eq!(second[0].name, "b.md");
    drop(two);
    let third = poll(&one).await;
    assert_eq!(third[0].name, "b.md", "the turn ends with the process");
    settle(&one, &second).await;
    settle(&one, &third).await;
    assert_eq!(desk.names("processed"), ["a.md", "b.md"], "settling something twice is no error");
}

#[tokio::test]
async fn files_of_one_name_are_all_kept() {
    let desk = InboxFixture::new();
    let inbox = desk.inbox();
    for text in ["one", "two", "three"] {
        desk.drop("notes.md", text.as_bytes());
        desk.drop("broken.json", text.as_bytes());
        let items = poll(&inbox).await;
        settle(&inbox, &items).await;
    }
    assert_eq!(desk.names("processed"), ["notes.md", "notes~2.md", "notes~3.md"]);
    let failed: Vec<String> =
        desk.names("failed").into_iter().filter(|name| !name.ends_with(".reason.txt")).collect();
    assert_eq!(failed, ["broken.json", "broken~2.json", "broken~3.json"]);
    assert_eq!(desk.names("failed").len(), 6, "each with its reason");
    // A reason that a process left before it moved the file is rewritten.
    fs::write(desk.folder().join("failed/late.json.reason.txt"), "old").unwrap();
    desk.drop("late.json", b"{");
    let items = poll(&inbox).await;
    settle(&inbox, &items).await;
    assert!(fs::read_to_string(desk.folder().join("failed/late.json.reason.txt")).unwrap().contains("JSON"));
}

// proves: GB-31 (relative names; opened beneath the folder's handle without following links; regular files only)
#[tokio::test]
async fn links_pipes_and_names_change_nothing_outside() {
    let desk = InboxFixture::new();
    let outside = desk.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.md"), "the outside").unwrap();
    fs::create_dir_all(desk.folder()).unwrap();
    symlink(outside.join("secret.md"), desk.folder().join("link.md")).unwrap();
    symlink(&outside, desk.folder().join("folder.md")).unwrap();
    symlink("/dev/zero", desk.folder().join("zero.md")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(desk.folder().join("pipe.md")).status().unwrap();
    assert!(pipe.success());
    for name in ["a..%2f..%2fescape.md", "-rf.md", "a\nb.md", "..md.md", "$(touch x).md"] {
        desk.drop(name, b"text");
    }
    let long = format!("{}.md", "n".repeat(252));
    desk.drop(&long, b"long");
    let inbox = desk.inbox();
    let items = poll(&inbox).await;
    let taken: Vec<&str> =
        items.iter().filter(|item| item.content.is_ok()).map(|item| item.name.as_str()).collect();
    assert_eq!(taken.len(), 5, "{taken:?}: `..md.md` is hidden");
    for item in items.iter().filter(|item| item.content.is_err()) {
        assert!(item.content.as_ref().unwrap_err().contains("regular"), "{item:?}");
    }
    settle(&inbox, &items).await;
    assert_eq!(names(&outside), ["secret.md"]);
    assert_eq!(fs::read_to_string(outside.join("secret.md")).unwrap(), "the outside");
    assert_eq!(names(desk.home.path()), [""; 0]);
    assert_eq!(desk.names(""), ["..md.md"], "nothing else waits");
    let failed = desk.names("failed");
    for name in ["link.md", "folder.md", "zero.md", "pipe.md"] {
        assert!(
            failed.contains(&name.to_owned()) && failed.contains(&format!("{name}.reason.txt")),
            "{name}"
        );
    }
    assert_eq!(desk.names("processed").len(), 5);
}

#[tokio::test]
async fn a_folder_of_the_inbox_that_is_a_link_is_refused() {
    let desk = InboxFixture::new();
    let outside = desk.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    desk.drop("notes.md", b"text");
    symlink(&outside, desk.folder().join("processed")).unwrap();
    assert!(desk.inbox().poll(MANY).await.is_err());
    assert_eq!(
        (desk.names(""), names(&outside)),
        (vec!["notes.md".to_owned(), "processed".to_owned()], Vec::new())
    );
}

// proves: GA-06, GA-11 (a larger file is refused visibly)
#[tokio::test]
async fn what_cannot_be_read_says_why() {
    let mut desk = InboxFixture::new();
    desk.options.reader.most_bytes = 100;
    desk.drop("large.md", &[b'a'; 101]);
    desk.drop("whole.md", &[b'a'; 100]);
    desk.drop("latin.txt", b"caf\xE9");
    desk.drop("empty.txt", b" \n");
    desk.drop("deep.json", "[".repeat(99).as_bytes());
    desk.drop("picture.png", &[0; 101]);
    desk.drop("paper.pdf", b"%PDF-1.4");
    let inbox = desk.inbox();
    let items = poll(&inbox).await;
    let why = |name: &str| {
        let item = items.iter().find(|item| item.name == name).unwrap();
        item.content.as_ref().err().cloned().unwrap_or_default()
    };
    assert_eq!(why("whole.md"), "");
    assert!(why("large.md").contains("larger than 100 bytes"), "{}", why("large.md"));
    assert_eq!(why("latin.txt"), "not UTF-8: byte 3 is wrong");
    assert_eq!(why("empty.txt"), "holds no text");
    assert!(why("deep.json").starts_with("not JSON"));
    assert!(why("picture.png").contains("larger than 100 bytes"), "{}", why("picture.png"));
    assert!(why("paper.pdf").contains("reads no pdf"));
}

// proves: DF-68 (what cannot be opened for now is tried again, and taken once)
#[tokio::test]
async fn a_program_that_cannot_be_started_for_now_is_started_again_later() {
    let mut desk = InboxFixture::new();
    let program = desk.home.path().join("describe");
    desk.options.reader.describe =
        Some(Program { path: program.clone(), arguments: vec!["--brief".to_owned()] });
    desk.drop("picture.png", b"\x89PNG");
    let inbox = desk.inbox();
    assert_eq!(poll(&inbox).await, []);
    assert_eq!(poll(&inbox).await, [], "it rests");
    desk.clock.advance(Duration::from_secs(5));
    assert_eq!(poll(&inbox).await, []);
    let script = "#!/bin/sh\necho \"$1 $MNEMAL_MEDIUM $MNEMAL_FILE shows a boiler of $(wc -c) bytes\"\n";
    // Written elsewhere and moved, so that no process holds it open for writing when it is started.
    let draft = program.with_extension("draft");
    fs::write(&draft, script).unwrap();
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o700)).unwrap();
    fs::rename(&draft, &program).unwrap();
    desk.clock.advance(Duration::from_mins(1));
    let items = poll(&inbox).await;
    let text = &items[0].content.as_ref().unwrap().passages[0].text;
    assert_eq!(
        text.split_whitespace().collect::<Vec<_>>().join(" "),
        "--brief image picture.png shows a boiler of 4 bytes"
    );
    settle(&inbox, &items).await;
    assert_eq!((desk.names("processed"), desk.names("failed")), (vec!["picture.png".to_owned()], Vec::new()));
}

#[tokio::test]
async fn what_is_forgotten_is_removed_from_what_was_put_away_and_nothing_else() {
    let desk = InboxFixture::new();
    let inbox = desk.inbox();
    for (name, text) in [("a.txt", "the canary"), ("b.txt", "a robin"), ("c.txt", "the canary")] {
        desk.drop(name, text.as_bytes());
    }
    for (n, item) in poll(&inbox).await.iter().enumerate() {
        let fate = if n == 2 { InboxOutcome::Refused("too late".to_owned()) } else { InboxOutcome::Ingested };
        inbox.settle(item, &fate).await.unwrap();
    }
    desk.drop("d.txt", b"the canary");
    let canary = *blake3::hash(b"the canary").as_bytes();
    assert_eq!(inbox.erase(&|hash| *hash == canary).await.unwrap(), 2);
    assert_eq!(inbox.erase(&|hash| *hash == canary).await.unwrap(), 0);
    assert_eq!(desk.names("processed"), ["b.txt"]);
    assert_eq!(desk.names("failed"), [""; 0], "the reason goes with its file");
    assert_eq!(desk.names(""), ["d.txt"], "what waits is left");
}

/// Waits until a waiting caller is notified of a concurrent change.
#[cfg(target_os = "linux")]
async fn told_of(inbox: &FolderInbox, done: impl FnOnce()) {
    let mut told = std::pin::pin!(inbox.changed());
    assert!(futures_util::FutureExt::now_or_never(told.as_mut()).is_none());
    done();
    told.await;
}

// proves: GA-09 (the file system says when a file came)
#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_waits_is_told_of_a_file_that_was_written_or_moved_here() {
    let desk = InboxFixture::new();
    let inbox = desk.inbox();
    fs::create_dir_all(desk.folder()).unwrap();
    told_of(&inbox, || desk.drop("a.txt", b"written")).await;
    assert_eq!(poll(&inbox).await.len(), 1);
    let elsewhere = desk.home.path().join("elsewhere.txt");
    fs::write(&elsewhere, b"moved").unwrap();
    told_of(&inbox, || fs::rename(&elsewhere, desk.folder().join("b.txt")).unwrap()).await;
    let mut told = std::pin::pin!(inbox.changed());
    assert!(futures_util::FutureExt::now_or_never(told.as_mut()).is_none());
    assert_eq!(poll(&inbox).await.len(), 2);
    tokio::task::yield_now().await;
    assert!(futures_util::FutureExt::now_or_never(told.as_mut()).is_none(), "what is claimed is no news");
}

#[tokio::test]
async fn a_folder_that_is_not_there_tells_nothing_and_is_no_error() {
    let desk = InboxFixture::new();
    let inbox = desk.inbox();
    let mut told = std::pin::pin!(inbox.changed());
    assert!(futures_util::FutureExt::now_or_never(told.as_mut()).is_none());
}
