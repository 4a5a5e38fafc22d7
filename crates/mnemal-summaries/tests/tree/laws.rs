//! Laws of the fold.

use std::num::NonZeroUsize;

use proptest::prelude::*;

use crate::log::{HOUR, Space};

const WORDS: [&str; 8] = ["Ada", "tea", "Lisbon", "bakery", "May", "flights", "sister", "12"];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(0..WORDS.len(), 1..12).prop_map(|words| {
        let words: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
        format!("{}. {}", words.join(" "), words.first().unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // proves: NB-41 (a rebuild gives the same tree)
    #[test]
    fn nodes_depend_on_the_log_and_not_on_the_steps(
        turns in prop::collection::vec((0..5_usize, 0..30_i64, text(), 0..12_u8, any::<prop::sample::Index>()), 1..120),
        step in 1..40_usize,
    ) {
        let mut space = Space::new();
        let mut said = Vec::new();
        for (session, hours, text, what, index) in turns {
            space.later += hours * HOUR;
            said.push(space.say(&format!("channel{}/{session}", session % 2), &text));
            match what {
                0 => space.erase(said[index.index(said.len())]),
                1..4 => space.fold_by(NonZeroUsize::new(step).unwrap()),
                _ => {}
            }
        }
        space.fold_by(NonZeroUsize::new(step).unwrap());
        let all = space.all();
        prop_assert_eq!(&all, &space.anew());
        prop_assert!(all.iter().all(|node| node.lines.len() <= 7 && !node.sources.is_empty()));
    }
}
