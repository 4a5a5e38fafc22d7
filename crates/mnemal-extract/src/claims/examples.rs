//! Test that every rule of every pack matches its examples and not its counter-examples.

use std::collections::HashSet;

use mnemal_core::{EntityKind, Gazetteer};
use mnemal_text::sentences;

use super::Claims;
use super::answer::PrecedingQuestion;
use super::hints::Hints;
use crate::clause::AnalyzedSentence;
use crate::language::Pack;

/// What a space knows of names that no list has.
fn pets() -> Gazetteer {
    let mut known = Gazetteer::default();
    known.add("咪咪", EntityKind::Animal);
    known.add("豆豆", EntityKind::Animal);
    known.add("Rex", EntityKind::Animal);
    known
}

fn rules_of(pack: &Pack, text: &str) -> Vec<String> {
    let disabled = HashSet::new();
    let mut claims = Claims::new(&disabled).unweighed();
    let mentions = crate::names::mentions(text, &pets());
    for (number, sentence) in sentences(text).into_iter().enumerate() {
        let reading = AnalyzedSentence::new(sentence.of(text), pack.gates());
        let hints = Hints { times: &[], mentions: &mentions, base: sentence.start, sentence: number };
        claims.read(&reading, pack.rules().unwrap(), &hints);
    }
    let rules = claims.facts.iter().map(|fact| fact.rule.as_str().to_owned());
    rules.chain(claims.dropped.lines()).collect()
}

#[test]
fn every_rule_of_the_further_languages_claims_its_examples_and_leaves_its_counter_examples() {
    let mut wrong = Vec::new();
    for pack in Pack::all().iter().filter(|pack| pack.code() != "en" && pack.rules().is_some()) {
        for rule in &pack.rules().unwrap().all {
            let id = rule.id.as_str();
            if rule.examples.len() < 2 || rule.counter.len() < 2 {
                wrong.push(format!("{id}: two examples and two counter-examples are needed"));
            }
            // The times of a text are read elsewhere, so that nothing is a date here.
            let needs_time = rule.kind == crate::claims::rule::Kind::Date || rule.is_dated;
            let examples = rule.examples.iter().filter(|_| !needs_time);
            // What a rule before it claims of the same words is found by both.
            let of_predicate = id.rsplit_once('.').map_or(id, |(predicate, _)| predicate);
            let is_found = |rule: &String| {
                rule.rsplit_once('.').is_some_and(|(predicate, _)| predicate == of_predicate)
                    && (!rule.contains(':') || *rule == format!("{id}: said before"))
            };
            for example in examples.filter(|text| !rules_of(pack, text).iter().any(is_found)) {
                wrong.push(format!("{id} misses: {example} {:?}", rules_of(pack, example)));
            }
            for counter in
                rule.counter.iter().filter(|text| rules_of(pack, text).iter().any(|rule| rule == id))
            {
                wrong.push(format!("{id} takes: {counter}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_language_of_nine_examples_in_ten_of_four_words_or_more_is_known() {
    for pack in Pack::all().iter().filter(|pack| pack.code() != "en") {
        let (mut all, mut wrong) = (0, Vec::new());
        for rule in pack.rules().into_iter().flat_map(|rules| &rules.all) {
            for text in rule
                .examples
                .iter()
                .chain(&rule.counter)
                .filter(|text| text.split(' ').count() > 3 || !text.is_ascii() && text.len() > 24)
            {
                all += 1;
                if crate::language::language(text) != pack.code() {
                    wrong.push(format!(
                        "{} is read as {}: {text}",
                        pack.code(),
                        crate::language::language(text)
                    ));
                }
            }
        }
        assert!(wrong.len() * 10 <= all, "{}", wrong.join("\n"));
    }
}

/// Returns whether a rule claims something of a text when no other rule is on.
fn claims_alone(pack: &Pack, rule: &str, text: &str) -> bool {
    let rules = pack.rules().unwrap();
    let disabled: HashSet<String> =
        rules.all.iter().map(|other| other.id.as_str().to_owned()).filter(|id| id != rule).collect();
    let (asked, text) = text.split_once(" >> ").unwrap_or(("", text));
    let mut claims = Claims::new(&disabled).unweighed().answering(PrecedingQuestion::read(asked));
    let mentions = crate::names::mentions(text, &Gazetteer::default());
    for (number, sentence) in sentences(text).into_iter().enumerate() {
        let reading = AnalyzedSentence::new(sentence.of(text), pack.gates());
        let hints = Hints { times: &[], mentions: &mentions, base: sentence.start, sentence: number };
        claims.read(&reading, rules, &hints);
    }
    !claims.facts.is_empty()
}

#[test]
fn every_rule_of_english_for_what_people_do_claims_its_examples_and_leaves_its_counter_examples() {
    let pack = Pack::english();
    let mine = concat!(
        include_str!("../../packs/en/claims_free.toml"),
        include_str!("../../packs/en/claims_life.toml"),
        include_str!("../../packs/en/claims_home.toml"),
        include_str!("../../packs/en/claims_doing.toml"),
        include_str!("../../packs/en/claims_everyday.toml")
    );
    let mut wrong = Vec::new();
    for rule in &pack.rules().unwrap().all {
        let id = rule.id.as_str();
        // The times of a text are read elsewhere, so that nothing is a date here.
        let needs_time = rule.kind == crate::claims::rule::Kind::Date || rule.is_dated || rule.is_event;
        if !mine.contains(&format!("id = \"{id}\"")) || needs_time {
            continue;
        }
        if rule.examples.len() < 2 || rule.counter.len() < 2 {
            wrong.push(format!("{id}: two examples and two counter-examples are needed"));
        }
        wrong.extend(
            rule.examples
                .iter()
                .filter(|text| !claims_alone(pack, id, text))
                .map(|text| format!("{id} misses: {text}")),
        );
        wrong.extend(
            rule.counter
                .iter()
                .filter(|text| claims_alone(pack, id, text))
                .map(|text| format!("{id} takes: {text}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_begins_behind_an_end_is_not_ended() {
    for (text, expected) in [
        (
            "I quit Feedzai and started at OutSystems.",
            vec!["works_at Feedzai end", "works_at OutSystems assert"],
        ),
        ("We stopped using Slack and switched to Teams.", vec!["uses Slack end", "uses Teams assert"]),
        ("I left my job and moved to Berlin.", vec!["lives_in Berlin assert"]),
    ] {
        let disabled = HashSet::new();
        let mut claims = Claims::new(&disabled).unweighed();
        let mentions = crate::names::mentions(text, &Gazetteer::default());
        let pack = Pack::english();
        let reading = AnalyzedSentence::new(text, pack.gates());
        let hints = Hints { times: &[], mentions: &mentions, base: 0, sentence: 0 };
        claims.read(&reading, pack.rules().unwrap(), &hints);
        let said = claims
            .facts
            .iter()
            .map(|fact| format!("{} {} {}", fact.predicate.as_str(), fact.object.text, fact.act.as_str()));
        assert_eq!(said.collect::<Vec<_>>(), expected, "{text}");
    }
}
