//! A pack of feedback rules, read from its file.

use mnemal_core::{Error, Result, RuleId};

use super::kinds::{Aspect, FeedbackAct, Polarity};
use super::lexicon::Lexicon;
use super::pattern::{Hit, Patterns};
use super::score::Score;
use super::token::Token;
use crate::section::{PackFile, Section};

/// The rules and tables of one language.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) lexicon: Lexicon,
    pub(crate) rules: Vec<Rule>,
    cues: Patterns<usize>,
    unless: Patterns<usize>,
    unless_within: Patterns<usize>,
    /// Phrases that only look like feedback; no rule may start inside one.
    idioms: Patterns<()>,
    /// Gates of a sentence and of what precedes a match.
    pub(crate) gates: Patterns<Gate>,
    pub(crate) targets: Patterns<usize>,
    pub(crate) target_names: Vec<String>,
    pub(crate) aspects: Patterns<Aspect>,
    pub(crate) levels: Patterns<u8>,
    pub(crate) instead: Patterns<()>,
    /// Verbs before an alternative, which carry no content.
    pub(crate) taking: Patterns<()>,
    /// Suggestions.
    pub(crate) hedged: Patterns<()>,
    /// Forbidden acts.
    pub(crate) avoided: Patterns<()>,
    /// Rejected things; a verb before one states its use.
    pub(crate) displaced: Patterns<()>,
    pub(crate) verbs: Patterns<()>,
    /// Why.
    pub(crate) reasons: Patterns<()>,
    pub(crate) negations: Patterns<()>,
    pub(crate) tags: Patterns<()>,
    pub(crate) closes_value: Patterns<()>,
    /// Invitations of an assistant for a text or a story, so that the answer is no wish of the user.
    pub(crate) invites: Patterns<()>,
    /// Words that show that it is about the work of an assistant.
    evidence: Patterns<()>,
    /// The evidence for and against each kind of feedback.
    pub(crate) score: Score,
}

/// The reason why a sentence, or its rest, is no feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Reported words: nothing after it counts.
    Reported,
    /// Rules of another occasion, "in the exam you must": nothing in the sentence is wished.
    Elsewhere,
    /// A hypothesis: no correction or praise after it counts.
    Hypothetical,
    /// A text is dictated after it: nothing there counts.
    Dictated,
    /// It asks.
    Question,
}

/// One rule.
#[expect(clippy::struct_excessive_bools, reason = "the flags of a rule in the file")]
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: RuleId,
    pub(crate) act: FeedbackAct,
    /// Place in the file: the first rule of an act wins.
    pub(crate) place: usize,
    pub(crate) is_explicit: bool,
    /// Whether its match names an aspect of the work by itself ("prices in pounds"), so that it needs no other evidence and no
    /// weight.
    pub(crate) names_work: bool,
    /// It may be any question.
    pub(crate) may_ask: bool,
    /// It may be a request with a question mark.
    pub(crate) is_polite: bool,
    /// Whether it matches without a preceding message of the assistant.
    pub(crate) stands_alone: bool,
    /// It is no correction when it answers a question of the assistant.
    pub(crate) is_no_answer: bool,
    pub(crate) aspect: Option<Aspect>,
    pub(crate) polarity: Option<Polarity>,
    /// Points that the rule itself adds to the level.
    pub(crate) points: u8,
    /// Whether it reads a plain statement as a contradiction: only when the message starts with it and does nothing else.
    pub(crate) is_weak: bool,
    /// Whether it has no cues: it represents the combined evidence of the cue families.
    pub(crate) is_weighed: bool,
    /// A rule without cues applies to a sentence with one of these signals; to any if there are none.
    pub(crate) shows: Vec<String>,
    /// How much must speak for a rule without cues.
    pub(crate) least: f32,
    /// Whether it is casual, whatever the act.
    pub(crate) is_casual: bool,
}

impl Pack {
    /// Reads a pack.
    ///
    /// # Errors
    /// `Invalid` with the first mistake.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let file = PackFile::parse(text)?;
        let root = file.root();
        let mut lexicon = Lexicon::read(root)?;
        let (mut rules, mut cues) = (Vec::new(), Patterns::default());
        let (mut unless, mut unless_within) = (Patterns::default(), Patterns::default());
        for (place, section) in root.sections("rule")?.into_iter().enumerate() {
            cues.add(place, &section.lines("cue")?, &mut lexicon)?;
            unless.add(place, &section.lines("unless")?, &mut lexicon)?;
            unless_within.add(place, &section.lines("unless_within")?, &mut lexicon)?;
            rules.push(Rule::read(section, place)?);
        }
        let (mut targets, mut target_names) = (Patterns::default(), Vec::new());
        for (place, section) in root.sections("target")?.into_iter().enumerate() {
            target_names.push(section.text("name")?.unwrap_or_default().to_owned());
            targets.add(place, &section.lines("cue")?, &mut lexicon)?;
        }
        let mut aspects = Patterns::default();
        for section in root.sections("aspect")? {
            let name = section.text("name")?.unwrap_or_default();
            let aspect = Aspect::from_name(name).ok_or_else(|| unknown("aspect", name))?;
            aspects.add(aspect, &section.lines("cue")?, &mut lexicon)?;
        }
        let mut levels = Patterns::default();
        for section in root.sections("level")? {
            levels.add(points(section)?, &section.lines("cue")?, &mut lexicon)?;
        }
        let lists = root.section("lists")?.ok_or_else(|| Error::invalid("a pack: no lists"))?;
        let mut list = |name: &str| list(lists, name, &mut lexicon);
        let (instead, tags) = (list("instead")?, list("tags")?);
        let (taking, hedged) = (list("taking")?, list("hedged")?);
        let (avoided, displaced) = (list("avoided")?, list("displaced")?);
        let (verbs, reasons) = (list("verbs")?, list("reasons")?);
        let (idioms, negations, closes_value) = (list("idioms")?, list("negations")?, list("closes_value")?);
        let (evidence, invites) = (list("evidence")?, list("invites")?);
        let score = Score::read(root, &mut lexicon)?;
        let mut gates = Patterns::default();
        for (gate, name) in [
            (Gate::Reported, "reported"),
            (Gate::Elsewhere, "elsewhere"),
            (Gate::Hypothetical, "hypothetical"),
            (Gate::Dictated, "dictated"),
            (Gate::Question, "question"),
        ] {
            gates.add(gate, &lists.lines(name)?, &mut lexicon)?;
        }
        Ok(Self {
            lexicon,
            rules,
            cues,
            unless,
            unless_within,
            idioms,
            gates,
            targets,
            target_names,
            aspects,
            levels,
            instead,
            taking,
            hedged,
            avoided,
            displaced,
            verbs,
            reasons,
            negations,
            tags,
            closes_value,
            invites,
            evidence,
            score,
        })
    }

    /// Returns whether a sentence names the output or actions of assistants.
    pub(crate) fn names_work(&self, tokens: &[Token]) -> bool {
        !self.evidence.find(tokens, &self.lexicon).is_empty()
    }

    /// Returns the matches of all rules in a sentence that no exception of their rule and no idiom takes away.
    pub(crate) fn hits(&self, tokens: &[Token]) -> Vec<Hit<usize>> {
        let mut hits = self.cues.find(tokens, &self.lexicon);
        if hits.is_empty() {
            return hits;
        }
        let idioms = self.idioms.find(tokens, &self.lexicon);
        hits.retain(|hit| {
            !idioms.iter().any(|idiom| {
                (idiom.from..idiom.to).contains(&hit.from) || (hit.from..hit.to).contains(&idiom.from)
            })
        });
        let unless = self.unless.find(tokens, &self.lexicon);
        hits.retain(|hit| !unless.iter().any(|except| except.tag == hit.tag));
        let within = self.unless_within.find(tokens, &self.lexicon);
        hits.retain(|hit| {
            let is_in = |except: &Hit<usize>| except.from < hit.to && hit.from < except.to;
            !within.iter().any(|except| except.tag == hit.tag && is_in(except))
        });
        hits
    }
}

fn list(lists: Section<'_>, name: &str, lexicon: &mut Lexicon) -> Result<Patterns<()>> {
    let mut patterns = Patterns::default();
    patterns.add((), &lists.lines(name)?, lexicon)?;
    Ok(patterns)
}

impl Rule {
    fn read(section: Section<'_>, place: usize) -> Result<Self> {
        let id = section.text("id")?.unwrap_or_default();
        let act = section.text("act")?.unwrap_or_default();
        let aspect = section.text("aspect")?;
        let polarity = match section.text("polarity")? {
            None => None,
            Some("do") => Some(Polarity::Do),
            Some("do_not") => Some(Polarity::DoNot),
            Some(other) => return Err(unknown("polarity", other)),
        };
        Ok(Self {
            id: RuleId::new(id)?,
            act: FeedbackAct::from_name(act).ok_or_else(|| unknown("act", act))?,
            place,
            is_explicit: section.flag("explicit")?,
            names_work: section.flag("names_work")?,
            may_ask: section.flag("may_ask")?,
            is_polite: section.flag("polite")?,
            stands_alone: section.flag("stands_alone")?,
            is_no_answer: section.flag("no_answer")?,
            aspect: aspect
                .map(|name| Aspect::from_name(name).ok_or_else(|| unknown("aspect", name)))
                .transpose()?,
            polarity,
            points: points(section)?,
            is_weak: section.flag("weak")?,
            is_weighed: section.flag("weighed")?,
            shows: section.lines("shows")?.into_iter().map(str::to_owned).collect(),
            least: section.number("least")?.unwrap_or_default(),
            is_casual: section.flag("casual")?,
        })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "points are small whole numbers")]
fn points(section: Section<'_>) -> Result<u8> {
    Ok(section.number("points")?.unwrap_or_default().clamp(0.0, 9.0) as u8)
}

fn unknown(kind: &str, name: &str) -> Error {
    Error::invalid(format!("a pack: `{name}` is no {kind}"))
}
