//! Token limit for every budget and counter, verified by the receipt.

use std::collections::BTreeMap;
use std::sync::Arc;

use mnemal_context::{Context, ContextSettings, Format, line_number};
use mnemal_core::{Fragment, Level, RecordRef, Section, TokenCount, TokenCounter};
use proptest::prelude::*;

use crate::fakes::{
    Estimate, Nasty, Thirds, assemble, context, external, fragment, left_out, note, offering, request,
    secondary, shown,
};

fn any_fragment() -> impl Strategy<Value = Fragment> {
    let text = prop_oneof![
        4 => "([a-z]{1,9} ){1,40}",
        1 => "\\PC{0,80}",
        1 => "([a-zéß日本 .]{1,60}\\. ){1,60}",
        1 => Just("the very same words of everybody".to_owned()),
    ];
    (0..10_usize, 0..1_000_u64, text, any::<(bool, bool, bool, bool)>()).prop_map(
        |(section, number, text, kind)| {
            let (of_note, of_others, unscored, elsewhere) = kind;
            let maker = if of_note { note } else { fragment };
            let mut made = maker(Section::ALL[section], number, &text);
            if of_others {
                made = external(made);
            }
            if elsewhere {
                made = secondary(made);
            }
            if unscored {
                made.score = mnemal_core::Score::default();
            }
            made
        },
    )
}

fn check(context: &Context, offered: &[Fragment], counter: &dyn TokenCounter, budget: u32) {
    let receipt = &context.receipt;
    let sum: TokenCount = context.blocks.iter().map(|block| counter.count(&block.text)).sum();
    assert!(sum.0 <= budget, "{sum:?} of {budget}");
    assert!(context.text.is_empty() || counter.count(&context.text).0 <= budget);
    assert_eq!((context.tokens, receipt.tokens), (sum, sum));
    assert_eq!(context.text, context.blocks.iter().map(|block| block.text.as_str()).collect::<String>());
    assert_eq!(receipt.blocks.iter().map(|block| block.tokens).sum::<TokenCount>(), sum);
    for (block, account) in context.blocks.iter().zip(&receipt.blocks) {
        assert_eq!((block.kind, block.hash, block.tokens), (account.kind, account.hash, account.tokens));
        assert_eq!(block.hash, *blake3::hash(block.text.as_bytes()).as_bytes());
    }
    let mut fates: BTreeMap<RecordRef, u32> = BTreeMap::new();
    for line in &receipt.lines {
        assert!(!line.sources.is_empty());
        *fates.entry(line.record).or_default() += 1;
    }
    let n_omitted: u32 = receipt.omitted_counts.iter().map(|(_, count)| count).sum();
    assert_eq!(receipt.omitted.len(), 100.min(n_omitted as usize));
    for omitted in &receipt.omitted {
        *fates.entry(omitted.record).or_default() += 1;
    }
    assert!(fates.values().all(|count| *count == 1), "{fates:?}");
    let records: std::collections::BTreeSet<RecordRef> =
        offered.iter().map(|fragment| fragment.record).collect();
    assert_eq!(receipt.lines.len() + n_omitted as usize, records.len());
    let of_others: TokenCount =
        receipt.lines.iter().filter(|line| line.level == Level::External).map(|line| line.tokens).sum();
    assert!(of_others.0 * 4 <= budget);
    let of_secondary = |record: RecordRef| {
        let mut offered = offered.iter().filter(|fragment| fragment.record == record);
        offered.all(|fragment| fragment.label.space.is_some())
    };
    let elsewhere = receipt.lines.iter().filter(|line| of_secondary(line.record));
    assert!(elsewhere.map(|line| line.tokens).sum::<TokenCount>().0 * 4 <= budget);
    let used: TokenCount = context.sections.iter().map(|section| section.tokens).sum();
    assert_eq!(used, receipt.lines.iter().map(|line| line.tokens).sum::<TokenCount>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    // proves: NX-01.1, NX-01.2, NX-01.3, NX-01.4, NX-01.6, NB-71, DF-86, BA-37
    #[test]
    fn any_fragments_fit_any_budget_and_each_is_accounted_for_once(
        offered in prop::collection::vec(any_fragment(), 0..60),
        budget in prop_oneof![0..400_u32, 0..16_000_u32],
        counter in 0..3_usize,
        format in prop_oneof![Just(Format::Markdown), Just(Format::Xml), Just(Format::Json)],
        query: bool,
    ) {
        let counter: Arc<dyn TokenCounter> = match counter {
            0 => Arc::new(Nasty),
            1 => Arc::new(Thirds),
            _ => Arc::new(Estimate),
        };
        let mut parts = offering(offered.clone());
        parts.counter = Arc::clone(&counter);
        parts.settings = ContextSettings { format, ..ContextSettings::default() };
        let answer = assemble(parts, &request(query.then_some("deploy"), budget));
        check(&answer.value, &offered, counter.as_ref(), budget);
    }
}

// proves: GB-42, PB-38, GA-16, GB-48 (nothing relevant is said honestly)
#[test]
fn nothing_to_say_is_an_empty_text_with_a_valid_receipt() {
    let mut withheld = fragment(Section::Recall, 1, "far from the question");
    withheld.withheld = Some(mnemal_core::OmittedReason::BelowFloor);
    for offered in [vec![], vec![withheld]] {
        let context = context(offered.clone());
        assert_eq!((context.text.as_str(), context.tokens, context.blocks.len()), ("", TokenCount(0), 0));
        assert_eq!(left_out(&context).len(), offered.len());
    }
    let nothing = assemble(offering(vec![fragment(Section::Recall, 1, "x")]), &request(None, 0)).value;
    assert_eq!((nothing.text.as_str(), left_out(&nothing)), ("", vec![(1, "budget")]));
}

// proves: NX-01.4
#[test]
fn a_hundred_omissions_are_listed_best_first_and_all_are_counted() {
    let offered =
        (0..150).map(|number| fragment(Section::Recall, number, &format!("item {number}"))).collect();
    let context = assemble(offering(offered), &request(Some("item"), 0)).value;
    assert_eq!(context.receipt.omitted.len(), 100);
    assert_eq!(context.receipt.omitted_counts, [(mnemal_core::OmittedReason::Budget, 150)]);
    assert!(context.receipt.omitted.is_sorted_by(|a, b| a.score >= b.score));
}

// proves: NB-70, NB-59
#[test]
fn sections_keep_their_share_and_recall_gets_the_rest() {
    let text = |number: u64| format!("{number} {}", "lorem ipsum dolor sit amet ".repeat(5));
    let many =
        |section, from: u64| (from..from + 60).map(move |number| fragment(section, number, &text(number)));
    let offered: Vec<Fragment> = many(Section::Preferences, 0)
        .chain(many(Section::Recent, 100))
        .chain(many(Section::Recall, 200))
        .chain(many(Section::Recall, 300))
        .collect();
    let context = context(offered);
    let used = |section| *context.sections.iter().find(|used| used.section == section).unwrap();
    let (preferences, recent) = (used(Section::Preferences), used(Section::Recent));
    assert_eq!((preferences.share, recent.share), (TokenCount(300), TokenCount(0)));
    assert!((2..=300).contains(&preferences.tokens.0));
    assert_eq!(recent.tokens.0, 0, "the last conversation is no answer");
    assert!(used(Section::Recall).tokens.0 > 2_900);
    let reasons: Vec<&str> =
        context.receipt.omitted_counts.iter().map(|(reason, _)| reason.as_str()).collect();
    assert_eq!(reasons, ["budget", "section_full", "scope"]);
}

// proves: GB-15 (its share)
#[test]
fn other_spaces_take_a_quarter_and_what_they_say_too_is_said_once() {
    let text = |number: u64| format!("{number} {}", "lorem ipsum dolor sit amet ".repeat(5));
    let elsewhere = (0..80).map(|number| secondary(fragment(Section::Recall, number, &text(number))));
    let own = (100..110).map(|number| fragment(Section::Recall, number, &text(number)));
    let context = context(elsewhere.chain(own).collect());
    let theirs = context.receipt.lines.iter().filter(|line| context_of_space(&context, line.record));
    let theirs: u32 = theirs.map(|line| line.tokens.0).sum();
    assert!((800..=1_000).contains(&theirs), "{theirs}");
    assert_eq!(shown(&context).iter().filter(|number| **number >= 100).count(), 10);
    assert!(left_out(&context).iter().all(|(number, reason)| *number < 100 && *reason == "section_full"));
    let twice = [
        secondary(note(Section::Preferences, 1, "short answers")),
        note(Section::Preferences, 2, "short answers"),
    ];
    let context = crate::fakes::context(twice.to_vec());
    assert_eq!((shown(&context), left_out(&context)), (vec![2], vec![(1, "duplicate")]));
}

fn context_of_space(context: &Context, record: RecordRef) -> bool {
    let place = context.receipt.lines.iter().position(|line| line.record == record).unwrap();
    let mut lines = context.text.lines().filter(|line| line_number(line) == Some(place + 1));
    lines.next().unwrap().contains(" (global) ")
}

// proves: NB-70
#[test]
fn where_nothing_is_asked_what_is_left_goes_to_recent_events() {
    let recent = (0..60).map(|number| fragment(Section::Recent, number, &format!("event {number}")));
    let context = assemble(offering(recent.collect()), &request(None, 4_000)).value;
    assert!(
        context.sections.iter().any(|used| used.section == Section::Recent && used.tokens.0 > used.share.0)
    );
}

// proves: NB-73, DF-84
#[test]
fn the_best_record_is_shortened_and_never_lost_for_its_length() {
    let long = "It ships on Tuesdays after the freeze. ".repeat(40);
    let best = fragment(Section::Recall, 0, &long);
    let context =
        assemble(offering(vec![best, fragment(Section::Recall, 1, "also")]), &request(Some("ship"), 200))
            .value;
    assert!(shown(&context).contains(&0), "{:?}", left_out(&context));
    assert!(context.text.contains("after the freeze.…\""), "{}", context.text);
}

// proves: NB-73
#[test]
fn one_item_takes_at_most_500_tokens() {
    let context = assemble(
        offering(vec![fragment(Section::Recall, 1, &"é ".repeat(9_000))]),
        &request(Some("e"), 16_000),
    );
    let tokens = context.receipt.lines[0].tokens.0;
    assert!((500..600).contains(&tokens), "{tokens}");
}
