//! Topic keys: messages about the same thing get the same key, and contradict each other if they state different values.

use mnemal_core::{AntiPattern, NewEvent, NoteKey, Producer, Result, Span, Stance, derived_id};
use mnemal_extract::{
    Aspect, Ending, Feedback, FeedbackAct, Form, FormPart, Note, NoteKind, OwnWords, form_wish, wish_slot,
    wish_works,
};
use mnemal_text::{Analyzer, Language, fold, is_stop_word};

use super::{is_lasting, sentence, stance};

/// Target of feedback without a named one.
pub(super) const WHOLE_ANSWER: &str = "answer";
/// Key prefix of learnings.
pub(crate) const LEARNED: &str = "learned/";
/// Next key segment for the user's own life.
const OWN: &str = "own/";
/// Key prefix of tastes.
pub(crate) const TASTE: &str = "learned/own/taste";
/// Key segment of an answer's shape, of which there is one, as opposed to other format wishes.
const SHAPE: &str = "shape";
/// Aspects with one value at a time, so that another value is a contradiction. Source: own choice; the other aspects can
/// have several rules.
pub(super) const SINGLE: [Aspect; 5] =
    [Aspect::Length, Aspect::Detail, Aspect::Tone, Aspect::Language, Aspect::Emoji];
/// Words, folded, that limit a rule to a case, in the languages with a feedback pack. Source: own choice.
const CASES: [&str; 25] = [
    "when",
    "whenever",
    "if",
    "unless",
    "while",
    "for",
    "during",
    "wenn",
    "falls",
    "fur",
    "bei",
    "beim",
    "quand",
    "lorsque",
    "si",
    "pour",
    "sauf",
    "cuando",
    "para",
    "quando",
    "se",
    "except",
    "except for",
    "只有",
    "如果",
];
/// Words for less, and for more. Source: own choice; "too" before one inverts it.
const LESS: [&str; 11] = [
    "short", "shorter", "brief", "briefer", "concise", "less", "fewer", "terse", "tighter", "kürzer", "knapp",
];
const MORE: [&str; 9] =
    ["long", "longer", "more", "detailed", "thorough", "elaborate", "verbose", "wordy", "länger"];
/// Words of use, which do not distinguish tools. Source: own choice.
const USING: [&str; 4] = ["use", "using", "used", "keep"];
/// Words of sentiment, which carry no topic. Source: own choice, from the cues of the notes pack.
const FEELING: [&str; 34] = [
    "love",
    "like",
    "hate",
    "enjoy",
    "prefer",
    "adore",
    "dislike",
    "despise",
    "favorite",
    "favourite",
    "really",
    "always",
    "never",
    "fond",
    "fan",
    "avoid",
    "detest",
    "loathe",
    "stand",
    "much",
    "very",
    "anymore",
    "longer",
    "absolutely",
    "huge",
    "big",
    "loving",
    "can",
    "now",
    "actually",
    "again",
    "nowadays",
    "meanwhile",
    "finally",
];
/// Most topic words. Source: as for notes.
const MOST: usize = 8;

/// The topic of a message.
#[derive(Debug)]
pub(super) struct MessageTopic {
    /// The key path after the prefix.
    path: String,
    /// Words that distinguish it from others with the same path; empty if the path is enough.
    apart: Vec<String>,
    /// The aspect of the work, or of the user's life.
    pub(super) side: String,
    /// Content words.
    pub(super) words: Vec<String>,
    pub(super) stance: Stance,
}

impl MessageTopic {
    /// Returns the topic of feedback, with its sentence; `None` if it states nothing lasting. An anti-pattern's topic is
    /// the forbidden action.
    pub(super) fn of_feedback(
        words: &OwnWords<'_>,
        said: &Feedback,
        pattern: Option<&AntiPattern>,
    ) -> Option<(Self, Span)> {
        let is_kept = pattern.is_some() || is_lasting(said);
        let span = sentence(words.as_str(), said.span).filter(|_| is_kept)?;
        let text = span.of(words.as_str())?;
        let said_of_it = TopicWords::of(text, &[]);
        let avoid = pattern.map(|pattern| TopicWords::of(&pattern.avoid, &USING));
        let value = || said.value.as_deref().map(|value| TopicWords::of(value, &[])).unwrap_or_default();
        let value = avoid.unwrap_or_else(value);
        let ruled = pattern.map_or(text, |pattern| &pattern.avoid);
        let is_of_case = fold(ruled).split_whitespace().any(|word| CASES.contains(&word));
        let direction =
            matches!(said.aspect, Aspect::Length | Aspect::Detail).then(|| direction(text)).flatten();
        let slot = wish_slot(text).filter(|_| pattern.is_none());
        let is_shape = said.aspect == Aspect::Format && pattern.is_none() && names_shape(text);
        let apart = if is_shape && !is_of_case {
            // There is one shape at a time of each kind of text.
            std::iter::once(SHAPE.to_owned()).chain(wish_works(text)).collect()
        } else if slot.is_some() || SINGLE.contains(&said.aspect) && !is_of_case {
            Vec::new()
        } else if value.is_empty() || is_of_case {
            said_of_it.apart()
        } else {
            value.apart()
        };
        let aspect = said.aspect.as_str();
        // Emoji always concern the answer, named or not.
        let is_of_answer = said.aspect == Aspect::Emoji || is_shape;
        let target = if is_of_answer { WHOLE_ANSWER } else { said.target.as_str() };
        let path =
            slot.map_or_else(|| format!("{}/{aspect}", segment(target)), |slot| format!("{slot}/single"));
        let side = if said.aspect == Aspect::Other { said.target.clone() } else { aspect.to_owned() };
        let stance = match (said.act, direction) {
            (FeedbackAct::Praise, _) => Stance::Keep,
            (_, Some(direction)) => direction,
            _ if pattern.is_some() => Stance::Leave,
            _ => stance(said.polarity),
        };
        Some((Self { path, apart, side, words: said_of_it.topics(), stance }, span))
    }

    /// Returns the topic of a note about the user's own life; tastes and aversions for the same thing get the same key.
    pub(super) fn of_note(kept: &NewEvent, note: &Note) -> Self {
        let text = note.span.of(&kept.content).unwrap_or_default();
        let domain = match note.kind {
            NoteKind::Taste | NoteKind::Aversion => "taste",
            kind => kind.as_str(),
        };
        let text = favorite_subject(text).unwrap_or(text);
        let words = TopicWords::of(text, &FEELING);
        let stance = if note.kind == NoteKind::Aversion { Stance::Leave } else { Stance::Do };
        let (path, side) = (format!("{OWN}{domain}"), note.kind.as_str().to_owned());
        Self { path, apart: words.apart(), side, words: words.topics(), stance }
    }

    /// Returns the topic of one part of a wish about the form of an answer.
    pub(super) fn of_part(text: &str, part: &FormPart, target: &str) -> Self {
        let words = TopicWords::of(text, &USING);
        let aspect = match part.form {
            Form::Emoji => Aspect::Emoji,
            Form::Language => Aspect::Language,
            Form::Tone => Aspect::Tone,
            Form::Length => Aspect::Length,
            _ => Aspect::Format,
        };
        let apart = match part.form {
            Form::Shape if !part.denies => vec![SHAPE.to_owned()],
            _ if SINGLE.contains(&aspect) => Vec::new(),
            _ => words.apart(),
        };
        let direction = (part.form == Form::Length).then(|| direction(text)).flatten();
        let said = if part.denies { Stance::Leave } else { Stance::Do };
        let path = format!("{}/{}", segment(target), aspect.as_str());
        let (side, words) = (aspect.as_str().to_owned(), words.topics());
        Self { path, apart, side, words, stance: direction.unwrap_or(said) }
    }

    /// Returns the topic of an ending, by its words.
    pub(super) fn of_ending(ending: &Ending, words: Vec<String>) -> Self {
        let side = ending.scope.as_str().to_owned();
        Self { path: side.clone(), apart: Vec::new(), side, words, stance: Stance::End }
    }

    /// Returns the target in a key of a learning about work.
    pub(super) fn target_of(key: &NoteKey) -> Option<String> {
        let rest = key.as_str().strip_prefix(LEARNED)?;
        rest.split('/').next().map(str::to_owned)
    }

    /// Returns the key. It holds no words of the message: the distinguishing ones are hashed, with the person.
    pub(super) fn key(&self, kept: &NewEvent) -> Result<NoteKey> {
        let person = [
            kept.user.as_ref().map(|user| format!("user {}", user.as_str())),
            kept.speaker.as_ref().map(|speaker| format!("speaker {}", speaker.as_str())),
        ];
        let parts: Vec<String> = self.apart.iter().cloned().chain(person.into_iter().flatten()).collect();
        if parts.is_empty() {
            return NoteKey::new(format!("{LEARNED}{}", self.path));
        }
        let producer = Producer { id: parts.join("\n"), version: 0 };
        let hash = derived_id("about", &producer, &[], 0) >> 64;
        NoteKey::new(format!("{LEARNED}{}/{hash:016x}", self.path))
    }
}

/// Whether a sentence wishes for a shape of an answer.
fn names_shape(sentence: &str) -> bool {
    form_wish(sentence).parts.iter().any(|part| part.form == Form::Shape && !part.denies)
}

/// Returns the subject of a favorite statement: there is one favorite at a time.
fn favorite_subject(text: &str) -> Option<&str> {
    let folded = fold(text);
    let names = ["favourite", "favorite", "preferred"].iter().any(|word| folded.contains(word));
    let end = [" is ", " are ", " would be "].iter().filter_map(|word| text.find(word)).min();
    text.get(..end.filter(|_| names)?).filter(|named| named.split_whitespace().count() > 2)
}

/// Whether a key is about the user's own life, and not about work.
pub(crate) fn is_own(key: &NoteKey) -> bool {
    key.as_str().strip_prefix(LEARNED).is_some_and(|rest| rest.starts_with(OWN))
}

/// Whether less (to avoid) or more (to do) of it is wanted.
fn direction(text: &str) -> Option<Stance> {
    let folded = fold(text);
    let words: Vec<&str> = folded.split(|letter: char| !letter.is_alphanumeric()).collect();
    words.iter().enumerate().find_map(|(place, word)| {
        let is_less = LESS.contains(word);
        if !is_less && !MORE.contains(word) {
            return None;
        }
        let before = place.checked_sub(1).and_then(|place| words.get(place));
        let turns = before.is_some_and(|word| ["too", "not", "so", "less", "zu", "trop"].contains(word));
        Some(if is_less == turns { Stance::Do } else { Stance::Leave })
    })
}

/// The topical words of a text, folded, each once, in order.
#[derive(Debug, Default)]
struct TopicWords {
    plain: Vec<String>,
    /// Numbers and names, which distinguish two things however short or common they are: "number 1", "vitamin C", "Will".
    exact: Vec<String>,
}

impl TopicWords {
    /// Reads a text, without stop words and the words to drop. A negation is no topic word: it states the opposite about
    /// the same thing, and must get the same key as the statement that it contradicts.
    fn of(text: &str, dropped: &[&str]) -> Self {
        let language = Language::guess(text);
        let mut words = Self::default();
        for (place, raw) in bare_words(text).enumerate() {
            let word = fold(raw);
            let is_plain = word.chars().count() > 1 && !is_stop_word(language, &word);
            if raw.contains(char::is_numeric) || (place > 0 && is_name(language, raw)) {
                push_new(&mut words.exact, word);
            } else if is_plain && !dropped.contains(&word.as_str()) {
                push_new(&mut words.plain, word);
            }
        }
        words
    }

    fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.exact.is_empty()
    }

    /// Returns the distinguishing words: stems, numbers and names, in order.
    fn apart(&self) -> Vec<String> {
        let joined = self.plain.join(" ");
        let mut stems = Analyzer::new(Language::guess(&joined)).query_terms(&joined);
        stems.extend(self.exact.iter().cloned());
        stems.sort_unstable();
        stems.dedup();
        stems
    }

    /// Returns the search words, numbers and names last.
    fn topics(self) -> Vec<String> {
        let mut words = self.plain;
        words.extend(self.exact);
        words.truncate(MOST);
        words
    }
}

/// Returns the runs of letters and digits, without negations ("don't").
fn bare_words(text: &str) -> impl Iterator<Item = &str> {
    let is_apostrophe = |letter: char| matches!(letter, '\'' | '’');
    let words = text.split(move |letter: char| !letter.is_alphanumeric() && !is_apostrophe(letter));
    let plain = words.filter(|word| !["n't", "n’t", "N'T", "N’T"].iter().any(|end| word.ends_with(end)));
    plain.flat_map(move |word| word.split(is_apostrophe)).filter(|word| !word.is_empty())
}

/// Whether a word within a sentence is written as a name: a capital followed by lowercase, or one capital other than "I".
/// In German this applies to every noun and the polite "Sie".
fn is_name(language: Language, raw: &str) -> bool {
    let is_capital = raw.starts_with(char::is_uppercase) && language != Language::German;
    is_capital && if raw.chars().count() == 1 { raw != "I" } else { raw.contains(char::is_lowercase) }
}

fn push_new(words: &mut Vec<String>, word: String) {
    if !words.contains(&word) {
        words.push(word);
    }
}

/// Makes a word fit for one segment of a path.
pub(super) fn segment(word: &str) -> String {
    let word = word.trim().replace(['/', '.'], "-");
    let cut = word.floor_char_boundary(64);
    let word = word.get(..cut).unwrap_or_default();
    if word.is_empty() { "other".to_owned() } else { word.to_owned() }
}
