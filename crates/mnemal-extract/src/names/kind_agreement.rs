//! Kind agreement within a text: equal names share a kind, and so do names in a row.

use std::collections::HashMap;

use mnemal_core::EntityKind;

use crate::names::kind::Evidence;
use crate::names::name_search::NameSearch;
use crate::names::run::Run;
use crate::names::token::Gap;
use crate::names::weights::{ENOUGH, Weights};
use crate::names::word_flags::WordFlags;

/// So much must speak for a single word that no list knows. Source: own choice, measured on the tuning set.
const UNLISTED: i32 = 6;

/// Evidence passed to a neighbor in a row of names, in halves of a point. Source: own choice.
const ROW: i32 = 3;

/// Returns the kind of each run, or `None` if it is no name.
pub(crate) fn settle(
    reading: &NameSearch<'_>,
    runs: &[Run],
    evidence: &[Evidence],
) -> Vec<Option<EntityKind>> {
    let mut weights: Vec<Weights> = evidence.iter().map(Evidence::total).collect();
    rows(reading, runs, &mut weights);
    tools(runs, &mut weights);
    let mut of_name: HashMap<&str, Weights> = HashMap::new();
    for (run, (weight, evidence)) in runs.iter().zip(weights.iter().zip(evidence)) {
        if let Some(token) = reading.token(run.words.start) {
            let of_first = of_name.entry(token.key()).or_default();
            // Lists count once, what is beside the name counts each time.
            if of_first.best().1 < weight.best().1 {
                *of_first = *weight;
            } else {
                of_first.join(&evidence.beside);
            }
        }
    }
    runs.iter()
        .zip(&weights)
        .map(|(run, own)| {
            let token = reading.token(run.words.start)?;
            let shared = of_name.get(token.key()).copied().unwrap_or(*own);
            let (_, best) = own.best();
            let (kind, most) = shared.best();
            // A name that is certain in one place is one in the others, if they do not speak against it.
            let is_unlisted = run.words.len() == 1 && !run.listed.has(WordFlags::NAMED) && !run.keeps_ending;
            let is_place = matches!(own.best().0, EntityKind::Location | EntityKind::Organization);
            let enough = if is_unlisted && !is_place { UNLISTED } else { ENOUGH };
            let is_name = best >= enough || most >= ENOUGH + 2 && best >= ENOUGH - 3 && !run.is_lower;
            let kind = if run.words.len() > 1 { own.best().0 } else { kind };
            is_name.then_some(kind)
        })
        .collect()
}

/// Where one tool is named for certain, an everyday word in lower case that names a tool is more likely meant so.
fn tools(runs: &[Run], weights: &mut [Weights]) {
    let is_plain =
        |run: &Run| !run.listed.has(WordFlags::ORDINARY.with(WordFlags::FIRST).with(WordFlags::PLACE));
    let sure = runs.iter().zip(weights.iter()).filter(|(run, weight)| {
        run.listed.has(WordFlags::PRODUCT)
            && is_plain(run)
            && weight.best().0 == EntityKind::Product
            && weight.best().1 >= 8
    });
    if sure.count() == 0 {
        return;
    }
    for (run, weight) in runs.iter().zip(weights.iter_mut()) {
        if run.is_lower && run.listed.has(WordFlags::PRODUCT) && !is_plain(run) {
            weight.add(EntityKind::Product, 2);
        }
    }
}

/// "Lyon, Nice and Brno": members of a row tend to share a kind.
fn rows(reading: &NameSearch<'_>, runs: &[Run], weights: &mut [Weights]) {
    let before = weights.to_vec();
    for (at, pair) in runs.windows(2).enumerate() {
        let [a, b] = pair else { continue };
        if !is_row(reading, a, b) {
            continue;
        }
        for (from, to) in [(at, at + 1), (at + 1, at)] {
            let Some((kind, weight)) = before.get(from).map(Weights::best) else { continue };
            let (Some(of), Some(own)) = (weights.get_mut(to), before.get(to)) else { continue };
            if weight <= ENOUGH || own.best().1 >= weight || own.best().1 < 0 {
                continue;
            }
            let is_likely = own.of(kind) > 0;
            of.add(kind, if is_likely || kind == EntityKind::Animal { 2 * ROW + 2 } else { ROW });
        }
    }
}

fn is_row(reading: &NameSearch<'_>, a: &Run, b: &Run) -> bool {
    let between = a.words.end..b.words.start;
    let is_possessive = reading.token(a.words.end.saturating_sub(1)).is_some_and(|token| token.is_possessive);
    if is_possessive || between.len() > 1 {
        return false;
    }
    let gap = reading.token(b.words.start).map(|token| token.gap);
    if between.is_empty() {
        return matches!(gap, Some(Gap::Comma | Gap::Joint));
    }
    reading.token(between.start).is_some_and(|token| {
        matches!(token.lower.as_ref(), "and" | "or" | "nor" | "&" | "plus" | "vs" | "not")
    }) && gap == Some(Gap::Space)
}
