//! Settings of background consolidation.

use std::time::Duration;

use mnemal_core::{Category, Error, GraphStore, Result, Slot};
use mnemal_dream::RewriteRules;
use mnemal_text::is_word_list;
use serde::{Deserialize, Serialize};

/// Background consolidation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "switches of their own, each read by its name")]
pub struct DreamSettings {
    /// Whether scheduled cycles run, as `schedule` says.
    pub enabled: bool,
    /// Schedule of cycles.
    pub schedule: DreamSchedule,
    /// Minimum interval between two scheduled cycles, in minutes.
    pub interval_mins: u32,
    /// Whether scheduled cycles connect notes that share names or topics by insights; by default only in always-on spaces. An
    /// explicit consolidation always does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insights: Option<bool>,
    /// Whether a language model, if there is one, writes the text of insights.
    pub insights_by_model: bool,
    /// Whether each ingested text gets a digest, a short note about its content; by default only in always-on spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digests: Option<bool>,
    /// Whether a language model, if there is one, writes the digests.
    pub digests_by_model: bool,
    /// Whether a language model, if there is one, merges near-duplicate notes.
    pub merges_by_model: bool,
    /// Whether a language model, if there is one, reads turns from which the rules extract nothing with certainty.
    pub leftovers: bool,
    /// Whether a language model, if there is one, is asked once per cycle for the category of new notes and for noise among them.
    pub judging: bool,
    /// Whether preferences are inferred: by rule, from implicit wishes that recur often enough, and with a model, by asking in
    /// the same request which messages state a preference.
    #[serde(alias = "preference_inference_enabled")]
    pub infer_preferences: bool,
    /// Whether a language model, if there is one, evaluates completed tasks and suggests what to remember of them.
    pub self_evaluation: bool,
    /// A file with your own instructions for merging notes, placed before the built-in ones for a language model; `dream.md` of
    /// `RockBot` is one.
    #[serde(alias = "directive_path")]
    pub directive_file: String,
    /// The same for inferring the user's preferences; `pref-dream.md` of `RockBot` is one.
    #[serde(alias = "preference_directive_path")]
    pub preference_directive_file: String,
    /// Words that a merge may always drop. A list with a blank word is ignored.
    pub common_words: Vec<String>,
    /// Words that a merge must never drop. A list with a blank word is ignored.
    pub specific_words: Vec<String>,
    /// Note categories, with their subcategories, whose numbers a merge may drop. A list with an invalid category name is
    /// ignored.
    pub disposable_numbers: Vec<String>,
}

/// Schedule of cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DreamSchedule {
    /// After a minute without a turn.
    #[default]
    Idle,
    /// Never.
    Off,
}

/// Source: GeneralBots, `consolidate_interval_mins`.
const INTERVAL_MINS: u32 = 30;
/// Source: GeneralBots, whose insights any configured model writes.
const INSIGHTS_BY_MODEL: bool = true;
/// Source: GeneralBots, whose ingest worker summarizes with a model.
const DIGESTS_BY_MODEL: bool = true;
/// Source: RockBot, whose consolidation merges with a model.
const MERGES_BY_MODEL: bool = true;
/// Source: own choice; a configured model is meant to be used, and its caps apply.
const LEFTOVERS: bool = true;

/// Source: RockBot; a configured model is meant to be used, and its caps apply.
const JUDGING: bool = true;
/// Source: RockBot, `PreferenceInferenceEnabled`.
const INFER_PREFERENCES: bool = true;

/// Source: babyagi3; it needs a model, its results are kept apart, and it applies only when a host names its tasks.
const SELF_EVALUATION: bool = true;

impl Default for DreamSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            schedule: DreamSchedule::Idle,
            interval_mins: INTERVAL_MINS,
            insights: None,
            insights_by_model: INSIGHTS_BY_MODEL,
            digests: None,
            digests_by_model: DIGESTS_BY_MODEL,
            merges_by_model: MERGES_BY_MODEL,
            leftovers: LEFTOVERS,
            judging: JUDGING,
            infer_preferences: INFER_PREFERENCES,
            self_evaluation: SELF_EVALUATION,
            directive_file: String::new(),
            preference_directive_file: String::new(),
            common_words: Vec::new(),
            specific_words: Vec::new(),
            disposable_numbers: Vec::new(),
        }
    }
}

impl DreamSettings {
    /// Returns the limits of a cycle.
    pub(crate) fn limits(&self) -> mnemal_dream::DreamSettings {
        let interval = Duration::from_secs(u64::from(self.interval_mins) * 60);
        mnemal_dream::DreamSettings { interval, ..mnemal_dream::DreamSettings::default() }
    }

    /// Returns the rules for what a merge must keep, in a space with this graph.
    pub(crate) fn wording(&self, graph: Slot<dyn GraphStore>) -> RewriteRules {
        RewriteRules {
            graph,
            common: self.common_words.clone(),
            specific: self.specific_words.clone(),
            // The check is never off: a malformed list is treated as empty.
            disposable: self.disposable().unwrap_or_default(),
            malformed: self.malformed(),
        }
    }

    /// Returns the names of the malformed lists, which are ignored.
    pub fn malformed(&self) -> Vec<&'static str> {
        let lists = [
            ("dream.common_words", is_word_list(&self.common_words)),
            ("dream.specific_words", is_word_list(&self.specific_words)),
            ("dream.disposable_numbers", self.disposable().is_ok()),
        ];
        lists.into_iter().filter(|(_, is_read)| !is_read).map(|(name, _)| name).collect()
    }

    fn disposable(&self) -> Result<Vec<Category>> {
        self.disposable_numbers.iter().map(|name| Category::new(name.as_str())).collect()
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.interval_mins == 0 {
            return Err(Error::invalid("dream.interval_mins must be at least 1"));
        }
        Ok(())
    }
}
