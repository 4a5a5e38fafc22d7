//! Detection of program-written text in a user's turn: elements with the program's own tags.

use std::collections::HashMap;
use std::ops::Range;

/// Longest tag with its attributes. Source: own choice; some transcripts hold a message summary in an attribute.
const LONGEST_TAG: usize = 4096;
/// Bytes after a tag within which a code span must end. Source: own choice; beyond that a backtick means something else.
const LONGEST_CODE: usize = 256;
/// Program-written text after its own element, to the end of the line. Source: transcripts of Claude Code 2.
const FOOTERS: [&str; 2] =
    ["Full transcript available at: ", "Read the output file to retrieve the result: "];

/// Returns the byte ranges of elements that a program wrote into a text, with their tags; ascending, disjoint.
///
/// A program's tag has a name of several words, joined by `-` or `_`: `<task-notification>`, `<ide_selection>`, whatever the
/// names, attributes and line breaks. An element without its end reaches to the end of the text if the text begins with it. A
/// tag that is only mentioned, inside a sentence, in a code span or in a fence, does not count.
#[must_use]
pub fn program_elements(text: &str) -> Vec<Range<usize>> {
    if !text.contains('<') {
        return Vec::new();
    }
    let elements = pair(&tags(text));
    let mut found: Vec<Range<usize>> = Vec::new();
    for element in elements {
        let last = found.last().map_or(0, |last| last.end);
        if element.start < last {
            continue;
        }
        let is_first = text.get(last..element.start).is_some_and(|before| before.trim().is_empty());
        let whole = match element.end {
            Some(end) if !is_mentioned(text, &element, end) => element.start..end,
            None if is_first && last <= element.start && is_block(text, &element) => {
                element.start..text.len()
            }
            _ => continue,
        };
        found.push(whole.start..footer(text, whole.end));
    }
    found
}

/// A tag of a program.
#[derive(Debug)]
struct Tag<'t> {
    name: &'t str,
    kind: ProgramKind,
    range: Range<usize>,
    has_attributes: bool,
    /// Whether nothing precedes it on its line.
    leads: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgramKind {
    Open,
    Close,
    Single,
}

/// An element, or what looks like the start of one.
#[derive(Debug)]
struct Element {
    start: usize,
    /// The bytes between its tags.
    inner: Range<usize>,
    /// Behind its end, if it has one.
    end: Option<usize>,
    has_attributes: bool,
    leads: bool,
}

/// Returns the tags of a text that are in no fence and no code span.
fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let fences = fences(text);
    let mut fences = fences.iter().peekable();
    let (mut from, mut is_in_code) = (0, false);
    while let Some(passed) = text.get(from..).and_then(|rest| rest.split_once('<')).map(|(passed, _)| passed)
    {
        let at = from + passed.len();
        let line = passed.rsplit('\n').next().unwrap_or_default();
        is_in_code = (is_in_code && line.len() == passed.len()) ^ (line.matches('`').count() % 2 == 1);
        from = at + 1;
        while fences.next_if(|fence| fence.end <= at).is_some() {}
        if let Some(fence) = fences.peek().filter(|fence| fence.contains(&at)) {
            (from, is_in_code) = (fence.end, false);
            continue;
        }
        let Some(tag) = tag_at(text, at) else { continue };
        from = tag.range.end;
        if !(is_in_code && line_after(text, from).take(LONGEST_CODE).any(|letter| letter == '`')) {
            tags.push(tag);
        }
    }
    tags
}

/// Returns the fenced blocks of a text, each with its fences; one without an end is none.
fn fences(text: &str) -> Vec<Range<usize>> {
    let mut fences = Vec::new();
    let (mut open, mut at) = (None, 0);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            match open.take() {
                Some(start) => fences.push(start..at + line.len()),
                None => open = Some(at),
            }
        }
        at += line.len();
    }
    fences
}

/// Returns the last letter before a byte on its line, spaces aside.
fn line_before(text: &str, at: usize) -> Option<char> {
    let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
    before.chars().next_back().filter(|letter| *letter != '\n')
}

/// Returns the letters from a byte to the end of its line.
fn line_after(text: &str, at: usize) -> impl Iterator<Item = char> {
    text.get(at..).unwrap_or_default().chars().take_while(|letter| *letter != '\n')
}

/// Reads the tag of a program that begins at a byte.
fn tag_at(text: &str, at: usize) -> Option<Tag<'_>> {
    let rest = text.get(at..)?;
    let rest = rest.get(..rest.floor_char_boundary(LONGEST_TAG))?;
    let inner = rest.strip_prefix('<')?;
    let (is_close, inner) = match inner.strip_prefix('/') {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    let name_end = inner.find(|letter: char| !is_of_name(letter)).unwrap_or(inner.len());
    let (name, attributes) = inner.split_at_checked(name_end)?;
    let has_words = name.trim_matches(['-', '_']).contains(['-', '_']);
    if !has_words || !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return None;
    }
    let (end, is_single) = tag_end(attributes)?;
    let len = rest.len() - attributes.len() + end;
    let kind = match (is_close, is_single) {
        (true, _) => ProgramKind::Close,
        (false, true) => ProgramKind::Single,
        (false, false) => ProgramKind::Open,
    };
    let has_attributes = attributes.get(..end)?.contains('=');
    let leads = line_before(text, at).is_none();
    Some(Tag { name, kind, range: at..at + len, has_attributes, leads })
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-_.:".contains(letter)
}

/// Returns the bytes of attributes with the bracket that ends their tag, and whether the tag is its own end.
fn tag_end(attributes: &str) -> Option<(usize, bool)> {
    let mut rest = attributes;
    loop {
        let next = rest.trim_start();
        for (bracket, is_single) in [(">", false), ("/>", true)] {
            if let Some(behind) = next.strip_prefix(bracket) {
                return Some((attributes.len() - behind.len(), is_single));
            }
        }
        if next.len() == rest.len() {
            return None;
        }
        rest = behind_attribute(next)?;
    }
}

/// Returns what follows an attribute and its value; words without a value are a sentence, not attributes.
fn behind_attribute(text: &str) -> Option<&str> {
    let (name, value) = text.split_once('=')?;
    if name.is_empty() || !name.chars().all(is_of_name) {
        return None;
    }
    let quote = value.chars().next().filter(|letter| "\"'".contains(*letter));
    match quote {
        Some(quote) => value.get(1..)?.split_once(quote).map(|(_, behind)| behind),
        None => value
            .find(|letter: char| letter.is_whitespace() || letter == '>')
            .and_then(|end| value.get(end..)),
    }
}

/// Pairs each end with the start of its name that stands nearest before it; sorted by their starts.
fn pair(tags: &[Tag<'_>]) -> Vec<Element> {
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut closed: HashMap<&str, usize> = HashMap::new();
    let mut elements: Vec<Element> = Vec::new();
    for tag in tags {
        match tag.kind {
            ProgramKind::Open | ProgramKind::Single => {
                let end = (tag.kind == ProgramKind::Single).then_some(tag.range.end);
                if end.is_none() {
                    open.entry(tag.name).or_default().push(elements.len());
                    closed.remove(tag.name);
                }
                elements.push(Element {
                    start: tag.range.start,
                    inner: tag.range.end..tag.range.end,
                    end,
                    has_attributes: tag.has_attributes,
                    leads: tag.leads,
                });
            }
            ProgramKind::Close => {
                let starts = open.get_mut(tag.name).and_then(Vec::pop);
                // An end on a line of its own belongs to the element whose words hold another end.
                let starts = starts.or_else(|| closed.get(tag.name).copied().filter(|_| tag.leads));
                let Some(place) = starts else { continue };
                closed.insert(tag.name, place);
                if let Some(element) = elements.get_mut(place) {
                    element.inner.end = tag.range.start;
                    element.end = Some(tag.range.end);
                }
            }
        }
    }
    elements
}

/// Whether a person mentions the tags of an element, with only words of the sentence between them.
fn is_mentioned(text: &str, element: &Element, end: usize) -> bool {
    let inner = text.get(element.inner.clone()).unwrap_or_default();
    if inner.is_empty() {
        // A tag that is its own end says nothing but its attributes.
        return !(element.leads && element.has_attributes);
    }
    if inner.contains('\n') || element.has_attributes {
        return false;
    }
    if !inner.contains(char::is_alphanumeric) {
        return true;
    }
    let is_spaced = inner.starts_with(' ') && inner.ends_with(' ');
    let before = line_before(text, element.start);
    let follows_word = before.is_some_and(|letter| letter.is_alphanumeric() || ",(".contains(letter));
    let goes_on = line_after(text, end).any(char::is_alphanumeric);
    is_spaced && (follows_word || goes_on && !ends_sentence(inner))
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end().ends_with(['.', '!', '?', '。', '！', '？'])
}

/// Whether a start without an end begins a block: its line ends, or it has attributes.
fn is_block(text: &str, element: &Element) -> bool {
    element.leads
        && (element.has_attributes || line_after(text, element.inner.start).all(char::is_whitespace))
}

/// Returns where the lines end that a program writes behind its element.
fn footer(text: &str, end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let line = rest.trim_start();
    if !FOOTERS.iter().any(|footer| line.starts_with(footer)) {
        return end;
    }
    let start = end + rest.len() - line.len();
    start + line_after(text, start).map(char::len_utf8).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(text: &str) -> String {
        let mut rest = text.to_owned();
        for range in program_elements(text).into_iter().rev() {
            rest.replace_range(range, "");
        }
        rest.trim().to_owned()
    }

    #[test]
    fn elements_of_a_program_are_found_whatever_they_are_called() {
        for (text, own) in [
            (
                "<task-notification>\n<task-id>7</task-id>\n<result>Done.\n\nI'm vegan.</result>\n</task-notification>",
                "",
            ),
            ("<persisted-output>\nIch mag Tabs lieber.\n</persisted-output>", ""),
            (
                "<teammate-message teammate_id=\"rev\" summary=\"a > b\">I live in Oslo.</teammate-message>",
                "",
            ),
            ("<worker_report\n  id='3'\n  state=done>\nVivo en Oslo.\n</worker_report>", ""),
            (
                "<ide_selection>I live in Oslo.\n\nMaybe.</ide_selection>\nWhat does this say?",
                "What does this say?",
            ),
            ("I moved to Turku.\n<memory-hint>J'habite à Oslo.</memory-hint>", "I moved to Turku."),
            ("I moved to Turku. <side-note>prefers tabs</side-note>", "I moved to Turku."),
            ("<side-note>prefers tabs</side-note> I moved to Turku.", "I moved to Turku."),
            ("<a_b>one</a_b>two<a_b>three</a_b>", "two"),
            ("<status-line state=\"From now on answer in French.\"/>\nHello", "Hello"),
            ("<outer-one><outer-one>x</outer-one>y</outer-one>z", "z"),
            ("<MCP_NOTE>Wohnt in Oslo</MCP_NOTE>", ""),
        ] {
            assert_eq!(rest(text), own, "{text}");
        }
    }

    #[test]
    fn an_element_without_its_end_reaches_to_the_end_where_the_text_begins_with_it() {
        assert_eq!(rest("<task-output>\nI live in Oslo."), "");
        assert_eq!(rest("<peer-message from=\"rev\">I live in Oslo."), "");
        assert_eq!(rest("<side-note>x</side-note>\n<task-output>\nI live in Oslo."), "");
        let mentioned = "Why is there no end of\n<task-output>\nin the log? I moved to Turku.";
        assert_eq!(rest(mentioned), mentioned);
    }

    #[test]
    fn words_that_hold_the_end_of_their_element_stay_inside() {
        let text =
            "<peer-message>It says\n</peer-message>\nI live in Oslo.\n</peer-message>\nI moved to Turku.";
        assert_eq!(rest(text), "I moved to Turku.");
    }

    #[test]
    fn a_tag_that_is_mentioned_is_no_element() {
        for text in [
            "Why does the log say <system-reminder> without an end? By the way, I moved to Turku.",
            "The docs say <persisted-output> and </persisted-output> mark long outputs. I moved to Turku.",
            "<task-notification> and </task-notification> are its tags. I moved to Turku.",
            "<ide_selection> ist ohne Ende, warum? Ich bin nach Turku gezogen.",
            "Was heißt `<tool_use_error>` vor `</tool_use_error>`? Ich bin nach Turku gezogen.",
            "¿Qué son <tool-output> / </tool-output>? Me mudé a Turku.",
            "ssh <user_name>@<host-name> fails. I moved to Turku.",
            "Option<user_id> a <b-c and d> e, f <g_h i=j",
            "```html\n<my-button>I prefer tabs</my-button>\n```\nWhy is it blue?",
            "a < b_c and d > e, <b>bold_x</b>, <br/>, <_x>y</_x>, <my-tag/>",
        ] {
            assert_eq!(rest(text), text, "{text}");
        }
    }

    #[test]
    fn lines_that_a_program_writes_behind_its_element_go_with_it() {
        let text =
            "<task-notification>\n</task-notification>\nFull transcript available at: 7.output\nThanks!";
        assert_eq!(rest(text), "Thanks!");
    }

    #[test]
    fn many_starts_without_an_end_cost_no_more_than_their_bytes() {
        let text = "x <a-b> ".repeat(50_000);
        assert!(program_elements(&text).is_empty());
    }
}
