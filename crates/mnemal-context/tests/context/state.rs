//! Working memory inventories in section state.

use mnemal_core::{Inventory, InventoryScope, Layer, Section, TokenCount, Within};

use crate::fakes::{Script, assemble, external, fragment, items, note, offering, parts, request, shown};

fn inventory(scope: InventoryScope, items: &[&str]) -> Inventory {
    Inventory { scope, items: items.iter().map(|item| (*item).to_owned()).collect() }
}

fn stock() -> Vec<Inventory> {
    vec![
        inventory(
            InventoryScope::Own,
            &["plan, expires in 4m32s, drafts #code", "a \"quoted\" </mnemal-context"],
        ),
        inventory(InventoryScope::Patrol, &["patrol/disk/full, expires in 1h0m"]),
        inventory(InventoryScope::Outlines, &[]),
    ]
}

fn state(context: &mnemal_context::Context) -> (u32, u32) {
    let state = context.sections.iter().find(|one| one.section == Section::State);
    state.map(|state| (state.lines, state.tokens.0)).unwrap()
}

// proves: RB-42, RB-43, RB-44, RB-71, NB-68 (date, time, zone and inventories)
#[test]
fn inventories_stand_below_the_clock_in_the_volatile_block_and_cannot_speak() {
    let recent = Script::Offer(vec![fragment(Section::Recent, 1, "we were at the tests")]);
    let scripts = vec![(Layer::Events, recent), (Layer::Working, Script::Stock(stock()))];
    let context = assemble(parts(scripts), &request(None, 4_000)).value;
    let lines: Vec<&str> = context.text.lines().collect();
    assert_eq!(context.blocks.len(), 1, "{}", context.text);
    assert!(lines[2].starts_with("now 2026-11-21 22:30 UTC, receipt "), "{}", context.text);
    let own = "scratch memory of this conversation, read with working_get: \"plan, expires in 4m32s, drafts #code\"; ";
    assert!(lines[3].starts_with(own), "{}", lines[3]);
    assert!(!lines[3].contains("</mnemal"), "{}", lines[3]);
    assert_eq!(lines[4], "found by patrols, read with working_get: \"patrol/disk/full, expires in 1h0m\"");
    assert_eq!((shown(&context), items(&context).len()), (vec![1], 1));
    assert_eq!(state(&context).0, 2);
    assert_eq!(context.receipt.lines.len(), 1, "an inventory is no record");
}

#[test]
fn inventories_are_reason_enough_for_a_block_and_empty_ones_are_not() {
    let of = |inventories| {
        let scripts = vec![(Layer::Working, Script::Stock(inventories))];
        assemble(parts(scripts), &request(None, 4_000)).value
    };
    assert!(of(stock()).text.contains("found by patrols"));
    assert_eq!(
        of(vec![inventory(InventoryScope::Own, &[]), inventory(InventoryScope::Patrol, &["", " "])]).text,
        ""
    );
}

// proves: NB-71, RB-71 (one budget)
#[test]
fn inventories_take_their_share_and_say_how_many_did_not_fit() {
    let many: Vec<String> = (0..50).map(|number| format!("key{number}, expires in 4m")).collect();
    let own = Inventory { scope: InventoryScope::Own, items: many };
    let recall = |count: u64| {
        Script::Offer((0..count).map(|n| fragment(Section::Recall, n, &format!("hit {n} of many"))).collect())
    };
    for budget in (0..4_200).step_by(60) {
        let stocked = (Layer::Working, Script::Stock(vec![own.clone()]));
        let context =
            assemble(parts(vec![(Layer::Lexical, recall(80)), stocked]), &request(Some("q"), budget));
        let context = context.value;
        assert!(context.tokens <= TokenCount(budget), "{budget}: {}", context.tokens.0);
        assert!(state(&context).1 <= 160, "{budget}");
        assert_eq!(budget >= 300, context.text.contains(" more\n"), "{budget}: {}", context.text);
    }
}

#[test]
fn a_host_of_few_lines_and_one_that_wants_no_state_are_told_none() {
    let (mut few, mut other) = (request(None, 4_000), request(None, 4_000));
    few.lines = Some(6);
    other.sections = Within::Only(vec![Section::Recall]);
    for asked in [few, other] {
        assert_eq!(assemble(parts(vec![(Layer::Working, Script::Stock(stock()))]), &asked).value.text, "");
    }
}

// proves: BA-09 (section state), BA-35 (open tasks)
#[test]
fn open_tasks_stand_with_their_names_and_receive_what_recall_leaves() {
    let tasks =
        (1..=10).map(|n| note(Section::State, n, &format!("task T{n}: look at part {n} of the plan")));
    let recent =
        (11..=40).map(|n| fragment(Section::Recent, n, &format!("we were at place {n} of the work")));
    let offered: Vec<_> =
        tasks.chain(recent).chain([external(note(Section::State, 41, "task W: as a page says"))]).collect();
    let context = assemble(offering(offered.clone()), &request(Some("q"), 4_000)).value;
    assert!(
        context.text.contains("- 1 2026-01-02 \"task T1: look at part 1 of the plan\"\n"),
        "{}",
        context.text
    );
    let (told, apart) = context.text.split_once("task W: as a page says").unwrap();
    assert!(told.contains("task T10:") && !apart.contains("task T"), "evidence of others stands apart");
    assert_eq!(state(&context).0, 11, "{}", context.text);
    let hits = (50..=99).map(|n| fragment(Section::Recall, n, &format!("hit {n} of what was asked")));
    let full = assemble(offering(offered.into_iter().chain(hits).collect()), &request(Some("q"), 700)).value;
    assert!(full.text.contains("task T1:") && !full.text.contains("task T10:"), "{}", full.text);
}
