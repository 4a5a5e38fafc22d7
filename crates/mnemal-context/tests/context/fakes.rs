//! Scripted sources, counters and clocks, and a fragment maker.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use mnemal_context::{Assembler, AssemblerParts, Context, ContextSettings, line_number};
use mnemal_core::{
    AsOf, Clock, ContextRequest, ContextSource, Cursor, Degraded, Error, ErrorKind, EventId, Fragment,
    IdSource, Importance, InclusionReason, InstallationKey, Inventory, Label, Layer, LearningId, Level,
    Receipt, ReceiptId, ReceiptStore, RecordRef, RepeatPolicy, Result, Score, Section, SeenRecord,
    SeenRecords, Seq, SessionId, Slot, Source, SpaceId, Span, Timestamp, TokenCount, TokenCounter,
    TokenParts, Trust, Within, Zone,
};

/// The scripted behavior of a source.
#[derive(Clone, Debug)]
pub(crate) enum Script {
    Offer(Vec<Fragment>),
    Stock(Vec<Inventory>),
    Fail,
    Panic,
}

#[derive(Debug)]
pub(crate) struct Scripted(pub(crate) Layer, pub(crate) Script);

#[async_trait]
impl ContextSource for Scripted {
    fn layer(&self) -> Layer {
        self.0
    }

    async fn fragments(&self, _: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        match &self.1 {
            Script::Offer(fragments) => Ok(Degraded::whole(fragments.clone())),
            Script::Stock(_) => Ok(Degraded::whole(Vec::new())),
            Script::Fail => Err(Error::new(ErrorKind::Unavailable, "the source is down")),
            Script::Panic => panic!("a bug of the source"),
        }
    }

    async fn inventories(&self, _: &ContextRequest) -> Result<Vec<Inventory>> {
        match &self.1 {
            Script::Offer(_) => Ok(Vec::new()),
            Script::Stock(inventories) => Ok(inventories.clone()),
            Script::Fail => Err(Error::new(ErrorKind::Unavailable, "the source is down")),
            Script::Panic => panic!("a bug of the source"),
        }
    }
}

/// Three bytes per token.
#[derive(Debug)]
pub(crate) struct Thirds;

impl TokenCounter for Thirds {
    fn name(&self) -> &'static str {
        "thirds"
    }

    fn count(&self, text: &str) -> TokenCount {
        TokenCount(u32::try_from(text.len().div_ceil(3)).unwrap())
    }

    fn prefix(&self, text: &str, budget: TokenCount) -> Range<usize> {
        0..text.floor_char_boundary(3 * budget.0 as usize)
    }
}

/// The estimate of the text layer.
#[derive(Debug)]
pub(crate) struct Estimate;

impl TokenCounter for Estimate {
    fn name(&self) -> &'static str {
        "estimate"
    }

    fn count(&self, text: &str) -> TokenCount {
        TokenCount(mnemal_text::estimate_tokens(text))
    }

    fn parts(&self, lines: &str) -> Option<TokenParts> {
        lines.ends_with('\n').then(|| TokenParts(mnemal_text::estimate_parts(lines)))
    }

    fn prefix(&self, text: &str, budget: TokenCount) -> Range<usize> {
        0..mnemal_text::token_prefix(text, budget.0)
    }
}

/// Superlinear: the whole costs more than its parts, and prefixes may end inside characters.
#[derive(Debug)]
pub(crate) struct Nasty;

impl TokenCounter for Nasty {
    fn name(&self) -> &'static str {
        "nasty"
    }

    fn count(&self, text: &str) -> TokenCount {
        TokenCount(u32::try_from(text.len() / 7 + text.len().pow(2) / 20_000).unwrap())
    }

    fn prefix(&self, text: &str, budget: TokenCount) -> Range<usize> {
        0..(budget.0 as usize * 7).min(text.len() + 3)
    }
}

#[derive(Debug)]
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH.plus_micros(1_795_300_200_000_000)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

#[derive(Debug)]
pub(crate) struct FixedId;

impl IdSource for FixedId {
    fn next(&self, _: Timestamp) -> u128 {
        7
    }
}

/// Reports shown records, or fails.
#[derive(Debug)]
pub(crate) struct Shown(pub(crate) Option<SeenRecords>);

impl Shown {
    /// Reports the records of receipts as shown.
    pub(crate) fn by(receipts: &[Receipt]) -> Slot<dyn ReceiptStore> {
        let item = |line: &mnemal_core::ReceiptLine| SeenRecord {
            record: line.record,
            content_hash: line.content_hash,
            sources: line.sources.clone(),
        };
        let items = receipts.iter().flat_map(|receipt| receipt.lines.iter().map(item)).collect();
        Slot::Filled(Arc::new(Self(Some(SeenRecords { items }))))
    }
}

#[async_trait]
impl ReceiptStore for Shown {
    async fn put(&self, _: &Receipt) -> Result<()> {
        panic!("assembling writes nothing")
    }

    async fn get(&self, _: ReceiptId) -> Result<Receipt> {
        Err(Error::not_found("no receipt"))
    }

    async fn latest(&self, _: NonZeroUsize) -> Result<Vec<Receipt>> {
        Ok(Vec::new())
    }

    async fn between(&self, _: Timestamp, _: Timestamp, _: NonZeroUsize) -> Result<Vec<Receipt>> {
        Ok(Vec::new())
    }

    async fn seen(&self, _: &SessionId) -> Result<SeenRecords> {
        self.0.clone().ok_or_else(|| Error::new(ErrorKind::Unavailable, "receipts are down"))
    }

    async fn clear_seen(&self, _: &SessionId) -> Result<()> {
        Ok(())
    }

    async fn sweep(&self, _: Timestamp) -> Result<u64> {
        Ok(0)
    }

    async fn erase(&self, _: &[EventId]) -> Result<u64> {
        Ok(0)
    }
}

/// A user-level event in the section; its id is its number.
pub(crate) fn fragment(section: Section, number: u64, text: &str) -> Fragment {
    let event = EventId(u128::from(number));
    Fragment {
        section,
        record: RecordRef::Event(event),
        producer: None,
        sources: vec![Source { event, span: Span { start: 0, end: u32::try_from(text.len()).unwrap() } }],
        text: text.to_owned(),
        label: Label {
            level: Level::User,
            at: day(number),
            zone: Zone::utc(),
            speaker: None,
            space: None,
            remark: None,
        },
        trust: Trust::User,
        importance: Importance::DEFAULT,
        score: Score::new(1.0 / (1.0 + number as f32)),
        parts: Vec::new(),
        because: InclusionReason::Query,
        withheld: None,
    }
}

/// A note derived from the event of this number.
pub(crate) fn note(section: Section, number: u64, text: &str) -> Fragment {
    Fragment {
        record: RecordRef::Learning(LearningId(u128::from(number))),
        ..fragment(section, number, text)
    }
}

/// The same fragment at level external.
pub(crate) fn external(fragment: Fragment) -> Fragment {
    Fragment { label: Label { level: Level::External, ..fragment.label }, trust: Trust::Document, ..fragment }
}

/// The same fragment, of another space.
pub(crate) fn secondary(fragment: Fragment) -> Fragment {
    let space = Some(SpaceId::new("global").unwrap());
    Fragment { label: Label { space, ..fragment.label }, ..fragment }
}

/// This many days after 2026-01-01.
pub(crate) fn day(number: u64) -> Timestamp {
    Timestamp::EPOCH
        .plus_micros(1_767_225_600_000_000 + i64::try_from(number % 3_000).unwrap() * 86_400_000_000)
}

pub(crate) fn request(query: Option<&str>, budget: u32) -> ContextRequest {
    ContextRequest {
        query: query.map(str::to_owned),
        query_vector: None,
        session: SessionId::new("cli:1").unwrap(),
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: TokenCount(budget),
        sections: Within::All,
        as_of: AsOf::at(Still.now()),
        injected: RepeatPolicy::Repeat,
        tool: None,
        lines: None,
    }
}

pub(crate) fn parts(scripts: Vec<(Layer, Script)>) -> AssemblerParts {
    let source = |(layer, script)| -> Arc<dyn ContextSource> { Arc::new(Scripted(layer, script)) };
    AssemblerParts {
        sources: scripts.into_iter().map(source).collect(),
        counter: Arc::new(Thirds),
        receipts: Slot::Empty,
        clock: Arc::new(Still),
        ids: Arc::new(FixedId),
        key: InstallationKey::new([7; 32]),
        line_cache: Arc::default(),
        settings: ContextSettings::default(),
        version: "0".to_owned(),
        model: None,
    }
}

pub(crate) fn offering(fragments: Vec<Fragment>) -> AssemblerParts {
    parts(vec![(Layer::Lexical, Script::Offer(fragments))])
}

pub(crate) fn assemble(parts: AssemblerParts, request: &ContextRequest) -> Degraded<Context> {
    let answer = Assembler::new(parts).assemble(request, Cursor(Some(Seq(9)))).now_or_never();
    answer.expect("scripted parts never wait").unwrap()
}

/// The context of these fragments in 4,000 tokens, for a question.
pub(crate) fn context(fragments: Vec<Fragment>) -> Context {
    assemble(offering(fragments), &request(Some("when is the deploy?"), 4_000)).value
}

/// Numbers of the records on the lines, in order.
pub(crate) fn shown(context: &Context) -> Vec<u128> {
    context.receipt.lines.iter().map(|line| number(line.record)).collect()
}

/// Numbers and reasons of the omissions.
pub(crate) fn left_out(context: &Context) -> Vec<(u128, &'static str)> {
    context.receipt.omitted.iter().map(|omitted| (number(omitted.record), omitted.reason.as_str())).collect()
}

fn number(record: RecordRef) -> u128 {
    match record {
        RecordRef::Event(id) => id.0,
        RecordRef::Learning(id) => id.0,
        _ => panic!("no other record is scripted"),
    }
}

/// The record lines of a context, without fences, notices and headers.
pub(crate) fn items(context: &Context) -> Vec<&str> {
    context.text.lines().filter(|line| line_number(line).is_some()).collect()
}
