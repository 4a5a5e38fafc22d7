//! What a process does between the calls of its client: a step of the space's upkeep, when there was work since the last.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mnemal::Engine;
use mnemal_core::{OwnerId, Result};

use crate::mcp::lifecycle::Ended;

/// Time between two steps. Source: own default; a step costs a transaction, and what it does can wait.
const EVERY: Duration = Duration::from_secs(30);

/// Time between two looks at the inbox, which cost no transaction. Source: GA-09, a file is noticed within 5 s.
const LOOK: Duration = Duration::from_secs(5);

/// Whether a call came since the last step: an idle process leaves the file alone.
#[derive(Clone, Debug)]
pub(super) struct Work(Arc<AtomicBool>);

impl Work {
    /// Notes a call.
    pub(super) fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// The upkeep of one process.
#[derive(Debug)]
pub(super) struct Upkeep {
    engine: Engine,
    owner: OwnerId,
    work: Work,
    ended: Ended,
}

impl Upkeep {
    pub(super) fn new(engine: Engine, ended: Ended) -> Result<Self> {
        let owner = OwnerId::new(format!("mcp-{}-{:x}", std::process::id(), engine.now().as_micros()))?;
        // What a crash before this process left is work too.
        Ok(Self { engine, owner, work: Work(Arc::new(AtomicBool::new(true))), ended })
    }

    /// Returns what calls are noted with.
    pub(super) fn work(&self) -> Work {
        self.work.clone()
    }

    /// Loads the index, then tends the space until the input ends; a step that runs then has its time, so that its turn is
    /// given back.
    #[expect(clippy::disallowed_methods, reason = "a timer of the server")]
    pub(super) async fn run(self) {
        tokio::select! {
            // What cannot be loaded is a gap of the answers that need it.
            _ = self.engine.load() => {}
            () = self.ended.wait() => return,
        }
        let pause = if self.engine.has_inbox() { LOOK } else { EVERY };
        let mut since = Duration::ZERO;
        loop {
            tokio::select! {
                () = self.ended.wait() => return,
                () = tokio::time::sleep(pause) => {}
            }
            since += pause;
            if !self.files_wait().await && (since < EVERY || !self.work.take()) {
                continue;
            }
            since = Duration::ZERO;
            tokio::select! {
                tended = self.engine.tend(&self.owner) => match tended {
                    Ok(tended) => tracing::debug!(gaps = tended.gaps.len(), "tended the space"),
                    Err(error) => tracing::info!(kind = error.kind().as_str(), "the space was not tended"),
                },
                () = self.ended.and_grace() => return,
            }
        }
    }

    /// Whether the inbox holds files that are to be read; one that cannot be looked at has none.
    async fn files_wait(&self) -> bool {
        let standing = self.engine.inbox_standing().await.ok().flatten();
        standing.is_some_and(|standing| standing.waiting + standing.claimed > 0)
    }
}

#[cfg(test)]
mod tests {
    use mnemal::{Memory, Message};

    use super::*;
    use crate::mcp::lifecycle::Lifecycle;

    #[tokio::test(start_paused = true)]
    async fn an_idle_process_tends_once_and_a_busy_one_again_until_its_input_ends() {
        let memory = Memory::in_memory().await.unwrap();
        assert!(!memory.log(Message::user("hello there")).await.unwrap().duplicate);
        let (lifecycle, ended) = Lifecycle::around(());
        let upkeep = Upkeep::new(memory.engine().clone(), ended).unwrap();
        let work = upkeep.work();
        let runs = async {
            tokio::time::timeout(EVERY * 10, upkeep.run()).await.unwrap();
        };
        let watches = async {
            tokio::time::timeout(EVERY * 2, std::future::pending::<()>()).await.unwrap_err();
            assert!(!work.take(), "the first step was taken without a call");
            work.note();
            tokio::time::timeout(EVERY * 2, std::future::pending::<()>()).await.unwrap_err();
            assert!(!work.take(), "a call was followed by a step");
            drop(lifecycle);
        };
        tokio::join!(runs, watches);
    }
}
