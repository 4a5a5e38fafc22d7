//! Output of the demo as a README shows it: the same in each run, and short.
//!
//! Times, ids and the day of the run give way to fixed ones of the same form, and a measured duration to an ellipsis. Long lists,
//! most long rows and the later questions are cut, and each cut says so.

use std::collections::BTreeMap;

use super::terminal::COLUMNS;

/// The day and the moment that stand for those of the run.
const DAY: &str = "2026-12-01";
const MOMENT: &str = "2026-12-01 09:00";
/// Questions that are shown. Source: own choice; the window stays below a screen.
const QUESTIONS: usize = 2;
/// Rows that are shown of a list with more than [`LONG`]. Source: own choice, as above.
const HEAD: usize = 3;
/// Rows up to which a list is shown in full.
const LONG: usize = 5;
/// Indents of the further rows of an answer, whose text is behind rank and score, and of a sentence.
const ANSWER: usize = 11;
const SENTENCE: usize = 2;
/// Step to which the tokens of the fences are rounded; they vary with the random characters in them.
const ROUNDED: usize = 50;
/// A part of a bar.
const BAR: &str = "█";

/// Returns the rows of the window for what the demo printed.
pub(super) fn rows(printed: &str) -> Vec<String> {
    let lines: Vec<String> = settled(&fixed(printed));
    shortened(&asked(&lines)).iter().flat_map(|line| fitted(line)).collect()
}

/// Returns the rows that most runs have; which lines fit into the demo's context depends on random characters too.
pub(super) fn usual(runs: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for rows in runs {
        *seen.entry(rows).or_default() += 1;
    }
    seen.into_iter().max_by_key(|(_, times)| *times).map(|(rows, _)| rows).unwrap_or_default()
}

/// Replaces ids, the day and the duration by fixed ones.
fn fixed(printed: &str) -> String {
    let mut known = BTreeMap::new();
    let mut text = printed.to_owned();
    for (before, length) in [("evt_", 26), ("rcl_", 26), ("nonce=\"", 24), ("access_key_id#", 4)] {
        text = replaced(&text, before, length, |id| {
            let next = known.len();
            made(*known.entry(id.to_owned()).or_insert(next), length)
        });
    }
    let now = text.lines().find_map(|line| line.strip_prefix("now ")?.get(..MOMENT.len()).map(str::to_owned));
    if let Some(now) = now {
        let day = now.get(..DAY.len()).unwrap_or(&now).to_owned();
        text = text.replace(&now, MOMENT).replace(&day, DAY);
    }
    let unmeasured = text.split_once(" in ").and_then(|(head, tail)| {
        let (number, tail) = tail.split_once(" ms")?;
        number.chars().all(|c| c.is_ascii_digit()).then(|| format!("{head} in … ms{tail}"))
    });
    unmeasured.unwrap_or(text)
}

/// Replaces each run of letters and digits of this length that stands behind `before`.
fn replaced(text: &str, before: &str, length: usize, mut stand_in: impl FnMut(&str) -> String) -> String {
    let mut parts = text.split(before);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len());
        let (id, rest) = part.split_at(end);
        out.push_str(before);
        out.push_str(&if id.len() == length { stand_in(id) } else { id.to_owned() });
        out.push_str(rest);
    }
    out
}

/// Returns hexadecimal digits that look like chance and depend on the number only.
fn made(number: usize, length: usize) -> String {
    // Multiplier and increment of Knuth's MMIX generator; its upper bits are mixed well after one step.
    let step =
        |state: u64| state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let seed = u64::try_from(number).unwrap_or_default().wrapping_add(1);
    let states = std::iter::successors(Some(step(step(seed))), |state| Some(step(*state)));
    let digit = |state: u64| char::from_digit(u32::try_from(state >> 60).ok()?, 16);
    states.take(length).filter_map(digit).collect()
}

/// Rounds the tokens of the fences, with their bar, and sums the sections anew.
fn settled(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let Some(total) = lines.iter().position(|line| line.contains(" of ") && line.ends_with(" tokens")) else {
        return lines;
    };
    let tokens = |line: &String| line.split_whitespace().nth(1).and_then(|word| word.parse::<usize>().ok());
    let sections = lines.iter().skip(total + 1).take_while(|line| line.starts_with("  "));
    let sizes: Vec<(usize, usize)> =
        sections.map(|line| (tokens(line).unwrap_or(0), line.matches(BAR).count())).collect();
    let (most, longest) = sizes.iter().copied().max().unwrap_or_default();
    let mut sum = 0;
    for (line, (count, bar)) in lines.iter_mut().skip(total + 1).zip(sizes) {
        if !line.trim_start().starts_with("fences") {
            sum += count;
            continue;
        }
        let rounded = (count + ROUNDED / 2) / ROUNDED * ROUNDED;
        *line = line.replacen(&count.to_string(), &rounded.to_string(), 1);
        if bar > 0 {
            *line = line.replace(&BAR.repeat(bar), &BAR.repeat(rounded * longest / most.max(1)));
        }
        sum += rounded;
    }
    if let Some(line) = lines.get_mut(total) {
        let limit = line.split_once(" of ").map(|(_, limit)| limit.to_owned()).unwrap_or_default();
        *line = format!("{sum} of {limit}");
    }
    lines
}

/// Cuts the questions behind the first ones, up to the turn that a context is made for.
fn asked(lines: &[String]) -> Vec<String> {
    let questions = lines.iter().enumerate().filter(|(_, line)| line.starts_with("? "));
    let end = lines.iter().position(|line| line.starts_with("> "));
    let (Some((start, _)), Some(end)) = (questions.clone().nth(QUESTIONS), end) else {
        return lines.to_vec();
    };
    let left = questions.count().saturating_sub(QUESTIONS);
    let note = [format!("  … {left} more questions"), String::new()];
    let (head, tail) = (lines.iter().take(start), lines.iter().skip(end));
    head.cloned().chain(note).chain(tail.cloned()).collect()
}

/// Cuts lists: lines one after the other that begin with the same word.
fn shortened(lines: &[String]) -> Vec<String> {
    let first = |line: &String| line.split_whitespace().next().map(str::to_owned);
    let mut out = Vec::new();
    for list in lines.chunk_by(|a, b| first(a).is_some() && first(a) == first(b)) {
        if list.len() <= LONG {
            out.extend_from_slice(list);
            continue;
        }
        out.extend(list.iter().take(HEAD).cloned());
        out.push(format!("  … {} more lines", list.len() - HEAD));
    }
    out
}

/// Fits a line into the window: a right answer and a sentence go on in a further row, anything else is cut.
fn fitted(line: &str) -> Vec<String> {
    let indent = match line.chars().next() {
        Some('✓') => ANSWER,
        Some(first) if first.is_alphabetic() => SENTENCE,
        _ => return vec![cut(line)],
    };
    let (mut rows, mut row) = (Vec::new(), String::new());
    for (at, word) in line.split(' ').enumerate() {
        if at > 0 && row.chars().count() + 1 + word.chars().count() > COLUMNS {
            rows.push(cut(&row));
            row = " ".repeat(indent);
        } else if at > 0 {
            row.push(' ');
        }
        row.push_str(word);
    }
    rows.push(cut(&row));
    rows
}

/// Cuts a line at the width of the window.
fn cut(line: &str) -> String {
    if line.chars().count() <= COLUMNS {
        return line.to_owned();
    }
    let head: String = line.chars().take(COLUMNS - 1).collect();
    format!("{}…", head.trim_end().trim_end_matches('…'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of two runs in the form of the demo's.
    fn printed(id: &str, nonce: &str, day: &str, fences: usize) -> String {
        let list: Vec<String> = (1..=7).map(|at| format!("- {at} \"line\"\n")).collect();
        let asked: Vec<String> =
            (1..=4).map(|at| format!("? question {at}\n✓ 1  answer in time\n \n")).collect();
        let (list, asked) = (list.concat(), asked.concat());
        format!(
            "mnemal remembers 3 turns, durable in {fences} ms, offline.\n{asked}> turn\n\n<mnemal-context nonce=\"{nonce}\">\n\
             now {day} 19:39 UTC, receipt rcl_{id}\n{list}- note {day}\n</mnemal-context nonce=\"{nonce}\">\n\n\
             {} of 1000 tokens\n  recall  800  ████████\n  fences  {fences}  {}\n  recall  0.5  ← evt_{id}[0..4]\n{}\n",
            800 + fences,
            BAR.repeat(fences / 50),
            "x".repeat(COLUMNS + 1)
        )
    }

    #[test]
    fn two_runs_give_the_same_rows() {
        let one = rows(&printed(&"0a".repeat(13), &"12".repeat(12), "2026-11-29", 97));
        let two = rows(&printed(&"7z".repeat(13), &"cd".repeat(12), "2027-01-30", 111));
        assert_eq!(one, two);
        let text = one.join("\n");
        assert!(text.contains("durable in … ms, offline") && text.contains("answer in time"), "{text}");
        assert!(text.contains("now 2026-12-01 09:00 UTC") && text.contains("900 of 1000 tokens"), "{text}");
        assert!(!text.contains("0a0a") && !text.contains("1212"), "{text}");
    }

    #[test]
    fn a_run_unlike_the_others_is_not_shown() {
        let runs = ["a", "z", "a"].map(|row| vec![row.to_owned()]);
        assert_eq!(usual(runs), ["a"]);
    }

    #[test]
    fn an_id_that_comes_twice_stays_the_same_id() {
        let id = "0".repeat(26);
        let text = fixed(&format!("evt_{id} evt_{} evt_{id} evt_short", "1".repeat(26)));
        let ids: Vec<&str> = text.split(' ').collect();
        assert_eq!(ids[0], ids[2]);
        assert_ne!(ids[0], ids[1]);
        assert_eq!((ids[0].len(), ids[3]), (30, "evt_short"));
    }

    #[test]
    fn what_is_cut_is_counted() {
        let rows = rows(&printed(&"0a".repeat(13), &"12".repeat(12), "2026-11-29", 108));
        let has = |row: &str| rows.iter().filter(|known| *known == row).count();
        assert_eq!((has("- 3 \"line\""), has("- 4 \"line\""), has("  … 5 more lines")), (1, 0, 1));
        assert_eq!((has("? question 2"), has("? question 3"), has("  … 2 more questions")), (1, 0, 1));
        assert!(rows.iter().all(|row| row.chars().count() <= COLUMNS));
        assert!(rows.last().unwrap().ends_with("x…"));
    }

    #[test]
    fn an_answer_goes_on_in_the_next_row_and_another_hit_is_cut() {
        let text = "word ".repeat(30);
        let right = rows(&format!("✓ 1  0.33  {text}end"));
        assert_eq!(right.len(), 2);
        assert!(
            right[0].starts_with("✓ 1  0.33  word") && right[1].starts_with("           word"),
            "{right:?}"
        );
        assert_eq!(right.join(" ").split_whitespace().filter(|word| *word == "word").count(), 30);
        let other = rows(&format!("  2  0.31  {text}end"));
        assert!(other.len() == 1 && other[0].ends_with('…'), "{other:?}");
    }

    #[test]
    fn output_of_another_form_is_kept() {
        assert_eq!(rows("one in all\n\ntwo\n"), ["one in all", "", "two"]);
    }
}
