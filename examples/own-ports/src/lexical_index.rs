//! Lexical index: words in more than half of the events find nothing.

use std::sync::Arc;

use mnemal::ports::{LexicalIndex, LexicalIndexFactory};
use mnemal::recall::{IndexBlock, Posting, TermHash};

#[derive(Debug)]
pub struct RareWords;

#[derive(Debug)]
struct Blocks(Vec<Arc<IndexBlock>>);

impl LexicalIndexFactory for RareWords {
    fn index(&self, blocks: &[Arc<IndexBlock>]) -> Arc<dyn LexicalIndex> {
        Arc::new(Blocks(blocks.to_vec()))
    }
}

impl LexicalIndex for Blocks {
    fn rows(&self) -> u32 {
        self.0.iter().map(|block| block.len() as u32).sum()
    }

    fn frequency(&self, term: TermHash) -> u32 {
        let held: u32 = self.0.iter().map(|block| block.postings(term).len() as u32).sum();
        if held * 2 > self.rows() { 0 } else { held }
    }

    fn visit<'a>(&'a self, term: TermHash, run: &mut dyn FnMut(u32, &'a [Posting])) {
        let mut first = 0;
        for block in self.0.iter().filter(|_| self.frequency(term) > 0) {
            let postings = block.postings(term);
            if !postings.is_empty() {
                run(first, postings);
            }
            first += block.len() as u32;
        }
    }
}
