//! What a question asks of the graph: which names may stand in it, which words, and whether it looks back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use mnemal_core::EntityKind;
use mnemal_extract::predicate::{self, PredicateInfo};
use mnemal_text::{Analyzer, Language, fold, is_stop_word};

use crate::key::name_key;
use crate::say;

/// Most words of one name. Source: own choice; "Universidad Nacional Autónoma de México" has five.
const LONGEST: usize = 5;
/// Fewest letters of a name in a script that separates words. Source: RB-74.
const SHORTEST: usize = 3;
/// Fewest and most characters of a name inside a run of script that does not. Source: own choice, family name and given name.
const RUN: (usize, usize) = (2, 4);
/// Most keys that are looked up. Source: own choice; as many as one statement of the store asks for at once.
const MOST_KEYS: usize = 100;
/// Words that ask for what was before, folded. Source: own choice for the languages that are read.
const BEFORE: [&str; 36] = [
    "before",
    "previous",
    "previously",
    "former",
    "formerly",
    "used to",
    "back then",
    "earlier",
    "once",
    "history",
    "no longer",
    "fruher",
    "vorher",
    "ehemalig",
    "ehemals",
    "damals",
    "zuvor",
    "bisher",
    "avant",
    "autrefois",
    "ancien",
    "ancienne",
    "auparavant",
    "antes",
    "anterior",
    "anteriormente",
    "antiguo",
    "solia",
    "antigo",
    "antiga",
    "costumava",
    "以前",
    "之前",
    "过去",
    "曾经",
    "原来",
];

/// Words that ask for all that is known of somebody. Source: own choice for the languages that are read.
const ANYTHING: &str = "know tell remember describe info information everything anything something summary summarise who \
                        weißt wissen erzähl erzähle alles sais savoir raconte sabes saber cuenta cuéntame sabe conta \
                        知道 什么 告诉";

/// What is looked up for a question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// Keys of what may be a name, in the order of the text.
    pub(crate) keys: Vec<String>,
    /// Its words with content, as they are compared.
    pub(crate) words: BTreeSet<String>,
    /// Whether it asks for what was before.
    pub(crate) looks_back: bool,
    /// The words with which it asks for a predicate.
    predicates: BTreeMap<&'static str, BTreeSet<String>>,
    /// The words with which it asks for anything.
    general: BTreeSet<String>,
    analyzer: Analyzer,
}

impl Asked {
    /// Reads a question in any language.
    pub(crate) fn read(text: &str) -> Self {
        let language = Language::guess(text);
        let analyzer = Analyzer::new(language);
        let folded = format!(" {} ", fold(text));
        let is_said = |word: &str| {
            let is_latin = word.is_ascii();
            folded.match_indices(word).any(|(at, word)| {
                let ends = folded.get(at + word.len()..).and_then(|rest| rest.chars().next());
                let starts = folded.get(..at).and_then(|rest| rest.chars().next_back());
                !is_latin || ![starts, ends].into_iter().flatten().any(char::is_alphanumeric)
            })
        };
        let mut asked = Self {
            keys: keys(text, language),
            words: analyzer.query_terms(text).into_iter().collect(),
            looks_back: BEFORE.into_iter().any(is_said),
            predicates: BTreeMap::new(),
            general: BTreeSet::new(),
            analyzer,
        };
        let asking = Asking::of(analyzer);
        let said = |terms: &[String]| -> BTreeSet<String> {
            terms.iter().filter_map(|term| asked.words.get(term)).cloned().collect()
        };
        let predicates: BTreeMap<_, _> =
            asking.predicates.iter().map(|(name, terms)| (*name, said(terms))).collect();
        let general = said(&asking.general);
        (asked.predicates, asked.general) = (predicates, general);
        asked.predicates.retain(|_, words| !words.is_empty());
        asked
    }

    /// Returns the words with which a predicate is asked for.
    pub(crate) fn for_predicate(&self, name: &str) -> impl Iterator<Item = &str> {
        self.predicates.get(name).into_iter().flatten().map(String::as_str)
    }

    /// Whether nothing is asked of the bearers of these names in particular: "What do you know about Ann?"
    pub(crate) fn is_open(&self, names: &BTreeSet<&str>) -> bool {
        self.words.iter().all(|word| names.contains(word.as_str()) || self.general.contains(word))
    }

    /// Returns which of the question's words stand in a text.
    pub(crate) fn shared<'a>(&'a self, text: &str) -> BTreeSet<&'a str> {
        let mut shared = BTreeSet::new();
        self.analyzer.for_each_term(text, &mut |term, _| shared.extend(self.words.get(term)));
        shared.into_iter().map(String::as_str).collect()
    }
}

/// The words with which questions ask, as one language compares them: made once, because there are hundreds.
struct Asking {
    /// For each predicate.
    predicates: Vec<(&'static str, Vec<String>)>,
    /// For anything.
    general: Vec<String>,
}

impl Asking {
    fn of(analyzer: Analyzer) -> Arc<Self> {
        static MADE: LazyLock<Mutex<BTreeMap<Language, Arc<Asking>>>> = LazyLock::new(Mutex::default);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(made.entry(analyzer.language()).or_insert_with(|| Arc::new(Self::new(analyzer))))
    }

    fn new(analyzer: Analyzer) -> Self {
        let terms = |text: &str| analyzer.terms(text).into_iter().map(|term| term.text).collect();
        let of =
            |info: &'static PredicateInfo| (info.name.as_str(), terms(&say::words(&info.name).join(" ")));
        Self { predicates: predicate::all().iter().map(of).collect(), general: terms(ANYTHING) }
    }
}

/// Returns the keys of what may be a name: up to five words that stand together, and in scripts that do not separate words
/// two to four characters.
fn keys(text: &str, language: Language) -> Vec<String> {
    let trimmed = |word: &'_ str| {
        let marks = |c: char| !c.is_alphanumeric();
        word.trim_matches(marks).to_owned()
    };
    let words: Vec<String> = text.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect();
    let mut found = Found::default();
    for (place, word) in words.iter().enumerate() {
        if is_run(word) {
            let characters: Vec<char> = word.chars().collect();
            for length in (RUN.0..=RUN.1).rev() {
                characters.windows(length).for_each(|part| found.add(&part.iter().collect::<String>()));
            }
        }
        for length in 1..=LONGEST.min(words.len() - place) {
            let Some(name) = words.get(place..place + length) else { continue };
            let ends = [name.first(), name.last()];
            let is_plain = ends.into_iter().flatten().any(|word| is_stop_word(language, word));
            let is_short = length == 1 && !is_run(word) && word.chars().count() < SHORTEST;
            if !is_plain && !is_short {
                found.add(&name.join(" "));
            }
        }
    }
    found.keys
}

#[derive(Default)]
struct Found {
    keys: Vec<String>,
}

impl Found {
    fn add(&mut self, name: &str) {
        for kind in [EntityKind::Person, EntityKind::Organization] {
            let key = name_key(name, kind);
            if !key.is_empty() && self.keys.len() < MOST_KEYS && !self.keys.contains(&key) {
                self.keys.push(key);
            }
        }
    }
}

/// Whether a word holds script that does not separate words, or that adds endings to names.
fn is_run(word: &str) -> bool {
    word.chars().any(|character| {
        matches!(character, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, key: &str) -> bool {
        Asked::read(text).keys.iter().any(|known| known == key)
    }

    // proves: RB-74
    #[test]
    fn names_are_whole_words_of_any_script_and_no_part_of_one() {
        for (text, key) in [
            ("what does ann-marie do?", "ann-marie"),
            ("When did Dr. Müller's son call?", "muller"),
            ("is Bank of America open", "bank of america"),
            ("Где живёт Анна?", "анна"),
            ("王芳住在哪里？", "王芳"),
            ("김민준은 어디에 살아요?", "김민준"),
            ("what is the plan for Larkfield Instruments Ltd.?", "larkfield instruments"),
        ] {
            assert!(has(text, key), "{text}: {:?}", Asked::read(text).keys);
        }
        assert!(!has("Joanne left", "ann") && !has("is Al in", "al") && !has("where is the key", "the"));
        assert!(Asked::read(&"word one two three ".repeat(200)).keys.len() <= MOST_KEYS);
    }

    #[test]
    fn questions_about_the_past_look_back_and_others_do_not() {
        for text in
            ["Where did Ann live before?", "Wo hat sie früher gewohnt?", "她以前住在哪里？", "former job"]
        {
            assert!(Asked::read(text).looks_back, "{text}");
        }
        for text in ["Where does Ann live?", "performer", "Is it in the ancienneté list?", "她住在哪里？"]
        {
            assert!(!Asked::read(text).looks_back, "{text}");
        }
    }
}
