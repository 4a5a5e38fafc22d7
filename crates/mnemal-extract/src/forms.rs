//! Contractions and other multi-word written forms of a language: "I'm", "dont", "j'habite".

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use mnemal_core::Result;

use crate::hash::WordHashBuilder;
use crate::prefilter::Prefilter;
use crate::section::Section;
use crate::word::{Word, start, words};

/// Splits the written words of a language into their parts.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    /// Beginnings that are words of their own, with their apostrophe: `j'`.
    prefixes: Vec<Box<str>>,
    /// Endings that are words of their own, with their apostrophe: `'m`, `n't`.
    suffixes: Vec<Box<str>>,
    /// Whole words with the words that they stand for.
    whole: HashMap<Box<str>, Vec<Box<str>>, WordHashBuilder>,
    /// The beginnings of these words.
    begins: Prefilter,
    /// Accents are left out of words, since many write without them.
    is_plain: bool,
    /// Words whose accent tells them from another: "qué".
    accented: HashSet<Box<str>>,
}

impl Forms {
    /// Reads the table `words` of a pack: `prefixes`, `suffixes` and `forms` (`"dont = do n't"`).
    pub(crate) fn read(section: Option<Section<'_>>) -> Result<Self> {
        let Some(section) = section else { return Ok(Self::default()) };
        let list =
            |key| -> Result<Vec<Box<str>>> { Ok(section.lines(key)?.into_iter().map(Into::into).collect()) };
        let mut whole: HashMap<Box<str>, Vec<Box<str>>, WordHashBuilder> = HashMap::default();
        for line in section.lines("forms")? {
            let (form, of) = line.split_once('=').unwrap_or((line, line));
            whole.insert(form.trim().into(), of.split_whitespace().map(Into::into).collect());
        }
        Ok(Self {
            prefixes: list("prefixes")?,
            suffixes: list("suffixes")?,
            begins: whole.keys().map(|form| start(form)).collect(),
            whole,
            is_plain: section.flag("plain")?,
            accented: section.lines("accented")?.into_iter().map(Into::into).collect(),
        })
    }

    /// Returns the words of `text`, split.
    pub(crate) fn words<'t>(&self, text: &'t str) -> Vec<Word<'t>> {
        let mut split = Vec::with_capacity(text.len() / 4);
        for word in words(text) {
            self.push(self.plain(word), &mut split);
        }
        split
    }

    /// Leaves accents out where the language asks for it.
    fn plain<'t>(&self, mut word: Word<'t>) -> Word<'t> {
        if self.is_plain && !word.lower.is_ascii() && !self.accented.contains(word.lower.as_ref()) {
            let plain = Cow::Owned(word.lower.chars().map(without_accent).collect());
            word = Word::new(plain, word.span, word.starts_clause);
        }
        word
    }

    fn push<'t>(&self, word: Word<'t>, split: &mut Vec<Word<'t>>) {
        if self.begins.meets(word.prefilter())
            && let Some(of) = self.whole.get(word.lower.as_ref())
        {
            return push_whole(&word, of, split);
        }
        if !word.lower.bytes().any(|byte| byte == b'\'') {
            return split.push(word);
        }
        for prefix in &self.prefixes {
            if let Some((head, tail)) =
                cut(&word, prefix.chars().count(), |lower| lower.starts_with(&**prefix))
            {
                split.push(head);
                return self.push(tail, split);
            }
        }
        for suffix in &self.suffixes {
            let all = word.lower.chars().count();
            let Some(keep) = all.checked_sub(suffix.chars().count()).filter(|keep| *keep > 0) else {
                continue;
            };
            if let Some((head, tail)) = cut(&word, keep, |lower| lower.ends_with(&**suffix)) {
                self.push(head, split);
                return split.push(tail);
            }
        }
        split.push(word);
    }
}

/// The letter without its accent, of those that Spanish and Portuguese have; `ñ` is a letter of its own.
fn without_accent(letter: char) -> char {
    match letter {
        'á' | 'à' | 'â' | 'ã' | 'ä' => 'a',
        'é' | 'è' | 'ê' => 'e',
        'í' | 'ì' => 'i',
        'ó' | 'ò' | 'ô' | 'õ' => 'o',
        'ú' | 'ù' | 'ü' => 'u',
        'ç' => 'c',
        other => other,
    }
}

/// Cuts a word behind its first `keep` characters, if small and written form have equally many of them.
fn cut<'t>(word: &Word<'t>, keep: usize, fits: impl Fn(&str) -> bool) -> Option<(Word<'t>, Word<'t>)> {
    if !fits(&word.lower) {
        return None;
    }
    let (head, tail) = halves(&word.lower, keep)?;
    // Apostrophes have 1 or 3 bytes; letters keep their size in all but a few scripts, where nothing is cut.
    let bytes: usize = head.chars().map(char::len_utf8).sum();
    let at = word.span.start + bytes;
    let middle = if word.span.len() == word.lower.len() { at } else { typographic(word, &head)? };
    Some((
        Word::new(Cow::Owned(head), word.span.start..middle, word.starts_clause),
        Word::new(Cow::Owned(tail), middle..word.span.end, false),
    ))
}

fn halves(lower: &str, keep: usize) -> Option<(String, String)> {
    let (at, _) = lower.char_indices().nth(keep)?;
    let (head, tail) = lower.split_at_checked(at)?;
    Some((head.to_owned(), tail.to_owned()))
}

/// The written form is longer by two bytes for every typographic apostrophe.
fn typographic(word: &Word<'_>, head: &str) -> Option<usize> {
    let apostrophes = word.lower.matches('\'').count();
    let longer = word.span.len().checked_sub(word.lower.len())?;
    let each = longer.checked_div(apostrophes).filter(|each| each * apostrophes == longer)?;
    Some(word.span.start + head.len() + each * head.matches('\'').count())
}

/// A form without apostrophe: each part takes as many bytes as it has letters, the last the rest.
fn push_whole<'t>(word: &Word<'t>, of: &[Box<str>], split: &mut Vec<Word<'t>>) {
    let mut start = word.span.start;
    for (place, part) in of.iter().enumerate() {
        let letters = part.chars().filter(|c| c.is_alphanumeric()).count();
        let is_last = place + 1 == of.len();
        let end = if is_last { word.span.end } else { (start + letters).min(word.span.end) };
        let starts_clause = word.starts_clause && place == 0;
        split.push(Word::new(Cow::Owned(part.to_string()), start..end, starts_clause));
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::PackFile;

    #[test]
    fn forms_are_split_and_keep_their_bytes() {
        let file = PackFile::parse(
            "prefixes = [\"j'\"]\nsuffixes = [\"'m\", \"n't\", \"'s\"]\nforms = [\"dont = do n't\", \"im = i 'm\"]",
        )
        .unwrap();
        let forms = Forms::read(Some(file.root())).unwrap();
        let text = "I’m here, dont ask; J'habite, isn't, Élan’s, im";
        let words = forms.words(text);
        let lower: Vec<_> = words.iter().map(|word| word.lower.as_ref()).collect();
        let expected =
            ["i", "'m", "here", "do", "n't", "ask", "j'", "habite", "is", "n't", "élan", "'s", "i", "'m"];
        assert_eq!(lower, expected);
        let written: Vec<_> = words.iter().map(|word| text.get(word.span.clone()).unwrap()).collect();
        assert_eq!(written[..7], ["I", "’m", "here", "do", "nt", "ask", "J'"]);
        assert_eq!(written[10..], ["Élan", "’s", "i", "m"]);
    }
}
