//! `mnemal ui`.

use std::process::{Command, Stdio};

use anyhow::Result;
use mnemal::{Error, ErrorKind};
use mnemal_server::ServerSettings;

use super::{health, serve};
use crate::args::{Global, Serve, Ui};
use crate::output::Output;
use crate::{config, remote};

/// Opens the web UI of the named server, else of that of the settings; when the latter does not run, serves it until it is
/// stopped.
pub(super) async fn run(global: &Global, call: &Ui, output: &Output) -> Result<u8> {
    if !cfg!(feature = "ui") {
        let what = "this build has no web UI; one with the feature `ui` has it";
        return Err(Error::new(ErrorKind::Unsupported, what).into());
    }
    if let Some(url) = remote::named(global) {
        return show(&url, &remote::login_code(&url)?, call, output).map(|()| 0);
    }
    let settings: ServerSettings = config::section(global, "server")?;
    let url = format!("http://{}", health::reachable(settings.listen));
    match remote::login_code(&url) {
        Ok(code) => show(&url, &code, call, output).map(|()| 0),
        Err(error) if remote::may_come(&error) => {
            let server = Serve { listen: None, no_auth: false };
            let ready = |server: &mnemal_server::http::Server, address: std::net::SocketAddr| {
                let url = format!("http://{}", health::reachable(address));
                show(&url, &server.login_code()?, call, output)
            };
            serve::run_then(global, &server, output, &ready).await
        }
        Err(error) => Err(error),
    }
}

/// Prints the link, and opens it in the browser unless it is only to be printed.
fn show(url: &str, code: &str, call: &Ui, output: &Output) -> Result<()> {
    let link = format!("{}/ui/#code={code}", url.trim_end_matches('/'));
    if call.print {
        return output.print(&link);
    }
    // A program that opens links may itself find no browser, and says so too late.
    output.talk(if open(&link) {
        "opening the web UI; if no browser comes, open this link within a minute:"
    } else {
        "no browser could be opened; open this link within a minute:"
    });
    output.print(&link)
}

/// Opens a link in the browser of the person; returns whether there is a program that does it.
fn open(link: &str) -> bool {
    let mut opener = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut opener = Command::new("rundll32");
        opener.arg("url.dll,FileProtocolHandler");
        opener
    } else {
        Command::new("xdg-open")
    };
    let quiet = opener.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().is_ok()
}
