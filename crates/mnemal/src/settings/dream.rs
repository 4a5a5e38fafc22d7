//! Settings of background work.

use std::time::Duration;

use mnemal_core::{Category, Error, GraphStore, Result, Slot};
use mnemal_dream::Wording;
use mnemal_text::is_word_list;
use serde::{Deserialize, Serialize};

/// What runs in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "switches of their own, each read by its name")]
pub struct DreamSettings {
    /// Whether cycles run that nobody asked for, as `schedule` says when.
    pub enabled: bool,
    /// When cycles run that nobody asked for.
    pub schedule: DreamSchedule,
    /// Least minutes between two cycles that nobody asked for.
    pub interval_mins: u32,
    /// Whether cycles that nobody asks for connect notes that share names or topics by insights; without it, those of always-on
    /// spaces do. A consolidation that is asked for does in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insights: Option<bool>,
    /// Whether a language model, where there is one, says what the notes of an insight show together.
    pub insights_by_model: bool,
    /// Whether each text that is read in gets a digest, a note that says it in short; without it, those of always-on spaces do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digests: Option<bool>,
    /// Whether a language model, where there is one, makes the digests.
    pub digests_by_model: bool,
    /// Whether a language model, where there is one, makes one note of two near ones.
    pub merges_by_model: bool,
    /// Whether a language model, where there is one, reads turns of which the rules read nothing for certain.
    pub leftovers: bool,
    /// Whether a language model, where there is one, is asked once a cycle where new notes belong and which are noise.
    pub judging: bool,
    /// Whether preferences are inferred: by rule, from wishes that nobody said outright and that come often enough, and by the same
    /// question, which asks in which messages the user says how he wants things.
    #[serde(alias = "preference_inference_enabled")]
    pub infer_preferences: bool,
    /// Whether a language model, where there is one, judges tasks that are over and what to remember of them.
    pub self_evaluation: bool,
    /// A file with one's own words about how notes are folded, which a language model, where there is one, is given before the built-in
    /// instructions; `dream.md` of `RockBot` is one.
    #[serde(alias = "directive_path")]
    pub directive_file: String,
    /// The same about how it is found out what the user prefers; `pref-dream.md` of `RockBot` is one.
    #[serde(alias = "preference_directive_path")]
    pub preference_directive_file: String,
    /// Words that a merge may leave out wherever they stand. A list with a blank word does nothing.
    pub common_words: Vec<String>,
    /// Words that no merge may leave out, whatever else is said of them. A list with a blank word does nothing.
    pub specific_words: Vec<String>,
    /// Categories of notes whose numbers a merge may leave out, with what is below them. A list with a name that no category has
    /// does nothing.
    pub disposable_numbers: Vec<String>,
}

/// When cycles run that nobody asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DreamSchedule {
    /// When nothing was said for a minute.
    #[default]
    Idle,
    /// Never.
    Off,
}

/// Source: GB-32, `consolidate_interval_mins`.
const INTERVAL_MINS: u32 = 30;
/// Source: GB-38.
const INSIGHTS_BY_MODEL: bool = true;
/// Source: GB-29.
const DIGESTS_BY_MODEL: bool = true;
/// Source: RB-56.
const MERGES_BY_MODEL: bool = true;
/// Source: own choice; whoever configures a model wants it to be asked, and the caps hold.
const LEFTOVERS: bool = true;

/// Source: RB-55; whoever configures a model wants it to be asked, and the caps hold.
const JUDGING: bool = true;
/// Source: RB-67.
const INFER_PREFERENCES: bool = true;

/// Source: BA-32, needs a model; what it says stands apart and is asked for only where a host names its tasks.
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
    /// Returns what a cycle keeps to.
    pub(crate) fn limits(&self) -> mnemal_dream::DreamSettings {
        let interval = Duration::from_secs(u64::from(self.interval_mins) * 60);
        mnemal_dream::DreamSettings { interval, ..mnemal_dream::DreamSettings::default() }
    }

    /// Returns what a merge must not lose in a space with this graph.
    pub(crate) fn wording(&self, graph: Slot<dyn GraphStore>) -> Wording {
        Wording {
            graph,
            common: self.common_words.clone(),
            specific: self.specific_words.clone(),
            // The check is never off: what cannot be read changes nothing.
            disposable: self.disposable().unwrap_or_default(),
            malformed: self.malformed(),
        }
    }

    /// Returns the lists that cannot be read and do nothing, by their names in the settings.
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
