//! Settings of retention.

use std::time::Duration;

use mnemal_core::{Deed, Error, EventKind, Result};
use serde::{Deserialize, Serialize};

/// How long things are kept. What is no memory goes by itself; what is one goes only where `enabled` says so, and then by a
/// forget like any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionSettings {
    /// Whether what is older, or more, than these numbers say is forgotten by upkeep, once a day.
    pub enabled: bool,
    /// Days for which what was said is kept, and every kind of event that has no number of its own.
    pub events_days: u32,
    /// Days for calls and results of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_days: Option<u32>,
    /// Days for documents and observations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents_days: Option<u32>,
    /// Days for what became of conversations that were compressed.
    pub timeline_days: u32,
    /// Most living events that are kept, decisions and operations not counted.
    pub max_events: u64,
    /// Days for which the account of a context is kept, and what a session was shown; whatever `enabled` says.
    pub recalls_days: u32,
}

/// Source: NB-18, nanobot v2, `retention.events_days`.
const EVENTS_DAYS: u32 = 365;
/// Source: PB-57, `retention.timeline_days`.
const TIMELINE_DAYS: u32 = 90;
/// Source: NB-18, nanobot v2, `retention.max_events`.
const MAX_EVENTS: u64 = 100_000;
/// Source: SURFACES 4.2, `retention.recalls_days`.
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
    /// Returns for how long the account of a context is kept.
    pub fn recalls(&self) -> Duration {
        days(self.recalls_days)
    }

    /// Returns for how long an event of a kind is kept; `None` for decisions and operations, which retention never takes.
    pub(crate) fn kept(&self, kind: &EventKind) -> Option<Duration> {
        let own = match kind {
            EventKind::UserMessage | EventKind::AssistantMessage => None,
            EventKind::ToolCall { .. } | EventKind::ToolResult { .. } => self.tools_days,
            EventKind::Observation | EventKind::Document => self.documents_days,
            EventKind::Operation(operation) if matches!(operation.deed, Deed::Compress { .. }) => {
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
