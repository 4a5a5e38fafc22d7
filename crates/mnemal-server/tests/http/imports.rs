//! Imports over HTTP: what a dry run tells, and zips.

use mnemal_server::auth::{KeyClass, Right};
use serde_json::{Value, json};

use crate::api::Api;

/// A history of two speakers with names and an assistant.
fn talk() -> String {
    let line = |role: &str, name: Option<&str>, content: &str| {
        json!({"role": role, "name": name, "content": content}).to_string() + "\n"
    };
    [
        line("user", Some("Ada"), "The boat is called Nautilus."),
        line("user", Some("Bo"), "The harbor is in Brest."),
        line("user", Some("Ada"), "The bell of the boat is cracked."),
        line("assistant", None, "Noted."),
    ]
    .concat()
}

async fn import(api: &Api, query: &str, body: impl Into<bytes::Bytes>) -> crate::api::Answer {
    let path = format!("/v1/spaces/demo/import{query}");
    api.send(Api::request("POST", &path, &api.local), body).await
}

#[tokio::test]
async fn a_dry_run_tells_for_whom_each_speaker_is_taken_and_what_is_there_already() {
    let api = Api::new();
    let told = import(&api, "?dry_run=true", talk()).await.of(200);
    let whose = |told: &Value| -> Vec<(String, u64, String)> {
        let speakers = told["speakers"].as_array().unwrap().iter();
        let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
        speakers
            .map(|one| (text(one, "name"), one["records"].as_u64().unwrap(), text(one, "whose")))
            .collect()
    };
    let row = |name: &str, records: u64, whose: &str| (name.to_owned(), records, whose.to_owned());
    let rows = |people: &str| [row("Ada", 2, people), row("Bo", 1, people), row("assistant", 1, "assistant")];
    assert_eq!(whose(&told), rows("other"), "{told}");
    assert_eq!((&told["stored"], &told["duplicates"]), (&json!(4), &json!(0)));
    assert_eq!(api.get("stats").await.status, 404, "a dry run makes no space");
    let own = import(&api, "?dry_run=true&own_history=true", talk()).await.of(200);
    assert_eq!(whose(&own), rows("name"), "of several people none is known to be the user: {own}");
    let stored = import(&api, "", talk()).await.of(200);
    assert_eq!((&stored["stored"], &stored["files"]), (&json!(4), &json!(1)));
    assert!(stored.get("speakers").is_none(), "{stored}");
    let again = import(&api, "?dry_run=true", talk()).await.of(200);
    assert_eq!((&again["stored"], &again["duplicates"]), (&json!(0), &json!(4)), "{again}");
    let agent = api.key(KeyClass::Agent, &[Right::Read, Right::Write], &["demo"]);
    let path = "/v1/spaces/demo/import?own_history=true&dry_run=true";
    assert_eq!(api.send(Api::request("POST", path, &agent), talk()).await.of(403)["code"], "app_key_needed");
}

#[cfg(feature = "ingest-docs")]
mod zips {
    use super::*;

    /// Writes a zip; each file is its name, its packing (0 stored, 8 deflated), what is in the zip, and the content's checksum and size.
    fn zip(files: &[(&str, u16, Vec<u8>, u32, u32)]) -> Vec<u8> {
        let (mut all, mut table) = (Vec::new(), Vec::new());
        for (name, packing, bytes, crc, size) in files {
            let head = |begin: &[u8], version: &[u8]| {
                let length = u32::try_from(bytes.len()).unwrap();
                let mut head =
                    [begin, version, &20_u16.to_le_bytes(), &[0; 2], &packing.to_le_bytes(), &[0; 4]]
                        .concat();
                for number in [*crc, length, *size] {
                    head.extend(number.to_le_bytes());
                }
                head.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
                head.extend([0; 2]);
                head
            };
            let place = u32::try_from(all.len()).unwrap();
            table.extend(head(b"PK\x01\x02", &20_u16.to_le_bytes()));
            table.extend([0; 10]);
            table.extend(place.to_le_bytes());
            table.extend(name.as_bytes());
            all.extend(head(b"PK\x03\x04", &[]));
            all.extend([name.as_bytes(), bytes].concat());
        }
        let (place, length) = (u32::try_from(all.len()).unwrap(), u32::try_from(table.len()).unwrap());
        let count = u16::try_from(files.len()).unwrap().to_le_bytes();
        all.extend(table);
        all.extend([b"PK\x05\x06".as_slice(), &[0; 4], &count, &count].concat());
        all.extend([length.to_le_bytes(), place.to_le_bytes()].concat());
        all.extend([0; 2]);
        all
    }

    fn crc(bytes: &[u8]) -> u32 {
        let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        !bytes.iter().fold(!0_u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
    }

    fn stored(files: &[(&str, &str)]) -> Vec<u8> {
        let file = |(name, text): &(&'static str, &str)| -> (&'static str, u16, Vec<u8>, u32, u32) {
            (name, 0, text.as_bytes().to_vec(), crc(text.as_bytes()), u32::try_from(text.len()).unwrap())
        };
        let files: Vec<(&'static str, &str)> =
            files.iter().map(|(name, text)| (leaked(name), *text)).collect();
        zip(&files.iter().map(file).collect::<Vec<_>>())
    }

    fn leaked(name: &str) -> &'static str {
        Box::leak(name.to_owned().into_boxed_str())
    }

    /// An account export of one conversation.
    fn conversations() -> String {
        let turn = |id: &str, parent: Value, children: Value, role: &str, words: &str| {
            json!({"id": id, "parent": parent, "children": children, "message": {
                "id": id, "author": {"role": role}, "create_time": 1_735_725_600, "metadata": {}, "recipient": "all",
                "content": {"content_type": "text", "parts": [words]},
            }})
        };
        let mapping = json!({
            "a": turn("a", Value::Null, json!(["b"]), "user", "The boat is called Nautilus."),
            "b": turn("b", json!("a"), json!([]), "assistant", "A fine name."),
        });
        json!([{
            "title": "Boats", "create_time": 1_735_725_600, "update_time": 1_735_725_700, "conversation_id": "boats",
            "current_node": "b", "mapping": mapping,
        }])
        .to_string()
    }

    #[tokio::test]
    async fn the_history_in_a_zip_is_read_and_its_other_files_are_not() {
        let api = Api::new();
        let conversations = conversations();
        let zip = stored(&[
            ("export/conversations.json", &conversations),
            ("export/user.json", r#"{"id":"user-1","email":"ada@example.com"}"#),
            ("export/chat.html", "<html>The boat is called Nautilus.</html>"),
            ("export/picture.png", "no picture"),
        ]);
        let told = import(&api, "?dry_run=true", zip.clone()).await.of(200);
        assert_eq!(
            (&told["format"], &told["files"], &told["stored"]),
            (&json!("chatgpt"), &json!(1), &json!(2))
        );
        assert_eq!(told["speakers"].as_array().unwrap().len(), 2, "{told}");
        let read = import(&api, "", zip.clone()).await.of(200);
        assert_eq!((&read["stored"], &read["broken"]), (&json!(2), &json!(0)), "{read}");
        assert_eq!(import(&api, "", zip).await.of(200)["duplicates"], 2, "as with every import, once");
        let alone = import(&api, "", conversations).await.of(200);
        assert_eq!(
            (&alone["stored"], &alone["duplicates"]),
            (&json!(0), &json!(2)),
            "packed or not: {alone}"
        );
        let found = api.post("recall", json!({"query": "what is the boat called"})).await.of(200);
        assert_eq!(found["hits"][0]["text"], "The boat is called Nautilus.");
    }

    #[tokio::test]
    async fn what_is_damaged_in_a_zip_is_told_by_its_file_and_a_zip_without_a_history_is_refused() {
        let api = Api::new();
        let zip = stored(&[(
            "one.jsonl",
            "{\"role\":\"user\",\"content\":\"The boat is called Nautilus.\"}\n{\"role\":\n",
        )]);
        let read = import(&api, "?format=openai", zip).await.of(200);
        assert_eq!((&read["stored"], &read["broken"]), (&json!(1), &json!(1)));
        assert!(read["reasons"][0].as_str().unwrap().starts_with("one.jsonl: line 2: "), "{read}");
        for (zip, why) in [
            (stored(&[("picture.png", "no picture")]), "no file of the zip is a history"),
            (stored(&[("user.json", "{}")]), "no file of the zip is a history"),
            (b"PK\x03\x04 and no more".to_vec(), "no readable zip"),
        ] {
            let refused = import(&api, "", zip).await.of(400);
            assert!(refused["detail"].as_str().unwrap().contains(why), "{refused}");
        }
        // A byte of the content is another than that of which the checksum is.
        let mut damaged = stored(&[("conversations.json", &conversations())]);
        let place = damaged.windows(8).position(|part| part == b"Nautilus").unwrap();
        damaged[place] = b'M';
        let refused = import(&api, "", damaged).await.of(400);
        assert!(refused["detail"].as_str().unwrap().starts_with("conversations.json: "), "{refused}");
    }

    /// Packs a bracket and many spaces: a block of fixed codes, each repeating the last byte 258 times in 13 bits.
    fn bomb(repeats: usize) -> Vec<u8> {
        let mut bits = vec![true, true, false];
        // Literals below 144 are 8 bits from 0x30 on, the highest first.
        for byte in [b'[', b' '] {
            bits.extend((0..8).rev().map(|bit| (0x30 + byte) >> bit & 1 == 1));
        }
        for _ in 0..repeats {
            bits.extend([true, true, false, false, false, true, false, true]);
            bits.extend([false; 5]);
        }
        bits.extend([false; 7]);
        bits.chunks(8)
            .map(|byte| byte.iter().rev().fold(0, |all, bit| all << 1 | u8::from(*bit)))
            .map(|byte: u8| byte)
            .collect()
    }

    #[tokio::test]
    async fn a_zip_that_holds_a_hundred_times_its_size_is_refused() {
        let api = Api::new();
        let repeats = (70 << 20) / 258;
        let size = u32::try_from(repeats * 258 + 2).unwrap();
        let packed = zip(&[("conversations.json", 8, bomb(repeats), 0, size)]);
        assert!(packed.len() < 500_000, "{} bytes", packed.len());
        let refused = import(&api, "?format=chatgpt", packed).await.of(400);
        assert!(refused["detail"].as_str().unwrap().contains("more than 100 times its size"), "{refused}");
    }
}
