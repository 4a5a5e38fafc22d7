//! Abstention: evidence scores of answers to questions that have no answer in the log.

pub mod fit;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use mnemal_recall::{EVIDENCE_FLOOR, EvidenceFeatures, EvidenceRule};
use serde_json::{Value, json};

use crate::neutral::{DataSet, Question, lines};
use crate::score::rounded;
use crate::spaces::{Layout, Spaces};
use crate::words::Dice;

/// Resamples of an interval. Source: 2,000 make its ends stable to the second digit.
const RESAMPLES: usize = 2_000;
/// The seed of the resampling.
const SEED: u64 = 1;
/// The earlier floor, when evidence was the larger of coverage and calibrated cosine. Source: own choice.
const PLAIN_FLOOR: f32 = 0.35;

/// The relation of a question to its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It is answered there.
    Answerable,
    /// It asks one person for what another said or did.
    Adversarial,
    /// It asks for a detail that was never mentioned.
    Abstention,
    /// It is answered in another conversation of the set.
    Foreign,
}

impl Kind {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answerable => "answerable",
            Self::Adversarial => "adversarial",
            Self::Abstention => "abstention",
            Self::Foreign => "foreign",
        }
    }

    /// Of a question in its own conversation; `None` if it has no evidence though it should.
    fn of(question: &Question) -> Option<Self> {
        match question.fields.get("category").and_then(Value::as_str) {
            Some("abstention") => Some(Self::Abstention),
            _ if question.evidence.is_empty() => None,
            Some("adversarial") => Some(Self::Adversarial),
            _ => Some(Self::Answerable),
        }
    }
}

/// One question with what spoke for each hit.
#[derive(Clone, Debug)]
pub struct QuestionSignals {
    /// The conversation that it belongs to.
    pub conv: String,
    /// Its relation to its conversation.
    pub kind: Kind,
    /// The grounds of the hits.
    pub hits: Vec<EvidenceFeatures>,
}

impl QuestionSignals {
    /// Returns the evidence of the answer: the largest of its hits.
    pub fn evidence(&self, rule: &EvidenceRule) -> f32 {
        self.hits.iter().map(|hit| hit.evidence(rule)).fold(0.0, f32::max)
    }

    /// Returns the larger of coverage and cosine, the latter calibrated to [`PLAIN_FLOOR`]: what evidence was before.
    fn plain(&self) -> f32 {
        let near = |nearness: f32| {
            let stretch = (1.0 - PLAIN_FLOOR) / (1.0 - EVIDENCE_FLOOR);
            if nearness > 0.0 { 1.0 - (1.0 - nearness) * stretch } else { 0.0 }
        };
        let one =
            |hit: &EvidenceFeatures| if hit.has_phrase { 1.0 } else { hit.coverage.max(near(hit.nearness)) };
        self.hits.iter().map(one).fold(0.0, f32::max)
    }
}

/// A data set, asked.
#[derive(Clone, Debug)]
pub struct DataSetAnswers {
    /// Name of its folder.
    pub name: String,
    /// Every question in its own conversation, and each answerable one in the next conversation too.
    pub asked: Vec<QuestionSignals>,
}

impl DataSetAnswers {
    /// Imports a data set, one space for each conversation, and asks all questions.
    ///
    /// # Errors
    /// A folder that is no data set, or a recall that fails.
    pub async fn ask(folder: &Path, questions: &str) -> Result<Self> {
        let data = DataSet::read(folder, questions)?;
        let spaces = Spaces::import(&data, Layout::Apart, &mnemal::Engine::builder()).await?;
        let mut asked = Vec::new();
        for question in lines::<Question>(&folder.join(questions))? {
            let Some(kind) = Kind::of(&question) else { continue };
            let mut put = vec![(kind, question.conv.as_str())];
            if kind == Kind::Answerable {
                put.extend(next(&data.conversations, &question.conv).map(|conv| (Kind::Foreign, conv)));
            }
            for (kind, conv) in put {
                let hits = spaces.features(conv, &question.question).await?;
                asked.push(QuestionSignals { conv: question.conv.clone(), kind, hits });
            }
        }
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, asked })
    }
}

/// The conversation behind this one, the first behind the last; `None` if it is the only one.
fn next<'a>(conversations: &'a [String], conv: &str) -> Option<&'a str> {
    let place = conversations.iter().position(|one| one == conv)?;
    let next = conversations.get(place + 1).or(conversations.first())?;
    (next != conv).then_some(next)
}

/// Means over the questions of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Number of questions.
    pub n: usize,
    /// Share whose evidence is below the floor.
    pub rejected: f64,
    /// Probability that an answerable question has more evidence, ties half, with its 95 % interval; of answerable ones `None`.
    pub auc: Option<(f64, f64, f64)>,
}

/// Returns the effect of a floor on each kind of question of a set.
pub fn shares(
    asked: &[QuestionSignals],
    floor: f32,
    value: impl Fn(&QuestionSignals) -> f32,
) -> BTreeMap<Kind, Share> {
    let mut values: BTreeMap<Kind, Vec<f32>> = BTreeMap::new();
    for one in asked {
        values.entry(one.kind).or_default().push(value(one));
    }
    let answerable = values.get(&Kind::Answerable).cloned().unwrap_or_default();
    let share = |(kind, values): (&Kind, &Vec<f32>)| {
        let below = values.iter().filter(|value| **value < floor).count();
        let auc = (*kind != Kind::Answerable).then(|| auc_interval(&answerable, values));
        (*kind, Share { n: values.len(), rejected: below as f64 / values.len() as f64, auc })
    };
    values.iter().map(share).collect()
}

fn auc_interval(more: &[f32], less: &[f32]) -> (f64, f64, f64) {
    let mut dice = Dice::new(SEED);
    let mut drawn = |from: &[f32]| -> Vec<f32> {
        (0..from.len()).filter_map(|_| from.get(dice.below(from.len())).copied()).collect()
    };
    let mut resampled: Vec<f64> = (0..RESAMPLES).map(|_| auc(&drawn(more), &drawn(less))).collect();
    resampled.sort_by(f64::total_cmp);
    let at = |place: usize| resampled.get(place).copied().unwrap_or_default();
    (auc(more, less), at(RESAMPLES / 40), at(RESAMPLES - RESAMPLES / 40 - 1))
}

/// Returns the probability that one of the first is larger than one of the second, ties half; .5 without values.
pub fn auc(more: &[f32], less: &[f32]) -> f64 {
    if more.is_empty() || less.is_empty() {
        return 0.5;
    }
    let mut sorted = less.to_vec();
    sorted.sort_by(f32::total_cmp);
    let wins = |value: &f32| {
        let below = sorted.partition_point(|other| other < value);
        let ties = sorted.partition_point(|other| other <= value) - below;
        below as f64 + ties as f64 / 2.0
    };
    more.iter().map(wins).sum::<f64>() / (more.len() as f64 * less.len() as f64)
}

/// One line of the report: a set under a rule.
#[derive(Clone, Debug)]
pub struct Line {
    /// The data set.
    pub set: String,
    /// `evidence`, or `plain` for what evidence was before.
    pub rule: &'static str,
    /// The floor.
    pub floor: f32,
    /// Its kinds of questions.
    pub shares: BTreeMap<Kind, Share>,
}

/// Returns the effect of recall's floor on each set, next to that of the former one; or the effect of another floor on both.
pub fn report(sets: &[DataSetAnswers], floor: Option<f32>) -> Vec<Line> {
    let (before, now) = (floor.unwrap_or(PLAIN_FLOOR), floor.unwrap_or(EVIDENCE_FLOOR));
    let both = |set: &DataSetAnswers| {
        let line = |rule, floor, shares| Line { set: set.name.clone(), rule, floor, shares };
        let plain = shares(&set.asked, before, QuestionSignals::plain);
        let evidence = shares(&set.asked, now, |one| one.evidence(&EvidenceRule::LEARNT));
        [line("plain", before, plain), line("evidence", now, evidence)]
    };
    sets.iter().flat_map(both).collect()
}

impl Line {
    /// Returns the line as a JSON object; `times` is the rejected share as a multiple of that of answerable questions.
    pub fn json(&self) -> Value {
        let answerable = self.shares.get(&Kind::Answerable).map_or(0.0, |share| share.rejected);
        let share = |(kind, share): (&Kind, &Share)| {
            let mut fields = json!({"n": share.n, "rejected": rounded(share.rejected)});
            if let (Some((auc, low, high)), Some(fields)) = (share.auc, fields.as_object_mut()) {
                let times = (answerable > 0.0).then(|| rounded(share.rejected / answerable));
                let more = [("times", json!(times)), ("auc", json!(rounded(auc)))];
                let ends = [("low", json!(rounded(low))), ("high", json!(rounded(high)))];
                fields.extend(more.into_iter().chain(ends).map(|(name, value)| (name.to_owned(), value)));
            }
            (kind.name().to_owned(), fields)
        };
        let shares: serde_json::Map<String, Value> = self.shares.iter().map(share).collect();
        json!({"set": self.set, "rule": self.rule, "floor": rounded(f64::from(self.floor)), "kinds": shares})
    }
}

/// Returns a table for people.
pub fn table(lines: &[Line]) -> String {
    let mut text = format!("{:14}{:10}{:>6}  {:12}{:>6}", "set", "rule", "floor", "questions", "n");
    let _ = writeln!(text, "{:>10}{:>8}  AUC (95 %)", "rejected", "times");
    for Line { set, rule, floor, shares } in lines {
        let answerable = shares.get(&Kind::Answerable).map_or(0.0, |share| share.rejected);
        for (kind, Share { n, rejected, auc }) in shares {
            let _ = write!(text, "{set:14}{rule:10}{floor:6.2}  {:12}{n:6}{rejected:10.3}", kind.name());
            let _ = match auc {
                Some((auc, low, high)) => {
                    writeln!(text, "{:8.1}  {auc:.3} ({low:.3} to {high:.3})", rejected / answerable)
                }
                None => writeln!(text),
            };
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(kind: Kind, coverage: f32) -> QuestionSignals {
        let hit = EvidenceFeatures { coverage, ..EvidenceFeatures::default() };
        QuestionSignals { conv: "c".to_owned(), kind, hits: vec![EvidenceFeatures::default(), hit] }
    }

    #[test]
    fn auc_is_the_share_of_pairs_in_order() {
        assert!((auc(&[1.0, 0.5], &[0.5, 0.0]) - 0.875).abs() < 1e-9);
        assert!((auc(&[], &[0.5]) - 0.5).abs() < 1e-9);
        let (value, low, high) = auc_interval(&[0.9, 0.8, 0.3, 0.6], &[0.4, 0.1, 0.7]);
        assert!(low < value && value < high && (0.0..=1.0).contains(&low) && high <= 1.0);
    }

    #[test]
    fn a_share_counts_what_lies_below_the_floor() {
        let all = [
            asked(Kind::Answerable, 0.9),
            asked(Kind::Answerable, 0.2),
            asked(Kind::Foreign, 0.2),
            asked(Kind::Foreign, 0.1),
        ];
        let found = shares(&all, 0.25, |one| one.evidence(&EvidenceRule::LEARNT));
        assert!((found[&Kind::Answerable].rejected - 0.5).abs() < 1e-9);
        assert!(found[&Kind::Answerable].auc.is_none());
        assert!((found[&Kind::Foreign].rejected - 1.0).abs() < 1e-9);
        let line = Line { set: "s".to_owned(), rule: "evidence", floor: 0.25, shares: found };
        assert_eq!(line.json()["kinds"]["foreign"]["times"], 2.0);
        assert!(table(&[line]).contains("foreign"));
    }

    #[test]
    fn the_kind_of_a_question_is_its_category_where_it_has_evidence() {
        let question = |category: &str, evidence: &str| -> Question {
            serde_json::from_str(&format!(
                r#"{{"id":"q","conv":"c","question":"?","category":"{category}","evidence":[{evidence}]}}"#
            ))
            .unwrap()
        };
        assert_eq!(Kind::of(&question("abstention", "")), Some(Kind::Abstention));
        assert_eq!(Kind::of(&question("adversarial", "\"e\"")), Some(Kind::Adversarial));
        assert_eq!(Kind::of(&question("temporal", "\"e\"")), Some(Kind::Answerable));
        assert_eq!(Kind::of(&question("temporal", "")), None);
        let conversations = ["a".to_owned(), "b".to_owned()];
        assert_eq!(next(&conversations, "b"), Some("a"));
        assert_eq!(next(&conversations[..1], "a"), None);
    }
}
