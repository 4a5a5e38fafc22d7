//! The HTTP API without a socket: for modules of other languages that bring the engine into their own process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, header};
use mnemal::ports::SystemClock;
use mnemal::{Engine, Settings, Spaces};
use mnemal_core::{Error, Result, SpaceId};

use crate::auth::Keyring;
use crate::http::{Access, Server};
use crate::settings::{AuthMode, ServerSettings};

/// The space of a folder when none is named. Source: own choice, that of the command line outside of projects.
const DEFAULT: &str = "default";
/// The space in memory when none is named. Source: that of `Memory::in_memory`.
const MEMORY: &str = "memory";
/// Host of a request that comes over no network.
const HOST: &str = "localhost";

/// Where the memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In this process, as long as it is open.
    Memory,
    /// In one file, which is one space and is created if it does not exist.
    File(PathBuf),
    /// In the data directory of an installation, with all its spaces.
    Folder(PathBuf),
}

impl Location {
    /// Returns the place of a path: a folder if there is one, else a file; in memory without a path.
    pub fn of(path: Option<&Path>) -> Self {
        match path {
            None => Self::Memory,
            Some(path) if path.is_dir() => Self::Folder(path.to_owned()),
            Some(path) => Self::File(path.to_owned()),
        }
    }

    /// Returns the name of the space that is meant when none is named.
    fn name(&self) -> Result<&str> {
        match self {
            Self::Memory => Ok(MEMORY),
            Self::Folder(_) => Ok(DEFAULT),
            Self::File(path) => {
                let stem = path.file_stem().and_then(|stem| stem.to_str());
                stem.ok_or_else(|| Error::invalid("a space needs a file name in UTF-8"))
            }
        }
    }
}

/// One request, as a client of the HTTP API sends it.
#[derive(Clone, Debug, Default)]
pub struct Question<'q> {
    /// The method.
    pub method: &'q str,
    /// The path and the query, encoded.
    pub target: &'q str,
    /// Headers, each a name and a value.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiReply {
    /// The status.
    pub status: u16,
    /// The whole body; a problem document where the status is 400 or above.
    pub body: Bytes,
}

/// The engine in this process, behind the operations of the HTTP API; its caller has every right, and there are no keys.
#[derive(Clone, Debug)]
pub struct Embedded {
    server: Server,
    space: SpaceId,
}

impl Embedded {
    /// Opens a memory. `space` names the space that is meant, else it is the stem of the file, or `default` in a folder;
    /// `settings` is a JSON object with the sections of the settings, or empty.
    ///
    /// # Errors
    /// `Invalid` for settings that are unknown or out of range, a name that no space can have, or a file of another format;
    /// `Unsupported` for a file of a newer version, `Corrupt` for a damaged one, `Unavailable` when it cannot be opened.
    pub async fn open(location: &Location, space: Option<&str>, settings: &str) -> Result<Self> {
        let space = SpaceId::new(match space {
            Some(space) => space,
            None => location.name()?,
        })?;
        let template = Engine::builder().with_settings(read(settings)?);
        let spaces = match location {
            Location::Memory => Spaces::of_engine(template.in_memory()?, space.clone())?,
            Location::File(path) => Spaces::of_engine(template.open(path).await?, space.clone())?,
            Location::Folder(path) => Spaces::new(path, template)?,
        };
        let _opened = spaces.open_or_create(&space).await?;
        let settings = ServerSettings {
            mcp: false,
            unix_socket: false,
            // One process asks as often as it likes.
            rate_limit_rps: u32::MAX,
            rate_limit_burst: u32::MAX,
            is_embedded: true,
            ..ServerSettings::default()
        };
        // Nobody else asks: no key is read or written.
        let access = Access { mode: AuthMode::None, keyring: Keyring::new(PathBuf::new()), local: None };
        let server = Server::new(spaces, access, settings, Arc::new(SystemClock::default()))?;
        Ok(Self { server, space })
    }

    /// Returns the space that is meant.
    pub fn space(&self) -> &SpaceId {
        &self.space
    }

    /// Answers a request with what the HTTP API answers.
    ///
    /// A dropped future does not interrupt what changes something.
    ///
    /// # Errors
    /// `Invalid` for a method, a target or a header that HTTP does not have; everything else is a problem document.
    pub async fn answer(&self, question: Question<'_>) -> Result<ApiReply> {
        let mut request =
            Request::builder().method(question.method).uri(question.target).header(header::HOST, HOST);
        for (name, value) in &question.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(question.body)));
        let request = request.map_err(|cause| Error::invalid("this is no request").because(cause))?;
        let (head, body) = self.server.answer(request).await.into_parts();
        let body = body.collect().await;
        let body = body.map_err(|cause| Error::internal("the answer broke off").because(cause))?;
        Ok(ApiReply { status: head.status.as_u16(), body: body.to_bytes() })
    }

    /// Does the upkeep until `until` is ready; then finishes the work in progress and closes the files.
    ///
    /// # Errors
    /// `Unavailable` when work did not finish in time, or a file could not be closed; what was acknowledged is safe nevertheless.
    pub async fn attend(&self, until: impl Future<Output = ()> + Send) -> Result<()> {
        self.server.attend(until).await
    }
}

/// Reads settings.
fn read(settings: &str) -> Result<Settings> {
    if settings.is_empty() {
        return Ok(Settings::default());
    }
    let mut text = serde_json::Deserializer::from_str(settings);
    serde_path_to_error::deserialize(&mut text)
        .map_err(|wrong| Error::invalid(format!("settings: {}: {}", wrong.path(), wrong.inner())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_setting_is_named_by_its_path() {
        for (text, said) in [
            (r#"{"recall": {"limit": "ten"}}"#, "settings: recall.limit: invalid type"),
            (r#"{"recal": {}}"#, "settings: recal: unknown field `recal`"),
            ("[", "settings: .: "),
        ] {
            let what = read(text).unwrap_err().what().to_owned();
            assert!(what.starts_with(said), "{what}");
        }
        assert_eq!(read(r#"{"recall": {"limit": 3}}"#).unwrap().recall.limit, 3);
        assert_eq!(read("").unwrap(), Settings::default());
    }

    #[test]
    fn a_path_without_a_name_is_no_place() {
        assert!(Location::File(PathBuf::from("/")).name().is_err());
        assert_eq!(Location::File(PathBuf::from("a/agent.db")).name().unwrap(), "agent");
        assert_eq!(Location::of(None), Location::Memory);
    }
}
