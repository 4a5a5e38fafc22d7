//! User isolation: the part of a space that one user may access, which is that user's events and what is derived from them alone.

mod log;
mod view;

use std::sync::Arc;

use mnemal_core::{
    Error, ErrorKind, EventId, EventStore, KeyPrefix, Learning, LearningFilter, Receipt, Result, Selector,
    Slot, UserId, Within,
};
use mnemal_working::{SubtreeStore, WorkingMemory};

pub(crate) use self::log::UserLog;
pub(crate) use self::view::{UserGraph, UserGraphs, UserSource};
use crate::areas::AdminHandle;
use crate::engine::missing;
use crate::memory::Memory;

impl Memory {
    /// Returns the user of this memory, if it is a memory of one user.
    pub(crate) fn only_user(&self) -> Option<&UserId> {
        self.scope.user.only()
    }

    /// Returns the same memory for all users, for internal use.
    pub(crate) fn for_everybody(&self) -> Self {
        let scope = mnemal_core::Scope { user: Within::All, ..self.scope.clone() };
        Self { scope, ..self.clone() }
    }

    /// Returns the log restricted to what this memory may read.
    pub(crate) fn log_to_read(&self) -> Result<Arc<dyn EventStore>> {
        let Slot::Filled(events) = &self.engine.stores().events else { return Err(missing("a log")) };
        Ok(match self.only_user() {
            None => Arc::clone(events),
            Some(user) => Arc::new(UserLog::new(Arc::clone(events), user.clone())),
        })
    }

    /// Rejects an operation on the whole space in a memory of one user.
    ///
    /// # Errors
    /// `Unsupported`, with the user.
    pub(crate) fn must_be_whole(&self, what: &str) -> Result<()> {
        match self.only_user() {
            None => Ok(()),
            Some(user) => Err(Error::new(
                ErrorKind::Unsupported,
                format!("{what} is of the whole space, and this is the memory of user {user}"),
            )),
        }
    }

    /// Rejects another user in a memory of one user.
    ///
    /// # Errors
    /// `Invalid`, with both names.
    pub(crate) fn must_be_of(&self, named: Option<&UserId>) -> Result<()> {
        match (self.only_user(), named) {
            (Some(own), Some(named)) if own != named => {
                Err(Error::invalid(format!("user {named} is not user {own}, whose memory this is")))
            }
            _ => Ok(()),
        }
    }

    /// Narrows a filter of notes and learnings to the user of this memory; `None` when nothing can pass it.
    pub(crate) fn own_rows(&self, filter: &LearningFilter) -> Option<LearningFilter> {
        let user = both(&self.scope.user, &filter.user)?;
        Some(LearningFilter { user, ..filter.clone() })
    }

    /// Whether a note or learning belongs to the user of this memory.
    pub(crate) fn is_own_row(&self, row: &Learning) -> bool {
        self.scope.user.contains_opt(row.user.as_ref())
    }

    /// Returns the receipt of a context if every line of it rests on events of the user of this memory.
    pub(crate) async fn own_receipt(&self, receipt: Receipt) -> Result<Receipt> {
        if self.only_user().is_none() {
            return Ok(receipt);
        }
        let ids: Vec<EventId> =
            receipt.lines.iter().flat_map(|line| &line.sources).map(|source| source.event).collect();
        let known = self.engine.existing_events(&ids).await?;
        let is_own = !known.is_empty() && known.iter().all(|event| log::is_of(event, &self.scope.user));
        is_own.then_some(receipt).ok_or_else(|| Error::not_found("there is no such recall"))
    }

    /// Returns the events that belong to the user of this memory.
    pub(crate) async fn own_events(&self, ids: &[EventId]) -> Result<Vec<EventId>> {
        let known = self.engine.existing_events(ids).await?;
        Ok(known.iter().filter(|event| log::is_of(event, &self.scope.user)).map(|event| event.id).collect())
    }

    /// Returns the events that belong to no other user, which includes events derived from this user's.
    pub(crate) async fn without_others(&self, ids: Vec<EventId>) -> Result<Vec<EventId>> {
        let Some(user) = self.only_user() else { return Ok(ids) };
        let of = |event: &mnemal_core::Event| event.body().and_then(|kept| kept.user.clone());
        let known = self.engine.existing_events(&ids).await?;
        Ok(known
            .iter()
            .filter(|event| of(event).is_none_or(|of| of == *user))
            .map(|event| event.id)
            .collect())
    }

    /// Resolves a selector within the memory of one user.
    ///
    /// # Errors
    /// `NotFound` when it selects events or notes of another user.
    pub(crate) async fn own_selector(&self, selector: Selector) -> Result<Selector> {
        if self.only_user().is_none() {
            return Ok(selector);
        }
        match &selector {
            Selector::Events(ids) => drop(self.events().get_many(ids).await?),
            Selector::Key(key) => drop(self.preferences().learning(key.as_str()).await?),
            Selector::Session(session) => {
                let filter = mnemal_core::EventFilter {
                    session: Within::Only(session.clone()),
                    ..mnemal_core::EventFilter::all()
                };
                return Ok(Selector::Events(self.events().selected(&filter.into()).await?));
            }
            Selector::User(user) if self.only_user() != Some(user) => {
                return Err(Error::not_found("nothing of another user can be forgotten here"));
            }
            Selector::User(_) => {}
            _ => return Err(Error::new(ErrorKind::Unsupported, "this cannot be forgotten for one user")),
        }
        Ok(selector)
    }
}

impl AdminHandle<'_> {
    /// Returns working memory with a namespace of the caller's choice: `patrol/disk-check`, `subagent/review`. A memory of one
    /// user has its own area, visible only to it and to the memory of all users.
    ///
    /// # Errors
    /// `Unsupported` when the engine has no working memory.
    pub fn working_in(self, own: KeyPrefix) -> Result<WorkingMemory> {
        let Some(user) = self.memory.only_user() else { return self.memory.engine.working(own) };
        let Slot::Filled(store) = &self.memory.engine.guarded().working else {
            return Err(missing("working memory"));
        };
        let part = SubtreeStore::new(Arc::clone(store), KeyPrefix::of_user(user));
        Ok(self.memory.engine.working_of(Arc::new(part), own))
    }
}

/// Returns the intersection; `None` when it is empty.
pub(crate) fn both<T: Clone + PartialEq>(one: &Within<T>, other: &Within<T>) -> Option<Within<T>> {
    match (one, other) {
        (Within::All, narrow) | (narrow, Within::All) => Some(narrow.clone()),
        (Within::Only(a), Within::Only(b)) => (a == b).then(|| one.clone()),
    }
}
