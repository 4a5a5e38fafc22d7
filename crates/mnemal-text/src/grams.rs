//! Character n-grams for scripts without a stemmer, so that inflected forms of a word share terms.

/// Letters of an n-gram.
///
/// Source: own choice, measured on the golden turns of `mnemal-recall`; a root of Hebrew has three letters.
const LETTERS: usize = 3;

/// The longest word split into n-grams, in letters; longer strings are data, not language.
///
/// Source: own choice, as for stemming; the longest common words have about 40 letters.
const LONGEST: usize = 40;

/// Calls `f` with every run of three letters of a word in lower case, in order; `part` is a buffer.
///
/// Letters that change their shape with their position (`ן` and `נ`) or that people write in two ways (`ँ` and `ं`) are
/// unified. A three-letter word with a single spelling is its own n-gram and is left to the caller; so are words with digits.
pub(crate) fn for_each_gram(word: &str, part: &mut String, f: &mut dyn FnMut(&str)) {
    let mut letters = ['\0'; LONGEST];
    let mut count = 0;
    for letter in word.chars().filter_map(plain) {
        let Some(place) = letters.get_mut(count) else { return };
        if letter.is_numeric() {
            return;
        }
        *place = letter;
        count += 1;
    }
    for run in letters.get(..count).unwrap_or_default().windows(LETTERS) {
        part.clear();
        part.extend(run);
        if part != word {
            f(part);
        }
    }
}

/// One spelling for the letters that have two; nothing for a mark that people leave out.
fn plain(letter: char) -> Option<char> {
    Some(match letter {
        'ך' => 'כ',
        'ם' => 'מ',
        'ן' => 'נ',
        'ף' => 'פ',
        'ץ' => 'צ',
        // Devanagari: candrabindu as anusvara; the dot below (`फ़`) and the joiners go.
        '\u{901}' => '\u{902}',
        '\u{93C}' | '\u{200C}' | '\u{200D}' => return None,
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expect: &[&str]) {
        let mut found = Vec::new();
        for_each_gram(word, &mut String::new(), &mut |part| found.push(part.to_owned()));
        assert_eq!(found, expect, "{word}");
    }

    #[test]
    fn a_word_becomes_runs_of_three_letters() {
        check("შევიდა", &["შევ", "ევი", "ვიდ", "იდა"]);
        check("ספק", &[]);
        check("גן", &[]);
        check("", &[]);
        check("सेबों", &["सेब", "ेबो", "बों"]);
    }

    #[test]
    fn spellings_of_a_letter_are_one() {
        check("שכן", &["שכנ"]);
        check("שכנים", &["שכנ", "כני", "נימ"]);
        check("काफ़ी", &["काफ", "ाफी"]);
        check("काफी", &["काफ", "ाफी"]);
        check("मुँह", &["मुं", "ुंह"]);
    }

    #[test]
    fn numbers_and_data_stay_whole() {
        check("५०००", &[]);
        check(&"ა".repeat(41), &[]);
        check(&"ა".repeat(40), &["ააა"; 38]);
    }
}
