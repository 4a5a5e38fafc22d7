//! Ends that a person decided: the last decision counts, and it reaches statements without a start.

use mnemal_core::{Act, Timestamp};

use super::apart;
use crate::slot::Claim;

/// Applies the decided ends of a slot; an end that a later decision moved becomes a mark.
pub(super) fn apply(claims: Vec<Claim>, marks: &mut Vec<Claim>) -> Vec<Claim> {
    if !claims.iter().any(is_decided_end) {
        return claims;
    }
    let is_moved = moved_end(&claims);
    let mut claims = apart(claims, is_moved, |mut moved| marks.append(&mut moved));
    end_undated(&mut claims);
    claims
}

/// Returns whether a claim is a decided end that a later decision moved; a value that was stated in between ended twice.
fn moved_end(claims: &[Claim]) -> impl Fn(&Claim) -> bool + use<> {
    let times = |fits: fn(&Claim) -> bool| -> Vec<(String, Timestamp)> {
        let fitting = claims.iter().filter(|claim| fits(claim));
        fitting.map(|claim| (claim.value.clone(), claim.support.recorded_at)).collect()
    };
    let (ends, stated) = (times(is_decided_end), times(Claim::is_assertion));
    move |claim| {
        let from = claim.support.recorded_at;
        let is_restated = |until: Timestamp| {
            stated.iter().any(|(value, at)| *value == claim.value && (from..until).contains(at))
        };
        is_decided_end(claim)
            && ends.iter().any(|(value, at)| *value == claim.value && *at > from && !is_restated(*at))
    }
}

/// Lets a decided end reach the undated statements that were recorded before it: they do not say since when the value is valid.
fn end_undated(claims: &mut [Claim]) {
    let ends: Vec<Claim> = claims.iter().filter(|claim| is_decided_end(claim)).cloned().collect();
    let is_undated = |claim: &&mut Claim| {
        claim.is_assertion() && claim.valid_at().is_none() && claim.support.invalid_at.is_none()
    };
    for claim in claims.iter_mut().filter(is_undated) {
        let by = ends
            .iter()
            .filter(|end| end.value == claim.value && end.support.recorded_at >= claim.support.recorded_at);
        claim.ceiling = by.filter_map(|end| end.support.invalid_at).min();
    }
}

fn is_decided_end(claim: &Claim) -> bool {
    claim.support.is_decided() && claim.support.act == Act::End
}
