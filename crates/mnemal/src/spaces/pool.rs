//! The engines that are open: at most so many, the longest unused closed first, and none that somebody holds.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mnemal_core::{Clock, Error, ErrorKind, Result, SpaceId};

use crate::engine::Engine;

/// After this long without being asked for an engine that nobody holds is closed, when another one is asked for.
/// Source: DECISIONS 5.
const IDLE: Duration = Duration::from_mins(1);

/// Engines by space. It never closes anything itself: what has to be closed is handed out, because closing takes time.
#[derive(Debug)]
pub(crate) struct Pool {
    most: usize,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<SpaceId, Open>,
    /// Spaces that are being opened, once for each caller.
    opening: Vec<SpaceId>,
    /// Spaces that must not be opened now.
    barred: HashSet<SpaceId>,
}

#[derive(Debug)]
struct Open {
    engine: Engine,
    asked_at: Duration,
}

/// What asking for a space comes to.
#[derive(Debug)]
pub(crate) enum Entry<'p> {
    /// It is open.
    Engine(Engine),
    /// It is not, and may be.
    Seat(Seat<'p>),
}

/// The right to open one engine.
#[derive(Debug)]
pub(crate) struct Seat<'p> {
    pool: &'p Pool,
    space: SpaceId,
}

/// A space that nobody can open.
#[derive(Debug)]
pub(crate) struct Barred<'p> {
    pool: &'p Pool,
    space: SpaceId,
    /// Its engine, if it was open.
    pub(crate) engine: Option<Engine>,
}

impl Pool {
    pub(crate) fn new(most: usize, clock: Arc<dyn Clock>) -> Self {
        Self { most, clock, state: Mutex::default() }
    }

    /// Looks for a space, and returns the engines that have to be closed before anything is opened.
    ///
    /// # Errors
    /// `Conflict` for a space that is being removed, `Unavailable` when as many as may be are open and held.
    pub(crate) fn enter(&self, space: &SpaceId) -> Result<(Entry<'_>, Vec<Engine>)> {
        let now = self.clock.monotonic();
        let mut state = self.state();
        if state.barred.contains(space) {
            return Err(Error::new(ErrorKind::Conflict, format!("space {space} is being removed")));
        }
        if let Some(open) = state.open.get_mut(space) {
            open.asked_at = now;
            let engine = open.engine.clone();
            return Ok((Entry::Engine(engine), state.idle_since(now)));
        }
        let mut leaving = state.idle_since(now);
        while state.open.len() + state.opening.len() >= self.most {
            leaving.push(state.longest_unused().ok_or_else(|| {
                Error::new(ErrorKind::Unavailable, format!("{} spaces are open and in use", self.most))
            })?);
        }
        state.opening.push(space.clone());
        Ok((Entry::Seat(Seat { pool: self, space: space.clone() }), leaving))
    }

    /// Keeps everybody from a space, as long as the answer lives.
    ///
    /// # Errors
    /// `Conflict` when somebody holds it, or has barred it.
    pub(crate) fn bar(&self, space: &SpaceId) -> Result<Barred<'_>> {
        let mut state = self.state();
        let is_held = state.open.get(space).is_some_and(|open| open.engine.is_shared());
        if is_held || state.opening.contains(space) || !state.barred.insert(space.clone()) {
            return Err(Error::new(ErrorKind::Conflict, format!("space {space} is in use")));
        }
        let engine = state.open.remove(space).map(|open| open.engine);
        Ok(Barred { pool: self, space: space.clone(), engine })
    }

    /// Returns the engine of a space that is open.
    pub(crate) fn opened(&self, space: &SpaceId) -> Option<Engine> {
        self.state().open.get(space).map(|open| open.engine.clone())
    }

    /// Takes out all engines that nobody holds.
    pub(crate) fn unused(&self) -> Vec<Engine> {
        self.state().take(|_| true)
    }

    /// Returns how many are open.
    pub(crate) fn n_open(&self) -> usize {
        self.state().open.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes out what nobody has asked for in a while.
    fn idle_since(&mut self, now: Duration) -> Vec<Engine> {
        self.take(|open| now.saturating_sub(open.asked_at) >= IDLE)
    }

    /// Takes out the engines of which this holds and that nobody else holds. A holder can only come from here, so one that
    /// is not shared now stays so.
    fn take(&mut self, leaves: impl Fn(&Open) -> bool) -> Vec<Engine> {
        let out = self.open.extract_if(|_, open| !open.engine.is_shared() && leaves(open));
        out.map(|(_, open)| open.engine).collect()
    }

    fn longest_unused(&mut self) -> Option<Engine> {
        let unused = self.open.iter().filter(|(_, open)| !open.engine.is_shared());
        let space = unused.min_by_key(|(_, open)| open.asked_at).map(|(space, _)| space.clone())?;
        self.open.remove(&space).map(|open| open.engine)
    }
}

impl Seat<'_> {
    /// Takes the seat. If another caller has opened the space meanwhile, its engine is the answer, and this one comes back to
    /// be closed.
    pub(crate) fn take(self, engine: Engine) -> (Engine, Option<Engine>) {
        let asked_at = self.pool.clock.monotonic();
        let mut state = self.pool.state();
        if let Some(open) = state.open.get(&self.space) {
            return (open.engine.clone(), Some(engine));
        }
        state.open.insert(self.space.clone(), Open { engine: engine.clone(), asked_at });
        (engine, None)
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        if let Some(place) = state.opening.iter().position(|space| *space == self.space) {
            state.opening.swap_remove(place);
        }
    }
}

impl Drop for Barred<'_> {
    fn drop(&mut self) {
        self.pool.state().barred.remove(&self.space);
    }
}
