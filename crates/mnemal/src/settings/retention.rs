//! Settings of retention.

use std::time::Duration;

use mnemal_core::{Error, EventKind, OperationKind, Result};
use serde::{Deserialize, Serialize};

/// Retention times. Auxiliary data always expires; memories expire only with `enabled`, and then by a forget like any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionSettings {
    /// Whether upkeep forgets events beyond these limits, once a day.
    pub enabled: bool,
    /// Retention of turns, in days, and of every event kind without a limit of its own.
    pub events_days: u32,
    /// Retention of tool calls and results, in days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_days: Option<u32>,
    /// Retention of documents and observations, in days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents_days: Option<u32>,
    /// Retention of timeline entries, which compression makes, in days.
    pub timeline_days: u32,
    /// Maximum number of live events, without decisions and operations.
    pub max_events: u64,
    /// Retention of context receipts and of records shown to a session, in days; independent of `enabled`.
    pub recalls_days: u32,
}

/// Source: nanobot v2, `retention.events_days`.
const EVENTS_DAYS: u32 = 365;
/// Source: PicoBot, which deletes timeline entries older than 90 days.
const TIMELINE_DAYS: u32 = 90;
/// Source: nanobot v2, `retention.max_events`.
const MAX_EVENTS: u64 = 100_000;
/// Source: own default, a month in which an answer can be explained.
const RECALLS_DAYS: u32 = 30;

impl Default for RetentionSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            events_days: EVENTS_DAYS,
            tools_days: None,
            documents_days: None,
            timeline_days: TIMELINE_DAYS,
            max_events: MAX_EVENTS,
            recalls_days: RECALLS_DAYS,
        }
    }
}

impl RetentionSettings {
    /// Returns the retention of context receipts.
    pub fn recalls(&self) -> Duration {
        days(self.recalls_days)
    }

    /// Returns the retention of an event kind; `None` for decisions and operations, which never expire.
    pub(crate) fn retention_of(&self, kind: &EventKind) -> Option<Duration> {
        let own = match kind {
            EventKind::UserMessage | EventKind::AssistantMessage => None,
            EventKind::ToolCall { .. } | EventKind::ToolResult { .. } => self.tools_days,
            EventKind::Observation | EventKind::Document => self.documents_days,
            EventKind::Operation(operation) if matches!(operation.kind, OperationKind::Compress { .. }) => {
                Some(self.timeline_days)
            }
            _ => return None,
        };
        Some(days(own.unwrap_or(self.events_days)))
    }

    pub(super) fn check(&self) -> Result<()> {
        let own = [Some(self.events_days), self.tools_days, self.documents_days, Some(self.timeline_days)];
        if own.contains(&Some(0)) || self.max_events == 0 {
            return Err(Error::invalid("retention: days and retention.max_events must be at least 1"));
        }
        Ok(())
    }
}

fn days(days: u32) -> Duration {
    Duration::from_secs(u64::from(days) * 86_400)
}
