//! Packing of a 4,000-token context from 300 prepared fragments: selection, near-duplicates, rendering, the receipt.

use std::sync::Arc;

use async_trait::async_trait;
use criterion::{Criterion, criterion_group, criterion_main};
use mnemal::context::{ContextRequest, Fragment, InclusionReason, Label, RecordRef, RepeatPolicy, Section};
use mnemal::events::Cursor;
use mnemal::ports::{Clock as _, ContextSource, EstimateCounter};
use mnemal::types::{
    Degraded, Importance, InstallationKey, Layer, Level, Score, Slot, Source, Span, TokenCount, Trust,
};
use mnemal::{AsOf, EventId, Result, SessionId, Within, Zone};
use mnemal_benches::chat::{Chat, Turn};
use mnemal_context::{Assembler, AssemblerParts, ContextSettings};
use mnemal_testkit::{ManualClock, SeededIds, block_on};

const FRAGMENTS: usize = 300;
const BUDGET: TokenCount = TokenCount(4_000);

#[derive(Debug)]
struct PreparedFragments(Vec<Fragment>);

#[async_trait]
impl ContextSource for PreparedFragments {
    fn layer(&self) -> Layer {
        Layer::Lexical
    }

    async fn fragments(&self, _: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        Ok(Degraded::whole(self.0.clone()))
    }
}

fn fragment(turn: &Turn) -> Fragment {
    let event = EventId(turn.number as u128 + 1);
    Fragment {
        section: if turn.number.is_multiple_of(5) { Section::Recent } else { Section::Recall },
        record: RecordRef::Event(event),
        producer: None,
        sources: vec![Source { event, span: Span::whole(&turn.text).expect("a turn is short") }],
        text: turn.text.clone(),
        label: Label {
            level: Level::User,
            at: turn.at,
            zone: Zone::utc(),
            speaker: None,
            space: None,
            remark: None,
        },
        trust: Trust::User,
        importance: Importance::DEFAULT,
        score: Score::new(1.0 / (turn.number + 1) as f32),
        parts: Vec::new(),
        because: InclusionReason::Query,
        withheld: None,
    }
}

fn pack(criterion: &mut Criterion) {
    let clock = ManualClock::default();
    let request = ContextRequest {
        query: Some("What did Ada say?".to_owned()),
        query_vector: None,
        session: SessionId::new("bench").expect("the name is valid"),
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: BUDGET,
        tool: None,
        lines: None,
        sections: Within::All,
        as_of: AsOf::at(clock.now()),
        injected: RepeatPolicy::Repeat,
    };
    let fragments = Chat::new(1).take(FRAGMENTS).map(|turn| fragment(&turn)).collect();
    let assembler = Assembler::new(AssemblerParts {
        sources: vec![Arc::new(PreparedFragments(fragments))],
        counter: Arc::new(EstimateCounter),
        receipts: Slot::Empty,
        clock: Arc::new(clock),
        ids: Arc::new(SeededIds::new(1)),
        key: InstallationKey::new([1; 32]),
        line_cache: Arc::default(),
        settings: ContextSettings::default(),
        version: String::new(),
        model: None,
    });
    criterion.bench_function("pack 4,000 tokens", |bencher| {
        bencher.iter(|| block_on(assembler.assemble(&request, Cursor::START)).expect("the source answers"));
    });
}

criterion_group!(benches, pack);
criterion_main!(benches);
