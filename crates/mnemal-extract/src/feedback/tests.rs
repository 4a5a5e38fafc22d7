//! Feedback rule by rule, and over whole answers.

use super::*;

fn turn(line: &str) -> (Option<&str>, &str) {
    match line.split_once(" >> ") {
        Some((assistant, user)) => (Some(assistant), user),
        None => (None, line),
    }
}

fn acts_by_rule(line: &str) -> Vec<(String, FeedbackAct)> {
    let (assistant, user) = turn(line);
    let found = feedback(Turn { user, assistant, earlier: &[] });
    found.into_iter().map(|feedback| (feedback.rule.as_str().to_owned(), feedback.act)).collect()
}

#[test]
fn every_pack_can_be_read() {
    for (language, text) in PACKS {
        if let Err(error) = Pack::read(language, text) {
            panic!("{language}: {error}");
        }
    }
}

// proves: NX-05.7
#[test]
fn every_rule_finds_its_examples_and_leaves_its_counter_examples() {
    let mut wrong = Vec::new();
    for rule in packs().iter().flat_map(|pack| &pack.rules) {
        for example in &rule.examples {
            let found = acts_by_rule(example);
            let is_found = found
                .iter()
                .any(|(_, act)| *act == rule.act || act.is_correction() && rule.act.is_correction());
            if !is_found {
                wrong.push(format!("{} misses: {example} {found:?}", rule.id.as_str()));
            }
        }
        for counter in &rule.counters {
            let found = acts_by_rule(counter);
            if found.iter().any(|(id, _)| id == rule.id.as_str()) {
                wrong.push(format!("{} takes: {counter}", rule.id.as_str()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
