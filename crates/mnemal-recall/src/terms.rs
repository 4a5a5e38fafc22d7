//! Index terms and marks of an event, and the text to embed.

use mnemal_core::{Decision, EventKind, Marks, NewEvent, NoteKey, OperationKind, Role, Tag, TermHash, Terms};
use mnemal_extract::turn_marks;
use mnemal_text::{Analyzer, date_terms, term_hash};

/// The speaker uses the first person: "I", "my", "we".
pub const FIRST_PERSON: Marks = Marks(16);
/// The text contains a name: a capital inside a sentence.
pub const NAME: Marks = Marks(32);
/// The text states a lasting preference: "always", "prefer".
pub const WISH: Marks = Marks(64);
/// The text contains a negation: "never", "not", "didn't".
pub const DENIAL: Marks = Marks(128);

/// First-person words, in indexed form. Source: own choice, English.
const SELF_WORDS: [&str; 12] =
    ["i", "i'm", "i've", "i'd", "i'll", "me", "my", "mine", "myself", "we", "our", "us"];

/// Separators in a note's key, tags and category. Source: RB-07, with the characters used in keys.
const JOINTS: [char; 5] = ['/', '-', '_', '.', ':'];

/// Returns the text under which an event is indexed and embedded: `[YYYY-MM-DD] Speaker: text [shares a photo of caption]`.
///
/// The day is in the event's zone. Without a speaker no name comes first; text of a file has its headings there, else its
/// title. `caption`, `heading` and `title` are metadata fields. The stored content is unchanged.
pub fn indexed_text(event: &NewEvent) -> String {
    let day = event.occurred_at.civil(&event.zone).day_text();
    let caption = event.metadata.get("caption").map_or("", String::as_str);
    let mut text = String::with_capacity(event.content.len() + caption.len() + 48);
    text.push('[');
    text.push_str(&day);
    text.push_str("] ");
    if let Some(speaker) = &event.speaker {
        text.push_str(speaker.as_str());
        text.push_str(": ");
    }
    if event.kind == EventKind::Document
        && let Some(heading) = event.metadata.get("heading").or_else(|| event.metadata.get("title"))
    {
        text.push_str(heading);
        text.push_str(": ");
    }
    text.push_str(&event.content);
    if !caption.is_empty() {
        text.push_str(" [shares a photo of ");
        text.push_str(caption);
        text.push(']');
    }
    text
}

/// Whether an event can be found: it has words, and does not only repeat another event, as a digest does.
pub(crate) fn is_found(event: &NewEvent) -> bool {
    let is_digest = matches!(&event.kind, EventKind::Operation(done) if matches!(done.kind, OperationKind::Digest { .. }));
    !is_digest && (!event.content.trim().is_empty() || event.metadata.contains_key("caption"))
}

/// Returns the hashes of an event's terms, stop words included, with the month and the weekday of its day.
///
/// An event without text has no terms, so it is never found. Costs about 7 µs for 150 bytes.
pub fn index_terms(event: &NewEvent, analyzer: Analyzer) -> Terms {
    if !is_found(event) {
        return Terms::default();
    }
    let mut text = indexed_text(event);
    if let EventKind::Decision(Decision::Remember(note)) = &event.kind {
        // A note is also found by its key, tags and category.
        let tags = note.tags.iter().map(Tag::as_str);
        for name in note.key.iter().map(NoteKey::as_str).chain([note.category.as_str()]).chain(tags) {
            add_name(&mut text, name);
        }
    }
    if let EventKind::Operation(operation) = &event.kind
        && let Some(classification) = operation.kind.classification()
    {
        let names =
            [classification.category.as_str()].into_iter().chain(classification.tags.iter().map(Tag::as_str));
        names.for_each(|name| add_name(&mut text, name));
    }
    if event.kind == EventKind::Document {
        add_joined(&mut text, &event.content);
    }
    let mut hashes = Vec::with_capacity(text.len() / 4);
    analyzer.for_each_term(&text, &mut |term, _| hashes.push(term_hash(term)));
    let day = event.occurred_at.civil(&event.zone);
    // The date itself is in the text; its month and weekday names are not.
    hashes.extend(date_terms(day.year, day.month, day.day).iter().take(2).map(|term| term_hash(term)));
    term_counts(hashes)
}

/// Adds a note's key, tag or category as words on a line of their own.
fn add_name(text: &mut String, name: &str) {
    text.push('\n');
    text.extend(name.chars().map(|letter| if JOINTS.contains(&letter) { ' ' } else { letter }));
}

/// Adds the words hyphenated across a line break, joined: `mem-` and `ory`.
fn add_joined(text: &mut String, content: &str) {
    for (place, _) in content.match_indices("-\n") {
        let (before, behind) = content.split_at(place);
        let behind = behind.get("-\n".len()..).unwrap_or_default().trim_start_matches(' ');
        let is_letter = |letter: char| letter.is_alphabetic();
        let start = before.char_indices().rev().take_while(|(_, letter)| is_letter(*letter)).last();
        let first = start.and_then(|(start, _)| before.get(start..)).unwrap_or_default();
        let end = behind.find(|letter: char| !is_letter(letter)).unwrap_or(behind.len());
        let rest = behind.get(..end).unwrap_or_default();
        // A capital after the hyphen indicates a name with a hyphen of its own.
        if !first.is_empty() && rest.starts_with(char::is_lowercase) {
            text.push('\n');
            text.push_str(first);
            text.push_str(rest);
        }
    }
}

/// Returns the marks of a turn: whether it asks, contains a time, a number or a name, is in the first person, states a
/// lasting preference, and contains a negation.
pub fn index_marks(event: &NewEvent) -> Marks {
    let found = Marks(turn_marks(&event.content).bits());
    let found = if speaks_of_self(&event.content) { found.with(FIRST_PERSON) } else { found };
    let found = if states_a_wish(&event.content) { found.with(WISH) } else { found };
    let found = if denies(&event.content) { found.with(DENIAL) } else { found };
    if has_inner_capital(&event.content) { found.with(NAME) } else { found }
}

/// Whether events of this role count as adjacent messages in a session.
pub(crate) fn is_message(role: Role) -> bool {
    matches!(role, Role::User | Role::Assistant)
}

fn term_counts(mut hashes: Vec<u64>) -> Terms {
    let length = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
    hashes.sort_unstable();
    let mut counts: Vec<(TermHash, u16)> = Vec::with_capacity(hashes.len());
    for hash in hashes {
        match counts.last_mut() {
            Some((last, count)) if last.0 == hash => *count = count.saturating_add(1),
            _ => counts.push((TermHash(hash), 1)),
        }
    }
    Terms { length, counts }
}

fn speaks_of_self(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').any(|word| {
        word.len() <= 8 && SELF_WORDS.contains(&word.replace('’', "'").to_ascii_lowercase().as_str())
    })
}

/// Whether a word is a negation. Source: own choice, English.
fn denies(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').any(|word| {
        let ends = ["n't", "n’t"].iter().any(|end| {
            word.len()
                .checked_sub(end.len())
                .and_then(|at| word.get(at..))
                .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
        });
        ends || word.eq_ignore_ascii_case("never") || word.eq_ignore_ascii_case("not")
    })
}

/// Whether a word states a lasting preference. Source: own choice, English.
fn states_a_wish(text: &str) -> bool {
    let begins =
        |word: &str, with: &str| word.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    text.split(|c: char| !c.is_alphanumeric())
        .any(|word| word.eq_ignore_ascii_case("always") || begins(word, "prefer"))
}

/// Whether a capitalized word of at least two letters follows a lowercase letter, a comma or a space after either.
fn has_inner_capital(text: &str) -> bool {
    let mut before = None;
    let mut gap = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let starts_word = gap && character.is_uppercase();
        if starts_word
            && before.is_some_and(|last: char| last.is_lowercase() || last == ',')
            && characters.peek().is_some_and(|next| next.is_lowercase())
        {
            return true;
        }
        gap = character == ' ';
        if !gap {
            before = Some(character);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::turn;
    use mnemal_text::Language;

    fn has(terms: &Terms, term: &str) -> bool {
        terms.counts.iter().any(|(hash, _)| hash.0 == term_hash(term))
    }

    #[test]
    fn date_speaker_and_caption_are_indexed_and_the_content_stays() {
        let mut event = turn("s", "Ada", "I went home.");
        event.metadata.insert("caption".to_owned(), "a red door".to_owned());
        assert_eq!(indexed_text(&event), "[2023-05-08] Ada: I went home. [shares a photo of a red door]");
        let terms = index_terms(&event, Analyzer::new(Language::English));
        for term in ["2023-05-08", "may", "monday", "ada", "go", "door", "i"] {
            assert!(has(&terms, term), "{term}");
        }
        assert_eq!(terms.counts.iter().map(|(_, count)| u32::from(*count)).sum::<u32>(), terms.length);
        assert!(terms.counts.is_sorted_by_key(|(hash, _)| *hash));
        assert_eq!(event.content, "I went home.");
    }

    // proves: PB-05
    // proves: RB-07
    #[test]
    fn a_note_is_indexed_with_the_words_of_its_key_its_tags_and_its_category() {
        let mut event = turn("s", "Ada", "Every second Tuesday.");
        let words = ["deploy", "window", "release", "infra", "cluster"];
        let holds = |event: &NewEvent| {
            let terms = index_terms(event, Analyzer::default());
            words.iter().filter(|word| has(&terms, &Analyzer::default().query_terms(word)[0])).count()
        };
        assert_eq!(holds(&event), 0);
        event.kind = EventKind::Decision(Decision::Remember(mnemal_core::Remember {
            key: Some(NoteKey::new("deploy_window").unwrap()),
            kind: mnemal_core::LearningKind::Note,
            category: mnemal_core::Category::new("infra/main-cluster").unwrap(),
            tags: vec![Tag::new("release").unwrap()],
            importance: mnemal_core::Importance::DEFAULT,
            expires_at: None,
        }));
        assert_eq!(holds(&event), words.len());
    }

    #[test]
    fn a_word_of_a_file_that_a_line_end_parts_is_found_in_one_piece() {
        let mut event = turn("s", "Ada", "We keep the mem-\nory of the Jean-\nPaul line.");
        let holds = |event: &NewEvent, word: &str| {
            let terms = index_terms(event, Analyzer::default());
            has(&terms, &Analyzer::default().query_terms(word)[0])
        };
        assert!(!holds(&event, "memory"), "in a message a person may end a line with a dash");
        event.kind = EventKind::Document;
        assert!(holds(&event, "memory") && holds(&event, "mem") && holds(&event, "paul"));
        assert!(!holds(&event, "jeanpaul"));
    }

    #[test]
    fn an_event_without_text_has_no_terms() {
        assert_eq!(index_terms(&turn("s", "Ada", " \n"), Analyzer::default()), Terms::default());
    }

    #[test]
    fn marks_tell_who_and_what_a_turn_is_about() {
        let marks = |text: &str| index_marks(&turn("s", "Ada", text));
        assert!(marks("It’s true, I’m late").has(FIRST_PERSON) && marks("MY dog").has(FIRST_PERSON));
        assert!(!marks("They went to Rome").has(FIRST_PERSON) && !marks("hemi it").has(FIRST_PERSON));
        assert!(marks("They went to Rome").has(NAME) && marks("Well, Anna did").has(NAME));
        assert!(marks("I have NEVER met him").has(DENIAL) && marks("She didn’t, isn't it").has(DENIAL));
        assert!(!marks("A note on knots, n'est pas").has(DENIAL));
        assert!(!marks("Hello there. We did.").has(NAME) && !marks("so do I").has(NAME));
        assert!(marks("Did you go?").has(Marks::QUESTION));
        assert!(marks("Always cite APA, please").has(WISH) && marks("tea is what I preferred").has(WISH));
        assert!(!marks("I like tea, all ways of it").has(WISH) && !marks("référence prüfer").has(WISH));
    }
}
