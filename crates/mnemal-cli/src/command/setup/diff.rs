//! A line diff of two texts, for people.

/// Number of context lines around a change.
const AROUND: usize = 2;
/// Maximum number of lines between the first and the last change that are compared; longer ranges are shown as replaced.
const COMPARED: usize = 2_000;

/// Returns the changed lines with `+` and `-`, with context lines.
pub(super) fn diff(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| old == new).count();
    let old_middle = old.get(head..old.len() - tail).unwrap_or_default();
    let new_middle = new.get(head..new.len() - tail).unwrap_or_default();
    let mut lines: Vec<(char, &str)> = Vec::new();
    lines.extend(old.iter().take(head).skip(head.saturating_sub(AROUND)).map(|line| (' ', *line)));
    lines.extend(compared(old_middle, new_middle));
    lines.extend(old.iter().skip(old.len() - tail).take(AROUND).map(|line| (' ', *line)));
    let shown = |place: usize| {
        let around = lines.get(place.saturating_sub(AROUND)..lines.len().min(place + AROUND + 1));
        around.unwrap_or_default().iter().any(|(sign, _)| *sign != ' ')
    };
    let mut text = String::new();
    let mut skipped = false;
    for (place, (sign, line)) in lines.iter().enumerate() {
        if shown(place) {
            text.push_str(if skipped { "  …\n" } else { "" });
            text.push_str(format!("{sign} {line}").trim_end());
            text.push('\n');
        }
        skipped = !shown(place);
    }
    text
}

/// Compares lines by their longest common subsequence.
fn compared<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(char, &'t str)> {
    let replaced = |old: &[&'t str], new: &[&'t str]| -> Vec<(char, &'t str)> {
        old.iter().map(|line| ('-', *line)).chain(new.iter().map(|line| ('+', *line))).collect()
    };
    if old.len().max(new.len()) > COMPARED {
        return replaced(old, new);
    }
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    let at = |common: &[u32], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or_default();
    for (i, line) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            let longest = if line == other {
                at(&common, i + 1, j + 1) + 1
            } else {
                at(&common, i + 1, j).max(at(&common, i, j + 1))
            };
            if let Some(cell) = common.get_mut(i * width + j) {
                *cell = longest;
            }
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while let (Some(line), Some(other)) = (old.get(i), new.get(j)) {
        if line == other {
            lines.push((' ', *line));
            (i, j) = (i + 1, j + 1);
        } else if at(&common, i + 1, j) >= at(&common, i, j + 1) {
            lines.push(('-', *line));
            i += 1;
        } else {
            lines.push(('+', *other));
            j += 1;
        }
    }
    lines.extend(replaced(old.get(i..).unwrap_or_default(), new.get(j..).unwrap_or_default()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_shown_with_a_little_around_it() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        let after = "1\n2\n3\n4\nnew\n5\n6\n7\n8\n9\nten\n";
        assert_eq!(diff(before, after), "  3\n  4\n+ new\n  5\n  6\n  …\n  8\n  9\n- 10\n+ ten\n");
        assert_eq!(diff("", "a\n"), "+ a\n");
        assert_eq!(diff("a\n", "a\n"), "");
    }
}
