//! The runtime of a command.

use std::io::Result;

use tokio::runtime::{Builder, Runtime};

use crate::args::Command;

/// Bytes of the stack of each thread of a server. Source: the default of the main thread on Linux, on which commands run; builds
/// for development need more than the 2 MiB of a Rust thread for the deepest requests. It is address space until it is used.
const STACK: usize = 8 * 1_024 * 1_024;

/// Builds the runtime of a command, which is one piece of work; a server does several at once.
///
/// # Errors
/// A system that gives no threads or no events.
pub(crate) fn of(command: &Command) -> Result<Runtime> {
    match command {
        Command::Serve(_) => threads(),
        _ => Builder::new_current_thread().enable_all().thread_stack_size(STACK).build(),
    }
}

fn threads() -> Result<Runtime> {
    Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses a kibibyte of the stack for each level.
    fn descend(levels: usize) -> usize {
        let frame = std::hint::black_box([1_u8; 1_024]);
        match levels {
            0 => 0,
            _ => descend(levels - 1) + usize::from(frame[levels % frame.len()]),
        }
    }

    #[test]
    fn a_request_has_as_much_stack_as_a_command() {
        const LEVELS: usize = 4 * 1_024;
        let runtime = threads().unwrap();
        let worker = runtime.spawn(async { descend(LEVELS) });
        let errand = runtime.spawn_blocking(|| descend(LEVELS));
        let done = runtime.block_on(async { (worker.await.unwrap(), errand.await.unwrap()) });
        assert_eq!(done, (LEVELS, LEVELS));
    }
}
