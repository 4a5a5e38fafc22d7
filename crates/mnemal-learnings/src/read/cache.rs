//! Feedback cache of recent messages: each new message is compared with all before it for repeated complaints.

use std::collections::VecDeque;

use mnemal_core::{Event, EventId};
use mnemal_extract::Feedback;

use super::{BEFORE, text};

/// A message with the one it answers.
type Exchange = (EventId, Option<EventId>);

/// The feedback of the last [`BEFORE`] messages, each by itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct FeedbackCache(VecDeque<(Exchange, Vec<Feedback>)>);

impl FeedbackCache {
    /// Returns the feedback of a message that answers another; extracted if it is not cached.
    pub(super) fn of(
        &mut self,
        event: &Event,
        assistant: Option<&Event>,
        read: impl FnOnce(Option<&str>) -> Vec<Feedback>,
    ) -> Vec<Feedback> {
        let exchange = (event.id, assistant.map(|event| event.id));
        if let Some((_, known)) = self.0.iter().rev().find(|(known, _)| *known == exchange) {
            return known.clone();
        }
        let found = read(assistant.and_then(text));
        if self.0.len() >= BEFORE {
            self.0.pop_front();
        }
        self.0.push_back((exchange, found.clone()));
        found
    }
}
