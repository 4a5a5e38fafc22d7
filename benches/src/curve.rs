//! Evidence curve: how much evidence small contexts hold, against plain turns in as many tokens.

use std::fmt::Write as _;

use anyhow::Result;
use mnemal::Builder;
use serde_json::{Value, json};

use crate::evidence::{self, shown};
use crate::neutral::DataSet;
use crate::plain::{Line, Ranked, filled, ranked};
use crate::score::ALL;
use crate::spaces::{Answers, Layout, Spaces};

/// Tokens of the contexts. Source: what hosts of small models give for memory, up to the default of a context.
pub const BUDGETS: [u32; 4] = [500, 1_000, 2_000, 4_000];

/// How a context of plain turns is filled.
type Cost = fn(&Line) -> u32;

/// What contexts of each budget hold.
#[derive(Clone, Debug)]
pub struct Curve {
    points: Vec<Point>,
}

/// Contexts of one budget.
#[derive(Clone, Debug, Default)]
struct Point {
    budget: u32,
    /// By the name of what made them.
    made: Vec<(&'static str, Answers)>,
}

/// Contexts that are compared; `bm25` cuts long turns as contexts do, `bm25-whole` does not.
const MADE: [(&str, Option<Cost>); 3] =
    [("mnemal", None), ("bm25", Some(|line| line.cut)), ("bm25-whole", Some(|line| line.whole))];

impl Curve {
    /// Assembles contexts of every budget for every question, from what was said before its moment.
    ///
    /// # Errors
    /// As [`Spaces::advance`] and [`Spaces::contexts`].
    pub async fn measure(data: &DataSet, layout: Layout, builder: &Builder) -> Result<Self> {
        let empty =
            |budget| Point { budget, made: MADE.map(|(name, _)| (name, Answers::default())).to_vec() };
        let mut points = BUDGETS.map(empty).to_vec();
        let mut spaces = Spaces::begin(data, layout, builder)?;
        for questions in data.moments() {
            spaces.advance(questions).await?;
            let plain = ranked(questions, &spaces).await?;
            for point in &mut points {
                for ((_, answers), (_, cost)) in point.made.iter_mut().zip(MADE) {
                    answers.extend(match cost {
                        None => spaces.contexts(questions, point.budget).await?,
                        Some(cost) => filled(&plain, point.budget, cost),
                    });
                }
            }
        }
        Ok(Self { points })
    }

    /// Fills contexts of every budget with what others ranked, by their names.
    pub fn of_others(others: &[(&'static str, Vec<Ranked>)]) -> Self {
        let cost: Cost = |line| line.cut;
        let points = BUDGETS.map(|budget| Point {
            budget,
            made: others.iter().map(|(name, ranked)| (*name, filled(ranked, budget, cost))).collect(),
        });
        Self { points: points.to_vec() }
    }

    /// Returns everything as one JSON document: the groups of each budget, with the mean tokens that were really used.
    pub fn json(&self, data: &DataSet, by: &str) -> Value {
        let made = |(name, answers): &(&'static str, Answers)| {
            let groups = evidence::json(&shown(data, &answers.rows, by));
            let fields =
                json!({"tokens": answers.mean_tokens(), "degraded": answers.degraded, "groups": groups});
            ((*name).to_owned(), fields)
        };
        let point = |point: &Point| {
            let mut fields: serde_json::Map<_, _> = point.made.iter().map(made).collect();
            fields.insert("budget".to_owned(), point.budget.into());
            Value::Object(fields)
        };
        json!({"curve": self.points.iter().map(point).collect::<Vec<_>>()})
    }

    /// Returns a table for people, of all questions together.
    pub fn table(&self, data: &DataSet) -> String {
        let mut text = format!(
            "{:>8}  {:12}{:>6}{:>10}{:>10}{:>10}{:>10}{:>10}\n",
            "budget", "made by", "n", "tokens", "share", "any", "all", "lines"
        );
        for point in &self.points {
            for (name, answers) in &point.made {
                let all = shown(data, &answers.rows, "conv").remove(ALL).unwrap_or_default();
                let _ = writeln!(
                    text,
                    "{:8}  {name:12}{:6}{:10.1}{:10.4}{:10.4}{:10.4}{:10.1}",
                    point.budget,
                    all.n,
                    answers.mean_tokens(),
                    all.share,
                    all.any,
                    all.all,
                    all.lines
                );
            }
        }
        text
    }
}
