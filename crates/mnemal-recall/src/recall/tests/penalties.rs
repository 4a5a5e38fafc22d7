//! Penalties for answers that contain the question's words.

use super::*;
use crate::EvidenceFeatures;

fn lexical(question: &str) -> (f32, EvidenceFeatures) {
    let request = RecallRequest { mode: Mode::Lexical, ..RecallRequest::new(question) };
    let (_, answer, _) = ask(&recall(&store(&chat())), &request);
    (answer.evidence, answer.hits[0].features)
}

// proves: AD-14
#[test]
fn what_somebody_else_did_is_no_evidence_for_the_one_who_is_asked_about() {
    let (right, features) = lexical("What did Ben build with the daughter on Saturday?");
    assert!(right > 0.9 && features.named > features.others, "{right} {features:?}");
    let (wrong, features) = lexical("What did Ada build with the daughter on Saturday?");
    assert!(wrong < EVIDENCE_FLOOR && features.named < features.others, "{wrong} {features:?}");
    assert!((features.coverage - 1.0).abs() < 1e-6, "the words are all there");
}

#[test]
fn turns_without_a_named_speaker_raise_no_doubt_about_who_did_it() {
    let (evidence, features) = lexical("Which of the dinners does Ben cook with lentil soup and basil?");
    assert!(evidence >= EVIDENCE_FLOOR, "{evidence} {features:?}");
    assert!(features.others < 0.5, "the assistant's plan holds most of it and does not count: {features:?}");
    let (_, nobody) = lexical("What was built with the daughter on Saturday?");
    assert!(nobody.named == 0.0 && nobody.others == 0.0, "nobody is named: {nobody:?}");
}

#[test]
fn an_attribute_that_is_not_said_near_a_hit_takes_evidence_away() {
    let (said, features) = lexical("What was the name of the telescope?");
    assert!(said >= EVIDENCE_FLOOR && features.lacking == 0.0, "{said} {features:?}");
    let (unsaid, features) = lexical("What was the agenda of the pottery class?");
    assert!(unsaid < EVIDENCE_FLOOR && (features.lacking - 1.0).abs() < 1e-6, "{unsaid} {features:?}");
    let (_, class) = lexical("What agenda did the pottery class have?");
    assert!(class.lacking == 0.0, "there it is only the class of the answer");
}

#[test]
fn a_name_that_nobody_said_takes_evidence_away() {
    let (known, features) = lexical("When does the pottery class of Ada start?");
    assert!(known >= EVIDENCE_FLOOR && !features.has_unknown_name);
    let (unknown, features) = lexical("When does the pottery class of Zebulon start?");
    assert!(unknown < known / 3.0 && features.has_unknown_name, "{unknown} {features:?}");
    let (_, small) = lexical("when does the pottery class of zebulon start?");
    assert!(!small.has_unknown_name, "it is not written as a name");
    let (_, german) = lexical("Wann beginnt das Töpfern von Ada, und was ist mit der Drehscheibe?");
    assert!(!german.has_unknown_name, "in German every noun has a capital");
}

#[test]
fn a_name_may_have_been_said_in_what_is_not_loaded_yet() {
    let store = store(&chat());
    let index: Arc<dyn IndexStore> = Arc::new(store.clone());
    let parts = RecallParts {
        index: index.into(),
        events: Arc::new(store.clone()),
        graph: Slot::Empty,
        learnings: Slot::Empty,
        embedder: embedder(),
        counter: Slot::Empty,
    };
    let at_once = NonZeroUsize::new(8).unwrap();
    let recall = Recall::new(parts, RecallSettings { at_once, ..RecallSettings::default() });
    let request =
        RecallRequest { mode: Mode::Lexical, ..RecallRequest::new("Is the cactus of Hubble called Igor?") };
    let (_, early, gaps) = ask(&recall, &request);
    assert!(gaps.iter().any(|gap| matches!(gap.cause, GapCause::Stale { .. })), "{gaps:?}");
    assert!(!early.hits[0].features.has_unknown_name, "Hubble was named before the newest eight turns");
}
