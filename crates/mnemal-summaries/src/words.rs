//! English words that tell a statement from what is said to keep a conversation going; other languages do without.

use mnemal_text::Language;

/// Words for the one who is spoken to: a sentence about him seldom says what happened.
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

/// Whether a word, in small letters, stands for the one who is spoken to.
pub(crate) fn is_addressed(language: Language, word: &str) -> bool {
    language == Language::English && ADDRESSED.contains(&word)
}

/// Whether a word, in small letters, places something in time.
pub(crate) fn is_time(language: Language, word: &str) -> bool {
    language == Language::English && TIMES.contains(&word)
}
