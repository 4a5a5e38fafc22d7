//! Word lists for sentence scoring, English only; other languages work without them.

use mnemal_text::Language;

/// Words that address the other speaker: a sentence with them seldom reports an event.
const ADDRESSED: [&str; 8] = ["you", "your", "yours", "yourself", "you're", "you've", "you'll", "you'd"];

/// Words that place something in time.
const TIMES: [&str; 39] = [
    "yesterday",
    "today",
    "tomorrow",
    "tonight",
    "morning",
    "week",
    "weekend",
    "month",
    "year",
    "ago",
    "last",
    "next",
    "soon",
    "recently",
    "since",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "summer",
    "winter",
    "spring",
    "fall",
    "autumn",
];

/// Whether a lowercase word addresses the other speaker.
pub(crate) fn is_addressed(language: Language, word: &str) -> bool {
    language == Language::English && ADDRESSED.contains(&word)
}

/// Whether a lowercase word places something in time.
pub(crate) fn is_time(language: Language, word: &str) -> bool {
    language == Language::English && TIMES.contains(&word)
}
