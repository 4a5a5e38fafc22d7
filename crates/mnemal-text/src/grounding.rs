//! Grounding check: whether a written text says nothing beyond its sources.

mod words;

use std::collections::HashSet;

use crate::fold::lower;
use crate::script::Script;
use crate::stop::LISTED;
use crate::{Analyzer, Language, fold, is_stop_word, sentences};

use self::words::words;
use crate::coverage::{counts, is_everyday, is_grammar, opens};

/// Length of a common prefix that makes two words forms of one. Source: own choice; "approv", "genehm".
const BEGINNING: usize = 5;
/// Signs that end a clause before a blank, or always in scripts without blanks.
const ENDS: [char; 8] = [';', ':', '(', ')', '—', '–', ',', '…'];
/// The same in scripts without blanks.
const UNSPACED_ENDS: [char; 6] = ['，', '；', '：', '、', '（', '）'];
/// Numerals of scripts without blanks.
const NUMERALS: &str = "〇一二三四五六七八九十百千万亿両两";

/// Returns the unsupported parts of a text, in order, folded; empty for a text grounded in its sources.
///
/// Names, wherever they occur, numbers, also spelled out, and dates must be among the words of the sources. More than half of a
/// clause's other words must be in the sources, in any form; the clause must deny what they deny and nothing else, must not use
/// the opposite of one of their words, and must not use a language or a script that they lack. Statements of the sources may be
/// omitted and reordered: swapped roles (who did what to whom) are not detected.
pub fn unsupported(text: &str, sources: &[&str]) -> Vec<String> {
    let known = SourceContent::of(sources);
    let mut found: Vec<String> = Vec::new();
    // English is what a text without a word of any list is taken for.
    let language = Language::guess(text);
    let speaks = |source: &&str| Language::guess(source) == language;
    if language != Language::English && !sources.iter().any(speaks) && !speaks(&known.whole.as_str()) {
        found.push(language.code().to_owned());
    }
    for sentence in sentences(text) {
        let sentence = sentence.of(text);
        let mut place = WordPosition::Opens;
        for clause in clauses(sentence) {
            known.check_clause(clause, &mut place, &mut found);
        }
    }
    let mut seen = HashSet::new();
    found.retain(|one| seen.insert(one.clone()));
    found
}

/// The content of the sources.
struct SourceContent {
    words: HashSet<String>,
    stems: HashSet<String>,
    clauses: Vec<Clause>,
    /// All of it, folded.
    whole: String,
    pairs: HashSet<[char; 2]>,
    scripts: HashSet<u8>,
}

/// The stems of a clause.
#[derive(Default)]
struct Clause {
    /// Stems of words that are no names.
    says: HashSet<String>,
    /// Names, numbers and dates.
    names: HashSet<String>,
    denies: bool,
}

impl Clause {
    fn add(&mut self, word: &str, sort: WordClass) {
        if matches!(sort, WordClass::Content | WordClass::Opening) {
            self.says.extend(stems(word));
        }
        if matches!(sort, WordClass::Exact | WordClass::Opening) {
            self.names.extend(stems(word));
        }
    }

    /// Its closeness to another clause: common words count before common names.
    fn nearness(&self, other: &Self) -> (usize, usize) {
        (self.says.intersection(&other.says).count(), self.names.intersection(&other.names).count())
    }
}

/// Position of a word in its sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WordPosition {
    Opens,
    #[default]
    Inside,
}

/// Class of a word in a checked text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordClass {
    /// A name, a number, a date: it must be in the sources.
    Exact,
    /// A name, or some form of a word of the sources.
    Opening,
    /// A content word.
    Content,
    /// A word without content of its own.
    Empty,
}

impl SourceContent {
    fn of(sources: &[&str]) -> Self {
        let mut known = Self {
            words: HashSet::new(),
            stems: HashSet::new(),
            clauses: Vec::new(),
            whole: fold(&sources.join("\n")),
            pairs: HashSet::new(),
            scripts: HashSet::new(),
        };
        for sentence in
            sources.iter().flat_map(|source| sentences(source).into_iter().map(|one| one.of(source)))
        {
            let mut place = WordPosition::Opens;
            for clause in clauses(sentence) {
                let mut read = Clause { denies: denies(clause), ..Clause::default() };
                for word in spaced(clause) {
                    let folded = fold(word);
                    known
                        .words
                        .extend(folded.split(is_joint).filter(|part| !part.is_empty()).map(str::to_owned));
                    read.add(word, sort(word, &folded, std::mem::take(&mut place)));
                    known.words.insert(folded);
                }
                known.stems.extend(read.says.union(&read.names).cloned());
                let letters = unspaced(clause);
                known.pairs.extend(pairs(&letters));
                read.says.extend(pairs(&letters).map(|pair| pair.iter().collect::<String>()));
                known.clauses.push(read);
            }
        }
        known.scripts = known.whole.chars().filter(|letter| letter.is_alphabetic()).map(script).collect();
        known
    }

    fn has(&self, folded: &str) -> bool {
        self.words.contains(folded)
            || (folded.contains(is_joint)
                && folded.split(is_joint).all(|part| part.is_empty() || self.words.contains(part)))
    }

    fn has_stems(&self, word: &str, folded: &str) -> bool {
        let stems = stems(word);
        self.has(folded) || (!stems.is_empty() && stems.iter().all(|stem| self.stems.contains(stem)))
    }

    /// Whether the sources have some form of a word.
    fn has_form(&self, word: &str, folded: &str) -> bool {
        let beginning: String = folded.chars().take(BEGINNING).collect();
        let is_long = folded.chars().count() > BEGINNING;
        self.has_stems(word, folded)
            || (is_long && self.words.iter().any(|known| known.starts_with(&beginning)))
    }

    /// Adds the unsupported parts of a clause.
    fn check_clause(&self, clause: &str, place: &mut WordPosition, found: &mut Vec<String>) {
        let (mut said, mut new) = (0, Vec::new());
        let mut own = Clause { denies: denies(clause), ..Clause::default() };
        for word in spaced(clause) {
            let folded = fold(word);
            let sort = sort(word, &folded, std::mem::take(place));
            let is_strange =
                word.chars().any(|letter| letter.is_alphabetic() && !self.scripts.contains(&script(letter)));
            if is_strange || self.turns(&folded, word) {
                found.push(folded);
                continue;
            }
            own.add(word, sort);
            said += usize::from(sort == WordClass::Content);
            match sort {
                WordClass::Exact if !self.has(&folded) => found.push(folded),
                WordClass::Opening if !self.has_stems(word, &folded) => found.push(folded),
                WordClass::Content if !self.has_form(word, &folded) => new.push(folded),
                _ => {}
            }
        }
        if !new.is_empty() && new.len() * 2 >= said {
            found.append(&mut new);
        }
        self.judge_unspaced(clause, &mut own, found);
        found.extend(self.polarity(&own).map(str::to_owned));
    }

    /// Whether a word is the opposite of one in the sources, and is not in them itself.
    fn turns(&self, folded: &str, word: &str) -> bool {
        let of = |word: &str| words().opposite.get(word);
        let others = of(folded).or_else(|| stems(word).first().and_then(|stem| of(stem)));
        let is_said = |other: &&'static str| self.has_stems(other, other);
        !self.has_stems(word, folded) && others.is_some_and(|others| others.iter().any(is_said))
    }

    /// Whether a clause denies what the closest clauses of the sources do not deny, or the reverse.
    fn polarity(&self, own: &Clause) -> Option<&'static str> {
        let most = self.clauses.iter().map(|clause| clause.nearness(own)).max().filter(|most| most.0 > 0)?;
        let is_said =
            self.clauses.iter().any(|clause| clause.nearness(own) == most && clause.denies == own.denies);
        (!is_said).then_some(if own.denies { "a denial" } else { "no denial" })
    }

    /// The same for scripts without blanks.
    fn judge_unspaced(&self, clause: &str, own: &mut Clause, found: &mut Vec<String>) {
        let letters = unspaced(clause);
        if letters.is_empty() {
            return;
        }
        let folded: String = letters.iter().collect();
        let is_new = |word: &&&str| folded.contains(**word) && !self.whole.contains(**word);
        found.extend(words().unspaced_day.iter().filter(is_new).map(|word| (*word).to_owned()));
        let turned = words().unspaced_opposite.iter().filter(|(one, other)| {
            folded.contains(one) && !self.whole.contains(one) && self.whole.contains(other)
        });
        found.extend(turned.map(|(one, _)| (*one).to_owned()));
        let mut run = String::new();
        for (place, letter) in letters.iter().enumerate() {
            let next = letters.get(place + 1);
            let is_counted = NUMERALS.contains(*letter) && next.is_some_and(|next| counts(*next));
            if is_counted
                && !self.whole.contains(&[*letter].into_iter().chain(next.copied()).collect::<String>())
            {
                found.push(letter.to_string());
            }
            let is_known = is_grammar(*letter) || NUMERALS.contains(*letter) || self.whole.contains(*letter);
            if !is_known {
                run.push(*letter);
            }
            if is_known || next.is_none() {
                if run.chars().count() > 1 && !is_everyday(&run) {
                    found.push(std::mem::take(&mut run));
                }
                run.clear();
            }
        }
        let said: Vec<[char; 2]> = pairs(&letters).collect();
        let new = said
            .iter()
            .filter(|pair| !self.pairs.contains(*pair) && !pair.iter().any(|one| is_grammar(*one)));
        let new: Vec<String> = new.map(|pair| pair.iter().collect()).collect();
        if new.len() * 2 > said.len() {
            found.extend(new);
        }
        own.says.extend(said.iter().map(|pair| pair.iter().collect::<String>()));
    }
}

/// Classifies a word.
fn sort(word: &str, folded: &str, place: WordPosition) -> WordClass {
    let lists = words();
    if word.contains(char::is_numeric) || lists.number.contains(folded) || lists.day.contains(folded) {
        return WordClass::Exact;
    }
    let is_listed =
        lists.neutral.contains(folded) || lists.deny.contains(folded) || lists.join.contains(folded);
    let lowered = lower(word);
    let is_small = || LISTED.iter().any(|language| is_stop_word(*language, &lowered));
    let mut letters = word.chars();
    let begins_large = letters.next().is_some_and(char::is_uppercase);
    if begins_large && letters.any(char::is_uppercase) {
        return WordClass::Exact;
    }
    if is_listed || lowered.ends_with("n't") || (begins_large && word.chars().nth(1).is_none()) {
        return WordClass::Empty;
    }
    match (begins_large, place) {
        (true, WordPosition::Inside) => WordClass::Exact,
        (true, WordPosition::Opens) if !opens(folded) => WordClass::Opening,
        _ if is_small() || (place == WordPosition::Opens && opens(folded)) => WordClass::Empty,
        _ => WordClass::Content,
    }
}

/// Returns the blank-separated words of a clause, without surrounding signs and possessives.
fn spaced(clause: &str) -> impl Iterator<Item = &str> {
    let words = clause.split(|sign: char| sign.is_whitespace() || sign == '-' || is_unspaced(sign));
    words.filter_map(|word| {
        let word = word.trim_matches(|sign: char| !sign.is_alphanumeric());
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        (!word.is_empty()).then_some(word)
    })
}

/// Returns the letters of scripts without blanks.
fn unspaced(clause: &str) -> Vec<char> {
    clause.chars().filter(|sign| is_unspaced(*sign)).collect()
}

fn pairs(letters: &[char]) -> impl Iterator<Item = [char; 2]> {
    letters.array_windows::<2>().copied()
}

fn is_unspaced(sign: char) -> bool {
    !sign.is_ascii()
        && sign.is_alphabetic()
        && matches!(Script::of(sign), Script::Han | Script::Kana | Script::Abugida)
}

fn script(letter: char) -> u8 {
    // Both are of one language.
    match Script::of(letter) {
        Script::Kana => Script::Han as u8,
        other => other as u8,
    }
}

/// Signs that join the parts of one word.
fn is_joint(sign: char) -> bool {
    !(sign.is_alphanumeric() || matches!(sign, '.' | ',' | '\''))
}

fn stems(word: &str) -> Vec<String> {
    let mut stems = Vec::new();
    Analyzer::new(Language::English).for_each_term(word, &mut |term, _| stems.push(term.to_owned()));
    stems
}

/// Whether a clause contains a negation.
fn denies(clause: &str) -> bool {
    let mut rest = spaced(clause).peekable();
    let mut is_denied = false;
    while let Some(word) = rest.next() {
        let folded = fold(word);
        // "no. 12" counts, and denies nothing.
        let is_counted = folded == "no" && rest.peek().is_some_and(|next| next.starts_with(char::is_numeric));
        let is_denial = words().deny.contains(folded.as_str()) || folded.ends_with("n't");
        is_denied |= is_denial && !is_counted;
    }
    is_denied || words().unspaced_deny.iter().any(|sign| clause.contains(*sign))
}

/// Returns the clauses of a sentence.
fn clauses(sentence: &str) -> Vec<&str> {
    let mut cuts = vec![0];
    let mut letters = sentence.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_before_blank = letters.peek().is_none_or(|(_, next)| next.is_whitespace());
        if UNSPACED_ENDS.contains(&letter) || (ENDS.contains(&letter) && is_before_blank) {
            cuts.push(at);
        }
    }
    let base = sentence.as_ptr() as usize;
    let joins = sentence.split_whitespace().filter(|word| words().join.contains(fold(word).as_str()));
    cuts.extend(joins.map(|word| word.as_ptr() as usize - base));
    for join in &words().unspaced_join {
        cuts.extend(sentence.match_indices(join).map(|(at, _)| at));
    }
    cuts.sort_unstable();
    cuts.push(sentence.len());
    cuts.windows(2).filter_map(|pair| sentence.get(*pair.first()?..*pair.last()?)).collect()
}

#[cfg(test)]
mod tests;
