//! The extractor on whole texts, and invariants for any text.

mod whose;

use std::collections::BTreeMap;

use mnemal_core::{
    Act, Body, ChannelId, Confidence, Event, EventId, EventKind, ExtractedFact, Extraction, Extractor as _,
    Gazetteer, Level, NewEvent, Origin, Seq, SessionId, Subject, Timestamp, Trust, Utterance, Zone,
};
use proptest::prelude::*;

use super::*;
use crate::language::Pack;

fn event(text: &str) -> Event {
    let at = Timestamp::from_micros(1_772_733_000_000_000).unwrap();
    let said = NewEvent {
        kind: EventKind::UserMessage,
        content: text.to_owned(),
        session: SessionId::new("s").unwrap(),
        channel: ChannelId::new("test").unwrap(),
        parent: None,
        speaker: None,
        user: None,
        agent: None,
        occurred_at: at,
        zone: Zone::utc(),
        origin: Origin::UserDirect,
        idempotency_key: None,
        metadata: BTreeMap::new(),
    };
    Event {
        id: EventId(1),
        seq: Seq(1),
        recorded_at: at,
        role: said.kind.role(),
        trust: Trust::User,
        level: Level::User,
        quarantined: None,
        echo: Vec::new(),
        body: Body::Present(Box::new(said)),
    }
}

fn assistant(text: &str) -> Event {
    let mut event = event(text);
    if let Body::Present(said) = &mut event.body {
        said.kind = EventKind::AssistantMessage;
    }
    event
}

fn of_event(event: &Event) -> Extraction {
    let known = Gazetteer::default();
    RuleExtractor::new().extract(&Utterance { event, before: &[], known: &known })
}

fn extract(text: &str) -> Extraction {
    of_event(&event(text))
}

/// Each claim as `subject predicate act object`.
fn claims(text: &str) -> Vec<String> {
    let line = |fact: &ExtractedFact| {
        let subject = match &fact.subject {
            Subject::Speaker => "me".to_owned(),
            Subject::Relation { role, .. } => role.clone(),
            Subject::Named(name) => name.clone(),
        };
        format!("{subject} {} {} {}", fact.predicate.as_str(), fact.act.as_str(), fact.object.text)
    };
    extract(text).facts.iter().map(line).collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(claims(text), expected, "{text}");
}

#[test]
fn every_language_is_read_and_has_the_gates_that_protect_its_rules() {
    for (code, gates, claims) in crate::language::SOURCES {
        assert!(Pack::read(code, gates, claims).is_ok(), "{code}: {:?}", Pack::read(code, gates, claims));
    }
    assert!(Pack::english().rules().is_some());
    let without = Pack::read("en", "[question]\nwords = ['who']\n", "").unwrap();
    assert!(without.rules().is_none(), "a language without the gates of negation runs no rule");
}

/// Each rule alone, so that the order of the rules does not matter.
#[test]
fn every_rule_finds_its_examples_and_leaves_its_counter_examples() {
    let mut wrong = Vec::new();
    let known = Gazetteer::default();
    for pack in Pack::all().iter().filter(|pack| pack.code() == "en") {
        let Some(rules) = pack.rules() else { continue };
        for rule in &rules.all {
            let id = rule.id.as_str();
            let others = rules.all.iter().map(|other| other.id.as_str()).filter(|other| *other != id);
            let alone = RuleExtractor::new().unweighed().without(others);
            let extract = |text: &str| {
                let (asked, text) = text.split_once(" >> ").unwrap_or(("", text));
                let (event, before) = (event(text), [assistant(asked)]);
                alone.extract(&Utterance { event: &event, before: &before, known: &known })
            };
            if rule.examples.len() < 2 || rule.counter.len() < 2 {
                wrong.push(format!("{id} needs two examples and two counter-examples"));
            }
            for text in rule.examples.iter().filter(|text| extract(text).facts.is_empty()) {
                let remarks = extract(text).remarks;
                let own: Vec<_> = remarks.iter().filter(|remark| remark.starts_with(id)).collect();
                wrong.push(format!("{id} misses: {text} {own:?}"));
            }
            for text in &rule.counter {
                let facts = extract(text).facts;
                wrong.extend(facts.first().map(|fact| format!("{id} takes: {text} {}", fact.object.text)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_turn_says_who_is_meant_and_what_holds() {
    check(
        "I live in Lyon and my sister Anna lives in Nice.",
        &["me lives_in assert Lyon", "sister lives_in assert Nice", "me relative assert Anna"],
    );
    check(
        "I'm allergic to walnuts and latex, so please check the list.",
        &["me allergic_to assert walnuts", "me allergic_to assert latex"],
    );
    check("I no longer work at Bosch.", &["me works_at end Bosch"]);
    check("I don't eat pork.", &["me diet negative pork"]);
    check("Can you plan dinners since I'm vegan?", &["me diet assert vegan"]);
    check("I have a dog and two cats.", &["me pet assert dog", "me pet assert cats"]);
}

#[test]
fn what_is_said_of_somebodys_partner_or_pet_is_not_said_of_them() {
    for (text, expected) in [
        ("John's wife is called Maria.", &["John partner assert Maria"][..]),
        ("John is married to Maria.", &["John partner assert Maria"]),
        ("John is engaged to Maria.", &["John partner assert Maria"]),
        ("John is not married to Maria.", &[]),
        ("John is married to his job.", &[]),
        ("Is John married to Maria?", &[]),
        ("Maria's husband works at Bosch.", &[]),
        ("John's dog is named Rex.", &["John pet assert Rex"]),
        ("My sister's husband is called Tom.", &["sister partner assert Tom"]),
        (
            "My sister Ida is a nurse. Her husband lives in Lyon.",
            &["me relative assert Ida", "sister role assert nurse"],
        ),
        (
            "My sister Ida lives in Nice. Her cat is called Pixel.",
            &["me relative assert Ida", "sister lives_in assert Nice", "sister pet assert Pixel"],
        ),
    ] {
        let (mut found, mut expected) = (claims(text), expected.to_vec());
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{text}");
    }
}

// proves: NB-28
#[test]
fn what_is_asked_denied_imagined_told_or_pasted_is_no_claim() {
    for text in [
        "Do I live in Lyon?",
        "I live in Lyon?",
        "I don't live in Lyon.",
        "If I lived in Lyon, I'd bike to work.",
        "I wish I had a dog.",
        "My boss said I live in Lyon.",
        "\"I live in Lyon and I work at Bosch.\" Please translate this.",
        "Fix the grammar:\n\nI live in Lyon and I have a dog.",
        "> I live in Lyon",
        "Put this on the label: “I live in Lyon.”",
        "Yeah right, I live in a castle in Lyon.",
        "My character lives in Lyon and I have a dog in the story.",
        "Maybe I have asthma.",
        "I would love a dog.",
    ] {
        check(text, &[]);
    }
}

#[test]
fn only_a_person_of_the_users_level_makes_claims() {
    let text = "I live in Lyon.";
    assert_eq!(extract(text).facts.len(), 1);
    let mut external = event(text);
    external.level = Level::External;
    let mut held = event(text);
    held.quarantined = Some(RuleId::new("rule").unwrap());
    let mut echo = event(text);
    echo.echo = vec![Span::whole(text).unwrap()];
    let mut assistant = event(text);
    if let Body::Present(said) = &mut assistant.body {
        said.kind = EventKind::AssistantMessage;
    }
    for event in [external, held, echo, assistant] {
        assert!(of_event(&event).facts.is_empty(), "{event:?}");
    }
}

// proves: BA-14
#[test]
fn what_tools_say_is_skipped_with_the_reason() {
    let tool = mnemal_core::ToolName::new("search").unwrap();
    for text in ["ok", "done", "true", "success", "Error: I live in Lyon.", "I have a dog."] {
        let kinds = [
            EventKind::ToolResult { tool: tool.clone(), ok: !text.starts_with("Error") },
            EventKind::ToolCall { tool: tool.clone() },
        ];
        for kind in kinds {
            let mut event = event(text);
            if let Body::Present(said) = &mut event.body {
                said.kind = kind;
            }
            let found = of_event(&event);
            assert!(found.facts.is_empty(), "{text}");
            assert_eq!(found.remarks, ["skipped: not said by a person"], "{text}");
        }
    }
}

// proves: NX-05.3
#[test]
fn every_claim_names_its_rule_and_its_words_and_every_drop_its_rule_and_reason() {
    let text = "I live in Lyon. Do I have a dog? If I worked at Bosch, I'd be rich.";
    let found = extract(text);
    let [fact] = found.facts.as_slice() else { panic!("{found:?}") };
    assert!(fact.rule.as_str().starts_with("en.lives_in."), "{fact:?}");
    assert_eq!(
        [fact.span.of(text), fact.sentence.of(text), fact.object.span.of(text)],
        [Some("I live in Lyon"), Some("I live in Lyon."), Some("Lyon")]
    );
    for (rule, reason) in [("en.pet.", "question"), ("en.works_at.", "hypothetical")] {
        assert!(
            found.remarks.iter().any(|remark| remark.starts_with(rule) && remark.contains(reason)),
            "{rule} {reason} {:?}",
            found.remarks
        );
    }
}

#[test]
fn a_rule_can_be_switched_off_and_the_producer_says_so() {
    let all = RuleExtractor::new();
    let fewer = RuleExtractor::new().without(["en.lives_in.live"]);
    let (event, known) = (event("I live in Lyon."), Gazetteer::default());
    let utterance = Utterance { event: &event, before: &[], known: &known };
    assert!(all.extract(&utterance).facts.iter().any(|fact| fact.rule.as_str() == "en.lives_in.live"));
    let extraction = fewer.extract(&utterance);
    assert!(extraction.facts.iter().all(|fact| fact.rule.as_str() != "en.lives_in.live"));
    assert!(extraction.remarks.iter().any(|remark| remark.contains("switched off")));
    assert_ne!(all.producer(), fewer.producer());
}

#[test]
fn the_producer_is_that_of_the_set_of_rules_that_are_left_out() {
    let id = |rules: &[&str]| RuleExtractor::new().without(rules.iter().copied()).producer().id;
    assert_eq!(
        id(&["en.lives_in.live", "de.name.i_am_called"]),
        id(&["de.name.i_am_called", "en.lives_in.live"])
    );
    let sets: [&[&str]; 4] = [&[], &["a"], &["a", "b"], &["a b"]];
    for (at, one) in sets.iter().enumerate() {
        assert!(sets[..at].iter().all(|other| id(other) != id(one)), "{one:?}");
    }
    let rules = (0..1_000).map(|number| format!("en.rule.{number}"));
    assert!(RuleExtractor::new().without(rules).producer().id.len() < 64, "every row carries it");
}

#[test]
fn every_rule_of_a_claim_is_known_by_its_id() {
    for (text, rule) in [("I live in Lyon.", "en.lives_in.live"), ("Ich wohne in Ulm.", "de.lives_in.i")] {
        assert!(extract(text).facts.iter().any(|fact| fact.rule.as_str() == rule), "{text}");
        assert!(RuleExtractor::has_rule(rule));
    }
    assert!(RuleExtractor::has_rule(Support::correction_rule()));
    for id in ["", "en.lives_in", "en.lives_in.live ", "EN.lives_in.live"] {
        assert!(!RuleExtractor::has_rule(id), "{id}");
    }
}

#[test]
fn what_is_taken_back_is_a_rule_of_its_own_that_can_be_left_out() {
    let without = RuleExtractor::new().without([Support::correction_rule()]);
    let (known, lyon) = (Gazetteer::default(), event("I live in Lyon, not in Nice."));
    let found = without.extract(&Utterance { event: &lyon, before: &[], known: &known });
    assert!(!found.facts.is_empty() && found.facts.iter().all(|fact| fact.act == Act::Assert), "{found:?}");
    assert!(found.remarks.iter().any(|remark| remark.contains("switched off")), "{found:?}");
    let (before, fool) = ([event("I live in Reykjavik now.")], event("April fool!"));
    let jest = Utterance { event: &fool, before: &before, known: &known };
    assert!(!RuleExtractor::new().extract(&jest).facts.is_empty());
    assert!(without.extract(&jest).facts.is_empty());
}

#[test]
fn a_claim_carries_its_time_its_key_and_its_confidence() {
    let extraction = extract("I married Ines Kowalska last March.");
    let [fact] = extraction.facts.as_slice() else { panic!("{extraction:?}") };
    assert_eq!(
        (fact.object.text.as_str(), fact.object.key.as_str(), fact.act),
        ("Ines Kowalska", "ines kowalska", Act::Assert)
    );
    assert!(fact.time.is_some() && fact.confidence >= Confidence::ACTIVE);
    assert_eq!(
        extract("I repainted the wooden bikes.").facts[0].object.key,
        extract("I repainted a wooden bike.").facts[0].object.key
    );
}

const STATEMENTS: [&str; 10] = [
    "I live in Lyon",
    "I work at Bosch",
    "My sister lives in Nice",
    "I'm allergic to walnuts",
    "I have a dog",
    "I speak Czech",
    "I am a nurse",
    "My wife Ines paints",
    "I love climbing",
    "We use Terraform",
];

proptest! {
    #[test]
    fn spans_lie_on_boundaries_and_twice_gives_the_same(text in "\\PC{0,120}") {
        let (first, again) = (extract(&text), extract(&text));
        prop_assert_eq!(&first, &again);
        for fact in &first.facts {
            for span in [fact.span, fact.sentence, fact.object.span] {
                prop_assert!(span.of(&text).is_some(), "{:?}", fact);
            }
            prop_assert!(!fact.object.text.is_empty());
        }
    }

    #[test]
    fn words_of_rules_in_any_order_are_read_without_harm(
        picks in proptest::collection::vec(0_usize..36, 0..24),
    ) {
        const WORDS: [&str; 36] = [
            "I", "my", "sister", "Anna", ",", "and", "live", "lives", "in", "Lyon", "not", "n't", "I'm", "’m", "a", "nurse", "at",
            "Bosch", "?", "if", "\"", "used to", "work", "allergic", "to", "every", "day", "who", "is", "called", "favourite",
            "von", "住在", "我", "né", "🙂",
        ];
        let text = picks.iter().filter_map(|at| WORDS.get(*at)).copied().collect::<Vec<_>>().join(" ");
        for fact in &extract(&text).facts {
            prop_assert!(fact.span.of(&text).is_some() && fact.object.span.of(&text).is_some());
        }
    }

    #[test]
    fn a_question_mark_takes_the_claim_away(at in 0..STATEMENTS.len()) {
        let text = STATEMENTS[at];
        prop_assert!(!extract(&format!("{text}.")).facts.is_empty(), "{}", text);
        prop_assert!(extract(&format!("{text}?")).facts.is_empty(), "{}", text);
    }

    #[test]
    fn what_is_supposed_or_told_by_others_takes_the_claim_away(at in 0..STATEMENTS.len()) {
        // A name in passing ("my wife Ines") is presupposed and stays.
        let text = STATEMENTS[at];
        if !text.contains("Ines") {
            for before in ["If ", "My friend said ", "I wish ", "Imagine "] {
                prop_assert!(extract(&format!("{before}{text}.")).facts.is_empty(), "{}{}", before, text);
            }
        }
    }

    #[test]
    fn texts_apart_say_the_same_as_together(one in 0..STATEMENTS.len(), other in 0..STATEMENTS.len()) {
        prop_assume!(one != other);
        let (one, other) = (STATEMENTS[one], STATEMENTS[other]);
        let together = extract(&format!("{one}.\n\n{other}."));
        let apart: Vec<_> = [one, other].into_iter().flat_map(|text| claims(&format!("{text}."))).collect();
        prop_assert_eq!(together.facts.len(), apart.len());
    }
}

#[test]
fn a_denial_takes_the_claim_away() {
    for (text, denied) in [
        ("I live in Lyon.", "I do not live in Lyon."),
        ("I work at Bosch.", "I never work at Bosch."),
        ("I'm allergic to walnuts.", "I'm not allergic to walnuts."),
        ("I am a nurse.", "I am not a nurse."),
        ("I have a dog.", "I don't have a dog."),
        ("I speak Czech.", "I can't speak Czech."),
        ("We use Terraform.", "We hardly use Terraform."),
    ] {
        assert!(!claims(text).is_empty(), "{text}");
        assert!(
            claims(denied).iter().all(|claim| !claim.contains(" assert ")),
            "{denied} {:?}",
            claims(denied)
        );
    }
}

#[test]
fn a_sentence_that_is_taken_back_or_played_claims_nothing() {
    for text in [
        "I live in a castle in Fife. Just kidding.",
        "Dear diary, I saw Rome. I live in Oslo.",
        "I live in Oslo. That's from an old film, is it good?",
    ] {
        assert!(extract(text).facts.is_empty(), "{text}");
    }
    assert!(!extract("I live in Oslo. I'm tired.").facts.is_empty());
}

#[test]
fn whoever_is_introduced_by_role_keeps_it() {
    let found = extract("The greyhound, Biscuit, has asthma. Biscuit is allergic to fish.");
    let named = found.facts.iter().filter(|fact| matches!(fact.subject, Subject::Named(_))).count();
    let by_role = |fact: &&ExtractedFact| matches!(&fact.subject, Subject::Relation { role, .. } if role == "greyhound");
    assert!(named == 0 && found.facts.iter().any(|fact| by_role(&fact)), "{found:?}");
}

#[test]
fn the_end_of_something_before_is_no_end_of_what_holds_now() {
    for (text, holds) in [
        ("Ich habe gekündigt und arbeite jetzt als Bäcker.", "me role assert Bäcker"),
        ("Veronika hat gekündigt und arbeitet jetzt als Lotsin.", "Veronika role assert Lotsin"),
        ("Ich bin ausgezogen und wohne jetzt in Ulm.", "me lives_in assert Ulm"),
    ] {
        let found = claims(text);
        assert!(found.iter().any(|claim| claim == holds), "{text}: {found:?}");
    }
    let found = claims("Ich habe letztes Jahr bei Bosch gekündigt und bin jetzt frei.");
    assert!(found.iter().any(|claim| claim.contains("works_at end Bosch")), "{found:?}");
}

#[test]
fn what_is_taken_back_beside_a_claim_never_was_so() {
    for (text, denied) in [
        ("No, not 3 August. My sister's birthday is 5 August.", "sister birthday negative 3 August"),
        ("Sorry, it's not 7 June. The report is due on 9 June.", "me deadline negative 7 June"),
        ("It's not cashews. I'm allergic to almonds.", "me allergic_to negative cashews"),
        ("I live in Lyon, not in Nice.", "me lives_in negative Nice"),
        ("No, not Cádiz. My brother Ivo is from Huelva.", "brother comes_from negative Cádiz"),
        ("Not 8080. The proxy port is 9090.", "me setting negative 8080"),
        ("Nein, nicht in Bonn. Ich wohne in Ulm.", "me lives_in negative Bonn"),
        ("No, no en Lugo. Vivo en Soria.", "me lives_in negative Lugo"),
        ("Pas à Brest. J'habite à Nantes.", "me lives_in negative Brest"),
        ("Não em Braga. Moro em Faro.", "me lives_in negative Braga"),
    ] {
        let found = claims(text);
        assert!(found.iter().any(|claim| claim == denied), "{text}: {found:?}");
        assert_eq!(found.iter().filter(|claim| claim.contains(" negative ")).count(), 1, "{text}: {found:?}");
    }
    for text in [
        "It's not raining. I love tea.",
        "Not bad. I'm allergic to almonds.",
        "No, not on Monday. I live in Lyon.",
        "It's not easy. I'm a nurse in Lyon.",
        "Not Tom. I live in Lyon.",
        "I'm able to juggle but not to sing.",
        "Not UTC. We're on Lisbon time, I live in Faro.",
        "Nicht schlecht. Ich wohne in Ulm.",
        "No es fácil. Vivo en Soria.",
    ] {
        let found = claims(text);
        assert!(
            !found.is_empty() && found.iter().all(|claim| !claim.contains(" negative ")),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_joke_is_taken_back_in_the_turn_behind_it() {
    let known = Gazetteer::default();
    let negative = |earlier: &[(&str, &str)], text: &str| -> Vec<String> {
        let before: Vec<Event> = earlier
            .iter()
            .map(|(kind, text)| {
                let mut event = event(text);
                if let (Body::Present(said), "assistant") = (&mut event.body, *kind) {
                    said.kind = EventKind::AssistantMessage;
                }
                event
            })
            .collect();
        let found =
            RuleExtractor::new().extract(&Utterance { event: &event(text), before: &before, known: &known });
        let denied =
            found.facts.iter().filter(|fact| fact.act == Act::Negative && fact.rule.as_str() == "correction");
        denied.map(|fact| format!("{} {}", fact.predicate.as_str(), fact.object.text)).collect()
    };
    for (earlier, text) in [
        ("I live in Reykjavik now.", "April fool! You believed that?"),
        ("I live in Reykjavik now.", "Just kidding!"),
        ("I live in Reykjavik now.", "That was only a joke. I like it here."),
        ("Ich wohne jetzt in Reykjavik.", "April, April!"),
        ("Ich wohne jetzt in Reykjavik.", "War nur ein Scherz."),
        ("Ahora vivo en Reykjavik.", "¡Era una broma!"),
        ("J'habite à Reykjavik.", "Poisson d'avril !"),
        ("Moro em Reykjavik.", "Era brincadeira!"),
    ] {
        let turns = [("user", earlier), ("assistant", "Congratulations!")];
        assert_eq!(negative(&turns, text), ["lives_in Reykjavik"], "{earlier} {text}");
    }
    let turns = [("user", "I live in Reykjavik now."), ("user", "It's cold.")];
    assert!(negative(&turns, "April fool!").is_empty(), "only what was said right before");
    for text in
        ["No joke, it's cold there and I like it.", "I'm not kidding.", "You're kidding!", "Are you joking?"]
    {
        assert!(negative(&turns[..1], text).is_empty(), "{text}");
    }
    assert!(negative(&[], "April fool!").is_empty());
}

#[test]
fn a_contact_is_of_the_kind_that_it_looks_like() {
    for (text, topic) in [
        ("You can reach me at 0171 5550123.", "phone"),
        ("You can reach me at ada@example.org.", "mail"),
        ("On Mastodon I'm @tern_and_knot.", "handle"),
        ("Email me at ada@example.org.", "mail"),
    ] {
        let found = extract(text);
        let topics: Vec<_> = found.facts.iter().filter_map(|fact| fact.object.topic.as_deref()).collect();
        assert_eq!(topics, [topic], "{text}");
    }
}

#[test]
fn a_short_form_before_a_name_ends_no_object() {
    check("I work at St. Vincent's hospital in Dublin.", &["me works_at assert St. Vincent's hospital"]);
    check("I live in St. Louis.", &["me lives_in assert St. Louis"]);
}

#[test]
fn an_object_with_its_verb_does_not_begin_with_is() {
    check("My wife is director of nursing.", &["wife role assert director of nursing"]);
}

#[test]
fn a_setting_is_known_by_its_noun() {
    let found = extract("The staging port is 5433.");
    assert_eq!(found.facts[0].object.topic.as_deref(), Some("staging port"));
    for text in ["My rent went up to 960 euros.", "My rent has dropped to 960 euros."] {
        assert_eq!(claims(text), ["me setting assert 960 euros"], "{text}");
    }
}

#[test]
fn a_name_in_passing_does_not_begin_on_the_day_of_what_is_told_of_it() {
    for text in ["My sister Ida moved to Oslo in March.", "Our dog Pixel was ill last week."] {
        let found = extract(text);
        let named = found.facts.iter().find(|fact| matches!(fact.predicate.as_str(), "relative" | "pet"));
        assert_eq!(named.map(|fact| fact.time), Some(None), "{text}: {found:?}");
    }
    let moved = extract("My sister Ida moved to Oslo in March.");
    assert!(moved.facts.iter().any(|fact| fact.predicate.as_str() == "lives_in" && fact.time.is_some()));
}

#[test]
fn a_deadline_lies_ahead() {
    let found = extract("The migration is due on 1 March.");
    let start = found.facts[0].time.and_then(|time| time.start).unwrap();
    assert!(start.as_seconds() > 1_772_733_000, "said on 5 March, it is that of the next year");
}

#[test]
fn the_end_of_a_state_is_read_behind_the_verb() {
    check("I'm not vegan any more.", &["me diet end vegan"]);
    check("My brother isn't a nurse anymore.", &["brother role end nurse"]);
    check("I'm not vegan.", &[]);
    check("Jorge and I broke up on 3 May.", &["me partner end Jorge"]);
}

/// What is claimed of a text that follows what the assistant said.
fn answered(asked: &str, text: &str, change: impl FnOnce(&mut NewEvent)) -> Vec<String> {
    let mut before = assistant(asked);
    if let Body::Present(said) = &mut before.body {
        change(said);
    }
    let (event, before, known) = (event(text), [before], Gazetteer::default());
    let found = RuleExtractor::new().extract(&Utterance { event: &event, before: &before, known: &known });
    found.facts.iter().map(|fact| format!("{} {}", fact.predicate.as_str(), fact.object.text)).collect()
}

#[test]
fn a_few_words_answer_the_question_right_before_them() {
    let plain = |asked: &str, text: &str| answered(asked, text, |_| {});
    assert_eq!(plain("Nice! Where do you live now?", "Porto, since May."), ["lives_in Porto"]);
    assert_eq!(plain("How old are you?", "34."), ["age 34"]);
    assert_eq!(plain("Do you have any pets?", "A dog and a cat."), ["pet dog", "pet cat"]);
    let nothing = [
        ("Where does she live now?", "Porto, since May."),
        ("Where do you live now? Never mind.", "Porto, since May."),
        ("Where do you live now?", "Somewhere quiet. Porto is loud."),
    ];
    for (asked, text) in nothing {
        assert_eq!(plain(asked, text), Vec::<String>::new(), "{asked} {text}");
    }
    let other = answered("Where do you live?", "Porto.", |of| of.session = SessionId::new("other").unwrap());
    let own = answered("Where do you live?", "Porto.", |said| said.kind = EventKind::UserMessage);
    assert!(other.is_empty() && own.is_empty());
}

#[test]
fn a_chinese_town_keeps_the_sign_that_elsewhere_means_all() {
    for (text, town) in [("我搬到了成都。", "成都"), ("我住在成都。", "成都"), ("我搬到了都江堰。", "都江堰")]
    {
        assert!(claims(text).contains(&format!("me lives_in assert {town}")), "{:?}", claims(text));
    }
}

#[test]
fn a_dislike_that_is_denied_is_none_and_neither_is_a_liking() {
    for text in [
        "It's not that I dislike Rust, I just don't need it.",
        "It isn't that I hate coriander.",
        "It's not that I love trains, they are just cheap.",
        "Ce n'est pas que je déteste le café.",
        "C'est pas que j'aime le thé, mais bon.",
        "Es ist nicht so, dass ich Koriander hasse.",
        "Nicht dass ich Kaffee nicht mag.",
        "No es que odie el café.",
        "Não é que eu odeie café.",
        "我不是讨厌咖啡。",
    ] {
        check(text, &[]);
        let own = OwnWords::of_text(text);
        assert_eq!(crate::preference_notes(&own), [], "{text}");
    }
    check("I dislike Rust.", &["me dislikes assert Rust"]);
    check("Je déteste le café.", &["me dislikes assert café"]);
}

#[test]
fn words_of_others_in_a_turn_are_no_claims_and_own_words_beside_them_are() {
    for text in [
        "From: Jonas\nTo: me\n\nI moved to Bern and I work at Bosch.\nBest, Jonas\n\nWhat should I answer?",
        "Übersetze ins Englische: Ich wohne in Bern.",
        "Write a dating profile: I live in Bern and I have a dog.",
        "Jonas: I live in Bern now\nMe: cool\nJonas: I work at Bosch\n\nSummarise this chat.",
        "Traduce al inglés: Vivo en Sevilla.",
        "Corrige cette phrase : j'habite à Lyon.",
    ] {
        check(text, &[]);
    }
    check("Correct this:\n\nI lives in Bern.\n\nBy the way, I live in Lyon.", &["me lives_in assert Lyon"]);
    check(
        "I live in Lyon.\n\nWhat my cousin wrote me today:\n- I live in Bern and I work at Bosch.",
        &["me lives_in assert Lyon"],
    );
    check("I moved to Kiel.\n\nBest,\nNina", &["me lives_in assert Kiel"]);
}

/// Returns whether a text makes a fact of a predicate and a value.
fn holds(text: &str, predicate: &str, value: &str) -> bool {
    extract(text).facts.iter().any(|fact| {
        fact.predicate.as_str() == predicate
            && fact.object.text.contains(value)
            && fact.confidence >= Confidence::ACTIVE
            && matches!(fact.act, Act::Assert | Act::Plan)
    })
}

#[test]
fn plain_statements_of_everyday_life_are_facts_in_every_language() {
    for (text, predicate, value) in [
        ("My brother Colm lives in Leeds.", "lives_in", "Leeds"),
        ("I work at Larkhill Brewery.", "works_at", "Larkhill Brewery"),
        ("We're going to Crete on 3 June.", "plan", "Crete"),
        ("I own a canoe.", "owns", "canoe"),
        ("Muffin, our dog, ate the butter.", "pet", "Muffin"),
        ("Our landlord is called Mr Pickering.", "name", "Pickering"),
        ("Meine Mutter hat am 19. Januar Geburtstag.", "birthday", "19. Januar"),
        ("Am 3. Juni fliegen wir nach Kreta.", "plan", "Kreta"),
        ("Ich habe ein Klavier.", "owns", "Klavier"),
        ("Unser Hausarzt ist Dr. Weidlich, sehr nett.", "knows", "Weidlich"),
        ("L'anniversaire de Colin est le 8 mars.", "birthday", "8 mars"),
        ("Le 3 juin nous partons en Crète.", "plan", "Crète"),
        ("Hier j'ai acheté un accordéon aux puces.", "acquired", "accordéon"),
        ("El cumpleaños de Nacho es el 8 de marzo.", "birthday", "8 de marzo"),
        ("El 7 de julio volamos a Naxos.", "plan", "Naxos"),
        ("Mi jefa es Adela Cano.", "knows", "Adela Cano"),
        ("A 7 de julho voamos para Naxos.", "plan", "Naxos"),
        ("Tenho uma canoa.", "owns", "canoa"),
        ("O Nuno mudou-se para Antuérpia com a família.", "lives_in", "Antuérpia"),
        ("小川的生日是三月八号。", "birthday", "三月八号"),
        ("我有一架钢琴。", "owns", "钢琴"),
        ("我的雇主是蓝海航运。", "works_at", "蓝海航运"),
    ] {
        assert!(holds(text, predicate, value), "{text}: {:?}", extract(text).facts);
    }
}

#[test]
fn what_is_asked_dreamt_or_of_others_is_no_fact_of_the_speaker() {
    for text in [
        "Does my sister live in Leeds?",
        "If I had a canoe I would go out today.",
        "We might go to Crete in June.",
        "Mein Nachbar hat ein Akkordeon gekauft.",
        "Vielleicht fahren wir im Juni nach Kreta.",
        "Si j'avais un canoë, je sortirais aujourd'hui.",
        "On ira peut-être en Crète en juin.",
        "Mi vecino ha comprado un acordeón.",
        "A lo mejor vamos a Creta en junio.",
        "O meu vizinho comprou um acordeão.",
        "Se eu tivesse uma canoa, saía hoje.",
        "我邻居买了一台手风琴。",
        "要是我有皮划艇，今天就出去。",
    ] {
        let found = extract(text).facts;
        assert!(found.iter().all(|fact| fact.confidence < Confidence::ACTIVE), "{text}: {found:?}");
    }
}

#[test]
fn a_fact_in_nobodys_phrase_is_weighed_in_every_language() {
    for (text, expected) in [
        ("gone veggie since easter, it's going fine", "me diet assert veggie"),
        ("Norbank took me on, first day monday", "me works_at assert Norbank"),
        ("boss is Marge Tuckwell, she's sound", "me knows assert Marge Tuckwell"),
        ("bin jetzt in Bamberg, dritter stock", "me lives_in assert Bamberg"),
        ("Chefin ist Gudrun Lampe, 63", "me knows assert Gudrun Lampe"),
        ("ça y est, installée à Angers depuis samedi", "me lives_in assert Angers"),
        ("me han cogido en Talleres Urbina, empiezo el lunes", "me works_at assert Talleres Urbina"),
        ("virei vegetariana em março", "me diet assert vegetariana"),
        ("对花生过敏，火锅蘸料都得问清楚", "me allergic_to assert 花生"),
    ] {
        assert!(claims(text).iter().any(|claim| claim == expected), "{text}: {:?}", claims(text));
    }
}

#[test]
fn a_weighed_fact_is_as_sure_as_its_rules_were_measured() {
    for text in ["bin jetzt in Bamberg, dritter stock", "virei vegetariana em março"] {
        let facts = extract(text).facts;
        let is_weighed = |fact: &&ExtractedFact| fact.rule.as_str().contains("weighed");
        let mut weighed = facts.iter().filter(is_weighed).peekable();
        assert!(weighed.peek().is_some(), "{text}");
        assert!(
            weighed.all(|fact| fact.confidence < Confidence::ACTIVE),
            "nothing was measured of it: {text}"
        );
    }
}

#[test]
fn what_asks_supposes_or_tells_of_others_is_no_weighed_fact() {
    for text in [
        "is going veggie in january worth the faff",
        "can you write a cover letter for a job at Norbank",
        "she said Norbank took her on",
        "The landlady is a Mrs Storr, she sounds strict.",
        "if i lived in Dunedin i'd never leave the beach",
        "was kostet ein umzug nach Bamberg ungefähr",
        "mein Kollege ist jetzt in Bamberg",
        "hab die Stelle bei Krone nicht bekommen",
        "combien coûte un studio à Angers en ce moment ?",
        "dice mi vecina: dejo el curro en Almansa Textil",
        "se eu virasse vegetariana, o que comeria",
        "他发微信说：我从恒达辞职了",
    ] {
        let weighed: Vec<String> = extract(text)
            .facts
            .iter()
            .filter(|fact| fact.rule.as_str().contains("weighed") && fact.subject == Subject::Speaker)
            .map(|fact| format!("{} {}", fact.predicate.as_str(), fact.object.text))
            .collect();
        assert!(weighed.is_empty(), "{text}: {weighed:?}");
    }
}

#[test]
fn what_is_called_so_without_a_subject_of_its_own_renames_nobody() {
    assert!(
        !claims("Malte hat eine Jolle gekauft, heißt Knurrhahn.").iter().any(|claim| claim.contains("name"))
    );
    check(
        "Meine Schwester wohnt in Leer und heißt Imke.",
        &["sister lives_in assert Leer", "sister name assert Imke"],
    );
}
