#![doc = include_str!("../README.md")]

mod process;
mod running;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use mnemal::{Error, ErrorKind};
use mnemal_server::{Location, Question};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::process::{OpenMemories, OpenMemory};
use crate::running::Running;

/// Time after which a call looks for a signal, such as that of the keyboard. Source: own choice, what a person does not notice.
const LOOK: Duration = Duration::from_millis(200);
/// The memories of this process.
static OPEN: OpenMemories = OpenMemories::new();

/// The engine of one memory, behind the operations of the HTTP API; any thread may ask.
#[pyclass(frozen, module = "mnemal._engine")]
#[derive(Debug)]
struct Engine {
    open: OpenMemory<'static>,
    /// `None` after it was closed.
    running: RwLock<Option<Arc<Running>>>,
}

#[pymethods]
impl Engine {
    /// Opens a memory: a file, the folder of an installation, or memory alone without a path; `settings` is a JSON object.
    #[new]
    #[pyo3(signature = (path = None, space = None, settings = ""))]
    #[expect(clippy::needless_pass_by_value, reason = "the interpreter gives no path to borrow")]
    fn new(py: Python<'_>, path: Option<PathBuf>, space: Option<&str>, settings: &str) -> PyResult<Self> {
        let open = OPEN.open().ok_or_else(|| forked(py))?;
        let location = Location::of(path.as_deref());
        let running = py.detach(|| Running::start(&location, space, settings));
        let running = running.map_err(|error| refused(py, &error))?;
        Ok(Self { open, running: RwLock::new(Some(Arc::new(running))) })
    }

    /// The space that is meant.
    #[getter]
    fn space(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.running(py)?.embedded.space().to_string())
    }

    /// Answers a request as the HTTP API does: the status and the body.
    #[pyo3(signature = (method, target, headers, body = None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a request, and the token of the interpreter")]
    fn ask(
        &self,
        py: Python<'_>,
        method: &str,
        target: &str,
        headers: Vec<(String, String)>,
        body: Option<&[u8]>,
    ) -> PyResult<(u16, String)> {
        let running = self.running(py)?;
        let body = body.unwrap_or_default().to_vec();
        let question = Question { method, target, headers, body };
        let mut answer = Box::pin(running.embedded.answer(question));
        let answer = loop {
            match py.detach(|| running.wait(answer.as_mut(), LOOK)) {
                Some(answer) => break answer.map_err(|error| refused(py, &error))?,
                // What changes something goes on when the caller is interrupted.
                None => py.check_signals()?,
            }
        };
        Ok((answer.status, String::from_utf8(answer.body.into())?))
    }

    /// Finishes the work in progress and closes the files; later calls fail. A second time nothing happens.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.open.is_own() {
            return Ok(());
        }
        match self.take() {
            Some(running) => {
                let stopped = py.detach(|| running.stop());
                self.open.close();
                stopped.map_err(|error| refused(py, &error))
            }
            None => Ok(()),
        }
    }
}

impl Engine {
    /// Returns what runs.
    fn running(&self, py: Python<'_>) -> PyResult<Arc<Running>> {
        if !self.open.is_own() {
            return Err(forked(py));
        }
        let running = self.running.read().unwrap_or_else(PoisonError::into_inner);
        running.clone().ok_or_else(|| {
            let hint = "Open it anew; a memory is closed by `close()`, and at the end of a `with` block.";
            problem(py, (0, "closed"), "this memory is closed", hint)
        })
    }

    fn take(&self) -> Option<Arc<Running>> {
        self.running.write().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let is_own = self.open.is_own();
        // No other thread holds the lock: this is the last use.
        let Some(running) = self.running.get_mut().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        if is_own {
            // What was acknowledged is safe, and nobody is there to be told of an error.
            let _closed = Python::attach(|py| py.detach(|| running.stop()));
        } else {
            // Its threads exist in the other process only, and nothing can wait for them here.
            std::mem::forget(running);
        }
    }
}

/// Returns the exception for a memory of another process.
fn forked(py: Python<'_>) -> PyErr {
    let hint = "Close every memory before a fork, or start processes with the method `spawn`.";
    problem(py, (0, "forked"), "this process was forked while a memory was open", hint)
}

/// Returns the exception for an error of the engine.
fn refused(py: Python<'_>, error: &Error) -> PyErr {
    let (said, hint) = match error.kind() {
        ErrorKind::Invalid => ((400, "invalid_request"), ""),
        ErrorKind::NotFound => ((404, "not_found"), ""),
        ErrorKind::Conflict => ((409, "conflict"), ""),
        ErrorKind::Unsupported => ((501, "unsupported"), ""),
        ErrorKind::Unavailable => ((503, "unavailable"), "Try again, or look at the file and its folder."),
        ErrorKind::Corrupt => ((500, "corrupt"), "`mnemal recover` saves what is left of a damaged file."),
        _ => ((500, "internal"), ""),
    };
    let mut detail = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        // Some errors repeat their cause in their own words.
        if !detail.ends_with(&said) {
            detail = format!("{detail}: {said}");
        }
        cause = error.source();
    }
    problem(py, said, &detail, hint)
}

/// Returns the exception that the client of the HTTP API raises.
fn problem(py: Python<'_>, (status, code): (u16, &str), detail: &str, hint: &str) -> PyErr {
    let made = || {
        let said = PyDict::new(py);
        said.set_item("code", code)?;
        said.set_item("detail", detail)?;
        said.set_item("hint", if hint.is_empty() { None } else { Some(hint) })?;
        py.import("mnemal.client")?.getattr("MnemalError")?.call1((status, said))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// The native part of the package `mnemal`.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::Engine;
}
