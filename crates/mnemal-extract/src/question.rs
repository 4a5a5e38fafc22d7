//! Question analysis: the answer type and the target of a question.

use std::ops::Range;

use crate::foreign_question::foreign_wh;
use crate::gates::is_negated;
use crate::question_words::{
    ATTRIBUTE_ENDS, COMMON_STARTS, DETERMINERS, JOINERS, NOT_NAMES, RECIPIENT_VERBS, REQUEST_VERBS,
};
use crate::word::{Word, words};

/// The question word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wh {
    /// "who", "whom".
    Who,
    /// "whose".
    Whose,
    /// "what".
    What,
    /// "when".
    When,
    /// "where".
    Where,
    /// "why", "how come".
    Why,
    /// "how", without a following measure.
    How,
    /// "which".
    Which,
    /// "how many".
    HowMany,
    /// "how much".
    HowMuch,
    /// "how long".
    HowLong,
    /// "how often".
    HowOften,
    /// "how old".
    HowOld,
}

/// The analysis of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "eight independent signals, each read by its name")]
#[must_use]
pub struct Question {
    /// Capitalized sequences as written, without possessive endings, each once, by first appearance.
    pub names: Vec<String>,
    /// The first question word, if any.
    pub wh: Option<Wh>,
    /// Whether the answer is a time: "when", "what year", "how long ago".
    pub asks_time: bool,
    /// Quoted phrases, by position, without the marks; byte ranges of the text.
    pub phrases: Vec<Range<usize>>,
    /// Whether it asks for something that is not so, or was not done.
    pub negated: bool,
    /// Whether it asks for something the assistant said or made: "what did you suggest", "your recipe".
    pub about_assistant: bool,
    /// Whether it asks about the asker: "I", "my".
    pub about_self: bool,
    /// The requested attribute, as a byte range: "main reason" of "What was the main reason for the delay?".
    ///
    /// Only for questions that begin "what is the …", "what was Anna's …": there the answer states that attribute, while "what
    /// book did she read" only names the class of its answer.
    pub attribute: Option<Range<usize>>,
    /// Whether it asks for advice or for work, so that the asker's preferences matter: "what should I", "can you show me".
    pub asks_help: bool,
    /// Whether it is a yes/no question: "have I ever", "did she". "Can you" asks for help instead.
    pub asks_whether: bool,
    /// Whether it asks for an overview: "summarise", "an overview", "over time".
    pub asks_summary: bool,
    /// Whether it asks for an order of events: "the order in which", "in chronological order", "a timeline".
    pub asks_order: bool,
}

/// Analyzes an English question; in another language, only names, quoted phrases, the question word, and whether a time is asked
/// for.
pub fn question(text: &str) -> Question {
    let words = words(text);
    let (wh, by_unit) = match find_wh(&words) {
        Some(wh) => (Some(wh), false),
        None => foreign_wh(text, &words),
    };
    Question {
        names: names(text, &words),
        wh,
        asks_time: by_unit || asks_time(&words, wh),
        phrases: phrases(text),
        negated: is_negated(text),
        about_assistant: is_about_assistant(&words),
        about_self: is_about_self(&words),
        attribute: attribute(&words),
        asks_help: asks_help(&words),
        asks_whether: asks_whether(&words),
        asks_summary: asks_summary(&words),
        asks_order: asks_order(&words),
    }
}

fn lower<'a>(words: &'a [Word<'a>], at: usize) -> &'a str {
    words.get(at).map_or("", |word| word.lower.as_ref())
}

fn before<'a>(words: &'a [Word<'a>], at: usize, back: usize) -> &'a str {
    at.checked_sub(back).map_or("", |at| lower(words, at))
}

fn find_wh(words: &[Word<'_>]) -> Option<Wh> {
    let found: Vec<(usize, Wh)> = (0..words.len()).filter_map(|at| Some((at, wh_at(words, at)?))).collect();
    // "When I was ill, who called?" and "who called when I was ill" both ask for the person.
    let is_clause = |at: usize, wh: Wh| {
        let next = lower(words, at + 1);
        matches!(wh, Wh::When | Wh::Where)
            && matches!(next, "i" | "we" | "he" | "she" | "they" | "my" | "you" | "the")
    };
    found.iter().find(|(at, wh)| !is_clause(*at, *wh)).or(found.first()).map(|(_, wh)| *wh)
}

fn wh_at(words: &[Word<'_>], at: usize) -> Option<Wh> {
    let word = lower(words, at);
    let stem = word.split('\'').next().unwrap_or(word);
    Some(match stem {
        "who" | "whom" => Wh::Who,
        "whose" => Wh::Whose,
        "what" => Wh::What,
        "when" => Wh::When,
        "where" => Wh::Where,
        "why" => Wh::Why,
        "which" => Wh::Which,
        "how" => match lower(words, at + 1) {
            "many" => Wh::HowMany,
            "much" => Wh::HowMuch,
            "long" => Wh::HowLong,
            "often" | "frequently" => Wh::HowOften,
            "old" => Wh::HowOld,
            "come" => Wh::Why,
            _ => Wh::How,
        },
        _ => return None,
    })
}

fn asks_time(words: &[Word<'_>], wh: Option<Wh>) -> bool {
    const UNITS: [&str; 14] = [
        "day", "days", "date", "dates", "year", "month", "time", "week", "weekday", "hour", "season",
        "weekend", "birthday", "decade",
    ];
    let is_unit = |at: usize| UNITS.contains(&lower(words, at));
    let named = (0..words.len()).any(|at| {
        matches!(lower(words, at), "what" | "which") && (is_unit(at + 1) || is_unit(at + 2))
            || lower(words, at) == "how"
                && matches!(lower(words, at + 1), "long" | "recently" | "soon" | "early" | "late")
            || lower(words, at) == "since" && matches!(lower(words, at + 1), "when")
            || lower(words, at) == "order" && lower(words, at + 1) == "of"
    });
    wh == Some(Wh::When) || named
}

fn is_about_assistant(words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| match lower(words, at) {
        "you" | "you've" | "you'd" | "you're" | "yourself" => !is_request(words, at),
        "your" => !matches!(
            lower(words, at + 1),
            "help" | "opinion" | "thoughts" | "memory" | "time" | "view" | "notes"
        ),
        _ => false,
    })
}

/// "Can you …", "do you remember …": the assistant is asked to answer, not asked about.
fn is_request(words: &[Word<'_>], at: usize) -> bool {
    match before(words, at, 1) {
        "can" | "could" | "will" | "would" | "thank" | "if" | "help" | "would've" | "want" | "need" => true,
        "do" | "did" | "don't" => REQUEST_VERBS.contains(&lower(words, at + 1)),
        _ => REQUEST_VERBS.contains(&lower(words, at + 1)) && before(words, at, 1) != "did",
    }
}

fn is_about_self(words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| match lower(words, at) {
        "i" | "my" | "mine" | "myself" | "i'm" | "i've" | "i'd" | "i'll" => true,
        "me" => !RECIPIENT_VERBS.contains(&before(words, at, 1)),
        // An agent asks about its user.
        "user" | "user's" => before(words, at, 1) == "the",
        "户" | "戶" => before(words, at, 1) == "用",
        word if USER.iter().any(|user| word.ends_with(user)) => true,
        word => {
            SELF.contains(&word) || word.contains('我') || word.starts_with("j'") || word.starts_with("j’")
        }
    })
}

/// Words for the user of an agent in other languages, as they end. Source: own choice.
const USER: [&str; 8] =
    ["nutzer", "nutzers", "nutzerin", "utilisateur", "utilisatrice", "usuario", "usuário", "utilizador"];

/// First-person words of other languages: pronouns, and verb forms where the pronoun is omitted. None of them is an English
/// word.
///
/// Source: own choice.
const SELF: [&str; 48] = [
    "ich", "mich", "mir", "mein", "meine", "meinem", "meinen", "meiner", "meines", "wir", "uns", "unser",
    "unsere", "je", "moi", "mon", "mes", "nous", "notre", "yo", "mi", "mis", "mí", "conmigo", "nuestro",
    "nuestra", "soy", "estoy", "tengo", "vivo", "trabajo", "sigo", "eu", "meu", "minha", "meus", "minhas",
    "nosso", "nossa", "sou", "estou", "tenho", "moro", "io", "mio", "mia", "miei", "nostro",
];

fn attribute(words: &[Word<'_>]) -> Option<Range<usize>> {
    let at = words.iter().position(|word| matches!(word.lower.as_ref(), "what" | "what's"))?;
    let is_verb = matches!(lower(words, at + 1), "is" | "are" | "was" | "were");
    let opens = match lower(words, at) {
        "what's" => at + 1,
        _ if is_verb => at + 2,
        _ => return None,
    };
    let is_owner = |at: usize| lower(words, at).ends_with("'s") || lower(words, at).ends_with("s'");
    if !DETERMINERS.contains(&lower(words, opens)) && !is_owner(opens) {
        return None;
    }
    let rest = words.get(opens + 1..)?;
    let goes_on = |word: &&Word<'_>| !word.starts_clause && !ATTRIBUTE_ENDS.contains(&word.lower.as_ref());
    let end = opens + 1 + rest.iter().take_while(goes_on).count();
    let start = (opens..end).rev().find(|at| is_owner(*at)).unwrap_or(opens) + 1;
    let phrase = words.get(start..end)?;
    Some(phrase.first()?.span.start..phrase.last()?.span.end)
}

fn asks_help(words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| {
        matches!(
            (lower(words, at), lower(words, at + 1), lower(words, at + 2)),
            ("suggest" | "recommend" | "should" | "advice" | "tips", ..)
                | ("can" | "could" | "would", "you", _)
                | ("help" | "show", "me", _)
                | ("how", "to", _)
                | ("how", "do" | "can", "i")
                | ("what", "are", "some")
        )
    })
}

fn asks_whether(words: &[Word<'_>]) -> bool {
    matches!(
        lower(words, 0),
        "have" | "has" | "had" | "did" | "do" | "does" | "am" | "is" | "are" | "was" | "were"
    )
}

fn asks_summary(words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| match (lower(words, at), lower(words, at + 1)) {
        ("overview" | "recap", _) | ("over", "time") => true,
        (word, _) => word.starts_with("summar"),
    })
}

fn asks_order(words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| {
        let (next, behind) = (lower(words, at + 1), lower(words, at + 2));
        match lower(words, at) {
            "timeline" | "chronology" => true,
            // "In order to" names a purpose, and "an order in the shop" a purchase.
            "order" => {
                matches!((next, behind), ("in", "which") | ("i" | "we" | "they" | "he" | "she", _))
                    || matches!(before(words, at, 1), "what" | "which" | "chronological")
                    || (before(words, at, 1) == "in" && !matches!(next, "to" | "for" | "that"))
            }
            "sequence" => next == "of" && matches!(behind, "events" | "steps"),
            word => word.starts_with("chronologic"),
        }
    })
}

fn names(text: &str, words: &[Word<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some((len, end)) = name_at(text, words, at) else {
            at += 1;
            continue;
        };
        let start = words.get(at).map_or(0, |word| word.span.start);
        let name = text.get(start..end).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
        at += len;
    }
    names
}

/// Returns how many words the name at `at` has, and the byte where it ends.
fn name_at(text: &str, words: &[Word<'_>], at: usize) -> Option<(usize, usize)> {
    let mut end = name_word(
        text,
        words,
        at,
        if starts_sentence(text, words, at) { WordPosition::Start } else { WordPosition::Inside },
    )?;
    let mut next = at + 1;
    while !is_possessive(words, next - 1) {
        let joined = (next..next + 2).take_while(|at| JOINERS.contains(&lower(words, *at))).count();
        let touches = (next..=next + joined).all(|at| is_next_to(text, words, at));
        let Some(longer) = name_word(text, words, next + joined, WordPosition::Inside).filter(|_| touches)
        else {
            break;
        };
        end = longer;
        next += joined + 1;
    }
    Some((next - at, end))
}

/// Where a word is in its sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordPosition {
    Start,
    Inside,
}

/// Returns where the word ends as part of a name, without "'s".
fn name_word(text: &str, words: &[Word<'_>], at: usize, place: WordPosition) -> Option<usize> {
    let word = words.get(at)?;
    let stem = word.lower.split('\'').next().unwrap_or_default();
    let is_contracted = word.lower.contains('\'')
        && !is_possessive(words, at)
        && stem.len() < 3
        && stem != "o"
        && stem != "d";
    let written = text.get(word.span.clone()).unwrap_or_default();
    let is_shouted = written.len() > 3 && written.bytes().all(|b| b.is_ascii_uppercase());
    let is_common = NOT_NAMES.contains(&stem)
        || ((place == WordPosition::Start || is_shouted) && COMMON_STARTS.contains(&stem));
    if !word.is_capitalised(text) || is_common || is_contracted || word.lower == "i" {
        return None;
    }
    let cut = if is_possessive(words, at) { possessive_len(text, word) } else { 0 };
    Some(word.span.end - cut)
}

fn is_possessive(words: &[Word<'_>], at: usize) -> bool {
    words.get(at).is_some_and(|word| word.lower.ends_with("'s"))
}

fn possessive_len(text: &str, word: &Word<'_>) -> usize {
    let written = text.get(word.span.clone()).unwrap_or_default();
    written.rfind(['\'', '’']).map_or(0, |mark| written.len() - mark)
}

/// Only a space, a hyphen or the stop of an initial is between the word and the one before it.
fn is_next_to(text: &str, words: &[Word<'_>], at: usize) -> bool {
    let Some((last, word)) = at.checked_sub(1).and_then(|last| words.get(last)).zip(words.get(at)) else {
        return false;
    };
    let between = text.get(last.span.end..word.span.start).unwrap_or_default();
    let is_initial = last.span.len() <= 3 && between.starts_with('.');
    !between.is_empty()
        && between.len() <= 3
        && (is_initial || !between.contains(|c: char| !(c == ' ' || c == '\u{A0}' || c == '&')))
}

fn starts_sentence(text: &str, words: &[Word<'_>], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let before = text
        .get(..word.span.start)
        .unwrap_or_default()
        .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '“' | '\'' | '(' | '*'));
    before.is_empty() || before.ends_with(['.', '?', '!', ':', '\n', '…'])
}

/// Returns the quoted phrases; an apostrophe opens none.
fn phrases(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut last = ' ';
    let mut until = 0;
    for (at, mark) in text.char_indices() {
        let opens = at >= until
            && (matches!(mark, '"' | '“' | '«' | '`' | '「')
                || matches!(mark, '\'' | '‘') && !last.is_alphanumeric());
        last = mark;
        if !opens {
            continue;
        }
        let close = match mark {
            '“' => '”',
            '«' => '»',
            '‘' => '’',
            '「' => '」',
            other => other,
        };
        let start = at + mark.len_utf8();
        let Some(len) = text.get(start..).and_then(|rest| closing(rest, close)) else { continue };
        if len > 0 {
            found.push(start..start + len);
        }
        until = start + len + close.len_utf8();
    }
    found
}

/// A single mark closes only before something that is no letter.
fn closing(rest: &str, close: char) -> Option<usize> {
    let is_single = matches!(close, '\'' | '’');
    rest.match_indices(close)
        .find(|(at, mark)| {
            let next = rest.get(at + mark.len()..).and_then(|after| after.chars().next());
            !is_single || !next.is_some_and(char::is_alphanumeric)
        })
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_names(text: &str, names: &[&str]) {
        assert_eq!(question(text).names, names, "{text}");
    }

    #[test]
    fn a_question_word_is_understood_in_every_language() {
        for (text, wh, is_time) in [
            ("Wer ist meine Chefin?", Wh::Who, false),
            ("Wie heißt mein Hund?", Wh::Who, false),
            ("Wann ziehen wir um?", Wh::When, true),
            ("An welchem Tag war die OP?", Wh::Which, true),
            ("Wie lange wohne ich hier?", Wh::HowLong, false),
            ("Was kostet die Miete?", Wh::What, false),
            ("Où est-ce que je travaille ?", Wh::Where, false),
            ("Quel jour avons-nous déménagé ?", Wh::Which, true),
            ("Combien de frères j'ai ?", Wh::HowMany, false),
            ("¿Cuándo es la boda?", Wh::When, true),
            ("¿Quién me puso el implante?", Wh::Who, false),
            ("¿Cuántos años tiene Lúa?", Wh::HowOld, false),
            ("Quantos irmãos eu tenho?", Wh::HowMany, false),
            ("Em que dia é a prova?", Wh::What, true),
            ("我的生日是哪天？", Wh::When, true),
            ("我妹妹叫什么名字？", Wh::Who, false),
            ("我住在哪里？", Wh::Where, false),
        ] {
            let asked = question(text);
            assert_eq!((asked.wh, asked.asks_time), (Some(wh), is_time), "{text}");
        }
        for text in ["I was there", "Ich war da, wo es schön ist und wer weiß", "C'est où je vis"] {
            assert!(!question(text).asks_time, "{text}");
        }
        assert_eq!(question("He was ill").wh, None);
    }

    #[test]
    fn names_are_capitalised_sequences_without_possessives() {
        check_names("When did Caroline go to the LGBTQ support group?", &["Caroline", "LGBTQ"]);
        check_names("What is Ana Silva's job at Bank of America?", &["Ana Silva", "Bank of America"]);
        check_names("Caroline went where?", &["Caroline"]);
        check_names(
            "Tell me about Oscar de la Renta and J. K. Rowling.",
            &["Oscar de la Renta", "J. K. Rowling"],
        );
        check_names("What did I do on Monday in May?", &[]);
        check_names("Did O'Brien’s team win? Melanie said so.", &["O'Brien", "Melanie"]);
        check_names("what happened yesterday", &[]);
        check_names("Summarise my talks with Élodie", &["Élodie"]);
    }

    #[test]
    fn the_asking_word_is_the_first_of_the_main_clause() {
        for (text, wh) in [
            ("Who called when I was ill?", Some(Wh::Who)),
            ("When I was ill, who called?", Some(Wh::Who)),
            ("When did we meet?", Some(Wh::When)),
            ("How many dogs do I have?", Some(Wh::HowMany)),
            ("What's her name?", Some(Wh::What)),
            ("Tell me about the trip", None),
            ("How come she left?", Some(Wh::Why)),
        ] {
            assert_eq!(question(text).wh, wh, "{text}");
        }
    }

    #[test]
    fn signals_tell_time_negation_and_who_is_meant() {
        let ask = question;
        assert!(ask("When did we meet?").asks_time && ask("In which year did she move?").asks_time);
        assert!(ask("How long ago was it?").asks_time && !ask("What did she buy?").asks_time);
        assert!(ask("What did you suggest for dinner?").about_assistant);
        assert!(ask("What was your recipe?").about_assistant);
        assert!(!ask("Can you tell me where she lives?").about_assistant);
        assert!(
            !ask("Do you remember my name?").about_assistant && ask("Do you remember my name?").about_self
        );
        assert!(!ask("Tell me where Ana lives.").about_self);
        for text in [
            "Where does the user live?",
            "What is the user's dog called?",
            "Wo wohnt der Nutzer?",
            "Où habite l'utilisateur ?",
            "¿Dónde vive el usuario?",
            "Onde mora o usuário?",
            "用户住在哪里？",
        ] {
            assert!(ask(text).about_self, "{text}");
        }
        assert!(!ask("Which user is it?").about_self && !ask("Who has user rights?").about_self);
        for text in ["Wo wohnen wir in Ulm?", "¿Dónde vivo?", "Où est-ce que j'habite ?", "我的猫叫什么？"]
        {
            assert!(ask(text).about_self, "{text}");
        }
        assert!(!ask("¿Dónde vive Maite?").about_self && !ask("Wo wohnt Jakob?").about_self);
        assert!(ask("Which city have I not visited?").negated && !ask("Why not Rome?").negated);
    }

    #[test]
    fn an_attribute_is_what_is_asked_of_something() {
        for (text, attribute) in [
            ("What was the main reason for the delay?", Some("main reason")),
            ("What's Anna's brother's favourite colour?", Some("favourite colour")),
            ("So, what were the terms and conditions of the lease?", Some("terms and conditions")),
            ("What is my budget, and who set it?", Some("budget")),
            ("What is Anna planning to do?", None),
            ("What book did she read?", None),
            ("What is the?", None),
            ("Who was the owner of the house?", None),
            ("what", None),
        ] {
            assert_eq!(question(text).attribute.and_then(|range| text.get(range)), attribute, "{text}");
        }
    }

    #[test]
    fn help_and_summaries_are_asked_for_by_their_words() {
        for text in [
            "What should I cook?",
            "Can you show me a login form?",
            "How do I sort a list?",
            "Any tips for Rome?",
        ] {
            assert!(question(text).asks_help && !question(text).asks_summary, "{text}");
        }
        for text in
            ["Please summarize our talks", "An overview of my budget", "How did my plans change over time?"]
        {
            assert!(question(text).asks_summary && !question(text).asks_help, "{text}");
        }
        for text in ["When did Ada leave?", "Whose suggestion was it?", "How does he cook?", "The overtime"] {
            assert!(!question(text).asks_help && !question(text).asks_summary, "{text}");
        }
    }

    #[test]
    fn the_order_of_things_is_asked_for_by_its_words_and_a_purchase_is_no_order() {
        for text in [
            "Can you list the order in which I brought up the garden?",
            "In what order did we visit the cities?",
            "List my jobs in order.",
            "Tell me chronologically what happened",
            "Give me a timeline of the move",
            "What was the sequence of events?",
        ] {
            assert!(question(text).asks_order, "{text}");
        }
        for text in [
            "What did I order in the shop?",
            "What must I do in order to renew it?",
            "When does my order arrive?",
            "Was it the first in order for us?",
            "",
        ] {
            assert!(!question(text).asks_order, "{text}");
        }
    }

    #[test]
    fn a_question_that_begins_with_its_verb_asks_whether() {
        assert!(question("Have I ever been to Rome?").asks_whether && question("did she call").asks_whether);
        assert!(!question("Can you help me?").asks_whether && !question("What did she do?").asks_whether);
        assert!(!question("").asks_whether);
    }

    #[test]
    fn quoted_phrases_keep_their_bytes() {
        let text = "Who said \"see you soon\" in 'The Dog's Day' and “é”?";
        let found: Vec<_> =
            question(text).phrases.into_iter().map(|range| text.get(range).unwrap()).collect();
        assert_eq!(found, ["see you soon", "The Dog's Day", "é"]);
    }
}
