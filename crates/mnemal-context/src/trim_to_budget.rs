//! Trimming to the budget: renders the selected lines, counts them exactly, and drops the least important until they fit.

use mnemal_core::{BlockKind, OmittedReason, Section, TokenCount, TokenParts};

use crate::Format;
use crate::block::{Bare, Block, Fence, PreambleAlone};
use crate::candidate::Candidate;
use crate::pack::PackedLines;

/// The rendered blocks within the budget.
#[derive(Debug)]
pub(crate) struct TrimmedBlocks {
    pub(crate) blocks: Vec<Block>,
    /// Indexes of the lines, in rendering order.
    pub(crate) lines: Vec<usize>,
    /// The reasons of the omitted ones, by index.
    pub(crate) refused: Vec<(usize, OmittedReason)>,
}

impl TrimmedBlocks {
    /// Returns the sum over the blocks.
    pub(crate) fn tokens(&self) -> TokenCount {
        self.blocks.iter().map(|block| block.tokens).sum()
    }
}

/// Renders the packed lines within the budget, by the exact count of each block and of the whole text.
///
/// A block that only holds the time is dropped first, and one with inventories last, except for the host's description of
/// agent and user.
pub(crate) fn trim_to_budget(
    candidates: &[Candidate],
    packed: PackedLines,
    budget: TokenCount,
    fence: &Fence<'_>,
) -> TrimmedBlocks {
    let PackedLines { mut taken, mut refused } = packed;
    let (mut bare, mut preamble) = (fence.bare, fence.preamble_alone);
    while !taken.is_empty() || matches!(bare, Bare::Always(_)) || preamble == PreambleAlone::Yes {
        let lines = in_order(candidates, &taken, fence.format);
        let rendered = render(candidates, &lines, fence, (bare, preamble));
        let over = excess(&rendered, budget, fence);
        if over == 0 {
            let blocks = rendered.into_iter().map(|(block, _)| block).collect();
            return TrimmedBlocks { blocks, lines, refused };
        }
        let is_bare = |kind| !lines.iter().any(|place| is_in(candidates, *place, kind));
        if bare != Bare::Never && (taken.is_empty() || matches!(bare, Bare::Beside(kind) if is_bare(kind))) {
            bare = Bare::Never;
            continue;
        }
        if taken.is_empty() {
            preamble = PreambleAlone::No;
            continue;
        }
        let mut saved = 0;
        while let Some(place) = if saved < over { taken.pop() } else { None } {
            let tokens = candidates.get(place).map_or(0, |candidate| candidate.tokens.0);
            saved = saved.saturating_add(tokens.max(1));
            refused.push((place, OmittedReason::Budget));
        }
    }
    TrimmedBlocks { blocks: Vec::new(), lines: Vec::new(), refused }
}

/// Returns how many tokens exceed the budget.
fn excess(blocks: &[Rendered], budget: TokenCount, fence: &Fence<'_>) -> u32 {
    let sum: TokenCount = blocks.iter().map(|(block, _)| block.tokens).sum();
    let apart: Option<TokenParts> = blocks.iter().map(|(_, parts)| *parts).sum();
    let whole = match (blocks, apart) {
        ([] | [_], _) => sum,
        (_, Some(parts)) => parts.rounded_up(),
        (_, None) => {
            fence.counter.count(&blocks.iter().map(|(block, _)| block.text.as_str()).collect::<String>())
        }
    };
    sum.max(whole).minus(budget).0
}

/// A block with its unrounded token parts.
type Rendered = (Block, Option<TokenParts>);

fn render(
    candidates: &[Candidate],
    lines: &[usize],
    fence: &Fence<'_>,
    (bare, preamble): (Bare, PreambleAlone),
) -> Vec<Rendered> {
    let (mut blocks, mut first) = (Vec::new(), 1);
    for kind in [BlockKind::Stable, BlockKind::Session, BlockKind::Volatile] {
        let of_kind: Vec<&Candidate> = lines
            .iter()
            .filter(|place| is_in(candidates, **place, kind))
            .filter_map(|place| candidates.get(*place))
            .collect();
        let is_preamble = kind == fence.preamble_block && preamble == PreambleAlone::Yes;
        if !of_kind.is_empty() || bare.kind() == Some(kind) || is_preamble {
            blocks.push(fence.block(kind, &of_kind, first));
            first += of_kind.len();
        }
    }
    blocks
}

fn is_in(candidates: &[Candidate], place: usize, kind: BlockKind) -> bool {
    candidates.get(place).is_some_and(|candidate| candidate.block == kind)
}

/// Sorts lines for rendering: by block, group and section; in the stable and the session block then by first appearance and
/// id, in the volatile one best first, except recent turns and timeline steps, which are oldest first; external lines at
/// the end of their block.
fn in_order(candidates: &[Candidate], taken: &[usize], format: Format) -> Vec<usize> {
    let mut lines = taken.to_vec();
    lines.sort_by_key(|place| {
        candidates.get(*place).map(|candidate| {
            let fragment = &candidate.fragment;
            let at = fragment.label.at;
            let (appeared, place) = match fragment.section {
                _ if candidate.block != BlockKind::Volatile => (Some((at, Some(fragment.record))), *place),
                // Recent turns are selected newest first and rendered oldest first.
                Section::Recent => (None, usize::MAX - *place),
                // Steps are offered chronologically and selected best first.
                _ if candidate.is_step() => (Some((at, None)), candidate.offered),
                _ => (None, candidate.stands_for.unwrap_or(*place)),
            };
            let group = (candidate.is_external(), candidate.group(format));
            let section = if candidate.stands_for.is_some() { Section::Recall } else { fragment.section };
            (candidate.block, group, section, appeared, place)
        })
    });
    lines
}
