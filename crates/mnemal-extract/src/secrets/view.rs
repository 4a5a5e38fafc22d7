//! Scan view of a text for the secret rules: without invisible characters, escapes or soft line breaks.
//!
//! Every byte of a view maps to bytes of the source, so that a match in the view can be removed from the source.

use std::borrow::Cow;
use std::ops::Range;

/// Stands in a view for an existing placeholder. No rule's pattern contains it.
pub(crate) const BLANK: char = '\u{1}';

/// Source: own choice; two pieces of a wrapped token have at least this many characters together.
const SHORTEST_WRAPPED: usize = 16;

/// Source: own choice; how far a piece of a wrapped token is followed, which keeps the scan linear.
const LONGEST_PIECE: usize = 512;

/// A text with a map back to the text it was made from.
pub(crate) struct View<'t> {
    text: Cow<'t, str>,
    /// Sorted by `view`; empty when the view is the source itself.
    marks: Vec<Mark>,
}

/// From `view` on, the view's bytes come from `source` on.
#[derive(Clone, Copy)]
struct Mark {
    view: usize,
    source: usize,
    /// Bytes of the source that one decoded character stands for; `None` for a run that was copied.
    width: Option<usize>,
}

/// The decoded form of a source position.
struct Piece {
    /// `None` removes the place.
    shown: Option<char>,
    /// Bytes of the source.
    width: usize,
}

impl<'t> View<'t> {
    /// Decodes `text`; `blanks` (sorted, disjoint, on character boundaries) are shown as [`BLANK`].
    pub(crate) fn new(text: &'t str, blanks: &[Range<usize>]) -> Self {
        if blanks.is_empty() && !text.bytes().any(is_special) {
            return View { text: Cow::Borrowed(text), marks: Vec::new() };
        }
        let mut view = Builder::new(text);
        let mut blanks = blanks.iter().peekable();
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if let Some(blank) = blanks.next_if(|blank| blank.start <= at) {
                view.replace(at, &Piece { shown: Some(BLANK), width: blank.end.saturating_sub(at) });
                at = at.max(blank.end);
            } else if let Some(piece) = is_special(byte).then(|| decode(text, at)).flatten() {
                view.replace(at, &piece);
                at += piece.width;
            } else {
                at += 1;
            }
        }
        view.finish()
    }

    /// Joins tokens that a soft line break cut in two; `None` if there is none.
    pub(crate) fn joined(&self) -> Option<View<'_>> {
        let bytes = self.text.as_bytes();
        let mut view = Builder::new(&self.text);
        let mut from = 0;
        while let Some(offset) = bytes.get(from..).and_then(|rest| rest.iter().position(|&b| b == b'\n')) {
            let newline = from + offset;
            from = newline + 1;
            if let Some(cut) = soft_break(bytes, newline) {
                view.replace(cut.start, &Piece { shown: None, width: cut.end - cut.start });
                from = cut.end;
            }
        }
        (!view.marks.is_empty()).then(|| view.finish())
    }

    /// Returns the text that rules read.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the bytes of the source that a range of the view stands for.
    pub(crate) fn source(&self, range: &Range<usize>) -> Range<usize> {
        self.source_start(range.start)..self.source_end(range.end)
    }

    fn source_start(&self, at: usize) -> usize {
        let after = self.marks.partition_point(|mark| mark.view <= at);
        match after.checked_sub(1).and_then(|i| self.marks.get(i)) {
            Some(Mark { source, width: Some(_), .. }) => *source,
            Some(mark) => mark.source + (at - mark.view),
            None => at,
        }
    }

    fn source_end(&self, at: usize) -> usize {
        let after = self.marks.partition_point(|mark| mark.view < at);
        match after.checked_sub(1).and_then(|i| self.marks.get(i)) {
            Some(Mark { source, width: Some(width), .. }) => source + width,
            Some(mark) => mark.source + (at - mark.view),
            None => at,
        }
    }
}

struct Builder<'t> {
    source: &'t str,
    text: String,
    marks: Vec<Mark>,
    /// Source bytes up to here are in `text`.
    done: usize,
}

impl<'t> Builder<'t> {
    fn new(source: &'t str) -> Self {
        Builder { source, text: String::new(), marks: Vec::new(), done: 0 }
    }

    fn replace(&mut self, at: usize, piece: &Piece) {
        self.text.push_str(self.source.get(self.done..at).unwrap_or_default());
        if let Some(shown) = piece.shown {
            self.marks.push(Mark { view: self.text.len(), source: at, width: Some(piece.width) });
            self.text.push(shown);
        }
        self.done = at + piece.width;
        self.marks.push(Mark { view: self.text.len(), source: self.done, width: None });
    }

    fn finish(mut self) -> View<'t> {
        if self.marks.is_empty() {
            return View { text: Cow::Borrowed(self.source), marks: self.marks };
        }
        self.text.push_str(self.source.get(self.done..).unwrap_or_default());
        View { text: Cow::Owned(self.text), marks: self.marks }
    }
}

/// Returns whether a byte can begin something that is shown differently.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'\\' | b'%' | b'[' | 0xC2 | 0xCD | 0xE1 | 0xE2 | 0xEF | 0xF3)
}

fn decode(text: &str, at: usize) -> Option<Piece> {
    let rest = text.get(at..)?;
    match rest.as_bytes().first()? {
        b'\\' => backslash(rest.as_bytes()),
        b'%' => percent(rest.as_bytes()),
        b'[' => placeholder_len(rest).map(|width| Piece { shown: Some(BLANK), width }),
        _ => {
            let first = rest.chars().next()?;
            is_invisible(first).then(|| Piece { shown: None, width: first.len_utf8() })
        }
    }
}

/// Decodes a JSON or C escape; text that was escaped more than once has several backslashes.
fn backslash(rest: &[u8]) -> Option<Piece> {
    let slashes = rest.iter().take(8).take_while(|&&b| b == b'\\').count();
    let (shown, width) = match rest.get(slashes)? {
        b'n' => ('\n', 1),
        b'r' => ('\r', 1),
        b't' => ('\t', 1),
        &quoted @ (b'/' | b'"' | b'\'') => (char::from(quoted), 1),
        b'u' => (visible_char(hex(rest.get(slashes + 1..slashes + 5)?)?), 5),
        b'x' => (visible_char(hex(rest.get(slashes + 1..slashes + 3)?)?), 3),
        _ => return None,
    };
    Some(Piece { shown: Some(shown), width: slashes + width })
}

/// Decodes `%2D`, and `%252D` of text that was encoded more than once.
fn percent(rest: &[u8]) -> Option<Piece> {
    let mut at = 1;
    while at < 7 && rest.get(at..at + 2) == Some(b"25") && hex(rest.get(at + 2..at + 4)?).is_some() {
        at += 2;
    }
    let code = hex(rest.get(at..at + 2)?)?;
    let shown = if code < 0x80 { visible_char(code) } else { char::REPLACEMENT_CHARACTER };
    Some(Piece { shown: Some(shown), width: at + 2 })
}

fn visible_char(code: u32) -> char {
    match char::from_u32(code) {
        Some(BLANK) | None => char::REPLACEMENT_CHARACTER,
        Some(c) => c,
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |sum, &d| Some(sum * 16 + char::from(d).to_digit(16)?))
}

/// Returns the length of the placeholder that `rest` begins with.
fn placeholder_len(rest: &str) -> Option<usize> {
    let id = rest.strip_prefix("[secret:")?;
    let name = id.bytes().take(65).take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let tail = id.as_bytes().get(name..name + 6)?;
    let is_tail = tail.first() == Some(&b'#') && tail.last() == Some(&b']') && hex(tail.get(1..5)?).is_some();
    (is_tail && (1..=64).contains(&name)).then_some("[secret:".len() + name + 6)
}

/// Returns whether a character leaves no trace on the screen.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// Returns the bytes to drop if the newline cuts a token.
///
/// Prose is left alone: the two pieces together must look like no word, and the second must not be the name in
/// an assignment of its own.
fn soft_break(bytes: &[u8], newline: usize) -> Option<Range<usize>> {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let mut end = newline;
    while end > 0 && matches!(byte(end - 1), b'\r' | b' ' | b'\\') {
        end -= 1;
    }
    let mut start = newline + 1;
    while matches!(byte(start), b' ' | b'\t' | b'>') {
        start += 1;
    }
    let before = bytes.get(..end)?.iter().rev().take(LONGEST_PIECE).take_while(|b| is_token(**b)).count();
    let after = bytes.get(start..)?.iter().take(LONGEST_PIECE).take_while(|b| is_token(**b)).count();
    if before == 0 || after == 0 || before + after < SHORTEST_WRAPPED {
        return None;
    }
    let next = byte(start + after + 1);
    let is_name = match byte(start + after) {
        b':' | b'(' => true,
        b'=' => is_token(next) || matches!(next, b'"' | b'\'' | b'$'),
        _ => false,
    };
    if is_name {
        return None;
    }
    let left = bytes.get(end - before..end)?;
    let right = bytes.get(start..start + after)?;
    (looks_opaque(left) || looks_opaque(right)).then_some(end..start)
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/' | b'+' | b'.' | b'~')
}

/// Returns whether a piece has a digit, an underscore or a capital inside, as words rarely do.
pub(crate) fn looks_opaque(piece: &[u8]) -> bool {
    piece.iter().any(|b| b.is_ascii_digit() || *b == b'_')
        || piece.windows(2).any(|w| matches!(w, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, shown: &str) {
        assert_eq!(View::new(source, &[]).text(), shown, "{source:?}");
    }

    #[test]
    fn a_view_decodes_escapes_and_drops_what_is_invisible() {
        check("plain text", "plain text");
        check("a\\u002db", "a-b");
        check("a\\\\u002Db", "a-b");
        check("https:\\/\\/x", "https://x");
        check("a%2Db%252Dc", "a-b-c");
        check("100%", "100%");
        check("50%of", "50%of");
        check("a\u{200B}b\u{FEFF}c", "abc");
        check("x [secret:npm#00ff] y", "x \u{1} y");
        check("%E4%B8%AD", "\u{FFFD}\u{FFFD}\u{FFFD}");
        check("\\ud83d", "\u{FFFD}");
    }

    #[test]
    fn a_match_in_the_view_is_cut_out_of_the_source() {
        let source = "k=a\\u002db\u{200B}c;";
        let view = View::new(source, &[]);
        assert_eq!(view.text(), "k=a-bc;");
        assert_eq!(source.get(view.source(&(2..6))).unwrap(), "a\\u002db\u{200B}c");
        assert_eq!(source.get(view.source(&(2..5))).unwrap(), "a\\u002db");
    }

    #[test]
    fn wrapped_tokens_are_joined_and_prose_is_not() {
        let joined = |text| View::new(text, &[]).joined().map(|view| view.text().to_owned());
        assert_eq!(joined("ab12cd34ef\n  56gh78ij90").as_deref(), Some("ab12cd34ef56gh78ij90"));
        assert_eq!(joined("an ordinary\nsentence that goes on"), None);
        assert_eq!(joined("TOKEN_A=abc123def456\nTOKEN_B=xyz"), None);
    }
}
