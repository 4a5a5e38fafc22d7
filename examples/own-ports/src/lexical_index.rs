//! Lexical index: words in more than half of the events find nothing.

use std::sync::{Arc, atomic::AtomicUsize, atomic::Ordering};

use mnemal::ports::{LexicalIndex, LexicalIndexFactory};
use mnemal::recall::{IndexBlock, Posting, TermHash};

#[derive(Clone, Debug, Default)] // it counts the searches
pub struct RareWords(pub Arc<AtomicUsize>);

#[derive(Debug)]
struct Blocks(Vec<Arc<IndexBlock>>, Arc<AtomicUsize>);

impl LexicalIndexFactory for RareWords {
    fn index(&self, blocks: &[Arc<IndexBlock>]) -> Arc<dyn LexicalIndex> {
        Arc::new(Blocks(blocks.to_vec(), Arc::clone(&self.0)))
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
        self.1.fetch_add(1, Ordering::Relaxed);
        let mut first = 0;
        for block in self.0.iter().filter(|_| self.frequency(term) > 0) {
            if !block.postings(term).is_empty() {
                run(first, block.postings(term));
            }
            first += block.len() as u32;
        }
    }
}
