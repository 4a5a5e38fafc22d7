//! Canaries: sentences with a unique word, one for every path that data can take.

use anyhow::Result;
use async_trait::async_trait;
use mnemal::model::{BackgroundPermit, Completion, Prompt, Purpose, Usage};
use mnemal::ports::LanguageModel;
use mnemal::types::{ModelId, TokenCount};
use mnemal::{EventId, NoteKey};

use crate::words::Dice;

/// A path that data can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A user turn, with a caption and a vector.
    Turn,
    /// An assistant turn.
    Reply,
    /// A tool result.
    ToolResult,
    /// A note under a key.
    Note,
    /// A learned preference.
    Preference,
    /// An entity of the graph.
    Fact,
    /// A conversation with its summary.
    Summary,
    /// Turns replaced by a compression.
    Compression,
    /// A paid answer of a language model.
    Completion,
    /// An entry of working memory that repeats a turn.
    Working,
    /// A file of the inbox, and what it was archived as.
    Document,
    /// A line of a context, with its receipt.
    Receipt,
}

impl Kind {
    pub(super) const ALL: [Self; 12] = [
        Self::Turn,
        Self::Reply,
        Self::ToolResult,
        Self::Note,
        Self::Preference,
        Self::Fact,
        Self::Summary,
        Self::Compression,
        Self::Completion,
        Self::Working,
        Self::Document,
        Self::Receipt,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Reply => "reply",
            Self::ToolResult => "tool result",
            Self::Note => "note",
            Self::Preference => "preference",
            Self::Fact => "fact",
            Self::Summary => "summary",
            Self::Compression => "compression",
            Self::Completion => "completion",
            Self::Working => "working memory",
            Self::Document => "document",
            Self::Receipt => "receipt",
        }
    }
}

/// One canary.
#[derive(Clone, Debug)]
pub(super) struct Canary {
    pub(super) number: usize,
    pub(super) kind: Kind,
    /// The unique word.
    pub(super) word: String,
    pub(super) sentence: String,
    /// What leads to it.
    pub(super) question: String,
    /// The events that say it, once they are known.
    pub(super) events: Vec<EventId>,
}

impl Canary {
    /// A name of a conversation; it holds the word too, unless others say something in it that stays.
    pub(super) fn session(&self) -> String {
        match self.kind {
            Kind::Compression | Kind::Summary => format!("talk-{}", self.number),
            _ => format!("talk-{}-{}", self.word.to_lowercase(), self.number),
        }
    }

    pub(super) fn caption(&self) -> String {
        format!("a photograph of the yellow kite {}", self.word)
    }

    pub(super) fn key(&self) -> Result<NoteKey> {
        Ok(NoteKey::new(format!("kite-{}", self.word.to_lowercase()))?)
    }
}

/// Returns so many canaries, of all kinds in turn.
pub(super) fn flock(count: usize, seed: u64) -> Vec<Canary> {
    let mut dice = Dice::new(seed);
    (0..count)
        .zip(Kind::ALL.into_iter().cycle())
        .map(|(number, kind)| canary(number, kind, &mut dice))
        .collect()
}

fn canary(number: usize, kind: Kind, dice: &mut Dice) -> Canary {
    // Letters alone, so that it can be a name; a number of three letters keeps any two apart.
    let parts = ["vel", "zor", "quim", "hax", "bryn", "odle", "ferv", "tuz"];
    let mut word = String::from("X");
    for _ in 0..3 {
        word.push_str(dice.one_of(&parts));
    }
    for place in [676, 26, 1] {
        word.push(char::from(b'a' + u8::try_from(number / place % 26).unwrap_or_default()));
    }
    let sentence = match kind {
        Kind::Preference => format!("I always want my tea from the blue {word} pot, please."),
        Kind::Fact => format!("My sister {word} lives in Lisbon since last spring."),
        Kind::Completion => format!("These days the place where I sleep is {word}."),
        _ => format!("The yellow kite {word} is kept behind the third door of the attic."),
    };
    let question = match kind {
        Kind::Preference => format!("Which {word} pot do I want my tea from?"),
        Kind::Fact => format!("Where does {word} live?"),
        Kind::Completion => format!("Is {word} the place where I sleep?"),
        _ => format!("Where is the yellow kite {word} kept?"),
    };
    Canary { number, kind, word, sentence, question, events: Vec::new() }
}

/// A language model that quotes its input.
#[derive(Debug)]
pub(super) struct Echo(ModelId);

impl Echo {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(ModelId::new("echo")?))
    }
}

/// The model's quotation for a claim.
const QUOTED: &str = "the place where I sleep is ";

#[async_trait]
impl LanguageModel for Echo {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> mnemal::Result<Completion> {
        permit.pay(TokenCount(10))?;
        let usage = Usage { sent: TokenCount(5), received: TokenCount(5) };
        if prompt.purpose == Purpose::Summarize {
            let said = prompt.material.lines().filter_map(|line| line.split_once(": "));
            let text = said.map(|(_, text)| text).collect::<Vec<_>>().join("\n");
            return Ok(Completion { text, model: self.0.clone(), usage });
        }
        let value = prompt.material.split_once(QUOTED).and_then(|(_, rest)| rest.split_once('.'));
        let claims: Vec<_> = value
            .iter()
            .map(|(value, _)| {
                serde_json::json!({
                    "message": 1, "quote": format!("{QUOTED}{value}"), "subject": "user",
                    "relation": "lives_in", "value": value,
                })
            })
            .collect();
        let text = serde_json::json!({ "claims": claims }).to_string();
        Ok(Completion { text, model: self.0.clone(), usage })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_canaries_share_a_word_and_every_kind_flies() {
        let flock = flock(400, 3);
        let words: BTreeSet<&String> = flock.iter().map(|canary| &canary.word).collect();
        assert_eq!(words.len(), 400);
        assert!(Kind::ALL.iter().all(|kind| flock.iter().any(|canary| canary.kind == *kind)));
        assert!(flock.iter().all(|canary| canary.sentence.contains(&canary.word) && canary.word.len() >= 10));
    }
}
