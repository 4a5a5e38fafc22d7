//! Where a connection begins and ends: what a client sends too early is passed over, and the end of its input is known to those who
//! work, and ends the connection when all of them have answered.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long a step of the upkeep may still run when the input has ended. Source: SURFACES 6.8, a server without work exits within
/// 1 s of the end.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// How long a call may still run when the input has ended. Source: the time of a request over HTTP; a client that closes the input
/// behind its last call waits for the answer, and one that does not wait ends the process.
pub(super) const CALL: Duration = Duration::from_secs(30);
/// How long the answers of calls that were called off may take. Source: own choice.
const LAST: Duration = Duration::from_secs(1);

/// A transport that passes over everything before the first request, which the library would take for a broken handshake,
/// and tells when its input ends.
#[derive(Debug)]
pub(super) struct Lifecycle<T> {
    inner: T,
    is_open: bool,
    /// Requests without an answer.
    waiting: Vec<RequestId>,
    /// When the last of them are given up, once the input has ended: the library would do so after a few seconds.
    until: Option<Instant>,
    ending: watch::Sender<bool>,
}

/// Tells when the input has ended; without a receiver it never does, because each request is its own input.
#[derive(Clone, Debug)]
pub(super) struct Ended(Option<watch::Receiver<bool>>);

impl<T> Lifecycle<T> {
    pub(super) fn around(inner: T) -> (Self, Ended) {
        let (ending, ended) = watch::channel(false);
        let lifecycle = Self { inner, is_open: false, waiting: Vec::new(), until: None, ending };
        (lifecycle, Ended(Some(ended)))
    }

    /// Takes note of what the client said.
    fn heard(&mut self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => self.waiting.push(request.id.clone()),
            JsonRpcMessage::Notification(said) => {
                if let ClientNotification::CancelledNotification(cancelled) = &said.notification {
                    self.settle(cancelled.params.request_id.as_ref());
                }
            }
            _ => {}
        }
    }

    fn settle(&mut self, id: Option<&RequestId>) {
        if let Some(place) = self.waiting.iter().position(|waiting| Some(waiting) == id) {
            self.waiting.swap_remove(place);
        }
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
        tokio::time::sleep(CALL).await;
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Lifecycle<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Response(answer) => self.settle(Some(&answer.id)),
            JsonRpcMessage::Error(answer) => self.settle(answer.id.as_ref()),
            _ => {}
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(until) = self.until {
                if !self.waiting.is_empty() {
                    // Each answer that is sent begins this anew.
                    let _late = tokio::time::timeout_at(until, std::future::pending::<()>()).await;
                }
                return None;
            }
            let Some(message) = self.inner.receive().await else {
                self.ending.send_replace(true);
                self.until = Some(Instant::now() + CALL + LAST);
                continue;
            };
            self.is_open |= matches!(message, JsonRpcMessage::Request(_));
            if self.is_open {
                self.heard(&message);
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;

    use serde_json::{Value, json};

    use super::*;

    /// What a client says, and then nothing more.
    struct Said(VecDeque<Value>);

    impl Transport<RoleServer> for Said {
        type Error = Infallible;

        fn send(
            &mut self,
            _: TxJsonRpcMessage<RoleServer>,
        ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
            self.0.pop_front().map(|said| serde_json::from_value(said).unwrap())
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    fn call(id: u64) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "memory_list"}})
    }

    async fn is_over(lifecycle: &mut Lifecycle<Said>) -> bool {
        tokio::time::timeout(Duration::from_secs(10), lifecycle.receive())
            .await
            .is_ok_and(|said| said.is_none())
    }

    #[tokio::test(start_paused = true)]
    async fn the_connection_ends_when_what_was_asked_is_answered_or_called_off() {
        let off = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
        let (mut lifecycle, _ended) = Lifecycle::around(Said([call(1), call(2), off, call(3)].into()));
        for _ in 0..4 {
            assert!(lifecycle.receive().await.is_some());
        }
        assert!(!is_over(&mut lifecycle).await, "two are waited for");
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        lifecycle.send(serde_json::from_value(answer).unwrap()).await.unwrap();
        assert!(!is_over(&mut lifecycle).await, "one is waited for");
        let error = json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "no"}});
        lifecycle.send(serde_json::from_value(error).unwrap()).await.unwrap();
        assert!(is_over(&mut lifecycle).await);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_never_answered_keeps_no_connection() {
        let (mut lifecycle, _ended) = Lifecycle::around(Said([call(1)].into()));
        assert!(lifecycle.receive().await.is_some());
        let begun = Instant::now();
        assert!(lifecycle.receive().await.is_none());
        assert!(begun.elapsed() >= CALL, "{:?}", begun.elapsed());
    }
}
