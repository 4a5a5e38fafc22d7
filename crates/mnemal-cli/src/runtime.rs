//! The async runtime of a command.

use std::io::Result;

use tokio::runtime::{Builder, Runtime};

use crate::args::Command;

/// Stack size of each server thread, in bytes. Source: the default of the main thread on Linux, on which commands run; debug
/// builds need more than the 2 MiB of a Rust thread for the deepest requests. Unused stack is only address space.
const STACK: usize = 8 * 1_024 * 1_024;

/// Builds the runtime: single-threaded for a command, multi-threaded for a server.
///
/// # Errors
/// When the system provides no threads or no events.
pub(crate) fn of(command: &Command) -> Result<Runtime> {
    match command {
        Command::Serve(_) | Command::Ui(_) => threads(),
        _ => Builder::new_current_thread().enable_all().thread_stack_size(STACK).build(),
    }
}

fn threads() -> Result<Runtime> {
    Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stack depth of the test, in bytes: twice the default of a thread.
    const DEEP: usize = 4 * 1_024 * 1_024;

    /// Recurses to that depth and returns the number of calls; `top` is an address above the first one.
    fn descend(top: usize) -> usize {
        let frame = std::hint::black_box([1_u8; 1_024]);
        match top.saturating_sub(frame.as_ptr().addr()) {
            depth if depth > DEEP => 1,
            _ => descend(top) + usize::from(frame[0]),
        }
    }

    fn from_here() -> usize {
        let here = std::hint::black_box(0_u8);
        descend(std::ptr::from_ref(&here).addr())
    }

    #[test]
    fn a_request_has_as_much_stack_as_a_command() {
        let runtime = threads().unwrap();
        let worker = runtime.spawn(async { from_here() });
        let task = runtime.spawn_blocking(from_here);
        let done = runtime.block_on(async { (worker.await.unwrap(), task.await.unwrap()) });
        assert!(done.0 > 100 && done.1 > 100, "{done:?}");
    }
}
