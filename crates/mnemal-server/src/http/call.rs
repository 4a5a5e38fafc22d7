//! One request on its way to its handler: what was asked, by whom, and where.

use std::sync::Arc;

use axum::extract::Query;
use bytes::Bytes;
use hyper::Uri;
use jiff::tz::TimeZone;
use mnemal::Memory;
use mnemal_core::{ErrorKind, SpaceId, Timestamp, UserId, Zone};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::auth::{Class, Principal, Right};
use crate::http::cursor::Page;
use crate::http::host::Host;
use crate::http::problem::Problem;
use crate::http::{body, edge};

/// Where the words of this surface are spoken. Source: SURFACES 1.1.
pub(crate) const CHANNEL: &str = "http";

/// A request that may be answered.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) host: Arc<Host>,
    pub(crate) principal: Principal,
    pub(crate) operation: &'static str,
    /// The one user whose memory is meant: the key's, or that of the request.
    pub(crate) user: Option<UserId>,
    /// What stands in the path, in the order of its names.
    pub(crate) path: Vec<String>,
    pub(crate) uri: Uri,
    /// The address with what the route itself reads behind the question mark.
    pub(crate) query: Uri,
    /// The body of a route that takes a document.
    pub(crate) body: Bytes,
    /// The body of a route that takes bytes as they come.
    pub(crate) parts: Option<mpsc::Receiver<std::io::Result<Bytes>>>,
    pub(crate) idempotency_key: Option<String>,
    /// `Time-Zone`: where the days of the request are.
    pub(crate) time_zone: Option<String>,
    /// Whether `X-Bot-Id` names a bot.
    pub(crate) names_bot: bool,
    /// `Last-Event-ID` of a stream that goes on.
    pub(crate) last_event: Option<u64>,
}

impl Call {
    /// Returns what stands in the path at a place, after the space.
    pub(crate) fn name(&self, place: usize) -> &str {
        self.path.get(place).map(String::as_str).unwrap_or_default()
    }

    /// Returns the space of the path.
    pub(crate) fn space(&self) -> Result<SpaceId, Problem> {
        SpaceId::new(self.name(0)).map_err(|_| no_space(self.name(0)))
    }

    /// Opens the space of the path. One that is not there is made by a call that may write; another call finds none.
    pub(crate) async fn memory(&self) -> Result<Memory, Problem> {
        let space = self.space()?;
        match self.host.open(&space).await {
            Err(problem) if problem.code() == "not_found" => Err(no_space(space.as_str())),
            opened => Ok(self.narrowed(opened?)),
        }
    }

    /// Narrows a memory to the user that is meant, if it is one.
    fn narrowed(&self, memory: Memory) -> Memory {
        match &self.user {
            Some(user) => memory.for_user(user.clone()),
            None => memory,
        }
    }

    /// The same, and makes the space if it is not there.
    pub(crate) async fn memory_or_new(&self) -> Result<Memory, Problem> {
        Ok(self.narrowed(self.host.open_or_create(&self.space()?).await?))
    }

    /// Opens the space together with those that are read beside it: those that are named, and every always-on space, as far
    /// as the caller may read them. One that is named and is not there for the caller is a gap of the answer.
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
        for space in self.host.always_on()? {
            if self.principal.knows(&space) {
                others.extend(self.host.open(&space).await.ok());
            }
        }
        let memory = memory.with_secondary(others);
        Ok(missing.into_iter().fold(memory, |memory, why| memory.without_secondary(why)))
    }

    /// Reads the body.
    ///
    /// # Errors
    /// `invalid_request` for what is no such document.
    pub(crate) fn body<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let begin = self.body.iter().find(|byte| !byte.is_ascii_whitespace());
        if begin.is_some_and(|byte| *byte != b'{') && std::str::from_utf8(&self.body).is_ok() {
            return Err(Problem::invalid("body: a JSON object is meant"));
        }
        body::read(&self.body)
    }

    /// Reads what stands behind the question mark.
    ///
    /// # Errors
    /// `invalid_request` for what is not known there.
    pub(crate) fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        match Query::try_from_uri(&self.query) {
            Ok(Query(form)) => Ok(form),
            Err(refused) => Err(Problem::invalid(refused.body_text())),
        }
    }

    /// Returns how a list is cut.
    pub(crate) fn page(
        &self,
        memory: &Memory,
        limit: Option<u32>,
        cursor: Option<&str>,
    ) -> Result<Page, Problem> {
        Page::read(memory, self, limit, cursor)
    }

    /// Makes sure that the caller knows which words are the user's own.
    pub(crate) fn vouches(&self) -> Result<(), Problem> {
        match self.principal.class {
            Class::App => Ok(()),
            Class::Agent => Err(Problem::new("app_key_needed", "the key is an agent's")),
        }
    }

    /// Whether the caller may do something.
    pub(crate) fn may(&self, right: Right) -> bool {
        self.principal.may(right)
    }

    /// Makes sure that the caller may do something more than the route asks.
    pub(crate) fn must(&self, right: Right) -> Result<(), Problem> {
        if self.may(right) {
            return Ok(());
        }
        Err(edge::lacks(right))
    }

    /// Returns the zone in which the days of a request are meant: that of its header `Time-Zone`, else UTC.
    ///
    /// # Errors
    /// 400 for a zone that is not known.
    pub(crate) fn zone(&self) -> Result<TimeZone, Problem> {
        zone(self.time_zone.as_deref())
    }

    /// Returns the zone of the place where something was said at a moment; see [`zone`](Self::zone).
    ///
    /// # Errors
    /// As [`zone`](Self::zone).
    pub(crate) fn place(&self, text: Option<&str>, at: Timestamp) -> Result<Zone, Problem> {
        Ok(crate::mcp::moment::place(text, at, &self.zone()?))
    }

    /// Reads a time: RFC 3339, a plain day, a year, or Unix milliseconds; a span back from now such as `7d`.
    pub(crate) fn time(&self, name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = text else { return Ok(None) };
        let wrong = || {
            let detail = format!(
                "{name} must be a time: 2026, 2026-11-21, 2026-11-21T09:00:00Z, 7d, or Unix milliseconds"
            );
            Problem::new("invalid_time", detail)
        };
        crate::mcp::moment::read(text, self.host.now(), &self.zone()?).map(Some).ok_or_else(wrong)
    }

    /// Reads a time to come, or a span ahead of now such as `90d`.
    pub(crate) fn time_ahead(&self, name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = text else { return Ok(None) };
        let wrong = || {
            let detail = format!("{name} must be a time to come: 2027-11-21, 2027-11-21T09:00:00Z, or 90d");
            Problem::new("invalid_time", detail)
        };
        crate::mcp::moment::ahead(text, self.host.now(), &self.zone()?).map(Some).ok_or_else(wrong)
    }
}

/// Returns the zone that a header `Time-Zone` names, UTC without one.
///
/// # Errors
/// 400 for a zone that is not known.
pub(crate) fn zone(named: Option<&str>) -> Result<TimeZone, Problem> {
    let Some(named) = named else { return Ok(TimeZone::UTC) };
    let wrong = || {
        let detail = "the header Time-Zone must be a zone, Europe/Berlin, or an offset, +02:00";
        Problem::new("invalid_time", detail)
    };
    crate::mcp::moment::zone(named.trim()).ok_or_else(wrong)
}

/// What is said of a space that is not there, and in the same words of one that the caller must not know.
pub(crate) fn no_space(name: &str) -> Problem {
    Problem::not_found(format!("no space {name:?}"))
}
