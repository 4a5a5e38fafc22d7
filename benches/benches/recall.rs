//! Recall over an in-memory log of 10,000 events through the facade: words, vectors, both.

use std::io::BufReader;

use criterion::{Criterion, criterion_group, criterion_main};
use mnemal::events::ImportReport;
use mnemal::recall::RecallMode;
use mnemal::{Engine, ImportFormat, Memory, Within};
use mnemal_benches::chat::{questions, write_corpus};
use mnemal_benches::spaces::{memory, own_history};
use tokio::runtime::Runtime;

const EVENTS: usize = 10_000;
const QUESTIONS: usize = 100;

fn filled(runtime: &Runtime) -> Memory {
    let mut corpus = Vec::new();
    write_corpus(1, EVENTS, &mut corpus).expect("memory takes everything");
    let memory = memory(Engine::builder()).expect("the settings are valid");
    let options = own_history(Within::All);
    let mut watch = |_: &ImportReport| {};
    let reader = BufReader::new(corpus.as_slice());
    let import = memory.events().import(reader, ImportFormat::Neutral, options, &mut watch);
    let report = runtime.block_on(import).expect("the corpus is valid");
    assert_eq!(report.taken.stored, EVENTS as u64);
    memory
}

fn recall(criterion: &mut Criterion) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let memory = filled(&runtime);
    let asked = questions(1, EVENTS, QUESTIONS);
    let mut asked = asked.iter().cycle();
    let mut group = criterion.benchmark_group("recall of 10,000 events");
    let modes =
        [("lexical", RecallMode::Lexical), ("vector", RecallMode::Vector), ("hybrid", RecallMode::Auto)];
    for (name, mode) in modes {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let question = asked.next().expect("a cycle does not end");
                runtime.block_on(memory.recall(question).mode(mode).into_future()).expect("recall answers")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, recall);
criterion_main!(benches);
