//! Sentence segmentation with byte ranges.

mod abbreviation;

use std::ops::Range;

/// A hard-wrapped line is at least this long, in bytes; a shorter line that ends without a full stop is a line of its own.
///
/// Source: own choice, below the usual widths of 65 to 80 columns.
const WRAPPED_LINE: usize = 55;

/// The byte range of one sentence, without the surrounding white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sentence {
    /// First byte in the text.
    pub start: usize,
    /// One past the last byte in the text.
    pub end: usize,
}

impl Sentence {
    /// Returns the bytes as a range.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns the words of the sentence, given the text it was found in.
    pub fn of<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range()).unwrap_or_default()
    }
}

/// Returns the sentences of `text` in order.
///
/// Every byte that is not white space lies in exactly one sentence.
/// A sentence ends at `.`, `!`, `?` and their equivalents in other scripts, with the quotes, brackets and emoji after them; at
/// the end of a line, unless the next line continues in lower case after a long one; and after emoji before a capital. It does
/// not end at abbreviations (`Dr.`, `z. B.`), initials, ordinals before a month, numbers, names with dots, list markers, or an
/// ellipsis before a lower-case letter.
pub fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut start = 0;
    for end in ends(text) {
        push_trimmed(text, start..end, &mut found);
        start = end;
    }
    push_trimmed(text, start..text.len(), &mut found);
    found
}

fn push_trimmed(text: &str, range: Range<usize>, found: &mut Vec<Sentence>) {
    let raw = text.get(range.clone()).unwrap_or_default();
    let body = raw.trim_start();
    let start = range.start + raw.len() - body.len();
    let end = start + body.trim_end().len();
    if start < end {
        found.push(Sentence { start, end });
    }
}

/// The places where one sentence ends, ascending.
fn ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let line_end = line_start + line.len();
        let mut from = 0;
        while let Some(at) = next_mark(line, from) {
            let stop = ClosingMarks::read(line, at);
            from = stop.end;
            if stop.ends_sentence(line) {
                ends.push(line_start + stop.end);
            }
        }
        if !goes_on(line, text.get(line_end..).unwrap_or_default()) {
            ends.push(line_end);
        }
        line_start = line_end;
    }
    ends
}

/// The next mark that may end a sentence, from a place on.
fn next_mark(line: &str, mut at: usize) -> Option<usize> {
    let may_be = |byte: &u8| matches!(byte, b'.' | b'!' | b'?') || !byte.is_ascii();
    loop {
        at += line.as_bytes().get(at..)?.iter().position(may_be)?;
        let mark = line.get(at..)?.chars().next()?;
        if is_terminal(mark) || is_emoji(mark) {
            return Some(at);
        }
        at += mark.len_utf8();
    }
}

/// Returns whether a sentence runs over the end of a hard-wrapped line.
fn goes_on(line: &str, rest: &str) -> bool {
    let body = line.trim_end();
    body.len() >= WRAPPED_LINE
        && !body.ends_with(|last: char| is_terminal(last) || last == ':')
        && rest.starts_with(char::is_lowercase)
}

/// A run of closing marks and what surrounds it.
struct ClosingMarks {
    /// Where the run begins in the line.
    start: usize,
    /// Where it ends, with quotes, brackets and emoji.
    end: usize,
    /// The first mark of the run.
    mark: char,
    /// Whether the marks are an ellipsis.
    ellipsis: bool,
    /// Whether a quote or bracket was closed behind the marks.
    closed: bool,
}

impl ClosingMarks {
    fn read(line: &str, start: usize) -> Self {
        let rest = line.get(start..).unwrap_or_default();
        let mark = rest.chars().next().unwrap_or('.');
        let marks_end = rest.find(|next: char| !is_terminal(next)).unwrap_or(rest.len());
        let marks = rest.get(..marks_end).unwrap_or_default();
        let behind = rest.get(marks_end..).unwrap_or_default();
        let tail = behind.trim_start_matches(is_closing);
        let closed = tail.len() < behind.len();
        let mut end = rest.len() - tail.len();
        let emoji = tail.trim_start_matches(' ');
        if emoji.starts_with(is_emoji) {
            let after = emoji.trim_start_matches(|next: char| is_emoji(next) || next == ' ');
            let run = rest.get(..rest.len() - after.len()).unwrap_or_default();
            end = run.trim_end_matches(' ').len();
        }
        let ellipsis = marks.contains('…') || marks.starts_with("..");
        Self { start, end: start + end, mark, ellipsis, closed }
    }

    fn ends_sentence(&self, line: &str) -> bool {
        let before = line.get(..self.start).unwrap_or_default();
        let behind = line.get(self.end..).unwrap_or_default();
        let next = behind.trim_start();
        if next.is_empty() {
            return true;
        }
        if is_wide(self.mark) {
            return !next.starts_with(['、', '，', 'と']);
        }
        let spaced = behind.len() > next.len();
        if is_emoji(self.mark) {
            return spaced && next.starts_with(char::is_uppercase);
        }
        if !spaced {
            return false;
        }
        let small = next.starts_with(char::is_lowercase);
        if self.ellipsis || self.closed {
            return !small && !next.starts_with("I ") && !next.starts_with("I'");
        }
        self.mark != '.' || !abbreviation::holds(before, next)
    }
}

fn is_terminal(mark: char) -> bool {
    matches!(mark, '.' | '!' | '?' | '…' | '؟' | '۔' | '।' | '॥' | '։' | '።' | '‼' | '⁇' | '⁈' | '⁉')
        || is_wide(mark)
}

/// Marks of scripts that put no space behind them.
fn is_wide(mark: char) -> bool {
    matches!(mark, '。' | '！' | '？' | '｡')
}

fn is_closing(mark: char) -> bool {
    matches!(
        mark,
        '"' | '\''
            | ')'
            | ']'
            | '}'
            | '”'
            | '’'
            | '»'
            | '›'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '*'
            | '_'
    )
}

/// Emoji and what they are composed with.
fn is_emoji(mark: char) -> bool {
    matches!(u32::from(mark), 0x1F000..=0x1FAFF | 0x2600..=0x27BF | 0x2B00..=0x2BFF | 0xFE0F | 0x200D | 0xE0020..=0xE007F)
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `|` is between sentences in the expectation.
    fn check(text: &str, expect: &str) {
        let found: Vec<&str> = sentences(text).iter().map(|sentence| sentence.of(text)).collect();
        assert_eq!(found.join("|"), expect, "{text}");
    }

    #[test]
    fn sentences_end_at_full_stops_and_their_relatives() {
        check("I went home. Then I slept! Did you?", "I went home.|Then I slept!|Did you?");
        check("i went home. then i slept", "i went home.|then i slept");
        check("She said \"Stop!\" Then she left.", "She said \"Stop!\"|Then she left.");
        check("\"Really?\" he asked.", "\"Really?\" he asked.");
        check("今日は寒い。明日は？たぶん暖かい！", "今日は寒い。|明日は？|たぶん暖かい！");
        check("वह घर गया। फिर वह सो गया।", "वह घर गया।|फिर वह सो गया।");
        check("هل أنت هنا؟ نعم.", "هل أنت هنا؟|نعم.");
        check("What?! No way... Yes.", "What?!|No way...|Yes.");
    }

    #[test]
    fn abbreviations_initials_and_numbers_do_not_end_a_sentence() {
        check("Dr. Smith met J. R. Tolkien, e.g. at 3.5 km.", "Dr. Smith met J. R. Tolkien, e.g. at 3.5 km.");
        check("Use foo.bar or v1.2. Then x.io.", "Use foo.bar or v1.2.|Then x.io.");
        check("Am 3. Mai war z. B. Prof. Ott da. Schön.", "Am 3. Mai war z. B. Prof. Ott da.|Schön.");
        check(
            "We sell nuts, etc. in bags. We met at 5 p.m. on Monday.",
            "We sell nuts, etc. in bags.|We met at 5 p.m. on Monday.",
        );
        check("Bring milk, eggs, etc. Then cook.", "Bring milk, eggs, etc.|Then cook.");
        check("It was 1990. Then came 1991.", "It was 1990.|Then came 1991.");
        check("So did I. Then he left.", "So did I.|Then he left.");
    }

    #[test]
    fn an_ellipsis_ends_a_sentence_only_before_a_capital() {
        check("Well... maybe not. Hm… I see. Wait… What?", "Well... maybe not.|Hm… I see.|Wait…|What?");
    }

    #[test]
    fn lines_and_list_items_end_sentences() {
        check(
            "Shopping\n- milk\n- two eggs. Large.\n1. bake\n2) eat",
            "Shopping|- milk|- two eggs.|Large.|1. bake|2) eat",
        );
        check("one\n\ntwo", "one|two");
        let wrapped = "This sentence is wrapped by an editor that breaks lines at a\nfixed width. Next.";
        check(wrapped, &wrapped.replace(". N", ".|N"));
    }

    #[test]
    fn emoji_stay_with_the_sentence_they_follow() {
        check("Great! 😀🎉 Let's go. Love it 👍🏽 See you", "Great! 😀🎉|Let's go.|Love it 👍🏽|See you");
        check("I ❤️ this", "I ❤️ this");
        check("😀", "😀");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn sentences_cover_every_byte_that_is_no_space_once_and_in_order(
            text in prop_oneof![any::<String>(), "[a-cA-C.!?…。 \n\r\t\"')😀❤️\u{200d}1-3-]{0,60}", "(Dr\\.|e\\.g\\.| |I|the|The|3\\.|\n){0,30}"]
        ) {
            let found = sentences(&text);
            let mut last = 0;
            for sentence in &found {
                prop_assert!(text[last..sentence.start].chars().all(char::is_whitespace));
                let body = sentence.of(&text);
                prop_assert!(!body.is_empty() && body.trim() == body);
                last = sentence.end;
            }
            prop_assert!(text[last..].chars().all(char::is_whitespace));
        }
    }
}
