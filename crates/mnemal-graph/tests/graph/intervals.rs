//! Interval algebra: which value is valid when, one case per rule.

use std::collections::BTreeSet;
use std::sync::Arc;

use mnemal_core::{AsOf, FactFilter, GraphStore as _, Origin, Reason};
use mnemal_extract::RuleExtractor;
use mnemal_graph::verbalize as said_of;

use crate::log::{Life, day, now};

fn check(said: &[(&str, &str)], on: &str, expected: &[&str]) {
    let mut life = Life::new();
    for (day, text) in said {
        life.say(day, text);
    }
    assert_eq!(life.on(on), expected, "{said:?}");
}

// proves: DF-29
#[test]
fn a_dated_newer_value_closes_the_older_one_and_both_keep_their_time() {
    let said = [
        ("2020-05-01", "me lives_in Oslo:location @2020-01-01"),
        ("2022-05-01", "me lives_in Rome:location @2022-03-01"),
    ];
    check(&said, "2023-01-01", &["user lives_in Rome"]);
    check(&said, "2021-01-01", &["user lives_in Oslo (superseded)"]);
    check(&said, "2019-01-01", &[]);
    let job =
        [("2020-05-01", "me works_at Acme:organization"), ("2022-05-01", "me works_at Bolt:organization")];
    check(&job, "2023-01-01", &["user works_at Bolt"]);
    check(&job, "2021-01-01", &["user works_at Acme (superseded)"]);
}

/// The believed residences of the user, with the granularity of their times.
fn homes(said: &[(&str, &str)]) -> Vec<String> {
    let mut life = Life::new();
    for (n, (day, text)) in said.iter().enumerate() {
        life.say_in(day, &format!("s{n}"), text);
    }
    let facts = now(life.store.believed(&FactFilter::all())).unwrap();
    let mut lines: Vec<String> = facts
        .iter()
        .map(|fact| {
            let name = now(life.graph().entities(fact.object.entity(), AsOf::present(day("2030-01-01"))));
            said_of(fact, "Ada", &name.unwrap()[0].name)
        })
        .collect();
    lines.sort();
    lines
}

// proves: AD-27
#[test]
fn a_time_is_said_as_exactly_as_the_words_say_it_and_no_more() {
    let rome = ("2022-05-01", "me lives_in Rome:location @2022-03");
    let since = ["Ada lives in Oslo (from 2019 until 2022-03)", "Ada lives in Rome (since 2022-03)"];
    let oslo = ("2020-05-01", "me lives_in Oslo:location @2019");
    assert_eq!(homes(&[oslo, rome]), since);
    assert_eq!(homes(&[rome, oslo]), since);
    // The more precise time wins; a person's decision, and the end of an interval, has day granularity.
    let exact = ("2022-06-01", "me lives_in Rome:location @2022-03-01");
    for said in [[rome, exact], [exact, rome]] {
        assert_eq!(homes(&said), ["Ada lives in Rome (since 2022-03-01)"]);
    }
    let whole = ("2022-06-01", "me lives_in Rome:location @2010..2016-01-01");
    assert_eq!(homes(&[whole]), ["Ada lives in Rome (from 2010 until 2016-01-01)"]);
    let over = ("2022-06-01", "me lives_in Rome:location @2021-11 end");
    assert_eq!(homes(&[over]), ["Ada lives in Rome (until 2021-11)"]);
    assert_eq!(
        homes(&[("2022-05-01", "me visited Rome:location @2022-03")]),
        ["Ada visited Rome (in 2022-03)"]
    );
    assert_eq!(
        homes(&[("2022-05-01", "me visited Rome:location @2022-03-04")]),
        ["Ada visited Rome (on 2022-03-04)"]
    );
}

// proves: NX-09.6
#[test]
fn a_fact_says_what_it_was_weighed_against_and_what_ended_it() {
    let mut life = Life::new();
    life.say_in("2020-05-01", "one", "me works_at Acme:organization");
    life.say_in("2020-06-01", "two", "me works_at Acme:organization\nme likes tea");
    let newer = life.say_in("2022-05-01", "one", "me works_at Bolt:organization");
    let facts = now(life.store.believed(&FactFilter::all())).unwrap();
    let weighing = |superseded: bool, predicate: &str| {
        let is_meant = |fact: &&mnemal_core::Fact| {
            fact.superseded.is_some() == superseded && fact.predicate.as_str() == predicate
        };
        now(life.graph().explain_fact(facts.iter().find(is_meant).unwrap())).unwrap()
    };
    let over = weighing(true, "works_at");
    assert_eq!((over.claims, over.own, over.voices, over.values), (3, 2, 2, 2));
    assert_eq!(
        over.to_string(),
        format!("rests on 2 of 3 claims, from 2 voices; 2 values; ended: newer_value, {newer}, script.line")
    );
    let holds = weighing(false, "works_at");
    assert_eq!((holds.claims, holds.own, holds.values, holds.ended.as_ref()), (3, 1, 2, None));
    assert_eq!(weighing(false, "likes").to_string(), "rests on 1 of 1 claim, from 1 voice; 1 value");
}

// proves: DF-34, AD-25, BA-21
#[test]
fn an_older_value_that_comes_late_is_born_closed() {
    let mut life = Life::new();
    life.say("2022-05-01", "me works_at Bolt:organization @2022-03-01");
    let late = life.say("2023-05-01", "me works_at Acme:organization @2015-01-01");
    assert_eq!(life.on("2024-01-01"), ["user works_at Bolt"]);
    assert_eq!(life.on("2016-01-01"), ["user works_at Acme (superseded)"]);
    let old = now(life.store.believed(&FactFilter::all())).unwrap();
    let old = old.iter().find(|fact| fact.superseded.is_some()).unwrap();
    let why = old.superseded.as_ref().unwrap();
    assert_eq!((why.reason, old.supports[0].source.event), (Reason::Backfill, late));
    assert_ne!(why.by, late);
    // Imported today, said long ago.
    let old_words =
        [("2022-05-01", "me lives_in Rome:location"), ("2010-05-01", "me lives_in Oslo:location")];
    check(&old_words, "2024-01-01", &["user lives_in Rome"]);
}

// proves: DF-31
#[test]
fn an_undated_value_never_closes_a_dated_one() {
    let said = [
        ("2020-05-01", "me lives_in Oslo:location @2020-01-01"),
        ("2022-05-01", "me lives_in Rome:location"),
    ];
    check(&said, "2023-01-01", &["user lives_in Oslo (disputed)", "user lives_in Rome (disputed)"]);
    let again = [said[0], said[1], ("2022-06-01", "me lives_in Oslo:location")];
    check(&again, "2023-01-01", &["user lives_in Oslo"]);
    let dated = [said[0], said[1], ("2022-06-01", "me lives_in Bern:location @2022-06-01")];
    check(&dated, "2023-01-01", &["user lives_in Bern"]);
    // An undated value stated before the other started is over.
    let before = [
        ("2020-05-01", "me lives_in Oslo:location"),
        ("2022-05-01", "me lives_in Rome:location @2022-03-01"),
    ];
    check(&before, "2023-01-01", &["user lives_in Rome"]);
}

// proves: DF-31
#[test]
fn two_values_of_one_time_or_for_one_life_are_disputed() {
    let said = [
        ("2020-05-01", "me lives_in Oslo:location @2020-01-01"),
        ("2020-06-01", "me lives_in Rome:location @2020-01-01"),
    ];
    check(&said, "2023-01-01", &["user lives_in Oslo (disputed)", "user lives_in Rome (disputed)"]);
    let born = [("2020-05-01", "me birthday May_3"), ("2022-05-01", "me birthday May_4")];
    check(&born, "2023-01-01", &["user birthday May 3 (disputed)", "user birthday May 4 (disputed)"]);
}

// proves: AD-23, NB-34
#[test]
fn what_is_said_again_is_one_more_source() {
    let mut life = Life::new();
    for n in 0..50 {
        life.say("2020-05-01", if n % 2 == 0 { "me likes tea" } else { "me likes Tea" });
    }
    let facts = now(life.store.history(&FactFilter::all())).unwrap();
    assert_eq!((facts.len(), facts[0].supports.len()), (1, 50));
    assert!((facts[0].strength() - 1.0).abs() < 1e-6);
    // A state can recur.
    let said = [
        ("2020-05-01", "me lives_in Oslo:location @2020-05-01"),
        ("2021-05-01", "me lives_in Rome:location @2021-05-01"),
        ("2022-05-01", "me lives_in Oslo:location @2022-05-01"),
    ];
    let mut life = Life::new();
    for (on, text) in said {
        life.say(on, text);
    }
    assert_eq!(
        life.believed(),
        [
            "user lives_in Oslo (superseded) [2020-05-01..2021-05-01]",
            "user lives_in Oslo [2022-05-01..]",
            "user lives_in Rome (superseded) [2021-05-01..2022-05-01]",
        ]
    );
}

// proves: RB-73, NX-08.4, DF-12, NB-09, CF-18
#[test]
fn strength_and_certainty_come_of_independent_sources_of_the_user_only() {
    let mut life = Life::new();
    life.say("2020-05-01", "me likes tea ~0.6");
    assert_eq!(life.on("2021-01-01"), ["user likes tea (candidate)"]);
    for _ in 0..20 {
        life.say_as(Origin::Assistant, "2020-05-02", "me likes tea ~0.9");
    }
    let strength = |life: &Life| life.facts(AsOf::present(day("2021-01-01")))[0].strength();
    assert!((strength(&life) - 0.5).abs() < 1e-6);
    assert_eq!(life.on("2021-01-01"), ["user likes tea (candidate)"]);
    life.say("2020-05-03", "me likes tea ~0.6");
    assert_eq!(life.on("2021-01-01"), ["user likes tea (candidate)"], "the same conversation");
    life.say_in("2020-05-03", "another", "me likes tea ~0.6");
    assert_eq!(life.on("2021-01-01"), ["user likes tea"]);
    assert!((strength(&life) - 0.7).abs() < 1e-6);
}

#[test]
fn two_values_in_one_breath_hold_together() {
    let said = [
        ("2020-05-01", "me works_at Acme:organization\nme works_at Bolt:organization"),
        ("2020-06-01", "me works_at Acme:organization"),
    ];
    check(&said, "2021-01-01", &["user works_at Acme", "user works_at Bolt"]);
    let next = [said[0], ("2022-06-01", "me works_at Core:organization")];
    check(&next, "2023-01-01", &["user works_at Core"]);
}

#[test]
fn an_end_closes_its_value_and_no_other() {
    let said = [("2020-05-01", "me uses vim\nme uses emacs"), ("2021-05-01", "me uses vim end")];
    check(&said, "2022-01-01", &["user uses emacs"]);
    check(&said, "2020-06-01", &["user uses emacs", "user uses vim (superseded)"]);
    let left = [
        ("2020-05-01", "me works_at Acme:organization @2020-01-01"),
        ("2021-05-01", "me works_at Acme:organization @2021-03-01 end"),
        ("2022-05-01", "me works_at Acme:organization @2022-03-01"),
    ];
    check(&left, "2021-06-01", &[]);
    check(&left, "2023-01-01", &["user works_at Acme"]);
    // The end of a value never stated implies that it was valid.
    check(
        &[("2021-05-01", "me works_at Acme:organization end")],
        "2020-01-01",
        &["user works_at Acme (superseded)"],
    );
}

#[test]
fn an_opposite_ends_a_taste() {
    let said = [("2020-05-01", "me likes tea\nme likes jazz"), ("2021-05-01", "me dislikes tea")];
    check(&said, "2022-01-01", &["user dislikes tea", "user likes jazz"]);
    check(&said, "2020-06-01", &["user likes jazz", "user likes tea (superseded)"]);
}

#[test]
fn happenings_stay_true_and_are_one_for_each_day() {
    let said = [
        ("2020-05-01", "me visited Rome:location @2019-04-01"),
        ("2020-06-01", "me visited Rome:location @2019-04-01"),
        ("2021-05-01", "me visited Rome:location @2021-04-01"),
    ];
    check(&said, "2020-01-01", &["user visited Rome"]);
    check(&said, "2022-01-01", &["user visited Rome", "user visited Rome"]);
}

#[test]
fn a_plan_ends_nothing() {
    let said = [
        ("2020-05-01", "me lives_in Oslo:location"),
        ("2021-05-01", "me lives_in Rome:location @2021-09-01 plan"),
    ];
    check(&said, "2021-06-01", &["user lives_in Oslo", "user plans lives_in Rome"]);
    check(&said, "2022-01-01", &["user lives_in Oslo"]);
}

#[test]
fn one_value_for_each_topic() {
    let said = [
        ("2020-05-01", "me setting 5432 #port\nme setting dark #theme"),
        ("2021-05-01", "me setting 5433 #port"),
    ];
    check(&said, "2022-01-01", &["user setting 5433 #port", "user setting dark #theme"]);
}

// proves: DF-36
#[test]
fn only_the_user_supersedes_the_user() {
    let mut life = Life::new();
    life.say("2020-05-01", "me lives_in Oslo:location @2020-01-01");
    for n in 0..10 {
        life.say_as(
            Origin::Assistant,
            &format!("2021-05-{:02}", n + 1),
            "me lives_in Rome:location @2021-01-01",
        );
    }
    assert_eq!(life.on("2022-01-01"), ["user lives_in Oslo", "user lives_in Rome (candidate)"]);
    life.say_as(Origin::Document, "2021-06-01", "me likes tea");
    assert!(life.on("2022-01-01").contains(&"user likes tea (candidate)".to_owned()));
}

// proves: DF-30, NX-09.2, AD-22
#[test]
fn unrelated_facts_retire_nothing() {
    let predicates =
        ["likes", "uses", "speaks", "owns", "skill", "works_on", "habit", "member_of", "health", "diet"];
    let mut life = Life::new();
    for n in 0..5_000_u32 {
        // A fixed permutation of all pairs; 7,919 is prime.
        let at = (n * 7_919) % 5_000;
        let text = format!("Person{} {} thing{}", at % 100, predicates[(at / 100) as usize % 10], at / 1_000);
        let entry = life.entry("2020-05-01", "s", &text);
        life.append(entry);
    }
    life.fold();
    let facts = now(life.store.history(&FactFilter::all())).unwrap();
    assert_eq!(facts.len(), 5_000);
    assert!(facts.iter().all(|fact| fact.expired_at.is_none() && fact.superseded.is_none()));
}

// proves: DF-32
#[test]
fn alike_is_not_contrary() {
    let mut life = Life::new();
    for n in 0..200 {
        life.say("2020-05-01", &format!("me likes long_walks_on_the_beach_in_month_{n}"));
        life.say("2020-05-01", &format!("me likes long_walks_on_a_beach_in_month_{n}"));
    }
    let facts = now(life.store.history(&FactFilter::all())).unwrap();
    assert_eq!((facts.len(), facts.iter().filter(|fact| fact.superseded.is_some()).count()), (400, 0));
}

#[test]
fn what_is_taken_back_never_was_so() {
    let born =
        [("2020-05-01", "me birthday May_3"), ("2022-05-01", "me birthday May_3 never\nme birthday May_4")];
    check(&born, "2023-01-01", &["user birthday May 4"]);
    let joke = [
        ("2020-05-01", "me lives_in Oslo:location"),
        ("2020-06-01", "me lives_in Rome:location"),
        ("2020-06-01", "me lives_in Rome:location never"),
    ];
    check(&joke, "2023-01-01", &["user lives_in Oslo"]);
    // A restatement after the rejection counts; what was said before it stays rejected even if it is stored later.
    let again =
        [born[0], born[1], ("2022-06-01", "me birthday May_4 never"), ("2022-07-01", "me birthday May_4")];
    check(&again, "2023-01-01", &["user birthday May 4"]);
    check(&[born[1], born[0]], "2023-01-01", &["user birthday May 4"]);
}

#[test]
fn what_ended_at_an_unknown_time_was_over_before_what_is_known() {
    let said = [
        ("2020-05-01", "me role baker"),
        ("2021-05-01", "me role nurse @2021-05-01"),
        ("2022-05-01", "me role pilot end"),
    ];
    check(&said, "2021-03-01", &["user role baker (superseded)"]);
    check(&said, "2022-01-01", &["user role nurse"]);
    check(&said[2..], "2022-01-01", &["user role pilot (superseded)"]);
}

#[test]
fn values_without_a_topic_stand_beside_each_other() {
    let said = [
        ("2020-05-01", "me prefers tea"),
        ("2021-05-01", "me prefers trains"),
        ("2021-06-01", "me prefers paper #reading"),
        ("2021-07-01", "me prefers screens #reading"),
    ];
    check(&said, "2022-01-01", &["user prefers screens #reading", "user prefers tea", "user prefers trains"]);
}

#[test]
fn whoever_acquires_something_owns_it_from_then_on() {
    let said = [("2020-05-01", "me acquired bike @2020-04-20"), ("2021-05-01", "me owns bike end")];
    check(&said[..1], "2020-04-25", &["user acquired bike", "user owns bike"]);
    check(&said[..1], "2020-04-01", &[]);
    check(&said, "2022-01-01", &["user acquired bike"]);
}

#[test]
fn the_day_of_a_deadline_is_its_value_and_not_when_it_holds() {
    let said = [
        ("2020-05-01", "me deadline 29_May #report @2020-05-29"),
        ("2020-05-10", "me deadline 12_June #report @2020-06-12"),
    ];
    check(&said[..1], "2020-05-02", &["user deadline 2020-05-29 #report"]);
    check(&said, "2020-05-20", &["user deadline 2020-06-12 #report"]);
}

// proves: DF-04
#[test]
fn what_is_said_fifty_times_in_other_words_is_one_fact() {
    let wordings = [
        "I work at Bosch.",
        "I work for Bosch.",
        "I currently work at Bosch.",
        "I still work at Bosch.",
        "I'm working at Bosch.",
        "I'm employed at Bosch.",
        "I have been working for Bosch.",
        "My employer is Bosch.",
        "I work at Bosch, and the canteen is loud.",
        "Since you ask, I work at Bosch.",
    ];
    let mut life = Life::read_by(Arc::new(RuleExtractor::new()));
    for (n, words) in (0..5).flat_map(|_| wordings).enumerate() {
        life.say_in("2020-05-01", &format!("s{n}"), words);
        life.say_as(Origin::Assistant, "2020-05-01", words);
    }
    let facts = now(life.store.history(&FactFilter::all())).unwrap();
    let living: Vec<_> = facts.iter().filter(|fact| fact.expired_at.is_none()).collect();
    let events: BTreeSet<_> = living[0].supports.iter().map(|support| support.source.event).collect();
    assert_eq!((living.len(), events.len()), (1, 50));
    assert!((living[0].strength() - 1.0).abs() < 1e-6);
    let mut life = Life::read_by(Arc::new(RuleExtractor::new()));
    let once = life.say("2020-05-01", wordings[0]);
    for words in wordings {
        life.say_as(Origin::Assistant, "2020-05-01", words);
    }
    let fact = now(life.store.believed(&FactFilter::all())).unwrap().remove(0);
    assert!((fact.strength() - 0.5).abs() < 1e-6, "the agent's words do not count");
    assert!(fact.supports.iter().any(|support| support.source.event == once));
}

/// The user's residence as of each day, for any order of the sentences; `-` where none is known.
fn home_on(said: &[(&str, &str)], days: &[(&str, &str)]) {
    let reversed: Vec<_> = said.iter().rev().copied().collect();
    for said in [said.to_vec(), reversed] {
        let mut life = Life::new();
        for (day, text) in &said {
            life.say(day, text);
        }
        for (day, home) in days {
            let lines = life.on(day);
            let homes: Vec<&str> = lines
                .iter()
                .filter_map(|line| line.strip_prefix("user lives_in ")?.split(' ').next())
                .collect();
            assert_eq!(homes.join("+"), home.replace('-', ""), "{day} of {said:?}: {:?}", life.believed());
        }
    }
}

#[test]
fn a_stay_with_both_ends_splits_what_surrounds_it() {
    let days =
        [("2019-01-01", "Oslo"), ("2020-04-01", "Bergen"), ("2020-07-01", "Oslo"), ("2026-01-01", "Oslo")];
    let told = [
        ("2025-01-01", "me lives_in Oslo:location @2018-01-01"),
        ("2025-06-10", "me lives_in Bergen:location @2020-03-01..2020-06-01 past"),
    ];
    home_on(&told, &days);
    let asserted = [told[0], ("2025-06-10", "me lives_in Bergen:location @2020-03-01..2020-06-01")];
    home_on(&asserted, &days);
    // In the future, and without a stated start of the surrounding value.
    let ahead = [
        ("2025-01-01", "me lives_in Oslo:location"),
        ("2025-05-01", "me lives_in Bergen:location @2025-06-01..2025-09-01"),
        ("2025-07-10", "me lives_in Oslo:location"),
    ];
    home_on(&ahead, &[("2025-02-01", "Oslo"), ("2025-07-20", "Bergen"), ("2025-10-01", "Oslo")]);
    // A stay within a stay, and two overlapping ones.
    let nested = [
        ("2025-01-01", "me lives_in Oslo:location @2010-01-01..2020-01-01"),
        ("2025-01-02", "me lives_in Bergen:location @2012-01-01..2016-01-01"),
        ("2025-01-03", "me lives_in Rome:location @2013-01-01..2014-01-01"),
        ("2025-01-04", "me lives_in Kiel:location @2018-01-01..2022-01-01"),
    ];
    let days = [
        ("2011-01-01", "Oslo"),
        ("2012-06-01", "Bergen"),
        ("2013-06-01", "Rome"),
        ("2015-01-01", "Bergen"),
        ("2017-01-01", "Oslo"),
        ("2021-01-01", "Kiel"),
        ("2023-01-01", "-"),
    ];
    home_on(&nested, &days);
}

#[test]
fn who_moves_on_from_a_stay_does_not_go_back() {
    let said = [
        ("2020-01-01", "me lives_in Oslo:location @2018-01-01"),
        ("2020-02-01", "me lives_in Bergen:location @2020-03-01..2020-06-01"),
        ("2020-05-01", "me lives_in Rome:location @2020-05-01"),
    ];
    home_on(&said, &[("2020-04-01", "Bergen"), ("2020-05-10", "Rome"), ("2020-07-01", "Rome")]);
    let left = [said[0], said[1], ("2020-04-10", "me lives_in Oslo:location @2020-04-10 end")];
    home_on(&left, &[("2020-04-20", "Bergen"), ("2020-07-01", "-")]);
}

#[test]
fn ends_that_touch_beginnings_contradict_nothing() {
    for (until, since) in
        [("@..2021-01-01", "@2021-01-01"), ("@..2022", "@2021"), ("@2015..2022-01-01", "@2021")]
    {
        let (oslo, kiel) =
            (format!("me lives_in Oslo:location {until} past"), format!("me lives_in Kiel:location {since}"));
        let said = [("2025-01-01", oslo.as_str()), ("2025-01-02", kiel.as_str())];
        home_on(&said, &[("2018-01-01", "Oslo"), ("2021-06-01", "Kiel"), ("2024-01-01", "Kiel")]);
    }
}

#[test]
fn what_is_told_of_the_past_does_not_end_a_present_with_a_begin_of_its_own() {
    let lives = ("2026-10-01", "me lives_in Lyon:location @2019-01-01");
    for past in [
        "past",
        "earlier",
        "@2010-01-01..2014-01-01 past",
        "@..2014-01-01 past",
        "@2020-01-01..2021-01-01 past",
    ] {
        let told = format!("me lives_in Lyon:location {past}");
        home_on(&[lives, ("2026-10-02", &told)], &[("2026-11-01", "Lyon"), ("2022-01-01", "Lyon")]);
    }
    let told = ("2026-10-02", "me lives_in Lyon:location @2010-01-01..2014-01-01 past");
    home_on(&[lives, told], &[("2012-01-01", "Lyon"), ("2016-01-01", "-")]);
    // It ends a value without a start, unless it was earlier; a statement that it is over ends both.
    let undated = ("2026-10-01", "me lives_in Lyon:location");
    home_on(&[undated, ("2026-10-02", "me lives_in Lyon:location past")], &[("2026-11-01", "-")]);
    home_on(&[undated, ("2026-10-02", "me lives_in Lyon:location earlier")], &[("2026-11-01", "Lyon")]);
    for before in [lives, undated] {
        home_on(&[before, ("2026-10-02", "me lives_in Lyon:location end")], &[("2026-11-01", "-")]);
    }
    // Described from its start on, and after its last restatement, the past is its end.
    let over = ("2027-10-02", "me lives_in Lyon:location @2019-01-01..2027-01-01 past");
    home_on(&[lives, over], &[("2026-11-01", "Lyon"), ("2027-02-01", "-")]);
}

#[test]
fn a_plan_is_one_until_its_time_is_over() {
    let said = [("2026-11-23", "me plan flying_to_Rome @2026-12-03 plan")];
    check(&said, "2026-11-27", &["user plans plan flying to Rome"]);
    check(&said, "2026-12-03", &["user plans plan flying to Rome"]);
    check(&said, "2026-12-04", &[]);
    let month = [("2026-11-23", "me plan flying_to_Rome @2027-02 plan")];
    check(&month, "2027-02-28", &["user plans plan flying to Rome"]);
    check(&month, "2027-03-01", &[]);
}

#[test]
fn a_deadline_that_has_passed_is_over() {
    let said = [("2026-10-05", "me deadline tomorrow #rent @2026-10-06")];
    check(&said, "2026-10-06", &["user deadline 2026-10-06 #rent"]);
    check(&said, "2026-10-08", &[]);
}
