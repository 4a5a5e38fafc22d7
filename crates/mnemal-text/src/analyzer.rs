//! The analyzer: text to terms, shared by index and query.

use crate::Language;
use crate::fold::{lower_into, strip_accents};
use crate::grams::for_each_gram;
use crate::irregular::base_form;
use crate::known_stems::{KnownStems, ShortText};
use crate::script::Script;
use crate::stop;
use crate::words::{Word, for_each_chunk, push_words, separates_parts};
use rust_stemmers::Stemmer;
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The longest word that is stemmed, in bytes; what is longer is data, not language.
///
/// Source: own choice; the longest common words of the 18 languages have about 40 letters.
const LONGEST_STEMMED: usize = 64;

/// The longest name joined by `/` or `&` that is also one term, in bytes (`GB/s`, `TCP/IP`, `R&D`); paths are longer.
///
/// Source: own choice.
const LONGEST_JOINED: usize = 8;

/// The longest chain of numbers joined by `-` that is also one term, in bytes (`2023-05-08`).
///
/// Source: own choice; a telephone number with its prefix has 16.
const LONGEST_NUMBER: usize = 16;

/// The longest name in front of `+`, `++` or `#` that is also a term with it, in bytes (`C++`, `notepad++`).
///
/// Source: own choice.
const LONGEST_WITH_SUFFIX: usize = 12;

/// A term of a text and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// The analyzed form, as it is indexed.
    pub text: String,
    /// First byte in the original text.
    pub start: usize,
    /// One past the last byte in the original text.
    pub end: usize,
}

/// Converts text into terms, in one language.
///
/// The steps are those of the crate document.
/// An analyzer has no state but its language: it is cheap to make, and equal calls give equal results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Analyzer {
    language: Language,
}

impl Analyzer {
    /// Returns the analyzer for texts that are mostly in `language`.
    pub fn new(language: Language) -> Self {
        Self { language }
    }

    /// Returns the language that decides how Latin words (or those of its own script) are stemmed.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns every term of `text` in order of its start, stop words included.
    ///
    /// Terms may overlap: a compound comes before its parts, and each character pair of Chinese shares a character with the
    /// next.
    pub fn terms(&self, text: &str) -> Vec<Term> {
        let mut terms = Vec::with_capacity(text.len() / 5);
        self.for_each_term(text, &mut |term, range| {
            terms.push(Term { text: term.to_owned(), start: range.start, end: range.end });
        });
        terms
    }

    /// Calls `f` with every term of [`Analyzer::terms`] and its byte range, without a string per term.
    pub fn for_each_term(&self, text: &str, f: &mut dyn FnMut(&str, Range<usize>)) {
        self.walk(text, &mut |token| f(token.term, token.range));
    }

    /// Returns the distinct terms of a query in order of first appearance, without the stop words of the analyzer's language
    /// and of the query's own language.
    ///
    /// A query of stop words alone keeps them all. The number of terms is not limited here, because only the index knows which
    /// ones are rare.
    pub fn query_terms(&self, text: &str) -> Vec<String> {
        let mut kept = Distinct::default();
        let mut all = Distinct::default();
        let asked = Language::of_question(text);
        self.walk(text, &mut |token| {
            all.insert(token.term);
            let is_stopped = match token.language {
                Some(language) => {
                    stop::is_listed(language, token.word) || stop::is_dropped_from_query(asked, token.word)
                }
                None => stop::has_particle(token.word),
            };
            if !is_stopped {
                kept.insert(token.term);
            }
        });
        if kept.order.is_empty() { all.order } else { kept.order }
    }

    fn walk(self, text: &str, sink: &mut dyn FnMut(TermToken<'_>)) {
        let mut words = Vec::new();
        let mut scratch = Scratch::default();
        for_each_chunk(text, |offset, chunk| {
            words.clear();
            push_words(offset, chunk, &mut words);
            let mut walk = Walk { analyzer: self, text, scratch: &mut scratch, sink };
            walk.chunk(offset, &words);
        });
    }

    /// The language of a word's stemmer: determined by the script if possible, else by the analyzer.
    fn language_of(self, word: &str) -> Option<Language> {
        let script = word.chars().next().map(Script::of)?;
        match script {
            Script::Cyrillic => Some(Language::Russian),
            Script::Greek => Some(Language::Greek),
            Script::Arabic => Some(Language::Arabic),
            Script::Tamil => Some(Language::Tamil),
            Script::Latin if self.language.script() == Script::Latin => Some(self.language),
            Script::Latin => Some(Language::English),
            _ => None,
        }
    }
}

/// An output term.
struct TermToken<'a> {
    term: &'a str,
    /// The word in lower case, not stemmed, or a pair of characters; empty for an exact compound, which is never a stop word.
    word: &'a str,
    language: Option<Language>,
    range: Range<usize>,
}

/// Strings in the order of their first appearance.
#[derive(Default)]
struct Distinct {
    seen: HashSet<String>,
    order: Vec<String>,
}

impl Distinct {
    fn insert(&mut self, term: &str) {
        if !self.seen.contains(term) {
            self.seen.insert(term.to_owned());
            self.order.push(term.to_owned());
        }
    }
}

/// Buffers that are reused from word to word.
#[derive(Default)]
struct Scratch {
    word: String,
    term: String,
}

/// One walk over a text.
struct Walk<'t, 's> {
    analyzer: Analyzer,
    text: &'t str,
    scratch: &'s mut Scratch,
    sink: &'s mut dyn FnMut(TermToken<'_>),
}

impl<'t> Walk<'t, '_> {
    fn chunk(&mut self, offset: usize, words: &[Word]) {
        let mut joined_until = 0;
        for (index, word) in words.iter().enumerate() {
            if word.paired {
                self.pairs(word.range.clone());
                continue;
            }
            if let Some(named) = self.with_symbols(offset, word) {
                self.exact(named);
            }
            if word.range.start >= joined_until {
                let (joined, longest) = self.join(word, words.get(index + 1..).unwrap_or_default());
                joined_until = joined.end;
                if joined.end > word.range.end && joined.len() <= longest {
                    self.exact(joined);
                }
            }
            self.word(word.range.clone());
        }
    }

    /// A word, followed by its parts if it has any.
    fn word(&mut self, range: Range<usize>) {
        let raw = self.slice(range.clone());
        if !raw.contains(separates_parts) {
            self.plain(range);
            return;
        }
        self.exact(range.clone());
        let mut start = range.start;
        for part in raw.split_inclusive(separates_parts) {
            let trimmed = part.trim_end_matches(separates_parts);
            if trimmed.chars().any(char::is_alphanumeric) {
                self.plain(start..start + trimmed.len());
            }
            start += part.len();
        }
    }

    /// A single word: lower case, without its possessive, stemmed, without accents; without a stemmer its parts follow.
    fn plain(&mut self, range: Range<usize>) {
        let raw = self.slice(range.clone());
        let Scratch { word, term } = &mut *self.scratch;
        word.clear();
        if self.analyzer.language == Language::Turkish && raw.contains(['I', 'İ']) {
            lower_into(&with_turkish_i(raw), word);
        } else {
            lower_into(raw, word);
        }
        if word.ends_with("'s") {
            word.truncate(word.len() - 2);
        }
        let language = self.analyzer.language_of(word);
        let bare = without_clitic(language, word);
        term.clear();
        stem_into(language, bare, term);
        if term.is_empty() {
            return;
        }
        (self.sink)(TermToken { term, word: bare, language, range: range.clone() });
        if language.is_none() {
            let Scratch { word, term } = &mut *self.scratch;
            let sink = &mut self.sink;
            for_each_gram(term, word, &mut |part| {
                sink(TermToken { term: part, word: "", language: None, range: range.clone() });
            });
        }
    }

    /// A compound or a name with symbols, folded and not stemmed.
    fn exact(&mut self, range: Range<usize>) {
        let raw = self.slice(range.clone());
        let term = &mut self.scratch.term;
        term.clear();
        lower_into(raw, term);
        strip_accents(term);
        (self.sink)(TermToken { term, word: "", language: None, range });
    }

    /// Pairs of neighboring characters, those with katakana in hiragana too; a single one stands for itself.
    fn pairs(&mut self, range: Range<usize>) {
        let run = self.slice(range.clone());
        let term = &mut self.scratch.term;
        let mut previous: Option<(usize, &str)> = None;
        let mut single = true;
        for (at, grapheme) in run.grapheme_indices(true) {
            if let Some((before, first)) = previous {
                single = false;
                term.clear();
                lower_into(first, term);
                lower_into(grapheme, term);
                let pair = range.start + before..range.start + at + grapheme.len();
                (self.sink)(TermToken { term, word: term, language: None, range: pair.clone() });
                if to_hiragana(term) {
                    (self.sink)(TermToken { term, word: "", language: None, range: pair });
                }
            }
            previous = Some((at, grapheme));
        }
        if single {
            self.exact(range);
        }
    }

    /// The bytes of the words that `/`, `&`, or, among numbers, `-` joins to the first one, and how long a name may be.
    fn join(&self, first: &Word, rest: &[Word]) -> (Range<usize>, usize) {
        let Range { start, mut end } = first.range;
        let separator = self.byte(end);
        let longest = match separator {
            Some(b'/' | b'&') => LONGEST_JOINED,
            Some(b'-') if self.is_number(first) => LONGEST_NUMBER,
            _ => return (start..end, 0),
        };
        for word in rest {
            let touches = word.range.start == end + 1 && self.byte(end) == separator && !word.paired;
            if !touches || (separator == Some(b'-') && !self.is_number(word)) {
                break;
            }
            end = word.range.end;
        }
        (start..end, longest)
    }

    /// The bytes of a word with the `+`, `++` or `#` behind it or the `.` before it (`C++`, `C#`, `.NET`).
    fn with_symbols(&self, offset: usize, word: &Word) -> Option<Range<usize>> {
        let Range { start, end } = word.range;
        if word.range.len() > LONGEST_WITH_SUFFIX {
            return None;
        }
        let more = |at: usize| self.byte(at).is_some_and(|byte| byte.is_ascii_alphanumeric());
        match (self.byte(end), self.byte(end + 1)) {
            (Some(b'+'), Some(b'+')) => return Some(start..end + 2),
            (Some(b'+' | b'#'), _) if !more(end + 1) => return Some(start..end + 1),
            _ => {}
        }
        let dot = start.checked_sub(1).filter(|&at| at >= offset && self.byte(at) == Some(b'.'))?;
        self.byte(start).filter(|first| !first.is_ascii_digit())?;
        let opens = dot == offset || self.byte(dot - 1).is_some_and(|byte| b"\"'`([{*/".contains(&byte));
        opens.then_some(dot..end)
    }

    fn is_number(&self, word: &Word) -> bool {
        self.slice(word.range.clone()).bytes().all(|byte| byte.is_ascii_digit())
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }
}

/// Appends the stem of a word in lower case, without accents.
///
/// English and Russian words lose their accents before stemming, because their stemmers do not know them and people often omit
/// them (`résumés`, `resumes`; `ёлка`, `елка`). The other stemmers need them (`mangées`, `ações`), so there accents are removed
/// last.
fn stem_into(language: Option<Language>, word: &str, term: &mut String) {
    let is_language = word.len() <= LONGEST_STEMMED && !word.bytes().any(|byte| byte.is_ascii_digit());
    let Some(language) = language.filter(|_| is_language) else {
        term.push_str(word);
        strip_accents(term);
        return;
    };
    let Some(short) = ShortText::of(word) else {
        stem_anew(language, word, term);
        return;
    };
    if !KnownStems::append(language, short, term) {
        let start = term.len();
        stem_anew(language, word, term);
        KnownStems::keep(language, short, term.get(start..).unwrap_or_default());
    }
}

fn stem_anew(language: Language, word: &str, term: &mut String) {
    let stemmer = Stemmer::create(language.algorithm());
    if word.is_ascii() || !matches!(language, Language::English | Language::Russian) {
        stem_with(&stemmer, language, word, term);
    } else {
        let mut plain = word.to_owned();
        strip_accents(&mut plain);
        stem_with(&stemmer, language, &plain, term);
    }
    strip_accents(term);
}

fn stem_with(stemmer: &Stemmer, language: Language, word: &str, term: &mut String) {
    let word = if language == Language::English { base_form(word).unwrap_or(word) } else { word };
    if word.len() <= 2 {
        term.push_str(word); // no stemmer shortens one or two letters
    } else {
        term.push_str(&stemmer.stem(&with_cedillas(language, word)));
    }
}

/// Returns a Romanian word with the letters that its stemmer knows: `ș` and `ț` are written with a comma, and were with a
/// cedilla.
fn with_cedillas(language: Language, word: &str) -> Cow<'_, str> {
    if language != Language::Romanian || !word.contains(['ș', 'ț']) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.replace('ș', "ş").replace('ț', "ţ"))
}

/// Returns a text with the capital `I` and `İ` in their Turkish lower case.
fn with_turkish_i(text: &str) -> String {
    let small = |letter| match letter {
        'I' => 'ı',
        'İ' => 'i',
        other => other,
    };
    text.chars().map(small).collect()
}

/// Writes katakana as hiragana (`リンゴ` and `りんご` are one word); returns whether there was some.
fn to_hiragana(term: &mut String) -> bool {
    /// Distance of a letter of katakana from the same one of hiragana. Source: the Unicode blocks.
    const DISTANCE: u32 = 0x60;
    let is_katakana = |letter: char| matches!(letter, 'ァ'..='ヶ');
    if !term.chars().any(is_katakana) {
        return false;
    }
    let other = |letter: char| char::from_u32(u32::from(letter) - DISTANCE).unwrap_or(letter);
    *term = term.chars().map(|letter| if is_katakana(letter) { other(letter) } else { letter }).collect();
    true
}

/// Returns the word after an elided article or particle (`l'homme`, `dell'acqua`) or an Arabic conjunction (`والكتاب`), or
/// before a Turkish suffix (`Ankara'da`), which occur in texts of a space of any language.
fn without_clitic(language: Option<Language>, word: &str) -> &str {
    let particles: &[&str] = match language {
        Some(Language::French) => FRENCH,
        Some(Language::Italian) => ITALIAN,
        Some(Language::Arabic) => return without_conjunction(word),
        Some(Language::Turkish) => return word.split('\'').next().unwrap_or(word),
        Some(_) => return without_foreign_clitic(word),
        None => return word,
    };
    match word.split_once('\'') {
        Some((particle, rest)) if !rest.is_empty() && particles.contains(&particle) => rest,
        _ => word,
    }
}

/// Clitics written onto the next word.
const FRENCH: &[&str] = &["c", "d", "j", "jusqu", "l", "lorsqu", "m", "n", "puisqu", "qu", "s", "t"];
const ITALIAN: &[&str] =
    &["all", "c", "d", "dall", "dell", "gl", "l", "m", "nell", "quell", "quest", "s", "sull", "t", "un", "v"];
/// Turkish suffixes after the apostrophe of a name. Source: the cases, possessives and `ile` of a Turkish grammar.
const TURKISH: &[&str] = &[
    "a", "da", "dan", "de", "den", "e", "i", "in", "la", "le", "nda", "ndan", "nde", "nden", "nin", "nun",
    "nın", "nün", "ta", "tan", "te", "ten", "u", "un", "ya", "ye", "yi", "yla", "yle", "yu", "yı", "yü", "ı",
    "ın", "ü", "ün",
];
/// Fewest letters of a word after a clitic, or before a suffix, in another language. Source: own choice.
const FEWEST: usize = 3;

/// Removes a French or Italian clitic, or a Turkish suffix, in a text of a space of another language.
fn without_foreign_clitic(word: &str) -> &str {
    let Some((before, behind)) = word.split_once('\'') else { return word };
    let is_word = |part: &str| part.chars().filter(|letter| letter.is_alphabetic()).count() >= FEWEST;
    if is_word(behind) && (FRENCH.contains(&before) || ITALIAN.contains(&before)) {
        behind
    } else if is_word(before) && TURKISH.contains(&behind) {
        before
    } else {
        word
    }
}

/// Returns an Arabic word without the `و` or `ف` before its article; the stemmer then removes the article.
fn without_conjunction(word: &str) -> &str {
    /// Fewest letters behind the article. Source: own choice; `والله` and `والي` are no `و` with an article.
    const SHORTEST: usize = 3;
    let Some(rest) = word.strip_prefix(['و', 'ف']) else { return word };
    let nouns = ["ال", "لل", "بال", "كال"].iter().filter_map(|article| rest.strip_prefix(article));
    let has_noun = nouns.into_iter().any(|noun| noun.chars().count() >= SHORTEST);
    if has_noun && !PARENTS.contains(&word) { rest } else { word }
}

/// Forms of "parent" that look like a conjunction with an article. Source: own choice.
const PARENTS: [&str; 14] = [
    "والدتي",
    "والدتك",
    "والدته",
    "والدتها",
    "والدتنا",
    "والدتهم",
    "والدها",
    "والدنا",
    "والدهم",
    "والدين",
    "والديه",
    "والديها",
    "والدان",
    "والداي",
];
