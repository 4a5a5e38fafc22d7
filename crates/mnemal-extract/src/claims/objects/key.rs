//! Canonical key of an object; two objects with the same key are the same.

use mnemal_text::{Analyzer, Language, is_stop_word};

/// Returns the language whose stop words and stems count.
pub(crate) fn language(code: &str) -> Language {
    Language::from_code(code).unwrap_or_default()
}

/// Returns the key of an object: stems of its words of content, in order; names are folded and not stemmed.
#[expect(clippy::fn_params_excessive_bools, reason = "names have keys of their own")]
pub(crate) fn key(text: &str, is_name: bool, code: &str) -> String {
    if is_name {
        return mnemal_text::fold(text).split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let language = language(code);
    let mut stems: Vec<(usize, String)> = Vec::new();
    let mut all: Vec<String> = Vec::new();
    Analyzer::new(language).for_each_term(text, &mut |term, range| {
        if stems.last().is_some_and(|(end, _)| range.start < *end) {
            stems.pop();
        }
        all.push(term.to_owned());
        if !is_stop_word(language, text.get(range.clone()).unwrap_or_default()) {
            stems.push((range.end, term.to_owned()));
        }
    });
    let stems: Vec<String> = stems.into_iter().map(|(_, stem)| stem).collect();
    if stems.is_empty() { all.join(" ") } else { stems.join(" ") }
}
