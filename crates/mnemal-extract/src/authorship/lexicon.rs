//! Lexicon of mails, letters, chats and requests, for all languages with packs together.

use std::collections::HashSet;
use std::sync::OnceLock;

use mnemal_core::Result;
use mnemal_text::fold;

use crate::hash::WordHashBuilder;
use crate::phrase::{Phrases, StepCache};
use crate::prefilter::Prefilter;
use crate::section::{PackFile, Section};
use crate::word::{Word, is_sign, start};

/// The pack of each language.
const PACKS: [&str; 8] = [
    include_str!("../../packs/en/authorship.toml"),
    include_str!("../../packs/de/authorship.toml"),
    include_str!("../../packs/fr/authorship.toml"),
    include_str!("../../packs/es/authorship.toml"),
    include_str!("../../packs/pt/authorship.toml"),
    include_str!("../../packs/zh/authorship.toml"),
    include_str!("../../packs/it/authorship.toml"),
    include_str!("../../packs/nl/authorship.toml"),
];

/// Letters of a compound before the word for a text. Source: own choice, "Lied".
const LEAST_BEFORE: usize = 3;

/// The meaning of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cue {
    /// A reply line: "On Tuesday Jonas wrote".
    Wrote,
    /// A line above a forwarded mail.
    Rule,
    /// The first line of a letter.
    Salutation,
    /// The first line of a letter addressed by name or office.
    Formal,
    /// The line above a signature.
    SignOff,
    /// The wording of a text is to be worked on.
    Transform,
    /// Something is to be made of a text.
    Work,
    /// A text follows.
    Present,
    /// A verb of saying or writing.
    Said,
    /// A request to invent someone's words.
    Compose,
    /// A play, a riddle, invented people.
    Frame,
    /// The same, where a colon follows.
    Sample,
    /// The speaker speaks of himself.
    Own,
    /// The speaker turns to something else.
    Aside,
    /// The text above is meant.
    Above,
    /// A request to answer a text.
    Answer,
    /// A word for a text.
    Text,
    /// A word that points at one.
    This,
    /// A text is pointed at: "this letter".
    Point,
    /// Something was come across.
    Seen,
    /// The title of a text: "minutes of".
    Title,
    /// A word for a text that a colon, a line break or a heading is enough with: "review", "transcript".
    Genre,
    /// A word for someone else: "my neighbor", "a client".
    Person,
    /// A pronoun for a named person: "she".
    Other,
    /// A place where others write: a forum, a network, a newspaper.
    Platform,
    /// A complete label before a first-person statement: "update", "one more thing".
    Label,
    /// The preceding text is another's: "that is what my uncle said".
    Behind,
    /// A line that networks and chats print next to a text: "3 h ago", "12 likes". A number is `#`.
    Stamp,
    /// The heading of a part of a book or a play.
    Chapter,
    /// A label that only forms have.
    Field,
}

/// Each cue with its table and key.
const KEYS: [(Cue, &str, &str); 24] = [
    (Cue::Wrote, "mail", "wrote"),
    (Cue::Rule, "mail", "rule"),
    (Cue::Salutation, "letter", "salutation"),
    (Cue::Formal, "letter", "formal"),
    (Cue::SignOff, "letter", "sign_off"),
    (Cue::Transform, "ask", "transform"),
    (Cue::Work, "ask", "work"),
    (Cue::Present, "ask", "present"),
    (Cue::Said, "ask", "said"),
    (Cue::Compose, "ask", "compose"),
    (Cue::Frame, "ask", "frame"),
    (Cue::Sample, "ask", "sample"),
    (Cue::Own, "ask", "own"),
    (Cue::Aside, "ask", "aside"),
    (Cue::Above, "ask", "above"),
    (Cue::Answer, "ask", "answer"),
    (Cue::Point, "ask", "point"),
    (Cue::Seen, "ask", "seen"),
    (Cue::Title, "ask", "title"),
    (Cue::Label, "ask", "label"),
    (Cue::Behind, "ask", "behind"),
    (Cue::Stamp, "post", "stamp"),
    (Cue::Chapter, "post", "chapter"),
    (Cue::Field, "label", "fields"),
];

/// Cues that apply to words on the same line, without a colon.
const ALONE: [Cue; 4] = [Cue::Transform, Cue::Frame, Cue::Text, Cue::Behind];

/// Each list of words with its placeholder in phrases.
const LISTS: [(Cue, &str); 6] = [
    (Cue::Text, "text"),
    (Cue::This, "this"),
    (Cue::Genre, "genre"),
    (Cue::Person, "person"),
    (Cue::Other, "other"),
    (Cue::Platform, "platform"),
];

/// The first numbers of Chinese.
const NUMBERS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];

/// A set of cues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cues(u32);

impl Cues {
    /// Returns whether a cue is in the set.
    pub(super) fn has(self, cue: Cue) -> bool {
        self.0 & (1 << cue as u32) != 0
    }

    /// Returns whether one of several cues is in the set.
    pub(super) fn has_any(self, cues: &[Cue]) -> bool {
        cues.iter().any(|cue| self.has(*cue))
    }

    fn add(&mut self, cue: Cue) {
        self.0 |= 1 << cue as u32;
    }
}

/// The phrases and labels of all packs.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    phrases: Phrases<Cue>,
    /// Labels of the line of a mail that names who wrote it, folded.
    from: HashSet<String>,
    /// Labels of its other lines.
    header: HashSet<String>,
    /// Speaker labels of chats and interviews.
    roles: HashSet<String>,
    /// Names of programs in chats and interviews.
    machines: HashSet<String>,
    /// Words for texts with which compounds end: "Liedtext".
    compounds: Vec<String>,
    /// Words of which one stands wherever a phrase does that tells of a line by itself; see [`ALONE`].
    keys: HashSet<Box<str>, WordHashBuilder>,
    prefilter: Prefilter,
    /// Words that only look like such compounds: "Kontext".
    simple: HashSet<String>,
}

impl Lexicon {
    /// Returns the lexicon that is built in; of a pack with a mistake nothing is in it. A test reads every pack.
    pub(super) fn built_in() -> &'static Self {
        static LEXICON: OnceLock<Lexicon> = OnceLock::new();
        LEXICON.get_or_init(|| {
            let (mut lexicon, mut steps) = (Self::default(), StepCache::default());
            for pack in PACKS {
                // A mistake in one pack must not silence the others.
                let _mistake = lexicon.add(pack, &mut steps);
            }
            lexicon
        })
    }

    fn add(&mut self, pack: &str, steps: &mut StepCache) -> Result<()> {
        let file = PackFile::parse(pack)?;
        let root = file.root();
        let lists = root.section("words")?;
        let mut choices = Vec::with_capacity(LISTS.len());
        for (cue, key) in LISTS {
            choices.push((cue, key, self::choices(lists, key)?));
        }
        // A word for a genre is a word for a text.
        let genre = choices.iter().find(|(cue, ..)| *cue == Cue::Genre).map(|(.., words)| words.clone());
        if let Some((.., text)) = choices.iter_mut().find(|(cue, ..)| *cue == Cue::Text)
            && let Some(genre) = genre.filter(|genre| !genre.is_empty())
        {
            text.push('|');
            text.push_str(&genre);
        }
        for (cue, table, key) in KEYS {
            let Some(section) = root.section(table)? else { continue };
            for line in section.lines(key)? {
                let mut line = fold(line);
                for (_, list, words) in &choices {
                    line = line.replace(&format!("@{list}"), words);
                }
                self.add_phrase(cue, &line, steps);
            }
        }
        for (cue, _, words) in &choices {
            if !words.is_empty() {
                self.add_phrase(*cue, words, steps);
            }
        }
        if let Some(lists) = lists {
            self.compounds.extend(lists.lines("compound")?.into_iter().map(fold));
            for key in ["simple", "genre"] {
                self.simple.extend(lists.lines(key)?.into_iter().map(fold));
            }
        }
        let mail = root.section("mail")?;
        let label = root.section("label")?;
        for (into, section, key) in [
            (&mut self.from, mail, "from"),
            (&mut self.header, mail, "header"),
            (&mut self.roles, label, "roles"),
            (&mut self.machines, label, "machines"),
        ] {
            let Some(section) = section else { continue };
            into.extend(section.lines(key)?.into_iter().map(fold));
        }
        Ok(())
    }

    /// Returns whether words may have a phrase that tells of a line by itself.
    pub(super) fn may_tell(&self, words: &[Word<'_>]) -> bool {
        words.iter().any(|word| {
            self.prefilter.meets(word.prefilter()) && self.keys.contains(&*word.lower)
                || self.ending(&word.lower).is_some_and(|end| self.keys.contains(end))
        })
    }

    /// Returns the word for a text with which a compound ends.
    fn ending<'l>(&'l self, word: &str) -> Option<&'l str> {
        if word.len() <= LEAST_BEFORE {
            return None;
        }
        let ends = |end: &&String| word.len() >= end.len() + LEAST_BEFORE && word.ends_with(end.as_str());
        let end = self.compounds.iter().filter(ends).map(String::as_str).max_by_key(|end| end.len());
        end.filter(|_| !self.simple.contains(word))
    }

    /// Adds a phrase under each word with which it may begin.
    fn add_phrase(&mut self, cue: Cue, line: &str, cache: &mut StepCache) {
        let (steps, keys) = cache.steps(line);
        self.phrases.add_steps(cue, line.starts_with('^'), &steps);
        if ALONE.contains(&cue) {
            for key in keys.iter() {
                self.prefilter = self.prefilter.with(Prefilter::of(start(key)));
                self.keys.insert(key.clone());
            }
        }
        let (mark, body) = line.strip_prefix('^').map_or(("", line), |body| ("^", body));
        if let Some((_, rest)) = body.strip_prefix('?').and_then(|body| body.split_once(' ')) {
            self.add_phrase(cue, &format!("{mark}{rest}"), cache);
        }
    }

    /// Returns the cues in a text.
    pub(super) fn cues(&self, text: &str) -> Cues {
        self.cues_of(&self.plain(text))
    }

    /// Returns the words of a text, folded; a compound that ends with a word for a text is that word.
    pub(super) fn plain<'t>(&self, text: &'t str) -> Vec<Word<'t>> {
        let mut words = words(text);
        for word in &mut words {
            if let Some(end) = self.ending(&word.lower) {
                *word = Word::new(end.to_owned().into(), word.span.clone(), word.starts_clause);
            }
        }
        words
    }

    /// Returns the cues among words.
    pub(super) fn cues_of(&self, words: &[Word<'_>]) -> Cues {
        let mut cues = Cues::default();
        self.phrases.find(words, |cue, _| cues.add(cue));
        cues
    }

    /// Returns how many words a phrase of a kind takes at the start, the longest.
    pub(super) fn leading(&self, cue: Cue, words: &[Word<'_>]) -> Option<usize> {
        self.end_at(cue, words, 0)
    }

    /// Returns where the longest phrase of a kind ends that begins at a word.
    pub(super) fn end_at(&self, cue: Cue, words: &[Word<'_>], at: usize) -> Option<usize> {
        let mut end: Option<usize> = None;
        self.phrases.find_at(words, at, |found, places| {
            if found == cue {
                end = end.max(Some(places.end));
            }
        });
        end
    }

    /// Returns where the first phrase of a kind ends, in words.
    pub(super) fn first_end(&self, cue: Cue, words: &[Word<'_>]) -> Option<usize> {
        let mut end: Option<usize> = None;
        self.phrases.find(words, |found, places| {
            if found == cue && end.is_none() {
                end = Some(places.end);
            }
        });
        end
    }

    /// Returns whether words, as a whole, open a first-person statement: "One more thing".
    pub(super) fn is_own_label(&self, words: &[Word<'_>]) -> bool {
        self.leading(Cue::Label, words) == Some(words.len())
    }

    /// Returns whether a label precedes the writer's name in a mail.
    pub(super) fn is_from(&self, label: &str) -> bool {
        self.from.contains(&fold(label))
    }

    /// Returns whether a label is in the head of a mail.
    pub(super) fn is_header(&self, label: &str) -> bool {
        self.header.contains(&fold(label))
    }

    /// Returns whether a label names a speaker's role.
    pub(super) fn is_role(&self, label: &str) -> bool {
        let folded = fold(label);
        let of_last = |folded: &str| {
            // "Speaker 1", "Interviewer A".
            folded
                .rsplit_once(' ')
                .is_some_and(|(role, number)| number.chars().count() <= 2 && self.roles.contains(role))
        };
        // "Q1", "回答2".
        let bare = folded.trim_end_matches(|sign: char| sign.is_ascii_digit() || NUMBERS.contains(&sign));
        self.roles.contains(bare) || of_last(&folded)
    }

    /// Returns whether a label is that of a program.
    pub(super) fn is_machine(&self, label: &str) -> bool {
        self.machines.contains(&fold(label))
    }
}

/// Joins the words of a list to the choices of a step.
fn choices(lists: Option<Section<'_>>, key: &str) -> Result<String> {
    let Some(lists) = lists else { return Ok(String::new()) };
    let words: Vec<String> = lists.lines(key)?.into_iter().map(|word| fold(word).replace(' ', "_")).collect();
    Ok(words.join("|"))
}

/// Returns the words of a text, folded and parted at apostrophes; a sign of a script without spaces is a word of its own.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut found: Vec<Word<'_>> = Vec::with_capacity(text.len() / 5);
    let mut starts_clause = true;
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        if !first.is_alphanumeric() {
            starts_clause |= !(first == ' ' || matches!(first, '\'' | '’'));
            continue;
        }
        let mut end = start + first.len_utf8();
        while let Some(&(at, next)) = chars.peek() {
            if is_sign(first) || is_sign(next) || !(next.is_alphanumeric() || is_hyphen(text, at, next)) {
                break;
            }
            end = at + next.len_utf8();
            chars.next();
        }
        let written = text.get(start..end).unwrap_or_default();
        let lower = if written.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
            written.into()
        } else {
            fold(written).into()
        };
        found.push(Word::new(lower, start..end, starts_clause));
        starts_clause = false;
    }
    found
}

/// A hyphen between two letters.
fn is_hyphen(text: &str, at: usize, mark: char) -> bool {
    let next = text.get(at + mark.len_utf8()..).and_then(|rest| rest.chars().next());
    mark == '-' && next.is_some_and(|next| next.is_alphanumeric() && !is_sign(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pack_can_be_read() {
        for pack in PACKS {
            Lexicon::default().add(pack, &mut StepCache::default()).unwrap();
        }
    }
}
