//! The kernels of recall one by one, over 50,000 turns: reading a question, scoring words, scanning vectors, sign bits, evidence.
#![expect(clippy::cast_possible_truncation, reason = "made numbers, far below their bounds")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use mnemal_benches::chat::{Chat, Turn, questions};
use mnemal_benches::words::Dice;
use mnemal_core::{BLOCK_ROWS, EventId, IndexBlock, ModelId, Posting, Seq, TermHash, VectorColumn};
use mnemal_recall::{
    Columns, EvidenceFeatures, EvidenceRule, FlatIndex, LexicalIndex, QueryVector, RowSet, SignBits,
    TermQuery, VectorIndex, score,
};
use mnemal_text::{Analyzer, Language, term_hash};

const TURNS: usize = 50_000;
const QUESTIONS: usize = 100;
const DIMENSIONS: usize = 256;
/// Rows that an arm proposes.
const CANDIDATES: usize = 100;

/// The blocks that a store would make of the turns, as far as the kernels look at them.
#[derive(Debug)]
struct Blocks {
    blocks: Vec<Arc<IndexBlock>>,
    rows: u32,
}

impl Blocks {
    fn starts(&self) -> impl Iterator<Item = (u32, &IndexBlock)> {
        (0..).step_by(BLOCK_ROWS).zip(self.blocks.iter().map(AsRef::as_ref))
    }
}

impl LexicalIndex for Blocks {
    fn rows(&self) -> u32 {
        self.rows
    }

    fn frequency(&self, term: TermHash) -> u32 {
        self.starts().map(|(_, block)| block.postings(term).len() as u32).sum()
    }

    fn visit<'a>(&'a self, term: TermHash, run: &mut dyn FnMut(u32, &'a [Posting])) {
        for (first, block) in self.starts() {
            let postings = block.postings(term);
            if !postings.is_empty() {
                run(first, postings);
            }
        }
    }
}

fn model() -> ModelId {
    ModelId::new("kernels-1").expect("it is a valid name")
}

fn block(first: usize, turns: &[Turn], analyzer: Analyzer, dice: &mut Dice) -> IndexBlock {
    let mut block = IndexBlock { starts: vec![0], ..IndexBlock::default() };
    block.seqs = (first..first + turns.len()).map(|row| Seq(row as u64 + 1)).collect();
    block.events = block.seqs.iter().map(|seq| EventId(u128::from(seq.0))).collect();
    let mut found: BTreeMap<TermHash, BTreeMap<u16, u16>> = BTreeMap::new();
    for (row, turn) in (0_u16..).zip(turns) {
        analyzer.for_each_term(&turn.text, &mut |term, _| {
            *found.entry(TermHash(term_hash(term))).or_default().entry(row).or_default() += 1;
        });
    }
    for (term, rows) in found {
        block.terms.push(term);
        block.postings.extend(rows.into_iter().map(|(row, count)| Posting::new(row, count)));
        block.starts.push(block.postings.len() as u32);
    }
    let codes = (0..turns.len() * DIMENSIONS).map(|_| dice.below(255) as u8);
    let codes = codes.map(|code| code.wrapping_sub(127).cast_signed()).collect();
    let scales = vec![1.0 / 1_170.0; turns.len()];
    block.vectors.push(VectorColumn { model: model(), dimensions: DIMENSIONS, scales, codes });
    block
}

fn columns(turns: &[Turn], analyzer: Analyzer) -> Columns {
    let mut columns = Columns::default();
    for (row, turn) in (0_u32..).zip(turns) {
        let length = analyzer.terms(&turn.text).len() as u32;
        let is_same = |other: Option<&Turn>| other.is_some_and(|other| other.session == turn.session);
        let before = row.checked_sub(1).filter(|before| is_same(turns.get(*before as usize)));
        let after = Some(row + 1).filter(|after| is_same(turns.get(*after as usize)));
        columns.lengths.push(length);
        columns.total_length += u64::from(length);
        columns.previous.push(before.unwrap_or(u32::MAX));
        columns.next.push(after.unwrap_or(u32::MAX));
        for (bits, is_set) in [
            (&mut columns.joined, before.is_some()),
            (&mut columns.opening, before.is_none()),
            (&mut columns.closing, after.is_none()),
        ] {
            bits.resize(row as usize / 64 + 1, 0);
            if let Some(bits) = bits.last_mut() {
                *bits |= u64::from(is_set) << (row % 64);
            }
        }
        columns.sessions.push(turn.session as u32);
        columns.session_lengths.resize(turn.session + 1, 0);
        if let Some(total) = columns.session_lengths.last_mut() {
            *total += u64::from(length);
        }
    }
    columns
}

fn kernels(criterion: &mut Criterion) {
    let analyzer = Analyzer::new(Language::English);
    let turns: Vec<Turn> = Chat::new(1).take(TURNS).collect();
    let mut dice = Dice::new(1);
    let parts = (0..).step_by(BLOCK_ROWS).zip(turns.chunks(BLOCK_ROWS));
    let blocks = parts.map(|(first, turns)| Arc::new(block(first, turns, analyzer, &mut dice))).collect();
    let index = Blocks { blocks, rows: TURNS as u32 };
    let columns = columns(&turns, analyzer);
    let filter = RowSet::all(TURNS as u32);
    let asked = questions(1, TURNS, QUESTIONS);
    let read = |text: &String| -> TermQuery {
        let terms: Vec<TermHash> =
            analyzer.query_terms(text).iter().map(|term| TermHash(term_hash(term))).collect();
        terms.into()
    };
    let mut queries = asked.iter().map(read).collect::<Vec<_>>().into_iter().cycle();
    let vector: Vec<f32> = (0..DIMENSIONS).map(|_| dice.unit() as f32 - 0.5).collect();
    let vector = QueryVector::new(&vector).expect("it has a direction");
    let flat = FlatIndex::new(index.blocks.iter().map(Arc::clone), model());
    let signs = SignBits::new(flat.clone(), DIMENSIONS);
    let mut texts = asked.iter().cycle();

    let mut group = criterion.benchmark_group("kernels of recall, 50,000 turns");
    group.bench_function("reading a question", |bencher| {
        bencher.iter(|| {
            let text = texts.next().expect("a cycle does not end");
            (mnemal_extract::question(text).names.len(), read(text).words.len())
        });
    });
    group.bench_function("scoring words", |bencher| {
        bencher.iter(|| {
            let query = queries.next().expect("a cycle does not end");
            score(&index, &columns, &query, &|_| false, (&filter, CANDIDATES)).best().count()
        });
    });
    group.bench_function("scanning vectors", |bencher| {
        bencher.iter(|| flat.nearest(&vector, &filter, CANDIDATES).len());
    });
    group.bench_function("sign bits", |bencher| {
        bencher.iter(|| signs.nearest(&vector, &filter, CANDIDATES).len());
    });
    group.bench_function("evidence", |bencher| {
        let features = EvidenceFeatures {
            coverage: 0.5,
            nearness: 0.3,
            named: 0.2,
            others: 0.4,
            ..EvidenceFeatures::default()
        };
        bencher.iter(|| black_box(features).evidence(&EvidenceRule::LEARNT));
    });
    group.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
