//! Extractive question answering: the best lines of a context that answer a question, or no answer.

use std::collections::HashMap;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use futures_util::future::try_join;
use mnemal_context::{Context, Line};
use mnemal_core::{
    AsOf, Degraded, EventId, Gaps, InclusionReason, Marks, Receipt, ReceiptLine, RecordRef, Remark, Result,
    Role, Section, SessionId, Source, Speaker,
};
use mnemal_extract::{Wh, foreign_remark, question_words, speaker_voice, turn_marks};
use mnemal_graph::AskedSubject;
use mnemal_recall::{Hit, MatchReason};
use mnemal_text::{Analyzer, Language, fold, sentences};

use crate::answer::{ContextCall, RecallCall};
use crate::embedding::EmbeddedQuestion;
use crate::memory::Memory;
use crate::outdated_turns::REPLACES;

/// Token budget of the context that is searched for the answer. Source: own choice, more lines than an answer may have.
const BUDGET: u32 = 600;
/// Maximum number of lines in an answer. Source: own choice.
const LINES: usize = 3;
/// Hits whose evidence is read. Source: as many as a context of [`BUDGET`] is offered.
const HITS: usize = 24;
/// Probability from which on a line is given as the answer.
///
/// Source: `bench life`, nine lives, halves for development / held back: right .56 / .56, wrong .06 / .06; a higher one loses more
/// right answers than wrong ones.
const FLOOR: f32 = 0.45;

/// Probability from which on a line is shown beside one that answers. Source: `bench life`; at .15 .03 of the answers are lost.
const BESIDE: f32 = 0.1;

/// Share of the best line's probability that a later line must have to stand before it. Source: own choice.
const NEAR: f32 = 0.5;

/// Words of a turn that answers a question without its words, at most. Source: own choice; a longer one says what it is about.
const SHORT: usize = 8;

/// What speaks for a line as the answer, and against it.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four independent signals, each read by its name")]
struct AnswerFeatures {
    /// Share of the question's weight in the line's own turn, or in the fact, 0 to 1.
    covered: f32,
    /// Its place among the lines of the context, from 0.
    place: usize,
    /// Its word score in relation to the best one, 0 to 1.
    words: f32,
    /// Only messages around it have words of the question.
    is_neighbor: bool,
    /// The assistant said it.
    is_of_assistant: bool,
    /// A time is asked for, and it names none.
    lacks_time: bool,
    /// A count is asked for, and it names no number.
    lacks_count: bool,
}

impl AnswerFeatures {
    /// Returns the probability that the line answers, 0 to 1.
    ///
    /// Source: logistic regression over the lines of the contexts for 270 questions, the halves for development of nine lives;
    /// with one life left out at a time as good as with all.
    fn probability(self) -> f32 {
        let first = 1.0 / (1.0 + self.place as f32);
        let of = |is_so: bool, weight: f32| if is_so { weight } else { 0.0 };
        let sum = -3.4
            + 1.9 * self.covered
            + 1.7 * first
            + 0.65 * self.words
            + of(self.is_neighbor, -1.2)
            + of(self.is_of_assistant, -0.7)
            + of(self.lacks_time, -0.9)
            // Own choice: no count is answered without a number.
            + of(self.lacks_count, -1.8);
        1.0 / (1.0 + (-sum).exp())
    }
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The lines that answer, best first; empty when the answer is unknown.
    pub quotes: Vec<Quote>,
    /// The receipt of the context that the lines come from.
    pub receipt: Receipt,
}

/// One line of an answer: a logged sentence or a fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Quote {
    /// Its line number in the context.
    pub number: usize,
    /// The day, `2026-05-04`.
    pub day: String,
    /// The speaker and any caveats; empty for the user's own words without a speaker name.
    pub label: String,
    /// The text of the line.
    pub text: String,
    /// The record that the line comes from.
    pub record: RecordRef,
    /// The source spans of its text.
    pub sources: Vec<Source>,
    /// The probability that it answers, 0 to 1.
    pub evidence: f32,
}

/// A pending question; awaiting it answers.
#[derive(Debug)]
#[must_use = "nothing is asked until it is awaited"]
pub struct AskCall {
    context: ContextCall,
    recall: RecallCall,
    question: String,
}

impl AskCall {
    pub(crate) fn new(memory: &Memory, question: &str) -> Self {
        let sections = vec![Section::Entity, Section::Topics, Section::Recall];
        Self {
            context: memory.context(question).budget(BUDGET).sections(sections),
            recall: memory.recall(question).limit(HITS),
            question: question.to_owned(),
        }
    }

    /// Sets the session that asks; its own turns are already in its window and are not used as answers.
    pub fn session(mut self, session: SessionId) -> Self {
        self.context = self.context.session(session);
        self
    }

    /// Passes the answer of [`embed_query`](crate::areas::AdminHandle::embed_query).
    pub fn embedded(mut self, asked: Degraded<Option<EmbeddedQuestion>>) -> Self {
        self.context = self.context.embedded(asked.clone());
        self.recall = self.recall.embedded(asked);
        self
    }

    /// Answers as of a moment (bi-temporal).
    pub fn as_of(mut self, as_of: AsOf) -> Self {
        self.context = self.context.as_of(as_of);
        self.recall = self.recall.as_of(as_of);
        self
    }

    async fn run(self) -> Result<Degraded<Answer>> {
        let (context, found) = try_join(self.context.into_future(), self.recall.into_future()).await?;
        let mut gaps = Gaps::default();
        let (context, found) = (gaps.merge(context), gaps.merge(found));
        let hits = found.hits.into_iter().map(|hit| (hit.event.id, hit)).collect();
        let quotes = quotes(&context, &hits, &self.question);
        Ok(gaps.attach(Answer { quotes, receipt: context.receipt }))
    }
}

impl IntoFuture for AskCall {
    type Output = Result<Degraded<Answer>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// Returns the lines that answer, best first.
fn quotes(context: &Context, hits: &HashMap<EventId, Hit>, question: &str) -> Vec<Quote> {
    let asked = mnemal_extract::question(question);
    let asks_count = matches!(asked.wh, Some(Wh::HowMany | Wh::HowMuch));
    let time = asked.asks_time.then(|| Marks::TIME.with(Marks::NUMBER));
    let subject = AskedSubject::of(question);
    let place_of =
        |event: EventId| context.receipt.lines.iter().position(|line| line.record == RecordRef::Event(event));
    let quote = |line: Line| {
        let number = line.number.checked_sub(1)?;
        let receipt = context.receipt.lines.get(number)?;
        // A line beside an outdated one takes no place from others.
        let place = context.receipt.lines.get(..number)?.iter().filter(|line| !replaces(line)).count();
        let hit = match receipt.record {
            RecordRef::Event(event) => hits.get(&event),
            // A preference is quoted from the turn in which it was said.
            RecordRef::Learning(_) => receipt.sources.first().and_then(|source| hits.get(&source.event)),
            _ => None,
        };
        let is_asked = match receipt.because {
            InclusionReason::Query => true,
            InclusionReason::ExplicitPreference => hit.is_some(),
            _ => false,
        };
        let is_own = hit.and_then(|hit| hit.event.body()).is_none_or(|kept| foreign_remark(kept).is_none());
        if !is_asked || !is_own || only_asks(&line.text) {
            return None;
        }
        if hit.is_none_or(is_of_asker) && subject.is_missed_by(&line.text) {
            return None;
        }
        let marks = Marks(turn_marks(&line.text).bits());
        // The graph quotes a sentence for a question that it resolves, whatever the words of the sentence.
        let is_resolved = receipt.section != Section::Recall;
        let of_graph = || receipt.parts.iter().find(|part| part.name == "words").map_or(0.0, |part| part.raw);
        let of_turn = || hit.map_or(0.0, |hit| hit.features.own);
        // "Rust, by far." answers what the assistant asked before.
        let asked_by =
            hit.and_then(|hit| question_before(hit, hits)).filter(|one| one.features.own >= of_turn());
        let words =
            |hit: &Hit| hit.parts.iter().find(|part| part.name == "words").map(|part| part.normalized);
        let features = AnswerFeatures {
            covered: match asked_by {
                Some(asked_by) => asked_by.features.own,
                None if is_resolved => of_graph().max(of_turn()),
                None => of_turn(),
            },
            place: asked_by.and_then(|one| place_of(one.event.id)).map_or(place, |asked| asked.min(place)),
            words: asked_by.or(hit).and_then(words).unwrap_or_default(),
            is_neighbor: asked_by.is_none()
                && !is_resolved
                && hit.is_none_or(|hit| hit.found_by == MatchReason::Neighbor),
            is_of_assistant: hit.is_some_and(|hit| hit.event.role == Role::Assistant),
            lacks_time: time.is_some_and(|time| marks.0 & time.0 == 0),
            lacks_count: asks_count
                && !(matches!(receipt.record, RecordRef::Fact(_)) && gives_name(&line.text))
                && !has_number(&line.text, marks),
        };
        let evidence = features.probability();
        Some(Quote {
            number: line.number,
            day: line.day,
            label: line.label,
            text: line.text,
            record: receipt.record,
            sources: receipt.sources.clone(),
            evidence,
        })
    };
    let mut quotes: Vec<Quote> = context.lines().into_iter().filter_map(quote).collect();
    // A line that ended what another states answers as well as that one.
    let outdated = quotes.iter().filter(|quote| quote.label.contains(Remark::Past.as_str()));
    let best = outdated.map(|quote| quote.evidence).max_by(f32::total_cmp).unwrap_or_default();
    for quote in &mut quotes {
        let line = quote.number.checked_sub(1).and_then(|number| context.receipt.lines.get(number));
        if line.is_some_and(replaces) {
            quote.evidence = quote.evidence.max(best);
        }
    }
    quotes.sort_by(|one, other| other.evidence.total_cmp(&one.evidence));
    if quotes.first().is_none_or(|best| best.evidence < FLOOR) {
        return Vec::new();
    }
    // The parts of an answer may stand in several turns.
    quotes.retain(|quote| quote.evidence >= BESIDE);
    quotes.truncate(LINES);
    lead_with_change(&mut quotes, question);
    quotes
}

/// Returns the assistant's question that a short turn of the user answers.
fn question_before<'h>(answer: &Hit, hits: &'h HashMap<EventId, Hit>) -> Option<&'h Hit> {
    let kept = answer.event.body()?;
    let is_short = kept.content.split_whitespace().count() <= SHORT && !only_asks(&kept.content);
    let is_asked = |one: &&Hit| {
        let asks = |text: &str| text.trim_end().ends_with(['?', '？']);
        one.event.role == Role::Assistant
            && one.event.seq.0 + 1 == answer.event.seq.0
            && one.event.body().is_some_and(|asked| asked.session == kept.session && asks(&asked.content))
    };
    hits.values().find(is_asked).filter(|_| is_short && answer.event.role == Role::User)
}

/// Whether a line is in the context because it ended what another one states.
fn replaces(line: &ReceiptLine) -> bool {
    line.parts.iter().any(|part| part.name == REPLACES)
}

/// Puts the line first that was said after the best one and changes it: "The flight was moved to 11:15."
fn lead_with_change(quotes: &mut [Quote], question: &str) {
    let Some((best, others)) = quotes.split_first() else { return };
    let is_over = |quote: &Quote| quote.label.contains(Remark::Past.as_str());
    let changes = |quote: &Quote| {
        let is_later = quote.day > best.day && !is_over(quote);
        let is_near =
            || quote.evidence >= NEAR * best.evidence || share_topic(question, &best.text, &quote.text);
        is_later && (is_over(best) || tells_change(&quote.text) && is_near())
    };
    if let Some(place) = others.iter().position(changes)
        && let Some(first) = quotes.get_mut(..place + 2)
    {
        first.rotate_right(1);
    }
}

/// Whether two texts have a word of a question, other than a general one.
fn share_topic(question: &str, one: &str, other: &str) -> bool {
    let analyzer = Analyzer::new(Language::guess(question));
    let general: Vec<String> =
        question_words().general.iter().flat_map(|word| analyzer.query_terms(word)).collect();
    let (one, other) = (analyzer.query_terms(one), analyzer.query_terms(other));
    let mut asked = analyzer.query_terms(question).into_iter().filter(|term| !general.contains(term));
    asked.any(|term| one.contains(&term) && other.contains(&term))
}

/// Whether a text has a word of change, in any language.
fn tells_change(text: &str) -> bool {
    let folded = fold(text);
    let is_word = |word: &String| {
        let is_sign = !word.is_ascii() && word.chars().all(|letter| !letter.is_lowercase());
        let mut words = folded.split(|letter: char| !letter.is_alphanumeric());
        if is_sign { folded.contains(word.as_str()) } else { words.any(|said| said == fold(word)) }
    };
    question_words().changes.iter().any(is_word)
}

/// Whether the line of a fact gives a name, one line for each of several: "the user's dog: Bruno".
fn gives_name(line: &str) -> bool {
    line.rsplit_once(": ").is_some_and(|(_, value)| value.starts_with(|first: char| !first.is_lowercase()))
}

/// Whether a text names a number, in digits or in words of any language, or lists names, which German shows not;
/// "one" is often no number.
fn has_number(text: &str, marks: Marks) -> bool {
    let is_number = |word: &str| mnemal_extract::number(word).is_some_and(|number| number > 1);
    let words = || text.split(|letter: char| !letter.is_alphanumeric());
    let names = words().skip(1).filter(|word| word.starts_with(char::is_uppercase)).count();
    let lists = || names > 1 && Language::guess(text) != Language::German;
    marks.0 & Marks::NUMBER.0 != 0 || words().any(is_number) || lists()
}

/// Whether the asker said it, as far as is known: "I" is nobody else there.
fn is_of_asker(hit: &Hit) -> bool {
    let speaker = hit.event.body().and_then(|kept| kept.speaker.as_ref());
    hit.event.role == Role::User && speaker_voice(speaker.map(Speaker::as_str)).is_none()
}

/// Whether a text consists of questions only.
fn only_asks(text: &str) -> bool {
    sentences(text).iter().all(|sentence| sentence.of(text).trim_end().ends_with(['?', '？', '…']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_speaks_for_a_line_raises_its_probability_and_what_speaks_against_it_lowers_it() {
        let line = AnswerFeatures {
            covered: 0.5,
            place: 1,
            words: 0.5,
            is_neighbor: false,
            is_of_assistant: false,
            lacks_time: false,
            lacks_count: false,
        };
        let now = line.probability();
        for better in [
            AnswerFeatures { covered: 1.0, ..line },
            AnswerFeatures { place: 0, ..line },
            AnswerFeatures { words: 1.0, ..line },
        ] {
            assert!(better.probability() > now, "{better:?}");
        }
        for worse in [
            AnswerFeatures { is_neighbor: true, ..line },
            AnswerFeatures { is_of_assistant: true, ..line },
            AnswerFeatures { lacks_time: true, ..line },
            AnswerFeatures { lacks_count: true, ..line },
        ] {
            assert!(worse.probability() < now, "{worse:?}");
        }
        assert!((0.0..FLOOR).contains(&now));
        let whole = AnswerFeatures { covered: 1.0, place: 0, words: 1.0, ..line };
        assert!((FLOOR..1.0).contains(&whole.probability()));
    }
}
