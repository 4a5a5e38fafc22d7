//! Engine settings: plain values; components are trait objects and are set on the builder.

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
mod vector_index;
mod working;

use std::time::Duration;

use mnemal_core::{Error, Result};
use mnemal_events::HourlyLimits;
use serde::{Deserialize, Serialize};

pub use self::compress::CompressSettings;
pub use self::dream::{DreamSchedule, DreamSettings};
pub use self::embedding::{EmbeddingProvider, EmbeddingSettings};
pub use self::extract::{ExtractSettings, UpgradePolicy};
pub use self::identity::IdentitySettings;
pub use self::ingest::IngestSettings;
pub use self::layers::LayerSettings;
pub use self::learning::{LearningSettings, ReviewScope};
pub use self::llm::{LlmProvider, LlmSettings};
pub use self::retention::RetentionSettings;
pub use self::summaries::{SummaryBy, SummarySettings};
pub use self::telemetry::TelemetrySettings;
pub use self::vector_index::VectorIndexKind;
pub use self::working::WorkingSettings;

/// All settings; every one has a default that most users never change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether the space `global` is read together with every other one.
    pub read_global: bool,
    /// Storage of a space.
    pub storage: StorageSettings,
    /// Which layers there are.
    pub layers: LayerSettings,
    /// Limits for many spaces in one process.
    pub spaces: SpacesSettings,
    /// Recall.
    pub recall: RecallSettings,
    /// Embedding.
    pub embedding: EmbeddingSettings,
    /// The language model, if there is one.
    pub llm: LlmSettings,
    /// Extraction.
    pub extract: ExtractSettings,
    /// Context assembly.
    pub context: ContextShape,
    /// Identity of the agent and the user.
    pub identity: IdentitySettings,
    /// Summaries.
    pub summaries: SummarySettings,
    /// Working memory.
    pub working: WorkingSettings,
    /// Learning.
    pub learning: LearningSettings,
    /// Background consolidation.
    pub dream: DreamSettings,
    /// File ingestion.
    pub ingest: IngestSettings,
    /// Conversation compression.
    pub compress: CompressSettings,
    /// Privacy: secrets, the audit log, and rate limits.
    pub privacy: PrivacySettings,
    /// Retention.
    pub retention: RetentionSettings,
    /// Telemetry of operations.
    pub telemetry: TelemetrySettings,
}

/// Storage of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageSettings {
    /// Durability of an acknowledgement.
    pub durability: DurabilityMode,
}

/// Durability of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityMode {
    /// The event survives a power loss.
    #[default]
    Full,
    /// The event survives a process crash; a power loss may lose the newest events.
    Normal,
}

/// Limits for many spaces in one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpacesSettings {
    /// Maximum number of open spaces.
    pub max_open: usize,
}

/// Settings of recall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecallSettings {
    /// Number of hits of an explicit search.
    pub limit: usize,
    /// Number of notes that are injected for a user turn.
    pub inject_limit: usize,
    /// Time limit of one optional part of an answer, in milliseconds. A part without which there is no answer has ten seconds, or
    /// this limit if it is longer.
    pub part_deadline_ms: u64,
    /// Time limit for folding the newest events into notes and graph before an answer, in milliseconds; the remaining lag is a
    /// gap.
    pub catch_up_ms: u64,
    /// Maximum number of index events that one answer loads; a millisecond of processor time loads some 800.
    pub load_at_once: usize,
    /// Similarity floor: the minimum cosine that counts as evidence by itself, -1 to 1; it replaces the floor that each embedder
    /// declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_similarity: Option<f32>,
    /// Language of the index, as an ISO 639-1 code; an existing space keeps its own.
    pub language: String,
    /// Search for the nearest vectors: `bits`, `flat` or `hnsw`.
    pub vector_index: VectorIndexKind,
}

/// Budgets of a context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContextShape {
    /// Token budget of a context, a hard limit.
    #[serde(alias = "total_budget")]
    pub budget_tokens: u32,
    /// Maximum share of level external in a context, 0 to 1.
    pub low_trust_share: f32,
    /// Maximum share of all secondary spaces together in a context, 0 to 1.
    pub secondary_share: f32,
    /// Whether every context includes the user's preferences; otherwise they appear when their section is requested, and matching
    /// ones among the recalled records. Default true, as in nanobot v2.
    pub always_include_preferences: bool,
    /// The token counter.
    pub tokenizer: Tokenizer,
}

/// The token counter.
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

/// Privacy: secrets, the audit log, and rate limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrivacySettings {
    /// Handling of detected secrets.
    pub secrets: SecretMode,
    /// Additional secret patterns: name and regular expression.
    pub extra_patterns: Vec<(String, String)>,
    /// Whether administrative acts are logged in `audit.jsonl`, in the folder of the installation's key.
    pub audit_log: bool,
    /// Rate limit of agent notes and observations, per session and hour; the excess is quarantined; 0 for no limit.
    pub agent_items_per_hour: usize,
    /// Rate limit of observations and texts of level external, per session and hour; the excess is quarantined; 0 for no limit.
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

/// Handling of a detected secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretMode {
    /// It is replaced by a typed placeholder.
    #[default]
    Redact,
    /// The call is rejected.
    Block,
    /// It is stored; for tests of the host.
    Allow,
}

/// Source: own default of `recall.limit` for an explicit search.
const RECALL_LIMIT: usize = 10;
/// Source: PicoBot, `recall.inject_limit`.
const INJECT_LIMIT: usize = 5;
/// Source: own default; hanging parts must leave room in the 800 ms of a client's hook.
const PART_DEADLINE_MS: u64 = 200;
/// Source: own default; a person does not notice it.
const CATCH_UP_MS: u64 = 200;
/// Time limit of a part without which there is no answer. Source: own choice, as long as a person waits before asking again.
const PATIENCE: Duration = Duration::from_secs(10);
/// Source: nanobot v2's context budget.
const BUDGET_TOKENS: u32 = 4_000;
/// Source: own default; outside text must not crowd out the user's own.
const LOW_TRUST_SHARE: f32 = 0.25;
/// Source: own default of `context.secondary_share`; three quarters stay with the primary space.
const SECONDARY_SHARE: f32 = 0.25;
/// Source: own default; user-wide facts are useful in every space.
const READ_GLOBAL: bool = true;
/// Source: own default, which bounds open files and memory.
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
            vector_index: VectorIndexKind::default(),
        }
    }
}

impl RecallSettings {
    /// Returns the time limit of one part of an answer.
    pub fn part_deadline(&self) -> Duration {
        Duration::from_millis(self.part_deadline_ms)
    }

    /// Returns the time limit of a part without which there is no answer.
    pub fn patience(&self) -> Duration {
        self.part_deadline().max(PATIENCE)
    }

    /// Returns the time limit for folding the newest events before an answer.
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
    /// Whether a layer exists: it is enabled among the layers, and so is the component that fills it.
    pub fn has_layer(&self, layer: mnemal_core::Layer) -> bool {
        use mnemal_core::Layer;
        let is_filled = match layer {
            Layer::Graph => self.extract.enabled,
            Layer::Summaries => self.summaries.enabled,
            _ => true,
        };
        is_filled && self.layers.has(layer)
    }

    /// Validates all ranges, so that building an engine cannot fail on them.
    ///
    /// # Errors
    /// `Invalid`, with the name of the key.
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
        self.recall.vector_index.check()?;
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
