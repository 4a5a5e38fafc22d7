//! JSON forms of requests and responses, written by hand so that internal changes cannot alter the API.
//!
//! The command line prints the same forms for the same answers. The doc comments of the fields are the descriptions in the
//! `OpenAPI` document. Times are RFC 3339 in UTC.

mod answer;
#[cfg(feature = "http")]
mod event;
#[cfg(feature = "http")]
mod fields;
#[cfg(feature = "http")]
mod graph;
#[cfg(feature = "http")]
mod key;
#[cfg(feature = "http")]
mod memory;
#[cfg(feature = "http")]
mod read;
#[cfg(feature = "http")]
mod report;
#[cfg(feature = "http")]
mod setting;
#[cfg(feature = "http")]
mod why;

use mnemal_core::{Gap, GapCause};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::answer::{AnswerForm, NOT_KNOWN, QuoteForm, QuoteSourceForm, quoted_by};
#[cfg(feature = "http")]
pub use self::event::{AckForm, EventForm, ReleasedForm, SessionForm, durability};
#[cfg(feature = "http")]
pub(crate) use self::fields::{Fields, event_fields, stored};
#[cfg(feature = "http")]
pub(crate) use self::graph::{EntityForm, EntityProfileForm, FactForm, PathForm};
#[cfg(feature = "http")]
pub use self::key::{IssuedForm, KeyForm, KeysForm};
#[cfg(feature = "http")]
pub use self::memory::{EXPIRED, ErasureForm, MemoryForm, SimilarForm, kind_named};
#[cfg(feature = "http")]
pub(crate) use self::memory::{StoredForm, status};
#[cfg(feature = "http")]
pub(crate) use self::read::{
    ContextForm, Detail, LineForm, OmittedForm, RecallResultForm, ReceiptForm, ReceiptSummaryForm,
};
#[cfg(feature = "http")]
pub use self::report::ReportForm;
#[cfg(feature = "http")]
pub use self::setting::{SettingForm, SettingOrigin, SettingsForm};
#[cfg(feature = "http")]
pub use self::why::{EndForm, FactExplanationForm};

/// A layer that could not answer in full.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Gap")]
pub struct GapForm {
    /// Which.
    layer: &'static str,
    /// `not_configured`, `failed`, `timed_out`, `stale` or `truncated`.
    cause: &'static str,
    /// Kind of the error, of a failed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// Milliseconds, of one that timed out.
    #[serde(skip_serializing_if = "Option::is_none")]
    after_ms: Option<u64>,
    /// Events, of a stale one.
    #[serde(skip_serializing_if = "Option::is_none")]
    behind: Option<u64>,
    /// Tokens, of a truncated one.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_tokens: Option<u32>,
}

impl From<&Gap> for GapForm {
    fn from(gap: &Gap) -> Self {
        let mut form = Self {
            layer: gap.layer.as_str(),
            cause: gap.cause.as_str(),
            kind: None,
            after_ms: None,
            behind: None,
            dropped_tokens: None,
        };
        match gap.cause {
            GapCause::Failed(kind) => form.kind = Some(kind.as_str()),
            GapCause::TimedOut(after) => form.after_ms = u64::try_from(after.as_millis()).ok(),
            GapCause::Stale { behind } => form.behind = Some(behind),
            GapCause::Truncated { dropped } => form.dropped_tokens = Some(dropped.0),
            _ => {}
        }
        form
    }
}

/// Returns the forms of gaps.
pub fn gaps(gaps: &[Gap]) -> Vec<GapForm> {
    gaps.iter().map(GapForm::from).collect()
}
