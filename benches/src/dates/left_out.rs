//! Held-out wordings: sentences that the rules do not list, read again after each wording is left out.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use mnemal_extract::{DateRules, PackLine};
use serde_json::{Value, json};

use super::{Case, DateSet, Tally, Verdict};

/// Results for sentences with unknown wording.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// Every sentence by group, read without the wordings that no other sentence of the set needs.
    pub unseen: BTreeMap<&'static str, Tally>,
    /// Every pair of a wording and a sentence that is exact with it and not without it, by group.
    pub lost: BTreeMap<&'static str, Tally>,
    /// The lost pairs for people that end in something wrong: the wording, the sentence, and what was read in it.
    pub told: Vec<String>,
    /// The sentences of `unseen` that end in something wrong, the same way.
    pub told_unseen: Vec<String>,
}

impl DateSet {
    /// Leaves out every wording of the rules once.
    ///
    /// # Errors
    /// Customs that cannot be read.
    pub fn leave_out(&self) -> Result<LeftOut> {
        let whole = self.verdicts(&DateRules::with_customs("en", self.customs)?);
        let mut found = LeftOut::default();
        let mut needed: BTreeMap<usize, Vec<PackLine>> = BTreeMap::new();
        for wording in DateRules::wordings("en")? {
            // Some words others are built on; a pack without them is none.
            let Ok(rules) = DateRules::without("en", self.customs, std::slice::from_ref(&wording)) else {
                continue;
            };
            let lost = self.lost(&rules, &whole, &wording, &mut found);
            let texts: BTreeSet<String> = lost.iter().filter_map(|place| self.text(*place)).collect();
            if texts.len() == 1 {
                for place in lost {
                    needed.entry(place).or_default().push(wording.clone());
                }
            }
        }
        for (place, case) in self.cases.iter().enumerate() {
            let wordings = needed.remove(&place).unwrap_or_default();
            let read = super::read(case, &DateRules::without("en", self.customs, &wordings)?);
            let verdict = super::judge(case, read.clone());
            found.unseen.entry(case.group).or_default().add(verdict);
            if verdict == Verdict::Wrong {
                let without: Vec<String> = wordings.iter().map(told).collect();
                let Case { id, group, input, .. } = case;
                found.told_unseen.push(format!(
                    "{group} {id}: {input}\n  without {}\n  found {read:?}",
                    without.join(", ")
                ));
            }
        }
        Ok(found)
    }

    /// The places of the cases that are exact with everything and not by these rules.
    fn lost(
        &self,
        rules: &DateRules,
        whole: &[Verdict],
        wording: &PackLine,
        found: &mut LeftOut,
    ) -> Vec<usize> {
        let now = self.verdicts(rules);
        let mut lost = Vec::new();
        for (place, case) in self.cases.iter().enumerate() {
            let (Some(Verdict::Exact), Some(verdict)) = (whole.get(place), now.get(place)) else { continue };
            if *verdict == Verdict::Exact {
                continue;
            }
            lost.push(place);
            found.lost.entry(case.group).or_default().add(*verdict);
            if *verdict == Verdict::Wrong {
                let read = super::read(case, rules);
                found.told.push(format!("{} {}: {}\n  found {read:?}", told(wording), case.id, case.input));
            }
        }
        lost
    }

    fn verdicts(&self, rules: &DateRules) -> Vec<Verdict> {
        (0..self.cases.len()).filter_map(|place| self.verdict(place, rules)).collect()
    }

    fn verdict(&self, place: usize, rules: &DateRules) -> Option<Verdict> {
        let case = self.cases.get(place)?;
        Some(super::judge(case, super::read(case, rules)))
    }

    /// A sentence, without what does not tell two of them apart.
    fn text(&self, place: usize) -> Option<String> {
        Some(self.cases.get(place)?.input.trim().to_lowercase())
    }
}

fn told(wording: &PackLine) -> String {
    let PackLine { section, name, text } = wording;
    format!("{section}.{name} `{text}`")
}

impl LeftOut {
    /// Both as figures.
    #[must_use]
    pub fn figures(&self) -> Value {
        let of = |groups: &BTreeMap<&'static str, Tally>| -> Value {
            groups.iter().map(|(name, tally)| ((*name).to_owned(), tally.figures())).collect()
        };
        json!({ "unseen": of(&self.unseen), "lost": of(&self.lost) })
    }
}
