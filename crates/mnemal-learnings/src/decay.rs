//! Decay of learnings: weight over time, and the limit of active ones.

use std::borrow::Borrow;
use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;

use mnemal_core::{AsOf, Basis, Consent, Learning, LearningId, LearningKind, Score, Scored, Timestamp};

/// Half-life, in days. Source: NB-52, the decay of nanobot v2.
const HALF_LIFE_DAYS: f64 = 14.0;
/// Least weight. Source: NB-52, the decay of nanobot v2.
const FLOOR: f32 = 0.10;
/// Most active learnings. Source: NB-54, the limit of nanobot v2.
const MOST: usize = 200;
/// Microseconds in a day.
const DAY: f64 = 86_400_000_000.0;

/// Decay of inferred learnings, and the number of active ones.
///
/// The weight of an inferred learning is max(floor, 2^(−max(0, age) / half-life)), computed at read time; its age starts at
/// its last statement, so being shown changes nothing. Explicit learnings do not decay, nor does an anti-pattern that needs
/// the user's consent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    /// Days after which a weight is half; more than 0. Default 14, nanobot v2.
    pub half_life_days: f64,
    /// Least weight, 0 to 1. Default 0.10, nanobot v2.
    pub floor: f32,
    /// Most learnings about work and tools; explicit ones count and are never dropped. Default 200, nanobot v2.
    pub most: usize,
}

impl Default for Decay {
    fn default() -> Self {
        Self { half_life_days: HALF_LIFE_DAYS, floor: FLOOR, most: MOST }
    }
}

impl Decay {
    /// Returns the weight at a moment, `floor` to 1.
    pub fn weight(&self, learning: &Learning, at: Timestamp) -> f32 {
        if !fades(learning) {
            return 1.0;
        }
        let age = at.as_micros().saturating_sub(learning.occurred_at.as_micros()).max(0);
        #[expect(clippy::cast_precision_loss, reason = "microseconds of three centuries are exact in f64")]
        let days = age as f64 / DAY;
        #[expect(clippy::cast_possible_truncation, reason = "a number from 0 to 1")]
        let weight = (-days / self.half_life_days).exp2() as f32;
        weight.max(self.floor)
    }

    /// Returns the rank at a moment: confidence × weight. Source: BA-28, the rank of a learning.
    pub fn rank(&self, learning: &Learning, at: Timestamp) -> Score {
        Score::new(learning.confidence.get() * self.weight(learning, at))
    }

    /// Ranks learnings, best first, the newest first among equals, and drops the lowest inferred ones beyond the limit.
    pub fn holding(&self, learnings: Vec<Learning>, as_of: AsOf) -> Vec<Scored<Learning>> {
        let too_many = self.too_many(&learnings, as_of);
        let holds = |item: &Learning| !too_many.contains(&item.id);
        let score = |item: Learning| Scored { score: self.rank(&item, as_of.world), item };
        let mut ranked: Vec<Scored<Learning>> = learnings.into_iter().filter(holds).map(score).collect();
        ranked.sort_by(|one, other| best_first((one.score, &one.item), (other.score, &other.item)));
        ranked
    }

    /// Returns the lowest inferred learnings beyond the limit.
    pub(crate) fn too_many<L: Borrow<Learning>>(&self, learnings: &[L], as_of: AsOf) -> HashSet<LearningId> {
        if self.do_all_hold(learnings) {
            return HashSet::new();
        }
        let inferred = learnings.iter().map(Borrow::borrow).filter(|row| is_inferred(row));
        let mut ranked: Vec<(Score, &Learning)> =
            inferred.map(|row| (self.rank(row, as_of.world), row)).collect();
        ranked.sort_by(|one, other| best_first(*one, *other));
        ranked.into_iter().skip(self.room(learnings)).map(|(_, row)| row.id).collect()
    }

    /// Whether the limit is never exceeded.
    pub(crate) fn do_all_hold<L: Borrow<Learning>>(&self, learnings: &[L]) -> bool {
        learnings.iter().filter(|row| is_inferred((*row).borrow())).count() <= self.room(learnings)
    }

    /// Returns how many inferred learnings have room next to the explicit ones.
    fn room<L: Borrow<Learning>>(&self, learnings: &[L]) -> usize {
        let rows = learnings.iter().map(Borrow::borrow);
        self.most.saturating_sub(rows.filter(|row| counts(row) && !is_inferred(row)).count())
    }
}

/// Order: best first, the newest first among equals.
fn best_first((score, row): (Score, &Learning), (other_score, other): (Score, &Learning)) -> Ordering {
    let by_age = |row: &Learning| (Reverse(row.occurred_at), row.id);
    other_score.get().total_cmp(&score.get()).then(by_age(row).cmp(&by_age(other)))
}

fn is_inferred(learning: &Learning) -> bool {
    learning.basis == Basis::Inferred
}

/// Whether a row is about work, and not a note or about the user's own life.
fn counts(learning: &Learning) -> bool {
    let is_own = learning.key.as_ref().is_some_and(crate::read::is_own);
    learning.kind != LearningKind::Note && learning.signal.is_some() && !is_own
}

fn fades(learning: &Learning) -> bool {
    let is_safety = learning.kind == LearningKind::AntiPattern && learning.consent == Consent::Required;
    is_inferred(learning) && !is_safety
}
