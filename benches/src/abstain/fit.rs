//! Grid search for the evidence penalties, so that few answerable questions fall below the floor.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_recall::{EVIDENCE_FLOOR, EvidenceRule};
use serde_json::{Value, json};

use super::{DataSetAnswers, Kind, QuestionSignals};
use crate::score::rounded;

/// Most answerable questions of a set that may be rejected. Source: what is asked of the floor.
const MOST: f64 = 0.05;

const HEAD_STARTS: [f32; 5] = [0.0, 0.05, 0.1, 0.15, 0.2];
const LACKING: [f32; 6] = [0.0, 0.4, 0.5, 0.6, 0.7, 0.8];
const UNKNOWN_NAMES: [f32; 4] = [0.0, 0.3, 0.5, 0.7];

/// Every rule of the grid, the milder doubts first.
fn grid() -> Vec<EvidenceRule> {
    let mut rules = Vec::new();
    for head_start in HEAD_STARTS.into_iter().rev() {
        for lacking in LACKING {
            for unknown_name in UNKNOWN_NAMES {
                rules.push(EvidenceRule { head_start, lacking, unknown_name, ..EvidenceRule::LEARNT });
            }
        }
    }
    rules
}

/// A question with the rules that reject it, by their place on the grid.
#[derive(Debug)]
struct Row<'a> {
    set: &'a str,
    asked: &'a QuestionSignals,
    rejected: Vec<bool>,
}

/// The rejected share of each kind of question of each set.
type RejectedShares<'a> = BTreeMap<(&'a str, Kind), f64>;

/// Returns the best rule of the grid, what each set loses with the rule of the other conversations, and without each doubt.
///
/// The best rule has the largest mean share of rejected questions over the kinds and sets that nothing answers, among those that
/// reject at most `MOST` of the answerable ones of each set; of equal ones the mildest. Sets without questions that nothing
/// answers have no part in it.
pub fn fit(sets: &[DataSetAnswers]) -> Value {
    let rules = grid();
    let is_part = |set: &&DataSetAnswers| set.asked.iter().any(|one| one.kind != Kind::Answerable);
    let rows: Vec<Row<'_>> = sets.iter().filter(is_part).flat_map(|set| rows(set, &rules)).collect();
    let all: Vec<&Row<'_>> = rows.iter().collect();
    let place = best(&all, rules.len());
    let left_out = named(&left_out(&rows, rules.len()));
    let rule = place.and_then(|place| rules.get(place)).map(|rule| {
        let EvidenceRule { head_start, lacking, unknown_name, .. } = *rule;
        let round = |value: f32| rounded(f64::from(value));
        json!({"head_start": round(head_start), "lacking": round(lacking), "unknown_name": round(unknown_name)})
    });
    let fitted = place.map(|place| named(&rejected(all.iter().map(|row| (*row, place)))));
    let without = place.and_then(|place| rules.get(place)).map(|rule| without(sets, *rule));
    json!({"floor": rounded(f64::from(EVIDENCE_FLOOR)), "grid": rules.len(), "rule": rule, "rejected": fitted,
        "conversations_left_out": left_out, "without": without})
}

/// What each set rejects when one of the doubts is left out.
fn without(sets: &[DataSetAnswers], rule: EvidenceRule) -> Value {
    let one = |(name, rule): (&str, EvidenceRule)| {
        let rows: Vec<Row<'_>> = sets.iter().flat_map(|set| rows(set, &[rule])).collect();
        (name.to_owned(), named(&rejected(rows.iter().map(|row| (row, 0)))))
    };
    let cases = [
        ("other person", EvidenceRule { head_start: f32::INFINITY, ..rule }),
        ("lacking attribute", EvidenceRule { lacking: 0.0, ..rule }),
        ("unknown name", EvidenceRule { unknown_name: 0.0, ..rule }),
        (
            "any doubt",
            EvidenceRule { head_start: f32::INFINITY, lacking: 0.0, unknown_name: 0.0, foreign: 0.0 },
        ),
    ];
    Value::Object(cases.into_iter().map(one).collect())
}

fn rows<'a>(set: &'a DataSetAnswers, rules: &[EvidenceRule]) -> Vec<Row<'a>> {
    let row = |asked: &'a QuestionSignals| {
        let rejected = rules.iter().map(|rule| asked.evidence(rule) < EVIDENCE_FLOOR).collect();
        Row { set: set.name.as_str(), asked, rejected }
    };
    set.asked.iter().map(row).collect()
}

fn rejected<'a>(rows: impl Iterator<Item = (&'a Row<'a>, usize)>) -> RejectedShares<'a> {
    let mut counts: BTreeMap<(&str, Kind), (usize, usize)> = BTreeMap::new();
    for (row, place) in rows {
        let (below, n) = counts.entry((row.set, row.asked.kind)).or_default();
        *below += usize::from(row.rejected.get(place) == Some(&true));
        *n += 1;
    }
    counts.into_iter().map(|(group, (below, n))| (group, below as f64 / n as f64)).collect()
}

fn best<'a>(rows: &[&'a Row<'a>], rules: usize) -> Option<usize> {
    let worth = |place: usize| {
        let shares = rejected(rows.iter().map(|row| (*row, place)));
        let (kept, lost): (Vec<_>, Vec<_>) =
            shares.into_iter().partition(|((_, kind), _)| *kind == Kind::Answerable);
        let is_allowed = kept.iter().all(|(_, share)| *share <= MOST);
        is_allowed.then(|| lost.iter().map(|(_, share)| share).sum::<f64>() / lost.len().max(1) as f64)
    };
    let mut best: Option<(f64, usize)> = None;
    for place in 0..rules {
        if let Some(worth) = worth(place)
            && best.is_none_or(|(known, _)| worth > known)
        {
            best = Some((worth, place));
        }
    }
    best.map(|(_, place)| place)
}

/// Rejects each conversation's questions by the rule that is best on all others.
fn left_out<'a>(rows: &'a [Row<'a>], rules: usize) -> RejectedShares<'a> {
    let conversations: BTreeSet<(&str, &str)> =
        rows.iter().map(|row| (row.set, row.asked.conv.as_str())).collect();
    let mut all = Vec::new();
    for conversation in conversations {
        let is_of = |row: &&Row<'_>| (row.set, row.asked.conv.as_str()) == conversation;
        let (own, others): (Vec<_>, Vec<_>) = rows.iter().partition(is_of);
        if let Some(place) = best(&others, rules) {
            all.extend(own.into_iter().map(|row| (row, place)));
        }
    }
    rejected(all.into_iter())
}

fn named(shares: &RejectedShares<'_>) -> Value {
    let name = |((set, kind), share): (&(&str, Kind), &f64)| {
        (format!("{set} {}", kind.name()), Value::from(rounded(*share)))
    };
    Value::Object(shares.iter().map(name).collect())
}

#[cfg(test)]
mod tests {
    use mnemal_recall::EvidenceFeatures;

    use super::*;

    /// Answerable questions with full coverage, and unanswerable ones whose attribute is not said.
    fn set(doubtful: usize) -> DataSetAnswers {
        let whole = EvidenceFeatures { coverage: 0.55, ..EvidenceFeatures::default() };
        let one = |place: usize, kind: Kind, hit: EvidenceFeatures| QuestionSignals {
            conv: format!("c{}", place % 4),
            kind,
            hits: vec![hit],
        };
        let lacks = EvidenceFeatures { lacking: 1.0, ..whole };
        let mut asked: Vec<QuestionSignals> =
            (0..40).map(|place| one(place, Kind::Abstention, lacks)).collect();
        asked.extend(
            (0..40).map(|place| one(place, Kind::Answerable, if place < doubtful { lacks } else { whole })),
        );
        DataSetAnswers { name: "s".to_owned(), asked }
    }

    #[test]
    fn the_mildest_doubt_that_rejects_most_is_chosen() {
        let found = fit(&[set(0)]);
        assert_eq!(
            found["rule"]["lacking"], 0.6,
            "0.55 · (1 − 0.6) lies below the floor, 0.55 · (1 − 0.5) above"
        );
        assert_eq!(found["rule"]["unknown_name"], 0.0);
        assert_eq!(found["conversations_left_out"]["s abstention"], 1.0);
    }

    #[test]
    fn a_doubt_that_costs_too_many_answers_is_not_chosen() {
        let found = fit(&[set(3)]);
        assert_eq!(found["rule"]["lacking"], 0.0);
        assert_eq!(found["rejected"]["s abstention"], 0.0);
    }
}
