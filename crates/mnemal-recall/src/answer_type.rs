//! Answer type of a question: requested predicates, entity kinds, and numbers. English only.

use std::collections::HashMap;
use std::sync::LazyLock;

use mnemal_core::EntityKind;

/// Words that ask for the statement of a predicate, with its predicates.
///
/// Source: own choice, from the labels of the predicates and their synonyms; `bench signals` measures the benefit.
const PREDICATES: [(&str, &str); 31] = [
    (
        "likes",
        "like love enjoy favourite favorite hobby hobbies interest interests interested passion passionate fan relax \
         destress de-stress reliever",
    ),
    ("favourite", "like love enjoy favourite favorite"),
    ("prefers", "prefer preference like favourite favorite kind"),
    ("dislikes", "dislike hate frustrates frustration annoy avoid"),
    (
        "did",
        "do done did activity activities event events participate participated participating hobby hobbies promote made \
         make steps exercise exercises tried try organized",
    ),
    (
        "attended",
        "attend attended event events class classes participate participated participating activity activities join \
         joined go workshop conference seen",
    ),
    (
        "studies",
        "study studies studying class classes course courses subject learn learning degree field major education \
         activity activities hobby hobbies",
    ),
    ("studies_at", "study school university college"),
    (
        "acquired",
        "buy bought purchase purchased item items get got adopt adopted own owned equipment equipments new",
    ),
    ("owns", "own owned have has car cars item items equipment drive drives"),
    (
        "visited",
        "visit visited visiting travel traveled travelled go been where country countries city cities state states \
         place places trip trips vacation vacationed area areas roadtrip roadtrips",
    ),
    ("lives_in", "live lives lived where from move moved home country city address"),
    ("works_at", "work works job company career employer organization profession"),
    ("role", "role job career position title profession work"),
    ("works_on", "work working project projects app build building developing"),
    ("member_of", "member group club join joined community team organization"),
    ("plan", "plan planning plans planned going future next upcoming want"),
    ("goal", "goal goals plan plans dream dreams want ambition hope future aim motivates motivated"),
    ("decided", "decide decided choose chose decision pursue career"),
    (
        "achieved",
        "achieve achieved achievement win won accomplish accomplished milestone event events tournament tournaments",
    ),
    (
        "habit",
        "often usually routine habit habits practice regularly activity activities recurring exercise exercises hobby \
         hobbies do",
    ),
    ("skill", "play plays skill skills instrument instruments speak language languages know can able"),
    ("pet", "pet pets dog dogs cat cats puppy animal animals names"),
    (
        "relative",
        "family child children kid kids son daughter brother sister mother father parents relative relatives \
         grandmother grandfather names",
    ),
    (
        "partner",
        "partner husband wife married boyfriend girlfriend relationship spouse status woman bride marriage wedding",
    ),
    ("knows", "friend friends met know meet people colleague colleagues who"),
    (
        "health",
        "health ill illness injured injury ailment ailments sick condition medical diet scare incidents problem \
         problems",
    ),
    ("age", "old age birthday born"),
    ("name", "name names called"),
    ("deadline", "deadline due when date"),
    ("uses", "use uses used using tool tools app framework library version"),
];

/// Words that ask for an entity of a kind. Source: own choice.
const KINDS: [(EntityKind, &str); 7] = [
    (
        EntityKind::Location,
        "where country countries city cities state states place places area areas visited",
    ),
    (
        EntityKind::Work,
        "book books novel novels game games movie movies film films song songs series show shows read seen",
    ),
    (EntityKind::Person, "who whom people friends names children kids artists bands musical name"),
    (EntityKind::Animal, "pet pets dog dogs cat cats animals names"),
    (EntityKind::Organization, "organization organizations company club shelter shelters team bar"),
    (EntityKind::Event, "event events tournament festival conference concert"),
    (EntityKind::Product, "equipment equipments item items car brand device gadget tool"),
];

/// Words that ask for a number, in addition to "how many" and similar. Source: own choice.
const NUMBERS: &str = "average rate percentage percent price cost budget score accuracy number amount count total salary size \
                       height weight age speed quota target";

/// A predicate that a question can ask for, as a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PredicateBit(u64);

impl PredicateBit {
    /// The bit of this predicate, if a question can ask for it.
    pub(crate) fn of(predicate: &str) -> Option<Self> {
        PREDICATES.iter().position(|(name, _)| *name == predicate).map(|place| Self(1 << place))
    }
}

/// The answer types that the words of a question ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AnswerType {
    /// One bit per predicate of the table.
    predicates: u64,
    /// One bit per kind of the table.
    kinds: u8,
    /// A number; 0 or 1.
    numbers: u8,
}

/// The answer types of each word.
static WORDS: LazyLock<HashMap<&'static str, AnswerType>> = LazyLock::new(|| {
    let mut words: HashMap<&str, AnswerType> = HashMap::new();
    let mut add = |list: &'static str, wanted: AnswerType| {
        for word in list.split_ascii_whitespace() {
            words.entry(word).or_default().join(wanted);
        }
    };
    for (place, (_, list)) in PREDICATES.iter().enumerate() {
        add(list, AnswerType { predicates: 1 << place, ..AnswerType::default() });
    }
    for (place, (_, list)) in KINDS.iter().enumerate() {
        add(list, AnswerType { kinds: 1 << place, ..AnswerType::default() });
    }
    add(NUMBERS, AnswerType { numbers: 1, ..AnswerType::default() });
    words
});

impl AnswerType {
    /// Analyzes a question.
    pub(crate) fn read(text: &str) -> Self {
        let mut wanted = Self::default();
        for word in words(text) {
            wanted.join(WORDS.get(word.as_str()).copied().unwrap_or_default());
        }
        wanted
    }

    fn join(&mut self, other: Self) {
        self.predicates |= other.predicates;
        self.kinds |= other.kinds;
        self.numbers |= other.numbers;
    }

    /// Whether it asks for a number.
    pub(crate) fn is_number(self) -> bool {
        self.numbers > 0
    }

    /// Whether the graph can hold the answer.
    pub(crate) fn is_of_graph(self) -> bool {
        self.predicates > 0 || self.kinds > 0
    }

    /// Whether it asks for facts with this predicate.
    pub(crate) fn has_fact(self, predicate: PredicateBit) -> bool {
        self.predicates & predicate.0 > 0
    }

    /// Whether it asks for an entity of this kind.
    pub(crate) fn has_kind(self, kind: EntityKind) -> bool {
        let place = KINDS.iter().position(|(known, _)| *known == kind);
        place.is_some_and(|place| self.kinds >> place & 1 == 1)
    }
}

/// The words in lowercase, without possessive endings.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let split = text.split(|c: char| !c.is_alphabetic() && !matches!(c, '\'' | '’' | '-'));
    let plain = |word: &str| -> String {
        let word = word.to_lowercase();
        let bare = ["'s", "’s"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(&word);
        bare.trim_matches(['\'', '’', '-']).to_owned()
    };
    split.filter(|word| !word.is_empty()).map(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(question: &str) -> (Vec<&'static str>, Vec<EntityKind>) {
        let wanted = AnswerType::read(question);
        let names = PREDICATES.iter().map(|(name, _)| *name);
        let asked = names.filter(|name| PredicateBit::of(name).is_some_and(|asked| wanted.has_fact(asked)));
        (asked.collect(), EntityKind::ALL.into_iter().filter(|kind| wanted.has_kind(*kind)).collect())
    }

    #[test]
    fn a_question_names_predicates_and_kinds_by_whole_words() {
        assert_eq!(wants("What are Anna’s pets' colours?"), (vec!["pet"], vec![EntityKind::Animal]));
        assert_eq!(wants("Where does Ben live?"), (vec!["visited", "lives_in"], vec![EntityKind::Location]));
        assert_eq!(wants("Which BOOK is it?"), (vec![], vec![EntityKind::Work]));
        assert_eq!(wants("Bookkeeping, liveliness?"), (vec![], vec![]));
        assert!(!AnswerType::read("Warum nicht?").is_of_graph() && PredicateBit::of("pronouns").is_none());
    }

    #[test]
    fn a_rate_and_a_budget_are_numbers() {
        for (question, number) in
            [("What is my budget?", true), ("what RATE did it reach", true), ("Who rates it?", false)]
        {
            assert_eq!(AnswerType::read(question).is_number(), number, "{question}");
        }
    }

    #[test]
    fn every_predicate_of_the_table_is_one() {
        for (name, _) in PREDICATES {
            assert!(mnemal_extract::predicate::of(name).is_some(), "{name}");
        }
    }
}
