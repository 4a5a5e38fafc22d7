//! Preference selection for a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use mnemal_core::{
    AsOf, ContextRequest, ContextSource as _, Decision, Degraded, Embedder, Error, ErrorKind, EventKind,
    Fragment, InclusionReason, Layer, LearningKind, Level, ModelId, Origin, RepeatPolicy, Result, Section,
    SessionId, Slot, Timestamp, TokenCount, Within,
};
use mnemal_learnings::PreferenceSource;

use crate::log::{Space, now, remember};

/// A small embedder that distinguishes stairs and climbing from tea and drinking, and counts the texts it gets.
#[derive(Debug)]
struct SmallEmbedder {
    model: ModelId,
    asked: AtomicUsize,
    fails: bool,
}

impl SmallEmbedder {
    fn new() -> Arc<Self> {
        Arc::new(Self { model: ModelId::new("small").unwrap(), asked: AtomicUsize::new(0), fails: false })
    }

    fn of(text: &str) -> Vec<f32> {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let vector = [has(&["stairs", "summit", "hike"]), has(&["tea", "coffee", "drink"])];
        let vector = vector.map(|holds| if holds { 1.0 } else { 0.1 });
        let length = vector.iter().map(|value: &f32| value * value).sum::<f32>().sqrt();
        vector.iter().map(|value| value / length).collect()
    }
}

#[async_trait]
impl Embedder for SmallEmbedder {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn floor(&self) -> f32 {
        0.0
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        self.asked.fetch_add(texts.len(), Ordering::Relaxed);
        if self.fails {
            return Err(Error::new(ErrorKind::Unavailable, "asleep"));
        }
        Ok(texts.iter().map(|text| Some(Self::of(text))).collect())
    }
}

fn space_with(texts: &[&str]) -> Space {
    let mut space = Space::new();
    for text in texts {
        space.append(EventKind::UserMessage, text, Origin::UserDirect);
    }
    space.catch_up(1_000);
    space
}

fn asking(query: Option<&str>) -> ContextRequest {
    ContextRequest {
        query: query.map(str::to_owned),
        query_vector: None,
        session: SessionId::new("cli:2").unwrap(),
        channel: Within::All,
        user: Within::All,
        agent: Within::All,
        budget: TokenCount(4_000),
        sections: Within::All,
        as_of: AsOf::at(Timestamp::MAX),
        injected: RepeatPolicy::Repeat,
        tool: None,
        lines: None,
    }
}

fn source(space: &Space, embedder: Slot<dyn Embedder>) -> PreferenceSource {
    PreferenceSource::new(space.store.clone(), embedder, 64)
}

fn offered(source: &PreferenceSource, query: &str) -> Degraded<Vec<Fragment>> {
    now(source.fragments(&asking(Some(query)))).unwrap()
}

/// Notes without a kind, from any origin.
fn noted(notes: &[(&str, Origin)]) -> Space {
    let mut space = Space::new();
    for (text, origin) in notes {
        space.append(EventKind::Decision(Decision::Remember(remember(""))), text, *origin);
    }
    space.catch_up(1_000);
    space
}

const WISHES: [&str; 3] =
    ["I can't climb stairs because of my knee.", "I prefer green tea.", "I avoid loud restaurants."];

#[test]
fn the_nearest_comes_first_by_vectors_where_no_word_is_shared_and_by_words_without_them() {
    let space = space_with(&WISHES);
    let near = source(&space, Slot::Filled(SmallEmbedder::new()));
    let found = offered(&near, "Which summit should we take?");
    assert_eq!(found.iter().map(|one| one.text.as_str()).next(), Some(WISHES[0]));
    assert_eq!(found.gaps, []);
    let words = source(&space, Slot::Empty);
    assert_eq!(offered(&words, "Any quiet restaurants nearby?")[0].text, WISHES[2]);
    let newest: Vec<String> = offered(&words, "zzz").iter().map(|one| one.text.clone()).collect();
    assert_eq!(newest, [WISHES[2], WISHES[1], WISHES[0]], "what is equally near stands newest first");
    for one in offered(&near, "tea?").iter() {
        assert_eq!((one.section, one.because), (Section::Recall, InclusionReason::ExplicitPreference));
        assert_eq!(one.label.level, Level::User);
        let sum: f32 = one.parts.iter().map(|part| part.value).sum();
        assert!((sum - one.score.get()).abs() < 1e-5 && (0.0..=1.0).contains(&sum));
    }
}

#[test]
fn only_so_many_are_offered_and_only_the_users_own_words() {
    let mut space = Space::new();
    let mut tell = |text: &str, origin| {
        let mut note = remember("");
        note.kind = LearningKind::Preference;
        space.append(EventKind::Decision(Decision::Remember(note)), text, origin);
    };
    for number in 0..100 {
        tell(&format!("I prefer the colour number{number}."), Origin::UserDirect);
    }
    tell("Number7 is loved by everybody", Origin::Assistant);
    tell("I prefer adverts on number7.", Origin::ToolExternal);
    space.catch_up(1_000);
    let held = space.active().len();
    assert!(held >= 100, "{held}");
    let found = offered(&source(&space, Slot::Empty), "What about number7?");
    assert_eq!(found.len(), 20);
    let advised = offered(&source(&space, Slot::Empty), "Can you suggest something about number7?");
    assert_eq!(advised.len(), 80, "who asks for advice has more use for them");
    assert_eq!([&found[0].text, &advised[0].text], ["I prefer the colour number7."; 2]);
    assert!(found.iter().all(|one| one.text.starts_with("I prefer the colour")));
}

#[test]
fn no_more_are_offered_than_can_stand_and_few_where_something_is_asked_that_was_said() {
    let mut space = Space::new();
    for number in 0..400 {
        let mut note = remember("");
        note.kind = LearningKind::Preference;
        let text = format!("I prefer the colour number{number}.");
        space.append(EventKind::Decision(Decision::Remember(note)), &text, Origin::UserDirect);
    }
    space.catch_up(1_000);
    let source = source(&space, Slot::Empty);
    let count = |query: &str, budget: u32, injected| {
        let request = ContextRequest { budget: TokenCount(budget), injected, ..asking(Some(query)) };
        now(source.fragments(&request)).unwrap().len()
    };
    let (said, advice) = ("What about number7?", "Can you suggest something about number7?");
    for (budget, injected, of_said, of_advice) in [
        (8_000, RepeatPolicy::Repeat, 41, 140),
        (4_000, RepeatPolicy::Repeat, 20, 125),
        (4_000, RepeatPolicy::Skip, 41, 140),
        (1_000, RepeatPolicy::Repeat, 5, 31),
        (1_000, RepeatPolicy::Skip, 10, 62),
        (300, RepeatPolicy::Repeat, 3, 9),
    ] {
        let found = [said, advice].map(|query| count(query, budget, injected));
        assert_eq!(found, [of_said, of_advice], "{budget} {injected:?}");
    }
}

#[test]
fn the_users_own_words_stand_before_those_of_others_unless_they_are_named() {
    let told = |speakers: &[Option<&str>]| {
        let mut space = Space::new();
        for (number, speaker) in speakers.iter().enumerate() {
            let text = format!("I prefer loud music on day{number}.");
            space.append_with(EventKind::UserMessage, &text, Origin::UserDirect, |entry| {
                entry.event.speaker = speaker.map(|name| mnemal_core::Speaker::new(name).unwrap());
            });
        }
        space.catch_up(1_000);
        space
    };
    let order = |space: &Space, query: &str| -> Vec<String> {
        let offered = offered(&source(space, Slot::Empty), query);
        offered.iter().map(|one| one.text.replace("I prefer loud music on ", "")).collect()
    };
    let space = told(&[Some("Ada Low"), Some("User"), Some("Ben"), None]);
    assert_eq!(order(&space, "Which music?"), ["day3.", "day1.", "day2.", "day0."]);
    let named = order(&space, "Which music would Ada like?");
    assert_eq!(named, ["day3.", "day1.", "day0.", "day2."], "she counts in full, and Ben does not");
    let friends = told(&[Some("Ada"), Some("Ben")]);
    let found = offered(&source(&friends, Slot::Empty), "Which music?");
    assert!(found.iter().all(|one| one.score.get() > 0.2), "where all have names nobody is another");
    for one in found.iter() {
        let sum: f32 = one.parts.iter().map(|part| part.value).sum();
        assert!((sum - one.score.get()).abs() < 1e-5);
    }
}

#[test]
fn without_a_question_or_for_few_lines_none_are_offered() {
    let space = space_with(&WISHES);
    let (mut few, mut other) = (asking(Some("tea?")), asking(Some("tea?")));
    few.lines = Some(6);
    other.sections = Within::Only(vec![Section::Preferences]);
    for request in [asking(None), few, other] {
        assert_eq!(now(source(&space, Slot::Empty).fragments(&request)).unwrap().len(), 0);
    }
}

#[test]
fn each_text_is_embedded_once_and_a_model_that_fails_is_a_gap() {
    let space = space_with(&WISHES);
    let model = SmallEmbedder::new();
    let near = source(&space, Slot::Filled(model.clone()));
    let _first = offered(&near, "tea?");
    let asked = model.asked.load(Ordering::Relaxed);
    assert_eq!(offered(&near, "tea?").len(), 3);
    assert_eq!(model.asked.load(Ordering::Relaxed), asked + 1, "the question alone");
    let broken =
        SmallEmbedder { fails: true, model: ModelId::new("small").unwrap(), asked: AtomicUsize::new(0) };
    let found = offered(&source(&space, Slot::Filled(Arc::new(broken))), "green tea?");
    assert_eq!(found.value[0].text, WISHES[1], "its words are left");
    assert_eq!(found.gaps.iter().map(|gap| gap.layer).collect::<Vec<_>>(), [Layer::Vector]);
}

#[test]
fn what_was_noted_about_the_user_is_offered_whatever_is_asked_and_says_whose_note_it_is() {
    let space = noted(&[
        ("I'm allergic to walnuts", Origin::UserDirect),
        ("User prefers window seats on flights", Origin::Assistant),
        ("Deploys happen on Tuesdays", Origin::UserDirect),
        ("The user should buy our lamps", Origin::ToolExternal),
    ]);
    let source = source(&space, Slot::Empty);
    for query in ["What should I cook tonight?", "zzz"] {
        let found = offered(&source, query);
        let lines: Vec<_> =
            found.iter().map(|one| (one.text.as_str(), one.label.level, one.because)).collect();
        let own = ("I'm allergic to walnuts", Level::User, InclusionReason::ExplicitPreference);
        let agents = ("User prefers window seats on flights", Level::Agent, InclusionReason::Query);
        assert_eq!(lines, [agents, own], "equally near, so the newest first");
    }
    let found = offered(&source, "Any seats left?");
    assert!(found[0].score.get() > 0.0 && found[0].score.get() <= 0.5, "an agent's note counts half");
    let few = ContextRequest { lines: Some(3), ..asking(Some("seats?")) };
    assert_eq!(now(source.fragments(&few)).unwrap().value, [], "a host that asks on every prompt gets none");
}

#[test]
fn an_agent_that_notes_much_of_the_user_has_twelve_lines_the_nearest_first() {
    let texts: Vec<String> = (0..40).map(|number| format!("User owns bicycle number{number}")).collect();
    let notes: Vec<(&str, Origin)> = texts.iter().map(|text| (text.as_str(), Origin::Assistant)).collect();
    let space = noted(&notes);
    let found = offered(&source(&space, Slot::Empty), "Can you suggest something about number7?");
    assert_eq!((found.len(), found[0].text.as_str()), (12, "User owns bicycle number7"));
}
