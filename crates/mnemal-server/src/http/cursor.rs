//! Pagination cursors: sealed positions, valid for one list of one space.

use std::num::NonZeroUsize;

use mnemal::Memory;
use mnemal_core::{Cursor, Seq, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::auth::Principal;
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::wire::GapForm;

/// Default number of items of a page. Source: own default.
const LIMIT: u32 = 50;
/// Maximum number of items of a page. Source: own default.
const MOST: u32 = 200;
/// Hexadecimal digits of a seal. Source: own default, 64 bits; a cursor grants nothing beyond what its caller may read.
const DIGITS: usize = 16;

/// A page of a list: a number of items from a position.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    limit: NonZeroUsize,
    /// Items before it, or the sequence number at which the page before ended.
    after: u64,
    /// The identity of the list, which the seal covers.
    list: String,
}

/// A part of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PageOf{T}")]
pub(crate) struct PageForm<T> {
    /// The items, in the order of the list.
    pub(crate) items: Vec<T>,
    /// Where the list goes on; `null` at its end.
    pub(crate) next_cursor: Option<String>,
    /// Layers that could not answer in full.
    pub(crate) gaps: Vec<GapForm>,
}

impl Page {
    /// Parses limit and cursor of a call.
    ///
    /// # Errors
    /// `invalid_request` for a limit out of range, `invalid_cursor` for a cursor of another list or a modified one.
    pub(crate) fn read(
        memory: &Memory,
        call: &Call,
        limit: Option<u32>,
        cursor: Option<&str>,
    ) -> Result<Self, Problem> {
        let limit = limit.unwrap_or(LIMIT);
        let limit = usize::try_from(limit).ok().filter(|_| limit <= MOST).and_then(NonZeroUsize::new);
        let limit = limit.ok_or_else(|| Problem::invalid(format!("limit must be 1..={MOST}")))?;
        let list = list(call);
        let wrong = || Problem::new("invalid_cursor", "the cursor was not given for this list");
        let after = match cursor {
            None => 0,
            Some(cursor) => {
                let (place, _) = cursor.split_once('-').ok_or_else(wrong)?;
                let place = u64::from_str_radix(place, 16).map_err(|_| wrong())?;
                if sealed(memory, &list, place) != cursor {
                    return Err(wrong());
                }
                place
            }
        };
        Ok(Self { limit, after, list })
    }

    /// Returns the maximum number of items.
    pub(crate) fn limit(&self) -> NonZeroUsize {
        self.limit
    }

    /// Returns the log position after which it begins.
    pub(crate) fn after(&self) -> Cursor {
        Cursor((self.after > 0).then_some(Seq(self.after)))
    }

    /// Returns the log position before which it begins in a list of the newest events.
    pub(crate) fn before(&self) -> Option<Seq> {
        self.after().0
    }

    /// Returns the moment before which it begins in a list by time.
    pub(crate) fn moment(&self) -> Option<Timestamp> {
        let micros = i64::try_from(self.after).ok().filter(|micros| *micros > 0)?;
        Timestamp::from_micros(micros).ok()
    }

    /// Returns the cursor of a moment.
    pub(crate) fn at_moment(&self, memory: &Memory, moment: Timestamp) -> String {
        self.at(memory, moment.as_micros().unsigned_abs())
    }

    /// Returns the page of a complete list.
    pub(crate) fn page_of<T>(
        &self,
        memory: &Memory,
        items: impl IntoIterator<Item = T>,
    ) -> (Vec<T>, Option<String>) {
        let skipped = usize::try_from(self.after).unwrap_or(usize::MAX);
        let mut items = items.into_iter().skip(skipped);
        let part: Vec<T> = items.by_ref().take(self.limit.get()).collect();
        let next = items.next().map(|_| self.at(memory, self.after + part.len() as u64));
        (part, next)
    }

    /// Returns the cursor of a position.
    pub(crate) fn at(&self, memory: &Memory, place: u64) -> String {
        sealed(memory, &self.list, place)
    }
}

/// Returns the identity of a list: the operation, the path, the caller, and every filter except the page.
fn list(call: &Call) -> String {
    let mut filters: Vec<(String, String)> =
        form_urlencoded::parse(call.uri.query().unwrap_or_default().as_bytes())
            .filter(|(name, _)| name != "cursor" && name != "limit")
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
    filters.sort();
    let Principal { id, .. } = &call.principal;
    format!("{:?}", (call.operation, &call.path, id, filters))
}

fn sealed(memory: &Memory, list: &str, place: u64) -> String {
    let space = memory.admin().scope().space.as_str().as_bytes();
    let seal = memory.admin().engine().seal("cursor", &[space, list.as_bytes(), &place.to_le_bytes()]);
    let digits: String = crate::auth::hex(&seal).chars().take(DIGITS).collect();
    format!("{place:x}-{digits}")
}
