//! Marks of a turn for ranking, read in one pass over its bytes.

use crate::word::without_closing_marks;

/// Surface marks of a turn; four bits, stored with the turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marks(u8);

impl Marks {
    const QUESTION: u8 = 1;
    const TIME: u8 = 2;
    const NUMBER: u8 = 4;
    const GREETING: u8 = 8;

    /// Returns the bits: 1 question, 2 time expression, 4 number, 8 greeting; their meaning never changes.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Returns the marks of stored bits; unknown bits are dropped.
    pub fn from_bits(bits: u8) -> Self {
        Marks(bits & 15)
    }

    /// Whether its last sentence is a question.
    pub fn is_question(self) -> bool {
        self.0 & Self::QUESTION != 0
    }

    /// Whether it mentions a time: a month, a weekday, a date, an hour, "yesterday", "last week", "two days ago".
    pub fn has_time_expression(self) -> bool {
        self.0 & Self::TIME != 0
    }

    /// Whether it has a digit, or a spelled-out number from two up.
    pub fn has_number(self) -> bool {
        self.0 & Self::NUMBER != 0
    }

    /// Whether it is short and begins with a greeting, a farewell or thanks.
    pub fn is_greeting(self) -> bool {
        self.0 & Self::GREETING != 0
    }
}

/// Source: own choice; a longer turn that begins with "hi" says more than "hi".
const GREETING_WORDS: usize = 12;

/// Returns the marks of a turn. English words; dates and question marks of every script.
///
/// One pass without allocation, about 1 µs per 150 bytes.
#[must_use]
pub fn turn_marks(text: &str) -> Marks {
    let mut turn = Turn::default();
    let mut start = None;
    for (at, byte) in text.bytes().enumerate() {
        let is_word = byte.is_ascii_alphanumeric() || byte >= 0x80 || byte == b'\'';
        match (start, is_word) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                turn.word(text, from, at);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        turn.word(text, from, text.len());
    }
    turn.marks(text)
}

/// What a word is to the words around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Other,
    /// A number of so many digits, or in words (0).
    Number(usize),
    /// "last", "next", "this", "every".
    Relative,
    /// "in", "at", "since" and their like.
    Preposition,
    /// "may" and "march": months only beside a number or after a preposition.
    MaybeMonth,
    Greeting,
    /// "good", "see", "take", "thank".
    HalfGreeting,
    QuestionWord,
    Auxiliary,
    Pronoun,
}

#[derive(Default)]
struct Turn {
    bits: u8,
    words: usize,
    last: Kind,
    last_end: usize,
    first: [Kind; 2],
    is_greeting: bool,
}

impl Turn {
    fn word(&mut self, text: &str, start: usize, end: usize) {
        let bytes = text.as_bytes().get(start..end).unwrap_or_default();
        let mut buffer = [0; 16];
        let word = small(bytes, &mut buffer);
        let kind = self.classify(text, word, start);
        if let Some(place) = self.first.get_mut(self.words) {
            *place = kind;
        }
        if self.words == 1 && self.last == Kind::HalfGreeting {
            self.is_greeting |= matches!(
                word,
                b"morning" | b"evening" | b"afternoon" | b"night" | b"to" | b"you" | b"ya" | b"care" | b"day"
            );
        }
        self.is_greeting |= self.words == 0 && kind == Kind::Greeting;
        self.last = kind;
        self.last_end = end;
        self.words += 1;
    }

    fn classify(&mut self, text: &str, word: &[u8], start: usize) -> Kind {
        let is_capital = text.as_bytes().get(start).is_some_and(u8::is_ascii_uppercase);
        if word.iter().any(u8::is_ascii_digit) {
            return self.number(text, word, start);
        }
        let is_after_number = matches!(self.last, Kind::Number(_));
        let is_after = |kind: Kind| self.last == kind;
        match word {
            b"yesterday" | b"today" | b"tomorrow" | b"tonight" | b"ago" | b"recently" | b"lately"
            | b"midnight" | b"noon" | b"christmas" | b"easter" | b"halloween" | b"thanksgiving"
            | b"fortnight" | b"weekend" | b"nowadays" | b"january" | b"february" | b"april" | b"june"
            | b"july" | b"august" | b"september" | b"october" | b"november" | b"december" | b"monday"
            | b"tuesday" | b"wednesday" | b"thursday" | b"friday" | b"saturday" | b"sunday" | b"mondays"
            | b"tuesdays" | b"wednesdays" | b"thursdays" | b"fridays" | b"saturdays" | b"sundays"
            | b"weekends" | b"o'clock" => self.time(),
            b"jan" | b"feb" | b"mar" | b"apr" | b"jun" | b"jul" | b"aug" | b"sep" | b"sept" | b"oct"
            | b"nov" | b"dec" | b"mon" | b"tue" | b"tues" | b"wed" | b"thu" | b"thurs" | b"fri"
                if is_capital && (is_after_number || next_is_digit(text, self, start, word.len())) =>
            {
                self.time()
            }
            b"may" | b"march"
                if is_capital
                    && (is_after_number || is_after(Kind::Preposition) || is_after(Kind::Relative)) =>
            {
                self.time()
            }
            b"may" | b"march" if is_capital => Kind::MaybeMonth,
            b"second" | b"minute" | b"minutes" | b"hour" | b"hours" | b"day" | b"days" | b"week"
            | b"weeks" | b"month" | b"months" | b"year" | b"years" | b"decade" | b"decades" | b"night"
            | b"nights" | b"morning" | b"mornings" | b"evening" | b"afternoon" | b"summer" | b"winter"
            | b"spring" | b"autumn" | b"fall" | b"semester" | b"quarter" | b"century"
                if is_after_number || is_after(Kind::Relative) =>
            {
                self.time()
            }
            b"pm" | b"am" | b"bc" | b"ad" if is_after_number => self.time(),
            b"last" | b"next" | b"this" | b"past" | b"previous" | b"coming" | b"every" | b"each"
            | b"other" | b"few" | b"several" => Kind::Relative,
            b"in" | b"at" | b"since" | b"until" | b"till" | b"by" | b"from" | b"around" | b"on"
            | b"during" | b"before" | b"after" | b"of" => Kind::Preposition,
            b"two" | b"three" | b"four" | b"five" | b"six" | b"seven" | b"eight" | b"nine" | b"ten"
            | b"eleven" | b"twelve" | b"fifteen" | b"twenty" | b"thirty" | b"forty" | b"fifty"
            | b"hundred" | b"thousand" | b"million" | b"dozen" => {
                self.bits |= Marks::NUMBER;
                Kind::Number(0)
            }
            _ => small_word(word),
        }
    }

    fn time(&mut self) -> Kind {
        self.bits |= Marks::TIME;
        Kind::Other
    }

    /// A word with digits: a year, an hour, a date, or any number.
    fn number(&mut self, text: &str, word: &[u8], start: usize) -> Kind {
        self.bits |= Marks::NUMBER;
        let digits = word.iter().take_while(|b| b.is_ascii_digit()).count();
        let tail = word.get(digits..).unwrap_or_default();
        let rest = text.as_bytes().get(start + digits..).unwrap_or_default();
        let is_date = |separator: u8| {
            let parts = date_parts(rest, separator);
            parts == DateParts::Three && digits <= 4 || parts == DateParts::Two && digits == 4
        };
        let is_year = digits == 4 && tail.is_empty() && matches!(word, [b'1', b'9', ..] | [b'2', b'0', ..]);
        let is_bounded = !matches!(rest.first(), Some(b'.' | b',' | b'-' | b'%'))
            || rest.get(1).is_none_or(|b| !b.is_ascii_digit());
        let is_money =
            start > 0 && matches!(text.as_bytes().get(start - 1), Some(b'$' | b'.' | b'-' | b'#' | b'_'));
        let is_hour = digits <= 2
            && (matches!(rest, [b':', b'0'..=b'5', b'0'..=b'9', ..]) || matches!(tail, b"am" | b"pm" | b"h"))
            && rest.get(3).is_none_or(|b| !b.is_ascii_digit());
        let is_ordinal = digits <= 2 && digits > 0 && matches!(tail, b"st" | b"nd" | b"rd" | b"th");
        let is_decade = digits >= 2 && matches!(tail, b"s" | b"'s");
        let is_eastern =
            digits > 0 && ["年", "月", "日", "년", "월"].iter().any(|unit| rest.starts_with(unit.as_bytes()));
        let is_month_day = self.last == Kind::MaybeMonth && digits <= 4;
        if (is_year && is_bounded && !is_money)
            || is_hour
            || is_ordinal
            || is_decade
            || is_eastern
            || is_month_day
            || is_date(b'-')
            || is_date(b'/')
            || is_date(b'.')
        {
            self.time();
        }
        Kind::Number(digits)
    }

    fn marks(self, text: &str) -> Marks {
        let mut bits = self.bits;
        let end = without_closing_marks(text);
        let is_asked = end.ends_with(['?', '？', '؟']);
        let is_inverted =
            matches!(self.first, [Kind::QuestionWord, Kind::Auxiliary] | [Kind::Auxiliary, Kind::Pronoun]);
        let is_open =
            !end.ends_with(['.', ':', ';', '。']) && !text.trim_end().ends_with('!') && self.words <= 30;
        if is_asked || (is_inverted && is_open) {
            bits |= Marks::QUESTION;
        }
        if self.is_greeting && self.words <= GREETING_WORDS {
            bits |= Marks::GREETING;
        }
        Marks(bits)
    }
}

/// Copies a word in lower case; a longer word than the buffer is no word of a table.
fn small<'b>(bytes: &[u8], buffer: &'b mut [u8; 16]) -> &'b [u8] {
    let len = if bytes.len() > buffer.len() {
        bytes.iter().take_while(|b| b.is_ascii_digit()).count().min(16)
    } else {
        bytes.len()
    };
    for (to, from) in buffer.iter_mut().zip(bytes.iter().take(len)) {
        *to = from.to_ascii_lowercase();
    }
    buffer.get(..len).unwrap_or_default()
}

fn small_word(word: &[u8]) -> Kind {
    match word {
        b"hi" | b"hey" | b"hello" | b"hiya" | b"yo" | b"bye" | b"goodbye" | b"thanks" | b"thx"
        | b"cheers" | b"welcome" | b"howdy" | b"greetings" | b"ciao" | b"congrats" => Kind::Greeting,
        b"good" | b"see" | b"take" | b"thank" | b"talk" | b"nice" => Kind::HalfGreeting,
        b"what" | b"who" | b"where" | b"when" | b"why" | b"how" | b"which" | b"whose" => Kind::QuestionWord,
        b"is" | b"are" | b"was" | b"were" | b"do" | b"does" | b"did" | b"have" | b"has" | b"had" | b"can"
        | b"could" | b"will" | b"would" | b"should" | b"am" => Kind::Auxiliary,
        b"i" | b"you" | b"he" | b"she" | b"it" | b"we" | b"they" | b"there" | b"my" | b"your" | b"this"
        | b"that" | b"the" => Kind::Pronoun,
        _ => Kind::Other,
    }
}

fn next_is_digit(text: &str, turn: &Turn, start: usize, len: usize) -> bool {
    let rest = text.as_bytes().get(start + len..).unwrap_or_default();
    turn.last_end <= start
        && rest.iter().take(3).find(|b| !matches!(b, b' ' | b'.')).is_some_and(u8::is_ascii_digit)
}

/// What follows the first number of something that may be a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DateParts {
    /// No second part, or one that no date has.
    None,
    /// `-05`.
    Two,
    /// `-05-12`, `/5/2023`.
    Three,
}

fn date_parts(rest: &[u8], separator: u8) -> DateParts {
    let part = |rest: &[u8]| {
        let digits = rest.iter().skip(1).take(5).take_while(|b| b.is_ascii_digit()).count();
        (rest.first() == Some(&separator) && (1..=4).contains(&digits)).then_some(digits)
    };
    let Some(second) = part(rest).filter(|digits| *digits <= 2) else { return DateParts::None };
    match rest.get(second + 1..).and_then(part) {
        Some(2 | 4) => DateParts::Three,
        None if separator == b'-' && second == 2 => DateParts::Two,
        _ => DateParts::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_expressions_are_marked() {
        for text in [
            "I saw her yesterday.",
            "We met last week",
            "two days ago",
            "in 2021",
            "at 5 pm",
            "5pm works",
            "It is 17:30.",
            "on 2023-05-08",
            "on 12/05/2023",
            "by March 3",
            "in May",
            "Every Friday",
            "the 21st",
            "back in the 90s",
            "for three years",
            "Sep 4",
            "4 Sep",
            "2023年5月",
            "this weekend",
            "next summer",
            "May 7, 2023",
            "8.5.2023",
        ] {
            assert!(turn_marks(text).has_time_expression(), "{text}");
        }
        for text in [
            "I like dogs.",
            "I may go.",
            "They march on.",
            "Room 12",
            "it costs $2021",
            "version 1.2.3.4",
            "8/10 would buy",
            "Sun is out",
            "3.5 kg",
            "a score of 3-1",
            "call 555-1234",
        ] {
            assert!(!turn_marks(text).has_time_expression(), "{text}");
        }
    }

    #[test]
    fn questions_numbers_and_greetings_are_marked() {
        assert!(turn_marks("I am fine. And you?").is_question());
        assert!(turn_marks("where is it").is_question() && turn_marks("did you go 😀").is_question());
        assert!(turn_marks("你好吗？").is_question());
        assert!(!turn_marks("Did you see https://x.io/?a=b and more. I did.").is_question());
        assert!(turn_marks("I have two dogs").has_number() && turn_marks("I have 2").has_number());
        assert!(!turn_marks("I have one of them").has_number());
        assert!(
            turn_marks("Hey Mel! Good to see you!").is_greeting() && turn_marks("Good morning").is_greeting()
        );
        assert!(
            !turn_marks("Hey Mel, I moved to Lisbon with my sister and her two dogs last week.")
                .is_greeting()
        );
        assert_eq!(turn_marks(""), Marks::default());
        let marks = turn_marks("See you at 5 pm?");
        assert_eq!(Marks::from_bits(marks.bits()), marks);
    }
}
