//! Scores a run: every question at the level of turns, of statements and of sessions, averaged over groups of questions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::metric::{Values, measure};
use crate::neutral::{DataSet, Question, Row, Turn};

/// The group of all questions.
pub const ALL: &str = "ALL";
/// The group of the questions that have an answer in the corpus.
pub const ANSWERABLE: &str = "ANSWERABLE";
/// The category of questions that only seem to have one.
const ADVERSARIAL: &str = "adversarial";
/// The speaker of a machine's answers.
const MACHINE: &str = "assistant";
/// Metrics that the table shows; the report has all of them.
const SHOWN: [&str; 9] =
    ["recall@1", "recall@5", "recall@10", "recall@50", "any@5", "any@10", "all@10", "mrr", "ndcg@10"];

/// Groups by name, each with the number of its questions and their means.
pub type Groups = BTreeMap<String, (usize, Values)>;

/// Means over groups of questions, rounded to four digits.
#[derive(Clone, Debug)]
pub struct Report {
    /// Questions that the run does not have.
    pub missing: usize,
    /// Ranked ids that the corpus does not have.
    pub unknown: usize,
    /// Ranked turns of another conversation; 0 with a space for each conversation.
    pub foreign: usize,
    /// Ranked turns that were not said yet when the question was asked; always 0.
    pub later: usize,
    /// The groups of each level.
    pub levels: Vec<(&'static str, Groups)>,
}

/// Returns the names of the groups that a question counts in.
pub fn groups(question: &Question, by: &str) -> Vec<String> {
    let field = match (by, question.fields.get(by)) {
        ("conv", _) => question.conv.clone(),
        (_, Some(Value::String(text))) => text.clone(),
        (_, None | Some(Value::Null)) => "None".to_owned(),
        (_, Some(other)) => other.to_string(),
    };
    let mut names = vec![ALL.to_owned(), field];
    if is_answerable(question) {
        names.push(ANSWERABLE.to_owned());
    }
    names
}

/// Whether the corpus holds an answer; adversarial questions only seem to have one.
pub fn is_answerable(question: &Question) -> bool {
    question.fields.get("category").and_then(Value::as_str) != Some(ADVERSARIAL)
}

/// Scores a run against the questions that have evidence, in groups by one field of the question.
pub fn score(data: &DataSet, run: &[Row], by: &str) -> Report {
    let places: HashMap<usize, &Turn> = data.turns.values().map(|turn| (turn.place, turn)).collect();
    let run: HashMap<&str, &Row> = run.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut report = Report { missing: 0, unknown: 0, foreign: 0, later: 0, levels: Vec::new() };
    let mut turns: BTreeMap<String, Vec<Values>> = BTreeMap::new();
    let mut statements: BTreeMap<String, Vec<Values>> = BTreeMap::new();
    let mut sessions: BTreeMap<String, Vec<Values>> = BTreeMap::new();
    for question in &data.questions {
        let row = run.get(question.id.as_str());
        report.missing += usize::from(row.is_none());
        let ranked = row.map(|row| row.ranked.as_slice()).unwrap_or_default();
        let known: Vec<_> = ranked.iter().filter_map(|id| data.turns.get(id)).collect();
        report.unknown += ranked.len() - known.len();
        report.foreign += known.iter().filter(|turn| turn.conv != question.conv).count();
        report.later += known.iter().filter(|turn| question.is_later(turn)).count();
        let gold: Vec<_> = question.evidence.iter().filter_map(|id| data.turns.get(id)).collect();
        if gold.is_empty() {
            continue;
        }
        let ids = |turns: &[&Turn]| turns.iter().map(|turn| turn.id.clone()).collect::<Vec<_>>();
        let rooms = |turns: &[&Turn]| unique(turns.iter().map(|turn| turn.session.clone()));
        let said = openings(&places, &gold);
        let opened = |turns: &[&Turn]| -> Vec<String> {
            turns
                .iter()
                .map(|turn| said.get(turn.id.as_str()).copied().unwrap_or(&turn.id).to_owned())
                .collect()
        };
        let by_turn = measure(&ids(&known), &unique(ids(&gold).into_iter()));
        let by_statement = measure(&opened(&known), &unique(opened(&gold).into_iter()));
        let told = question.evidence_sessions.clone().filter(|told| !told.is_empty());
        let told = told.map(|told| unique(told.into_iter()));
        let by_session = measure(&rooms(&known), &told.unwrap_or_else(|| rooms(&gold)));
        for name in groups(question, by) {
            turns.entry(name.clone()).or_default().push(by_turn.clone());
            statements.entry(name.clone()).or_default().push(by_statement.clone());
            sessions.entry(name).or_default().push(by_session.clone());
        }
    }
    report.levels =
        vec![("turn", means(turns)), ("statement", means(statements)), ("session", means(sessions))];
    report
}

/// Returns the turn that opens the statement of each piece of evidence, by the id of the piece.
///
/// BEAM labels as evidence what a person says on after the assistant's answer too ("Yeah, that plan sounds good"): messages
/// with one answer of a machine between them are one statement, and one turn of it says what was stated.
fn openings<'a>(places: &HashMap<usize, &Turn>, gold: &[&'a Turn]) -> HashMap<&'a str, &'a str> {
    let mut in_order: Vec<&Turn> = gold.to_vec();
    in_order.sort_by_key(|turn| turn.place);
    let mut openings = HashMap::new();
    let mut before: Option<(&Turn, &str)> = None;
    for turn in in_order {
        let goes_on = |(last, opening): (&Turn, &'a str)| {
            let answer = places.get(&(last.place + 1)).filter(|_| last.place + 2 == turn.place)?;
            let is_one = answer.speaker == MACHINE && last.speaker == turn.speaker;
            (is_one && answer.session == turn.session && last.session == turn.session).then_some(opening)
        };
        let opening = before.and_then(goes_on).unwrap_or(&turn.id);
        openings.insert(turn.id.as_str(), opening);
        before = Some((turn, opening));
    }
    openings
}

fn means(groups: BTreeMap<String, Vec<Values>>) -> Groups {
    let mean = |values: &[Values]| (values.len(), Values(Values::mean(values).0.map(rounded)));
    groups.into_iter().map(|(name, values)| (name, mean(&values))).collect()
}

/// Rounds to four digits by the decimal expansion, so that ties go where a printed number goes.
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.4}").parse().unwrap_or(value)
}

/// Keeps the first of equal values, in order.
fn unique(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    values.filter(|value| seen.insert(value.clone())).collect()
}

impl Report {
    /// Returns the mean of a metric over a group; `None` when there is no such level, group or metric.
    pub fn mean(&self, level: &str, group: &str, metric: &str) -> Option<f64> {
        let (_, groups) = self.levels.iter().find(|(name, _)| *name == level)?;
        groups.get(group)?.1.get(metric)
    }

    /// Returns all numbers as one JSON document.
    pub fn json(&self) -> Value {
        let group = |(n, values): &(usize, Values)| {
            let mut fields = Map::from_iter([("n".to_owned(), json!(n))]);
            fields.extend(Values::names().into_iter().zip(values.0.map(Value::from)));
            Value::Object(fields)
        };
        let level = |groups: &Groups| {
            Value::Object(groups.iter().map(|(name, values)| (name.clone(), group(values))).collect())
        };
        let levels: Map<String, Value> =
            self.levels.iter().map(|(name, groups)| ((*name).to_owned(), level(groups))).collect();
        json!({
            "missing": self.missing,
            "unknown_ids": self.unknown,
            "foreign": self.foreign,
            "later": self.later,
            "levels": levels,
        })
    }

    /// Returns a table for people.
    pub fn table(&self) -> String {
        let mut text = format!(
            "missing {}  unknown ids {}  foreign {}  later {}\n",
            self.missing, self.unknown, self.foreign, self.later
        );
        for (level, groups) in &self.levels {
            let _ = write!(text, "\n{level:8}{:24}{:>6}", "group", "n");
            for name in SHOWN {
                let _ = write!(text, "{name:>11}");
            }
            for (name, (n, values)) in groups {
                let _ = write!(text, "\n{:8}{name:24}{n:6}", "");
                for name in SHOWN {
                    let _ = write!(text, "{:11.4}", values.get(name).unwrap_or_default());
                }
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_says_on_after_an_answer_is_the_same_statement() {
        let turn = |place: usize, speaker: &str, session: &str| Turn {
            id: format!("t{place}"),
            conv: "c".to_owned(),
            session: session.to_owned(),
            ts: None,
            speaker: speaker.to_owned(),
            place,
        };
        let spoken = [
            ("user", "a"),
            ("assistant", "a"),
            ("user", "a"),
            ("assistant", "a"),
            ("user", "a"),
            ("user", "a"),
            ("assistant", "a"),
            ("Ada", "a"),
            ("assistant", "a"),
            ("Ada", "b"),
        ];
        let turns: Vec<Turn> = spoken
            .iter()
            .enumerate()
            .map(|(place, (speaker, session))| turn(place, speaker, session))
            .collect();
        let places: HashMap<usize, &Turn> = turns.iter().map(|turn| (turn.place, turn)).collect();
        let of = |gold: &[usize]| -> Vec<String> {
            let gold: Vec<&Turn> = gold.iter().map(|place| &turns[*place]).collect();
            let openings = openings(&places, &gold);
            gold.iter().map(|turn| openings[turn.id.as_str()].to_owned()).collect()
        };
        assert_eq!(of(&[4, 0, 2]), ["t0", "t0", "t0"], "in whatever order they are labelled");
        assert_eq!(of(&[0, 4]), ["t0", "t4"], "what lies between them is not labelled");
        assert_eq!(of(&[4, 5]), ["t4", "t5"], "no answer between them");
        assert_eq!(of(&[5, 7, 9]), ["t5", "t7", "t9"], "another person, another session");
    }
}
