//! Numbers and names in a file of the system, read by their places.

use anyhow::{Context as _, Result};

/// A little-endian file in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'f>(pub(super) &'f [u8]);

impl<'f> Bytes<'f> {
    /// Returns `length` bytes.
    pub(super) fn part(self, at: usize, length: usize) -> Result<&'f [u8]> {
        let part = at.checked_add(length).and_then(|end| self.0.get(at..end));
        part.with_context(|| format!("the program is cut off before byte {at}"))
    }

    /// Reads a number of two bytes.
    pub(super) fn u16(self, at: usize) -> Result<u16> {
        Ok(u16::from_le_bytes(self.part(at, 2)?.try_into()?))
    }

    /// Reads a number of four bytes.
    pub(super) fn u32(self, at: usize) -> Result<u32> {
        Ok(u32::from_le_bytes(self.part(at, 4)?.try_into()?))
    }

    /// Reads a place or a size of four bytes.
    pub(super) fn short(self, at: usize) -> Result<usize> {
        Ok(usize::try_from(self.u32(at)?)?)
    }

    /// Reads a place or a size of eight bytes.
    pub(super) fn long(self, at: usize) -> Result<usize> {
        Ok(usize::try_from(u64::from_le_bytes(self.part(at, 8)?.try_into()?))?)
    }

    /// Reads a name that ends with a zero.
    pub(super) fn name(self, at: usize) -> Result<String> {
        let rest = self.0.get(at..).with_context(|| format!("the program has no name at byte {at}"))?;
        let name = rest.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(name).into_owned())
    }
}
