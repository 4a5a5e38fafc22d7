//! The pool of open engines: bounded, with eviction of the least recently used one that has no handle.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mnemal_core::{Clock, Error, ErrorKind, Result, SpaceId};

use crate::engine::Engine;

/// Idle time after which an unused engine is closed, when another one is opened. Source: own choice, so that a pause in a
/// conversation does not close its space.
const IDLE: Duration = Duration::from_mins(1);

/// Engines by space. It does not close engines itself, because closing takes time: it returns those to close.
#[derive(Debug)]
pub(crate) struct Pool {
    most: usize,
    clock: Arc<dyn Clock>,
    state: Mutex<PoolState>,
    /// A handle to an engine that stays open until it is taken.
    embedded: Mutex<Option<Engine>>,
}

#[derive(Debug, Default)]
struct PoolState {
    open: HashMap<SpaceId, OpenEngine>,
    /// Spaces that are being opened, with one entry per caller.
    opening: Vec<SpaceId>,
    /// Spaces that must not be opened now.
    barred: HashSet<SpaceId>,
}

#[derive(Debug)]
struct OpenEngine {
    engine: Engine,
    asked_at: Duration,
}

/// The result of a lookup.
#[derive(Debug)]
pub(crate) enum PoolEntry<'p> {
    /// The space is open.
    Engine(Engine),
    /// The space is not open, and may be opened.
    Permit(OpenPermit<'p>),
}

/// The permit to open one engine.
#[derive(Debug)]
pub(crate) struct OpenPermit<'p> {
    pool: &'p Pool,
    space: SpaceId,
}

/// A space that is locked against opening.
#[derive(Debug)]
pub(crate) struct LockedSpace<'p> {
    pool: &'p Pool,
    space: SpaceId,
    /// Its engine, if it was open.
    pub(crate) engine: Option<Engine>,
}

impl Pool {
    pub(crate) fn new(most: usize, clock: Arc<dyn Clock>) -> Self {
        Self { most, clock, state: Mutex::default(), embedded: Mutex::default() }
    }

    /// Creates the pool of one engine, which stays open until it is taken.
    pub(crate) fn of_one(space: SpaceId, engine: Engine, clock: Arc<dyn Clock>) -> Self {
        let open = OpenEngine { engine: engine.clone(), asked_at: clock.monotonic() };
        let state = PoolState { open: HashMap::from([(space, open)]), ..PoolState::default() };
        Self { most: 1, clock, state: Mutex::new(state), embedded: Mutex::new(Some(engine)) }
    }

    /// Looks up a space, and returns the engines that must be closed before another one is opened.
    ///
    /// # Errors
    /// `Conflict` for a space that is being removed, `Unavailable` when the maximum number is open and in use.
    pub(crate) fn enter(&self, space: &SpaceId) -> Result<(PoolEntry<'_>, Vec<Engine>)> {
        let now = self.clock.monotonic();
        let mut state = self.state();
        if state.barred.contains(space) {
            return Err(Error::new(ErrorKind::Conflict, format!("space {space} is being removed")));
        }
        if let Some(open) = state.open.get_mut(space) {
            open.asked_at = now;
            let engine = open.engine.clone();
            return Ok((PoolEntry::Engine(engine), state.idle_since(now)));
        }
        let mut leaving = state.idle_since(now);
        while state.open.len() + state.opening.len() >= self.most {
            leaving.push(state.longest_unused().ok_or_else(|| {
                Error::new(ErrorKind::Unavailable, format!("{} spaces are open and in use", self.most))
            })?);
        }
        state.opening.push(space.clone());
        Ok((PoolEntry::Permit(OpenPermit { pool: self, space: space.clone() }), leaving))
    }

    /// Locks a space against opening, as long as the result lives.
    ///
    /// # Errors
    /// `Conflict` when it has a handle, or is locked already.
    pub(crate) fn bar(&self, space: &SpaceId) -> Result<LockedSpace<'_>> {
        let mut state = self.state();
        let is_held = state.open.get(space).is_some_and(|open| open.engine.is_shared());
        if is_held || state.opening.contains(space) || !state.barred.insert(space.clone()) {
            return Err(Error::new(ErrorKind::Conflict, format!("space {space} is in use")));
        }
        let engine = state.open.remove(space).map(|open| open.engine);
        Ok(LockedSpace { pool: self, space: space.clone(), engine })
    }

    /// Returns the engine of an open space.
    pub(crate) fn opened(&self, space: &SpaceId) -> Option<Engine> {
        self.state().open.get(space).map(|open| open.engine.clone())
    }

    /// Removes the one engine of the pool, whoever has a handle to it.
    pub(crate) fn take_embedded(&self) -> Option<Engine> {
        let engine = self.embedded.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        self.state().open.clear();
        Some(engine)
    }

    /// Removes all engines without a handle.
    pub(crate) fn unused(&self) -> Vec<Engine> {
        self.state().take(|_| true)
    }

    /// Returns the number of open engines.
    pub(crate) fn n_open(&self) -> usize {
        self.state().open.len()
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PoolState {
    /// Removes the engines that were idle for long enough.
    fn idle_since(&mut self, now: Duration) -> Vec<Engine> {
        self.take(|open| now.saturating_sub(open.asked_at) >= IDLE)
    }

    /// Removes the matching engines without a handle. Handles are created only here, so an engine without one stays without one.
    fn take(&mut self, leaves: impl Fn(&OpenEngine) -> bool) -> Vec<Engine> {
        let out = self.open.extract_if(|_, open| !open.engine.is_shared() && leaves(open));
        out.map(|(_, open)| open.engine).collect()
    }

    fn longest_unused(&mut self) -> Option<Engine> {
        let unused = self.open.iter().filter(|(_, open)| !open.engine.is_shared());
        let space = unused.min_by_key(|(_, open)| open.asked_at).map(|(space, _)| space.clone())?;
        self.open.remove(&space).map(|open| open.engine)
    }
}

impl OpenPermit<'_> {
    /// Uses the permit. If another caller has opened the space meanwhile, returns its engine, and this one to be closed.
    /// be closed.
    pub(crate) fn take(self, engine: Engine) -> (Engine, Option<Engine>) {
        let asked_at = self.pool.clock.monotonic();
        let mut state = self.pool.state();
        if let Some(open) = state.open.get(&self.space) {
            return (open.engine.clone(), Some(engine));
        }
        state.open.insert(self.space.clone(), OpenEngine { engine: engine.clone(), asked_at });
        (engine, None)
    }
}

impl Drop for OpenPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        if let Some(place) = state.opening.iter().position(|space| *space == self.space) {
            state.opening.swap_remove(place);
        }
    }
}

impl Drop for LockedSpace<'_> {
    fn drop(&mut self) {
        self.pool.state().barred.remove(&self.space);
    }
}
