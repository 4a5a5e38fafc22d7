//! Settings of telemetry.

use serde::{Deserialize, Serialize};

/// What a host learns of operations.
///
/// Each is a span of `tracing` with target `mnemal::operation` and level `DEBUG`, named as the conventions for generative AI name
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// Whether spans hold questions and what was found; the command line also takes it from
    /// `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`.
    pub capture_content: bool,
}
