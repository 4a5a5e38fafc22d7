//! What a fact was weighed against, and what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mnemal_core::{AsOf, EntityId, Fact, FactFilter, Result, Superseded, Timestamp, Within};

use crate::Graph;
use crate::cardinality::Cardinalities;
use crate::slot::{Claim, Slot, places};

/// How a fact came to stand where it stands: what was weighed with it, and what ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighing {
    /// Claims that were weighed together, its own among them.
    pub claims: usize,
    /// Those of them that it rests on.
    pub own: usize,
    /// Conversations and speakers from which its own come; more than one make it more than a candidate.
    pub voices: usize,
    /// Different values among all of them; more than one exclude each other, or it is the same with its denial.
    pub values: usize,
    /// What put an end to it: the reason, the event, and the rule that read it there.
    pub ended: Option<Superseded>,
}

impl fmt::Display for Weighing {
    /// Writes it as a line for people: `rests on 2 of 5 claims, from 1 voice; 2 values; ended: newer_value, evt_…, en.lives_in`.
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
            Some(Superseded { reason, by, rule }) => {
                write!(out, "; ended: {}, {by}, {rule}", reason.as_str())
            }
            None => Ok(()),
        }
    }
}

impl Graph {
    /// Returns what a fact is weighed against now: every claim of whom it is about that is believed and that it could exclude,
    /// or be excluded by. Of a version that is believed no more, its own claims are counted with those that are.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn weighing(&self, fact: &Fact) -> Result<Weighing> {
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
        Ok(Weighing {
            claims: claims.len(),
            own: fact.supports.len(),
            voices: voices.len(),
            values: values.len(),
            ended: fact.superseded.clone(),
        })
    }
}
