//! One measured number next to its target.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

/// The target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TargetBound {
    /// Not more than this.
    AtMost(f64),
    /// Not less than this.
    AtLeast(f64),
    /// Nothing; the number is shown.
    Nothing,
}

/// One measured number.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The measurement.
    pub name: String,
    /// Events in the space.
    pub size: usize,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// The target at this size.
    pub asked: TargetBound,
}

impl Figure {
    /// Makes a figure that nothing is asked of.
    pub fn new(name: impl Into<String>, size: usize, value: f64, unit: &'static str) -> Self {
        Self { name: name.into(), size, value, unit, asked: TargetBound::Nothing }
    }

    /// Makes a figure of a duration, in milliseconds.
    pub fn time(name: impl Into<String>, size: usize, value: Duration) -> Self {
        Self::new(name, size, value.as_secs_f64() * 1_000.0, "ms")
    }

    /// Sets the target, if `here` holds.
    #[must_use]
    pub fn asked_if(mut self, asked: TargetBound, here: impl FnOnce(usize) -> bool) -> Self {
        if here(self.size) {
            self.asked = asked;
        }
        self
    }

    /// Whether the number is as asked; `None` when nothing was asked.
    pub fn is_met(&self) -> Option<bool> {
        match self.asked {
            TargetBound::AtMost(most) => Some(self.value <= most),
            TargetBound::AtLeast(least) => Some(self.value >= least),
            TargetBound::Nothing => None,
        }
    }

    /// Returns the figure as a JSON object.
    pub fn json(&self) -> Value {
        let asked = match self.asked {
            TargetBound::AtMost(most) => json!({"at_most": most}),
            TargetBound::AtLeast(least) => json!({"at_least": least}),
            TargetBound::Nothing => Value::Null,
        };
        let Self { name, size, value, unit, .. } = self;
        json!({"name": name, "size": size, "value": value, "unit": unit, "asked": asked, "met": self.is_met()})
    }
}

/// Returns a table for people.
pub fn table(figures: &[Figure]) -> String {
    let mut text =
        format!("{:44}{:>9}{:>12}  {:12}{:>12}  met\n", "figure", "events", "measured", "unit", "asked");
    for figure in figures {
        let asked = match figure.asked {
            TargetBound::AtMost(most) => format!("≤ {most}"),
            TargetBound::AtLeast(least) => format!("≥ {least}"),
            TargetBound::Nothing => String::new(),
        };
        let met = figure.is_met().map_or("", |met| if met { "yes" } else { "NO" });
        let Figure { name, size, value, unit, .. } = figure;
        let value = if *value >= 1_000.0 { format!("{value:.0}") } else { format!("{value:.3}") };
        let _ = writeln!(text, "{name:44}{size:9}{value:>12}  {unit:12}{asked:>12}  {met}");
    }
    text
}

/// Returns a document as lines for people: a row for each field, and for each field of a table.
pub fn rows(document: &Value) -> Vec<String> {
    let mut rows = Vec::new();
    for (name, value) in document.as_object().into_iter().flatten() {
        match value {
            Value::Object(table) if !table.contains_key("n") => {
                rows.push(name.clone());
                rows.extend(table.iter().map(|(row, value)| format!("  {row:24} {value}")));
            }
            Value::Array(all) => rows.extend(all.iter().map(|row| format!("{name}: {row}"))),
            value => rows.push(format!("{name:26} {value}")),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_met_only_where_something_is_asked() {
        let figure = |value| Figure::new("speed", 10, value, "1/s");
        assert_eq!(figure(5.0).is_met(), None);
        assert_eq!(figure(5.0).asked_if(TargetBound::AtLeast(5.0), |size| size == 10).is_met(), Some(true));
        assert_eq!(figure(4.0).asked_if(TargetBound::AtLeast(5.0), |size| size == 10).is_met(), Some(false));
        assert_eq!(figure(4.0).asked_if(TargetBound::AtLeast(5.0), |size| size > 10).is_met(), None);
        assert_eq!(figure(6.0).asked_if(TargetBound::AtMost(5.0), |_| true).is_met(), Some(false));
        assert!(table(&[figure(1_234.5).asked_if(TargetBound::AtMost(5.0), |_| true)]).contains("NO"));
    }
}
