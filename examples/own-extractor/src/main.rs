//! Plugs an extractor of one's own in beside the rules of mnemal.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mnemal_core::{
    Act, AsOf, ChannelId, Confidence, EntityFilter, EntityKind, EventId, EventKind, EventStore as _,
    ExtractedFact, Extraction, Extractor, FactFilter, Level, LogEntry, Mention, Metadata, NewEvent, Object,
    Origin, Predicate, Producer, Projector as _, Result, RuleId, SessionId, Span, Subject, Timestamp,
    Utterance, Value, Zone,
};
use mnemal_extract::RuleExtractor;
use mnemal_graph::{Chain, Graph, GraphProjector};
use mnemal_store::MemoryStore;

/// Reads "I'm on PAY-1234" as what the speaker works on.
#[derive(Debug)]
struct Tickets {
    rule: RuleId,
    predicate: Predicate,
}

/// How people here say that they work on a ticket.
const OPENINGS: [&str; 3] = ["I'm on ", "I am on ", "I took "];

impl Tickets {
    fn new() -> Result<Self> {
        Ok(Self { rule: RuleId::new("tickets.on")?, predicate: Predicate::new("works_on")? })
    }

    /// Returns what a text says, if it is a sentence of that form.
    fn claim(&self, text: &str) -> Option<ExtractedFact> {
        let opening = OPENINGS.into_iter().find(|opening| text.starts_with(opening))?;
        let rest = text.get(opening.len()..)?;
        let ticket = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()?;
        let (project, number) = ticket.split_once('-')?;
        let is_ticket = !project.is_empty()
            && project.bytes().all(|byte| byte.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit());
        // A question says nothing.
        if !is_ticket || text.trim_end().ends_with('?') {
            return None;
        }
        let span = |start: usize, end: usize| {
            Some(Span { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? })
        };
        let end = opening.len() + ticket.len();
        Some(ExtractedFact {
            rule: self.rule.clone(),
            predicate: self.predicate.clone(),
            subject: Subject::Speaker,
            object: Object {
                text: ticket.to_owned(),
                key: ticket.to_lowercase(),
                kind: Some(EntityKind::Concept),
                topic: None,
                span: span(opening.len(), end)?,
            },
            act: Act::Assert,
            attributed_to: None,
            time: None,
            confidence: Confidence::new(0.9),
            span: span(0, end)?,
            sentence: span(0, text.len())?,
        })
    }
}

impl Extractor for Tickets {
    fn producer(&self) -> Producer {
        Producer { id: "own/tickets".to_owned(), version: 1 }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let event = utterance.event;
        let may_claim = event.level == Level::User && event.quarantined.is_none() && event.echo.is_empty();
        let Some(kept) = event.body().filter(|kept| may_claim && kept.kind == EventKind::UserMessage) else {
            return Extraction::default();
        };
        let facts: Vec<ExtractedFact> = self.claim(&kept.content).into_iter().collect();
        let mention = |fact: &ExtractedFact| Mention {
            name: fact.object.text.clone(),
            kind: EntityKind::Concept,
            kind_word: None,
            span: fact.object.span,
            is_another: false,
        };
        Extraction { mentions: facts.iter().map(mention).collect(), facts, remarks: Vec::new() }
    }
}

/// What a log holds of the n-th text that the user says.
fn said(number: u8, text: &str) -> Result<LogEntry> {
    let event = NewEvent {
        kind: EventKind::UserMessage,
        content: text.to_owned(),
        session: SessionId::new("example")?,
        channel: ChannelId::new("example")?,
        parent: None,
        speaker: None,
        user: None,
        agent: None,
        occurred_at: Timestamp::from_micros(1_772_355_600_000_000 + i64::from(number) * 60_000_000)?,
        zone: Zone::utc(),
        origin: Origin::UserDirect,
        idempotency_key: None,
        metadata: Metadata::new(),
    };
    Ok(LogEntry {
        id: EventId(u128::from(number) + 1),
        recorded_at: event.occurred_at,
        event,
        index: None,
        quarantined: None,
        echo: Vec::new(),
        body_hash: [number; 32],
    })
}

/// Logs what the user says, lets the graph read it with both extractors, and returns what it knows then: a line for each
/// entity and each fact.
async fn known(texts: &[&str]) -> Result<Vec<String>> {
    let store = Arc::new(MemoryStore::new());
    let entries: Vec<LogEntry> =
        (0..).zip(texts).map(|(number, text)| said(number, text)).collect::<Result<_>>()?;
    store.append(&entries).await?;
    let both = Chain::new(vec![Arc::new(Tickets::new()?), Arc::new(RuleExtractor::new())]);
    let projector = GraphProjector::new(store.clone(), store.clone(), Arc::new(both));
    while projector.step(NonZeroUsize::MIN).await?.behind > 0 {}
    let (graph, now) = (Graph::new(store), AsOf::present(Timestamp::MAX));
    let entities = graph.all(&EntityFilter::all(), now).await?;
    let name = |id| entities.iter().find(|entity| entity.id == id).map_or("?", |entity| entity.name.as_str());
    let mut lines: Vec<String> =
        entities.iter().map(|entity| format!("{}: {}", entity.kind.as_str(), entity.name)).collect();
    for fact in graph.facts(&FactFilter::all(), now).await? {
        let object = match &fact.object {
            Value::Entity(id) => name(*id),
            Value::Literal { text, .. } => text,
        };
        let rules: Vec<&str> = fact.supports.iter().map(|support| support.rule.as_str()).collect();
        lines.push(format!("{} {} {object} ({})", name(fact.subject), fact.predicate, rules.join(", ")));
    }
    Ok(lines)
}

/// Runs work on a store in memory, which waits for nothing.
fn finish<T>(work: impl Future<Output = T>) -> T {
    let (mut work, mut context) = (pin!(work), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(answer) = work.as_mut().poll(&mut context) {
            return answer;
        }
    }
}

const TEXTS: [&str; 3] = ["I'm on PAY-1234 this week.", "I moved to Lyon last month.", "Am I on PAY-1234?"];

fn main() -> Result<()> {
    for line in finish(known(&TEXTS))? {
        println!("{line}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn tickets() -> Tickets {
        Tickets::new().expect("the names are names")
    }

    mnemal_testkit::extractor_conformance!(tickets);

    #[test]
    fn the_graph_knows_what_each_extractor_read() -> Result<()> {
        let lines = finish(known(&TEXTS))?;
        for line in ["concept: PAY-1234", "location: Lyon", "user works_on PAY-1234 (tickets.on)"] {
            assert!(lines.iter().any(|known| known == line), "{line} in {lines:?}");
        }
        assert!(lines.iter().any(|line| line.starts_with("user lives_in Lyon (en.")), "{lines:?}");
        Ok(())
    }
}
