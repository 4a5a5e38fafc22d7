//! Remote commands: command lines that this server runs for other processes, with its open spaces.
//!
//! A process of the same user that would open a space itself sends its command through the socket in the data directory, so that
//! a served space is opened only once. A program on another machine sends it to the port with a key, and may do what the key
//! allows in its spaces. The content of a command, and the right that it needs, are defined by the serving program.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use bytes::Bytes;
use mnemal_core::SpaceId;

use crate::auth::{Credential, Principal, Right};
use crate::http::call::no_space;
use crate::http::host::{Host, SocketPeer};
use crate::http::mcp::SPACE;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Label;
use crate::http::{body, middleware};

/// The path of remote commands.
pub const REMOTE_COMMANDS: &str = "/commands";

/// The caller of a remote command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A process of the same user, which could open the files itself.
    LocalProcess,
    /// The holder of a key, possibly on another machine.
    Holder(Principal),
}

/// The reason why a command is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It is not meant for this program.
    Other,
    /// It cannot be run remotely, with the reason.
    Wrong(String),
    /// There is no space with this name, or the caller may not access it.
    NoSpace(String),
    /// The caller lacks a right.
    Right(Right),
    /// It stores words of the user, which an agent cannot vouch for.
    AppKey,
    /// It failed internally, and may have been executed.
    Failed,
}

/// The pending result of a command.
pub type CommandFuture = Pin<Box<dyn Future<Output = Result<Bytes, Rejection>> + Send>>;

/// The command runner of the serving program: takes the caller and the command, and returns the result.
#[derive(Clone)]
pub struct RemoteCommands(Arc<dyn Fn(Caller, Bytes) -> CommandFuture + Send + Sync>);

impl RemoteCommands {
    /// Wraps the function that runs commands and rejects those that the caller may not run. A started command is finished, even
    /// if the caller disconnects.
    pub fn new(done: impl Fn(Caller, Bytes) -> CommandFuture + Send + Sync + 'static) -> Self {
        Self(Arc::new(done))
    }
}

impl fmt::Debug for RemoteCommands {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("RemoteCommands")
    }
}

/// Builds the router of remote commands.
pub(super) fn router(host: &Arc<Host>, commands: RemoteCommands) -> Router {
    let most = host.settings.max_body_kb * 1_024;
    let host = Arc::clone(host);
    let answer = move |request: Request| {
        let (host, commands) = (Arc::clone(&host), commands.clone());
        async move {
            let mut response = answer(host, commands, request).await.into_response();
            response.extensions_mut().insert(Label(REMOTE_COMMANDS));
            response
        }
    };
    Router::new().route(REMOTE_COMMANDS, post(answer)).layer(DefaultBodyLimit::max(most))
}

async fn answer(host: Arc<Host>, commands: RemoteCommands, request: Request) -> Result<Response, Problem> {
    let credential = credential(&host, &request)?;
    let caller = caller(&host, credential.as_ref()).await?;
    middleware::is_json(request.headers())?;
    // A process of the same user waits as long as its command would take by itself.
    let limit = matches!(caller, Caller::Holder(_)).then(|| host.settings.timeout());
    // The space then gets upkeep, and its watchers are notified.
    let space = space(request.headers());
    let command = body::whole(request, host.settings.timeout(), host.settings.max_body_kb).await?;
    let slot = middleware::slot(&host).await?;
    let work = async move {
        let done = (commands.0)(caller, command).await;
        if done.is_ok()
            && let Some(space) = space
            && host.open(&space).await.is_ok()
        {
            host.tell_written(&space);
        }
        drop(slot);
        done
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "holds its slot, and the server waits for all slots at its end"
    )]
    let work = tokio::spawn(work);
    let done = match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.map_err(|_| middleware::late())?,
        None => work.await,
    };
    match done.unwrap_or(Err(Rejection::Failed)) {
        Ok(answer) => Ok(Reply::text("application/json; charset=utf-8", answer).into_response()),
        Err(refused) => Err(refused.into()),
    }
}

/// Returns what the caller shows; `None` for a process of the same user.
fn credential(host: &Host, request: &Request) -> Result<Option<Credential>, Problem> {
    let headers = request.headers();
    if request.extensions().get::<SocketPeer>().is_some() && !headers.contains_key(header::AUTHORIZATION) {
        return Ok(None);
    }
    host.credential(headers, request.extensions()).map(Some)
}

/// Returns the caller, within the rate limit of its key.
async fn caller(host: &Host, credential: Option<&Credential>) -> Result<Caller, Problem> {
    let Some(credential) = credential else { return Ok(Caller::LocalProcess) };
    let principal = host.principal_of(credential).await?;
    middleware::at_its_rate(host, &principal)?;
    Ok(Caller::Holder(principal))
}

fn space(headers: &HeaderMap) -> Option<SpaceId> {
    SpaceId::new(headers.get(SPACE)?.to_str().ok()?).ok()
}

impl From<Rejection> for Problem {
    fn from(refused: Rejection) -> Self {
        match refused {
            Rejection::Other => Self::new("conflict", "this server does not run that command"),
            Rejection::Wrong(why) => Self::invalid(why),
            Rejection::NoSpace(name) => no_space(&name),
            Rejection::Right(right) => middleware::lacks(right),
            Rejection::AppKey => Self::new("app_key_needed", "the key is an agent's"),
            Rejection::Failed => {
                Self::new("internal", "the command failed inside; the log of the server says why")
            }
        }
    }
}
