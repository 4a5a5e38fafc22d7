//! Text analysis: terms of a turn, terms of a question, and the vector of a turn.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mnemal::ports::Embedder as _;
use mnemal_benches::chat::{Chat, questions};
use mnemal_providers::StaticEmbedder;
use mnemal_testkit::block_on;
use mnemal_text::{Analyzer, Language};

const TURNS: usize = 200;

fn analyse(criterion: &mut Criterion) {
    let turns: Vec<String> = Chat::new(1).take(TURNS).map(|turn| turn.text).collect();
    let asked = questions(1, TURNS, TURNS);
    let analyzer = Analyzer::new(Language::English);
    let embedder = StaticEmbedder::built_in();
    let texts: Vec<&str> = turns.iter().map(String::as_str).collect();
    let mut group = criterion.benchmark_group("analyse");
    group.throughput(Throughput::Elements(TURNS as u64));
    group.bench_function("terms of turns", |bencher| {
        bencher.iter(|| {
            for turn in &turns {
                analyzer.for_each_term(turn, &mut |term, _| {
                    black_box(term);
                });
            }
        });
    });
    group.bench_function("terms of questions", |bencher| {
        bencher.iter(|| asked.iter().map(|question| analyzer.query_terms(question).len()).sum::<usize>());
    });
    group.bench_function("vectors of turns", |bencher| {
        bencher.iter(|| block_on(embedder.embed(&texts)).expect("the table is built in"));
    });
    group.finish();
}

criterion_group!(benches, analyse);
criterion_main!(benches);
