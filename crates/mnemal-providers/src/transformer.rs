//! An in-process sentence transformer, from a model file of the user.

mod cache;
mod encoder;
mod recipe;
mod worker;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mnemal_core::{Embedder, Error, ErrorKind, ModelId, Result};

use self::cache::{Cache, CachedVector};
use self::encoder::Encoder;
pub use self::recipe::Recipe;
use self::worker::{EmbedWorker, TextKind};
use crate::table::EmbeddingTable;
use crate::vocabulary::{PieceList, SpellingHash, Vocabulary};
use crate::wordpiece::{CoverageTally, PieceToken, for_each_piece};

/// The model in a folder.
const MODEL: &str = "model.onnx";
/// Its vocabulary, where it is not that of BERT in English.
const VOCABULARY: &str = "vocab.txt";
/// Most pieces of a text, `[CLS]` and `[SEP]` included; the rest is ignored.
///
/// Source: `max_seq_length` of all-MiniLM-L6-v2; bge-small-en-v1.5 takes 512, and costs twice as much with them.
const MOST_PIECES: usize = 256;
/// Largest model file, in bytes. Source: the largest message of protobuf, which ONNX files are.
const LARGEST_FILE: u64 = 2 << 30;
/// Characters of the file's hash in the model's name. Source: own choice; 48 bits tell any two files of one person apart.
const SHOWN: usize = 12;

/// Embeds texts with a transformer, in process and in pure Rust, on its own thread.
///
/// A vector depends on the text and the file alone. The first 256 pieces of a text are read; one without pieces has no vector,
/// and neither has one of which more than half of the pieces are unknown or single letters of another script. Queries go before
/// waiting texts; the vectors of the last 10,000 queries are cached, late ones included. Dropping a call stops the work at the
/// next of its texts.
#[derive(Debug)]
pub struct TransformerEmbedder {
    model: ModelId,
    dimensions: usize,
    floor: f32,
    cache: Arc<Mutex<Cache>>,
    embed_worker: EmbedWorker<CachedVector>,
}

impl TransformerEmbedder {
    /// Loads a folder with `model.onnx`, and with `vocab.txt` unless the vocabulary is that of English BERT.
    ///
    /// Without a recipe the file must be a known one by its hash; with one it may be any file of that family. Takes a fifth of
    /// a second, and at least twice the memory of a quantized file. The model's name consists of the recipe's and the start of
    /// the files' hash, so that vectors of two files never mix.
    ///
    /// # Errors
    /// `NotFound` when there is no such file, `Unavailable` when it cannot be read, `Corrupt` when it is damaged, or unknown
    /// where it must be known; `Unsupported` when it is no sentence transformer of the shape of BERT.
    pub fn open(folder: &Path, recipe: Option<&'static Recipe>) -> Result<Self> {
        let bytes = read(&folder.join(MODEL))?;
        let hash = blake3::hash(&bytes);
        let recipe = recipe.or_else(|| Recipe::of_file(hash)).ok_or_else(|| unknown(folder))?;
        let opened = match read_vocabulary(folder)? {
            Some(text) => {
                let mut both = blake3::Hasher::new();
                both.update(hash.as_bytes()).update(&text);
                PieceList::read(&text).and_then(|list| Self::over(recipe, both.finalize(), bytes, list))
            }
            None => Self::over(recipe, hash, bytes, EmbeddingTable::built_in()),
        };
        opened.map_err(|error| {
            Error::new(error.kind(), format!("{}: {}", folder.display(), error.what())).because(error)
        })
    }

    fn over<V: Vocabulary + Send + 'static>(
        recipe: &'static Recipe,
        hash: blake3::Hash,
        bytes: Vec<u8>,
        vocabulary: V,
    ) -> Result<Self> {
        let hash: String = hash.to_hex().chars().take(SHOWN).collect();
        let model = ModelId::new(format!("{}-{hash}", recipe.name()))?;
        let reader = TextEncoder::new(vocabulary)?;
        let encoder = Encoder::load(bytes, recipe.pooling)?;
        let dimensions = encoder.dimensions(&reader.empty())?;
        let cache = Arc::new(Mutex::new(Cache::default()));
        let kept = Arc::clone(&cache);
        let embed_worker = EmbedWorker::open(move |text, kind| match kind {
            TextKind::Document => answer(&reader, &encoder, text, ""),
            TextKind::Question => {
                let answer = answer(&reader, &encoder, text, recipe.query_prefix)?;
                lock(&kept).put(text, answer.clone());
                Ok(answer)
            }
        })?;
        Ok(Self { model, dimensions, floor: recipe.floor(), cache, embed_worker })
    }
}

#[async_trait]
impl Embedder for TransformerEmbedder {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn floor(&self) -> f32 {
        self.floor
    }

    /// Both families are English.
    fn reads(&self, language: &str) -> bool {
        language == "en"
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        let waiting: Vec<_> =
            texts.iter().map(|text| self.embed_worker.ask(text, TextKind::Document)).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for waiting in waiting {
            vectors.push(waiting.await.map_err(|_| ended())??);
        }
        Ok(vectors)
    }

    async fn embed_query(&self, query: &str) -> Result<Option<Vec<f32>>> {
        let kept = lock(&self.cache).get(query);
        match kept {
            Some(answer) => Ok(answer),
            None => self.embed_worker.ask(query, TextKind::Question).await.map_err(|_| ended())?,
        }
    }
}

/// Computes the vector of a text, or `None` if the model cannot judge it.
fn answer<V: Vocabulary>(
    reader: &TextEncoder<V>,
    encoder: &Encoder,
    text: &str,
    prefix: &str,
) -> Result<CachedVector> {
    match reader.pieces(text, prefix) {
        Some(pieces) => encoder.encode(&pieces),
        None => Ok(None),
    }
}

/// Encodes texts as model input.
struct TextEncoder<V> {
    vocabulary: V,
    first: i32,
    last: i32,
    unknown: i32,
}

impl<V: Vocabulary> TextEncoder<V> {
    fn new(vocabulary: V) -> Result<Self> {
        let special = |spelling: &str| {
            let hash = spelling.bytes().fold(SpellingHash::opening(), SpellingHash::with);
            let piece =
                vocabulary.find(hash, spelling.as_bytes()).and_then(|piece| i32::try_from(piece).ok());
            let missing = || Error::new(ErrorKind::Unsupported, format!("the vocabulary has no {spelling}"));
            piece.ok_or_else(missing)
        };
        let (first, last, unknown) = (special("[CLS]")?, special("[SEP]")?, special("[UNK]")?);
        Ok(Self { vocabulary, first, last, unknown })
    }

    /// The model input of a text without words.
    fn empty(&self) -> [i32; 2] {
        [self.first, self.last]
    }

    /// The pieces of a text between `[CLS]` and `[SEP]`; `None` when it has none or a model for English cannot judge it.
    fn pieces(&self, text: &str, prefix: &str) -> Option<Vec<i32>> {
        let mut pieces = vec![self.first];
        for_each_piece(&self.vocabulary, prefix, &mut |token| pieces.push(self.number(token)));
        let mut tally = CoverageTally::default();
        for_each_piece(&self.vocabulary, text, &mut |token| {
            tally.add(token, &self.vocabulary);
            if pieces.len() < MOST_PIECES - 1 {
                pieces.push(self.number(token));
            }
        });
        pieces.push(self.last);
        (!tally.is_empty() && !tally.is_strange()).then_some(pieces)
    }

    fn number(&self, token: PieceToken) -> i32 {
        match token {
            PieceToken::Known(piece) => i32::try_from(piece).unwrap_or(self.unknown),
            PieceToken::Unknown => self.unknown,
        }
    }
}

fn unknown(folder: &Path) -> Error {
    let families: Vec<&str> = Recipe::all().map(Recipe::name).collect();
    let what = format!(
        "{}: {MODEL} is damaged, or no file that is known by its hash; name its family if it is another one ({})",
        folder.display(),
        families.join(", ")
    );
    Error::new(ErrorKind::Corrupt, what)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    let cannot = |cause: std::io::Error| {
        let kind = match cause.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => ErrorKind::NotFound,
            _ => ErrorKind::Unavailable,
        };
        Error::new(kind, format!("cannot read the model file {}", file.display())).because(cause)
    };
    if std::fs::metadata(file).map_err(cannot)?.len() > LARGEST_FILE {
        return Err(Error::new(ErrorKind::Unsupported, format!("{} is larger than 2 GB", file.display())));
    }
    std::fs::read(file).map_err(cannot)
}

fn read_vocabulary(folder: &Path) -> Result<Option<Vec<u8>>> {
    match read(&folder.join(VOCABULARY)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn ended() -> Error {
    Error::new(ErrorKind::Unavailable, "the model is being closed")
}

fn lock(cache: &Mutex<Cache>) -> MutexGuard<'_, Cache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}
