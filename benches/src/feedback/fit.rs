//! Weight fitting of feedback signals: the tables `weight` of a language's pack.
//!
//! Each class has its own regularized logistic regression, over labeled exchanges, the examples of the rules, and chats without
//! an assistant.

mod descent;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use mnemal_extract::{FeedbackAct, FeedbackExample, OwnWords, Turn, feedback_examples, feedback_signals};
use serde::Deserialize;

use self::descent::{Problem, Row};
use super::{Exchange, Label};
use crate::neutral::lines;

/// The gold sets with labeled feedback.
const LABELLED: [&str; 2] = ["practice-feedback", "g4"];
/// The gold sets of chats.
const CHATS: [&str; 2] = ["g1", "practice"];
/// What an example of a rule counts, where a labeled exchange counts 1. Source: own choice; the test of the packs demands
/// that examples are read rightly.
const EXAMPLE: f64 = 1.2;
/// Weight of a chat message. Source: own choice; they are not labeled, and three times as many as the exchanges.
const CHAT: f64 = 0.2;
/// Exchanges and answers that must show a signal. Source: own choice; a weight of fewer is an accident.
const LEAST_SHOWN: usize = 5;
/// Weights below it are left out. Source: own choice; rounded to tenths, what is smaller says hardly anything.
const LEAST_WEIGHT: f64 = 0.2;
/// What is added to the start of corrections and directives. Source: own choice; to miss what a user asks costs more than
/// to note it once too often, because a correction alone writes nothing.
const EASE: f64 = 0.3;

/// A class of feedback that is weighed.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// Its name in a pack.
    name: &'static str,
    acts: &'static [FeedbackAct],
    /// What is added to the start.
    ease: f64,
    /// How strongly small weights are preferred: the inverse of the variance that weights are thought to have. Source:
    /// measured on `g4`, `practice-feedback` and false learnings; 1.0, 1.2 and 1.5 differ by less than the errors of the
    /// figures.
    calm: f64,
}

const CLASSES: [Class; 5] = [
    Class { name: "correction", acts: &[FeedbackAct::Reject, FeedbackAct::Repair], ease: EASE, calm: 1.2 },
    Class { name: "directive", acts: &[FeedbackAct::Directive], ease: EASE, calm: 1.5 },
    Class { name: "preference", acts: &[FeedbackAct::Preference], ease: 0.0, calm: 1.5 },
    Class { name: "praise", acts: &[FeedbackAct::Praise], ease: 0.0, calm: 1.5 },
    Class { name: "give_up", acts: &[FeedbackAct::GiveUp], ease: 0.0, calm: 1.5 },
];

/// What is known of the acts of a message.
#[derive(Clone, Debug)]
enum ActLabels {
    /// These and no others.
    Acts(Vec<FeedbackAct>),
    /// Not this one.
    Without(FeedbackAct),
}

impl ActLabels {
    /// Returns whether the message is of a class; none if that is not known.
    fn is_of(&self, class: Class) -> Option<bool> {
        match self {
            Self::Acts(acts) => Some(acts.iter().any(|act| class.acts.contains(act))),
            Self::Without(act) => class.acts.contains(act).then_some(false),
        }
    }
}

/// A message with what it shows.
#[derive(Clone, Debug)]
struct Sample {
    signals: Vec<String>,
    known: ActLabels,
    weight: f64,
}

impl Sample {
    fn of(turn: Turn<'_>, known: ActLabels, weight: f64) -> Self {
        Self { signals: feedback_signals(turn).into_iter().collect(), known, weight }
    }
}

/// Messages with their labels.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    samples: Vec<Sample>,
    examples: Vec<Sample>,
}

/// One turn of a chat.
#[derive(Clone, Debug, Deserialize)]
struct Answer {
    dialogue: String,
    /// The message of the assistant before it, where it is known.
    #[serde(default)]
    prev: String,
    text: String,
}

impl Answer {
    /// Returns the previous message: the assistant's, or else the turn before of the dialogue.
    fn before<'a>(&'a self, turns: &'a [Self]) -> Option<&'a str> {
        let before =
            || turns.last().filter(|turn| turn.dialogue == self.dialogue).map(|turn| turn.text.as_str());
        if self.prev.is_empty() { before() } else { Some(&self.prev) }
    }
}

impl Samples {
    /// Reads the development halves of the sets of a gold folder, and the examples of the English rules.
    ///
    /// Messages that answer nothing are passed over, because they are not weighed.
    ///
    /// # Errors
    /// A file that is missing, or a line that is no such record.
    pub fn read(gold: &Path) -> Result<Self> {
        let mut all = Self::default();
        for set in LABELLED {
            let exchanges: Vec<Exchange> = lines(&gold.join(set).join("dev.turns.jsonl"))?;
            let labels: Vec<Label> = lines(&gold.join(set).join("dev.labels.jsonl"))?;
            let mut labels: BTreeMap<&str, &Label> =
                labels.iter().map(|label| (label.id.as_str(), label)).collect();
            for exchange in exchanges.iter().filter(|exchange| !exchange.assistant.is_empty()) {
                let acts = labels.remove(exchange.id.as_str()).into_iter().flat_map(|label| &label.acts);
                let known = acts.filter_map(|act| FeedbackAct::from_name(&act.act)).collect();
                all.add(&exchange.assistant, &exchange.user, known, 1.0);
            }
        }
        for set in CHATS {
            let answers: Vec<Answer> = lines(&gold.join(set).join("dev.turns.jsonl"))?;
            for (at, answer) in answers.iter().enumerate() {
                if let Some(before) = answer.before(answers.get(..at).unwrap_or_default()) {
                    all.add(before, &answer.text, Vec::new(), CHAT);
                }
            }
        }
        for example in &feedback_examples("en")? {
            all.add_example(example);
        }
        Ok(all)
    }

    fn add(&mut self, assistant: &str, user: &str, acts: Vec<FeedbackAct>, weight: f64) {
        let turn = Turn { user: &OwnWords::of_text(user), assistant: Some(assistant), earlier: &[] };
        self.samples.push(Sample::of(turn, ActLabels::Acts(acts), weight));
    }

    fn add_example(&mut self, example: &FeedbackExample) {
        if example.assistant.is_some() {
            let known = if example.is_counter {
                ActLabels::Without(example.act)
            } else {
                ActLabels::Acts(vec![example.act])
            };
            self.examples.push(Sample::of(example.turn(), known, EXAMPLE));
        }
    }

    /// Returns the tables as the text of a pack.
    pub fn table(&self) -> String {
        let names = self.names();
        let mut text = String::from(HEAD);
        for class in CLASSES {
            let (start, weights) = self.weights(class, &names);
            let _ = write!(text, "\n[weight.{}]\nstart = {start:.1}\n", class.name);
            for (name, weight) in weights {
                let _ = writeln!(text, "\"{name}\" = {weight:.1}");
            }
        }
        text
    }

    /// Returns the signals that get weights.
    fn names(&self) -> Vec<&str> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in self.samples.iter().flat_map(|sample| &sample.signals) {
            *counts.entry(name).or_default() += 1;
        }
        counts.retain(|_, count| *count >= LEAST_SHOWN);
        counts.into_keys().collect()
    }

    /// Returns the start and the weights of a class, rounded, the strongest first.
    fn weights<'n>(&self, class: Class, names: &[&'n str]) -> (f64, Vec<(&'n str, f64)>) {
        let mut problem = Problem::new(names.len(), class.calm);
        for sample in self.samples.iter().chain(&self.examples) {
            let Some(is_of) = sample.known.is_of(class) else { continue };
            let place = |name: &String| names.binary_search(&name.as_str()).ok();
            let signals = sample.signals.iter().filter_map(place).collect();
            problem.add(Row { signals, is_of, weight: sample.weight });
        }
        let fitted = problem.solve();
        let round = |value: f64| (value * 10.0).round() / 10.0;
        let rounded = names.iter().zip(fitted.weights).map(|(name, weight)| (*name, round(weight)));
        let mut weights: Vec<(&str, f64)> =
            rounded.filter(|(_, weight)| weight.abs() >= LEAST_WEIGHT).collect();
        weights.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(other.0)));
        (round(fitted.start + class.ease), weights)
    }
}

const HEAD: &str = "# Written by `cargo xtask bench feedback --fit GOLD` from labelled exchanges: how much each family, rule and fact of form
# speaks for or against a class of feedback, in units of log odds. Not edited by hand.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(complaints: usize, thanks: usize) -> Samples {
        let mut all = Samples::default();
        for _ in 0..complaints {
            all.add("I sorted the list.", "That's wrong.", vec![FeedbackAct::Reject], 1.0);
        }
        for _ in 0..thanks {
            all.add("I sorted the list.", "Thanks, see you.", Vec::new(), 1.0);
        }
        all
    }

    #[test]
    fn what_complaints_show_speaks_for_corrections_and_the_table_is_the_same_each_time() {
        let all = samples(20, 20);
        let text = all.table();
        assert_eq!(text, all.table());
        let correction = text.split("[weight.").nth(1).unwrap();
        let weight = |name: &str| -> f64 {
            let line = correction.lines().find(|line| line.starts_with(&format!("\"{name}\"")));
            line.map_or(0.0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
        };
        assert!(weight("rules.correction") > 0.3, "{correction}");
        assert!(weight("before.did").abs() < 1e-9, "what both show says nothing");
    }

    #[test]
    fn a_signal_of_few_messages_has_no_weight() {
        assert!(!samples(LEAST_SHOWN - 1, 20).table().contains("rules.correction"));
        assert!(samples(LEAST_SHOWN, 20).table().contains("rules.correction"));
    }

    #[test]
    fn a_counter_example_says_only_what_a_message_is_not() {
        let known = ActLabels::Without(FeedbackAct::Repair);
        assert_eq!(known.is_of(CLASSES[0]), Some(false));
        assert_eq!(known.is_of(CLASSES[1]), None);
        let known = ActLabels::Acts(vec![FeedbackAct::Repair]);
        assert_eq!((known.is_of(CLASSES[0]), known.is_of(CLASSES[1])), (Some(true), Some(false)));
    }
}
