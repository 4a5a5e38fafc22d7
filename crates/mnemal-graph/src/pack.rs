//! Name data per language: one file per language, parsed once.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::spelling::letters;

/// Every file; the order has no meaning.
const SOURCES: [&str; 17] = [
    include_str!("../packs/ar.txt"),
    include_str!("../packs/de.txt"),
    include_str!("../packs/el.txt"),
    include_str!("../packs/en.txt"),
    include_str!("../packs/es.txt"),
    include_str!("../packs/fr.txt"),
    include_str!("../packs/hi.txt"),
    include_str!("../packs/it.txt"),
    include_str!("../packs/ja.txt"),
    include_str!("../packs/ko.txt"),
    include_str!("../packs/other.txt"),
    include_str!("../packs/places.txt"),
    include_str!("../packs/pl.txt"),
    include_str!("../packs/pt.txt"),
    include_str!("../packs/ru.txt"),
    include_str!("../packs/scripts.txt"),
    include_str!("../packs/zh.txt"),
];
/// Traditional Han characters and their simplified forms.
const HAN: &str = include_str!("../packs/han.txt");

/// The gender that a title or a given name indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gender {
    Female,
    Male,
}

/// The endings that a name takes in its cases; each is compatible with every other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paradigm {
    pub(crate) endings: Vec<String>,
    /// Whether it is correct too rarely to count without other evidence.
    pub(crate) is_weak: bool,
    /// Length of the longest ending, in bytes.
    pub(crate) longest: usize,
}

/// All files merged into one table. Words are in the form that [`letters`] returns.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    titles: HashMap<String, Option<Gender>>,
    pub(crate) titles_behind: Vec<String>,
    pub(crate) firm_forms: HashSet<String>,
    pub(crate) firm_heads: HashSet<String>,
    pub(crate) firm_behind: Vec<String>,
    pub(crate) place_behind: Vec<String>,
    pub(crate) articles: HashSet<String>,
    pub(crate) after_apostrophe: HashSet<String>,
    pub(crate) beginnings: Vec<String>,
    pub(crate) calls: HashSet<String>,
    pub(crate) surnames: HashSet<String>,
    pub(crate) paradigms: Vec<Paradigm>,
    /// Indexes of the paradigms by the last bytes of their endings.
    by_last: HashMap<u8, Vec<usize>>,
    /// Given names by each of their forms: the full names that a form can stand for, itself included.
    given: HashMap<String, Vec<String>>,
    genders: HashMap<String, Option<Gender>>,
    /// Names of places and things: maps each to the first name of its line.
    things: HashMap<String, String>,
    sounds: HashMap<char, String>,
    looks: HashMap<char, String>,
}

static PACKS: LazyLock<Packs> = LazyLock::new(|| {
    let mut packs = Packs::default();
    for source in SOURCES {
        packs.read(source);
    }
    packs.sort();
    packs
});
static SIMPLIFIED: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let pairs = HAN.lines().filter(|line| !line.starts_with(['#', '['])).flat_map(str::split_whitespace);
    pairs.filter_map(|pair| pair.chars().next().zip(pair.chars().nth(1))).collect()
});

/// Returns the merged table.
pub(crate) fn packs() -> &'static Packs {
    &PACKS
}

/// Returns the simplified form of a Han character, or the character itself.
pub(crate) fn simplified(sign: char) -> char {
    SIMPLIFIED.get(&sign).copied().unwrap_or(sign)
}

impl Packs {
    /// Parses a file: sections in square brackets, `#` before comments.
    fn read(&mut self, source: &str) {
        let mut section = "";
        for line in source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
                Some(name) => section = name,
                None => self.read_line(section, line),
            }
        }
    }

    fn read_line(&mut self, section: &str, line: &str) {
        let words = || line.split_whitespace().map(letters);
        match section {
            "titles" => self.read_titles(line),
            "titles behind" => self.titles_behind.extend(words()),
            "firm forms" => self.firm_forms.extend(words()),
            "firm heads" => self.firm_heads.extend(words()),
            "firm behind" => self.firm_behind.extend(words()),
            "place behind" => self.place_behind.extend(words()),
            "articles" => self.articles.extend(words()),
            "after apostrophe" => self.after_apostrophe.extend(words()),
            "beginnings" => self.beginnings.extend(words()),
            "calls" => self.calls.extend(words()),
            "surnames" => self.surnames.extend(words()),
            "endings" | "weak endings" => {
                let endings = words().map(|ending| if ending == "-" { String::new() } else { ending });
                let (endings, is_weak): (Vec<String>, _) = (endings.collect(), section == "weak endings");
                let longest = endings.iter().map(String::len).max().unwrap_or_default();
                let lasts: HashSet<u8> =
                    endings.iter().filter_map(|ending| ending.bytes().next_back()).collect();
                for last in lasts {
                    self.by_last.entry(last).or_default().push(self.paradigms.len());
                }
                self.paradigms.push(Paradigm { endings, is_weak, longest });
            }
            "given" => self.read_given(line, None),
            "given f" => self.read_given(line, Some(Gender::Female)),
            "given m" => self.read_given(line, Some(Gender::Male)),
            "places" | "things" => self.read_thing(line),
            "sounds" => self.sounds.extend(pairs(line)),
            "looks" => self.looks.extend(pairs(line)),
            _ => {}
        }
    }

    /// Parses `f: frau señora`; `-` leaves the gender open.
    fn read_titles(&mut self, line: &str) {
        let Some((of, titles)) = line.split_once(':') else { return };
        let gender = match of {
            "f" => Some(Gender::Female),
            "m" => Some(Gender::Male),
            _ => None,
        };
        self.titles.extend(titles.split_whitespace().map(|title| (letters(title), gender)));
    }

    /// Parses `robert: rob bob`: a given name and its short forms.
    fn read_given(&mut self, line: &str, gender: Option<Gender>) {
        let Some((name, forms)) = line.split_once(':') else { return };
        let name = letters(name.trim());
        for form in std::iter::once(name.clone()).chain(forms.split_whitespace().map(letters)) {
            let of = self.genders.entry(form.clone()).or_insert(gender);
            if *of != gender {
                *of = None;
            }
            let names = self.given.entry(form).or_default();
            if !names.contains(&name) {
                names.push(name.clone());
            }
        }
    }

    /// Parses `köln, cologne`: names of one thing.
    fn read_thing(&mut self, line: &str) {
        let mut names = line.split(',').map(|name| letters(name.trim()));
        let Some(first) = names.next() else { return };
        for name in names.chain([first.clone()]) {
            self.things.insert(name, first.clone());
        }
    }

    /// Returns the paradigms that have an ending with the last byte of a word.
    pub(crate) fn ending_as(&self, word: &str) -> impl Iterator<Item = &Paradigm> {
        let places = word.bytes().next_back().and_then(|last| self.by_last.get(&last));
        places.into_iter().flatten().filter_map(|place| self.paradigms.get(*place))
    }

    /// Returns the Latin letters for the sound of a letter of another script.
    pub(crate) fn sound(&self, letter: char) -> Option<&str> {
        self.sounds.get(&letter).map(String::as_str)
    }

    /// Returns the Latin letter that a letter of another script looks like.
    pub(crate) fn look(&self, letter: char) -> Option<&str> {
        self.looks.get(&letter).map(String::as_str)
    }

    /// Sorts by length, longest first, so that a title or form is removed as a whole.
    fn sort(&mut self) {
        for list in
            [&mut self.titles_behind, &mut self.firm_behind, &mut self.place_behind, &mut self.beginnings]
        {
            list.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
        }
    }

    /// Whether a word is a title before a name.
    pub(crate) fn is_title(&self, word: &str) -> bool {
        self.titles.contains_key(word)
    }

    /// Returns the gender that a title indicates.
    pub(crate) fn gender_of_title(&self, word: &str) -> Option<Gender> {
        self.titles.get(word).copied().flatten()
    }

    /// Returns the gender that a given name indicates; `None` where both use it.
    pub(crate) fn gender_of_name(&self, word: &str) -> Option<Gender> {
        self.genders.get(word).copied().flatten()
    }

    /// Returns the full given names that a given name can stand for, itself included; empty if it is unknown.
    pub(crate) fn full_names(&self, word: &str) -> &[String] {
        self.given.get(word).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a word is a known given name, full or short.
    pub(crate) fn is_given(&self, word: &str) -> bool {
        self.given.contains_key(word)
    }

    /// Returns the primary name of a place or a thing, if several are known.
    pub(crate) fn thing(&self, name: &str) -> Option<&str> {
        self.things.get(name).map(String::as_str)
    }
}

/// Parses `а a  б b`: a letter and its replacement, `-` for none.
fn pairs(line: &str) -> impl Iterator<Item = (char, String)> {
    let mut words = line.split_whitespace();
    std::iter::from_fn(move || {
        let (letter, latin) = (words.next()?.chars().next()?, words.next()?);
        Some((letter, latin.replace('-', "")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_by_its_sections() {
        let mut packs = Packs::default();
        packs.read("# x\n[titles]\nf: Frau\n-: Dr\n\n[given m]\nRobert: Bob Bert\n[given f]\nAlberta: Bert\n[endings]\n- s\n[places]\nKöln, Cologne");
        assert_eq!(packs.gender_of_title("frau"), Some(Gender::Female));
        assert!(packs.is_title("dr") && packs.gender_of_title("dr").is_none() && !packs.is_title("x"));
        assert_eq!(packs.full_names("bert"), ["robert", "alberta"]);
        assert_eq!((packs.gender_of_name("bob"), packs.gender_of_name("bert")), (Some(Gender::Male), None));
        assert_eq!(packs.paradigms[0].endings, ["", "s"]);
        assert_eq!(packs.thing("cologne"), packs.thing("koln"));
    }

    #[test]
    fn every_file_says_something_in_sections_that_are_read() {
        const SECTIONS: [&str; 20] = [
            "titles",
            "titles behind",
            "firm forms",
            "firm heads",
            "firm behind",
            "place behind",
            "articles",
            "after apostrophe",
            "beginnings",
            "calls",
            "surnames",
            "endings",
            "weak endings",
            "given",
            "given f",
            "given m",
            "places",
            "things",
            "sounds",
            "looks",
        ];
        for source in SOURCES {
            let names = source.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
            let names: Vec<&str> = names.collect();
            assert!(!names.is_empty() && names.iter().all(|name| SECTIONS.contains(name)), "{names:?}");
            assert!(source.starts_with("# "), "{source}");
        }
    }

    #[test]
    fn full_names_stand_for_themselves_and_no_line_says_nothing() {
        for source in SOURCES {
            let lines = source.lines().filter(|line| !line.starts_with('#') && line.contains(": "));
            for line in lines.filter(|line| !line.starts_with(['m', 'f', '-']) || !line.contains(": ")) {
                let (name, forms) = line.split_once(": ").unwrap();
                assert!(!forms.trim().is_empty(), "{line}");
                assert!(packs().full_names(&letters(name)).contains(&letters(name)), "{line}");
            }
        }
        assert!(packs().full_names("саша").len() == 2 && packs().full_names("qwe").is_empty());
        assert_eq!((simplified('張'), simplified('张')), ('张', '张'));
    }
}
