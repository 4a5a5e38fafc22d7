//! One authenticated request on its way to its handler.

use std::sync::Arc;

use axum::extract::Query;
use bytes::Bytes;
use hyper::Uri;
use jiff::tz::TimeZone;
use mnemal::Memory;
use mnemal_core::{ErrorKind, SpaceId, Timestamp, UserId, Zone};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::auth::{Credential, KeyClass, Principal, Right};
use crate::http::cursor::Page;
use crate::http::host::Host;
use crate::http::login::SessionCookie;
use crate::http::problem::Problem;
use crate::http::{body, middleware};

/// Channel of events that this surface stores. Source: own choice, its name.
pub(crate) const CHANNEL: &str = "http";

/// An authorized request.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) host: Arc<Host>,
    pub(crate) principal: Principal,
    /// What the headers show to prove who asks; a session is no part of it.
    pub(crate) credential: Option<Credential>,
    /// The session token of a browser.
    pub(crate) session: Option<String>,
    /// The cookie of such a session.
    pub(crate) cookie: SessionCookie,
    pub(crate) operation: &'static str,
    /// The one user that the request is limited to: the key's, or that of the request.
    pub(crate) user: Option<UserId>,
    /// The parameters of the path, in order.
    pub(crate) path: Vec<String>,
    pub(crate) uri: Uri,
    /// The address with only the route's own query parameters.
    pub(crate) query: Uri,
    /// The body, for a route with a document.
    pub(crate) body: Bytes,
    /// The body, for a route that streams bytes.
    pub(crate) parts: Option<mpsc::Receiver<std::io::Result<Bytes>>>,
    pub(crate) idempotency_key: Option<String>,
    /// `Time-Zone`: the zone of days in the request.
    pub(crate) time_zone: Option<String>,
    /// Whether the header `X-Bot-Id` is present.
    pub(crate) names_bot: bool,
    /// `Last-Event-ID` of a resumed stream.
    pub(crate) last_event: Option<u64>,
}

impl Call {
    /// Returns a parameter of the path by its position after the space.
    pub(crate) fn name(&self, place: usize) -> &str {
        self.path.get(place).map(String::as_str).unwrap_or_default()
    }

    /// Returns the space of the path.
    pub(crate) fn space(&self) -> Result<SpaceId, Problem> {
        SpaceId::new(self.name(0)).map_err(|_| no_space(self.name(0)))
    }

    /// Opens the space of the path. If it does not exist, a call with the right to write creates it; another call fails.
    pub(crate) async fn memory(&self) -> Result<Memory, Problem> {
        let space = self.space()?;
        match self.host.open(&space).await {
            Err(problem) if problem.code() == "not_found" => Err(no_space(space.as_str())),
            opened => Ok(self.narrowed(opened?)),
        }
    }

    /// Narrows a memory to the user of the request, if there is one.
    fn narrowed(&self, memory: Memory) -> Memory {
        match &self.user {
            Some(user) => memory.for_user(user.clone()),
            None => memory,
        }
    }

    /// As [`memory`](Self::memory), and creates the space if it does not exist.
    pub(crate) async fn memory_or_new(&self) -> Result<Memory, Problem> {
        Ok(self.narrowed(self.host.open_or_create(&self.space()?).await?))
    }

    /// Opens the space with its secondary spaces: the named ones, and every always-on space, as far as the caller may read them.
    /// A named one that does not exist for the caller is a gap of the response.
    pub(crate) async fn memory_beside(&self, named: Option<&[String]>) -> Result<Memory, Problem> {
        let memory = self.memory().await?;
        let (mut others, mut missing) = (Vec::new(), Vec::new());
        for name in named.unwrap_or_default() {
            let space = SpaceId::new(name.as_str()).ok().filter(|space| self.principal.knows(space));
            let opened = match space {
                Some(space) => self.host.open(&space).await,
                None => Err(no_space(name)),
            };
            match opened {
                Ok(other) => others.push(other),
                Err(problem) if problem.code() == "not_found" => missing.push(ErrorKind::NotFound),
                Err(_) => missing.push(ErrorKind::Unavailable),
            }
        }
        for space in self.host.always_on().await? {
            if self.principal.knows(&space) {
                others.extend(self.host.open(&space).await.ok());
            }
        }
        let memory = memory.admin().with_secondary(others);
        Ok(missing.into_iter().fold(memory, |memory, why| memory.admin().without_secondary(why)))
    }

    /// Parses the body.
    ///
    /// # Errors
    /// `invalid_request` for an invalid document.
    pub(crate) fn body<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let begin = self.body.iter().find(|byte| !byte.is_ascii_whitespace());
        if begin.is_some_and(|byte| *byte != b'{') && std::str::from_utf8(&self.body).is_ok() {
            return Err(Problem::invalid("body: a JSON object is meant"));
        }
        body::read(&self.body)
    }

    /// Parses the query string.
    ///
    /// # Errors
    /// `invalid_request` for an unknown parameter.
    pub(crate) fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        match Query::try_from_uri(&self.query) {
            Ok(Query(form)) => Ok(form),
            Err(refused) => Err(Problem::invalid(refused.body_text())),
        }
    }

    /// Returns the page of a list.
    pub(crate) fn page(
        &self,
        memory: &Memory,
        limit: Option<u32>,
        cursor: Option<&str>,
    ) -> Result<Page, Problem> {
        Page::read(memory, self, limit, cursor)
    }

    /// Checks that the caller can vouch for the user's words.
    pub(crate) fn vouches(&self) -> Result<(), Problem> {
        match self.principal.class {
            KeyClass::App => Ok(()),
            KeyClass::Agent => Err(Problem::new("app_key_needed", "the key is an agent's")),
        }
    }

    /// Whether the caller has a right.
    pub(crate) fn may(&self, right: Right) -> bool {
        self.principal.may(right)
    }

    /// Checks a right beyond the one that the route needs.
    pub(crate) fn must(&self, right: Right) -> Result<(), Problem> {
        if self.may(right) {
            return Ok(());
        }
        Err(middleware::lacks(right))
    }

    /// Returns the zone of days in a request: that of its header `Time-Zone`, else UTC.
    ///
    /// # Errors
    /// 400 for an unknown zone.
    pub(crate) fn zone(&self) -> Result<TimeZone, Problem> {
        zone(self.time_zone.as_deref())
    }

    /// Returns the zone of an event at a moment; see [`zone`](Self::zone).
    ///
    /// # Errors
    /// As [`zone`](Self::zone).
    pub(crate) fn event_zone(&self, text: Option<&str>, at: Timestamp) -> Result<Zone, Problem> {
        Ok(crate::mcp::parse_time::event_zone(text, at, &self.zone()?))
    }

    /// Parses a time: RFC 3339, a plain day, a year, or Unix milliseconds; or a duration before now, such as `7d`.
    pub(crate) fn time(&self, name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = text else { return Ok(None) };
        let wrong = || {
            let detail = format!(
                "{name} must be a time: 2026, 2026-11-21, 2026-11-21T09:00:00Z, 7d, or Unix milliseconds"
            );
            Problem::new("invalid_time", detail)
        };
        crate::mcp::parse_time::read(text, self.host.now(), &self.zone()?).map(Some).ok_or_else(wrong)
    }

    /// Parses a future time, or a duration from now, such as `90d`.
    pub(crate) fn time_ahead(&self, name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = text else { return Ok(None) };
        let wrong = || {
            let detail = format!("{name} must be a time to come: 2027-11-21, 2027-11-21T09:00:00Z, or 90d");
            Problem::new("invalid_time", detail)
        };
        crate::mcp::parse_time::ahead(text, self.host.now(), &self.zone()?).map(Some).ok_or_else(wrong)
    }
}

/// Returns the zone of a header `Time-Zone`, UTC without one.
///
/// # Errors
/// 400 for an unknown zone.
pub(crate) fn zone(named: Option<&str>) -> Result<TimeZone, Problem> {
    let Some(named) = named else { return Ok(TimeZone::UTC) };
    let wrong = || {
        let detail = "the header Time-Zone must be a zone, Europe/Berlin, or an offset, +02:00";
        Problem::new("invalid_time", detail)
    };
    crate::mcp::parse_time::zone(named.trim()).ok_or_else(wrong)
}

/// Returns the error for a missing space; it is the same for one that the caller must not know.
pub(crate) fn no_space(name: &str) -> Problem {
    Problem::not_found(format!("no space {name:?}"))
}
