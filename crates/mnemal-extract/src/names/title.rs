//! Titles in quotation marks or between signs of emphasis, of one to eight words.

use std::ops::Range;

/// The longest title, in characters. Source: own choice, eight long words.
const LONGEST: usize = 120;

/// Returns the quotations, without their marks, by position.
pub(crate) fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (open, close) in
        [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('*', '*'), ('_', '_'), ('《', '》'), ('‘', '’')]
    {
        if !text.contains(open) {
            continue;
        }
        let mut from = 0;
        while let Some(start) =
            text.get(from..).and_then(|rest| rest.find(open)).map(|at| from + at + open.len_utf8())
        {
            let mut near = text.get(start..).unwrap_or_default().char_indices().take(LONGEST);
            let Some((length, _)) = near.find(|&(_, c)| c == close || c == '\n') else {
                from = start;
                continue;
            };
            let inside = text.get(start..start + length).unwrap_or_default();
            let is_closed = text.get(start + length..).is_some_and(|rest| rest.starts_with(close));
            let has_words = (1..=8).contains(&inside.split_whitespace().count()) && inside.trim() == inside;
            if is_closed && has_words {
                found.push(start..start + length);
                from = start + length + close.len_utf8();
            } else {
                from = start;
            }
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_quotations_are_found() {
        let check = |text: &str| {
            quoted(text).into_iter().map(|at| text.get(at).unwrap()).collect::<Vec<_>>().join("|")
        };
        assert_eq!(check("read \"Blue Night\" and *The Ford* or “Élan”"), "Blue Night|The Ford|Élan");
        assert_eq!(check("\" not this \" and \"one two three four five six seven eight nine\""), "");
    }
}
