//! Life cycle of facts and preferences: endings, retractions, and how long a preference holds.

mod keys;
mod pack;

use std::ops::Range;
use std::sync::OnceLock;

use mnemal_core::{RuleId, Span, Timestamp};
use mnemal_text::{Language, sentences};

use self::keys::{Keys, Packs};
use self::pack::LifecyclePack;
use crate::authorship::OwnWords;
use crate::dates::{Anchor, DateRules, TimeBias, TimeExpression};
use crate::language::{is_brief, is_unsure};
use crate::senses::WordSenses;
use crate::word::words;

/// The scope in which an ending looks for its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EndingScope {
    /// The user's own life: states, diets, habits.
    Own,
    /// The user's likes and dislikes.
    Taste,
    /// The user's wishes about the work.
    Work,
    /// All of these.
    Any,
    /// The request in the previous message, whatever it was.
    Last,
    /// Facts of the user's life, whatever their kind: something was replaced.
    Life,
    /// The user's home.
    Home,
    /// The user's job and employer.
    Job,
    /// The user's studies.
    Study,
    /// The user's partner.
    Partner,
    /// The user's illnesses.
    Illness,
    /// The user's pets.
    Pet,
    /// The user's possessions.
    Possession,
    /// The user's memberships: clubs, bands and others.
    Membership,
    /// The user's goals.
    Goal,
    /// Deadlines.
    Deadline,
    /// The user's habits and diet.
    Habit,
    /// Facts about a relative of the user, who has died.
    Relative,
    /// A service role for the user: a new holder replaces the previous one.
    Role,
    /// Somebody takes over a role for the user from another: "Dr. Lund took over".
    Successor,
}

impl EndingScope {
    /// Every scope, in declaration order.
    pub const ALL: [Self; 20] = [
        Self::Own,
        Self::Taste,
        Self::Work,
        Self::Any,
        Self::Last,
        Self::Life,
        Self::Home,
        Self::Job,
        Self::Study,
        Self::Partner,
        Self::Illness,
        Self::Pet,
        Self::Possession,
        Self::Membership,
        Self::Goal,
        Self::Deadline,
        Self::Habit,
        Self::Relative,
        Self::Role,
        Self::Successor,
    ];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Taste => "taste",
            Self::Work => "work",
            Self::Any => "any",
            Self::Last => "last",
            Self::Life => "life",
            Self::Home => "home",
            Self::Job => "job",
            Self::Study => "study",
            Self::Partner => "partner",
            Self::Illness => "illness",
            Self::Pet => "pet",
            Self::Possession => "possession",
            Self::Membership => "membership",
            Self::Goal => "goal",
            Self::Deadline => "deadline",
            Self::Habit => "habit",
            Self::Relative => "relative",
            Self::Role => "role",
            Self::Successor => "successor",
        }
    }

    /// Whether only facts end in it: homes, jobs, pets and the like are no preferences.
    pub fn is_of_facts(self) -> bool {
        !matches!(self, Self::Own | Self::Taste | Self::Work | Self::Any | Self::Last)
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// The side of a statement that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EndedSide {
    /// A positive one: "I don't eat meat anymore".
    Do,
    /// A negative one: "Wednesdays are free again".
    Leave,
    /// Either: "the diet is over".
    Either,
}

impl EndedSide {
    /// Every side, in declaration order.
    pub const ALL: [Self; 3] = [Self::Do, Self::Leave, Self::Either];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Do => "do",
            Self::Leave => "leave",
            Self::Either => "either",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|side| side.as_str() == name)
    }
}

/// An ending: words by which a message ends an earlier statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The rule that found it; a stable id.
    pub rule: RuleId,
    /// The scope in which it looks for its target.
    pub scope: EndingScope,
    /// The side that ends.
    pub side: EndedSide,
    /// Content words that name the target, in lower case; none for [`EndingScope::Last`], nor when a kind of facts ends as a
    /// whole: "I was laid off".
    ///
    /// For [`EndingScope::Relative`] and [`EndingScope::Role`] the first is the role, as facts name it in English:
    /// `grandmother`. For [`EndingScope::Successor`] the first is the name of the new holder as it is written, and the second
    /// the role if the sentence says it.
    pub words: Vec<String>,
    /// Whether the words contain more than the target's name: "the canoe went to my cousin in the end".
    pub is_among: bool,
    /// Whether the sentence also states the new preference, so that it is a preference itself.
    pub has_rest: bool,
    /// Position of the ending words, within the sentence.
    pub cue: Span,
    /// The sentence.
    pub span: Span,
}

/// How long a preference holds, as far as its words state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Duration {
    /// Not stated.
    Unsaid,
    /// Permanently.
    Lasting,
    /// For one answer or task.
    Answer,
    /// For this conversation.
    Session,
    /// Until this moment.
    Until(Timestamp),
}

/// A formal aspect of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Form {
    /// Emoji.
    Emoji,
    /// Prose, lists or tables: an answer has one of these shapes.
    Shape,
    /// Marks and parts that an answer has or lacks: headings, links, exclamation marks.
    Marks,
    /// The language.
    Language,
    /// The tone.
    Tone,
    /// The length.
    Length,
}

impl Form {
    /// Every aspect, in declaration order.
    pub const ALL: [Self; 6] =
        [Self::Emoji, Self::Shape, Self::Marks, Self::Language, Self::Tone, Self::Length];

    /// Returns the name in packs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Emoji => "emoji",
            Self::Shape => "shape",
            Self::Marks => "marks",
            Self::Language => "language",
            Self::Tone => "tone",
            Self::Length => "length",
        }
    }

    /// Reads the name in packs.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.as_str() == name)
    }
}

/// A part of a preference that concerns one formal aspect of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormPart {
    /// The aspect.
    pub form: Form,
    /// Whether it is negative: "no lists".
    pub denies: bool,
    /// Whether its clause concerns nothing else.
    pub is_pure: bool,
    /// The clause, within the sentence.
    pub span: Span,
}

/// A sentence by the formal aspects of an answer that its clauses name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormWish {
    /// Its parts, one per aspect, by position; of several the first pure one, or the first.
    pub parts: Vec<FormPart>,
    /// Whether it concerns nothing else; undefined for a sentence without parts.
    pub is_pure: bool,
}

/// Returns the formal aspects of an answer that a sentence names, clause by clause.
#[must_use]
pub fn form_wish(sentence: &str) -> FormWish {
    form_wish_behind(sentence, 0)
}

/// Returns the formal aspects that a sentence names after a byte; its language is that of the whole sentence.
#[must_use]
pub fn form_wish_behind(sentence: &str, from: usize) -> FormWish {
    let rest = sentence.get(from..).zip(u32::try_from(from).ok());
    let may_name = form_keys().packs(&words(sentence));
    let Some((pack, (rest, from))) = pack_among(may_name, sentence).zip(rest) else {
        return FormWish::default();
    };
    let mut wish = pack.form_wish(rest);
    for part in &mut wish.parts {
        part.span = Span { start: part.span.start + from, end: part.span.end + from };
    }
    wish
}

/// Returns the endings and retractions in a user's message, by position.
///
/// Questions, suppositions and doubts end nothing, nor do quoted words. The language is guessed, and a few words are weak
/// evidence: a short text of uncertain language that ends nothing is read in the other languages too. A text in a language
/// without a pack is read as English.
#[must_use]
pub fn endings(own: &OwnWords<'_>) -> Vec<Ending> {
    let text = own.as_str();
    endings_among(packs_that_may_end(text), text)
}

/// Returns the packs that may find an ending.
fn packs_that_may_end(text: &str) -> Packs {
    let words = words(text);
    let strict = ending_keys().packs(&words);
    let by_sense = ending_keys_by_sense().packs(&words);
    if by_sense.is_empty() || WordSenses::of(text).is_empty() { strict } else { strict.and(by_sense) }
}

/// The same of the packs that may find something.
fn endings_among(may_end: Packs, text: &str) -> Vec<Ending> {
    if may_end.is_empty() {
        return Vec::new();
    }
    let place = place_of(text);
    let Some(pack) = packs().get(place) else { return Vec::new() };
    // A text of unknown language is taken for English, or for a language with the same function words.
    let is_told = || place > 0 && crate::language::telling_words(text, &pack.language) >= TELLING;
    let may_be_other = is_brief(text) && crate::language::by_script(text).is_none() && !is_told();
    let all: Vec<Range<usize>> = sentences(text).into_iter().map(|sentence| sentence.range()).collect();
    let read = |(at, of): (usize, &Range<usize>)| {
        let before = || at.checked_sub(1).and_then(|at| all.get(at)).cloned();
        let found = if may_end.has(place) { pack.endings(text, of.clone(), before()) } else { Vec::new() };
        if !found.is_empty() || !may_be_other || pack.is_known(text, of.clone()) {
            return found;
        }
        let others = packs().iter().enumerate().filter(|(other, _)| *other != place && may_end.has(*other));
        others.flat_map(|(_, other)| other.endings(text, of.clone(), before())).collect()
    };
    all.iter().enumerate().flat_map(read).collect()
}

/// Words unique to one language that determine the language of a short text. Source: own choice; a single one may be a name, or
/// from a language without a pack.
const TELLING: usize = 2;

/// Returns how long a preference in a sentence holds; `anchor` is the time and place of the utterance.
#[must_use]
pub fn duration(sentence: &str, anchor: &Anchor<'_>) -> Duration {
    let Some(pack) = pack_of(sentence) else { return Duration::Unsaid };
    match pack.holds(sentence) {
        None => Duration::Unsaid,
        Some((RuleDuration::Lasting, _)) => Duration::Lasting,
        Some((RuleDuration::Answer, _)) => Duration::Answer,
        Some((RuleDuration::Session, _)) => Duration::Session,
        Some((RuleDuration::Period, words)) => period(pack, sentence, words, anchor),
    }
}

/// Whether a text denies or forbids something: "no tables", "never on Sundays". A few words without a sure language are read in
/// every one.
#[must_use]
pub fn denies(text: &str) -> bool {
    let Some(own) = pack_of(text) else { return false };
    own.denies(text) || is_unsure(text, &own.language) && packs().iter().any(|pack| pack.denies(text))
}

/// Returns the content words that name the subject of a preference or habit, folded: without words of wishing, liking,
/// suffering and time. "I'm allergic to walnuts" names walnuts.
#[must_use]
pub fn subject_words(statement: &str) -> Vec<String> {
    pack_of(statement).map(|pack| pack.subject_words(statement)).unwrap_or_default()
}

/// Fewest letters of a stem that can begin a compound. Source: own choice; shorter ones begin too many other words.
const LEAST_PART: usize = 4;

/// Whether one of two stems begins a compound with the other, which German writes as one word: "bienen", "bienengift".
#[must_use]
pub fn begins_compound(one: &str, other: &str, language: Language) -> bool {
    let begins = |long: &str, short: &str| short.chars().count() >= LEAST_PART && long.starts_with(short);
    language == Language::German && (begins(one, other) || begins(other, one))
}

/// Returns the coordinated parts of a name or statement: the cello, the flute. A language without a pack joins nothing.
#[must_use]
pub fn joined_parts(text: &str, language: Language) -> Vec<&str> {
    let pack = packs().iter().find(|pack| pack.language == language.code());
    pack.map_or_else(|| vec![text], |pack| pack.parts(text))
}

/// How long, as a rule says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RuleDuration {
    Lasting,
    Answer,
    Session,
    Period,
}

/// Returns the end of the time that some words name.
fn period(pack: &LifecyclePack, sentence: &str, words: Span, anchor: &Anchor<'_>) -> Duration {
    let Some(rules) = DateRules::built_in(&pack.language) else { return Duration::Unsaid };
    let meets = |span: Span| span.start < words.end && words.start < span.end;
    let ends = |dated: &TimeExpression| match dated {
        TimeExpression::When(when) => when.end.and_then(mnemal_core::WorldTime::timestamp),
        TimeExpression::Length { seconds, .. } => {
            Some(anchor.at.plus_micros(seconds.saturating_mul(1_000_000)))
        }
        TimeExpression::Recurring(_) | TimeExpression::Refused(_) => None,
    };
    let read = rules.read(sentence, anchor, TimeBias::Future);
    let end = read.iter().filter(|dated| meets(dated.span())).find_map(ends);
    end.filter(|end| *end > anchor.at).map_or(Duration::Unsaid, Duration::Until)
}

fn pack_of(text: &str) -> Option<&'static LifecyclePack> {
    packs().get(place_of(text))
}

/// Returns the pack of the language of a text if it is one of those that may find something; most texts have none of them.
fn pack_among(may_find: Packs, text: &str) -> Option<&'static LifecyclePack> {
    if may_find.is_empty() {
        return None;
    }
    let place = place_of(text);
    packs().get(place).filter(|_| may_find.has(place))
}

/// Returns the place of the pack of the language of a text, or that of English.
fn place_of(text: &str) -> usize {
    let language = crate::language::language(text);
    packs().iter().position(|pack| pack.language == language).unwrap_or_default()
}

fn ending_keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| keys(LifecyclePack::add_endings_to))
}

fn ending_keys_by_sense() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| keys(LifecyclePack::add_endings_by_sense_to))
}

fn form_keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| keys(LifecyclePack::add_forms_to))
}

fn keys(add: fn(&LifecyclePack, usize, &mut Keys)) -> Keys {
    let mut keys = Keys::default();
    for (place, pack) in packs().iter().enumerate() {
        add(pack, place, &mut keys);
    }
    keys
}

/// The packs, English first.
const PACKS: [(&str, &str); 6] = [
    ("en", include_str!("../packs/en/lifecycle.toml")),
    ("de", include_str!("../packs/de/lifecycle.toml")),
    ("fr", include_str!("../packs/fr/lifecycle.toml")),
    ("es", include_str!("../packs/es/lifecycle.toml")),
    ("pt", include_str!("../packs/pt/lifecycle.toml")),
    ("zh", include_str!("../packs/zh/lifecycle.toml")),
];

fn packs() -> &'static [LifecyclePack] {
    static READ: OnceLock<Vec<LifecyclePack>> = OnceLock::new();
    READ.get_or_init(|| {
        PACKS.iter().filter_map(|(language, text)| LifecyclePack::parse(language, text).ok()).collect()
    })
}

/// Returns the language whose stop words a pack leaves out.
fn stop_words_of(language: &str) -> Language {
    Language::from_code(language).unwrap_or(Language::English)
}

#[cfg(test)]
mod tests;
