//! Date expressions, before they are resolved against the time of the utterance.

use std::rc::Rc;

/// A unit of time as words count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Workday,
    Weekend,
    Week,
    Fortnight,
    Month,
    Quarter,
    Season,
    Half,
    Year,
    Decade,
    Century,
}

impl Unit {
    const NAMES: [(&'static str, Self); 15] = [
        ("second", Self::Second),
        ("minute", Self::Minute),
        ("hour", Self::Hour),
        ("day", Self::Day),
        ("workday", Self::Workday),
        ("weekend", Self::Weekend),
        ("week", Self::Week),
        ("fortnight", Self::Fortnight),
        ("month", Self::Month),
        ("quarter", Self::Quarter),
        ("season", Self::Season),
        ("half", Self::Half),
        ("year", Self::Year),
        ("decade", Self::Decade),
        ("century", Self::Century),
    ];

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit)
    }

    /// Returns whether the unit is shorter than a day.
    pub(super) fn is_of_clock(self) -> bool {
        self <= Self::Hour
    }
}

/// A duration, in parts that no calendar converts into each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Length {
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) seconds: i64,
    /// The smallest unit that was named.
    pub(super) unit: Unit,
    pub(super) is_fuzzy: bool,
    /// "More than an hour", "at most a week": the number is only where it ends.
    pub(super) is_limit: bool,
}

impl Length {
    /// `count` units, the count in quarters: 6 quarters of an hour are an hour and a half.
    pub(super) fn of_quarters(quarters: i64, unit: Unit) -> Option<Self> {
        let mut length = Self { months: 0, days: 0, seconds: 0, unit, is_fuzzy: false, is_limit: false };
        if !(0..=4 * 100_000).contains(&quarters) {
            return None;
        }
        let whole = (quarters % 4 == 0).then_some(quarters / 4);
        if whole.is_none() {
            length.unit = match unit {
                Unit::Hour | Unit::Minute => Unit::Minute,
                Unit::Day | Unit::Week | Unit::Workday => Unit::Hour,
                Unit::Month => Unit::Day,
                Unit::Year => Unit::Month,
                unit => unit,
            };
        }
        match unit {
            Unit::Second => length.seconds = whole?,
            Unit::Minute => length.seconds = quarters * 15,
            Unit::Hour => length.seconds = quarters * 900,
            Unit::Day | Unit::Workday if whole.is_none() => length.seconds = quarters * 21_600,
            Unit::Day | Unit::Workday => length.days = whole?,
            Unit::Weekend => length.days = whole? * 2,
            Unit::Week if whole.is_none() => length.seconds = quarters * 7 * 21_600,
            Unit::Week => length.days = whole? * 7,
            Unit::Fortnight => length.days = whole? * 14,
            Unit::Month if quarters % 4 == 2 => {
                length.months = quarters / 4;
                length.days = 15;
            }
            Unit::Month => length.months = whole?,
            Unit::Quarter | Unit::Season => length.months = whole? * 3,
            Unit::Half => length.months = whole? * 6,
            Unit::Year => length.months = quarters * 3,
            Unit::Decade => length.months = quarters * 30,
            Unit::Century => length.months = quarters * 300,
        }
        Some(length)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            months: self.months + other.months,
            days: self.days + other.days,
            seconds: self.seconds + other.seconds,
            unit: self.unit.min(other.unit),
            is_fuzzy: self.is_fuzzy || other.is_fuzzy,
            is_limit: self.is_limit || other.is_limit,
        }
    }

    /// Seconds, a month as 30 days and a year as 365.
    pub(super) fn nominal_seconds(self) -> i64 {
        let days = self.months / 12 * 365 + self.months % 12 * 30 + self.days;
        days * 86_400 + self.seconds
    }
}

/// A day of the calendar with parts left open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cal {
    pub(super) year: Option<i16>,
    pub(super) month: Option<i8>,
    pub(super) day: Option<i8>,
    /// 0 for Monday.
    pub(super) weekday: Option<i8>,
}

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// 0 to 24.
    pub(super) hour: i8,
    pub(super) minute: Option<i8>,
    pub(super) second: Option<i8>,
    /// Whether the half of the day is open: 3 may be 3 or 15 o'clock.
    pub(super) is_open: bool,
}

/// Back in time, or forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Back,
    On,
}

impl Direction {
    /// Back for a negative number.
    pub(super) fn of(number: i64) -> Self {
        if number < 0 { Self::Back } else { Self::On }
    }
}

/// How a time was named whose edge is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeContext {
    /// From now: "this year".
    FromNow,
    /// By its number: "2019".
    Fixed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrence {
    /// The one of now, or the nearest by lean.
    This,
    Next,
    /// The one of the period before.
    Last,
    /// The latest before now.
    Latest,
    /// The n-th that comes, from 1; negative for the n-th that went.
    Coming(i64),
    AfterNext,
    BeforeLast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    Begin,
    Mid,
    End,
    /// The first part, and no later than now: "earlier this month".
    Earlier,
    /// The rest of it: "later this month".
    Later,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Before,
    Until,
    Through,
    By,
    After,
    Since,
}

/// A time as words name it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Now,
    /// The reference moment of "in three days"; for past events, the duration.
    Soon,
    /// The current unit, moved.
    Cycle {
        unit: Unit,
        by: i64,
    },
    Cal(Cal),
    /// An index into the calendar of holidays.
    Holiday(usize),
    /// 0 for spring.
    Season(u8),
    /// The n-th quarter, half or week of a year, from 1.
    OfYear {
        unit: Unit,
        number: i64,
    },
    Weekend,
    WeekendOf(Rc<Expr>),
    /// `count` years from `from`.
    Years {
        from: i16,
        count: i16,
    },
    Shift {
        base: Rc<Expr>,
        length: Length,
        way: Direction,
    },
    /// Of the week in which a moved day lies, this day.
    DayNear {
        weekday: i8,
        shift: Rc<Expr>,
    },
    Select {
        which: Occurrence,
        item: Rc<Expr>,
    },
    /// A recurring time inside another.
    In {
        item: Rc<Expr>,
        outer: Rc<Expr>,
    },
    /// The n-th unit inside another time, from 1; negative from its end.
    Nth {
        number: i64,
        unit: Unit,
        outer: Rc<Expr>,
    },
    NthItem {
        number: i64,
        item: Rc<Expr>,
        outer: Rc<Expr>,
    },
    /// The first n units of another time, or its last for a negative number.
    FirstUnits {
        number: i64,
        unit: Unit,
        outer: Rc<Expr>,
    },
    /// The first or second half of another time.
    HalfOf {
        number: i64,
        outer: Rc<Expr>,
    },
    /// The n-th of a recurring time behind another time, or before it for a negative number.
    NthFrom {
        number: i64,
        item: Rc<Expr>,
        from: Rc<Expr>,
    },
    /// A time that has begun, whatever is spoken of.
    Begun(Rc<Expr>),
    WeekOf(Rc<Expr>),
    Clock(Clock),
    At {
        day: Rc<Expr>,
        clock: Clock,
    },
    /// A part of some day; the index is into the customs.
    Part {
        day: Option<Rc<Expr>>,
        part: usize,
        edge: Option<Edge>,
    },
    /// A time of day in a part of some day.
    ClockPart {
        clock: Clock,
        part: usize,
        day: Option<Rc<Expr>>,
    },
    Edge {
        of: Rc<Expr>,
        edge: Edge,
    },
    /// The next n units, or the last for a negative number, without the current one.
    Count {
        number: i64,
        unit: Unit,
        is_fuzzy: bool,
    },
    /// The next n units as a span, or the n-th, by custom.
    Upcoming {
        number: i64,
        unit: Unit,
        is_fuzzy: bool,
    },
    /// From now until a length later, or before.
    Within {
        length: Length,
        way: Direction,
    },
    Range {
        from: Rc<Expr>,
        to: Rc<Expr>,
    },
    Open {
        bound: Bound,
        of: Rc<Expr>,
    },
    For {
        length: Length,
        from: Rc<Expr>,
    },
    Zoned {
        of: Rc<Expr>,
        zone: usize,
    },
    Closest {
        number: i64,
        item: Rc<Expr>,
        to: Rc<Expr>,
    },
    Rest(Unit),
    ToDate(Unit),
    EndOfDay(Rc<Expr>),
    Vague(Rc<Expr>),
    /// A date that no calendar has.
    Never,
}

/// The kind of a time, which decides how it combines with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A fixed or recurring day.
    Day,
    /// Something longer than a day.
    Period,
    /// A time of day without a day.
    Clock,
    /// A part of a day without a day.
    Part,
    /// Part of a certain day.
    DayPart,
    /// A time on a certain day, or now.
    Moment,
    /// From one to another day or period.
    Range,
    /// From one to another time of day, without a day.
    ClockRange,
    /// From one moment to another.
    Stretch,
    /// With one end.
    Open,
    /// With one end that is a time of day.
    ClockOpen,
}

/// A node's value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A word that only a form needs.
    Word,
    Number {
        value: i64,
        is_word: bool,
        is_fuzzy: bool,
    },
    /// In quarters of one.
    Quarters(i64),
    Ordinal(i64),
    Unit(Unit),
    Length(Length),
    /// "For three days": a length that nothing is counted with.
    Stay(Length),
    Month(i8),
    Weekday(i8),
    /// The plural, which recurs unless it is counted.
    Weekdays(i8),
    Part(usize),
    Zone(usize),
    Year(i16),
    /// The year before the first of an era.
    Era(i16),
    /// Digits that are a time of day where the words around them say so: "9.30", "1030".
    Loose(Clock),
    /// Digits that are a day beside its weekday: "7.6".
    LooseDay(Cal),
    Time(Kind, Rc<Expr>),
    Recurring,
}
