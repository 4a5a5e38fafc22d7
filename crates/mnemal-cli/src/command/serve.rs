//! `mnemal serve`.

mod holder;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use mnemal::{Error, SystemClock};
use mnemal_server::auth::local_key;
use mnemal_server::http::{Access, Asking, Done, Doors, Errands, Refused, Server};
#[cfg(unix)]
use mnemal_server::http::{Led, LocalSocket, Pipes};
use mnemal_server::{AuthMode, AuthSettings, ServerSettings};
use tokio::net::TcpListener;

use super::key;
#[cfg(unix)]
use crate::args::Command;
use crate::args::{Global, Serve};
use crate::errand::{Errand, grant};
use crate::output::Output;
use crate::owner::Owner;
use crate::place::Place;
use crate::{config, place};

/// Serves all spaces of the data directory until it is stopped.
pub(super) async fn run(global: &Global, call: &Serve, output: &Output) -> Result<u8> {
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
    let keyring = key::keyring(global)?;
    let is_local = settings.listen.ip().is_loopback();
    let has_key = keyring.list()?.iter().any(|key| key.revoked_at.is_none());
    let local =
        if mode == AuthMode::Auto && is_local { Some(local_key(&place::local_key_file()?)?) } else { None };
    if mode != AuthMode::None && local.is_none() && !has_key {
        output
            .talk("error: there is no key; make one: mnemal -s SPACE key create --name NAME --rights write");
        return Ok(crate::failure::NOT_ALLOWED);
    }
    if mode == AuthMode::None {
        output.talk("warning: everybody on this machine is let in");
    }
    let listen = settings.listen;
    let access = Access { mode, keyring, local };
    let has_socket = settings.unix_socket;
    let spaces = super::spaces(global)?;
    let owner = Owner::new(spaces.clone(), global)?;
    let server = Server::new(spaces, access, settings, Arc::new(SystemClock::default()))?;
    #[cfg(unix)]
    let server = {
        let owner = owner.clone();
        server.with_pipes(Pipes::new(move |said| led(&owner, &said)))
    };
    let server = server.with_errands(Errands::new(move |asking, errand| done(&owner, asking, &errand)));
    let port = TcpListener::bind(listen).await.map_err(|cause| unbound(listen, cause))?;
    let address = port.local_addr().context("the socket has no address")?;
    output.say(&format!("serving http://{address}/v1, MCP at http://{address}/mcp/SPACE"));
    let doors = if has_socket { with_socket(port, global, output)? } else { port.into() };
    server.serve(doors, told_to_end()).await?;
    Ok(0)
}

/// Returns the error of an address that cannot be listened on; for a taken port it says who holds it.
fn unbound(listen: SocketAddr, cause: std::io::Error) -> Error {
    let what = if cause.kind() == std::io::ErrorKind::AddrInUse {
        let holder = holder::named(listen);
        format!("cannot listen on {listen}: the port is taken{holder}; --listen ADDRESS:PORT chooses another")
    } else {
        format!("cannot listen on {listen}")
    };
    Error::new(mnemal::ErrorKind::Unavailable, what).because(cause)
}

/// Adds the socket for other processes of the same user, on systems with such sockets.
fn with_socket(port: TcpListener, global: &Global, output: &Output) -> Result<Doors> {
    let doors = Doors::from(port);
    let Some(data) = Place::find_several(global)?.data else { return Ok(doors) };
    #[cfg(not(unix))]
    let _none = (data, output);
    // If the folder cannot be created, neither can the socket.
    #[cfg(unix)]
    let _made = place::make_private(&data);
    #[cfg(unix)]
    match LocalSocket::bind(&data) {
        Ok(socket) => return Ok(Doors { local: Some(socket), ..doors }),
        Err(error) => {
            output.talk(&format!("warning: {error}; other processes open the spaces beside this one"));
        }
    }
    Ok(doors)
}

/// Runs the command of another process, on a separate thread, because a command may block.
fn done(owner: &Owner, asking: Asking, errand: &[u8]) -> Done {
    let taken = serde_json::from_slice::<Errand>(errand).ok();
    let taken = taken.and_then(|errand| Some((owner.takes(&asking, &errand)?, errand)));
    Box::pin(async move {
        let (spaces, errand) = taken.ok_or(Refused::Other)?;
        let meant = match (super::meant(errand, spaces.clone()), asking) {
            (Ok((mut global, command)), Asking::Holder(holder)) => {
                grant(&holder, &spaces, (&mut global, &command)).await?;
                Ok((global, command))
            }
            (meant, _) => meant,
        };
        let runtime = tokio::runtime::Handle::current();
        let work = move || runtime.block_on(super::errand(meant));
        let told = tokio::task::spawn_blocking(work).await.map_err(|_| Refused::Failed)?;
        serde_json::to_vec(&told).map(Into::into).map_err(|_| Refused::Failed)
    })
}

/// Opens the space that the connection of another process of the same user asks for.
#[cfg(unix)]
fn led(owner: &Owner, said: &[u8]) -> Led {
    let taken = serde_json::from_slice::<Errand>(said).ok();
    let taken = taken.and_then(|errand| Some((owner.takes(&Asking::Neighbour, &errand)?, errand)));
    Box::pin(async move {
        let (spaces, errand) = taken?;
        let (global, command) = super::meant(errand, spaces).ok()?;
        let Command::Mcp(call) = command else { return None };
        let memory = super::open(&global, &Output::keeping(&global)).await.ok()?;
        Some((memory, super::mcp::options(&call)))
    })
}

/// Waits for a termination signal.
async fn told_to_end() {
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
