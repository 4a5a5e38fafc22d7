//! Prompts queued while the agent was working.

use std::collections::VecDeque;

use mnemal_core::{Timestamp, Zone};
use serde_json::Value;

use super::super::json::{self, Object};
use super::super::parse_time::TimeParser;

/// Queued prompts. Source: own choice; more than a person types while waiting.
const LONGEST: usize = 1_000;

/// Times of queued prompts. When the agent reads them, they appear as entries of their own.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<(String, (Timestamp, Zone))>,
}

impl Queue {
    /// Reads an entry that adds a prompt to the queue, or removes one.
    pub(super) fn read(&mut self, record: &Object, moments: &TimeParser) -> Result<(), String> {
        match json::maybe_text(record, "operation")? {
            Some("enqueue") => {
                let text = record.get("content").map(text).unwrap_or_default();
                if let Some(at) = moments.read(record.get("timestamp"))? {
                    self.waiting.push_back((text, at));
                }
                if self.waiting.len() > LONGEST {
                    self.waiting.pop_front();
                }
            }
            Some("dequeue") => drop(self.waiting.pop_front()),
            Some("popAll") => self.waiting.clear(),
            // A removed prompt was read by the agent, or withdrawn; an entry of its own shows which.
            _ => {}
        }
        Ok(())
    }

    /// Returns the time at which a dequeued prompt was typed.
    pub(super) fn take_time(&mut self, prompt: &Value) -> Option<(Timestamp, Zone)> {
        let text = text(prompt);
        let place = self.waiting.iter().position(|(waiting, _)| *waiting == text)?;
        self.waiting.remove(place).map(|(_, at)| at)
    }
}

fn text(content: &Value) -> String {
    json::content(Some(content)).map(|(text, _)| text).unwrap_or_default()
}
