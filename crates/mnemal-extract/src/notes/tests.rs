//! Preference notes rule by rule.

use super::*;

#[test]
fn every_pack_can_be_read() {
    for (language, text) in PACKS {
        if let Err(error) = Pack::parse(language, text) {
            panic!("{language}: {error}");
        }
    }
}

#[test]
fn every_rule_finds_its_examples_and_leaves_its_counter_examples() {
    let mut wrong = Vec::new();
    for rule in packs().iter().flat_map(|pack| &pack.rules) {
        for example in &rule.examples {
            if !preference_notes(&OwnWords::of_text(example)).iter().any(|note| note.rule == rule.id) {
                wrong.push(format!("{} misses: {example}", rule.id.as_str()));
            }
        }
        for counter in &rule.counters {
            if !preference_notes(&OwnWords::of_text(counter)).is_empty() {
                wrong.push(format!("{} takes: {counter}", rule.id.as_str()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_note_is_the_sentence_verbatim_with_its_topics() {
    let text = "Thanks! I can't stand crowded places, so a quiet beach is better. Which one is it?";
    let notes = preference_notes(&OwnWords::of_text(text));
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].span.of(text), Some("I can't stand crowded places, so a quiet beach is better."));
    assert_eq!(notes[0].kind, NoteKind::Aversion);
    assert!(notes[0].topics.iter().any(|topic| topic == "crowded"), "{:?}", notes[0].topics);
    assert!(
        preference_notes(&OwnWords::of_text("I have diabetes, so I can't eat sugar."))[0]
            .requires_user_permission
    );
}

#[test]
fn a_gate_takes_a_note_away() {
    for text in [
        "Do I hate crowded places?",
        "If I hate crowded places, where can I go?",
        "My sister hates crowded places.",
        "She said I hate crowded places.",
        "I used to hate crowded places.",
        "\"I really hate crowded places\" was the headline.",
        "I don't know whether I hate crowded places.",
        "I hate my answers in bullet points.",
    ] {
        assert!(preference_notes(&OwnWords::of_text(text)).is_empty(), "{text}");
    }
}
