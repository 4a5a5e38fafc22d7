//! Standing wishes that no phrase of a rule states: evidence from what a clause names and from how it asks.
//!
//! People rarely write "please always use grams": they write "grams for me, ounces mean nothing here". So a clause is weighed: what
//! it names of the assistant's work (a slot: units, length, form of address), words of permanence, of asking, of limiting, a case,
//! a complaint; and against it what asks for one task, what tells of the user or of others, and a question.

use std::iter;
use std::ops::Range;
use std::sync::OnceLock;

use mnemal_core::{Error, Result, RuleId};
use mnemal_text::sentences;

use super::kinds::{Aspect, FeedbackAct, Irritation, Polarity};
use super::lexicon::Lexicon;
use super::pattern::{Hit, Patterns};
use super::scope::PrecedingMessage;
use super::subject::WHOLE_ANSWER;
use super::token::{NUMBER, Token};
use super::{Feedback, span};
use crate::language::{is_unsure, language};
use crate::packs::LanguagePacks;
use crate::requires_user_permission;
use crate::section::PackFile;
use crate::word::without_closing_marks;

/// Evidence that states a wish. Source: fitted by hand on the development half of `benches/data/wishes`.
const ENOUGH: f32 = 3.5;
/// Evidence that does where the assistant has just spoken, or the message gives a task, and nothing says when or for whom: there it
/// may be about that answer or task alone. Source: fitted by hand on the development half of `gold/g4`.
const ENOUGH_OF_AN_ANSWER: f32 = 4.5;
/// Evidence that does for another value of what the user has already wished: "on repasse aux euros". Source: as [`ENOUGH`].
const ENOUGH_OF_A_CHANGE: f32 = 2.5;
/// Weight of a word of change, for such a value alone. Source: as [`ENOUGH`].
const CHANGE: f32 = 0.5;
/// Weight of what a clause names, where the pack gives no other. Source: as [`ENOUGH`].
const SLOT: f32 = 2.0;
/// Weight of a second thing that it names. Source: as [`ENOUGH`].
const SECOND: f32 = 0.5;
/// Weight of a clause that begins with what it names. Source: as [`ENOUGH`].
const FRAGMENT: f32 = 0.5;
/// Weight against a sentence with a question mark. Source: as [`ENOUGH`].
const ASKED: f32 = 1.5;
/// Clauses that are weighed together. Source: own choice; a reason or a condition stands beside its wish.
const TOGETHER: usize = 2;

/// The end of the id of a rule whose wish holds only in the place of an earlier one about the same.
pub(crate) const SLOT_CHANGE: &str = ".directive.slot-change";

/// The end of the id of a rule whose wish is weighed.
const WEIGHED_WISH: &str = ".directive.weighed-wish";

/// Whether a rule weighs what clauses say for a wish, and matches no phrase.
#[must_use]
pub fn is_weighed_wish(rule: &RuleId) -> bool {
    rule.as_str().ends_with(WEIGHED_WISH)
}

/// What a phrase is evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cue {
    /// It holds from now on.
    Forever,
    /// It asks, allows or prefers.
    Ask,
    /// It tells the assistant what to do.
    Order,
    /// It forbids or limits.
    Limit,
    /// It names a case.
    Case,
    /// It is for the user.
    Mine,
    /// It complains.
    Complaint,
    /// It is about one task: nothing else in the sentence counts.
    Once,
    /// It tells of the user or of somebody else.
    Told,
    /// It asks a question.
    Question,
    /// It tells that something is different now.
    Change,
}

impl Cue {
    /// Every cue with its list in the packs and its weight. Source: as [`ENOUGH`].
    const ALL: [(Self, &'static str, f32); 11] = [
        (Self::Forever, "forever", 2.0),
        (Self::Ask, "asks", 1.0),
        (Self::Order, "orders", 1.0),
        (Self::Limit, "limits", 1.0),
        (Self::Case, "cases", 1.0),
        (Self::Mine, "mine", 1.0),
        (Self::Complaint, "complaints", 1.0),
        (Self::Once, "once", 0.0),
        (Self::Told, "told", -1.5),
        (Self::Question, "questions", -3.0),
        (Self::Change, "changes", 0.0),
    ];
}

/// What a wish is about.
#[derive(Debug)]
struct WishTopic {
    name: String,
    aspect: Aspect,
    /// One wish holds at a time.
    is_single: bool,
    /// It is a unit, which behind a number measures something and names no wish.
    is_unit: bool,
    /// How much naming it weighs.
    weight: f32,
}

/// The evidence of one language.
#[derive(Debug)]
pub(super) struct WishPack {
    rule: RuleId,
    change: RuleId,
    lexicon: Lexicon,
    slots: Vec<WishTopic>,
    named: Patterns<usize>,
    unless: Patterns<usize>,
    cues: Patterns<Cue>,
    /// Sentences that give a task.
    tasks: Patterns<()>,
    /// Subjects, with their verbs, of sentences that tell what somebody else does.
    others: Patterns<()>,
    /// Words for answers as such.
    plain: Patterns<()>,
}

/// The packs, English first.
const PACKS: &[(&str, &str)] = &[
    ("en", include_str!("../../packs/en/wishes.toml")),
    ("de", include_str!("../../packs/de/wishes.toml")),
    ("fr", include_str!("../../packs/fr/wishes.toml")),
    ("es", include_str!("../../packs/es/wishes.toml")),
    ("pt", include_str!("../../packs/pt/wishes.toml")),
    ("zh", include_str!("../../packs/zh/wishes.toml")),
];

/// Returns the packs that may read a text: that of its language, and for a few words without a sure language every one.
fn packs_of(text: &str) -> impl Iterator<Item = &'static WishPack> {
    static READ: OnceLock<LanguagePacks<WishPack>> = OnceLock::new();
    let packs = READ.get_or_init(|| LanguagePacks::new(PACKS, WishPack::parse));
    let code = language(text);
    let first = packs.of(code).map_or("en", |_| code);
    let others = if is_unsure(text, first) { PACKS } else { &[] };
    let codes =
        iter::once(first).chain(others.iter().map(|(code, _)| *code).filter(move |code| *code != first));
    codes.filter_map(|code| packs.of(code))
}

/// Returns the standing wish that a sentence of a text states, by the pack of its language; another's, of a few words without a
/// sure language, tells no mere change of the length or form of answers.
pub(super) fn wish(text: &str, of: Range<usize>, asked: PrecedingMessage) -> Option<Feedback> {
    if packs_of(text).any(|pack| pack.tells_of_others(text, of.clone())) {
        return None;
    }
    let mut packs = packs_of(text);
    let first = packs.next()?.wish(text, of.clone(), asked);
    let tells = |wish: &Feedback| wish.is_explicit || wish.aspect == Aspect::Other;
    first.or_else(|| packs.find_map(|pack| pack.wish(text, of.clone(), asked).filter(tells)))
}

/// Returns the one thing that a sentence is about of those of which one wish holds at a time: `currency`, `clock`, `seat`.
///
/// `None` where it names several, or a case ("miles for trains"), or where an aspect tells the thing already.
#[must_use]
pub fn wish_slot(sentence: &str) -> Option<&'static str> {
    packs_of(sentence).map(|pack| pack.single_slots(sentence)).find(|slots| !slots.is_empty()).and_then(
        |slots| {
            let [slot] = slots.as_slice() else { return None };
            *slot
        },
    )
}

/// Returns the kinds of work that a sentence names, in lower case, other than answers as such: comparisons, recipes.
#[must_use]
pub fn wish_works(sentence: &str) -> Vec<String> {
    packs_of(sentence).map(|pack| pack.works(sentence)).find(|works| !works.is_empty()).unwrap_or_default()
}

/// A part of a sentence between two signs or joining words.
struct Clause {
    tokens: Range<usize>,
    slots: Vec<usize>,
    cues: Vec<Cue>,
    /// Whether it begins with what it names.
    is_fragment: bool,
}

impl WishPack {
    fn parse(language: &str, text: &str) -> Result<Self> {
        let file = PackFile::parse(text)?;
        let root = file.root();
        let mut lexicon = Lexicon::read(root)?;
        let (mut slots, mut named, mut unless) = (Vec::new(), Patterns::default(), Patterns::default());
        for (place, section) in root.sections("slot")?.into_iter().enumerate() {
            named.add(place, &section.lines("cue")?, &mut lexicon)?;
            unless.add(place, &section.lines("unless")?, &mut lexicon)?;
            let aspect = section.text("aspect")?;
            slots.push(WishTopic {
                name: section.text("name")?.unwrap_or_default().to_owned(),
                aspect: aspect.and_then(Aspect::from_name).unwrap_or(Aspect::Other),
                is_single: section.flag("single")?,
                is_unit: section.flag("is_unit")?,
                weight: section.number("weight")?.unwrap_or(SLOT),
            });
        }
        let lists = root.section("lists")?.ok_or_else(|| Error::invalid("a pack: no lists"))?;
        let mut cues = Patterns::default();
        for (cue, name, _) in Cue::ALL {
            cues.add(cue, &lists.lines(name)?, &mut lexicon)?;
        }
        let mut tasks = Patterns::default();
        tasks.add((), &lists.lines("tasks")?, &mut lexicon)?;
        let mut others = Patterns::default();
        others.add((), &lists.lines("others")?, &mut lexicon)?;
        let mut plain = Patterns::default();
        plain.add((), &lists.lines("plain")?, &mut lexicon)?;
        let rule = RuleId::new(format!("{language}{WEIGHED_WISH}"))?;
        let change = RuleId::new(format!("{language}{SLOT_CHANGE}"))?;
        Ok(Self { rule, change, lexicon, slots, named, unless, cues, tasks, others, plain })
    }

    /// Returns the standing wish that a sentence states; `asked` tells what it follows.
    fn wish(&self, text: &str, of: Range<usize>, asked: PrecedingMessage) -> Option<Feedback> {
        let tokens = self.lexicon.tokens(text, of.clone());
        let clauses = self.clauses(&tokens);
        if clauses.is_empty() {
            return None;
        }
        let is_once = clauses.iter().any(|clause| clause.cues.contains(&Cue::Once));
        if is_once {
            return None;
        }
        let asks = without_closing_marks(text.get(of.clone())?).ends_with(['?', '？']);
        let windows = (1..=TOGETHER.min(clauses.len())).flat_map(|size| clauses.windows(size));
        let (told, evidence) = windows
            .map(|window| (window, self.evidence(window) - if asks { ASKED } else { 0.0 }))
            .max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let is_of_task = || !lasts(told) && (asked != PrecedingMessage::Nothing || self.gives_task(text));
        let enough = if evidence >= ENOUGH && is_of_task() { ENOUGH_OF_AN_ANSWER } else { ENOUGH };
        let mut wish = self.feedback((text, of), &tokens, told)?;
        if evidence < enough {
            let change = if has_any(told, &[Cue::Change]) { CHANGE } else { 0.0 };
            let is_change = evidence + change >= ENOUGH_OF_A_CHANGE && self.is_of_one_slot(told);
            wish.rule = is_change.then(|| self.change.clone())?;
            wish.is_explicit = false;
        }
        Some(wish)
    }

    /// Returns the things of which one wish holds at a time, each once; `None` for one that an aspect tells, or that a case limits.
    fn single_slots(&self, sentence: &str) -> Vec<Option<&str>> {
        let tokens = self.lexicon.tokens(sentence, 0..sentence.len());
        let clauses = self.clauses(&tokens);
        let mut named: Vec<usize> = clauses.iter().flat_map(|clause| clause.slots.iter().copied()).collect();
        named.sort_unstable();
        named.dedup();
        let is_plain = !has_any(&clauses, &[Cue::Case]);
        let single = named.iter().filter_map(|place| self.slots.get(*place)).filter(|slot| slot.is_single);
        single.map(|slot| (is_plain && slot.aspect == Aspect::Other).then_some(slot.name.as_str())).collect()
    }

    fn works(&self, sentence: &str) -> Vec<String> {
        let tokens = self.lexicon.tokens(sentence, 0..sentence.len());
        let plain = self.plain.find(&tokens, &self.lexicon);
        let named = self.named.find(&tokens, &self.lexicon);
        let is_work = |hit: &&Hit<usize>| {
            self.slots.get(hit.tag).is_some_and(|slot| slot.weight < SLOT)
                && !plain.iter().any(|other| other.from == hit.from)
        };
        let word = |hit: &Hit<usize>| Some(sentence.get(tokens.get(hit.from)?.span.clone())?.to_lowercase());
        let mut works: Vec<String> = named.iter().filter(is_work).filter_map(word).collect();
        works.sort_unstable();
        works.dedup();
        works
    }

    /// Whether a sentence of a message gives a task: what the others want is wanted of that.
    fn gives_task(&self, text: &str) -> bool {
        sentences(text).into_iter().any(|sentence| {
            let tokens = self.lexicon.tokens(text, sentence.range());
            !self.tasks.find(&tokens, &self.lexicon).is_empty()
        })
    }

    /// Whether a sentence tells what somebody else does: "the waiter always answers in English". Its subject is none of the things
    /// that a wish is about: "the answers always come in English" may complain.
    fn tells_of_others(&self, text: &str, of: Range<usize>) -> bool {
        let tokens = self.lexicon.tokens(text, of);
        let others = self.others.find(&tokens, &self.lexicon);
        if others.is_empty() {
            return false;
        }
        let named = self.named(&tokens);
        let is_named = |hit: &Hit<()>| {
            let subject = hit.from..hit.value.unwrap_or(hit.to);
            named.iter().any(|slot| subject.contains(&slot.from))
        };
        others.iter().any(|hit| !is_named(hit))
    }

    /// Whether clauses name a thing of which one wish holds at a time, and no case.
    fn is_of_one_slot(&self, told: &[Clause]) -> bool {
        let mut named =
            told.iter().flat_map(|clause| &clause.slots).filter_map(|place| self.slots.get(*place));
        named.any(|slot| slot.is_single && slot.weight >= SLOT) && !has_any(told, &[Cue::Case])
    }

    /// Returns what a sentence names of the assistant's work.
    fn named(&self, tokens: &[Token]) -> Vec<Hit<usize>> {
        let except = self.unless.find(tokens, &self.lexicon);
        let mut named = self.named.find(tokens, &self.lexicon);
        named.retain(|hit| {
            !except.iter().any(|other| other.tag == hit.tag && other.from < hit.to && hit.from < other.to)
        });
        let is_amount = |hit: &Hit<usize>| {
            let before = hit.from.checked_sub(1).and_then(|at| tokens.get(at));
            self.slots.get(hit.tag).is_some_and(|slot| slot.is_unit)
                && before.is_some_and(|token| token.id == NUMBER)
        };
        named.retain(|hit| !is_amount(hit));
        named
    }

    fn clauses(&self, tokens: &[Token]) -> Vec<Clause> {
        let named = self.named(tokens);
        if named.is_empty() {
            return Vec::new();
        }
        let cues = self.cues.find(tokens, &self.lexicon);
        let is_border = |at: usize| tokens.get(at).is_none_or(|token| token.is_parted);
        let mut clauses = Vec::new();
        let mut from = 0;
        for to in (1..=tokens.len()).filter(|at| is_border(*at)) {
            clauses.push(Clause::new(from..to, &named, &cues, tokens));
            from = to;
        }
        clauses
    }

    /// Returns what clauses say for a wish together, less what speaks against it; nothing without a thing that they name.
    fn evidence(&self, clauses: &[Clause]) -> f32 {
        let mut slots: Vec<usize> = clauses.iter().flat_map(|clause| clause.slots.iter().copied()).collect();
        slots.sort_unstable();
        slots.dedup();
        let weights = slots.iter().filter_map(|place| self.slots.get(*place)).map(|slot| slot.weight);
        let Some(most) = weights.reduce(f32::max) else { return 0.0 };
        let more = if slots.len() > 1 { SECOND } else { 0.0 };
        let is_fragment = clauses.iter().any(|clause| clause.is_fragment);
        let has = |cue: Cue| {
            // An order for nothing in particular is about the task at hand.
            has_any(clauses, &[cue])
                && (cue != Cue::Order || is_standing(clauses) && !has_any(clauses, &[Cue::Told]))
        };
        let cues: f32 = Cue::ALL.iter().filter(|(cue, _, _)| has(*cue)).map(|(_, _, weight)| weight).sum();
        most + more + cues + if is_fragment { FRAGMENT } else { 0.0 }
    }

    fn feedback(
        &self,
        (text, of): (&str, Range<usize>),
        tokens: &[Token],
        told: &[Clause],
    ) -> Option<Feedback> {
        let first = tokens.get(told.first()?.tokens.start)?;
        let last = tokens.get(told.last()?.tokens.end.checked_sub(1)?)?;
        let words = text.get(first.span.start..last.span.end)?;
        // "A short list" is about the list, and "short answers" is about the length.
        let is_length = |slot: &WishTopic| slot.aspect == Aspect::Length;
        let named = || {
            let places = told.iter().flat_map(|clause| &clause.slots);
            places.filter_map(|place| Some((*place, self.slots.get(*place)?)))
        };
        let (_, most) = named().min_by_key(|(place, slot)| (is_length(slot), *place))?;
        let is_plain = most.weight < SLOT && self.works(words).is_empty();
        let length = named().map(|(_, slot)| slot).find(|slot| is_plain && is_length(slot));
        let slot = length.unwrap_or(most);
        let leaves = told.iter().any(|clause| clause.cues.contains(&Cue::Limit));
        Some(Feedback {
            rule: self.rule.clone(),
            act: FeedbackAct::Directive,
            target: if slot.aspect == Aspect::Other { slot.name.clone() } else { WHOLE_ANSWER.to_owned() },
            // A wish for a case holds beside the one for every answer.
            aspect: if has_any(told, &[Cue::Case]) { Aspect::Other } else { slot.aspect },
            value: Some(words.to_owned()),
            alternative: None,
            avoid: None,
            reason: None,
            polarity: if leaves { Polarity::DoNot } else { Polarity::Do },
            irritation: Irritation::Casual,
            is_explicit: true,
            requires_user_permission: requires_user_permission(text.get(of).unwrap_or_default()),
            span: span(first.span.start, last.span.end)?,
        })
    }
}

/// Whether any clause has one of some cues.
fn has_any(clauses: &[Clause], cues: &[Cue]) -> bool {
    clauses.iter().any(|clause| clause.cues.iter().any(|cue| cues.contains(cue)))
}

/// Whether clauses say when or for whom they hold.
fn lasts(clauses: &[Clause]) -> bool {
    has_any(clauses, &[Cue::Forever, Cue::Case, Cue::Mine])
}

/// Whether an order is one for more than this task.
fn is_standing(clauses: &[Clause]) -> bool {
    lasts(clauses) || has_any(clauses, &[Cue::Limit, Cue::Complaint])
}

impl Clause {
    fn new(of: Range<usize>, named: &[Hit<usize>], cues: &[Hit<Cue>], tokens: &[Token]) -> Self {
        let is_in = |from: usize| of.contains(&from);
        let is_at_start = |at: usize| tokens.get(at).is_some_and(|token| token.is_start);
        // "In pounds" begins with what it names as much as "pounds".
        let is_first =
            |hit: &&Hit<usize>| is_at_start(hit.from) || hit.from.checked_sub(1).is_some_and(is_at_start);
        let here = || named.iter().filter(|hit| is_in(hit.from));
        Self {
            slots: here().map(|hit| hit.tag).collect(),
            cues: cues.iter().filter(|hit| is_in(hit.from)).map(|hit| hit.tag).collect(),
            is_fragment: here().any(|hit| is_first(&hit)),
            tokens: of,
        }
    }
}
