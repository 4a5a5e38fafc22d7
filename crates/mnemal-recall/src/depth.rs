//! Where a ranking ends before its limit: at the first score that falls off.

/// Share of the best score below which a hit is no longer of its kind. Source: AD-13.
const OF_BEST: f32 = 0.5;
/// Fall from one score to the next that ends a ranking. Source: AD-13.
const FALL: f32 = 0.4;
/// Score below which a hit has little of what was asked for. Source: AD-13.
const LEAST: f32 = 0.3;

/// Returns how many scores, given in order, best first, come before they fall off; at least 1 of those that there are.
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
