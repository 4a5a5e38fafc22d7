//! File-system notifications of a folder.
//!
//! On Linux a waiting caller is notified when a file in the folder was written and closed, or moved there. Elsewhere, and where
//! the system cannot watch, there are no notifications: callers poll in any case.

use std::path::Path;
#[cfg(target_os = "linux")]
use std::{io, panic::catch_unwind};

#[cfg(target_os = "linux")]
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
#[cfg(target_os = "linux")]
use tokio::net::unix::pipe::Receiver;

/// Bytes of notifications read at once. Source: own choice; about a hundred files.
#[cfg(target_os = "linux")]
const TOLD: usize = 4 * 1_024;

/// Waits until a file arrived in a folder; for ever without notifications.
///
/// Earlier files are not reported.
#[cfg(target_os = "linux")]
pub(super) async fn wait(folder: &Path) {
    if wait_for_change(folder).await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) async fn wait(_folder: &Path) {
    std::future::pending::<()>().await;
}

#[cfg(target_os = "linux")]
async fn wait_for_change(folder: &Path) -> io::Result<()> {
    let watch = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
    add_watch(&watch, folder, WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR)?;
    // A watch is read like a pipe. A runtime without an I/O driver panics here, and then there are no notifications.
    let watch = catch_unwind(|| Receiver::from_owned_fd_unchecked(watch))
        .map_err(|_panic| io::Error::other("a runtime without a driver for I/O"))??;
    loop {
        watch.readable().await?;
        match watch.try_read(&mut [0; TOLD]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // That it was told is enough; what there is, the folder says.
            told => return told.map(|_bytes| ()),
        }
    }
}
