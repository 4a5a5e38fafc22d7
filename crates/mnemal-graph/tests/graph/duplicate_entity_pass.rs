//! Merge proposals of the background pass, and decisions on them.

use std::collections::BTreeSet;

use mnemal_core::{
    Decision, EntityId, EventId, EventKind, Operation, OperationKind, Origin, Pass as _, PassOutcome, Slot,
};
use mnemal_graph::{DuplicateEntityPass, MergeProposal};
use mnemal_testkit::permit;

use crate::log::{Life, now};

fn looked(life: &Life) -> PassOutcome {
    let pass =
        DuplicateEntityPass { events: life.store.clone(), graph: life.store.clone(), ledger: Slot::Empty };
    now(pass.run(&mut permit(0))).unwrap()
}

/// Runs the pass and applies its proposals; returns the operations with their pairs.
fn dream(life: &mut Life, on: &str) -> Vec<(EventId, [EntityId; 2])> {
    let mut done = Vec::new();
    for proposal in looked(life).proposals {
        let Operation { kind, shown, .. } = &proposal.operation;
        let OperationKind::Suggest { one, into } = *kind else { panic!("{kind:?}") };
        assert_eq!(shown.len(), 2, "each was named somewhere");
        let mut entry = life.entry(on, "dream", "");
        entry.event.kind = EventKind::Operation(proposal.operation);
        entry.event.origin = Origin::Engine;
        done.push((life.append(entry), [one, into]));
    }
    life.fold();
    done
}

fn merge_proposals(life: &Life) -> Vec<MergeProposal> {
    now(life.graph().merge_proposals(life.store.as_ref())).unwrap()
}

/// Pairs of people whose name words are in a different order, each pair with its own town.
fn pairs(life: &mut Life, from: usize, to: usize) {
    const FIRST: [&str; 6] = ["Brakant", "Clolipp", "Dyfmord", "Gurnuss", "Hemquev", "Joszwil"];
    const LAST: [&str; 3] = ["Ostrander", "Vimeiro", "Palfrey"];
    let all = LAST.iter().flat_map(|last| FIRST.iter().map(move |first| (first, last)));
    for (number, (first, last)) in all.enumerate().skip(from).take(to - from) {
        let town = format!("Town{number}{first}:location");
        life.say_in("2020-05-01", &format!("a{number}"), &format!("{first}_{last}\n{town}"));
        life.say_in("2020-05-01", &format!("b{number}"), &format!("{last}_{first}\n{town}"));
    }
}

// proves: BA-20
#[test]
fn those_who_look_alike_are_proposed_once_and_merged_by_a_person_alone() {
    let mut life = Life::new();
    pairs(&mut life, 0, 2);
    let before = life.dump();
    let proposed = dream(&mut life, "2020-06-01");
    assert_eq!(proposed.len(), 2);
    assert_eq!(life.dump(), before, "nobody is merged");
    assert_eq!(looked(&life).proposals, [], "each is proposed once");
    assert!(merge_proposals(&life).iter().all(|found| found.proposal.is_some()));
    let [(declined, _), (_, [one, into])] = proposed[..] else { panic!("{proposed:?}") };
    life.decide("2020-06-02", Decision::Undo { decision: declined });
    assert_eq!(life.dump(), before, "to decline changes nothing either");
    let left: BTreeSet<EntityId> =
        merge_proposals(&life).iter().flat_map(|found| [found.pair.one, found.pair.into]).collect();
    assert_eq!(left, BTreeSet::from([one, into]), "who was declined is two");
    let merged = life.decide("2020-06-03", Decision::Merge { one, into });
    assert_eq!(merge_proposals(&life), []);
    assert_eq!(looked(&life).proposals, []);
    life.decide("2020-06-04", Decision::Undo { decision: merged });
    assert_eq!(looked(&life).proposals, [], "what was taken back is not proposed again");
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows);
}

// proves: BA-20 (a person is not flooded)
#[test]
fn ten_wait_at_once_and_another_comes_when_one_is_decided() {
    let mut life = Life::new();
    pairs(&mut life, 0, 12);
    let proposed = dream(&mut life, "2020-06-01");
    assert_eq!((proposed.len(), merge_proposals(&life).len()), (10, 12));
    assert_eq!(dream(&mut life, "2020-06-02"), []);
    let first: Vec<bool> = merge_proposals(&life).iter().map(|found| found.proposal.is_some()).collect();
    assert!(first.iter().is_sorted_by(|one, other| one >= other), "what waits stands first");
    life.decide("2020-06-03", Decision::Undo { decision: proposed[0].0 });
    let [_, one_more] = proposed[1].1;
    life.decide("2020-06-03", Decision::Split { one: proposed[1].1[0], from: one_more });
    assert_eq!(dream(&mut life, "2020-06-04").len(), 2);
    assert_eq!(dream(&mut life, "2020-06-05"), []);
}

#[test]
fn names_that_are_alike_in_two_scripts_are_left_to_people() {
    let mut life = Life::new();
    life.say_in("2020-05-01", "one", "Apple:organization\nOslo:location");
    life.say_in("2020-05-02", "two", "Аpple:organization\nOslo:location");
    assert_eq!(merge_proposals(&life).len(), 1);
    assert_eq!(looked(&life).proposals, []);
}
