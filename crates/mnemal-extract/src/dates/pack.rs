//! The date part of a language pack, read into a lexicon, forms and customs.

use std::collections::HashMap;
use std::rc::Rc;

use mnemal_core::{Error, Result};

use super::PackLine;
use super::customs::Customs;
use super::expr::{Cal, Expr, Kind, Length, Unit, Value};
use super::form::{Cat, Cats, Element, cat, sequences};
use super::guard::Guards;
use super::holiday::Holidays;
use super::make::{Make, make_of};
use super::token::{TokenKind, folded, tokens};
use crate::hash::WordHashBuilder;
use crate::section::{PackFile, Section};

/// One or several words for a value.
#[derive(Clone, Debug)]
pub(super) struct LexiconEntry {
    /// The tokens after the first.
    pub(super) rest: Vec<Box<str>>,
    pub(super) meaning: Meaning,
    /// Alone it names no date: "may", "sun".
    pub(super) is_weak: bool,
}

/// The meaning of an entry; plain data, so that a pack may be shared between threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Word(Cat),
    Number(i64),
    Fuzzy(i64),
    Quarters(i64),
    Ordinal(i64),
    Unit(Unit),
    /// In the plural.
    Units(Unit),
    Month(i8),
    Weekday(i8),
    Weekdays(i8),
    Decade(i16),
    Era(i16),
    Length(Length),
    Named(Unit, i64),
    Part(usize),
    Zone(usize),
    Season(u8),
    Day(i64),
    DayPart(i64, usize),
    Holiday(usize),
}

impl Meaning {
    /// Returns the value that the chart works with.
    pub(super) fn value(self) -> Value {
        let time = |kind, expr| Value::Time(kind, Rc::new(expr));
        match self {
            Self::Word(_) => Value::Word,
            Self::Number(value) => Value::Number { value, is_word: true, is_fuzzy: false },
            Self::Fuzzy(value) => Value::Number { value, is_word: true, is_fuzzy: true },
            Self::Quarters(quarters) => Value::Quarters(quarters),
            Self::Ordinal(value) => Value::Ordinal(value),
            Self::Unit(unit) | Self::Units(unit) => Value::Unit(unit),
            Self::Month(month) => Value::Month(month),
            Self::Weekday(weekday) => Value::Weekday(weekday),
            Self::Weekdays(weekday) => Value::Weekdays(weekday),
            Self::Decade(from) => time(Kind::Period, Expr::Years { from, count: 10 }),
            Self::Era(before) => Value::Era(before),
            Self::Length(length) => Value::Length(length),
            Self::Named(unit, by) => time(Kind::Period, Expr::Cycle { unit, by }),
            Self::Part(part) => Value::Part(part),
            Self::Zone(zone) => Value::Zone(zone),
            Self::Season(season) => time(Kind::Period, Expr::Season(season)),
            Self::Day(by) => time(Kind::Day, Expr::Cycle { unit: Unit::Day, by }),
            Self::DayPart(by, part) => {
                let day = Some(Rc::new(Expr::Cycle { unit: Unit::Day, by }));
                time(Kind::DayPart, Expr::Part { day, part, edge: None })
            }
            Self::Holiday(number) => time(Kind::Day, Expr::Holiday(number)),
        }
    }

    /// Returns whether the word alone is reason enough to look closer.
    fn is_cue(self) -> bool {
        !matches!(self, Self::Word(_) | Self::Number(_) | Self::Fuzzy(_) | Self::Quarters(_) | Self::Zone(_))
    }
}

/// A form with its optional elements decided.
#[derive(Clone, Debug)]
pub(super) struct DateForm {
    pub(super) elements: Vec<Element>,
    pub(super) make: Make,
    /// Of two readings of the same words the cheaper one counts.
    pub(super) cost: u16,
    /// Whether its value counts only next to other words of a date.
    pub(super) is_weak: bool,
    /// Whether its value is as weak as its parts.
    pub(super) keeps_weak: bool,
}

/// All date data of a language.
#[derive(Debug)]
pub(super) struct Pack {
    /// By the first token, in lower case.
    pub(super) lexicon: HashMap<Box<str>, LexiconWord, WordHashBuilder>,
    /// By the category of the first element.
    pub(super) forms: HashMap<Cat, Vec<DateForm>>,
    pub(super) suffixes: Vec<String>,
    /// Letters that touch an hour: "9a", "9p".
    pub(super) halves: [Vec<String>; 2],
    pub(super) clock_before: Vec<String>,
    /// Between the members of a list.
    pub(super) list_words: Vec<String>,
    /// Endings that may follow a date in the same word, for languages that list them.
    pub(super) endings: Vec<String>,
    /// After these a weak word in lower case is something else: "this may".
    pub(super) not_after: Vec<String>,
    pub(super) customs: Customs,
    pub(super) guards: Guards,
    pub(super) zones: Vec<String>,
    pub(super) classes: Cats,
}

/// The lexicon data of a token.
#[derive(Debug, Default)]
pub(super) struct LexiconWord {
    pub(super) entries: Vec<LexiconEntry>,
    /// It begins or continues an entry, so that it may be inside a date.
    pub(super) is_cue: bool,
}

impl Pack {
    /// Reads a pack without some of its wordings, and customs that go before its own.
    pub(super) fn parse(
        text: &str,
        customs: Option<&str>,
        without: &[PackLine],
        holidays: &Holidays,
    ) -> Result<Self> {
        let file = PackFile::parse(text)?;
        let root = file.root();
        let mut pack = Self {
            lexicon: HashMap::default(),
            forms: HashMap::new(),
            suffixes: lines(root, "ordinal_suffixes")?,
            halves: [lines(root, "am_touching")?, lines(root, "pm_touching")?],
            list_words: lines(root, "list_words")?,
            endings: lines(root, "endings")?,
            clock_before: lines(root, "clock_before")?,
            not_after: lines(root, "not_after")?,
            customs: Customs::default(),
            guards: Guards::parse(root.section("guards")?, without)?,
            zones: Vec::new(),
            classes: Cats::new(),
        };
        let weak: Vec<String> =
            root.lines("weak")?.into_iter().map(|word| folded(word).into_owned()).collect();
        let parts: Vec<String> = keys(root, "part")?;
        let mut loader = Loader { pack: &mut pack, weak: &weak, parts: &parts, without };
        loader.vocabulary(root, holidays)?;
        loader.signs(root)?;
        loader.forms(root)?;
        pack.customs = Customs::parse(root.section("customs")?, &parts)?;
        if let Some(text) = customs {
            let file = PackFile::parse(text)?;
            pack.customs.change(file.root(), &parts)?;
        }
        Ok(pack)
    }

    /// Returns whether a token, in lower case, can be in a date.
    pub(super) fn word(&self, token: &str) -> Option<&LexiconWord> {
        self.lexicon.get(token)
    }
}

/// The forms and the words of classes that a pack lists.
pub(super) fn wordings(text: &str) -> Result<Vec<PackLine>> {
    let file = PackFile::parse(text)?;
    let mut found = Vec::new();
    for section in ["forms", "words"] {
        let Some(lines) = file.root().section(section)? else { continue };
        for name in lines.keys() {
            let of = |text: &str| PackLine { section, name: name.to_owned(), text: text.to_owned() };
            found.extend(lines.lines(name)?.into_iter().map(of));
        }
    }
    Ok(found)
}

fn lines(root: Section<'_>, name: &str) -> Result<Vec<String>> {
    Ok(root.lines(name)?.into_iter().map(str::to_owned).collect())
}

fn keys(root: Section<'_>, name: &str) -> Result<Vec<String>> {
    Ok(root.section(name)?.map(|section| section.keys().map(str::to_owned).collect()).unwrap_or_default())
}

struct Loader<'a> {
    pack: &'a mut Pack,
    weak: &'a [String],
    parts: &'a [String],
    without: &'a [PackLine],
}

impl Loader<'_> {
    fn vocabulary(&mut self, root: Section<'_>, holidays: &Holidays) -> Result<()> {
        let zones = keys(root, "zone")?;
        let parts = self.parts;
        self.class(root)?;
        self.table(root, "number", &|key| Some(Meaning::Number(key.parse().ok()?)))?;
        self.table(root, "fuzzy", &|key| Some(Meaning::Fuzzy(key.parse().ok()?)))?;
        self.table(root, "quarters", &|key| Some(Meaning::Quarters(key.parse().ok()?)))?;
        self.table(root, "ordinal", &|key| Some(Meaning::Ordinal(key.parse().ok()?)))?;
        self.table(root, "unit", &|key| Some(Meaning::Unit(Unit::from_name(key)?)))?;
        self.table(root, "units", &|key| Some(Meaning::Units(Unit::from_name(key)?)))?;
        self.table(root, "month", &|key| Some(Meaning::Month(key.parse().ok()?)))?;
        self.table(root, "weekday", &|key| Some(Meaning::Weekday(key.parse::<i8>().ok()? - 1)))?;
        self.table(root, "weekdays", &|key| Some(Meaning::Weekdays(key.parse::<i8>().ok()? - 1)))?;
        self.table(root, "decade", &|key| Some(Meaning::Decade(key.parse().ok()?)))?;
        self.table(root, "era", &|key| Some(Meaning::Era(key.parse::<i16>().ok()? - 1)))?;
        self.table(root, "length", &|key| {
            let (key, is_fuzzy) = key.strip_prefix("about ").map_or((key, false), |rest| (rest, true));
            let (number, unit) = counted(key)?;
            Some(Meaning::Length(Length { is_fuzzy, ..Length::of_quarters(number.checked_mul(4)?, unit)? }))
        })?;
        self.table(root, "named", &|key| {
            let (by, unit) = counted(key).filter(|(_, unit)| *unit > Unit::Workday)?;
            Some(Meaning::Named(unit, by))
        })?;
        self.table(root, "day", &|key| Some(Meaning::Day(key.parse().ok()?)))?;
        self.table(root, "part", &|key| Some(Meaning::Part(index(parts, key)?)))?;
        self.table(root, "today", &|key| Some(Meaning::DayPart(0, index(parts, key)?)))?;
        self.table(root, "yesterday", &|key| Some(Meaning::DayPart(-1, index(parts, key)?)))?;
        self.table(root, "season", &|key| {
            let place = ["spring", "summer", "autumn", "winter"].iter().position(|name| *name == key)?;
            Some(Meaning::Season(u8::try_from(place).ok()?))
        })?;
        self.table(root, "holiday", &|key| Some(Meaning::Holiday(holidays.number(key)?)))?;
        self.table(root, "zone", &|key| Some(Meaning::Zone(index(&zones, key)?)))?;
        self.pack.zones = zones;
        Ok(())
    }

    /// Words that may be between numbers, and words that justify a closer look.
    fn signs(&mut self, root: Section<'_>) -> Result<()> {
        let touching = [&self.pack.suffixes, &self.pack.halves[0], &self.pack.halves[1]];
        let words: Vec<String> = touching.into_iter().flatten().cloned().collect();
        for word in words.iter().map(String::as_str).chain(["-", "/", ".", ":", "h"]) {
            self.pack.lexicon.entry(word.into()).or_default();
        }
        for cue in root.lines("cues")? {
            self.pack.lexicon.entry(cue.into()).or_default().is_cue = true;
        }
        Ok(())
    }

    fn class(&mut self, root: Section<'_>) -> Result<()> {
        let Some(section) = root.section("words")? else { return Ok(()) };
        for key in section.keys() {
            let cat = self.pack.classes.number(&format!("{{{key}}}"));
            for form in section.lines(key)? {
                if !self.leaves_out("words", key, form) {
                    self.entry(form, Meaning::Word(cat));
                }
            }
        }
        Ok(())
    }

    fn leaves_out(&self, section: &str, name: &str, text: &str) -> bool {
        let is_it = |out: &PackLine| out.section == section && out.name == name && out.text == text;
        self.without.iter().any(is_it)
    }

    fn table(&mut self, root: Section<'_>, name: &str, read: &dyn Fn(&str) -> Option<Meaning>) -> Result<()> {
        let Some(section) = root.section(name)? else { return Ok(()) };
        for key in section.keys() {
            let meaning =
                read(key).ok_or_else(|| Error::invalid(format!("a pack: `{name}.{key}` is not known")))?;
            for form in section.lines(key)? {
                self.entry(form, meaning);
            }
        }
        Ok(())
    }

    /// Adds a word; a name with a possessive also without its sign and without it.
    fn entry(&mut self, form: &str, meaning: Meaning) {
        let text = folded(form);
        if matches!(meaning, Meaning::Holiday(_)) && text.contains("'s") {
            self.one_entry(&text.replace("'s", "s"), meaning);
            self.one_entry(&text.replace("'s", ""), meaning);
        } else if matches!(meaning, Meaning::Holiday(_)) && text.contains("s'") {
            self.one_entry(&text.replace("s'", "s"), meaning);
        }
        self.one_entry(&text, meaning);
    }

    fn one_entry(&mut self, text: &str, meaning: Meaning) {
        let text = text.to_owned();
        let is_weak = self.weak.contains(&text);
        let mut words = tokens(&text).into_iter().filter_map(|token| text.get(token.start..token.end));
        let Some(first) = words.next() else { return };
        let rest: Vec<Box<str>> = words.filter(|word| *word != "-").map(Into::into).collect();
        for word in &rest {
            self.pack.lexicon.entry(word.clone()).or_default();
        }
        let word = self.pack.lexicon.entry(first.into()).or_default();
        word.is_cue |= meaning.is_cue();
        let entry = LexiconEntry { rest, meaning, is_weak };
        if !word.entries.iter().any(|known| known.rest == entry.rest && known.meaning == meaning) {
            word.entries.push(entry);
        }
    }

    fn forms(&mut self, root: Section<'_>) -> Result<()> {
        let Some(section) = root.section("forms")? else { return Ok(()) };
        let costs = root.section("cost")?;
        for name in section.keys() {
            let strong = name.strip_prefix("weak_").unwrap_or(name);
            let make =
                make_of(strong).ok_or_else(|| Error::invalid(format!("a pack: no form makes `{name}`")))?;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cost is small")]
            let cost = costs.map(|costs| costs.number(name)).transpose()?.flatten().unwrap_or(0.0) as u16;
            for form in section.lines(name)? {
                if self.leaves_out("forms", name, form) {
                    continue;
                }
                self.form(
                    form,
                    &DateForm {
                        elements: Vec::new(),
                        make,
                        cost,
                        is_weak: strong != name,
                        keeps_weak: strong == "same",
                    },
                )?;
            }
        }
        Ok(())
    }

    fn form(&mut self, form: &str, of: &DateForm) -> Result<()> {
        let mut words: Vec<(String, Cat)> = Vec::new();
        let mut note = |word: &str, cat: Cat| words.push((word.to_owned(), cat));
        let sequences = sequences(form, &mut self.pack.classes, &mut note)?;
        for (word, cat) in words {
            self.entry(&word, Meaning::Word(cat));
        }
        for elements in sequences {
            let Some(first) = elements.first() else { continue };
            self.pack.forms.entry(first.cat).or_default().push(DateForm { elements, ..of.clone() });
        }
        Ok(())
    }
}

/// A number and a unit: "-1 week".
fn counted(key: &str) -> Option<(i64, Unit)> {
    let (number, unit) = key.split_once(' ')?;
    Some((number.parse().ok()?, Unit::from_name(unit)?))
}

fn index(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|known| known == name)
}

/// Returns the categories of a value.
pub(super) fn cats_of(value: &Value) -> Vec<Cat> {
    let names: &[&str] = match value {
        Value::Word => &[],
        Value::Number { is_fuzzy: true, .. } => &["n", "fuzzy"],
        Value::Number { is_word: true, .. } => &["n", "w", "clockish", "dn"],
        Value::Number { .. } => &["n", "d", "clockish", "dn"],
        Value::Quarters(_) => &["frac"],
        Value::Ordinal(_) => &["ord", "dn"],
        Value::Unit(_) => &["unit"],
        Value::Length(_) => &["length"],
        Value::Stay(_) => &["stay"],
        Value::Month(_) => &["month"],
        Value::Weekday(_) => &["weekday"],
        Value::Weekdays(_) => &["weekdays"],
        Value::Part(_) => &["part"],
        Value::Zone(_) => &["zone"],
        Value::Year(_) => &["year"],
        Value::Era(_) => &["era"],
        Value::Loose(_) => &["loose", "clockish"],
        Value::LooseDay(_) => &["looseday"],
        Value::Recurring => &["set"],
        Value::Time(kind, _) => match kind {
            Kind::Day => &["time", "day", "date", "anyday", "days"],
            Kind::Period => &["time", "period", "date", "days"],
            Kind::Clock => &["time", "clock", "clocks", "clockish"],
            Kind::Part => &["time", "apart"],
            Kind::DayPart => &["time", "daypart", "anyday"],
            Kind::Moment => &["time", "moment"],
            Kind::Range => &["time", "range", "days"],
            Kind::ClockRange => &["time", "clockrange", "clocks"],
            Kind::Stretch => &["time", "stretch"],
            Kind::Open => &["time", "open"],
            Kind::ClockOpen => &["time", "clockopen", "clocks"],
        },
    };
    let mut cats: Vec<Cat> = names.iter().map(|name| cat(name)).collect();
    if let Value::Time(_, expr) = value {
        if is_item(expr) {
            cats.push(cat("item"));
        }
        match &**expr {
            Expr::Cal(Cal { year: None, month: Some(_), .. } | Cal { year: None, day: Some(_), .. }) => {
                cats.push(cat("cal"));
            }
            Expr::Never => cats.push(cat("cal")),
            Expr::Season(_) => cats.push(cat("season")),
            Expr::Shift { .. } => cats.push(cat("shift")),
            _ => {}
        }
    }
    cats
}

/// Returns whether a time comes back, so that "next" and "of last year" can choose among its days.
fn is_item(expr: &Expr) -> bool {
    match expr {
        Expr::Cal(cal) => cal.year.is_none(),
        Expr::Holiday(_) | Expr::Season(_) | Expr::OfYear { .. } | Expr::Weekend => true,
        Expr::WeekendOf(of) | Expr::WeekOf(of) | Expr::Edge { of, .. } => is_item(of),
        Expr::Part { day: Some(day), .. } => is_item(day),
        _ => false,
    }
}

/// Returns whether a token may be followed by a full stop that only shortens it: "Dec.", "Fri.".
pub(super) fn may_be_short(kind: TokenKind, word: &str) -> bool {
    kind == TokenKind::Word && word.len() <= 5
}
