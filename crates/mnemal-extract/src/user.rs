//! Test for notes about the user.

/// Words for the user in a note, and the first person, in the languages of claims. Source: own choice.
const USER: &[&str] = &[
    "user",
    "user's",
    "i",
    "i'm",
    "i've",
    "i'd",
    "my",
    "benutzer",
    "benutzerin",
    "nutzer",
    "nutzerin",
    "ich",
    "mein",
    "meine",
    "l'utilisateur",
    "l'utilisatrice",
    "utilisateur",
    "utilisatrice",
    "je",
    "j'ai",
    "j'aime",
    "mon",
    "ma",
    "mes",
    "usuario",
    "usuaria",
    "yo",
    "soy",
    "tengo",
    "mi",
    "mis",
    "usuário",
    "usuária",
    "utilizador",
    "utilizadora",
    "eu",
    "sou",
    "tenho",
    "meu",
    "minha",
    "meus",
    "minhas",
];
/// Openers of a note with an omitted subject, as in "Prefers window seats". Source: memories that mem0 generates.
const LEFT_OUT: &[&str] = &[
    "avoids", "dislikes", "enjoys", "has", "hates", "is", "likes", "lives", "loves", "name", "needs", "owns",
    "prefers", "speaks", "studies", "wants", "works",
];
/// Articles before a word for the user.
const ARTICLES: &[&str] = &["the", "der", "die", "le", "la", "el", "o"];
/// Note openers in scripts without spaces.
const GLUED: [&str; 8] = ["用户", "使用者", "我", "ユーザー", "私", "사용자", "저는", "나는"];

/// Returns whether a note is about the user: whether its first words are a word for the user, the first person, or a verb
/// without a subject.
///
/// Meant for texts that were stored on purpose, one or two sentences each; for conversation it is unreliable.
///
/// ```
/// use mnemal_extract::concerns_user;
///
/// assert!(concerns_user("The user is allergic to walnuts."));
/// assert!(concerns_user("Prefers window seats on flights"));
/// assert!(!concerns_user("Deploys happen on Tuesdays"));
/// assert!(!concerns_user("Is the staging server up?"));
/// ```
#[must_use]
pub fn concerns_user(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    if GLUED.iter().any(|opener| text.starts_with(opener)) {
        return !is_question(text);
    }
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '.' | '?' | '!'));
    let first = words.next().unwrap_or_default();
    let is_told = if is_one_of(ARTICLES, first) {
        is_one_of(USER, words.next().unwrap_or_default())
    } else {
        is_one_of(USER, first) || is_one_of(LEFT_OUT, first)
    };
    is_told && !is_question(text)
}

fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？'])
}

fn is_one_of(words: &[&str], word: &str) -> bool {
    /// More bytes than any of them has, with a typographic apostrophe.
    const LONGEST: usize = 20;
    if word.is_empty() || word.len() > LONGEST {
        return false;
    }
    let word = word.to_lowercase().replace('\u{2019}', "'");
    words.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_about_the_user_are_told_from_others() {
        for note in [
            "User lives in Porto with two kids, Ana and Rui",
            "the user's dog is called Rex",
            "- User: prefers short answers",
            "I'm allergic to walnuts",
            "I\u{2019}m vegan",
            "My sister Anna is a nurse",
            "Likes hiking",
            "Name is John",
            "Der Nutzer wohnt in Graz",
            "L'utilisateur travaille à Lyon",
            "El usuario es alérgico a las nueces",
            "用户对核桃过敏",
            "ユーザーはベジタリアンです",
        ] {
            assert!(concerns_user(note), "{note}");
        }
        for note in [
            "",
            "?",
            "Deploys happen on Tuesdays",
            "Usernames are case-insensitive",
            "The API key is rotated monthly",
            "A user table has an index on e-mail",
            "Is it deployed?",
            "Anna's birthday is 4 May",
            "我们什么时候部署？",
        ] {
            assert!(!concerns_user(note), "{note}");
        }
    }
}
