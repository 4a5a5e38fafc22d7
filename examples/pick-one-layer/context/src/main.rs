//! Assembles a context within a token budget from a source of one's own, with `mnemal-context`: no store, no runtime.

use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use mnemal_context::{Assembler, AssemblerParts, ContextSettings};
use mnemal_core::{
    AsOf, Clock, ContextRequest, ContextSource, Cursor, Degraded, EventId, Fragment, IdSource, Importance,
    InclusionReason, InstallationKey, Label, Layer, Level, RecordRef, RepeatPolicy, Result, Score, Section,
    SessionId, Slot, Source, Span, Timestamp, TokenCount, TokenCounter, Trust, Within, Zone,
};

/// A source that knows what to say, a counter, a clock and ids: what a host brings.
#[derive(Debug)]
struct Host;

fn fragment(number: u128, text: &str) -> Result<Fragment> {
    Ok(Fragment {
        section: Section::Recall,
        record: RecordRef::Event(EventId(number)),
        producer: None,
        sources: vec![Source { event: EventId(number), span: Span::whole(text)? }],
        text: text.to_owned(),
        label: Label {
            level: Level::User,
            at: Timestamp::EPOCH,
            zone: Zone::utc(),
            speaker: None,
            space: None,
            remark: None,
        },
        trust: Trust::User,
        importance: Importance::DEFAULT,
        score: Score::new(1.0 / number as f32),
        parts: Vec::new(),
        because: InclusionReason::Query,
        withheld: None,
    })
}

#[async_trait]
impl ContextSource for Host {
    fn layer(&self) -> Layer {
        Layer::Lexical
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        let about = request.query.as_deref().unwrap_or_default();
        let texts = (1..=200)
            .map(|n| fragment(n, &format!("Remark {n} about {about}, which is {} words long.", n % 7)));
        Ok(Degraded::whole(texts.collect::<Result<_>>()?))
    }
}

impl TokenCounter for Host {
    fn name(&self) -> &str {
        "four bytes"
    }

    fn count(&self, text: &str) -> TokenCount {
        TokenCount(text.len().div_ceil(4) as u32)
    }

    fn prefix(&self, text: &str, budget: TokenCount) -> Range<usize> {
        0..text.floor_char_boundary(4 * budget.0 as usize)
    }
}

impl Clock for Host {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH.plus_micros(1_770_000_000_000_000)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

impl IdSource for Host {
    fn next(&self, _: Timestamp) -> u128 {
        1
    }
}

async fn assemble() -> Result<()> {
    let assembler = Assembler::new(AssemblerParts {
        sources: vec![Arc::new(Host)],
        counter: Arc::new(Host),
        receipts: Slot::Empty,
        clock: Arc::new(Host),
        ids: Arc::new(Host),
        key: InstallationKey::new([1; 32]),
        line_cache: Arc::default(),
        settings: ContextSettings::default(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: None,
    });
    let request = ContextRequest {
        query: Some("sailing".to_owned()),
        query_vector: None,
        session: SessionId::new("chat:1")?,
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: TokenCount(600),
        sections: Within::All,
        as_of: AsOf::at(Host.now()),
        injected: RepeatPolicy::Repeat,
        tool: None,
        lines: None,
    };
    let context = assembler.assemble(&request, Cursor::START).await?;
    assert!(context.tokens <= request.budget && context.text.contains("Remark 1 about sailing"));
    let left_out: u32 = context.receipt.omitted_counts.iter().map(|(_, count)| count).sum();
    assert_eq!(context.receipt.lines.len() + left_out as usize, 200);
    println!("{}", context.text);
    Ok(())
}

fn main() -> Result<()> {
    let (mut work, mut waiting) = (pin!(assemble()), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(answer) = work.as_mut().poll(&mut waiting) {
            return answer;
        }
    }
}
