//! Tokens of the name search, with capitals and what precedes each word.

use std::borrow::Cow;
use std::ops::Range;

use mnemal_text::fold;

/// One word of a text.
#[derive(Clone, Debug)]
pub(crate) struct Token<'t> {
    /// Bytes of the text, without a possessive ending.
    pub(crate) span: Range<usize>,
    /// In lower case, with `'` for every apostrophe, without a possessive ending.
    pub(crate) lower: Cow<'t, str>,
    /// Without accents, where that differs from `lower`.
    folded: Option<String>,
    pub(crate) shape: Shape,
    /// The separator before this word.
    pub(crate) gap: Gap,
    /// A sentence, a line or a quotation begins here.
    pub(crate) is_initial: bool,
    /// It had a possessive ending.
    pub(crate) is_possessive: bool,
}

impl Token<'_> {
    /// Returns the form that lists are searched by.
    pub(crate) fn key(&self) -> &str {
        self.folded.as_deref().unwrap_or(&self.lower)
    }
}

/// How a word is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Lower,
    /// One capital, at the start.
    Capital,
    /// Two capitals or more and no small letter.
    Shout,
    /// A capital inside: `iPhone`, `PyTorch`, `McKay`.
    Mixed,
    /// It begins with a digit.
    Number,
}

impl Shape {
    /// Returns whether the word has a capital that a name could have.
    pub(crate) fn is_capital(self) -> bool {
        matches!(self, Self::Capital | Self::Shout | Self::Mixed)
    }

    fn of(word: &str) -> Self {
        let mut chars = word.chars();
        let Some(first) = chars.next() else { return Self::Lower };
        if word.bytes().all(|b| b.is_ascii_lowercase()) {
            return Self::Lower;
        }
        if first.is_numeric() {
            return Self::Number;
        }
        let (mut upper, mut lower) = (0, 0);
        let has_digit = word.bytes().any(|b| b.is_ascii_digit());
        for c in chars {
            upper += usize::from(c.is_uppercase());
            lower += usize::from(c.is_lowercase());
        }
        match (first.is_uppercase(), upper, lower) {
            (true, 0, 0) if has_digit => Self::Shout,
            (true, 0, _) => Self::Capital,
            (true, _, 0) => Self::Shout,
            (false, 0, _) => Self::Lower,
            // "O'Brien", "Jean-Luc" and "D'Angelo" are capitals like others.
            (true, 1, _) if word.contains(['\'', '’', '-']) => Self::Capital,
            _ => Self::Mixed,
        }
    }
}

/// The separator between two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Spaces only.
    Space,
    Hyphen,
    Comma,
    /// "&" or "/".
    Joint,
    /// An opening bracket or a quotation mark.
    Open,
    /// The end of a sentence, or of a line.
    Stop,
    /// Anything else.
    Other,
}

/// Splits a text into words.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(text.len() / 5 + 1);
    let mut at = 0;
    let mut before = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let is_dot_name = c == '.' && is_dot_net(text, at);
        if !c.is_alphanumeric() && !is_dot_name {
            at += c.len_utf8();
            continue;
        }
        let end = word_end(text, at);
        let gap = gap(text.get(before..at).unwrap_or_default(), tokens.last(), text);
        tokens.push(token(text, at..end, gap));
        at = end;
        before = end;
    }
    tokens
}

fn is_dot_net(text: &str, at: usize) -> bool {
    let starts = text.get(..at).and_then(|before| before.chars().next_back()).is_none_or(char::is_whitespace);
    starts && text.get(at + 1..at + 4).is_some_and(|rest| rest.eq_ignore_ascii_case("net"))
}

/// Endings that make one name with the word before the full stop. Source: own choice, names of frameworks.
const DOT_ENDINGS: [&str; 4] = ["js", "io", "ai", "cpp"];

fn word_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    if let Some(end) = plain_end(rest.as_bytes()) {
        return start + end;
    }
    let starts_capital = rest.chars().next().is_some_and(char::is_uppercase);
    let mut end = start;
    let mut chars = rest.char_indices().peekable();
    let mut letters = 0_usize;
    while let Some((at, c)) = chars.next() {
        if c.is_alphanumeric() || (at == 0 && c == '.') || c == '_' {
            letters += 1;
            end = start + at + c.len_utf8();
            continue;
        }
        if is_mark(c) {
            end = start + at + c.len_utf8();
            continue;
        }
        let next = chars.peek().map(|&(_, next)| next);
        let goes_on = match c {
            '\'' | '’' => next.is_some_and(char::is_alphabetic),
            '-' => next.is_some_and(|n| {
                if starts_capital {
                    n.is_uppercase() || n.is_numeric()
                } else {
                    n.is_lowercase() || n.is_numeric()
                }
            }),
            '&' => letters <= 2 && next.is_some_and(char::is_uppercase),
            '.' => dot_goes_on(rest, at, letters),
            '+' => starts_capital || next == Some('+'),
            '#' => letters == 1 && starts_capital && !next.is_some_and(char::is_alphanumeric),
            _ => false,
        };
        if !goes_on {
            break;
        }
        if c != '+' && c != '#' {
            letters *= usize::from(c != '.');
        }
        end = start + at + c.len_utf8();
    }
    trim_marks(text, start, end)
}

/// Returns the end of most words: ASCII letters and digits before a sign that continues no word.
fn plain_end(rest: &[u8]) -> Option<usize> {
    let end = rest.iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let is_over = |b: &u8| b.is_ascii() && !matches!(b, b'\'' | b'-' | b'&' | b'.' | b'+' | b'#' | b'_');
    (end > 0 && rest.get(end).is_none_or(is_over)).then_some(end)
}

/// Accents that stand apart, and joiners within a word of Indic scripts, belong to the word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{962}'..='\u{963}' | '\u{200c}'..='\u{200d}')
        || matches!(c, '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}')
}

/// A full stop goes on with "U.S.", "J.R.R.", "Node.js" and "3.5".
fn dot_goes_on(rest: &str, at: usize, letters: usize) -> bool {
    let starts_capital = rest.chars().next().is_some_and(char::is_uppercase);
    let after = rest.get(at + 1..).unwrap_or_default();
    let mut chars = after.chars();
    let (next, second) = (chars.next(), chars.next());
    if next.is_some_and(char::is_numeric) {
        return rest.get(..at).and_then(|word| word.chars().next_back()).is_some_and(char::is_numeric);
    }
    if letters == 1 && starts_capital {
        let is_initialism = next.is_some_and(char::is_uppercase) && second.is_none_or(|c| !c.is_lowercase());
        let closes = rest.get(..at).is_some_and(|word| word.contains('.'));
        return is_initialism || closes && !next.is_some_and(char::is_alphanumeric);
    }
    let tail: String = after.chars().take_while(|c| c.is_alphanumeric()).take(4).collect();
    DOT_ENDINGS.contains(&tail.to_ascii_lowercase().as_str())
}

fn trim_marks(text: &str, start: usize, end: usize) -> usize {
    let word = text.get(start..end).unwrap_or_default();
    let trimmed = word.trim_end_matches(['\'', '’', '-', '&', '_']);
    if trimmed.is_empty() { end } else { start + trimmed.len() }
}

fn gap(between: &str, before: Option<&Token<'_>>, text: &str) -> Gap {
    let Some(before) = before else { return Gap::Stop };
    if between == " " {
        return Gap::Space;
    }
    let mut gap = if between.is_empty() { Gap::Other } else { Gap::Space };
    let mut newline = false;
    for (at, c) in between.char_indices() {
        newline |= c == '\n';
        let found = match c {
            '.' if is_abbreviation(before, text) => Gap::Space,
            '.' | '!' | '?' | ';' | ':' | '\n' | '…' | '。' | '！' | '？' | '•' | '|' => Gap::Stop,
            ',' | '、' | '，' => Gap::Comma,
            '-' | '–' | '—' if gap == Gap::Space && between.len() > c.len_utf8() => Gap::Other,
            '-' => Gap::Hyphen,
            '&' | '/' => Gap::Joint,
            '"' | '*' | '_' | '`' if at == 0 => continue,
            '(' | '[' | '"' | '“' | '«' | '„' | '‘' | '*' | '_' | '`' => Gap::Open,
            c if c.is_whitespace() || matches!(c, '\'' | '’') => continue,
            _ => Gap::Other,
        };
        gap = match (gap, found) {
            (Gap::Stop, _) | (_, Gap::Stop) => Gap::Stop,
            (_, found) => found,
        };
    }
    if newline { Gap::Stop } else { gap }
}

/// Source: own choice; titles and saints before a name, and the initials of a person.
const ABBREVIATIONS: [&str; 15] =
    ["st", "dr", "mr", "mrs", "ms", "prof", "mt", "ft", "jr", "sr", "sgt", "capt", "rev", "vs", "no"];

fn is_abbreviation(before: &Token<'_>, text: &str) -> bool {
    let word = text.get(before.span.clone()).unwrap_or_default();
    let is_initial = word.chars().count() == 1 && before.shape == Shape::Capital && word != "I";
    is_initial || before.shape.is_capital() && ABBREVIATIONS.contains(&before.lower.as_ref())
}

fn token(text: &str, span: Range<usize>, gap: Gap) -> Token<'_> {
    let word = text.get(span.clone()).unwrap_or_default();
    let bare = without_possessive(word);
    let is_possessive = bare.len() < word.len();
    let lower = lower(bare);
    // The Turkish i without a dot has no accent to lose, but lists write it with one.
    let fold = || if lower.contains('ı') { fold(&lower).replace('ı', "i") } else { fold(&lower) };
    let folded = (!lower.is_ascii()).then(fold).filter(|folded| folded.as_str() != lower);
    Token {
        span: span.start..span.start + bare.len(),
        folded,
        shape: Shape::of(bare),
        gap,
        is_initial: matches!(gap, Gap::Stop | Gap::Open),
        is_possessive,
        lower,
    }
}

/// Possessive endings.
pub(crate) const POSSESSIVES: [&str; 4] = ["'s", "’s", "'S", "’S"];

fn without_possessive(word: &str) -> &str {
    if !word.ends_with(['s', 'S']) {
        return word;
    }
    let bare = POSSESSIVES.iter().find_map(|ending| word.strip_suffix(ending));
    bare.filter(|bare| !bare.is_empty()).unwrap_or(word)
}

/// In lower case, with `'` for every apostrophe.
pub(crate) fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return Cow::Borrowed(word);
    }
    if word.is_ascii() {
        return Cow::Owned(word.to_ascii_lowercase());
    }
    Cow::Owned(word.replace('’', "'").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_what_belongs_to_a_name() {
        let check = |text: &str| {
            tokens(text)
                .iter()
                .map(|token| text.get(token.span.clone()).unwrap().to_owned())
                .collect::<Vec<_>>()
                .join("|")
        };
        assert_eq!(check("We use C++, C# and Node.js at AT&T."), "We|use|C++|C#|and|Node.js|at|AT&T");
        assert_eq!(check("J.R.R. Tolkien left the U.S. early."), "J.R.R.|Tolkien|left|the|U.S.|early");
        assert_eq!(check("Jean-Luc's Berlin-based ex-boss."), "Jean-Luc|Berlin|based|ex-boss");
        assert_eq!(check("He left.Then (Anna’s) dog"), "He|left|Then|Anna|dog");
        assert_eq!(check("3.5 km of .NET and Disney+"), "3.5|km|of|.NET|and|Disney+");
    }

    #[test]
    fn gaps_say_where_sentences_begin() {
        let text = "Dr. Weber met J. Smith. They left, \"Great\" he said - bye\nNow";
        let initial: Vec<_> = tokens(text)
            .iter()
            .filter(|token| token.is_initial)
            .map(|token| text.get(token.span.clone()).unwrap())
            .collect();
        assert_eq!(initial, ["Dr", "They", "Great", "Now"]);
    }
}
