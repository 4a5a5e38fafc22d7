//! Substring scan of the newest events, the last step of the degradation ladder.

use mnemal_core::{Cursor, Event, Score, ScorePart};
use mnemal_text::{Analyzer, fold};

use crate::answer::cut;
use crate::evidence::{EvidenceFeatures, EvidenceRule};
use crate::question::content_words;
use crate::request::{Hit, MatchReason, RecallRequest, RecallResult, UsedMode};

/// Fewest bytes of a word that may match inside another word; a Chinese character has three. Source: own choice.
const SHORTEST: usize = 3;

/// Least share of the query's words in a hit: a scan without index must not guess. Source: own choice; two words of three.
const LEAST_SHARE: f32 = 0.35;

/// Ranks events, given newest first, by the share of the query's words that they contain, and newer before older for equal
/// shares.
///
/// The whole query counts as 1. Hits below [`LEAST_SHARE`] are dropped.
pub(crate) fn scan(request: &RecallRequest, analyzer: Analyzer, events: Vec<Event>) -> RecallResult {
    let words = content_words(&request.query, analyzer).map(fold);
    let words: Vec<String> = words.filter(|word| word.len() >= SHORTEST).collect();
    let whole = fold(request.query.trim());
    let head = Cursor(events.iter().map(|event| event.seq).max());
    let mut found: Vec<(f32, Event)> = events
        .into_iter()
        .filter_map(|event| Some((share(&event.body()?.content, &whole, &words), event)))
        .filter(|(share, _)| *share >= least(request))
        .collect();
    found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(other.seq.cmp(&one.seq)));
    found.truncate(request.limit.get());
    let mut hits: Vec<Hit> = found.into_iter().map(|(share, event)| hit(share, event)).collect();
    cut(&mut hits, request.max_tokens, None);
    let evidence = hits.first().map_or(0.0, |hit| hit.evidence);
    RecallResult { hits, withheld: Vec::new(), used: UsedMode::Substring, evidence, head, model: None }
}

fn least(request: &RecallRequest) -> f32 {
    [request.min_score, request.min_evidence].into_iter().flatten().fold(LEAST_SHARE, f32::max)
}

fn share(content: &str, whole: &str, words: &[String]) -> f32 {
    let content = fold(content);
    if !whole.is_empty() && content.contains(whole) {
        return 1.0;
    }
    let found = words.iter().filter(|word| content.contains(word.as_str())).count();
    found as f32 / words.len().max(1) as f32
}

fn hit(share: f32, event: Event) -> Hit {
    let features = EvidenceFeatures { coverage: share, ..EvidenceFeatures::default() };
    let part = ScorePart { name: "substring", raw: share, normalized: share, weight: 1.0, value: share };
    Hit {
        event,
        score: Score::new(share),
        evidence: features.evidence(&EvidenceRule::LEARNT),
        features,
        reranked: None,
        parts: vec![part],
        neighbor_share: 0.0,
        found_by: MatchReason::Substring,
        before: None,
        after: None,
        space: None,
    }
}
