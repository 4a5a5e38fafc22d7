//! Hydration: turns ranked rows into hits, each checked against the log as its text is fetched.

use std::collections::HashMap;

use mnemal_core::{Event, EventFilter, EventId, Gaps, Result, Score, Seq, TokenCount, TokenCounter, Within};
use mnemal_extract::foreign_remark;
use mnemal_text::fold;

use crate::diversify::{self, HitSimilarity};
use crate::evidence::{EvidenceFeatures, EvidenceRule};
use crate::fuse::Fused;
use crate::memory::NONE;
use crate::note_status;
use crate::question::Query;
use crate::recall::Recall;
use crate::request::{Cutoff, Diversity, Expand, Hit, RecallRequest, RecallResult};
use crate::score_cutoff::before_fall;
use crate::search::Search;
use crate::signal::{NEARNESS, WORDS};

/// Factor for the score of a turn with other authors' words, in a question about the asker. Source: own choice; `bench life`, nine
/// lives, development and held back: R@1 .463 to .476 and .541 to .553, R@10 .825 to .833 and .813 to .825.
const FOREIGN: f32 = 0.6;

/// Fetches the best rows and makes hits of those that are still visible in the log.
pub(crate) async fn answer(
    recall: &Recall,
    request: &RecallRequest,
    query: &Query,
    search: &Search,
    gaps: &mut Gaps,
) -> Result<RecallResult> {
    let (mut hits, mut withheld) = (Vec::new(), Vec::new());
    let depth = match request.cutoff {
        Cutoff::Limit => search.ranked.len(),
        Cutoff::FallOff => before_fall(search.ranked.iter().map(|fused| fused.score)),
    };
    let scored_well = |fused: &&Fused| request.min_score.is_none_or(|least| fused.score >= least);
    let ranked: Vec<&Fused> = search.ranked.iter().take(depth).filter(scored_well).collect();
    let ranked = match request.diversity {
        Diversity::Ranked | Diversity::Covering => ranked,
        Diversity::InTurn => diversify::in_turn(&ranked, &[WORDS, NEARNESS]),
    };
    let mut ranked = ranked.into_iter();
    let mut pool = diversify::pool(request.diversity, request.limit.get());
    let larger = pool + pool / 2;
    let living = live_filter(&request.filter);
    while hits.len() < pool {
        let wanted: Vec<&Fused> = ranked.by_ref().take(pool - hits.len()).collect();
        if wanted.is_empty() {
            break;
        }
        let places = places(search, &wanted, request.expand);
        let mut events = recall.fetch(&places, gaps).await?;
        let found =
            wanted.into_iter().filter_map(|fused| hit((request, &living), query, search, fused, &mut events));
        let (holds, ended) = note_status::exclude(recall, found.collect(), request.as_of, gaps).await;
        hits.extend(holds);
        withheld.extend(ended);
        if hits.iter().any(|hit| hit.features.is_foreign) {
            // Others move up where turns with other authors' words move down.
            pool = larger;
        }
    }
    demote_foreign(&mut hits);
    if request.diversity == Diversity::Covering {
        let likeness = HitSimilarity::of(search);
        let wanted = (request.limit.get(), request.query.as_str());
        hits = diversify::choose(hits, wanted, |one, other| likeness.between(one, other));
    }
    hits.truncate(request.limit.get());
    cut(&mut hits, request.max_tokens, recall.parts.counter.part().ok());
    Ok(RecallResult {
        evidence: hits.iter().fold(0.0, |largest, hit: &Hit| hit.evidence.max(largest)),
        hits,
        withheld,
        used: search.used(),
        head: search.snapshot.head,
        model: search.query_vector().map(|asked| asked.model.clone()),
    })
}

/// The events of the rows and, if requested, of the adjacent messages; each once.
fn places(search: &Search, wanted: &[&Fused], expand: Expand) -> Vec<(EventId, Seq)> {
    let index = &search.snapshot.index;
    let mut places: Vec<(EventId, Seq)> = Vec::with_capacity(wanted.len());
    let mut add = |row: u32| places.extend(index.event_at(row));
    for fused in wanted {
        add(fused.row);
        if expand == Expand::Neighbors {
            let (before, after) = adjacent(search, fused.row);
            add(before);
            add(after);
        }
    }
    places.sort_unstable_by_key(|(_, seq)| *seq);
    places.dedup();
    places
}

fn adjacent(search: &Search, row: u32) -> (u32, u32) {
    let columns = &search.snapshot.index.columns;
    let of = |column: &[u32]| column.get(row as usize).copied().unwrap_or(NONE);
    (of(&columns.previous), of(&columns.next))
}

fn hit(
    (request, living): (&RecallRequest, &EventFilter),
    query: &Query,
    search: &Search,
    fused: &Fused,
    events: &mut HashMap<EventId, Event>,
) -> Option<Hit> {
    let index = &search.snapshot.index;
    let id = index.event(fused.row)?;
    // An event is only needed twice if adjacent messages are requested.
    let event = match request.expand {
        Expand::Nothing => events.remove(&id),
        Expand::Neighbors => events.get(&id).cloned(),
    };
    let event = event.filter(|event| living.accepts(event))?;
    let has_phrase = event.body().is_some_and(|kept| holds_phrase(&kept.content, query));
    let is_foreign = query.about_self && event.body().is_some_and(|kept| foreign_remark(kept).is_some());
    let features = EvidenceFeatures { has_phrase, is_foreign, ..search.features(fused.row, query) };
    let evidence = features.evidence(&EvidenceRule::LEARNT);
    if request.min_evidence.is_some_and(|least| evidence < least) {
        return None;
    }
    let neighbor = |row: u32| {
        let event = events.get(&index.event(row)?)?;
        for_reading(living).accepts(event).then(|| event.clone())
    };
    let (before, after) = match request.expand {
        Expand::Nothing => (None, None),
        Expand::Neighbors => {
            let (before, after) = adjacent(search, fused.row);
            (neighbor(before), neighbor(after))
        }
    };
    let (found_by, neighbor_share) = search.found_by(fused.row);
    Some(Hit {
        event,
        score: Score::new(fused.score),
        evidence,
        features,
        reranked: None,
        parts: search.parts(fused),
        neighbor_share,
        found_by,
        before,
        after,
        space: None,
    })
}

/// Moves turns with other authors' words behind the asker's own that score nearly as well, in a question about the asker.
fn demote_foreign(hits: &mut Vec<Hit>) {
    if !hits.iter().any(|hit| hit.features.is_foreign) {
        return;
    }
    let demoted = std::mem::take(hits).into_iter().map(|hit| {
        let weight = if hit.features.is_foreign { FOREIGN } else { 1.0 };
        hit.scaled(weight)
    });
    hits.extend(demoted);
    hits.sort_by(|one, other| other.score.get().total_cmp(&one.score.get()));
}

fn holds_phrase(content: &str, query: &Query) -> bool {
    if query.phrases.is_empty() {
        return false;
    }
    let content = fold(content);
    query.phrases.iter().any(|phrase| content.contains(phrase))
}

/// A filter that the log's own row must pass: not erased, not in quarantine, and within the request.
fn live_filter(filter: &EventFilter) -> EventFilter {
    EventFilter { quarantined: Within::Only(false), erased: Within::Only(false), ..filter.clone() }
}

/// A filter for adjacent messages: scope still applies, but not role or time.
fn for_reading(filter: &EventFilter) -> EventFilter {
    EventFilter { speaker: Within::All, roles: Within::All, since: None, until: None, ..filter.clone() }
}

/// Drops the hits from the first one that exceeds the token limit.
pub(crate) fn cut(hits: &mut Vec<Hit>, limit: Option<TokenCount>, counter: Option<&dyn TokenCounter>) {
    let Some(limit) = limit else { return };
    let tokens = |event: &Event| event.body().map_or(TokenCount(0), |kept| count(&kept.content, counter));
    let mut used = TokenCount(0);
    let fits = hits.iter().take_while(|hit| {
        let texts = [Some(&hit.event), hit.before.as_ref(), hit.after.as_ref()];
        used = used + texts.into_iter().flatten().map(tokens).sum();
        used <= limit
    });
    let fits = fits.count();
    hits.truncate(fits);
}

fn count(text: &str, counter: Option<&dyn TokenCounter>) -> TokenCount {
    counter.map_or_else(
        || TokenCount(u32::try_from(text.len().div_ceil(2)).unwrap_or(u32::MAX)),
        |counter| counter.count(text),
    )
}
