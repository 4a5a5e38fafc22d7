//! Inflection check: two words as forms of one.

use crate::script::Script;
use crate::{Analyzer, Language};

/// Fewest letters of a word without its ending. Source: own choice; a root of Arabic and Hebrew has three.
const ROOT: usize = 3;
/// Fewest syllables of a Hangul word without its ending. Source: own choice; given names have two.
const SYLLABLES: usize = 2;
/// Fewest syllables of a Hangul word that is taken for a verb. Source: own choice; names have three at most.
const VERB: usize = 4;

/// Endings of names and nouns of Russian in all cases; those of surnames (`ов`, `ин`) are no endings, so that `Иван` is not
/// `Иванов`. Source: grammar.
const RUSSIAN: [&str; 40] = [
    "", "а", "я", "у", "ю", "е", "ы", "и", "о", "ь", "й", "ой", "ей", "ом", "ем", "ою", "ею", "ам", "ям",
    "ах", "ях", "ами", "ями", "ия", "ии", "ию", "ие", "ий", "ый", "ая", "ое", "ые", "ого", "его", "ому",
    "ему", "ым", "им", "ых", "их",
];
/// The Arabic article with its prefixes, the longest first. Source: grammar.
const ARTICLES: [&str; 8] = ["وبال", "وال", "فال", "بال", "كال", "ولل", "لل", "ال"];
/// Prefixes of Arabic words without an article. Source: grammar.
const ARABIC: [char; 5] = ['و', 'ف', 'ب', 'ل', 'ك'];
/// Prefixes of Hebrew words. Source: grammar.
const HEBREW: [char; 7] = ['ו', 'ה', 'ב', 'ל', 'כ', 'מ', 'ש'];
/// Suffixes of Korean nouns, the longest first. Source: grammar.
const KOREAN: [&str; 31] = [
    "에게서",
    "한테서",
    "으로부터",
    "이라고",
    "에서는",
    "에게는",
    "이라는",
    "까지는",
    "에서",
    "에게",
    "한테",
    "으로",
    "까지",
    "부터",
    "처럼",
    "보다",
    "이다",
    "이고",
    "이며",
    "하고",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "에",
    "의",
    "와",
    "과",
    "도",
];
/// Final syllables of Korean sentences and clauses. Source: grammar.
const VERBAL: [char; 7] = ['다', '요', '고', '며', '서', '음', '함'];

/// Returns the common part of a word's forms, under which words of scripts without case are counted.
pub(super) fn base(word: &str) -> String {
    match script(word) {
        Script::Arabic => stem(arabic(word), Language::Arabic),
        Script::Tamil => stem(word, Language::Tamil),
        Script::Hangul => korean(word).to_owned(),
        Script::Hebrew => hebrew(word).to_owned(),
        Script::Other => indic(word).to_owned(),
        _ => word.to_owned(),
    }
}

/// Whether a word of a text is a form of a word that must not be lost. English names are not stemmed: `Williams` is not
/// `William`.
pub(super) fn is_same(word: &str, other: &str, language: Language) -> bool {
    if word == other || other.strip_suffix("'s").or_else(|| other.strip_suffix('s')) == Some(word) {
        return true;
    }
    let script = script(word);
    if script != self::script(other) {
        return false;
    }
    match script {
        Script::Cyrillic => is_declined(word, other),
        Script::Latin => {
            language != Language::English
                && language.script() == Script::Latin
                && stem(word, language) == stem(other, language)
        }
        Script::Greek => stem(word, Language::Greek) == stem(other, Language::Greek),
        Script::Arabic => base(word) == base(other) || is_led(word, other),
        Script::Hangul => base(word) == base(other) || is_conjugated(word, other),
        _ => base(word) == base(other),
    }
}

fn script(word: &str) -> Script {
    word.chars().next().map_or(Script::Other, Script::of)
}

fn stem(word: &str, language: Language) -> String {
    let terms = Analyzer::new(language).terms(word);
    terms.into_iter().next().map_or_else(|| word.to_owned(), |term| term.text)
}

/// Whether two words of Cyrillic differ in the ending of their case alone.
fn is_declined(word: &str, other: &str) -> bool {
    let shared = word.char_indices().zip(other.chars()).find(|((_, one), other)| one != other);
    let shared = shared.map_or(word.len().min(other.len()), |((at, _), _)| at);
    let is_ending = |ending: Option<&str>| ending.is_some_and(|ending| RUSSIAN.contains(&ending));
    let splits = word.char_indices().map(|(at, _)| at).chain([word.len()]).filter(|at| *at <= shared);
    let mut splits = splits.filter(|at| word.get(..*at).is_some_and(|root| is_long(root, ROOT - 1)));
    splits.any(|at| is_ending(word.get(at..)) && is_ending(other.get(at..))) || is_fleeting(word, other)
}

/// `Павел` and `Павла`: the last vowel of a name goes before an ending.
fn is_fleeting(word: &str, other: &str) -> bool {
    let shorter = |name: &str| -> Option<String> {
        let letters: Vec<char> = name.chars().collect();
        let (last, vowel) = (letters.last()?, letters.get(letters.len().checked_sub(2)?)?);
        let is_such = matches!(vowel, 'е' | 'о') && matches!(last, 'л' | 'к' | 'н' | 'р' | 'в' | 'ц');
        let root: String = letters.get(..letters.len() - 2)?.iter().collect();
        (is_such && is_long(&root, ROOT)).then(|| format!("{root}{last}"))
    };
    let is_form = |of: Option<String>, form: &str| {
        of.is_some_and(|root| form.strip_prefix(root.as_str()).is_some_and(|end| RUSSIAN.contains(&end)))
    };
    is_form(shorter(word), other) || is_form(shorter(other), word)
}

fn is_long(text: &str, letters: usize) -> bool {
    text.chars().nth(letters - 1).is_some()
}

fn arabic(word: &str) -> &str {
    let without = |article: &&str| word.strip_prefix(*article).filter(|rest| is_long(rest, ROOT));
    ARTICLES.iter().find_map(without).unwrap_or(word)
}

/// Whether one of two words of Arabic is the other with a particle in front of it.
fn is_led(word: &str, other: &str) -> bool {
    let leads = |one: &str, other: &str| {
        let rest = one.strip_prefix(ARABIC).filter(|rest| is_long(rest, ROOT));
        rest.is_some_and(|rest| rest == other || base(rest) == base(other))
    };
    leads(word, other) || leads(other, word)
}

fn hebrew(word: &str) -> &str {
    let mut word = word;
    for _ in 0..2 {
        word = word.strip_prefix(HEBREW).filter(|rest| is_long(rest, ROOT)).unwrap_or(word);
    }
    word
}

fn korean(word: &str) -> &str {
    let without = |particle: &&str| word.strip_suffix(*particle).filter(|rest| is_long(rest, SYLLABLES));
    KOREAN.iter().find_map(without).unwrap_or(word)
}

/// Whether two words of Hangul are one verb with different endings.
fn is_conjugated(word: &str, other: &str) -> bool {
    let is_verb = |word: &str| is_long(word, VERB) && word.ends_with(VERBAL);
    let shared = word.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    is_verb(word) && is_verb(other) && shared >= SYLLABLES && shared * 2 >= word.chars().count()
}

/// A word of an Indic script without the signs of its last vowel, which carry number, gender and case.
fn indic(word: &str) -> &str {
    let is_ending = |letter: char| {
        matches!(u32::from(letter), 0x0900..=0x0DFF)
            && !letter.is_numeric()
            && unicode_normalization::char::is_combining_mark(letter)
    };
    let root = word.trim_end_matches(is_ending);
    if is_long(root, 2) { root } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_name_are_one_and_other_names_are_not() {
        let rows = [
            ("анна", "анной", Language::Russian, true),
            ("иван", "ивана", Language::Russian, true),
            ("иван", "иванов", Language::Russian, false),
            ("павел", "павлу", Language::Russian, true),
            ("мария", "марии", Language::Russian, true),
            ("анна", "антон", Language::Russian, false),
            ("williams", "william", Language::English, false),
            ("anna", "annas", Language::English, true),
            ("ليلى", "وليلى", Language::Arabic, true),
            ("ليلى", "لينا", Language::Arabic, false),
            ("민지는", "민지가", Language::English, true),
            ("김민수는", "김민지는", Language::English, false),
            ("좋아합니다", "좋아한다고", Language::English, false),
            ("일하고있다", "일하고있으며", Language::English, true),
            ("लड़का", "लड़के", Language::English, true),
            ("अनिता", "अनिल", Language::English, false),
        ];
        for (word, other, language, expect) in rows {
            assert_eq!(is_same(word, other, language), expect, "{word} {other}");
        }
    }
}
