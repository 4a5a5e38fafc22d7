//! Date recognition in sentences, against references.

pub mod civil;
pub mod duckling;
pub mod left_out;
pub mod recognizers;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use mnemal_core::{Granularity, Timestamp, When, WorldTime, Zone};
use mnemal_extract::{Anchor, DateRules, TimeBias, TimeExpression};
use serde_json::{Value, json};

/// A sentence with the moment it is read at, and the dates that a reference finds in it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in the data set.
    pub id: String,
    /// The sentence.
    pub input: String,
    /// The moment.
    pub at: Timestamp,
    /// The place.
    pub zone: Zone,
    /// Among which cases it is counted.
    pub group: &'static str,
    /// A list of readings for each date.
    pub dates: Vec<Vec<DateReading>>,
}

/// One way to read a date.
#[derive(Clone, Debug)]
pub enum DateReading {
    /// A span in seconds since the epoch; `None` at an open end.
    Span {
        /// The first second.
        start: Option<i64>,
        /// The first second after it.
        end: Option<i64>,
        /// Any of these.
        grains: Vec<Granularity>,
    },
    /// A span that is open on one side, the other at a moment; the reference does not say on which.
    OneEnd(i64, Granularity),
    /// A time of day, in seconds since midnight, on any day.
    TimeOfDay {
        /// Its begin.
        start: Option<i64>,
        /// Its end, if the reference gives it.
        end: Option<i64>,
        /// An open end is to be open.
        is_span: bool,
        /// Any of these.
        grains: Vec<Granularity>,
    },
    /// A length in seconds.
    Length(i64),
    /// Something that comes back.
    Recurring,
    /// A date that cannot be resolved.
    Unresolved,
}

/// Cases by how they ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    exact: usize,
    wrong: usize,
    refused: usize,
}

/// How the cases of a data set ended.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// By group.
    pub groups: BTreeMap<&'static str, Tally>,
    /// How each case ended, in the order of the set.
    verdicts: Vec<Verdict>,
    /// The names of all cases that are not exact.
    pub failed: Vec<String>,
    /// The same cases for people: result, sentence, and the recognized dates.
    pub told: Vec<String>,
}

/// A data set with the conventions that its references follow.
#[derive(Clone, Debug)]
pub struct DateSet {
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
    /// The group that is the figure.
    pub main: &'static str,
    /// The customs of the references, as of a pack.
    pub customs: &'static str,
}

impl DateSet {
    /// Reads the file `cases.jsonl` of a folder; its first case says which references it has.
    ///
    /// # Errors
    /// A file that cannot be read, or a case of neither kind.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("cases.jsonl");
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let rows: Vec<Value> = text.lines().map(serde_json::from_str).collect::<serde_json::Result<_>>()?;
        match rows.first() {
            Some(row) if row.get("kind").is_some() => duckling::read(&rows),
            Some(row) if row.get("results").is_some() => recognizers::read(&rows),
            _ => bail!("{} holds no cases of a known kind", path.display()),
        }
    }

    /// Reads every sentence and compares.
    #[must_use]
    pub fn measure(&self, rules: &DateRules) -> Outcome {
        let mut outcome = Outcome::default();
        for case in &self.cases {
            let found = read(case, rules);
            let verdict = judge(case, found.clone());
            outcome.groups.entry(case.group).or_default().add(verdict);
            outcome.verdicts.push(verdict);
            if verdict != Verdict::Exact {
                outcome.failed.push(case.id.clone());
                let Case { id, group, input, dates, .. } = case;
                outcome.told.push(format!(
                    "{verdict:?} {group} {id}: {input}\n  wanted {dates:?}\n  found {found:?}"
                ));
            }
        }
        outcome
    }
}

impl DateSet {
    /// The figures of each group with other customs than the references'. `wrong` is split: `wrong_by_custom` is exact with the
    /// customs of the references, so that the words were understood and only a convention differs; `wrong_else` is not.
    #[must_use]
    pub fn apart(&self, with_references: &Outcome, own: &Outcome) -> Value {
        let mut by_custom: BTreeMap<&'static str, usize> = BTreeMap::new();
        let both = self.cases.iter().zip(&with_references.verdicts).zip(&own.verdicts);
        for ((case, first), second) in both {
            let differs = (*first, *second) == (Verdict::Exact, Verdict::Wrong);
            *by_custom.entry(case.group).or_default() += usize::from(differs);
        }
        let figures = |(name, tally): (&&'static str, &Tally)| {
            let custom = by_custom.get(*name).copied().unwrap_or_default();
            let mut figures = tally.figures();
            if let Value::Object(figures) = &mut figures {
                figures.insert("wrong_by_custom".to_owned(), json!(tally.share(custom)));
                figures
                    .insert("wrong_else".to_owned(), json!(tally.share(tally.wrong.saturating_sub(custom))));
            }
            ((*name).to_owned(), figures)
        };
        own.groups.iter().map(figures).collect()
    }
}

impl Tally {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Exact => self.exact += 1,
            Verdict::Wrong => self.wrong += 1,
            Verdict::Refused => self.refused += 1,
        }
    }

    /// Shares of the group's cases, and their number.
    #[must_use]
    pub fn figures(self) -> Value {
        let [exact, wrong, refused] = [self.exact, self.wrong, self.refused].map(|count| self.share(count));
        json!({ "exact": exact, "wrong": wrong, "refused": refused, "n": self.n() })
    }

    fn n(self) -> usize {
        self.exact + self.wrong + self.refused
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of cases is small")]
    fn share(self, count: usize) -> f64 {
        (count as f64 / self.n().max(1) as f64 * 10_000.0).round() / 10_000.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Every date is found as it should be, and nothing else.
    Exact,
    /// Something was said that the reference does not say.
    Wrong,
    /// Nothing wrong was said, and something is missing.
    Refused,
}

fn read(case: &Case, rules: &DateRules) -> Vec<TimeExpression> {
    let anchor = Anchor { at: case.at, zone: &case.zone };
    rules.read(&case.input, &anchor, TimeBias::Future)
}

fn judge(case: &Case, mut found: Vec<TimeExpression>) -> Verdict {
    let mut missing = 0;
    for readings in &case.dates {
        match found.iter().position(|dated| readings.iter().any(|wanted| fits(wanted, dated))) {
            Some(place) => {
                found.remove(place);
            }
            None if readings.iter().any(|wanted| matches!(wanted, DateReading::Unresolved)) => {}
            None => missing += 1,
        }
    }
    let is_wrong = found.iter().any(|dated| !matches!(dated, TimeExpression::Refused(_)));
    match (is_wrong, missing) {
        (true, _) => Verdict::Wrong,
        (false, 0) => Verdict::Exact,
        (false, _) => Verdict::Refused,
    }
}

fn fits(wanted: &DateReading, dated: &TimeExpression) -> bool {
    match (wanted, dated) {
        (DateReading::Length(wanted), TimeExpression::Length { seconds, .. }) => wanted == seconds,
        (DateReading::Recurring, TimeExpression::Recurring(_))
        | (DateReading::Unresolved, TimeExpression::Refused(_)) => true,
        (wanted, TimeExpression::When(when)) => fits_span(wanted, when),
        _ => false,
    }
}

fn fits_span(wanted: &DateReading, when: &When) -> bool {
    let (from, to) = (when.start.map(WorldTime::as_seconds), when.end.map(WorldTime::as_seconds));
    match wanted {
        DateReading::Span { start, end, grains } => {
            from == *start && to == *end && grains.contains(&when.grain)
        }
        DateReading::OneEnd(at, grain) => {
            from.is_none() != to.is_none() && from.or(to) == Some(*at) && when.grain == *grain
        }
        DateReading::TimeOfDay { start, end, is_span, grains } => {
            let of_day = |time: Option<i64>| time.map(|time| time.rem_euclid(86_400));
            let ends = if *is_span { of_day(to) == end.map(|end| end % 86_400) } else { to.is_some() };
            of_day(from) == start.map(|start| start % 86_400) && ends && grains.contains(&when.grain)
        }
        _ => false,
    }
}
