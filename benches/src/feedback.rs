//! Feedback detection: the detector against labels, and against chats without an assistant.

pub mod fit;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use mnemal_extract::{Aspect, Feedback, FeedbackAct, OwnWords, Polarity, Turn, feedback, preference_notes};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::extraction::Share;
use crate::neutral::lines;

/// Weight from which distinct events make a learning. Source: one very irritated, two mild or three casual signals.
const ENOUGH_WEIGHT: f32 = 3.0;
/// Sessions that mild and casual signals must come from. Source: the rule that writes learnings.
const ENOUGH_SESSIONS: usize = 2;
/// Turns to which false learnings are scaled. Source: the target is one in so many.
const SCALE: f64 = 2_000.0;
/// The target of feedback that names none.
const UNNAMED: &str = "answer";

/// One exchange: a message of the assistant and the user's answer.
#[derive(Clone, Debug, Deserialize)]
struct Exchange {
    id: String,
    dialogue: String,
    #[serde(default)]
    assistant: String,
    user: String,
}

/// What a reader says of an exchange.
#[derive(Clone, Debug, Deserialize)]
struct Label {
    id: String,
    acts: Vec<LabelledAct>,
}

#[derive(Clone, Debug, Deserialize)]
struct LabelledAct {
    act: String,
    level: String,
}

/// The classes that are counted, each with its acts.
const CLASSES: [(&str, &[FeedbackAct]); 5] = [
    ("corrections", &[FeedbackAct::Reject, FeedbackAct::Repair]),
    ("directives", &[FeedbackAct::Directive]),
    ("preferences", &[FeedbackAct::Preference]),
    ("praise", &[FeedbackAct::Praise]),
    ("give_up", &[FeedbackAct::GiveUp]),
];

/// One half of a gold set with the findings in it.
#[derive(Debug)]
pub struct JudgedHalf {
    rows: Vec<(Exchange, Label, Vec<Feedback>)>,
}

impl JudgedHalf {
    /// Reads `HALF.turns.jsonl` and `HALF.labels.jsonl` and runs the detector; feedback of earlier exchanges of a dialogue is
    /// known to the later ones.
    ///
    /// # Errors
    /// A file that is missing, a line that is no such record, or an exchange without a label.
    pub fn read(folder: &Path, half: &str) -> Result<Self> {
        let exchanges: Vec<Exchange> = lines(&folder.join(format!("{half}.turns.jsonl")))?;
        let labels: Vec<Label> = lines(&folder.join(format!("{half}.labels.jsonl")))?;
        let mut labels: HashMap<String, Label> =
            labels.into_iter().map(|label| (label.id.clone(), label)).collect();
        let mut earlier: HashMap<String, Vec<Feedback>> = HashMap::new();
        let mut rows = Vec::with_capacity(exchanges.len());
        for exchange in exchanges {
            let label =
                labels.remove(&exchange.id).with_context(|| format!("no label for {}", exchange.id))?;
            let known = earlier.entry(exchange.dialogue.clone()).or_default();
            let assistant = Some(exchange.assistant.as_str()).filter(|text| !text.is_empty());
            let mut found =
                feedback(Turn { user: &OwnWords::of_text(&exchange.user), assistant, earlier: known });
            // No wish by itself.
            found.retain(|one| !one.is_slot_change());
            known.extend(found.iter().cloned());
            rows.push((exchange, label, found));
        }
        ensure!(!rows.is_empty(), "no exchanges");
        Ok(Self { rows })
    }

    /// Returns precision and recall by class, and the share of right levels among the true positives.
    pub fn figures(&self) -> Value {
        let mut figures = serde_json::Map::new();
        let mut levels = Share::default();
        for (name, acts) in CLASSES {
            let (mut precision, mut recall) = (Share::default(), Share::default());
            for (_, label, found) in &self.rows {
                let hit = found.iter().find(|feedback| acts.contains(&feedback.act));
                let wanted = label.acts.iter().find(|act| is_of(acts, &act.act));
                if hit.is_some() {
                    precision.count(wanted.is_some());
                }
                if wanted.is_some() {
                    recall.count(hit.is_some());
                }
                if let Some((hit, wanted)) = hit.zip(wanted) {
                    levels.count(hit.irritation.as_str() == wanted.level);
                }
            }
            figures.insert(name.to_owned(), class(precision, recall));
        }
        figures.insert("level".to_owned(), levels.json());
        figures.insert("n".to_owned(), json!(self.rows.len()));
        Value::Object(figures)
    }

    /// Returns for each class the matches of each rule, and the true positives among them.
    pub fn by_rule(&self) -> Value {
        let mut classes = serde_json::Map::new();
        for (name, acts) in CLASSES {
            let mut rules: BTreeMap<&str, Share> = BTreeMap::new();
            for (_, label, found) in &self.rows {
                let is_wanted = label.acts.iter().any(|act| is_of(acts, &act.act));
                if let Some(hit) = found.iter().find(|feedback| acts.contains(&feedback.act)) {
                    rules.entry(hit.rule.as_str()).or_default().count(is_wanted);
                }
            }
            let rules = rules.into_iter().map(|(rule, share)| (rule.to_owned(), share.json()));
            classes.insert(name.to_owned(), Value::Object(rules.collect()));
        }
        Value::Object(classes)
    }

    /// Returns a line for each exchange in which an act was missed or found without a label.
    pub fn failures(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (exchange, label, found) in &self.rows {
            for (name, acts) in CLASSES {
                let hit = found.iter().find(|feedback| acts.contains(&feedback.act));
                let is_wanted = label.acts.iter().any(|act| is_of(acts, &act.act));
                match hit {
                    Some(hit) if !is_wanted => {
                        all.push(format!("{} {name} taken by {}", exchange.id, hit.rule.as_str()));
                    }
                    None if is_wanted => all.push(format!("{} {name} missed", exchange.id)),
                    _ => {}
                }
            }
        }
        all
    }
}

fn is_of(acts: &[FeedbackAct], name: &str) -> bool {
    FeedbackAct::from_name(name).is_some_and(|act| acts.contains(&act))
}

/// `n` is the number of labeled exchanges; `low` and `high` bound the precision, `recall_low` and `recall_high` the recall.
fn class(precision: Share, recall: Share) -> Value {
    let round = |value: f64| (value * 10_000.0).round() / 10_000.0;
    let ((low, high), (recall_low, recall_high)) = (precision.interval(), recall.interval());
    json!({
        "precision": round(precision.value()), "recall": round(recall.value()), "n": recall.n, "found": precision.n,
        "low": round(low), "high": round(high), "recall_low": round(recall_low), "recall_high": round(recall_high),
    })
}

/// One turn of a chat between people.
#[derive(Clone, Debug, Deserialize)]
struct ChatTurn {
    conv: String,
    session: String,
    speaker: String,
    text: String,
}

/// What adds up: target, aspect, value and polarity.
type Key = (String, Aspect, String, Polarity);

/// Evidence for one key in one conversation.
#[derive(Debug, Default)]
struct Evidence {
    weight: f32,
    sessions: HashSet<String>,
    is_explicit: bool,
    is_very: bool,
}

/// Counts learnings from chats without an assistant, where every learning is false.
///
/// The preceding turn of another speaker replaces the assistant's message.
/// A learning is written by one explicit act, by one very irritated complaint with a named target, or when evidence of equal
/// target, aspect, value and polarity from distinct turns weighs 3 and comes from 2 sessions.
///
/// # Errors
/// A file that is missing, or a line that is no such record.
pub fn false_learnings(folder: &Path) -> Result<Value> {
    let turns: Vec<ChatTurn> = lines(&folder.join("corpus.jsonl"))?;
    let mut evidence: HashMap<(String, Key), Evidence> = HashMap::new();
    let mut signals: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut earlier: Vec<Feedback> = Vec::new();
    let mut before: Option<&ChatTurn> = None;
    for turn in &turns {
        let same = before.filter(|before| before.session == turn.session);
        if same.is_none() {
            earlier.clear();
        }
        let assistant =
            same.filter(|before| before.speaker != turn.speaker).map(|before| before.text.as_str());
        let mut found = feedback(Turn { user: &OwnWords::of_text(&turn.text), assistant, earlier: &earlier });
        found.retain(|one| !one.is_slot_change());
        let mut weighed: HashSet<Key> = HashSet::new();
        for one in &found {
            *signals.entry(one.act.as_str()).or_default() += 1;
            let is_named = one.target != UNNAMED || one.aspect != Aspect::Other;
            let is_signal =
                matches!(one.act, FeedbackAct::Praise | FeedbackAct::GiveUp | FeedbackAct::Repeat);
            if !is_named && !one.is_explicit || is_signal {
                continue;
            }
            let value = one.value.clone().unwrap_or_default().to_lowercase();
            let key = (one.target.clone(), one.aspect, value, one.polarity);
            let entry = evidence.entry((turn.conv.clone(), key.clone())).or_default();
            entry.is_explicit |= one.is_explicit;
            entry.is_very |= one.irritation.weight() >= ENOUGH_WEIGHT && is_named;
            entry.sessions.insert(turn.session.clone());
            if weighed.insert(key) {
                entry.weight += one.irritation.weight();
            }
        }
        earlier.extend(found);
        before = Some(turn);
    }
    let is_written = |entry: &Evidence| {
        let adds_up = entry.weight >= ENOUGH_WEIGHT && entry.sessions.len() >= ENOUGH_SESSIONS;
        entry.is_explicit || entry.is_very || adds_up
    };
    let written = evidence.values().filter(|entry| is_written(entry)).count();
    let per_scale = written as f64 * SCALE / turns.len().max(1) as f64;
    Ok(json!({
        "false_per_2000": (per_scale * 100.0).round() / 100.0, "learnings": written, "turns": turns.len(), "signals": signals,
    }))
}

/// Returns the share of the turns of users that give a preference note.
///
/// On a folder in which each turn states one preference that is the share that is found.
///
/// # Errors
/// A file that is missing, or a line that is no such record.
pub fn noted(folder: &Path) -> Result<Value> {
    let turns: Vec<ChatTurn> = lines(&folder.join("corpus.jsonl"))?;
    let mut share = Share::default();
    for turn in turns.iter().filter(|turn| turn.speaker != "assistant") {
        share.count(!preference_notes(&OwnWords::of_text(&turn.text)).is_empty());
    }
    Ok(share.json())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn an_exchange_counts_by_class() {
        let turns = r#"{"id":"a","dialogue":"d","assistant":"The list has two parts.","user":"That's wrong."}
            {"id":"b","dialogue":"d","assistant":"Here it is.","user":"Always use metric units."}
            {"id":"c","dialogue":"d","assistant":"Fine.","user":"I live in Ghent."}"#;
        let labels = r#"{"id":"a","acts":[{"act":"repair","level":"mild"}]}
            {"id":"b","acts":[]}
            {"id":"c","acts":[{"act":"praise","level":"casual"}]}"#;
        let folder = folder(&[("dev.turns.jsonl", turns), ("dev.labels.jsonl", labels)]);
        let judged = JudgedHalf::read(folder.path(), "dev").unwrap();
        let figures = judged.figures();
        assert_eq!(figures["corrections"]["precision"], 1.0, "{:?}", judged.failures());
        assert_eq!(figures["directives"]["precision"], 0.0);
        assert_eq!(figures["praise"]["recall"], 0.0);
        assert_eq!(figures["level"]["value"], 1.0);
        assert_eq!(judged.failures().len(), 2);
    }

    #[test]
    fn one_explicit_act_is_a_learning_and_ordinary_talk_is_none() {
        let line = |speaker: &str, text: &str| {
            json!({"conv": "c", "session": "s", "speaker": speaker, "text": text}).to_string()
        };
        let quiet = [line("A", "We went to the sea."), line("B", "How lovely, never give up!")].join("\n");
        let found = false_learnings(folder(&[("corpus.jsonl", &quiet)]).path()).unwrap();
        assert_eq!(found["learnings"], 0);
        let told = [line("A", "Here is the text."), line("B", "Never use emojis.")].join("\n");
        let found = false_learnings(folder(&[("corpus.jsonl", &told)]).path()).unwrap();
        assert_eq!((&found["learnings"], &found["false_per_2000"]), (&json!(1), &json!(1_000.0)));
    }
}
