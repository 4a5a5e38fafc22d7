//! Digests: ingested texts get a note with a summary, the entities, and the topics.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::dream::DreamMode;
use mnemal::events::Selector;
use mnemal::learnings::LearningStatus;
use mnemal::settings::{DreamSettings, LlmSettings};
use mnemal::types::{InstallationKey, Level, OwnerId};
use mnemal::{
    Decision, Engine, EventFilter, EventId, Learning, LearningFilter, LearningKind, Memory, Role, Scope,
    Settings, SpaceId, Within,
};
use mnemal_core::{
    BackgroundPermit, Completion, Document, Error, ErrorKind, EventKind, LanguageModel, Metadata, ModelId,
    OperationKind, Passage, Prompt, Result, TokenCount, Usage,
};
use mnemal_store::MemoryStore;
use mnemal_testkit::{ManualClock, SeededIds};
use serde_json::json;

/// A model with one fixed answer, or a failure.
#[derive(Debug)]
struct Scripted {
    model: ModelId,
    answer: std::result::Result<String, ErrorKind>,
    told: Mutex<Vec<Prompt>>,
}

#[async_trait]
impl LanguageModel for Scripted {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> Result<Completion> {
        permit.pay(TokenCount(100))?;
        self.told.lock().unwrap().push(prompt.clone());
        let text = self.answer.clone().map_err(|kind| Error::new(kind, "as the script says"))?;
        let usage = Usage { sent: TokenCount(60), received: TokenCount(40) };
        Ok(Completion { text, model: self.model.clone(), usage })
    }
}

struct Space {
    memory: Memory,
    clock: Arc<ManualClock>,
    model: Option<Arc<Scripted>>,
}

impl Space {
    fn with(settings: Settings, answer: Option<std::result::Result<String, ErrorKind>>) -> Self {
        let clock = Arc::new(ManualClock::default());
        let mut builder = Engine::builder()
            .with_settings(settings)
            .with_stores(MemoryStore::new())
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(1)))
            .with_key(InstallationKey::new([7; 32]));
        let told = Mutex::new(Vec::new());
        let model = answer
            .map(|answer| Arc::new(Scripted { model: ModelId::new("scripted").unwrap(), answer, told }));
        if let Some(model) = &model {
            builder = builder.with_language_model(Arc::<Scripted>::clone(model));
        }
        let memory = builder.build().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()));
        Self { memory, clock, model }
    }

    /// Creates a model that writes digests only.
    fn new(answer: Option<std::result::Result<String, ErrorKind>>) -> Self {
        let dream = DreamSettings {
            digests: Some(true),
            judging: false,
            insights_by_model: false,
            ..DreamSettings::default()
        };
        Self::with(Settings { dream, llm: LlmSettings::default(), ..Settings::default() }, answer)
    }

    async fn read(&self, name: &str, text: &str) {
        self.clock.advance(Duration::from_secs(1));
        assert_eq!(self.memory.events().ingest(&document(name, text)).await.unwrap().gaps, []);
    }

    async fn rows(&self) -> Vec<Learning> {
        let mut rows = self.memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap();
        rows.retain(|row| row.status == LearningStatus::Active);
        rows.sort_by_key(|row| (row.created_at, row.id));
        rows
    }

    async fn said(&self) -> Vec<String> {
        self.rows().await.into_iter().map(|row| row.content).collect()
    }

    async fn dream(&self) {
        self.clock.advance(Duration::from_secs(1));
        let owner = OwnerId::new("test").unwrap();
        self.memory.admin().engine().dream(&owner, DreamMode::Asked).await.unwrap();
    }

    async fn parts(&self) -> Vec<EventId> {
        let read = EventFilter { roles: Within::Only(vec![Role::Document]), ..EventFilter::live() };
        let events = self
            .memory
            .events()
            .scan(&read, mnemal::events::Cursor::START, std::num::NonZeroUsize::MAX)
            .await
            .unwrap();
        events.iter().map(|event| event.id).collect()
    }
}

fn document(name: &str, text: &str) -> Document {
    let mut hash = [0_u8; 32];
    hash.iter_mut().zip(text.bytes().rev().cycle()).for_each(|(one, byte)| *one = byte);
    Document {
        name: name.to_owned(),
        kind: "text".to_owned(),
        hash,
        written_at: None,
        fields: Metadata::new(),
        passages: vec![Passage { text: text.to_owned(), ..Passage::default() }],
        location: Some(name.to_owned()),
        undescribed: None,
    }
}

const MINUTES: &str =
    "Ada Berg approved the budget of the Genoa office on 3 March. It has 1,200 euros for paint.";
const LEASE: &str = "The lease of the Genoa office ends in June. Ada Berg signed it in the old harbour hall.";

// proves: GB-29
#[tokio::test]
async fn a_text_that_was_read_in_is_a_memory_with_names_topics_and_importance() {
    let space = Space::new(None);
    space.read("minutes.txt", MINUTES).await;
    let [row] = space.rows().await.try_into().unwrap();
    assert_eq!(row.content, MINUTES, "the sentences of the text");
    assert_eq!(
        (row.kind, row.level, row.category.as_str()),
        (LearningKind::Note, Level::External, "documents")
    );
    assert!(row.importance.get() > 0.5, "it has a date, a decision and a number: {:?}", row.importance);
    assert!(!row.tags.is_empty() && row.topics.contains(&"ada berg".to_owned()), "{row:?}");
    let maker = space.memory.events().get(row.sources[0].event).await.unwrap();
    let EventKind::Operation(made) = &maker.body().unwrap().kind else { panic!("{maker:?}") };
    assert_eq!(made.producer.id, "dream/digests");
    assert_eq!(made.kind.names(), space.parts().await, "it rests on the text");
    // Ingesting the same bytes again, and another cycle, add nothing.
    space.read("minutes.txt", MINUTES).await;
    space.dream().await;
    assert_eq!(space.said().await, [MINUTES]);
}

#[tokio::test]
async fn a_space_that_is_not_always_on_has_its_texts_found_and_no_memories_of_them() {
    let space = Space::with(Settings::default(), None);
    space.read("minutes.txt", MINUTES).await;
    space.dream().await;
    assert_eq!(space.said().await, [""; 0]);
}

#[tokio::test]
async fn a_digest_goes_with_its_text_and_is_made_anew_of_what_is_left() {
    let space = Space::new(None);
    space.read("minutes.txt", MINUTES).await;
    space.read("lease.txt", LEASE).await;
    assert_eq!(space.said().await.len(), 2);
    // Another text replaces the first.
    space
        .read("minutes.txt", "The budget of the Genoa office is 1,500 euros. Bruno Kepler approved it.")
        .await;
    let said = space.said().await;
    assert!(said.len() == 2 && said.iter().all(|one| !one.contains("1,200")), "{said:?}");
    let lease = space.rows().await.into_iter().find(|row| row.content.contains("lease")).unwrap();
    let part = lease.sources[1].event;
    space.memory.forget(Selector::Events(vec![part])).await.unwrap();
    space.dream().await;
    let said = space.said().await;
    assert!(said.len() == 1 && said[0].contains("1,500"), "{said:?}");
}

#[tokio::test]
async fn a_digest_that_a_person_takes_back_stays_away() {
    let space = Space::new(None);
    space.read("minutes.txt", MINUTES).await;
    let made = space.rows().await[0].sources[0].event;
    let undo: Decision = space.memory.facts().undoing(made).await.unwrap();
    space.clock.advance(Duration::from_secs(1));
    assert_eq!(space.memory.facts().decide(undo).await.unwrap().gaps, []);
    space.dream().await;
    assert_eq!(space.said().await, [""; 0]);
}

// proves: GB-33 (texts that were read in are connected like notes)
#[tokio::test]
async fn texts_that_name_the_same_are_connected() {
    let space = Space::new(None);
    space.read("minutes.txt", MINUTES).await;
    space.read("lease.txt", LEASE).await;
    space.clock.advance(Duration::from_secs(1));
    space.memory.admin().engine().consolidate(&OwnerId::new("test").unwrap()).await.unwrap();
    let rows = space.rows().await;
    let insight = rows.iter().find(|row| row.kind == LearningKind::Insight).unwrap();
    assert!(insight.content.contains("Ada Berg") && insight.content.starts_with("2 notes"), "{insight:?}");
    assert_eq!(insight.level, Level::External, "it says no more than the texts of others");
}

// proves: GB-39 (what was read in stands in the block of a knowledge base, marked as evidence)
#[tokio::test]
async fn the_block_of_a_knowledge_base_has_what_was_read_in_and_recall_has_it_once() {
    let space = Space::new(None);
    space.read("minutes.txt", MINUTES).await;
    let found = space.memory.recall("Who approved the budget of Genoa?").await.unwrap().value.hits;
    assert_eq!(found.len(), 1, "the text, and not what it says in short: {found:?}");
    let sections = vec![mnemal::context::Section::Knowledge, mnemal::context::Section::Insights];
    for query in ["", "budget of the Genoa office"] {
        let call = space.memory.context(query).sections(sections.clone());
        let context = call.await.unwrap().value;
        assert!(context.text.contains("Ada Berg approved the budget"), "{query:?}: {context:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_says_what_a_text_says_and_the_rules_where_it_cannot() {
    let good = json!({"summary": "Ada Berg approved 1,200 euros for the paint of the Genoa office.",
        "entities": ["Ada Berg", "Genoa office", "Peter Kurz"], "topics": ["budget"], "importance": 0.9});
    let lying = json!({"summary": "Peter Kurz approved 1,200 euros.", "entities": [], "topics": [], "importance": 0.9});
    let computed =
        json!({"summary": "Ada Berg approved 2,400 euros.", "entities": [], "topics": [], "importance": 0.9});
    for (answer, said, producer) in [
        (Ok(good.to_string()), good["summary"].as_str().unwrap(), "model/digest by scripted"),
        (Ok(lying.to_string()), MINUTES, "dream/digests"),
        (Ok(computed.to_string()), MINUTES, "dream/digests"),
        (Ok("{\"summary\": \"Ada".to_owned()), MINUTES, "dream/digests"),
        (Ok(String::new()), MINUTES, "dream/digests"),
        (Err(ErrorKind::Unavailable), MINUTES, "dream/digests"),
    ] {
        let shown = format!("{answer:?}");
        let space = Space::new(Some(answer));
        space.read("minutes.txt", MINUTES).await;
        assert_eq!(space.said().await, [""; 0], "who reads a text in waits for no model");
        space.dream().await;
        assert_eq!(space.said().await, [said], "{shown}");
        let row = space.rows().await.remove(0);
        let maker = space.memory.events().get(row.sources[0].event).await.unwrap();
        let EventKind::Operation(made) = &maker.body().unwrap().kind else { panic!("{maker:?}") };
        assert_eq!(made.producer.id, producer, "{shown}");
        let OperationKind::Digest { entities, .. } = &made.kind else { panic!("{made:?}") };
        assert!(!entities.contains(&"Peter Kurz".to_owned()), "{shown}");
        let prompt = space.model.as_ref().unwrap().told.lock().unwrap().first().cloned().unwrap();
        assert!(prompt.material.contains("budget of the Genoa office"), "{prompt:?}");
    }
}

#[tokio::test]
async fn what_a_model_wrote_is_taken_back_at_once_and_the_rules_write_it() {
    let said = "Ada Berg approved the budget of the Genoa office.";
    let answer = json!({"summary": said, "entities": ["Ada Berg"], "topics": [], "importance": 0.9});
    let space = Space::new(Some(Ok(answer.to_string())));
    space.read("minutes.txt", MINUTES).await;
    space.dream().await;
    assert_eq!(space.said().await, [said]);
    let undone = space.memory.admin().engine().undo_model().await.unwrap();
    assert_eq!((undone.value.len(), space.said().await.len()), (1, 0));
    assert_eq!(
        space.memory.admin().engine().undo_model().await.unwrap().value,
        [],
        "nothing of it stands any more"
    );
    space.dream().await;
    let [row] = space.rows().await.try_into().unwrap();
    assert!(row.content.contains("1,200 euros") && row.content != said, "{}", row.content);
    space.dream().await;
    assert_eq!(space.rows().await.len(), 1, "the model is not asked for it again");
}
