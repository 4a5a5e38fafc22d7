//! `mnemal hook`: answers one event of a client with one JSON document, within the deadline and always with success.

mod capture;
mod event;
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
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use mnemal::{Clock as _, SystemClock};

pub(crate) use self::event::Event;
use self::input::Input;
use self::reply::Reply;
pub(crate) use self::settings::HookSettings;
use crate::args::{Args, Command, Global, Hook};
use crate::errand::Told;
use crate::{config, failure, owner, remote};

/// The only supported client so far.
pub(crate) const CLIENT: &str = "claude-code";
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
/// An internal error gives `{}` and one line in the log file of the state folder.
pub(crate) fn answer(parsed: Result<Args, clap::Error>) -> ExitCode {
    let clock = SystemClock::default();
    // A panic message would go to stderr; the panic itself is logged below.
    std::panic::set_hook(Box::new(|_| ()));
    let (called, answered) = match parsed {
        Ok(Args { global, command: Command::Hook(call) }) => {
            (call.event.clone(), in_time(global, call, &clock))
        }
        Err(help) if !help.use_stderr() => {
            // A failure to print help is ignored.
            let _unread = help.print();
            return ExitCode::SUCCESS;
        }
        _ => ("?".to_owned(), Err(anyhow!("the arguments are not `hook CLIENT EVENT`"))),
    };
    let reply = answered.unwrap_or_else(|error| {
        journal::note(&called, &error, clock.now());
        Reply::default().json()
    });
    // A client that closed the pipe does not need the answer.
    let _unread = writeln!(std::io::stdout(), "{reply}");
    ExitCode::SUCCESS
}

/// Works on a separate thread and waits for it until the deadline, so that neither a hanging call nor blocking work can delay the
/// client.
///
/// The thread is not joined: when `main` returns, the process ends, and the thread with it. It holds nothing that this could
/// corrupt; events that are not stored yet are stored by the next hook of the same transcript.
fn in_time(global: Global, call: Hook, clock: &SystemClock) -> Result<String> {
    if call.client != CLIENT {
        bail!("no client {:?}; there is {CLIENT}", call.client);
    }
    let event = Event::from_name(&call.event).with_context(|| format!("no event {:?}", call.event))?;
    let settings: HookSettings = config::section(&global, "hooks")?;
    let deadline = Duration::from_millis(settings.deadline_ms);
    let deadline = if event.injects() { deadline } else { deadline.max(CAPTURE) };
    let (tell, told) = sync_channel(1);
    let work = move || {
        // After the deadline the receiver is gone.
        let _late = tell.send(work(global, &settings, (event, call)));
    };
    drop(std::thread::Builder::new().name("hook".to_owned()).spawn(work).context("cannot start")?);
    match told.recv_timeout(deadline.saturating_sub(clock.monotonic())) {
        Ok(done) => done,
        Err(RecvTimeoutError::Timeout) => bail!("no answer within {} ms", deadline.as_millis()),
        Err(RecvTimeoutError::Disconnected) => bail!("a panic"),
    }
}

/// Forwards to the server that holds the space, or opens the file.
fn work(mut global: Global, settings: &HookSettings, (event, call): (Event, Hook)) -> Result<String> {
    let text = input::read(std::io::stdin().lock())?;
    if let Some(url) = remote::named(&global) {
        bail!("a hook reads transcripts of this machine, and is nothing for the server {url}");
    }
    let input = Input::new(&text)?;
    global.folder.clone_from(&input.folder);
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let said = String::from_utf8(text).ok();
    // If forwarding fails, the event is handled here, with its own error message.
    if let Ok(Some(told)) = owner::asked(&global, &Command::Hook(call), &arguments, said) {
        if told.code == 0 {
            return Ok(told.out);
        }
        bail!(told.err);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(replied(&global, &input, settings, event))?.json())
}

/// Answers the event of a client for another process.
pub(crate) async fn errand(global: &Global, call: &Hook, stdin: &[u8]) -> Told {
    let replied = async {
        let event = Event::from_name(&call.event).with_context(|| format!("no event {:?}", call.event))?;
        let settings: HookSettings = config::section(global, "hooks")?;
        replied(global, &Input::new(stdin)?, &settings, event).await
    };
    match replied.await {
        Ok(reply) => Told { code: 0, out: reply.json(), err: String::new() },
        Err(error) => Told { code: 1, out: String::new(), err: failure::chain(&error) },
    }
}

async fn replied(global: &Global, input: &Input, settings: &HookSettings, event: Event) -> Result<Reply> {
    let name = input.event_name(event);
    match event {
        Event::SessionStart if settings.recall => inject::at_start(global, input, settings, name).await,
        Event::UserPromptSubmit if settings.recall => inject::at_prompt(global, input, settings, name).await,
        Event::SessionStart | Event::UserPromptSubmit => Ok(Reply::default()),
        _ => capture::run(global, input, settings, event).await.map(|()| Reply::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
