//! `mnemal ui`.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use mnemal::ports::{Clock as _, SystemClock};
use mnemal::{Error, ErrorKind};
use mnemal_server::ServerSettings;
use mnemal_server::http::Server;

use super::serve::{self, Beside};
use crate::args::{Global, Serve, Ui};
use crate::delegate::{self, Login};
use crate::output::Output;
use crate::{config, paths, remote};

/// How long the program that opens links may take until the browser has read the page. Source: own choice, a cold start of a
/// browser.
const OPENING: Duration = Duration::from_secs(15);
/// How long the page stays after that program has ended: it hands the page to a browser that runs. Source: own choice.
const HANDOVER: Duration = Duration::from_secs(2);
/// Interval of looks whether that program has ended. Source: own choice; a person does not notice it.
const LOOK: Duration = Duration::from_millis(100);

/// Opens the web UI of the named server, else of the one that holds the spaces; when there is none, serves it until it is
/// stopped.
pub(super) async fn run(global: &Global, call: &Ui, output: &Output) -> Result<u8> {
    if !cfg!(feature = "ui") {
        let what = "this build has no web UI; one with the feature `ui` has it";
        return Err(Error::new(ErrorKind::Unsupported, what).into());
    }
    let Some(login) = running(global)? else {
        let server = Serve { listen: None, no_auth: false };
        let ready = |server: &Server| -> Result<Beside> {
            show(&Login { url: server.url(), code: server.login_code()? }, call, output)
        };
        return serve::run_then(global, &server, output, &ready).await;
    };
    show(&login, call, output)?.await;
    Ok(0)
}

/// Asks the named server for a login, else the one that holds the spaces, else the one of the settings; `None` when there is
/// none.
fn running(global: &Global) -> Result<Option<Login>> {
    if let Some(url) = remote::named(global) {
        return remote::login_code(&url).map(|code| Some(Login { url, code }));
    }
    if let Some(login) = delegate::login(global)? {
        return Ok(Some(login));
    }
    // A server without a socket, or of another user.
    let settings: ServerSettings = config::section(global, "server")?;
    match remote::login_code(&format!("http://{}", mnemal_server::reachable(settings.listen))) {
        Ok(code) => Ok(Some(Login { url: settings.url(), code })),
        Err(error) if remote::may_come(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Prints the link, and opens it in the browser unless it is only to be printed; returns the work until the browser has it.
fn show(login: &Login, call: &Ui, output: &Output) -> Result<Beside> {
    let link = format!("{}/ui/#code={}", login.url.trim_end_matches('/'), login.code);
    // A program that opens links may itself find no browser, and says so too late.
    let opened = if call.print { None } else { open(&link) };
    if !call.print {
        output.talk(if opened.is_some() {
            "opening the web UI; if no browser comes, open this link within a minute:"
        } else {
            "no browser could be opened; open this link within a minute:"
        });
    }
    output.print(&link)?;
    Ok(Box::pin(async move {
        if let Some((opener, page)) = opened {
            read_by_browser(opener).await;
            drop(page);
        }
    }))
}

/// Waits until the browser should have read the page.
#[expect(
    clippy::disallowed_methods,
    reason = "waits for a browser, which tells nobody that it has read a file"
)]
async fn read_by_browser(mut opener: Child) {
    let clock = SystemClock::default();
    let until = clock.monotonic().saturating_add(OPENING);
    while matches!(opener.try_wait(), Ok(None)) {
        if clock.monotonic() >= until {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
    tokio::time::sleep(HANDOVER).await;
}

/// Opens a link in the browser of the person; `None` if there is no program that does it.
///
/// The link logs in, and other users of the machine see the arguments of programs, so the program is given a page that only this
/// user can read, and that leads to the link.
fn open(link: &str) -> Option<(Child, LinkPage)> {
    let page = LinkPage::write(&folder().ok()?, link).ok()?;
    let mut opener = opener();
    let quiet = opener.arg(&page.file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().ok().map(|opener| (opener, page))
}

fn opener() -> Command {
    if cfg!(target_os = "macos") {
        return Command::new("open");
    }
    if cfg!(windows) {
        let mut opener = Command::new("rundll32");
        opener.arg("url.dll,FileProtocolHandler");
        return opener;
    }
    Command::new("xdg-open")
}

/// Returns the folder of the page: the one for files of a running session, else that of the state.
fn folder() -> Result<PathBuf> {
    let runtime = paths::variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    if let Some(folder) = runtime {
        return Ok(folder);
    }
    let folder = paths::state_directory()?;
    paths::make_private(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// A page that leads to a link, in a file that only its owner can read and that lasts until this is dropped.
#[derive(Debug)]
struct LinkPage {
    file: PathBuf,
}

impl LinkPage {
    fn write(folder: &Path, link: &str) -> std::io::Result<Self> {
        let file = folder.join(format!("mnemal-ui-{}.html", std::process::id()));
        // One that an earlier process of this number left.
        let _left = std::fs::remove_file(&file);
        let mut made = private(&file)?;
        let page = Self { file };
        let link = escaped(link);
        writeln!(
            made,
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0;url={link}\"><title>mnemal</title>\
             <p><a href=\"{link}\">mnemal</a></p>"
        )?;
        Ok(page)
    }
}

impl Drop for LinkPage {
    fn drop(&mut self) {
        // Its code is useless after a minute.
        let _left = std::fs::remove_file(&self.file);
    }
}

/// Creates a file that only its owner can read.
fn private(file: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// Returns a text as a value of an HTML attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_leads_to_the_link_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let page = LinkPage::write(folder.path(), "http://127.0.0.1:1/ui/#code=a\"<b&").unwrap();
        let text = std::fs::read_to_string(&page.file).unwrap();
        assert!(text.contains("content=\"0;url=http://127.0.0.1:1/ui/#code=a&quot;&lt;b&amp;\""), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&page.file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let file = page.file.clone();
        assert!(LinkPage::write(folder.path(), "http://127.0.0.1:1").is_ok(), "a leftover is replaced");
        drop(page);
        assert!(!file.exists());
    }
}
