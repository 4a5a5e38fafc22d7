//! Contexts that stemmed BM25 would give: the turns with most of a question's words, whole, as many as fit.

use anyhow::Result;
use mnemal::{Hit, RecallMode};
use mnemal_text::{estimate_tokens, token_prefix};

use crate::neutral::{DataSet, Row};
use crate::spaces::{Asking, Spaces};

/// Turns that are asked for. Source: no conversation of the sets has more.
const MOST_TURNS: usize = 1_000;
/// Most tokens of one turn. Source: as in the contexts beside, where longer lines are cut.
const OF_A_TURN: u32 = 500;

/// Turns in the order of BM25 for one question.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Id of the question.
    pub id: String,
    /// The turns, best first, with the tokens of each in a context.
    pub turns: Vec<(String, u32)>,
}

/// Ranks turns by the BM25 of their own words, nothing lent by their neighbours; turns without a word of the question are left out.
///
/// # Errors
/// As [`Spaces::hits`].
pub async fn ranked(data: &DataSet, spaces: &Spaces) -> Result<Vec<Ranked>> {
    let mut rows = Vec::new();
    for question in &data.questions {
        let asking = Asking { limit: MOST_TURNS, mode: RecallMode::Lexical };
        let mut hits = spaces.hits(question, asking).await?;
        hits.retain(|(_, hit)| own_words(hit) > 0.0);
        hits.sort_by(|(_, a), (_, b)| own_words(b).total_cmp(&own_words(a)));
        let turns = hits.into_iter().map(|(turn, hit)| (turn, cost(&hit))).collect();
        rows.push(Ranked { id: question.id.clone(), turns });
    }
    Ok(rows)
}

/// Fills contexts with ranked turns, and passes over those that do not fit any more.
pub fn filled(ranked: &[Ranked], budget: u32) -> Vec<Row> {
    let fill = |one: &Ranked| {
        let mut left = budget;
        let fits = |(_, cost): &&(String, u32)| {
            let fits = *cost <= left;
            left -= if fits { *cost } else { 0 };
            fits
        };
        let turns = one.turns.iter().filter(fits).map(|(turn, _)| turn.clone()).collect();
        Row { id: one.id.clone(), ranked: turns }
    };
    ranked.iter().map(fill).collect()
}

fn cost(hit: &Hit) -> u32 {
    let Some(kept) = hit.event.kept() else { return u32::MAX };
    let text = kept.content.get(..token_prefix(&kept.content, OF_A_TURN)).unwrap_or_default();
    let speaker = kept.speaker.as_ref().map_or("", |speaker| speaker.as_str());
    estimate_tokens(&format!("{speaker}: {text}\n"))
}

fn own_words(hit: &Hit) -> f32 {
    let words = hit.parts.iter().find(|part| part.name == "words").map_or(0.0, |part| part.raw);
    words * (1.0 - hit.neighbour_share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_filled_from_the_best_turn_on_and_a_long_one_is_passed_over() {
        let turns = [("a", 40), ("b", 70), ("c", 60), ("d", 1)];
        let turns = turns.map(|(turn, cost)| (turn.to_owned(), cost)).to_vec();
        let ranked = [Ranked { id: "q".to_owned(), turns }];
        assert_eq!(filled(&ranked, 100)[0].ranked, ["a", "c"]);
        assert_eq!(filled(&ranked, 101)[0].ranked, ["a", "c", "d"]);
        assert_eq!(filled(&ranked, 0)[0].ranked, Vec::<String>::new());
    }
}
