//! Words of a text as model input: positions and written form.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

/// A word: a Chinese, Japanese or Korean character, a run of letters and digits, or one other sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Bytes of the text.
    pub(crate) span: Range<usize>,
    /// Whether it follows a space, a line break or the start.
    pub(crate) is_first: bool,
    /// Its written form.
    pub(crate) shape: Shape,
}

/// The written form of a word. The numbers are those of the training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Sign = 0,
    Small = 1,
    Capital = 2,
    Capitals = 3,
    Mixed = 4,
    Digits = 5,
    /// A capital where a sentence opens.
    Opening = 6,
}

/// Whether a character is a word of its own, as in Chinese.
fn is_alone(sign: char) -> bool {
    matches!(sign,
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ac00}'..='\u{d7af}')
}

/// Returns the words of a text in order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::with_capacity(text.len() / 5);
    let (mut is_first, mut opens) = (true, true);
    let mut signs = text.char_indices().peekable();
    while let Some((start, sign)) = signs.next() {
        if sign.is_whitespace() {
            is_first = true;
            opens |= sign == '\n';
            continue;
        }
        let mut end = start + sign.len_utf8();
        if sign.is_alphanumeric() && !is_alone(sign) {
            while let Some((at, next)) = signs.next_if(|(_, next)| next.is_alphanumeric() && !is_alone(*next))
            {
                end = at + next.len_utf8();
            }
        }
        let word = text.get(start..end).unwrap_or_default();
        let shape = shape(word, opens);
        opens = shape == Shape::Sign
            && (opens || matches!(sign, '.' | '!' | '?' | ':' | '。' | '！' | '？' | '：'));
        words.push(Word { span: start..end, is_first, shape });
        is_first = false;
    }
    words
}

#[expect(clippy::fn_params_excessive_bools, reason = "whether a sentence opens here")]
fn shape(word: &str, opens: bool) -> Shape {
    if !word.chars().any(char::is_alphanumeric) {
        return Shape::Sign;
    }
    if word.chars().any(char::is_numeric) {
        return Shape::Digits;
    }
    let capital = if opens { Shape::Opening } else { Shape::Capital };
    let mut signs = word.chars();
    let begins_large = signs.next().is_some_and(|sign| !sign.is_lowercase());
    let rest_is_small = signs.all(|sign| !sign.is_uppercase());
    if word.chars().all(|sign| !sign.is_uppercase()) {
        Shape::Small
    } else if word.chars().all(|sign| !sign.is_lowercase()) {
        if word.chars().nth(1).is_some() { Shape::Capitals } else { capital }
    } else if begins_large && rest_is_small {
        capital
    } else {
        Shape::Mixed
    }
}

/// Returns a text in lower case without accents, as names are compared.
pub(crate) fn fold(text: &str) -> String {
    let small = text.nfkc().collect::<String>().to_lowercase().replace('ß', "ss");
    small.nfd().filter(|sign| !matches!(sign, '\u{300}'..='\u{36f}')).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(text: &str) -> Vec<(&str, Shape)> {
        words(text).into_iter().map(|word| (text.get(word.span).unwrap(), word.shape)).collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_single_signs() {
        use Shape::{Capital, Capitals, Digits, Mixed, Opening, Sign, Small};
        assert_eq!(
            shapes("Ana's IT iPhone, v2. Ok"),
            [
                ("Ana", Opening),
                ("'", Sign),
                ("s", Small),
                ("IT", Capitals),
                ("iPhone", Mixed),
                (",", Sign),
                ("v2", Digits),
                (".", Sign),
                ("Ok", Opening)
            ]
        );
        assert_eq!(shapes("in Rom 我在"), [("in", Small), ("Rom", Capital), ("我", Small), ("在", Small)]);
        assert_eq!(shapes("a\nB"), [("a", Small), ("B", Opening)]);
        assert_eq!(fold("Ünal Straße"), "unal strasse");
    }
}
