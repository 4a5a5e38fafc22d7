//! The languages with a stemmer, and language detection.

use crate::script::Script;
use crate::stop;
use rust_stemmers::Algorithm;
use unicode_segmentation::UnicodeSegmentation;

/// A language with a Snowball stemmer.
///
/// A language that is not listed needs no entry: its texts are analyzed by script, and Latin ones as English.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Language {
    /// Arabic, `ar`.
    Arabic,
    /// Danish, `da`.
    Danish,
    /// Dutch, `nl`.
    Dutch,
    /// English, `en`: the default.
    #[default]
    English,
    /// Finnish, `fi`.
    Finnish,
    /// French, `fr`.
    French,
    /// German, `de`.
    German,
    /// Greek, `el`.
    Greek,
    /// Hungarian, `hu`.
    Hungarian,
    /// Italian, `it`.
    Italian,
    /// Norwegian, `no` (`nb` and `nn` are understood).
    Norwegian,
    /// Portuguese, `pt`.
    Portuguese,
    /// Romanian, `ro`.
    Romanian,
    /// Russian, `ru`.
    Russian,
    /// Spanish, `es`.
    Spanish,
    /// Swedish, `sv`.
    Swedish,
    /// Tamil, `ta`.
    Tamil,
    /// Turkish, `tr`.
    Turkish,
}

/// Every language with its code and stemmer.
const TABLE: [(Language, &str, Algorithm); 18] = [
    (Language::Arabic, "ar", Algorithm::Arabic),
    (Language::Danish, "da", Algorithm::Danish),
    (Language::Dutch, "nl", Algorithm::Dutch),
    (Language::English, "en", Algorithm::English),
    (Language::Finnish, "fi", Algorithm::Finnish),
    (Language::French, "fr", Algorithm::French),
    (Language::German, "de", Algorithm::German),
    (Language::Greek, "el", Algorithm::Greek),
    (Language::Hungarian, "hu", Algorithm::Hungarian),
    (Language::Italian, "it", Algorithm::Italian),
    (Language::Norwegian, "no", Algorithm::Norwegian),
    (Language::Portuguese, "pt", Algorithm::Portuguese),
    (Language::Romanian, "ro", Algorithm::Romanian),
    (Language::Russian, "ru", Algorithm::Russian),
    (Language::Spanish, "es", Algorithm::Spanish),
    (Language::Swedish, "sv", Algorithm::Swedish),
    (Language::Tamil, "ta", Algorithm::Tamil),
    (Language::Turkish, "tr", Algorithm::Turkish),
];

/// Number of words that vote in [`Language::guess`]; a longer text is judged by its start.
///
/// Source: own choice; a few lines decide, and the guess stays cheap on long documents.
const VOTING_WORDS: usize = 400;

/// Votes that a language other than English needs, so that one borrowed word does not change the stemmer.
///
/// Source: own choice; "Rome a Paris" has one.
const VOTES_TO_LEAVE_ENGLISH: u32 = 2;

impl Language {
    /// Returns the language of a BCP 47 tag (`de`, `de-AT`, `pt_BR`), whatever its case.
    pub fn from_code(code: &str) -> Option<Self> {
        let primary = code.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let primary = match primary.as_str() {
            "nb" | "nn" => "no",
            other => other,
        };
        TABLE.iter().find(|row| row.1 == primary).map(|row| row.0)
    }

    /// Returns the two-letter ISO 639-1 code.
    pub fn code(self) -> &'static str {
        self.row().1
    }

    /// Returns all languages, ordered by their English names.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    /// Guesses the language of `text`.
    ///
    /// A text that is mostly Cyrillic, Greek, Arabic or Tamil is taken for Russian, Greek, Arabic or Tamil. A Latin one is
    /// decided by votes: a stop word of a language, or a letter that only it uses, is one vote. English wins ties, texts
    /// without a vote and every text in another script.
    pub fn guess(text: &str) -> Self {
        Self::voted(text, VOTES_TO_LEAVE_ENGLISH)
    }

    /// Guesses the language of a query, which is short: one vote is enough if English has none.
    pub fn of_question(text: &str) -> Self {
        Self::voted(text, 1)
    }

    fn voted(text: &str, least: u32) -> Self {
        let mut letters = ScriptCount::default();
        let mut votes = [0_u32; stop::LISTED.len()];
        let mut folded = String::new();
        for word in text.unicode_words().take(VOTING_WORDS) {
            letters.add(word);
            folded.clear();
            crate::fold::lower_into(word, &mut folded);
            let (listing, is_plain) = (stop::listing(&folded), folded.is_ascii());
            if listing == 0 && is_plain {
                continue;
            }
            for (place, (vote, language)) in votes.iter_mut().zip(stop::LISTED).enumerate() {
                *vote += u32::from(listing >> place & 1);
                let is_own = || own_letters(language).is_some_and(|own| folded.contains(own));
                *vote += u32::from(!is_plain && is_own());
            }
        }
        letters.language().unwrap_or_else(|| winner(&votes, least))
    }

    pub(crate) fn algorithm(self) -> Algorithm {
        self.row().2
    }

    /// The script in which the language is written.
    pub(crate) fn script(self) -> Script {
        match self {
            Self::Arabic => Script::Arabic,
            Self::Greek => Script::Greek,
            Self::Russian => Script::Cyrillic,
            Self::Tamil => Script::Tamil,
            _ => Script::Latin,
        }
    }

    fn row(self) -> &'static (Self, &'static str, Algorithm) {
        TABLE.iter().find(|row| row.0 == self).unwrap_or(&(Self::English, "en", Algorithm::English))
    }
}

fn winner(votes: &[u32], least: u32) -> Language {
    let mut best = (Language::English, votes.first().copied().unwrap_or(0));
    for (&vote, language) in votes.iter().zip(stop::LISTED) {
        if vote >= least && vote > best.1 {
            best = (language, vote);
        }
    }
    best.0
}

/// Letters that, among the voting languages, only this one uses in common words.
fn own_letters(language: Language) -> Option<&'static [char]> {
    match language {
        Language::German => Some(&['ß', 'ä']),
        Language::Spanish => Some(&['ñ']),
        Language::Portuguese => Some(&['ã', 'õ']),
        Language::French => Some(&['œ', 'ê', 'û']),
        _ => None,
    }
}

/// Letters seen per script that decides on a language.
#[derive(Default)]
struct ScriptCount {
    all: u32,
    cyrillic: u32,
    greek: u32,
    arabic: u32,
    tamil: u32,
}

impl ScriptCount {
    fn add(&mut self, word: &str) {
        if word.is_ascii() {
            let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
            self.all += u32::try_from(letters).unwrap_or(u32::MAX);
            return;
        }
        for letter in word.chars().filter(|letter| letter.is_alphabetic()) {
            self.all += 1;
            match Script::of(letter) {
                Script::Cyrillic => self.cyrillic += 1,
                Script::Greek => self.greek += 1,
                Script::Arabic => self.arabic += 1,
                Script::Tamil => self.tamil += 1,
                _ => {}
            }
        }
    }

    fn language(&self) -> Option<Language> {
        [
            (self.cyrillic, Language::Russian),
            (self.greek, Language::Greek),
            (self.arabic, Language::Arabic),
            (self.tamil, Language::Tamil),
        ]
        .into_iter()
        .find(|(letters, _)| letters * 2 > self.all)
        .map(|(_, language)| language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_go_there_and_back() {
        for language in Language::all() {
            assert_eq!(Language::from_code(language.code()), Some(language));
        }
        assert_eq!(Language::all().count(), 18);
        assert_eq!(Language::from_code("PT_br"), Some(Language::Portuguese));
        assert_eq!(Language::from_code("nb"), Some(Language::Norwegian));
        assert_eq!(Language::from_code("tlh"), None);
        assert_eq!(Language::from_code(""), None);
    }

    #[test]
    fn a_text_tells_its_language() {
        for (text, expect) in [
            ("Where did you put the keys of the car?", Language::English),
            ("Wo hast du die Schlüssel für das Auto hingelegt?", Language::German),
            ("Où est-ce que tu as mis les clés de la voiture ?", Language::French),
            ("¿Dónde pusiste las llaves del coche de mi hermana?", Language::Spanish),
            ("Onde é que você colocou as chaves do carro?", Language::Portuguese),
            ("Dove hai messo le chiavi della macchina di Anna?", Language::Italian),
            ("Waar heb je de sleutels van de auto gelaten?", Language::Dutch),
            ("Куда ты положил ключи от машины?", Language::Russian),
            ("Πού έβαλες τα κλειδιά του αυτοκινήτου;", Language::Greek),
            ("أين وضعت مفاتيح السيارة؟", Language::Arabic),
            ("சாவியை எங்கே வைத்தாய்?", Language::Tamil),
        ] {
            assert_eq!(Language::guess(text), expect, "{text}");
        }
    }

    #[test]
    fn the_unknown_is_english() {
        for text in ["", "42", "Rome a Paris", "xyzzy", "鍵はどこですか", "zażółć gęślą jaźń"]
        {
            assert_eq!(Language::guess(text), Language::English, "{text}");
        }
    }
}
