//! Facts that no phrase of a rule states by itself: evidence from what a clause names, whose it is, and what speaks against it.
//!
//! People rarely write "I work at Norbank as a clerk": they write "Norbank took me on, first day Monday". A rule with a `weight`
//! reads such words; they are a fact where enough else says that they tell of the speaker, now, and in earnest.

use std::ops::Range;

use mnemal_core::{Confidence, Result, Subject};

use super::{Match, Sentence};
use crate::claims::subjects::{SubjectForm, SubjectMatch};
use crate::clause::Break;
use crate::gates::Gates;
use crate::gates::pack::phrases;
use crate::gates::scope::Mark;
use crate::phrase::Phrases;
use crate::section::Section;
use crate::word::Word;

/// Evidence that states a fact. Source: fitted by hand on the development half of `benches/data/facts`.
pub(super) const ENOUGH: f32 = 3.0;
/// Weight of a word for the speaker in the clause, or of a person of the speaker as its subject. Source: as [`ENOUGH`].
const MINE: f32 = 1.5;
/// Weight of a clause that begins with the words, so that the speaker is its subject. Source: as [`ENOUGH`].
const UNSAID: f32 = 1.0;
/// Weight of a word for what is new, or holds now. Source: as [`ENOUGH`].
const NEWS: f32 = 0.5;
/// Weight of a name or a number in the object. Source: as [`ENOUGH`].
const NAMED: f32 = 0.5;
/// Weight against words behind what asks for something, supposes it, or tells of others; a question may follow them. Source: as [`ENOUGH`].
const AGAINST: f32 = 3.0;
/// Predicates of people who are named in passing, whatever is said of them: "my brother Tom isn't coming".
const IDENTITIES: [&str; 4] = ["relative", "partner", "pet", "knows"];
/// Words before those of a rule that say that something is new: "endlich", "por fin". Source: own choice.
const LONGEST_OPENING: usize = 3;
/// Confidence of a claim with just enough evidence, before what was measured of its rule. Source: own choice.
const LEAST_CONFIDENCE: f32 = 0.8;
/// Confidence of a claim for each point more. Source: own choice; no claim of a weight is surer than one that is said outright.
const CONFIDENCE_A_POINT: f32 = 0.05;
/// What is taken from the confidence in a language of which no rule was measured, so that a claim is active from two points
/// more on. Source: the halves held back of `gold/g5`; of twelve claims with less evidence seven were right.
pub(super) const UNMEASURED: f32 = 0.1;

/// What speaks for and against a fact, in one language.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// Words for the speaker, and verbs that show them.
    mine: Phrases<()>,
    /// Words for what is the speaker's, which count within the words of a rule and right before them: "our office moved" tells of
    /// the office.
    own: Phrases<()>,
    /// Words for what is new or holds now.
    news: Phrases<()>,
    /// Other subjects.
    others: Phrases<()>,
    /// Articles of people who need not be the speaker's: "the landlady".
    articles: Phrases<()>,
    /// What speaks against what stands with it or behind it.
    against: Phrases<()>,
}

impl Evidence {
    /// Reads the table `evidence` of a pack.
    ///
    /// # Errors
    /// `Invalid` for a list that is none of lines.
    pub(crate) fn read(section: Option<Section<'_>>) -> Result<Self> {
        Ok(Self {
            mine: phrases(section, "mine")?,
            own: phrases(section, "own")?,
            news: phrases(section, "news")?,
            others: phrases(section, "others")?,
            articles: phrases(section, "articles")?,
            against: phrases(section, "against")?,
        })
    }
}

/// Returns the confidence of a claim with this evidence.
pub(super) fn confidence(weight: f32) -> Confidence {
    Confidence::new(LEAST_CONFIDENCE + (weight - ENOUGH) * CONFIDENCE_A_POINT)
}

impl Sentence<'_, '_> {
    /// Returns what a sentence says for a fact whose words weigh so much, less what speaks against it; nothing where the words are
    /// not the speaker's.
    pub(super) fn weight(&self, found: &Match<'_>, named: f32) -> f32 {
        let evidence = &self.rules.evidence;
        let Some(whose) = self.whose(found) else { return 0.0 };
        let to = self.reading.next_break(found.slots.own.end.max(found.said.start + 1), Break::Comma);
        let points = [
            (true, whose),
            (evidence.news.stand_in(&self.reading.words), NEWS),
            (self.has_name(found), NAMED),
            (evidence.against.stand_in(self.words(0..to)), -AGAINST),
        ];
        let sum: f32 = points.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum();
        if self.is_denied(found) { 0.0 } else { named + sum }
    }

    /// Returns what it weighs that the words of a rule tell of the speaker, or of a person of the speaker; `None` where they do not.
    fn whose(&self, found: &Match<'_>) -> Option<f32> {
        if !matches!(found.how, SubjectForm::Speaker | SubjectForm::Group) {
            return Some(MINE);
        }
        let evidence = &self.rules.evidence;
        let own = &found.slots.own;
        let start = found.said.start.min(own.start);
        let from = self.reading.clause_at(start);
        let to = self.reading.next_break(own.end.max(start + 1), Break::Comma);
        let is_mine = evidence.mine.stand_in(self.words(from..to))
            || evidence.own.stand_in(self.words(own.start.saturating_sub(1).max(from)..own.end));
        let before = from..own.start;
        let has_article =
            evidence.articles.stand_in(self.words(own.start.saturating_sub(1).max(from)..own.start));
        let is_of_others = has_article
            || !self.has_speaker(before.clone()) && evidence.others.stand_in(self.words(before.clone()));
        if is_of_others || self.is_behind_another(own.start, if is_mine { from } else { 0 }) {
            return None;
        }
        let is_unsaid = || {
            self.begins(own.start)
                || self.opens_with_time(before.clone())
                || self.opens_without_subject(before.clone())
        };
        if is_mine { Some(MINE) } else { is_unsaid().then_some(UNSAID) }
    }

    /// Whether the object has a capital or a number in its clause.
    fn has_name(&self, found: &Match<'_>) -> bool {
        found.slots.object.clone().is_some_and(|object| {
            let end = self.reading.next_break(object.start + 1, Break::Comma).min(object.end);
            self.words(object.start..end).iter().any(|word| {
                let is_number = word.lower.starts_with(|sign: char| sign.is_ascii_digit());
                is_number || word.is_capitalised(self.reading.text)
            })
        })
    }

    fn words(&self, of: Range<usize>) -> &[Word<'_>] {
        self.reading.words.get(of).unwrap_or_default()
    }

    /// Whether a rule that no denial or condition touches by itself states something that is denied or supposed here; a name in
    /// passing stands.
    fn is_denied(&self, found: &Match<'_>) -> bool {
        let own = found.slots.own.clone();
        let closed = Gates::NEGATION | Gates::HYPOTHETICAL;
        // "My boss, not my wife, is Olga": what is put aside is nobody.
        let puts_aside = |mark: &Mark| {
            mark.gate.intersects(Gates::NEGATION)
                && mark.cue.end == own.start
                && self.reading.break_at(mark.cue.start) > Break::None
        };
        let is_identity = IDENTITIES.contains(&found.rule.predicate.as_str());
        found.rule.is_presupposed
            && self
                .reading
                .marks_over(own.clone(), &(0..0))
                .any(|mark| if is_identity { puts_aside(mark) } else { mark.gate.intersects(closed) })
    }

    /// Whether words tell a time, or what is new, and nothing else.
    fn opens_with_time(&self, words: Range<usize>) -> bool {
        let (reading, rules) = (self.reading, self.rules);
        let is_news = |words: Range<usize>| rules.evidence.news.stand_in(self.words(words));
        let passes = |at: usize| {
            self.is_time(at)
                || rules.subjects.lead.contains(reading.lower(at))
                || rules.objects.joins(reading.lower(at))
                || is_news(at..at + 1)
        };
        words.len() <= LONGEST_OPENING && is_news(words.clone()) || words.clone().all(passes)
    }

    /// Whether words begin with a verb of the speaker that has no subject: "Got a new doctor here, Dr. Pell".
    fn opens_without_subject(&self, words: Range<usize>) -> bool {
        let subjects = &self.rules.subjects;
        let first = words.clone().find(|at| !subjects.lead.contains(self.reading.lower(*at)));
        let is_verb = |at: usize| {
            let word = self.reading.lower(at);
            subjects.unsaid.contains(word) || self.rules.is_of("past", word)
        };
        first.is_some_and(is_verb)
            && !self.subjects.iter().any(|subject| words.contains(&subject.words.start))
    }

    /// Whether the last subject from a word to another is somebody else.
    fn is_behind_another(&self, at: usize, from: usize) -> bool {
        let before = self.subjects.iter().filter(|subject| (from..at).contains(&subject.words.start));
        before.max_by_key(|subject| subject.words.end).is_some_and(|last| last.subject != Subject::Speaker)
    }

    /// Whether the speaker is a subject that begins among some words.
    fn has_speaker(&self, words: Range<usize>) -> bool {
        let is_here = |subject: &&SubjectMatch| words.contains(&subject.words.start);
        self.subjects.iter().filter(is_here).any(|subject| subject.subject == Subject::Speaker)
    }
}
