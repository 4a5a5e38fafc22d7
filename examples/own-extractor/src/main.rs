//! Plugs an extractor of one's own in beside the rules of mnemal.

use mnemal_core::{
    Act, Body, ChannelId, Confidence, EntityKind, Event, EventId, EventKind, ExtractedFact, Extraction, Extractor,
    Gazetteer, Level, Mention, Metadata, NewEvent, Object, Origin, Predicate, Producer, Result, RuleId, Seq, SessionId,
    Span, Subject, Timestamp, Utterance, Zone,
};
use mnemal_extract::RuleExtractor;

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
                kind: Some(EntityKind::Identifier),
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
        let Some(kept) = event.kept().filter(|kept| may_claim && kept.kind == EventKind::UserMessage) else {
            return Extraction::default();
        };
        let facts: Vec<ExtractedFact> = self.claim(&kept.content).into_iter().collect();
        let mention = |fact: &ExtractedFact| Mention {
            name: fact.object.text.clone(),
            kind: EntityKind::Identifier,
            span: fact.object.span,
        };
        Extraction { mentions: facts.iter().map(mention).collect(), facts, remarks: Vec::new() }
    }
}

/// The event that a log would hold for a text of the user.
fn said(text: &str) -> Result<Event> {
    let body = NewEvent {
        kind: EventKind::UserMessage,
        content: text.to_owned(),
        session: SessionId::new("example")?,
        channel: ChannelId::new("example")?,
        parent: None,
        speaker: None,
        user: None,
        agent: None,
        occurred_at: Timestamp::from_micros(1_772_355_600_000_000)?,
        zone: Zone::utc(),
        origin: Origin::UserDirect,
        idempotency_key: None,
        metadata: Metadata::new(),
    };
    Ok(Event {
        id: EventId(1),
        seq: Seq(1),
        recorded_at: body.occurred_at,
        role: body.kind.role(),
        trust: body.origin.trust(),
        level: body.origin.level(),
        quarantined: None,
        echo: Vec::new(),
        body: Body::Kept(Box::new(body)),
    })
}

fn main() -> Result<()> {
    let chain: [Box<dyn Extractor>; 2] = [Box::new(Tickets::new()?), Box::new(RuleExtractor::new())];
    for text in ["I'm on PAY-1234 this week.", "I moved to Lyon last month.", "Am I on PAY-1234?"] {
        let event = said(text)?;
        let known = Gazetteer::default();
        println!("{text}");
        for extractor in &chain {
            let found = extractor.extract(&Utterance { event: &event, before: &[], known: &known });
            for fact in found.facts {
                println!("  {} {} ({})", fact.predicate, fact.object.text, fact.rule);
            }
        }
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
    fn a_ticket_is_what_somebody_works_on() -> Result<()> {
        let event = said("I'm on PAY-1234 this week.")?;
        let known = Gazetteer::default();
        let found = Tickets::new()?.extract(&Utterance { event: &event, before: &[], known: &known });
        assert_eq!(found.facts[0].object.text, "PAY-1234");
        Ok(())
    }
}
