//! Ranking: measures the candidates of all arms and ranks them.

use std::collections::HashMap;

use mnemal_core::ScorePart;

use crate::evidence::{EvidenceFeatures, EvidenceRule, nearness};
use crate::fuse::{Candidate, Fused, FusionRule, fuse};
use crate::graph::GraphSignals;
use crate::lexical::{LexicalIndex as _, LexicalScores};
use crate::measure::Measure;
use crate::penalties;
use crate::question::Query;
use crate::recall::EmbeddedQuery;
use crate::request::{MatchReason, UsedMode};
use crate::sign_bits::Vectors;
use crate::signal::{FACT_SUPPORT, KIND, Weights};
use crate::state::Snapshot;
use crate::vector::VectorIndex as _;

/// The results of the arms.
#[derive(Debug)]
pub(crate) struct Arms {
    pub(crate) words: Option<LexicalScores>,
    pub(crate) vectors: Option<(Vectors, EmbeddedQuery)>,
}

/// A ranking with the data that explains it.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) snapshot: Snapshot,
    pub(crate) ranked: Vec<Fused>,
    rule: FusionRule,
    measured: Vec<Candidate>,
    arms: Arms,
    /// Evidence features common to all hits.
    shared: EvidenceFeatures,
}

impl Search {
    /// Measures and ranks the candidates.
    pub(crate) fn rank(
        snapshot: Snapshot,
        query: &Query,
        arms: Arms,
        rows: &[u32],
        weights: &Weights,
    ) -> Self {
        snapshot.index.fetch(rows);
        // Rows that are not loaded yet may contain the name, or the named person's turn; then there is no penalty.
        let heard = arms.words.as_ref().filter(|_| snapshot.lacks == 0);
        let shared = heard.map(|words| penalties::common_features(&snapshot.index, words, query, rows));
        let shared = shared.unwrap_or_default();
        let (ranked, rule) = (Vec::new(), FusionRule::default());
        let search = Self { snapshot, ranked, rule, measured: Vec::new(), arms, shared };
        let words = search.arms.words.as_ref();
        let measure = Measure::new(&search.snapshot.index, query, words);
        let cosines = search.cosines(rows);
        let measured: Vec<Candidate> =
            rows.iter().zip(cosines).map(|(row, cosine)| measure.candidate(*row, cosine)).collect();
        let (ranked, rule) = fuse(measured.clone(), weights);
        Self { ranked, rule, measured, ..search }
    }

    /// Whether the answer seems to hold another person's words: the first evidence penalty.
    pub(crate) fn is_of_another(&self) -> bool {
        self.shared.attribution(&EvidenceRule::LEARNT) < 1.0
    }

    /// Reranks with the graph signals of some rows.
    pub(crate) fn with_graph_signals(
        mut self,
        rows: &[u32],
        signals: &[GraphSignals],
        weights: &Weights,
    ) -> Self {
        let signals: HashMap<u32, GraphSignals> = rows.iter().copied().zip(signals.iter().copied()).collect();
        for candidate in &mut self.measured {
            let graph = signals.get(&candidate.row).copied().unwrap_or_default();
            for (place, value) in [(FACT_SUPPORT, graph.fact_support), (KIND, graph.kind)] {
                if let Some(raw) = candidate.raw.get_mut(place) {
                    *raw = value;
                }
            }
        }
        let (ranked, rule) = fuse(std::mem::take(&mut self.measured), weights);
        Self { ranked, rule, ..self }
    }

    /// The score parts of a ranked row.
    pub(crate) fn parts(&self, fused: &Fused) -> Vec<ScorePart> {
        self.rule.parts(fused)
    }

    fn cosine(&self, row: u32) -> Option<f32> {
        let (vectors, asked) = self.arms.vectors.as_ref()?;
        vectors.cosine(&asked.vector, row)
    }

    /// The cosines of rows, ascending; `None` for a row without a vector.
    fn cosines(&self, rows: &[u32]) -> Vec<Option<f32>> {
        match &self.arms.vectors {
            Some((vectors, asked)) => vectors.flat.cosines(&asked.vector, rows),
            None => vec![None; rows.len()],
        }
    }

    /// The cosine of two rows; `None` if one has no vector of the query's model.
    pub(crate) fn nearness(&self, one: u32, other: u32) -> Option<f32> {
        self.arms.vectors.as_ref()?.0.between(one, other)
    }

    /// The evidence features of a row, before its text is fetched.
    pub(crate) fn features(&self, row: u32, query: &Query) -> EvidenceFeatures {
        if !query.asks_something {
            return EvidenceFeatures::default();
        }
        let columns = &self.snapshot.index.columns;
        let (coverage, own, lacking) = self.arms.words.as_ref().map_or((0.0, 0.0, 0.0), |words| {
            let attribute = words.bits(|term| query.attribute.contains(&term));
            let held = words.held_around(row, columns);
            let own = words.share(words.term_bits(row), u16::MAX);
            (words.coverage(row, columns), own, words.lacking(held, attribute))
        });
        let floor = self.arms.vectors.as_ref().map(|(_, asked)| asked.floor);
        let nearness = self.cosine(row).zip(floor).map_or(0.0, |(cosine, floor)| nearness(cosine, floor));
        EvidenceFeatures { coverage, own, nearness, lacking, ..self.shared }
    }

    /// The reason for a row, and the share of its lexical score from adjacent messages.
    pub(crate) fn found_by(&self, row: u32) -> (MatchReason, f32) {
        let columns = &self.snapshot.index.columns;
        let scores =
            self.arms.words.as_ref().map_or((0.0, 0.0), |words| (words.raw(row), words.smooth(row, columns)));
        match scores {
            (raw, smooth) if raw > 0.0 => (MatchReason::Words, (1.0 - raw / smooth).clamp(0.0, 1.0)),
            (_, smooth) if smooth > 0.0 => (MatchReason::Neighbor, 1.0),
            _ => (MatchReason::Nearness, 0.0),
        }
    }

    /// The arms that ran.
    pub(crate) fn used(&self) -> UsedMode {
        match (&self.arms.words, &self.arms.vectors) {
            (Some(_), Some(_)) => UsedMode::Hybrid,
            (Some(_), None) => UsedMode::Lexical,
            (None, Some(_)) => UsedMode::Vector,
            (None, None) => UsedMode::Nothing,
        }
    }

    /// The number of rows without a vector of the query's model, if they are more than half.
    ///
    /// Texts without any word that the model knows never get a vector, so some rows always lack one.
    pub(crate) fn lacks_vectors(&self) -> Option<u64> {
        let index = &self.snapshot.index;
        let known = index.vectors_of(&self.query_vector()?.model);
        if known.saturating_mul(2) >= index.rows() {
            return None;
        }
        // An event without words, such as a decision about a fact, needs no vector.
        let worded = index.columns.lengths.iter().filter(|length| **length > 0).count() as u64;
        let behind = worded.saturating_sub(u64::from(known));
        (behind > worded / 2).then_some(behind)
    }

    /// The query vector, if there was one.
    pub(crate) fn query_vector(&self) -> Option<&EmbeddedQuery> {
        self.arms.vectors.as_ref().map(|(_, asked)| asked)
    }
}
