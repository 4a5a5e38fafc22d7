//! Evidence for a hit, independent of the other hits: decides whether it may be injected.

/// Least evidence of a hit that may be injected without an explicit request.
///
/// Source: `bench abstain` (ADR 20): at .24 at most .05 of the answerable questions of `LoCoMo` and BEAM have no such hit.
pub const EVIDENCE_FLOOR: f32 = 0.24;

/// Similarity floor for vectors without a declared one, as those supplied with a request. Source: own choice, the floor of
/// embedding endpoints.
pub(crate) const DEFAULT_FLOOR: f32 = 0.5;

/// Evidence features of a hit, positive and negative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EvidenceFeatures {
    /// It contains a quoted phrase of the question.
    pub has_phrase: bool,
    /// Share of the question's weight covered by the turn and two messages on either side, 0 to 1.
    pub coverage: f32,
    /// The same in the turn itself.
    pub own: f32,
    /// Cosine, calibrated so that the embedder's floor maps to [`EVIDENCE_FLOOR`] and 1 to 1; 0 to 1, 0 without vectors.
    pub nearness: f32,
    /// Weight share of the requested attribute that is missing in the turn ("reason" of "what was the reason for …"), 0 to
    /// 1.
    pub lacking: f32,
    /// Largest share of the question's weight in one turn by or about a person that the question names, 0 to 1.
    pub named: f32,
    /// The same for turns in which other people speak about themselves or about nobody it names; 0 if it names no speaker.
    pub others: f32,
    /// The question contains a name that never occurred.
    pub has_unknown_name: bool,
    /// The question is about the asker, and the turn holds another author's words: a mail, a page.
    pub is_foreign: bool,
}

/// Weights of the four penalties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvidenceRule {
    /// Lead of [`EvidenceFeatures::named`] over [`EvidenceFeatures::others`] before these cause a penalty.
    pub head_start: f32,
    /// Share of the evidence removed for a missing attribute.
    pub lacking: f32,
    /// Share of the evidence removed for an unknown name.
    pub unknown_name: f32,
    /// Share of the evidence removed for another author's words, in a question about oneself.
    pub foreign: f32,
}

impl EvidenceRule {
    /// The default rule.
    ///
    /// Source: `bench abstain --fit` over the development halves of `LoCoMo`, BEAM-100K and BEAM-500K together (ADR 20).
    /// With one conversation left out at a time the same shares of its questions are rejected within .006. `foreign` is not
    /// fitted there, because the data has no pasted text: own choice, so that a whole mail stays below [`EVIDENCE_FLOOR`]
    /// (`bench life`, ADR 20).
    pub const LEARNT: Self = Self { head_start: 0.05, lacking: 0.8, unknown_name: 0.7, foreign: 0.8 };
}

impl EvidenceFeatures {
    /// Returns the evidence, 0 to 1: the support, times 1 less each penalty; 1 for a quoted phrase.
    ///
    /// | | |
    /// |---|---|
    /// | support | `1 − (1 − coverage) · (1 − nearness)`: words and meaning as independent evidence |
    /// | another person said it | `min(1, (named + head_start) / others)²`, where `others` is above 0 |
    /// | missing attribute | `1 − rule.lacking · lacking` |
    /// | unknown name | `1 − rule.unknown_name` |
    /// | another author's words, for a question about oneself | `1 − rule.foreign` |
    ///
    /// It rises with coverage, nearness and `named`, and falls with the others.
    pub fn evidence(&self, rule: &EvidenceRule) -> f32 {
        if self.has_phrase {
            return 1.0;
        }
        let support = 1.0 - (1.0 - self.coverage.clamp(0.0, 1.0)) * (1.0 - self.nearness.clamp(0.0, 1.0));
        let unknown = if self.has_unknown_name { rule.unknown_name } else { 0.0 };
        let foreign = if self.is_foreign { rule.foreign } else { 0.0 };
        let kept =
            self.attribution(rule) * (1.0 - rule.lacking * self.lacking) * (1.0 - unknown) * (1.0 - foreign);
        // Adding zero turns a negative zero into a positive one.
        (support * kept).clamp(0.0, 1.0) + 0.0
    }

    /// Returns the evidence that the words are those of a person whom the question names, 0 to 1: the factor of the first
    /// penalty, 1 if it names nobody.
    pub(crate) fn attribution(&self, rule: &EvidenceRule) -> f32 {
        let share =
            if self.others > 0.0 { ((self.named + rule.head_start) / self.others).min(1.0) } else { 1.0 };
        share * share
    }
}

/// Maps a cosine to 0 to 1, by the floor of its embedder.
pub(crate) fn nearness(cosine: f32, floor: f32) -> f32 {
    let zero = (floor - EVIDENCE_FLOOR) / (1.0 - EVIDENCE_FLOOR);
    if zero >= 1.0 { 0.0 } else { ((cosine - zero) / (1.0 - zero)).clamp(0.0, 1.0) + 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn evidence(features: EvidenceFeatures) -> f32 {
        features.evidence(&EvidenceRule::LEARNT)
    }

    // proves: AD-14
    #[test]
    fn the_floor_of_an_embedder_is_the_floor_of_evidence() {
        let near = |cosine: f32, floor: f32| {
            evidence(EvidenceFeatures { nearness: nearness(cosine, floor), ..EvidenceFeatures::default() })
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
        let features = EvidenceFeatures { coverage: 0.6, ..EvidenceFeatures::default() };
        assert!((evidence(features) - 0.6).abs() < 1e-6);
        assert!((evidence(EvidenceFeatures { nearness: 0.5, ..features }) - 0.8).abs() < 1e-6);
        assert!(
            (evidence(EvidenceFeatures { has_phrase: true, lacking: 1.0, ..features }) - 1.0).abs() < 1e-6
        );
        assert!(
            evidence(EvidenceFeatures { coverage: -0.0, ..EvidenceFeatures::default() }).is_sign_positive()
        );
    }

    #[test]
    fn each_doubt_takes_its_share_away() {
        let whole =
            EvidenceFeatures { coverage: 1.0, named: 0.45, others: 0.5, ..EvidenceFeatures::default() };
        assert!((evidence(whole) - 1.0).abs() < 1e-6, "the head start covers the difference");
        assert!(
            (evidence(EvidenceFeatures { named: 0.2, ..whole }) - 0.25).abs() < 1e-6,
            "half as much is worth a quarter"
        );
        assert!((evidence(EvidenceFeatures { lacking: 1.0, ..whole }) - 0.2).abs() < 1e-6);
        assert!((evidence(EvidenceFeatures { has_unknown_name: true, ..whole }) - 0.3).abs() < 1e-6);
        assert!((evidence(EvidenceFeatures { is_foreign: true, ..whole }) - 0.2).abs() < 1e-6);
        assert!(
            (evidence(EvidenceFeatures { others: 0.0, named: 0.0, ..whole }) - 1.0).abs() < 1e-6,
            "nobody is named"
        );
    }

    proptest! {
        #[test]
        fn evidence_lies_between_0_and_1_and_rises_with_what_speaks_for_it(
            shares in proptest::array::uniform5(0.0_f32..=1.0), more in 0.0_f32..=1.0, has_unknown_name: bool,
        ) {
            let [coverage, nearness, lacking, named, others] = shares;
            let features =
                EvidenceFeatures { coverage, nearness, lacking, named, others, has_unknown_name, ..EvidenceFeatures::default() };
            let now = evidence(features);
            prop_assert!((0.0..=1.0).contains(&now));
            let up = |share: f32| (share + more).min(1.0);
            let more = [
                EvidenceFeatures { coverage: up(coverage), ..features },
                EvidenceFeatures { nearness: up(nearness), ..features },
                EvidenceFeatures { named: up(named), ..features },
            ];
            for more in more.map(evidence) {
                prop_assert!(more >= now - 1e-6);
            }
            let lacks_more = evidence(EvidenceFeatures { lacking: up(lacking), ..features });
            let is_unknown = evidence(EvidenceFeatures { has_unknown_name: true, ..features });
            prop_assert!(lacks_more <= now + 1e-6 && is_unknown <= now);
        }
    }
}
