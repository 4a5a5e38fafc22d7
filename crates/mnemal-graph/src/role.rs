//! Roles between people, and which of them one person can hold.

/// Words for relatives. Source: the roles of the predicate `relative`.
const KIN: [&str; 34] = [
    "mother",
    "father",
    "parent",
    "sister",
    "brother",
    "sibling",
    "son",
    "daughter",
    "child",
    "grandmother",
    "grandfather",
    "grandparent",
    "grandson",
    "granddaughter",
    "grandchild",
    "aunt",
    "uncle",
    "cousin",
    "niece",
    "nephew",
    "stepmother",
    "stepfather",
    "stepsister",
    "stepbrother",
    "half-sister",
    "half-brother",
    "mother-in-law",
    "father-in-law",
    "sister-in-law",
    "brother-in-law",
    "son-in-law",
    "daughter-in-law",
    "godmother",
    "godfather",
];
/// Synonyms of relative roles, and the canonical word. Source: own choice.
const OTHER_WORDS: [(&str, &str); 16] = [
    ("mom", "mother"),
    ("mum", "mother"),
    ("mama", "mother"),
    ("dad", "father"),
    ("papa", "father"),
    ("kid", "child"),
    ("grandma", "grandmother"),
    ("granny", "grandmother"),
    ("nana", "grandmother"),
    ("grandpa", "grandfather"),
    ("granddad", "grandfather"),
    ("auntie", "aunt"),
    ("bro", "brother"),
    ("sis", "sister"),
    ("hubby", "husband"),
    ("puppy", "dog"),
];
/// Words for people who provide a service. Source: own choice, from the roles of the claim packs.
const SERVANTS: [&str; 22] = [
    "doctor",
    "dentist",
    "therapist",
    "physiotherapist",
    "physio",
    "psychologist",
    "hairdresser",
    "barber",
    "lawyer",
    "accountant",
    "vet",
    "trainer",
    "coach",
    "tutor",
    "teacher",
    "optician",
    "gardener",
    "cleaner",
    "nanny",
    "babysitter",
    "midwife",
    "pediatrician",
];
/// Words for people who are friends of many or stay what they are, whose roles nobody takes over. Source: own choice.
const LASTING: [&str; 14] = [
    "friend",
    "pal",
    "bestie",
    "bff",
    "ex",
    "acquaintance",
    "neighbor",
    "neighbour",
    "classmate",
    "godson",
    "goddaughter",
    "godchild",
    "godmother",
    "godfather",
];
/// Words for partners. Source: the roles of the predicate `partner`.
const PARTNERS: [&str; 11] = [
    "partner",
    "wife",
    "husband",
    "spouse",
    "girlfriend",
    "boyfriend",
    "fiancé",
    "fiancée",
    "fiance",
    "fiancee",
    "significant other",
];
/// Words for animals. Source: the most frequent roles of the predicate `pet`.
const ANIMALS: [&str; 24] = [
    "pet",
    "dog",
    "cat",
    "horse",
    "pony",
    "bird",
    "parrot",
    "rabbit",
    "hamster",
    "fish",
    "turtle",
    "kitten",
    "guinea pig",
    "snake",
    "lizard",
    "greyhound",
    "budgie",
    "canary",
    "tortoise",
    "goldfish",
    "ferret",
    "rat",
    "mouse",
    "chinchilla",
];

/// The group of a role's bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Kin,
    Partner,
    Animal,
    /// Friends, colleagues, neighbors, and service providers.
    Other,
}

fn group(role: &str) -> Group {
    if KIN.contains(&role) {
        Group::Kin
    } else if PARTNERS.contains(&role) {
        Group::Partner
    } else if ANIMALS.contains(&role) {
        Group::Animal
    } else {
        Group::Other
    }
}

/// Returns the canonical form of a role: lowercase, one word for mum and mother.
pub(crate) fn normal(role: &str) -> String {
    let role = role.trim().to_lowercase();
    OTHER_WORDS.iter().find(|(word, _)| *word == role).map_or(role, |(_, counts)| (*counts).to_owned())
}

/// Whether one person can have both roles for another: a sister is no brother and no colleague, a boss may be a friend.
pub(crate) fn agree(one: &str, other: &str) -> bool {
    one == other
        || match (group(one), group(other)) {
            (Group::Animal, Group::Animal) => one == "pet" || other == "pet",
            (Group::Partner | Group::Other, Group::Partner | Group::Other) => true,
            _ => false,
        }
}

/// Whether a role is a service that ends with retirement.
pub(crate) fn is_of_servant(role: &str) -> bool {
    SERVANTS.contains(&normal(role).as_str())
}

/// Whether a role can pass from one person to another: a doctor's or a boss's, but no friend's.
pub(crate) fn passes_on(role: &str) -> bool {
    group(role) == Group::Other && !LASTING.contains(&role)
}

/// Whether a role belongs to an animal.
pub(crate) fn is_animal(role: &str) -> bool {
    group(role) == Group::Animal
}

/// Returns the predicate of the relation to the bearer of a role.
pub(crate) fn predicate(role: &str) -> &'static str {
    match group(role) {
        Group::Kin => "relative",
        Group::Partner => "partner",
        Group::Animal => "pet",
        Group::Other => "knows",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_of_one_person_agree_and_others_do_not() {
        assert!(agree("wife", "partner") && agree("boss", "friend") && agree("sister", "sister"));
        assert!(!agree("sister", "brother") && !agree("sister", "colleague") && !agree("dog", "cat"));
        assert_eq!((normal("Mum").as_str(), normal("vet").as_str()), ("mother", "vet"));
        let predicates = ["sister", "wife", "dog", "boss"].map(predicate);
        assert_eq!(predicates, ["relative", "partner", "pet", "knows"]);
        assert!(passes_on("dentist") && passes_on("boss") && !passes_on("friend") && !passes_on("sister"));
    }
}
