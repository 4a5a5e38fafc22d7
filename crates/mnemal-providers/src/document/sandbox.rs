//! Sandboxed parsing in a child process, which gives up memory, time, files and processes before it sees a byte; a crash
//! affects only the child.

use std::io::{Read as _, Write as _};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use mnemal_core::{Error, ErrorKind, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::wire::ChildAnswer;
use super::{Content, FileKind, MOST_BYTES, Medium, Program, read_there};

/// The hidden argument with which a program calls [`serve`].
pub const GUARDED: &str = "read-guarded";

/// Address-space limit of the child. Source: own choice.
#[cfg(unix)]
const MEMORY: u64 = 512 * 1024 * 1024;
/// CPU-time limit of the child, in seconds. Source: own choice.
#[cfg(unix)]
const PROCESSOR_SECONDS: u64 = 20;
/// Most bytes of an answer. Source: own choice.
const OUTPUT: u64 = 2 * 1024 * 1024;
/// Bytes by which a file may exceed the settings' limit in the child: the parent has counted them.
const INPUT: u64 = 64 * MOST_BYTES;

/// Reads one file from standard input and writes its content to standard output: the child's side.
///
/// Call it first of all, before anything is read or started: its limits on the process are permanent.
///
/// # Errors
/// When the limits cannot be set, or a pipe breaks. An unreadable file is an answer.
pub fn serve(kind: &str) -> std::io::Result<()> {
    #[cfg(unix)]
    give_up()?;
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(INPUT).read_to_end(&mut bytes)?;
    let read = match FileKind::of_ending(kind) {
        Some(kind) => read_there(kind, &bytes),
        None => Err(format!("no kind of file is called {kind}")),
    };
    let answer = serde_json::to_vec(&ChildAnswer::from(read))?;
    let mut out = std::io::stdout().lock();
    out.write_all(&answer)?;
    out.flush()
}

/// Limits this process: no file can be opened, written or dumped, no process started.
#[cfg(unix)]
fn give_up() -> std::io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let most = |current| Rlimit { current: Some(current), maximum: Some(current) };
    setrlimit(Resource::Core, most(0))?;
    setrlimit(Resource::Fsize, most(0))?;
    setrlimit(Resource::Nofile, most(0))?;
    setrlimit(Resource::Cpu, most(PROCESSOR_SECONDS))?;
    // Not every system can limit these two; the deadline and the cap on the answer hold there too. Linux can.
    let limited = [setrlimit(Resource::As, most(MEMORY)), setrlimit(Resource::Nproc, most(0))];
    if cfg!(target_os = "linux") {
        limited.into_iter().collect::<std::result::Result<(), _>>()?;
    }
    Ok(())
}

/// Reads a file in a child, within a time limit; `file` is its bytes.
///
/// # Errors
/// `Invalid` with the reason for a file that cannot be read or that crashed the child; `Unavailable` when the child cannot be
/// started.
pub(super) async fn read(
    program: &Program,
    kind: FileKind,
    name: &str,
    (bytes, time): (&[u8], Duration),
) -> Result<Content> {
    let mut command = command(program);
    // An allocator that reserves a gigabyte of addresses where it begins would give from it whatever the limit that follows.
    command.arg(kind.as_str()).env_clear().env("MIMALLOC_ARENA_RESERVE", "0");
    let (status, output) = run(command, name, (bytes, time)).await?;
    let broken = |what: &str| Error::invalid(format!("the reader of {kind} files {what}"));
    if !status.success() {
        return Err(broken(&format!("came to an end on it: {status}")));
    }
    let answer: ChildAnswer = serde_json::from_slice(&output).map_err(|_| broken("gave no answer"))?;
    std::result::Result::<Content, String>::from(answer).map_err(Error::invalid)
}

/// Describes a picture or transcribes a recording.
///
/// # Errors
/// `Invalid` with the reason when the program fails or writes nothing; `Unavailable` when it cannot be started.
pub(super) async fn describe(
    program: &Program,
    medium: Medium,
    name: &str,
    (bytes, time): (&[u8], Duration),
) -> Result<String> {
    let mut command = command(program);
    command.env("MNEMAL_FILE", name.replace('\0', "_")).env("MNEMAL_MEDIUM", medium.as_str());
    let (status, output) = run(command, name, (bytes, time)).await?;
    if !status.success() {
        return Err(Error::invalid(format!("the program of `ingest.describe` failed: {status}")));
    }
    let text = String::from_utf8(output);
    text.map_err(|_| Error::invalid("the program of `ingest.describe` wrote no UTF-8"))
}

fn command(program: &Program) -> Command {
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Runs a program to its end; it is killed at the time limit or the output limit.
async fn run(
    mut command: Command,
    name: &str,
    (bytes, time): (&[u8], Duration),
) -> Result<(ExitStatus, Vec<u8>)> {
    let failed = |why| Error::new(ErrorKind::Unavailable, format!("cannot have {name} read")).because(why);
    let mut child = command.spawn().map_err(failed)?;
    let done = tokio::time::timeout(time, talk(&mut child, bytes)).await;
    let output = match done {
        Err(_) => Err(Error::invalid(format!("could not be read within {} s", time.as_secs()))),
        Ok(Err(why)) => Err(failed(why)),
        Ok(Ok(output)) if output.len() as u64 > OUTPUT => {
            Err(Error::invalid(format!("holds more than {OUTPUT} bytes of text")))
        }
        Ok(Ok(output)) => Ok(output),
    };
    if output.is_err() {
        // It may have ended by itself meanwhile.
        let _ended = child.start_kill();
    }
    let status = child.wait().await.map_err(failed)?;
    Ok((status, output?))
}

/// Writes the input of a child while reading its output, up to one byte more than the limit.
async fn talk(child: &mut Child, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let give = async {
        if let Some(mut input) = input {
            // A child that has read enough, or has come to an end, closes the pipe: its answer or its end tells more.
            let _closed = input.write_all(bytes).await;
            let _closed = input.shutdown().await;
        }
    };
    let take = async {
        let mut taken = Vec::new();
        match output {
            Some(output) => output.take(OUTPUT + 1).read_to_end(&mut taken).await.map(|_| taken),
            None => Ok(taken),
        }
    };
    let mut give = std::pin::pin!(give);
    let mut take = std::pin::pin!(take);
    tokio::select! {
        taken = &mut take => taken,
        () = &mut give => take.await,
    }
}
