//! Where a connection begins and ends: what a client sends too early is passed over, and the end is known to those who work.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::watch;

/// How long a call may still run when the input has ended. Source: SURFACES 6.8, the server exits within 1 s of the end.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// A transport that passes over everything before the first request, which the library would take for a broken handshake,
/// and tells when its input ends.
#[derive(Debug)]
pub(super) struct Lifecycle<T> {
    inner: T,
    is_open: bool,
    ending: watch::Sender<bool>,
}

/// Tells when the input has ended; without a receiver it never does, because each request is its own input.
#[derive(Clone, Debug)]
pub(super) struct Ended(Option<watch::Receiver<bool>>);

impl<T> Lifecycle<T> {
    pub(super) fn around(inner: T) -> (Self, Ended) {
        let (ending, ended) = watch::channel(false);
        (Self { inner, is_open: false, ending }, Ended(Some(ended)))
    }
}

impl Ended {
    /// Returns one that never tells.
    #[cfg(feature = "http")]
    pub(super) fn never() -> Self {
        Self(None)
    }

    /// Waits until the input has ended.
    pub(super) async fn wait(&self) {
        let Some(mut ended) = self.0.clone() else { return std::future::pending().await };
        // When the transport is gone, so is its input.
        let _gone = ended.wait_for(|ended| *ended).await;
    }

    /// Waits until the input has ended and a call that still runs has had its time.
    #[expect(clippy::disallowed_methods, reason = "a timer of the server")]
    pub(super) async fn and_grace(&self) {
        let Some(mut ended) = self.0.clone() else { return std::future::pending().await };
        if ended.wait_for(|ended| *ended).await.is_err() {
            // The transport is gone, and with it whoever waits for an answer.
            return;
        }
        tokio::time::sleep(GRACE).await;
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Lifecycle<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.inner.receive().await else {
                self.ending.send_replace(true);
                return None;
            };
            self.is_open |= matches!(message, JsonRpcMessage::Request(_));
            if self.is_open {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
