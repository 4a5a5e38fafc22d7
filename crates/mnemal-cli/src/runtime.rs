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

    /// Goes down until this much of the stack lies behind it, in bytes: twice what a thread has by default.
    const DEEP: usize = 4 * 1_024 * 1_024;

    /// Returns how many calls were needed; `top` is an address above the first of them.
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
        let errand = runtime.spawn_blocking(from_here);
        let done = runtime.block_on(async { (worker.await.unwrap(), errand.await.unwrap()) });
        assert!(done.0 > 100 && done.1 > 100, "{done:?}");
    }
}
