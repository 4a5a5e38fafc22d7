//! Partial failure: a failing layer costs its part of the answer and nothing else.

use futures_util::FutureExt as _;
use mnemal_context::{Assembler, AssemblerParts};
use mnemal_core::{Cursor, ErrorKind, Layer, ModelId, Section};

use crate::fakes::{Script, assemble, fragment, note, parts, request, shown};

#[test]
fn a_source_that_fails_or_panics_is_a_gap_of_its_layer_and_the_others_answer() {
    for (script, gap) in
        [(Script::Fail, "learnings: failed (unavailable)"), (Script::Panic, "learnings: failed (internal)")]
    {
        let hit = Script::Offer(vec![fragment(Section::Recall, 2, "still here")]);
        let answer = assemble(
            parts(vec![(Layer::Learnings, script), (Layer::Lexical, hit)]),
            &request(Some("q"), 4_000),
        );
        assert_eq!(shown(&answer), [2]);
        assert!(answer.gaps.iter().any(|found| found.to_string() == gap), "{:?}", answer.gaps);
        assert_eq!(answer.receipt.gaps, answer.gaps);
    }
}

/// The state of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Answers,
    Absent,
    Fails,
    Panics,
}

/// Each layer with its section, and whether its absence is reported: an unconfigured layer is no gap where no section is
/// its own.
const LAYERS: [(Layer, Section, bool); 6] = [
    (Layer::Learnings, Section::Preferences, true),
    (Layer::Summaries, Section::Channel, true),
    (Layer::Graph, Section::Entity, true),
    (Layer::Events, Section::Recent, false),
    (Layer::Lexical, Section::Recall, false),
    (Layer::Working, Section::State, true),
];

#[test]
fn every_combination_of_absent_and_failing_layers_costs_their_lines_and_nothing_else() {
    const FATES: [Fate; 4] = [Fate::Answers, Fate::Absent, Fate::Fails, Fate::Panics];
    for case in 0..FATES.len().pow(6) {
        let fates = (0..6).map(|place| FATES[case / FATES.len().pow(place) % FATES.len()]);
        let fates: Vec<Fate> = fates.collect();
        let (mut scripts, mut lines, mut expect) = (Vec::new(), Vec::new(), Vec::new());
        for (number, ((layer, section, is_told), fate)) in (0_u64..).zip(LAYERS.iter().zip(&fates)) {
            let offer = Script::Offer(vec![fragment(*section, number, &format!("line {number}"))]);
            let (script, gap) = match fate {
                Fate::Answers => (Some(offer), None),
                Fate::Absent => (None, is_told.then_some("not configured")),
                Fate::Fails => (Some(Script::Fail), Some("failed (unavailable)")),
                Fate::Panics => (Some(Script::Panic), Some("failed (internal)")),
            };
            scripts.extend(script.map(|script| (*layer, script)));
            expect.extend(gap.map(|gap| format!("{}: {gap}", layer.as_str())));
            lines.extend((*fate == Fate::Answers).then_some(u128::from(number)));
        }
        let answer = assemble(parts(scripts), &request(None, 4_000));
        let (mut found, mut gaps) =
            (shown(&answer), answer.gaps.iter().map(ToString::to_string).collect::<Vec<_>>());
        found.sort_unstable();
        gaps.sort();
        expect.sort();
        assert_eq!((found, gaps), (lines, expect), "{fates:?}");
    }
}

#[test]
fn layers_that_are_not_there_are_told_once_and_only_for_wanted_sections() {
    let notes = Script::Offer(vec![note(Section::Preferences, 1, "tabs")]);
    let mut asked = request(None, 4_000);
    let answer = assemble(parts(vec![(Layer::Learnings, notes.clone())]), &asked);
    let gaps: Vec<String> = answer.gaps.iter().map(ToString::to_string).collect();
    assert_eq!(gaps, ["graph: not configured", "summaries: not configured", "working: not configured"]);
    asked.sections = mnemal_core::Within::Only(vec![Section::Preferences]);
    assert!(assemble(parts(vec![(Layer::Learnings, notes)]), &asked).gaps.is_empty());
}

#[test]
fn a_query_vector_without_finite_values_is_a_mistake_of_the_caller() {
    for vector in [vec![], vec![f32::NAN], vec![1.0, f32::INFINITY]] {
        let mut asked = request(Some("q"), 100);
        asked.query_vector = Some((ModelId::new("m").unwrap(), vector));
        let answer = Assembler::new(parts(vec![])).assemble(&asked, Cursor::START).now_or_never().unwrap();
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::Invalid);
    }
}

// proves: NX-01.1
#[test]
fn the_receipt_says_from_what_it_was_made() {
    let mut asked = request(Some("q"), 4_000);
    asked.query_vector = Some((ModelId::new("caller").unwrap(), vec![1.0]));
    let receipt = assemble(parts(vec![]), &asked).value.receipt;
    assert_eq!(receipt.model, Some(ModelId::new("caller").unwrap()));
    assert_eq!(
        (receipt.tokenizer.as_str(), receipt.version.as_str(), receipt.head.count()),
        ("thirds", "0", 9)
    );
    assert_eq!(receipt.settings_hash, mnemal_context::ContextSettings::default().hash());
}

// proves: NB-57, GB-43, DF-62
#[test]
fn assembling_only_looks_up() {
    // All parts of an assembler: one that could call a model or a network would be listed here.
    let AssemblerParts {
        sources: _,
        counter: _,
        receipts: _,
        clock: _,
        ids: _,
        key: _,
        settings: _,
        line_cache: _,
        version: _,
        model: _,
    } = parts(vec![]);
    let hit = Script::Offer(vec![fragment(Section::Recall, 2, "still here")]);
    let ready = Assembler::new(parts(vec![(Layer::Lexical, hit)]))
        .assemble(&request(Some("q"), 4_000), Cursor::START)
        .now_or_never();
    assert_eq!(shown(&ready.expect("it waits for its sources alone").unwrap()), [2]);
}
