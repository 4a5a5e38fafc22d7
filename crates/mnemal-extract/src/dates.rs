//! Dates and times in a text, resolved against the moment and the place of their words.
//!
//! The grammar is data: a language pack lists words and forms, the arithmetic is shared, and no clock is read. Recurring times
//! such as "every Tuesday" are reported as such; a time that cannot be resolved is refused, since a guess is worse than
//! nothing.

mod chart;
mod choose;
mod count;
mod customs;
mod edge;
mod expr;
mod form;
mod guard;
mod holiday;
mod interval;
mod list;
mod make;
mod make_clock;
mod make_range;
mod number;
mod pack;
mod recurrence;
mod resolve;
mod resolve_clock;
mod share;
mod spelled_numbers;
mod token;
mod zone;

use std::borrow::Cow;
use std::sync::OnceLock;

use mnemal_core::{Result, Span, Timestamp, When, WorldTime, Zone};

use chart::{Node, Run, readings};
use expr::{Expr, Kind, Value};
use guard::Surroundings;
use holiday::Holidays;
use interval::Interval;
use pack::{Meaning, Pack};
use resolve::Resolver;
use token::{Token, TokenKind, folded, is_small, tokens};
use zone::{LocalMoment, parse_zone};

pub(crate) use token::is_hangul;

/// No date has more words than this; longer runs of date words are read in pieces.
const LONGEST_RUN: usize = 48;

/// The languages that are built in, by their code.
const PACKS: [(&str, &str); 8] = [
    ("en", include_str!("../packs/en/dates.toml")),
    ("de", include_str!("../packs/de/dates.toml")),
    ("fr", include_str!("../packs/fr/dates.toml")),
    ("es", include_str!("../packs/es/dates.toml")),
    ("pt", include_str!("../packs/pt/dates.toml")),
    ("zh", include_str!("../packs/zh/dates.toml")),
    ("ja", include_str!("../packs/ja/dates.toml")),
    ("ko", include_str!("../packs/ko/dates.toml")),
];

/// Returns the number of digits or words in a language of the packs: "elf" is 11, "twenty-five" is 25, "十一" is 11.
///
/// Words with different values in two languages are ambiguous and give `None`.
#[must_use]
pub fn number(text: &str) -> Option<i64> {
    let text = text.trim().to_lowercase();
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let rules = PACKS.iter().filter_map(|(code, _)| DateRules::built_in(code));
    let mut found: Vec<i64> = rules.filter_map(|rules| rules.pack.number(&text)).collect();
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// The reference moment and place for relative times.
#[derive(Clone, Copy, Debug)]
pub struct Anchor<'a> {
    /// Time of the utterance.
    pub at: Timestamp,
    /// Zone of the utterance: by name if the name is known, else by offset.
    pub zone: &'a Zone,
}

/// Which day an ambiguous "Friday" or "March" means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeBias {
    /// The latest: for past events.
    Past,
    /// The next: for plans.
    Future,
    /// The nearest.
    Nearest,
}

/// The temporal meaning of some words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeExpression {
    /// A moment or an interval.
    When(When),
    /// A duration without a position in time: "for three weeks".
    Length {
        /// How long, with months of 30 days and years of 365.
        seconds: i64,
        /// The words.
        span: Span,
    },
    /// A recurring time: "every Tuesday", "twice a week".
    Recurring(Span),
    /// A named time that cannot be resolved: "30 February".
    Refused(Span),
}

impl TimeExpression {
    /// Returns the position of the words.
    pub fn span(&self) -> Span {
        match self {
            Self::When(when) => when.span,
            Self::Length { span, .. } | Self::Recurring(span) | Self::Refused(span) => *span,
        }
    }

    /// Returns the time, if it is one.
    pub fn when(&self) -> Option<When> {
        if let Self::When(when) = self { Some(*when) } else { None }
    }
}

/// Finds the dates in an English text, by position; they do not overlap.
///
/// The same text, anchor and lean always give the same result, on any machine.
pub fn dates(text: &str, anchor: &Anchor<'_>, lean: TimeBias) -> Vec<TimeExpression> {
    DateRules::built_in("en").map_or_else(Vec::new, |rules| rules.read(text, anchor, lean))
}

/// A pack line: a form, or a word of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackLine {
    /// The section of the pack: `forms` or `words`.
    pub section: &'static str,
    /// The value that the form makes, or the name of the class.
    pub name: String,
    /// The form, or the word.
    pub text: String,
}

/// The date rules of one language.
#[derive(Debug)]
pub struct DateRules {
    pack: Pack,
    holidays: &'static Holidays,
    zones: Vec<jiff::tz::TimeZone>,
}

impl DateRules {
    /// Returns the rules of a language by its code, such as `en`; `None` for an unsupported language.
    pub fn built_in(language: &str) -> Option<&'static Self> {
        static RULES: [OnceLock<Option<DateRules>>; PACKS.len()] = [const { OnceLock::new() }; PACKS.len()];
        let place = PACKS.iter().position(|(code, _)| *code == language)?;
        let (_, text) = PACKS.get(place)?;
        RULES.get(place)?.get_or_init(|| Self::parse(text).ok()).as_ref()
    }

    /// Parses the rules of a language from a pack.
    ///
    /// # Errors
    /// `Invalid` with the first mistake.
    pub fn parse(pack: &str) -> Result<Self> {
        Self::load(pack, None, &[])
    }

    /// Parses the rules of a built-in language with other customs, as TOML text with the keys of a pack's `customs`.
    ///
    /// # Errors
    /// `Invalid` for an unknown language and for invalid customs.
    pub fn with_customs(language: &str, customs: &str) -> Result<Self> {
        Self::load(built_in_pack(language)?, Some(customs), &[])
    }

    /// Returns the wordings of a built-in language: its forms and the words of its classes, by name.
    ///
    /// # Errors
    /// `Invalid` for an unknown language.
    pub fn wordings(language: &str) -> Result<Vec<PackLine>> {
        pack::wordings(built_in_pack(language)?)
    }

    /// Parses the rules of a built-in language with other customs and without some of its wordings, to measure unlisted
    /// wordings.
    ///
    /// # Errors
    /// `Invalid` for an unknown language, for invalid customs, and for a required wording.
    pub fn without(language: &str, customs: &str, wordings: &[PackLine]) -> Result<Self> {
        Self::load(built_in_pack(language)?, Some(customs), wordings)
    }

    fn load(text: &str, customs: Option<&str>, without: &[PackLine]) -> Result<Self> {
        let holidays =
            Holidays::built_in().ok_or_else(|| mnemal_core::Error::invalid("the holidays cannot be read"))?;
        let pack = Pack::parse(text, customs, without, holidays)?;
        let zones = pack.zones.iter().map(|name| parse_zone(name)).collect::<Result<_>>()?;
        Ok(Self { pack, holidays, zones })
    }

    /// Finds the dates in a text, by position; they do not overlap.
    pub fn read(&self, text: &str, anchor: &Anchor<'_>, lean: TimeBias) -> Vec<TimeExpression> {
        let [dated] = self.read_with(text, anchor, [lean]);
        dated
    }

    /// The same for several leans, with one pass over the words.
    pub(crate) fn read_with<const N: usize>(
        &self,
        text: &str,
        anchor: &Anchor<'_>,
        leans: [TimeBias; N],
    ) -> [Vec<TimeExpression>; N] {
        let found = self.find_times(text);
        if found.is_empty() {
            return [const { Vec::new() }; N];
        }
        let place = LocalMoment::of(anchor);
        leans.map(|lean| {
            let resolver = Resolver {
                now: place.now,
                day: place.now.date(),
                zone: &place.zone,
                lean,
                customs: &self.pack.customs,
                holidays: self.holidays,
                zones: &self.zones,
                is_south: place.is_south,
            };
            found.iter().map(|found| found.resolve(&resolver, &place)).collect()
        })
    }

    /// Finds the words that name times.
    fn find_times(&self, text: &str) -> Vec<TimeMatch> {
        let tokens = tokens(text);
        if !self.has_cue(text, &tokens) {
            return Vec::new();
        }
        let all_words: Vec<Cow<'_, str>> = tokens.iter().map(|token| word(text, *token)).collect();
        let mut found: Vec<TimeMatch> = Vec::new();
        for (start, end) in self.runs(&tokens, &all_words) {
            let (Some(tokens), Some(words)) = (tokens.get(start..end), all_words.get(start..end)) else {
                continue;
            };
            let previous = start.checked_sub(1).and_then(|before| all_words.get(before)).map(AsRef::as_ref);
            found.extend(self.chosen(text, Run { tokens, words, previous, text }));
        }
        self.refuse_parts(text, &mut found);
        self.share(text, &mut found);
        found
    }

    /// A part of a longer, unread expression is refused.
    fn refuse_parts(&self, text: &str, found: &mut [TimeMatch]) {
        let part = |from: u32, to: u32| text.get(from as usize..to as usize).unwrap_or_default();
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let mut refused = vec![false; found.len()];
        for (place, one) in found.iter().enumerate() {
            let from =
                place.checked_sub(1).and_then(|before| found.get(before)).map_or(0, |before| before.span.end);
            let next = found.get(place + 1);
            let to = next.map_or(end, |next| next.span.start);
            let Span { start, end } = one.span;
            let beside =
                Surroundings { before: part(from, start), own: part(start, end), after: part(end, to) };
            let is_torn = next.is_some_and(|next| self.pack.is_torn(&one.value, &next.value, beside));
            let is_changed = self.pack.is_changed(&one.value, beside);
            let is_pair = is_changed && next.is_some() && self.pack.is_first_of_pair(beside);
            for (at, is_part) in [(place, is_torn || is_changed), (place + 1, is_torn || is_pair)] {
                if let Some(is_refused) = refused.get_mut(at) {
                    *is_refused |= is_part;
                }
            }
        }
        for (one, _) in found.iter_mut().zip(refused).filter(|(_, is_refused)| *is_refused) {
            one.value = Value::Time(Kind::Period, std::rc::Rc::new(Expr::Never));
        }
    }

    /// Members of a list share their common part.
    fn share(&self, text: &str, found: &mut [TimeMatch]) {
        let lists = |a: &TimeMatch, b: &TimeMatch| {
            let gap = text.get(a.span.end as usize..b.span.start as usize).unwrap_or_default();
            let mut words =
                gap.split_whitespace().map(|word| word.trim_matches(',')).filter(|word| !word.is_empty());
            words.all(|word| self.pack.list_words.iter().any(|known| known == word))
        };
        for place in 1..found.len() {
            let made = match found.get(place - 1..=place) {
                Some([a, b]) if lists(a, b) => {
                    a.expr().zip(b.expr()).and_then(|(a, b)| share::from_earlier(a, b))
                }
                _ => None,
            };
            if let (Some(made), Some(second)) = (made, found.get_mut(place)) {
                second.put(made);
            }
        }
        for place in (1..found.len()).rev() {
            let made = match found.get(place - 1..=place) {
                Some([a, b]) if lists(a, b) => {
                    a.expr().zip(b.expr()).and_then(|(a, b)| share::from_later(a, b))
                }
                _ => None,
            };
            if let (Some(made), Some(first)) = (made, found.get_mut(place - 1)) {
                first.put(made);
            }
        }
    }

    fn has_cue(&self, text: &str, tokens: &[Token]) -> bool {
        let mut small = String::new();
        tokens.iter().any(|token| match token.kind {
            TokenKind::Digits => true,
            TokenKind::Sign => false,
            TokenKind::Word | TokenKind::Ideograph => {
                let word = text.get(token.start..token.end).unwrap_or_default();
                let small = if is_small(word) {
                    word
                } else {
                    small.clear();
                    small.extend(word.chars().flat_map(char::to_lowercase));
                    &small
                };
                self.pack.word(small).is_some_and(|word| word.is_cue)
            }
        })
    }

    /// Runs of tokens that can be in dates, with a number or a date word among them.
    fn runs(&self, tokens: &[Token], words: &[Cow<'_, str>]) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        let (mut start, mut has_cue) = (0, false);
        for place in 0..=tokens.len() {
            let known = words.get(place).map(|word| self.pack.word(word));
            let is_digits = tokens.get(place).is_some_and(|token| token.kind == TokenKind::Digits);
            if (is_digits || matches!(known, Some(Some(_)))) && place - start < LONGEST_RUN {
                has_cue |= is_digits || matches!(known, Some(Some(word)) if word.is_cue);
                continue;
            }
            if has_cue {
                runs.push((start, place));
            }
            let goes_on = is_digits || matches!(known, Some(Some(_)));
            start = if goes_on { place } else { place + 1 };
            has_cue = goes_on && (is_digits || matches!(known, Some(Some(word)) if word.is_cue));
        }
        runs
    }

    /// Returns whether a reading that needs company may do without: it is all that is said, or an hour before a pause.
    fn is_clear(&self, text: &str, run: Run<'_>, start: usize, node: &Node) -> bool {
        if is_whole(text, run, start, node.end) {
            return true;
        }
        if node.is("open") && node.end > start + 1 {
            return is_followed_by_pause(text, run, node.end);
        }
        let end = node.end.checked_sub(1).and_then(|last| run.tokens.get(last)).map_or(0, |last| last.end);
        let rest = text.get(end..).unwrap_or_default().trim_start();
        let next = folded(rest.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default());
        let is_paused = next.is_empty() && !rest.starts_with(['$', '%', '-', '/']);
        (self.is_hour(run, start, node) || is_moment_apart(text, run, start, node))
            && (is_paused || self.pack.clock_before.iter().any(|word| *word == next))
    }

    /// Returns whether a reading is a time of day in more than one word: "at 5", but neither "five thirty" nor "at 18".
    fn is_hour(&self, run: Run<'_>, start: usize, node: &Node) -> bool {
        let Value::Time(kind, expr) = &node.value else { return false };
        let is_small = !matches!(**expr, Expr::Clock(clock) if clock.hour > 12);
        let second = run.before(start + 1).filter(|word| word.chars().all(char::is_alphabetic));
        let is_spelled = *kind == Kind::Clock && second.is_some_and(|word| self.is_number(word));
        node.is("clocks") && node.end > start + 1 && is_small && !is_spelled
    }

    /// Returns whether a reading begins with a word and ends before an ending, in a language that lists its endings.
    fn is_of_words(&self, text: &str, run: Run<'_>, start: usize, end: usize) -> bool {
        if self.pack.endings.is_empty() {
            return true;
        }
        let first = run.tokens.get(start).map_or(0, |token| token.start);
        let (before, from) = text.split_at_checked(first).unwrap_or_default();
        let is_inside = before.ends_with(is_hangul) && from.starts_with(is_hangul);
        let end = end.checked_sub(1).and_then(|last| run.tokens.get(last)).map_or(0, |last| last.end);
        let rest = text.get(end..).unwrap_or_default();
        let rest = rest.split(|sign| !is_hangul(sign)).next().unwrap_or_default();
        !is_inside && (rest.is_empty() || self.pack.endings.iter().any(|ending| ending == rest))
    }

    /// Returns whether a word is a number: "five thirty" alone is no time.
    fn is_number(&self, word: &str) -> bool {
        let entries = self.pack.word(word).map(|word| word.entries.as_slice());
        entries.is_some_and(|entries| entries.iter().any(|entry| matches!(entry.meaning, Meaning::Number(_))))
    }

    /// Of all readings the longest, and of equally long ones the cheapest.
    fn chosen(&self, text: &str, run: Run<'_>) -> Vec<TimeMatch> {
        let chart = readings(run, &self.pack);
        let mut all: Vec<(usize, &Node)> = (chart.iter().enumerate())
            .flat_map(|(start, nodes)| nodes.iter().map(move |node| (start, node)))
            .filter(|(start, node)| node.is_time() && stands_alone(text, run, *start, node))
            .filter(|(start, node)| self.is_of_words(text, run, *start, node.end))
            .filter(|(start, node)| !node.is_weak || self.is_clear(text, run, *start, node))
            .collect();
        all.sort_by_key(|(start, node)| (std::cmp::Reverse(node.end - start), node.cost, *start));
        let mut taken: Vec<(usize, Node)> = Vec::new();
        for (start, node) in all {
            if taken.iter().all(|(from, other)| node.end <= *from || other.end <= start) {
                taken.push((start, node.clone()));
            }
        }
        self.add_listed(text, run, &chart, &mut taken);
        taken.sort_by_key(|(start, _)| *start);
        taken.into_iter().filter_map(|(start, node)| TimeMatch::new(run, start, node)).collect()
    }
}

/// Returns the pack of a built-in language.
fn built_in_pack(language: &str) -> Result<&'static str> {
    let pack = PACKS.iter().find(|(code, _)| *code == language).map(|(_, text)| *text);
    pack.ok_or_else(|| mnemal_core::Error::invalid(format!("no dates are known in `{language}`")))
}

/// Words that name a time, before it is resolved.
struct TimeMatch {
    value: Value,
    span: Span,
}

impl TimeMatch {
    fn new(run: Run<'_>, start: usize, node: Node) -> Option<Self> {
        let mut end = node.end;
        // A comma or a full stop ends the sentence, not the date, except in "a.m.".
        while end > start + 1
            && (run.word(end - 1) == ","
                || run.word(end - 1) == "." && run.word(end.saturating_sub(2)).len() > 1)
        {
            end -= 1;
        }
        let (first, last) = (run.tokens.get(start)?, run.tokens.get(end.checked_sub(1)?)?);
        let span = Span { start: u32::try_from(first.start).ok()?, end: u32::try_from(last.end).ok()? };
        Some(Self { value: node.value, span })
    }

    fn expr(&self) -> Option<&Expr> {
        if let Value::Time(_, expr) = &self.value { Some(expr) } else { None }
    }

    fn put(&mut self, made: Expr) {
        if let Value::Time(_, expr) = &mut self.value {
            *expr = std::rc::Rc::new(made);
        }
    }

    fn resolve(&self, resolver: &Resolver<'_>, place: &LocalMoment) -> TimeExpression {
        let span = self.span;
        match &self.value {
            Value::Length(length) | Value::Stay(length) => {
                TimeExpression::Length { seconds: length.nominal_seconds(), span }
            }
            Value::Time(_, expr) => {
                self.when(expr, resolver, place).map_or(TimeExpression::Refused(span), TimeExpression::When)
            }
            _ => TimeExpression::Recurring(span),
        }
    }

    fn when(&self, expr: &Expr, resolver: &Resolver<'_>, place: &LocalMoment) -> Option<When> {
        let Interval { start, end, grain, is_vague } = resolver.resolve(expr)?;
        let moment = |civil: Option<jiff::civil::DateTime>| match civil {
            None => Some(None),
            Some(civil) => place.seconds(civil).map(|seconds| Some(WorldTime::from_seconds(seconds))),
        };
        let (start, end) = (moment(start)?, moment(end)?);
        let is_span = match (start, end) {
            (Some(start), Some(end)) => start < end,
            (start, end) => start.is_some() || end.is_some(),
        };
        is_span.then_some(When { start, end, grain, is_approximate: is_vague, span: self.span })
    }
}

fn word(text: &str, token: Token) -> Cow<'_, str> {
    folded(text.get(token.start..token.end).unwrap_or_default())
}

/// Returns whether words are no part of something longer: a version, a price, a name with digits.
fn stands_alone(text: &str, run: Run<'_>, start: usize, node: &Node) -> bool {
    let end = node.end;
    let (Some(first), Some(last)) =
        (run.tokens.get(start), end.checked_sub(1).and_then(|last| run.tokens.get(last)))
    else {
        return false;
    };
    let mut before = text.get(..first.start).unwrap_or_default().chars().rev();
    let mut after = text.get(last.end..).unwrap_or_default().chars();
    let begins_with_digits = first.kind == TokenKind::Digits;
    let ends_with_digits = last.kind == TokenKind::Digits;
    let price = text.get(..first.start).unwrap_or_default().trim_end().chars().next_back();
    if begins_with_digits && price.is_some_and(|sign| matches!(sign, '$' | '€' | '£' | '¥')) {
        return false;
    }
    let free_before = match before.next() {
        Some(sign) if sign.is_alphanumeric() => {
            first.kind != TokenKind::Digits && first.kind != TokenKind::Word || !sign.is_ascii()
        }
        Some('-') if begins_with_digits && !node.is("day") => {
            !before.next().is_some_and(char::is_alphanumeric)
        }
        Some('-' | '/' | '.' | ':' | ',' | '–') if begins_with_digits => {
            !before.next().is_some_and(|sign| sign.is_ascii_digit())
        }
        Some('$' | '€' | '£' | '#' | '@' | '+' | '¥') => !begins_with_digits,
        Some('\'' | '’') => !before.next().is_some_and(char::is_alphanumeric),
        _ => true,
    };
    let free_after = match after.next() {
        Some('_') => false,
        Some(sign) if sign.is_alphanumeric() => {
            last.kind == TokenKind::Ideograph || !sign.is_ascii() && ends_with_digits
        }
        Some('-' | '/' | '.' | ':' | ',' | '–') if ends_with_digits => {
            !after.next().is_some_and(|sign| sign.is_ascii_digit())
        }
        Some('%') => !ends_with_digits,
        _ => true,
    };
    free_before && free_after
}

/// Returns whether a reading is a time on a day, and does not begin with digits that may belong to a word before.
fn is_moment_apart(text: &str, run: Run<'_>, start: usize, node: &Node) -> bool {
    let first = run.tokens.get(start).map_or(0, |token| token.start);
    let before = text.get(..first).unwrap_or_default();
    node.is("moment") && (!run.is_digits(start) || !before.trim_end().ends_with(char::is_alphanumeric))
}

/// Returns whether no word follows, or not at once.
fn is_followed_by_pause(text: &str, run: Run<'_>, end: usize) -> bool {
    let end = end.checked_sub(1).and_then(|last| run.tokens.get(last)).map_or(0, |last| last.end);
    text.get(end..).unwrap_or_default().trim_start().chars().next().is_none_or(|sign| !sign.is_alphanumeric())
}

/// Returns whether there is nothing else in the text, or nothing but signs.
fn is_whole(text: &str, run: Run<'_>, start: usize, end: usize) -> bool {
    let (Some(first), Some(last)) =
        (run.tokens.get(start), end.checked_sub(1).and_then(|last| run.tokens.get(last)))
    else {
        return false;
    };
    let rest = [text.get(..first.start), text.get(last.end..)];
    rest.into_iter().flatten().all(|part| !part.contains(char::is_alphanumeric))
}
