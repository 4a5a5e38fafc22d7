//! The rules of a language for claims, read from its pack.

use std::collections::HashMap;

use mnemal_core::{Error, Result};

use crate::claims::calibration::Calibration;
use crate::claims::kinds::KindList;
use crate::claims::objects::ObjectWords;
use crate::claims::pattern::{Class, Index, Pattern};
use crate::claims::rule::{Rule, TopicOf};
use crate::claims::subjects::SubjectWords;
use crate::claims::weighing::Evidence;
use crate::gates::pack::{Words, phrases, words};
use crate::hash::WordHashBuilder;
use crate::phrase::Phrases;
use crate::section::Section;

/// The place of each class by its name.
type ClassIndex = HashMap<Box<str>, usize, WordHashBuilder>;

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
    /// Patterns of the rules whose words are weighed.
    pub(crate) weighed_behind_subject: Index,
    pub(crate) weighed_anywhere: Index,
    /// What speaks for and against a fact.
    pub(crate) evidence: Evidence,
    /// Markers of a retracted value: "not 3 August".
    pub(crate) denials: Vec<Pattern>,
    /// Classes by which two words are of one kind.
    pub(crate) alike: Vec<Box<str>>,
    /// The calibration of the rules.
    pub(crate) measured: Calibration,
    classes: Vec<Class>,
    places: ClassIndex,
    lists: HashMap<Box<str>, Words, WordHashBuilder>,
}

impl Rules {
    /// Reads the file `claims.toml` of a language.
    ///
    /// # Errors
    /// `Invalid` with the first mistake.
    pub(crate) fn read(code: &'static str, root: Section<'_>) -> Result<Self> {
        let correction = root.section("correction")?;
        let denials = correction.map(|of| of.lines("denies")).transpose()?.unwrap_or_default();
        let alike = correction.map(|of| of.lines("alike")).transpose()?.unwrap_or_default();
        let (places, classes) = classes(root.section("class")?)?;
        let mut read = Self {
            code,
            subjects: SubjectWords::read(root.section("subject")?)?,
            objects: ObjectWords::read(root.section("object")?)?,
            hedges: phrases(root.section("hedge")?, "phrases")?,
            frequency: phrases(root.section("frequency")?, "phrases")?,
            all: Vec::new(),
            behind_subject: Index::default(),
            anywhere: Index::default(),
            weighed_behind_subject: Index::default(),
            weighed_anywhere: Index::default(),
            evidence: Evidence::read(root.section("evidence")?)?,
            denials: denials.into_iter().map(Pattern::parse).collect::<Result<_>>()?,
            alike: alike.into_iter().map(Into::into).collect(),
            measured: Calibration::read(root.section("measured")?)?,
            classes,
            places,
            lists: lists(root.section("list")?)?,
        };
        for pattern in &mut read.denials {
            pattern.know_classes(|name| read.places.get(name).copied());
        }
        for section in root.sections("rule")? {
            read.add(Rule::read(section)?)?;
        }
        Ok(read)
    }

    fn add(&mut self, mut rule: Rule) -> Result<()> {
        if self.all.iter().any(|known| known.id == rule.id) {
            return Err(Error::invalid(format!("a pack: two rules are called `{}`", rule.id.as_str())));
        }
        for name in rule.head.iter().chain(&rule.not_head).chain(&rule.first) {
            if !self.lists.contains_key(name) && !self.places.contains_key(name) {
                return Err(Error::invalid(format!("a pack: `{}` needs a list `{name}`", rule.id.as_str())));
            }
        }
        if let Some(TopicOf::Class(class)) = &rule.topic_of
            && self.class(class).is_none()
        {
            return Err(Error::invalid(format!("a pack: `{}` needs a class `{class}`", rule.id.as_str())));
        }
        for pattern in rule.cues.iter_mut().chain(&mut rule.shapes).chain(&mut rule.asks) {
            pattern.know_classes(|name| self.places.get(name).copied());
        }
        let number = self.all.len();
        let (behind_subject, anywhere) = match rule.weight {
            Some(_) => (&mut self.weighed_behind_subject, &mut self.weighed_anywhere),
            None => (&mut self.behind_subject, &mut self.anywhere),
        };
        for (place, pattern) in rule.cues.iter().enumerate() {
            behind_subject.add(pattern, (number, place), &self.subjects);
        }
        for (place, pattern) in rule.shapes.iter().enumerate() {
            anywhere.add(pattern, (number, place), &self.subjects);
        }
        self.all.push(rule);
        Ok(())
    }

    /// Returns whether a word is of a class.
    pub(crate) fn is_of(&self, class: &str, word: &str) -> bool {
        self.class(class).is_some_and(|class| class.has(word))
    }

    /// Returns whether two words are of one kind: both foods, both illnesses.
    pub(crate) fn are_alike(&self, one: &str, other: &str) -> bool {
        self.alike.iter().any(|class| self.lists(class, one) && self.lists(class, other))
    }

    /// Returns a class of words.
    pub(crate) fn class(&self, name: &str) -> Option<&Class> {
        self.class_at(*self.places.get(name)?)
    }

    /// Returns a class of words by its place.
    pub(crate) fn class_at(&self, place: usize) -> Option<&Class> {
        self.classes.get(place)
    }

    /// Returns whether a list holds a word, the word without its plural ending, or its ending (`-ending`).
    pub(crate) fn lists(&self, name: &str, word: &str) -> bool {
        if self.is_of(name, word) {
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

/// Reads the classes, with their indexes.
fn classes(section: Option<Section<'_>>) -> Result<(ClassIndex, Vec<Class>)> {
    let (mut places, mut classes) = (ClassIndex::default(), Vec::new());
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
        places.insert(name.into(), classes.len());
        classes.push(Class { words: all, endings, except, except_endings, kinds });
    }
    Ok((places, classes))
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

fn lists(section: Option<Section<'_>>) -> Result<HashMap<Box<str>, Words, WordHashBuilder>> {
    let mut lists = HashMap::default();
    for name in section.iter().flat_map(|section| section.keys()) {
        lists.insert(name.into(), words(section, name)?);
    }
    Ok(lists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::PackFile;

    fn read(rule: &str) -> Result<Rules> {
        let text = format!("[[rule]]\nid = 'x.lives_in.a'\npredicate = 'lives_in'\n{rule}\n");
        Rules::read("en", PackFile::parse(&text)?.root())
    }

    #[test]
    fn a_rule_with_a_mistake_is_refused() {
        assert!(read("cue = ['live in {o}']\nobject = 'place'").is_ok());
        for mistake in ["list_of = true", "object = 'colour'", "whom = 'you'", "head = ['place']", "list = 1"]
        {
            assert!(read(mistake).is_err(), "{mistake}");
        }
        assert!(read("negative = true").unwrap_err().to_string().contains("`negative`"));
    }

    #[test]
    fn verbs_have_their_form_behind_he_and_she() {
        for (verb, form) in [("go", "goes"), ("study", "studies"), ("play", "plays"), ("teach", "teaches")] {
            assert_eq!(third_person(verb), form);
        }
    }
}
