//! Background upkeep of an MCP server's space, between the calls of its client.

use mnemal::Engine;
use mnemal::dream::Pace;
use mnemal_core::{OwnerId, Result};

use crate::mcp::lifecycle::{GRACE, InputEnd};

/// The upkeep of one process.
#[derive(Debug)]
pub(super) struct Upkeep {
    engine: Engine,
    owner: OwnerId,
    ended: InputEnd,
}

impl Upkeep {
    pub(super) fn new(engine: Engine, ended: InputEnd) -> Result<Self> {
        let owner = OwnerId::new(format!("mcp-{}-{:x}", std::process::id(), engine.now().as_micros()))?;
        Ok(Self { engine, owner, ended })
    }

    /// Loads the index, then runs the background work of the space until the input ends; a running step then has half a second,
    /// so that its lease is released.
    pub(super) async fn run(self) {
        tokio::select! {
            // A failure to load is a gap of the answers that need the index.
            _ = self.engine.load() => {}
            () = self.ended.wait() => return,
        }
        let pace = Pace { grace: GRACE, ..self.engine.settings().extract.pace() };
        let attended = Box::pin(self.engine.run_background(&self.owner, &pace, self.ended.wait())).await;
        tracing::debug!(?attended, "attended to the space");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mnemal::Memory;

    use super::*;
    use crate::mcp::lifecycle::Lifecycle;

    #[tokio::test(start_paused = true)]
    async fn the_upkeep_lasts_as_long_as_the_input() {
        let memory = Memory::in_memory().await.unwrap();
        let (lifecycle, ended) = Lifecycle::around(());
        let upkeep = Upkeep::new(memory.admin().engine().clone(), ended).unwrap();
        let begun = tokio::time::Instant::now();
        let minute = Duration::from_mins(1);
        let input = async {
            let _waits = tokio::time::timeout(minute, std::future::pending::<()>()).await;
            drop(lifecycle);
        };
        tokio::join!(upkeep.run(), input);
        assert!(begun.elapsed() >= minute && begun.elapsed() <= minute + GRACE, "{:?}", begun.elapsed());
    }
}
