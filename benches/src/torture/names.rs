//! Generated words and names of a trial.

/// Names of notes with this first letter are the user's own preferences, the others the agent's notes.
pub(super) const PREFERENCE: char = 'p';

/// Returns a name for a note: of the agent, or of the user.
pub(super) fn name(number: usize) -> String {
    let first = if number.is_multiple_of(2) { 'n' } else { PREFERENCE };
    format!("{first}{number}")
}

/// A word of its own for each number, in syllables, so that no stemmer and no rule for secrets touches it.
pub(super) fn word(number: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "ko", "mi", "ru", "te", "vo", "la", "zu", "pi", "no"];
    let digits = number.to_string();
    let syllables =
        digits.bytes().map(|digit| SYLLABLES.get(usize::from(digit - b'0')).copied().unwrap_or(""));
    format!("qua{}x", syllables.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_differ() {
        let words: std::collections::HashSet<String> = (0..2_000).map(word).collect();
        assert_eq!(words.len(), 2_000);
        assert_eq!(word(107), "quakobazux");
    }
}
