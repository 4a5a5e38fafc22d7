//! Context assembler: queries the sources concurrently, selects lines, renders them, and builds the receipt.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{join_all, join3};
use mnemal_core::{
    BlockKind, Clock, ContextRequest, ContextSource, Cursor, Degraded, Error, ErrorKind, Fragment, Gap,
    GapCause, Gaps, IdSource, InclusionReason, InstallationKey, Inventory, Layer, ModelId, Omitted,
    OmittedReason, Receipt, ReceiptId, ReceiptStore, RepeatPolicy, Result, Section, SeenRecords, Slot,
    Timestamp, TokenCount, TokenCounter,
};

use crate::block::{Bare, Block, Fence, PreambleAlone};
use crate::candidate::{Candidate, block_of};
use crate::dedup::{mark_answers, rivals};
use crate::filter::{FilteredFragments, FragmentFilter};
use crate::inventory::inventory_lines;
use crate::line::clock;
use crate::message::Message;
use crate::pack::{Packer, tells_recent};
use crate::preamble::preamble;
use crate::receipt_builder::{ReceiptBuilder, SectionUse};
use crate::share::claims;
use crate::trim_to_budget::trim_to_budget;
use crate::{ContextSettings, LineCache};

/// The layer behind each section; a layer without any source is a gap.
const OWNERS: [(Section, Layer); 7] = [
    (Section::Identity, Layer::Learnings),
    (Section::Preferences, Layer::Learnings),
    (Section::Knowledge, Layer::Learnings),
    (Section::Channel, Layer::Summaries),
    (Section::Entity, Layer::Graph),
    (Section::Topics, Layer::Graph),
    (Section::State, Layer::Working),
];

/// The parts of an assembler.
#[derive(Clone, Debug)]
pub struct AssemblerParts {
    /// The context sources, queried concurrently; their order breaks ties.
    pub sources: Vec<Arc<dyn ContextSource>>,
    /// Counts the tokens of lines and of the whole.
    pub counter: Arc<dyn TokenCounter>,
    /// The receipts, which record what a session was shown.
    pub receipts: Slot<dyn ReceiptStore>,
    /// The clock of the clock line and of the receipt.
    pub clock: Arc<dyn Clock>,
    /// Generates receipt ids.
    pub ids: Arc<dyn IdSource>,
    /// The key for the nonce of a session's markers.
    pub key: InstallationKey,
    /// The settings of a context.
    pub settings: ContextSettings,
    /// Line cache, shared by all assemblers of a space.
    pub line_cache: Arc<LineCache>,
    /// Version of the engine, for receipts.
    pub version: String,
    /// Model of the engine's query vectors, for receipts.
    pub model: Option<ModelId>,
}

/// Prompt text within a token budget, with its receipt.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// The concatenated blocks; empty if there is nothing to show.
    pub text: String,
    /// Sum over the blocks, at most `budget`.
    pub tokens: TokenCount,
    /// The requested limit.
    pub budget: TokenCount,
    /// The fenced blocks that have lines, in order.
    pub blocks: Vec<Block>,
    /// Budget use of the requested sections, in order.
    pub sections: Vec<SectionUse>,
    /// A question was asked and no layer has an answer: the context holds only preferences and general facts.
    pub no_match: bool,
    /// The receipt; store it once the answer is complete.
    pub receipt: Receipt,
}

/// Assembles contexts. It only reads: the caller stores the receipt.
#[derive(Clone, Debug)]
pub struct Assembler {
    parts: AssemblerParts,
}

impl Assembler {
    /// Creates an assembler.
    pub fn new(parts: AssemblerParts) -> Self {
        Self { parts }
    }

    /// Returns the settings of its contexts.
    pub fn settings(&self) -> &ContextSettings {
        &self.parts.settings
    }

    /// Answers a request from the sources' fragments; `head` is the last position of the log, for the receipt.
    ///
    /// Guarantees: the tokens of the text never exceed the budget; every candidate is exactly once a line or an omission of
    /// the receipt; equal fragments give equal bytes for the same clock and receipt id. A source or a receipt store that
    /// fails, panics or is missing is a gap. The call is cancellation-safe.
    ///
    /// # Errors
    /// `Invalid` for a query vector that is empty or not finite.
    pub async fn assemble(&self, request: &ContextRequest, head: Cursor) -> Result<Degraded<Context>> {
        check(request)?;
        let mut gaps = Gaps::default();
        let asked = join3(self.fragments(request), self.inventories(request), self.seen(request));
        let (fragments, inventories, seen) = asked.await;
        let (fragments, inventories) = (gaps.merge(fragments), gaps.merge(inventories));
        let seen = gaps.keep(Layer::Receipts, seen);
        for gap in self.missing_layers(request) {
            gaps.add(gap);
        }
        let offered = SourceResponses { fragments, inventories, seen };
        let context = self.compose(request, offered, head);
        let mut answer = gaps.attach(context);
        answer.value.receipt.gaps.clone_from(&answer.gaps);
        Ok(answer)
    }

    async fn fragments(&self, request: &ContextRequest) -> Degraded<Vec<Fragment>> {
        let asked = self.parts.sources.iter().map(|source| async move {
            let answer = AssertUnwindSafe(source.fragments(request)).catch_unwind().await;
            let answer = answer.unwrap_or_else(|_| Err(Error::internal("a context source panicked")));
            (source.layer(), answer)
        });
        let mut gaps = Gaps::default();
        let mut fragments = Vec::new();
        for (layer, answer) in join_all(asked).await {
            match answer {
                Ok(answer) => fragments.extend(gaps.merge(answer)),
                Err(error) => gaps.add(Gap { layer, cause: error.into() }),
            }
        }
        if fragments.iter().any(|fragment| fragment.sources.is_empty()) {
            gaps.add(Gap { layer: Layer::Context, cause: GapCause::Failed(ErrorKind::Internal) });
        }
        gaps.attach(fragments)
    }

    /// Collects the inventories of working memory; skipped for a host that wants few lines.
    async fn inventories(&self, request: &ContextRequest) -> Degraded<Vec<Inventory>> {
        let mut gaps = Gaps::default();
        let mut inventories = Vec::new();
        if request.lines.is_some() || !wants(request, Section::State) {
            return gaps.attach(inventories);
        }
        for source in &self.parts.sources {
            let answer = AssertUnwindSafe(source.inventories(request)).catch_unwind().await;
            let answer = answer.unwrap_or_else(|_| Err(Error::internal("a context source panicked")));
            inventories.extend(gaps.keep(source.layer(), answer.map_err(GapCause::from)));
        }
        gaps.attach(inventories)
    }

    async fn seen(&self, request: &ContextRequest) -> Result<SeenRecords, GapCause> {
        match request.injected {
            RepeatPolicy::Repeat => Ok(SeenRecords::default()),
            RepeatPolicy::Skip => Ok(self.parts.receipts.part()?.seen(&request.session).await?),
        }
    }

    fn missing_layers(&self, request: &ContextRequest) -> impl Iterator<Item = Gap> {
        let absent = |layer: Layer| !self.parts.sources.iter().any(|source| source.layer() == layer);
        let missing =
            OWNERS.into_iter().filter(move |(section, layer)| wants(request, *section) && absent(*layer));
        missing.map(|(_, layer)| Gap { layer, cause: GapCause::NotConfigured })
    }

    fn compose(&self, request: &ContextRequest, offered: SourceResponses, head: Cursor) -> Context {
        let SourceResponses { fragments, inventories, seen } = offered;
        let parts = &self.parts;
        let (settings, counter) = (&parts.settings, parts.counter.as_ref());
        let nonce = parts.key.nonce(request.session.as_str());
        let now = parts.clock.now();
        let id = ReceiptId(parts.ids.next(now));
        let line_cache = &parts.line_cache;
        let filter = FragmentFilter { request, seen: &seen, settings, counter, nonce: &nonce, line_cache };
        let mut filtered = filter.filter(fragments);
        let rivals = rivals(&filtered.candidates, settings.near_duplicate);
        mark_answers(&mut filtered.candidates, &rivals);
        let identity: &[String] = if wants(request, Section::Identity) { &settings.identity } else { &[] };
        let stocked = |section: Section| match section {
            Section::State => inventories.iter().any(|inventory| !inventory.items.is_empty()),
            Section::Identity => !identity.is_empty(),
            _ => false,
        };
        let (claims, pinned) = claimed_shares(request, settings, &filtered.candidates, &stocked);
        let room = |of: Section| {
            let claim = claims.iter().find(|(section, _)| *section == of);
            claim.map_or(TokenCount(0), |(_, room)| *room)
        };
        let inventory = inventory_lines(&inventories, &nonce, settings, counter, room(Section::State));
        // Pinned records keep their room.
        let preamble = preamble(identity, &nonce, counter, room(Section::Identity).minus(pinned));
        let tells_time = wants(request, Section::State);
        let time = if tells_time { format!("{}, ", clock(now, &settings.zone)) } else { String::new() };
        let no_match = has_no_match(request, &filtered);
        let miss = if no_match { Message::NoMatch.words(settings.format.wording()) } else { "" };
        let header = format!("{time}receipt {id}\n{miss}{}", inventory.text);
        let bare = match (tells_time, inventory.lines) {
            (false, _) => Bare::Never,
            (true, 0) => Bare::Beside(BlockKind::Volatile),
            (true, _) => Bare::Always(BlockKind::Volatile),
        };
        // A host that wants few lines sends a request on every prompt; there silence is the usual answer.
        let stands_alone = preamble.lines > 0 && request.lines.is_none();
        let preamble_alone = if stands_alone { PreambleAlone::Yes } else { PreambleAlone::No };
        let format = settings.format.headed(request);
        let (header, over) = (header.as_str(), preamble.text.as_str());
        let preamble_block = block_of(Section::Identity, request.query.as_deref());
        let fence = Fence {
            format,
            nonce: &nonce,
            header,
            preamble: over,
            preamble_block,
            preamble_alone,
            bare,
            counter,
        };
        let lines_claim = claims_of_lines(&claims, inventory.tokens, preamble.tokens);
        let packed = Packer::new(&mut filtered.candidates, &rivals, request.budget, settings, &fence)
            .suited(request)
            .pack(&lines_claim);
        let trimmed = trim_to_budget(&filtered.candidates, packed, request.budget, &fence);
        let builder = ReceiptBuilder {
            request,
            claims: &claims,
            inventory: &inventory,
            preamble: &preamble,
            preamble_block,
            filtered: &filtered,
            trimmed: &trimmed,
        };
        let receipt = self.receipt(id, now, head, &builder);
        let text = trimmed.blocks.iter().map(|block| block.text.as_str()).collect();
        Context {
            text,
            tokens: trimmed.tokens(),
            budget: request.budget,
            sections: builder.sections(),
            blocks: trimmed.blocks,
            no_match,
            receipt,
        }
    }

    fn receipt(&self, id: ReceiptId, at: Timestamp, head: Cursor, builder: &ReceiptBuilder<'_>) -> Receipt {
        let ReceiptBuilder { request, trimmed, .. } = builder;
        let AssemblerParts { settings, counter, .. } = &self.parts;
        Receipt {
            id,
            session: request.session.clone(),
            at,
            version: self.parts.version.clone(),
            settings_hash: settings.hash(),
            head,
            model: request
                .query_vector
                .as_ref()
                .map(|(model, _)| model)
                .or(self.parts.model.as_ref())
                .cloned(),
            tokenizer: counter.name().to_owned(),
            budget: request.budget,
            tokens: trimmed.tokens(),
            blocks: builder.blocks(),
            lines: builder.lines(),
            omitted: builder.omitted(),
            omitted_counts: builder.omitted_counts(),
            gaps: Vec::new(),
            seal: None,
        }
    }
}

/// Returns what sections may still take in lines, after the inventory and the preamble.
fn claims_of_lines(
    claims: &[(Section, TokenCount)],
    inventory: TokenCount,
    preamble: TokenCount,
) -> Vec<(Section, TokenCount)> {
    let left = |(section, claim): &(Section, TokenCount)| match section {
        Section::State => (*section, claim.minus(inventory)),
        Section::Identity => (*section, claim.minus(preamble)),
        _ => (*section, *claim),
    };
    claims.iter().map(left).collect()
}

/// Whether a question was asked and no layer answers it; records already shown to the session may answer.
fn has_no_match(request: &ContextRequest, filtered: &FilteredFragments) -> bool {
    let was_shown = |one: &Omitted| {
        one.reason == OmittedReason::AlreadyInjected && !matches!(one.section, Section::Preferences)
    };
    let is_sought = wants(request, Section::Recall) && !tells_recent(request);
    is_sought
        && !filtered.candidates.iter().any(Candidate::answers)
        && !filtered.omitted.iter().any(was_shown)
}

/// Returns the share of each section with candidates, and the part of it for pinned records; `stocked` tells whether a
/// section has content other than candidates.
fn claimed_shares(
    request: &ContextRequest,
    settings: &ContextSettings,
    candidates: &[Candidate],
    stocked: &dyn Fn(Section) -> bool,
) -> (Vec<(Section, TokenCount)>, TokenCount) {
    let has = |section: Section| candidates.iter().any(|candidate| candidate.fragment.section == section);
    let offered: Vec<Section> =
        Section::ALL.into_iter().filter(|section| stocked(*section) || has(*section)).collect();
    let reserve = if request.query.is_some() { settings.shares.unclaimed() } else { TokenCount(0) };
    let mut claims = claims(&settings.shares, request.budget, &offered, reserve);
    let pinned: TokenCount = candidates.iter().filter(|one| is_pinned(one)).map(|one| one.tokens).sum();
    grow(&mut claims, request.budget, (pinned, stocked(Section::Identity)));
    (claims, pinned)
}

/// The responses of the sources.
struct SourceResponses {
    fragments: Vec<Fragment>,
    inventories: Vec<Inventory>,
    seen: SeenRecords,
}

/// Whether a person pinned it, so that it is always included.
fn is_pinned(candidate: &Candidate) -> bool {
    let fragment = &candidate.fragment;
    fragment.section == Section::Identity && fragment.because == InclusionReason::Pinned
}

/// Grows the share of identity to fit the pinned records, in addition to its share if the host describes agent and user, as
/// far as the budget has unclaimed tokens.
fn grow(claims: &mut [(Section, TokenCount)], budget: TokenCount, (pinned, is_said): (TokenCount, bool)) {
    let claimed: TokenCount = claims.iter().map(|(_, claim)| *claim).sum();
    if let Some((_, claim)) = claims.iter_mut().find(|(section, _)| *section == Section::Identity) {
        let more = if is_said { pinned } else { pinned.minus(*claim) };
        *claim = *claim + more.min(budget.minus(claimed));
    }
}

fn wants(request: &ContextRequest, section: Section) -> bool {
    request.sections.only().is_none_or(|only| only.contains(&section))
}

fn check(request: &ContextRequest) -> Result<()> {
    match &request.query_vector {
        Some((model, vector)) if vector.is_empty() || vector.iter().any(|value| !value.is_finite()) => {
            Err(Error::invalid(format!("the query vector of model {model} must have finite values")))
        }
        _ => Ok(()),
    }
}
