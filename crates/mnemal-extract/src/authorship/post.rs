//! Posts and chats as pages and apps print them: a line with a name and a time above a text, a line with counts below it.

use std::ops::Range;

use super::Author;
use super::lead::SELF;
use super::lexicon::{Cue, Lexicon};
use super::lines::Line;
use super::rules::Part;
use crate::names::is_first_name;
use crate::word::Word;

/// Words of the longest line above or below a post. Source: own choice.
const LONGEST_STAMP: usize = 12;
/// Bytes of the longest such line. Source: own choice.
const LONGEST_STAMP_BYTES: usize = 160;
/// Ends of lines that people write.
const ENDS: [char; 7] = ['!', '?', ':', '：', '。', '？', '！'];
/// Words of the longest name in front of a time. Source: own choice.
const LONGEST_NAME: usize = 3;
/// Separators of the parts of such a line.
const PARTS: [char; 4] = ['·', '•', '|', '∙'];

/// The evidence for a post.
const REASON: &str = "a post or a chat as an app prints it";

/// Returns the posts and the turns of chats whose lines do not hold a label.
pub(super) fn posts(
    lines: &[Line<'_>],
    paragraphs: &[Range<usize>],
    lexicon: &Lexicon,
    asks: &dyn Fn(&Range<usize>) -> bool,
) -> Vec<Part> {
    let marks = Marks::new(lines, lexicon);
    let start = |line: usize| {
        lines.get(line).map_or_else(|| lines.last().map_or(0, |last| last.end), |line| line.start)
    };
    let mut found = Vec::new();
    for (place, paragraph) in paragraphs.iter().enumerate() {
        let Some(mark) = marks.first_in(paragraph) else { continue };
        let above = place.checked_sub(1).and_then(|above| paragraphs.get(above));
        let below = paragraphs.get(place + 1).filter(|below| !asks(below));
        let range = marks.extent(mark, paragraph, above, below);
        found.push((start(range.start)..start(range.end), Author::Other(None), REASON));
    }
    found
}

/// The lines that an app prints next to a text.
struct Marks {
    /// Lines with a name and a time, or with counts.
    stamps: Vec<bool>,
    /// Lines with nothing but who says what is below, and when.
    heads: Vec<bool>,
    /// Lines that begin with a number or a sign, as those with counts do.
    footers: Vec<bool>,
}

impl Marks {
    fn new(lines: &[Line<'_>], lexicon: &Lexicon) -> Self {
        let is_head = |place: usize| lines.get(place).is_some_and(|line| is_chat_head(line.body));
        let has_words =
            |place: usize| lines.get(place).is_some_and(|line| !line.is_blank()) && !is_head(place);
        let mut heads: Vec<bool> =
            (0..lines.len()).map(|place| is_head(place) && has_words(place + 1)).collect();
        let is_chat = heads.iter().filter(|head| **head).count() > 1
            || lines.iter().zip(&heads).any(|(line, head)| *head && is_named(line.body));
        if !is_chat {
            heads.clear();
        }
        Self {
            stamps: lines.iter().map(|line| is_stamp(line.body, lexicon)).collect(),
            heads,
            footers: lines.iter().map(|line| is_footer(line.body)).collect(),
        }
    }

    /// Returns the first line of a paragraph that is one of them.
    fn first_in(&self, paragraph: &Range<usize>) -> Option<usize> {
        let is_marked = |place: &usize| is_set(&self.stamps, *place) || is_set(&self.heads, *place);
        paragraph.clone().find(is_marked)
    }

    /// Returns the lines of the marked post: below a name and a time, and above counts.
    fn extent(
        &self,
        mark: usize,
        paragraph: &Range<usize>,
        above: Option<&Range<usize>>,
        below: Option<&Range<usize>>,
    ) -> Range<usize> {
        let is_last = mark > paragraph.start && mark + 1 == paragraph.end;
        match paragraph.len() {
            1 if is_set(&self.footers, mark) => above.map_or(mark, |above| above.start)..paragraph.end,
            1 => mark..below.map_or(paragraph.end, |below| below.end),
            _ if is_last && is_set(&self.stamps, mark) => paragraph.clone(),
            _ => mark..paragraph.end,
        }
    }
}

fn is_set(marks: &[bool], place: usize) -> bool {
    marks.get(place).copied().unwrap_or(false)
}

/// Returns whether a page prints a line above or below a post.
fn is_stamp(body: &str, lexicon: &Lexicon) -> bool {
    let is_parted = body.contains(PARTS);
    if body.len() > LONGEST_STAMP_BYTES || body.ends_with(ENDS) || body.ends_with('.') && !is_parted {
        return false;
    }
    let words = numbered(body);
    if words.len() > LONGEST_STAMP || words.first().is_none_or(|first| SELF.contains(&&*first.lower)) {
        return false;
    }
    let has_handle = body.split_whitespace().any(|word| {
        word.strip_prefix('@').is_some_and(|name| name.len() > 2 && !name.contains('.'))
            || ["u/", "r/"].iter().any(|mark| word.strip_prefix(mark).is_some_and(|name| name.len() > 2))
    });
    let has_number = words.iter().any(|word| &*word.lower == "#");
    lexicon.cues_of(&words).has(Cue::Stamp) || is_parted && (has_handle || has_number && is_handle(body))
}

/// A line that begins with an account and not with a word: "`nora_p` · …".
fn is_handle(body: &str) -> bool {
    let first = body.split_whitespace().next().unwrap_or_default();
    let is_account = first.contains(['_', '.']) && first.starts_with(char::is_lowercase);
    is_account || is_first_name(first)
}

/// Returns whether a line begins with a number or a sign, as counts do.
fn is_footer(body: &str) -> bool {
    body.starts_with(|first: char| first.is_ascii_digit() || !first.is_alphanumeric())
}

/// Returns the words of a line, each number as `#`.
fn numbered(body: &str) -> Vec<Word<'_>> {
    let mut words = super::lexicon::words(body);
    for word in &mut words {
        if word.lower.starts_with(|first: char| first.is_ascii_digit()) {
            *word = Word::new("#".into(), word.span.clone(), word.starts_clause);
        }
    }
    words
}

/// Returns whether a line is nothing but a name and a time: "nora 10:14".
fn is_chat_head(body: &str) -> bool {
    let (time, name): (Vec<&str>, Vec<&str>) = body.split_whitespace().partition(|word| {
        word.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '(' | '['))
    });
    let has_time = time.iter().any(|word| {
        let word = word.trim_matches(['(', ')', '[', ']', ',']);
        let halves = word.split_once(':').or_else(|| word.split_once('.'));
        halves.is_some_and(|(hour, rest)| {
            (1..=2).contains(&hour.len())
                && rest.len() >= 2
                && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        })
    });
    has_time && (1..=LONGEST_NAME).contains(&name.len()) && time.len() <= LONGEST_NAME
}

fn is_named(body: &str) -> bool {
    body.split_whitespace().any(is_first_name)
}
