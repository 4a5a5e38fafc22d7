//! The hard limit: what was chosen is rendered, counted for real, and loses its least important lines until it fits.

use mnemal_core::{BlockKind, OmittedReason, Section, TokenCount, TokenParts};

use crate::Format;
use crate::block::{Bare, Block, Fence, FrontAlone};
use crate::candidate::Candidate;
use crate::pack::Packed;

/// What fits, rendered.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) blocks: Vec<Block>,
    /// Places of the lines, in the order of rendering.
    pub(crate) lines: Vec<usize>,
    /// Why the others were left out, by place.
    pub(crate) refused: Vec<(usize, OmittedReason)>,
}

impl Fitted {
    /// Returns the sum over the blocks.
    pub(crate) fn tokens(&self) -> TokenCount {
        self.blocks.iter().map(|block| block.tokens).sum()
    }
}

/// Renders what was packed, within the budget by the real count of each block and of the whole text.
///
/// A block that only tells the time is the first to go, one that tells inventories the last but what the host says of agent and
/// user.
pub(crate) fn fit(candidates: &[Candidate], packed: Packed, budget: TokenCount, fence: &Fence<'_>) -> Fitted {
    let Packed { mut taken, mut refused } = packed;
    let (mut bare, mut front) = (fence.bare, fence.front_alone);
    while !taken.is_empty() || matches!(bare, Bare::Always(_)) || front == FrontAlone::Yes {
        let lines = in_order(candidates, &taken, fence.format);
        let rendered = render(candidates, &lines, fence, (bare, front));
        let over = excess(&rendered, budget, fence);
        if over == 0 {
            let blocks = rendered.into_iter().map(|(block, _)| block).collect();
            return Fitted { blocks, lines, refused };
        }
        let is_bare = |kind| !lines.iter().any(|place| is_in(candidates, *place, kind));
        if bare != Bare::Never && (taken.is_empty() || matches!(bare, Bare::Beside(kind) if is_bare(kind))) {
            bare = Bare::Never;
            continue;
        }
        if taken.is_empty() {
            front = FrontAlone::No;
            continue;
        }
        let mut saved = 0;
        while let Some(place) = if saved < over { taken.pop() } else { None } {
            let tokens = candidates.get(place).map_or(0, |candidate| candidate.tokens.0);
            saved = saved.saturating_add(tokens.max(1));
            refused.push((place, OmittedReason::Budget));
        }
    }
    Fitted { blocks: Vec::new(), lines: Vec::new(), refused }
}

/// Returns how many tokens are too many.
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

/// A block, with its tokens before they were rounded.
type Rendered = (Block, Option<TokenParts>);

fn render(
    candidates: &[Candidate],
    lines: &[usize],
    fence: &Fence<'_>,
    (bare, front): (Bare, FrontAlone),
) -> Vec<Rendered> {
    let (mut blocks, mut first) = (Vec::new(), 1);
    for kind in [BlockKind::Stable, BlockKind::Session, BlockKind::Volatile] {
        let of_kind: Vec<&Candidate> = lines
            .iter()
            .filter(|place| is_in(candidates, **place, kind))
            .filter_map(|place| candidates.get(*place))
            .collect();
        let is_front = kind == fence.front_block && front == FrontAlone::Yes;
        if !of_kind.is_empty() || bare.kind() == Some(kind) || is_front {
            blocks.push(fence.block(kind, &of_kind, first));
            first += of_kind.len();
        }
    }
    blocks
}

fn is_in(candidates: &[Candidate], place: usize, kind: BlockKind) -> bool {
    candidates.get(place).is_some_and(|candidate| candidate.block == kind)
}

/// Orders lines for rendering: by block, group and section; in the stable and the session block then by first appearance and id,
/// in the volatile one best first, but what is recent, and how something went, oldest first; evidence of others at the end of its block.
fn in_order(candidates: &[Candidate], taken: &[usize], format: Format) -> Vec<usize> {
    let mut lines = taken.to_vec();
    lines.sort_by_key(|place| {
        candidates.get(*place).map(|candidate| {
            let fragment = &candidate.fragment;
            let at = fragment.label.at;
            let (appeared, place) = match fragment.section {
                _ if candidate.block != BlockKind::Volatile => (Some((at, Some(fragment.record))), *place),
                // What was said just now is chosen newest first and reads oldest first.
                Section::Recent => (None, usize::MAX - *place),
                // Steps are offered in the order in which they were said, and chosen best first.
                _ if candidate.is_step() => (Some((at, None)), candidate.offered),
                _ => (None, *place),
            };
            let group = (candidate.is_external(), candidate.group(format));
            (candidate.block, group, fragment.section, appeared, place)
        })
    });
    lines
}
