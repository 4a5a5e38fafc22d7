//! Tombstones of erased texts, and the check of incoming texts against them.

use std::collections::{BTreeSet, HashMap, HashSet};

use mnemal_core::{
    Event, EventId, EventKind, InstallationKey, LearningKind, NewEvent, OperationKind, Origin, Timestamp,
    Tombstone, TombstoneHash,
};
use mnemal_text::{fold, sentences};
use serde_json::Value;

/// Fewest words of a sentence that has a tombstone of its own. Source: own choice.
const WORDS: usize = 5;
/// Fewest characters of such a sentence in a script without spaces. Source: two characters per word, as in mnemal-text.
const CHARACTERS: usize = 10;
/// Replacement for an erased sentence that came back.
pub(crate) const FORGOTTEN: &str = "[forgotten]";

/// Returns a text in the form that tombstones compare: folded, white space collapsed, without punctuation at its ends.
pub fn tombstone_text(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in fold(text).split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded.trim_matches(|letter: char| !letter.is_alphanumeric()).to_owned()
}

/// Returns one tombstone per event that is not erased yet, in the given order.
///
/// A tombstone holds the keyed hash of the whole text, and one of each sentence of at least five words and of a caption.
pub fn tombstones_for(events: &[Event], key: &InstallationKey, at: Timestamp) -> Vec<Tombstone> {
    let bury = |event: &Event| {
        let kept = event.body()?;
        Some(if is_counted(kept) { bare(event.id, key, at) } else { tombstone(event.id, kept, key, at) })
    };
    events.iter().filter_map(bury).collect()
}

/// Whether the text is a rule-made line of names and counts from notes: it adds nothing to the notes, and may be true again for
/// others.
fn is_counted(kept: &NewEvent) -> bool {
    let EventKind::Operation(operation) = &kept.kind else { return false };
    operation.prompt.is_none()
        && matches!(operation.kind, OperationKind::Infer { kind: LearningKind::Insight, .. })
}

/// A tombstone that matches no text: the hash of nothing.
fn bare(event: EventId, key: &InstallationKey, at: Timestamp) -> Tombstone {
    Tombstone { event, body: key.tombstone(""), sentences: Vec::new(), at }
}

/// Returns one tombstone per event without hashes of its text: the event is erased, but its words may be stored again.
pub fn bare_tombstones_for(events: &[Event], key: &InstallationKey, at: Timestamp) -> Vec<Tombstone> {
    let living = events.iter().filter(|event| event.body().is_some());
    living.map(|event| bare(event.id, key, at)).collect()
}

fn tombstone(id: EventId, kept: &NewEvent, key: &InstallationKey, at: Timestamp) -> Tombstone {
    let long = long_sentences(&kept.content).map(|(_, folded)| key.tombstone(&folded));
    let caption = kept.metadata.get("caption").map(|caption| key.tombstone(&tombstone_text(caption)));
    let mut hashes: Vec<TombstoneHash> = long.chain(caption).collect();
    hashes.sort_unstable();
    hashes.dedup();
    Tombstone { event: id, body: key.tombstone(&tombstone_text(&kept.content)), sentences: hashes, at }
}

/// Returns the words of a text in lower case, runs of letters and digits, followed by their forms without accents: a name or a
/// value may be stored as either.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = |text: &str| -> Vec<String> {
        let runs = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        runs.map(str::to_lowercase).collect()
    };
    runs(text).into_iter().chain(folded(text).map(|text| runs(&text)).into_iter().flatten())
}

/// Returns a text in lower case without accents, if that differs from its lower case.
pub fn folded(text: &str) -> Option<String> {
    (!text.is_ascii()).then(|| fold(text)).filter(|folded| *folded != text.to_lowercase())
}

fn long_sentences(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, String)> + '_ {
    sentences(text).into_iter().filter_map(|sentence| {
        let folded = tombstone_text(sentence.of(text));
        let words = folded.split(' ').count();
        let long =
            words >= WORDS || (!folded.is_ascii() && folded.chars().count() >= CHARACTERS * words.max(1));
        long.then(|| (sentence.range(), folded))
    })
}

/// Returns a text folded, with one blank around each of its words.
fn blanked(text: &str) -> String {
    let mut blank = String::from(" ");
    for word in fold(text).split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        blank.push_str(word);
        blank.push(' ');
    }
    blank
}

/// The texts of an erase, for finding copies of them.
#[derive(Debug, Default)]
pub struct ErasedTexts {
    /// As written: these must not remain in any byte.
    texts: Vec<String>,
    /// In the form that tombstones compare.
    bodies: Vec<String>,
    sentences: HashSet<String>,
    words: BTreeSet<String>,
    /// Names of erased entities, in the form that tombstones compare, with a blank on either side.
    names: Vec<String>,
}

impl ErasedTexts {
    /// Collects the bodies, captions and longer sentences of events, each with its accents and without; texts of fewer than
    /// `telling` bytes are left out, because other events have them too.
    pub fn of(events: &[Event], telling: usize) -> Self {
        let mut erasing = Self::default();
        let mut texts = BTreeSet::new();
        for kept in events.iter().filter_map(Event::body) {
            let long: Vec<_> = long_sentences(&kept.content).collect();
            let whole = [Some(&kept.content), kept.metadata.get("caption")];
            texts.extend(whole.into_iter().flatten().cloned());
            for text in std::iter::once(&kept.content).chain(kept.metadata.values()) {
                erasing.words.extend(words(text).filter(|word| word.len() >= telling));
            }
            texts.extend(
                long.iter().filter_map(|(range, _)| kept.content.get(range.clone())).map(str::to_owned),
            );
            erasing.sentences.extend(long.into_iter().map(|(_, folded)| folded));
            erasing.bodies.push(tombstone_text(&kept.content));
        }
        erasing.bodies.retain(|body| body.len() >= telling);
        let bare: Vec<String> = texts.iter().filter_map(|text| folded(text)).collect();
        texts.extend(bare);
        texts.retain(|text| text.len() >= telling);
        erasing.texts = texts.into_iter().collect();
        erasing
    }

    /// Adds the names of erased entities; a name of fewer than `telling` bytes is searched for in copies only, and not in raw
    /// bytes.
    #[must_use]
    pub fn with_names(mut self, names: &[String], telling: usize) -> Self {
        self.names.extend(names.iter().map(|name| blanked(name)).filter(|name| !name.trim().is_empty()));
        self.texts.extend(names.iter().filter(|name| name.len() >= telling).cloned());
        self.texts.sort_unstable();
        self.texts.dedup();
        self
    }

    /// Returns the texts that must not remain in any byte, ascending.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether a text is the name of an erased entity.
    pub fn is_name(&self, text: &str) -> bool {
        !self.names.is_empty() && self.names.contains(&blanked(text))
    }

    /// Returns their longer words in lower case, ascending: possible remains in a name, a value or a quotation.
    pub fn words(&self) -> impl Iterator<Item = &String> {
        self.words.iter()
    }

    /// Whether a text contains one of these bodies, one of their longer sentences, or a name as whole words.
    pub fn is_in(&self, text: &str) -> bool {
        let blank = if self.names.is_empty() { String::new() } else { blanked(text) };
        if self.names.iter().any(|name| blank.contains(name.as_str())) {
            return true;
        }
        let folded = tombstone_text(text);
        self.bodies.iter().any(|body| folded.contains(body.as_str()))
            || long_sentences(text).any(|(_, sentence)| self.sentences.contains(&sentence))
    }
}

/// All tombstones of a space, by hash.
#[derive(Debug, Default)]
pub(crate) struct TombstoneFilter {
    /// Time of the last erase of a hash.
    by_hash: HashMap<TombstoneHash, Timestamp>,
}

/// Result of checking an incoming text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TextCheck {
    /// It may be stored, perhaps without some sentences.
    Free,
    /// It must not be stored.
    Blocked,
}

impl TombstoneFilter {
    pub(crate) fn new<'t>(tombstones: impl Iterator<Item = &'t Tombstone>) -> Self {
        let mut by_hash: HashMap<TombstoneHash, Timestamp> = HashMap::new();
        for tombstone in tombstones {
            for hash in tombstone.sentences.iter().chain([&tombstone.body]) {
                let at = by_hash.entry(*hash).or_insert(tombstone.at);
                *at = (*at).max(tombstone.at);
            }
        }
        Self { by_hash }
    }

    /// Removes erased sentences from an event; an event that is erased as a whole, or that has no text left, is blocked.
    ///
    /// Later words of the user pass.
    pub(crate) fn pass(&self, event: &mut NewEvent, key: &InstallationKey) -> TextCheck {
        if self.by_hash.is_empty() {
            return TextCheck::Free;
        }
        let later = (event.origin == Origin::UserDirect).then_some(event.occurred_at);
        let erased = |folded: &str| {
            let at = (!folded.is_empty()).then(|| self.by_hash.get(&key.tombstone(folded))).flatten();
            at.is_some_and(|at| later.is_none_or(|later| later <= *at))
        };
        if erased(&tombstone_text(&event.content)) {
            return TextCheck::Blocked;
        }
        for value in event.metadata.values_mut() {
            if erased(&tombstone_text(value)) {
                FORGOTTEN.clone_into(value);
            } else if let Some(rest) = without_erased(value, &erased) {
                *value = rest;
            }
        }
        let Some(rest) = without_erased(&event.content, &erased) else { return TextCheck::Free };
        event.content = rest;
        let left = event.content.replace(FORGOTTEN, "");
        if left.chars().any(char::is_alphanumeric) { TextCheck::Free } else { TextCheck::Blocked }
    }
}

/// JSON in a string of JSON that is read as such: arguments of tools hold arguments of tools. Source: own choice; what is
/// deeper is read as prose.
const NESTED: usize = 4;

/// Returns a text without what was erased, `None` if nothing in it was; JSON stays JSON, and each of its strings and names is
/// a text.
fn without_erased(text: &str, is_erased: &dyn Fn(&str) -> bool) -> Option<String> {
    without_erased_within(text, is_erased, NESTED)
}

fn without_erased_within(text: &str, is_erased: &dyn Fn(&str) -> bool, nested: usize) -> Option<String> {
    if nested > 0
        && text.trim_start().starts_with(['{', '['])
        && let Ok(mut value) = serde_json::from_str(text)
    {
        return strings_without_erased(&mut value, is_erased, nested - 1).then(|| value.to_string());
    }
    without_sentences(text, is_erased)
}

/// Replaces erased strings, names and sentences in a JSON value; whether there were any.
fn strings_without_erased(value: &mut Value, is_erased: &dyn Fn(&str) -> bool, nested: usize) -> bool {
    match value {
        Value::String(text) => match string_without_erased(text, is_erased, nested) {
            Some(rest) => *text = rest,
            None => return false,
        },
        Value::Array(all) => {
            let mut is_cut = false;
            for one in all {
                is_cut |= strings_without_erased(one, is_erased, nested);
            }
            return is_cut;
        }
        Value::Object(all) => {
            let mut is_cut = false;
            for (name, mut one) in std::mem::take(all) {
                is_cut |= strings_without_erased(&mut one, is_erased, nested);
                let rest = string_without_erased(&name, is_erased, nested);
                is_cut |= rest.is_some();
                all.insert(rest.unwrap_or(name), one);
            }
            return is_cut;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return false,
    }
    true
}

fn string_without_erased(text: &str, is_erased: &dyn Fn(&str) -> bool, nested: usize) -> Option<String> {
    if is_erased(&tombstone_text(text)) {
        return Some(FORGOTTEN.to_owned());
    }
    without_erased_within(text, is_erased, nested)
}

/// Returns a text in which its erased longer sentences are replaced; `None` if there are none.
fn without_sentences(text: &str, is_erased: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut rest = String::with_capacity(text.len());
    let mut from = 0;
    for (range, _) in long_sentences(text).filter(|(_, folded)| is_erased(folded)) {
        rest.push_str(text.get(from..range.start).unwrap_or_default());
        rest.push_str(FORGOTTEN);
        from = range.end;
    }
    (from > 0).then(|| rest + text.get(from..).unwrap_or_default())
}
