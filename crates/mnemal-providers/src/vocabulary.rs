//! Word-piece vocabulary: piece to id and id to piece.

#[cfg(feature = "onnx")]
mod list;

#[cfg(feature = "onnx")]
pub(crate) use list::PieceList;

/// Number of a word piece: its line in `vocab.txt`, which is its row in a table.
pub(crate) type PieceId = u32;

/// The pieces of a model, in both directions.
pub(crate) trait Vocabulary {
    /// Returns the longest spelling, in bytes, without `##`.
    fn longest(&self) -> usize;

    /// Returns the spelling of a piece, with its `##`.
    fn spelling(&self, piece: PieceId) -> Option<&[u8]>;

    /// Finds a piece by its text, without `##`, and the hash of its spelling, with `##`.
    fn find(&self, state: SpellingHash, word: &[u8]) -> Option<PieceId>;
}

/// FNV-1a over a spelling, byte by byte, so that all prefixes of a word are hashed in one walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpellingHash {
    state: u32,
    continues: bool,
}

impl SpellingHash {
    /// Source: FNV-1a, 32 bit, offset basis and prime of its authors.
    const BASIS: u32 = 0x811C_9DC5;
    const PRIME: u32 = 0x0100_0193;

    /// Starts a piece that opens a word.
    pub(crate) const fn opening() -> Self {
        Self { state: Self::BASIS, continues: false }
    }

    /// Starts a piece that continues a word, written with `##`.
    pub(crate) const fn continuing() -> Self {
        let hashes = Self { state: Self::BASIS, continues: true };
        hashes.with(b'#').with(b'#')
    }

    /// Whether the piece continues a word.
    pub(crate) const fn is_continuing(self) -> bool {
        self.continues
    }

    /// Adds one byte.
    pub(crate) const fn with(self, byte: u8) -> Self {
        Self { state: (self.state ^ byte as u32).wrapping_mul(Self::PRIME), continues: self.continues }
    }

    /// Returns the hash of what was added so far, its halves folded into each other.
    pub(crate) const fn folded(self) -> u32 {
        self.state ^ (self.state >> 15)
    }
}
