//! Resume position in a growing file, and the check that it is still the same file.

use std::io::{Read, Result, Seek, SeekFrom};

use mnemal_core::InstallationKey;

/// Bytes before the offset that identify the file. Source: own choice; more than the names and the time at the end of a
/// transcript entry.
const TAIL: u64 = 1_024;

/// The resume position in a growing file. Losing it costs only time: no record is stored twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Completed bytes, up to the end of a line.
    pub offset: u64,
    /// Fingerprint of the bytes before, so that another file with this name is read from its start.
    pub tail: u64,
}

impl Position {
    /// Returns the position at an offset of a file without moving the file's own position; `None` when the file is shorter.
    pub(super) fn at<R: Read + Seek>(
        reader: &mut R,
        offset: u64,
        key: &InstallationKey,
    ) -> Result<Option<Self>> {
        let here = reader.stream_position()?;
        let start = offset.saturating_sub(TAIL);
        reader.seek(SeekFrom::Start(start))?;
        let mut tail = Vec::new();
        reader.by_ref().take(offset - start).read_to_end(&mut tail)?;
        reader.seek(SeekFrom::Start(here))?;
        if (tail.len() as u64) < offset - start {
            return Ok(None);
        }
        let hash = key.hash("position", &[&tail]);
        let tail = hash.iter().take(8).fold(0, |tail, byte| tail << 8 | u64::from(*byte));
        Ok(Some(Self { offset, tail }))
    }
}
