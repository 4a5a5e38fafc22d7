//! Exact token counts of OpenAI's byte-pair encodings.

use std::fmt;
use std::ops::Range;

use bpe_openai::Tokenizer;
use mnemal_core::{TokenCount, TokenCounter};

/// One of the encodings whose dictionaries are compiled in.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BpeEncoding {
    /// `cl100k_base`, used by GPT-3.5 and GPT-4.
    Cl100k,
    /// `o200k_base`, used by GPT-4o and later.
    O200k,
}

/// Counts tokens exactly as the models of one encoding do.
///
/// The dictionary is unpacked at the first use of an encoding in the process and shared by all its counters.
#[derive(Clone, Copy)]
pub struct BpeTokenCounter {
    encoding: BpeEncoding,
}

impl BpeTokenCounter {
    /// Makes a counter; the first count of an encoding takes some tens of milliseconds.
    pub fn new(encoding: BpeEncoding) -> Self {
        Self { encoding }
    }

    fn tokenizer(self) -> &'static Tokenizer {
        match self.encoding {
            BpeEncoding::Cl100k => bpe_openai::cl100k_base(),
            BpeEncoding::O200k => bpe_openai::o200k_base(),
        }
    }

    fn n_tokens(self, text: &str) -> u32 {
        u32::try_from(self.tokenizer().count(text)).unwrap_or(u32::MAX)
    }
}

impl fmt::Debug for BpeTokenCounter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("BpeTokenCounter").field("encoding", &self.encoding).finish_non_exhaustive()
    }
}

impl TokenCounter for BpeTokenCounter {
    fn name(&self) -> &str {
        match self.encoding {
            BpeEncoding::Cl100k => "cl100k_base",
            BpeEncoding::O200k => "o200k_base",
        }
    }

    fn count(&self, text: &str) -> TokenCount {
        TokenCount(self.n_tokens(text))
    }

    /// Ends on a character boundary, which may lie inside a grapheme: this crate does not know graphemes.
    ///
    /// The text is encoded once. The tokens of a prefix are not always the first tokens of the whole text, so the prefix is
    /// recounted and shortened until it fits.
    fn prefix(&self, text: &str, budget: TokenCount) -> Range<usize> {
        let tokens = self.tokenizer().encode(text);
        let budget = budget.0 as usize;
        if tokens.len() <= budget {
            return 0..text.len();
        }
        let mut kept = budget;
        while kept > 0 {
            let bytes: usize =
                tokens.iter().take(kept).map(|token| self.tokenizer().bpe.token_len(*token)).sum();
            let end = text.floor_char_boundary(bytes);
            if text.get(..end).is_some_and(|prefix| self.tokenizer().count(prefix) <= budget) {
                return 0..end;
            }
            kept -= 1;
        }
        0..0
    }
}
