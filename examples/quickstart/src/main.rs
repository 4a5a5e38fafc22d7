//! Logs a turn, keeps a note, and assembles a context: no model, no network.

use mnemal::{Memory, Message, NoteKey};

#[tokio::main(flavor = "current_thread")]
async fn main() -> mnemal::Result<()> {
    let memory = Memory::in_memory().await?; // on disk: Memory::open("agent.db").await?

    let _event = memory.log(Message::user("Actually I prefer short answers")).await?; // searchable at once
    let _note = memory.remember("Deploys happen on Tuesdays").key(NoteKey::new("deploy_day")?).await?;

    let context = memory.context("when do we deploy?").budget(1_000).await?;
    assert!(context.text.contains("Deploys happen on Tuesdays"));
    assert!(context.tokens.0 <= 1_000);
    println!("{}", context.text); // .receipt says what and why, .gaps what was missing
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
