//! Rejection of date readings inside a longer expression whose neighboring words change the meaning.

use mnemal_core::Result;

use super::PackLine;
use super::expr::{Cal, Expr, Kind, Value};
use super::pack::{Meaning, Pack};
use crate::section::Section;

/// Neighboring words that change a date, by their position.
#[derive(Debug, Default)]
pub(super) struct Guards {
    /// In front of a time: "before", "every".
    before: Vec<String>,
    /// Behind a time: "onwards", "o'clock".
    after: Vec<String>,
    /// Behind a time, where an hour follows them: "around 7".
    hour: Vec<String>,
    /// After a current unit: "the week after".
    after_unit: Vec<String>,
    /// In front of a length: "within".
    length_before: Vec<String>,
    /// Behind a length: "ago".
    length_after: Vec<String>,
    /// Between two times, which they make one: "to".
    between: Vec<String>,
    /// First words of a time in front of which a number belongs to it: "of".
    after_number: Vec<String>,
    /// In front of the first of two times, with the word between them: "between" and "and".
    both: [Vec<String>; 2],
    /// Words that may be between such a word and the time: "the".
    skip: Vec<String>,
    /// In front of a time also where a preposition lies between: "later" in "later in June".
    before_in: Vec<String>,
    /// Those prepositions.
    links: Vec<String>,
    /// In front of a time with one end: "shortly" before noon.
    degree: Vec<String>,
    /// In front of a time that a length is counted from or a range begins with: "from".
    from: Vec<String>,
    /// Between two numbers of which one counts: "or".
    counts: Vec<String>,
    /// In front of a length that is meant as a span: "the" in "the two weeks after Easter".
    these: Vec<String>,
    /// In front of a weekday that is none in particular: "a".
    any: Vec<String>,
    /// Parts of a time, in front of "of" and the time: "most".
    share: Vec<String>,
    /// In front of what comes back and is left out: "except".
    except: Vec<String>,
    /// Behind a time that is a part of something unknown: "of".
    of: Vec<String>,
    /// Words that begin with such a word, and say nothing of the time: "of course".
    aside: Vec<String>,
    /// In front of a length that lasts: "for".
    stay: Vec<String>,
    /// Words of a sentence, of which one between two times joins nothing: "is".
    plain: Vec<String>,
}

impl Guards {
    /// Reads the section of a pack, without words that are left out.
    pub(super) fn parse(section: Option<Section<'_>>, without: &[PackLine]) -> Result<Self> {
        let Some(section) = section else { return Ok(Self::default()) };
        let lines = |name: &str| -> Result<Vec<String>> {
            let words = section.lines(name)?.into_iter();
            let stays = |word: &&str| without.iter().all(|out| out.text != *word);
            Ok(words.filter(stays).map(str::to_owned).collect())
        };
        Ok(Self {
            before: lines("before")?,
            after: lines("after")?,
            hour: lines("hour")?,
            after_unit: lines("after_unit")?,
            length_before: lines("length_before")?,
            length_after: lines("length_after")?,
            between: lines("between")?,
            after_number: lines("after_number")?,
            both: [lines("both_before")?, lines("both_between")?],
            skip: lines("skip")?,
            before_in: lines("before_in")?,
            links: lines("links")?,
            degree: lines("degree")?,
            from: lines("from")?,
            counts: lines("counts")?,
            these: lines("these")?,
            any: lines("any")?,
            share: lines("share")?,
            except: lines("except")?,
            of: lines("of")?,
            aside: lines("aside")?,
            stay: lines("stay")?,
            plain: lines("plain")?,
        })
    }

    /// The words before, without an article.
    fn front<'t>(&self, before: &'t str) -> &'t str {
        self.skip.iter().find_map(|skip| without_last(before, skip)).unwrap_or(before)
    }
}

/// A text, cut where a reading begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'t> {
    pub(super) before: &'t str,
    pub(super) own: &'t str,
    pub(super) after: &'t str,
}

impl Pack {
    /// Returns whether a neighbor changes a reading.
    pub(super) fn is_changed(&self, value: &Value, beside: Surroundings<'_>) -> bool {
        let (before, after) = (before_words(beside.before), after_words(beside.after));
        match value {
            Value::Length(_) | Value::Stay(_) => {
                self.is_length_changed(&before, &after) || self.is_one_of_counts(beside)
            }
            Value::Recurring => self.guards.except.iter().any(|word| ends_with(&before, word)),
            Value::Time(kind, expr) => {
                self.has_guard(*kind, &before, beside.own, &after)
                    || self.has_far_guard(&before)
                    || self.is_open_changed(*kind, expr, beside.own, &before)
                    || self.is_counted_wrong(expr, beside, &before)
                    || self.is_any_of_many(expr, beside.own, &before)
                    || self.has_date_word_beside(*kind, beside)
                    || is_now(expr) && self.guards.after_unit.iter().any(|word| starts_with(&after, word))
                    || self.is_cut_off(*kind, &before, beside, &after)
            }
            _ => false,
        }
    }

    fn is_length_changed(&self, before: &str, after: &str) -> bool {
        let guards = &self.guards;
        let front = guards.front(before);
        guards.length_before.iter().any(|word| ends_with(front, word))
            || guards.length_after.iter().any(|word| starts_with(after, word))
            || self.means(last_word(front), |of| matches!(of, Meaning::Number(_)))
            || self.is_half_of_pair(front)
            || is_compared(front)
    }

    /// "Later in | June", "the same day | next week": a word that changes the time, with a preposition or a unit between.
    fn has_far_guard(&self, before: &str) -> bool {
        let guards = &self.guards;
        let ends = |text: &str, words: &[String]| words.iter().any(|word| ends_with(text, word));
        let far = guards.links.iter().find_map(|link| without_last(guards.front(before), link));
        if far.is_some_and(|far| ends(guards.front(far), &guards.before_in)) {
            return true;
        }
        let front = guards.front(before);
        let far = far.map_or(front, |far| guards.front(far));
        let is_unit = self.means(last_word(far), |of| matches!(of, Meaning::Unit(_)));
        let unit = far.strip_suffix(last_word(far)).filter(|_| is_unit).map(str::trim_end);
        unit.is_some_and(|far| {
            let bare = guards.links.iter().find_map(|link| without_last(guards.front(far), link));
            let leads = |far: &str| ends(far, &guards.before_in) || ends(guards.front(far), &guards.before);
            ends(far, &guards.before_in) || bare.is_some_and(leads)
        })
    }

    /// "Two or | three weeks", "4 to | 6 hours", "a week | or two".
    fn is_one_of_counts(&self, beside: Surroundings<'_>) -> bool {
        let guards = &self.guards;
        let (before, after) = (beside.before.to_lowercase(), beside.after.to_lowercase());
        let (before, after) = (before.replace(['-', '–'], " - "), after.replace(['-', '–'], " - "));
        let joins = |word: &str| guards.counts.iter().any(|known| known == word);
        joins(last_word(&before)) && self.is_numeral(second_last_word(&before))
            || joins(first_word(&after)) && self.is_numeral(second_word(&after))
    }

    /// A time counted from another, of which the words before say that it is none: "the | two weeks after Easter".
    fn is_counted_wrong(&self, expr: &Expr, beside: Surroundings<'_>, before: &str) -> bool {
        let guards = &self.guards;
        if let Expr::Shift { base, .. } = expr {
            let is_named = !matches!(**base, Expr::Now | Expr::Soon);
            return self.is_one_of_counts(beside)
                || is_named
                    && (guards.these.iter().any(|word| ends_with(before, word)) || self.is_span(beside.own));
        }
        let ahead = guards.from.iter().find_map(|word| without_last(before, word));
        ahead.is_some_and(|ahead| {
            self.means(last_word(ahead), |of| matches!(of, Meaning::Unit(_) | Meaning::Units(_)))
        })
    }

    /// "The two weeks after Easter".
    fn is_span(&self, own: &str) -> bool {
        let own = own.to_lowercase();
        let is_these = self.guards.these.iter().any(|word| word == first_word(&own));
        is_these && self.means(second_word(&own), |of| matches!(of, Meaning::Number(_) | Meaning::Fuzzy(_)))
    }

    /// "A | Friday in October", "part of | next week".
    fn is_any_of_many(&self, expr: &Expr, own: &str, before: &str) -> bool {
        let guards = &self.guards;
        let begins_with_name =
            self.means(first_word(&own.to_lowercase()), |of| matches!(of, Meaning::Weekday(_)));
        let is_any = begins_with_name && guards.any.iter().any(|word| ends_with(before, word));
        let own_of = guards.of.iter().any(|word| word == first_word(&own.to_lowercase())).then_some(before);
        let of = || guards.of.iter().find_map(|word| without_last(guards.front(before), word));
        let whole = own_of.or_else(of);
        let is_share = whole.is_some_and(|whole| guards.share.iter().any(|word| ends_with(whole, word)));
        is_any || is_share && !matches!(expr, Expr::Now)
    }

    /// "Shortly | before noon", "from | 7 am", "for | two weeks from Monday".
    fn is_open_changed(&self, kind: Kind, expr: &Expr, own: &str, before: &str) -> bool {
        let guards = &self.guards;
        let ends = |words: &[String]| words.iter().any(|word| ends_with(before, word));
        match kind {
            Kind::Open | Kind::ClockOpen => ends(&guards.degree),
            Kind::Clock | Kind::Day | Kind::Period if is_compared(before) => true,
            Kind::Period => self.is_led_from_afar(own, before),
            Kind::Clock => {
                !matches!(expr, Expr::Vague(_)) && ends(&guards.from) || self.is_half_of_pair(before)
            }
            Kind::Moment => self.is_half_of_pair(before),
            _ => {
                let is_counted =
                    matches!(expr, Expr::Shift { base, .. } if !matches!(**base, Expr::Now | Expr::Soon));
                is_counted && (ends(&guards.degree) || ends(&guards.stay))
            }
        }
    }

    /// "Before early | September": a word that changes the time, and one that nobody knows.
    fn is_led_from_afar(&self, own: &str, before: &str) -> bool {
        let first = first_word(own).to_lowercase();
        let is_name = self.means(&first, |of| matches!(of, Meaning::Month(_) | Meaning::Season(_)));
        let (word, led) = (last_word(before), second_last_word(before));
        is_name
            && !self.guards.plain.is_empty()
            && self.word(word).is_none()
            && self.guards.before.iter().any(|known| known == led)
    }

    /// "Between 5 and | 6 pm", "twenty and | four hours".
    fn is_half_of_pair(&self, before: &str) -> bool {
        let guards = &self.guards;
        let ahead = guards.both[1].iter().find_map(|word| without_last(before, word));
        ahead.is_some_and(|ahead| {
            let number = last_word(ahead);
            let front = ahead.strip_suffix(number).unwrap_or_default().trim_end();
            self.is_numeral(number)
                && (guards.both[0].iter().any(|word| ends_with(front, word)) || self.is_tens(number))
        })
    }

    fn is_tens(&self, word: &str) -> bool {
        self.means(word, |of| matches!(of, Meaning::Number(number) if number >= 20 && number % 10 == 0))
    }

    /// A name of a day, a month or a part of the day right beside a time that was not read with it.
    fn has_date_word_beside(&self, kind: Kind, beside: Surroundings<'_>) -> bool {
        let (before, after) = (beside.before.to_lowercase(), beside.after.to_lowercase());
        let is_name = |word: &str| {
            let entries = self.word(word).map_or(&[][..], |word| word.entries.as_slice());
            entries.iter().any(|entry| {
                let is_name = matches!(
                    entry.meaning,
                    Meaning::Month(_) | Meaning::Weekday(_) | Meaning::Weekdays(_) | Meaning::Season(_)
                );
                entry.rest.is_empty() && !entry.is_weak && is_name
            })
        };
        let is_weekday = |word: &str| {
            let small = word.to_lowercase();
            word.starts_with(char::is_uppercase) && self.means(&small, |of| matches!(of, Meaning::Weekday(_)))
        };
        let touches = |text: &str| text.starts_with(' ') || text.starts_with('-');
        let listed = beside.after.strip_prefix(", ").map(first_part);
        before.ends_with([' ', '-']) && is_name(last_part(before.trim_end_matches([' ', '-'])))
            || touches(&after) && is_name(first_part(after.trim_start_matches([' ', '-'])))
            || kind == Kind::Day
                && beside.own.ends_with(|sign: char| sign.is_ascii_digit())
                && listed.is_some_and(is_weekday)
    }

    /// Returns whether a word that changes times precedes or follows it.
    fn has_guard(&self, kind: Kind, before: &str, own: &str, after: &str) -> bool {
        let guards = &self.guards;
        let front = guards.front(before);
        // "End | of April": the last word of a guard may have been read with the time.
        let joined = format!("{before} {}", first_word(&own.to_lowercase()));
        let may_join = matches!(kind, Kind::Day | Kind::Period | Kind::Open);
        let names_part = matches!(kind, Kind::Day | Kind::Period)
            && guards.of.iter().any(|word| starts_with(after, word))
            && !guards.aside.iter().any(|words| starts_with(after, words));
        names_part
            || guards.after.iter().any(|word| starts_with(after, word))
            || guards.before.iter().any(|word| {
                ends_with(before, word)
                    || ends_with(front, word)
                    || may_join && word.contains(' ') && ends_with(&joined, word)
            })
    }

    /// Returns whether a number, an hour, a year or a zone beside a time belongs to it.
    fn is_cut_off(&self, kind: Kind, before: &str, beside: Surroundings<'_>, after: &str) -> bool {
        let (front, own) = (self.guards.front(before), beside.own.to_lowercase());
        let is_day = matches!(kind, Kind::Day | Kind::DayPart);
        is_year(after)
            || kind == Kind::Part && self.is_numeral(last_word(beside.before))
            || kind == Kind::DayPart && has_number_and_comma(beside.before)
            || self.leads_on(&own, after)
            || self.is_second_of_list(&own, front)
            || beside.before.trim_end().ends_with(['<', '>', '=', '≤', '≥'])
            || own.starts_with(char::is_alphabetic) && touches_digits(beside.before)
            || self.lacks_number(&own, front, after)
            || is_day && (self.lacks_hour(front, after) || has_clock_beside(beside))
            || is_day && own.ends_with(|sign: char| sign.is_ascii_digit()) && self.ends_in_number(after, 31)
            || kind == Kind::Day && self.is_numeral(after)
            || is_of_clock(kind) && (is_zone(beside.after) || self.is_zone_word(first_word(after)))
    }

    /// Returns whether two readings with these words between them are parts of one unread expression.
    pub(super) fn is_torn(&self, first: &Value, second: &Value, beside: Surroundings<'_>) -> bool {
        let guards = &self.guards;
        // "The report is due on 12 June now": the word says that it is new, and nothing of the day.
        let is_now = |value: &Value| matches!(value, Value::Time(_, time) if matches!(**time, Expr::Now));
        if is_now(first) || is_now(second) {
            return false;
        }
        let gap = beside.after.trim().to_lowercase();
        if self.is_torn_by_word(first, second, beside, &gap) {
            return true;
        }
        let before = before_words(beside.before);
        let is_pair = guards.both[0].iter().any(|word| ends_with(guards.front(&before), word))
            && guards.both[1].contains(&gap);
        let is_joined = gap.is_empty() || is_pair || guards.between.contains(&gap);
        match (first, second) {
            (Value::Length(_) | Value::Stay(_), Value::Time(kind, expr)) if gap.is_empty() => {
                matches!(kind, Kind::Open | Kind::ClockOpen) || matches!(**expr, Expr::Shift { .. })
            }
            (Value::Length(_), Value::Length(_)) => is_joined,
            (Value::Length(_) | Value::Stay(_), _) | (_, Value::Length(_) | Value::Stay(_)) => false,
            // "Next month at six": the day is unknown, and both are reported.
            (Value::Time(Kind::Period, _), Value::Time(second, _)) if is_of_day(*second) => false,
            (Value::Time(first, _), Value::Time(Kind::Period, _)) if is_of_day(*first) => is_pair,
            (Value::Time(first, _), Value::Time(second, _)) if gap == "," => {
                is_of_day(*first) != is_of_day(*second)
            }
            _ => is_joined,
        }
    }

    /// "Between 22/Jan/2019 and": the first of two ends, of which only a part was read.
    pub(super) fn is_first_of_pair(&self, beside: Surroundings<'_>) -> bool {
        let guards = &self.guards;
        let gap = beside.after.trim().to_lowercase();
        let words = beside.before.to_lowercase();
        let near: Vec<&str> = words.split_whitespace().rev().take(3).collect();
        guards.both[1].contains(&gap)
            && near.iter().any(|word| guards.both[0].iter().any(|known| known == word))
    }

    /// Returns whether one word that is none of a sentence lies between two times that make one: "Saturday | for | 9 am".
    fn is_torn_by_word(&self, first: &Value, second: &Value, beside: Surroundings<'_>, gap: &str) -> bool {
        let guards = &self.guards;
        if guards.plain.is_empty() {
            return false;
        }
        let word = gap.trim_start_matches(',').trim_start();
        let is_word = !word.is_empty() && word.chars().all(|sign| sign.is_ascii_lowercase());
        let before = before_words(beside.before);
        let leads = |text: &str| guards.from.iter().any(|known| known == text);
        match (first, second) {
            (Value::Length(_) | Value::Stay(_), Value::Time(..)) => leads(word),
            (Value::Recurring, Value::Time(..)) => gap == "but",
            (Value::Time(first, _), Value::Length(_)) if guards.hour.iter().any(|word| word == gap) => {
                !is_of_day(*first)
            }
            (Value::Time(..), Value::Length(_) | Value::Stay(_)) => {
                gap.is_empty() && guards.from.iter().any(|word| ends_with(&before, word))
            }
            (Value::Time(..), Value::Time(..)) if matches!(gap, "'s" | "’s") => true,
            (Value::Time(_, a), Value::Time(_, b)) if gap == "," => {
                is_bare_weekday(a) && matches!(**b, Expr::Shift { .. })
            }
            (Value::Time(first, _), Value::Time(second, _)) => {
                let is_plain = |list: &[String]| list.iter().any(|known| known == word);
                is_word
                    && !is_plain(&guards.plain)
                    && !is_plain(&self.list_words)
                    && is_of_day(*first) != is_of_day(*second)
                    && *second != Kind::Period
            }
            _ => false,
        }
    }

    /// "The first and | third Sunday of June".
    fn is_second_of_list(&self, own: &str, before: &str) -> bool {
        let is_ordinal = |word: &str| self.means(word, |of| matches!(of, Meaning::Ordinal(_)));
        let word = last_word(before);
        let is_joined = self.list_words.iter().any(|known| known == word);
        is_joined
            && is_ordinal(first_word(own.trim_start_matches("the ")))
            && is_ordinal(second_last_word(before))
    }

    /// "The week after | next": what ends in a word that leads goes on with one.
    fn leads_on(&self, own: &str, after: &str) -> bool {
        let leads = |word: &str| self.guards.before.iter().any(|known| known == word);
        own.contains(' ') && leads(last_word(own)) && leads(first_word(after))
    }

    /// "4 | of July", "January | twenty", "12 to | 16 September", "1/4 | hour": a number next to a part that takes numbers.
    fn lacks_number(&self, own: &str, before: &str, after: &str) -> bool {
        let guards = &self.guards;
        let joins =
            |word: &str| matches!(word, "-" | "–") || guards.after_number.iter().any(|known| known == word);
        let (first, last) = (first_word(own), last_word(own));
        let ahead = last_word(before.trim_end_matches('-'));
        let behind = first_word(after);
        let is_month = |word: &str| self.means(word, |of| matches!(of, Meaning::Month(_)));
        let is_numbered = own.contains(|sign: char| sign.is_ascii_digit());
        let is_led = |word: &str| {
            self.is_numeral(word)
                || is_month(word) && !is_numbered
                || guards.after_number.iter().any(|known| known == word)
        };
        self.is_numeral(ahead) && is_led(first)
            || joins(ahead) && self.is_numeral(second_last_word(before))
            || self.is_numeral(behind) && (self.means_number(last) || is_month(last))
            || joins(behind) && self.is_numeral(second_word(after))
            || last.ends_with(|sign: char| sign.is_ascii_digit())
                && self.means(behind, |of| matches!(of, Meaning::Unit(_) | Meaning::Units(_)))
    }

    /// "At five | tomorrow", "tonight | around 7", "today | before 4pm".
    fn lacks_hour(&self, before: &str, after: &str) -> bool {
        let leads = |word: &str| self.guards.hour.iter().any(|known| known == word);
        let ahead = before.trim_end_matches('-').replace('-', " ");
        let mut words = ahead.split_whitespace().rev().skip_while(|word| self.is_numeral(word));
        let is_ahead = self.is_numeral(last_word(&ahead)) && words.next().is_some_and(leads);
        is_ahead
            || leads(first_word(after)) && self.is_numeral(second_word(after))
            || self.ends_in_number(after, 12)
    }

    /// "Tonight | around 7", with any word between, where the words end.
    fn ends_in_number(&self, after: &str, most: i8) -> bool {
        let mut words = after.split_whitespace();
        let word = words.next().unwrap_or_default();
        let is_word = !word.is_empty() && word.chars().all(|sign| sign.is_ascii_lowercase());
        let is_number = words.next().is_some_and(|number| {
            number.trim_end_matches('.').parse().is_ok_and(|number: i8| (1..=most).contains(&number))
        });
        is_word && is_number && words.next().is_none() && !self.list_words.iter().any(|known| known == word)
    }

    fn is_zone_word(&self, word: &str) -> bool {
        self.means(word, |of| matches!(of, Meaning::Zone(_)))
    }

    /// Returns whether a word is a number that a day or an hour can have, or an ordinal.
    fn is_numeral(&self, word: &str) -> bool {
        let digits = word.len() - word.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        let rest = word.get(digits..).unwrap_or_default();
        if digits > 0 {
            let is_short = rest.chars().all(|sign| sign.is_alphabetic() || matches!(sign, '.' | 'º' | 'ª'));
            return digits <= 2
                && is_short
                && word.get(..digits).is_some_and(|number| number.parse().is_ok_and(|n: i8| n <= 31));
        }
        self.means(word, |of| {
            matches!(of, Meaning::Ordinal(_)) || matches!(of, Meaning::Number(number) if number <= 100)
        })
    }

    fn means_number(&self, word: &str) -> bool {
        self.means(word, |of| matches!(of, Meaning::Ordinal(_) | Meaning::Number(_)))
    }

    fn means(&self, word: &str, is_it: impl Fn(Meaning) -> bool) -> bool {
        let entries = self.word(word).map_or(&[][..], |word| word.entries.as_slice());
        entries.iter().any(|entry| entry.rest.is_empty() && is_it(entry.meaning))
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// The first run of letters and digits.
fn first_part(text: &str) -> &str {
    text.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default()
}

fn last_part(text: &str) -> &str {
    text.rsplit(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default()
}

fn second_word(text: &str) -> &str {
    text.split_whitespace().nth(1).unwrap_or_default()
}

fn last_word(text: &str) -> &str {
    text.split_whitespace().next_back().unwrap_or_default()
}

fn second_last_word(text: &str) -> &str {
    text.split_whitespace().rev().nth(1).unwrap_or_default()
}

/// "8.30pm | today": a time of day that was not read together with its day.
fn has_clock_beside(beside: Surroundings<'_>) -> bool {
    let is_clock = |word: &str| {
        let word = word.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
        let parts = word.split_once([':', '.']).map(|(hour, minute)| (hour, minute, hour.parse::<i8>()));
        parts.is_some_and(|(hour, minute, number)| {
            let is_short =
                hour.len() <= 2 && minute.len() == 2 && minute.bytes().all(|sign| sign.is_ascii_digit());
            is_short && number.is_ok_and(|hour| (0..=24).contains(&hour))
        })
    };
    is_clock(last_word(beside.before)) || is_clock(first_word(beside.after))
}

/// "10, | tonight".
fn has_number_and_comma(before: &str) -> bool {
    let number = before.trim_end().strip_suffix(',').map(last_part);
    number.is_some_and(|number| number.parse().is_ok_and(|hour: i8| (1..=24).contains(&hour)))
}

/// "05- | Aug": digits and a sign touch the reading.
fn touches_digits(before: &str) -> bool {
    let mut before = before.chars().rev();
    matches!(before.next(), Some('-' | '/')) && before.next().is_some_and(|sign| sign.is_ascii_digit())
}

/// "As late as | 7".
fn is_compared(before: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    words.next() == Some("as") && words.nth(1) == Some("as")
}

/// Returns whether a time is a weekday alone.
fn is_bare_weekday(expr: &Expr) -> bool {
    matches!(expr, Expr::Cal(Cal { weekday: Some(_), day: None, month: None, .. }))
}

/// Returns whether a time is a current unit: "the week".
fn is_now(expr: &Expr) -> bool {
    matches!(expr, Expr::Cycle { by: 0, .. })
}

fn is_of_clock(kind: Kind) -> bool {
    matches!(kind, Kind::Clock | Kind::ClockRange | Kind::ClockOpen | Kind::Moment)
}

/// Returns whether a time lies in an unnamed day.
fn is_of_day(kind: Kind) -> bool {
    matches!(kind, Kind::Clock | Kind::ClockRange | Kind::ClockOpen | Kind::Part)
}

/// The words before, in lower case, back to the last sign.
fn before_words(text: &str) -> String {
    let is_sign = |sign: char| !(sign.is_alphanumeric() || matches!(sign, ' ' | '\'' | '’' | '-'));
    let from = text.rfind(is_sign).and_then(|at| Some(at + text.get(at..)?.chars().next()?.len_utf8()));
    let words = text.get(from.unwrap_or(0)..).unwrap_or_default();
    let start = words.char_indices().rev().nth(LONGEST - 1).map_or(0, |(at, _)| at);
    words.get(start..).unwrap_or_default().trim_end().to_lowercase()
}

/// The words after, in lower case, up to the next sign.
fn after_words(text: &str) -> String {
    let is_sign = |sign: char| !(sign.is_alphanumeric() || matches!(sign, ' ' | '\'' | '’' | '-' | '.'));
    let words = text.split(is_sign).next().unwrap_or_default();
    words.chars().take(LONGEST).collect::<String>().trim_start().to_lowercase()
}

/// No words of a pack are longer than this, in letters.
const LONGEST: usize = 32;

fn ends_with(text: &str, word: &str) -> bool {
    let rest = text.strip_suffix(word);
    rest.is_some_and(|rest| {
        word.chars().next().is_some_and(is_alone) || !rest.ends_with(char::is_alphanumeric)
    })
}

fn starts_with(text: &str, word: &str) -> bool {
    let rest = text.strip_prefix(word);
    rest.is_some_and(|rest| {
        word.chars().last().is_some_and(is_alone) || !rest.starts_with(char::is_alphanumeric)
    })
}

/// Returns whether a sign is a word without spaces around it.
fn is_alone(sign: char) -> bool {
    matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

fn without_last<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    if ends_with(text, word) { text.strip_suffix(word).map(str::trim_end) } else { None }
}

/// "2018": a year that was not read together with the preceding words.
fn is_year(after: &str) -> bool {
    let word = after.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    word.len() == 4 && word.parse().is_ok_and(|year: i16| (1900..2100).contains(&year))
}

/// "AKST": capital letters that end in T after a time of day.
fn is_zone(after: &str) -> bool {
    let word = after.trim_start().split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    (2..=5).contains(&word.len()) && word.ends_with('T') && word.chars().all(|sign| sign.is_ascii_uppercase())
}
