//! Supported languages with their packs.

use std::collections::HashMap;
use std::sync::OnceLock;

use mnemal_core::Result;
use mnemal_text::{Language, is_stop_word};

use crate::claims::rules::Rules;
use crate::dates::is_hangul;
use crate::gates::pack::GatePack;
use crate::hash::WordHashBuilder;
use crate::section::PackFile;
use crate::word::{Word, is_sign, words};

/// The packs of one language; each is loaded on first use, so that a question pays for the gates of English only.
#[derive(Debug)]
pub(crate) struct Pack {
    code: &'static str,
    sources: (&'static str, &'static str),
    gates: OnceLock<GatePack>,
    rules: OnceLock<Option<Rules>>,
}

/// Code, gates and rules for claims of each language.
pub(crate) const SOURCES: &[(&str, &str, &str)] = &[
    (
        "en",
        include_str!("../packs/en/gates.toml"),
        concat!(
            include_str!("../packs/en/measured.toml"),
            "\n",
            include_str!("../packs/en/claims_kin.toml"),
            "\n",
            include_str!("../packs/en/claims_free.toml"),
            "\n",
            include_str!("../packs/en/claims_work.toml"),
            "\n",
            include_str!("../packs/en/claims_home.toml"),
            "\n",
            include_str!("../packs/en/claims_doing.toml"),
            "\n",
            include_str!("../packs/en/claims_life.toml"),
            "\n",
            include_str!("../packs/en/claims.toml"),
            "\n",
            include_str!("../packs/en/claims_everyday.toml"),
            "\n",
            include_str!("../packs/en/facts.toml")
        ),
    ),
    (
        "de",
        include_str!("../packs/de/gates.toml"),
        concat!(
            include_str!("../packs/de/claims_kin.toml"),
            "\n",
            include_str!("../packs/de/claims.toml"),
            "\n",
            include_str!("../packs/de/claims_life.toml"),
            "\n",
            include_str!("../packs/de/facts.toml")
        ),
    ),
    (
        "fr",
        include_str!("../packs/fr/gates.toml"),
        concat!(
            include_str!("../packs/fr/claims_kin.toml"),
            "\n",
            include_str!("../packs/fr/claims.toml"),
            "\n",
            include_str!("../packs/fr/claims_life.toml"),
            "\n",
            include_str!("../packs/fr/facts.toml")
        ),
    ),
    (
        "es",
        include_str!("../packs/es/gates.toml"),
        concat!(
            include_str!("../packs/es/claims_kin.toml"),
            "\n",
            include_str!("../packs/es/claims.toml"),
            "\n",
            include_str!("../packs/es/claims_life.toml"),
            "\n",
            include_str!("../packs/es/facts.toml")
        ),
    ),
    (
        "pt",
        include_str!("../packs/pt/gates.toml"),
        concat!(
            include_str!("../packs/pt/claims_kin.toml"),
            "\n",
            include_str!("../packs/pt/claims.toml"),
            "\n",
            include_str!("../packs/pt/claims_life.toml"),
            "\n",
            include_str!("../packs/pt/facts.toml")
        ),
    ),
    (
        "zh",
        include_str!("../packs/zh/gates.toml"),
        concat!(
            include_str!("../packs/zh/claims_kin.toml"),
            "\n",
            include_str!("../packs/zh/claims.toml"),
            "\n",
            include_str!("../packs/zh/claims_life.toml"),
            "\n",
            include_str!("../packs/zh/facts.toml")
        ),
    ),
];

/// Most words of a short text, in which single words determine the language. Source: own choice.
const SHORT: usize = 25;
/// Fewest words of a sentence for language detection. Source: own choice; detection is unreliable on shorter ones.
const SENTENCE: usize = 4;

/// Extraction support of a language.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// Names, identifiers and secrets; in Japanese and Korean also dates.
    Names,
    /// Also dates, feedback and the most frequent predicates.
    Frequent,
    /// Every predicate.
    Every,
}

impl Tier {
    /// Returns the support level of a language by its two-letter code.
    ///
    /// A language whose pack lacks a gate, or whose claims are disabled, has at most [`Tier::Names`].
    pub fn of(code: &str) -> Self {
        match Pack::of(code).and_then(Pack::rules) {
            Some(_) if code == "en" => Self::Every,
            Some(_) => Self::Frequent,
            None => Self::Names,
        }
    }

    /// Returns a description for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Names => "names only",
            Self::Frequent => "frequent facts",
            Self::Every => "all facts",
        }
    }
}

/// Returns the language of a text, by its two-letter code.
///
/// The script decides for Chinese, Japanese and Korean, stop words for others; in a short text, also words that only one of the
/// languages with packs has.
pub fn language(text: &str) -> &'static str {
    if let Some(code) = by_script(text) {
        return code;
    }
    let voted = Language::guess(text).code();
    let is_short = text.split_whitespace().take(SHORT + 1).count() <= SHORT;
    if !is_short || voted == "en" && text.is_ascii() && text.len() > 150 {
        return voted;
    }
    correct_vote(text, voted)
}

/// Returns the code of Chinese, Japanese or Korean if the script shows that most of a text is in it: one with kana is Japanese,
/// one with Hangul Korean, one with Han and neither Chinese.
///
/// A sign weighs as much as four letters, since it often is a word, a hiragana or a syllable of Korean as two; a katakana
/// counts once, because names in it stand in texts of other languages.
pub fn by_script(text: &str) -> Option<&'static str> {
    if text.is_ascii() {
        return None;
    }
    let (mut han, mut hiragana, mut katakana, mut hangul, mut other) =
        (0_usize, 0_usize, 0_usize, 0_usize, 0_usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        match c {
            '\u{3040}'..='\u{309f}' => hiragana += 1,
            '\u{30a0}'..='\u{30ff}' => katakana += 1,
            _ if is_hangul(c) => hangul += 1,
            _ if is_sign(c) => han += 1,
            _ => other += 1,
        }
    }
    let (kana, korean) = (hiragana * 2 + katakana, hangul * 2);
    let (code, weight) = match (kana, korean) {
        (0, 0) => ("zh", han * 4),
        (kana, korean) if korean > kana => ("ko", korean),
        (kana, _) => ("ja", kana + han * 4),
    };
    (weight > 0 && weight >= other).then_some(code)
}

/// The languages of the sentences of a text: the text's own, or another that a sentence shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentenceLanguages {
    of_text: &'static str,
    is_mixed: bool,
}

impl SentenceLanguages {
    /// Reads the language of a text.
    pub(crate) fn of(text: &str) -> Self {
        let of_text = language(text);
        Self { of_text, is_mixed: of_text != "en" || !text.is_ascii() }
    }

    /// Returns the code of a sentence: its own language where it is long enough to show it.
    pub(crate) fn code(self, sentence: &str) -> &'static str {
        let is_long = self.is_mixed && sentence.split_whitespace().take(SENTENCE).count() == SENTENCE;
        let shows_own = is_long || self.is_mixed && by_script(sentence).is_some();
        if shows_own { language(sentence) } else { self.of_text }
    }
}

fn correct_vote(text: &str, voted: &'static str) -> &'static str {
    let packs = Pack::all();
    let words = words(text);
    let mut counts = vec![0_usize; packs.len()];
    for word in &words {
        let told = telling(&word.lower);
        for (place, vote) in counts.iter_mut().enumerate() {
            *vote += usize::from(told >> place & 1);
        }
    }
    // "Vivo" is Spanish and Portuguese; the small words beside it tell which.
    let small = |place: usize| packs.get(place).map_or(0, |pack| stop_words(&words, pack.code));
    let rank = |(place, vote): (usize, &usize)| (*vote, small(place));
    let best = counts.iter().enumerate().filter(|(_, vote)| **vote > 0).max_by_key(|of| rank(*of));
    let Some((best, most)) = best else { return voted };
    let is_alone = counts.iter().enumerate().filter(|of| rank(*of) == rank((best, most))).count() == 1;
    // A single word tells nothing against a language that has no words of its own here.
    let of_voted = packs
        .iter()
        .position(|pack| pack.code == voted)
        .map_or(1, |at| counts.get(at).copied().unwrap_or_default());
    match packs.get(best) {
        Some(pack) if *most > 0 && is_alone => {
            let is_clear =
                if voted == "en" { outweighs_english(*most, &words, pack.code) } else { of_voted < *most };
            if is_clear { pack.code } else { voted }
        }
        _ => voted,
    }
}

/// Returns how many words are small ones of a language.
fn stop_words(words: &[Word<'_>], code: &str) -> usize {
    let Some(language) = Language::from_code(code) else { return 0 };
    words.iter().filter(|word| is_stop_word(language, &word.lower)).count()
}

/// Whether so many words of a language weigh more than the English ones: "me" and "a" are also Spanish, and count half.
fn outweighs_english(most: usize, words: &[Word<'_>], code: &str) -> bool {
    let other = Language::from_code(code);
    let (mut own, mut shared) = (0, 0);
    for word in words.iter().filter(|word| telling(&word.lower) == 0) {
        let is_other = other.is_some_and(|other| is_stop_word(other, &word.lower));
        match is_stop_word(Language::English, &word.lower) {
            true if is_other => shared += 1,
            true => own += 1,
            false => {}
        }
    }
    most > own && 2 * most >= 2 * own + shared
}

/// Most words of a text that may be in another language than its code. Source: own choice.
const FEW: usize = 12;

/// Whether a text has only a few words.
pub(crate) fn is_brief(text: &str) -> bool {
    text.split_whitespace().take(FEW + 1).count() <= FEW
}

/// Whether a text has only a few words of which none tells the language with a code, so that it may be in another one.
pub(crate) fn is_unsure(text: &str, code: &str) -> bool {
    is_brief(text) && by_script(text).is_none() && telling_words(text, code) == 0
}

/// Returns how many words of a text tell a language, and no other.
pub(crate) fn telling_words(text: &str, code: &str) -> usize {
    let Some(place) = Pack::all().iter().position(|pack| pack.code == code) else { return 0 };
    words(text).iter().filter(|word| telling(&word.lower) == 1 << place).count()
}

/// Returns the languages that a word, or what precedes its apostrophe, tells by itself: a bit for each, by its place.
fn telling(word: &str) -> u16 {
    static TELLING: OnceLock<HashMap<&'static str, u16, WordHashBuilder>> = OnceLock::new();
    let telling = TELLING.get_or_init(|| {
        let mut telling: HashMap<&'static str, u16, WordHashBuilder> = HashMap::default();
        for (place, pack) in Pack::all().iter().enumerate() {
            for word in pack.gates().telling.iter() {
                *telling.entry(word).or_default() |= 1 << place;
            }
        }
        telling
    });
    let of = |word: &str| telling.get(word).copied().unwrap_or_default();
    let begin = word.bytes().position(|byte| byte == b'\'').and_then(|at| word.get(..=at));
    of(word) | begin.map_or(0, of)
}

impl Pack {
    /// Names the packs of a language.
    const fn of_sources((code, gates, claims): (&'static str, &'static str, &'static str)) -> Self {
        Self { code, sources: (gates, claims), gates: OnceLock::new(), rules: OnceLock::new() }
    }

    /// Reads the packs of a language from their texts at once.
    ///
    /// # Errors
    /// `Invalid` with the first mistake.
    #[cfg(test)]
    pub(crate) fn read(code: &'static str, gates: &'static str, claims: &'static str) -> Result<Self> {
        read_gates(gates)?;
        read_rules(code, claims)?;
        Ok(Self::of_sources((code, gates, claims)))
    }

    /// Returns every language, English first.
    pub(crate) fn all() -> &'static [Pack] {
        static ALL: OnceLock<Vec<Pack>> = OnceLock::new();
        ALL.get_or_init(|| SOURCES.iter().copied().map(Self::of_sources).collect())
    }

    /// Returns the pack of a language by its code.
    pub(crate) fn of(code: &str) -> Option<&'static Pack> {
        Self::all().iter().find(|pack| pack.code == code)
    }

    /// Returns the pack for a sentence of a text in the language `of_text`: its own language where it is long enough to show it.
    #[expect(clippy::fn_params_excessive_bools, reason = "whether the text can be of several languages")]
    pub(crate) fn of_sentence(
        sentence: &str,
        of_text: &'static str,
        is_mixed: bool,
    ) -> Option<&'static Pack> {
        Self::of(SentenceLanguages { of_text, is_mixed }.code(sentence))
    }

    /// Returns the pack of English.
    pub(crate) fn english() -> &'static Pack {
        Self::all().first().expect("English comes first")
    }

    /// Returns the two letters of the language.
    #[cfg(test)]
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the gates; of a pack with a mistake none, so that no rule runs. A test reads every pack.
    pub(crate) fn gates(&self) -> &GatePack {
        self.gates.get_or_init(|| read_gates(self.sources.0).unwrap_or_default())
    }

    /// Returns the rules for claims; none when a gate is missing that protects them, when they are switched off, or when
    /// their pack has a mistake.
    pub(crate) fn rules(&self) -> Option<&Rules> {
        let rules = || self.rules.get_or_init(|| read_rules(self.code, self.sources.1).ok()).as_ref();
        if self.gates().is_complete { rules() } else { None }
    }
}

fn read_gates(text: &str) -> Result<GatePack> {
    GatePack::read(PackFile::parse(text)?.root())
}

fn read_rules(code: &'static str, text: &str) -> Result<Rules> {
    Rules::read(code, PackFile::parse(text)?.root())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_two_languages_do_not_make_a_short_text_english() {
        for (text, code) in [
            ("Me mudé a Bilbao.", "es"),
            ("Me casé con Ana.", "es"),
            ("Mudei-me a Braga.", "pt"),
            ("I met a José at the café.", "en"),
            ("Send me a mail, por favor, and a copy", "en"),
        ] {
            assert_eq!(language(text), code, "{text}");
        }
    }
}
