//! Suggestions for a mistyped key: keys within a few edits, nearest first.

/// Number of suggestions. Source: own default; the error is one line.
const NAMED: usize = 3;
/// Maximum length of a compared key, in characters. Source: own default; longer ones are rarely typed.
const COMPARED: usize = 64;

/// Returns up to three of `keys` that are similar to `wanted`, nearest first, then by name.
pub(crate) fn nearest<'a>(wanted: &str, keys: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(COMPARED).collect();
    let within = (wanted.len() / 3).max(2);
    let mut found: Vec<(usize, &str)> = keys
        .filter_map(|key| {
            let other: Vec<char> = key.to_lowercase().chars().take(COMPARED).collect();
            let holds = |long: &[char], short: &[char]| {
                short.len() >= 4 && long.windows(short.len()).any(|part| part == short)
            };
            let edits = edits(&wanted, &other);
            let near = edits <= within || holds(&other, &wanted) || holds(&wanted, &other);
            near.then_some((edits, key))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(NAMED).map(|(_, key)| key).collect()
}

/// The Levenshtein distance, with a transposition of neighbors as one edit.
fn edits(from: &[char], to: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    let mut last = None;
    for (above, &one) in (1..).zip(from) {
        let mut next = vec![above];
        let mut previous = None;
        for ((&other, place), (&diagonal, &up)) in to.iter().zip(0..).zip(row.iter().zip(row.iter().skip(1)))
        {
            let left = next.last().copied().unwrap_or(above);
            let mut best = (left + 1).min(up + 1).min(diagonal + usize::from(one != other));
            if Some(other) == last && Some(one) == previous {
                let swapped: usize = place;
                best = best.min(before.get(swapped - 1).map_or(best, |edits| edits + 1));
            }
            next.push(best);
            previous = Some(other);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(one);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_count_insertions_deletions_changes_and_swaps() {
        let of =
            |from: &str, to: &str| edits(&from.chars().collect::<Vec<_>>(), &to.chars().collect::<Vec<_>>());
        for (from, to, expect) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("deploy_dya", "deploy_day", 1),
            ("ab", "ba", 1),
            ("straße", "strasse", 2),
        ] {
            assert_eq!(of(from, to), expect, "{from} {to}");
        }
    }

    #[test]
    fn the_nearest_keys_come_first_and_strangers_are_not_named() {
        let keys = ["deploy_day", "deploy_hour", "favourite_colour", "deploys", "my_deploy_day_old"];
        assert_eq!(nearest("deploy_dya", keys.into_iter()), ["deploy_day"]);
        assert_eq!(nearest("Deploy_Day", keys.into_iter()), ["deploy_day", "my_deploy_day_old"]);
        assert_eq!(nearest("zzz", keys.into_iter()), [""; 0]);
    }
}
