//! `mnemal hook`: answers one event of a client with one JSON document, within the deadline and always with success.

mod capture;
mod inject;
mod input;
mod journal;
mod mark;
mod offer;
mod reply;
mod settings;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use mnemal::ports::{Clock as _, SystemClock};

use self::input::Input;
use self::reply::Reply;
pub(crate) use self::settings::HookSettings;
use crate::args::{Args, Command, Global, Hook};
use crate::host::{Event, HOSTS, Hooks, Host};
use crate::remote_command::CommandResult;
use crate::{config, delegate, failure, remote};

/// Time limit of a capturing event. Source: own choice; no prompt waits for it.
const CAPTURE: Duration = Duration::from_secs(5);
/// Options that take the next argument as their value.
const VALUED: [&str; 5] = ["-s", "--space", "--db", "--server", "--config"];

/// Whether the program's arguments call `hook`, even if the rest of them is invalid.
pub(crate) fn is_called(arguments: &[OsString]) -> bool {
    let mut arguments = arguments.iter().skip(1);
    while let Some(argument) = arguments.next() {
        if VALUED.iter().any(|option| argument == option) {
            arguments.next();
        } else if !argument.to_string_lossy().starts_with('-') {
            return argument == "hook";
        }
    }
    false
}

/// Answers on stdout, always with exit code 0: the memory must never break its client.
///
/// An internal error gives an empty answer and one line in the log file of the state folder.
pub(crate) fn answer(parsed: Result<Args, clap::Error>) -> ExitCode {
    let clock = SystemClock::default();
    // A panic message would go to stderr; the panic itself is logged below.
    std::panic::set_hook(Box::new(|_| ()));
    let (called, meant, work) = match parsed {
        Ok(Args { global, command: Command::Hook(call) }) => {
            let (called, meant) = (call.event.clone(), meant(&call));
            let known = meant.as_ref().ok().copied();
            (called, known, meant.and_then(|meant| Work::start(global, (meant, call))))
        }
        Err(help) if !help.use_stderr() => {
            // A failure to print help is ignored.
            let _unread = help.print();
            return ExitCode::SUCCESS;
        }
        _ => ("?".to_owned(), None, Err(anyhow!("the arguments are not `hook CLIENT EVENT`"))),
    };
    let (work, told) = match work {
        Ok(work) => {
            let told = work.reply(&clock);
            (Some(work), told)
        }
        Err(error) => (None, Err(error)),
    };
    let reply = told.unwrap_or_else(|error| {
        journal::note(&called, &error, clock.now());
        meant.map_or_else(|| "{}".to_owned(), |meant| Reply::default().json(meant))
    });
    // A client that closed the pipe does not need the answer.
    let _unread = writeln!(std::io::stdout(), "{reply}");
    if let Some(Err(error)) = work.map(|work| work.rest(&clock)) {
        journal::note(&called, &error, clock.now());
    }
    ExitCode::SUCCESS
}

/// A host's hooks, and the event that it calls.
type HookTarget = (&'static Host, &'static Hooks, Event);

/// Finds the host and the event of a call.
fn meant(call: &Hook) -> Result<HookTarget> {
    let known = Host::named(&call.client).and_then(|host| Some((host, host.hooks.as_ref()?)));
    let Some((host, hooks)) = known else {
        let names = HOSTS.iter().filter(|host| host.hooks.is_some()).map(|host| host.name);
        bail!("no client {:?}; there are {}", call.client, names.collect::<Vec<_>>().join(", "));
    };
    let event = hooks.event(&call.event).with_context(|| format!("no event {:?}", call.event))?;
    Ok((host, hooks, event))
}

/// An event that is answered on a separate thread, so that neither a hanging call nor blocking work can delay the client.
///
/// The thread is not joined: when `main` returns, the process ends, and the thread with it. It holds nothing that this could
/// corrupt; events that are not stored yet are stored by the next hook of the same transcript.
struct Work {
    meant: HookTarget,
    /// Time limit of the reply, from the start of the process.
    deadline: Duration,
    /// The reply, and after it the end of what the client need not wait for.
    told: Receiver<Result<String>>,
}

impl Work {
    fn start(global: Global, (meant, call): (HookTarget, Hook)) -> Result<Self> {
        let settings: HookSettings = config::section(&global, "hooks")?;
        let deadline = deadline(&settings, meant);
        let (tell, told) = sync_channel(2);
        let work = move || {
            if let Err(error) = work(global, &settings, (meant, call), &tell) {
                // After the deadline the receiver is gone.
                let _late = tell.send(Err(error));
            }
        };
        drop(std::thread::Builder::new().name("hook".to_owned()).spawn(work).context("cannot start")?);
        Ok(Self { meant, deadline, told })
    }

    fn reply(&self, clock: &SystemClock) -> Result<String> {
        match self.told.recv_timeout(self.deadline.saturating_sub(clock.monotonic())) {
            Ok(done) => done,
            Err(RecvTimeoutError::Timeout) => bail!("no answer within {} ms", self.deadline.as_millis()),
            Err(RecvTimeoutError::Disconnected) => bail!("a panic"),
        }
    }

    /// Waits for words that are stored after the reply.
    fn rest(&self, clock: &SystemClock) -> Result<()> {
        let (_, hooks, event) = self.meant;
        if !hooks.carries_words(event) {
            return Ok(());
        }
        loop {
            match self.told.recv_timeout(CAPTURE.saturating_sub(clock.monotonic())) {
                // A reply that came too late.
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) => bail!("not stored within {} ms", CAPTURE.as_millis()),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }
}

/// Returns the time limit of the reply: below that of the host, so that what is not finished is logged before the host ends the
/// program.
fn deadline(settings: &HookSettings, (_, hooks, event): HookTarget) -> Duration {
    let deadline = Duration::from_millis(settings.deadline_ms);
    let deadline = if event.injects() { deadline } else { deadline.max(CAPTURE) };
    hooks.most(event).map_or(deadline, |most| deadline.min(most))
}

/// Forwards to the server that holds the space, or opens the file.
fn work(
    mut global: Global,
    settings: &HookSettings,
    (meant, call): (HookTarget, Hook),
    tell: &SyncSender<Result<String>>,
) -> Result<()> {
    let text = input::read(std::io::stdin().lock())?;
    if let Some(url) = remote::named(&global) {
        bail!("a hook does not go to the server {url}: {}", remote::NO_HOOKS);
    }
    let input = Input::new(&text, meant)?;
    global.folder.clone_from(&input.folder);
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let said = String::from_utf8(text).ok();
    // If forwarding fails, the event is handled here, with its own error message.
    if let Ok(Some(told)) = delegate::forward(&global, &Command::Hook(call), &arguments, said) {
        if told.code != 0 {
            bail!(told.err);
        }
        let _late = tell.send(Ok(told.out));
        // The reply is ready, but the words of the prompt could not be stored.
        anyhow::ensure!(told.err.is_empty(), told.err);
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let reply = replied(&global, &input, settings, meant).await;
        let _late = tell.send(reply.map(|reply| reply.json(meant)));
        stored(&global, &input, settings, meant).await
    })
}

/// Answers the event of a client for another process.
pub(crate) async fn run_remote(global: &Global, call: &Hook, stdin: &[u8]) -> CommandResult {
    match answered(global, call, stdin).await {
        Ok(told) => told,
        Err(error) => CommandResult { code: 1, out: String::new(), err: failure::chain(&error) },
    }
}

/// Returns the reply, and the reason why the words of the prompt could not be stored.
async fn answered(global: &Global, call: &Hook, stdin: &[u8]) -> Result<CommandResult> {
    let meant = meant(call)?;
    let settings: HookSettings = config::section(global, "hooks")?;
    let input = Input::new(stdin, meant)?;
    let reply = replied(global, &input, &settings, meant).await;
    let stored = stored(global, &input, &settings, meant).await;
    let out = reply?.json(meant);
    let err = stored.err().map_or_else(String::new, |error| failure::chain(&error));
    Ok(CommandResult { code: 0, out, err })
}

async fn replied(
    global: &Global,
    input: &Input,
    settings: &HookSettings,
    meant: HookTarget,
) -> Result<Reply> {
    match meant.2 {
        Event::SessionStart if settings.recall => inject::at_start(global, input, settings, meant.1).await,
        Event::UserPromptSubmit if settings.recall => inject::at_prompt(global, input, settings).await,
        Event::SessionStart | Event::UserPromptSubmit => Ok(Reply::default()),
        _ => capture::run(global, input, settings, meant).await.map(|()| Reply::default()),
    }
}

/// Stores the words of a prompt whose event has been answered, where no transcript has them.
async fn stored(global: &Global, input: &Input, settings: &HookSettings, meant: HookTarget) -> Result<()> {
    if !meant.1.carries_words(meant.2) {
        return Ok(());
    }
    capture::run(global, input, settings, meant).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_waits_longer_than_a_hook_works() {
        let settings = HookSettings::default();
        for host in &HOSTS {
            let Some(hooks) = &host.hooks else { continue };
            for (name, event) in hooks.events {
                let rest = if hooks.carries_words(*event) { CAPTURE } else { Duration::ZERO };
                let works = deadline(&settings, (host, hooks, *event)).max(rest);
                let waits = Duration::from_secs(hooks.patience(*event).into());
                assert!(works + Duration::from_secs(1) <= waits, "{} {name}", host.name);
            }
        }
    }

    #[test]
    fn a_hook_is_known_whatever_stands_around_it() {
        let called = |line: &str| is_called(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in [
            "mnemal hook",
            "mnemal hook claude-code",
            "mnemal --db x.db hook claude-code stop --wrong",
            "mnemal -s work --json hook claude-code nonsense",
            "mnemal --space=work hook",
            "mnemal --server http://localhost:14767 hook",
        ] {
            assert!(called(line), "{line}");
        }
        for line in ["mnemal", "mnemal recall hook", "mnemal --space hook recall x", "mnemal -s hook"] {
            assert!(!called(line), "{line}");
        }
    }
}
