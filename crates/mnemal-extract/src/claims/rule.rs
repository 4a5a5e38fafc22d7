//! One rule for claims, read from its table of a pack.

use mnemal_core::{Act, EntityKind, Error, Predicate, Result, RuleId};

use crate::claims::pattern::Pattern;
use crate::gates::pack::{Words, words};
use crate::predicate;
use crate::section::Section;

/// How often a rule without `prior` is right, from 0 to 1. Source: own choice; such a rule waits for a second word.
const PRIOR: f32 = 0.6;
/// Words of content that an object needs without `least`. Source: own choice; an object must say something.
const LEAST: usize = 1;

/// The required kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Anything with a word of content.
    Any,
    /// A thing: a noun, which ends at a preposition.
    Thing,
    /// A noun phrase.
    Phrase,
    /// A name of one to four words with capitals.
    Name,
    /// A place: a name, or a place of the list.
    Place,
    /// A verb with its object.
    Activity,
    /// A number.
    Number,
    /// A time expression.
    Date,
    /// An address, a telephone number or a handle.
    Contact,
    /// The value of a setting, which may look like a time: "5", "23:00", "15 s".
    Value,
}

/// Each kind by the word of a pack.
const KINDS: [(&str, Kind); 10] = [
    ("any", Kind::Any),
    ("thing", Kind::Thing),
    ("phrase", Kind::Phrase),
    ("name", Kind::Name),
    ("place", Kind::Place),
    ("activity", Kind::Activity),
    ("number", Kind::Number),
    ("date", Kind::Date),
    ("contact", Kind::Contact),
    ("value", Kind::Value),
];

/// The subjects that a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubjectScope {
    /// Anybody whose subject is understood.
    Anybody,
    /// The speaker only.
    Me,
    /// A person or animal of the speaker, or a named person.
    Others,
}

/// The keys of a rule; the README of the packs explains each.
const KEYS: [&str; 49] = [
    "id",
    "predicate",
    "shape",
    "cue",
    "asks",
    "object",
    "prior",
    "examples",
    "counter",
    "act",
    "whom",
    "to_me",
    "swap",
    "before",
    "beside",
    "presupposed",
    "bare",
    "strict",
    "explicit",
    "list",
    "each",
    "joined",
    "light",
    "last",
    "least",
    "most",
    "kinds",
    "takes_pronouns",
    "keeps_not",
    "counted",
    "with_verb",
    "with_tail",
    "frequent",
    "dated",
    "event",
    "topic",
    "topic_of",
    "head",
    "not_head",
    "first",
    "after",
    "not_after",
    "reject",
    "reject_first",
    "stop",
    "plain",
    "owner",
    "genitive",
    "weight",
];

/// One rule; omitted flags are off, and omitted lists empty.
#[expect(clippy::struct_excessive_bools, reason = "a row of a table")]
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: RuleId,
    pub(crate) predicate: Predicate,
    pub(crate) act: Act,
    pub(crate) kind: Kind,
    pub(crate) whom: SubjectScope,
    /// Its prior: how often it is right, from 0 to 1.
    pub(crate) prior: f32,
    /// How much naming its words weighs for a fact; `None` for a rule that states one by itself.
    pub(crate) weight: Option<f32>,
    /// Behind a subject, its adverbs and its auxiliary verbs.
    pub(crate) cues: Vec<Pattern>,
    /// Anywhere, or at the start of a clause.
    pub(crate) shapes: Vec<Pattern>,
    /// Questions in the previous message that the rule requires; empty if none is required.
    pub(crate) asks: Vec<Pattern>,
    /// The object begins with the first word of the pattern.
    pub(crate) with_verb: bool,
    /// The object ends with the last word of the pattern.
    pub(crate) with_tail: bool,
    /// The subject, which has a name, is the object, and the speaker the subject: "Emil is my son".
    pub(crate) is_swapped: bool,
    /// Each word of a class, or each `@product`, is an object: "Wolof, some French and a little Spanish".
    pub(crate) each: Option<Box<str>>,
    /// It is claimed beside other rules of the same words.
    pub(crate) is_beside: bool,
    /// It is presupposed: a duty, an order, a wish or a denial does not touch it.
    pub(crate) is_presupposed: bool,
    /// Whether the object is the name before a comma and the pattern: "Zainab, my co-founder".
    pub(crate) is_before: bool,
    /// Whether only a sign or a joining word may follow the object.
    pub(crate) is_last: bool,
    /// Whether the claim is about the speaker, whoever the subject is: "My wife gave me a watch".
    pub(crate) is_of_speaker: bool,
    /// Whether the object continues after "and": "English and geography".
    pub(crate) is_joined: bool,
    /// The object may begin with "not", which denies nothing then: "decided not to move".
    pub(crate) keeps_not: bool,
    /// A number at the start of the object is left out.
    pub(crate) is_counted: bool,
    /// Whether the clause must contain a frequency, which belongs to the object.
    pub(crate) is_frequent: bool,
    /// Whether the clause must contain a future time: "I sit the exam on the 9th".
    pub(crate) is_dated: bool,
    /// Whether the pattern is the head of an event with a future time: "Anatomy exam on the 9th".
    pub(crate) is_event: bool,
    /// A list of objects makes a claim each.
    pub(crate) is_list: bool,
    /// The object needs an article, a number, an owner or a name before it.
    pub(crate) is_light: bool,
    /// A cue may begin a sentence without a subject: "Moved to Lyon".
    pub(crate) is_bare: bool,
    /// The end of it may be claimed.
    pub(crate) ends: bool,
    /// Whether the wording is explicit: "my name is".
    pub(crate) is_explicit: bool,
    /// Whether a gate counts although its cue is inside the pattern, in a gap: "ich bin nicht in Bonn geboren".
    pub(crate) is_strict: bool,
    /// Whether it is as reliable in plain words as its prior, whatever the calibration.
    pub(crate) is_plain: bool,
    /// Whether the role or the topic in the pattern names the claim's subject: "l'anniversaire de ma mère est le 3 mai".
    pub(crate) is_of_owner: bool,
    /// The name of the owner has the ending of one: "Marias Bruder".
    pub(crate) is_genitive: bool,
    /// Content words that the object needs.
    pub(crate) least: usize,
    /// Words that the object may have.
    pub(crate) most: Option<usize>,
    /// A fixed topic.
    pub(crate) topic: Option<Box<str>>,
    /// The topic is the role or the head of the object.
    pub(crate) topic_of: Option<TopicOf>,
    /// Lists, one of which must hold the head of the object.
    pub(crate) head: Vec<Box<str>>,
    /// Lists, none of which may hold the head of the object.
    pub(crate) not_head: Vec<Box<str>>,
    /// Lists, one of which must hold the first word of the object.
    pub(crate) first: Vec<Box<str>>,
    /// Words that must not be between the subject and the cue.
    pub(crate) not_after: Words,
    /// Kinds that a name must have which someone else found; empty for any.
    pub(crate) kinds: Vec<EntityKind>,
    /// Whether pronouns may be the object.
    pub(crate) takes_pronouns: bool,
    /// Words, one of which must be between the subject and the cue.
    pub(crate) after: Words,
    /// Words that the object must not contain.
    pub(crate) reject: Words,
    /// Words with which the object must not begin.
    pub(crate) reject_first: Words,
    /// Words at which the object ends.
    pub(crate) stop: Words,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test runs them"))]
    pub(crate) examples: Vec<Box<str>>,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test runs them"))]
    pub(crate) counter: Vec<Box<str>>,
}

/// Where a topic is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TopicOf {
    /// The role that the pattern names.
    Role,
    /// The head of the object, in the singular where the list of roles knows it.
    Head,
    /// The last word of this class in the pattern, with the nouns before it.
    Class(Box<str>),
}

impl Rule {
    /// Returns whether it reads an identity in passing, from a clause with another statement: "My sister Ida moved".
    pub(crate) fn names_in_passing(&self) -> bool {
        self.is_presupposed && self.cues.is_empty() && self.kind == Kind::Name
    }

    /// Returns whether it reads a relation between people, to which no time in the clause applies: "My cousin gets married in
    /// May".
    pub(crate) fn is_kinship(&self) -> bool {
        self.predicate.as_str() == "relative"
    }

    /// Reads a table `rule`.
    ///
    /// # Errors
    /// `Invalid` with the first mistake: a key, a predicate or a name that is not known, or no `id`.
    pub(crate) fn read(section: Section<'_>) -> Result<Self> {
        let id = section.text("id")?.ok_or_else(|| Error::invalid("a pack: a rule has no `id`"))?;
        let wrong = |what: &str| Error::invalid(format!("a pack: rule `{id}` {what}"));
        if let Some(key) = section.keys().find(|key| !KEYS.contains(key)) {
            return Err(wrong(&format!("has an unknown key `{key}`")));
        }
        let name = section.text("predicate")?.ok_or_else(|| wrong("has no `predicate`"))?;
        let known = predicate::of(name).ok_or_else(|| wrong("has an unknown predicate"))?;
        let kind = section.text("object")?.unwrap_or("any");
        let kind =
            KINDS.iter().find(|(known, _)| *known == kind).ok_or_else(|| wrong("has an unknown `object`"))?.1;
        let whom = match section.text("whom")? {
            None => SubjectScope::Anybody,
            Some("me") => SubjectScope::Me,
            Some("others") => SubjectScope::Others,
            Some(_) => return Err(wrong("has an unknown `whom`")),
        };
        let act = Act::from_name(section.text("act")?.unwrap_or("assert"))
            .ok_or_else(|| wrong("has an unknown `act`"))?;
        let topic_of = match section.text("topic_of")? {
            None => None,
            Some("role") => Some(TopicOf::Role),
            Some("head") => Some(TopicOf::Head),
            Some(class) => Some(TopicOf::Class(class.into())),
        };
        let patterns =
            |key| -> Result<Vec<Pattern>> { section.lines(key)?.into_iter().map(Pattern::parse).collect() };
        let texts =
            |key| -> Result<Vec<Box<str>>> { Ok(section.lines(key)?.into_iter().map(Into::into).collect()) };
        Ok(Self {
            id: RuleId::new(id)?,
            predicate: Predicate::new(name)?,
            act,
            kind,
            whom,
            prior: section.number("prior")?.unwrap_or(PRIOR),
            weight: section.number("weight")?,
            cues: patterns("cue")?,
            shapes: patterns("shape")?,
            asks: patterns("asks")?,
            with_verb: section.flag("with_verb")?,
            with_tail: section.flag("with_tail")?,
            is_swapped: section.flag("swap")?,
            each: section.text("each")?.map(Into::into),
            is_beside: section.flag("beside")?,
            is_presupposed: section.flag("presupposed")?,
            is_before: section.flag("before")?,
            is_last: section.flag("last")?,
            is_joined: section.flag("joined")?,
            keeps_not: section.flag("keeps_not")?,
            is_counted: section.flag("counted")?,
            is_frequent: section.flag("frequent")?,
            is_dated: section.flag("dated")?,
            is_event: section.flag("event")?,
            is_of_speaker: section.flag("to_me")?,
            is_list: section.flag("list")?,
            is_light: section.flag("light")?,
            is_bare: section.flag("bare")?,
            ends: known.ends,
            is_explicit: section.flag("explicit")?,
            is_strict: section.flag("strict")?,
            is_plain: section.flag("plain")?,
            is_of_owner: section.flag("owner")?,
            is_genitive: section.flag("genitive")?,
            least: section.count("least")?.unwrap_or(LEAST),
            most: section.count("most")?,
            topic: section.text("topic")?.map(Into::into),
            topic_of,
            head: texts("head")?,
            not_head: texts("not_head")?,
            first: texts("first")?,
            not_after: words(Some(section), "not_after")?,
            after: words(Some(section), "after")?,
            kinds: kinds(section, id)?,
            takes_pronouns: section.flag("takes_pronouns")?,
            reject: words(Some(section), "reject")?,
            reject_first: words(Some(section), "reject_first")?,
            stop: words(Some(section), "stop")?,
            examples: texts("examples")?,
            counter: texts("counter")?,
        })
    }
}

fn kinds(section: Section<'_>, id: &str) -> Result<Vec<EntityKind>> {
    let kind = |name: &str| {
        EntityKind::from_name(name)
            .ok_or_else(|| Error::invalid(format!("a pack: rule `{id}` knows no kind `{name}`")))
    };
    section.lines("kinds")?.into_iter().map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_of_the_packs_names_every_key_of_a_rule() {
        let readme = include_str!("../../packs/README.md");
        let (_, claims) = readme.split_once("\n## Claims:").unwrap();
        let (claims, _) = claims.split_once("\n## ").unwrap();
        let is_named =
            |key: &str| claims.contains(&format!("`{key}`")) || claims.contains(&format!("\n{key} = "));
        let missing: Vec<_> = KEYS.into_iter().filter(|key| !is_named(key)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
