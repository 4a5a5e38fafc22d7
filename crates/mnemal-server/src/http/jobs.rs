//! Background jobs: started by one request, queried by others.
//!
//! A job's effects are in the log, step by step; only its progress is kept here, as long as the server runs. A job that a restart
//! interrupted can be started again, and repeats nothing.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mnemal_core::{Error, ErrorKind, SpaceId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::http::call::Call;
use crate::http::host::Host;
use crate::http::problem::Problem;

/// Number of remembered jobs; the oldest finished one is dropped first. Source: own default, a few pages.
const REMEMBERED: usize = 1_000;
/// Maximum number of concurrent jobs. Source: own default; they share one processor with every request.
const RUNNING: usize = 8;

/// The jobs of a server.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    known: Mutex<VecDeque<Job>>,
    tasks: Mutex<JoinSet<()>>,
}

#[derive(Clone, Debug)]
struct Job {
    space: SpaceId,
    form: JobForm,
}

/// A job.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct JobForm {
    /// Its id.
    id: String,
    /// What it does.
    kind: &'static str,
    /// `running`, `done`, `failed` or `cancelled`.
    state: &'static str,
    /// When it was asked for.
    created_at: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
}

impl Jobs {
    /// Starts a job in the space of a call.
    ///
    /// # Errors
    /// `unavailable` when eight are running.
    pub(crate) fn begin(
        &self,
        call: &Call,
        kind: &'static str,
        work: impl Future<Output = Result<Value, Error>> + Send + 'static,
    ) -> Result<JobForm, Problem> {
        let host = std::sync::Arc::clone(&call.host);
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        if tasks.len() >= RUNNING {
            return Err(Problem::new("unavailable", format!("{RUNNING} jobs run already")));
        }
        let form = self.noted(call, kind)?;
        let id = form.id.clone();
        tasks.spawn(async move {
            let done = work.await;
            host.jobs.ended(&id, done, &host);
        });
        Ok(form)
    }

    /// Runs a job in the space of a call within the request, using its slot; it is listed like any other.
    ///
    /// # Errors
    /// `unavailable` without randomness.
    pub(crate) async fn run_to_end(
        &self,
        call: &Call,
        kind: &'static str,
        work: impl Future<Output = Result<Value, Error>>,
    ) -> Result<JobForm, Problem> {
        let form = self.noted(call, kind)?;
        let done = work.await;
        self.ended(&form.id, done, &call.host);
        self.get(&call.space()?, &form.id)
    }

    /// Registers a job that starts now.
    fn noted(&self, call: &Call, kind: &'static str) -> Result<JobForm, Problem> {
        let form = JobForm {
            id: new_id()?,
            kind,
            state: "running",
            created_at: call.host.now().to_string(),
            finished_at: None,
            error: None,
            result: None,
        };
        let mut known = self.queue();
        if known.len() >= REMEMBERED {
            let ended = known.iter().position(|job| job.form.finished_at.is_some());
            ended.and_then(|place| known.remove(place));
        }
        known.push_back(Job { space: call.space()?, form: form.clone() });
        Ok(form)
    }

    /// Returns the jobs of a space, newest first.
    pub(crate) fn list(&self, space: &SpaceId) -> Vec<JobForm> {
        self.queue().iter().rev().filter(|job| job.space == *space).map(|job| job.form.clone()).collect()
    }

    /// Returns a job of a space.
    pub(crate) fn get(&self, space: &SpaceId, id: &str) -> Result<JobForm, Problem> {
        let known = self.queue();
        let found = known.iter().find(|job| job.space == *space && job.form.id == id);
        found.map(|job| job.form.clone()).ok_or_else(|| Problem::not_found(format!("no job {id:?}")))
    }

    /// Stops the jobs between two of their steps: completed steps stay.
    pub(crate) fn end(&self) {
        self.tasks().abort_all();
    }

    /// Waits until no job is running.
    pub(crate) async fn joined(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks());
        while tasks.join_next().await.is_some() {}
        for job in self.queue().iter_mut().filter(|job| job.form.state == "running") {
            job.form.state = "cancelled";
        }
    }

    fn ended(&self, id: &str, done: Result<Value, Error>, host: &Host) {
        let mut known = self.queue();
        let Some(job) = known.iter_mut().find(|job| job.form.id == id) else { return };
        let outcome = if done.is_ok() { "done" } else { "failed" };
        host.metrics.count("mnemal_jobs_total", &[("kind", job.form.kind), ("outcome", outcome)], 1);
        job.form.finished_at = Some(host.now().to_string());
        match done {
            Ok(result) => (job.form.state, job.form.result) = ("done", Some(result)),
            Err(error) => {
                let is_callers =
                    matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Invalid | ErrorKind::Unsupported);
                let why = if is_callers { error.what() } else { error.kind().as_str() };
                (job.form.state, job.form.error) = ("failed", Some(why.to_owned()));
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_id() -> Result<String, Problem> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Problem::new("unavailable", "there is no randomness"))?;
    Ok(format!("job_{}", crate::auth::base32(&bytes)))
}
