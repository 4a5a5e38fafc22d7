//! Conversation trees: the parent of an event and its replies.

use std::collections::HashSet;
use std::num::NonZeroUsize;

use mnemal_core::{Cursor, Event, EventFilter, EventId, EventStore, Result, Within};

use super::EventLog;

/// Longest chain of ancestors. Source: own choice; a transcript of a long day has about as many turns.
const LONGEST: usize = 1_000;
/// Most replies that are returned. Source: own choice, one page.
const MOST: usize = 1_000;
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// An event with its ancestors and replies.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    /// Its ancestors, oldest first; at most the 1,000 nearest.
    pub ancestors: Vec<Event>,
    /// The event itself.
    pub event: Event,
    /// Its transitive replies within the conversation, by position; at most 1,000.
    pub replies: Vec<Event>,
}

impl EventLog {
    /// Returns an event with its ancestors and replies. An erased event has neither: its links are erased too.
    ///
    /// Costs one read per ancestor and one pass over the rest of the conversation.
    ///
    /// # Errors
    /// `NotFound` for an unknown id.
    pub async fn thread(&self, id: EventId) -> Result<Thread> {
        let event = self.get(id).await?;
        let ancestors = ancestors(self.parts.store.as_ref(), &event).await?;
        let replies = replies(self.parts.store.as_ref(), &event).await?;
        Ok(Thread { ancestors, event, replies })
    }
}

async fn ancestors(store: &dyn EventStore, event: &Event) -> Result<Vec<Event>> {
    let mut chain: Vec<Event> = Vec::new();
    let mut known = HashSet::from([event.id]);
    let mut next = event.body().and_then(|kept| kept.parent);
    while let Some(id) = next {
        if chain.len() == LONGEST || !known.insert(id) {
            break;
        }
        let Some(parent) = store.get(&[id]).await?.pop() else { break };
        next = parent.body().and_then(|kept| kept.parent);
        chain.push(parent);
    }
    chain.reverse();
    Ok(chain)
}

async fn replies(store: &dyn EventStore, event: &Event) -> Result<Vec<Event>> {
    let Some(kept) = event.body() else { return Ok(Vec::new()) };
    let filter = EventFilter { session: Within::Only(kept.session.clone()), ..EventFilter::all() };
    let mut above = HashSet::from([event.id]);
    let mut replies = Vec::new();
    let mut after = Cursor(Some(event.seq));
    loop {
        let page = store.scan(&filter, after, PAGE).await?;
        let Some(last) = page.last().map(|event| event.seq) else { return Ok(replies) };
        after = Cursor(Some(last));
        for event in page {
            let answers =
                event.body().and_then(|kept| kept.parent).is_some_and(|parent| above.contains(&parent));
            if answers && replies.len() < MOST {
                above.insert(event.id);
                replies.push(event);
            }
        }
        if replies.len() >= MOST {
            return Ok(replies);
        }
    }
}
