//! Gate data of a language: cues with their scope, and the words that mark questions and orders.

use std::collections::HashSet;

use mnemal_core::{Error, Result};

use crate::clause::AnalyzedSentence;
use crate::forms::Forms;
use crate::gates::Gates;
use crate::hash::WordHashBuilder;
use crate::phrase::Phrases;
use crate::prefilter::Prefilter;
use crate::section::Section;
use crate::word::{Word, is_sign, start};

/// How far a cue reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CueScope {
    /// To the end of its clause, through complements and coordination.
    Clause,
    /// The same, and back to the start of its clause: a cue after the denied words.
    Around,
    /// To a word like "but", or the end of the sentence.
    Sentence,
    /// To the end of its clause, unless the speaker is the subject of the cue.
    OthersClause,
    /// To a word like "but", or the end of the sentence, unless the speaker is the subject of the cue.
    Others,
    /// To a word like "but", a comma followed by a subject, or the end of the sentence.
    Splice,
    /// From the start of the sentence to the cue, which takes it back.
    Before,
    /// Over the whole sentence.
    Whole,
}

/// The reach of a cue, by its key in a gate's table.
const REACHES: [(&str, CueScope); 8] = [
    ("splice", CueScope::Splice),
    ("before", CueScope::Before),
    ("clause", CueScope::Clause),
    ("others_clause", CueScope::OthersClause),
    ("others", CueScope::Others),
    ("around", CueScope::Around),
    ("sentence", CueScope::Sentence),
    ("whole", CueScope::Whole),
];

/// Most words of a sentence that retracts another. Source: own choice; a longer one has its own content.
const LONGEST_RETRACTION: usize = 3;
/// Most words of a sentence that declares the previous turn a joke. Source: own choice, "that was just a joke".
const LONGEST_JEST: usize = 5;

/// Fewest quoted words that count as someone's statement, unless the pack sets it. Source: own choice.
const QUOTATION_WORDS: usize = 3;

/// A list of words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    all: HashSet<Box<str>, WordHashBuilder>,
    prefilter: Prefilter,
}

impl Words {
    /// Returns whether a word is in the list.
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.prefilter.meets(Prefilter::of(start(word))) && self.all.contains(word)
    }

    /// Returns whether a word of a text is in the list.
    pub(crate) fn holds(&self, word: &Word<'_>) -> bool {
        self.prefilter.meets(word.prefilter()) && self.all.contains(&*word.lower)
    }

    /// Returns whether there is no word in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the words in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(AsRef::as_ref)
    }
}

impl Extend<Box<str>> for Words {
    fn extend<I: IntoIterator<Item = Box<str>>>(&mut self, words: I) {
        for word in words {
            self.prefilter = self.prefilter.with(Prefilter::of(start(&word)));
            self.all.insert(word);
        }
    }
}

impl FromIterator<Box<str>> for Words {
    fn from_iter<I: IntoIterator<Item = Box<str>>>(words: I) -> Self {
        let mut list = Self::default();
        list.extend(words);
        list
    }
}

/// Each gate with its table, in which the keys of `REACHES` are lists of cues.
const TABLES: [(&str, Gates); 10] = [
    ("hypothetical", Gates::HYPOTHETICAL),
    ("obligation", Gates::OBLIGATION),
    ("negation", Gates::NEGATION),
    ("end", Gates::END),
    ("past_habit", Gates::PAST_HABIT),
    ("earlier", Gates::EARLIER),
    ("reported", Gates::REPORTED),
    ("sarcasm", Gates::SARCASM),
    ("fiction", Gates::FICTION),
    ("imperative", Gates::IMPERATIVE),
];

/// The gates without which no rule for claims runs.
const NEEDED: [&str; 5] = ["question", "negation", "hypothetical", "end", "reported"];

/// The gates of one language.
#[derive(Debug, Default)]
pub(crate) struct GatePack {
    pub(crate) forms: Forms,
    pub(crate) cues: Phrases<(Gates, CueScope)>,
    pub(crate) pseudo: Phrases<()>,
    pub(crate) terminators: Phrases<()>,
    pub(crate) asides: Phrases<()>,
    pub(crate) reasons: Phrases<()>,
    /// Words after an ending that begin something new.
    pub(crate) begins: Phrases<()>,
    pub(crate) connectors: Words,
    pub(crate) subjects: Words,
    pub(crate) question: QuestionWords,
    pub(crate) imperative: ImperativeWords,
    /// Fewest quoted words that count as someone's statement.
    pub(crate) quotation_words: usize,
    /// Words before a colon that introduce someone else's words: "patient wrote: I …".
    pub(crate) before_colon: Words,
    /// Subjects whose own words are no report.
    pub(crate) own_words: Words,
    /// Subjects that refer back to a named person: "she".
    pub(crate) others: Words,
    /// Addressees of a report that says nothing about the speaker: "you".
    pub(crate) addressed: Words,
    /// Words before a verb without a subject, as in an order: "also tell them".
    pub(crate) before_order: Words,
    /// Short sentences that take back the sentence before: "Just kidding."
    pub(crate) retracts: Phrases<()>,
    /// Short sentences that declare an earlier statement a joke, also in the previous turn: "April fool!"
    pub(crate) jests: Phrases<()>,
    /// Remarks on a preceding text: "that is from a museum".
    pub(crate) of_text: Phrases<()>,
    /// Openers of a game or a story that continues after the sentence.
    pub(crate) frames: Phrases<()>,
    /// Whether every gate that claims need is defined.
    pub(crate) is_complete: bool,
    /// Words that by themselves tell the language of a short sentence.
    pub(crate) telling: Words,
}

/// How a question is known without its mark.
#[derive(Debug, Default)]
pub(crate) struct QuestionWords {
    pub(crate) words: Words,
    pub(crate) auxiliaries: Words,
    pub(crate) inverted: Words,
    pub(crate) subjects: Words,
    pub(crate) wide_subjects: Words,
    pub(crate) measures: Words,
    pub(crate) lead: Words,
    pub(crate) openers: Words,
    pub(crate) endings: Words,
    /// Tag questions about an earlier statement: "is that right".
    pub(crate) tails: Phrases<()>,
    /// Phrases that ask in any position.
    pub(crate) phrases: Phrases<()>,
}

/// How an order is known.
#[derive(Debug, Default)]
pub(crate) struct ImperativeWords {
    pub(crate) verbs: Words,
    pub(crate) lead: Words,
    pub(crate) please: Words,
    pub(crate) polarity: Words,
    pub(crate) not_before: Words,
    pub(crate) lets: Phrases<()>,
}

impl GatePack {
    /// Reads the file `gates.toml` of a language.
    ///
    /// # Errors
    /// `Invalid` for a value of another type than its key has.
    pub(crate) fn read(root: Section<'_>) -> Result<Self> {
        let mut cues = Phrases::default();
        for (table, gate) in TABLES {
            let Some(section) = root.section(table)? else { continue };
            for (key, reach) in REACHES {
                for line in section.lines(key)? {
                    cues.add((gate, reach), line);
                }
            }
        }
        let scope = root.section("scope")?;
        let reported = root.section("reported")?;
        let quotation_words = reported.map(|section| section.count("quotation_words")).transpose()?.flatten();
        let fiction = root.section("fiction")?;
        let mut is_complete = true;
        for table in NEEDED {
            is_complete &= root.section(table)?.is_some_and(|section| section.keys().next().is_some());
        }
        let language = root.section("language")?;
        is_complete &= !language.map(|language| language.flag("claims_off")).transpose()?.unwrap_or_default();
        Ok(Self {
            forms: Forms::read(root.section("words")?)?,
            cues,
            pseudo: phrases(root.section("pseudo")?, "phrases")?,
            terminators: phrases(scope, "terminators")?,
            asides: phrases(scope, "asides")?,
            reasons: phrases(scope, "reasons")?,
            begins: phrases(root.section("end")?, "begins")?,
            connectors: words(scope, "connectors")?,
            subjects: words(scope, "subjects")?,
            question: QuestionWords::read(root.section("question")?)?,
            imperative: ImperativeWords::read(root.section("imperative")?)?,
            quotation_words: quotation_words.unwrap_or(QUOTATION_WORDS),
            before_colon: words(reported, "before_colon")?,
            own_words: words(reported, "own")?,
            others: words(reported, "goes_on")?,
            addressed: words(reported, "addressed")?,
            before_order: words(reported, "before_order")?,
            retracts: phrases(root.section("sarcasm")?, "retracts")?,
            jests: phrases(root.section("sarcasm")?, "jests")?,
            of_text: phrases(fiction, "of_text")?,
            frames: phrases(fiction, "frames")?,
            is_complete,
            telling: words(language, "telling")?,
        })
    }

    /// Returns whether a sentence retracts the one before, or disowns it.
    pub(crate) fn takes_back(&self, words: &[Word<'_>]) -> bool {
        // A word of Chinese has about two signs, each of which is a word here.
        let signs = if words.iter().all(|word| word.lower.chars().all(is_sign)) { 2 } else { 1 };
        words.len() <= LONGEST_RETRACTION * signs && self.retracts.stand_in(words)
            || words.len() <= LONGEST_JEST * signs && self.jests.stand_in(words)
            || self.of_text.stand_in(words)
    }

    /// Returns whether a short sentence declares an earlier statement a joke, and neither asks nor denies it.
    pub(crate) fn is_jest(&self, sentence: &str) -> bool {
        self.may_be_jest(sentence)
            && !AnalyzedSentence::new(sentence, self).gates().intersects(Gates::QUESTION | Gates::NEGATION)
    }

    /// Returns whether a sentence is short and has the words of [`is_jest`](Self::is_jest).
    pub(crate) fn may_be_jest(&self, sentence: &str) -> bool {
        let is_short = sentence.split_whitespace().nth(LONGEST_JEST).is_none();
        is_short && self.jests.stand_in(&self.forms.words(sentence))
    }

    /// Returns whether words open a game or a story that continues after them.
    pub(crate) fn frames(&self, words: &[Word<'_>]) -> bool {
        self.frames.stand_in(words)
    }

    /// Returns which words belong to a phrase that only looks like a cue.
    pub(crate) fn masked(&self, words: &[Word<'_>]) -> Vec<bool> {
        let mut masked = vec![false; words.len()];
        self.pseudo.find(words, |(), places| {
            masked.iter_mut().take(places.end).skip(places.start).for_each(|mask| *mask = true);
        });
        masked
    }

    /// Returns whether words deny something, phrases that only look so left out.
    pub(crate) fn denies(&self, text: &[Word<'_>]) -> bool {
        let masked = self.masked(text);
        let mut denies = false;
        self.cues.find(text, |(gate, _), places| {
            denies |= gate == Gates::NEGATION && !masked.get(places.start).copied().unwrap_or(true);
        });
        denies
    }
}

impl QuestionWords {
    fn read(section: Option<Section<'_>>) -> Result<Self> {
        Ok(Self {
            words: words(section, "words")?,
            auxiliaries: words(section, "auxiliaries")?,
            inverted: words(section, "inverted")?,
            subjects: words(section, "subjects")?,
            wide_subjects: words(section, "wide_subjects")?,
            measures: words(section, "measures")?,
            lead: words(section, "lead")?,
            openers: words(section, "openers")?,
            endings: words(section, "endings")?,
            tails: phrases(section, "tails")?,
            phrases: phrases(section, "phrases")?,
        })
    }
}

impl ImperativeWords {
    fn read(section: Option<Section<'_>>) -> Result<Self> {
        Ok(Self {
            verbs: words(section, "verbs")?,
            lead: words(section, "lead")?,
            please: words(section, "please")?,
            polarity: words(section, "polarity")?,
            not_before: words(section, "not_before")?,
            lets: phrases(section, "lets")?,
        })
    }
}

/// Reads a list of single words under a key.
pub(crate) fn words(section: Option<Section<'_>>, key: &str) -> Result<Words> {
    let Some(section) = section else { return Ok(Words::default()) };
    let lines = section.lines(key)?;
    match lines.iter().find(|line| line.contains(' ')) {
        Some(line) => Err(Error::invalid(format!("a pack: `{key}` must hold single words, not `{line}`"))),
        None => Ok(lines.into_iter().map(Into::into).collect()),
    }
}

/// Reads a list of phrases under a key.
pub(crate) fn phrases(section: Option<Section<'_>>, key: &str) -> Result<Phrases<()>> {
    let mut phrases = Phrases::default();
    for line in section.map(|section| section.lines(key)).transpose()?.unwrap_or_default() {
        phrases.add((), line);
    }
    Ok(phrases)
}
