//! Authorship gate: which parts of a turn are the speaker's own words. Everything that learns reads only those.

mod cache;
mod code;
mod data;
mod lead;
mod lexicon;
mod lines;
mod mail;
mod post;
mod quote;
mod rules;
mod talk;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use mnemal_core::{EventKind, NewEvent, Remark, Span};

use crate::self_correction::without_slips;

use self::cache::{ForeignPart, foreign_parts};
pub use self::rules::RuleSegmenter;

/// The author of words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Author {
    /// The sender of the turn.
    Speaker,
    /// Another person, with a name if one is given: a mail, a chat, a letter, a quotation.
    Other(Option<String>),
    /// A document or a page.
    Document,
    /// A program: code, a log, tagged text.
    Program,
    /// Material to work on: a text to translate, correct or summarize, role-play, fiction, a sample, a riddle.
    Material,
    /// Unclear. The words can be recalled, and nothing is learned from them.
    Unsure,
}

impl Author {
    /// Returns the name on the wire.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Speaker => "speaker",
            Self::Other(_) => "other",
            Self::Document => "document",
            Self::Program => "program",
            Self::Material => "material",
            Self::Unsure => "unsure",
        }
    }

    /// Returns the name of another person, if it is known.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Other(name) => name.as_deref(),
            _ => None,
        }
    }
}

/// A part of a turn with its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Byte range of the part.
    pub span: Span,
    /// The author.
    pub author: Author,
    /// The evidence, in a few words for people.
    pub reason: &'static str,
}

/// A turn with the names of its speaker.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnText<'a> {
    /// The text of the turn.
    pub text: &'a str,
    /// Names of the speaker.
    pub names: &'a [&'a str],
}

/// Assigns an author to each part of a turn.
pub trait Segmenter {
    /// Returns the parts of a message in order; together they cover it.
    fn segments(&self, passage: &TurnText<'_>) -> Vec<Segment>;
}

/// Returns the remark for a turn with words by others, for its readers.
pub fn foreign_remark(said: &NewEvent) -> Option<Remark> {
    let own = OwnWords::of_event(said);
    if own.is_whole() {
        return None;
    }
    let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).count();
    match (letters(own.as_str()), letters(&said.content)) {
        (own, all) if own == all => None,
        (0, _) => Some(Remark::Pasted),
        _ => Some(Remark::PartlyPasted),
    }
}

/// Returns the longest part of a turn in its speaker's own words, quotations inside included; `None` if there is none.
pub fn own_part(said: &NewEvent) -> Option<Span> {
    let names: Vec<&str> = said.speaker.as_ref().map(mnemal_core::Speaker::as_str).into_iter().collect();
    let turn = TurnText { text: &said.content, names: &names };
    let mut parts: Vec<Range<usize>> = Vec::new();
    let segments = RuleSegmenter.segments(&turn);
    for segment in segments.iter().filter(|one| one.author == Author::Speaker || is_inline(one)) {
        let (start, end) = (segment.span.start as usize, segment.span.end as usize);
        match parts.last_mut().filter(|part| part.end == start) {
            Some(part) => part.end = end,
            None => parts.push(start..end),
        }
    }
    let trimmed = parts.into_iter().filter_map(|part| {
        let words = said.content.get(part.clone())?;
        let start = part.start + words.len() - words.trim_start().len();
        Some(start..start + words.trim().len())
    });
    let longest =
        trimmed.filter(|part| !part.is_empty()).max_by_key(|part| (part.len(), Reverse(part.start)))?;
    Some(Span { start: u32::try_from(longest.start).ok()?, end: u32::try_from(longest.end).ok()? })
}

/// The speaker's own words of a turn.
///
/// All other words are white space of the same length, so that positions equal those of the turn. Everything that learns from a
/// turn reads this instead of the turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnWords<'t>(Cow<'t, str>);

impl<'t> OwnWords<'t> {
    /// Returns the speaker's own words of a text, by rule, without knowledge of the speaker.
    pub fn of_text(text: &'t str) -> Self {
        Self::by(&RuleSegmenter, text, &[])
    }

    /// Returns the speaker's own words of an event, without values that are taken back in the same breath. Words of agents, tools
    /// and documents all count as their own.
    pub fn of_event(said: &'t NewEvent) -> Self {
        if !matches!(said.kind, EventKind::UserMessage) {
            return Self::whole(&said.content);
        }
        let speaker = said.speaker.as_ref().map(mnemal_core::Speaker::as_str);
        let user = said.user.as_ref().map(mnemal_core::UserId::as_str);
        let names: Vec<&str> = speaker.into_iter().chain(user).collect();
        Self(without_slips(Self::without(&said.content, &foreign_parts(&said.content, &names)).0))
    }

    /// Returns the own words of a speaker with these names, as a segmenter sees them.
    pub fn by(segmenter: &impl Segmenter, text: &'t str, names: &[&str]) -> Self {
        let segments = segmenter.segments(&TurnText { text, names });
        let others: Vec<ForeignPart> = segments.iter().filter_map(ForeignPart::of).collect();
        Self::without(text, &others)
    }

    /// Returns what parts of others leave of a text.
    fn without(text: &'t str, others: &[ForeignPart]) -> Self {
        if others.is_empty() {
            return Self::whole(text);
        }
        let mut own = text.to_owned();
        for part in others {
            if let Some(words) = text.get(part.range.clone()) {
                own.replace_range(part.range.clone(), &blank(words, part.is_inline));
            }
        }
        Self(Cow::Owned(own))
    }

    /// Treats a whole text as own words: a note that was stored on purpose, or words that passed the gate before.
    pub fn whole(text: &'t str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// Returns whether no other words are in the turn.
    fn is_whole(&self) -> bool {
        matches!(self.0, Cow::Borrowed(_))
    }

    /// Returns the words.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the words as an owned value.
    pub fn into_owned(self) -> OwnWords<'static> {
        OwnWords(Cow::Owned(self.0.into_owned()))
    }

    /// Returns the first words, up to this many bytes.
    pub fn shortened(&self, bytes: usize) -> OwnWords<'_> {
        let end = self.0.floor_char_boundary(bytes);
        OwnWords(Cow::Borrowed(self.0.get(..end).unwrap_or_default()))
    }
}

/// What is between quotation marks belongs to the sentence around it.
fn is_inline(segment: &Segment) -> bool {
    segment.reason == quote::REASON
}

/// Returns white space in place of words, with their line breaks.
///
/// A part that is no quotation begins a line of its own, so that the sentences around it do not join.
#[expect(clippy::fn_params_excessive_bools, reason = "whether the sentence goes on behind it")]
fn blank(words: &str, is_inline: bool) -> String {
    let mut blank: String = words
        .bytes()
        .map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' })
        .collect();
    if !is_inline && !blank.is_empty() {
        blank.replace_range(..1, "\n");
    }
    blank
}

/// Makes the segment of a range.
fn segment(range: Range<usize>, author: Author, reason: &'static str) -> Option<Segment> {
    let span = Span { start: u32::try_from(range.start).ok()?, end: u32::try_from(range.end).ok()? };
    Some(Segment { span, author, reason })
}
