//! Penalties for a whole answer: words of another person, or an unknown name.

use mnemal_core::TermHash;

use crate::evidence::EvidenceFeatures;
use crate::lexical::{LexicalIndex as _, LexicalScores};
use crate::memory::MemoryIndex;
use crate::question::Query;
use crate::recall::is_person;
use crate::terms::FIRST_PERSON;

/// Factor for turns in which the speaker makes no statement about themselves. Source: `bench abstain` on `LoCoMo` (ADR 20);
/// "I painted it" tells who did it, "what a painting" does not.
const IMPERSONAL: f32 = 0.5;

/// Returns the evidence features common to all hits of an answer; the others keep their neutral values.
///
/// `rows` are the candidates: other turns contain no content word of the question.
pub(crate) fn common_features(
    index: &MemoryIndex,
    words: &LexicalScores,
    query: &Query,
    rows: &[u32],
) -> EvidenceFeatures {
    let frequency = |term: TermHash| words.frequency(term).unwrap_or_else(|| index.frequency(term));
    let is_unknown = |name: &Vec<TermHash>| name.iter().all(|term| frequency(*term) == 0);
    let (named, others) = attribution(index, words, query, rows);
    EvidenceFeatures {
        named,
        others,
        has_unknown_name: query.names.iter().any(is_unknown),
        ..EvidenceFeatures::default()
    }
}

/// The largest share of the question in one turn: of turns by or about the people that it names, and of other people's
/// turns.
///
/// Two zeros if the question names no speaker. Turns of machines, and of people without a name, do not count.
fn attribution(index: &MemoryIndex, words: &LexicalScores, query: &Query, rows: &[u32]) -> (f32, f32) {
    let called: Vec<TermHash> =
        query.terms.words.iter().copied().filter(|term| index.is_name(*term)).collect();
    if called.is_empty() {
        return (0.0, 0.0);
    }
    let name_bits = words.bits(|term| called.contains(&term));
    let (mut named, mut others) = (0.0_f32, 0.0_f32);
    for row in rows.iter().copied() {
        let speaker = index.speaker(row);
        if speaker.is_empty() || !index.role(row).is_some_and(is_person) {
            continue;
        }
        let (term_bits, of_self) = (words.term_bits(row), index.marks(row).has(FIRST_PERSON));
        let share = words.share(term_bits, u16::MAX) * if of_self { 1.0 } else { IMPERSONAL };
        let is_about = !of_self && term_bits & name_bits != 0;
        let side = if is_about || speaker.iter().any(|term| called.contains(term)) {
            &mut named
        } else {
            &mut others
        };
        *side = side.max(share);
    }
    (named, others)
}
