//! Searches through rig's vector store.

use mnemal::{Memory, SessionId};
use mnemal_rig::{MOST_SAMPLES, Searched, Store};
use rig_core::embeddings::{Embed, EmbedError, Embedding, TextEmbedder};
use rig_core::vector_store::request::{Filter, SearchFilter};
use rig_core::vector_store::{InsertDocuments, VectorSearchRequest, VectorStoreError, VectorStoreIndex};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Page {
    title: String,
    body: String,
    year: u32,
}

impl Embed for Page {
    fn embed(&self, embedder: &mut TextEmbedder) -> Result<(), EmbedError> {
        embedder.embed(self.body.clone());
        Ok(())
    }
}

fn page(title: &str, body: &str, year: u32) -> Page {
    Page { title: title.to_owned(), body: body.to_owned(), year }
}

fn ask(query: &str, samples: u64) -> VectorSearchRequest {
    VectorSearchRequest::builder().query(query).samples(samples).build()
}

fn filtered(query: &str, samples: u64, filter: Filter<Value>) -> VectorSearchRequest {
    VectorSearchRequest::builder().query(query).samples(samples).filter(filter).build()
}

async fn store_of(pages: &[Page]) -> (Memory, Store) {
    let memory = Memory::in_memory().await.unwrap();
    let store = Store::new(memory.clone());
    let vector = Embedding { document: String::new(), vec: vec![0.5; 3] };
    let documents = pages.iter().map(|page| (page.clone(), vec![vector.clone()])).collect();
    store.insert_documents(documents).await.unwrap();
    (memory, store)
}

async fn titles(store: &Store, request: VectorSearchRequest) -> Vec<String> {
    let found = store.top_n::<Page>(request).await.unwrap();
    found.into_iter().map(|one| one.document.title).collect()
}

// proves: AD-79 (rig's vector store: documents are inserted and found as they were)
#[tokio::test]
async fn a_document_is_found_by_its_text_and_comes_back_as_it_was_with_the_id_of_its_event() {
    let pages = [
        page("Ferries", "The ferry to Texel leaves at noon", 2024),
        page("Bread", "The bakery opens at six", 2025),
    ];
    let (memory, store) = store_of(&pages).await;
    let found = store.top_n::<Page>(ask("when does the ferry leave?", 1)).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].document, pages[0]);
    assert!((0.0..=1.0).contains(&found[0].score));
    let ids = store.top_n_ids(ask("when does the ferry leave?", 1)).await.unwrap();
    assert_eq!((&ids[0].id, ids[0].score), (&found[0].id, found[0].score));
    let event = memory.events().get(ids[0].id.parse().unwrap()).await.unwrap();
    assert_eq!(event.body().unwrap().content, "The ferry to Texel leaves at noon");

    memory.forget(mnemal::events::Selector::Events(vec![event.id])).await.unwrap();
    assert!(titles(&store, ask("ferry to Texel", 5)).await.iter().all(|title| title != "Ferries"));
}

// proves: AD-79 (filters and thresholds of rig's vector store)
#[tokio::test]
async fn filters_look_at_fields_of_documents_and_events_and_do_not_starve_the_answer() {
    let mut pages: Vec<_> = (0..40)
        .map(|at| page(&format!("old {at}"), &format!("harbour timetable number {at}"), 1990))
        .collect();
    pages.push(page(
        "new",
        "harbour timetable, and much else that makes this page longer than all the others",
        2025,
    ));
    let (memory, store) = store_of(&pages).await;
    let later = SessionId::new("later").unwrap();
    let _ack = memory
        .for_session(later)
        .log(mnemal::Message::user("Where is the harbour timetable?"))
        .await
        .unwrap();
    let query = "harbour timetable";
    let inserted = store.clone().searching(Searched::Inserted);

    assert_eq!(titles(&inserted, filtered(query, 2, Filter::eq("year", json!(2025)))).await, ["new"]);
    assert_eq!(titles(&inserted, filtered(query, 2, Filter::gt("year", json!(2000)))).await, ["new"]);
    assert_eq!(titles(&inserted, filtered(query, 3, Filter::lt("year", json!(2000)))).await.len(), 3);
    let either = Filter::eq("title", json!("new")).or(Filter::eq("title", json!("old 7")));
    assert_eq!(titles(&inserted, filtered(query, 9, either)).await.len(), 2);
    let neither = Filter::eq("title", json!("new")).and(Filter::eq("year", json!(1990)));
    assert_eq!(titles(&inserted, filtered(query, 9, neither)).await.len(), 0);
    assert_eq!(titles(&inserted, filtered(query, 9, Filter::eq("no such field", json!(1)))).await.len(), 0);

    let said =
        store.top_n::<Value>(filtered(query, 9, Filter::eq("event.session", json!("later")))).await.unwrap();
    assert_eq!(said.len(), 1);
    assert_eq!(
        (&said[0].document["text"], &said[0].document["role"]),
        (&json!("Where is the harbour timetable?"), &json!("user"))
    );
    assert!(said[0].document["at"].is_string());
    let by_role =
        store.top_n::<Value>(filtered(query, 9, Filter::eq("event.role", json!("user")))).await.unwrap();
    assert_eq!(by_role, said);
    let by_id = filtered(query, 9, Filter::eq("event.id", json!(said[0].id)));
    assert_eq!(store.top_n::<Value>(by_id).await.unwrap(), said);

    // A filter narrows the scope of a memory, and never widens it.
    let here = memory.for_session(SessionId::new("here").unwrap());
    let _ack = here.log(mnemal::Message::user("The harbour timetable hangs here")).await.unwrap();
    let narrow = Store::new(here);
    assert_eq!(narrow.top_n_ids(ask(query, 9)).await.unwrap().len(), 1);
    let wide = filtered(query, 9, Filter::eq("event.session", json!("later")));
    assert!(narrow.top_n_ids(wide).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_threshold_leaves_out_what_has_less_evidence() {
    let pages = [
        page("Ferries", "The ferry to Texel leaves at noon", 2024),
        page("Bread", "The bakery opens at six", 2025),
    ];
    let (_, store) = store_of(&pages).await;
    let asked = |threshold: f64| {
        VectorSearchRequest::builder()
            .query("When does the ferry to Texel leave?")
            .samples(10)
            .threshold(threshold)
            .build()
    };
    let all = store.top_n_ids(asked(0.0)).await.unwrap();
    let best = all[0].score;
    let some = store.top_n_ids(asked(best)).await.unwrap();
    assert!(some.iter().all(|one| one.score >= best) && some.contains(&all[0]));
    if best < 1.0 {
        assert_eq!(store.top_n_ids(asked(1.0)).await.unwrap(), []);
    }
}

#[tokio::test]
async fn bad_requests_and_documents_are_refused_with_a_reason() {
    let (memory, store) = store_of(&[]).await;
    let error = store.top_n_ids(ask("x", MOST_SAMPLES + 1)).await.unwrap_err();
    assert!(matches!(error, VectorStoreError::SamplesOutOfRange { requested: 1_001, max: 1_000 }), "{error}");
    let error = store.top_n_ids(ask("x", 0)).await.unwrap_err();
    assert_eq!(error.to_string(), "Filter error: 'samples' must be at least 1");
    for threshold in [-0.1, 1.1, f64::NAN] {
        let request = VectorSearchRequest::builder().query("x").samples(1).threshold(threshold).build();
        let error = store.top_n_ids(request).await.unwrap_err();
        assert_eq!(error.to_string(), "Filter error: 'threshold' must be from 0 to 1");
    }
    assert_eq!(store.top_n_ids(ask("", 5)).await.unwrap(), []);

    let documents = vec![("has text".to_owned(), Vec::new()), (" \n".to_owned(), Vec::new())];
    let error = store.insert_documents(documents).await.unwrap_err();
    assert_eq!(error.to_string(), "Datastore error: document 2 of 2 has no text");
    let error = store.insert_documents(vec![("x".repeat(300 * 1024), Vec::new())]).await.unwrap_err();
    assert!(error.to_string().contains("bytes"), "{error}");
    assert_eq!(memory.admin().stats().await.unwrap().head.count(), 0);

    let _note = memory.remember("a note about ferries").await.unwrap();
    let error = store.top_n::<Page>(ask("ferries", 1)).await.unwrap_err();
    assert!(matches!(error, VectorStoreError::JsonError(_)), "{error}");
    let inserted = store.searching(Searched::Inserted);
    assert_eq!(inserted.top_n::<Page>(ask("ferries", 1)).await.unwrap(), []);
}

#[tokio::test]
async fn more_documents_than_a_batch_are_inserted_and_secrets_are_not_kept() {
    let mut pages: Vec<_> = (0..1_001).map(|at| page("p", &format!("line {at}"), at)).collect();
    pages.push(page("long", &"quay ".repeat(20_000), 1));
    pages.push(page("token ghp_16C7e42F292c6912E7710c838347Ae178B4a", "how to reach the build server", 1));
    let (memory, store) = store_of(&pages).await;
    assert_eq!(memory.admin().stats().await.unwrap().head.count(), 1_003);
    let found = store.top_n::<Page>(ask("how to reach the build server", 1)).await.unwrap();
    assert_eq!(found[0].document.body, "how to reach the build server");
    assert_eq!(titles(&store, ask("quay", 1)).await, ["long"]);
    assert!(!found[0].document.title.contains("ghp_"), "{}", found[0].document.title);
}

#[tokio::test]
async fn a_memory_that_is_switched_off_finds_nothing() {
    let store = Store::new(Memory::disabled().unwrap());
    store.insert_documents(vec![("anything", Vec::new())]).await.unwrap();
    assert_eq!(store.top_n_ids(ask("anything", 3)).await.unwrap(), []);
}
