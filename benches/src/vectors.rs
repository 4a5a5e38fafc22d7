//! Approximate vector indexes against the exact scan: recall of the nearest neighbors, time and memory.
//!
//! The vectors are of sentences of real conversations, and where these do not suffice, of made ones.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use mnemal_core::{BLOCK_ROWS, EventId, IndexBlock, ModelId, Seq, Vector, VectorColumn};
use mnemal_providers::StaticEmbedder;
use mnemal_recall::{FlatIndex, QueryVector, RowSet, SignBits, VectorIndex};

use crate::chat::Chat;
use crate::cpu::{Watch, quantile, resident_bytes};
use crate::figure::Figure;
use crate::latency::SEED;

/// Rows that recall asks for. Source: its own number of candidates.
const LIMIT: usize = 100;
/// Fewest words of a sentence. Source: own choice; shorter ones are greetings and headings.
const WORDS: usize = 5;
/// Rows of which one passes the narrow filter. Source: own choice, as a space with ten users of equal diligence.
const ONE_IN: u32 = 10;
/// Bytes of a megabyte.
const MEGABYTE: f64 = 1e6;

/// Sentences and questions, embedded.
#[derive(Debug)]
pub struct Sample {
    rows: Vec<Vector>,
    questions: Vec<QueryVector>,
}

impl Sample {
    /// Reads up to `size` different sentences of the corpora in these folders, fills up with made ones, and takes up to
    /// `questions` of their questions, evenly spread; without any, sentences of another made conversation are the questions.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn read(folders: &[impl AsRef<Path>], size: usize, questions: usize) -> Result<Self> {
        let embedder = StaticEmbedder::built_in();
        let (mut rows, mut known, mut asked) = (Vec::new(), HashSet::new(), Vec::new());
        let mut add = |text: &str| -> Result<bool> {
            for sentence in text.split(['.', '!', '?', '\n', ';', ':', '|']).map(str::trim) {
                let is_new =
                    sentence.split_whitespace().count() >= WORDS && known.insert(sentence.to_owned());
                if is_new
                    && rows.len() < size
                    && let Some(vector) = embedder.embed_one(sentence)
                {
                    rows.push(Vector::from_unit(&vector)?);
                }
            }
            Ok(rows.len() < size)
        };
        for folder in folders.iter().map(AsRef::as_ref) {
            for text in texts(&folder.join("corpus.jsonl"), "text")? {
                add(&text)?;
            }
            asked.extend(texts(&folder.join("questions.jsonl"), "question")?);
        }
        for turn in Chat::new(SEED) {
            if !add(&turn.text)? {
                break;
            }
        }
        if asked.is_empty() {
            asked.extend(Chat::new(SEED + 1).take(questions).map(|turn| turn.text));
        }
        let step = (asked.len() / questions.max(1)).max(1);
        let vectors =
            asked.iter().step_by(step).filter_map(|text| QueryVector::new(&embedder.embed_one(text)?));
        Ok(Self { rows, questions: vectors.take(questions).collect() })
    }

    fn flat(&self, model: &ModelId) -> FlatIndex {
        let block = |(rows, first): (&[Vector], u64)| {
            let dimensions = rows.first().map_or(0, |row| row.codes().len());
            let scales = rows.iter().map(Vector::scale).collect();
            let codes = rows.iter().flat_map(|row| row.codes().iter().copied()).collect();
            let column = VectorColumn { model: model.clone(), dimensions, scales, codes };
            Arc::new(IndexBlock {
                events: vec![EventId(1); rows.len()],
                seqs: (first..).take(rows.len()).map(Seq).collect(),
                vectors: vec![column],
                ..IndexBlock::default()
            })
        };
        let blocks = self.rows.chunks(BLOCK_ROWS).zip((1..).step_by(BLOCK_ROWS));
        FlatIndex::new(blocks.map(block), model.clone())
    }
}

fn texts(file: &Path, field: &str) -> Result<Vec<String>> {
    let lines =
        BufReader::new(File::open(file).with_context(|| format!("cannot read {}", file.display()))?).lines();
    let text = |line: std::io::Result<String>| {
        let record: serde_json::Value = serde_json::from_str(&line?)?;
        Ok(record.get(field).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned())
    };
    lines.map(text).collect()
}

/// Measures every index over the sample.
///
/// # Errors
/// Where this machine cannot tell time or memory.
pub fn vectors(sample: &Sample) -> Result<Vec<Figure>> {
    let model = ModelId::new("static")?;
    let flat = sample.flat(&model);
    let dimensions = sample.questions.first().map_or(0, QueryVector::dimensions);
    let filters = Filters::of(sample)?;
    let exact = filters.asked(sample, &flat)?;
    let mut figures = filters.figures("all rows", &exact, &exact);
    let mut add = |name: &str, make: &dyn Fn() -> Box<dyn VectorIndex>| -> Result<()> {
        let (watch, before) = (Watch::start()?, resident_bytes()?);
        let index = make();
        let built = watch.stop()?.cpu;
        let (size, bytes) = (sample.rows.len(), resident_bytes()?.saturating_sub(before));
        let rate = size as f64 / built.as_secs_f64().max(f64::MIN_POSITIVE);
        figures.push(Figure::new(format!("{name}: built, CPU"), size, built.as_secs_f64(), "s"));
        figures.push(Figure::new(format!("{name}: rows built a CPU-second"), size, rate, "rows/s"));
        figures.push(Figure::new(format!("{name}: memory"), size, bytes as f64 / MEGABYTE, "MB"));
        figures.extend(filters.figures(name, &filters.asked(sample, index.as_ref())?, &exact));
        Ok(())
    };
    add("sign bits", &|| Box::new(SignBits::new(flat.clone(), dimensions)))?;
    #[cfg(feature = "hnsw")]
    add("graph", &|| Box::new(mnemal_recall::HnswIndex::new(&flat, dimensions)))?;
    Ok(figures)
}

/// The filters that every index is asked with.
struct Filters([(&'static str, RowSet); 2]);

impl Filters {
    fn of(sample: &Sample) -> Result<Self> {
        let rows = u32::try_from(sample.rows.len())?;
        let narrow = RowSet::of(rows, |row| row % ONE_IN == 3);
        Ok(Self([("", RowSet::all(rows)), (", one row in ten", narrow)]))
    }

    fn asked(&self, sample: &Sample, index: &dyn VectorIndex) -> Result<Vec<IndexAnswer>> {
        self.0.iter().map(|(_, filter)| IndexAnswer::of(sample, index, filter)).collect()
    }

    fn figures(&self, name: &str, asked: &[IndexAnswer], exact: &[IndexAnswer]) -> Vec<Figure> {
        let size = self.0.first().map_or(0, |(_, all)| all.len() as usize);
        let each = self.0.iter().zip(asked).zip(exact);
        each.flat_map(|(((of, _), asked), exact)| asked.figures(&format!("{name}{of}"), size, exact))
            .collect()
    }
}

/// What an index answered, and what that took.
struct IndexAnswer {
    found: Vec<Vec<u32>>,
    costs: Vec<std::time::Duration>,
}

impl IndexAnswer {
    fn of(sample: &Sample, index: &dyn VectorIndex, filter: &RowSet) -> Result<Self> {
        let (mut found, mut costs) = (Vec::new(), Vec::new());
        for question in &sample.questions {
            let watch = Watch::start()?;
            let near = index.nearest(question, filter, LIMIT);
            costs.push(watch.stop()?.cpu);
            found.push(near.into_iter().map(|near| near.row).collect());
        }
        Ok(Self { found, costs })
    }

    fn figures(&self, name: &str, size: usize, exact: &Self) -> Vec<Figure> {
        let share = |depth: usize| {
            let of_one = |(found, exact): (&Vec<u32>, &Vec<u32>)| {
                let wanted = exact.iter().take(depth);
                wanted.clone().filter(|row| found.contains(row)).count() as f64 / wanted.count().max(1) as f64
            };
            let all: f64 = self.found.iter().zip(&exact.found).map(of_one).sum();
            Figure::new(
                format!("{name}: of the exact {depth}"),
                size,
                all / self.found.len().max(1) as f64,
                "",
            )
        };
        vec![
            share(10),
            share(LIMIT),
            Figure::time(format!("{name}: query, CPU p50"), size, quantile(&self.costs, 0.5)),
            Figure::time(format!("{name}: query, CPU p99"), size, quantile(&self.costs, 0.99)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_sentences_fill_up_and_sign_bits_of_few_rows_miss_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let line = r#"{"text": "I have moved to a small house. Yes. My sister Anna came to help with it!"}"#;
        std::fs::write(folder.path().join("corpus.jsonl"), line).unwrap();
        std::fs::write(
            folder.path().join("questions.jsonl"),
            r#"{"question": "Who helped with the house?"}"#,
        )
        .unwrap();
        let sample = Sample::read(&[folder.path()], 1_400, 5).unwrap();
        assert_eq!((sample.rows.len(), sample.questions.len()), (1_400, 1));
        let flat = sample.flat(&ModelId::new("m").unwrap());
        let near = flat.nearest(&sample.questions[0], &RowSet::all(1_400), 2);
        assert!(near.iter().any(|near| near.row < 2), "a real sentence is near: {near:?}");
        let far = sample.rows.last().unwrap().codes().iter().map(|code| f32::from(*code)).collect::<Vec<_>>();
        let near = flat.nearest(&QueryVector::new(&far).unwrap(), &RowSet::all(1_400), 1);
        assert_eq!(near[0].row, 1_399, "rows of the second block have numbers of their own");
        let figures = vectors(&sample).unwrap();
        let value = |name: &str| figures.iter().find(|figure| figure.name == name).unwrap().value;
        assert!((value("sign bits: of the exact 10") - 1.0).abs() < 1e-9);
        assert!((value("all rows: of the exact 100") - 1.0).abs() < 1e-9);
        assert!((value("sign bits, one row in ten: of the exact 100") - 1.0).abs() < 1e-9);
    }

    #[test]
    fn without_data_everything_is_made() {
        let none: [&Path; 0] = [];
        let sample = Sample::read(&none, 50, 4).unwrap();
        assert_eq!((sample.rows.len(), sample.questions.len()), (50, 4));
        let near =
            sample.flat(&ModelId::new("m").unwrap()).vectors().map(|stored| stored.seq.0).collect::<Vec<_>>();
        assert_eq!(near, (1..=50).collect::<Vec<_>>(), "every row has a position");
    }
}
