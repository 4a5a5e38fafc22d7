//! Foreign memories as notes, filed under their own categories.

use mnemal_core::{Category, Decision, EventKind, Importance, LearningKind, Remember, Tag};

/// Category of a memory that names none. Source: RockBot's default category (RB-04).
const DEFAULT_CATEGORY: &str = "general";
/// Most parts of a category. Source: the limit of `Category`, 1 to 8 segments (RB-04).
const DEEPEST_CATEGORY: usize = 8;
/// Longest part of a category, in bytes. Source: own choice; a heading of a few words, and eight of them fit a name.
const LONGEST_PART: usize = 30;
/// Most tags of a note. Source: the limit of [`Remember::tags`].
const MOST_TAGS: usize = 64;

/// Returns the event kind that stores the text as a note.
pub(super) fn remember(category: Category, tags: Vec<Tag>, importance: Option<f64>) -> EventKind {
    #[expect(clippy::cast_possible_truncation, reason = "importance has no more digits, and is checked next")]
    let importance = importance.map(|share| share as f32);
    EventKind::Decision(Decision::Remember(Remember {
        key: None,
        kind: LearningKind::Note,
        category,
        tags,
        importance: importance.and_then(|share| Importance::new(share).ok()).unwrap_or(Importance::DEFAULT),
        expires_at: None,
    }))
}

/// Makes a category from words: lower-case letters, digits and hyphens; `general` if nothing is left.
pub(super) fn category<'w>(words: impl IntoIterator<Item = &'w str>) -> Category {
    let parts = words.into_iter().flat_map(|word| word.split('/')).map(part).filter(|part| !part.is_empty());
    let path = parts.take(DEEPEST_CATEGORY).collect::<Vec<_>>().join("/");
    Category::new(path).unwrap_or_else(|_| general())
}

fn general() -> Category {
    Category::new(DEFAULT_CATEGORY).expect("the default category is a category")
}

fn part(word: &str) -> String {
    let mut part = String::new();
    for letter in word.chars().flat_map(char::to_lowercase) {
        let letter = if letter.is_alphanumeric() { letter } else { '-' };
        if letter == '-' && (part.is_empty() || part.ends_with('-')) {
            continue;
        }
        if part.len() + letter.len_utf8() > LONGEST_PART {
            break;
        }
        part.push(letter);
    }
    part.trim_end_matches('-').to_owned()
}

/// Makes tags from words; invalid ones are skipped.
pub(super) fn tags<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<Tag> {
    let mut tags: Vec<Tag> = Vec::new();
    for word in words {
        let word = word.trim().trim_start_matches('#');
        if let Ok(tag) = Tag::new(word)
            && tags.len() < MOST_TAGS
            && !tags.contains(&tag)
        {
            tags.push(tag);
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_made_of_whatever_a_heading_says() {
        let made = |words: &[&str]| category(words.iter().copied()).as_str().to_owned();
        assert_eq!(made(&["User Preferences", "  Food & Drink! "]), "user-preferences/food-drink");
        assert_eq!(made(&["a/b", "..", "Küche"]), "a/b/küche");
        assert_eq!(made(&["?!", ""]), "general");
        assert_eq!(made(&["x"; 12]), "x/x/x/x/x/x/x/x");
        assert_eq!(made(&[&"long ".repeat(20)]), "long-long-long-long-long-long");
    }
}
