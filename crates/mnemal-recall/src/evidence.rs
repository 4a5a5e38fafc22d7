//! How much speaks for a hit, whatever the other hits: what decides whether it may be injected.

/// Evidence from which on a hit may be injected without being asked for.
///
/// Source: AD-14, confirmed on the development halves with the built-in embedder: among their first eight hits .95 of the
/// answerable questions of `LoCoMo` (n = 689) and .99 of BEAM-100K (n = 179) have one above it, and .22 and .65 of the
/// questions that were put to another conversation of the same set (n = 205, 110), .17 and .29 of those of the other set.
/// Adversarial questions, which ask the wrong speaker, and questions after what a conversation nearly says have as much
/// evidence as answerable ones (.95): nothing in words or vectors tells them apart.
pub const EVIDENCE_FLOOR: f32 = 0.35;

/// Floor of a vector whose embedder declares none: one handed in with a request. Source: CF-20.
pub(crate) const DEFAULT_FLOOR: f32 = 0.5;

/// What was measured for a hit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grounds {
    /// Share of the question's weight that the turn and its neighbours hold.
    pub(crate) coverage: f32,
    /// Cosine, if both sides have a vector, and the floor of its embedder.
    pub(crate) cosine: Option<(f32, f32)>,
    /// A quoted phrase of the question stands in it.
    pub(crate) has_phrase: bool,
}

/// Returns the evidence of a hit, 0 to 1: the largest of coverage, calibrated cosine, and 1 for a quoted phrase.
///
/// The cosine is calibrated so that its embedder's floor becomes [`EVIDENCE_FLOOR`] and 1 stays 1.
pub(crate) fn evidence(grounds: &Grounds) -> f32 {
    if grounds.has_phrase {
        return 1.0;
    }
    let near = grounds.cosine.map_or(0.0, |(cosine, floor)| calibrated(cosine, floor));
    // The sum makes a negative zero a zero.
    grounds.coverage.max(near).clamp(0.0, 1.0) + 0.0
}

fn calibrated(cosine: f32, floor: f32) -> f32 {
    let zero = (floor - EVIDENCE_FLOOR) / (1.0 - EVIDENCE_FLOOR);
    if zero >= 1.0 { 0.0 } else { (cosine - zero) / (1.0 - zero) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: AD-14
    #[test]
    fn the_floor_of_an_embedder_is_the_floor_of_evidence() {
        let near = |cosine: f32, floor: f32| {
            evidence(&Grounds { cosine: Some((cosine, floor)), ..Grounds::default() })
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
    fn the_strongest_ground_counts() {
        let grounds = Grounds { coverage: 0.6, cosine: Some((0.1, 0.5)), has_phrase: false };
        assert!((evidence(&grounds) - 0.6).abs() < 1e-6);
        assert!((evidence(&Grounds { has_phrase: true, ..grounds }) - 1.0).abs() < 1e-6);
        let none = Grounds { coverage: -0.0, cosine: None, has_phrase: false };
        assert!(evidence(&none).is_sign_positive());
    }
}
