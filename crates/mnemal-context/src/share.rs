//! Budget shares of sections.

use mnemal_core::{Section, TokenCount};

use crate::Shares;

/// Smallest useful share, in tokens. Source: NB-72, a smaller share is dropped.
pub(crate) const LEAST: u32 = 24;
/// The order in which sections lose their share in a small budget. Source: NB-72, the order of a small budget.
const DROPPED: [Section; 10] = [
    Section::Insights,
    Section::Learnings,
    Section::Topics,
    Section::Channel,
    Section::Recent,
    Section::Entity,
    Section::Knowledge,
    Section::State,
    Section::Identity,
    Section::Preferences,
];

/// Most of a budget that is reserved for recall before the shares, 0 to 1.
///
/// Source: measured with `bench life` (ADR 21); three quarters retain less of the evidence at 400 tokens, a proportional
/// share the least (ADR 21).
const RESERVED: f32 = 0.85;

/// Returns the share of each section in `offered`.
///
/// Shares grow with a budget above [`Shares::of`]. They shrink in proportion if they exceed the budget together with
/// `reserve`, the part for recall, which is at most [85 %](RESERVED) of the budget; a share under 24 tokens is dropped, and
/// the others receive it.
pub(crate) fn claims(
    shares: &Shares,
    budget: TokenCount,
    offered: &[Section],
    reserve: TokenCount,
) -> Vec<(Section, TokenCount)> {
    let mut kept: Vec<Section> =
        offered.iter().copied().filter(|section| shares.get(*section).0 > 0).collect();
    let room = budget.minus(reserve.min(TokenCount(part(budget.0, RESERVED))));
    loop {
        let sum: TokenCount = kept.iter().map(|section| shares.get(*section)).sum();
        let total = sum + reserve;
        let (part, whole) = if total > budget {
            (scale(sum, budget, total).min(room), sum)
        } else {
            (budget.max(shares.of), shares.of)
        };
        let scaled = |section: Section| scale(shares.get(section), part, whole);
        let Some(least) =
            DROPPED.into_iter().find(|section| kept.contains(section) && scaled(*section).0 < LEAST)
        else {
            return kept.into_iter().map(|section| (section, scaled(section))).collect();
        };
        kept.retain(|section| *section != least);
    }
}

fn scale(share: TokenCount, part: TokenCount, whole: TokenCount) -> TokenCount {
    let scaled = u64::from(share.0) * u64::from(part.0) / u64::from(whole.0.max(1));
    TokenCount(u32::try_from(scaled).unwrap_or(u32::MAX))
}

/// Returns a share of tokens, rounded down.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a u32 is one")]
pub(crate) fn part(whole: u32, share: f32) -> u32 {
    (f64::from(whole) * f64::from(share.clamp(0.0, 1.0))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(budget: u32, reserve: u32) -> Vec<(Section, u32)> {
        // Insights are included only on explicit request.
        let offered: Vec<Section> =
            Section::ALL.into_iter().filter(|section| *section != Section::Insights).collect();
        let claims = claims(&Shares::default(), TokenCount(budget), &offered, TokenCount(reserve));
        claims.into_iter().map(|(section, share)| (section, share.0)).collect()
    }

    // proves: NB-58, NB-59, CF-10, BA-35, NB-63 (its share), NB-66 (its share)
    #[test]
    fn the_default_budget_gives_the_shares_of_the_table() {
        let expect = [
            (Section::Identity, 200),
            (Section::Preferences, 300),
            (Section::Knowledge, 500),
            (Section::Channel, 300),
            (Section::Entity, 400),
            (Section::Topics, 400),
            (Section::State, 150),
            (Section::Recent, 400),
            (Section::Learnings, 200),
        ];
        assert_eq!(at(4_000, 1_150), expect);
        assert_eq!(at(8_000, 1_150), expect.map(|(section, share)| (section, 2 * share)));
    }

    // proves: NB-72
    #[test]
    fn a_small_budget_scales_shares_and_drops_the_smallest_by_order() {
        assert_eq!(at(2_850, 0).first(), Some(&(Section::Identity, 200)));
        assert_eq!(at(1_425, 0).first(), Some(&(Section::Identity, 100)));
        let names = |budget| at(budget, 0).into_iter().map(|(section, _)| section).collect::<Vec<_>>();
        assert!(!names(300).contains(&Section::Learnings));
        assert!(names(300).contains(&Section::Knowledge));
        assert_eq!(names(30), [Section::Preferences]);
        assert_eq!(names(23), []);
        for budget in 0..5_000 {
            let sum: u32 = at(budget, 1_150).iter().map(|(_, share)| share).sum();
            assert!(sum <= budget);
        }
    }

    #[test]
    fn a_question_keeps_what_is_for_recall_as_far_as_most_of_a_budget() {
        let claimed = |budget, reserve| at(budget, reserve).iter().map(|(_, share)| share).sum::<u32>();
        for budget in 0..4_000 {
            let kept = budget - claimed(budget, 1_150);
            assert!(kept >= 1_150.min(budget * 17 / 20), "{budget}: {kept}");
        }
        // Everything left is claimed, except for the rounding of nine shares.
        for budget in [1_000, 2_000, 3_000] {
            let left = budget - 1_150.min(budget * 17 / 20);
            assert!(claimed(budget, 1_150) > left - 9, "{budget}");
        }
        assert_eq!(claimed(2_000, 1_150), claimed(850, 0));
    }

    #[test]
    fn what_nobody_offers_claims_nothing() {
        let offered = [Section::Preferences];
        assert_eq!(
            claims(&Shares::default(), TokenCount(200), &offered, TokenCount(0)),
            [(Section::Preferences, TokenCount(200))]
        );
    }
}
