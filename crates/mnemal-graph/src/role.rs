//! What somebody is for somebody: which roles can be those of one person.

/// Words of kin. Source: the roles of the predicate `relative`, EXTRACTION 5.
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
/// Other words for a role of kin, and the word that counts. Source: own choice.
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
/// Words for whoever does a job for somebody. Source: own choice, from the roles of the packs for claims.
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
/// Words for the one with whom somebody lives. Source: the roles of the predicate `partner`.
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

/// What a role says of the one who has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Kin,
    Partner,
    Animal,
    /// Friends, colleagues, neighbours, and whoever does a job for somebody.
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

/// Returns the word that stands for a role: small letters, one word for mum and mother.
pub(crate) fn normal(role: &str) -> String {
    let role = role.trim().to_lowercase();
    OTHER_WORDS.iter().find(|(word, _)| *word == role).map_or(role, |(_, counts)| (*counts).to_owned())
}

/// Whether one can have both roles for the same person: a sister is no brother and no colleague, a boss may be a friend.
pub(crate) fn agree(one: &str, other: &str) -> bool {
    one == other
        || match (group(one), group(other)) {
            (Group::Animal, Group::Animal) => one == "pet" || other == "pet",
            (Group::Partner | Group::Other, Group::Partner | Group::Other) => true,
            _ => false,
        }
}

/// Whether somebody in a role serves another by his work, so that he is in it no more when he retires.
pub(crate) fn is_of_servant(role: &str) -> bool {
    SERVANTS.contains(&normal(role).as_str())
}

/// Whether a role belongs to an animal.
pub(crate) fn is_animal(role: &str) -> bool {
    group(role) == Group::Animal
}

/// Returns the predicate with which somebody has one in this role.
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
    }
}
