//! Times and names of a text, found before its claims are read.

use std::ops::Range;

use mnemal_core::{EntityKind, Mention, When};

use crate::claims::subjects::is_person;
use crate::clause::AnalyzedSentence;

/// A time expression in a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimeSpan {
    /// Its bytes in the text.
    pub(crate) span: Range<usize>,
    /// The latest interval that the words can mean.
    pub(crate) past: Option<When>,
    /// The next one.
    pub(crate) future: Option<When>,
    /// Whether it is a duration, as "72 hours".
    pub(crate) is_length: bool,
    /// Whether the next interval begins after the utterance.
    pub(crate) is_ahead: bool,
}

/// Seconds by which the next and the last of an hour of the day lie apart. Source: the length of a day, with an hour more where
/// a clock is put back.
const HOURS_APART: i64 = 25 * 3_600;

impl TimeSpan {
    /// Returns whether it names a day of its own, and not only an hour of any day.
    pub(crate) fn has_day(&self) -> bool {
        let start = |time: Option<When>| time.and_then(|time| time.start);
        match (start(self.past), start(self.future)) {
            (Some(past), Some(future)) => {
                let apart = future.as_seconds() - past.as_seconds();
                apart == 0 || apart > HOURS_APART
            }
            (one, other) => one.or(other).is_some(),
        }
    }
}

/// Times and names of a text, with the position of the sentence in it.
#[derive(Clone, Debug)]
pub(crate) struct Hints<'h> {
    pub(crate) times: &'h [TimeSpan],
    pub(crate) mentions: &'h [Mention],
    /// First byte of the sentence in the text.
    pub(crate) base: usize,
    /// Number of the sentence.
    pub(crate) sentence: usize,
}

impl<'h> Hints<'h> {
    /// Returns the time whose words begin with, or contain, a word of the sentence.
    pub(crate) fn time_at(&self, reading: &AnalyzedSentence<'_>, at: usize) -> Option<&'h TimeSpan> {
        let start = self.base + reading.words.get(at)?.span.start;
        self.times.iter().find(|time| time.span.contains(&start))
    }

    /// Returns the mention that begins with a word, and the next word.
    pub(crate) fn mention_at(
        &self,
        reading: &AnalyzedSentence<'_>,
        at: usize,
    ) -> Option<(usize, &'h Mention)> {
        let start = u32::try_from(self.base + reading.words.get(at)?.span.start).ok()?;
        let mention = self.mentions.iter().find(|mention| mention.span.start == start)?;
        let behind = |word: &crate::word::Word<'_>| self.base + word.span.start >= mention.span.end as usize;
        let end = reading.words.iter().position(behind).unwrap_or(reading.words.len());
        Some((end, mention))
    }

    /// Returns the end and the name of a person that a word begins.
    pub(crate) fn person_at(&self, reading: &AnalyzedSentence<'_>, at: usize) -> Option<(usize, String)> {
        let (end, mention) = self.mention_at(reading, at)?;
        is_person(mention.kind).then(|| (end, mention.name.clone()))
    }

    /// Returns the kind of the name that covers exactly these bytes of the sentence, or holds them.
    pub(crate) fn kind_of(&self, bytes: &Range<usize>) -> Option<EntityKind> {
        let (start, end) = (self.base + bytes.start, self.base + bytes.end);
        let covers =
            |mention: &&Mention| mention.span.start as usize <= start && end <= mention.span.end as usize;
        self.mentions.iter().find(covers).map(|mention| mention.kind)
    }

    /// Returns the kinds under which the text mentions a name.
    pub(crate) fn kinds_of(&self, name: &str) -> impl Iterator<Item = EntityKind> {
        self.mentions.iter().filter(move |mention| mention.name == name).map(|mention| mention.kind)
    }

    /// Returns whether a name, a number or an identifier is among bytes of the sentence.
    pub(crate) fn has_name(&self, bytes: &Range<usize>) -> bool {
        let (start, end) = (self.base + bytes.start, self.base + bytes.end);
        self.mentions
            .iter()
            .any(|mention| start <= mention.span.start as usize && mention.span.end as usize <= end)
    }
}
