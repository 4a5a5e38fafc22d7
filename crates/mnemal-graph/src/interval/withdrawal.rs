//! Withdrawn values: not valid after a learning of the same words was rejected, until they are stated again.

use std::collections::BTreeMap;

use mnemal_core::{Act, FactStatus, Reason, Support};

use super::{Version, by_value, ended_by, version};
use crate::slot::Claim;

/// Removes withdrawn claims: for a value whose last mark is negative, everything recorded up to that mark becomes a
/// rejected version. Returns the other claims, and the marks without effect because the value was restored.
pub(super) fn apart(claims: Vec<Claim>, versions: &mut Vec<Version>) -> (Vec<Claim>, Vec<Claim>) {
    let last = last_marks(&claims);
    if last.is_empty() {
        return (claims, Vec::new());
    }
    let is_void = |claim: &Claim| {
        let mark = last.get(&claim.value).filter(|mark| mark.act == Act::Negative);
        mark.is_some_and(|mark| claim.support.recorded_at <= mark.recorded_at)
    };
    let (withdrawn, claims): (Vec<Claim>, Vec<Claim>) = claims.into_iter().partition(is_void);
    for (value, claims) in by_value(withdrawn) {
        let by = last.get(&value).map(|mark| ended_by(Reason::Rejected, mark));
        versions.push(Version { superseded: by, ..version(said_first(claims), FactStatus::Rejected) });
    }
    let (marks, claims) = claims.into_iter().partition(|claim| claim.support.is_withdrawal());
    (claims, marks)
}

/// Returns the last mark of each value.
fn last_marks(claims: &[Claim]) -> BTreeMap<String, Support> {
    let mut last: BTreeMap<String, Support> = BTreeMap::new();
    for Claim { value, support, .. } in claims.iter().filter(|claim| claim.support.is_withdrawal()) {
        let known = last.entry(value.clone()).or_insert_with(|| support.clone());
        if support.recorded_at >= known.recorded_at {
            *known = support.clone();
        }
    }
    last
}

/// Orders the marks after the statements, from which a version takes its words.
fn said_first(mut claims: Vec<Claim>) -> Vec<Claim> {
    claims.sort_by_key(|claim| claim.support.is_withdrawal());
    claims
}
