//! Runs of words that could be one name, cut to what belongs to it.

use std::ops::Range;

use mnemal_core::EntityKind;
use mnemal_text::{Language, is_stop_word};

use crate::names::lexicon::{Known, Lexicon};
use crate::names::pack::Words;
use crate::names::token::{Gap, Shape, Token};

/// Words that could be one name.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Places in the list of words.
    pub(crate) words: Range<usize>,
    /// What the lists know the whole run to be.
    pub(crate) listed: Known,
    /// The lists hold all of its words as one name, or the one word it has.
    pub(crate) is_phrase: bool,
    /// It is written in small letters.
    pub(crate) is_lower: bool,
    /// A possessive ending is a part of it.
    pub(crate) keeps_ending: bool,
}

impl Run {
    /// The lists know it as something that is no person.
    pub(crate) fn is_phrase_of_things(&self) -> bool {
        self.listed.has(Known::NAMED) && !self.listed.has(Known::FIRST)
    }
}

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

/// Small words that stand between such a name and its head: "Ebbw brass band". Source: own choice.
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

/// A text on the way to its names.
#[derive(Debug)]
pub(crate) struct Reading<'t> {
    pub(crate) text: &'t str,
    pub(crate) tokens: Vec<Token<'t>>,
    /// What lists and language know of each word.
    pub(crate) known: Vec<Known>,
    /// Words that belong to something else: identifiers, known names, code.
    pub(crate) is_taken: Vec<bool>,
    /// Words of sentences that use capitals as everybody does.
    pub(crate) has_case: Vec<Case>,
}

/// How a sentence uses capitals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// Names are capitalised, and little else.
    Usual,
    /// There is no capital.
    None,
    /// Capitals say nothing: shouted, or not English.
    Useless,
}

impl Reading<'_> {
    pub(crate) fn token(&self, at: usize) -> Option<&Token<'_>> {
        self.tokens.get(at)
    }

    pub(crate) fn known(&self, at: usize) -> Known {
        self.known.get(at).copied().unwrap_or_default()
    }

    fn is_free(&self, at: usize) -> bool {
        self.is_taken.get(at).is_some_and(|taken| !taken)
    }

    pub(crate) fn case(&self, at: usize) -> Case {
        self.has_case.get(at).copied().unwrap_or(Case::Useless)
    }

    fn is_capital(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.shape.is_capital())
    }

    /// Returns every run of the text, by place.
    pub(crate) fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            if !self.is_free(at) {
                at += 1;
            } else if let Some(run) = self.phrase_at(at) {
                let run = self.with_small_head(run);
                at = run.words.end;
                self.push(&mut runs, run);
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

    fn push(&self, runs: &mut Vec<Run>, run: Run) {
        if run.words.clone().all(|at| self.is_free(at)) {
            runs.push(run);
        }
    }

    /// Returns the longest listed name of several words that begins here.
    pub(crate) fn phrase_at(&self, at: usize) -> Option<Run> {
        let first = self.token(at)?;
        let phrases = Lexicon::built_in().phrases(first.key());
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
            let capitals = (at..end).filter(|&at| self.is_capital(at)).count();
            let small = (at..end)
                .filter(|&at| self.token(at).is_some_and(|token| token.shape == Shape::Lower))
                .count();
            let is_title = capitals > 0
                && small <= (end - at) / 2
                && (self.is_capital(end - 1) || small == 0)
                && (self.is_capital(at) || end - at > 2);
            let is_lower = capitals == 0 && phrase.is_rare;
            // A single capital at the start of a sentence is no title: "The office is closed".
            let is_sentence = capitals <= 1 && first.is_initial && small > 0 && !phrase.is_rare;
            (is_title && !is_sentence || is_lower || capitals > 0 && phrase.is_rare && !is_sentence)
                .then_some(Run {
                    words: at..end,
                    listed: phrase.known,
                    is_phrase: true,
                    is_lower: capitals == 0,
                    keeps_ending: phrase.keeps_ending,
                })
        })
    }

    /// A word in small letters that the lists know.
    fn lower_at(&self, at: usize) -> Option<Run> {
        let known = self.known(at);
        let token = self.token(at)?;
        let may_be = known.has(Known::NAMED) || self.follows_naming(at);
        let is_word = token.shape == Shape::Lower && token.key().len() >= 2;
        let is_verb = known.has(Known::ORDINARY) && self.follows_role(at)
            || !known.has(Known::NAMED.without(Known::FIRST)) && self.follows_article(at);
        (may_be && is_word && !is_verb && !known.has(Known::REJECT)).then(|| Run {
            words: at..at + 1,
            listed: known,
            is_phrase: true,
            is_lower: true,
            keeps_ending: false,
        })
    }

    /// "the dana": what an article stands before in small letters is no person.
    fn follows_article(&self, at: usize) -> bool {
        at.checked_sub(1)
            .and_then(|before| self.token(before))
            .is_some_and(|before| matches!(before.lower.as_ref(), "the" | "a" | "an"))
    }

    /// "our hens go home": an everyday word behind a role is no name.
    fn follows_role(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| self.known(before).has(Known::KIN.with(Known::ANIMAL)))
    }

    /// "my sister", "our dog", "named" stand before a word that no list knows.
    fn follows_naming(&self, at: usize) -> bool {
        let Some(before) =
            at.checked_sub(1).filter(|_| self.token(at).is_some_and(|token| token.gap == Gap::Space))
        else {
            return false;
        };
        let is_unknown = !self.known(at).has(Known::ORDINARY.with(Known::REJECT).with(Known::NATIONALITY));
        is_unknown && self.case(at) == Case::None && self.known(before).has(Known::KIN.with(Known::ANIMAL))
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

    /// Says whether what follows a listed name makes a longer name of it.
    fn goes_on(&self, phrase: &Run, end: usize) -> bool {
        let last = self.known(end - 1);
        let is_head = last.has(Known::ORGANIZATION_HEAD.with(Known::EVENT_HEAD).with(Known::LOCATION_HEAD));
        let is_model = phrase.listed.has(Known::PRODUCT) || phrase.listed.has(Known::ORGANIZATION);
        is_head || is_model
    }

    /// Weekdays, months and the like never stand in a name; a nationality only at the start of one with a head.
    fn splits(&self, at: usize, start: usize) -> bool {
        let known = self.known(at);
        if known.has(Known::REJECT) {
            let is_given = known.has(Known::FIRST) && at > start;
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

    /// "Trader Joe's Market", "Domino's Pizza": a head noun goes on behind a possessive.
    fn keeps_possessive(&self, end: usize) -> bool {
        self.is_capital(end)
            && self
                .known(end)
                .has(Known::ORGANIZATION_HEAD.with(Known::LOCATION_HEAD).with(Known::EVENT_HEAD))
    }

    /// "&" joins two capitals, "/" does not.
    fn is_joint(&self, at: usize) -> bool {
        let (Some(before), Some(token)) = (self.token(at - 1), self.token(at)) else { return false };
        self.text.get(before.span.end..token.span.start).is_some_and(|between| between.contains('&'))
            && token.shape.is_capital()
    }

    /// A short number behind a name of things: "Pixel 8", "Model 3".
    fn is_model_number(&self, at: usize) -> bool {
        let before = self.known(at - 1);
        let is_short =
            self.token(at).is_some_and(|token| token.key().len() <= 5 && !token.key().contains(':'));
        let is_thing = before.has(Known::PRODUCT.with(Known::WORK))
            || !before.has(Known::ORDINARY.with(Known::FIRST).with(Known::REJECT).with(Known::PLACE));
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
            let of_head = (start.max(at.saturating_sub(6))..at).any(|at| self.known(at).has(Known::OF_HEAD));
            let fits = match token.lower.as_ref() {
                "of" | "for" => of_head && before.has(Known::OF_HEAD.with(Known::ORGANIZATION_HEAD)),
                "the" => is_of,
                "and" | "&" => false,
                "an" | "am" | "on" | "e" | "y" | "do" | "den" | "le" | "ten" => {
                    !before.has(Known::ORDINARY)
                        && (token.lower != "on" || self.known(at - 1).has(Known::PLACE))
                }
                _ => known.has(Known::PARTICLE),
            };
            if !fits {
                return None;
            }
            is_of |= token.lower == "of";
            next += 1;
        }
        None
    }

    /// Cuts what does not belong to a name off both ends.
    fn trimmed(&self, words: Range<usize>, runs: &mut Vec<Run>) {
        let mut words = words;
        let is_title = self.begins_title(&words);
        while !words.is_empty() && !is_title && self.falls_off_start(&words) {
            words.start += 1;
        }
        while !words.is_empty() && self.falls_off_end(&words) {
            words.end -= 1;
        }
        if words.is_empty() {
            return;
        }
        self.cut_after_tool(&mut words);
        if let Some(phrase) = self.phrase_at(words.start).filter(|phrase| phrase.words == words) {
            return runs.push(phrase);
        }
        if let Some(end) = self.small_head(&words) {
            words.end = end;
        }
        let keeps_ending = self.is_saint(&words) || self.is_shop(&words);
        let is_letter = self.token(words.start).is_some_and(|token| token.key().chars().count() == 1);
        let is_single = words.len() == 1;
        if is_single && is_letter {
            return;
        }
        let listed = if is_single { self.known(words.start) } else { Known::NOTHING };
        runs.push(Run { words, listed, is_phrase: is_single, is_lower: false, keeps_ending });
    }

    /// "reading The Tin Orchard": an article with a capital within a sentence begins a title.
    fn begins_title(&self, words: &Range<usize>) -> bool {
        let Some(token) = self.token(words.start) else { return false };
        let is_article = matches!(token.lower.as_ref(), "the" | "a" | "an");
        if words.len() < 2 || !is_article || token.is_initial || token.gap != Gap::Space {
            return false;
        }
        let mut is_work = false;
        Words::english().before(&self.tokens, words.start, |kind, _| is_work |= kind == EntityKind::Work);
        is_work
    }

    /// A listed place with a small head behind it: "New Quay library".
    fn with_small_head(&self, run: Run) -> Run {
        let is_place = run.listed.has(Known::PLACE) && !run.is_lower && !run.keeps_ending;
        match self.small_head(&run.words).filter(|_| is_place) {
            Some(end) => Run {
                words: run.words.start..end,
                listed: Known::NOTHING,
                is_phrase: false,
                is_lower: false,
                keeps_ending: false,
            },
            None => run,
        }
    }

    /// "Ellerby library", "Ondry brass band": one body or event, though its later words are small; where it ends.
    fn small_head(&self, words: &Range<usize>) -> Option<usize> {
        let (first, known) = (self.token(words.start)?, self.known(words.start));
        let is_tool = words.len() == 1 && known.has(Known::PRODUCT.with(Known::ORGANIZATION));
        let before = words.start.checked_sub(1).and_then(|before| self.token(before));
        let is_at = before.is_some_and(|before| matches!(before.lower.as_ref(), "at" | "the"));
        let is_person = words.len() == 1 && known.has(Known::FIRST) && !known.has(Known::PLACE) && !is_at;
        let is_any = before.is_some_and(|before| matches!(before.lower.as_ref(), "a" | "an" | "any" | "no"));
        let is_name = words.len() <= 4
            && matches!(first.shape, Shape::Capital | Shape::Shout)
            && !(first.is_initial
                && (words.len() == 1 && first.key().ends_with("ing") || first.shape == Shape::Shout))
            && !(first.is_possessive || is_tool || is_person || is_any)
            && !known.has(Known::ORDINARY.with(Known::NATIONALITY).with(Known::REJECT))
            && !self.token(words.end - 1).is_some_and(|last| last.is_possessive)
            && !self.ends_with_head(words);
        if !is_name {
            return None;
        }
        let mut at = words.end;
        while at < words.end + 3 {
            let token =
                self.token(at).filter(|token| token.gap == Gap::Space && token.shape != Shape::Capital)?;
            if !self.is_free(at) {
                return None;
            }
            let next = self.token(at + 1);
            let goes_on = next.is_some_and(|after| after.gap == Gap::Space && after.shape.is_capital());
            let goes_small = next.is_some_and(|after| {
                after.gap == Gap::Space
                    && (SMALL_HEADS.contains(&after.lower.as_ref())
                        || SMALL_MIDDLES.contains(&after.lower.as_ref()))
            });
            let is_part = token.lower == "half"
                && next.is_some_and(|after| matches!(after.lower.as_ref(), "the" | "a" | "of" | "an" | "my"));
            if SMALL_HEADS.contains(&token.lower.as_ref()) && !goes_small && !is_part {
                return (!goes_on && !token.is_possessive).then_some(at + 1);
            }
            if !SMALL_MIDDLES.contains(&token.lower.as_ref()) && !goes_small {
                return None;
            }
            if !SMALL_MIDDLES.contains(&token.lower.as_ref()) && !SMALL_HEADS.contains(&token.lower.as_ref())
            {
                return None;
            }
            at += 1;
        }
        None
    }

    /// "at Hobb's", "in Kellner's": a shop, a pub or a firm, if nothing that belongs to somebody stands behind it.
    fn is_shop(&self, words: &Range<usize>) -> bool {
        let before = words.start.checked_sub(1).and_then(|before| self.token(before));
        let is_at = before.is_some_and(|before| {
            matches!(before.lower.as_ref(), "at" | "in" | "from" | "near" | "to" | "with")
        });
        let is_name =
            words.clone().all(|at| self.token(at).is_some_and(|token| token.shape == Shape::Capital));
        let known = self.known(words.start);
        let ends = self.token(words.end - 1).is_some_and(|last| last.is_possessive)
            && self.token(words.end).is_none_or(|next| {
                next.gap != Gap::Space
                    || matches!(
                        next.lower.as_ref(),
                        "and"
                            | "in"
                            | "on"
                            | "at"
                            | "for"
                            | "since"
                            | "every"
                            | "last"
                            | "before"
                            | "after"
                            | "with"
                            | "to"
                            | "from"
                            | "when"
                            | "or"
                            | "but"
                            | "as"
                            | "this"
                    )
            });
        words.len() <= 2
            && is_at
            && is_name
            && ends
            && !known.has(Known::KIN.with(Known::TITLE).with(Known::REJECT))
            && !(known.has(Known::ORDINARY) && !known.has(Known::PRODUCT.with(Known::ORGANIZATION)))
            && !(words.len() == 1 && known.has(Known::FIRST))
    }

    /// "St Anselm's", without a thing of the saint behind it.
    fn is_saint(&self, words: &Range<usize>) -> bool {
        let is_first = self
            .token(words.start)
            .is_some_and(|token| token.shape == Shape::Capital && matches!(token.key(), "st" | "saint"));
        words.len() == 2 && is_first && self.token(words.end - 1).is_some_and(|last| last.is_possessive)
    }

    /// "Airflow DAG", "Kafka UI", "Godot 4": what stands behind a tool in capitals or digits is no part of its name.
    fn cut_after_tool(&self, words: &mut Range<usize>) {
        let second = words.start + 1;
        if words.len() != 2 || !self.known(words.start).has(Known::PRODUCT.with(Known::ORGANIZATION)) {
            return;
        }
        let is_plain = self.token(second).is_some_and(|token| {
            let has_letter = token.key().bytes().any(|b| b.is_ascii_alphabetic());
            token.shape == Shape::Number && !has_letter
                || token.shape == Shape::Shout && !token.key().bytes().any(|b| b.is_ascii_digit())
        });
        let known = self.known(second);
        let is_place =
            known.has(Known::PLACE) && !known.has(Known::FIRST.with(Known::PRODUCT).with(Known::ORDINARY));
        words.end -= usize::from(is_place || is_plain && !known.has(Known::NAMED.without(Known::FIRST)));
    }

    fn falls_off_start(&self, words: &Range<usize>) -> bool {
        let known = self.known(words.start);
        let Some(token) = self.token(words.start) else { return true };
        if known.has(Known::REJECT) && !known.has(Known::FIRST) || !token.shape.is_capital() {
            return true;
        }
        let is_alone = words.len() == 1;
        if known.has(Known::TITLE) && !(is_alone && known.has(Known::NAMED)) && !self.is_title_part(words) {
            return true;
        }
        if known.has(Known::NATIONALITY) {
            return is_alone || !self.ends_with_head(words);
        }
        if matches!(token.lower.as_ref(), "the" | "my" | "our" | "a" | "an" | "this" | "that" | "his" | "her")
        {
            return true;
        }
        let is_function = !known.has(Known::NAMED)
            && token.shape != Shape::Shout
            && is_stop_word(Language::English, &token.lower);
        let is_tool = known.has(Known::PRODUCT)
            && self.token(words.start + 1).is_some_and(|next| next.shape == Shape::Shout);
        let is_start = token.is_initial && known.has(Known::ORDINARY) && !is_tool;
        if is_start && !is_alone {
            // "Will Baker", "Rose Miller": a first name that is a word, too.
            let is_given = known.has(Known::FIRST)
                && self.known(words.start + 1).without(Known::ORDINARY) != Known::NOTHING
                && !self.known(words.start + 1).has(Known::FIRST.with(Known::TITLE));
            let is_headed = self.ends_with_head(words) && !is_function && !self.is_verb_like(words.start);
            return !is_given
                && !is_headed
                && !known.has(Known::LOCATION_FIRST.with(Known::ORGANIZATION_FIRST));
        }
        is_function && !is_alone
    }

    /// "King's College": a title that is a part of the name.
    fn is_title_part(&self, words: &Range<usize>) -> bool {
        self.ends_with_head(words) || self.token(words.start).is_some_and(|token| token.is_possessive)
    }

    /// Sentences begin with a verb in past or "-ing" where people write notes: "Visited London Zoo".
    fn is_verb_like(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.key().ends_with("ed") || token.key().ends_with("ing"))
    }

    pub(crate) fn ends_with_head(&self, words: &Range<usize>) -> bool {
        let heads = Known::ORGANIZATION_HEAD.with(Known::EVENT_HEAD).with(Known::LOCATION_HEAD);
        words.len() > 1 && words.end.checked_sub(1).is_some_and(|last| self.known(last).has(heads))
    }

    fn falls_off_end(&self, words: &Range<usize>) -> bool {
        let last = words.end - 1;
        let known = self.known(last);
        let Some(token) = self.token(last) else { return true };
        if known.has(Known::NATIONALITY) {
            return true;
        }
        if token.shape == Shape::Lower {
            return true;
        }
        let is_plain = known.has(Known::REJECT)
            && !known.has(Known::FIRST.with(Known::EVENT_HEAD).with(Known::ORGANIZATION_HEAD));
        is_plain
            || words.len() > 1
                && known.has(Known::TITLE)
                && !known.has(Known::NAMED)
                && !self.ends_with_head(words)
    }
}
