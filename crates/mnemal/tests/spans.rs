//! Telemetry spans of operations.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use mnemal::events::Selector;
use mnemal::{Builder, Decision, Engine, Memory, NoteKey, Scope, SessionId, Settings, SpaceId};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Subscriber, subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

type Fields = BTreeMap<String, String>;

/// Records each top-level operation span when it closes.
#[derive(Clone, Debug, Default)]
struct RecordedSpan(Arc<Mutex<Vec<(String, Fields)>>>);

struct Reading<'f>(&'f mut Fields);

impl Visit for Reading<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for RecordedSpan {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Reading(&mut fields));
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        values.record(&mut Reading(span.extensions_mut().get_mut::<Fields>().unwrap()));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        // Nested operations, such as the duplicate check of a note, are inside the span of the call.
        if span.metadata().target() == "mnemal::operation" && span.parent().is_none() {
            let fields = span.extensions_mut().remove::<Fields>().unwrap();
            self.0.lock().unwrap().push((span.name().to_owned(), fields));
        }
    }
}

impl RecordedSpan {
    /// Returns the only span since the last call; its name equals its operation field.
    #[track_caller]
    fn only(&self) -> (String, Fields) {
        let mut spans = std::mem::take(&mut *self.0.lock().unwrap());
        let Some((name, fields)) = spans.pop() else { panic!("no span") };
        assert!(spans.is_empty(), "{spans:?}");
        assert_eq!(fields["gen_ai.operation.name"], name);
        (name, fields)
    }
}

/// Records the cycle log lines at level info.
#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<Vec<Fields>>>);

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        if metadata.target() == "mnemal::dream" && *metadata.level() == tracing::Level::INFO {
            let mut fields = Fields::new();
            event.record(&mut Reading(&mut fields));
            self.0.lock().unwrap().push(fields);
        }
    }
}

// proves: AD-54 (one line at level info, and the same in the ledger)
#[tokio::test]
async fn a_cycle_is_one_line_of_numbers_without_content() {
    let lines = Lines::default();
    let _heard = subscriber::set_default(Registry::default().with(lines.clone()));
    let memory = home(Engine::builder());
    for text in ["The lift is loud.", "The lift is loud.", "The lift is loud.", "Ada waters the ferns."] {
        let _done = memory.remember(text).await.unwrap();
    }
    let owner = mnemal::types::OwnerId::new("test").unwrap();
    memory.admin().engine().dream(&owner, mnemal::dream::DreamMode::Asked).await.unwrap();
    let said = std::mem::take(&mut *lines.0.lock().unwrap());
    let [line] = said.as_slice() else { panic!("{said:?}") };
    let ledger = memory.admin().engine().last_cycle().await.unwrap().unwrap().counts;
    for (name, expect) in [
        ("live", Some(4)),
        ("reviewed", None),
        ("created_since", Some(4)),
        ("merged", Some(1)),
        ("repaired", Some(0)),
        ("rejected", Some(0)),
        ("archived", Some(1)),
        ("protected", Some(0)),
        ("model_calls", Some(0)),
        ("tokens", Some(0)),
        ("ms", None),
    ] {
        let value: u64 = line[name].parse().unwrap();
        assert_eq!((value, ledger[name]), (expect.unwrap_or(value), value), "{name}: {line:?}");
    }
    assert!(line["reviewed"].parse::<u64>().unwrap() >= 2, "{line:?}");
    assert_eq!(line.len(), 12, "and what it is");
    memory.admin().engine().dream(&owner, mnemal::dream::DreamMode::Asked).await.unwrap();
    let said = std::mem::take(&mut *lines.0.lock().unwrap());
    assert_eq!((said.len(), said[0]["created_since"].as_str()), (1, "0"));
}

fn home(builder: Builder) -> Memory {
    let engine = builder.in_memory().unwrap();
    engine.memory(Scope::whole(SpaceId::new("home").unwrap())).for_session(SessionId::new("s1").unwrap())
}

// proves: AD-75 (names, attributes, and no content unless it is asked for)
#[tokio::test]
async fn each_operation_is_a_span_of_the_conventions_without_content() {
    let kept = RecordedSpan::default();
    let _heard = subscriber::set_default(Registry::default().with(kept.clone()));
    let memory = home(Engine::builder());
    let key = NoteKey::new("deploy_day").unwrap();
    let plain = memory.remember("The build takes nine minutes.").await.unwrap();
    let (name, fields) = kept.only();
    assert_eq!(name, "create_memory");
    assert_eq!(fields["gen_ai.memory.record.id"], plain.id.unwrap().to_string());
    assert_eq!(
        (fields["gen_ai.memory.store.id"].as_str(), fields["otel.kind"].as_str()),
        ("home", "internal")
    );
    assert_eq!(fields["gen_ai.conversation.id"], "s1");
    let _done = memory.remember("Deploys happen on Tuesdays").key(key.clone()).await.unwrap();
    assert_eq!(kept.only().0, "upsert_memory");
    let _done =
        memory.remember("Deploys happen on Tuesdays").once(std::time::Duration::from_mins(1)).await.unwrap();
    assert_eq!(kept.only().0, "upsert_memory");
    let found = memory.recall("when do we deploy?").await.unwrap();
    let (name, fields) = kept.only();
    assert_eq!(
        (name.as_str(), fields["gen_ai.memory.record.count"].parse()),
        ("search_memory", Ok(found.hits.len()))
    );
    assert!(!fields.contains_key("error.type"));
    let context = memory.context("when do we deploy?").await.unwrap();
    let (name, fields) = kept.only();
    let lines = context.receipt.lines.len();
    assert_eq!((name.as_str(), fields["gen_ai.memory.record.count"].parse()), ("search_memory", Ok(lines)));
    assert_eq!(fields.contains_key("mnemal.gaps"), !context.gaps.is_empty());
    let _done = memory.facts().decide(Decision::Archive(key.clone().into())).await.unwrap();
    assert_eq!(kept.only().0, "update_memory");
    let _done = memory.facts().decide_by_agent(Decision::Restore(key.clone().into())).await.unwrap();
    assert_eq!(kept.only().0, "update_memory");
    memory.forget(Selector::Key(key.clone())).await.unwrap();
    assert_eq!(kept.only().0, "delete_memory");
    let error = memory.forget(Selector::Key(key)).await.unwrap_err();
    let (name, fields) = kept.only();
    assert_eq!((name.as_str(), fields["error.type"].as_str()), ("delete_memory", error.kind().as_str()));
}

// proves: AD-75 (content behind the flag)
#[tokio::test]
async fn texts_are_in_spans_only_where_the_host_wants_them() {
    for captures in [false, true] {
        let kept = RecordedSpan::default();
        let _heard = subscriber::set_default(Registry::default().with(kept.clone()));
        let mut settings = Settings::default();
        settings.telemetry.capture_content = captures;
        let memory = home(Engine::builder().with_settings(settings));
        let _done = memory.remember("Deploys happen on Tuesdays").await.unwrap();
        let (_, stored) = kept.only();
        let _done = memory.recall("deploys on Tuesdays").await.unwrap();
        let (_, found) = kept.only();
        let _done = memory.context("deploys on Tuesdays").await.unwrap();
        let (_, shown) = kept.only();
        let all = format!("{stored:?} {found:?} {shown:?}");
        assert_eq!(all.contains("Tuesdays"), captures, "{all}");
        if captures {
            assert_eq!(found["gen_ai.memory.query.text"], "deploys on Tuesdays");
            let texts: Vec<String> = serde_json::from_str(&found["gen_ai.memory.records"]).unwrap();
            assert_eq!(texts, ["Deploys happen on Tuesdays"]);
            assert!(shown["gen_ai.memory.records"].contains("Deploys happen on Tuesdays"));
        }
    }
}
