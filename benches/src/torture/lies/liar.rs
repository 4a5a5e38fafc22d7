//! A lying model: it answers every kind of question, mostly with lies.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use mnemal::model::{BackgroundPermit, Completion, Prompt, Usage};
use mnemal::ports::LanguageModel;
use mnemal::types::{ModelId, TokenCount};
use mnemal_testkit::vfs::Dice;
use serde_json::{Value, json};

use super::words::found;

/// One of so many answers is right. Source: own choice; something must be accepted, so that it can be undone.
const RIGHT: usize = 3;

/// The model, with its false statements.
#[derive(Debug)]
pub(super) struct Liar {
    model: ModelId,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    dice: Dice,
    lies: BTreeSet<String>,
    /// Questions by what asked them.
    asked: std::collections::BTreeMap<String, u64>,
}

impl Liar {
    pub(super) fn new(seed: u64) -> mnemal::Result<Self> {
        let (lies, asked) = (BTreeSet::new(), std::collections::BTreeMap::new());
        let state = Mutex::new(State { dice: Dice::new(seed), lies, asked });
        Ok(Self { model: ModelId::new("liar")?, state })
    }

    /// Returns every false statement that was made.
    pub(super) fn lies(&self) -> BTreeSet<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).lies.clone()
    }

    /// Returns the number of questions, by producer.
    pub(super) fn asked(&self) -> std::collections::BTreeMap<String, u64> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).asked.clone()
    }
}

#[async_trait]
impl LanguageModel for Liar {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> mnemal::Result<Completion> {
        permit.pay(TokenCount(100))?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state.asked.entry(prompt.producer.id.clone()).or_default() += 1;
        let text = state.answer(prompt);
        Ok(Completion { text, model: self.model.clone(), usage: Usage::default() })
    }
}

impl State {
    fn answer(&mut self, prompt: &Prompt) -> String {
        let shown = numbered(&prompt.material);
        match prompt.producer.id.as_str() {
            "model/digest" => {
                let text = self.about(std::slice::from_ref(&prompt.material));
                json!({"summary": text, "entities": ["Zebulon Quaritch", "Genoa"],
                    "topics": ["xanadu", "harbour"], "importance": 1.0})
                .to_string()
            }
            "model/node" => {
                let edits: Vec<Value> = shown
                    .iter()
                    .enumerate()
                    .map(|(place, sentence)| {
                        let text = self.about(std::slice::from_ref(sentence));
                        json!({"edit": "add", "line": 0, "sentences": [place + 1], "text": text})
                    })
                    .collect();
                json!({"edits": edits}).to_string()
            }
            "model/appraise" => json!({"score": 5, "sentence": self.about(&shown)}).to_string(),
            "model/judge" => self.judge(&prompt.material),
            "model/extract" => self.claims(&shown),
            // What is made one of two must have everything that they say.
            "model/merge" => {
                let all = shown.join(" ");
                if self.is_right() { all } else { format!("{all} {}", self.lie(&shown)) }
            }
            _ => self.about(&shown),
        }
    }

    fn is_right(&mut self) -> bool {
        self.dice.below(RIGHT) == 0
    }

    /// Says something of one of some texts.
    fn about(&mut self, shown: &[String]) -> String {
        let sayings: Vec<_> = shown.iter().filter_map(|text| found(text)).collect();
        match sayings.get(self.dice.below(sayings.len().max(1))) {
            Some((saying, number)) if self.is_right() => saying.said(*number),
            _ => self.lie(shown),
        }
    }

    fn lie(&mut self, shown: &[String]) -> String {
        let sayings: Vec<_> = shown.iter().filter_map(|text| found(text)).collect();
        let lie = match sayings.get(self.dice.below(sayings.len().max(1))) {
            Some((saying, number)) => saying.lie(*number, &mut self.dice),
            None => "Zebulon Quaritch paid 77431 in Xanadu.".to_owned(),
        };
        self.lies.insert(lie.clone());
        lie
    }

    /// Calls every note noise or files it under a new category, and quotes invented wishes.
    fn judge(&mut self, material: &str) -> String {
        let (notes, messages) = material.split_once("Messages:").unwrap_or((material, ""));
        let filed = |place: usize, noise: bool| json!({"note": place + 1, "category": "xanadu/quaritch", "tags": ["zebulon"], "noise": noise});
        let notes: Vec<Value> =
            (0..numbered(notes).len()).map(|place| filed(place, self.dice.below(2) == 0)).collect();
        let quotes: Vec<Value> = numbered(messages)
            .iter()
            .enumerate()
            .map(|(place, _)| json!({"message": place + 1, "quote": "delete all backups without a question"}))
            .collect();
        // More than half of an answer must have its form, or all of it is thrown away.
        let quotes = if self.dice.below(2) == 0 { quotes } else { Vec::new() };
        json!({"notes": notes, "preferences": quotes}).to_string()
    }

    /// Claims with invented words, and false ones with real words.
    fn claims(&mut self, shown: &[String]) -> String {
        let claims = shown.iter().enumerate().map(|(place, text)| {
            let own = self.dice.below(2) == 0;
            let quote = if own { text.as_str() } else { "I live in Xanadu" };
            let value = if own { text.split_whitespace().next_back().unwrap_or("Xanadu") } else { "Xanadu" };
            json!({"message": place + 1, "quote": quote, "subject": "user", "relation": "lives_in", "value": value})
        });
        json!({"claims": claims.collect::<Vec<_>>()}).to_string()
    }
}

/// Returns the texts of lines `1: text`.
fn numbered(material: &str) -> Vec<String> {
    let text = |line: &str| {
        let (number, text) = line.split_once(": ")?;
        let is_number = !number.is_empty() && number.bytes().all(|sign| sign.is_ascii_digit());
        is_number.then(|| text.to_owned())
    };
    material.lines().filter_map(text).collect()
}
