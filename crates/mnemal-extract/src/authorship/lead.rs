//! Lead-ins: words that announce a pasted text, or ask for work on it.

use mnemal_text::sentences;

use super::Author;
use super::lexicon::{Cue, Cues, Lexicon, words};
use super::lines::Line;
use crate::names::is_first_name;
use crate::word::{Word, is_sign};

/// Words of the longest line that asks for work on the text below it. Source: own choice.
const LONGEST_LEAD: usize = 25;
/// Who speaks of himself when a clause begins with it.
pub(super) const SELF: [&str; 10] = ["i", "we", "ich", "wir", "j", "je", "nous", "yo", "eu", "我"];

/// Cues before a colon that make the following words a document.
const DOCUMENTS: [Cue; 5] = [Cue::Point, Cue::Title, Cue::Genre, Cue::Platform, Cue::Behind];
/// Words before a colon that only name a speaker. Source: own choice, "my sister on the phone".
const LONGEST_NAMED: usize = 5;
/// Signs of the shortest sentence in a script without spaces. Source: own choice, 我住在广州.
const LEAST_SIGNS: usize = 5;
/// Dashes before who said something.
const DASHES: [char; 3] = ['–', '—', '―'];
/// Words, or signs, of the longest name after a dash. Source: own choice, "Anna Maria Weber".
const LONGEST_NAME: usize = 3;
/// Words of the longest title. Source: own choice.
const LONGEST_TITLE: usize = 10;

/// Parts of the shortest list of topics before a colon. Source: own choice, "Horoscopes, jokes, fun facts".
const LEAST_TOPICS: usize = 3;
/// Words of the longest part of such a list. Source: own choice, "and fun facts".
const LONGEST_TOPIC: usize = 3;

/// First-person possessives.
const MY: [&str; 10] = ["my", "mein", "meine", "mon", "ma", "mes", "mi", "mis", "meu", "minha"];

/// Words of a value behind a colon, at most. Source: own choice; a pasted text has more.
const LONGEST_VALUE: usize = 2;
/// Words that announce a text.
#[derive(Clone, Debug)]
pub(super) struct Lead {
    /// End of these words.
    pub(super) end: usize,
    /// The author of the following text.
    pub(super) author: Author,
    /// The evidence.
    pub(super) reason: &'static str,
    /// The text goes no further than the paragraph.
    pub(super) is_narrow: bool,
    /// Whether it is speech; with a whole sentence on the line, the text goes no further than the paragraph either.
    pub(super) is_speech: bool,
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
        let clause = Clause::new(clause, lexicon);
        if let Some((author, reason)) = clause.announced(behind, lexicon) {
            let end = line.at + from;
            let is_speech = matches!(author, Author::Other(_));
            return Some(Lead { end, author, reason, is_narrow: false, is_speech });
        }
    }
    None
}

/// The words before a colon.
struct Clause<'t> {
    text: &'t str,
    words: Vec<Word<'t>>,
    cues: Cues,
}

impl<'t> Clause<'t> {
    fn new(text: &'t str, lexicon: &Lexicon) -> Self {
        let words = lexicon.plain(text);
        let cues = lexicon.cues_of(&words);
        Self { text, words, cues }
    }

    /// Returns whose words follow the clause and its colon.
    fn announced(&self, behind: &str, lexicon: &Lexicon) -> Option<(Author, &'static str)> {
        let cues = self.cues;
        if self.is_label(lexicon) || self.is_topics(lexicon) {
            return None;
        }
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
        if cues.has_any(&[Cue::Frame, Cue::Sample]) {
            return material("a play, a riddle or a sample");
        }
        let is_self = is_self(&self.words, lexicon);
        let is_said = cues.has(Cue::Said) && (!is_self || self.is_said_by_person(lexicon));
        if is_said || !is_self && self.has_person(behind) {
            return Some((Author::Other(None), "behind words that say who said it"));
        }
        if cues.has(Cue::Work) {
            return material("a text to be worked on");
        }
        let is_place = cues.has_any(&[Cue::Person, Cue::Platform, Cue::Text, Cue::Said]);
        let is_seen = cues.has(Cue::Seen) && (is_place || behind.is_empty() && !is_self);
        let presents = cues.has(Cue::Text) && cues.has_any(&[Cue::Present, Cue::Person]);
        let is_document = presents || is_seen || cues.has_any(&DOCUMENTS);
        // "I have a new email address: a@example.org" tells a value.
        let is_unspaced = |sign: char| {
            !sign.is_ascii() && sign.is_alphabetic() && !sign.is_lowercase() && !sign.is_uppercase()
        };
        let is_value =
            (1..=LONGEST_VALUE).contains(&behind.split_whitespace().count()) && !behind.contains(is_unspaced);
        (is_document && !is_value).then_some((Author::Document, "below words that announce a text"))
    }

    /// Returns whether the words, as a whole, open a first-person statement: "One more thing".
    fn is_label(&self, lexicon: &Lexicon) -> bool {
        lexicon.is_own_label(&self.words)
    }

    /// Returns whether the words name the subject of the sentence: "Horoscopes, jokes, fun facts", "Jokes".
    fn is_topics(&self, lexicon: &Lexicon) -> bool {
        let parts: Vec<_> = self.text.split(',').map(|part| part.split_whitespace().count()).collect();
        let is_short =
            parts.iter().all(|size| (1..=LONGEST_TOPIC).contains(size)) && !self.text.contains(is_sign);
        let is_list = parts.len() >= LEAST_TOPICS && is_short;
        let is_plural = self.words.len() == 1 && self.cues.has(Cue::Said) && self.text.trim().ends_with('s');
        let has_other =
            || (0..self.words.len()).any(|at| lexicon.end_at(Cue::Other, &self.words, at).is_some());
        let is_dated = || self.text.contains(|sign: char| sign.is_ascii_digit());
        (is_list || is_plural) && !is_dated() && !self.has_name() && !has_other()
    }

    /// Returns whether it contains a first name.
    fn has_name(&self) -> bool {
        self.text.split_whitespace().any(|word| is_first_name(word.trim_matches([',', '.', '(', ')'])))
    }

    /// Returns whether someone else speaks after an action of the speaker: "I asked my boss and he answered".
    fn is_said_by_person(&self, lexicon: &Lexicon) -> bool {
        let is_other = |at: &usize| {
            [Cue::Person, Cue::Other].iter().any(|cue| lexicon.end_at(*cue, &self.words, *at).is_some())
        };
        let person = (1..self.words.len()).rev().find(is_other);
        let behind = person.and_then(|at| self.words.get(at..)).unwrap_or_default();
        lexicon.cues_of(behind).has(Cue::Said)
    }

    /// Returns whether someone else is named, followed by a sentence and not by a name or a number.
    fn has_person(&self, behind: &str) -> bool {
        let is_short = self.words.len() <= LONGEST_NAMED || behind.is_empty();
        let is_statement = behind.is_empty() || is_statement(behind);
        let is_named = || self.words.len() > 1 && is_ended(behind) && self.has_name();
        is_statement && (self.cues.has(Cue::Person) && is_short || is_named())
    }
}

/// Returns whether words are a sentence: more than names, numbers and titles.
fn is_statement(words: &str) -> bool {
    let small = words.split_whitespace().filter(|word| word.starts_with(char::is_lowercase)).count();
    let signs = words.chars().filter(|sign| is_sign(*sign)).count();
    small > 0 && words.split_whitespace().count() > 2 || signs >= LEAST_SIGNS
}

/// Returns whether the speaker is the subject of a clause: "I read", and not "my mother says", which in Chinese begins alike.
fn is_self(words: &[Word<'_>], lexicon: &Lexicon) -> bool {
    words.first().is_some_and(|first| SELF.contains(&&*first.lower))
        && (0..2).all(|at| lexicon.end_at(Cue::Person, words, at).is_none())
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
    Some(Lead {
        end,
        author: Author::Material,
        reason: "a play, a riddle or an invention",
        is_narrow: true,
        is_speech: false,
    })
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
        let asked = first.of(line.body);
        let cues = lexicon.cues(asked);
        let is_of_person = asked.ends_with(['?', '？']) && cues.has(Cue::Person) && cues.has(Cue::Text);
        let asks = cues.has(Cue::Transform) && points(cues)
            || is_of_person && !cues.has_any(&[Cue::Compose, Cue::Answer]);
        return (asks && !cues.has(Cue::Own)).then(|| Lead {
            end: line.at + first.end,
            author: Author::Material,
            reason: "a text whose wording is to be worked on",
            is_narrow: true,
            is_speech: false,
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
    if is_about_text(last, &words, cues, is_last.then_some(all.len()), lexicon) {
        let author = Author::Material;
        return Some(Lead {
            end: line.end,
            author,
            reason: "a text to be worked on",
            is_narrow: false,
            is_speech: false,
        });
    }
    let asks_only = is_last && all.len() == 1 && cues.has(Cue::Answer);
    asks_only.then_some(Lead {
        end: line.end,
        author: Author::Unsure,
        reason: "below a question for what to answer",
        is_narrow: false,
        is_speech: false,
    })
}

/// Returns whether a sentence without a colon is about a text below it; `sentences` are those of a line that is a paragraph.
fn is_about_text(
    sentence: &str,
    words: &[Word<'_>],
    cues: Cues,
    sentences: Option<usize>,
    lexicon: &Lexicon,
) -> bool {
    let is_self = is_self(words, lexicon);
    let is_short = words.len() <= LONGEST_TITLE;
    let is_question = sentences.is_some() && sentence.ends_with(['?', '？']);
    let asks = cues.has_any(&[Cue::Transform, Cue::Work]);
    let is_of_person = cues.has(Cue::Person) && cues.has(Cue::Text) && !is_self;
    let is_at_work = (asks || cues.has(Cue::Compose)) && cues.has_any(&[Cue::Text, Cue::This]);
    let is_whole = sentences == Some(1) && is_short && asks;
    let is_of_other = is_question
        && (is_of_person && !cues.has_any(&[Cue::Compose, Cue::Answer])
            || cues.has(Cue::Work) && cues.has(Cue::Person));
    // "I found this on a dating site and nearly died": what the user did with it tells that it is not the user's.
    let shows = cues.has(Cue::This) && words.len() <= 2 * LONGEST_TITLE;
    let is_seen = sentences.is_some()
        && (is_short && !is_self || shows)
        && cues.has(Cue::Seen)
        && cues.has_any(&[Cue::Person, Cue::Platform, Cue::Genre]);
    is_at_work || is_whole || is_of_other || is_seen || cues.has(Cue::Point) && !is_self
}

/// Returns a line that is the title of what is below it: "Minutes of the house meeting, 3 March", "Application form".
#[expect(clippy::fn_params_excessive_bools, reason = "whether a paragraph begins with the line")]
pub(super) fn title(
    line: &Line<'_>,
    next: Option<&Line<'_>>,
    is_first: bool,
    lexicon: &Lexicon,
) -> Option<Lead> {
    let is_list = next?.is_item();
    if line.is_item() || line.body.ends_with(['.', '!', '。', '！', ',', '，', ';']) {
        return None;
    }
    let words = lexicon.plain(line.body);
    let cues = lexicon.cues_of(&words);
    if cues.has(Cue::Own) || is_self(&words, lexicon) {
        return None;
    }
    let is_mine = words.iter().any(|word| MY.contains(&&*word.lower));
    let is_heading = is_first && !is_mine && !line.body.starts_with(char::is_lowercase);
    let is_short = is_heading && words.len() <= LONGEST_TITLE && !line.body.ends_with(['?', '？', ':', '：']);
    let reason = "below its title";
    let lead = |author| Some(Lead { end: line.end, author, reason, is_narrow: false, is_speech: false });
    if is_short && lexicon.leading(Cue::Chapter, &words).is_some() {
        return lead(Author::Material);
    }
    let is_title = is_list && cues.has(Cue::Title) || is_short && cues.has_any(&[Cue::Genre, Cue::Title]);
    if is_title { lead(Author::Document) } else { None }
}

/// Returns the end of a leading quotation in a paragraph whose author follows: "…, said the mayor", "… – Anna".
pub(super) fn attribution(paragraph: &str, lexicon: &Lexicon) -> Option<usize> {
    let found = sentences(paragraph).into_iter().find(|sentence| {
        let sentence = sentence.of(paragraph);
        lexicon.leading(Cue::Behind, &words(sentence)).is_some() && !lexicon.cues(sentence).has(Cue::Own)
    });
    found.map(|sentence| sentence.start).or_else(|| signature(paragraph, lexicon))
}

/// Returns the position of a dash at the end that a name follows, or a word for a text or a place.
fn signature(paragraph: &str, lexicon: &Lexicon) -> Option<usize> {
    let paragraph = paragraph.trim_end();
    if let Some((before, inside)) =
        paragraph.strip_suffix([')', '）']).and_then(|text| text.rsplit_once(['(', '（']))
    {
        let cues = lexicon.cues(inside);
        let is_short = inside.split_whitespace().count() <= LONGEST_TITLE;
        let tells = cues.has_any(&[Cue::Person, Cue::Genre, Cue::Platform]) && !cues.has(Cue::Own);
        return (is_short && tells && is_ended(before)).then_some(before.len());
    }
    let (before, behind) = paragraph.rsplit_once(DASHES)?;
    let behind = behind.trim_start_matches(DASHES).trim();
    let is_ended =
        before.trim_end_matches(DASHES).trim_end().ends_with(['.', '!', '?', '。', '！', '”', '"', '»']);
    let at_start = before.trim_matches(DASHES).trim().is_empty();
    let cues = lexicon.cues(behind);
    let is_name = || {
        behind.split_whitespace().count() <= LONGEST_NAME
            && behind.split_whitespace().all(|word| !word.starts_with(char::is_lowercase))
            && (is_first_name(behind.split_whitespace().next().unwrap_or_default())
                || behind.chars().all(is_sign) && behind.chars().count() <= LONGEST_NAME)
    };
    let tells = cues.has_any(&[Cue::Genre, Cue::Platform, Cue::Point]) && !cues.has(Cue::Own);
    let is_signed = is_ended && !behind.is_empty() && is_name() || (is_ended || at_start) && tells;
    let end = before.trim_end_matches(DASHES).trim_end().len();
    is_signed.then_some(if at_start { 0 } else { end })
}

/// Returns whether words end as a sentence does.
fn is_ended(words: &str) -> bool {
    words.trim_end().ends_with(['.', '!', '?', '。', '！', '？', '”', '"', '»'])
}
