//! Cases of `TokenCounter`.

use mnemal_core::{Result, TokenCount, TokenCounter};

/// Texts of several scripts and shapes.
const TEXTS: [&str; 6] = [
    "",
    "a",
    "The deploy moved to Tuesday.",
    "日本語のテキスト",
    "{\"a\": [1, 2, 3]}",
    "é😀\u{200d}x  \n\n y",
];

/// The same text has the same count, and only the empty text has none.
pub async fn counting_is_pure_and_nothing_is_zero(counter: &impl TokenCounter) -> Result<()> {
    assert_eq!(counter.count(""), TokenCount(0));
    for text in TEXTS {
        assert_eq!(counter.count(text), counter.count(text));
        assert_eq!(counter.count(text).0 == 0, text.is_empty(), "{text:?}");
    }
    assert!(!counter.name().is_empty());
    Ok(())
}

/// A cut text really fits.
pub async fn a_prefix_fits_and_ends_on_a_character(counter: &impl TokenCounter) -> Result<()> {
    for text in TEXTS {
        for budget in 0..8 {
            let range = counter.prefix(text, TokenCount(budget));
            let cut = text.get(range.clone());
            assert!(cut.is_some(), "{range:?} of {text:?}");
            assert!(counter.count(cut.unwrap_or_default()) <= TokenCount(budget));
        }
        assert_eq!(counter.prefix(text, counter.count(text)), 0..text.len());
    }
    Ok(())
}

/// What lines have of tokens adds up.
pub async fn parts_of_lines_are_those_of_the_whole(counter: &impl TokenCounter) -> Result<()> {
    let lines = TEXTS.map(|text| format!("- {text}\n"));
    for one in &lines {
        for two in &lines {
            let Some(parts) = counter.parts(one).zip(counter.parts(two)) else { continue };
            let whole = format!("{one}{two}");
            assert_eq!((parts.0 + parts.1).rounded_up(), counter.count(&whole), "{one:?} + {two:?}");
            assert_eq!(counter.parts(&whole), Some(parts.0 + parts.1));
        }
    }
    for text in ["a", "\na\n", ""] {
        assert_eq!(counter.parts(text), None, "{text:?} is no line");
    }
    Ok(())
}

/// Sums over lines bound the whole, up to one token a seam.
pub async fn joining_texts_adds_at_most_one_token(counter: &impl TokenCounter) -> Result<()> {
    for one in TEXTS {
        for two in TEXTS {
            let joined = counter.count(&format!("{one}\n{two}"));
            assert!(joined.0 <= counter.count(one).0 + counter.count(two).0 + 2, "{one:?} + {two:?}");
        }
    }
    Ok(())
}
