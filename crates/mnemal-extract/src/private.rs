//! Removal of passages that the user marked as private: `<private>…</private>`.

use std::borrow::Cow;
use std::ops::Range;

/// The tag whose content is never stored.
///
/// Source: own choice.
pub const PRIVATE_TAG: &str = "private";

/// Removes everything inside `<private>…</private>`, see [`strip_tag`].
#[must_use]
pub fn strip_private(text: &str) -> (Cow<'_, str>, Vec<Range<usize>>) {
    strip_tag(text, PRIVATE_TAG)
}

/// Removes every element `<tag>…</tag>` and leaves `[tag]` in its place.
///
/// Returns the rest and the removed bytes of `text`, tags included, by position. Case, attributes and spaces in the opening tag
/// are ignored. A nested element belongs to the outer one. An element without its end reaches to the end of the text: a
/// forgotten end must not publish what follows. A closing tag alone stays.
#[must_use]
pub fn strip_tag<'t>(text: &'t str, tag: &str) -> (Cow<'t, str>, Vec<Range<usize>>) {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('<')).map(|offset| from + offset) {
        from = at + 1;
        let Some((kind, len)) = text.get(at..).and_then(|rest| tag_at(rest, tag)) else { continue };
        from = at + len;
        match kind {
            Tag::Open => {
                start = if depth == 0 { at } else { start };
                depth += 1;
            }
            Tag::Close if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    cuts.push(start..from);
                }
            }
            Tag::Close => {}
        }
    }
    if depth > 0 {
        cuts.push(start..text.len());
    }
    if cuts.is_empty() {
        return (Cow::Borrowed(text), cuts);
    }
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for cut in &cuts {
        out.push_str(text.get(done..cut.start).unwrap_or_default());
        out.push('[');
        out.push_str(tag);
        out.push(']');
        done = cut.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    (Cow::Owned(out), cuts)
}

#[derive(Clone, Copy)]
enum Tag {
    Open,
    Close,
}

/// Source: own choice; more bytes between the brackets are no tag.
const LONGEST_TAG: usize = 256;

/// Reads the tag that `rest` begins with, if it is the wanted one.
fn tag_at(rest: &str, tag: &str) -> Option<(Tag, usize)> {
    let inner = rest.get(1..rest.floor_char_boundary(LONGEST_TAG))?;
    let (kind, name) = match inner.trim_start().strip_prefix('/') {
        Some(name) => (Tag::Close, name.trim_start()),
        None => (Tag::Open, inner.trim_start()),
    };
    let after = name.get(tag.len()..)?;
    if tag.is_empty() || !name.get(..tag.len())?.eq_ignore_ascii_case(tag) {
        return None;
    }
    let close = after.find('>')?;
    let attributes = after.get(..close)?;
    let is_whole_name = attributes.is_empty() || attributes.starts_with(char::is_whitespace);
    let is_tag = is_whole_name && !attributes.contains('<') && !attributes.ends_with('/');
    let len = rest.len() - rest.get(1..)?.len() + (inner.len() - after.len()) + close + 1;
    is_tag.then_some((kind, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, rest: &str, cuts: &[&str]) {
        let (left, ranges) = strip_private(text);
        assert_eq!(left, rest);
        assert_eq!(ranges.iter().map(|range| text.get(range.clone()).unwrap()).collect::<Vec<_>>(), cuts);
    }

    // proves: AD-33 (private spans)
    #[test]
    fn private_spans_are_cut_and_leave_a_mark() {
        check("nothing here < or > there", "nothing here < or > there", &[]);
        check("a <private>b</private> c", "a [private] c", &["<private>b</private>"]);
        check("a <PRIVATE>b\n</Private > c", "a [private] c", &["<PRIVATE>b\n</Private >"]);
        check("a <private why=\"x\">b</private>", "a [private]", &["<private why=\"x\">b</private>"]);
        check(
            "<private>a</private>é<private>b</private>",
            "[private]é[private]",
            &["<private>a</private>", "<private>b</private>"],
        );
    }

    #[test]
    fn an_open_span_reaches_to_the_end_and_nested_spans_are_one() {
        check("a <private>b c", "a [private]", &["<private>b c"]);
        check(
            "a <private>b<private>c</private>d</private> e",
            "a [private] e",
            &["<private>b<private>c</private>d</private>"],
        );
        check("a <private>b<private>c</private> d", "a [private]", &["<private>b<private>c</private> d"]);
        check("a</private> b", "a</private> b", &[]);
        check("<privateer>x</privateer> <private/>", "<privateer>x</privateer> <private/>", &[]);
    }

    #[test]
    fn the_tag_can_have_another_name() {
        assert_eq!(strip_tag("a <off>b</off> <private>c", "off").0, "a [off] <private>c");
        assert_eq!(strip_tag("a <>b</>", "").0, "a <>b</>");
    }
}
