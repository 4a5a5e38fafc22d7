//! The built-in static embedder: the mean of int8 rows, one per word piece.

use std::fmt;

use async_trait::async_trait;
use mnemal_core::{Embedder, ModelId, Result};

use crate::table::EmbeddingTable;
use crate::unit::unit;
use crate::vocabulary::PieceId;
use crate::wordpiece::{CoverageTally, PieceToken, for_each_piece};

/// Model name of the built-in table; another table needs another name, because vectors of two models never mix.
pub const STATIC_MODEL: &str = "mnemal-static-1";

/// Similarity floor of the built-in table: the cosine below which a vector match alone injects nothing.
///
/// Source: measured. Of 1.76 million pairs of a `LoCoMo` question and a turn of another conversation 0.9 % lie above it
/// (99th percentile .677), of `PrefEval` questions and preferences of other topics 0.03 %, of BEAM-100K questions and turns
/// of other conversations 2.4 %; the best evidence turn of a question lies above it for 9 %, 5 % and 32 %. Turns were
/// embedded as `[date] Speaker: text`, questions plain.
pub const STATIC_FLOOR: f32 = 0.68;

/// Embeds a text as the mean of its word pieces' vectors, in process and without a model file.
///
/// The vector depends on the text alone: not on the space, the time, the machine or the other texts of a batch.
/// It finds paraphrases by their words; word order and negation mean nothing to it.
#[derive(Clone)]
pub struct StaticEmbedder {
    model: ModelId,
    floor: f32,
    table: EmbeddingTable,
}

impl StaticEmbedder {
    /// Opens the compiled-in table. Costs nothing: no byte after the header is read before the first text.
    pub fn built_in() -> Self {
        let model = ModelId::new(STATIC_MODEL).expect("the name of the built-in model is a valid name");
        Self { model, floor: STATIC_FLOOR, table: EmbeddingTable::built_in() }
    }

    /// Opens another table of the same format and checks all of it once.
    ///
    /// `floor` is the similarity floor; it must be measured for each table.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are not a whole table of a known format with a matching checksum; `Invalid` when `floor`
    /// is not a cosine.
    pub fn from_bytes(model: ModelId, floor: f32, bytes: Vec<u8>) -> Result<Self> {
        if !(-1.0..=1.0).contains(&floor) {
            return Err(mnemal_core::Error::invalid("the floor of an embedder must lie in -1 to 1"));
        }
        Ok(Self { model, floor, table: EmbeddingTable::checked(bytes)? })
    }

    /// Returns the vector of one text, of length 1 and `dimensions()` values.
    ///
    /// `None` when no piece is meaningful (empty, stop words only), or when more than half of the pieces are unknown or single
    /// letters of another script, which a table for English cannot judge.
    pub fn embed_one(&self, text: &str) -> Option<Vec<f32>> {
        let mut sum = vec![0.0_f32; self.table.dimensions()];
        let mut tally = CoverageTally::default();
        for_each_piece(&self.table, text, &mut |token| {
            tally.add(token, &self.table);
            if let PieceToken::Known(piece) = token {
                self.add_row(piece, &mut sum);
            }
        });
        if tally.is_strange() { None } else { unit(sum) }
    }

    /// Returns the pieces of a text, in order, as row numbers; `None` stands for a word without pieces.
    ///
    /// For inspection and tests; [`embed_one`](Self::embed_one) does not need it.
    pub fn pieces(&self, text: &str) -> Vec<Option<u32>> {
        let mut pieces = Vec::new();
        for_each_piece(&self.table, text, &mut |token| {
            pieces.push(match token {
                PieceToken::Known(piece) => Some(piece),
                PieceToken::Unknown => None,
            });
        });
        pieces
    }

    /// The mean's divisor would vanish in the normalization, so rows are only added.
    fn add_row(&self, piece: PieceId, sum: &mut [f32]) {
        let (Some(scale), Some(row)) = (self.table.scale(piece), self.table.row(piece)) else { return };
        if scale > 0.0 {
            for (total, value) in sum.iter_mut().zip(row) {
                *total += scale * f32::from(value.cast_signed());
            }
        }
    }
}

impl fmt::Debug for StaticEmbedder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StaticEmbedder")
            .field("model", &self.model)
            .field("dimensions", &self.table.dimensions())
            .field("rows", &self.table.rows())
            .field("version", &self.table.version())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Embedder for StaticEmbedder {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimensions(&self) -> usize {
        self.table.dimensions()
    }

    fn floor(&self) -> f32 {
        self.floor
    }

    /// The compiled-in table is English; for another one it is unknown.
    fn reads(&self, language: &str) -> bool {
        language == "en" || self.model.as_str() != STATIC_MODEL
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        Ok(texts.iter().map(|text| self.embed_one(text)).collect())
    }
}
