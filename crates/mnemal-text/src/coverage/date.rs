//! Dates in a text, in words and in numbers.

use super::piece::is_of_word;

/// Month names in their folded forms and cases, January first. Source: the calendars of the languages; short forms only where
/// English or German writes them.
const MONTHS: [&str; 12] = [
    "january jan januar janvier enero janeiro gennaio januari января январь январе يناير जनवरी ocak",
    "february feb februar fevrier febrero fevereiro febbraio februari февраля февраль феврале فبراير शباط फरवरी فبرایر subat",
    "march mar marz mars marzo marco maart марта март марте مارس मार्च mart",
    "april apr avril abril aprile апреля апрель апреле ابريل نيسان अप्रैल nisan",
    "may mai mayo maio maggio mei мая май мае مايو ايار मई mayis",
    "june jun juni juin junio junho giugno июня июнь июне يونيو حزيران जून haziran",
    "july jul juli juillet julio julho luglio июля июль июле يوليو تموز जुलाई temmuz",
    "august aug aout agosto augustus августа август августе اغسطس اب अगस्त agustos",
    "september sep sept septembre septiembre setembro settembre сентября сентябрь сентябре سبتمبر ايلول सितंबर सितम्बर eylul",
    "october oct oktober okt octobre octubre outubro ottobre октября октябрь октябре اكتوبر अक्टूबर अक्तूबर ekim",
    "november nov novembre noviembre novembro ноября ноябрь ноябре نوفمبر नवंबर नवम्बर kasim",
    "december dec dezember dez decembre diciembre dezembro dicembre декабря декабрь декабре ديسمبر दिसंबर दिसम्बर aralik",
];
/// Words between the parts of a date. Source: own choice.
const BETWEEN: [&str; 9] = ["of", "the", "de", "del", "den", "di", "du", "do", "le"];
/// First and last year that four digits are read as. Source: own choice; what is said of the past and plans of people.
const YEARS: std::ops::RangeInclusive<u32> = 1500..=2199;

/// A date, as far as it is specified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Date {
    year: Option<u32>,
    month: u32,
    day: Option<u32>,
    /// The words that it consists of, as pieces have them.
    pub(super) words: Vec<String>,
}

impl Date {
    /// Whether another date includes this one.
    pub(super) fn is(&self, other: &Self) -> bool {
        let agrees = |own: Option<u32>, other: Option<u32>| own.is_none() || own == other;
        self.month == other.month && agrees(self.day, other.day) && agrees(self.year, other.year)
    }
}

#[derive(Clone, Copy, Debug)]
enum DateToken<'t> {
    Number(&'t str),
    Word(&'t str),
    Sign(char),
}

/// Returns the dates of a plain text: a month with its day or its year. Numbers that may be read in two ways are both.
pub(super) fn dates(text: &str) -> Vec<Date> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let rest = tokens.get(at..).unwrap_or_default();
        in_numbers(tokens.get(..at).unwrap_or_default(), rest, &mut found);
        found.extend(in_characters(rest));
        found.extend(in_words(&tokens, at));
    }
    found
}

fn tokens(text: &str) -> Vec<DateToken<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_alike = |letter: char| match first {
            _ if first.is_ascii_digit() => letter.is_ascii_digit(),
            _ => is_of_word(letter) && !letter.is_ascii_digit(),
        };
        let end = rest.find(|letter| !is_alike(letter)).unwrap_or(rest.len());
        let (run, behind) = rest.split_at_checked(end.max(first.len_utf8())).unwrap_or((rest, ""));
        tokens.push(match first {
            _ if first.is_ascii_digit() => DateToken::Number(run),
            _ if is_of_word(first) => DateToken::Word(run),
            sign => DateToken::Sign(sign),
        });
        rest = behind;
    }
    tokens
}

fn year(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|year| digits.len() == 4 && YEARS.contains(year))
}

fn day(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|day| digits.len() <= 2 && (1..=31).contains(day))
}

fn month(digits: &str) -> Option<u32> {
    day(digits).filter(|month| *month <= 12)
}

/// `2026-05-12`, `2026-05`, `12.5.2026`, `12.5.`, `5/12/2026`.
fn in_numbers(before: &[DateToken<'_>], rest: &[DateToken<'_>], found: &mut Vec<Date>) {
    if matches!(before, [.., DateToken::Number(_), DateToken::Sign('.' | '-' | '/' | ':')]) {
        return;
    }
    match rest {
        [
            DateToken::Number(a),
            DateToken::Sign(sign @ ('-' | '.' | '/')),
            DateToken::Number(b),
            DateToken::Sign(other),
            DateToken::Number(c),
            ..,
        ] if sign == other => {
            let words = vec![format!("{a}{sign}{b}{sign}{c}")];
            let mut add = |year: Option<u32>, month: Option<u32>, day: Option<u32>| {
                if let (Some(year), Some(month), Some(day)) = (year, month, day) {
                    found.push(Date { year: Some(year), month, day: Some(day), words: words.clone() });
                }
            };
            add(year(a), month(b), day(c));
            add(year(c), month(b), day(a));
            if *sign != '.' && a != b {
                add(year(c), month(a), day(b));
            }
        }
        [DateToken::Number(a), DateToken::Sign('-'), DateToken::Number(b), ..] if b.len() == 2 => {
            if let (Some(year), Some(month)) = (year(a), month(b)) {
                found.push(Date { year: Some(year), month, day: None, words: vec![format!("{a}-{b}")] });
            }
        }
        [DateToken::Number(a), DateToken::Sign('.'), DateToken::Number(b), DateToken::Sign('.'), ..] => {
            if let (Some(day), Some(month)) = (day(a), month(b)) {
                found.push(Date { year: None, month, day: Some(day), words: vec![format!("{a}.{b}")] });
            }
        }
        _ => {}
    }
}

/// `2026年3月14日`, `3월 14일`.
fn in_characters(rest: &[DateToken<'_>]) -> Option<Date> {
    let mut parts = rest.iter().filter(|token| !matches!(token, DateToken::Sign(' ')));
    let mut words = Vec::new();
    let mut next = |signs: [char; 2]| {
        let mut ahead = parts.clone();
        let (DateToken::Number(digits), DateToken::Word(word)) = (ahead.next()?, ahead.next()?) else {
            return None;
        };
        let is_sign = word.starts_with(signs);
        is_sign.then(|| {
            parts = ahead;
            words.push((*digits).to_owned());
            *digits
        })
    };
    let year = next(['年', '년']).map(year);
    let month = month(next(['月', '월'])?)?;
    let day = next(['日', '일']).and_then(day);
    (year.is_some() || day.is_some()).then_some(Date { year: year.flatten(), month, day, words })
}

/// `12 May 2026`, `May 12, 2026`, `12 de mayo`, `14 марта`: a month by name with what is beside it.
fn in_words(tokens: &[DateToken<'_>], at: usize) -> Option<Date> {
    let Some(DateToken::Word(name)) = tokens.get(at) else { return None };
    let place = MONTHS.iter().position(|names| names.split(' ').any(|one| one == *name))?;
    let is_between = |token: &&DateToken<'_>| match token {
        DateToken::Sign(sign) => matches!(sign, ' ' | ',' | '.'),
        DateToken::Word(word) => BETWEEN.contains(word),
        DateToken::Number(_) => false,
    };
    let mut words = vec![(*name).to_owned()];
    let mut before = tokens.get(..at).unwrap_or_default().iter().rev().skip_while(is_between);
    let mut after = tokens.get(at + 1..).unwrap_or_default().iter().skip_while(is_between).peekable();
    let mut number = |token: Option<&DateToken<'_>>, read: fn(&str) -> Option<u32>| {
        let Some(DateToken::Number(digits)) = token else { return None };
        read(digits).inspect(|_| words.push((*digits).to_owned()))
    };
    let first = before.next();
    let mut on = number(first, day);
    let mut of = number(first, year);
    let is_clock = {
        let mut ahead = after.clone().skip(1);
        matches!((ahead.next(), ahead.next()), (Some(DateToken::Sign(':')), Some(DateToken::Number(_))))
    };
    if on.is_none() && !is_clock {
        on = number(after.peek().copied(), day);
        if on.is_some() {
            after.next();
            while after.next_if(is_between).is_some() {}
        }
    }
    of = of.or_else(|| number(after.peek().copied(), year));
    let month = u32::try_from(place + 1).ok()?;
    (on.is_some() || of.is_some()).then_some(Date { year: of, month, day: on, words })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::plain::plain;

    fn check(text: &str, expect: &str) {
        let show = |date: &Date| {
            let part = |part: Option<u32>| part.map_or("?".to_owned(), |part| part.to_string());
            format!("{}-{}-{} {}", part(date.year), date.month, part(date.day), date.words.join(" "))
        };
        let found: Vec<String> = dates(&plain(text)).iter().map(show).collect();
        assert_eq!(found.join("; "), expect, "{text}");
    }

    #[test]
    fn a_date_is_read_in_words_and_in_numbers() {
        check("on 2026-05-12 at 14:30", "2026-5-12 2026-05-12");
        check("the 12th of May, 2026", "2026-5-12 may 12 2026");
        check("May 12 at noon", "?-5-12 may 12");
        check("in May 2026", "2026-5-? may 2026");
        check("am 12.5. um 8", "?-5-12 12.5");
        check("am 12. Mai 2026", "2026-5-12 mai 12 2026");
        check("5/12/2026", "2026-12-5 5/12/2026; 2026-5-12 5/12/2026");
        check("14 марта 2026 г.", "2026-3-14 марта 14 2026");
        check("2026年3月14日开始", "2026-3-14 2026 3 14; ?-3-14 3 14");
        check("3월 14일에", "?-3-14 3 14");
        check("١٤ مايو", "?-5-14 مايو 14");
        check("१४ मई २०२६", "2026-5-14 मई 14 2026");
        check("we may go, in march 8:30", "");
        check("version 1.2.3", "");
    }

    #[test]
    fn a_date_is_another_that_says_as_much() {
        let one = |text: &str| dates(text).into_iter().next();
        let rows = [
            ("12 may", "2026-05-12", true),
            ("12 may 2026", "12 may", false),
            ("12 may 2026", "2025-05-12", false),
            ("12 may", "13 may", false),
            ("may 2026", "12.5.2026", true),
        ];
        for (text, other, expect) in rows {
            let is = one(text).zip(one(other)).is_some_and(|(one, other)| one.is(&other));
            assert_eq!(is, expect, "{text}: {other}");
        }
    }
}
