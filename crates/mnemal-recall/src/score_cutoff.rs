//! Adaptive cutoff: ends a ranking before its limit where the scores drop.

/// Share of the best score below which a hit is cut. Source: memvid, `src/types/adaptive.rs`.
const OF_BEST: f32 = 0.5;
/// Drop between consecutive scores that ends a ranking. Source: memvid, `src/types/adaptive.rs`.
const FALL: f32 = 0.4;
/// Score below which a hit is cut. Source: memvid, `src/types/adaptive.rs`.
const LEAST: f32 = 0.3;

/// Returns how many scores, in descending order, come before the cutoff; at least 1 if there are any.
pub(crate) fn before_fall(scores: impl IntoIterator<Item = f32>) -> usize {
    let mut scores = scores.into_iter();
    let Some(best) = scores.next() else { return 0 };
    let mut last = best;
    let holds = |score: &f32| {
        let falls = *score < OF_BEST * best || last - *score > FALL || *score < LEAST;
        last = *score;
        !falls
    };
    1 + scores.take_while(holds).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: AD-13
    #[test]
    fn a_ranking_ends_where_its_scores_fall_off() {
        assert_eq!(before_fall([0.9, 0.8, 0.44, 0.43]), 2, "less than half of the best");
        assert_eq!(before_fall([0.95, 0.94, 0.53, 0.52]), 2, "a fall of more than .4");
        assert_eq!(before_fall([0.5, 0.4, 0.29, 0.28]), 2, "little of what was asked for");
        assert_eq!(before_fall([0.5, 0.45, 0.4]), 3);
        assert_eq!(before_fall([0.1, 0.09]), 1, "the best one stays");
        assert_eq!(before_fall([]), 0);
    }
}
