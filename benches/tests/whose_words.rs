//! Integrity of the authorship and endings data, and judgments of small spaces.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mnemal::Engine;
use mnemal_benches::attribution::{Half, Material, Turn, Wrapper};
use mnemal_benches::endings::{self, Outcome, Pair};
use mnemal_benches::life::{LifeSpace, Lists, read};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

#[test]
fn each_half_of_the_wrapped_statements_has_every_kind_and_every_language() {
    let material = Material::read(&data("attribution")).unwrap();
    for half in Half::ALL {
        let turns: Vec<Turn<'_>> = material.wrapped(half).collect();
        let kinds: BTreeSet<&str> = turns.iter().map(|turn| turn.wrapper.kind.as_str()).collect();
        let languages: BTreeSet<&str> = turns.iter().map(|turn| turn.wrapper.lang.as_str()).collect();
        assert!(turns.len() >= 400 && kinds.len() >= 25 && languages.len() == 6, "{half:?}: {kinds:?}");
        assert!(turns.iter().all(|turn| turn.wrapper.text.matches("{s}").count() == 1));
    }
    let has_key = |statement: &mnemal_benches::attribution::Statement| {
        let text = statement.text.to_lowercase();
        statement.keys.iter().any(|key| text.contains(&key.to_lowercase()))
    };
    assert!(material.statements.iter().all(has_key));
}

#[test]
fn the_baseline_names_plain_turns_of_the_material_only() {
    let material = Material::read(&data("attribution")).unwrap();
    let plain: BTreeSet<String> =
        Half::ALL.iter().flat_map(|half| material.plain(*half)).map(|turn| turn.name()).collect();
    assert!(material.baseline.len() > 500);
    assert!(material.baseline.is_subset(&plain));
}

#[tokio::test]
async fn a_statement_in_a_plain_turn_is_learnt_and_one_in_a_marked_quote_is_not() {
    let material = Material::read(&data("attribution")).unwrap();
    let statement = material.statements.iter().find(|one| one.id == "en-02").unwrap();
    let learned = async |text: &str| {
        let wrapper =
            Wrapper { id: "w".into(), lang: "en".into(), half: None, kind: "own".into(), text: text.into() };
        !Turn { wrapper: &wrapper, statement }.learned(&Engine::builder()).await.unwrap().is_empty()
    };
    assert!(learned("{s}").await);
    assert!(!learned("What does he mean?\n\n> {s}").await);
}

#[test]
fn each_half_of_the_pairs_has_ends_and_guards_in_every_language() {
    let pairs = endings::read(&data("endings")).unwrap();
    assert!(pairs.len() >= 150);
    let mut found: BTreeMap<(Half, bool), BTreeSet<&str>> = BTreeMap::new();
    for pair in &pairs {
        found.entry((pair.half, pair.ends())).or_default().insert(&pair.lang);
        let keys = if pair.ends() { &pair.gone } else { &pair.still };
        let first = pair.first.to_lowercase();
        assert!(keys.iter().any(|key| first.contains(&key.to_lowercase())), "{}", pair.id);
    }
    assert!(found.len() == 4 && found.values().all(|languages| languages.len() == 6), "{found:?}");
}

#[tokio::test]
async fn a_pair_that_ends_nothing_is_judged_by_what_is_lost() {
    let pair = Pair {
        id: "p".into(),
        lang: "en".into(),
        half: Half::Dev,
        kind: "looks".into(),
        first: "I live in Split.".into(),
        second: "The ferry was late.".into(),
        follows: false,
        gone: Vec::new(),
        still: vec!["Split".into()],
    };
    let still = Outcome::of(&pair, &Engine::builder()).await.unwrap();
    assert!(still.learned && !still.lost, "{still:?}");
    let over = Pair { gone: vec!["Split".into()], still: Vec::new(), ..pair };
    let told = Outcome::of(&over, &Engine::builder()).await.unwrap();
    assert!(told.learned && !told.present.is_empty(), "{told:?}");
}

/// Says a pair after which nothing of the first may hold that has the key.
async fn ended(first: &str, second: &str, key: &str) -> Outcome {
    said(first, second, (vec![key.to_owned()], Vec::new())).await
}

/// Says a pair after which the first holds on.
async fn kept(first: &str, second: &str, key: &str) -> Outcome {
    said(first, second, (Vec::new(), vec![key.to_owned()])).await
}

/// Sends a pair, and returns what is shown as current or was lost.
#[expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]
async fn said(first: &str, second: &str, (gone, still): (Vec<String>, Vec<String>)) -> Outcome {
    let pair = Pair {
        id: "p".into(),
        lang: "en".into(),
        half: Half::Dev,
        kind: "end".into(),
        first: first.into(),
        second: second.into(),
        follows: false,
        gone,
        still,
    };
    let outcome = Outcome::of(&pair, &Engine::builder()).await.unwrap();
    assert!(outcome.learned, "{first}");
    outcome
}

#[tokio::test]
async fn an_end_that_names_only_a_kind_ends_what_holds_of_it() {
    for (first, second, key) in [
        ("I work at Tarn Logistics.", "I was made redundant last Friday.", "Tarn"),
        ("Ich arbeite bei Tarn Logistik.", "Man hat mich entlassen.", "Tarn"),
        ("Je travaille chez Tarn Logistique.", "J'ai été licencié vendredi dernier.", "Tarn"),
        ("Trabajo en Logística Tarn.", "Me despidieron el viernes pasado.", "Tarn"),
        ("Trabalho na Tarn Logística.", "Fui demitido na sexta passada.", "Tarn"),
        ("我在塔恩物流公司工作。", "上周五我被裁员了。", "塔恩"),
        ("I have the flu.", "I'm well again.", "flu"),
        ("I have a cat called Momo.", "Momo ran away and never came back.", "Momo"),
        ("I own a canoe.", "My canoe got stolen.", "canoe"),
        ("I want to learn Finnish.", "I changed my mind about learning Finnish.", "Finnish"),
        ("My thesis is due on 12 December.", "I handed in my thesis.", "due"),
    ] {
        let told = ended(first, second, key).await;
        assert!(told.present.is_empty(), "{first} {second}: {told:?}");
    }
}

#[tokio::test]
async fn an_end_whose_day_is_before_the_last_word_of_what_ends_ends_it_all_the_same() {
    let told = ended("I work at Norbanco.", "I left Norbanco for good in June.", "Norbanco").await;
    assert!(told.present.is_empty(), "{told:?}");
}

#[tokio::test]
async fn what_is_chronic_or_of_another_kind_goes_on() {
    for (first, second, key) in [
        ("I have diabetes.", "I'm well again.", "diabetes"),
        ("I live in Carlow.", "They fired me.", "Carlow"),
        ("I own a canoe.", "My neighbour's canoe got stolen.", "canoe"),
        ("I have two cats, Momo and Pip.", "Pip died.", "Momo"),
    ] {
        let told = kept(first, second, key).await;
        assert!(!told.lost, "{first} {second}: {told:?}");
    }
}

#[test]
fn each_life_has_its_turns_and_two_halves_of_questions_whose_evidence_exists() {
    for name in ["en", "de-en", "es-fr-zh"] {
        let life = read(&data("life").join(name)).unwrap();
        let turns: BTreeSet<&str> = life.turns.iter().map(|turn| turn.id.as_str()).collect();
        assert!(life.turns.len() >= 150 && life.questions.len() == 60, "{name}");
        let evidence = life.questions.iter().flat_map(|question| &question.evidence);
        assert!(evidence.clone().all(|id| turns.contains(id.as_str())), "{name}");
        let held = life.questions.iter().filter(|question| question.half == Some(Half::Held)).count();
        assert_eq!(held, 30, "{name}");
        let all: Vec<String> =
            life.turns.iter().map(|turn| turn.text.to_lowercase().replace('\n', " ")).collect();
        let stands = |text: &String| all.iter().any(|turn| turn.contains(&text.to_lowercase()));
        assert!(life.foreign.iter().all(stands), "{name}");
    }
}

#[tokio::test]
async fn a_life_is_judged_by_what_its_contexts_hold() {
    let folder = tempfile::tempdir().unwrap();
    let turns = r#"{"id":"1","conv":"c","session":"s","ts":"2026-01-02T10:00:00Z","speaker":"Ada","text":"I live in Split.","by":"import"}
{"id":"2","session":"t","ts":"2026-02-02T10:00:00Z","speaker":"user","text":"The ferry leaves at nine.","by":"log"}"#;
    let questions = r#"{"id":"a","category":"home","question":"Where do I live?","needs":[["Split"]],"evidence":["1"]}
{"id":"b","category":"home","question":"When does the ferry leave?","needs":[["at ten"]],"evidence":["2"]}"#;
    std::fs::write(folder.path().join("turns.jsonl"), turns).unwrap();
    std::fs::write(folder.path().join("questions.jsonl"), questions).unwrap();
    std::fs::write(folder.path().join("facts.jsonl"), r#"{"text":"home","needs":["lives in Split"]}"#)
        .unwrap();
    let lived = LifeSpace::live(read(folder.path()).unwrap(), Engine::builder()).await.unwrap();
    let document = lived.ask(None).await.unwrap().json(Lists::Hidden);
    assert_eq!(document["budget_1000"]["yes"], 0.5, "{document:#}");
    assert_eq!(document["recall"]["at_1"], 1.0, "{document:#}");
    assert!(document.get("preferences").is_none() && document.get("facts").is_some());
}

#[tokio::test]
async fn what_is_named_among_the_words_of_an_end_holds_no_more() {
    for (first, second, key) in [
        ("I own a kayak.", "My brother has the kayak now, I gave it to him.", "kayak"),
        ("Tengo una guitarra eléctrica.", "La guitarra se la regalé a mi sobrino.", "guitarra"),
        ("我有一台钢琴。", "钢琴送给表妹了。", "钢琴"),
        ("Mein Wellensittich heißt Pepe.", "Pepe lag heute früh tot im Käfig.", "budgie"),
        ("Mi gato se llama Calcetín.", "Se nos murió Calcetín.", "cat"),
        ("Tenho um papagaio chamado Coco.", "O Coco morreu no domingo.", "Coco"),
        ("I play squash every Thursday.", "My knees gave out, so squash is a thing of the past.", "squash"),
        ("我住在南京。", "上个月我搬到了厦门。", "南京"),
    ] {
        let told = ended(first, second, key).await;
        assert!(told.present.is_empty(), "{first} {second}: {told:?}");
    }
    for (first, second, key) in [
        ("I own a kayak.", "My brother sold his kayak.", "kayak"),
        ("Ich habe einen Hund namens Benno.", "Der Hund meiner Nachbarin ist gestorben.", "Benno"),
        ("Trabalho na Sonae.", "Estou a pensar sair da Sonae no próximo ano.", "Sonae"),
        ("Moro em Setúbal.", "Em Setúbal. Vivo cá há trinta anos, no rés-do-chão.", "Setúbal"),
        ("我有一台钢琴。", "邻居家的钢琴被偷了。", "钢琴"),
        ("I live in Norwich.", "You live in Madrid, right?", "Norwich"),
    ] {
        let told = kept(first, second, key).await;
        assert!(!told.lost, "{first} {second}: {told:?}");
    }
}

#[tokio::test]
async fn what_is_known_of_a_relative_ends_with_his_death_and_a_new_dentist_takes_the_place_of_the_old() {
    for (first, second, key) in [
        ("My grandmother lives in Dover.", "My grandmother passed away in June.", "Dover"),
        ("Meine Oma wohnt in Husum.", "Meine Oma ist im Juni verstorben.", "Husum"),
        ("Ma grand-mère habite à Vannes.", "Ma grand-mère est décédée en juin.", "Vannes"),
        ("Minha avó mora em Lamego.", "Minha avó faleceu em junho.", "Lamego"),
        ("我奶奶住在保定。", "我奶奶六月去世了。", "保定"),
        ("My dentist is Dr. Alvarez.", "My new dentist is Dr. Okafor.", "Alvarez"),
        (
            "Mein Zahnarzt ist Dr. Kowalski.",
            "Ich habe den Zahnarzt gewechselt, jetzt ist es Dr. Brandt.",
            "Kowalski",
        ),
        (
            "Mon dentiste est le docteur Perrin.",
            "J'ai changé de dentiste, c'est le docteur Lamy maintenant.",
            "Perrin",
        ),
    ] {
        let told = ended(first, second, key).await;
        assert!(told.present.is_empty(), "{first} {second}: {told:?}");
    }
    for (first, second, key) in [
        ("My grandmother lives in Dover.", "My grandmother passed the exam.", "Dover"),
        ("My dentist is Dr. Alvarez.", "I'm looking for a new dentist for my son.", "Alvarez"),
    ] {
        let told = kept(first, second, key).await;
        assert!(!told.lost, "{first} {second}: {told:?}");
    }
}
