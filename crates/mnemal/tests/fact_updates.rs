//! Facts after a second turn, in six languages: moves, slips that are put right, and relatives that are counted and named.

#![expect(clippy::unwrap_used, reason = "the parts that tests share are tests too")]

use std::sync::Arc;

use mnemal::graph::{FactStatus, Value};
use mnemal::types::Layer;
use mnemal::{AsOf, Engine, Fact, FactFilter, Memory, Message, Scope, SpaceId, Timestamp, Zone};
use mnemal_store::MemoryStore;
use mnemal_testkit::{ManualClock, SeededIds};

/// 2026-02-06, noon.
const START: i64 = 1_770_379_200;
const DAY: i64 = 86_400;

/// Returns what holds after these turns, a day apart: `Maite lives_in Vigo`, with a mark for what is not active.
async fn known(turns: &[&str]) -> Vec<String> {
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(START * 1_000_000).unwrap()));
    let engine = Engine::builder()
        .with_clock(clock.clone())
        .with_ids(Arc::new(SeededIds::new(5)))
        .with_stores(MemoryStore::new())
        .without(Layer::Vector)
        .build()
        .unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("one").unwrap()));
    for (turn, day) in turns.iter().zip(0..) {
        let at = Timestamp::from_micros((START + day * DAY) * 1_000_000).unwrap();
        clock.jump(at);
        let _ack = memory.log(Message::user(*turn).occurred_at(at, Zone::utc())).await.unwrap();
    }
    lines(&memory).await
}

async fn lines(memory: &Memory) -> Vec<String> {
    let graph = memory.facts().graph().await.unwrap().value;
    let present = AsOf::present(memory.admin().engine().now());
    let facts = graph.facts(&FactFilter::all(), present).await.unwrap();
    let mut lines = Vec::new();
    for fact in facts.iter().filter(|fact| fact.predicate.as_str() != "name") {
        let subject = graph.entities([fact.subject], present).await.unwrap().remove(0).name;
        let object = match &fact.object {
            Value::Entity(id) => graph.entities([*id], present).await.unwrap().remove(0).name,
            Value::Literal { text, .. } => text.clone(),
        };
        let Fact { predicate, status, .. } = fact;
        let mark = if *status == FactStatus::Active { "" } else { status.as_str() };
        lines.push(format!("{subject} {predicate} {object} {mark}").trim_end().to_owned());
    }
    lines.sort();
    lines
}

#[tokio::test]
async fn a_move_from_one_place_to_another_ends_the_first() {
    for turns in [
        ["Mi hermana Maite vive en Vigo.", "Maite se ha mudado de Vigo a Gijón."],
        ["Minha irmã Maite mora em Vigo.", "A Maite mudou-se de Vigo para Gijón."],
        ["Meine Schwester Maite wohnt in Vigo.", "Maite ist von Vigo nach Gijón gezogen."],
        ["Ma sœur Maite habite à Vigo.", "Maite a déménagé de Vigo à Gijón."],
        ["My sister Maite lives in Vigo.", "Maite has moved from Vigo to Gijón."],
    ] {
        let known = known(&turns).await;
        assert!(known.contains(&"Maite lives_in Gijón".to_owned()), "{turns:?}: {known:?}");
        assert!(!known.iter().any(|line| line.contains("Vigo")), "{turns:?}: {known:?}");
    }
    assert_eq!(
        known(&["Vivo en Teruel.", "Nos hemos mudado de Teruel a Lorient."]).await,
        ["user lives_in Lorient"]
    );
    assert_eq!(known(&["我住在广州。", "我从广州搬到深圳了。"]).await, ["user lives_in 深圳"]);
}

#[tokio::test]
async fn a_slip_that_is_admitted_replaces_what_was_said_before() {
    for turns in [
        [
            "Nell's birthday is on 12 October.",
            "Sorry, I mixed it up: Nell's birthday is on 14 October, not on the 12th.",
        ],
        ["Nell's birthday is on 12 October.", "Correction: Nell's birthday is 14 October."],
        [
            "Nells Geburtstag ist am 12. Oktober.",
            "Ich habe mich vertan: Nells Geburtstag ist am 14. Oktober.",
        ],
        [
            "El cumpleaños de Nell es el 12 de octubre.",
            "Me equivoqué: el cumpleaños de Nell es el 14 de octubre, no el 12.",
        ],
        [
            "L'anniversaire de Nell est le 12 octobre.",
            "Je me suis trompée : l'anniversaire de Nell est le 14 octobre.",
        ],
    ] {
        let known = known(&turns).await;
        assert!(
            matches!(known.as_slice(), [only] if only.contains("14") && only.starts_with("Nell birthday")),
            "{turns:?}: {known:?}"
        );
    }
    let dentists =
        ["My dentist is Dr Amara Whitlock.", "Sorry, I got that wrong: my dentist is Dr Paul Reed."];
    assert_eq!(known(&dentists).await, ["user knows Paul Reed"]);
    // Two values without such words contradict each other.
    let birthdays = known(&["Nell's birthday is on 12 October.", "Nell's birthday is on 14 October."]).await;
    assert_eq!(birthdays, ["Nell birthday 12 October disputed", "Nell birthday 14 October disputed"]);
    // Several of one role are no slip.
    let sisters =
        known(&["My sister Ann is a nurse.", "Sorry, I mixed it up: my sister Eve is a nurse."]).await;
    assert!(sisters.iter().any(|line| line.contains("Eve")), "{sisters:?}");
}

#[tokio::test]
async fn relatives_that_are_counted_and_named_are_known_by_their_names_alone() {
    for turn in [
        "Wir haben zwei Kinder, Jakob und Leni.",
        "Nous avons deux enfants, Jakob et Leni.",
        "Tenemos dos hijos, Jakob y Leni.",
        "Temos dois filhos, Jakob e Leni.",
    ] {
        assert_eq!(known(&[turn]).await, ["user relative Jakob", "user relative Leni"], "{turn}");
    }
    // Who is only counted is somebody in that role, in whatever language.
    assert_eq!(known(&["Ich habe eine Schwester."]).await, ["user relative sister"]);
    assert_eq!(
        known(&["Ich habe eine Schwester.", "Meine Schwester heißt Maite."]).await,
        ["user relative Maite"]
    );
    assert_eq!(known(&["我姐姐小雨住在广州。"]).await, ["user relative 小雨", "小雨 lives_in 广州"]);
}

#[tokio::test]
async fn a_day_from_which_or_until_which_something_holds_may_be_ahead() {
    let graph_of = |turn: &'static str| async move {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(START * 1_000_000).unwrap()));
        let builder = Engine::builder().with_clock(clock).with_ids(Arc::new(SeededIds::new(5)));
        let engine = builder.with_stores(MemoryStore::new()).without(Layer::Vector).build().unwrap();
        let memory = engine.memory(Scope::whole(SpaceId::new("one").unwrap()));
        let at = Timestamp::from_micros(START * 1_000_000).unwrap();
        let _ack = memory.log(Message::user(turn).occurred_at(at, Zone::utc())).await.unwrap();
        memory.facts().graph().await.unwrap().value.history(&FactFilter::all()).await.unwrap()
    };
    let day = |at: Option<mnemal::extract::WorldTime>| at.map(|at| at.civil(&Zone::utc()).day_text());
    let job = graph_of("I've been made deputy harbour surveyor from 1 March.").await;
    let starts: Vec<_> = job.iter().map(|fact| day(fact.valid_at)).collect();
    assert_eq!(starts, [Some("2026-03-01".to_owned())], "{job:?}");
    // What began in the past did.
    let home = graph_of("I have lived in Ghent since March.").await;
    assert!(home.iter().all(|fact| day(fact.valid_at) == Some("2025-03-01".to_owned())), "{home:?}");
}

#[tokio::test]
async fn who_had_a_role_is_not_told_as_its_holder() {
    for turn in [
        "My old boss Karl was strict.",
        "My former landlord Karl was strict.",
        "Mein früherer Chef Karl war streng.",
        "Mi antiguo jefe se llama Karl.",
        "Mon ancien chef s'appelle Karl.",
    ] {
        assert_eq!(known(&[turn]).await, [] as [&str; 0], "{turn}");
    }
    assert_eq!(
        known(&["My old friend Karl is a baker."]).await.first().map(String::as_str),
        Some("Karl role baker candidate")
    );
}

#[tokio::test]
async fn a_name_on_s_is_whole_and_a_saint_in_a_name_is_no_day() {
    assert_eq!(known(&["I work at Lloyd's, in the city."]).await, ["user works_at Lloyd's"]);
    let graph = known(&["Soy enfermera en el hospital San Juan."]).await;
    assert_eq!(graph, ["user role enfermera"]);
}
