//! The subject of a question, and whether a statement is about somebody else: "Where do I live?" is not answered by "My sister
//! lives in Dover", though they share their words.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use mnemal_core::{EntityKind, Gazetteer};
use mnemal_extract::{is_imagined, language, mentions, question, question_words};
use mnemal_text::{fold, sentences};

use crate::role;

/// Words that are the speaker as a subject, folded; in some languages the verb alone. Source: own choice.
const SPEAKER: &str = "i we ich wir je j nous yo nosotros nosotras eu nos 我 vivo trabajo tengo soy estoy sigo moro trabalho \
                       tenho sou estou";
/// Words for the user of an agent that asks, folded. Source: own choice.
const USER: &str =
    "user nutzer nutzers nutzerin benutzer benutzers utilisateur utilisatrice usuario usuaria utilizador";
/// Other words for the speaker, folded. Source: own choice.
const SPEAKER_TOO: &str = "me us mich mir uns moi conmigo comigo mim myself mine ourselves";
/// Words by which something is the speaker's, folded. Source: own choice.
const OWN: &str = "my our mein meine meinen meinem meiner meines unser unsere unseren unserem unserer mon ma mes notre nos mi mis \
                   nuestro nuestra nuestros nuestras meu minha meus minhas nosso nossa nossos nossas 我";
/// Words by which something is another one's, folded. Source: own choice.
const THEIRS: &str = "his her their sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer son sa ses leur leurs su sus seu sua \
                      dele dela deles 他 她";
/// Words for other people as a subject, folded. Source: own choice.
const OTHER: &str = "he she they er sie il elle ils elles ella ellos ellas ele ela eles elas 他 她";
/// Words that begin a clause about the person before it, folded. Source: own choice.
const RELATIVE: &str = "who der die qui que quien";
/// Words between a thing and its owner, folded. Source: own choice.
const OF: &str = "of von vom der de du des d del da do dos das 的";
/// Small words between a subject and what it does, folded. Source: own choice.
const BETWEEN: &str = "is s am are was were has have had also now still just ist sind war hat habe auch jetzt noch est sont a ai aussi \
                       es esta son tiene tambien e está tem tambem 也 在 是 有";
/// Words that join two people, folded. Source: own choice.
const JOINS: &str = "and und et y e 和 跟 与 及";
/// Words between an owner word and a role: "my older sister". Source: own choice.
const ADJECTIVES: usize = 2;
/// Words from the start of a sentence among which its subject begins. Source: own choice, "last week my mother …".
const OPENING: usize = 3;
/// Words behind a subject among which its verb is looked for. Source: own choice.
const REACH: usize = 3;
/// Words behind such a subject within a sentence among which its verb is looked for. Source: own choice; in German it stands last.
const CLAUSE: usize = 6;
/// First letters that two forms of a word share at least. Source: own choice, "moro" and "mora".
const ROOT: usize = 3;
/// Letters of such a form behind those at most. Source: own choice, "wohne" and "wohnt", "trabaja" and "trabajamos".
const ENDING: usize = 3;

/// The words that are looked up here, and the roles by their words in every language.
struct SubjectLexicon {
    speaker: HashSet<String>,
    user: HashSet<String>,
    speaker_too: HashSet<String>,
    own: HashSet<String>,
    theirs: HashSet<String>,
    other: HashSet<String>,
    relative: HashSet<String>,
    of: HashSet<String>,
    between: HashSet<String>,
    joins: HashSet<String>,
    roles: HashMap<String, String>,
    /// Most characters of a role of a script without spaces.
    longest_run: usize,
}

static LEXICON: LazyLock<SubjectLexicon> = LazyLock::new(|| {
    let list = |words: &str| words.split_whitespace().map(fold).collect();
    let roles: HashMap<String, String> =
        question_words().roles.iter().map(|(word, role)| (fold(word), role::normal(role))).collect();
    let runs = roles.keys().filter(|word| word.chars().all(is_sign)).map(|word| word.chars().count());
    let longest_run = runs.max().unwrap_or_default();
    SubjectLexicon {
        speaker: list(SPEAKER),
        user: list(USER),
        speaker_too: list(SPEAKER_TOO),
        own: list(OWN),
        theirs: list(THEIRS),
        other: list(OTHER),
        relative: list(RELATIVE),
        of: list(OF),
        between: list(BETWEEN),
        joins: list(JOINS),
        roles,
        longest_run,
    }
});

/// Whether a character is a word of its own, as those of Chinese.
fn is_sign(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{9fff}')
}

/// A word, with its place in the text.
#[derive(Clone, Debug)]
struct PlacedWord {
    folded: String,
    start: usize,
}

/// Returns the words of a text, with a possessive "'s" and an elided article as words of their own; a role of a script without
/// spaces is one word, and each other character of it.
fn words(text: &str) -> Vec<PlacedWord> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        if !first.is_alphanumeric() {
            continue;
        }
        let mut end = start + first.len_utf8();
        if is_sign(first) {
            let run: String =
                text.get(start..).unwrap_or_default().chars().take(LEXICON.longest_run).collect();
            let is_role = |length: &usize| {
                let word: String = run.chars().take(*length).collect();
                LEXICON.roles.contains_key(&word)
            };
            let length = (2..=run.chars().count()).rev().find(is_role).unwrap_or(1);
            end = start + run.chars().take(length).map(char::len_utf8).sum::<usize>();
        }
        while let Some((at, letter)) = rest.peek().copied() {
            let goes_on =
                if is_sign(first) { at < end } else { letter.is_alphanumeric() && !is_sign(letter) };
            if !goes_on {
                break;
            }
            end = at + letter.len_utf8();
            rest.next();
        }
        found.push(PlacedWord { folded: fold(text.get(start..end).unwrap_or_default()), start });
    }
    found
}

/// Whom a question or a part of a statement is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Party {
    Speaker,
    /// One of the speaker's people or animals, by its role.
    Role(String),
    /// Somebody by name, folded.
    Named(String),
    /// Somebody else.
    Other,
}

impl Party {
    /// Whether what is told of another party is told of somebody else.
    fn excludes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Speaker, other) => *other != Self::Speaker,
            (Self::Role(role), Self::Role(other)) => !is_same_role(role, other),
            // Whoever has a role may be told of by name, and whoever has a name by a role.
            (Self::Role(_) | Self::Named(_), Self::Speaker) | (Self::Named(_), Self::Named(_)) => true,
            _ => false,
        }
    }
}

/// The subject of a question that its asker puts, in any supported language.
#[derive(Clone, Debug)]
pub struct AskedSubject {
    /// `None` where it is of several, or of nobody.
    party: Option<Party>,
    /// Its names, folded.
    names: Vec<String>,
    /// Its other words, folded.
    words: Vec<String>,
    /// Things that are the subject's: "birthday" of "my birthday".
    things: Vec<String>,
    /// Whether it asks for what is only imagined.
    is_imagined: bool,
}

impl AskedSubject {
    /// Reads a question.
    #[must_use]
    pub fn of(asked: &str) -> Self {
        let said = Reading::of(asked);
        // Other languages write nouns with capitals, or begin with words that no list of English ones knows.
        let names: Vec<String> = if language(asked) == "en" {
            question(asked).names.iter().map(|name| fold(name)).collect()
        } else {
            said.names.iter().map(|(.., name)| name.clone()).collect()
        };
        let is_named =
            |word: &&PlacedWord| names.iter().any(|name| name.split(' ').any(|part| part == word.folded));
        let roles = said.own_roles();
        let is_of_speaker =
            |word: &PlacedWord| LEXICON.speaker.contains(&word.folded) || LEXICON.user.contains(&word.folded);
        let is_speaker =
            said.words.iter().any(is_of_speaker) && said.owners().all(|at| said.role_behind(at).is_none());
        let things: Vec<String> = match (roles.as_slice(), names.as_slice()) {
            ([], []) => said.owners().flat_map(|at| said.things_behind(at)).collect(),
            _ => said.things_of_others(),
        };
        // Of "my sister's husband" neither role is the whole answer.
        let is_of_several = things.iter().any(|thing| LEXICON.roles.contains_key(thing));
        let party = match (roles.as_slice(), names.as_slice()) {
            _ if is_of_several => None,
            ([], []) if is_speaker || !things.is_empty() => Some(Party::Speaker),
            ([role], _) => Some(Party::Role(role.clone())),
            ([], [name]) if !is_speaker => Some(Party::Named(name.clone())),
            _ => None,
        };
        let words = said.words.iter().filter(|word| !is_named(word)).map(|word| word.folded.clone());
        let words = words.filter(|word| !is_small(word)).collect();
        Self { party, names, words, things, is_imagined: is_imagined(asked) }
    }

    /// Whether a statement of the asker tells of somebody else what is asked, and nothing of whom it is asked.
    #[must_use]
    pub fn is_missed_by(&self, statement: &str) -> bool {
        let Some(party) = &self.party else { return false };
        if !self.is_imagined && self.is_only_imagined(statement) {
            return true;
        }
        let mut is_of_another = false;
        for sentence in sentences(statement) {
            let said = Reading::of(sentence.of(statement));
            if self.mentions_subject(&said, party) || self.is_about_own_thing(&said) {
                return false;
            }
            is_of_another |= said.parties(self).iter().any(|other| party.excludes(other));
        }
        is_of_another
    }

    /// Whether a statement only imagines what is asked: "If I lived in Malta, …".
    fn is_only_imagined(&self, statement: &str) -> bool {
        let said = sentences(statement).into_iter().map(|sentence| sentence.of(statement));
        let (imagined, real): (Vec<&str>, Vec<&str>) = said.partition(|sentence| is_imagined(sentence));
        let is_asked = |sentence: &&str| words(sentence).iter().any(|word| self.asks(&word.folded));
        !imagined.is_empty()
            && (real.is_empty() || imagined.iter().any(is_asked) && !real.iter().any(is_asked))
    }

    /// Whether a sentence names whom the question is about, in any place.
    fn mentions_subject(&self, said: &Reading, party: &Party) -> bool {
        let has_name = said
            .words
            .iter()
            .any(|word| self.names.iter().any(|name| name.split(' ').any(|part| part == word.folded)));
        has_name
            || match party {
                Party::Speaker => said.has_speaker(),
                Party::Role(role) => said.roles().any(|other| role::agree(role, other)),
                Party::Named(_) | Party::Other => false,
            }
    }

    /// Whether a sentence tells of the asked thing as the asker's: "Oskar gave the drill back".
    fn is_about_own_thing(&self, said: &Reading) -> bool {
        let is_asked = |at: &usize| self.things.iter().any(|thing| are_forms(thing, said.word(*at)));
        let is_own = |at: usize| {
            let before = at.checked_sub(1).map_or("", |before| said.word(before));
            let is_known = before == "the" && !LEXICON.of.contains(said.word(at + 1));
            is_known || LEXICON.own.contains(before)
        };
        matches!(self.party, Some(Party::Speaker)) && (0..said.words.len()).filter(is_asked).any(is_own)
    }

    fn asks(&self, word: &str) -> bool {
        self.words.iter().any(|asked| are_forms(asked, word))
    }
}

/// Whether one role may be another word for a second: a parent is a mother, and a colleague may be a friend.
fn is_same_role(one: &str, other: &str) -> bool {
    const GENERAL: [&str; 12] = [
        "parent",
        "child",
        "sibling",
        "grandparent",
        "grandchild",
        "twin",
        "youngest",
        "eldest",
        "oldest",
        "baby",
        "toddler",
        "little one",
    ];
    role::agree(one, other)
        || role::predicate(one) != role::predicate(other)
        || GENERAL.contains(&one)
        || GENERAL.contains(&other)
}

/// Whether a word asks or joins only.
fn is_small(word: &str) -> bool {
    let is_known = |words: &HashSet<String>| words.contains(word);
    let lists =
        [&LEXICON.speaker_too, &LEXICON.own, &LEXICON.theirs, &LEXICON.other, &LEXICON.of, &LEXICON.between];
    lists.into_iter().any(is_known)
        || word.chars().count() < ROOT && !word.chars().all(is_sign)
        || matches!(word, "what" | "where" | "when" | "which" | "does" | "did" | "the" | "and")
}

/// Whether two words are forms of one.
fn are_forms(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let shared = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let ending = |word: &str| word.chars().count() - shared;
    shared >= ROOT
        && ending(one) <= ENDING
        && ending(other) <= ENDING
        && shared >= ending(one).max(ending(other))
}

/// A sentence with its words and names.
struct Reading {
    words: Vec<PlacedWord>,
    /// The names of people and animals, with the places of their words.
    names: Vec<(usize, usize, String)>,
}

impl Reading {
    fn of(text: &str) -> Self {
        let words = words(text);
        let is_person = |kind: EntityKind| matches!(kind, EntityKind::Person | EntityKind::Animal);
        let people =
            mentions(text, &Gazetteer::default()).into_iter().filter(|mention| is_person(mention.kind));
        let place = |at: u32| words.iter().position(|word| word.start >= at as usize).unwrap_or(words.len());
        let names = people
            .map(|mention| (place(mention.span.start), place(mention.span.end), fold(&mention.name)))
            .collect();
        Self { words, names }
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.folded)
    }

    /// The places of the words for "my", and of the end of "the user's".
    fn owners(&self) -> impl Iterator<Item = usize> + '_ {
        let is_users = |at: usize| {
            self.word(at) == "s" && at.checked_sub(1).is_some_and(|at| LEXICON.user.contains(self.word(at)))
        };
        (0..self.words.len()).filter(move |at| LEXICON.own.contains(self.word(*at)) || is_users(*at))
    }

    /// Returns the role behind "my", with its place.
    fn role_behind(&self, owner: usize) -> Option<(usize, &'static str)> {
        (owner + 1..=owner + 1 + ADJECTIVES)
            .take_while(|at| !LEXICON.joins.contains(self.word(*at)))
            .find_map(|at| Some((at, LEXICON.roles.get(self.word(at))?.as_str())))
    }

    /// The roles that it names, whoever's they are.
    fn roles(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.words.iter().filter_map(|word| LEXICON.roles.get(&word.folded)).map(String::as_str)
    }

    fn own_roles(&self) -> Vec<String> {
        let mut roles: Vec<String> =
            self.owners().filter_map(|at| self.role_behind(at)).map(|(_, role)| role.to_owned()).collect();
        roles.dedup();
        roles
    }

    /// Returns the things behind "my", which are no people.
    fn things_behind(&self, owner: usize) -> Vec<String> {
        if self.role_behind(owner).is_some() {
            return Vec::new();
        }
        let things =
            (owner + 1..=owner + 1 + ADJECTIVES).map(|at| self.word(at)).take_while(|word| !word.is_empty());
        things.filter(|word| !is_small(word)).map(str::to_owned).collect()
    }

    /// Returns the words behind the owner of something: "birthday" of "Anja's birthday", "my sister's birthday".
    fn things_of_others(&self) -> Vec<String> {
        let is_owner = |at: &usize| {
            self.word(*at) == "s" && at.checked_sub(1).is_some_and(|at| !LEXICON.user.contains(self.word(at)))
        };
        let owners = (0..self.words.len()).filter(is_owner);
        let behind = owners.flat_map(|at| at + 1..=at + 1 + ADJECTIVES).map(|at| self.word(at));
        behind.filter(|word| !word.is_empty() && !is_small(word)).map(str::to_owned).collect()
    }

    /// Whether the speaker is in it as anything but the one to whom people belong.
    fn has_speaker(&self) -> bool {
        let is_speaker = |at: usize| {
            let word = self.word(at);
            let is_owner = LEXICON.own.contains(word);
            let is_i = LEXICON.speaker.contains(word) && !(is_owner && self.role_behind(at).is_some());
            is_i && !is_owner
                || LEXICON.speaker_too.contains(word)
                || LEXICON.user.contains(word)
                || is_owner && self.role_behind(at).is_none()
        };
        (0..self.words.len()).any(is_speaker)
    }

    /// Returns who does or has what is asked.
    fn parties(&self, asked: &AskedSubject) -> Vec<Party> {
        let mut found = Vec::new();
        let reported = self.reported().map(|at| (Party::Other, at + 1, true));
        let opening = self.subjects().into_iter().map(|(party, end)| (party, end, false));
        for (party, end, is_reported) in opening.chain(reported) {
            let reach = if is_reported { CLAUSE } else { REACH };
            let does = (end..end + reach).take_while(|at| {
                *at == end
                    || is_reported
                    || LEXICON.between.contains(self.word(at - 1))
                    || self.word(at - 1) == "s"
            });
            let mut does = does.map(|at| self.word(at)).filter(|word| !is_small(word));
            if does.any(|word| asked.asks(word)) {
                found.push(party);
            }
        }
        let things = (0..self.words.len())
            .filter(|at| asked.things.iter().any(|thing| are_forms(thing, self.word(*at))));
        found.extend(things.filter_map(|at| self.owner_of(at)));
        if matches!(asked.party, Some(Party::Role(_))) {
            found.extend(self.roles().map(|role| Party::Role(role.to_owned())));
        }
        found
    }

    /// Returns the people with whom the sentence begins, each with the place behind them.
    fn subjects(&self) -> Vec<(Party, usize)> {
        let mut found = Vec::new();
        for at in 0..self.words.len().min(OPENING) {
            let word = self.word(at);
            if LEXICON.own.contains(word)
                && let Some((place, role)) = self.role_behind(at)
            {
                let named = self.names.iter().find(|(start, ..)| *start == place + 1);
                found.push((Party::Role(role.to_owned()), named.map_or(place + 1, |(_, end, _)| *end)));
            } else if LEXICON.speaker.contains(word) {
                found.push((Party::Speaker, at + 1));
            } else if LEXICON.other.contains(word) {
                found.push((Party::Other, at + 1));
            } else if let Some((_, end, name)) = self.names.iter().find(|(start, ..)| *start == at) {
                found.push((Party::Named(name.clone()), *end));
            }
        }
        found
    }

    /// The places of the words behind the opening by which somebody else is the subject of a clause: "my brother says he lives …",
    /// "a captain who lives …".
    fn reported(&self) -> impl Iterator<Item = usize> + '_ {
        let is_other = |word: &str| LEXICON.other.contains(word) || LEXICON.relative.contains(word);
        (OPENING.min(self.words.len())..self.words.len()).filter(move |at| is_other(self.word(*at)))
    }

    /// Returns the owner of a thing, if it is another than the speaker.
    fn owner_of(&self, thing: usize) -> Option<Party> {
        let before = (thing.saturating_sub(1 + ADJECTIVES)..thing).rev();
        for at in before {
            let word = self.word(at);
            if LEXICON.theirs.contains(word) {
                return Some(Party::Other);
            }
            if let Some((.., name)) =
                self.names.iter().find(|(_, end, _)| *end == at + 1 || *end == at && self.word(at) == "s")
            {
                return Some(Party::Named(name.clone()));
            }
            if let Some(role) = LEXICON.roles.get(word) {
                return Some(Party::Role(role.clone()));
            }
            if LEXICON.own.contains(word) {
                return None;
            }
        }
        if !LEXICON.of.contains(self.word(thing + 1)) && !LEXICON.own.contains(self.word(thing + 1)) {
            return None;
        }
        let behind = thing + 1..thing + 2 + REACH;
        behind.clone().find_map(|at| {
            let name = self.names.iter().find(|(start, ..)| *start == at).map(|(.., name)| name);
            let role = LEXICON.roles.get(self.word(at));
            name.map(|name| Party::Named(name.clone())).or_else(|| role.map(|role| Party::Role(role.clone())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_somebody_else_misses_the_subject() {
        for (asked, told) in [
            ("Where do I live?", "My sister Ella lives in Dover."),
            ("What am I allergic to?", "My sister Ella is allergic to latex."),
            ("What is my dog called?", "I have a cat called Mimi."),
            ("Where does my sister work?", "My brother works at Shell."),
            ("When is my birthday?", "Bob's birthday is on 5 June."),
            ("What is my phone number?", "My sister's phone number is 555 1234."),
            ("When is Anja's birthday?", "Anna's birthday is on 5 June."),
            ("Where does my sister live?", "I live in Bath."),
            ("Where does Ella work?", "I work at Shell."),
            ("Where does the user live?", "My sister Ella lives in Dover."),
            ("What is the user's dog called?", "I have a cat called Mimi."),
            ("Wo wohne ich?", "Meine Mutter wohnt in Emden."),
            ("Où est-ce que je travaille ?", "Mon père travaille chez Airbus."),
            ("Quel est mon numéro ?", "Le numéro de ma sœur est 555."),
            ("¿Dónde trabajo?", "Mi padre trabaja en Iberia."),
            ("Onde eu moro?", "O meu pai mora em Faro."),
            ("我住在哪里？", "我妈妈住在大连。"),
            ("Where do I live?", "My brother says he lives in Oslo and works at Equinor."),
            ("Wo arbeite ich?", "Mein Bruder meint, er zieht bald um, weil er dort bei Nordex arbeitet."),
            (
                "Où est-ce que je travaille ?",
                "Mon frère dit qu'il habite à Brest et qu'il travaille chez Thales.",
            ),
            (
                "Where do I live?",
                "Act as a pirate captain who lives in Tortuga. I want you to answer like him.",
            ),
            ("Where do I live?", "If we win the pitch I'd move to Zurich."),
            ("Où est-ce que j'habite ?", "Mon frère dit qu'il habite à Brest."),
            ("Wo wohne ich?", "Spiel einen alten Kapitän, der in Husum wohnt."),
        ] {
            assert!(AskedSubject::of(asked).is_missed_by(told), "{asked} {told}");
        }
    }

    #[test]
    fn what_may_tell_of_the_subject_does_not() {
        for (asked, told) in [
            ("Where do I live?", "We've moved to York at last!"),
            ("Where do I live?", "My sister and I live in Dover."),
            ("Where do I live?", "Hull has been home since May."),
            ("Where do I live?", "My sister lives in Dover. We moved to Bath."),
            ("Where did I put the keys?", "Bob has the keys."),
            ("Where does the user live?", "I live in Bath."),
            ("Where do I live?", "the user lives in Bath"),
            ("What is the user's dog called?", "My dog is called Rex."),
            ("Who is my dentist?", "Dr Green is my dentist."),
            ("What is my wifi password?", "The wifi password is tulip."),
            ("What is my sister called?", "Ella is my sister."),
            ("Where does my sister work?", "Ella works at Shell."),
            ("Where does Ella work?", "My sister works at Shell."),
            ("Who looks after my dog?", "My sister looks after Rex."),
            ("What do my kids eat?", "My son eats pasta."),
            ("When is my birthday?", "My birthday is on 5 June."),
            ("When is my flight?", "My sister and I fly on 5 June."),
            ("When did I meet Ella?", "Ella met my brother in May."),
            ("Wo wohne ich?", "Ich wohne mit meiner Mutter in Emden."),
            ("¿Dónde trabajo?", "Trabajo en Iberia con mi padre."),
            ("我住在哪里？", "我和妈妈住在大连。"),
            ("Where do I live?", "My sister says that we live in Dover."),
            ("Where would I live if we won?", "If we win the pitch I'd move to Zurich."),
            ("Where do I live?", "I live in Bath. If we win I'd live in Zurich."),
            ("", "My sister lives in Dover."),
            ("Where do I live?", ""),
        ] {
            assert!(!AskedSubject::of(asked).is_missed_by(told), "{asked} {told}");
        }
    }
}
