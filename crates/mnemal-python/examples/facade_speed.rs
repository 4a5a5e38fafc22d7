//! Times the facade of Rust on the loop of `benches/peers/embedded_speed.py`: `facade_speed FOLDER`.
//!
//! `FOLDER` holds `texts.json` and `questions.json`, lists of strings; it prints milliseconds as JSON.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::error::Error;
use std::fs;
use std::path::Path;

use mnemal::ports::{Clock as _, SystemClock};
use mnemal::{Memory, Message, SessionId};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("facade_speed needs a folder")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(Path::new(&folder)))
}

async fn measure(folder: &Path) -> Result<(), Box<dyn Error>> {
    let read = |name: &str| -> Result<Vec<String>, Box<dyn Error>> {
        Ok(serde_json::from_slice(&fs::read(folder.join(name))?)?)
    };
    let (texts, questions) = (read("texts.json")?, read("questions.json")?);
    let home = tempfile::tempdir_in(folder)?;
    let memory = Memory::open(home.path().join("facade.db")).await?;
    let session = memory.for_session(SessionId::new("s1")?);
    let clock = SystemClock::default();
    let began = clock.monotonic();
    for text in texts {
        let _ack = session.log(Message::user(text)).await?;
    }
    let added = clock.monotonic();
    let mut hits = 0;
    for question in &questions {
        hits += memory.recall(question.as_str()).await?.value.hits.len();
    }
    let found = clock.monotonic();
    let millis =
        |from: std::time::Duration, to: std::time::Duration| to.saturating_sub(from).as_secs_f64() * 1e3;
    let figures =
        serde_json::json!({"add_ms": millis(began, added), "search_ms": millis(added, found), "hits": hits});
    println!("{figures}");
    memory.admin().engine().close().await?;
    Ok(())
}
