//! Preference notes: the user's own tastes, aversions, needs and constraints, in the user's own words.

use std::ops::Range;
use std::sync::OnceLock;

use mnemal_core::{Result, RuleId, Span};
use mnemal_text::{Language, is_stop_word, sentences};

use crate::authorship::OwnWords;
use crate::feedback::lexicon::Lexicon;
use crate::feedback::pattern::{Hit, Patterns};
use crate::feedback::token::Token;
use crate::language::SentenceLanguages;
use crate::packs::LanguagePacks;
use crate::section::PackFile;
use crate::{requires_user_permission, word};

/// Topic words of a note. Source: own choice; a note is a sentence, and more words are its text.
const MOST_TOPICS: usize = 8;

/// The kind of a preference note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoteKind {
    /// What the user likes or prefers.
    Taste,
    /// What the user dislikes or avoids.
    Aversion,
    /// What the user needs.
    Need,
    /// A constraint of the user: health, faith, money, time, company.
    Constraint,
    /// What the user always or never does.
    Habit,
}

impl NoteKind {
    /// Every kind, in declaration order.
    pub const ALL: [Self; 5] = [Self::Taste, Self::Aversion, Self::Need, Self::Constraint, Self::Habit];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Taste => "taste",
            Self::Aversion => "aversion",
            Self::Need => "need",
            Self::Constraint => "constraint",
            Self::Habit => "habit",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A sentence in which the user states a lasting preference of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The rule that found it; a stable id.
    pub rule: RuleId,
    /// Its kind.
    pub kind: NoteKind,
    /// Content words, in lower case, in the order of the sentence, each once.
    pub topics: Vec<String>,
    /// Whether it touches acts that require the user's consent; see [`requires_user_permission`].
    pub requires_user_permission: bool,
    /// The sentence, verbatim.
    pub span: Span,
}

/// Returns the preference notes in a user's own words, by position; at most one per sentence.
///
/// A sentence counts when it is in the first person, affirmative, and lasting: questions, wishes, hypotheses, reports,
/// quotations, past or temporary states, single tasks, and remarks to the assistant about its work do not. The language is
/// guessed, for a long enough sentence individually; a sentence in a language without a pack gives none.
#[must_use]
pub fn preference_notes(words: &OwnWords<'_>) -> Vec<Note> {
    let text = words.as_str();
    let of_text = SentenceLanguages::of(text);
    let note = |range: Range<usize>| {
        let language = of_text.code(text.get(range.clone())?);
        packs().of(language)?.note(text, range)
    };
    sentences(text).into_iter().filter_map(|sentence| note(sentence.range())).collect()
}

/// The packs, English first.
const PACKS: &[(&str, &str)] = &[
    ("en", include_str!("../packs/en/notes.toml")),
    ("de", include_str!("../packs/de/notes.toml")),
    ("fr", include_str!("../packs/fr/notes.toml")),
    ("es", include_str!("../packs/es/notes.toml")),
    ("pt", include_str!("../packs/pt/notes.toml")),
    ("zh", include_str!("../packs/zh/notes.toml")),
];

fn packs() -> &'static LanguagePacks<NotePack> {
    static READ: OnceLock<LanguagePacks<NotePack>> = OnceLock::new();
    READ.get_or_init(|| LanguagePacks::new(PACKS, NotePack::parse))
}

/// The rules of one language.
#[derive(Debug)]
struct NotePack {
    language: String,
    lexicon: Lexicon,
    rules: Vec<Rule>,
    cues: Patterns<usize>,
    unless: Patterns<usize>,
    /// What closes a sentence wherever it stands.
    closes: Patterns<()>,
    /// What closes the rest of a sentence.
    closes_rest: Patterns<()>,
    /// A question has the order of a statement, so that its sign alone tells it.
    sign_asks: bool,
}

#[derive(Debug)]
struct Rule {
    id: RuleId,
    kind: NoteKind,
    #[cfg(test)]
    examples: Vec<String>,
    #[cfg(test)]
    counters: Vec<String>,
}

impl NotePack {
    fn parse(language: &str, text: &str) -> Result<Self> {
        let file = PackFile::parse(text)?;
        let root = file.root();
        let mut lexicon = Lexicon::read(root)?;
        let (mut rules, mut cues, mut unless) = (Vec::new(), Patterns::default(), Patterns::default());
        for (place, section) in root.sections("rule")?.into_iter().enumerate() {
            cues.add(place, &section.lines("cue")?, &mut lexicon)?;
            unless.add(place, &section.lines("unless")?, &mut lexicon)?;
            let kind = section.text("kind")?.unwrap_or_default();
            rules.push(Rule {
                id: RuleId::new(section.text("id")?.unwrap_or_default())?,
                kind: NoteKind::from_name(kind).ok_or_else(|| {
                    mnemal_core::Error::invalid(format!("a pack: `{kind}` is no kind of note"))
                })?,
                #[cfg(test)]
                examples: section.lines("examples")?.into_iter().map(str::to_owned).collect(),
                #[cfg(test)]
                counters: section.lines("counters")?.into_iter().map(str::to_owned).collect(),
            });
        }
        let (mut closes, mut closes_rest) = (Patterns::default(), Patterns::default());
        closes.add((), &root.lines("closes")?, &mut lexicon)?;
        closes_rest.add((), &root.lines("closes_rest")?, &mut lexicon)?;
        let sign_asks = root.flag("sign_asks")?;
        Ok(Self {
            language: language.to_owned(),
            lexicon,
            rules,
            cues,
            unless,
            closes,
            closes_rest,
            sign_asks,
        })
    }

    fn note(&self, text: &str, of: Range<usize>) -> Option<Note> {
        let sentence = text.get(of.clone())?;
        let asks = asks(sentence);
        if self.sign_asks && asks {
            return None;
        }
        let tokens = self.lexicon.tokens(text, of.clone());
        let hit = self.first(&tokens)?;
        if asks && hit.from >= short_end(&tokens) {
            return None;
        }
        let rule = self.rules.get(hit.tag)?;
        Some(Note {
            rule: rule.id.clone(),
            kind: rule.kind,
            topics: topics(sentence, &self.language),
            requires_user_permission: requires_user_permission(sentence),
            span: Span { start: u32::try_from(of.start).ok()?, end: u32::try_from(of.end).ok()? },
        })
    }

    /// Returns the match of the first rule that no gate takes away.
    fn first(&self, tokens: &[Token]) -> Option<Hit<usize>> {
        let mut hits = self.cues.find(tokens, &self.lexicon);
        if hits.is_empty() || !self.closes.find(tokens, &self.lexicon).is_empty() {
            return None;
        }
        let unless = self.unless.find(tokens, &self.lexicon);
        let closed = self.closes_rest.find(tokens, &self.lexicon);
        hits.retain(|hit| {
            !unless.iter().any(|except| except.tag == hit.tag)
                && !closed.iter().any(|close| close.from < hit.from)
        });
        hits.into_iter().min_by_key(|hit| (hit.tag, hit.from))
    }
}

/// Whether a sentence ends with a question mark, whatever other signs stand there.
fn asks(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|sign: char| !sign.is_alphanumeric() && !matches!(sign, '?' | '？'));
    end.ends_with(['?', '？'])
}

/// Most words of a last clause that asks whatever its order: "any news for me?". Source: own choice; a longer one may state
/// something before it asks.
const SHORT_QUESTION: usize = 5;

/// Returns where the last clause of a sentence begins, if it is short; else the end of the sentence.
fn short_end(tokens: &[Token]) -> usize {
    let from = tokens.iter().rposition(|token| token.is_parted).unwrap_or_default();
    if tokens.len() - from <= SHORT_QUESTION { from } else { tokens.len() }
}

/// Returns the words with content, by the stop words of a language.
fn topics(sentence: &str, language: &str) -> Vec<String> {
    let language = Language::from_code(language).unwrap_or(Language::English);
    let mut topics: Vec<String> = Vec::new();
    for word in word::words(sentence) {
        let is_content = word.lower.chars().count() > 2 && !is_stop_word(language, &word.lower);
        if is_content && topics.len() < MOST_TOPICS && !topics.iter().any(|topic| *topic == word.lower) {
            topics.push(word.lower.into_owned());
        }
    }
    topics
}

#[cfg(test)]
mod tests;
