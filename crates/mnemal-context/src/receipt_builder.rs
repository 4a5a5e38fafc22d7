//! Receipt builder: ids, scores, hashes and reasons, never text.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use mnemal_core::{
    BlockKind, BlockReceipt, ContextRequest, Omitted, OmittedReason, ReceiptLine, Section, TokenCount,
};

use crate::candidate::Candidate;
use crate::filter::{FilteredFragments, omitted};
use crate::inventory::RenderedLines;
use crate::trim_to_budget::TrimmedBlocks;

/// Most omissions that are listed; further ones are only counted. Source: NX-01.4, the bound of a receipt.
const LISTED: usize = 100;

/// Budget use of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionUse {
    /// The section.
    pub section: Section,
    /// Its share of this budget; 0 for recall, and for a section without candidates.
    pub share: TokenCount,
    /// Tokens of its lines.
    pub tokens: TokenCount,
    /// Number of its lines.
    pub lines: u32,
}

/// The inputs of a receipt.
pub(crate) struct ReceiptBuilder<'a> {
    pub(crate) request: &'a ContextRequest,
    pub(crate) claims: &'a [(Section, TokenCount)],
    pub(crate) inventory: &'a RenderedLines,
    /// The host's text about agent and user.
    pub(crate) preamble: &'a RenderedLines,
    /// The block that holds it.
    pub(crate) preamble_block: BlockKind,
    pub(crate) filtered: &'a FilteredFragments,
    pub(crate) trimmed: &'a TrimmedBlocks,
}

impl ReceiptBuilder<'_> {
    pub(crate) fn blocks(&self) -> Vec<BlockReceipt> {
        let blocks = self.trimmed.blocks.iter();
        blocks
            .map(|block| BlockReceipt { kind: block.kind, tokens: block.tokens, hash: block.hash })
            .collect()
    }

    pub(crate) fn lines(&self) -> Vec<ReceiptLine> {
        self.shown_candidates().map(line).collect()
    }

    /// Returns the best-scored omissions.
    pub(crate) fn omitted(&self) -> Vec<Omitted> {
        let mut all: Vec<Omitted> = self.left_out().collect();
        if all.len() > LISTED {
            all.select_nth_unstable_by(LISTED, best_first);
            all.truncate(LISTED);
        }
        all.sort_by(best_first);
        all
    }

    pub(crate) fn omitted_counts(&self) -> Vec<(OmittedReason, u32)> {
        let mut counts: BTreeMap<OmittedReason, u32> = BTreeMap::new();
        for omitted in self.left_out() {
            *counts.entry(omitted.reason).or_default() += 1;
        }
        counts.into_iter().collect()
    }

    pub(crate) fn sections(&self) -> Vec<SectionUse> {
        let wanted =
            |section: &Section| self.request.sections.only().is_none_or(|only| only.contains(section));
        Section::ALL.into_iter().filter(wanted).map(|section| self.section(section)).collect()
    }

    fn section(&self, section: Section) -> SectionUse {
        let claim = self.claims.iter().find(|(claiming, _)| *claiming == section);
        let share = claim.map_or(TokenCount(0), |(_, share)| *share);
        let of_section = self.shown_candidates().filter(|line| line.fragment.section == section);
        let has_preamble = self.trimmed.blocks.iter().any(|block| block.kind == self.preamble_block);
        let inventory = match section {
            Section::State if !self.trimmed.blocks.is_empty() => {
                (self.inventory.tokens, self.inventory.lines)
            }
            Section::Identity if has_preamble => (self.preamble.tokens, self.preamble.lines),
            _ => (TokenCount(0), 0),
        };
        let (tokens, lines) = of_section.fold(inventory, |(sum, lines), line| (sum + line.tokens, lines + 1));
        SectionUse { section, share, tokens, lines }
    }

    fn shown_candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.trimmed.lines.iter().filter_map(|place| self.filtered.candidates.get(*place))
    }

    fn left_out(&self) -> impl Iterator<Item = Omitted> {
        let refused = self.trimmed.refused.iter().filter_map(|(place, reason)| {
            let candidate = self.filtered.candidates.get(*place)?;
            Some(omitted(&candidate.fragment, *reason))
        });
        self.filtered.omitted.iter().copied().chain(refused)
    }
}

fn best_first(a: &Omitted, b: &Omitted) -> Ordering {
    b.score.total_cmp(&a.score).then((a.section, a.record).cmp(&(b.section, b.record)))
}

fn line(candidate: &Candidate) -> ReceiptLine {
    let fragment = &candidate.fragment;
    ReceiptLine {
        block: candidate.block,
        section: fragment.section,
        record: fragment.record,
        producer: fragment.producer.clone(),
        sources: fragment.sources.clone(),
        trust: fragment.trust,
        level: fragment.label.level,
        parts: fragment.parts.clone(),
        score: fragment.score.get(),
        because: fragment.because,
        tokens: candidate.tokens,
        content_hash: candidate.rendered_line.hash,
    }
}
