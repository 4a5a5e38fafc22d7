//! The acceptance scenarios of `PicoBot`'s memory, against every store.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use mnemal::context::{Format, Wording};
use mnemal::events::Selector;
use mnemal::types::Importance;
use mnemal::{EventFilter, LearningFilter, LearningKind, Memory, NoteKey, Role, Within};

fn key(name: &str) -> NoteKey {
    NoteKey::new(name).unwrap()
}

/// All scenarios in sequence, on one empty memory.
async fn scenarios(memory: &Memory) {
    let importance = Importance::new(0.8).unwrap();
    let _stored = memory
        .remember("Deploys happen on Tuesdays.")
        .key(key("deploys"))
        .importance(importance)
        .by_user()
        .await
        .unwrap();
    let found = memory.recall("when do deploys happen").await.unwrap();
    assert_eq!(found.hits[0].event.body().unwrap().content, "Deploys happen on Tuesdays.");
    let note = memory.preferences().learning("deploys").await.unwrap();
    assert!((note.importance.get() - 0.8).abs() < 1e-6);

    let _again = memory.remember("Deploys happen on Mondays.").key(key("deploys")).by_user().await.unwrap();
    let note = memory.preferences().learning("deploys").await.unwrap();
    assert_eq!((note.content.as_str(), note.version), ("Deploys happen on Mondays.", 2));

    let preference = memory.remember("Answers in English, please.").key(key("language"));
    let _told = preference.kind(LearningKind::Preference).by_user().await.unwrap();
    let of = |kind| LearningFilter { kind: Within::Only(kind), ..LearningFilter::all() };
    let names = |rows: Vec<mnemal::Learning>| {
        rows.into_iter().map(|row| row.key.unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(memory.preferences().notes(&of(LearningKind::Note)).await.unwrap()), ["deploys"]);
    assert_eq!(names(memory.preferences().notes(&of(LearningKind::Preference)).await.unwrap()), ["language"]);
    let notes = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
    let hits = memory.recall("deploys").filter(notes).await.unwrap().value.hits;
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.event.role == Role::Decision));

    let headed = Format::Headed(Wording::English);
    let context = memory.context("when do deploys happen").format(headed).await.unwrap();
    assert!(context.text.contains("## Memory Context") && context.text.contains("Mondays"));

    let of_base = vec![mnemal::context::Section::Knowledge, mnemal::context::Section::Insights];
    let context = memory.context("when do deploys happen").sections(of_base).await.unwrap();
    assert!(context.text.contains("## Memory Context\n- 1 20"), "{}", context.text);
    assert!(context.text.contains("Mondays") && !context.text.contains("English"), "{}", context.text);

    for name in ["deploys", "language"] {
        assert!(memory.forget(Selector::Key(key(name))).await.unwrap().verified(), "{name}");
    }
    assert!(memory.recall("when do deploys happen").await.unwrap().hits.is_empty());
    assert_eq!(memory.preferences().notes(&LearningFilter::all()).await.unwrap(), []);
    let context = memory.context("when do deploys happen").format(headed).await.unwrap();
    assert!(!context.text.contains("## Memory Context"), "{}", context.text);
}

// proves: PB-58
#[tokio::test]
async fn they_hold_in_memory() {
    scenarios(&Memory::in_memory().await.unwrap()).await;
}

// proves: PB-58
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn they_hold_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    scenarios(&Memory::open(folder.path().join("space.db")).await.unwrap()).await;
}
