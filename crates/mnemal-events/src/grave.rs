//! Tombstones: made of a text that is erased, and held against a text that comes in.

use std::collections::HashMap;

use mnemal_core::{Event, EventId, InstallationKey, NewEvent, Origin, Timestamp, Tombstone, TombstoneHash};
use mnemal_text::{fold, sentences};

/// Fewest words of a sentence that has a tombstone of its own. Source: RELIABILITY 9.3.
const WORDS: usize = 5;
/// Fewest characters of such a sentence in a script without spaces. Source: two characters a word, as in mnemal-text.
const CHARACTERS: usize = 10;
/// What stands where an erased sentence came back.
pub(crate) const FORGOTTEN: &str = "[forgotten]";

/// Returns a text as tombstones compare it: folded, white space collapsed, without punctuation at its ends.
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

/// Returns one tombstone for each living event, in the order given; events that are erased already have theirs.
///
/// A tombstone holds the keyed hash of the whole text, and one of each sentence of at least five words and of a caption.
pub fn tombstones_for(events: &[Event], key: &InstallationKey, at: Timestamp) -> Vec<Tombstone> {
    let bury = |event: &Event| event.kept().map(|kept| tombstone(event.id, kept, key, at));
    events.iter().filter_map(bury).collect()
}

fn tombstone(id: EventId, kept: &NewEvent, key: &InstallationKey, at: Timestamp) -> Tombstone {
    let long = long_sentences(&kept.content).map(|(_, folded)| key.tombstone(&folded));
    let caption = kept.metadata.get("caption").map(|caption| key.tombstone(&tombstone_text(caption)));
    let mut hashes: Vec<TombstoneHash> = long.chain(caption).collect();
    hashes.sort_unstable();
    hashes.dedup();
    Tombstone { event: id, body: key.tombstone(&tombstone_text(&kept.content)), sentences: hashes, at }
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

/// All tombstones of a space, by hash.
#[derive(Debug, Default)]
pub(crate) struct Graves {
    /// When the text of a hash was last erased.
    by_hash: HashMap<TombstoneHash, Timestamp>,
}

/// What is left of a text that comes in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// All of it, or what is left of it.
    Free,
    /// Nothing.
    Blocked,
}

impl Graves {
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

    /// Cuts erased sentences out of an event; an event that is erased as a whole, or of which nothing is left, is blocked.
    ///
    /// The user's own later words pass.
    pub(crate) fn pass(&self, event: &mut NewEvent, key: &InstallationKey) -> Passage {
        if self.by_hash.is_empty() {
            return Passage::Free;
        }
        let later = (event.origin == Origin::UserDirect).then_some(event.occurred_at);
        let erased = |folded: &str| {
            let at = (!folded.is_empty()).then(|| self.by_hash.get(&key.tombstone(folded))).flatten();
            at.is_some_and(|at| later.is_none_or(|later| later <= *at))
        };
        if erased(&tombstone_text(&event.content)) {
            return Passage::Blocked;
        }
        for value in event.metadata.values_mut() {
            if erased(&tombstone_text(value)) {
                FORGOTTEN.clone_into(value);
            }
        }
        let cuts: Vec<_> = long_sentences(&event.content)
            .filter(|(_, folded)| erased(folded))
            .map(|(range, _)| range)
            .collect();
        if cuts.is_empty() {
            return Passage::Free;
        }
        let mut rest = String::with_capacity(event.content.len());
        let mut from = 0;
        for range in cuts {
            rest.push_str(event.content.get(from..range.start).unwrap_or_default());
            rest.push_str(FORGOTTEN);
            from = range.end;
        }
        rest.push_str(event.content.get(from..).unwrap_or_default());
        event.content = rest;
        let left = event.content.replace(FORGOTTEN, "");
        if left.chars().any(char::is_alphanumeric) { Passage::Free } else { Passage::Blocked }
    }
}
