//! Append of a batch of prepared entries to the in-memory store: the cost of the records themselves, without a disk.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use mnemal::ports::EventStore as _;
use mnemal_benches::chat::Chat;
use mnemal_benches::latency::entries;
use mnemal_store::MemoryStore;
use mnemal_testkit::block_on;

const BATCH: usize = 1_000;

fn append(criterion: &mut Criterion) {
    let batch = block_on(entries(&mut Chat::new(1), BATCH)).expect("the turns are valid");
    let mut group = criterion.benchmark_group("append");
    group.throughput(Throughput::Elements(BATCH as u64));
    group.bench_function("1,000 entries in memory", |bencher| {
        bencher.iter_batched(
            MemoryStore::new,
            |store| {
                block_on(store.append(&batch)).expect("the entries are new");
                store
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, append);
criterion_main!(benches);
