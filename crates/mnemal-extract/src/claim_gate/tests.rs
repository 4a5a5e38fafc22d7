//! Admission of claims from outside the rules: accepted and refused cases.

use mnemal_core::{
    Act, Body, ChannelId, Confidence, Event, EventId, EventKind, Gazetteer, Level, Metadata, NewEvent,
    Origin, Predicate, RuleId, Seq, SessionId, Span, Timestamp, Zone,
};

use super::*;

fn event(text: &str, origin: Origin) -> Event {
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

fn span_of(text: &str, words: &str) -> Span {
    let start = text.find(words).unwrap();
    Span { start: u32::try_from(start).unwrap(), end: u32::try_from(start + words.len()).unwrap() }
}

fn admitted(
    event: &Event,
    quote: &str,
    subject: Subject,
    object: &str,
) -> Result<ExtractedFact, &'static str> {
    let text = event.body().unwrap().content.clone();
    let span = span_of(&text, quote);
    let claim = ExtractedFact {
        rule: RuleId::new("model").unwrap(),
        predicate: Predicate::new("lives_in").unwrap(),
        subject,
        object: Object {
            text: object.to_owned(),
            key: String::new(),
            kind: None,
            topic: None,
            span: span_of(&text, object),
        },
        act: Act::Assert,
        attributed_to: None,
        time: None,
        confidence: Confidence::new(0.6),
        span,
        sentence: span,
    };
    admit(&Utterance { event, before: &[], known: &Gazetteer::default() }, claim)
}

fn lives(text: &str) -> Result<ExtractedFact, &'static str> {
    admitted(&event(text, Origin::UserDirect), text.split('|').next().unwrap(), Subject::Speaker, "Lyon")
}

#[test]
fn a_plain_statement_passes_with_its_sentence_and_its_key() {
    let text = "So much to do. My place is in Lyon these days.";
    let of = event(text, Origin::UserDirect);
    let claim = admitted(&of, "My place is in Lyon", Subject::Speaker, "Lyon").unwrap();
    assert_eq!(claim.sentence.of(text), Some("My place is in Lyon these days."));
    assert_eq!((claim.object.key.as_str(), claim.object.kind.is_some()), ("lyon", true));
    let anna = admitted(&of, "My place is in Lyon", Subject::Named(" Anna's, ".to_owned()), "Lyon").unwrap();
    assert_eq!(anna.subject, Subject::Named("Anna".to_owned()));
}

#[test]
fn what_is_asked_denied_imagined_or_said_by_others_does_not_pass() {
    for text in [
        "Do I live in Lyon?",
        "I don't live in Lyon.",
        "If I lived in Lyon, I would own a boat.",
        "I want to live in Lyon.",
        "I used to live in Lyon.",
        "> I live in Lyon",
        "Imagine I live in Lyon.",
    ] {
        assert!(lives(text).is_err(), "{text}");
    }
    assert!(lives("I live in Lyon.").is_ok());
    for origin in [Origin::Assistant, Origin::Document, Origin::ToolExternal, Origin::Import] {
        let of = event("I live in Lyon.", origin);
        assert_eq!(of.level == Level::User, origin.level() == Level::User);
        assert!(admitted(&of, "I live in Lyon", Subject::Speaker, "Lyon").is_err(), "{origin:?}");
    }
    let mut held = event("I live in Lyon.", Origin::UserDirect);
    held.echo = vec![Span { start: 0, end: 15 }];
    assert!(admitted(&held, "I live in Lyon", Subject::Speaker, "Lyon").is_err(), "an echo");
}
