//! Accepted and rejected claims of a model.

use mnemal_core::{Body, Confidence, ErrorKind, Event, EventId, EventKind, Gazetteer, ModelId, Usage};
use mnemal_testkit::Records;

use super::*;

const MESSAGES: [&str; 3] =
    ["I moved to Lyon in March.", "My sister Anna works at Fjordbank, 3 days a week.", "Is it raining?"];

fn events() -> Vec<Event> {
    let mut records = Records::new(1);
    let event = |(seq, text): (u64, &str)| {
        let entry = records.turn("s", text).unwrap();
        assert!(matches!(entry.event.kind, EventKind::UserMessage));
        Event {
            id: EventId(u128::from(seq)),
            seq: mnemal_core::Seq(seq),
            recorded_at: entry.recorded_at,
            role: entry.event.kind.role(),
            trust: entry.event.origin.trust(),
            level: entry.event.origin.level(),
            quarantined: None,
            echo: Vec::new(),
            body: Body::Present(Box::new(entry.event)),
        }
    };
    (1..).zip(MESSAGES).map(event).collect()
}

fn extractor() -> ModelClaims {
    let names = ["lives_in", "works_for", "has_relative"];
    ModelClaims::new(Instructions::extract(), names.map(|name| Predicate::new(name).unwrap()).to_vec())
}

fn familiar() -> ExtractionContext {
    ExtractionContext {
        entities: vec![
            ("Oslo".to_owned(), EntityKind::Location),
            ("Anna Berg".to_owned(), EntityKind::Person),
        ],
        topics: vec!["sailing".to_owned()],
        sources: Vec::new(),
    }
}

fn read(text: &str) -> Result<Vec<Extraction>> {
    let (events, known) = (events(), Gazetteer::default());
    let utterances: Vec<Utterance<'_>> =
        events.iter().map(|event| Utterance { event, before: &[], known: &known }).collect();
    let model = ModelId::new("m").unwrap();
    let completion = Completion { text: text.to_owned(), model, usage: Usage::default() };
    extractor().parse(&utterances, &familiar(), &completion)
}

fn claim(message: i64, quote: &str, subject: &str, predicate: &str, object: &str) -> Value {
    json!({"message": message, "quote": quote, "subject": subject, "relation": predicate, "value": object, "why": 1})
}

fn answer(claims: &[Value]) -> String {
    json!({"claims": claims}).to_string()
}

fn lyon() -> Value {
    claim(1, "I moved to Lyon", "user", "lives_in", "lyon")
}

fn bank() -> Value {
    claim(2, "My sister Anna works at Fjordbank", "Anna", "works_for", "Fjordbank")
}

// proves: AD-34 (small integers)
#[test]
fn messages_are_numbered_and_no_id_is_shown() {
    let (events, known) = (events(), Gazetteer::default());
    let utterances: Vec<Utterance<'_>> =
        events.iter().map(|event| Utterance { event, before: &[], known: &known }).collect();
    let prompt = extractor().prompt(&utterances, &ExtractionContext::default());
    assert!(prompt.material.starts_with("Messages:\n1: I moved"), "{}", prompt.material);
    assert!(prompt.material.contains("\n1: I moved to Lyon in March.\n2: My sister"), "{}", prompt.material);
    for event in &events {
        assert!(!format!("{prompt:?}").contains(&event.id.to_string()));
    }
    assert!(prompt.instructions.contains("lives_in, works_for, has_relative"));
    let schema: Value = serde_json::from_str(prompt.schema.as_deref().unwrap()).unwrap();
    assert_eq!(schema["required"], json!(["claims"]));
    assert_eq!(prompt.most, TokenCount(700));
}

// proves: AD-34 (small integers; a number out of range is dropped)
#[test]
fn whom_and_what_is_known_is_told_by_number() {
    let (events, known) = (events(), Gazetteer::default());
    let utterances: Vec<Utterance<'_>> =
        events.iter().map(|event| Utterance { event, before: &[], known: &known }).collect();
    let prompt = extractor().prompt(&utterances, &familiar());
    let told = "Known names:\n1: Oslo (location)\n2: Anna Berg (person)\n\nKnown topics:\n1: sailing\n\nMessages:\n1: ";
    assert!(prompt.material.starts_with(told), "{}", prompt.material);
    let of = |number: &str| claim(2, "My sister Anna works at Fjordbank", number, "works_for", "Fjordbank");
    let found = read(&answer(&[of("2")])).unwrap();
    assert_eq!(found[1].facts[0].subject, Subject::Named("Anna".to_owned()), "the words of the message");
    for wrong in ["0", "1", "3", "99999999999999999999999"] {
        let found = read(&answer(&[lyon(), of(wrong)])).unwrap();
        assert_eq!((found[1].facts.len(), found[0].remarks.len()), (0, 1), "{wrong}");
    }
}

// proves: BA-17 (each item names its event and cites a span of it)
#[test]
fn a_claim_has_its_own_message_and_its_own_words() {
    let found = read(&answer(&[bank(), lyon()])).unwrap();
    let of = |place: usize| found[place].facts.first().unwrap();
    assert_eq!((found[0].facts.len(), found[1].facts.len(), found[2].facts.len()), (1, 1, 0));
    assert_eq!(of(0).object.text, "Lyon", "as the message writes it");
    assert_eq!(of(0).object.span.of(MESSAGES[0]), Some("Lyon"));
    assert_eq!(of(1).span.of(MESSAGES[1]), Some("My sister Anna works at Fjordbank"));
    assert_eq!((&of(0).subject, &of(1).subject), (&Subject::Speaker, &Subject::Named("Anna".to_owned())));
    assert!(of(0).confidence < Confidence::ACTIVE, "a model alone makes no fact");
    let sister = claim(2, "My sister Anna works at Fjordbank", "my sister", "works_for", "Fjordbank");
    let found = read(&answer(&[sister])).unwrap();
    assert_eq!(found[1].facts[0].subject, Subject::Relation { role: "sister".to_owned(), name: None });
}

#[test]
fn what_was_not_said_is_dropped_and_the_rest_is_kept() {
    for wrong in [
        claim(0, "I moved to Lyon", "user", "lives_in", "Lyon"),
        claim(4, "I moved to Lyon", "user", "lives_in", "Lyon"),
        claim(-1, "I moved to Lyon", "user", "lives_in", "Lyon"),
        claim(2, "I moved to Lyon", "user", "lives_in", "Lyon"),
        claim(1, "I moved to Paris", "user", "lives_in", "Paris"),
        claim(1, "I moved to Lyon", "user", "lives_in", "Lyo"),
        claim(1, "I moved to Lyon", "user", "lives_in", "March"),
        claim(1, "I moved to Lyon", "user", "adores", "Lyon"),
        claim(1, "I moved to Lyon", "Bob", "lives_in", "Lyon"),
        claim(1, "I moved to Lyon", "Lyon", "lives_in", "Lyon"),
        claim(2, "works at Fjordbank, 4 days", "Anna", "works_for", "Fjordbank"),
        claim(1, "", "user", "lives_in", ""),
        json!({"message": "one"}),
        json!("words"),
    ] {
        let found = read(&answer(&[lyon(), bank(), wrong.clone()])).unwrap();
        assert_eq!((found[0].facts.len(), found[1].facts.len()), (1, 1), "{wrong}");
        assert_eq!(found[0].remarks.len(), 1, "{wrong}");
    }
}

#[test]
fn an_answer_that_is_mostly_wrong_is_none() {
    let wrong = || claim(9, "I moved to Lyon", "user", "lives_in", "Lyon");
    for text in
        [answer(&[wrong()]), answer(&[lyon(), wrong(), wrong()]), "no".to_owned(), "{\"claims\":".to_owned()]
    {
        assert_eq!(read(&text).unwrap_err().kind(), ErrorKind::Unsupported, "{text}");
    }
    assert!(read("{\"claims\":[]}").unwrap().iter().all(|of| of.facts.is_empty() && of.remarks.is_empty()));
}

#[test]
fn words_are_found_whole() {
    let of = |text: &'static str, words| {
        Span::whole(text).unwrap().find(text, words).and_then(|span| span.of(text))
    };
    assert_eq!(of("Ann met Anna.", "anna"), Some("Anna"));
    assert_eq!(of("Annabel met Anna", "ann"), None);
    assert_eq!(of("It costs 150 and 15 more", "15"), Some("15"));
    assert_eq!(of("我住在上海。", "上海"), Some("上海"));
    assert_eq!(of("Crème brûlée!", "brûlée"), Some("brûlée"));
}
