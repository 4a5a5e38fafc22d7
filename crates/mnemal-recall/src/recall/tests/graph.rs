//! Graph signals in a ranking, and the ranking without them.

use std::sync::Arc;

use mnemal_core::{
    Act, Advance, AsOf, Confidence, DeadLetter, Edition, Entity, EntityFilter, EntityId, EntityKind,
    EntityName, Fact, FactFilter, FactId, FactStatus, GraphDelta, GraphStore, Level, MentionFilter,
    MentionRow, Predicate, Producer, Projection, RuleId, Source, Span, Support, Trust, Value,
};

use super::*;

const ADA: EntityId = EntityId(1);
const BEN: EntityId = EntityId(2);
const LISBON: EntityId = EntityId(3);
const HUBBLE: EntityId = EntityId(4);

fn source(at: usize) -> Source {
    Source { event: place(at), span: Span { start: 0, end: 1 } }
}

fn noon() -> Timestamp {
    Timestamp::from_micros(NOON).unwrap()
}

fn producer() -> Producer {
    Producer { id: "test/graph".to_owned(), version: 1 }
}

fn entity(id: EntityId, kind: EntityKind, names: &[&str], at: usize) -> Entity {
    let name = |text: &&str| EntityName {
        text: (*text).to_owned(),
        key: text.to_lowercase(),
        source: place(at),
        occurred_at: noon(),
        recorded_at: noon(),
        expired_at: None,
    };
    Entity {
        id,
        kind,
        kind_word: None,
        name: names.first().map_or("", |name| *name).to_owned(),
        made_as: String::new(),
        names: names.iter().map(name).collect(),
        chosen: Vec::new(),
        roles: Vec::new(),
        merges: Vec::new(),
        identity_claims: Vec::new(),
        sources: vec![place(at)],
        decisions: Vec::new(),
        created_at: noon(),
        producer: producer(),
    }
}

fn fact(subject: EntityId, predicate: &str, at: usize) -> Fact {
    let object = Value::Literal { text: "something".to_owned(), key: "something".to_owned() };
    let support = Support {
        source: source(at),
        rule: RuleId::new("test").unwrap(),
        subject,
        object: object.clone(),
        act: Act::Assert,
        valid_at: None,
        invalid_at: None,
        grain: None,
        occurred_at: noon(),
        recorded_at: noon(),
        session: SessionId::new("one").unwrap(),
        speaker: None,
        trust: Trust::User,
        level: Level::User,
        confidence: Confidence::new(0.9),
    };
    Fact {
        id: FactId(place(at).0),
        subject,
        predicate: Predicate::new(predicate).unwrap(),
        topic: None,
        object,
        act: Act::Assert,
        valid_at: None,
        invalid_at: None,
        valid_grain: None,
        invalid_grain: None,
        created_at: noon(),
        expired_at: None,
        status: FactStatus::Active,
        superseded: None,
        supports: vec![support],
        trust: Trust::User,
        level: Level::User,
        producer: producer(),
    }
}

fn mention(entity: EntityId, at: usize) -> MentionRow {
    let session = SessionId::new("one").unwrap();
    MentionRow { source: source(at), entity, session, occurred_at: noon() }
}

/// Marks the chat as processed by the graph up to this event number.
fn read(store: &MemoryStore, up_to: u64) {
    let delta = GraphDelta {
        entities: vec![
            entity(ADA, EntityKind::Person, &["Ada", "Countess"], 0),
            entity(BEN, EntityKind::Person, &["Ben"], 1),
            entity(LISBON, EntityKind::Location, &["Lisbon"], 6),
        ],
        facts: vec![fact(ADA, "studies", 6), fact(BEN, "did", 17)],
        mentions: vec![mention(ADA, 0), mention(LISBON, 6)],
        ..GraphDelta::default()
    };
    let next = Cursor(Some(mnemal_core::Seq(up_to)));
    let expect = ready(Projection::<GraphDelta>::cursor(store)).unwrap();
    ready(store.apply(&delta, &Advance { expect, next, dead: Vec::new(), revived: Vec::new() })).unwrap();
}

/// The hits with a part for a signal, by index in the chat.
fn with(recall: &Recall, question: &str, signal: &str) -> Vec<EventId> {
    let request = RecallRequest { limit: NonZeroUsize::new(50).unwrap(), ..RecallRequest::new(question) };
    let (_, answer, gaps) = ask(recall, &request);
    assert_eq!(gaps, []);
    let adds = |hit: &&crate::Hit| hit.parts.iter().any(|part| part.name == signal && part.value > 0.0);
    let mut places: Vec<EventId> = answer.hits.iter().filter(adds).map(|hit| hit.event.id).collect();
    places.sort_unstable();
    places
}

#[test]
fn a_fact_counts_that_is_asked_for_and_is_about_the_one_who_is_named() {
    let store = store(&chat());
    read(&store, 22);
    let recall = recall(&store);
    assert_eq!(with(&recall, "Which classes has Ada joined?", "fact_support"), [place(6)]);
    assert_eq!(
        with(&recall, "Which classes has the Countess joined?", "fact_support"),
        [place(6)],
        "by another name"
    );
    assert_eq!(with(&recall, "Which classes has Ben joined?", "fact_support"), []);
    assert_eq!(with(&recall, "Which pets has Ada?", "fact_support"), [], "another predicate");
    assert_eq!(
        with(&recall, "When did Ada join classes?", "fact_support"),
        [],
        "the graph is not asked for a time"
    );
}

#[test]
fn a_thing_of_the_kind_counts_where_the_one_who_is_named_speaks_of_it() {
    let store = store(&chat());
    read(&store, 22);
    let recall = recall(&store);
    assert_eq!(with(&recall, "Which city did Ada go to?", "kind"), [place(6)]);
    assert_eq!(with(&recall, "Which city did Ben go to?", "kind"), []);
    assert_eq!(with(&recall, "Which book did Ada take?", "kind"), [], "another kind");
    assert_eq!(with(&recall, "Which people does Ada know?", "kind"), [], "who speaks here is no answer");
}

#[test]
fn what_the_graph_has_not_read_yet_is_asked_for_again() {
    let store = store(&chat());
    let recall = recall(&store);
    assert_eq!(with(&recall, "Which classes has Ada joined?", "fact_support"), []);
    read(&store, 6);
    assert_eq!(
        with(&recall, "Which classes has Ada joined?", "fact_support"),
        [],
        "its seventh event is not read"
    );
    read(&store, 7);
    assert_eq!(with(&recall, "Which classes has Ada joined?", "fact_support"), [place(6)]);
}

/// A graph that always fails.
#[derive(Debug)]
struct Broken;

fn broken<T>() -> Result<T> {
    Err(Error::new(ErrorKind::Unavailable, "the graph is away"))
}

#[async_trait]
impl Projection<GraphDelta> for Broken {
    async fn cursor(&self) -> Result<Cursor> {
        broken()
    }

    async fn apply(&self, _: &GraphDelta, _: &Advance) -> Result<()> {
        broken()
    }

    async fn reset(&self) -> Result<()> {
        broken()
    }

    async fn dead_letters(&self, _: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        broken()
    }
}

#[async_trait]
impl GraphStore for Broken {
    async fn edition(&self) -> Result<Edition> {
        broken()
    }

    async fn entities(&self, _: &EntityFilter) -> Result<Vec<Arc<Entity>>> {
        broken()
    }

    async fn facts(&self, _: &FactFilter, _: AsOf) -> Result<Vec<Arc<Fact>>> {
        broken()
    }

    async fn strongest(&self, _: &[EntityId], _: NonZeroUsize, _: AsOf) -> Result<Vec<Fact>> {
        broken()
    }

    async fn history(&self, _: &FactFilter) -> Result<Vec<Fact>> {
        broken()
    }

    async fn believed(&self, _: &FactFilter) -> Result<Vec<Fact>> {
        broken()
    }

    async fn mentions(&self, _: &MentionFilter) -> Result<Vec<MentionRow>> {
        broken()
    }
}

#[test]
fn the_graph_is_not_asked_about_one_person_with_the_words_of_another() {
    let store = store(&chat());
    let parts = RecallParts { graph: Slot::Filled(Arc::new(Broken)), ..recall(&store).parts };
    let recall = Recall::new(parts, RecallSettings::default());
    let is_asked = |question| !ask(&recall, &RecallRequest::new(question)).2.is_empty();
    assert!(is_asked("What did Ben build with the daughter on Saturday?"));
    assert!(!is_asked("What did Ada build with the daughter on Saturday?"), "that was Ben");
}

#[test]
fn a_graph_that_fails_or_is_not_there_is_a_gap_and_its_weight_falls_to_the_others() {
    let store = store(&chat());
    read(&store, 22);
    let parts = |graph| RecallParts { graph, ..recall(&store).parts };
    let answer = |graph: Slot<dyn GraphStore>| {
        let recall = Recall::new(parts(graph), RecallSettings::default());
        ask(&recall, &RecallRequest::new("Which classes has Ada joined?"))
    };
    let (failed, missing) = (answer(Slot::Filled(Arc::new(Broken))), answer(Slot::Empty));
    let cause = |gaps: &[Gap]| gaps.iter().map(|gap| (gap.layer, gap.cause)).collect::<Vec<_>>();
    assert!(matches!(cause(&failed.2)[..], [(Layer::Graph, GapCause::Failed(ErrorKind::Unavailable))]));
    assert_eq!(cause(&missing.2), [(Layer::Graph, GapCause::NotConfigured)]);
    assert_eq!(failed.0, missing.0);
    for part in &failed.1.hits[0].parts {
        assert!((part.name != "fact_support" && part.name != "kind") || part.weight == 0.0, "{part:?}");
    }
    let weights: f32 = failed.1.hits[0].parts.iter().map(|part| part.weight).sum();
    assert!((weights - 1.0).abs() < 1e-5);
}

#[test]
fn whom_a_question_about_oneself_calls_by_a_role_is_found_by_name() {
    let store = store(&chat());
    let sister =
        Fact { object: Value::Entity(HUBBLE), topic: Some("sister".to_owned()), ..fact(ADA, "relative", 17) };
    let delta = GraphDelta {
        entities: vec![
            entity(ADA, EntityKind::Person, &["Ada"], 0),
            entity(HUBBLE, EntityKind::Person, &["Hubble"], 1),
        ],
        facts: vec![sister.clone()],
        ..GraphDelta::default()
    };
    let next = Cursor(Some(mnemal_core::Seq(22)));
    let advance = |expect| Advance { expect, next, dead: Vec::new(), revived: Vec::new() };
    let expect = ready(Projection::<GraphDelta>::cursor(&store)).unwrap();
    ready(store.apply(&delta, &advance(expect))).unwrap();
    let found = |question: &str| {
        let (_, answer, _) =
            ask(&recall(&store), &RecallRequest { mode: Mode::Lexical, ..RecallRequest::new(question) });
        let names_her =
            |hit: &crate::Hit| hit.event.body().is_some_and(|kept| kept.content.contains("Hubble"));
        answer.hits.iter().any(|hit| hit.evidence > 0.1 && names_her(hit))
    };
    let by_name = found("Hubble?");
    assert!(by_name, "she is named in the chat");
    assert!(
        found("¿Qué hace mi hermana?") && !found("¿Qué hace tu hermana Eva?"),
        "only where somebody asks of himself"
    );
    let other = Fact { subject: LISBON, id: FactId(place(18).0), ..sister };
    let delta = GraphDelta { facts: vec![other], ..GraphDelta::default() };
    let expect = ready(Projection::<GraphDelta>::cursor(&store)).unwrap();
    ready(store.apply(&delta, &advance(expect))).unwrap();
    assert!(!found("¿Qué hace mi hermana?"), "two people have one");
}
