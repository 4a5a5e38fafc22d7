//! Notes that stand in a context without being asked for.

use mnemal_core::{
    AsOf, Category, ContextRequest, ContextSource as _, Decision, EventKind, Fragment, Importance, Injected,
    LearningKind, Origin, Section, SessionId, Timestamp, TokenCount, Within,
};
use mnemal_learnings::NotesSource;

use crate::log::{Space, at, now, remember};

fn store(
    space: &mut Space,
    (kind, category, importance, content, origin): (LearningKind, &str, f32, &str, Origin),
) {
    let mut note = remember(content);
    (note.kind, note.category) = (kind, Category::new(category).unwrap());
    note.importance = Importance::new(importance).unwrap();
    if content == "expired" {
        note.expires_at = Some(at(50));
    }
    space.append(EventKind::Decision(Decision::Remember(note)), content, origin);
}

fn offered(space: &Space, sections: Within<Vec<Section>>, moment: Timestamp) -> Vec<Fragment> {
    let request = ContextRequest {
        query: None,
        query_vector: None,
        session: SessionId::new("cli:2").unwrap(),
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: TokenCount(4_000),
        sections,
        as_of: AsOf::at(moment),
        injected: Injected::Repeat,
        lines: None,
    };
    now(NotesSource::new(space.store.clone()).fragments(&request)).unwrap().value
}

fn filled() -> Space {
    let mut space = Space::new();
    for note in [
        (LearningKind::Note, "general", 0.5, "small", Origin::UserDirect),
        (LearningKind::Note, "general", 0.7, "big", Origin::UserDirect),
        (LearningKind::Note, "general", 0.9, "bigger", Origin::Assistant),
        (LearningKind::Note, "general", 1.0, "of a web page", Origin::ToolExternal),
        (LearningKind::Preference, "user-preferences/tone", 0.1, "short", Origin::UserDirect),
        (LearningKind::Note, "identity/name", 0.1, "Ana", Origin::UserDirect),
        (LearningKind::Preference, "user-preferences/identity", 0.2, "an engineer", Origin::UserDirect),
        (LearningKind::Note, "general", 0.8, "expired", Origin::UserDirect),
    ] {
        store(&mut space, note);
    }
    space.catch_up(100);
    space
}

// proves: NB-51
#[test]
fn identity_preferences_and_important_notes_are_offered_and_nothing_else() {
    let space = filled();
    let texts = |moment| {
        let offered = offered(&space, Within::All, moment);
        offered.into_iter().map(|made| (made.section, made.text, made.because.as_str())).collect::<Vec<_>>()
    };
    let expect = [
        (Section::Identity, "an engineer", "section"),
        (Section::Identity, "Ana", "section"),
        (Section::Preferences, "short", "explicit_preference"),
        (Section::Knowledge, "bigger", "importance"),
        (Section::Knowledge, "big", "importance"),
    ];
    assert_eq!(texts(at(60)), expect.map(|(section, text, because)| (section, text.to_owned(), because)));
    assert_eq!(texts(at(20)).len(), 6);
    assert!(texts(at(0)).is_empty());
}

#[test]
fn a_fragment_carries_its_source_standing_and_score() {
    let space = filled();
    let made = offered(&space, Within::Only(vec![Section::Preferences]), at(60)).remove(0);
    assert_eq!(made.sources.len(), 1);
    assert_eq!((made.label.at, made.label.level.as_str()), (at(5), "user"));
    assert!((made.parts.iter().map(|part| part.value).sum::<f32>() - made.score.get()).abs() < 1e-6);
    assert_eq!(made.producer, Some(mnemal_learnings::producer()));
}
