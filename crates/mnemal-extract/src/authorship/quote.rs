//! Quotations: text in quotation marks, quoted lines, and fenced text.

use std::ops::Range;

/// The evidence for a quotation within a sentence.
pub(super) const REASON: &str = "between quotation marks";

/// Fewest quoted words that count as someone's statement. Source: own choice; names and terms are shorter.
const QUOTED_WORDS: usize = 4;
/// Marks that open a quotation.
const MARKS: [char; 7] = ['"', '“', '«', '„', '「', '『', '‹'];
/// Fence markers of code.
const FENCES: [&str; 4] = ["```", "~~~", "\"\"\"", "'''"];

/// Returns the bytes between quotation marks that hold a sentence; a message that is one quotation from end to end is its
/// speaker's own.
pub(super) fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(open) = find(text, from, &MARKS) {
        let mark = text.get(open..).and_then(|rest| rest.chars().next()).unwrap_or('"');
        let inside = open + mark.len_utf8();
        let Some(close) = find(text, inside, closing(mark)) else { return found };
        let said = text.get(inside..close).unwrap_or_default();
        let is_all = text.get(..open).is_some_and(|before| before.trim().is_empty())
            && text.get(close..).is_some_and(|after| after.trim().chars().count() == 1);
        if is_sentence(said) && !is_all {
            found.push(inside..close);
        }
        from = close + text.get(close..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    }
    found
}

/// Returns whether a sign opens a quotation.
pub(super) fn opens(sign: char) -> bool {
    MARKS.contains(&sign)
}

fn closing(mark: char) -> &'static [char] {
    match mark {
        '“' => &['”', '"'],
        '«' => &['»'],
        '„' => &['“', '”', '"'],
        '「' => &['」'],
        '『' => &['』'],
        '‹' => &['›'],
        _ => &['"'],
    }
}

fn find(text: &str, from: usize, marks: &[char]) -> Option<usize> {
    text.get(from..).and_then(|rest| rest.find(marks)).map(|at| from + at)
}

/// Enough words, or signs of a script without spaces, that are no title: mostly in lower case, or of several sentences.
fn is_sentence(said: &str) -> bool {
    let all = said.split_whitespace().count();
    let small = said.split_whitespace().filter(|word| word.starts_with(char::is_lowercase)).count();
    let signs = said.chars().filter(|sign| crate::word::is_sign(*sign)).count();
    let has_several = [". ", "! ", "? ", "。", "！"].iter().any(|mark| said.contains(mark));
    let is_ended = all + 1 >= QUOTED_WORDS && small > 0 && said.trim_end().ends_with(['.', '!', '?']);
    all >= QUOTED_WORDS && small * 2 > all || has_several || is_ended || signs >= 2 * QUOTED_WORDS
}

/// Returns where a quotation ends that begins at a byte, if one does.
pub(super) fn closed(text: &str, at: usize) -> Option<usize> {
    let mark = text.get(at..)?.chars().next().filter(|mark| MARKS.contains(mark))?;
    find(text, at + mark.len_utf8(), closing(mark))
}

/// Returns the end of a source note directly after a quotation, up to the end of its line: "(author: Wen)"; or the end of the
/// quotation.
pub(super) fn with_source(text: &str, close: usize) -> usize {
    let rest = text.get(close..).unwrap_or_default();
    let mark = rest.chars().next().map_or(0, char::len_utf8);
    let line = rest.get(mark..).and_then(|behind| behind.lines().next()).unwrap_or_default();
    let note = line.trim().trim_end_matches(['.', '。', ' ']);
    let inside = note.strip_prefix(['(', '[', '（']).and_then(|note| note.strip_suffix([')', ']', '）']));
    let is_note = inside.is_some_and(|inside| !inside.contains(['(', ')', '[', ']', '（', '）', '?', '？']));
    if is_note { close + mark + line.len() } else { close }
}

/// Returns the fenced parts of a text, line by line, with their fences; an open fence goes to the end.
pub(super) fn fenced(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !FENCES.iter().any(|fence| text.contains(fence)) {
        return found;
    }
    let (mut at, mut open): (usize, Option<(usize, &str)>) = (0, None);
    for line in text.split_inclusive('\n') {
        let body = line.trim();
        let end = at + line.len();
        let fence = FENCES.into_iter().find(|fence| body.starts_with(fence));
        match (open, fence) {
            (Some((start, of)), Some(fence)) if of == fence => {
                found.push(start..end);
                open = None;
            }
            (None, Some(fence)) if body.get(fence.len()..).is_some_and(|rest| rest.contains(fence)) => {
                found.push(at..end);
            }
            (None, Some(fence)) => open = Some((at, fence)),
            _ => {}
        }
        at = end;
    }
    found.extend(open.map(|(start, _)| start..text.len()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_on_the_source_belongs_to_its_quotation() {
        for (text, is_note) in [
            ("the changelog says: \"I dropped my old parser\" (author: Kirsten)", true),
            ("Im Protokoll steht: „Ich ziehe im Mai nach Kiel“ (Verfasser: Ole).", true),
            ("她写道：「我下个月搬到南京」（作者：小李）", true),
            ("He said: \"I moved\" (odd, isn't it?)", false),
            ("He said: \"I moved\" and I live in Bern (since May)", false),
        ] {
            let close = text.rfind(['"', '“', '」']).unwrap();
            assert_eq!(with_source(text, close) > close, is_note, "{text}");
        }
    }
}
