//! The Unix socket in the data directory, for other processes of the same user.
//!
//! A process that can open it can open the files of the spaces too, so its requests need no key.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use mnemal_core::{Error, ErrorKind, Result};
use tokio::net::{UnixListener, UnixStream};

/// The socket's name in the data directory.
pub const SOCKET: &str = "server.sock";

/// The socket, which exists in the data directory until this is dropped.
#[derive(Debug)]
pub struct LocalSocket {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
}

impl LocalSocket {
    /// Creates the socket, accessible by its owner only; a stale one is replaced.
    ///
    /// # Errors
    /// `Conflict` when another server answers there, `Unavailable` when it cannot be created: the path of a socket is limited to
    /// some hundred bytes on most systems.
    pub fn bind(data: &Path) -> Result<Self> {
        let path = data.join(SOCKET);
        if std::os::unix::net::UnixStream::connect(&path).is_ok() {
            let what = format!("another server holds the spaces of {}", data.display());
            return Err(Error::new(ErrorKind::Conflict, what));
        }
        let failed = |cause: io::Error| {
            Error::new(ErrorKind::Unavailable, format!("cannot make the socket {}", path.display()))
                .because(cause)
        };
        match std::fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(failed(cause)),
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(failed)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let owner = std::fs::metadata(&path).map_err(failed)?.uid();
        Ok(Self { listener, path, owner })
    }

    /// Accepts a connection of a process of the same user; others are closed.
    pub(crate) async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _from) = self.listener.accept().await?;
            if stream.peer_cred()?.uid() == self.owner {
                return Ok(stream);
            }
        }
    }
}

impl Drop for LocalSocket {
    fn drop(&mut self) {
        // The next server replaces a leftover file.
        let _left = std::fs::remove_file(&self.path);
    }
}
