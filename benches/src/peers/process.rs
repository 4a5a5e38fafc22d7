//! One phase of a peer: a process with a time limit, and its output.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde::de::DeserializeOwned;

use super::{Layout, PeerInput};

/// Longest time of an installation, a build or a round of questions. Source: own choice; a peer must not stop the others.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);
/// Time between two looks at a process.
const PAUSE: Duration = Duration::from_millis(20);
/// Bytes from the end of a process's output that go into an error.
const SAID: usize = 400;

/// A peer's task for one set.
#[derive(Clone, Debug)]
pub(super) struct Work<'a> {
    /// The input.
    pub(super) handed: &'a PeerInput,
    /// How conversations are kept apart.
    pub(super) layout: Layout,
    /// The folder for its store and its output.
    pub(super) place: PathBuf,
    /// Texts that are ranked for a question by a program of another store.
    pub(super) top: usize,
}

impl Work<'_> {
    /// Returns the folder of the store, which the build makes.
    pub(super) fn store(&self) -> PathBuf {
        self.place.join("store")
    }
}

/// How a peer is started.
#[derive(Clone, Debug)]
pub struct Program {
    start: PathBuf,
    arguments: Vec<PathBuf>,
    /// The home folder that the process sees, so that it leaves nothing in that of the user.
    home: Option<PathBuf>,
}

impl Program {
    /// Returns this very program, which is mnemal as a peer.
    pub(super) fn own() -> Result<Self> {
        Ok(Self { start: std::env::current_exe()?, arguments: vec!["--be".into()], home: None })
    }

    /// Returns a program of Python that writes no byte code beside its source.
    pub(super) fn python(python: PathBuf, script: PathBuf, home: PathBuf) -> Self {
        Self { start: python, arguments: vec!["-B".into(), script], home: Some(home) }
    }

    /// Runs one phase and reads its report.
    ///
    /// # Errors
    /// A process that cannot be started, fails, takes too long, or writes down nothing that can be read;
    /// the error ends with what the process said last.
    pub(super) fn run<T: DeserializeOwned>(&self, phase: &str, work: &Work<'_>) -> Result<T> {
        let out = work.place.join(format!("{phase}.json"));
        let mut command = Command::new(&self.start);
        command.args(&self.arguments).arg(phase).arg(&work.handed.folder).arg(work.store());
        command.arg(work.layout.name()).arg(&out).env("PEER_TOP", work.top.to_string());
        if let Some(home) = &self.home {
            std::fs::create_dir_all(home)?;
            command.env("HOME", home).env_remove("XDG_CACHE_HOME").env_remove("XDG_DATA_HOME");
        }
        finish(&mut command, &work.place.join(format!("{phase}.said"))).with_context(|| phase.to_owned())?;
        let text = std::fs::read(&out).with_context(|| format!("{phase} wrote nothing"))?;
        serde_json::from_slice(&text).with_context(|| format!("{phase} wrote something else"))
    }
}

/// Runs a command to its end; its output goes to a file.
///
/// # Errors
/// As [`Program::run`].
pub(super) fn finish(command: &mut Command, said: &Path) -> Result<()> {
    let file = std::fs::File::create(said).with_context(|| format!("cannot write {}", said.display()))?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
    let Some(status) = wait(&mut child)? else { bail!("stopped after {} minutes", PATIENCE.as_secs() / 60) };
    let text = String::from_utf8_lossy(&std::fs::read(said)?).trim_end().to_owned();
    let end = text.split_at(text.ceil_char_boundary(text.len().saturating_sub(SAID))).1;
    ensure!(status.success(), "{status}: {end}");
    Ok(())
}

/// Waits for a process; one that takes too long is ended, and `None` comes back.
fn wait(child: &mut Child) -> Result<Option<ExitStatus>> {
    let started = now();
    while started.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        #[expect(clippy::disallowed_methods, reason = "a supervisor waits for its process")]
        std::thread::sleep(PAUSE);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

#[expect(clippy::disallowed_methods, reason = "a bench measures how long it takes")]
fn now() -> Instant {
    Instant::now()
}

/// Returns the sizes of all files below a folder, added up.
///
/// # Errors
/// A folder that cannot be read.
pub(super) fn disk_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let kind = entry.metadata()?;
        bytes += if kind.is_dir() { disk_bytes(&entry.path())? } else { kind.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_fails_is_told_with_its_last_words() {
        let folder = tempfile::tempdir().unwrap();
        let said = folder.path().join("said");
        let mut command = Command::new("ls");
        command.arg(folder.path().join("absent"));
        let error = finish(&mut command, &said).unwrap_err().to_string();
        assert!(error.contains("exit status") && error.contains("absent"), "{error}");
        assert!(finish(Command::new("ls").arg(folder.path()), &said).is_ok());
        let error = finish(&mut Command::new("no-such-program"), &said).unwrap_err().to_string();
        assert!(error.contains("cannot start no-such-program"), "{error}");
    }

    #[test]
    fn files_count_in_every_depth() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        std::fs::write(folder.path().join("a"), "12345").unwrap();
        std::fs::write(folder.path().join("inner/b"), "678").unwrap();
        assert_eq!(disk_bytes(folder.path()).unwrap(), 8);
    }
}
