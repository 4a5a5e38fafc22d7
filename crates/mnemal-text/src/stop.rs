//! Stop words: words that are ignored in queries.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::Language;

/// The languages with a stop list, in the order of preference when a vote ties.
pub(crate) const LISTED: [Language; 8] = [
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
    Language::Portuguese,
    Language::Italian,
    Language::Dutch,
    Language::Russian,
];

/// Returns whether `word` has no meaning of its own in `language`, whatever its case and its typographic apostrophes.
///
/// A language without a list has no stop words. English negations other than "no" and "not" are kept; the query analysis
/// handles "not".
pub fn is_stop_word(language: Language, word: &str) -> bool {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return is_listed(language, word);
    }
    let lowered = crate::fold::lower(word);
    is_listed(language, lowered.strip_suffix("'s").unwrap_or(&lowered))
}

/// The same for a word that is in lower case already; accents count.
pub(crate) fn is_listed(language: Language, word: &str) -> bool {
    let place = LISTED.iter().position(|of| *of == language);
    place.is_some_and(|place| listing(word) >> place & 1 == 1)
}

/// Returns which of [`LISTED`] list a word in lower case: one bit for each, by index.
pub(crate) fn listing(word: &str) -> u8 {
    static SHORT: LazyLock<Vec<(u64, u8)>> = LazyLock::new(|| listings(packed));
    static LONG: LazyLock<Vec<(&'static str, u8)>> =
        LazyLock::new(|| listings(|word| packed(word).is_none().then_some(word)));
    match packed(word) {
        Some(packed) => lookup(&SHORT, &packed),
        None if word.len() > LONGEST => 0,
        None => lookup(&LONG, &word),
    }
}

/// Bytes of the longest word of a list. Source: counted; a test compares.
const LONGEST: usize = 12;

/// Packs a word of up to seven bytes into a unique number: its bytes and their count.
fn packed(word: &str) -> Option<u64> {
    (word.len() < 8)
        .then(|| word.bytes().fold(word.len() as u64, |packed, byte| packed << 8 | u64::from(byte)))
}

/// Returns the words of all lists with a key, sorted by it, with the lists that have them.
fn listings<K: Ord>(key: impl Fn(&'static str) -> Option<K>) -> Vec<(K, u8)> {
    let mut all = BTreeMap::new();
    for (place, language) in LISTED.into_iter().enumerate() {
        for key in list(language).iter().copied().filter_map(&key) {
            *all.entry(key).or_default() |= 1 << place;
        }
    }
    all.into_iter().collect()
}

fn lookup<K: Ord>(listings: &[(K, u8)], key: &K) -> u8 {
    let place = listings.binary_search_by(|(of, _)| of.cmp(key)).ok();
    place.and_then(|place| listings.get(place)).map_or(0, |(_, listing)| *listing)
}

/// Returns whether a query in a language ignores a word in lower case: a stop word of it, or a word of [`QUERY_WORDS`].
pub(crate) fn is_dropped_from_query(asked: Language, word: &str) -> bool {
    is_listed(asked, word) || asked != Language::English && QUERY_WORDS.contains(&word)
}

/// Auxiliaries and possessives that are no stop words, because statements need them; of several languages, none of English.
///
/// Source: own choice.
const QUERY_WORDS: &[&str] = &[
    "avais", "avete", "ben", "bent", "deinem", "deinen", "deiner", "depuis", "eres", "estamos", "estou",
    "estoy", "fomos", "fui", "fuimos", "habe", "habt", "había", "hemos", "ihrem", "ihren", "ihrer", "seinem",
    "seinen", "seiner", "siamo", "siete", "soll", "sommes", "somos", "stai", "sto", "suis", "temos",
    "tenemos", "tengo", "tens", "tienes", "unsere", "unserem", "unseren", "unserer", "wieviel", "wurden",
    "étaient", "étais", "était", "êtes",
];

/// Returns whether a query ignores a pair of neighboring Chinese characters: one of them is a particle or a part of a question
/// word. A noun with such a pair still has its other pairs.
pub(crate) fn has_particle(pair: &str) -> bool {
    pair.chars().count() == 2 && pair.chars().any(|letter| PARTICLES.contains(letter))
}

/// Source: own choice of characters that occur in questions on any subject.
const PARTICLES: &str = "的了吗呢吧啊么什谁哪怎是";

/// The stop words of a language, sorted by bytes.
fn list(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => ENGLISH,
        Language::German => GERMAN,
        Language::French => FRENCH,
        Language::Spanish => SPANISH,
        Language::Portuguese => PORTUGUESE,
        Language::Italian => ITALIAN,
        Language::Dutch => DUTCH,
        Language::Russian => RUSSIAN,
        _ => &[],
    }
}

/// Source: the list with which recall was measured (dropping it from queries gains .052 R@10).
const ENGLISH: &[&str] = &[
    "a", "about", "am", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could",
    "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "him", "his", "how", "i", "if",
    "in", "into", "is", "it", "me", "my", "no", "not", "of", "on", "or", "our", "she", "should", "such",
    "that", "the", "their", "then", "there", "these", "they", "this", "to", "us", "was", "we", "were",
    "what", "when", "where", "which", "who", "whom", "why", "will", "with", "would", "you", "your",
];

/// Source: own choice of articles, pronouns, auxiliaries, prepositions and question words.
const GERMAN: &[&str] = &[
    "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "bin", "bis", "bist", "da", "damit", "dann",
    "das", "dass", "dein", "deine", "dem", "den", "der", "des", "dich", "die", "dir", "doch", "du", "durch",
    "ein", "eine", "einem", "einen", "einer", "eines", "er", "es", "euch", "für", "haben", "hast", "hat",
    "hatte", "hatten", "ich", "ihm", "ihn", "ihr", "ihre", "im", "in", "ist", "ja", "kann", "mein", "meine",
    "meinem", "meinen", "meiner", "mich", "mir", "mit", "nach", "nicht", "noch", "nur", "ob", "oder", "ohne",
    "sein", "seine", "sich", "sie", "sind", "so", "um", "und", "uns", "unser", "vom", "von", "vor", "wann",
    "war", "waren", "warum", "was", "weil", "welche", "welchem", "welchen", "welcher", "welches", "wem",
    "wen", "wenn", "wer", "werden", "weshalb", "wessen", "wie", "wieso", "wir", "wird", "wo", "wofür",
    "wogegen", "woher", "wohin", "womit", "woran", "worauf", "worin", "worüber", "wovon", "wozu", "wurde",
    "zu", "zum", "zur", "über",
];

/// Source: own choice, as for German.
const FRENCH: &[&str] = &[
    "a", "ai", "ainsi", "as", "au", "aussi", "aux", "avait", "avec", "avez", "avons", "c", "ce", "cela",
    "ces", "cet", "cette", "combien", "comme", "comment", "d", "dans", "de", "des", "dont", "du", "elle",
    "elles", "en", "es", "est", "et", "eu", "il", "ils", "j", "je", "l", "la", "laquelle", "le", "lequel",
    "les", "lesquels", "leur", "leurs", "lui", "m", "ma", "mais", "me", "mes", "moi", "mon", "même", "n",
    "ne", "nos", "notre", "nous", "on", "ont", "ou", "où", "par", "pas", "pour", "pourquoi", "qu", "quand",
    "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "s", "sa", "sans", "se", "ses", "si", "son",
    "sont", "sur", "t", "ta", "te", "tes", "toi", "ton", "tu", "un", "une", "vos", "votre", "vous", "y", "à",
    "été", "être",
];

/// Source: own choice, as for German.
const SPANISH: &[&str] = &[
    "a", "adónde", "al", "algo", "ante", "aquel", "aquella", "como", "con", "cual", "cuando", "cuál",
    "cuáles", "cuándo", "cuánta", "cuántas", "cuánto", "cuántos", "cómo", "de", "del", "desde", "donde",
    "dónde", "e", "el", "ella", "ellas", "ellos", "en", "entre", "era", "eran", "eras", "es", "esa", "ese",
    "eso", "esta", "estaba", "estaban", "estar", "este", "esto", "está", "están", "estás", "fue", "ha",
    "han", "has", "hasta", "hay", "he", "la", "las", "le", "les", "lo", "los", "me", "mi", "mis", "muy",
    "más", "ni", "no", "nos", "nosotros", "nuestra", "nuestras", "nuestro", "nuestros", "o", "para", "pero",
    "por", "porque", "que", "quien", "quién", "quiénes", "qué", "se", "ser", "si", "sin", "sobre", "son",
    "soy", "su", "sus", "sí", "también", "te", "tiene", "tu", "tus", "tú", "u", "un", "una", "unas", "unos",
    "y", "ya", "yo", "él",
];

/// Source: own choice, as for German.
const PORTUGUESE: &[&str] = &[
    "a", "ao", "aonde", "aos", "aquela", "aquele", "aquilo", "as", "até", "com", "como", "da", "das", "de",
    "dela", "dele", "depois", "do", "dos", "e", "ela", "elas", "ele", "eles", "em", "entre", "era", "eram",
    "essa", "esse", "esta", "estava", "estavam", "este", "está", "estão", "eu", "foi", "foram", "há", "isso",
    "isto", "já", "lhe", "mais", "mas", "me", "mesmo", "meu", "meus", "minha", "muito", "na", "nas", "nem",
    "no", "nos", "nossa", "nossas", "nosso", "nossos", "não", "nós", "o", "onde", "os", "ou", "para", "pela",
    "pelas", "pelo", "pelos", "por", "porque", "quais", "qual", "quando", "quanta", "quantas", "quanto",
    "quantos", "que", "quem", "se", "sem", "ser", "seu", "seus", "sou", "sua", "suas", "são", "só", "também",
    "te", "tem", "tenho", "teu", "tinha", "tu", "tua", "tuas", "um", "uma", "você", "vocês", "à", "às", "é",
];

/// Source: own choice, as for German.
const ITALIAN: &[&str] = &[
    "a", "abbiamo", "ai", "al", "alla", "alle", "anche", "avere", "aveva", "c", "che", "chi", "ci", "come",
    "con", "cosa", "cui", "d", "da", "dal", "dalla", "dei", "del", "della", "delle", "di", "dove", "e", "ed",
    "era", "erano", "fu", "gli", "ha", "hai", "hanno", "ho", "i", "il", "in", "io", "l", "la", "le", "lei",
    "li", "lo", "loro", "lui", "m", "ma", "mi", "mia", "mie", "miei", "mio", "ne", "nei", "nel", "nella",
    "noi", "non", "nostra", "nostre", "nostri", "nostro", "o", "per", "perché", "più", "quale", "quali",
    "quando", "quanta", "quante", "quanti", "quanto", "quella", "quello", "questa", "questi", "questo",
    "qui", "s", "se", "sei", "si", "sia", "sono", "sta", "su", "sua", "sue", "sul", "sulla", "suo", "suoi",
    "t", "te", "ti", "tra", "tu", "tua", "tue", "tuo", "un", "una", "uno", "v", "vi", "voi", "vostra",
    "vostro", "è",
];

/// Source: own choice, as for German.
const DUTCH: &[&str] = &[
    "aan", "al", "als", "bij", "dan", "dat", "de", "den", "der", "deze", "die", "dit", "doch", "doen",
    "door", "dus", "een", "en", "er", "ge", "geen", "had", "hadden", "heb", "hebben", "heeft", "hem", "het",
    "hier", "hij", "hoe", "hoeveel", "hun", "ik", "in", "is", "je", "jij", "jou", "jouw", "jullie", "kan",
    "kon", "maar", "me", "meer", "men", "met", "mij", "mijn", "na", "naar", "niet", "nog", "nu", "of", "om",
    "omdat", "onder", "ons", "onze", "ook", "op", "over", "te", "tot", "u", "uit", "uw", "van", "voor",
    "waar", "waarheen", "waarmee", "waarom", "waarop", "waarvan", "wanneer", "waren", "was", "wat", "we",
    "wel", "welk", "welke", "werd", "wie", "wiens", "wij", "wil", "worden", "wordt", "ze", "zich", "zij",
    "zijn", "zo", "zou",
];

/// Source: own choice, as for German.
const RUSSIAN: &[&str] = &[
    "а",
    "без",
    "бы",
    "был",
    "была",
    "были",
    "было",
    "быть",
    "в",
    "вам",
    "вас",
    "ваш",
    "во",
    "вот",
    "все",
    "всё",
    "вы",
    "где",
    "да",
    "для",
    "до",
    "его",
    "ее",
    "если",
    "есть",
    "еще",
    "ещё",
    "её",
    "же",
    "за",
    "здесь",
    "и",
    "из",
    "или",
    "им",
    "их",
    "к",
    "как",
    "какая",
    "какие",
    "какой",
    "когда",
    "кому",
    "кто",
    "ли",
    "меня",
    "мне",
    "мы",
    "на",
    "наш",
    "не",
    "него",
    "нее",
    "нет",
    "ни",
    "но",
    "ну",
    "о",
    "об",
    "он",
    "она",
    "они",
    "оно",
    "от",
    "по",
    "почему",
    "при",
    "с",
    "сам",
    "себя",
    "со",
    "так",
    "там",
    "тебе",
    "тебя",
    "то",
    "того",
    "тоже",
    "только",
    "том",
    "ты",
    "у",
    "уже",
    "чего",
    "чем",
    "что",
    "чтобы",
    "эта",
    "эти",
    "это",
    "этот",
    "я",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_folded_and_without_doubles() {
        for language in LISTED {
            let list = list(language);
            assert!(list.is_sorted_by(|a, b| a < b), "{language:?}");
            assert!(list.iter().all(|word| crate::fold::lower(word) == *word), "{language:?}");
            assert!((60..=120).contains(&list.len()), "{language:?} has {}", list.len());
            assert!(
                list.iter().all(|word| word.len() <= LONGEST && is_listed(language, word)),
                "{language:?}"
            );
        }
    }

    #[test]
    fn words_without_meaning_are_stopped_in_their_language_only() {
        assert!(is_stop_word(Language::English, "The"));
        assert!(is_stop_word(Language::English, "what’s"));
        assert!(is_stop_word(Language::German, "für"));
        assert!(is_stop_word(Language::Russian, "Где"));
        for word in ["never", "can't", "go", "who's who", "über", ""] {
            assert!(!is_stop_word(Language::English, word), "{word}");
        }
        assert!(!is_stop_word(Language::Finnish, "ja"));
    }
}
