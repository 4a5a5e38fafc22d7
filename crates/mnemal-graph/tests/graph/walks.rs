//! Graph measures: distance, counts and paths match their definitions.

use std::num::NonZeroUsize;

use mnemal_core::{AsOf, EntityId, Timestamp};

use crate::log::{Life, now};

fn small() -> Life {
    let mut life = Life::new();
    for text in [
        "Ada knows Ben:person #friend",
        "Ben knows Cleo:person #friend",
        "Cleo knows Dan:person #friend",
        "Dan knows Ada:person #friend",
        "Cleo knows Eve:person #friend",
        "Eve works_at Acme:organization",
    ] {
        life.say("2020-05-01", text);
    }
    life
}

fn id(life: &Life, name: &str) -> EntityId {
    now(life.graph().entities_named(name, AsOf::present(Timestamp::MAX))).unwrap()[0].id
}

// proves: AD-26, RB-75, DF-47 (distance)
#[test]
fn distance_is_hops_in_both_directions_and_a_circle_is_walked_once() {
    let life = small();
    let limit = NonZeroUsize::new(15).unwrap();
    let now_known = AsOf::present(Timestamp::MAX);
    let around = now(life.graph().neighborhood(&[id(&life, "Ada")], 3, limit, now_known)).unwrap();
    let hops = |name: &str| around.reached.iter().find(|at| at.entity == id(&life, name)).map(|at| at.hops);
    assert_eq!(
        ["Ada", "Ben", "Dan", "Cleo", "Eve", "Acme"].map(hops),
        [Some(0), Some(1), Some(1), Some(2), Some(3), None]
    );
    assert_eq!(around.facts.len(), 5);
    let few = now(life.graph().neighborhood(&[id(&life, "Ada")], 3, NonZeroUsize::MIN, now_known)).unwrap();
    assert_eq!(few.facts.len(), 1);
}

// proves: BA-39 (connections: depth 3, at most 5)
#[test]
fn paths_are_shortest_first_and_pass_nobody_twice() {
    let life = small();
    let paths =
        now(life.graph().paths(id(&life, "Ada"), id(&life, "Cleo"), AsOf::present(Timestamp::MAX))).unwrap();
    assert_eq!(paths.iter().map(|path| path.facts.len()).collect::<Vec<_>>(), [2, 2]);
    let far =
        now(life.graph().paths(id(&life, "Ada"), id(&life, "Acme"), AsOf::present(Timestamp::MAX))).unwrap();
    assert!(far.is_empty(), "four facts away");
    let three =
        now(life.graph().paths(id(&life, "Ada"), id(&life, "Eve"), AsOf::present(Timestamp::MAX))).unwrap();
    assert_eq!(three.iter().map(|path| path.facts.len()).collect::<Vec<_>>(), [3, 3]);
    for path in paths {
        let mut passed = path.entities.clone();
        passed.sort_unstable();
        passed.dedup();
        assert_eq!(passed.len(), path.entities.len());
    }
}

// proves: BA-39 (connections: at most 5)
#[test]
fn of_many_paths_five_are_told() {
    let mut life = Life::new();
    for friend in ["Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal"] {
        life.say("2020-05-01", &format!("Ada knows {friend}:person #friend"));
        life.say("2020-05-01", &format!("{friend} knows Zoe:person #friend"));
    }
    let paths =
        now(life.graph().paths(id(&life, "Ada"), id(&life, "Zoe"), AsOf::present(Timestamp::MAX))).unwrap();
    assert_eq!(paths.iter().map(|path| path.facts.len()).collect::<Vec<_>>(), [2; 5]);
}
