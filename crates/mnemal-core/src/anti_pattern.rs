//! Anti-patterns: a thing not to do, part by part.

use std::fmt;

/// What stands before what is to be left.
const DONT: &str = "Don't ";
/// What stands before an act that goes on: "Don't keep guessing".
const KEEP: &str = "keep ";
/// What stands before the reason.
const FOR: &str = " for ";
/// What stands before what to do instead.
const INSTEAD: &str = " — instead ";

/// What an anti-pattern says, each part in the words of who said it; where it is filed names what it is about.
///
/// Its sentence is `Don't {avoid} for {reason} — instead {instead}`, of which the reason and what to do instead may be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AntiPattern {
    /// What not to do, not empty: `push to main`, `using npm`.
    pub avoid: String,
    /// Why; `None` where no reason was given.
    pub reason: Option<String>,
    /// What to do instead; `None` where nobody has said it, and then it never holds.
    pub instead: Option<String>,
}

impl AntiPattern {
    /// Reads its parts off its sentence; `None` for other words, and for a sentence that does not say what to do instead.
    ///
    /// The reason begins at the first ` for `, so one that holds this word is read as its writer meant it only behind it.
    pub fn read(sentence: &str) -> Option<Self> {
        let rest = sentence.trim().strip_prefix(DONT).or_else(|| sentence.trim().strip_prefix("Don’t "))?;
        let (before, instead) = rest.rsplit_once(INSTEAD)?;
        let (avoid, reason) = match before.split_once(FOR) {
            Some((avoid, reason)) => (avoid, Some(reason)),
            None => (before, None),
        };
        let avoid = avoid.strip_prefix(KEEP).filter(|act| goes_on(act)).unwrap_or(avoid);
        let part = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Some(Self { avoid: part(avoid)?, reason: reason.and_then(part), instead: Some(part(instead)?) })
    }
}

impl fmt::Display for AntiPattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keep = if goes_on(&self.avoid) { KEEP } else { "" };
        write!(out, "{DONT}{keep}{}", self.avoid)?;
        self.reason.iter().try_for_each(|reason| write!(out, "{FOR}{reason}"))?;
        self.instead.iter().try_for_each(|instead| write!(out, "{INSTEAD}{instead}"))
    }
}

/// Whether an act begins with a form in -ing, which has a vowel before it: `using`, not `bring`.
fn goes_on(act: &str) -> bool {
    let verb = act.split_whitespace().next().and_then(|word| word.strip_suffix("ing"));
    verb.is_some_and(|stem| stem.contains(['a', 'e', 'i', 'o', 'u', 'y']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(avoid: &str, reason: Option<&str>, instead: &str) -> AntiPattern {
        let owned = |text: &str| text.to_owned();
        AntiPattern { avoid: owned(avoid), reason: reason.map(owned), instead: Some(owned(instead)) }
    }

    // proves: RB-22 (its sentence, and its parts)
    #[test]
    fn parts_make_the_sentence_and_are_read_off_it() {
        for (parts, sentence) in [
            (of("use npm", None, "pnpm"), "Don't use npm — instead pnpm"),
            (
                of("push to main", Some("CI breaks"), "a pull request"),
                "Don't push to main for CI breaks — instead a pull request",
            ),
            (of("using npm", None, "pnpm"), "Don't keep using npm — instead pnpm"),
            (of("bring flowers", None, "wine"), "Don't bring flowers — instead wine"),
        ] {
            assert_eq!(parts.to_string(), sentence);
            assert_eq!(AntiPattern::read(sentence), Some(parts));
        }
        let open = AntiPattern { instead: None, ..of("use grep", None, "") };
        assert_eq!(open.to_string(), "Don't use grep");
        for other in [
            "",
            "Don't",
            "Don't use grep",
            "Use pnpm — instead npm",
            "Don't  — instead x",
            "Don't x — instead ",
        ] {
            assert_eq!(AntiPattern::read(other), None, "{other}");
        }
    }
}
