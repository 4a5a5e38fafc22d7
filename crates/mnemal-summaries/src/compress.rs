//! A conversation that has become long: when it is compressed, and into which text.

use std::fmt::Write as _;
use std::time::Duration;

use mnemal_core::{Timestamp, TokenCount, Zone};
use mnemal_text::{Language, estimate_tokens};

use crate::condense::{Limits, Utterance, condense};

/// What stands over the summary of a conversation in its own prompt. Source: PB-21.
const CONTEXT_SUMMARY: &str = "[Context Summary]";
/// How an entry begins that holds what was said as it was. Source: PB-51.
const RAW: &str = "[RAW]";
/// Most characters of what was said as it was. Source: PB-51.
const MOST_RAW: usize = 16_000;
/// Most characters of a summary, and of all that stand in one prompt. Source: AD-65.
const MOST: usize = 8_000;
/// A summary has the tokens of what was said over this. Source: own choice; 30 turns of a chat become five sentences.
const SHARE: u32 = 8;
/// Fewest and most tokens of a summary. Source: that of a part of a conversation in the tree (BA-24); own choice.
const ROOM: (u32, u32) = (170, 2_000);
/// Tokens of a sentence. Source: BA-24, 120 tokens for 5 sentences.
const OF_A_SENTENCE: u32 = 24;

/// When a conversation is compressed; any one of them is enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triggers {
    /// Share of the window that what the prompt holds of the conversation may take, 0 to 1.
    pub window_fraction: f64,
    /// Turns of the user that may wait, without those that stay as they are.
    pub turns: u64,
    /// How long nothing may have been said while something waits.
    pub idle: Duration,
}

/// Source: PB-14 half the window, PB-15 three turns, PB-16 ten minutes.
impl Default for Triggers {
    fn default() -> Self {
        Self { window_fraction: 0.5, turns: 3, idle: Duration::from_mins(10) }
    }
}

/// What waits to be compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Tokens of the conversation in the prompt.
    pub tokens: TokenCount,
    /// Tokens of the window, where the host says so.
    pub window: Option<TokenCount>,
    /// Turns of the user that wait.
    pub turns: u64,
    /// How long ago the last turn was.
    pub idle: Duration,
}

/// Why a conversation is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// It takes too much of the window.
    Window,
    /// Enough turns wait.
    Turns,
    /// Nothing was said for a while.
    Idle,
}

impl Due {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Turns => "turns",
            Self::Idle => "idle",
        }
    }
}

impl Triggers {
    /// Returns the first reason to compress, if there is one.
    pub fn due(&self, waiting: &Waiting) -> Option<Due> {
        let room = waiting.window.map(|window| self.window_fraction * f64::from(window.0));
        if room.is_some_and(|room| f64::from(waiting.tokens.0) > room) {
            Some(Due::Window)
        } else if waiting.turns >= self.turns {
            Some(Due::Turns)
        } else if waiting.idle >= self.idle {
            Some(Due::Idle)
        } else {
            None
        }
    }
}

/// Returns what was said in few of its own sentences, on one line, with a name wherever somebody else speaks.
pub fn shortened(language: Language, said: &[Utterance<'_>]) -> String {
    let whole: u32 = said.iter().map(|one| estimate_tokens(one.text)).fold(0, u32::saturating_add);
    let room = (whole / SHARE).clamp(ROOM.0, ROOM.1);
    let limits = Limits { sentences: (room / OF_A_SENTENCE) as usize, tokens: TokenCount(room) };
    let kept: Vec<(Option<&str>, &str)> = condense(language, said, limits)
        .iter()
        .filter_map(|kept| {
            let one = said.get(kept.utterance)?;
            Some((one.speaker, one.text.get(kept.span.start as usize..kept.span.end as usize)?))
        })
        .collect();
    // Small talk has no sentence that says something.
    let all = || said.iter().filter(|one| one.echo.is_empty()).map(|one| (one.speaker, one.text)).collect();
    one_line(if kept.is_empty() { all() } else { kept })
}

fn one_line(said: Vec<(Option<&str>, &str)>) -> String {
    let (mut line, mut last) = (String::new(), None);
    for (speaker, text) in said {
        let name = speaker.filter(|_| last != Some(speaker)).map(|name| format!("{name}:"));
        last = Some(speaker);
        for word in name.iter().map(String::as_str).chain(text.split_whitespace()) {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    line
}

/// Returns the entry of a timeline for a summary: `[2026-05-07 14:30] text`, one line of at most 8,000 characters behind its
/// date; `at` is when the last of it was said.
pub fn entry((at, zone): (Timestamp, &Zone), text: &str) -> String {
    format!("{} {}", stamp(at, zone), shorter(&one_line(vec![(None, text)]), MOST))
}

/// Returns the entry for what could not be summed up: `[RAW] [2026-05-07 14:30]`, and what was said as it was, a line each; and
/// how many of them it holds: as many of the first ones as have room in 16,000 characters, at least one, which then is cut.
pub fn raw((at, zone): (Timestamp, &Zone), said: &[Utterance<'_>]) -> (String, usize) {
    let mut text = format!("{RAW} {}", stamp(at, zone));
    let mut room = MOST_RAW - text.len();
    let mut held = 0;
    for one in said {
        let line = line(one);
        let characters = line.chars().count() + 1;
        if characters > room && held > 0 {
            break;
        }
        text.push('\n');
        text.push_str(shorter(&line, room.saturating_sub(1)));
        room = room.saturating_sub(characters);
        held += 1;
    }
    (text, held)
}

/// Whether an entry holds what was said as it was.
pub fn is_raw(entry: &str) -> bool {
    entry.starts_with(RAW)
}

/// Returns what is said as a line of a prompt: `name: text`.
pub fn line(one: &Utterance<'_>) -> String {
    format!("{}: {}", one.speaker.unwrap_or("user"), one.text)
}

/// Returns the entries of a conversation, oldest first, under their heading: the newest that have room in 8,000 characters; nothing
/// without entries.
pub fn context_summary(entries: &[String]) -> String {
    let mut room = MOST;
    let fits = |entry: &&String| {
        let fits = entry.chars().count() < room;
        room = room.saturating_sub(entry.chars().count() + 1);
        fits
    };
    let mut shown: Vec<&String> = entries.iter().rev().take_while(fits).collect();
    // The newest is shown in any case.
    if shown.is_empty() {
        shown.extend(entries.last());
    }
    let mut text = String::from(if shown.is_empty() { "" } else { CONTEXT_SUMMARY });
    for entry in shown.into_iter().rev() {
        // Writing into a string cannot fail.
        let _written = write!(text, "\n{entry}");
    }
    text
}

fn stamp(at: Timestamp, zone: &Zone) -> String {
    let civil = at.civil(zone);
    format!("[{} {:02}:{:02}]", civil.day_text(), civil.hour, civil.minute)
}

/// Cuts a text to so many characters.
fn shorter(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests;
