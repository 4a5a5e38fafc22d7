//! Start and end of a connection: messages before the first request are ignored; the end of the input is reported to running
//! calls, and closes the connection when all of them have answered.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::watch;
use tokio::time::Instant;

/// Time limit of an upkeep step after the end of the input. Source: own choice, so that an idle server exits within 1 s.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// Time limit of a call after the end of the input. Source: the request timeout of the HTTP server; a client that closes the
/// input after its last call waits for the answer, and one that does not wait ends the process.
pub(super) const CALL: Duration = Duration::from_secs(30);
/// Time limit for the answers of cancelled calls. Source: own choice.
const LAST: Duration = Duration::from_secs(1);

/// A transport that ignores everything before the first request, which the library would treat as a broken handshake, and reports
/// the end of its input.
#[derive(Debug)]
pub(super) struct Lifecycle<T> {
    inner: T,
    is_open: bool,
    /// Pending requests.
    waiting: Vec<RequestId>,
    /// When they are cancelled, once the input has ended: the library would do so after a few seconds.
    until: Option<Instant>,
    ending: watch::Sender<bool>,
}

/// Reports the end of the input; without a receiver it never does, because over HTTP each request is its own input.
#[derive(Clone, Debug)]
pub(super) struct InputEnd(Option<watch::Receiver<bool>>);

impl<T> Lifecycle<T> {
    pub(super) fn around(inner: T) -> (Self, InputEnd) {
        let (ending, ended) = watch::channel(false);
        let lifecycle = Self { inner, is_open: false, waiting: Vec::new(), until: None, ending };
        (lifecycle, InputEnd(Some(ended)))
    }

    /// Records a message of the client.
    fn record_message(&mut self, message: &RxJsonRpcMessage<RoleServer>) {
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

impl InputEnd {
    /// Returns one that never reports an end.
    #[cfg(feature = "http")]
    pub(super) fn never() -> Self {
        Self(None)
    }

    /// Waits for the end of the input.
    pub(super) async fn wait(&self) {
        let Some(mut ended) = self.0.clone() else { return std::future::pending().await };
        // When the transport is dropped, its input has ended too.
        let _gone = ended.wait_for(|ended| *ended).await;
    }

    /// Waits until the input has ended and running calls have had their time.
    #[expect(clippy::disallowed_methods, reason = "a timer of the server")]
    pub(super) async fn and_grace(&self) {
        let Some(mut ended) = self.0.clone() else { return std::future::pending().await };
        if ended.wait_for(|ended| *ended).await.is_err() {
            // The transport is gone, and with it the receiver of answers.
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
                    // Each sent answer restarts this.
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
                self.record_message(&message);
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

    /// A client that sends these messages, and then nothing more.
    struct ScriptedClient(VecDeque<Value>);

    impl Transport<RoleServer> for ScriptedClient {
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

    async fn is_over(lifecycle: &mut Lifecycle<ScriptedClient>) -> bool {
        tokio::time::timeout(Duration::from_secs(10), lifecycle.receive())
            .await
            .is_ok_and(|said| said.is_none())
    }

    #[tokio::test(start_paused = true)]
    async fn the_connection_ends_when_what_was_asked_is_answered_or_called_off() {
        let off = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
        let (mut lifecycle, _ended) =
            Lifecycle::around(ScriptedClient([call(1), call(2), off, call(3)].into()));
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
        let (mut lifecycle, _ended) = Lifecycle::around(ScriptedClient([call(1)].into()));
        assert!(lifecycle.receive().await.is_some());
        let begun = Instant::now();
        assert!(lifecycle.receive().await.is_none());
        assert!(begun.elapsed() >= CALL, "{:?}", begun.elapsed());
    }
}
