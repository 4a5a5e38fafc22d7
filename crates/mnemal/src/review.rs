//! Review: the memories that wait for a person.

use std::collections::BTreeMap;

use mnemal_core::{AgentId, Learning, LearningFilter, LearningKind, LearningStatus, NoteKey, Result, UserId};
use serde::{Deserialize, Serialize};

use crate::areas::PreferencesHandle;

/// What of the memories that were learned waits for a person's review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewScope {
    /// Everything that was learned and that no person decided about.
    All,
    /// Candidates: what was learned and does not count yet.
    #[default]
    Unsure,
    /// Nothing.
    None,
}

/// The key of a note with whose it is: two users may have the same key.
type OwnKey<'r> = (&'r NoteKey, Option<&'r UserId>, Option<&'r AgentId>);

impl PreferencesHandle<'_> {
    /// Returns the memories that pass a filter and wait for a person's review, newest first; which wait, `learning.review` says
    /// for all spaces and `learning.review_in` for one. What was confirmed under the same key, what has expired, and what was
    /// counted of a tool does not wait.
    ///
    /// # Errors
    /// As [`learnings`](Self::learnings).
    pub async fn to_review(self, filter: &LearningFilter) -> Result<Vec<Learning>> {
        let engine = &self.memory.engine;
        let scope = engine.settings().learning.review_of(self.memory.scope.space.as_str());
        if scope == ReviewScope::None {
            return Ok(Vec::new());
        }
        let now = engine.now();
        let rows = self.all_learnings(filter).await?;
        let mut held: BTreeMap<OwnKey<'_>, u32> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.status == LearningStatus::Active) {
            if let Some(key) = own_key(row) {
                let version = held.entry(key).or_default();
                *version = row.version.max(*version);
            }
        }
        let is_newest = |row: &Learning| {
            own_key(row).and_then(|key| held.get(&key)).is_none_or(|version| *version <= row.version)
        };
        let is_live = |row: &Learning| row.expires_at.is_none_or(|end| end > now);
        let mut waiting: Vec<Learning> =
            rows.iter().filter(|row| waits(row, scope) && is_newest(row) && is_live(row)).cloned().collect();
        waiting.sort_by_key(|row| (std::cmp::Reverse(row.created_at), row.id));
        Ok(waiting)
    }
}

fn own_key(row: &Learning) -> Option<OwnKey<'_>> {
    Some((row.key.as_ref()?, row.user.as_ref(), row.agent.as_ref()))
}

/// Whether a row is of the scope.
fn waits(row: &Learning, scope: ReviewScope) -> bool {
    let is_learned = || row.signal.is_some() || row.kind == LearningKind::Insight;
    row.kind != LearningKind::Tool
        && match row.status {
            LearningStatus::Candidate => scope != ReviewScope::None,
            LearningStatus::Active => scope == ReviewScope::All && row.verdict.is_none() && is_learned(),
            _ => false,
        }
}
