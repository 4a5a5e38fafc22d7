//! Anti-patterns: something to avoid, with its reason and its alternative.

use std::fmt;

/// Start of the sentence.
const DONT: &str = "Don't ";
/// Prefix for an act in -ing: "Don't keep guessing".
const KEEP: &str = "keep ";
/// Separator before the reason.
const FOR: &str = " for ";
/// Separator before the alternative.
const INSTEAD: &str = " — instead ";

/// An anti-pattern, each part in the words of its author; the category under which it is filed names its topic.
///
/// Its sentence is `Don't {avoid} for {reason} — instead {instead}`; the reason and the alternative are optional.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AntiPattern {
    /// What not to do, not empty: `push to main`, `using npm`.
    pub avoid: String,
    /// The reason, if one was given.
    pub reason: Option<String>,
    /// The alternative. Without one (`None`) the anti-pattern never becomes active.
    pub instead: Option<String>,
}

impl AntiPattern {
    /// Parses the sentence; `None` for other sentences, and for one without an alternative.
    ///
    /// The reason begins at the first ` for `, so a ` for ` inside `avoid` is read as that separator.
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

/// Whether an act begins with an -ing form, which has a vowel before it: `using`, not `bring`.
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
