//! Words that announce a text, or ask for work on it.

use mnemal_text::sentences;

use super::Author;
use super::lexicon::{Cue, Cues, Lexicon};
use super::lines::Line;
use crate::word::Word;

/// Words of the longest line that asks for work on the text below it. Source: own choice.
const LONGEST_LEAD: usize = 25;
/// Who speaks of himself when a clause begins with it.
const SELF: [&str; 10] = ["i", "we", "ich", "wir", "j", "je", "nous", "yo", "eu", "我"];

/// Words that announce a text.
#[derive(Clone, Debug)]
pub(super) struct Lead {
    /// Behind them.
    pub(super) end: usize,
    /// Whose words follow.
    pub(super) author: Author,
    /// What shows it.
    pub(super) reason: &'static str,
    /// The text goes no further than the paragraph.
    pub(super) is_narrow: bool,
}

/// Returns the words before a colon of a line that announce a text or ask for work on it.
#[expect(clippy::fn_params_excessive_bools, reason = "whether words stand below the line")]
pub(super) fn lead(line: &Line<'_>, has_more: bool, lexicon: &Lexicon) -> Option<Lead> {
    let mut from = 0;
    while let Some(at) = line.body.get(from..).and_then(|rest| rest.find([':', '：'])).map(|at| from + at) {
        let size = if line.body.get(at..).is_some_and(|rest| rest.starts_with('：')) {
            '：'.len_utf8()
        } else {
            1
        };
        from = at + size;
        let behind = line.body.get(from..).unwrap_or_default();
        let is_mark =
            size > 1 || behind.is_empty() || behind.starts_with([' ', '\t', '*', '"', '“', '„', '«', '_']);
        let is_mark = is_mark && (!behind.trim_matches(['*', '_', ' ']).is_empty() || has_more);
        let clause = line.body.get(..at).unwrap_or_default();
        let clause = sentences(clause).last().map_or("", |last| last.of(clause));
        if !is_mark || clause.is_empty() {
            continue;
        }
        let words = lexicon.plain(clause);
        let cues = lexicon.cues_of(&words);
        if let Some((author, reason)) = announced(cues, &words, behind.is_empty()) {
            let end = line.at + from;
            return Some(Lead { end, author, reason, is_narrow: false });
        }
    }
    None
}

/// Returns whose words follow a clause with these cues and a colon.
#[expect(clippy::fn_params_excessive_bools, reason = "whether the colon ends the line")]
fn announced(cues: Cues, words: &[Word<'_>], is_block: bool) -> Option<(Author, &'static str)> {
    let is_own = cues.has(Cue::Own);
    let material = |reason| Some((if is_own { Author::Unsure } else { Author::Material }, reason));
    if cues.has(Cue::Transform) {
        return material("a text whose wording is to be worked on");
    }
    if cues.has(Cue::Compose) {
        return material("a text to be made up");
    }
    if is_own {
        return None;
    }
    if cues.has(Cue::Frame) || cues.has(Cue::Sample) {
        return material("a play, a riddle or a sample");
    }
    let is_self = words.first().is_some_and(|first| SELF.contains(&&*first.lower));
    if cues.has(Cue::Said) && !is_self {
        return Some((Author::Other(None), "behind words that say who said it"));
    }
    if cues.has(Cue::Work) {
        return material("a text to be worked on");
    }
    let is_seen = is_block && cues.has(Cue::Seen) && !is_self;
    let presents = cues.has(Cue::Present) && cues.has(Cue::Text) || cues.has_any(&[Cue::Point, Cue::Title]);
    (presents || is_seen).then_some((Author::Document, "below words that announce a text"))
}

/// Returns the words of a sentence that begin a play, a riddle or an invention, up to the next mark.
pub(super) fn frames(line: &Line<'_>, lexicon: &Lexicon) -> Option<Lead> {
    let words = lexicon.plain(line.body);
    if !lexicon.cues_of(&words).has(Cue::Frame) {
        return None;
    }
    let end = lexicon.first_end(Cue::Frame, &words)?;
    let at = words.get(end.checked_sub(1)?)?.span.end;
    let behind = line.body.get(at..)?;
    let mark = behind.find([';', ',', '.', ':', '!', '?', '；', '，', '。', '：', '！', '？'])?;
    let size = behind.get(mark..)?.chars().next()?.len_utf8();
    let end = line.at + at + mark + size;
    Some(Lead { end, author: Author::Material, reason: "a play, a riddle or an invention", is_narrow: true })
}

/// Returns a line that asks, without a colon, for work on the text below or behind it.
#[expect(
    clippy::fn_params_excessive_bools,
    reason = "whether words stand below, and whether the paragraph ends here"
)]
pub(super) fn lead_without_colon(
    line: &Line<'_>,
    has_more: bool,
    is_last: bool,
    lexicon: &Lexicon,
) -> Option<Lead> {
    let all = sentences(line.body);
    let first = all.first()?;
    let points = |cues: Cues| cues.has(Cue::Text) || cues.has(Cue::This);
    if all.len() > 1 && !has_more {
        let cues = lexicon.cues(first.of(line.body));
        let asks = cues.has(Cue::Transform) && points(cues) && !cues.has(Cue::Own);
        return asks.then(|| Lead {
            end: line.at + first.end,
            author: Author::Material,
            reason: "a text whose wording is to be worked on",
            is_narrow: true,
        });
    }
    let last = all.last()?.of(line.body);
    if !has_more || line.body.ends_with([',', '，']) || last.split_whitespace().count() > LONGEST_LEAD {
        return None;
    }
    let words = lexicon.plain(last);
    let cues = lexicon.cues_of(&words);
    if cues.has(Cue::Own) {
        return None;
    }
    let is_self = words.first().is_some_and(|first| SELF.contains(&&*first.lower));
    let asks = cues.has_any(&[Cue::Transform, Cue::Work, Cue::Compose]) && points(cues);
    if asks || cues.has(Cue::Point) && !is_self {
        let author = Author::Material;
        return Some(Lead { end: line.end, author, reason: "a text to be worked on", is_narrow: false });
    }
    let asks_only = is_last && all.len() == 1 && cues.has(Cue::Answer);
    asks_only.then_some(Lead {
        end: line.end,
        author: Author::Unsure,
        reason: "below a question for what to answer",
        is_narrow: false,
    })
}

/// Returns a line that is the title of a list below it: "Minutes of the house meeting, 3 March".
pub(super) fn title(line: &Line<'_>, next: Option<&Line<'_>>, lexicon: &Lexicon) -> Option<Lead> {
    next.filter(|next| next.is_item())?;
    let words = lexicon.plain(line.body);
    let cues = lexicon.cues_of(&words);
    let is_title = cues.has(Cue::Title) && !cues.has(Cue::Own) && !line.is_item();
    is_title.then_some(Lead {
        end: line.end,
        author: Author::Document,
        reason: "a list below its title",
        is_narrow: false,
    })
}
