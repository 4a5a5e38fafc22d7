//! Fact explanation: the claims that a fact was weighed against, and the result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mnemal_core::{AsOf, EntityId, Fact, FactFilter, Result, Supersession, Timestamp, Within};

use crate::Graph;
use crate::cardinality::Cardinalities;
use crate::slot::{Claim, Slot, places};

/// Explains the status of a fact: the claims weighed with it, and what ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactExplanation {
    /// Claims that were weighed together, its own included.
    pub claims: usize,
    /// Claims that it rests on.
    pub own: usize,
    /// Sessions and speakers behind its own claims; with more than one it is more than a candidate.
    pub voices: usize,
    /// Different values among all claims; with more than one they exclude each other, or one is the denial of the same
    /// value.
    pub values: usize,
    /// What ended it: the reason, the event, and the rule that read it there.
    pub ended: Option<Supersession>,
}

impl fmt::Display for FactExplanation {
    /// Formats it as one line: `rests on 2 of 5 claims, from 1 voice; 2 values; ended: newer_value, evt_…, en.lives_in`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = |count: usize| if count == 1 { "" } else { "s" };
        let Self { claims, own, voices, values, ended } = self;
        write!(
            out,
            "rests on {own} of {claims} claim{}, from {voices} voice{}",
            many(*claims),
            many(*voices)
        )?;
        write!(out, "; {values} value{}", many(*values))?;
        match ended {
            Some(Supersession { reason, by, rule }) => {
                write!(out, "; ended: {}, {by}, {rule}", reason.as_str())
            }
            None => Ok(()),
        }
    }
}

impl Graph {
    /// Returns what a fact is weighed against now: every believed claim about its subject that it could exclude, or be
    /// excluded by. For a version that is no longer believed, its own claims are counted in addition.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn explain_fact(&self, fact: &Fact) -> Result<FactExplanation> {
        let about = FactFilter { subjects: Within::Only(vec![fact.subject]), ..FactFilter::all() };
        let mut facts = self.store().believed(&about).await?;
        if facts.iter().all(|known| known.id != fact.id) {
            facts.push(fact.clone());
        }
        let named = facts.iter().flat_map(|fact| &fact.supports);
        let named = named.flat_map(|support| [Some(support.subject), support.object.entity()]);
        let ids: BTreeSet<EntityId> = named.flatten().collect();
        let wholes: BTreeMap<EntityId, EntityId> = self.wholes(ids, AsOf::present(Timestamp::MAX)).await?;
        let canon = |id: EntityId| wholes.get(&id).copied().unwrap_or(id);
        let held = Cardinalities::from_rows(self.store().edition().await?.predicates);
        let slots: BTreeSet<Slot> = places(fact, &held, canon).map(|(slot, _)| slot).collect();
        let all: Vec<Claim> = facts
            .iter()
            .flat_map(|fact| places(fact, &held, canon))
            .filter(|(slot, _)| slots.contains(slot))
            .map(|(_, claim)| claim)
            .collect();
        let values: BTreeSet<&str> = all.iter().map(|claim| claim.value.as_str()).collect();
        let claims: BTreeSet<_> = all.iter().map(|claim| (claim.support.source, &claim.value)).collect();
        let voices: BTreeSet<_> = fact.supports.iter().map(|own| (&own.session, &own.speaker)).collect();
        Ok(FactExplanation {
            claims: claims.len(),
            own: fact.supports.len(),
            voices: voices.len(),
            values: values.len(),
            ended: fact.superseded.clone(),
        })
    }
}
