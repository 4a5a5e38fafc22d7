//! Settings of telemetry.

use serde::{Deserialize, Serialize};

/// Telemetry of operations.
///
/// Each operation is a `tracing` span with target `mnemal::operation` and level `DEBUG`, with the names of the OpenTelemetry
/// conventions for generative AI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// Whether spans contain queries and results; the command line also reads it from
    /// `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`.
    pub capture_content: bool,
}
