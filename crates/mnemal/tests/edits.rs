//! Edits of a note are atomic, whoever makes them.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mnemal::dream::DreamMode;
use mnemal::events::{Classification, Operation, OperationKind};
use mnemal::model::BackgroundPermit;
use mnemal::ports::{Pass, PassOutcome, Proposal};
use mnemal::types::{Category, Importance, Producer, Tag};
use mnemal::{Decision, ErrorKind, EventId, ImportFormat, ImportOptions, Learning, Memory, NoteKey};

const SAID: &str = "The key word is marzipan.";

fn key() -> NoteKey {
    NoteKey::new("word").unwrap()
}

fn classification() -> Classification {
    Classification {
        category: Category::new("spam").unwrap(),
        tags: Vec::new(),
        importance: Importance::DEFAULT,
    }
}

async fn held(memory: &Memory) -> Learning {
    memory.preferences().learning("word").await.unwrap()
}

async fn head(memory: &Memory) -> u64 {
    memory.admin().stats().await.unwrap().head.count()
}

/// A note with the user's own words under a key.
async fn told() -> (Memory, EventId) {
    let memory = Memory::in_memory().await.unwrap();
    let call = memory.remember(SAID).key(key()).by_user().category(Category::new("doors").unwrap());
    let event = call.tag(Tag::new("secret").unwrap()).await.unwrap().value.event;
    (memory, event)
}

#[derive(Debug)]
struct Proposes(Mutex<Vec<Proposal>>);

#[async_trait]
impl Pass for Proposes {
    fn name(&self) -> &'static str {
        "proposes"
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> mnemal::Result<PassOutcome> {
        let proposals = std::mem::take(&mut *self.0.lock().unwrap());
        Ok(PassOutcome { proposals, ..PassOutcome::default() })
    }
}

fn proposal(kind: OperationKind, text: &str) -> Proposal {
    let producer = Producer { id: "dream/proposes".to_owned(), version: 1 };
    let shown = kind.names();
    let operation = Operation { kind, producer, prompt: None, shown, because: "a test".to_owned() };
    Proposal { operation, text: text.to_owned() }
}

// proves: AD-39
#[tokio::test]
async fn an_edit_that_may_not_be_changes_no_part_of_a_memory() {
    let (memory, event) = told().await;
    let (before, length) = (held(&memory).await, head(&memory).await);

    // An edit with a blank or too long text, or too many tags, is rejected as a whole.
    let tags = (0..65).map(|number| Tag::new(format!("tag-{number}")).unwrap());
    let with_tags = tags.fold(memory.remember("The word is nougat."), mnemal::events::RememberCall::tag);
    let endless = "nougat ".repeat(200_000);
    for edit in [memory.remember(""), memory.remember(" \n"), memory.remember(endless), with_tags] {
        let refused = edit.key(key()).by_user().category(Category::new("spam").unwrap()).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!((head(&memory).await, held(&memory).await), (length, before.clone()));
    }

    // An agent cannot change the user's own words: neither text, filing nor validity.
    let edit = memory.remember("The word is nougat.").key(key()).category(Category::new("spam").unwrap());
    let _kept = edit.importance(Importance::new(0.1).unwrap()).await.unwrap();
    let _kept = memory.facts().decide_by_agent(Decision::Archive(key().into())).await.unwrap();
    assert_eq!(held(&memory).await, before);

    // Neither can an import.
    let other = Memory::in_memory().await.unwrap();
    let _kept = other.remember("The word is nougat.").key(key()).await.unwrap();
    let mut log = Vec::new();
    other.admin().export(&mut log).await.unwrap();
    let options = ImportOptions::new("export.jsonl", memory.admin().engine().now());
    let read =
        memory.events().import(log.as_slice(), ImportFormat::Mnemal, options, &mut |_| {}).await.unwrap();
    assert_eq!((read.value.taken.stored, held(&memory).await), (1, before.clone()));

    // Neither can consolidation.
    let free = memory.remember("The door of the depot is green.").await.unwrap().value.event;
    let proposals = vec![
        proposal(OperationKind::Refine { note: event, classification: classification() }, ""),
        proposal(OperationKind::Retire { notes: vec![event], into: None }, ""),
        proposal(
            OperationKind::Merge { notes: vec![event, free], classification: classification() },
            "The door of the depot is green, marzipan.",
        ),
    ];
    let pass = Arc::new(Proposes(Mutex::new(proposals)));
    let cycle = memory.admin().engine().dreamer(vec![pass]).unwrap().cycle(DreamMode::Asked).await.unwrap();
    assert_eq!((cycle.refused().count(), cycle.accepted().count()), (3, 0), "{cycle:?}");
    assert_eq!(held(&memory).await, before);

    // The user can.
    let _kept = memory.remember("The word is nougat.").key(key()).by_user().await.unwrap();
    assert_eq!(held(&memory).await.content, "The word is nougat.");
}
