//! `mnemal serve`.

mod holder;

use std::pin::{Pin, pin};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use mnemal::Error;
use mnemal::ports::SystemClock;
use mnemal_server::auth::local_key;
use mnemal_server::http::{Access, Caller, CommandFuture, Listeners, Rejection, RemoteCommands, Server};
#[cfg(unix)]
use mnemal_server::http::{LocalSocket, ProxyTarget, ProxyTargets};
use mnemal_server::{AuthMode, AuthSettings, ServerSettings};
use serde_json::Value;
use tokio::net::TcpListener;

use super::key;
#[cfg(unix)]
use crate::args::Command;
use crate::args::{Global, Serve};
use crate::delegate::CommandHost;
use crate::output::Output;
use crate::paths::SpacePaths;
use crate::remote_command::{RemoteCommand, grant};
use crate::{config, paths, setting_list};

/// What is done when the server listens, and beside serving.
pub(super) type WhenReady<'a> = &'a (dyn Fn(&Server) -> Result<Beside> + Sync);

/// Work beside serving; it is dropped when the server ends.
pub(super) type Beside = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves all spaces of the data directory until it is stopped.
pub(super) async fn run(global: &Global, call: &Serve, output: &Output) -> Result<u8> {
    run_then(global, call, output, &|_server| Ok(Box::pin(std::future::ready(())))).await
}

/// As [`run`], and does something when the server listens.
pub(super) async fn run_then(
    global: &Global,
    call: &Serve,
    output: &Output,
    ready: WhenReady<'_>,
) -> Result<u8> {
    if !config::is_on(global)? {
        return Err(
            Error::invalid("memory is switched off by `memory.enabled`: there is nothing to serve").into()
        );
    }
    let mut settings: ServerSettings = config::section(global, "server")?;
    settings.listen = call.listen.unwrap_or(settings.listen);
    settings.compat = config::section(global, "compat")?;
    let auth: AuthSettings = config::section(global, "auth")?;
    let mode = if call.no_auth { AuthMode::None } else { auth.mode };
    let keyring = key::keyring(global).await?;
    let is_local = settings.listen.ip().is_loopback();
    let has_key = keyring.list().await?.iter().any(|key| key.revoked_at.is_none());
    let local =
        if mode == AuthMode::Auto && is_local { Some(local_key(&paths::local_key_file()?)?) } else { None };
    if mode != AuthMode::None && local.is_none() && !has_key {
        output
            .talk("error: there is no key; make one: mnemal -s SPACE key create --name NAME --rights write");
        return Ok(crate::failure::NOT_ALLOWED);
    }
    if mode == AuthMode::None {
        output.talk("warning: everybody on this machine is let in");
    }
    let port = TcpListener::bind(settings.listen).await.map_err(|cause| unbound(settings.listen, cause))?;
    let address = port.local_addr().context("the socket has no address")?;
    // With port 0 the system chooses one.
    settings.listen = address;
    let access = Access { mode, keyring, local };
    let has_socket = settings.unix_socket;
    let spaces = super::spaces(global).await?;
    let host = CommandHost::new(spaces.clone(), global)?;
    let list = setting_list::list(global, &options(call, &settings))?;
    let server = Server::new(spaces, access, settings, Arc::new(SystemClock::default()))?;
    let server = server.with_setting_list(list);
    #[cfg(unix)]
    let server = {
        let host = host.clone();
        server.with_pipes(ProxyTargets::new(move |said| open_target(&host, &said)))
    };
    let server = server.with_remote_commands(RemoteCommands::new(move |caller, request| {
        run_command(&host, caller, &request)
    }));
    output.say(&format!("serving http://{address}/v1, MCP at http://{address}/mcp/SPACE"));
    let listeners = if has_socket { with_socket(port, global, output)? } else { port.into() };
    let beside = ready(&server)?;
    let mut work = pin!(server.serve(listeners, told_to_end()));
    tokio::select! {
        ended = &mut work => ended?,
        () = beside => work.await?,
    }
    Ok(0)
}

/// Returns the settings that options of the command replace: the name, the option, the value.
fn options(call: &Serve, settings: &ServerSettings) -> Vec<(&'static str, &'static str, Value)> {
    let listen =
        call.listen.map(|_address| ("server.listen", "--listen", settings.listen.to_string().into()));
    let open = call.no_auth.then(|| ("auth.mode", "--no-auth", "none".into()));
    listen.into_iter().chain(open).collect()
}

/// Returns the error of an address that cannot be listened on; for a taken port it says who holds it.
fn unbound(listen: std::net::SocketAddr, cause: std::io::Error) -> Error {
    let what = if cause.kind() == std::io::ErrorKind::AddrInUse {
        let holder = holder::named(listen);
        format!("cannot listen on {listen}: the port is taken{holder}; --listen ADDRESS:PORT chooses another")
    } else {
        format!("cannot listen on {listen}")
    };
    Error::new(mnemal::ErrorKind::Unavailable, what).because(cause)
}

/// Adds the socket for other processes of the same user, on systems with such sockets.
fn with_socket(port: TcpListener, global: &Global, output: &Output) -> Result<Listeners> {
    let listeners = Listeners::from(port);
    let Some(data) = SpacePaths::find_several(global)?.data else { return Ok(listeners) };
    #[cfg(not(unix))]
    let _none = (data, output);
    // If the folder cannot be created, neither can the socket.
    #[cfg(unix)]
    let _made = paths::make_private(&data);
    #[cfg(unix)]
    match LocalSocket::bind(&data) {
        Ok(socket) => return Ok(Listeners { local: Some(socket), ..listeners }),
        Err(error) => {
            output.talk(&format!("warning: {error}; other processes open the spaces beside this one"));
        }
    }
    Ok(listeners)
}

/// Runs the command of another process, on a separate thread, because a command may block.
fn run_command(host: &CommandHost, caller: Caller, request: &[u8]) -> CommandFuture {
    let taken = serde_json::from_slice::<RemoteCommand>(request).ok();
    let taken = taken.and_then(|request| Some((host.allowed_spaces(&caller, &request)?, request)));
    Box::pin(async move {
        let (spaces, request) = taken.ok_or(Rejection::Other)?;
        let meant = match (super::parse_remote(request, spaces.clone()), caller) {
            (Ok((mut global, command)), Caller::Holder(holder)) => {
                grant(&holder, &spaces, (&mut global, &command)).await?;
                Ok((global, command))
            }
            (meant, _) => meant,
        };
        let runtime = tokio::runtime::Handle::current();
        let work = move || runtime.block_on(super::run_remote(meant));
        let told = tokio::task::spawn_blocking(work).await.map_err(|_| Rejection::Failed)?;
        serde_json::to_vec(&told).map(Into::into).map_err(|_| Rejection::Failed)
    })
}

/// Opens the space that the connection of another process of the same user asks for.
#[cfg(unix)]
fn open_target(host: &CommandHost, said: &[u8]) -> ProxyTarget {
    let taken = serde_json::from_slice::<RemoteCommand>(said).ok();
    let taken =
        taken.and_then(|request| Some((host.allowed_spaces(&Caller::LocalProcess, &request)?, request)));
    Box::pin(async move {
        let (spaces, request) = taken?;
        let (global, command) = super::parse_remote(request, spaces).ok()?;
        let Command::Mcp(call) = command else { return None };
        let memory = super::open(&global, &Output::keeping(&global)).await.ok()?;
        Some((memory, super::mcp::options(&call)))
    })
}

/// Waits for a termination signal.
pub(super) async fn told_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        if let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Without signals of the system, the keyboard interrupt still works.
    let _ended = tokio::signal::ctrl_c().await;
}
