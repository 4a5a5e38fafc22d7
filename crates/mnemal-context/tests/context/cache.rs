//! Prompt-cache stability of blocks.

use mnemal_context::{Context, prefix_share};
use mnemal_core::{BlockKind, Fragment, Section, TokenCount, marker};

use crate::fakes::{assemble, context, external, fragment, note, offering, request, shown};

/// The context of these fragments in 4,000 tokens, without a question.
fn unasked(fragments: Vec<Fragment>) -> Context {
    assemble(offering(fragments), &request(None, 4_000)).value
}

#[test]
fn beside_a_question_one_fence_holds_everything_and_what_answers_stands_first() {
    let offered = [Section::Identity, Section::Preferences, Section::Entity, Section::Recall, Section::State];
    let offered =
        (0_u64..).zip(offered).map(|(number, section)| fragment(section, number, &format!("word{number}")));
    let context = context(offered.collect());
    assert_eq!(context.blocks.len(), 1);
    assert_eq!(context.text.matches(marker::NOTICE).count(), 1);
    assert_eq!(shown(&context), [2, 3, 0, 1, 4], "{}", context.text);
    assert!(
        context.text.contains("\n- 1 2026-01-03 \"word2\"\n- 2 2026-01-04 \"word3\"\n"),
        "{}",
        context.text
    );
    assert!(!context.no_match);
}

#[test]
fn where_nothing_answers_that_is_said_and_the_last_conversation_does_not_fill_the_room() {
    let offered =
        || vec![note(Section::Preferences, 1, "Short, please."), fragment(Section::Recent, 2, "See you.")];
    let asked = context(offered());
    assert!(asked.no_match && asked.text.contains("nothing was found for this question\n"), "{}", asked.text);
    assert_eq!(shown(&asked), [1]);
    let greeted = unasked(offered());
    assert!(!greeted.no_match && !greeted.text.contains("nothing was found"), "{}", greeted.text);
    assert_eq!(shown(&greeted), [1, 2]);
}

fn block(context: &Context, kind: BlockKind) -> &str {
    context.blocks.iter().find(|block| block.kind == kind).map_or("", |block| block.text.as_str())
}

// proves: NX-06.1, NX-06.4, CF-11
#[test]
fn three_fenced_blocks_stand_in_order_and_only_the_last_tells_time() {
    let offered =
        [Section::Recall, Section::Recent, Section::Entity, Section::Preferences, Section::Identity];
    let offered =
        (0_u64..).zip(offered).map(|(number, section)| fragment(section, number, &format!("word{number}")));
    let context = unasked(offered.collect());
    let kinds: Vec<BlockKind> = context.blocks.iter().map(|block| block.kind).collect();
    assert_eq!(kinds, [BlockKind::Stable, BlockKind::Session, BlockKind::Volatile]);
    for block in &context.blocks {
        let (rest, cut) = marker::strip(&block.text);
        assert_eq!((rest.as_ref(), cut.len()), ("", 1));
        assert!(block.text.contains(marker::NOTICE));
        assert_eq!(
            block.text.contains("now 2026-11-21 22:30 UTC, receipt rcl_"),
            block.kind == BlockKind::Volatile
        );
    }
    assert_eq!(shown(&context), [4, 3, 2, 0, 1]);
}

// proves: NX-06.7
#[test]
fn stable_lines_stand_by_section_then_first_appearance_then_id_and_never_by_score() {
    let mut offered: Vec<_> =
        [5, 2, 9].map(|number| note(Section::Preferences, number, &format!("word{number}"))).into();
    offered.push(note(Section::Identity, 30, "name"));
    let mut twin = note(Section::Preferences, 1, "twin");
    twin.label.at = offered[0].label.at;
    offered.push(twin);
    assert_eq!(shown(&unasked(offered)), [30, 2, 1, 5, 9]);
}

// proves: NX-06.2
#[test]
fn the_stable_block_does_not_depend_on_what_is_recalled() {
    let notes = || {
        (0..40)
            .map(|number| note(Section::Knowledge, number, &format!("note {number} {}", "word ".repeat(12))))
    };
    let preferences = || (50..53).map(|number| note(Section::Preferences, number, &format!("wish {number}")));
    let turn = |recalled: u64, words: usize, budget: u32| {
        let recalled = (100..100 + recalled).map(|number| {
            let mut made =
                fragment(Section::Recall, number, &format!("hit {number} {}", "said ".repeat(words)));
            made.text.push_str(if number == 100 { "note 3" } else { "" });
            made
        });
        let same = fragment(Section::Recall, 3, &format!("note 3 {}", "word ".repeat(12)));
        let offered = notes().chain(preferences()).chain(recalled).chain([same]).collect();
        assemble(offering(offered), &request(None, budget)).value
    };
    for budget in [600, 2_000, 4_000, 9_000] {
        let (one, other) = (turn(1, 3, budget), turn(60, 40, budget));
        assert!(!block(&one, BlockKind::Stable).is_empty());
        assert_eq!(block(&one, BlockKind::Stable), block(&other, BlockKind::Stable), "{budget}");
        assert!(budget < 4_000 || one.text != other.text, "{budget}");
    }
}

/// Fifty turns: preferences and notes change at turns 20 and 35, entities are added, recall differs each time.
fn turn(number: u64) -> Context {
    let notes = (0..12).map(|note_| {
        let version = if note_ == 4 && number >= 20 { "changed" } else { "first" };
        note(Section::Knowledge, note_, &format!("note {note_} {version} about the release process"))
    });
    let wishes = (20..24)
        .map(|wish| note(Section::Preferences, wish, &format!("wish {wish} about the tone of answers")));
    let entities = (40..44 + number / 10)
        .map(|entity| fragment(Section::Entity, entity, &format!("entity {entity} is known")));
    let hit = fragment(Section::Recall, 100 + number, &format!("hit of turn {number}"));
    let offered = notes.chain(wishes).chain(entities).chain([hit]).collect();
    assemble(offering(offered), &request(None, 4_000)).value
}

// proves: NX-06.2, NX-06.3, NX-06.5, NX-06.9, DF-83
#[test]
fn fifty_turns_keep_the_prefix() {
    let turns: Vec<Context> = (0..50).map(turn).collect();
    let kept_front = |pair: &[Context]| {
        let front = |context: &Context| {
            [BlockKind::Stable, BlockKind::Session].map(|kind| block(context, kind).to_owned()).concat()
        };
        prefix_share(&front(&pair[0]), &front(&pair[1]))
    };
    for (number, pair) in turns.windows(2).enumerate() {
        let same = block(&pair[0], BlockKind::Stable) == block(&pair[1], BlockKind::Stable);
        assert_eq!(same, number + 1 != 20, "turn {number}");
    }
    let mean = |share: &dyn Fn(&[Context]) -> f32| turns.windows(2).map(share).sum::<f32>() / 49.0;
    assert!(mean(&kept_front) >= 0.95, "{}", mean(&kept_front));
    assert!(mean(&|pair| prefix_share(&pair[0].text, &pair[1].text)) >= 0.80);
}

// proves: NB-74, PB-39
#[test]
fn equal_input_gives_equal_bytes() {
    assert_eq!(turn(7), turn(7));
}

#[test]
fn prefix_share_is_a_share() {
    for (previous, current, share) in [("", "", 1.0), ("ab", "ab", 1.0), ("ab", "abcd", 0.5), ("x", "y", 0.0)]
    {
        assert!((prefix_share(previous, current) - share).abs() < f32::EPSILON);
    }
}

// proves: NX-08.7
#[test]
fn evidence_of_others_stands_at_the_end_of_its_block_and_takes_a_quarter_at_most() {
    let words = |number: u64| format!("page {number} {}", "text ".repeat(20));
    let own = (0..3).map(|number| fragment(Section::Recall, 100 + number, &words(100 + number)));
    let others = (0..90).map(|number| external(fragment(Section::Recall, number, &words(number))));
    let context = context(others.chain(own).collect());
    let (before, after) = context.text.split_once("external:\n").unwrap();
    for number in 100..103 {
        assert!(before.contains(&format!("page {number} ")) && !after.contains(&format!("page {number} ")));
    }
    assert_eq!(before.matches("page ").count(), 3, "{before}");
    let tokens: TokenCount = context
        .receipt
        .lines
        .iter()
        .filter(|line| line.level == mnemal_core::Level::External)
        .map(|line| line.tokens)
        .sum();
    assert!((850..=1_000).contains(&tokens.0), "{tokens:?}");
}
