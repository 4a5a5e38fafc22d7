//! Query analysis by rules, without a model.

use std::collections::HashSet;
use std::sync::LazyLock;

use mnemal_core::{Marks, TermHash, Timestamp, Zone};
use mnemal_extract::{Question, Wh, question, question_words, without_idioms};
use mnemal_text::{Analyzer, Language, fold, is_stop_word, sentences, term_hash};

use crate::answer_type::AnswerType;
use crate::lexical::TermQuery;
use crate::role_names::{RoleWord, role_words};
use crate::synonyms::synonyms;
use crate::terms::NAME;
use crate::time_filter::{Span, spans};

/// Most terms that are read from a query. Source: PB-28, the limit for one query.
const MOST_READ: usize = 500;

/// Number of non-question sentences from which on a query is a message.
///
/// Source: counted; 95 of 100 messages of `RealMem` have so many, and no question of `LoCoMo`, BEAM or `PrefEval`.
const OF_A_MESSAGE: usize = 2;
/// Characters that end a question.
const ASKING: [char; 3] = ['?', '？', '؟'];

/// Filler words without content. Source: own choice of English ones; a query of fillers must find nothing (DF-10).
const FILLERS: [&str; 16] = [
    "ok", "okay", "yes", "yeah", "yep", "nope", "sure", "thanks", "thank", "thx", "please", "hi", "hello",
    "hey", "so", "well",
];

/// An analyzed query.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent findings, each read by its name")]
pub(crate) struct Query {
    /// Its terms, without stop words.
    pub(crate) terms: TermQuery,
    /// The forms an answer may have: a time, a number, a name. Empty if the question asks for none of them.
    pub(crate) forms: Vec<Marks>,
    /// Generic terms that ask nothing specific: "now", "called".
    pub(crate) general: Vec<TermHash>,
    /// The roles of people that it mentions: "sister".
    pub(crate) roles: Vec<RoleWord>,
    /// It is about the asker.
    pub(crate) about_self: bool,
    /// It is about the asker and others: "we".
    pub(crate) about_us: bool,
    /// Time spans that it names.
    pub(crate) times: Vec<Span>,
    /// It asks for the assistant's words.
    pub(crate) asks_assistant: bool,
    /// It asks for advice or work.
    pub(crate) asks_help: bool,
    /// It is a yes-or-no question.
    pub(crate) asks_whether: bool,
    /// It asks for a summary.
    pub(crate) asks_summary: bool,
    /// The predicates, kinds and numbers that it asks for.
    pub(crate) answer_type: AnswerType,
    /// Quoted phrases, folded.
    pub(crate) phrases: Vec<String>,
    /// The terms of each name in it; none in a German question, where every noun has a capital.
    pub(crate) names: Vec<Vec<TermHash>>,
    /// The terms of the requested attribute: "reason" of "what was the reason for the delay".
    pub(crate) attribute: Vec<TermHash>,
    /// It is a message of an ongoing conversation, not only a question; what would help with it is not asked explicitly.
    pub(crate) is_message: bool,
    /// When it is asked, if known.
    pub(crate) now: Option<Timestamp>,
    /// It has words other than stop words and fillers; otherwise there can be no evidence.
    pub(crate) asks_something: bool,
}

/// Words for the asker and others, folded. Source: own choice for the languages of the packs.
const US: &str = "we our ours us wir unser unsere unseren unserem unserer uns nous notre nos nosotros nosotras nuestro nuestra \
                  nuestros nuestras nosso nossa nossos nossas";

fn is_about_us(text: &str) -> bool {
    let folded = fold(text);
    let mut words = folded.split(|sign: char| !sign.is_alphanumeric());
    words.any(|word| US.split(' ').any(|us| us == word))
}

impl Query {
    /// Analyzes a text with the index's analyzer.
    pub(crate) fn read(text: &str, analyzer: Analyzer) -> Self {
        let (asked, answer_type) = (question(text), AnswerType::read(text));
        let terms = |text: &str| -> Vec<TermHash> {
            let terms = analyzer.query_terms(text);
            terms.iter().take(MOST_READ).map(|term| TermHash(term_hash(term))).collect()
        };
        let marks_names =
            analyzer.language() != Language::German && Language::guess(text) != Language::German;
        let names = asked.names.iter().filter(|_| marks_names).map(|name| terms(name));
        let plain = without_idioms(text);
        let own = terms(&plain);
        let phrases = asked.phrases.iter().filter_map(|range| text.get(range.clone()));
        Self {
            terms: TermQuery { synonyms: synonyms(&plain, &own, analyzer), words: own },
            names: names.filter(|name| !name.is_empty()).collect(),
            attribute: asked
                .attribute
                .clone()
                .and_then(|range| text.get(range))
                .map(terms)
                .unwrap_or_default(),
            forms: forms(&asked, answer_type),
            general: general_words(text).flat_map(&terms).collect(),
            roles: role_words(text, terms),
            about_self: asked.about_self,
            about_us: is_about_us(text),
            times: Vec::new(),
            asks_assistant: asked.about_assistant,
            asks_help: asked.asks_help,
            asks_whether: asked.asks_whether,
            asks_summary: asked.asks_summary,
            answer_type,
            phrases: phrases.map(|phrase| fold(phrase.trim())).filter(|phrase| !phrase.is_empty()).collect(),
            is_message: is_message(text),
            now: None,
            asks_something: content_words(text, analyzer).any(|word| !FILLERS.contains(&fold(word).as_str())),
        }
    }

    /// Resolves the times that the text names, relative to `now` in a zone.
    pub(crate) fn seen_from(self, now: (Timestamp, &Zone), text: &str, analyzer: Analyzer) -> Self {
        Self { times: spans(text, analyzer.language(), now), now: Some(now.0), ..self }
    }

    /// Whether the graph can hold the answer; it cannot for a question about when something happened.
    pub(crate) fn asks_graph(&self) -> bool {
        self.answer_type.is_of_graph() && !self.forms.contains(&Marks::TIME)
    }

    /// Whether it asks for a number.
    pub(crate) fn asks_number(&self) -> bool {
        self.forms.contains(&Marks::NUMBER)
    }

    /// Whether a turn with these marks has a requested form.
    pub(crate) fn wants(&self, marks: Marks) -> bool {
        self.forms.iter().any(|form| marks.has(*form))
    }
}

/// Whether a query states more than it asks: at least two of its sentences are no questions, greetings included.
fn is_message(text: &str) -> bool {
    let sentences = sentences(text);
    let written = sentences.iter().map(|sentence| sentence.of(text));
    let last =
        |sentence: &str| sentence.chars().rfind(|sign| sign.is_alphanumeric() || ASKING.contains(sign));
    let tells = |sentence: &&str| last(sentence).is_some_and(char::is_alphanumeric);
    written.filter(tells).nth(OF_A_MESSAGE - 1).is_some()
}

/// The generic words of a query, in any language.
fn general_words(text: &str) -> impl Iterator<Item = &str> {
    static WORDS: LazyLock<HashSet<String>> =
        LazyLock::new(|| question_words().general.iter().map(|word| fold(word)).collect());
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| WORDS.contains(&fold(word)))
}

/// The words of a query except stop words, as written.
pub(crate) fn content_words(text: &str, analyzer: Analyzer) -> impl Iterator<Item = &str> {
    let language = analyzer.language();
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .filter(move |word| word.chars().any(char::is_alphanumeric) && !is_stop_word(language, word))
}

fn forms(asked: &Question, answer_type: AnswerType) -> Vec<Marks> {
    let of_word = match asked.wh {
        Some(Wh::HowMany | Wh::HowMuch | Wh::HowOld | Wh::HowOften | Wh::HowLong) => Some(Marks::NUMBER),
        Some(Wh::Who | Wh::Whose | Wh::Where | Wh::Which) => Some(NAME),
        _ => None,
    };
    let by_name = answer_type.is_number().then_some(Marks::NUMBER);
    of_word.into_iter().chain(by_name).chain(asked.asks_time.then_some(Marks::TIME)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Query {
        Query::read(text, Analyzer::default())
    }

    #[test]
    fn a_question_tells_the_form_of_its_answer() {
        assert!(read("When did Ada leave?").wants(Marks::TIME));
        assert!(read("How many dogs has she?").wants(Marks::NUMBER));
        assert!(read("Where does he live?").wants(NAME));
        assert!(!read("Why did she leave?").wants(Marks::TIME.with(Marks::NUMBER).with(NAME)));
        assert!(read("What did you suggest?").asks_assistant);
        assert_eq!(read("who said \"Never Again\"?").phrases, ["never again"]);
    }

    #[test]
    fn a_number_may_be_asked_for_by_name_and_the_graph_tells_no_time() {
        assert!(read("What is my monthly budget?").wants(Marks::NUMBER));
        assert!(!read("What is my hobby?").wants(Marks::NUMBER));
        assert!(read("Where did Ada travel?").asks_graph() && !read("When did Ada travel?").asks_graph());
        assert!(!read("zebra crossings").asks_graph());
    }

    #[test]
    fn a_query_that_tells_more_than_it_asks_is_a_message() {
        let message = "Hi. That booking was a nightmare, but we have it. What's next on our list?";
        assert!(read(message).is_message);
        assert!(read("Done with week one.\nReady for the next").is_message);
        assert!(!read("I'm looking for new shoes. What would you suggest?").is_message);
        assert!(!read("Where does Ada live? And who with? (Or alone?)").is_message);
        assert!(!read("我需要一双新鞋。你有什么建议？").is_message);
        assert!(!read("").is_message && !read("...").is_message);
    }

    #[test]
    fn stop_words_alone_ask_nothing() {
        // proves: DF-10
        assert!(!read("ok can that this").asks_something);
        assert!(!read("").asks_something && !read("?!").asks_something);
        assert!(read("tea").asks_something);
    }
}
