//! Instructions to a model: a versioned file of this crate, or a replacement.

use mnemal_core::{Error, Producer, Purpose, Result};

/// Bytes of the longest file of instructions. Source: own choice, about 4,000 tokens.
const LONGEST: usize = 16 * 1_024;

/// Instructions of one producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// The purpose of the answer.
    pub(super) purpose: Purpose,
    /// The producer that uses them.
    pub(super) producer: Producer,
    /// The words.
    pub(super) text: String,
}

impl Instructions {
    /// The built-in instructions for claim extraction.
    pub fn extract() -> Self {
        Self::built_in(Purpose::Extract, "model/extract", 1, include_str!("../../prompts/extract-1.md"))
    }

    /// The built-in instructions for summaries.
    pub fn summarize() -> Self {
        Self::built_in(Purpose::Summarize, "model/summarize", 1, include_str!("../../prompts/summarize-1.md"))
    }

    /// The built-in instructions for insights from several notes.
    pub fn insight() -> Self {
        Self::built_in(Purpose::Consolidate, "model/insight", 1, include_str!("../../prompts/insight-1.md"))
    }

    /// The built-in instructions for digests of texts.
    pub fn digest() -> Self {
        Self::built_in(Purpose::Extract, "model/digest", 1, include_str!("../../prompts/digest-1.md"))
    }

    /// The built-in instructions for merging notes.
    pub fn merge() -> Self {
        Self::built_in(Purpose::Consolidate, "model/merge", 1, include_str!("../../prompts/merge-1.md"))
    }

    /// The built-in instructions for the texts of summary nodes.
    pub fn node() -> Self {
        Self::built_in(Purpose::Summarize, "model/node", 1, include_str!("../../prompts/node-1.md"))
    }

    /// The built-in instructions for judging notes.
    pub fn judge() -> Self {
        Self::built_in(Purpose::Consolidate, "model/judge", 1, include_str!("../../prompts/judge-1.md"))
    }

    /// The built-in instructions for assessing tasks.
    pub fn appraise() -> Self {
        Self::built_in(Purpose::Consolidate, "model/appraise", 1, include_str!("../../prompts/appraise-1.md"))
    }

    fn built_in(purpose: Purpose, id: &str, version: u32, text: &str) -> Self {
        Self { purpose, producer: Producer { id: id.to_owned(), version }, text: text.trim().to_owned() }
    }

    /// Prepends a directive to these instructions, so that the answer keeps its form.
    ///
    /// # Errors
    /// As [`replaced`](Self::replaced).
    pub fn directed(self, directive: &str) -> Result<Self> {
        let text = format!("{}\n\n{}", directive.trim(), self.text);
        self.replaced(&text)
    }

    /// Replaces the text. Its hash becomes part of the producer's name, so that answers to different instructions are never
    /// confused; the form of the answer is requested separately and stays.
    ///
    /// # Errors
    /// `Invalid` when the text is empty, or longer than 16 KiB.
    pub fn replaced(self, text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > LONGEST {
            return Err(Error::invalid(format!(
                "a file of instructions must have 1 to {LONGEST} bytes, it has {}",
                text.len()
            )));
        }
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let short = hash.get(..8).unwrap_or_default();
        let producer = Producer { id: format!("{}+{short}", self.producer.id), ..self.producer };
        Ok(Self { purpose: self.purpose, producer, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_are_another_producer() {
        let built_in = Instructions::extract();
        let other = built_in.clone().replaced("List names only.\n").unwrap();
        assert_eq!(other.text, "List names only.");
        assert_ne!(other.producer, built_in.producer);
        assert_eq!(other, built_in.clone().replaced(" List names only.").unwrap());
        assert_ne!(other.producer, built_in.clone().replaced("List names only!").unwrap().producer);
        for wrong in ["", " \n", &"x".repeat(LONGEST + 1)] {
            assert!(built_in.clone().replaced(wrong).is_err());
        }
    }

    /// A small model copies the names of a prompt's example into its answer as facts, so the files hold none.
    #[test]
    fn the_files_name_nobody() {
        let files = [
            Instructions::extract(),
            Instructions::summarize(),
            Instructions::merge(),
            Instructions::node(),
            Instructions::judge(),
            Instructions::appraise(),
            Instructions::insight(),
            Instructions::digest(),
        ];
        for text in files.map(|file| file.text) {
            let inner = text.lines().flat_map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>());
            let names: Vec<&str> = inner.filter(|word| word.starts_with(char::is_uppercase)).collect();
            assert!(
                names
                    .iter()
                    .all(|word| ["Nothing", "Do"].contains(word) || text.contains(&format!(". {word}"))),
                "{names:?}"
            );
            assert!(!text.contains(|sign: char| sign.is_ascii_digit()));
        }
    }
}
