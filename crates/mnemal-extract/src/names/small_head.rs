//! Organizations and events with lower-case heads: "Ellerby library", "Ondry brass band".

use std::ops::Range;

use crate::names::name_search::NameSearch;
use crate::names::run::Run;
use crate::names::token::{Gap, Shape, Token};
use crate::names::word_flags::WordFlags;

/// Small words that make one name with the name before them. Source: own choice.
const SMALL_HEADS: [&str; 51] = [
    "library",
    "choir",
    "chorale",
    "quartet",
    "trio",
    "ensemble",
    "orchestra",
    "philharmonic",
    "symphony",
    "band",
    "hospital",
    "sykehus",
    "ziekenhuis",
    "clinic",
    "hospice",
    "university",
    "uni",
    "polytechnic",
    "college",
    "academy",
    "school",
    "museum",
    "theatre",
    "council",
    "church",
    "gym",
    "dojo",
    "club",
    "society",
    "brewery",
    "distillery",
    "bakery",
    "mill",
    "cargo",
    "naturalists",
    "historians",
    "harriers",
    "striders",
    "ramblers",
    "marathon",
    "festival",
    "fest",
    "regatta",
    "triathlon",
    "biennale",
    "show",
    "ultra",
    "half",
    "10k",
    "final",
    "carnival",
];

/// Small words that are between such a name and its head: "Ebbw brass band". Source: own choice.
const SMALL_MIDDLES: [&str; 44] = [
    "brass",
    "male",
    "voice",
    "drama",
    "half",
    "flower",
    "food",
    "film",
    "jazz",
    "folk",
    "music",
    "book",
    "beer",
    "football",
    "rugby",
    "cricket",
    "hockey",
    "running",
    "swimming",
    "rowing",
    "sailing",
    "cycling",
    "chess",
    "comedy",
    "literary",
    "historical",
    "horticultural",
    "gardening",
    "allotment",
    "choral",
    "operatic",
    "vet",
    "veterinary",
    "primary",
    "secondary",
    "high",
    "grammar",
    "comprehensive",
    "county",
    "district",
    "borough",
    "town",
    "city",
    "youth",
];

impl NameSearch<'_> {
    /// A listed place followed by a lower-case head: "New Quay library".
    pub(crate) fn with_small_head(&self, run: Run) -> Run {
        let is_place = run.listed.has(WordFlags::PLACE) && !run.is_lower && !run.keeps_ending;
        match self.small_head(&run.words).filter(|_| is_place) {
            Some(end) => Run {
                words: run.words.start..end,
                listed: WordFlags::NOTHING,
                is_phrase: false,
                is_lower: false,
                keeps_ending: false,
            },
            None => run,
        }
    }

    /// Returns where a name with small words ends: "Ellerby library", "Ondry brass band".
    pub(crate) fn small_head(&self, words: &Range<usize>) -> Option<usize> {
        if !self.may_have_small_head(words) {
            return None;
        }
        for at in words.end..words.end + MOST_SMALL {
            let token = self.token(at).filter(|token| {
                token.gap == Gap::Space && token.shape != Shape::Capital && self.is_free(at)
            })?;
            let next = self.token(at + 1).filter(|next| next.gap == Gap::Space);
            let goes_small = next.is_some_and(|next| is_head(next) || is_middle(next));
            if is_head(token) && !goes_small && !self.is_half_of(at) {
                let goes_on = next.is_some_and(|next| next.shape.is_capital());
                return (!goes_on && !token.is_possessive).then_some(at + 1);
            }
            let is_part = is_middle(token) || is_head(token) && goes_small;
            if !is_part {
                return None;
            }
        }
        None
    }

    /// A capital that is neither a person nor a tool nor a word that begins a sentence.
    fn may_have_small_head(&self, words: &Range<usize>) -> bool {
        let Some(first) = self.token(words.start) else { return false };
        let (known, is_single) = (self.known(words.start), words.len() == 1);
        let before = self.before(words.start);
        let is_at = before.is_some_and(|before| matches!(before.lower.as_ref(), "at" | "the"));
        let is_any = before.is_some_and(|before| matches!(before.lower.as_ref(), "a" | "an" | "any" | "no"));
        let is_tool = is_single && known.has(WordFlags::PRODUCT.with(WordFlags::ORGANIZATION));
        let is_person = is_single && known.has(WordFlags::FIRST) && !known.has(WordFlags::PLACE) && !is_at;
        let is_verb = is_single && first.key().ends_with("ing");
        let is_start = first.is_initial && (is_verb || first.shape == Shape::Shout);
        words.len() <= MOST_CAPITALS
            && matches!(first.shape, Shape::Capital | Shape::Shout)
            && !(is_start || first.is_possessive || is_tool || is_person || is_any)
            && !known.has(WordFlags::ORDINARY.with(WordFlags::NATIONALITY).with(WordFlags::REJECT))
            && !self.token(words.end - 1).is_some_and(|last| last.is_possessive)
            && !self.ends_with_head(words)
    }

    /// "half the", "half of my": no race.
    fn is_half_of(&self, at: usize) -> bool {
        let is_half = self.token(at).is_some_and(|token| token.lower == "half");
        is_half
            && self
                .token(at + 1)
                .is_some_and(|next| matches!(next.lower.as_ref(), "the" | "a" | "of" | "an" | "my"))
    }
}

/// Capitals before the small words. Source: own choice, as long as names of places are.
const MOST_CAPITALS: usize = 4;

/// Lower-case words after the capitals: two middles and a head, "Ondry male voice choir". Source: own choice.
const MOST_SMALL: usize = 3;

fn is_head(token: &Token<'_>) -> bool {
    SMALL_HEADS.contains(&token.lower.as_ref())
}

fn is_middle(token: &Token<'_>) -> bool {
    SMALL_MIDDLES.contains(&token.lower.as_ref())
}
