//! `mnemal worker`.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use mnemal::admin::Spaces;
use mnemal::ports::{Clock as _, SystemClock};
use mnemal::types::OwnerId;
use mnemal::{Error, SpaceId};
use serde::Serialize;

use super::serve::told_to_end;
use crate::args::{Global, Worker};
use crate::config;
use crate::output::Output;

/// Steps of upkeep for one space before the next one has its turn. Source: own choice; a space that was imported must not hold
/// up the others.
const STEPS: usize = 20;

/// What was done for a space in one round.
#[derive(Debug, Serialize)]
struct SpaceWork {
    space: String,
    /// Events that a layer has not read yet.
    unread: u64,
    /// Changes of the dream.
    dreamed: u64,
    /// Another process does its upkeep.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<String>,
    /// What failed: gaps of layers, or the error of the space.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<String>,
}

#[derive(Serialize)]
struct RoundForm<'w> {
    spaces: &'w [SpaceWork],
}

/// Does the upkeep of all spaces, or of one that is named, until it is stopped, or once.
pub(super) async fn run(global: &Global, call: &Worker, output: &Output) -> Result<u8> {
    if !config::is_on(global)? {
        let what = "memory is switched off by `memory.enabled`: there is nothing to look after";
        return Err(Error::invalid(what).into());
    }
    let spaces = super::spaces(global).await?;
    let only = global.space.as_deref().map(named).transpose()?;
    let clock = SystemClock::default();
    let owner = OwnerId::new(format!("worker-{}-{:x}", std::process::id(), clock.now().as_micros()))?;
    let mut ended = pin!(told_to_end());
    let pause = Duration::from_secs(call.every);
    let (mut code, stop) = (0, AtomicBool::new(false));
    // The first look at it makes the handlers of the signals.
    if tokio::time::timeout(Duration::ZERO, &mut ended).await.is_ok() {
        return Ok(0);
    }
    if !call.once {
        output.say("looking after the spaces; an interrupt ends it");
    }
    let work = Round { spaces: &spaces, only: only.as_deref(), owner: &owner, stop: &stop };
    loop {
        // The step in progress is finished: one that is cut off counts as a crash.
        let mut round = pin!(work.run());
        let round = tokio::select! {
            round = &mut round => round?,
            () = &mut ended => {
                stop.store(true, Ordering::Relaxed);
                round.await?;
                break;
            }
        };
        if call.once {
            code = u8::from(round.iter().any(|work| !work.failed.is_empty()));
            output.list(&round, &RoundForm { spaces: &round }, || lines(&round))?;
            break;
        }
        for work in round.iter().filter(|work| !work.failed.is_empty()) {
            output.talk(&format!("warning: {}: {}", work.space, work.failed.join("; ")));
        }
        if tokio::time::timeout(pause, &mut ended).await.is_ok() {
            break;
        }
    }
    spaces.close().await?;
    Ok(code)
}

/// Returns the spaces that `--space` names.
fn named(list: &str) -> Result<Vec<SpaceId>> {
    list.split(',').map(|name| Ok(SpaceId::new(name.trim())?)).collect()
}

/// One turn for each space.
struct Round<'r> {
    spaces: &'r Spaces,
    /// The spaces that are meant; `None` for all.
    only: Option<&'r [SpaceId]>,
    owner: &'r OwnerId,
    /// Set when no further step should begin.
    stop: &'r AtomicBool,
}

impl Round<'_> {
    /// Gives each space turns, in the order of their names, until none has more to do.
    async fn run(&self) -> Result<Vec<SpaceWork>> {
        let mut done: BTreeMap<SpaceId, SpaceWork> = BTreeMap::new();
        let mut waiting = match self.only {
            Some(only) => only.to_vec(),
            None => self.spaces.list().await?.into_iter().map(|entry| entry.space).collect(),
        };
        while !waiting.is_empty() {
            let mut more = Vec::new();
            for space in waiting {
                let (work, has_more) = self.attend(&space).await;
                let dreamed = done.get(&space).map_or(0, |before| before.dreamed);
                done.insert(space.clone(), SpaceWork { dreamed: work.dreamed + dreamed, ..work });
                if has_more {
                    more.push(space);
                }
            }
            waiting = more;
        }
        Ok(done.into_values().collect())
    }

    /// Does some steps for a space; also returns whether it has more to do.
    async fn attend(&self, space: &SpaceId) -> (SpaceWork, bool) {
        let name = space.to_string();
        let mut work = SpaceWork { space: name, unread: 0, dreamed: 0, held_by: None, failed: Vec::new() };
        let memory = match self.spaces.open(space).await {
            Ok(memory) => memory,
            Err(error) => {
                work.failed.push(error.to_string());
                return (work, false);
            }
        };
        let mut before = None;
        for _ in 0..STEPS {
            if self.stop.load(Ordering::Relaxed) {
                return (work, false);
            }
            match memory.admin().engine().maintain(self.owner).await {
                Ok(step) => {
                    work.unread = step.value.unread;
                    work.dreamed += step.value.dreamt;
                    work.held_by = step.value.held_by.as_ref().map(ToString::to_string);
                    work.failed = step.gaps.iter().map(ToString::to_string).collect();
                    if work.held_by.is_some() || !step.value.has_more(before) {
                        return (work, false);
                    }
                    before = Some(step.value.unread);
                }
                Err(error) => {
                    work.failed.push(error.to_string());
                    return (work, false);
                }
            }
        }
        (work, true)
    }
}

fn lines(round: &[SpaceWork]) -> String {
    round.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(work: &SpaceWork) -> String {
    let mut parts = vec![format!("{} unread", work.unread)];
    if work.dreamed > 0 {
        parts.push(format!("{} changed by the dream", work.dreamed));
    }
    parts.extend(work.held_by.iter().map(|owner| format!("looked after by {owner}")));
    let failed = if work.failed.is_empty() { String::new() } else { format!(": {}", work.failed.join("; ")) };
    format!("{}  {}{failed}", work.space, parts.join(", "))
}
