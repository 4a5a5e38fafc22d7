//! Conformance suites of the ports that the facade implements: clock, ids, the built-in embedder, context sources.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]
#![expect(clippy::unused_async, reason = "a fixture of a suite is async")]

use std::sync::Arc;

use mnemal::context::{ContextRequest, RepeatPolicy};
use mnemal::ports::{EventStore as _, RandomIds, SystemClock};
use mnemal::types::TokenCount;
use mnemal::{AsOf, SessionId, Timestamp, Within};
use mnemal_events::RecentSource;
use mnemal_providers::StaticEmbedder;
use mnemal_store::MemoryStore;
use mnemal_testkit::Records;

async fn clock() -> SystemClock {
    SystemClock::default()
}

async fn ids() -> RandomIds {
    RandomIds::default()
}

async fn embedder() -> StaticEmbedder {
    StaticEmbedder::built_in()
}

/// Five turns of one session, and a request of another one.
async fn recent() -> (RecentSource, ContextRequest) {
    let store = MemoryStore::new();
    let mut records = Records::new(1);
    for turn in 0..5 {
        store.append(&[records.turn("other", &format!("turn {turn}")).unwrap()]).await.unwrap();
    }
    let request = ContextRequest {
        query: Some("turn".to_owned()),
        query_vector: None,
        session: SessionId::new("asking").unwrap(),
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: TokenCount(1_000),
        sections: Within::All,
        as_of: AsOf::present(Timestamp::EPOCH.plus_micros(1_900_000_000_000_000)),
        injected: RepeatPolicy::Repeat,
        tool: None,
        lines: None,
    };
    (RecentSource::new(Arc::new(store)), request)
}

mnemal_testkit::clock_conformance!(clock);
mnemal_testkit::id_source_conformance!(ids);
mnemal_testkit::embedder_conformance!(embedder);
mnemal_testkit::context_source_conformance!(recent);
