//! The socket in the data directory, for other processes of the same user.
//!
//! Who can open it can open the files of the spaces as well, so its requests need no key.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use mnemal_core::{Error, ErrorKind, Result};
use tokio::net::{UnixListener, UnixStream};

/// The socket's name in the data directory.
pub const SOCKET: &str = "server.sock";

/// The socket, which lies in the data directory as long as this lives.
#[derive(Debug)]
pub struct LocalSocket {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
}

impl LocalSocket {
    /// Makes the socket, readable and writable by its owner alone; one that a server left behind is replaced.
    ///
    /// # Errors
    /// `Conflict` when another server answers there, `Unavailable` when it cannot be made: the path of a socket is short on
    /// most systems, some hundred bytes.
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

    /// Waits for a process of the same user; others are let go.
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
        // The next server replaces what is left.
        let _left = std::fs::remove_file(&self.path);
    }
}
