//! Claims and names against human labels, one by one.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Result, ensure};
use mnemal_core::{Act, Confidence, EntityKind, ExtractedFact, Extraction, Extractor, Subject, Zone};
use mnemal_reader::VotingExtractor;
use serde::Deserialize;
use serde_json::{Value, json};

use super::fit::JudgedClaim;
use super::stems::{is_same, stems};
use super::{Share, TurnText, moment, read};
use crate::neutral::lines;

#[derive(Debug, Deserialize)]
struct TurnLine {
    id: String,
    tz: String,
    at: String,
    #[serde(default)]
    prev: String,
    text: String,
}

#[derive(Debug, Default, Deserialize)]
struct LabelLine {
    id: String,
    #[serde(default)]
    claims: Vec<Label>,
    #[serde(default)]
    entities: Vec<(String, String)>,
    #[serde(default)]
    traps: Vec<(String, String)>,
}

/// A claim that a reader found.
#[derive(Clone, Debug, Deserialize)]
pub struct Label {
    /// Predicate.
    pub p: String,
    /// Subject: `me`, `rel:ROLE` or `name:NAME`.
    pub s: String,
    /// Object.
    pub o: String,
    /// Act; `assert` when it is not there.
    pub act: Option<String>,
    /// The subject is said.
    pub x: Option<u8>,
    /// Worth keeping.
    pub w: Option<u8>,
    /// The words that date it.
    pub t: Option<String>,
}

impl Label {
    /// Returns the act.
    pub fn act(&self) -> &str {
        self.act.as_deref().unwrap_or("assert")
    }

    /// A statement of the speaker about themselves or theirs that holds, with its subject said.
    fn is_self_statement(&self) -> bool {
        self.x == Some(1) && self.act() == "assert" && !self.s.starts_with("name:")
    }
}

/// Turns with labels.
#[derive(Debug)]
pub struct Gold {
    /// The turns, in the order of the file.
    pub turns: Vec<TurnText>,
    labels: Vec<LabelLine>,
}

/// What was counted.
#[derive(Debug, Default)]
struct Counts {
    faithful: Share,
    worth: Share,
    all_faithful: Share,
    found: Share,
    found_any: Share,
    negated: Share,
    entity_precision: Share,
    entity_recall: Share,
    by_rule: BTreeMap<String, (Share, Share, Share)>,
    failures: Vec<String>,
    judged: Vec<JudgedClaim>,
}

/// Probability below which claims of a model are not shown. Source: own choice.
const LEAST: f32 = 0.1;

impl Gold {
    /// Reads `HALF.turns.jsonl` and `HALF.labels.jsonl` of a folder.
    ///
    /// # Errors
    /// A file that is missing, a line that is no such record, or labels of other turns.
    pub fn read(folder: &Path, half: &str) -> Result<Self> {
        let mut turns = Vec::new();
        for line in lines::<TurnLine>(&folder.join(format!("{half}.turns.jsonl")))? {
            let (at, offset_seconds) = moment(&line.at)?;
            turns.push(TurnText {
                id: line.id,
                before: line.prev,
                text: line.text,
                at,
                zone: Zone { name: line.tz, offset_seconds },
            });
        }
        let mut by_id: HashMap<String, LabelLine> = HashMap::new();
        for line in lines::<LabelLine>(&folder.join(format!("{half}.labels.jsonl")))? {
            by_id.insert(line.id.clone(), line);
        }
        ensure!(turns.len() == by_id.len(), "{half}: {} turns and {} labels", turns.len(), by_id.len());
        let labels = turns.iter().map(|turn| by_id.remove(&turn.id).unwrap_or_default()).collect();
        Ok(Self { turns, labels })
    }

    /// Returns the figures, and what failed.
    ///
    /// # Errors
    /// A turn that cannot become an event.
    pub fn measure(&self, extractor: &dyn Extractor) -> Result<(Value, Vec<String>)> {
        let counts = self.counts(extractor)?;
        let rules: BTreeMap<String, Value> = counts
            .by_rule
            .iter()
            .map(|(rule, (all, active, worth))| {
                let counts = json!({"all": all.json(), "active": active.json(), "worth": worth.json()});
                (rule.clone(), counts)
            })
            .collect();
        let value = json!({
            "faithful": counts.faithful.json(), "worth": counts.worth.json(),
            "faithful_with_candidates": counts.all_faithful.json(),
            "self_statements_found": counts.found.json(), "labels_found": counts.found_any.json(),
            "negated_stored": counts.negated.json(),
            "entity_precision": counts.entity_precision.json(), "entity_recall": counts.entity_recall.json(),
            "n": self.turns.len(), "by_rule": rules,
        });
        Ok((value, counts.failures))
    }

    /// Returns every claim with whether a reader found the same.
    ///
    /// # Errors
    /// A turn that cannot become an event.
    pub fn judged(&self, extractor: &dyn Extractor) -> Result<Vec<JudgedClaim>> {
        Ok(self.counts(extractor)?.judged)
    }

    /// Returns every claim of the rules and of a model with the votes on it, and whether it is labeled: one JSON object each.
    ///
    /// # Errors
    /// A turn that cannot become an event, or a model that fails to run.
    pub fn votes(&self, extractor: &VotingExtractor) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        for (number, (turn, labels)) in self.turns.iter().zip(&self.labels).enumerate() {
            let found = turn.with_utterance(number, |utterance| extractor.votes(utterance, LEAST))??;
            let mut taken = vec![false; labels.claims.len()];
            for (fact, votes) in found {
                let label = claim_label(&mut taken, labels, &fact, &turn.text);
                let is_self = label.is_some_and(Label::is_self_statement);
                all.push(json!({
                    "turn": turn.id, "rule": fact.rule.as_str(), "predicate": fact.predicate.as_str(),
                    "rules": votes.rules, "reader": votes.reader, "right": label.is_some(), "self": is_self,
                }));
            }
        }
        Ok(all)
    }

    fn counts(&self, extractor: &dyn Extractor) -> Result<Counts> {
        let found = read(extractor, &self.turns)?;
        let mut counts = Counts::default();
        for ((turn, labels), extraction) in self.turns.iter().zip(&self.labels).zip(&found) {
            counts.claims(turn, labels, extraction);
            counts.traps(turn, labels, extraction);
            counts.entities(labels, extraction);
        }
        Ok(counts)
    }
}

impl Counts {
    fn claims(&mut self, turn: &TurnText, labels: &LabelLine, extraction: &Extraction) {
        let mut taken = vec![false; labels.claims.len()];
        for fact in &extraction.facts {
            let fits = claim_label(&mut taken, labels, fact, &turn.text);
            let is_active = fact.confidence >= Confidence::ACTIVE;
            let is_worth = fits.is_some_and(|label| label.w == Some(1));
            self.judged.push(JudgedClaim::new(fact.rule.as_str(), fact.confidence, fits));
            self.all_faithful.count(fits.is_some());
            let rule = self.by_rule.entry(fact.rule.as_str().to_owned()).or_default();
            rule.0.count(fits.is_some());
            if is_active {
                self.faithful.count(fits.is_some());
                self.worth.count(is_worth);
                rule.1.count(fits.is_some());
                rule.2.count(is_worth);
            }
            if fits.is_none() {
                let kind = if is_active { "WRONG" } else { "unsure" };
                self.failures.push(format!("{kind} {} {}", turn.id, described(fact)));
            }
        }
        for (label, taken) in labels.claims.iter().zip(taken) {
            self.found_any.count(taken);
            if label.is_self_statement() {
                self.found.count(taken);
            }
            if !taken {
                let kind = if label.is_self_statement() { "MISSED" } else { "missed" };
                self.failures.push(format!(
                    "{kind} {} {} {} {} {}",
                    turn.id,
                    label.s,
                    label.p,
                    label.act(),
                    label.o
                ));
            }
        }
    }

    fn traps(&mut self, turn: &TurnText, labels: &LabelLine, extraction: &Extraction) {
        for (_, quote) in &labels.traps {
            let Some(start) = turn.text.find(quote.as_str()) else { continue };
            let range = start..start + quote.len();
            let hit = extraction.facts.iter().find(|fact| {
                let is_inside = range.contains(&(fact.span.start as usize));
                let is_label = labels.claims.iter().any(|label| agrees(fact, label, &turn.text));
                is_inside && !is_label && !fact.act.is_of_past() && fact.attributed_to.is_none()
            });
            self.negated.count(hit.is_some());
            if let Some(fact) = hit {
                self.failures.push(format!("TRAP {} {}", turn.id, described(fact)));
            }
        }
    }

    fn entities(&mut self, labels: &LabelLine, extraction: &Extraction) {
        let mut taken = vec![false; labels.entities.len()];
        let mut seen: Vec<&str> = Vec::new();
        for mention in &extraction.mentions {
            let is_other =
                matches!(mention.kind, EntityKind::Identifier | EntityKind::Quantity | EntityKind::Concept);
            if is_other || seen.contains(&mention.name.as_str()) {
                continue;
            }
            seen.push(&mention.name);
            let fits = labels
                .entities
                .iter()
                .position(|(name, kind)| *name == mention.name && kind == mention.kind.as_str());
            if let Some(place) = fits.and_then(|place| taken.get_mut(place)) {
                *place = true;
            }
            self.entity_precision.count(fits.is_some());
        }
        for taken in taken {
            self.entity_recall.count(taken);
        }
    }
}

/// Returns the first label that a claim agrees with and no other has taken, and takes it.
fn claim_label<'l>(
    taken: &mut [bool],
    labels: &'l LabelLine,
    fact: &ExtractedFact,
    text: &str,
) -> Option<&'l Label> {
    let mut free = labels.claims.iter().zip(taken).filter(|(_, taken)| !**taken);
    let (label, taken) = free.find(|(label, _)| agrees(fact, label, text))?;
    *taken = true;
    Some(label)
}

/// Returns a claim as a line for people: subject, predicate, act, object, rule and confidence.
pub fn described(fact: &ExtractedFact) -> String {
    let subject = subject(&fact.subject);
    let (rule, confidence) = (fact.rule.as_str(), fact.confidence.get());
    format!(
        "{subject} {} {} {} [{rule} {confidence:.2}]",
        fact.predicate.as_str(),
        fact.act.as_str(),
        fact.object.text
    )
}

fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Speaker => "me".to_owned(),
        Subject::Relation { role, .. } => format!("rel:{role}"),
        Subject::Named(name) => format!("name:{name}"),
    }
}

/// Returns whether an act is the labeled one. The labels know one act for what is over, `end` (GUIDE.md: "a past job is `role` or
/// `works_at` with act `end`"); what is told of the past ("worked at") is over too.
fn is_act(act: Act, label: &str) -> bool {
    act.as_str() == label || act == Act::Past && label == Act::End.as_str()
}

/// Equal subject, predicate and act, the same object, and a time whose words overlap where both have one.
fn agrees(fact: &ExtractedFact, label: &Label, text: &str) -> bool {
    let said = fact.time.and_then(|time| time.span.of(text)).map(stems);
    let times = match (&said, &label.t) {
        (Some(said), Some(time)) => stems(time).iter().any(|stem| said.contains(stem)) || said.is_empty(),
        _ => true,
    };
    // "Mum" and "mum" are one role.
    let singular = |subject: &str| subject.strip_suffix('s').unwrap_or(subject).to_lowercase();
    singular(&subject(&fact.subject)) == singular(&label.s)
        && fact.predicate.as_str() == label.p
        && is_act(fact.act, label.act())
        && is_same(&fact.object.text, &label.o)
        && times
}
