//! Worker thread for embedding, queries first.
//!
//! A model needs milliseconds of CPU time per text. A separate thread spends them, so that callers can cancel, and texts that
//! no caller waits for any more are not begun.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use mnemal_core::{Error, ErrorKind, Result};
use tokio::sync::oneshot;

/// The purpose of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// A query; goes first.
    Question,
    /// The index.
    Document,
}

/// The thread's queue and handle; dropping it waits for the current text and cancels the others.
pub(crate) struct EmbedWorker<A> {
    queue: Arc<Queue<A>>,
    worker: Option<JoinHandle<()>>,
}

struct Queue<A> {
    state: Mutex<QueueState<A>>,
    changed: Condvar,
}

struct QueueState<A> {
    questions: VecDeque<Job<A>>,
    documents: VecDeque<Job<A>>,
    is_closed: bool,
}

struct Job<A> {
    text: String,
    kind: TextKind,
    answer: oneshot::Sender<Result<A>>,
}

impl<A: Send + 'static> EmbedWorker<A> {
    /// Starts the thread; `work` processes one text at a time, and may panic.
    ///
    /// # Errors
    /// `Unavailable` when the operating system has no thread.
    pub(crate) fn open(mut work: impl FnMut(&str, TextKind) -> Result<A> + Send + 'static) -> Result<Self> {
        let state = QueueState { questions: VecDeque::new(), documents: VecDeque::new(), is_closed: false };
        let queue = Arc::new(Queue { state: Mutex::new(state), changed: Condvar::new() });
        let theirs = Arc::clone(&queue);
        let thread = std::thread::Builder::new().name("mnemal-embedder".to_owned());
        let worker = thread.spawn(move || {
            while let Some(job) = theirs.next() {
                let answer = catch_unwind(AssertUnwindSafe(|| work(&job.text, job.kind)));
                let answer = answer.unwrap_or_else(|_| Err(Error::internal("the model panicked")));
                let _nobody_waits = job.answer.send(answer);
            }
        });
        let worker = worker.map_err(|cause| {
            Error::new(ErrorKind::Unavailable, "cannot start a thread for the model").because(cause)
        })?;
        Ok(Self { queue, worker: Some(worker) })
    }

    /// Enqueues a text; dropping the receiver removes it.
    pub(crate) fn ask(&self, text: &str, kind: TextKind) -> oneshot::Receiver<Result<A>> {
        let (answer, waiting) = oneshot::channel();
        self.queue.add(Job { text: text.to_owned(), kind, answer });
        waiting
    }
}

impl<A> Queue<A> {
    fn add(&self, job: Job<A>) {
        let mut state = self.state();
        match job.kind {
            TextKind::Question => state.questions.push_back(job),
            TextKind::Document => state.documents.push_back(job),
        }
        self.changed.notify_one();
    }

    /// Waits for the next text with a waiting caller; `None` once the worker is closed.
    fn next(&self) -> Option<Job<A>> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            match state.questions.pop_front().or_else(|| state.documents.pop_front()) {
                Some(job) if job.answer.is_closed() => {}
                Some(job) => return Some(job),
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A> Drop for EmbedWorker<A> {
    fn drop(&mut self) {
        self.queue.state().is_closed = true;
        self.queue.changed.notify_one();
        let _panicked = self.worker.take().map(JoinHandle::join);
    }
}

impl<A> fmt::Debug for EmbedWorker<A> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.queue.state();
        out.debug_struct("EmbedWorker")
            .field("questions", &state.questions.len())
            .field("documents", &state.documents.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A worker whose texts are answered with themselves, each after a permit, and the texts in the order they were begun.
    fn permitted() -> (EmbedWorker<String>, mpsc::Sender<()>, mpsc::Receiver<String>) {
        let (permit, permits) = mpsc::channel::<()>();
        let (begun, order) = mpsc::channel();
        let embed_worker = EmbedWorker::open(move |text, _| {
            begun.send(text.to_owned()).unwrap();
            permits.recv().unwrap();
            assert_ne!(text, "panic");
            Ok(text.to_owned())
        });
        (embed_worker.unwrap(), permit, order)
    }

    #[test]
    fn questions_go_before_documents_that_wait() {
        let (embed_worker, permit, order) = permitted();
        let first = embed_worker.ask("begun", TextKind::Document);
        assert_eq!(order.recv().unwrap(), "begun");
        let document = embed_worker.ask("document", TextKind::Document);
        let question = embed_worker.ask("question", TextKind::Question);
        (0..3).for_each(|_| permit.send(()).unwrap());
        for (waiting, expected) in [(first, "begun"), (question, "question"), (document, "document")] {
            assert_eq!(waiting.blocking_recv().unwrap().unwrap(), expected);
        }
        assert_eq!(order.iter().take(2).collect::<Vec<_>>(), ["question", "document"]);
    }

    #[test]
    fn a_text_that_nobody_waits_for_is_not_begun() {
        let (embed_worker, permit, order) = permitted();
        let first = embed_worker.ask("begun", TextKind::Document);
        assert_eq!(order.recv().unwrap(), "begun");
        drop(embed_worker.ask("dropped", TextKind::Question));
        let last = embed_worker.ask("last", TextKind::Document);
        (0..2).for_each(|_| permit.send(()).unwrap());
        assert_eq!(first.blocking_recv().unwrap().unwrap(), "begun");
        assert_eq!(last.blocking_recv().unwrap().unwrap(), "last");
        assert_eq!(order.try_iter().collect::<Vec<_>>(), ["last"]);
    }

    #[test]
    fn a_panic_is_an_error_and_the_next_text_is_answered() {
        let (embed_worker, permit, _order) = permitted();
        (0..2).for_each(|_| permit.send(()).unwrap());
        let error = embed_worker.ask("panic", TextKind::Question).blocking_recv().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert_eq!(embed_worker.ask("next", TextKind::Question).blocking_recv().unwrap().unwrap(), "next");
    }

    #[test]
    fn dropping_a_desk_ends_its_thread_and_answers_nobody_else() {
        let (embed_worker, permit, order) = permitted();
        let begun = embed_worker.ask("begun", TextKind::Document);
        assert_eq!(order.recv().unwrap(), "begun");
        let waiting = embed_worker.ask("waiting", TextKind::Document);
        drop(permit);
        drop(embed_worker);
        assert!(order.iter().count() <= 1, "the work went with its thread");
        for waiting in [begun, waiting] {
            assert!(!matches!(waiting.blocking_recv(), Ok(Ok(_))));
        }
    }
}
