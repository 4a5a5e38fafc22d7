//! The knowledge graph is built from the log, without a model and without an explicit call.

#![expect(clippy::unwrap_used, reason = "the parts that tests share are tests too")]

use std::sync::Arc;

use mnemal::dream::DreamMode;
use mnemal::events::{FactChoice, FactDecision, OperationKind, Selector};
use mnemal::extract::{Act, Confidence, ExtractedFact, Extraction, Object, Subject, Utterance};
use mnemal::graph::{Cardinality, EntityFilter, Value};
use mnemal::ports::Extractor;
use mnemal::types::{InstallationKey, Layer, Predicate, Producer, RuleId, Span, Trust};
use mnemal::{
    AsOf, Builder, Decision, Engine, ErrorKind, Memory, Message, Scope, SessionId, SpaceId, Timestamp, Zone,
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
    tell_on(memory, 19_723, turn).await;
}

/// Logs a turn on a day since 1970.
async fn tell_on(memory: &Memory, day: i64, turn: Message) {
    let day = Timestamp::from_micros(day * 86_400_000_000).unwrap();
    let turn = turn.session(SessionId::new("s").unwrap()).occurred_at(day, Zone::utc());
    let _ack = memory.log(turn).await.unwrap();
}

fn present() -> AsOf {
    AsOf::present(Timestamp::MAX)
}

async fn lines(memory: &Memory, who: &str) -> Vec<String> {
    let profile = memory.facts().entity_profile(who, present()).await.unwrap();
    let mut lines: Vec<String> = profile.facts.iter().map(mnemal::graph::FactView::line).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn a_slip_is_put_right_by_the_next_few_words_or_in_the_same_breath() {
    for (first, second, right, wrong) in [
        ("I live in Whitby.", "No wait, Scarborough.", "lives in Scarborough", "Whitby"),
        ("I drive a Skoda Fabia.", "*Octavia", "Octavia", "Fabia"),
        ("Ich wohne in Husum.", "Moment, in Heide.", "lives in Heide", "Husum"),
        ("Vivo en Soria.", "Perdón, en Lugo.", "lives in Lugo", "Soria"),
        ("J'habite à Vannes.", "pardon, Quimper", "lives in Quimper", "Vannes"),
        ("Moro em Faro.", "quer dizer, em Beja", "lives in Beja", "Faro"),
        ("我住在洛阳。", "不对，开封", "lives in 开封", "洛阳"),
        ("Good morning.", "I live in Whitby, er, I mean, in Scarborough.", "lives in Scarborough", "Whitby"),
        ("Hallo.", "Ich wohne in Husum, nein, in Heide.", "lives in Heide", "Husum"),
    ] {
        let memory = memory(builder());
        tell(&memory, Message::user(first)).await;
        tell(&memory, Message::user(second)).await;
        let held = lines(&memory, "user").await;
        assert!(held.iter().any(|line| line.contains(right)), "{first} {second}: {held:?}");
        assert!(!held.iter().any(|line| line.contains(wrong)), "{first} {second}: {held:?}");
    }
}

#[tokio::test]
async fn what_only_sounds_like_a_slip_puts_nothing_right() {
    for (first, second, still) in [
        ("I live in Whitby.", "No wait, is Scarborough farther north?", "lives in Whitby"),
        ("I live in Whitby.", "Wait, Scarborough is where my sister lives.", "lives in Whitby"),
        ("I work at Corvane.", "no, the other file, the one with the sums", "works at Corvane"),
        ("Ich wohne in Husum.", "Sorry, ich meinte die andere Spalte.", "lives in Husum"),
        ("Hello.", "I live in Whitby, sorry, I forgot to say.", "lives in Whitby"),
    ] {
        let memory = memory(builder());
        tell(&memory, Message::user(first)).await;
        tell(&memory, Message::user(second)).await;
        let held = lines(&memory, "user").await;
        assert!(held.iter().any(|line| line.contains(still)), "{first} {second}: {held:?}");
    }
}

#[tokio::test]
async fn what_is_given_up_is_no_longer_told_in_whatever_words() {
    for (first, second, gone) in [
        ("I work as a welder at Corvane.", "Corvane showed me the door on Monday.", "welder"),
        ("I play the bassoon.", "You remember the bassoon? That's over.", "bassoon"),
        ("I live in Fleetwood.", "We packed up and left Fleetwood.", "Fleetwood"),
        ("My dentist is Dr. Bolt.", "Dr. Bolt has retired, I see Dr. Fenn now.", "user's dentist: Bolt"),
        ("Ich wohne in Husum.", "Husum liegt hinter uns.", "Husum"),
        ("Ich arbeite bei der Corvane AG.", "Die Corvane AG hat mich vor die Tür gesetzt.", "Corvane"),
        ("Trabajo en Corvane.", "Corvane cerró y me quedé en la calle.", "Corvane"),
        ("J'habite à Vannes.", "On a quitté Vannes.", "Vannes"),
        ("我住在洛阳。", "洛阳的房子退租了。", "洛阳"),
        ("I'm allergic to walnuts.", "So nuts can go back in.", "walnuts"),
        ("Ich bin gegen Bienengift allergisch.", "Vergiss also das mit den Bienen.", "Bienengift"),
    ] {
        let memory = memory(builder());
        tell(&memory, Message::user(first)).await;
        let held = lines(&memory, "user").await;
        assert!(held.iter().any(|line| line.contains(gone)), "{first}: {held:?}");
        tell_on(&memory, 19_756, Message::user(second)).await;
        let held = lines(&memory, "user").await;
        assert!(!held.iter().any(|line| line.contains(gone)), "{first} {second}: {held:?}");
    }
}

#[tokio::test]
async fn what_only_sounds_given_up_is_still_told() {
    for (first, second, still) in [
        ("I play the cello and the flute.", "I gave up the flute.", "cello"),
        ("I work at Corvane.", "I'm off from Corvane for two weeks of holiday.", "Corvane"),
        ("I live in Fleetwood.", "I had left Fleetwood once before.", "Fleetwood"),
        ("Ich wohne in Husum.", "Meine Eltern sind aus Husum ausgezogen.", "Husum"),
        ("Vivo en Soria.", "Yo ya había dejado Soria una vez.", "Soria"),
        ("我住在洛阳。", "我表哥从洛阳搬走了。", "洛阳"),
    ] {
        let memory = memory(builder());
        tell(&memory, Message::user(first)).await;
        tell_on(&memory, 19_756, Message::user(second)).await;
        let held = lines(&memory, "user").await;
        assert!(held.iter().any(|line| line.contains(still)), "{first} {second}: {held:?}");
    }
}

// proves: GB-17, BA-07
#[tokio::test]
async fn what_is_logged_is_known_with_the_sentence_and_its_origin() {
    let memory = memory(builder());
    tell(&memory, Message::user("The weather is fine. My sister Anna lives in Oslo with Ben.")).await;
    assert_eq!(lines(&memory, "Anna").await, ["Anna lives in Oslo", "user's sister: Anna"]);
    let anna = memory.facts().entity_profile("Anna", present()).await.unwrap();
    let home = anna.facts.iter().find(|told| told.line() == "Anna lives in Oslo").unwrap();
    assert_eq!(home.sentences[0].text, "My sister Anna lives in Oslo with Ben.");
    assert_eq!(home.sentences[0].trust, Trust::User);
    let mut company: Vec<&str> = anna.company.iter().map(|(name, _)| name.as_str()).collect();
    company.sort_unstable();
    assert_eq!(company, ["Ben", "Oslo"], "who and what else is named there");
    tell(&memory, Message::user("My sister Anna moved to Bergen.")).await;
    let moved = memory.facts().entity_profile("Anna", present()).await.unwrap();
    assert!(moved.facts.iter().any(|told| told.line().starts_with("Anna lives in Bergen")));
    assert!(moved.past.iter().any(|told| told.line().starts_with("Anna lives in Oslo")), "no longer current");
}

/// An extractor of ticket numbers, which no built-in rule covers.
#[derive(Debug)]
struct Tickets;

impl Extractor for Tickets {
    fn producer(&self) -> Producer {
        Producer { id: "tickets".into(), version: 1 }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let text = utterance.event.body().map_or("", |kept| kept.content.as_str());
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
        let owner = mnemal::types::OwnerId::new("rest").unwrap();
        drop(memory.admin().engine().maintain(&owner).await.unwrap());
        let found = memory.recall("Anna").await.unwrap();
        assert_eq!((found.hits.len(), found.model.is_some()), (1, has_vectors), "{without:?}");
        match memory.facts().graph().await {
            Ok(graph) => {
                assert_eq!(
                    (graph.entities_named("Anna", present()).await.unwrap().len(), has_graph),
                    (1, true)
                );
            }
            Err(error) => assert_eq!((error.kind(), has_graph), (ErrorKind::Unsupported, false)),
        }
    }
}

/// An extractor for lines such as `Anna sits_at door`.
#[derive(Debug)]
struct Lines;

impl Extractor for Lines {
    fn producer(&self) -> Producer {
        Producer { id: "lines".into(), version: 1 }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let text = utterance.event.body().map_or("", |kept| kept.content.as_str());
        let span = Span::whole(text).unwrap();
        let claim = |line: &str| {
            let [subject, predicate, object] =
                <[&str; 3]>::try_from(line.split(' ').collect::<Vec<_>>()).ok()?;
            Some(ExtractedFact {
                rule: RuleId::new("lines.claim").unwrap(),
                predicate: Predicate::new(predicate).ok()?,
                subject: Subject::Named(subject.to_owned()),
                object: Object { key: object.into(), text: object.into(), kind: None, topic: None, span },
                act: Act::Assert,
                attributed_to: None,
                time: None,
                confidence: Confidence::new(0.9),
                span,
                sentence: span,
            })
        };
        Extraction { facts: text.lines().filter_map(claim).collect(), ..Extraction::default() }
    }
}

/// Names that are pairwise dissimilar.
fn names(n: usize) -> impl Iterator<Item = String> {
    const FIRST: [&str; 6] = ["Bra", "Clo", "Dyf", "Gur", "Hem", "Jos"];
    const LAST: [&str; 6] = ["kant", "lipp", "mord", "nuss", "quev", "zwil"];
    LAST.iter().flat_map(|last| FIRST.iter().map(move |first| format!("{first}{last}"))).take(n)
}

fn day(day: i64) -> Timestamp {
    Timestamp::from_micros((19_723 + day) * 86_400_000_000).unwrap()
}

/// A memory with [`Lines`] as its extractor, a year after the turns.
fn lined() -> Memory {
    let clock = Arc::new(ManualClock::at(day(365)));
    memory(builder().with_clock(clock).with_extractor(Arc::new(Lines)))
}

async fn say(memory: &Memory, on: i64, who: &str, text: String) {
    let session = SessionId::new(format!("s-{who}")).unwrap();
    let _ack =
        memory.log(Message::user(text).session(session).occurred_at(day(on), Zone::utc())).await.unwrap();
}

// proves: NB-05, RB-72 (a description, told by an extractor or the host; what a host keeps of an entity)
#[tokio::test]
async fn an_entity_is_described_and_keeps_what_a_host_notes_as_facts_of_its_own_predicates() {
    let memory = lined();
    let told = async || {
        let profile = memory.facts().entity_profile("Anna", present()).await.unwrap().value;
        let own = profile.metadata().into_iter().map(|(name, value)| format!("{name}={value}"));
        (profile.description().map(str::to_owned), own.collect::<Vec<_>>().join(" "), profile.facts.len())
    };
    let is = |said: Option<&str>, own: &str, facts: usize| (said.map(str::to_owned), own.to_owned(), facts);
    say(&memory, 1, "a", "Anna likes tea\nBen badge 3".to_owned()).await;
    assert_eq!(
        told().await,
        is(None, "", 1),
        "what everybody may say is no metadata, nor what is said of another"
    );
    say(&memory, 2, "a", "Anna description bassoonist\nAnna badge 17\nAnna desk 4".to_owned()).await;
    say(&memory, 3, "a", "Anna badge 18".to_owned()).await;
    assert_eq!(told().await, is(Some("bassoonist"), "badge=18 desk=4", 5));

    let anna = memory.facts().entity_profile("Anna", present()).await.unwrap().value.entity.id;
    let decided = async |predicate: &str, value: &str, choice: FactChoice| {
        let object = Value::Literal { text: value.to_owned(), key: mnemal::graph::value_key(value) };
        let predicate = Predicate::new(predicate).unwrap();
        let fact =
            FactDecision { subject: anna, predicate, topic: None, object, choice, sources: Vec::new() };
        memory.facts().decide(Decision::Fact(fact)).await.unwrap().value.id
    };
    let add = FactChoice::Add { valid_at: None, invalid_at: None };
    let described = decided("description", "Leads the town orchestra.", add).await;
    assert_eq!(told().await, is(Some("Leads the town orchestra."), "badge=18 desk=4", 6));
    let _done = memory.facts().decide(memory.facts().undoing(described).await.unwrap()).await.unwrap();
    decided("badge", "18", FactChoice::Reject).await;
    assert_eq!(told().await, is(Some("bassoonist"), "badge=17 desk=4", 4), "wrong is what was wrong");

    let source = memory.facts().entity_profile("Anna", present()).await.unwrap().value;
    let source = source.facts.iter().find(|told| told.object == "bassoonist").unwrap().events();
    assert!(memory.forget(Selector::Events(source)).await.unwrap().verified());
    assert_eq!(told().await, is(None, "", 1), "it goes with the words that gave it");
}

// proves: NX-09.4
#[tokio::test]
async fn a_predicate_of_the_host_is_learnt_by_the_dream_told_and_taken_back() {
    let memory = lined();
    for who in names(36) {
        say(&memory, 1, &who, format!("{who} sits_at door")).await;
        say(&memory, 20, &who, format!("{who} sits_at window")).await;
    }
    let first = names(1).next().unwrap();
    let seats = async || lines(&memory, &first).await.len();
    assert_eq!(seats().await, 2, "a set until something is learnt");
    let owner = mnemal::types::OwnerId::new("test").unwrap();
    let dry = memory.admin().engine().dream(&owner, DreamMode::Dry).await.unwrap();
    assert_eq!((dry.accepted().count(), seats().await), (1, 2));
    let cycle = memory.admin().engine().dream(&owner, DreamMode::Asked).await.unwrap();
    let [done] = cycle.judged.as_slice() else { unreachable!("{:?}", cycle.judged) };
    let operation = &done.proposal.operation;
    let sits_at = Predicate::new("sits_at").unwrap();
    assert_eq!(
        operation.kind,
        OperationKind::Cardinality { predicate: sits_at.clone(), cardinality: Cardinality::Now }
    );
    assert_eq!((operation.because.contains("36 one after another"), operation.shown.len()), (true, 72));
    assert_eq!(seats().await, 1);
    let again = memory.admin().engine().dream(&owner, DreamMode::Asked).await.unwrap();
    assert_eq!(again.judged, [], "it is known");
    let undo = memory.facts().undoing(done.event.unwrap()).await.unwrap();
    assert!(memory.facts().decide(undo).await.unwrap().gaps.is_empty());
    assert_eq!(seats().await, 2);
    let again = memory.admin().engine().dream(&owner, DreamMode::Asked).await.unwrap();
    assert_eq!((again.accepted().count(), seats().await), (0, 2), "what a person took back stays so");
}

// proves: NX-09.5
#[tokio::test]
async fn a_shipped_predicate_that_its_claims_contradict_is_a_finding_and_a_person_decides() {
    let memory = lined();
    for who in names(20) {
        say(&memory, 1, &who, format!("{who} lives_in Oslo\n{who} lives_in Rome")).await;
    }
    let owner = mnemal::types::OwnerId::new("test").unwrap();
    assert_eq!(
        memory.admin().engine().dream(&owner, DreamMode::Asked).await.unwrap().judged,
        [],
        "never by itself"
    );
    let measured = async || {
        let all = memory.admin().quality().await.unwrap();
        all.into_iter().find(|measure| measure.name == "predicates").unwrap()
    };
    let found = measured().await;
    assert_eq!((found.is_finding, found.of, found.value.to_bits()), (true, 1, 1.0_f64.to_bits()));
    assert!(
        found.examples[0].starts_with("lives_in is now (shipped): of 20 subjects 20 hold two values at once")
    );
    let lives_in = Predicate::new("lives_in").unwrap();
    let decision = mnemal::graph::holding(lives_in, Cardinality::Many).unwrap();
    let decided = memory.facts().decide(decision).await.unwrap().value.id;
    let found = measured().await;
    assert_eq!((found.is_finding, found.examples.len()), (false, 1), "it is told, and as it should be");
    let undo = memory.facts().undoing(decided).await.unwrap();
    let _ack = memory.facts().decide(undo).await.unwrap();
    assert!(measured().await.is_finding);
    let trip = Predicate::new("visited").unwrap();
    let refused = mnemal::graph::holding(trip, Cardinality::Many).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}

// proves: BA-20 (checked, journaled, taken back)
#[tokio::test]
async fn who_may_be_one_is_proposed_by_the_dream_and_decided_by_a_person() {
    let memory = lined();
    say(&memory, 1, "a", "Jonathon likes Oslo".to_owned()).await;
    say(&memory, 1, "b", "Jonathan likes Oslo".to_owned()).await;
    let owner = mnemal::types::OwnerId::new("test").unwrap();
    let known = async || {
        memory.facts().graph().await.unwrap().all(&EntityFilter::all(), present()).await.unwrap().len()
    };
    let before = known().await;
    let cycle = memory.admin().engine().dream(&owner, DreamMode::Asked).await.unwrap();
    let [done] = cycle.judged.as_slice() else { unreachable!("{:?}", cycle.judged) };
    assert_eq!((done.pass, &done.refused, known().await), ("lookalikes", &None, before));
    let OperationKind::Suggest { one, into } = done.proposal.operation.kind else { unreachable!("{done:?}") };
    let waits = memory.facts().suggestions(10).await.unwrap().value;
    assert_eq!(waits.iter().map(|found| found.proposal).collect::<Vec<_>>(), [done.event]);
    let merged = memory.facts().decide(Decision::Merge { one, into }).await.unwrap().value.id;
    assert_eq!(
        (known().await, memory.facts().suggestions(10).await.unwrap().value),
        (before - 1, Vec::new())
    );
    let _ack = memory.facts().decide(memory.facts().undoing(merged).await.unwrap()).await.unwrap();
    let _ack =
        memory.facts().decide(memory.facts().undoing(done.event.unwrap()).await.unwrap()).await.unwrap();
    assert_eq!(memory.admin().engine().dream(&owner, DreamMode::Asked).await.unwrap().judged, []);
    assert_eq!((known().await, memory.facts().suggestions(10).await.unwrap().value), (before, Vec::new()));
}
