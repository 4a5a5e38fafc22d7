//! Cooperative yield between two steps of work, on any runtime.

use std::future::poll_fn;
use std::task::Poll;

/// Yields once: the task is woken immediately and continues at its next poll.
pub(crate) async fn pause() {
    let mut is_first = true;
    poll_fn(move |context| {
        if std::mem::take(&mut is_first) {
            context.waker().wake_by_ref();
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}
