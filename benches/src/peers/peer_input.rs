//! Input of every peer: texts as mnemal indexes them, questions, and the vectors of both.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use mnemal::events::Cursor;
use mnemal::{Engine, EventFilter, ImportFormat, Within};
use mnemal_providers::StaticEmbedder;
use mnemal_recall::{embedded_text, indexed_text};
use serde::{Deserialize, Serialize};

use crate::chat;
use crate::latency::SEED;
use crate::neutral::{DataSet, Turn, lines};
use crate::spaces::{memory, own_history};

/// Events that are read at once.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// The name of the one conversation of made events. Source: that of `chat::write_corpus`.
const MADE: &str = "c";

/// A folder with everything that a peer may see.
///
/// `corpus.jsonl` is the data set in the neutral layout, for mnemal; `texts.jsonl` and `questions.jsonl` have one
/// line each, `texts.f32` and `questions.f32` their vectors in the same order.
#[derive(Clone, Debug)]
pub struct PeerInput {
    /// The name of the set in a report.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// Texts in it.
    pub events: usize,
    /// Questions in it.
    pub questions: usize,
}

/// A text or a question.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Line {
    /// Its id.
    pub(super) id: String,
    /// The conversation that it belongs to.
    pub(super) conv: String,
    /// The words: `[date] Speaker: text [shares a photo of caption]`, or the question as it is.
    pub(super) text: String,
}

impl PeerInput {
    /// Hands over a data set.
    ///
    /// # Errors
    /// A corpus that cannot be imported in full, or a folder that cannot be written.
    pub async fn of_data(name: &str, data: &DataSet, folder: PathBuf) -> Result<Self> {
        std::fs::create_dir_all(&folder)?;
        std::fs::copy(&data.corpus, folder.join(CORPUS))?;
        let question = |question: &crate::neutral::Question| Line {
            id: question.id.clone(),
            conv: question.conv.clone(),
            text: question.question.clone(),
        };
        Self::write(name, folder, data.questions.iter().map(question).collect()).await
    }

    /// Makes one conversation of so many events, and questions about it, as `bench latency` does.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub async fn made(name: &str, events: usize, questions: usize, folder: PathBuf) -> Result<Self> {
        std::fs::create_dir_all(&folder)?;
        let mut out = BufWriter::new(File::create(folder.join(CORPUS))?);
        chat::write_corpus(SEED, events, &mut out)?;
        out.flush()?;
        let question = |(text, number)| Line { id: format!("q{number}"), conv: MADE.to_owned(), text };
        let asked = chat::questions(SEED, events, questions).into_iter().zip(0..);
        Self::write(name, folder, asked.map(question).collect()).await
    }

    /// Returns the texts by their ids.
    pub(super) fn texts(&self) -> Result<HashMap<String, String>> {
        let texts: Vec<Line> = lines(&self.folder.join("texts.jsonl"))?;
        Ok(texts.into_iter().map(|line| (line.id, line.text)).collect())
    }

    async fn write(name: &str, folder: PathBuf, questions: Vec<Line>) -> Result<Self> {
        let texts = texts(&folder.join(CORPUS)).await?;
        let (events, asked) = (texts.len(), questions.len());
        let questions = questions.into_iter().map(|line| (line.text.clone(), line)).collect();
        put(&folder.join("texts"), texts)?;
        put(&folder.join("questions"), questions)?;
        Ok(Self { name: name.to_owned(), folder, events, questions: asked })
    }
}

/// The corpus in the folder.
pub(super) const CORPUS: &str = "corpus.jsonl";

/// Imports a corpus, so that the texts are those that mnemal has after its own rules; each with what is embedded of it.
async fn texts(corpus: &Path) -> Result<Vec<(String, Line)>> {
    let turns: Vec<Turn> = lines(corpus)?;
    let convs: HashMap<String, String> = turns.into_iter().map(|turn| (turn.id, turn.conv)).collect();
    let memory = memory(Engine::builder())?;
    let file = BufReader::new(File::open(corpus)?);
    let report =
        memory.events().import(file, ImportFormat::Neutral, own_history(Within::All), &mut |_| {}).await?;
    ensure!(report.taken.stored == convs.len() as u64, "the corpus was not imported in full: {report:?}");
    let (mut texts, mut after) = (Vec::with_capacity(convs.len()), Cursor::START);
    loop {
        let page = memory.events().scan(&EventFilter::all(), after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Cursor(Some(last.seq));
        for event in page.iter().filter_map(mnemal::Event::body) {
            let id = event.metadata.get("source_id").context("an imported event without its id")?;
            let conv = convs.get(id).with_context(|| format!("no turn {id}"))?;
            let line = Line { id: id.clone(), conv: conv.clone(), text: indexed_text(event) };
            texts.push((embedded_text(event), line));
        }
    }
    Ok(texts)
}

/// Writes lines, and the vector of the text that precedes each: little-endian f32, all zeros for a text without one.
fn put(stem: &Path, lines: Vec<(String, Line)>) -> Result<()> {
    let embedder = StaticEmbedder::built_in();
    let none = vec![0.0_f32; mnemal::ports::Embedder::dimensions(&embedder)];
    let mut text = BufWriter::new(File::create(stem.with_extension("jsonl"))?);
    let mut vectors = BufWriter::new(File::create(stem.with_extension("f32"))?);
    for (embedded, line) in lines {
        serde_json::to_writer(&mut text, &line)?;
        text.write_all(b"\n")?;
        for value in embedder.embed_one(&embedded).as_ref().unwrap_or(&none) {
            vectors.write_all(&value.to_le_bytes())?;
        }
    }
    text.flush()?;
    Ok(vectors.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_text_has_its_vector_in_the_same_place() {
        let folder = tempfile::tempdir().unwrap();
        let handed = PeerInput::made("made", 60, 5, folder.path().join("made")).await.unwrap();
        assert_eq!((handed.events, handed.questions), (60, 5));
        let embedder = StaticEmbedder::built_in();
        for (stem, count) in [("texts", 60), ("questions", 5)] {
            let written: Vec<Line> = lines(&handed.folder.join(format!("{stem}.jsonl"))).unwrap();
            assert_eq!(written.len(), count);
            let bytes = std::fs::read(handed.folder.join(format!("{stem}.f32"))).unwrap();
            let size = bytes.len() / count;
            for (line, row) in written.iter().zip(bytes.chunks(size)) {
                let values = row.chunks(4).map(|value| f32::from_le_bytes(value.try_into().unwrap()));
                assert_eq!(values.collect::<Vec<_>>(), embedder.embed_one(&line.text).unwrap(), "{line:?}");
            }
        }
        let first: Vec<Line> = lines(&handed.folder.join("texts.jsonl")).unwrap();
        assert!(first[0].id == "t0" && first[0].text.starts_with("[2024-01-01] Ada: "), "{:?}", first[0]);
    }
}
