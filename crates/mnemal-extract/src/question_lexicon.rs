//! Question words for facts: one table for all languages, because a question may be in another language than its answer.

use std::borrow::Cow;
use std::sync::OnceLock;

use mnemal_core::Result;

use crate::predicate;
use crate::section::PackFile;

/// The section of words that need no further question word.
const GENERAL: &str = "general";
/// The section of words that tell of a change.
const CHANGES: &str = "changes";
/// The section of words that ask for names.
const NAMING: &str = "naming";
/// The section of phrases that stand for a word.
const IDIOMS: &str = "idioms";
/// What the sections of the kinds of contact begin with, and their predicate.
const CONTACTS: &str = "contact_";
const CONTACT: &str = "contact";
/// The packs with role names.
const ROLES: [&str; 6] = [
    include_str!("../packs/en/claims.toml"),
    include_str!("../packs/de/claims.toml"),
    include_str!("../packs/es/claims.toml"),
    include_str!("../packs/fr/claims.toml"),
    include_str!("../packs/pt/claims.toml"),
    include_str!("../packs/zh/claims.toml"),
];

/// Question words for facts, in every language.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct QuestionWords {
    /// A word, and the predicate that it asks for.
    pub predicates: Vec<(String, &'static str)>,
    /// A word, and the kind of contact that it asks for: `phone`, `mail`.
    pub contacts: Vec<(String, String)>,
    /// A role word of one language, and the role's name in facts: `hermana` and `sister`.
    pub roles: Vec<(String, String)>,
    /// Words that need no further question word: `now`, `called`.
    pub general: Vec<String>,
    /// Words of a statement that puts something in the place of what was said before: `now`, `moved`.
    pub changes: Vec<String>,
    /// Words that ask for names: `heißen`. A fact about somebody is a name; a turn may lack one.
    pub naming: Vec<String>,
    /// Phrases of which no word is meant, with what they ask for: `for a living` and `job`.
    pub idioms: Vec<(String, String)>,
}

/// Returns a question with plain words in place of idioms: "What do I do for a living?" asks for the job and for no home.
pub fn without_idioms(question: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(question);
    for (idiom, word) in &question_words().idioms {
        let at = plain.to_ascii_lowercase().find(idiom.as_str());
        let Some((before, behind)) =
            at.and_then(|at| Some((plain.get(..at)?, plain.get(at + idiom.len()..)?)))
        else {
            continue;
        };
        let is_inside = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
        if !is_inside(before.chars().next_back()) && !is_inside(behind.chars().next()) {
            plain = Cow::Owned(format!("{before}{word}{behind}"));
        }
    }
    plain
}

/// Returns the question words for facts, loaded once.
pub fn question_words() -> &'static QuestionWords {
    static WORDS: OnceLock<QuestionWords> = OnceLock::new();
    WORDS.get_or_init(|| read().expect("the tables are read by a test"))
}

fn read() -> Result<QuestionWords> {
    let mut words = QuestionWords::default();
    let file = PackFile::parse(include_str!("../packs/questions.toml"))?;
    let root = file.root();
    for name in root.keys() {
        let Some(section) = root.section(name)? else { continue };
        let contact = name.strip_prefix(CONTACTS);
        let name = contact.map_or(name, |_| CONTACT);
        for language in section.keys() {
            for word in section.lines(language)? {
                words.contacts.extend(contact.map(|kind| (word.to_owned(), kind.to_owned())));
                match predicate::of(name) {
                    Some(info) => words.predicates.push((word.to_owned(), &info.name)),
                    None if name == GENERAL => words.general.push(word.to_owned()),
                    None if name == IDIOMS => {
                        let (idiom, plain) = word.split_once('=').unwrap_or((word, word));
                        words.idioms.push((idiom.trim().to_owned(), plain.trim().to_owned()));
                    }
                    None if name == NAMING => words.naming.push(word.to_owned()),
                    None if name == CHANGES => words.changes.push(word.to_owned()),
                    None => return Err(mnemal_core::Error::invalid(format!("unknown predicate {name}"))),
                }
            }
        }
    }
    for pack in ROLES {
        let file = PackFile::parse(roles_of(pack))?;
        let groups = file.root();
        for group in groups.keys() {
            for line in groups.lines(group)? {
                let (forms, role) = line.split_once('=').unwrap_or((line, line));
                let role = role.trim();
                let role = role.strip_suffix(" f").or_else(|| role.strip_suffix(" m")).unwrap_or(role);
                // Of "hermana ?mayor|menor" the first word is the role, whatever may follow it.
                let forms =
                    if forms.contains('?') { forms.split(' ').next().unwrap_or_default() } else { forms };
                let single = forms.split('|').map(str::trim).filter(|form| !form.contains([' ', '_']));
                words.roles.extend(single.map(|form| (form.to_owned(), role.to_owned())));
            }
        }
    }
    Ok(words)
}

/// Returns the part of a pack that names roles; the rest of it is long, and no question needs it.
fn roles_of(pack: &str) -> &str {
    let behind = pack.split_once("[subject.roles]\n").map_or("", |(_, behind)| behind);
    behind.split_once("\n[").map_or(behind, |(roles, _)| roles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idiom_is_read_as_what_it_asks_for() {
        assert_eq!(without_idioms("What does Ben do for a living?"), "What does Ben work job?");
        assert_eq!(without_idioms("O que ela faz na vida?"), "O que ela faz profissão?");
        for text in ["Where do I live?", "I asked for a living wage", "for a livingroom"] {
            let is_kept = without_idioms(text) == text;
            assert_eq!(is_kept, text != "I asked for a living wage", "{text}");
        }
    }

    #[test]
    fn the_tables_are_read_and_name_predicates_and_roles_of_each_language() {
        let words = question_words();
        let asks = |word: &str, predicate: &str| {
            words.predicates.iter().any(|(known, of)| known == word && *of == predicate)
        };
        for (word, predicate) in
            [("wohne", "lives_in"), ("métier", "role"), ("生日", "birthday"), ("mascota", "pet")]
        {
            assert!(asks(word, predicate), "{word}");
        }
        for (word, role) in
            [("schwester", "sister"), ("hermanas", "sister"), ("mère", "mother"), ("妹妹", "sister")]
        {
            let is_known = words.roles.iter().any(|(known, of)| known == word && of == role);
            assert!(is_known, "{word}");
        }
        assert!(words.general.iter().any(|word| word == "ahora"));
    }
}
