//! Agreement of rules and model: claims that both find become facts.

use std::ops::Range;

use mnemal_core::{
    Act, Confidence, EventKind, ExtractedFact, Extraction, Extractor, Mention, NewEvent, Object, Predicate,
    Producer, Result, RuleId, Span, Subject, Utterance,
};
use mnemal_extract::{RuleExtractor, admit};

use crate::TrainedReader;
use crate::decoding::{PredictedClaim, PredictedName, ReaderOutput};

/// Incremented with every change of the voting.
const VERSION: u32 = 2;
/// Rule id of claims by the model alone.
const READER: &str = "reader";
/// Confidence of the rules from which a row counts, and the lowest probability at which the model then confirms their claim.
/// Source: the validation part of the labeled turns, 837 claims; those that a row lets through are right in .95 to .97.
const CONFIRMS: [(f32, f32); 2] = [(0.6, 0.7), (0.0, 0.9)];
/// Lowest probability of a candidate claim by the model alone. Source: own choice, more likely than not.
const ALONE: f32 = 0.5;
/// Probability of other people's words at which the model alone claims nothing of them. Source: own choice.
const FOREIGN: f32 = 0.5;
/// The confidence in a claim found by both. Source: own choice, above [`Confidence::ACTIVE`].
const BOTH: f32 = 0.9;
/// The confidence in a claim by the model alone. Source: own choice, that of a language model's claims
/// ([`ExtractedFact::of_model`]).
const CANDIDATE: f32 = 0.6;

/// Extracts by rules and with a model. A claim of the rules that the model confirms is a fact, whatever the rules think of it;
/// one by the model alone is a candidate, checked against the gates of the rules. Each keeps its words, so
/// that receipts point at them. Beyond the part of a long turn that the model reads, the rules decide alone.
#[derive(Clone, Debug)]
pub struct VotingExtractor {
    rules: RuleExtractor,
    reader: TrainedReader,
}

impl VotingExtractor {
    /// Combines these rules and this model.
    pub fn new(rules: RuleExtractor, reader: TrainedReader) -> Self {
        Self { rules, reader }
    }
}

impl Extractor for VotingExtractor {
    /// Names both, so that a new model leads to a new extraction.
    fn producer(&self) -> Producer {
        let rules = self.rules.producer();
        Producer {
            id: format!("{} + reader {}", rules.id, self.reader.name()),
            version: rules.version + VERSION,
        }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let mut extraction = self.rules.extract(utterance);
        match self.read(utterance, &extraction) {
            Some(Ok(reading)) => vote(utterance, &mut extraction, &reading),
            Some(Err(error)) => extraction.remarks.push(format!("reader: {error}")),
            None => {}
        }
        extraction
    }
}

impl VotingExtractor {
    /// Returns the claims of the rules, and those of the model from this probability on, with the votes on each, before anything
    /// is decided.
    ///
    /// # Errors
    /// `Internal` when the model fails to run.
    pub fn votes(&self, utterance: &Utterance<'_>, least: f32) -> Result<Vec<(ExtractedFact, Votes)>> {
        let extraction = self.rules.extract(utterance);
        let reading = self.read(utterance, &extraction).transpose()?.unwrap_or_default();
        Ok(cast(utterance, (extraction.facts, &mut Vec::new()), &reading, least))
    }

    /// Lets the model read what a user says, unless the rules skipped it.
    fn read(&self, utterance: &Utterance<'_>, extraction: &Extraction) -> Option<Result<ReaderOutput>> {
        let said = utterance.event.body().filter(|said| matches!(said.kind, EventKind::UserMessage))?;
        let is_skipped = extraction.remarks.iter().any(|remark| remark.starts_with("skipped: "));
        (!is_skipped).then(|| self.reader.read(&said.content, message_before(said, utterance)))
    }
}

/// Returns the previous message of another speaker in the same conversation; empty if there is none.
fn message_before<'u>(said: &NewEvent, utterance: &Utterance<'u>) -> &'u str {
    let before =
        utterance.before.last().filter(|event| event.quarantined.is_none()).and_then(|event| event.body());
    let is_said = |before: &&NewEvent| {
        let is_message = matches!(before.kind, EventKind::UserMessage | EventKind::AssistantMessage);
        let is_own = before.kind == said.kind && before.speaker == said.speaker;
        is_message && !is_own && before.session == said.session
    };
    before.filter(is_said).map_or("", |before| before.content.as_str())
}

/// The votes on a claim, as probabilities that it is right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Votes {
    /// Confidence of the rules; absent if they do not make the claim.
    pub rules: Option<f32>,
    /// Probability by the model; absent if it has not read the words.
    pub reader: Option<f32>,
}

impl Votes {
    /// Returns the confidence in the claim.
    fn decide(self) -> Confidence {
        let decided = match (self.rules, self.reader) {
            (Some(rules), Some(reader)) if reader >= confirmed_from(rules) => rules.max(BOTH),
            (Some(rules), _) => rules,
            (None, _) => CANDIDATE,
        };
        Confidence::new(decided)
    }

    /// Describes the votes and the decision.
    fn explain(self, fact: &ExtractedFact) -> String {
        let share = |vote: Option<f32>| vote.map_or("-".to_owned(), |vote| format!("{vote:.2}"));
        let decision = if self.decide() >= Confidence::ACTIVE { "fact" } else { "candidate" };
        let (predicate, words) = (fact.predicate.as_str(), &fact.object.text);
        format!(
            "votes: {predicate} \"{words}\": rules {}, reader {}: {decision}",
            share(self.rules),
            share(self.reader)
        )
    }
}

/// Returns the lowest probability at which the model confirms a claim in which the rules have this confidence.
fn confirmed_from(rules: f32) -> f32 {
    CONFIRMS.iter().find(|(from, _)| rules >= *from).map_or(1.0, |(_, least)| *least)
}

/// Combines the rules' claims in `extraction` with the model's `reading`.
fn vote(utterance: &Utterance<'_>, extraction: &mut Extraction, reading: &ReaderOutput) {
    let Some(said) = utterance.event.body() else { return };
    let found = std::mem::take(&mut extraction.facts);
    for (mut fact, votes) in cast(utterance, (found, &mut extraction.remarks), reading, ALONE) {
        extraction.remarks.push(votes.explain(&fact));
        fact.confidence = votes.decide();
        extraction.facts.push(fact);
    }
    extraction.facts.sort_by_key(|fact| fact.span.start);
    take_names(&said.content, &reading.names, &mut extraction.mentions);
}

/// Returns the claims found by the rules, and those of the model from a probability on, with the votes on each. Words that the
/// model takes for other people's get no vote of it.
fn cast(
    utterance: &Utterance<'_>,
    (found, remarks): (Vec<ExtractedFact>, &mut Vec<String>),
    reading: &ReaderOutput,
    least: f32,
) -> Vec<(ExtractedFact, Votes)> {
    let Some(said) = utterance.event.body() else { return Vec::new() };
    let claims: Vec<_> = reading.claims.iter().filter(|claim| !reading.is_foreign(&claim.object)).collect();
    let of_rules = |fact: ExtractedFact| {
        let votes = claims.iter().filter(|claim| is_same(&fact, claim)).map(|claim| claim.confidence);
        let best = votes.fold(0.0, f32::max);
        let reader = (best > 0.0 || reading.reaches(fact.object.span)).then_some(best);
        let rules = Some(fact.confidence.get());
        (fact, Votes { rules, reader })
    };
    let mut all: Vec<(ExtractedFact, Votes)> = found.into_iter().map(of_rules).collect();
    for claim in claims.iter().filter(|claim| claim.confidence >= least) {
        if all.iter().any(|(fact, _)| overlaps(&range(fact.object.span), &claim.object)) {
            continue;
        }
        match alone(&said.content, claim).map(|fact| admit(utterance, fact)) {
            Some(Ok(fact)) => all.push((fact, Votes { rules: None, reader: Some(claim.confidence) })),
            Some(Err(why)) => remarks.push(format!("reader: {} dropped: {why}", claim.predicate)),
            None => {}
        }
    }
    all
}

impl ReaderOutput {
    /// Whether the model has read a position: of a long turn it reads the beginning.
    fn reaches(&self, place: Span) -> bool {
        self.foreign.last().is_some_and(|(word, _)| range(place).end <= word.end)
    }

    /// Whether most words of a span are not the speaker's own.
    fn is_foreign(&self, place: &Range<usize>) -> bool {
        let inside: Vec<f32> =
            self.foreign.iter().filter(|(word, _)| overlaps(word, place)).map(|(_, p)| *p).collect();
        let foreign = inside.iter().filter(|p| **p > FOREIGN).count();
        foreign * 2 > inside.len()
    }
}

/// Whether the model makes the same claim as the rules: same predicate, subject, act and words.
fn is_same(fact: &ExtractedFact, claim: &PredictedClaim) -> bool {
    let of = match (&fact.subject, &claim.subject) {
        (Subject::Speaker, Subject::Speaker) => true,
        (Subject::Relation { role, name }, Subject::Relation { role: other, .. }) => {
            let singular = |role: &str| role.trim_end_matches('s').to_lowercase();
            singular(role) == singular(other)
                || name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(other))
        }
        (Subject::Relation { name: Some(name), .. } | Subject::Named(name), Subject::Named(other)) => {
            name.eq_ignore_ascii_case(other)
        }
        _ => false,
    };
    let act = fact.act == claim.act || fact.act.is_of_past() && claim.act == Act::End;
    of && act
        && fact.predicate.as_str() == claim.predicate
        && overlaps(&range(fact.object.span), &claim.object)
}

/// Makes a claim of the model alone.
fn alone(text: &str, claim: &PredictedClaim) -> Option<ExtractedFact> {
    let span = span(&claim.object)?;
    let predicate = Predicate::new(claim.predicate.as_str()).ok()?;
    let words = text.get(claim.object.clone())?;
    let object = Object { text: words.to_owned(), key: words.to_lowercase(), kind: None, topic: None, span };
    Some(ExtractedFact {
        rule: RuleId::new(READER).ok()?,
        object,
        act: claim.act,
        confidence: Confidence::new(CANDIDATE),
        ..ExtractedFact::of_model(predicate, claim.subject.clone(), (words, span), span)
    })
}

/// Adds the model's names where the rules have none.
fn take_names(text: &str, names: &[PredictedName], mentions: &mut Vec<Mention>) {
    for read in names {
        let is_known = mentions.iter().any(|known| overlaps(&range(known.span), &read.span));
        if let (false, Some(words), Some(span)) = (is_known, text.get(read.span.clone()), span(&read.span)) {
            let name = words.to_owned();
            mentions.push(Mention { name, kind: read.kind, span, is_another: false, kind_word: None });
        }
    }
    mentions.sort_by_key(|mention| mention.span);
}

fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

fn span(range: &Range<usize>) -> Option<Span> {
    Some(Span { start: u32::try_from(range.start).ok()?, end: u32::try_from(range.end).ok()? })
}

#[cfg(test)]
mod tests {
    use mnemal_core::{
        Body, ChannelId, EntityKind, Event, EventId, Gazetteer, Metadata, NewEvent, Origin, Seq, SessionId,
        Timestamp, Zone,
    };

    use super::*;

    fn event(text: &str) -> Event {
        let origin = Origin::UserDirect;
        let said = NewEvent {
            kind: EventKind::UserMessage,
            content: text.to_owned(),
            session: SessionId::new("s").unwrap(),
            channel: ChannelId::new("c").unwrap(),
            parent: None,
            speaker: None,
            user: None,
            agent: None,
            occurred_at: Timestamp::EPOCH,
            zone: Zone::utc(),
            origin,
            idempotency_key: None,
            metadata: Metadata::new(),
        };
        Event {
            id: EventId(1),
            seq: Seq(1),
            recorded_at: Timestamp::EPOCH,
            role: said.kind.role(),
            trust: origin.trust(),
            level: origin.level(),
            quarantined: None,
            echo: Vec::new(),
            body: Body::Present(Box::new(said)),
        }
    }

    fn claim(text: &str, predicate: &str, object: &str, confidence: f32) -> PredictedClaim {
        let start = text.find(object).unwrap();
        PredictedClaim {
            predicate: predicate.to_owned(),
            subject: Subject::Speaker,
            act: Act::Assert,
            object: start..start + object.len(),
            confidence,
            worth: 1.0,
        }
    }

    /// What the votes make of a text that the rules read too, as predicate, object and whether it counts as a fact.
    fn votes(text: &str, reading: &ReaderOutput) -> Vec<(String, String, bool)> {
        let (event, known) = (event(text), Gazetteer::default());
        let utterance = Utterance { event: &event, before: &[], known: &known };
        let mut extraction = RuleExtractor::new().extract(&utterance);
        vote(&utterance, &mut extraction, reading);
        let line = |fact: &ExtractedFact| {
            let is_fact = fact.confidence >= Confidence::ACTIVE;
            (fact.predicate.as_str().to_owned(), fact.object.text.clone(), is_fact)
        };
        extraction.facts.iter().map(line).collect()
    }

    #[test]
    fn what_the_model_confirms_is_a_fact_and_a_claim_about_somebody_else_confirms_nothing() {
        let text = "My flat is in Oslo these days.";
        let line = |is_fact| vec![("lives_in".to_owned(), "Oslo".to_owned(), is_fact)];
        let read = |claims| votes(text, &ReaderOutput { claims, ..ReaderOutput::default() });
        assert_eq!(read(Vec::new()), line(false), "the rules alone are not sure");
        assert_eq!(read(vec![claim(text, "lives_in", "Oslo", 0.8)]), line(true));
        assert_eq!(read(vec![claim(text, "lives_in", "Oslo", 0.6)]), line(false));
        let mut other = claim(text, "lives_in", "Oslo", 0.99);
        other.subject = Subject::Relation { role: "sister".to_owned(), name: None };
        assert_eq!(read(vec![other]), line(false));
    }

    #[test]
    fn what_the_rules_are_sure_of_is_a_fact_though_the_model_does_not_see_it() {
        let text = "I live in Oslo.";
        let reading = ReaderOutput { foreign: vec![(0..text.len(), 0.0)], ..ReaderOutput::default() };
        assert_eq!(votes(text, &reading), [("lives_in".to_owned(), "Oslo".to_owned(), true)]);
    }

    #[test]
    fn words_that_the_model_takes_for_other_peoples_are_not_confirmed() {
        let text = "My flat is in Oslo these days.";
        let claims = vec![claim(text, "lives_in", "Oslo", 0.99)];
        let foreign = vec![(14..18, 0.9)];
        let reading = ReaderOutput { claims, foreign, ..ReaderOutput::default() };
        assert_eq!(votes(text, &reading), [("lives_in".to_owned(), "Oslo".to_owned(), false)]);
    }

    #[test]
    fn both_votes_are_told() {
        let text = "My flat is in Oslo these days.";
        let (event, known) = (event(text), Gazetteer::default());
        let utterance = Utterance { event: &event, before: &[], known: &known };
        let mut extraction = RuleExtractor::new().extract(&utterance);
        let claims = vec![claim(text, "lives_in", "Oslo", 0.8)];
        vote(&utterance, &mut extraction, &ReaderOutput { claims, ..ReaderOutput::default() });
        let told = extraction.remarks.iter().find(|remark| remark.starts_with("votes: ")).unwrap();
        assert!(
            told.contains("lives_in \"Oslo\": rules 0.6") && told.ends_with("reader 0.80: fact"),
            "{told}"
        );
    }

    #[test]
    fn what_the_model_alone_claims_is_a_candidate_where_the_gates_let_it_pass() {
        let alone = |text: &str, p| {
            votes(
                text,
                &ReaderOutput {
                    claims: vec![claim(text, "owns", "harmonium", p)],
                    ..ReaderOutput::default()
                },
            )
        };
        let candidate = vec![("owns".to_owned(), "harmonium".to_owned(), false)];
        assert_eq!(alone("My evenings belong to the harmonium.", 0.8), candidate);
        assert!(alone("My evenings belong to the harmonium.", 0.3).is_empty());
        assert!(alone("Do my evenings belong to the harmonium?", 0.9).is_empty());
    }

    #[test]
    fn of_words_that_are_not_the_speakers_own_the_model_claims_nothing() {
        let text = "My evenings belong to the harmonium.";
        let claims = vec![claim(text, "owns", "harmonium", 0.9)];
        let foreign = vec![(25..34, 0.8)];
        assert!(
            votes(text, &ReaderOutput { claims: claims.clone(), foreign, ..ReaderOutput::default() })
                .is_empty()
        );
        let foreign = vec![(25..34, 0.2)];
        assert_eq!(votes(text, &ReaderOutput { claims, foreign, ..ReaderOutput::default() }).len(), 1);
    }

    #[test]
    fn what_somebody_else_said_right_before_is_read_and_what_one_said_oneself_is_not() {
        let (said, known) = (event("In Porto."), Gazetteer::default());
        let mut before = [event("Where do you live?")];
        let read = |before: &[Event]| {
            let utterance = Utterance { event: &said, before, known: &known };
            message_before(said.body().unwrap(), &utterance).to_owned()
        };
        assert_eq!((read(&[]), read(&before)), (String::new(), String::new()));
        if let Body::Present(own) = &mut before[0].body {
            own.kind = EventKind::AssistantMessage;
        }
        assert_eq!(read(&before), "Where do you live?");
        if let Body::Present(own) = &mut before[0].body {
            own.session = SessionId::new("another").unwrap();
        }
        assert_eq!(read(&before), "");
    }

    #[test]
    fn names_of_the_model_stand_beside_those_of_the_rules() {
        let text = "Zsömle ate the parcel.";
        let read = PredictedName { span: 0..7, kind: EntityKind::Animal, confidence: 0.9 };
        let mut mentions = Vec::new();
        take_names(text, std::slice::from_ref(&read), &mut mentions);
        assert_eq!((mentions.len(), mentions[0].name.as_str()), (1, "Zsömle"));
        take_names(text, &[read], &mut mentions);
        assert_eq!(mentions.len(), 1, "the same place is taken");
    }
}
