//! Turn-by-turn replay of a conversation: prompt-cache reuse of each context, and repetition in deltas.

use std::collections::HashSet;
use std::path::Path;

use anyhow::Result;
use mnemal::context::{BlockKind, RecordRef, prefix_share};
use mnemal::{Builder, Context, Message, SessionId};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::neutral::lines;
use crate::spaces::memory;

/// One turn, as it is said again.
#[derive(Clone, Debug, Deserialize)]
pub struct ReplayTurn {
    pub(crate) session: String,
    speaker: String,
    pub(crate) text: String,
}

impl ReplayTurn {
    /// Returns who said it, and what.
    pub fn line(&self) -> String {
        format!("{}: {}", self.speaker, self.text)
    }
}

/// Observations during the replay of a conversation.
#[derive(Clone, Debug, Default)]
pub struct ReplayReport {
    turns: usize,
    sessions: HashSet<String>,
    stable_changes: usize,
    /// Sum of the shares of each context that begins as the one before it did.
    prefix: f64,
    /// The same for what precedes the volatile block.
    front: f64,
    repeated: usize,
    injected: usize,
}

impl ReplayReport {
    /// Returns the shares.
    pub fn json(&self) -> Value {
        let turns = self.turns.max(1) as f64;
        json!({
            "turns": self.turns, "sessions": self.sessions.len(), "stable_changes": self.stable_changes,
            "stable_changed": self.stable_changes as f64 / turns, "prefix_kept": self.prefix / turns,
            "front_kept": self.front / turns, "delta_lines": self.injected, "delta_repeated": self.repeated,
        })
    }
}

/// Reads the first turns of a data set.
///
/// # Errors
/// A file that is missing, or a line that is no turn.
pub fn turns(folder: &Path, most: usize) -> Result<Vec<ReplayTurn>> {
    let mut turns: Vec<ReplayTurn> = lines(&folder.join("corpus.jsonl"))?;
    turns.truncate(most);
    Ok(turns)
}

/// Says the turns one after the other; before each, two contexts are asked for: a whole one without a question, as for a system
/// prompt, and for the turn what was not shown yet.
///
/// # Errors
/// Whatever the engine answers.
pub async fn replay(turns: &[ReplayTurn], builder: &Builder, budget: u32) -> Result<ReplayReport> {
    let memory = memory(builder.clone())?;
    let mut seen = ReplayReport::default();
    let mut before: Option<Context> = None;
    let mut shown: HashSet<(String, RecordRef, [u8; 16])> = HashSet::new();
    for turn in turns {
        let session = SessionId::new(&turn.session)?;
        if seen.sessions.insert(turn.session.clone()) {
            // Between conversations there is time for what waits.
            let _folded = memory.facts().graph().await?;
            before = None;
        }
        let whole = memory.context("").session(session.clone()).budget(budget).await?.value;
        if let Some(before) = &before {
            seen.turns += 1;
            seen.stable_changes += usize::from(stable(before) != stable(&whole));
            seen.prefix += f64::from(prefix_share(&before.text, &whole.text));
            seen.front += f64::from(prefix_share(&front(before), &front(&whole)));
        }
        before = Some(whole);
        let delta_session = SessionId::new(format!("{}-delta", turn.session))?;
        let delta = memory.context(&turn.text).session(delta_session).budget(budget).skip_injected().await?;
        for line in &delta.receipt.lines {
            seen.injected += 1;
            let is_new = shown.insert((turn.session.clone(), line.record, line.content_hash));
            seen.repeated += usize::from(!is_new);
        }
        let message = if turn.speaker == "assistant" {
            Message::assistant(&turn.text)
        } else {
            Message::user(&turn.text)
        };
        let _logged = memory.log(message.session(session)).await?;
    }
    Ok(seen)
}

fn stable(context: &Context) -> Option<[u8; 32]> {
    context.blocks.iter().find(|block| block.kind == BlockKind::Stable).map(|block| block.hash)
}

/// What precedes the part that changes with every question.
fn front(context: &Context) -> String {
    let blocks = context.blocks.iter().filter(|block| block.kind != BlockKind::Volatile);
    blocks.map(|block| block.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mnemal::Engine;

    fn said(session: usize, text: &str) -> ReplayTurn {
        ReplayTurn { session: format!("s{session}"), speaker: "user".to_owned(), text: text.to_owned() }
    }

    // proves: NX-06.8, RB-09
    #[tokio::test]
    async fn a_delta_repeats_nothing_and_small_talk_leaves_the_front_as_it_is() {
        let mut turns = vec![said(0, "I prefer green tea to coffee.")];
        turns.extend((0..12).map(|number| said(1, &format!("tea time number {number} was fine"))));
        let seen = replay(&turns, &Engine::builder(), 2_000).await.unwrap();
        let document = seen.json();
        assert_eq!((&document["turns"], &document["delta_repeated"]), (&json!(11), &json!(0)));
        assert_eq!(document["stable_changes"], 0);
        assert!(document["delta_lines"].as_u64().unwrap() > 0, "{document}");
    }
}
