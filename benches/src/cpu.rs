//! Cost of a piece of work: CPU time of all threads, wall time, resident memory.
//!
//! CPU time hardly depends on the machine's load, so targets refer to it.
//! It is read from Linux's `/proc`; elsewhere it is an error, because a time on the wall must not pass for it.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// Ticks of a second in `/proc/PID/stat`. Source: Linux shows 100 on every architecture that it runs on today.
const TICKS: u64 = 100;

/// CPU time and time on the wall of one piece of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// CPU time of all threads of this process.
    pub cpu: Duration,
    /// Time on the wall.
    pub wall: Duration,
}

/// A piece of work that is being measured.
#[derive(Debug)]
pub struct Watch {
    cpu: Duration,
    wall: Instant,
}

impl Watch {
    /// Starts.
    ///
    /// # Errors
    /// None on Linux.
    pub fn start() -> Result<Self> {
        let cpu = process_cpu()?;
        #[expect(clippy::disallowed_methods, reason = "the time of this machine is what is measured")]
        let wall = Instant::now();
        Ok(Self { cpu, wall })
    }

    /// Stops, and returns the consumption since the start, including some 2 µs for the measurement.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn stop(self) -> Result<Cost> {
        let wall = self.wall.elapsed();
        Ok(Cost { cpu: process_cpu()?.saturating_sub(self.cpu), wall })
    }
}

/// Returns the CPU time of this thread, for pieces of work that are too short for [`Watch`].
///
/// # Errors
/// None on Linux.
pub fn thread_cpu() -> Result<Duration> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(now).context("the clock of processor time is before its start")
}

/// Returns the CPU time of the living threads of this process that have a name, which counts up to when each of them
/// last let go of its processor.
///
/// # Errors
/// Where there is no `/proc/self/task`.
pub fn named_cpu(name: &str) -> Result<Duration> {
    NamedThread::all(name)?.iter().map(NamedThread::cpu).sum()
}

/// A thread of this process that was found by its name, to be asked for its CPU time often.
#[derive(Debug)]
pub struct NamedThread(PathBuf);

impl NamedThread {
    /// Returns the living threads with a name.
    ///
    /// # Errors
    /// Where there is no `/proc/self/task`.
    pub fn all(name: &str) -> Result<Vec<Self>> {
        let mut named = Vec::new();
        for task in fs::read_dir("/proc/self/task").context("the time of threads needs Linux's /proc")? {
            let task = task?.path();
            // A thread that has just ended is none of those that are asked for.
            if fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim_end() == name) {
                named.push(Self(task.join("schedstat")));
            }
        }
        Ok(named)
    }

    /// Returns its CPU time up to when it last let go of its processor.
    ///
    /// # Errors
    /// When it has ended.
    pub fn cpu(&self) -> Result<Duration> {
        let spent = fs::read_to_string(&self.0).context("a thread that was watched has ended")?;
        let spent = spent.split(' ').next().and_then(|nanos| nanos.parse().ok());
        Ok(Duration::from_nanos(spent.with_context(|| format!("no time in {}", self.0.display()))?))
    }
}

/// Returns the CPU time of all threads of this process, those that have ended included.
fn process_cpu() -> Result<Duration> {
    // A thread's account is brought up to date when it is scheduled.
    std::thread::yield_now();
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(now).context("the clock of processor time is before its start")
}

/// Returns the CPU time of all children that have ended, in steps of 10 ms.
///
/// # Errors
/// Where there is no `/proc/self/stat`.
pub fn children_cpu() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("processor time needs Linux's /proc")?;
    // The name of the program, which may hold spaces, ends with the last bracket; user and system time of children are
    // fields 16 and 17, counted from the number of the process.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 1_000 / TICKS))
}

/// Returns the resident memory of this process in bytes.
///
/// # Errors
/// Where there is no `/proc/self/status`.
pub fn resident_bytes() -> Result<u64> {
    status("VmRSS:")
}

/// Returns the most memory of this process that was ever resident, in bytes.
///
/// # Errors
/// Where there is no `/proc/self/status`.
pub fn peak_bytes() -> Result<u64> {
    status("VmHWM:")
}

/// Returns the resident memory of this process that is its own and no page of a file, in bytes.
///
/// # Errors
/// Where there is no `/proc/self/status`.
pub fn own_bytes() -> Result<u64> {
    status("RssAnon:")
}

/// Returns how many entries a folder has; those of `/proc/self/fd` are the open files, of `/proc/self/task` the threads.
///
/// # Errors
/// Where there is no such folder.
pub fn entries(folder: &str) -> Result<usize> {
    Ok(fs::read_dir(folder).with_context(|| format!("no {folder}"))?.count())
}

fn status(name: &str) -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("resident memory needs Linux's /proc")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    Ok(kibibytes.with_context(|| format!("no {name} in /proc/self/status"))? * 1_024)
}

/// Returns the value below which this share of the values lies (nearest rank); zero for no values.
pub fn quantile(values: &[Duration], share: f64) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
    let rank = (sorted.len() as f64 * share.clamp(0.0, 1.0)).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values: Vec<Duration> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(quantile(&values, 0.5), Duration::from_millis(50));
        assert_eq!(quantile(&values, 0.99), Duration::from_millis(99));
        assert_eq!(quantile(&values, 1.0), Duration::from_millis(100));
        assert_eq!(quantile(&values[..1], 0.01), Duration::from_millis(100));
        assert_eq!(quantile(&[], 0.5), Duration::ZERO);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn work_costs_processor_time_and_an_idle_process_has_memory() {
        let watch = Watch::start().unwrap();
        let sum = (0..3_000_000_u64).fold(0, |sum, number| std::hint::black_box(sum ^ number));
        let cost = watch.stop().unwrap();
        assert!(std::hint::black_box(sum) < u64::MAX && cost.cpu > Duration::from_micros(100), "{cost:?}");
        assert!(resident_bytes().unwrap() > 100_000);
        assert!((1..peak_bytes().unwrap()).contains(&own_bytes().unwrap()));
        assert!(children_cpu().is_ok());
        assert_eq!(named_cpu("a thread that is not there").unwrap(), Duration::ZERO);
    }
}
