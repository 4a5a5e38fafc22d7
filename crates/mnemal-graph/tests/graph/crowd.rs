//! Many concurrent writers, and two projectors over their events.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use mnemal_core::{
    AsOf, Cursor, EntityFilter, EventStore as _, FactFilter, GraphDelta, GraphStore as _, MentionFilter,
    Projection, Projector as _, Timestamp,
};
use mnemal_graph::{Graph, GraphProjector};
use mnemal_store::MemoryStore;
use mnemal_testkit::Records;

use crate::log::{PLENTY, Script, now};

/// Concurrent writers: subjects of each, turns, and number of subjects. Source: DF-42, concurrent updates of one entity.
const WRITERS: usize = 64;
const CLAIMS: usize = 1_000;
const TURNS: usize = 10;
const SUBJECTS: usize = 10;
/// Positions that the slower projector leaves to the other. Source: own choice; after each it reloads its state.
const APART: u64 = 40;

/// Returns one turn of a writer: the first claim about each subject is the same for all writers.
fn turn(writer: usize, turn: usize) -> String {
    let each = CLAIMS / TURNS;
    let claim = |n: usize| {
        let subject = n % SUBJECTS;
        if n < SUBJECTS {
            format!("E{subject} likes tea\n")
        } else {
            format!("E{subject} likes w{writer}n{n}\n")
        }
    };
    (turn * each..(turn + 1) * each).map(claim).collect()
}

// proves: DF-42
#[test]
fn of_64_who_write_1000_claims_each_at_once_none_is_lost_and_no_entity_is_made_twice() {
    let store = Arc::new(MemoryStore::new());
    let records = Mutex::new(Records::new(1));
    let writing = AtomicUsize::new(WRITERS);
    let fold = |apart: u64| {
        let projector = GraphProjector::new(store.clone(), store.clone(), Arc::new(Script));
        let mut after = Cursor::START;
        loop {
            let is_last = writing.load(Ordering::SeqCst) == 0;
            let at = now(Projection::<GraphDelta>::cursor(store.as_ref())).unwrap();
            if !is_last && after.behind(at) < apart {
                thread::yield_now();
                continue;
            }
            after = at;
            if now(projector.step(PLENTY)).unwrap().behind == 0 && is_last {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (store, records, writing) = (&store, &records, &writing);
            scope.spawn(move || {
                for n in 0..TURNS {
                    let text = turn(writer, n);
                    let entry = records.lock().unwrap().turn(&format!("s{writer}"), &text).unwrap();
                    now(store.append(&[entry])).unwrap();
                }
                writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        scope.spawn(|| fold(0));
        scope.spawn(|| fold(APART));
    });
    let entities = now(store.entities(&EntityFilter::all())).unwrap();
    let names: BTreeSet<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!((entities.len(), names.len()), (SUBJECTS, SUBJECTS));
    let facts = now(store.history(&FactFilter::all())).unwrap();
    let (believed, before): (Vec<_>, Vec<_>) = facts.iter().partition(|fact| fact.expired_at.is_none());
    assert_eq!(believed.len(), WRITERS * (CLAIMS - SUBJECTS) + SUBJECTS);
    let supports: usize = believed.iter().map(|fact| fact.supports.len()).sum();
    assert_eq!(supports, WRITERS * CLAIMS);
    let shared = believed.iter().filter(|fact| fact.supports.len() == WRITERS).count();
    assert_eq!(shared, SUBJECTS);
    assert!(before.iter().all(|fact| fact.object.key() == "=tea"), "only what all say is weighed again");
    let mentions = now(store.mentions(&MentionFilter::all())).unwrap();
    assert_eq!(mentions.len(), WRITERS * TURNS * SUBJECTS);
    let graph = Graph::new(store.clone());
    for entity in &entities {
        let seen = now(graph.mention_stats(entity.id, AsOf::present(Timestamp::MAX))).unwrap().unwrap();
        assert_eq!(seen.events, WRITERS * TURNS);
    }
}
