//! Feedback of a user on the work of the assistant: corrections, directives, preferences, praise.

pub(crate) mod lexicon;
pub(crate) mod pattern;
pub(crate) mod token;

mod echo;
pub(crate) mod ids;
mod kinds;
mod level;
mod pack;
mod permission;
pub(crate) mod scope;
mod score;
mod signals;
mod subject;
mod wish;
mod word_class;

use std::sync::OnceLock;

use mnemal_core::{RuleId, Span};
use mnemal_text::{Language, sentences};

pub use kinds::{Aspect, FeedbackAct, Irritation, Polarity};
pub use permission::{only_states, requires_user_permission};
pub use signals::{FeedbackExample, feedback_examples, feedback_signals};

use self::wish::SLOT_CHANGE;
pub use self::wish::{is_weighed_wish, wish_slot, wish_works};

use self::echo::Echo;
use self::level::{AGAIN_POINTS, Cues};
use self::pack::{Pack, Rule};
use self::pattern::Hit;
use self::scope::{PrecedingMessage, Scope};
use self::score::{Class, MessageSignals};
use self::token::Token;
use crate::authorship::OwnWords;
use crate::language::{Pack as LanguagePack, language};
use crate::packs::LanguagePacks;

/// A user's message with the preceding message of the assistant.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The message, in the user's own words.
    pub user: &'a OwnWords<'a>,
    /// The preceding message of the assistant; without one, only explicit directives and preferences are found.
    pub assistant: Option<&'a str>,
    /// Feedback of earlier messages of the session: a repeated complaint weighs more.
    pub earlier: &'a [Feedback],
}

impl<'a> Turn<'a> {
    /// Returns the user's own words.
    fn words(&self) -> &'a str {
        self.user.as_str()
    }
}

/// One piece of feedback on the assistant's work.
#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// The rule that found it; a stable id.
    pub rule: RuleId,
    /// The act.
    pub act: FeedbackAct,
    /// The target, in the singular and in lower case: `reply`, `commit`; `answer` if none is named.
    pub target: String,
    /// The aspect of the target.
    pub aspect: Aspect,
    /// The wanted or unwanted value, in the user's words.
    pub value: Option<String>,
    /// The alternative, in the user's words, if the value is unwanted.
    pub alternative: Option<String>,
    /// The forbidden or replaced act, in the user's words: `use npm`, `writing long mails`.
    pub avoid: Option<String>,
    /// The reason, in the user's words.
    pub reason: Option<String>,
    /// The polarity of the value.
    pub polarity: Polarity,
    /// The irritation.
    pub irritation: Irritation,
    /// Whether it states its own permanence: one such message is enough to learn from.
    pub is_explicit: bool,
    /// Whether it touches acts that require the user's consent; see [`requires_user_permission`].
    pub requires_user_permission: bool,
    /// The position of the words in the message.
    pub span: Span,
}

impl Feedback {
    /// Whether earlier feedback complains about the same aspect of the same target.
    pub fn is_repeat_of(&self, earlier: &[Feedback]) -> bool {
        let is_complaint = |act: FeedbackAct| act.is_correction() || act == FeedbackAct::Directive;
        let is_same = |other: &Feedback| {
            is_complaint(other.act)
                && !other.rule.as_str().ends_with(WEIGHED)
                && (self.aspect, &self.target) == (other.aspect, &other.target)
                && (self.aspect != Aspect::Other || self.target != subject::WHOLE_ANSWER)
        };
        is_complaint(self.act) && earlier.iter().any(is_same)
    }

    /// Whether it is a wish only in the place of an earlier one about the same thing: "on repasse aux euros".
    pub fn is_slot_change(&self) -> bool {
        is_slot_change(&self.rule)
    }

    fn as_repeat(&self) -> Feedback {
        Feedback { act: FeedbackAct::Repeat, is_explicit: false, ..self.clone() }
    }
}

/// Whether a rule finds wishes that hold only in the place of earlier ones about the same thing.
#[must_use]
pub fn is_slot_change(rule: &RuleId) -> bool {
    rule.as_str().ends_with(SLOT_CHANGE)
}

/// Returns the feedback in a message, by position.
///
/// The language is guessed; a message in a language without a pack is read as English.
/// Quoted, pasted and reported words are skipped, and so are statements about the world and about the user's life.
#[must_use]
pub fn feedback(turn: Turn<'_>) -> Vec<Feedback> {
    let mut found = pack_of(turn).map(|pack| read(pack, turn)).unwrap_or_default();
    add_wishes(turn, &mut found);
    found.retain(|one| !is_void(turn, one));
    found
}

/// Whether the sentence behind it declares a joke.
fn is_void(turn: Turn<'_>, said: &Feedback) -> bool {
    let text = turn.words();
    let mut behind = sentences(text)
        .into_iter()
        .skip_while(|sentence| sentence.range().end <= said.span.start as usize)
        .skip(1);
    let of_language = LanguagePack::of(language(text)).unwrap_or_else(LanguagePack::english);
    behind.next().is_some_and(|next| of_language.gates().is_jest(next.of(text)))
}

/// Adds the wishes that no rule states, of sentences in which none gives an explicit one.
fn add_wishes(turn: Turn<'_>, found: &mut Vec<Feedback>) {
    let Some(rules) = pack_of(turn) else { return };
    let asked = PrecedingMessage::of(turn.assistant);
    let answers = asked != PrecedingMessage::Nothing;
    for sentence in sentences(turn.words()) {
        let range = sentence.range();
        let is_here = |one: &Feedback| range.contains(&(one.span.start as usize));
        let is_told = |one: &Feedback| {
            is_here(one) && (one.is_explicit || one.act != FeedbackAct::Preference && answers)
        };
        if found.iter().any(is_told) {
            continue;
        }
        let Some(wish) = wish::wish(turn.words(), range.clone(), asked) else { continue };
        if is_closed(rules, turn, range.clone(), wish.span) || is_dictation(rules, turn) {
            continue;
        }
        match found.iter_mut().find(|one| is_here(one)) {
            Some(_) if wish.is_slot_change() => {}
            Some(preference) if preference.act == FeedbackAct::Preference => preference.is_explicit = true,
            _ => {
                found.retain(|one| !is_here(one));
                found.push(wish);
            }
        }
    }
    found.sort_by_key(|one| one.span.start);
}

/// Whether words of a sentence do not count: they are reported, or no prose.
fn is_closed(pack: &Pack, turn: Turn<'_>, range: std::ops::Range<usize>, words: Span) -> bool {
    let line = Line { tokens: pack.lexicon.tokens(turn.words(), range.clone()), span: range };
    let scope = Scope::of(pack, turn, &line);
    scope.is_closed
        || scope.is_of_another_occasion()
        || scope.is_reported_before(&line.tokens, words.start as usize)
}

/// Returns the pack of the language of a message.
fn pack_of(turn: Turn<'_>) -> Option<&'static Pack> {
    packs().of(language(turn.words())).or_else(|| packs().english())
}

/// The packs, English first.
const PACKS: &[(&str, &str)] = &[
    (
        "en",
        concat!(
            include_str!("../packs/en/feedback.toml"),
            include_str!("../packs/en/feedback_weighed.toml"),
            include_str!("../packs/en/feedback_weights.toml"),
        ),
    ),
    ("de", include_str!("../packs/de/feedback.toml")),
    ("fr", include_str!("../packs/fr/feedback.toml")),
    ("es", include_str!("../packs/es/feedback.toml")),
    ("pt", include_str!("../packs/pt/feedback.toml")),
    ("zh", include_str!("../packs/zh/feedback.toml")),
];

fn packs() -> &'static LanguagePacks<Pack> {
    static READ: OnceLock<LanguagePacks<Pack>> = OnceLock::new();
    READ.get_or_init(|| LanguagePacks::new(PACKS, |_, text| Pack::read(text)))
}

/// Lowest sum of evidence for feedback. Source: zero, less the rounding error of the weights.
const LEAST_SUM: f32 = -0.05;

/// Suffix of rules without cues: evidence from cue families alone does not make later words a repetition.
const WEIGHED: &str = "weighed";

/// One match of a rule, before it becomes feedback.
struct RuleMatch<'p> {
    rule: &'p Rule,
    hit: Hit<usize>,
    sentence: usize,
}

/// One sentence with its words.
pub(crate) struct Line {
    span: std::ops::Range<usize>,
    tokens: Vec<Token>,
}

/// A message, read sentence by sentence.
struct Message<'p> {
    lines: Vec<Line>,
    scopes: Vec<Scope>,
    found: Vec<RuleMatch<'p>>,
}

impl<'p> Message<'p> {
    fn read(pack: &'p Pack, turn: Turn<'_>) -> Self {
        let echo = Echo::of(turn.assistant, Language::guess(turn.words()));
        let lines: Vec<Line> = sentences(turn.words())
            .into_iter()
            .map(|sentence| {
                let mut tokens = pack.lexicon.tokens(turn.words(), sentence.range());
                echo.mark(turn.words(), &mut tokens);
                Line { tokens, span: sentence.range() }
            })
            .filter(|line| !line.tokens.is_empty())
            .collect();
        let scopes: Vec<Scope> = lines.iter().map(|line| Scope::of(pack, turn, line)).collect();
        let asked = PrecedingMessage::of(turn.assistant);
        let mut found = Vec::new();
        for (sentence, (line, scope)) in lines.iter().zip(&scopes).enumerate() {
            if scope.is_closed {
                continue;
            }
            let mut hits = pack.hits(&line.tokens);
            hits.retain(|hit| pack.rules.get(hit.tag).is_some_and(|rule| scope.admits(rule, hit, asked)));
            found.extend(
                hits.into_iter()
                    .filter_map(|hit| pack.rules.get(hit.tag).map(|rule| RuleMatch { rule, hit, sentence })),
            );
        }
        Self { lines, scopes, found }
    }

    /// Returns the signals of the message: cue families, matching rules, and its form.
    fn signals(&self, pack: &Pack, turn: Turn<'_>) -> MessageSignals {
        let mut shown = pack.score.signals(&pack.lexicon, turn, &self.lines, &self.scopes);
        for found in &self.found {
            shown.add(found.sentence, found.rule.id.as_str());
            if self.counts(found, turn) {
                shown.add_class(found.rule);
            }
        }
        shown
    }

    /// Keeps the matches with enough evidence, in the message or in their own sentence, and adds a match for evidence from
    /// families alone.
    fn weigh(&mut self, pack: &'p Pack, turn: Turn<'_>) {
        let shown = self.signals(pack, turn);
        for class in Class::ALL {
            let Some(sum) = pack.score.of(class, &shown) else { continue };
            let is_of = |rule: &Rule| Class::of(rule.act) == Some(class);
            if sum < LEAST_SUM {
                // What another sentence of the message says does not speak against this one.
                let sums = pack.score.by_sentence(class, &shown);
                let weighs = |sentence: usize| {
                    class.stands_alone() && sums.get(sentence).is_some_and(|sum| *sum >= LEAST_SUM)
                };
                self.found
                    .retain(|found| !is_of(found.rule) || found.rule.names_work || weighs(found.sentence));
            } else if !self.found.iter().any(|found| is_of(found.rule)) {
                let sentence = pack.score.most_telling(class, &shown);
                let is_fit = |rule: &&Rule| {
                    let fits = rule.shows.is_empty() || shown.shows_any(sentence, &rule.shows);
                    rule.is_weighed && is_of(rule) && fits && sum >= rule.least + LEAST_SUM
                };
                let (from, to) = pack.score.told_by(class, &shown, sentence);
                let hit = |rule: &Rule| Hit { tag: rule.place, from, to, value: None, value_end: None };
                let rule = pack.rules.iter().find(is_fit);
                self.found.extend(rule.map(|rule| RuleMatch { rule, hit: hit(rule), sentence }));
            }
        }
    }

    /// Leaves plain statements out that only a message of one plain statement makes a contradiction.
    fn drop_weak(&mut self, turn: Turn<'_>) {
        let counts: Vec<bool> = self.found.iter().map(|found| self.counts(found, turn)).collect();
        let mut counts = counts.into_iter();
        self.found.retain(|_| counts.next().unwrap_or_default());
    }

    /// Returns whether a match counts by itself: a weak one does only in a message that states and does nothing else.
    fn counts(&self, found: &RuleMatch<'_>, turn: Turn<'_>) -> bool {
        // What asks or quotes does more than state.
        let does_more =
            || turn.words().contains(['"', '“', '„', '«']) || self.scopes.iter().any(|scope| scope.is_marked);
        let is_other = |found: &RuleMatch<'_>| match found.rule.act {
            FeedbackAct::Praise | FeedbackAct::Preference => true,
            FeedbackAct::Directive => found.sentence == 0,
            _ => false,
        };
        !found.rule.is_weak || found.sentence == 0 && !does_more() && !self.found.iter().any(is_other)
    }
}

fn read(pack: &Pack, turn: Turn<'_>) -> Vec<Feedback> {
    if is_dictation(pack, turn) {
        return Vec::new();
    }
    let mut message = Message::read(pack, turn);
    if pack.score.is_empty() || PrecedingMessage::of(turn.assistant) == PrecedingMessage::Nothing {
        message.drop_weak(turn);
    } else {
        message.weigh(pack, turn);
    }
    let Message { lines, mut found, .. } = message;
    keep_first_of_each_act(&mut found);
    let cues = Cues::count(pack, turn.words(), &lines);
    let mut all = Vec::with_capacity(found.len());
    for found in &found {
        if let Some(feedback) = make(pack, turn, &lines, found, cues) {
            let is_repeat = !found.rule.is_weighed && feedback.is_repeat_of(turn.earlier);
            let repeat = is_repeat.then(|| feedback.as_repeat());
            all.push(feedback);
            all.extend(repeat);
        }
    }
    all
}

/// Returns whether the message only gives the words that the assistant asked for: a text to write, or something said.
fn is_dictation(pack: &Pack, turn: Turn<'_>) -> bool {
    let Some(assistant) = turn.assistant else { return false };
    let user = turn.words().trim();
    let is_quotation = user.starts_with(['"', '“', '„', '«']) && user.ends_with(['"', '”', '“', '»']);
    if is_quotation && PrecedingMessage::of(turn.assistant) == PrecedingMessage::Question {
        return true;
    }
    sentences(assistant).into_iter().next_back().is_some_and(|sentence| {
        let tokens = pack.lexicon.tokens(assistant, sentence.range());
        !pack.invites.find(&tokens, &pack.lexicon).is_empty()
    })
}

/// Keeps, for each sentence, the first rule of each act, and of two acts that exclude each other the more telling one.
fn keep_first_of_each_act(found: &mut Vec<RuleMatch<'_>>) {
    found.sort_by_key(|found| (found.sentence, found.rule.act, found.rule.place, found.hit.from));
    found.dedup_by_key(|found| (found.sentence, found.rule.act));
    let acts: Vec<(usize, FeedbackAct)> =
        found.iter().map(|found| (found.sentence, found.rule.act)).collect();
    found.retain(|found| {
        let has = |act| acts.contains(&(found.sentence, act));
        match found.rule.act {
            FeedbackAct::Reject => !has(FeedbackAct::Repair),
            FeedbackAct::Preference => !has(FeedbackAct::Directive),
            FeedbackAct::Praise => !has(FeedbackAct::Reject) && !has(FeedbackAct::Repair),
            _ => true,
        }
    });
    found.sort_by_key(|found| (found.sentence, found.hit.from));
}

fn make(pack: &Pack, turn: Turn<'_>, lines: &[Line], found: &RuleMatch<'_>, cues: Cues) -> Option<Feedback> {
    let line = lines.get(found.sentence)?;
    let rule = found.rule;
    let tokens = &line.tokens;
    let first = tokens.get(found.hit.from)?;
    let last = tokens.get(found.hit.to.saturating_sub(1)).unwrap_or(first);
    let said = subject::stated_value(pack, turn.words(), tokens, &found.hit);
    let target = subject::target(pack, tokens, &found.hit);
    let aspect = rule.aspect.unwrap_or_else(|| subject::aspect(pack, tokens));
    let mut feedback = Feedback {
        rule: rule.id.clone(),
        act: rule.act,
        target,
        aspect,
        value: said.value,
        alternative: said.alternative,
        avoid: said.avoid,
        reason: said.reason,
        polarity: rule.polarity.unwrap_or(if rule.act == FeedbackAct::Repair {
            Polarity::Do
        } else {
            said.polarity
        }),
        irritation: Irritation::Casual,
        is_explicit: rule.is_explicit
            && (rule.names_work || pack.names_work(tokens))
            && pack.hedged.find(tokens, &pack.lexicon).is_empty(),
        requires_user_permission: requires_user_permission(
            turn.words().get(line.span.clone()).unwrap_or_default(),
        ),
        span: span(first.span.start, last.span.end.max(first.span.end))?,
    };
    let again = if feedback.is_repeat_of(turn.earlier) { AGAIN_POINTS } else { 0 };
    feedback.irritation = cues.level(rule, feedback.polarity, again);
    Some(feedback)
}

fn span(start: usize, end: usize) -> Option<Span> {
    Some(Span { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? })
}

#[cfg(test)]
mod tests;
