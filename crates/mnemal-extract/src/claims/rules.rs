//! The rules of a language for claims, read from its pack.

use std::collections::HashMap;

use mnemal_core::{Act, EntityKind, Error, Predicate, Result, RuleId};

use crate::claims::kinds::KindList;
use crate::claims::measured::Measured;
use crate::claims::objects::ObjectWords;
use crate::claims::pattern::{Class, Index, Pattern};
use crate::claims::subjects::SubjectWords;
use crate::gates::pack::{Words, words};
use crate::phrase::Phrases;
use crate::predicate;
use crate::section::Section;

/// What an object must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Anything with a word of content.
    Any,
    /// A thing: a noun, which ends at a preposition.
    Thing,
    /// A noun with what belongs to it.
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
    /// What something is set to, which may look like a time: "5", "23:00", "15 s".
    Value,
}

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

/// Of whom a rule may speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// Anybody whose subject is understood.
    Anybody,
    /// The speaker only.
    Me,
    /// A person or animal of the speaker, or somebody with a name.
    Others,
}

/// One rule.
#[expect(clippy::struct_excessive_bools, reason = "a row of a table")]
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: RuleId,
    pub(crate) predicate: Predicate,
    pub(crate) act: Act,
    pub(crate) kind: Kind,
    pub(crate) whom: Whom,
    pub(crate) prior: f32,
    /// Behind a subject, its adverbs and its auxiliary verbs.
    pub(crate) cues: Vec<Pattern>,
    /// Wherever they stand, or at the start of a clause.
    pub(crate) shapes: Vec<Pattern>,
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
    /// The object is the name that stands before a comma and the pattern: "Zainab, my co-founder".
    pub(crate) is_before: bool,
    /// Nothing but a sign or a word that joins may stand behind the object.
    pub(crate) is_last: bool,
    /// It is told of the speaker, whoever did it: "My wife gave me a watch".
    pub(crate) is_of_speaker: bool,
    /// The object goes on behind "and": "English and geography".
    pub(crate) is_joined: bool,
    /// The object may begin with "not", which denies nothing then: "decided not to move".
    pub(crate) keeps_not: bool,
    /// A number at the start of the object is left out.
    pub(crate) is_counted: bool,
    /// A frequency must stand in the clause, which belongs to the object.
    pub(crate) is_frequent: bool,
    /// A time to come must stand in the clause: "I sit the exam on the 9th".
    pub(crate) is_dated: bool,
    /// The pattern is the head of a noun that stands with a time to come: "Anatomy exam on the 9th".
    pub(crate) is_noun: bool,
    /// A list of objects makes a claim each.
    pub(crate) is_list: bool,
    /// The object needs an article, a number, an owner or a name before it.
    pub(crate) is_light: bool,
    /// A cue may begin a sentence without a subject: "Moved to Lyon".
    pub(crate) is_bare: bool,
    /// A denial is a claim of its own: "I don't eat meat".
    pub(crate) negative: bool,
    /// The end of it may be claimed.
    pub(crate) ends: bool,
    /// The wording says it outright: "my name is".
    pub(crate) is_explicit: bool,
    /// A gate counts although its cue stands inside the pattern, in a gap: "ich bin nicht in Bonn geboren".
    pub(crate) is_strict: bool,
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
    /// Words that must not stand between the subject and the cue.
    pub(crate) not_after: Words,
    /// Kinds that a name must have which somebody else found; empty for any.
    pub(crate) kinds: Vec<EntityKind>,
    /// The kind of the name must be known.
    pub(crate) is_sure: bool,
    /// Pronouns are what the object is about.
    pub(crate) takes_pronouns: bool,
    /// Words one of which must stand between the subject and the cue.
    pub(crate) after: Words,
    /// Words that must not stand in the object.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopicOf {
    /// The role that the pattern names.
    Role,
    /// The head of the object, in the singular where the list of roles knows it.
    Head,
}

/// The rules of one language.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) code: &'static str,
    pub(crate) subjects: SubjectWords,
    pub(crate) objects: ObjectWords,
    pub(crate) hedges: Phrases<()>,
    /// How often something is done.
    pub(crate) frequency: Phrases<()>,
    pub(crate) all: Vec<Rule>,
    pub(crate) behind_subject: Index,
    pub(crate) anywhere: Index,
    /// What was measured of the rules.
    pub(crate) measured: Measured,
    classes: HashMap<Box<str>, Class>,
    lists: HashMap<Box<str>, Words>,
}

impl Rules {
    /// Reads the file `claims.toml` of a language.
    ///
    /// # Errors
    /// `Invalid` with the first mistake.
    pub(crate) fn read(code: &'static str, root: Section<'_>) -> Result<Self> {
        let mut read = Self {
            code,
            subjects: SubjectWords::read(root.section("subject")?)?,
            objects: ObjectWords::read(root.section("object")?)?,
            hedges: crate::gates::pack::phrases(root.section("hedge")?, "phrases")?,
            frequency: crate::gates::pack::phrases(root.section("frequency")?, "phrases")?,
            all: Vec::new(),
            behind_subject: Index::default(),
            anywhere: Index::default(),
            measured: Measured::read(root.section("measured")?)?,
            classes: classes(root.section("class")?)?,
            lists: lists(root.section("list")?)?,
        };
        for section in root.sections("rule")? {
            let rule = rule(section)?;
            read.add(rule)?;
        }
        Ok(read)
    }

    fn add(&mut self, rule: Rule) -> Result<()> {
        if self.all.iter().any(|known| known.id == rule.id) {
            return Err(Error::invalid(format!("a pack: two rules are called `{}`", rule.id.as_str())));
        }
        for name in rule.head.iter().chain(&rule.not_head).chain(&rule.first) {
            if !self.lists.contains_key(name) && !self.classes.contains_key(name) {
                return Err(Error::invalid(format!("a pack: `{}` needs a list `{name}`", rule.id.as_str())));
            }
        }
        let number = self.all.len();
        for (place, pattern) in rule.cues.iter().enumerate() {
            self.behind_subject.add(pattern, (number, place), &self.subjects);
        }
        for (place, pattern) in rule.shapes.iter().enumerate() {
            self.anywhere.add(pattern, (number, place), &self.subjects);
        }
        self.all.push(rule);
        Ok(())
    }

    /// Returns a class of words.
    pub(crate) fn class(&self, name: &str) -> Option<&Class> {
        self.classes.get(name)
    }

    /// Says whether a list holds a word, the word without its plural ending, or its ending (`-ending`).
    pub(crate) fn lists(&self, name: &str, word: &str) -> bool {
        if self.class(name).is_some_and(|class| class.has(word)) {
            return true;
        }
        self.lists.get(name).is_some_and(|list| {
            list.contains(word)
                || list.iter().any(|of| {
                    of.strip_prefix('-')
                        .is_some_and(|ending| word.len() > ending.len() + 2 && word.ends_with(ending))
                })
                || word.strip_suffix("es").is_some_and(|word| list.contains(word))
                || word.strip_suffix('s').is_some_and(|word| list.contains(word))
        })
    }
}

fn rule(section: Section<'_>) -> Result<Rule> {
    let id = section.text("id")?.ok_or_else(|| Error::invalid("a pack: a rule has no `id`"))?;
    let wrong = |what: &str| Error::invalid(format!("a pack: rule `{id}` {what}"));
    let name = section.text("predicate")?.ok_or_else(|| wrong("has no `predicate`"))?;
    let known = predicate::of(name).ok_or_else(|| wrong("has an unknown predicate"))?;
    let kind = section.text("object")?.unwrap_or("any");
    let kind =
        KINDS.iter().find(|(known, _)| *known == kind).ok_or_else(|| wrong("has an unknown `object`"))?.1;
    let whom = match section.text("whom")? {
        None => Whom::Anybody,
        Some("me") => Whom::Me,
        Some("others") => Whom::Others,
        Some(_) => return Err(wrong("has an unknown `whom`")),
    };
    let act = Act::from_name(section.text("act")?.unwrap_or("assert"))
        .ok_or_else(|| wrong("has an unknown `act`"))?;
    let topic_of = match section.text("topic_of")? {
        None => None,
        Some("role") => Some(TopicOf::Role),
        Some("head") => Some(TopicOf::Head),
        Some(_) => return Err(wrong("has an unknown `topic_of`")),
    };
    let patterns =
        |key| -> Result<Vec<Pattern>> { section.lines(key)?.into_iter().map(Pattern::parse).collect() };
    let texts =
        |key| -> Result<Vec<Box<str>>> { Ok(section.lines(key)?.into_iter().map(Into::into).collect()) };
    Ok(Rule {
        id: RuleId::new(id)?,
        predicate: Predicate::new(name)?,
        act,
        kind,
        whom,
        prior: section.number("prior")?.unwrap_or(0.6),
        cues: patterns("cue")?,
        shapes: patterns("shape")?,
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
        is_noun: section.flag("noun")?,
        is_of_speaker: section.flag("to_me")?,
        is_list: section.flag("list")?,
        is_light: section.flag("light")?,
        is_bare: section.flag("bare")?,
        negative: section.flag("negative")?,
        ends: known.ends,
        is_explicit: section.flag("explicit")?,
        is_strict: section.flag("strict")?,
        least: section.count("least")?.unwrap_or(1),
        most: section.count("most")?,
        topic: section.text("topic")?.map(Into::into),
        topic_of,
        head: texts("head")?,
        not_head: texts("not_head")?,
        first: texts("first")?,
        not_after: words(Some(section), "not_after")?,
        after: words(Some(section), "after")?,
        kinds: kinds(section, id)?,
        is_sure: section.flag("sure")?,
        takes_pronouns: section.flag("takes_pronouns")?,
        reject: words(Some(section), "reject")?,
        reject_first: words(Some(section), "reject_first")?,
        stop: words(Some(section), "stop")?,
        examples: texts("examples")?,
        counter: texts("counter")?,
    })
}

fn kinds(section: Section<'_>, id: &str) -> Result<Vec<EntityKind>> {
    let kind = |name: &str| {
        EntityKind::from_name(name)
            .ok_or_else(|| Error::invalid(format!("a pack: rule `{id}` knows no kind `{name}`")))
    };
    section.lines("kinds")?.into_iter().map(kind).collect()
}

fn classes(section: Option<Section<'_>>) -> Result<HashMap<Box<str>, Class>> {
    let mut classes = HashMap::new();
    for name in section.iter().flat_map(|section| section.keys()) {
        let class = section.map(|section| section.section(name)).transpose()?.flatten();
        let endings = class.map(|class| class.lines("endings")).transpose()?.unwrap_or_default();
        let endings = endings.into_iter().map(Into::into).collect();
        let mut all = words(class, "words")?;
        if class.map(|class| class.flag("with_s")).transpose()?.unwrap_or_default() {
            let forms: Vec<Box<str>> = all.iter().map(|word| third_person(word).into()).collect();
            all.extend(forms);
        }
        let except_endings =
            class.map(|class| class.lines("except_endings")).transpose()?.unwrap_or_default();
        let except_endings = except_endings.into_iter().map(Into::into).collect();
        let kinds = class.map(|class| class.lines("kinds")).transpose()?.unwrap_or_default();
        let kinds = kinds.into_iter().map(|kind| {
            KindList::of(kind).ok_or_else(|| Error::invalid(format!("a pack: no kind is called `{kind}`")))
        });
        let kinds = kinds.collect::<Result<Vec<_>>>()?;
        let except = words(class, "except")?;
        classes.insert(name.into(), Class { words: all, endings, except, except_endings, kinds });
    }
    Ok(classes)
}

/// "Go" becomes "goes", "study" becomes "studies".
fn third_person(verb: &str) -> String {
    let stem = verb.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match stem {
        Some(stem) => format!("{stem}ies"),
        None if verb.ends_with(['s', 'x', 'o']) || verb.ends_with("sh") || verb.ends_with("ch") => {
            format!("{verb}es")
        }
        None => format!("{verb}s"),
    }
}

fn lists(section: Option<Section<'_>>) -> Result<HashMap<Box<str>, Words>> {
    let mut lists = HashMap::new();
    for name in section.iter().flat_map(|section| section.keys()) {
        lists.insert(name.into(), words(section, name)?);
    }
    Ok(lists)
}
