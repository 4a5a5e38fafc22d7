//! Candidate runs of words for one name.

use std::ops::Range;

use crate::names::lexicon::Lexicon;
use crate::names::name_search::{Capitalization, NameSearch};
use crate::names::pack::Words;
use crate::names::token::{Gap, Shape};
use crate::names::word_flags::WordFlags;

/// Words that could be one name.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Places in the list of words.
    pub(crate) words: Range<usize>,
    /// The classes of the whole run.
    pub(crate) listed: WordFlags,
    /// The lists hold all of its words as one name, or the one word it has.
    pub(crate) is_phrase: bool,
    /// It is written in lower case.
    pub(crate) is_lower: bool,
    /// A possessive ending is a part of it.
    pub(crate) keeps_ending: bool,
}

impl Run {
    /// The lists know it as something that is no person.
    pub(crate) fn is_phrase_of_things(&self) -> bool {
        self.listed.has(WordFlags::NAMED) && !self.listed.has(WordFlags::FIRST)
    }
}

impl NameSearch<'_> {
    /// Returns every run of the text, by position.
    pub(crate) fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            if !self.is_free(at) {
                at += 1;
            } else if let Some(run) = self.phrase_at(at) {
                let run = self.with_small_head(run);
                at = run.words.end;
                runs.push(run);
            } else if self.is_capital(at) {
                at = self.capitals_at(at, &mut runs);
            } else {
                if let Some(run) = self.lower_at(at) {
                    runs.push(run);
                }
                at += 1;
            }
        }
        runs
    }

    /// Returns the longest listed name of several words that begins here.
    pub(crate) fn phrase_at(&self, at: usize) -> Option<Run> {
        if self.begins.get(at) != Some(&true) {
            return None;
        }
        let (first, second) = (self.token(at)?, self.token(at + 1)?);
        let lexicon = Lexicon::built_in();
        let phrases = lexicon.phrases(first.key(), second.key());
        phrases.iter().find_map(|phrase| {
            let end = at + 1 + phrase.rest.len();
            let rest = self.tokens.get(at + 1..end)?;
            let fits = rest
                .iter()
                .zip(&phrase.rest)
                .all(|(token, word)| token.key() == word && !matches!(token.gap, Gap::Stop | Gap::Open));
            if !fits || !(at..end).all(|at| self.is_free(at)) {
                return None;
            }
            let is_rare = lexicon.is_rare(first.key(), &phrase.rest);
            let capitals = (at..end).filter(|&at| self.is_capital(at)).count();
            let small = (at..end)
                .filter(|&at| self.token(at).is_some_and(|token| token.shape == Shape::Lower))
                .count();
            let is_title = capitals > 0
                && small <= (end - at) / 2
                && (self.is_capital(end - 1) || small == 0)
                && (self.is_capital(at) || end - at > 2);
            let is_lower = capitals == 0 && is_rare;
            // A single capital at the start of a sentence is no title: "The office is closed".
            let is_sentence = capitals <= 1 && first.is_initial && small > 0 && !is_rare;
            (is_title && !is_sentence || is_lower || capitals > 0 && is_rare && !is_sentence).then_some(Run {
                words: at..end,
                listed: phrase.known,
                is_phrase: true,
                is_lower: capitals == 0,
                keeps_ending: phrase.keeps_ending,
            })
        })
    }

    /// A word in lower case that the lists know.
    fn lower_at(&self, at: usize) -> Option<Run> {
        let known = self.known(at);
        let token = self.token(at)?;
        let may_be = known.has(WordFlags::NAMED) || self.follows_naming(at);
        let is_word = token.shape == Shape::Lower && token.key().len() >= 2;
        let is_verb = known.has(WordFlags::ORDINARY) && self.follows_role(at)
            || !known.has(WordFlags::NAMED.without(WordFlags::FIRST)) && self.follows_article(at);
        (may_be && is_word && !is_verb && !known.has(WordFlags::REJECT)).then(|| Run {
            words: at..at + 1,
            listed: known,
            is_phrase: true,
            is_lower: true,
            keeps_ending: false,
        })
    }

    /// "the dana": a lower-case word after an article is no person.
    fn follows_article(&self, at: usize) -> bool {
        self.before(at).is_some_and(|before| matches!(before.lower.as_ref(), "the" | "a" | "an"))
    }

    /// "our hens go home": an everyday word after a role is no name.
    fn follows_role(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| self.known(before).has(WordFlags::KIN.with(WordFlags::ANIMAL)))
    }

    /// "my sister", "our dog", "named" precede a word that no list knows.
    fn follows_naming(&self, at: usize) -> bool {
        let Some(before) =
            at.checked_sub(1).filter(|_| self.token(at).is_some_and(|token| token.gap == Gap::Space))
        else {
            return false;
        };
        let is_unknown =
            !self.known(at).has(WordFlags::ORDINARY.with(WordFlags::REJECT).with(WordFlags::NATIONALITY));
        is_unknown
            && self.case(at) == Capitalization::None
            && self.known(before).has(WordFlags::KIN.with(WordFlags::ANIMAL))
    }

    /// Collects the capitals from here on, splits and trims them, and returns where they end.
    fn capitals_at(&self, start: usize, runs: &mut Vec<Run>) -> usize {
        let end = self.capitals_end(start);
        let mut from = start;
        let mut at = start;
        while at < end {
            if let Some(phrase) = self.phrase_at(at).filter(|phrase| phrase.words.end <= end) {
                // A listed name within a longer one: "New York" in "New York Pizza".
                let is_whole = phrase.words.end == end || !self.goes_on(&phrase, end);
                if is_whole {
                    self.trimmed(from..at, runs);
                    from = phrase.words.end;
                    at = from;
                    runs.push(phrase);
                    continue;
                }
                at = phrase.words.end;
            } else if self.splits(at, start) {
                self.trimmed(from..at, runs);
                from = at + 1;
                at += 1;
            } else {
                at += 1;
            }
        }
        self.trimmed(from..end, runs);
        end.max(start + 1)
    }

    /// Returns whether the words after a listed name make it longer.
    fn goes_on(&self, phrase: &Run, end: usize) -> bool {
        let last = self.known(end - 1);
        let is_head =
            last.has(WordFlags::ORGANIZATION_HEAD.with(WordFlags::EVENT_HEAD).with(WordFlags::LOCATION_HEAD));
        let is_model = phrase.listed.has(WordFlags::PRODUCT) || phrase.listed.has(WordFlags::ORGANIZATION);
        is_head || is_model
    }

    /// Weekdays, months and the like are part of a name only as a given name after another: "Anna May".
    fn splits(&self, at: usize, start: usize) -> bool {
        let known = self.known(at);
        if known.has(WordFlags::REJECT) {
            let is_given = known.has(WordFlags::FIRST) && at > start;
            let is_shout = self.token(at).is_some_and(|token| token.shape == Shape::Shout);
            return !is_given || is_shout;
        }
        false
    }

    fn capitals_end(&self, start: usize) -> usize {
        let words = Words::english();
        let mut end = start + 1;
        while let Some(token) = self.token(end) {
            let is_next = self.is_free(end)
                && (token.gap == Gap::Space
                    || token.gap == Gap::Hyphen && token.shape != Shape::Lower
                    || token.gap == Gap::Joint && self.is_joint(end))
                && !self
                    .token(end - 1)
                    .is_some_and(|before| before.is_possessive && !self.keeps_possessive(end));
            if !is_next {
                break;
            }
            if token.shape.is_capital() || token.shape == Shape::Number && self.is_model_number(end) {
                end += 1;
                continue;
            }
            let Some(next) = self.after_connector(end, start, words) else { break };
            end = next;
        }
        end
    }

    /// "Trader Joe's Market", "Domino's Pizza": a head noun continues after a possessive.
    fn keeps_possessive(&self, end: usize) -> bool {
        self.is_capital(end)
            && self
                .known(end)
                .has(WordFlags::ORGANIZATION_HEAD.with(WordFlags::LOCATION_HEAD).with(WordFlags::EVENT_HEAD))
    }

    /// "&" joins two capitals, "/" does not.
    fn is_joint(&self, at: usize) -> bool {
        let (Some(before), Some(token)) = (self.token(at - 1), self.token(at)) else { return false };
        self.text.get(before.span.end..token.span.start).is_some_and(|between| between.contains('&'))
            && token.shape.is_capital()
    }

    /// A short number after a product name: "Pixel 8", "Model 3".
    fn is_model_number(&self, at: usize) -> bool {
        let before = self.known(at - 1);
        let is_short =
            self.token(at).is_some_and(|token| token.key().len() <= 5 && !token.key().contains(':'));
        let is_thing = before.has(WordFlags::PRODUCT.with(WordFlags::WORK))
            || !before.has(
                WordFlags::ORDINARY.with(WordFlags::FIRST).with(WordFlags::REJECT).with(WordFlags::PLACE),
            );
        let ends = self.token(at + 1).is_none_or(|next| next.gap != Gap::Space || !next.shape.is_capital());
        is_short && is_thing && ends && self.token(at).is_some_and(|token| token.gap == Gap::Space)
    }

    /// "de", "van", "of" and "the" stay inside a name if a capital follows.
    fn after_connector(&self, at: usize, start: usize, words: &Words) -> Option<usize> {
        let mut next = at;
        let mut is_of = false;
        while next < at + 3 {
            let token = self.token(next).filter(|token| token.gap == Gap::Space)?;
            if token.shape.is_capital() {
                return (next > at).then_some(next + 1);
            }
            let known = words.of(token.lower.as_ref());
            let before = self.known(at - 1);
            let of_head =
                (start.max(at.saturating_sub(6))..at).any(|at| self.known(at).has(WordFlags::OF_HEAD));
            let fits = match token.lower.as_ref() {
                "of" | "for" => of_head && before.has(WordFlags::OF_HEAD.with(WordFlags::ORGANIZATION_HEAD)),
                "the" => is_of,
                "and" | "&" => false,
                "an" | "am" | "on" | "e" | "y" | "do" | "den" | "le" | "ten" => {
                    !before.has(WordFlags::ORDINARY)
                        && (token.lower != "on" || self.known(at - 1).has(WordFlags::PLACE))
                }
                _ => known.has(WordFlags::PARTICLE),
            };
            if !fits {
                return None;
            }
            is_of |= token.lower == "of";
            next += 1;
        }
        None
    }
}
