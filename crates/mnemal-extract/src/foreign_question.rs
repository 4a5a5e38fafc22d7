//! Question words of languages other than English.

use mnemal_text::Language;

use crate::question::Wh;
use crate::word::Word;

/// Question words of a language with their meaning. The words of a phrase stand next to each other; a phrase comes before a
/// shorter one that begins it.
type QuestionWords = &'static [(&'static str, Wh)];

/// Source: own choice.
const GERMAN: QuestionWords = &[
    ("wie viele", Wh::HowMany),
    ("wie viel", Wh::HowMuch),
    ("wieviele", Wh::HowMany),
    ("wieviel", Wh::HowMuch),
    ("wie lange", Wh::HowLong),
    ("wie oft", Wh::HowOften),
    ("wie alt", Wh::HowOld),
    ("wie heißt", Wh::Who),
    ("wie heisst", Wh::Who),
    ("wie heißen", Wh::Who),
    ("wer", Wh::Who),
    ("wen", Wh::Who),
    ("wem", Wh::Who),
    ("wessen", Wh::Whose),
    ("wann", Wh::When),
    ("wo", Wh::Where),
    ("wohin", Wh::Where),
    ("woher", Wh::Where),
    ("warum", Wh::Why),
    ("wieso", Wh::Why),
    ("weshalb", Wh::Why),
    ("welcher", Wh::Which),
    ("welche", Wh::Which),
    ("welches", Wh::Which),
    ("welchen", Wh::Which),
    ("welchem", Wh::Which),
    ("was", Wh::What),
    ("wie", Wh::How),
];
/// Source: own choice.
const FRENCH: QuestionWords = &[
    ("combien de temps", Wh::HowLong),
    ("combien de fois", Wh::HowOften),
    ("quel âge", Wh::HowOld),
    ("comment s'appelle", Wh::Who),
    ("comment s'appellent", Wh::Who),
    ("combien", Wh::HowMany),
    ("quand", Wh::When),
    ("où", Wh::Where),
    ("pourquoi", Wh::Why),
    ("qui", Wh::Who),
    ("quel", Wh::Which),
    ("quelle", Wh::Which),
    ("quels", Wh::Which),
    ("quelles", Wh::Which),
    ("quoi", Wh::What),
    ("que", Wh::What),
    ("comment", Wh::How),
];
/// Source: own choice.
const SPANISH: QuestionWords = &[
    ("cuántos años", Wh::HowOld),
    ("qué edad", Wh::HowOld),
    ("cuánto tiempo", Wh::HowLong),
    ("cuántas veces", Wh::HowOften),
    ("cómo se llama", Wh::Who),
    ("cómo se llaman", Wh::Who),
    ("por qué", Wh::Why),
    ("cuántos", Wh::HowMany),
    ("cuántas", Wh::HowMany),
    ("cuánto", Wh::HowMuch),
    ("cuánta", Wh::HowMuch),
    ("cuándo", Wh::When),
    ("dónde", Wh::Where),
    ("adónde", Wh::Where),
    ("quién", Wh::Who),
    ("quiénes", Wh::Who),
    ("cuál", Wh::Which),
    ("cuáles", Wh::Which),
    ("qué", Wh::What),
    ("cómo", Wh::How),
];
/// Source: own choice.
const PORTUGUESE: QuestionWords = &[
    ("quantos anos", Wh::HowOld),
    ("que idade", Wh::HowOld),
    ("quanto tempo", Wh::HowLong),
    ("quantas vezes", Wh::HowOften),
    ("como se chama", Wh::Who),
    ("por que", Wh::Why),
    ("quantos", Wh::HowMany),
    ("quantas", Wh::HowMany),
    ("quanto", Wh::HowMuch),
    ("quanta", Wh::HowMuch),
    ("quando", Wh::When),
    ("onde", Wh::Where),
    ("aonde", Wh::Where),
    ("quem", Wh::Who),
    ("qual", Wh::Which),
    ("quais", Wh::Which),
    ("que", Wh::What),
    ("como", Wh::How),
];
/// Of Chinese, whose words have no blanks between them. Source: own choice.
const CHINESE: QuestionWords = &[
    ("什么时候", Wh::When),
    ("几点", Wh::When),
    ("几号", Wh::When),
    ("哪天", Wh::When),
    ("哪一天", Wh::When),
    ("哪年", Wh::When),
    ("多久", Wh::HowLong),
    ("几岁", Wh::HowOld),
    ("多大", Wh::HowOld),
    ("几次", Wh::HowOften),
    ("为什么", Wh::Why),
    ("叫什么", Wh::Who),
    ("谁", Wh::Who),
    ("哪里", Wh::Where),
    ("哪儿", Wh::Where),
    ("在哪", Wh::Where),
    ("多少", Wh::HowMany),
    ("几", Wh::HowMany),
    ("哪", Wh::Which),
    ("什么", Wh::What),
];
/// Words that after "which" or "what" ask for a time. Source: own choice.
const UNITS: [&str; 27] = [
    "tag",
    "tage",
    "datum",
    "jahr",
    "monat",
    "woche",
    "uhrzeit",
    "wochentag",
    "jour",
    "jours",
    "date",
    "année",
    "mois",
    "semaine",
    "heure",
    "día",
    "días",
    "fecha",
    "año",
    "mes",
    "semana",
    "hora",
    "dia",
    "dias",
    "data",
    "ano",
    "mês",
];
/// Characters that are Chinese: the ideographs in common use.
const IDEOGRAPHS: std::ops::RangeInclusive<char> = '\u{4e00}'..='\u{9fff}';

/// Finds the question word of a question that has no English one, and whether it asks for a time by its unit: "which day".
pub(crate) fn foreign_wh(text: &str, words: &[Word<'_>]) -> (Option<Wh>, bool) {
    if text.contains(|letter| IDEOGRAPHS.contains(&letter)) {
        let found = CHINESE.iter().find(|(word, _)| text.contains(word));
        return (found.map(|(_, wh)| *wh), false);
    }
    let list = match Language::of_question(text) {
        Language::German => GERMAN,
        Language::French => FRENCH,
        Language::Spanish => SPANISH,
        Language::Portuguese => PORTUGUESE,
        _ => return (None, false),
    };
    let lower: Vec<&str> = words.iter().map(|word| word.lower.as_ref()).collect();
    let is_at = |place: usize, phrase: &str| {
        let rest = lower.get(place..).unwrap_or_default();
        phrase.split(' ').enumerate().all(|(at, word)| rest.get(at) == Some(&word))
    };
    let at = |place: usize| list.iter().find(|(phrase, _)| is_at(place, phrase)).map(|(_, wh)| (place, *wh));
    let Some((place, wh)) = (0..lower.len()).find_map(at) else { return (None, false) };
    let by_unit =
        matches!(wh, Wh::Which | Wh::What) && lower.get(place + 1).is_some_and(|next| UNITS.contains(next));
    (Some(wh), by_unit)
}
