//! Baseline contexts of stemmed BM25: the turns with most of a question's words, whole, as many as fit.

use anyhow::Result;
use mnemal::Hit;
use mnemal::recall::RecallMode;
use mnemal_text::{estimate_tokens, token_prefix};

use crate::neutral::{Question, Row};
use crate::spaces::{Answers, QueryOptions, Spaces};

/// Turns that are asked for. Source: no conversation of the sets has more.
const MOST_TURNS: usize = 2_000;
/// Most tokens of one turn. Source: as in mnemal's contexts, where longer lines are cut.
const OF_A_TURN: u32 = 500;

/// Turns in the order of BM25 for one question.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Id of the question.
    pub id: String,
    /// The turns, best first, with the tokens of each in a context.
    pub turns: Vec<(String, Line)>,
}

/// Tokens of one turn in a context, as a line `Speaker: text`.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Where long turns are cut, as in mnemal's contexts.
    pub cut: u32,
    /// With all of its words.
    pub whole: u32,
}

/// Ranks turns by the BM25 of their own words, nothing lent by their neighbors; turns without a word of the question are left
/// out.
///
/// # Errors
/// As [`Spaces::hits`].
pub async fn ranked(questions: &[Question], spaces: &Spaces) -> Result<Vec<Ranked>> {
    let mut rows = Vec::new();
    for question in questions {
        let asking = QueryOptions { limit: MOST_TURNS, mode: RecallMode::Lexical };
        let mut hits = spaces.hits(question, asking).await?;
        hits.retain(|(_, hit)| own_words(hit) > 0.0);
        hits.sort_by(|(_, a), (_, b)| own_words(b).total_cmp(&own_words(a)));
        let turns = hits.into_iter().map(|(turn, hit)| (turn, cost(&hit))).collect();
        rows.push(Ranked { id: question.id.clone(), turns });
    }
    Ok(rows)
}

/// Fills contexts with ranked turns, and passes over those that do not fit any more; `cost` says how each turn is written.
pub fn filled(ranked: &[Ranked], budget: u32, cost: fn(&Line) -> u32) -> Answers {
    let mut answers = Answers::default();
    for one in ranked {
        let mut left = budget;
        let fits = |(_, line): &&(String, Line)| {
            let fits = cost(line) <= left;
            left -= if fits { cost(line) } else { 0 };
            fits
        };
        let turns = one.turns.iter().filter(fits).map(|(turn, _)| turn.clone()).collect();
        answers.rows.push(Row { id: one.id.clone(), ranked: turns });
        answers.whole_tokens += u64::from(budget - left);
    }
    answers
}

fn cost(hit: &Hit) -> Line {
    let Some(kept) = hit.event.body() else { return Line { cut: u32::MAX, whole: u32::MAX } };
    Line::of(kept.speaker.as_ref().map_or("", |speaker| speaker.as_str()), &kept.content)
}

impl Line {
    /// Returns the token cost of a line.
    pub fn of(speaker: &str, text: &str) -> Self {
        let cut = text.get(..token_prefix(text, OF_A_TURN)).unwrap_or_default();
        let tokens = |text: &str| estimate_tokens(&format!("{speaker}: {text}\n"));
        Self { cut: tokens(cut), whole: tokens(text) }
    }
}

fn own_words(hit: &Hit) -> f32 {
    let words = hit.parts.iter().find(|part| part.name == "words").map_or(0.0, |part| part.raw);
    words * (1.0 - hit.neighbor_share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_filled_from_the_best_turn_on_and_a_long_one_is_passed_over() {
        let turns = [("a", 40), ("b", 70), ("c", 60), ("d", 1)];
        let turns = turns.map(|(turn, cut)| (turn.to_owned(), Line { cut, whole: 2 * cut })).to_vec();
        let ranked = [Ranked { id: "q".to_owned(), turns }];
        let held = |budget, cost| filled(&ranked, budget, cost).rows.remove(0).ranked;
        assert_eq!(held(100, |line| line.cut), ["a", "c"]);
        assert_eq!(held(101, |line| line.cut), ["a", "c", "d"]);
        assert_eq!(held(0, |line| line.cut), Vec::<String>::new());
        assert_eq!(held(101, |line| line.whole), ["a", "d"]);
        assert_eq!(filled(&ranked, 101, |line| line.whole).whole_tokens, 82);
    }
}
