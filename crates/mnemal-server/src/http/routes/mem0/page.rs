//! Numbered pages of lists, as in mem0.

use super::form::{Mem0PageForm, PagesQuery};
use super::{LIMIT, MOST};
use crate::http::problem::Problem;

/// The requested page.
pub(super) struct PageRequest {
    page: usize,
    size: usize,
}

impl PageRequest {
    pub(super) fn read(query: &PagesQuery) -> Result<Self, Problem> {
        let page = usize::try_from(query.page.unwrap_or(1)).unwrap_or_default();
        if page == 0 {
            return Err(Problem::invalid("page: the first is 1"));
        }
        let size = query.page_size.map_or(Ok(LIMIT), usize::try_from).unwrap_or_default();
        if (1..=MOST).contains(&size) {
            return Ok(Self { page, size });
        }
        Err(Problem::invalid(format!("page_size must be 1..={MOST}")))
    }

    /// Returns a page of a list; links to its neighbors are relative to a path.
    pub(super) fn page_of<T>(&self, path: &str, all: Vec<T>) -> Mem0PageForm<T> {
        let count = all.len();
        let skip = (self.page - 1).saturating_mul(self.size);
        let at = |page: usize| format!("{path}?page={page}&page_size={}", self.size);
        let is_last = skip.saturating_add(self.size) >= count;
        Mem0PageForm {
            count,
            next: (!is_last).then(|| at(self.page + 1)),
            previous: (self.page > 1).then(|| at(self.page - 1)),
            results: all.into_iter().skip(skip).take(self.size).collect(),
        }
    }
}
