//! Imports of real-world files: whole account exports, zips, damaged files, unrelated files.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Home(TempDir);

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command.args(args).current_dir(self.0.path()).env_clear().stdin(Stdio::null());
        command.env("HOME", self.0.path()).env("MNEMAL_DATA_DIR", self.0.path().join("data"));
        let ran = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: ran.status.code().unwrap(), out: text(&ran.stdout), err: text(&ran.stderr) }
    }

    fn file(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// All turns, oldest first.
    fn said(&self) -> Vec<String> {
        let listed: Value =
            serde_json::from_str(&self.run(&["log", "list", "-n", "100", "--json"]).out).unwrap();
        let texts = listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["content"].as_str().unwrap_or_default().to_owned());
        let mut texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        texts.sort();
        texts
    }
}

fn chat(id: &str, text: &str) -> Value {
    json!({"title": id, "conversation_id": id, "create_time": 1_761_000_000, "current_node": format!("{id}1"), "mapping": {
        format!("{id}0"): {"message": null, "parent": null, "children": [format!("{id}1")]},
        format!("{id}1"): {"parent": format!("{id}0"), "children": [], "message": {"author": {"role": "user"},
            "create_time": 1_761_000_000, "content": {"content_type": "text", "parts": [text]}}}}})
}

#[test]
fn a_folder_of_an_account_gives_every_conversation_and_true_counts() {
    let home = Home::new();
    let mut odd = chat("b", "We keep two goats");
    odd["mapping"]["b1"]["message"]["author"] = json!(5);
    home.file(
        "ex/conversations-000.json",
        json!([chat("a", "My aunt lives in Bruges"), odd]).to_string().as_bytes(),
    );
    home.file("ex/conversations-001.json", json!([chat("c", "The canoe is sold")]).to_string().as_bytes());
    home.file("ex/message_feedback.json", b"[]");
    home.file("ex/user.json", br#"{"id":"x"}"#);
    let ran = home.run(&["import", "--own-history", "ex"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("imported 2 events from 3 records (chatgpt)"), "{}", ran.out);
    assert!(
        ran.out.contains("left alone, because they hold no history: message_feedback.json, user.json"),
        "{}",
        ran.out
    );
    assert!(ran.err.contains("1 part(s) could not be read") && ran.err.contains("record 2"), "{}", ran.err);
    assert_eq!(home.said(), ["My aunt lives in Bruges", "The canoe is sold"]);
    assert_eq!(home.run(&["import", "--own-history", "--lenient", "ex"]).code, 0);
}

#[test]
fn a_folder_of_nothing_is_no_success_and_a_file_that_gives_nothing_is_named() {
    let home = Home::new();
    home.file("ex/user.json", b"{}");
    let ran = home.run(&["import", "ex"]);
    assert!(ran.code == 2 && ran.err.contains("nothing of it is a history"), "{}{}", ran.out, ran.err);
    home.file("vault/Empty.md", b"---\ntitle: x\n---\n");
    home.file("vault/Full.md", b"---\n\nThe key hangs behind the bell.\n");
    let ran = home.run(&["import", "vault"]);
    assert!(ran.code == 0 && ran.out.contains("nothing is in it: Empty.md"), "{}{}", ran.out, ran.err);
    assert_eq!(home.said(), ["The key hangs behind the bell."]);
}

/// Makes a zip of uncompressed files.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(u32::MAX, |crc, byte| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
        })
    };
    let number = |value: usize| u32::try_from(value).unwrap().to_le_bytes();
    let (mut out, mut list) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let at = out.len();
        let mut about = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        about.extend(crc(bytes).to_le_bytes());
        about.extend([number(bytes.len()), number(bytes.len())].concat());
        about.extend(&number(name.len())[..2]);
        about.extend([0, 0]);
        out.extend([b"PK\x03\x04", about.as_slice(), name.as_bytes(), *bytes].concat());
        list.extend(
            [b"PK\x01\x02\x14\x00", about.as_slice(), &[0; 10], &number(at)[..], name.as_bytes()].concat(),
        );
    }
    let (start, count) = (out.len(), &number(files.len())[..2]);
    out.extend(&list);
    out.extend(
        [b"PK\x05\x06\0\0\0\0", count, count, &number(list.len())[..], &number(start)[..], &[0, 0]].concat(),
    );
    out
}

#[cfg(feature = "ingest-docs")]
#[test]
fn a_zip_alone_and_in_a_folder_is_read_without_unpacking() {
    let home = Home::new();
    let first = json!([chat("a", "My aunt lives in Bruges")]).to_string();
    let second = json!([chat("c", "The canoe is sold")]).to_string();
    home.file(
        "all.zip",
        &zip(&[
            ("export/conversations.json", first.as_bytes()),
            ("export/user.json", b"{}"),
            ("export/chat.html", b"<p>x"),
        ]),
    );
    let ran = home.run(&["import", "all.zip"]);
    assert!(ran.code == 0 && ran.out.starts_with("imported 1 events"), "{}{}", ran.out, ran.err);
    home.file("ex/part.zip", &zip(&[("conversations.json", second.as_bytes())]));
    home.file("ex/broken.zip", b"PK no zip");
    let ran = home.run(&["import", "ex"]);
    assert!(ran.code == 2 && ran.out.contains("not read: broken.zip"), "{}{}", ran.out, ran.err);
    assert_eq!(home.said(), ["My aunt lives in Bruges", "The canoe is sold"]);
}

#[test]
fn the_help_of_import_tells_the_neutral_layout() {
    let help = Home::new().run(&["import", "--help"]).out;
    for word in ["\"conv\": \"trip\"", "ISO 8601", "what a tool answered", "gemini-takeout"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}
