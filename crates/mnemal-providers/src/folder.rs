//! A folder inbox: each file is read once.
//!
//! A file waits in the folder itself, is claimed by a move into `.claimed`, and ends in `processed` or, with a file that states
//! the reason, in `failed`. Each move is one atomic rename inside the folder, so a process may end at any moment and the file
//! is in exactly one place. All names are resolved through handles of the four folders without following links, so nothing
//! outside is touched whatever a file is called.

mod names;
mod stage_folders;
mod watcher;

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{Clock, ErrorKind, Inbox, InboxCounts, InboxItem, InboxOutcome, Result};
use tokio::sync::Mutex;

use self::names::{ClaimedName, display_name};
use self::stage_folders::{FolderFile, InboxFolder, InboxFolders};
use crate::document::{DocumentReader, FileKind};

/// How long a file must be unchanged between two checks before it is read. Source: own choice (GA-09: half-written files wait).
pub const QUIET: Duration = Duration::from_secs(2);
/// Age by its own timestamp at which a file is read at the first check, so that old files need only one check. Source: own
/// choice; clocks of file servers are closer to ours.
const SETTLED: Duration = Duration::from_mins(1);
/// Most attempts for one file. Source: own choice (GA-05: a failed file is retried, then reported).
const ATTEMPTS: u32 = 5;
/// Pause after a file could not be opened, times the attempts so far. Source: own default.
const REST: Duration = Duration::from_secs(5);

/// Settings of a folder inbox.
#[derive(Clone, Debug)]
pub struct FolderOptions {
    /// Name extensions that are read, in lower case and without the dot; other files stay where they are.
    pub types: Vec<String>,
    /// The file reader.
    pub reader: DocumentReader,
    /// How long a file must be unchanged between two checks before it is read; one that is a minute old is read at once.
    pub quiet: Duration,
    /// The folder for files that were read, on the same file system; `None` for `processed` in the folder.
    pub processed: Option<PathBuf>,
}

/// A folder as an [`Inbox`]. Nothing is created or opened before the first call.
#[derive(Debug)]
pub struct FolderInbox {
    folder: PathBuf,
    options: FolderOptions,
    clock: Arc<dyn Clock>,
    hand: Mutex<FolderState>,
}

/// This process's state of the folder.
#[derive(Debug, Default)]
struct FolderState {
    place: Option<Arc<InboxFolders>>,
    /// Files that were claimed here and not settled yet.
    open: HashSet<OsString>,
    /// Waiting files with their first unchanged sighting, by the monotonic clock.
    seen: HashMap<OsString, (FolderFile, Duration)>,
    /// Files that could not be opened, and the end of their pause.
    resting: HashMap<OsString, Duration>,
}

impl FolderInbox {
    /// Makes an inbox of a folder.
    pub fn new(folder: impl Into<PathBuf>, options: FolderOptions, clock: Arc<dyn Clock>) -> Self {
        Self { folder: folder.into(), options, clock, hand: Mutex::default() }
    }

    fn open(&self) -> Result<InboxFolders> {
        InboxFolders::open(&self.folder, self.options.processed.as_deref())
    }

    fn is_read(&self, name: &OsStr) -> bool {
        let name = display_name(name);
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default();
        FileKind::of_ending(&ending).is_some() && self.options.types.contains(&ending)
    }

    /// Whether a waiting file has not changed for long enough.
    fn is_quiet(&self, hand: &mut FolderState, name: &OsStr, found: &FolderFile) -> bool {
        let (now, quiet) = (self.clock.monotonic(), self.options.quiet);
        let first = match hand.seen.get(name) {
            Some((before, at)) if before == found => *at,
            _ => {
                hand.seen.insert(name.to_owned(), (*found, now));
                now
            }
        };
        now.saturating_sub(first) >= quiet || found.age(self.clock.now()) >= SETTLED
    }

    /// Claims the due files, in order, and returns the claims.
    fn claim(&self, hand: &mut FolderState, place: &InboxFolders, limit: usize) -> Result<Vec<ClaimedName>> {
        let mut claims = Vec::new();
        let now = self.clock.monotonic();
        for (name, _) in place.list(InboxFolder::Claimed)? {
            if claims.len() == limit {
                return Ok(claims);
            }
            if hand.resting.get(&name).is_some_and(|until| *until > now) {
                continue;
            }
            hand.resting.remove(&name);
            let claim = ClaimedName::read(&name);
            if hand.open.contains(&name) {
                claims.push(claim);
            } else if claim.attempt >= ATTEMPTS {
                let why = format!("begun {ATTEMPTS} times, and never brought to an end");
                place.put_away(&claim, Some(&why))?;
            } else if let Some(claim) = place.claim_again(&claim)? {
                claims.push(claim);
            }
        }
        let waiting = place.list(InboxFolder::Waiting)?;
        hand.seen.retain(|name, _| waiting.iter().any(|(other, _)| other == name));
        for (name, found) in waiting {
            if claims.len() == limit {
                break;
            }
            let is_due = !found.is_regular() || (self.is_read(&name) && self.is_quiet(hand, &name, &found));
            if is_due && let Some(claim) = place.claim(&name)? {
                claims.push(claim);
            }
        }
        Ok(claims)
    }

    async fn read(&self, place: &InboxFolders, claim: &ClaimedName) -> Result<InboxItem> {
        let name = display_name(&claim.name);
        let content = match (place.file(claim), FileKind::of_name(&name)) {
            (Ok(file), Some(kind)) => self.options.reader.read_or_name(file, &name, kind).await,
            (Ok(_), None) => Err(mnemal_core::Error::invalid("a kind of file that is not read")),
            (Err(why), _) => Err(why),
        };
        let content = match content {
            Ok(document) => {
                let location = self.folder.join(&name).to_string_lossy().into_owned();
                Ok(mnemal_core::Document { location: Some(location), ..document })
            }
            Err(why) if why.kind() == ErrorKind::Unavailable => return Err(why),
            Err(why) => Err(why.what().to_owned()),
        };
        Ok(InboxItem { name, claim: claim.file.clone(), content })
    }
}

#[async_trait]
impl Inbox for FolderInbox {
    async fn counts(&self) -> Result<InboxCounts> {
        let mut standing = InboxCounts::default();
        if !self.folder.exists() {
            return Ok(standing);
        }
        let place = self.open()?;
        for (name, found) in place.list(InboxFolder::Waiting)? {
            if !found.is_regular() || self.is_read(&name) {
                standing.waiting += 1;
            } else {
                standing.ignored += 1;
            }
        }
        let count = |shelf| Ok::<_, mnemal_core::Error>(place.list(shelf)?.len() as u64);
        standing.claimed = count(InboxFolder::Claimed)?;
        standing.processed = count(InboxFolder::Processed)?;
        let failed = place.list(InboxFolder::Failed)?;
        standing.failed = failed.iter().filter(|(name, _)| !names::is_reason(name, &failed)).count() as u64;
        Ok(standing)
    }

    async fn poll(&self, limit: NonZeroUsize) -> Result<Vec<InboxItem>> {
        let mut hand = self.hand.lock().await;
        let known = hand.place.clone();
        let place = match known {
            Some(place) => place,
            None => Arc::new(self.open()?),
        };
        if hand.place.is_none() && !place.take_turn()? {
            return Ok(Vec::new());
        }
        hand.place = Some(Arc::clone(&place));
        let mut items = Vec::new();
        while items.len() < limit.get() {
            let claims = self.claim(&mut hand, &place, limit.get())?;
            // What is in hand already stands first; the new ones follow it.
            let fresh: Vec<ClaimedName> = claims
                .into_iter()
                .filter(|claim| items.iter().all(|item: &InboxItem| item.claim != claim.file))
                .collect();
            if fresh.is_empty() {
                break;
            }
            for claim in fresh {
                hand.open.insert(claim.file.clone());
                match self.read(&place, &claim).await {
                    Ok(item) => items.push(item),
                    Err(_later) => {
                        hand.open.remove(&claim.file);
                        let until = self.clock.monotonic() + REST * claim.attempt;
                        hand.resting.insert(claim.file, until);
                    }
                }
            }
        }
        if hand.open.is_empty() {
            hand.place = None;
        }
        Ok(items)
    }

    async fn changed(&self) {
        watcher::wait(&self.folder).await;
    }

    async fn settle(&self, item: &InboxItem, fate: &InboxOutcome) -> Result<()> {
        let mut hand = self.hand.lock().await;
        let place = match &hand.place {
            Some(place) => Arc::clone(place),
            None => Arc::new(self.open()?),
        };
        let reason = match fate {
            InboxOutcome::Ingested => None,
            InboxOutcome::Unsupported(why) | InboxOutcome::Refused(why) => Some(why.as_str()),
        };
        place.put_away(&ClaimedName::read(&item.claim), reason)?;
        hand.open.remove(&item.claim);
        if hand.open.is_empty() {
            hand.place = None;
        }
        Ok(())
    }

    async fn erase(&self, is_gone: &(dyn for<'h> Fn(&'h [u8; 32]) -> bool + Sync)) -> Result<u64> {
        if !self.folder.exists() {
            return Ok(0);
        }
        let place = self.open()?;
        let mut erased = 0;
        for shelf in [InboxFolder::Processed, InboxFolder::Failed] {
            for (name, _) in place.list(shelf)?.iter().filter(|(_, found)| found.is_regular()) {
                let gone = place.hash(shelf, name)?.is_some_and(|hash| is_gone(&hash));
                erased += u64::from(gone && place.remove(shelf, name)?);
            }
        }
        Ok(erased)
    }
}
