//! Name forms, known and spoken: whole, partial, short, with initials, in grammatical cases.

use mnemal_core::EntityKind;

use crate::key::without_behind;
use crate::kind;
use crate::pack::packs;
use crate::spelling::{is_family_first, letters, squeeze};

/// Letters of each word that group names across grammatical cases. Source: own choice; no ending reaches so far.
const STEM: usize = 3;
/// Most letters of an abbreviation. Source: own choice.
const ABBREVIATION: usize = 6;

/// The lookup forms of a name, for indexing or for a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forms {
    /// The whole name without separators.
    pub(crate) whole: String,
    /// First and last name, or a company's short name; other entities may share them.
    pub(crate) parts: Vec<String>,
    /// The full names that the given name can stand for: "Bob" and "Robert" meet in `robert`.
    pub(crate) short: Vec<String>,
    /// Whole names with the same meaning: with another form of the given name, or an exonym.
    pub(crate) variants: Vec<String>,
    /// Weaker whole-name matches: with an initial, as an abbreviation, with a year. Only for names in a text.
    pub(crate) loose: Vec<String>,
    /// Stems that group multi-word names whose cases differ.
    pub(crate) stems: Option<String>,
}

/// Returns the forms under which a known name is indexed.
pub(crate) fn known_forms(text: &str, key: &str, of: EntityKind) -> Forms {
    let words: Vec<&str> = key.split(' ').collect();
    let mut forms = common(text, key, &words);
    if kind::class(of) == "who" {
        who_parts(&words, &mut forms.parts);
        if let [first, _, ..] = words.as_slice() {
            forms.short.extend(full_names(first));
        }
        who_variants(&words, &mut forms.variants);
        if let Some((family, given)) = family_first(key) {
            forms.parts.push(family.to_owned());
            forms.parts.extend((given.chars().count() > 1).then(|| given.to_owned()));
        }
        if let [first, .., last] = words.as_slice()
            && let Some(initial) = first.chars().next()
        {
            let sign = if is_initial(first) { INITIAL } else { FULL };
            forms.variants.push(format!("{sign}{initial} {last}"));
        }
    } else if of == EntityKind::Organization {
        firm_parts(key, &words, &mut forms.parts);
        forms.variants.extend(abbreviation(&words));
    } else if of == EntityKind::Event {
        forms.variants.extend(without_year(&words).map(|base| format!("{YEAR}{base}")));
    }
    forms
}

/// Returns the forms with which a name in a text is looked up.
pub(crate) fn spoken_forms(text: &str, key: &str, of: EntityKind) -> Forms {
    let words: Vec<&str> = key.split(' ').collect();
    let mut forms = common(text, key, &words);
    forms.parts.push(forms.whole.clone());
    if kind::class(of) == "who" || of == EntityKind::Concept {
        if let [word] = words.as_slice() {
            forms.short.extend_from_slice(packs().full_names(word));
            forms.parts.extend(familiar_name(word).map(str::to_owned));
        }
        who_variants(&words, &mut forms.variants);
        if let [first, .., last] = words.as_slice()
            && let Some(initial) = first.chars().next()
        {
            let with_initial = format!("{INITIAL}{initial} {last}");
            if is_initial(first) {
                forms.loose.extend([with_initial, format!("{FULL}{initial} {last}")]);
            } else {
                forms.variants.push(with_initial);
            }
        }
    }
    if matches!(of, EntityKind::Organization | EntityKind::Concept) && is_abbreviation(text, key) {
        forms.loose.push(format!("{LETTERS}{key}"));
    }
    if of == EntityKind::Event {
        forms.variants.push(format!("{YEAR}{}", forms.whole));
        forms.loose.extend(without_year(&words));
    }
    forms
}

// Prefix of a form that is not a spelling of a name; no folded name begins with it.
const SHORT: char = '\u{1}';
const INITIAL: char = '\u{2}';
const FULL: char = '\u{3}';
const LETTERS: char = '\u{4}';
const YEAR: char = '\u{5}';
const THING: char = '\u{6}';

fn common(text: &str, key: &str, words: &[&str]) -> Forms {
    let thing = thing(key).or_else(|| thing(letters(text).trim()));
    let stem = |word: &&str| word.chars().take(STEM).collect::<String>();
    let is_long = words.len() > 1 && words.iter().any(|word| word.chars().nth(STEM).is_some());
    Forms {
        whole: squeeze(key),
        parts: Vec::new(),
        short: Vec::new(),
        variants: thing.into_iter().collect(),
        loose: Vec::new(),
        stems: is_long.then(|| words.iter().map(stem).collect::<Vec<_>>().join(" ")),
    }
}

/// The common form of all names of a place or a thing, if it has several.
pub(crate) fn thing(name: &str) -> Option<String> {
    packs().thing(name).map(|first| format!("{THING}{first}"))
}

/// First and last name, and the leading and the trailing words of a longer name.
fn who_parts(words: &[&str], parts: &mut Vec<String>) {
    let [first, .., last] = words else { return };
    if !is_initial(first) {
        parts.push(squeeze(first));
    }
    parts.push(squeeze(last));
    for count in 2..words.len() {
        let (begin, end) = (words.get(..count), words.get(words.len() - count..));
        parts.extend(begin.into_iter().chain(end).map(|part| squeeze(&part.concat())));
    }
}

/// The name with each full form of its given name, which is one word or two.
fn who_variants(words: &[&str], variants: &mut Vec<String>) {
    for count in 1..words.len().min(3) {
        let Some((given, rest)) = words.split_at_checked(count) else { continue };
        let rest = squeeze(&rest.concat());
        variants.extend(full_names(&given.join(" ")).map(|name| format!("{SHORT}{name} {rest}")));
    }
}

/// Returns the full names that a given name can stand for next to a family name. A name that is a full name somewhere
/// stands only for itself: Anne Pell is not Anna Pell, though an Anna may be called Anne.
fn full_names(given: &str) -> impl Iterator<Item = String> {
    let full = packs().full_names(given);
    let is_own = full.iter().any(|name| name == given);
    full.iter().filter(move |name| !is_own || *name == given).cloned()
}

/// The first words of a company name, what follows "bank" or "college", and the name without "technology group".
fn firm_parts(key: &str, words: &[&str], parts: &mut Vec<String>) {
    let mut rest = key;
    loop {
        let shorter = without_behind(rest, &packs().firm_behind);
        if shorter == rest {
            break;
        }
        parts.push(squeeze(shorter));
        rest = shorter;
    }
    let begins = |words: &[&str], parts: &mut Vec<String>| {
        let counts = 1..words.len();
        parts.extend(counts.filter_map(|count| words.get(..count)).map(|begin| squeeze(&begin.concat())));
    };
    begins(words, parts);
    if let Some((head, rest)) = words.split_first()
        && packs().firm_heads.contains(*head)
        && !rest.is_empty()
    {
        parts.push(squeeze(&rest.concat()));
        begins(rest, parts);
    }
}

/// The initials of a multi-word name.
fn abbreviation(words: &[&str]) -> Option<String> {
    let first: String = words.iter().filter_map(|word| word.chars().next()).collect();
    (words.len() > 1).then(|| format!("{LETTERS}{first}"))
}

/// Whether a name is written as an abbreviation.
fn is_abbreviation(text: &str, key: &str) -> bool {
    let count = key.chars().count();
    (2..=ABBREVIATION).contains(&count)
        && key.chars().all(char::is_alphabetic)
        && text.chars().filter(|letter| letter.is_uppercase()).count() >= count
}

/// The name of an event without the year at its end.
fn without_year(words: &[&str]) -> Option<String> {
    let (year, base) = words.split_last()?;
    let is_year = year.len() == 4 && year.bytes().all(|digit| digit.is_ascii_digit());
    (is_year && !base.is_empty()).then(|| squeeze(&base.concat()))
}

fn is_initial(word: &str) -> bool {
    word.chars().filter(|letter| letter.is_alphabetic()).nth(1).is_none()
}

/// Splits a name that is written without spaces, family name first.
pub(crate) fn family_first(key: &str) -> Option<(&str, &str)> {
    if !is_family_first(key) {
        return None;
    }
    let ends = key.char_indices().map(|(at, _)| at).skip(1).take(3).collect::<Vec<_>>();
    let splits = ends.into_iter().rev().filter_map(|at| key.split_at_checked(at));
    let mut known = splits.filter(|(family, _)| packs().surnames.contains(*family));
    known.next()
}

/// Returns the name in a familiar form of address: 张 in 小张.
fn familiar_name(word: &str) -> Option<&str> {
    let (at, _) = word.char_indices().nth(1)?;
    let (call, rest) = word.split_at_checked(at)?;
    (packs().calls.contains(call) && packs().surnames.contains(rest)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::name_key;

    fn meet(one: &str, other: &str, kind: EntityKind) -> bool {
        let known = known_forms(one, &name_key(one, kind), kind);
        let said = spoken_forms(other, &name_key(other, kind), kind);
        known.whole == said.whole
            || said.parts.iter().any(|part| known.parts.contains(part))
            || said.short.iter().any(|name| known.short.contains(name))
            || said
                .variants
                .iter()
                .chain(&said.loose)
                .any(|one| known.variants.contains(one) || known.whole == *one)
    }

    #[test]
    fn forms_of_one_name_meet_and_others_do_not() {
        use EntityKind::{Event, Location, Organization, Person, Product};
        for (kind, one, others) in [
            (Person, "Robert Hale", &["Bob", "Bob Hale", "R. Hale", "Hale", "Mr. Hale", "Hale, Robert"][..]),
            (Person, "Bob Hale", &["Robert", "Robert Hale", "Bobby"]),
            (Person, "J. Smith", &["John Smith", "Smith"]),
            (Person, "Лев Толстой", &["Л. Н. Толстой", "Лёва"]),
            (Person, "Jean-Luc Morvellec", &["Jean Luc", "J.-L. Morvellec"]),
            (Person, "Gabriel García Márquez", &["García Márquez", "Gabo"]),
            (Person, "陈思远", &["思远", "老陈", "陈总"]),
            (Person, "田中さくら", &["さくら", "田中先生"]),
            (Person, "김민준", &["민준", "김 선생님"]),
            (Organization, "Larkfield Instruments Ltd.", &["Larkfield"]),
            (Organization, "华为技术有限公司", &["华为"]),
            (Organization, "European Space Agency", &["ESA"]),
            (Organization, "شركة الأفق للتجارة", &["شركة الأفق", "الأفق"]),
            (Organization, "Colegio San Telmo", &["San Telmo"]),
            (Location, "Köln", &["Cologne", "Koeln"]),
            (Event, "Web Summit", &["Web Summit 2026", "Websummit"]),
            (Product, "Kubernetes", &["k8s"]),
        ] {
            for other in others {
                assert!(meet(one, other, kind), "{one} {other}");
            }
        }
        for (kind, one, other) in [
            (Person, "Joanne Prewitt", "Ann"),
            (Person, "王芳芳", "王芳"),
            (Person, "Mary Hale", "R. Hale"),
            (Person, "Mary Hale", "Robert Hale"),
            (Location, "New York", "York"),
            (Location, "Brooklyn Bridge", "Brooklyn"),
            (Organization, "European Space Agency", "Esa"),
            (Event, "Web Summit 2025", "Web Summit 2026"),
        ] {
            assert!(!meet(one, other, kind), "{one} {other}");
        }
    }
}
