//! Where a list goes on: a sealed place that is good for that list of that space alone.

use std::num::NonZeroUsize;

use mnemal::Memory;
use mnemal_core::{Cursor, Seq};
use schemars::JsonSchema;
use serde::Serialize;

use crate::auth::Principal;
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::wire::GapForm;

/// Items of a list that names no limit. Source: SURFACES 5.1.
const LIMIT: u32 = 50;
/// Most items of a list. Source: SURFACES 5.1.
const MOST: u32 = 200;
/// Hexadecimal digits of a seal. Source: own default, 64 bits; a cursor grants nothing that its caller may not read.
const DIGITS: usize = 16;

/// How a list is cut: so many items from a place on.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    limit: NonZeroUsize,
    /// Items before it, or the sequence number behind which it begins.
    after: u64,
    /// What the seal binds the place to.
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
    /// Reads limit and cursor of a call.
    ///
    /// # Errors
    /// `invalid_request` for a limit out of range, `invalid_cursor` for one of another list or a changed one.
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

    /// Returns how many items it has at most.
    pub(crate) fn limit(&self) -> NonZeroUsize {
        self.limit
    }

    /// Returns the place in the log behind which it begins.
    pub(crate) fn after(&self) -> Cursor {
        Cursor((self.after > 0).then_some(Seq(self.after)))
    }

    /// Cuts a whole list.
    pub(crate) fn cut<T>(
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

    /// Returns the cursor of a place.
    pub(crate) fn at(&self, memory: &Memory, place: u64) -> String {
        sealed(memory, &self.list, place)
    }
}

/// Returns what makes a list the same: the operation, the path, the caller, and every filter but where it is cut.
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
    let space = memory.scope().space.as_str().as_bytes();
    let seal = memory.engine().seal("cursor", &[space, list.as_bytes(), &place.to_le_bytes()]);
    let digits: String = crate::auth::hex(&seal).chars().take(DIGITS).collect();
    format!("{place:x}-{digits}")
}
