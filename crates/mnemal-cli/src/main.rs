#![doc = include_str!("../README.md")]

mod alias;
mod args;
mod command;
mod config;
mod confirm;
#[cfg(test)]
mod coverage;
mod delegate;
mod encryption;
mod failure;
mod host;
mod http;
mod nested;
mod output;
mod paths;
mod project;
mod remote;
mod remote_command;
mod runtime;
mod setting_list;
#[cfg(unix)]
mod stdio_proxy;
mod storage;
mod time;
mod wire;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use crate::args::Args;
use crate::output::Output;

/// Assembling a context makes some ten thousand small allocations; the system's allocator took a fifth of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let [_, word, kind] = arguments.as_slice()
        && word == mnemal::events::GUARDED
    {
        return ExitCode::from(u8::from(mnemal::events::serve_guarded(&kind.to_string_lossy()).is_err()));
    }
    let parsed =
        args::command().try_get_matches_from(&arguments).and_then(|matches| Args::from_arg_matches(&matches));
    if command::hook::is_called(&arguments) {
        return command::hook::answer(parsed);
    }
    let args = match parsed {
        Ok(args) => args,
        Err(help) => {
            let code = if help.use_stderr() { failure::USAGE } else { 0 };
            // A failure to print help is ignored.
            let _unread = help.print();
            return ExitCode::from(code);
        }
    };
    let output = Output::new(&args.global);
    if let Some(code) = remote::through(&args.global, &args.command, &arguments, &output) {
        return ExitCode::from(code);
    }
    if let Some(code) = delegate::through(&args.global, &args.command, &arguments, &output) {
        return ExitCode::from(code);
    }
    log_to_stderr(args.global.verbose);
    let done = match runtime::of(&args.command) {
        Ok(runtime) => {
            let done = runtime.block_on(command::run(args, &output));
            // A thread that waits for input must not keep a finished program alive.
            runtime.shutdown_background();
            done
        }
        Err(cause) => Err(anyhow::Error::new(cause).context("cannot start")),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => ExitCode::from(failure::report(&error, &output)),
    }
}

/// Logs go to stderr: warnings by default, more with `-v`. Content is never logged.
fn log_to_stderr(verbose: u8) {
    let level = match verbose {
        0 => tracing_subscriber::filter::LevelFilter::ERROR,
        1 => tracing_subscriber::filter::LevelFilter::INFO,
        _ => tracing_subscriber::filter::LevelFilter::DEBUG,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).init();
}
