//! Conversation compression: triggers and text formats.

use std::fmt::Write as _;
use std::time::Duration;

use mnemal_core::{Timestamp, TokenCount, Zone};
use mnemal_text::{Language, estimate_tokens};

use crate::condense::{Limits, Utterance, condense};

/// Heading of a session's summary in its prompt. Source: PicoBot (PB-21).
const CONTEXT_SUMMARY: &str = "[Context Summary]";
/// Prefix of an entry with raw messages. Source: PB-51, what is kept after repeated failures.
const RAW: &str = "[RAW]";
/// Most characters of raw messages. Source: PB-51, what is kept after repeated failures.
const MOST_RAW: usize = 16_000;
/// Most characters of a summary, and of all summaries in one prompt. Source: nanobot `memory.py`.
const MOST: usize = 8_000;
/// Ratio of original tokens to summary tokens. Source: own choice; 30 turns of a chat become five sentences.
const SHARE: u32 = 8;
/// Fewest and most tokens of a summary. Source: that of a session part in the tree; own choice.
const ROOM: (u32, u32) = (170, 2_000);
/// Tokens of a sentence. Source: own estimate, 120 tokens for 5 sentences.
const OF_A_SENTENCE: u32 = 24;

/// Compression triggers; any one of them is enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triggers {
    /// Share of the window that the conversation may take in the prompt, 0 to 1.
    pub window_fraction: f64,
    /// User turns that may be pending, without those that stay uncompressed.
    pub turns: u64,
    /// Idle time with pending turns.
    pub idle: Duration,
}

/// Source: PicoBot: PB-14 half the window, PB-15 three turns, PB-16 ten minutes.
impl Default for Triggers {
    fn default() -> Self {
        Self { window_fraction: 0.5, turns: 3, idle: Duration::from_mins(10) }
    }
}

/// The pending part of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingConversation {
    /// Tokens of the conversation in the prompt.
    pub tokens: TokenCount,
    /// Tokens of the window, if the host reports it.
    pub window: Option<TokenCount>,
    /// Pending user turns.
    pub turns: u64,
    /// Time since the last turn.
    pub idle: Duration,
}

/// The reason for a compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionReason {
    /// It takes too much of the window.
    Window,
    /// Enough turns are pending.
    Turns,
    /// Idle for long enough.
    Idle,
}

impl CompressionReason {
    /// Returns the wire name.
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
    pub fn due(&self, waiting: &PendingConversation) -> Option<CompressionReason> {
        let room = waiting.window.map(|window| self.window_fraction * f64::from(window.0));
        if room.is_some_and(|room| f64::from(waiting.tokens.0) > room) {
            Some(CompressionReason::Window)
        } else if waiting.turns >= self.turns {
            Some(CompressionReason::Turns)
        } else if waiting.idle >= self.idle {
            Some(CompressionReason::Idle)
        } else {
            None
        }
    }
}

/// Returns an extractive summary on one line, with a name at each change of speaker.
pub fn shorten(language: Language, said: &[Utterance<'_>]) -> String {
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
    // Small talk has no sentence with content.
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

/// Returns the timeline entry of a summary: `[2026-05-07 14:30] text`, one line of at most 8,000 characters after its date;
/// `at` is the time of its last message.
pub fn entry((at, zone): (Timestamp, &Zone), text: &str) -> String {
    format!("{} {}", stamp(at, zone), shorter(&one_line(vec![(None, text)]), MOST))
}

/// Returns the entry of messages that could not be summarized: `[RAW] [2026-05-07 14:30]`, then the messages, one per line;
/// and how many it holds: the first ones that fit 16,000 characters, at least one, which then is truncated.
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

/// Whether an entry holds raw messages.
pub fn is_raw(entry: &str) -> bool {
    entry.starts_with(RAW)
}

/// Returns a message as a prompt line: `name: text`.
pub fn line(one: &Utterance<'_>) -> String {
    format!("{}: {}", one.speaker.unwrap_or("user"), one.text)
}

/// Returns the entries of a session, oldest first, under their heading: the newest that fit 8,000 characters; empty without
/// entries.
pub fn context_summary(entries: &[String]) -> String {
    let mut room = MOST;
    let fits = |entry: &&String| {
        let fits = entry.chars().count() < room;
        room = room.saturating_sub(entry.chars().count() + 1);
        fits
    };
    let mut shown: Vec<&String> = entries.iter().rev().take_while(fits).collect();
    // The newest is always shown.
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

/// Truncates a text to this many characters.
fn shorter(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests;
