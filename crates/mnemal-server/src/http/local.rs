//! The socket in the data directory, for other processes of the same user.
//!
//! Who can open it can open the files of the spaces as well, so its requests need no key. Beside the routes of the API it
//! answers errands: what a program that would open a space itself asks the server to do in its place, so that a space that
//! is served is open once.

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use bytes::Bytes;
use hyper::header::HeaderName;
use mnemal_core::{Error, ErrorKind, Result, SpaceId};

use crate::http::host::{Host, Neighbour};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Label;
use crate::http::{body, edge};

/// The socket's name in the data directory.
pub const SOCKET: &str = "server.sock";
/// Where errands are asked.
pub const ERRANDS: &str = "/local/errands";
/// Names the space of an errand, so that it is tended and those who watch it are told.
pub const SPACE: HeaderName = HeaderName::from_static("x-mnemal-space");

/// What comes of an errand; `None` when the program that serves does not do it.
pub type Done = Pin<Box<dyn Future<Output = Option<Bytes>> + Send>>;

/// What the program that serves does for others of the same user: takes the text of an errand and answers it.
#[derive(Clone)]
pub struct Errands(Arc<dyn Fn(Bytes) -> Done + Send + Sync>);

impl Errands {
    /// Takes what does them. An errand that was begun is finished, also when whoever asked has gone.
    pub fn new(done: impl Fn(Bytes) -> Done + Send + Sync + 'static) -> Self {
        Self(Arc::new(done))
    }
}

impl fmt::Debug for Errands {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Errands")
    }
}

/// The socket, which lies in the data directory as long as this lives.
#[cfg(unix)]
#[derive(Debug)]
pub struct LocalSocket {
    listener: tokio::net::UnixListener,
    path: PathBuf,
    owner: u32,
}

#[cfg(unix)]
impl LocalSocket {
    /// Makes the socket, readable and writable by its owner alone; one that a server left behind is replaced.
    ///
    /// # Errors
    /// `Conflict` when another server answers there, `Unavailable` when it cannot be made: the path of a socket is short on
    /// most systems, some hundred bytes.
    pub fn bind(data: &Path) -> Result<Self> {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let path = data.join(SOCKET);
        if std::os::unix::net::UnixStream::connect(&path).is_ok() {
            let what = format!("another server holds the spaces of {}", data.display());
            return Err(Error::new(ErrorKind::Conflict, what));
        }
        let failed = |cause: std::io::Error| {
            Error::new(ErrorKind::Unavailable, format!("cannot make the socket {}", path.display()))
                .because(cause)
        };
        match std::fs::remove_file(&path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(failed(cause)),
            _ => {}
        }
        let listener = tokio::net::UnixListener::bind(&path).map_err(failed)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let owner = std::fs::metadata(&path).map_err(failed)?.uid();
        Ok(Self { listener, path, owner })
    }

    /// Waits for a process of the same user; others are let go.
    pub(crate) async fn accept(&self) -> std::io::Result<tokio::net::UnixStream> {
        loop {
            let (stream, _from) = self.listener.accept().await?;
            if stream.peer_cred()?.uid() == self.owner {
                return Ok(stream);
            }
        }
    }
}

#[cfg(unix)]
impl Drop for LocalSocket {
    fn drop(&mut self) {
        // The next server replaces what is left.
        let _left = std::fs::remove_file(&self.path);
    }
}

/// Mounts the errands.
pub(super) fn router(host: &Arc<Host>, errands: Errands) -> Router {
    let host = Arc::clone(host);
    let answer = move |request: Request| {
        let (host, errands) = (Arc::clone(&host), errands.clone());
        async move {
            let mut response = answer(host, errands, request).await.into_response();
            response.extensions_mut().insert(Label(ERRANDS));
            response
        }
    };
    Router::new().route(ERRANDS, post(answer))
}

async fn answer(
    host: Arc<Host>,
    errands: Errands,
    request: Request,
) -> std::result::Result<Response, Problem> {
    if request.extensions().get::<Neighbour>().is_none() {
        return Err(Problem::not_found("no such route; see /openapi.json"));
    }
    let slot = edge::slot(&host).await?;
    let space = space(request.headers());
    let errand = body::whole(request).await?;
    let work = async move {
        let done = (errands.0)(errand).await;
        if let Some(space) = space
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
    let done = tokio::spawn(work).await;
    match done {
        Ok(Some(answer)) => Ok(Reply::text("application/json; charset=utf-8", answer).into_response()),
        Ok(None) => Err(Problem::new("conflict", "this server does not do that errand")),
        Err(_) => Err(Problem::new("internal", "the errand failed inside; the log of the server says why")),
    }
}

fn space(headers: &HeaderMap) -> Option<SpaceId> {
    SpaceId::new(headers.get(SPACE)?.to_str().ok()?).ok()
}
