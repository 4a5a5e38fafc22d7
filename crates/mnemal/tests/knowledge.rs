//! What is logged is known, without a model and without being asked to read it.

#![expect(clippy::unwrap_used, reason = "the parts that tests share are tests too")]

use std::sync::Arc;

use mnemal::{
    Act, AsOf, Builder, Confidence, Engine, ErrorKind, ExtractedFact, Extraction, Extractor, InstallationKey,
    Layer, Memory, Message, Object, Predicate, Producer, RuleId, Scope, SessionId, SpaceId, Span, Subject,
    Timestamp, Trust, Utterance, Zone,
};
use mnemal_extract::RuleExtractor;
use mnemal_graph::Chain;
use mnemal_testkit::{ManualClock, SeededIds};

fn builder() -> Builder {
    Engine::builder()
        .with_clock(Arc::new(ManualClock::default()))
        .with_ids(Arc::new(SeededIds::new(6)))
        .with_key(InstallationKey::new([6; 32]))
}

fn memory(builder: Builder) -> Memory {
    builder.in_memory().unwrap().memory(Scope::whole(SpaceId::new("home").unwrap()))
}

async fn tell(memory: &Memory, turn: Message) {
    let day = Timestamp::from_micros(19_723 * 86_400_000_000).unwrap();
    let turn = turn.session(SessionId::new("s").unwrap()).occurred_at(day, Zone::utc());
    let _ack = memory.log(turn).await.unwrap();
}

fn present() -> AsOf {
    AsOf::present(Timestamp::MAX)
}

async fn lines(memory: &Memory, who: &str) -> Vec<String> {
    let portrait = memory.portrait(who, present()).await.unwrap();
    let mut lines: Vec<String> = portrait.facts.iter().map(mnemal::Told::line).collect();
    lines.sort();
    lines
}

// proves: GB-17, BA-07
#[tokio::test]
async fn what_is_logged_is_known_with_the_sentence_and_its_origin() {
    let memory = memory(builder());
    tell(&memory, Message::user("The weather is fine. My sister Anna lives in Oslo with Ben.")).await;
    assert_eq!(lines(&memory, "Anna").await, ["Anna lives in Oslo", "user's sister: Anna"]);
    let anna = memory.portrait("Anna", present()).await.unwrap();
    let home = anna.facts.iter().find(|told| told.line() == "Anna lives in Oslo").unwrap();
    assert_eq!(home.sentences[0].text, "My sister Anna lives in Oslo with Ben.");
    assert_eq!(home.sentences[0].trust, Trust::User);
    let mut company: Vec<&str> = anna.company.iter().map(|(name, _)| name.as_str()).collect();
    company.sort_unstable();
    assert_eq!(company, ["Ben", "Oslo"], "who and what else is named there");
    tell(&memory, Message::user("My sister Anna moved to Bergen.")).await;
    let moved = memory.portrait("Anna", present()).await.unwrap();
    assert!(moved.facts.iter().any(|told| told.line().starts_with("Anna lives in Bergen")));
    assert!(moved.past.iter().any(|told| told.line().starts_with("Anna lives in Oslo")), "no longer current");
}

/// Recognises tickets, which no rule knows.
#[derive(Debug)]
struct Tickets;

impl Extractor for Tickets {
    fn producer(&self) -> Producer {
        Producer { id: "tickets".into(), version: 1 }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let text = utterance.event.kept().map_or("", |kept| kept.content.as_str());
        let Some(start) = text.find("OPS-") else { return Extraction::default() };
        let at = |place: usize| u32::try_from(place).unwrap();
        let span = Span { start: at(start), end: at(start + 6) };
        let ticket = span.of(text).unwrap().to_owned();
        let fact = ExtractedFact {
            rule: RuleId::new("tickets.named").unwrap(),
            predicate: Predicate::new("works_on").unwrap(),
            subject: Subject::Speaker,
            object: Object { key: ticket.to_lowercase(), text: ticket, kind: None, topic: None, span },
            act: Act::Assert,
            attributed_to: None,
            time: None,
            confidence: Confidence::new(0.9),
            span,
            sentence: span,
        };
        Extraction { facts: vec![fact], ..Extraction::default() }
    }
}

// proves: CF-15
#[tokio::test]
async fn rules_read_unless_a_host_brings_a_reader_of_its_own() {
    let told = async |builder: Builder| {
        let memory = memory(builder);
        tell(&memory, Message::user("I live in Oslo. Look at OPS-42 again.")).await;
        lines(&memory, "user").await
    };
    let (home, ticket) = ("user lives in Oslo", "user works on OPS-42");
    assert_eq!(told(builder()).await, [home]);
    assert_eq!(told(builder().with_extractor(Arc::new(Tickets))).await, [ticket]);
    let both = Chain::new(vec![Arc::new(Tickets), Arc::new(RuleExtractor::new())]);
    assert_eq!(told(builder().with_extractor(Arc::new(both))).await, [home, ticket]);
}

// proves: CF-01
#[tokio::test]
async fn vectors_and_the_graph_are_on_and_each_is_switched_off_alone() {
    for (without, has_vectors, has_graph) in
        [(None, true, true), (Some(Layer::Vector), false, true), (Some(Layer::Graph), true, false)]
    {
        let builder = without.into_iter().fold(builder(), Builder::without);
        let memory = memory(builder);
        tell(&memory, Message::user("My sister Anna lives in Oslo.")).await;
        let owner = mnemal::OwnerId::new("rest").unwrap();
        drop(memory.engine().tend(&owner).await.unwrap());
        let found = memory.recall("Anna").await.unwrap();
        assert_eq!((found.hits.len(), found.model.is_some()), (1, has_vectors), "{without:?}");
        match memory.graph().await {
            Ok(graph) => {
                assert_eq!((graph.named("Anna", present()).await.unwrap().len(), has_graph), (1, true));
            }
            Err(error) => assert_eq!((error.kind(), has_graph), (ErrorKind::Unsupported, false)),
        }
    }
}
