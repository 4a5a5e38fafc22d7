//! Packing: fills each block with its sections' shares, then distributes the rest.
//!
//! The stable block is packed first and only from candidates that do not depend on the question; recall comes last and
//! takes all unclaimed tokens.

use std::ops::Range;

use mnemal_core::{BlockKind, ContextRequest, OmittedReason, Section, TokenCount};
use mnemal_text::content_words;

use crate::ContextSettings;
use crate::block::{Bare, Fence, PreambleAlone};
use crate::candidate::{Candidate, block_of};
use crate::message::Message;
use crate::share::{LEAST, part};

/// Sections that receive unclaimed tokens, in order. Source: NB-70, recall first; the sections of the other blocks are left
/// out, because their bytes must not depend on the recall hits. Open tasks come before recent turns.
const FLOW: [Section; 3] = [Section::Recall, Section::State, Section::Recent];

/// The same for a question with searchable words.
const FOUND: [Section; 2] = [Section::Recall, Section::State];

/// Most of the remaining tokens that stated preferences may take, 0 to 1.
///
/// Source: measured on the development half of `PrefEval` (ADR 21). Their source offers few of them for a question about
/// the past, so the share is only filled where they matter.
const STATED_SHARE: f32 = 0.8;
/// Most of the remaining tokens that timeline steps may take, 0 to 1.
///
/// Source: ADR 21.
const COURSE_SHARE: f32 = 0.75;

/// Fewest content words of a question: a greeting has one, and "where were we?" none. Source: own choice.
const ASKED_WORDS: usize = 2;

/// Whether recent turns are included: without a question, for one without searchable words, or on explicit request.
pub(crate) fn tells_recent(request: &ContextRequest) -> bool {
    let is_question =
        |query: &str| content_words(query) >= ASKED_WORDS || query.trim_end().ends_with(['?', '？']);
    let asks = |query: &str| content_words(query) > 0 && is_question(query);
    request.asks_for(Section::Recent) || !request.query.as_deref().is_some_and(asks)
}

/// Whether a line counts toward the host's line limit.
fn changes_with_question(candidate: &Candidate) -> bool {
    block_of(candidate.fragment.section, None) == BlockKind::Volatile
}

/// Most of the remaining tokens that facts may take before recall hits, 0 to 1. Source: own choice.
const KNOWN_SHARE: f32 = 0.3;

/// The selected lines.
#[derive(Debug)]
pub(crate) struct PackedLines {
    /// Indexes of the lines, most important first: the last one is dropped first if the total is too large.
    pub(crate) taken: Vec<usize>,
    /// The reasons of the omitted ones, by index.
    pub(crate) refused: Vec<(usize, OmittedReason)>,
}

/// Selects lines among candidates, which are ordered by section and best first within a section.
pub(crate) struct Packer<'a> {
    candidates: &'a mut [Candidate],
    rivals: &'a [Option<usize>],
    settings: &'a ContextSettings,
    fence: &'a Fence<'a>,
    budget: u32,
    left: u32,
    /// Lines that the volatile block may still take.
    lines_left: usize,
    external_left: u32,
    secondary_left: u32,
    external_cost: u32,
    fence_costs: [(BlockKind, u32); 3],
    /// The question, if any; then all sections are in one block.
    query: Option<&'a str>,
    /// The sections that receive unclaimed tokens. The selection so far, indexed for checks of further candidates.
    flow: &'static [Section],
    taken: SelectedLines,
}

/// Places that were taken, with what is asked of them for every other candidate.
#[derive(Debug)]
struct SelectedLines {
    /// In selection order.
    places: Vec<usize>,
    /// Whether each candidate is selected, by index.
    is: Vec<bool>,
    /// By index of a winner, how many of its duplicate group are selected.
    same: Vec<usize>,
    /// Blocks with at least one line.
    blocks: Vec<BlockKind>,
    /// Blocks with at least one external line.
    external: Vec<BlockKind>,
}

impl SelectedLines {
    fn new(candidates: usize) -> Self {
        let (is, same) = (vec![false; candidates], vec![0; candidates]);
        Self { places: Vec::new(), is, same, blocks: Vec::new(), external: Vec::new() }
    }

    fn has(&self, place: usize) -> bool {
        self.is.get(place).is_some_and(|is| *is)
    }

    fn add(&mut self, place: usize, winner: usize, candidate: &Candidate) {
        self.places.push(place);
        if let Some(is) = self.is.get_mut(place) {
            *is = true;
        }
        if let Some(same) = self.same.get_mut(winner) {
            *same += 1;
        }
        let block = candidate.block;
        if !self.blocks.contains(&block) {
            self.blocks.push(block);
        }
        if candidate.is_external() && !self.external.contains(&block) {
            self.external.push(block);
        }
    }
}

/// Whether the weaker of two near-duplicates may be selected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DuplicatePolicy {
    Wait,
    /// Yes, if none of its duplicate group is selected.
    MayStepIn,
}

impl<'a> Packer<'a> {
    pub(crate) fn new(
        candidates: &'a mut [Candidate],
        rivals: &'a [Option<usize>],
        budget: TokenCount,
        settings: &'a ContextSettings,
        fence: &'a Fence<'a>,
    ) -> Self {
        let external_left = part(budget.0, settings.low_trust_share);
        let secondary_left = part(budget.0, settings.secondary_share);
        let external_cost = fence.external_cost().0;
        let mut fence_costs = [BlockKind::Stable, BlockKind::Session, BlockKind::Volatile]
            .map(|kind| (kind, fence.cost(kind).0));
        let budget = budget.0;
        let taken = SelectedLines::new(candidates.len());
        let mut left = budget;
        // The fence of an unconditional block is paid up front.
        for (kind, cost) in &mut fence_costs {
            let is_preamble = *kind == fence.preamble_block && fence.preamble_alone == PreambleAlone::Yes;
            if is_preamble || fence.bare == Bare::Always(*kind) {
                left = left.saturating_sub(std::mem::take(cost));
            }
        }
        Self {
            candidates,
            rivals,
            settings,
            fence,
            budget,
            left,
            lines_left: usize::MAX,
            external_left,
            secondary_left,
            external_cost,
            fence_costs,
            query: None,
            flow: &FLOW,
            taken,
        }
    }

    /// Applies the host's limit on question-dependent lines; for a question, unclaimed tokens go to recall and not to
    /// recent turns.
    pub(crate) fn suited(mut self, request: &'a ContextRequest) -> Self {
        self.lines_left = request.lines.unwrap_or(usize::MAX);
        self.query = request.query.as_deref();
        self.flow = if tells_recent(request) { &FLOW } else { &FOUND };
        self
    }

    pub(crate) fn pack(mut self, claims: &[(Section, TokenCount)]) -> PackedLines {
        for kind in [BlockKind::Stable, BlockKind::Session] {
            let own: Vec<(Section, TokenCount)> =
                claims.iter().copied().filter(|(section, _)| self.block_of(*section) == kind).collect();
            let claimed: TokenCount = own.iter().map(|(_, claim)| *claim).sum();
            let mut room = claimed.0.min(self.left);
            for (section, claim) in &own {
                self.fill(*section, Some(claim.0), &mut room, DuplicatePolicy::Wait);
            }
            for (section, _) in &own {
                self.reserve_best(*section, &mut room);
            }
            for (section, _) in &own {
                self.fill_unclaimed(*section, &mut room);
            }
        }
        let mut room = self.left;
        if self.query.is_some() {
            self.fill_known();
            room = self.left;
            self.reserve_best(Section::Recall, &mut room);
        }
        for (section, claim) in claims {
            if self.block_of(*section) == BlockKind::Volatile {
                self.fill(*section, Some(claim.0), &mut room, DuplicatePolicy::Wait);
            }
        }
        self.fill_short(Message::Course, COURSE_SHARE, Candidate::is_step);
        self.fill_short(Message::Stated, STATED_SHARE, Candidate::is_stated);
        for section in self.flow {
            self.reserve_best(*section, &mut room);
            self.fill_unclaimed(*section, &mut room);
        }
        self.reserve_best(Section::Learnings, &mut room);
        self.close()
    }

    fn block_of(&self, section: Section) -> BlockKind {
        block_of(section, self.query)
    }

    /// Selects candidates that fit, best first, within the section's share and the block's room.
    fn fill(&mut self, section: Section, claim: Option<u32>, room: &mut u32, rivals: DuplicatePolicy) {
        let mut claim = claim.unwrap_or(u32::MAX);
        for place in self.places(section) {
            let tokens = self.candidates.get(place).map_or(u32::MAX, |candidate| candidate.tokens.0);
            if tokens <= claim && self.is_free(place, rivals) && self.select(place, room) {
                claim = claim.saturating_sub(tokens);
            }
        }
    }

    /// Selects graph facts about entities in the question, within their share of the rest.
    fn fill_known(&mut self) {
        let mut room = part(self.left, KNOWN_SHARE);
        for section in [Section::Entity, Section::Topics] {
            for place in self.places(section) {
                let is_known = self.candidates.get(place).is_some_and(Candidate::is_known);
                if is_known && self.is_free(place, DuplicatePolicy::Wait) {
                    self.select(place, &mut room);
                }
            }
        }
    }

    /// Selects lines of one kind, best first, within their share of the rest.
    fn fill_short(&mut self, heading: Message, share: f32, is_of: fn(&Candidate) -> bool) {
        let cost = self.fence.cost_over(heading).0;
        let mut room = part(self.left, share).saturating_sub(cost);
        let before = self.taken.places.len();
        for place in self.places(Section::Recall) {
            let is_of = self.candidates.get(place).is_some_and(is_of);
            if is_of && self.is_free(place, DuplicatePolicy::MayStepIn) && !self.select(place, &mut room) {
                break;
            }
        }
        if self.taken.places.len() > before {
            self.left = self.left.saturating_sub(cost);
        }
    }

    /// Selects further candidates that fit; the weaker of two near-duplicates only if the stronger does not fit.
    fn fill_unclaimed(&mut self, section: Section, room: &mut u32) {
        self.fill(section, None, room, DuplicatePolicy::Wait);
        self.fill(section, None, room, DuplicatePolicy::MayStepIn);
    }

    /// Selects the best candidate of a section, truncated if needed, so that it is never dropped for its length.
    fn reserve_best(&mut self, section: Section, room: &mut u32) {
        let is_best = |place: &usize| {
            let is_short = self.candidates.get(*place).is_some_and(Candidate::is_short);
            !is_short && self.rival(*place).is_none() && !self.is_said(*place)
        };
        let Some(place) = self.places(section).find(is_best) else { return };
        if self.taken.has(place) || self.select(place, room) {
            return;
        }
        let (fence, apart) = self.surrounding_cost(place);
        let Some(candidate) = self.candidates.get_mut(place) else { return };
        let mut limit = (*room).min(self.left).saturating_sub(fence);
        if candidate.is_external() {
            limit = limit.min(self.external_left);
        }
        if candidate.is_secondary() {
            limit = limit.min(self.secondary_left);
        }
        let limit = limit.saturating_sub(apart);
        if candidate.shorten(limit, LEAST, self.settings, self.fence.counter) {
            self.select(place, room);
        }
    }

    fn select(&mut self, place: usize, room: &mut u32) -> bool {
        let (fence, apart) = self.surrounding_cost(place);
        let Some(candidate) = self.candidates.get(place) else { return false };
        // A block's fence is not part of a share: its first line may be external.
        let own = candidate.tokens.0.saturating_add(apart);
        let cost = own.saturating_add(fence);
        let (is_external, is_secondary) = (candidate.is_external(), candidate.is_secondary());
        let is_too_much = cost > *room
            || cost > self.left
            || (is_external && own > self.external_left)
            || (is_secondary && own > self.secondary_left);
        if is_too_much {
            return false;
        }
        let is_counted = changes_with_question(candidate);
        if is_counted && self.lines_left == 0 {
            return false;
        }
        if is_external {
            self.external_left -= own;
        }
        if is_secondary {
            self.secondary_left -= own;
        }
        self.lines_left -= usize::from(is_counted);
        *room -= cost;
        self.left -= cost;
        self.taken.add(place, self.rival(place).unwrap_or(place), candidate);
        true
    }

    /// Returns the cost of markup that a line needs and that is not present yet: its block's fence, and the external
    /// marker.
    fn surrounding_cost(&self, place: usize) -> (u32, u32) {
        let Some(candidate) = self.candidates.get(place) else { return (0, 0) };
        let block = candidate.block;
        let fence = if self.taken.blocks.contains(&block) { 0 } else { self.fence_cost(block) };
        let apart = candidate.is_external() && !self.taken.external.contains(&block);
        (fence, if apart { self.external_cost } else { 0 })
    }

    fn fence_cost(&self, block: BlockKind) -> u32 {
        self.fence_costs.iter().find(|(kind, _)| *kind == block).map_or(0, |(_, cost)| *cost)
    }

    /// Returns the contiguous index range of a section's candidates.
    fn places(&self, section: Section) -> Range<usize> {
        let first = self.candidates.partition_point(|candidate| candidate.fragment.section < section);
        let behind = self.candidates.partition_point(|candidate| candidate.fragment.section <= section);
        first..behind
    }

    fn is_free(&self, place: usize, rivals: DuplicatePolicy) -> bool {
        let is_short = self.candidates.get(place).is_some_and(Candidate::is_short);
        let waits = rivals == DuplicatePolicy::Wait && (is_short || self.rival(place).is_some());
        !waits && !self.taken.has(place) && !self.is_said(place)
    }

    /// Whether another line of its duplicate group is selected.
    fn is_said(&self, place: usize) -> bool {
        let winner = self.rival(place).unwrap_or(place);
        let same = self.taken.same.get(winner).copied().unwrap_or_default();
        same > usize::from(self.taken.has(place))
    }

    fn rival(&self, place: usize) -> Option<usize> {
        self.rivals.get(place).copied().flatten()
    }

    fn close(self) -> PackedLines {
        let left_out = self.candidates.iter().enumerate().filter(|(place, _)| !self.taken.has(*place));
        let refused = left_out.map(|(place, candidate)| (place, self.reason(place, candidate))).collect();
        PackedLines { taken: self.taken.places, refused }
    }

    fn reason(&self, place: usize, candidate: &Candidate) -> OmittedReason {
        let (fence, apart) = self.surrounding_cost(place);
        let cost = candidate.tokens.0.saturating_add(fence).saturating_add(apart);
        let limit = if self.flow.contains(&candidate.fragment.section) { self.left } else { self.budget };
        let no_line_left = self.lines_left == 0 && changes_with_question(candidate);
        if self.is_said(place) {
            OmittedReason::Duplicate
        } else if cost > limit || no_line_left {
            OmittedReason::Budget
        } else {
            OmittedReason::SectionFull
        }
    }
}
