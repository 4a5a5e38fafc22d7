//! Areas of a memory: its events, facts, preferences and summaries, and its administration.

use crate::memory::Memory;

/// Events: reading, importing, selecting and compressing them. Made by [`Memory::events`].
#[derive(Clone, Copy, Debug)]
pub struct EventsHandle<'a> {
    pub(crate) memory: &'a Memory,
}

/// Facts and entities: the graph, decisions about it, and extraction. Made by [`Memory::facts`].
#[derive(Clone, Copy, Debug)]
pub struct FactsHandle<'a> {
    pub(crate) memory: &'a Memory,
}

/// Preferences, notes and other learnings, and feedback on them. Made by [`Memory::preferences`].
#[derive(Clone, Copy, Debug)]
pub struct PreferencesHandle<'a> {
    pub(crate) memory: &'a Memory,
}

/// The tree of summaries. Made by [`Memory::summaries`].
#[derive(Clone, Copy, Debug)]
pub struct SummariesHandle<'a> {
    pub(crate) memory: &'a Memory,
}

/// The rest: engine and scope, health and counts, receipts and their explanation, exports and backups, secondary spaces, and
/// parts for hosts that assemble prompts themselves (vectors of questions, fences, fragments). It is no boundary: whoever has a
/// memory has all of it. Made by [`Memory::admin`].
#[derive(Clone, Copy, Debug)]
pub struct AdminHandle<'a> {
    pub(crate) memory: &'a Memory,
}

impl Memory {
    /// Returns the area of events.
    pub fn events(&self) -> EventsHandle<'_> {
        EventsHandle { memory: self }
    }

    /// Returns the area of facts and entities.
    pub fn facts(&self) -> FactsHandle<'_> {
        FactsHandle { memory: self }
    }

    /// Returns the area of preferences, notes and other learnings.
    pub fn preferences(&self) -> PreferencesHandle<'_> {
        PreferencesHandle { memory: self }
    }

    /// Returns the area of summaries.
    pub fn summaries(&self) -> SummariesHandle<'_> {
        SummariesHandle { memory: self }
    }

    /// Returns the area of administration.
    pub fn admin(&self) -> AdminHandle<'_> {
        AdminHandle { memory: self }
    }
}
