//! Questions in the middle of a conversation: what was said before is known, and nothing later.

use std::fmt::Write as _;

use mnemal::Engine;
use mnemal::recall::RecallMode;
use mnemal_benches::neutral::DataSet;
use mnemal_benches::spaces::{Layout, QueryOptions, Spaces};

const ASKING: QueryOptions = QueryOptions { limit: 10, mode: RecallMode::Auto };

/// Two conversations of three days with a turn about tea each day, and a question on each of the last two days.
fn data() -> (tempfile::TempDir, DataSet) {
    let folder = tempfile::tempdir().expect("the fixture is a data set that is taken in");
    let (mut corpus, mut questions) = (String::new(), String::new());
    for conv in ["a", "b"] {
        for day in 1..=3 {
            let _ = writeln!(
                corpus,
                r#"{{"id": "{conv}{day}", "conv": "{conv}", "session": "{conv}/{day}", "ts": "2025-03-0{day}T09:00:00", "speaker": "user", "text": "I drank green tea number {day}."}}"#
            );
        }
    }
    for (id, conv, day) in [("late", "a", 3), ("early", "a", 2), ("other", "b", 3)] {
        let _ = writeln!(
            questions,
            r#"{{"id": "{id}", "conv": "{conv}", "question": "Which green tea?", "evidence": ["{conv}1", "{conv}3"], "before": "2025-03-0{day}T09:00:00", "asked_at": "2025-03-0{day}T10:00:00"}}"#
        );
    }
    std::fs::write(folder.path().join("corpus.jsonl"), corpus)
        .expect("the fixture is a data set that is taken in");
    std::fs::write(folder.path().join("questions.jsonl"), questions)
        .expect("the fixture is a data set that is taken in");
    let data =
        DataSet::read(folder.path(), "questions.jsonl").expect("the fixture is a data set that is taken in");
    (folder, data)
}

async fn found(layout: Layout) -> Vec<(String, Vec<String>)> {
    let (_folder, data) = data();
    let mut spaces =
        Spaces::begin(&data, layout, &Engine::builder()).expect("the fixture is a data set that is taken in");
    let mut found = Vec::new();
    for questions in data.moments() {
        spaces.advance(questions).await.expect("the fixture is a data set that is taken in");
        let contexts =
            spaces.contexts(questions, 1_000).await.expect("the fixture is a data set that is taken in");
        for (mut row, context) in spaces
            .recall(questions, ASKING)
            .await
            .expect("the fixture is a data set that is taken in")
            .rows
            .into_iter()
            .zip(contexts.rows)
        {
            row.ranked.sort_unstable();
            assert!(context.ranked.iter().all(|turn| row.ranked.contains(turn)), "{context:?}");
            found.push((row.id, row.ranked));
        }
    }
    found
}

fn row(id: &str, turns: &[&str]) -> (String, Vec<String>) {
    (id.to_owned(), turns.iter().map(|turn| (*turn).to_owned()).collect())
}

#[tokio::test]
async fn a_question_knows_what_was_said_before_its_moment() {
    let apart = [row("early", &["a1"]), row("late", &["a1", "a2"]), row("other", &["b1", "b2"])];
    assert_eq!(found(Layout::Apart).await, apart);
    let both = ["a1", "a2", "b1", "b2"];
    let pooled = [row("early", &["a1", "b1"]), row("late", &both), row("other", &both)];
    assert_eq!(found(Layout::Pooled).await, pooled);
}

#[test]
fn evidence_that_is_not_said_yet_does_not_count() {
    let (_folder, data) = data();
    let evidence: Vec<_> = data.questions.iter().map(|question| question.evidence.clone()).collect();
    assert_eq!(evidence, [vec!["a1".to_owned()], vec!["a1".to_owned()], vec!["b1".to_owned()]]);
}
