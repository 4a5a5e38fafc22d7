//! Values that shape the engine; components are trait objects and never stand here.

mod compress;
mod dream;
mod embedding;
mod extract;
mod identity;
mod ingest;
mod layers;
mod learning;
mod llm;
mod retention;
mod summaries;
mod telemetry;
mod working;

use std::time::Duration;

use mnemal_core::{Error, Result};
use mnemal_events::HourlyLimits;
use serde::{Deserialize, Serialize};

pub use self::compress::CompressSettings;
pub use self::dream::{DreamSchedule, DreamSettings};
pub use self::embedding::{EmbeddingProvider, EmbeddingSettings};
pub use self::extract::{ExtractSettings, Switch};
pub use self::identity::IdentitySettings;
pub use self::ingest::IngestSettings;
pub use self::layers::LayerSettings;
pub use self::learning::LearningSettings;
pub use self::llm::{LlmProvider, LlmSettings};
pub use self::retention::RetentionSettings;
pub use self::summaries::{SummaryBy, SummarySettings};
pub use self::telemetry::TelemetrySettings;
pub use self::working::WorkingSettings;

/// All settings; every one has a default that most users never touch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether the space `global` is read beside every other one.
    pub read_global: bool,
    /// Storage of a space.
    pub storage: StorageSettings,
    /// Which layers there are.
    pub layers: LayerSettings,
    /// Many spaces in one process.
    pub spaces: SpacesSettings,
    /// Recall.
    pub recall: RecallSettings,
    /// What makes vectors.
    pub embedding: EmbeddingSettings,
    /// The language model, if there is one.
    pub llm: LlmSettings,
    /// What is read in the log.
    pub extract: ExtractSettings,
    /// Assembly of contexts.
    pub context: ContextShape,
    /// Who the agent and the user are.
    pub identity: IdentitySettings,
    /// Summaries.
    pub summaries: SummarySettings,
    /// Working memory.
    pub working: WorkingSettings,
    /// What is learnt.
    pub learning: LearningSettings,
    /// What runs in the background.
    pub dream: DreamSettings,
    /// Files that are read.
    pub ingest: IngestSettings,
    /// When conversations are compressed.
    pub compress: CompressSettings,
    /// What is never stored.
    pub privacy: PrivacySettings,
    /// How long things are kept.
    pub retention: RetentionSettings,
    /// What a host learns of operations.
    pub telemetry: TelemetrySettings,
}

/// How a space is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageSettings {
    /// What an acknowledgement promises.
    pub durability: DurabilityMode,
}

/// What an acknowledgement promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityMode {
    /// The event survives a power cut.
    #[default]
    Full,
    /// The event survives the end of the process; a power cut may lose the newest ones.
    Normal,
}

/// Many spaces in one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpacesSettings {
    /// Most spaces that are open at once.
    pub max_open: usize,
}

/// How recall answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecallSettings {
    /// Hits of an explicit search.
    pub limit: usize,
    /// Notes that a turn is offered for what its user says.
    pub inject_limit: usize,
    /// Most time for one part of an answer that can do without it, in milliseconds. What has no answer without the part waits
    /// for ten seconds, or as long as this where it is more.
    pub part_deadline_ms: u64,
    /// Most time that an answer waits until what came last is read into notes and graph, in milliseconds; what is not is a gap.
    pub catch_up_ms: u64,
    /// Events of the index that one answer loads at most; one millisecond of processor time is good for some 800.
    pub load_at_once: usize,
    /// Cosine from which nearness alone is evidence, -1 to 1, in place of the floor that each embedder declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_similarity: Option<f32>,
    /// Language of the index, as an ISO 639-1 code; a space keeps the one it was made with.
    pub language: String,
}

/// How a context is cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContextShape {
    /// Hard limit of a context, in tokens.
    #[serde(alias = "total_budget")]
    pub budget_tokens: u32,
    /// Most that level external may take of a context, 0 to 1.
    pub low_trust_share: f32,
    /// Most that other spaces may take of a context together, 0 to 1.
    pub secondary_share: f32,
    /// Whether what the user prefers stands in every context; else where its section is asked for by name, and what suits a
    /// question with what is recalled. Default true, NB-61.
    pub always_include_preferences: bool,
    /// What counts tokens.
    pub tokenizer: Tokenizer,
}

/// What counts tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tokenizer {
    /// The calibrated estimate, which errs on the high side.
    #[default]
    Approx,
    /// The exact counter of the encoding `o200k_base`; the estimate in a build without it.
    O200k,
    /// The exact counter of the encoding `cl100k_base`; the estimate in a build without it.
    Cl100k,
}

/// What is never stored, and what is held back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrivacySettings {
    /// What happens to secrets.
    pub secrets: SecretMode,
    /// More patterns of secrets: name and regular expression.
    pub extra_patterns: Vec<(String, String)>,
    /// Whether acts of administration are logged in `audit.jsonl` beside the installation's key.
    pub audit_log: bool,
    /// Notes and observations of an agent that a conversation stores in an hour before the next are held back; 0 for any number.
    pub agent_items_per_hour: usize,
    /// The same of observations and texts of level external.
    pub external_items_per_hour: usize,
}

impl Default for PrivacySettings {
    fn default() -> Self {
        let hourly = HourlyLimits::default();
        Self {
            secrets: SecretMode::default(),
            extra_patterns: Vec::new(),
            audit_log: false,
            agent_items_per_hour: hourly.agent,
            external_items_per_hour: hourly.external,
        }
    }
}

/// What happens to a recognised secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretMode {
    /// It is replaced by a typed placeholder.
    #[default]
    Redact,
    /// The call is refused.
    Block,
    /// It is stored; for tests of the host.
    Allow,
}

/// Source: SURFACES 4.2, `recall.limit` of an explicit search.
const RECALL_LIMIT: usize = 10;
/// Source: PB-20 and PB-35, `recall.inject_limit`.
const INJECT_LIMIT: usize = 5;
/// Source: ARCHITECTURE 7; hanging parts must leave room in the 800 ms of a client's hook.
const PART_DEADLINE_MS: u64 = 200;
/// Source: own default; a person does not see the difference.
const CATCH_UP_MS: u64 = 200;
/// Most time for a part without which there is no answer. Source: own choice, as long as a person waits before asking again.
const PATIENCE: Duration = Duration::from_secs(10);
/// Source: nanobot v2's context budget.
const BUDGET_TOKENS: u32 = 4_000;
/// Source: RELIABILITY 6.
const LOW_TRUST_SHARE: f32 = 0.25;
/// Source: SURFACES 4.2, `context.secondary_share`.
const SECONDARY_SHARE: f32 = 0.25;
/// Source: SURFACES 1.2, on by default.
const READ_GLOBAL: bool = true;
/// Source: DECISIONS 5.
const MAX_OPEN: usize = 256;

impl Default for Settings {
    fn default() -> Self {
        Self {
            read_global: READ_GLOBAL,
            storage: StorageSettings::default(),
            layers: LayerSettings::default(),
            spaces: SpacesSettings::default(),
            recall: RecallSettings::default(),
            embedding: EmbeddingSettings::default(),
            llm: LlmSettings::default(),
            extract: ExtractSettings::default(),
            context: ContextShape::default(),
            identity: IdentitySettings::default(),
            summaries: SummarySettings::default(),
            working: WorkingSettings::default(),
            learning: LearningSettings::default(),
            dream: DreamSettings::default(),
            ingest: IngestSettings::default(),
            compress: CompressSettings::default(),
            privacy: PrivacySettings::default(),
            retention: RetentionSettings::default(),
            telemetry: TelemetrySettings::default(),
        }
    }
}

impl Default for SpacesSettings {
    fn default() -> Self {
        Self { max_open: MAX_OPEN }
    }
}

impl Default for StorageSettings {
    fn default() -> Self {
        Self { durability: DurabilityMode::Full }
    }
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self {
            limit: RECALL_LIMIT,
            inject_limit: INJECT_LIMIT,
            part_deadline_ms: PART_DEADLINE_MS,
            catch_up_ms: CATCH_UP_MS,
            load_at_once: mnemal_recall::AT_ONCE.get(),
            min_similarity: None,
            language: "en".to_owned(),
        }
    }
}

impl RecallSettings {
    /// Returns the most time for one part of an answer.
    pub fn part_deadline(&self) -> Duration {
        Duration::from_millis(self.part_deadline_ms)
    }

    /// Returns the most time for a part without which there is no answer.
    pub fn patience(&self) -> Duration {
        self.part_deadline().max(PATIENCE)
    }

    /// Returns the most time that an answer waits until what came last is read.
    pub fn catch_up(&self) -> Duration {
        Duration::from_millis(self.catch_up_ms)
    }
}

impl Default for ContextShape {
    fn default() -> Self {
        Self {
            budget_tokens: BUDGET_TOKENS,
            low_trust_share: LOW_TRUST_SHARE,
            secondary_share: SECONDARY_SHARE,
            always_include_preferences: true,
            tokenizer: Tokenizer::Approx,
        }
    }
}

impl Settings {
    /// Whether there is a layer: it is switched on among the layers, and so is what fills it.
    pub fn has_layer(&self, layer: mnemal_core::Layer) -> bool {
        use mnemal_core::Layer;
        let is_filled = match layer {
            Layer::Graph => self.extract.enabled,
            Layer::Summaries => self.summaries.enabled,
            _ => true,
        };
        is_filled && self.layers.has(layer)
    }

    /// Checks ranges, so that building an engine has nothing to refuse.
    ///
    /// # Errors
    /// `Invalid` naming the key.
    pub fn check(&self) -> Result<()> {
        if self.recall.limit == 0 || self.recall.part_deadline_ms == 0 {
            return Err(Error::invalid("recall.limit and recall.part_deadline_ms must be at least 1"));
        }
        if self.recall.inject_limit == 0 {
            return Err(Error::invalid("recall.inject_limit must be at least 1"));
        }
        if self.recall.load_at_once == 0 {
            return Err(Error::invalid("recall.load_at_once must be at least 1"));
        }
        if self.recall.min_similarity.is_some_and(|cosine| !(-1.0..=1.0).contains(&cosine)) {
            return Err(Error::invalid("recall.min_similarity must lie in -1 to 1"));
        }
        if mnemal_text::Language::from_code(&self.recall.language).is_none() {
            return Err(Error::invalid(format!("recall.language: no language {:?}", self.recall.language)));
        }
        let shares = [
            ("low_trust_share", self.context.low_trust_share),
            ("secondary_share", self.context.secondary_share),
        ];
        if let Some((name, _)) = shares.iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
            return Err(Error::invalid(format!("context.{name} must lie in 0 to 1")));
        }
        if self.spaces.max_open == 0 {
            return Err(Error::invalid("spaces.max_open must be at least 1"));
        }
        self.identity.check()?;
        self.summaries.check()?;
        self.working.check()?;
        self.learning.check()?;
        self.dream.check()?;
        self.extract.check()?;
        self.ingest.check()?;
        self.llm.check()?;
        self.compress.check()?;
        self.retention.check()?;
        self.embedding.check()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    // proves: RB-68, CF-14 (compression)
    #[test]
    fn numbers_of_the_systems_before_are_the_defaults() {
        let settings = Settings::default();
        assert!((settings.compress.window_fraction - 0.5).abs() < f64::EPSILON);
        let working = settings.working.limits();
        assert_eq!((working.ttl, working.room.get()), (Duration::from_mins(5), 50));
    }

    #[test]
    fn a_value_out_of_range_names_its_key() {
        type Change = fn(&mut Settings);
        let refused = |change: Change| {
            let mut settings = Settings::default();
            assert!(settings.check().is_ok());
            change(&mut settings);
            settings.check().unwrap_err().what().to_owned()
        };
        let rows: [(Change, &str); 27] = [
            (|settings| settings.extract.interval_secs = 0, "extract.interval_secs"),
            (|settings| settings.extract.batch = NonZeroUsize::MAX, "extract.batch"),
            (
                |settings| settings.extract.disabled_rules = vec!["en.lives_in.nowhere".to_owned()],
                "extract.disabled_rules: no rule is called \"en.lives_in.nowhere\"",
            ),
            (|settings| settings.retention.tools_days = Some(0), "retention"),
            (|settings| settings.summaries.max_refresh_batch = 0, "summaries.max_refresh_batch"),
            (|settings| settings.identity.user = "x".repeat(2_001), "identity.user"),
            (|settings| settings.llm.provider = LlmProvider::OpenaiCompatible, "llm.base_url"),
            (|settings| settings.compress.window_fraction = f64::NAN, "compress.window_fraction"),
            (|settings| settings.compress.idle_minutes = 0, "compress.idle_minutes"),
            (|settings| settings.learning.half_life_days = 0.0, "learning.half_life_days"),
            (|settings| settings.learning.floor = 1.5, "learning.floor"),
            (|settings| settings.working.ttl_minutes = 10_081, "working.ttl_minutes"),
            (|settings| settings.working.max_entries_per_namespace = 0, "working.max_entries"),
            (|settings| settings.working.sweep_minutes = 0, "working.sweep_minutes"),
            (|settings| settings.context.secondary_share = 1.1, "context.secondary_share"),
            (|settings| settings.context.low_trust_share = f32::NAN, "context.low_trust_share"),
            (|settings| settings.spaces.max_open = 0, "spaces.max_open"),
            (|settings| settings.recall.limit = 0, "recall.limit"),
            (|settings| settings.recall.min_similarity = Some(1.5), "recall.min_similarity"),
            (
                |settings| settings.embedding.provider = EmbeddingProvider::OpenaiCompatible,
                "embedding.base_url",
            ),
            (
                |settings| {
                    settings.embedding = EmbeddingSettings {
                        provider: EmbeddingProvider::OpenaiCompatible,
                        model: "m".to_owned(),
                        base_url: "http://localhost".to_owned(),
                        batch: 0,
                        ..EmbeddingSettings::default()
                    };
                },
                "embedding.batch",
            ),
            (|settings| settings.recall.load_at_once = 0, "recall.load_at_once"),
            (|settings| settings.ingest.max_file_mb = 0, "ingest.max_file_mb"),
            (|settings| settings.ingest.chunk_chars = 10, "ingest.chunk_chars"),
            (|settings| settings.ingest.max_chunks = 0, "ingest.max_chunks"),
            (|settings| settings.ingest.types = vec![".md".to_owned()], "ingest.types"),
            (|settings| settings.ingest.describe = vec![String::new()], "ingest.describe"),
        ];
        for (change, key) in rows {
            assert!(refused(change).contains(key), "{key}");
        }
    }
}
