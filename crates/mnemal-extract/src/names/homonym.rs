//! Homonyms: texts that say it is another one of that name: "another Anna", "a different town called Paris".

use mnemal_core::EntityKind;

/// Bytes in front of a name that are looked at. Source: own choice; seven long words.
const BEFORE: usize = 96;
/// Words for a homonym directly before a name, or before "friend named".
/// Source: own list, of the languages in which claims are read.
const ANOTHER: &[&str] = &[
    "another",
    "a different",
    "a second",
    "not the same",
    "ein anderer",
    "eine andere",
    "ein anderes",
    "einen anderen",
    "einer anderen",
    "einem anderen",
    "noch ein",
    "noch eine",
    "noch einen",
    "otro",
    "otra",
    "un autre",
    "une autre",
    "outro",
    "outra",
    "un altro",
    "un'altra",
    "un’altra",
    "другой",
    "другая",
    "другое",
    "другую",
    "другого",
    "ещё один",
    "ещё одна",
    "еще один",
    "еще одна",
];
/// Words between a noun and a name.
const CALLED: &[&str] = &[
    "named",
    "called",
    "by the name of",
    "namens",
    "llamado",
    "llamada",
    "appelé",
    "appelée",
    "chamado",
    "chamada",
    "di nome",
    "по имени",
];
/// Most words of the noun phrase: "another old colleague named".
const NOUN: usize = 2;

/// Whether the words before a name say that it means another bearer. Of things that are made more than once they do not:
/// another ticket, another book of a series.
pub(super) fn is_another(text: &str, start: usize, kind: EntityKind) -> bool {
    if !matches!(kind, EntityKind::Person | EntityKind::Animal | EntityKind::Location) {
        return false;
    }
    let from = text.floor_char_boundary(start.saturating_sub(BEFORE));
    let before = text.get(from..start).unwrap_or_default();
    let clause = before.rsplit(['.', '!', '?', ';', ',', '\n']).next().unwrap_or_default().to_lowercase();
    let words: Vec<&str> = clause.split_whitespace().collect();
    let ends = |words: &[&str], list: &[&str]| -> Option<usize> {
        let is_end = |phrase: &&&str| {
            let mut pairs = phrase.rsplit(' ').zip(words.iter().rev());
            pairs.all(|(of, word)| of == *word) && phrase.split(' ').count() <= words.len()
        };
        list.iter().find(is_end).map(|phrase| phrase.split(' ').count())
    };
    if ends(&words, ANOTHER).is_some() {
        return true;
    }
    let Some(called) = ends(&words, CALLED) else { return false };
    let words = words.get(..words.len().saturating_sub(called)).unwrap_or_default();
    (1..=NOUN).any(|noun| {
        let rest = words.len().checked_sub(noun).and_then(|end| words.get(..end));
        rest.is_some_and(|rest| ends(rest, ANOTHER).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_one_of_a_name_is_said() {
        for (text, name, kind, expect) in [
            ("I met another Anna today", "Anna", EntityKind::Person, true),
            ("A different Paris, in Texas", "Paris", EntityKind::Location, true),
            ("We hired another colleague named Anna", "Anna", EntityKind::Person, true),
            ("There is another old friend called Tom", "Tom", EntityKind::Person, true),
            ("Es gibt noch eine Anna", "Anna", EntityKind::Person, true),
            ("Пришла ещё одна Анна", "Анна", EntityKind::Person, true),
            ("Another day, Anna called", "Anna", EntityKind::Person, false),
            ("I told another friend that Anna left", "Anna", EntityKind::Person, false),
            ("a colleague named Anna", "Anna", EntityKind::Person, false),
            ("the other Anna", "Anna", EntityKind::Person, false),
            ("another Jira", "Jira", EntityKind::Product, false),
            ("Anna", "Anna", EntityKind::Person, false),
        ] {
            let start = text.find(name).unwrap();
            assert_eq!(is_another(text, start, kind), expect, "{text}");
        }
    }
}
