//! Full stops that do not end a sentence.

/// Returns whether the full stop between `before` and `next` belongs to an abbreviation, an initial, an ordinal or a list marker.
///
/// `next` is what follows the white space, and is not empty.
pub(super) fn holds(before: &str, next: &str) -> bool {
    let word = before
        .rsplit(|letter: char| letter.is_whitespace() || "([{\"'“‘„«".contains(letter))
        .next()
        .unwrap_or_default();
    let bare = word.to_lowercase();
    let is_first = before.trim_start().len() == word.len();
    if bare.bytes().all(|byte| byte.is_ascii_digit()) {
        return !bare.is_empty() && bare.len() <= 2 && (is_first || starts_with_month(next));
    }
    let mut letters = word.chars();
    if let (Some(only), None) = (letters.next(), letters.next()) {
        return only.is_alphabetic() && (is_first || is_initial(only, next));
    }
    if BEFORE_A_NAME.binary_search(&bare.as_str()).is_ok() {
        return true;
    }
    let open_ended = ANYWHERE.binary_search(&bare.as_str()).is_ok() || is_dotted(&bare);
    open_ended && (!next.starts_with(char::is_uppercase) || continues_with_name(&bare))
}

/// `J. Tolkien`, `z. B.`; but "I." and "So do I. Then" are the pronoun.
fn is_initial(letter: char, next: &str) -> bool {
    letter != 'I'
        && (letter.is_uppercase() || next.chars().nth(1) == Some('.') || next.starts_with(char::is_lowercase))
}

/// `e.g`, `p.m`, `u.s`: single letters with dots between them.
fn is_dotted(word: &str) -> bool {
    word.contains('.') && word.split('.').all(|part| part.chars().count() == 1)
}

/// Dotted forms that are in front of names and nouns as often as not.
fn continues_with_name(word: &str) -> bool {
    matches!(word, "d.h" | "e.g" | "i.e" | "o.ä" | "u.a" | "u.s" | "z.b")
}

fn starts_with_month(next: &str) -> bool {
    let word = next.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
    MONTHS.contains(&word)
}

/// Months of languages that write the day as an ordinal.
const MONTHS: &[&str] = &[
    "Januar",
    "Jänner",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
    "januar",
    "februar",
    "mars",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "desember",
    "december",
    "maj",
];

/// Abbreviations that a name or a number follows, so that a capital behind them says nothing.
const BEFORE_A_NAME: &[&str] = &[
    "abb", "abs", "art", "bd", "bzw", "ca", "cf", "ch", "col", "dr", "dra", "fig", "figs", "fr", "gen",
    "gov", "hon", "hr", "ing", "lt", "mag", "mlle", "mme", "mr", "mrs", "ms", "mt", "nr", "pp", "prof",
    "rep", "rev", "sen", "sgt", "sig", "sra", "srta", "st", "str", "vgl", "vol", "vs", "zb",
];

/// Abbreviations that may also end a sentence: they do if a capital follows.
const ANYWHERE: &[&str] = &[
    "approx", "apr", "aug", "ave", "bros", "co", "corp", "dec", "dept", "ed", "eds", "est", "etc", "evtl",
    "feb", "fri", "ggf", "inc", "incl", "jan", "jr", "jul", "jun", "ltd", "max", "min", "mon", "no", "nov",
    "oct", "resp", "sat", "sep", "sept", "sr", "sun", "thu", "tue", "usw", "wed",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(BEFORE_A_NAME.is_sorted_by(|a, b| a < b));
        assert!(ANYWHERE.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn an_abbreviation_holds_where_a_sentence_could_not_end() {
        for (before, next) in [
            ("Dear Mr", "Brown"),
            ("J", "Brown"),
            ("by R", "Brown"),
            ("e.g", "Paris"),
            ("nuts etc", "in bags"),
            ("1", "Bake"),
            ("am 24", "Dezember"),
            ("(vgl", "Abb"),
            ("at 5 p.m", "on"),
        ] {
            assert!(holds(before, next), "{before}. {next}");
        }
        for (before, next) in [
            ("home", "Then"),
            ("nuts etc", "Then"),
            ("so do I", "Then"),
            ("in 24", "Then"),
            ("in 1990", "Dezember"),
            ("at 5 p.m", "Then"),
            ("", "Then"),
        ] {
            assert!(!holds(before, next), "{before}. {next}");
        }
    }
}
