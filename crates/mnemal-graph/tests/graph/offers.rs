//! Context fragments of the graph source.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Advance, AsOf, ContextRequest, ContextSource as _, Cursor, DeadLetter, Edition, Entity, EntityFilter,
    EntityId, Fact, FactFilter, Fragment, GraphDelta, GraphStore, Level, MentionFilter, MentionRow,
    OmittedReason, Origin, Projection, Projector as _, RecordRef, RepeatPolicy, Result, Section, SessionId,
    TokenCount, Trust, UserId, Within,
};
use mnemal_graph::{GraphProjector, GraphSource};
use mnemal_testkit::{Fault, Faulty};

use crate::decide::{ADD, about, words};
use crate::log::{Life, PLENTY, Script, day, now};

fn request(query: &str) -> ContextRequest {
    ContextRequest {
        query: Some(query.to_owned()).filter(|query| !query.is_empty()),
        query_vector: None,
        session: SessionId::new("asking").unwrap(),
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: TokenCount(4_000),
        sections: Within::All,
        as_of: AsOf::present(day("2024-06-01")),
        injected: RepeatPolicy::Repeat,
        tool: None,
        lines: None,
    }
}

fn offered(life: &Life, request: &ContextRequest) -> Vec<Fragment> {
    offered_by(life, life.store.clone(), request)
}

fn offered_by(life: &Life, rows: Arc<dyn GraphStore>, request: &ContextRequest) -> Vec<Fragment> {
    let source = GraphSource::new(rows, life.store.clone()).with_extractor(Arc::new(Script));
    let answer = now(source.fragments(request)).unwrap();
    assert_eq!(answer.gaps, []);
    answer.value
}

/// Returns the offered fragments, `section: text`, best first within a section.
fn lines(life: &Life, query: &str) -> Vec<String> {
    lines_of(&offered(life, &request(query)))
}

fn lines_of(fragments: &[Fragment]) -> Vec<String> {
    fragments.iter().map(|one| format!("{}: {}", one.section.as_str(), one.text)).collect()
}

#[test]
fn who_is_named_is_told_with_what_holds_since_when_and_from_where() {
    let mut life = Life::new();
    let said_at = life.say("2024-01-05", "sister(Anna) lives_in Lyon:location @2023-05-01");
    life.say("2024-01-06", "Anna likes tea\nme relative Anna:person #sister");
    life.say("2024-01-07", "Ben lives_in Rome:location");
    assert_eq!(
        lines(&life, "Where does Anna live?"),
        ["entity: Anna lives in Lyon (since 2023-05-01)", "entity: the user's sister: Anna"],
        "what answers, and who she is to the user"
    );
    let mut all = lines(&life, "What do you know about Anna?");
    all[1..].sort();
    assert_eq!(
        all,
        [
            "entity: the user's sister: Anna",
            "entity: Anna likes tea",
            "entity: Anna lives in Lyon (since 2023-05-01)"
        ]
        .map(str::to_owned)
        .to_vec(),
        "what leads to the user comes first"
    );
    let first = &offered(&life, &request("Where does Anna live?"))[0];
    assert!(matches!(first.record, RecordRef::Fact(_)));
    assert_eq!((first.sources[0].event, first.sources.len()), (said_at, 1));
    assert_eq!((first.label.level, first.trust), (Level::User, Trust::User));
    assert_eq!(first.label.at, day("2024-01-05").plus_micros(36_000_000_000));
    let sum: f32 = first.parts.iter().map(|part| part.value).sum();
    assert!((sum - first.score.get()).abs() < 1e-6);
}

#[test]
fn a_role_of_the_user_names_whoever_has_it() {
    let mut life = Life::new();
    life.say("2024-01-05", "me relative Anna:person #sister\nAnna lives_in Lyon:location");
    let lines = lines(&life, "Where does my sister live?");
    assert!(lines.contains(&"entity: Anna lives in Lyon".to_owned()), "{lines:?}");
}

#[test]
fn who_was_named_just_now_counts_as_named() {
    let mut life = Life::new();
    life.say("2024-01-05", "Anna lives_in Lyon:location");
    assert!(lines(&life, "Where does she live?").is_empty());
    life.say_in("2024-05-30", "asking", "Anna:person");
    assert_eq!(lines(&life, "Where does she live?"), ["entity: Anna lives in Lyon"]);
}

#[test]
fn what_is_over_is_told_only_where_the_question_looks_back() {
    let mut life = Life::new();
    life.say("2024-01-05", "Anna lives_in Lyon:location @2020-01-01");
    life.say("2024-02-05", "Anna lives_in Rome:location @2024-02-01");
    assert_eq!(lines(&life, "Where does Anna live?"), ["entity: Anna lives in Rome (since 2024-02-01)"]);
    let mut back = lines(&life, "Where did Anna live before?");
    back.sort();
    assert_eq!(
        back,
        [
            "entity: Anna lives in Lyon (from 2020-01-01 until 2024-02-01)",
            "entity: Anna lives in Rome (since 2024-02-01)"
        ]
    );
    let then = ContextRequest { as_of: AsOf::present(day("2021-01-01")), ..request("Where does Anna live?") };
    assert_eq!(
        lines_of(&offered(&life, &then)),
        ["entity: Anna lives in Lyon (from 2020-01-01 until 2024-02-01) (said later)"]
    );
}

#[test]
fn a_disputed_pair_is_one_question_with_values_dates_and_origins() {
    let mut life = Life::new();
    let one = life.say("2024-01-05", "Anna birthday May_3");
    let other = life.say("2024-02-05", "Anna birthday May_5");
    let asked = offered(&life, &request("When is Anna's birthday?"));
    assert_eq!(
        lines_of(&asked),
        [
            "entity: disputed, ask which holds: Anna's birthday: \"May 3\" (user, 2024-01-05) or \"May 5\" (user, 2024-02-05)"
        ]
    );
    let sources: Vec<_> = asked[0].sources.iter().map(|source| source.event).collect();
    assert!(sources.contains(&one) && sources.contains(&other));
}

#[test]
fn what_is_doubtful_rejected_or_the_agents_word_alone_is_not_offered() {
    let mut life = Life::new();
    life.say("2024-01-05", "Anna lives_in Lyon:location ~0.6");
    life.say_as(Origin::Assistant, "2024-01-06", "Anna works_at Acme:organization");
    assert_eq!(lines(&life, "What do you know about Anna?"), [] as [&str; 0]);
    let known = life.say("2024-01-07", "Anna likes tea");
    assert_eq!(lines(&life, "What do you know about Anna?"), ["entity: Anna likes tea"]);
    life.forget("2024-01-08", &[known]);
    assert_eq!(lines(&life, "What do you know about Anna?"), [] as [&str; 0]);
}

#[test]
fn the_user_is_known_without_a_question_and_asked_for_the_rest() {
    let mut life = Life::new();
    life.say(
        "2024-01-05",
        "me lives_in Lyon:location\nme allergic_to nuts\nme name Ada\nme favourite blue #colour",
    );
    let known = ["knowledge: the user is allergic to nuts"];
    assert_eq!(lines(&life, "")[..1], known);
    assert_eq!(lines(&life, "").len(), 3, "a favourite colour is not for every question");
    let asked = lines(&life, "Which colour do I like best?");
    assert_eq!(asked[0], "topics: the user's favourite colour: blue");
    assert_eq!(asked[1..], lines(&life, ""), "what is known for any question stands behind what answers");
}

// proves: BA-36 (relationships, topics)
#[test]
fn lanes_hold_five_entities_of_ten_facts_and_ten_of_the_user_and_shrink_with_the_budget() {
    let mut life = Life::new();
    let mut told = String::new();
    for name in ["Anna", "Ben", "Cleo", "Dora", "Emil", "Finn"] {
        told.extend((0..14).map(|n| format!("{name} likes thing_{n}\n")));
    }
    told.extend((0..14).map(|n| format!("me allergic_to stuff_{n}\n")));
    life.say("2024-01-05", &told);
    let query = "What do Anna, Ben, Cleo, Dora, Emil and Finn like?";
    let count = |budget| {
        let asked = ContextRequest { budget: TokenCount(budget), ..request(query) };
        let offered = offered(&life, &asked);
        let of = |section| offered.iter().filter(|one| one.section == section).count();
        (of(Section::Entity), of(Section::Knowledge))
    };
    assert_eq!(count(4_000), (50, 10));
    assert_eq!(count(40_000), (50, 10));
    assert_eq!(count(1_000), (10, 0));
    assert_eq!(count(2_500), (30, 5));
    assert_eq!(count(0), (0, 0));
}

#[test]
fn a_request_for_one_person_has_no_fact_of_another() {
    let mut life = Life::new();
    for (user, city) in [("one", "Lyon"), ("two", "Rome")] {
        let mut entry = life.entry(
            "2024-01-05",
            user,
            &format!("me lives_in {city}:location\nAnna visited {city}:location"),
        );
        entry.event.user = Some(UserId::new(user).unwrap());
        life.append(entry);
    }
    life.fold();
    let asked = |user: &str| {
        let user = Within::Only(UserId::new(user).unwrap());
        let mut lines =
            lines_of(&offered(&life, &ContextRequest { user, ..request("What has Anna visited?") }));
        lines.sort();
        lines
    };
    assert_eq!(asked("one"), ["entity: Anna visited Lyon", "knowledge: the user lives in Lyon"]);
    assert_eq!(asked("two"), ["entity: Anna visited Rome", "knowledge: the user lives in Rome"]);
    assert_eq!(asked("three"), [] as [&str; 0]);
}

#[test]
fn a_topic_alone_asks_for_what_is_known_by_topics() {
    let mut life = Life::new();
    life.say("2024-01-05", "me knows Kari:person #manager\nme deadline 20-October #release");
    life.say("2024-01-06", "me setting 8443 #port\nme contact ada@home.example #mail");
    for (query, line) in [
        ("Who is my manager?", "the user's manager: Kari"),
        ("When is the release?", "20-October"),
        ("Which port was it?", "8443"),
        ("What is my mail?", "ada@home.example"),
    ] {
        let lines = lines(&life, query);
        assert!(lines.iter().any(|known| known.contains(line)), "{query}: {lines:?}");
        assert_eq!(lines.len(), 1, "{query}: {lines:?}");
    }
}

#[test]
fn words_of_the_user_stand_where_nothing_that_is_sure_answers() {
    let mut life = Life::new();
    let said = life.say("2024-01-05", "me works_at Acme:organization ~0.6");
    let fragments = offered(&life, &request("Where do I work?"));
    assert_eq!(lines_of(&fragments), ["entity: me works_at Acme:organization ~0.6"], "his words, no fact");
    assert_eq!(fragments[0].record, RecordRef::Event(said));
    assert_eq!((fragments[0].label.level, fragments[0].trust), (Level::User, Trust::User));
    let few = ContextRequest { lines: Some(6), ..request("Where do I work?") };
    assert!(offered(&life, &few).is_empty(), "a host that asks on every prompt");
    assert!(lines(&life, "Where do I work on the heron survey?").is_empty(), "its other words are answered");
    assert!(lines(&life, "What shall I cook?").is_empty());
    let of_acme = |life: &Life| lines(life, "Where do I work?").iter().any(|line| line.contains("Acme"));
    life.say("2024-02-05", "me works_at Bolt:organization");
    assert!(!of_acme(&life), "what is sure was said later");
    life.say("2024-03-05", "me works_at Acme:organization ~0.6");
    assert!(of_acme(&life), "what is not sure was said later");

    let mut other = Life::new();
    other.say_as(Origin::Assistant, "2024-01-05", "me works_at Acme:organization ~0.6");
    assert!(lines(&other, "Where do I work?").is_empty(), "nobody but the agent said so");
    let said = other.say("2024-01-05", "me works_at Dale:organization ~0.6");
    assert_eq!(lines(&other, "Where do I work?").len(), 1);
    other.forget("2024-01-08", &[said]);
    assert!(lines(&other, "Where do I work?").is_empty());
}

#[test]
fn only_wanted_sections_are_looked_up() {
    let mut life = Life::new();
    life.say("2024-01-05", "Anna lives_in Lyon:location");
    let asked =
        ContextRequest { sections: Within::Only(vec![Section::Recall]), ..request("Where does Anna live?") };
    assert!(offered(&life, &asked).is_empty());
}

// proves: NX-05.4
#[test]
fn how_sure_a_claim_is_decides_what_becomes_of_it() {
    let mut life = Life::new();
    life.say("2020-05-01", "me likes tea ~0.8\nme likes jazz ~0.79\nme likes rain ~0.5\nme likes fog ~0.49");
    let known = ["user likes jazz (candidate)", "user likes rain (candidate)", "user likes tea"];
    assert_eq!(life.on("2021-01-01"), known, "what is less sure stays in the log");
    let offered = |life: &Life| lines(life, "What do I like?").join("\n");
    let is_offered = |life: &Life| ["tea", "jazz", "rain"].map(|what| offered(life).contains(what));
    assert_eq!(is_offered(&life), [true, false, false]);
    life.say_in("2020-06-01", "another", "me likes jazz ~0.6");
    let decision = about(&life, "likes", words("rain"), ADD);
    life.decide("2020-06-01", decision);
    assert_eq!(is_offered(&life), [true; 3], "a second conversation, and the user, make it hold");
}

// proves: NX-07.4 (before anything is folded)
#[test]
fn words_past_the_cursor_take_the_place_of_the_facts_that_they_contradict() {
    let mut life = Life::new();
    life.say("2024-01-05", "me lives_in Lyon:location");
    life.say("2024-01-05", "me likes tea");
    life.say("2024-01-06", "Anna lives_in Oslo:location");
    let mut say = |text: &str| {
        let entry = life.entry("2024-01-07", "asking", text);
        life.append(entry)
    };
    let of_user = say("me lives_in Rome:location");
    say("me likes coffee");
    let of_anna = say("Anna lives_in Cork:location\nBen lives_in Oslo:location");
    let shown = |query: &str, section: Section| -> Vec<(RecordRef, String)> {
        let offered = offered(&life, &request(query)).into_iter();
        let shown = offered.filter(|one| one.section == section && one.withheld.is_none());
        shown.map(|one| (one.record, one.text)).collect()
    };
    let said = |event, text: &str| (RecordRef::Event(event), text.to_owned());
    assert_eq!(shown("", Section::Knowledge), [said(of_user, "me lives_in Rome:location")]);
    let anna = shown("Where does Anna live?", Section::Entity);
    assert_eq!(anna, [said(of_anna, "Anna lives_in Cork:location")]);
    let reasons: Vec<_> =
        offered(&life, &request("")).into_iter().filter_map(|fragment| fragment.withheld).collect();
    assert_eq!(reasons, [OmittedReason::Superseded]);
    life.fold();
    let folded = shown("", Section::Knowledge);
    assert!(folded.iter().all(|(record, _)| matches!(record, RecordRef::Fact(_))), "{folded:?}");
    assert!(folded.iter().any(|(_, text)| text.contains("Rome")), "{folded:?}");
}

#[test]
fn words_past_the_cursor_answer_what_is_asked_of_the_user_in_another_conversation() {
    let mut life = Life::new();
    life.say("2024-01-05", "me likes tea");
    let mut say = |session: &str, text: &str| {
        let entry = life.entry("2024-01-07", session, text);
        life.append(entry)
    };
    let moved = say("before", "me lives_in Rome:location");
    say("asking", "me works_at Acme:organization");
    let answers = |query: &str, lines: Option<usize>| -> Vec<RecordRef> {
        let offered = offered(&life, &ContextRequest { lines, ..request(query) }).into_iter();
        offered.filter(|one| one.section == Section::Entity).map(|one| one.record).collect()
    };
    assert_eq!(answers("Where do I live?", None), [RecordRef::Event(moved)]);
    assert_eq!(answers("Where do I live?", Some(3)), [], "a host that wants few lines is told what is sure");
    assert_eq!(
        answers("Where do I work?", None),
        [],
        "what was said in the asking conversation is in its window"
    );
    assert_eq!(answers("Where does Anna live?", None), []);
}

/// Rows that another process folds between two reads.
#[derive(Debug)]
struct ConcurrentFold {
    rows: Arc<dyn GraphStore>,
    projector: GraphProjector,
}

#[async_trait]
impl Projection<GraphDelta> for ConcurrentFold {
    async fn cursor(&self) -> Result<Cursor> {
        self.rows.cursor().await
    }

    async fn apply(&self, delta: &GraphDelta, advance: &Advance) -> Result<()> {
        self.rows.apply(delta, advance).await
    }

    async fn reset(&self) -> Result<()> {
        self.rows.reset().await
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        self.rows.dead_letters(limit).await
    }
}

#[async_trait]
impl GraphStore for ConcurrentFold {
    async fn edition(&self) -> Result<Edition> {
        self.rows.edition().await
    }

    async fn entities(&self, filter: &EntityFilter) -> Result<Vec<Arc<Entity>>> {
        self.rows.entities(filter).await
    }

    async fn facts(&self, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Arc<Fact>>> {
        let found = self.rows.facts(filter, as_of).await;
        while self.projector.step(PLENTY).await?.behind > 0 {}
        found
    }

    async fn strongest(&self, of: &[EntityId], most: NonZeroUsize, as_of: AsOf) -> Result<Vec<Fact>> {
        self.rows.strongest(of, most, as_of).await
    }

    async fn history(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        self.rows.history(filter).await
    }

    async fn believed(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        self.rows.believed(filter).await
    }

    async fn mentions(&self, filter: &MentionFilter) -> Result<Vec<MentionRow>> {
        self.rows.mentions(filter).await
    }
}

#[test]
fn what_is_folded_while_a_question_is_answered_is_told_all_the_same() {
    let mut life = Life::new();
    life.say("2024-01-05", "me likes tea");
    let entry = life.entry("2024-01-07", "before", "me lives_in Rome:location");
    let moved = life.append(entry);
    let rows: Arc<dyn GraphStore> = life.store.clone();
    let projector = GraphProjector::new(life.store.clone(), Arc::clone(&rows), Arc::new(Script));
    let rows = Arc::new(ConcurrentFold { rows, projector });
    let offered = offered_by(&life, rows, &request("Where do I live?"));
    let told: Vec<_> = offered.iter().filter(|one| one.section == Section::Entity).collect();
    assert_eq!(told.iter().map(|one| one.record).collect::<Vec<_>>(), [RecordRef::Event(moved)]);
}

#[test]
fn words_that_were_folded_meanwhile_stand_once_and_what_they_replaced_does_not_withhold_them() {
    let mut life = Life::new();
    life.say_in("2024-01-05", "before", "me lives_in Lyon:location");
    life.say_in("2024-01-07", "before", "me lives_in Rome:location");
    // The cursor is the old one, the facts are new.
    let rows: Arc<dyn GraphStore> = life.store.clone();
    let rows = Arc::new(Faulty::new(rows, Fault::Stale));
    let offered = offered_by(&life, rows, &request("Where do I live?"));
    let shown: Vec<_> = offered.iter().filter(|one| one.withheld.is_none()).collect();
    assert!(shown.iter().any(|one| one.text.contains("Rome")), "{shown:?}");
    assert!(shown.iter().all(|one| matches!(one.record, RecordRef::Fact(_))), "{shown:?}");
    assert!(offered.iter().all(|one| one.withheld.is_none()), "{offered:?}");
}
