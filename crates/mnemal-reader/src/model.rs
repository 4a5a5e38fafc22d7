//! The model: loaded from one file and run on one thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use mnemal_core::{Error, ErrorKind, Result};
use rten::{Model as RtenModel, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use serde::Deserialize;

use crate::names::Names;
use crate::tokenizer::PieceTokenizer;
use crate::words::{Word, words};

/// Start of the file.
const MAGIC: &[u8] = b"MNRD2\n";
/// Largest file, in bytes. Source: own choice; the model has 20 million weights.
const LARGEST: u64 = 256 << 20;
/// Word pieces of a turn, and of the end of the previous message. The same numbers as in training.
const LONGEST_TURN: usize = 240;
const LONGEST_BEFORE: usize = 64;
/// Characters of the file's hash in the model's name. Source: own choice, as of other models.
const SHOWN: usize = 12;
/// Bits for the name lists.
const LISTS: usize = 8;
/// Dimensions of a vector that share a scale. The same number as in the export.
const GROUP: usize = 32;

/// The metadata of a model.
#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    tokenizer: String,
    marks: [i32; 3],
    size: usize,
    /// Words of the longest object or name.
    pub(crate) wide: usize,
    pub(crate) predicates: Vec<String>,
    pub(crate) kinds: Vec<String>,
    pub(crate) acts: Vec<String>,
    pub(crate) feedback: Vec<String>,
    pub(crate) levels: Vec<String>,
    pub(crate) holds: Vec<String>,
    pub(crate) authors: Vec<String>,
    pub(crate) relations: Vec<String>,
    sections: Sections,
}

#[derive(Debug, Deserialize)]
struct Sections {
    pieces: usize,
    words: usize,
    read: usize,
    claims: usize,
}

/// A loaded model.
pub(crate) struct Model {
    /// The start of the hash of the file.
    pub(crate) name: String,
    pub(crate) header: Header,
    pieces: PieceTokenizer,
    names: Names,
    /// For each piece a row of [`row_bytes`]: its scale as f32, the share of it that each group of [`GROUP`] dimensions has, a
    /// byte each, and the values of 4 bits, the first of two in the low half, 8 for nothing.
    table: Vec<u8>,
    read: OnnxGraph,
    claims: OnnxGraph,
    /// One thread: the memory must not use all processors of its host.
    pool: Arc<ThreadPool>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("size", &self.header.size).finish_non_exhaustive()
    }
}

/// A graph with the positions of its inputs and outputs, in calling order.
struct OnnxGraph {
    graph: RtenModel,
    inputs: Vec<NodeId>,
    outputs: Vec<NodeId>,
}

/// A turn as model input.
pub(crate) struct EncodedTurn {
    /// Words of the previous message.
    pub(crate) before: Vec<Word>,
    /// Words of the turn.
    pub(crate) turn: Vec<Word>,
    /// First and last piece of each word of both, in that order.
    pub(crate) places: Vec<(i32, i32)>,
}

/// Output of the first graph. Tables are row by row.
pub(crate) struct SpanOutput {
    hidden: Value,
    /// For each word and each width: the logits of a claim's object and of a name at this span.
    pub(crate) spans: Vec<f32>,
    /// For each of these: logits of predicates, then of kinds.
    pub(crate) sorts: Vec<f32>,
    pub(crate) feedback: Vec<f32>,
    pub(crate) level: Vec<f32>,
    pub(crate) hold: Vec<f32>,
    pub(crate) relation: Vec<f32>,
    /// Logits of authorship, for each word of the turn.
    pub(crate) author: Vec<f32>,
}

/// Output of the second graph, one row per claim.
pub(crate) struct Details {
    pub(crate) act: Vec<f32>,
    pub(crate) subject: Vec<f32>,
    pub(crate) worth: Vec<f32>,
    pub(crate) one: Vec<f32>,
    pub(crate) two: Vec<f32>,
}

impl Model {
    /// Reads a file.
    ///
    /// # Errors
    /// `NotFound` when there is none, `Unavailable` when it cannot be read, `Corrupt` when it is damaged or of another kind,
    /// `Unsupported` when a newer program made it.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let describe = |cause: std::io::Error| {
            let kind = if cause.kind() == std::io::ErrorKind::NotFound {
                ErrorKind::NotFound
            } else {
                ErrorKind::Unavailable
            };
            Error::new(kind, format!("{}: the reader cannot be read", path.display())).because(cause)
        };
        if std::fs::metadata(path).map_err(describe)?.len() > LARGEST {
            return Err(corrupt(format!("{}: too large for a reader", path.display())));
        }
        let bytes = std::fs::read(path).map_err(describe)?;
        Self::load(&bytes).map_err(|error| {
            Error::new(error.kind(), format!("{}: {}", path.display(), error.what())).because(error)
        })
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn load(bytes: &[u8]) -> Result<Self> {
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| corrupt("no reader"))?;
        let (size, rest) = rest.split_first_chunk::<4>().ok_or_else(cut_off)?;
        let size = u32::from_le_bytes(*size) as usize;
        let (header, mut rest) = rest.split_at_checked(size).ok_or_else(cut_off)?;
        let header: Header = serde_json::from_slice(header)
            .map_err(|cause| corrupt("the header of the reader cannot be read").because(cause))?;
        if header.tokenizer != "e5" {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "the reader cuts words in a way that is not known",
            ));
        }
        let mut section = |size: usize| {
            let (section, others) = rest.split_at_checked(size).ok_or_else(cut_off)?;
            rest = others;
            Ok::<_, Error>(section)
        };
        let pieces = std::str::from_utf8(section(header.sections.pieces)?)
            .map_err(|cause| corrupt("the pieces of the reader are no text").because(cause))?;
        let count = pieces.lines().count();
        let table = section(header.sections.words)?.to_vec();
        let (read, claims) =
            (section(header.sections.read)?.to_vec(), section(header.sections.claims)?.to_vec());
        let lists = [&header.predicates, &header.kinds, &header.acts, &header.authors];
        if lists.into_iter().any(Vec::is_empty) {
            return Err(corrupt("the reader does not say what it reads"));
        }
        if table.len() != count * row_bytes(header.size) || header.wide == 0 {
            return Err(corrupt("the reader has not one vector a piece"));
        }
        let inputs = ["word", "kind", "shape", "lists", "starts", "ends", "turn_mask"];
        let outputs = ["h", "spans", "sorts", "feedback", "level", "hold", "relation", "author"];
        let read = OnnxGraph::load(read, &inputs, &outputs)?;
        let inputs = ["h", "first", "final", "predicate", "word_first", "word_final"];
        let claims = OnnxGraph::load(claims, &inputs, &["act", "subject", "worth", "one", "two"])?;
        let pool = Arc::new(ThreadPool::with_num_threads(1));
        let name = blake3::hash(bytes).to_hex().chars().take(SHOWN).collect();
        Ok(Self {
            name,
            pieces: PieceTokenizer::read(pieces)?,
            names: Names::built_in(),
            header,
            table,
            read,
            claims,
            pool,
        })
    }

    /// Encodes a turn and the end of the previous message, and runs the model; `None` for a turn without words.
    ///
    /// # Errors
    /// `Internal` when the model fails to run.
    pub(crate) fn read(&self, text: &str, before: &str) -> Result<Option<(EncodedTurn, SpanOutput)>> {
        let mut input = Input::default();
        let [begin, end, _] = self.header.marks;
        input.mark(begin, 0);
        let before = self.add(&mut input, before, 0);
        input.mark(end, 0);
        let turn = self.add(&mut input, text, 1);
        input.mark(end, 1);
        if turn.is_empty() {
            return Ok(None);
        }
        let shown = EncodedTurn { places: std::mem::take(&mut input.places), before, turn };
        let own = shown.places.get(shown.before.len()..).unwrap_or_default();
        let (starts, ends): (Vec<i32>, Vec<i32>) = own.iter().copied().unzip();
        let size = input.ids.len();
        let word: Vec<f32> = input.ids.iter().flat_map(|id| self.vector(*id)).collect();
        let mask: Vec<f32> = input.kind.iter().map(|kind| if *kind == 1 { 1.0 } else { 0.0 }).collect();
        let words = own.len();
        let answers = self.read.run(
            vec![
                NdTensor::from_data([1, size, self.header.size], word).into(),
                NdTensor::from_data([1, size], input.kind).into(),
                NdTensor::from_data([1, size], input.shape).into(),
                NdTensor::from_data([1, size, LISTS], input.lists).into(),
                NdTensor::from_data([words], starts).into(),
                NdTensor::from_data([words], ends).into(),
                NdTensor::from_data([1, size], mask).into(),
            ],
            &self.pool,
        )?;
        let [hidden, spans, sorts, feedback, level, hold, relation, author]: [Value; 8] =
            answers.try_into().map_err(|_| strange())?;
        let answer = SpanOutput {
            hidden,
            spans: numbers(&spans)?,
            sorts: numbers(&sorts)?,
            feedback: numbers(&feedback)?,
            level: numbers(&level)?,
            hold: numbers(&hold)?,
            relation: numbers(&relation)?,
            author: numbers(&author)?,
        };
        let sorts = self.header.predicates.len() + self.header.kinds.len();
        let spans = words * self.header.wide;
        let is_whole = answer.spans.len() == spans * 2 && answer.sorts.len() == spans * sorts;
        if is_whole { Ok(Some((shown, answer))) } else { Err(strange()) }
    }

    /// Computes the details of claims: (first word, last word, predicate) of the turn.
    ///
    /// # Errors
    /// `Internal` when the model fails to run.
    pub(crate) fn details(
        &self,
        shown: &EncodedTurn,
        answer: &SpanOutput,
        claims: &[(usize, usize, usize)],
    ) -> Result<Details> {
        let at = |word: usize| shown.places.get(shown.before.len() + word).copied().unwrap_or_default();
        let column = |values: Vec<i32>| NdTensor::from_data([values.len()], values);
        let first = column(claims.iter().map(|claim| at(claim.0).0).collect());
        let last = column(claims.iter().map(|claim| at(claim.1).1).collect());
        let predicate =
            column(claims.iter().map(|claim| i32::try_from(claim.2).unwrap_or_default()).collect());
        let (starts, ends): (Vec<i32>, Vec<i32>) = shown.places.iter().copied().unzip();
        let inputs: Vec<ValueOrView<'_>> = vec![
            answer.hidden.as_view().into(),
            first.into(),
            last.into(),
            predicate.into(),
            column(starts).into(),
            column(ends).into(),
        ];
        let answers: [Value; 5] = self.claims.run(inputs, &self.pool)?.try_into().map_err(|_| strange())?;
        let [act, subject, worth, one, two] = answers.each_ref().map(numbers);
        let details = Details { act: act?, subject: subject?, worth: worth?, one: one?, two: two? };
        let cells = claims.len() * shown.places.len();
        if details.one.len() == cells && details.two.len() == cells { Ok(details) } else { Err(strange()) }
    }

    /// Adds the words of a text: the end of the previous message (`kind` 0), the beginning of the turn.
    fn add(&self, input: &mut Input, text: &str, kind: i32) -> Vec<Word> {
        let words = words(text);
        let pieces: Vec<Vec<i32>> = words
            .iter()
            .map(|word| self.pieces.of(text.get(word.span.clone()).unwrap_or_default(), word.is_first))
            .collect();
        let most = if kind == 0 { LONGEST_BEFORE } else { LONGEST_TURN };
        let mut total: usize = pieces.iter().map(Vec::len).sum();
        let (mut first, mut last) = (0, words.len());
        while total > most {
            let gone = if kind == 0 { first } else { last - 1 };
            total -= pieces.get(gone).map_or(0, Vec::len);
            if kind == 0 { first += 1 } else { last -= 1 }
        }
        let bits = self.names.bits(text, &words);
        let kept: Vec<Word> = words.get(first..last).unwrap_or_default().to_vec();
        for (at, word) in (first..last).zip(&kept) {
            let place = |at: usize| i32::try_from(at).unwrap_or_default();
            let begin = input.ids.len();
            for id in pieces.get(at).into_iter().flatten() {
                input.ids.push(*id);
                input.kind.push(kind);
                input.shape.push(word.shape as i32 + 1);
                let bits = bits.get(at).copied().unwrap_or_default();
                input.lists.extend((0..LISTS).map(|bit| f32::from(bits >> bit & 1)));
            }
            input.places.push((place(begin), place(input.ids.len().saturating_sub(1))));
        }
        kept
    }

    /// Returns the vector of a piece.
    fn vector(&self, id: i32) -> impl Iterator<Item = f32> {
        let (size, bytes) = (self.header.size, row_bytes(self.header.size));
        let row = usize::try_from(id).ok().and_then(|at| self.table.get(at * bytes..(at + 1) * bytes));
        let (scale, rest) = row.and_then(|row| row.split_first_chunk::<4>()).unwrap_or((&[0; 4], &[]));
        let (shares, values) = rest.split_at(size.div_ceil(GROUP).min(rest.len()));
        let scale = f32::from_le_bytes(*scale) / f32::from(u8::MAX);
        let halves = values.iter().flat_map(|byte| [byte & 15, byte >> 4]).take(size);
        let scales = shares.iter().map(move |share| f32::from(*share) * scale);
        let scales = scales.flat_map(|scale| std::iter::repeat_n(scale, GROUP));
        halves.zip(scales).map(|(value, scale)| (f32::from(value) - 8.0) * scale)
    }
}

/// Returns the bytes of one row of the table of vectors.
fn row_bytes(size: usize) -> usize {
    4 + size.div_ceil(GROUP) + size.div_ceil(2)
}

/// Model input, piece by piece.
#[derive(Default)]
struct Input {
    ids: Vec<i32>,
    kind: Vec<i32>,
    shape: Vec<i32>,
    lists: Vec<f32>,
    places: Vec<(i32, i32)>,
}

impl Input {
    fn mark(&mut self, id: i32, kind: i32) {
        self.ids.push(id);
        self.kind.push(kind);
        self.shape.push(0);
        self.lists.extend([0.0; LISTS]);
    }
}

impl OnnxGraph {
    fn load(bytes: Vec<u8>, inputs: &[&str], outputs: &[&str]) -> Result<Self> {
        let load = || {
            let mut options = ModelOptions::with_all_ops();
            options.prepack_weights(true);
            options.load(bytes)
        };
        let graph = match catch_unwind(AssertUnwindSafe(load)) {
            Ok(Ok(graph)) => graph,
            Ok(Err(cause)) => return Err(corrupt("the reader's graph cannot be read").because(cause)),
            Err(_panic) => return Err(corrupt("reading the reader's graph fails")),
        };
        let find = |name: &&str| {
            graph.find_node(name).ok_or_else(|| corrupt(format!("the reader's graph has no {name}")))
        };
        let inputs = inputs.iter().map(find).collect::<Result<_>>()?;
        let outputs = outputs.iter().map(find).collect::<Result<_>>()?;
        Ok(Self { graph, inputs, outputs })
    }

    fn run(&self, inputs: Vec<ValueOrView<'_>>, pool: &Arc<ThreadPool>) -> Result<Vec<Value>> {
        let inputs = self.inputs.iter().copied().zip(inputs).collect();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(pool)));
        let run = || self.graph.run(inputs, &self.outputs, Some(options));
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(answers)) => Ok(answers),
            Ok(Err(cause)) => Err(Error::internal("the reader does not run").because(cause)),
            Err(_panic) => Err(Error::internal("running the reader fails")),
        }
    }
}

fn numbers(value: &Value) -> Result<Vec<f32>> {
    match value {
        Value::FloatTensor(tensor) => Ok(tensor.iter().copied().collect()),
        _ => Err(strange()),
    }
}

fn strange() -> Error {
    Error::internal("the reader answers in another shape")
}

pub(crate) fn corrupt(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, what)
}

fn cut_off() -> Error {
    corrupt("the reader is cut off")
}
