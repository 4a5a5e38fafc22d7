//! State shared by all requests: spaces, keys, limits, and metrics.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hyper::http::Extensions;
use hyper::{HeaderMap, header};
use mnemal::summaries::Conversations;
use mnemal::{Memory, Spaces};
use mnemal_core::{Clock, OwnerId, Result, SpaceId, Timestamp};
use tokio::sync::{Semaphore, watch};

use crate::auth::{BrowserSessions, Credential, Keyring, Principal, Secret};
use crate::http::blocking_stream::StreamTurns;
use crate::http::idempotency::IdempotencyCache;
use crate::http::jobs::Jobs;
use crate::http::problem::Problem;
use crate::http::query_permits::QueryPermits;
use crate::limits::RateLimit;
use crate::metrics::Metrics;
use crate::settings::{AuthMode, ServerSettings};
use crate::wire::SettingsForm;

/// Retry interval when the folder of spaces could not be read. Source: own default.
const AGAIN: Duration = Duration::from_secs(10);
/// Cache time of the list of always-on spaces. Source: own default; a marker is set by hand.
const BELIEVED: Duration = Duration::from_secs(1);
/// Interval of the scan for spaces whose upkeep is due. Source: own default.
const LOOK: Duration = Duration::from_secs(1);
/// Interval of a space's upkeep without lag. Source: own default, that of the MCP server.
const TEND_EVERY: Duration = Duration::from_secs(30);
/// Idle time after which a space gets no more upkeep. Source: own default, that after which idle spaces are closed.
const IDLE: Duration = Duration::from_mins(1);
/// Time for the vector index of one space before the next space has its turn. Source: own choice.
const BUILDING: Duration = Duration::from_secs(5);

/// Authentication settings, with the keys.
#[derive(Clone, Debug)]
pub struct Access {
    /// The authentication mode.
    pub mode: AuthMode,
    /// The created keys.
    pub keyring: Keyring,
    /// The local key, shared by a user's own programs, if there is one.
    pub local: Option<Secret>,
}

/// Marks a request of a process of the same user, which came through the socket in the data directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketPeer;

/// The shared state.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) spaces: Spaces,
    pub(crate) access: Access,
    pub(crate) settings: ServerSettings,
    pub(crate) clock: Arc<dyn Clock>,
    /// The settings of the program in effect, as it tells them to administrators.
    pub(crate) setting_list: OnceLock<SettingsForm>,
    pub(crate) rate: RateLimit,
    pub(crate) slots: Arc<Semaphore>,
    /// Permits of concurrent searches and contexts.
    pub(crate) query_permits: QueryPermits,
    /// Turns of streams that are as long as a space.
    pub(crate) turns: StreamTurns,
    pub(crate) metrics: Metrics,
    pub(crate) idempotency: IdempotencyCache,
    pub(crate) jobs: Jobs,
    /// Logins of browsers.
    pub(crate) browsers: BrowserSessions,
    /// Whether the server is shutting down.
    pub(crate) ending: watch::Sender<bool>,
    tended: Mutex<HashMap<SpaceId, UpkeepState>>,
    always_on: Mutex<Option<(Duration, Vec<SpaceId>)>>,
}

/// The upkeep state of a space in use.
#[derive(Debug)]
struct UpkeepState {
    asked_at: Duration,
    /// Time of the last upkeep; `None` before its index is loaded.
    done_at: Option<Duration>,
    /// Whether there was a request since.
    is_due: bool,
    /// Lag of its layers after the last step.
    unread: Option<u64>,
    /// Notified after every write.
    written: watch::Sender<u64>,
}

impl Host {
    pub(crate) fn new(
        spaces: Spaces,
        access: Access,
        settings: ServerSettings,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let query_permits = QueryPermits::of_this_machine();
        Self {
            rate: RateLimit::new(settings.rate_limit_rps, settings.rate_limit_burst),
            slots: Arc::new(Semaphore::new(settings.max_in_flight)),
            turns: StreamTurns::of_this_machine(query_permits.clone()),
            query_permits,
            setting_list: OnceLock::new(),
            metrics: Metrics::default(),
            idempotency: IdempotencyCache::default(),
            jobs: Jobs::default(),
            browsers: BrowserSessions::default(),
            ending: watch::Sender::new(false),
            tended: Mutex::default(),
            always_on: Mutex::default(),
            spaces,
            access,
            settings,
            clock,
        }
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Opens an existing space.
    pub(crate) async fn open(&self, space: &SpaceId) -> Result<Memory, Problem> {
        let memory = self.spaces.open(space).await?;
        self.note(space);
        Ok(memory)
    }

    /// Opens a space, and creates it if it does not exist.
    pub(crate) async fn open_or_create(&self, space: &SpaceId) -> Result<Memory, Problem> {
        let memory = self.spaces.open_or_create(space).await?;
        self.note(space);
        Ok(memory)
    }

    /// Returns the always-on spaces.
    pub(crate) async fn always_on(&self) -> Result<Vec<SpaceId>, Problem> {
        let now = self.clock.monotonic();
        let known = || self.always_on.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, spaces)) = known().clone().filter(|(at, _)| now.saturating_sub(*at) < BELIEVED) {
            return Ok(spaces);
        }
        let spaces = self.spaces.always_on().await?;
        *known() = Some((now, spaces.clone()));
        Ok(spaces)
    }

    /// Clears the cache of always-on spaces, after a change.
    pub(crate) fn always_on_has_changed(&self) {
        *self.always_on.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Notifies the watchers of a space about a write.
    pub(crate) fn tell_written(&self, space: &SpaceId) {
        if let Some(tended) = self.upkeep_states().get(space) {
            tended.written.send_modify(|count| *count = count.wrapping_add(1));
        }
    }

    /// Returns a receiver of write notifications of a space.
    pub(crate) fn watch(&self, space: &SpaceId) -> Option<watch::Receiver<u64>> {
        self.upkeep_states().get(space).map(|tended| tended.written.subscribe())
    }

    /// Returns what a request shows to prove who asks.
    ///
    /// # Errors
    /// `unauthenticated` when it shows nothing, or no key.
    pub(crate) fn credential(&self, headers: &HeaderMap, known: &Extensions) -> Result<Credential, Problem> {
        if self.access.mode == AuthMode::None {
            return Ok(Credential::Open);
        }
        let header = headers.get(header::AUTHORIZATION).and_then(|header| header.to_str().ok());
        if header.is_none() && known.get::<SocketPeer>().is_some() {
            return Ok(Credential::LocalProcess);
        }
        // Clients of mem0 send their key in this header.
        let other = headers.get("x-api-key").and_then(|key| key.to_str().ok());
        let secret = match (header, other.filter(|_| self.settings.compat.mem0)) {
            (None, Some(key)) => Secret::parse(key),
            (None, None) => return Err(unauthenticated("there is no key in the request")),
            (Some(header), _) => {
                let (scheme, key) = header.split_once(' ').unwrap_or_default();
                // Clients of mem0 use this scheme.
                let is_token = self.settings.compat.mem0 && scheme.eq_ignore_ascii_case("token");
                Secret::parse(key).filter(|_| is_token || scheme.eq_ignore_ascii_case("bearer"))
            }
        };
        secret.map(Credential::Key).ok_or_else(|| unauthenticated("this is no key"))
    }

    /// Returns the principal of a credential.
    ///
    /// # Errors
    /// `unauthenticated` for a key that is unknown, over or revoked.
    pub(crate) async fn principal_of(&self, credential: &Credential) -> Result<Principal, Problem> {
        let secret = match credential {
            Credential::Open => return Ok(Principal::owner("open")),
            Credential::LocalProcess => return Ok(Principal::owner("local")),
            Credential::Key(secret) => secret,
        };
        if let Some(local) = &self.access.local
            && secret.is_of(&local.digest())
        {
            return Ok(Principal::owner("local"));
        }
        let known = self.access.keyring.principal(secret, self.now()).await?;
        known.ok_or_else(|| unauthenticated("this key is not known, has expired, or was revoked"))
    }

    /// Returns the spaces with recent requests.
    pub(crate) fn open_spaces(&self) -> Vec<SpaceId> {
        self.upkeep_states().keys().cloned().collect()
    }

    /// Runs the background work of every always-on space, with or without requests, until the server stops.
    pub(crate) async fn run_background(&self, owner: &OwnerId) {
        let mut ending = self.ending.subscribe();
        loop {
            let mut until = self.ending.subscribe();
            let ended = async move {
                let _ended = until.wait_for(|ending| *ending).await;
            };
            match self.spaces.run_background(owner, &self.spaces.pace(), ended).await {
                Ok(attended) => return tracing::debug!(?attended, "attended to the always-on spaces"),
                Err(error) => tracing::warn!(kind = error.kind().as_str(), "the spaces cannot be listed"),
            }
            if tokio::time::timeout(AGAIN, ending.wait_for(|ending| *ending)).await.is_ok() {
                return;
            }
        }
    }

    /// Runs the due upkeep of other spaces between requests, until the server stops.
    pub(crate) async fn maintain(&self, owner: &OwnerId) {
        let mut ending = self.ending.subscribe();
        let mut pause = LOOK;
        loop {
            if tokio::time::timeout(pause, ending.wait_for(|ending| *ending)).await.is_ok() {
                return;
            }
            pause = LOOK;
            for space in self.due() {
                // A space that was removed, or cannot be opened now, is retried with its next request.
                let Ok(memory) = self.spaces.open(&space).await else { continue };
                let engine = memory.admin().engine();
                // A failure to load is a gap of the answers that need the index.
                let _gap = engine.load().await;
                if self.always_on().await.is_ok_and(|attended| attended.contains(&space)) {
                    continue;
                }
                match engine.maintain(owner).await {
                    Ok(tended) => {
                        tracing::debug!(gaps = tended.gaps.len(), "tended a space");
                        if self.goes_on(&space, &tended.value) {
                            pause = Duration::ZERO;
                        }
                    }
                    Err(error) => tracing::info!(kind = error.kind().as_str(), "a space was not tended"),
                }
            }
        }
    }

    /// Compresses the due conversations of other spaces in use, until the server stops; upkeep does not wait for a language
    /// model.
    pub(crate) async fn compress(&self) {
        let mut ending = self.ending.subscribe();
        let mut known: BTreeMap<SpaceId, Conversations> = BTreeMap::new();
        let pause = self.spaces.pace().every;
        while tokio::time::timeout(pause, ending.wait_for(|ending| *ending)).await.is_err() {
            let open = self.open_spaces();
            known.retain(|space, waiting| waiting.waiting() > 0 || open.contains(space));
            for space in open {
                known.entry(space).or_default();
            }
            let attended = self.always_on().await.unwrap_or_default();
            for (space, waiting) in known.iter_mut().filter(|(space, _)| !attended.contains(space)) {
                let work =
                    async { self.spaces.open(space).await?.admin().engine().compress_due(waiting).await };
                tokio::select! {
                    done = work => match done {
                        Ok(entries) => tracing::debug!(entries, "compressed conversations"),
                        Err(error) => {
                            tracing::info!(kind = error.kind().as_str(), "conversations were not compressed");
                        }
                    },
                    _ = ending.wait_for(|ending| *ending) => return,
                }
            }
        }
    }

    /// Builds the vector indexes of other spaces in use, until the server stops; it holds no lease, because each process
    /// builds its own.
    pub(crate) async fn build_vector_indexes(&self) {
        let mut ending = self.ending.subscribe();
        let every = self.spaces.pace().every;
        let mut pause = every;
        while tokio::time::timeout(pause, ending.wait_for(|ending| *ending)).await.is_err() {
            pause = every;
            let attended = self.always_on().await.unwrap_or_default();
            for space in self.open_spaces().into_iter().filter(|space| !attended.contains(space)) {
                let work =
                    async { self.spaces.open(&space).await?.admin().engine().build_vector_index().await };
                tokio::select! {
                    built = tokio::time::timeout(BUILDING, work) => match built {
                        Ok(Ok(())) => {}
                        Ok(Err(error)) => {
                            tracing::info!(kind = error.kind().as_str(), "a vector index was not built");
                        }
                        // What is built stays, and the rest follows after the other spaces.
                        Err(_late) => pause = Duration::ZERO,
                    },
                    _ = ending.wait_for(|ending| *ending) => return,
                }
            }
        }
    }

    /// Returns the spaces whose upkeep is due, and marks it as done.
    fn due(&self) -> Vec<SpaceId> {
        let now = self.clock.monotonic();
        let mut tended = self.upkeep_states();
        tended.retain(|_, one| {
            one.is_due || one.written.receiver_count() > 0 || now.saturating_sub(one.asked_at) < IDLE
        });
        let is_due = |one: &UpkeepState| {
            one.is_due && one.done_at.is_none_or(|at| now.saturating_sub(at) >= TEND_EVERY)
        };
        let mut due = Vec::new();
        for (space, one) in tended.iter_mut().filter(|(_, one)| is_due(one)) {
            (one.is_due, one.done_at) = (false, Some(now));
            due.push(space.clone());
        }
        due
    }

    /// Records the lag after a step of upkeep; returns whether the next one is due at once.
    fn goes_on(&self, space: &SpaceId, did: &mnemal::admin::MaintenanceReport) -> bool {
        let mut tended = self.upkeep_states();
        let Some(one) = tended.get_mut(space) else { return false };
        let has_more = did.has_more(one.unread);
        one.unread = Some(did.unread);
        if has_more {
            (one.is_due, one.done_at) = (true, None);
        }
        has_more
    }

    /// Records a request to a space.
    fn note(&self, space: &SpaceId) {
        let now = self.clock.monotonic();
        let mut tended = self.upkeep_states();
        if let Some(one) = tended.get_mut(space) {
            (one.asked_at, one.is_due) = (now, true);
            return;
        }
        let written = watch::Sender::new(0);
        let one = UpkeepState { asked_at: now, done_at: None, is_due: true, unread: None, written };
        tended.insert(space.clone(), one);
    }

    fn upkeep_states(&self) -> MutexGuard<'_, HashMap<SpaceId, UpkeepState>> {
        self.tended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unauthenticated(detail: &str) -> Problem {
    Problem::new("unauthenticated", detail)
}
