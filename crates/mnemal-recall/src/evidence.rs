//! How much speaks for a hit, whatever the other hits: what decides whether it may be injected.

/// Evidence from which on a hit may be injected without being asked for.
///
/// Source: `bench abstain` (ADR 20): at .24 at most .05 of the answerable questions of `LoCoMo` and BEAM have no such hit.
pub const EVIDENCE_FLOOR: f32 = 0.24;

/// Floor of a vector whose embedder declares none: one handed in with a request. Source: CF-20.
pub(crate) const DEFAULT_FLOOR: f32 = 0.5;

/// What speaks for a hit, and what speaks against it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grounds {
    /// A quoted phrase of the question stands in it.
    pub has_phrase: bool,
    /// Share of the question's weight that the turn and two messages on either side hold, 0 to 1.
    pub coverage: f32,
    /// Cosine, calibrated so that the floor of its embedder is [`EVIDENCE_FLOOR`] and 1 is 1; 0 to 1, 0 without vectors.
    pub nearness: f32,
    /// The asked attribute ("reason" of "what was the reason for …") is not said there: share of its weight, 0 to 1.
    pub lacking: f32,
    /// Largest share of the question's weight that one turn by or about a person whom the question names holds, 0 to 1.
    pub named: f32,
    /// The same of turns in which other people speak of themselves or of nobody whom it names; 0 if it names no speaker.
    pub others: f32,
    /// The question has a name that nobody ever said.
    pub has_unknown_name: bool,
    /// The question is about the one who asks, and the turn has words of somebody else: a mail, a page.
    pub is_foreign: bool,
}

/// How much the four doubts take away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvidenceRule {
    /// What [`Grounds::named`] has ahead of [`Grounds::others`] before these raise a doubt.
    pub head_start: f32,
    /// Share of the evidence that a lacking attribute takes away.
    pub lacking: f32,
    /// Share of the evidence that a name which nobody said takes away.
    pub unknown_name: f32,
    /// Share of the evidence that somebody else's words take away from a question about oneself.
    pub foreign: f32,
}

impl EvidenceRule {
    /// The rule of recall.
    ///
    /// Source: `bench abstain --fit` over the development halves of `LoCoMo`, BEAM-100K and BEAM-500K together (ADR 20).
    /// Chosen without a conversation they reject the same shares of its questions within .006. `foreign` is not fitted there, where
    /// nobody pastes: own choice, so that a whole mail stays below [`EVIDENCE_FLOOR`] (`bench life`, ADR 20).
    pub const LEARNT: Self = Self { head_start: 0.05, lacking: 0.8, unknown_name: 0.7, foreign: 0.8 };
}

impl Grounds {
    /// Returns the evidence, 0 to 1: the support, times 1 less each doubt; 1 for a quoted phrase.
    ///
    /// | | |
    /// |---|---|
    /// | support | `1 − (1 − coverage) · (1 − nearness)`: words and meaning as two witnesses |
    /// | somebody else said it | `min(1, (named + head_start) / others)²`, where `others` is above 0 |
    /// | the attribute is not said | `1 − rule.lacking · lacking` |
    /// | nobody said the name | `1 − rule.unknown_name` |
    /// | somebody else's words for a question about oneself | `1 − rule.foreign` |
    ///
    /// It rises with coverage, nearness and `named`, and falls with the others.
    pub fn evidence(&self, rule: &EvidenceRule) -> f32 {
        if self.has_phrase {
            return 1.0;
        }
        let support = 1.0 - (1.0 - self.coverage.clamp(0.0, 1.0)) * (1.0 - self.nearness.clamp(0.0, 1.0));
        let unknown = if self.has_unknown_name { rule.unknown_name } else { 0.0 };
        let foreign = if self.is_foreign { rule.foreign } else { 0.0 };
        let kept = self.voice(rule) * (1.0 - rule.lacking * self.lacking) * (1.0 - unknown) * (1.0 - foreign);
        // The sum makes a negative zero a zero.
        (support * kept).clamp(0.0, 1.0) + 0.0
    }

    /// Returns how much speaks for the words being those of a person whom the question names, 0 to 1: the factor of the first
    /// doubt, 1 where nobody is named.
    pub(crate) fn voice(&self, rule: &EvidenceRule) -> f32 {
        let share =
            if self.others > 0.0 { ((self.named + rule.head_start) / self.others).min(1.0) } else { 1.0 };
        share * share
    }
}

/// Returns the nearness of a cosine, 0 to 1, by the floor of its embedder.
pub(crate) fn nearness(cosine: f32, floor: f32) -> f32 {
    let zero = (floor - EVIDENCE_FLOOR) / (1.0 - EVIDENCE_FLOOR);
    if zero >= 1.0 { 0.0 } else { ((cosine - zero) / (1.0 - zero)).clamp(0.0, 1.0) + 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn evidence(grounds: Grounds) -> f32 {
        grounds.evidence(&EvidenceRule::LEARNT)
    }

    // proves: AD-14
    #[test]
    fn the_floor_of_an_embedder_is_the_floor_of_evidence() {
        let near = |cosine: f32, floor: f32| {
            evidence(Grounds { nearness: nearness(cosine, floor), ..Grounds::default() })
        };
        for floor in [0.2, 0.5, 0.75, 0.9] {
            assert!((near(floor, floor) - EVIDENCE_FLOOR).abs() < 1e-5);
            assert!((near(1.0, floor) - 1.0).abs() < 1e-5);
            assert!(near(floor - 0.1, floor) < EVIDENCE_FLOOR);
            assert!(near(-1.0, floor) == 0.0);
        }
        assert!(near(1.0, 1.0) == 0.0);
    }

    #[test]
    fn two_witnesses_are_worth_more_than_one_and_none_is_worth_nothing() {
        let grounds = Grounds { coverage: 0.6, ..Grounds::default() };
        assert!((evidence(grounds) - 0.6).abs() < 1e-6);
        assert!((evidence(Grounds { nearness: 0.5, ..grounds }) - 0.8).abs() < 1e-6);
        assert!((evidence(Grounds { has_phrase: true, lacking: 1.0, ..grounds }) - 1.0).abs() < 1e-6);
        assert!(evidence(Grounds { coverage: -0.0, ..Grounds::default() }).is_sign_positive());
    }

    #[test]
    fn each_doubt_takes_its_share_away() {
        let whole = Grounds { coverage: 1.0, named: 0.45, others: 0.5, ..Grounds::default() };
        assert!((evidence(whole) - 1.0).abs() < 1e-6, "the head start covers the difference");
        assert!(
            (evidence(Grounds { named: 0.2, ..whole }) - 0.25).abs() < 1e-6,
            "half as much is worth a quarter"
        );
        assert!((evidence(Grounds { lacking: 1.0, ..whole }) - 0.2).abs() < 1e-6);
        assert!((evidence(Grounds { has_unknown_name: true, ..whole }) - 0.3).abs() < 1e-6);
        assert!((evidence(Grounds { is_foreign: true, ..whole }) - 0.2).abs() < 1e-6);
        assert!(
            (evidence(Grounds { others: 0.0, named: 0.0, ..whole }) - 1.0).abs() < 1e-6,
            "nobody is named"
        );
    }

    proptest! {
        #[test]
        fn evidence_lies_between_0_and_1_and_rises_with_what_speaks_for_it(
            shares in proptest::array::uniform5(0.0_f32..=1.0), more in 0.0_f32..=1.0, has_unknown_name: bool,
        ) {
            let [coverage, nearness, lacking, named, others] = shares;
            let grounds =
                Grounds { coverage, nearness, lacking, named, others, has_unknown_name, ..Grounds::default() };
            let now = evidence(grounds);
            prop_assert!((0.0..=1.0).contains(&now));
            let up = |share: f32| (share + more).min(1.0);
            let more = [
                Grounds { coverage: up(coverage), ..grounds },
                Grounds { nearness: up(nearness), ..grounds },
                Grounds { named: up(named), ..grounds },
            ];
            for more in more.map(evidence) {
                prop_assert!(more >= now - 1e-6);
            }
            let lacks_more = evidence(Grounds { lacking: up(lacking), ..grounds });
            let is_unknown = evidence(Grounds { has_unknown_name: true, ..grounds });
            prop_assert!(lacks_more <= now + 1e-6 && is_unknown <= now);
        }
    }
}
