//! Query analysis: the candidate names in a question, its content words, and whether it asks about the past.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use mnemal_core::{EntityId, EntityKind, Fact};
use mnemal_extract::{QuestionWords, predicate, question_words, without_idioms};
use mnemal_text::{Analyzer, Language, fold, is_stop_word, term_hash};

use crate::key::name_key;
use crate::resolve::unnamed_id;
use crate::role;
use crate::stems::Stems;
use crate::verbalize;

/// Most words in one name. Source: own choice; "Universidad Nacional Autónoma de México" has five.
const LONGEST: usize = 5;
/// Fewest letters of a name in a script that separates words. Source: RB-74, shorter names match too much by accident.
const SHORTEST: usize = 3;
/// Fewest and most characters of a name inside a run of unseparated script. Source: own choice, family name and given
/// name.
const RUN: (usize, usize) = (2, 4);
/// Most keys looked up per question. Source: own choice; as many as one statement of the store asks for at once.
const MOST_KEYS: usize = 100;
/// Words that ask about the past, folded. Source: own choice for the supported languages.
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

/// Words that ask for everything known about an entity. Source: own choice for the supported languages.
const ANYTHING: &str = "know tell remember describe info information everything anything something summary summarise who \
                        weißt wissen erzähl erzähle alles sais savoir raconte sabes saber cuenta cuéntame sabe conta \
                        知道 什么 告诉";

/// The parts of a question that the graph looks up.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryAnalysis {
    /// Keys of candidate names, in text order.
    pub(crate) keys: Vec<String>,
    /// Hashes of the content words, in the form in which they are compared, ascending.
    words: Vec<u64>,
    /// Whether the question asks about the past.
    pub(crate) looks_back: bool,
    /// The words that ask for each predicate.
    predicates: BTreeMap<&'static str, WordSet>,
    /// The words that ask for a person's role, by the role name that facts use.
    roles: BTreeMap<String, WordSet>,
    /// The kinds of contact that it asks for: `phone`.
    contacts: BTreeSet<String>,
    /// The words that ask for everything, or that ask for nothing specific.
    general: WordSet,
    analyzer: Analyzer,
}

impl QueryAnalysis {
    /// Analyzes a question in any supported language.
    pub(crate) fn read(text: &str) -> Self {
        let plain = without_idioms(text);
        let text = plain.as_ref();
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
        let terms = analyzer.query_terms(text);
        let mut words: Vec<u64> = terms.iter().map(|term| term_hash(term)).collect();
        words.sort_unstable();
        words.dedup();
        let asking = QueryVocabulary::of(analyzer);
        let (mut predicates, mut general) = (BTreeMap::<&'static str, WordSet>::new(), WordSet::default());
        let mut roles = BTreeMap::<String, WordSet>::new();
        let joints = terms.iter().filter(|term| is_joint(term)).map(|term| term_hash(term));
        for place in joints.filter_map(|joint| words.binary_search(&joint).ok()) {
            general.insert(place);
        }
        for (place, word) in words.iter().enumerate() {
            for role in asking.roles.get(word).into_iter().flatten() {
                roles.entry(role.clone()).or_default().insert(place);
            }
            for name in asking.predicates.get(word).into_iter().flatten() {
                predicates.entry(*name).or_default().insert(place);
            }
            if asking.general.contains(word) {
                general.insert(place);
            }
        }
        let contacts = words.iter().filter_map(|word| asking.contacts.get(word)).flatten().cloned().collect();
        let looks_back = BEFORE.into_iter().any(is_said);
        let mut keys = keys(text, language);
        // "Vivo" asks for a residence and is not a name, even if a person has that name.
        keys.retain(|key| !key.split(' ').all(|word| is_asking(word) || is_stop_word(language, word)));
        Self { keys, words, looks_back, predicates, roles, contacts, general, analyzer }
    }

    /// Returns the words that ask for a predicate.
    pub(crate) fn for_predicate(&self, name: &str) -> Option<&WordSet> {
        self.predicates.get(name)
    }

    /// Returns the words that ask for a fact: those of its predicate, unless they ask for another kind of contact.
    pub(crate) fn for_fact(&self, fact: &Fact) -> Option<&WordSet> {
        let is_other = |kind: &str| !self.contacts.is_empty() && !self.contacts.contains(kind);
        let is_of_other = fact.predicate.as_str() == "contact" && fact.topic.as_deref().is_some_and(is_other);
        if is_of_other { None } else { self.for_predicate(fact.predicate.as_str()) }
    }

    /// Returns the words that ask for a role, in any language.
    pub(crate) fn for_role(&self, topic: &str) -> Option<&WordSet> {
        if self.roles.is_empty() { None } else { self.roles.get(&role::normal(topic)) }
    }

    /// Whether words ask for a partner: "my husband".
    pub(crate) fn for_partner(&self) -> bool {
        self.roles.keys().any(|role| role::predicate(role) == "partner")
    }

    /// Returns the words that ask for roles.
    pub(crate) fn of_roles(&self) -> WordSet {
        let mut all = WordSet::default();
        self.roles.values().for_each(|words| all.extend(words));
        all
    }

    /// Returns the people and animals in the roles that it names, as far as nothing gives them a name: "my daughter".
    pub(crate) fn unnamed(&self, owners: &[EntityId]) -> BTreeSet<EntityId> {
        owners.iter().flat_map(|owner| self.roles.keys().map(|role| unnamed_id(*owner, role))).collect()
    }

    /// Returns the number of words that ask for something specific, without those of a set.
    pub(crate) fn n_specific(&self, names: &WordSet) -> usize {
        (0..self.words.len()).filter(|place| !names.has(*place) && !self.general.has(*place)).count()
    }

    /// Returns the number of content words.
    pub(crate) fn n_words(&self) -> usize {
        self.words.len()
    }

    /// Whether the question asks nothing specific about the bearers of these names: "What do you know about Ann?"
    pub(crate) fn is_open(&self, names: &WordSet) -> bool {
        (0..self.words.len()).all(|place| names.has(place) || self.general.has(place))
    }

    /// Returns the words that the question shares with a text.
    pub(crate) fn shared_words(&self, text: &str, stems: &Stems) -> WordSet {
        let mut shared = WordSet::default();
        if !self.words.is_empty() {
            for stem in stems.of(text, self.analyzer).iter() {
                if let Ok(place) = self.words.binary_search(stem) {
                    shared.insert(place);
                }
            }
        }
        shared
    }
}

/// A set of question words, one bit for each position. Most texts share none, and an empty set takes no heap memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordSet(Vec<u64>);

impl WordSet {
    fn insert(&mut self, place: usize) {
        let (part, bit) = (place / 64, place % 64);
        self.0.resize(self.0.len().max(part + 1), 0);
        if let Some(bits) = self.0.get_mut(part) {
            *bits |= 1 << bit;
        }
    }

    fn has(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|bits| bits >> (place % 64) & 1 == 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the words of another set.
    pub(crate) fn extend(&mut self, others: &Self) {
        self.0.resize(self.0.len().max(others.0.len()), 0);
        for (bits, others) in self.0.iter_mut().zip(&others.0) {
            *bits |= others;
        }
    }

    /// Returns how many words are not in the other set.
    pub(crate) fn count_outside(&self, others: &Self) -> usize {
        let others = others.0.iter().copied().chain(std::iter::repeat(0));
        self.0.iter().zip(others).map(|(bits, others)| (bits & !others).count_ones() as usize).sum()
    }
}

/// The words that questions use, in the comparison form of one language. Built once, because there are hundreds.
struct QueryVocabulary {
    /// The predicates that a word asks for, by its hash.
    predicates: HashMap<u64, Vec<&'static str>>,
    /// The roles that a word asks for.
    roles: HashMap<u64, Vec<String>>,
    /// The kinds of contact that a word asks for.
    contacts: HashMap<u64, Vec<String>>,
    /// The words that ask for everything, or for nothing specific.
    general: HashSet<u64>,
}

impl QueryVocabulary {
    fn of(analyzer: Analyzer) -> Arc<Self> {
        static MADE: LazyLock<Mutex<BTreeMap<Language, Arc<QueryVocabulary>>>> =
            LazyLock::new(Mutex::default);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(made.entry(analyzer.language()).or_insert_with(|| Arc::new(Self::new(analyzer))))
    }

    fn new(analyzer: Analyzer) -> Self {
        let terms = |text: &str| analyzer.terms(text).into_iter().map(|term| term_hash(&term.text));
        let mut predicates: HashMap<u64, Vec<&'static str>> = HashMap::new();
        for info in predicate::all() {
            for term in terms(&verbalize::words(&info.name).join(" ")) {
                predicates.entry(term).or_default().push(info.name.as_str());
            }
        }
        let asked = question_words();
        // A phrase asks only with all of its words; a single word of it does not.
        let single = |text: &str| {
            let mut hashes = terms(text);
            let first = hashes.next();
            if hashes.next().is_none() { first } else { None }
        };
        for (word, name) in &asked.predicates {
            if let Some(hash) = single(word) {
                let names = predicates.entry(hash).or_default();
                if !names.contains(name) {
                    names.push(name);
                }
            }
        }
        let mut roles: HashMap<u64, Vec<String>> = HashMap::new();
        for (word, role) in &asked.roles {
            if let Some(hash) = single(word) {
                let (named, role) = (roles.entry(hash).or_default(), role::normal(role));
                if !named.contains(&role) {
                    named.push(role);
                }
            }
        }
        let mut contacts: HashMap<u64, Vec<String>> = HashMap::new();
        for (word, kind) in &asked.contacts {
            if let Some(hash) = single(word) {
                contacts.entry(hash).or_default().push(kind.clone());
            }
        }
        let plain = asked.general.iter().chain(&asked.naming).filter_map(|word| single(word));
        let general = terms(ANYTHING).chain(plain);
        Self { predicates, roles, contacts, general: general.collect() }
    }
}

/// Whether a folded word asks for a fact, in any language, and is not a name. Role words can be names: "Nora" is one in
/// Portuguese.
fn is_asking(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let QuestionWords { predicates, general, .. } = question_words();
        predicates.iter().map(|(word, _)| word).chain(general).map(|word| fold(word)).collect()
    });
    WORDS.contains(word)
}

/// Characters that form questions in a script without spaces. Source: own choice, pronouns and particles.
const JOINTS: &str = "我你您他她它们咱哪谁什么吗呢吧啊在是的了有几多少怎样和跟现目前叫私僕誰何どのですか나내저우리누구무엇어디은는이가";

/// Whether a term only joins the words of a question in such a script, and has no content.
fn is_joint(term: &str) -> bool {
    term.chars().any(|letter| JOINTS.contains(letter))
}

/// Returns the keys of candidate names: up to five adjacent words, and in scripts that do not separate words two to
/// four characters.
fn keys(text: &str, language: Language) -> Vec<String> {
    let trimmed = |word: &'_ str| {
        let marks = |c: char| !c.is_alphanumeric();
        word.trim_matches(marks).to_owned()
    };
    let words: Vec<String> = text.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect();
    let mut found = NameKeys::default();
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
struct NameKeys {
    keys: Vec<String>,
}

impl NameKeys {
    fn add(&mut self, name: &str) {
        for kind in [EntityKind::Person, EntityKind::Organization] {
            let key = name_key(name, kind);
            if !key.is_empty() && self.keys.len() < MOST_KEYS && !self.keys.contains(&key) {
                self.keys.push(key);
            }
        }
    }
}

/// Whether a word holds script that does not separate words, or that attaches endings to names.
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
        QueryAnalysis::read(text).keys.iter().any(|known| known == key)
    }

    #[test]
    fn a_word_that_asks_for_a_fact_is_no_name() {
        for (text, key) in [("¿Dónde vivo ahora?", "vivo"), ("Wo arbeitet sie?", "arbeitet")] {
            assert!(!has(text, key), "{text}");
        }
        assert!(has("¿Dónde vive Maite ahora?", "maite") && has("Où est né Vivant ?", "vivant"));
        assert!(has("Where does Nora live?", "nora"), "a word for a role of another language");
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
            assert!(has(text, key), "{text}: {:?}", QueryAnalysis::read(text).keys);
        }
        assert!(!has("Joanne left", "ann") && !has("is Al in", "al") && !has("where is the key", "the"));
        assert!(QueryAnalysis::read(&"word one two three ".repeat(200)).keys.len() <= MOST_KEYS);
    }

    #[test]
    fn questions_about_the_past_look_back_and_others_do_not() {
        for text in
            ["Where did Ann live before?", "Wo hat sie früher gewohnt?", "她以前住在哪里？", "former job"]
        {
            assert!(QueryAnalysis::read(text).looks_back, "{text}");
        }
        for text in ["Where does Ann live?", "performer", "Is it in the ancienneté list?", "她住在哪里？"]
        {
            assert!(!QueryAnalysis::read(text).looks_back, "{text}");
        }
    }
}
