//! The engine of an open memory, the runtime that it runs on, and its upkeep.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use mnemal::{Error, Result};
use mnemal_server::{Embedded, Location};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Maximum number of threads for writes and upkeep; reads run on the threads that ask. Source: own choice, as one space has one
/// writer.
const WORKERS: usize = 2;

/// An open memory. Its last holder ends the runtime, so that no call loses it.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) embedded: Embedded,
    runtime: Runtime,
    upkeep: Mutex<Option<Upkeep>>,
}

#[derive(Debug)]
struct Upkeep {
    end: oneshot::Sender<()>,
    ended: JoinHandle<Result<()>>,
}

impl Running {
    /// Opens a memory and starts its upkeep.
    pub(crate) fn start(location: &Location, space: Option<&str>, settings: &str) -> Result<Self> {
        let workers = thread::available_parallelism().map_or(1, usize::from).min(WORKERS);
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(workers).thread_name("mnemal").enable_all();
        let runtime = builder.build().map_err(|cause| {
            Error::new(mnemal::ErrorKind::Unavailable, "cannot start the threads of a memory").because(cause)
        })?;
        let embedded = runtime.block_on(Embedded::open(location, space, settings))?;
        let (end, asked) = oneshot::channel();
        let attending = embedded.clone();
        let ended = runtime.spawn(async move {
            let until = async move {
                let _asked = asked.await;
            };
            attending.attend(until).await
        });
        Ok(Self { embedded, runtime, upkeep: Mutex::new(Some(Upkeep { end, ended })) })
    }

    /// Runs a call on this thread until it is done, or for this time: then it returns `None`, and the call goes on when it is
    /// waited for again.
    pub(crate) fn wait<T>(
        &self,
        call: Pin<&mut (impl Future<Output = T> + ?Sized)>,
        time: Duration,
    ) -> Option<T> {
        self.runtime.block_on(async { tokio::time::timeout(time, call).await.ok() })
    }

    /// Ends the upkeep, finishes the work in progress, and closes the files.
    ///
    /// # Errors
    /// As [`Embedded::attend`].
    pub(crate) fn stop(&self) -> Result<()> {
        let upkeep = self.upkeep.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Upkeep { end, ended }) = upkeep else { return Ok(()) };
        // It may have ended by itself, with an error that is told below.
        let _sent = end.send(());
        let ended = self.runtime.block_on(ended);
        ended.map_err(|cause| Error::internal("the upkeep of a memory failed").because(cause))?
    }
}
