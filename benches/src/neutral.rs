//! Data sets in the neutral layout: `corpus.jsonl` with one turn per line, `questions.jsonl` with one question per line.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// One turn of a conversation, as far as scoring needs it; its text goes through the import.
#[derive(Clone, Debug, Deserialize)]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// The wider conversation, which has a space of its own unless spaces are pooled.
    pub conv: String,
    /// The session within it.
    pub session: String,
    /// When it was said; times of one set are written alike, so that their order is that of the texts.
    #[serde(default)]
    pub ts: Option<String>,
    /// Who said it.
    #[serde(default)]
    pub speaker: String,
    /// Its place in the corpus.
    #[serde(skip)]
    pub place: usize,
}

/// One question with the turns that answer it.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// The conversation that it is asked of.
    pub conv: String,
    /// The words.
    pub question: String,
    /// Ids of the turns that hold the answer; empty when nothing does, or nothing that was said when it is asked.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The sessions that hold the answer, where they are more than those of the evidence.
    #[serde(default)]
    pub evidence_sessions: Option<Vec<String>>,
    /// Only turns with an earlier time are known when it is asked; `None` where all of them are.
    #[serde(default)]
    pub before: Option<String>,
    /// When exactly it is asked.
    #[serde(default)]
    pub asked_at: Option<String>,
    /// Every other field; groups are made by one of them.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Question {
    /// Whether a turn was not said yet when the question is asked.
    pub fn is_later(&self, turn: &Turn) -> bool {
        self.before.as_deref().is_some_and(|before| turn.ts.as_deref().unwrap_or_default() >= before)
    }
}

/// One question of a run with its results.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, serde::Serialize)]
pub struct Row {
    /// Id of the question.
    pub id: String,
    /// Ids of turns, best first.
    pub ranked: Vec<String>,
}

/// A data set.
#[derive(Clone, Debug)]
pub struct DataSet {
    /// The file that is imported.
    pub corpus: PathBuf,
    /// The turns by id.
    pub turns: HashMap<String, Turn>,
    /// Names of the conversations, in the order of their first turns.
    pub conversations: Vec<String>,
    /// The questions that have evidence, in the order of the file; those that are asked at a moment by that moment, behind those
    /// that know all turns.
    pub questions: Vec<Question>,
}

impl DataSet {
    /// Reads a folder; `questions` is the name of a file in it, or a path.
    ///
    /// # Errors
    /// A file that is missing, or a line that is no such record, which is named.
    pub fn read(folder: &Path, questions: &str) -> Result<Self> {
        let corpus = folder.join("corpus.jsonl");
        let mut turns: Vec<Turn> = lines(&corpus)?;
        for (place, turn) in turns.iter_mut().enumerate() {
            turn.place = place;
        }
        let mut conversations: Vec<String> = Vec::new();
        for turn in &turns {
            if conversations.last() != Some(&turn.conv) && !conversations.contains(&turn.conv) {
                conversations.push(turn.conv.clone());
            }
        }
        let mut questions: Vec<Question> = lines(&folder.join(questions))?;
        questions.retain(|question| !question.evidence.is_empty());
        questions.sort_by(|a, b| a.before.cmp(&b.before));
        let turns: HashMap<_, _> = turns.into_iter().map(|turn| (turn.id.clone(), turn)).collect();
        for question in &mut questions {
            let mut evidence = std::mem::take(&mut question.evidence);
            evidence.retain(|id| !turns.get(id).is_some_and(|turn| question.is_later(turn)));
            question.evidence = evidence;
        }
        Ok(Self { corpus, turns, conversations, questions })
    }

    /// Returns the questions that are asked at one moment together, in the order in which they are asked.
    pub fn moments(&self) -> impl Iterator<Item = &[Question]> {
        self.questions.chunk_by(|a, b| a.before == b.before)
    }
}

/// Reads one record per line; empty lines are passed over.
///
/// # Errors
/// A file that cannot be read, or a line that is no such record, which is named.
pub fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut records = Vec::new();
    for (line, number) in BufReader::new(file).lines().zip(1..) {
        let line = line.with_context(|| format!("cannot read {}", path.display()))?;
        if !line.trim().is_empty() {
            let record = serde_json::from_str(&line);
            records.push(record.with_context(|| format!("{}:{number}", path.display()))?);
        }
    }
    Ok(records)
}
