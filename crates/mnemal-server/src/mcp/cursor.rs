//! Pagination cursors: sealed positions, valid for one list of one space.

use mnemal::Memory;

use crate::hex::hex;
use crate::mcp::answer::CorrectableError;

/// Hexadecimal digits of a seal. Source: own default, 64 bits; a cursor grants nothing beyond what its caller may read.
const DIGITS: usize = 16;

/// Returns the cursor after `place` entries of a list.
pub(super) fn cursor(memory: &Memory, list: &str, place: usize) -> String {
    let space = memory.admin().scope().space.as_str().as_bytes();
    let seal = memory.admin().engine().seal("mcp cursor", &[space, list.as_bytes(), &place.to_le_bytes()]);
    let digits: String = hex(&seal).chars().take(DIGITS).collect();
    format!("{place:x}-{digits}")
}

/// Returns the number of entries before a cursor; 0 without a cursor.
pub(super) fn read(memory: &Memory, list: &str, given: Option<&str>) -> Result<usize, CorrectableError> {
    let Some(given) = given.map(str::trim) else { return Ok(0) };
    let place = given.split_once('-').and_then(|(place, _)| usize::from_str_radix(place, 16).ok());
    place.filter(|place| cursor(memory, list, *place) == given).ok_or_else(|| {
        CorrectableError::new(
            "cursor was not given for this list. Call again without it, or with the same filters.",
        )
    })
}
