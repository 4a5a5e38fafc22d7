//! Training data of a pack's weights: the signals of messages, and the examples of the rules.

use std::collections::BTreeSet;

use mnemal_core::{Error, Result};

use super::kinds::FeedbackAct;
use super::{Message, PACKS, Turn, is_dictation, pack_of};
use crate::authorship::OwnWords;
use crate::section::{PackFile, Section};

/// Returns the names of the signals in a message, to which a pack gives weights.
///
/// They are families of cues (`defect.fails`), rules that match (`en.reject.wrong`), classes of which a rule counts by
/// itself (`rules.correction`) and facts of form (`shape.few`, `line.echo`).
/// A message that only answers the assistant's question has no signals. The names are those of the packs: they change with the
/// rules, and are not stored.
#[must_use]
pub fn feedback_signals(turn: Turn<'_>) -> BTreeSet<String> {
    let Some(pack) = pack_of(turn).filter(|pack| !is_dictation(pack, turn)) else {
        return BTreeSet::new();
    };
    let shown = Message::read(pack, turn).signals(pack, turn);
    shown.names().flatten().map(str::to_owned).collect()
}

/// An example or counter-example of a rule in a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackExample {
    /// The rule.
    pub rule: String,
    /// The expected act.
    pub act: FeedbackAct,
    /// Whether it is a counter-example; another rule may match it.
    pub is_counter: bool,
    /// The preceding message of the assistant, if any.
    pub assistant: Option<String>,
    /// The user's own words.
    pub user: OwnWords<'static>,
}

impl FeedbackExample {
    /// Returns the message to be read.
    #[must_use]
    pub fn turn(&self) -> Turn<'_> {
        Turn { user: &self.user, assistant: self.assistant.as_deref(), earlier: &[] }
    }
}

/// Returns the examples and counter-examples of the rules of a language, in the order of its pack.
///
/// # Errors
/// `Invalid` for a language without a pack.
pub fn feedback_examples(language: &str) -> Result<Vec<FeedbackExample>> {
    let pack = PACKS.iter().find(|(name, _)| *name == language);
    let (_, text) = pack.ok_or_else(|| Error::invalid(format!("no feedback pack for `{language}`")))?;
    let mut all = Vec::new();
    for rule in PackFile::parse(text)?.root().sections("rule")? {
        for (key, is_counter) in [("examples", false), ("counters", true)] {
            for line in rule.lines(key)? {
                all.push(FeedbackExample { is_counter, ..example(rule, line)? });
            }
        }
    }
    Ok(all)
}

/// Reads `what the assistant said >> what the user says`.
fn example(rule: Section<'_>, line: &str) -> Result<FeedbackExample> {
    let (assistant, user) = match line.split_once(" >> ") {
        Some((assistant, user)) => (Some(assistant.to_owned()), user),
        None => (None, line),
    };
    let (id, act) = (rule.text("id")?.unwrap_or_default(), rule.text("act")?.unwrap_or_default());
    Ok(FeedbackExample {
        rule: id.to_owned(),
        act: FeedbackAct::from_name(act)
            .ok_or_else(|| Error::invalid(format!("a pack: no act in `{id}`")))?,
        is_counter: false,
        assistant,
        user: OwnWords::of_text(user).into_owned(),
    })
}
